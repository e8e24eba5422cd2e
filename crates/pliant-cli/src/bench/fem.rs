//! Finite elements: time of implicit steps, and how it grows.

use glam::Vec3;
use pliant::mesh::TetBlock;
use pliant::solid::{Elastic, ElasticLaw, SolidModel, SolidSettings};
use serde::Serialize;

use super::body_time::{Times, solid, times};
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

#[derive(Serialize)]
struct Row {
    law: String,
    tets: usize,
    points: usize,
    step_ms: f64,
    #[serde(flatten)]
    times: Times,
    iterations: u32,
    /// Step over the time it takes with two threads.
    real_time_factor: f64,
    mujoco_flex_ms: Option<f64>,
}

/// MuJoCo 4 flex, 320 points and 1,026 tetrahedra, 2 ms steps, in ms per step.
const MUJOCO: f64 = 1.84;
const FRAME: f64 = 1e3 / 60.0;

/// Measures finite elements.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    let steps = if args.quick { 30 } else { 500 };
    out.table(
        "Finite elements: implicit steps",
        "A clamped beam swings under gravity; residual 1e-4, warm-started; median over all steps. \
         MuJoCo 4 flex was measured on a machine of this kind with the same counts and step; the \
         goals are a third of its time, and 10,000 tetrahedra at 60 Hz in real time.",
    );
    let corotational = ElasticLaw::Corotational;
    let sizes = [
        (corotational, [19, 3, 3], 2.0, Some(MUJOCO)),
        (ElasticLaw::NeoHookean, [19, 3, 3], 2.0, Some(MUJOCO)),
        (corotational, [19, 3, 3], FRAME, None),
        (corotational, [27, 8, 8], FRAME, None),
        (corotational, [38, 10, 10], FRAME, None),
        (corotational, [49, 13, 13], FRAME, None),
    ];
    let most = if args.quick { 2 } else { sizes.len() };
    for (law, cells, step_ms, mujoco) in sizes.into_iter().take(most) {
        let steps = if cells[0] > 30 { steps / 5 } else { steps };
        let row = row(law, cells, step_ms, mujoco, steps)?;
        out.row(&[("bench", "fem")], &row);
    }
    Ok(())
}

fn row(
    law: ElasticLaw,
    cells: [u32; 3],
    step_ms: f64,
    mujoco_flex_ms: Option<f64>,
    steps: usize,
) -> Result<Row, CliError> {
    let [nx, ny, nz] = cells.map(|c| c as f32);
    let beam = TetBlock {
        min: Vec3::ZERO,
        max: 0.02 * Vec3::new(nx, ny, nz),
        cells,
    };
    let mesh = beam.build().map_err(|e| CliError::Usage(e.to_string()))?;
    let model = SolidModel::Elastic(Elastic {
        law,
        young: 5e5,
        poisson: 0.3,
        ..Elastic::default()
    });
    let mut body = solid(SolidSettings::new("beam", model), mesh)?;
    body.pin_where(|p| p.x < 1e-4);
    let (times, last) = times(&body, (1e-3 * step_ms) as f32, steps, 9.81, &[])?;
    Ok(Row {
        law: format!("{law:?}"),
        tets: body.rest().tets.len(),
        points: body.len(),
        step_ms,
        iterations: last.solver().map_or(0, |(iterations, _)| iterations),
        real_time_factor: step_ms / times.ms_2_threads,
        times,
        mujoco_flex_ms,
    })
}
