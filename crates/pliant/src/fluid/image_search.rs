//! The search for images among the pairs of particles, eight neighbours at a time.
//!
//! Lanes first find which neighbours are near enough to walls, and pack them: often these are
//! few. Then they find the walls that the particle shares with each of these, and compute the
//! images in every wall, edge and corner.

use std::ops::Range;

use glam::Vec3A;

use super::CHUNK;
use super::corner::{Faces, Matched};
use super::cubic::CubicSpline;
use super::images::{ChunkImages, EightImages, Sums, WITH};
use super::pairs::{Blocks, ChunkPairs};
use super::walls::{MOST_WALLS, Walls};
use crate::simd::vectors::{Three, add, dot, scale, splat, sub, sum};
use crate::simd::{Lanes, WIDTH};

/// All particles, and the walls that they stand before.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub walls: &'a Walls,
    pub faces: &'a Faces,
    pub kernel: &'a CubicSpline,
}

/// What the images of one particle add up to, in lanes.
struct Added<L: Lanes> {
    full: L::F,
    work: L::F,
    fills: L::F,
    squares: L::F,
    sum: Three<L::F>,
}

/// Neighbours that may have images, and the slopes of their pairs. All particles of a chunk are
/// tested before images are computed: the processor would have to wait for numbers that it has
/// just packed.
#[derive(Default)]
struct Candidates {
    near: Vec<u32>,
    slope: Vec<f32>,
    /// Where the lists of particles end.
    end: Vec<usize>,
}

impl Candidates {
    /// Finds those of all particles of a chunk.
    #[inline(always)]
    fn find<L: Lanes>(l: L, first: usize, scene: Scene<'_>, pairs: &ChunkPairs) -> Candidates {
        let mut found = Candidates::default();
        let mut end = 0;
        for k in 0..pairs.len() {
            let i = first + k;
            if !scene.faces.of(i).is_empty() {
                let n = pairs.of(k).0.len();
                let room = end + n + 2 * WIDTH;
                if found.near.len() < room {
                    found.near.resize(2 * room, i as u32);
                    found.slope.resize(2 * room, 0.0);
                }
                end = found.add(l, i, scene, (pairs.slope_blocks_of(k), n), end);
            }
            found.end.push(end);
        }
        // What is read beyond the last one must be a particle, too.
        if let Some(rest) = found.near.get_mut(end..end + WIDTH) {
            rest.fill(first as u32);
        }
        found
    }

    /// Adds those of particle `i` among its first `n` pairs, from `end` on: no image is nearer
    /// than by the least distances of both from walls. There is room for all.
    #[inline(always)]
    fn add<L: Lanes>(
        &mut self,
        l: L,
        i: usize,
        Scene { faces, kernel, .. }: Scene<'_>,
        (pairs, n): (Blocks<'_>, usize),
        mut end: usize,
    ) -> usize {
        let (h, zero) = (kernel.support_radius, l.splat(0.0));
        let h_squared = l.splat(h * h);
        let [x, y, z, distance] = faces.place(i);
        let here = splat(l, [x, y, z]);
        let four = l.splat(4.0 * distance.max(0.0));
        for (b, (near, slope)) in pairs.enumerate() {
            // SAFETY: neighbours are numbers of particles.
            let [x, y, z, distance] = unsafe { faces.places(l, near) };
            let d = sub(l, here, [x, y, z]);
            let longer = l.mul(four, l.max(distance, zero));
            // Not a number where one is at the wall and the other has none.
            let seen = l.less(l.add(dot(l, d, d), longer), h_squared);
            let seen = l.and(seen, l.first(n - b * WIDTH));
            let (slopes, to) = (l.numbers(slope), (&mut self.slope, &mut self.near));
            // SAFETY: there is room for all pairs and eight more.
            end += unsafe { l.pack_numbered(slopes, seen, near, to.0, to.1, end) };
        }
        end
    }
}

impl ChunkImages {
    /// Finds the images that the particles from `first` on see.
    #[inline(always)]
    pub(super) fn find_with<L: Lanes>(
        &mut self,
        l: L,
        first: usize,
        pairs: &ChunkPairs,
        scene: Scene<'_>,
        sums: Sums<'_>,
    ) {
        let own_walls = &scene.walls.chunks[first / CHUNK];
        sums.closing.fill(0.0);
        self.begin(sums.closing.len());
        if own_walls.is_open() {
            return;
        }
        let found = Candidates::find(l, first, scene, pairs);
        let mut begin = 0;
        for (k, &end) in found.end.iter().enumerate() {
            let i = first + k;
            let backing = own_walls.backing(k);
            if backing.share > 0.0 {
                sums.fullness[k] += backing.share;
                sums.share[k] += backing.share;
                sums.closing[k] += WITH * backing.closing;
                self.see_beyond(k, backing.slope);
            }
            let mut gradient = Vec3A::ZERO;
            if begin < end {
                // One image per set of walls.
                let sets = (1 << scene.faces.of(i).len()) - 1;
                self.make_room(sets * (end - begin) + WIDTH);
                let zero = l.splat(0.0);
                let mut added = Added::<L> {
                    full: zero,
                    work: zero,
                    fills: zero,
                    squares: zero,
                    sum: [zero; 3],
                };
                while begin < end {
                    self.add_eight(l, scene, i, (&found, begin..end), &mut added);
                    begin += WIDTH;
                }
                begin = end;
                sums.fullness[k] += l.sum(added.full);
                sums.share[k] -= l.sum(added.work) / 3.0;
                sums.squares[k] += l.sum(added.squares);
                sums.closing[k] += l.sum(added.fills);
                gradient = sum(l, added.sum);
            }
            self.end_list(k, gradient);
        }
    }

