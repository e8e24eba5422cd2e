//! Mesh files: OBJ text, binary PLY and binary STL.

use std::fmt::Write;

use super::TriMesh;

/// The mesh as Wavefront OBJ text. Coordinates are written with the fewest digits
/// that read back as the same `f32`.
pub fn to_obj(mesh: &TriMesh) -> String {
    let mut out = String::with_capacity(32 * (mesh.vertices.len() + mesh.triangles.len()));
    // Writing to a String cannot fail.
    for v in &mesh.vertices {
        let _ = writeln!(out, "v {} {} {}", v.x, v.y, v.z);
    }
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|v| u64::from(v) + 1);
        let _ = writeln!(out, "f {a} {b} {c}");
    }
    out
}

/// The mesh as a binary little-endian PLY file.
pub fn to_ply_binary(mesh: &TriMesh) -> Vec<u8> {
    let header = format!(
        "ply\nformat binary_little_endian 1.0\n\
         element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    );
    let mut out =
        Vec::with_capacity(header.len() + 12 * mesh.vertices.len() + 13 * mesh.triangles.len());
    out.extend_from_slice(header.as_bytes());
    for x in mesh.vertices.iter().flat_map(|v| v.to_array()) {
        out.extend_from_slice(&x.to_le_bytes());
    }
    for t in &mesh.triangles {
        out.push(3);
        for v in t {
            out.extend_from_slice(&v.to_le_bytes());
        }
    }
    out
}

/// The mesh as a binary STL file. STL has no shared vertices: reading it back
/// joins equal ones.
pub fn to_stl_binary(mesh: &TriMesh) -> Vec<u8> {
    let mut out = Vec::with_capacity(84 + 50 * mesh.triangles.len());
    // Must not begin with "solid", which marks the text form.
    let mut header = [0u8; 80];
    header[..6].copy_from_slice(b"pliant");
    out.extend_from_slice(&header);
    out.extend_from_slice(&(mesh.triangles.len() as u32).to_le_bytes());
    for t in 0..mesh.triangles.len() {
        let normal = mesh.area_normal(t).normalize_or_zero();
        let [a, b, c] = mesh.corners(t);
        for x in [normal, a, b, c].iter().flat_map(|v| v.to_array()) {
            out.extend_from_slice(&x.to_le_bytes());
        }
        out.extend_from_slice(&[0, 0]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Colon, parse_obj, parse_ply, parse_stl};

    fn mesh() -> TriMesh {
        Colon::default().build().unwrap()
    }

    #[test]
    fn obj_round_trip_is_exact() {
        let mesh = mesh();
        assert_eq!(parse_obj(to_obj(&mesh).as_bytes()).unwrap(), mesh);
    }

    #[test]
    fn ply_round_trip_is_exact() {
        let mesh = mesh();
        assert_eq!(parse_ply(&to_ply_binary(&mesh)).unwrap(), mesh);
    }

    #[test]
    fn stl_round_trip_keeps_every_triangle() {
        let mesh = mesh();
        let bytes = to_stl_binary(&mesh);
        assert_eq!(bytes.len(), 84 + 50 * mesh.triangles.len());
        let back = parse_stl(&bytes).unwrap();
        assert_eq!(back.vertices.len(), mesh.vertices.len());
        for t in 0..mesh.triangles.len() {
            assert_eq!(back.corners(t), mesh.corners(t));
        }
        assert!(back.check().is_sound());
    }
}
