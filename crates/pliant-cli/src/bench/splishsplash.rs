//! SPlisHSPlasH beside us: its Python package runs its own scene of the dam break.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::error::CliError;

/// Runs the scene and prints what it took.
const SCRIPT: &str = include_str!("splishsplash.py");

/// Without this library loaded first, the package's own OpenGL ends it at once.
const DISPATCH: &str = "/lib/x86_64-linux-gnu/libGLdispatch.so.0";

/// What its run took.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct PeerRow {
    pub particles: usize,
    pub substeps: usize,
    /// From step to step, as the one who waits sees it.
    pub ms_per_step: f64,
    /// The mean of its own timer around a step.
    #[serde(default)]
    pub own_clock_ms: f64,
    /// Of both pressure solves.
    pub iterations: f64,
}

/// Runs its dam break with `edge` particles along the block's edge (its particles begin half a
/// spacing from the walls) for `end` seconds in steps of `step`.
pub(super) fn run(edge: f64, step: f64, end: f64) -> Result<PeerRow, CliError> {
    let radius = 0.5 / (edge + 1.0);
    let mut command = Command::new("python3");
    command
        .args(["-c", SCRIPT])
        .args([radius, step, end].map(|v| v.to_string()))
        .env("OMP_NUM_THREADS", rayon::current_num_threads().to_string());
    if Path::new(DISPATCH).exists() {
        command.env("LD_PRELOAD", DISPATCH);
    }
    let output = command
        .output()
        .map_err(|e| CliError::Usage(format!("cannot run python3: {e}")))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let row = printed
        .lines()
        .rev()
        .find_map(|l| serde_json::from_str(l).ok());
    let Some(mut row): Option<PeerRow> = row else {
        let errors = String::from_utf8_lossy(&output.stderr);
        let why = errors.lines().last().unwrap_or("it printed no figures");
        return Err(CliError::Usage(format!(
            "SPlisHSPlasH did not run ({}: {why}); `--peer` needs its Python package: \
             pip install pysplishsplash",
            output.status
        )));
    };
    row.own_clock_ms = own_clock(&printed).unwrap_or(row.ms_per_step);
    Ok(row)
}

/// Milliseconds in a line such as `Average time: SimStep: 84.7 ms`.
fn own_clock(printed: &str) -> Option<f64> {
    let line = printed.lines().find(|l| l.contains("SimStep:"))?;
    line.split("SimStep:")
        .nth(1)?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_own_clock_is_found() {
        let printed = "Loading\nAverage time: SimStep: 84.7327 ms\nAverage time: emit: 0.1 ms\n";
        assert_eq!(own_clock(printed), Some(84.7327));
        assert_eq!(own_clock("nothing"), None);
    }
}
