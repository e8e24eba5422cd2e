//! The picture cut into square tiles, and which primitives touch which tile.

/// Side of a tile in pixels.
pub(crate) const TILE: u32 = 32;

/// A rectangle of pixels: `x0 <= x < x1`, `y0 <= y < y1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PixelRect {
    pub x0: u32,
    pub y0: u32,
    pub x1: u32,
    pub y1: u32,
}

impl PixelRect {
    pub const EMPTY: PixelRect = PixelRect {
        x0: 0,
        y0: 0,
        x1: 0,
        y1: 0,
    };

    /// The pixels of a picture that the box touches.
    pub fn around(min: [f32; 2], max: [f32; 2], width: u32, height: u32) -> PixelRect {
        // Float to integer casts saturate, so any value is safe here.
        PixelRect {
            x0: min[0].floor() as u32,
            y0: min[1].floor() as u32,
            x1: (max[0].ceil() as u32).min(width),
            y1: (max[1].ceil() as u32).min(height),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    pub fn intersection(&self, other: &PixelRect) -> PixelRect {
        PixelRect {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    pub fn area(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        (self.x1 - self.x0) as usize * (self.y1 - self.y0) as usize
    }

    /// Position of a pixel of this rectangle in a row-major buffer of it.
    #[inline]
    pub fn index(&self, x: u32, y: u32) -> usize {
        (y - self.y0) as usize * (self.x1 - self.x0) as usize + (x - self.x0) as usize
    }

    /// All pixels, row by row.
    pub fn pixels(self) -> impl Iterator<Item = (u32, u32)> {
        (self.y0..self.y1).flat_map(move |y| (self.x0..self.x1).map(move |x| (x, y)))
    }
}

/// The tiles of a picture.
#[derive(Clone, Copy)]
pub(crate) struct TileGrid {
    pub width: u32,
    pub height: u32,
}

impl TileGrid {
    pub fn columns(&self) -> u32 {
        self.width.div_ceil(TILE)
    }

    pub fn len(&self) -> usize {
        self.columns() as usize * self.height.div_ceil(TILE) as usize
    }

    pub fn rect(&self, tile: usize) -> PixelRect {
        let columns = self.columns() as usize;
        let (x0, y0) = (
            (tile % columns) as u32 * TILE,
            (tile / columns) as u32 * TILE,
        );
        PixelRect {
            x0,
            y0,
            x1: (x0 + TILE).min(self.width),
            y1: (y0 + TILE).min(self.height),
        }
    }

    fn for_each_tile(&self, rect: &PixelRect, mut visit: impl FnMut(usize)) {
        if rect.is_empty() {
            return;
        }
        for row in rect.y0 / TILE..=(rect.y1 - 1) / TILE {
            for column in rect.x0 / TILE..=(rect.x1 - 1) / TILE {
                visit(row as usize * self.columns() as usize + column as usize);
            }
        }
    }

    /// Sorts primitives into tiles, keeping their order within each tile.
    pub fn bin(&self, rects: &[PixelRect]) -> Bins {
        let mut start = vec![0u32; self.len() + 1];
        for rect in rects {
            self.for_each_tile(rect, |tile| start[tile + 1] += 1);
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut items = vec![0u32; start[self.len()] as usize];
        let mut next = start.clone();
        for (i, rect) in rects.iter().enumerate() {
            self.for_each_tile(rect, |tile| {
                items[next[tile] as usize] = i as u32;
                next[tile] += 1;
            });
        }
        Bins { start, items }
    }
}

/// The primitives of each tile.
pub(crate) struct Bins {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Bins {
    pub fn of(&self, tile: usize) -> &[u32] {
        &self.items[self.start[tile] as usize..self.start[tile + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitives_land_in_exactly_the_tiles_they_touch() {
        let grid = TileGrid {
            width: 100,
            height: 70,
        };
        assert_eq!(grid.len(), 12);
        let rects = [
            PixelRect::around([-5.0, -5.0], [500.0, 500.0], 100, 70),
            PixelRect::around([31.0, 0.0], [33.0, 1.0], 100, 70),
            PixelRect::around([200.0, 0.0], [300.0, 1.0], 100, 70),
        ];
        let bins = grid.bin(&rects);
        assert_eq!(bins.of(0), [0, 1]);
        assert_eq!(bins.of(1), [0, 1]);
        assert_eq!(bins.of(2), [0]);
        assert_eq!(bins.of(11), [0]);
        let areas: usize = (0..grid.len()).map(|t| grid.rect(t).area()).sum();
        assert_eq!(areas, 7000);
    }
}
