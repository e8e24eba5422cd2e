//! Marching cubes (Lorensen & Cline 1987), block by block.
//!
//! First every block finds the vertices on the edges that start in it; then every
//! block joins vertices of its own and of its neighbours to triangles; then all is
//! copied into one mesh. Blocks that have not changed since the last frame skip the
//! first stage, and if their neighbours have not either, the second.

use glam::Vec3;
use rayon::prelude::*;

use super::blob::Blob;
use super::blocks::{Blocks, CELLS, NODES, coordinates, key_of};
use super::cube_table::{CASES, edge_start};
use super::field::{self, Field, WHOLE};
use super::{Surface, SurfaceError, SurfaceSettings};
use crate::mesh::TriMesh;

const ROWS: usize = NODES * NODES;
/// Nodes of a row that start an edge of this block.
const OWN: u16 = 0x7fff;
/// Vertices keep this share of an edge from its ends, so that triangles do not
/// degenerate where the field meets the iso-value at a node.
const MARGIN: f32 = 0.01;

/// A block's part of the surface.
#[derive(Debug)]
pub(super) struct Block {
    pub key: u64,
    /// None if the surface does not pass through the block.
    surface: Option<Box<Patch>>,
    /// Drawn since the surface was last put together.
    fresh: bool,
}

/// The surface inside one block.
#[derive(Debug)]
struct Patch {
    /// Per row of nodes, one bit for each node inside the liquid.
    inside: [u16; ROWS],
    /// Per axis and row, the edges that are cut, and the number of the first.
    cut: [[u16; ROWS]; 3],
    first: [[u16; ROWS]; 3],
    vertices: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Corners as `8 * vertex of its block + neighbour`; bit k of the neighbour is
    /// a step along axis k.
    triangles: Vec<[u32; 3]>,
}

/// Draws the surface of all blocks.
pub(super) fn extract(
    blobs: &[Blob],
    blocks: &Blocks,
    settings: &SurfaceSettings,
) -> Result<Surface, SurfaceError> {
    let cell = settings.cell * settings.spacing;
    let mut drawn: Vec<Block> = blocks
        .keys
        .par_iter()
        .enumerate()
        .map_init(
            || Box::new([0.0; NODES * NODES * NODES]),
            |field, (b, &key)| {
                let members = blocks.members_of(b);
                field::sum(blobs, members, coordinates(key), cell, WHOLE, field);
                let mut block = Block::new(key);
                block.draw(field, settings);
                block
            },
        )
        .collect();
    assemble(&mut drawn)
}

impl Block {
    /// An empty block.
    pub(super) fn new(key: u64) -> Block {
        Block {
            key,
            surface: None,
            fresh: false,
        }
    }

    /// Draws the block's part of the surface.
    pub(super) fn draw(&mut self, field: &Field, settings: &SurfaceSettings) {
        self.surface = patch(self.key, settings, field);
        self.fresh = true;
    }
}

/// Puts the surface together; `blocks` are in the order of their keys.
pub(super) fn assemble(blocks: &mut [Block]) -> Result<Surface, SurfaceError> {
    let keys: Vec<u64> = blocks.iter().map(|b| b.key).collect();
    let around: Vec<[Option<u32>; 8]> =
        keys.par_iter().map(|&key| neighbours(&keys, key)).collect();
    let known = &*blocks;
    let triangles: Vec<Option<Vec<[u32; 3]>>> = known
        .par_iter()
        .zip(&around)
        .map(|(block, around)| {
            let patch = block.surface.as_ref()?;
            let changed = around.iter().flatten().any(|&n| known[n as usize].fresh);
            changed.then(|| join(patch, around, known))
        })
        .collect();
    for (block, triangles) in blocks.iter_mut().zip(triangles) {
        block.fresh = false;
        if let (Some(patch), Some(triangles)) = (&mut block.surface, triangles) {
            patch.triangles = triangles;
        }
    }
    gather(blocks, &around)
}

