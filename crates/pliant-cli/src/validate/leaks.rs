//! Contrast fluid stays in the colon, whichever way gravity points, and comes to
//! rest.

use glam::Vec3;
use pliant::scene::Scene;

use super::{Case, Row};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "leaks",
    about: "The colon scene with gravity in six directions: particles outside the wall at any \
            frame, and the root-mean-square speed at the end as a share of sqrt(gH), H the \
            colon's height. 1 s each, 10 s each with --full.",
    run,
};

/// Fixed before the first run. The speed counts only in the full run: after one
/// second the fluid is still running.
const SPEED_TOLERANCE: f64 = 0.01;

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for (name, direction) in [
        ("-y", Vec3::NEG_Y),
        ("+y", Vec3::Y),
        ("-x", Vec3::NEG_X),
        ("+x", Vec3::X),
        ("-z", Vec3::NEG_Z),
        ("+z", Vec3::Z),
    ] {
        let g = 9.81 * direction;
        let scene = Scene::open(
            "colon",
            &[format!("gravity.acceleration=[{}, {}, {}]", g.x, g.y, g.z)],
        )?;
        let mut built = scene.build()?;
        let frame = scene.description.frame;
        let duration = if args.full { 10.0 } else { 1.0 };
        let mut leaked = 0;
        for _ in 0..(duration / f64::from(frame)).round() as usize {
            built.world.step(frame)?;
            leaked = leaked.max(built.world.leaked());
        }
        rows.push(Row::absolute(
            format!("gravity {name}, leaked particles in {duration} s"),
            leaked as f64,
            0.0,
            0.0,
        ));
        if args.full {
            let totals = built.world.totals();
            let speed = (2.0 * totals.kinetic / totals.mass).sqrt();
            let height = f64::from(built.world.bounds().size().y);
            rows.push(Row::absolute(
                format!("gravity {name}, RMS speed / sqrt(gH) after {duration} s"),
                speed / (9.81 * height).sqrt(),
                0.0,
                SPEED_TOLERANCE,
            ));
        }
    }
    Ok(rows)
}
