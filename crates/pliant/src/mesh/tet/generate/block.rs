//! A box of equal cells.

use glam::Vec3;

use crate::mesh::generate::Rules;
use crate::mesh::{ShapeError, TetMesh};

/// A box cut into cells of six tetrahedra each (Kuhn 1960): every cell along the
/// same diagonal, so that neighbours fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetBlock {
    /// Smallest corner in metres.
    pub min: Vec3,
    /// Largest corner in metres.
    pub max: Vec3,
    /// Cells along each axis.
    pub cells: [u32; 3],
}

impl Default for TetBlock {
    fn default() -> Self {
        TetBlock {
            min: Vec3::splat(-0.5),
            max: Vec3::splat(0.5),
            cells: [4; 3],
        }
    }
}

/// The ways from one corner of a cell to the opposite one along its edges: a
/// tetrahedron each. Odd orders are turned to keep the volume positive.
const WAYS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], false),
    ([1, 2, 0], false),
    ([2, 0, 1], false),
    ([0, 2, 1], true),
    ([2, 1, 0], true),
    ([1, 0, 2], true),
];

impl TetBlock {
    /// Makes the mesh.
    pub fn build(&self) -> Result<TetMesh, ShapeError> {
        let rules = Rules("block");
        rules.finite("min", self.min)?;
        rules.finite("max", self.max)?;
        for (axis, name) in ["cells x", "cells y", "cells z"].into_iter().enumerate() {
            rules.count(name, self.cells[axis], 1)?;
            rules.positive("size", (self.max - self.min)[axis])?;
        }
        let [nx, ny, nz] = self.cells;
        let tets = 6.0 * f64::from(nx) * f64::from(ny) * f64::from(nz);
        if tets > 1e8 {
            return Err(rules.fault("cells", format!("{:?}", self.cells), "fewer than 1.6e7"));
        }
        let step = (self.max - self.min) / Vec3::new(nx as f32, ny as f32, nz as f32);
        let number = |[i, j, k]: [u32; 3]| (k * (ny + 1) + j) * (nx + 1) + i;
        let mut mesh = TetMesh::default();
        for k in 0..=nz {
            for j in 0..=ny {
                for i in 0..=nx {
                    let at = Vec3::new(i as f32, j as f32, k as f32);
                    mesh.points.push(self.min + step * at);
                }
            }
        }
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    for (way, odd) in WAYS {
                        let mut at = [i, j, k];
                        let mut tet = [number(at); 4];
                        for (corner, axis) in tet[1..].iter_mut().zip(way) {
                            at[axis] += 1;
                            *corner = number(at);
                        }
                        if odd {
                            tet.swap(2, 3);
                        }
                        mesh.tets.push(tet);
                    }
                }
            }
        }
        Ok(mesh)
    }
}

/// A cube of `size` metres that stands on the origin with the numbers of points,
/// tetrahedra and edges of a cube of Lesmes 2013, within 5 %: table 5.1's, or the
/// small one of the integrator test.
pub fn cube_of_lesmes(size: f32, small: bool) -> TetMesh {
    let (cells, split) = if small {
        ([11, 10, 11], 60)
    } else {
        ([14, 13, 14], 0)
    };
    let block = TetBlock {
        min: Vec3::new(-0.5 * size, 0.0, -0.5 * size),
        max: Vec3::new(0.5 * size, size, 0.5 * size),
        cells,
    };
    let mut mesh = block.build().unwrap_or_default();
    // Cells alone have too few elements per point: some get a point in their middle.
    let every = mesh.tets.len() / (split + 1);
    for s in 1..=split {
        split_at_middle(&mut mesh, s * every);
    }
    mesh
}

/// Divides a tetrahedron into four around its middle.
fn split_at_middle(mesh: &mut TetMesh, t: usize) {
    let corners = mesh.corners(t);
    let middle = mesh.points.len() as u32;
    mesh.points.push(0.25 * corners.into_iter().sum::<Vec3>());
    let tet = mesh.tets[t];
    for i in 0..4 {
        let mut part = tet;
        part[i] = middle;
        if i == 0 {
            mesh.tets[t] = part;
        } else {
            mesh.tets.push(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_sound_and_fill_their_box() {
        let block = TetBlock {
            min: Vec3::new(1.0, 2.0, 3.0),
            max: Vec3::new(3.0, 3.0, 3.5),
            cells: [5, 3, 2],
        };
        let mesh = block.build().unwrap();
        mesh.validate().unwrap();
        assert!((mesh.volume() - 1.0).abs() < 1e-6);
        assert!(mesh.surface_mesh().check().is_sound());
        let wrong = TetBlock {
            cells: [0, 1, 1],
            ..block
        };
        assert!(
            wrong
                .build()
                .unwrap_err()
                .to_string()
                .contains("cells x is 0")
        );
    }

    /// Lesmes 2013, table 5.1 and section 6.1.
    #[test]
    fn cubes_have_the_counts_of_the_source() {
        for (small, counts) in [(false, [3041, 15484, 19706]), (true, [1602, 7647, 9997])] {
            let mesh = cube_of_lesmes(1.0, small);
            mesh.validate().unwrap();
            let ours = [mesh.points.len(), mesh.tets.len(), mesh.edges().len()];
            for (ours, theirs) in ours.into_iter().zip(counts) {
                let off = ours as f64 / f64::from(theirs) - 1.0;
                assert!(off.abs() < 0.05, "{ours} of {theirs}");
            }
        }
    }
}
