//! A signed distance field of a closed mesh (Grahn 2008, section 4.2), kept only
//! near the surface.

use std::sync::Arc;

use glam::Vec3;

use super::gathered::Gathered;
use super::mesh_normals::BORDER;
use super::sdf_build::{SdfError, build};
use super::triangle_hash::overlap;
use super::{Crossing, SurfacePoint, TriangleIndex};
use crate::contact::triangle::Feature;
use crate::math::Aabb;
use crate::mesh::TriMesh;

/// Cells along a block's side.
pub(super) const BLOCK: usize = 8;
/// Nodes along a block's side: the last ones are the next block's first.
pub(super) const NODES: usize = BLOCK + 1;
pub(super) const NODES_PER_BLOCK: usize = NODES * NODES * NODES;
/// A block without nodes, farther from the surface than the band.
pub(super) const FAR: u32 = u32::MAX;

/// Interpolating a distance between nodes errs by at most this many cells
/// (half a cell's diagonal); on smooth walls by about `cell² / (4 * radius)`.
const INTERPOLATION_ERROR: f32 = 0.866_026;
/// Steps from triangle to triangle that improve an answer.
const WALK: usize = 8;

/// A signed distance field, negative inside.
///
/// Distances are exact at the nodes of a grid and interpolated between, in blocks
/// of 8³ cells that lie within `reach` plus two cells of the surface; elsewhere only
/// the distance of each block's middle is known. Walls and gaps thinner than a cell
/// are lost: index those with [`super::Bvh`].
pub struct Sdf {
    pub(super) mesh: Arc<TriMesh>,
    pub(super) triangles: Vec<Gathered>,
    /// The triangle beyond each edge.
    pub(super) across: Vec<u32>,
    pub(super) bounds: Aabb,
    pub(super) grid: Grid,
    /// Per block the number of its nodes' block, or [`FAR`].
    pub(super) map: Vec<u32>,
    pub(super) center_distance: Vec<f32>,
    /// [`NODES_PER_BLOCK`] distances per near block, x running fastest.
    pub(super) distance: Vec<f32>,
    /// The triangle nearest to each node.
    pub(super) nearest: Vec<u32>,
}

/// Where blocks and nodes are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub origin: Vec3,
    pub cell: f32,
    pub blocks: [u32; 3],
}

impl Grid {
    pub fn block_count(&self) -> usize {
        self.blocks.iter().map(|&b| b as usize).product()
    }

    fn block_at(&self, block: usize) -> [usize; 3] {
        let [nx, ny, _] = self.blocks.map(|b| b as usize);
        [block % nx, block / nx % ny, block / (nx * ny)]
    }

    /// Position of a node; the same bits from every block that has the node.
    pub fn node(&self, block: usize, node: usize) -> Vec3 {
        let b = self.block_at(block);
        let n = [node % NODES, node / NODES % NODES, node / (NODES * NODES)];
        let at = std::array::from_fn(|axis| (b[axis] * BLOCK + n[axis]) as f32);
        self.origin + Vec3::from_array(at) * self.cell
    }

    pub fn block_center(&self, block: usize) -> Vec3 {
        let at = self
            .block_at(block)
            .map(|b| (b as f32 + 0.5) * BLOCK as f32);
        self.origin + Vec3::from_array(at) * self.cell
    }

    fn size(&self) -> Vec3 {
        Vec3::from_array(self.blocks.map(|b| (b as usize * BLOCK) as f32)) * self.cell
    }
}

/// What the field knows of a place.
enum Place {
    /// A cell between eight nodes: its first node and the place within it.
    Near { base: usize, at: Vec3 },
    /// A signed bound: the surface is at least this far.
    Far(f32),
}

/// Offsets of a cell's nodes from its first, x running fastest.
const CELL_NODES: [usize; 8] = {
    let (y, z) = (NODES, NODES * NODES);
    [0, 1, y, y + 1, z, z + 1, z + y, z + y + 1]
};

impl Sdf {
    /// Samples the closed `mesh` with cells of `cell` metres for sphere queries of
    /// at most `reach` metres.
    pub fn build(mesh: Arc<TriMesh>, cell: f32, reach: f32) -> Result<Sdf, SdfError> {
        build(mesh, cell, reach)
    }

    /// The mesh that is indexed.
    pub fn mesh(&self) -> &Arc<TriMesh> {
        &self.mesh
    }

