//! Surfaces: marching cubes beside splashsurf's figures, the tracker beside a new
//! start, and screen-space meshes.

use std::time::Instant;

use glam::Vec3;
use pliant::math::XyzVec;
use pliant::surface::{
    ScreenCamera, ScreenMeshSettings, SurfaceSettings, SurfaceTracker, screen_mesh, surface_of,
};
use serde::Serialize;

use super::sph::median;
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

#[derive(Serialize)]
struct Row {
    particles: usize,
    threads: usize,
    cell_in_spacings: f32,
    triangles: usize,
    ms: f64,
    /// Same particles, cells and support: splashsurf 0.14.1 with two threads.
    splashsurf_ms: Option<f64>,
    volume_error_percent: f64,
    closed: bool,
}

#[derive(Serialize)]
struct TrackRow {
    particles: usize,
    threads: usize,
    moving_percent: f64,
    new_start_ms: f64,
    update_ms: f64,
    times_faster: f64,
}

#[derive(Serialize)]
struct ScreenRow {
    particles: usize,
    threads: usize,
    pixels: String,
    triangles: usize,
    ms: f64,
}

/// Measures surfaces of blocks of disturbed particles.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Surfaces: marching cubes",
        "Disturbed particles; support of two spacings, as splashsurf's smoothing length of two \
         radii. cell_in_spacings 0.25 is its cube size 0.5 (radii), 0.5 its 1.0. splashsurf_ms are \
         its published figures of a similar machine with two threads, for 46,843 (866 k triangles) \
         and 216,000 particles of its own scenes. The first row is four slabs, which have as many \
         triangles as its scene; the others are blocks.",
    );
    let clouds: Vec<(XyzVec, f32, Option<f64>)> = if args.quick {
        vec![(block(12), 0.5, None)]
    } else {
        vec![
            (slabs(48), 0.25, Some(543.0)),
            (block(36), 0.25, Some(543.0)),
            (block(60), 0.5, Some(870.0)),
        ]
    };
    for (cloud, cell, splashsurf_ms) in clouds {
        let settings = SurfaceSettings {
            cell,
            ..SurfaceSettings::new(1.0)
        };
        let (surface, ms) = timed(args, || surface_of(cloud.view(), &settings));
        let mesh = surface?.mesh;
        let row = Row {
            particles: cloud.len(),
            threads: rayon::current_num_threads(),
            cell_in_spacings: cell,
            triangles: mesh.triangles.len(),
            ms,
            splashsurf_ms,
            volume_error_percent: 100.0 * (f64::from(mesh.volume()) / cloud.len() as f64 - 1.0),
            closed: mesh.check().faces_outwards(),
        };
        out.row(&[("bench", "surface"), ("case", "marching-cubes")], &row);
    }
    tracking(args, out)?;
    screen(args, out);
    Ok(())
}

fn tracking(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Surfaces: from frame to frame",
        "The same block while one twentieth of its particles, at one side, moves: a tracker that \
         sums only what is near them beside a new start.",
    );
    let mut block = block(if args.quick { 12 } else { 36 });
    let settings = SurfaceSettings {
        cell: 0.25,
        ..SurfaceSettings::new(1.0)
    };
    let ids: Vec<u32> = (0..block.len() as u32).collect();
    let mut tracker = SurfaceTracker::new(settings.clone())?;
    tracker.update(block.view(), &ids)?;
    let moving = block.len() / 20;
    let (mut updates, mut starts) = (Vec::new(), Vec::new());
    for frame in 0..if args.quick { 2 } else { 15 } {
        for i in 0..moving {
            let push = 0.1 * Vec3::new((i + frame) as f32, i as f32, frame as f32).map(f32::sin);
            block.set(i, block.get(i) + push);
        }
        // In turns, so that whatever else the machine does slows both.
        let clock = Instant::now();
        tracker.update(block.view(), &ids)?;
        updates.push(1e3 * clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        surface_of(block.view(), &settings)?;
        starts.push(1e3 * clock.elapsed().as_secs_f64());
    }
    let (update_ms, new_start_ms) = (median(&updates), median(&starts));
    let row = TrackRow {
        particles: block.len(),
        threads: rayon::current_num_threads(),
        moving_percent: 100.0 * moving as f64 / block.len() as f64,
        new_start_ms,
        update_ms,
        times_faster: new_start_ms / update_ms,
    };
    out.row(&[("bench", "surface"), ("case", "tracker")], &row);
    Ok(())
}

fn screen(args: &BenchArgs, out: &mut Report) {
    out.table(
        "Surfaces: screen-space meshes",
        "What a camera sees of a block that fills the picture (Müller et al. 2007), nodes four \
         pixels apart, all steps.",
    );
    let edge = if args.quick { 12 } else { 47 };
    let block = block(edge);
    let size = [1280, 720];
    let middle = Vec3::splat(0.5 * edge as f32);
    let eye = middle + 1.6 * edge as f32 * Vec3::new(0.4, 0.5, 1.0);
    let camera = ScreenCamera::looking_at(eye, middle, 45.0, size);
    let settings = ScreenMeshSettings::new(1.0);
    let (surface, ms) = timed(args, || screen_mesh(block.view(), &camera, &settings));
    let row = ScreenRow {
        particles: block.len(),
        threads: rayon::current_num_threads(),
        pixels: format!("{}x{}", size[0], size[1]),
        triangles: surface.mesh.triangles.len(),
        ms,
    };
    out.row(&[("bench", "surface"), ("case", "screen-mesh")], &row);
}

/// A cube of particles one metre apart, each moved a little.
fn block(edge: usize) -> XyzVec {
    (0..edge * edge * edge)
        .map(|i| {
            let at = Vec3::new(
                (i % edge) as f32,
                (i / edge % edge) as f32,
                (i / edge / edge) as f32,
            );
            at + 0.15 * (i as f32 * Vec3::new(1.7, 2.3, 3.1)).map(f32::sin)
        })
        .collect()
}

/// Four slabs of particles one metre apart, five particles thick and four metres from
/// each other.
fn slabs(edge: usize) -> XyzVec {
    (0..20 * edge * edge)
        .map(|i| {
            let (x, y, z) = (i % edge, i / edge % 20, i / edge / 20);
            let at = Vec3::new(x as f32, (y + y / 5 * 4) as f32, z as f32);
            at + 0.15 * (i as f32 * Vec3::new(1.7, 2.3, 3.1)).map(f32::sin)
        })
        .collect()
}

/// The last result and the median time.
fn timed<T>(args: &BenchArgs, mut work: impl FnMut() -> T) -> (T, f64) {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..if args.quick { 1 } else { 7 } {
        let clock = Instant::now();
        last = Some(work());
        times.push(1e3 * clock.elapsed().as_secs_f64());
    }
    (last.unwrap_or_else(&mut work), median(&times))
}
