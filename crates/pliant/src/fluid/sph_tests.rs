//! The hot loops against the equations written out in double precision, and the
//! vector instructions against plain Rust.

use glam::{DVec3, Vec3};

use super::*;
use crate::coupling::Bodies;
use crate::fluid::test_random::Random;
use crate::fluid::walls::Reach;
use crate::fluid::{Content, DensityKernel, FluidSettings, Material, NewParticle};
use crate::simd::Portable;

const SPACING: f32 = 0.02;

/// Density: sums of at most a few hundred positive terms.
const DENSITY_TOLERANCE: f64 = 1e-5;
/// Forces, as a share of the sum of the magnitudes that enter them.
const FORCE_TOLERANCE: f64 = 1e-5;

fn settings() -> FluidSettings {
    FluidSettings {
        sound_speed: Some(20.0),
        ..FluidSettings::weakly_compressible(Material::WATER, SPACING)
    }
}

/// A liquid of these points with random velocities, its densities and forces computed.
fn computed(settings: FluidSettings, points: &[Vec3]) -> Fluid {
    let mut random = Random(99);
    let particles: Vec<NewParticle> = points
        .iter()
        .map(|&position| NewParticle {
            position,
            velocity: 2.0 * random.vector(),
        })
        .collect();
    let mut fluid = Fluid::new(settings).unwrap();
    fluid.choose_noise_speed(9.81);
    fluid.add(&particles, Content::default(), |_| 0);
    fluid.sort();
    fluid.find_walls(&[]);
    fluid.compute_density(|_| false, &Bodies::default());
    fluid.compute_forces(&[]);
    fluid
}

/// Points in a cube of `side` spacings.
fn cloud(seed: u64, count: usize, side: f32) -> Vec<Vec3> {
    let mut random = Random(seed);
    let half = 0.5 * side * SPACING;
    (0..count).map(|_| half * random.vector()).collect()
}

fn lattice(counts: [i32; 3], jitter: f32) -> Vec<Vec3> {
    let mut random = Random(5);
    let mut points = Vec::new();
    for x in 0..counts[0] {
        for y in 0..counts[1] {
            for z in 0..counts[2] {
                let at = Vec3::new(x as f32, y as f32, z as f32);
                points.push(SPACING * (at + jitter * random.vector()));
            }
        }
    }
    points
}

/// Every arrangement that a loop of eight lanes may stumble over.
fn arrangements() -> Vec<(&'static str, Vec<Vec3>)> {
    let mut all = vec![
        ("lattice", lattice([9, 8, 7], 0.0)),
        ("jittered lattice", lattice([9, 8, 7], 0.3)),
        (
            "squeezed lattice",
            lattice([9, 8, 7], 0.1).iter().map(|p| 0.9 * *p).collect(),
        ),
        ("sheet", lattice([20, 1, 20], 0.0)),
        ("thread", lattice([300, 1, 1], 0.1)),
        ("thick cloud", cloud(1, 700, 7.0)),
        ("thin cloud", cloud(2, 700, 20.0)),
        ("far from the origin", {
            let away = Vec3::new(70.0, -30.0, 11.0);
            lattice([7, 7, 7], 0.2).iter().map(|p| *p + away).collect()
        }),
    ];
    let mut doubled = lattice([5, 5, 5], 0.1);
    doubled.extend_from_within(..40);
    doubled.extend_from_within(..3);
    all.push(("coincident points", doubled));
    for count in [0, 1, 2, 7, 8, 9, 255, 256, 257] {
        all.push(("few", cloud(count as u64 + 3, count, 4.0)));
    }
    all
}

fn variants() -> Vec<(&'static str, FluidSettings)> {
    let dry = Material {
        surface_tension: 0.0,
        ..Material::WATER
    };
    let mut all = vec![
        ("water", settings()),
        (
            "without tension",
            FluidSettings {
                material: dry,
                ..settings()
            },
        ),
        (
            "negative pressure",
            FluidSettings {
                negative_pressure: true,
                ..settings()
            },
        ),
        (
            "honey",
            FluidSettings {
                material: Material::HONEY,
                numerical_viscosity: 0.0,
                ..settings()
            },
        ),
    ];
    for (name, support) in [("short support", 1.3), ("long support", 3.1)] {
        all.push((
            name,
            FluidSettings {
                support,
                ..settings()
            },
        ));
    }
    all
}

fn place(fluid: &Fluid, i: usize) -> DVec3 {
    fluid.positions().get(i).as_dvec3()
}

/// `Σ_j W(r_ij)` without its constant factor, in double precision.
fn kernel_sum(kernel: DensityKernel, h: f64, others: impl Iterator<Item = f64>) -> f64 {
    others
        .filter(|r2| *r2 < h * h)
        .map(|r2| match kernel {
            DensityKernel::Spiky => (1.0 - r2.sqrt() / h).powi(3),
            DensityKernel::Poly6 => (1.0 - r2 / (h * h)).powi(3),
        })
        .sum()
}

