//! The dam break that SPlisHSPlasH ships as `DamBreakModel`, incompressible: the
//! anchor for speed.

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;
use pliant::mesh::Cuboid;
use pliant::observe::STAGES;
use pliant::space::Bvh;
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, World};
use serde::Serialize;

use super::sph::median;
use super::splishsplash;
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

/// Simulated seconds.
const DURATION: f32 = 0.5;

/// Sub-step in seconds at 59,319 particles; it goes with the spacing.
const SUBSTEP: f32 = 2.5e-3;

#[derive(Serialize)]
struct Row {
    particles: usize,
    threads: usize,
    substep_ms: f64,
    substeps: usize,
    ms_per_step: f64,
    median_ms: f64,
    iterations: f64,
    mparticle_steps_per_s: f64,
    density_error_percent: f64,
    front_m: f64,
    bytes_per_particle: f64,
    leaked: usize,
}

/// How often we and the peer run in turn.
const ROUNDS: usize = 3;

/// Medians of all rounds, and what they make.
#[derive(Serialize)]
struct Comparison {
    particles: usize,
    ms_per_step: f64,
    peer_ms_per_step: f64,
    peer_own_clock_ms: f64,
    times_as_fast: f64,
    times_by_its_clock: f64,
}

/// Measures 1 m³ of water collapsing in a tank of 4 x 3 x 1.5 m.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    if args.peer {
        return beside_peer(args.particles.unwrap_or(59_319), args.quick, out);
    }
    out.table(
        "Dam break: incompressible",
        "1 m³ of water collapses in a tank of 4 x 3 x 1.5 m (DFSPH, mean density error 0.05 %, \
         divergence 0.1 %, 0.5 s in fixed sub-steps; of a million particles the first 40). iterations: of both pressure solves, mean \
         per sub-step.",
    );
    let all: &[usize] = if args.quick {
        &[6859]
    } else {
        &[6859, 59_319, 1_000_000]
    };
    let one = args.particles.map(|n| [n]);
    for &particles in one.as_ref().map_or(all, |n| n.as_slice()) {
        // A million takes minutes: its first steps tell as much.
        let most_steps = if particles > 500_000 { 40 } else { usize::MAX };
        let (row, world) = measure(particles, most_steps)?;
        out.row(&[("bench", "dam-break"), ("case", "dfsph")], &row);
        let stages: Vec<String> = STAGES
            .iter()
            .map(|&(stage, name)| {
                let spent = world.timers().spent(stage).as_secs_f64();
                format!("{name} {:.1}", 1e3 * spent / row.substeps as f64)
            })
            .collect();
        out.note(&format!(
            "{particles} particles, ms per sub-step: {}",
            stages.join(", ")
        ));
    }
    Ok(())
}

/// Runs us and SPlisHSPlasH in turn: the same tank, block, number of particles, step and
/// tolerances.
fn beside_peer(particles: usize, quick: bool, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Dam break: beside SPlisHSPlasH",
        "The same tank, block, number of particles, step and tolerances, in turn: ms_per_step is \
         the mean from step to step, own_clock_ms what its timer around a step says. Its \
         tolerance holds for the mean compression, ours for that and for the mean room made by \
         pressure that is not needed any more.",
    );
    let edge = (particles as f64).cbrt().round().max(2.0);
    let step = f64::from(SUBSTEP) * 39.0 / edge;
    let (mut own, mut waited, mut clocks) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=if quick { 1 } else { ROUNDS } {
        let (row, _) = measure(particles, usize::MAX)?;
        out.row(
            &[("bench", "dam-break"), ("case", &format!("pliant {round}"))],
            &splishsplash::PeerRow {
                particles: row.particles,
                substeps: row.substeps,
                ms_per_step: row.ms_per_step,
                own_clock_ms: row.ms_per_step,
                iterations: row.iterations,
            },
        );
        own.push(row.ms_per_step);
        let peer = splishsplash::run(edge, step, DURATION.into())?;
        let case = format!("splishsplash {round}");
        out.row(&[("bench", "dam-break"), ("case", &case)], &peer);
        waited.push(peer.ms_per_step);
        clocks.push(peer.own_clock_ms);
    }
    let (own, waited, clock) = (median(&own), median(&waited), median(&clocks));
    out.table(
        "Dam break: times as fast as SPlisHSPlasH",
        "Medians of these: by its mean time from step to step, and by that of its own timer.",
    );
    out.row(
        &[("bench", "dam-break"), ("case", "medians")],
        &Comparison {
            particles,
            ms_per_step: own,
            peer_ms_per_step: waited,
            peer_own_clock_ms: clock,
            times_as_fast: waited / own,
            times_by_its_clock: clock / own,
        },
    );
    Ok(())
}

/// What `--particles` may have asked for and cannot be.
fn unusable(error: impl std::fmt::Display) -> CliError {
    CliError::Usage(error.to_string())
}

fn measure(particles: usize, most_steps: usize) -> Result<(Row, World), CliError> {
    let edge = (particles as f64).cbrt().round().max(2.0);
    let spacing = (1.0 / edge) as f32;
    let substep = SUBSTEP * 39.0 / edge as f32;
    let mut world = World::new();
    let tank = Cuboid::new(Vec3::ZERO, Vec3::new(4.0, 3.0, 1.5))
        .build()
        .map_err(unusable)?;
    let tank = Arc::new(tank);
    let index = Arc::new(Bvh::build(tank.clone()));
    world.add_obstacle(Obstacle::mesh("tank", tank, index, 0.5 * spacing));
    let material = Material {
        surface_tension: 0.0,
        ..Material::WATER
    };
    let water = world
        .add_fluid(FluidSettings::new(material, spacing))
        .map_err(unusable)?;
    let block = Region::Box {
        min: Vec3::ZERO,
        max: Vec3::ONE,
    };
    let particles = world.fill(water, &Fill::Region(block)).map_err(unusable)?;
    world.settings.fixed = Some(substep);
    let substeps = ((DURATION / substep).round() as usize).min(most_steps);
    let mut times = Vec::with_capacity(substeps);
    let (mut iterations, mut error) = (0, 0.0f32);
    let clock = Instant::now();
    for _ in 0..substeps {
        let start = Instant::now();
        let report = world.step(substep)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        iterations += report.iterations;
        error = error.max(report.density_error);
    }
    let wall = clock.elapsed().as_secs_f64();
    let fluid = world.fluids().next();
    let bytes = fluid.map_or(0, pliant::Fluid::bytes);
    let front = fluid.map_or(0.0, |f| f.positions().x.iter().copied().fold(0.0, f32::max));
    let row = Row {
        particles,
        threads: rayon::current_num_threads(),
        substep_ms: 1e3 * f64::from(substep),
        substeps,
        ms_per_step: 1e3 * wall / substeps as f64,
        median_ms: median(&times),
        iterations: f64::from(iterations) / substeps as f64,
        mparticle_steps_per_s: 1e-6 * (particles * substeps) as f64 / wall,
        density_error_percent: 100.0 * f64::from(error),
        front_m: f64::from(front),
        bytes_per_particle: bytes as f64 / particles as f64,
        leaked: world.leaked(),
    };
    Ok((row, world))
}
