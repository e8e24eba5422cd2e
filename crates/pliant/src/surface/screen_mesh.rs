//! Screen-space meshes (Müller, Schirm & Duthaler 2007; Grahn 2008, section 6.3):
//! a surface of what a camera sees of particles, made anew for every picture.
//!
//! The seven steps, one function each:
//!
//! 1. particles to screen coordinates ([`project`]),
//! 2. depths of their spheres on a grid of nodes ([`splat`]),
//! 3. silhouettes: where a grid edge joins nodes of different depth, the place on
//!    the edge where the nearer surface ends ([`silhouettes`]),
//! 4. smoothing of depths by a separable binomial filter that does not reach over
//!    silhouettes ([`filter`]),
//! 5. vertices at nodes and at cuts, two where one surface passes before another
//!    ([`Vertices`]), and triangles by marching squares ([`triangulate`]),
//! 6. smoothing of the outline ([`smooth_silhouettes`]),
//! 7. back to the world, with normals ([`ScreenCamera::to_world`]).
//!
//! The mesh is open: it ends where the eye sees the liquid end.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::Surface;
use crate::math::Xyz;
use crate::mesh::TriMesh;

/// A pinhole camera as screen-space meshes need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenCamera {
    /// Where it stands, in metres.
    pub eye: Vec3,
    /// Unit vectors to the right, to the top and into the picture.
    pub right: Vec3,
    /// See `right`.
    pub up: Vec3,
    /// See `right`.
    pub forward: Vec3,
    /// Pixels per unit of x / z.
    pub focal: f32,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
}

impl ScreenCamera {
    /// A camera at `eye` that looks at `target`, y up.
    pub fn looking_at(eye: Vec3, target: Vec3, fov_degrees: f32, size: [u32; 2]) -> ScreenCamera {
        let forward = (target - eye).normalize_or(Vec3::NEG_Z);
        let right = forward
            .cross(Vec3::Y)
            .normalize_or(forward.any_orthonormal_vector());
        ScreenCamera {
            eye,
            right,
            up: right.cross(forward),
            forward,
            focal: 0.5 * size[1] as f32 / (0.5 * fov_degrees.clamp(0.1, 170.0)).to_radians().tan(),
            size,
        }
    }

    /// Pixel coordinates (right and down from the upper left corner) and depth.
    fn to_screen(self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        let z = d.dot(self.forward);
        let scale = self.focal / z;
        Vec3::new(
            0.5 * self.size[0] as f32 + d.dot(self.right) * scale,
            0.5 * self.size[1] as f32 - d.dot(self.up) * scale,
            z,
        )
    }

    /// The world point at pixel coordinates and depth.
    pub fn to_world(self, screen: Vec3) -> Vec3 {
        let x = (screen.x - 0.5 * self.size[0] as f32) / self.focal;
        let y = (0.5 * self.size[1] as f32 - screen.y) / self.focal;
        self.eye + screen.z * (self.forward + x * self.right + y * self.up)
    }
}

/// How a screen-space mesh is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenMeshSettings {
    /// Radius of the spheres in metres; about a spacing, so that they overlap.
    pub radius: f32,
    /// Pixels between nodes of the grid.
    pub grid: f32,
    /// Depths that differ by more than this many radii belong to different surfaces.
    pub depth_step: f32,
    /// Half width of the depth filter in nodes; 0 for none.
    pub filter: u32,
    /// Rounds of smoothing of the outline.
    pub outline: u32,
}

impl ScreenMeshSettings {
    /// What looks right for particles at this distance from each other.
    pub fn new(spacing: f32) -> ScreenMeshSettings {
        ScreenMeshSettings {
            radius: 0.9 * spacing,
            grid: 4.0,
            depth_step: 2.5,
            filter: 3,
            outline: 2,
        }
    }
}

/// Nothing at a node.
const EMPTY: f32 = f32::INFINITY;

/// The surface that `camera` sees of particles. Positions that are not finite or
/// behind the camera are left out.
///
/// ```
/// use pliant::{Vec3, math::XyzVec};
/// use pliant::surface::{ScreenCamera, ScreenMeshSettings, screen_mesh};
///
/// let drop: XyzVec = [Vec3::ZERO].into_iter().collect();
/// let camera = ScreenCamera::looking_at(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, 40.0, [160, 120]);
/// let seen = screen_mesh(drop.view(), &camera, &ScreenMeshSettings::new(1.0));
/// assert!(seen.mesh.vertices.iter().all(|v| v.z > -0.2 && v.length() < 1.0));
/// ```
pub fn screen_mesh(
    positions: Xyz<'_>,
    camera: &ScreenCamera,
    settings: &ScreenMeshSettings,
) -> Surface {
    let sane = settings.radius.is_finite() && settings.radius > 0.0 && settings.grid >= 0.25;
    if !sane || camera.size.contains(&0) {
        return Surface::default();
    }
    let spheres = project(positions, camera, settings);
    let mut nodes = Nodes::new(camera, settings);
    let bands = bands(&spheres, nodes.height, nodes.spacing);
    splat(&spheres, &bands, &mut nodes);
    let step = settings.depth_step * settings.radius;
    let cuts = silhouettes(&spheres, &bands, &nodes, step);
    filter(&mut nodes, settings.filter, step);
    let vertices = Vertices::new(&nodes, &cuts, step);
    let triangles = triangulate(&nodes, &vertices, step);
    let mut points = vertices.points;
    smooth_silhouettes(&mut points, &vertices.outline, &triangles, settings.outline);
    let mesh = TriMesh {
        vertices: points.iter().map(|&p| camera.to_world(p)).collect(),
        triangles,
    };
    Surface {
        normals: mesh.vertex_normals(),
        mesh,
    }
}

