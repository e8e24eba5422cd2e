//! Repairing, moving and joining meshes.

use std::collections::HashMap;

use glam::{Quat, Vec3};

use super::TriMesh;

impl TriMesh {
    /// Merges vertices that are at most `tolerance` metres apart into the one that
    /// comes first; returns how many went. With 0, only equal vertices are merged
    /// (`0.0` and `-0.0` are equal). Triangles are kept, also those that collapse.
    pub fn weld(&mut self, tolerance: f32) -> usize {
        let tolerance = f64::from(tolerance.max(0.0));
        let mut kept: Vec<Vec3> = Vec::with_capacity(self.vertices.len());
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(self.vertices.len());
        let mut new_index = Vec::with_capacity(self.vertices.len());
        for &v in &self.vertices {
            let cell = weld_cell(v, tolerance);
            let found = if tolerance > 0.0 {
                // Kept vertices are further apart than the tolerance, so that a
                // cell holds only a few.
                neighbour_cells(cell)
                    .filter_map(|c| cells.get(&c))
                    .flatten()
                    .copied()
                    .filter(|&k| {
                        let d = kept[k as usize].as_dvec3() - v.as_dvec3();
                        d.length_squared() <= tolerance * tolerance
                    })
                    .min()
            } else {
                cells.get(&cell).and_then(|same| same.first().copied())
            };
            let found = found.filter(|_| v.is_finite());
            new_index.push(found.unwrap_or_else(|| {
                let k = kept.len() as u32;
                kept.push(v);
                cells.entry(cell).or_default().push(k);
                k
            }));
        }
        let removed = self.vertices.len() - kept.len();
        self.vertices = kept;
        for v in self.triangles.iter_mut().flatten() {
            if let Some(&k) = new_index.get(*v as usize) {
                *v = k;
            }
        }
        removed
    }

    /// Drops triangles for which [`TriMesh::is_degenerate`] is true; returns how many.
    /// Vertices stay, so that their indices keep their meaning.
    pub fn remove_degenerate(&mut self) -> usize {
        let before = self.triangles.len();
        let keep: Vec<bool> = (0..before).map(|t| !self.is_degenerate(t)).collect();
        let mut keep = keep.into_iter();
        self.triangles.retain(|_| keep.next().unwrap_or(true));
        before - self.triangles.len()
    }

    /// Turns every triangle to face the other way.
    pub fn flip(&mut self) {
        for t in &mut self.triangles {
            t.swap(1, 2);
        }
    }

    /// Scales about the origin, then rotates, then moves. A negative scale mirrors
    /// the mesh; its triangles are then turned, so that outside stays outside.
    pub fn transform(&mut self, scale: f32, rotation: Quat, translation: Vec3) {
        for v in &mut self.vertices {
            *v = rotation * (scale * *v) + translation;
        }
        if scale < 0.0 {
            self.flip();
        }
    }

    /// Adds the vertices and triangles of `other` behind the own ones.
    pub fn append(&mut self, other: &TriMesh) {
        let first = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        let moved = other.triangles.iter().map(|t| t.map(|v| v + first));
        self.triangles.extend(moved);
    }
}

/// The cell of a vertex: with a tolerance, a cube of that size; without, the exact
/// position.
fn weld_cell(v: Vec3, tolerance: f64) -> [i64; 3] {
    v.to_array().map(|x| {
        if tolerance > 0.0 {
            // Saturates for far vertices, which then share a cell: slow, not wrong.
            (f64::from(x) / tolerance).floor() as i64
        } else {
            // Adding 0 turns -0 into 0.
            i64::from((x + 0.0).to_bits())
        }
    })
}

fn neighbour_cells([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..27).map(move |i| {
        [
            x.saturating_add(i % 3 - 1),
            y.saturating_add(i / 3 % 3 - 1),
            z.saturating_add(i / 9 - 1),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Cuboid;

    /// The cuboid with three own vertices per triangle, as in an STL file.
    fn soup() -> TriMesh {
        let cube = Cuboid::default().build().unwrap();
        let vertices = (0..cube.triangles.len()).flat_map(|t| cube.corners(t));
        TriMesh {
            vertices: vertices.collect(),
            triangles: (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        }
    }

    #[test]
    fn weld_closes_a_soup() {
        for tolerance in [0.0, 1e-4] {
            let mut mesh = soup();
            assert!(!mesh.check().is_closed());
            assert_eq!(mesh.weld(tolerance), 28);
            let report = mesh.check();
            assert!(report.is_sound(), "{report}");
            assert_eq!(report.vertices, 8);
        }
    }

    #[test]
    fn weld_joins_across_cells_and_keeps_the_first() {
        let mut mesh = soup();
        for (i, v) in mesh.vertices.iter_mut().enumerate() {
            v.x += if i % 2 == 0 { 4e-5 } else { -4e-5 };
        }
        let first = mesh.vertices[0];
        assert_eq!(mesh.clone().weld(1e-6), mesh.clone().weld(0.0));
        mesh.weld(1e-4);
        assert_eq!((mesh.vertices.len(), mesh.vertices[0]), (8, first));
        assert!(mesh.check().is_sound());
    }

    #[test]
    fn weld_joins_both_zeros_and_never_nan() {
        let mut mesh = TriMesh {
            vertices: vec![Vec3::ZERO, Vec3::new(-0.0, 0.0, -0.0), Vec3::NAN, Vec3::NAN],
            triangles: vec![[0, 1, 3]],
        };
        assert_eq!(mesh.weld(0.0), 1);
        assert_eq!(mesh.triangles, [[0, 0, 2]]);
        assert_eq!(mesh.weld(1.0), 0);
    }

    #[test]
    fn degenerate_triangles_go() {
        let mut mesh = soup();
        mesh.weld(0.0);
        mesh.triangles.insert(3, [1, 1, 2]);
        mesh.triangles.push([0, 1, 99]);
        assert_eq!(mesh.remove_degenerate(), 2);
        assert!(mesh.check().is_sound());
    }

    #[test]
    fn transform_scales_then_turns_then_moves() {
        let mut mesh = soup();
        mesh.weld(0.0);
        let v = mesh.vertices[5];
        let turn = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        mesh.transform(-2.0, turn, Vec3::X);
        let expected = Vec3::new(2.0 * v.y + 1.0, -2.0 * v.x, -2.0 * v.z);
        assert!(mesh.vertices[5].distance(expected) < 1e-6);
        let report = mesh.check();
        assert!(report.faces_outwards(), "a mirrored mesh stays outside out");
        assert!((report.volume - 8.0).abs() < 1e-5);
    }

    #[test]
    fn append_renumbers() {
        let mut mesh = soup();
        mesh.weld(0.0);
        let mut other = mesh.clone();
        other.transform(1.0, Quat::IDENTITY, 3.0 * Vec3::X);
        mesh.append(&other);
        let report = mesh.check();
        assert!(report.is_sound(), "{report}");
        assert_eq!((report.vertices, report.triangles), (16, 24));
        assert!((report.volume - 2.0).abs() < 1e-5);
    }
}
