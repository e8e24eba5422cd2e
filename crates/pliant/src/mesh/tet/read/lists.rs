//! The two-file text format of Lesmes 2013 (section 5.1): a count and one vertex
//! `x y z` per line; a count and four vertex numbers per line.

use glam::Vec3;

use super::records::{Records, index, plausible};
use crate::mesh::ParseError;
use crate::mesh::read::text::fault;

/// Reads the list of vertices.
pub fn parse_vertex_list(bytes: &[u8]) -> Result<Vec<Vec3>, ParseError> {
    let mut records = Records::new(bytes);
    let mut head = records.expect("the number of vertices")?;
    let count = head.count("the number of vertices")?;
    let count = plausible(head.line, count, "vertices")?;
    let mut points = Vec::new();
    for i in 0..count {
        let mut record = records.expect(&format!("vertex {i} of {count}"))?;
        points.push(record.point()?);
    }
    nothing_left(&mut records, count, "vertices")?;
    Ok(points)
}

/// Reads the list of tetrahedra over `points` vertices. Numbers count from 1 if
/// vertex 0 is never used and vertex `points` is; otherwise from 0.
pub fn parse_tet_list(bytes: &[u8], points: usize) -> Result<Vec<[u32; 4]>, ParseError> {
    let mut records = Records::new(bytes);
    let mut head = records.expect("the number of tetrahedra")?;
    let count = head.count("the number of tetrahedra")?;
    let count = plausible(head.line, count, "tetrahedra")?;
    let mut given = Vec::new();
    for i in 0..count {
        let mut record = records.expect(&format!("tetrahedron {i} of {count}"))?;
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = record.count("a corner")?;
        }
        given.push((record.line, corners));
    }
    nothing_left(&mut records, count, "tetrahedra")?;
    let numbers = || given.iter().flat_map(|(_, corners)| corners);
    let from_one = numbers().all(|&v| v > 0) && numbers().any(|&v| v == points as u64);
    let first = u64::from(from_one);
    given
        .iter()
        .map(|&(line, corners)| {
            let [a, b, c, d] = corners.map(|v| index(line, v, first, points));
            Ok([a?, b?, c?, d?])
        })
        .collect()
}

fn nothing_left(records: &mut Records<'_>, count: usize, what: &str) -> Result<(), ParseError> {
    match records.next()? {
        None => Ok(()),
        Some(record) => Err(fault(
            record.line,
            format!("the file says it has {count} {what}, but goes on here"),
        )),
    }
}
