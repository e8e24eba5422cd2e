//! Is a place inside of a surface?

use glam::Vec3;

/// How often a closed surface goes around a place: the solid angles of its triangles (van
/// Oosterom & Strackee 1983) over that of a sphere. Right also for surfaces that are folded
/// into themselves, where neither the nearest normal nor a tetrahedron can tell.
pub(super) fn winding(p: Vec3, triangles: &[[u32; 3]], place: impl Fn(u32) -> Vec3) -> f64 {
    let angle = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| (place(i) - p).as_dvec3());
        let (x, y, z) = (a.length(), b.length(), c.length());
        let under = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
        2.0 * a.dot(b.cross(c)).atan2(under)
    };
    triangles.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;

    #[test]
    fn once_around_what_is_inside_and_not_at_all_around_what_is_not() {
        let mesh = TetBlock::default().build().unwrap();
        let surface = mesh.surface();
        let bounds = mesh.aabb();
        let around = |p: Vec3| winding(p, &surface, |i| mesh.points[i as usize]);
        assert!((around(bounds.center()) - 1.0).abs() < 1e-6);
        assert!((around(bounds.min + 1e-3 * bounds.size()) - 1.0).abs() < 1e-4);
        assert!(around(bounds.min - 1e-3 * bounds.size()).abs() < 1e-4);
        assert!(around(bounds.max + bounds.size()).abs() < 1e-6);
    }
}
