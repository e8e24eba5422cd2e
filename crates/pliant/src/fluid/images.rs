//! Walls as mirrors, for the incompressible solver.
//!
//! Behind a wall the liquid goes on as its own image. From particle i, the image of
//! particle j in a plane is `sqrt(|x_i - x_j|² + 4 d_i d_j)` away, with d the
//! distances of both from the plane. That form needs no plane: it is symmetric in i
//! and j and smooth wherever the distance to a wall is, so with it a curved wall, too,
//! acts on the liquid by forces that follow from an energy, and a liquid rests on it.
//! In a corner the images of several walls combine: `|x_i - x_j|² + 4 Σ_k d_i d_j`.
//!
//! An image is never nearer than the particle itself, so images are found among the
//! pairs.

use std::ops::Range;

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::corner::{Corner, Matched, Nearest, Shared};
use super::cubic::CubicSpline;
use super::pairs::{ChunkPairs, Pairs};
use super::walls::{MOST_WALLS, Walls};
use crate::crew::Spread;
use crate::simd::{Lanes, WIDTH, dispatch, prefetch_line};

/// How much the volume beyond a wall counts in the pressure equations. With 1 it would be
/// matter that stays where it is; 2 means that it goes along with the particle as its
/// image does, so that a uniform pressure pushes nothing.
pub(super) const WITH: f32 = 2.0;

/// The images that one chunk of particles sees: of its neighbours, and of the
/// particles themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChunkImages {
    /// Images of particle k are at `start[k]..start[k + 1]`.
    start: Vec<u32>,
    neighbour: Vec<u32>,
    /// Gradient of the image's kernel by the particle's place, in 1/m.
    own: Vec<Vec3A>,
    /// The same by the neighbour's place.
    other: Vec<Vec3A>,
    /// How much of `own` is along the normals of the particle's walls, in 1/m.
    lift: Vec<[f32; MOST_WALLS]>,
    /// Slope of the image's kernel, and which walls it is mirrored at.
    slope: Vec<f32>,
    matched: Vec<Matched>,
    /// Sum of `own` over the images of particle k, and what is beyond its walls as a
    /// volume.
    sum: Vec<Vec3A>,
    /// The gradient of that volume alone.
    beyond: Vec<Vec3A>,
}

/// What images add to, for each particle.
pub(crate) struct Sums<'a> {
    /// How full its surroundings are.
    pub fullness: &'a mut [f32],
    /// The share of its pressure that pushes through the liquid.
    pub share: &'a mut [f32],
    /// `Σ_j |V ∇W|²`, by which its own pressure changes its surroundings: the images of a
    /// neighbour move with it, so their gradients count together with its own.
    pub squares: &'a mut [f32],
    /// How fast moving walls fill its surroundings, in 1/s; set, not added to.
    pub closing: &'a mut [f32],
}

/// What one particle sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub neighbour: &'a [u32],
    pub own: &'a [Vec3A],
    pub other: &'a [Vec3A],
    pub lift: &'a [[f32; MOST_WALLS]],
    pub slope: &'a [f32],
    pub matched: &'a [Matched],
    /// Sum of `own`, and [`WITH`] times `beyond`.
    pub sum: Vec3A,
    /// Gradient of the volume beyond walls, in 1/m.
    pub beyond: Vec3A,
}

