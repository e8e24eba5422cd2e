//! Is a mesh fit to hold matter? What is wrong with it, and where.

use std::fmt;

use glam::{DVec3, Vec3};

use super::TriMesh;
use crate::math::Aabb;

/// A triangle whose height over its longest edge is below this fraction of that
/// edge has no usable normal in `f32`.
const SLIVER: f64 = 1e-6;

/// An edge of a mesh, as an example of what is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The vertices at both ends.
    pub vertices: [u32; 2],
    /// Position of the first of them, in metres.
    pub at: Vec3,
}

/// What [`TriMesh::check`] found. Triangles with an index out of range count only
/// as that; edges, area and volume are those of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshReport {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Vertices with a NaN or infinite coordinate.
    pub non_finite_vertices: usize,
    /// The first of them.
    pub first_non_finite_vertex: Option<u32>,
    /// Triangles that refer to a vertex that does not exist.
    pub out_of_range_triangles: usize,
    /// The first of them and the index it refers to.
    pub first_out_of_range: Option<(u32, u32)>,
    /// Triangles that repeat a vertex or are too thin to have a normal.
    pub degenerate_triangles: usize,
    /// The first of them.
    pub first_degenerate_triangle: Option<u32>,
    /// Triangles over the same three vertices as an earlier one.
    pub duplicate_triangles: usize,
    /// The first of them.
    pub first_duplicate_triangle: Option<u32>,
    /// Edges with one triangle only: the rims of holes.
    pub border_edges: usize,
    /// The first of them.
    pub first_border_edge: Option<Edge>,
    /// Edges with more than two triangles.
    pub non_manifold_edges: usize,
    /// The first of them.
    pub first_non_manifold_edge: Option<Edge>,
    /// Edges whose two triangles face opposite ways.
    pub misoriented_edges: usize,
    /// The first of them.
    pub first_misoriented_edge: Option<Edge>,
    /// Enclosed volume in m³, negative if the triangles face inwards.
    pub volume: f32,
    /// Total area in m².
    pub area: f32,
    /// The smallest box around the finite vertices.
    pub aabb: Aabb,
}

impl MeshReport {
    /// True if the surface has triangles, no holes and no edge with more than two
    /// triangles.
    pub fn is_closed(&self) -> bool {
        self.triangles > 0
            && self.out_of_range_triangles == 0
            && self.border_edges == 0
            && self.non_manifold_edges == 0
    }

    /// True if neighbouring triangles agree on which side is outside.
    pub fn is_oriented(&self) -> bool {
        self.misoriented_edges == 0 && self.non_manifold_edges == 0
    }

    /// True if the mesh is closed and oriented and its triangles face outwards.
    pub fn faces_outwards(&self) -> bool {
        self.is_closed() && self.is_oriented() && self.volume > 0.0
    }

    /// True if [`MeshReport::problems`] finds nothing.
    pub fn is_sound(&self) -> bool {
        self.problems().is_empty()
    }

    /// Everything that keeps the mesh from being the wall of a closed body, worst
    /// first, one line each.
    pub fn problems(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.triangles == 0 {
            out.push("mesh has no triangles".to_string());
        }
        if let Some((t, v)) = self.first_out_of_range {
            out.push(format!(
                "mesh has {}, the first triangle {t}, which refers to vertex {v} of {}",
                count(
                    self.out_of_range_triangles,
                    "index out of range",
                    "indices out of range"
                ),
                self.vertices
            ));
        }
        if let Some(v) = self.first_non_finite_vertex {
            out.push(format!(
                "mesh has {}, the first vertex {v}",
                count(
                    self.non_finite_vertices,
                    "vertex that is not a finite number",
                    "vertices that are not finite numbers"
                )
            ));
        }
        if let Some(e) = self.first_border_edge {
            out.push(format!(
                "mesh has a hole: {}, the first {e}",
                count(self.border_edges, "border edge", "border edges")
            ));
        }
        if let Some(e) = self.first_non_manifold_edge {
            out.push(format!(
                "mesh has {} with more than two triangles, the first {e}",
                count(self.non_manifold_edges, "edge", "edges")
            ));
        }
        if let Some(e) = self.first_misoriented_edge {
            out.push(format!(
                "mesh has {} whose two triangles face opposite ways, the first {e}",
                count(self.misoriented_edges, "edge", "edges")
            ));
        }
        if let Some(t) = self.first_duplicate_triangle {
            out.push(format!(
                "mesh has {}, the first triangle {t}",
                count(
                    self.duplicate_triangles,
                    "duplicate triangle",
                    "duplicate triangles"
                )
            ));
        }
        if let Some(t) = self.first_degenerate_triangle {
            out.push(format!(
                "mesh has {}, the first triangle {t}",
                count(
                    self.degenerate_triangles,
                    "degenerate triangle",
                    "degenerate triangles"
                )
            ));
        }
        if self.is_closed() && self.is_oriented() && self.volume <= 0.0 {
            out.push(format!(
                "mesh faces inwards: its volume is {} m³; flip it",
                self.volume
            ));
        }
        out
    }
}

