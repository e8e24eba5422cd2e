//! Triangle meshes: the type, its checks, readers, writers and generators.

mod tri_mesh;

pub use tri_mesh::TriMesh;
