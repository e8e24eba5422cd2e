//! Pressure holds particles in their places, and here it does so implicitly.
//!
//! Particles under pressure are a bed of springs: moved against each other they are pushed
//! back, with a stiffness `(p_i + p_j) V W''` along the line between them. The pressure
//! solve gives that push as it is at the start of the sub-step, so it overshoots where
//! `dt sqrt(p / ρ)` is no longer small beside the spacing, and deep liquid simmers. With
//! the push at the end of the sub-step,
//!
//! ```text
//! (ρ + dt² K) v = ρ v*,    K v = Σ_j (p_i + p_j) V W''_ij (v_ij · x_ij) x_ij / r²
//! ```
//!
//! it never does. This must come after the pressure solve: it then shortens the overshoot
//! itself. Taken from the velocities before, the same damping makes it worse.
//!
//! Viscosity has had its say before, by `(ρ + dt L)⁻¹`. Both together should act as
//! `(ρ + dt L + dt² K)⁻¹` does, so K counts only as far as viscosity leaves particles free to
//! swing, `1 / (1 + γ dt)` with the rate γ at which it damps neighbours that move against
//! each other. Syrup in a tube would else be a third too thick.
//!
//! `K` would be a viscosity of `dt p`, far too much for a liquid that flows. Of the
//! velocity between two particles it therefore takes only what the strain of the flow
//! around them does not explain, and never more or less than nothing: energy can only fall.
//!
//! Only particles that are deep enough to overshoot take part, and only with each other:
//! in a collapsing column most are not.

use std::f32::consts::TAU;

use glam::Vec3A;
use rayon::prelude::*;

use super::cubic::{CubicSpline, for_lattice};
use super::incompressible::Incompressible;
use super::pairs::{ChunkPairs, apart};
use super::strain::{Symmetric, Whom};
use super::viscosity::{STIFFEST, ViscositySolver};
use super::viscosity_solve::Budget;
use super::walls::{Mirror, Walls};
use super::{CHUNK, LEAST};
use crate::coupling::Bodies;
use crate::crew::{Spread, copy, fill};
use crate::simd::vectors::{dot, splat};
use crate::simd::{Lanes, WIDTH, dispatch};

/// Where `dt` times the frequency of the springs is below this, nothing has to be done: an
/// explicit step is stable up to 2.
const SWINGS: f32 = 1.0;

/// Particles whose springs swing by less than this share of that, in square, are not deep.
const SHALLOW: f32 = 0.5;

/// Share of the particles that has to swing faster: single ones that are struck do not
/// make a liquid simmer.
const SHARE: f32 = 0.01;

/// What is sought is a motion that does not overshoot, not an exact one.
const BUDGET: Budget = Budget {
    tolerance: 5e-3,
    share: 1.0,
    iterations: 6,
};

/// `Σ V W'' / 3` over a lattice of particles, in 1/m²: what holds one of them per
/// pressure, in each direction.
pub(super) fn lattice_stiffness(kernel: &CubicSpline, spacing: f32) -> f32 {
    let mut sum = 0.0;
    for_lattice(kernel.support_radius / spacing, |x, y, z| {
        let r_squared = spacing * spacing * (x * x + y * y + z * z) as f32;
        sum += kernel.volume_stiffness(r_squared);
    });
    sum / 3.0
}

