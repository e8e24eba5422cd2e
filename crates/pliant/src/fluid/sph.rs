//! The two loops over neighbours: density, then forces (Grahn 2008, chapter 3).
//!
//! Particles are sorted by cell, so the neighbours of a particle lie in at most
//! 18 runs of memory; the loops read them eight at a time and mask out the ones
//! beyond the support radius. Every particle gathers its own sums in a fixed
//! order: no atomics, and the same bits for any number of threads.

use rayon::prelude::*;

use super::state::{DensityKernel, Fluid};
use crate::math::Xyz;
use crate::simd::{Lanes, WIDTH, dispatch};
use crate::space::CellGrid;

/// Particles per parallel task: enough to hide the cost of a task, few enough
/// to balance two cores at a thousand particles.
const CHUNK: usize = 256;

/// Density `ρ_i = Σ m_j W(r_ij)` (3.4), scaled so that the rest lattice has exactly
/// the rest density, plus what walls hold of the kernel, as if they were
/// liquid at rest density; then pressure `p = c² (ρ - ρ0)` (3.13).
pub(super) fn density(fluid: &mut Fluid) {
    let n = fluid.len();
    let settings = fluid.settings();
    let rest = settings.material.density;
    let kernel = settings.density_kernel;
    let scale = rest / lattice_sum(kernel, settings.support);
    let stiffness = fluid.sound_speed() * fluid.sound_speed();
    let lowest = if settings.negative_pressure {
        f32::NEG_INFINITY
    } else {
        0.0
    };
    let h_squared = fluid.support_radius() * fluid.support_radius();

    let Fluid {
        position,
        density,
        inverse_density,
        pressure_term,
        walls,
        grid,
        ..
    } = fluid;
    let (grid, position) = (&*grid, position.view());
    density[..n]
        .par_chunks_mut(CHUNK)
        .zip(inverse_density[..n].par_chunks_mut(CHUNK))
        .zip(pressure_term[..n].par_chunks_mut(CHUNK))
        .zip(walls.volume[..n].par_chunks(CHUNK))
        .enumerate()
        .for_each(|(c, (((density, inverse), term), wall))| {
            density_chunk_best(kernel, grid, position, c * CHUNK, h_squared, density);
            for (((rho, inv), term), wall) in density.iter_mut().zip(inverse).zip(term).zip(wall) {
                *rho = scale * *rho + rest * *wall;
                *inv = 1.0 / *rho;
                *term = (stiffness * (*rho - rest)).max(lowest) * *inv * *inv;
            }
        });
}

/// What the density loop sums for a particle deep inside the rest lattice.
fn lattice_sum(kernel: DensityKernel, support: f32) -> f32 {
    let reach = support.ceil() as i32;
    let mut sum = 0.0f32;
    for (x, y, z) in (-reach..=reach)
        .flat_map(|x| (-reach..=reach).flat_map(move |y| (-reach..=reach).map(move |z| (x, y, z))))
    {
        let q_squared = (x * x + y * y + z * z) as f32 / (support * support);
        sum += match kernel {
            DensityKernel::Spiky => (1.0 - q_squared.sqrt()).max(0.0).powi(3),
            DensityKernel::Poly6 => (1.0 - q_squared).max(0.0).powi(3),
        };
    }
    sum
}

fn density_chunk_best(
    kernel: DensityKernel,
    grid: &CellGrid,
    position: Xyz<'_>,
    first: usize,
    h_squared: f32,
    sums: &mut [f32],
) {
    #[inline(always)]
    fn spiky<L: Lanes>(
        l: L,
        grid: &CellGrid,
        position: Xyz<'_>,
        first: usize,
        h_squared: f32,
        sums: &mut [f32],
    ) {
        density_chunk::<L, false>(l, grid, position, first, h_squared, sums);
    }
    #[inline(always)]
    fn poly6<L: Lanes>(
        l: L,
        grid: &CellGrid,
        position: Xyz<'_>,
        first: usize,
        h_squared: f32,
        sums: &mut [f32],
    ) {
        density_chunk::<L, true>(l, grid, position, first, h_squared, sums);
    }
    match kernel {
        DensityKernel::Spiky => dispatch!(spiky(
            grid: &CellGrid,
            position: Xyz<'_>,
            first: usize,
            h_squared: f32,
            sums: &mut [f32],
        )),
        DensityKernel::Poly6 => dispatch!(poly6(
            grid: &CellGrid,
            position: Xyz<'_>,
            first: usize,
            h_squared: f32,
            sums: &mut [f32],
        )),
    }
}

