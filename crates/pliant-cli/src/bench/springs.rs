//! Bodies of springs beside the tables of Lesmes 2013.

use glam::Vec3;
use pliant::Obstacle;
use pliant::mesh::{CreaturePreset, TetMesh, cube_of_lesmes};
use pliant::solid::{
    Environment, Integrator, Mass, MassSharing, Passes, SolidModel, SolidSettings, Springs,
    VolumeForce,
};
use serde::Serialize;

use super::body_time::{Times, solid, time, times};
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

/// One mesh of Lesmes 2013: name, our stand-in, height, mass, truncation, k_D, its
/// damping, k_V, its damping, step in ms, and its CPU and GPU times in ms (tables 5.2
/// and 6.3, figure 6.1). Heights give edges of about 1 m.
struct Published {
    name: &'static str,
    preset: Option<CreaturePreset>,
    height: f32,
    mass: f32,
    truncation: Option<f32>,
    springs: [f32; 4],
    step_ms: f32,
    cpu_ms: f64,
    gpu_ms: f64,
    fps: [&'static str; 2],
}

const PUBLISHED: [Published; 5] = [
    Published {
        name: "cube",
        preset: None,
        height: 14.0,
        mass: 50.0,
        truncation: None,
        springs: [50.0, 0.001, 25.0, 0.01],
        step_ms: 8.0,
        cpu_ms: 11.4,
        gpu_ms: 1.2,
        fps: ["+60", "+60"],
    },
    Published {
        name: "bunny",
        preset: Some(CreaturePreset::Bunny),
        height: 40.0,
        mass: 75.0,
        truncation: Some(500.0),
        springs: [50.0, 0.001, 20.0, 0.01],
        step_ms: 5.0,
        cpu_ms: 15.8,
        gpu_ms: 1.8,
        fps: ["+60", "+60"],
    },
    Published {
        name: "bunny2",
        preset: Some(CreaturePreset::Bunny2),
        height: 27.0,
        mass: 100.0,
        truncation: Some(500.0),
        springs: [50.0, 0.001, 20.0, 0.01],
        step_ms: 5.0,
        cpu_ms: 26.8,
        gpu_ms: 3.0,
        fps: ["37", "+60"],
    },
    Published {
        name: "dragon",
        preset: Some(CreaturePreset::Dragon),
        height: 130.0,
        mass: 200.0,
        truncation: Some(250.0),
        springs: [30.0, 0.001, 20.0, 0.002],
        step_ms: 2.5,
        cpu_ms: 83.3,
        gpu_ms: 8.6,
        fps: ["12", "+60"],
    },
    Published {
        name: "armadillo",
        preset: Some(CreaturePreset::Armadillo),
        height: 110.0,
        mass: 200.0,
        truncation: Some(2000.0),
        springs: [40.0, 0.000_01, 20.0, 0.001],
        step_ms: 2.5,
        cpu_ms: 115.2,
        gpu_ms: 11.8,
        fps: ["8", "30"],
    },
];

impl Published {
    fn mesh(&self) -> Result<TetMesh, CliError> {
        match self.preset {
            None => Ok(cube_of_lesmes(self.height, false)),
            Some(preset) => preset
                .creature(self.height)
                .build()
                .map_err(|e| CliError::Usage(e.to_string())),
        }
    }

    fn settings(&self, change: impl FnOnce(&mut Springs)) -> SolidSettings {
        let [distance, distance_damping, volume, volume_damping] = self.springs;
        let mut springs = Springs {
            distance_stiffness: distance,
            distance_damping,
            volume_stiffness: volume,
            volume_damping,
            integrator: Integrator::Verlet,
            ..Springs::default()
        };
        change(&mut springs);
        let mut settings = SolidSettings::new(self.name, SolidModel::Springs(springs));
        settings.mass = Mass::Total(self.mass);
        settings.mass_sharing = MassSharing::MeanVolume;
        settings.max_inverse_mass = self.truncation;
        settings
    }
}

#[derive(Serialize)]
struct SpringRow {
    mesh: &'static str,
    points: usize,
    tets: usize,
    edges: usize,
    #[serde(flatten)]
    times: Times,
    lesmes_cpu_ms: f64,
    lesmes_gpu_ms: f64,
    /// Steps per second with two threads.
    fps: f64,
    lesmes_cpu_fps: &'static str,
    lesmes_gpu_fps: &'static str,
    /// Step of table 6.3 over the time it takes with two threads.
    step_over_compute: f64,
    lesmes_ratio: f64,
    /// The longest step by power iteration, and by trial.
    estimated_step_ms: f32,
    longest_step_ms: f64,
    truncated_percent: f64,
    effective_mass_kg: f64,
}

#[derive(Serialize)]
struct VariantRow {
    variant: String,
    ms_per_step: f64,
    max_stable_step_ms: f64,
    step_over_compute: f64,
    lesmes_ms: Option<f64>,
    lesmes_max_step_ms: Option<f64>,
}

/// Measures springs.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    let steps = if args.quick { 30 } else { 1000 };
    out.table(
        "Springs: time per step",
        "Figure 6.1 and table 6.2 of Lesmes 2013 again: bodies with the counts of table 5.1 (within \
         5 %) fall on a floor; Verlet, strain limit and floor included. Median over all steps, the \
         mean beside it (Lesmes: mean of 1000), and the time that one thread was running. The \
         longest step is the one that stays bounded for 200 steps. Lesmes names no hardware.",
    );
    let most = if args.quick { 2 } else { PUBLISHED.len() };
    for published in &PUBLISHED[..most] {
        out.row(&[("bench", "springs")], &spring_row(published, steps)?);
    }
    out.table(
        "Springs: integrators and variants",
        "The small cube of Lesmes 2013 (table 6.1), edges of 1 m; the longest step for which a \
         drop from 1 m stays bounded for 2 s, found by bisection.",
    );
    for row in variants(steps)? {
        out.row(&[("bench", "springs")], &row);
    }
    Ok(())
}

