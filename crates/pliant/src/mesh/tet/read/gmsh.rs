//! Gmsh `.msh` text files, versions 2.2 and 4.1.

use std::collections::HashMap;

use super::records::{Record, Records, plausible};
use crate::mesh::read::text::fault;
use crate::mesh::{ParseError, TetMesh};

/// Gmsh's numbers for tetrahedra with 4 and with 10 nodes.
const TETRAHEDRA: [u64; 2] = [4, 11];

/// Reads the nodes and the tetrahedra; other elements are skipped, and of elements
/// with ten nodes the first four are kept.
pub fn parse_gmsh(bytes: &[u8]) -> Result<TetMesh, ParseError> {
    let mut records = Records::new(bytes);
    let mut version = None;
    let mut reader = Reader::default();
    while let Some(record) = records.next()? {
        match (record.text, version) {
            ("$MeshFormat", _) => version = Some(format_version(&mut records)?),
            ("$Nodes" | "$Elements", None) => {
                return Err(fault(record.line, "$MeshFormat must come first"));
            }
            ("$Nodes", Some(Version::Two)) => reader.nodes2(&mut records)?,
            ("$Nodes", Some(Version::Four)) => reader.nodes4(&mut records)?,
            ("$Elements", Some(Version::Two)) => reader.elements2(&mut records)?,
            ("$Elements", Some(Version::Four)) => reader.elements4(&mut records)?,
            _ => {}
        }
    }
    if reader.mesh.tets.is_empty() {
        return Err(ParseError::File(
            "the file has no tetrahedra; mesh the volume in Gmsh (key 3) before saving".into(),
        ));
    }
    Ok(reader.mesh)
}

#[derive(Clone, Copy)]
enum Version {
    Two,
    Four,
}

fn format_version(records: &mut Records<'_>) -> Result<Version, ParseError> {
    let mut record = records.expect("\"version file-type data-size\"")?;
    let version = record.word("the version")?;
    if record.count("the file type")? != 0 {
        return Err(fault(
            record.line,
            "a binary file; save it as text (Mesh.Binary = 0)",
        ));
    }
    match version {
        "2" | "2.1" | "2.2" => Ok(Version::Two),
        "4.1" => Ok(Version::Four),
        _ => Err(fault(
            record.line,
            format!("version {version}, but must be 2.2 or 4.1 (Mesh.MshFileVersion)"),
        )),
    }
}

#[derive(Default)]
struct Reader {
    mesh: TetMesh,
    /// Gmsh names nodes by any number.
    index: HashMap<u64, u32>,
}

impl Reader {
    fn node(&mut self, name: u64, record: &mut Record<'_>) -> Result<(), ParseError> {
        plausible(record.line, self.mesh.points.len() as u64 + 1, "nodes")?;
        if self
            .index
            .insert(name, self.mesh.points.len() as u32)
            .is_some()
        {
            return Err(fault(record.line, format!("node {name} is there twice")));
        }
        self.mesh.points.push(record.point()?);
        Ok(())
    }

    fn tetrahedron(&mut self, record: &mut Record<'_>) -> Result<(), ParseError> {
        let mut corners = [0; 4];
        for corner in &mut corners {
            let name = record.count("a node of the tetrahedron")?;
            *corner = *self.index.get(&name).ok_or_else(|| {
                fault(record.line, format!("node {name} is not among the $Nodes"))
            })?;
        }
        self.mesh.tets.push(corners);
        Ok(())
    }

    /// `count`, then `name x y z`.
    fn nodes2(&mut self, records: &mut Records<'_>) -> Result<(), ParseError> {
        let count = records
            .expect("the number of nodes")?
            .count("the number of nodes")?;
        for i in 0..count {
            let mut record = records.expect(&format!("node {i} of {count}"))?;
            let name = record.count("the node's number")?;
            self.node(name, &mut record)?;
        }
        Ok(())
    }

    /// `blocks nodes least largest`, then per block `dimension entity parametric
    /// count`, its names and its places.
    fn nodes4(&mut self, records: &mut Records<'_>) -> Result<(), ParseError> {
        let blocks = records
            .expect("the number of blocks")?
            .count("the number of blocks")?;
        for _ in 0..blocks {
            let mut head = records.expect("a block of nodes")?;
            for what in ["the dimension", "the entity", "the parametric flag"] {
                head.word(what)?;
            }
            let count = head.count("the number of nodes")?;
            let mut names = Vec::new();
            for i in 0..count {
                let mut record = records.expect(&format!("node name {i} of {count}"))?;
                names.push(record.count("the node's number")?);
            }
            for name in names {
                let mut record = records.expect(&format!("the place of node {name}"))?;
                self.node(name, &mut record)?;
            }
        }
        Ok(())
    }

    /// `count`, then `name type tags ... nodes`.
    fn elements2(&mut self, records: &mut Records<'_>) -> Result<(), ParseError> {
        let mut head = records.expect("the number of elements")?;
        let count = head.count("the number of elements")?;
        for i in 0..count {
            let mut record = records.expect(&format!("element {i} of {count}"))?;
            record.word("the element's number")?;
            let kind = record.count("the element's type")?;
            let tags = record.count("the number of tags")?;
            if TETRAHEDRA.contains(&kind) {
                for _ in 0..tags {
                    record.word("a tag")?;
                }
                self.tetrahedron(&mut record)?;
            }
        }
        Ok(())
    }

    /// `blocks elements least largest`, then per block `dimension entity type count`
    /// and `name nodes` per element.
    fn elements4(&mut self, records: &mut Records<'_>) -> Result<(), ParseError> {
        let blocks = records
            .expect("the number of blocks")?
            .count("the number of blocks")?;
        for _ in 0..blocks {
            let mut head = records.expect("a block of elements")?;
            head.word("the dimension")?;
            head.word("the entity")?;
            let kind = head.count("the element type")?;
            let count = head.count("the number of elements")?;
            for i in 0..count {
                let mut record = records.expect(&format!("element {i} of {count}"))?;
                if TETRAHEDRA.contains(&kind) {
                    record.word("the element's number")?;
                    self.tetrahedron(&mut record)?;
                }
            }
        }
        Ok(())
    }
}
