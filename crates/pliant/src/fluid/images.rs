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

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::cubic::CubicSpline;
use super::pairs::{ChunkPairs, Pairs};
use super::walls::{MOST_WALLS, Mirror, Walls};

/// Cosine between the normals that two particles see, below which they do not stand
/// before the same wall.
const SAME_WALL: f32 = 0.5;

/// The image of a neighbour, or of the particle itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Image {
    /// Gradient of the image's kernel by the particle's place, in 1/m.
    pub own: Vec3A,
    /// The same by the neighbour's place.
    pub other: Vec3A,
    pub neighbour: u32,
    /// How much of `own` is along the normals of the particle's walls, in 1/m.
    pub lift: [f32; MOST_WALLS],
}

/// The images that one chunk of particles sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkImages {
    /// Images of particle k are at `start[k]..start[k + 1]`.
    start: Vec<u32>,
    images: Vec<Image>,
}

impl ChunkImages {
    /// The images that particle `k` of the chunk sees.
    #[inline(always)]
    pub fn of(&self, k: usize) -> &[Image] {
        &self.images[self.start[k] as usize..self.start[k + 1] as usize]
    }

    fn find(
        &mut self,
        first: usize,
        x: &[Vec3A],
        pairs: &ChunkPairs,
        walls: &Walls,
        kernel: &CubicSpline,
        (fullness, closing): (&mut [f32], &mut [f32]),
    ) {
        self.start.clear();
        self.images.clear();
        self.start.push(0);
        for k in 0..fullness.len() {
            closing[k] = 0.0;
            for_each_image(
                kernel,
                x,
                first + k,
                pairs.of(k).0,
                walls,
                |j, d, slope, c| {
                    fullness[k] +=
                        c.weight * kernel.volume_value(d.length_squared() + c.lengthening);
                    closing[k] += slope * c.closing;
                    self.images.push(Image {
                        own: slope * (d + c.own),
                        other: slope * (c.other - d),
                        neighbour: j,
                        lift: c.lift.map(|l| slope * l),
                    });
                },
            );
            self.start.push(self.images.len() as u32);
        }
    }
}

/// Visits the images that particle `i` sees: neighbour, vector from it, slope of the
/// image's kernel, and walls.
#[inline(always)]
fn for_each_image(
    kernel: &CubicSpline,
    x: &[Vec3A],
    i: usize,
    near: &[u32],
    walls: &Walls,
    mut visit: impl FnMut(u32, Vec3A, f32, &Corner),
) {
    let own_walls = walls.of(i);
    if own_walls.is_empty() {
        return;
    }
    let h_squared = kernel.support_radius * kernel.support_radius;
    for &j in near {
        let other_walls = walls.of(j as usize);
        let d = x[i] - x[j as usize];
        let room = h_squared - d.length_squared();
        let shared = Shared::of(own_walls, other_walls);
        shared.for_each_corner(room, |c| {
            let slope = c.weight * kernel.volume_slope(d.length_squared() + c.lengthening);
            visit(j, d, slope, c);
        });
    }
}

/// All images.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images {
    pub chunks: Vec<ChunkImages>,
}

impl Images {
    /// Finds all images, adds them to how full the surroundings are, and computes how
    /// fast moving walls close in on each particle's kernel.
    pub fn find(
        &mut self,
        x: &[Vec3A],
        pairs: &Pairs,
        walls: &Walls,
        kernel: &CubicSpline,
        fullness: &mut [f32],
        closing: &mut [f32],
    ) {
        self.chunks
            .resize_with(pairs.chunks.len(), ChunkImages::default);
        (
            &mut self.chunks,
            &pairs.chunks,
            fullness.par_chunks_mut(CHUNK),
            closing.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .for_each(|(c, (images, pairs, fullness, closing))| {
                let sums = (fullness, closing);
                images.find(c * CHUNK, x, pairs, walls, kernel, sums);
            });
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let chunks = self.chunks.iter();
        chunks
            .map(|c| 4 * c.start.capacity() + size_of::<Image>() * c.images.capacity())
            .sum()
    }
}

/// What one or several walls do to the image of one particle seen from another.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    /// `4 Σ d_i d_j`.
    lengthening: f32,
    /// `2 Σ d_j n_i` and `2 Σ d_i n_j`.
    own: Vec3A,
    other: Vec3A,
    /// `-2 Σ (d_j n_i · u_i + d_i n_j · u_j)`, u the velocity of the wall.
    closing: f32,
    /// `2 d_j`, for each of the particle's own walls.
    lift: [f32; MOST_WALLS],
    weight: f32,
}

/// The walls that two particles both stand before: each one's view of it.
struct Shared<'a> {
    own: &'a [Mirror],
    other: &'a [Mirror],
    /// Index among the own walls and among the other's.
    pairs: [(usize, usize); MOST_WALLS],
    count: usize,
}

impl<'a> Shared<'a> {
    #[inline(always)]
    fn of(own: &'a [Mirror], other: &'a [Mirror]) -> Shared<'a> {
        let mut shared = Shared {
            own,
            other,
            pairs: [(0, 0); MOST_WALLS],
            count: 0,
        };
        for (k, a) in own.iter().enumerate() {
            let same = |b: &Mirror| {
                b.obstacle == a.obstacle && b.wall.normal.dot(a.wall.normal) > SAME_WALL
            };
            if let Some(l) = other.iter().position(same) {
                shared.pairs[shared.count] = (k, l);
                shared.count += 1;
            }
        }
        shared
    }

    /// Every wall, every edge of two and the corner of three that lengthen the squared
    /// distance by less than `room`.
    #[inline(always)]
    fn for_each_corner(&self, room: f32, mut visit: impl FnMut(&Corner)) {
        for set in 1usize..1 << self.count {
            let chosen = (0..self.count).filter(|k| set >> k & 1 == 1);
            let walls = chosen.map(|k| self.pairs[k]);
            let distances = walls
                .clone()
                .map(|(k, l)| 4.0 * self.own[k].wall.distance * self.other[l].wall.distance);
            let lengthening: f32 = distances.sum();
            if lengthening >= room {
                continue;
            }
            let mut corner = Corner {
                lengthening,
                weight: 1.0,
                ..Corner::default()
            };
            for (k, l) in walls {
                let (a, b) = (&self.own[k].wall, &self.other[l].wall);
                corner.own += 2.0 * b.distance * Vec3A::from(a.normal);
                corner.other += 2.0 * a.distance * Vec3A::from(b.normal);
                corner.closing -= 2.0
                    * (b.distance * a.normal.dot(a.velocity)
                        + a.distance * b.normal.dot(b.velocity));
                corner.lift[k] = 2.0 * b.distance;
                corner.weight *= (a.drag * b.drag).sqrt();
            }
            visit(&corner);
        }
    }
}
