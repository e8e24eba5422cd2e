//! Nothing leaks: liquid stays on its side of every closed surface, whatever the
//! index, the speed and the direction of gravity.

use std::sync::Arc;

use crate::common::{INDICES, Random, lattice, mesh_obstacle, moving};
use pliant::fluid::{NewParticle, PressureMethod};
use pliant::mesh::{Colon, Cuboid, HeightGrid, IcoSphere, Tumbler, WineGlass};
use pliant::{
    Fill, FluidSettings, Material, Obstacle, Quat, Region, StepError, TriMesh, Vec3, World,
};

const DIRECTIONS: [Vec3; 6] = [
    Vec3::NEG_Y,
    Vec3::X,
    Vec3::Z,
    Vec3::Y,
    Vec3::NEG_X,
    Vec3::NEG_Z,
];

fn water(spacing: f32) -> FluidSettings {
    FluidSettings::new(Material::WATER, spacing)
}

fn compressible(spacing: f32) -> FluidSettings {
    FluidSettings::weakly_compressible(Material::WATER, spacing)
}

fn turned(mut mesh: TriMesh, random: &mut Random) -> Arc<TriMesh> {
    let turn = Quat::from_scaled_axis(3.0 * random.vector());
    mesh.transform(1.0, turn, random.vector());
    Arc::new(mesh)
}

/// Fills `mesh` where it reaches into `within` and throws the liquid at `velocity`.
fn filled(
    kind: &str,
    mesh: &Arc<TriMesh>,
    settings: FluidSettings,
    within: Region,
    velocity: Vec3,
) -> World {
    let spacing = settings.spacing;
    let mut world = World::new();
    world.add_obstacle(mesh_obstacle(kind, mesh, spacing, 0.5 * spacing));
    let fluid = world.add_fluid(settings).unwrap();
    let fill = Fill::Mesh {
        mesh: mesh.clone(),
        within,
    };
    let points = fill.points(spacing).unwrap();
    assert!(points.len() > 100, "{} points", points.len());
    world.add_particles(fluid, &moving(&points, velocity));
    world
}

fn shake(world: &mut World, frames: usize, frame: f32, what: &str) {
    for direction in DIRECTIONS {
        world.gravity = 9.81 * direction;
        for _ in 0..frames {
            world.step(frame).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(world.leaked(), 0, "{what}, {:.3} s", world.time());
        }
    }
}

/// The half of the bounding box of `mesh` with small x.
fn half(mesh: &TriMesh) -> Region {
    let b = mesh.aabb();
    Region::Box {
        min: b.min,
        max: Vec3::new(b.center().x, b.max.y, b.max.z),
    }
}

#[test]
fn turned_boxes_hold() {
    let mut random = Random(1);
    for kind in INDICES {
        for settings in [water(0.02), compressible(0.02)] {
            let mesh = turned(
                Cuboid::new(Vec3::splat(-0.1), Vec3::new(0.15, 0.1, 0.12))
                    .build()
                    .unwrap(),
                &mut random,
            );
            let mut world = filled(kind, &mesh, settings, half(&mesh), Vec3::ZERO);
            shake(&mut world, 6, 0.02, kind);
        }
    }
}

#[test]
fn boxes_and_spheres_hold_liquid_thrown_at_fifty_metres_per_second() {
    let mut random = Random(2);
    let sphere = IcoSphere {
        radius: 0.12,
        ..IcoSphere::default()
    };
    for kind in INDICES {
        for mesh in [
            Cuboid::new(Vec3::splat(-0.1), Vec3::splat(0.1))
                .build()
                .unwrap(),
            sphere.build().unwrap(),
        ] {
            let mesh = turned(mesh, &mut random);
            let direction = random.vector().normalize();
            let mut world = filled(kind, &mesh, water(0.02), half(&mesh), 50.0 * direction);
            for _ in 0..20 {
                world.step(1e-3).unwrap();
                assert_eq!(world.leaked(), 0, "{kind}, {:.3} s", world.time());
            }
        }
    }
}

#[test]
fn a_colon_holds() {
    let mesh = Arc::new(Colon::coarse(3).build().unwrap());
    let b = mesh.aabb();
    let within = Region::Box {
        min: b.min,
        max: Vec3::new(b.max.x, b.min.y + 0.2 * b.size().y, b.max.z),
    };
    for kind in INDICES {
        let mut world = filled(kind, &mesh, water(0.005), within, Vec3::ZERO);
        shake(&mut world, 2, 0.01, kind);
    }
}

/// Particles about as large as the sacs and folds.
#[test]
fn a_colon_holds_coarse_particles() {
    let mesh = Arc::new(Colon::coarse(5).build().unwrap());
    for kind in INDICES {
        let mut world = filled(kind, &mesh, water(0.012), Region::Everywhere, Vec3::ZERO);
        shake(&mut world, 3, 0.02, kind);
    }
}

/// A glass is a closed mesh of its own: nothing gets into the glass itself, from
/// the drink inside or from outside, though its wall is thinner than a particle.
#[test]
fn thin_walled_glasses_let_nothing_through() {
    let tumbler = Tumbler {
        wall: 0.001,
        segments: 24,
        ..Tumbler::default()
    };
    let wine = WineGlass::default();
    let (bottom, _) = wine.bowl();
    let cases = [
        (Arc::new(tumbler.build().unwrap()), 0.012, 0.028),
        (Arc::new(wine.build().unwrap()), bottom + 0.03, 0.026),
    ];
    for (mesh, floor, radius) in cases {
        for kind in INDICES {
            let spacing = 0.005;
            let mut world = World::new();
            world.add_obstacle(mesh_obstacle(kind, &mesh, spacing, 0.0008));
            let fluid = world.add_fluid(water(spacing)).unwrap();
            let mut points = lattice([9, 8, 9], spacing);
            points.retain(|p| p.x.hypot(p.z) < radius - spacing);
            let up = Vec3::new(0.0, floor + 4.5 * spacing, 0.0);
            let points: Vec<Vec3> = points.iter().map(|&p| p + up).collect();
            world.add_particles(fluid, &moving(&points, Vec3::new(2.0, -1.0, 0.5)));
            shake(&mut world, 3, 0.01, kind);
        }
    }
}

