//! Triangles in a spatial hash (Grahn 2008, section 7.3).

use std::sync::Arc;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::gathered::{Gathered, Segment};
use super::{Crossing, SurfacePoint, TriangleIndex};
use crate::contact::triangle::closest_point;
use crate::math::Aabb;
use crate::mesh::TriMesh;

/// Multipliers of the cell coordinates (Teschner et al. 2003).
const PRIMES: [u32; 3] = [73_856_093, 19_349_663, 83_492_791];
/// Most cells along one axis; a cell's three coordinates fit in one `u64`.
const MOST_CELLS: f32 = (1 << 20) as f32;
/// Cells are made larger until the list entries are not more than this many, plus
/// [`ENTRIES_PER_TRIANGLE`] for each triangle.
const ENTRIES: f64 = 4e6;
const ENTRIES_PER_TRIANGLE: f64 = 128.0;

/// A spatial hash of a mesh's triangles. Every triangle is listed in all cells
/// within the reach of it, so a query looks into one cell only, and a cell that
/// is not listed answers at once.
///
/// Grahn 2008 grows each triangle's box by one cell; here a triangle is listed
/// only where the cell's own box is within reach, which keeps the lists short.
pub struct TriangleHash {
    mesh: Arc<TriMesh>,
    triangles: Vec<Gathered>,
    /// Bucket `b` owns `cells[bucket_start[b]..bucket_start[b + 1]]`.
    bucket_start: Vec<u32>,
    cells: Vec<Cell>,
    /// Triangle numbers, cell after cell, ascending within a cell.
    entries: Vec<u32>,
    origin: Vec3,
    cell: f32,
    inv_cell: f32,
    size: [u32; 3],
    reach: f32,
}

/// A cell with at least one triangle in reach.
#[derive(Clone, Copy, Debug)]
struct Cell {
    key: u64,
    start: u32,
    end: u32,
}

#[inline]
fn key_of([i, j, k]: [u32; 3]) -> u64 {
    (i as u64) << 42 | (j as u64) << 21 | k as u64
}

/// `hash = i·p0 + j·p1 + k·p2 mod N` (Grahn 2008), with N a power of two.
#[inline]
fn bucket_of([i, j, k]: [u32; 3], mask: u32) -> usize {
    let sum = i
        .wrapping_mul(PRIMES[0])
        .wrapping_add(j.wrapping_mul(PRIMES[1]))
        .wrapping_add(k.wrapping_mul(PRIMES[2]));
    (sum & mask) as usize
}

impl TriangleHash {
    /// Indexes `mesh` for sphere queries of at most `reach` metres.
    pub fn build(mesh: Arc<TriMesh>, reach: f32) -> TriangleHash {
        let reach = if reach.is_finite() {
            reach.max(0.0)
        } else {
            0.0
        };
        let triangles: Vec<Gathered> = (0..mesh.triangles.len() as u32)
            .map(|t| Gathered::of(&mesh, t))
            .collect();
        let bounds = mesh.aabb();
        let extent = bounds.size().max_element().max(0.0);
        // Rounding may put a point into the next cell.
        let margin = reach * 1.0001 + 4e-7 * extent;
        let cell = cell_size(&triangles, reach.max(1e-4 * extent), extent, margin);
        let mut hash = TriangleHash {
            mesh,
            triangles,
            bucket_start: vec![0, 0],
            cells: Vec::new(),
            entries: Vec::new(),
            origin: bounds.min - Vec3::splat(margin),
            cell,
            inv_cell: 1.0 / cell,
            size: [0; 3],
            reach: reach.max(0.25 * cell),
        };
        if hash.triangles.is_empty() || !extent.is_finite() {
            hash.triangles.clear();
            return hash;
        }
        let margin = margin.max(hash.reach * 1.0001 + 4e-7 * extent);
        hash.origin = bounds.min - Vec3::splat(margin);
        let cells = (bounds.size() + Vec3::splat(2.0 * margin)) * hash.inv_cell;
        hash.size = cells.to_array().map(|s| s as u32 + 1);
        hash.fill(margin);
        hash
    }

