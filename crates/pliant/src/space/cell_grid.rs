//! The production structure: points sorted by the cell of a toroidal grid.
//!
//! A build is three steps: the bounding box, the shape of the torus that fits it,
//! and a stable parallel sort of the points by cell.

use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;

use super::NeighbourSearch;
use super::cells::{heap_bytes, padded_side, wrapped_cell};
use super::counting_sort::CountingSort;
use crate::math::{Aabb, Xyz};

/// Points per task when the bounding box is taken.
const BOUNDS_CHUNK: usize = 16384;

/// Cells of one axis are a power of two and at least this many, so that three
/// neighbouring cells are always different cells.
const MIN_CELLS_PER_AXIS: u32 = 4;

/// A grid may always have this many cells, however few the points.
const ALWAYS_ALLOWED_CELLS: u64 = 4096;

/// Points sorted by grid cell; cells have the side of one radius and wrap around
/// at the end of each axis.
///
/// Any domain works: points far apart may share a cell and are told apart by
/// the distance test. Loops over many neighbours should copy their arrays into
/// [`CellGrid::order`] and walk the contiguous ranges of
/// [`CellGrid::rows_around`].
///
/// ```
/// use pliant::math::XyzVec;
/// use pliant::space::{CellGrid, NeighbourSearch};
/// use pliant::Vec3;
///
/// let points: XyzVec = (0..10).map(|i| Vec3::X * i as f32).collect();
/// let mut grid = CellGrid::new();
/// grid.build(points.view(), 1.5);
/// let mut near = 0;
/// grid.for_each_within(points.view(), Vec3::X * 4.0, &mut |_| near += 1);
/// assert_eq!(near, 3);
/// ```
#[derive(Clone, Debug)]
pub struct CellGrid {
    inverse_side: f64,
    radius_squared: f32,
    shape: TorusShape,
    /// Points of cell `c` are at `cell_start[c]..cell_start[c + 1]` of `order`.
    cell_start: Vec<u32>,
    order: Vec<u32>,
    sort: CountingSort,
}

/// Number of cells per axis, as powers of two.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TorusShape {
    bits: [u32; 3],
}

impl TorusShape {
    const SMALLEST: TorusShape = TorusShape {
        bits: [MIN_CELLS_PER_AXIS.ilog2(); 3],
    };

    /// The shape for `n` points in `bounds`: enough cells that nothing wraps, but
    /// not many more cells than points.
    fn fit(bounds: &Aabb, n: usize, inverse_side: f64) -> Self {
        let mut bits = std::array::from_fn(|a| {
            let extent = (f64::from(bounds.max[a]) - f64::from(bounds.min[a])) * inverse_side;
            let cells = (extent + 2.0).clamp(f64::from(MIN_CELLS_PER_AXIS), f64::from(1 << 30));
            (cells as u32).next_power_of_two().ilog2()
        });
        let allowed = (2 * n as u64).next_power_of_two().max(ALWAYS_ALLOWED_CELLS);
        while bits.iter().sum::<u32>() > allowed.ilog2() {
            // The last of equals, so that rows along x stay long.
            let mut largest = 2;
            for axis in [1, 0] {
                if bits[axis] > bits[largest] {
                    largest = axis;
                }
            }
            bits[largest] -= 1;
        }
        Self { bits }
    }

    fn cell_count(self) -> usize {
        1 << self.bits.iter().sum::<u32>()
    }

    /// Cells wrapped onto the torus, numbered x fastest.
    #[inline]
    fn index(self, [x, y, z]: [u32; 3]) -> u32 {
        let [bx, by, bz] = self.bits;
        let wrap = |c: u32, bits: u32| c & ((1 << bits) - 1);
        wrap(x, bx) | wrap(y, by) << bx | wrap(z, bz) << (bx + by)
    }

    /// The inverse of [`TorusShape::index`].
    #[inline]
    fn cell(self, index: u32) -> [u32; 3] {
        let [bx, by, _] = self.bits;
        let low = |c: u32, bits: u32| c & ((1 << bits) - 1);
        [low(index, bx), low(index >> bx, by), index >> (bx + by)]
    }
}

/// Up to 18 ranges of [`CellGrid::order`] that together hold every point within
/// one radius of a place: the nine rows of three cells around it, each in two
/// parts where it crosses the end of the x axis. Empty ranges are left out.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    ranges: [(u32, u32); 18],
    len: usize,
}

impl Rows {
    /// The ranges as `(start, end)`, without overlap.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.ranges[..self.len]
    }

    #[inline]
    fn push(&mut self, (start, end): (u32, u32)) {
        if start < end {
            self.ranges[self.len] = (start, end);
            self.len += 1;
        }
    }
}

impl CellGrid {
    /// A grid without points.
    pub fn new() -> Self {
        Self {
            inverse_side: 1.0,
            radius_squared: 0.0,
            shape: TorusShape::SMALLEST,
            cell_start: vec![0; TorusShape::SMALLEST.cell_count() + 1],
            order: Vec::new(),
            sort: CountingSort::default(),
        }
    }

