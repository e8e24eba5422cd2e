//! STL, text and binary. The format stores no connections: equal corners are
//! welded.

use glam::Vec3;

use super::text::{Lines, fault, point, quoted, utf8};
use super::{ParseError, not_empty};
use crate::mesh::TriMesh;

const HEADER: usize = 84;
const RECORD: usize = 50;

/// Reads an STL file, text or binary, and joins equal vertices.
pub fn parse_stl(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let declared = bytes
        .get(80..HEADER)
        .and_then(|b| b.try_into().ok())
        .map(|b| u64::from(u32::from_le_bytes(b)));
    // Many binary files begin with "solid" too, so the length decides: the count of
    // a text file would be four letters, some hundred million triangles.
    let fits = |n: u64| n * RECORD as u64 + HEADER as u64 == bytes.len() as u64;
    let mut mesh = match declared {
        Some(n) if fits(n) => binary(bytes)?,
        _ if looks_like_text(bytes) => text(bytes)?,
        Some(n) => {
            return Err(ParseError::Byte {
                offset: 80,
                message: format!(
                    "the header declares {n} triangles, which take {} bytes, but the file has {}",
                    n * RECORD as u64 + HEADER as u64,
                    bytes.len()
                ),
            });
        }
        None => {
            return Err(ParseError::File(format!(
                "not an STL file: {} bytes, neither text that begins with \"solid\" nor a binary \
                 file of at least {HEADER} bytes",
                bytes.len()
            )));
        }
    };
    mesh.weld(0.0);
    not_empty(mesh, "an STL file", "at least one facet")
}

fn looks_like_text(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    start
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
        && !start[..start.len().min(512)].contains(&0)
}

fn binary(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let mut mesh = TriMesh::default();
    for (t, record) in bytes[HEADER..].chunks_exact(RECORD).enumerate() {
        // 12 bytes of normal, which the corners tell better, then three corners.
        for (corner, xyz) in record[12..48].chunks_exact(12).enumerate() {
            let p = Vec3::from_array(
                [0, 4, 8].map(|i| f32::from_le_bytes([xyz[i], xyz[i + 1], xyz[i + 2], xyz[i + 3]])),
            );
            if !p.is_finite() {
                return Err(ParseError::Byte {
                    offset: HEADER + RECORD * t + 12 * (corner + 1),
                    message: format!(
                        "corner {} of triangle {t} is ({}, {}, {}), but must be finite numbers",
                        corner + 1,
                        p.x,
                        p.y,
                        p.z
                    ),
                });
            }
            mesh.vertices.push(p);
        }
    }
    number_triangles(&mut mesh);
    Ok(mesh)
}

fn text(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let mut mesh = TriMesh::default();
    // Corners of the facet being read, and whether a solid is open.
    let mut facet: Option<usize> = None;
    let mut open = false;
    let mut lines = Lines::new(bytes);
    for (line, content) in lines.by_ref() {
        let content = content.trim_ascii();
        let end = content
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(content.len());
        let (keyword, values) = content.split_at(end);
        let keyword = utf8(line, keyword)?.to_ascii_lowercase();
        match keyword.as_str() {
            "solid" => open = true,
            "endsolid" => open = false,
            "facet" if facet.is_some() => {
                return Err(fault(line, "facet inside a facet; \"endfacet\" is missing"));
            }
            "facet" => facet = Some(0),
            "vertex" => {
                let Some(corners) = &mut facet else {
                    return Err(fault(line, "vertex outside a facet"));
                };
                *corners += 1;
                let mut words = utf8(line, values)?.split_ascii_whitespace();
                mesh.vertices.push(point(line, &mut words, "vertex")?);
            }
            "endfacet" => match facet.take() {
                Some(3) => {}
                Some(n) => {
                    return Err(fault(line, format!("facet has {n} vertices, but needs 3")));
                }
                None => return Err(fault(line, "\"endfacet\" without \"facet\"")),
            },
            "" | "outer" | "endloop" => {}
            other => {
                return Err(fault(
                    line,
                    format!(
                        "unknown word {}; an STL line begins with solid, facet, outer, vertex, \
                         endloop, endfacet or endsolid",
                        quoted(other)
                    ),
                ));
            }
        }
    }
    if open || facet.is_some() {
        return Err(fault(
            lines.number(),
            "the file ends before \"endsolid\"; is it cut off?",
        ));
    }
    number_triangles(&mut mesh);
    Ok(mesh)
}

/// Every three vertices are a triangle.
fn number_triangles(mesh: &mut TriMesh) {
    let n = (mesh.vertices.len() / 3) as u32;
    mesh.triangles = (0..n).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Cuboid, to_stl_binary};

    const TEXT: &str = "solid thing\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n\
        \n   vertex 1 0 0\r\n   VERTEX 0 1 0\n  endloop\n endfacet\n\
        facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid thing\n";

    fn message(bytes: &[u8]) -> String {
        parse_stl(bytes).unwrap_err().to_string()
    }

    #[test]
    fn text_form_is_welded() {
        let mesh = parse_stl(TEXT.as_bytes()).unwrap();
        assert_eq!(
            mesh.vertices,
            [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)]
        );
        assert_eq!(mesh.triangles, [[0, 1, 2], [1, 3, 2]]);
    }

    #[test]
    fn binary_form_may_begin_with_solid() {
        let mut bytes = to_stl_binary(&Cuboid::default().build().unwrap());
        bytes[..6].copy_from_slice(b"solid ");
        let report = parse_stl(&bytes).unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!((report.vertices, report.triangles), (8, 12));
    }

    #[test]
    fn messages() {
        let mut bytes = to_stl_binary(&Cuboid::default().build().unwrap());
        assert_eq!(
            message(&bytes[..400]),
            "byte 80: the header declares 12 triangles, which take 684 bytes, but the file has 400"
        );
        bytes[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(message(&bytes).starts_with("byte 80: the header declares 4294967295 triangles"));
        bytes[80..84].copy_from_slice(&12u32.to_le_bytes());
        bytes[84 + 50 + 12 + 4..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(message(&bytes).starts_with("byte 146: corner 1 of triangle 1 is (-0.5, NaN"));
        assert!(message(b"").starts_with("not an STL file: 0 bytes"));
        assert!(message(b"solid\nendsolid").contains("no vertices"));
        assert_eq!(
            message(&TEXT.as_bytes()[..120]),
            "line 10: the file ends before \"endsolid\"; is it cut off?"
        );
        let broken = TEXT.replace("vertex 1 1 0", "vertex 1 inf 0");
        assert_eq!(
            message(broken.as_bytes()),
            "line 13: vertex's y is \"inf\", but must be a finite number"
        );
        let broken = TEXT.replace("   vertex 1 0 0", "");
        assert_eq!(
            message(broken.as_bytes()),
            "line 9: facet has 2 vertices, but needs 3"
        );
        let broken = TEXT.replace("endfacet", "endfact");
        assert!(message(broken.as_bytes()).starts_with("line 9: unknown word \"endfact\""));
    }
}
