//! How the flow around each particle stretches and shears.

use glam::{Vec3A, Vec3Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::incompressible::Incompressible;
use super::pairs::ChunkPairs;
use crate::crew::Spread;
use crate::simd::{Lanes, dispatch};

/// A symmetric matrix: the strain rate of the flow around a particle, in 1/s, or how hard
/// walls hold it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Symmetric {
    /// xx, yy, zz.
    along: Vec3A,
    /// yz, zx, xy.
    across: Vec3A,
}

impl Symmetric {
    /// `d · S d`: how fast two particles with `d` between them part, times their distance.
    #[inline(always)]
    pub(super) fn form(&self, d: Vec3A) -> f32 {
        let (squares, products) = (d * d, d.yzx() * d.zxy());
        (self.along * squares + 2.0 * (self.across * products)).element_sum()
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
        _: L,
        x: &[Vec3A],
        v: &[Vec3A],
        deep: &[bool],
        first: usize,
        pairs: &ChunkPairs,
        strains: &mut [Symmetric],
    ) {
        // One length for both spares a test of every index.
        let v = &v[..x.len()];
        for (k, strain) in strains.iter_mut().enumerate() {
            if deep.get(first + k) == Some(&false) {
                continue;
            }
            let (here, own) = (x[first + k], v[first + k]);
            let (near, slope) = pairs.of(k);
            let (mut along, mut across, mut work) = (Vec3A::ZERO, Vec3A::ZERO, Vec3A::ZERO);
            for (&j, &s) in near.iter().zip(slope) {
                let j = j as usize;
                let d = here - x[j];
                let dv = s * (own - v[j]);
                along += dv * d;
                across += dv.yzx() * d.zxy() + dv.zxy() * d.yzx();
                work += s * d * d;
            }
            // Both sums miss what is beyond walls and surfaces. Single particles have no flow
            // around them.
            let scale = 3.0 / work.element_sum().min(-0.1);
            strain.along = scale * along;
            strain.across = 0.5 * scale * across;
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
