//! Laws of moving obstacles: they push, drag and carry liquid as walls at rest do in
//! their own frame, and nothing gets past them.

use std::f32::consts::TAU;
use std::sync::Arc;

use crate::common::{DRY_WATER, INDICES, mesh_obstacle, moving, run};
use pliant::contact::{Key, Keyframes, Motion, Path, Peristalsis};
use pliant::fluid::{PressureMethod, StepLimit};
use pliant::mesh::{Colon, Cuboid};
use pliant::observe::{Decoder, Encoder};
use pliant::{
    Fill, Fluid, FluidSettings, Handle, Material, Obstacle, Region, StepError, Vec3, World,
};

const SPACING: f32 = 0.02;
const G: f32 = 9.81;

fn water() -> FluidSettings {
    FluidSettings {
        sound_speed: Some(20.0),
        ..FluidSettings::new(DRY_WATER, SPACING)
    }
}

fn constant(velocity: Vec3) -> Motion {
    Motion::new(Path::Constant {
        velocity,
        spin: 0.0,
    })
}

fn cuboid(min: Vec3, max: Vec3) -> Arc<pliant::TriMesh> {
    Arc::new(Cuboid::new(min, max).build().unwrap())
}

fn positions(world: &World, fluid: Handle<Fluid>) -> Vec<Vec3> {
    world.fluid(fluid).unwrap().positions().iter().collect()
}

/// A tank of planes full of water, all moving with `velocity`.
fn tank(pressure: PressureMethod, velocity: Vec3) -> (World, Handle<Fluid>, Handle<Obstacle>) {
    let mut world = World::new();
    let motion = constant(velocity);
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y).with_motion(motion.clone());
    let floor = world.add_obstacle(floor);
    for normal in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        let wall = Obstacle::plane("wall", -0.1 * normal, normal);
        world.add_obstacle(wall.with_motion(motion.clone()));
    }
    let settings = FluidSettings {
        pressure,
        ..water()
    };
    let fluid = world.add_fluid(settings).unwrap();
    let region = Region::Box {
        min: Vec3::new(-0.1, 0.0, -0.1),
        max: Vec3::new(0.1, 0.2, 0.1),
    };
    let points = Fill::Region(region).points(SPACING).unwrap();
    world.add_particles(fluid, &moving(&points, velocity));
    (world, fluid, floor)
}

/// Galilean invariance: a tank in uniform motion carries the weight of its water, and
/// the water rests in it.
#[test]
fn a_moving_tank_is_like_one_at_rest() {
    let velocity = Vec3::new(0.7, 0.3, -0.4);
    for pressure in [PressureMethod::Dfsph, PressureMethod::WeaklyCompressible] {
        let (mut world, fluid, floor) = tank(pressure, velocity);
        run(&mut world, 0.8, 0.02);
        let mut impulse = Vec3::ZERO;
        for _ in 0..20 {
            world.step(0.02).unwrap();
            impulse += 0.02 * world.force_on(floor);
        }
        let weight = world.totals().mass as f32 * G;
        let share = -impulse.y / (0.4 * weight);
        assert!(
            (share - 1.0).abs() < 0.03,
            "{pressure:?}: {share} of the weight"
        );
        let liquid = world.fluid(fluid).unwrap();
        let mean: Vec3 = liquid.velocities().iter().sum::<Vec3>() / liquid.len() as f32;
        assert!((mean - velocity).length() < 0.02, "{pressure:?}: {mean}");
        assert_eq!(world.leaked(), 0);
    }
}

/// A conveyor belt accelerates what lies on it by μ g, and no further than its own
/// speed.
#[test]
fn a_belt_drags_by_coulomb_friction() {
    let (friction, speed) = (0.3, 0.5);
    let mut world = World::new();
    let belt = Obstacle::plane("belt", Vec3::ZERO, Vec3::Y)
        .with_contact(0.0, friction)
        .with_motion(constant(speed * Vec3::X));
    world.add_obstacle(belt);
    let fluid = world.add_fluid(water()).unwrap();
    let grains: Vec<Vec3> = (0..5)
        .map(|i| Vec3::new(0.0, 0.5 * SPACING, 0.1 * i as f32))
        .collect();
    world.add_particles(fluid, &moving(&grains, Vec3::ZERO));
    run(&mut world, 0.1, 0.01);
    for v in world.fluid(fluid).unwrap().velocities().iter() {
        let expected = friction * G * 0.1;
        assert!((v.x - expected).abs() < 0.05 * expected, "{v}");
    }
    run(&mut world, 0.3, 0.01);
    for v in world.fluid(fluid).unwrap().velocities().iter() {
        assert!((v.x - speed).abs() < 0.01 * speed, "{v}");
    }
}

