//! Points in a hash table of cells, asked by boxes: what triangles and tetrahedra
//! look up to find the points near them (Teschner et al. 2003).

use glam::{IVec3, Vec3};

use super::buckets::Buckets;
use crate::math::Aabb;

/// The primes of Teschner et al. 2003.
const PRIMES: [u32; 3] = [73_856_093, 19_349_663, 83_492_791];

/// Points by cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxHash {
    inverse_side: f32,
    mask: u32,
    buckets: Buckets,
    /// Cell of every point, so that others in the same bucket are passed over.
    cells: Vec<IVec3>,
}

impl BoxHash {
    /// Sorts points into cells of this side.
    pub fn build(&mut self, points: &[Vec3], side: f32) {
        self.inverse_side = 1.0 / side.max(f32::MIN_POSITIVE);
        // Two buckets per point keep most buckets down to one cell.
        self.mask = (2 * points.len() as u32).next_power_of_two() - 1;
        let inverse_side = self.inverse_side;
        self.cells.clear();
        self.cells
            .extend(points.iter().map(|&p| cell(p, inverse_side)));
        let (cells, mask) = (&self.cells, self.mask);
        self.buckets
            .fill(points.len(), mask as usize + 1, |i| bucket(cells[i]) & mask);
    }

    /// Calls `visit` once with every point whose cell the box touches, in an order that
    /// depends on nothing but the points and the box.
    #[inline]
    pub fn for_each_in(&self, bounds: &Aabb, mut visit: impl FnMut(u32)) {
        let low = cell(bounds.min, self.inverse_side);
        let high = cell(bounds.max, self.inverse_side);
        let span = (high - low).as_i64vec3() + 1;
        if span.x.saturating_mul(span.y).saturating_mul(span.z) > self.cells.len() as i64 {
            let inside = |c: &IVec3| c.cmpge(low).all() && c.cmple(high).all();
            let all = self.cells.iter().enumerate();
            all.filter(|(_, c)| inside(c))
                .for_each(|(i, _)| visit(i as u32));
            return;
        }
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let at = IVec3::new(x, y, z);
                    let found = self.buckets.of(bucket(at) & self.mask);
                    for &i in found.iter().filter(|&&i| self.cells[i as usize] == at) {
                        visit(i);
                    }
                }
            }
        }
    }
}

fn cell(p: Vec3, inverse_side: f32) -> IVec3 {
    (p * inverse_side).floor().as_ivec3()
}

fn bucket(cell: IVec3) -> u32 {
    let [x, y, z] = cell.to_array().map(|c| c as u32);
    let mixed = x.wrapping_mul(PRIMES[0]) ^ y.wrapping_mul(PRIMES[1]) ^ z.wrapping_mul(PRIMES[2]);
    // The low bits of the products alone repeat after few cells.
    mixed ^ (mixed >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_in_a_box_is_found_once() {
        let points: Vec<Vec3> = (0..500)
            .map(|i| {
                let t = i as f32;
                Vec3::new((1.3 * t).sin(), (2.1 * t).cos(), (0.7 * t).sin()) * 3.0
            })
            .collect();
        let mut hash = BoxHash::default();
        for side in [0.05, 0.4, 2.0] {
            hash.build(&points, side);
            for bounds in [
                Aabb {
                    min: Vec3::new(-1.0, -0.5, 0.2),
                    max: Vec3::new(0.3, 1.5, 2.0),
                },
                Aabb {
                    min: Vec3::splat(-4.0),
                    max: Vec3::splat(4.0),
                },
            ] {
                let mut met = vec![0; points.len()];
                hash.for_each_in(&bounds, |i| met[i as usize] += 1);
                for (p, n) in points.iter().zip(met) {
                    assert!(n <= 1);
                    assert!(n == 1 || !bounds.contains(*p), "{p} missed");
                }
            }
        }
    }
}
