//! Smoothing of a finished surface, and its volume.

use glam::Vec3;
use rayon::prelude::*;

use super::blob::Blobs;
use super::{Surface, SurfaceSettings};
use crate::math::XyzVec;
use crate::mesh::TriMesh;
use crate::space::{CellGrid, NeighbourSearch};

/// Below this fullness a particle belongs to spray, which is not smoothed; above
/// the other it belongs to a body of liquid (Löschner et al. 2023 weight by the
/// number of neighbours in the same way).
const SPRAY: f32 = 0.35;
const BODY: f32 = 0.65;

/// Share of the way to the mean of its neighbours that a vertex goes per round.
const PACE: f32 = 0.5;

/// The surface moves by at most this share of a spacing to hold its volume.
const LARGEST_SHIFT: f32 = 0.25;

/// Smoothing and volume, as the settings ask.
pub(super) fn finish(mut surface: Surface, blobs: &Blobs, settings: &SurfaceSettings) -> Surface {
    if surface.mesh.triangles.is_empty() {
        return surface;
    }
    if settings.smoothing > 0 {
        let weights = feature_weights(&surface.mesh, blobs, settings);
        laplacian(&mut surface.mesh, &weights, settings.smoothing);
        surface.normals = surface.mesh.vertex_normals();
    }
    if settings.keep_volume {
        let wanted = blobs.blobs.len() as f64 * f64::from(settings.spacing).powi(3);
        hold_volume(&mut surface, wanted, LARGEST_SHIFT * settings.spacing);
    }
    surface
}

/// How much each vertex is smoothed: 0 on spray, 1 on a body of liquid.
fn feature_weights(mesh: &TriMesh, blobs: &Blobs, settings: &SurfaceSettings) -> Vec<f32> {
    let points: XyzVec = blobs.blobs.iter().map(|b| b.center).collect();
    let radius = settings.support * settings.spacing;
    let mut grid = CellGrid::new();
    grid.build(points.view(), radius);
    let sorted: Vec<(Vec3, f32)> = grid
        .order()
        .iter()
        .map(|&i| (points.get(i as usize), blobs.fullness[i as usize]))
        .collect();
    mesh.vertices
        .par_iter()
        .with_min_len(256)
        .map(|&v| {
            let (mut total, mut sum) = (0.0, 0.0);
            for &(from, to) in grid.rows_around(v).as_slice() {
                for &(p, fullness) in &sorted[from as usize..to as usize] {
                    let w = (1.0 - p.distance_squared(v) / (radius * radius)).max(0.0);
                    total += w;
                    sum += w * fullness;
                }
            }
            if total <= 0.0 {
                return 0.0;
            }
            let t = ((sum / total - SPRAY) / (BODY - SPRAY)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        })
        .collect()
}

/// Vertices around each vertex: `list[start[v]..start[v + 1]]`.
struct Ring {
    start: Vec<u32>,
    list: Vec<u32>,
}

impl Ring {
    /// On a closed surface every neighbour follows the vertex in exactly one
    /// triangle, so the triangles give each neighbour once.
    fn of(mesh: &TriMesh) -> Ring {
        let mut start = vec![0u32; mesh.vertices.len() + 1];
        for t in &mesh.triangles {
            t.iter().for_each(|&v| start[v as usize + 1] += 1);
        }
        for v in 1..start.len() {
            start[v] += start[v - 1];
        }
        let mut next = start.clone();
        let mut list = vec![0; 3 * mesh.triangles.len()];
        for t in &mesh.triangles {
            for k in 0..3 {
                let slot = &mut next[t[k] as usize];
                list[*slot as usize] = t[(k + 1) % 3];
                *slot += 1;
            }
        }
        Ring { start, list }
    }

    fn of_vertex(&self, v: usize) -> &[u32] {
        &self.list[self.start[v] as usize..self.start[v + 1] as usize]
    }
}

/// Moves every vertex towards the mean of its neighbours, as far as its weight
/// says.
fn laplacian(mesh: &mut TriMesh, weights: &[f32], rounds: u32) {
    let ring = Ring::of(mesh);
    for _ in 0..rounds {
        let before = &mesh.vertices;
        let moved: Vec<Vec3> = before
            .par_iter()
            .enumerate()
            .with_min_len(512)
            .map(|(v, &p)| {
                let around = ring.of_vertex(v);
                let sum: Vec3 = around.iter().map(|&n| before[n as usize]).sum();
                p.lerp(sum / around.len().max(1) as f32, PACE * weights[v])
            })
            .collect();
        mesh.vertices = moved;
    }
}

/// Moves the surface along its normals until it encloses `wanted` m³, by at most
/// `most` metres.
fn hold_volume(surface: &mut Surface, wanted: f64, most: f32) {
    let mut shifted = 0.0;
    // Volume is nearly linear in the shift; a second step takes care of curvature.
    for _ in 0..2 {
        let area: f64 = (0..surface.mesh.triangles.len())
            .map(|t| 0.5 * f64::from(surface.mesh.area_normal(t).length()))
            .sum();
        if area <= 0.0 {
            return;
        }
        let missing = wanted - f64::from(surface.mesh.volume());
        let target = (shifted + (missing / area) as f32).clamp(-most, most);
        let step = target - shifted;
        shifted = target;
        let normals = &surface.normals;
        surface
            .mesh
            .vertices
            .par_iter_mut()
            .zip(normals)
            .for_each(|(v, n)| *v += step * *n);
    }
}
