//! Gauss boundary particles (Müller et al. 2004) in a world: on any surface, with both
//! reactions, momentum kept, no slip, and rest in concave corners.

use crate::common::{DRY_WATER, free_world, lattice, moving, run};
use pliant::fluid::{NewParticle, PressureMethod};
use pliant::mesh::{Cuboid, TetBlock};
use pliant::observe::{Decoder, Encoder};
use pliant::soft::{Controls, SoftSettings, Springs, sheet};
use pliant::solid::{Elastic, Mass, SolidModel, SolidSettings};
use pliant::{
    Coupling, Fill, Fluid, FluidSettings, Gauss, Handle, Material, Quat, Reaction, Region,
    RigidSettings, Vec3, World,
};

const SPACING: f32 = 0.02;

fn weak(material: Material) -> FluidSettings {
    FluidSettings {
        pressure: PressureMethod::WeaklyCompressible,
        ..FluidSettings::new(material, SPACING)
    }
}

fn rubber(name: &str) -> SoftSettings {
    SoftSettings {
        controls: Controls {
            gamma: 0.0,
            ..Controls::default()
        },
        body: Springs {
            stiffness: 500.0,
            ..Springs::default()
        },
        ..SoftSettings::new(name)
    }
}

/// A lump of liquid that flies between a body of tetrahedra, a rigid box and a sheet.
fn collision(settings: FluidSettings, gauss: Gauss) -> World {
    let particles = moving(&lattice([8, 8, 8], SPACING), Vec3::new(1.0, 0.1, 0.0));
    let (mut world, _) = free_world(settings, &particles);
    world.coupling = Coupling::Gauss(gauss);
    let solid = SolidSettings {
        mass: Mass::Density(300.0),
        ..SolidSettings::new(
            "solid",
            SolidModel::Elastic(Elastic {
                young: 2e4,
                ..Elastic::default()
            }),
        )
    };
    let min = Vec3::new(0.12, -0.15, -0.06);
    let block = TetBlock {
        min,
        max: min + Vec3::new(0.1, 0.14, 0.12),
        cells: [3; 3],
    };
    world.add_solid(solid, block.build().unwrap()).unwrap();
    let min = Vec3::new(0.13, 0.0, -0.05);
    let mesh = Cuboid::new(min, min + Vec3::splat(0.1)).build().unwrap();
    let hard = RigidSettings::new("hard", 200.0);
    world.add_rigid(hard, mesh).unwrap();
    let mesh = sheet(Vec3::new(0.0, -0.12, 0.0), [0.2, 0.2], [10, 10]);
    world.add_soft(rubber("sheet"), mesh).unwrap();
    world
}

/// Action is reaction, whichever way it is shared out: nothing is lost in any step.
#[test]
fn momentum_is_kept_by_boundary_particles() {
    for (settings, reaction) in [
        (weak(DRY_WATER), Reaction::Exact),
        (weak(DRY_WATER), Reaction::Bridson),
        (FluidSettings::new(DRY_WATER, SPACING), Reaction::Exact),
    ] {
        let gauss = Gauss {
            reaction,
            ..Gauss::default()
        };
        let mut world = collision(settings, gauss);
        let start = world.totals();
        let scale = start.momentum.length();
        for _ in 0..30 {
            let before = world.totals();
            world.step(0.005).unwrap();
            let change = (world.totals().momentum - before.momentum).length();
            assert!(change < 2e-5 * scale, "{reaction:?}: {change} of {scale}");
        }
        assert!(world.rigids().all(|r| r.velocity().x > 0.05));
        assert!(world.solids().all(|s| s.velocities().get(0).x > 0.05));
        let sheet = world.softs().next().unwrap().velocities();
        assert!(sheet.iter().any(|v| v.length() > 0.01));
        assert_eq!(world.leaked(), 0);
    }
}

