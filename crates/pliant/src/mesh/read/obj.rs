//! Wavefront OBJ: `v` and `f` lines; everything else is skipped.

use super::text::{face_index, face_size, fault, logical_lines, point, utf8};
use super::{ParseError, fan, not_empty};
use crate::mesh::TriMesh;

/// Reads a Wavefront OBJ file. Polygons become fans of triangles; texture
/// coordinates, normals, groups and materials are skipped.
pub fn parse_obj(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let mut mesh = TriMesh::default();
    let mut polygon = Vec::new();
    for (line, content) in logical_lines(bytes) {
        let content = content.trim_ascii();
        let end = content
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(content.len());
        let (keyword, values) = content.split_at(end);
        match keyword {
            b"v" => {
                if mesh.vertices.len() == u32::MAX as usize {
                    return Err(fault(
                        line,
                        "more vertices than 32-bit indices can tell apart",
                    ));
                }
                let mut words = utf8(line, values)?.split_ascii_whitespace();
                mesh.vertices.push(point(line, &mut words, "vertex")?);
            }
            b"f" => {
                polygon.clear();
                for corner in utf8(line, values)?.split_ascii_whitespace() {
                    // v, v/vt, v//vn or v/vt/vn
                    let vertex = corner.split('/').next().unwrap_or(corner);
                    polygon.push(face_index(line, vertex, 0, mesh.vertices.len())?);
                }
                face_size(line, polygon.len())?;
                fan(&polygon, &mut mesh.triangles);
            }
            // Names of groups and materials may be in any encoding.
            _ => {
                utf8(line, keyword)?;
            }
        }
    }
    not_empty(mesh, "an OBJ file", "\"v x y z\" and \"f 1 2 3\" lines")
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn message(text: &str) -> String {
        parse_obj(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn all_forms_of_faces() {
        let text = b"# a \xe9 comment\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\r\nv 1 1 0 # corner\n\
            v 0 1 0 0.5 0.5 0.5\nvt 0 0\nvn 0 0 1\ns off\nf 1 2 3 4\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1\n\
            f 1/1/1 2/1/1 3/1/1\nf -4 -3 -2\nf 1 2 \\\n  3 \\\n 4\nv 5 6 7\nf -1 1 2";
        let mesh = parse_obj(text).unwrap();
        assert_eq!(mesh.vertices.len(), 5);
        assert_eq!(mesh.vertices[4], Vec3::new(5.0, 6.0, 7.0));
        let [a, b] = [[0, 1, 2], [0, 2, 3]];
        assert_eq!(mesh.triangles, [a, b, a, a, a, a, a, b, [4, 0, 1]]);
    }

    #[test]
    fn messages_name_the_line_and_the_remedy() {
        let start = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
        let with = |end: &str| message(&format!("{start}{end}"));
        assert_eq!(
            with("\nf 1 2 99"),
            "line 5: face refers to vertex 99, but only 3 are defined so far"
        );
        assert_eq!(
            with("f 1 2 -4"),
            "line 4: face refers to vertex -4, but only 3 are defined so far"
        );
        assert_eq!(
            with("f 0 1 2"),
            "line 4: face refers to vertex 0, but vertices count from 1"
        );
        assert_eq!(
            with("f 1 2"),
            "line 4: face has 2 vertices, but needs at least 3"
        );
        assert_eq!(
            with("f 1 2 x"),
            "line 4: face has \"x\" for a vertex, but needs a whole number"
        );
        assert_eq!(
            with("v 1 2"),
            "line 4: vertex has 2 coordinates, but needs 3: x y z"
        );
        assert_eq!(
            with("v 1 2 a"),
            "line 4: vertex's z is \"a\", which is not a number"
        );
        assert_eq!(
            with("v 1 NaN 2"),
            "line 4: vertex's y is \"NaN\", but must be a finite number"
        );
        assert_eq!(
            with("v -inf 0 2"),
            "line 4: vertex's x is \"-inf\", but must be a finite number"
        );
        assert_eq!(
            with("v 1e39 0 2"),
            "line 4: vertex's x is \"1e39\", which is too large for a 32-bit number"
        );
        assert!(with("").starts_with("the file has no faces; an OBJ file needs"));
        assert!(message("").starts_with("the file has no vertices"));
        assert_eq!(
            parse_obj(b"v 0 0 \xff").unwrap_err().to_string(),
            "line 1: not text (the bytes are not UTF-8); is this a binary file?"
        );
        assert!(with("f 1 2 9223372036854775807").starts_with("line 4: face refers"));
        assert!(with("f 1 2 -9223372036854775808").starts_with("line 4: face refers"));
    }
}
