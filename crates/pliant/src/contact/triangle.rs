//! Tests between one triangle and a point or a segment.

use glam::{DVec3, Vec3};

/// A triangle this many times longer than it is high is handled in double
/// precision: in single precision its normal is noise.
const SLIVER_ASPECT: f32 = 1e3;

/// The part of a triangle that a closest point lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The inside of the triangle.
    Face,
    /// The edge from corner `i` to corner `(i + 1) % 3`, without its ends.
    Edge(u8),
    /// Corner `i`.
    Vertex(u8),
}

/// The point of a triangle nearest to a query point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// The point, in metres.
    pub point: Vec3,
    /// Weights of the three corners; they sum to 1.
    pub barycentric: [f32; 3],
    /// What the point lies on.
    pub feature: Feature,
}

/// True if a triangle is so long and thin that its closest points are found in double
/// precision.
pub(crate) fn is_sliver([a, b, c]: [Vec3; 3]) -> bool {
    let (ab, ac) = (b - a, c - a);
    is_thin(ab, ac, ab.cross(ac))
}

#[inline(always)]
fn is_thin(ab: Vec3, ac: Vec3, normal: Vec3) -> bool {
    const THIN: f32 = 1.0 / (SLIVER_ASPECT * SLIVER_ASPECT);
    let longest2 = ab.length_squared().max(ac.length_squared());
    normal.length_squared() <= THIN * longest2 * longest2
}

/// The point of the triangle nearest to `p`.
///
/// The projection of `p` lies inside where its three edge areas
/// `n · (edge x (p - corner))` are positive; otherwise the nearest point lies on
/// an edge whose area is negative. These areas lose accuracy only linearly with
/// the distance of `p`, unlike differences of products of dot products.
#[inline]
pub fn closest_point(p: Vec3, [a, b, c]: [Vec3; 3]) -> ClosestPoint {
    let ab = b - a;
    let ac = c - a;
    let ap = p - a;
    let n = ab.cross(ac);
    if is_thin(ab, ac, n) {
        return closest_point_sliver(p, [a, b, c]);
    }
    let bc = c - b;
    let bp = p - b;
    let wc = n.dot(ab.cross(ap));
    let wa = n.dot(bc.cross(bp));
    let wb = n.dot(ap.cross(ac));
    if wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
        let inv = 1.0 / (wa + wb + wc);
        let (v, w) = (wb * inv, wc * inv);
        return ClosestPoint {
            point: a + ab * v + ac * w,
            barycentric: [1.0 - v - w, v, w],
            feature: Feature::Face,
        };
    }
    // At most two areas are negative.
    let mut best = (f32::INFINITY, 0usize, 0.0f32);
    let edges = [(wc, ap, ab, 0), (wa, bp, bc, 1), (wb, p - c, -ac, 2)];
    for (area, from_corner, along, edge) in edges {
        if area < 0.0 {
            let t = (from_corner.dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let d2 = (from_corner - along * t).length_squared();
            if d2 < best.0 {
                best = (d2, edge, t);
            }
        }
    }
    on_edge([a, b, c], best.1, best.2)
}

/// The point at `t` along edge `edge`.
#[inline]
fn on_edge(corners: [Vec3; 3], edge: usize, t: f32) -> ClosestPoint {
    let next = (edge + 1) % 3;
    let mut barycentric = [0.0; 3];
    barycentric[edge] = 1.0 - t;
    barycentric[next] = t;
    let (point, feature) = if t <= 0.0 {
        (corners[edge], Feature::Vertex(edge as u8))
    } else if t >= 1.0 {
        (corners[next], Feature::Vertex(next as u8))
    } else {
        (
            corners[edge] + (corners[next] - corners[edge]) * t,
            Feature::Edge(edge as u8),
        )
    };
    ClosestPoint {
        point,
        barycentric,
        feature,
    }
}

