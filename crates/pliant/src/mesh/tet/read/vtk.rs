//! Legacy VTK text files with an unstructured grid, versions 1 to 5.

use std::collections::VecDeque;

use super::records::{Records, index, plausible};
use crate::mesh::read::text::{fault, point, quoted};
use crate::mesh::{ParseError, TetMesh};

/// VTK's number for a tetrahedron with 4 corners.
const TETRAHEDRON: u64 = 10;

/// Reads the points and the tetrahedra; other cells are skipped.
pub fn parse_vtk_tets(bytes: &[u8]) -> Result<TetMesh, ParseError> {
    if !bytes.starts_with(b"# vtk DataFile") {
        return Err(fault(
            1,
            "a VTK file must begin with \"# vtk DataFile Version\"",
        ));
    }
    let mut words = Words {
        records: Records::new(bytes),
        line: 1,
        left: VecDeque::new(),
    };
    let mut points = Vec::new();
    let mut cells: Vec<(usize, Vec<u64>)> = Vec::new();
    let mut kinds = Vec::new();
    words.records.expect("a title")?;
    match words.expect("ASCII")? {
        "ASCII" => {}
        other => {
            return Err(fault(
                words.line,
                format!("the format is {}, but only ASCII is read", quoted(other)),
            ));
        }
    }
    while let Some(word) = words.next()? {
        match word {
            "DATASET" => {
                let kind = words.expect("UNSTRUCTURED_GRID")?;
                if kind != "UNSTRUCTURED_GRID" {
                    let message = format!("{} is not an UNSTRUCTURED_GRID", quoted(kind));
                    return Err(fault(words.line, message));
                }
            }
            "POINTS" => {
                let count = words.count("the number of points")?;
                let count = plausible(words.line, count, "points")?;
                words.expect("a number type")?;
                for _ in 0..count {
                    let xyz = [words.expect("x")?, words.expect("y")?, words.expect("z")?];
                    points.push(point(words.line, &mut xyz.into_iter(), "point")?);
                }
            }
            "CELLS" => cells = words.cells()?,
            "CELL_TYPES" => {
                let count = words.count("the number of cell types")?;
                for _ in 0..count {
                    kinds.push(words.count("a cell type")?);
                }
            }
            // What follows belongs to cells and points.
            "CELL_DATA" | "POINT_DATA" => break,
            _ => {}
        }
    }
    if kinds.len() != cells.len() {
        return Err(ParseError::File(format!(
            "there are {} CELLS but {} CELL_TYPES",
            cells.len(),
            kinds.len()
        )));
    }
    let mut tets = Vec::new();
    for ((line, corners), _) in cells.iter().zip(&kinds).filter(|(_, k)| **k == TETRAHEDRON) {
        let &[a, b, c, d] = corners.as_slice() else {
            let message = format!("a tetrahedron has {} corners, but needs 4", corners.len());
            return Err(fault(*line, message));
        };
        let [a, b, c, d] = [a, b, c, d].map(|v| index(*line, v, 0, points.len()));
        tets.push([a?, b?, c?, d?]);
    }
    if tets.is_empty() {
        return Err(ParseError::File(
            "the file has no tetrahedra (cells of type 10)".into(),
        ));
    }
    Ok(TetMesh { points, tets })
}

/// The words of a file, whatever line they are on.
struct Words<'a> {
    records: Records<'a>,
    /// Line of the word last returned.
    line: usize,
    left: VecDeque<&'a str>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<Option<&'a str>, ParseError> {
        if self.left.is_empty() {
            let Some(record) = self.records.next()? else {
                return Ok(None);
            };
            self.line = record.line;
            self.left.extend(record.text.split_ascii_whitespace());
        }
        Ok(self.left.pop_front())
    }

    fn expect(&mut self, what: &str) -> Result<&'a str, ParseError> {
        let line = self.line;
        self.next()?.ok_or_else(|| {
            fault(
                line,
                format!("the file ends here, but {what} should follow"),
            )
        })
    }

    fn count(&mut self, what: &str) -> Result<u64, ParseError> {
        let word = self.expect(what)?;
        word.parse().map_err(|_| {
            fault(
                self.line,
                format!("{what} is {}, but must be a whole number", quoted(word)),
            )
        })
    }

    /// The corners of every cell: `n a b c ...` per cell, or since version 5 where
    /// each begins, and then all corners.
    fn cells(&mut self) -> Result<Vec<(usize, Vec<u64>)>, ParseError> {
        let count = self.count("the number of cells")?;
        let size = self.count("the size of the cell list")?;
        let mut cells = Vec::new();
        let peeked = self.expect("the cells")?;
        if peeked != "OFFSETS" {
            self.left.push_front(peeked);
            for _ in 0..count {
                let corners = self.count("the number of corners")?;
                let corners = (0..corners).map(|_| self.count("a corner"));
                let corners = corners.collect::<Result<Vec<u64>, _>>()?;
                cells.push((self.line, corners));
            }
            return Ok(cells);
        }
        self.expect("a number type")?;
        let mut offsets = Vec::new();
        for _ in 0..count {
            offsets.push(self.count("an offset")?);
        }
        if self.expect("CONNECTIVITY")? != "CONNECTIVITY" {
            return Err(fault(self.line, "CONNECTIVITY should follow"));
        }
        self.expect("a number type")?;
        let mut corners = Vec::new();
        for _ in 0..size {
            corners.push(self.count("a corner")?);
        }
        for pair in offsets.windows(2) {
            let range = pair[0] as usize..pair[1] as usize;
            let own = corners.get(range).ok_or_else(|| {
                fault(
                    self.line,
                    format!("offsets {pair:?} are not in the connectivity"),
                )
            })?;
            cells.push((self.line, own.to_vec()));
        }
        Ok(cells)
    }
}
