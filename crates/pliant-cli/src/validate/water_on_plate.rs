//! Water on a clamped strip: how far it bends.

use glam::Vec3;
use pliant::mesh::TetBlock;
use pliant::solid::{Elastic, Mass, SolidModel, SolidSettings};
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, World};

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "water-on-plate",
    about: "A strip 1 m long and 0.1 m thick, clamped at both ends, under 0.4 m of water: \
            deflection in the middle against w = q L⁴ / (384 D) with the shear of a thick beam, \
            q L² / (8 κ G t), κ = 5/6 (plane strain, q from water and own weight), for three \
            stiffnesses, without lateral contraction; mean of the last 0.5 s of 1.5 s.",
    run,
};

/// Fixed before the first run.
const TOLERANCE: f64 = 0.05;

const SPAN: f32 = 1.0;
const THICKNESS: f32 = 0.1;
const WIDTH: f32 = 0.15;
const DEPTH: f32 = 0.4;
const SPACING: f32 = 0.025;
const DENSITY: f32 = 1000.0;
const STRIP_DENSITY: f32 = 2000.0;
const POISSON: f32 = 0.0;
const GRAVITY: f64 = 9.81;

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for young in [1e7, 3e7, 1e8] {
        let (span, thick) = (f64::from(SPAN), f64::from(THICKNESS));
        let q = GRAVITY * f64::from(DENSITY * DEPTH + STRIP_DENSITY * THICKNESS);
        let (e, nu) = (f64::from(young), f64::from(POISSON));
        let bending = e * thick.powi(3) / (12.0 * (1.0 - nu * nu));
        let shear = 5.0 / 6.0 * e / (2.0 * (1.0 + nu)) * thick;
        let right = q * span.powi(4) / (384.0 * bending) + q * span * span / (8.0 * shear);
        rows.push(Row::relative(
            format!("deflection at E = {young:.0e} Pa [mm]"),
            1e3 * deflection(young)?,
            1e3 * right,
            TOLERANCE,
        ));
    }
    Ok(rows)
}

/// Mean deflection in the middle, in metres.
fn deflection(young: f32) -> Result<f64, CliError> {
    let mut world = World::new();
    for (name, point, normal) in [
        ("left", Vec3::ZERO, Vec3::X),
        ("right", SPAN * Vec3::X, Vec3::NEG_X),
        ("back", Vec3::ZERO, Vec3::Z),
        ("front", WIDTH * Vec3::Z, Vec3::NEG_Z),
    ] {
        world.add_obstacle(Obstacle::plane(name, point, normal));
    }
    let water = Material {
        density: DENSITY,
        surface_tension: 0.0,
        ..Material::WATER
    };
    let water = world
        .add_fluid(FluidSettings::new(water, SPACING))
        .map_err(fault)?;
    let region = Region::Box {
        min: Vec3::ZERO,
        max: Vec3::new(SPAN, DEPTH, WIDTH),
    };
    world.fill(water, &Fill::Region(region)).map_err(fault)?;
    let strip = TetBlock {
        min: Vec3::new(0.0, -THICKNESS, 0.0),
        max: Vec3::new(SPAN, 0.0, WIDTH),
        // Linear elements: 2.4 % too stiff.
        cells: [112, 14, 2],
    };
    let settings = SolidSettings {
        mass: Mass::Density(STRIP_DENSITY),
        thickness: Some(1e-4),
        // It bends by a fiftieth of its length: no part of it meets another.
        self_contact: false,
        ..SolidSettings::new(
            "strip",
            SolidModel::Elastic(Elastic {
                young,
                poisson: POISSON,
                stiffness_damping: 2e-3,
                ..Elastic::default()
            }),
        )
    };
    let strip = world
        .add_solid(settings, strip.build().map_err(fault)?)
        .map_err(fault)?;
    let middle = Vec3::new(0.5 * SPAN, 0.0, 0.5 * WIDTH);
    let Some(body) = world.solid_mut(strip) else {
        return Ok(0.0);
    };
    body.pin_where(|p| p.x < 1e-4 || p.x > SPAN - 1e-4);
    let rest = body.rest().points.iter();
    let near = |p: &Vec3| p.distance(middle) < 0.3 * THICKNESS;
    let watched: Vec<usize> = rest
        .enumerate()
        .filter(|(_, p)| near(p))
        .map(|(i, _)| i)
        .collect();
    let (mut sum, mut count) = (0.0, 0.0);
    for k in 0..75 {
        world.step(0.02)?;
        if k >= 50
            && let Some(body) = world.solid(strip)
        {
            for &i in &watched {
                sum -= f64::from(body.displacement(i).y);
                count += 1.0;
            }
        }
    }
    Ok(sum / count)
}
