//! The incompressible solver against the laws it promises to keep.

use glam::{DVec3, Vec3, Vec3A};

use crate::contact::Obstacle;
use crate::coupling::Bodies;
use crate::fluid::incompressible::Incompressible;
use crate::fluid::pressure_sums::{
    Chunk, Soon, compression, pressure_gradient, row_of_motion, row_of_pressure,
};
use crate::fluid::test_random::Random;
use crate::fluid::{CHUNK, Content, Fluid, FluidSettings, Goal, Material, NewParticle, Tolerances};
use crate::mesh::IcoSphere;
use crate::simd::{Lanes, Portable, Row};
use crate::space::{Bvh, TriangleIndex};

#[path = "image_tests.rs"]
mod images;

const SPACING: f32 = 0.02;

fn settings() -> FluidSettings {
    FluidSettings::new(Material::WATER, SPACING)
}

/// A cubic block of `n`³ particles from the origin on, shaken by `jitter` spacings.
fn block(n: i32, jitter: f32, speed: f32) -> Vec<NewParticle> {
    let mut random = Random(7);
    let mut particles = Vec::new();
    for x in 0..n {
        for y in 0..n {
            for z in 0..n {
                let at = Vec3::new(x as f32, y as f32, z as f32) + Vec3::splat(0.5);
                particles.push(NewParticle {
                    position: SPACING * (at + jitter * random.vector()),
                    velocity: speed * random.vector(),
                });
            }
        }
    }
    particles
}

/// The liquid with neighbours, walls and fullness found.
fn prepared(particles: &[NewParticle], walls: &[Obstacle]) -> Fluid {
    let mut fluid = Fluid::new(settings()).unwrap();
    fluid.add(particles, Content::default(), |_| 0);
    fluid.sort();
    let mut walls: Vec<Obstacle> = walls.to_vec();
    walls
        .iter_mut()
        .for_each(|w| w.prepare_walls(fluid.wall_reach()));
    let obstacles: Vec<(usize, &Obstacle)> = walls.iter().enumerate().collect();
    fluid.find_walls(&obstacles);
    fluid.compute_density(|_| false, &Bodies::default());
    fluid
}

/// The rates of compression that `v` makes, and the gradients of `p`.
fn sums<L: Lanes>(l: L, solver: &Incompressible, v: &[Vec3A], p: &[f32]) -> (Vec<f32>, Vec<Vec3A>) {
    let x = &solver.x;
    let motion: Vec<Row> = x
        .iter()
        .zip(v)
        .map(|(&x, &v)| row_of_motion(x, v))
        .collect();
    let pushing: Vec<Row> = x
        .iter()
        .zip(p)
        .map(|(&x, &p)| row_of_pressure(x, p))
        .collect();
    let (mut rates, mut gradients) = (vec![0.0; x.len()], vec![Vec3A::ZERO; x.len()]);
    for c in 0..solver.pairs.chunks.len() {
        let chunk = Chunk {
            first: c * CHUNK,
            pairs: &solver.pairs.chunks[c],
            images: &solver.images.chunks[c],
            x,
            gradient: &solver.gradient,
        };
        let own = c * CHUNK..x.len().min((c + 1) * CHUNK);
        compression(
            l,
            chunk,
            v,
            &motion,
            Soon::default(),
            &mut rates[own.clone()],
        );
        pressure_gradient(
            l,
            chunk,
            (p, &pushing),
            Soon::default(),
            &mut gradients[own],
        );
    }
    (rates, gradients)
}

fn corner() -> Vec<Obstacle> {
    vec![
        Obstacle::plane("floor", Vec3::ZERO, Vec3::Y),
        Obstacle::plane("left", Vec3::ZERO, Vec3::X),
        Obstacle::plane("back", Vec3::ZERO, Vec3::Z),
    ]
}

/// A hollow ball around the block, of triangles smaller than the support radius.
fn bowl() -> Vec<Obstacle> {
    let ball = IcoSphere {
        center: Vec3::splat(3.0 * SPACING),
        radius: 5.4 * SPACING,
        cuts: 3,
    };
    let mesh = std::sync::Arc::new(ball.build().unwrap());
    let index: std::sync::Arc<dyn TriangleIndex> = std::sync::Arc::new(Bvh::build(mesh.clone()));
    vec![Obstacle::mesh("ball", mesh, index, f32::INFINITY)]
}

