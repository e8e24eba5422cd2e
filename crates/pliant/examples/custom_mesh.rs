//! A closed mesh as the vessel of a liquid: its upper half is filled, then let go.
//!
//! `cargo run --release --example custom_mesh -- vessel.obj` takes any closed OBJ,
//! STL, PLY or SMF file in metres; without a file a bent tube is made.

use std::sync::Arc;

use pliant::mesh::{Tube, read_mesh};
use pliant::space::TriangleHash;
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, Vec3, World};

/// About this many particles would fill the whole mesh.
const PARTICLES: f32 = 4000.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mesh = match std::env::args().nth(1) {
        Some(file) => read_mesh(file)?,
        None => Tube {
            path: vec![
                Vec3::new(-0.15, 0.2, 0.0),
                Vec3::new(-0.1, 0.05, 0.0),
                Vec3::new(0.05, 0.0, 0.0),
                Vec3::new(0.15, 0.15, 0.0),
            ],
            radius: 0.04,
            segments: 32,
            smooth_rings: Some(40),
            capped: true,
        }
        .build()?,
    };
    println!("{}", mesh.check());
    let bounds = mesh.aabb();
    let spacing = (mesh.volume().abs() / PARTICLES).cbrt();
    let mesh = Arc::new(mesh);

    let mut world = World::new();
    // The index answers up to one spacing, which covers every contact.
    let index = Arc::new(TriangleHash::build(mesh.clone(), spacing));
    let vessel = Obstacle::mesh("vessel", mesh.clone(), index, spacing);
    world.add_obstacle(vessel.with_contact(0.0, 0.1));
    let oil = world.add_fluid(FluidSettings::new(Material::OIL, spacing))?;
    let upper_half = Region::Box {
        min: Vec3::new(bounds.min.x, bounds.center().y, bounds.min.z),
        max: bounds.max,
    };
    let fill = Fill::Mesh {
        mesh,
        within: upper_half,
    };
    let count = world.fill(oil, &fill)?;
    println!("{count} particles, {:.2} mm apart", 1e3 * spacing);

    for step in 0..=20 {
        if step % 4 == 0 {
            println!(
                "{:.2} s: centre {:.1} mm above the lowest point, {} leaked",
                world.time(),
                1e3 * (world.totals().center_of_mass().y as f32 - bounds.min.y),
                world.leaked()
            );
        }
        world.step(0.02)?;
    }
    Ok(())
}
