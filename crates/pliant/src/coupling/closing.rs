//! How fast bodies come nearer to the liquid around them: what sets the sub-step.
//!
//! A wall must not go through a layer of particles in one sub-step. Splinters that drift
//! along with a stream and boxes that fall through the air do not, however fast they are.

use glam::Vec3A;
use rayon::prelude::*;

use super::bodies::Bodies;
use crate::fluid::{CHUNK, Motion};
use crate::world::World;

impl World {
    /// The largest speed at which a body and a particle near it approach each other, in m/s,
    /// with the walls that the particles had at the start of the sub-step.
    pub(super) fn find_closing_speed(&mut self, bodies: &Bodies) -> f32 {
        if self.acts_by_boundary() {
            return f32::INFINITY;
        }
        let fluids = self.fluids.iter_mut();
        let fastest = fluids.map(|(_, fluid)| {
            let Motion {
                position: [x, y, z],
                velocity: [vx, vy, vz],
                walls,
                ..
            } = fluid.motion_mut();
            let (x, y, z, vx, vy, vz) = (&*x, &*y, &*z, &*vx, &*vy, &*vz);
            let chunks = walls.chunks.par_iter().enumerate();
            let fastest = chunks.map(|(c, chunk)| {
                let mut fastest = 0.0f32;
                for k in 0..chunk.len() {
                    let i = c * CHUNK + k;
                    for wall in chunk.of(k) {
                        let Some(body) = bodies.of(wall.obstacle) else {
                            continue;
                        };
                        let wall = &wall.wall;
                        let (place, v) = (
                            Vec3A::new(x[i], y[i], z[i]),
                            Vec3A::new(vx[i], vy[i], vz[i]),
                        );
                        let normal = Vec3A::from(wall.normal);
                        let point = place - wall.distance * normal;
                        let there = bodies.grasp(body, wall.triangle, wall.barycentric, point);
                        fastest = fastest.max(normal.dot(bodies.velocity(&there) - v));
                    }
                }
                fastest
            });
            fastest.reduce(|| 0.0, f32::max)
        });
        fastest.fold(0.0, f32::max)
    }
}
