//! Water at rest in a box: pressure must be ρ g (H - y).

use glam::Vec3;
use pliant::scene::{Built, Scene};

use super::{Case, Row};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "hydrostatic",
    about: "Water at rest in a box: pressure against ρ g (H - y), by layers of one spacing, away \
            from walls and surface; H is the height the water has settled to. Weight on the \
            floor, motion left after settling. Two resolutions.",
    run,
};

/// Fixed before the first run. Pressure: share of ρ g H, root mean square over the
/// layers. Speed: share of sqrt(g H).
const PRESSURE_TOLERANCE: f64 = 0.05;
const WEIGHT_TOLERANCE: f64 = 0.02;
const SPEED_TOLERANCE: f64 = 0.01;

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for spacing in [0.04, 0.02] {
        rows.extend(at(spacing)?);
    }
    Ok(rows)
}

fn at(spacing: f32) -> Result<Vec<Row>, CliError> {
    let scene = Scene::open("hydrostatic", &[format!("fluid.0.spacing={spacing}")])?;
    let mut built = scene.build()?;
    let frame = scene.description.frame;
    let frames = (scene.description.duration / f64::from(frame)).round() as usize;
    let mut weight = 0.0;
    for k in 0..frames {
        built.world.step(frame)?;
        if k >= frames / 2 {
            let force: Vec3 = built
                .obstacles
                .iter()
                .map(|(o, _)| built.world.force_on(*o))
                .sum();
            weight -= f64::from(force.y) / (frames - frames / 2) as f64;
        }
    }
    let (pressure_error, depth) = pressure_error(&built, spacing);
    let totals = built.world.totals();
    let g = 9.81;
    let rms_speed = (2.0 * totals.kinetic / totals.mass).sqrt();
    let label = |text: &str| format!("{text}, spacing {} mm", 1e3 * spacing);
    Ok(vec![
        Row::with_error(
            label("pressure profile, RMS error / ρgH"),
            pressure_error,
            0.0,
            pressure_error,
            PRESSURE_TOLERANCE,
        ),
        Row::relative(
            label("mean force on the box [N]"),
            weight,
            totals.mass * g,
            WEIGHT_TOLERANCE,
        ),
        Row::absolute(
            label("RMS speed / sqrt(gH)"),
            rms_speed / (g * depth).sqrt(),
            0.0,
            SPEED_TOLERANCE,
        ),
        Row::absolute(label("leaked"), built.world.leaked() as f64, 0.0, 0.0),
    ])
}

/// RMS over layers of (mean pressure - ρ g (H - y)) / (ρ g H), and the depth H.
fn pressure_error(built: &Built, spacing: f32) -> (f64, f64) {
    let Some(fluid) = built.world.fluids().next() else {
        return (f64::NAN, 0.0);
    };
    let rho = f64::from(fluid.settings().material.density);
    let bounds = built.world.bounds();
    let floor = bounds.min.y;
    let positions = fluid.positions();
    // The surface is half a spacing above the highest particles; take the top
    // percent, so that one stray drop does not decide.
    let mut heights: Vec<f32> = positions.y.to_vec();
    heights.sort_unstable_by(f32::total_cmp);
    let top = heights[heights.len() - 1 - heights.len() / 100] + 0.5 * spacing;
    let depth = f64::from(top - floor);
    let layers = ((top - floor) / spacing) as usize;
    let mut sums = vec![(0.0f64, 0.0f64, 0usize); layers + 1];
    let h = fluid.support_radius();
    for (p, pressure) in positions.iter().zip(fluid.pressures()) {
        let clear = (p - bounds.min).min(bounds.max - p);
        if clear.x < h || clear.z < h || p.y - floor < h || top - p.y < h {
            continue;
        }
        let layer = &mut sums[(((p.y - floor) / spacing) as usize).min(layers)];
        layer.0 += f64::from(pressure);
        layer.1 += f64::from(top - p.y);
        layer.2 += 1;
    }
    let errors: Vec<f64> = sums
        .iter()
        .filter(|l| l.2 > 10)
        .map(|l| {
            let n = l.2 as f64;
            (l.0 / n - rho * 9.81 * l.1 / n) / (rho * 9.81 * depth)
        })
        .collect();
    let square: f64 = errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64;
    (square.sqrt(), depth)
}
