//! SPH among the points of one surface (Mesit 2010, 3.52-3.56).
//!
//! The lists of neighbours ("fluid particle list table") are made for a little more than
//! the core radius and last until a point has moved by half of that margin. Neighbours
//! are in the order of their numbers, so sums have the same bits whenever and by
//! whichever search the lists were made.

use std::f32::consts::PI;

use glam::Vec3A;
use rayon::prelude::*;

use super::parallel::fill;
use super::settings::{Fluidity, Scaling};
use crate::math::XyzVec;
use crate::space::{CellGrid, CellSize, ModuloHash, NeighbourSearch};

/// Margin of the lists over the core radius.
const MARGIN: f32 = 0.25;
/// Points per task while lists are made.
const CHUNK: usize = 512;

/// Neighbours and densities of a surface.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceFluid {
    radius: f32,
    start: Vec<u32>,
    list: Vec<u32>,
    /// Where the points were when the lists were made.
    anchor: Vec<Vec3A>,
    grid: CellGrid,
    /// Densities at rest.
    rest: Vec<f32>,
    density: Vec<f32>,
    /// Of every point: pressure, volume m/ρ, density.
    state: Vec<[f32; 3]>,
}

/// A surface's points and what its fluid is made of.
pub(super) struct Surface<'a> {
    pub settings: &'a Fluidity,
    pub scaling: Scaling,
    pub position: &'a [Vec3A],
    pub velocity: &'a [Vec3A],
    pub mass: &'a [f32],
}

impl SurfaceFluid {
    /// A fluid whose density at rest follows from the places at the start.
    pub fn new(surface: &Surface<'_>, mean_edge: f32) -> SurfaceFluid {
        let n = surface.position.len();
        let mut fluid = SurfaceFluid {
            radius: surface.settings.reach * mean_edge,
            density: vec![0.0; n],
            state: vec![[0.0; 3]; n],
            rest: vec![0.0; n],
            ..SurfaceFluid::default()
        };
        fluid.find(surface);
        fluid.sum_density(surface);
        let share = surface.settings.rest;
        fluid.rest = match surface.scaling {
            Scaling::Physical => fluid.density.iter().map(|d| share * d).collect(),
            Scaling::Literal => {
                let mean = fluid.density.iter().map(|d| f64::from(*d)).sum::<f64>() / n as f64;
                vec![share * mean as f32; n]
            }
        };
        fluid
    }

    /// Makes the lists again if a point has moved too far since.
    fn find(&mut self, surface: &Surface<'_>) {
        let margin = MARGIN * self.radius;
        let most = (0.5 * margin) * (0.5 * margin);
        let near = |(a, p): (&Vec3A, &Vec3A)| a.distance_squared(*p) < most;
        let same = self.anchor.len() == surface.position.len();
        if same && self.anchor.iter().zip(surface.position).all(near) {
            return;
        }
        self.anchor.clear();
        self.anchor.extend_from_slice(surface.position);
        let points: XyzVec = surface.position.iter().map(|p| (*p).into()).collect();
        let radius = self.radius + margin;
        let mut table;
        let search: &(dyn NeighbourSearch + Sync) = match surface.settings.hash_size {
            None => {
                self.grid.build(points.view(), radius);
                &self.grid
            }
            Some(buckets) => {
                table = ModuloHash::with(CellSize::TwiceRadius, Some(buckets));
                table.build(points.view(), radius);
                &table
            }
        };
        let n = points.len();
        let parts: Vec<(Vec<u32>, Vec<u32>)> = (0..n.div_ceil(CHUNK))
            .into_par_iter()
            .map(|k| {
                let (mut counts, mut list) = (Vec::new(), Vec::new());
                for i in k * CHUNK..((k + 1) * CHUNK).min(n) {
                    let first = list.len();
                    search.for_each_within(points.view(), points.get(i), &mut |j| {
                        if j as usize != i {
                            list.push(j);
                        }
                    });
                    list[first..].sort_unstable();
                    counts.push((list.len() - first) as u32);
                }
                (counts, list)
            })
            .collect();
        self.start.clear();
        self.start.push(0);
        self.list.clear();
        for (counts, list) in parts {
            for count in counts {
                self.start.push(self.start[self.start.len() - 1] + count);
            }
            self.list.extend(list);
        }
    }

