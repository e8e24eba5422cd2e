//! Eight vectors at a time, component by component.
//!
//! Functions, not closures: only what is always inlined keeps the vector instructions.

use glam::{Vec3, Vec3A};

use super::{Lanes, WIDTH};

/// Eight vectors: their x, y and z.
pub(crate) type Three<F> = [F; 3];

/// The same vector in all lanes.
#[inline(always)]
pub(crate) fn splat<L: Lanes>(l: L, v: impl Into<Vec3>) -> Three<L::F> {
    let [x, y, z] = v.into().to_array();
    [l.splat(x), l.splat(y), l.splat(z)]
}

/// `a[near[k]]` at place k.
#[inline(always)]
pub(crate) fn pick<T: Copy>(a: &[T], near: &[u32; WIDTH]) -> [T; WIDTH] {
    let mut picked = [a[near[0] as usize]; WIDTH];
    for k in 1..WIDTH {
        picked[k] = a[near[k] as usize];
    }
    picked
}

#[inline(always)]
pub(crate) fn load<L: Lanes>(l: L, a: &[[f32; WIDTH]; 3]) -> Three<L::F> {
    [l.numbers(&a[0]), l.numbers(&a[1]), l.numbers(&a[2])]
}

#[inline(always)]
pub(crate) fn add<L: Lanes>(l: L, u: Three<L::F>, v: Three<L::F>) -> Three<L::F> {
    [l.add(u[0], v[0]), l.add(u[1], v[1]), l.add(u[2], v[2])]
}

#[inline(always)]
pub(crate) fn sub<L: Lanes>(l: L, u: Three<L::F>, v: Three<L::F>) -> Three<L::F> {
    [l.sub(u[0], v[0]), l.sub(u[1], v[1]), l.sub(u[2], v[2])]
}

#[inline(always)]
pub(crate) fn scale<L: Lanes>(l: L, v: Three<L::F>, s: L::F) -> Three<L::F> {
    [l.mul(v[0], s), l.mul(v[1], s), l.mul(v[2], s)]
}

#[inline(always)]
pub(crate) fn dot<L: Lanes>(l: L, u: Three<L::F>, v: Three<L::F>) -> L::F {
    let across = l.add(l.mul(u[0], v[0]), l.mul(u[1], v[1]));
    l.add(across, l.mul(u[2], v[2]))
}

#[inline(always)]
pub(crate) fn cross<L: Lanes>(l: L, u: Three<L::F>, v: Three<L::F>) -> Three<L::F> {
    [
        l.sub(l.mul(u[1], v[2]), l.mul(v[1], u[2])),
        l.sub(l.mul(u[2], v[0]), l.mul(v[2], u[0])),
        l.sub(l.mul(u[0], v[1]), l.mul(v[0], u[1])),
    ]
}

/// The sum of the eight vectors.
#[inline(always)]
pub(crate) fn sum<L: Lanes>(l: L, v: Three<L::F>) -> Vec3A {
    Vec3A::new(l.sum(v[0]), l.sum(v[1]), l.sum(v[2]))
}
