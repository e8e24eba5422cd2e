//! Water at rest in a box: pressure must be ρ g (H - y).

use glam::Vec3;
use pliant::scene::{Built, Scene};

use super::{Case, Row};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "hydrostatic",
    about: "Water at rest in a box: pressure against ρ g (H - y), by layers of one spacing, away \
            from walls and surface, averaged over the second half of the run; H is the height that \
            the volume of the water has on this floor. Weight on the floor, motion left after \
            5 s: mean and fastest particle. The water does not start as a perfect lattice, which \
            under load is a crystal and gives way in jerks, but moved out of it by up to 5 % of \
            the spacing. Two resolutions.",
    run,
};

/// Pressure: share of ρ g H, root mean square over the layers. Speed: share of
/// sqrt(g H).
const PRESSURE_TOLERANCE: f64 = 0.01;
const WEIGHT_TOLERANCE: f64 = 0.02;
const SPEED_TOLERANCE: f64 = 0.01;

/// Of the scene, in m/s².
const GRAVITY: f64 = 9.81;

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
    let mut layers = Layers::default();
    for k in 0..frames {
        built.world.step(frame)?;
        if k >= frames / 2 {
            let force: Vec3 = built
                .obstacles
                .iter()
                .map(|(o, _)| built.world.force_on(*o))
                .sum();
            weight -= f64::from(force.y) / (frames - frames / 2) as f64;
            layers.include(&built, spacing);
        }
    }
    let totals = built.world.totals();
    let pressure_error = layers.error();
    let rms_speed = (2.0 * totals.kinetic / totals.mass).sqrt();
    let fall_speed = (GRAVITY * layers.depth).sqrt();
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
            totals.mass * GRAVITY,
            WEIGHT_TOLERANCE,
        ),
        Row::absolute(
            label("RMS speed / sqrt(gH)"),
            rms_speed / fall_speed,
            0.0,
            SPEED_TOLERANCE,
        ),
        Row::absolute(
            label("largest speed / sqrt(gH)"),
            f64::from(totals.max_speed) / fall_speed,
            0.0,
            SPEED_TOLERANCE,
        ),
        Row::absolute(label("leaked"), built.world.leaked() as f64, 0.0, 0.0),
    ])
}

/// Sums over layers of one spacing and over time.
#[derive(Default)]
struct Layers {
    /// Pressure, analytic pressure and number of particles seen.
    sums: Vec<(f64, f64, usize)>,
    /// H in metres.
    depth: f64,
    density: f64,
}

impl Layers {
    fn include(&mut self, built: &Built, spacing: f32) {
        let Some(fluid) = built.world.fluids().next() else {
            return;
        };
        self.density = f64::from(fluid.settings().material.density);
        let bounds = built.world.bounds();
        let floor = bounds.min.y;
        let positions = fluid.positions();
        let floor_area = f64::from((bounds.max.x - bounds.min.x) * (bounds.max.z - bounds.min.z));
        self.depth = built.world.totals().mass / (self.density * floor_area);
        let top = floor + self.depth as f32;
        let h = fluid.support_radius();
        for (p, pressure) in positions.iter().zip(fluid.pressures()) {
            let clear = (p - bounds.min).min(bounds.max - p);
            if clear.x < h || clear.z < h || p.y - floor < h || top - p.y < h {
                continue;
            }
            let layer = ((p.y - floor) / spacing) as usize;
            if self.sums.len() <= layer {
                self.sums.resize(layer + 1, (0.0, 0.0, 0));
            }
            let sum = &mut self.sums[layer];
            sum.0 += f64::from(pressure);
            sum.1 += self.density * GRAVITY * f64::from(top - p.y);
            sum.2 += 1;
        }
    }

    /// RMS over layers of (mean pressure - ρ g (H - y)) / (ρ g H).
    fn error(&self) -> f64 {
        let whole = self.density * GRAVITY * self.depth;
        let errors: Vec<f64> = self
            .sums
            .iter()
            .filter(|l| l.2 > 10)
            .map(|l| (l.0 - l.1) / l.2 as f64 / whole)
            .collect();
        let square: f64 = errors.iter().map(|e| e * e).sum();
        (square / errors.len() as f64).sqrt()
    }
}
