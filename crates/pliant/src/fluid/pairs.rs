//! Who is near whom: every particle's neighbours with the slope of the kernel, found
//! once per sub-step and walked many times by the solvers.
//!
//! Lists are kept per chunk of particles, so that they are made in parallel without
//! counting first, and walked in the order of memory. A particle is in its own list:
//! that saves a test, and all that is ever summed is zero for it.
//!
//! Every list takes up whole blocks of eight, filled up with pairs of the particle and itself
//! that have neither slope nor friction. A sum over all pairs of a chunk can then go from block
//! to block without a branch at the ends of the lists, which no processor can guess.

use std::ops::Range;
use std::slice::Iter;

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::cubic::CubicSpline;
use super::friction::{Friction, NEAREST};
use crate::crew::Spread;
use crate::math::Xyz;
use crate::simd::vectors::{Three, sub};
use crate::simd::{Lanes, MOST_PACKED, WIDTH, dispatch};
use crate::space::CellGrid;

/// Eight neighbours each with what their pairs count for.
pub(super) type Blocks<'a> = std::iter::Zip<Iter<'a, [u32; WIDTH]>, Iter<'a, [f32; WIDTH]>>;

/// Room that a list gets when it becomes too short.
const SPARE: usize = 512;

/// The neighbours of one chunk of particles.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkPairs {
    /// Neighbours of particle k are at `start[k]..end[k]`.
    start: Vec<u32>,
    end: Vec<u32>,
    /// The particle that a block of eight belongs to.
    owner: Vec<u8>,
    neighbour: Vec<u32>,
    /// `V W'(r) / r`: times `x_i - x_j`, the gradient of the kernel.
    slope: Vec<f32>,
    /// Friction of the pairs per viscosity, in 1/m⁴ (`friction.rs`).
    friction: Vec<f32>,
}

impl ChunkPairs {
    /// Neighbours of particle `k` of the chunk and the slopes of their kernels.
    #[inline(always)]
    pub fn of(&self, k: usize) -> (&[u32], &[f32]) {
        let range = self.range(k);
        (&self.neighbour[range.clone()], &self.slope[range])
    }

    /// Neighbours of particle `k` of the chunk and the friction of the pairs.
    #[inline(always)]
    pub fn friction_of(&self, k: usize) -> (&[u32], &[f32]) {
        let range = self.range(k);
        (&self.neighbour[range.clone()], &self.friction[range])
    }

    /// All pairs in blocks of eight: the particle that they belong to, counted from the first
    /// of the chunk, neighbours, slopes. Every particle has one block at least.
    #[inline(always)]
    pub fn blocks(&self) -> (&[u8], &[[u32; WIDTH]], &[[f32; WIDTH]]) {
        let blocks = self.owner.len();
        let (near, _) = self.neighbour.as_chunks();
        let (slope, _) = self.slope.as_chunks();
        (&self.owner, &near[..blocks], &slope[..blocks])
    }