/// Grahn 2008 (3.4), scaled so that the cubic lattice has the rest density.
fn reference_density(fluid: &Fluid, i: usize) -> f64 {
    let s = fluid.settings();
    let (h, spacing) = (f64::from(fluid.support_radius()), f64::from(s.spacing));
    let range = -5..=5;
    let whole = range.clone().flat_map(|x| {
        let range = range.clone();
        range.clone().flat_map(move |y| {
            range
                .clone()
                .map(move |z| spacing * spacing * f64::from(x * x + y * y + z * z))
        })
    });
    let around = (0..fluid.len()).map(|j| place(fluid, i).distance_squared(place(fluid, j)));
    let kernel = s.density_kernel;
    f64::from(s.material.density) * kernel_sum(kernel, h, around) / kernel_sum(kernel, h, whole)
}

/// The acceleration by (3.12), (3.15) and (3.16)-(3.19) for the densities and
/// pressures that the liquid has, and the magnitude of what was summed. `None` if
/// the surface normal is too near its threshold to call.
fn reference_acceleration(fluid: &Fluid, i: usize) -> Option<(DVec3, f64)> {
    let s = fluid.settings();
    let (h, m) = (
        f64::from(fluid.support_radius()),
        f64::from(fluid.particle_mass()),
    );
    let mu = f64::from(fluid.effective_viscosity());
    let sigma = f64::from(s.material.surface_tension);
    let pi = std::f64::consts::PI;
    // The lattice's share of a uniform pressure gradient.
    let spacing = f64::from(s.spacing);
    let range = -5..=5;
    let mut lattice = 0.0;
    for x in range.clone() {
        for y in range.clone() {
            for z in range.clone() {
                let r = spacing * f64::from(x * x + y * y + z * z).sqrt();
                lattice += r * 45.0 / (pi * h.powi(6)) * (h - r).max(0.0).powi(2) / 3.0;
            }
        }
    }
    lattice *= spacing.powi(3);
    let rho = |i: usize| f64::from(fluid.density[i]);
    let p: Vec<f64> = fluid.pressures().map(f64::from).collect();
    let (mut sum, mut scale) = (DVec3::ZERO, 0.0);
    let (mut normal, mut normal_scale) = (DVec3::ZERO, 0.0);
    let (mut laplacian, mut laplacian_scale) = (0.0, 0.0);
    for j in 0..fluid.len() {
        let d = place(fluid, i) - place(fluid, j);
        let r = d.length();
        if r >= h {
            continue;
        }
        let spiky = 45.0 / (pi * h.powi(6));
        // Coincident particles have no direction to push each other in.
        let outwards = d.normalize_or_zero();
        let shares = p[i] / rho(i).powi(2) + p[j] / rho(j).powi(2);
        sum += m * shares * spiky * (h - r).powi(2) * outwards / lattice;
        scale += m * shares.abs() * spiky * h * (h - r);
        let dv = (fluid.velocities().get(j) - fluid.velocities().get(i)).as_dvec3();
        sum += mu * m / (rho(i) * rho(j)) * spiky * (h - r) * dv;
        scale += mu * m / (rho(i) * rho(j)) * spiky * h * dv.length();

        let colour = m / rho(j) * 945.0 / (32.0 * pi * h.powi(9));
        normal -= colour * (h * h - r * r).powi(2) * d;
        normal_scale += colour * (h * h - r * r) * h * h * r;
        laplacian -= colour * (h * h - r * r) * (3.0 * h * h - 7.0 * r * r);
        laplacian_scale += colour * h * h * (3.0 * h * h - 7.0 * r * r).abs();
    }
    let length = normal.length();
    let threshold = 0.4 / h;
    if sigma > 0.0 && (length / threshold - 1.0).abs() < 1e-4 {
        return None;
    }
    if sigma > 0.0 && length > threshold {
        sum -= sigma / rho(i) * laplacian * normal / length;
        scale += sigma / rho(i) * (laplacian_scale + laplacian.abs() * normal_scale / length);
    }
    Some((sum, scale))
}

#[test]
fn density_and_pressure_follow_the_equations() {
    let mut worst = 0.0f64;
    for (variant, settings) in variants() {
        for (name, points) in arrangements() {
            let fluid = computed(settings.clone(), &points);
            let c2 = f64::from(fluid.sound_speed()).powi(2);
            let rest = f64::from(settings.material.density);
            for (i, p) in fluid.pressures().enumerate() {
                let right = reference_density(&fluid, i);
                let found = f64::from(fluid.densities()[i]);
                let error = (found / right - 1.0).abs();
                worst = worst.max(error);
                let where_ = format!("{variant}, {name}, {} points", points.len());
                assert!(error < DENSITY_TOLERANCE, "{where_}: {found} not {right}");
                let mut pressure = c2 * (right - rest);
                if !settings.negative_pressure {
                    pressure = pressure.max(0.0);
                }
                let off = (f64::from(p) - pressure).abs();
                assert!(
                    off < 2.0 * DENSITY_TOLERANCE * c2 * right.max(rest),
                    "{where_}: {p} not {pressure}"
                );
            }
        }
    }
    println!("largest relative error of a density {worst:.1e}");
}

