//! Energies of distances, areas and volumes (Teschner et al. 2004; Mesit 2010, 3.3-3.7).
//!
//! Of a solid every tetrahedron keeps its volume. A shell has none: there the tetrahedra
//! between every two triangles that share an edge stand for its bending.

use glam::Vec3A;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Points, Start, hinges};

/// How strongly a solid or a shell keeps its shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Energies {
    /// k_D of every edge, in J.
    pub distance: f32,
    /// k_A of every triangle of the surface, in J.
    pub area: f32,
    /// k_V of every tetrahedron, in J.
    pub volume: f32,
    /// Damping of every constraint along itself, in seconds.
    pub damping: f32,
}

impl Default for Energies {
    fn default() -> Self {
        Energies {
            distance: 0.5,
            area: 0.1,
            volume: 0.5,
            damping: 0.002,
        }
    }
}

/// Lengths, areas and volumes at the start.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Shape {
    settings: Energies,
    edges: Vec<([u32; 2], f32)>,
    areas: Vec<([u32; 3], f32)>,
    /// Volume at the start, and what differences of it are measured by.
    volumes: Vec<([u32; 4], [f32; 2])>,
}

impl Shape {
    pub fn new(settings: Energies, start: &Start<'_>) -> Shape {
        let at = |v: u32| start.place[v as usize];
        let mut edges = start.topology.edges.clone();
        for &[a, b, c, d] in start.tets {
            let pairs = [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]];
            edges.extend(pairs.map(|[i, j]| [i.min(j), i.max(j)]));
        }
        edges.sort_unstable();
        edges.dedup();
        let volume = |[a, b, c, d]: [u32; 4]| {
            (at(b) - at(a)).dot((at(c) - at(a)).cross(at(d) - at(a))) / 6.0
        };
        let volumes = if start.tets.is_empty() {
            // Of flat tetrahedra: the volume of a regular one of the mean edge.
            let mean = start.topology.mean_edge;
            let scale = 2f32.sqrt() / 12.0 * mean * mean * mean;
            let flat = hinges(&start.topology.triangles).into_iter();
            flat.map(|t| (t, [volume(t), scale])).collect()
        } else {
            let tets = start.tets.iter();
            tets.map(|&t| (t, [volume(t), volume(t)])).collect()
        };
        let areas = start.topology.triangles.iter().map(|&t| {
            let [a, b, c] = t.map(at);
            (t, 0.5 * (b - a).cross(c - a).length())
        });
        Shape {
            settings,
            edges: edges
                .into_iter()
                .map(|e| (e, at(e[0]).distance(at(e[1]))))
                .collect(),
            areas: areas.collect(),
            volumes,
        }
    }

    pub fn add_forces(&self, points: &mut Points<'_>) {
        let s = self.settings;
        let (body, inside) = (points.controls.alpha, points.controls.gamma);
        for &(edge, rest) in &self.edges {
            let (value, gradient) = stretch(edge.map(|v| points.position[v as usize]), rest);
            points.constrain(edge, value, gradient, body * s.distance, s.damping);
        }
        for &(triangle, rest) in &self.areas {
            let (value, gradient) = swelling(triangle.map(|v| points.position[v as usize]), rest);
            points.constrain(triangle, value, gradient, body * s.area, s.damping);
        }
        for &(tet, rest) in &self.volumes {
            let (value, gradient) = filling(tet.map(|v| points.position[v as usize]), rest);
            points.constrain(tet, value, gradient, inside * s.volume, s.damping);
        }
    }

    /// All energy in J, for α and γ of 1.
    #[cfg(test)]
    pub fn energy(&self, place: &[Vec3A]) -> f64 {
        let s = self.settings;
        let half = |k: f32, c: f32| 0.5 * f64::from(k) * f64::from(c) * f64::from(c);
        let at = |v: u32| place[v as usize];
        let edges = self.edges.iter();
        let edges = edges.map(|(e, r)| half(s.distance, stretch(e.map(at), *r).0));
        let areas = self.areas.iter();
        let areas = areas.map(|(t, r)| half(s.area, swelling(t.map(at), *r).0));
        let volumes = self.volumes.iter();
        let volumes = volumes.map(|(t, r)| half(s.volume, filling(t.map(at), *r).0));
        edges.chain(areas).chain(volumes).sum()
    }
}

/// `(|p_j - p_i| - D0) / D0` and how it changes.
#[inline]
pub(super) fn stretch([a, b]: [Vec3A; 2], rest: f32) -> (f32, [Vec3A; 2]) {
    let way = b - a;
    let length = way.length();
    let along = way / (length.max(1e-20) * rest);
    ((length - rest) / rest, [-along, along])
}

/// `(A - A0) / A0` and how it changes.
#[inline]
fn swelling([a, b, c]: [Vec3A; 3], rest: f32) -> (f32, [Vec3A; 3]) {
    let normal = (b - a).cross(c - a);
    let twice = normal.length();
    let n = normal / (twice.max(1e-20) * 2.0 * rest);
    let gradient = [n.cross(c - b), n.cross(a - c), n.cross(b - a)];
    ((0.5 * twice - rest) / rest, gradient)
}

/// `(V - V0) / Ṽ0` and how it changes.
#[inline]
fn filling([a, b, c, d]: [Vec3A; 4], [rest, scale]: [f32; 2]) -> (f32, [Vec3A; 4]) {
    let [u, v, w] = [b - a, c - a, d - a];
    let share = 1.0 / (6.0 * scale);
    let gradient = [v.cross(w), w.cross(u), u.cross(v)].map(|g| share * g);
    let volume = u.dot(v.cross(w)) / 6.0;
    let first = -(gradient[0] + gradient[1] + gradient[2]);
    (
        (volume - rest) / scale,
        [first, gradient[0], gradient[1], gradient[2]],
    )
}

/// True if every point is part of the surface.
pub(in crate::soft) fn outer_points_only(points: usize, surface: &[[u32; 3]]) -> bool {
    let mut seen = vec![false; points];
    for &v in surface.iter().flatten() {
        seen[v as usize] = true;
    }
    seen.into_iter().all(|s| s)
}
