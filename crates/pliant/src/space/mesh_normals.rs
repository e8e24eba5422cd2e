//! Normals that tell inside from outside: angle-weighted pseudo-normals of the
//! faces, edges and vertices of a mesh (Bærentzen & Aanæs 2005).

use glam::Vec3;

use super::SurfacePoint;
use crate::contact::triangle::Feature;
use crate::mesh::TriMesh;

/// No triangle on the other side of an edge.
pub const BORDER: u32 = u32::MAX;

/// Pseudo-normals of a mesh and which triangles meet at its edges.
///
/// Vertices at the same place count as one, so seams in texture or file do not
/// open a mesh.
#[derive(Clone, Debug)]
pub struct MeshNormals {
    /// Unit normal per triangle; zero for a triangle without area.
    pub face: Vec<Vec3>,
    /// Unit normal per edge of each triangle, at `3 * triangle + edge`.
    pub edge: Vec<Vec3>,
    /// Unit normal per corner of each triangle, at `3 * triangle + corner`.
    pub corner: Vec<Vec3>,
    /// The triangle beyond each edge, at `3 * triangle + edge`, or [`BORDER`].
    pub across: Vec<u32>,
    open_edges: usize,
}

impl MeshNormals {
    /// Computes the normals of `mesh`, open or closed.
    pub fn of(mesh: &TriMesh) -> MeshNormals {
        let welded = weld(mesh);
        let count = mesh.triangles.len();
        let face: Vec<Vec3> = (0..count)
            .map(|t| {
                let [a, b, c] = mesh.corners(t).map(|v| v.as_dvec3());
                (b - a).cross(c - a).normalize_or_zero().as_vec3()
            })
            .collect();

        // Bærentzen & Aanæs 2005: a vertex sums the face normals weighted by the
        // angle between the two edges that meet there.
        let mut at_vertex = vec![Vec3::ZERO; mesh.vertices.len()];
        for (t, ids) in mesh.triangles.iter().enumerate() {
            let p = mesh.corners(t);
            for k in 0..3 {
                let to_next = p[(k + 1) % 3] - p[k];
                let to_last = p[(k + 2) % 3] - p[k];
                let angle = to_next.cross(to_last).length().atan2(to_next.dot(to_last));
                at_vertex[welded[ids[k] as usize] as usize] += face[t] * angle;
            }
        }
        let corner = mesh
            .triangles
            .iter()
            .flatten()
            .map(|&v| at_vertex[welded[v as usize] as usize].normalize_or_zero())
            .collect();

        let mut edge = vec![Vec3::ZERO; 3 * count];
        let mut across = vec![BORDER; 3 * count];
        let mut open_edges = 0;
        // (low vertex, high vertex, slot): sorting brings the sides of an edge together.
        let mut sides: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * count);
        for (t, ids) in mesh.triangles.iter().enumerate() {
            for k in 0..3 {
                let (v, w) = (welded[ids[k] as usize], welded[ids[(k + 1) % 3] as usize]);
                if v != w {
                    sides.push((v.min(w), v.max(w), (3 * t + k) as u32));
                }
            }
        }
        sides.sort_unstable();
        let runs_upwards = |slot: u32| {
            let (t, k) = (slot as usize / 3, slot as usize % 3);
            let ids = mesh.triangles[t];
            welded[ids[k] as usize] < welded[ids[(k + 1) % 3] as usize]
        };
        for group in sides.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
            let sum: Vec3 = group.iter().map(|s| face[s.2 as usize / 3]).sum();
            let mut balance = 0i32;
            for side in group {
                let slot = side.2 as usize;
                let up = runs_upwards(side.2);
                balance += if up { 1 } else { -1 };
                edge[slot] = sum.normalize_or_zero();
                let partner = group.iter().find(|o| runs_upwards(o.2) != up);
                across[slot] = partner.map_or(BORDER, |o| o.2 / 3);
            }
            open_edges += usize::from(balance != 0);
        }
        MeshNormals {
            face,
            edge,
            corner,
            across,
            open_edges,
        }
    }

    /// Edges where the triangles on the two sides do not match.
    pub fn open_edges(&self) -> usize {
        self.open_edges
    }

    /// True if the mesh has triangles and no open edge: then it has an inside.
    pub fn is_closed(&self) -> bool {
        !self.face.is_empty() && self.open_edges == 0
    }

    /// The pseudo-normal at a feature of a triangle.
    #[inline]
    pub fn at(&self, triangle: u32, feature: Feature) -> Vec3 {
        let t = triangle as usize;
        match feature {
            Feature::Face => self.face[t],
            Feature::Edge(e) => self.edge[3 * t + e as usize],
            Feature::Vertex(v) => self.corner[3 * t + v as usize],
        }
    }

    /// -1 if `p`, whose closest point on a closed mesh is `nearest`, lies inside;
    /// otherwise 1.
    #[inline]
    pub fn sign(&self, p: Vec3, nearest: &SurfacePoint, feature: Feature) -> f32 {
        let outwards = self.at(nearest.triangle, feature);
        if outwards.dot(p - nearest.point) < 0.0 {
            -1.0
        } else {
            1.0
        }
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.face)
            + size_of_val(&*self.edge)
            + size_of_val(&*self.corner)
            + size_of_val(&*self.across)
    }
}

