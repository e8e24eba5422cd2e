//! One sub-step of a soft body: forces, motion, constraints, obstacles.

use glam::{Vec3, Vec3A};

use super::contact::{Moving, Surroundings};
use super::integrate::Impulse;
use super::models::{ModelState, Points};
use super::parallel::fill;
use super::rows::Pulling;
use super::settings::{Damping, Scaling, SoftIntegrator};
use super::state::Soft;
use crate::contact::Contact;

impl Soft {
    /// Gives a point an impulse in N s; one that is held does not feel it.
    pub fn push(&mut self, point: u32, impulse: Vec3) {
        let i = point as usize;
        if let (Some(v), Some(&w)) = (self.velocity.get_mut(i), self.inverse_mass.get(i)) {
            *v += w * Vec3A::from(impulse);
            self.velocity_view.set(i, (*v).into());
        }
    }

    /// Moves the body by `h` seconds; returns what it touched.
    pub fn advance(&mut self, h: f32, around: &Surroundings<'_>) -> Vec<Contact> {
        self.advance_as(0, h, around)
    }

    /// The same, as matter of this number.
    pub(crate) fn advance_as(
        &mut self,
        matter: u32,
        h: f32,
        around: &Surroundings<'_>,
    ) -> Vec<Contact> {
        self.apply_changes();
        self.previous.copy_from_slice(&self.position);
        if let Some(mut model) = self.model.take() {
            self.advance_model(&mut model, h, around);
            self.model = Some(model);
            self.clock += f64::from(h);
            return self.pass_obstacles(matter, around);
        }
        self.find_forces(self.damping(h), h);
        if self.settings.scaling == Scaling::Literal {
            self.add_weight(around);
        }
        self.change_velocities(h, around);
        self.clock += f64::from(h);
        if let Some(ratio) = self.settings.volume.hold {
            self.hold_volume(f64::from(ratio) * self.rest_volume, h);
        }
        self.pass_obstacles(matter, around)
    }

    /// Takes over the controls that are due.
    pub(super) fn apply_changes(&mut self) {
        let due = |c: &&super::Change| f64::from(c.time) <= self.clock;
        if let Some(change) = self.settings.changes[self.changed..].iter().rfind(due) {
            self.settings.controls = change.controls;
            self.changed = self.settings.changes.partition_point(|c| due(&c));
        }
    }

    /// Time in seconds over which springs are damped in a sub-step of `h` seconds.
    pub(super) fn damping(&self, h: f32) -> f32 {
        match self.settings.body.damping {
            Damping::Steps(share) => share * h,
            Damping::Seconds(time) => time,
        }
    }

    /// Moves the points as a model has it.
    fn advance_model(&mut self, model: &mut ModelState, h: f32, around: &Surroundings<'_>) {
        let delta = self.settings.controls.delta;
        let acceleration = |place: Vec3A, velocity: Vec3A| {
            delta * Vec3A::from(around.acceleration(place.into(), velocity.into()))
        };
        model.advance(&mut Points {
            position: &mut self.position,
            velocity: &mut self.velocity,
            force: &mut self.force,
            mass: &self.topology.mass,
            inverse_mass: &self.inverse_mass,
            topology: &self.topology,
            controls: self.settings.controls,
            acceleration: &acceleration,
            kept: 1.0 / (1.0 + h * self.settings.drag),
            h,
            clock: self.clock,
        });
    }

    /// Moves the points from where they were past all obstacles to where they want to be.
    pub(crate) fn pass_obstacles(
        &mut self,
        matter: u32,
        around: &Surroundings<'_>,
    ) -> Vec<Contact> {
        let contacts = Moving {
            matter,
            from: &self.previous,
            position: &mut self.position,
            velocity: &mut self.velocity,
            mass: &self.topology.mass,
            inverse_mass: &self.inverse_mass,
            room: &mut self.room,
            thickness: self.thickness,
        }
        .pass(around);
        self.refresh_views();
        contacts
    }

