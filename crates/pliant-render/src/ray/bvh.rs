//! A hierarchy of boxes over triangles and spheres, for rays.

use glam::Vec3;

/// Sets of boxes that the surface area heuristic chooses between.
const BINS: usize = 16;
/// Most primitives of a leaf that no split improves.
const LEAF: usize = 4;
/// Deepest path through the tree.
const STACK: usize = 64;

/// What rays can meet. Primitive `k` is triangle `k`, or sphere `k - triangles`.
#[derive(Debug, Default)]
pub(crate) struct Primitives {
    /// A corner and the two edges from it.
    pub triangles: Vec<[Vec3; 3]>,
    /// Centres and radii.
    pub spheres: Vec<(Vec3, f32)>,
}

impl Primitives {
    fn len(&self) -> usize {
        self.triangles.len() + self.spheres.len()
    }

    fn bounds(&self, k: usize) -> (Vec3, Vec3) {
        match self.triangles.get(k) {
            Some(&[a, ab, ac]) => {
                let (b, c) = (a + ab, a + ac);
                (a.min(b).min(c), a.max(b).max(c))
            }
            None => {
                let (centre, radius) = self.spheres[k - self.triangles.len()];
                (centre - radius, centre + radius)
            }
        }
    }
}

/// Where a ray meets a primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RayHit {
    /// Distance along the ray, in lengths of its direction.
    pub t: f32,
    /// Number of the primitive.
    pub primitive: u32,
    /// Weights of the second and third corner of a triangle.
    pub u: f32,
    pub v: f32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    min: Vec3,
    /// First primitive of a leaf, or the first of two children.
    first: u32,
    max: Vec3,
    /// Primitives of a leaf; 0 for an inner node.
    count: u32,
}

/// The tree. Primitives that are not finite are left out.
#[derive(Debug)]
pub(crate) struct RayBvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
    primitives: Primitives,
}

impl RayBvh {
    pub fn new(primitives: Primitives) -> RayBvh {
        let boxes: Vec<(Vec3, Vec3)> = (0..primitives.len())
            .map(|k| primitives.bounds(k))
            .collect();
        let mut order: Vec<u32> = (0..boxes.len() as u32)
            .filter(|&k| boxes[k as usize].0.is_finite() && boxes[k as usize].1.is_finite())
            .collect();
        let mut nodes = vec![Node {
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
            first: 0,
            count: order.len() as u32,
        }];
        let mut open = vec![(0usize, 0usize)];
        while let Some((n, depth)) = open.pop() {
            let (from, count) = (nodes[n].first as usize, nodes[n].count as usize);
            let part = &mut order[from..from + count];
            let (min, max) = around(part, &boxes);
            (nodes[n].min, nodes[n].max) = (min, max);
            if depth + 2 >= STACK {
                continue;
            }
            let Some(left) = divide(part, &boxes) else {
                continue;
            };
            let first = nodes.len();
            nodes[n].first = first as u32;
            nodes[n].count = 0;
            for (start, count) in [(from, left), (from + left, count - left)] {
                nodes.push(Node {
                    min: Vec3::ZERO,
                    max: Vec3::ZERO,
                    first: start as u32,
                    count: count as u32,
                });
            }
            open.push((first + 1, depth + 1));
            open.push((first, depth + 1));
        }
        RayBvh {
            nodes,
            order,
            primitives,
        }
    }

    /// Number of triangles; primitives from here on are spheres.
    pub fn triangle_count(&self) -> usize {
        self.primitives.triangles.len()
    }

    /// The triangle of a primitive: a corner and two edges.
    pub fn triangle(&self, primitive: u32) -> Option<&[Vec3; 3]> {
        self.primitives.triangles.get(primitive as usize)
    }

    /// The sphere of a primitive that is not a triangle.
    pub fn sphere(&self, primitive: u32) -> (Vec3, f32) {
        self.primitives.spheres[primitive as usize - self.primitives.triangles.len()]
    }

