//! Emitters, sinks, fields, handles, refused steps and memory, through the public
//! interface.

use crate::common::{DRY_WATER, free_world, lattice, moving, run};
use pliant::fluid::{NewParticle, StepLimit};
use pliant::{
    Action, Emitter, Field, Fill, FluidSettings, Material, Obstacle, Region, Sink, StepError, Vec3,
    World,
};

const SPACING: f32 = 0.02;

fn water() -> FluidSettings {
    FluidSettings::new(DRY_WATER, SPACING)
}

fn ball(center: Vec3, radius: f32) -> Region {
    Region::Sphere { center, radius }
}

#[test]
fn an_emitter_delivers_its_rate_while_it_is_open() {
    let (start, stop) = (0.1, 0.6);
    for spacings in [0.4, 1.0, 1.5, 2.0, 5.0] {
        let radius = spacings * SPACING;
        // Fast enough that one disc is 2 % of the volume.
        let rate = 1.5 * std::f32::consts::PI * radius * radius;
        let speed = Emitter::speed_for_rate(rate, radius, SPACING);
        let mut world = World::new();
        world.gravity = Vec3::ZERO;
        let fluid = world.add_fluid(water()).unwrap();
        let mut emitter = Emitter::new(Vec3::ZERO, Vec3::X, radius, speed);
        (emitter.start, emitter.stop) = (start, stop);
        world.add_emitter(fluid, emitter);
        let mut emitted = 0;
        for _ in 0..70 {
            let before = world.time();
            let report = world.step(0.01).unwrap();
            emitted += report.emitted;
            // Sub-steps look at the clock when they begin.
            assert!(report.emitted == 0 || (before + 0.01 > start && before <= stop + 0.011));
        }
        assert_eq!(emitted, world.point_count());
        let volume = emitted as f32 * SPACING.powi(3);
        let asked = rate * (stop - start) as f32;
        println!(
            "radius {spacings} spacings: {:.3} of the volume at {speed:.2} m/s",
            volume / asked
        );
        assert!(
            (volume / asked - 1.0).abs() < 0.05,
            "{volume} m³ of {asked} m³"
        );
        // The column keeps its speed and its density.
        let fluid = world.fluid(fluid).unwrap();
        let strayed = fluid
            .velocities()
            .iter()
            .map(|v| v.distance(speed * Vec3::X))
            .fold(0.0, f32::max);
        assert!(strayed < 0.02 * speed, "{strayed}");
        let densest = fluid.densities().iter().fold(0.0f32, |a, &b| a.max(b));
        assert!(densest < 1.02 * DRY_WATER.density, "{densest}");
    }
}

/// Liquid leaving a nozzle upwards slows down and presses on what comes after it;
/// it must not burst out of the nozzle.
#[test]
fn a_fountain_does_not_burst() {
    let speed = 2.5f32;
    let mut world = World::new();
    let fluid = world.add_fluid(water()).unwrap();
    world.add_emitter(fluid, Emitter::new(Vec3::ZERO, Vec3::Y, 0.08, speed));
    let mut fastest = 0.0f32;
    for _ in 0..30 {
        fastest = fastest.max(world.step(0.01).unwrap().max_speed);
    }
    println!("fastest {fastest:.2} m/s");
    assert!(fastest < 1.2 * speed, "{fastest}");
}

#[test]
fn an_emitter_that_had_to_wait_goes_on_at_the_nozzle() {
    // Room for a few discs; a sink downstream makes room again and again.
    let (speed, frame) = (1.0, 0.01);
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let mut settings = water();
    settings.max_particles = 60;
    let fluid = world.add_fluid(settings).unwrap();
    world.add_emitter(fluid, Emitter::new(Vec3::ZERO, Vec3::X, 0.05, speed));
    world.add_sink(Sink {
        region: Region::Box {
            min: Vec3::new(0.3, -1.0, -1.0),
            max: Vec3::new(0.4, 1.0, 1.0),
        },
    });
    let mut seen = std::collections::HashSet::new();
    for _ in 0..200 {
        world.step(frame).unwrap();
        let fluid = world.fluid(fluid).unwrap();
        assert!(fluid.len() <= 60);
        for (p, id) in fluid.positions().iter().zip(fluid.ids()) {
            let fresh = seen.insert(*id);
            assert!(
                !fresh || p.x < 2.0 * speed * frame,
                "a particle appears at {p} after {:.2} s",
                world.time()
            );
        }
    }
    assert!(seen.len() > 120 && world.removed() > 60, "{}", seen.len());
}

