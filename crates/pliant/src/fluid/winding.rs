//! How much of the friction between particles is that of the flow.
//!
//! Particles that are sheared under pressure do not just follow the flow: each keeps its
//! surroundings full, so they wind their way past each other, and rub in doing so. A third
//! of all friction in syrup that is pumped through a tube is of that kind, and all of it
//! would have to be paid by the pump. Viscosity is about the flow alone, so pairs rub only
//! by the share of their motion that the strain of the flow around them explains,
//!
//! ```text
//! share_i = (Σ_j w a b)² / (Σ_j w a²  Σ_j w b²),   a = x_ij · S x_ij,  b = x_ij · v_ij
//! ```
//!
//! with the weights w of the friction: 1 where particles go with the flow, whatever that is.

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::incompressible::Incompressible;
use super::pairs::{ChunkPairs, apart};
use super::strain::{Symmetric, Whom};
use crate::crew::Spread;
use crate::simd::vectors::{dot, splat};
use crate::simd::{Lanes, dispatch};

/// What no motion of particles takes from their friction: some of it is noise, which
/// friction must calm.
const LEAST: f32 = 0.5;

impl Incompressible {
    /// Finds the share of each particle's friction that is that of the flow.
    pub(super) fn find_shares_of_flow(&mut self) {
        self.find_strains(Whom::All);
        let (x, v, strains) = (&self.x[..], &self.v[..], &self.strains[..]);
        let shares = &mut self.viscosity.share_of_flow;
        shares.resize(x.len(), 1.0);
        (shares.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (shares, pairs))| share_chunk(x, v, strains, c * CHUNK, pairs, shares));
    }
}

/// The shares of a chunk's particles.
fn share_chunk(
    x: &[Vec3A],
    v: &[Vec3A],
    strains: &[Symmetric],
    first: usize,
    pairs: &ChunkPairs,
    shares: &mut [f32],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        x: &[Vec3A],
        v: &[Vec3A],
        strains: &[Symmetric],
        first: usize,
        pairs: &ChunkPairs,
        shares: &mut [f32],
    ) {
        for (k, share) in shares.iter_mut().enumerate() {
            let i = first + k;
            let (here, own) = (splat(l, x[i]), splat(l, v[i]));
            let zero = l.splat(0.0);
            let (mut flows, mut both, mut motions) = (zero, zero, zero);
            for (near, w) in pairs.friction_blocks_of(k) {
                let w = l.numbers(w);
                let d = apart(l, here, x, near);
                let ends = l.add(
                    strains[i].forms_of_one(l, d),
                    Symmetric::forms(l, strains, near, d),
                );
                let flow = l.mul(l.splat(0.5), ends);
                let motion = dot(l, d, apart(l, own, v, near));
                flows = l.add(flows, l.mul(w, l.mul(flow, flow)));
                both = l.add(both, l.mul(w, l.mul(flow, motion)));
                motions = l.add(motions, l.mul(w, l.mul(motion, motion)));
            }
            let (flows, both, motions) = (l.sum(flows), l.sum(both), l.sum(motions));
            let all = flows * motions;
            *share = if all > 0.0 {
                (both * both / all).max(LEAST)
            } else {
                1.0
            };
        }
    }
    dispatch!(run(
        x: &[Vec3A],
        v: &[Vec3A],
        strains: &[Symmetric],
        first: usize,
        pairs: &ChunkPairs,
        shares: &mut [f32],
    ));
}
