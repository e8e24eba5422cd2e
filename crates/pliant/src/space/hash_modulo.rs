//! Grid cells folded into a small cubic table by plain modulo (Mesit 2010,
//! sections 4.2 and 4.3).

use glam::Vec3;

use super::NeighbourSearch;
use super::buckets::Buckets;
use super::cells::{finite_bounds, floor_cell, is_within, padded_side};
use crate::math::{Aabb, Xyz};

/// More buckets than this per axis are never made: the table is their cube.
const MAX_BUCKETS_PER_AXIS: u32 = 256;

/// How large the cells of a [`ModuloHash`] are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CellSize {
    /// Twice the radius, for fluid neighbours (Mesit 2010, eq. 4.1).
    #[default]
    TwiceRadius,
    /// As many cells as points in the bounding box, for collision (Mesit 2010,
    /// eq. 4.5-4.8).
    OnePointPerCell,
    /// The given sides in metres. An axis that is not a positive number gets
    /// twice the radius.
    Sides(Vec3),
}

/// Mesit's hash: bucket = cell modulo the table size, on each axis.
///
/// Different cells may share a bucket, so every candidate is tested by distance;
/// each bucket is looked into once per query, so no point is met twice.
#[derive(Clone, Debug)]
pub struct ModuloHash {
    cell_size: CellSize,
    /// Wanted buckets per axis; `None` is the cube root of the number of points.
    wanted_per_axis: Option<u32>,
    inverse_sides: [f64; 3],
    /// How many cells a query looks beyond its own, on each axis.
    reach: [i64; 3],
    radius_squared: f32,
    /// Occupied cells: smallest and largest on each axis.
    occupied: [(i64, i64); 3],
    per_axis: u32,
    buckets: Buckets,
}

impl ModuloHash {
    /// Cells of twice the radius and a table of about one bucket per point.
    pub fn new() -> Self {
        Self::with(CellSize::TwiceRadius, None)
    }

    /// A hash with the given cells and number of buckets per axis (HT in Mesit
    /// 2010, at most 256). `None` takes the cube root of the number of points.
    pub fn with(cell_size: CellSize, buckets_per_axis: Option<u32>) -> Self {
        let mut hash = Self {
            cell_size,
            wanted_per_axis: buckets_per_axis,
            inverse_sides: [0.0; 3],
            reach: [1; 3],
            radius_squared: 0.0,
            occupied: [(0, -1); 3],
            per_axis: 1,
            buckets: Buckets::default(),
        };
        hash.buckets.fill(0, 1, |_| 0);
        hash
    }

    /// Sides of the cells for `n` points in `bounds`.
    fn sides(&self, bounds: &Aabb, n: usize, radius: f32) -> [f64; 3] {
        let default = 2.0 * padded_side(radius);
        let sides = match self.cell_size {
            CellSize::TwiceRadius => [default; 3],
            CellSize::OnePointPerCell => {
                let cells_per_axis = (n as f64).cbrt();
                std::array::from_fn(|a| {
                    (f64::from(bounds.max[a]) - f64::from(bounds.min[a])) / cells_per_axis
                })
            }
            CellSize::Sides(sides) => sides.to_array().map(f64::from),
        };
        sides.map(|s| if s > 0.0 && s.is_finite() { s } else { default })
    }

    /// Mesit 2010, eq. 4.2: bucket on one axis.
    #[inline]
    fn bucket_on_axis(&self, cell: i64) -> u32 {
        cell.rem_euclid(i64::from(self.per_axis)) as u32
    }

    #[inline]
    fn index(&self, [i, j, k]: [u32; 3]) -> u32 {
        (k * self.per_axis + j) * self.per_axis + i
    }

    /// Buckets to look into on `axis` around coordinate `x` (Mesit 2010, eq. 4.3
    /// and 4.4): the first, and how many. The count never exceeds the table, so
    /// cells that share a bucket are visited once.
    #[inline]
    fn buckets_around(&self, x: f32, axis: usize) -> (u32, u32) {
        let cell = floor_cell(f64::from(x), self.inverse_sides[axis]);
        let (first, last) = self.occupied[axis];
        let low = (cell - self.reach[axis]).max(first);
        let high = (cell + self.reach[axis]).min(last);
        let count = high - low + 1;
        if count >= i64::from(self.per_axis) {
            (0, self.per_axis)
        } else {
            (self.bucket_on_axis(low), count.max(0) as u32)
        }
    }