    /// The first primitive between `from` and `to` along the ray.
    pub fn first(&self, origin: Vec3, direction: Vec3, from: f32, to: f32) -> Option<RayHit> {
        let mut best: Option<RayHit> = None;
        self.visit(origin, direction, from, to, |hit| {
            let nearer =
                best.is_none_or(|b| hit.t < b.t || (hit.t == b.t && hit.primitive < b.primitive));
            if nearer {
                best = Some(hit);
            }
            best.map_or(to, |b| b.t)
        });
        best
    }

    /// All primitives along the ray, in no order. A sphere gives its near side.
    pub fn all(&self, origin: Vec3, direction: Vec3, to: f32, mut visit: impl FnMut(RayHit)) {
        self.visit(origin, direction, 0.0, to, |hit| {
            visit(hit);
            to
        });
    }

    /// Calls `found` with hits before the limit that it last returned.
    fn visit(
        &self,
        origin: Vec3,
        direction: Vec3,
        from: f32,
        to: f32,
        mut found: impl FnMut(RayHit) -> f32,
    ) {
        let inverse = direction.recip();
        let enter = |node: &Node, limit: f32| {
            let (a, b) = ((node.min - origin) * inverse, (node.max - origin) * inverse);
            let near = a.min(b).max_element().max(from);
            // A little slack: rounding must not lose a flat box.
            let far = a.max(b).min_element() * (1.0 + 4e-7);
            if near <= far.min(limit) {
                near
            } else {
                f32::INFINITY
            }
        };
        let mut limit = to;
        let mut stack = [(0.0f32, 0u32); STACK];
        let mut len = 1;
        while len > 0 {
            len -= 1;
            let (near, index) = stack[len];
            if near > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count > 0 {
                for &k in &self.order[node.first as usize..(node.first + node.count) as usize] {
                    if let Some(hit) = self.meet(k, origin, direction, from, limit) {
                        limit = found(hit);
                    }
                }
            } else if node.first > 0 {
                let mut a = (enter(&self.nodes[node.first as usize], limit), node.first);
                let mut b = (
                    enter(&self.nodes[node.first as usize + 1], limit),
                    node.first + 1,
                );
                if a.0 > b.0 {
                    (a, b) = (b, a);
                }
                for child in [b, a] {
                    if child.0 < f32::INFINITY {
                        stack[len] = child;
                        len += 1;
                    }
                }
            }
        }
    }

    #[inline]
    fn meet(&self, k: u32, origin: Vec3, direction: Vec3, from: f32, to: f32) -> Option<RayHit> {
        match self.primitives.triangles.get(k as usize) {
            Some(triangle) => meet_triangle(triangle, origin, direction, from, to),
            None => {
                let (centre, radius) = self.sphere(k);
                let d = origin - centre;
                let a = direction.length_squared();
                let half = d.dot(direction);
                // Distance of the ray from the centre, without cancellation.
                let off = d - direction * (half / a);
                let square = radius * radius - off.length_squared();
                (square >= 0.0)
                    .then(|| (-half - (a * square).sqrt()) / a)
                    .filter(|&t| t > from && t < to)
                    .map(|t| (t, 0.0, 0.0))
            }
        }
        .map(|(t, u, v)| RayHit {
            t,
            primitive: k,
            u,
            v,
        })
    }
}

/// Möller & Trumbore 1997. Borders count as inside, so that a ray does not slip
/// between two triangles.
#[inline]
fn meet_triangle(
    [a, ab, ac]: &[Vec3; 3],
    origin: Vec3,
    direction: Vec3,
    from: f32,
    to: f32,
) -> Option<(f32, f32, f32)> {
    const BORDER: f32 = -1e-6;
    let p = direction.cross(*ac);
    let det = ab.dot(p);
    if det == 0.0 {
        return None;
    }
    let inverse = 1.0 / det;
    let s = origin - *a;
    let u = s.dot(p) * inverse;
    let q = s.cross(*ab);
    let v = direction.dot(q) * inverse;
    let t = ac.dot(q) * inverse;
    (u >= BORDER && v >= BORDER && u + v <= 1.0 - BORDER && t > from && t < to).then_some((t, u, v))
}

fn around(part: &[u32], boxes: &[(Vec3, Vec3)]) -> (Vec3, Vec3) {
    part.iter().map(|&k| boxes[k as usize]).fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(min, max), (a, b)| (min.min(a), max.max(b)),
    )
}

