//! The two loops over neighbours: density, then forces (Grahn 2008, chapter 3).
//!
//! Particles are sorted by cell, so the neighbours of a particle lie in at most
//! 18 runs of memory; the loops read them eight at a time and mask out the ones
//! beyond the support radius. Every particle gathers its own sums in a fixed
//! order: no atomics, and the same bits for any number of threads. Near walls the
//! sums run once more around the particle's mirror images (see `walls.rs`).

use glam::Vec3;
use rayon::prelude::*;

use super::CHUNK;
use super::kernels::Kernels;
use super::settings::DensityKernel;
use super::state::Fluid;
use super::walls::{ChunkWalls, Image, Images, MOST_WALLS, Mirror};
use crate::math::Xyz;
use crate::simd::{Lanes, WIDTH, dispatch};
use crate::space::{CellGrid, Rows};

#[cfg(test)]
#[path = "sph_tests.rs"]
mod tests;

/// Density `ρ_i = Σ m_j W(r_ij)` (3.4), scaled so that the rest lattice has exactly
/// the rest density; then pressure `p = c² (ρ - ρ0)` (3.13).
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
        .zip(&walls.chunks)
        .enumerate()
        .for_each(|(c, (((density, inverse), term), walls))| {
            density_chunk_best(kernel, grid, position, walls, c * CHUNK, h_squared, density);
            for ((rho, inv), term) in density.iter_mut().zip(inverse).zip(term) {
                *rho *= scale;
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

/// The share of a uniform pressure gradient that the force loop finds in the rest
/// lattice, `Σ_j m/ρ z² / r |W'(r)|`; 1 for infinitely many neighbours. Forces are
/// divided by it, so that the pressure of a liquid at rest bears its weight.
fn lattice_gradient(kernels: &Kernels, spacing: f32) -> f32 {
    let reach = (kernels.support_radius / spacing).ceil() as i32;
    let mut sum = 0.0;
    for (x, y, z) in (-reach..=reach)
        .flat_map(|x| (-reach..=reach).flat_map(move |y| (-reach..=reach).map(move |z| (x, y, z))))
    {
        let r = spacing * ((x * x + y * y + z * z) as f32).sqrt();
        sum -= r * kernels.spiky_slope(r) / 3.0;
    }
    spacing.powi(3) * sum
}

fn density_chunk_best(
    kernel: DensityKernel,
    grid: &CellGrid,
    position: Xyz<'_>,
    walls: &ChunkWalls,
    first: usize,
    h_squared: f32,
    sums: &mut [f32],
) {
    #[inline(always)]
    fn spiky<L: Lanes>(
        l: L,
        grid: &CellGrid,
        position: Xyz<'_>,
        walls: &ChunkWalls,
        first: usize,
        h_squared: f32,
        sums: &mut [f32],
    ) {
        density_chunk::<L, false>(l, grid, position, walls, first, h_squared, sums);
    }
    #[inline(always)]
    fn poly6<L: Lanes>(
        l: L,
        grid: &CellGrid,
        position: Xyz<'_>,
        walls: &ChunkWalls,
        first: usize,
        h_squared: f32,
        sums: &mut [f32],
    ) {
        density_chunk::<L, true>(l, grid, position, walls, first, h_squared, sums);
    }
    match kernel {
        DensityKernel::Spiky => dispatch!(spiky(
            grid: &CellGrid,
            position: Xyz<'_>,
            walls: &ChunkWalls,
            first: usize,
            h_squared: f32,
            sums: &mut [f32],
        )),
        DensityKernel::Poly6 => dispatch!(poly6(
            grid: &CellGrid,
            position: Xyz<'_>,
            walls: &ChunkWalls,
            first: usize,
            h_squared: f32,
            sums: &mut [f32],
        )),
    }
}

/// Kernel sums of the particles from `first` on, their images included.
#[inline(always)]
fn density_chunk<L: Lanes, const POLY6: bool>(
    l: L,
    grid: &CellGrid,
    position: Xyz<'_>,
    walls: &ChunkWalls,
    first: usize,
    h_squared: f32,
    sums: &mut [f32],
) {
    for (cell, rows) in grid.cells_in(first..first + sums.len()) {
        for i in cell {
            let place = position.get(i);
            let mut sum = density_around::<L, POLY6>(l, &rows, position, place, h_squared);
            let mirrors = walls.of(i - first);
            if !mirrors.is_empty() {
                let images = Images::of(place, mirrors);
                for image in images.as_slice().iter().filter(|i| i.weight > 0.0) {
                    let rows = grid.rows_around(image.place);
                    sum += image.weight
                        * density_around::<L, POLY6>(l, &rows, position, image.place, h_squared);
                }
            }
            sums[i - first] = sum;
        }
    }
}

/// Sum of `(1 - r²/h²)³` (poly6) or `(1 - r/h)³` (spiky) around a place.
#[inline(always)]
fn density_around<L: Lanes, const POLY6: bool>(
    l: L,
    rows: &Rows,
    position: Xyz<'_>,
    place: Vec3,
    h_squared: f32,
) -> f32 {
    let inverse_h_squared = l.splat(1.0 / h_squared);
    let (one, zero) = (l.splat(1.0), l.splat(0.0));
    let at = splat3(l, place);
    let mut total = zero;
    for &(start, end) in rows.as_slice() {
        let (mut j, end) = (start as usize, end as usize);
        while j < end {
            // SAFETY: rows end at or before the particle count, and the arrays are
            // one width longer than that.
            let d = unsafe {
                [
                    l.sub(at[0], l.load(position.x, j)),
                    l.sub(at[1], l.load(position.y, j)),
                    l.sub(at[2], l.load(position.z, j)),
                ]
            };
            let r_squared = squared_length(l, d);
            let q_squared = l.mul(r_squared, inverse_h_squared);
            let q = if POLY6 { q_squared } else { l.sqrt(q_squared) };
            let gap = l.max(l.sub(one, q), zero);
            let w = l.mul(l.mul(gap, gap), gap);
            let w = if end - j < WIDTH {
                l.keep(w, l.first(end - j))
            } else {
                w
            };
            total = l.add(total, w);
            j += WIDTH;
        }
    }
    l.sum(total)
}

// These three are functions and not closures over arrays, so that they are always
// compiled for the instructions of their caller.

#[inline(always)]
fn splat3<L: Lanes>(l: L, v: Vec3) -> [L::F; 3] {
    [l.splat(v.x), l.splat(v.y), l.splat(v.z)]
}

#[inline(always)]
fn sum3<L: Lanes>(l: L, v: [L::F; 3]) -> Vec3 {
    Vec3::new(l.sum(v[0]), l.sum(v[1]), l.sum(v[2]))
}

#[inline(always)]
fn squared_length<L: Lanes>(l: L, d: [L::F; 3]) -> L::F {
    l.add(
        l.add(l.mul(d[0], d[0]), l.mul(d[1], d[1])),
        l.mul(d[2], d[2]),
    )
}

/// Constants of the force loop.
#[derive(Clone, Copy)]
struct ForceConstants {
    h: f32,
    /// m 45/(πh⁶), over the lattice's share of a gradient.
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

/// Pressure (3.12), viscosity (3.15) and surface tension (3.16)-(3.19).
pub(super) fn forces(fluid: &mut Fluid) {
    let n = fluid.len();
    let kernels = fluid.kernels;
    let mass = fluid.particle_mass();
    let tension = fluid.settings().material.surface_tension;
    let constants = ForceConstants {
        h: kernels.support_radius,
        pressure: mass * kernels.spiky_gradient
            / lattice_gradient(&kernels, fluid.settings().spacing),
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
    let grid = &*grid;
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
        .zip(&mut walls.chunks)
        .enumerate()
        .for_each(|(c, (((ax, ay), az), walls))| {
            let out = [ax, ay, az];
            if tension > 0.0 {
                forces_with_tension(grid, particles, walls, c * CHUNK, constants, out);
            } else {
                forces_without_tension(grid, particles, walls, c * CHUNK, constants, out);
            }
        });
}

fn forces_with_tension(
    grid: &CellGrid,
    particles: Particles<'_>,
    walls: &mut ChunkWalls,
    first: usize,
    constants: ForceConstants,
    out: [&mut [f32]; 3],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        grid: &CellGrid,
        particles: Particles<'_>,
        walls: &mut ChunkWalls,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ) {
        force_chunk::<L, true>(l, grid, particles, walls, first, constants, out);
    }
    dispatch!(run(
        grid: &CellGrid,
        particles: Particles<'_>,
        walls: &mut ChunkWalls,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ));
}

fn forces_without_tension(
    grid: &CellGrid,
    particles: Particles<'_>,
    walls: &mut ChunkWalls,
    first: usize,
    constants: ForceConstants,
    out: [&mut [f32]; 3],
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        grid: &CellGrid,
        particles: Particles<'_>,
        walls: &mut ChunkWalls,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ) {
        force_chunk::<L, false>(l, grid, particles, walls, first, constants, out);
    }
    dispatch!(run(
        grid: &CellGrid,
        particles: Particles<'_>,
        walls: &mut ChunkWalls,
        first: usize,
        constants: ForceConstants,
        out: [&mut [f32]; 3],
    ));
}

/// Accelerations of the particles from `first` on.
#[inline(always)]
fn force_chunk<L: Lanes, const TENSION: bool>(
    l: L,
    grid: &CellGrid,
    particles: Particles<'_>,
    walls: &mut ChunkWalls,
    first: usize,
    constants: ForceConstants,
    out: [&mut [f32]; 3],
) {
    let [out_x, out_y, out_z] = out;
    for (cell, rows) in grid.cells_in(first..first + out_x.len()) {
        for i in cell {
            let seen = Seen {
                place: particles.position.get(i),
                velocity: particles.velocity.get(i),
                pressure_term: particles.pressure_term[i],
            };
            let viscosity = constants.viscosity * particles.inverse_density[i];
            let mut sums = sums_around::<L, TENSION>(l, &rows, particles, seen, constants.h);
            let mirrors = walls.of_mut(i - first);
            if !mirrors.is_empty() {
                mirrors.iter_mut().for_each(|m| m.push = 0.0);
                let mut images = Sums::default();
                // A copy, because the push is noted with the walls on the way.
                let mut planes = [mirrors[0]; MOST_WALLS];
                planes[..mirrors.len()].copy_from_slice(mirrors);
                let planes = &planes[..mirrors.len()];
                for image in Images::of(seen.place, planes).as_slice() {
                    let from = Seen {
                        place: image.place,
                        velocity: image.reflect_velocity(planes, seen.velocity),
                        ..seen
                    };
                    let rows = grid.rows_around(image.place);
                    let part = sums_around::<L, TENSION>(l, &rows, particles, from, constants.h);
                    let part = part.mirrored(image, planes);
                    image.note(
                        mirrors,
                        constants.pressure * part.pressure + viscosity * part.viscosity,
                    );
                    images = images.plus(part);
                }
                sums = sums.plus(images);
            }
            let mut a = constants.pressure * sums.pressure + viscosity * sums.viscosity;
            if TENSION {
                let normal = constants.colour * sums.normal;
                let length = normal.length();
                if length > constants.smallest_normal {
                    let laplacian = constants.colour * sums.laplacian;
                    a -= constants.tension * particles.inverse_density[i] * laplacian / length
                        * normal;
                }
            }
            out_x[i - first] = a.x;
            out_y[i - first] = a.y;
            out_z[i - first] = a.z;
        }
    }
}

/// A particle, or its image, as the sums see it.
#[derive(Clone, Copy)]
struct Seen {
    place: Vec3,
    velocity: Vec3,
    pressure_term: f32,
}

/// What the force loop sums over neighbours, without the constant factors.
#[derive(Clone, Copy, Default)]
struct Sums {
    pressure: Vec3,
    viscosity: Vec3,
    normal: Vec3,
    laplacian: f32,
}

impl Sums {
    #[inline(always)]
    fn plus(self, other: Sums) -> Sums {
        Sums {
            pressure: self.pressure + other.pressure,
            viscosity: self.viscosity + other.viscosity,
            normal: self.normal + other.normal,
            laplacian: self.laplacian + other.laplacian,
        }
    }

    /// The same seen from the other side of an image's walls.
    #[inline(always)]
    fn mirrored(self, image: &Image, mirrors: &[Mirror]) -> Sums {
        Sums {
            pressure: image.weight * image.reflect(mirrors, self.pressure),
            viscosity: image.drag * image.reflect_drag(mirrors, self.viscosity),
            normal: image.weight * image.reflect(mirrors, self.normal),
            laplacian: image.weight * self.laplacian,
        }
    }
}

#[inline(always)]
fn sums_around<L: Lanes, const TENSION: bool>(
    l: L,
    rows: &Rows,
    particles: Particles<'_>,
    seen: Seen,
    h: f32,
) -> Sums {
    let Particles {
        position,
        velocity,
        pressure_term,
        inverse_density,
    } = particles;
    let support = l.splat(h);
    let h_squared = l.splat(h * h);
    let zero = l.splat(0.0);
    let three_h_squared = l.splat(3.0 * h * h);
    let seven = l.splat(7.0);
    // Coincident particles push each other nowhere instead of dividing by zero.
    let smallest_r_squared = l.splat(1e-12 * h * h);
    let at = splat3(l, seen.place);
    let speed = splat3(l, seen.velocity);
    let term = l.splat(seen.pressure_term);
    let mut pressure = [zero; 3];
    let mut viscosity = [zero; 3];
    let mut normal = [zero; 3];
    let mut laplacian = zero;
    for &(start, end) in rows.as_slice() {
        let (mut j, end) = (start as usize, end as usize);
        while j < end {
            // SAFETY (all loads): rows end at or before the particle count, and the
            // arrays are one width longer than that.
            let d = unsafe {
                [
                    l.sub(at[0], l.load(position.x, j)),
                    l.sub(at[1], l.load(position.y, j)),
                    l.sub(at[2], l.load(position.z, j)),
                ]
            };
            let r_squared = squared_length(l, d);
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
            let gap = l.keep(l.sub(support, r), near);
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
    Sums {
        pressure: sum3(l, pressure),
        viscosity: sum3(l, viscosity),
        normal: if TENSION { sum3(l, normal) } else { Vec3::ZERO },
        laplacian: if TENSION { l.sum(laplacian) } else { 0.0 },
    }
}
