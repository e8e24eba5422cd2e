//! Octree filled by inserting points one by one (Mesit 2010, section 4.2).

use glam::Vec3;

use super::NeighbourSearch;
use super::cells::{finite_bounds, heap_bytes, is_within};
use crate::math::{Aabb, Xyz};

/// A leaf with more points is split.
const LEAF_CAPACITY: u32 = 8;

/// Leaves at this level are never split, so coincident points end in one leaf.
const MAX_LEVEL: u32 = 24;

/// Value of [`Node::count`] that marks a node with children.
const SPLIT: u32 = u32::MAX;

/// End of a list.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Split node: the first of its eight children. Leaf: its first point.
    first: u32,
    /// Leaf: number of points. Split node: `SPLIT`.
    count: u32,
}

const EMPTY_LEAF: Node = Node {
    first: NONE,
    count: 0,
};

/// Recursive subdivision of the bounding box into eight octants. A query
/// descends into the nodes whose box its ball touches.
#[derive(Clone, Debug)]
pub struct Octree {
    bounds: Aabb,
    radius_squared: f32,
    /// Children of one node are neighbours in this array; the root is first.
    nodes: Vec<Node>,
    /// The point after each point in its leaf, or `NONE`.
    next: Vec<u32>,
}

impl Octree {
    /// An octree without points.
    pub fn new() -> Self {
        Self {
            bounds: Aabb::EMPTY,
            radius_squared: 0.0,
            nodes: vec![EMPTY_LEAF],
            next: Vec::new(),
        }
    }

    /// Adds point `i` and returns the level of its leaf; the root is level 0
    /// (`f_addnode` of Mesit 2010).
    fn insert(&mut self, points: Xyz<'_>, i: u32) -> u32 {
        let p = points.get(i as usize);
        let mut node = 0;
        let mut bounds = self.bounds;
        let mut level = 0;
        while self.nodes[node].count == SPLIT {
            let octant = octant_of(p, middle(&bounds));
            node = self.nodes[node].first as usize + octant;
            bounds = octant_box(&bounds, octant);
            level += 1;
        }
        self.push(node, i);
        // Splitting can overfill only the child that got the new point.
        while self.nodes[node].count > LEAF_CAPACITY && level < MAX_LEVEL {
            let center = middle(&bounds);
            self.split(node, points, center);
            let octant = octant_of(p, center);
            node = self.nodes[node].first as usize + octant;
            bounds = octant_box(&bounds, octant);
            level += 1;
        }
        level
    }

    fn push(&mut self, leaf: usize, i: u32) {
        let leaf = &mut self.nodes[leaf];
        self.next[i as usize] = leaf.first;
        leaf.first = i;
        leaf.count += 1;
    }

    /// Turns a leaf into a node with eight children.
    fn split(&mut self, leaf: usize, points: Xyz<'_>, center: Vec3) {
        let children = self.nodes.len();
        let mut i = self.nodes[leaf].first;
        self.nodes[leaf] = Node {
            first: children as u32,
            count: SPLIT,
        };
        self.nodes.extend([EMPTY_LEAF; 8]);
        while i != NONE {
            let following = self.next[i as usize];
            let octant = octant_of(points.get(i as usize), center);
            self.push(children + octant, i);
            i = following;
        }
    }

    fn search(
        &self,
        node: usize,
        bounds: &Aabb,
        points: Xyz<'_>,
        center: Vec3,
        visit: &mut dyn FnMut(u32),
    ) {
        let Node { first, count } = self.nodes[node];
        if count == SPLIT {
            for octant in 0..8 {
                let child = octant_box(bounds, octant);
                if child.distance_squared(center) <= self.radius_squared {
                    self.search(first as usize + octant, &child, points, center, visit);
                }
            }
        } else {
            let mut i = first;
            while i != NONE {
                if is_within(points, i, center, self.radius_squared) {
                    visit(i);
                }
                i = self.next[i as usize];
            }
        }
    }
}

/// Middle of a box, without overflow.
#[inline]
fn middle(bounds: &Aabb) -> Vec3 {
    0.5 * bounds.min + 0.5 * bounds.max
}

/// The octant of `p` around `center`: bit `a` is set on the upper side of axis `a`.
#[inline]
fn octant_of(p: Vec3, center: Vec3) -> usize {
    p.cmpge(center).bitmask() as usize
}

/// The box of an octant. Its corners are taken over unchanged, so a point is
/// always inside the box of its leaf, to the last bit.
#[inline]
fn octant_box(bounds: &Aabb, octant: usize) -> Aabb {
    let center = middle(bounds);
    let upper = glam::BVec3::new(octant & 1 != 0, octant & 2 != 0, octant & 4 != 0);
    Aabb {
        min: Vec3::select(upper, center, bounds.min),
        max: Vec3::select(upper, bounds.max, center),
    }
}

impl Default for Octree {
    fn default() -> Self {
        Self::new()
    }
}

impl NeighbourSearch for Octree {
    fn name(&self) -> &'static str {
        "octree"
    }

    fn build(&mut self, points: Xyz<'_>, radius: f32) {
        self.bounds = finite_bounds(points);
        self.radius_squared = radius * radius;
        self.nodes.clear();
        self.nodes.push(EMPTY_LEAF);
        self.next.clear();
        self.next.resize(points.len(), NONE);
        for i in 0..points.len() as u32 {
            self.insert(points, i);
        }
    }

    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32)) {
        if self.bounds.distance_squared(center) <= self.radius_squared {
            self.search(0, &self.bounds, points, center, visit);
        }
    }

    fn bytes(&self) -> usize {
        heap_bytes(&self.nodes) + heap_bytes(&self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    #[test]
    fn insertion_returns_the_level() {
        // Eight points fit the root; the ninth splits it into octants.
        let points: XyzVec = (0..9)
            .map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2 & 1) as f32))
            .collect();
        let mut tree = Octree::new();
        tree.build(XyzVec::default().view(), 1.0);
        tree.bounds = finite_bounds(points.view());
        tree.next.resize(9, NONE);
        let levels: Vec<u32> = (0..9).map(|i| tree.insert(points.view(), i)).collect();
        assert_eq!(levels, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(tree.nodes.len(), 9);
    }

    #[test]
    fn coincident_points_share_a_leaf_of_the_last_level() {
        let mut points: XyzVec = (0..1000).map(|_| Vec3::splat(0.3)).collect();
        points.push(Vec3::ZERO);
        points.push(Vec3::ONE);
        let mut tree = Octree::new();
        tree.build(points.view(), 0.1);
        assert!(tree.nodes.len() <= 1 + 8 * MAX_LEVEL as usize);
        let mut found = 0;
        tree.for_each_within(points.view(), Vec3::splat(0.3), &mut |_| found += 1);
        assert_eq!(found, 1000);
    }
}