impl ChunkImages {
    /// The images that particle `k` of the chunk sees.
    #[inline(always)]
    pub fn of(&self, k: usize) -> Seen<'_> {
        let range = self.start[k] as usize..self.start[k + 1] as usize;
        Seen {
            neighbour: &self.neighbour[range.clone()],
            own: &self.own[range.clone()],
            other: &self.other[range.clone()],
            lift: &self.lift[range.clone()],
            slope: &self.slope[range.clone()],
            matched: &self.matched[range],
            sum: self.sum[k],
            beyond: self.beyond[k],
        }
    }

    /// The images of every particle that sees any, as ranges.
    #[inline(always)]
    fn ranges(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let ends = self.start.windows(2).enumerate();
        let ranges = ends.map(|(k, ends)| (k, ends[0] as usize..ends[1] as usize));
        // Most chunks have none.
        let some = if self.neighbour.is_empty() {
            0
        } else {
            usize::MAX
        };
        ranges.take(some).filter(|(_, range)| !range.is_empty())
    }

    /// Fetches a line of all that [`ChunkImages::add_compression`] reads.
    #[inline(always)]
    pub fn fetch_for_compression(&self, line: usize) {
        prefetch_line(&self.start, line);
        prefetch_line(&self.neighbour, line);
        prefetch_line(&self.other, line);
    }

    /// Fetches a line of all that [`ChunkImages::add_gradients`] reads.
    #[inline(always)]
    pub fn fetch_for_gradients(&self, line: usize) {
        prefetch_line(&self.start, line);
        prefetch_line(&self.neighbour, line);
        prefetch_line(&self.own, line);
    }

    /// Adds the rates at which the images of particles are compressed by their neighbours'
    /// motion; what their own does is in the gradient that the solver sums up.
    #[inline(always)]
    pub fn add_compression(&self, v: &[Vec3A], rates: &mut [f32]) {
        for (k, range) in self.ranges() {
            let mut sum = Vec3A::ZERO;
            for (&j, &other) in self.neighbour[range.clone()].iter().zip(&self.other[range]) {
                sum += other * v[j as usize];
            }
            rates[k] += sum.element_sum();
        }
    }

    /// Adds the gradients of the neighbours' pressures by the images, which have that of
    /// their particles.
    #[inline(always)]
    pub fn add_gradients(&self, p: &[f32], gradients: &mut [Vec3A]) {
        for (k, range) in self.ranges() {
            let mut sum = Vec3A::ZERO;
            for (&j, &own) in self.neighbour[range.clone()].iter().zip(&self.own[range]) {
                sum += p[j as usize] * own;
            }
            gradients[k] += sum;
        }
    }

    /// Finds the images that the particles from `first` on see.
    fn find(&mut self, first: usize, pairs: &ChunkPairs, scene: Scene<'_>, sums: Sums<'_>) {
        #[inline(always)]
        fn run<L: Lanes>(
            l: L,
            images: &mut ChunkImages,
            first: usize,
            pairs: &ChunkPairs,
            scene: Scene<'_>,
            sums: Sums<'_>,
        ) {
            images.find_with(l, first, pairs, scene, sums);
        }
        let images = self;
        dispatch!(run(
            images: &mut ChunkImages,
            first: usize,
            pairs: &ChunkPairs,
            scene: Scene<'_>,
            sums: Sums<'_>,
        ));
    }

    #[inline(always)]
    pub(super) fn find_with<L: Lanes>(
        &mut self,
        l: L,
        first: usize,
        pairs: &ChunkPairs,
        scene: Scene<'_>,
        sums: Sums<'_>,
    ) {
        self.start.clear();
        self.neighbour.clear();
        self.own.clear();
        self.other.clear();
        self.lift.clear();
        self.slope.clear();
        self.matched.clear();
        self.sum.clear();
        self.beyond.clear();
        self.start.push(0);
        let Scene {
            x,
            walls,
            nearest,
            kernel,
            ..
        } = scene;
        let h_squared = kernel.support_radius * kernel.support_radius;
        let own_walls = &walls.chunks[first / CHUNK];
        for k in 0..sums.fullness.len() {
            let i = first + k;
            let backing = own_walls.backing(k);
            let mut seen = Added {
                full: backing.share,
                work: 0.0,
                fills: WITH * backing.closing,
                sum: WITH * backing.slope,
            };
            let here = &nearest[i];
            let (blocks, slopes) = if here.walls > 0 {
                pairs.blocks_of(k)
            } else {
                Default::default()
            };
            for (b, near) in blocks.iter().enumerate() {
                let mut some = scene.may_be_seen(l, i, near, slopes.len() - b * WIDTH);
                while some != 0 {
                    let lane = some.trailing_zeros() as usize;
                    some &= some - 1;
                    let (j, direct) = (near[lane] as usize, slopes[b * WIDTH + lane]);
                    let there = &nearest[j];
                    let d = x[i] - x[j];
                    let room = h_squared - d.length_squared();
                    let mut others = Vec3A::ZERO;
                    if here.walls == 1 && there.walls == 1 {
                        let lengthening = 4.0 * here.distance * there.distance;
                        if lengthening >= room || !here.is_wall_of(there) {
                            continue;
                        }
                        others += self.add(kernel, j, d, &Corner::of_one(here, there), &mut seen);
                    } else {
                        let shared = Shared::of(walls.of(i), walls.of(j));
                        shared.for_each_corner(room, |corner| {
                            others += self.add(kernel, j, d, corner, &mut seen);
                        });
                    }
                    if j != i {
                        sums.squares[k] += others.dot(others - 2.0 * direct * d);
                    }
                }
            }
            sums.fullness[k] += seen.full;
            sums.share[k] += backing.share - seen.work / 3.0;
            sums.closing[k] = seen.fills;
            self.sum.push(seen.sum);
            self.beyond.push(backing.slope);
            self.start.push(self.neighbour.len() as u32);
        }
    }

    /// Adds the image of `j` in the walls of `c`, which is by `d` from the particle. Returns
    /// its gradient by the place of `j`.
    #[inline(always)]
    fn add(
        &mut self,
        kernel: &CubicSpline,
        j: usize,
        d: Vec3A,
        c: &Corner,
        seen: &mut Added,
    ) -> Vec3A {
        let r_squared = d.length_squared() + c.lengthening;
        let (value, slope) = kernel.volume_value_and_slope(r_squared);
        let slope = c.weight * slope;
        seen.full += c.weight * value;
        seen.work += slope * r_squared;
        seen.fills += slope * c.closing;
        let (own, other) = (slope * (d + c.own), slope * (c.other - d));
        seen.sum += own;
        self.neighbour.push(j as u32);
        self.own.push(own);
        self.other.push(other);
        self.lift.push(c.lift.map(|l| slope * l));
        self.slope.push(slope);
        self.matched.push(c.matched);
        other
    }

    fn bytes(&self) -> usize {
        4 * (self.start.capacity() + self.neighbour.capacity())
            + 16 * (self.own.capacity()
                + self.other.capacity()
                + self.sum.capacity()
                + self.beyond.capacity())
            + size_of::<[f32; MOST_WALLS]>() * self.lift.capacity()
            + 4 * self.slope.capacity()
            + size_of::<Matched>() * self.matched.capacity()
    }
}