    /// Distance to the surface, negative inside. Beyond the band around the surface it
    /// has the right sign and is a lower bound of the distance.
    pub fn distance(&self, p: Vec3) -> f32 {
        match self.locate(p) {
            Place::Near { base, at } => self.value(base, at),
            Place::Far(bound) => bound,
        }
    }

    /// The unit direction away from the surface, pointing out of the mesh; `None` beyond the
    /// band around the surface and where the field is flat.
    pub fn normal(&self, p: Vec3) -> Option<Vec3> {
        match self.locate(p) {
            Place::Near { base, at } => self.gradient(base, at).try_normalize(),
            Place::Far(_) => None,
        }
    }

    /// True if `p` is inside the mesh.
    pub fn is_inside(&self, p: Vec3) -> bool {
        self.distance(p) < 0.0
    }

    /// How far [`Sdf::distance`] can be from the true distance near the surface:
    /// half the diagonal of a cell.
    pub fn error_bound(&self) -> f32 {
        INTERPOLATION_ERROR * self.grid.cell
    }

    #[inline]
    fn locate(&self, p: Vec3) -> Place {
        let g = (p - self.grid.origin) / self.grid.cell;
        let [nx, ny, nz] = self.grid.blocks.map(|b| b as usize);
        let most = Vec3::new(nx as f32, ny as f32, nz as f32) * BLOCK as f32;
        if !(g.cmpge(Vec3::ZERO).all() && g.cmplt(most).all()) {
            return Place::Far(self.bounds.distance_squared(p).sqrt());
        }
        let [x, y, z] = [g.x as usize, g.y as usize, g.z as usize];
        let block = ((z / BLOCK) * ny + y / BLOCK) * nx + x / BLOCK;
        let slot = self.map[block];
        if slot == FAR {
            let d = self.center_distance[block];
            let away = p.distance(self.grid.block_center(block));
            return Place::Far((d.abs() - away).max(0.0).copysign(d));
        }
        let first = ((z % BLOCK) * NODES + y % BLOCK) * NODES + x % BLOCK;
        Place::Near {
            base: slot as usize * NODES_PER_BLOCK + first,
            at: g - Vec3::new(x as f32, y as f32, z as f32),
        }
    }

    #[inline]
    fn cell_values(&self, base: usize) -> [f32; 8] {
        // One slice, one bounds check.
        let nodes = &self.distance[base..base + CELL_NODES[7] + 1];
        CELL_NODES.map(|o| nodes[o])
    }

    /// Trilinear interpolation.
    #[inline]
    fn value(&self, base: usize, at: Vec3) -> f32 {
        let d = self.cell_values(base);
        let x = [0, 2, 4, 6].map(|i| d[i] + (d[i + 1] - d[i]) * at.x);
        let y = [0, 2].map(|i| x[i] + (x[i + 1] - x[i]) * at.y);
        y[0] + (y[1] - y[0]) * at.z
    }

    /// The gradient of the trilinear interpolation.
    fn gradient(&self, base: usize, at: Vec3) -> Vec3 {
        let d = self.cell_values(base);
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let along = |step: usize, i: [usize; 4], s: f32, t: f32| {
            let [a, b, c, e] = i.map(|i| d[i + step] - d[i]);
            mix(mix(a, b, s), mix(c, e, s), t)
        };
        let gradient = Vec3::new(
            along(1, [0, 2, 4, 6], at.y, at.z),
            along(2, [0, 1, 4, 5], at.x, at.z),
            along(4, [0, 1, 2, 3], at.x, at.y),
        );
        gradient / self.grid.cell
    }

    /// The nearest surface point by exact tests: from the triangle of the nearest
    /// node, walking over edges while that brings it closer; then the same from
    /// the other nodes' triangles whose planes are close enough.
    fn refine(&self, p: Vec3, base: usize, at: Vec3) -> SurfacePoint {
        let nodes = &self.nearest[base..base + CELL_NODES[7] + 1];
        let half = |x: f32| usize::from(x >= 0.5);
        let corner = half(at.x) + 2 * half(at.y) + 4 * half(at.z);
        let mut last = nodes[CELL_NODES[corner]];
        let (mut best, mut best_d2) = self.walk(p, last);
        for offset in CELL_NODES {
            let t = nodes[offset];
            if t == last || t == best.triangle {
                continue;
            }
            last = t;
            if !self.triangles[t as usize].is_beyond(p, best_d2) {
                let (other, d2) = self.walk(p, t);
                if d2 < best_d2 {
                    (best, best_d2) = (other, d2);
                }
            }
        }
        best
    }

