//! Anti-aliased lines and areas on an image.

use glam::Vec2;

use crate::colour::Colour;
use crate::image::Image;

/// A joined line through points, in pixel coordinates.
pub(crate) type Path = Vec<Vec2>;

impl Image {
    /// Draws lines of `width` pixels with round ends and joints. Where the paths
    /// cross or overlap, the ink is laid once.
    pub(crate) fn stroke(&mut self, paths: &[Path], width: f32, colour: Colour, opacity: f32) {
        let half = 0.5 * width.max(0.0);
        // A line thinner than a pixel is drawn one pixel wide and paler.
        let (half, opacity) = if half < 0.5 {
            (0.5, opacity * 2.0 * half)
        } else {
            (half, opacity)
        };
        let finite = paths.iter().flatten().filter(|p| p.is_finite());
        let (min, max) = finite.fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(min, max), p| {
            (min.min(*p), max.max(*p))
        });
        let Some(mut mask) = Mask::around(min - half - 1.0, max + half + 1.0, self) else {
            return;
        };
        for path in paths {
            if let [only] = path[..] {
                mask.add_segment(only, only, half);
            }
            for pair in path.windows(2) {
                mask.add_segment(pair[0], pair[1], half);
            }
        }
        mask.ink(self, colour, opacity);
    }

    /// Fills a rectangle given by two corners, with partly covered border pixels.
    pub(crate) fn fill_rect(&mut self, min: Vec2, max: Vec2, colour: Colour, opacity: f32) {
        let Some(mut mask) = Mask::around(min, max, self) else {
            return;
        };
        mask.add_by(|x, y| {
            let overlap =
                |a: f32, low: f32, high: f32| (high.min(a + 1.0) - low.max(a)).clamp(0.0, 1.0);
            overlap(x, min.x, max.x) * overlap(y, min.y, max.y)
        });
        mask.ink(self, colour, opacity);
    }

    /// Fills the area between two lines over the same columns: `lower` and
    /// `upper` give the y pixel coordinate at each `x`, ascending.
    pub(crate) fn fill_between(&mut self, x: &[f32], upper: &[f32], lower: &[f32], colour: Colour) {
        let (Some(&first), Some(&last)) = (x.first(), x.last()) else {
            return;
        };
        let top = upper.iter().copied().fold(f32::INFINITY, f32::min);
        let bottom = lower.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let Some(mut mask) = Mask::around(Vec2::new(first, top), Vec2::new(last, bottom), self)
        else {
            return;
        };
        let mut k = 0;
        for column in 0..mask.width {
            let centre = ((mask.x0 + column) as f32 + 0.5).clamp(first, last);
            while k + 2 < x.len() && x[k + 1] < centre {
                k += 1;
            }
            let next = (k + 1).min(x.len() - 1);
            let gap = x[next] - x[k];
            let f = if gap > 0.0 {
                ((centre - x[k]) / gap).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let at = |y: &[f32]| y[k] + f * (y[next] - y[k]);
            let (from, to) = (at(upper), at(lower));
            for row in 0..mask.height {
                let y = (mask.y0 + row) as f32;
                let cover = (to.min(y + 1.0) - from.max(y)).clamp(0.0, 1.0);
                mask.cover[row * mask.width + column] = cover;
            }
        }
        mask.ink(self, colour, 1.0);
    }

    /// Fills a disc.
    pub(crate) fn fill_disc(&mut self, centre: Vec2, radius: f32, colour: Colour) {
        self.stroke(&[vec![centre]], 2.0 * radius, colour, 1.0);
    }
}

/// How much of each pixel in a part of the picture is covered.
struct Mask {
    x0: usize,
    y0: usize,
    width: usize,
    height: usize,
    cover: Vec<f32>,
}

impl Mask {
    /// The part of the picture around a box; `None` if they do not meet.
    fn around(min: Vec2, max: Vec2, image: &Image) -> Option<Mask> {
        if min.is_nan() || max.is_nan() {
            return None;
        }
        // Casts saturate.
        let (x0, y0) = (min.x.floor() as usize, min.y.floor() as usize);
        let x1 = (max.x.ceil() as usize).min(image.width() as usize);
        let y1 = (max.y.ceil() as usize).min(image.height() as usize);
        (x0 < x1 && y0 < y1).then(|| Mask {
            x0,
            y0,
            width: x1 - x0,
            height: y1 - y0,
            cover: vec![0.0; (x1 - x0) * (y1 - y0)],
        })
    }

