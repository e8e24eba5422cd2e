//! The same input gives the same bits: run again, on other numbers of threads, from
//! a copy, and from a checkpoint.

use std::sync::Arc;

use crate::common::{mesh_obstacle, run};
use pliant::mesh::{Cuboid, HeightGrid, IcoSphere};
use pliant::observe::{CheckpointError, Decoder, Encoder};
use pliant::{
    Action, Emitter, Field, Fill, FluidSettings, Material, Obstacle, Region, Sink, Vec3, World,
};

const FRAME: f32 = 1.0 / 100.0;
const SPACING: f32 = 0.02;

/// Two liquids, every kind of obstacle, fields, a nozzle and a sink.
fn busy_world() -> World {
    let mut world = World::new();
    world.add_obstacle(
        Obstacle::plane("wall", Vec3::new(-0.5, 0.0, 0.0), Vec3::X).with_contact(0.3, 0.2),
    );
    let hills = HeightGrid::from_fn(21, 21, 0.1, Vec3::new(-1.0, -0.3, -1.0), |x, z| {
        0.05 * (5.0 * x).sin() * (4.0 * z).cos()
    });
    world.add_obstacle(Obstacle::heightfield("hills", hills.unwrap()).with_contact(0.0, 0.3));
    let ball = Arc::new(
        IcoSphere {
            radius: 0.08,
            ..IcoSphere::default()
        }
        .build()
        .unwrap(),
    );
    for (i, kind) in crate::common::INDICES.into_iter().enumerate() {
        let mut mesh = (*ball).clone();
        mesh.transform(
            1.0,
            pliant::Quat::IDENTITY,
            Vec3::new(0.2 * i as f32 - 0.2, -0.15, 0.0),
        );
        world.add_obstacle(mesh_obstacle(kind, &Arc::new(mesh), SPACING, 0.5 * SPACING));
    }
    let tank = Cuboid::new(Vec3::new(-0.6, -0.5, -0.6), Vec3::new(0.6, 0.9, 0.6));
    let tank = Arc::new(tank.build().unwrap());
    world.add_obstacle(mesh_obstacle("bvh", &tank, SPACING, SPACING));

    let water = world
        .add_fluid(FluidSettings::new(Material::WATER, SPACING))
        .unwrap();
    let block = Region::Box {
        min: Vec3::new(-0.2, 0.0, -0.1),
        max: Vec3::new(0.2, 0.2, 0.1),
    };
    world.fill(water, &Fill::Region(block)).unwrap();
    let mut oil = FluidSettings::weakly_compressible(Material::OIL, 1.3 * SPACING);
    oil.name = "oil".into();
    let oil = world.add_fluid(oil).unwrap();
    let mut nozzle = Emitter::new(
        Vec3::new(0.3, 0.4, 0.0),
        Vec3::new(-1.0, -0.2, 0.1),
        0.06,
        1.5,
    );
    nozzle.start = 0.015;
    nozzle.stop = 0.13;
    world.add_emitter(oil, nozzle);
    world.add_emitter(
        water,
        Emitter::new(Vec3::new(-0.3, 0.5, 0.1), Vec3::NEG_Y, 0.05, 0.8),
    );
    world.add_field(Field {
        region: Region::Sphere {
            center: Vec3::new(0.0, 0.1, 0.0),
            radius: 0.15,
        },
        action: Action::Wind {
            velocity: Vec3::new(2.0, 0.0, 1.0),
            rate: 4.0,
        },
    });
    world.add_field(Field {
        region: Region::Everywhere,
        action: Action::Attract {
            center: Vec3::new(0.0, -0.1, 0.2),
            acceleration: 2.0,
        },
    });
    world.add_sink(Sink {
        region: Region::Box {
            min: Vec3::new(0.0, -0.12, -0.05),
            max: Vec3::new(0.2, -0.03, 0.05),
        },
    });
    world
}

const SECONDS: f32 = 0.16;

