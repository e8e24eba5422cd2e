//! Whirls that last: vorticity confinement (Steinhoff & Underhill 1994, Fedkiw et al. 2001).
//!
//! Viscosity, real and numerical, eats small whirls first. Where asked for, each particle is
//! pushed around the nearest centre of whirling,
//!
//! ```text
//! dv/dt = ε h |ω| (N × ω),    ω = ∇ × v,    N = ∇|ω| / |∇|ω||
//! ```
//!
//! with h the support radius, so that ε has no unit and does not depend on the resolution.
//! This is for the eye: it adds energy, and the forces are not pairwise.

use glam::Vec3A;
use rayon::prelude::*;

use crate::crew::Spread;

use super::CHUNK;
use super::incompressible::Incompressible;

/// Where |ω| changes by less than this share of itself within the support radius, it has no
/// direction in which it grows.
const FLAT: f32 = 0.05;

/// `-Σ_j V W' r` inside a liquid, and the share of it from which on a particle is in one.
const WHOLE: f32 = 3.0;
const LIQUID: f32 = 0.5;

/// A sub-step spins nothing up by more than this share.
const MOST_TURN: f32 = 0.02;

impl Incompressible {
    /// Spins whirls up over `dt` by the strength ε.
    pub fn confine_vorticity(&mut self, dt: f32, strength: f32) {
        let h = self.kernel.support_radius;
        let (x, v) = (&self.x[..], &self.v[..]);
        // ω with its length.
        let mut whirl = vec![(Vec3A::ZERO, 0.0); x.len()];
        (whirl.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (whirl, pairs))| {
                for (k, whirl) in whirl.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let (near, slope) = pairs.of(k);
                    let (mut curl, mut work) = (Vec3A::ZERO, 0.0);
                    for (&j, &s) in near.iter().zip(slope) {
                        let d = x[i] - x[j as usize];
                        curl += s * (v[i] - v[j as usize]).cross(d);
                        work += s * d.length_squared();
                    }
                    // Spray has no whirls; near walls and surfaces a part of both sums is missing.
                    if work < -WHOLE * LIQUID {
                        let curl = curl * (-WHOLE / work);
                        *whirl = (curl, curl.length());
                    }
                }
            });
        let whirl = &whirl[..];
        (self.v.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (v, pairs))| {
                for (k, v) in v.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let (near, slope) = pairs.of(k);
                    let (curl, size) = whirl[i];
                    let mut growth = Vec3A::ZERO;
                    for (&j, &s) in near.iter().zip(slope) {
                        growth += s * (whirl[j as usize].1 - size) * (x[i] - x[j as usize]);
                    }
                    let steepness = growth.length();
                    if steepness * h > FLAT * size {
                        let turn = (dt * strength * size).min(MOST_TURN);
                        *v += turn * h * (growth / steepness).cross(curl);
                    }
                }
            });
    }
}
