//! Steps 1 to 4 of screen-space meshes: particles to depths on a grid of nodes, and
//! where surfaces end between them.

use glam::Vec2;
use rayon::prelude::*;

use super::screen_mesh::{ScreenCamera, ScreenMeshSettings};
use crate::math::Xyz;

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
}

impl Disc {
    /// Depth of the sphere's front at a place; infinite beside it (Grahn 2008:
    /// `z_p - r √(1 - d²/r_p²)`).
    #[inline]
    fn depth_at(&self, at: Vec2) -> f32 {
        let q = (at - self.centre).length_squared() / (self.pixels * self.pixels);
        if q < 1.0 {
            self.depth - self.radius * (1.0 - q).sqrt()
        } else {
            EMPTY
        }
    }
}

/// Step 1: what of the particles may be in the picture, in their order.
pub(super) fn project(
    positions: Xyz<'_>,
    camera: &ScreenCamera,
    settings: &ScreenMeshSettings,
) -> Vec<Disc> {
    let [width, height] = camera.size.map(|s| s as f32);
    (0..positions.len())
        .into_par_iter()
        .with_min_len(1024)
        .filter_map(|i| {
            let p = camera.to_screen(positions.get(i));
            let pixels = settings.radius * camera.focal / p.z;
            // Spheres around the eye have no outline.
            let seen = p.z > 1.5 * settings.radius
                && p.x > -pixels
                && p.y > -pixels
                && p.x < width + pixels
                && p.y < height + pixels;
            seen.then_some(Disc {
                centre: Vec2::new(p.x, p.y),
                depth: p.z,
                pixels,
                radius: settings.radius,
            })
        })
        .collect()
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

    /// First and last node of a disc along one axis.
    fn range(&self, centre: f32, radius: f32, count: usize) -> std::ops::Range<usize> {
        let first = ((centre - radius) / self.spacing).ceil().max(0.0) as usize;
        let last = ((centre + radius) / self.spacing).floor().max(-1.0) as isize;
        first..((last + 1).max(0) as usize).min(count)
    }

    /// True if the two nodes do not show the same surface.
    pub(super) fn differ(&self, a: usize, b: usize, step: f32) -> bool {
        let (a, b) = (self.depth[a], self.depth[b]);
        (a < EMPTY || b < EMPTY) && (a - b).abs() > step
    }
}

/// Discs by bands of rows, so that threads write to their own rows only.
pub(super) fn bands(discs: &[Disc], height: usize, spacing: f32) -> Vec<Vec<u32>> {
    let count = height.div_ceil(BAND);
    let mut bands = vec![Vec::new(); count];
    for (i, disc) in discs.iter().enumerate() {
        let band = |y: f32| (y / spacing / BAND as f32).floor();
        // One row more: a silhouette edge may end outside its band.
        let first = band(disc.centre.y - disc.pixels - spacing).max(0.0) as usize;
        let last = band(disc.centre.y + disc.pixels + spacing).max(0.0) as usize;
        for list in bands.iter_mut().take(last + 1).skip(first) {
            list.push(i as u32);
        }
    }
    bands
}

/// Rows of nodes in a band.
pub(super) const BAND: usize = 16;

