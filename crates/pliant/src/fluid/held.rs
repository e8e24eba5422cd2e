//! What a nozzle gives to the liquid that it holds.
//!
//! Liquid that has not left its nozzle moves as it is told. What the liquid around it does
//! to it, by pressure and by friction, the nozzle therefore bears and passes on: these
//! impulses are summed up here, where they act, for the books of momentum
//! (`coupling/exchange.rs`). Walls neither push nor hold what the nozzle holds.

use glam::{DMat3, DVec3, Vec3, Vec3A};

use super::CHUNK;
use super::incompressible::Incompressible;
use super::walls::Walls;

/// The particles that nozzles hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pub particles: Vec<u32>,
    /// What nozzles have given that is not booked yet, in N s.
    given: DVec3,
}

impl Held {
    /// Finds the particles that nothing can push.
    pub fn find(&mut self, inverse_density: &[f32]) {
        self.particles.clear();
        let held = inverse_density.iter().enumerate().filter(|d| *d.1 == 0.0);
        self.particles.extend(held.map(|(i, _)| i as u32));
    }

    pub fn give(&mut self, impulse: DVec3) {
        self.given += impulse;
    }

    /// Takes what is not booked yet.
    pub fn take(&mut self) -> DVec3 {
        std::mem::take(&mut self.given)
    }
}

impl Incompressible {
    /// Books what it takes to hold particles against `pressure` for `dt` seconds.
    pub fn book_pressure(&mut self, dt: f32, pressure: &[f32], walls: &Walls) {
        let mut sum = DVec3::ZERO;
        for &i in &self.held.particles {
            let i = i as usize;
            let (c, k) = (i / CHUNK, i % CHUNK);
            let (near, slopes) = self.pairs.chunks[c].of(k);
            for (&j, slope) in near.iter().zip(slopes) {
                let both = pressure[i] + pressure[j as usize];
                sum += double(slope * both * (self.x[i] - self.x[j as usize]));
            }
            // Of an image, what is not along the walls' normals is between the particles.
            let seen = self.images.chunks[c].of(k);
            let normals = walls.of(i).iter().map(|m| Vec3A::from(m.wall.normal));
            for ((&j, &own), lift) in seen.neighbour.iter().zip(seen.own).zip(seen.lift) {
                let both = pressure[i] + pressure[j as usize];
                let lifted = normals.clone().zip(lift).map(|(n, l)| *l * n);
                sum += double(both * (own - lifted.sum::<Vec3A>()));
            }
        }
        self.held.give(f64::from(dt * self.volume) * sum);
    }

    /// What it takes to hold particles against the friction of all pairs, `factor` of two
    /// particles times it, with `v` for velocities; per volume.
    pub(super) fn friction_on_held(
        &self,
        v: &[Vec3A],
        factor: impl Fn(usize, usize) -> f32,
    ) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for &i in &self.held.particles {
            let i = i as usize;
            let (near, weight) = self.pairs.chunks[i / CHUNK].friction_of(i % CHUNK);
            for (&j, w) in near.iter().zip(weight) {
                let j = j as usize;
                let d = self.x[i] - self.x[j];
                sum += double(factor(i, j) * w * d.dot(v[i] - v[j]) * d);
            }
        }
        sum
    }

    /// How much of a motion that all free particles share the friction with held ones
    /// takes, in the sum over all.
    pub(super) fn brake_of_held(&self, inverse_density: &[f32]) -> DMat3 {
        let mut sum = DMat3::ZERO;
        for &i in &self.held.particles {
            let i = i as usize;
            let (near, weight) = self.pairs.chunks[i / CHUNK].friction_of(i % CHUNK);
            let pairs = near.iter().zip(weight);
            for (&j, &w) in pairs.filter(|(j, _)| inverse_density[**j as usize] > 0.0) {
                let d = double(self.x[i] - self.x[j as usize]);
                let along = f64::from(w) * d;
                sum += DMat3::from_cols(along * d.x, along * d.y, along * d.z);
            }
        }
        sum
    }
}

pub(super) fn double(v: Vec3A) -> DVec3 {
    Vec3::from(v).as_dvec3()
}
