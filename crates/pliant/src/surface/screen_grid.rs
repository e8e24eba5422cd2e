//! Steps 1 to 4 of screen-space meshes: particles to depths on a grid of nodes, and
//! where surfaces end between them.

use std::ops::Range;

use glam::Vec2;
use rayon::prelude::*;

use super::screen_mesh::{ScreenCamera, ScreenMeshSettings};
use crate::math::Xyz;
use crate::simd::{Lanes, WIDTH, dispatch};

/// Nothing at a node.
pub(super) const EMPTY: f32 = f32::INFINITY;

/// A particle on the screen.
#[derive(Clone, Copy)]
pub(super) struct Disc {
    centre: Vec2,
    depth: f32,
    /// Radius in pixels, and that of the sphere in metres.
    pixels: f32,
    radius: f32,
    /// Nodes inside its box, first and end.
    columns: [u32; 2],
    rows: [u32; 2],
}

/// The discs of each band of rows, so that threads write to their own rows only; each in
/// one list per task that projected them, which together are in the particles' order.
pub(super) struct Bands {
    /// `lists[task][band]`
    lists: Vec<Vec<Vec<Disc>>>,
}

impl Bands {
    fn of(&self, band: usize) -> impl Iterator<Item = &Disc> {
        self.lists.iter().flat_map(move |bands| &bands[band])
    }
}

/// Rows of nodes in a band.
const BAND: usize = 16;
/// Particles that a task projects.
const TASK: usize = 4096;

/// Step 1: what of the particles may be in the picture.
pub(super) fn project(
    positions: Xyz<'_>,
    camera: &ScreenCamera,
    settings: &ScreenMeshSettings,
    nodes: &Nodes,
) -> Bands {
    let tasks = positions.len().div_ceil(TASK);
    let lists = (0..tasks)
        .into_par_iter()
        .map(|task| {
            let from = task * TASK;
            let range = from..(from + TASK).min(positions.len());
            let mut bands = vec![Vec::new(); nodes.height.div_ceil(BAND)];
            let out = bands.as_mut_slice();
            dispatch!(project_some(
                positions: Xyz<'_>,
                range: Range<usize>,
                camera: &ScreenCamera,
                settings: &ScreenMeshSettings,
                nodes: &Nodes,
                out: &mut [Vec<Disc>],
            ));
            bands
        })
        .collect();
    Bands { lists }
}

/// Projects a range of particles and puts each into the bands it may act on.
#[inline(always)]
fn project_some<L: Lanes>(
    _lanes: L,
    positions: Xyz<'_>,
    range: Range<usize>,
    camera: &ScreenCamera,
    settings: &ScreenMeshSettings,
    nodes: &Nodes,
    bands: &mut [Vec<Disc>],
) {
    let [width, height] = camera.size.map(|s| s as f32);
    for i in range {
        let p = camera.to_screen(positions.get(i));
        let pixels = settings.radius * camera.focal / p.z;
        // Spheres around the eye have no outline.
        let seen = p.z > 1.5 * settings.radius
            && p.x > -pixels
            && p.y > -pixels
            && p.x < width + pixels
            && p.y < height + pixels;
        if !seen {
            continue;
        }
        let rows = nodes.range(p.y, pixels, nodes.height);
        let disc = Disc {
            centre: Vec2::new(p.x, p.y),
            depth: p.z,
            pixels,
            radius: settings.radius,
            columns: nodes.range(p.x, pixels, nodes.width),
            rows,
        };
        // One row more on both sides: a silhouette edge may end in the disc.
        let first = (rows[0] as usize).saturating_sub(1) / BAND;
        let last = (rows[1] as usize).min(nodes.height - 1) / BAND;
        for band in &mut bands[first.min(last)..=last] {
            band.push(disc);
        }
    }
}

/// Depths on the grid, row by row; [`EMPTY`] where nothing is.
pub(super) struct Nodes {
    pub(super) depth: Vec<f32>,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) spacing: f32,
}

impl Nodes {
    pub(super) fn new(camera: &ScreenCamera, settings: &ScreenMeshSettings) -> Nodes {
        let count = |pixels: u32| (pixels as f32 / settings.grid).ceil() as usize + 1;
        Nodes {
            depth: Vec::new(),
            width: count(camera.size[0]),
            height: count(camera.size[1]),
            spacing: settings.grid,
        }
    }

