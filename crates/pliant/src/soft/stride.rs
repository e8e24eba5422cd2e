//! How far soft bodies may move in a sub-step.
//!
//! Contacts are looked for where things are at the end of a sub-step: a point that has gone
//! farther into another body than they look (`collide.rs`) is lost there, and a body that
//! flies into a wall within one sub-step is turned inside out, as its rear does not know of
//! its front yet.

use glam::{Vec3, Vec3A};

use super::collide::depth_behind;
use super::state::Soft;
use crate::math::Aabb;

/// The share of the depth at which crossed points are found that two bodies may move
/// against each other.
const SHARE: f32 = 0.5;
/// The share of the root of a body's area that its points may go where there are obstacles:
/// a third of the radius of a ball.
const OWN_SHARE: f32 = 0.1;
/// No sub-step is made shorter than this share of what the bodies ask for.
const LEAST: f32 = 1.0 / 64.0;

/// Where a body is and how it moves.
struct Mover<'a> {
    soft: &'a Soft,
    bounds: Aabb,
    mean: Vec3,
    /// The fastest of its points against the mean, in m/s.
    deviation: f32,
}

impl<'a> Mover<'a> {
    fn new(soft: &'a Soft) -> Mover<'a> {
        let sum: Vec3A = soft.velocity.iter().sum();
        let mean = sum / soft.len().max(1) as f32;
        let squares = soft.velocity.iter().map(|v| v.distance_squared(mean));
        Mover {
            soft,
            bounds: soft.bounds(),
            mean: mean.into(),
            deviation: squares.fold(0.0, f32::max).sqrt(),
        }
    }

    /// Box that holds all of it within `dt` seconds.
    fn reach(&self, dt: f32) -> Aabb {
        let shift = dt * self.mean;
        let moved = Aabb {
            min: self.bounds.min + shift,
            max: self.bounds.max + shift,
        };
        let around = dt * self.deviation + self.soft.thickness;
        self.bounds.union(&moved).grown(around)
    }
}

/// The sub-step, of at most `dt` seconds, in which bodies that can come to touch each other,
/// or obstacles if there are any, move by little enough.
pub(crate) fn bound<'a>(bodies: impl Iterator<Item = &'a Soft>, obstacles: bool, dt: f32) -> f32 {
    let movers: Vec<Mover<'_>> = bodies.map(Mover::new).collect();
    let mut least = dt;
    if obstacles {
        for m in &movers {
            let speed = m.mean.length() + m.deviation;
            least = least.min(OWN_SHARE * m.soft.rest_area.sqrt() / speed.max(1e-9));
        }
    }
    let reaches: Vec<Aabb> = movers.iter().map(|m| m.reach(dt)).collect();
    for (i, a) in movers.iter().enumerate() {
        for (j, b) in movers.iter().enumerate().skip(i + 1) {
            if reaches[i].overlaps(&reaches[j]) {
                let speed = a.mean.distance(b.mean) + a.deviation + b.deviation;
                let depth = depth_behind(a.soft, b.soft).min(depth_behind(b.soft, a.soft));
                least = least.min(SHARE * depth / speed.max(1e-9));
            }
        }
    }
    least.max(LEAST * dt)
}
