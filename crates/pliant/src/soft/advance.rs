//! One sub-step of a soft body: forces, motion, constraints, obstacles.

use glam::{DVec3, Vec3, Vec3A};

use super::contact::{Moving, Surroundings};
use super::integrate::Impulse;
use super::parallel::{fill, sum};
use super::settings::{Damping, Scaling, SoftIntegrator, VolumeMeasure};
use super::state::Soft;
use super::topology::area_normal;
use crate::contact::Contact;
use crate::mesh::chance;

/// A gas is never pressed below this share of its volume at the start: what is flat has
/// no volume to divide by.
const LEAST_VOLUME: f64 = 0.02;

impl Soft {
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
        let due = |c: &&super::Change| f64::from(c.time) <= self.clock;
        if let Some(change) = self.settings.changes[self.changed..].iter().rfind(due) {
            self.settings.controls = change.controls;
            self.changed = self.settings.changes.partition_point(|c| due(&c));
        }
        self.previous.copy_from_slice(&self.position);
        self.find_normals();
        self.pressure = self.gas_pressure();
        self.find_forces(h);
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

    pub(super) fn find_normals(&mut self) {
        let (position, triangles) = (&self.position, &self.topology.triangles);
        fill(&mut self.normal, |t| {
            let [a, b, c] = triangles[t].map(|v| position[v as usize]);
            area_normal(a, b, c)
        });
    }

    /// Volume by the divergence theorem, from normals that are up to date, about a point
    /// of the body: differences keep their digits far from the origin.
    pub(super) fn enclosed(&self) -> f64 {
        let about = self.position[0];
        let six = sum(self.normal.len(), |t| {
            let corner = self.position[self.topology.triangles[t][0] as usize] - about;
            f64::from(corner.dot(self.normal[t]))
        });
        six / 6.0
    }

    /// Pressure above that outside, in Pa, without γ (3.57: N / B).
    /// That of a lung is found with the motion.
    fn gas_pressure(&self) -> f32 {
        if self.settings.controls.gamma == 0.0 || self.breath.is_some() {
            return 0.0;
        }
        let volume = match self.settings.volume.measure {
            VolumeMeasure::Mesh => self.enclosed(),
            VolumeMeasure::Box => {
                let size = self.bounds().size().as_dvec3();
                size.x * size.y * size.z
            }
        };
        let v = &self.settings.volume;
        let amount = match v.molecules {
            Some(n) => f64::from(n),
            None => f64::from(v.pressure + v.outside) * self.rest_volume,
        };
        let share = v.breathing.map_or(1.0, |b| b.share(self.clock));
        let room = volume.max(LEAST_VOLUME * self.rest_volume.abs());
        (f64::from(share) * amount / room.max(1e-30)) as f32 - v.outside
    }

