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
use super::corner::{Faces, Matched};
use super::cubic::CubicSpline;
use super::image_search::Scene;
use super::pairs::{ChunkPairs, Pairs};
use super::walls::{MOST_WALLS, Walls};
use crate::crew::Spread;
use crate::simd::{Lanes, WIDTH, dispatch, prefetch_line};

/// Room that the lists get when they become too short.
const SPARE: usize = 256;

/// How much the volume beyond a wall counts in the pressure equations. With 1 it would be
/// matter that stays where it is; 2 means that it goes along with the particle as its
/// image does, so that a uniform pressure pushes nothing.
pub(super) const WITH: f32 = 2.0;

/// The images that one chunk of particles sees: of its neighbours, and of the
/// particles themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkImages {
    /// Images of particle k are at `start[k]..start[k + 1]`. The lists are longer than the
    /// last of these: what follows means nothing.
    start: Vec<u32>,
    /// How many images there are so far.
    count: usize,
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

/// Images of eight neighbours.
pub(super) struct EightImages {
    pub neighbour: [u32; WIDTH],
    pub own: [Vec3A; WIDTH],
    pub other: [Vec3A; WIDTH],
    pub lift: [[f32; MOST_WALLS]; WIDTH],
    pub slope: [f32; WIDTH],
    pub matched: [Matched; WIDTH],
}

/// What one particle sees.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        let some = if self.count == 0 { 0 } else { usize::MAX };
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

    /// Forgets all: none of `n` particles sees anything.
    #[inline(always)]
    pub(super) fn begin(&mut self, n: usize) {
        self.count = 0;
        self.start.clear();
        self.start.resize(1 + n, 0);
        self.sum.clear();
        self.sum.resize(n, Vec3A::ZERO);
        self.beyond.clear();
        self.beyond.resize(n, Vec3A::ZERO);
    }

    /// Makes room for `more` images.
    #[inline(always)]
    pub(super) fn make_room(&mut self, more: usize) {
        if self.neighbour.len() < self.count + more {
            self.grow(self.count + more + SPARE);
        }
    }

    /// Makes the lists longer, without the doubling that would leave half of them unused.
    #[cold]
    fn grow(&mut self, len: usize) {
        fn grow<T: Copy + Default>(list: &mut Vec<T>, len: usize) {
            list.reserve_exact(len - list.len());
            list.resize(len, T::default());
        }
        grow(&mut self.neighbour, len);
        grow(&mut self.own, len);
        grow(&mut self.other, len);
        grow(&mut self.lift, len);
        grow(&mut self.slope, len);
        grow(&mut self.matched, len);
    }

    /// Notes those of eight images whose bits are set in `seen`. There is room for all.
    #[inline(always)]
    pub(super) fn push_eight(&mut self, images: &EightImages, seen: u32) {
        let all = self.count..self.count + WIDTH;
        self.neighbour[all.clone()].copy_from_slice(&images.neighbour);
        self.own[all.clone()].copy_from_slice(&images.own);
        self.other[all.clone()].copy_from_slice(&images.other);
        self.lift[all.clone()].copy_from_slice(&images.lift);
        self.slope[all.clone()].copy_from_slice(&images.slope);
        self.matched[all].copy_from_slice(&images.matched);
        // Mostly the first ones are all seen, and nothing follows.
        if seen & (seen + 1) != 0 {
            self.close_gaps(seen);
        }
        self.count += seen.count_ones() as usize;
    }

    /// Moves those of the eight images after the last whose bits are set to the front.
    #[inline(never)]
    fn close_gaps(&mut self, mut seen: u32) {
        let mut to = self.count;
        while seen != 0 {
            let from = self.count + seen.trailing_zeros() as usize;
            seen &= seen - 1;
            self.neighbour[to] = self.neighbour[from];
            self.own[to] = self.own[from];
            self.other[to] = self.other[from];
            self.lift[to] = self.lift[from];
            self.slope[to] = self.slope[from];
            self.matched[to] = self.matched[from];
            to += 1;
        }
    }

    /// Ends the list of particle `k`, whose gradients add up to `sum`.
    #[inline(always)]
    pub(super) fn end_list(&mut self, k: usize, sum: Vec3A) {
        self.sum[k] += sum;
        self.start[1 + k] = self.count as u32;
    }

    /// Notes the gradient of the volume beyond the walls of particle `k`.
    #[inline(always)]
    pub(super) fn see_beyond(&mut self, k: usize, gradient: Vec3A) {
        self.sum[k] = WITH * gradient;
        self.beyond[k] = gradient;
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

/// All images.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images {
    pub chunks: Vec<ChunkImages>,
    faces: Faces,
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
        self.faces.find(x, walls);
        let Images { chunks, faces } = self;
        let scene = Scene {
            walls,
            faces,
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
    pub(super) fn scene<'a>(&'a self, walls: &'a Walls, kernel: &'a CubicSpline) -> Scene<'a> {
        let faces = &self.faces;
        Scene {
            walls,
            faces,
            kernel,
        }
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let chunks = self.chunks.iter().map(ChunkImages::bytes);
        chunks.sum::<usize>() + self.faces.bytes()
    }
}
