//! The sums of the pressure equations over neighbours and images: the rate of compression
//! D, and the pressure gradient G, its transpose.
//!
//! They are most of the work of an incompressible liquid. Neighbours are taken two at a
//! time, each a half of a vector: their places and velocities come from all over the
//! memory, and turning eight of them into lanes costs more than it saves.

use glam::Vec3A;

use super::images::ChunkImages;
use super::pairs::ChunkPairs;
use crate::simd::{Lanes, dispatch};

/// One chunk of particles with all that they see.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'a> {
    /// Index of its first particle.
    pub first: usize,
    pub pairs: &'a ChunkPairs,
    pub images: &'a ChunkImages,
    pub x: &'a [Vec3A],
}

/// Adds the rates of compression of a chunk's particles.
pub(super) fn add_compression(chunk: Chunk<'_>, v: &[Vec3A], rates: &mut [f32]) {
    #[inline(always)]
    fn run<L: Lanes>(l: L, chunk: Chunk<'_>, v: &[Vec3A], rates: &mut [f32]) {
        for (k, rate) in rates.iter_mut().enumerate() {
            let i = chunk.first + k;
            *rate += compression::<L>(l, chunk.x, v, i, chunk.pairs.of(k))
                + chunk.images.compression(v, i, k);
        }
    }
    dispatch!(run(chunk: Chunk<'_>, v: &[Vec3A], rates: &mut [f32]));
}

/// Takes the gradient of `pressure`, over the density and times `dt`, from the
/// velocities of a chunk's particles.
pub(super) fn push_chunk(
    chunk: Chunk<'_>,
    pressure: &[f32],
    inverse_density: &[f32],
    dt: f32,
    v: &mut [Vec3A],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        chunk: Chunk<'_>,
        pressure: &[f32],
        inverse_density: &[f32],
        dt: f32,
        v: &mut [Vec3A],
    ) {
        for (k, v) in v.iter_mut().enumerate() {
            let i = chunk.first + k;
            let gradient = pressure_gradient::<L>(l, chunk.x, pressure, i, chunk.pairs.of(k))
                + chunk.images.gradient(pressure, i, k);
            *v -= dt * inverse_density[i] * gradient;
        }
    }
    dispatch!(run(
        chunk: Chunk<'_>,
        pressure: &[f32],
        inverse_density: &[f32],
        dt: f32,
        v: &mut [Vec3A],
    ));
}

/// `Σ_j V ∇W_ij · (v_i - v_j)`.
#[inline(always)]
pub(super) fn compression<L: Lanes>(
    l: L,
    x: &[Vec3A],
    v: &[Vec3A],
    i: usize,
    (near, slope): (&[u32], &[f32]),
) -> f32 {
    let (here, own) = (l.twice(x[i]), l.twice(v[i]));
    let mut sums = [l.splat(0.0); 2];
    let (near, near_rest) = near.as_chunks::<4>();
    let (slope, slope_rest) = slope.as_chunks::<4>();
    // SAFETY: neighbours are numbers of particles.
    unsafe {
        for (j, s) in near.iter().zip(slope) {
            let d = l.sub(here, l.two_vectors(x, [j[0], j[1]]));
            let dv = l.sub(own, l.two_vectors(v, [j[0], j[1]]));
            sums[0] = l.add(sums[0], l.mul(l.two_numbers([s[0], s[1]]), l.mul(d, dv)));
            let d = l.sub(here, l.two_vectors(x, [j[2], j[3]]));
            let dv = l.sub(own, l.two_vectors(v, [j[2], j[3]]));
            sums[1] = l.add(sums[1], l.mul(l.two_numbers([s[2], s[3]]), l.mul(d, dv)));
        }
    }
    let mut sum = l.both(l.add(sums[0], sums[1]));
    for (&j, &s) in near_rest.iter().zip(slope_rest) {
        let j = j as usize;
        sum += s * ((x[i] - x[j]) * (v[i] - v[j]));
    }
    sum.element_sum()
}

/// `Σ_j V ∇W_ij (p_i + p_j)`.
#[inline(always)]
pub(super) fn pressure_gradient<L: Lanes>(
    l: L,
    x: &[Vec3A],
    p: &[f32],
    i: usize,
    (near, slope): (&[u32], &[f32]),
) -> Vec3A {
    let here = l.twice(x[i]);
    let p = &p[..x.len()];
    let own = p[i];
    let mut sums = [l.splat(0.0); 2];
    let (near, near_rest) = near.as_chunks::<4>();
    let (slope, slope_rest) = slope.as_chunks::<4>();
    // SAFETY: neighbours are numbers of particles.
    unsafe {
        for (j, s) in near.iter().zip(slope) {
            let both = [
                s[0] * (own + *p.get_unchecked(j[0] as usize)),
                s[1] * (own + *p.get_unchecked(j[1] as usize)),
                s[2] * (own + *p.get_unchecked(j[2] as usize)),
                s[3] * (own + *p.get_unchecked(j[3] as usize)),
            ];
            let d = l.sub(here, l.two_vectors(x, [j[0], j[1]]));
            sums[0] = l.add(sums[0], l.mul(l.two_numbers([both[0], both[1]]), d));
            let d = l.sub(here, l.two_vectors(x, [j[2], j[3]]));
            sums[1] = l.add(sums[1], l.mul(l.two_numbers([both[2], both[3]]), d));
        }
    }
    let mut sum = l.both(l.add(sums[0], sums[1]));
    for (&j, &s) in near_rest.iter().zip(slope_rest) {
        let j = j as usize;
        sum += s * (own + p[j]) * (x[i] - x[j]);
    }
    sum
}
