//! PLY (Turk's polygon format), text and binary of both byte orders.

use glam::Vec3;

use super::text::{Lines, fault, number, quoted, utf8};
use super::{ParseError, fan, not_empty};
use crate::mesh::TriMesh;

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Single(Scalar),
    List { count: Scalar, item: Scalar },
}

struct Property {
    name: String,
    kind: Kind,
}

struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

struct Header<'a> {
    encoding: Encoding,
    elements: Vec<Element>,
    lines: Lines<'a>,
}

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

impl Scalar {
    fn named(name: &str) -> Option<Scalar> {
        Some(match name {
            "char" | "int8" => Scalar::I8,
            "uchar" | "uint8" => Scalar::U8,
            "short" | "int16" => Scalar::I16,
            "ushort" | "uint16" => Scalar::U16,
            "int" | "int32" => Scalar::I32,
            "uint" | "uint32" => Scalar::U32,
            "float" | "float32" => Scalar::F32,
            "double" | "float64" => Scalar::F64,
            _ => return None,
        })
    }

    fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }

    /// The value of little-endian `b`; every type fits exactly into `f64`.
    fn value(self, b: [u8; 8]) -> f64 {
        let [b0, b1, b2, b3, ..] = b;
        match self {
            Scalar::I8 => f64::from(b0 as i8),
            Scalar::U8 => f64::from(b0),
            Scalar::I16 => f64::from(i16::from_le_bytes([b0, b1])),
            Scalar::U16 => f64::from(u16::from_le_bytes([b0, b1])),
            Scalar::I32 => f64::from(i32::from_le_bytes([b0, b1, b2, b3])),
            Scalar::U32 => f64::from(u32::from_le_bytes([b0, b1, b2, b3])),
            Scalar::F32 => f64::from(f32::from_le_bytes([b0, b1, b2, b3])),
            Scalar::F64 => f64::from_le_bytes(b),
        }
    }
}

fn header(bytes: &[u8]) -> Result<Header<'_>, ParseError> {
    let mut lines = Lines::new(bytes);
    if lines.next().map(|(_, l)| l.trim_ascii()) != Some(b"ply") {
        return Err(fault(1, "not a PLY file: the first line must be \"ply\""));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    while let Some((line, content)) = lines.next() {
        if [&b"comment"[..], b"obj_info"]
            .iter()
            .any(|skip| content.starts_with(skip))
        {
            continue;
        }
        let words: Vec<&str> = utf8(line, content)?.split_ascii_whitespace().collect();
        match words[..] {
            [] => {}
            ["format", name, _version] => {
                encoding = Some(match name {
                    "ascii" => Encoding::Text,
                    "binary_little_endian" => Encoding::LittleEndian,
                    "binary_big_endian" => Encoding::BigEndian,
                    _ => {
                        return Err(fault(
                            line,
                            format!(
                                "unknown format {}; known are ascii, binary_little_endian and \
                                 binary_big_endian",
                                quoted(name)
                            ),
                        ));
                    }
                });
            }
            ["element", name, count] => {
                let count = count.parse().map_err(|_| {
                    fault(
                        line,
                        format!(
                            "element {} has count {}, but needs a whole number",
                            quoted(name),
                            quoted(count)
                        ),
                    )
                })?;
                if elements.iter().any(|e| e.name == name) {
                    return Err(fault(line, format!("element {} comes twice", quoted(name))));
                }
                elements.push(Element {
                    name: name.to_string(),
                    count,
                    properties: Vec::new(),
                });
            }
            ["property", .., name] => {
                let kind = property_kind(line, &words)?;
                let element = elements
                    .last_mut()
                    .ok_or_else(|| fault(line, "property before the first element"))?;
                element.properties.push(Property {
                    name: name.to_string(),
                    kind,
                });
            }
            ["end_header"] => {
                let encoding = encoding.ok_or_else(|| {
                    fault(
                        line,
                        "the header has no \"format\" line, such as \"format ascii 1.0\"",
                    )
                })?;
                check_elements(line, &elements)?;
                return Ok(Header {
                    encoding,
                    elements,
                    lines,
                });
            }
            [word, ..] => {
                return Err(fault(
                    line,
                    format!(
                        "header line {} not understood; known are format, comment, obj_info, \
                         element NAME COUNT, property TYPE NAME and end_header",
                        quoted(word)
                    ),
                ));
            }
        }
    }
    Err(fault(
        lines.number(),
        "the file ends before \"end_header\"; is it cut off?",
    ))
}

fn property_kind(line: usize, words: &[&str]) -> Result<Kind, ParseError> {
    let scalar = |name: &str| {
        Scalar::named(name).ok_or_else(|| {
            fault(
                line,
                format!(
                    "unknown type {}; known are char, uchar, short, ushort, int, uint, float and \
                     double",
                    quoted(name)
                ),
            )
        })
    };
    match *words {
        [_, "list", count, item, _] => {
            let count = scalar(count)?;
            if count.is_float() {
                return Err(fault(
                    line,
                    "a list's length must be of a whole-number type",
                ));
            }
            Ok(Kind::List {
                count,
                item: scalar(item)?,
            })
        }
        [_, kind, _] => Ok(Kind::Single(scalar(kind)?)),
        _ => Err(fault(
            line,
            "a property is \"property TYPE NAME\" or \"property list COUNT_TYPE TYPE NAME\"",
        )),
    }
}

/// The coordinates' places among a vertex's properties.
fn coordinates(element: &Element) -> Option<[usize; 3]> {
    let find = |name| {
        let matches = |p: &Property| p.name == name && matches!(p.kind, Kind::Single(_));
        element.properties.iter().position(matches)
    };
    Some([find("x")?, find("y")?, find("z")?])
}

/// The place of the corner list among a face's properties.
fn corner_list(element: &Element) -> Option<usize> {
    element.properties.iter().position(|p| {
        (p.name == "vertex_indices" || p.name == "vertex_index")
            && matches!(p.kind, Kind::List { .. })
    })
}

fn check_elements(line: usize, elements: &[Element]) -> Result<(), ParseError> {
    let find = |name| elements.iter().find(|e| e.name == name);
    let vertex =
        find("vertex").ok_or_else(|| fault(line, "the header has no \"element vertex\""))?;
    if coordinates(vertex).is_none() {
        return Err(fault(
            line,
            "element \"vertex\" needs the properties x, y and z",
        ));
    }
    if vertex.count > u32::MAX as usize {
        return Err(fault(
            line,
            format!(
                "{} vertices are more than 32-bit indices can tell apart",
                vertex.count
            ),
        ));
    }
    let face = find("face").ok_or_else(|| {
        fault(
            line,
            "the header has no \"element face\": a cloud of points is not a mesh",
        )
    })?;
    if corner_list(face).is_none() {
        return Err(fault(
            line,
            "element \"face\" needs the property \"list uchar int vertex_indices\"",
        ));
    }
    Ok(())
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
#[path = "ply_tests.rs"]
mod tests;
