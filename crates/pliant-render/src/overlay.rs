//! What is written over a picture: the colour bar and the caption.

use glam::Vec2;

use crate::colour::Colour;
use crate::image::Image;
use crate::scene::Legend;
use crate::text::{Align, TextStyle, text_width};
use crate::ticks::short;

/// Draws the colour bar at the right and the caption at the lower left.
pub(crate) fn draw(image: &mut Image, legend: Option<&Legend>, caption: Option<&str>) {
    let size = (image.height() as f32 / 42.0).clamp(11.0, 40.0);
    if let Some(legend) = legend {
        draw_legend(image, legend, size);
    }
    if let Some(caption) = caption {
        let (x, y) = (1.2 * size, image.height() as f32 - 1.1 * size);
        backdrop(
            image,
            Vec2::new(x, y - size),
            text_width(caption, size),
            1.35 * size,
        );
        image.text(x, y, caption, TextStyle::new(size));
    }
}

/// A pale sheet under the writing, so that it can be read on anything.
fn backdrop(image: &mut Image, min: Vec2, width: f32, height: f32) {
    let margin = Vec2::splat(0.35 * height.min(24.0));
    image.fill_rect(
        min - margin,
        min + Vec2::new(width, height) + margin,
        Colour::WHITE,
        0.55,
    );
}

fn draw_legend(image: &mut Image, legend: &Legend, size: f32) {
    let (width, height) = (image.width() as f32, image.height() as f32);
    let ticks = 5;
    let (low, high) = legend.range;
    let labels: Vec<String> = (0..ticks)
        .map(|k| short((low + (high - low) * k as f32 / (ticks - 1) as f32) as f64))
        .collect();
    let label_width = labels
        .iter()
        .map(|l| text_width(l, size))
        .fold(0.0, f32::max);
    let bar = Vec2::new(0.9 * size, (0.36 * height).min(14.0 * size));
    let block = (bar.x + 0.5 * size + label_width).max(text_width(&legend.title, size));
    let left = (width - 1.4 * size - block).max(0.0).round();
    let top = (2.9 * size).round();
    backdrop(
        image,
        Vec2::new(left, 0.9 * size),
        block,
        top - 0.9 * size + bar.y + 0.4 * size,
    );
    image.text(left, 1.9 * size, &legend.title, TextStyle::new(size));
    let rows = bar.y.max(1.0) as u32;
    for row in 0..rows {
        let t = 1.0 - (row as f32 + 0.5) / rows as f32;
        let y = top + row as f32;
        image.fill_rect(
            Vec2::new(left, y),
            Vec2::new(left + bar.x, y + 1.0),
            legend.map.colour(t),
            1.0,
        );
    }
    let corner = |u: f32, v: f32| Vec2::new(left + u * bar.x, top + v * rows as f32);
    let frame = vec![
        corner(0.0, 0.0),
        corner(1.0, 0.0),
        corner(1.0, 1.0),
        corner(0.0, 1.0),
        corner(0.0, 0.0),
    ];
    image.stroke(&[frame], 1.0, Colour::hex(0x4a4f57), 0.8);
    for (k, label) in labels.iter().enumerate() {
        let at = corner(1.0, 1.0 - k as f32 / (ticks - 1) as f32);
        image.stroke(
            &[vec![at, at + Vec2::X * 0.25 * size]],
            1.0,
            Colour::hex(0x4a4f57),
            0.8,
        );
        let style = TextStyle::new(size).aligned(Align::Start);
        image.text(at.x + 0.5 * size, at.y + 0.33 * size, label, style);
    }
}