fn spring_row(published: &Published, steps: usize) -> Result<SpringRow, CliError> {
    let mesh = published.mesh()?;
    let edges = mesh.edges().len();
    let lift = 0.05 * published.height;
    let mut body = solid(published.settings(|_| {}), mesh)?;
    body.put(|p| p + lift * Vec3::Y, |_| Vec3::ZERO);
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    let h = 1e-3 * published.step_ms;
    let floor = &[floor];
    let (times, _) = times(&body, h, steps, 9.8, floor)?;
    let around = Environment::new(Vec3::new(0.0, -9.8, 0.0), &[], floor);
    let estimate = body.stable_step().map_or(h, |s| s.seconds);
    // It falls at most 20 m/s fast in this time; what is ten times faster is not falling.
    let stays = |h: f64| {
        let mut own = body.clone();
        (0..200).all(|_| {
            own.advance(h as f32, &around);
            own.velocities().iter().all(|v| v.length() < 200.0)
        })
    };
    let longest = longest(f64::from(0.3 * estimate), f64::from(5.0 * estimate), stays);
    let mass = body.mass_report();
    Ok(SpringRow {
        mesh: published.name,
        points: body.len(),
        tets: body.rest().tets.len(),
        edges,
        times,
        lesmes_cpu_ms: published.cpu_ms,
        lesmes_gpu_ms: published.gpu_ms,
        fps: 1e3 / times.ms_2_threads,
        lesmes_cpu_fps: published.fps[0],
        lesmes_gpu_fps: published.fps[1],
        step_over_compute: f64::from(published.step_ms) / times.ms_2_threads,
        lesmes_ratio: f64::from(published.step_ms) / published.cpu_ms,
        estimated_step_ms: 1e3 * estimate,
        longest_step_ms: 1e3 * longest,
        truncated_percent: mass.truncated_percent,
        effective_mass_kg: mass.effective_mass,
    })
}

/// Tables 6.1 (integrators) and the comparisons of damping, strain limit and passes.
fn variants(steps: usize) -> Result<Vec<VariantRow>, CliError> {
    let mut rows = Vec::new();
    let published = [(9.6, 3.0), (14.3, 3.5), (9.6, 6.5), (9.6, 6.5)];
    let integrators = [
        Integrator::Euler,
        Integrator::Midpoint,
        Integrator::Verlet,
        Integrator::EulerCromer,
    ];
    for (integrator, (ms, step)) in integrators.into_iter().zip(published) {
        let damped = matches!(integrator, Integrator::Euler | Integrator::Midpoint);
        let change = |s: &mut Springs| {
            s.integrator = integrator;
            [s.distance_damping, s.volume_damping] = if damped { [0.1; 2] } else { [0.001, 0.01] };
        };
        let name = format!("{integrator:?}");
        rows.push(variant(name, change, Some((ms, step)), steps)?);
    }
    type Change = (&'static str, fn(&mut Springs));
    let others: [Change; 6] = [
        ("damped distances only", |s| {
            s.volume_force = VolumeForce::Gradient
        }),
        ("volume force (3.9)", |s| {
            s.volume_force = VolumeForce::GradientDamped
        }),
        ("volume force (3.11)", |s| {
            s.volume_force = VolumeForce::UnitDamped
        }),
        ("no strain limit", |s| s.strain_limit = None),
        ("element-centric", |s| s.passes = Passes::ElementCentric),
        ("edge-centric", |s| s.passes = Passes::EdgeCentric),
    ];
    for (name, change) in others {
        rows.push(variant(name.into(), change, None, steps)?);
    }
    Ok(rows)
}

/// The longest step between two for which `stays` holds, by bisection.
fn longest(mut low: f64, mut high: f64, stays: impl Fn(f64) -> bool) -> f64 {
    while high / low > 1.03 {
        let middle = (low * high).sqrt();
        *(if stays(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

fn variant(
    name: String,
    change: impl FnOnce(&mut Springs),
    published: Option<(f64, f64)>,
    steps: usize,
) -> Result<VariantRow, CliError> {
    let mut springs = Springs {
        distance_stiffness: 50.0,
        volume_stiffness: 50.0,
        ..Springs::default()
    };
    change(&mut springs);
    let mut settings = SolidSettings::new("small cube", SolidModel::Springs(springs));
    settings.mass = Mass::Total(50.0);
    settings.mass_sharing = MassSharing::MeanVolume;
    let body = solid(settings, cube_of_lesmes(11.0, true))?;
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    let around = Environment::new(Vec3::new(0.0, -9.8, 0.0), &[], [&floor]);
    let stays = |h: f64| {
        let mut own = body.clone();
        own.put(|p| p + Vec3::Y, |_| Vec3::ZERO);
        // Nothing in a drop from 1 m is faster than some 10 m/s, or far away.
        (0..(2.0 / h) as usize).all(|_| {
            own.advance(h as f32, &around);
            own.velocities().iter().all(|v| v.length() < 50.0)
        })
    };
    let low = longest(1e-4, 0.05, stays);
    let mut own = body.clone();
    let ms = time(&mut own, (0.5 * low) as f32, steps, &around).median;
    Ok(VariantRow {
        variant: name,
        ms_per_step: ms,
        max_stable_step_ms: 1e3 * low,
        step_over_compute: 1e3 * low / ms,
        lesmes_ms: published.map(|p| p.0),
        lesmes_max_step_ms: published.map(|p| p.1),
    })
}
