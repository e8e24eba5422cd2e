//! The drag of walls that liquid sticks to, for the implicit viscosity.
//!
//! Behind a wall the liquid goes on as its own image, moving the other way so that it
//! rests at the wall. Seen from a particle, the velocity of that image grows with the
//! distance as in a uniform shear, so its viscous sum depends on the distance of the
//! wall alone and is integrated once; it adds to the diagonal of the equations and
//! costs their iterations nothing.

use glam::Vec3A;
use rayon::prelude::*;

use crate::crew::Spread;

use super::CHUNK;
use super::corner::{Faces, SAME_WALL};
use super::cubic::for_lattice;
use super::friction::Friction;
use super::incompressible::Incompressible;
use super::pairs::ChunkPairs;
use super::walls::{Mirror, Walls};

/// No wall is so curved that its grip is less than the first or more than the second of
/// these times that of a plane: at an edge curvature means nothing.
const BENT: [f32; 2] = [0.5, 2.0];

/// Samples between the wall and the support radius.
const SAMPLES: usize = 128;

/// Drag over kinematic viscosity and speed, in 1/m², at distances from 0 to h.
#[derive(Clone, Debug)]
pub(crate) struct Grip {
    /// Samples per metre.
    scale: f32,
    samples: Vec<f32>,
}

impl Grip {
    /// Sums the drag of the layers of the image. It is scaled so that a layer of a
    /// cubic lattice half a spacing from the wall, in uniform shear, is pulled by the
    /// wall as much as by the liquid on the other side.
    pub fn new(friction: &Friction, spacing: f32) -> Grip {
        let h = friction.support_radius;
        let mut liquid = 0.0;
        for_lattice(h / spacing, |x, y, z| {
            if z > 0 {
                let r_squared = spacing * spacing * (x * x + y * y + z * z) as f32;
                liquid += friction.weight(r_squared) * spacing.powi(3) * (z * x * x) as f32;
            }
        });
        let scale = liquid / shear(friction, 0.5 * spacing, spacing);
        let samples = (0..=SAMPLES).map(|k| {
            let d = k as f32 * h / SAMPLES as f32;
            scale * shear(friction, d, spacing) / d.max(0.25 * spacing)
        });
        Grip {
            scale: SAMPLES as f32 / h,
            samples: samples.collect(),
        }
    }

    /// The drag at distance `d` from the wall; none beyond the support radius.
    #[inline]
    pub fn at(&self, d: f32) -> f32 {
        let place = (d * self.scale).max(0.0);
        let k = place as usize;
        if k >= SAMPLES {
            return 0.0;
        }
        self.samples[k] + (place - k as f32) * (self.samples[k + 1] - self.samples[k])
    }
}

impl Incompressible {
    /// Lets curved walls grip by their area. Seen from a particle at distance d, the wall is
    /// larger than its layer of liquid where it is concave and smaller where it is convex, by
    /// `1 - d ∇·n` with the normals n that particles see: in a tube of radius R that is
    /// `R / (R - d)`.
    pub(super) fn bend_grips(&self, walls: &mut Walls) {
        let all = &*walls;
        let grips: Vec<Vec<f32>> = (&all.chunks, &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread_map(|(c, (own, pairs))| {
                let of = |k: usize| own.of(k).iter().map(move |mirror| (k, mirror));
                let mirrors = (0..own.len()).flat_map(of);
                mirrors
                    .map(|(k, mirror)| {
                        let seen = (all, self.images.faces());
                        let bend = || bend(&self.x, c * CHUNK + k, mirror, seen, pairs);
                        mirror.wall.drag * if mirror.no_slip { bend() } else { 1.0 }
                    })
                    .collect()
            });
        (&mut walls.chunks, grips)
            .into_par_iter()
            .spread(|(walls, grips)| walls.set_grips(&grips));
    }
}

/// The area of a wall over that of the layer in which particle `i` is.
fn bend(
    x: &[Vec3A],
    i: usize,
    mirror: &Mirror,
    (walls, faces): (&Walls, &Faces),
    pairs: &ChunkPairs,
) -> f32 {
    let normal = Vec3A::from(mirror.wall.normal);
    let (near, weight) = pairs.friction_of(i % CHUNK);
    let (mut turned, mut size) = (0.0, 0.0);
    for (&j, w) in near.iter().zip(weight) {
        let same = |m: &&Mirror| {
            let alike = normal.dot(m.wall.normal.into());
            m.obstacle == mirror.obstacle && alike > SAME_WALL
        };
        // Most have one wall, and that is it.
        let there = faces
            .first(j as usize)
            .like(mirror.obstacle, normal)
            .or_else(|| {
                let mut walls = walls.of(j as usize).iter();
                walls.find(same).map(|m| m.wall.normal.into())
            });
        let Some(there) = there else {
            continue;
        };
        let d = x[i] - x[j as usize];
        let along = d - d.dot(normal) * normal;
        turned += w * d.dot(normal - there);
        size += w * along.length_squared();
    }
    // The places lie on a surface: half of their squared distances are along each of its
    // two directions.
    let spread = if size > 0.0 { 2.0 * turned / size } else { 0.0 };
    (1.0 - mirror.wall.distance * spread).clamp(BENT[0], BENT[1])
}

/// Viscous sum over the image of a liquid in uniform shear, behind a wall at distance
/// `d`. Its particles lie in layers, the first half a spacing behind the wall.
fn shear(friction: &Friction, d: f32, spacing: f32) -> f32 {
    let h = friction.support_radius;
    let layers = (h / spacing).ceil() as usize;
    let depths = (0..layers).map(|k| d + (k as f32 + 0.5) * spacing);
    let layer = |z: f32| {
        let edge = (h * h - z * z).max(0.0).sqrt();
        // Half of the squared distance across lies along the shear.
        z * integrate(edge, |across| {
            0.5 * friction.weight(across * across + z * z) * across.powi(3)
        })
    };
    depths.map(layer).sum()
}

/// From 0, by the midpoint rule.
fn integrate(to: f32, f: impl Fn(f32) -> f32) -> f32 {
    const PARTS: usize = 48;
    let step = to / PARTS as f32;
    let sum: f32 = (0..PARTS).map(|k| f((k as f32 + 0.5) * step)).sum();
    step * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grip_fades_with_the_distance() {
        let spacing = 0.01;
        let grip = Grip::new(&Friction::new(2.0 * spacing, spacing), spacing);
        let mut last = f32::INFINITY;
        for k in 3..20 {
            let at = grip.at(0.1 * k as f32 * spacing);
            // No particle is nearer to the wall than half a spacing, on either side.
            assert!(at < last || k > 15 && at == 0.0, "{k}: {at}");
            last = at;
        }
        assert_eq!(grip.at(2.0 * spacing), 0.0);
        // The stress at the wall, speed / d, slows a layer of thickness 2 d.
        let first = grip.at(0.5 * spacing) * spacing * spacing;
        assert!((first - 2.0).abs() < 0.2, "{first}");
    }
}