#[test]
fn pairs_are_those_of_brute_force() {
    let particles = block(7, 0.4, 0.0);
    let fluid = prepared(&particles, &[]);
    let h = fluid.support_radius();
    let position = fluid.positions();
    let solver = fluid.solver.as_ref().unwrap();
    for i in 0..fluid.len() {
        let mut expected: Vec<u32> = (0..fluid.len() as u32)
            .filter(|&j| (position.get(i) - position.get(j as usize)).length_squared() < h * h)
            .collect();
        expected.sort_unstable();
        let (near, slope) = solver.pairs.chunks[i / CHUNK].of(i % CHUNK);
        let mut found = near.to_vec();
        found.sort_unstable();
        assert_eq!(found, expected, "{i}");
        for (&j, &s) in near.iter().zip(slope) {
            let r_squared = (position.get(i) - position.get(j as usize)).length_squared();
            let right = solver.kernel.volume_value_and_slope(r_squared).1;
            assert!(
                (s - right).abs() <= 1e-4 * right.abs() + 1e-3,
                "{s} {right}"
            );
        }
    }
}

#[test]
fn a_lattice_in_a_corner_does_not_notice_the_walls() {
    let fluid = prepared(&block(8, 0.0, 0.0), &corner());
    let solver = fluid.solver.as_ref().unwrap();
    let still = vec![Vec3A::ZERO; fluid.len()];
    let (_, gradients) = sums(Portable, solver, &still, &vec![1.0; fluid.len()]);
    for (i, g) in gradients.iter().enumerate() {
        let p = fluid.positions().get(i);
        // The other three sides are free surfaces.
        if p.max_element() > 8.0 * SPACING - fluid.support_radius() {
            continue;
        }
        assert!((solver.fullness[i] - 1.0).abs() < 1e-4, "{p}");
        assert!(g.length() * SPACING < 1e-3, "{p}: {g}");
    }
}

/// `Σ p_i D_i(v) = Σ v_i · G_i(p)`: pressure does on the liquid the work that
/// compression does on it, so it never makes energy, along curved walls too.
#[test]
fn the_gradient_is_the_transpose_of_the_compression() {
    for walls in [vec![], corner(), bowl()] {
        let fluid = prepared(&block(6, 0.3, 1.0), &walls);
        let solver = fluid.solver.as_ref().unwrap();
        let mut random = Random(3);
        let v: Vec<Vec3A> = (0..fluid.len()).map(|_| random.vector().into()).collect();
        let p: Vec<f32> = (0..fluid.len()).map(|_| random.next()).collect();
        let (mut pressure_work, mut motion_work, mut size) = (0.0f64, 0.0f64, 0.0f64);
        let (rates, gradients) = sums(Portable, solver, &v, &p);
        for i in 0..fluid.len() {
            let (d, g) = (rates[i], gradients[i]);
            pressure_work += f64::from(p[i] * d);
            motion_work += f64::from(v[i].dot(g));
            size += f64::from((p[i] * d).abs());
        }
        let error = (pressure_work - motion_work).abs() / size;
        assert!(error < 1e-5, "{error} with {} walls", walls.len());
    }
}

/// The sums of rows are the plain ones, wherever the liquid is, and the same to the bit
/// whatever instructions the processor has.
#[test]
fn sums_of_rows_are_the_plain_sums() {
    for far in [0.0, 30.0] {
        let mut particles = block(7, 0.3, 1.0);
        for p in &mut particles {
            p.position += Vec3::new(far, -far, 2.0 * far);
        }
        let fluid = prepared(&particles, &[]);
        let solver = fluid.solver.as_ref().unwrap();
        let mut random = Random(7);
        let v: Vec<Vec3A> = (0..fluid.len()).map(|_| random.vector().into()).collect();
        let p: Vec<f32> = (0..fluid.len()).map(|_| random.next()).collect();
        let (rates, gradients) = sums(Portable, solver, &v, &p);
        let x = &solver.x;
        for i in 0..fluid.len() {
            let pairs = solver.pairs.chunks[i / CHUNK].of(i % CHUNK);
            let (mut rate, mut gradient, mut size) = (0.0f64, DVec3::ZERO, 0.0);
            for (&j, &s) in pairs.0.iter().zip(pairs.1) {
                let j = j as usize;
                let slope = f64::from(s) * (x[i] - x[j]).as_dvec3();
                rate += slope.dot((v[i] - v[j]).as_dvec3());
                gradient += slope * f64::from(p[i] + p[j]);
                size += slope.length();
            }
            assert!((f64::from(rates[i]) - rate).abs() < 1e-6 * size);
            assert!((gradients[i].as_dvec3() - gradient).length() < 1e-6 * size);
            let own = solver.gradient[i].as_dvec3();
            assert!((own - plain_gradient(x, i, pairs)).length() < 1e-6 * size);
        }
        #[cfg(target_arch = "x86_64")]
        {
            let portable = (rates, gradients);
            if let Some(avx2) = crate::simd::Avx2::detect() {
                assert!(portable == sums(avx2, solver, &v, &p));
            }
            if let Some(avx512) = crate::simd::Avx512::detect() {
                assert!(portable == sums(avx512, solver, &v, &p));
            }
        }
    }
}

