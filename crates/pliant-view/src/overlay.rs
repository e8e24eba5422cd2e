//! What is written over a picture: title, time, legend, scale.

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, pos2, vec2};
use pliant_render::Legend;

/// Length of the colour bar in points.
const BAR: f32 = 180.0;
/// Parts of the colour bar.
const PARTS: usize = 60;

/// What is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caption {
    /// Upper left: what is seen, and when.
    pub title: String,
    /// Lower left: smaller.
    pub note: String,
    /// Lower right.
    pub legend: Option<Legend>,
    /// The picture is dark.
    pub dark: bool,
}

impl Caption {
    /// Writes it inside `area`.
    pub(crate) fn paint(&self, painter: &Painter, area: Rect) {
        let ink = if self.dark {
            Color32::from_gray(225)
        } else {
            Color32::from_gray(35)
        };
        let inner = area.shrink(12.0);
        let font = FontId::proportional;
        painter.text(
            inner.left_top(),
            Align2::LEFT_TOP,
            &self.title,
            font(16.0),
            ink,
        );
        painter.text(
            inner.left_bottom(),
            Align2::LEFT_BOTTOM,
            &self.note,
            font(12.0),
            ink.gamma_multiply(0.75),
        );
        if let Some(legend) = &self.legend {
            bar(painter, legend, inner.right_bottom(), ink);
        }
    }
}

/// The colour bar, its lower right corner at `corner`.
fn bar(painter: &Painter, legend: &Legend, corner: Pos2, ink: Color32) {
    let place = Rect::from_min_max(corner - vec2(BAR + 4.0, 32.0), corner - vec2(4.0, 20.0));
    let plate = Rect::from_min_max(place.min - vec2(12.0, 24.0), corner + vec2(6.0, 2.0));
    let paper = if ink.r() > 128 {
        Color32::from_black_alpha(120)
    } else {
        Color32::from_white_alpha(150)
    };
    painter.rect_filled(plate, 5.0, paper);
    let part = place.width() / PARTS as f32;
    for i in 0..PARTS {
        let c = legend.map.colour((i as f32 + 0.5) / PARTS as f32);
        let left = place.left() + i as f32 * part;
        let piece = Rect::from_min_max(
            pos2(left, place.top()),
            pos2(left + part + 0.5, place.bottom()),
        );
        painter.rect_filled(
            piece,
            0.0,
            Color32::from(egui::Rgba::from_rgb(c.r, c.g, c.b)),
        );
    }
    let border = Stroke::new(1.0, Color32::from_gray(90));
    painter.rect_stroke(place, 1.0, border, egui::StrokeKind::Outside);
    let font = FontId::proportional(12.0);
    let text = |at: Pos2, align, text: String| {
        painter.text(at, align, text, font.clone(), ink);
    };
    text(
        place.center_top() - vec2(0.0, 4.0),
        Align2::CENTER_BOTTOM,
        legend.title.clone(),
    );
    let (low, high) = legend.range;
    let below = vec2(0.0, 3.0);
    let digits = |v: f32| number(v, high - low);
    text(place.left_bottom() + below, Align2::CENTER_TOP, digits(low));
    text(
        place.center_bottom() + below,
        Align2::CENTER_TOP,
        digits(0.5 * (low + high)),
    );
    text(
        place.right_bottom() + below,
        Align2::RIGHT_TOP,
        digits(high),
    );
}

/// A number with as many digits as a scale of this length asks for.
pub(crate) fn number(value: f32, length: f32) -> String {
    let size = length.abs().max(1e-3 * value.abs());
    if value == 0.0 || size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&value.abs().max(size)) {
        return format!("{value:.1e}");
    }
    let digits = (1.6 - size.log10()).ceil().clamp(0.0, 5.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_of_their_scale() {
        assert_eq!(number(0.0, 1.0), "0");
        assert_eq!(number(1.5, 3.0), "1.50");
        assert_eq!(number(998.25, 0.5), "998.25");
        assert_eq!(number(12_000.0, 24_000.0), "12000");
        assert_eq!(number(3e-7, 6e-7), "3.0e-7");
    }
}
