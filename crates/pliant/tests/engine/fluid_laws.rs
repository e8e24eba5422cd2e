//! What a liquid left to itself must keep: momentum, angular momentum, energy,
//! the law of falling bodies, and roundness under surface tension.

use crate::common::{DRY_WATER, Random, free_world, lattice, moving};
use pliant::fluid::{NewParticle, PressureMethod};
use pliant::{FluidSettings, Material, Vec3, World};

const SPACING: f32 = 0.02;

fn dry(sound_speed: f32) -> FluidSettings {
    FluidSettings {
        sound_speed: Some(sound_speed),
        ..FluidSettings::new(DRY_WATER, SPACING)
    }
}

/// A squeezed block (so that pressure acts), shaken, moving and turning.
fn shaken_block(speed: f32) -> Vec<NewParticle> {
    let mut random = Random(3);
    lattice([10, 9, 8], 0.9 * SPACING)
        .into_iter()
        .map(|p| NewParticle {
            position: p + 0.1 * SPACING * random.vector() + Vec3::new(0.3, -0.2, 0.1),
            velocity: speed * random.vector() + Vec3::new(0.5, 0.0, -0.25) + Vec3::Y.cross(p),
        })
        .collect()
}

/// `Σ m |v|`, the scale of a round-off of momentum.
fn momentum_scale(world: &World) -> f64 {
    let mass = |f: &pliant::Fluid| f64::from(f.particle_mass());
    world
        .fluids()
        .map(|f| {
            mass(f)
                * f.velocities()
                    .iter()
                    .map(|v| f64::from(v.length()))
                    .sum::<f64>()
        })
        .sum()
}

#[test]
fn momentum_of_a_free_cloud_stays() {
    for material in [
        DRY_WATER,
        Material {
            surface_tension: 0.0,
            ..Material::HONEY
        },
    ] {
        let settings = FluidSettings {
            material,
            ..dry(20.0)
        };
        let (mut world, _) = free_world(settings, &shaken_block(1.0));
        let (before, scale) = (world.totals().momentum, momentum_scale(&world));
        let mut worst = 0.0f64;
        for _ in 0..200 {
            world.step(2e-3).unwrap();
            worst = worst.max(world.totals().momentum.distance(before) / scale);
        }
        println!(
            "momentum strays by {worst:.1e} over {} sub-steps",
            world.steps().1
        );
        // 720 particles with a rounding of 6e-8 per sub-step each, not all one way.
        assert!(worst < 1e-5, "{worst}");
    }
}

#[test]
fn angular_momentum_under_pressure_stays() {
    let settings = FluidSettings {
        material: Material {
            viscosity: 0.0,
            ..DRY_WATER
        },
        numerical_viscosity: 0.0,
        ..dry(20.0)
    };
    let (mut world, _) = free_world(settings, &shaken_block(0.2));
    let before = world.totals().angular_momentum;
    let scale = momentum_scale(&world) * 0.5; // metres from the origin
    let mut worst = 0.0f64;
    for _ in 0..200 {
        world.step(2e-3).unwrap();
        worst = worst.max(world.totals().angular_momentum.distance(before) / scale);
    }
    println!(
        "angular momentum strays by {worst:.1e} over {} sub-steps",
        world.steps().1
    );
    assert!(worst < 1e-5, "{worst}");
}

#[test]
fn energy_does_not_grow_without_work() {
    // At rest density there is no elastic energy to give back.
    let honey = Material {
        surface_tension: 0.0,
        ..Material::HONEY
    };
    // Without gravity nothing calms incompressible water but its own viscosity.
    for (pressure, material, left) in [
        (PressureMethod::WeaklyCompressible, DRY_WATER, 0.5),
        (PressureMethod::WeaklyCompressible, honey, 0.5),
        (PressureMethod::Dfsph, DRY_WATER, 0.9),
        (PressureMethod::Dfsph, honey, 0.1),
    ] {
        let mut random = Random(8);
        let mut particles = moving(&lattice([9, 9, 9], SPACING), Vec3::ZERO);
        for p in &mut particles {
            p.velocity = 0.5 * random.vector();
        }
        let settings = FluidSettings {
            material,
            pressure,
            ..dry(20.0)
        };
        let (mut world, _) = free_world(settings, &particles);
        let first = world.totals().kinetic;
        let mut largest = first;
        for _ in 0..200 {
            world.step(2e-3).unwrap();
            largest = largest.max(world.totals().kinetic);
        }
        let last = world.totals().kinetic;
        println!("energy {first:.4} J, largest {largest:.4} J, last {last:.6} J");
        assert!(largest <= first * 1.001, "{largest} from {first}");
        assert!(last < left * first);
    }
}

