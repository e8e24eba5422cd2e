//! Incompressible liquids: divergence-free SPH (Bender & Koschier 2017).
//!
//! Two pressures are found per sub-step. One takes out of the velocities what would
//! compress the liquid further; then forces act, and the other makes the liquid
//! exactly as dense as it should be where the sub-step ends. Both solve
//!
//! ```text
//! excess_i + dt D_i(v - dt/ρ G p) <= 0,   p_i >= 0,   one of them zero
//! D_i(v) = Σ_j V ∇W_ij · (v_i - v_j)      rate of compression
//! G_i(p) = Σ_j V ∇W_ij (p_i + p_j)        pressure gradient
//! ```
//!
//! where the sums include the images of the particles in walls (`images.rs`). G is
//! the transpose of D, so the pressure takes energy from the liquid and never gives
//! any, and a uniform pressure pushes nothing, walls or no walls.

use glam::Vec3A;
use rayon::prelude::*;

use super::correction::{Answered, Changed, Known, Measured, Question, Step};
use super::cubic::CubicSpline;
use super::friction::Friction;
use super::grip::Grip;
use super::held::Held;
use super::images::{Images, Sums as ImageSums, WITH};
use super::pace::{Pace, Sums};
use super::pairs::{Found, Pairs};
use super::partition::part;
use super::pressure_sums::{
    Chunk, Soon, add_compression, push_chunk, row_of_motion, row_of_pressure,
};
use super::restoring::lattice_stiffness;
use super::strain::Symmetric;
use super::tension::Surface;
use super::tolerances::{Solved, Tolerances};
use super::viscosity::ViscositySolver;
use super::walls::Walls;
use super::yielding::Yielding;
use super::{CHUNK, LEAST};
use crate::coupling::Bodies;
use crate::crew::{Spread, copy, fill};
use crate::math::{Xyz, XyzVec};
use crate::simd::Row;
use crate::space::CellGrid;

#[cfg(test)]
#[path = "incompressible_tests.rs"]
mod tests;

/// Arrays of the solver; none outlives a sub-step.
#[derive(Clone, Debug)]
pub(crate) struct Incompressible {
    pub kernel: CubicSpline,
    /// Of a particle, in m³.
    pub volume: f32,
    pub friction: Friction,
    pub grip: Grip,
    pub pairs: Pairs,
    pub images: Images,
    pub yielding: Yielding,
    pub held: Held,
    /// The pressure that is expected has acted on the velocities already.
    expected: bool,
    pub x: Vec<Vec3A>,
    pub v: Vec<Vec3A>,
    /// `Σ V ∇W` over neighbours and images, in 1/m.
    gradient: Vec<Vec3A>,
    /// What neighbours need of velocities and of changes of pressure (`pressure_sums.rs`).
    motion: Vec<Row>,
    pushing: Vec<Row>,
    /// Share of each particle's surroundings that is full.
    pub fullness: Vec<f32>,
    /// Share of each particle's pressure that pushes through the liquid.
    pub share: Vec<f32>,
    /// How fast moving walls fill their surroundings, but for those of bodies, in 1/s.
    closing: Vec<f32>,
    /// 1 / (-dD/dp), without the time steps.
    inverse_diagonal: Vec<f32>,
    /// The same as if no wall gave way, during a solve.
    rigid_diagonal: Vec<f32>,
    /// The last change of pressure.
    change: Vec<f32>,
    /// Which way pressures change.
    direction: Vec<f32>,
    /// Compression that the last iteration found, and how much of it a step along the
    /// direction takes away.
    excess: Vec<f32>,
    answer: Vec<f32>,
    /// How much of the compression that there is goes in the sub-step.
    due: Vec<f32>,
    pub viscosity: ViscositySolver,
    pub surface: Surface,
    /// Of a lattice under pressure, in 1/m² (`restoring.rs`).
    pub stiffness: f32,
    pub strains: Vec<Symmetric>,
}

/// Which of the two pressures is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Velocities that do not compress.
    Divergence,
    /// The rest density at the end of the sub-step.
    Density,
}

/// Particles this full have a divergence worth removing; the ones at a surface are
/// free to come closer.
const INNER: f32 = 0.9;

/// A solve for the density that stops at once never learns the weight it must bear.
const MIN_ITERATIONS: u32 = 2;

