//! The four explicit integrators (Lesmes 2013, 3.15-3.18). Gravity and fields are
//! accelerations, added here and not to the forces.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use crate::crew::Spread;

use super::contact::Environment;
use super::settings::Integrator;
use super::springs::SpringBody;

/// Points per task.
const CHUNK: usize = 1024;
/// Points whose forces are fetched ahead of the one that moves.
const AHEAD: usize = 16;

/// What moves: the arrays of a body that an integrator changes.
pub(super) struct Moving<'a> {
    pub rest: &'a [Vec3],
    pub inverse_mass: &'a [f32],
    /// Forces from outside in N.
    pub load: &'a [Vec3],
    pub displacement: &'a mut [Vec3A],
    pub velocity: &'a mut [Vec3A],
}

/// What some of the points are moved by.
struct Part<'a> {
    rest: &'a [Vec3],
    inverse_mass: &'a [f32],
    load: &'a [Vec3],
    /// Number of the first of them.
    first: usize,
}

impl SpringBody {
    /// Moves all points by `h` seconds.
    pub fn integrate(&mut self, state: &mut Moving<'_>, h: f32, around: &Environment<'_>) {
        if self.settings.integrator == Integrator::Midpoint {
            self.go_to_middle(state, h, around);
            let [displacement, velocity] = std::mem::take(&mut self.middle);
            self.compute(&displacement, &velocity);
            self.middle = [displacement, velocity];
        } else {
            self.compute(state.displacement, state.velocity);
        }
        let mut previous = std::mem::take(&mut self.previous);
        let verlet = self.settings.integrator == Integrator::Verlet;
        if verlet && previous.is_empty() {
            // x(-h) = x - h v + h² a / 2.
            let at = |i: usize| {
                let a = self.acceleration(state, i, around);
                state.displacement[i] - h * state.velocity[i] + 0.5 * h * h * a
            };
            previous = (0..state.rest.len()).map(at).collect();
        }
        let body = &*self;
        let (rest, inverse_mass, load) = (state.rest, state.inverse_mass, state.load);
        let part = |first: usize, u: &mut [Vec3A], v: &mut [Vec3A], before: &mut [Vec3A]| {
            let state = Part {
                rest: &rest[first..],
                inverse_mass: &inverse_mass[first..],
                load: &load[first..],
                first,
            };
            body.step_part(state, u, v, before, h, around);
        };
        let (u, v) = (&mut *state.displacement, &mut *state.velocity);
        let parts = (u.par_chunks_mut(CHUNK), v.par_chunks_mut(CHUNK));
        if verlet {
            (parts.0, parts.1, previous.par_chunks_mut(CHUNK))
                .into_par_iter()
                .enumerate()
                .spread(|(k, (u, v, before))| part(CHUNK * k, u, v, before));
        } else {
            parts
                .into_par_iter()
                .enumerate()
                .spread(|(k, (u, v))| part(CHUNK * k, u, v, &mut []));
        }
        self.previous = previous;
    }

    /// Moves some of the points by `h` seconds; `before` is where they were a step ago,
    /// for Verlet.
    fn step_part(
        &self,
        part: Part<'_>,
        displacement: &mut [Vec3A],
        velocity: &mut [Vec3A],
        before: &mut [Vec3A],
        h: f32,
        around: &Environment<'_>,
    ) {
        let [square, half] = [h * h, 0.5 / h];
        for (k, (u, v)) in displacement.iter_mut().zip(velocity).enumerate() {
            self.fetch_force(part.first + k + AHEAD);
            if part.inverse_mass[k] == 0.0 {
                // Pinned points keep their prescribed velocity.
                *u += h * *v;
                continue;
            }
            let i = part.first + k;
            let push = part.inverse_mass[k] * (self.force_on(i) + Vec3A::from(part.load[k]));
            let place = part.rest[k] + Vec3::from(*u);
            let a = push + Vec3A::from(around.acceleration(place, Vec3::from(*v)));
            match self.settings.integrator {
                Integrator::Euler => {
                    *u += h * *v;
                    *v += h * a;
                }
                Integrator::Midpoint => {
                    *u += h * self.middle[1][i];
                    *v += h * a;
                }
                Integrator::Verlet => {
                    let next = 2.0 * *u - before[k] + square * a;
                    *v = half * (next - before[k]);
                    (before[k], *u) = (*u, next);
                }
                Integrator::EulerCromer => {
                    *v += h * a;
                    *u += h * *v;
                }
            }
        }
    }

    fn acceleration(&self, state: &Moving<'_>, i: usize, around: &Environment<'_>) -> Vec3A {
        let place = state.rest[i] + Vec3::from(state.displacement[i]);
        let outer = around.acceleration(place, state.velocity[i].into());
        state.inverse_mass[i] * (self.force_on(i) + Vec3A::from(state.load[i])) + Vec3A::from(outer)
    }

    /// The state at the middle of the step: v + h/2 a, x + h/2 v.
    fn go_to_middle(&mut self, state: &Moving<'_>, h: f32, around: &Environment<'_>) {
        self.compute(state.displacement, state.velocity);
        let mut middle = std::mem::take(&mut self.middle);
        let half = 0.5 * h;
        for (slot, list) in middle.iter_mut().enumerate() {
            list.clear();
            list.extend((0..state.rest.len()).map(|i| {
                if slot == 0 {
                    return state.displacement[i] + half * state.velocity[i];
                }
                let moved = if state.inverse_mass[i] == 0.0 {
                    Vec3A::ZERO
                } else {
                    half * self.acceleration(state, i, around)
                };
                state.velocity[i] + moved
            }));
        }
        self.middle = middle;
    }

    /// A point was put elsewhere by a contact: Verlet must not take it for motion.
    pub fn moved(&mut self, i: usize, displacement: Vec3A, velocity: Vec3A, h: f32) {
        if let Some(before) = self.previous.get_mut(i) {
            *before = displacement - h * velocity;
        }
    }
}
