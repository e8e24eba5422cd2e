//! What no liquid may create or lose.

use glam::Vec3;
use pliant::fluid::NewParticle;
use pliant::{Fill, FluidSettings, Material, Region, World};

use super::{Case, Row};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "conservation",
    about: "A free block of water without walls. Thrown and spinning without gravity: momentum, \
            and energy that may only fall. Falling: like a stone.",
    run,
};

/// Fixed before the first run. f32 positions and velocities, some thousand
/// sub-steps: round-off of each is 6e-8.
const MOMENTUM_TOLERANCE: f64 = 1e-4;
const FALL_TOLERANCE: f64 = 1e-4;

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    let mut world = block(Vec3::ZERO)?;
    let start = world.totals();
    let mut energy = start.kinetic;
    let mut gained: f64 = 0.0;
    for _ in 0..50 {
        world.step(0.01)?;
        let now = world.totals().kinetic;
        gained = gained.max((now - energy) / start.kinetic);
        energy = now;
    }
    let end = world.totals();
    rows.push(Row::absolute(
        "change of momentum / momentum, 0.5 s",
        (end.momentum - start.momentum).length() / start.momentum.length(),
        0.0,
        MOMENTUM_TOLERANCE,
    ));
    rows.push(Row::with_error(
        "kinetic energy at the end / at the start (may only fall)",
        end.kinetic / start.kinetic,
        1.0,
        gained.max(0.0),
        1e-3,
    ));
    rows.push(Row::absolute(
        "change of mass [kg]",
        end.mass - start.mass,
        0.0,
        0.0,
    ));

    let mut world = block(Vec3::new(0.0, -9.81, 0.0))?;
    let start = world.totals();
    for _ in 0..50 {
        world.step(0.01)?;
    }
    let t = world.time();
    let v0 = start.momentum / start.mass;
    let expected = start.center_of_mass().y + v0.y * t - 0.5 * 9.81 * t * t;
    rows.push(Row::relative(
        "height of a thrown block after 0.5 s [m]",
        world.totals().center_of_mass().y,
        expected,
        FALL_TOLERANCE,
    ));
    Ok(rows)
}

/// A block of 4,096 particles that flies and spins.
fn block(gravity: Vec3) -> Result<World, CliError> {
    let mut world = World::new();
    world.gravity = gravity;
    let mut settings = FluidSettings::new(
        Material {
            surface_tension: 0.0,
            ..Material::WATER
        },
        0.01,
    );
    settings.sound_speed = Some(20.0);
    let water = world
        .add_fluid(settings)
        .map_err(|e| CliError::Usage(e.to_string()))?;
    let region = Region::Box {
        min: Vec3::splat(-0.08),
        max: Vec3::splat(0.08),
    };
    let points = Fill::Region(region)
        .points(0.01)
        .map_err(|e| CliError::Usage(e.to_string()))?;
    let particles: Vec<NewParticle> = points
        .into_iter()
        .map(|position| NewParticle {
            position,
            velocity: Vec3::new(1.0, 0.5, 0.25) + Vec3::new(2.0, 3.0, -1.0).cross(position),
        })
        .collect();
    world.add_particles(water, &particles);
    Ok(world)
}
