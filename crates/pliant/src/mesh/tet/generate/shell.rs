//! Walls around a hollow: a shell on any surface, and a basin.

use glam::Vec3;

use super::block::TetBlock;
use crate::mesh::generate::Rules;
use crate::mesh::{ShapeError, TetMesh, TriMesh};

/// A wall of constant thickness on a surface, closed or open: a balloon on a sphere, a
/// vessel on a tube.
#[derive(Clone, Debug, PartialEq)]
pub struct TetShell {
    /// The inner side of the wall, facing outwards.
    pub surface: TriMesh,
    /// In metres.
    pub thickness: f32,
    /// Layers of prisms, three tetrahedra each.
    pub layers: u32,
}

impl TetShell {
    /// Makes the mesh. The surface must not bend so sharply that its normals cross
    /// within the wall.
    pub fn build(&self) -> Result<TetMesh, ShapeError> {
        let rules = Rules("shell");
        rules.positive("wall", self.thickness)?;
        rules.count("layers", self.layers, 1)?;
        let surface = &self.surface;
        rules.count("triangles", surface.triangles.len() as u32, 1)?;
        let inner = surface.vertices.len() as u32;
        let normals = surface.vertex_normals();
        let mut mesh = TetMesh::default();
        for layer in 0..=self.layers {
            let out = self.thickness * layer as f32 / self.layers as f32;
            let points = surface.vertices.iter().zip(&normals);
            mesh.points
                .extend(points.map(|(v, n)| *v + out * n.normalize_or_zero()));
        }
        for layer in 0..self.layers {
            for triangle in &surface.triangles {
                // From the smaller number below to the larger above, so that neighbours
                // divide their common face alike.
                let mut low = triangle.map(|v| v + layer * inner);
                low.sort_unstable();
                let [a, b, c] = low;
                let [d, e, f] = low.map(|v| v + inner);
                for mut tet in [[a, b, c, f], [a, b, e, f], [a, d, e, f]] {
                    let [p, q, r, s] = tet.map(|v| mesh.points[v as usize]);
                    if (q - p).cross(r - p).dot(s - p) < 0.0 {
                        tet.swap(2, 3);
                    }
                    mesh.tets.push(tet);
                }
            }
        }
        Ok(mesh)
    }
}

/// A box with a floor and four walls, open above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetBasin {
    /// Smallest corner of the hollow, in metres.
    pub min: Vec3,
    /// Largest corner of the hollow; the walls are as high.
    pub max: Vec3,
    /// Thickness of floor and walls in metres.
    pub wall: f32,
    /// Cells along each side of the hollow.
    pub cells: [u32; 3],
}

impl TetBasin {
    /// Makes the mesh: one layer of cells, six tetrahedra each.
    pub fn build(&self) -> Result<TetMesh, ShapeError> {
        let rules = Rules("basin");
        rules.finite("min", self.min)?;
        rules.finite("max", self.max)?;
        rules.positive("wall", self.wall)?;
        for (axis, name) in ["cells x", "cells y", "cells z"].into_iter().enumerate() {
            rules.count(name, self.cells[axis], 1)?;
            rules.positive("size", (self.max - self.min)[axis])?;
        }
        let [nx, ny, nz] = self.cells;
        let all = [
            nx.saturating_add(2),
            ny.saturating_add(1),
            nz.saturating_add(2),
        ];
        let block = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::from_array(all.map(|n| n as f32)),
            cells: all,
        };
        let mut mesh = block.build()?;
        // Six tetrahedra per cell, x first.
        let hollow = |cell: usize| {
            let cell = cell as u32;
            let [i, j, k] = [
                cell % all[0],
                cell / all[0] % all[1],
                cell / (all[0] * all[1]),
            ];
            (1..=nx).contains(&i) && j >= 1 && (1..=nz).contains(&k)
        };
        let mut cell = 0;
        mesh.tets.retain(|_| {
            cell += 1;
            !hollow((cell - 1) / 6)
        });
        mesh.drop_unused_points();
        let line = |at: f32, axis: usize| {
            let n = self.cells[axis] as f32;
            let (low, high) = (self.min[axis], self.max[axis]);
            if at < 0.5 {
                low - self.wall
            } else if at > n + 1.5 {
                high + self.wall
            } else {
                low + (high - low) * (at - 1.0) / n
            }
        };
        Ok(mesh.map_points(|p| Vec3::new(line(p.x, 0), line(p.y, 1), line(p.z, 2))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{IcoSphere, Tube};

    #[test]
    fn shells_are_sound_and_as_thick_as_told() {
        let ball = IcoSphere {
            radius: 0.5,
            ..IcoSphere::default()
        };
        let pipe = Tube {
            radius: 0.1,
            segments: 8,
            smooth_rings: Some(13),
            capped: false,
            ..Tube::default()
        };
        for (surface, layers) in [(ball.build().unwrap(), 1), (pipe.build().unwrap(), 2)] {
            let area: f32 = (0..surface.triangles.len())
                .map(|t| 0.5 * surface.area_normal(t).length())
                .sum();
            let count = surface.triangles.len();
            let shell = TetShell {
                surface,
                thickness: 0.01,
                layers,
            };
            let mesh = shell.build().unwrap();
            mesh.validate().unwrap();
            assert_eq!(mesh.tets.len(), 3 * count * layers as usize);
            let volume = mesh.volume() / f64::from(0.01 * area);
            assert!((volume - 1.0).abs() < 0.06, "{volume}");
            assert!(mesh.surface_mesh().check().is_closed());
        }
    }

    #[test]
    fn a_basin_is_a_box_without_its_hollow() {
        let basin = TetBasin {
            min: Vec3::new(-0.3, 0.0, -0.25),
            max: Vec3::new(0.3, 0.2, 0.25),
            wall: 0.06,
            cells: [6, 3, 5],
        };
        let mesh = basin.build().unwrap();
        mesh.validate().unwrap();
        assert_eq!(mesh.tets.len(), 804);
        let right = 0.72 * 0.26 * 0.62 - 0.6 * 0.2 * 0.5;
        assert!((mesh.volume() - right).abs() < 1e-5);
        assert!(mesh.surface_mesh().check().is_sound());
        let wrong = TetBasin { wall: 0.0, ..basin };
        assert!(wrong.build().is_err());
    }
}
