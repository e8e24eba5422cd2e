//! The colon: time from nothing to the first step, speed and memory.

use std::time::Instant;

use pliant::scene::Scene;
use serde::Serialize;

use super::sph::median;
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

#[derive(Serialize)]
struct Row {
    triangles: usize,
    particles: usize,
    threads: usize,
    /// Reading the scene, generating and indexing the mesh, filling it.
    start_ms: f64,
    /// The first sub-step.
    first_step_ms: f64,
    ms_per_step: f64,
    first_second: f64,
    real_time_factor: f64,
    bytes_per_particle: f64,
    obstacle_mb: f64,
    leaked: usize,
}

/// Measures both colon scenes with every structure for their triangles.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Colon: start, speed, memory",
        "Start is everything between the scene's text and the first step: mesh, index, filling \
         (median of five). Real-time factors are of the first simulated second, in which the \
         liquid falls and the map of the wall is made where it comes, and of the next; the time \
         per step is of the latter. Without the scene's probes, at its CFL number.",
    );
    let repeats = if args.quick { 1 } else { 5 };
    for triangles in [8040, 40_000] {
        for index in ["hash", "bvh", "sdf"] {
            let row = measure(triangles, index, repeats)?;
            let case = format!("colon-{triangles}-{index}");
            out.row(&[("bench", "colon"), ("case", &case)], &row);
        }
    }
    out.note(
        "In the first second the liquid falls through new parts of the colon: the map of the \
         wall is made, and speed keeps sub-steps short. `pliant run colon --dry` has all 10 s, \
         with the scene's probes.",
    );
    Ok(())
}

fn measure(triangles: usize, index: &str, repeats: usize) -> Result<Row, CliError> {
    let set = [
        format!("obstacle.colon.shape.colon.triangles={triangles}"),
        format!("obstacle.colon.index={index}"),
    ];
    let mut starts = Vec::new();
    let mut first_steps = Vec::new();
    let mut last = None;
    for _ in 0..repeats {
        let clock = Instant::now();
        let mut scene = Scene::open("colon", &set)?;
        // The published figures are without measurements.
        scene.description.probe.clear();
        let mut built = scene.build()?;
        starts.push(1e3 * clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        built.world.step(1e-5)?;
        first_steps.push(1e3 * clock.elapsed().as_secs_f64());
        last = Some(built);
    }
    let Some(mut built) = last else {
        return Err(CliError::Usage("nothing was measured".into()));
    };
    let span = if repeats > 1 { 1.0 } else { 0.1 };
    let mut run = || -> Result<(f64, u64), CliError> {
        let before = built.world.steps().1;
        let clock = Instant::now();
        for _ in 0..10 {
            built.world.step(0.1 * span)?;
        }
        let wall = clock.elapsed().as_secs_f64();
        Ok((wall, built.world.steps().1 - before))
    };
    let (first, _) = run()?;
    let (wall, steps) = run()?;
    let particles = built.world.point_count();
    let bytes: usize = built.world.fluids().map(pliant::Fluid::bytes).sum();
    let obstacle: usize = built.world.obstacles().map(pliant::Obstacle::bytes).sum();
    Ok(Row {
        triangles,
        particles,
        threads: rayon::current_num_threads(),
        start_ms: median(&starts),
        first_step_ms: median(&first_steps),
        ms_per_step: 1e3 * wall / steps as f64,
        first_second: f64::from(span) / first,
        real_time_factor: f64::from(span) / wall,
        bytes_per_particle: bytes as f64 / particles as f64,
        obstacle_mb: obstacle as f64 / 1e6,
        leaked: built.world.leaked(),
    })
}
