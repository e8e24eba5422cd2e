//! Boxes sorted along one axis, to find which of them overlap.
//!
//! Along the axis only those that begin before a box ends are looked at, eight at a time.
//! For the thousands of boxes that the surface of a body has, that beats any tree or table.

use std::ops::Range;

use rayon::prelude::*;

use crate::crew::Spread;
use crate::math::Aabb;
use crate::simd::vectors::splat;
use crate::simd::{Lanes, WIDTH, dispatch};

/// Boxes per task.
const CHUNK: usize = 256;

/// Boxes in the order of their lower ends along an axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxSweep {
    axis: usize,
    /// By axis and place; one vector width longer than there are boxes.
    low: [Vec<f32>; 3],
    high: [Vec<f32>; 3],
    /// Which of the boxes given is at each place.
    item: Vec<u32>,
}

impl BoxSweep {
    /// Sorts boxes along an axis.
    pub fn build(&mut self, boxes: &[Aabb], axis: usize) {
        self.axis = axis;
        let begin = |i: u32| boxes[i as usize].min[axis];
        self.item.clear();
        self.item.extend(0..boxes.len() as u32);
        self.item
            .sort_unstable_by(|&a, &b| begin(a).total_cmp(&begin(b)).then(a.cmp(&b)));
        for k in 0..3 {
            let sorted = self.item.iter().map(|&i| &boxes[i as usize]);
            self.low[k].clear();
            self.low[k].extend(sorted.clone().map(|b| b.min[k]));
            self.low[k].extend([f32::INFINITY; WIDTH]);
            self.high[k].clear();
            self.high[k].extend(sorted.map(|b| b.max[k]));
            self.high[k].extend([f32::NEG_INFINITY; WIDTH]);
        }
    }

    /// The box at a place.
    fn at(&self, place: usize) -> Aabb {
        let [min, max] = [&self.low, &self.high].map(|e| [e[0][place], e[1][place], e[2][place]]);
        Aabb {
            min: min.into(),
            max: max.into(),
        }
    }

    /// What `make` makes of every two items whose boxes overlap. Both orders of the items of a
    /// pair may occur, but not twice.
    pub fn pairs<T: Send>(&self, make: impl Fn(u32, u32) -> Option<T> + Sync) -> Vec<T> {
        self.each_chunk(|places, out, found| {
            for place in places {
                let bounds = self.at(place);
                let end = self.begins_by(bounds.max[self.axis]);
                found.clear();
                self.scan(place + 1..end, &bounds, found);
                let items = found.iter().map(|&q| self.item[q as usize]);
                out.extend(items.filter_map(|other| make(self.item[place], other)));
            }
        })
    }

    /// What `make` makes of every item of `self` and every item of `other` whose boxes
    /// overlap. Both are sorted along the same axis.
    pub fn pairs_with<T: Send>(
        &self,
        other: &BoxSweep,
        make: impl Fn(u32, u32) -> Option<T> + Sync,
    ) -> Vec<T> {
        debug_assert!(self.axis == other.axis);
        // Of two that overlap one begins first: each looks for those that begin within it.
        let mut all = self.each_chunk(|places, out, found| {
            for place in places {
                let bounds = self.at(place);
                let (low, high) = (bounds.min[self.axis], bounds.max[self.axis]);
                found.clear();
                other.scan(
                    other.begins_before(low)..other.begins_by(high),
                    &bounds,
                    found,
                );
                let items = found.iter().map(|&q| other.item[q as usize]);
                out.extend(items.filter_map(|theirs| make(self.item[place], theirs)));
            }
        });
        all.extend(other.each_chunk(|places, out, found| {
            for place in places {
                let bounds = other.at(place);
                let (low, high) = (bounds.min[self.axis], bounds.max[self.axis]);
                found.clear();
                self.scan(self.begins_by(low)..self.begins_by(high), &bounds, found);
                let items = found.iter().map(|&q| self.item[q as usize]);
                out.extend(items.filter_map(|own| make(own, other.item[place])));
            }
        }));
        all
    }

