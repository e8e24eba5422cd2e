//! A wine glass.

use std::f32::consts::FRAC_PI_2;

use super::skin::revolve;
use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// A wine glass with foot, stem and an egg-shaped bowl that stands on y = 0 around
/// the y axis.
#[derive(Clone, Debug, PartialEq)]
pub struct WineGlass {
    /// Height in metres. Default 0.2.
    pub height: f32,
    /// Radius of the foot, in metres. Default 0.036.
    pub foot_radius: f32,
    /// Thickness of the foot at its edge, in metres. Default 0.003.
    pub foot_edge: f32,
    /// Radius of the stem, in metres. Default 0.004.
    pub stem_radius: f32,
    /// Height of the bowl's lowest point on the outside, in metres. Default 0.09.
    pub bowl_bottom: f32,
    /// Largest outer radius of the bowl, in metres. Default 0.041.
    pub bowl_radius: f32,
    /// Outer radius at the rim, in metres. Default 0.032.
    pub rim_radius: f32,
    /// Thickness of the bowl's wall, in metres. Default 0.0015.
    pub wall: f32,
    /// Vertices around. Default 64.
    pub segments: u32,
    /// Pieces of the bowl from bottom to rim, inside and outside; the foot and stem
    /// get half as many each. Default 32.
    pub pieces: u32,
}

impl Default for WineGlass {
    fn default() -> Self {
        WineGlass {
            height: 0.2,
            foot_radius: 0.036,
            foot_edge: 0.003,
            stem_radius: 0.004,
            bowl_bottom: 0.09,
            bowl_radius: 0.041,
            rim_radius: 0.032,
            wall: 0.0015,
            segments: 64,
            pieces: 32,
        }
    }
}

