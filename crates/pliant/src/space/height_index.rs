//! The triangles of a heightfield, found by their place in the grid: nothing is
//! stored but the heights.

use std::ops::RangeInclusive;

use glam::Vec3;

use super::gathered::{Gathered, Segment};
use super::{Crossing, SurfacePoint, TriangleIndex};
use crate::mesh::HeightGrid;

/// A heightfield searched square by square. Triangles are numbered as in
/// [`HeightGrid::to_mesh`].
#[derive(Clone, Debug)]
pub struct HeightIndex {
    grid: HeightGrid,
}

impl HeightIndex {
    /// Searches `grid`.
    pub fn new(grid: HeightGrid) -> HeightIndex {
        HeightIndex { grid }
    }

    /// True if `p` lies under the ground; beyond the border there is no ground.
    pub fn is_below(&self, p: Vec3) -> bool {
        let g = &self.grid;
        let far = g.spacing * Vec3::new((g.nx - 1) as f32, 0.0, (g.nz - 1) as f32);
        let (x, z) = (p.x - g.origin.x, p.z - g.origin.z);
        (0.0..=far.x).contains(&x) && (0.0..=far.z).contains(&z) && p.y < g.height(p.x, p.z)
    }

    /// The squares along one axis that reach from `low` to `high`.
    fn squares(&self, low: f32, high: f32, origin: f32, corners: usize) -> RangeInclusive<usize> {
        let last = corners - 2;
        let square = |v: f32| ((v - origin) / self.grid.spacing).floor();
        let (first, end) = (square(low), square(high));
        if !(end >= 0.0 && first <= last as f32) {
            // An empty range: the place is beyond the border.
            return RangeInclusive::new(1, 0);
        }
        (first.max(0.0) as usize)..=(end as usize).min(last)
    }

    fn triangles(&self, i: usize, k: usize) -> [Gathered; 2] {
        let g = &self.grid;
        let corner = |di: usize, dk: usize| {
            let (i, k) = (i + di, k + dk);
            g.origin
                + Vec3::new(
                    g.spacing * i as f32,
                    g.heights[k * g.nx + i],
                    g.spacing * k as f32,
                )
        };
        let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
        let first = 2 * (k * (g.nx - 1) + i) as u32;
        [
            Gathered::of_corners([a, c, b], first),
            Gathered::of_corners([a, d, c], first + 1),
        ]
    }

    /// Visits the triangles of all squares under the box from `low` to `high`.
    fn for_each_under(&self, low: Vec3, high: Vec3, mut visit: impl FnMut(&Gathered)) {
        let g = &self.grid;
        for k in self.squares(low.z, high.z, g.origin.z, g.nz) {
            for i in self.squares(low.x, high.x, g.origin.x, g.nx) {
                self.triangles(i, k).iter().for_each(&mut visit);
            }
        }
    }
}

impl TriangleIndex for HeightIndex {
    fn name(&self) -> &'static str {
        "heightfield"
    }

    fn for_each_within(&self, center: Vec3, radius: f32, visit: &mut dyn FnMut(SurfacePoint)) {
        let r = Vec3::splat(radius);
        self.for_each_under(center - r, center + r, |t| {
            if let Some(found) = t.within(center, radius * radius) {
                visit(found);
            }
        });
    }

    fn first_crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing> {
        if !(from.is_finite() && to.is_finite()) {
            return None;
        }
        let g = &self.grid;
        let mut best = None;
        // Walk along the longer horizontal axis, one square's width at a time, so
        // that a long way looks only at the squares beneath it.
        let way = to - from;
        let pieces = (way.x.abs().max(way.z.abs()) / g.spacing)
            .ceil()
            .clamp(1.0, 1e6) as u32;
        let margin = Vec3::splat(1e-4 * g.spacing);
        let segment = Segment::new(from, to);
        for piece in 0..pieces {
            let a = from + way * (piece as f32 / pieces as f32);
            let b = from + way * ((piece + 1) as f32 / pieces as f32);
            let (low, high) = (a.min(b) - margin, a.max(b) + margin);
            self.for_each_under(low, high, |t| t.cross(&segment, &mut best));
            if best.is_some() {
                break;
            }
        }
        best
    }

    fn bytes(&self) -> usize {
        4 * self.grid.heights.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Bvh;
    use crate::space::test_meshes::Random;
    use std::sync::Arc;

    fn hills() -> HeightGrid {
        HeightGrid::from_fn(17, 13, 0.25, Vec3::new(-2.0, 1.0, -1.5), |x, z| {
            0.3 * (3.0 * x).sin() * (2.0 * z).cos()
        })
        .unwrap()
    }

    #[test]
    fn finds_what_a_tree_over_the_same_mesh_finds() {
        let grid = hills();
        let index = HeightIndex::new(grid.clone());
        let tree = Bvh::build(Arc::new(grid.to_mesh()));
        let space = grid.to_mesh().aabb().grown(0.5);
        let mut random = Random::new(7);
        for _ in 0..2000 {
            let (p, q) = (random.in_box(space), random.in_box(space));
            let collect = |index: &dyn TriangleIndex| {
                let mut found = Vec::new();
                index.for_each_within(p, 0.2, &mut |s| found.push(s.triangle));
                found.sort_unstable();
                found
            };
            assert_eq!(collect(&index), collect(&tree));
            let (a, b) = (index.first_crossing(p, q), tree.first_crossing(p, q));
            assert_eq!(a.map(|c| c.fraction), b.map(|c| c.fraction), "{p} {q}");
        }
    }

    #[test]
    fn below_and_above() {
        let index = HeightIndex::new(hills());
        assert!(index.is_below(Vec3::new(0.1, 0.5, 0.1)));
        assert!(!index.is_below(Vec3::new(0.1, 1.5, 0.1)));
        assert!(!index.is_below(Vec3::new(50.0, -1.0, 0.0)));
    }

    #[test]
    fn very_long_ways_are_found() {
        let index = HeightIndex::new(hills());
        let hit = index.first_crossing(Vec3::new(0.0, 1000.0, 0.0), Vec3::new(0.1, -1000.0, 0.1));
        assert!(hit.is_some());
        assert_eq!(index.first_crossing(Vec3::NAN, Vec3::ZERO), None);
    }
}
