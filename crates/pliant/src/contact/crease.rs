//! Shallow creases of a surface, seen from their hollow side.
//!
//! The distance of a wall is that of its nearest face, and its slope jumps where another face
//! becomes the nearest. What moves across such a crease comes nearer to the wall than the slope
//! foresaw, whichever way it goes: in a vessel of eight faces around the blood was compressed
//! by a twelfth, though every pressure solve had succeeded. Close to a crease the wall therefore
//! goes over from one face to the other: its distance is a smooth minimum of both, and its
//! normal the slope of that. Sharp inner edges have walls of their own (`wall.rs`), and of outer
//! edges the distance is smooth.

use glam::Vec3;

use super::wall::Wall;
use crate::space::SurfacePoint;

/// A wall goes over from one face to the next while their distances differ by less than this
/// share of the reach: a fifth of a spacing. Found by trial: twice as much is no better, and with
/// five times as much the blood is compressed almost as without.
const BAND: f32 = 0.1;

/// Faces whose normals have a larger cosine are one.
const SAME_FACE: f32 = 0.985;

/// Below this cosine a face is a wall of its own, which it begins to be at twice that (`wall.rs`).
const APART: f32 = 0.25;

/// Most places that are kept.
const MOST: usize = 16;

/// The places of a surface that are hardly farther from a point than the nearest of them.
pub(super) struct Crease {
    band: f32,
    nearest: f32,
    list: [SurfacePoint; MOST],
    count: usize,
}

impl Crease {
    /// For walls within `reach`.
    pub fn new(reach: f32) -> Crease {
        let none = SurfacePoint {
            triangle: 0,
            barycentric: [0.0; 3],
            point: Vec3::ZERO,
            distance: 0.0,
        };
        Crease {
            band: BAND * reach,
            nearest: reach,
            list: [none; MOST],
            count: 0,
        }
    }

    /// Notes a place of the surface.
    #[inline]
    pub fn note(&mut self, found: &SurfacePoint) {
        if found.distance < self.nearest + self.band {
            self.nearest = self.nearest.min(found.distance);
            if self.count == MOST {
                let limit = self.nearest + self.band;
                self.drop_beyond(limit);
            }
            if self.count < MOST {
                self.list[self.count] = *found;
                self.count += 1;
            }
        }
    }

    fn drop_beyond(&mut self, limit: f32) {
        let mut kept = 0;
        for k in 0..self.count {
            if self.list[k].distance < limit {
                self.list[kept] = self.list[k];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Lets `wall`, the nearest place as seen from `p`, go over to the face beside it. `facing`
    /// is how squarely a place is seen in the direction away from it, and from which side.
    pub fn soften(&self, wall: &mut Wall, p: Vec3, facing: impl Fn(&SurfacePoint, Vec3) -> f32) {
        let mut second: Option<(f32, Vec3)> = None;
        for other in &self.list[..self.count] {
            let farther = second.map_or(wall.distance + self.band, |(d, _)| d);
            if other.distance >= farther {
                continue;
            }
            let away = (p - other.point).normalize_or_zero();
            let alike = away.dot(wall.normal);
            if !(APART..SAME_FACE).contains(&alike) {
                continue;
            }
            // A place on the border of its face is no face of its own, and what is far off the
            // nearest direction is a wall of its own.
            let squarely = ((facing(other, away) - SAME_FACE) / 0.01).clamp(0.0, 1.0);
            let bent = ((SAME_FACE - alike) / 0.05).min(1.0);
            let shallow = ((alike - APART) / APART).min(1.0);
            let distance = other.distance + self.band * (1.0 - squarely * bent * shallow);
            if distance < farther {
                second = Some((distance, away));
            }
        }
        if let Some((farther, away)) = second {
            let share = 0.5 * (1.0 - (farther - wall.distance) / self.band);
            wall.distance = (wall.distance - self.band * share * share).max(0.0);
            wall.normal = (wall.normal + share * (away - wall.normal)).normalize_or_zero();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::contact::wall::walls_of_surface;
    use crate::mesh::TriMesh;
    use crate::space::Bvh;

    const REACH: f32 = 0.2;

    /// The inside of a prism with `sides` sides and a hollow of 1 across, closed by nothing.
    fn prism(sides: u32) -> Bvh {
        let corner = |k: u32| {
            let angle = std::f32::consts::TAU * k as f32 / sides as f32;
            Vec3::new(0.0, 0.5 * angle.cos(), 0.5 * angle.sin())
        };
        let ends = [-2.0, -0.01, 2.0];
        let ring = |x: f32| (0..sides).map(move |k| corner(k) + x * Vec3::X);
        let mesh = TriMesh {
            vertices: ends.into_iter().flat_map(ring).collect(),
            triangles: (0..2)
                .flat_map(|r| (0..sides).map(move |k| (r * sides, k, (k + 1) % sides)))
                .flat_map(|(r, a, b)| {
                    let (low, high) = ([r + a, r + b], [r + sides + a, r + sides + b]);
                    [[low[0], high[0], low[1]], [low[1], high[0], high[1]]]
                })
                .collect(),
        };
        Bvh::build(Arc::new(mesh))
    }

    fn wall(tree: &Bvh, p: Vec3) -> Wall {
        let mut walls = Vec::new();
        walls_of_surface((tree, false), p, REACH, |_, w| walls.push(w));
        walls[0]
    }

    /// All around in a hollow with eight sides, near its wall.
    #[test]
    fn the_normal_is_the_slope_of_the_distance() {
        let tree = prism(8);
        let (mut softened, step) = (0, 1e-3);
        for k in 0..2000 {
            let angle = 0.003141 * k as f32;
            let out = Vec3::new(0.0, angle.cos(), angle.sin());
            let p = 0.39 * out + 0.05 * Vec3::X;
            let here = wall(&tree, p);
            for way in [Vec3::X, Vec3::Y, Vec3::Z] {
                let [less, more] = [-step, step].map(|s| wall(&tree, p + s * way).distance);
                let slope = (more - less) / (2.0 * step);
                // Between two faces the slope is a little less than 1.
                let doubt = if here.distance < here.at_least {
                    0.09
                } else {
                    0.03
                };
                assert!(
                    (slope - here.normal.dot(way)).abs() < doubt,
                    "{p} {way} {slope}"
                );
            }
            softened += usize::from(here.distance < here.at_least);
            assert!(here.at_least - here.distance < 0.3 * BAND * REACH);
        }
        assert!(softened > 200 && softened < 1500, "{softened}");
    }

    #[test]
    fn flat_walls_and_outer_edges_stay_as_they_are() {
        let tree = prism(8);
        for k in 0..200 {
            // Over the borders between triangles of one face, and outside.
            let along = Vec3::X * (0.002 * k as f32 - 0.2);
            let (z, y) = (std::f32::consts::TAU / 16.0).sin_cos();
            let (out, middle) = (Vec3::new(0.0, y, z), 0.5 * y);
            let inside = wall(&tree, along + (middle - 0.1) * out);
            assert!((inside.distance - 0.1).abs() < 1e-5, "{along}");
            assert!((inside.normal + out).length() < 1e-4);
            let angle = 0.01 * k as f32;
            let beyond = 0.55 * Vec3::new(0.0, angle.cos(), angle.sin());
            let outside = wall(&tree, along + beyond);
            assert_eq!(outside.distance, outside.at_least, "{angle}");
        }
    }
}
