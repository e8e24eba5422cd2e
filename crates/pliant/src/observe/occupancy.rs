//! Which parts of space have points near them, in cells of about the distance asked for: a
//! cheap "no" for most places, and few points to look at for the others.

use glam::Vec3;

use crate::math::{Aabb, Xyz};

/// No more cells than this; they grow instead.
const MOST_CELLS: f32 = 1e6;

/// Points in cells.
pub(super) struct Occupancy {
    origin: Vec3,
    inverse_cell: f32,
    size: [usize; 3],
    /// Cells that hold a point, or lie next to one that does.
    near: Vec<bool>,
    /// Points of cell `c` are `points[start[c]..start[c + 1]]`.
    start: Vec<u32>,
    points: Vec<Vec3>,
}

impl Occupancy {
    /// For questions about points within `reach` metres; `None` if there are no points.
    pub fn of(points: Xyz<'_>, reach: f32) -> Option<Occupancy> {
        if points.is_empty() {
            return None;
        }
        let bounds = Aabb::of(points.iter());
        let cells = |cell: f32| (bounds.size() / cell).floor() + 3.0;
        let mut cell = reach;
        while cells(cell).element_product() > MOST_CELLS {
            cell *= 1.5;
        }
        let size = cells(cell).to_array().map(|n| n as usize);
        let count = size.iter().product();
        let mut occupancy = Occupancy {
            origin: bounds.min - cell,
            inverse_cell: cell.recip(),
            size,
            near: vec![false; count],
            start: vec![0; count + 2],
            points: vec![Vec3::ZERO; points.len()],
        };
        let cells: Vec<usize> = points
            .iter()
            .map(|p| occupancy.index(p).unwrap_or(0))
            .collect();
        for &c in &cells {
            occupancy.near[c] = true;
            occupancy.start[c + 2] += 1;
        }
        for c in 1..occupancy.start.len() {
            occupancy.start[c] += occupancy.start[c - 1];
        }
        for (p, &c) in points.iter().zip(&cells) {
            let place = &mut occupancy.start[c + 1];
            occupancy.points[*place as usize] = p;
            *place += 1;
        }
        // The cells next to those, along one axis after the other. No point is in a cell at
        // the border, so that what is next in memory is next in space.
        for stride in [1, size[0], size[0] * size[1]] {
            let own = occupancy.near.clone();
            let either = |(near, other): (&mut bool, &bool)| *near |= other;
            let forward = occupancy.near[stride..].iter_mut().zip(&own);
            forward.for_each(either);
            let backward = occupancy.near.iter_mut().zip(&own[stride..]);
            backward.for_each(either);
        }
        Some(occupancy)
    }

    /// Whether one of the points passes the test, which all fail that are not within reach
    /// of `p`.
    pub fn any(&self, p: Vec3, test: impl Fn(Vec3) -> bool) -> bool {
        let Some(home) = self.index(p).filter(|&c| self.near[c]) else {
            return false;
        };
        let [nx, ny, nz] = self.size;
        let around = |at: usize, n: usize| at.saturating_sub(1)..=(at + 1).min(n - 1);
        let (x, y, z) = (home % nx, home / nx % ny, home / (nx * ny));
        around(z, nz).any(|z| {
            around(y, ny).any(|y| {
                let row = nx * (y + ny * z);
                let (first, last) = (row + *around(x, nx).start(), row + *around(x, nx).end());
                let range = self.start[first] as usize..self.start[last + 1] as usize;
                self.points[range].iter().any(|&q| test(q))
            })
        })
    }

    fn index(&self, p: Vec3) -> Option<usize> {
        let at = (p - self.origin) * self.inverse_cell;
        let [nx, ny, nz] = self.size;
        let end = Vec3::new(nx as f32, ny as f32, nz as f32);
        let inside = at.cmpge(Vec3::ZERO).all() && at.cmplt(end).all();
        let [x, y, z] = at.to_array().map(|v| v as usize);
        inside.then(|| x + nx * (y + ny * z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    #[test]
    fn every_point_within_reach_is_found() {
        let mut points = XyzVec::default();
        for p in [Vec3::ZERO, Vec3::new(0.31, -0.2, 0.07), Vec3::splat(0.4)] {
            points.x.push(p.x);
            points.y.push(p.y);
            points.z.push(p.z);
        }
        let reach = 0.05;
        let occupancy = Occupancy::of(points.view(), reach).unwrap();
        for k in 0..9000 {
            let [a, b, c] = [k % 20, k / 20 % 20, k / 400].map(|v| v as f32 / 20.0 - 0.4);
            let q = Vec3::new(a, b, c);
            let near = points.view().iter().any(|p| p.distance(q) <= reach);
            assert_eq!(occupancy.any(q, |p| p.distance(q) <= reach), near, "{q}");
        }
        assert!(Occupancy::of(XyzVec::default().view(), reach).is_none());
    }
}
