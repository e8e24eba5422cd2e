//! What is connected: unique edges, the surface, unused points.

use super::TetMesh;
use crate::mesh::TriMesh;

/// The faces of a tetrahedron, each opposite the corner of its number,
/// counter-clockwise from outside.
pub(super) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The edges of a tetrahedron.
pub(super) const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// A face: its corners in order of number, then as the tetrahedron has them.
type Face = ([u32; 3], [u32; 3]);

impl TetMesh {
    /// Every edge once, smaller point first, in order (Lesmes 2013, algorithm 5.1).
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .tets
            .iter()
            .flat_map(|t| EDGES.map(|[i, j]| [t[i].min(t[j]), t[i].max(t[j])]))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The faces that belong to one tetrahedron only, counter-clockwise from outside.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        let faces = self.sorted_faces();
        faces
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() == 1)
            .map(|same| same[0].1)
            .collect()
    }

    /// The surface as a mesh of its own, without the points inside.
    pub fn surface_mesh(&self) -> TriMesh {
        let surface = self.surface();
        let mut number = vec![u32::MAX; self.points.len()];
        let mut mesh = TriMesh::default();
        for triangle in &surface {
            mesh.triangles.push(triangle.map(|v| {
                let slot = &mut number[v as usize];
                if *slot == u32::MAX {
                    *slot = mesh.vertices.len() as u32;
                    mesh.vertices.push(self.points[v as usize]);
                }
                *slot
            }));
        }
        mesh
    }

    /// All faces of all tetrahedra, equal ones next to each other.
    pub(super) fn sorted_faces(&self) -> Vec<Face> {
        let mut faces: Vec<Face> = self
            .tets
            .iter()
            .flat_map(|t| {
                FACES.map(|f| {
                    let face = f.map(|i| t[i]);
                    let mut key = face;
                    key.sort_unstable();
                    (key, face)
                })
            })
            .collect();
        faces.sort_unstable();
        faces
    }

    /// Takes points away that no tetrahedron uses; returns how many.
    pub fn drop_unused_points(&mut self) -> usize {
        let mut number = vec![u32::MAX; self.points.len()];
        for &v in self.tets.iter().flatten() {
            number[v as usize] = 0;
        }
        let mut kept = 0;
        for (old, slot) in number.iter_mut().enumerate() {
            if *slot == 0 {
                *slot = kept;
                self.points[kept as usize] = self.points[old];
                kept += 1;
            }
        }
        let dropped = self.points.len() - kept as usize;
        self.points.truncate(kept as usize);
        for v in self.tets.iter_mut().flatten() {
            *v = number[*v as usize];
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use crate::mesh::{TetBlock, TetMesh};
    use glam::Vec3;

    #[test]
    fn one_tetrahedron_is_all_surface() {
        let mesh = TetMesh {
            points: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE],
            tets: vec![[0, 1, 2, 3]],
        };
        assert_eq!(mesh.edges().len(), 6);
        let surface = mesh.surface_mesh();
        assert_eq!(surface.vertices.len(), 4);
        assert!(surface.check().is_closed());
        assert!(
            (surface.volume() - 1.0 / 6.0).abs() < 1e-6,
            "faces outwards"
        );
        let mut mesh = mesh;
        assert_eq!(mesh.drop_unused_points(), 1);
        assert_eq!(mesh.points.len(), 4);
        assert_eq!(mesh.edges().len(), 6);
    }

    #[test]
    fn a_block_obeys_euler() {
        let mesh = TetBlock {
            cells: [4, 3, 5],
            ..TetBlock::default()
        }
        .build()
        .unwrap();
        let (v, e, t) = (mesh.points.len(), mesh.edges().len(), mesh.tets.len());
        let surface = mesh.surface();
        assert_eq!(surface.len(), 4 * (4 * 3 + 3 * 5 + 4 * 5));
        // V - E + F - T = 1 for a ball, with F = (4 T + surface) / 2.
        let f = (4 * t + surface.len()) / 2;
        assert_eq!(v + f, 1 + e + t);
        assert!((f64::from(mesh.surface_mesh().volume()) - mesh.volume()).abs() < 1e-6);
    }
}
