//! Points grouped by bucket in two flat arrays: the table of the hash structures.

use super::cells::heap_bytes;

/// Items `0..n` sorted by bucket; items of one bucket keep their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    /// The items of bucket `b` are `items[start[b]..start[b + 1]]`.
    start: Vec<u32>,
    items: Vec<u32>,
    /// Bucket of each item.
    keys: Vec<u32>,
}

impl Buckets {
    /// Sorts items `0..items` into `buckets` buckets by `bucket_of`, which must
    /// stay below `buckets`.
    pub fn fill(&mut self, items: usize, buckets: usize, bucket_of: impl Fn(usize) -> u32) {
        self.keys.clear();
        self.keys.extend((0..items).map(bucket_of));
        self.start.clear();
        self.start.resize(buckets + 1, 0);
        for &key in &self.keys {
            self.start[key as usize] += 1;
        }
        let mut end = 0;
        for count in &mut self.start {
            end += *count;
            *count = end;
        }
        // Backwards from the end of each bucket: afterwards `start` is the
        // beginning, and equal keys are in ascending order.
        self.items.clear();
        self.items.resize(items, 0);
        for (i, &key) in self.keys.iter().enumerate().rev() {
            let slot = &mut self.start[key as usize];
            *slot -= 1;
            self.items[*slot as usize] = i as u32;
        }
    }

    /// The items of all buckets, one bucket after the other.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// The positions of bucket `b` in [`Buckets::items`].
    #[inline]
    pub fn range(&self, b: u32) -> std::ops::Range<usize> {
        self.start[b as usize] as usize..self.start[b as usize + 1] as usize
    }

    /// The items of bucket `b`.
    #[inline]
    pub fn of(&self, b: u32) -> &[u32] {
        &self.items[self.range(b)]
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        heap_bytes(&self.start) + heap_bytes(&self.items) + heap_bytes(&self.keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_grouped_and_stable() {
        let keys = [2u32, 0, 2, 3, 0, 2];
        let mut buckets = Buckets::default();
        for _ in 0..2 {
            buckets.fill(keys.len(), 4, |i| keys[i]);
            assert_eq!(buckets.of(0), [1, 4]);
            assert_eq!(buckets.of(1), [0u32; 0]);
            assert_eq!(buckets.of(2), [0, 2, 5]);
            assert_eq!(buckets.of(3), [3]);
            assert_eq!(buckets.items(), [1, 4, 0, 2, 5, 3]);
        }
    }
}
