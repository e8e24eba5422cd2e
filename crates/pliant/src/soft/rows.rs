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

use super::around::Around;
use super::lanes::{
    Eight, TASK, add, cross, dot, each_eight, each_group, eight_of, eight_vectors, minor, put,
    scaled, sub,
};
use super::topology::Topology;
use crate::simd::{Lanes, WIDTH, dispatch};

/// Springs that are shorter than this, in metres, have no direction.
const SHORTEST: f32 = 1e-18;

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
        task: impl Fn(Part<'a>) + Sync + Send,
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
        parts.into_par_iter().for_each(task);
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
            let (stiffness, rest) = (l.numbers(&block.stiffness), l.numbers(&block.rest));
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
        let closing = scaled(l, l.numbers(&group.closed), cross(l, before, start));
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
    let mass = l.numbers(&mass);
    let scale = l.splat(scale);
    let mut terms = [scale; 6];
    for (term, s) in terms.iter_mut().zip(stiff) {
        *term = l.mul(scale, l.numbers(s));
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
    let free = l.less(l.splat(0.0), l.numbers(&inverse_mass));
    let by = l.keep(l.div(l.splat(1.0), determinant), free);
    for (out, v) in inverse.iter_mut().zip(cofactors) {
        *out = l.to_array(l.mul(by, v));
    }
}

#[inline(always)]
fn yielding<L: Lanes>(l: L, inverse: &Stiff, force: [Vec3A; WIDTH], h: f32, out: &mut [Vec3A]) {
    let force = l.vectors(&force);
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
        let way = [l.numbers(x), l.numbers(y), l.numbers(z)];
        let (along, across) = (l.numbers(along), l.numbers(across));
        let size = l.mul(along, dot(l, way, theirs));
        sum = add(l, sum, scaled(l, size, way));
        sum = add(l, sum, scaled(l, across, theirs));
    }
    let force = l.vectors(&known.force);
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
        *term = l.numbers(m);
    }
    let [xx, xy, xz, yy, yz, zz] = terms;
    [
        dot(l, [xx, xy, xz], v),
        dot(l, [xy, yy, yz], v),
        dot(l, [xz, yz, zz], v),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{EvenSphere, TriMesh};
    use crate::simd::Portable;
    use crate::soft::{SoftSettings, sheet};

    fn shaken(mesh: &TriMesh) -> (Topology, Vec<Vec3A>, Vec<Vec3A>) {
        let mut settings = SoftSettings::new("shaken");
        settings.body.bend = 0.5;
        let topology = Topology::of(mesh, &settings).unwrap();
        let wave = |p: Vec3A| Vec3A::new((9.0 * p.y).sin(), (7.0 * p.z).cos(), (8.0 * p.x).sin());
        let at = mesh.vertices.iter().map(|&v| Vec3A::from(v));
        let position: Vec<Vec3A> = at.map(|p| p + 0.1 * wave(p)).collect();
        let velocity = position.iter().map(|&p| wave(p)).collect();
        (topology, position, velocity)
    }

    const HOW: Pulling = Pulling {
        damping: 0.01,
        along_only: true,
    };

    fn stretched(rows: &Rows, position: &[Vec3A], velocity: &[Vec3A]) -> (Tension, Vec<Vec3A>) {
        let mut tension = Tension::default();
        let mut gradient = vec![Vec3A::ZERO; position.len()];
        rows.stretch(position, velocity, HOW, &mut tension, &mut gradient);
        (tension, gradient)
    }

    #[test]
    fn the_gradient_is_a_sixth_of_the_normals_around_a_point() {
        let ball = EvenSphere {
            points: 301,
            ..EvenSphere::default()
        };
        // Two balls that share a point have two fans there.
        let mut pair = ball.build().unwrap();
        let n = pair.vertices.len() as u32;
        let offset = 2.0 * pair.vertices[0];
        let other = pair.vertices.clone();
        pair.vertices.extend(other[1..].iter().map(|v| offset - *v));
        let triangles = pair.triangles.clone();
        pair.triangles.extend(triangles.iter().map(|t| {
            let moved = |v: u32| if v == 0 { 0 } else { v + n - 1 };
            [moved(t[0]), moved(t[2]), moved(t[1])]
        }));
        let cloth = sheet(glam::Vec3::ZERO, [1.0, 0.7], [9, 6]);
        for mesh in [ball.build().unwrap(), pair, cloth] {
            let (topology, position, velocity) = shaken(&mesh);
            let (_, gradient) = stretched(&Rows::new(&topology), &position, &velocity);
            let mut plain = vec![Vec3A::ZERO; position.len()];
            for t in &topology.triangles {
                let [a, b, c] = t.map(|v| position[v as usize]);
                let normal = crate::soft::topology::area_normal(a, b, c) / 6.0;
                t.iter().for_each(|&v| plain[v as usize] += normal);
            }
            let largest = plain.iter().map(|g| g.length()).fold(0.0, f32::max);
            for (a, b) in gradient.iter().zip(&plain) {
                assert!(a.distance(*b) < 1e-5 * largest, "{a} {b}");
            }
        }
    }

    #[test]
    fn portable_lanes_give_the_same_bits() {
        let mesh = EvenSphere::default().build().unwrap();
        let (topology, position, velocity) = shaken(&mesh);
        let rows = Rows::new(&topology);
        let (mut fast, gradient) = stretched(&rows, &position, &velocity);
        let mut plain = fast.clone();
        plain.pull.fill(Vec3A::ZERO);
        let mut plain_gradient = vec![Vec3A::ZERO; position.len()];
        let part = Part {
            first: 0,
            grips: &mut plain.grips,
            stiff: &mut plain.stiff,
            pull: &mut plain.pull,
            gradient: &mut plain_gradient,
        };
        stretch(Portable, &rows, (&position, &velocity), HOW, part);
        assert_eq!((&fast.pull, &gradient), (&plain.pull, &plain_gradient));
        assert_eq!((&fast.grips, &fast.stiff), (&plain.grips, &plain.stiff));
        let ones = vec![1.0; position.len()];
        rows.invert(&topology.mass, &ones, 1e-5, &mut fast);
        let mut change = vec![Vec3A::ZERO; position.len()];
        rows.handed_on(&fast, &fast.pull, &velocity, [0.01, 1e-4], &mut change);
        for (g, group) in rows.groups.iter().enumerate() {
            let mut inverse = Stiff::default();
            let own = (eight_of(&topology.mass, g), eight_of(&ones, g));
            invert(Portable, own, 1e-5, &fast.stiff[g], &mut inverse);
            assert_eq!(fast.inverse[g], inverse);
            let range = group.first as usize..group.end as usize;
            let known = Handing {
                blocks: &rows.blocks[range.clone()],
                grips: &fast.grips[range],
                inverse: &inverse,
                motion: &velocity,
                force: eight_vectors(&fast.pull, g),
                h: 0.01,
                scale: 1e-4,
            };
            let mut plain = [Vec3A::ZERO; WIDTH];
            handed_on(Portable, known, &mut plain);
            let found = &change[g * WIDTH..((g + 1) * WIDTH).min(change.len())];
            assert_eq!(&plain[..found.len()], found);
        }
    }
}
