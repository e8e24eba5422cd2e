//! Viscosity of incompressible liquids.
//!
//! The force between two particles acts along the line between them, so that it
//! keeps angular momentum and rigid rotation (Monaghan 2005, Weiler et al. 2018):
//!
//! ```text
//! ρ dv_i/dt = - Σ_j μ_ij w_ij (v_ij · x_ij) x_ij  -  μ_i grip_i (v_i - v_wall)
//! ```
//!
//! Thin liquids take it explicitly. Where that would be unstable the velocities at
//! the end of the sub-step are solved for by conjugate gradients: the equations are
//! symmetric and positive, so any viscosity and any sub-step will do.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::CHUNK;
use super::bracing::Bracing;
use super::grip::Fronts;
use super::incompressible::Incompressible;
use super::pairs::{ChunkPairs, apart};
use super::strain::Symmetric;
use super::tolerances::Solved;
use super::viscosity_solve::Budget;
use super::walls::Walls;
use crate::crew::Spread;
use crate::simd::vectors::{add, dot, pick, scale, splat, sum};
use crate::simd::{Lanes, dispatch};

/// No eigenvalue of the discrete Laplacian is above this, over h².
pub(super) const STIFFEST: f32 = 30.0;

/// Where `viscosity dt / (density h²)` is below this, an explicit step neither rings
/// nor loses accuracy.
pub(super) const EXPLICIT: f32 = 0.25 / STIFFEST;

const BUDGET: Budget = Budget {
    tolerance: 1e-4,
    share: 1e-2,
    iterations: 200,
};

/// Arrays of the solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViscositySolver {
    /// Drag of walls times dt, in kg/m³, and its share of a moving wall's velocity.
    pub(super) grip: Vec<f32>,
    pub(super) drive: Vec<Vec3A>,
    /// The walls that particles see (`grip.rs`).
    pub(super) fronts: Fronts,
    /// Of each particle's friction (`winding.rs`).
    pub(super) share_of_flow: Vec<f32>,
    /// What each particle adds to the friction of its pairs, in Pa s².
    rubbing: Vec<f32>,
    /// What is sought is how pressure holds particles in their places (`restoring.rs`); then
    /// the next three count.
    pub(super) restoring: bool,
    /// What holds particles at walls along their normals.
    pub(super) bracing: Vec<Symmetric>,
    /// Particles that take part.
    pub(super) deep: Vec<bool>,
    /// Of the springs of deep particles.
    pub(super) pulls: Vec<Vec3A>,
    /// 1 / diagonal, or near it; 0 for particles that are held.
    pub(super) inverse_diagonal: Vec<f32>,
    pub(super) books: Bracing,
    pub(super) residual: Vec<Vec3A>,
    pub(super) direction: Vec<Vec3A>,
    pub(super) image: Vec<Vec3A>,
}

impl ViscositySolver {
    pub fn bytes(&self) -> usize {
        4 * (self.grip.capacity()
            + self.share_of_flow.capacity()
            + self.rubbing.capacity()
            + self.inverse_diagonal.capacity())
            + 16 * (self.drive.capacity()
                + self.pulls.capacity()
                + self.residual.capacity()
                + self.direction.capacity()
                + self.image.capacity())
            + size_of::<Symmetric>() * self.bracing.capacity()
            + self.deep.capacity()
            + self.fronts.bytes()
    }
}

