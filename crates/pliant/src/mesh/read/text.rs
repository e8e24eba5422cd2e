//! Lines, words and numbers of the text formats.

use std::borrow::Cow;

use glam::Vec3;

use super::ParseError;

/// A line that is wrong.
pub(in crate::mesh) fn fault(line: usize, message: impl Into<String>) -> ParseError {
    ParseError::Line {
        line,
        message: message.into(),
    }
}

/// The physical lines of a file with their numbers from 1, without line ends.
pub(in crate::mesh) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    pub(in crate::mesh) fn new(bytes: &'a [u8]) -> Self {
        Lines {
            rest: bytes,
            number: 0,
        }
    }

    /// The number of the line last returned.
    pub(in crate::mesh) fn number(&self) -> usize {
        self.number
    }

    /// What comes after the line last returned.
    pub(in crate::mesh) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let (line, rest) = match self.rest.iter().position(|&b| b == b'\n') {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[self.rest.len()..]),
        };
        self.rest = rest;
        Some((self.number, line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

/// Lines without their `#` comments, those that end in `\` joined with the next.
/// The number is that of the first line joined.
pub(in crate::mesh) fn logical_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, [u8]>)> {
    let mut lines = Lines::new(bytes);
    std::iter::from_fn(move || {
        let (number, line) = lines.next()?;
        let line = without_comment(line);
        let Some(start) = line.strip_suffix(b"\\") else {
            return Some((number, Cow::Borrowed(line)));
        };
        let mut joined = start.to_vec();
        for (_, next) in lines.by_ref() {
            let next = without_comment(next);
            joined.push(b' ');
            match next.strip_suffix(b"\\") {
                Some(part) => joined.extend_from_slice(part),
                None => {
                    joined.extend_from_slice(next);
                    break;
                }
            }
        }
        Some((number, Cow::Owned(joined)))
    })
}

fn without_comment(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&b| b == b'#').unwrap_or(line.len());
    &line[..end]
}

/// The line as text.
pub(in crate::mesh) fn utf8(line: usize, bytes: &[u8]) -> Result<&str, ParseError> {
    std::str::from_utf8(bytes).map_err(|_| {
        fault(
            line,
            "not text (the bytes are not UTF-8); is this a binary file?",
        )
    })
}

/// A word of the file for a message: short and printable, whatever it is.
pub(in crate::mesh) fn quoted(word: &str) -> String {
    const LONGEST: usize = 24;
    let mut short: String = word.chars().take(LONGEST).collect();
    if short.len() < word.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// A finite number.
pub(in crate::mesh) fn number(line: usize, word: &str, what: &str) -> Result<f64, ParseError> {
    match word.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(fault(
            line,
            format!("{what} is {}, but must be a finite number", quoted(word)),
        )),
        Err(_) => Err(fault(
            line,
            format!("{what} is {}, which is not a number", quoted(word)),
        )),
    }
}

/// The next three words as finite `f32` coordinates.
pub(in crate::mesh) fn point<'a>(
    line: usize,
    words: &mut impl Iterator<Item = &'a str>,
    what: &str,
) -> Result<Vec3, ParseError> {
    let mut p = [0.0f32; 3];
    for (i, (x, axis)) in p.iter_mut().zip(["x", "y", "z"]).enumerate() {
        let word = words.next().ok_or_else(|| {
            fault(
                line,
                format!("{what} has {i} coordinates, but needs 3: x y z"),
            )
        })?;
        // Straight to f32: going over f64 could round twice.
        *x = match word.parse::<f32>() {
            Ok(value) if value.is_finite() => value,
            _ => {
                number(line, word, &format!("{what}'s {axis}"))?;
                return Err(fault(
                    line,
                    format!(
                        "{what}'s {axis} is {}, which is too large for a 32-bit number",
                        quoted(word)
                    ),
                ));
            }
        };
    }
    Ok(Vec3::from_array(p))
}

/// A 1-based vertex index of a face, negative counting back from the newest vertex,
/// as a 0-based one. `first` is what index 1 means, from 0.
pub(in crate::mesh) fn face_index(
    line: usize,
    word: &str,
    first: i64,
    vertices: usize,
) -> Result<u32, ParseError> {
    let given: i64 = word.parse().map_err(|_| {
        fault(
            line,
            format!(
                "face has {} for a vertex, but needs a whole number",
                quoted(word)
            ),
        )
    })?;
    let index = match given {
        0 => None,
        1.. => (given - 1).checked_add(first),
        _ => given.checked_add(vertices as i64),
    };
    match index.and_then(|i| u32::try_from(i).ok()) {
        Some(i) if (i as usize) < vertices => Ok(i),
        _ if given == 0 => Err(fault(
            line,
            "face refers to vertex 0, but vertices count from 1",
        )),
        _ => Err(fault(
            line,
            format!("face refers to vertex {given}, but only {vertices} are defined so far"),
        )),
    }
}

/// Refuses faces with fewer than three corners.
pub(in crate::mesh) fn face_size(line: usize, corners: usize) -> Result<(), ParseError> {
    if corners >= 3 {
        Ok(())
    } else {
        Err(fault(
            line,
            format!("face has {corners} vertices, but needs at least 3"),
        ))
    }
}
