//! How deep bodies are in each other, by exact distances to their surfaces: a
//! measure that does not use what the contacts know. Inside is what a surface goes around,
//! forwards or inside out, by the sum of its solid angles; which side of the nearest face a
//! point is on says nothing where a body under a hard blow is folded into itself.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::state::Solid;
use super::winding::winding;
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::space::Bvh;

/// The deepest place of a body inside another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Distance to the surface that it is behind, in metres.
    pub depth: f32,
    /// Position among the bodies of the world of the body whose point it is.
    pub solid: u32,
    /// The point.
    pub point: u32,
    /// Position of the body that it is in.
    pub other: u32,
}

/// The deepest point of any body inside another one; `None` if there is none.
pub(crate) fn deepest(solids: &[(usize, &Solid)]) -> Option<Depth> {
    let bounds: Vec<Aabb> = solids
        .iter()
        .map(|(_, s)| Aabb::of(s.positions().iter()))
        .collect();
    let mut worst: Option<Depth> = None;
    for (k, (other, body)) in solids.iter().enumerate() {
        let near: Vec<usize> = (0..solids.len())
            .filter(|&j| j != k && bounds[j].overlaps(&bounds[k]))
            .collect();
        if near.is_empty() {
            continue;
        }
        let surface = Bvh::build(Arc::new(TriMesh {
            vertices: body.positions().iter().collect(),
            triangles: body.surface.clone(),
        }));
        for j in near {
            let (number, solid) = solids[j];
            let inside: Vec<Depth> = solid
                .skin
                .par_iter()
                .with_min_len(64)
                .filter_map(|&point| {
                    let place = solid.positions().get(point as usize);
                    if !bounds[k].contains(place) {
                        return None;
                    }
                    // Bodies may be folded into themselves: the nearest normal cannot tell.
                    let at = |i: u32| body.positions().get(i as usize);
                    if winding(place, &body.surface, at).abs() < 0.5 {
                        return None;
                    }
                    let (nearest, _) = surface.closest(place, f32::INFINITY)?;
                    let depth = nearest.distance;
                    (depth > 0.0).then_some(Depth {
                        depth,
                        solid: number as u32,
                        point,
                        other: *other as u32,
                    })
                })
                .collect();
            for found in inside {
                if worst.is_none_or(|w| found.depth > w.depth) {
                    worst = Some(found);
                }
            }
        }
    }
    worst
}
