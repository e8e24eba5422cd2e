//! Laws of contact between bodies.

use glam::{Quat, Vec3};

use crate::mesh::{TetBall, TetBlock};
use crate::solid::{Elastic, ElasticLaw, SolidModel, SolidSettings, Springs};
use crate::world::Matter;
use crate::{Handle, Obstacle, Solid, World};

fn soft(young: f32) -> SolidModel {
    SolidModel::Elastic(Elastic {
        young,
        mass_damping: 1.0,
        ..Elastic::default()
    })
}

fn springs() -> SolidModel {
    SolidModel::Springs(Springs {
        distance_stiffness: 2000.0,
        distance_damping: 1.0,
        volume_stiffness: 1e10,
        volume_damping: 1e4,
        ..Springs::default()
    })
}

fn block(world: &mut World, at: Vec3, model: SolidModel) -> Handle<Solid> {
    let mesh = TetBlock {
        min: at - Vec3::splat(0.1),
        max: at + Vec3::splat(0.1),
        cells: [3, 3, 3],
    };
    let settings = SolidSettings::new("block", model);
    world.add_solid(settings, mesh.build().unwrap()).unwrap()
}

fn ball(world: &mut World, at: Vec3, velocity: Vec3, model: SolidModel) -> Handle<Solid> {
    let mesh = TetBall {
        center: at,
        radius: 0.1,
        tets: 600,
    };
    let settings = SolidSettings::new("ball", model);
    let handle = world.add_solid(settings, mesh.build().unwrap()).unwrap();
    let body = world.solid_mut(handle).unwrap();
    body.put(|p| p, |_| velocity);
    handle
}

fn middle(world: &World, body: Handle<Solid>) -> Vec3 {
    let points = world.solid(body).unwrap().positions();
    points.iter().sum::<Vec3>() / points.len() as f32
}

fn momentum(world: &World) -> Vec3 {
    world.totals().momentum.as_vec3()
}

fn deepest(world: &World) -> f32 {
    world.deepest_overlap().map_or(0.0, |d| d.depth)
}

#[test]
fn a_block_on_a_block_rests_and_weighs_on_it() {
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    world.add_obstacle(floor.with_contact(0.0, 0.5));
    block(&mut world, Vec3::new(0.0, 0.11, 0.0), soft(5e4));
    let upper = block(&mut world, Vec3::new(0.03, 0.33, 0.02), soft(5e4));
    for _ in 0..250 {
        world.step(0.02).unwrap();
    }
    assert!(deepest(&world) < 0.002, "{}", deepest(&world));
    let step = world.solid(upper).unwrap().step_length();
    let carried: Vec3 = world
        .body_contacts()
        .iter()
        .map(|c| if c.solid == 1 { c.impulse } else { -c.impulse })
        .sum::<Vec3>()
        / step;
    let weight = 9.81 * 0.2f32.powi(3) * 1000.0;
    assert!(
        (carried.y / weight - 1.0).abs() < 0.02,
        "{carried} {weight}"
    );
    // The stack swings as an elastic column does, less and less.
    for _ in 0..150 {
        world.step(0.02).unwrap();
    }
    assert!(world.totals().kinetic < 1e-7, "{:?}", world.totals());
    // What moves when that is over, creeps.
    for _ in 0..100 {
        world.step(0.02).unwrap();
    }
    let before = middle(&world, upper);
    for _ in 0..50 {
        world.step(0.02).unwrap();
    }
    let crept = middle(&world, upper).distance(before);
    assert!(crept < 1e-5, "{crept}");
}

/// At 10 m/s a ball goes half its radius in a sub-step, and many times the gap that
/// surfaces keep.
#[test]
fn balls_at_ten_metres_per_second_do_not_pass_through_each_other() {
    let stiff = SolidModel::Elastic(Elastic {
        young: 2e5,
        ..Elastic::default()
    });
    for model in [stiff, springs()] {
        let mut world = World::new();
        world.gravity = Vec3::ZERO;
        let thrown = 10.0 * Vec3::X;
        let left = ball(
            &mut world,
            Vec3::new(-0.3, 0.02, 0.0),
            thrown,
            model.clone(),
        );
        let right = ball(&mut world, Vec3::new(0.0, 0.0, 0.01), Vec3::ZERO, model);
        let given = momentum(&world);
        let mut worst = 0.0f32;
        for _ in 0..60 {
            world.step(0.005).unwrap();
            worst = worst.max(deepest(&world));
        }
        let (a, b) = (middle(&world, left), middle(&world, right));
        assert!(a.distance(b) > 0.15 && a.x < b.x, "{a} {b}, {worst}");
        assert!(worst < 0.05, "{worst}");
        assert!(deepest(&world) < 0.002);
        let lost = momentum(&world) - given;
        assert!(lost.length() < 1e-3 * given.length(), "{lost} of {given}");
    }
}

