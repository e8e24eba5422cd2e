//! A human head with a face.

use glam::Vec3;

use super::{EvenSphere, Rules, ShapeError};
use crate::mesh::TriMesh;

/// A head that looks along z: skull, chin, nose, brows, eye sockets, lips and ears, as
/// hills and hollows of a sphere.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Height in metres. Default 0.24.
    pub height: f32,
    /// Number of vertices. Default 4721, as in Mesit 2010.
    pub points: u32,
}

impl Default for Head {
    fn default() -> Self {
        Head {
            height: 0.24,
            points: 4721,
        }
    }
}

/// A hill (or hollow) of the face: where it is, how wide along x and y, and how high, all
/// in units of the sphere's radius. Those off the middle exist on both sides.
const FEATURES: [([f32; 2], [f32; 2], f32); 12] = [
    // Nose: bridge, tip, wings.
    ([0.0, 0.12], [0.10, 0.22], 0.10),
    ([0.0, -0.06], [0.12, 0.11], 0.22),
    ([0.10, -0.11], [0.07, 0.06], 0.07),
    // Eye sockets, eyeballs, brows.
    ([0.33, 0.13], [0.17, 0.11], -0.13),
    ([0.33, 0.13], [0.10, 0.07], 0.08),
    ([0.32, 0.30], [0.24, 0.07], 0.06),
    // Cheek bones.
    ([0.48, -0.08], [0.18, 0.14], 0.06),
    // Lips and the line between them.
    ([0.0, -0.33], [0.24, 0.05], 0.07),
    ([0.0, -0.44], [0.21, 0.06], 0.08),
    ([0.0, -0.385], [0.25, 0.025], -0.06),
    // Below the lips, and the chin.
    ([0.0, -0.56], [0.20, 0.06], -0.05),
    ([0.0, -0.70], [0.17, 0.12], 0.10),
];

impl Head {
    /// A closed mesh that faces outwards.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        Rules("head").positive("height", self.height)?;
        let ball = EvenSphere {
            center: Vec3::ZERO,
            radius: 1.0,
            points: self.points,
        };
        let mut mesh = ball.build()?;
        for v in &mut mesh.vertices {
            let p = *v;
            // Narrow below the cheeks, long, and the jaw forward.
            let jaw = (-p.y).max(0.0);
            let mut q = Vec3::new(
                p.x * (0.78 - 0.30 * jaw * jaw),
                p.y,
                p.z * (0.92 - 0.22 * jaw) + 0.12 * jaw,
            );
            if p.z > 0.0 {
                let front = (2.0 * p.z).min(1.0);
                for ([x, y], [width, height], size) in FEATURES {
                    let across = (p.x.abs() - x) / width;
                    let along = (p.y - y) / height;
                    q.z += front * size * (-across * across - along * along).exp();
                }
            }
            // Ears.
            let (y, z) = ((p.y - 0.02) / 0.17, (p.z + 0.05) / 0.10);
            q.x += 0.14 * p.x.signum() * (-y * y - z * z).exp() * p.x.abs();
            *v = 0.5 * self.height * q;
        }
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_sound_and_has_the_points_asked_for() {
        let mesh = Head::default().build().unwrap();
        let report = mesh.check();
        assert!(report.is_sound(), "{report}");
        assert_eq!(report.vertices, 4721);
        assert!((report.aabb.size().y - 0.24).abs() < 0.01);
    }
}
