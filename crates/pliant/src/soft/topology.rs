//! Which points a surface joins: edges, springs and triangles around every point.

use std::collections::HashMap;

use glam::Vec3;

use super::settings::{Scaling, SoftError, SoftSettings, SurfaceMass};
use crate::mesh::TriMesh;

/// A spring as one of its ends sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    /// The point at the other end.
    pub other: u32,
    /// Number of the spring.
    pub spring: u32,
}

/// A spring between two points, the first of the smaller number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spring {
    pub ends: [u32; 2],
    /// Length at rest in metres.
    pub rest: f32,
    /// In N/m, without α.
    pub stiffness: f32,
}

/// The triangles of a body and what follows from them. Lists of a point `i` are
/// `start[i]..start[i + 1]` of the flat arrays, in order of the other point.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    pub triangles: Vec<[u32; 3]>,
    /// Unique edges, smaller point first, in order.
    pub edges: Vec<[u32; 2]>,
    /// Edges with one triangle only.
    pub open_edges: usize,
    /// All springs: along the edges, then those that resist bending.
    pub springs: Vec<Spring>,
    pub link_start: Vec<u32>,
    pub links: Vec<Link>,
    pub corner_start: Vec<u32>,
    /// Triangles around each point.
    pub corners: Vec<u32>,
    /// Masses of the points in kg.
    pub mass: Vec<f32>,
    pub mean_edge: f32,
}

impl Topology {
    /// Reads a mesh: unique springs with the lengths at the start (Mesit 2010, 3.1),
    /// masses by area or the same for all.
    pub fn of(mesh: &TriMesh, settings: &SoftSettings) -> Result<Topology, SoftError> {
        let report = mesh.check();
        let fault = |message: String| Err(SoftError::Mesh(message));
        if mesh.triangles.is_empty() {
            return fault("the surface has no triangles".into());
        }
        if report.out_of_range_triangles > 0
            || report.non_finite_vertices > 0
            || report.degenerate_triangles > 0
        {
            return fault(report.problems().join("; "));
        }
        let n = mesh.vertices.len();
        // For every edge the points across, of its two triangles.
        let mut found: HashMap<[u32; 2], ([u32; 2], u32, f32)> = HashMap::new();
        let mut area = vec![0.0f64; n];
        for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
            let own = 0.5 * mesh.area_normal(t).length();
            for (i, j, tip) in [(a, b, c), (b, c, a), (c, a, b)] {
                let edge = found
                    .entry([i.min(j), i.max(j)])
                    .or_insert(([u32::MAX; 2], 0, 0.0));
                if edge.1 < 2 {
                    edge.0[edge.1 as usize] = tip;
                }
                edge.1 += 1;
                edge.2 += own;
            }
            for v in [a, b, c] {
                area[v as usize] += f64::from(own) / 3.0;
            }
        }
        if found.values().any(|e| e.1 > 2) {
            return fault("an edge has more than two triangles; a soft body is a surface".into());
        }
        let loose = area.iter().filter(|a| **a == 0.0).count();
        if loose > 0 {
            return fault(format!("{loose} points belong to no triangle"));
        }
        let mut edges: Vec<[u32; 2]> = found.keys().copied().collect();
        edges.sort_unstable();
        let length =
            |[i, j]: [u32; 2]| mesh.vertices[i as usize].distance(mesh.vertices[j as usize]);
        let physical = settings.scaling == Scaling::Physical;
        let mut springs: Vec<Spring> = Vec::with_capacity(edges.len());
        for &edge in &edges {
            let l = length(edge);
            // A sheet of this modulus (van Gelder 1998): k = E t ΣA / l².
            let k = if physical {
                settings.body.stiffness * found[&edge].2 / (l * l)
            } else {
                settings.body.stiffness
            };
            springs.push(Spring {
                ends: edge,
                rest: settings.body.rest * l,
                stiffness: k,
            });
        }
        if settings.body.bend > 0.0 {
            for edge in &edges {
                let ([a, b], count, _) = found[edge];
                if count == 2 && a != b {
                    springs.push(Spring {
                        ends: [a.min(b), a.max(b)],
                        rest: length([a, b]),
                        stiffness: settings.body.bend,
                    });
                }
            }
        }
        let total: f64 = area.iter().sum();
        let (whole, points) = (total as f32, n as f32);
        let mass = match (settings.mass, physical) {
            (SurfaceMass::Total(m), true) => area.iter().map(|a| m * *a as f32 / whole).collect(),
            (SurfaceMass::Area(m), true) => area.iter().map(|a| m * *a as f32).collect(),
            (SurfaceMass::Total(m), false) => vec![m / points; n],
            (SurfaceMass::Area(m), false) => vec![m * whole / points; n],
        };
        let (link_start, links) = links(n, &springs);
        let (corner_start, corners) = corners(n, &mesh.triangles);
        let sum: f64 = edges.iter().map(|&e| f64::from(length(e))).sum();
        Ok(Topology {
            triangles: mesh.triangles.clone(),
            open_edges: found.values().filter(|e| e.1 == 1).count(),
            mean_edge: (sum / edges.len() as f64) as f32,
            edges,
            springs,
            link_start,
            links,
            corner_start,
            corners,
            mass,
        })
    }

    /// The springs of point `i`.
    #[inline]
    pub fn links_of(&self, i: usize) -> &[Link] {
        &self.links[self.link_start[i] as usize..self.link_start[i + 1] as usize]
    }

    /// The springs of point `i` with the point at the other end and their stiffness in
    /// N/m.
    #[inline]
    pub fn stiff_links_of(&self, i: usize) -> impl Iterator<Item = (usize, f32)> {
        let springs = &self.springs;
        let of = |l: &Link| (l.other as usize, springs[l.spring as usize].stiffness);
        self.links_of(i).iter().map(of)
    }

    /// The triangles around point `i`.
    #[inline]
    pub fn corners_of(&self, i: usize) -> &[u32] {
        &self.corners[self.corner_start[i] as usize..self.corner_start[i + 1] as usize]
    }

    /// Heap memory in bytes.
    pub fn bytes(&self) -> usize {
        12 * self.triangles.len()
            + 8 * self.edges.len()
            + 8 * self.links.len()
            + 16 * self.springs.len()
            + 4 * (self.link_start.len() + self.corner_start.len() + self.corners.len())
            + 4 * self.mass.len()
    }
}