#[test]
fn a_block_falls_like_a_stone() {
    let settings = FluidSettings {
        sound_speed: None,
        ..FluidSettings::new(DRY_WATER, SPACING)
    };
    let mut world = World::new();
    let fluid = world.add_fluid(settings).unwrap();
    let throw = Vec3::new(1.0, 2.0, -0.5);
    let start = lattice([10, 10, 10], SPACING);
    world.add_particles(fluid, &moving(&start, throw));
    let mut largest = 0.0f32;
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap();
        let t = world.time() as f32;
        let travel = t * throw + 0.5 * t * t * world.gravity;
        let way = t * throw.length() + 0.5 * t * t * 9.81;
        let fluid = world.fluid(fluid).unwrap();
        for (p, &id) in fluid.positions().iter().zip(fluid.ids()) {
            let off = p.distance(start[id as usize] + travel) / way;
            largest = largest.max(off);
        }
    }
    println!("farthest from the path of a stone: {largest:.1e} of the way");
    assert!(largest < 1e-4, "{largest}");
}

/// The distance of the farthest particle from the middle, in radii of the ball of
/// equal volume, and in half widths of the smallest side.
fn roundness(world: &World) -> (f32, f32) {
    let fluid = world.fluids().next().unwrap();
    let middle = world.totals().center_of_mass().as_vec3();
    let (mut half, mut far) = (Vec3::ZERO, 0.0f32);
    for p in fluid.positions().iter() {
        half = half.max((p - middle).abs());
        far = far.max(p.distance(middle));
    }
    let volume = fluid.len() as f32 * fluid.settings().spacing.powi(3);
    let radius = (3.0 * volume / (4.0 * std::f32::consts::PI)).cbrt();
    (far / radius, far / half.min_element())
}

/// A viscous cube of water of 12 particles a side, without gravity.
fn cube(pressure: PressureMethod) -> World {
    let spacing = 1e-3;
    let material = Material {
        viscosity: 0.2,
        ..Material::WATER
    };
    let settings = FluidSettings {
        pressure,
        sound_speed: Some(3.0),
        ..FluidSettings::new(material, spacing)
    };
    let points = moving(&lattice([12; 3], spacing), Vec3::ZERO);
    let (world, _) = free_world(settings, &points);
    // A cube's corners are √3 half widths from its middle.
    let before = roundness(&world);
    assert!(before.0 > 1.25 && before.1 > 1.7);
    world
}

/// Runs for a third of the period of a drop of this size, 0.17 s. Returns the largest
/// speed of the whole drop in m/s.
fn round(world: &mut World) -> f64 {
    let mut fastest = 0.0f64;
    for _ in 0..60 {
        world.step(1e-3).unwrap();
        let totals = world.totals();
        fastest = fastest.max(totals.momentum.length() / totals.mass);
    }
    fastest
}

/// The cube has lost its corners and has not moved away.
#[test]
fn surface_tension_rounds_a_cube() {
    let mut world = cube(PressureMethod::WeaklyCompressible);
    let fastest = round(&mut world);
    let after = roundness(&world);
    let strayed = world.totals().center_of_mass().length();
    println!("{after:?}, strayed {strayed:.1e} m, at most {fastest:.1e} m/s");
    assert!(after.0 < 1.1 && after.1 < 1.15, "{after:?}");
    // The model's tension is not between pairs, but must not carry the drop away.
    assert!(strayed < 1e-4, "{strayed}");
    assert!(fastest < 1e-3, "{fastest}");
}

/// Cohesion takes the corners off, and moves nothing: it acts between pairs. (How
/// round the drop becomes is another matter; see "Not yet" in ARCHITECTURE.md.)
#[test]
fn cohesion_takes_corners_off_and_keeps_momentum() {
    let mut world = cube(PressureMethod::Dfsph);
    let fastest = round(&mut world);
    let after = roundness(&world);
    let strayed = world.totals().center_of_mass().length();
    println!("{after:?}, strayed {strayed:.1e} m, at most {fastest:.1e} m/s");
    assert!(after.0 < 1.1, "{after:?}");
    assert!(strayed < 1e-7 && fastest < 1e-5, "{strayed} {fastest}");
}
