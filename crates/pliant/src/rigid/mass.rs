//! Mass, centre and inertia of a closed surface filled with matter.

use glam::{DMat3, DVec3};

use crate::mesh::TriMesh;

/// What the space inside a surface weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// In m³.
    pub volume: f64,
    /// Centre of mass in metres.
    pub center: DVec3,
    /// Inertia about the centre per density, in m⁵.
    pub inertia: DMat3,
}

impl MassProperties {
    /// Sums over the tetrahedra between a point and the triangles of a closed mesh that
    /// faces outwards.
    pub fn of(mesh: &TriMesh) -> MassProperties {
        // Near the mesh, so that large coordinates do not cancel.
        let origin = mesh.aabb().center().as_dvec3();
        let (mut volume, mut moment) = (0.0, DVec3::ZERO);
        let mut square = DMat3::ZERO;
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t).map(|p| p.as_dvec3() - origin);
            let part = a.dot(b.cross(c)) / 6.0;
            let sum = a + b + c;
            volume += part;
            moment += part / 4.0 * sum;
            // ∫ x xᵀ over a tetrahedron with one corner at the origin.
            let outer = |v: DVec3| DMat3::from_cols(v.x * v, v.y * v, v.z * v);
            square += (outer(sum) + outer(a) + outer(b) + outer(c)) * (part / 20.0);
        }
        let center = moment / volume;
        let about = square
            - DMat3::from_cols(
                volume * center.x * center,
                volume * center.y * center,
                volume * center.z * center,
            );
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        MassProperties {
            volume,
            center: center + origin,
            inertia: DMat3::from_diagonal(DVec3::splat(trace)) - about,
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::mesh::Cuboid;

    #[test]
    fn a_box_has_the_inertia_of_the_formula() {
        let size = Vec3::new(0.2, 0.3, 0.5);
        let corner = Vec3::new(3.0, -1.0, 2.0);
        let mesh = Cuboid::new(corner, corner + size).build().unwrap();
        let found = MassProperties::of(&mesh);
        let s = size.as_dvec3();
        assert!((found.volume / (s.x * s.y * s.z) - 1.0).abs() < 1e-5);
        assert!((found.center - (corner + 0.5 * size).as_dvec3()).length() < 1e-6);
        let right = DVec3::new(
            s.y * s.y + s.z * s.z,
            s.x * s.x + s.z * s.z,
            s.x * s.x + s.y * s.y,
        ) * found.volume
            / 12.0;
        let wrong = found.inertia - DMat3::from_diagonal(right);
        assert!(wrong.abs_diff_eq(DMat3::ZERO, 1e-5 * right.x), "{wrong}");
    }
}
