//! Spatial hash with large primes (Grahn 2008, section 4; after Teschner 2003).

use glam::Vec3;

use super::NeighbourSearch;
use super::buckets::Buckets;
use super::cells::{heap_bytes, is_within, padded_side, wrapped_cell};
use crate::math::Xyz;

/// The primes of Teschner 2003.
const PRIMES: [u32; 3] = [73_856_093, 19_349_663, 83_492_791];

/// One half of the 26 neighbour cells: of every two opposite cells, one.
const HALF_NEIGHBOURS: [[i32; 3]; 13] = [
    [1, 0, 0],
    [-1, 1, 0],
    [0, 1, 0],
    [1, 1, 0],
    [-1, -1, 1],
    [0, -1, 1],
    [1, -1, 1],
    [-1, 0, 1],
    [0, 0, 1],
    [1, 0, 1],
    [-1, 1, 1],
    [0, 1, 1],
    [1, 1, 1],
];

/// An unbounded grid of cells of one radius, stored in a hash table.
///
/// Every entry keeps its cell, so points of other cells in the same bucket are
/// passed over and no point is met twice, even if several of the 27 cells
/// around a query share a bucket.
#[derive(Clone, Debug)]
pub struct PrimeHash {
    inverse_side: f64,
    radius_squared: f32,
    /// Number of buckets, a prime.
    table_size: u32,
    buckets: Buckets,
    /// Cell of every entry, in the order of the buckets.
    cells: Vec<[u32; 3]>,
}

impl PrimeHash {
    /// A hash without points.
    pub fn new() -> Self {
        let mut hash = Self {
            inverse_side: 0.0,
            radius_squared: 0.0,
            table_size: 2,
            buckets: Buckets::default(),
            cells: Vec::new(),
        };
        hash.buckets.fill(0, hash.table_size as usize, |_| 0);
        hash
    }

    /// Calls `visit` once with every pair `i < j` of points within the radius of
    /// each other. Each pair is found once by looking into 13 of the 26 cells
    /// around a point (Grahn 2008, section 7).
    pub fn for_each_pair(&self, points: Xyz<'_>, visit: &mut dyn FnMut(u32, u32)) {
        let items = self.buckets.items();
        for (entry, (&i, &cell)) in items.iter().zip(&self.cells).enumerate() {
            let center = points.get(i as usize);
            let mut meet = |other: usize, of: [u32; 3]| {
                let j = items[other];
                if self.cells[other] == of && is_within(points, j, center, self.radius_squared) {
                    visit(i.min(j), i.max(j));
                }
            };
            for other in entry + 1..self.buckets.range(self.bucket(cell)).end {
                meet(other, cell);
            }
            for offset in HALF_NEIGHBOURS {
                let neighbour = std::array::from_fn(|a| cell[a].wrapping_add_signed(offset[a]));
                for other in self.buckets.range(self.bucket(neighbour)) {
                    meet(other, neighbour);
                }
            }
        }
    }

    #[inline]
    fn cell(&self, p: Vec3) -> [u32; 3] {
        p.to_array().map(|x| wrapped_cell(x, self.inverse_side))
    }

    /// Grahn 2008, section 4: `(i·p0 + j·p1 + k·p2) mod N`.
    #[inline]
    fn bucket(&self, cell: [u32; 3]) -> u32 {
        let sum = (0..3).fold(0u32, |sum, a| {
            sum.wrapping_add(cell[a].wrapping_mul(PRIMES[a]))
        });
        sum % self.table_size
    }
}

impl Default for PrimeHash {
    fn default() -> Self {
        Self::new()
    }
}

impl NeighbourSearch for PrimeHash {
    fn name(&self) -> &'static str {
        "hash primes"
    }

    fn build(&mut self, points: Xyz<'_>, radius: f32) {
        self.inverse_side = 1.0 / padded_side(radius);
        self.radius_squared = radius * radius;
        // Two buckets per point keep most buckets down to one cell.
        self.table_size = next_prime(2 * points.len() as u32);
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.fill(points.len(), self.table_size as usize, |i| {
            self.bucket(self.cell(points.get(i)))
        });
        self.buckets = buckets;
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        cells.extend(
            self.buckets
                .items()
                .iter()
                .map(|&i| self.cell(points.get(i as usize))),
        );
        self.cells = cells;
    }

    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32)) {
        let items = self.buckets.items();
        let [cx, cy, cz] = self.cell(center);
        for dz in -1..=1 {
            for dy in -1..=1 {
                for dx in -1..=1 {
                    let cell = [
                        cx.wrapping_add_signed(dx),
                        cy.wrapping_add_signed(dy),
                        cz.wrapping_add_signed(dz),
                    ];
                    for entry in self.buckets.range(self.bucket(cell)) {
                        if self.cells[entry] == cell
                            && is_within(points, items[entry], center, self.radius_squared)
                        {
                            visit(items[entry]);
                        }
                    }
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        self.buckets.bytes() + heap_bytes(&self.cells)
    }
}

/// The smallest prime that is at least `n`.
fn next_prime(n: u32) -> u32 {
    let is_prime = |&n: &u32| n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0);
    (n..).find(is_prime).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes() {
        let found: Vec<u32> = [0, 2, 3, 4, 8, 24, 90, 2_000_000]
            .into_iter()
            .map(next_prime)
            .collect();
        assert_eq!(found, [2, 2, 3, 5, 11, 29, 97, 2_000_003]);
    }

    #[test]
    fn half_neighbours_and_their_opposites_are_all_26() {
        let mut all: Vec<[i32; 3]> = HALF_NEIGHBOURS
            .iter()
            .flat_map(|&[x, y, z]| [[x, y, z], [-x, -y, -z]])
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 26);
        assert!(!all.contains(&[0, 0, 0]));
    }
}
