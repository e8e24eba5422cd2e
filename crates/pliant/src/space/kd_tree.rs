//! Balanced k-d tree in flat arrays.

use glam::Vec3;

use super::NeighbourSearch;
use super::cells::{heap_bytes, is_within};
use crate::math::Xyz;

/// Ranges of at most this many points are not split further.
const LEAF_SIZE: usize = 8;

/// k-d tree (Grahn 2008, ch. 4) split at the median of the widest axis.
///
/// The tree is implicit: a node is a range of `order`, its splitting point is in
/// the middle, its children are the ranges before and after.
#[derive(Clone, Debug, Default)]
pub struct KdTree {
    radius_squared: f32,
    order: Vec<u32>,
    /// Splitting axis of the node whose middle is here.
    axis: Vec<u8>,
}

impl KdTree {
    /// A tree without points.
    pub fn new() -> Self {
        Self::default()
    }

    fn search(
        &self,
        (low, high): (usize, usize),
        points: Xyz<'_>,
        center: Vec3,
        visit: &mut dyn FnMut(u32),
    ) {
        if high - low <= LEAF_SIZE {
            for &i in &self.order[low..high] {
                if is_within(points, i, center, self.radius_squared) {
                    visit(i);
                }
            }
            return;
        }
        let mid = low.midpoint(high);
        let i = self.order[mid];
        let axis = usize::from(self.axis[mid]);
        // All points on one side are at least this far on the axis, also after
        // rounding, which is monotone.
        let ahead = center[axis] - points.get(i as usize)[axis];
        let crosses = ahead * ahead <= self.radius_squared;
        if ahead <= 0.0 || crosses {
            self.search((low, mid), points, center, visit);
        }
        if is_within(points, i, center, self.radius_squared) {
            visit(i);
        }
        if ahead >= 0.0 || crosses {
            self.search((mid + 1, high), points, center, visit);
        }
    }
}

/// Orders `order` and `axis`, the arrays of one node, and of all nodes below.
fn split(order: &mut [u32], axis: &mut [u8], points: Xyz<'_>) {
    if order.len() <= LEAF_SIZE {
        return;
    }
    let mid = order.len() / 2;
    let widest = widest_axis(order, points);
    let coordinate = [points.x, points.y, points.z][widest];
    // The index decides between equal coordinates: the tree depends on nothing
    // but the points.
    order.select_nth_unstable_by(mid, |&a, &b| {
        coordinate[a as usize]
            .total_cmp(&coordinate[b as usize])
            .then(a.cmp(&b))
    });
    axis[mid] = widest as u8;
    let (before, after) = order.split_at_mut(mid);
    let (axis_before, axis_after) = axis.split_at_mut(mid);
    split(before, axis_before, points);
    split(&mut after[1..], &mut axis_after[1..], points);
}

/// The axis on which the points are spread most.
fn widest_axis(order: &[u32], points: Xyz<'_>) -> usize {
    let bounds = crate::math::Aabb::of(order.iter().map(|&i| points.get(i as usize)));
    let size = bounds.size();
    let mut widest = 0;
    for axis in 1..3 {
        if size[axis] > size[widest] {
            widest = axis;
        }
    }
    widest
}

impl NeighbourSearch for KdTree {
    fn name(&self) -> &'static str {
        "k-d tree"
    }

    fn build(&mut self, points: Xyz<'_>, radius: f32) {
        self.radius_squared = radius * radius;
        // Points that are not numbers are near nothing and would have no place
        // in the order.
        self.order.clear();
        self.order
            .extend((0..points.len() as u32).filter(|&i| points.get(i as usize).is_finite()));
        self.axis.clear();
        self.axis.resize(self.order.len(), 0);
        split(&mut self.order, &mut self.axis, points);
    }

    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32)) {
        self.search((0, self.order.len()), points, center, visit);
    }

    fn bytes(&self) -> usize {
        heap_bytes(&self.order) + heap_bytes(&self.axis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    #[test]
    fn every_node_splits_its_points() {
        let points: XyzVec = (0..500)
            .map(|i| {
                let t = i as f32;
                Vec3::new((t * 1.7).sin(), (t * 2.3).cos() * 3.0, (t * 0.9).sin())
            })
            .collect();
        let view = points.view();
        let mut tree = KdTree::new();
        tree.build(view, 0.1);
        let mut ranges = vec![(0, 500)];
        let mut nodes = 0;
        while let Some((low, high)) = ranges.pop() {
            if high - low <= LEAF_SIZE {
                continue;
            }
            nodes += 1;
            let mid = usize::midpoint(low, high);
            let axis = usize::from(tree.axis[mid]);
            let at = |slot: usize| view.get(tree.order[slot] as usize)[axis];
            assert!((low..mid).all(|slot| at(slot) <= at(mid)));
            assert!((mid + 1..high).all(|slot| at(slot) >= at(mid)));
            ranges.extend([(low, mid), (mid + 1, high)]);
        }
        assert!(nodes > 60, "{nodes} nodes");
    }
}
