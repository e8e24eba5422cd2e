//! The sums of the pressure equations over neighbours and images: the rate of compression
//! D, and the pressure gradient G, its transpose.

use glam::Vec3A;

use super::images::{ChunkImages, Seen};
use super::pairs::{ChunkPairs, sum_pairs};
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
    fn run<L: Lanes>(_: L, chunk: Chunk<'_>, v: &[Vec3A], rates: &mut [f32]) {
        for (k, rate) in rates.iter_mut().enumerate() {
            let i = chunk.first + k;
            *rate += compression(chunk.x, v, i, chunk.pairs.of(k))
                + image_compression(v, i, chunk.images.of(k));
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
        _: L,
        chunk: Chunk<'_>,
        pressure: &[f32],
        inverse_density: &[f32],
        dt: f32,
        v: &mut [Vec3A],
    ) {
        for (k, v) in v.iter_mut().enumerate() {
            let i = chunk.first + k;
            let gradient = pressure_gradient(chunk.x, pressure, i, chunk.pairs.of(k))
                + image_gradient(pressure, i, chunk.images.of(k));
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
pub(super) fn compression(x: &[Vec3A], v: &[Vec3A], i: usize, pairs: (&[u32], &[f32])) -> f32 {
    let (here, speed) = (x[i], v[i]);
    // One length for both spares a test of every index.
    let v = &v[..x.len()];
    sum_pairs(pairs, |j, s| s * (here - x[j]) * (speed - v[j])).element_sum()
}

/// The same for the images of the neighbours, which move as these do.
#[inline(always)]
pub(super) fn image_compression(v: &[Vec3A], i: usize, seen: Seen<'_>) -> f32 {
    let mut sum = seen.sum * v[i];
    for (&j, &other) in seen.neighbour.iter().zip(seen.other) {
        sum += other * v[j as usize];
    }
    sum.element_sum()
}

/// The gradient by the images of the neighbours, which have their pressures.
#[inline(always)]
pub(super) fn image_gradient(p: &[f32], i: usize, seen: Seen<'_>) -> Vec3A {
    let mut sum = p[i] * seen.sum;
    for (&j, &own) in seen.neighbour.iter().zip(seen.own) {
        sum += p[j as usize] * own;
    }
    sum
}

/// `Σ_j V ∇W_ij (p_i + p_j)`.
#[inline(always)]
pub(super) fn pressure_gradient(
    x: &[Vec3A],
    p: &[f32],
    i: usize,
    pairs: (&[u32], &[f32]),
) -> Vec3A {
    let (here, own) = (x[i], p[i]);
    let p = &p[..x.len()];
    sum_pairs(pairs, |j, s| s * (own + p[j]) * (here - x[j]))
}