    /// Neighbours of particle `k` in blocks of eight, filled up, and the slopes of their kernels.
    #[inline(always)]
    pub fn slope_blocks_of(&self, k: usize) -> Blocks<'_> {
        self.blocks_with(k, &self.slope)
    }

    /// Neighbours of particle `k` in blocks of eight, filled up, and the friction of the pairs.
    #[inline(always)]
    pub fn friction_blocks_of(&self, k: usize) -> Blocks<'_> {
        self.blocks_with(k, &self.friction)
    }

    #[inline(always)]
    fn blocks_with<'a>(&'a self, k: usize, weight: &'a [f32]) -> Blocks<'a> {
        let range = self.range(k);
        let blocks = range.len().div_ceil(WIDTH);
        let (near, _) = self.neighbour[range.start..].as_chunks();
        let (weight, _) = weight[range.start..].as_chunks();
        near[..blocks].iter().zip(&weight[..blocks])
    }

    #[inline(always)]
    fn range(&self, k: usize) -> Range<usize> {
        self.start[k] as usize..self.end[k] as usize
    }

    /// Makes the lists longer, without the doubling that would leave half of them
    /// unused.
    fn grow(&mut self, len: usize) {
        self.neighbour.reserve_exact(len - self.neighbour.len());
        self.neighbour.resize(len, 0);
        self.slope.reserve_exact(len - self.slope.len());
        self.slope.resize(len, 0.0);
        self.friction.reserve_exact(len - self.friction.len());
        self.friction.resize(len, 0.0);
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Neighbours of particle `k` in blocks of eight, filled up, and the friction of the pairs,
    /// which may be changed; it must be zero where there is no other particle.
    #[inline(always)]
    pub fn friction_blocks_mut(
        &mut self,
        k: usize,
    ) -> impl Iterator<Item = (&[u32; WIDTH], &mut [f32; WIDTH])> {
        let range = self.range(k);
        let blocks = range.len().div_ceil(WIDTH);
        let (near, _) = self.neighbour[range.start..].as_chunks();
        let (friction, _) = self.friction[range.start..].as_chunks_mut();
        near[..blocks].iter().zip(&mut friction[..blocks])
    }

    /// Keeps the pairs of (particle of the chunk, neighbour, slope) for which `keep` is true,
    /// and all of the particles that are not `concerned`. The first particle of the chunk is
    /// number `first` of all.
    pub fn retain(
        &mut self,
        first: usize,
        concerned: impl Fn(usize) -> bool,
        mut keep: impl FnMut(usize, usize, f32) -> bool,
    ) {
        for k in (0..self.len()).filter(|&k| concerned(k)) {
            let range = self.range(k);
            let mut end = range.start;
            for p in range.clone() {
                let (j, slope) = (self.neighbour[p], self.slope[p]);
                if keep(k, j as usize, slope) {
                    self.neighbour[end] = j;
                    self.slope[end] = slope;
                    self.friction[end] = self.friction[p];
                    end += 1;
                }
            }
            self.neighbour[end..range.end].fill((first + k) as u32);
            self.slope[end..range.end].fill(0.0);
            self.friction[end..range.end].fill(0.0);
            self.end[k] = end as u32;
        }
    }
}

const _: () = assert!(CHUNK <= 256);

/// What the search sums on the way, for each particle.
pub(crate) struct Found<'a> {
    /// `Σ V W`, itself included: how full the surroundings are.
    pub fullness: &'a mut [f32],
    /// `Σ |V ∇W|²` over the neighbours.
    pub squares: &'a mut [f32],
    /// `Σ V ∇W`.
    pub gradient: &'a mut [Vec3A],
    /// `-Σ V ∇W · x_ij / 3`: the share of the solver's pressure that pushes through the
    /// liquid, 1 if there were infinitely many neighbours.
    pub share: &'a mut [f32],
}

/// The neighbours of all particles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pub chunks: Vec<ChunkPairs>,
}

impl Pairs {
    /// Finds all pairs nearer than the support radius. `x` and `position` hold the same
    /// places, sorted by the grid's cells; `position` is longer by one vector width.
    pub fn find(
        &mut self,
        grid: &CellGrid,
        position: Xyz<'_>,
        x: &[Vec3A],
        (kernel, friction): (CubicSpline, Friction),
        Found {
            fullness,
            squares,
            gradient,
            share,
        }: Found<'_>,
    ) {
        let n = x.len();
        self.chunks
            .resize_with(n.div_ceil(CHUNK), ChunkPairs::default);
        (
            &mut self.chunks,
            fullness[..n].par_chunks_mut(CHUNK),
            squares[..n].par_chunks_mut(CHUNK),
            gradient[..n].par_chunks_mut(CHUNK),
            share[..n].par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .spread(|(c, (chunk, fullness, squares, gradient, share))| {
                let found = Found {
                    fullness,
                    squares,
                    gradient,
                    share,
                };
                let places = Places { position, x };
                find_best(grid, places, (kernel, friction), c * CHUNK, chunk, found);
            });
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let bytes = self.chunks.iter().map(|c| {
            let particles = c.start.capacity() + c.end.capacity();
            let pairs = c.neighbour.capacity() + c.slope.capacity() + c.friction.capacity();
            4 * (particles + pairs) + c.owner.capacity()
        });
        bytes.sum::<usize>()
    }
}

/// Where particles are: number by number, and as rows.
#[derive(Clone, Copy)]
struct Places<'a> {
    position: Xyz<'a>,
    x: &'a [Vec3A],
}

