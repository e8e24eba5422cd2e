//! PLY (Turk's polygon format), text and binary of both byte orders.

mod header;

use glam::Vec3;

use header::{Element, Encoding, Kind, Scalar, coordinates, corner_list, header};

use super::text::{Lines, fault, number, quoted, utf8};
use super::{ParseError, fan, not_empty};
use crate::mesh::TriMesh;

/// Reads a PLY file: `x`, `y`, `z` of the element `vertex` and the list
/// `vertex_indices` (or `vertex_index`) of the element `face`, whose polygons become
/// fans of triangles. Other properties and elements are skipped.
pub fn parse_ply(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let header = header(bytes)?;
    let mesh = match header.encoding {
        Encoding::Text => body(
            &header.elements,
            TextBody {
                lines: header.lines,
                words: "".split_ascii_whitespace(),
            },
        ),
        encoding => body(
            &header.elements,
            BinaryBody {
                bytes,
                offset: bytes.len() - header.lines.rest().len(),
                big_endian: encoding == Encoding::BigEndian,
            },
        ),
    }?;
    not_empty(
        mesh,
        "a PLY mesh",
        "elements \"vertex\" and \"face\" that are not empty",
    )
}

/// Where the values of the records come from.
trait Body {
    /// Goes to the next record.
    fn begin(&mut self) -> Result<(), ParseError>;
    /// The record's next value.
    fn value(&mut self, scalar: Scalar) -> Result<f64, ParseError>;
    /// Leaves the record.
    fn end(&mut self) -> Result<(), ParseError>;
    /// An error in the record.
    fn fault(&self, message: String) -> ParseError;
}

struct TextBody<'a> {
    lines: Lines<'a>,
    words: std::str::SplitAsciiWhitespace<'a>,
}

impl Body for TextBody<'_> {
    fn begin(&mut self) -> Result<(), ParseError> {
        for (line, content) in self.lines.by_ref() {
            let content = content.trim_ascii();
            if !content.is_empty() {
                self.words = utf8(line, content)?.split_ascii_whitespace();
                return Ok(());
            }
        }
        Err(self.fault("the file ends here, but the header declares more; is it cut off?".into()))
    }

    fn value(&mut self, _: Scalar) -> Result<f64, ParseError> {
        let Some(word) = self.words.next() else {
            return Err(self.fault("fewer values than the header declares".into()));
        };
        match word.parse::<f64>() {
            Ok(x) => Ok(x),
            Err(_) => number(self.lines.number(), word, "value"),
        }
    }

    fn end(&mut self) -> Result<(), ParseError> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(self.fault(format!(
                "more values than the header declares, the first too many {}",
                quoted(word)
            ))),
        }
    }

    fn fault(&self, message: String) -> ParseError {
        fault(self.lines.number(), message)
    }
}

struct BinaryBody<'a> {
    bytes: &'a [u8],
    offset: usize,
    big_endian: bool,
}

impl Body for BinaryBody<'_> {
    fn begin(&mut self) -> Result<(), ParseError> {
        Ok(())
    }

    fn value(&mut self, scalar: Scalar) -> Result<f64, ParseError> {
        let size = scalar.size();
        let Some(raw) = self.bytes.get(self.offset..self.offset + size) else {
            return Err(self
                .fault("the file ends here, but the header declares more; is it cut off?".into()));
        };
        let mut b = [0; 8];
        b[..size].copy_from_slice(raw);
        if self.big_endian {
            b[..size].reverse();
        }
        self.offset += size;
        Ok(scalar.value(b))
    }

    fn end(&mut self) -> Result<(), ParseError> {
        Ok(())
    }

    fn fault(&self, message: String) -> ParseError {
        ParseError::Byte {
            offset: self.offset,
            message,
        }
    }
}

fn body(elements: &[Element], mut body: impl Body) -> Result<TriMesh, ParseError> {
    let mut mesh = TriMesh::default();
    let vertices = elements.iter().find(|e| e.name == "vertex");
    let vertices = vertices.map_or(0, |e| e.count);
    // Records without properties take no room in the file.
    for element in elements.iter().filter(|e| !e.properties.is_empty()) {
        match element.name.as_str() {
            "vertex" => read_vertices(element, &mut body, &mut mesh)?,
            "face" => read_faces(element, vertices, &mut body, &mut mesh)?,
            _ => {
                for _ in 0..element.count {
                    body.begin()?;
                    for property in &element.properties {
                        skip(property.kind, &mut body)?;
                    }
                    body.end()?;
                }
            }
        }
    }
    Ok(mesh)
}

/// A list's length. Nothing is allocated for it: a false one meets the file's end.
fn list_length(count: Scalar, body: &mut impl Body) -> Result<u64, ParseError> {
    let n = body.value(count)?;
    if n >= 0.0 && n.fract() == 0.0 && n <= f64::from(u32::MAX) {
        Ok(n as u64)
    } else {
        Err(body.fault(format!(
            "a list has length {n}, but needs a whole number from 0"
        )))
    }
}

fn skip(kind: Kind, body: &mut impl Body) -> Result<(), ParseError> {
    match kind {
        Kind::Single(scalar) => {
            body.value(scalar)?;
        }
        Kind::List { count, item } => {
            for _ in 0..list_length(count, body)? {
                body.value(item)?;
            }
        }
    }
    Ok(())
}

fn read_vertices(
    element: &Element,
    body: &mut impl Body,
    mesh: &mut TriMesh,
) -> Result<(), ParseError> {
    let Some(places) = coordinates(element) else {
        return Ok(());
    };
    for v in 0..element.count {
        body.begin()?;
        let mut p = [0.0f32; 3];
        for (i, property) in element.properties.iter().enumerate() {
            let axis = places.iter().position(|&place| place == i);
            match (axis, property.kind) {
                (Some(axis), Kind::Single(scalar)) => {
                    let value = body.value(scalar)?;
                    p[axis] = value as f32;
                    if !p[axis].is_finite() {
                        return Err(body.fault(format!(
                            "{} of vertex {v} is {value}, but must be a finite 32-bit number",
                            property.name
                        )));
                    }
                }
                (_, kind) => skip(kind, body)?,
            }
        }
        body.end()?;
        mesh.vertices.push(Vec3::from_array(p));
    }
    Ok(())
}

fn read_faces(
    element: &Element,
    vertices: usize,
    body: &mut impl Body,
    mesh: &mut TriMesh,
) -> Result<(), ParseError> {
    let Some(place) = corner_list(element) else {
        return Ok(());
    };
    let mut polygon = Vec::new();
    for f in 0..element.count {
        body.begin()?;
        for (i, property) in element.properties.iter().enumerate() {
            match property.kind {
                Kind::List { count, item } if i == place => {
                    polygon.clear();
                    for _ in 0..list_length(count, body)? {
                        let v = body.value(item)?;
                        if !(v >= 0.0 && v < vertices as f64 && v.fract() == 0.0) {
                            return Err(body.fault(format!(
                                "face {f} refers to vertex {v}, but vertices count from 0 to {}",
                                vertices.saturating_sub(1)
                            )));
                        }
                        polygon.push(v as u32);
                    }
                    if polygon.len() < 3 {
                        return Err(body.fault(format!(
                            "face {f} has {} vertices, but needs at least 3",
                            polygon.len()
                        )));
                    }
                    fan(&polygon, &mut mesh.triangles);
                }
                kind => skip(kind, body)?,
            }
        }
        body.end()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
