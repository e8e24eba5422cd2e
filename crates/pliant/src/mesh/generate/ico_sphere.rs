//! A sphere of nearly equal triangles.

use std::collections::HashMap;

use glam::Vec3;

use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// An icosahedron whose triangles are cut into four again and again, all vertices
/// on a sphere.
#[derive(Clone, Debug, PartialEq)]
pub struct IcoSphere {
    /// Middle, in metres. Default the origin.
    pub center: Vec3,
    /// Radius of the vertices, in metres. Default 0.5.
    pub radius: f32,
    /// How often the triangles are cut, at most 9. Default 3 (1,280 triangles).
    pub cuts: u32,
}

impl Default for IcoSphere {
    fn default() -> Self {
        IcoSphere {
            center: Vec3::ZERO,
            radius: 0.5,
            cuts: 3,
        }
    }
}

impl IcoSphere {
    /// A closed mesh of `10 * 4^cuts + 2` vertices and `20 * 4^cuts` triangles that
    /// faces outwards.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("ico sphere");
        rules.finite("center", self.center)?;
        rules.positive("radius", self.radius)?;
        if self.cuts > 9 {
            return Err(rules.fault("cuts", self.cuts, "from 0 to 9"));
        }
        let mut mesh = icosahedron();
        for _ in 0..self.cuts {
            cut(&mut mesh);
        }
        for v in &mut mesh.vertices {
            *v = self.center + self.radius * *v;
        }
        Ok(mesh)
    }
}

/// The icosahedron of circumradius 1: the corners of three golden rectangles.
fn icosahedron() -> TriMesh {
    let golden = 0.5 * (1.0 + 5f32.sqrt());
    let mut vertices = Vec::with_capacity(12);
    for axis in 0..3 {
        for (s, t) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
            let mut v = Vec3::ZERO;
            v[(axis + 1) % 3] = s;
            v[(axis + 2) % 3] = t * golden;
            vertices.push(v);
        }
    }
    // A face is three vertices at the edge length of 2 from each other.
    let near = |a: usize, b: usize| (vertices[a].distance_squared(vertices[b]) - 4.0).abs() < 0.1;
    let mut triangles = Vec::with_capacity(20);
    for a in 0..12 {
        for b in a + 1..12 {
            for c in (b + 1..12).filter(|&c| near(a, b) && near(b, c) && near(c, a)) {
                let outwards = vertices[a].dot(vertices[b].cross(vertices[c])) > 0.0;
                let [b, c] = if outwards { [b, c] } else { [c, b] };
                triangles.push([a as u32, b as u32, c as u32]);
            }
        }
    }
    TriMesh {
        vertices: vertices.iter().map(|v| v.normalize()).collect(),
        triangles,
    }
}

/// Cuts every triangle of a mesh on the unit sphere into four.
fn cut(mesh: &mut TriMesh) {
    let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
    let vertices = &mut mesh.vertices;
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let m = (vertices[a as usize] + vertices[b as usize]).normalize();
            vertices.push(m);
            vertices.len() as u32 - 1
        })
    };
    mesh.triangles = mesh
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| {
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_volume() {
        for cuts in 0..5 {
            let sphere = IcoSphere {
                cuts,
                ..IcoSphere::default()
            };
            let report = sphere.build().unwrap().check();
            assert!(report.is_sound(), "{report}");
            assert_eq!(report.triangles, 20 * 4usize.pow(cuts));
            assert_eq!(report.vertices, 10 * 4usize.pow(cuts) + 2);
            // The missing part, 39.5 % without cuts, shrinks nearly four times per cut.
            let exact = std::f32::consts::PI / 6.0;
            let missing = 1.0 - report.volume / exact;
            assert!(missing > 0.0 && missing < 0.6 * 0.25f32.powi(cuts as i32));
        }
    }

    #[test]
    fn impossible() {
        let sphere = IcoSphere {
            cuts: 10,
            ..IcoSphere::default()
        };
        assert!(sphere.build().is_err());
    }
}
