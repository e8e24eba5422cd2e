//! What all charts share: axes, grid, labels, the list of names.

use glam::Vec2;

use crate::colour::Colour;
use crate::image::Image;
use crate::text::{Align, TextStyle, text_width};
use crate::ticks::{label, linear_ticks, log_ticks};

/// Colours that people with any colour vision can tell apart (Okabe & Ito 2008),
/// sRGB encoded, in the order in which they are given out.
pub const PALETTE: [u32; 8] = [
    0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x4d4d4d, 0xd8c61a,
];

const INK: u32 = 0x22262b;
const FRAME: u32 = 0x5a6068;
const GRID: u32 = 0xdfe2e6;

pub(crate) fn series_colour(k: usize) -> Colour {
    Colour::hex(PALETTE[k % PALETTE.len()])
}

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equally long.
    #[default]
    Linear,
    /// Equal factors are equally long; values that are not positive are left out.
    Log10,
}

/// A range of values on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Axis {
    /// The range that holds all usable values; a default one if there are none,
    /// and some room around a single value.
    pub fn around(values: impl Iterator<Item = f64>, scale: Scale) -> Axis {
        let usable = values.filter(|v| is_usable(*v, scale));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let (low, high) = match scale {
            _ if low > high => (0.1, 1.0),
            Scale::Linear if high - low <= 1e-12 * high.abs().max(low.abs()) => {
                let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
                (low - room, high + room)
            }
            Scale::Log10 if high <= low * (1.0 + 1e-12) => (low / 10.0, high * 10.0),
            _ => (low, high),
        };
        Axis { scale, low, high }
    }

    /// The same with a little room at both ends, but not across zero.
    pub fn with_room(self, share: f64) -> Axis {
        let (low, high) = (self.spread(self.low), self.spread(self.high));
        let room = share * (high - low);
        let mut axis = Axis {
            scale: self.scale,
            low: self.unspread(low - room),
            high: self.unspread(high + room),
        };
        if self.scale == Scale::Linear {
            if self.low >= 0.0 {
                axis.low = axis.low.max(0.0);
                // A range that begins close to zero is easier to judge from zero.
                if self.low < 0.3 * self.high {
                    axis.low = 0.0;
                }
            }
            if self.high <= 0.0 {
                axis.high = axis.high.min(0.0);
            }
        }
        axis
    }

    fn spread(&self, v: f64) -> f64 {
        match self.scale {
            Scale::Linear => v,
            Scale::Log10 => v.log10(),
        }
    }

    fn unspread(&self, s: f64) -> f64 {
        match self.scale {
            Scale::Linear => s,
            Scale::Log10 => 10f64.powf(s),
        }
    }

    /// Where a value lies along the axis, 0 at its low end; `None` if it has no
    /// place on it.
    pub fn place(&self, v: f64) -> Option<f32> {
        if !is_usable(v, self.scale) {
            return None;
        }
        let (low, high) = (self.spread(self.low), self.spread(self.high));
        // Halved, so that the widest finite range does not overflow.
        let f = (0.5 * self.spread(v) - 0.5 * low) / (0.5 * high - 0.5 * low);
        f.is_finite().then_some(f as f32)
    }

    fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, count),
            Scale::Log10 => log_ticks(self.low, self.high, count),
        };
        let step = if values.len() > 1 {
            values[1] - values[0]
        } else {
            self.high - self.low
        };
        let text = |v: f64| match self.scale {
            Scale::Linear => label(v, step),
            Scale::Log10 => label(v, v),
        };
        values.iter().map(|&v| (v, text(v))).collect()
    }
}

fn is_usable(v: f64, scale: Scale) -> bool {
    v.is_finite() && (scale == Scale::Linear || v > 0.0)
}

/// The words around a chart.
pub(crate) struct Labels<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
}

/// An empty chart with its axes drawn, ready for data.
pub(crate) struct Plot {
    pub image: Image,
    pub x: Axis,
    pub y: Axis,
    /// Upper left and lower right corner of the data area.
    pub min: Vec2,
    pub max: Vec2,
    /// Height of a line of text, in pixels; other sizes follow it.
    pub text: f32,
}