    fn fill(&mut self, margin: f32) {
        let mut listed: Vec<(u64, u32)> = self
            .triangles
            .par_iter()
            .flat_map_iter(|t| self.cells_in_reach(t, margin))
            .collect();
        listed.par_sort_unstable();

        let by_key: Vec<Cell> = {
            let mut start = 0;
            listed
                .chunk_by(|x, y| x.0 == y.0)
                .map(|same| {
                    let end = start + same.len() as u32;
                    let key = same[0].0;
                    let cell = Cell { key, start, end };
                    start = end;
                    cell
                })
                .collect()
        };
        self.entries = listed.iter().map(|e| e.1).collect();

        let buckets = (2 * by_key.len()).next_power_of_two();
        let mask = buckets as u32 - 1;
        let bucket = |c: &Cell| {
            let axis = |shift: u32| (c.key >> shift & 0x1f_ffff) as u32;
            bucket_of([axis(42), axis(21), axis(0)], mask)
        };
        self.bucket_start = vec![0; buckets + 1];
        for c in &by_key {
            self.bucket_start[bucket(c) + 1] += 1;
        }
        for b in 0..buckets {
            self.bucket_start[b + 1] += self.bucket_start[b];
        }
        let mut next = self.bucket_start.clone();
        self.cells = by_key.clone();
        for c in &by_key {
            let at = &mut next[bucket(c)];
            self.cells[*at as usize] = *c;
            *at += 1;
        }
    }

    /// The cells whose box is within `margin` of the triangle.
    fn cells_in_reach(&self, t: &Gathered, margin: f32) -> Vec<(u64, u32)> {
        let half = 0.5 * self.cell;
        let farthest = margin + half * 3f32.sqrt();
        let bounds = Aabb::of(t.corners).grown(margin);
        let first = self.cell_at_clamped(bounds.min);
        let last = self.cell_at_clamped(bounds.max);
        let mut found = Vec::new();
        for i in first[0]..=last[0] {
            for j in first[1]..=last[1] {
                for k in first[2]..=last[2] {
                    let corner = Vec3::new(i as f32, j as f32, k as f32) * self.cell;
                    let center = self.origin + corner + Vec3::splat(half);
                    if t.is_beyond(center, farthest * farthest) {
                        continue;
                    }
                    // The plane through the closest point, square to the line to
                    // it, has the whole triangle on its far side: the box's
                    // distance from that plane bounds its distance from the triangle.
                    let gap = center - closest_point(center, t.corners).point;
                    let d2 = gap.length_squared();
                    let support = half * gap.abs().element_sum();
                    if d2 - support <= margin * d2.sqrt() {
                        found.push((key_of([i, j, k]), t.id));
                    }
                }
            }
        }
        found
    }

    fn cell_at_clamped(&self, p: Vec3) -> [u32; 3] {
        let c = ((p - self.origin) * self.inv_cell).to_array();
        // A cast from float to integer saturates.
        std::array::from_fn(|axis| (c[axis] as u32).min(self.size[axis] - 1))
    }

    #[inline]
    fn cell_at(&self, p: Vec3) -> Option<[u32; 3]> {
        let c = (p - self.origin) * self.inv_cell;
        let size = Vec3::new(
            self.size[0] as f32,
            self.size[1] as f32,
            self.size[2] as f32,
        );
        let inside = c.cmpge(Vec3::ZERO).all() && c.cmplt(size).all();
        inside.then_some([c.x as u32, c.y as u32, c.z as u32])
    }

    /// The triangles within reach of a cell.
    #[inline]
    fn list(&self, cell: [u32; 3]) -> &[u32] {
        let key = key_of(cell);
        let bucket = bucket_of(cell, (self.bucket_start.len() - 2) as u32);
        let range = self.bucket_start[bucket] as usize..self.bucket_start[bucket + 1] as usize;
        for c in &self.cells[range] {
            if c.key == key {
                return &self.entries[c.start as usize..c.end as usize];
            }
        }
        &[]
    }