    /// The points sorted by cell: sorted position -> index at build. Points of
    /// one cell keep the order they had.
    #[inline]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Number of cells of the torus.
    #[inline]
    pub fn cell_count(&self) -> usize {
        self.shape.cell_count()
    }

    /// Number of cells along x, y and z; each a power of two.
    pub fn cells_per_axis(&self) -> [u32; 3] {
        self.shape.bits.map(|bits| 1 << bits)
    }

    /// The sorted positions of the points of `cell` (`0..cell_count()`).
    #[inline]
    pub fn cell_range(&self, cell: usize) -> Range<usize> {
        self.cell_start[cell] as usize..self.cell_start[cell + 1] as usize
    }

    /// The sorted positions of every cell, x fastest; many are empty.
    pub fn cell_ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.cell_start
            .windows(2)
            .map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// Ranges of sorted positions that hold every point within one radius of
    /// `center`, and others.
    #[inline]
    pub fn rows_around(&self, center: Vec3) -> Rows {
        self.rows(
            center
                .to_array()
                .map(|x| wrapped_cell(x, self.inverse_side)),
        )
    }

    /// [`CellGrid::rows_around`] for all places in `cell` (`0..cell_count()`) at
    /// once, for loops that go cell by cell.
    #[inline]
    pub fn rows_around_cell(&self, cell: usize) -> Rows {
        self.rows(self.shape.cell(cell as u32))
    }

    /// The parts of the range `sorted` that lie in one cell each, with the rows
    /// around that cell.
    #[inline]
    pub fn cells_in(&self, sorted: Range<usize>) -> CellsIn<'_> {
        // The cell of the first point: the last one that starts at or before it.
        let first = sorted.start as u32;
        let cell = self.cell_start.partition_point(|&start| start <= first) - 1;
        CellsIn {
            grid: self,
            cell,
            left: sorted,
        }
    }

    #[inline]
    fn rows(&self, [x, y, z]: [u32; 3]) -> Rows {
        let mut rows = Rows {
            ranges: [(0, 0); 18],
            len: 0,
        };
        let x_last = (1 << self.shape.bits[0]) - 1;
        let x = x & x_last;
        for dz in [u32::MAX, 0, 1] {
            for dy in [u32::MAX, 0, 1] {
                let row = self
                    .shape
                    .index([0, y.wrapping_add(dy), z.wrapping_add(dz)]);
                // Ends of the run of cells `from..=to` of this row.
                let run = |from: u32, to: u32| {
                    (
                        self.cell_start[(row | from) as usize],
                        self.cell_start[(row | to) as usize + 1],
                    )
                };
                rows.push(run(x.saturating_sub(1), (x + 1).min(x_last)));
                if x == 0 {
                    rows.push(run(x_last, x_last));
                } else if x == x_last {
                    rows.push(run(0, 0));
                }
            }
        }
        rows
    }
}

/// Iterator of [`CellGrid::cells_in`].
#[derive(Debug)]
pub struct CellsIn<'a> {
    grid: &'a CellGrid,
    cell: usize,
    left: Range<usize>,
}

impl Iterator for CellsIn<'_> {
    type Item = (Range<usize>, Rows);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() {
            return None;
        }
        let starts = &self.grid.cell_start;
        while starts[self.cell + 1] as usize <= self.left.start {
            self.cell += 1;
        }
        let end = (starts[self.cell + 1] as usize).min(self.left.end);
        let part = self.left.start..end;
        self.left.start = end;
        Some((part, self.grid.rows_around_cell(self.cell)))
    }
}

impl Default for CellGrid {
    fn default() -> Self {
        Self::new()
    }
}

