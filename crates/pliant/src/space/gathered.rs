//! One triangle laid out for the query loops of the indices.

use glam::Vec3;

use super::{Crossing, SurfacePoint};
use crate::contact::triangle::{Feature, closest_point, segment_triangle};
use crate::mesh::TriMesh;

/// Corners, normal and number of a triangle on one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Gathered {
    pub corners: [Vec3; 3],
    /// Unit normal; zero for a triangle without area.
    pub normal: Vec3,
    /// No corner is farther from the corners' mean.
    radius: f32,
    pub id: u32,
}

/// A segment with what every test of it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub from: Vec3,
    pub to: Vec3,
    middle: Vec3,
    half_length_squared: f32,
}

impl Segment {
    pub fn new(from: Vec3, to: Vec3) -> Segment {
        Segment {
            from,
            to,
            middle: 0.5 * (from + to),
            half_length_squared: 0.25 * (to - from).length_squared(),
        }
    }
}

/// Relative rounding of a height over a triangle's plane, with room to spare.
const ROUNDING: f32 = 1e-6;

impl Gathered {
    /// Triangle `id` of `mesh`.
    pub fn of(mesh: &TriMesh, id: u32) -> Gathered {
        Gathered::of_corners(mesh.corners(id as usize), id)
    }

    /// The triangle with these corners.
    pub fn of_corners(corners: [Vec3; 3], id: u32) -> Gathered {
        let [a, b, c] = corners.map(|v| v.as_dvec3());
        let mean = (a + b + c) / 3.0;
        let radius = [a, b, c].map(|v| v.distance(mean) as f32);
        Gathered {
            corners,
            normal: (b - a).cross(c - a).normalize_or_zero().as_vec3(),
            radius: radius.into_iter().fold(0.0, f32::max),
            id,
        }
    }

    /// The closest point, its feature and its squared distance.
    #[inline]
    pub fn closest(&self, p: Vec3) -> (SurfacePoint, Feature, f32) {
        let near = closest_point(p, self.corners);
        let d2 = (p - near.point).length_squared();
        let found = SurfacePoint {
            triangle: self.id,
            barycentric: near.barycentric,
            point: near.point,
            distance: d2.sqrt(),
        };
        (found, near.feature, d2)
    }

    /// True if the disc around the triangle is farther from `p` than the radius:
    /// half the work of finding the closest point, and enough for most triangles.
    #[inline]
    pub fn is_beyond(&self, p: Vec3, radius_squared: f32) -> bool {
        let [a, b, c] = self.corners;
        let away = p - (a + b + c) * (1.0 / 3.0);
        let height = self.normal.dot(away);
        let away2 = away.length_squared();
        let across2 = away2 - height * height;
        let doubt = 8.0 * ROUNDING * (away2 + self.radius * self.radius);
        // The sphere cuts the triangle's plane in a disc of this radius, squared.
        let cut2 = radius_squared - height * height + doubt;
        let touch = self.radius + cut2.max(0.0).sqrt();
        (cut2 < 0.0) | (across2 > touch * touch + doubt)
    }

    /// The closest point if it is within the radius.
    #[inline]
    pub fn within(&self, p: Vec3, radius_squared: f32) -> Option<SurfacePoint> {
        if self.is_beyond(p, radius_squared) {
            return None;
        }
        let (found, _, d2) = self.closest(p);
        (d2 <= radius_squared).then_some(found)
    }

    /// Puts this triangle's crossing in `best` if it comes first; of equal ones the
    /// lower triangle number wins, so that the answer does not depend on the order.
    #[inline]
    pub fn cross(&self, segment: &Segment, best: &mut Option<Crossing>) {
        let a = self.corners[0];
        let (start, end) = (segment.from - a, segment.to - a);
        let (h0, h1) = (self.normal.dot(start), self.normal.dot(end));
        let farthest2 = start.length_squared().max(end.length_squared());
        let one_side = h0 * h1 > 0.0 && (h0 * h0).min(h1 * h1) > ROUNDING * ROUNDING * farthest2;
        if one_side || self.is_beyond(segment.middle, segment.half_length_squared) {
            return;
        }
        let Some(hit) = segment_triangle(segment.from, segment.to, self.corners) else {
            return;
        };
        let first = best.is_none_or(|b| {
            hit.fraction < b.fraction || (hit.fraction == b.fraction && self.id < b.triangle)
        });
        if first {
            let faces_end = h0 < 0.0 || (h0 == 0.0 && h1 > 0.0);
            *best = Some(Crossing {
                triangle: self.id,
                barycentric: hit.barycentric,
                fraction: hit.fraction,
                normal: if faces_end { -self.normal } else { self.normal },
            });
        }
    }
}
