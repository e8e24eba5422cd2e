//! The colour field at the nodes of one block: the hot loop of surfaces.

use super::blob::Blob;
use super::blocks::{CELLS, NODES, node_range};
use crate::simd::{Lanes, dispatch};

/// Nodes of a block, x fastest.
pub(super) type Field = [f32; NODES * NODES * NODES];

/// Nodes of a block along each axis, first and end.
pub(super) type Window = [[usize; 2]; 3];

/// All nodes of a block.
pub(super) const WHOLE: Window = [[0, NODES]; 3];

/// Sums the field of `members` at the nodes of a window of the block with these
/// coordinates; the window may be widened to whole halves of rows. Every node adds
/// its blobs in their order, so neighbouring blocks agree to the bit on the nodes
/// they share, and so do windows.
pub(super) fn sum(
    blobs: &[Blob],
    members: &[u32],
    at: [i32; 3],
    cell: f32,
    window: Window,
    field: &mut Field,
) {
    let [x, y, z] = window;
    let window = [[x[0] / 8 * 8, x[1].div_ceil(8) * 8], y, z];
    for z in z[0]..z[1] {
        for y in y[0]..y[1] {
            field[(z * NODES + y) * NODES..][window[0][0]..window[0][1]].fill(0.0);
        }
    }
    dispatch!(add_all(
        blobs: &[Blob],
        members: &[u32],
        at: [i32; 3],
        cell: f32,
        window: Window,
        field: &mut Field,
    ));
}

/// Written over plain arrays: the compiler makes eight lanes of the inner loop
/// when it is inlined into the AVX2 version. There is no fused multiply-add, so
/// all versions give the same bits.
#[inline(always)]
fn add_all<L: Lanes>(
    _lanes: L,
    blobs: &[Blob],
    members: &[u32],
    at: [i32; 3],
    cell: f32,
    window: Window,
    field: &mut Field,
) {
    let inverse_cell = 1.0 / cell;
    let origin = at.map(|b| b * CELLS);
    let mut xs = [0.0f32; NODES];
    for (i, x) in xs.iter_mut().enumerate() {
        *x = (origin[0] + i as i32) as f32 * cell;
    }
    for &m in members {
        let blob = &blobs[m as usize];
        let (low, high) = node_range(blob, inverse_cell);
        let clip = |axis: usize| {
            let [least, most] = window[axis].map(|n| n as i32);
            let first = (low[axis] - origin[axis]).max(least);
            let end = (high[axis] - origin[axis] + 1).min(most);
            (first as usize, end.max(0) as usize)
        };
        let (x0, x1) = clip(0);
        // Whole halves of a row are summed; what is outside the blob adds 0.
        let (half0, half1) = (x0 / 8, x1.div_ceil(8));
        let (y0, y1) = clip(1);
        let (z0, z1) = clip(2);
        if x0 >= x1 || y0 >= y1 || z0 >= z1 {
            continue;
        }
        let [xx, yy, zz, xy, xz, yz] = blob.shape;
        let mut dx = [0.0f32; NODES];
        for (d, x) in dx.iter_mut().zip(&xs) {
            *d = x - blob.center.x;
        }
        for z in z0..z1 {
            let dz = (origin[2] + z as i32) as f32 * cell - blob.center.z;
            for y in y0..y1 {
                let dy = (origin[1] + y as i32) as f32 * cell - blob.center.y;
                // 1 - dᵀ M d along the row, as a polynomial of dx.
                let constant = 1.0 - (yy * dy * dy + zz * dz * dz + 2.0 * yz * dy * dz);
                if constant <= 0.0 && xy == 0.0 && xz == 0.0 {
                    continue;
                }
                let linear = -2.0 * (xy * dy + xz * dz);
                let row = &mut field[(z * NODES + y) * NODES..][..NODES];
                for half in half0..half1 {
                    let dx: &[f32] = &dx[8 * half..8 * half + 8];
                    let row = &mut row[8 * half..8 * half + 8];
                    for k in 0..8 {
                        let t = constant + dx[k] * (linear - xx * dx[k]);
                        let t = if t > 0.0 { t } else { 0.0 };
                        row[k] += blob.weight * (t * t * t);
                    }
                }
            }
        }
    }
}