/// For each vertex, the first vertex at exactly the same place.
fn weld(mesh: &TriMesh) -> Vec<u32> {
    // Adding zero makes -0.0 equal to 0.0.
    let key = |v: u32| {
        (mesh.vertices[v as usize] + 0.0)
            .to_array()
            .map(f32::to_bits)
    };
    let mut order: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    order.sort_unstable_by_key(|&v| (key(v), v));
    let mut first = vec![0; order.len()];
    for same in order.chunk_by(|&v, &w| key(v) == key(w)) {
        for &v in same {
            first[v as usize] = same[0];
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::triangle::closest_point;
    use crate::space::test_meshes::{Random, cube, icosphere, l_shape, torus};

    fn sign_by_brute_force(mesh: &TriMesh, normals: &MeshNormals, p: Vec3) -> f32 {
        let (nearest, feature) = (0..mesh.triangles.len())
            .map(|t| {
                let near = closest_point(p, mesh.corners(t));
                let found = SurfacePoint {
                    triangle: t as u32,
                    barycentric: near.barycentric,
                    point: near.point,
                    distance: p.distance(near.point),
                };
                (found, near.feature)
            })
            .min_by(|x, y| x.0.distance.total_cmp(&y.0.distance))
            .unwrap();
        normals.sign(p, &nearest, feature)
    }

    fn check(mesh: &TriMesh, inside: impl Fn(Vec3) -> Option<bool>) {
        let normals = MeshNormals::of(mesh);
        assert!(normals.is_closed());
        assert!(normals.across.iter().all(|&t| t != BORDER));
        let bounds = mesh.aabb().grown(0.5);
        let mut random = Random::new(7);
        let mut checked = [0; 2];
        for _ in 0..3000 {
            let p = random.in_box(bounds);
            if let Some(truth) = inside(p) {
                checked[truth as usize] += 1;
                let expected = if truth { -1.0 } else { 1.0 };
                assert_eq!(sign_by_brute_force(mesh, &normals, p), expected, "{p}");
            }
        }
        assert!(checked[0] > 100 && checked[1] > 100, "{checked:?}");
    }

    #[test]
    fn sign_is_right_around_a_cube() {
        check(&cube(), |p| Some(p.abs().max_element() < 1.0));
    }

    #[test]
    fn sign_is_right_around_a_concave_shape() {
        check(&l_shape(), |p| {
            let slab = p.z > 0.0 && p.z < 1.0;
            let lower = p.x > 0.0 && p.x < 2.0 && p.y > 0.0 && p.y < 1.0;
            let upper = p.x > 0.0 && p.x < 1.0 && p.y > 0.0 && p.y < 2.0;
            Some(slab && (lower || upper))
        });
    }

    #[test]
    fn sign_is_right_around_a_sphere() {
        // The facets lie between the unit sphere and one a little smaller.
        check(&icosphere(2), |p| match p.length() {
            r if r < 0.95 => Some(true),
            r if r > 1.0 => Some(false),
            _ => None,
        });
    }

    #[test]
    fn sign_is_right_around_a_torus() {
        let mesh = torus(48, 24, 1.0, 0.4, 0.0);
        check(&mesh, |p| {
            let ring = (p.x.hypot(p.z) - 1.0).hypot(p.y);
            ((ring - 0.4).abs() > 0.02).then_some(ring < 0.4)
        });
    }

    #[test]
    fn open_meshes_are_noticed_and_seams_are_not() {
        let mut mesh = cube();
        let last = mesh.triangles.pop().unwrap();
        assert_eq!(MeshNormals::of(&mesh).open_edges(), 3);
        // The same triangle with its own copies of the vertices closes it again.
        let corners = last.map(|v| mesh.vertices[v as usize]);
        let base = mesh.vertices.len() as u32;
        mesh.vertices.extend(corners);
        mesh.triangles.push([base, base + 1, base + 2]);
        assert!(MeshNormals::of(&mesh).is_closed());
        assert!(!MeshNormals::of(&TriMesh::default()).is_closed());
    }
}
