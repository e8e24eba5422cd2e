//! What walls add to a liquid: they fill the part of a particle's kernel that lies
//! beyond them, as if the liquid went on there, and push back.
//!
//! Each wall is taken as a plane with layers of the rest lattice behind it, half a
//! spacing from its surface. The integral of a kernel over a layer has a closed form
//! (see [`Kernels::spiky_on_plane`]), scaled so that a lattice that stands against a
//! wall has exactly the rest density, however rough it is on the scale of the kernel.

use glam::Vec3;
use rayon::prelude::*;

use super::kernels::Kernels;
use super::state::DensityKernel;
use crate::contact::{Obstacle, Wall};
use crate::math::{Xyz, XyzVec};

/// Marks a particle without a wall.
const NOWHERE: u32 = u32::MAX;

/// How much a wall adds, by its distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallLayers {
    kernels: Kernels,
    density_kernel: DensityKernel,
    spacing: f32,
    /// Lattice sum over integral, for a particle at rest against the wall.
    scale: f32,
}

impl WallLayers {
    pub fn new(kernels: Kernels, density_kernel: DensityKernel, spacing: f32) -> WallLayers {
        let unscaled = WallLayers {
            kernels,
            density_kernel,
            spacing,
            scale: 1.0,
        };
        // What a particle next to a wall lacks: all lattice layers behind it.
        let reach = (kernels.support_radius / spacing).ceil() as i32;
        let (mut all, mut lacking) = (0.0f32, 0.0f32);
        for x in -reach..=reach {
            for y in -reach..=reach {
                for z in -reach..=reach {
                    let r = spacing * ((x * x + y * y + z * z) as f32).sqrt();
                    let w = match density_kernel {
                        DensityKernel::Spiky => kernels.spiky(r),
                        DensityKernel::Poly6 => kernels.poly6(r * r),
                    };
                    all += w;
                    lacking += if x > 0 { w } else { 0.0 };
                }
            }
        }
        let (volume, _) = unscaled.at(0.5 * spacing);
        WallLayers {
            scale: lacking / all / volume,
            ..unscaled
        }
    }

    /// Share of the kernel that a wall at `distance` holds, and how fast that falls
    /// with the distance, in 1/m.
    #[inline]
    pub fn at(&self, distance: f32) -> (f32, f32) {
        let k = &self.kernels;
        let mut x = distance + 0.5 * self.spacing;
        let (mut volume, mut slope) = (0.0, 0.0);
        while x < k.support_radius {
            let (on_plane, falls) = match self.density_kernel {
                DensityKernel::Spiky => (k.spiky_on_plane(x), k.spiky_on_plane_slope(x)),
                DensityKernel::Poly6 => (k.poly6_on_plane(x), k.poly6_on_plane_slope(x)),
            };
            volume += on_plane;
            slope += falls;
            x += self.spacing;
        }
        let scale = self.scale * self.spacing;
        (scale * volume, scale * slope)
    }
}

/// The walls around every particle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walls {
    /// Share of the particle's kernel that lies in walls.
    pub volume: Vec<f32>,
    /// How `volume` falls away from the walls: minus its gradient, in 1/m.
    gradient: XyzVec,
    /// Obstacle and triangle of the nearest wall.
    obstacle: Vec<u32>,
    triangle: Vec<u32>,
}

impl Walls {
    pub fn resize(&mut self, count: usize) {
        self.volume.resize(count, 0.0);
        self.gradient.resize(count);
        self.obstacle.resize(count, NOWHERE);
        self.triangle.resize(count, 0);
    }

    /// 4-byte words held.
    pub fn words(&self) -> usize {
        let g = &self.gradient;
        self.volume.capacity()
            + g.x.capacity()
            + g.y.capacity()
            + g.z.capacity()
            + self.obstacle.capacity()
            + self.triangle.capacity()
    }

    /// Finds the walls within the support radius of every position.
    pub fn find(
        &mut self,
        position: Xyz<'_>,
        layers: &WallLayers,
        obstacles: &[(usize, &Obstacle)],
    ) {
        // The nearest layer stands half a spacing behind the wall.
        let reach = layers.kernels.support_radius - 0.5 * layers.spacing;
        (
            &mut self.volume,
            &mut self.gradient.x,
            &mut self.gradient.y,
            &mut self.gradient.z,
            &mut self.obstacle,
            &mut self.triangle,
        )
            .into_par_iter()
            .enumerate()
            .with_min_len(256)
            .for_each(|(i, (volume, gx, gy, gz, obstacle, triangle))| {
                let p = position.get(i);
                let mut free = 1.0;
                let mut gradient = Vec3::ZERO;
                let mut nearest = f32::INFINITY;
                (*obstacle, *triangle) = (NOWHERE, 0);
                for (index, o) in obstacles {
                    o.for_each_wall(p, reach, &mut |wall: Wall| {
                        let (share, slope) = layers.at(wall.distance);
                        let left = 1.0 - wall.weight * share;
                        free *= left;
                        gradient += wall.weight * slope / left * wall.normal;
                        if wall.distance < nearest {
                            nearest = wall.distance;
                            (*obstacle, *triangle) = (*index as u32, wall.triangle);
                        }
                    });
                }
                // What walls share counts once: the gradient of 1 - Π (1 - share).
                *volume = 1.0 - free;
                [*gx, *gy, *gz] = (free * gradient).to_array();
            });
    }

    /// Acceleration of particle `i` by its walls: minus the gradient of its energy
    /// through the walls' part of its density, `p/ρ² ρ0 ∇volume`. The contact at half
    /// a spacing bears the rest. (A wall that mirrors the particle's pressure would
    /// push twice as much, but such a force has no energy, and liquid boils on it.)
    #[inline]
    pub fn push(&self, i: usize, rest_density: f32, pressure_term: f32) -> Vec3 {
        rest_density * pressure_term * self.gradient.get(i)
    }

    /// Obstacle and triangle of the wall nearest to particle `i`.
    #[inline]
    pub fn nearest(&self, i: usize) -> Option<(u32, u32)> {
        (self.obstacle[i] != NOWHERE).then(|| (self.obstacle[i], self.triangle[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lattice_against_a_wall_lacks_nothing() {
        for support in [1.6f32, 2.0, 2.5, 3.2] {
            let spacing = 0.01;
            let kernels = Kernels::new(support * spacing);
            let layers = WallLayers::new(kernels, DensityKernel::Poly6, spacing);
            let reach = support.ceil() as i32;
            let sum = |keep: &dyn Fn(i32) -> bool| {
                let mut sum = 0.0;
                for x in (-reach..=reach).filter(|&x| keep(x)) {
                    for y in -reach..=reach {
                        for z in -reach..=reach {
                            let r2 = spacing * spacing * (x * x + y * y + z * z) as f32;
                            sum += kernels.poly6(r2);
                        }
                    }
                }
                sum
            };
            let all = sum(&|_| true);
            // First and second layer: everything beyond the wall is missing.
            for (layer, tolerance) in [(0, 1e-5), (1, 0.004)] {
                let there = sum(&|x| x <= layer) / all;
                let (share, _) = layers.at(spacing * (layer as f32 + 0.5));
                assert!(
                    (there + share - 1.0).abs() < tolerance,
                    "support {support}, layer {layer}: {there} + {share}"
                );
            }
            assert_eq!(layers.at(support * spacing), (0.0, 0.0));
        }
    }
}