fn plain_gradient(x: &[Vec3A], i: usize, (near, slope): (&[u32], &[f32])) -> DVec3 {
    let pairs = near.iter().zip(slope);
    pairs
        .map(|(&j, &s)| f64::from(s) * (x[i] - x[j as usize]).as_dvec3())
        .sum()
}

/// Both solves reach what they were asked for, and change neither momentum nor
/// angular momentum where there are no walls.
#[test]
fn pressure_keeps_density_and_momentum() {
    let particles = block(9, 0.1, 0.3);
    let mut fluid = prepared(&particles, &[]);
    let sums = |fluid: &Fluid| {
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for (x, v) in fluid.positions().iter().zip(fluid.velocities().iter()) {
            linear += v.as_dvec3();
            angular += x.as_dvec3().cross(v.as_dvec3());
        }
        (linear, angular)
    };
    let speeds: f64 = fluid
        .velocities()
        .iter()
        .map(|v| f64::from(v.length()))
        .sum();
    let before = sums(&fluid);
    for goal in [Goal::Divergence, Goal::Density] {
        fluid.solve_pressure(goal, 1e-3, &mut Bodies::default());
        let solved = fluid.solved()[goal as usize];
        let Tolerances {
            density,
            divergence,
            ..
        } = settings().tolerances;
        let tolerance = if goal == Goal::Density {
            density
        } else {
            divergence
        };
        assert!(solved.error <= tolerance, "{goal:?} {solved:?}");
        let after = sums(&fluid);
        assert!((after.0 - before.0).length() < 1e-6 * speeds, "{goal:?}");
        assert!((after.1 - before.1).length() < 1e-6 * speeds, "{goal:?}");
    }
}

#[test]
fn viscosity_stops_shear_but_not_rotation() {
    let middle = Vec3::splat(4.0 * SPACING);
    for (viscosity, dt) in [(1e-3f32, 1e-3), (1.0, 1e-3), (1e3, 1e-2)] {
        let mut material = Material::WATER;
        material.viscosity = viscosity;
        let mut particles = block(8, 0.1, 0.0);
        for p in &mut particles {
            p.velocity = Vec3::new(0.3, -0.2, 0.5).cross(p.position - middle);
        }
        let mut spinning = Fluid::new(FluidSettings {
            numerical_viscosity: 0.0,
            ..FluidSettings::new(material, SPACING)
        })
        .unwrap();
        spinning.add(&particles, Content::default(), |_| 0);
        spinning.sort();
        spinning.find_walls(&[]);
        spinning.compute_density(|_| false, &Bodies::default());
        let before: Vec<Vec3> = spinning.velocities().iter().collect();
        spinning.solve_viscosity(dt);
        for (a, b) in before.iter().zip(spinning.velocities().iter()) {
            assert!((*a - b).length() < 1e-3 * 0.08, "{viscosity}: {a} {b}");
        }
        // Random motion is all shear: it loses energy, keeps momentum, and never
        // grows, however stiff the liquid.
        let mut random = Random(11);
        let mut shaken = particles.clone();
        shaken.iter_mut().for_each(|p| p.velocity = random.vector());
        spinning.remove_where(|_| true);
        spinning.add(&shaken, Content::default(), |_| 0);
        spinning.sort();
        spinning.find_walls(&[]);
        spinning.compute_density(|_| false, &Bodies::default());
        let energy = |f: &Fluid| {
            f.velocities()
                .iter()
                .map(|v| f64::from(v.length_squared()))
                .sum::<f64>()
        };
        let momentum = |f: &Fluid| f.velocities().iter().map(Vec3::as_dvec3).sum::<DVec3>();
        let (e, m) = (energy(&spinning), momentum(&spinning));
        spinning.solve_viscosity(dt);
        let lost = energy(&spinning) / e;
        assert!(lost < 1.0, "{viscosity}: {lost}");
        if viscosity > 100.0 {
            assert!(lost < 0.1, "{viscosity}: {lost}");
        }
        assert!(
            (momentum(&spinning) - m).length() < 2e-4 * shaken.len() as f64,
            "{viscosity}"
        );
    }
}

#[test]
fn the_strain_around_a_particle_is_that_of_the_flow() {
    let mut fluid = prepared(&block(9, 0.0, 0.0), &[]);
    let solver = fluid.solver.as_mut().unwrap();
    let flow = |p: Vec3A| Vec3A::new(0.3 * p.x + 0.5 * p.y, 0.1 * p.z, -0.3 * p.z);
    solver.v = solver.x.iter().map(|p| flow(*p)).collect();
    solver.find_strains(crate::fluid::strain::Whom::All);
    let center = Vec3A::splat(4.5 * SPACING);
    let inner = |p: &Vec3A| (*p - center).abs().max_element() < SPACING;
    let middle = solver.x.iter().position(inner).unwrap();
    for d in [
        Vec3A::X,
        Vec3A::new(0.5, -1.0, 0.2),
        Vec3A::new(0.0, 1.0, 1.0),
    ] {
        let (found, expected) = (d.dot(solver.strains[middle].times(d)), d.dot(flow(d)));
        assert!((found - expected).abs() < 1e-4, "{d}: {found} {expected}");
    }
}

