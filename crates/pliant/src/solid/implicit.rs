//! One implicit Euler step of finite elements (Baraff & Witkin 1998), with Rayleigh
//! damping and the contacts as constraints:
//! `(m (1 + h α) + (h² + h β) K) Δv = h (f + m g - α m v - (β + h) K v)`.

use glam::{Vec3, Vec3A};

use super::assembly::ElasticBody;
use super::conjugate_gradient::{Freedom, System};
use super::contact::{Environment, Touching};
use super::explicit::Moving;

/// The points that touch something, with their numbers, in order.
pub(super) type TouchList = Vec<(u32, Touching)>;

impl ElasticBody {
    /// Moves all points by `h` seconds. `touching` are the points that touch an
    /// obstacle; what they do next is written there. `mass` is that of all points,
    /// pinned ones too.
    pub fn step(
        &mut self,
        tets: &[[u32; 4]],
        mass: &[f32],
        state: &mut Moving<'_>,
        touching: &mut TouchList,
        h: f32,
        around: &Environment<'_>,
    ) {
        let n = state.rest.len();
        self.assemble(tets, state.displacement, h);
        let (alpha, beta) = (self.settings.mass_damping, self.settings.stiffness_damping);
        let diagonal: Vec<f32> = mass.iter().map(|m| m * (1.0 + h * alpha)).collect();
        self.freedom.clear();
        let pinned = |&w: &f32| {
            if w == 0.0 {
                Freedom::Fixed
            } else {
                Freedom::Free
            }
        };
        self.freedom.extend(state.inverse_mass.iter().map(pinned));
        let mut change = std::mem::take(&mut self.change);
        for (change, freedom) in change.iter_mut().zip(&self.freedom) {
            *change = freedom.filter(*change);
        }
        for (i, touching) in touching.iter() {
            let i = *i as usize;
            self.freedom[i] = touching.freedom();
            change[i] = self.freedom[i].filter(change[i]) + touching.stop(state.velocity[i]);
        }
        let mut b = self.right_side(mass, state, h, around);
        for (i, touching) in touching.iter() {
            b[*i as usize] += touching.rubbing(around.friction_of(touching.obstacle));
        }
        let system = System {
            stiffness: &self.stiffness,
            diagonal: &diagonal,
            scale: h * (h + beta),
            freedom: &self.freedom,
        };
        let (iterations, tolerance) = (self.settings.iterations, self.settings.tolerance);
        let mut scratch = std::mem::take(&mut self.scratch);
        self.outcome = system.solve(&b, &mut change, iterations, tolerance.into(), &mut scratch);
        self.scratch = scratch;
        let mut image = std::mem::take(&mut self.reaction);
        if self.freedom.iter().all(|f| *f == Freedom::Free) {
            // What the solver left over must not move the body as a whole: with nothing
            // to hold it, the stiffness adds up to zero and the masses alone decide.
            let wanted = sum(b.iter());
            let found = (0..n).fold(glam::DVec3::ZERO, |sum, i| {
                sum + f64::from(diagonal[i]) * Vec3::from(change[i]).as_dvec3()
            });
            let mass: f64 = diagonal.iter().map(|&d| f64::from(d)).sum();
            let shift = ((wanted - found) / mass).as_vec3a();
            change.iter_mut().for_each(|c| *c += shift);
            image.clear();
        } else {
            system.times(&change, &mut image);
            for ((image, b), freedom) in image.iter_mut().zip(&b).zip(&self.freedom) {
                // The part of A Δv - b that only the constraint can have given.
                let left = *image - *b;
                *image = left - freedom.filter(left);
            }
        }
        let moving = state.velocity.iter_mut().zip(&mut *state.displacement);
        for ((v, u), change) in moving.zip(&change) {
            *v += *change;
            *u += h * *v;
        }
        for (i, touching) in touching.iter_mut() {
            let i = *i as usize;
            let friction = around.friction_of(touching.obstacle);
            *touching = touching.next(image[i], state.velocity[i], friction);
        }
        self.change = change;
        self.reaction = image;
    }

    fn right_side(
        &self,
        mass: &[f32],
        state: &Moving<'_>,
        h: f32,
        around: &Environment<'_>,
    ) -> Vec<Vec3A> {
        let (alpha, beta) = (self.settings.mass_damping, self.settings.stiffness_damping);
        let part = System {
            stiffness: &self.stiffness,
            diagonal: &vec![0.0; mass.len()],
            scale: beta + h,
            freedom: &self.freedom,
        };
        let mut stiff = Vec::new();
        part.times(state.velocity, &mut stiff);
        for i in 0..mass.len() {
            let v = state.velocity[i];
            let place = state.rest[i] + Vec3::from(state.displacement[i]);
            let outer = Vec3A::from(around.acceleration(place, v.into()));
            let force = self.force[i] + Vec3A::from(state.load[i]);
            stiff[i] = h * (force + mass[i] * (outer - alpha * v) - stiff[i]);
        }
        stiff
    }
}

fn sum<'a>(vectors: impl Iterator<Item = &'a Vec3A>) -> glam::DVec3 {
    vectors.fold(glam::DVec3::ZERO, |sum, &v| sum + Vec3::from(v).as_dvec3())
}