fn half_area((min, max): (Vec3, Vec3)) -> f32 {
    let s = (max - min).max(Vec3::ZERO);
    s.x * s.y + s.y * s.z + s.z * s.x
}

/// Divides a node where the surface area heuristic finds it cheapest, and returns
/// the size of the first part; `None` for a leaf.
fn divide(part: &mut [u32], boxes: &[(Vec3, Vec3)]) -> Option<usize> {
    if part.len() <= LEAF {
        return None;
    }
    let middle = |k: u32| 0.5 * (boxes[k as usize].0 + boxes[k as usize].1);
    let (low, high) = part
        .iter()
        .map(|&k| middle(k))
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), m| {
            (a.min(m), b.max(m))
        });
    let size = high - low;
    let axis = size.max_position();
    if size[axis] <= 0.0 {
        // All in one place: halves are as good as anything.
        return Some(part.len() / 2);
    }
    let scale = BINS as f32 * 0.999_99 / size[axis];
    let bin = |k: u32| (((middle(k)[axis] - low[axis]) * scale) as usize).min(BINS - 1);
    let empty = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let mut bins = [(0usize, empty); BINS];
    for &k in part.iter() {
        let (count, b) = &mut bins[bin(k)];
        *count += 1;
        let (min, max) = boxes[k as usize];
        *b = (b.0.min(min), b.1.max(max));
    }
    let join = |a: (Vec3, Vec3), b: (Vec3, Vec3)| (a.0.min(b.0), a.1.max(b.1));
    let mut right = [0.0f32; BINS];
    let (mut count, mut all) = (0, empty);
    for k in (1..BINS).rev() {
        count += bins[k].0;
        all = join(all, bins[k].1);
        right[k] = count as f32 * half_area(all);
    }
    let (mut count, mut all) = (0, empty);
    let mut best = (f32::INFINITY, 0);
    for k in 0..BINS - 1 {
        count += bins[k].0;
        all = join(all, bins[k].1);
        let cost = count as f32 * half_area(all) + right[k + 1];
        if count > 0 && count < part.len() && cost < best.0 {
            best = (cost, k);
        }
    }
    // Both outermost bins hold something, so some split always counts.
    let mut left = 0;
    let mut sorted: Vec<u32> = Vec::with_capacity(part.len());
    sorted.extend(part.iter().filter(|&&k| bin(k) <= best.1));
    left += sorted.len();
    sorted.extend(part.iter().filter(|&&k| bin(k) > best.1));
    part.copy_from_slice(&sorted);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ray::Noise;

    #[test]
    fn the_tree_finds_what_looking_at_all_finds() {
        let mut noise = Noise::new(1, 2, 3);
        let mut vector =
            |scale: f32| scale * (Vec3::new(noise.next(), noise.next(), noise.next()) - 0.5);
        let make = |vector: &mut dyn FnMut(f32) -> Vec3| Primitives {
            triangles: (0..300)
                .map(|_| [vector(4.0), vector(1.0), vector(1.0)])
                .collect(),
            spheres: (0..100).map(|_| (vector(4.0), 0.1)).collect(),
        };
        let bvh = RayBvh::new(make(&mut vector));
        let mut hits = 0;
        for _ in 0..500 {
            let origin = vector(8.0);
            let direction = (vector(3.0) - origin).normalize();
            let found = bvh.first(origin, direction, 1e-4, f32::INFINITY);
            let mut expected: Option<RayHit> = None;
            for k in 0..bvh.primitives.len() as u32 {
                let limit = expected.map_or(f32::INFINITY, |e| e.t);
                expected = bvh.meet(k, origin, direction, 1e-4, limit).or(expected);
            }
            assert_eq!(found, expected);
            hits += usize::from(found.is_some());
            let mut count = 0;
            bvh.all(origin, direction, f32::INFINITY, |hit| {
                count += u32::from(hit.t > 1e-4)
            });
            assert_eq!(count > 0, found.is_some());
        }
        assert!(hits > 50, "{hits}");
        assert_eq!(
            RayBvh::new(Primitives::default()).first(Vec3::ZERO, Vec3::X, 0.0, 9.0),
            None
        );
    }
}
