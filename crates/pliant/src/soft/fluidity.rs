//! SPH among the points of one surface (Mesit 2010, 3.52-3.56).
//!
//! The lists of neighbours ("fluid particle list table") are made for a little more than
//! the core radius and last as long as no point that is not listed can have come nearer.
//! Neighbours are in the order of their numbers, so sums have the same bits whenever and by
//! whichever search the lists were made. Eight points are summed side by side, each in a
//! lane of its own.

use std::f32::consts::PI;

use glam::Vec3A;
use rayon::prelude::*;

use super::lanes::{Eight, add, dot, put, scaled, sub};
use super::settings::{Fluidity, Scaling};
use crate::math::XyzVec;
use crate::simd::{Lanes, WIDTH, dispatch};
use crate::space::{CellGrid, CellSize, ModuloHash, NeighbourSearch};

/// Margin of the lists over the core radius.
const MARGIN: f32 = 0.4;
/// Points per task while lists are made: whole groups.
const CHUNK: usize = 64 * WIDTH;
/// Nearer than this share of the core radius, squared, two points have no direction.
const SAME: f32 = 1e-12;
/// Room for rounding in the test whether lists still hold.
const ROUNDING: f32 = 1e-4;

/// Neighbours and densities of a surface.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceFluid {
    radius: f32,
    /// Eight points each, one to a lane.
    groups: Vec<Group>,
    /// Neighbour `k` of every point of a group.
    blocks: Vec<[u32; WIDTH]>,
    /// Where the points were when the lists were made.
    anchor: Vec<Vec3A>,
    grid: CellGrid,
    /// Densities at rest.
    rest: Vec<f32>,
    density: Vec<f32>,
    /// Of every point: pressure, volume m/ρ, density, mass.
    state: Vec<[f32; 4]>,
    /// Pressure and viscosity on every point (3.56) in N, without β.
    pub force: Vec<Vec3A>,
}