    /// How many points a search around `center` tests.
    pub fn tested(&self, center: Vec3) -> usize {
        let mut count = 0;
        self.for_each_bucket(center, |bucket| count += self.buckets.of(bucket).len());
        count
    }

    /// Calls `visit` with every bucket that a search around `center` looks into.
    #[inline]
    fn for_each_bucket(&self, center: Vec3, mut visit: impl FnMut(u32)) {
        let [(x, nx), (y, ny), (z, nz)] =
            std::array::from_fn(|a| self.buckets_around(center[a], a));
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    visit(self.index([self.wrap(x, i), self.wrap(y, j), self.wrap(z, k)]));
                }
            }
        }
    }

    /// The `k`-th bucket from `first` on, around the end of the axis.
    #[inline]
    fn wrap(&self, first: u32, k: u32) -> u32 {
        let bucket = first + k;
        if bucket < self.per_axis {
            bucket
        } else {
            bucket - self.per_axis
        }
    }
}

impl Default for ModuloHash {
    fn default() -> Self {
        Self::new()
    }
}

impl NeighbourSearch for ModuloHash {
    fn name(&self) -> &'static str {
        "hash modulo"
    }

    fn build(&mut self, points: Xyz<'_>, radius: f32) {
        let bounds = finite_bounds(points);
        let sides = self.sides(&bounds, points.len(), radius);
        self.inverse_sides = sides.map(|s| 1.0 / s);
        // Mesit looks one cell around, which needs cells of at least the radius;
        // smaller cells need a wider look. Bounded like the cells themselves.
        self.reach = sides.map(|s| (padded_side(radius) / s).ceil().clamp(1.0, 1e15) as i64);
        self.radius_squared = radius * radius;
        self.occupied = std::array::from_fn(|a| {
            (
                floor_cell(f64::from(bounds.min[a]), self.inverse_sides[a]),
                floor_cell(f64::from(bounds.max[a]), self.inverse_sides[a]),
            )
        });
        self.per_axis = self
            .wanted_per_axis
            .unwrap_or((points.len() as f64).cbrt() as u32)
            .clamp(1, MAX_BUCKETS_PER_AXIS);

        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.fill(points.len(), self.per_axis.pow(3) as usize, |i| {
            let p = points.get(i);
            self.index(std::array::from_fn(|a| {
                self.bucket_on_axis(floor_cell(f64::from(p[a]), self.inverse_sides[a]))
            }))
        });
        self.buckets = buckets;
    }

    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32)) {
        self.for_each_bucket(center, |bucket| {
            for &p in self.buckets.of(bucket) {
                if is_within(points, p, center, self.radius_squared) {
                    visit(p);
                }
            }
        });
    }

    fn bytes(&self) -> usize {
        self.buckets.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    #[test]
    fn one_point_per_cell_follows_the_box() {
        // Mesit 2010, eq. 4.5-4.8: 64 points make 4 cells per axis.
        let hash = ModuloHash::with(CellSize::OnePointPerCell, None);
        let bounds = Aabb {
            min: Vec3::ZERO,
            max: Vec3::new(8.0, 4.0, 2.0),
        };
        let sides = hash.sides(&bounds, 64, 0.1);
        for (side, expected) in sides.into_iter().zip([2.0, 1.0, 0.5]) {
            assert!((side - expected).abs() < 1e-12, "{side} {expected}");
        }
    }

    #[test]
    fn negative_cells_use_the_euclidean_modulo() {
        let mut hash = ModuloHash::with(CellSize::Sides(Vec3::ONE), Some(5));
        let points: XyzVec = [Vec3::splat(-0.5)].into_iter().collect();
        hash.build(points.view(), 0.5);
        assert_eq!(hash.bucket_on_axis(-1), 4);
        assert_eq!(hash.buckets.of(hash.index([4, 4, 4])), [0]);
    }

    #[test]
    fn a_small_table_is_looked_through_once() {
        for per_axis in [1, 2, 3, 4] {
            let mut hash = ModuloHash::with(CellSize::TwiceRadius, Some(per_axis));
            let points: XyzVec = (0..50).map(|i| Vec3::splat(i as f32 * 0.01)).collect();
            hash.build(points.view(), 10.0);
            let mut seen = vec![0; 50];
            hash.for_each_within(points.view(), Vec3::ZERO, &mut |i| seen[i as usize] += 1);
            assert_eq!(seen, vec![1; 50], "{per_axis} buckets per axis");
            assert_eq!(hash.tested(Vec3::ZERO), 50);
        }
    }
}
