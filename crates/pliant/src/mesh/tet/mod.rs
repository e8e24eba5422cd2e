//! Tetrahedral meshes.
//!
//! - `tet_mesh.rs`: [`TetMesh`], points and tetrahedra; start here.
//! - `topology.rs`: unique edges, the surface, unused points.
//! - `check.rs`: [`TetMesh::validate`] refuses what cannot be simulated.
//! - `quality.rs`: volumes, edge lengths, angles, and histograms of them.
//! - `read/`: [`read_tet_mesh`] for two text files, TetGen, Gmsh and VTK.
//! - `write.rs`: the same formats.
//! - `stuffing.rs`: tetrahedra inside any closed surface.
//! - `generate/`: blocks, balls, walls around a hollow, and bodies with limbs.

mod check;
mod generate;
mod quality;
mod read;
mod stuffing;
mod stuffing_stencil;
mod tet_mesh;
mod topology;
mod write;

pub use check::{TetFault, TetMeshError};
pub use generate::{
    Creature, CreaturePreset, TetBall, TetBasin, TetBlock, TetShell, cube_of_lesmes,
};
pub use quality::{Histogram, Spread, TetQuality};
pub use read::{
    TetGenNodes, parse_gmsh, parse_tet_list, parse_tetgen_ele, parse_tetgen_node,
    parse_vertex_list, parse_vtk_tets, read_tet_files, read_tet_mesh,
};
pub use stuffing::{Stuffing, StuffingError, stuff, tetrahedralise};
pub use tet_mesh::TetMesh;
pub use write::{to_gmsh, to_tet_list, to_tetgen_ele, to_tetgen_node, to_vertex_list, to_vtk_tets};
