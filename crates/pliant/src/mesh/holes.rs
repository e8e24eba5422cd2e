//! Closing holes: every loop of border edges gets triangles.

use std::collections::BTreeMap;

use glam::Vec3;

use super::TriMesh;

/// What was closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HolesReport {
    /// Holes closed.
    pub closed: usize,
    /// Holes with more edges than allowed, or borders that do not form a loop.
    pub left: usize,
    /// Triangles added.
    pub triangles: usize,
}

impl TriMesh {
    /// Closes all holes of at most `most_edges` edges by cutting ears off their borders.
    /// No vertices are added. Weld the mesh first: seams in a file look like holes.
    pub fn fill_holes(&mut self, most_edges: usize) -> HolesReport {
        let mut report = HolesReport::default();
        for border in self.border_loops(&mut report.left) {
            if border.len() > most_edges {
                report.left += 1;
                continue;
            }
            let before = self.triangles.len();
            self.cut_ears(border);
            report.closed += 1;
            report.triangles += self.triangles.len() - before;
        }
        report
    }

    /// Loops of vertices along border edges, in the direction that new triangles have.
    /// Borders that end nowhere are counted in `broken`.
    fn border_loops(&self, broken: &mut usize) -> Vec<Vec<u32>> {
        // How often an edge is used from a to b minus from b to a.
        let mut balance: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *balance.entry((from.min(to), from.max(to))).or_default() +=
                    if from < to { 1 } else { -1 };
            }
        }
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for ((low, high), n) in balance {
            // The missing triangle goes the other way.
            let (from, to) = if n > 0 { (high, low) } else { (low, high) };
            for _ in 0..n.abs() {
                next.entry(from).or_default().push(to);
            }
        }
        let mut loops = Vec::new();
        while let Some((&start, _)) = next.iter().find(|(_, ends)| !ends.is_empty()) {
            let mut border = vec![start];
            loop {
                let last = border[border.len() - 1];
                let Some(to) = next.get_mut(&last).and_then(Vec::pop) else {
                    *broken += 1;
                    break;
                };
                // Where a border meets itself it is two.
                if let Some(at) = border.iter().position(|&v| v == to) {
                    let closed = border.split_off(at);
                    border.push(to);
                    if closed.len() > 2 {
                        loops.push(closed);
                    }
                    if border.len() == 1 {
                        break;
                    }
                } else {
                    border.push(to);
                }
            }
            next.retain(|_, ends| !ends.is_empty());
        }
        loops
    }

    /// Cuts the sharpest ear off a loop until a triangle is left.
    fn cut_ears(&mut self, mut border: Vec<u32>) {
        let place = |v: u32| self.vertices[v as usize];
        // Newell's normal: twice the area that the loop encloses.
        let n = border.len();
        let normal: Vec3 = (0..n)
            .map(|i| place(border[i]).cross(place(border[(i + 1) % n])))
            .sum();
        let mut added = Vec::with_capacity(n - 2);
        while border.len() > 3 {
            let n = border.len();
            let ear = |i: usize| [border[(i + n - 1) % n], border[i], border[(i + 1) % n]];
            // Sharp corners first; reflex ones, which stick into the hole, last.
            let angle = |i: usize| {
                let [a, b, c] = ear(i).map(place);
                let (u, v) = (a - b, c - b);
                let turned = (c - b).cross(a - b).dot(normal) < 0.0;
                let angle = u.angle_between(v);
                if turned {
                    std::f32::consts::TAU - angle
                } else {
                    angle
                }
            };
            let best = (0..n)
                .min_by(|&i, &j| angle(i).total_cmp(&angle(j)))
                .unwrap_or(0);
            added.push(ear(best));
            border.remove(best);
        }
        added.push([border[0], border[1], border[2]]);
        self.triangles.extend(added);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IcoSphere, TriMesh};
    use super::*;

    fn ball() -> TriMesh {
        IcoSphere {
            radius: 1.0,
            cuts: 3,
            ..IcoSphere::default()
        }
        .build()
        .unwrap()
    }

    #[test]
    fn holes_are_closed_and_the_volume_comes_back() {
        let whole = ball();
        let mut torn = whole.clone();
        torn.triangles.retain(|t| {
            let middle: Vec3 = t.iter().map(|&v| whole.vertices[v as usize]).sum::<Vec3>() / 3.0;
            middle.y < 0.9 && middle.x < 0.95
        });
        assert!(!torn.check().is_sound());
        let mut refused = torn.clone();
        let report = refused.fill_holes(3);
        assert_eq!((report.closed, report.left), (0, 2));
        let report = torn.fill_holes(1000);
        assert_eq!((report.closed, report.left), (2, 0));
        assert!(torn.check().is_sound(), "{:?}", torn.check().problems());
        assert!((torn.volume() / whole.volume() - 1.0).abs() < 0.05);
        assert_eq!(torn.fill_holes(1000), HolesReport::default());
    }
}
