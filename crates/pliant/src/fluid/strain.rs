//! How the flow around each particle stretches and shears.

use std::slice::from_raw_parts;

use glam::{Vec3A, Vec3Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::incompressible::Incompressible;
use super::pairs::{ChunkPairs, apart};
use crate::crew::Spread;
use crate::simd::vectors::{Three, dot, scale, splat, sum};
use crate::simd::{Lanes, WIDTH, dispatch};

/// A symmetric matrix: the strain rate of the flow around a particle, in 1/s, or how hard
/// walls hold it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Symmetric {
    /// xx, yy, zz.
    along: Vec3A,
    /// yz, zx, xy.
    across: Vec3A,
}

impl Symmetric {
    /// `d · S d` of eight matrices, those of `near` among `all`, and vectors: how fast two
    /// particles with `d` between them part, times their distance.
    #[inline(always)]
    pub(super) fn forms<L: Lanes>(
        l: L,
        all: &[Symmetric],
        near: &[u32; WIDTH],
        d: Three<L::F>,
    ) -> L::F {
        // SAFETY: it is two vectors, without anything between them.
        let halves = unsafe { from_raw_parts(all.as_ptr().cast::<Vec3A>(), 2 * all.len()) };
        let (mut first, mut second) = ([0; WIDTH], [0; WIDTH]);
        for k in 0..WIDTH {
            (first[k], second[k]) = (2 * near[k], 2 * near[k] + 1);
        }
        // SAFETY: neighbours are numbers of particles, and of matrices.
        let (along, across) = unsafe {
            (
                l.gather_vectors(halves, &first),
                l.gather_vectors(halves, &second),
            )
        };
        form(l, along, across, d)
    }

    /// The same of one matrix and eight vectors.
    #[inline(always)]
    pub(super) fn forms_of_one<L: Lanes>(&self, l: L, d: Three<L::F>) -> L::F {
        form(l, splat(l, self.along), splat(l, self.across), d)
    }

    /// `S v`.
    #[inline(always)]
    pub(super) fn times(&self, v: Vec3A) -> Vec3A {
        self.along * v + self.across.zxy() * v.yzx() + self.across.yzx() * v.zxy()
    }

    /// `sqrt(2 S:S)`: the shear rate, of a strain rate.
    pub(super) fn shear_rate(&self) -> f32 {
        let (along, across) = (self.along, self.across);
        (2.0 * along.dot(along) + 4.0 * across.dot(across)).sqrt()
    }

    /// Adds `weight n nᵀ`.
    pub(super) fn add(&mut self, weight: f32, n: Vec3A) {
        self.along += weight * n * n;
        self.across += weight * n.yzx() * n.zxy();
    }
}

/// `d · S d`, S as in [`Symmetric`].
#[inline(always)]
fn form<L: Lanes>(l: L, along: Three<L::F>, across: Three<L::F>, d: Three<L::F>) -> L::F {
    let [x, y, z] = d;
    let squares = [l.mul(x, x), l.mul(y, y), l.mul(z, z)];
    let products = [l.mul(y, z), l.mul(z, x), l.mul(x, y)];
    let twice = l.mul(l.splat(2.0), dot(l, across, products));
    l.add(dot(l, along, squares), twice)
}

/// Whose strain rates are sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    All,
    /// Those of `ViscositySolver::deep`.
    Deep,
}

impl Incompressible {
    /// Finds strain rates.
    pub(super) fn find_strains(&mut self, whom: Whom) {
        let (x, v) = (&self.x[..], &self.v[..]);
        let deep = match whom {
            Whom::All => &[],
            Whom::Deep => &self.viscosity.deep[..],
        };
        self.strains.resize(x.len(), Symmetric::default());
        (self.strains.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (strains, pairs))| strain_chunk(x, v, deep, c * CHUNK, pairs, strains));
    }
}

/// The strain rates around a chunk's particles, of all if `deep` is empty.
fn strain_chunk(
    x: &[Vec3A],
    v: &[Vec3A],
    deep: &[bool],
    first: usize,
    pairs: &ChunkPairs,
    strains: &mut [Symmetric],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        x: &[Vec3A],
        v: &[Vec3A],
        deep: &[bool],
        first: usize,
        pairs: &ChunkPairs,
        strains: &mut [Symmetric],
    ) {
        for (k, strain) in strains.iter_mut().enumerate() {
            if deep.get(first + k) == Some(&false) {
                continue;
            }
            let (here, own) = (x[first + k], v[first + k]);
            let (here, own) = (splat(l, here), splat(l, own));
            let zero = l.splat(0.0);
            let (mut along, mut across, mut work) = ([zero; 3], [zero; 3], zero);
            for (near, s) in pairs.slope_blocks_of(k) {
                let s = l.numbers(s);
                let d = apart(l, here, x, near);
                let dv = scale(l, apart(l, own, v, near), s);
                for a in 0..3 {
                    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                    along[a] = l.add(along[a], l.mul(dv[a], d[a]));
                    let both = l.add(l.mul(dv[b], d[c]), l.mul(dv[c], d[b]));
                    across[a] = l.add(across[a], both);
                }
                work = l.add(work, l.mul(s, dot(l, d, d)));
            }
            // Both sums miss what is beyond walls and surfaces. Single particles have no flow
            // around them.
            let whole = 3.0 / l.sum(work).min(-0.1);
            *strain = Symmetric {
                along: whole * sum(l, along),
                across: 0.5 * whole * sum(l, across),
            };
        }
    }
    dispatch!(run(
        x: &[Vec3A],
        v: &[Vec3A],
        deep: &[bool],
        first: usize,
        pairs: &ChunkPairs,
        strains: &mut [Symmetric],
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shear_has_its_rate_in_any_frame() {
        // v = 3 y along x: S has 1.5 off the diagonal.
        let shear = Symmetric {
            along: Vec3A::ZERO,
            across: Vec3A::new(0.0, 0.0, 1.5),
        };
        assert!((shear.shear_rate() - 3.0).abs() < 1e-6);
        // The same, turned by 45 degrees: a stretching.
        let stretch = Symmetric {
            along: Vec3A::new(1.5, -1.5, 0.0),
            across: Vec3A::ZERO,
        };
        assert!((stretch.shear_rate() - 3.0).abs() < 1e-6);
    }
}
