//! Blocks that stay from frame to frame: their blobs, their fields, and which of their
//! nodes must be summed anew.

use rayon::prelude::*;

use super::blob::Blob;
use super::blocks::{
    self, CELLS, NODES, block_range, coordinates, for_each_block, key_of, node_range,
};
use super::extract::{self, Block};
use super::field::{self, Field, WHOLE, Window};
use super::{Surface, SurfaceError, SurfaceSettings};

/// One blob before and after; `None` if it was not or is no more. Numbers are places in
/// the lists of blobs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    pub before: Option<(u32, &'a Blob)>,
    pub after: Option<(u32, &'a Blob)>,
}

/// All blocks, in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct KeptBlocks {
    blocks: Vec<Block>,
    sources: Vec<Source>,
}

/// What a block is drawn from.
#[derive(Debug)]
struct Source {
    /// Its blobs, in their order.
    members: Vec<u32>,
    field: Box<Field>,
    /// Nodes to sum anew, first and end.
    stale: Option<Window>,
}

impl Source {
    fn new(members: Vec<u32>) -> Source {
        Source {
            members,
            field: Box::new([0.0; NODES * NODES * NODES]),
            stale: None,
        }
    }

    /// The nodes of a blob in the block at `at` must be summed anew.
    fn spoil(&mut self, at: [i32; 3], (low, high): ([i32; 3], [i32; 3])) {
        let window: Window = std::array::from_fn(|k| {
            let within = |n: i32| (n - at[k] * CELLS).clamp(0, NODES as i32) as usize;
            [within(low[k]), within(high[k] + 1)]
        });
        if window.iter().any(|[first, end]| first >= end) {
            return;
        }
        self.stale = Some(match self.stale {
            None => window,
            Some(old) => {
                std::array::from_fn(|k| [old[k][0].min(window[k][0]), old[k][1].max(window[k][1])])
            }
        });
    }
}

impl KeptBlocks {
    /// The blocks of these blobs, nothing drawn yet.
    pub(super) fn new(blobs: &[Blob], settings: &SurfaceSettings) -> KeptBlocks {
        let blocks = blocks::assign(blobs, settings);
        let source = |b: usize| Source {
            stale: Some(WHOLE),
            ..Source::new(blocks.members_of(b).to_vec())
        };
        KeptBlocks {
            sources: (0..blocks.keys.len()).into_par_iter().map(source).collect(),
            blocks: blocks.keys.iter().map(|&key| Block::new(key)).collect(),
        }
    }

    /// Takes up what has changed. `renumbered` are the new numbers of the blobs that
    /// were there before, if they have other ones now; their order stays.
    pub(super) fn change(
        &mut self,
        changes: &[Change<'_>],
        renumbered: Option<&[u32]>,
        settings: &SurfaceSettings,
    ) {
        let inverse_cell = 1.0 / (settings.cell * settings.spacing);
        let range = |blob: Option<(u32, &Blob)>| blob.map(|(_, b)| block_range(b, inverse_cell));
        let mut finder = Finder::default();
        for change in changes {
            let Some((number, blob)) = change.before else {
                continue;
            };
            let nodes = node_range(blob, inverse_cell);
            let after = range(change.after);
            for_each_block(block_range(blob, inverse_cell), |at| {
                let Ok(b) = finder.find(&self.blocks, at) else {
                    return;
                };
                let source = &mut self.sources[b];
                source.spoil(at, nodes);
                if !after.is_some_and(|range| is_in(at, range))
                    && let Ok(place) = source.members.binary_search(&number)
                {
                    source.members.remove(place);
                }
            });
        }
        if let Some(numbers) = renumbered {
            self.sources.par_iter_mut().for_each(|source| {
                for m in &mut source.members {
                    *m = numbers[*m as usize];
                }
            });
        }
        self.add_missing(changes, inverse_cell);
        for change in changes {
            let Some((number, blob)) = change.after else {
                continue;
            };
            let nodes = node_range(blob, inverse_cell);
            let before = range(change.before);
            for_each_block(block_range(blob, inverse_cell), |at| {
                let Ok(b) = finder.find(&self.blocks, at) else {
                    return;
                };
                let source = &mut self.sources[b];
                source.spoil(at, nodes);
                if !before.is_some_and(|range| is_in(at, range))
                    && let Err(place) = source.members.binary_search(&number)
                {
                    source.members.insert(place, number);
                }
            });
        }
        self.drop_empty();
    }

    /// Makes the blocks that changed blobs touch and that do not exist.
    fn add_missing(&mut self, changes: &[Change<'_>], inverse_cell: f32) {
        let mut finder = Finder::default();
        let mut missing = Vec::new();
        for (_, blob) in changes.iter().filter_map(|c| c.after) {
            for_each_block(block_range(blob, inverse_cell), |at| {
                if finder.find(&self.blocks, at).is_err() {
                    missing.push(key_of(at));
                }
            });
        }
        if missing.is_empty() {
            return;
        }
        missing.sort_unstable();
        missing.dedup();
        let blocks = std::mem::take(&mut self.blocks);
        let sources = std::mem::take(&mut self.sources);
        let mut all: Vec<(Block, Source)> = blocks.into_iter().zip(sources).collect();
        all.extend(
            missing
                .into_iter()
                .map(|key| (Block::new(key), Source::new(Vec::new()))),
        );
        all.sort_by_key(|(block, _)| block.key);
        (self.blocks, self.sources) = all.into_iter().unzip();
    }

    fn drop_empty(&mut self) {
        if self.sources.iter().any(|s| s.members.is_empty()) {
            let mut kept = self.sources.iter().map(|s| !s.members.is_empty());
            self.blocks.retain(|_| kept.next().unwrap_or(false));
            self.sources.retain(|s| !s.members.is_empty());
        }
    }

    /// Sums and draws what is stale, and puts the surface together.
    pub(super) fn surface(
        &mut self,
        blobs: &[Blob],
        settings: &SurfaceSettings,
    ) -> Result<Surface, SurfaceError> {
        let cell = settings.cell * settings.spacing;
        let stale: Vec<_> = self
            .blocks
            .iter_mut()
            .zip(&mut self.sources)
            .filter_map(|(block, source)| source.stale.take().map(|w| (block, source, w)))
            .collect();
        stale.into_par_iter().for_each(|(block, source, window)| {
            let at = coordinates(block.key);
            field::sum(blobs, &source.members, at, cell, window, &mut source.field);
            block.draw(&source.field, settings);
        });
        extract::assemble(&mut self.blocks)
    }
}

fn is_in(at: [i32; 3], (first, last): ([i32; 3], [i32; 3])) -> bool {
    (0..3).all(|k| (first[k]..=last[k]).contains(&at[k]))
}

/// Finds blocks by their coordinates; what is looked for next is often what follows.
#[derive(Default)]
struct Finder {
    last: usize,
}

impl Finder {
    fn find(&mut self, blocks: &[Block], at: [i32; 3]) -> Result<usize, usize> {
        let key = key_of(at);
        for guess in [self.last, self.last + 1] {
            if blocks.get(guess).is_some_and(|b| b.key == key) {
                self.last = guess;
                return Ok(guess);
            }
        }
        let found = blocks.binary_search_by_key(&key, |b| b.key);
        if let Ok(b) = found {
            self.last = b;
        }
        found
    }
}