impl fmt::Display for MeshReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = self.problems();
        if problems.is_empty() {
            let size = self.aabb.size();
            write!(
                f,
                "closed mesh of {} vertices and {} triangles, {:.4} x {:.4} x {:.4} m, \
                 area {:.6} m², volume {:.8} m³",
                self.vertices, self.triangles, size.x, size.y, size.z, self.area, self.volume
            )
        } else {
            f.write_str(&problems.join("; "))
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = self.vertices;
        let Vec3 { x, y, z } = self.at;
        write!(f, "between vertices {a} and {b} at ({x}, {y}, {z})")
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

impl TriMesh {
    /// Counts what could be wrong with the mesh, with the first example of each.
    pub fn check(&self) -> MeshReport {
        let finite = |v: &Vec3| v.is_finite();
        let in_range = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < self.vertices.len());
        let mut report = MeshReport {
            vertices: self.vertices.len(),
            triangles: self.triangles.len(),
            non_finite_vertices: self.vertices.iter().filter(|v| !finite(v)).count(),
            first_non_finite_vertex: self
                .vertices
                .iter()
                .position(|v| !finite(v))
                .map(|v| v as u32),
            out_of_range_triangles: 0,
            first_out_of_range: None,
            degenerate_triangles: 0,
            first_degenerate_triangle: None,
            duplicate_triangles: 0,
            first_duplicate_triangle: None,
            border_edges: 0,
            first_border_edge: None,
            non_manifold_edges: 0,
            first_non_manifold_edge: None,
            misoriented_edges: 0,
            first_misoriented_edge: None,
            volume: 0.0,
            area: 0.0,
            aabb: Aabb::of(self.vertices.iter().copied().filter(finite)),
        };

        // Volumes are taken about the middle, where f32 coordinates cancel least.
        let middle = if report.aabb.size().cmpge(Vec3::ZERO).all() {
            report.aabb.center().as_dvec3()
        } else {
            DVec3::ZERO
        };
        let (mut volume, mut area) = (0.0f64, 0.0f64);
        for (t, triangle) in self.triangles.iter().enumerate() {
            if !in_range(triangle) {
                report.out_of_range_triangles += 1;
                report.first_out_of_range.get_or_insert_with(|| {
                    let bad = triangle
                        .iter()
                        .find(|&&v| v as usize >= self.vertices.len());
                    (t as u32, bad.copied().unwrap_or_default())
                });
                continue;
            }
            if self.is_degenerate(t) {
                report.degenerate_triangles += 1;
                report.first_degenerate_triangle.get_or_insert(t as u32);
            }
            let corners = self.corners(t);
            if corners.iter().all(finite) {
                let [a, b, c] = corners.map(|v| v.as_dvec3() - middle);
                volume += a.dot(b.cross(c)) / 6.0;
                area += 0.5 * (b - a).cross(c - a).length();
            }
        }
        report.volume = volume as f32;
        report.area = area as f32;
        self.count_edges(&mut report);
        self.count_duplicates(&mut report);
        report
    }

    /// True if triangle `t` repeats a vertex, is so thin that it has no normal, or
    /// refers to a vertex that does not exist.
    pub fn is_degenerate(&self, t: usize) -> bool {
        let [i, j, k] = self.triangles[t];
        let exists = |v: u32| (v as usize) < self.vertices.len();
        if i == j || j == k || k == i || ![i, j, k].into_iter().all(exists) {
            return true;
        }
        let [a, b, c] = self.corners(t).map(|v| v.as_dvec3());
        let (ab, bc, ca) = (b - a, c - b, a - c);
        let longest = ab
            .length_squared()
            .max(bc.length_squared())
            .max(ca.length_squared());
        let height = ab.cross(bc).length() / longest;
        height.is_nan() || height < SLIVER
    }

    /// Triangles that edges can be counted for: in range, three different vertices.
    fn proper_triangles(&self) -> impl Iterator<Item = (u32, [u32; 3])> + '_ {
        let n = self.vertices.len();
        let proper = move |&[i, j, k]: &[u32; 3]| {
            i != j && j != k && k != i && [i, j, k].iter().all(|&v| (v as usize) < n)
        };
        let numbered = self.triangles.iter().enumerate();
        numbered.filter_map(move |(t, tri)| proper(tri).then_some((t as u32, *tri)))
    }

    fn count_edges(&self, report: &mut MeshReport) {
        // (low vertex, high vertex, runs from low to high)
        let mut edges: Vec<(u32, u32, bool)> = self
            .proper_triangles()
            .flat_map(|(_, [i, j, k])| [(i, j), (j, k), (k, i)])
            .map(|(a, b)| (a.min(b), a.max(b), a < b))
            .collect();
        edges.sort_unstable();
        for same in edges.chunk_by(|e, f| (e.0, e.1) == (f.0, f.1)) {
            let (a, b, _) = same[0];
            let edge = Edge {
                vertices: [a, b],
                at: self.vertices[a as usize],
            };
            match same {
                [_] => {
                    report.border_edges += 1;
                    report.first_border_edge.get_or_insert(edge);
                }
                [e, f] if e.2 != f.2 => {}
                [_, _] => {
                    report.misoriented_edges += 1;
                    report.first_misoriented_edge.get_or_insert(edge);
                }
                _ => {
                    report.non_manifold_edges += 1;
                    report.first_non_manifold_edge.get_or_insert(edge);
                }
            }
        }
    }

    fn count_duplicates(&self, report: &mut MeshReport) {
        let mut sets: Vec<([u32; 3], u32)> = self
            .proper_triangles()
            .map(|(t, mut tri)| {
                tri.sort_unstable();
                (tri, t)
            })
            .collect();
        sets.sort_unstable();
        for same in sets.chunk_by(|a, b| a.0 == b.0).filter(|s| s.len() > 1) {
            report.duplicate_triangles += same.len() - 1;
            let first = report.first_duplicate_triangle.get_or_insert(same[1].1);
            *first = (*first).min(same[1].1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> TriMesh {
        TriMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        }
    }

    #[test]
    fn tetrahedron_is_sound() {
        let report = tetrahedron().check();
        assert!(report.is_sound(), "{report}");
        assert!(report.is_closed() && report.is_oriented() && report.faces_outwards());
        assert!((report.volume - 1.0 / 6.0).abs() < 1e-6);
        assert!((report.area - (1.5 + 0.75f32.sqrt())).abs() < 1e-6);
        assert_eq!(report.aabb.max, Vec3::ONE);
        assert!(report.to_string().starts_with("closed mesh of 4 vertices"));
    }

    #[test]
    fn hole_is_named_with_its_place() {
        let mut mesh = tetrahedron();
        mesh.triangles.pop();
        let report = mesh.check();
        assert!(!report.is_closed() && report.is_oriented());
        assert_eq!(
            report.to_string(),
            "mesh has a hole: 3 border edges, the first between vertices 1 and 2 at (1, 0, 0)"
        );
    }

    #[test]
    fn inward_and_mixed_orientation() {
        let mut mesh = tetrahedron();
        mesh.flip();
        let report = mesh.check();
        assert!(report.is_closed() && report.is_oriented() && !report.faces_outwards());
        assert!(report.to_string().contains("faces inwards"));
        mesh.triangles[0].swap(1, 2);
        let report = mesh.check();
        assert!(report.is_closed() && !report.is_oriented());
        assert_eq!(report.misoriented_edges, 3);
        assert_eq!(report.first_misoriented_edge.unwrap().vertices, [0, 1]);
    }

    #[test]
    fn bad_indices_and_coordinates_are_counted_not_followed() {
        let mut mesh = tetrahedron();
        mesh.triangles.push([0, 1, 99]);
        mesh.vertices.push(Vec3::new(0.0, f32::NAN, 0.0));
        mesh.triangles.push([0, 1, 4]);
        let report = mesh.check();
        assert_eq!(report.first_out_of_range, Some((4, 99)));
        assert_eq!(report.first_non_finite_vertex, Some(4));
        assert_eq!(report.degenerate_triangles, 1);
        assert!((report.volume - 1.0 / 6.0).abs() < 1e-6);
        assert!(!report.is_closed());
    }

    #[test]
    fn degenerate_duplicate_and_non_manifold() {
        let mut mesh = tetrahedron();
        mesh.triangles.push([3, 3, 1]);
        let report = mesh.check();
        assert!(report.is_closed(), "a collapsed triangle opens no hole");
        assert_eq!(report.first_degenerate_triangle, Some(4));
        mesh.triangles[4] = [3, 1, 2];
        let report = mesh.check();
        assert_eq!(
            (report.duplicate_triangles, report.non_manifold_edges),
            (1, 3)
        );
        assert_eq!(report.first_duplicate_triangle, Some(4));
        mesh.vertices = vec![Vec3::ZERO, Vec3::X, 2.0 * Vec3::X, Vec3::Z];
        assert!(mesh.is_degenerate(0), "three vertices on a line");
    }

    #[test]
    fn empty_mesh_is_reported() {
        let report = TriMesh::default().check();
        assert!(!report.is_closed());
        assert_eq!(report.to_string(), "mesh has no triangles");
    }
}
