//! Linear tetrahedra: rest shapes and deformation gradients.

use glam::{DMat3, Mat3A, Vec3A};

use crate::mesh::TetMesh;

/// Rest shapes of all elements.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    /// Gradients of the shape functions of corners 1, 2 and 3 in 1/m; that of
    /// corner 0 is minus their sum.
    pub gradient: Vec<[Vec3A; 3]>,
    /// Rest volume in m³.
    pub volume: Vec<f32>,
}

impl Elements {
    pub fn new(mesh: &TetMesh) -> Elements {
        let gradient = (0..mesh.tets.len())
            .map(|t| {
                let [a, b, c, d] = mesh.corners(t).map(|p| p.as_dvec3());
                // The rows of the inverse of the edge matrix.
                let rows = DMat3::from_cols(b - a, c - a, d - a).inverse().transpose();
                [rows.x_axis, rows.y_axis, rows.z_axis].map(|r| r.as_vec3a())
            })
            .collect();
        Elements {
            gradient,
            volume: (0..mesh.tets.len())
                .map(|t| mesh.volume_of(t) as f32)
                .collect(),
        }
    }

    /// Gradients of the shape functions of all four corners of element `t`.
    #[inline]
    pub fn gradients(&self, t: usize) -> [Vec3A; 4] {
        let [b, c, d] = self.gradient[t];
        [-(b + c + d), b, c, d]
    }

    /// `F - I = Σ u_i ⊗ b_i`: from displacements, so that small strains keep their
    /// digits.
    #[inline]
    pub fn displacement_gradient(&self, t: usize, u: [Vec3A; 4]) -> Mat3A {
        let [b1, b2, b3] = self.gradient[t];
        outer(u[1] - u[0], b1) + outer(u[2] - u[0], b2) + outer(u[3] - u[0], b3)
    }
}

/// `a ⊗ b`, the matrix `a bᵀ`.
#[inline]
pub(super) fn outer(a: Vec3A, b: Vec3A) -> Mat3A {
    Mat3A::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The matrix of `w ×`.
#[inline]
pub(super) fn cross_matrix(w: Vec3A) -> Mat3A {
    Mat3A::from_cols(
        Vec3A::new(0.0, w.z, -w.y),
        Vec3A::new(-w.z, 0.0, w.x),
        Vec3A::new(w.y, -w.x, 0.0),
    )
}

/// The cofactor matrix, the gradient of the determinant.
#[inline]
pub(super) fn cofactor(f: Mat3A) -> Mat3A {
    let (x, y, z) = (f.x_axis, f.y_axis, f.z_axis);
    Mat3A::from_cols(y.cross(z), z.cross(x), x.cross(y))
}

/// Sum of the squares of all entries.
#[inline]
pub(super) fn norm_squared(m: Mat3A) -> f32 {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

/// Sum of the diagonal.
#[inline]
pub(super) fn trace(m: Mat3A) -> f32 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}