#[test]
fn planes_and_hills_hold() {
    let mut world = World::new();
    let hills = HeightGrid::from_fn(13, 13, 0.05, Vec3::new(-0.3, 0.0, -0.3), |x, z| {
        0.04 * (17.0 * x).sin() * (13.0 * z).cos()
    });
    world.add_obstacle(Obstacle::heightfield("hills", hills.unwrap()));
    for normal in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z, Vec3::NEG_Y] {
        world.add_obstacle(Obstacle::plane("wall", -0.25 * normal, normal));
    }
    let fluid = world.add_fluid(water(0.02)).unwrap();
    let points: Vec<Vec3> = lattice([10, 7, 10], 0.02)
        .iter()
        .map(|&p| p + 0.12 * Vec3::Y)
        .collect();
    world.add_particles(fluid, &moving(&points, Vec3::new(3.0, -5.0, 2.0)));
    shake(&mut world, 6, 0.02, "hills");
}

/// Sub-steps far shorter than needed, and the longest that are allowed.
#[test]
fn the_length_of_the_sub_steps_does_not_matter() {
    let mut random = Random(4);
    let mesh = turned(
        Cuboid::new(Vec3::splat(-0.1), Vec3::splat(0.1))
            .build()
            .unwrap(),
        &mut random,
    );
    for kind in INDICES {
        for (settings, velocity) in [
            (water(0.02), Vec3::ZERO),
            (water(0.02), 20.0 * random.vector()),
            (compressible(0.02), Vec3::ZERO),
            (compressible(0.02), 20.0 * random.vector()),
        ] {
            // Of a weakly compressible liquid what holds at Courant number 1 is the
            // most that is accepted.
            let courant = match settings.pressure {
                PressureMethod::Dfsph => 1.0,
                PressureMethod::WeaklyCompressible => World::new().settings.cfl,
            };
            let mut world = filled(kind, &mesh, settings, half(&mesh), velocity);
            world.settings.fixed = Some(1.0);
            let Err(StepError::FixedTooLarge { allowed, .. }) = world.step(0.1) else {
                panic!("a sub-step of 1 s");
            };
            let longest = 0.99 * allowed / courant;
            for fixed in [longest, 0.01 * longest] {
                world.settings.fixed = Some(fixed);
                for _ in 0..60 {
                    if let Err(e) = world.step(3.0 * fixed) {
                        assert!(matches!(e, StepError::Diverged { .. }), "{e}");
                        assert_eq!(world.leaked(), 0, "{kind}, {fixed:.1e} s: {e}");
                        break;
                    }
                    assert_eq!(world.leaked(), 0, "{kind}, {fixed:.1e} s");
                }
            }
        }
    }
}

/// Single particles at any speed, in all directions from the middle, from near a
/// wall, from a corner.
#[test]
fn no_speed_tunnels() {
    let mut random = Random(6);
    let bodies = [
        Cuboid::new(Vec3::splat(-0.1), Vec3::splat(0.1))
            .build()
            .unwrap(),
        IcoSphere {
            radius: 0.1,
            ..IcoSphere::default()
        }
        .build()
        .unwrap(),
    ];
    for mesh in bodies {
        let mesh = Arc::new(mesh);
        for kind in INDICES {
            for speed in [10.0f32, 1e3, 1e5] {
                let mut world = World::new();
                world.gravity = Vec3::ZERO;
                world.add_obstacle(mesh_obstacle(kind, &mesh, 0.01, 0.005));
                for normal in [Vec3::X, Vec3::Y] {
                    world.add_obstacle(Obstacle::plane("far wall", -0.3 * normal, normal));
                }
                let settings = FluidSettings {
                    sound_speed: Some(1.1e3),
                    ..water(0.01)
                };
                let fluid = world.add_fluid(settings).unwrap();
                let mut particles: Vec<NewParticle> = Vec::new();
                for place in [Vec3::ZERO, 0.05 * Vec3::ONE, Vec3::new(0.0, 0.09, 0.0)] {
                    particles.extend((0..60).map(|_| NewParticle {
                        position: place + 0.004 * random.vector(),
                        velocity: speed * random.vector().normalize(),
                    }));
                }
                // Straight at faces, edges and corners.
                for at in lattice([3, 3, 3], 1.0) {
                    particles.push(NewParticle {
                        position: Vec3::ZERO,
                        velocity: speed * at.normalize_or_zero(),
                    });
                }
                world.add_particles(fluid, &particles);
                // Long sub-steps: the ways are up to 1.7 m long, eight times the box.
                world.settings.fixed = Some(1.7e-5);
                for _ in 0..40 {
                    let outcome = world.step(5.1e-5);
                    assert_eq!(world.leaked(), 0, "{kind} at {speed} m/s: {outcome:?}");
                    if let Err(e) = outcome {
                        assert!(matches!(e, StepError::Diverged { .. }), "{e}");
                        break;
                    }
                }
            }
        }
    }
}
