//! The triangles of one leaf of a tree: the place of each that is nearest to a point, all at
//! once.
//!
//! Lane by lane this does what [`closest_point`](crate::contact::triangle::closest_point)
//! does, in the same order, so that its answers are the same to the bit.

use glam::Vec3;

use super::SurfacePoint;
use super::gathered::Gathered;
use crate::contact::triangle::is_sliver;
use crate::simd::vectors::{add, cross, dot, load, scale, sub};
use crate::simd::{Lanes, WIDTH};

type Lane8 = [f32; WIDTH];

/// Up to eight triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafPacket {
    /// Corner, axis, lane.
    corners: [[Lane8; 3]; 3],
    /// Lanes that hold a triangle, as bits.
    full: u32,
    /// Lanes whose triangle is so thin that it is looked at in double precision.
    slivers: u32,
}

/// What was found of each triangle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nearest {
    point: [Lane8; 3],
    barycentric: [Lane8; 3],
    squared: Lane8,
    /// Lanes that were found.
    lanes: u32,
}

impl Nearest {
    /// The lanes that were found, in order.
    #[inline(always)]
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let mut left = self.lanes;
        std::iter::from_fn(move || {
            let lane = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (lane < WIDTH).then_some(lane)
        })
    }

    /// Squared distance of the triangle in `lane`.
    #[inline(always)]
    pub fn squared(&self, lane: usize) -> f32 {
        self.squared[lane]
    }

    /// The nearest place of triangle `id`, which is in `lane`.
    #[inline(always)]
    pub fn place(&self, lane: usize, id: u32) -> SurfacePoint {
        let [x, y, z] = self.point.map(|axis| axis[lane]);
        SurfacePoint {
            triangle: id,
            barycentric: self.barycentric.map(|corner| corner[lane]),
            point: Vec3::new(x, y, z),
            distance: self.squared[lane].sqrt(),
        }
    }
}

impl LeafPacket {
    /// At most eight triangles, and at least one.
    pub fn new(triangles: &[Gathered]) -> LeafPacket {
        let mut packet = LeafPacket {
            corners: [[[0.0; WIDTH]; 3]; 3],
            full: (1 << triangles.len()) - 1,
            slivers: 0,
        };
        for lane in 0..WIDTH {
            // What is left over must hold numbers that can be computed with.
            let t = triangles.get(lane).unwrap_or(&triangles[0]);
            for (to, corner) in packet.corners.iter_mut().zip(t.corners) {
                for (axis, to) in to.iter_mut().enumerate() {
                    to[lane] = corner[axis];
                }
            }
            packet.slivers |= u32::from(is_sliver(t.corners)) << lane;
        }
        packet
    }

