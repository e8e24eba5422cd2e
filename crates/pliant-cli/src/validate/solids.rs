//! Laws that every deformable body must obey.

use glam::Vec3;
use pliant::Solid;
use pliant::mesh::{TetBall, TetBlock, TetMesh};
use pliant::observe::Totals;
use pliant::solid::{
    Elastic, ElasticLaw, Environment, SettleSettings, SolidModel, SolidSettings, Springs,
    VolumeForce,
};
use pliant::world::Matter;

use super::{Case, Row};
use crate::cli::ValidateArgs;
use crate::error::CliError;

pub(super) const CASE: Case = Case {
    name: "solids",
    about: "Momentum of a free body that vibrates and spins, per model (the printed unit volume \
            force of Lesmes 2013 does not conserve it); free fall without internal force; the \
            patch test; forces against the slope of the energy; stretch of a neo-Hookean bar; bodies \
            pressed flat and scrambled.",
    run,
};

/// Fixed before the first run.
const MOMENTUM_TOLERANCE: f64 = 1e-4;
/// Relative to the displacement, whose own rounding is 6e-8 and whose differences
/// the elements see.
const PATCH_TOLERANCE: f64 = 1e-3;
/// As in the unit test: differences of energies of f32 displacements.
const GRADIENT_TOLERANCE: f64 = 5e-3;
const STRESS_TOLERANCE: f64 = 0.02;
const VOLUME_TOLERANCE: f64 = 0.02;

fn run(_: &ValidateArgs) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for (name, model) in models() {
        let drift = momentum_drift(model)?;
        rows.push(if name.contains("printed") {
            Row::with_error(
                format!("{name}: the same; it must be above that"),
                drift,
                MOMENTUM_TOLERANCE,
                MOMENTUM_TOLERANCE / drift,
                1.0,
            )
        } else {
            Row::absolute(
                format!("{name}: change of momentum / momentum, 200 steps"),
                drift,
                0.0,
                MOMENTUM_TOLERANCE,
            )
        });
    }
    for (name, model) in models() {
        let mut body = body(model, block([3, 3, 3])?)?;
        let around = Environment::new(Vec3::new(0.0, -9.8, 0.0), &[], []);
        let h = step_of(&body);
        (0..500).for_each(|_| drop(body.advance(h, &around)));
        let energy = body.energy();
        rows.push(Row::absolute(
            format!("{name}: elastic / kinetic energy after 500 steps of free fall"),
            (energy.total() - energy.kinetic) / energy.kinetic,
            0.0,
            1e-9,
        ));
    }
    for (name, model) in models() {
        if !name.contains("printed") {
            rows.push(gradient(name, model)?);
        }
    }
    rows.push(patch_test(ElasticLaw::Corotational)?);
    rows.push(patch_test(ElasticLaw::NeoHookean)?);
    for stress in [0.3, 1.0, 2.0] {
        rows.push(stretched_bar(stress)?);
    }
    for law in [ElasticLaw::Corotational, ElasticLaw::NeoHookean] {
        rows.extend(recovery(law)?);
    }
    Ok(rows)
}

fn models() -> Vec<(&'static str, SolidModel)> {
    let springs = |force| {
        SolidModel::Springs(Springs {
            volume_stiffness: if force == VolumeForce::UnitDamped {
                5e4
            } else {
                3e6
            },
            volume_force: force,
            strain_limit: None,
            ..Springs::default()
        })
    };
    let elastic = |law| {
        SolidModel::Elastic(Elastic {
            law,
            young: 2e4,
            ..Elastic::default()
        })
    };
    vec![
        ("springs (3.8)", springs(VolumeForce::Gradient)),
        ("springs (3.9)", springs(VolumeForce::GradientDamped)),
        (
            "springs (3.11), as printed",
            springs(VolumeForce::UnitDamped),
        ),
        ("corotational", elastic(ElasticLaw::Corotational)),
        ("neo-Hookean", elastic(ElasticLaw::NeoHookean)),
    ]
}

fn block(cells: [u32; 3]) -> Result<TetMesh, CliError> {
    let block = TetBlock {
        min: Vec3::splat(-0.1),
        max: Vec3::splat(0.1),
        cells,
    };
    block.build().map_err(|e| CliError::Usage(e.to_string()))
}

