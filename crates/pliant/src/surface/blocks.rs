//! The sparse grid: cubes in blocks of 15³, of which only those near particles
//! exist.
//!
//! A block keeps the 16³ nodes of its cubes; nodes on its border belong to its
//! neighbours too. Node `n` of the whole grid stands at `n · cell` from the
//! origin of the world, so a block means the same place in every frame.

use rayon::prelude::*;

use super::blob::Blob;
use super::{SurfaceError, SurfaceSettings};

/// Cubes along a side of a block.
pub(super) const CELLS: i32 = 15;
/// Nodes along a side of a block.
pub(super) const NODES: usize = 16;

/// Names of blocks hold this many bits per axis.
const BITS: u32 = 21;
const HALF: i32 = 1 << (BITS - 1);

/// The blocks that blobs touch, in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub keys: Vec<u64>,
    /// `start[b]..start[b + 1]` are the members of block `b`.
    pub start: Vec<u32>,
    /// Blobs, in their order, block by block.
    pub members: Vec<u32>,
}

impl Blocks {
    /// The blobs of block `b`.
    pub(super) fn members_of(&self, b: usize) -> &[u32] {
        &self.members[self.start[b] as usize..self.start[b + 1] as usize]
    }
}

/// Name of the block at these block coordinates. Keys sort by z, then y, then x.
pub(super) fn key_of([x, y, z]: [i32; 3]) -> u64 {
    let part = |v: i32| (v + HALF) as u64;
    part(z) << (2 * BITS) | part(y) << BITS | part(x)
}

/// Block coordinates of a name.
pub(super) fn coordinates(key: u64) -> [i32; 3] {
    let mask = (1u64 << BITS) - 1;
    [key & mask, key >> BITS & mask, key >> (2 * BITS) & mask].map(|v| v as i32 - HALF)
}

/// First and last node along each axis inside a blob's box. The result does not
/// depend on the block that asks, so all blocks around a node see the same blobs.
#[inline]
pub(super) fn node_range(blob: &Blob, inverse_cell: f32) -> ([i32; 3], [i32; 3]) {
    let low = ((blob.center - blob.reach) * inverse_cell).ceil();
    let high = ((blob.center + blob.reach) * inverse_cell).floor();
    (
        low.to_array().map(|v| v as i32),
        high.to_array().map(|v| v as i32),
    )
}

/// First and last block along each axis that a blob touches.
#[inline]
pub(super) fn block_range(blob: &Blob, inverse_cell: f32) -> ([i32; 3], [i32; 3]) {
    let (low, high) = node_range(blob, inverse_cell);
    (
        low.map(|n| (n - 1).div_euclid(CELLS)),
        high.map(|n| n.div_euclid(CELLS)),
    )
}

/// Calls `visit` with the coordinates of all blocks in a range, in the order of keys.
#[inline]
pub(super) fn for_each_block((first, last): ([i32; 3], [i32; 3]), mut visit: impl FnMut([i32; 3])) {
    for z in first[2]..=last[2] {
        for y in first[1]..=last[1] {
            for x in first[0]..=last[0] {
                visit([x, y, z]);
            }
        }
    }
}

/// Fails if a blob is too far away for the grid.
pub(super) fn check_reach(blobs: &[Blob], settings: &SurfaceSettings) -> Result<(), SurfaceError> {
    let cell = settings.cell * settings.spacing;
    let inverse_cell = 1.0 / cell;
    let limit = (HALF - 4) as f32 * CELLS as f32;
    // Beyond 2²³ cubes from the origin f32 cannot tell neighbouring nodes apart.
    let limit = limit.min(8e6);
    let is_far = |b: &&Blob| {
        let reach = (b.center.abs() + b.reach) * inverse_cell;
        reach.max_element() >= limit
    };
    let far = blobs
        .par_chunks(4096)
        .find_map_first(|chunk| chunk.iter().find(is_far));
    match far {
        Some(blob) => Err(SurfaceError::TooFar {
            place: blob.center,
            cell,
        }),
        None => Ok(()),
    }
}

/// Finds the blocks of all blobs, which are within reach.
pub(super) fn assign(blobs: &[Blob], settings: &SurfaceSettings) -> Blocks {
    let inverse_cell = 1.0 / (settings.cell * settings.spacing);
    let mut pairs: Vec<(u64, u32)> = blobs
        .par_iter()
        .enumerate()
        .with_min_len(1024)
        .fold(Vec::new, |mut pairs, (i, blob)| {
            for_each_block(block_range(blob, inverse_cell), |at| {
                pairs.push((key_of(at), i as u32));
            });
            pairs
        })
        .reduce(Vec::new, |mut a, mut b| {
            a.append(&mut b);
            a
        });
    // Pairs are unique, so the order is the same for any number of threads.
    pairs.par_sort_unstable();
    let mut blocks = Blocks::default();
    for (k, &(key, _)) in pairs.iter().enumerate() {
        if blocks.keys.last() != Some(&key) {
            blocks.keys.push(key);
            blocks.start.push(k as u32);
        }
    }
    blocks.start.push(pairs.len() as u32);
    blocks.members = pairs.into_iter().map(|(_, i)| i).collect();
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_give_back_their_coordinates_and_sort() {
        let places = [[0, 0, 0], [-5, 7, 123_456], [-1_000_000, 999_999, -3]];
        for p in places {
            assert_eq!(coordinates(key_of(p)), p);
        }
        assert!(key_of([5, 0, 0]) < key_of([-5, 1, 0]));
    }
}
