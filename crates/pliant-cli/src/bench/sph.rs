//! The SPH loops: particle-steps per second, memory, and how far from the
//! machine's limit.

use std::time::Instant;

use glam::Vec3;
use pliant::observe::{STAGES, Stage};
use pliant::{Fill, FluidSettings, Material, Obstacle, Region, World};
use serde::Serialize;

use super::peak;
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

/// Arithmetic operations that one pair of neighbours needs: distance and kernel
/// for the density, distance, kernels, pressure and viscosity for the forces.
const DENSITY_FLOPS: f64 = 14.0;
const FORCE_FLOPS: f64 = 36.0;

#[derive(Serialize)]
struct Row {
    particles: usize,
    threads: usize,
    neighbours: f64,
    ms_per_step: f64,
    neighbours_ms: f64,
    density_ms: f64,
    forces_ms: f64,
    contacts_ms: f64,
    /// Density and forces only.
    mparticle_steps_per_s: f64,
    /// The whole sub-step.
    mparticle_steps_per_s_whole: f64,
    bytes_per_particle: f64,
    gflops: f64,
    peak_gflops: f64,
    percent_of_peak: f64,
}

/// Measures a collapsing block of water.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "SPH: density and forces",
        "A block of water collapses in a tank (weakly compressible, spiky density and pressure, \
         viscosity kernel, support of two spacings, five walls as mirrors); medians over sub-steps after the first. \
         mparticle_steps_per_s counts density and forces, _whole the complete sub-step. \
         peak_gflops is what a loop of fused multiply-adds reaches on the same threads; gflops \
         counts the operations of true neighbour pairs only.",
    );
    let sizes: &[u32] = if args.quick { &[16] } else { &[22, 46, 100] };
    for &edge in sizes {
        let row = measure(edge, if edge >= 100 { 10 } else { 40 })?;
        out.row(&[("bench", "sph"), ("case", "dam-break")], &row);
    }
    out.note(
        "Far from the peak because of a grid of whole support radii: only about one candidate in \
         six is a neighbour, and the others cost their distance test; square roots and divisions \
         take the rest. A list of neighbours would save the tests and cost 130 bytes per particle.",
    );
    Ok(())
}

fn measure(edge: u32, steps: usize) -> Result<Row, CliError> {
    let spacing = 0.02;
    let size = edge as f32 * spacing;
    let mut world = World::new();
    for (name, point, normal) in [
        ("floor", Vec3::ZERO, Vec3::Y),
        ("left", Vec3::ZERO, Vec3::X),
        ("right", 2.0 * size * Vec3::X, Vec3::NEG_X),
        ("back", Vec3::ZERO, Vec3::Z),
        ("front", size * Vec3::Z, Vec3::NEG_Z),
    ] {
        world.add_obstacle(Obstacle::plane(name, point, normal));
    }
    let material = Material {
        surface_tension: 0.0,
        ..Material::WATER
    };
    let water = world
        .add_fluid(FluidSettings::weakly_compressible(material, spacing))
        .map_err(|e| CliError::Usage(e.to_string()))?;
    let region = Region::Box {
        min: Vec3::ZERO,
        max: Vec3::splat(size),
    };
    world
        .fill(water, &Fill::Region(region))
        .map_err(|e| CliError::Usage(e.to_string()))?;
    // Let the lattice break up, so that the loops see real disorder.
    let dt = 1e-4;
    for _ in 0..10 {
        world.step(20.0 * dt)?;
    }
    let mut stages: Vec<Vec<f64>> = vec![Vec::new(); STAGES.len()];
    let mut whole = Vec::new();
    for _ in 0..steps {
        let before = *world.timers();
        let clock = Instant::now();
        world.step(dt)?;
        whole.push(1e3 * clock.elapsed().as_secs_f64());
        let spent = world.timers().since(&before);
        for (times, (stage, _)) in stages.iter_mut().zip(STAGES) {
            times.push(1e3 * spent.spent(stage).as_secs_f64());
        }
    }
    let ms = |stage: Stage| median(&stages[stage as usize]);
    let Some(fluid) = world.fluid(water) else {
        return Err(CliError::Usage("the liquid is gone".into()));
    };
    let n = fluid.len();
    let neighbours = neighbours_per_particle(fluid);
    let loops_ms = ms(Stage::Density) + ms(Stage::Forces);
    let gflops = n as f64 * neighbours * (DENSITY_FLOPS + FORCE_FLOPS) / (loops_ms * 1e6);
    let peak_gflops = peak::gflops();
    Ok(Row {
        particles: n,
        threads: rayon::current_num_threads(),
        neighbours,
        ms_per_step: median(&whole),
        neighbours_ms: ms(Stage::Neighbours),
        density_ms: ms(Stage::Density),
        forces_ms: ms(Stage::Forces),
        contacts_ms: ms(Stage::Contacts),
        mparticle_steps_per_s: n as f64 / (loops_ms * 1e3),
        mparticle_steps_per_s_whole: n as f64 / (median(&whole) * 1e3),
        bytes_per_particle: fluid.bytes() as f64 / n as f64,
        gflops,
        peak_gflops,
        percent_of_peak: 100.0 * gflops / peak_gflops,
    })
}

fn neighbours_per_particle(fluid: &pliant::Fluid) -> f64 {
    use pliant::space::{CellGrid, NeighbourSearch};
    let mut grid = CellGrid::default();
    let positions = fluid.positions();
    grid.build(positions, fluid.support_radius());
    let mut found = 0usize;
    for i in (0..positions.len()).step_by(17) {
        grid.for_each_within(positions, positions.get(i), &mut |_| found += 1);
    }
    let asked = positions.len().div_ceil(17);
    // Itself is not a neighbour.
    (found - asked) as f64 / asked as f64
}

/// The middle value.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
