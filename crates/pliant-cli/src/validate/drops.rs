//! Bodies thrown at random: none may end in a number that is none.

use glam::{Quat, Vec3};
use pliant::mesh::{TetBall, TetBlock};
use pliant::solid::{Elastic, ElasticLaw, Plasticity, SolidModel, SolidSettings, Springs};
use pliant::{Obstacle, World};
use rayon::prelude::*;

use super::{Case, Row, fault};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "drops",
    about: "Two bodies of random shape, law, stiffness, density, friction and step are thrown at \
            each other and at a floor with up to 10 m/s each, for 0.3 s. Worlds that fail, hold a \
            number that is none, or let a point through the floor. 300 pairs; 10,000 with --full.",
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
    failed: u32,
    leaked: u32,
}

fn run(args: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let drops = if args.full { 10_000u64 } else { 300 };
    let counts: Vec<Count> = (0..drops)
        .into_par_iter()
        .map(one)
        .collect::<Result<_, _>>()?;
    let total = counts.iter().fold(Count::default(), |a, b| Count {
        failed: a.failed + b.failed,
        leaked: a.leaked + b.leaked,
    });
    Ok(vec![
        Row::absolute(
            format!("failed, or not a number, of {drops}"),
            f64::from(total.failed),
            0.0,
            0.0,
        ),
        Row::absolute(
            format!("with a point below the floor, of {drops}"),
            f64::from(total.leaked),
            0.0,
            0.0,
        ),
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
    let mut count = Count::default();
    for _ in 0..15 {
        if world.step(0.02).is_err() {
            count.failed = 1;
            return Ok(count);
        }
    }
    let places = || world.solids().flat_map(|s| s.positions().iter());
    count.failed = u32::from(!places().all(Vec3::is_finite));
    count.leaked = u32::from(places().any(|p| p.y < 0.0));
    Ok(count)
}

fn model(random: &mut Random) -> SolidModel {
    let young = 10f32.powf(random.between(3.3, 6.0));
    let law = match (4.0 * random.next()) as u32 {
        0 => ElasticLaw::NeoHookean,
        1 => {
            return SolidModel::Springs(Springs {
                distance_stiffness: random.between(100.0, 2000.0),
                distance_damping: random.between(0.1, 1.0),
                volume_stiffness: 10f32.powf(random.between(7.0, 9.0)),
                ..Springs::default()
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