/// Liquid that sticks to two plates, one of which slides, shears evenly between them
/// (Couette). Seen in the middle of a wide layer, far from its ends.
#[test]
fn a_sliding_plate_drags_what_sticks_to_it() {
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let speed = 0.2;
    let low = Obstacle::plane("low", Vec3::ZERO, Vec3::Y).with_no_slip(true);
    let high = Obstacle::plane("high", 0.16 * Vec3::Y, Vec3::NEG_Y)
        .with_no_slip(true)
        .with_motion(constant(speed * Vec3::X));
    world.add_obstacle(low);
    world.add_obstacle(high);
    for normal in [Vec3::Z, Vec3::NEG_Z] {
        world.add_obstacle(Obstacle::plane("side", -0.1 * normal, normal));
    }
    let mut settings = water();
    settings.material.viscosity = 20.0;
    let fluid = world.add_fluid(settings).unwrap();
    let region = Region::Box {
        min: Vec3::new(-0.6, 0.0, -0.1),
        max: Vec3::new(0.6, 0.16, 0.1),
    };
    world.fill(fluid, &Fill::Region(region)).unwrap();
    run(&mut world, 1.5, 0.02);
    let liquid = world.fluid(fluid).unwrap();
    let mut bins = [(0.0f32, 0usize); 4];
    for (p, v) in liquid.positions().iter().zip(liquid.velocities().iter()) {
        if p.x.abs() < 0.25 {
            let bin = &mut bins[((p.y / 0.04) as usize).min(3)];
            *bin = (bin.0 + v.x, bin.1 + 1);
        }
    }
    for (k, (sum, count)) in bins.into_iter().enumerate() {
        let expected = speed * (k as f32 + 0.5) / 4.0;
        let got = sum / count as f32;
        assert!(
            (got - expected).abs() < 0.1 * speed,
            "{k}: {got} {expected}"
        );
    }
}

/// A closed box of water shaken, tumbled and driven through keyframes keeps it.
#[test]
fn a_tumbling_box_keeps_its_water() {
    let key = |time, x, angle| Key {
        time,
        translation: Vec3::new(x, 0.5 * x, 0.0),
        angle,
    };
    let keys = vec![
        key(0.0, 0.0, 0.0),
        key(0.2, 0.3, 1.0),
        key(0.35, -0.2, -2.0),
    ];
    let paths = [
        Path::Constant {
            velocity: Vec3::new(0.5, 0.0, 0.2),
            spin: 9.0,
        },
        Path::Oscillation {
            amplitude: Vec3::new(0.02, 0.06, 0.0),
            angle: 0.4,
            frequency: 6.0,
            phase: 0.3,
        },
        Path::Keyframes(Keyframes::new(keys, false).unwrap()),
    ];
    let mesh = cuboid(Vec3::splat(-0.1), Vec3::splat(0.1));
    for (kind, path) in INDICES.into_iter().zip(paths) {
        let mut world = World::new();
        let motion = Motion::new(path).about(Vec3::new(0.05, 0.0, 0.02), Vec3::new(1.0, 2.0, 0.4));
        let tank = mesh_obstacle(kind, &mesh, SPACING, 0.5 * SPACING);
        let tank = world.add_obstacle(tank.with_motion(motion));
        let fluid = world.add_fluid(water()).unwrap();
        let lower = Region::Box {
            min: Vec3::splat(-0.09),
            max: Vec3::new(0.09, 0.02, 0.09),
        };
        world.fill(fluid, &Fill::Region(lower)).unwrap();
        for _ in 0..40 {
            world.step(0.01).unwrap();
            assert_eq!(world.leaked(), 0, "{kind}, {} s", world.time());
        }
        // It has really moved, and the water with it.
        let bounds = world.obstacle(tank).unwrap().bounds().unwrap().grown(1e-4);
        assert!((bounds.center().length()) > 1e-3);
        assert!(positions(&world, fluid).iter().all(|&p| bounds.contains(p)));
    }
}

/// A piston pushes water through a tank without letting any pass, and feels it.
#[test]
fn a_piston_pushes_all_there_is() {
    for kind in INDICES {
        let mut world = World::new();
        let size = Vec3::new(0.6, 0.3, 0.1);
        let tank = cuboid(Vec3::ZERO, size);
        world.add_obstacle(mesh_obstacle(kind, &tank, SPACING, 0.5 * SPACING));
        // Wider than the tank, so that there is no gap.
        let plate = cuboid(Vec3::new(-0.2, -0.1, -0.1), Vec3::new(-0.01, 0.4, 0.2));
        let piston = mesh_obstacle(kind, &plate, SPACING, 0.5 * SPACING);
        let piston = world.add_obstacle(
            piston.with_motion(Motion::new(Path::Keyframes(
                Keyframes::new(
                    vec![
                        Key {
                            time: 0.0,
                            translation: Vec3::ZERO,
                            angle: 0.0,
                        },
                        Key {
                            time: 0.5,
                            translation: 0.25 * Vec3::X,
                            angle: 0.0,
                        },
                    ],
                    true,
                )
                .unwrap(),
            ))),
        );
        let fluid = world.add_fluid(water()).unwrap();
        let region = Region::Box {
            min: Vec3::ZERO,
            max: Vec3::new(0.6, 0.1, 0.1),
        };
        world.fill(fluid, &Fill::Region(region)).unwrap();
        let mut pushed = 0.0;
        for _ in 0..50 {
            world.step(0.01).unwrap();
            pushed += 0.01 * world.force_on(piston).x;
            assert_eq!(world.leaked(), 0, "{kind}, {} s", world.time());
        }
        let front = world.obstacle(piston).unwrap().bounds().unwrap().max.x;
        assert!((front - 0.24).abs() < 1e-5);
        assert!(
            positions(&world, fluid).iter().all(|p| p.x > front),
            "{kind}"
        );
        assert!(pushed < -0.1, "{kind}: {pushed} N s");
    }
}

