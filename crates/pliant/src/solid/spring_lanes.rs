//! Forces of springs, eight edges or elements at a time.
//!
//! The same forces as in `springs.rs`, which has the variants too and is what the tests
//! compare with. A point of a patch is a row of eight numbers, displacement and
//! velocity: the difference of two rows is one instruction, and eight such differences
//! are turned into lanes. What is at rest is read in order and not per point.

use std::ops::Range;

use glam::Vec3A;

use super::patches::Patches;
use super::springs::{EQUAL, SpringBody, WATCHED};
use crate::mesh::TetMesh;
use crate::simd::{Lanes, WIDTH, dispatch, prefetch};

/// Blocks that are fetched ahead of the one that is computed.
const AHEAD: usize = 6;

/// A point of a patch: displacement, 0, velocity, 0.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Row([f32; WIDTH]);

impl Row {
    #[inline(always)]
    pub fn new(displacement: Vec3A, velocity: Vec3A) -> Row {
        let [a, b] = [displacement, velocity].map(|v| v.to_array());
        Row([a[0], a[1], a[2], 0.0, b[0], b[1], b[2], 0.0])
    }
}

type Eight = [f32; WIDTH];

/// Eight edges of a patch; beyond the last, edges of no length and no stiffness.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct EdgeBlock {
    /// The vector from the second end to the first, at rest.
    rest: [Eight; 3],
    length: Eight,
    stiffness: Eight,
    ends: [[u16; WIDTH]; 2],
}

/// Eight elements of a patch; beyond the last, elements of no volume and no stiffness.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct TetBlock {
    /// The edges from corner 0 to the others, at rest.
    rest: [[Eight; 3]; 3],
    volume: Eight,
    stiffness: Eight,
    corners: [[u16; WIDTH]; 4],
}

/// Edges and elements of all patches in blocks of eight.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    edges: Vec<EdgeBlock>,
    tets: Vec<TetBlock>,
    /// Where the blocks of each patch start; one more at the end.
    first: Vec<[u32; 2]>,
}

impl Blocks {
    pub fn new(body: &SpringBody, mesh: &TetMesh) -> Blocks {
        let Patches { patches, .. } = &body.patches;
        let place = |v: u32| mesh.points[v as usize];
        let mut out = Blocks::default();
        for patch in patches {
            out.first.push(out.ends());
            let blocks = patch.edges.len().div_ceil(WIDTH);
            for b in 0..blocks {
                let mut block = EdgeBlock {
                    rest: [[0.0; WIDTH]; 3],
                    length: [0.0; WIDTH],
                    stiffness: [0.0; WIDTH],
                    ends: [[0; WIDTH]; 2],
                };
                for (l, e) in lanes_of(&patch.edges, b, blocks) {
                    let [a, b] = body.patches.global_edges[e].map(place);
                    let rest = (a - b).to_array();
                    (0..3).for_each(|k| block.rest[k][l] = rest[k]);
                    block.length[l] = body.length[e];
                    block.stiffness[l] = body.edge_stiffness[e];
                    (0..2).for_each(|k| block.ends[k][l] = body.patches.edges[e][k]);
                }
                out.edges.push(block);
            }
            let blocks = patch.tets.len().div_ceil(WIDTH);
            for b in 0..blocks {
                let mut block = TetBlock {
                    rest: [[[0.0; WIDTH]; 3]; 3],
                    volume: [0.0; WIDTH],
                    stiffness: [0.0; WIDTH],
                    corners: [[0; WIDTH]; 4],
                };
                for (l, t) in lanes_of(&patch.tets, b, blocks) {
                    let corners = mesh.corners(t);
                    for (c, &corner) in corners[1..].iter().enumerate() {
                        let rest = (corner - corners[0]).to_array();
                        (0..3).for_each(|k| block.rest[c][k][l] = rest[k]);
                    }
                    block.volume[l] = body.volume[t];
                    block.stiffness[l] = body.volume_stiffness[t];
                    (0..4).for_each(|k| block.corners[k][l] = body.patches.tets[t][k]);
                }
                out.tets.push(block);
            }
        }
        out.first.push(out.ends());
        out
    }

    fn ends(&self) -> [u32; 2] {
        [self.edges.len() as u32, self.tets.len() as u32]
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.edges[..]) + size_of_val(&self.tets[..])
    }

    fn edges_of(&self, patch: usize) -> &[EdgeBlock] {
        &self.edges[self.first[patch][0] as usize..self.first[patch + 1][0] as usize]
    }

    fn tets_of(&self, patch: usize) -> &[TetBlock] {
        &self.tets[self.first[patch][1] as usize..self.first[patch + 1][1] as usize]
    }
}

