//! Deformable bodies on and in each other.

use pliant::World;
use pliant::math::Aabb;
use pliant::scene::Scene;

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "pile",
    about: "The scene `pile`: twenty soft bodies fall on each other and come to rest. How deep \
            any point is inside another body at any frame, by exact distances to the surfaces, as \
            a share of the size of the body; what the floor bears; how far any point still creeps \
            in the last second.",
    run,
};

/// Fixed before the first run.
const DEPTH_TOLERANCE: f64 = 0.01;
const CREEP_TOLERANCE: f64 = 0.01;
const WEIGHT_TOLERANCE: f64 = 0.02;
const SPEED_TOLERANCE: f64 = 1e-3;

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let scene = Scene::open("pile", &[]).map_err(fault)?;
    let mut built = scene.build().map_err(fault)?;
    let world = &mut built.world;
    let size = world
        .solids()
        .map(|s| Aabb::of(s.positions().iter()).size().max_element())
        .fold(f32::INFINITY, f32::min);
    let frame = scene.description.frame;
    let seconds = if args.full { 10.0 } else { 6.0 };
    let mut deepest = 0.0f32;
    let mut at_rest = 0.0f32;
    let mut before = Vec::new();
    let frames = (seconds / f64::from(frame)).round() as u32;
    let last_second = frames - (1.0 / frame) as u32;
    for k in 0..frames {
        if k == last_second {
            before = places(world);
        }
        world.step(frame).map_err(fault)?;
        let depth = world.deepest_overlap().map_or(0.0, |d| d.depth);
        deepest = deepest.max(depth);
        if k >= last_second {
            at_rest = at_rest.max(depth);
        }
    }
    let crept = places(world)
        .iter()
        .zip(&before)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max);
    let totals = world.totals();
    let walls: f64 = built
        .obstacles
        .iter()
        .map(|&(o, _)| f64::from(-world.force_on(o).y))
        .sum();
    Ok(vec![
        Row::absolute(
            "deepest overlap at any frame / body size",
            f64::from(deepest / size),
            0.0,
            DEPTH_TOLERANCE,
        ),
        Row::absolute(
            "deepest overlap at rest / body size",
            f64::from(at_rest / size),
            0.0,
            DEPTH_TOLERANCE,
        ),
        Row::absolute(
            "largest way of any point in the last second / body size",
            f64::from(crept / size),
            0.0,
            CREEP_TOLERANCE,
        ),
        Row::absolute(
            "RMS speed at the end [m/s]",
            (2.0 * totals.kinetic / totals.mass).sqrt(),
            0.0,
            SPEED_TOLERANCE,
        ),
        Row::relative(
            "force on floor and walls [N], against the weight",
            walls,
            9.81 * totals.mass,
            WEIGHT_TOLERANCE,
        ),
    ])
}

fn places(world: &World) -> Vec<glam::Vec3> {
    let all = world.solids().flat_map(|s| s.positions().iter());
    all.collect()
}
