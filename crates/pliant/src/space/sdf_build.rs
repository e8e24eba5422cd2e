//! Sampling the signed distance field of [`super::Sdf`] from a mesh.

use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::gathered::Gathered;
use super::sdf::{BLOCK, FAR, Grid, NODES, NODES_PER_BLOCK, Sdf};
use super::{Bvh, MeshNormals};
use crate::crew::Spread;
use crate::mesh::TriMesh;

/// Why a mesh cannot be made a distance field.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SdfError {
    /// The mesh has no inside.
    #[error(
        "a distance field needs a closed mesh: {edges} edges do not have matching triangles on \
         both sides; close the holes or use the \"hash\" or \"bvh\" index"
    )]
    Open {
        /// Number of such edges.
        edges: usize,
    },
    /// The mesh has no triangles.
    #[error("a distance field needs a mesh with triangles")]
    Empty,
    /// The cell size or the reach makes no sense.
    #[error(
        "a distance field needs a cell above 0 and a reach of at least 0, got {cell} m and {reach} m"
    )]
    Size {
        /// Cell size asked for, in metres.
        cell: f32,
        /// Reach asked for, in metres.
        reach: f32,
    },
    /// The field would need too many blocks.
    #[error("a cell of {cell} m is too small for a mesh of {extent} m; try {suggestion} m or more")]
    TooFine {
        /// Cell size asked for, in metres.
        cell: f32,
        /// Longest side of the mesh's box, in metres.
        extent: f32,
        /// A cell size that works, in metres.
        suggestion: f32,
    },
}

/// Most blocks of the map: 8 bytes each.
const MOST_BLOCKS: f32 = (1 << 22) as f32;

pub(super) fn build(mesh: Arc<TriMesh>, cell: f32, reach: f32) -> Result<Sdf, SdfError> {
    if !(cell > 0.0 && cell.is_finite() && reach >= 0.0 && reach.is_finite()) {
        return Err(SdfError::Size { cell, reach });
    }
    if mesh.triangles.is_empty() {
        return Err(SdfError::Empty);
    }
    let normals = MeshNormals::of(&mesh);
    if !normals.is_closed() {
        let edges = normals.open_edges();
        return Err(SdfError::Open { edges });
    }
    let bounds = mesh.aabb();
    let band = reach + 2.0 * cell;
    let blocks = ((bounds.size() + Vec3::splat(2.0 * band)) / (cell * BLOCK as f32)).ceil();
    let count = blocks.element_product();
    if count > MOST_BLOCKS || count.is_nan() {
        let extent = bounds.size().max_element();
        let suggestion = cell * (count / MOST_BLOCKS).cbrt() * 1.1;
        return Err(SdfError::TooFine {
            cell,
            extent,
            suggestion,
        });
    }
    let grid = Grid {
        origin: bounds.min - Vec3::splat(band),
        cell,
        blocks: blocks.to_array().map(|b| b as u32),
    };
    let triangles: Vec<Gathered> = (0..mesh.triangles.len() as u32)
        .map(|t| Gathered::of(&mesh, t))
        .collect();
    let bvh = Bvh::build(mesh.clone());
    let signed = |p: Vec3, bound: f32| {
        let (nearest, feature) = bvh.closest(p, bound)?;
        let sign = normals.sign(p, &nearest, feature);
        Some((sign * nearest.distance, nearest.triangle))
    };

    let half_diagonal = 0.5 * 3f32.sqrt() * BLOCK as f32 * cell;
    let center_distance: Vec<f32> = (0..grid.block_count())
        .into_par_iter()
        .spread_map(|b| signed(grid.block_center(b), f32::INFINITY).map_or(f32::INFINITY, |s| s.0));
    let near: Vec<usize> = (0..grid.block_count())
        .filter(|&b| center_distance[b].abs() <= band + half_diagonal)
        .collect();
    let mut map = vec![FAR; grid.block_count()];
    for (slot, &b) in near.iter().enumerate() {
        map[b] = slot as u32;
    }

    let mut distance = vec![0.0f32; near.len() * NODES_PER_BLOCK];
    let mut nearest = vec![0u32; near.len() * NODES_PER_BLOCK];
    distance
        .par_chunks_mut(NODES_PER_BLOCK)
        .zip(nearest.par_chunks_mut(NODES_PER_BLOCK))
        .zip(&near)
        .for_each(|((distance, nearest), &block)| {
            for node in 0..NODES_PER_BLOCK {
                let p = grid.node(block, node);
                // The triangle nearest to the node before is a good first guess.
                let guess = [1, NODES, NODES * NODES]
                    .iter()
                    .filter(|&&s| node / s % NODES > 0)
                    .map(|&s| triangles[nearest[node - s] as usize].closest(p).0.distance)
                    .fold(f32::INFINITY, f32::min);
                let found = signed(p, 1.00001 * guess);
                if let Some((d, t)) = found {
                    distance[node] = d;
                    nearest[node] = t;
                }
            }
        });

    Ok(Sdf {
        bounds,
        mesh,
        triangles,
        across: normals.across,
        grid,
        map,
        center_distance,
        distance,
        nearest,
    })
}