impl NeighbourSearch for CellGrid {
    fn name(&self) -> &'static str {
        "cell grid"
    }

    fn build(&mut self, points: Xyz<'_>, radius: f32) {
        self.inverse_side = 1.0 / padded_side(radius);
        self.radius_squared = radius * radius;
        let n = points.len();
        let shape = TorusShape::fit(&bounds(points), n, self.inverse_side);
        let inverse_side = self.inverse_side;
        self.shape = shape;
        self.sort.sort(
            n,
            shape.cell_count(),
            |first, keys| {
                let (x, y, z) = (&points.x[first..], &points.y[first..], &points.z[first..]);
                for (((key, &x), &y), &z) in keys.iter_mut().zip(x).zip(y).zip(z) {
                    *key = shape.index([x, y, z].map(|c| wrapped_cell(c, inverse_side)));
                }
            },
            &mut self.cell_start,
            &mut self.order,
        );
    }

    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32)) {
        let rows = self.rows_around(center);
        // Equal lengths, known to the compiler, leave one bounds check of three.
        let x = points.x;
        let (y, z) = (&points.y[..x.len()], &points.z[..x.len()]);
        for &(start, end) in rows.as_slice() {
            // About one candidate in six is near and no processor can guess which:
            // first collect the answers without a branch, then visit.
            for candidates in self.order[start as usize..end as usize].chunks(32) {
                let mut near = 0u32;
                for (bit, &i) in candidates.iter().enumerate() {
                    let i = i as usize;
                    let within = (Vec3::new(x[i], y[i], z[i]) - center).length_squared()
                        <= self.radius_squared;
                    near |= u32::from(within) << bit;
                }
                while near != 0 {
                    visit(candidates[near.trailing_zeros() as usize]);
                    near &= near - 1;
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        heap_bytes(&self.cell_start) + heap_bytes(&self.order) + self.sort.bytes()
    }
}

/// The box around the points, in parallel; coordinates that are not numbers are
/// passed over.
fn bounds(points: Xyz<'_>) -> Aabb {
    let axes = [points.x, points.y, points.z].map(|axis| {
        axis.par_chunks(BOUNDS_CHUNK)
            .map(smallest_and_largest)
            .reduce(
                || (f32::INFINITY, f32::NEG_INFINITY),
                |a, b| (a.0.min(b.0), a.1.max(b.1)),
            )
    });
    Aabb {
        min: Vec3::from_array(axes.map(|(min, _)| min)),
        max: Vec3::from_array(axes.map(|(_, max)| max)),
    }
}

/// Smallest and largest number, eight lanes at a time.
fn smallest_and_largest(values: &[f32]) -> (f32, f32) {
    // Comparisons rather than `f32::min`: one instruction, and false for NaN.
    let smaller = |a: f32, b: f32| if b < a { b } else { a };
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut min = [f32::INFINITY; 8];
    let mut max = [f32::NEG_INFINITY; 8];
    let (groups, rest) = values.as_chunks::<8>();
    for group in groups {
        for lane in 0..8 {
            min[lane] = smaller(min[lane], group[lane]);
            max[lane] = larger(max[lane], group[lane]);
        }
    }
    (
        min.iter().chain(rest).copied().fold(f32::INFINITY, smaller),
        max.iter()
            .chain(rest)
            .copied()
            .fold(f32::NEG_INFINITY, larger),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    fn box_of(size: Vec3) -> Aabb {
        Aabb {
            min: Vec3::splat(-3.0),
            max: Vec3::splat(-3.0) + size,
        }
    }

    #[test]
    fn shape_covers_the_points_and_is_bounded() {
        let fit = |size, n| TorusShape::fit(&box_of(size), n, 1.0).bits.map(|b| 1 << b);
        assert_eq!(fit(Vec3::ZERO, 1), [4, 4, 4]);
        assert_eq!(fit(Vec3::new(30.0, 5.0, 1.0), 10_000), [32, 8, 4]);
        assert_eq!(fit(Vec3::new(31.0, 7.0, 1.0), 10_000), [64, 16, 4]);
        // At most max(4096, 2n to a power of two) cells, longest axis cut first.
        assert_eq!(fit(Vec3::splat(1e6), 0), [16, 16, 16]);
        assert_eq!(fit(Vec3::splat(1e6), 10_000), [32, 32, 32]);
        assert_eq!(fit(Vec3::new(1e6, 5.0, 1.0), 10_000), [1024, 8, 4]);
        assert_eq!(fit(Vec3::splat(f32::INFINITY), 9_000), [32, 32, 32]);
        assert_eq!(TorusShape::fit(&Aabb::EMPTY, 0, 1.0), TorusShape::SMALLEST);
    }

    #[test]
    fn shape_numbers_cells_x_fastest() {
        let shape = TorusShape { bits: [2, 3, 4] };
        assert_eq!(shape.index([3, 0, 0]), 3);
        assert_eq!(shape.index([0, 1, 0]), 4);
        assert_eq!(shape.index([0, 0, 1]), 32);
        assert_eq!(shape.index([u32::MAX, 8, 17]), 3 + 32);
        for index in 0..shape.cell_count() as u32 {
            assert_eq!(shape.index(shape.cell(index)), index);
        }
    }

    #[test]
    fn cells_partition_the_order() {
        let points: XyzVec = (0..5000)
            .map(|i| {
                let t = i as f32;
                Vec3::new((t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()) * 4.0
            })
            .collect();
        let mut grid = CellGrid::new();
        grid.build(points.view(), 0.5);
        let mut end = 0;
        for (cell, range) in grid.cell_ranges().enumerate() {
            assert_eq!(range, grid.cell_range(cell));
            assert_eq!(range.start, end);
            end = range.end;
            for &i in &grid.order()[range] {
                // A place finds the same rows through its cell.
                let around_point = grid.rows_around(points.get(i as usize));
                let around_cell = grid.rows_around_cell(cell);
                assert_eq!(around_point.as_slice(), around_cell.as_slice());
            }
        }
        assert_eq!(end, 5000);
        assert_eq!(grid.cell_ranges().len(), grid.cell_count());
        let cells: u32 = grid.cells_per_axis().iter().product();
        assert_eq!(cells as usize, grid.cell_count());
    }

    #[test]
    fn bounds_pass_over_what_is_not_a_number() {
        let mut values: Vec<f32> = (0..21).map(|i| (i as f32 * 1.3).sin()).collect();
        values[3] = f32::NAN;
        values[12] = -7.0;
        values[20] = 9.0;
        assert_eq!(smallest_and_largest(&values), (-7.0, 9.0));
        assert_eq!(smallest_and_largest(&values[..4]), (0.0, 1.3f32.sin()));
    }
}
