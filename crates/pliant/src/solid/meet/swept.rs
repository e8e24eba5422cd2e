//! How far two parts of surfaces can go before they touch.

use glam::Vec3;

use super::pair::{Nearest, Pair};

/// Share of the way that is surely free that is gone at once.
const STRIDE: f32 = 0.9;
/// Most strides: what slides along at a small distance takes many.
const STRIDES: u32 = 200;

/// The first time, from 0 to 1, at which two parts on their straight ways are hardly
/// farther than `least` metres from each other, or than half of their first distance if
/// that is smaller; and how they are then to each other. `None` if they never are.
///
/// Additive continuous collision detection (Li et al. 2021): no part of a pair can come
/// nearer faster than its points move, so each stride is safe, and where it ends the two
/// are still apart. There are no roots to miss and no signs to round wrong.
pub(super) fn first_touch(
    pair: &Pair,
    from: [Vec3; 4],
    to: [Vec3; 4],
    least: f32,
) -> Option<(f32, Nearest)> {
    let mut ways: [Vec3; 4] = std::array::from_fn(|k| to[k] - from[k]);
    let mean = 0.25 * (ways[0] + ways[1] + ways[2] + ways[3]);
    let mut fastest = [0.0f32; 2];
    for (k, way) in ways.iter_mut().enumerate() {
        *way -= mean;
        let side = pair.side(k);
        fastest[side] = fastest[side].max(way.length());
    }
    let speed = fastest[0] + fastest[1];
    let origin = from[0];
    // Near the origin places keep their digits.
    let at = |t: f32| -> [Vec3; 4] { std::array::from_fn(|k| from[k] - origin + t * ways[k]) };
    let mut nearest = pair.nearest(at(0.0));
    let mut distance = nearest.away.length();
    if distance > speed + least {
        return None;
    }
    let least = least.min(0.5 * distance);
    let enough = least + (0.1 * (distance - least)).min(least);
    let mut time = 0.0;
    for _ in 0..STRIDES {
        time += STRIDE * (distance - least) / speed;
        if time.is_nan() || time >= 1.0 {
            return None;
        }
        nearest = pair.nearest(at(time));
        distance = nearest.away.length();
        if distance <= enough {
            return Some((time, nearest));
        }
    }
    Some((time, nearest))
}

#[cfg(test)]
mod tests {
    use super::super::pair::Kind;
    use super::*;
    use proptest::prelude::*;

    const TRIANGLE: [Vec3; 3] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
    ];
    const FACE: Pair = Pair {
        bodies: [0, 1],
        kind: Kind::Face {
            point: 0,
            triangle: 0,
        },
        points: [0, 0, 1, 2],
    };
    const EDGES: Pair = Pair {
        bodies: [0, 1],
        kind: Kind::Edges { own: 0, other: 0 },
        points: [0, 1, 0, 1],
    };

    fn with(p: Vec3, [a, b, c]: [Vec3; 3]) -> [Vec3; 4] {
        [p, a, b, c]
    }

    #[test]
    fn a_point_through_a_resting_triangle() {
        let start = Vec3::new(0.2, 0.3, 1.0);
        let to = |p| with(p, TRIANGLE);
        let (time, near) = first_touch(&FACE, to(start), to(start - 4.0 * Vec3::Z), 1e-3).unwrap();
        assert!((time - 0.25).abs() < 1e-3, "{time}");
        assert!((near.away.z - 1e-3).abs() < 1.1e-3 && near.away.z > 0.0);
        for (found, exact) in near.weights.iter().zip([1.0, -0.5, -0.2, -0.3]) {
            assert!((found - exact).abs() < 1e-5);
        }
        let beside = Vec3::new(0.8, 0.8, 1.0);
        let past = first_touch(&FACE, to(beside), to(beside - 4.0 * Vec3::Z), 1e-3);
        assert_eq!(past, None);
        assert_eq!(first_touch(&FACE, to(start), to(0.1 * start), 1e-3), None);
    }

    proptest! {
        /// A point that is carried by a weighted place of the triangle and moved through
        /// it along the normal is found, whatever the triangle does.
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
            let from = with(place(TRIANGLE) + above * normal(TRIANGLE), TRIANGLE);
            let to = with(place(moved) - below * normal(moved), moved);
            let found = first_touch(&FACE, from, to, 1e-4);
            prop_assert!(found.is_some());
            let (time, near) = found.unwrap();
            prop_assert!(time < 1.0 && near.away.length() < 3e-4);
        }

        /// Edges that change sides while they are crossed are found.
        #[test]
        fn edges_do_not_pass_edges(
            a in -0.4f32..0.4, c in -0.4f32..0.4, tilt in -0.3f32..0.3,
            above in 0.01f32..0.2, below in 0.01f32..0.2,
        ) {
            let upper = |z: f32| [Vec3::new(-1.0, a, z), Vec3::new(1.0, a, z + 0.1 * tilt)];
            let lower = [Vec3::new(c, -1.0, 0.0), Vec3::new(c + tilt, 1.0, 0.0)];
            let all = |[a, b]: [Vec3; 2]| [a, b, lower[0], lower[1]];
            let from = all(upper(above + 0.1));
            let to = all(upper(-below - 0.1));
            let (time, near) = first_touch(&EDGES, from, to, 1e-4).unwrap();
            prop_assert!(time < 1.0 && near.away.z > 0.0 && near.away.length() < 3e-4);
        }
    }
}
