//! The 256 cases of marching cubes (Lorensen & Cline 1987), derived instead of
//! typed in.
//!
//! On every face of a cube the cut edges are joined by a rule that looks at the
//! four corners of that face only: inside corners that meet across a diagonal are
//! kept apart. Two cubes that share a face therefore draw the same lines on it,
//! so the surface has no holes. The lines of a cube close to loops, and loops are
//! cut into triangles by diagonals that do not lie in a face, so that no edge
//! ever gets more than two triangles.
//!
//! Corner `c` of a cube sits at x = bit 0, y = bit 1, z = bit 2 of `c`. Edge
//! `4 * axis + u + 2 * v` runs along `axis` from the corner with offsets `u` and
//! `v` along the next two axes.

use std::sync::LazyLock;

/// Most triangles of a case.
const MOST: usize = 5;

/// The triangles of one case, as edges of the cube.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    count: u8,
    triangles: [[u8; 3]; MOST],
}

impl Case {
    /// Three edges per triangle, counter-clockwise from outside.
    #[inline]
    pub fn triangles(&self) -> &[[u8; 3]] {
        &self.triangles[..self.count as usize]
    }
}

/// The case of every pattern of inside corners: bit `c` for corner `c`.
pub(super) static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| (0..256).map(case).collect());

/// Lower corner and axis of an edge.
#[inline]
pub(super) const fn edge_start(edge: usize) -> ([usize; 3], usize) {
    let axis = edge / 4;
    let mut at = [0; 3];
    at[(axis + 1) % 3] = edge & 1;
    at[(axis + 2) % 3] = (edge >> 1) & 1;
    (at, axis)
}

fn corner_number([x, y, z]: [usize; 3]) -> usize {
    x | y << 1 | z << 2
}

/// The edge between two corners that differ along one axis.
fn edge_between(a: usize, b: usize) -> u8 {
    let axis = (a ^ b).trailing_zeros() as usize;
    let at = a.min(b);
    let bit = |axis: usize| at >> (axis % 3) & 1;
    (4 * axis + bit(axis + 1) + 2 * bit(axis + 2)) as u8
}

/// The corners of the six faces, counter-clockwise seen from outside the cube.
fn faces() -> [[usize; 4]; 6] {
    std::array::from_fn(|f| {
        let (axis, side) = (f / 2, f % 2);
        let at = |u: usize, v: usize| {
            let mut c = [0; 3];
            c[axis] = side;
            c[(axis + 1) % 3] = u;
            c[(axis + 2) % 3] = v;
            corner_number(c)
        };
        let ring = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
        if side == 1 {
            ring
        } else {
            [ring[0], ring[3], ring[2], ring[1]]
        }
    })
}

/// True if the two edges border a common face.
fn share_a_face(a: u8, b: u8) -> bool {
    let in_face = |edge: u8, axis: usize, side: usize| {
        let (at, along) = edge_start(edge as usize);
        along != axis && at[axis] == side
    };
    (0..6).any(|f| in_face(a, f / 2, f % 2) && in_face(b, f / 2, f % 2))
}

fn case(inside: usize) -> Case {
    let mut case = Case {
        count: 0,
        triangles: [[0; 3]; MOST],
    };
    for polygon in loops(inside) {
        let mut triangles = Vec::new();
        // The test below shows that every loop can be cut.
        let _ = cut(&polygon, &mut triangles);
        for t in triangles {
            case.triangles[case.count as usize] = t;
            case.count += 1;
        }
    }
    case
}

/// The closed lines that the surface draws on the cube's faces.
fn loops(inside: usize) -> Vec<Vec<u8>> {
    let is_inside = |c: usize| inside >> c & 1 == 1;
    let mut next = [None::<u8>; 12];
    for ring in faces() {
        for i in 0..4 {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            if !is_inside(a) || is_inside(b) {
                continue;
            }
            // Back over the run of inside corners that ends here.
            let mut k = i;
            while is_inside(ring[(k + 3) % 4]) {
                k = (k + 3) % 4;
            }
            let from = edge_between(ring[(k + 3) % 4], ring[k]);
            next[from as usize] = Some(edge_between(a, b));
        }
    }
    let mut found = Vec::new();
    for start in 0..12 {
        let mut polygon = Vec::new();
        let mut at = start;
        while let Some(to) = next[at].take() {
            polygon.push(at as u8);
            at = to as usize;
        }
        if !polygon.is_empty() {
            found.push(polygon);
        }
    }
    found
}

/// Cuts a polygon into triangles without a diagonal inside a face. False if
/// there is no way to.
fn cut(polygon: &[u8], out: &mut Vec<[u8; 3]>) -> bool {
    let n = polygon.len();
    if n < 3 {
        return n == 2;
    }
    let kept = out.len();
    // The triangle over the first side, by its third corner.
    for k in 2..n {
        let allowed = |i: usize, j: usize| {
            (i + 1) % n == j || (j + 1) % n == i || !share_a_face(polygon[i], polygon[j])
        };
        if !allowed(1, k) || !allowed(0, k) {
            continue;
        }
        out.push([polygon[0], polygon[1], polygon[k]]);
        let mut rest = polygon[k..].to_vec();
        rest.push(polygon[0]);
        if cut(&polygon[1..=k], out) && cut(&rest, out) {
            return true;
        }
        out.truncate(kept);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_can_be_cut_and_every_cut_edge_is_used() {
        for inside in 0..256 {
            let mut corners = 0;
            for polygon in loops(inside) {
                let mut triangles = Vec::new();
                assert!(cut(&polygon, &mut triangles), "case {inside}: {polygon:?}");
                assert_eq!(triangles.len(), polygon.len() - 2);
                corners += polygon.len();
            }
            let cut_edges = (0..12)
                .filter(|&e| {
                    let (at, axis) = edge_start(e);
                    let low = corner_number(at);
                    (inside >> low & 1) != (inside >> (low | 1 << axis) & 1)
                })
                .count();
            assert_eq!(corners, cut_edges, "case {inside}");
            let total: usize = loops(inside).iter().map(|p| p.len() - 2).sum();
            assert!(total <= MOST, "case {inside} has {total} triangles");
        }
    }

    #[test]
    fn one_inside_corner_gives_a_triangle_that_faces_away_from_it() {
        let case = CASES[1];
        assert_eq!(case.triangles().len(), 1);
        let middle = |e: u8| {
            let (at, axis) = edge_start(e as usize);
            let mut p = glam::Vec3::new(at[0] as f32, at[1] as f32, at[2] as f32);
            p[axis] += 0.5;
            p
        };
        let [a, b, c] = case.triangles()[0].map(middle);
        assert!((b - a).cross(c - a).dot(glam::Vec3::ONE) > 0.0);
        assert!(CASES[0].triangles().is_empty() && CASES[255].triangles().is_empty());
    }
}
