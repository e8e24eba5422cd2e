//! Shadows of one far light: the highest surface towards it, on a grid.

use glam::Vec3;
use rayon::prelude::*;

/// Cells along each side of the grid.
const SIDE: usize = 1024;
/// Places looked at for a soft shadow.
const TAPS: usize = 24;
/// Cells along each side of a block of cells.
const BLOCK: usize = 32;
/// Rows that one task fills.
const BAND: usize = 32;

/// Heights towards the light over a square grid across it.
pub(crate) struct ShadowMap {
    right: Vec3,
    up: Vec3,
    /// Unit vector to the light.
    light: Vec3,
    corner: [f32; 2],
    cell: f32,
    bias: f32,
    height: Vec<f32>,
    /// The greatest height in each block, to pass over the open ones.
    block_height: Vec<f32>,
    disc: [(f32, f32); TAPS],
}

impl ShadowMap {
    /// The shadows of `spheres` (centre, radius) and `triangles` in a light from
    /// the unit direction `light`. `None` if there is nothing to cast one.
    pub fn new(light: Vec3, spheres: &[(Vec3, f32)], triangles: &[[Vec3; 3]]) -> Option<ShadowMap> {
        let (right, up) = light.any_orthonormal_pair();
        let across = |p: Vec3| [p.dot(right), p.dot(up)];
        let (mut min, mut max) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        let mut include = |p: Vec3, r: f32| {
            for (k, a) in across(p).into_iter().enumerate() {
                min[k] = min[k].min(a - r);
                max[k] = max[k].max(a + r);
            }
        };
        spheres.iter().for_each(|&(c, r)| include(c, r));
        triangles.iter().flatten().for_each(|&c| include(c, 0.0));
        let extent = (max[0] - min[0]).max(max[1] - min[1]);
        if !extent.is_finite() || extent <= 0.0 {
            return None;
        }
        let cell = extent / SIDE as f32;
        let typical = spheres.first().map_or(0.0, |s| s.1);
        let mut map = ShadowMap {
            right,
            up,
            light,
            corner: min,
            cell,
            bias: 0.25 * typical + 2.0 * cell,
            height: vec![f32::NEG_INFINITY; SIDE * SIDE],
            block_height: Vec::new(),
            disc: sunflower(),
        };
        let mut height = std::mem::take(&mut map.height);
        height
            .par_chunks_mut(BAND * SIDE)
            .enumerate()
            .for_each(|(band, rows)| {
                for &(c, r) in spheres {
                    map.draw_sphere(c, r, band * BAND, rows);
                }
                for t in triangles {
                    map.draw_triangle(t, band * BAND, rows);
                }
            });
        map.block_height = block_heights(&height);
        map.height = height;
        Some(map)
    }

    /// A point as grid column, grid row and height towards the light.
    fn local(&self, p: Vec3) -> Vec3 {
        Vec3::new(
            (p.dot(self.right) - self.corner[0]) / self.cell,
            (p.dot(self.up) - self.corner[1]) / self.cell,
            p.dot(self.light),
        )
    }

    fn draw_sphere(&self, centre: Vec3, radius: f32, first_row: usize, rows: &mut [f32]) {
        let c = self.local(centre);
        let reach = radius / self.cell;
        for y in cells(
            c.y - reach,
            c.y + reach,
            first_row,
            first_row + rows.len() / SIDE,
        ) {
            for x in cells(c.x - reach, c.x + reach, 0, SIDE) {
                let (dx, dy) = (x as f32 + 0.5 - c.x, y as f32 + 0.5 - c.y);
                let inside = reach * reach - dx * dx - dy * dy;
                if inside > 0.0 {
                    let slot = &mut rows[(y - first_row) * SIDE + x];
                    *slot = slot.max(c.z + inside.sqrt() * self.cell);
                }
            }
        }
    }

