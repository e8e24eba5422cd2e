//! SMF, the "simple model format" of Garland's QSlim: OBJ-like lines in nested
//! blocks with transformations.

use glam::{DMat4, DVec3, Vec3};

use super::text::{face_index, face_size, fault, logical_lines, number, point, quoted, utf8};
use super::{ParseError, fan, not_empty};
use crate::mesh::TriMesh;

/// What a `begin` ... `end` block keeps to itself.
#[derive(Clone, Copy)]
struct Block {
    /// What vertex 1 means inside the block, from 0.
    first_vertex: i64,
    /// Added to positive vertex numbers (`set vertex_correction`).
    correction: i64,
    /// From the block's coordinates to those of the file.
    to_file: DMat4,
}

/// Reads an SMF file. Transformations apply to the vertices that follow them, the
/// newest first, until the block's `end`. Vertices are numbered from 1 in each
/// block. Normals, colours, textures and bindings are skipped.
pub fn parse_smf(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let mut mesh = TriMesh::default();
    let mut block = Block {
        first_vertex: 0,
        correction: 0,
        to_file: DMat4::IDENTITY,
    };
    let mut outer: Vec<Block> = Vec::new();
    let mut polygon = Vec::new();
    let mut last_line = 0;
    for (line, content) in logical_lines(bytes) {
        last_line = line;
        let mut words = utf8(line, &content)?.split_ascii_whitespace();
        let Some(keyword) = words.next() else {
            continue;
        };
        match keyword {
            "begin" => {
                outer.push(block);
                block.first_vertex = mesh.vertices.len() as i64;
            }
            "end" => {
                block = outer
                    .pop()
                    .ok_or_else(|| fault(line, "\"end\" without \"begin\""))?;
            }
            "v" => {
                if mesh.vertices.len() == u32::MAX as usize {
                    return Err(fault(
                        line,
                        "more vertices than 32-bit indices can tell apart",
                    ));
                }
                let v = point(line, &mut words, "vertex")?;
                mesh.vertices.push(place(line, v, &block.to_file)?);
            }
            "f" => {
                polygon.clear();
                let first = block.first_vertex.saturating_add(block.correction);
                for word in words {
                    polygon.push(face_index(line, word, first, mesh.vertices.len())?);
                }
                face_size(line, polygon.len())?;
                fan(&polygon, &mut mesh.triangles);
            }
            "t" | "trans" => {
                let by = numbers::<3>(line, words, "translation", "x y z")?;
                block.to_file *= DMat4::from_translation(DVec3::from_array(by));
            }
            "scale" => {
                let by = numbers::<3>(line, words, "scale", "x y z")?;
                block.to_file *= DMat4::from_scale(DVec3::from_array(by));
            }
            "rot" => {
                let axis = match words.next() {
                    Some("x") => DVec3::X,
                    Some("y") => DVec3::Y,
                    Some("z") => DVec3::Z,
                    other => {
                        return Err(fault(
                            line,
                            format!(
                                "rotation is about {}, but must be about x, y or z: \"rot x 90\"",
                                quoted(other.unwrap_or(""))
                            ),
                        ));
                    }
                };
                let [degrees] = numbers::<1>(line, words, "rotation", "an axis and degrees")?;
                block.to_file *= DMat4::from_axis_angle(axis, degrees.to_radians());
            }
            "mmult" | "mload" => {
                let rows = numbers::<16>(line, words, "matrix", "16 numbers, row by row")?;
                let matrix = DMat4::from_cols_array(&rows).transpose();
                block.to_file = match keyword {
                    "mmult" => block.to_file * matrix,
                    _ => matrix,
                };
            }
            "set" => {
                if words.next() == Some("vertex_correction") {
                    let [n] = numbers::<1>(line, words, "vertex correction", "a whole number")?;
                    block.correction = n as i64;
                }
            }
            // How it looks, not where it is.
            "n" | "c" | "r" | "bind" | "tex" | "e" | "inc" | "dec" => {}
            other => {
                return Err(fault(
                    line,
                    format!(
                        "unknown command {}; known are begin, end, v, f, t, trans, scale, rot, \
                         mmult, mload, set, n, c, r and bind",
                        quoted(other)
                    ),
                ));
            }
        }
    }
    if !outer.is_empty() {
        return Err(fault(
            last_line,
            format!(
                "the file ends with {} \"begin\" without \"end\"; is it cut off?",
                outer.len()
            ),
        ));
    }
    not_empty(mesh, "an SMF file", "\"v x y z\" and \"f 1 2 3\" lines")
}