    pub(super) fn place(&self, k: usize) -> Vec2 {
        self.spacing * Vec2::new((k % self.width) as f32, (k / self.width) as f32)
    }

    /// First and end node of a disc along one axis.
    #[inline(always)]
    fn range(&self, centre: f32, radius: f32, count: usize) -> [u32; 2] {
        let first = ((centre - radius) / self.spacing).ceil().max(0.0) as u32;
        let end = ((centre + radius) / self.spacing + 1.0).floor().max(0.0) as u32;
        [first, end].map(|n| n.min(count as u32))
    }

    /// True if the two nodes do not show the same surface.
    pub(super) fn differ(&self, a: usize, b: usize, step: f32) -> bool {
        let (a, b) = (self.depth[a], self.depth[b]);
        (a < EMPTY || b < EMPTY) && (a - b).abs() > step
    }
}

/// Step 2: the nearest sphere at every node.
pub(super) fn splat(bands: &Bands, nodes: &mut Nodes) {
    let (width, spacing) = (nodes.width, nodes.spacing);
    let mut depth = vec![EMPTY; width * nodes.height];
    depth
        .par_chunks_mut(BAND * width)
        .enumerate()
        .for_each(|(band, rows)| {
            dispatch!(splat_band(
                bands: &Bands,
                band: usize,
                width: usize,
                spacing: f32,
                rows: &mut [f32],
            ));
        });
    nodes.depth = depth;
}

/// Depths of a band, eight nodes at a time. A disc adds nothing to nodes beside it, so
/// the eight may reach over its ends.
#[inline(always)]
fn splat_band<L: Lanes>(
    l: L,
    bands: &Bands,
    band: usize,
    width: usize,
    spacing: f32,
    rows: &mut [f32],
) {
    let top = band * BAND;
    let end = top + rows.len() / width;
    let xs: Vec<f32> = (0..width).map(|x| spacing * x as f32).collect();
    let (none, one, empty) = (l.splat(0.0), l.splat(1.0), l.splat(EMPTY));
    for disc in bands.of(band) {
        let square = l.splat(disc.pixels * disc.pixels);
        let (centre, depth) = (l.splat(disc.centre.x), l.splat(disc.depth));
        let radius = l.splat(disc.radius);
        let [first, last] = disc.columns.map(|x| x as usize);
        for y in (disc.rows[0] as usize).max(top)..(disc.rows[1] as usize).min(end) {
            let dy = spacing * y as f32 - disc.centre.y;
            let row = &mut rows[(y - top) * width..][..width];
            if width < WIDTH {
                for (z, &x) in row.iter_mut().zip(&xs) {
                    *z = z.min(disc.depth_at(x, dy));
                }
                continue;
            }
            let dy2 = l.splat(dy * dy);
            for x in (first..last).step_by(WIDTH) {
                let x = x.min(width - WIDTH);
                // SAFETY: `x + 8 <= width`, which is the length of both.
                let (places, before) = unsafe { (l.load(&xs, x), l.load(row, x)) };
                let dx = l.sub(places, centre);
                let q = l.div(l.add(l.mul(dx, dx), dy2), square);
                let inside = l.max(l.sub(one, q), none);
                let front = l.sub(depth, l.mul(radius, l.sqrt(inside)));
                let front = l.select(front, empty, l.less(q, one));
                // SAFETY: as above.
                unsafe { l.store(l.min(before, front), row, x) };
            }
        }
    }
}

impl Disc {
    /// Depth of the sphere's front at a place, `dy` from its centre along y; infinite
    /// beside it (Grahn 2008: `z_p - r √(1 - d²/r_p²)`).
    fn depth_at(&self, x: f32, dy: f32) -> f32 {
        let dx = x - self.centre.x;
        let q = (dx * dx + dy * dy) / (self.pixels * self.pixels);
        if q < 1.0 {
            self.depth - self.radius * (1.0 - q).sqrt()
        } else {
            EMPTY
        }
    }
}

/// Where silhouettes cut the edges to the right and downwards of every node: the
/// place from 0 to 1 along the edge and the depth there; negative places are no
/// cut.
pub(super) struct Cuts {
    pub(super) edges: [Vec<(f32, f32)>; 2],
}

pub(super) const NO_CUT: (f32, f32) = (-1.0, EMPTY);

