//! How long a step of a body takes.

use std::time::Instant;

use glam::Vec3;
use pliant::mesh::TetMesh;
use pliant::solid::{Environment, SolidSettings};
use pliant::{Obstacle, Solid};
use serde::Serialize;

use crate::error::CliError;
use crate::in_pool;

/// Times of one step in ms.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// Median with one thread.
    pub ms_1_thread: f64,
    /// Median with two threads.
    pub ms_2_threads: f64,
    /// Mean with two threads.
    pub mean_ms_2_threads: f64,
    /// Mean time that the one thread was running, where the system tells: other work on
    /// the machine does not count.
    pub running_ms_1_thread: Option<f64>,
}

/// Times of many steps in ms.
pub struct Sample {
    pub median: f64,
    pub mean: f64,
    pub running: Option<f64>,
}

pub fn solid(settings: SolidSettings, mesh: TetMesh) -> Result<Solid, CliError> {
    Solid::new(settings, mesh).map_err(|e| CliError::Usage(e.to_string()))
}

/// Times steps of `h` seconds.
pub fn time(body: &mut Solid, h: f32, steps: usize, around: &Environment<'_>) -> Sample {
    let running = running_ns();
    let mut each: Vec<f64> = (0..steps)
        .map(|_| {
            let clock = Instant::now();
            body.advance(h, around);
            1e3 * clock.elapsed().as_secs_f64()
        })
        .collect();
    let running = running.zip(running_ns());
    let mean = each.iter().sum::<f64>() / steps as f64;
    each.sort_by(f64::total_cmp);
    Sample {
        median: each[steps / 2],
        mean,
        running: running.map(|(before, after)| 1e-6 * (after - before) / steps as f64),
    }
}

/// The same with one and with two threads; also the body at the end.
pub fn times(
    body: &Solid,
    h: f32,
    steps: usize,
    gravity: f32,
    obstacles: &[Obstacle],
) -> Result<(Times, Solid), CliError> {
    let with = |threads: usize| {
        let mut own = body.clone();
        in_pool(Some(threads), || {
            let around = Environment::new(-gravity * Vec3::Y, &[], obstacles);
            let sample = time(&mut own, h, steps, &around);
            Ok((sample, own))
        })
    };
    let (one, _) = with(1)?;
    let (two, last) = with(2)?;
    let times = Times {
        ms_1_thread: one.median,
        ms_2_threads: two.median,
        mean_ms_2_threads: two.mean,
        running_ms_1_thread: one.running,
    };
    Ok((times, last))
}

/// How long this thread has been running so far, in ns; Linux tells.
fn running_ns() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