/// A particle on the screen.
#[derive(Clone, Copy)]
struct Disc {
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
fn project(positions: Xyz<'_>, camera: &ScreenCamera, settings: &ScreenMeshSettings) -> Vec<Disc> {
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
struct Nodes {
    depth: Vec<f32>,
    width: usize,
    height: usize,
    spacing: f32,
}

impl Nodes {
    fn new(camera: &ScreenCamera, settings: &ScreenMeshSettings) -> Nodes {
        let count = |pixels: u32| (pixels as f32 / settings.grid).ceil() as usize + 1;
        Nodes {
            depth: Vec::new(),
            width: count(camera.size[0]),
            height: count(camera.size[1]),
            spacing: settings.grid,
        }
    }

    fn place(&self, k: usize) -> Vec2 {
        self.spacing * Vec2::new((k % self.width) as f32, (k / self.width) as f32)
    }

    /// First and last node of a disc along one axis.
    fn range(&self, centre: f32, radius: f32, count: usize) -> std::ops::Range<usize> {
        let first = ((centre - radius) / self.spacing).ceil().max(0.0) as usize;
        let last = ((centre + radius) / self.spacing).floor().max(-1.0) as isize;
        first..((last + 1).max(0) as usize).min(count)
    }

    /// True if the two nodes do not show the same surface.
    fn differ(&self, a: usize, b: usize, step: f32) -> bool {
        let (a, b) = (self.depth[a], self.depth[b]);
        (a < EMPTY || b < EMPTY) && (a - b).abs() > step
    }
}

/// Discs by bands of rows, so that threads write to their own rows only.
fn bands(discs: &[Disc], height: usize, spacing: f32) -> Vec<Vec<u32>> {
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
const BAND: usize = 16;

/// Step 2: the nearest sphere at every node.
fn splat(discs: &[Disc], bands: &[Vec<u32>], nodes: &mut Nodes) {
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
struct Cuts {
    edges: [Vec<(f32, f32)>; 2],
}

const NO_CUT: (f32, f32) = (-1.0, EMPTY);

/// Step 3: on every edge between surfaces, the cut farthest from the nearer node
/// among the spheres that belong to its surface (Müller et al. 2007, section 3.3).
fn silhouettes(discs: &[Disc], bands: &[Vec<u32>], nodes: &Nodes, step: f32) -> Cuts {
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
struct BorderCount {
    sums: Vec<u32>,
    row: usize,
}

impl BorderCount {
    fn new(nodes: &Nodes, step: f32) -> BorderCount {
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
fn cut(nodes: &Nodes, disc: &Disc, ends: [usize; 2], step: f32, best: &mut (f32, f32)) {
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
fn filter(nodes: &mut Nodes, half: u32, step: f32) {
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

/// Step 5a: vertices in screen coordinates. A node that shows something has one;
/// an edge with a cut has one for the front surface, and one behind it if the far
/// node shows something too.
struct Vertices {
    points: Vec<Vec3>,
    /// Vertices on silhouettes.
    outline: Vec<bool>,
    node: Vec<u32>,
    /// Front and back vertex of the edges to the right and downwards.
    edge: [Vec<[u32; 2]>; 2],
}

const NONE: u32 = u32::MAX;

impl Vertices {
    fn new(nodes: &Nodes, cuts: &Cuts, step: f32) -> Vertices {
        let count = nodes.depth.len();
        let mut v = Vertices {
            points: Vec::new(),
            outline: Vec::new(),
            node: vec![NONE; count],
            edge: [vec![[NONE; 2]; count], vec![[NONE; 2]; count]],
        };
        for (k, &z) in nodes.depth.iter().enumerate() {
            if z < EMPTY {
                v.node[k] = v.add(nodes.place(k), z, false);
            }
        }
        for (axis, stride) in [1, nodes.width].into_iter().enumerate() {
            for k in 0..count {
                let edge_of_grid = if axis == 0 {
                    k % nodes.width + 1 == nodes.width
                } else {
                    k / nodes.width + 1 == nodes.height
                };
                if edge_of_grid || !nodes.differ(k, k + stride, step) {
                    continue;
                }
                let (a, b) = (nodes.depth[k], nodes.depth[k + stride]);
                // Spheres may end exactly at the grid: without a cut the surface
                // ends at its last node.
                let (t, _) = cuts.edges[axis][k];
                let t = if t >= 0.0 {
                    t.clamp(0.02, 0.98)
                } else if a < b {
                    0.02
                } else {
                    0.98
                };
                let at = nodes.place(k).lerp(nodes.place(k + stride), t);
                let front = v.add(at, a.min(b), true);
                let back = if a.max(b) < EMPTY {
                    v.add(at, a.max(b), true)
                } else {
                    NONE
                };
                v.edge[axis][k] = [front, back];
            }
        }
        v
    }

    fn add(&mut self, at: Vec2, depth: f32, outline: bool) -> u32 {
        self.points.push(at.extend(depth));
        self.outline.push(outline);
        self.points.len() as u32 - 1
    }
}

/// Step 5b: the sixteen cases of marching squares. The corners of a square fall
/// into surfaces, each of which is a polygon over its corners and the cuts beside
/// them.
fn triangulate(nodes: &Nodes, vertices: &Vertices, step: f32) -> Vec<[u32; 3]> {
    let rows: Vec<Vec<[u32; 3]>> = (0..nodes.height - 1)
        .into_par_iter()
        .map(|y| {
            let mut triangles = Vec::new();
            for x in 0..nodes.width - 1 {
                square(nodes, vertices, step, y * nodes.width + x, &mut triangles);
            }
            triangles
        })
        .collect();
    rows.concat()
}

fn square(nodes: &Nodes, v: &Vertices, step: f32, k: usize, out: &mut Vec<[u32; 3]>) {
    let w = nodes.width;
    // Counter-clockwise as the eye sees it, y down: along the left side first.
    let corners = [k, k + w, k + w + 1, k + 1];
    if corners.iter().all(|&c| v.node[c] == NONE) {
        return;
    }
    let sides = [(1, k), (0, k + w), (1, k + 1), (0, k)];
    let cut: [[u32; 2]; 4] = sides.map(|(axis, edge)| v.edge[axis][edge]);
    let is_cut = |s: usize| cut[s][0] != NONE;
    // Walk around the square once for every run of corners between cuts.
    for start in 0..4 {
        let before = (start + 3) % 4;
        let first_of_run = is_cut(before) || (start == 0 && !(0..4).any(is_cut));
        if !first_of_run || v.node[corners[start]] == NONE {
            continue;
        }
        let mut polygon = Vec::with_capacity(6);
        let depth = |c: usize| nodes.depth[corners[c]];
        // Of the two vertices of a cut, the one on the side of corner `c`.
        let side_of = |s: usize, c: usize| {
            let other = if c == s { (s + 1) % 4 } else { s };
            let [front, back] = cut[s];
            if depth(c) <= depth(other) {
                front
            } else {
                back
            }
        };
        if is_cut(before) {
            polygon.push(side_of(before, start));
        }
        let mut c = start;
        loop {
            polygon.push(v.node[corners[c]]);
            if is_cut(c) {
                polygon.push(side_of(c, c));
                break;
            }
            c = (c + 1) % 4;
            if c == start {
                break;
            }
        }
        let tight = |a: u32, b: u32| (v.points[a as usize].z - v.points[b as usize].z).abs();
        for pair in polygon[1..].windows(2) {
            let t = [polygon[0], pair[0], pair[1]];
            let span = tight(t[0], t[1])
                .max(tight(t[1], t[2]))
                .max(tight(t[0], t[2]));
            if !t.contains(&NONE) && span <= 3.0 * step {
                out.push(t);
            }
        }
    }
}

/// Step 6: vertices of the outline move to the mean of those they share an edge
/// with, themselves included, on the screen; their depths stay.
fn smooth_silhouettes(points: &mut [Vec3], outline: &[bool], triangles: &[[u32; 3]], rounds: u32) {
    for _ in 0..rounds {
        let mut sum: Vec<(Vec2, f32)> = points.iter().map(|p| (Vec2::new(p.x, p.y), 1.0)).collect();
        for t in triangles {
            for k in 0..3 {
                let (a, b) = (t[k] as usize, t[(k + 1) % 3] as usize);
                // Along the outline only: inner nodes would pull it inwards.
                if outline[a] && outline[b] {
                    let (pa, pb) = (points[a], points[b]);
                    sum[a].0 += Vec2::new(pb.x, pb.y);
                    sum[a].1 += 1.0;
                    sum[b].0 += Vec2::new(pa.x, pa.y);
                    sum[b].1 += 1.0;
                }
            }
        }
        for (p, (sum, n)) in points.iter_mut().zip(sum) {
            if n > 1.0 {
                let mean = sum / n;
                *p = Vec3::new(mean.x, mean.y, p.z);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    fn camera() -> ScreenCamera {
        ScreenCamera::looking_at(Vec3::new(0.0, 0.0, 3.0), Vec3::ZERO, 40.0, [320, 240])
    }

    fn settings(radius: f32) -> ScreenMeshSettings {
        ScreenMeshSettings {
            radius,
            filter: 0,
            outline: 0,
            ..ScreenMeshSettings::new(radius)
        }
    }

    /// Area of the mesh on the screen, in pixels.
    fn screen_area(surface: &Surface, camera: &ScreenCamera) -> f32 {
        let flat: Vec<Vec3> = surface
            .mesh
            .vertices
            .iter()
            .map(|&v| camera.to_screen(v))
            .collect();
        surface
            .mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| flat[v as usize]);
                // y points down: what the eye sees counter-clockwise is negative.
                -0.5 * ((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y))
            })
            .sum()
    }

    #[test]
    fn a_sphere_is_seen_as_a_disc_that_faces_the_eye() {
        let one: XyzVec = [Vec3::ZERO].into_iter().collect();
        let camera = camera();
        let seen = screen_mesh(one.view(), &camera, &settings(0.5));
        let pixels = 0.5 * camera.focal / 3.0;
        let disc = std::f32::consts::PI * pixels * pixels;
        let area = screen_area(&seen, &camera);
        assert!((area / disc - 1.0).abs() < 0.02, "{area} {disc}");
        let front = seen
            .mesh
            .vertices
            .iter()
            .map(|v| v.z)
            .fold(f32::MIN, f32::max);
        assert!((front - 0.5).abs() < 0.01, "{front}");
        let report = seen.mesh.check();
        assert!(report.is_oriented() && report.non_manifold_edges == 0);
        let toward = seen.normals.iter().filter(|n| n.z > 0.0).count();
        assert!(toward > seen.normals.len() * 9 / 10);
    }

    #[test]
    fn one_surface_before_another_has_a_silhouette_and_both_keep_their_depth() {
        let two: XyzVec = [Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.9, 0.0, -1.5)]
            .into_iter()
            .collect();
        let camera = camera();
        let seen = screen_mesh(two.view(), &camera, &settings(0.3));
        let near = seen.mesh.vertices.iter().filter(|v| v.z > 0.5).count();
        let far = seen.mesh.vertices.iter().filter(|v| v.z < -1.0).count();
        assert_eq!(near + far, seen.mesh.vertices.len());
        assert!(near > 50 && far > 10, "{near} {far}");
        // No triangle bridges them.
        for t in &seen.mesh.triangles {
            let z = t.map(|v| seen.mesh.vertices[v as usize].z);
            assert!(z.iter().all(|&z| z > 0.5) || z.iter().all(|&z| z < 0.5));
        }
    }

    #[test]
    fn the_filter_flattens_and_leaves_silhouettes_alone() {
        let d = 0.05;
        let sheet: XyzVec = (0..400)
            .map(|i| d * Vec3::new((i % 20) as f32 - 9.5, (i / 20) as f32 - 9.5, 0.0))
            .collect();
        let camera = camera();
        let roughness = |filter: u32| {
            let seen = screen_mesh(
                sheet.view(),
                &camera,
                &ScreenMeshSettings {
                    filter,
                    ..settings(0.05)
                },
            );
            let inner = seen
                .mesh
                .vertices
                .iter()
                .filter(|v| v.x.abs() < 0.3 && v.y.abs() < 0.3);
            let z: Vec<f32> = inner.map(|v| v.z).collect();
            let mean = z.iter().sum::<f32>() / z.len() as f32;
            z.iter().map(|z| (z - mean).powi(2)).sum::<f32>() / z.len() as f32
        };
        assert!(roughness(4) < 0.3 * roughness(0));
    }

    #[test]
    fn odd_input_gives_an_empty_or_finite_mesh_and_threads_do_not_matter() {
        let odd: XyzVec = [
            Vec3::NAN,
            Vec3::splat(1e30),
            Vec3::new(0.0, 0.0, 9.0),
            Vec3::ZERO,
        ]
        .into_iter()
        .collect();
        let camera = camera();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| screen_mesh(odd.view(), &camera, &ScreenMeshSettings::new(0.2)))
        };
        let seen = with(1);
        assert!(seen.mesh.vertices.iter().all(|v| v.is_finite()));
        assert_eq!(seen, with(3));
        let none = screen_mesh(odd.view(), &camera, &ScreenMeshSettings::new(f32::NAN));
        assert!(none.mesh.triangles.is_empty());
    }
}
