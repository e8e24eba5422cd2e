//! A sphere of meridians and parallels.

use std::f32::consts::PI;

use glam::Vec3;

use super::skin::{End, angle, skin};
use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// A sphere of rings of vertices between two poles on the y axis.
#[derive(Clone, Debug, PartialEq)]
pub struct UvSphere {
    /// Middle, in metres. Default the origin.
    pub center: Vec3,
    /// Radius of the vertices, in metres. Default 0.5.
    pub radius: f32,
    /// Vertices per ring. Default 64.
    pub segments: u32,
    /// Rings between the poles. Default 31.
    pub rings: u32,
}

impl Default for UvSphere {
    fn default() -> Self {
        UvSphere {
            center: Vec3::ZERO,
            radius: 0.5,
            segments: 64,
            rings: 31,
        }
    }
}

impl UvSphere {
    /// A closed mesh of `segments * rings + 2` vertices and `2 * segments * rings`
    /// triangles that faces outwards.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("sphere");
        rules.finite("center", self.center)?;
        rules.positive("radius", self.radius)?;
        rules.count("segments", self.segments, 3)?;
        rules.count("rings", self.rings, 1)?;
        let segments = self.segments as usize;
        let mut points = Vec::with_capacity(segments * self.rings as usize);
        for ring in 1..=self.rings {
            let (sin_from_pole, cos_from_pole) =
                (PI * ring as f32 / (self.rings + 1) as f32).sin_cos();
            for j in 0..segments {
                let (sin, cos) = angle(j, segments).sin_cos();
                let direction = Vec3::new(sin_from_pole * sin, -cos_from_pole, sin_from_pole * cos);
                points.push(self.center + self.radius * direction);
            }
        }
        let pole = self.radius * Vec3::Y;
        Ok(skin(
            points,
            segments,
            End::Apex(self.center - pole),
            End::Apex(self.center + pole),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_has_the_known_counts_and_volume() {
        let sphere = UvSphere {
            center: Vec3::new(1.0, 2.0, 3.0),
            ..UvSphere::default()
        };
        let mesh = sphere.build().unwrap();
        let report = mesh.check();
        assert!(report.is_sound(), "{report}");
        assert_eq!((report.vertices, report.triangles), (1_986, 3_968));
        // An inscribed sphere misses a part of order (angle step)²: here 0.4 %.
        let exact = 4.0 / 3.0 * PI * 0.125;
        assert!(report.volume < exact && report.volume > 0.995 * exact);
        for v in &mesh.vertices {
            assert!((v.distance(sphere.center) - 0.5).abs() < 1e-6);
        }
    }

    #[test]
    fn smallest_and_impossible() {
        let mut sphere = UvSphere {
            segments: 3,
            rings: 1,
            ..UvSphere::default()
        };
        let report = sphere.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        sphere.radius = -1.0;
        assert_eq!(
            sphere.build().unwrap_err().to_string(),
            "sphere: radius is -1, but must be a finite number above 0"
        );
        sphere.radius = 1.0;
        sphere.segments = u32::MAX;
        assert!(sphere.build().is_err());
    }
}
