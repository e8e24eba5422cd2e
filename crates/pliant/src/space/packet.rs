//! Eight triangles at once: how far each is from a point.

use glam::Vec3;

use super::gathered::Gathered;
use crate::simd::vectors::dot;
use crate::simd::{Lanes, WIDTH};

/// Where a lane holds no triangle, it holds one this far away.
const NOWHERE: f32 = 1e15;

type Lane8 = [f32; WIDTH];

/// Up to eight triangles `a, a + b, a + c`, component by component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    a: [Lane8; 3],
    b: [Lane8; 3],
    c: [Lane8; 3],
    /// Products of the edges: b·b, b·c, c·c.
    bb: Lane8,
    bc: Lane8,
    cc: Lane8,
    /// 1 / (b·b c·c - (b·c)²); not a number for triangles without area.
    inverse_area: Lane8,
    /// 1 / squared length of the edges b, c and from b to c.
    inverse_edge: [Lane8; 3],
}

impl Packet {
    /// At most eight triangles.
    pub fn new(triangles: &[Gathered]) -> Packet {
        let mut packet = Packet {
            a: [[NOWHERE; WIDTH]; 3],
            b: [[0.0; WIDTH]; 3],
            c: [[0.0; WIDTH]; 3],
            bb: [0.0; WIDTH],
            bc: [0.0; WIDTH],
            cc: [0.0; WIDTH],
            inverse_area: [f32::NAN; WIDTH],
            inverse_edge: [[0.0; WIDTH]; 3],
        };
        for (l, t) in triangles.iter().enumerate() {
            let [a, b, c] = t.corners.map(|v| v.as_dvec3());
            let (b, c) = (b - a, c - a);
            for axis in 0..3 {
                packet.a[axis][l] = t.corners[0][axis];
                packet.b[axis][l] = b[axis] as f32;
                packet.c[axis][l] = c[axis] as f32;
            }
            packet.bb[l] = b.length_squared() as f32;
            packet.bc[l] = b.dot(c) as f32;
            packet.cc[l] = c.length_squared() as f32;
            let area = b.cross(c).length_squared();
            if area > 1e-12 * b.length_squared() * c.length_squared() {
                packet.inverse_area[l] = (1.0 / area) as f32;
            }
            for (k, edge) in [b, c, c - b].into_iter().enumerate() {
                if edge.length_squared() > 0.0 {
                    packet.inverse_edge[k][l] = (1.0 / edge.length_squared()) as f32;
                }
            }
        }
        packet
    }

    /// The squared distances from `p`, but for rounding.
    #[inline(always)]
    pub fn distances_squared<L: Lanes>(&self, l: L, p: Vec3) -> L::F {
        let (a, b, c) = (load3(l, &self.a), load3(l, &self.b), load3(l, &self.c));
        let d = [
            l.sub(l.splat(p.x), a[0]),
            l.sub(l.splat(p.y), a[1]),
            l.sub(l.splat(p.z), a[2]),
        ];
        let (db, dc) = (dot(l, d, b), dot(l, d, c));
        let (bb, bc, cc) = (load(l, &self.bb), load(l, &self.bc), load(l, &self.cc));
        let [inverse_b, inverse_c, inverse_far] = load3(l, &self.inverse_edge);
        let (zero, one) = (l.splat(0.0), l.splat(1.0));
        let along_b = clamp(l, l.mul(db, inverse_b));
        let along_c = clamp(l, l.mul(dc, inverse_c));
        let far = l.add(l.sub(l.sub(dc, db), bc), bb);
        let across = clamp(l, l.mul(far, inverse_far));
        let edges = l.min(
            l.min(
                distance_squared(l, d, (along_b, b), (zero, c)),
                distance_squared(l, d, (zero, b), (along_c, c)),
            ),
            distance_squared(l, d, (l.sub(one, across), b), (across, c)),
        );
        let inverse_area = load(l, &self.inverse_area);
        let s = l.mul(l.sub(l.mul(cc, db), l.mul(bc, dc)), inverse_area);
        let t = l.mul(l.sub(l.mul(bb, dc), l.mul(bc, db)), inverse_area);
        let least = l.min(l.min(s, t), l.sub(l.sub(one, s), t));
        // False, too, if the triangle has no area.
        let inside = l.less(zero, least);
        l.select(distance_squared(l, d, (s, b), (t, c)), edges, inside)
    }
}

// Functions, not closures: only what is always inlined keeps the vector instructions.

#[inline(always)]
fn load<L: Lanes>(l: L, a: &Lane8) -> L::F {
    // SAFETY: it holds eight numbers.
    unsafe { l.load(a, 0) }
}

#[inline(always)]
fn load3<L: Lanes>(l: L, a: &[Lane8; 3]) -> [L::F; 3] {
    [load(l, &a[0]), load(l, &a[1]), load(l, &a[2])]
}

#[inline(always)]
fn clamp<L: Lanes>(l: L, t: L::F) -> L::F {
    l.min(l.max(t, l.splat(0.0)), l.splat(1.0))
}

/// `|d - s b - t c|²`.
#[inline(always)]
fn distance_squared<L: Lanes>(
    l: L,
    d: [L::F; 3],
    (s, b): (L::F, [L::F; 3]),
    (t, c): (L::F, [L::F; 3]),
) -> L::F {
    let away = [
        l.sub(l.sub(d[0], l.mul(s, b[0])), l.mul(t, c[0])),
        l.sub(l.sub(d[1], l.mul(s, b[1])), l.mul(t, c[1])),
        l.sub(l.sub(d[2], l.mul(s, b[2])), l.mul(t, c[2])),
    ];
    dot(l, away, away)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    proptest! {
        #[test]
        fn distances_are_those_of_single_triangles(
            corners in prop::collection::vec((point(), point(), point()), 1..=8),
            flat in 0usize..8,
            p in point(),
        ) {
            let triangles: Vec<Gathered> = corners
                .iter()
                .enumerate()
                .map(|(i, &(a, b, c))| {
                    // Some have no area.
                    let c = if i == flat { 0.5 * (a + b) } else { c };
                    Gathered::of_corners([a, b, c], i as u32)
                })
                .collect();
            let found = Packet::new(&triangles).distances_squared(Portable, 2.0 * p);
            for (lane, d2) in found.into_iter().enumerate() {
                match triangles.get(lane) {
                    Some(t) => {
                        let expected = t.closest(2.0 * p).0.distance;
                        prop_assert!((d2.sqrt() - expected).abs() < 1e-5);
                    }
                    None => prop_assert!(d2 > 1e20),
                }
            }
        }
    }
}