impl WineGlass {
    /// A closed mesh that faces outwards: the glass itself, open to what is poured
    /// into the bowl.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("wine glass");
        rules.positive("height", self.height)?;
        rules.below("bowl_bottom", self.bowl_bottom, "height", self.height)?;
        rules.below(
            "foot_edge",
            self.foot_edge,
            "half of bowl_bottom",
            0.5 * self.bowl_bottom,
        )?;
        rules.positive("foot_radius", self.foot_radius)?;
        rules.positive("bowl_radius", self.bowl_radius)?;
        rules.below(
            "rim_radius",
            self.rim_radius,
            "bowl_radius",
            self.bowl_radius,
        )?;
        let slim = 0.4 * self.foot_radius.min(self.bowl_radius);
        rules.below(
            "stem_radius",
            self.stem_radius,
            "0.4 foot and bowl radii",
            slim,
        )?;
        let thin = 0.5 * self.rim_radius.min(self.height - self.bowl_bottom);
        rules.below(
            "wall",
            self.wall,
            "half of rim_radius and bowl height",
            thin,
        )?;
        rules.count("segments", self.segments, 3)?;
        rules.count("pieces", self.pieces, 4)?;
        Ok(revolve(&self.profile(), self.segments as usize))
    }

    /// The inside of the bowl: its lowest point, and its largest radius, in metres.
    pub fn bowl(&self) -> (f32, f32) {
        (self.bowl_bottom + self.wall, self.bowl_radius - self.wall)
    }

    /// (radius, height) from the middle of the foot over the rim to the inner bottom
    /// of the bowl.
    fn profile(&self) -> Vec<(f32, f32)> {
        let few = (self.pieces / 2).max(2);
        let mut profile = vec![(0.0, 0.0)];

        // Foot: a rounded edge, then a hollow curve up into the stem.
        let edge = 0.5 * self.foot_edge;
        for i in 0..=4 {
            let (sin, cos) = (FRAC_PI_2 * (0.5 * i as f32 - 1.0)).sin_cos();
            profile.push((self.foot_radius - edge + edge * cos, edge + edge * sin));
        }
        // The bowl is an ellipse: `squat` its half height, cut off at the rim.
        let rim_from_top = (self.rim_radius / self.bowl_radius).asin();
        let bowl_height = self.height - self.bowl_bottom;
        let squat = bowl_height / (1.0 + rim_from_top.cos());
        let middle = self.bowl_bottom + squat;
        let joint_radius = 2.0 * self.stem_radius;
        let joint_angle = (joint_radius / self.bowl_radius).asin();
        let joint_height = middle - squat * joint_angle.cos();

        let foot_top = self.foot_edge;
        let stem_start = foot_top + 0.25 * (joint_height - foot_top);
        let foot_inner = self.foot_radius - edge;
        for i in 1..=few {
            let t = i as f32 / few as f32;
            let r = self.stem_radius + (foot_inner - self.stem_radius) * (1.0 - t).powi(4);
            profile.push((r, foot_top + (stem_start - foot_top) * t * t));
        }
        // Stem, widening into the bowl.
        for i in 1..=few {
            let t = i as f32 / few as f32;
            let r = self.stem_radius + (joint_radius - self.stem_radius) * t.powi(5);
            profile.push((r, stem_start + (joint_height - stem_start) * t));
        }

        // Bowl outside, rim, bowl inside; angles count from the bottom.
        let rim_angle = 2.0 * FRAC_PI_2 - rim_from_top;
        for i in 1..=self.pieces {
            let a = joint_angle + (rim_angle - joint_angle) * i as f32 / self.pieces as f32;
            profile.push((self.bowl_radius * a.sin(), middle - squat * a.cos()));
        }
        let (inner_squat, inner_radius) = (squat - self.wall, self.bowl_radius - self.wall);
        let rim_cos = (squat * rim_angle.cos() / inner_squat).max(-0.999);
        let inner_rim_angle = rim_cos.acos();
        let inner_rim = inner_radius * inner_rim_angle.sin();
        // The rim is round.
        profile.push((
            0.5 * (self.rim_radius + inner_rim),
            self.height + 0.4 * self.wall,
        ));
        for i in (1..=self.pieces).rev() {
            let a = inner_rim_angle * i as f32 / self.pieces as f32;
            profile.push((inner_radius * a.sin(), middle - inner_squat * a.cos()));
        }
        profile.push((0.0, middle - inner_squat));
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::skin::revolved_volume;

    #[test]
    fn sound_with_the_expected_size_and_volume() {
        let glass = WineGlass::default();
        let mesh = glass.build().unwrap();
        let report = mesh.check();
        assert!(report.is_sound(), "{report}");
        let rings = glass.profile().len() - 2;
        assert_eq!(report.triangles, 2 * 64 * rings);
        let exact = revolved_volume(&glass.profile(), 64);
        assert!((report.volume / exact - 1.0).abs() < 1e-4);
        assert!((report.aabb.size().y - 0.2).abs() < 0.001);
        assert!((report.aabb.max.x - 0.041).abs() < 0.0005);
        // A real one weighs 100 to 200 g, at 2,500 kg/m³.
        let mass = 2500.0 * report.volume;
        assert!((0.05..0.25).contains(&mass), "{mass}");
    }

    #[test]
    fn wall_has_its_thickness_and_the_profile_never_doubles_back() {
        let glass = WineGlass::default();
        let (bottom, radius) = glass.bowl();
        assert!((bottom - 0.0915).abs() < 1e-6 && (radius - 0.0395).abs() < 1e-6);
        let profile = glass.profile();
        let inside = &profile[profile.len() - 32..];
        let outside = &profile[profile.len() - 33 - 32..profile.len() - 33];
        for &(r, y) in inside {
            let near = outside.windows(2).map(|w| {
                let [a, b] = [w[0], w[1]].map(|(r, y)| glam::Vec2::new(r, y));
                let p = glam::Vec2::new(r, y);
                let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
                p.distance(a + t * (b - a))
            });
            let distance = near.fold(f32::INFINITY, f32::min);
            // The lowest points are over the stem, where there is more glass.
            if r > 0.012 && y < 0.199 {
                assert!(
                    (distance / glass.wall - 1.0).abs() < 0.25,
                    "{distance} at {r}, {y}"
                );
            }
        }
    }

    #[test]
    fn impossible_glasses() {
        let wide_rim = WineGlass {
            rim_radius: 0.05,
            ..WineGlass::default()
        };
        assert!(wide_rim.build().is_err());
        let thick = WineGlass {
            stem_radius: 0.03,
            ..WineGlass::default()
        };
        assert!(thick.build().is_err());
    }
}