#[test]
fn limits_of_emitters_hold() {
    let mut world = World::new();
    let mut settings = water();
    settings.max_particles = 500;
    let fluid = world.add_fluid(settings).unwrap();
    let mut emitter = Emitter::new(Vec3::ZERO, Vec3::X, 0.1, 2.0);
    emitter.limit = 333;
    world.add_emitter(fluid, emitter.clone());
    run(&mut world, 0.5, 0.01);
    let made = world.point_count();
    assert!(made <= 333 && made > 333 - 80, "{made}");
    emitter.limit = usize::MAX;
    world.add_emitter(fluid, emitter);
    run(&mut world, 0.5, 0.01);
    let made = world.point_count();
    assert!(made <= 500 && made > 500 - 80, "{made}");
}

#[test]
fn sinks_remove_what_enters_and_nothing_else() {
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let fluid = world.add_fluid(water()).unwrap();
    let far = 1000.0 * SPACING;
    let particles: Vec<NewParticle> = (0..10)
        .map(|i| NewParticle {
            position: Vec3::new(-0.5 - 0.1 * i as f32, far * i as f32, 0.0),
            velocity: Vec3::X,
        })
        .collect();
    world.add_particles(fluid, &particles);
    let region = Region::Box {
        min: Vec3::new(0.0, -1.0, -1.0),
        max: Vec3::new(10.0, 4.5 * far, 1.0),
    };
    let sink = world.add_sink(Sink { region });
    run(&mut world, 0.45, 0.01);
    assert_eq!((world.point_count(), world.removed()), (10, 0));
    let mut removed = 0;
    for _ in 0..200 {
        removed += world.step(0.01).unwrap().removed;
    }
    assert_eq!((removed, world.removed(), world.point_count()), (5, 5, 5));
    let mut ids = world.fluid(fluid).unwrap().ids().to_vec();
    ids.sort_unstable();
    assert_eq!(ids, [5, 6, 7, 8, 9]);
    // Names are not given twice.
    world.add_particles(fluid, &particles[..1]);
    assert!(world.fluid(fluid).unwrap().ids().contains(&10));
    let _ = sink;
}

#[test]
fn fields_accelerate_as_they_say() {
    let lone = moving(&[Vec3::ZERO], Vec3::ZERO);
    // Uniform: like gravity.
    let (mut world, fluid) = free_world(water(), &lone);
    let field = world.add_field(Field {
        region: ball(Vec3::ZERO, 1.0),
        action: Action::Uniform(Vec3::new(3.0, 0.0, 0.0)),
    });
    run(&mut world, 0.5, 0.01);
    let x = world.fluid(fluid).unwrap().positions().get(0).x;
    assert!((x / (0.5 * 3.0 * 0.25) - 1.0).abs() < 1e-4, "{x}");
    // Taken away, the particle flies on evenly.
    let v = world.fluid(fluid).unwrap().velocities().get(0);
    assert!(world.remove_field(field).is_some() && world.remove_field(field).is_none());
    run(&mut world, 0.5, 0.01);
    let v_after = world.fluid(fluid).unwrap().velocities().get(0);
    assert!(v_after.distance(v) < 1e-6);

    // Wind: the speed approaches that of the wind exponentially.
    let (mut world, fluid) = free_world(water(), &lone);
    world.add_field(Field {
        region: Region::Everywhere,
        action: Action::Wind {
            velocity: 2.0 * Vec3::Z,
            rate: 5.0,
        },
    });
    run(&mut world, 0.4, 0.001);
    let v = world.fluid(fluid).unwrap().velocities().get(0).z;
    let right = 2.0 * (1.0 - (-5.0f32 * 0.4).exp());
    assert!((v / right - 1.0).abs() < 0.01, "{v} not {right}");

    // Attraction: an even pull towards the centre.
    let (mut world, fluid) = free_world(water(), &lone);
    world.add_field(Field {
        region: Region::Everywhere,
        action: Action::Attract {
            center: 10.0 * Vec3::Y,
            acceleration: 4.0,
        },
    });
    run(&mut world, 0.5, 0.01);
    let y = world.fluid(fluid).unwrap().positions().get(0).y;
    assert!((y / 0.5 - 1.0).abs() < 1e-4, "{y}");
}