/// Two bars cross with their sharp edges ahead, where neither has a point: only edges can
/// hold them apart.
#[test]
fn sharp_edges_do_not_pass_each_other() {
    let bar = |world: &mut World, turn: Quat, at: Vec3| {
        let mesh = TetBlock {
            min: Vec3::new(-0.15, -0.03, -0.03),
            max: Vec3::new(0.15, 0.03, 0.03),
            cells: [3, 1, 1],
        };
        let mesh = mesh.build().unwrap().map_points(|p| turn * p + at);
        let settings = SolidSettings::new("bar", soft(5e5));
        world.add_solid(settings, mesh).unwrap()
    };
    let mut world = World::new();
    let edge_up = Quat::from_rotation_x(std::f32::consts::FRAC_PI_4);
    let lower = bar(&mut world, edge_up, Vec3::ZERO);
    let held = world.solid_mut(lower).unwrap();
    held.pin_where(|p| p.x.abs() > 0.14);
    let across = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2) * edge_up;
    let upper = bar(&mut world, across, 0.12 * Vec3::Y);
    let thrown = world.solid_mut(upper).unwrap();
    thrown.put(|p| p, |_| Vec3::new(0.0, -3.0, 0.0));
    for _ in 0..40 {
        world.step(0.005).unwrap();
        let (low, high) = (middle(&world, lower), middle(&world, upper));
        assert!(high.y > low.y + 0.04, "{low} {high}");
        assert_eq!(deepest(&world), 0.0);
    }
}

/// Coulomb, as against an obstacle: what slides is slowed by μ g cos a.
#[test]
fn a_block_on_a_slope_of_a_block_obeys_coulomb() {
    let slip = |friction: f32| {
        let mut world = World::new();
        let angle = 20f32.to_radians();
        world.gravity = 9.81 * Vec3::new(angle.sin(), -angle.cos(), 0.0);
        let model = SolidModel::Elastic(Elastic {
            young: 1e6,
            ..Elastic::default()
        });
        let mut settings = SolidSettings::new("slope", model.clone());
        settings.friction = friction;
        let mesh = TetBlock {
            min: Vec3::new(-0.3, -0.1, -0.3),
            max: Vec3::new(1.5, 0.0, 0.3),
            cells: [18, 1, 6],
        };
        let slope = world
            .add_solid(settings.clone(), mesh.build().unwrap())
            .unwrap();
        world.solid_mut(slope).unwrap().pin_where(|_| true);
        let mesh = TetBlock {
            min: Vec3::new(-0.1, 0.01, -0.1),
            max: Vec3::new(0.1, 0.21, 0.1),
            cells: [3, 3, 3],
        };
        let body = world.add_solid(settings, mesh.build().unwrap()).unwrap();
        let start = middle(&world, body).x;
        for _ in 0..160 {
            world.step(0.005).unwrap();
        }
        middle(&world, body).x - start
    };
    for friction in [0.0f32, 0.2] {
        let a = 20f32.to_radians();
        let expected = 0.5 * 9.81 * (a.sin() - friction * a.cos()) * 0.8 * 0.8;
        let found = slip(friction);
        assert!(
            (found / expected - 1.0).abs() < 0.1,
            "{friction}: {found} {expected}"
        );
    }
    let held = slip(0.5);
    assert!(held.abs() < 0.01, "{held}");
}

