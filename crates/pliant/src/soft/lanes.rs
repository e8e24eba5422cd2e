//! Vectors of eight points side by side.

use glam::Vec3A;
use rayon::prelude::*;

use super::parallel::WORTH;
use crate::simd::{Lanes, WIDTH};

/// Groups of eight points per task.
pub(super) const TASK: usize = 64;

/// One number of every point of a group.
pub(super) type Eight = [f32; WIDTH];

/// `a b - c d`.
#[inline(always)]
pub(super) fn minor<L: Lanes>(l: L, a: L::F, b: L::F, c: L::F, d: L::F) -> L::F {
    l.sub(l.mul(a, b), l.mul(c, d))
}

#[inline(always)]
pub(super) fn add<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [l.add(a[0], b[0]), l.add(a[1], b[1]), l.add(a[2], b[2])]
}

#[inline(always)]
pub(super) fn sub<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [l.sub(a[0], b[0]), l.sub(a[1], b[1]), l.sub(a[2], b[2])]
}

#[inline(always)]
pub(super) fn dot<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> L::F {
    let first = l.add(l.mul(a[0], b[0]), l.mul(a[1], b[1]));
    l.add(first, l.mul(a[2], b[2]))
}

#[inline(always)]
pub(super) fn scaled<L: Lanes>(l: L, by: L::F, v: [L::F; 3]) -> [L::F; 3] {
    [l.mul(by, v[0]), l.mul(by, v[1]), l.mul(by, v[2])]
}

/// A vector in every lane.
#[inline(always)]
pub(super) fn splat<L: Lanes>(l: L, v: Vec3A) -> [L::F; 3] {
    [l.splat(v.x), l.splat(v.y), l.splat(v.z)]
}

#[inline(always)]
pub(super) fn cross<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [
        minor(l, a[1], b[2], a[2], b[1]),
        minor(l, a[2], b[0], a[0], b[2]),
        minor(l, a[0], b[1], a[1], b[0]),
    ]
}

/// Writes the vectors of group `g`, as far as there are points.
#[inline(always)]
pub(super) fn put<L: Lanes>(l: L, out: &mut [Vec3A], g: usize, v: [L::F; 3]) {
    let vectors = l.to_vectors(v);
    let out = &mut out[g * WIDTH..];
    match out.first_chunk_mut() {
        Some(all) => *all = vectors,
        None => out.copy_from_slice(&vectors[..out.len()]),
    }
}

/// The vectors of group `g`; nothing where there are no more points.
#[inline]
pub(super) fn eight_vectors(a: &[Vec3A], g: usize) -> [Vec3A; WIDTH] {
    let a = &a[g * WIDTH..];
    match a.first_chunk() {
        Some(all) => *all,
        None => std::array::from_fn(|l| a.get(l).copied().unwrap_or(Vec3A::ZERO)),
    }
}

/// The numbers of group `g`; 1 where there are no more points.
#[inline]
pub(super) fn eight_of(a: &[f32], g: usize) -> Eight {
    let a = &a[g * WIDTH..];
    match a.first_chunk() {
        Some(all) => *all,
        None => std::array::from_fn(|l| a.get(l).copied().unwrap_or(1.0)),
    }
}

/// Calls `task` with the number of every group and what it writes.
pub(super) fn each_group<T: Send>(
    points: usize,
    out: &mut [T],
    task: impl Fn(usize, &mut T) + Sync,
) {
    if points < WORTH {
        out.iter_mut().enumerate().for_each(|(g, o)| task(g, o));
    } else {
        let items = out.par_iter_mut().with_min_len(TASK).enumerate();
        items.for_each(|(g, o)| task(g, o));
    }
}

/// Calls `task` with the number of every group and its vectors.
pub(super) fn each_eight(out: &mut [Vec3A], task: impl Fn(usize, &mut [Vec3A]) + Sync) {
    if out.len() < WORTH {
        let groups = out.chunks_mut(WIDTH).enumerate();
        groups.for_each(|(g, o)| task(g, o));
    } else {
        let groups = out.par_chunks_mut(WIDTH).with_min_len(TASK).enumerate();
        groups.for_each(|(g, o)| task(g, o));
    }
}
