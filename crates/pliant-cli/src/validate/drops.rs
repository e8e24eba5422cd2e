//! Bodies thrown at random: none may end in a number that is none.

use std::sync::Arc;

use glam::{Quat, Vec3};
use pliant::mesh::{Cuboid, TetBall, TetBlock};
use pliant::solid::{
    Elastic, ElasticLaw, Fit, Plasticity, ShapeMatching, SolidModel, SolidSettings, Springs,
};
use pliant::space::Bvh;
use pliant::world::Matter;
use pliant::{Obstacle, World};
use rayon::prelude::*;

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "drops",
    about: "Two bodies of random shape, turn, law, stiffness, density, friction and step are \
            thrown at each other, at a floor and, in every third world, at a block on it with up \
            to 10 m/s each, for 0.3 s. Laws: corotational, some of them plastic, neo-Hookean, \
            springs and shape matching. Worlds that fail, hold a number that is none, let a point \
            through the floor, or end with more energy of motion and height than they began \
            with, by more than 1 %. 300 pairs; 10,000 with --full.",
    run,
};

/// Numbers from 0 to 1 (Knuth's linear congruential generator).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        let Random(state) = self;
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as f32 / (1u64 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        let mut part = || self.between(-size, size);
        Vec3::new(part(), part(), part())
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    failed: bool,
    leaked: bool,
    /// More energy of motion and height than at the start.
    faster: bool,
}

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let drops = if args.full { 10_000u64 } else { 300 };
    let counts: Vec<Count> = (0..drops)
        .into_par_iter()
        .map(one)
        .collect::<Result<_, _>>()?;
    let row = |what: &str, of: fn(&Count) -> bool| {
        let off: Vec<usize> = (0..counts.len()).filter(|&k| of(&counts[k])).collect();
        let mut name = format!("{what}, of {drops}");
        if let Some(first) = off.first() {
            name += &format!(", first number {first}");
        }
        Row::absolute(name, off.len() as f64, 0.0, 0.0)
    };
    Ok(vec![
        row("failed, or not a number", |c| c.failed),
        row("with a point below the floor", |c| c.leaked),
        row("with more energy than at the start", |c| c.faster),
    ])
}

fn one(seed: u64) -> Result<Count, CliError> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d);
    for _ in 0..3 {
        random.next();
    }
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    let (bounce, friction) = (0.0, random.next());
    world.add_obstacle(floor.with_contact(bounce, friction));
    if seed % 3 == 2 {
        let half = 0.05 + 0.1 * random.next();
        let top = Vec3::new(half, random.between(0.01, 0.04), half);
        let block = Cuboid::new(Vec3::new(-half, -0.1, -half), top);
        let block = Arc::new(block.build().map_err(fault)?);
        let tree = Arc::new(Bvh::build(block.clone()));
        world.add_obstacle(Obstacle::mesh("block", block, tree, 0.05).with_contact(0.0, friction));
    }
    for side in [-1.0, 1.0] {
        let at = Vec3::new(0.15 * side, random.between(0.2, 0.5), 0.0) + random.vector(0.03);
        let mesh = if random.next() < 0.5 {
            let ball = TetBall {
                center: Vec3::ZERO,
                radius: random.between(0.04, 0.1),
                tets: 60,
            };
            ball.build().map_err(fault)?
        } else {
            let half =
                Vec3::splat(0.03) + 0.04 * Vec3::new(random.next(), random.next(), random.next());
            let block = TetBlock {
                min: -half,
                max: half,
                cells: [2, 2, 2],
            };
            block.build().map_err(fault)?
        };
        let turn = Quat::from_scaled_axis(random.vector(3.0));
        let mesh = mesh.map_points(|p| turn * p + at);
        let mut settings = SolidSettings::new("body", model(&mut random));
        settings.mass = pliant::solid::Mass::Density(random.between(300.0, 3000.0));
        settings.friction = random.next();
        if matches!(settings.model, SolidModel::Elastic(_)) {
            settings.step = Some(random.between(0.001, 0.01));
        }
        let velocity = random.vector(5.7) - 3.0 * side * Vec3::X;
        let body = world.add_solid(settings, mesh).map_err(fault)?;
        if let Some(body) = world.solid_mut(body) {
            body.put(|p| p, |_| velocity);
        }
    }
    let start = energy(&world);
    let mut count = Count::default();
    for _ in 0..15 {
        if world.step(0.02).is_err() {
            count.failed = true;
            return Ok(count);
        }
    }
    let places = || world.solids().flat_map(|s| s.positions().iter());
    count.failed = !places().all(Vec3::is_finite);
    count.leaked = places().any(|p| p.y < 0.0);
    // Heights are above the floor, so that no energy is below 0.
    count.faster = energy(&world) > 1.01 * start;
    Ok(count)
}

/// Energy of motion and of height of all bodies in J.
fn energy(world: &World) -> f64 {
    let of = |body: &pliant::Solid| {
        let points = body.points();
        let heights = points.position.iter().enumerate().map(|(i, p)| {
            let inverse = points.inverse_mass.get(i);
            9.81 * f64::from(p.y) / f64::from(inverse)
        });
        body.energy().kinetic + heights.sum::<f64>()
    };
    world.solids().map(of).sum()
}

fn model(random: &mut Random) -> SolidModel {
    let young = 10f32.powf(random.between(3.3, 6.0));
    let law = match (5.0 * random.next()) as u32 {
        0 => ElasticLaw::NeoHookean,
        1 => {
            return SolidModel::Springs(Springs {
                distance_stiffness: random.between(100.0, 2000.0),
                distance_damping: random.between(0.1, 1.0),
                volume_stiffness: 10f32.powf(random.between(7.0, 9.0)),
                ..Springs::default()
            });
        }
        2 => {
            let fits = [Fit::Rigid, Fit::Linear, Fit::Quadratic];
            return SolidModel::Matching(ShapeMatching {
                fit: fits[(2.999 * random.next()) as usize],
                stiffness: random.between(0.05, 1.0),
                yielding: random.between(0.0, 0.95),
                cluster: (random.next() < 0.3).then_some(0.04),
            });
        }
        _ => ElasticLaw::Corotational,
    };
    let plastic = law == ElasticLaw::Corotational && random.next() < 0.3;
    SolidModel::Elastic(Elastic {
        law,
        young,
        poisson: random.between(0.0, 0.49),
        plasticity: plastic.then_some(Plasticity {
            yield_strain: 0.05,
            creep: 20.0,
            limit: 0.5,
        }),
        ..Elastic::default()
    })
}