    /// The mesh that is indexed.
    pub fn mesh(&self) -> &Arc<TriMesh> {
        &self.mesh
    }

    /// Cells that list a triangle, and list entries in all.
    pub fn occupancy(&self) -> (usize, usize) {
        (self.cells.len(), self.entries.len())
    }
}

/// About the reach, larger where large triangles would fill too many cells.
fn cell_size(triangles: &[Gathered], smallest: f32, extent: f32, margin: f32) -> f32 {
    let mut cell = smallest.max(2.0 * extent / MOST_CELLS);
    if !(cell > 0.0 && cell.is_finite()) {
        return 1.0;
    }
    let limit = ENTRIES + ENTRIES_PER_TRIANGLE * triangles.len() as f64;
    loop {
        let entries: f64 = triangles
            .iter()
            .map(|t| {
                let s = (Aabb::of(t.corners).size() + Vec3::splat(2.0 * margin)) / cell + Vec3::ONE;
                s.as_dvec3().element_product()
            })
            .sum();
        if entries <= limit || entries.is_nan() {
            return cell;
        }
        cell *= 1.5;
    }
}

impl TriangleIndex for TriangleHash {
    fn name(&self) -> &'static str {
        "hash"
    }

    fn for_each_within(&self, center: Vec3, radius: f32, visit: &mut dyn FnMut(SurfacePoint)) {
        let Some(cell) = self.cell_at(center) else {
            return;
        };
        let r2 = radius * radius;
        for &t in self.list(cell) {
            if let Some(found) = self.triangles[t as usize].within(center, r2) {
                visit(found);
            }
        }
    }

    /// Walks the cells along the segment. A cell's list covers what is within reach
    /// of its box; the walk goes on from where the segment leaves the largest box in
    /// that.
    fn first_crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing> {
        let segment = Segment::new(from, to);
        let mut best = None;
        let (start, along) = (from.as_dvec3(), to.as_dvec3() - from.as_dvec3());
        let origin = self.origin.as_dvec3();
        let cell = self.cell as f64;
        let far = origin + DVec3::from(self.size.map(f64::from)) * cell;
        let (mut t, end) = overlap(start, along, origin, far)?;
        loop {
            let at = (start + along * t).as_vec3();
            let c = self.cell_at_clamped(at);
            for &t in self.list(c) {
                self.triangles[t as usize].cross(&segment, &mut best);
            }
            let low = origin + DVec3::from(c.map(f64::from)) * cell;
            let reach = DVec3::splat(self.reach as f64 / 3f64.sqrt());
            let (_, leave) = overlap(start, along, low - reach, low + cell + reach)?;
            let covered = best.is_some_and(|b| b.fraction as f64 <= leave);
            // Not moving on means that a step is lost in rounding.
            if covered || leave >= end || leave <= t {
                return best;
            }
            t = leave;
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.triangles)
            + size_of_val(&*self.bucket_start)
            + size_of_val(&*self.cells)
            + size_of_val(&*self.entries)
    }
}

/// The part of the segment `start + t * along`, `0 <= t <= 1`, inside a box.
#[inline]
pub(super) fn overlap(start: DVec3, along: DVec3, low: DVec3, high: DVec3) -> Option<(f64, f64)> {
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for axis in 0..3 {
        let (s, d) = (start[axis], along[axis]);
        if d == 0.0 {
            if s < low[axis] || s > high[axis] {
                return None;
            }
            continue;
        }
        let (t0, t1) = ((low[axis] - s) / d, (high[axis] - s) / d);
        enter = enter.max(t0.min(t1));
        leave = leave.min(t0.max(t1));
    }
    (enter <= leave).then_some((enter, leave))
}
