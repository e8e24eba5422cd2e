//! The surfaces of a world's liquids.

use pliant::Fluid;
use pliant::scene::Built;
use pliant::scene::description::Shape;
use pliant::surface::{Surface, SurfaceSettings, surface_of};

use super::Painter;
use crate::error::CliError;

/// Liquid within this many spacings of a wall fills up to it.
const CLING: f32 = 0.95;
/// How far liquid reaches into walls of glass, in spacings, so that no air shows
/// between.
const OVERLAP: f32 = 0.05;
/// How far liquid stays from walls without thickness, so that it is inside them.
const GAP: f32 = 0.25;

/// The surface of one liquid, smooth enough to look at; `cell` is in spacings.
pub fn surface_of_fluid(fluid: &Fluid, cell: f32) -> Result<Surface, CliError> {
    let settings = SurfaceSettings {
        cell,
        ..SurfaceSettings::smooth(fluid.settings().spacing)
    };
    Ok(surface_of(fluid.positions(), &settings)?)
}

/// True for walls that have a thickness of their own.
fn is_solid(shape: &Shape) -> bool {
    matches!(shape, Shape::WineGlass { .. } | Shape::Tumbler { .. })
}

impl Painter {
    /// The surface of every liquid, up to the walls, with the liquid's material.
    pub(super) fn liquids(&self, built: &Built) -> Result<Vec<(Surface, &str)>, CliError> {
        let mut out = Vec::new();
        for (handle, material) in built.fluids.iter().zip(&self.materials) {
            let Some(fluid) = built.world.fluid(*handle) else {
                continue;
            };
            let spacing = fluid.settings().spacing;
            let mut surface = surface_of_fluid(fluid, 0.5)?;
            let glass = self.shapes.iter().any(is_solid);
            let beyond = if glass { OVERLAP } else { -GAP };
            surface.attach(&self.clinging, CLING * spacing, beyond * spacing);
            out.push((surface, material.as_str()));
        }
        Ok(out)
    }
}