    /// Covers the pixels within `half` of the segment.
    fn add_segment(&mut self, a: Vec2, b: Vec2, half: f32) {
        if !a.is_finite() || !b.is_finite() {
            return;
        }
        let along = b - a;
        let length2 = along.length_squared();
        let clip = |v: f32, origin: usize, size: usize| (v - origin as f32).clamp(0.0, size as f32);
        let (min, max) = (a.min(b) - half - 1.0, a.max(b) + half + 1.0);
        let rows = clip(min.y, self.y0, self.height) as usize
            ..clip(max.y, self.y0, self.height).ceil() as usize;
        for row in rows {
            let y = (self.y0 + row) as f32 + 0.5;
            // Long slanted lines touch few pixels of each row: find them.
            let (mut low, mut high) = (min.x, max.x);
            if along.y.abs() > 1e-3 {
                let slope = along.x / along.y;
                let middle = a.x + (y - a.y) * slope;
                let reach = (half + 1.0) * (1.0 + slope.abs()) * 1.5;
                low = low.max(middle - reach);
                high = high.min(middle + reach);
            }
            let columns = clip(low, self.x0, self.width) as usize
                ..clip(high, self.x0, self.width).ceil() as usize;
            for column in columns {
                let p = Vec2::new((self.x0 + column) as f32 + 0.5, y);
                let t = if length2 > 0.0 {
                    ((p - a).dot(along) / length2).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let cover = (half + 0.5 - p.distance(a + along * t)).clamp(0.0, 1.0);
                let slot = &mut self.cover[row * self.width + column];
                *slot = slot.max(cover);
            }
        }
    }

    fn add_by(&mut self, cover: impl Fn(f32, f32) -> f32) {
        for row in 0..self.height {
            for column in 0..self.width {
                let c = cover((self.x0 + column) as f32, (self.y0 + row) as f32);
                self.cover[row * self.width + column] = c;
            }
        }
    }

    fn ink(&self, image: &mut Image, colour: Colour, opacity: f32) {
        for row in 0..self.height {
            for column in 0..self.width {
                let cover = self.cover[row * self.width + column] * opacity;
                if cover > 0.0 {
                    let (x, y) = ((self.x0 + column) as u32, (self.y0 + row) as u32);
                    image.blend(x, y, colour.to_vec(), cover.min(1.0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn darkness(image: &Image) -> f32 {
        let bytes = image.to_rgb8();
        bytes.chunks(3).map(|p| 1.0 - p[0] as f32 / 255.0).sum()
    }

    #[test]
    fn a_line_has_the_ink_of_its_area_at_every_angle() {
        for k in 0..12 {
            let mut image = Image::new(100, 100, Colour::WHITE);
            let angle = k as f32 * 0.26;
            let d = 40.0 * Vec2::new(angle.cos(), angle.sin());
            let middle = Vec2::new(50.3, 49.6);
            image.stroke(&[vec![middle - d, middle + d]], 4.0, Colour::BLACK, 1.0);
            let expected = 80.0 * 4.0 + std::f32::consts::PI * 4.0;
            // The ink is mixed in the square root of light, close to sRGB bytes.
            assert!(
                (darkness(&image) / expected - 1.0).abs() < 0.04,
                "angle {angle}"
            );
        }
    }

    #[test]
    fn overlapping_paths_are_inked_once() {
        let line = vec![Vec2::new(10.0, 10.2), Vec2::new(90.0, 60.7)];
        let mut once = Image::new(100, 100, Colour::WHITE);
        once.stroke(std::slice::from_ref(&line), 1.5, Colour::BLACK, 1.0);
        let mut twice = Image::new(100, 100, Colour::WHITE);
        twice.stroke(&[line.clone(), line], 1.5, Colour::BLACK, 1.0);
        assert_eq!(once, twice);
    }

    #[test]
    fn shapes_outside_or_not_finite_do_nothing() {
        let mut image = Image::new(10, 10, Colour::WHITE);
        let before = image.clone();
        image.stroke(
            &[vec![Vec2::splat(-50.0), Vec2::new(-20.0, 5.0)]],
            2.0,
            Colour::BLACK,
            1.0,
        );
        image.stroke(&[vec![Vec2::NAN, Vec2::INFINITY]], 2.0, Colour::BLACK, 1.0);
        image.fill_rect(Vec2::splat(20.0), Vec2::splat(30.0), Colour::BLACK, 1.0);
        image.fill_between(&[], &[], &[], Colour::BLACK);
        assert_eq!(image, before);
    }

    #[test]
    fn an_area_between_lines_is_filled() {
        let mut image = Image::new(20, 20, Colour::WHITE);
        image.fill_between(&[2.0, 18.0], &[4.0, 4.0], &[10.0, 14.0], Colour::BLACK);
        assert!(image.pixel(10, 8).unwrap().g < 0.01);
        assert!(image.pixel(10, 2).unwrap().g > 0.99);
        assert!(image.pixel(4, 12).unwrap().g > 0.99);
        assert!(image.pixel(16, 12).unwrap().g < 0.01);
    }
}