/// [`closest_point`] for thin and collapsed triangles: the nearest of the three
/// edges and, if there is one, the projection, in double precision.
#[cold]
fn closest_point_sliver(p: Vec3, corners: [Vec3; 3]) -> ClosestPoint {
    let d = corners.map(|v| v.as_dvec3() - p.as_dvec3());
    let mut best = (f64::INFINITY, 0usize, 0.0f64);
    for edge in 0..3 {
        let (from, to) = (d[edge], d[(edge + 1) % 3]);
        let along = to - from;
        let length2 = along.length_squared();
        let t = if length2 > 0.0 {
            (-from.dot(along) / length2).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let d2 = (from + along * t).length_squared();
        if d2 < best.0 {
            best = (d2, edge, t);
        }
    }
    let n = (d[1] - d[0]).cross(d[2] - d[0]);
    let n2 = n.length_squared();
    if n2 > 0.0 {
        let area = |i: usize, j: usize| n.dot(d[i].cross(d[j])) / n2;
        let w = [area(1, 2), area(2, 0), area(0, 1)];
        if w.iter().all(|&w| w > 0.0) && n.dot(d[0]).powi(2) / n2 < best.0 {
            let point = p.as_dvec3() + d[0] * w[0] + d[1] * w[1] + d[2] * w[2];
            return ClosestPoint {
                point: point.as_vec3(),
                barycentric: w.map(|w| w as f32),
                feature: Feature::Face,
            };
        }
    }
    on_edge(corners, best.1, best.2 as f32)
}

/// Where a segment meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentHit {
    /// The hit is at `from + fraction * (to - from)`, `0 <= fraction <= 1`.
    pub fraction: f32,
    /// Weights of the three corners; they sum to 1 and none is negative.
    pub barycentric: [f32; 3],
}

/// Borders are moved out by this part of the longest edge, about the rounding of
/// a single-precision coordinate.
const BORDER_SLACK: f64 = 1e-7;
/// Half thickness, as a part of the lengths that enter the calculation: well above the
/// rounding of double precision, far below anything a caller can see.
const PLANE_SLACK: f64 = 1e-14;

/// The first point of the segment on the triangle, from either side; in doubt a hit.
///
/// The triangle is given a little thickness and width, and the segment is
/// clipped against the prism. In double precision the clipping error is smaller than the
/// slack, so prisms of triangles that share an edge or a corner leave no gap;
/// a segment within the triangle's plane hits where it enters the triangle.
/// A triangle without area is never hit: its neighbours meet there.
#[inline]
pub fn segment_triangle(from: Vec3, to: Vec3, [a, b, c]: [Vec3; 3]) -> Option<SegmentHit> {
    let origin = a.as_dvec3();
    let (ab, ac) = (b.as_dvec3() - origin, c.as_dvec3() - origin);
    let (start, end) = (from.as_dvec3() - origin, to.as_dvec3() - origin);
    let n = ab.cross(ac);
    let (h0, h1) = (n.dot(start), n.dot(end));
    let reach = start.length_squared().max(end.length_squared());
    let bc = ac - ab;
    let longest2 = ab
        .length_squared()
        .max(ac.length_squared())
        .max(bc.length_squared());
    let n2 = n.length_squared();
    // The error of a height is that of `n` times the distance it is applied at.
    let plane2 = PLANE_SLACK * PLANE_SLACK * longest2 * longest2 * (longest2 + reach);
    if h0 * h1 > 0.0 && h0 * h0 > plane2 && h1 * h1 > plane2 {
        return None;
    }
    if n2 <= PLANE_SLACK * PLANE_SLACK * longest2 * longest2 {
        return None;
    }
    let mut span = Span {
        enter: 0.0,
        leave: 1.0,
    };
    let plane = plane2.sqrt();
    span.clip(h0 + plane, h1 + plane)?;
    span.clip(plane - h0, plane - h1)?;
    let border = BORDER_SLACK * longest2 * n2.sqrt();
    for (corner, edge) in [(DVec3::ZERO, ab), (ab, bc), (ac, -ac)] {
        let inwards = n.cross(edge);
        let far = PLANE_SLACK * inwards.length() * reach.sqrt();
        let slack = border + far;
        span.clip(
            inwards.dot(start - corner) + slack,
            inwards.dot(end - corner) + slack,
        )?;
    }
    let at = start + (end - start) * span.enter;
    let v = (n.dot(at.cross(ac)) / n2).max(0.0);
    let w = (n.dot(ab.cross(at)) / n2).max(0.0);
    let u = (1.0 - v - w).max(0.0);
    let sum = u + v + w;
    // The sum is at least 1 unless the input is not finite.
    (sum > 0.0).then(|| SegmentHit {
        fraction: span.enter as f32,
        barycentric: [u / sum, v / sum, w / sum].map(|w| w as f32),
    })
}

