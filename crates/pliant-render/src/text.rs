//! Lines of text, at any size, level or turned upwards.

use glam::Vec2;

use crate::canvas::Path;
use crate::colour::Colour;
use crate::glyphs::{Pen, glyph};
use crate::image::Image;

/// Font units per em; see [`crate::glyphs`].
const EM: f32 = 14.0;
/// Empty space between two letters, in font units.
const GAP: f32 = 2.5;

/// Which part of the text lies at the given place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// Height of a line in pixels; capitals are 10/14 of it.
    pub size: f32,
    /// Ink.
    pub colour: Colour,
    /// What lies at the given place.
    pub align: Align,
    /// Turned to run from bottom to top.
    pub upwards: bool,
    /// Thicker strokes.
    pub bold: bool,
}

impl TextStyle {
    /// Level dark text that starts at the given place.
    pub fn new(size: f32) -> TextStyle {
        TextStyle {
            size,
            colour: Colour::hex(0x22262b),
            align: Align::Start,
            upwards: false,
            bold: false,
        }
    }

    /// The same with another part at the given place.
    pub fn aligned(self, align: Align) -> TextStyle {
        TextStyle { align, ..self }
    }

    /// The same in another colour.
    pub fn coloured(self, colour: Colour) -> TextStyle {
        TextStyle { colour, ..self }
    }

    /// The same with thicker strokes.
    pub fn bold(self) -> TextStyle {
        TextStyle { bold: true, ..self }
    }

    /// The same, running from bottom to top.
    pub fn upwards(self) -> TextStyle {
        TextStyle {
            upwards: true,
            ..self
        }
    }
}

/// Length of a text in pixels.
pub fn text_width(text: &str, size: f32) -> f32 {
    let ink: f32 = text.chars().map(|c| glyph(c).0 + GAP).sum();
    (ink - GAP).max(0.0) * size / EM
}

impl Image {
    /// Writes a line of text with its baseline through pixel `(x, y)`.
    pub fn text(&mut self, x: f32, y: f32, text: &str, style: TextStyle) {
        let scale = style.size / EM;
        let length = text_width(text, style.size);
        let start = match style.align {
            Align::Start => 0.0,
            Align::Middle => -0.5 * length,
            Align::End => -length,
        };
        // Snapped to whole pixels, level strokes stay crisp.
        let origin = Vec2::new(x, y).round();
        let mut paths: Vec<Path> = Vec::new();
        let mut advance = start / scale;
        for c in text.chars() {
            let (width, pens) = glyph(c);
            let place = |u: f32, v: f32| {
                let (along, above) = ((advance + u) * scale, v * scale);
                if style.upwards {
                    origin + Vec2::new(-above, -along)
                } else {
                    origin + Vec2::new(along, -above)
                }
            };
            trace(pens, place, &mut paths);
            advance += width + GAP;
        }
        let weight = if style.bold { 0.125 } else { 0.088 };
        self.stroke(&paths, (weight * style.size).max(1.05), style.colour, 1.0);
    }
}

/// Turns pen movements into lines.
fn trace(pens: &[Pen], place: impl Fn(f32, f32) -> Vec2, paths: &mut Vec<Path>) {
    let mut current: Path = Vec::new();
    for &pen in pens {
        match pen {
            Pen::M(x, y) => {
                paths.push(std::mem::take(&mut current));
                current.push(place(x, y));
            }
            Pen::L(x, y) => current.push(place(x, y)),
            Pen::A(x, y, rx, ry, from, to) => {
                arc([x, y, rx, ry], [from, to], &place, &mut current);
            }
            Pen::O(x, y, rx, ry) => {
                paths.push(std::mem::take(&mut current));
                arc([x, y, rx, ry], [0.0, 360.0], &place, &mut current);
                paths.push(std::mem::take(&mut current));
            }
            Pen::D(x, y) => {
                // Dots are a little heavier than strokes.
                paths.push(std::mem::take(&mut current));
                paths.push(vec![place(x, y), place(x, y + 0.35)]);
            }
        }
    }
    paths.push(current);
    paths.retain(|p| !p.is_empty());
}

/// Appends an arc of an ellipse given by its centre and its radii, between two
/// angles in degrees.
fn arc(
    [x, y, rx, ry]: [f32; 4],
    [from, to]: [f32; 2],
    place: &impl Fn(f32, f32) -> Vec2,
    path: &mut Path,
) {
    let steps = ((to - from).abs() / 12.0).ceil().max(2.0) as usize;
    for k in 0..=steps {
        let angle = (from + (to - from) * k as f32 / steps as f32).to_radians();
        path.push(place(x + rx * angle.cos(), y + ry * angle.sin()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_box(image: &Image) -> Option<(u32, u32, u32, u32)> {
        let mut found: Option<(u32, u32, u32, u32)> = None;
        for y in 0..image.height() {
            for x in 0..image.width() {
                if image.pixel(x, y).unwrap().g < 0.5 {
                    let (x0, y0, x1, y1) = found.unwrap_or((x, y, x, y));
                    found = Some((x0.min(x), y0.min(y), x1.max(x), y1.max(y)));
                }
            }
        }
        found
    }

    #[test]
    fn every_printable_character_leaves_ink_inside_its_line() {
        let known = (33u8..127).map(char::from).chain("²³µ°ρ·×Δ−".chars());
        let mut pictures = Vec::new();
        for c in known {
            let mut image = Image::new(60, 60, Colour::WHITE);
            image.text(10.0, 40.0, &c.to_string(), TextStyle::new(30.0));
            let (x0, y0, x1, y1) = dark_box(&image).unwrap_or_else(|| panic!("{c} is empty"));
            assert!(x0 >= 7 && y0 >= 12 && y1 <= 49, "{c} at {x0} {y0} {y1}");
            assert!(
                x1 as f32 <= 10.0 + text_width(&c.to_string(), 30.0) + 3.0,
                "{c} to {x1}"
            );
            pictures.push((c, image));
        }
        for (i, (a, first)) in pictures.iter().enumerate() {
            for (b, second) in &pictures[..i] {
                let alike = matches!((*a, *b), ('l', 'I' | '|'));
                assert!(alike || first != second, "{a} looks like {b}");
            }
        }
    }

    #[test]
    fn alignment_and_turning_place_the_text() {
        let mut level = Image::new(200, 200, Colour::WHITE);
        level.text(
            100.0,
            100.0,
            "HHHH",
            TextStyle::new(20.0).aligned(Align::Middle),
        );
        let (x0, y0, x1, y1) = dark_box(&level).unwrap();
        assert!((x0 + x1).abs_diff(200) <= 3);
        assert!(y1 <= 101 && y0 >= 83);

        let mut turned = Image::new(200, 200, Colour::WHITE);
        turned.text(
            100.0,
            100.0,
            "HHHH",
            TextStyle::new(20.0).aligned(Align::Middle).upwards(),
        );
        let (u0, v0, u1, v1) = dark_box(&turned).unwrap();
        assert!((v0 + v1).abs_diff(200) <= 3);
        assert_eq!((v1 - v0).abs_diff(x1 - x0) / 3, 0);
        assert!(u1 <= 101 && u0 >= 83);
    }

    #[test]
    fn odd_text_and_sizes_do_not_panic() {
        let mut image = Image::new(20, 20, Colour::WHITE);
        for size in [0.0, -3.0, f32::NAN, 1e9] {
            image.text(5.0, 5.0, "aß漢\n\u{0}", TextStyle::new(size));
        }
        assert_eq!(text_width("", 12.0), 0.0);
    }
}
