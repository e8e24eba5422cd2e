//! What is measured of liquids is what is there: flows, forces, wetted areas.

use std::sync::Arc;

use crate::common::{DRY_WATER, free_world, lattice, mesh_obstacle, moving, run};
use pliant::mesh::Cuboid;
use pliant::observe::{CheckpointError, Decoder, Encoder, Section};
use pliant::{Emitter, Fill, FluidSettings, Handle, Material, Obstacle, Region, Vec3, World};

const SPACING: f32 = 0.02;

fn settings() -> FluidSettings {
    FluidSettings {
        sound_speed: Some(20.0),
        ..FluidSettings::new(DRY_WATER, SPACING)
    }
}

/// Corners of a square across x, counter-clockwise seen from larger x.
fn square(x: f32, half: f32) -> [Vec3; 4] {
    [(-half, -half), (half, -half), (half, half), (-half, half)].map(|(y, z)| Vec3::new(x, y, z))
}

/// Particles too far apart to act on each other move uniformly: every layer
/// crosses when it should.
#[test]
fn the_flow_of_a_uniform_motion_is_exact() {
    let gap = 2.5 * SPACING;
    let points = lattice([20, 6, 6], gap);
    let speed = 1.5;
    let (mut world, _) = free_world(settings(), &moving(&points, speed * Vec3::X));
    let whole = world.add_section(Section::polygon(&square(0.6, 0.3)).unwrap());
    let against = Section::polygon(&square(0.6, 0.3))
        .unwrap()
        .facing(-Vec3::X);
    let against = world.add_section(against);
    // Only the lines at |y|, |z| = gap / 2 pass through a disc of this radius.
    let middle = world.add_section(Section::disc(0.6 * Vec3::X, Vec3::X, 0.9 * gap).unwrap());
    let volume = f64::from(SPACING).powi(3);
    let frame = 0.021;
    let mut before = 0;
    for k in 1..=40 {
        world.step(frame).unwrap();
        let way = speed * frame * k as f32;
        let crossed = points.iter().filter(|p| p.x + way >= 0.6).count() as u64;
        let section = world.section(whole).unwrap();
        let passed = section.passed();
        assert_eq!(passed.forward.particles, crossed, "frame {k}");
        assert_eq!(passed.backward.particles, 0);
        let expected = (crossed - before) as f64 * volume / f64::from(frame);
        assert!((section.volume_flow() - expected).abs() <= 1e-6 * expected);
        let mass_flow = f64::from(DRY_WATER.density) * expected;
        assert!((section.mass_flow() - mass_flow).abs() <= 1e-6 * mass_flow);
        assert!((passed.net_volume() - crossed as f64 * volume).abs() < 1e-9);
        let (turned, middle) = (
            world.section(against).unwrap(),
            world.section(middle).unwrap(),
        );
        assert_eq!(turned.passed().backward.particles, crossed);
        assert_eq!(turned.volume_flow(), -section.volume_flow());
        assert_eq!(middle.passed().forward.particles, crossed / 9);
        before = crossed;
    }
    assert_eq!(before, 20 * 36, "not all have passed");
}

/// A block that keeps together: when it is through, its whole volume is counted.
#[test]
fn a_block_that_has_passed_is_counted_whole() {
    let points = lattice([10, 8, 8], SPACING);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let (mut world, _) = free_world(settings(), &moving(&points, 2.0 * Vec3::X));
        let section = world.add_section(Section::polygon(&square(0.3, 1.0)).unwrap());
        pool.unwrap().install(|| run(&mut world, 0.4, 0.01));
        let passed = world.section(section).unwrap().passed();
        assert_eq!(passed.forward.particles, 640);
        assert_eq!(passed.backward.particles, 0);
        assert!((passed.net_mass() - world.totals().mass).abs() < 1e-9);
    }
}

