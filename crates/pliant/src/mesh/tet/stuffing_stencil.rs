//! The part of one lattice tetrahedron that is inside the surface.
//!
//! Every cut edge has one cut. What is left of a tetrahedron is a smaller one, a
//! pyramid or a prism; the last two have faces with four corners, whose diagonals
//! must be the same for both neighbours. Labelle & Shewchuk 2007: of a face with two
//! corners inside, the diagonal goes to the cut of the long edge, the shorter way;
//! where both cut edges are short, from the corner with the smaller number.

/// Where a lattice point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    In,
    On,
    Out,
}

impl Sign {
    pub(super) fn of(depth: f32) -> Sign {
        if depth > 0.0 {
            Sign::In
        } else if depth < 0.0 {
            Sign::Out
        } else {
            Sign::On
        }
    }
}

/// A corner of a part: a corner of the tetrahedron (twice the same number), or the
/// cut of an edge from a corner inside to one outside.
pub(super) type Corner = [usize; 2];

/// At most three parts.
#[derive(Default)]
pub(super) struct Parts {
    list: [[Corner; 4]; 3],
    len: usize,
}

impl Parts {
    fn push(&mut self, part: [Corner; 4]) {
        self.list[self.len] = part;
        self.len += 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[Corner; 4]> {
        self.list[..self.len].iter()
    }
}

/// The parts of a tetrahedron whose corners have these signs; `long` tells which of
/// its edges are long, `number` names its corners in all tetrahedra alike.
pub(super) fn parts(
    signs: [Sign; 4],
    long: &dyn Fn(usize, usize) -> bool,
    number: [usize; 4],
) -> Parts {
    let with = |sign: Sign| {
        let mut found = [0; 4];
        let mut n = 0;
        for (i, _) in signs.iter().enumerate().filter(|(_, s)| **s == sign) {
            found[n] = i;
            n += 1;
        }
        (found, n)
    };
    let (inside, ins) = with(Sign::In);
    let (on, ons) = with(Sign::On);
    let (outside, outs) = with(Sign::Out);
    let whole = |v: usize| [v, v];
    // Of the face a, b (inside), c (outside): does the diagonal start at `a`?
    let starts_at = |a: usize, b: usize, c: usize| match (long(a, c), long(b, c)) {
        (false, true) => true,
        (true, false) => false,
        _ => number[a] < number[b],
    };
    let mut parts = Parts::default();
    match (ins, outs) {
        (0, _) => {}
        (_, 0) => parts.push([0, 1, 2, 3].map(whole)),
        (1, _) => {
            let a = inside[0];
            let mut part = [whole(a); 4];
            for (slot, &c) in part[1..].iter_mut().zip(&outside[..outs]) {
                *slot = [a, c];
            }
            for (slot, &z) in part[1 + outs..].iter_mut().zip(&on[..ons]) {
                *slot = whole(z);
            }
            parts.push(part);
        }
        (2, 1) => {
            let (a, b, c, apex) = (inside[0], inside[1], outside[0], whole(on[0]));
            let (ca, cb) = ([a, c], [b, c]);
            if starts_at(a, b, c) {
                parts.push([apex, whole(a), whole(b), cb]);
                parts.push([apex, whole(a), cb, ca]);
            } else {
                parts.push([apex, whole(b), cb, ca]);
                parts.push([apex, whole(b), ca, whole(a)]);
            }
        }
        (2, _) => {
            let (a, b) = (inside[0], inside[1]);
            let (c, d) = (outside[0], outside[1]);
            let (first, second) = (starts_at(a, b, c), starts_at(a, b, d));
            let ends = [[whole(a), [a, c], [a, d]], [whole(b), [b, c], [b, d]]];
            // On the surface both diagonals will do, unless the other two go around:
            // then it must end the round.
            let third = !first || second;
            prism(ends, [first, third, !second], &mut parts);
        }
        _ => {
            let (a, b, c, d) = (inside[0], inside[1], inside[2], outside[0]);
            let ends = [[a, b, c].map(whole), [[a, d], [b, d], [c, d]]];
            let way = [starts_at(a, b, d), starts_at(b, c, d), starts_at(c, a, d)];
            prism(ends, way, &mut parts);
        }
    }
    parts
}

/// Cuts a prism with the triangles `lower` and `upper` into three. `way[i]` tells
/// whether the diagonal of the side between corners i and i + 1 starts at the lower
/// corner i, or else at the lower corner i + 1. Not all may be equal.
fn prism([lower, upper]: [[Corner; 3]; 2], way: [bool; 3], parts: &mut Parts) {
    // The lower corner where two diagonals start.
    let i = (0..3).find(|&i| way[i] && !way[(i + 2) % 3]).unwrap_or(0);
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    parts.push([lower[i], upper[0], upper[1], upper[2]]);
    if way[j] {
        parts.push([lower[i], lower[j], lower[k], upper[k]]);
        parts.push([lower[i], lower[j], upper[k], upper[j]]);
    } else {
        parts.push([lower[i], lower[j], lower[k], upper[j]]);
        parts.push([lower[i], lower[k], upper[k], upper[j]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// With all cuts in the middle, the parts of every sign pattern and its
    /// opposite fill the tetrahedron.
    #[test]
    fn parts_and_their_complement_fill_the_tetrahedron() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let long = |a: usize, b: usize| a / 2 == b / 2;
        for pattern in 0..16u32 {
            let sign = |flip: u32| {
                std::array::from_fn(|i| {
                    if (pattern >> i & 1) ^ flip == 1 {
                        Sign::In
                    } else {
                        Sign::Out
                    }
                })
            };
            for number in [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]] {
                let volume: f64 = [sign(0), sign(1)]
                    .iter()
                    .flat_map(|&s| {
                        let parts = parts(s, &long, number);
                        let volumes: Vec<f64> = parts.iter().map(|p| volume(&corners, p)).collect();
                        assert!(volumes.iter().all(|&v| v > 1e-3));
                        volumes
                    })
                    .sum();
                assert!((volume - 1.0 / 6.0).abs() < 1e-7, "{pattern:04b}: {volume}");
            }
        }
    }

    fn volume(corners: &[Vec3; 4], part: &[Corner; 4]) -> f64 {
        let place = |[a, b]: Corner| 0.5 * (corners[a] + corners[b]);
        crate::mesh::tet::tet_mesh::signed_volume(part.map(place)).abs()
    }
}
