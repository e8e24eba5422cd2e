//! Two parts of surfaces that can touch: a point and a triangle, or two edges.

use glam::Vec3;

use crate::contact::triangle::closest_point;

/// Edges whose directions have a sine below this are less of a contact, down to none if
/// they are parallel: where those are nearest means nothing, and their ends meet the other
/// edge as points.
const PARALLEL: f32 = 0.1;

/// What touches what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A point of the first body and a triangle of the second.
    Face { point: u32, triangle: u32 },
    /// An edge of each, by their positions in the lists of the skins.
    Edges { own: u32, other: u32 },
}

/// Two parts of surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    pub bodies: [u32; 2],
    pub kind: Kind,
    /// Their points: one and three, or two and two.
    pub points: [u32; 4],
}

/// Where two parts are nearest to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    /// Weights of the four points: those of the first body add up to 1, those of the second
    /// to -1.
    pub weights: [f32; 4],
    /// From the second to the first, in metres.
    pub away: Vec3,
    /// How much of a contact it is, from 0 to 1: edges must be nearest between their ends,
    /// and not be parallel.
    pub share: f32,
}

impl Pair {
    /// What pairs are sorted by.
    pub fn order(&self) -> [u32; 5] {
        let [a, b] = self.bodies;
        match self.kind {
            Kind::Face { point, triangle } => [a, b, 0, triangle, point],
            Kind::Edges { own, other } => [a, b, 1, own, other],
        }
    }

    /// Where the two parts are nearest, with their points at these places.
    #[inline]
    pub fn nearest(&self, places: [Vec3; 4]) -> Nearest {
        match self.kind {
            Kind::Face { .. } => {
                let [p, a, b, c] = places;
                let at = closest_point(p, [a, b, c]);
                let [u, v, w] = at.barycentric;
                Nearest {
                    weights: [1.0, -u, -v, -w],
                    away: p - at.point,
                    share: 1.0,
                }
            }
            Kind::Edges { .. } => nearest_edges(places),
        }
    }

    /// Which of the two bodies point `k` belongs to: 0 or 1.
    #[inline]
    pub fn side(&self, k: usize) -> usize {
        match self.kind {
            Kind::Face { .. } => usize::from(k > 0),
            Kind::Edges { .. } => usize::from(k > 1),
        }
    }

    /// The points of the first part and of the second.
    #[inline]
    pub fn parts(&self) -> [&[u32]; 2] {
        let first = match self.kind {
            Kind::Face { .. } => 1,
            Kind::Edges { .. } => 2,
        };
        let (own, other) = self.points.split_at(first);
        [own, other]
    }

    /// What belongs to each of its points, given for body and point.
    #[inline]
    pub fn map<T>(&self, of: impl Fn(u32, u32) -> T) -> [T; 4] {
        std::array::from_fn(|k| of(self.bodies[self.side(k)], self.points[k]))
    }
}

/// The nearest places of two segments (Ericson 2005, 5.1.9).
fn nearest_edges([a, b, c, d]: [Vec3; 4]) -> Nearest {
    let (u, v, from) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    let (uf, vf) = (u.dot(from), v.dot(from));
    let under = u.cross(v).length_squared();
    let sine2 = under / (uu * vv).max(f32::MIN_POSITIVE);
    let mut s = if under > 1e-10 * uu * vv {
        ((uv * vf - uf * vv) / under).clamp(0.0, 1.0)
    } else {
        0.5
    };
    let mut t = (uv * s + vf) / vv.max(f32::MIN_POSITIVE);
    if !(0.0..=1.0).contains(&t) {
        t = t.clamp(0.0, 1.0);
        s = ((uv * t - uf) / uu.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    }
    let inside = s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0;
    Nearest {
        weights: [1.0 - s, s, t - 1.0, -t],
        away: from + s * u - t * v,
        share: if inside {
            (sine2 / (PARALLEL * PARALLEL)).min(1.0)
        } else {
            0.0
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EDGES: Pair = Pair {
        bodies: [0, 1],
        kind: Kind::Edges { own: 0, other: 0 },
        points: [0, 1, 0, 1],
    };

    #[test]
    fn crossed_edges_are_nearest_where_they_cross() {
        let places = [
            Vec3::new(-1.0, 0.0, 0.5),
            Vec3::new(3.0, 0.0, 0.5),
            Vec3::new(0.0, -1.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
        ];
        let found = EDGES.nearest(places);
        assert_eq!(found.weights, [0.75, 0.25, -0.5, -0.5]);
        assert_eq!(found.away, 0.5 * Vec3::Z);
        assert_eq!(found.share, 1.0);
    }

    proptest! {
        /// No other places of the edges are nearer to each other.
        #[test]
        fn nothing_is_nearer(
            ends in prop::array::uniform4(prop::array::uniform3(-1f32..1.0)),
        ) {
            let [a, b, c, d] = ends.map(Vec3::from_array);
            let found = EDGES.nearest([a, b, c, d]);
            let distance = found.away.length();
            for i in 0..=40 {
                for k in 0..=40 {
                    let (s, t) = (i as f32 / 40.0, k as f32 / 40.0);
                    let other = a.lerp(b, s).distance(c.lerp(d, t));
                    prop_assert!(distance <= other + 1e-5, "{distance} {other}");
                }
            }
        }
    }
}
