//! Signs on buttons, drawn: fonts have them or not.

use egui::{Pos2, Response, Sense, Shape, Stroke, Ui, vec2};

/// What a button does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Play,
    Pause,
    Step,
    Reset,
}

impl Sign {
    /// Shows a button with the sign on it.
    pub fn button(self, ui: &mut Ui) -> Response {
        let (rect, response) = ui.allocate_exact_size(vec2(34.0, 26.0), Sense::click());
        let look = ui.style().interact(&response);
        let (ink, fill) = (look.fg_stroke.color, look.bg_fill);
        let painter = ui.painter();
        painter.rect_filled(rect, 4.0, fill);
        // A square of two units around the middle.
        let middle = rect.center();
        let at = |x: f32, y: f32| -> Pos2 { middle + 7.0 * vec2(x, y) };
        let triangle = |left: f32, right: f32| {
            let corners = vec![at(left, -1.0), at(right, 0.0), at(left, 1.0)];
            Shape::convex_polygon(corners, ink, Stroke::NONE)
        };
        let bar = |left: f32, right: f32| {
            let place = egui::Rect::from_min_max(at(left, -1.0), at(right, 1.0));
            Shape::rect_filled(place, 1.0, ink)
        };
        match self {
            Sign::Play => {
                painter.add(triangle(-0.7, 1.0));
            }
            Sign::Pause => {
                painter.add(bar(-0.8, -0.2));
                painter.add(bar(0.2, 0.8));
            }
            Sign::Step => {
                painter.add(triangle(-0.9, 0.5));
                painter.add(bar(0.5, 0.95));
            }
            Sign::Reset => {
                // Three quarters of a circle, and the head of an arrow at its end.
                let way = (0..=18).map(|k| (0.25 + 0.75 * k as f32 / 18.0) * std::f32::consts::TAU);
                let ring: Vec<Pos2> = way.map(|a| at(0.85 * a.sin(), -0.85 * a.cos())).collect();
                painter.add(Shape::line(ring, Stroke::new(2.0, ink)));
                let head = vec![at(0.55, -0.85), at(-0.15, -1.4), at(-0.15, -0.3)];
                painter.add(Shape::convex_polygon(head, ink, Stroke::NONE));
            }
        }
        response
    }
}
