//! Springs as eight points side by side read them, and the loops over them.
//!
//! Points are taken in groups of eight, one to a lane. Link `k` of all points of a group
//! lies in one block, so that a walk over the blocks reads memory in order; what is not
//! there is a spring without stiffness from the point to itself. Every point finds its
//! springs by itself: both ends find the same numbers, and nothing is scattered.
//!
//! The links along edges come first and in the order in which they lie around the point.
//! Two that follow each other span a triangle, so that the same walk finds the gradient
//! of the enclosed volume.

use glam::Vec3A;
use rayon::prelude::*;

use super::topology::{Link, Topology};
use crate::simd::{Lanes, WIDTH, dispatch};

/// Groups per task.
const TASK: usize = 64;
/// Springs that are shorter than this, in metres, have no direction.
const SHORTEST: f32 = 1e-18;

/// One number of every point of a group.
pub(super) type Eight = [f32; WIDTH];

/// The links of all points.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    points: usize,
    groups: Vec<Group>,
    blocks: Vec<Block>,
}

/// Where the blocks of a group are.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    /// End of the blocks along edges.
    edges: u32,
    end: u32,
    /// 1 where the last link around the point and the first span a triangle, too.
    closed: Eight,
}

/// One link of each point of a group.
#[derive(Clone, Copy, Debug)]
struct Block {
    other: [u32; WIDTH],
    rest: Eight,
    stiffness: Eight,
}

/// A block of springs as they are now: their ways in metres, the stiffness along them over
/// the square of their length, and that across.
pub(super) type Grip = [Eight; 5];

/// Sum over the springs of each point of their stiffness: xx, xy, xz, yy, yz, zz.
pub(super) type Stiff = [Eight; 6];

/// How springs pull.
#[derive(Clone, Copy)]
pub(super) struct Pulling {
    /// Seconds of damping.
    pub damping: f32,
    /// Damping acts along the spring only, so that turning is free.
    pub along_only: bool,
}

/// What the springs do at the present places.
#[derive(Clone, Debug, Default)]
pub(super) struct Tension {
    /// Force of the springs on each point in N, without α.
    pub pull: Vec<Vec3A>,
    grips: Vec<Grip>,
    stiff: Vec<Stiff>,
    /// Inverse of what each point resists with.
    inverse: Vec<Stiff>,
}

/// The part of all groups that one task works on.
struct Part<'a> {
    /// Number of its first group.
    first: usize,
    grips: &'a mut [Grip],
    stiff: &'a mut [Stiff],
    pull: &'a mut [Vec3A],
    gradient: &'a mut [Vec3A],
}

impl Rows {
    /// The links of a surface.
    pub fn new(topology: &Topology) -> Rows {
        let n = topology.mass.len();
        let mut rows = Rows {
            points: n,
            ..Rows::default()
        };
        for first in (0..n).step_by(WIDTH) {
            let points = first..(first + WIDTH).min(n);
            let lists: Vec<Around> = points.map(|i| Around::of(topology, i)).collect();
            let longest = |of: fn(&Around) -> usize| lists.iter().map(of).max().unwrap_or(0);
            let (edges, others) = (longest(|a| a.edges.len()), longest(|a| a.others.len()));
            let start = rows.blocks.len();
            for k in 0..edges + others {
                let mut block = Block {
                    other: std::array::from_fn(|l| (first + l).min(n - 1) as u32),
                    rest: [0.0; WIDTH],
                    stiffness: [0.0; WIDTH],
                };
                for (l, around) in lists.iter().enumerate() {
                    let Some(step) = around.step(k, edges) else {
                        continue;
                    };
                    block.other[l] = step.other;
                    if let Some(s) = step.spring {
                        let spring = topology.springs[s as usize];
                        block.rest[l] = spring.rest;
                        block.stiffness[l] = spring.stiffness;
                    }
                }
                rows.blocks.push(block);
            }
            let mut closed = [0.0; WIDTH];
            for (closed, around) in closed.iter_mut().zip(&lists) {
                *closed = f32::from(u8::from(around.closed));
            }
            rows.groups.push(Group {
                first: start as u32,
                edges: (start + edges) as u32,
                end: rows.blocks.len() as u32,
                closed,
            });
        }
        debug_assert!(
            rows.blocks
                .iter()
                .all(|b| b.other.iter().all(|&o| (o as usize) < n))
        );
        rows
    }

    /// Heap memory in bytes, with that of the [`Tension`].
    pub fn bytes(&self) -> usize {
        size_of_val(&self.groups[..])
            + self.blocks.len() * (size_of::<Block>() + size_of::<Grip>())
            + self.groups.len() * 2 * size_of::<Stiff>()
            + 16 * self.points
    }