/// Liquid that slides along a sheet is slowed down, and takes the sheet along.
#[test]
fn boundary_particles_do_not_let_slip() {
    let slide = |friction: f32, held: bool| {
        let thick = Material {
            viscosity: 5.0,
            ..DRY_WATER
        };
        let points = lattice([8, 2, 8], SPACING);
        let (mut world, fluid) = free_world(weak(thick), &moving(&points, 0.2 * Vec3::X));
        world.coupling = Coupling::Gauss(Gauss {
            friction,
            ..Gauss::default()
        });
        let below = Vec3::new(0.0, -1.2 * SPACING, 0.0);
        let wall = world
            .add_soft(rubber("wall"), sheet(below, [0.4, 0.4], [12, 12]))
            .unwrap();
        world.soft_mut(wall).unwrap().pin_where(|_| held);
        run(&mut world, 0.1, 0.01);
        let liquid = world.fluid(fluid).unwrap().velocities();
        let sheet = world.soft(wall).unwrap().velocities();
        let mean = |v: &[f32]| v.iter().sum::<f32>() / v.len() as f32;
        (mean(liquid.x), mean(sheet.x))
    };
    // Without friction the ends of the lump still drag the sheet a little, by adhesion.
    let (free, still) = slide(0.0, false);
    let (_, taken) = slide(1.0, false);
    assert!((free - 0.2).abs() < 0.01, "{free} {still}");
    assert!(taken > 5.0 * still.abs(), "{taken} {still}");
    let (slipping, _) = slide(0.0, true);
    let (slowed, _) = slide(1.0, true);
    assert!(slipping > 0.19 && slowed < 0.15, "{slipping} {slowed}");
}

/// Two sheets that meet in a sharp groove, filled with liquid.
fn groove(settings: FluidSettings) -> (World, Handle<Fluid>) {
    let mut world = World::new();
    world.coupling = Coupling::Gauss(Gauss::default());
    let fluid = world.add_fluid(settings).unwrap();
    for side in [-1.0, 1.0] {
        let mut mesh = sheet(Vec3::ZERO, [0.5, 0.24], [15, 8]);
        let turned = Quat::from_rotation_z(side * std::f32::consts::FRAC_PI_4);
        let middle = turned * (side * 0.24 * Vec3::X);
        mesh.transform(1.0, turned, middle);
        let name = format!("side {side}");
        let wall = world.add_soft(rubber(&name), mesh).unwrap();
        world.soft_mut(wall).unwrap().pin_where(|_| true);
    }
    for (k, z) in [-1.0f32, 1.0].into_iter().enumerate() {
        let point = 0.12 * z * Vec3::Z;
        world.add_obstacle(pliant::Obstacle::plane(
            format!("end {k}"),
            point,
            -z * Vec3::Z,
        ));
    }
    let region = Region::Box {
        min: Vec3::new(-0.12, 0.02, -0.12),
        max: Vec3::new(0.12, 0.2, 0.12),
    };
    let spacing = world.fluid(fluid).unwrap().settings().spacing;
    let points = Fill::Region(region).points(spacing).unwrap();
    // Only between the two sides.
    let inside = points.into_iter().filter(|p| p.y > p.x.abs() + spacing);
    let particles: Vec<NewParticle> = inside
        .map(|position| NewParticle {
            position,
            velocity: Vec3::ZERO,
        })
        .collect();
    world.add_particles(fluid, &particles);
    // Takes what falls through the groove.
    world.add_sink(pliant::Sink {
        region: Region::Box {
            min: -Vec3::ONE,
            max: Vec3::new(1.0, -0.05, 1.0),
        },
    });
    (world, fluid)
}

/// In a concave corner the liquid does not "cook": its energy decays.
#[test]
fn liquid_rests_in_a_concave_corner() {
    let (mut world, fluid) = groove(weak(DRY_WATER));
    let energy = |world: &World| {
        let fluid = world.fluid(fluid).unwrap();
        let sum: f32 = fluid.velocities().iter().map(|v| v.length_squared()).sum();
        sum / fluid.len() as f32
    };
    let mut energies = Vec::new();
    for wait in [0.4, 0.4, 0.8] {
        run(&mut world, wait, 0.01);
        let mut mean = 0.0;
        for _ in 0..20 {
            world.step(0.01).unwrap();
            mean += energy(&world) / 20.0;
        }
        energies.push(mean);
    }
    let [early, later, late] = energies[..] else {
        panic!("three windows");
    };
    assert!(later < early && late < later, "{energies:?}");
    assert_eq!(world.removed(), 0, "nothing falls through the groove");
}

/// The same bits on one and two threads, and after a restart.
#[test]
fn boundary_particles_are_repeatable() {
    let make = || collision(weak(Material::WATER), Gauss::default());
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut world = make();
            run(&mut world, 0.1, 0.01);
            world
        })
    };
    let one = on(1);
    assert_eq!(one.hash(), on(2).hash());
    let mut half = make();
    run(&mut half, 0.05, 0.01);
    let mut saved = Encoder::default();
    half.save(&mut saved);
    let bytes = saved.finish();
    let mut restored = make();
    restored.load(&mut Decoder::open(&bytes).unwrap()).unwrap();
    run(&mut restored, 0.05, 0.01);
    assert_eq!(one.hash(), restored.hash());
}
