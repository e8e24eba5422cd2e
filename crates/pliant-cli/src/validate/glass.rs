//! A glass of water keeps its volume.

use glam::Vec3;
use pliant::mesh::WineGlass;
use pliant::{Fill, Obstacle, Region, World};

use super::leaks::scene;
use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "glass",
    about: "The wine glass of the scene under a lid, filled with a ball of water that settles for 2 s: how \
            far its level (the height above the bowl's bottom below which 95 % of the particles \
            are) and its centre of mass stray from their mean after that, at any frame, and \
            particles outside the bowl. Two resolutions. 3 s, 30 s with --full.",
    run,
};

/// Fixed before the first run: share of the height above the bottom of the bowl.
const LEVEL_TOLERANCE: f64 = 0.01;

/// The water rests after this time, in seconds.
const SETTLING: f64 = 2.0;
/// The first is coarser than the scene's, so that the case stays short.
const SPACINGS: [f32; 2] = [0.004, 0.003];

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let seconds = if args.full { 30.0 } else { 3.0 };
    let mut rows = Vec::new();
    for spacing in SPACINGS {
        rows.extend(rest(spacing, seconds)?);
    }
    Ok(rows)
}

/// Lets the water settle, and looks at it for so many seconds.
fn rest(spacing: f32, seconds: f64) -> Result<[Row; 3], CliError> {
    let at = format!("spacing {:.0} mm", 1e3 * spacing);
    let (mut world, frame) = filled(spacing)?;
    let shape = WineGlass::default();
    let (bottom, _) = shape.bowl();
    let settling = (SETTLING / f64::from(frame)).round() as usize;
    let frames = (seconds / f64::from(frame)).round() as usize;
    let (mut levels, mut centres) = (Vec::new(), Vec::new());
    let mut lost = 0;
    for k in 0..settling + frames {
        world.step(frame)?;
        lost = lost.max(outside(&world, &shape));
        if k >= settling {
            let mut heights: Vec<f32> = places(&world).map(|p| p.y - bottom).collect();
            heights.sort_unstable_by(f32::total_cmp);
            levels.push(f64::from(heights[heights.len() * 95 / 100]));
            let sum: f64 = heights.iter().map(|&y| f64::from(y)).sum();
            centres.push(sum / heights.len() as f64);
        }
    }
    let stray = |what: &str, heights: &[f64]| {
        let mean = heights.iter().sum::<f64>() / heights.len() as f64;
        let furthest = heights.iter().copied().fold(mean, |far, y| {
            if (y - mean).abs() > (far - mean).abs() {
                y
            } else {
                far
            }
        });
        let quantity = format!("{what} furthest from its mean in {seconds} s [m], {at}");
        Row::relative(quantity, furthest, mean, LEVEL_TOLERANCE)
    };
    Ok([
        stray("level", &levels),
        stray("centre of mass", &centres),
        Row::absolute(
            format!("particles outside the bowl at any frame, {at}"),
            lost as f64,
            0.0,
            0.0,
        ),
    ])
}

/// The glass of the scene, nearly full from the start, without its jet and with a lid,
/// and the length of a frame. The lid tells leaks from splashes: with it, the only way
/// out of the bowl is through the wall.
pub(super) fn filled(spacing: f32) -> Result<(World, f32), CliError> {
    let changes = [
        "fluid.0.emitter.0.stop=0.0001".into(),
        format!("fluid.0.spacing={spacing}"),
    ];
    let (mut built, frame) = scene("wine-glass", &changes)?;
    let shape = WineGlass::default();
    let (bottom, radius) = shape.bowl();
    // The bowl is an ellipse, taller than wide: a ball of water fits in its upper part.
    let water = Region::Sphere {
        center: Vec3::new(0.0, bottom + 0.5 * (shape.height - bottom), 0.0),
        radius: 0.9 * radius,
    };
    if let Some(&fluid) = built.fluids.first() {
        let filled = built.world.fill(fluid, &Fill::Region(water));
        filled.map_err(fault)?;
    }
    let rim = Vec3::new(0.0, shape.height, 0.0);
    built
        .world
        .add_obstacle(Obstacle::plane("lid", rim, Vec3::NEG_Y));
    Ok((built.world, frame))
}

/// Particles that went through the wall: outside the bowl, or inside the glass.
pub(super) fn outside(world: &World, shape: &WineGlass) -> usize {
    let outside = |p: &Vec3| {
        p.y < shape.bowl_bottom || p.x.hypot(p.z) > shape.bowl_radius && p.y < shape.height
    };
    world.leaked() + places(world).filter(outside).count()
}

fn places(world: &World) -> impl Iterator<Item = Vec3> + '_ {
    world.fluids().flat_map(|f| f.positions().iter())
}
