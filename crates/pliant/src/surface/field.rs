//! The colour field at the nodes of one block: the hot loop of surfaces.

use super::blob::Blob;
use super::blocks::{CELLS, NODES, node_range};
use crate::simd::{Lanes, dispatch};

/// Nodes of a block, x fastest.
pub(super) type Field = [f32; NODES * NODES * NODES];

/// Sums the field of `members` at the nodes of the block with these coordinates.
/// Every node adds its blobs in their order, so neighbouring blocks agree to the
/// bit on the nodes they share.
pub(super) fn sum(blobs: &[Blob], members: &[u32], at: [i32; 3], cell: f32, field: &mut Field) {
    field.fill(0.0);
    dispatch!(add_all(
        blobs: &[Blob],
        members: &[u32],
        at: [i32; 3],
        cell: f32,
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
    field: &mut Field,
) {
    let inverse_cell = 1.0 / cell;
    let origin = at.map(|b| b * CELLS);
    let last = NODES as i32 - 1;
    let mut xs = [0.0f32; NODES];
    for (i, x) in xs.iter_mut().enumerate() {
        *x = (origin[0] + i as i32) as f32 * cell;
    }
    for &m in members {
        let blob = &blobs[m as usize];
        let (low, high) = node_range(blob, inverse_cell);
        let clip = |axis: usize| {
            let first = (low[axis] - origin[axis]).max(0);
            let end = (high[axis] - origin[axis]).min(last);
            (first as usize, (end + 1).max(0) as usize)
        };
        let (x0, x1) = clip(0);
        // Whole halves of a row are summed; what is outside the blob adds 0.
        let (half0, half1) = (x0 / 8, x1.div_ceil(8));
        let (y0, y1) = clip(1);
        let (z0, z1) = clip(2);
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