/// Every spring twice, sorted by its ends.
fn links(n: usize, springs: &[Spring]) -> (Vec<u32>, Vec<Link>) {
    let mut ends: Vec<(u32, Link)> = Vec::with_capacity(2 * springs.len());
    for (k, spring) in springs.iter().enumerate() {
        let [i, j] = spring.ends;
        for (own, other) in [(i, j), (j, i)] {
            let link = Link {
                other,
                spring: k as u32,
            };
            ends.push((own, link));
        }
    }
    // Stable: edges before bending springs where both join the same points.
    ends.sort_by_key(|(own, link)| (*own, link.other));
    let start = (0..=n as u32).map(|i| ends.partition_point(|e| e.0 < i) as u32);
    (start.collect(), ends.into_iter().map(|e| e.1).collect())
}

fn corners(n: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0u32; n + 1];
    for &v in triangles.iter().flatten() {
        start[v as usize + 1] += 1;
    }
    for i in 0..n {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut list = vec![0; start[n] as usize];
    for (t, triangle) in triangles.iter().enumerate() {
        for &v in triangle {
            list[next[v as usize] as usize] = t as u32;
            next[v as usize] += 1;
        }
    }
    (start, list)
}

/// Twice the area of a triangle times its normal.
#[inline]
pub(super) fn area_normal(a: glam::Vec3A, b: glam::Vec3A, c: glam::Vec3A) -> glam::Vec3A {
    (b - a).cross(c - a)
}

/// A flat sheet in the plane of x and z, for tests and cloth: `cells` squares of two
/// triangles along each side.
pub fn sheet(center: Vec3, size: [f32; 2], cells: [u32; 2]) -> TriMesh {
    let [nx, nz] = cells.map(|c| c.max(1));
    let mut mesh = TriMesh::default();
    for k in 0..=nz {
        for i in 0..=nx {
            let across = |k: u32, n: u32, size: f32| size * (k as f32 / n as f32 - 0.5);
            let at = Vec3::new(across(i, nx, size[0]), 0.0, across(k, nz, size[1]));
            mesh.vertices.push(center + at);
        }
    }
    let at = |i: u32, k: u32| k * (nx + 1) + i;
    for k in 0..nz {
        for i in 0..nx {
            let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
            // Diagonals in turn, so that the sheet is equally stiff both ways.
            mesh.triangles.extend(if (i + k) % 2 == 0 {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }
    mesh
}