#[test]
fn the_force_on_a_floor_is_the_weight_of_the_liquid_on_it() {
    let mut world = World::new();
    let floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
    for (normal, at) in [
        (Vec3::X, -0.2),
        (-Vec3::X, 0.2),
        (Vec3::Z, -0.2),
        (-Vec3::Z, 0.2),
    ] {
        let wall = Obstacle::plane("wall", at * normal.abs(), normal);
        world.add_obstacle(wall);
    }
    let water = world.add_fluid(settings()).unwrap();
    let block = Region::Box {
        min: Vec3::new(-0.2, 0.0, -0.2),
        max: Vec3::new(0.2, 0.24, 0.2),
    };
    world.fill(water, &Fill::Region(block)).unwrap();
    let wetting = world.add_wetting(floor, SPACING).unwrap();
    run(&mut world, 1.0, 0.02);
    let mut load = 0.0;
    for _ in 0..25 {
        world.step(0.02).unwrap();
        load -= world.force_on(floor).y / 25.0;
    }
    let weight = world.totals().mass as f32 * 9.81;
    assert!((load / weight - 1.0).abs() < 0.02, "{load} N, {weight} N");
    // The layer on the floor is not a lattice any more, but covers it.
    let wet = world.wetting(wetting).unwrap().now();
    assert!((wet / 0.16 - 1.0).abs() < 0.05, "{wet} m²");
}

/// A jet onto a plane and a box.
fn jet_world() -> (World, [Handle<Obstacle>; 2]) {
    let mut world = World::new();
    let floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
    let post = Cuboid::new(Vec3::new(0.1, -0.1, -0.1), Vec3::new(0.2, 0.1, 0.1));
    let post = Arc::new(post.build().unwrap());
    let post = world.add_obstacle(mesh_obstacle("bvh", &post, SPACING, SPACING));
    let water = world
        .add_fluid(FluidSettings::new(Material::WATER, SPACING))
        .unwrap();
    let jet = Emitter::new(
        Vec3::new(-0.1, 0.3, 0.0),
        Vec3::new(1.0, -1.0, 0.0),
        0.05,
        2.0,
    );
    world.add_emitter(water, jet);
    (world, [floor, post])
}

/// The same with a section in the jet, and with an eye on what it wets.
fn watched_world(radius: f32) -> World {
    let (mut world, obstacles) = jet_world();
    world.add_section(Section::disc(Vec3::new(0.0, 0.2, 0.0), Vec3::X, radius).unwrap());
    for obstacle in obstacles {
        world.add_wetting(obstacle, SPACING).unwrap();
    }
    world
}

fn saved(world: &World) -> Vec<u8> {
    let mut out = Encoder::default();
    world.save(&mut out);
    out.finish()
}

#[test]
fn observers_continue_from_a_checkpoint_with_the_same_bits() {
    let mut whole = watched_world(0.2);
    run(&mut whole, 0.2, 0.01);
    let half = saved(&whole);
    let mut rest = watched_world(0.2);
    let mut from = Decoder::open(&half).unwrap();
    rest.load(&mut from).unwrap();
    from.finish().unwrap();
    // A checkpoint holds all of the state: equal files are equal worlds.
    assert_eq!(saved(&rest), half);
    run(&mut whole, 0.2, 0.01);
    run(&mut rest, 0.2, 0.01);
    assert_eq!(saved(&rest), saved(&whole));
    assert_ne!(saved(&whole), half);

    let mut other = watched_world(0.1);
    let refused = other.load(&mut Decoder::open(&half).unwrap());
    assert!(matches!(refused, Err(CheckpointError::Mismatch(_))));
}

#[test]
fn observers_do_not_disturb_and_do_not_depend_on_threads() {
    let on = |threads: usize, mut world: World| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| run(&mut world, 0.3, 0.01));
        world
    };
    let (one, two) = (on(1, watched_world(0.2)), on(2, watched_world(0.2)));
    assert_eq!(saved(&one), saved(&two));
    assert_eq!(one.hash(), on(1, jet_world().0).hash());
}
