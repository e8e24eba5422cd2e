//! Liquid between two plates, driven along them: the profile of Poiseuille.

use std::f64::consts::PI;

use glam::Vec3;
use pliant::fluid::{Thinning, Tolerances};
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, World};

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "poiseuille",
    about: "A viscous liquid between two plates it sticks to, 20 mm apart, starts from rest under \
            a uniform force along them (Re 2): mean velocity by layers of one spacing in the \
            middle of a channel with free ends, against the start-up series of plane Poiseuille \
            flow, L2 error as a share of the profile's norm. Early (t = 0.25 a²/ν) and nearly \
            steady (t = 1.5 a²/ν, when the middle has moved by nine tenths of the half gap a). \
            10 and 20 particles across; numerical viscosity off. The channel is 24 half gaps \
            long, because its free ends drag the middle along (12 half gaps: 2.8 % at 3 a²/ν \
            instead of 0.7 %), and the pressure is solved exactly enough that what is left \
            undone does not drive the ends apart. Last, a liquid that thins with shear (Carreau, \
            ten times thinner at high shear) in the same channel, against the same equation \
            solved on a fine grid. Its error did not fall with the resolution (1.63 % at both) as \
            long as viscosity was solved for to a share of the velocities: in a flow that is nearly \
            steady, what each sub-step leaves undone must be small beside what it changes.",
    run,
};

/// Fixed before the first run: L2 error with 10 and with 20 particles across.
const TOLERANCES: [(u32, f64); 2] = [(10, 0.04), (20, 0.02)];
/// The error must fall with the resolution.
const CONVERGENCE: f64 = 1.0;

/// A liquid that thins with shear: at the walls it is 2.4 times thinner than at rest.
const THINNING: Thinning = Thinning {
    viscosity: 0.1,
    time: 0.25,
    exponent: 0.4,
};

/// Half the gap in metres.
const HALF_GAP: f64 = 0.01;
/// Kinematic viscosity in m²/s.
const VISCOSITY: f64 = 1e-3;
/// Of the steady flow, in the middle, in m/s.
const TOP_SPEED: f64 = 0.1;
/// When the profile is taken, in units of a²/ν.
const TIMES: [f64; 2] = [0.25, 1.5];
/// Length of the channel in half gaps, and of the part that is measured.
const LENGTH: f64 = 24.0;
const MEASURED: f64 = 3.0;
/// Particles between the side walls, along which the liquid slips.
const DEPTH: u32 = 6;
/// Steps per a²/ν and particle across. Viscosity is solved to first order in time: with 200
/// steps that alone is half a per cent of the early profile. Steps are refined along with the
/// particles, so that both errors fall.
const STEPS: u32 = 40;
/// What one solve leaves undone, the next turns into a speed of the ends: that share of the
/// half length per sub-step. It must be small beside that of the flow.
const SOLVE: Tolerances = Tolerances {
    density: 3e-5,
    divergence: 6e-5,
    max_iterations: 100,
    correction: 0.05,
};

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    let mut last = Vec::new();
    for (across, tolerance) in TOLERANCES {
        let errors = errors(across, None, exact)?;
        for (time, error) in TIMES.iter().zip(&errors) {
            let quantity = format!("profile at {time} a²/ν, L2 error, {across} across");
            rows.push(Row::with_error(quantity, *error, 0.0, *error, tolerance));
        }
        last.push(errors);
    }
    rows.extend(falls("error", &last));
    let thinning = ThinningFlow::at_all_times();
    last.clear();
    for (across, tolerance) in TOLERANCES {
        let errors = errors(across, Some(THINNING), |y, t| thinning.exact(y, t))?;
        for (time, error) in TIMES.iter().zip(&errors) {
            let quantity = format!("thinning, profile at {time} a²/ν, L2 error, {across} across");
            rows.push(Row::with_error(quantity, *error, 0.0, *error, tolerance));
        }
        last.push(errors);
    }
    rows.extend(falls("thinning, error", &last));
    Ok(rows)
}