    /// Calls `task` with every part, side by side where there are enough points.
    fn for_each_part<'a>(
        &self,
        tension: &'a mut Tension,
        gradient: &'a mut [Vec3A],
        task: impl Fn(Part<'a>) + Sync,
    ) {
        let Tension {
            pull, grips, stiff, ..
        } = tension;
        let whole = Part {
            first: 0,
            grips: &mut grips[..],
            stiff: &mut stiff[..],
            pull: &mut pull[..],
            gradient,
        };
        if self.points < super::parallel::WORTH {
            return task(whole);
        }
        let mut parts = Vec::with_capacity(self.groups.len().div_ceil(TASK));
        let mut left = whole;
        while left.stiff.len() > TASK {
            let blocks = self.groups[left.first + TASK].first - self.groups[left.first].first;
            let (grips, more_grips) = left.grips.split_at_mut(blocks as usize);
            let (stiff, more_stiff) = left.stiff.split_at_mut(TASK);
            let (pull, more_pull) = left.pull.split_at_mut(TASK * WIDTH);
            let (gradient, more_gradient) = left.gradient.split_at_mut(TASK * WIDTH);
            parts.push(Part {
                first: left.first,
                grips,
                stiff,
                pull,
                gradient,
            });
            left = Part {
                first: left.first + TASK,
                grips: more_grips,
                stiff: more_stiff,
                pull: more_pull,
                gradient: more_gradient,
            };
        }
        parts.push(left);
        parts.into_par_iter().for_each(|part| task(part));
    }

