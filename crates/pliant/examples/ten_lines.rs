//! A block of water falls on a floor.

use pliant::{Fill, FluidSettings, Material, Obstacle, Region, Vec3, World};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
    let water = world.add_fluid(FluidSettings::new(Material::WATER, 0.02))?;
    let block = Region::Box {
        min: Vec3::new(-0.1, 0.2, -0.1),
        max: Vec3::new(0.1, 0.4, 0.1),
    };
    world.fill(water, &Fill::Region(block))?;
    for _ in 0..30 {
        let report = world.step(1.0 / 60.0)?;
        let height = world.totals().center_of_mass().y;
        println!(
            "{:.3} s: {} sub-steps, centre at {height:.3} m",
            world.time(),
            report.substeps
        );
    }
    Ok(())
}
