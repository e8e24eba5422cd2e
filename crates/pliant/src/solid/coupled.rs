//! What liquids and rigid bodies need of a body that they push.

use glam::{Vec3, Vec3A};

use super::contact::Environment;
use super::state::{Body, Solid};
use crate::contact::Contact;

impl Solid {
    /// Velocities of all points in m/s.
    pub(crate) fn velocity_list(&self) -> &[Vec3A] {
        &self.velocity
    }

    /// 1 / mass of all points in 1/kg; 0 for pinned ones.
    pub(crate) fn inverse_masses(&self) -> &[f32] {
        &self.inverse_mass
    }

    /// How often the triangles of the surface have changed.
    pub(crate) fn surface_version(&self) -> u32 {
        self.surface_version
    }

    /// Largest speed of any point in m/s.
    pub(crate) fn top_speed(&self) -> f32 {
        let squared = self.velocity.iter().map(|v| v.length_squared());
        squared.fold(0.0, f32::max).sqrt()
    }

    /// Something has pushed the points: these are their velocities now.
    pub(crate) fn set_velocities(&mut self, velocity: &[Vec3A], h: f32) {
        for (i, &velocity) in velocity.iter().enumerate() {
            if self.velocity[i] != velocity {
                self.velocity[i] = velocity;
                if let Body::Springs(body) = &mut self.body {
                    body.moved(i, self.displacement[i], velocity, h);
                }
            }
        }
        self.refresh_views();
    }

    /// Something is in the way of a point: it ends its step of `h` seconds here, with this
    /// velocity.
    pub(super) fn stop_at(&mut self, i: usize, place: Vec3, velocity: Vec3A, h: f32) {
        self.displacement[i] = (place - self.mesh.points[i]).into();
        self.velocity[i] = velocity;
        if let Body::Springs(body) = &mut self.body {
            body.moved(i, self.displacement[i], self.velocity[i], h);
        }
        self.refresh_view(i);
    }

    /// The second half of a step of `h` seconds: the points, which the first half has
    /// sent on their way, go with `velocity` instead, and past all obstacles.
    pub(crate) fn finish_as(
        &mut self,
        matter: u32,
        h: f32,
        velocity: Option<&[Vec3A]>,
        around: &Environment<'_>,
    ) -> Vec<Contact> {
        for (i, &velocity) in velocity.unwrap_or_default().iter().enumerate() {
            let change = velocity - self.velocity[i];
            if change != Vec3A::ZERO {
                self.displacement[i] += h * change;
                self.velocity[i] = velocity;
                if let Body::Springs(body) = &mut self.body {
                    body.moved(i, self.displacement[i], velocity, h);
                }
            }
        }
        let mut contacts = Vec::new();
        if !around.is_empty() {
            self.pass_obstacles(matter, h, around, &mut contacts);
        }
        self.last_step = h;
        self.refresh_views();
        contacts
    }
}