/// Step 2: the nearest sphere at every node.
pub(super) fn splat(discs: &[Disc], bands: &[Vec<u32>], nodes: &mut Nodes) {
    let (width, height, spacing) = (nodes.width, nodes.height, nodes.spacing);
    let mut depth = vec![EMPTY; width * height];
    depth
        .par_chunks_mut(BAND * width)
        .zip(bands)
        .enumerate()
        .for_each(|(band, (rows, list))| {
            let top = band * BAND;
            for &i in list {
                let disc = &discs[i as usize];
                for y in nodes.range(disc.centre.y, disc.pixels, height) {
                    let Some(row) = y.checked_sub(top).filter(|r| (r + 1) * width <= rows.len())
                    else {
                        continue;
                    };
                    for x in nodes.range(disc.centre.x, disc.pixels, width) {
                        let at = spacing * Vec2::new(x as f32, y as f32);
                        let z = &mut rows[row * width + x];
                        *z = z.min(disc.depth_at(at));
                    }
                }
            }
        });
    nodes.depth = depth;
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
pub(super) fn silhouettes(discs: &[Disc], bands: &[Vec<u32>], nodes: &Nodes, step: f32) -> Cuts {
    let (width, height, spacing) = (nodes.width, nodes.height, nodes.spacing);
    let border = BorderCount::new(nodes, step);
    let mut edges = [vec![NO_CUT; width * height], vec![NO_CUT; width * height]];
    for (axis, cuts) in edges.iter_mut().enumerate() {
        let stride = [1, width][axis];
        cuts.par_chunks_mut(BAND * width)
            .zip(bands)
            .enumerate()
            .for_each(|(band, (rows, list))| {
                let top = band * BAND;
                for &i in list {
                    let disc = &discs[i as usize];
                    // Edges that start one node before the disc may end in it.
                    let grown = disc.pixels + spacing;
                    let xs = nodes.range(disc.centre.x, grown, width);
                    let ys = nodes.range(disc.centre.y, grown, height);
                    if border.is_free(xs.clone(), ys.clone()) {
                        continue;
                    }
                    for y in ys {
                        let Some(row) =
                            y.checked_sub(top).filter(|r| (r + 1) * width <= rows.len())
                        else {
                            continue;
                        };
                        for x in xs.clone() {
                            if [x + 1, y + 1][axis] >= [width, height][axis] {
                                continue;
                            }
                            let k = y * width + x;
                            if nodes.differ(k, k + stride, step) {
                                cut(
                                    nodes,
                                    disc,
                                    [k, k + stride],
                                    step,
                                    &mut rows[row * width + x],
                                );
                            }
                        }
                    }
                }
            });
    }
    Cuts { edges }
}

/// How many edges between surfaces start in a rectangle of nodes, by sums over
/// everything above and to the left (Crow 1984): most discs lie on none.
pub(super) struct BorderCount {
    sums: Vec<u32>,
    row: usize,
}

impl BorderCount {
    pub(super) fn new(nodes: &Nodes, step: f32) -> BorderCount {
        let (width, row) = (nodes.width, nodes.width + 1);
        let mut sums = vec![0; row * (nodes.height + 1)];
        for y in 0..nodes.height {
            let mut along = 0;
            for x in 0..width {
                let k = y * width + x;
                let right = x + 1 < width && nodes.differ(k, k + 1, step);
                let down = y + 1 < nodes.height && nodes.differ(k, k + width, step);
                along += u32::from(right || down);
                sums[(y + 1) * row + x + 1] = sums[y * row + x + 1] + along;
            }
        }
        BorderCount { sums, row }
    }

    fn is_free(&self, x: std::ops::Range<usize>, y: std::ops::Range<usize>) -> bool {
        if x.is_empty() || y.is_empty() {
            return true;
        }
        let at = |x: usize, y: usize| self.sums[y * self.row + x];
        at(x.end, y.end) + at(x.start, y.start) == at(x.start, y.end) + at(x.end, y.start)
    }
}

/// Takes a disc's cut of an edge if it is farther from the nearer end.
pub(super) fn cut(nodes: &Nodes, disc: &Disc, ends: [usize; 2], step: f32, best: &mut (f32, f32)) {
    let near_first = nodes.depth[ends[0]] < nodes.depth[ends[1]];
    let [near, far] = if near_first { ends } else { [ends[1], ends[0]] };
    // Only spheres of the nearer surface end it.
    if (disc.depth - nodes.depth[near]).abs() > step + disc.radius {
        return;
    }
    if nodes.depth[far] < EMPTY && disc.depth > nodes.depth[far] {
        return;
    }
    let (from, to) = (nodes.place(near), nodes.place(far));
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
    let (width, height) = (nodes.width as isize, nodes.height as isize);
    for (dx, dy) in [(1, 0), (0, 1)] {
        let depth = &nodes.depth;
        let filtered: Vec<f32> = (0..depth.len())
            .into_par_iter()
            .with_min_len(2048)
            .map(|k| {
                let here = depth[k];
                if here == EMPTY {
                    return here;
                }
                let (x, y) = (k as isize % width, k as isize / width);
                let (mut sum, mut total) = (0.0, 0.0);
                for (w, o) in weights.iter().zip(-half..=half) {
                    let (x, y) = (x + o * dx, y + o * dy);
                    if x < 0 || y < 0 || x >= width || y >= height {
                        continue;
                    }
                    let there = depth[(y * width + x) as usize];
                    // Another surface: the filter must not mix them.
                    if (there - here).abs() <= step {
                        sum += w * there;
                        total += w;
                    }
                }
                sum / total
            })
            .collect();
        nodes.depth = filtered;
    }
}
