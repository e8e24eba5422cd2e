//! Which walls particles stand before, and which of them a particle and each of its neighbours
//! both stand before.

use glam::{Vec3A, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::walls::{MOST_WALLS, Mirror, Walls};
use crate::crew::Spread;
use crate::simd::vectors::{Three, dot, pick, splat};
use crate::simd::{Lanes, WIDTH};

/// Cosine between the normals that two particles see, below which they do not stand
/// before the same wall.
pub(super) const SAME_WALL: f32 = 0.5;

/// A wall with images, as its particle sees it. Two rows of four numbers, that lanes gather.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Face {
    /// Its normal, and the particle's distance.
    facing: Vec4,
    /// Velocity of the wall along the normal.
    pub speed: f32,
    /// Square root of how much of a wall it is.
    pub weight: f32,
    obstacle: f32,
    /// Which of the particle's walls it is, from 1 on.
    number: f32,
}

const _: () = assert!(size_of::<Face>() == 2 * size_of::<[f32; 4]>());

impl Face {
    /// No wall: that of no obstacle.
    const NONE: Face = Face {
        facing: Vec4::ZERO,
        speed: 0.0,
        weight: 0.0,
        obstacle: -1.0,
        number: 0.0,
    };

    fn of(number: usize, m: &Mirror) -> Face {
        let wall = &m.wall;
        Face {
            facing: wall.normal.extend(wall.distance),
            speed: wall.normal.dot(wall.velocity),
            weight: wall.drag.sqrt(),
            obstacle: m.obstacle as f32,
            number: 1.0 + number as f32,
        }
    }

    #[inline(always)]
    pub fn normal(&self) -> Vec3A {
        Vec3A::from_vec4(self.facing)
    }

    #[inline(always)]
    pub fn distance(&self) -> f32 {
        self.facing.w
    }

    /// Its place among the walls of its particle.
    #[inline(always)]
    pub fn place(&self) -> usize {
        self.number as usize - 1
    }
}

/// Where all particles are, and the walls that they see images in, as lanes gather them.
#[derive(Clone, Debug, Default)]
pub(super) struct Faces {
    /// Places, and least distances from walls; infinite if there is none.
    places: Vec<[f32; 4]>,
    /// The first face of every particle times four, and how many it has; 0 if it has none.
    of: Vec<u32>,
    /// The first one is none.
    list: Vec<Face>,
}

const _: () = assert!(MOST_WALLS <= 3);

impl Faces {
    /// Finds those of the particles at `x`.
    pub fn find(&mut self, x: &[Vec3A], walls: &Walls) {
        self.places.resize(x.len(), [0.0; 4]);
        self.of.resize(x.len(), 0);
        let mirrors: usize = walls.chunks.iter().map(|c| c.mirrors()).sum();
        self.list.resize(1 + mirrors, Face::NONE);
        self.list[0] = Face::NONE;
        let (mut first, mut rest) = (1, &mut self.list[1..]);
        let parts = walls.chunks.iter().map(|walls| {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(walls.mirrors());
            rest = others;
            first += own.len();
            (walls, first - own.len(), own)
        });
        let parts: Vec<_> = parts.collect();
        (
            parts,
            self.places.par_chunks_mut(CHUNK),
            self.of.par_chunks_mut(CHUNK),
            x.par_chunks(CHUNK),
        )
            .into_par_iter()
            .spread(|((walls, mut first, list), places, of, x)| {
                let mut list = list.iter_mut();
                for (k, (place, of)) in places.iter_mut().zip(of).enumerate() {
                    let (mut distance, mut count) = (f32::INFINITY, 0);
                    let mirrors = walls.of(k).iter().enumerate();
                    let mirrors = mirrors.filter(|(_, m)| !m.backed);
                    for ((number, mirror), face) in mirrors.zip(&mut list) {
                        *face = Face::of(number, mirror);
                        distance = distance.min(mirror.wall.distance);
                        count += 1;
                    }
                    *place = Vec4::from((x[k], distance)).to_array();
                    *of = if count > 0 { 4 * first + count } else { 0 } as u32;
                    first += count;
                }
            });
    }

    /// Place of a particle, and its least distance from walls.
    #[inline(always)]
    pub fn place(&self, i: usize) -> [f32; 4] {
        self.places[i]
    }

    /// The same of eight.
    ///
    /// # Safety
    /// All `near` are particles.
    #[inline(always)]
    pub unsafe fn places<L: Lanes>(&self, l: L, near: &[u32; WIDTH]) -> [L::F; 4] {
        // SAFETY: the caller's promise.
        unsafe { l.gather(&self.places, near) }
    }

    /// The walls of particle `i`.
    #[inline(always)]
    pub fn of(&self, i: usize) -> &[Face] {
        let (first, count) = (self.of[i] as usize / 4, self.of[i] as usize % 4);
        &self.list[first..first + count]
    }