#[test]
fn stale_handles_do_nothing() {
    let mut world = World::new();
    let old_fluid = world.add_fluid(water()).unwrap();
    let old_floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
    world.add_particles(old_fluid, &moving(&[Vec3::Y], Vec3::ZERO));
    world.add_emitter(old_fluid, Emitter::new(Vec3::Y, Vec3::X, 0.1, 1.0));
    assert!(world.remove_fluid(old_fluid).is_some());
    assert!(world.remove_obstacle(old_floor).is_some());

    let fluid = world.add_fluid(water()).unwrap();
    let floor = world.add_obstacle(Obstacle::plane("new floor", Vec3::ZERO, Vec3::Y));
    assert!(world.fluid(old_fluid).is_none() && world.obstacle(old_floor).is_none());
    assert!(world.remove_fluid(old_fluid).is_none());
    assert!(world.remove_obstacle(old_floor).is_none());
    assert_eq!(
        world.add_particles(old_fluid, &moving(&[Vec3::Y], Vec3::ZERO)),
        0
    );
    assert_eq!(
        world.fill(old_fluid, &Fill::Region(ball(Vec3::Y, 0.1))),
        Ok(0)
    );
    // The nozzle of the liquid that is gone does not feed its successor.
    run(&mut world, 0.2, 0.01);
    assert_eq!(world.point_count(), 0);
    // Nor is the force on the new floor reported for the old one.
    let resting = moving(&[Vec3::new(0.0, 0.5 * SPACING, 0.0)], Vec3::ZERO);
    world.add_particles(fluid, &resting);
    run(&mut world, 0.1, 0.01);
    assert!(world.force_on(floor).y < 0.0);
    assert_eq!(world.force_on(old_floor), Vec3::ZERO);
}

