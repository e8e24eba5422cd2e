//! What is thrown hard survives.

use glam::Vec3;

use super::*;
use crate::contact::Obstacle;
use crate::mesh::IcoSphere;
use crate::world::World;

/// A space blob of 162 points.
fn blob(name: String, center: Vec3) -> (SoftSettings, crate::mesh::TriMesh) {
    let mut s = SoftSettings::new(name);
    s.controls.delta = 0.0;
    s.mass = SurfaceMass::Area(0.5);
    s.body.stiffness = 25.0;
    s.body.bend = 1.0;
    s.volume.pressure = 90.0;
    s.contact.friction = 0.2;
    s.step = 0.00834;
    let shape = IcoSphere {
        center,
        radius: 0.095,
        cuts: 2,
    };
    (s, shape.build().unwrap())
}

fn energy(world: &World) -> f64 {
    let all = world.softs().map(Soft::energy);
    all.map(|e| e.kinetic + e.elastic).sum()
}

/// A row of blobs, each thrown with its own velocity, for a second.
fn throw(velocities: &[Vec3], wall: bool) -> World {
    let mut world = World::new();
    if wall {
        world.add_obstacle(Obstacle::plane("wall", Vec3::ZERO, Vec3::X));
    }
    for (k, &velocity) in velocities.iter().enumerate() {
        let center = Vec3::new(0.2 + 0.26 * k as f32, 0.0, 0.02 * k as f32);
        let (settings, mesh) = blob(format!("blob {k}"), center);
        let handle = world.add_soft(settings, mesh).unwrap();
        world.soft_mut(handle).unwrap().put(|p| p, |_| velocity);
    }
    let start = energy(&world);
    // The gas blows the bodies up to where their springs hold it: half as large again.
    let blown_up = 0.2 * velocities.len() as f64;
    for frame in 0..60 {
        world.step(1.0 / 60.0).unwrap();
        let now = energy(&world);
        assert!(
            now < start + blown_up,
            "frame {frame}: {start} J became {now} J"
        );
    }
    world
}

#[test]
fn a_blob_thrown_at_a_wall_comes_back_whole() {
    for speed in [2.0, 20.0] {
        let world = throw(&[Vec3::new(-speed, 0.1 * speed, 0.0)], true);
        let blob = world.softs().next().unwrap();
        let share = blob.volume() / blob.rest_volume();
        assert!((0.8..2.0).contains(&share), "{speed} m/s: volume {share}");
    }
}

#[test]
fn blobs_thrown_at_each_other_part_again() {
    for speed in [2.0, 5.0] {
        let row = [speed, -speed, speed, -speed].map(|v| Vec3::new(v, 0.1, 0.0));
        let world = throw(&row, true);
        for blob in world.softs() {
            let share = blob.volume() / blob.rest_volume();
            assert!((0.5..2.0).contains(&share), "{speed} m/s: volume {share}");
        }
    }
}

#[test]
fn a_blob_thrown_at_a_resting_one_with_20_metres_per_second_survives() {
    throw(&[Vec3::ZERO, Vec3::new(-20.0, 0.0, 0.0)], false);
}