    fn draw_triangle(&self, corners: &[Vec3; 3], first_row: usize, rows: &mut [f32]) {
        let [a, b, c] = corners.map(|p| self.local(p));
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let (min, max) = (a.min(b).min(c), a.max(b).max(c));
        for y in cells(min.y, max.y, first_row, first_row + rows.len() / SIDE) {
            for x in cells(min.x, max.x, 0, SIDE) {
                let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
                let part =
                    |p: Vec3, q: Vec3| ((q.x - p.x) * (py - p.y) - (q.y - p.y) * (px - p.x)) / area;
                let (wa, wb, wc) = (part(b, c), part(c, a), part(a, b));
                if wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
                    let slot = &mut rows[(y - first_row) * SIDE + x];
                    *slot = slot.max(wa * a.z + wb * b.z + wc * c.z);
                }
            }
        }
    }

    /// How much of the light reaches a world point, 0 to 1, averaged over a disc
    /// of `softness` metres across the light.
    pub fn light_at(&self, point: Vec3, softness: f32) -> f32 {
        let p = self.local(point);
        let reach = (softness / self.cell).max(1.0);
        if !p.is_finite()
            || p.x < -reach
            || p.y < -reach
            || p.x > SIDE as f32 + reach
            || p.y > SIDE as f32 + reach
        {
            return 1.0;
        }
        if !self.may_be_covered(p, reach) {
            return 1.0;
        }
        let mut lit = 0.0;
        for (dx, dy) in self.disc {
            let (x, y) = (p.x + dx * reach, p.y + dy * reach);
            let inside = x >= 0.0 && y >= 0.0 && x < SIDE as f32 && y < SIDE as f32;
            let covered = inside && self.height[y as usize * SIDE + x as usize] > p.z + self.bias;
            lit += if covered { 0.0 } else { 1.0 };
        }
        lit / TAPS as f32
    }
}

impl ShadowMap {
    /// False if nothing within `reach` cells is higher than the place.
    fn may_be_covered(&self, p: Vec3, reach: f32) -> bool {
        let blocks = |a: f32| {
            let size = BLOCK as f32;
            cells((a - reach) / size, (a + reach) / size, 0, SIDE / BLOCK)
        };
        blocks(p.y).any(|row| {
            blocks(p.x)
                .any(|column| self.block_height[row * (SIDE / BLOCK) + column] > p.z + self.bias)
        })
    }
}

fn block_heights(height: &[f32]) -> Vec<f32> {
    let mut blocks = vec![f32::NEG_INFINITY; (SIDE / BLOCK) * (SIDE / BLOCK)];
    for (i, &h) in height.iter().enumerate() {
        let (x, y) = (i % SIDE / BLOCK, i / SIDE / BLOCK);
        let slot = &mut blocks[y * (SIDE / BLOCK) + x];
        *slot = slot.max(h);
    }
    blocks
}

/// Points spread evenly over the unit disc: a sunflower (Vogel 1979).
fn sunflower() -> [(f32, f32); TAPS] {
    std::array::from_fn(|i| {
        let r = ((i as f32 + 0.5) / TAPS as f32).sqrt();
        let angle = 2.399_963 * i as f32;
        (r * angle.cos(), r * angle.sin())
    })
}

fn cells(low: f32, high: f32, from: usize, to: usize) -> std::ops::Range<usize> {
    (low as usize).max(from)..(high.ceil().max(0.0) as usize).min(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sphere_shades_the_floor_under_it_and_not_beside_it() {
        let map = ShadowMap::new(Vec3::Y, &[(Vec3::Y, 0.5)], &[]).unwrap();
        assert_eq!(map.light_at(Vec3::ZERO, 0.01), 0.0);
        assert_eq!(map.light_at(Vec3::new(0.6, 0.0, 0.0), 0.01), 1.0);
        assert_eq!(map.light_at(Vec3::new(0.0, 1.51, 0.0), 0.01), 1.0);
        let edge = map.light_at(Vec3::new(0.5, 0.0, 0.0), 0.2);
        assert!(edge > 0.2 && edge < 0.9);
    }

    #[test]
    fn a_triangle_shades_what_is_below() {
        let roof = [
            Vec3::new(-1.0, 1.0, -1.0),
            Vec3::new(1.0, 1.0, -1.0),
            Vec3::new(0.0, 1.0, 1.0),
        ];
        let map = ShadowMap::new(Vec3::Y, &[], &[roof]).unwrap();
        assert_eq!(map.light_at(Vec3::new(0.0, 0.0, -0.5), 0.0), 0.0);
        assert_eq!(map.light_at(Vec3::new(0.9, 0.0, 0.9), 0.0), 1.0);
        assert!(ShadowMap::new(Vec3::Y, &[], &[]).is_none());
    }
}