    /// Finds the triangles within a radius of `p`, given its square, and the nearest place
    /// of each.
    #[inline(always)]
    pub fn within<L: Lanes>(
        &self,
        l: L,
        triangles: &[Gathered],
        p: Vec3,
        radius_squared: f32,
        found: &mut Nearest,
    ) {
        let [a, b, c] = [0, 1, 2].map(|k| load(l, &self.corners[k]));
        let p3 = [l.splat(p.x), l.splat(p.y), l.splat(p.z)];
        let (zero, one) = (l.splat(0.0), l.splat(1.0));
        let (ab, ac, bc) = (sub(l, b, a), sub(l, c, a), sub(l, c, b));
        let ca = sub(l, a, c);
        let (ap, bp, cp) = (sub(l, p3, a), sub(l, p3, b), sub(l, p3, c));
        let n = cross(l, ab, ac);
        let wc = dot(l, n, cross(l, ab, ap));
        let wa = dot(l, n, cross(l, bc, bp));
        let wb = dot(l, n, cross(l, ap, ac));
        // Above the face.
        let inverse = l.div(one, l.add(l.add(wa, wb), wc));
        let (v, w) = (l.mul(wb, inverse), l.mul(wc, inverse));
        let mut point = add(l, add(l, a, scale(l, ab, v)), scale(l, ac, w));
        let mut barycentric = [l.sub(l.sub(one, v), w), v, w];
        // Beyond one edge or two.
        let edges = [
            (wc, ap, ab, [a, b], [0, 1]),
            (wa, bp, bc, [b, c], [1, 2]),
            (wb, cp, ca, [c, a], [2, 0]),
        ];
        let mut best = l.splat(f32::INFINITY);
        for (area, from_corner, along, [corner, next], [one_end, other_end]) in edges {
            let t = l.div(dot(l, from_corner, along), dot(l, along, along));
            let t = l.min(l.max(t, zero), one);
            let away = sub(l, from_corner, scale(l, along, t));
            let d2 = dot(l, away, away);
            let nearer = l.and(l.less(area, zero), l.less(d2, best));
            best = l.select(d2, best, nearer);
            let at_end = l.less(t, one);
            for axis in 0..3 {
                let between = l.add(corner[axis], l.mul(along[axis], t));
                let place = l.select(between, next[axis], at_end);
                point[axis] = l.select(place, point[axis], nearer);
            }
            let mut weights = [zero; 3];
            weights[one_end] = l.sub(one, t);
            weights[other_end] = t;
            for corner in 0..3 {
                barycentric[corner] = l.select(weights[corner], barycentric[corner], nearer);
            }
        }
        let away = sub(l, p3, point);
        let squared = dot(l, away, away);
        let beyond = l.bits(l.less(l.splat(radius_squared), squared));
        found.lanes = self.full & !beyond;
        if found.lanes | self.slivers == 0 {
            return;
        }
        found.squared = l.to_array(squared);
        for k in 0..3 {
            found.point[k] = l.to_array(point[k]);
            found.barycentric[k] = l.to_array(barycentric[k]);
        }
        if self.slivers & self.full != 0 {
            self.look_at_slivers(triangles, p, radius_squared, found);
        }
    }

    #[cold]
    fn look_at_slivers(
        &self,
        triangles: &[Gathered],
        p: Vec3,
        radius_squared: f32,
        found: &mut Nearest,
    ) {
        let thin = |lane: &usize| self.slivers >> lane & 1 == 1;
        for lane in (0..triangles.len()).filter(thin) {
            let (place, _, squared) = triangles[lane].closest(p);
            for k in 0..3 {
                found.point[k][lane] = place.point[k];
                found.barycentric[k][lane] = place.barycentric[k];
            }
            found.squared[lane] = squared;
            found.lanes &= !(1 << lane);
            found.lanes |= u32::from(squared <= radius_squared) << lane;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    proptest! {
        #[test]
        fn the_nearest_places_are_those_of_single_triangles_to_the_bit(
            corners in prop::collection::vec((point(), point(), point()), 1..=8),
            flat in 0usize..8,
            p in point(),
            radius in 0.1f32..3.0,
        ) {
            let triangles: Vec<Gathered> = corners
                .iter()
                .enumerate()
                .map(|(i, &(a, b, c))| {
                    // Some have no area.
                    let c = if i == flat { 0.5 * (a + b) } else { c };
                    Gathered::of_corners([a, b, c], 10 + i as u32)
                })
                .collect();
            let mut found = Nearest::default();
            let packet = LeafPacket::new(&triangles);
            packet.within(Portable, &triangles, p, radius * radius, &mut found);
            let lanes: Vec<usize> = found.lanes().collect();
            for (lane, t) in triangles.iter().enumerate() {
                let expected = t.within(p, radius * radius);
                prop_assert_eq!(expected.is_some(), lanes.contains(&lane));
                if let Some(expected) = expected {
                    prop_assert_eq!(found.place(lane, t.id), expected);
                }
            }
            prop_assert!(lanes.iter().all(|&lane| lane < triangles.len()));
        }
    }
}
