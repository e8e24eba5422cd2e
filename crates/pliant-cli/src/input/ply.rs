//! Points of PLY files, binary little-endian or text.

use super::{Particles, vectors};

/// Reads the vertices; properties other than place and velocity are passed over.
pub fn read(bytes: &[u8]) -> Result<Particles, String> {
    let (head, body) = split_head(bytes)?;
    let mut lines = head.lines().map(str::trim);
    if lines.next() != Some("ply") {
        return Err("not a PLY file: the first line must be `ply`".into());
    }
    let mut binary = false;
    let mut count = None;
    let mut properties: Vec<(String, usize, bool)> = Vec::new();
    let mut elements = 0;
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["format", "ascii", _] => binary = false,
            ["format", "binary_little_endian", _] => binary = true,
            ["format", other, _] => return Err(format!("the format {other} is not read")),
            ["element", "vertex", n] if elements == 0 => {
                let n = n.parse::<usize>();
                count = Some(n.map_err(|_| format!("{line:?} has no number"))?);
                elements += 1;
            }
            ["element", ..] => elements += 1,
            ["property", kind, name] if elements == 1 && count.is_some() => {
                let (size, float) = match kind {
                    "char" | "uchar" | "int8" | "uint8" => (1, false),
                    "short" | "ushort" | "int16" | "uint16" => (2, false),
                    "int" | "uint" | "int32" | "uint32" => (4, false),
                    "float" | "float32" => (4, true),
                    "double" | "float64" => (8, true),
                    _ => return Err(format!("the property type {kind} is not read")),
                };
                properties.push((name.to_string(), size, float));
            }
            _ => {}
        }
    }
    let count = count.ok_or("there is no `element vertex` before other elements")?;
    let find = |names: [&str; 3]| -> Option<[usize; 3]> {
        let [a, b, c] = names.map(|n| properties.iter().position(|(p, _, float)| p == n && *float));
        Some([a?, b?, c?])
    };
    let place = find(["x", "y", "z"]).ok_or("the vertices have no properties x, y and z")?;
    let velocity = find(["vx", "vy", "vz"]);
    let sizes: Vec<usize> = properties.iter().map(|p| p.1).collect();
    let mut rows = Rows {
        body,
        binary,
        sizes,
    };
    let (mut places, mut velocities) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let row = rows
            .next()
            .ok_or("the file ends early, among the vertices")?;
        places.extend(place.map(|k| row[k]));
        velocities.extend(velocity.map_or([0.0; 3], |v| v.map(|k| row[k])));
    }
    Ok(Particles {
        positions: vectors(&places),
        velocities: vectors(&velocities),
        liquid: Vec::new(),
    })
}

fn split_head(bytes: &[u8]) -> Result<(String, &[u8]), String> {
    const END: &[u8] = b"end_header";
    let at = bytes.windows(END.len()).position(|w| w == END);
    let at = at.ok_or("not a PLY file: there is no `end_header`")?;
    let body = &bytes[at + END.len()..];
    let newline = body
        .iter()
        .position(|&b| b == b'\n')
        .map_or(body.len(), |k| k + 1);
    Ok((
        String::from_utf8_lossy(&bytes[..at]).into_owned(),
        &body[newline..],
    ))
}

/// The values of the vertices, one row each. Whole numbers are read as zero: no
/// caller wants them.
struct Rows<'a> {
    body: &'a [u8],
    binary: bool,
    sizes: Vec<usize>,
}

impl Iterator for Rows<'_> {
    type Item = Vec<f32>;

    fn next(&mut self) -> Option<Vec<f32>> {
        if self.binary {
            let total: usize = self.sizes.iter().sum();
            let mut row = self.body.get(..total)?;
            self.body = &self.body[total..];
            return self
                .sizes
                .iter()
                .map(|&size| {
                    let (value, rest) = row.split_at(size);
                    row = rest;
                    Some(match *value {
                        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
                        [a, b, c, d, e, f, g, h] => {
                            f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32
                        }
                        _ => 0.0,
                    })
                })
                .collect();
        }
        let end = self
            .body
            .iter()
            .position(|&b| b == b'\n')
            .unwrap_or(self.body.len());
        let line = std::str::from_utf8(&self.body[..end]).ok()?;
        let row: Option<Vec<f32>> = line.split_whitespace().map(|w| w.parse().ok()).collect();
        self.body = self.body.get(end + 1..).unwrap_or_default();
        row.filter(|r| r.len() >= self.sizes.len())
    }
}
