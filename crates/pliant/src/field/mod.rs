//! What acts on matter from outside: each field accelerates the points of any
//! matter inside its region.

mod region;

pub use region::Region;

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that accelerates points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Where it acts.
    pub region: Region,
    /// What it does.
    pub action: Action,
}

/// What a field does to a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// The same acceleration everywhere, in m/s².
    Uniform(#[schemars(with = "[f32; 3]")] Vec3),
    /// Pulls towards a wind of this velocity (m/s) at `rate` (1/s).
    Wind {
        /// Velocity of the wind in m/s.
        #[schemars(with = "[f32; 3]")]
        velocity: Vec3,
        /// How fast matter takes it up, in 1/s.
        rate: f32,
    },
    /// Pulls towards a point with this acceleration (m/s², negative pushes away).
    Attract {
        /// The point.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Acceleration in m/s².
        acceleration: f32,
    },
}

impl Field {
    /// Acceleration of a point at `position` moving with `velocity`, in m/s².
    #[inline]
    pub fn acceleration(&self, position: Vec3, velocity: Vec3) -> Vec3 {
        if !self.region.contains(position) {
            return Vec3::ZERO;
        }
        match self.action {
            Action::Uniform(a) => a,
            Action::Wind {
                velocity: wind,
                rate,
            } => rate * (wind - velocity),
            Action::Attract {
                center,
                acceleration,
            } => acceleration * (center - position).normalize_or_zero(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_act_only_in_their_region() {
        let field = Field {
            region: Region::Sphere {
                center: Vec3::ZERO,
                radius: 1.0,
            },
            action: Action::Wind {
                velocity: Vec3::X,
                rate: 2.0,
            },
        };
        assert_eq!(field.acceleration(Vec3::ZERO, Vec3::ZERO), 2.0 * Vec3::X);
        assert_eq!(field.acceleration(Vec3::ZERO, Vec3::X), Vec3::ZERO);
        assert_eq!(field.acceleration(2.0 * Vec3::Y, Vec3::ZERO), Vec3::ZERO);
        let pull = Field {
            region: Region::Everywhere,
            action: Action::Attract {
                center: Vec3::Y,
                acceleration: 3.0,
            },
        };
        assert_eq!(pull.acceleration(Vec3::ZERO, Vec3::ZERO), 3.0 * Vec3::Y);
        assert_eq!(pull.acceleration(Vec3::Y, Vec3::ZERO), Vec3::ZERO);
    }
}
