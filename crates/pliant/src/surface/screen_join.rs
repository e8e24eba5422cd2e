//! Steps 5 and 6 of screen-space meshes: vertices, triangles and the outline.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::screen_grid::{Cuts, EMPTY, Nodes};

/// Step 5a: vertices in screen coordinates. A node that shows something has one;
/// an edge with a cut has one for the front surface, and one behind it if the far
/// node shows something too.
pub(super) struct Vertices {
    pub(super) points: Vec<Vec3>,
    /// Vertices on silhouettes.
    pub(super) outline: Vec<bool>,
    node: Vec<u32>,
    /// Front and back vertex of the edges to the right and downwards.
    edge: [Vec<[u32; 2]>; 2],
}

pub(super) const NONE: u32 = u32::MAX;

impl Vertices {
    pub(super) fn new(nodes: &Nodes, cuts: &Cuts, step: f32) -> Vertices {
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
pub(super) fn triangulate(nodes: &Nodes, vertices: &Vertices, step: f32) -> Vec<[u32; 3]> {
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

pub(super) fn square(nodes: &Nodes, v: &Vertices, step: f32, k: usize, out: &mut Vec<[u32; 3]>) {
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
pub(super) fn smooth_silhouettes(
    points: &mut [Vec3],
    outline: &[bool],
    triangles: &[[u32; 3]],
    rounds: u32,
) {
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
