//! The nearest surface: what liquids ask of a mesh once per particle and sub-step.

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;
use pliant::scene::Scene;
use pliant::space::{Bvh, NearestCells};
use serde::Serialize;

use super::sph::median;
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

#[derive(Serialize)]
struct Row {
    triangles: usize,
    /// Places within reach of the wall.
    queries: usize,
    /// By the tree of boxes.
    bvh_ns: f64,
    /// By cells, when each is asked for the first time.
    cells_first_ns: f64,
    /// By cells, from then on.
    cells_ns: f64,
    cells_mb: f64,
    bvh_mb: f64,
}

/// Measures both sizes of colon.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Nearest surface of a colon",
        "One thread; time per query at the particles of the colon scene that have a wall within \
         their support radius, in memory order (median of several passes).",
    );
    for triangles in [8040, 40_000] {
        let row = measure(triangles, if args.quick { 5 } else { 51 })?;
        let case = format!("colon-{triangles}");
        out.row(&[("bench", "nearest"), ("case", &case)], &row);
    }
    Ok(())
}

fn measure(triangles: usize, passes: usize) -> Result<Row, CliError> {
    let set = [format!("obstacle.colon.shape.colon.triangles={triangles}")];
    let mut built = Scene::open("colon", &set)?.build()?;
    // Sorts the particles.
    built.world.step(1e-5)?;
    let mesh = built.world.obstacles().find_map(|o| o.triangles().cloned());
    let (Some(mesh), Some(fluid)) = (mesh, built.world.fluids().next()) else {
        return Err(CliError::Usage("the colon scene has changed".into()));
    };
    let reach = fluid.support_radius();
    let tree = Arc::new(Bvh::build(mesh.clone()));
    let places = fluid.positions().iter();
    let places: Vec<Vec3> = places
        .filter(|&p| tree.closest(p, reach).is_some())
        .collect();
    let cells = NearestCells::new(tree.clone(), reach);
    let by_tree = |p: Vec3| {
        tree.closest(p, reach)
            .map_or(0.0, |(found, _)| found.distance)
    };
    let by_cells = |p: Vec3| cells.closest(p, reach).map_or(0.0, |found| found.distance);
    Ok(Row {
        triangles: mesh.triangles.len(),
        queries: places.len(),
        bvh_ns: time(&places, passes, by_tree),
        cells_first_ns: time(&places, 1, by_cells),
        cells_ns: time(&places, passes, by_cells),
        cells_mb: cells.bytes() as f64 / 1e6,
        bvh_mb: pliant::space::TriangleIndex::bytes(&*tree) as f64 / 1e6,
    })
}

/// Nanoseconds per query.
fn time(places: &[Vec3], passes: usize, query: impl Fn(Vec3) -> f32) -> f64 {
    let pass = |_| {
        let clock = Instant::now();
        let sum: f32 = places.iter().map(|&p| query(p)).sum();
        std::hint::black_box(sum);
        1e9 * clock.elapsed().as_secs_f64() / places.len() as f64
    };
    median(&(0..passes).map(pass).collect::<Vec<f64>>())
}
