//! What particles carry with them and share with their neighbours: shear, which
//! thins some liquids, and dye or contrast medium, which spreads.

use glam::{Vec3A, Vec3Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::incompressible::Incompressible;
use super::liquid::Liquid;
use super::pairs::ChunkPairs;
use super::walls::Walls;
use crate::simd::{Lanes, dispatch};

impl Incompressible {
    /// Writes the viscosity of every particle: that of its liquid, thinned by shear,
    /// and `extra`.
    pub fn find_viscosity(
        &self,
        liquids: &[Liquid],
        liquid: &[u8],
        extra: &[f32],
        walls: &Walls,
        viscosity: &mut [f32],
    ) {
        let (x, v) = (&self.x[..], &self.v[..]);
        (viscosity.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .for_each(|(c, (viscosity, pairs))| {
                if liquids.iter().any(|l| l.material.thinning.is_some()) {
                    shear_rates(x, v, c * CHUNK, pairs, viscosity);
                }
                for (k, viscosity) in viscosity.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let kind = liquid[i] as usize;
                    let material = &liquids[kind].material;
                    let mut mu = material.viscosity;
                    if let Some(thinning) = material.thinning {
                        let mut shear = *viscosity;
                        // The liquid that sticks to a wall is not in the sums.
                        for m in walls.of(i).iter().filter(|m| m.no_slip) {
                            let slip = v[i] - Vec3A::from(m.wall.velocity);
                            let normal = Vec3A::from(m.wall.normal);
                            let along = slip - slip.dot(normal) * normal;
                            let d = m.wall.distance.max(0.1 * self.kernel.support_radius);
                            shear = shear.max(m.wall.drag * along.length() / d);
                        }
                        mu = thinning.viscosity(mu, shear);
                    }
                    *viscosity = mu + extra[kind];
                }
            });
    }

    /// Spreads the concentration over `dt`: Fick's law with the Laplacian of Morris
    /// et al. 1997, what one particle loses the other gains.
    pub fn spread(
        &self,
        dt: f32,
        liquids: &[Liquid],
        liquid: &[u8],
        concentration: &mut [f32],
        before: &mut [f32],
    ) {
        before.copy_from_slice(concentration);
        let before = &*before;
        (concentration.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .for_each(|(c, (concentration, pairs))| {
                for (k, concentration) in concentration.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let own = liquids[liquid[i] as usize].diffusivity;
                    let (near, slope) = pairs.of(k);
                    let mut flow = 0.0;
                    for (&j, &s) in near.iter().zip(slope) {
                        let j = j as usize;
                        let other = liquids[liquid[j] as usize].diffusivity;
                        // What does not diffuse in one of the two does not cross.
                        let mean = 2.0 * own * other / (own + other).max(f32::MIN_POSITIVE);
                        flow += mean * s * (before[i] - before[j]);
                    }
                    *concentration += 2.0 * dt * flow;
                }
            });
    }
}

/// `sqrt(2 S:S)`, S the symmetric part of the velocity gradient, for a chunk's particles.
fn shear_rates(x: &[Vec3A], v: &[Vec3A], first: usize, pairs: &ChunkPairs, rates: &mut [f32]) {
    #[inline(always)]
    fn run<L: Lanes>(
        _: L,
        x: &[Vec3A],
        v: &[Vec3A],
        first: usize,
        pairs: &ChunkPairs,
        rates: &mut [f32],
    ) {
        // One length for both spares a test of every index.
        let v = &v[..x.len()];
        for (k, rate) in rates.iter_mut().enumerate() {
            let (here, own) = (x[first + k], v[first + k]);
            let (near, slope) = pairs.of(k);
            let (mut a, mut b, mut c) = (Vec3A::ZERO, Vec3A::ZERO, Vec3A::ZERO);
            for (&j, &s) in near.iter().zip(slope) {
                let j = j as usize;
                let d = s * (here - x[j]);
                let dv = own - v[j];
                a -= dv.xxx() * d;
                b -= dv.yyy() * d;
                c -= dv.zzz() * d;
            }
            let (xy, xz, yz) = (a.y + b.x, a.z + c.x, b.z + c.y);
            let along = a.x * a.x + b.y * b.y + c.z * c.z;
            *rate = (2.0 * along + xy * xy + xz * xz + yz * yz).sqrt();
        }
    }
    dispatch!(run(
        x: &[Vec3A],
        v: &[Vec3A],
        first: usize,
        pairs: &ChunkPairs,
        rates: &mut [f32],
    ));
}
