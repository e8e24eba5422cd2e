//! Laws that every soft body must obey, and lungs that breathe for long.

use glam::Vec3;
use pliant::mesh::EvenSphere;
use pliant::observe::{Decoder, Encoder, Totals};
use pliant::scene::Scene;
use pliant::soft::{
    Condition, Controls, Lung, Scaling, SoftIntegrator, SoftSettings, SurfaceMass, Surroundings,
};
use pliant::world::Matter;
use pliant::{Obstacle, Soft, World};

use super::soft_scenes::{glasses_and_faces, lungs};
use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "soft",
    about: "Momentum of a free soft body; force and torque of its gas; a held volume under a \
            blow; the printed simplified integrator (3.74) of Mesit 2010, which gains energy; \
            volume of a lung after its breaths (with --full 10,000 of them); the same bits on \
            one and two threads and after a restart; what Mesit 2010 shows of its wine glasses \
            and faces (with --full its lungs, five breaths each).",
    run,
};

/// Fixed before the first run.
const MOMENTUM_TOLERANCE: f64 = 1e-3;
const GAS_TOLERANCE: f64 = 1e-5;
const VOLUME_TOLERANCE: f64 = 0.01;
const BREATH_TOLERANCE: f64 = 0.02;
const DRIFT_TOLERANCE: f64 = 1e-3;
const STEP: f32 = 0.002;
/// Frames of 1/60 s in which bodies meet each other and what is around them.
const FRAMES: u32 = 30;

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = vec![momentum()?, gas()?, held()?];
    let gain = energy_gain(SoftIntegrator::Simplified)?;
    rows.push(Row::with_error(
        "(3.74) as printed: energy after 300 steps over that at the start; it must be above 10",
        gain,
        10.0,
        10.0 / gain,
        1.0,
    ));
    let kept = energy_gain(SoftIntegrator::Kang)?;
    rows.push(Row::with_error(
        "(3.70) by Kang: the same; it must be below 1",
        kept,
        1.0,
        kept,
        1.0,
    ));
    let breaths = if args.full { 10_000 } else { 5 };
    rows.extend(breathing(breaths)?);
    for (scene, what) in [("space-blobs", "200 blobs"), ("lung", "two lungs")] {
        rows.push(same_bits(scene, what)?);
        rows.push(restart(scene, what)?);
    }
    rows.extend(glasses_and_faces()?);
    if args.full {
        rows.extend(lungs()?);
    }
    Ok(rows)
}

fn ball(settings: SoftSettings, points: u32) -> Result<Soft, CliError> {
    let shape = EvenSphere {
        center: Vec3::Y,
        radius: 0.1,
        points,
    };
    Soft::new(settings, shape.build().map_err(fault)?).map_err(fault)
}

fn nowhere() -> Surroundings<'static> {
    Surroundings::new(Vec3::ZERO, &[], [])
}

fn disturbed() -> Result<Soft, CliError> {
    let mut settings = SoftSettings::new("body");
    settings.controls.beta = 0.5;
    let mut soft = ball(settings, 800)?;
    soft.put(
        |p| p + 0.01 * Vec3::new((40.0 * p.y).sin(), (50.0 * p.x).cos(), 0.0),
        |p| Vec3::new(1.0, 0.5, 0.0) + Vec3::new(1.0, 2.0, 3.0).cross(p),
    );
    Ok(soft)
}

fn momentum() -> Result<Row, CliError> {
    let mut soft = disturbed()?;
    let before = Totals::of(&soft.points(), Vec3::ZERO).momentum;
    (0..500).for_each(|_| drop(soft.advance(STEP, &nowhere())));
    let after = Totals::of(&soft.points(), Vec3::ZERO).momentum;
    Ok(Row::absolute(
        "change of momentum / momentum, 500 steps of a free body",
        (after - before).length() / before.length(),
        0.0,
        MOMENTUM_TOLERANCE,
    ))
}

fn gas() -> Result<Row, CliError> {
    let mut soft = disturbed()?;
    soft.advance(STEP, &nowhere());
    let (force, torque) = soft.gas_force();
    let pressed = f64::from(soft.pressure().abs()) * soft.area();
    Ok(Row::absolute(
        "force and torque (per m) of the gas on the whole body / pressure times area",
        force.length().max(torque.length()) / pressed,
        0.0,
        GAS_TOLERANCE,
    ))
}