/// Where the blocks of eight points are.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    end: u32,
    /// How many neighbours each point has.
    counts: Eight,
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
            state: surface.mass.iter().map(|&m| [0.0, 0.0, 0.0, m]).collect(),
            rest: vec![0.0; n],
            force: vec![Vec3A::ZERO; n],
            ..SurfaceFluid::default()
        };
        fluid.find(surface);
        fluid.sum_density(surface);
        let share = surface.settings.rest;
        let density = fluid.density.iter().copied();
        fluid.rest = match surface.scaling {
            Scaling::Physical => density.map(|d| share * d).collect(),
            Scaling::Literal => {
                let mean = density.map(f64::from).sum::<f64>() / n as f64;
                vec![share * mean as f32; n]
            }
        };
        fluid
    }

    /// True if no two points that the lists do not know can have come within the core
    /// radius. Where the points are is compared with where they were, moved and grown as
    /// a whole: what falls or swells keeps its lists.
    fn lists_hold(&self, position: &[Vec3A]) -> bool {
        let n = position.len();
        if self.anchor.len() != n {
            return false;
        }
        let share = 1.0 / n as f32;
        let then = share * self.anchor.iter().sum::<Vec3A>();
        let now = share * position.iter().sum::<Vec3A>();
        let pairs = || self.anchor.iter().zip(position);
        let (mut along, mut squares) = (0.0, 0.0);
        for (a, p) in pairs() {
            along += (*a - then).dot(*p - now);
            squares += (*a - then).length_squared();
        }
        let grown = along / squares;
        let off = pairs().fold(0.0f32, |most, (a, p)| {
            most.max((*p - now - grown * (*a - then)).length_squared())
        });
        // |p - q| >= grown |a - b| - 2 off for all pairs of points.
        let listed = (1.0 + MARGIN) * self.radius;
        grown * listed - 2.0 * off.sqrt() >= (1.0 + ROUNDING) * self.radius
    }

    /// Makes the lists again if points may have come near that were far.
    fn find(&mut self, surface: &Surface<'_>) {
        if self.lists_hold(surface.position) {
            return;
        }
        self.anchor.clear();
        self.anchor.extend_from_slice(surface.position);
        let points: XyzVec = surface.position.iter().map(|p| (*p).into()).collect();
        let radius = (1.0 + MARGIN) * self.radius;
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
        let parts: Vec<(Vec<Group>, Vec<[u32; WIDTH]>)> = (0..n.div_ceil(CHUNK))
            .into_par_iter()
            .map(|k| {
                let (mut groups, mut blocks) = (Vec::new(), Vec::new());
                let mut lists: [Vec<u32>; WIDTH] = Default::default();
                let mut marks = Marks::new(n);
                for first in (k * CHUNK..((k + 1) * CHUNK).min(n)).step_by(WIDTH) {
                    for (l, list) in lists.iter_mut().enumerate() {
                        list.clear();
                        let i = first + l;
                        if i < n {
                            let here = points.get(i);
                            search.for_each_within(points.view(), here, &mut |j| marks.set(j));
                            marks.list_others(i as u32, list);
                        }
                    }
                    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
                    let own = |l: usize| (first + l).min(n - 1) as u32;
                    let start = blocks.len();
                    for k in 0..longest {
                        let of = |l: usize| lists[l].get(k).copied().unwrap_or(own(l));
                        blocks.push(std::array::from_fn(of));
                    }
                    groups.push(Group {
                        first: start as u32,
                        end: blocks.len() as u32,
                        counts: std::array::from_fn(|l| lists[l].len() as f32),
                    });
                }
                (groups, blocks)
            })
            .collect();
        self.groups.clear();
        self.blocks.clear();
        for (groups, blocks) in parts {
            let before = self.blocks.len() as u32;
            self.groups.extend(groups.into_iter().map(|g| Group {
                first: g.first + before,
                end: g.end + before,
                ..g
            }));
            self.blocks.extend(blocks);
        }
    }

    /// The densities (3.52) with the poly6 kernel; a point counts itself.
    fn sum_density(&mut self, surface: &Surface<'_>) {
        let mut found = std::mem::take(&mut self.density);
        found.resize(self.state.len(), 0.0);
        each_chunk(&mut found, |g, out| {
            let all = Reading {
                fluid: self,
                surface,
            };
            dispatch!(density(all: Reading<'_>, g: usize, out: &mut [f32]));
        });
        self.density = found;
    }

    /// Densities, pressures (3.52, 3.53) and forces at the present places.
    pub fn update(&mut self, surface: &Surface<'_>) {
        self.find(surface);
        self.sum_density(surface);
        let stiffness = surface.settings.stiffness;
        let densities = self.density.iter().zip(&self.rest);
        for (state, (&density, rest)) in self.state.iter_mut().zip(densities) {
            let mass = state[3];
            *state = [stiffness * (density - rest), mass / density, density, mass];
        }
        let mut force = std::mem::take(&mut self.force);
        each_chunk(&mut force, |g, out| {
            let all = Reading {
                fluid: self,
                surface,
            };
            dispatch!(forces(all: Reading<'_>, g: usize, out: &mut [Vec3A]));
        });
        self.force = force;
    }

    /// Neighbours within the core radius, on average.
    pub fn mean_neighbours(&self, position: &[Vec3A]) -> f64 {
        let h2 = self.radius * self.radius;
        let mut count = 0;
        for (g, group) in self.groups.iter().enumerate() {
            for (k, block) in self.blocks[group.first as usize..group.end as usize]
                .iter()
                .enumerate()
            {
                for (l, &j) in block.iter().enumerate() {
                    let real = (k as f32) < group.counts[l];
                    let near = |i: usize| position[i].distance_squared(position[j as usize]) <= h2;
                    count += usize::from(real && near(g * WIDTH + l));
                }
            }
        }
        count as f64 / position.len().max(1) as f64
    }

    pub fn bytes(&self) -> usize {
        use crate::space::NeighbourSearch;
        size_of_val(&self.groups[..])
            + size_of_val(&self.blocks[..])
            + 52 * self.anchor.len()
            + NeighbourSearch::bytes(&self.grid)
    }
}

/// A set of points that lists them in order: quicker than to sort a few dozen numbers that
/// are near each other, as those of neighbours are.
struct Marks {
    words: Vec<u64>,
    /// The words in use.
    first: usize,
    last: usize,
}

impl Marks {
    fn new(points: usize) -> Marks {
        Marks {
            words: vec![0; points.div_ceil(64)],
            first: usize::MAX,
            last: 0,
        }
    }

    #[inline]
    fn set(&mut self, point: u32) {
        let word = point as usize / 64;
        self.words[word] |= 1 << (point % 64);
        self.first = self.first.min(word);
        self.last = self.last.max(word);
    }

    /// Adds all but `own` to `list`, and forgets them.
    fn list_others(&mut self, own: u32, list: &mut Vec<u32>) {
        for word in self.first..=self.last {
            let mut bits = std::mem::take(&mut self.words[word]);
            while bits != 0 {
                let point = 64 * word as u32 + bits.trailing_zeros();
                if point != own {
                    list.push(point);
                }
                bits &= bits - 1;
            }
        }
        (self.first, self.last) = (usize::MAX, 0);
    }
}

/// Calls `task` with the number of the first group and the items of each part.
fn each_chunk<T: Send>(out: &mut [T], task: impl Fn(usize, &mut [T]) + Sync) {
    let groups = CHUNK / WIDTH;
    if out.len() <= CHUNK {
        task(0, out);
    } else {
        let parts = out.par_chunks_mut(CHUNK).enumerate();
        parts.for_each(|(k, part)| task(k * groups, part));
    }
}

/// What the loops over neighbours read.
#[derive(Clone, Copy)]
struct Reading<'a> {
    fluid: &'a SurfaceFluid,
    surface: &'a Surface<'a>,
}

impl Reading<'_> {
    fn blocks_of(&self, group: &Group) -> &[[u32; WIDTH]] {
        &self.fluid.blocks[group.first as usize..group.end as usize]
    }

    fn own(&self, g: usize) -> [u32; WIDTH] {
        let last = self.surface.position.len() - 1;
        std::array::from_fn(|l| (g * WIDTH + l).min(last) as u32)
    }
}

#[inline(always)]
fn density<L: Lanes>(l: L, all: Reading<'_>, first: usize, out: &mut [f32]) {
    let radius = all.fluid.radius;
    let (h2, zero) = (l.splat(radius * radius), l.splat(0.0));
    let scale = l.splat(315.0 / (64.0 * PI * radius.powi(9)));
    let position = all.surface.position;
    for (k, out) in out.chunks_mut(WIDTH).enumerate() {
        let group = &all.fluid.groups[first + k];
        let own = all.own(first + k);
        // SAFETY: lists hold numbers of points, of which there are as many as states.
        let (p, mass) = unsafe {
            (
                l.gather_vectors(position, &own),
                l.gather(&all.fluid.state, &own)[3],
            )
        };
        let mut sum = l.mul(mass, l.mul(h2, l.mul(h2, h2)));
        let counts = l.numbers(&group.counts);
        for (k, block) in all.blocks_of(group).iter().enumerate() {
            // SAFETY: as above.
            let (there, mass) = unsafe {
                (
                    l.gather_vectors(position, block),
                    l.gather(&all.fluid.state, block)[3],
                )
            };
            let away = sub(l, p, there);
            let d = l.max(l.sub(h2, dot(l, away, away)), zero);
            let weighed = l.mul(mass, l.mul(d, l.mul(d, d)));
            let real = l.less(l.splat(k as f32), counts);
            sum = l.add(sum, l.keep(weighed, real));
        }
        let found = l.to_array(l.mul(scale, sum));
        out.copy_from_slice(&found[..out.len()]);
    }
}

/// Pressure and viscosity (3.54-3.56).
///
/// Physical: the printed force per volume times the point's volume m/ρ, equal and
/// opposite for both points, viscosity along the line between them so that turning is
/// free. Literal: as printed.
#[inline(always)]
fn forces<L: Lanes>(l: L, all: Reading<'_>, first: usize, out: &mut [Vec3A]) {
    let Surface {
        settings,
        scaling,
        position,
        velocity,
        ..
    } = *all.surface;
    let h = all.fluid.radius;
    let (radius, h2) = (l.splat(h), l.splat(h * h));
    let same = l.splat(SAME * h * h);
    let slope = l.splat(45.0 / (PI * h.powi(6)));
    let (half, one) = (l.splat(0.5), l.splat(1.0));
    let physical = scaling == Scaling::Physical;
    let slows = settings.viscosity > 0.0;
    let viscosity = l.splat(settings.viscosity);
    let sign = l.splat(if settings.printed_difference {
        -1.0
    } else {
        1.0
    });
    for (k, _) in (0..out.len()).step_by(WIDTH).enumerate() {
        let group = &all.fluid.groups[first + k];
        let own = all.own(first + k);
        // SAFETY: lists hold numbers of points, of which there are as many as states.
        let (p, v, [pressure, own_volume, density, _]) = unsafe {
            (
                l.gather_vectors(position, &own),
                l.gather_vectors(velocity, &own),
                l.gather(&all.fluid.state, &own),
            )
        };
        let mut sum = [l.splat(0.0); 3];
        for block in all.blocks_of(group) {
            // SAFETY: as above.
            let away = unsafe { sub(l, p, l.gather_vectors(position, block)) };
            let r2 = dot(l, away, away);
            // What is not there is the point itself, and as near.
            let near = l.and(l.less(r2, h2), l.less(same, r2));
            if !l.any(near) {
                continue;
            }
            // SAFETY: as above.
            let [their_pressure, volume, their_density, _] =
                unsafe { l.gather(&all.fluid.state, block) };
            let r = l.sqrt(r2);
            let inverse = l.div(one, r);
            let depth = l.sub(radius, r);
            let both = l.mul(half, l.add(pressure, l.mul(sign, their_pressure)));
            let pushed = l.mul(l.mul(both, depth), inverse);
            let weight = l.mul(volume, depth);
            if slows {
                // SAFETY: as above.
                let faster = unsafe { sub(l, l.gather_vectors(velocity, block), v) };
                if physical {
                    let mean = l.mul(half, l.add(density, their_density));
                    let along = l.mul(dot(l, faster, away), l.mul(inverse, inverse));
                    let slowed = l.mul(l.mul(viscosity, mean), along);
                    let size = l.keep(l.mul(weight, l.add(pushed, slowed)), near);
                    sum = add(l, sum, scaled(l, size, away));
                } else {
                    let pushed = l.keep(l.mul(weight, pushed), near);
                    let slowed = l.keep(l.mul(weight, viscosity), near);
                    let one = add(l, scaled(l, pushed, away), scaled(l, slowed, faster));
                    sum = add(l, sum, one);
                }
            } else {
                let size = l.keep(l.mul(weight, pushed), near);
                sum = add(l, sum, scaled(l, size, away));
            }
        }
        let share = if physical { own_volume } else { one };
        put(l, out, k, scaled(l, l.mul(slope, share), sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::EvenSphere;
    use crate::simd::Portable;

    #[test]
    fn marks_list_points_in_order_and_forget_them() {
        let (mut marks, mut list) = (Marks::new(200), Vec::new());
        for point in [199, 3, 64, 63, 70, 3] {
            marks.set(point);
        }
        marks.list_others(64, &mut list);
        assert_eq!(list, [3, 63, 70, 199]);
        list.clear();
        marks.list_others(0, &mut list);
        assert!(list.is_empty());
    }

    #[test]
    fn old_lists_and_portable_lanes_give_the_same_bits() {
        let mesh = EvenSphere {
            points: 603,
            ..EvenSphere::default()
        };
        let mesh = mesh.build().unwrap();
        let settings = Fluidity {
            viscosity: 0.01,
            ..Fluidity::default()
        };
        let mass: Vec<f32> = (0..mesh.vertices.len())
            .map(|i| 1.0 + 0.001 * i as f32)
            .collect();
        let start: Vec<Vec3A> = mesh.vertices.iter().map(|&v| v.into()).collect();
        let edge = mesh.mean_edge();
        // Swollen, moved and a little shaken.
        let shake =
            |p: Vec3A| 0.02 * edge * Vec3A::new((70.0 * p.y).sin(), 0.0, (50.0 * p.x).cos());
        let moved: Vec<Vec3A> = start
            .iter()
            .map(|&p| 1.2 * p + shake(p) + Vec3A::ONE)
            .collect();
        let still = vec![Vec3A::ZERO; start.len()];
        let surface = |position| Surface {
            settings: &settings,
            scaling: Scaling::Physical,
            position,
            velocity: &start,
            mass: &mass,
        };
        let mut old = SurfaceFluid::new(&surface(&start), edge);
        let mut fresh = old.clone();
        fresh.anchor.clear();
        assert!(old.lists_hold(&moved), "nothing has come nearer");
        old.update(&surface(&moved));
        fresh.update(&surface(&moved));
        assert_ne!(old.anchor, fresh.anchor);
        assert_eq!(old.force, fresh.force);
        assert_ne!(old.force, still);
        let mut plain = still;
        let all = Reading {
            fluid: &old,
            surface: &surface(&moved),
        };
        forces(Portable, all, 0, &mut plain);
        assert_eq!(old.force, plain);
        let squeezed: Vec<Vec3A> = start
            .iter()
            .map(|&p| p * Vec3A::new(1.0, 0.5, 1.0))
            .collect();
        assert!(!old.lists_hold(&squeezed));
    }
}
