//! The triangles of one leaf of a tree: the place of each that is nearest to a point, all at
//! once.
//!
//! Lane by lane this does what [`closest_point`](crate::contact::triangle::closest_point)
//! does, in the same order, so that its answers are the same to the bit.

use glam::Vec3;

use super::SurfacePoint;
use super::gathered::Gathered;
use crate::contact::triangle::is_sliver;
use crate::simd::vectors::{Three, add, cross, dot, load, scale, splat, sub};
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
        let ([x, y, z], [a, b, c]) = (&self.point, &self.barycentric);
        SurfacePoint {
            triangle: id,
            barycentric: [a[lane], b[lane], c[lane]],
            point: Vec3::new(x[lane], y[lane], z[lane]),
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
        let [a, b, c] = &self.corners;
        let (a, b, c) = (load(l, a), load(l, b), load(l, c));
        let p3 = splat(l, p);
        let one = l.splat(1.0);
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
        let mut place = Place::<L> {
            point: add(l, add(l, a, scale(l, ab, v)), scale(l, ac, w)),
            barycentric: [l.sub(l.sub(one, v), w), v, w],
            squared: l.splat(f32::INFINITY),
        };
        // Beyond one edge or two.
        place.beyond(l, wc, ap, (ab, [a, b]), [0, 1, 2]);
        place.beyond(l, wa, bp, (bc, [b, c]), [1, 2, 0]);
        place.beyond(l, wb, cp, (ca, [c, a]), [2, 0, 1]);
        let Place {
            point, barycentric, ..
        } = place;
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

/// The place of each triangle that is nearest so far.
struct Place<L: Lanes> {
    point: Three<L::F>,
    barycentric: Three<L::F>,
    /// Squared distance of the nearest edge.
    squared: L::F,
}

impl<L: Lanes> Place<L> {
    /// Looks at the triangles for which the point lies beyond an edge: `area` is below zero
    /// there. `from` is the way to the point from the first of its corners, whose numbers are
    /// `ends`, followed by that of the third one.
    #[inline(always)]
    fn beyond(
        &mut self,
        l: L,
        area: L::F,
        from: Three<L::F>,
        (along, [corner, next]): (Three<L::F>, [Three<L::F>; 2]),
        ends: [usize; 3],
    ) {
        let (zero, one) = (l.splat(0.0), l.splat(1.0));
        let t = l.div(dot(l, from, along), dot(l, along, along));
        let t = l.min(l.max(t, zero), one);
        let away = sub(l, from, scale(l, along, t));
        let squared = dot(l, away, away);
        let nearer = l.and(l.less(area, zero), l.less(squared, self.squared));
        self.squared = l.select(squared, self.squared, nearer);
        let at_end = l.less(t, one);
        for axis in 0..3 {
            let between = l.add(corner[axis], l.mul(along[axis], t));
            let place = l.select(between, next[axis], at_end);
            self.point[axis] = l.select(place, self.point[axis], nearer);
        }
        let [first, second, third] = ends;
        self.barycentric[first] = l.select(l.sub(one, t), self.barycentric[first], nearer);
        self.barycentric[second] = l.select(t, self.barycentric[second], nearer);
        self.barycentric[third] = l.select(zero, self.barycentric[third], nearer);
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