fn place(line: usize, v: Vec3, to_file: &DMat4) -> Result<Vec3, ParseError> {
    if *to_file == DMat4::IDENTITY {
        return Ok(v);
    }
    let placed = to_file.project_point3(v.as_dvec3()).as_vec3();
    if placed.is_finite() {
        Ok(placed)
    } else {
        Err(fault(
            line,
            "the transformations before this vertex move it out of the range of numbers",
        ))
    }
}

/// Exactly `N` finite numbers.
fn numbers<'a, const N: usize>(
    line: usize,
    words: impl Iterator<Item = &'a str>,
    what: &str,
    needs: &str,
) -> Result<[f64; N], ParseError> {
    let values: Vec<f64> = words
        .map(|word| number(line, word, what))
        .collect::<Result<_, _>>()?;
    let given = values.len();
    values.try_into().map_err(|_| {
        fault(
            line,
            format!("{what} has {given} numbers, but needs {N}: {needs}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse_smf(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn blocks_number_their_own_vertices_and_keep_their_transformations() {
        let text = "#$SMF 1.0\nbind n face\nbegin\ntrans 1 0 0\nbegin # inner\nscale 2 2 2\n\
            rot z 90\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nn 0 0 1\nend\nv 0 0 0\nv 1 0 0\nv 0 1 0\n\
            f 4 5 6\nf -3 -2 -1\nend\nbegin\nv 0 0 0\nv 1 1 1\nv 2 2 2\nv 0 5 0\nf 1 2 3 4\nend\n";
        let mesh = parse_smf(text.as_bytes()).unwrap();
        let expected = [
            // rotated, then scaled, then moved
            Vec3::new(1.0, 2.0, 0.0),
            Vec3::new(-1.0, 0.0, 0.0),
            Vec3::new(1.0, 0.0, 2.0),
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(2.0, 0.0, 0.0),
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::ZERO,
        ];
        for (v, e) in mesh.vertices.iter().zip(expected) {
            assert!(v.distance(e) < 1e-6, "{v} is not {e}");
        }
        assert_eq!(
            mesh.triangles,
            [[0, 1, 2], [3, 4, 5], [3, 4, 5], [6, 7, 8], [6, 8, 9]]
        );
    }

    #[test]
    fn matrix_and_correction() {
        let text = "mload 1 0 0 5  0 1 0 0  0 0 1 0  0 0 0 1\nmmult 2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 1\n\
            set vertex_correction 1\nv 1 1 1\nv 2 0 0\nv 0 0 0\nf 0 1 2";
        assert_eq!(
            message(text),
            "line 7: face refers to vertex 0, but vertices count from 1"
        );
        let mesh = parse_smf(text.replace("f 0 1 2", "f 1 2 -3").as_bytes()).unwrap();
        assert_eq!(mesh.vertices[0], Vec3::new(7.0, 2.0, 2.0));
        assert_eq!(mesh.triangles, [[1, 2, 0]]);
    }

    #[test]
    fn messages() {
        assert_eq!(message("v 0 0 0\nend"), "line 2: \"end\" without \"begin\"");
        assert_eq!(
            message("begin\nbegin\nv 0 0 0"),
            "line 3: the file ends with 2 \"begin\" without \"end\"; is it cut off?"
        );
        assert_eq!(
            message("trans 1 2"),
            "line 1: translation has 2 numbers, but needs 3: x y z"
        );
        assert_eq!(
            message("rot w 3"),
            "line 1: rotation is about \"w\", but must be about x, y or z: \"rot x 90\""
        );
        assert!(message("scale 1 1 nan").contains("must be a finite number"));
        assert!(message("translate 1 1 1").starts_with("line 1: unknown command \"translate\""));
        assert!(
            message("scale 1e300 1 1\nscale 1e300 1 1\nv 1 1 1").starts_with("line 3: the transf")
        );
        assert!(
            message("v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 4").ends_with("only 3 are defined so far")
        );
        assert!(message("").starts_with("the file has no vertices"));
    }
}