    #[inline]
    fn neighbours(&self, i: usize) -> &[u32] {
        &self.list[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// (3.52) with the poly6 kernel; a point counts itself.
    fn sum_density(&mut self, surface: &Surface<'_>) {
        let h2 = self.radius * self.radius;
        let scale = 315.0 / (64.0 * PI * self.radius.powi(9));
        let (position, mass) = (surface.position, surface.mass);
        let mut density = std::mem::take(&mut self.density);
        fill(&mut density, |i| {
            let own = position[i];
            let mut sum = mass[i] * h2 * h2 * h2;
            for &j in self.neighbours(i) {
                let d = (h2 - own.distance_squared(position[j as usize])).max(0.0);
                sum += mass[j as usize] * d * d * d;
            }
            scale * sum
        });
        self.density = density;
    }

    /// Densities and pressures (3.52, 3.53) at the present places.
    pub fn update(&mut self, surface: &Surface<'_>) {
        self.find(surface);
        self.sum_density(surface);
        let stiffness = surface.settings.stiffness;
        let (density, rest, mass) = (&self.density, &self.rest, surface.mass);
        fill(&mut self.state, |i| {
            let pressure = stiffness * (density[i] - rest[i]);
            [pressure, mass[i] / density[i], density[i]]
        });
    }

    /// Pressure and viscosity on point `i` (3.54-3.56) in N, without β.
    ///
    /// Physical: the printed force per volume times the point's volume m/ρ, equal and
    /// opposite for both points, viscosity along the line between them so that turning is
    /// free. Literal: as printed.
    #[inline]
    pub fn force(&self, surface: &Surface<'_>, i: usize) -> Vec3A {
        let h = self.radius;
        let slope = 45.0 / (PI * h.powi(6));
        let physical = surface.scaling == Scaling::Physical;
        let (own, velocity) = (surface.position[i], surface.velocity[i]);
        let [pressure, own_volume, density] = self.state[i];
        let viscosity = surface.settings.viscosity;
        let sign = if surface.settings.printed_difference {
            -1.0
        } else {
            1.0
        };
        let mut sum = Vec3A::ZERO;
        for &j in self.neighbours(i) {
            let j = j as usize;
            let away = own - surface.position[j];
            let r2 = away.length_squared();
            if r2 >= h * h || r2 <= 1e-12 * h * h {
                continue;
            }
            let r = r2.sqrt();
            let inverse = 1.0 / r;
            let near = h - r;
            let [their_pressure, volume, their_density] = self.state[j];
            let pushed = 0.5 * (pressure + sign * their_pressure) * near * inverse;
            if viscosity > 0.0 {
                let relative = surface.velocity[j] - velocity;
                if physical {
                    let mean = 0.5 * (density + their_density);
                    let slowed = viscosity * mean * relative.dot(away) * (inverse * inverse);
                    sum += (volume * near * (pushed + slowed)) * away;
                } else {
                    sum += (volume * near) * (pushed * away + viscosity * relative);
                }
            } else {
                sum += (volume * near * pushed) * away;
            }
        }
        let own_volume = if physical { own_volume } else { 1.0 };
        (slope * own_volume) * sum
    }

    /// Neighbours within the core radius, on average.
    pub fn mean_neighbours(&self, position: &[Vec3A]) -> f64 {
        let h2 = self.radius * self.radius;
        let count = |i: usize| {
            let own = position[i];
            let near = |j: &&u32| own.distance_squared(position[**j as usize]) <= h2;
            self.neighbours(i).iter().filter(near).count()
        };
        let n = position.len();
        (0..n).map(count).sum::<usize>() as f64 / n.max(1) as f64
    }

    pub fn bytes(&self) -> usize {
        use crate::space::NeighbourSearch;
        4 * (self.start.len() + self.list.len())
            + 28 * self.anchor.len()
            + NeighbourSearch::bytes(&self.grid)
    }
}
