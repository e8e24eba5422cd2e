//! A ball.

use glam::Vec3;

use crate::math::Aabb;
use crate::mesh::generate::Rules;
use crate::mesh::tet::stuffing::by_count;
use crate::mesh::{ShapeError, TetMesh};

/// A ball of about equal elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetBall {
    /// Centre in metres.
    pub center: Vec3,
    /// Radius in metres.
    pub radius: f32,
    /// About this number of tetrahedra.
    pub tets: u32,
}

impl Default for TetBall {
    fn default() -> Self {
        TetBall {
            center: Vec3::ZERO,
            radius: 0.5,
            tets: 1000,
        }
    }
}

impl TetBall {
    /// Makes the mesh.
    pub fn build(&self) -> Result<TetMesh, ShapeError> {
        let rules = Rules("ball");
        rules.finite("center", self.center)?;
        rules.positive("radius", self.radius)?;
        let (center, radius) = (self.center, self.radius);
        let bounds = Aabb {
            min: center - radius,
            max: center + radius,
        };
        let volume = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
        let depth = |p: Vec3| radius - p.distance(center);
        by_count(&bounds, volume, self.tets as usize, depth)
            .map(|found| found.mesh)
            .map_err(|e| rules.fault("tets", self.tets, format!("possible: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balls_are_sound_round_and_of_the_asked_size() {
        for tets in [200, 3_000] {
            let ball = TetBall {
                center: Vec3::new(1.0, -2.0, 0.5),
                radius: 0.2,
                tets,
            };
            let mesh = ball.build().unwrap();
            mesh.validate().unwrap();
            let off = mesh.tets.len() as f64 / f64::from(tets);
            assert!((0.9..1.1).contains(&off), "{} of {tets}", mesh.tets.len());
            for &v in mesh.surface().iter().flatten() {
                let r = mesh.points[v as usize].distance(ball.center);
                assert!((r / ball.radius - 1.0).abs() < 0.02, "{r}");
            }
        }
    }
}
