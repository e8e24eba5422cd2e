//! A sphere of a given number of points, evenly spread.

use std::f32::consts::{PI, TAU};

use glam::Vec3;

use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// A sphere of rings that have as many points as their length asks for, between two
/// poles on the y axis. Edges are nearly equal, unlike those of a
/// [`UvSphere`](super::UvSphere), which crowd at the poles.
#[derive(Clone, Debug, PartialEq)]
pub struct EvenSphere {
    /// Middle, in metres. Default the origin.
    pub center: Vec3,
    /// Radius of the vertices, in metres. Default 0.5.
    pub radius: f32,
    /// Number of vertices, at least 14. Default 1986, as in Mesit 2010.
    pub points: u32,
}

impl Default for EvenSphere {
    fn default() -> Self {
        EvenSphere {
            center: Vec3::ZERO,
            radius: 0.5,
            points: 1986,
        }
    }
}

impl EvenSphere {
    /// A closed mesh of exactly `points` vertices, `2 points - 4` triangles and
    /// `3 points - 6` edges that faces outwards.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("even sphere");
        rules.finite("center", self.center)?;
        rules.positive("radius", self.radius)?;
        if !(14..=2_000_000).contains(&self.points) {
            return Err(rules.fault("points", self.points, "from 14 to 2000000"));
        }
        let counts = ring_counts(self.points as usize - 2);
        let mut mesh = TriMesh::default();
        mesh.vertices.push(-Vec3::Y);
        for (k, &count) in counts.iter().enumerate() {
            let (sin, cos) = (PI * (k + 1) as f32 / (counts.len() + 1) as f32).sin_cos();
            for j in 0..count {
                // Every other ring is turned by half a step.
                let turn = TAU * (j as f32 + 0.5 * (k % 2) as f32) / count as f32;
                let (s, c) = turn.sin_cos();
                mesh.vertices.push(Vec3::new(sin * s, -cos, sin * c));
            }
        }
        mesh.vertices.push(Vec3::Y);
        let top = mesh.vertices.len() as u32 - 1;
        let mut first = 1u32;
        for (k, &count) in counts.iter().enumerate() {
            let count = count as u32;
            let at = |j: u32| first + j % count;
            if k == 0 {
                mesh.triangles
                    .extend((0..count).map(|j| [0, at(j + 1), at(j)]));
            }
            match counts.get(k + 1) {
                Some(&next) => zip_rings(&mut mesh, (first, count), (first + count, next as u32)),
                None => {
                    mesh.triangles
                        .extend((0..count).map(|j| [top, at(j), at(j + 1)]));
                }
            }
            first += count;
        }
        for v in &mut mesh.vertices {
            *v = self.center + self.radius * *v;
        }
        Ok(mesh)
    }
}

/// Points on each ring, `all` together: by length, and what rounding leaves is spread
/// over the longest rings.
fn ring_counts(all: usize) -> Vec<usize> {
    // An even triangulation with edge e has rings √3/2 e apart and 4π / (√3/2 e²) points.
    let edge = (4.0 * PI / (0.866 * all as f32)).sqrt();
    let rings = ((PI / (0.866 * edge)).round() as usize)
        .saturating_sub(1)
        .max(2);
    let angle = |k: usize| PI * (k + 1) as f32 / (rings + 1) as f32;
    let total: f32 = (0..rings).map(|k| angle(k).sin()).sum();
    let share = |k: usize| (all as f32 * angle(k).sin() / total).round() as usize;
    let mut counts: Vec<usize> = (0..rings).map(|k| share(k).max(4)).collect();
    let mut order: Vec<usize> = (0..rings).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(counts[k]));
    let mut turn = order.iter().cycle();
    loop {
        let sum: usize = counts.iter().sum();
        let Some(&k) = turn.next() else {
            return counts;
        };
        match sum.cmp(&all) {
            std::cmp::Ordering::Less => counts[k] += 1,
            std::cmp::Ordering::Greater if counts[k] > 4 => counts[k] -= 1,
            std::cmp::Ordering::Greater => {}
            std::cmp::Ordering::Equal => return counts,
        }
    }
}

/// Triangles between two rings: always the shorter of the two next diagonals.
fn zip_rings(mesh: &mut TriMesh, (a0, na): (u32, u32), (b0, nb): (u32, u32)) {
    let a = |i: u32| a0 + i % na;
    let b = |j: u32| b0 + j % nb;
    let at = |mesh: &TriMesh, v: u32| mesh.vertices[v as usize];
    // The upper point nearest to the first lower one.
    let start = (0..nb)
        .min_by(|&j, &k| {
            let from = |j: u32| at(mesh, b(j)).distance_squared(at(mesh, a(0)));
            from(j).total_cmp(&from(k))
        })
        .unwrap_or(0);
    let (mut i, mut j) = (0, 0);
    while i < na || j < nb {
        let along_a = at(mesh, a(i + 1)).distance_squared(at(mesh, b(start + j)));
        let along_b = at(mesh, a(i)).distance_squared(at(mesh, b(start + j + 1)));
        if j == nb || (i < na && along_a <= along_b) {
            mesh.triangles.push([a(i), a(i + 1), b(start + j)]);
            i += 1;
        } else {
            mesh.triangles.push([a(i), b(start + j + 1), b(start + j)]);
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_points_gives_an_even_closed_sphere() {
        for points in [14, 162, 500, 1986, 4721, 20_000] {
            let sphere = EvenSphere {
                points,
                ..EvenSphere::default()
            };
            let mesh = sphere.build().unwrap();
            let report = mesh.check();
            assert!(report.is_sound(), "{points}: {report}");
            assert_eq!(report.vertices, points as usize);
            assert_eq!(report.triangles, 2 * points as usize - 4);
            if points >= 500 {
                let edge = mesh.mean_edge();
                for t in 0..mesh.triangles.len() {
                    let [a, b, c] = mesh.corners(t);
                    for length in [a.distance(b), b.distance(c), c.distance(a)] {
                        assert!(
                            length > 0.4 * edge && length < 2.0 * edge,
                            "{points} {length}"
                        );
                    }
                }
            }
        }
        let sphere = EvenSphere {
            points: 3,
            ..EvenSphere::default()
        };
        assert!(sphere.build().is_err());
    }
}
