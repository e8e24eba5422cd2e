//! What several tests of the whole engine share.

use std::sync::Arc;

use pliant::fluid::NewParticle;
use pliant::space::{Bvh, Sdf, TriangleHash, TriangleIndex};
use pliant::{Fluid, FluidSettings, Handle, Material, Obstacle, TriMesh, Vec3, World};

/// Water without surface tension, whose forces are all between pairs.
pub const DRY_WATER: Material = Material {
    surface_tension: 0.0,
    ..Material::WATER
};

/// Repeatable random numbers.
pub struct Random(pub u64);

impl Random {
    /// Uniform in -1..1.
    pub fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Uniform in the cube from -1 to 1.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

/// A world without gravity with one liquid of these particles.
pub fn free_world(settings: FluidSettings, particles: &[NewParticle]) -> (World, Handle<Fluid>) {
    let mut world = World::new();
    world.gravity = Vec3::ZERO;
    let fluid = world.add_fluid(settings).unwrap();
    world.add_particles(fluid, particles);
    (world, fluid)
}

/// Lattice points of a box of `counts` particles around the origin.
pub fn lattice(counts: [i32; 3], spacing: f32) -> Vec<Vec3> {
    let [nx, ny, nz] = counts;
    let middle = 0.5 * Vec3::new((nx - 1) as f32, (ny - 1) as f32, (nz - 1) as f32);
    let mut points = Vec::new();
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                points.push(spacing * (Vec3::new(x as f32, y as f32, z as f32) - middle));
            }
        }
    }
    points
}

/// Particles at these points, all with one velocity.
pub fn moving(points: &[Vec3], velocity: Vec3) -> Vec<NewParticle> {
    let with = |&position| NewParticle { position, velocity };
    points.iter().map(with).collect()
}

/// Lets a world run for `seconds` in frames of `frame` seconds.
pub fn run(world: &mut World, seconds: f32, frame: f32) {
    for _ in 0..(seconds / frame).round() as usize {
        world.step(frame).unwrap();
    }
}

/// The kinds of index a mesh obstacle may have.
pub const INDICES: [&str; 3] = ["hash", "bvh", "sdf"];

/// A mesh obstacle searched by the index called `kind` for balls of up to `reach`.
/// Distance fields get cells of `cell`.
pub fn mesh_obstacle(kind: &str, mesh: &Arc<TriMesh>, reach: f32, cell: f32) -> Obstacle {
    let index: Arc<dyn TriangleIndex> = match kind {
        "hash" => Arc::new(TriangleHash::build(mesh.clone(), reach)),
        "bvh" => Arc::new(Bvh::build(mesh.clone())),
        "sdf" => Arc::new(Sdf::build(mesh.clone(), cell, reach).unwrap()),
        _ => panic!("no index is called {kind}"),
    };
    Obstacle::mesh("wall", mesh.clone(), index, reach)
}