    /// α (F_s + F_d) + β F_f + γ F_v on every point (3.49-3.57).
    pub(super) fn find_forces(&mut self, h: f32) {
        let controls = self.settings.controls;
        let physical = self.settings.scaling == Scaling::Physical;
        let damping = match self.settings.body.damping {
            Damping::Steps(share) => share * h,
            Damping::Seconds(time) => time,
        };
        if controls.beta > 0.0
            && let Some(mut fluid) = self.fluid.take()
        {
            fluid.update(&self.surface_fluid());
            self.fluid = Some(fluid);
        }
        let mut force = std::mem::take(&mut self.force);
        let surface = self.surface_fluid();
        let fluid = self.fluid.as_ref().filter(|_| controls.beta > 0.0);
        let lung = self.settings.volume.lung.as_ref();
        let alpha = controls.alpha * lung.map_or(1.0, |l| l.condition.stiffness());
        // Normals are twice the area; a third of each triangle belongs to each corner.
        let share = if physical { 1.0 / 6.0 } else { 0.5 };
        let push = controls.gamma * self.pressure * share;
        let (position, velocity) = (&self.position, &self.velocity);
        let topology = &self.topology;
        fill(&mut force, |i| {
            let (own, speed) = (position[i], velocity[i]);
            let mut body = Vec3A::ZERO;
            for link in topology.links_of(i) {
                let j = link.other as usize;
                let way = position[j] - own;
                let length = way.length();
                if length <= 0.0 {
                    continue;
                }
                let way = way / length;
                let relative = velocity[j] - speed;
                let pull = length - link.rest;
                body += if physical {
                    // Along the spring only, so that turning is free.
                    (link.stiffness * (pull + damping * relative.dot(way))) * way
                } else {
                    link.stiffness * (pull * way + damping * relative)
                };
            }
            let mut force = alpha * body;
            if push != 0.0 {
                force += push * self.normals_around(i);
            }
            if let Some(fluid) = fluid {
                force += controls.beta * fluid.force(&surface, i);
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

    /// What the integrator makes of `force`; `change` holds the last answer.
    fn solve(&mut self, force: &[Vec3A], change: &mut [Vec3A], h: f32) {
        let how = self.settings.integrator;
        let lung = self.settings.volume.lung.as_ref();
        let physical = self.settings.scaling == Scaling::Physical;
        let impulse = Impulse {
            topology: &self.topology,
            position: &self.position,
            velocity: &self.velocity,
            inverse_mass: &self.inverse_mass,
            stiffness: &self.stiffness,
            alpha: self.settings.controls.alpha * lung.map_or(1.0, |l| l.condition.stiffness()),
            directed: physical,
            force,
            h,
        };
        impulse.solve(how, change, &mut self.scratch);
        if physical && !self.pinned && how != SoftIntegrator::Symplectic {
            impulse.keep_momentum(change);
        }
    }

    /// Finds the pressure of a lung that brings its volume where it should be, or as far
    /// as the muscles can, from how the volume changes without any and with one Pa.
    fn breathe(&mut self, h: f32) {
        let gamma = self.settings.controls.gamma;
        let volume = self.enclosed() as f32;
        let mut force = std::mem::take(&mut self.force);
        let mut response = std::mem::take(&mut self.response);
        response.resize(self.len(), Vec3A::ZERO);
        fill(&mut force, |i| gamma / 6.0 * self.normals_around(i));
        self.solve(&force, &mut response, h);
        let Pair(rate, answer) = sum(self.len(), |i| {
            let g = self.normals_around(i) / 6.0;
            let now = self.velocity[i] + self.change[i];
            Pair(f64::from(g.dot(now)), f64::from(g.dot(response[i])))
        });
        if let (Some(lung), Some(breath)) = (&self.settings.volume.lung, &mut self.breath) {
            let drive = breath.advance(lung, volume, h);
            let resistance = f64::from(lung.airway_resistance());
            self.pressure = drive.pressure(rate, answer, resistance);
        }
        for (change, response) in self.change.iter_mut().zip(&response) {
            *change += self.pressure * *response;
        }
        (self.force, self.response) = (force, response);
    }

    fn change_velocities(&mut self, h: f32, around: &Surroundings<'_>) {
        let how = self.settings.integrator;
        let controls = self.settings.controls;
        let physical = self.settings.scaling == Scaling::Physical;
        let force = std::mem::take(&mut self.force);
        let mut change = std::mem::take(&mut self.change);
        self.solve(&force, &mut change, h);
        (self.force, self.change) = (force, change);
        if self.breath.is_some() {
            self.breathe(h);
        } else if physical {
            self.yield_to_gas(h);
        }
        // What pulls all points alike must not be slowed by the stiffness of springs.
        let weight = if physical { controls.delta } else { 0.0 };
        let kept = 1.0 / (1.0 + h * self.settings.drag);
        let trapezoid = how == SoftIntegrator::Trapezoid;
        for i in 0..self.position.len() {
            if self.inverse_mass[i] == 0.0 {
                self.position[i] += h * self.velocity[i];
                continue;
            }
            let (p, v) = (self.position[i].into(), self.velocity[i].into());
            let pulled = (weight * h) * Vec3A::from(around.acceleration(p, v));
            let before = self.velocity[i];
            let after = kept * (before + self.change[i] + pulled);
            self.velocity[i] = after;
            self.position[i] += if trapezoid {
                0.5 * h * (before + after)
            } else {
                h * after
            };
        }
    }

    /// The gas answers to the volume at the end of the sub-step, not at its start: a change
    /// of all velocities along the volume's gradient g, weighed by inverse masses w, that
    /// solves `(1 + s g·w g) λ = s g·v` with `s = -γ h² dp/dV`. However stiff the gas, the
    /// volume does not vibrate.
    fn yield_to_gas(&mut self, h: f32) {
        let v = &self.settings.volume;
        let gamma = self.settings.controls.gamma;
        if gamma == 0.0 || v.measure != VolumeMeasure::Mesh {
            return;
        }
        let volume = self.enclosed().max(LEAST_VOLUME * self.rest_volume.abs());
        let stiffness = f64::from(gamma * (self.pressure + v.outside)) / volume.max(1e-30);
        let scale = stiffness.max(0.0) * f64::from(h) * f64::from(h);
        let gradient = |i: usize| self.normals_around(i) / 6.0;
        let Pair(rate, squares) = sum(self.position.len(), |i| {
            let (g, v) = (gradient(i), self.velocity[i] + self.change[i]);
            let weighed = self.inverse_mass[i] * g.length_squared();
            Pair(f64::from(g.dot(v)), f64::from(weighed))
        });
        let lambda = (scale * rate / (1.0 + scale * squares)) as f32;
        let mut change = std::mem::take(&mut self.change);
        for (i, change) in change.iter_mut().enumerate() {
            *change -= lambda * self.inverse_mass[i] * self.normals_around(i) / 6.0;
        }
        self.change = change;
    }

    /// Sum of the normals of the triangles around point `i`: six times the gradient of the
    /// volume.
    #[inline]
    fn normals_around(&self, i: usize) -> Vec3A {
        let around = self.topology.corners_of(i).iter();
        around.fold(Vec3A::ZERO, |sum, &t| sum + self.normal[t as usize])
    }

    /// Moves the points along the gradient of the volume until it is `wanted`: a
    /// constraint of position based dynamics (Müller et al. 2007), which conserves
    /// momentum.
    pub(super) fn hold_volume(&mut self, wanted: f64, h: f32) {
        for _ in 0..2 {
            self.find_normals();
            let missing = wanted - self.enclosed();
            if missing.abs() <= 1e-6 * wanted.abs() {
                return;
            }
            let gradient: Vec<Vec3A> = (0..self.len())
                .map(|i| self.normals_around(i) / 6.0)
                .collect();
            let squares = sum(gradient.len(), |i| {
                f64::from(self.inverse_mass[i] * gradient[i].length_squared())
            });
            if squares <= 0.0 {
                return;
            }
            let step = (missing / squares) as f32;
            for (i, g) in gradient.into_iter().enumerate() {
                let way = step * self.inverse_mass[i] * g;
                self.position[i] += way;
                self.velocity[i] += way / h;
            }
        }
    }

    /// Force of the gas and its torque about the origin, of all points together, in N and
    /// N m: zero for a closed surface.
    pub fn gas_force(&mut self) -> (DVec3, DVec3) {
        self.find_normals();
        let pressure = f64::from(self.settings.controls.gamma * self.pressure);
        let wide = |v: Vec3A| Vec3::from(v).as_dvec3();
        let mut sums = (DVec3::ZERO, DVec3::ZERO);
        for (t, &n) in self.normal.iter().enumerate() {
            let push = pressure / 6.0 * wide(n);
            for v in self.topology.triangles[t] {
                sums.0 += push;
                sums.1 += wide(self.position[v as usize]).cross(push);
            }
        }
        sums
    }
}

/// Two sums at once.
#[derive(Default)]
struct Pair(f64, f64);

impl std::ops::Add for Pair {
    type Output = Pair;

    fn add(self, other: Pair) -> Pair {
        Pair(self.0 + other.0, self.1 + other.1)
    }
}

impl super::Breathing {
    /// Factor on the pressure at `time`: smooth between one draw per period.
    fn share(&self, time: f64) -> f32 {
        let x = time / f64::from(self.period);
        let k = x.floor();
        let t = (x - k) as f32;
        let draw = |k: f64| chance(self.seed, k as i64 as u64);
        let smooth = t * t * (3.0 - 2.0 * t);
        1.0 + self.amplitude * (draw(k) + smooth * (draw(k + 1.0) - draw(k)))
    }
}
