//! The tetrahedral mesh type.

use glam::{DVec3, Vec3};

use crate::math::Aabb;

/// Tetrahedra over shared points. The corners (a, b, c, d) of a tetrahedron are
/// ordered so that `(b - a) · ((c - a) x (d - a))` is positive.
///
/// ```
/// use pliant::Vec3;
/// use pliant::mesh::TetBlock;
/// let beam = TetBlock { min: Vec3::ZERO, max: Vec3::new(1.0, 0.1, 0.1), cells: [20, 2, 2] };
/// let mesh = beam.build()?;
/// assert_eq!(mesh.tets.len(), 20 * 2 * 2 * 6);
/// assert!((mesh.volume() - 0.01).abs() < 1e-6);
/// # Ok::<(), pliant::mesh::ShapeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Corner positions in metres.
    pub points: Vec<Vec3>,
    /// Four point indices per tetrahedron.
    pub tets: Vec<[u32; 4]>,
}

impl TetMesh {
    /// The corners of tetrahedron `t`.
    #[inline]
    pub fn corners(&self, t: usize) -> [Vec3; 4] {
        self.tets[t].map(|v| self.points[v as usize])
    }

    /// Signed volume of tetrahedron `t` in m³.
    pub fn volume_of(&self, t: usize) -> f64 {
        signed_volume(self.corners(t))
    }

    /// Volume of all tetrahedra in m³.
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.volume_of(t)).sum()
    }

    /// The smallest box around all points.
    pub fn aabb(&self) -> Aabb {
        Aabb::of(self.points.iter().copied())
    }

    /// Turns every tetrahedron whose volume is negative; returns how many.
    pub fn orient(&mut self) -> usize {
        let mut turned = 0;
        for t in 0..self.tets.len() {
            if self.volume_of(t) < 0.0 {
                self.tets[t].swap(2, 3);
                turned += 1;
            }
        }
        turned
    }

    /// Maps every point.
    pub fn map_points(mut self, map: impl Fn(Vec3) -> Vec3) -> TetMesh {
        for p in &mut self.points {
            *p = map(*p);
        }
        self
    }
}

/// Signed volume of a tetrahedron, in f64: thin elements lose all digits in f32.
pub(crate) fn signed_volume(corners: [Vec3; 4]) -> f64 {
    let [a, b, c, d] = corners.map(|p| p.as_dvec3());
    let (e1, e2, e3): (DVec3, DVec3, DVec3) = (b - a, c - a, d - a);
    e1.dot(e2.cross(e3)) / 6.0
}