/// Inside flags, cut edges and vertices of a block; none if the surface does not
/// pass through it.
fn patch(key: u64, settings: &SurfaceSettings, field: &Field) -> Option<Box<Patch>> {
    let at = coordinates(key);
    let cell = settings.cell * settings.spacing;
    let mut inside = [0u16; ROWS];
    for (bits, row) in inside.iter_mut().zip(field.chunks_exact(NODES)) {
        for (x, &value) in row.iter().enumerate() {
            *bits |= u16::from(value >= settings.iso) << x;
        }
    }
    if inside.iter().all(|&b| b == inside[0]) && (inside[0] == 0 || inside[0] == u16::MAX) {
        return None;
    }
    let mut patch = Box::new(Patch {
        inside,
        cut: [[0; ROWS]; 3],
        first: [[0; ROWS]; 3],
        vertices: Vec::new(),
        normals: Vec::new(),
        triangles: Vec::new(),
    });
    let origin = at.map(|b| b * CELLS);
    for axis in 0..3 {
        for row in 0..ROWS {
            patch.first[axis][row] = patch.vertices.len() as u16;
            let (y, z) = (row % NODES, row / NODES);
            if y == NODES - 1 || z == NODES - 1 {
                continue;
            }
            let here = inside[row];
            let there = match axis {
                0 => here >> 1,
                1 => inside[row + 1],
                _ => inside[row + NODES],
            };
            let mut cut = (here ^ there) & OWN;
            patch.cut[axis][row] = cut;
            while cut != 0 {
                let x = cut.trailing_zeros() as usize;
                cut &= cut - 1;
                let (p, n) = vertex(field, [x, y, z], axis, origin, cell, settings.iso);
                patch.vertices.push(p);
                patch.normals.push(n);
            }
        }
    }
    Some(patch)
}

/// Place and normal where the surface cuts the edge from node `at` along `axis`.
fn vertex(
    field: &Field,
    at: [usize; 3],
    axis: usize,
    origin: [i32; 3],
    cell: f32,
    iso: f32,
) -> (Vec3, Vec3) {
    let mut end = at;
    end[axis] += 1;
    let value = |[x, y, z]: [usize; 3]| field[(z * NODES + y) * NODES + x];
    let (a, b) = (value(at), value(end));
    let t = ((iso - a) / (b - a)).clamp(MARGIN, 1.0 - MARGIN);
    let node = |k: usize| (origin[k] + at[k] as i32) as f32;
    let mut place = Vec3::new(node(0), node(1), node(2));
    place[axis] += t;
    let slope = gradient(field, at).lerp(gradient(field, end), t);
    let fallback = {
        let mut n = Vec3::ZERO;
        n[axis] = if a > b { 1.0 } else { -1.0 };
        n
    };
    (place * cell, (-slope).normalize_or(fallback))
}

/// Gradient of the field at a node, in values per cell: central differences, at
/// the border of the block one-sided ones of the same order.
fn gradient(field: &Field, at: [usize; 3]) -> Vec3 {
    let index = (at[2] * NODES + at[1]) * NODES + at[0];
    let mut slope = Vec3::ZERO;
    for (axis, step) in [1, NODES, ROWS].into_iter().enumerate() {
        slope[axis] = if at[axis] == 0 {
            -1.5 * field[index] + 2.0 * field[index + step] - 0.5 * field[index + 2 * step]
        } else if at[axis] == NODES - 1 {
            1.5 * field[index] - 2.0 * field[index - step] + 0.5 * field[index - 2 * step]
        } else {
            0.5 * (field[index + step] - field[index - step])
        };
    }
    slope
}

/// The blocks one step up each axis, by the bits of their number; 0 is the block
/// itself.
fn neighbours(keys: &[u64], key: u64) -> [Option<u32>; 8] {
    let at = coordinates(key);
    std::array::from_fn(|n| {
        let there = [0, 1, 2].map(|k| at[k] + (n as i32 >> k & 1));
        keys.binary_search(&key_of(there)).ok().map(|b| b as u32)
    })
}

