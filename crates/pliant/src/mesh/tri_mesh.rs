//! The triangle mesh type.

use glam::Vec3;

use crate::math::Aabb;

/// Triangles over shared vertices. Seen from outside, a triangle's corners run
/// counter-clockwise, so that `(b - a) x (c - a)` points outwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Corner positions in metres.
    pub vertices: Vec<Vec3>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// The corners of triangle `t`.
    #[inline]
    pub fn corners(&self, t: usize) -> [Vec3; 3] {
        self.triangles[t].map(|v| self.vertices[v as usize])
    }

    /// The smallest box around all vertices.
    pub fn aabb(&self) -> Aabb {
        Aabb::of(self.vertices.iter().copied())
    }

    /// The triangle's normal, its length twice the triangle's area.
    #[inline]
    pub fn area_normal(&self, t: usize) -> Vec3 {
        let [a, b, c] = self.corners(t);
        (b - a).cross(c - a)
    }

    /// Mean length of the triangles' edges in metres; 0 without triangles.
    pub fn mean_edge(&self) -> f32 {
        let edges = |t: usize| {
            let [a, b, c] = self.corners(t);
            (a.distance(b) + b.distance(c) + c.distance(a)) / 3.0
        };
        let sum: f32 = (0..self.triangles.len()).map(edges).sum();
        sum / self.triangles.len().max(1) as f32
    }

    /// Unit normals at the vertices, the triangles around weighted by area.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.vertices.len()];
        for (t, corners) in self.triangles.iter().enumerate() {
            let n = self.area_normal(t);
            corners.iter().for_each(|&v| normals[v as usize] += n);
        }
        for n in &mut normals {
            *n = n.normalize_or(Vec3::Y);
        }
        normals
    }

    /// Enclosed volume by the divergence theorem; meaningful for closed meshes,
    /// negative if the triangles face inwards.
    pub fn volume(&self) -> f32 {
        let sum: f64 = (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t).map(|v| v.as_dvec3());
                a.dot(b.cross(c))
            })
            .sum();
        (sum / 6.0) as f32
    }
}