/// Pairs rub fully where they go with the flow, and less where they wobble.
#[test]
fn friction_is_that_of_the_flow() {
    let mean = |wobbling: bool| {
        let mut fluid = prepared(&block(9, 0.0, 1.0), &[]);
        let noise: Vec<Vec3> = fluid.velocities().iter().collect();
        let solver = fluid.solver.as_mut().unwrap();
        let flow = |p: Vec3A| Vec3A::new(0.5 * p.y, 0.1 * p.z, 0.0);
        solver.v = solver.x.iter().map(|p| flow(*p)).collect();
        if wobbling {
            solver.v = noise.into_iter().map(Vec3A::from).collect();
        }
        solver.find_shares_of_flow();
        let shares = &solver.viscosity.share_of_flow;
        shares.iter().sum::<f32>() / shares.len() as f32
    };
    assert!(mean(false) > 0.97, "{}", mean(false));
    assert!(mean(true) < 0.7, "{}", mean(true));
}

/// Pressure that holds particles in their places calms their swinging, whatever the
/// sub-step, keeps momentum, and leaves a flow alone.
#[test]
fn restoring_takes_swings_and_leaves_flows() {
    let dt = 0.02;
    let energy = |v: &[Vec3A]| v.iter().map(|v| f64::from(v.length_squared())).sum::<f64>();
    let sum = |v: &[Vec3A]| v.iter().map(|v| Vec3::from(*v).as_dvec3()).sum::<DVec3>();
    for (noise, most) in [(true, 0.5), (false, 1.0)] {
        let mut fluid = prepared(&block(10, 0.1, 1.0), &[]);
        let n = fluid.len();
        let velocities: Vec<Vec3> = fluid.velocities().iter().collect();
        let solver = fluid.solver.as_mut().unwrap();
        solver.v = (0..n)
            .map(|i| {
                let p = solver.x[i];
                let flow = Vec3A::new(2.0 * p.x, p.z, -2.0 * p.z);
                if noise { velocities[i].into() } else { flow }
            })
            .collect();
        let before = solver.v.clone();
        let pressure = vec![5000.0; n];
        let inverse_density = vec![1e-3; n];
        let bodies = Bodies::default();
        let held = (&pressure[..], &vec![0.0; n][..]);
        solver.restore(dt, held, &inverse_density, &mut fluid.walls, &bodies);
        let left = energy(&solver.v) / energy(&before);
        assert!(left <= most, "{left}");
        assert!(noise || left > 0.97, "{left}");
        let change = (sum(&solver.v) - sum(&before)).length();
        assert!(change < 1e-5 * n as f64, "{change}");
    }
}

/// Vorticity confinement spins a whirl up, whatever its direction, leaves rigid rotation and
/// straight flow alone, and knows nothing of rest.
#[test]
fn confinement_spins_whirls_up_and_leaves_other_flows_alone() {
    let center = Vec3A::splat(6.0 * SPACING);
    let gain = |flow: &dyn Fn(Vec3A) -> Vec3A| {
        let mut fluid = prepared(&block(12, 0.05, 0.0), &[]);
        let solver = fluid.solver.as_mut().unwrap();
        solver.v = solver.x.iter().map(|p| flow(*p - center)).collect();
        let before = solver.v.clone();
        solver.confine_vorticity(1e-3, 0.5);
        let inner = |p: &Vec3A| (*p - center).abs().max_element() < 3.0 * SPACING;
        let all = solver.x.iter().zip(before.iter().zip(&solver.v));
        let changes = all.filter(|(p, _)| inner(p));
        let (mut change, mut size) = (0.0, 0.0);
        for (_, (old, new)) in changes {
            change += old.dot(*new - *old);
            size += old.length_squared();
        }
        change / size.max(1e-12)
    };
    for axis in [Vec3A::Z, Vec3A::new(0.6, 0.0, 0.8)] {
        let whirl = move |d: Vec3A| {
            let across = d - d.dot(axis) * axis;
            (-across.length_squared() / (4.0 * SPACING * SPACING)).exp() * axis.cross(d) * 20.0
        };
        let gained = gain(&whirl);
        assert!(gained > 1e-3 && gained < 0.2, "{gained}");
    }
    let rotation = gain(&|d| 20.0 * Vec3A::Z.cross(d)).abs();
    assert!(rotation < 2e-4, "{rotation}");
    assert_eq!(gain(&|_| Vec3A::X), 0.0);
    assert_eq!(gain(&|_| Vec3A::ZERO), 0.0);
}
