//! Archimedes: how deep things float, how hard water lifts them, what sinks.

use glam::Vec3;
use pliant::fluid::Tolerances;
use pliant::mesh::{Cuboid, TetBlock};
use pliant::solid::{Elastic, SolidModel, SolidSettings};
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, RigidSettings, World};

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "buoyancy",
    about: "A box 0.2 m wide and 0.16 m high in a tank of water, at two particle sizes. Let go a \
            tenth of its height too high, it floats with the share of its height below the \
            surface that its density is of the water's (mean of the last second of 6 s, when it has \
            come to rest; the level is that of the liquid's volume with what the box displaces). \
            Held under water, it is lifted by the weight of the water it displaces (the same mean). \
            Half as heavy again as water, it sinks to the floor, but for the water caught below.",
    run,
};

/// All fixed before the first run. Draft and force: relative. Depth of what sinks: in
/// spacings.
const DRAFT_TOLERANCE: f64 = 0.03;
const FORCE_TOLERANCE: f64 = 0.03;
const REST_TOLERANCE: f64 = 1.5;

const TANK: f32 = 0.4;
const DEPTH: f32 = 0.25;
const BOX: Vec3 = Vec3::new(0.2, 0.16, 0.2);
const FRAME: f32 = 0.02;
/// Frames until all is at rest, and the last ones, whose mean is taken.
const FRAMES: u32 = 300;
const MEASURED: u32 = 50;
const DENSITY: f32 = 1000.0;
const GRAVITY: f32 = 9.81;

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for spacing in [0.02, 0.0125] {
        let label = |text: String| format!("{text}, spacing {} mm", 1e3 * spacing);
        for ratio in [0.3, 0.5, 0.8] {
            rows.push(Row::relative(
                label(format!("draft / height at density ratio {ratio}")),
                draft(spacing, ratio)?,
                f64::from(ratio),
                DRAFT_TOLERANCE,
            ));
        }
        rows.push(Row::relative(
            label("lift of a box held under water [N]".into()),
            lift(spacing)?,
            f64::from(DENSITY * GRAVITY * BOX.element_product()),
            FORCE_TOLERANCE,
        ));
    }
    rows.push(Row::absolute(
        "height at which a heavy box comes to rest [spacings]",
        resting_height(0.02)?,
        0.0,
        REST_TOLERANCE,
    ));
    Ok(rows)
}

/// A tank of water without surface tension.
fn tank(spacing: f32) -> Result<World, CliError> {
    let mut world = World::new();
    for (name, point, normal) in [
        ("floor", Vec3::ZERO, Vec3::Y),
        ("left", Vec3::ZERO, Vec3::X),
        ("right", TANK * Vec3::X, Vec3::NEG_X),
        ("back", Vec3::ZERO, Vec3::Z),
        ("front", TANK * Vec3::Z, Vec3::NEG_Z),
    ] {
        world.add_obstacle(Obstacle::plane(name, point, normal));
    }
    let material = Material {
        density: DENSITY,
        surface_tension: 0.0,
        ..Material::WATER
    };
    // As calm as the scene of water at rest.
    let tolerances = Tolerances {
        density: 3e-5,
        correction: 0.05,
        ..Tolerances::default()
    };
    let settings = FluidSettings {
        tolerances,
        ..FluidSettings::new(material, spacing)
    };
    let water = world.add_fluid(settings).map_err(fault)?;
    let region = Region::Box {
        min: Vec3::ZERO,
        max: Vec3::new(TANK, DEPTH, TANK),
    };
    world.fill(water, &Fill::Region(region)).map_err(fault)?;
    Ok(world)
}

/// The smallest corner of the box when its bottom is at height `bottom`.
fn corner(bottom: f32) -> Vec3 {
    Vec3::new(0.5 * (TANK - BOX.x), bottom, 0.5 * (TANK - BOX.z))
}

/// Adds a rigid box with its bottom at a height and takes out the water that is there.
fn add_box(
    world: &mut World,
    bottom: f32,
    ratio: f32,
) -> Result<pliant::Handle<pliant::RigidBody>, CliError> {
    let min = corner(bottom);
    let mesh = Cuboid::new(min, min + BOX).build().map_err(fault)?;
    let body = RigidSettings::new("box", ratio * DENSITY);
    let body = world.add_rigid(body, mesh).map_err(fault)?;
    world.clear_bodies();
    Ok(body)
}

/// Height of a box's bottom, whose mean is that of its lower corners.
fn bottom_of(world: &World) -> f64 {
    let centres = world.rigids().map(|r| r.center().y - 0.5 * BOX.y);
    centres.map(f64::from).sum()
}

/// The share of the box's height that is below the surface.
fn draft(spacing: f32, ratio: f32) -> Result<f64, CliError> {
    let mut world = tank(spacing)?;
    let bottom = DEPTH - ratio * BOX.y + 0.1 * BOX.y;
    add_box(&mut world, bottom, ratio)?;
    let volume: f64 = world
        .fluids()
        .map(|f| f.len() as f64 * f64::from(f.particle_volume()))
        .sum();
    let area = f64::from(TANK * TANK);
    let covered = f64::from(BOX.x * BOX.z) / area;
    let mut sum = 0.0;
    for k in 0..FRAMES {
        world.step(FRAME)?;
        if k >= FRAMES - MEASURED {
            // level = (volume + draft * base) / area, draft = level - bottom.
            sum += (volume / area - bottom_of(&world)) / (1.0 - covered);
        }
    }
    Ok(sum / f64::from(MEASURED) / f64::from(BOX.y))
}

/// Mean upward force on a body that is held below the surface.
fn lift(spacing: f32) -> Result<f64, CliError> {
    let mut world = tank(spacing)?;
    let min = corner(0.05);
    let mesh = TetBlock {
        min,
        max: min + BOX,
        cells: [4; 3],
    };
    let settings = SolidSettings::new("held", SolidModel::Elastic(Elastic::default()));
    let mesh = mesh.build().map_err(fault)?;
    let body = world.add_solid(settings, mesh).map_err(fault)?;
    if let Some(body) = world.solid_mut(body) {
        body.pin_where(|_| true);
    }
    world.clear_bodies();
    let mut sum = 0.0;
    for k in 0..FRAMES {
        world.step(FRAME)?;
        if k >= FRAMES - MEASURED {
            sum += f64::from(world.force_on_solid(body).y);
        }
    }
    Ok(sum / f64::from(MEASURED))
}

/// Where the bottom of a box comes to rest that is half as heavy again as water, in
/// spacings above the floor.
fn resting_height(spacing: f32) -> Result<f64, CliError> {
    let mut world = tank(spacing)?;
    add_box(&mut world, 0.07, 1.5)?;
    for _ in 0..100 {
        world.step(FRAME)?;
    }
    Ok(bottom_of(&world) / f64::from(spacing))
}
