//! Deformable solids in a world: determinism, checkpoints, refusals, tunnelling,
//! obstacles that move.

use std::path::Path;
use std::sync::Arc;

use crate::common::run;
use pliant::contact::{Motion, Path as Way};
use pliant::mesh::{Cuboid, TetBall, TetBlock, UvSphere};
use pliant::observe::{Decoder, Encoder};
use pliant::scene::Scene;
use pliant::solid::{Elastic, ElasticLaw, ShapeMatching, SolidModel, SolidSettings, Springs};
use pliant::space::Bvh;
use pliant::{Handle, Obstacle, Solid, StepError, TriMesh, Vec3, World};

/// One body of each model over a floor with friction.
fn world() -> World {
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    world.add_obstacle(floor.with_contact(0.0, 0.4));
    let models = [
        SolidModel::Springs(Springs {
            volume_stiffness: 3e6,
            ..Springs::default()
        }),
        SolidModel::Elastic(Elastic {
            young: 2e4,
            ..Elastic::default()
        }),
        SolidModel::Elastic(Elastic {
            law: ElasticLaw::NeoHookean,
            young: 2e4,
            ..Elastic::default()
        }),
    ];
    for (i, model) in models.into_iter().enumerate() {
        let x = 0.4 * i as f32;
        let block = TetBlock {
            min: Vec3::new(x, 0.02, 0.0),
            max: Vec3::new(x + 0.2, 0.22, 0.2),
            cells: [14, 13, 14],
        };
        let body = SolidSettings::new(format!("body {i}"), model);
        let handle = world.add_solid(body, block.build().unwrap()).unwrap();
        let body = world.solid_mut(handle).unwrap();
        body.put(|p| p, |_| Vec3::new(1.0, -2.0, 0.3));
    }
    world
}

/// Bodies of two models thrown at each other: they touch within the first steps.
fn colliding() -> World {
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    world.add_obstacle(floor.with_contact(0.0, 0.4));
    let block = TetBlock {
        min: Vec3::new(0.4, 0.02, 0.0),
        max: Vec3::new(0.6, 0.22, 0.2),
        cells: [4, 4, 4],
    };
    let soft = SolidModel::Elastic(Elastic {
        young: 2e4,
        ..Elastic::default()
    });
    let block = block.build().unwrap();
    let mut bodies = vec![
        world
            .add_solid(SolidSettings::new("block", soft), block)
            .unwrap(),
    ];
    let settings = SolidSettings::new(
        "matched",
        SolidModel::Matching(ShapeMatching {
            cluster: Some(0.1),
            ..ShapeMatching::default()
        }),
    );
    let ball = TetBall {
        center: Vec3::new(0.75, 0.15, 0.1),
        radius: 0.1,
        tets: 600,
    };
    bodies.push(world.add_solid(settings, ball.build().unwrap()).unwrap());
    for (i, &body) in bodies.iter().enumerate() {
        let speed = 2.0 - 4.0 * i as f32;
        let body = world.solid_mut(body).unwrap();
        body.put(|p| p, |_| Vec3::new(speed, -2.0, 0.3));
    }
    world
}

#[test]
fn bodies_that_touch_keep_their_bits() {
    let hash = |threads| {
        in_threads(threads, || {
            let mut world = colliding();
            run(&mut world, 0.03, 0.01);
            assert!(!world.body_contacts().is_empty());
            run(&mut world, 0.05, 0.01);
            world.hash()
        })
    };
    let one = hash(1);
    assert_eq!(one, hash(2));
    let mut through = colliding();
    run(&mut through, 0.05, 0.01);
    let mut out = Encoder::default();
    through.save(&mut out);
    let file = out.finish();
    run(&mut through, 0.03, 0.01);
    assert_eq!(through.hash(), one);
    let mut resumed = colliding();
    resumed.load(&mut Decoder::open(&file).unwrap()).unwrap();
    run(&mut resumed, 0.03, 0.01);
    assert_eq!(through.hash(), resumed.hash());
}