/// By how much errors with 20 particles across are below those with 10, at all times.
fn falls<'a>(what: &'a str, errors: &'a [Vec<f64>]) -> impl Iterator<Item = Row> + 'a {
    TIMES.iter().enumerate().map(move |(k, time)| {
        let ratio = errors[1][k] / errors[0][k];
        let quantity = format!("{what} at {time} a²/ν, 20 across / 10 across");
        Row::with_error(quantity, ratio, 0.0, ratio, CONVERGENCE)
    })
}

/// L2 errors of the profile at all times, against velocity by height and time.
fn errors(
    across: u32,
    thinning: Option<Thinning>,
    exact: impl Fn(f64, f64) -> f64,
) -> Result<Vec<f64>, CliError> {
    let mut world = channel(across, thinning)?;
    let unit = HALF_GAP * HALF_GAP / VISCOSITY;
    let all_steps = f64::from(STEPS * across);
    let mut steps = 0;
    let mut errors = Vec::new();
    for time in TIMES {
        while f64::from(steps) < (time * all_steps).round() {
            world.step((unit / all_steps) as f32)?;
            steps += 1;
        }
        errors.push(profile_error(&world, across, |y| exact(y, time * unit)));
    }
    Ok(errors)
}

/// The channel, along x, with its plates at y = ±a.
fn channel(across: u32, thinning: Option<Thinning>) -> Result<World, CliError> {
    let half_gap = HALF_GAP as f32;
    let spacing = 2.0 * half_gap / across as f32;
    let half = 0.5
        * Vec3::new(
            LENGTH as f32 * half_gap,
            2.0 * half_gap,
            DEPTH as f32 * spacing,
        );
    let density = Material::WATER.density;
    let material = Material {
        viscosity: VISCOSITY as f32 * density,
        surface_tension: 0.0,
        thinning,
        ..Material::WATER
    };
    let mut world = World::new();
    world.gravity = acceleration() as f32 * Vec3::X;
    for (name, normal) in [
        ("lower plate", Vec3::Y),
        ("upper plate", Vec3::NEG_Y),
        ("back", Vec3::Z),
        ("front", Vec3::NEG_Z),
    ] {
        let wall = Obstacle::plane(name, -half * normal.abs() * normal.signum(), normal);
        world.add_obstacle(wall.with_no_slip(normal.y != 0.0));
    }
    let settings = FluidSettings {
        numerical_viscosity: 0.0,
        tolerances: SOLVE,
        ..FluidSettings::new(material, spacing)
    };
    let fluid = world.add_fluid(settings).map_err(fault)?;
    let fill = Fill::Region(Region::Box {
        min: -half,
        max: half,
    });
    world.fill(fluid, &fill).map_err(fault)?;
    Ok(world)
}

/// What drives the liquid, in m/s².
fn acceleration() -> f64 {
    2.0 * VISCOSITY * TOP_SPEED / (HALF_GAP * HALF_GAP)
}

/// Velocity at height `y` and time `t` after the start from rest: the parabola less
/// the modes that have not died out yet.
fn exact(y: f64, t: f64) -> f64 {
    let eta = y / HALF_GAP;
    let tau = VISCOSITY * t / (HALF_GAP * HALF_GAP);
    let modes: f64 = (0..50)
        .map(|n| {
            let odd = f64::from(2 * n + 1);
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            let k = 0.5 * odd * PI;
            sign * (k * eta).cos() * (-k * k * tau).exp() * 32.0 / (odd * PI).powi(3)
        })
        .sum();
    TOP_SPEED * (1.0 - eta * eta - modes)
}

/// The flow of the thinning liquid, solved on a grid from a plate to the middle.
struct ThinningFlow {
    /// Velocities at the nodes, for each of [`TIMES`].
    profiles: Vec<Vec<f64>>,
}

impl ThinningFlow {
    const CELLS: usize = 200;