/// Lanes of block `b` of so many, with what they hold of a range. Lanes are far from each
/// other in the patch: if they shared a point, each would have to wait for the sum of
/// the one before.
fn lanes_of(
    range: &Range<usize>,
    b: usize,
    blocks: usize,
) -> impl Iterator<Item = (usize, usize)> + use<> {
    range.clone().skip(b).step_by(blocks).enumerate()
}

/// What a patch is computed from besides its blocks.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub distance_damping: f32,
    /// Of volumes; none if only edges count.
    pub volume_damping: Option<f32>,
    pub strain_limit: Option<f32>,
}

/// A patch, as the loops read it.
#[derive(Clone, Copy)]
struct Work<'a> {
    edges: &'a [EdgeBlock],
    tets: &'a [TetBlock],
    points: &'a [Row],
    terms: Terms,
    /// Number of its first edge.
    first_edge: u32,
}

impl SpringBody {
    /// Adds the forces of patch number `patch` to `force`, and notes the edges near or
    /// beyond the strain limit.
    pub(super) fn patch_forces(
        &self,
        patch: usize,
        terms: Terms,
        points: &[Row],
        force: &mut [[f32; 4]],
        stretched: &mut Vec<u32>,
    ) {
        let ranges = &self.patches.patches[patch];
        // The numbers of points in the blocks are below this.
        assert!(points.len() == ranges.points.len() && force.len() == ranges.points.len());
        let work = Work {
            edges: self.blocks.edges_of(patch),
            tets: self.blocks.tets_of(patch),
            points,
            terms,
            first_edge: ranges.edges.start as u32,
        };
        dispatch!(run(work: Work<'_>, force: &mut [[f32; 4]], stretched: &mut Vec<u32>));
    }
}

#[inline(always)]
fn run<L: Lanes>(l: L, work: Work<'_>, force: &mut [[f32; 4]], stretched: &mut Vec<u32>) {
    edge_forces(l, work, force, stretched);
    if let Some(damping) = work.terms.volume_damping {
        volume_forces(l, work, damping, force);
    }
}

/// The damped springs (3.10).
#[inline(always)]
fn edge_forces<L: Lanes>(l: L, work: Work<'_>, force: &mut [[f32; 4]], stretched: &mut Vec<u32>) {
    let (points, terms) = (work.points, work.terms);
    let watched = terms.strain_limit.map_or(f32::INFINITY, |s| WATCHED * s);
    let (watched, damping) = (l.splat(watched), l.splat(terms.distance_damping));
    let (least, one) = (l.splat(f32::MIN_POSITIVE), l.splat(1.0));
    for (at, block) in work.edges.iter().enumerate() {
        prefetch(work.edges, at + AHEAD);
        // SAFETY: the ends are numbers of points of the patch.
        let [d, v] = unsafe { between(l, points, &block.ends[0], &block.ends[1], &block.rest) };
        let length = l.sqrt(dot(l, d, d));
        let along = scaled(l, d, l.div(one, l.max(length, least)));
        let rate = dot(l, along, v);
        let rest = lanes(l, &block.length);
        let pull = l.mul(lanes(l, &block.stiffness), change(l, length, rest));
        let pull = l.add(pull, l.mul(damping, rate));
        let pull = l.quads(scaled(l, along, pull));
        // SAFETY: as above.
        unsafe {
            l.sub_quads(pull, force, &block.ends[0]);
            l.add_quads(pull, force, &block.ends[1]);
        }
        let long = l.less(l.mul(watched, rest), length);
        if l.any(long) {
            let (mut values, mut numbers) = ([0.0; WIDTH], [0; WIDTH]);
            // SAFETY: both hold eight.
            let n = unsafe { l.pack(length, long, 0, &mut values, &mut numbers, 0) };
            let (first, blocks) = (work.first_edge + at as u32, work.edges.len() as u32);
            stretched.extend(numbers[..n].iter().map(|lane| first + lane * blocks));
        }
    }
}

/// (3.8) with the damping of (3.9).
#[inline(always)]
fn volume_forces<L: Lanes>(l: L, work: Work<'_>, damping: f32, force: &mut [[f32; 4]]) {
    let points = work.points;
    let (damping, sixth) = (l.splat(damping / 6.0), l.splat(-1.0 / 6.0));
    for (at, block) in work.tets.iter().enumerate() {
        prefetch(work.tets, at + AHEAD);
        let [c0, c1, c2, c3] = &block.corners;
        // SAFETY: the corners are numbers of points of the patch.
        let ([e1, v1], [e2, v2], [e3, v3]) = unsafe {
            (
                between(l, points, c1, c0, &block.rest[0]),
                between(l, points, c2, c0, &block.rest[1]),
                between(l, points, c3, c0, &block.rest[2]),
            )
        };
        let n1 = cross(l, e3, e2);
        let n2 = cross(l, e1, e3);
        let n3 = cross(l, e2, e1);
        let volume = l.mul(sixth, dot(l, e1, n1));
        let flux = l.add(l.add(dot(l, n1, v1), dot(l, n2, v2)), dot(l, n3, v3));
        let swelling = change(l, volume, lanes(l, &block.volume));
        let push = l.mul(lanes(l, &block.stiffness), swelling);
        let push = l.sub(push, l.mul(damping, flux));
        let (n1, n2, n3) = (
            scaled(l, n1, push),
            scaled(l, n2, push),
            scaled(l, n3, push),
        );
        let back = plus(l, plus(l, n1, n2), n3);
        // SAFETY: as above.
        unsafe {
            l.sub_quads(l.quads(back), force, c0);
            l.add_quads(l.quads(n1), force, c1);
            l.add_quads(l.quads(n2), force, c2);
            l.add_quads(l.quads(n3), force, c3);
        }
    }
}

/// The vectors from points `b` to points `a`, and how they change.
///
/// # Safety
/// All numbers are below the length of `points`.
#[inline(always)]
unsafe fn between<L: Lanes>(
    l: L,
    points: &[Row],
    a: &[u16; WIDTH],
    b: &[u16; WIDTH],
    rest: &[Eight; 3],
) -> [[L::F; 3]; 2] {
    let mut rows = [l.splat(0.0); WIDTH];
    for k in 0..WIDTH {
        debug_assert!(usize::from(a[k].max(b[k])) < points.len());
        // SAFETY: the caller's promise; a row holds eight.
        rows[k] = unsafe {
            let a = points.get_unchecked(usize::from(a[k]));
            let b = points.get_unchecked(usize::from(b[k]));
            l.sub(l.load(&a.0, 0), l.load(&b.0, 0))
        };
    }
    let [x, y, z, _, u, v, w, _] = l.columns(rows);
    let d = [
        l.add(lanes(l, &rest[0]), x),
        l.add(lanes(l, &rest[1]), y),
        l.add(lanes(l, &rest[2]), z),
    ];
    [d, [u, v, w]]
}

#[inline(always)]
fn lanes<L: Lanes>(l: L, eight: &Eight) -> L::F {
    // SAFETY: it holds eight.
    unsafe { l.load(eight, 0) }
}

/// `now - rest`, or 0 where they are equal but for rounding.
#[inline(always)]
fn change<L: Lanes>(l: L, now: L::F, rest: L::F) -> L::F {
    let change = l.sub(now, rest);
    let size = l.max(magnitude(l, now), magnitude(l, rest));
    let differ = l.less(l.mul(l.splat(EQUAL), size), magnitude(l, change));
    l.keep(change, differ)
}

#[inline(always)]
fn magnitude<L: Lanes>(l: L, a: L::F) -> L::F {
    l.max(a, l.sub(l.splat(0.0), a))
}

#[inline(always)]
fn dot<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> L::F {
    let xy = l.add(l.mul(a[0], b[0]), l.mul(a[1], b[1]));
    l.add(xy, l.mul(a[2], b[2]))
}

#[inline(always)]
fn cross<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [
        l.sub(l.mul(a[1], b[2]), l.mul(a[2], b[1])),
        l.sub(l.mul(a[2], b[0]), l.mul(a[0], b[2])),
        l.sub(l.mul(a[0], b[1]), l.mul(a[1], b[0])),
    ]
}

#[inline(always)]
fn scaled<L: Lanes>(l: L, a: [L::F; 3], by: L::F) -> [L::F; 3] {
    [l.mul(a[0], by), l.mul(a[1], by), l.mul(a[2], by)]
}

#[inline(always)]
fn plus<L: Lanes>(l: L, a: [L::F; 3], b: [L::F; 3]) -> [L::F; 3] {
    [l.add(a[0], b[0]), l.add(a[1], b[1]), l.add(a[2], b[2])]
}