/// Compression that goes at most in a second. Particles that something has pressed into each
/// other would part the faster the shorter the sub-step is, and their speed would shorten it
/// further; in sub-steps of milliseconds this is more than there ever is.
const FASTEST_RECOVERY: f32 = 100.0;

/// Compression that goes at most in a sub-step where a body leaves particles too little room.
/// A layer of them between a box and the floor that it has fallen on has nowhere to go, and
/// would throw the box up again.
const SQUEEZED: f32 = 0.01;

impl Incompressible {
    pub fn new(support_radius: f32, spacing: f32) -> Incompressible {
        let kernel = CubicSpline::new(support_radius, spacing);
        let friction = Friction::new(support_radius, spacing);
        Incompressible {
            kernel,
            volume: spacing.powi(3),
            friction,
            grip: Grip::new(&friction, spacing),
            pairs: Pairs::default(),
            images: Images::default(),
            yielding: Yielding::default(),
            held: Held::default(),
            expected: false,
            x: Vec::new(),
            v: Vec::new(),
            gradient: Vec::new(),
            motion: Vec::new(),
            pushing: Vec::new(),
            fullness: Vec::new(),
            share: Vec::new(),
            closing: Vec::new(),
            inverse_diagonal: Vec::new(),
            rigid_diagonal: Vec::new(),
            change: Vec::new(),
            direction: Vec::new(),
            excess: Vec::new(),
            answer: Vec::new(),
            due: Vec::new(),
            viscosity: ViscositySolver::default(),
            surface: Surface::default(),
            stiffness: lattice_stiffness(&kernel, spacing),
            strains: Vec::new(),
        }
    }