fn find_best(
    grid: &CellGrid,
    places: Places<'_>,
    laws: (CubicSpline, Friction),
    first: usize,
    chunk: &mut ChunkPairs,
    found: Found<'_>,
) {
    dispatch!(find_chunk(
        grid: &CellGrid,
        places: Places<'_>,
        laws: (CubicSpline, Friction),
        first: usize,
        chunk: &mut ChunkPairs,
        found: Found<'_>,
    ));
}

/// Finds the pairs of the particles from `first` on.
#[inline(always)]
fn find_chunk<L: Lanes>(
    l: L,
    grid: &CellGrid,
    Places { position, x }: Places<'_>,
    (kernel, friction): (CubicSpline, Friction),
    first: usize,
    chunk: &mut ChunkPairs,
    found: Found<'_>,
) {
    chunk.start.clear();
    chunk.end.clear();
    chunk.owner.clear();
    let mut begin = 0;
    for (cell, rows) in grid.cells_in(first..first + found.fullness.len()) {
        let candidates: usize = rows.as_slice().iter().map(|r| (r.1 - r.0) as usize).sum();
        for i in cell {
            let room = begin + candidates + MOST_PACKED;
            if chunk.neighbour.len() < room {
                chunk.grow(room + SPARE);
            }
            let around = (position.get(i), kernel.support_radius.powi(2));
            let mut end = begin;
            for &(from, to) in rows.as_slice() {
                let range = from as usize..to as usize;
                let lists = (&mut chunk.slope[..], &mut chunk.neighbour[..]);
                // SAFETY: rows end at or before the particle count, and the arrays are one
                // width longer than that; the lists have room for all candidates and for what
                // may be packed beyond.
                end = unsafe { l.pack_near(position, range, around, lists, end) };
            }
            chunk.neighbour[end..end + WIDTH].fill(i as u32);
            let k = i - first;
            let law = (kernel, friction);
            let [fullness, squares, work] =
                weigh::<L>(l, law, x, i, chunk, begin..end, &mut found.gradient[k]);
            found.fullness[k] = fullness;
            found.squares[k] = squares;
            found.share[k] = -work / 3.0;
            // A place that is not a number has not even itself for a neighbour.
            let blocks = (end - begin).div_ceil(WIDTH).max(1);
            if end == begin {
                chunk.slope[begin..begin + WIDTH].fill(0.0);
            }
            chunk.start.push(begin as u32);
            chunk.end.push(end as u32);
            chunk.owner.resize(chunk.owner.len() + blocks, k as u8);
            begin += blocks * WIDTH;
        }
    }
}

