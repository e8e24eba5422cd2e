//! A landscape as heights over a grid.

use glam::Vec3;

use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// Heights over the corners of a square grid in the x-z plane. Each square is two
/// triangles, cut from its smallest to its largest corner, the same in
/// [`HeightGrid::height`] and in the mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightGrid {
    /// Corners along x, at least 2.
    pub nx: usize,
    /// Corners along z, at least 2.
    pub nz: usize,
    /// Distance between corners, in metres.
    pub spacing: f32,
    /// The corner with the smallest x and z; heights count from its y. In metres.
    pub origin: Vec3,
    /// Heights in metres, x running fastest.
    pub heights: Vec<f32>,
}

impl HeightGrid {
    /// A grid with the heights that `height` gives for the x and z of each corner,
    /// counted from the origin's y.
    pub fn from_fn(
        nx: usize,
        nz: usize,
        spacing: f32,
        origin: Vec3,
        mut height: impl FnMut(f32, f32) -> f32,
    ) -> Result<HeightGrid, ShapeError> {
        let rules = Rules("height grid");
        rules.count("nx", u32::try_from(nx).unwrap_or(u32::MAX), 2)?;
        rules.count("nz", u32::try_from(nz).unwrap_or(u32::MAX), 2)?;
        rules.positive("spacing", spacing)?;
        rules.finite("origin", origin)?;
        let mut heights = Vec::with_capacity(nx * nz);
        for k in 0..nz {
            for i in 0..nx {
                let x = origin.x + spacing * i as f32;
                let z = origin.z + spacing * k as f32;
                heights.push(height(x, z));
            }
        }
        Ok(HeightGrid {
            nx,
            nz,
            spacing,
            origin,
            heights,
        })
    }

    /// The y of the ground at `x`, `z`, in metres; beyond the border, that of the
    /// nearest place on it.
    pub fn height(&self, x: f32, z: f32) -> f32 {
        let (i, k, u, w) = self.cell(x, z);
        let (along_x, along_z) = self.slopes(i, k, u, w);
        self.origin.y + self.heights[k * self.nx + i] + u * along_x + w * along_z
    }

    /// The unit normal of the ground's triangle at `x`, `z`, pointing up.
    pub fn normal(&self, x: f32, z: f32) -> Vec3 {
        let (i, k, u, w) = self.cell(x, z);
        let (along_x, along_z) = self.slopes(i, k, u, w);
        Vec3::new(-along_x, self.spacing, -along_z).normalize()
    }

    /// The square under `x`, `z` and the fractions towards its next corners.
    fn cell(&self, x: f32, z: f32) -> (usize, usize, f32, f32) {
        let place = |at: f32, from: f32, n: usize| {
            let cells = ((at - from) / self.spacing).clamp(0.0, (n - 1) as f32);
            let i = (cells as usize).min(n - 2);
            (i, cells - i as f32)
        };
        let (i, u) = place(x, self.origin.x, self.nx);
        let (k, w) = place(z, self.origin.z, self.nz);
        (i, k, u, w)
    }

    /// How much the triangle of a square rises over one cell along x and z.
    fn slopes(&self, i: usize, k: usize, u: f32, w: f32) -> (f32, f32) {
        let at = |di: usize, dk: usize| self.heights[(k + dk) * self.nx + i + di];
        if u > w {
            (at(1, 0) - at(0, 0), at(1, 1) - at(1, 0))
        } else {
            (at(1, 1) - at(0, 1), at(0, 1) - at(0, 0))
        }
    }

    /// An open mesh of `2 (nx - 1) (nz - 1)` triangles that faces up.
    pub fn to_mesh(&self) -> TriMesh {
        let at = |i: usize, k: usize| (k * self.nx + i) as u32;
        let mut mesh = TriMesh::default();
        for k in 0..self.nz {
            for i in 0..self.nx {
                let rise = Vec3::new(
                    self.spacing * i as f32,
                    self.heights[k * self.nx + i],
                    self.spacing * k as f32,
                );
                mesh.vertices.push(self.origin + rise);
            }
        }
        for k in 1..self.nz {
            for i in 1..self.nx {
                let [a, b] = [at(i - 1, k - 1), at(i, k - 1)];
                let [c, d] = [at(i, k), at(i - 1, k)];
                mesh.triangles.extend([[a, c, b], [a, d, c]]);
            }
        }
        mesh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> HeightGrid {
        let origin = Vec3::new(-1.0, 2.0, 3.0);
        HeightGrid::from_fn(5, 4, 0.5, origin, |x, z| 0.3 * x * z - 0.1 * z * z).unwrap()
    }

    #[test]
    fn height_lies_on_the_mesh() {
        let grid = grid();
        let mesh = grid.to_mesh();
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            let normal = mesh.area_normal(t).normalize();
            for (u, v) in [(0.3, 0.3), (0.1, 0.8), (0.6, 0.2)] {
                let p = a + u * (b - a) + v * (c - a);
                assert!((grid.height(p.x, p.z) - p.y).abs() < 1e-5);
                assert!(grid.normal(p.x, p.z).distance(normal) < 1e-5);
            }
        }
        for v in &mesh.vertices {
            assert!((grid.height(v.x, v.z) - v.y).abs() < 1e-6);
        }
    }

    #[test]
    fn beyond_the_border_the_ground_goes_on_level() {
        let grid = grid();
        assert_eq!(grid.height(-9.0, 3.5), grid.height(-1.0, 3.5));
        assert_eq!(grid.height(9.0, 99.0), grid.height(1.0, 4.5));
    }

    #[test]
    fn mesh_faces_up_and_has_one_border() {
        let mesh = grid().to_mesh();
        let report = mesh.check();
        assert_eq!((report.vertices, report.triangles), (20, 24));
        assert_eq!(report.border_edges, 2 * (4 + 3));
        assert!(report.is_oriented() && report.degenerate_triangles == 0);
        assert!((0..24).all(|t| mesh.area_normal(t).y > 0.0));
    }

    #[test]
    fn impossible_grids() {
        assert!(HeightGrid::from_fn(1, 4, 1.0, Vec3::ZERO, |_, _| 0.0).is_err());
        assert!(HeightGrid::from_fn(4, 4, 0.0, Vec3::ZERO, |_, _| 0.0).is_err());
        assert!(HeightGrid::from_fn(usize::MAX, 4, 1.0, Vec3::ZERO, |_, _| 0.0).is_err());
    }
}