#[test]
fn steps_that_cannot_be_made_are_refused() {
    let block = moving(&lattice([5, 5, 5], SPACING), Vec3::ZERO);
    let (mut world, _) = free_world(
        FluidSettings::weakly_compressible(DRY_WATER, SPACING),
        &block,
    );
    let before = world.hash();
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert!(
            matches!(world.step(dt), Err(StepError::BadStep { .. })),
            "{dt}"
        );
    }
    world.settings.max_substeps = 10;
    match world.step(1.0) {
        Err(
            e @ StepError::TooManySubsteps {
                needed, most: 10, ..
            },
        ) => {
            assert!(needed > 10);
            let text = e.to_string();
            assert!(text.contains("sound_speed"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    world.settings.max_substeps = 100_000;
    world.settings.fixed = Some(1.0);
    match world.step(1.0) {
        Err(e @ StepError::FixedTooLarge { limit, allowed, .. }) => {
            assert_eq!(limit, StepLimit::SoundSpeed);
            assert!(allowed > 0.0 && allowed < 1.0 && e.to_string().contains("step.fixed"));
            // What is said to be allowed is allowed.
            world.settings.fixed = Some(allowed);
            assert_eq!(world.hash(), before);
            world.step(3.0 * allowed).unwrap();
        }
        other => panic!("{other:?}"),
    }
}

/// Settings that divide no step must not end in one huge sub-step.
#[test]
fn settings_that_make_no_sense_are_refused() {
    let block = moving(&lattice([5, 5, 5], SPACING), Vec3::ZERO);
    for cfl in [0.0, -0.4, f32::NAN] {
        let (mut world, _) = free_world(water(), &block);
        world.settings.cfl = cfl;
        assert!(world.step(0.1).is_err(), "cfl {cfl}");
    }
    for fixed in [0.0, -1e-3, f32::NAN] {
        let (mut world, _) = free_world(water(), &block);
        world.settings.fixed = Some(fixed);
        assert!(world.step(0.1).is_err(), "fixed {fixed}");
    }
}

#[test]
fn a_liquid_that_runs_away_is_reported() {
    // Ten particles in one place at an unstable step.
    let mut block = moving(&lattice([4, 4, 4], 0.05 * SPACING), Vec3::ZERO);
    block[0].position += Vec3::splat(1e-5);
    let settings = FluidSettings {
        sound_speed: Some(100.0),
        numerical_viscosity: 0.0,
        ..water()
    };
    let (mut world, fluid) = free_world(settings, &block);
    world.settings.fixed = Some(0.9 * 2.0 * SPACING / 100.0);
    let mut outcome = Ok(());
    for _ in 0..50 {
        outcome = world.step(0.01).map(|_| ());
        if outcome.is_err() {
            break;
        }
    }
    match outcome {
        Err(e @ StepError::Diverged { .. }) => assert!(e.to_string().contains("blown up")),
        other => {
            // Or it survived, with numbers that are numbers.
            assert_eq!(other, Ok(()));
            assert!(
                world
                    .fluid(fluid)
                    .unwrap()
                    .positions()
                    .iter()
                    .all(|p| p.is_finite())
            );
        }
    }
}

#[test]
fn not_a_number_is_never_silent() {
    let nan = moving(&[Vec3::ZERO], Vec3::new(f32::NAN, 0.0, 0.0));
    let (mut world, _) = free_world(water(), &nan);
    assert!(world.step(0.01).is_err());
    let nan = moving(&[Vec3::new(f32::NAN, 0.0, 0.0), Vec3::ZERO], Vec3::ZERO);
    let (mut world, _) = free_world(water(), &nan);
    assert!(world.step(0.01).is_err());
    let (mut world, _) = free_world(water(), &moving(&[Vec3::ZERO], Vec3::ZERO));
    world.gravity = Vec3::NAN;
    assert!(world.step(0.01).is_err());
}

#[test]
fn memory_does_not_grow() {
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    world.add_obstacle(floor);
    for (x, n) in [(-0.2, Vec3::X), (0.2, Vec3::NEG_X)] {
        world.add_obstacle(Obstacle::plane("side", Vec3::new(x, 0.0, 0.0), n));
    }
    for (z, n) in [(-0.2, Vec3::Z), (0.2, Vec3::NEG_Z)] {
        world.add_obstacle(Obstacle::plane("end", Vec3::new(0.0, 0.0, z), n));
    }
    let region = Region::Box {
        min: Vec3::new(-0.2, 0.0, -0.2),
        max: Vec3::new(0.2, 0.2, 0.2),
    };
    // The lists of walls and neighbours settle with the liquid; everything else is
    // fixed at once.
    for (settings, settling) in [
        (
            FluidSettings::weakly_compressible(Material::WATER, SPACING),
            100,
        ),
        (FluidSettings::new(Material::WATER, SPACING), 400),
    ] {
        let mut world = world.clone();
        let fluid = world.add_fluid(settings).unwrap();
        world.fill(fluid, &Fill::Region(region)).unwrap();
        for _ in 0..settling {
            world.step(2e-3).unwrap();
        }
        let bytes = world.fluid(fluid).unwrap().bytes();
        for _ in 0..200 {
            world.step(2e-3).unwrap();
        }
        let growth = world.fluid(fluid).unwrap().bytes() as f64 / bytes as f64 - 1.0;
        assert!(growth < 0.02, "memory grew by {:.1} %", 100.0 * growth);
    }
}

#[test]
fn fifty_thousand_particles_take_at_most_two_hundred_bytes_each() {
    let spacing = 0.01;
    let (mut world, fluid) = free_world(
        FluidSettings::weakly_compressible(DRY_WATER, spacing),
        &moving(&lattice([50, 40, 25], spacing), Vec3::ZERO),
    );
    for _ in 0..3 {
        world.step(1e-4).unwrap();
    }
    let fluid = world.fluid(fluid).unwrap();
    let each = fluid.bytes() as f64 / fluid.len() as f64;
    println!("{} particles, {each:.1} bytes each", fluid.len());
    assert_eq!(fluid.len(), 50_000);
    assert!(each <= 200.0);
}

#[test]
fn an_empty_world_and_an_empty_liquid_can_step() {
    let mut world = World::new();
    world.step(0.01).unwrap();
    world.add_fluid(water()).unwrap();
    world.add_sink(Sink {
        region: Region::Everywhere,
    });
    let report = world.step(0.01).unwrap();
    assert_eq!((report.substeps, report.emitted, report.removed), (1, 0, 0));
    assert!((world.time() - 0.02).abs() < 1e-9);
}

/// A jet at `speed` m/s of a liquid of this viscosity.
fn jet(speed: f32, viscosity: f32) -> World {
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let material = Material {
        viscosity,
        ..DRY_WATER
    };
    let fluid = world
        .add_fluid(FluidSettings::new(material, SPACING))
        .unwrap();
    world.add_emitter(fluid, Emitter::new(Vec3::ZERO, Vec3::X, 0.03, speed));
    world
}

#[test]
fn a_world_goes_on_with_other_parameters() {
    let mut before = jet(1.0, 1e-3);
    for _ in 0..30 {
        before.step(0.01).unwrap();
    }
    let mut after = jet(3.0, 1.0);
    after.continue_from(&before).unwrap();
    assert_eq!(after.time(), before.time());
    assert_eq!(after.hash().to_string(), before.hash().to_string());
    let count = after.point_count();
    let per_disc = {
        let mut first = jet(1.0, 1e-3);
        first.step(1e-4).unwrap();
        first.point_count()
    };
    for _ in 0..10 {
        after.step(0.01).unwrap();
    }
    // 0.1 s at 3 m/s: fifteen spacings, not the ninety of 0.4 s less what there was.
    let discs = (after.point_count() - count) as f64 / per_disc as f64;
    assert!((14.0..=16.0).contains(&discs), "{discs} discs");

    // A world of other matter is refused.
    let mut empty = World::new();
    assert!(empty.continue_from(&before).is_err());
}
