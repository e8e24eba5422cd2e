//! The narrow-phase tests of Grahn 2008, kept beside those of
//! [`super::triangle`] to be compared with.

use glam::{DVec3, Vec3};

use super::triangle::{ClosestPoint, Feature};

/// The point of the triangle nearest to `p` by Johnson's sub-determinants
/// (Gilbert, Johnson & Keerthi 1988; Grahn 2008, section 4.3): edges first, then
/// the face.
///
/// A set of corners holds the nearest point in its inside if all its own
/// sub-determinants are positive and those of the sets one corner larger are
/// not. Where rounding leaves no such set, the nearest candidate is taken
/// (Johnson's back-up procedure).
pub fn closest_point_johnson(p: Vec3, corners: [Vec3; 3]) -> ClosestPoint {
    let y = corners.map(|v| v.as_dvec3() - p.as_dvec3());
    let dot = |i: usize, j: usize| y[i].dot(y[j]);
    // pair[e]: determinants of the edge's first and second corner.
    let mut pair = [[0.0f64; 2]; 3];
    for (e, d) in pair.iter_mut().enumerate() {
        let (i, j) = (e, (e + 1) % 3);
        *d = [dot(j, j) - dot(j, i), dot(i, i) - dot(i, j)];
    }
    // face[k]: determinant of corner k in the set of all three.
    let mut face = [0.0f64; 3];
    for (k, d) in face.iter_mut().enumerate() {
        let e = (k + 1) % 3;
        let (i, j) = (e, (e + 1) % 3);
        *d = pair[e][0] * (dot(i, i) - dot(i, k)) + pair[e][1] * (dot(j, i) - dot(j, k));
    }
    for (e, d) in pair.into_iter().enumerate() {
        let opposite = (e + 2) % 3;
        if d[0] > 0.0 && d[1] > 0.0 && face[opposite] <= 0.0 {
            return weighted(corners, edge_weights(e, d), Feature::Edge(e as u8));
        }
    }
    if face.iter().all(|&d| d > 0.0) {
        return weighted(corners, face, Feature::Face);
    }
    let mut best = (f64::INFINITY, [1.0, 0.0, 0.0], Feature::Vertex(0));
    let mut offer = |weights: [f64; 3], feature| {
        let sum: f64 = weights.iter().sum();
        let at: DVec3 = (0..3).map(|k| y[k] * (weights[k] / sum)).sum();
        if at.length_squared() < best.0 {
            best = (at.length_squared(), weights, feature);
        }
    };
    for e in 0..3 {
        let mut corner = [0.0; 3];
        corner[e] = 1.0;
        offer(corner, Feature::Vertex(e as u8));
    }
    for (e, d) in pair.into_iter().enumerate() {
        if d[0] > 0.0 && d[1] > 0.0 {
            offer(edge_weights(e, d), Feature::Edge(e as u8));
        }
    }
    weighted(corners, best.1, best.2)
}

fn edge_weights(edge: usize, pair: [f64; 2]) -> [f64; 3] {
    let mut weights = [0.0; 3];
    weights[edge] = pair[0];
    weights[(edge + 1) % 3] = pair[1];
    weights
}

fn weighted(corners: [Vec3; 3], weights: [f64; 3], feature: Feature) -> ClosestPoint {
    let sum: f64 = weights.iter().sum();
    let w = weights.map(|w| w / sum);
    let point: DVec3 = (0..3).map(|k| corners[k].as_dvec3() * w[k]).sum();
    ClosestPoint {
        point: point.as_vec3(),
        barycentric: w.map(|w| w as f32),
        feature,
    }
}

/// Point against triangle by projection on its plane (Grahn 2008, section 4.3):
/// the signed height of `p` over the plane and the weights of its projection, if
/// that lies inside the triangle.
///
/// It does not see the regions beside the triangle, so at an edge with an angle
/// of more than 180 degrees a point near the surface can be missed by both
/// triangles; [`super::triangle::closest_point`] has no such gap.
pub fn project_on_plane(p: Vec3, [a, b, c]: [Vec3; 3]) -> Option<(f32, [f32; 3])> {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let n = ab.cross(ac);
    let n2 = n.length_squared();
    if n2 == 0.0 {
        return None;
    }
    let v = n.dot(ap.cross(ac)) / n2;
    let w = n.dot(ab.cross(ap)) / n2;
    let u = 1.0 - v - w;
    (u >= 0.0 && v >= 0.0 && w >= 0.0).then(|| (n.dot(ap) / n2.sqrt(), [u, v, w]))
}

#[cfg(test)]
mod tests {
    use super::super::triangle::closest_point;
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    proptest! {
        /// Both forms find the same point; tolerance 2e-5 on coordinates of order 1.
        #[test]
        fn johnson_agrees_with_the_area_form(p in point(), a in point(), b in point(), c in point()) {
            let ours = closest_point(p, [a, b, c]);
            let johnson = closest_point_johnson(p, [a, b, c]);
            let (d0, d1) = (p.distance(ours.point), p.distance(johnson.point));
            prop_assert!((d0 - d1).abs() < 2e-5, "{ours:?} {johnson:?}");
        }

        #[test]
        fn a_projection_inside_the_triangle_is_the_closest_point(p in point(), a in point(), b in point(), c in point()) {
            prop_assume!((b - a).cross(c - a).length() > 0.05);
            if let Some((height, _)) = project_on_plane(p, [a, b, c]) {
                let d = p.distance(closest_point(p, [a, b, c]).point);
                prop_assert!((height.abs() - d).abs() < 2e-5);
            }
        }
    }

    #[test]
    fn projection_misses_the_region_outside_a_ridge() {
        let ridge = [
            [Vec3::ZERO, Vec3::new(-1.0, -1.0, 0.0), Vec3::Z],
            [Vec3::ZERO, Vec3::Z, Vec3::new(1.0, -1.0, 0.0)],
        ];
        let p = Vec3::new(0.0, 0.01, 0.5);
        assert!(ridge.iter().all(|&t| project_on_plane(p, t).is_none()));
        assert!(
            ridge
                .iter()
                .all(|&t| p.distance(closest_point(p, t).point) < 0.011)
        );
    }

    #[test]
    fn johnson_survives_collapsed_triangles() {
        let a = Vec3::new(1.0, 2.0, 3.0);
        for corners in [
            [a, a, a],
            [a, a, a + Vec3::X],
            [a, a + Vec3::X, a + 3.0 * Vec3::X],
        ] {
            let near = closest_point_johnson(a + Vec3::Y, corners);
            assert!((near.point - a).length() < 1e-6, "{near:?}");
        }
    }
}
