//! The header of a PLY file: which elements with which properties follow.

use super::super::ParseError;
use super::super::text::{Lines, fault, quoted, utf8};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scalar {
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
pub(super) enum Kind {
    Single(Scalar),
    List { count: Scalar, item: Scalar },
}

pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Kind,
}

pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
}

pub(super) struct Header<'a> {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    pub(super) lines: Lines<'a>,
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

    pub(super) fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }

    /// The value of little-endian `b`; every type fits exactly into `f64`.
    pub(super) fn value(self, b: [u8; 8]) -> f64 {
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

pub(super) fn header(bytes: &[u8]) -> Result<Header<'_>, ParseError> {
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
pub(super) fn coordinates(element: &Element) -> Option<[usize; 3]> {
    let find = |name| {
        let matches = |p: &Property| p.name == name && matches!(p.kind, Kind::Single(_));
        element.properties.iter().position(matches)
    };
    Some([find("x")?, find("y")?, find("z")?])
}

/// The place of the corner list among a face's properties.
pub(super) fn corner_list(element: &Element) -> Option<usize> {
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
