//! A blade that is drawn through bodies at a set time.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::solid::Blade;

/// A straight edge that goes from one place to another within a time and cuts every
/// deformable body of finite elements on its way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stroke {
    /// The two ends of the edge at the start, in metres.
    #[schemars(with = "[[f32; 3]; 2]")]
    pub from: [Vec3; 2],
    /// The two ends at the stop.
    #[schemars(with = "[[f32; 3]; 2]")]
    pub to: [Vec3; 2],
    /// When it begins, in seconds.
    pub start: f64,
    /// When it has arrived, in seconds.
    pub stop: f64,
}

impl Stroke {
    /// What it does between two times, if anything.
    pub fn between(&self, from: f64, to: f64) -> Option<Blade> {
        let share = |t: f64| ((t - self.start) / (self.stop - self.start)).clamp(0.0, 1.0) as f32;
        let (a, b) = (share(from), share(to));
        let edge = |s: f32| [0, 1].map(|k| self.from[k].lerp(self.to[k], s));
        (a < b).then(|| Blade {
            from: edge(a),
            to: edge(b),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_follow_each_other_without_gaps() {
        let stroke = Stroke {
            from: [Vec3::ZERO, Vec3::X],
            to: [Vec3::Y, Vec3::X + 2.0 * Vec3::Y],
            start: 1.0,
            stop: 3.0,
        };
        assert_eq!(stroke.between(0.0, 1.0), None);
        assert_eq!(stroke.between(3.0, 3.5), None);
        let first = stroke.between(0.5, 2.0).unwrap();
        let second = stroke.between(2.0, 4.0).unwrap();
        assert_eq!((first.from, second.to), (stroke.from, stroke.to));
        assert_eq!(first.to, second.from);
        assert_eq!(first.to[1], Vec3::new(1.0, 1.0, 0.0));
    }
}