/// Stopping and going on gives the same bits, whatever moves.
#[test]
fn a_restart_in_the_middle_of_a_motion_is_exact() {
    let make = || {
        let mut world = World::new();
        let mesh = cuboid(Vec3::splat(-0.1), Vec3::splat(0.1));
        let motion = Motion::new(Path::Oscillation {
            amplitude: 0.05 * Vec3::X,
            angle: 0.5,
            frequency: 3.0,
            phase: 0.25 * TAU,
        });
        let tank = mesh_obstacle("hash", &mesh, SPACING, 0.5 * SPACING);
        world.add_obstacle(tank.with_motion(motion.about(Vec3::ZERO, Vec3::Z)));
        let fluid = world.add_fluid(water()).unwrap();
        let lower = Region::Box {
            min: Vec3::splat(-0.1),
            max: Vec3::new(0.1, 0.0, 0.1),
        };
        world.fill(fluid, &Fill::Region(lower)).unwrap();
        world
    };
    let mut through = make();
    run(&mut through, 0.1, 0.01);
    let mut saved = Encoder::default();
    through.save(&mut saved);
    let bytes = saved.finish();
    let mut again = make();
    again.load(&mut Decoder::open(&bytes).unwrap()).unwrap();
    assert_eq!(again.leaked(), 0);
    run(&mut through, 0.1, 0.01);
    run(&mut again, 0.1, 0.01);
    assert_eq!(through.hash(), again.hash());
    assert_eq!(again.leaked(), 0);
}

#[test]
fn fast_walls_shorten_the_step() {
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    world.add_obstacle(floor.with_motion(constant(100.0 * Vec3::X)));
    let fluid = world.add_fluid(water()).unwrap();
    world.add_particles(fluid, &moving(&[Vec3::Y], Vec3::ZERO));
    let report = world.step(0.01).unwrap();
    assert_eq!(report.limit, StepLimit::MovingWall);
    assert!(report.smallest_dt * 100.0 <= 0.2001 * SPACING);
    world.settings.fixed = Some(1e-4);
    let refused = world.step(0.01);
    assert!(
        matches!(
            refused,
            Err(StepError::FixedTooLarge {
                limit: StepLimit::MovingWall,
                ..
            })
        ),
        "{refused:?}"
    );
}

/// A wave along a closed colon moves its content, and holds it; a restart in the
/// middle goes on with the same bits.
#[test]
fn peristalsis_keeps_and_moves_what_is_inside() {
    let spacing = 0.006;
    let make = || {
        let (mesh, path) = Colon::coarse(0).build_with_path().unwrap();
        let mesh = Arc::new(mesh);
        let mut world = World::new();
        let wave = Peristalsis {
            amplitude: 0.6,
            wave_length: 0.12,
            speed: 0.2,
            sharpness: 2.0,
            start: 0.0,
            stop: f64::INFINITY,
        };
        let colon = mesh_obstacle("bvh", &mesh, spacing, spacing).with_no_slip(true);
        let colon = world.add_obstacle(colon.with_peristalsis(wave, &path.points));
        let settings = FluidSettings {
            sound_speed: Some(8.0),
            ..FluidSettings::new(Material::BARIUM, spacing)
        };
        let fluid = world.add_fluid(settings).unwrap();
        let near = Vec3::new(0.09, 0.33, -0.015);
        let fill = Fill::Mesh {
            mesh,
            within: Region::Everywhere,
        };
        let points = fill.nearest(spacing, 800, near).unwrap();
        world.add_particles(fluid, &moving(&points, Vec3::ZERO));
        (world, colon)
    };
    let (mut world, colon) = make();
    let mut pushed = 0.0f32;
    for _ in 0..20 {
        world.step(0.02).unwrap();
        assert_eq!(world.leaked(), 0, "{} s", world.time());
        pushed = pushed.max(world.force_on(colon).length());
    }
    assert!(pushed > 0.1, "{pushed} N");
    let mut saved = Encoder::default();
    world.save(&mut saved);
    let bytes = saved.finish();
    let mut again = make().0;
    again.load(&mut Decoder::open(&bytes).unwrap()).unwrap();
    run(&mut world, 0.1, 0.02);
    run(&mut again, 0.1, 0.02);
    assert_eq!(world.hash(), again.hash());
    assert_eq!(again.leaked(), 0);
}
