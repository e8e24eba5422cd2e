//! Triangles over a row of rings: what tubes, spheres and glasses have in common.

use glam::Vec3;

use crate::mesh::TriMesh;

/// How a row of rings ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// With a hole.
    Open,
    /// With a fan of triangles to this point.
    Apex(Vec3),
}

/// Joins rings of `segments` points each, stored one after the other and running
/// counter-clockwise seen against the direction from ring to ring.
///
/// With two apexes, `n` rings give `2 * segments * n` triangles over
/// `segments * n + 2` vertices.
pub(super) fn skin(points: Vec<Vec3>, segments: usize, start: End, end: End) -> TriMesh {
    let rings = points.len() / segments;
    let mut mesh = TriMesh {
        vertices: points,
        triangles: Vec::with_capacity(2 * segments * rings),
    };
    let at = |ring: usize, j: usize| (ring * segments + j % segments) as u32;
    for ring in 1..rings {
        for j in 0..segments {
            let [a, b] = [at(ring - 1, j), at(ring - 1, j + 1)];
            let [d, c] = [at(ring, j), at(ring, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    if let End::Apex(p) = start {
        let apex = mesh.vertices.len() as u32;
        mesh.vertices.push(p);
        let fan = (0..segments).map(|j| [apex, at(0, j + 1), at(0, j)]);
        mesh.triangles.extend(fan);
    }
    if let End::Apex(p) = end {
        let apex = mesh.vertices.len() as u32;
        mesh.vertices.push(p);
        let fan = (0..segments).map(|j| [apex, at(rings - 1, j), at(rings - 1, j + 1)]);
        mesh.triangles.extend(fan);
    }
    mesh
}

/// The angle of segment `j` of `segments`.
pub(super) fn angle(j: usize, segments: usize) -> f32 {
    std::f32::consts::TAU * j as f32 / segments as f32
}

/// Turns a profile of (radius, height) points about the y axis. The first and last
/// points lie on the axis; the body is on the left of the path from first to last.
pub(super) fn revolve(profile: &[(f32, f32)], segments: usize) -> TriMesh {
    let [(_, first), rings @ .., (_, last)] = profile else {
        return TriMesh::default();
    };
    let points = rings.iter().flat_map(|&(r, y)| {
        (0..segments).map(move |j| {
            let (sin, cos) = angle(j, segments).sin_cos();
            Vec3::new(r * sin, y, r * cos)
        })
    });
    skin(
        points.collect(),
        segments,
        End::Apex(*first * Vec3::Y),
        End::Apex(*last * Vec3::Y),
    )
}

/// The exact volume of [`revolve`]'s mesh: frusta over regular polygons.
#[cfg(test)]
pub(super) fn revolved_volume(profile: &[(f32, f32)], segments: usize) -> f32 {
    let n = segments as f64;
    let polygon = 0.5 * n * (std::f64::consts::TAU / n).sin();
    let frustum = |w: &[(f32, f32)]| {
        let [(r, y), (s, z)] = [w[0], w[1]].map(|(r, y)| (f64::from(r), f64::from(y)));
        (z - y) / 3.0 * (r * r + r * s + s * s)
    };
    (polygon * profile.windows(2).map(frustum).sum::<f64>()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cylinder_of_revolution_is_a_prism() {
        let profile = [(0.0, 0.0), (2.0, 0.0), (2.0, 3.0), (0.0, 3.0)];
        let mesh = revolve(&profile, 6);
        let report = mesh.check();
        assert!(report.is_sound(), "{report}");
        assert_eq!((report.vertices, report.triangles), (14, 24));
        let hexagon = 1.5 * 3f32.sqrt() * 4.0;
        assert!((report.volume - 3.0 * hexagon).abs() < 1e-4);
        assert!((revolved_volume(&profile, 6) - 3.0 * hexagon).abs() < 1e-4);
    }
}