    /// Finds what all springs do, and the gradient of the enclosed volume in m².
    pub fn stretch(
        &self,
        position: &[Vec3A],
        velocity: &[Vec3A],
        how: Pulling,
        tension: &mut Tension,
        gradient: &mut [Vec3A],
    ) {
        assert!(position.len() == self.points && velocity.len() == self.points);
        tension.pull.resize(self.points, Vec3A::ZERO);
        tension.stiff.resize(self.groups.len(), Stiff::default());
        tension.grips.resize(self.blocks.len(), Grip::default());
        self.for_each_part(tension, gradient, |part| {
            let state = (position, velocity);
            let rows = self;
            dispatch!(stretch(rows: &Rows, state: (&[Vec3A], &[Vec3A]), how: Pulling, part: Part<'_>));
        });
    }

    /// Inverts `mass` times the unit matrix and `scale` times the stiffness of the springs
    /// of each point; points without inverse mass resist everything.
    pub fn invert(&self, mass: &[f32], inverse_mass: &[f32], scale: f32, tension: &mut Tension) {
        let Tension { stiff, inverse, .. } = tension;
        inverse.resize(stiff.len(), Stiff::default());
        each_group(self.points, inverse, |g, inverse| {
            let own = (eight_of(mass, g), eight_of(inverse_mass, g));
            let stiff = &stiff[g];
            dispatch!(invert(own: (Eight, Eight), scale: f32, stiff: &Stiff, inverse: &mut Stiff));
        });
    }

    /// `h A⁻¹ F` of each point, A from [`Rows::invert`].
    pub fn yielding(&self, tension: &Tension, force: &[Vec3A], h: f32, out: &mut [Vec3A]) {
        let inverse = &tension.inverse;
        each_eight(out, |g, out| {
            let (force, inverse) = (eight_vectors(force, g), &inverse[g]);
            dispatch!(yielding(inverse: &Stiff, force: [Vec3A; WIDTH], h: f32, out: &mut [Vec3A]));
        });
    }

    /// `A⁻¹ (h F + scale K x)` of each point, K x what its springs hand on of the motion
    /// `x` of their other ends.
    pub fn handed_on(
        &self,
        tension: &Tension,
        force: &[Vec3A],
        motion: &[Vec3A],
        [h, scale]: [f32; 2],
        out: &mut [Vec3A],
    ) {
        assert!(motion.len() == self.points);
        each_eight(out, |g, out| {
            let known = Handing {
                blocks: &self.blocks[self.groups[g].first as usize..self.groups[g].end as usize],
                grips: &tension.grips[self.groups[g].first as usize..self.groups[g].end as usize],
                inverse: &tension.inverse[g],
                motion,
                force: eight_vectors(force, g),
                h,
                scale,
            };
            dispatch!(handed_on(known: Handing<'_>, out: &mut [Vec3A]));
        });
    }
}

/// What is around a point, in order.
struct Around {
    edges: Vec<Step>,
    others: Vec<Step>,
    /// The last edge and the first span a triangle.
    closed: bool,
}

#[derive(Clone, Copy)]
struct Step {
    other: u32,
    spring: Option<u32>,
}

impl Around {
    fn of(topology: &Topology, i: usize) -> Around {
        let edges = topology.edges.len() as u32;
        let links = topology.links_of(i);
        let step = |l: &Link| Step {
            other: l.other,
            spring: Some(l.spring),
        };
        let others = links.iter().filter(|l| l.spring >= edges).map(step);
        // Every triangle leads from one edge to the next.
        let mut ways: Vec<[u32; 2]> = Vec::new();
        for &t in topology.corners_of(i) {
            let [a, b, c] = topology.triangles[t as usize];
            let own = i as u32;
            ways.push(if a == own {
                [b, c]
            } else if b == own {
                [c, a]
            } else {
                [a, b]
            });
        }
        let mut list: Vec<Step> = Vec::new();
        let mut used: Vec<u32> = Vec::new();
        let mut fans = 0;
        let mut closed = false;
        while let Some(&[start, _]) = ways
            .iter()
            .find(|w| ways.iter().all(|v| v[1] != w[0]))
            .or(ways.first())
        {
            // A step to the point itself keeps two fans apart.
            if fans > 0 {
                list.push(Step {
                    other: i as u32,
                    spring: None,
                });
            }
            fans += 1;
            let mut push = |other: u32| {
                let along = |l: &&Link| l.other == other && l.spring < edges;
                let spring = links.iter().find(along).map(|l| l.spring);
                let fresh = !used.contains(&other);
                used.push(other);
                list.push(Step {
                    other,
                    spring: spring.filter(|_| fresh),
                });
            };
            push(start);
            let mut last = start;
            while let Some(k) = ways.iter().position(|w| w[0] == last) {
                last = ways.swap_remove(k)[1];
                closed = last == start;
                if closed && ways.is_empty() && fans == 1 {
                    break;
                }
                push(last);
                if closed {
                    break;
                }
            }
        }
        Around {
            edges: list,
            others: others.collect(),
            closed: closed && fans == 1,
        }
    }

    /// Link `k` where those along edges end at `edges`. Short lists repeat their last
    /// edge, without a spring: with itself it spans nothing.
    fn step(&self, k: usize, edges: usize) -> Option<Step> {
        if k >= edges {
            return self.others.get(k - edges).copied();
        }
        let last = Step {
            spring: None,
            ..*self.edges.last()?
        };
        Some(*self.edges.get(k).unwrap_or(&last))
    }
}

#[inline(always)]
fn stretch<L: Lanes>(
    l: L,
    rows: &Rows,
    (position, velocity): (&[Vec3A], &[Vec3A]),
    how: Pulling,
    part: Part<'_>,
) {
    let zero = [l.splat(0.0); 3];
    let Part {
        first,
        grips,
        stiff,
        pull,
        gradient,
    } = part;
    let last = rows.points - 1;
    let offset = rows.groups[first].first as usize;
    let damping = l.splat(how.damping);
    let one = l.splat(1.0);
    for (k, stiff) in stiff.iter_mut().enumerate() {
        let group = &rows.groups[first + k];
        let own = std::array::from_fn(|i| ((first + k) * WIDTH + i).min(last) as u32);
        // SAFETY: all numbers of points are below that of the points.
        let (p, v) = unsafe {
            (
                l.gather_vectors(position, &own),
                l.gather_vectors(velocity, &own),
            )
        };
        let mut force = zero;
        let mut spanned = zero;
        let mut before = zero;
        let mut start = zero;
        let mut sums = [l.splat(0.0); 6];
        for b in group.first..group.end {
            let block = &rows.blocks[b as usize];
            // SAFETY: as above.
            let there = unsafe { l.gather_vectors(position, &block.other) };
            let way = sub(l, there, p);
            if b < group.edges {
                if b == group.first {
                    start = way;
                } else {
                    spanned = add(l, spanned, cross(l, before, way));
                }
                before = way;
            }
            let (stiffness, rest) = (l.from_array(&block.stiffness), l.from_array(&block.rest));
            let length = l.sqrt(dot(l, way, way));
            let inverse = l.div(one, l.max(length, l.splat(SHORTEST)));
            // SAFETY: as above.
            let faster = unsafe { sub(l, l.gather_vectors(velocity, &block.other), v) };
            let pull = l.sub(length, rest);
            if how.along_only {
                let rate = l.mul(dot(l, faster, way), inverse);
                let pull = l.add(pull, l.mul(damping, rate));
                let size = l.mul(l.mul(stiffness, pull), inverse);
                force = add(l, force, scaled(l, size, way));
            } else {
                let along = scaled(l, l.mul(l.mul(stiffness, pull), inverse), way);
                let slowed = scaled(l, l.mul(stiffness, damping), faster);
                force = add(l, force, add(l, along, slowed));
            }
            // Stiff along itself, and across only as far as it is stretched.
            let short = l.min(l.mul(rest, inverse), one);
            let across = l.mul(stiffness, l.sub(one, short));
            let along = l.mul(l.sub(stiffness, across), l.mul(inverse, inverse));
            let [x, y, z] = way;
            let by = scaled(l, along, way);
            sums = [
                l.add(sums[0], l.add(l.mul(by[0], x), across)),
                l.add(sums[1], l.mul(by[0], y)),
                l.add(sums[2], l.mul(by[0], z)),
                l.add(sums[3], l.add(l.mul(by[1], y), across)),
                l.add(sums[4], l.mul(by[1], z)),
                l.add(sums[5], l.add(l.mul(by[2], z), across)),
            ];
            let grip = [x, y, z, along, across];
            for (out, v) in grips[b as usize - offset].iter_mut().zip(grip) {
                *out = l.to_array(v);
            }
        }
        let closing = scaled(l, l.from_array(&group.closed), cross(l, before, start));
        let spanned = scaled(l, l.splat(1.0 / 6.0), add(l, spanned, closing));
        for (out, v) in stiff.iter_mut().zip(sums) {
            *out = l.to_array(v);
        }
        put(l, pull, k, force);
        put(l, gradient, k, spanned);
    }
}

#[inline(always)]
fn invert<L: Lanes>(
    l: L,
    (mass, inverse_mass): (Eight, Eight),
    scale: f32,
    stiff: &Stiff,
    inverse: &mut Stiff,
) {
    let mass = l.from_array(&mass);
    let scale = l.splat(scale);
    let mut terms = [scale; 6];
    for (term, s) in terms.iter_mut().zip(stiff) {
        *term = l.mul(scale, l.from_array(s));
    }
    let [xx, xy, xz, yy, yz, zz] = terms;
    let (xx, yy, zz) = (l.add(xx, mass), l.add(yy, mass), l.add(zz, mass));
    let cofactors = [
        minor(l, yy, zz, yz, yz),
        minor(l, xz, yz, xy, zz),
        minor(l, xy, yz, xz, yy),
        minor(l, xx, zz, xz, xz),
        minor(l, xy, xz, xx, yz),
        minor(l, xx, yy, xy, xy),
    ];
    let [a, b, c, ..] = cofactors;
    let determinant = l.add(l.add(l.mul(xx, a), l.mul(xy, b)), l.mul(xz, c));
    let free = l.less(l.splat(0.0), l.from_array(&inverse_mass));
    let by = l.keep(l.div(l.splat(1.0), determinant), free);
    for (out, v) in inverse.iter_mut().zip(cofactors) {
        *out = l.to_array(l.mul(by, v));
    }
}

/// `a b - c d`.
#[inline(always)]
fn minor<L: Lanes>(l: L, a: L::F, b: L::F, c: L::F, d: L::F) -> L::F {
    l.sub(l.mul(a, b), l.mul(c, d))
}

#[inline(always)]
fn yielding<L: Lanes>(l: L, inverse: &Stiff, force: [Vec3A; WIDTH], h: f32, out: &mut [Vec3A]) {
    let force = l.from_vectors(&force);
    put(l, out, 0, scaled(l, l.splat(h), times(l, inverse, force)));
}

/// What [`handed_on`] reads for a group.
#[derive(Clone, Copy)]
struct Handing<'a> {
    blocks: &'a [Block],
    grips: &'a [Grip],
    inverse: &'a Stiff,
    motion: &'a [Vec3A],
    force: [Vec3A; WIDTH],
    h: f32,
    scale: f32,
}

#[inline(always)]
fn handed_on<L: Lanes>(l: L, known: Handing<'_>, out: &mut [Vec3A]) {
    let mut sum = [l.splat(0.0); 3];
    for (block, grip) in known.blocks.iter().zip(known.grips) {
        // SAFETY: blocks hold numbers of points, of which there are as many as motions.
        let theirs = unsafe { l.gather_vectors(known.motion, &block.other) };
        let [x, y, z, along, across] = grip;
        let way = [l.from_array(x), l.from_array(y), l.from_array(z)];
        let (along, across) = (l.from_array(along), l.from_array(across));
        let size = l.mul(along, dot(l, way, theirs));
        sum = add(l, sum, scaled(l, size, way));
        sum = add(l, sum, scaled(l, across, theirs));
    }
    let force = l.from_vectors(&known.force);
    let all = add(
        l,
        scaled(l, l.splat(known.h), force),
        scaled(l, l.splat(known.scale), sum),
    );
    put(l, out, 0, times(l, known.inverse, all));
}

/// Symmetric matrix times vector.
#[inline(always)]
fn times<L: Lanes>(l: L, matrix: &Stiff, v: [L::F; 3]) -> [L::F; 3] {
    let mut terms = [v[0]; 6];
    for (term, m) in terms.iter_mut().zip(matrix) {
        *term = l.from_array(m);
    }
    let [xx, xy, xz, yy, yz, zz] = terms;
    [
        dot(l, [xx, xy, xz], v),
        dot(l, [xy, yy, yz], v),
        dot(l, [xz, yz, zz], v),
    ]
}

#[inline(always)]
pub(super) fn add<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [l.add(a[0], b[0]), l.add(a[1], b[1]), l.add(a[2], b[2])]
}

#[inline(always)]
pub(super) fn sub<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [l.sub(a[0], b[0]), l.sub(a[1], b[1]), l.sub(a[2], b[2])]
}

#[inline(always)]
pub(super) fn dot<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> L::F {
    let first = l.add(l.mul(a[0], b[0]), l.mul(a[1], b[1]));
    l.add(first, l.mul(a[2], b[2]))
}

#[inline(always)]
pub(super) fn scaled<L: Lanes>(l: L, by: L::F, v: [L::F; 3]) -> [L::F; 3] {
    [l.mul(by, v[0]), l.mul(by, v[1]), l.mul(by, v[2])]
}

/// A vector in every lane.
#[inline(always)]
pub(super) fn splat<L: Lanes>(l: L, v: Vec3A) -> [L::F; 3] {
    [l.splat(v.x), l.splat(v.y), l.splat(v.z)]
}

#[inline(always)]
pub(super) fn cross<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [
        minor(l, a[1], b[2], a[2], b[1]),
        minor(l, a[2], b[0], a[0], b[2]),
        minor(l, a[0], b[1], a[1], b[0]),
    ]
}