/// Its elements are not all alike, as those of a block are.
fn ball(tets: u32) -> Result<TetMesh, CliError> {
    let ball = TetBall {
        center: Vec3::ZERO,
        radius: 0.1,
        tets,
    };
    ball.build().map_err(|e| CliError::Usage(e.to_string()))
}

fn body(model: SolidModel, mesh: TetMesh) -> Result<Solid, CliError> {
    Solid::new(SolidSettings::new("body", model), mesh).map_err(|e| CliError::Usage(e.to_string()))
}

fn step_of(body: &Solid) -> f32 {
    body.stable_step().map_or(0.002, |s| 0.5 * s.seconds)
}

fn momentum_drift(model: SolidModel) -> Result<f64, CliError> {
    let mut body = body(model, ball(600)?)?;
    let spin = Vec3::new(1.0, 2.0, -1.0);
    body.put(
        |p| Vec3::new(1.1, 1.0, 0.95) * p,
        |p| Vec3::X + spin.cross(p),
    );
    let before = Totals::of(&body.points(), Vec3::ZERO).momentum;
    let around = Environment::new(Vec3::ZERO, &[], []);
    let h = step_of(&body);
    (0..200).for_each(|_| drop(body.advance(h, &around)));
    let after = Totals::of(&body.points(), Vec3::ZERO).momentum;
    Ok((after - before).length() / before.length())
}

/// Forces on some points of a bent body against the slope of its energy.
fn gradient(name: &str, model: SolidModel) -> Result<Row, CliError> {
    let mut body = body(model, block([2, 2, 2])?)?;
    let bent = |p: Vec3| {
        let turn = glam::Quat::from_scaled_axis(Vec3::new(0.4, 1.0 + 2.0 * p.y, -0.3));
        turn * (p + Vec3::new(0.5 * p.y * p.y, 0.3 * p.x * p.z, 0.1 * p.x))
    };
    body.put(bent, |_| Vec3::ZERO);
    let forces = body.internal_forces();
    let largest = forces.iter().map(|f| f.length()).fold(0.0, f32::max);
    let rest = body.rest().points.clone();
    let mut worst = 0.0f64;
    for i in [0, 5, 13, 20, 26] {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let nudge = 2e-4f32;
            let mut energy = |sign: f32| {
                let moved = |p: Vec3| {
                    let own = if p == rest[i] {
                        sign * nudge * axis
                    } else {
                        Vec3::ZERO
                    };
                    bent(p) + own
                };
                body.put(moved, |_| Vec3::ZERO);
                body.energy().total()
            };
            let slope = (energy(1.0) - energy(-1.0)) / (2.0 * f64::from(nudge));
            let error = (slope + f64::from(forces[i].dot(axis))).abs();
            worst = worst.max(error / f64::from(largest));
        }
    }
    Ok(Row::absolute(
        format!("{name}: force + slope of the energy, over the largest force"),
        worst,
        0.0,
        GRADIENT_TOLERANCE,
    ))
}

/// All points of the surface are put where a uniform strain has them; those inside
/// must follow.
fn patch_test(law: ElasticLaw) -> Result<Row, CliError> {
    let model = SolidModel::Elastic(Elastic {
        law,
        ..Elastic::default()
    });
    let mesh = ball(1500)?;
    let mut skin: Vec<u32> = mesh.surface().into_iter().flatten().collect();
    skin.sort_unstable();
    skin.dedup();
    let edge: Vec<Vec3> = skin.iter().map(|&v| mesh.points[v as usize]).collect();
    let mut body = body(model, mesh)?;
    let strained = |p: Vec3| {
        p + 1e-3
            * Vec3::new(
                p.x + 0.5 * p.y,
                -0.3 * p.y + 0.2 * p.z,
                0.4 * p.z + 0.1 * p.x,
            )
    };
    let on_skin = |p: Vec3| edge.contains(&p);
    body.put(|p| if on_skin(p) { strained(p) } else { p }, |_| Vec3::ZERO);
    body.pin_where(on_skin);
    let heavy = SettleSettings {
        tolerance: 1e-9,
        rounds: 8,
        iterations: 2000,
    };
    // It ends at round-off, above any tolerance.
    let _ = body.settle(Vec3::new(0.0, -1e-6, 0.0), &heavy);
    let points = body.rest().points.iter().enumerate();
    let worst = points
        .map(|(i, &p)| (p + body.displacement(i) - strained(p)).length())
        .fold(0.0, f32::max);
    Ok(Row::absolute(
        format!("patch test, {law:?}: largest error / (strain x size)"),
        f64::from(worst) / (1e-3 * 0.2),
        0.0,
        PATCH_TOLERANCE,
    ))
}

