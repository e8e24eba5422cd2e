//! The four explicit integrators (Lesmes 2013, 3.15-3.18). Gravity and fields are
//! accelerations, added here and not to the forces.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::contact::Environment;
use super::settings::Integrator;
use super::springs::SpringBody;

/// Points per task.
const CHUNK: usize = 2048;

/// What moves: the arrays of a body that an integrator changes.
pub(super) struct Moving<'a> {
    pub rest: &'a [Vec3],
    pub inverse_mass: &'a [f32],
    /// Forces from outside in N.
    pub load: &'a [Vec3],
    pub displacement: &'a mut [Vec3A],
    pub velocity: &'a mut [Vec3A],
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
        let (rest, inverse_mass, load) = (state.rest, state.inverse_mass, state.load);
        let middle = &self.middle;
        let body = &*self;
        let step = |i: usize, u: &mut Vec3A, v: &mut Vec3A, before: Option<&mut Vec3A>| {
            if inverse_mass[i] == 0.0 {
                // Pinned points keep their prescribed velocity.
                *u += h * *v;
                return;
            }
            let push = inverse_mass[i] * (body.force_on(i) + Vec3A::from(load[i]));
            let place = rest[i] + Vec3::from(*u);
            let a = push + Vec3A::from(around.acceleration(place, Vec3::from(*v)));
            match (body.settings.integrator, before) {
                (Integrator::Euler, _) => {
                    *u += h * *v;
                    *v += h * a;
                }
                (Integrator::Midpoint, _) => {
                    *u += h * middle[1][i];
                    *v += h * a;
                }
                (Integrator::Verlet, Some(before)) => {
                    let next = 2.0 * *u - *before + h * h * a;
                    *v = (next - *before) / (2.0 * h);
                    (*before, *u) = (*u, next);
                }
                (Integrator::EulerCromer | Integrator::Verlet, _) => {
                    *v += h * a;
                    *u += h * *v;
                }
            }
        };
        let (u, v) = (&mut *state.displacement, &mut *state.velocity);
        if verlet {
            (u, v, &mut previous)
                .into_par_iter()
                .with_min_len(CHUNK)
                .enumerate()
                .for_each(|(i, (u, v, before))| step(i, u, v, Some(before)));
        } else {
            (u, v)
                .into_par_iter()
                .with_min_len(CHUNK)
                .enumerate()
                .for_each(|(i, (u, v))| step(i, u, v, None));
        }
        self.previous = previous;
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
