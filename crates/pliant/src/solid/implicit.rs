//! One implicit Euler step of finite elements (Baraff & Witkin 1998), with Rayleigh
//! damping and the contacts as constraints:
//! `(m (1 + h α) + (h² + h β) K) Δv = h (f + m g - α m v - (β + h) K v)`.
//!
//! It has three parts, so that bodies that touch each other can be solved together:
//! [`ElasticBody::prepare`] sets the equations up, [`ElasticBody::solve_alone`] or
//! `meet/joint.rs` solves them, [`ElasticBody::finish`] moves the points.

use glam::{DVec3, Vec3, Vec3A};

use super::assembly::ElasticBody;
use super::conjugate_gradient::{Budget, Freedom, System, solve, solve_factored};
use super::contact::{Environment, Touching};
use super::coupled::LAST;
use super::explicit::Moving;
use super::keep_momentum::{keep_momentum, reaction as reaction_of};

/// Solves by factors that need more iterations ask for new ones.
pub(super) const FEW: u32 = 5;

/// The points that touch something, with their numbers, in order.
pub(super) type TouchList = Vec<(u32, Touching)>;

impl ElasticBody {
    /// Sets up the equations of a step of `h` seconds. `touching` are the points that
    /// touch an obstacle. `mass` is that of all points, pinned ones too.
    pub fn prepare(
        &mut self,
        tets: &[[u32; 4]],
        mass: &[f32],
        state: &Moving<'_>,
        touching: &TouchList,
        h: f32,
        around: &Environment<'_>,
    ) {
        self.assemble(tets, state.displacement, h);
        let alpha = self.settings.mass_damping;
        self.diagonal.clear();
        self.diagonal
            .extend(mass.iter().map(|m| m * (1.0 + h * alpha)));
        self.freedom.clear();
        self.freedom
            .extend(state.inverse_mass.iter().map(|&w| Freedom::of(w)));
        for (change, freedom) in self.change.iter_mut().zip(&self.freedom) {
            *change = freedom.filter(*change);
        }
        for (i, touching) in touching.iter() {
            let i = *i as usize;
            self.freedom[i] = touching.freedom();
            self.change[i] =
                self.freedom[i].filter(self.change[i]) + touching.stop(state.velocity[i]);
        }
        self.set_right_side(mass, state, h, around);
        for (i, touching) in touching.iter() {
            self.right[*i as usize] += touching.rubbing(around.friction_of(touching.obstacle));
        }
    }

    /// The equations that were set up for a step of `h` seconds.
    pub fn system(&self, h: f32) -> System<'_> {
        System {
            stiffness: &self.stiffness,
            diagonal: &self.diagonal,
            scale: h * (h + self.settings.stiffness_damping),
            freedom: &self.freedom,
        }
    }

    /// Solves the equations of a body that touches no other one.
    pub fn solve_alone(&mut self, h: f32) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut change = std::mem::take(&mut self.change);
        let (iterations, tolerance) = (self.settings.iterations, self.settings.tolerance);
        let mass = self.diagonal.iter().map(|&d| f64::from(d)).sum();
        let mut budget = Budget::of_step(iterations, tolerance.into(), mass);
        self.renew_factor(h);
        let (system, right) = (self.system(h), &self.right);
        self.outcome = match &self.factor {
            Some(factor) if factor.scale > 0.0 => {
                budget.tolerance = budget.tolerance.min(LAST);
                solve_factored(&system, factor, right, &mut change, budget, &mut scratch)
            }
            _ => solve(&system, right, &mut change, budget, &mut scratch),
        };
        self.worn = self.outcome.iterations > FEW;
        self.change = change;
        self.scratch = scratch;
    }

    /// Factors the equations of a step of `h` seconds if the factors of an earlier one do
    /// not serve.
    pub fn renew_factor(&mut self, h: f32) {
        let Some(mut factor) = self.factor.take() else {
            return;
        };
        let system = self.system(h);
        if self.worn || !factor.serves(system.scale) {
            factor.factor(&system);
            self.worn = false;
        }
        self.factor = Some(factor);
    }

    /// Moves all points by what was found, and writes what the touching ones do next.
    pub fn finish(
        &mut self,
        state: &mut Moving<'_>,
        touching: &mut TouchList,
        h: f32,
        around: &Environment<'_>,
    ) {
        let mut reaction = std::mem::take(&mut self.reaction);
        let mut change = std::mem::take(&mut self.change);
        keep_momentum(&self.system(h), &self.right, &self.spare, &mut change);
        self.change = change;
        if self.freedom.iter().all(|f| *f == Freedom::Free) {
            reaction.clear();
        } else {
            let n = self.change.len();
            reaction.clear();
            reaction.resize(n, Vec3A::ZERO);
            let held = |i: &usize| self.freedom[*i] != Freedom::Free;
            let mut borne = DVec3::ZERO;
            for i in (0..n).filter(held) {
                let given = reaction_of(&self.system(h), i, &self.right, &self.change);
                reaction[i] = given.as_vec3a();
                borne += if state.inverse_mass[i] == 0.0 {
                    given
                } else {
                    // Reported as a contact, all but its last digits.
                    given - Vec3::from(reaction[i]).as_dvec3()
                };
            }
            self.held += borne;
        }
        let damping = h * self.settings.mass_damping;
        if damping > 0.0 {
            let slowed = self.change.iter().zip(&self.diagonal);
            let slowed = slowed.map(|(v, d)| f64::from(*d) * Vec3::from(*v).as_dvec3());
            self.outside -= f64::from(damping / (1.0 + damping)) * slowed.sum::<DVec3>();
        }
        let moving = state.velocity.iter_mut().zip(&mut *state.displacement);
        for ((v, u), change) in moving.zip(&self.change) {
            *v += *change;
            *u += h * *v;
        }
        for (i, touching) in touching.iter_mut() {
            let i = *i as usize;
            let friction = around.friction_of(touching.obstacle);
            *touching = touching.next(reaction[i], state.velocity[i], friction);
        }
        self.reaction = reaction;
    }

    fn set_right_side(
        &mut self,
        mass: &[f32],
        state: &Moving<'_>,
        h: f32,
        around: &Environment<'_>,
    ) {
        let (alpha, beta) = (self.settings.mass_damping, self.settings.stiffness_damping);
        let mut right = std::mem::take(&mut self.right);
        self.stiffness.times(state.velocity, &mut right);
        (self.outside, self.held) = (DVec3::ZERO, DVec3::ZERO);
        self.spare.clear();
        self.spare
            .resize(self.stiffness.pieces().max(1), DVec3::ZERO);
        for i in 0..mass.len() {
            let v = state.velocity[i];
            let place = state.rest[i] + Vec3::from(state.displacement[i]);
            let outer = Vec3A::from(around.acceleration(place, v.into()));
            let force = self.force[i] + Vec3A::from(state.load[i]);
            let drawn = mass[i] * (outer - alpha * v);
            right[i] = h * (force + drawn - (beta + h) * right[i]);
            let given = h * (state.load[i] + Vec3::from(drawn));
            self.spare[self.stiffness.piece(i)] +=
                Vec3::from(right[i]).as_dvec3() - given.as_dvec3();
            // What pulls a pinned point is borne by its pin.
            if state.inverse_mass[i] > 0.0 {
                self.outside += given.as_dvec3();
            } else {
                self.held += given.as_dvec3();
            }
        }
        self.right = right;
    }
}