impl Incompressible {
    /// Lets the `pressure` that has just been found act on the arrangement of the particles
    /// as it will be at the end of the sub-step, where it is strong enough for that to
    /// matter. Overwrites the friction of the pairs.
    pub fn restore(
        &mut self,
        dt: f32,
        (pressure, viscosity): (&[f32], &[f32]),
        inverse_density: &[f32],
        walls: &mut Walls,
        bodies: &Bodies,
    ) {
        if !self.overshoots(dt, pressure, viscosity, inverse_density) {
            return;
        }
        self.viscosity.restoring = true;
        self.find_pulls(dt, pressure, viscosity, inverse_density);
        self.find_strains(Whom::Deep);
        let (x, v, strains, kernel) = (&self.x[..], &self.v[..], &self.strains[..], self.kernel);
        let pulls = std::mem::take(&mut self.viscosity.pulls);
        let chunks = self.pairs.chunks.par_iter_mut().enumerate();
        chunks.spread(|(c, pairs)| {
            let springs = Springs {
                first: c * CHUNK,
                x,
                v,
                strains,
                pulls: &pulls,
                kernel,
                scale: dt * dt,
            };
            springs.weigh(pairs);
        });
        self.brace(dt, &pulls, walls, bodies);
        let s = &mut self.viscosity;
        s.grip.resize(pressure.len(), 0.0);
        fill(&mut s.grip, 0.0);
        s.image.resize(pressure.len(), Vec3A::ZERO);
        // Steps of forces over masses keep both momenta, however few are made; the
        // diagonal would not.
        s.inverse_diagonal.resize(pressure.len(), 0.0);
        copy(&mut s.inverse_diagonal, inverse_density);
        let pulled = self.friction_on_held(&self.v, |_, _| 1.0);
        let s = &mut self.viscosity;
        let braced = walls.particles().filter(|i| inverse_density[*i] > 0.0);
        s.books
            .begin(&self.v, braced, (&self.held.particles, pulled));
        self.conjugate_gradients(inverse_density, BUDGET);
        let (kernel, volume) = (self.kernel, self.volume);
        let s = &mut self.viscosity;
        s.books.note(dt, inverse_density, walls, |i, mirror| {
            let holds = s.deep[i] && bodies.of(mirror.obstacle).is_none();
            let scale = if holds { dt * dt } else { 0.0 };
            let scale = scale * pulls[i].y * pulls[i].x;
            scale * wall_stiffness(mirror, &kernel, volume)
        });
        self.held.give(f64::from(volume) * s.books.held());
        s.books.end();
        s.restoring = false;
        s.pulls = pulls;
    }

    /// Finds which particles are deep, and what their springs pull with.
    fn find_pulls(
        &mut self,
        dt: f32,
        pressure: &[f32],
        viscosity: &[f32],
        inverse_density: &[f32],
    ) {
        let (swing, damping) = (self.swing(dt), self.damping(dt));
        let ViscositySolver { deep, pulls, .. } = &mut self.viscosity;
        deep.resize(pressure.len(), false);
        pulls.resize(pressure.len(), Vec3A::ZERO);
        (deep, pulls, pressure, viscosity, inverse_density)
            .into_par_iter()
            .with_min_len(LEAST)
            .spread(|(deep, pull, &p, mu, &inverse)| {
                let softer = 1.0 / (1.0 + damping * mu * inverse);
                // Held particles are there for those that are deep.
                *deep = inverse == 0.0 || swing * p * inverse * softer > SHALLOW * SWINGS * SWINGS;
                *pull = Vec3A::new(p, softer, f32::from(*deep));
            });
    }

    /// Finds how hard walls hold particles in their places. Bodies would have to be held in
    /// return, so they do not hold.
    fn brace(&mut self, dt: f32, pulls: &[Vec3A], walls: &Walls, bodies: &Bodies) {
        let (kernel, volume) = (self.kernel, self.volume);
        let ViscositySolver {
            bracing,
            drive,
            deep,
            ..
        } = &mut self.viscosity;
        let n = pulls.len();
        bracing.resize(n, Symmetric::default());
        drive.resize(n, Vec3A::ZERO);
        (
            bracing.par_chunks_mut(CHUNK),
            drive.par_chunks_mut(CHUNK),
            &walls.chunks,
        )
            .into_par_iter()
            .enumerate()
            .spread(|(c, (bracing, drive, walls))| {
                bracing.fill(Symmetric::default());
                drive.fill(Vec3A::ZERO);
                if walls.is_open() {
                    return;
                }
                for k in (0..bracing.len()).filter(|k| deep[c * CHUNK + k]) {
                    let pull = pulls[c * CHUNK + k];
                    let scale = dt * dt * pull.y * pull.x;
                    let fixed = |m: &&Mirror| bodies.of(m.obstacle).is_none();
                    for mirror in walls.of(k).iter().filter(fixed) {
                        let weight = scale * wall_stiffness(mirror, &kernel, volume);
                        let normal = Vec3A::from(mirror.wall.normal);
                        bracing[k].add(weight, normal);
                        drive[k] += weight * normal.dot(mirror.wall.velocity.into()) * normal;
                    }
                }
            });
    }

