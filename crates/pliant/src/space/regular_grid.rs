//! Dense grid over the bounding box with one linked list per cell.

use glam::Vec3;

use super::NeighbourSearch;
use super::cells::{finite_bounds, heap_bytes, is_within, padded_side};
use crate::math::Xyz;

/// End of a list.
const NONE: u32 = u32::MAX;

/// Regular grid (Grahn 2008, ch. 4): cells of one radius from corner to corner of
/// the bounding box. Where that would take many more cells than points, the
/// cells are doubled until it does not.
#[derive(Clone, Debug)]
pub struct RegularGrid {
    /// Smallest corner of the bounding box.
    origin: [f64; 3],
    inverse_side: f64,
    cells_per_axis: [u32; 3],
    /// How far a query looks on each axis; the radius plus rounding.
    reach: f64,
    radius_squared: f32,
    /// First point of each cell, or `NONE`.
    head: Vec<u32>,
    /// The point after each point in its cell, or `NONE`.
    next: Vec<u32>,
}

impl RegularGrid {
    /// A grid without points.
    pub fn new() -> Self {
        Self {
            origin: [0.0; 3],
            inverse_side: 0.0,
            cells_per_axis: [1; 3],
            reach: 0.0,
            radius_squared: 0.0,
            head: vec![NONE],
            next: Vec::new(),
        }
    }

    /// Cell on `axis` of a coordinate, moved to the nearest cell of the grid.
    #[inline]
    fn cell(&self, x: f64, axis: usize) -> u32 {
        let last = f64::from(self.cells_per_axis[axis] - 1);
        ((x - self.origin[axis]) * self.inverse_side).clamp(0.0, last) as u32
    }

    #[inline]
    fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        let [nx, ny, _] = self.cells_per_axis;
        ((k * ny + j) * nx + i) as usize
    }
}

impl Default for RegularGrid {
    fn default() -> Self {
        Self::new()
    }
}

impl NeighbourSearch for RegularGrid {
    fn name(&self) -> &'static str {
        "regular grid"
    }

    fn build(&mut self, points: Xyz<'_>, radius: f32) {
        let bounds = finite_bounds(points);
        let corner = if bounds.size().min_element() < 0.0 {
            Vec3::ZERO
        } else {
            bounds.min
        };
        self.origin = corner.to_array().map(f64::from);
        let extent = std::array::from_fn(|a| (f64::from(bounds.max[a]) - self.origin[a]).max(0.0));
        self.reach = padded_side(radius);
        self.radius_squared = radius * radius;

        let limit = (4 * points.len()).max(64) as f64;
        let mut side = self.reach;
        let cells = loop {
            let cells = extent.map(|e: f64| (e / side).floor() + 1.0);
            if cells.iter().product::<f64>() <= limit {
                break cells;
            }
            side *= 2.0;
        };
        self.cells_per_axis = cells.map(|c| c as u32);
        self.inverse_side = 1.0 / side;

        self.head.clear();
        self.head
            .resize(self.cells_per_axis.iter().product::<u32>() as usize, NONE);
        self.next.clear();
        self.next.resize(points.len(), NONE);
        // Backwards, so that every list is in ascending order.
        for i in (0..points.len()).rev() {
            let p = points.get(i);
            let cell = std::array::from_fn(|a| self.cell(f64::from(p[a]), a));
            let head = self.index(cell);
            self.next[i] = self.head[head];
            self.head[head] = i as u32;
        }
    }

    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32)) {
        let low: [u32; 3] =
            std::array::from_fn(|a| self.cell(f64::from(center[a]) - self.reach, a));
        let high: [u32; 3] =
            std::array::from_fn(|a| self.cell(f64::from(center[a]) + self.reach, a));
        for k in low[2]..=high[2] {
            for j in low[1]..=high[1] {
                for i in low[0]..=high[0] {
                    let mut p = self.head[self.index([i, j, k])];
                    while p != NONE {
                        if is_within(points, p, center, self.radius_squared) {
                            visit(p);
                        }
                        p = self.next[p as usize];
                    }
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        heap_bytes(&self.head) + heap_bytes(&self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    #[test]
    fn a_huge_spread_does_not_take_huge_memory() {
        let points: XyzVec = (0..100)
            .map(|i| Vec3::splat((i * i) as f32 * 1e3))
            .collect();
        let mut grid = RegularGrid::new();
        grid.build(points.view(), 0.01);
        assert!(grid.bytes() < 100_000, "{} bytes", grid.bytes());
    }
}
