//! Laws of contact: weight, friction, restitution, and rest in corners.

use std::sync::Arc;

use crate::common::{DRY_WATER, INDICES, mesh_obstacle, moving, run};
use pliant::mesh::Cuboid;
use pliant::{Fill, Fluid, FluidSettings, Handle, Obstacle, Region, Vec3, World};

const SPACING: f32 = 0.02;
const G: f32 = 9.81;

fn water() -> FluidSettings {
    FluidSettings::new(DRY_WATER, SPACING)
}

/// A tank of planes, 0.2 m wide, filled `depth` metres deep. Its floor comes first.
fn tank(depth: f32) -> (World, Handle<Fluid>, Handle<Obstacle>) {
    let mut world = World::new();
    let floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
    for normal in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        world.add_obstacle(Obstacle::plane("wall", -0.1 * normal, normal));
    }
    let fluid = world.add_fluid(water()).unwrap();
    let region = Region::Box {
        min: Vec3::new(-0.1, 0.0, -0.1),
        max: Vec3::new(0.1, depth, 0.1),
    };
    world.fill(fluid, &Fill::Region(region)).unwrap();
    (world, fluid, floor)
}

#[test]
fn the_floor_carries_the_weight() {
    let (mut world, _, floor) = tank(0.2);
    run(&mut world, 1.0, 0.01);
    let mut impulse = Vec3::ZERO;
    for _ in 0..100 {
        world.step(0.01).unwrap();
        impulse += 0.01 * world.force_on(floor);
    }
    let weight = world.totals().mass as f32 * G;
    println!(
        "force on the floor {:.4} of the weight",
        -impulse.y / weight
    );
    assert!(
        (-impulse.y / weight - 1.0).abs() < 0.02,
        "{impulse} N, weight {weight} N"
    );
    assert!(impulse.x.abs().max(impulse.z.abs()) < 1e-3 * weight);
}

#[test]
fn a_mesh_carries_the_weight_too() {
    let mesh = Cuboid {
        cells: [3, 3, 3],
        ..Cuboid::new(Vec3::new(-0.1, 0.0, -0.1), Vec3::new(0.1, 0.3, 0.1))
    };
    let mesh = Arc::new(mesh.build().unwrap());
    for kind in INDICES {
        let mut world = World::new();
        let wall = world.add_obstacle(mesh_obstacle(kind, &mesh, SPACING, 0.5 * SPACING));
        let fluid = world.add_fluid(water()).unwrap();
        let region = Region::Box {
            min: Vec3::new(-0.1, 0.0, -0.1),
            max: Vec3::new(0.1, 0.1, 0.1),
        };
        world.fill(fluid, &Fill::Region(region)).unwrap();
        run(&mut world, 1.0, 0.01);
        let mut impulse = Vec3::ZERO;
        let mut contacts = 0;
        for _ in 0..50 {
            world.step(0.01).unwrap();
            impulse += 0.02 * world.force_on(wall);
            for c in world.contacts() {
                contacts += 1;
                let [u, v, w] = c.barycentric;
                assert!((u + v + w - 1.0).abs() < 1e-5, "{c:?}");
                assert!(u.min(v).min(w) > -1e-5, "{c:?}");
                let [a, b, d] = mesh.corners(c.triangle as usize);
                let place = u * a + v * b + w * d;
                assert!(place.distance(c.place) < 1e-5, "{c:?}: {place}");
                assert_eq!(c.obstacle as usize, wall.index());
            }
        }
        let weight = world.totals().mass as f32 * G;
        println!(
            "{kind}: force {:.4} of the weight, {contacts} contacts",
            -impulse.y / weight
        );
        assert!(
            (-impulse.y / weight - 1.0).abs() < 0.02,
            "{kind}: {impulse}, weight {weight}"
        );
        assert!(contacts > 1000);
    }
}

/// A slope of `angle` radians with friction, and one particle lying on it.
fn slope(angle: f32, friction: f32) -> (World, Handle<Fluid>, Vec3) {
    let normal = Vec3::new(angle.sin(), angle.cos(), 0.0);
    let down = Vec3::new(angle.cos(), -angle.sin(), 0.0);
    let mut world = World::new();
    let plane = Obstacle::plane("slope", Vec3::ZERO, normal).with_contact(0.0, friction);
    world.add_obstacle(plane);
    let fluid = world.add_fluid(water()).unwrap();
    world.add_particles(fluid, &moving(&[0.5 * SPACING * normal], Vec3::ZERO));
    (world, fluid, down)
}

#[test]
fn a_particle_slides_on_a_slope_steeper_than_its_friction() {
    let angle = 30.0f32.to_radians();
    for friction in [0.0, 0.2] {
        let (mut world, fluid, down) = slope(angle, friction);
        run(&mut world, 1.0, 1.0 / 240.0);
        let way = world.fluid(fluid).unwrap().positions().get(0).dot(down);
        let right = 0.5 * G * (angle.sin() - friction * angle.cos());
        println!("friction {friction}: {way:.4} m of {right:.4} m");
        assert!((way / right - 1.0).abs() < 0.02, "{way} m of {right} m");
    }
}

#[test]
fn bounces_rise_to_restitution_squared() {
    for restitution in [0.5f32, 0.8, 1.0] {
        let mut world = World::new();
        world.add_obstacle(
            Obstacle::plane("floor", Vec3::ZERO, Vec3::Y).with_contact(restitution, 0.0),
        );
        let fluid = world.add_fluid(water()).unwrap();
        let drop = 1.0;
        let start = Vec3::new(0.0, drop + 0.5 * SPACING, 0.0);
        world.add_particles(fluid, &moving(&[start], Vec3::ZERO));
        let (mut bounced, mut top) = (false, 0.0f32);
        for _ in 0..1200 {
            world.step(1e-3).unwrap();
            let fluid = world.fluid(fluid).unwrap();
            let up = fluid.velocities().get(0).y > 0.0;
            if bounced && !up {
                break;
            }
            bounced |= up;
            if bounced {
                top = top.max(fluid.positions().get(0).y - 0.5 * SPACING);
            }
        }
        let ratio = top / drop;
        println!("restitution {restitution}: {ratio:.4} of the height");
        assert!((ratio / restitution.powi(2) - 1.0).abs() < 0.03, "{ratio}");
    }
}