    /// Runs `work` on chunks of places side by side, and joins what it finds in order.
    fn each_chunk<T: Send>(
        &self,
        work: impl Fn(Range<usize>, &mut Vec<T>, &mut Vec<u32>) + Sync,
    ) -> Vec<T> {
        let n = self.item.len();
        let parts: Vec<Vec<T>> = (0..n.div_ceil(CHUNK)).into_par_iter().spread_map(|c| {
            let mut out = Vec::new();
            work(
                c * CHUNK..((c + 1) * CHUNK).min(n),
                &mut out,
                &mut Vec::new(),
            );
            out
        });
        parts.into_iter().flatten().collect()
    }

    /// How many boxes begin before `end`.
    fn begins_before(&self, end: f32) -> usize {
        self.low[self.axis][..self.item.len()].partition_point(|&low| low < end)
    }

    /// How many boxes begin before `end`, or there.
    fn begins_by(&self, end: f32) -> usize {
        self.low[self.axis][..self.item.len()].partition_point(|&low| low <= end)
    }

    /// Adds the places in `range` whose boxes overlap `bounds`.
    fn scan(&self, range: Range<usize>, bounds: &Aabb, found: &mut Vec<u32>) {
        let (sweep, start, end) = (self, range.start, range.end.min(self.item.len()));
        dispatch!(scan(
            sweep: &BoxSweep,
            start: usize,
            end: usize,
            bounds: &Aabb,
            found: &mut Vec<u32>,
        ));
    }
}

#[inline(always)]
fn scan<L: Lanes>(
    l: L,
    sweep: &BoxSweep,
    start: usize,
    end: usize,
    bounds: &Aabb,
    found: &mut Vec<u32>,
) {
    let (low, high) = (splat(l, bounds.min), splat(l, bounds.max));
    let mut at = start;
    while at < end {
        let mut mask = l.first(end - at);
        for k in 0..3 {
            // SAFETY: the arrays are one width longer than there are boxes.
            let (from, to) = unsafe { (l.load(&sweep.low[k], at), l.load(&sweep.high[k], at)) };
            mask = l.and(mask, l.and(l.less(from, high[k]), l.less(low[k], to)));
        }
        let mut bits = l.bits(mask);
        while bits != 0 {
            found.push((at as u32) + bits.trailing_zeros());
            bits &= bits - 1;
        }
        at += WIDTH;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use proptest::prelude::*;

    fn boxes() -> impl Strategy<Value = Vec<Aabb>> {
        let one = prop::array::uniform6(0f32..1.0);
        let one = one.prop_map(|[x, y, z, a, b, c]| Aabb {
            min: Vec3::new(x, y, z),
            max: Vec3::new(x, y, z) + 0.4 * Vec3::new(a, b, c) + 1e-3,
        });
        prop::collection::vec(one, 0..60)
    }

    fn sorted(boxes: &[Aabb], axis: usize) -> BoxSweep {
        let mut sweep = BoxSweep::default();
        sweep.build(boxes, axis);
        sweep
    }

    proptest! {
        #[test]
        fn every_overlap_is_found_once(a in boxes(), b in boxes(), axis in 0usize..3) {
            let (first, second) = (sorted(&a, axis), sorted(&b, axis));
            let mut found = first.pairs(|i, k| Some((i.min(k), i.max(k))));
            found.sort_unstable();
            let n = a.len() as u32;
            let all = (0..n).flat_map(|i| (i + 1..n).map(move |k| (i, k)));
            let over = |&(i, k): &(u32, u32)| a[i as usize].overlaps(&a[k as usize]);
            prop_assert_eq!(found, all.filter(over).collect::<Vec<_>>());
            let mut found = first.pairs_with(&second, |i, k| Some((i, k)));
            found.sort_unstable();
            let all = (0..n).flat_map(|i| (0..b.len() as u32).map(move |k| (i, k)));
            let over = |&(i, k): &(u32, u32)| a[i as usize].overlaps(&b[k as usize]);
            prop_assert_eq!(found, all.filter(over).collect::<Vec<_>>());
        }
    }
}