impl Incompressible {
    /// Slows the velocities down by viscosity over `dt`; `viscosity` in Pa·s per
    /// particle. `expected` is the pressure from which the solve for the density will start.
    ///
    /// Where viscosity is solved for, that pressure acts before it: viscosity then balances
    /// the forces that there will be. Balanced against all others alone, the velocities
    /// would be right before pressure acts and off by `dt ∇p / ρ` after it, walls that
    /// liquid sticks to included.
    pub fn diffuse(
        &mut self,
        dt: f32,
        viscosity: &[f32],
        inverse_density: &[f32],
        expected: &[f32],
        walls: &mut Walls,
    ) -> Solved {
        let stiffest = stiffest(viscosity, inverse_density);
        if self.v.is_empty() || stiffest <= 0.0 {
            return Solved::default();
        }
        self.bend_grips(walls);
        let explicit = !self.is_thick(dt, stiffest);
        let solved = if explicit {
            self.diffuse_explicitly(dt, viscosity, inverse_density, walls);
            Solved {
                iterations: 1,
                error: 0.0,
            }
        } else {
            self.find_shares_of_flow();
            self.expect(dt, expected, inverse_density);
            self.weigh_viscosity(dt, viscosity, inverse_density, walls);
            let solved = self.conjugate_gradients(inverse_density, BUDGET);
            self.keep_momentum(inverse_density);
            solved
        };
        // An explicit step has acted by the velocities before it, which it left in `image`.
        let acted = if explicit {
            &self.viscosity.image
        } else {
            &self.v
        };
        let pulled = if explicit {
            let half = 0.5 * dt;
            self.friction_on_held(acted, |i, j| half * (viscosity[i] + viscosity[j]))
        } else {
            self.friction_on_held(acted, |_, _| 1.0)
        };
        self.note_drag(acted, viscosity, inverse_density, walls);
        self.held.give(f64::from(self.volume) * pulled);
        solved
    }

    /// True if an explicit step would not do; `stiffest` is the largest kinematic viscosity.
    fn is_thick(&self, dt: f32, stiffest: f32) -> bool {
        let h = self.kernel.support_radius;
        stiffest * dt / (h * h) >= EXPLICIT
    }

    /// One explicit step: a single walk over the pairs.
    fn diffuse_explicitly(
        &mut self,
        dt: f32,
        viscosity: &[f32],
        inverse_density: &[f32],
        walls: &Walls,
    ) {
        let (x, v, wall_grip) = (&self.x[..], &self.v[..], &self.grip);
        let viscosity = &viscosity[..x.len()];
        let image = &mut self.viscosity.image;
        image.resize(x.len(), Vec3A::ZERO);
        (image.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (image, pairs))| {
                let thin = Thin {
                    first: c * CHUNK,
                    pairs,
                    x,
                    v,
                    viscosity,
                };
                thin.pull(image);
                for (k, image) in image.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let (own, mu) = (v[i], viscosity[i]);
                    let mut force = -0.5 * *image;
                    for mirror in walls.of(i).iter().filter(|m| m.no_slip) {
                        let grip = mu * mirror.grip * wall_grip.at(mirror.wall.distance);
                        force -= grip * (own - Vec3A::from(mirror.wall.velocity));
                    }
                    *image = own + dt * inverse_density[i] * force;
                }
            });
        std::mem::swap(&mut self.v, &mut self.viscosity.image);
    }

    /// Notes with the walls how much their grip slows the particles, in m/s².
    fn note_drag(
        &self,
        v: &[Vec3A],
        viscosity: &[f32],
        inverse_density: &[f32],
        walls: &mut Walls,
    ) {
        let grip = &self.grip;
        let chunks = walls.chunks.par_iter_mut().enumerate();
        chunks.spread(|(c, walls)| {
            for k in 0..walls.len() {
                let i = c * CHUNK + k;
                for mirror in walls.of_mut(k).iter_mut().filter(|m| m.no_slip) {
                    let rate = viscosity[i] * mirror.grip * grip.at(mirror.wall.distance);
                    let slip = v[i] - Vec3A::from(mirror.wall.velocity);
                    mirror.drag += Vec3::from(-rate * inverse_density[i] * slip);
                }
            }
        });
    }

    /// Scales the friction of all pairs by viscosity and time; grip of the walls, and the
    /// diagonal.
    fn weigh_viscosity(
        &mut self,
        dt: f32,
        viscosity: &[f32],
        inverse_density: &[f32],
        walls: &Walls,
    ) {
        let n = self.v.len();
        let s = &mut self.viscosity;
        for a in [&mut s.grip, &mut s.inverse_diagonal] {
            a.resize(n, 0.0);
        }
        for a in [&mut s.drive, &mut s.image] {
            a.resize(n, Vec3A::ZERO);
        }
        let (x, wall_grip) = (&self.x[..], &self.grip);
        s.rubbing.resize(n, 0.0);
        let rubs = s.rubbing.iter_mut().zip(&s.share_of_flow).zip(viscosity);
        rubs.for_each(|((rubs, share), mu)| *rubs = 0.5 * dt * share * mu);
        let rubbing = &s.rubbing[..];
        (
            &mut self.pairs.chunks,
            &walls.chunks,
            s.grip.par_chunks_mut(CHUNK),
            s.drive.par_chunks_mut(CHUNK),
            s.inverse_diagonal.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .spread(|(c, (pairs, walls, grip, drive, diagonal))| {
                let first = c * CHUNK;
                scale_friction(x, rubbing, first, pairs, diagonal);
                for k in 0..grip.len() {
                    let i = first + k;
                    grip[k] = 0.0;
                    drive[k] = Vec3A::ZERO;
                    for mirror in walls.of(k).iter().filter(|m| m.no_slip) {
                        let own = dt * viscosity[i] * mirror.grip;
                        let own = own * wall_grip.at(mirror.wall.distance);
                        grip[k] += own;
                        drive[k] += own * Vec3A::from(mirror.wall.velocity);
                    }
                    diagonal[k] = 1.0 / (1.0 / inverse_density[i] + grip[k] + diagonal[k] / 3.0);
                }
            });
    }
}

