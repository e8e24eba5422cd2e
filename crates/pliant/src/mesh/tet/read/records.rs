//! Lines of words, and numbers in them.

use glam::Vec3;

use crate::mesh::ParseError;
use crate::mesh::read::text::{Lines, fault, point, quoted, utf8};

/// The lines of a file that hold something, without `#` comments.
pub(super) struct Records<'a> {
    lines: Lines<'a>,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Records {
            lines: Lines::new(bytes),
        }
    }

    /// The next line that holds something, or nothing at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Record<'a>>, ParseError> {
        for (line, bytes) in self.lines.by_ref() {
            let text = utf8(line, bytes)?;
            let text = text.split('#').next().unwrap_or(text).trim();
            if !text.is_empty() {
                return Ok(Some(Record {
                    line,
                    text,
                    words: text.split_ascii_whitespace(),
                }));
            }
        }
        Ok(None)
    }

    /// The next line; `what` was expected there.
    pub(super) fn expect(&mut self, what: &str) -> Result<Record<'a>, ParseError> {
        let last = self.lines.number();
        self.next()?.ok_or_else(|| {
            fault(
                last,
                format!("the file ends here, but {what} should follow"),
            )
        })
    }
}

/// One line.
pub(super) struct Record<'a> {
    pub line: usize,
    pub text: &'a str,
    words: std::str::SplitAsciiWhitespace<'a>,
}

impl<'a> Record<'a> {
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        let line = self.line;
        self.words
            .next()
            .ok_or_else(|| fault(line, format!("{what} is missing at the end of the line")))
    }

    /// A whole number, 0 or more.
    pub(super) fn count(&mut self, what: &str) -> Result<u64, ParseError> {
        let word = self.word(what)?;
        word.parse().map_err(|_| {
            fault(
                self.line,
                format!("{what} is {}, but must be a whole number", quoted(word)),
            )
        })
    }

    pub(super) fn point(&mut self) -> Result<Vec3, ParseError> {
        point(self.line, &mut self.words, "point")
    }

    /// Four point numbers that count from `first`.
    pub(super) fn corners(&mut self, first: u64, points: usize) -> Result<[u32; 4], ParseError> {
        let mut corners = [0; 4];
        for corner in &mut corners {
            let given = self.count("a corner")?;
            *corner = index(self.line, given, first, points)?;
        }
        Ok(corners)
    }
}

/// A point number that counts from `first`, as one that counts from 0.
pub(super) fn index(line: usize, given: u64, first: u64, points: usize) -> Result<u32, ParseError> {
    match given.checked_sub(first) {
        Some(i) if i < points as u64 => Ok(i as u32),
        _ => Err(fault(
            line,
            format!("point {given} does not exist; there are {points}, counted from {first}"),
        )),
    }
}

/// Refuses more items than the file can hold or indices can tell apart.
pub(super) fn plausible(line: usize, count: u64, what: &str) -> Result<usize, ParseError> {
    if count < u64::from(u32::MAX) {
        Ok(count as usize)
    } else {
        Err(fault(
            line,
            format!("{count} {what} are more than 32-bit indices can tell apart"),
        ))
    }
}
