//! A wave hits a post: the force on it, and pressure and velocity at a probe.

use std::sync::Arc;

use pliant::mesh::Cuboid;
use pliant::space::Bvh;
use pliant::{Fill, FluidSettings, Handle, Material, Obstacle, Region, Vec3, World};

fn add_box(
    world: &mut World,
    name: &str,
    min: Vec3,
    max: Vec3,
) -> Result<Handle<Obstacle>, Box<dyn std::error::Error>> {
    let mesh = Arc::new(Cuboid::new(min, max).build()?);
    let index = Arc::new(Bvh::build(mesh.clone()));
    Ok(world.add_obstacle(Obstacle::mesh(name, mesh, index, f32::INFINITY)))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let tank = add_box(&mut world, "tank", Vec3::ZERO, Vec3::new(1.0, 0.6, 0.3))?;
    let post = add_box(
        &mut world,
        "post",
        Vec3::new(0.6, -0.1, 0.1),
        Vec3::new(0.7, 0.5, 0.2),
    )?;
    let water = world.add_fluid(FluidSettings {
        sound_speed: Some(25.0),
        ..FluidSettings::new(Material::WATER, 0.025)
    })?;
    let column = Region::Box {
        min: Vec3::ZERO,
        max: Vec3::new(0.3, 0.3, 0.3),
    };
    world.fill(water, &Fill::Region(column))?;
    let weight = world.totals().mass * f64::from(world.gravity.length());
    let probe = Vec3::new(0.55, 0.04, 0.15);

    println!("weight of the water {weight:.1} N");
    println!("  time   push on post   load on tank   pressure   speed at the probe");
    for _ in 0..40 {
        world.step(0.04)?;
        let sample = world.fluid(water).and_then(|f| f.sample(probe));
        let (pressure, speed) = sample.map_or((0.0, 0.0), |s| (s.pressure, s.velocity.length()));
        println!(
            "{:5.2} s {:12.2} N {:12.1} N {:7.0} Pa {:10.2} m/s",
            world.time(),
            world.force_on(post).x,
            -world.force_on(tank).y,
            pressure,
            speed
        );
    }
    println!("{} particles leaked", world.leaked());
    Ok(())
}
