//! Honey spreads on a floor it sticks to: the viscous gravity current of Huppert 1982.

use glam::Vec3;
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, World};

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "honey",
    about: "A square column of honey, 40 mm high and wide, between a wall and two sides along \
            which it slips, collapses on a floor it sticks to. Its front against the viscous \
            gravity current of Huppert 1982, x = 1.411 (g q³ t / (3ν))^(1/5), from 0.5 s on, when \
            it is twice as long as at the start: the largest lead and the lag at the end. A \
            release from a column lags behind the law, which starts from a line, so only a lead \
            is narrowly bounded. Without surface tension, which the law leaves out. Three \
            resolutions, and a length that is known better than to half a spacing: that of the \
            similar shape with the same centre of mass, 2.244 times as far from the wall. What the \
            law is not exact about, refinement cannot remove, but each must change less than the \
            one before. (The front does not: 0.3 % and 0.6 %, both less than half a spacing.) Two \
            things hid that at first: spacings that do not divide the column, so \
            that the finest had 5 % less honey, and pressures as exact as usual, of which what each \
            sub-step leaves undone drives the front ahead, the more the more sub-steps there are \
            (1 % to 2 %).",
    run,
};

/// Fixed before the first run: honey loses its shape no faster than the law says.
const LEAD_TOLERANCE: f64 = 0.05;
const LAG_TOLERANCE: f64 = 0.15;

/// Each about five eighths of the one before; all of them divide the column.
const SPACINGS: [f32; 3] = [0.004, 0.0025, 0.0016];
/// The length changes less by each refinement than by the one before.
const CONVERGENCE: f64 = 1.0;
/// Length of the shape of the law, `(1 - (x / length)²)^(1/3)`, over the distance of its centre
/// of mass.
const LENGTH_OF_MEAN: f64 = 2.244;
/// Usually 5e-4: what is left undone must be small beside the motion of a sub-step.
const DENSITY_ERROR: f32 = 2e-5;
/// Height and width of the column in metres.
const SIDE: f32 = 0.04;
/// Particles between the sides.
const DEPTH: u32 = 5;
/// From when on the law holds, and how long the run is, in seconds.
const START: f64 = 0.5;
const SECONDS: f64 = 2.0;
const FRAME: f32 = 0.02;
const GRAVITY: f64 = 9.81;

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    let mut lengths = Vec::new();
    for spacing in SPACINGS {
        let (fronts, length) = spread(spacing)?;
        let label = |text: &str| format!("{text}, spacing {:.1} mm", 1e3 * spacing);
        let late = fronts.iter().filter(|(t, _)| *t >= START);
        let lead = late
            .map(|(t, x)| x / law(*t) - 1.0)
            .fold(f64::NEG_INFINITY, f64::max);
        rows.push(Row::with_error(
            label("largest lead of the front"),
            lead,
            0.0,
            lead,
            LEAD_TOLERANCE,
        ));
        let (t, x) = fronts.last().copied().unwrap_or_default();
        rows.push(Row::relative(
            label(&format!("front after {t:.1} s [m]")),
            x,
            law(t),
            LAG_TOLERANCE,
        ));
        rows.push(Row::relative(
            label(&format!("length by the centre of mass after {t:.1} s [m]")),
            length,
            law(t),
            LEAD_TOLERANCE,
        ));
        lengths.push(length);
    }
    let change = |k: usize| (lengths[k + 1] - lengths[k]).abs();
    let ratio = change(1) / change(0);
    rows.push(Row::with_error(
        "length: change by the second refinement / by the first",
        ratio,
        0.0,
        ratio,
        CONVERGENCE,
    ));
    Ok(rows)
}

/// Where Huppert 1982 expects the front at time `t`, in metres.
fn law(t: f64) -> f64 {
    let viscosity = f64::from(Material::HONEY.viscosity / Material::HONEY.density);
    let area = f64::from(SIDE).powi(2);
    1.411 * (GRAVITY * area.powi(3) * t / (3.0 * viscosity)).powf(0.2)
}

/// The front of the honey, frame by frame: time in seconds, place in metres. Then its length at
/// the end by its centre of mass.
fn spread(spacing: f32) -> Result<(Vec<(f64, f64)>, f64), CliError> {
    let mut world = column(spacing)?;
    let mut fronts = Vec::new();
    for _ in 0..(SECONDS / f64::from(FRAME)).round() as usize {
        world.step(FRAME)?;
        let ends = world.fluids().map(|fluid| {
            let mut places = fluid.positions().x.to_vec();
            places.sort_unstable_by(f32::total_cmp);
            // One row of particles; a single one does not decide.
            places[places.len() - DEPTH as usize] + 0.5 * spacing
        });
        fronts.push((world.time(), f64::from(ends.fold(0.0, f32::max))));
    }
    let fluid = world.fluids().next();
    let mean = fluid.map_or(f64::NAN, |fluid| {
        let places = fluid.positions().x.iter().copied();
        places.map(f64::from).sum::<f64>() / fluid.len() as f64
    });
    Ok((fronts, LENGTH_OF_MEAN * mean))
}

/// The column at rest, its wall at x = 0.
fn column(spacing: f32) -> Result<World, CliError> {
    let far = Vec3::new(SIDE, SIDE, DEPTH as f32 * spacing);
    let mut world = World::new();
    world.gravity = -GRAVITY as f32 * Vec3::Y;
    for (name, point, normal) in [
        ("floor", Vec3::ZERO, Vec3::Y),
        ("wall", Vec3::ZERO, Vec3::X),
        ("back", Vec3::ZERO, Vec3::Z),
        ("front", far, Vec3::NEG_Z),
    ] {
        let wall = Obstacle::plane(name, point, normal);
        world.add_obstacle(wall.with_no_slip(name == "floor"));
    }
    let material = Material {
        surface_tension: 0.0,
        ..Material::HONEY
    };
    let mut settings = FluidSettings::new(material, spacing);
    settings.tolerances.density = DENSITY_ERROR;
    let fluid = world.add_fluid(settings).map_err(fault)?;
    let fill = Fill::Region(Region::Box {
        min: Vec3::ZERO,
        max: far,
    });
    world.fill(fluid, &fill).map_err(fault)?;
    Ok(world)
}
