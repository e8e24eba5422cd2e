//! The sums of the pressure equations over neighbours and images: the rate of compression
//! D, and the pressure gradient G, its transpose.
//!
//! They are most of the work of an incompressible liquid. With the slopes `s_ij` of the pairs
//! and `g_i = Σ_j s_ij (x_i - x_j)`, which is known since the search, they are
//!
//! ```text
//! D_i(v) = v_i · g_i - (x_i · Σ_j s_ij v_j - Σ_j s_ij x_j · v_j)
//! G_i(p) = p_i g_i + x_i Σ_j s_ij p_j - Σ_j s_ij x_j p_j
//! ```
//!
//! so that both need one and the same sum, of slopes times rows of four numbers: `v, x · v`
//! and `x p, p`. A neighbour is one load, one product and one addition. What is subtracted in
//! the end is as large as the distance from the origin, so rows have double precision.

use glam::{DVec3, Vec3A};

use super::CHUNK;
use super::images::ChunkImages;
use super::pairs::ChunkPairs;
use crate::simd::{Lanes, Row, dispatch, prefetch, prefetch_line};

/// One chunk of particles with all that they see.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'a> {
    /// Index of its first particle.
    pub first: usize,
    pub pairs: &'a ChunkPairs,
    pub images: &'a ChunkImages,
    pub x: &'a [Vec3A],
    /// `Σ V ∇W` over neighbours and images.
    pub gradient: &'a [Vec3A],
}

/// Arrays of a chunk's own particles that are needed once the sums over their neighbours are
/// made. They are fetched meanwhile: each is too short for the processor to foresee it, and
/// waiting for all of them takes as long as the sums do.
#[derive(Clone, Copy, Default)]
pub(super) struct Soon<'a> {
    pub vectors: [&'a [Vec3A]; 3],
    pub numbers: [&'a [f32]; 7],
    pub rows: &'a [Row],
}

impl Soon<'_> {
    /// Fetches one line of each.
    #[inline(always)]
    fn fetch(&self, line: usize) {
        prefetch_line(self.rows, line);
        self.vectors.iter().for_each(|a| prefetch_line(a, line));
        self.numbers.iter().for_each(|a| prefetch_line(a, line));
    }
}

/// Lines of the longest of them.
const LINES: usize = CHUNK * size_of::<Row>() / 64;

/// What neighbours need to know of a particle at `x` that moves with `v`.
#[inline(always)]
pub(super) fn row_of_motion(x: Vec3A, v: Vec3A) -> Row {
    let (x, v) = (x.as_dvec3(), v.as_dvec3());
    Row([v.x, v.y, v.z, x.dot(v)])
}

/// What neighbours need to know of a particle at `x` with the pressure `p`.
#[inline(always)]
pub(super) fn row_of_pressure(x: Vec3A, p: f32) -> Row {
    let p = f64::from(p);
    let moment = p * x.as_dvec3();
    Row([moment.x, moment.y, moment.z, p])
}

/// Adds the rates of compression of a chunk's particles; `motion` has the rows of all.
pub(super) fn add_compression(
    chunk: Chunk<'_>,
    v: &[Vec3A],
    motion: &[Row],
    soon: Soon<'_>,
    rates: &mut [f32],
) {
    dispatch!(compression(
        chunk: Chunk<'_>,
        v: &[Vec3A],
        motion: &[Row],
        soon: Soon<'_>,
        rates: &mut [f32],
    ));
}

/// Adds `Σ_j V ∇W_ij · (v_i - v_j)`, images included.
#[inline(always)]
pub(super) fn compression<L: Lanes>(
    l: L,
    chunk: Chunk<'_>,
    v: &[Vec3A],
    motion: &[Row],
    soon: Soon<'_>,
    rates: &mut [f32],
) {
    let own = chunk.first..chunk.first + rates.len();
    let (x, g) = (&chunk.x[own.clone()], &chunk.gradient[own.clone()]);
    let own_v = &v[own];
    let soon = Soon {
        vectors: [x, g, own_v],
        ..soon
    };
    let fetch = |line| {
        soon.fetch(line);
        chunk.images.fetch_for_compression(line);
    };
    let mut sums = [Row::default(); CHUNK];
    sum_rows(l, chunk.pairs, motion, fetch, &mut sums);
    let moving = own_v.iter().zip(g);
    let seen = sums.iter().zip(x).zip(moving);
    for (rate, ((Row([vx, vy, vz, work]), x), (v, g))) in rates.iter_mut().zip(seen) {
        let others = x.as_dvec3().dot(DVec3::new(*vx, *vy, *vz)) - work;
        *rate += (v.as_dvec3().dot(g.as_dvec3()) - others) as f32;
    }
    chunk.images.add_compression(v, rates);
}