fn in_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
    pool.unwrap().install(work)
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let hash = |threads| {
        in_threads(threads, || {
            let mut world = world();
            run(&mut world, 0.06, 0.01);
            world.hash()
        })
    };
    let one = hash(1);
    assert_eq!(one, hash(2));
    assert_eq!(one, hash(3));
}

#[test]
fn a_restart_continues_with_the_same_bits() {
    let mut through = world();
    run(&mut through, 0.04, 0.01);
    let mut out = Encoder::default();
    through.save(&mut out);
    let file = out.finish();
    run(&mut through, 0.04, 0.01);
    let mut resumed = world();
    let mut from = Decoder::open(&file).unwrap();
    resumed.load(&mut from).unwrap();
    from.finish().unwrap();
    run(&mut resumed, 0.04, 0.01);
    assert_eq!(through.hash(), resumed.hash());
    let mut other = World::new();
    assert!(other.load(&mut Decoder::open(&file).unwrap()).is_err());
}

#[test]
fn a_step_that_springs_cannot_take_is_refused_with_the_reason() {
    let mut world = World::new();
    let mut settings = SolidSettings::new("stiff", SolidModel::Springs(Springs::default()));
    settings.step = Some(0.5);
    let mesh = TetBlock::default().build().unwrap();
    world.add_solid(settings, mesh).unwrap();
    let error = world.step(1.0).unwrap_err();
    assert!(matches!(error, StepError::SolidTooFast { .. }), "{error}");
    assert!(error.to_string().contains("springs along edges"), "{error}");
}

#[test]
fn nothing_tunnels_through_a_thin_sheet_at_ten_metres_per_second() {
    let mut world = World::new();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let sheet = Arc::new(TriMesh {
        vertices: corners.map(|(x, z)| Vec3::new(x, 0.0, z)).to_vec(),
        triangles: vec![[0, 2, 1], [0, 3, 2]],
    });
    let index = Arc::new(Bvh::build(sheet.clone()));
    world.add_obstacle(Obstacle::mesh("sheet", sheet, index, 0.05));
    let ball = TetBall {
        center: Vec3::new(0.0, 0.15, 0.0),
        radius: 0.1,
        tets: 600,
    };
    let soft = SolidModel::Elastic(Elastic {
        young: 1e5,
        ..Elastic::default()
    });
    let handle = world.add_solid(SolidSettings::new("ball", soft), ball.build().unwrap());
    let handle = handle.unwrap();
    world
        .solid_mut(handle)
        .unwrap()
        .put(|p| p, |_| Vec3::new(0.0, -10.0, 0.0));
    for _ in 0..40 {
        world.step(0.01).unwrap();
        let body = world.solid(handle).unwrap();
        assert!(body.positions().iter().all(|p| p.y > 0.0), "tunnelled");
    }
}

#[test]
fn bad_bodies_in_scenes_get_a_message_with_their_place() {
    let scene = |solid: &str| {
        let text = format!("title = \"x\"\nduration = 1.0\n[[solid]]\n{solid}\n");
        let scene = Scene::parse("a", "a.toml", &text, Path::new("."), &[]);
        scene.and_then(|s| s.build()).unwrap_err().to_string()
    };
    let block = "shape = { block = { min = [0,0,0], max = [1,1,1], cells = [1,1,1] } }\n";
    let message = scene(&format!(
        "{block}model = {{ elastic = {{ poisson = 0.6 }} }}"
    ));
    assert!(
        message.contains("`poisson` is 0.6, but must be from 0 to 0.495"),
        "{message}"
    );
    let message = scene(&format!(
        "{block}[[solid.pin]]\nregion = {{ sphere = {{ center = [9,9,9], radius = 1 }} }}"
    ));
    assert!(
        message.contains("has no points in this region"),
        "{message}"
    );
    let message = scene("shape = { block = { min = [0,0,0], max = [1,1,1], cells = [0,1,1] } }");
    assert!(message.contains("cells x is 0"), "{message}");
    let message = scene("shape = { tets = { file = \"none.msh\" } }");
    assert!(message.contains("none.msh"), "{message}");
}

