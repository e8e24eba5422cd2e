//! Nothing gets through a wall: contrast fluid in a colon whichever way gravity
//! points, water in a thin glass, in turned boxes, around pistons and paddles, and in
//! a colon that contracts.

use std::sync::Arc;

use glam::{Quat, Vec3};
use pliant::mesh::{Cuboid, WineGlass};
use pliant::scene::{Built, Scene};
use pliant::space::TriangleHash;
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, World};

use super::exchange::SCENES;
use super::{Case, Row, fault, glass};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "leaks",
    about: "Particles on the wrong side of a wall at any frame: the colon scene with gravity in \
            six directions; a filled wine glass under a lid, with a wall thinner than a particle; \
            boxes of 12 triangles at random angles; the scenes with a piston, a stirrer and \
            peristalsis. 1 s each, 30 s each with --full. In the full run also the \
            root-mean-square speed in the colon at the end, as a share of sqrt(gH), H the colon's \
            height.",
    run,
};

pub(super) const BODIES_CASE: Case = Case {
    name: "body-leaks",
    about: "The same for the scenes with deformable bodies: particles on the wrong side of a \
            closed surface at any frame. 1 s each, 30 s each with --full.",
    run: run_bodies,
};

/// Fixed before the first run. The speed counts only in the full run: after one
/// second the fluid is still running.
const SPEED_TOLERANCE: f64 = 0.01;
/// Scenes with bodies, besides those of Müller et al. 2004.
const BODIES: [&str; 3] = ["water-balloon", "bleeding-cut", "elastic-gate"];
/// Boxes at random angles.
const BOXES: u32 = 4;
/// Distance between particles in the wine glass, in metres: as in the scene.
const GLASS_SPACING: f32 = 0.0033;
/// Frames of the cases that are not scenes, in seconds.
const FRAME: f32 = 0.02;

/// How long to run, in seconds.
fn seconds(args: &ValidateArgs) -> f64 {
    if args.full { 30.0 } else { 1.0 }
}

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let seconds = seconds(args);
    let mut rows = Vec::new();
    for (name, direction) in [
        ("-y", Vec3::NEG_Y),
        ("+y", Vec3::Y),
        ("-x", Vec3::NEG_X),
        ("+x", Vec3::X),
        ("-z", Vec3::NEG_Z),
        ("+z", Vec3::Z),
    ] {
        let g = 9.81 * direction;
        let set = format!("gravity.acceleration=[{}, {}, {}]", g.x, g.y, g.z);
        let (mut built, frame) = scene("colon", &[set])?;
        let leaked = most_leaked(&mut built.world, frame, seconds, World::leaked)?;
        rows.push(row(&format!("colon, gravity {name}"), leaked, seconds));
        if args.full {
            let totals = built.world.totals();
            let speed = (2.0 * totals.kinetic / totals.mass).sqrt();
            let height = f64::from(built.world.bounds().size().y);
            rows.push(Row::absolute(
                format!("gravity {name}, RMS speed / sqrt(gH) after {seconds} s"),
                speed / (9.81 * height).sqrt(),
                0.0,
                SPEED_TOLERANCE,
            ));
        }
    }
    let (mut world, frame) = glass::filled(GLASS_SPACING)?;
    let shape = WineGlass::default();
    let leaked = most_leaked(&mut world, frame, seconds, |w| glass::outside(w, &shape))?;
    rows.push(row("filled wine glass", leaked, seconds));
    for seed in 1..=BOXES {
        let leaked = most_leaked(&mut turned_box(seed)?, FRAME, seconds, World::leaked)?;
        rows.push(row(&format!("turned box {seed}"), leaked, seconds));
    }
    for name in ["piston", "stirrer", "colon-peristalsis"] {
        rows.push(scene_row(name, seconds)?);
    }
    Ok(rows)
}

fn run_bodies(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let scenes = SCENES.iter().chain(&BODIES);
    scenes.map(|name| scene_row(name, seconds(args))).collect()
}

fn scene_row(name: &str, seconds: f64) -> Result<Row, CliError> {
    let (mut built, frame) = scene(name, &[])?;
    let leaked = most_leaked(&mut built.world, frame, seconds, World::leaked)?;
    Ok(row(name, leaked, seconds))
}

fn row(what: &str, leaked: usize, seconds: f64) -> Row {
    let quantity = format!("{what}, leaked particles in {seconds} s");
    Row::absolute(quantity, leaked as f64, 0.0, 0.0)
}

pub(super) fn scene(name: &str, set: &[String]) -> Result<(Built, f32), CliError> {
    let scene = Scene::open(name, set)?;
    Ok((scene.build()?, scene.description.frame))
}

/// Runs a world and returns the most particles lost at any frame.
fn most_leaked(
    world: &mut World,
    frame: f32,
    seconds: f64,
    mut lost: impl FnMut(&World) -> usize,
) -> Result<usize, CliError> {
    let mut most = 0;
    for _ in 0..(seconds / f64::from(frame)).round() as usize {
        world.step(frame)?;
        most = most.max(lost(world));
    }
    Ok(most)
}

/// A box of 12 triangles, half full, at an angle and a place that follow from `seed`.
fn turned_box(seed: u32) -> Result<World, CliError> {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1u32 << 23) as f32 - 1.0
    };
    let turn = Quat::from_scaled_axis(3.0 * Vec3::new(random(), random(), random()));
    let shift = Vec3::new(random(), random(), random());
    let spacing = 0.02;
    let size = Cuboid::new(Vec3::splat(-0.12), Vec3::new(0.12, 0.15, 0.1));
    let mut mesh = size.build().map_err(fault)?;
    mesh.transform(1.0, turn, shift);
    let mesh = Arc::new(mesh);
    let mut world = World::new();
    let index = Arc::new(TriangleHash::build(mesh.clone(), 0.5 * spacing));
    world.add_obstacle(Obstacle::mesh("box", mesh.clone(), index, 0.5 * spacing));
    let settings = FluidSettings::new(Material::WATER, spacing);
    let fluid = world.add_fluid(settings).map_err(fault)?;
    let bounds = mesh.aabb();
    let within = Region::Box {
        min: bounds.min,
        max: Vec3::new(bounds.center().x, bounds.max.y, bounds.max.z),
    };
    let fill = Fill::Mesh { mesh, within };
    world.fill(fluid, &fill).map_err(fault)?;
    Ok(world)
}