    /// The square of `dt` times the frequency of the springs, per pressure over density.
    fn swing(&self, dt: f32) -> f32 {
        // Neighbours that move against each other stretch a spring twice, and each has the
        // pressure of both ends.
        4.0 * self.stiffness * dt * dt
    }

    /// `γ dt` per kinematic viscosity, in s/m²: how much viscosity slows down particles that
    /// swing against their neighbours.
    fn damping(&self, dt: f32) -> f32 {
        let h = self.kernel.support_radius;
        STIFFEST * dt / (h * h)
    }

    /// True if more than a few particles swing too fast for the sub-step: a spring that is
    /// damped at a rate γ passes the place where it would rest if `(ω dt)² > 1 + γ dt`.
    fn overshoots(
        &self,
        dt: f32,
        pressure: &[f32],
        viscosity: &[f32],
        inverse_density: &[f32],
    ) -> bool {
        let (scale, damping) = (self.swing(dt), self.damping(dt));
        let fast = (pressure, &viscosity[..pressure.len()], inverse_density)
            .into_par_iter()
            .with_min_len(LEAST)
            .filter(|(p, mu, inverse)| {
                scale * **p * **inverse > SWINGS * SWINGS * (1.0 + damping * **mu * **inverse)
            })
            .count();
        fast as f32 > SHARE * pressure.len() as f32
    }
}

/// How hard a wall holds a particle in its place, per pressure, in 1/m². A wall at distance
/// d is a kernel cut off by a plane, whose share grows with `2π d W(d)`, the nearer the
/// faster; what is beyond it counts twice.
fn wall_stiffness(mirror: &Mirror, kernel: &CubicSpline, volume: f32) -> f32 {
    let d = mirror.wall.distance;
    2.0 * TAU * d * kernel.volume_value(d * d) / volume
}

/// One chunk of particles with all that their springs depend on.
#[derive(Clone, Copy)]
struct Springs<'a> {
    first: usize,
    x: &'a [Vec3A],
    v: &'a [Vec3A],
    strains: &'a [Symmetric],
    /// Pressure, what viscosity leaves of a spring's pull, and 1 for those that are deep.
    pulls: &'a [Vec3A],
    kernel: CubicSpline,
    scale: f32,
}