#[test]
fn a_ball_rests_in_a_bowl() {
    let mut world = World::new();
    let bowl = UvSphere {
        radius: 0.5,
        ..UvSphere::default()
    };
    let bowl = Arc::new(bowl.build().unwrap());
    let index = Arc::new(Bvh::build(bowl.clone()));
    let bowl = Obstacle::mesh("bowl", bowl, index, 0.05).with_contact(0.0, 0.5);
    world.add_obstacle(bowl);
    let ball = TetBall {
        center: Vec3::new(0.1, -0.25, 0.0),
        radius: 0.1,
        tets: 500,
    };
    let soft = SolidModel::Elastic(Elastic {
        young: 5e4,
        mass_damping: 3.0,
        ..Elastic::default()
    });
    let handle = world
        .add_solid(SolidSettings::new("ball", soft), ball.build().unwrap())
        .unwrap();
    run(&mut world, 3.0, 0.01);
    let body = world.solid(handle).unwrap();
    assert!(
        body.positions().iter().all(|p| p.length() < 0.5),
        "left the bowl"
    );
    assert!(
        world.totals().max_speed < 0.05,
        "{}",
        world.totals().max_speed
    );
}

/// A soft block and one of springs, both at rest, side by side on the plane y = 0.
fn two_blocks(world: &mut World) -> [Handle<Solid>; 2] {
    let models = [
        SolidModel::Elastic(Elastic {
            young: 1e5,
            mass_damping: 1.0,
            ..Elastic::default()
        }),
        SolidModel::Springs(Springs::default()),
    ];
    let mut z = 0.0;
    models.map(|model| {
        let block = TetBlock {
            min: Vec3::new(0.0, 0.005, z),
            max: Vec3::new(0.2, 0.105, z + 0.2),
            cells: [4, 2, 4],
        };
        z += 0.4;
        let settings = SolidSettings::new("block", model);
        world.add_solid(settings, block.build().unwrap()).unwrap()
    })
}

/// Mean velocity of the points of a body.
fn mean_velocity(world: &World, body: Handle<Solid>) -> Vec3 {
    let velocities = world.solid(body).unwrap().velocities();
    velocities.iter().sum::<Vec3>() / velocities.iter().count() as f32
}

#[test]
fn a_moving_floor_carries_bodies_along_and_lifts_them() {
    for velocity in [Vec3::new(0.5, 0.0, 0.0), Vec3::new(0.0, 0.5, 0.0)] {
        let mut world = World::new();
        let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y).with_contact(0.0, 0.8);
        let path = Way::Constant {
            velocity,
            spin: 0.0,
        };
        world.add_obstacle(floor.with_motion(Motion::new(path)));
        let bodies = two_blocks(&mut world);
        run(&mut world, 1.0, 0.01);
        let height = velocity.y * world.time() as f32;
        for body in bodies {
            let mean = mean_velocity(&world, body);
            assert!((mean - velocity).length() < 0.05, "{mean} not {velocity}");
            let points = world.solid(body).unwrap().positions();
            let lowest = points.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
            assert!(lowest > height && lowest < height + 0.02, "{lowest}");
        }
    }
}

#[test]
fn a_thin_plate_at_ten_metres_per_second_pushes_bodies_ahead() {
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let plate = Cuboid::new(Vec3::new(-0.302, -1.0, -1.0), Vec3::new(-0.3, 1.0, 1.5));
    let mesh = Arc::new(plate.build().unwrap());
    let index = Arc::new(Bvh::build(mesh.clone()));
    let path = Way::Constant {
        velocity: 10.0 * Vec3::X,
        spin: 0.0,
    };
    let plate = Obstacle::mesh("plate", mesh, index, 0.05).with_motion(Motion::new(path));
    world.add_obstacle(plate);
    let bodies = two_blocks(&mut world);
    for _ in 0..20 {
        world.step(0.01).unwrap();
        let front = -0.3 + 10.0 * world.time() as f32;
        for body in bodies {
            let mut points = world.solid(body).unwrap().positions().iter();
            assert!(points.all(|p| p.x > front), "the plate went through");
        }
    }
}