    /// The walls that a particle, before the walls `own`, and each of eight, `near`, both stand
    /// before: for each of its own walls that of the others which is most likely the same, and
    /// how many of these can be at all.
    ///
    /// # Safety
    /// All `near` are particles.
    #[inline(always)]
    pub unsafe fn shared<L: Lanes>(
        &self,
        l: L,
        own: &[Face],
        near: &[u32; WIDTH],
    ) -> [Shared<L>; MOST_WALLS] {
        let (zero, half, least) = (l.splat(0.0), l.splat(0.5), l.splat(SAME_WALL));
        let of = pick(&self.of, near);
        let mut most = 0;
        for of in of {
            most = most.max(of as usize % 4);
        }
        let none = Eight::<L> {
            normal: [zero; 3],
            distance: zero,
            speed: zero,
            weight: zero,
            obstacle: zero,
            number: zero,
        };
        let mut others = [none; MOST_WALLS];
        let mut alike = [[zero; MOST_WALLS]; MOST_WALLS];
        // Which of the own walls that of another is likest to.
        let mut back = [zero; MOST_WALLS];
        for b in 0..most.min(MOST_WALLS) {
            let place = b as u32;
            let mut at = [0; WIDTH];
            for (at, of) in at.iter_mut().zip(of) {
                if place < of % 4 {
                    *at = of / 4 + place;
                }
            }
            // SAFETY: all faces are in the list.
            others[b] = unsafe { self.gather(l, &at) };
            let (mut best, mut likest) = (least, zero);
            for (a, face) in own.iter().enumerate().take(MOST_WALLS) {
                let off = l.sub(others[b].obstacle, l.splat(face.obstacle));
                let same = l.less(l.mul(off, off), half);
                let normal = splat(l, face.normal());
                alike[a][b] = l.keep(dot(l, others[b].normal, normal), same);
                let better = l.less(best, alike[a][b]);
                best = l.select(alike[a][b], best, better);
                likest = l.select(l.splat(a as f32), likest, better);
            }
            back[b] = likest;
        }
        let mut shared = [Shared {
            wall: none,
            same: l.first(0),
        }; MOST_WALLS];
        for (a, shared) in shared.iter_mut().enumerate().take(own.len()) {
            let (mut best, mut wall, mut mine) = (alike[a][0], others[0], back[0]);
            for b in 1..most.min(MOST_WALLS) {
                let better = l.less(best, alike[a][b]);
                best = l.select(alike[a][b], best, better);
                mine = l.select(back[b], mine, better);
                wall = wall.select(l, &others[b], better);
            }
            // Each must be the other's best match: of two faces that one particle sees, its
            // neighbour may see one, and both must find the same images.
            let off = l.sub(mine, l.splat(a as f32));
            let mutual = l.less(l.mul(off, off), half);
            let same = l.and(l.less(least, best), mutual);
            *shared = Shared { wall, same };
        }
        shared
    }

    /// # Safety
    /// All of `at` are in the list.
    #[inline(always)]
    unsafe fn gather<L: Lanes>(&self, l: L, at: &[u32; WIDTH]) -> Eight<L> {
        // SAFETY: a face is eight numbers without a gap; all are there by the caller's promise.
        unsafe {
            let rows = std::slice::from_raw_parts(self.list.as_ptr().cast(), 2 * self.list.len());
            let [x, y, z, distance] = l.gather(rows, &at.map(|f| 2 * f));
            let [speed, weight, obstacle, number] = l.gather(rows, &at.map(|f| 2 * f + 1));
            Eight {
                normal: [x, y, z],
                distance,
                speed,
                weight,
                obstacle,
                number,
            }
        }
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        16 * self.places.capacity()
            + 4 * self.of.capacity()
            + size_of::<Face>() * self.list.capacity()
    }
}

/// The faces of eight particles.
#[derive(Clone, Copy)]
pub(super) struct Eight<L: Lanes> {
    pub normal: Three<L::F>,
    pub distance: L::F,
    pub speed: L::F,
    pub weight: L::F,
    obstacle: L::F,
    pub number: L::F,
}

impl<L: Lanes> Eight<L> {
    /// `other` where `m`.
    #[inline(always)]
    fn select(&self, l: L, other: &Eight<L>, m: L::M) -> Eight<L> {
        let [x, y, z] = self.normal;
        let [u, v, w] = other.normal;
        Eight {
            normal: [l.select(u, x, m), l.select(v, y, m), l.select(w, z, m)],
            distance: l.select(other.distance, self.distance, m),
            speed: l.select(other.speed, self.speed, m),
            weight: l.select(other.weight, self.weight, m),
            obstacle: l.select(other.obstacle, self.obstacle, m),
            number: l.select(other.number, self.number, m),
        }
    }
}

/// What eight neighbours see of one of the walls of a particle.
#[derive(Clone, Copy)]
pub(super) struct Shared<L: Lanes> {
    pub wall: Eight<L>,
    /// Which of them do see it.
    pub same: L::M,
}

/// The walls that an image is mirrored at: for each of the particle's own walls, the number
/// of the same one among those of the neighbour, and one more, in two bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Matched(u8);

impl Matched {
    /// Of eight images, with the same bits as whole numbers in lanes.
    #[inline(always)]
    pub fn of_lanes<L: Lanes>(l: L, bits: L::F) -> [Matched; WIDTH] {
        // Whole numbers are the last bits of numbers that are large enough.
        let large = l.add(bits, l.splat((1 << 23) as f32));
        l.to_array(large).map(|bits| Matched(bits.to_bits() as u8))
    }

    /// What the face `other` of a neighbour adds to the bits, if it is the particle's wall
    /// number `own`.
    #[inline(always)]
    pub fn bits<L: Lanes>(l: L, own: usize, other: &Eight<L>) -> L::F {
        l.mul(other.number, l.splat((1 << (2 * own)) as f32))
    }

    /// Numbers of the walls among those of the particle and of the neighbour.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = (usize, usize)> + use<> {
        (0..MOST_WALLS).filter_map(move |own| {
            let other = usize::from(self.0 >> (2 * own) & 3);
            Some((own, other.checked_sub(1)?))
        })
    }
}