/// Step 3: on every edge between surfaces, the cut farthest from the nearer node
/// among the spheres that belong to its surface (Müller et al. 2007, section 3.3).
pub(super) fn silhouettes(bands: &Bands, nodes: &Nodes, step: f32) -> Cuts {
    let (width, height) = (nodes.width, nodes.height);
    let borders = Borders::new(nodes, step);
    let mut across = vec![NO_CUT; width * height];
    let mut down = vec![NO_CUT; width * height];
    across
        .par_chunks_mut(BAND * width)
        .zip(down.par_chunks_mut(BAND * width))
        .enumerate()
        .for_each(|(band, (across, down))| {
            let top = band * BAND;
            let end = top + across.len() / width;
            for disc in bands.of(band) {
                // Edges that start one node before the disc may end in it.
                let grown = |[first, end]: [u32; 2], most: usize| {
                    (first as usize).saturating_sub(1)..(end as usize + 1).min(most)
                };
                let (xs, ys) = (grown(disc.columns, width), grown(disc.rows, height));
                if borders.none_in(&xs, &ys) {
                    continue;
                }
                for y in ys.start.max(top)..ys.end.min(end) {
                    let row = (y - top) * width;
                    borders.for_each(y, xs.clone(), |x, axis| {
                        let cuts = if axis == 0 { &mut *across } else { &mut *down };
                        cut(nodes, disc, [x, y], axis, step, &mut cuts[row + x]);
                    });
                }
            }
        });
    Cuts {
        edges: [across, down],
    }
}

/// Which edges join different surfaces, one bit per node and axis, and how many of their
/// nodes there are above and to the left of every node (Crow 1984): most discs lie on
/// none.
struct Borders {
    bits: [Vec<u64>; 2],
    words_per_row: usize,
    sums: Vec<u32>,
    sums_per_row: usize,
}

impl Borders {
    fn new(nodes: &Nodes, step: f32) -> Borders {
        let words_per_row = nodes.width.div_ceil(64);
        let mut bits = [0, 1].map(|_| vec![0u64; words_per_row * nodes.height]);
        let [across, down] = &mut bits;
        across
            .par_chunks_mut(words_per_row)
            .zip(down.par_chunks_mut(words_per_row))
            .enumerate()
            .for_each(|(y, (across, down))| {
                for x in 0..nodes.width {
                    let k = y * nodes.width + x;
                    let right = x + 1 < nodes.width && nodes.differ(k, k + 1, step);
                    let below = y + 1 < nodes.height && nodes.differ(k, k + nodes.width, step);
                    across[x / 64] |= u64::from(right) << (x % 64);
                    down[x / 64] |= u64::from(below) << (x % 64);
                }
            });
        let sums_per_row = nodes.width + 1;
        let mut sums = vec![0; sums_per_row * (nodes.height + 1)];
        for y in 0..nodes.height {
            let (above, below) = sums[y * sums_per_row..].split_at_mut(sums_per_row);
            let words = y * words_per_row;
            let mut along = 0;
            for x in 0..nodes.width {
                let [across, down] = [0, 1].map(|axis| bits[axis][words + x / 64]);
                along += ((across | down) >> (x % 64) & 1) as u32;
                below[x + 1] = above[x + 1] + along;
            }
        }
        Borders {
            bits,
            words_per_row,
            sums,
            sums_per_row,
        }
    }

    /// True if no such edge starts in a rectangle of nodes.
    #[inline]
    fn none_in(&self, x: &Range<usize>, y: &Range<usize>) -> bool {
        if x.is_empty() || y.is_empty() {
            return true;
        }
        let at = |x: usize, y: usize| self.sums[y * self.sums_per_row + x];
        at(x.end, y.end) + at(x.start, y.start) == at(x.start, y.end) + at(x.end, y.start)
    }

    /// Calls `visit` with the column and the axis of every such edge that starts in
    /// these columns of row `y`.
    #[inline]
    fn for_each(&self, y: usize, columns: Range<usize>, mut visit: impl FnMut(usize, usize)) {
        for word in columns.start / 64..=(columns.end - 1) / 64 {
            let first = columns.start.max(64 * word) - 64 * word;
            let count = columns.end.min(64 * word + 64) - 64 * word - first;
            let mask = u64::MAX >> (64 - count) << first;
            for (axis, bits) in self.bits.iter().enumerate() {
                let mut bits = bits[y * self.words_per_row + word] & mask;
                while bits != 0 {
                    visit(64 * word + bits.trailing_zeros() as usize, axis);
                    bits &= bits - 1;
                }
            }
        }
    }
}

