//! Fewer triangles for nearly the same shape: edges are collapsed, those first that
//! change the surface least (Garland & Heckbert 1997).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::{DMat3, DVec3};

use super::TriMesh;

/// Planes through borders weigh this much more than those of triangles.
const BORDER: f64 = 100.0;
/// A collapse must not turn a triangle by more than the angle with this cosine.
const TURN: f64 = 0.2;

/// Sum of squared distances to planes: `pᵀ A p + 2 b·p + c`.
#[derive(Clone, Copy, Debug)]
struct Quadric {
    a: DMat3,
    b: DVec3,
    c: f64,
}

impl Quadric {
    const ZERO: Quadric = Quadric {
        a: DMat3::ZERO,
        b: DVec3::ZERO,
        c: 0.0,
    };

    fn plane(normal: DVec3, place: DVec3, weight: f64) -> Quadric {
        let d = -normal.dot(place);
        let outer = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        Quadric {
            a: outer * weight,
            b: normal * (d * weight),
            c: d * d * weight,
        }
    }

    fn plus(&self, other: &Quadric) -> Quadric {
        Quadric {
            a: self.a + other.a,
            b: self.b + other.b,
            c: self.c + other.c,
        }
    }

    fn at(&self, p: DVec3) -> f64 {
        p.dot(self.a * p) + 2.0 * self.b.dot(p) + self.c
    }

    /// The place of least error, if it is definite.
    fn best(&self) -> Option<DVec3> {
        let size = self.a.x_axis.x + self.a.y_axis.y + self.a.z_axis.z;
        let definite = self.a.determinant().abs() > 1e-6 * size.powi(3);
        definite.then(|| -(self.a.inverse() * self.b))
    }
}

/// An edge that could go. The cheapest is the greatest.
struct Collapse {
    cost: f64,
    edge: [u32; 2],
    place: DVec3,
    /// Changes of the ends when this was computed.
    stamp: [u32; 2],
}

impl Ord for Collapse {
    fn cmp(&self, other: &Self) -> Ordering {
        // Ties by number, so that the result is always the same.
        let cost = other.cost.total_cmp(&self.cost);
        cost.then_with(|| other.edge.cmp(&self.edge))
    }
}
impl PartialOrd for Collapse {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Collapse {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Collapse {}

impl TriMesh {
    /// The mesh with about `triangles` triangles. A closed mesh stays closed; borders
    /// keep their course. Ends early where every further collapse would fold the surface
    /// or pinch it.
    pub fn decimated(&self, triangles: usize) -> TriMesh {
        let mut work = Work::new(self);
        let mut left = self.triangles.len();
        while left > triangles {
            let Some(next) = work.heap.pop() else {
                break;
            };
            if work.is_current(&next) && work.is_allowed(&next) {
                left -= work.collapse(&next);
            }
        }
        work.finish()
    }
}

struct Work {
    place: Vec<DVec3>,
    quadric: Vec<Quadric>,
    triangles: Vec<Option<[u32; 3]>>,
    /// Triangles around every vertex.
    around: Vec<Vec<u32>>,
    stamp: Vec<u32>,
    heap: BinaryHeap<Collapse>,
}

impl Work {
    fn new(mesh: &TriMesh) -> Work {
        let n = mesh.vertices.len();
        let mut work = Work {
            place: mesh.vertices.iter().map(|v| v.as_dvec3()).collect(),
            quadric: vec![Quadric::ZERO; n],
            triangles: mesh.triangles.iter().map(|t| Some(*t)).collect(),
            around: vec![Vec::new(); n],
            stamp: vec![0; n],
            heap: BinaryHeap::new(),
        };
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let normal = work.area_normal(*corners);
            let plane = Quadric::plane(
                normal.normalize_or_zero(),
                work.place[corners[0] as usize],
                normal.length(),
            );
            for &v in corners {
                work.around[v as usize].push(t as u32);
                work.quadric[v as usize] = work.quadric[v as usize].plus(&plane);
            }
        }
        for v in 0..n as u32 {
            for to in work.neighbours(v) {
                let [only] = work.shared(v, to)[..] else {
                    continue;
                };
                // A wall along the border keeps it where it is.
                let along = work.place[to as usize] - work.place[v as usize];
                let Some(corners) = work.triangles[only as usize] else {
                    continue;
                };
                let normal = along.cross(work.area_normal(corners)).normalize_or_zero();
                let weight = BORDER * along.length_squared();
                let wall = Quadric::plane(normal, work.place[v as usize], weight);
                work.quadric[v as usize] = work.quadric[v as usize].plus(&wall);
            }
        }
        for v in 0..n as u32 {
            for to in work.neighbours(v).into_iter().filter(|&to| to > v) {
                work.consider([v, to]);
            }
        }
        work
    }

