//! Surface tension against Laplace, Rayleigh and Young.

use std::f64::consts::PI;

use glam::Vec3;
use pliant::fluid::{NewParticle, jitter};
use pliant::{Fill, Fluid, FluidSettings, Material, Obstacle, Region, World};

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "tension",
    about: "A brick of liquid in weightlessness becomes a drop of 13.5 mm. At rest: the pressure of \
            Laplace, 2 σ / R, within 5 %, mean of six starts that are shaken differently by 0.05 \
            spacings: single drops differ by 3 %, because particles settle into one order or \
            another, and one alone, as it was measured before, proves little. Set swinging: the \
            period of Rayleigh, 2π sqrt(ρ R³ / 8σ), \
            within 5 %. Half a drop on a plate: the contact angle of the plate, from the height of \
            the drop's centre, within 5 degrees. The strength of the force is one number in the \
            engine, chosen so that the pressures hold; the repulsion of dry walls is another, and the \
            attraction of wet ones, of late, a third, chosen so that the rows of 120° and of 60° \
            hold; all other rows follow, those of 45° and 75° added to see that.",
    run,
};

/// Fixed before the first run.
const PRESSURE_TOLERANCE: f64 = 0.05;
const PERIOD_TOLERANCE: f64 = 0.05;
const ANGLE_TOLERANCE: f64 = 5.0;

const TENSION: f64 = 0.072;
const DENSITY: f64 = 1000.0;
const SPACINGS: [f32; 2] = [1.25e-3, 0.9e-3];
/// Drops whose mean pressure counts.
const STARTS: usize = 6;
/// Half the edges of the brick.
const BRICK: Vec3 = Vec3::new(11.2e-3, 14.0e-3, 9.1e-3);

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for spacing in SPACINGS {
        let millimetres = 1e3 * spacing;
        let brick = Region::Box {
            min: -BRICK,
            max: BRICK,
        };
        let points = Fill::Region(brick).points(spacing).map_err(fault)?;
        let radius = radius(points.len(), spacing);
        let (mut pressure, mut rested) = (0.0, Vec::new());
        for start in 0..STARTS {
            // The order of the points decides how each is shaken.
            let mut shaken = points.clone();
            shaken.rotate_left(100 * start);
            jitter(&mut shaken, 0.05 * spacing);
            let mut world = liquid(spacing, 0.2, &shaken, |_| Vec3::ZERO)?;
            pressure += resting_pressure(&mut world)? / STARTS as f64;
            rested = places(&world)?;
        }
        rows.push(Row::relative(
            format!("pressure in a resting drop, spacing {millimetres} mm [Pa]"),
            pressure,
            2.0 * TENSION / radius,
            PRESSURE_TOLERANCE,
        ));
        rows.push(Row::relative(
            format!("period of a swinging drop, spacing {millimetres} mm [s]"),
            period(spacing, &rested)?,
            2.0 * PI * (DENSITY * radius.powi(3) / (8.0 * TENSION)).sqrt(),
            PERIOD_TOLERANCE,
        ));
    }
    for degrees in [45.0, 60.0, 75.0, 90.0, 120.0] {
        rows.push(Row::absolute(
            format!("contact angle on a plate of {degrees}° [°]"),
            contact_angle(SPACINGS[0], degrees)?,
            degrees,
            ANGLE_TOLERANCE,
        ));
    }
    Ok(rows)
}

fn liquid(
    spacing: f32,
    viscosity: f32,
    points: &[Vec3],
    velocity: impl Fn(Vec3) -> Vec3,
) -> Result<World, CliError> {
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let mut settings = FluidSettings::new(
        Material {
            density: DENSITY as f32,
            viscosity,
            surface_tension: TENSION as f32,
            ..Material::WATER
        },
        spacing,
    );
    // An error of 0.1 % of the density would be worth more than the pressure of the drop.
    settings.tolerances.density = 1e-5;
    settings.tolerances.divergence = 1e-5;
    let handle = world.add_fluid(settings).map_err(fault)?;
    let particles: Vec<NewParticle> = points
        .iter()
        .map(|&position| NewParticle {
            position,
            velocity: velocity(position),
        })
        .collect();
    world.add_particles(handle, &particles);
    Ok(world)
}

/// Mean pressure in the middle of a drop that has come to rest.
fn resting_pressure(world: &mut World) -> Result<f64, CliError> {
    advance(world, 0.5, |_| ())?;
    let (mut pressure, mut samples) = (0.0, 0);
    advance(world, 0.1, |fluid| {
        pressure += middle_pressure(fluid);
        samples += 1;
    })?;
    Ok(pressure / f64::from(samples))
}

