//! TetGen `.node` and `.ele` files.

use glam::Vec3;

use super::records::{Records, plausible};
use crate::mesh::ParseError;
use crate::mesh::read::text::fault;

/// The points of a `.node` file.
#[derive(Clone, Debug, PartialEq)]
pub struct TetGenNodes {
    /// Positions.
    pub points: Vec<Vec3>,
    /// Number of the first point, 0 or 1.
    pub first: u64,
}

/// Reads a `.node` file: `count 3 attributes markers`, then `number x y z ...`.
pub fn parse_tetgen_node(bytes: &[u8]) -> Result<TetGenNodes, ParseError> {
    let mut records = Records::new(bytes);
    let mut head = records.expect("\"count 3 attributes markers\"")?;
    let count = head.count("the number of points")?;
    let count = plausible(head.line, count, "points")?;
    let dimensions = head.count("the dimension")?;
    if dimensions != 3 {
        return Err(fault(
            head.line,
            format!("the dimension is {dimensions}, but must be 3"),
        ));
    }
    let mut nodes = TetGenNodes {
        points: Vec::new(),
        first: 0,
    };
    for i in 0..count {
        let mut record = records.expect(&format!("point {i} of {count}"))?;
        let number = record.count("the point's number")?;
        if i == 0 && number <= 1 {
            nodes.first = number;
        }
        in_order(record.line, "point", number, nodes.first + i as u64)?;
        nodes.points.push(record.point()?);
    }
    Ok(nodes)
}

/// Reads an `.ele` file: `count corners attributes`, then `number a b c d ...`.
/// Of elements with ten corners the first four are kept.
pub fn parse_tetgen_ele(bytes: &[u8], nodes: &TetGenNodes) -> Result<Vec<[u32; 4]>, ParseError> {
    let mut records = Records::new(bytes);
    let mut head = records.expect("\"count 4 attributes\"")?;
    let count = head.count("the number of tetrahedra")?;
    let count = plausible(head.line, count, "tetrahedra")?;
    let corners = head.count("the number of corners")?;
    if corners != 4 && corners != 10 {
        return Err(fault(
            head.line,
            format!("elements have {corners} corners, but must have 4 or 10"),
        ));
    }
    let mut tets = Vec::new();
    for i in 0..count {
        let mut record = records.expect(&format!("tetrahedron {i} of {count}"))?;
        let number = record.count("the tetrahedron's number")?;
        in_order(record.line, "tetrahedron", number, nodes.first + i as u64)?;
        tets.push(record.corners(nodes.first, nodes.points.len())?);
    }
    Ok(tets)
}

fn in_order(line: usize, what: &str, number: u64, right: u64) -> Result<(), ParseError> {
    if number == right {
        Ok(())
    } else {
        Err(fault(
            line,
            format!("{what} {number} stands where {right} should be"),
        ))
    }
}