/// Two arms of one body are driven through each other; they meet instead.
#[test]
fn a_body_touches_itself() {
    let gap = |self_contact: bool| {
        let mut world = World::new();
        world.gravity = Vec3::ZERO;
        let mesh = TetBlock {
            min: Vec3::new(0.0, -0.03, -0.05),
            max: Vec3::new(1.0, 0.03, 0.05),
            cells: [30, 2, 3],
        };
        let mut settings = SolidSettings::new("strip", soft(2e4));
        settings.self_contact = self_contact;
        let mesh = mesh.build().unwrap();
        let body = world.add_solid(settings, mesh).unwrap();
        // Bent to a horseshoe with parallel arms, whose ends come together.
        let bent = |p: Vec3| {
            let angle = std::f32::consts::PI * (p.x - 0.5);
            let radius = 1.0 / std::f32::consts::PI;
            let turn = Quat::from_rotation_z(angle);
            turn * (p.y * Vec3::Y - radius * Vec3::Y) + p.z * Vec3::Z
        };
        let solid = world.solid_mut(body).unwrap();
        solid.put(bent, |_| Vec3::ZERO);
        solid.load_where(|p| p.x > 0.9, Vec3::new(-4.0, 0.0, 0.0));
        solid.load_where(|p| p.x < 0.1, Vec3::new(4.0, 0.0, 0.0));
        let mut meetings = 0;
        for _ in 0..100 {
            world.step(0.01).unwrap();
            meetings += world.body_contacts().len();
        }
        let solid = world.solid(body).unwrap();
        let end = |side: bool| {
            let points = solid.rest().points.iter().zip(solid.positions().iter());
            let ends: Vec<f32> = points
                .filter(|(rest, _)| if side { rest.x > 0.95 } else { rest.x < 0.05 })
                .map(|(_, p)| p.x)
                .collect();
            ends.iter().sum::<f32>() / ends.len() as f32
        };
        (end(true) - end(false), meetings)
    };
    let (passed, none) = gap(false);
    assert_eq!(none, 0);
    assert!(passed < -0.02, "{passed}");
    let (held, some) = gap(true);
    assert!(some > 0 && held > 0.02, "{held} {some}");
}

#[test]
fn a_neo_hookean_ball_and_springs_meet_too() {
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    world.add_obstacle(floor.with_contact(0.0, 0.5));
    let lower = ball(
        &mut world,
        Vec3::new(0.0, 0.105, 0.0),
        Vec3::ZERO,
        springs(),
    );
    let law = SolidModel::Elastic(Elastic {
        law: ElasticLaw::NeoHookean,
        young: 2e4,
        ..Elastic::default()
    });
    let upper = block(&mut world, Vec3::new(0.0, 0.33, 0.0), law);
    let mut meetings = 0;
    for _ in 0..40 {
        world.step(0.01).unwrap();
        meetings += world.body_contacts().len();
    }
    let (low, high) = (middle(&world, lower), middle(&world, upper));
    assert!(high.y > low.y + 0.1, "{low} {high}");
    assert!(deepest(&world) < 0.004, "{}", deepest(&world));
    assert!(meetings > 40, "{meetings}");
    assert_eq!(world.solid(lower).unwrap().name(), "ball");
}

/// Bodies far too soft for the blow are crushed against each other and fly on together:
/// what the solve misses stops, and must neither tear them nor drive them.
#[test]
fn crushed_bodies_gain_no_energy_and_take_short_steps() {
    let law = SolidModel::Elastic(Elastic {
        law: ElasticLaw::NeoHookean,
        young: 3e3,
        poisson: 0.3,
        ..Elastic::default()
    });
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let thrown = Vec3::new(8.0, 4.0, 0.0);
    ball(&mut world, Vec3::new(-0.13, 0.0, 0.02), thrown, law.clone());
    ball(&mut world, Vec3::new(0.13, 0.03, 0.0), -0.8 * thrown, law);
    let energy = |world: &World| -> f64 {
        let bodies = world.solids().map(Solid::energy);
        bodies.map(|e| e.kinetic + e.elastic).sum()
    };
    let (start, given) = (energy(&world), momentum(&world));
    let mut limits = Vec::new();
    for _ in 0..15 {
        limits.push(world.step(0.02).unwrap().limit);
        let now = energy(&world);
        assert!(now < 1.01 * start, "{now} of {start} J");
    }
    assert!(
        limits.contains(&crate::fluid::StepLimit::Meeting),
        "{limits:?}"
    );
    let lost = momentum(&world) - given;
    assert!(lost.length() < 1e-3 * given.length(), "{lost} of {given}");
}
