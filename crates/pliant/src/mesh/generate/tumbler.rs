//! A plain drinking glass.

use super::skin::revolve;
use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// A glass with a straight wall that stands on y = 0 around the y axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tumbler {
    /// Height in metres. Default 0.12.
    pub height: f32,
    /// Outer radius at the foot, in metres. Default 0.033.
    pub foot_radius: f32,
    /// Outer radius at the rim, in metres. Default 0.04.
    pub rim_radius: f32,
    /// Thickness of the wall, measured level, in metres. Default 0.0025.
    pub wall: f32,
    /// Thickness of the base, in metres. Default 0.01.
    pub base: f32,
    /// Vertices around. Default 48.
    pub segments: u32,
    /// Pieces of the wall from foot to rim, inside and outside. Default 12.
    pub pieces: u32,
}

impl Default for Tumbler {
    fn default() -> Self {
        Tumbler {
            height: 0.12,
            foot_radius: 0.033,
            rim_radius: 0.04,
            wall: 0.0025,
            base: 0.01,
            segments: 48,
            pieces: 12,
        }
    }
}

impl Tumbler {
    /// A closed mesh of `4 * segments * (pieces + 1)` triangles that faces outwards:
    /// the glass itself, open to what is poured in.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("tumbler");
        for (name, value) in [
            ("height", self.height),
            ("foot_radius", self.foot_radius),
            ("rim_radius", self.rim_radius),
        ] {
            rules.positive(name, value)?;
        }
        let narrowest = self.foot_radius.min(self.rim_radius);
        rules.below("wall", self.wall, "the smallest radius", narrowest)?;
        rules.below("base", self.base, "height", self.height)?;
        rules.count("segments", self.segments, 3)?;
        rules.count("pieces", self.pieces, 1)?;
        Ok(revolve(&self.profile(), self.segments as usize))
    }

    /// (radius, height) from the middle of the foot over the rim to the middle of
    /// the inner floor.
    fn profile(&self) -> Vec<(f32, f32)> {
        let outer =
            |y: f32| self.foot_radius + (self.rim_radius - self.foot_radius) * y / self.height;
        let steps = |i: u32| i as f32 / self.pieces as f32;
        let mut profile = vec![(0.0, 0.0)];
        profile.extend((0..=self.pieces).map(|i| {
            let y = self.height * steps(i);
            (outer(y), y)
        }));
        profile.extend((0..=self.pieces).map(|i| {
            let y = self.height + (self.base - self.height) * steps(i);
            (outer(y) - self.wall, y)
        }));
        profile.push((0.0, self.base));
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::skin::revolved_volume;

    #[test]
    fn sound_with_the_expected_counts_and_volume() {
        let glass = Tumbler::default();
        let report = glass.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!(report.triangles, 4 * 48 * 13);
        let exact = revolved_volume(&glass.profile(), 48);
        assert!((report.volume / exact - 1.0).abs() < 1e-4);
        // Cone outside minus cone inside, round: within the polygon's 0.3 %.
        let cone =
            |r: f32, s: f32, h: f32| std::f32::consts::PI * h / 3.0 * (r * r + r * s + s * s);
        let inner_floor = 0.033 + 0.007 / 12.0 - 0.0025;
        let glassware = cone(0.033, 0.04, 0.12) - cone(inner_floor, 0.0375, 0.11);
        assert!((report.volume / glassware - 1.0).abs() < 0.005);
    }

    #[test]
    fn impossible_tumblers() {
        let thick = Tumbler {
            wall: 0.04,
            ..Tumbler::default()
        };
        assert_eq!(
            thick.build().unwrap_err().to_string(),
            "tumbler: wall is 0.04, but must be below the smallest radius, 0.033"
        );
        let flat = Tumbler {
            base: 0.2,
            ..Tumbler::default()
        };
        assert!(flat.build().is_err());
    }
}
