//! A part of space.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::math::Aabb;

/// A part of space, for fields, fills and sinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Region {
    /// All of space.
    #[default]
    Everywhere,
    /// An axis-aligned box.
    Box {
        /// Smallest corner in metres.
        #[schemars(with = "[f32; 3]")]
        min: Vec3,
        /// Largest corner in metres.
        #[schemars(with = "[f32; 3]")]
        max: Vec3,
    },
    /// A ball.
    Sphere {
        /// Centre in metres.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Radius in metres.
        radius: f32,
    },
    /// A round bar.
    Cylinder {
        /// Middle of one end, in metres.
        #[schemars(with = "[f32; 3]")]
        from: Vec3,
        /// Middle of the other end.
        #[schemars(with = "[f32; 3]")]
        to: Vec3,
        /// Radius in metres.
        radius: f32,
    },
}

impl Region {
    /// True if `p` lies in it.
    #[inline]
    pub fn contains(&self, p: Vec3) -> bool {
        match *self {
            Region::Everywhere => true,
            Region::Box { min, max } => Aabb { min, max }.contains(p),
            Region::Sphere { center, radius } => (p - center).length_squared() <= radius * radius,
            Region::Cylinder { from, to, radius } => {
                let along = (p - from).dot(to - from) / (to - from).length_squared();
                let axis = from + along * (to - from);
                (0.0..=1.0).contains(&along) && p.distance_squared(axis) <= radius * radius
            }
        }
    }

    /// The smallest box around it; `None` for all of space.
    pub fn bounds(&self) -> Option<Aabb> {
        match *self {
            Region::Everywhere => None,
            Region::Box { min, max } => Some(Aabb { min, max }),
            Region::Sphere { center, radius } => Some(Aabb {
                min: center - radius,
                max: center + radius,
            }),
            Region::Cylinder { from, to, radius } => Some(Aabb {
                min: from.min(to) - radius,
                max: from.max(to) + radius,
            }),
        }
    }

    /// The region with its border moved inwards by `margin` metres.
    pub fn shrunk(&self, margin: f32) -> Region {
        match *self {
            Region::Everywhere => Region::Everywhere,
            Region::Box { min, max } => Region::Box {
                min: min + margin,
                max: max - margin,
            },
            Region::Sphere { center, radius } => Region::Sphere {
                center,
                radius: (radius - margin).max(0.0),
            },
            Region::Cylinder { from, to, radius } => {
                let inwards = (to - from).normalize_or_zero() * margin;
                Region::Cylinder {
                    from: from + inwards,
                    to: to - inwards,
                    radius: (radius - margin).max(0.0),
                }
            }
        }
    }

    /// What is wrong with it, if anything.
    pub fn nonsense(&self) -> Option<String> {
        match *self {
            Region::Box { min, max } if !(max - min).cmpgt(Vec3::ZERO).all() => Some(format!(
                "box from {min} to {max}: every number of `max` must be above that of `min`"
            )),
            Region::Cylinder { from, to, .. }
                if from.distance_squared(to).is_nan() || from == to =>
            {
                Some(format!(
                    "cylinder from {from} to {to}: its ends must differ"
                ))
            }
            Region::Sphere { radius, .. } | Region::Cylinder { radius, .. }
                if !(radius.is_finite() && radius > 0.0) =>
            {
                Some(format!("radius {radius} must be above 0"))
            }
            _ => None,
        }
    }
}