/// Turns squared distances into slopes of the kernel, in place, and computes the friction of
/// the pairs. Returns the sums of the kernel's values, of its squared gradients, and of its
/// gradients times the distances; the sum of the gradients goes to `gradient`.
#[inline(always)]
fn weigh<L: Lanes>(
    l: L,
    (kernel, friction): (CubicSpline, Friction),
    x: &[Vec3A],
    i: usize,
    chunk: &mut ChunkPairs,
    list: Range<usize>,
    gradient: &mut Vec3A,
) -> [f32; 3] {
    let inverse_h = l.splat(1.0 / kernel.support_radius);
    let (one, half, zero) = (l.splat(1.0), l.splat(0.5), l.splat(0.0));
    let (two, six) = (l.splat(2.0), l.splat(6.0));
    let (eight, least) = (l.splat(8.0), l.splat(1e-6));
    let (value, slope) = (l.splat(kernel.value), l.splat(kernel.slope));
    let (twenty_four, nearest) = (l.splat(24.0), l.splat(NEAREST));
    let most_inverse = l.splat(1.0 / NEAREST);
    let rough = l.splat(friction.scale);
    let own = [l.splat(x[i].x), l.splat(x[i].y), l.splat(x[i].z)];
    let (mut values, mut squares, mut work) = (zero, zero, zero);
    let mut sum = [zero; 3];
    let mut k = list.start;
    while k < list.end {
        // SAFETY: the lists have room for one width beyond their end, and name particles
        // there.
        unsafe {
            let r_squared = l.load(&chunk.slope, k);
            let q = l.mul(l.sqrt(r_squared), inverse_h);
            let at = l.max(q, least);
            let outer = l.max(l.sub(one, at), zero);
            let inner = l.max(l.sub(half, at), zero);
            let (outer2, inner2) = (l.mul(outer, outer), l.mul(inner, inner));
            let w = l.sub(
                l.mul(two, l.mul(outer2, outer)),
                l.mul(eight, l.mul(inner2, inner)),
            );
            let dw = l.sub(l.mul(twenty_four, inner2), l.mul(six, outer2));
            let keep = l.first(list.end - k);
            let inverse = l.div(one, at);
            let s = l.keep(l.mul(slope, l.mul(dw, inverse)), keep);
            values = l.add(values, l.keep(l.mul(value, w), keep));
            let steep = l.mul(s, r_squared);
            work = l.add(work, steep);
            squares = l.add(squares, l.mul(s, steep));
            let near = &*chunk.neighbour.as_ptr().add(k).cast::<[u32; WIDTH]>();
            let there = l.gather_vectors(x, near);
            for a in 0..3 {
                sum[a] = l.add(sum[a], l.mul(s, l.sub(own[a], there[a])));
            }
            l.store(s, &mut chunk.slope, k);
            let falls = l.sqrt(l.max(l.sub(one, l.max(q, nearest)), zero));
            let inverse = l.min(inverse, most_inverse);
            let cube = l.mul(l.mul(inverse, inverse), inverse);
            let rubs = l.mul(l.mul(rough, falls), cube);
            l.store(l.keep(rubs, keep), &mut chunk.friction, k);
        }
        k += WIDTH;
    }
    *gradient = Vec3A::new(l.sum(sum[0]), l.sum(sum[1]), l.sum(sum[2]));
    [l.sum(values), l.sum(squares), l.sum(work)]
}

/// The vectors from eight neighbours' to that of a particle, `here`, of all in `a`.
#[inline(always)]
pub(super) fn apart<L: Lanes>(
    l: L,
    here: Three<L::F>,
    a: &[Vec3A],
    near: &[u32; WIDTH],
) -> Three<L::F> {
    // SAFETY: neighbours are numbers of particles.
    sub(l, here, unsafe { l.gather_vectors(a, near) })
}

