//! Finding what is near: neighbour search among points, and indices over the
//! triangles of a mesh.
//!
//! Points: every structure answers through [`NeighbourSearch`], so that they can
//! be compared. [`CellGrid`] is the one the engine uses; start there. The others
//! are those of the literature: [`AabbBrute`], [`Octree`] and [`ModuloHash`]
//! (Mesit 2010), [`RegularGrid`], [`PrimeHash`] and [`KdTree`] (Grahn 2008).
//!
//! Triangles: every structure answers through [`TriangleIndex`]; [`NearestCells`]
//! answers only which point is nearest, and is what liquids ask.

mod box_sweep;
mod brute;
mod buckets;
mod bvh;
mod bvh_build;
mod cell_grid;
mod cells;
mod counting_sort;
mod gathered;
mod hash_modulo;
mod hash_primes;
mod height_index;
mod kd_tree;
mod leaf_packet;
mod mesh_normals;
mod nearest_cells;
mod octree;
mod packet;
mod regular_grid;
mod sdf;
mod sdf_build;
#[cfg(test)]
mod test_meshes;
mod triangle_hash;
#[cfg(test)]
mod triangle_index_tests;

pub(crate) use box_sweep::BoxSweep;
pub use bvh::Bvh;
pub use bvh_build::Split;
pub use height_index::HeightIndex;
pub use mesh_normals::{BORDER, MeshNormals};
pub use nearest_cells::NearestCells;
pub use sdf::Sdf;
pub use sdf_build::SdfError;
pub use triangle_hash::TriangleHash;

use glam::Vec3;

use crate::math::Xyz;

pub use brute::AabbBrute;
pub use cell_grid::{CellGrid, CellsIn, Rows};
pub use hash_modulo::{CellSize, ModuloHash};
pub use hash_primes::PrimeHash;
pub use kd_tree::KdTree;
pub use octree::Octree;
pub use regular_grid::RegularGrid;

/// A structure that finds the points within a fixed radius of a place.
pub trait NeighbourSearch {
    /// The name in tables and scene files.
    fn name(&self) -> &'static str;

    /// Indexes `points` for queries of `radius`. Calling it again re-uses memory.
    fn build(&mut self, points: Xyz<'_>, radius: f32);

    /// Calls `visit` exactly once with every `i` such that
    /// `|points[i] - center|² <= radius²`, in an order that depends on nothing
    /// but the points. `points` and the radius are those of the last `build`.
    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32));

    /// Heap memory held, in bytes.
    fn bytes(&self) -> usize;
}

/// One of every structure for points, to compare them.
pub fn all_searches() -> Vec<Box<dyn NeighbourSearch>> {
    vec![
        Box::new(CellGrid::new()),
        Box::new(AabbBrute::new()),
        Box::new(RegularGrid::new()),
        Box::new(PrimeHash::new()),
        Box::new(ModuloHash::new()),
        Box::new(Octree::new()),
        Box::new(KdTree::new()),
    ]
}

/// A place on a triangle mesh found by a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Triangle index in the mesh.
    pub triangle: u32,
    /// Weights of the triangle's three corners; they sum to 1.
    pub barycentric: [f32; 3],
    /// The point on the triangle, in metres.
    pub point: Vec3,
    /// Distance from the query's centre, in metres, never negative.
    pub distance: f32,
}

/// Where a segment first meets a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Triangle index in the mesh.
    pub triangle: u32,
    /// Weights of the triangle's three corners at the crossing.
    pub barycentric: [f32; 3],
    /// The crossing is at `from + fraction * (to - from)`, `0 <= fraction <= 1`.
    pub fraction: f32,
    /// Unit normal of the surface at the crossing, on the side of `from`.
    pub normal: Vec3,
}

/// A structure over the triangles of one static mesh.
pub trait TriangleIndex: Send + Sync {
    /// The name in tables and scene files.
    fn name(&self) -> &'static str;

    /// Calls `visit` once for every triangle whose closest point to `center` is
    /// within `radius` (at most the radius the index was built for), in a fixed
    /// order. A distance field knows only the nearest surface and visits that.
    fn for_each_within(&self, center: Vec3, radius: f32, visit: &mut dyn FnMut(SurfacePoint));

    /// The first triangle that the segment crosses, from either side. Edges and
    /// corners shared by triangles never let a segment through: in doubt it is a hit.
    fn first_crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing>;

    /// How far the distances of [`TriangleIndex::for_each_within`] may be from the
    /// truth, in metres.
    fn distance_error(&self) -> f32 {
        0.0
    }

    /// Heap memory held, in bytes.
    fn bytes(&self) -> usize;
}
