//! Soft bodies beside Mesit 2010: its scenes, many bodies at once, growth, integrators.

use std::time::Instant;

use glam::Vec3;
use pliant::Soft;
use pliant::mesh::EvenSphere;
use pliant::scene::Scene;
use pliant::soft::{SoftIntegrator, SoftSettings, Surroundings};
use serde::Serialize;

use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

/// One scene of Mesit 2010 (tables 5-1 and 5-2).
#[derive(Serialize)]
struct SceneRow {
    scene: String,
    points: usize,
    springs: usize,
    steps: usize,
    ms_per_step: f64,
    fps: f64,
    published_fps: &'static str,
    volume: f64,
    sphericity: f64,
    bumpiness: f64,
}

#[derive(Serialize)]
struct GrowthRow {
    points: usize,
    springs: usize,
    ms_per_step: f64,
    ns_per_point: f64,
    neighbours: f64,
    mb: f64,
}

#[derive(Serialize)]
struct IntegratorRow {
    integrator: String,
    step_ms: f64,
    ms_per_step: f64,
    energy: f64,
}

/// Runs all tables.
pub fn bench(args: &BenchArgs, report: &mut Report) -> Result<(), CliError> {
    scenes(args, report)?;
    blobs(args, report)?;
    growth(args, report)?;
    integrators(args, report)
}

fn fault(e: impl std::fmt::Display) -> CliError {
    CliError::Usage(e.to_string())
}

fn scenes(args: &BenchArgs, report: &mut Report) -> Result<(), CliError> {
    report.table(
        "Soft bodies of Mesit 2010",
        "A frame is one step of 2 ms, as there. Volume over that at the start, sphericity and \
         bumpiness in degrees after the steps. Published: a 2.0 GHz Core 2 Duo laptop of 2010, \
         drawing included.",
    );
    let steps = if args.quick { 50 } else { 1000 };
    for (family, published) in [("wine-glass", "> 20"), ("face", "> 15")] {
        for letter in ["a", "b", "c", "d", "e", "f"] {
            let scene = format!("{family}-{letter}");
            let mut built = Scene::open(&scene, &[])?.build()?;
            let start = Instant::now();
            for _ in 0..steps {
                built.world.step(0.002).map_err(fault)?;
            }
            let ms = 1e3 * start.elapsed().as_secs_f64() / steps as f64;
            if let Some(soft) = built.world.softs().next() {
                let row = SceneRow {
                    scene,
                    points: soft.len(),
                    springs: soft.edges().len(),
                    steps,
                    ms_per_step: ms,
                    fps: 1e3 / ms,
                    published_fps: published,
                    volume: soft.volume() / soft.rest_volume(),
                    sphericity: soft.sphericity(),
                    bumpiness: soft.bumpiness(),
                };
                report.row(&[("bench", "soft")], &row);
            }
        }
    }
    Ok(())
}

fn blobs(args: &BenchArgs, report: &mut Report) -> Result<(), CliError> {
    #[derive(Serialize)]
    struct Row {
        blobs: usize,
        points: usize,
        frames: usize,
        ms_per_frame: f64,
        fps: f64,
    }
    report.table(
        "Space Blobs",
        "Bodies of 162 points that breathe and touch; a frame is 1/60 s in two steps.",
    );
    let mut built = Scene::open("space-blobs", &[])?.build()?;
    let frames = if args.quick { 5 } else { 120 };
    let start = Instant::now();
    for _ in 0..frames {
        built.world.step(1.0 / 60.0).map_err(fault)?;
    }
    let ms = 1e3 * start.elapsed().as_secs_f64() / frames as f64;
    let row = Row {
        blobs: built.world.softs().count(),
        points: built.world.point_count(),
        frames,
        ms_per_frame: ms,
        fps: 1e3 / ms,
    };
    report.row(&[("bench", "soft")], &row);
    Ok(())
}

fn body(points: u32, how: SoftIntegrator) -> Result<Soft, CliError> {
    let mut settings = SoftSettings::new("ball");
    settings.controls.beta = 0.5;
    settings.integrator = how;
    let ball = EvenSphere {
        points,
        ..EvenSphere::default()
    };
    Soft::new(settings, ball.build().map_err(fault)?).map_err(fault)
}

fn growth(args: &BenchArgs, report: &mut Report) -> Result<(), CliError> {
    report.table(
        "Growth",
        "One inflated ball with fluidity, no contact. Neighbours within the core radius.",
    );
    let sizes: &[u32] = if args.quick {
        &[1_000, 10_000]
    } else {
        &[1_000, 3_000, 10_000, 30_000, 100_000]
    };
    for &points in sizes {
        let mut soft = body(points, SoftIntegrator::Kang)?;
        let around = Surroundings::new(Vec3::ZERO, &[], []);
        soft.advance(0.002, &around);
        let steps = if args.quick { 3 } else { 50 };
        let start = Instant::now();
        (0..steps).for_each(|_| drop(soft.advance(0.002, &around)));
        let ms = 1e3 * start.elapsed().as_secs_f64() / f64::from(steps);
        let row = GrowthRow {
            points: soft.len(),
            springs: soft.edges().len(),
            ms_per_step: ms,
            ns_per_point: 1e6 * ms / soft.len() as f64,
            neighbours: soft.mean_neighbours(),
            mb: pliant::world::Matter::bytes(&soft) as f64 / 1e6,
        };
        report.row(&[("bench", "soft")], &row);
    }
    Ok(())
}

fn integrators(args: &BenchArgs, report: &mut Report) -> Result<(), CliError> {
    use SoftIntegrator as I;
    report.table(
        "Integrators",
        "Energy (kinetic and elastic) after 200 steps over that at the start, of a ball of 1,986 \
         points pulled out of shape, without gas and damping, in literal scaling. Infinite: it \
         has blown up.",
    );
    let steps = if args.quick { 20 } else { 200 };
    for how in [
        I::Symplectic,
        I::Kang,
        I::Implicit,
        I::Trapezoid,
        I::Diagonal,
        I::Simplified,
        I::SimplifiedMinus,
    ] {
        for h in [0.001f32, 0.005, 0.02] {
            let mut settings = SoftSettings::new("ball");
            settings.scaling = pliant::soft::Scaling::Literal;
            settings.controls.gamma = 0.0;
            settings.body.damping = pliant::soft::Damping::Steps(0.0);
            settings.integrator = how;
            let ball = EvenSphere::default().build().map_err(fault)?;
            let mut soft = Soft::new(settings, ball).map_err(fault)?;
            soft.put(|p| p * (1.0 + 0.05 * (12.0 * p.x).sin()), |_| Vec3::ZERO);
            let energy = |soft: &Soft| soft.energy().kinetic + soft.energy().elastic;
            let before = energy(&soft);
            let around = Surroundings::new(Vec3::ZERO, &[], []);
            let start = Instant::now();
            for _ in 0..steps {
                soft.advance(h, &around);
            }
            let ms = 1e3 * start.elapsed().as_secs_f64() / f64::from(steps);
            let after = energy(&soft) / before;
            let row = IntegratorRow {
                integrator: format!("{how:?}"),
                step_ms: f64::from(1e3 * h),
                ms_per_step: ms,
                energy: if after.is_nan() { f64::INFINITY } else { after },
            };
            report.row(&[("bench", "soft")], &row);
        }
    }
    Ok(())
}