/// Sums `(1 - r²/h²)³` (poly6) or `(1 - r/h)³` (spiky) for the particles from
/// `first` on.
#[inline(always)]
fn density_chunk<L: Lanes, const POLY6: bool>(
    l: L,
    grid: &CellGrid,
    position: Xyz<'_>,
    first: usize,
    h_squared: f32,
    sums: &mut [f32],
) {
    let inverse_h_squared = l.splat(1.0 / h_squared);
    let one = l.splat(1.0);
    let zero = l.splat(0.0);
    for (cell, rows) in grid.cells_in(first..first + sums.len()) {
        for i in cell {
            let (xi, yi, zi) = (
                l.splat(position.x[i]),
                l.splat(position.y[i]),
                l.splat(position.z[i]),
            );
            let mut total = zero;
            for &(start, end) in rows.as_slice() {
                let (mut j, end) = (start as usize, end as usize);
                while j < end {
                    // SAFETY: rows end at or before the particle count, and the
                    // arrays are one width longer than that.
                    let (x, y, z) = unsafe {
                        (
                            l.load(position.x, j),
                            l.load(position.y, j),
                            l.load(position.z, j),
                        )
                    };
                    let (dx, dy, dz) = (l.sub(xi, x), l.sub(yi, y), l.sub(zi, z));
                    let r_squared = l.add(l.add(l.mul(dx, dx), l.mul(dy, dy)), l.mul(dz, dz));
                    let q_squared = l.mul(r_squared, inverse_h_squared);
                    let q = if POLY6 { q_squared } else { l.sqrt(q_squared) };
                    let gap = l.max(l.sub(one, q), zero);
                    let w = l.mul(l.mul(gap, gap), gap);
                    total = l.add(
                        total,
                        if end - j < WIDTH {
                            l.keep(w, l.first(end - j))
                        } else {
                            w
                        },
                    );
                    j += WIDTH;
                }
            }
            sums[i - first] = l.sum(total);
        }
    }
}

/// Constants of the force loop.
#[derive(Clone, Copy)]
struct ForceConstants {
    h: f32,
    /// m 45/(πh⁶).
    pressure: f32,
    /// m μ 45/(πh⁶).
    viscosity: f32,
    /// σ, m 945/(32πh⁹) and the smallest |n| that counts as surface.
    tension: f32,
    colour: f32,
    smallest_normal: f32,
}

/// What the force loop reads of every particle.
#[derive(Clone, Copy)]
struct Particles<'a> {
    position: Xyz<'a>,
    velocity: Xyz<'a>,
    pressure_term: &'a [f32],
    inverse_density: &'a [f32],
}

/// Pressure (3.12), viscosity (3.15) and surface tension (3.16)-(3.19), and the
/// pressure of walls, which mirror the particle's own.
pub(super) fn forces(fluid: &mut Fluid) {
    let n = fluid.len();
    let kernels = fluid.kernels;
    let mass = fluid.particle_mass();
    let tension = fluid.settings().material.surface_tension;
    let rest = fluid.settings().material.density;
    let constants = ForceConstants {
        h: kernels.support_radius,
        pressure: mass * kernels.spiky_gradient,
        viscosity: mass * kernels.spiky_gradient * fluid.effective_viscosity(),
        tension,
        colour: mass * kernels.poly6_gradient,
        // A flat surface has |n| = 1.23 / h; particle noise inside stays well below this.
        smallest_normal: 0.4 / kernels.support_radius,
    };
    let Fluid {
        position,
        velocity,
        acceleration,
        inverse_density,
        pressure_term,
        walls,
        grid,
        ..
    } = fluid;
    let (grid, walls) = (&*grid, &*walls);
    let particles = Particles {
        position: position.view(),
        velocity: velocity.view(),
        pressure_term,
        inverse_density,
    };
    acceleration.x[..n]
        .par_chunks_mut(CHUNK)
        .zip(acceleration.y[..n].par_chunks_mut(CHUNK))
        .zip(acceleration.z[..n].par_chunks_mut(CHUNK))
        .enumerate()
        .for_each(|(c, ((ax, ay), az))| {
            let out = [&mut *ax, &mut *ay, &mut *az];
            if tension > 0.0 {
                forces_with_tension(grid, particles, c * CHUNK, constants, out);
            } else {
                forces_without_tension(grid, particles, c * CHUNK, constants, out);
            }
            for k in 0..ax.len() {
                let i = c * CHUNK + k;
                let push = walls.push(i, rest, pressure_term[i]);
                ax[k] += push.x;
                ay[k] += push.y;
                az[k] += push.z;
            }
        });
}