    /// Finds neighbours, fullness and the diagonal of the pressure equations.
    pub fn prepare(
        &mut self,
        grid: &CellGrid,
        position: Xyz<'_>,
        n: usize,
        walls: &Walls,
        inverse_density: &[f32],
        bodies: &Bodies,
    ) {
        self.held.find(inverse_density);
        self.x.resize(n, Vec3A::ZERO);
        self.v.resize(n, Vec3A::ZERO);
        self.gradient.resize(n, Vec3A::ZERO);
        self.motion.resize(n, Row::default());
        self.pushing.resize(n, Row::default());
        for a in [
            &mut self.fullness,
            &mut self.share,
            &mut self.closing,
            &mut self.inverse_diagonal,
            &mut self.change,
            &mut self.direction,
            &mut self.excess,
            &mut self.answer,
        ] {
            a.resize(n, 0.0);
        }
        self.x
            .par_iter_mut()
            .with_min_len(LEAST)
            .enumerate()
            .spread(|(i, x)| *x = position.get(i).into());
        self.pairs.find(
            grid,
            position,
            &self.x,
            (self.kernel, self.friction),
            Found {
                fullness: &mut self.fullness,
                squares: &mut self.inverse_diagonal,
                gradient: &mut self.gradient,
                share: &mut self.share,
            },
        );
        part(
            &mut self.pairs,
            &self.x,
            walls,
            bodies,
            &self.kernel,
            Found {
                fullness: &mut self.fullness,
                squares: &mut self.inverse_diagonal,
                gradient: &mut self.gradient,
                share: &mut self.share,
            },
        );
        self.images.find(
            &self.x,
            &self.pairs,
            walls,
            &self.kernel,
            ImageSums {
                fullness: &mut self.fullness,
                share: &mut self.share,
                squares: &mut self.inverse_diagonal,
                closing: &mut self.closing,
            },
        );
        let spacing = self.volume.cbrt();
        self.yielding
            .find(&self.x, spacing, &self.images, walls, bodies);
        // No pressure moves a particle that sees others only at the edge of its kernel, or
        // at its own place: it would be boundless.
        let least = 1e-6 * (self.kernel.slope * self.kernel.support_radius).powi(2);
        (
            self.inverse_diagonal.par_chunks_mut(CHUNK),
            self.gradient.par_chunks_mut(CHUNK),
            &self.images.chunks,
        )
            .into_par_iter()
            .with_min_len(4)
            .enumerate()
            .spread(|(c, (diagonal, gradient, images))| {
                for (k, diagonal) in diagonal.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let seen = images.of(k);
                    gradient[k] += seen.sum;
                    let mut own = gradient[k];
                    let images = seen.neighbour.iter().zip(seen.other);
                    for (_, &other) in images.filter(|(j, _)| **j as usize == i) {
                        own += other;
                    }
                    // The neighbours' densities count in the second term; taking
                    // the particle's own only changes the iteration's path.
                    let sum = own.length_squared() + *diagonal;
                    *diagonal = if inverse_density[i] > 0.0 && sum > least {
                        1.0 / (inverse_density[i] * sum)
                    } else {
                        0.0
                    };
                }
            });
    }

    /// Takes over the velocities.
    pub fn load_velocities(&mut self, velocity: Xyz<'_>) {
        self.v
            .par_iter_mut()
            .with_min_len(LEAST)
            .enumerate()
            .spread(|(i, v)| *v = velocity.get(i).into());
    }

    /// Gives the velocities back.
    pub fn store_velocities(&self, velocity: &mut XyzVec) {
        let n = self.v.len();
        (
            &mut velocity.x[..n],
            &mut velocity.y[..n],
            &mut velocity.z[..n],
            &self.v,
        )
            .into_par_iter()
            .with_min_len(LEAST)
            .spread(|(x, y, z, v)| {
                [*x, *y, *z] = v.to_array();
            });
    }

    /// Finds the pressure that reaches `goal` and changes the velocities by it.
    /// `pressure` (Pa) holds the first guess before and the answer after. `bodies`
    /// give way to it; how the guess pushes them they know already if the goal is the
    /// density.
    pub fn solve(
        &mut self,
        goal: Goal,
        dt: f32,
        inverse_density: &[f32],
        pressure: &mut [f32],
        tolerances: &Tolerances,
        bodies: &mut Bodies,
    ) -> Solved {
        let (tolerance, least) = match goal {
            Goal::Density => (tolerances.density, MIN_ITERATIONS),
            Goal::Divergence => (tolerances.divergence, 0),
        };
        let n = self.v.len();
        if n == 0 {
            return Solved::default();
        }
        // Velocities that are free of divergence already are left as they are: pressure
        // left over from the last sub-step would drive them apart.
        if goal == Goal::Divergence {
            fill(pressure, 0.0);
        }
        copy(&mut self.change, &pressure[..n]);
        let mut rigid = std::mem::take(&mut self.rigid_diagonal);
        let diagonal = &mut self.inverse_diagonal;
        self.yielding
            .weigh(self.volume, bodies, diagonal, &mut rigid);
        match goal {
            Goal::Density => {
                self.find_due(tolerances.correction, dt);
                if std::mem::take(&mut self.expected) {
                    self.note_motion();
                } else {
                    self.push(dt, inverse_density);
                }
                self.yielding.feel(bodies);
            }
            Goal::Divergence => {
                self.note_motion();
                self.due.resize(n, 0.0);
                fill(&mut self.due, 0.0);
                let scale = (dt, self.volume);
                self.yielding
                    .answer(&self.change, scale, inverse_density, bodies);
            }
        }
        for a in [&mut self.direction, &mut self.excess, &mut self.answer] {
            fill(a, 0.0);
        }
        let mut solved = Solved::default();
        let mut last = None;
        loop {
            let sums = self.measure(goal, dt, last, &pressure[..n]);
            solved.error = (sums.left() / n as f64) as f32;
            let enough = solved.iterations >= least && solved.error <= tolerance;
            if enough || solved.iterations >= tolerances.max_iterations {
                if !rigid.is_empty() {
                    std::mem::swap(&mut self.inverse_diagonal, &mut rigid);
                }
                self.rigid_diagonal = rigid;
                return solved;
            }
            let pace = last.map_or(Pace::START, |last| Pace::after(last, &sums));
            self.take_step(dt, pace, &mut pressure[..n]);
            self.push_with_bodies(dt, inverse_density, bodies);
            last = Some(pace);
            solved.iterations += 1;
        }
    }

    /// Finds how much of the compression that there is goes in this sub-step.
    fn find_due(&mut self, correction: f32, dt: f32) {
        self.due.resize(self.fullness.len(), 0.0);
        (&mut self.due, &self.fullness)
            .into_par_iter()
            .with_min_len(LEAST)
            .spread(|(due, fullness)| *due = corrected(fullness - 1.0, correction, dt));
        for i in self.yielding.squeezed() {
            self.due[i] = self.due[i].min(SQUEEZED);
        }
    }

    /// Finds the compressions, and what the last step has done about them.
    fn measure(&mut self, goal: Goal, dt: f32, last: Option<Pace>, pressure: &[f32]) -> Sums {
        let around = Around {
            x: &self.x,
            gradient: &self.gradient,
            pairs: &self.pairs,
            images: &self.images,
        };
        let (v, motion, closing) = (&self.v[..], &self.motion[..], &self.closing[..]);
        let (due, yielding) = (&self.due[..], &self.yielding);
        let (fullness, inverse_diagonal) = (&self.fullness[..], &self.inverse_diagonal[..]);
        let direction = &self.direction[..];
        let question = Question {
            dt,
            fullest_free: match goal {
                Goal::Density => f32::NEG_INFINITY,
                Goal::Divergence => INNER,
            },
            last,
        };
        let parts: Vec<Sums> = (
            self.excess.par_chunks_mut(CHUNK),
            self.answer.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .spread_map(|(c, (excess, answer))| {
                let mut rates = [0.0; CHUNK];
                let rates = &mut rates[..excess.len()];
                let own = c * CHUNK..c * CHUNK + rates.len();
                rates.copy_from_slice(&closing[own.clone()]);
                yielding.close(c, rates);
                let (due, fullness) = (&due[own.clone()], &fullness[own.clone()]);
                let inverse_diagonal = &inverse_diagonal[own.clone()];
                let (pressure, direction) = (&pressure[own.clone()], &direction[own]);
                let soon = Soon {
                    numbers: [
                        due,
                        fullness,
                        inverse_diagonal,
                        pressure,
                        direction,
                        excess,
                        answer,
                    ],
                    ..Soon::default()
                };
                add_compression(around.chunk(c), v, motion, soon, rates);
                let known = Known {
                    rates,
                    due,
                    fullness,
                    inverse_diagonal,
                    pressure,
                    direction,
                };
                question.ask(known, Answered { excess, answer })
            });
        parts.iter().fold(Sums::default(), Sums::plus)
    }

    /// Changes the pressures, and notes the rows of the change.
    fn take_step(&mut self, dt: f32, pace: Pace, pressure: &mut [f32]) {
        let (excess, answer, x) = (&self.excess[..], &self.answer[..], &self.x[..]);
        let inverse_diagonal = &self.inverse_diagonal[..];
        let step = Step { dt, pace };
        (
            pressure.par_chunks_mut(CHUNK),
            self.direction.par_chunks_mut(CHUNK),
            self.change.par_chunks_mut(CHUNK),
            self.pushing.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .spread(|(c, (pressure, direction, change, pushing))| {
                let own = c * CHUNK..c * CHUNK + pressure.len();
                let measured = Measured {
                    excess: &excess[own.clone()],
                    answer: &answer[own.clone()],
                    inverse_diagonal: &inverse_diagonal[own.clone()],
                    x: &x[own],
                };
                let changed = Changed {
                    pressure,
                    direction,
                    change,
                    pushing,
                };
                step.take(measured, changed);
            });
    }

    /// Lets the first guess of the solve for the density act before that begins.
    pub(super) fn expect(&mut self, dt: f32, pressure: &[f32], inverse_density: &[f32]) {
        copy(&mut self.change, pressure);
        self.push(dt, inverse_density);
        self.expected = true;
    }

    /// Notes for the neighbours how particles move.
    fn note_motion(&mut self) {
        (&mut self.motion, &self.x, &self.v)
            .into_par_iter()
            .with_min_len(LEAST)
            .spread(|(row, &x, &v)| *row = row_of_motion(x, v));
    }

    /// Changes the velocities by the last change of pressure.
    fn push(&mut self, dt: f32, inverse_density: &[f32]) {
        (&mut self.pushing, &self.x, &self.change)
            .into_par_iter()
            .with_min_len(LEAST)
            .spread(|(row, &x, &change)| *row = row_of_pressure(x, change));
        let around = Around {
            x: &self.x,
            gradient: &self.gradient,
            pairs: &self.pairs,
            images: &self.images,
        };
        let pressure = (&self.change[..], &self.pushing[..]);
        let moved = (&mut self.v[..], &mut self.motion[..]);
        around.push(pressure, inverse_density, dt, moved);
    }

    /// The same, whose rows [`Incompressible::correct`] has noted, and lets bodies give way to
    /// it: both at once, because one thread alone finds how a body answers.
    fn push_with_bodies(&mut self, dt: f32, inverse_density: &[f32], bodies: &mut Bodies) {
        let (change, scale) = (&self.change[..], (dt, self.volume));
        let around = Around {
            x: &self.x,
            gradient: &self.gradient,
            pairs: &self.pairs,
            images: &self.images,
        };
        let pressure = (change, &self.pushing[..]);
        let moved = (&mut self.v[..], &mut self.motion[..]);
        if !self.yielding.any() {
            return around.push(pressure, inverse_density, dt, moved);
        }
        self.yielding.find_pushes(change);
        let yielding = &self.yielding;
        let (v, motion) = moved;
        (v.par_chunks_mut(CHUNK), motion.par_chunks_mut(CHUNK))
            .into_par_iter()
            .enumerate()
            .spread_beside(
                || yielding.give_pushes(scale, inverse_density, bodies),
                |(c, moved)| push_chunk(around.chunk(c), pressure, inverse_density, dt, moved),
            );
        self.yielding.feel(bodies);
    }

    /// Gives bodies the push of `pressure`, which the solve for the density starts from.
    pub fn push_bodies(
        &mut self,
        dt: f32,
        inverse_density: &[f32],
        pressure: &[f32],
        bodies: &mut Bodies,
    ) {
        let scale = (dt, self.volume);
        self.yielding.push(pressure, scale, inverse_density, bodies);
    }

    /// Notes with the walls how much `pressure` pushes the particles off them, in m/s².
    pub fn note_pushes(
        &self,
        walls: &mut Walls,
        pressure: impl Fn(usize) -> f32 + Sync,
        inverse_density: &[f32],
    ) {
        (&mut walls.chunks, &self.images.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (walls, images))| {
                if walls.is_open() {
                    return;
                }
                for k in 0..walls.len() {
                    let i = c * CHUNK + k;
                    let seen = images.of(k);
                    let pushed = inverse_density[i] * pressure(i) * WITH;
                    walls.push_backed(k, -pushed * seen.beyond);
                    for (&j, lift) in seen.neighbour.iter().zip(seen.lift) {
                        let both = pressure(i) + pressure(j as usize);
                        for (mirror, lift) in walls.of_mut(k).iter_mut().zip(lift) {
                            mirror.push -= inverse_density[i] * both * lift;
                        }
                    }
                }
            });
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        16 * (self.x.capacity() + self.v.capacity() + self.gradient.capacity())
            + 4 * (self.fullness.capacity()
                + self.share.capacity()
                + self.closing.capacity()
                + self.inverse_diagonal.capacity()
                + self.rigid_diagonal.capacity()
                + self.change.capacity()
                + self.direction.capacity()
                + self.excess.capacity()
                + self.answer.capacity()
                + self.due.capacity())
            + size_of::<Row>() * (self.motion.capacity() + self.pushing.capacity())
            + self.pairs.bytes()
            + self.images.bytes()
            + self.yielding.bytes()
            + self.viscosity.bytes()
            + self.surface.bytes()
            + size_of::<Symmetric>() * self.strains.capacity()
    }
}