    /// Adds the images of the first eight of some candidates that particle `i` sees.
    #[inline(always)]
    fn add_eight<L: Lanes>(
        &mut self,
        l: L,
        Scene { faces, kernel, .. }: Scene<'_>,
        i: usize,
        (found, candidates): (&Candidates, Range<usize>),
        added: &mut Added<L>,
    ) {
        // SAFETY: candidates are particles, and so are eight after the last.
        let (near, direct, there) = unsafe {
            let b = candidates.start;
            let near = &*found.near.as_ptr().add(b).cast::<[u32; WIDTH]>();
            (near, l.load(&found.slope, b), faces.places(l, near))
        };
        let own = faces.of(i);
        // SAFETY: the same.
        let shared = unsafe { faces.shared(l, own, near) };
        let [x, y, z, _] = faces.place(i);
        let d = sub(l, splat(l, [x, y, z]), [there[0], there[1], there[2]]);
        let squared = dot(l, d, d);
        let (zero, two) = (l.splat(0.0), l.splat(2.0));
        let h_squared = l.splat(kernel.support_radius * kernel.support_radius);
        let mut others = [zero; 3];
        for set in 1..1usize << own.len() {
            let mut seen = l.first(candidates.len());
            let (mut r_squared, mut weight, mut closing) = (squared, l.splat(1.0), zero);
            let (mut to_image, mut from_image) = (d, sub(l, [zero; 3], d));
            let mut matched = zero;
            let chosen = own.iter().zip(&shared).enumerate();
            for (_, (face, other)) in chosen.clone().filter(|(a, _)| set >> a & 1 == 1) {
                let wall = &other.wall;
                let (twice, twice_far) = (2.0 * face.distance(), l.mul(two, wall.distance));
                let twice = l.splat(twice);
                seen = l.and(seen, other.same);
                r_squared = l.add(r_squared, l.mul(twice, twice_far));
                weight = l.mul(weight, l.mul(l.splat(face.weight), wall.weight));
                to_image = add(l, to_image, scale(l, splat(l, face.normal()), twice_far));
                from_image = add(l, from_image, scale(l, wall.normal, twice));
                let closes = l.add(
                    l.mul(twice_far, l.splat(face.speed)),
                    l.mul(twice, wall.speed),
                );
                closing = l.add(closing, closes);
                matched = l.add(matched, Matched::bits(l, face.place(), wall));
            }
            let seen = l.and(seen, l.less(r_squared, h_squared));
            if !l.any(seen) {
                continue;
            }
            let (value, slope) = kernel.volume_values_and_slopes(l, r_squared);
            let weight = l.keep(weight, seen);
            let slope = l.mul(weight, slope);
            let (gradient, other) = (scale(l, to_image, slope), scale(l, from_image, slope));
            added.full = l.add(added.full, l.mul(weight, value));
            added.work = l.add(added.work, l.mul(slope, r_squared));
            added.fills = l.sub(added.fills, l.mul(slope, closing));
            added.sum = add(l, added.sum, gradient);
            others = add(l, others, other);
            let mut lift = [[0.0; MOST_WALLS]; WIDTH];
            for (_, (face, other)) in chosen.filter(|(a, _)| set >> a & 1 == 1) {
                let along = l.to_array(l.mul(slope, l.mul(two, other.wall.distance)));
                for (lift, along) in lift.iter_mut().zip(along) {
                    lift[face.place()] = along;
                }
            }
            let images = EightImages {
                neighbour: *near,
                own: l.to_vectors(gradient),
                other: l.to_vectors(other),
                lift,
                slope: l.to_array(slope),
                matched: Matched::of_lanes(l, matched),
            };
            self.push_eight(&images, l.bits(seen));
        }
        // The particle itself is no neighbour.
        let mut pairs = [1.0; WIDTH];
        for (pair, &j) in pairs.iter_mut().zip(near) {
            if j as usize == i {
                *pair = 0.0;
            }
        }
        let both = sub(l, others, scale(l, d, l.mul(two, direct)));
        let squares = l.mul(dot(l, others, both), l.numbers(&pairs));
        added.squares = l.add(added.squares, squares);
    }
}