fn forces_with_tension(
    grid: &CellGrid,
    particles: Particles<'_>,
    first: usize,
    constants: ForceConstants,
    out: [&mut [f32]; 3],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        grid: &CellGrid,
        particles: Particles<'_>,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ) {
        force_chunk::<L, true>(l, grid, particles, first, constants, out);
    }
    dispatch!(run(
        grid: &CellGrid,
        particles: Particles<'_>,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ));
}

fn forces_without_tension(
    grid: &CellGrid,
    particles: Particles<'_>,
    first: usize,
    constants: ForceConstants,
    out: [&mut [f32]; 3],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        grid: &CellGrid,
        particles: Particles<'_>,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ) {
        force_chunk::<L, false>(l, grid, particles, first, constants, out);
    }
    dispatch!(run(
        grid: &CellGrid,
        particles: Particles<'_>,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ));
}

#[inline(always)]
fn force_chunk<L: Lanes, const TENSION: bool>(
    l: L,
    grid: &CellGrid,
    particles: Particles<'_>,
    first: usize,
    constants: ForceConstants,
    out: [&mut [f32]; 3],
) {
    let Particles {
        position,
        velocity,
        pressure_term,
        inverse_density,
    } = particles;
    let h = l.splat(constants.h);
    let h_squared = l.splat(constants.h * constants.h);
    let zero = l.splat(0.0);
    let three_h_squared = l.splat(3.0 * constants.h * constants.h);
    let seven = l.splat(7.0);
    // Coincident particles push each other nowhere instead of dividing by zero.
    let smallest_r_squared = l.splat(1e-12 * constants.h * constants.h);
    let [out_x, out_y, out_z] = out;
    for (cell, rows) in grid.cells_in(first..first + out_x.len()) {
        for i in cell {
        let at = [position.x[i], position.y[i], position.z[i]].map(|v| l.splat(v));
        let speed = [velocity.x[i], velocity.y[i], velocity.z[i]].map(|v| l.splat(v));
        let term = l.splat(pressure_term[i]);
        let mut pressure = [zero; 3];
        let mut viscosity = [zero; 3];
        let mut normal = [zero; 3];
        let mut laplacian = zero;
        for &(start, end) in rows.as_slice() {
            let (mut j, end) = (start as usize, end as usize);
            while j < end {
                // SAFETY (all loads): rows end at or before the particle count, and
                // the arrays are one width longer than that.
                let d = unsafe {
                    [
                        l.sub(at[0], l.load(position.x, j)),
                        l.sub(at[1], l.load(position.y, j)),
                        l.sub(at[2], l.load(position.z, j)),
                    ]
                };
                let r_squared = l.add(
                    l.add(l.mul(d[0], d[0]), l.mul(d[1], d[1])),
                    l.mul(d[2], d[2]),
                );
                let near = l.and(l.less(r_squared, h_squared), l.first(end - j));
                if !l.any(near) {
                    j += WIDTH;
                    continue;
                }
                let (term_j, inverse_j, v) = unsafe {
                    (
                        l.load(pressure_term, j),
                        l.load(inverse_density, j),
                        [
                            l.load(velocity.x, j),
                            l.load(velocity.y, j),
                            l.load(velocity.z, j),
                        ],
                    )
                };
                let r = l.sqrt(l.max(r_squared, smallest_r_squared));
                let gap = l.keep(l.sub(h, r), near);
                let push = l.div(l.mul(l.add(term, term_j), l.mul(gap, gap)), r);
                let drag = l.mul(inverse_j, gap);
                for a in 0..3 {
                    pressure[a] = l.add(pressure[a], l.mul(push, d[a]));
                    viscosity[a] = l.add(viscosity[a], l.mul(drag, l.sub(v[a], speed[a])));
                }
                if TENSION {
                    let inside = l.keep(l.mul(inverse_j, l.sub(h_squared, r_squared)), near);
                    let slope = l.mul(inside, l.sub(h_squared, r_squared));
                    for a in 0..3 {
                        normal[a] = l.sub(normal[a], l.mul(slope, d[a]));
                    }
                    laplacian = l.sub(
                        laplacian,
                        l.mul(inside, l.sub(three_h_squared, l.mul(seven, r_squared))),
                    );
                }
                j += WIDTH;
            }
        }
        let viscous = constants.viscosity * inverse_density[i];
        let mut a = [0.0; 3];
        for (axis, a) in a.iter_mut().enumerate() {
            *a = constants.pressure * l.sum(pressure[axis]) + viscous * l.sum(viscosity[axis]);
        }
        if TENSION {
            let n = normal.map(|n| constants.colour * l.sum(n));
            let length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
            if length > constants.smallest_normal {
                let pull = -constants.tension * inverse_density[i] * constants.colour
                    * l.sum(laplacian)
                    / length;
                for axis in 0..3 {
                    a[axis] += pull * n[axis];
                }
            }
        }
        out_x[i - first] = a[0];
        out_y[i - first] = a[1];
        out_z[i - first] = a[2];
        }
    }
}

#[cfg(test)]
#[path = "sph_tests.rs"]
mod tests;