    fn area_normal(&self, corners: [u32; 3]) -> DVec3 {
        let [a, b, c] = corners.map(|v| self.place[v as usize]);
        (b - a).cross(c - a)
    }

    /// Vertices that share a triangle with `v`, in order.
    fn neighbours(&self, v: u32) -> Vec<u32> {
        let around = self.around[v as usize].iter();
        let corners = around.filter_map(|&t| self.triangles[t as usize]).flatten();
        let mut all: Vec<u32> = corners.filter(|&u| u != v).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Triangles that have both.
    fn shared(&self, a: u32, b: u32) -> Vec<u32> {
        let has = |&t: &u32| self.triangles[t as usize].is_some_and(|c| c.contains(&b));
        self.around[a as usize]
            .iter()
            .copied()
            .filter(has)
            .collect()
    }

    fn consider(&mut self, edge: [u32; 2]) {
        let [a, b] = edge.map(|v| v as usize);
        let sum = self.quadric[a].plus(&self.quadric[b]);
        let (pa, pb) = (self.place[a], self.place[b]);
        let middle = 0.5 * (pa + pb);
        let mut places = vec![pa, pb, middle];
        // Nearly flat surroundings put the best place far away.
        let near = |p: &DVec3| p.distance(middle) < pa.distance(pb);
        places.extend(sum.best().filter(near));
        // In flat surroundings all are as good: short edges first.
        let flat = 1e-9 * pa.distance_squared(pb);
        let best = places.into_iter().map(|p| (sum.at(p).max(0.0) + flat, p));
        if let Some((cost, place)) = best.min_by(|x, y| x.0.total_cmp(&y.0)) {
            self.heap.push(Collapse {
                cost,
                edge,
                place,
                stamp: [self.stamp[a], self.stamp[b]],
            });
        }
    }

    fn is_current(&self, c: &Collapse) -> bool {
        let [a, b] = c.edge.map(|v| v as usize);
        [self.stamp[a], self.stamp[b]] == c.stamp && !self.shared(c.edge[0], c.edge[1]).is_empty()
    }

    /// False if the collapse would join what only touches, or fold a triangle over.
    fn is_allowed(&self, c: &Collapse) -> bool {
        let [a, b] = c.edge;
        let (of_a, of_b) = (self.neighbours(a), self.neighbours(b));
        let common = of_a.iter().filter(|v| of_b.contains(v)).count();
        let shared = self.shared(a, b);
        if common != shared.len() || shared.len() > 2 {
            return false;
        }
        // Two border vertices joined by an inner edge.
        let on_border =
            |v: u32, around: &[u32]| around.iter().any(|&u| self.shared(v, u).len() == 1);
        if shared.len() == 2 && on_border(a, &of_a) && on_border(b, &of_b) {
            return false;
        }
        [a, b].into_iter().all(|v| {
            let around = self.around[v as usize].iter();
            around
                .filter(|t| !shared.contains(t))
                .filter_map(|&t| self.triangles[t as usize])
                .all(|corners| {
                    let before = self.area_normal(corners);
                    let [x, y, z] = corners.map(|u| {
                        if u == v {
                            c.place
                        } else {
                            self.place[u as usize]
                        }
                    });
                    let after = (y - x).cross(z - x);
                    after.dot(before) > TURN * after.length() * before.length()
                        && after.length() > 0.0
                })
        })
    }

    /// Puts both ends at one place; returns how many triangles that takes away.
    fn collapse(&mut self, c: &Collapse) -> usize {
        let [a, b] = c.edge;
        let shared = self.shared(a, b);
        for &t in &shared {
            self.triangles[t as usize] = None;
        }
        let moved = std::mem::take(&mut self.around[b as usize]);
        for t in moved {
            if let Some(corners) = &mut self.triangles[t as usize] {
                corners.iter_mut().filter(|v| **v == b).for_each(|v| *v = a);
                self.around[a as usize].push(t);
            }
        }
        let triangles = &self.triangles;
        self.around[a as usize].retain(|&t| triangles[t as usize].is_some());
        self.quadric[a as usize] = self.quadric[a as usize].plus(&self.quadric[b as usize]);
        self.place[a as usize] = c.place;
        self.stamp[a as usize] += 1;
        self.stamp[b as usize] += 1;
        // Around it what was not allowed before may be now.
        for u in self.neighbours(a) {
            self.consider([a.min(u), a.max(u)]);
            for w in self.neighbours(u).into_iter().filter(|&w| w > u && w != a) {
                self.consider([u, w]);
            }
        }
        shared.len()
    }

    /// The triangles that are left, over the vertices that they use.
    fn finish(self) -> TriMesh {
        let mut mesh = TriMesh::default();
        let mut number = vec![u32::MAX; self.place.len()];
        for corners in self.triangles.into_iter().flatten() {
            mesh.triangles.push(corners.map(|v| {
                let slot = &mut number[v as usize];
                if *slot == u32::MAX {
                    *slot = mesh.vertices.len() as u32;
                    mesh.vertices.push(self.place[v as usize].as_vec3());
                }
                *slot
            }));
        }
        mesh
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cuboid, IcoSphere};
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_ball_keeps_its_shape_and_stays_closed() {
        let ball = IcoSphere {
            radius: 1.0,
            cuts: 4,
            ..IcoSphere::default()
        }
        .build()
        .unwrap();
        let fewer = ball.decimated(400);
        assert!(fewer.triangles.len() <= 400 && fewer.triangles.len() > 390);
        assert!(fewer.check().is_sound(), "{:?}", fewer.check().problems());
        // A ball of 320 equal triangles misses 3.4 % of its volume.
        let ratio = fewer.volume() / ball.volume();
        assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
        for v in &fewer.vertices {
            assert!((v.length() - 1.0).abs() < 0.03, "{v}");
        }
    }

    /// A finely divided sheet with a border comes down to a few triangles, and its
    /// corners stay.
    #[test]
    fn a_flat_sheet_keeps_its_border() {
        let n = 12u32;
        let mut sheet = TriMesh::default();
        for j in 0..=n {
            for i in 0..=n {
                sheet
                    .vertices
                    .push(Vec3::new(i as f32, 0.0, j as f32) / n as f32);
            }
        }
        for j in 0..n {
            for i in 0..n {
                let v = j * (n + 1) + i;
                sheet.triangles.push([v, v + n + 1, v + 1]);
                sheet.triangles.push([v + 1, v + n + 1, v + n + 2]);
            }
        }
        let area = |m: &TriMesh| -> f32 {
            (0..m.triangles.len())
                .map(|t| 0.5 * m.area_normal(t).length())
                .sum()
        };
        let fewer = sheet.decimated(20);
        assert!(fewer.triangles.len() <= 20);
        assert!(
            (area(&fewer) - area(&sheet)).abs() < 1e-3,
            "{}",
            area(&fewer)
        );
    }

    #[test]
    fn a_finely_divided_box_keeps_its_corners() {
        let mut cuboid = Cuboid::new(Vec3::ZERO, Vec3::ONE);
        cuboid.cells = [6, 6, 6];
        let cuboid = cuboid.build().unwrap();
        let fewer = cuboid.decimated(60);
        assert!(fewer.triangles.len() <= 60);
        assert!(fewer.check().is_sound());
        assert!((fewer.volume() - 1.0).abs() < 1e-3, "{}", fewer.volume());
    }
}
