//! Shapes from a few numbers. Each is a struct of parameters with defaults and a
//! `build`, which refuses parameters that cannot give a shape.
//!
//! - Bodies: [`Cuboid`], [`UvSphere`], [`IcoSphere`], [`EvenSphere`], [`Tube`], [`Colon`],
//!   [`WineGlass`], [`Tumbler`], [`Head`],
//!   [`LungShape`], [`Ribs`]; all closed and facing outwards.
//! - Open: [`Cup`].
//! - Landscape: [`RiverBed`], through a [`HeightGrid`].
//! - Underneath: `skin.rs` (triangles over rings), `curve.rs` (splines and frames),
//!   `noise.rs` (repeatable randomness).

mod colon;
mod colon_anatomy;
mod cuboid;
mod cup;
mod curve;
mod even_sphere;
mod head;
mod height_grid;
mod ico_sphere;
pub(in crate::mesh) mod noise;
mod river_bed;
mod skin;
mod thorax;
mod tube;
mod tumbler;
mod uv_sphere;
mod wine_glass;

pub use colon::{Colon, ColonPath};
pub use colon_anatomy::ColonControl;
pub use cuboid::Cuboid;
pub use cup::Cup;
pub use even_sphere::EvenSphere;
pub use head::Head;
pub use height_grid::HeightGrid;
pub use ico_sphere::IcoSphere;
pub use river_bed::RiverBed;
pub use thorax::{LungShape, Ribs};
pub use tube::Tube;
pub use tumbler::Tumbler;
pub use uv_sphere::UvSphere;
pub use wine_glass::WineGlass;

/// A parameter that cannot give a shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{shape}: {parameter} is {value}, but must be {rule}")]
pub struct ShapeError {
    /// The shape asked for.
    pub shape: &'static str,
    /// The parameter's name.
    pub parameter: &'static str,
    /// Its value.
    pub value: String,
    /// What would be right.
    pub rule: String,
}

/// Checks the parameters of one shape.
pub(in crate::mesh) struct Rules(pub &'static str);

impl Rules {
    /// Counts beyond this make meshes that no index type or memory holds.
    const MOST: u32 = 10_000;

    pub(in crate::mesh) fn fault(
        &self,
        parameter: &'static str,
        value: impl ToString,
        rule: impl Into<String>,
    ) -> ShapeError {
        ShapeError {
            shape: self.0,
            parameter,
            value: value.to_string(),
            rule: rule.into(),
        }
    }

    pub(in crate::mesh) fn count(
        &self,
        parameter: &'static str,
        value: u32,
        least: u32,
    ) -> Result<(), ShapeError> {
        if (least..=Self::MOST).contains(&value) {
            Ok(())
        } else {
            Err(self.fault(parameter, value, format!("from {least} to {}", Self::MOST)))
        }
    }

    pub(in crate::mesh) fn between(
        &self,
        parameter: &'static str,
        value: f32,
        low: f32,
        high: f32,
    ) -> Result<(), ShapeError> {
        if value >= low && value <= high {
            Ok(())
        } else {
            Err(self.fault(parameter, value, format!("from {low} to {high}")))
        }
    }

    pub(in crate::mesh) fn positive(
        &self,
        parameter: &'static str,
        value: f32,
    ) -> Result<(), ShapeError> {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(self.fault(parameter, value, "a finite number above 0"))
        }
    }

    pub(in crate::mesh) fn below(
        &self,
        parameter: &'static str,
        value: f32,
        limit_name: &str,
        limit: f32,
    ) -> Result<(), ShapeError> {
        self.positive(parameter, value)?;
        if value < limit {
            Ok(())
        } else {
            Err(self.fault(parameter, value, format!("below {limit_name}, {limit}")))
        }
    }

    pub(in crate::mesh) fn finite(
        &self,
        parameter: &'static str,
        value: glam::Vec3,
    ) -> Result<(), ShapeError> {
        if value.is_finite() {
            Ok(())
        } else {
            Err(self.fault(parameter, value, "finite"))
        }
    }
}