/// The triangles of a block.
fn join(patch: &Patch, around: &[Option<u32>; 8], blocks: &[Block]) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for z in 0..NODES - 1 {
        for y in 0..NODES - 1 {
            let row = z * NODES + y;
            let rows = [row, row + 1, row + NODES, row + NODES + 1].map(|r| patch.inside[r]);
            let all = rows.iter().fold(u16::MAX, |a, &r| a & r & r >> 1);
            let any = rows.iter().fold(0, |a, &r| a | r | r >> 1);
            let mut mixed = any & !all & OWN;
            while mixed != 0 {
                let x = mixed.trailing_zeros() as usize;
                mixed &= mixed - 1;
                let pattern = rows
                    .iter()
                    .enumerate()
                    .fold(0, |p, (k, &r)| p | usize::from(r >> x & 3) << (2 * k));
                for t in CASES[pattern].triangles() {
                    let corner = |edge| code(patch, around, blocks, [x, y, z], edge);
                    if let [Some(a), Some(b), Some(c)] = t.map(corner) {
                        triangles.push([a, b, c]);
                    }
                }
            }
        }
    }
    triangles
}

/// The vertex on an edge of the cube at `at`, as [`Patch::triangles`] has it.
/// The block that owns a cut edge always exists, because both ends are among its
/// nodes.
#[inline]
fn code(
    own: &Patch,
    around: &[Option<u32>; 8],
    blocks: &[Block],
    at: [usize; 3],
    edge: u8,
) -> Option<u32> {
    let (offset, axis) = edge_start(edge as usize);
    let mut node = [at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]];
    let mut neighbour = 0;
    for (k, n) in node.iter_mut().enumerate() {
        if *n == CELLS as usize {
            *n = 0;
            neighbour |= 1 << k;
        }
    }
    let patch = if neighbour == 0 {
        own
    } else {
        blocks[around[neighbour]? as usize].surface.as_deref()?
    };
    let row = node[2] * NODES + node[1];
    let before = patch.cut[axis][row] & ((1 << node[0]) - 1);
    let vertex = u32::from(patch.first[axis][row]) + before.count_ones();
    Some(vertex << 3 | neighbour as u32)
}

/// Copies all blocks into one mesh.
fn gather(blocks: &[Block], around: &[[Option<u32>; 8]]) -> Result<Surface, SurfaceError> {
    let mut vertex_start = Vec::with_capacity(blocks.len() + 1);
    let mut triangle_count = 0;
    let mut count = 0usize;
    for block in blocks {
        vertex_start.push(count as u32);
        if let Some(patch) = &block.surface {
            count += patch.vertices.len();
            triangle_count += patch.triangles.len();
        }
        if count > u32::MAX as usize / 8 {
            return Err(SurfaceError::TooLarge { most: u32::MAX / 8 });
        }
    }
    let mut surface = Surface {
        mesh: TriMesh {
            vertices: vec![Vec3::ZERO; count],
            triangles: vec![[0; 3]; triangle_count],
        },
        normals: vec![Vec3::ZERO; count],
    };
    let mut vertices = surface.mesh.vertices.as_mut_slice();
    let mut normals = surface.normals.as_mut_slice();
    let mut triangles = surface.mesh.triangles.as_mut_slice();
    let mut parts = Vec::with_capacity(blocks.len());
    for (block, around) in blocks.iter().zip(around) {
        let Some(patch) = &block.surface else {
            continue;
        };
        let part = (
            front(&mut vertices, patch.vertices.len()),
            front(&mut normals, patch.vertices.len()),
            front(&mut triangles, patch.triangles.len()),
        );
        parts.push((part, patch, around));
    }
    parts
        .into_par_iter()
        .for_each(|((vertices, normals, triangles), patch, around)| {
            vertices.copy_from_slice(&patch.vertices);
            normals.copy_from_slice(&patch.normals);
            let starts = around.map(|n| n.map_or(0, |n| vertex_start[n as usize]));
            for (o, t) in triangles.iter_mut().zip(&patch.triangles) {
                *o = t.map(|code| starts[(code & 7) as usize] + (code >> 3));
            }
        });
    Ok(surface)
}

/// Takes the first `n` off a slice.
fn front<'a, T>(rest: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let (part, after) = std::mem::take(rest).split_at_mut(n);
    *rest = after;
    part
}
