//! Reading tetrahedral meshes. Start at [`read_tet_mesh`]; one file per format, and
//! `records.rs` for what they share.
//!
//! As for triangle meshes, parsers take the bytes of whole files, say where and why
//! something is wrong, and trust no count as an amount of memory.

mod gmsh;
mod lists;
mod records;
#[cfg(test)]
mod tests;
mod tetgen;
mod vtk;

use std::path::Path;

pub use gmsh::parse_gmsh;
pub use lists::{parse_tet_list, parse_vertex_list};
pub use tetgen::{TetGenNodes, parse_tetgen_ele, parse_tetgen_node};
pub use vtk::parse_vtk_tets;

use super::TetMesh;
use crate::mesh::{MeshError, ParseError};

/// Reads a tetrahedral mesh, turns elements that are inside out and drops points
/// that no element uses. The format follows from the name's ending: `.msh` (Gmsh),
/// `.vtk`, `.node` or `.ele` (TetGen), `.pts` or `.tet` (a list of vertices and a
/// list of tetrahedra); of the two-file formats either file may be named.
pub fn read_tet_mesh(path: impl AsRef<Path>) -> Result<TetMesh, MeshError> {
    let path = path.as_ref();
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    match ending.to_ascii_lowercase().as_str() {
        "msh" => whole(parse(path, parse_gmsh)?),
        "vtk" => whole(parse(path, parse_vtk_tets)?),
        "node" | "ele" => {
            let nodes = parse(&path.with_extension("node"), parse_tetgen_node)?;
            let tets = parse(&path.with_extension("ele"), |bytes| {
                parse_tetgen_ele(bytes, &nodes)
            })?;
            whole(TetMesh {
                points: nodes.points,
                tets,
            })
        }
        "pts" | "tet" => read_tet_files(path.with_extension("pts"), path.with_extension("tet")),
        _ => Err(MeshError::UnknownTetFormat {
            path: path.to_path_buf(),
        }),
    }
}

/// Reads the two-file format of Lesmes 2013 from files of any name.
pub fn read_tet_files(
    vertices: impl AsRef<Path>,
    tets: impl AsRef<Path>,
) -> Result<TetMesh, MeshError> {
    let points = parse(vertices.as_ref(), parse_vertex_list)?;
    let tets = parse(tets.as_ref(), |bytes| parse_tet_list(bytes, points.len()))?;
    whole(TetMesh { points, tets })
}

fn parse<T>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, ParseError>,
) -> Result<T, MeshError> {
    let bytes = std::fs::read(path).map_err(|source| MeshError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    parse(&bytes).map_err(|fault| MeshError::Parse {
        path: path.to_path_buf(),
        fault,
    })
}

fn whole(mut mesh: TetMesh) -> Result<TetMesh, MeshError> {
    mesh.orient();
    mesh.drop_unused_points();
    Ok(mesh)
}