/// Steps of 2 ms for `time` seconds; `look` sees the liquid after each.
fn advance(world: &mut World, time: f64, mut look: impl FnMut(&Fluid)) -> Result<(), CliError> {
    for _ in 0..(time / 0.002).round() as usize {
        world.step(0.002)?;
        if let Some(fluid) = world.fluids().next() {
            look(fluid);
        }
    }
    Ok(())
}

fn places(world: &World) -> Result<Vec<Vec3>, CliError> {
    let fluid = world.fluids().next();
    let fluid = fluid.ok_or_else(|| fault("the world has no liquid"))?;
    Ok(fluid.positions().iter().collect())
}

/// Radius of a ball of so many particles.
fn radius(particles: usize, spacing: f32) -> f64 {
    (3.0 * particles as f64 * f64::from(spacing).powi(3) / (4.0 * PI)).cbrt()
}

/// Mean pressure in the inner half of a drop.
fn middle_pressure(fluid: &Fluid) -> f64 {
    let n = fluid.len();
    let center = fluid.positions().iter().sum::<Vec3>() / n as f32;
    let reach = 0.5 * radius(n, fluid.settings().spacing) as f32;
    let inner: Vec<f64> = fluid
        .positions()
        .iter()
        .zip(fluid.pressures())
        .filter(|(x, _)| x.distance(center) < reach)
        .map(|(_, p)| f64::from(p))
        .collect();
    inner.iter().sum::<f64>() / inner.len() as f64
}

/// Sets a resting drop swinging between long and flat, and measures the time between
/// its passages through round in the same direction.
fn period(spacing: f32, rested: &[Vec3]) -> Result<f64, CliError> {
    let center = rested.iter().sum::<Vec3>() / rested.len() as f32;
    // Swings by about a tenth of the radius.
    let rate = 2.5;
    let mut world = liquid(spacing, 1e-3, rested, |x| {
        let d = x - center;
        rate * Vec3::new(-0.5 * d.x, d.y, -0.5 * d.z)
    })?;
    let mut lengths = Vec::new();
    advance(&mut world, 0.9, |fluid| {
        let n = fluid.len() as f32;
        let center = fluid.positions().iter().sum::<Vec3>() / n;
        let length = fluid.positions().iter().map(|x| {
            let d = x - center;
            d.y * d.y - 0.5 * (d.x * d.x + d.z * d.z)
        });
        lengths.push(f64::from(length.sum::<f32>()));
    })?;
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let rising: Vec<f64> = lengths
        .windows(2)
        .enumerate()
        .filter(|(_, w)| w[0] < mean && w[1] >= mean)
        .map(|(k, w)| 0.002 * (k as f64 + (mean - w[0]) / (w[1] - w[0])))
        .collect();
    match rising[..] {
        [first, .., last] => Ok((last - first) / (rising.len() - 1) as f64),
        _ => Ok(f64::NAN),
    }
}

/// Lets half a drop rest on a plate, and finds the angle of the cap whose centre is as
/// high as the drop's.
fn contact_angle(spacing: f32, plate: f64) -> Result<f64, CliError> {
    let ball = Region::Sphere {
        center: Vec3::ZERO,
        radius: 14e-3,
    };
    let mut points = Fill::Region(ball).points(spacing).map_err(fault)?;
    points.retain(|p| p.y > 0.0);
    let mut world = liquid(spacing, 0.2, &points, |_| Vec3::ZERO)?;
    let angle = plate.to_radians() as f32;
    world.add_obstacle(Obstacle::plane("plate", Vec3::ZERO, Vec3::Y).with_contact_angle(angle));
    advance(&mut world, 1.2, |_| ())?;
    let height = places(&world)?.iter().map(|p| f64::from(p.y)).sum::<f64>() / points.len() as f64;
    let volume = points.len() as f64 * f64::from(spacing).powi(3);
    // The centre rises with the angle.
    let (mut low, mut high) = (0.02, PI - 0.02);
    while high - low > 1e-4 {
        let middle = 0.5 * (low + high);
        if cap_height(middle, volume) < height {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low.to_degrees())
}

/// Height of the centre of a spherical cap above its base.
fn cap_height(angle: f64, volume: f64) -> f64 {
    let c = angle.cos();
    let unit = PI / 3.0 * (2.0 + c) * (1.0 - c).powi(2);
    let radius = (volume / unit).cbrt();
    // The cap's centre seen from the sphere's, minus the base's.
    let from_center = 0.75 * (1.0 + c).powi(2) / (2.0 + c);
    radius * (from_center - c)
}