/// All particles with all that they see.
#[derive(Clone, Copy)]
struct Around<'a> {
    x: &'a [Vec3A],
    gradient: &'a [Vec3A],
    pairs: &'a Pairs,
    images: &'a Images,
}

impl<'a> Around<'a> {
    fn chunk(&self, c: usize) -> Chunk<'a> {
        Chunk {
            first: c * CHUNK,
            pairs: &self.pairs.chunks[c],
            images: &self.images.chunks[c],
            x: self.x,
            gradient: self.gradient,
        }
    }

    /// Changes velocities, and the rows of them, by a change of pressure.
    fn push(
        &self,
        pressure: (&[f32], &[Row]),
        inverse_density: &[f32],
        dt: f32,
        (v, motion): (&mut [Vec3A], &mut [Row]),
    ) {
        (v.par_chunks_mut(CHUNK), motion.par_chunks_mut(CHUNK))
            .into_par_iter()
            .enumerate()
            .spread(|(c, moved)| {
                push_chunk(self.chunk(c), pressure, inverse_density, dt, moved);
            });
    }
}

/// The part of a compression that a sub-step of `dt` seconds takes out; all of the room
/// that there is.
#[inline(always)]
fn corrected(compression: f32, share: f32, dt: f32) -> f32 {
    compression.min((share * compression.max(0.0)).min(FASTEST_RECOVERY * dt))
}
