//! The front of a collapsing column against the experiment of Martin & Moyce 1952.

use glam::Vec3;
use pliant::fluid::{NewParticle, settle};
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, World};
use pliant_render::{LineChart, Series, SeriesStyle};

use super::{Case, Row};
use crate::cli::ValidateArgs;
use crate::error::CliError;
use crate::output::OutputError;

pub(super) const CASE: Case = Case {
    name: "dam-break",
    about: "A column of water of width a and height 2a collapses along a smooth floor: the surge \
            front Z = z/a at T = t sqrt(2g/a) against Martin & Moyce 1952, a = 2.25 inches, up to \
            Z = 5. The scatter row is how far their own a = 1.125 inch series is from that one. \
            Two resolutions.",
    run,
};

/// Fixed before the first run: root mean square of (Z - Z_exp) / Z_exp over the
/// experiment's points.
const TOLERANCE: f64 = 0.10;

/// (T, Z) for a = 2.25 inches (Phil. Trans. R. Soc. A 244, 312-324).
const WIDE: [(f64, f64); 6] = [
    (0.832, 1.217),
    (1.219, 1.474),
    (1.997, 2.292),
    (2.547, 2.995),
    (3.345, 4.134),
    (4.034, 4.944),
];

/// (T, Z) for a = 1.125 inches.
const NARROW: [(f64, f64); 7] = [
    (0.849, 1.245),
    (1.212, 1.443),
    (1.602, 1.884),
    (2.283, 2.689),
    (2.950, 3.728),
    (3.598, 4.528),
    (3.905, 4.999),
];

/// Column width in metres.
const A: f32 = 2.25 * 0.0254;

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    let mut series = vec![
        Series::line("Martin & Moyce, 2.25 in", WIDE.to_vec()).styled(SeriesStyle::Markers),
        Series::line("Martin & Moyce, 1.125 in", NARROW.to_vec()).styled(SeriesStyle::Markers),
    ];
    for columns in [16, 32] {
        let front = surge_front(columns)?;
        let error = rms(&WIDE, &front);
        rows.push(Row::with_error(
            format!("surge front, RMS relative error, {columns} particles across a"),
            error,
            0.0,
            error,
            TOLERANCE,
        ));
        series.push(Series::line(format!("pliant, a / {columns}"), front));
    }
    let scatter = rms(&NARROW, &WIDE);
    rows.push(Row::with_error(
        "the experiment's own scatter",
        scatter,
        0.0,
        scatter,
        TOLERANCE,
    ));
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|e| OutputError::io(folder, e))?;
        LineChart {
            title: "Dam break: surge front".into(),
            x_label: "T = t sqrt(2g/a)".into(),
            y_label: "Z = z/a".into(),
            series,
            ..LineChart::default()
        }
        .save_png(folder.join("dam_break.png"))?;
    }
    Ok(rows)
}

/// The front as (T, Z), with `columns` particles across the width of the column.
fn surge_front(columns: u32) -> Result<Vec<(f64, f64)>, CliError> {
    let spacing = A / columns as f32;
    let depth = 0.5 * A;
    let mut world = World::new();
    for (name, point, normal) in [
        ("floor", Vec3::ZERO, Vec3::Y),
        ("rear", Vec3::ZERO, Vec3::X),
        ("left", Vec3::ZERO, Vec3::Z),
        ("right", Vec3::Z * depth, Vec3::NEG_Z),
    ] {
        world.add_obstacle(Obstacle::plane(name, point, normal));
    }
    let mut settings = FluidSettings::new(
        Material {
            surface_tension: 0.0,
            ..Material::WATER
        },
        spacing,
    );
    settings.numerical_viscosity = 0.02;
    // Ten times the speed of a fall through the column.
    let sound_speed = 10.0 * (2.0 * 9.81 * 2.0 * A).sqrt();
    settings.sound_speed = Some(sound_speed);
    let water = world
        .add_fluid(settings)
        .map_err(|e| CliError::Usage(e.to_string()))?;
    let column = Region::Box {
        min: Vec3::ZERO,
        max: Vec3::new(A, 2.0 * A, depth),
    };
    let mut points = Fill::Region(column)
        .points(spacing)
        .map_err(|e| CliError::Usage(e.to_string()))?;
    settle(&mut points, spacing, world.gravity, sound_speed);
    let particles: Vec<NewParticle> = points
        .into_iter()
        .map(|position| NewParticle {
            position,
            velocity: Vec3::ZERO,
        })
        .collect();
    world.add_particles(water, &particles);

    let unit = (f64::from(A) / (2.0 * 9.81)).sqrt();
    let dt = 0.05 * unit;
    let mut front = vec![(0.0, 1.0)];
    while front.last().is_some_and(|f| f.1 < 5.3) && front.len() < 150 {
        world.step(dt as f32)?;
        let Some(fluid) = world.fluid(water) else {
            break;
        };
        // Half a row of particles must be ahead: one stray drop is not the front.
        let mut x: Vec<f32> = fluid.positions().x.to_vec();
        x.sort_unstable_by(|a, b| b.total_cmp(a));
        let row = (depth / spacing) as usize / 2;
        let z = f64::from((x[row.min(x.len() - 1)] + 0.5 * spacing) / A);
        front.push((world.time() / unit, z));
    }
    Ok(front)
}

/// RMS over `points` of the relative difference to the curve through `other`.
fn rms(points: &[(f64, f64)], other: &[(f64, f64)]) -> f64 {
    let errors: Vec<f64> = points
        .iter()
        .filter_map(|&(t, z)| Some((interpolate(other, t)? - z) / z))
        .collect();
    if errors.is_empty() {
        return f64::NAN;
    }
    (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt()
}

fn interpolate(curve: &[(f64, f64)], t: f64) -> Option<f64> {
    curve.windows(2).find_map(|w| {
        let [(t0, z0), (t1, z1)] = [w[0], w[1]];
        (t0..=t1)
            .contains(&t)
            .then(|| z0 + (z1 - z0) * (t - t0) / (t1 - t0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rms_of_a_curve_with_itself_is_zero() {
        assert!(rms(&WIDE, &WIDE) < 1e-12);
        let shifted: Vec<(f64, f64)> = WIDE.iter().map(|&(t, z)| (t, 1.1 * z)).collect();
        assert!((rms(&WIDE, &shifted) - 0.1).abs() < 1e-9);
    }
}