#[test]
fn forces_follow_the_equations() {
    let mut worst = 0.0f64;
    for (variant, settings) in variants() {
        for (name, points) in arrangements() {
            let fluid = computed(settings.clone(), &points);
            let mut undecided = 0;
            for i in 0..fluid.len() {
                let Some((right, scale)) = reference_acceleration(&fluid, i) else {
                    undecided += 1;
                    continue;
                };
                let found = fluid.acceleration.get(i).as_dvec3();
                let error = found.distance(right);
                worst = worst.max(error / scale.max(1e-12));
                assert!(
                    error <= FORCE_TOLERANCE * scale,
                    "{variant}, {name}, particle {i} of {}: {found} not {right}, scale {scale}",
                    points.len()
                );
            }
            assert!(
                undecided <= 2,
                "{variant}, {name}: {undecided} at the threshold"
            );
        }
    }
    println!("largest error of a force {worst:.1e} of what is summed");
}

#[test]
fn the_rest_lattice_has_the_rest_density_and_no_pressure() {
    let fluid = computed(settings(), &lattice([9, 9, 9], 0.0));
    let middle = fluid
        .ids()
        .iter()
        .position(|&id| id == 4 * 81 + 4 * 9 + 4)
        .unwrap();
    let rest = fluid.settings().material.density;
    assert!((fluid.densities()[middle] / rest - 1.0).abs() < 1e-6);
    // Nowhere denser: nothing pushes.
    assert!(fluid.densities().iter().all(|&d| d < rest * (1.0 + 1e-6)));
}

#[test]
fn coincident_and_lonely_particles_stay_finite() {
    for (_, settings) in variants() {
        let fluid = computed(settings, &vec![Vec3::splat(0.3); 50]);
        for i in 0..50 {
            assert!(fluid.acceleration.get(i).is_finite());
            assert!(fluid.densities()[i].is_finite() && fluid.densities()[i] > 0.0);
        }
    }
}

/// Densities and accelerations by one set of instructions, as bits.
fn bits<L: Lanes>(l: L, fluid: &Fluid) -> Vec<u32> {
    let n = fluid.len();
    let h = fluid.support_radius();
    let mass = fluid.particle_mass();
    let constants = ForceConstants {
        h,
        pressure: mass * fluid.kernels.spiky_gradient
            / lattice_gradient(&fluid.kernels, fluid.settings().spacing),
        viscosity: mass * fluid.kernels.spiky_gradient * fluid.effective_viscosity(),
        tension: fluid.settings().material.surface_tension,
        colour: mass * fluid.kernels.poly6_gradient,
        smallest_normal: 0.4 / h,
    };
    let particles = Particles {
        position: fluid.position.view(),
        velocity: fluid.velocity.view(),
        pressure_term: &fluid.pressure_term,
        inverse_density: &fluid.inverse_density,
    };
    let mut sums = vec![0.0; n];
    let mut walls = ChunkWalls::default();
    let reach = Reach {
        walls: h,
        kernel: None,
    };
    walls.find(fluid.positions(), 0..n, &[], reach, &[]);
    density_chunk::<L, false>(
        l,
        &fluid.grid,
        fluid.position.view(),
        &walls,
        0,
        h * h,
        &mut sums,
    );
    let mut all = sums;
    for tension in [false, true] {
        let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let out = [&mut x[..], &mut y[..], &mut z[..]];
        if tension {
            force_chunk::<L, true>(l, &fluid.grid, particles, &mut walls, 0, constants, out);
        } else {
            force_chunk::<L, false>(l, &fluid.grid, particles, &mut walls, 0, constants, out);
        }
        all.extend([x, y, z].concat());
    }
    all.iter().map(|v| v.to_bits()).collect()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn loops_give_the_same_bits_on_all_processors() {
    for (variant, settings) in variants() {
        for (name, points) in arrangements() {
            let fluid = computed(settings.clone(), &points);
            let portable = bits(Portable, &fluid);
            if let Some(avx2) = crate::simd::Avx2::detect() {
                assert!(bits(avx2, &fluid) == portable, "{variant}, {name}");
            }
            if let Some(avx512) = crate::simd::Avx512::detect() {
                assert!(bits(avx512, &fluid) == portable, "{variant}, {name}");
            }
        }
    }
}

#[test]
fn what_the_engine_runs_is_the_portable_loop_to_the_bit() {
    for (name, points) in arrangements() {
        let fluid = computed(settings(), &points);
        let n = fluid.len();
        let portable = bits(Portable, &fluid);
        for (axis, a) in [
            &fluid.acceleration.x,
            &fluid.acceleration.y,
            &fluid.acceleration.z,
        ]
        .iter()
        .enumerate()
        {
            let engine: Vec<u32> = a[..n].iter().map(|v| v.to_bits()).collect();
            // Densities come first, then three axes without tension, then with it.
            assert!(engine == portable[(4 + axis) * n..(5 + axis) * n], "{name}");
        }
    }
}