/// Writes the vectors of group `g`, as far as there are points.
#[inline(always)]
pub(super) fn put<L: Lanes>(l: L, out: &mut [Vec3A], g: usize, v: [L::F; 3]) {
    let vectors = l.to_vectors(v);
    let out = &mut out[g * WIDTH..];
    match out.first_chunk_mut() {
        Some(all) => *all = vectors,
        None => out.copy_from_slice(&vectors[..out.len()]),
    }
}

/// The vectors of group `g`; nothing where there are no more points.
#[inline]
pub(super) fn eight_vectors(a: &[Vec3A], g: usize) -> [Vec3A; WIDTH] {
    let a = &a[g * WIDTH..];
    match a.first_chunk() {
        Some(all) => *all,
        None => std::array::from_fn(|l| a.get(l).copied().unwrap_or(Vec3A::ZERO)),
    }
}

/// The numbers of group `g`; 1 where there are no more points.
#[inline]
pub(super) fn eight_of(a: &[f32], g: usize) -> Eight {
    let a = &a[g * WIDTH..];
    match a.first_chunk() {
        Some(all) => *all,
        None => std::array::from_fn(|l| a.get(l).copied().unwrap_or(1.0)),
    }
}

/// Calls `task` with the number of every group and what it writes.
pub(super) fn each_group<T: Send>(
    points: usize,
    out: &mut [T],
    task: impl Fn(usize, &mut T) + Sync,
) {
    if points < super::parallel::WORTH {
        out.iter_mut().enumerate().for_each(|(g, o)| task(g, o));
    } else {
        let items = out.par_iter_mut().with_min_len(TASK).enumerate();
        items.for_each(|(g, o)| task(g, o));
    }
}

/// Calls `task` with the number of every group and its vectors.
pub(super) fn each_eight(out: &mut [Vec3A], task: impl Fn(usize, &mut [Vec3A]) + Sync) {
    if out.len() < super::parallel::WORTH {
        let groups = out.chunks_mut(WIDTH).enumerate();
        groups.for_each(|(g, o)| task(g, o));
    } else {
        let groups = out.par_chunks_mut(WIDTH).with_min_len(TASK).enumerate();
        groups.for_each(|(g, o)| task(g, o));
    }
}