fn hash_on(threads: usize) -> (u64, usize, u64) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let mut world = busy_world();
        run(&mut world, SECONDS, FRAME);
        assert_eq!(world.leaked(), 0);
        (world.hash().value(), world.point_count(), world.removed())
    })
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let one = hash_on(1);
    // Everything took part.
    assert!(one.1 > 1000 && one.2 > 20, "{one:?}");
    println!(
        "{} particles, {} removed, hash {:016x}",
        one.1, one.2, one.0
    );
    for threads in [1, 2, 3] {
        assert_eq!(hash_on(threads), one, "{threads} threads");
    }
}

#[test]
fn a_copy_continues_alike() {
    let mut world = busy_world();
    run(&mut world, 0.1, FRAME);
    let mut copy = world.clone();
    run(&mut world, 0.1, FRAME);
    run(&mut copy, 0.1, FRAME);
    assert_eq!(world.hash(), copy.hash());
    assert_eq!(world.contacts(), copy.contacts());
    // And the copy is its own world.
    copy.step(FRAME).unwrap();
    assert_ne!(world.hash(), copy.hash());
}

fn saved(world: &World) -> Vec<u8> {
    let mut out = Encoder::default();
    world.save(&mut out);
    out.finish()
}

fn load(world: &mut World, file: &[u8]) -> Result<(), CheckpointError> {
    let mut from = Decoder::open(file)?;
    world.load(&mut from)?;
    from.finish()
}

#[test]
fn a_checkpoint_continues_with_the_same_bits() {
    // Before anything, with both nozzles running, after the sink has worked, and
    // after one nozzle has closed.
    let mut world = busy_world();
    for frames in [0, 4, 6, 5] {
        for _ in 0..frames {
            world.step(FRAME).unwrap();
        }
        let mut restored = busy_world();
        // What it did before must not matter.
        restored.step(0.5 * FRAME).unwrap();
        load(&mut restored, &saved(&world)).unwrap();
        assert_eq!(restored.hash(), world.hash());
        assert_eq!(saved(&restored), saved(&world));
        let mut ahead = world.clone();
        for _ in 0..6 {
            let (a, b) = (ahead.step(FRAME), restored.step(FRAME));
            assert_eq!(a, b);
            assert_eq!(
                restored.hash(),
                ahead.hash(),
                "from frame {}",
                world.steps().0
            );
        }
        assert_eq!(restored.contacts(), ahead.contacts());
        assert_eq!(restored.time(), ahead.time());
        assert_eq!(restored.steps(), ahead.steps());
        assert_eq!(restored.removed(), ahead.removed());
        assert_eq!(restored.leaked(), 0);
    }
    assert!(world.removed() > 0);
}

#[test]
fn a_checkpoint_taken_before_the_first_step_knows_the_sides() {
    let build = || {
        let mut world = World::new();
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, SPACING))
            .unwrap();
        let region = Region::Box {
            min: Vec3::splat(-0.1),
            max: Vec3::splat(0.1),
        };
        world.fill(water, &Fill::Region(region)).unwrap();
        // The obstacle comes after the liquid.
        let tank = Arc::new(
            Cuboid::new(Vec3::splat(-0.2), Vec3::splat(0.2))
                .build()
                .unwrap(),
        );
        world.add_obstacle(mesh_obstacle("hash", &tank, SPACING, SPACING));
        world
    };
    let file = saved(&build());
    let mut restored = build();
    load(&mut restored, &file).unwrap();
    assert_eq!(restored.leaked(), 0);
    restored.step(FRAME).unwrap();
    assert_eq!(restored.leaked(), 0);
}