    /// α (F_s + F_d) + β F_f + γ F_v on every point (3.49-3.57).
    pub(super) fn find_forces(&mut self, damping: f32, h: f32) {
        let controls = self.settings.controls;
        let physical = self.settings.scaling == Scaling::Physical;
        if controls.beta > 0.0
            && let Some(mut fluid) = self.fluid.take()
        {
            fluid.update(&self.surface_fluid());
            self.fluid = Some(fluid);
        }
        let how = Pulling {
            damping,
            along_only: physical,
        };
        self.rows.stretch(
            &self.position,
            &self.velocity,
            how,
            &mut self.tension,
            &mut self.gradient,
        );
        if self.is_filled() {
            self.enclosed = self.volume_by_gradient();
        }
        let gas = self.gas(h);
        (self.pressure, self.gas_slope) = (gas.pressure, gas.slope);
        let mut force = std::mem::take(&mut self.force);
        let fluid = self.fluid.as_ref().filter(|_| controls.beta > 0.0);
        let lung = self.settings.volume.lung.as_ref();
        let alpha = controls.alpha * lung.map_or(1.0, |l| l.condition.stiffness());
        // Every corner gets a third of a triangle's force; literally all of it.
        let share = if physical { 1.0 } else { 3.0 };
        let push = controls.gamma * self.pressure * share;
        let (pull, gradient) = (&self.tension.pull, &self.gradient);
        fill(&mut force, |i| {
            let mut force = alpha * pull[i];
            if push != 0.0 {
                force += push * gradient[i];
            }
            if let Some(fluid) = fluid {
                force += controls.beta * fluid.force[i];
            }
            force
        });
        self.force = force;
    }

    /// δ F_g (3.58) as one of the forces.
    fn add_weight(&mut self, around: &Surroundings<'_>) {
        let delta = self.settings.controls.delta;
        for (i, force) in self.force.iter_mut().enumerate() {
            let (p, v) = (self.position[i].into(), self.velocity[i].into());
            *force += delta * self.topology.mass[i] * Vec3A::from(around.acceleration(p, v));
        }
    }

    /// What the integrators need to know of the body.
    fn impulse<'a>(&'a self, force: &'a [Vec3A], h: f32) -> Impulse<'a> {
        let lung = self.settings.volume.lung.as_ref();
        Impulse {
            topology: &self.topology,
            position: &self.position,
            velocity: &self.velocity,
            inverse_mass: &self.inverse_mass,
            stiffness: &self.stiffness,
            alpha: self.settings.controls.alpha * lung.map_or(1.0, |l| l.condition.stiffness()),
            directed: self.settings.scaling == Scaling::Physical,
            rows: &self.rows,
            force,
            h,
        }
    }

    /// What the integrator makes of `force`; `change` holds the last answer.
    pub(super) fn solve(&mut self, force: &[Vec3A], change: &mut [Vec3A], h: f32) {
        let how = self.settings.integrator;
        let mut scratch = std::mem::take(&mut self.scratch);
        let impulse = self.impulse(force, h);
        impulse.solve(how, &self.tension, change, &mut scratch);
        if impulse.directed && !self.pinned && how != SoftIntegrator::Symplectic {
            impulse.keep_momentum(change);
        }
        self.scratch = scratch;
    }

    fn change_velocities(&mut self, h: f32, around: &Surroundings<'_>) {
        let how = self.settings.integrator;
        let controls = self.settings.controls;
        let physical = self.settings.scaling == Scaling::Physical;
        let force = std::mem::take(&mut self.force);
        let mut change = std::mem::take(&mut self.change);
        let mut tension = std::mem::take(&mut self.tension);
        self.impulse(&force, h).prepare(how, &mut tension);
        self.tension = tension;
        self.solve(&force, &mut change, h);
        (self.force, self.change) = (force, change);
        if self.breath.is_some() {
            self.keep_shape(h);
            self.breathe(h);
        } else if physical {
            self.yield_to_gas(h);
        }
        // What pulls all points alike must not be slowed by the stiffness of springs.
        let weight = if physical { controls.delta } else { 0.0 };
        let kept = 1.0 / (1.0 + h * self.settings.drag);
        let trapezoid = how == SoftIntegrator::Trapezoid;
        let bed = self.bed.as_ref();
        let bed = bed.map(|b| (b, b.places(&self.start, self.clock + f64::from(h))));
        for i in 0..self.position.len() {
            if self.inverse_mass[i] == 0.0 {
                self.position[i] += h * self.velocity[i];
                continue;
            }
            let (p, v) = (self.position[i].into(), self.velocity[i].into());
            let pulled = (weight * h) * Vec3A::from(around.acceleration(p, v));
            let before = self.velocity[i];
            let mut after = kept * (before + self.change[i] + pulled);
            if let Some((bed, place)) = &bed {
                let rate = h * self.inverse_mass[i] * bed.stiffness[i];
                after += rate * (place(i) - self.position[i]);
                after /= 1.0 + rate * (h + bed.damping);
            }
            self.velocity[i] = after;
            self.position[i] += if trapezoid {
                0.5 * h * (before + after)
            } else {
                h * after
            };
        }
    }
}