/// The part of a segment that is still inside.
struct Span {
    enter: f64,
    leave: f64,
}

impl Span {
    /// Keeps what is on the side where a height that runs from `h0` to `h1` is
    /// not negative. `None` if nothing is left.
    #[inline]
    fn clip(&mut self, h0: f64, h1: f64) -> Option<()> {
        if h0 < 0.0 && h1 < 0.0 {
            return None;
        }
        if h0 < 0.0 {
            self.enter = self.enter.max(h0 / (h0 - h1));
        } else if h1 < 0.0 {
            self.leave = self.leave.min(h0 / (h0 - h1));
        }
        (self.enter <= self.leave).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    /// Distance by trying many points of the triangle, then refining.
    fn sampled_distance(p: Vec3, [a, b, c]: [Vec3; 3]) -> f32 {
        let at = |u: f32, v: f32| a + (b - a) * u + (c - a) * v;
        let (mut best, mut u0, mut v0, mut step) = (f32::INFINITY, 0.5, 0.25, 0.5);
        while step > 1e-5 {
            let (cu, cv) = (u0, v0);
            for i in -8..=8 {
                for j in -8..=8 {
                    let u = (cu + step * i as f32 / 8.0).clamp(0.0, 1.0);
                    let v = (cv + step * j as f32 / 8.0).clamp(0.0, 1.0 - u);
                    let d = p.distance(at(u, v));
                    if d < best {
                        (best, u0, v0) = (d, u, v);
                    }
                }
            }
            step *= 0.5;
        }
        best
    }

    proptest! {
        #[test]
        fn closest_point_is_the_nearest_and_consistent(p in point(), a in point(), b in point(), c in point()) {
            let near = closest_point(p, [a, b, c]);
            let [u, v, w] = near.barycentric;
            prop_assert!((u + v + w - 1.0).abs() < 1e-5);
            prop_assert!(u > -1e-5 && v >= 0.0 && w >= 0.0);
            prop_assert!((a * u + b * v + c * w).distance(near.point) < 1e-5);
            let d = p.distance(near.point);
            prop_assert!(d <= sampled_distance(p, [a, b, c]) + 1e-5);
            match near.feature {
                Feature::Face => {}
                Feature::Edge(e) => prop_assert_eq!(near.barycentric[(e as usize + 2) % 3], 0.0),
                Feature::Vertex(k) => prop_assert_eq!(near.point, [a, b, c][k as usize]),
            }
        }

        /// Slivers down to no height at all: the answer is that of the long edge, to the height.
        #[test]
        fn slivers_are_as_good_as_segments(p in point(), a in point(), b in point(), t in 0.0f32..1.0, height in 0.0f32..1e-4) {
            prop_assume!(a.distance(b) > 0.1);
            let c = a.lerp(b, t) + (b - a).normalize().any_orthonormal_vector() * height;
            let d = p.distance(closest_point(p, [a, b, c]).point);
            let along = b - a;
            let s = ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            prop_assert!((d - p.distance(a + along * s)).abs() <= height + 1e-6);
        }

        /// A fan around a hub, and segments through the hub, spokes and faces. No face is as
        /// steep as a segment: that might only touch a ridge, and pass it by rounding.
        #[test]
        fn nothing_slips_through_a_fan(
            hub in point(),
            count in 3usize..12,
            heights in proptest::collection::vec(-0.15f32..0.15, 12),
            target in 0usize..12,
            along in prop_oneof![Just(0.0f32), 0.0f32..0.9],
            direction in point(),
            flatness in prop_oneof![Just(1.0f32), 1e-6f32..1.0],
            length in prop_oneof![Just(1000.0f32), Just(1e-3f32), 0.01f32..10.0],
        ) {
            // The fan is the graph of a height over the plane, so "above" and
            // "below" are the two sides near it.
            let rim = |k: usize| {
                let turn = std::f32::consts::TAU * (k % count) as f32 / count as f32;
                hub + Vec3::new(turn.cos(), heights[k % count] * flatness, turn.sin())
            };
            let aim = hub.lerp(rim(target), along);
            let lift = Vec3::new(direction.x, direction.y.abs().max(0.05) + 1.0, direction.z) * length;
            let (from, to) = (aim + lift, aim - lift);
            let hits = (0..count)
                .filter(|&k| segment_triangle(from, to, [hub, rim(k + 1), rim(k)]).is_some())
                .count();
            prop_assert!(hits > 0);
        }

        /// Tetrahedra are closed: from inside to anywhere outside, nearly parallel to a face too.
        #[test]
        fn nothing_leaves_a_tetrahedron(
            t in [point(), point(), point(), point()],
            weights in [0.01f32..1.0, 0.01f32..1.0, 0.01f32..1.0, 0.01f32..1.0],
            exit in [0.0f32..1.0, 0.0f32..1.0, 0.0f32..1.0],
            on_feature in 0usize..3,
            stretch in prop_oneof![Just(1000.0f32), 1.5f32..20.0],
        ) {
            prop_assume!((t[1] - t[0]).cross(t[2] - t[0]).dot(t[3] - t[0]).abs() > 1e-3);
            let sum: f32 = weights.iter().sum();
            let inside: Vec3 = (0..4).map(|k| t[k] * (weights[k] / sum)).sum();
            // Exit through a face, exactly through an edge, exactly through a corner.
            let mut e = exit;
            for w in e.iter_mut().take(on_feature) {
                *w = 0.0;
            }
            e[2] += 1e-3;
            let esum: f32 = e.iter().sum();
            let through: Vec3 = (0..3).map(|k| t[k] * (e[k] / esum)).sum();
            let outside = inside + (through - inside) * stretch;
            let faces = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
            let hit = faces.iter().any(|f| segment_triangle(inside, outside, f.map(|k| t[k])).is_some());
            prop_assert!(hit);
        }

        #[test]
        fn a_hit_lies_on_both(from in point(), to in point(), a in point(), b in point(), c in point()) {
            if let Some(hit) = segment_triangle(from, to, [a, b, c]) {
                prop_assert!((0.0..=1.0).contains(&hit.fraction));
                let on_segment = from.lerp(to, hit.fraction);
                let [u, v, w] = hit.barycentric;
                prop_assert!(u >= 0.0 && v >= 0.0 && w >= 0.0 && (u + v + w - 1.0).abs() < 1e-5);
                prop_assert!(on_segment.distance(a * u + b * v + c * w) < 1e-5);
            }
        }

        #[test]
        fn both_directions_and_windings_agree(from in point(), to in point(), a in point(), b in point(), c in point()) {
            let hit = segment_triangle(from, to, [a, b, c]).is_some();
            prop_assert_eq!(hit, segment_triangle(to, from, [a, b, c]).is_some());
            prop_assert_eq!(hit, segment_triangle(from, to, [c, b, a]).is_some());
        }
    }

    const FLAT: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Z];