impl Springs<'_> {
    /// Puts the stiffness of the springs in place of the friction of the pairs.
    fn weigh(self, pairs: &mut ChunkPairs) {
        #[inline(always)]
        fn run<L: Lanes>(l: L, springs: Springs<'_>, pairs: &mut ChunkPairs) {
            for k in 0..pairs.len() {
                let i = springs.first + k;
                // The pairs of the others are not looked at.
                if springs.pulls[i].z > 0.0 {
                    for (near, weight) in pairs.friction_blocks_mut(k) {
                        *weight = l.to_array(springs.weights(l, i, near));
                    }
                }
            }
        }
        let springs = self;
        dispatch!(run(springs: Springs<'_>, pairs: &mut ChunkPairs));
    }

    /// Stiffness of the springs to eight neighbours over the squares of their lengths, times
    /// the share of their motion that the flow does not explain.
    #[inline(always)]
    fn weights<L: Lanes>(&self, l: L, i: usize, near: &[u32; WIDTH]) -> L::F {
        let (zero, half) = (l.splat(0.0), l.splat(0.5));
        let d = apart(l, splat(l, self.x[i]), self.x, near);
        let r_squared = dot(l, d, d);
        // SAFETY: neighbours are numbers of particles.
        let [pressure, softer, deep] = unsafe { l.gather_vectors(self.pulls, near) };
        let own = self.pulls[i];
        let pressure = l.add(l.splat(own.x), pressure);
        let softer = l.mul(half, l.add(l.splat(own.y), softer));
        let dv = apart(l, splat(l, self.v[i]), self.v, near);
        let motion = dot(l, d, dv);
        let ends = l.add(
            self.strains[i].forms_of_one(l, d),
            Symmetric::forms(l, self.strains, near, d),
        );
        let flow = l.mul(half, ends);
        // As if it were an approach.
        let away = l.less(motion, zero);
        let size = l.max(l.select(l.sub(zero, motion), motion, away), l.splat(1e-20));
        let flow = l.select(l.sub(zero, flow), flow, away);
        let left = l.sub(size, l.min(l.max(flow, zero), size));
        let scale = l.mul(l.mul(l.splat(self.scale), softer), pressure);
        let stiffness = l.mul(scale, self.kernel.volume_stiffnesses(l, r_squared));
        let weight = l.div(l.mul(left, stiffness), l.mul(size, r_squared));
        l.keep(weight, l.and(l.less(zero, deep), l.less(zero, r_squared)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::test_random::Random;
    use crate::simd::Portable;

    /// Of one spring, in plain numbers.
    fn weight(springs: &Springs<'_>, i: usize, j: usize) -> f32 {
        let (own, other) = (springs.pulls[i], springs.pulls[j]);
        let d = springs.x[i] - springs.x[j];
        let r_squared = d.length_squared();
        if other.z <= 0.0 || r_squared <= 0.0 {
            return 0.0;
        }
        let motion = d.dot(springs.v[i] - springs.v[j]);
        let parting = |k: usize| d.dot(springs.strains[k].times(d));
        let flow = 0.5 * (parting(i) + parting(j)) * motion.signum();
        let size = motion.abs().max(1e-20);
        let left = size - flow.clamp(0.0, size);
        let softer = 0.5 * (own.y + other.y);
        let stiffness = springs.kernel.volume_stiffness(r_squared);
        springs.scale * softer * (own.x + other.x) * left * stiffness / (size * r_squared)
    }

    #[test]
    fn eight_springs_are_those_of_single_ones_on_all_processors() {
        let n = 40;
        let mut random = Random(3);
        let mut some =
            |size: f32| -> Vec<Vec3A> { (0..n).map(|_| (size * random.vector()).into()).collect() };
        let (x, v) = (some(0.03), some(1.0));
        let mut pulls = some(1.0);
        for (k, pull) in pulls.iter_mut().enumerate() {
            *pull = Vec3A::new(900.0 * pull.x.abs(), pull.y.abs(), f32::from(k % 5 != 1));
        }
        let mut strains = vec![Symmetric::default(); n];
        for (strain, normal) in strains.iter_mut().zip(some(1.0)) {
            strain.add(20.0 * normal.x, normal);
        }
        let springs = Springs {
            first: 0,
            x: &x,
            v: &v,
            strains: &strains,
            pulls: &pulls,
            kernel: CubicSpline::new(0.04, 0.02),
            scale: 0.7,
        };
        let mut pulling = 0;
        for i in 0..n {
            // The particle itself is among them, too.
            let near: [u32; WIDTH] = std::array::from_fn(|k| ((i + 5 * k) % n) as u32);
            let eight = Portable.to_array(springs.weights(Portable, i, &near));
            for (&found, &j) in eight.iter().zip(&near) {
                let right = weight(&springs, i, j as usize);
                assert!(
                    (found - right).abs() <= 1e-4 * right.abs(),
                    "{found} {right}"
                );
                pulling += usize::from(right > 0.0);
            }
            assert_eq!(eight[0], 0.0);
            #[cfg(target_arch = "x86_64")]
            {
                if let Some(l) = crate::simd::Avx2::detect() {
                    assert_eq!(l.to_array(springs.weights(l, i, &near)), eight);
                }
                if let Some(l) = crate::simd::Avx512::detect() {
                    assert_eq!(l.to_array(springs.weights(l, i, &near)), eight);
                }
            }
        }
        assert!(pulling > 50, "{pulling}");
    }
}
