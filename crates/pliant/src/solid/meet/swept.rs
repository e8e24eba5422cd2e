//! When a moving point first meets a moving triangle.

use glam::{DVec3, Vec3};

/// Where and when a point crosses a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    /// 0 at the start of the way, 1 at its end.
    pub time: f64,
    /// Weights of the corners there.
    pub weights: [f32; 3],
    /// Normal of the triangle there.
    pub normal: Vec3,
}

/// Corners this far outside still count: what one triangle misses by rounding its
/// neighbour must not miss too.
const MARGIN: f64 = 1e-6;

/// The first time at which a point on its way from `p[0]` to `p[1]` goes through a
/// triangle on its way from `a[0]` to `a[1]`, from the front to the back. All corners
/// move straight; the point and the corners are in one plane at the roots of a cubic
/// (Provot 1997), which are found between its turning points.
pub(super) fn crossing(p: [Vec3; 2], a: [[Vec3; 3]; 2]) -> Option<Crossing> {
    let at = |t: f64| {
        let between = |from: Vec3, to: Vec3| from.as_dvec3().lerp(to.as_dvec3(), t);
        let corners: [DVec3; 3] = std::array::from_fn(|k| between(a[0][k], a[1][k]));
        (between(p[0], p[1]), corners)
    };
    let height = |t: f64| {
        let (p, [a, b, c]) = at(t);
        (b - a).cross(c - a).dot(p - a)
    };
    // A cubic from its values at four times (Newton's divided differences on thirds).
    let f = [
        height(0.0),
        height(1.0 / 3.0),
        height(2.0 / 3.0),
        height(1.0),
    ];
    if f[0] <= 0.0 {
        return None;
    }
    let (d1, d2, d3) = (
        f[1] - f[0],
        f[2] - 2.0 * f[1] + f[0],
        f[3] - 3.0 * f[2] + 3.0 * f[1] - f[0],
    );
    // In s = 3 t: f0 + d1 s + d2 s (s - 1) / 2 + d3 s (s - 1) (s - 2) / 6; its slope is
    // d3 / 2 s² + (d2 - d3) s + d1 - d2 / 2 + d3 / 3.
    let turns = roots(0.5 * d3, d2 - d3, d1 - 0.5 * d2 + d3 / 3.0).map(|s| s / 3.0);
    let mut from = 0.0;
    for to in turns.into_iter().chain([1.0]) {
        if !(to > from && to <= 1.0) {
            continue;
        }
        if height(from) > 0.0 && height(to) <= 0.0 {
            let (mut low, mut high) = (from, to);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                *(if height(middle) > 0.0 {
                    &mut low
                } else {
                    &mut high
                }) = middle;
            }
            let (p, [a, b, c]) = at(high);
            let n = (b - a).cross(c - a);
            let size = n.length_squared().max(f64::MIN_POSITIVE);
            let share = |from: DVec3, to: DVec3| (to - from).cross(p - from).dot(n) / size;
            let weights = [share(b, c), share(c, a), share(a, b)];
            if weights.iter().all(|w| *w >= -MARGIN) {
                return Some(Crossing {
                    time: high,
                    weights: weights.map(|w| w as f32),
                    normal: n.normalize_or_zero().as_vec3(),
                });
            }
        }
        from = to;
    }
    None
}

/// The roots of a quadratic in ascending order; those that do not exist are NaN.
fn roots(a: f64, b: f64, c: f64) -> [f64; 2] {
    if a == 0.0 {
        return [-c / b, f64::NAN];
    }
    let under = b * b - 4.0 * a * c;
    if under < 0.0 {
        return [f64::NAN; 2];
    }
    let q = -0.5 * (b + under.sqrt().copysign(b));
    let (x, y) = (q / a, if q == 0.0 { 0.0 } else { c / q });
    [x.min(y), x.max(y)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TRIANGLE: [Vec3; 3] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
    ];

    #[test]
    fn a_point_through_a_resting_triangle() {
        let start = Vec3::new(0.2, 0.3, 1.0);
        let hit = crossing([start, start - 4.0 * Vec3::Z], [TRIANGLE; 2]).unwrap();
        assert!((hit.time - 0.25).abs() < 1e-9);
        for (found, exact) in hit.weights.iter().zip([0.5, 0.2, 0.3]) {
            assert!((found - exact).abs() < 1e-6);
        }
        assert_eq!(hit.normal, Vec3::Z);
        // From behind, beside, or not far enough.
        assert_eq!(crossing([-start, start], [TRIANGLE; 2]), None);
        let beside = Vec3::new(0.8, 0.8, 1.0);
        assert_eq!(
            crossing([beside, beside - 4.0 * Vec3::Z], [TRIANGLE; 2]),
            None
        );
        assert_eq!(crossing([start, 0.1 * start], [TRIANGLE; 2]), None);
    }

    proptest! {
        /// A point that is carried by a weighted place of the triangle and moved through
        /// it along the normal is found where it was put, whatever the triangle does.
        #[test]
        fn a_way_through_is_found(
            ends in prop::array::uniform3(prop::array::uniform3(-0.3f32..0.3)),
            w in (0.25f32..0.4, 0.25f32..0.4),
            above in 0.01f32..0.05,
            below in 0.01f32..0.05,
        ) {
            let moved: [Vec3; 3] =
                std::array::from_fn(|k| TRIANGLE[k] + Vec3::from_array(ends[k]));
            let place = |t: [Vec3; 3]| t[0] * (1.0 - w.0 - w.1) + t[1] * w.0 + t[2] * w.1;
            let normal = |t: [Vec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]).normalize();
            let p = [
                place(TRIANGLE) + above * normal(TRIANGLE),
                place(moved) - below * normal(moved),
            ];
            let hit = crossing(p, [TRIANGLE, moved]);
            prop_assert!(hit.is_some());
        }
    }
}