#[test]
fn a_checkpoint_of_another_world_is_refused() {
    let base = || {
        let mut world = World::new();
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, SPACING))
            .unwrap();
        let region = Region::Box {
            min: Vec3::ZERO,
            max: Vec3::splat(0.1),
        };
        world.fill(water, &Fill::Region(region)).unwrap();
        world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
        (world, water)
    };
    let wind = |speed: f32| Field {
        region: Region::Everywhere,
        action: Action::Wind {
            velocity: speed * Vec3::X,
            rate: 1.0,
        },
    };
    let nozzle = |speed: f32| Emitter::new(Vec3::Y, Vec3::NEG_Y, 0.05, speed);
    let sink = |radius: f32| Sink {
        region: Region::Sphere {
            center: Vec3::ZERO,
            radius,
        },
    };
    let dressed = || {
        let (mut world, water) = base();
        world.add_field(wind(1.0));
        world.add_emitter(water, nozzle(1.0));
        world.add_sink(sink(0.01));
        world
    };
    let file = saved(&dressed());
    assert_eq!(load(&mut dressed(), &file), Ok(()));

    let mut others: Vec<(&str, World)> = Vec::new();
    let mut with = |name, change: &dyn Fn(&mut World)| {
        let mut world = dressed();
        change(&mut world);
        others.push((name, world));
    };
    with("gravity", &|w| w.gravity = Vec3::X);
    with("courant number", &|w| w.settings.cfl = 0.3);
    with("fixed step", &|w| w.settings.fixed = Some(1e-4));
    with("further liquid", &|w| {
        w.add_fluid(FluidSettings::new(Material::OIL, SPACING))
            .unwrap();
    });
    with("further obstacle", &|w| {
        w.add_obstacle(Obstacle::plane("wall", Vec3::ZERO, Vec3::X));
    });
    with("further field", &|w| {
        w.add_field(wind(1.0));
    });
    with("further sink", &|w| {
        w.add_sink(sink(0.01));
    });
    // The same number of things, but different ones.
    let mut built = |name, speed: f32, jet: f32, radius: f32, friction: f32| {
        let mut world = World::new();
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, SPACING))
            .unwrap();
        world.add_obstacle(
            Obstacle::plane("floor", Vec3::ZERO, Vec3::Y).with_contact(0.0, friction),
        );
        world.add_field(wind(speed));
        world.add_emitter(water, nozzle(jet));
        world.add_sink(sink(radius));
        others.push((name, world));
    };
    built("wind", 2.0, 1.0, 0.01, 0.0);
    built("nozzle", 1.0, 2.0, 0.01, 0.0);
    built("sink", 1.0, 1.0, 0.02, 0.0);
    built("friction", 1.0, 1.0, 0.01, 0.5);
    let mut wrong = Vec::new();
    for (name, mut world) in others {
        if !matches!(load(&mut world, &file), Err(CheckpointError::Mismatch(_))) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "loaded in spite of another {wrong:?}");
}

#[test]
fn another_index_over_the_same_mesh_is_another_world() {
    let build = |kind| {
        let mut world = World::new();
        let tank = Arc::new(Cuboid::default().build().unwrap());
        world.add_obstacle(mesh_obstacle(kind, &tank, SPACING, SPACING));
        world
    };
    let file = saved(&build("sdf"));
    assert_eq!(load(&mut build("sdf"), &file), Ok(()));
    assert!(load(&mut build("bvh"), &file).is_err());
}

/// A step that is watched is the same step; one that is ended early stops between sub-steps, and
/// what is measured per second knows its length.
#[test]
fn steps_can_be_watched_and_ended_between_substeps() {
    let (mut plain, mut watched) = (busy_world(), busy_world());
    let mut seen = 0;
    for _ in 0..5 {
        plain.step(0.02).unwrap();
        let report = watched.step_while(0.02, |_| {
            seen += 1;
            true
        });
        assert_eq!(report.unwrap().length, 0.02);
    }
    assert!(seen > 5, "{seen}");
    assert_eq!(plain.hash(), watched.hash());

    let (start, substeps) = (watched.time(), watched.steps().1);
    let report = watched.step_while(0.02, |world| world.steps().1 < substeps + 2);
    let report = report.unwrap();
    assert_eq!(report.substeps, 2);
    assert!(report.length > 0.0 && report.length < 0.02);
    let made = watched.time() - start;
    assert!((made - f64::from(report.length)).abs() < 1e-6);
}