/// What the images of one particle add up to.
struct Added {
    full: f32,
    work: f32,
    fills: f32,
    sum: Vec3A,
}

/// All particles, and the walls that they stand before.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    x: &'a [Vec3A],
    walls: &'a Walls,
    nearest: &'a [Nearest],
    /// Least distance from a wall; infinite if there is none.
    distance: &'a [f32],
    kernel: &'a CubicSpline,
}

impl Scene<'_> {
    /// Which of the first `n` of eight neighbours may have images that particle `i` sees, bit
    /// by bit: no image is nearer than by the least distances of both from walls.
    #[inline(always)]
    fn may_be_seen<L: Lanes>(&self, l: L, i: usize, near: &[u32; WIDTH], n: usize) -> u32 {
        let h = self.kernel.support_radius;
        // SAFETY: neighbours are numbers of particles.
        let [x, y, z] = unsafe { l.gather_vectors(self.x, near) };
        let (dx, dy) = (
            l.sub(l.splat(self.x[i].x), x),
            l.sub(l.splat(self.x[i].y), y),
        );
        let dz = l.sub(l.splat(self.x[i].z), z);
        let squared = l.add(l.add(l.mul(dx, dx), l.mul(dy, dy)), l.mul(dz, dz));
        let there = l.numbers(&near.map(|j| self.distance[j as usize]));
        let longer = l.mul(l.splat(4.0 * self.distance[i]), there);
        // Not a number where one is at the wall and the other has none.
        let seen = l.less(l.add(squared, longer), l.splat(h * h));
        l.bits(l.and(seen, l.first(n)))
    }
}

/// All images.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images {
    pub chunks: Vec<ChunkImages>,
    nearest: Vec<Nearest>,
    distance: Vec<f32>,
}

impl Images {
    /// Finds all images and what they add to each particle's surroundings.
    pub fn find(
        &mut self,
        x: &[Vec3A],
        pairs: &Pairs,
        walls: &Walls,
        kernel: &CubicSpline,
        Sums {
            fullness,
            share,
            squares,
            closing,
        }: Sums<'_>,
    ) {
        self.chunks
            .resize_with(pairs.chunks.len(), ChunkImages::default);
        self.nearest.resize(x.len(), Nearest::default());
        self.distance.resize(x.len(), 0.0);
        (
            self.nearest.par_chunks_mut(CHUNK),
            self.distance.par_chunks_mut(CHUNK),
            &walls.chunks,
        )
            .into_par_iter()
            .spread(|(nearest, distance, walls)| {
                for (k, (nearest, distance)) in nearest.iter_mut().zip(distance).enumerate() {
                    let walls = walls.of(k);
                    *nearest = Nearest::of(walls);
                    let mirrors = walls.iter().filter(|m| !m.backed);
                    *distance = mirrors.fold(f32::INFINITY, |d, m| d.min(m.wall.distance.max(0.0)));
                }
            });
        let Images {
            chunks,
            nearest,
            distance,
        } = self;
        let scene = Scene {
            x,
            walls,
            nearest,
            distance,
            kernel,
        };
        (
            chunks,
            &pairs.chunks,
            fullness.par_chunks_mut(CHUNK),
            share.par_chunks_mut(CHUNK),
            squares.par_chunks_mut(CHUNK),
            closing.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .spread(|(c, (images, pairs, fullness, share, squares, closing))| {
                let sums = Sums {
                    fullness,
                    share,
                    squares,
                    closing,
                };
                images.find(c * CHUNK, pairs, scene, sums);
            });
    }

    /// What [`Images::find`] has last looked at.
    #[cfg(test)]
    pub(super) fn scene<'a>(
        &'a self,
        x: &'a [Vec3A],
        walls: &'a Walls,
        kernel: &'a CubicSpline,
    ) -> Scene<'a> {
        let (nearest, distance) = (&self.nearest, &self.distance);
        Scene {
            x,
            walls,
            nearest,
            distance,
            kernel,
        }
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let chunks = self.chunks.iter().map(ChunkImages::bytes);
        chunks.sum::<usize>()
            + size_of::<Nearest>() * self.nearest.capacity()
            + 4 * self.distance.capacity()
    }
}