/// Sums `term` over the neighbours of a particle: first argument the neighbour's
/// index, second the slope or weight of the pair. Two sums in turn, because each
/// addition waits for the one before it.
#[inline(always)]
pub(crate) fn sum_pairs(
    (near, slope): (&[u32], &[f32]),
    term: impl Fn(usize, f32) -> Vec3A,
) -> Vec3A {
    let (mut even, mut odd) = (Vec3A::ZERO, Vec3A::ZERO);
    let (near_pairs, near_rest) = near.as_chunks::<2>();
    let (slope_pairs, slope_rest) = slope.as_chunks::<2>();
    for (j, s) in near_pairs.iter().zip(slope_pairs) {
        even += term(j[0] as usize, s[0]);
        odd += term(j[1] as usize, s[1]);
    }
    for (&j, &s) in near_rest.iter().zip(slope_rest) {
        even += term(j as usize, s);
    }
    even + odd
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::test_random::Random;
    use crate::math::XyzVec;
    use crate::simd::Portable;
    use crate::space::NeighbourSearch;

    const N: usize = 200;

    /// Lists and sums of some particles in disorder, one of them lost.
    fn found<L: Lanes>(l: L) -> (ChunkPairs, Vec<u32>) {
        let mut random = Random(9);
        let mut places: Vec<_> = (0..N).map(|_| 0.05 * random.vector()).collect();
        places[17].x = f32::NAN;
        let unsorted: XyzVec = places.iter().copied().collect();
        let mut grid = CellGrid::new();
        grid.build(unsorted.view(), 0.04);
        let sorted = grid.order().iter().map(|&i| places[i as usize]);
        let x: Vec<Vec3A> = sorted.clone().map(Vec3A::from).collect();
        let mut position: XyzVec = sorted.collect();
        for axis in [&mut position.x, &mut position.y, &mut position.z] {
            axis.resize(N + WIDTH, 0.0);
        }
        let laws = (CubicSpline::new(0.04, 0.02), Friction::new(0.04, 0.02));
        let mut chunk = ChunkPairs::default();
        let (mut fullness, mut squares) = (vec![0.0; N], vec![0.0; N]);
        let (mut gradient, mut share) = (vec![Vec3A::ZERO; N], vec![0.0; N]);
        let places = Places {
            position: position.view(),
            x: &x,
        };
        let found = Found {
            fullness: &mut fullness,
            squares: &mut squares,
            gradient: &mut gradient,
            share: &mut share,
        };
        find_chunk(l, &grid, places, laws, 0, &mut chunk, found);
        let gradients = gradient.iter().flat_map(|g| g.to_array());
        let sums = fullness.into_iter().chain(squares).chain(share);
        let bits = sums.chain(gradients).map(f32::to_bits).collect();
        (chunk, bits)
    }

    /// Lists are whole blocks, whose rest has no slope.
    #[test]
    fn lists_are_filled_up() {
        let (chunk, _) = found(Portable);
        let (owner, near, slope) = chunk.blocks();
        let mut b = 0;
        for k in 0..N {
            let (own, slopes) = chunk.of(k);
            let blocks = own.len().div_ceil(WIDTH).max(1);
            assert!(owner[b..b + blocks].iter().all(|&o| usize::from(o) == k));
            let all = near[b..b + blocks].as_flattened();
            let weights = slope[b..b + blocks].as_flattened();
            assert_eq!((&all[..own.len()], &weights[..own.len()]), (own, slopes));
            assert!(all[own.len()..].iter().all(|&j| j as usize == k));
            assert!(weights[own.len()..].iter().all(|&s| s == 0.0));
            b += blocks;
        }
        assert_eq!(b, owner.len());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn all_processors_find_the_same() {
        let lists = |(chunk, bits): (ChunkPairs, Vec<u32>)| {
            let (owner, near, slope) = chunk.blocks();
            let slopes: Vec<u32> = slope.iter().flatten().map(|s| s.to_bits()).collect();
            let rubs = (0..N).flat_map(|k| chunk.friction_of(k).1);
            let rubs: Vec<u32> = rubs.map(|f| f.to_bits()).collect();
            (owner.to_vec(), near.to_vec(), slopes, rubs, bits)
        };
        let portable = lists(found(Portable));
        if let Some(avx2) = crate::simd::Avx2::detect() {
            assert!(lists(found(avx2)) == portable);
        }
        if let Some(avx512) = crate::simd::Avx512::detect() {
            assert!(lists(found(avx512)) == portable);
        }
    }
}
