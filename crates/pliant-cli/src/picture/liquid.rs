//! The surfaces of a world's liquids.

use pliant::Fluid;
use pliant::math::XyzVec;
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

/// The surfaces of the liquids that one set of particles holds, smooth enough to
/// look at; `cell` is in spacings. Liquids without particles have none.
pub fn surfaces_of_fluid(fluid: &Fluid, cell: f32) -> Result<Vec<(usize, Surface)>, CliError> {
    let settings = SurfaceSettings {
        cell,
        ..SurfaceSettings::smooth(fluid.settings().spacing)
    };
    let mut out = Vec::new();
    for liquid in 0..fluid.liquids().len() {
        let own: XyzVec = fluid
            .positions()
            .iter()
            .zip(fluid.liquid_of())
            .filter(|(_, l)| usize::from(**l) == liquid)
            .map(|(p, _)| p)
            .collect();
        if !own.is_empty() {
            out.push((liquid, surface_of(own.view(), &settings)?));
        }
    }
    Ok(out)
}

/// True for walls that have a thickness of their own.
fn is_solid(shape: &Shape) -> bool {
    matches!(shape, Shape::WineGlass { .. } | Shape::Tumbler { .. })
}

impl Painter {
    /// The surface of every liquid, up to the walls, with the liquid's material.
    pub(super) fn liquids(&self, built: &Built) -> Result<Vec<(Surface, &str)>, CliError> {
        let mut out = Vec::new();
        let glass = self.shapes.iter().any(is_solid);
        let beyond = if glass { OVERLAP } else { -GAP };
        for fluid in built.world.fluids() {
            let spacing = fluid.settings().spacing;
            for (liquid, mut surface) in surfaces_of_fluid(fluid, 0.5)? {
                surface.attach(&self.clinging, CLING * spacing, beyond * spacing);
                let material = self.materials.get(liquid).map_or("", String::as_str);
                out.push((surface, material));
            }
        }
        Ok(out)
    }
}