/// A bar of almost incompressible material is pulled at both ends with `stress` times
/// its shear modulus; its stretch λ must satisfy Smith et al. 2018 for uniaxial load:
/// nominal stress 4/3 μ (1 - 1/(λ² + 2/λ + 1)) (λ - λ⁻²), which is μ (λ - λ⁻²) for
/// small strains.
fn stretched_bar(stress: f64) -> Result<Row, CliError> {
    let elastic = Elastic {
        law: ElasticLaw::NeoHookean,
        young: 3e4,
        poisson: 0.49,
        mass_damping: 30.0,
        iterations: 300,
        tolerance: 1e-5,
        ..Elastic::default()
    };
    let (_, mu) = elastic.lame();
    let bar = TetBlock {
        min: Vec3::new(-0.2, -0.05, -0.05),
        max: Vec3::new(0.2, 0.05, 0.05),
        cells: [8, 2, 2],
    };
    let mesh = bar.build().map_err(|e| CliError::Usage(e.to_string()))?;
    let mut body = body(SolidModel::Elastic(elastic), mesh)?;
    let pull = (stress * f64::from(mu)) as f32;
    let rest = body.rest().clone();
    for triangle in body.surface().to_vec() {
        let [a, b, c] = triangle.map(|v| rest.points[v as usize]);
        let area = 0.5 * (b - a).cross(c - a);
        // Only the ends face along the bar.
        for v in triangle {
            body.add_load(v as usize, Vec3::new(pull * area.x / 3.0, 0.0, 0.0));
        }
    }
    let around = Environment::new(Vec3::ZERO, &[], []);
    (0..600).for_each(|_| drop(body.advance(0.01, &around)));
    let ends = |side: f32| {
        let points = rest.points.iter().enumerate();
        let own: Vec<f64> = points
            .filter(|(_, p)| p.x * side > 0.1999)
            .map(|(i, _)| f64::from(body.positions().get(i).x))
            .collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let stretch = (ends(1.0) - ends(-1.0)) / 0.4;
    let invariant = stretch.powi(2) + 2.0 / stretch;
    let reference = 4.0 / 3.0 * (1.0 - 1.0 / (invariant + 1.0)) * (stretch - stretch.powi(-2));
    Ok(Row::relative(
        format!("neo-Hookean bar at a stretch of {stretch:.3}: nominal stress / μ"),
        stress,
        reference,
        STRESS_TOLERANCE,
    ))
}

/// A block pressed flat, and one whose points are thrown about, return to their shape.
fn recovery(law: ElasticLaw) -> Result<Vec<Row>, CliError> {
    let scrambled = |p: Vec3| {
        let part = |a: f32| (p.dot(Vec3::new(12.9898, 78.233, 37.719)) * a).sin() * 43_758.547;
        0.2 * Vec3::new(part(1.0).fract(), part(1.7).fract(), part(2.3).fract())
    };
    let cases: [(&str, &dyn Fn(Vec3) -> Vec3); 2] = [
        ("pressed flat", &|p| Vec3::new(p.x, 0.0, p.z)),
        ("scrambled", &scrambled),
    ];
    let mut rows = Vec::new();
    for (name, start) in cases {
        let model = SolidModel::Elastic(Elastic {
            law,
            young: 2e4,
            mass_damping: 1.0,
            stiffness_damping: 0.01,
            ..Elastic::default()
        });
        let mut body = body(model, block([3, 3, 3])?)?;
        body.put(start, |_| Vec3::ZERO);
        let around = Environment::new(Vec3::ZERO, &[], []);
        (0..3000).for_each(|_| drop(body.advance(0.005, &around)));
        let volume = if body.inverted() == 0 {
            body.volume()
        } else {
            f64::NAN
        };
        rows.push(Row::relative(
            format!("{law:?}, {name}: volume after 15 s, no element inverted [m³]"),
            volume,
            body.rest().volume(),
            VOLUME_TOLERANCE,
        ));
    }
    Ok(rows)
}
