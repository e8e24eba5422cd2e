//! Small meshes and random numbers for the tests of this folder.

use std::collections::HashMap;
use std::f32::consts::TAU;

use glam::Vec3;

use crate::math::Aabb;
use crate::mesh::TriMesh;

/// A small generator of repeatable random numbers (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `0..1`.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn in_box(&mut self, b: Aabb) -> Vec3 {
        b.min + b.size() * Vec3::new(self.unit(), self.unit(), self.unit())
    }

    pub fn direction(&mut self) -> Vec3 {
        let cube = Aabb {
            min: Vec3::NEG_ONE,
            max: Vec3::ONE,
        };
        loop {
            let v = self.in_box(cube);
            if v.length_squared() <= 1.0 && v.length_squared() > 0.01 {
                return v.normalize();
            }
        }
    }
}

/// The cube from (-1, -1, -1) to (1, 1, 1).
pub fn cube() -> TriMesh {
    let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    extrude(&square, &[[0, 1, 2], [0, 2, 3]], -1.0, 1.0)
}

/// An L in the x-y plane, 2 m by 2 m with limbs 1 m wide, 1 m thick.
pub fn l_shape() -> TriMesh {
    let outline = [
        (0.0, 0.0),
        (2.0, 0.0),
        (2.0, 1.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.0, 2.0),
    ];
    let faces = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
    extrude(&outline, &faces, 0.0, 1.0)
}

fn extrude(outline: &[(f32, f32)], faces: &[[u32; 3]], z0: f32, z1: f32) -> TriMesh {
    let n = outline.len() as u32;
    let mut mesh = TriMesh::default();
    for z in [z0, z1] {
        mesh.vertices
            .extend(outline.iter().map(|&(x, y)| Vec3::new(x, y, z)));
    }
    for &[a, b, c] in faces {
        mesh.triangles.push([a, c, b]);
        mesh.triangles.push([a + n, b + n, c + n]);
    }
    for i in 0..n {
        let j = (i + 1) % n;
        mesh.triangles.push([i, j, j + n]);
        mesh.triangles.push([i, j + n, i + n]);
    }
    mesh
}

/// The unit sphere from an octahedron split `levels` times.
pub fn icosphere(levels: u32) -> TriMesh {
    let mut mesh = TriMesh {
        vertices: vec![
            Vec3::X,
            Vec3::NEG_X,
            Vec3::Y,
            Vec3::NEG_Y,
            Vec3::Z,
            Vec3::NEG_Z,
        ],
        triangles: vec![
            [0, 2, 4],
            [2, 1, 4],
            [1, 3, 4],
            [3, 0, 4],
            [2, 0, 5],
            [1, 2, 5],
            [3, 1, 5],
            [0, 3, 5],
        ],
    };
    for _ in 0..levels {
        let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
        let mut split = Vec::new();
        for &[a, b, c] in &mesh.triangles {
            let mut middle = |i: u32, j: u32| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    let m = mesh.vertices[i as usize] + mesh.vertices[j as usize];
                    mesh.vertices.push(m.normalize());
                    mesh.vertices.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            split.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        mesh.triangles = split;
    }
    mesh
}

/// A torus around y with a tube of radius `tube`, whose radius varies by `wobble`.
pub fn torus(rings: u32, sides: u32, radius: f32, tube: f32, wobble: f32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for i in 0..rings {
        let around = TAU * i as f32 / rings as f32;
        let r = tube + wobble * (5.0 * around).sin();
        for j in 0..sides {
            let turn = TAU * j as f32 / sides as f32;
            let from_axis = radius + r * turn.cos();
            let p = Vec3::new(
                from_axis * around.cos(),
                r * turn.sin(),
                from_axis * around.sin(),
            );
            mesh.vertices.push(p);
        }
    }
    for i in 0..rings {
        let next = (i + 1) % rings;
        for j in 0..sides {
            let k = (j + 1) % sides;
            let (a, b) = (i * sides + j, next * sides + j);
            let (c, d) = (next * sides + k, i * sides + k);
            mesh.triangles.push([a, c, b]);
            mesh.triangles.push([a, d, c]);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_meshes_face_outwards() {
        assert!((cube().volume() - 8.0).abs() < 1e-5);
        assert!((l_shape().volume() - 3.0).abs() < 1e-5);
        assert!(icosphere(2).volume() > 3.8);
        assert!(torus(24, 12, 1.0, 0.4, 0.1).volume() > 2.0);
    }
}