/// Takes the gradient of `pressure`, given with the rows of all particles, over the density
/// and times `dt`, from the velocities of a chunk's particles, and notes the rows of these.
pub(super) fn push_chunk(
    chunk: Chunk<'_>,
    pressure: (&[f32], &[Row]),
    inverse_density: &[f32],
    dt: f32,
    moved: (&mut [Vec3A], &mut [Row]),
) {
    #[inline(always)]
    fn run<L: Lanes>(
        l: L,
        chunk: Chunk<'_>,
        pressure: (&[f32], &[Row]),
        inverse_density: &[f32],
        dt: f32,
        (v, motion): (&mut [Vec3A], &mut [Row]),
    ) {
        let mut gradients = [Vec3A::ZERO; CHUNK];
        let gradients = &mut gradients[..v.len()];
        let own = chunk.first..chunk.first + v.len();
        let inverse_density = &inverse_density[own.clone()];
        let mut soon = Soon {
            rows: motion,
            ..Soon::default()
        };
        soon.vectors[0] = v;
        soon.numbers[0] = inverse_density;
        pressure_gradient(l, chunk, pressure, soon, gradients);
        let known = chunk.x[own].iter().zip(inverse_density);
        let moved = v.iter_mut().zip(motion);
        for (((v, row), gradient), (&x, inverse)) in moved.zip(gradients).zip(known) {
            *v -= dt * inverse * *gradient;
            *row = row_of_motion(x, *v);
        }
    }
    dispatch!(run(
        chunk: Chunk<'_>,
        pressure: (&[f32], &[Row]),
        inverse_density: &[f32],
        dt: f32,
        moved: (&mut [Vec3A], &mut [Row]),
    ));
}

/// `Σ_j V ∇W_ij (p_i + p_j)`, images included.
#[inline(always)]
pub(super) fn pressure_gradient<'a, L: Lanes>(
    l: L,
    chunk: Chunk<'a>,
    (pressure, rows): (&'a [f32], &[Row]),
    mut soon: Soon<'a>,
    gradients: &mut [Vec3A],
) {
    let own = chunk.first..chunk.first + gradients.len();
    let (x, g) = (&chunk.x[own.clone()], &chunk.gradient[own.clone()]);
    let own_pressure = &pressure[own];
    (soon.vectors[1], soon.vectors[2]) = (x, g);
    soon.numbers[1] = own_pressure;
    let fetch = |line| {
        soon.fetch(line);
        chunk.images.fetch_for_gradients(line);
    };
    let mut sums = [Row::default(); CHUNK];
    sum_rows(l, chunk.pairs, rows, fetch, &mut sums);
    let pressed = own_pressure.iter().zip(g);
    let seen = sums.iter().zip(x).zip(pressed);
    for (gradient, ((Row([px, py, pz, sum]), x), (&p, g))) in gradients.iter_mut().zip(seen) {
        let others = *sum * x.as_dvec3() - DVec3::new(*px, *py, *pz);
        *gradient = (f64::from(p) * g.as_dvec3() + others).as_vec3a();
    }
    chunk.images.add_gradients(pressure, gradients);
}

/// How many blocks of pairs ahead are fetched. The lists of many particles do not fit into
/// the caches near the core.
const AHEAD: usize = 64;

/// `Σ_j s_ij rows_j` of every particle of a chunk. On the way, `fetch` is called for the
/// lines of what will be needed after.
#[inline(always)]
fn sum_rows<L: Lanes>(
    l: L,
    pairs: &ChunkPairs,
    rows: &[Row],
    fetch: impl Fn(usize),
    sums: &mut [Row; CHUNK],
) {
    let (owner, near, slope) = pairs.blocks();
    let (mut sum, mut last) = (l.no_rows(), 0);
    for (b, &owner) in owner.iter().enumerate() {
        prefetch(near, b + AHEAD);
        prefetch(slope, b + AHEAD);
        if b < LINES {
            fetch(b);
        }
        // SAFETY: neighbours are numbers of particles.
        let more = unsafe { l.weighted_rows(rows, &near[b], &slope[b]) };
        sum = l.go_on(sum, owner == last, more);
        last = owner;
        // The last block of a particle has the last word.
        sums[usize::from(owner)] = l.total(sum);
    }
}