    /// `ρ du/dt = d/dy (μ du/dy) + ρ g`, implicit with the viscosity of the step before.
    fn at_all_times() -> ThinningFlow {
        const STEPS_PER_UNIT: f64 = 20_000.0;
        let unit = HALF_GAP * HALF_GAP / VISCOSITY;
        let (n, dt) = (Self::CELLS, unit / STEPS_PER_UNIT);
        let dy = HALF_GAP / n as f64;
        let mut u = vec![0.0; n + 1];
        let mut steps = 0;
        let mut profiles = Vec::new();
        for time in TIMES {
            while f64::from(steps) < (time * STEPS_PER_UNIT).round() {
                let diffusion: Vec<f64> = (0..n)
                    .map(|k| {
                        let shear = ((u[k + 1] - u[k]) / dy).abs();
                        dt / (dy * dy) * kinematic(shear)
                    })
                    .collect();
                diffuse(&mut u, &diffusion, dt * acceleration());
                steps += 1;
            }
            profiles.push(u.clone());
        }
        ThinningFlow { profiles }
    }

    /// Velocity at height `y` and one of [`TIMES`], in seconds.
    fn exact(&self, y: f64, t: f64) -> f64 {
        let unit = HALF_GAP * HALF_GAP / VISCOSITY;
        let profile = TIMES.iter().position(|time| (time * unit - t).abs() < 1e-9);
        let profile = &self.profiles[profile.unwrap_or(0)];
        let place = (1.0 - y.abs() / HALF_GAP).clamp(0.0, 1.0) * Self::CELLS as f64;
        let k = (place as usize).min(Self::CELLS - 1);
        profile[k] + (place - k as f64) * (profile[k + 1] - profile[k])
    }
}

/// Viscosity over density at a shear rate, in m²/s.
fn kinematic(shear: f64) -> f64 {
    let density = f64::from(Material::WATER.density);
    let at_rest = VISCOSITY * density;
    f64::from(THINNING.viscosity(at_rest as f32, shear as f32)) / density
}

/// One implicit step: `u` is 0 at its start, a plate, and even about its end, the middle.
/// `diffusion` is between neighbours (Thomas' elimination).
fn diffuse(u: &mut [f64], diffusion: &[f64], push: f64) {
    let n = u.len() - 1;
    let (mut above, mut right) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for k in 1..=n {
        // Beyond the middle everything is mirrored.
        let (below, next) = (diffusion[k - 1], *diffusion.get(k).unwrap_or(&0.0));
        let below = if k == n { 2.0 * below } else { below };
        let pivot = 1.0 + below + next - below * above[k - 1];
        above[k] = next / pivot;
        right[k] = (u[k] + push + below * right[k - 1]) / pivot;
    }
    u[n] = right[n];
    for k in (1..n).rev() {
        u[k] = right[k] + above[k] * u[k + 1];
    }
}

/// L2 norm of the error of the mean velocities in layers, over that of the profile.
fn profile_error(world: &World, across: u32, exact: impl Fn(f64) -> f64) -> f64 {
    // Sums of the velocity, the exact one, and their number.
    let mut layers = vec![(0.0, 0.0, 0.0); across as usize];
    for fluid in world.fluids() {
        for (p, v) in fluid.positions().iter().zip(fluid.velocities().iter()) {
            if f64::from(p.x).abs() > 0.5 * MEASURED * HALF_GAP {
                continue;
            }
            let y = f64::from(p.y);
            let place = (y / HALF_GAP + 1.0) * 0.5 * f64::from(across);
            let layer = &mut layers[(place.max(0.0) as usize).min(across as usize - 1)];
            layer.0 += f64::from(v.x);
            layer.1 += exact(y);
            layer.2 += 1.0;
        }
    }
    let (mut error, mut size) = (0.0, 0.0);
    for (v, right, n) in layers.into_iter().filter(|l| l.2 > 0.0) {
        error += ((v - right) / n).powi(2);
        size += (right / n).powi(2);
    }
    (error / size).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_starts_from_rest_and_ends_in_the_parabola() {
        for y in [0.0, 0.3 * HALF_GAP, 0.8 * HALF_GAP] {
            assert!(exact(y, 0.0).abs() < 1e-3 * TOP_SPEED, "{y}");
            let parabola = TOP_SPEED * (1.0 - (y / HALF_GAP).powi(2));
            assert!((exact(y, 1.0) - parabola).abs() < 1e-6 * TOP_SPEED);
        }
        // Far from the walls it falls freely at first.
        let t = 0.02 * HALF_GAP * HALF_GAP / VISCOSITY;
        assert!((exact(0.0, t) / (acceleration() * t) - 1.0).abs() < 1e-3);
    }
}