/// The largest kinematic viscosity, in m²/s.
fn stiffest(viscosity: &[f32], inverse_density: &[f32]) -> f32 {
    viscosity
        .par_iter()
        .zip(inverse_density)
        .with_min_len(4096)
        .map(|(mu, inv)| mu * inv)
        .reduce(|| 0.0, f32::max)
}

/// Multiplies the friction of a chunk's pairs by the sum of what both particles rub with; the
/// traces `Σ_j friction r²` go to `traces`.
fn scale_friction(
    x: &[Vec3A],
    rubbing: &[f32],
    first: usize,
    pairs: &mut ChunkPairs,
    traces: &mut [f32],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        x: &[Vec3A],
        rubbing: &[f32],
        first: usize,
        pairs: &mut ChunkPairs,
        traces: &mut [f32],
    ) {
        for (k, trace) in traces.iter_mut().enumerate() {
            let (here, own) = (splat(l, x[first + k]), l.splat(rubbing[first + k]));
            let mut sum = l.splat(0.0);
            for (near, friction) in pairs.friction_blocks_mut(k) {
                let there = l.numbers(&pick(rubbing, near));
                let weight = l.mul(l.numbers(friction), l.add(own, there));
                *friction = l.to_array(weight);
                let d = apart(l, here, x, near);
                sum = l.add(sum, l.mul(weight, dot(l, d, d)));
            }
            *trace = l.sum(sum);
        }
    }
    dispatch!(run(
        x: &[Vec3A],
        rubbing: &[f32],
        first: usize,
        pairs: &mut ChunkPairs,
        traces: &mut [f32],
    ));
}

/// One chunk of a thin liquid.
#[derive(Clone, Copy)]
struct Thin<'a> {
    first: usize,
    pairs: &'a ChunkPairs,
    x: &'a [Vec3A],
    v: &'a [Vec3A],
    viscosity: &'a [f32],
}

impl Thin<'_> {
    /// `Σ_j (μ_i + μ_j) w_ij (v_ij · x_ij) x_ij` of each particle.
    fn pull(self, sums: &mut [Vec3A]) {
        #[inline(always)]
        fn run<L: Lanes>(l: L, thin: Thin<'_>, sums: &mut [Vec3A]) {
            let Thin {
                x, v, viscosity, ..
            } = thin;
            for (k, pulled) in sums.iter_mut().enumerate() {
                let i = thin.first + k;
                let (here, own, mu) = (splat(l, x[i]), splat(l, v[i]), l.splat(viscosity[i]));
                let mut pull = [l.splat(0.0); 3];
                for (near, friction) in thin.pairs.friction_blocks_of(k) {
                    let there = l.numbers(&pick(viscosity, near));
                    let weight = l.mul(l.add(mu, there), l.numbers(friction));
                    let d = apart(l, here, x, near);
                    let along = dot(l, d, apart(l, own, v, near));
                    pull = add(l, pull, scale(l, d, l.mul(weight, along)));
                }
                *pulled = sum(l, pull);
            }
        }
        let thin = self;
        dispatch!(run(thin: Thin<'_>, sums: &mut [Vec3A]));
    }
}