    #[test]
    fn segments_in_the_plane_hit_where_they_enter() {
        let hit = segment_triangle(Vec3::new(-1.0, 0.0, 0.25), Vec3::new(1.0, 0.0, 0.25), FLAT);
        assert!((hit.unwrap().fraction - 0.5).abs() < 1e-6);
        let beside = segment_triangle(Vec3::new(-1.0, 0.0, 2.0), Vec3::new(1.0, 0.0, 2.0), FLAT);
        assert!(beside.is_none());
    }

    #[test]
    fn segments_without_length_hit_only_on_the_triangle() {
        let on = Vec3::new(0.25, 0.0, 0.25);
        assert!(segment_triangle(on, on, FLAT).is_some());
        assert!(segment_triangle(on + Vec3::Y, on + Vec3::Y, FLAT).is_none());
    }

    #[test]
    fn degenerate_and_unreal_input_does_not_panic() {
        let nan = Vec3::NAN;
        assert!(segment_triangle(-Vec3::Y, Vec3::Y, [Vec3::ZERO; 3]).is_none());
        segment_triangle(nan, Vec3::Y, FLAT);
        closest_point(nan, FLAT);
        closest_point(Vec3::Y, [nan; 3]);
        let near = closest_point(Vec3::Y, [Vec3::ZERO; 3]);
        assert_eq!(near.point, Vec3::ZERO);
    }
}
