//! Live plots: time per stage, energy, probes.

use std::collections::VecDeque;

use egui::{Color32, FontId, Pos2, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};
use pliant::observe::STAGES;
use pliant_render::{Colour, PALETTE};

use crate::overlay::number;
use crate::simulation::{Sample, Setup};

/// Steps that are shown.
const LENGTH: usize = 600;
/// Room for names and values beside a plot, in points.
const WORDS: f32 = 124.0;

/// What has been measured lately.
#[derive(Default)]
pub(super) struct Plots {
    samples: VecDeque<Sample>,
    /// Which probe is shown.
    probe: usize,
}

/// One line of a plot.
struct Line {
    name: String,
    colour: Color32,
    values: Vec<f32>,
}

impl Plots {
    pub fn clear(&mut self) {
        self.samples.clear();
        self.probe = 0;
    }

    /// What the probes have read last.
    pub fn probes_now(&self) -> &[f64] {
        self.samples.back().map_or(&[], |s| &s.probes)
    }

    pub fn add(&mut self, samples: Vec<Sample>) {
        for sample in samples {
            // Back to the start, or to an earlier state.
            if self.samples.back().is_some_and(|s| s.time > sample.time) {
                self.samples.clear();
            }
            self.samples.push_back(sample);
        }
        while self.samples.len() > LENGTH {
            self.samples.pop_front();
        }
    }

    /// Draws all plots beside each other.
    pub fn show(&mut self, ui: &mut Ui, setup: &Setup) {
        ui.add_space(2.0);
        let width = (ui.available_width() - 24.0) / 3.0;
        let height = ui.available_height() - 6.0;
        ui.horizontal(|ui| {
            let size = vec2(width, height - 22.0);
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.strong("Time per stage [ms]");
                plot(ui, size, &self.stages());
            });
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.strong("Energy [J]")
                    .on_hover_text("Potential energy is counted from the left end of the plot");
                plot(ui, size, &self.energies());
            });
            ui.vertical(|ui| {
                ui.set_width(width);
                self.probes(ui, setup, size);
            });
        });
    }

    fn line(&self, name: &str, k: usize, value: impl Fn(&Sample) -> f64) -> Line {
        let c = Colour::hex(PALETTE[k % PALETTE.len()]);
        Line {
            name: name.into(),
            colour: Color32::from(egui::Rgba::from_rgb(c.r, c.g, c.b)),
            values: self.samples.iter().map(|s| value(s) as f32).collect(),
        }
    }

    /// The slowest stages, the others together.
    fn stages(&self) -> Vec<Line> {
        let mean = |k: usize| -> f32 {
            self.samples
                .iter()
                .map(|s| s.stages.get(k).copied().unwrap_or(0.0))
                .sum()
        };
        let mut order: Vec<usize> = (0..STAGES.len()).collect();
        order.sort_by(|a, b| mean(*b).total_cmp(&mean(*a)));
        let mut lines = vec![self.line("all", 0, |s| s.stages.iter().sum::<f32>().into())];
        let slow = order.into_iter().take(4).filter(|k| mean(*k) > 0.0);
        lines.extend(slow.enumerate().map(|(i, k)| {
            self.line(STAGES[k].1, i + 1, |s| {
                s.stages.get(k).copied().unwrap_or(0.0).into()
            })
        }));
        lines
    }

    fn energies(&self) -> Vec<Line> {
        let start = self.samples.front().map_or(0.0, |s| s.potential);
        vec![
            self.line("kinetic", 0, |s| s.kinetic),
            self.line("potential", 1, move |s| s.potential - start),
        ]
    }

    fn probes(&mut self, ui: &mut Ui, setup: &Setup, size: egui::Vec2) {
        if setup.probes.is_empty() {
            ui.strong("Probes");
            ui.weak("This scene has none.");
            return;
        }
        self.probe = self.probe.min(setup.probes.len() - 1);
        let label = |(name, unit): &(String, &str)| format!("{name} [{unit}]");
        egui::ComboBox::from_id_salt("probe")
            .width(size.x - 8.0)
            .selected_text(label(&setup.probes[self.probe]))
            .show_ui(ui, |ui| {
                for (i, probe) in setup.probes.iter().enumerate() {
                    ui.selectable_value(&mut self.probe, i, label(probe));
                }
            });
        let k = self.probe;
        let line = self.line("", 2, |s| s.probes.get(k).copied().unwrap_or(f64::NAN));
        plot(ui, size - vec2(0.0, 4.0), &[line]);
    }
}

/// Lines over time.
fn plot(ui: &mut Ui, size: egui::Vec2, lines: &[Line]) {
    let (response, painter) = ui.allocate_painter(size, Sense::hover());
    let area = response.rect;
    let weak = ui.visuals().weak_text_color();
    painter.rect_filled(area, 3.0, ui.visuals().extreme_bg_color);
    let finite = lines
        .iter()
        .flat_map(|l| &l.values)
        .filter(|v| v.is_finite());
    let (low, high) = finite.fold((0.0f32, 0.0f32), |(a, b), &v| (a.min(v), b.max(v)));
    let length = if high > low { high - low } else { 1.0 };
    let (low, high) = (low, low + 1.08 * length);
    let words = if lines.len() > 1 { WORDS } else { 0.0 };
    let inner = Rect::from_min_max(area.min + vec2(6.0 + words, 4.0), area.max - vec2(6.0, 4.0));
    let at = |i: usize, count: usize, v: f32| -> Pos2 {
        let x = inner.left() + inner.width() * i as f32 / (count.max(2) - 1) as f32;
        let y = inner.bottom() - inner.height() * (v - low) / (high - low);
        pos2(x, y.clamp(inner.top(), inner.bottom()))
    };
    let zero = at(0, 2, 0.0).y;
    painter.hline(
        inner.x_range(),
        zero,
        Stroke::new(1.0, weak.gamma_multiply(0.5)),
    );
    for line in lines {
        let count = line.values.len();
        let points = line.values.iter().enumerate();
        let points: Vec<Pos2> = points
            .filter(|(_, v)| v.is_finite())
            .map(|(i, v)| at(i, count, *v))
            .collect();
        painter.add(Shape::line(points, Stroke::new(1.5, line.colour)));
    }
    let font = FontId::proportional(11.0);
    let corner = egui::Align2::RIGHT_TOP;
    let text = number(high - 0.08 * length, length);
    painter.text(inner.right_top(), corner, text, font.clone(), weak);
    let mut top = area.left_top() + vec2(6.0, 4.0);
    for line in lines.iter().filter(|l| !l.name.is_empty()) {
        let last = line.values.last().copied().unwrap_or(0.0);
        let (left, right) = (egui::Align2::LEFT_TOP, egui::Align2::RIGHT_TOP);
        let place = painter.text(top, left, &line.name, font.clone(), line.colour);
        let end = top + vec2(words - 14.0, 0.0);
        let value = number(last, length);
        painter.text(end, right, value, font.clone(), line.colour);
        top.y = place.bottom() + 2.0;
    }
    if let Some(line) = lines.first().filter(|l| l.name.is_empty()) {
        let last = line.values.last().copied().unwrap_or(0.0);
        painter.text(
            inner.left_top(),
            egui::Align2::LEFT_TOP,
            number(last, length),
            font,
            line.colour,
        );
    }
}
