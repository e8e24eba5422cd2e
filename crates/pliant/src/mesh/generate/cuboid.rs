//! A box.

use std::collections::HashMap;

use glam::{UVec3, Vec3};

use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// A box with its faces cut into squares of two triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Cuboid {
    /// Smallest corner in metres. Default (-0.5, -0.5, -0.5).
    pub min: Vec3,
    /// Largest corner in metres. Default (0.5, 0.5, 0.5).
    pub max: Vec3,
    /// Squares along x, y and z. Default 1 each.
    pub cells: [u32; 3],
}

impl Default for Cuboid {
    fn default() -> Self {
        Cuboid::new(Vec3::splat(-0.5), Vec3::splat(0.5))
    }
}

impl Cuboid {
    /// A box with one square per face.
    pub fn new(min: Vec3, max: Vec3) -> Cuboid {
        Cuboid {
            min,
            max,
            cells: [1; 3],
        }
    }

    /// A closed mesh of `4 (nx ny + ny nz + nz nx)` triangles that faces outwards.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("box");
        rules.finite("min", self.min)?;
        rules.finite("max", self.max)?;
        if !self.min.cmplt(self.max).all() {
            return Err(rules.fault("max", self.max, format!("above min, {}", self.min)));
        }
        for n in self.cells {
            rules.count("cells", n, 1)?;
        }
        let cells = UVec3::from_array(self.cells);
        let mut mesh = TriMesh::default();
        // Corners of the grid are shared between faces.
        let mut numbers: HashMap<UVec3, u32> = HashMap::new();
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for side in [0, cells[axis]] {
                for (i, j) in (0..cells[u]).flat_map(|i| (0..cells[v]).map(move |j| (i, j))) {
                    let mut quad = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(di, dj)| {
                        let mut corner = UVec3::ZERO;
                        corner[axis] = side;
                        corner[u] = i + di;
                        corner[v] = j + dj;
                        *numbers.entry(corner).or_insert_with(|| {
                            let fraction = corner.as_vec3() / cells.as_vec3();
                            mesh.vertices
                                .push(self.min + (self.max - self.min) * fraction);
                            mesh.vertices.len() as u32 - 1
                        })
                    });
                    if side == 0 {
                        quad.reverse();
                    }
                    let [a, b, c, d] = quad;
                    mesh.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_box() {
        let cuboid = Cuboid::new(Vec3::new(-1.0, 2.0, 0.0), Vec3::new(1.0, 5.0, 4.0));
        let report = cuboid.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!((report.vertices, report.triangles), (8, 12));
        assert_eq!((report.volume, report.area), (24.0, 52.0));
        assert_eq!((report.aabb.min, report.aabb.max), (cuboid.min, cuboid.max));
    }

    #[test]
    fn cut_box() {
        let cuboid = Cuboid {
            cells: [2, 3, 4],
            ..Cuboid::default()
        };
        let report = cuboid.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!(report.triangles, 4 * (6 + 12 + 8));
        // All grid corners but those inside.
        assert_eq!(report.vertices, 3 * 4 * 5 - 2 * 3);
        assert!((report.volume - 1.0).abs() < 1e-6);
    }

    #[test]
    fn impossible_boxes() {
        let flat = Cuboid::new(Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0));
        assert_eq!(
            flat.build().unwrap_err().to_string(),
            "box: max is [1, 0, 1], but must be above min, [0, 0, 0]"
        );
        assert!(Cuboid::new(Vec3::ZERO, Vec3::NAN).build().is_err());
        let none = Cuboid {
            cells: [1, 0, 1],
            ..Cuboid::default()
        };
        assert!(none.build().is_err());
    }
}