impl Plot {
    /// Draws the empty chart. `names` are listed at the right with their colours.
    pub fn new(
        labels: &Labels<'_>,
        x: Axis,
        y: Axis,
        names: &[(&str, Colour)],
        size: (u32, u32),
    ) -> Plot {
        let mut image = Image::new(size.0, size.1, Colour::WHITE);
        let (width, height) = (image.width() as f32, image.height() as f32);
        let text = (height / 30.0).clamp(9.0, 30.0);
        let x_ticks = x.ticks(((width / (6.5 * text)) as usize).clamp(2, 10));
        let y_ticks = y.ticks(((height / (3.4 * text)) as usize).clamp(2, 10));
        let y_tick_width = y_ticks
            .iter()
            .map(|t| text_width(&t.1, text))
            .fold(0.0, f32::max);
        let listed: Vec<_> = names.iter().filter(|n| !n.0.is_empty()).collect();
        let name_width = listed
            .iter()
            .map(|n| text_width(n.0, text))
            .fold(0.0, f32::max);
        let list_width = if listed.is_empty() {
            0.0
        } else {
            name_width + 2.6 * text
        };
        let min = Vec2::new(3.0 * text + y_tick_width, 2.8 * text).round() + 0.5;
        let max = Vec2::new(width - 1.4 * text - list_width, height - 3.7 * text).round() + 0.5;
        let max = max.max(min + 10.0);

        let mut plot = Plot {
            image: Image::new(1, 1, Colour::WHITE),
            x,
            y,
            min,
            max,
            text,
        };
        let ink = Colour::hex(INK);
        let style = TextStyle::new(text).coloured(ink);
        let frame = Colour::hex(FRAME);
        let (mut grid, mut marks) = (Vec::new(), Vec::new());
        for (value, name) in &x_ticks {
            let Some(at) = plot.x_pixel(*value) else {
                continue;
            };
            let at = at.round() + 0.5;
            grid.push(vec![Vec2::new(at, min.y), Vec2::new(at, max.y)]);
            marks.push(vec![
                Vec2::new(at, max.y),
                Vec2::new(at, max.y + 0.35 * text),
            ]);
            image.text(at, max.y + 1.35 * text, name, style.aligned(Align::Middle));
        }
        for (value, name) in &y_ticks {
            let Some(at) = plot.y_pixel(*value) else {
                continue;
            };
            let at = at.round() + 0.5;
            grid.push(vec![Vec2::new(min.x, at), Vec2::new(max.x, at)]);
            marks.push(vec![
                Vec2::new(min.x - 0.35 * text, at),
                Vec2::new(min.x, at),
            ]);
            image.text(
                min.x - 0.6 * text,
                at + 0.36 * text,
                name,
                style.aligned(Align::End),
            );
        }
        image.stroke(&grid, 1.0, Colour::hex(GRID), 1.0);
        image.stroke(&marks, 1.0, frame, 1.0);
        image.stroke(
            &[vec![Vec2::new(min.x, min.y), Vec2::new(min.x, max.y), max]],
            1.2,
            frame,
            1.0,
        );

        let middle = 0.5 * (min + max);
        let centred = style.aligned(Align::Middle);
        let title = TextStyle {
            size: (1.2 * text).min(
                1.2 * text * (width - 2.0 * text) / text_width(labels.title, 1.2 * text).max(1.0),
            ),
            ..centred.bold()
        };
        image.text(
            middle
                .x
                .max(0.5 * text_width(labels.title, title.size) + text),
            1.75 * text,
            labels.title,
            title,
        );
        image.text(middle.x, height - 0.9 * text, labels.x, centred);
        image.text(1.5 * text, middle.y, labels.y, centred.upwards());
        for (k, (name, colour)) in listed.iter().enumerate() {
            let at = Vec2::new(max.x + 1.0 * text, min.y + (0.7 + 1.6 * k as f32) * text);
            image.fill_rect(
                at + Vec2::new(0.0, -0.42 * text),
                at + Vec2::new(0.85 * text, 0.42 * text),
                *colour,
                1.0,
            );
            image.text(at.x + 1.3 * text, at.y + 0.36 * text, name, style);
        }
        plot.image = image;
        plot
    }

    pub fn x_pixel(&self, v: f64) -> Option<f32> {
        self.x
            .place(v)
            .map(|f| self.min.x + f * (self.max.x - self.min.x))
    }

    pub fn y_pixel(&self, v: f64) -> Option<f32> {
        self.y
            .place(v)
            .map(|f| self.max.y - f * (self.max.y - self.min.y))
    }

    /// Says in the middle that there is nothing to see.
    pub fn note_empty(&mut self) {
        let middle = 0.5 * (self.min + self.max);
        let style = TextStyle::new(self.text)
            .coloured(Colour::hex(FRAME))
            .aligned(Align::Middle);
        self.image.text(middle.x, middle.y, "no data", style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_their_values_and_survive_odd_ones() {
        let axis = Axis::around(
            [3.0, f64::NAN, 7.0, f64::INFINITY].into_iter(),
            Scale::Linear,
        );
        assert_eq!((axis.low, axis.high), (3.0, 7.0));
        assert_eq!(axis.place(5.0), Some(0.5));
        assert_eq!(axis.place(f64::NAN), None);

        let log = Axis::around([-1.0, 0.0, 1.0, 100.0].into_iter(), Scale::Log10);
        assert_eq!(log.place(10.0), Some(0.5));
        assert_eq!(log.place(-1.0), None);

        for values in [vec![], vec![0.0], vec![5.0, 5.0], vec![f64::MIN, f64::MAX]] {
            for scale in [Scale::Linear, Scale::Log10] {
                let axis = Axis::around(values.iter().copied(), scale).with_room(0.05);
                assert!(axis.low < axis.high, "{values:?} {scale:?}");
                axis.ticks(8);
            }
        }
    }
}
