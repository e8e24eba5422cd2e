//! How long a step may be while bodies meet: what moves past half an element in a step
//! cannot be met by a solve that knows where things are only at its ends.

use glam::{Vec3, Vec3A};

use super::super::state::Solid;
use super::skin::Skin;
use crate::math::Aabb;

/// The share of an edge of the finer surface that bodies may move against each other.
const SHARE: f32 = 0.5;
/// No step is made shorter than this share of what bodies allow by themselves.
const LEAST: f32 = 1.0 / 64.0;

/// Where a body is and how it moves.
struct Mover {
    bounds: Aabb,
    mean: Vec3,
    /// The fastest of its points against the mean, in m/s.
    deviation: f32,
    edge: f32,
}

impl Mover {
    fn new(solid: &Solid, skin: &Skin) -> Mover {
        let of = |i: &u32| solid.velocity[*i as usize];
        let skin_points = solid.skin.iter();
        let sum: Vec3A = skin_points.clone().map(of).sum();
        let mean = sum / solid.skin.len().max(1) as f32;
        let away = skin_points.map(of).map(|v| v.distance(mean));
        Mover {
            bounds: Aabb::of(
                solid
                    .skin
                    .iter()
                    .map(|&i| solid.positions().get(i as usize)),
            ),
            mean: mean.into(),
            deviation: away.fold(0.0, f32::max),
            edge: skin.edge,
        }
    }

    /// Box that holds all of it within `dt` seconds.
    fn reach(&self, dt: f32) -> Aabb {
        let shift = dt * self.mean;
        let moved = Aabb {
            min: self.bounds.min + shift,
            max: self.bounds.max + shift,
        };
        self.bounds.union(&moved).grown(dt * self.deviation)
    }
}

/// The step, of at most `dt` seconds, in which bodies that can come to touch move against
/// each other by little enough.
pub(super) fn bound<'a>(bodies: impl Iterator<Item = (&'a Solid, &'a Skin)>, dt: f32) -> f32 {
    let movers: Vec<Mover> = bodies.map(|(b, s)| Mover::new(b, s)).collect();
    let reaches: Vec<Aabb> = movers.iter().map(|m| m.reach(dt)).collect();
    let mut least = dt;
    for (i, a) in movers.iter().enumerate() {
        for (j, b) in movers.iter().enumerate().skip(i + 1) {
            if reaches[i].overlaps(&reaches[j]) {
                let speed = a.mean.distance(b.mean) + a.deviation + b.deviation;
                least = least.min(SHARE * a.edge.min(b.edge) / speed);
            }
        }
    }
    least.max(LEAST * dt)
}
