//! Triangle meshes, and tetrahedral ones in `tet/`.
//!
//! - `tri_mesh.rs`: [`TriMesh`], vertices and triangles; start here.
//! - `check.rs`: [`TriMesh::check`] tells whether a mesh is closed and faces
//!   outwards, and what is wrong with it where.
//! - `edit.rs`: welding, turning, moving, joining; `holes.rs`: closing holes;
//!   `decimate.rs`: fewer triangles.
//! - `read/`: [`read_mesh`] for OBJ, STL, PLY and SMF files.
//! - `write.rs`: OBJ, PLY and STL.
//! - `generate/`: shapes from a few numbers, from a box to a colon.

mod check;
mod decimate;
mod edit;
mod generate;
mod holes;
mod read;
mod tet;
mod tri_mesh;
mod write;

pub use check::{Edge, MeshReport};
pub(crate) use generate::noise::signed as chance;
pub use generate::*;
pub use holes::HolesReport;
pub use read::*;
pub use tet::*;
pub use tri_mesh::TriMesh;
pub use write::{to_obj, to_ply_binary, to_stl_binary};
