//! Building the box hierarchy of [`super::Bvh`], top-down.

use glam::Vec3;

use super::gathered::Gathered;
use crate::math::Aabb;
use crate::simd::WIDTH;

/// How a set of triangles is divided in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Split {
    /// Where the surface area heuristic expects the fewest tests (Wald 2007, binned).
    #[default]
    SurfaceArea,
    /// At the median of the longest side (Grahn 2008, section 4.2).
    LongestSide,
}

/// A box and what is in it: children `first` and `first + 1` if it has no triangles,
/// otherwise the triangles from `first` on.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Node {
    pub min: Vec3,
    pub first: u32,
    pub max: Vec3,
    /// Number of triangles, and above [`COUNT_BITS`] the number of the leaf.
    count: u32,
}

impl Node {
    #[inline]
    pub fn is_leaf(&self) -> bool {
        self.count > 0
    }

    /// False for the root of an empty mesh; no other node has the root for a child.
    #[inline]
    pub fn has_children(&self) -> bool {
        self.first > 0
    }

    /// The triangles of a leaf.
    #[inline]
    pub fn triangles(&self) -> std::ops::Range<usize> {
        let first = self.first as usize;
        first..first + (self.count & ((1 << COUNT_BITS) - 1)) as usize
    }

    /// Which of the leaves it is, in the order of the nodes.
    #[inline]
    pub fn leaf(&self) -> usize {
        (self.count >> COUNT_BITS) as usize
    }
}

const COUNT_BITS: u32 = 4;

/// As many triangles as are looked at in one go.
pub(super) const LEAF: usize = WIDTH;
const BINS: usize = 16;
/// Below this depth sets are halved by count, so that no tree is deeper than
/// this plus the bits of a triangle number.
const CAREFUL_DEPTH: u32 = 32;
/// Entries that the stack of a traversal needs at most.
pub(super) const STACK: usize = 72;
/// Cost of stepping into a node against that of testing a triangle.
const NODE_COST: f32 = 0.8;

struct Item {
    bounds: Aabb,
    center: Vec3,
    id: u32,
}

/// The nodes, root first, and the triangles in the order of the leaves.
pub(super) fn build(triangles: &[Gathered], split: Split) -> (Vec<Node>, Vec<Gathered>) {
    let mut items: Vec<Item> = triangles
        .iter()
        .map(|t| {
            let bounds = Aabb::of(t.corners);
            Item {
                bounds,
                center: bounds.center(),
                id: t.id,
            }
        })
        .collect();
    let mut nodes = Vec::with_capacity(triangles.len().max(1));
    nodes.push(leaf(&items, 0));
    let mut open = vec![(0usize, 0usize, items.len(), 0u32)];
    while let Some((node, first, end, depth)) = open.pop() {
        let set = &mut items[first..end];
        let Some(middle) = divide(set, split, depth) else {
            continue;
        };
        let children = nodes.len();
        nodes.push(leaf(&set[..middle], first));
        nodes.push(leaf(&set[middle..], first + middle));
        nodes[node].first = children as u32;
        nodes[node].count = 0;
        open.push((children + 1, first + middle, end, depth + 1));
        open.push((children, first, first + middle, depth + 1));
    }
    let leaves = nodes.iter_mut().filter(|n| n.is_leaf());
    for (number, leaf) in leaves.enumerate() {
        leaf.count |= (number as u32) << COUNT_BITS;
    }
    let ordered = items.iter().map(|i| triangles[i.id as usize]).collect();
    (nodes, ordered)
}

fn leaf(set: &[Item], first: usize) -> Node {
    let b = set.iter().fold(Aabb::EMPTY, |b, i| b.union(&i.bounds));
    Node {
        min: b.min,
        first: first as u32,
        max: b.max,
        count: set.len() as u32,
    }
}

/// Sorts the set into two parts and returns the size of the first; `None` keeps a leaf.
fn divide(set: &mut [Item], split: Split, depth: u32) -> Option<usize> {
    if set.len() <= LEAF {
        return None;
    }
    let centers = Aabb::of(set.iter().map(|i| i.center));
    if split == Split::SurfaceArea
        && depth < CAREFUL_DEPTH
        && let Some(plane) = cheapest_plane(set, &centers)
    {
        return Some(partition(set, |i| plane.is_below(i.center)));
    }
    let size = centers.size();
    let axis = (0..3)
        .max_by(|&x, &y| size[x].total_cmp(&size[y]))
        .unwrap_or(0);
    let middle = set.len() / 2;
    set.select_nth_unstable_by(middle, |x, y| {
        let by_place = x.center[axis].total_cmp(&y.center[axis]);
        by_place.then(x.id.cmp(&y.id))
    });
    Some(middle)
}

struct Plane {
    axis: usize,
    low: f32,
    bins_per_metre: f32,
    bin: usize,
    cost: f32,
}

impl Plane {
    fn is_below(&self, center: Vec3) -> bool {
        bin_of(center[self.axis], self.low, self.bins_per_metre) < self.bin
    }
}

#[inline]
fn bin_of(x: f32, low: f32, bins_per_metre: f32) -> usize {
    (((x - low) * bins_per_metre) as usize).min(BINS - 1)
}

/// The plane between bins with the least expected cost, in triangle tests.
fn cheapest_plane(set: &[Item], centers: &Aabb) -> Option<Plane> {
    let whole = set.iter().fold(Aabb::EMPTY, |b, i| b.union(&i.bounds));
    let mut best: Option<Plane> = None;
    for axis in 0..3 {
        let (low, width) = (centers.min[axis], centers.size()[axis]);
        let bins_per_metre = BINS as f32 / width;
        if !(width > 0.0 && bins_per_metre.is_finite()) {
            continue;
        }
        let mut bins = [(Aabb::EMPTY, 0usize); BINS];
        for i in set {
            let bin = &mut bins[bin_of(i.center[axis], low, bins_per_metre)];
            bin.0 = bin.0.union(&i.bounds);
            bin.1 += 1;
        }
        let mut above = [(0.0f32, 0usize); BINS];
        let mut sum = (Aabb::EMPTY, 0);
        for b in (1..BINS).rev() {
            sum = (sum.0.union(&bins[b].0), sum.1 + bins[b].1);
            above[b] = (half_area(&sum.0), sum.1);
        }
        let mut sum = (Aabb::EMPTY, 0);
        for b in 1..BINS {
            sum = (sum.0.union(&bins[b - 1].0), sum.1 + bins[b - 1].1);
            if sum.1 == 0 || above[b].1 == 0 {
                continue;
            }
            let tests = half_area(&sum.0) * sum.1 as f32 + above[b].0 * above[b].1 as f32;
            let cost = 2.0 * NODE_COST + tests / half_area(&whole);
            if best.as_ref().is_none_or(|p| cost < p.cost) {
                best = Some(Plane {
                    axis,
                    low,
                    bins_per_metre,
                    bin: b,
                    cost,
                });
            }
        }
    }
    best
}

fn half_area(b: &Aabb) -> f32 {
    let s = b.size();
    s.x * s.y + s.y * s.z + s.z * s.x
}

/// Brings the items that satisfy `is_first` to the front and counts them.
fn partition(set: &mut [Item], is_first: impl Fn(&Item) -> bool) -> usize {
    let mut count = 0;
    for i in 0..set.len() {
        if is_first(&set[i]) {
            set.swap(i, count);
            count += 1;
        }
    }
    count
}
