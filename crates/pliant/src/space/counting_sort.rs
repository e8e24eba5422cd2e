//! Stable parallel counting sort of points by cell.
//!
//! Each chunk of points counts its keys in a histogram of its own; a running sum
//! over cells, and within a cell over chunks, turns the counts into the place
//! where each chunk writes its next point of that cell. The result is the stable
//! order whatever the number of chunks.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use crate::crew::Spread;

use super::cells::heap_bytes;

/// Fewer points than this are not worth a task of their own.
const MIN_CHUNK: usize = 8192;

/// Fewer cells than this are not worth a task of their own.
const MIN_CELL_BLOCK: usize = 8192;

/// The histograms together may have this many entries per point.
const MAX_CURSORS_PER_POINT: usize = 16;

/// The work memory of the sort, kept from one sort to the next.
#[derive(Debug, Default)]
pub(super) struct CountingSort {
    /// Cell of every point, in the order of the points.
    keys: Vec<u32>,
    /// One row per chunk of points, one entry per cell: first the count, then
    /// where the next point goes. Atomic because the running sum goes across the
    /// rows: there, tasks own columns, and nothing else says so to the compiler.
    cursors: Vec<AtomicU32>,
    /// Points in each block of cells, then before each block.
    blocks: Vec<u32>,
}

/// Only scratch memory: a copy starts empty.
impl Clone for CountingSort {
    fn clone(&self) -> Self {
        CountingSort::default()
    }
}

impl CountingSort {
    /// Sorts points `0..n` by cell, `0..cells`.
    ///
    /// `keys_from(first, keys)` writes the cells of the points from `first` on.
    /// Afterwards the points of cell `c` are `order[start[c]..start[c + 1]]`.
    pub fn sort(
        &mut self,
        n: usize,
        cells: usize,
        keys_from: impl Fn(usize, &mut [u32]) + Sync,
        start: &mut Vec<u32>,
        order: &mut Vec<u32>,
    ) {
        let threads = rayon::current_num_threads();
        let chunks = (MAX_CURSORS_PER_POINT * n / cells)
            .min(n / MIN_CHUNK)
            .clamp(1, threads);
        let chunk_len = n.div_ceil(chunks).max(1);
        let chunks = n.div_ceil(chunk_len);
        let block_len = cells.div_ceil(4 * threads).max(MIN_CELL_BLOCK);

        self.keys.resize(n, 0);
        self.cursors.resize_with(chunks * cells, AtomicU32::default);
        self.blocks.resize(cells.div_ceil(block_len), 0);
        start.resize(cells + 1, 0);
        order.resize(n, 0);

        self.count(cells, chunk_len, keys_from);
        self.accumulate(cells, block_len, start);
        start[cells] = n as u32;
        self.scatter(cells, chunk_len, order);
    }

    /// Histogram of every chunk.
    fn count(
        &mut self,
        cells: usize,
        chunk_len: usize,
        keys_from: impl Fn(usize, &mut [u32]) + Sync,
    ) {
        self.keys
            .par_chunks_mut(chunk_len)
            .zip(self.cursors.par_chunks_mut(cells))
            .enumerate()
            .for_each(|(chunk, (keys, row))| {
                row.fill_with(AtomicU32::default);
                keys_from(chunk * chunk_len, keys);
                for &key in &*keys {
                    *row[key as usize].get_mut() += 1;
                }
            });
    }

    /// Counts to cursors: the running sum over all cells and, within a cell, over
    /// all chunks.
    fn accumulate(&mut self, cells: usize, block_len: usize, start: &mut [u32]) {
        let cursors = &self.cursors;
        self.blocks.par_iter_mut().enumerate().spread(|(b, sum)| {
            let block = b * block_len..((b + 1) * block_len).min(cells);
            *sum = cursors
                .chunks(cells)
                .flat_map(|row| &row[block.clone()])
                .map(|count| count.load(Relaxed))
                .sum();
        });
        let mut before = 0;
        for block in &mut self.blocks {
            before += std::mem::replace(block, before);
        }
        start[..cells]
            .par_chunks_mut(block_len)
            .zip(&self.blocks)
            .enumerate()
            .for_each(|(b, (start, &before))| {
                let mut next = before;
                for (cell, start) in (b * block_len..).zip(start) {
                    *start = next;
                    for chunk in (cell..cursors.len()).step_by(cells) {
                        let count = cursors[chunk].load(Relaxed);
                        cursors[chunk].store(next, Relaxed);
                        next += count;
                    }
                }
            });
    }

    /// Every chunk writes its points, in order, where its cursors say.
    fn scatter(&mut self, cells: usize, chunk_len: usize, order: &mut Vec<u32>) {
        // Chunks write to interleaved places, which only atomics can express
        // without `unsafe`. A relaxed store is a plain move, and collecting a
        // vector into one of the same layout re-uses its memory.
        let slots: Vec<AtomicU32> = std::mem::take(order)
            .into_iter()
            .map(AtomicU32::new)
            .collect();
        self.keys
            .par_chunks(chunk_len)
            .zip(self.cursors.par_chunks_mut(cells))
            .enumerate()
            .for_each(|(chunk, (keys, row))| {
                for (i, &key) in (chunk * chunk_len..).zip(keys) {
                    let cursor = row[key as usize].get_mut();
                    slots[*cursor as usize].store(i as u32, Relaxed);
                    *cursor += 1;
                }
            });
        *order = slots.into_iter().map(AtomicU32::into_inner).collect();
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        heap_bytes(&self.keys) + heap_bytes(&self.cursors) + heap_bytes(&self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts by cell on `threads` threads and returns `(start, order)`.
    fn sorted(keys: &[u32], cells: usize, threads: usize) -> (Vec<u32>, Vec<u32>) {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a thread pool");
        let (mut start, mut order) = (Vec::new(), Vec::new());
        let copy = |first: usize, out: &mut [u32]| {
            out.copy_from_slice(&keys[first..first + out.len()]);
        };
        pool.install(|| {
            CountingSort::default().sort(keys.len(), cells, copy, &mut start, &mut order);
        });
        (start, order)
    }

    #[test]
    fn equals_the_standard_stable_sort_on_any_number_of_threads() {
        for (n, cells) in [(0, 64), (1, 64), (50_000, 64), (70_001, 65_536)] {
            let keys: Vec<u32> = (0..n as u32)
                .map(|i| (i.wrapping_mul(2_654_435_761) >> 7) % cells as u32)
                .collect();
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            for threads in [1, 2, 5] {
                let (start, order) = sorted(&keys, cells, threads);
                assert_eq!(order, expected, "{n} points, {threads} threads");
                assert_eq!(start.len(), cells + 1);
                for cell in 0..cells {
                    let range = start[cell] as usize..start[cell + 1] as usize;
                    assert!(
                        order[range]
                            .iter()
                            .all(|&i| keys[i as usize] == cell as u32)
                    );
                }
            }
        }
    }
}