fn held() -> Result<Row, CliError> {
    let mut settings = SoftSettings::new("held");
    settings.volume.hold = Some(1.0);
    settings.controls.gamma = 0.0;
    let mut soft = ball(settings, 800)?;
    let floor = Obstacle::plane("floor", 0.85 * Vec3::Y, Vec3::Y);
    let around = Surroundings::new(Vec3::new(0.0, -9.81, 0.0), &[], [&floor]);
    let mut worst = 0.0f64;
    for _ in 0..500 {
        soft.advance(STEP, &around);
        worst = worst.max((soft.volume() / soft.rest_volume() - 1.0).abs());
    }
    Ok(Row::absolute(
        "largest change of a held volume while the body falls on a floor",
        worst,
        0.0,
        VOLUME_TOLERANCE,
    ))
}

/// A scene whose bodies touch what is around them, after half a second.
fn touching(scene: &str) -> Result<World, CliError> {
    let mut world = Scene::open(scene, &[])?.build()?.world;
    for _ in 0..FRAMES {
        world.step(1.0 / 60.0).map_err(fault)?;
    }
    Ok(world)
}

fn same_bits(scene: &str, what: &str) -> Result<Row, CliError> {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().map_err(fault)?;
        pool.install(|| touching(scene).map(|world| world.hash()))
    };
    let differ = on(1)? != on(2)?;
    Ok(Row::absolute(
        format!("{what} on one and on two threads: different bits (1 if any)"),
        f64::from(u8::from(differ)),
        0.0,
        0.0,
    ))
}

fn restart(scene: &str, what: &str) -> Result<Row, CliError> {
    let mut straight = touching(scene)?;
    let mut file = Encoder::default();
    straight.save(&mut file);
    let file = file.finish();
    let mut resumed = Scene::open(scene, &[])?.build()?.world;
    let mut from = Decoder::open(&file).map_err(fault)?;
    resumed.load(&mut from).map_err(fault)?;
    for world in [&mut straight, &mut resumed] {
        for _ in 0..FRAMES {
            world.step(1.0 / 60.0).map_err(fault)?;
        }
    }
    Ok(Row::absolute(
        format!("{what} continued from a checkpoint: different bits (1 if any)"),
        f64::from(u8::from(straight.hash() != resumed.hash())),
        0.0,
        0.0,
    ))
}

fn energy_gain(how: SoftIntegrator) -> Result<f64, CliError> {
    let mut settings = SoftSettings::new("body");
    settings.scaling = Scaling::Literal;
    settings.integrator = how;
    settings.controls.gamma = 0.0;
    settings.body.damping = pliant::soft::Damping::Steps(0.0);
    let mut soft = ball(settings, 300)?;
    soft.put(|p| p * (1.0 + 0.02 * (60.0 * p.x).sin()), |_| Vec3::ZERO);
    let energy = |soft: &Soft| soft.energy().kinetic + soft.energy().elastic;
    let start = energy(&soft);
    for _ in 0..300 {
        soft.advance(STEP, &nowhere());
        if energy(&soft).is_nan() || energy(&soft) > 1e6 * start {
            return Ok(1e6);
        }
    }
    Ok(energy(&soft) / start)
}

/// Breath after breath in fast-forward: where they end, and if that wanders.
fn breathing(breaths: u32) -> Result<Vec<Row>, CliError> {
    let mut settings = SoftSettings::new("lung");
    settings.controls = Controls {
        alpha: 3.0,
        beta: 0.0,
        gamma: 1.0,
        delta: 0.0,
    };
    settings.mass = SurfaceMass::Area(4.0);
    settings.body.stiffness = 20.0;
    settings.drag = 1.0;
    let lung = Lung {
        inhale: 0.8,
        exhale: 1.2,
        tidal: 0.5,
        balanced_at: 3.0,
        condition: Condition::Healthy,
        ..Lung::default()
    };
    let steps = (lung.period() / STEP).round() as u32;
    settings.volume.lung = Some(lung);
    let mut soft = ball(settings, 162)?;
    let mut ends = Vec::new();
    for _ in 0..breaths {
        (0..steps).for_each(|_| drop(soft.advance(STEP, &nowhere())));
        ends.push(soft.volume() / soft.rest_volume());
    }
    // The first breath begins from rest.
    let settled = &ends[1..];
    let last = settled[settled.len() - 1];
    let off = |end: &f64| (end - 1.0).abs();
    // Unlike the largest of numbers, a sum keeps a NaN.
    let largest = settled.iter().map(off).fold(0.0, f64::max);
    let nan: f64 = 0.0 * settled.iter().sum::<f64>();
    Ok(vec![
        Row::absolute(
            format!("lung, alpha 3: volume after {breaths} breaths over that at rest"),
            last,
            1.0,
            BREATH_TOLERANCE,
        ),
        Row::absolute(
            "the same: farthest from 1 that any breath but the first has ended",
            largest + nan,
            0.0,
            BREATH_TOLERANCE,
        ),
        Row::absolute(
            "the same: change from the second breath to the last",
            last - settled[0],
            0.0,
            DRIFT_TOLERANCE,
        ),
    ])
}
