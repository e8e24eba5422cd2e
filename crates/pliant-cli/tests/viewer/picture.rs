//! Pictures of the screen, from the X server's own dump.

/// A picture in three bytes per pixel.
pub struct Picture {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads what `xwd` writes for a screen of 24 bits: a header of big-endian words,
    /// a colour table, then rows of blue, green, red and a byte for nothing.
    pub fn from_xwd(bytes: &[u8]) -> Picture {
        let word = |k: usize| {
            let field: [u8; 4] = bytes[4 * k..4 * k + 4].try_into().unwrap();
            u32::from_be_bytes(field) as usize
        };
        let (header, width, height) = (word(0), word(4), word(5));
        assert_eq!((word(1), word(11)), (7, 32), "an XWD of 32 bits per pixel");
        let (row, colours) = (word(12), word(19));
        let start = header + 12 * colours;
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let line = &bytes[start + y * row..][..4 * width];
            pixels.extend(line.chunks_exact(4).map(|p| [p[2], p[1], p[0]]));
        }
        Picture { width, pixels }
    }

    /// The part between two corners.
    pub fn part(&self, [left, top, right, bottom]: [i32; 4]) -> Picture {
        let mut pixels = Vec::new();
        for y in top..bottom {
            let row = y as usize * self.width;
            pixels.extend_from_slice(&self.pixels[row + left as usize..row + right as usize]);
        }
        Picture {
            width: (right - left) as usize,
            pixels,
        }
    }

    /// Share of pixels that differ by more than a little.
    pub fn difference(&self, other: &Picture) -> f64 {
        assert_eq!(self.pixels.len(), other.pixels.len());
        let far = |a: &[u8; 3], b: &[u8; 3]| (0..3).any(|c| a[c].abs_diff(b[c]) > 8);
        let pairs = self.pixels.iter().zip(&other.pixels);
        pairs.filter(|(a, b)| far(a, b)).count() as f64 / self.pixels.len() as f64
    }

    /// Mean of all bytes.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.pixels.iter().flatten().map(|&b| u64::from(b)).sum();
        sum as f64 / (3 * self.pixels.len()) as f64
    }
}