    fn walk(&self, p: Vec3, from: u32) -> (SurfacePoint, f32) {
        let (mut best, mut feature, mut best_d2) = self.triangles[from as usize].closest(p);
        for _ in 0..WALK {
            let edges = match feature {
                Feature::Face => break,
                Feature::Edge(e) => [e, e],
                Feature::Vertex(v) => [v, (v + 2) % 3],
            };
            let here = 3 * best.triangle as usize;
            let mut moved = false;
            let ways = if edges[0] == edges[1] { 1 } else { 2 };
            for &e in &edges[..ways] {
                let next = self.across[here + e as usize];
                if next == BORDER {
                    continue;
                }
                let (found, f, d2) = self.triangles[next as usize].closest(p);
                if d2 < best_d2 {
                    (best, feature, best_d2, moved) = (found, f, d2, true);
                }
            }
            if !moved {
                break;
            }
        }
        (best, best_d2)
    }

    /// The value at a place and how far it is safe to go from there without
    /// crossing the field's zero surface.
    #[inline]
    fn march(&self, p: Vec3) -> (f32, f32) {
        match self.locate(p) {
            Place::Near { base, at } => {
                let v = self.value(base, at);
                // Each partial derivative is at most 1, so the slope is at most
                // the root of 3.
                (v, v.abs() * 0.577)
            }
            Place::Far(bound) => (bound, bound.abs()),
        }
    }
}

impl TriangleIndex for Sdf {
    fn name(&self) -> &'static str {
        "sdf"
    }

    fn for_each_within(&self, center: Vec3, radius: f32, visit: &mut dyn FnMut(SurfacePoint)) {
        let Place::Near { base, at } = self.locate(center) else {
            return;
        };
        if self.value(base, at).abs() > radius + self.error_bound() {
            return;
        }
        let found = self.refine(center, base, at);
        if found.distance <= radius {
            visit(found);
        }
    }

    /// Marches along the segment as far as the distance allows, and at least a
    /// quarter of a cell, until the sign changes; then halves the interval. A
    /// segment whose ends have different signs always crosses.
    fn first_crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing> {
        let (start, along) = (from.as_dvec3(), to.as_dvec3() - from.as_dvec3());
        let length = along.length();
        let origin = self.grid.origin.as_dvec3();
        let (mut t, end) = overlap(start, along, origin, origin + self.grid.size().as_dvec3())?;
        if length == 0.0 || !length.is_finite() {
            return None;
        }
        let point = |t: f64| (start + along * t).as_vec3();
        let least = 0.25 * self.grid.cell as f64;
        let (value, mut safe) = self.march(point(t));
        let inside = value < 0.0;
        let mut last = loop {
            let rest = (end - t) * length;
            if safe as f64 > rest || rest <= 0.0 {
                return None;
            }
            let next = (t + (safe as f64).max(least) / length).min(end);
            let (value, room) = self.march(point(next));
            if (value < 0.0) != inside {
                break next;
            }
            // So long a segment that a step is lost in rounding.
            if next <= t {
                return None;
            }
            (t, safe) = (next, room);
        };
        for _ in 0..32 {
            let middle = 0.5 * (t + last);
            if (self.march(point(middle)).0 < 0.0) == inside {
                t = middle;
            } else {
                last = middle;
            }
        }
        let p = point(t);
        let Place::Near { base, at } = self.locate(p) else {
            return None;
        };
        let found = self.refine(p, base, at);
        let outwards = self
            .gradient(base, at)
            .try_normalize()
            .unwrap_or(self.triangles[found.triangle as usize].normal);
        Some(Crossing {
            triangle: found.triangle,
            barycentric: found.barycentric,
            fraction: t as f32,
            normal: if inside { -outwards } else { outwards },
        })
    }

    fn distance_error(&self) -> f32 {
        self.error_bound()
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.triangles)
            + size_of_val(&*self.across)
            + size_of_val(&*self.map)
            + size_of_val(&*self.center_distance)
            + size_of_val(&*self.distance)
            + size_of_val(&*self.nearest)
    }
}