/// Takes a disc's cut of the edge that starts at column and row `at` if it is farther
/// from the nearer end.
fn cut(nodes: &Nodes, disc: &Disc, at: [usize; 2], axis: usize, step: f32, best: &mut (f32, f32)) {
    let start = at[1] * nodes.width + at[0];
    let ends = [start, start + [1, nodes.width][axis]].map(|k| nodes.depth[k]);
    let near_first = ends[0] < ends[1];
    let [near, far] = if near_first { ends } else { [ends[1], ends[0]] };
    // Only spheres of the nearer surface end it.
    if (disc.depth - near).abs() > step + disc.radius {
        return;
    }
    if far < EMPTY && disc.depth > far {
        return;
    }
    let node = |[x, y]: [usize; 2]| nodes.spacing * Vec2::new(x as f32, y as f32);
    let mut next = at;
    next[axis] += 1;
    let (from, to) = if near_first {
        (node(at), node(next))
    } else {
        (node(next), node(at))
    };
    let along = to - from;
    let d = from - disc.centre;
    let (a, b) = (along.length_squared(), d.dot(along));
    let c = d.length_squared() - disc.pixels * disc.pixels;
    let root = b * b - a * c;
    if root < 0.0 {
        return;
    }
    // Where the outline leaves the edge.
    let t = (-b + root.sqrt()) / a;
    if !(0.0..=1.0).contains(&t) {
        return;
    }
    let place = if near_first { t } else { 1.0 - t };
    let from_near = |p: f32| if near_first { p } else { 1.0 - p };
    if best.0 < 0.0 || t > from_near(best.0) {
        *best = (place, disc.depth);
    }
}

/// Step 4: a binomial filter along rows, then along columns.
pub(super) fn filter(nodes: &mut Nodes, half: u32, step: f32) {
    if half == 0 {
        return;
    }
    let half = half.min(16) as isize;
    // Row 2 · half of Pascal's triangle.
    let mut weights = vec![1.0f32];
    for _ in 0..2 * half {
        let mut next = vec![1.0];
        next.extend(weights.windows(2).map(|w| w[0] + w[1]));
        next.push(1.0);
        weights = next;
    }
    let (width, height) = (nodes.width, nodes.height);
    for vertical in [false, true] {
        let depth = nodes.depth.as_slice();
        let mut filtered = vec![EMPTY; depth.len()];
        filtered
            .par_chunks_mut(BAND * width)
            .enumerate()
            .for_each(|(band, rows)| {
                let mut sums = vec![[0.0f32; 2]; width];
                for (y, row) in (band * BAND..).zip(rows.chunks_exact_mut(width)) {
                    let line = |y: usize| &depth[y * width..][..width];
                    sums.fill([0.0; 2]);
                    for (&w, o) in weights.iter().zip(-half..=half) {
                        if !vertical {
                            add_shifted(line(y), line(y), o, w, step, &mut sums);
                        } else if let Some(there) = y.checked_add_signed(o).filter(|&y| y < height)
                        {
                            add_shifted(line(y), line(there), 0, w, step, &mut sums);
                        }
                    }
                    for ((z, &here), [sum, total]) in row.iter_mut().zip(line(y)).zip(&sums) {
                        *z = if here < EMPTY { sum / total } else { EMPTY };
                    }
                }
            });
        nodes.depth = filtered;
    }
}

/// Adds `w` times the depths of `line`, `shift` nodes on, to the sums of the nodes `here`,
/// and `w` to their totals. Where there is another surface nothing is added: the filter
/// must not mix them.
fn add_shifted(here: &[f32], line: &[f32], shift: isize, w: f32, step: f32, sums: &mut [[f32; 2]]) {
    let width = here.len();
    let back = (-shift).max(0) as usize;
    let on = shift.max(0) as usize;
    if back.max(on) >= width {
        return;
    }
    let there = &line[on..width - back];
    let here = &here[back..width - on];
    for ((&here, &there), [sum, total]) in here.iter().zip(there).zip(&mut sums[back..]) {
        let same = (there - here).abs() <= step;
        *sum += if same { w * there } else { 0.0 };
        *total += if same { w } else { 0.0 };
    }
}
