//! Liquids on the two sides of a thin body do not see each other.
//!
//! A sheet or a plate may be thinner than the reach of a kernel. Pressure that went from
//! particle to particle through it would not bear on it. So pairs that stand on opposite
//! sides of the same body are taken out of the lists before anything is summed.

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::cubic::CubicSpline;
use super::pairs::{Found, Pairs};
use super::walls::{Mirror, Walls};
use crate::coupling::Bodies;

/// Cosine between the normals that two particles see, below which they stand on opposite
/// sides. At an outer edge of a body they are at right angles.
const OPPOSITE: f32 = -0.3;

/// Takes the pairs that bodies part out of the lists and of what has been summed.
pub(crate) fn part(
    pairs: &mut Pairs,
    x: &[Vec3A],
    walls: &Walls,
    bodies: &Bodies,
    kernel: &CubicSpline,
    found: Found<'_>,
) {
    if bodies.list.is_empty() {
        return;
    }
    let n = x.len();
    (
        &mut pairs.chunks,
        found.fullness[..n].par_chunks_mut(CHUNK),
        found.squares[..n].par_chunks_mut(CHUNK),
        found.gradient[..n].par_chunks_mut(CHUNK),
        found.share[..n].par_chunks_mut(CHUNK),
    )
        .into_par_iter()
        .enumerate()
        .for_each(|(c, (pairs, fullness, squares, gradient, share))| {
            let own = &walls.chunks[c];
            let of_body = |m: &Mirror| bodies.of(m.obstacle).is_some();
            if !(0..own.mirrors()).any(|m| of_body(own.mirror(m))) {
                return;
            }
            let concerned = |k: usize| own.of(k).iter().any(of_body);
            pairs.retain(concerned, |k, j, slope| {
                let mut mine = own.of(k).iter().filter(|m| of_body(m));
                let way = x[j] - x[c * CHUNK + k];
                if !mine.any(|a| walls.of(j).iter().any(|b| parted(a, b, way))) {
                    return true;
                }
                let squared = way.length_squared();
                fullness[k] -= kernel.volume_value(squared);
                squares[k] = (squares[k] - slope * slope * squared).max(0.0);
                gradient[k] += slope * way;
                share[k] += slope * squared / 3.0;
                false
            });
        });
}

/// True if two particles, the second by `way` from the first, are beyond each other's wall.
fn parted(a: &Mirror, b: &Mirror, way: Vec3A) -> bool {
    let (a, b, same) = (&a.wall, &b.wall, a.obstacle == b.obstacle);
    same && a.normal.dot(b.normal) < OPPOSITE
        && way.dot(a.normal.into()) < -a.distance
        && -way.dot(b.normal.into()) < -b.distance
}
