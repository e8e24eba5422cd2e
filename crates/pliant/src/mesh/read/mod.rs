//! Reading mesh files. Start at [`read_mesh`]; one file per format, and `text.rs`
//! for what the text formats share.
//!
//! Every parser takes the bytes of a whole file and gives a mesh with finite
//! coordinates and valid indices, or says where and why not. None of them trusts
//! a number in the file as an amount of memory.

mod obj;
mod ply;
mod smf;
mod stl;
pub(super) mod text;

use std::io;
use std::path::{Path, PathBuf};

pub use obj::parse_obj;
pub use ply::parse_ply;
pub use smf::parse_smf;
pub use stl::parse_stl;

use super::TriMesh;

/// Why a mesh file could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// A line of a text file is wrong.
    #[error("line {line}: {message}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A binary file is wrong.
    #[error("byte {offset}: {message}")]
    Byte {
        /// Offset from the start of the file, from 0.
        offset: usize,
        /// What is wrong and what would be right.
        message: String,
    },
    /// The file as a whole is wrong.
    #[error("{0}")]
    File(String),
}

/// Why a mesh file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file could not be opened or read.
    #[error("{}: cannot read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file name's ending is not that of a known format.
    #[error("{}: unknown mesh format; the name must end in .obj, .stl, .ply or .smf", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file name's ending is not that of a known tetrahedral format.
    #[error("{}: unknown format of tetrahedra; the name must end in .msh, .vtk, .node, .ele, .pts or .tet", path.display())]
    UnknownTetFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file's content is wrong.
    #[error("{}: {fault}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and what.
        fault: ParseError,
    },
}

/// Reads a mesh; the format follows from the name's ending: `.obj`, `.stl`, `.ply`
/// or `.smf`, in capitals or not.
pub fn read_mesh(path: impl AsRef<Path>) -> Result<TriMesh, MeshError> {
    let path = path.as_ref();
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let parse = match ending.to_ascii_lowercase().as_str() {
        "obj" => parse_obj,
        "stl" => parse_stl,
        "ply" => parse_ply,
        "smf" => parse_smf,
        _ => {
            return Err(MeshError::UnknownFormat {
                path: path.to_path_buf(),
            });
        }
    };
    let bytes = std::fs::read(path).map_err(|source| MeshError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    parse(&bytes).map_err(|fault| MeshError::Parse {
        path: path.to_path_buf(),
        fault,
    })
}

/// Cuts a polygon into triangles that share its first corner.
fn fan(polygon: &[u32], triangles: &mut Vec<[u32; 3]>) {
    if let [first, rest @ ..] = polygon {
        triangles.extend(rest.windows(2).map(|w| [*first, w[0], w[1]]));
    }
}

/// Refuses a mesh without triangles.
fn not_empty(mesh: TriMesh, format: &str, needs: &str) -> Result<TriMesh, ParseError> {
    let missing = match (mesh.vertices.is_empty(), mesh.triangles.is_empty()) {
        (true, _) => "vertices",
        (false, true) => "faces",
        (false, false) => return Ok(mesh),
    };
    Err(ParseError::File(format!(
        "the file has no {missing}; {format} needs {needs}"
    )))
}

#[cfg(test)]
mod tests;
