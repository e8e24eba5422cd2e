//! What walls and nozzles give while the velocities are sought in which pressure holds
//! particles in their places (`restoring.rs`).
//!
//! Conjugate gradients with the masses for preconditioner only ever add forces over masses,
//! so the change that they have found after any number of iterations is, per volume,
//!
//! ```text
//! ρ (v - v*) = -K q + e b
//! ```
//!
//! with the operator K, the drive b of moving walls, and a motion q and a number e that
//! follow from the coefficients of the iterations. As the solve ends long before it is
//! exact, q is not yet v. Walls are on the diagonal of K: q is needed only where there are
//! some, and of held particles the sum over all is enough.

use glam::{DVec3, Vec3A};
use rayon::prelude::*;

use crate::crew::Spread;

use super::CHUNK;
use super::held::double;
use super::walls::Walls;

/// A particle that walls hold, with the motions that belong to its residual, to the
/// direction of the search, and to the change found so far.
#[derive(Clone, Copy, Debug)]
struct Braced {
    particle: u32,
    residual: Vec3A,
    direction: Vec3A,
    found: Vec3A,
}

/// The books of one solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Bracing {
    particles: Vec<Braced>,
    held: Vec<u32>,
    /// As of a braced particle, for the drive.
    drive: [f64; 3],
    /// The same for `Σ K v` over held particles.
    holding: [DVec3; 3],
}

impl Bracing {
    /// Begins with the velocities `v` and the force of their friction on the `held`
    /// particles; `braced` have walls.
    pub fn begin(
        &mut self,
        v: &[Vec3A],
        braced: impl Iterator<Item = usize>,
        (held, pulled): (&[u32], DVec3),
    ) {
        self.particles.clear();
        self.particles.extend(braced.map(|i| Braced {
            particle: i as u32,
            residual: v[i],
            direction: v[i],
            found: Vec3A::ZERO,
        }));
        self.held.clear();
        self.held.extend_from_slice(held);
        self.drive = [1.0, 1.0, 0.0];
        self.holding = [pulled, pulled, DVec3::ZERO];
    }

    /// There is nothing to book.
    pub fn end(&mut self) {
        self.particles.clear();
        self.held.clear();
    }

    /// The solve has gone `step` times `direction`, whose image is `image`.
    pub fn follow(&mut self, step: f32, direction: &[Vec3A], image: &[Vec3A]) {
        self.particles
            .par_iter_mut()
            .with_min_len(1024)
            .spread(|b| {
                b.found += step * b.direction;
                b.residual += step * (direction[b.particle as usize] - b.direction);
            });
        let step = f64::from(step);
        let [residual, direction, found] = &mut self.drive;
        *found += step * *direction;
        *residual -= step * *direction;
        let pulled: DVec3 = self.held.iter().map(|&i| double(image[i as usize])).sum();
        let [residual, direction, found] = &mut self.holding;
        *found += step * *direction;
        *residual += step * (pulled - *direction);
    }

    /// The next direction is the residual and `keep` times the last one.
    pub fn turn(&mut self, keep: f32) {
        self.particles
            .par_iter_mut()
            .with_min_len(1024)
            .spread(|b| b.direction = b.residual + keep * b.direction);
        let keep = f64::from(keep);
        self.drive[1] = self.drive[0] + keep * self.drive[1];
        self.holding[1] = self.holding[0] + keep * self.holding[1];
    }

    /// What held particles were held against, per volume.
    pub fn held(&self) -> DVec3 {
        self.holding[2]
    }

    /// Notes with the walls what they have done: `weight` of a wall is what it adds to K
    /// along its normal; `dt` makes an acceleration of it.
    pub fn note(
        &self,
        dt: f32,
        inverse_density: &[f32],
        walls: &mut Walls,
        weight: impl Fn(usize, &super::walls::Mirror) -> f32,
    ) {
        let drive = self.drive[2] as f32;
        for b in &self.particles {
            let i = b.particle as usize;
            for mirror in walls.chunks[i / CHUNK].of_mut(i % CHUNK) {
                let normal = mirror.wall.normal;
                let slip = b.found.dot(normal.into()) - drive * normal.dot(mirror.wall.velocity);
                let braked = inverse_density[i] * weight(i, mirror) * slip / dt;
                mirror.drag -= braked * normal;
            }
        }
    }
}
