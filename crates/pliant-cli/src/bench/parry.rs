//! The collider benchmark with parry3d, to know whether to prefer it.

use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::query::{PointQuery, Ray, RayCast};
use parry3d::shape::TriMesh as ParryMesh;

use pliant::mesh::TriMesh;

fn vector(v: Vec3) -> parry3d::math::Vector {
    parry3d::math::Vector::new(v.x, v.y, v.z)
}

/// The mesh as parry keeps it; `None` if parry refuses it.
pub fn build(mesh: &TriMesh) -> Option<ParryMesh> {
    let vertices = mesh.vertices.iter().map(|&v| vector(v)).collect();
    ParryMesh::new(vertices, mesh.triangles.clone()).ok()
}

/// Heap memory held, in bytes.
pub fn bytes(mesh: &ParryMesh) -> usize {
    mesh.heap_memory_size()
}

/// The nearest triangle within the radius: distance, or nothing.
pub fn nearest(mesh: &ParryMesh, p: Vec3, radius: f32) -> Option<f32> {
    let p = vector(p);
    let found = mesh.project_local_point_with_max_dist(p, false, radius)?;
    Some((found.point - p).length())
}

/// Every triangle within the radius.
pub fn all_within(mesh: &ParryMesh, p: Vec3, radius: f32, visit: &mut dyn FnMut(f32)) {
    let p = vector(p);
    let reach = Aabb::from_half_extents(p, parry3d::math::Vector::splat(radius));
    for t in mesh.bvh().intersect_aabb(&reach) {
        let found = mesh.triangle(t).project_local_point(p, false);
        let d = (found.point - p).length();
        if d <= radius {
            visit(d);
        }
    }
}

/// The fraction of the segment at which it first meets the mesh.
pub fn crossing(mesh: &ParryMesh, from: Vec3, to: Vec3) -> Option<f32> {
    mesh.cast_local_ray(&Ray::new(vector(from), vector(to - from)), 1.0, false)
}
