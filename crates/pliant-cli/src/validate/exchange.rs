//! The books of momentum in the scenes of Müller et al. 2004.

use pliant::scene::Scene;

use super::leaks::scene;
use super::{Case, Row};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "exchange",
    about: "Momentum in the scenes of Müller et al. 2004, in every step: what liquid and bodies \
            have together, less what gravity and loads, obstacles, pins, nozzles and sinks have \
            given, each summed up where it acts, as a share of all momenta and impulses. What \
            liquid and bodies give to each other must cancel. 1 s each, the whole scene with \
            --full.",
    run,
};

/// Fixed before the first run: rounding of some hundred operations on f32 per step.
const TOLERANCE: f64 = 1e-5;

/// The scenes of the source.
pub(super) const SCENES: [&str; 5] = [
    "pool",
    "floating-boxes",
    "falling-box",
    "vessel",
    "vessel-injury",
];

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for name in SCENES {
        let (mut built, frame) = scene(name, &[])?;
        let seconds = if args.full {
            Scene::open(name, &[])?.description.duration
        } else {
            1.0
        };
        let (mut worst, mut when): (f64, f64) = (0.0, 0.0);
        let steps = (seconds / f64::from(frame)).round() as u32;
        for _ in 0..steps {
            built.world.step(frame)?;
            let books = built.world.exchange();
            if books.error() > worst {
                (worst, when) = (books.error(), built.world.time());
            }
        }
        rows.push(Row::absolute(
            format!("{name}, largest share unaccounted for in {steps} steps, at {when:.2} s"),
            worst,
            0.0,
            TOLERANCE,
        ));
    }
    Ok(rows)
}
