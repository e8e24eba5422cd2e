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
use crate::crew::Spread;

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
        .spread(|(c, (pairs, fullness, squares, gradient, share))| {
            let own = &walls.chunks[c];
            let of_body = |m: &Mirror| bodies.of(m.obstacle).is_some();
            if !(0..own.mirrors()).any(|m| of_body(own.mirror(m))) {
                return;
            }
            let concerned = |k: usize| own.of(k).iter().any(of_body);
            pairs.retain(c * CHUNK, concerned, |k, j, slope| {
                let way = x[j] - x[c * CHUNK + k];
                let beyond = |m: &&Mirror| of_body(m) && is_beyond(m, way);
                let mut mine = own.of(k).iter().filter(beyond);
                if !mine.any(|a| walls.of(j).iter().any(|b| is_other_side(a, b, way))) {
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

/// True if what is by `way` from a particle is beyond its wall.
#[inline(always)]
fn is_beyond(mirror: &Mirror, way: Vec3A) -> bool {
    way.dot(mirror.wall.normal.into()) < -mirror.wall.distance
}

/// True if `b`, the wall of a particle by `way` from that of wall `a`, is the other side of
/// the same body, between the two.
fn is_other_side(a: &Mirror, b: &Mirror, way: Vec3A) -> bool {
    a.obstacle == b.obstacle && a.wall.normal.dot(b.wall.normal) < OPPOSITE && is_beyond(b, -way)
}
