//! Lines and points over two axes.

use std::path::Path;

use glam::Vec2;

use crate::colour::Colour;
use crate::error::PictureError;
use crate::image::Image;
use crate::plot::{Axis, Labels, Plot, Scale, series_colour};

/// How the points of a series are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Joined by a line.
    #[default]
    Line,
    /// A dot each.
    Markers,
    /// Joined dots.
    Both,
}

/// One set of points in a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The name in the list at the right; none if empty.
    pub name: String,
    /// (x, y) pairs; a value that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
    /// How they are shown.
    pub style: SeriesStyle,
}

impl Series {
    /// A line through points.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series {
            name: name.into(),
            points,
            style: SeriesStyle::Line,
        }
    }

    /// The same shown in another way.
    pub fn styled(self, style: SeriesStyle) -> Series {
        Series { style, ..self }
    }
}

/// A chart of series over two axes.
///
/// ```
/// use pliant_render::{LineChart, Series};
///
/// let fall = (0..=20).map(|i| i as f64 * 0.1).map(|t| (t, 4.905 * t * t)).collect();
/// let chart = LineChart {
///     title: "Free fall".into(),
///     x_label: "time [s]".into(),
///     y_label: "distance [m]".into(),
///     series: vec![Series::line("g = 9.81 m/s²", fall)],
///     ..LineChart::default()
/// };
/// assert_eq!(chart.render().width(), 960);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// Above the chart.
    pub title: String,
    /// Under the chart, with the unit.
    pub x_label: String,
    /// Beside the chart, with the unit.
    pub y_label: String,
    /// The data.
    pub series: Vec<Series>,
    /// Spread of the x values.
    pub x_scale: Scale,
    /// Spread of the y values.
    pub y_scale: Scale,
    /// Width and height in pixels.
    pub size: (u32, u32),
}

impl Default for LineChart {
    fn default() -> Self {
        LineChart {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            series: Vec::new(),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            size: (960, 540),
        }
    }
}

impl LineChart {
    /// Draws the chart.
    pub fn render(&self) -> Image {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let x = Axis::around(points().map(|p| p.0), self.x_scale);
        let y = Axis::around(points().map(|p| p.1), self.y_scale).with_room(0.05);
        let labels = Labels {
            title: &self.title,
            x: &self.x_label,
            y: &self.y_label,
        };
        let names: Vec<(&str, Colour)> = self
            .series
            .iter()
            .enumerate()
            .map(|(k, s)| (s.name.as_str(), series_colour(k)))
            .collect();
        let mut plot = Plot::new(&labels, x, y, &names, self.size);
        let mut drawn = false;
        for (k, series) in self.series.iter().enumerate() {
            drawn |= draw_series(&mut plot, series, series_colour(k));
        }
        if !drawn {
            plot.note_empty();
        }
        plot.image
    }

    /// Draws the chart into a PNG file.
    pub fn save_png(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        self.render().save_png(path)
    }
}

/// Draws one series; false if it has no point to show.
fn draw_series(plot: &mut Plot, series: &Series, colour: Colour) -> bool {
    let mut runs: Vec<Vec<Vec2>> = vec![Vec::new()];
    for &(x, y) in &series.points {
        match (plot.x_pixel(x), plot.y_pixel(y), runs.last_mut()) {
            (Some(x), Some(y), Some(run)) => run.push(Vec2::new(x, y)),
            _ => runs.push(Vec::new()),
        }
    }
    if series.style != SeriesStyle::Markers {
        plot.image.stroke(&runs, 0.14 * plot.text, colour, 1.0);
    }
    if series.style != SeriesStyle::Line {
        for &point in runs.iter().flatten() {
            plot.image.fill_disc(point, 0.3 * plot.text, Colour::WHITE);
            plot.image.fill_disc(point, 0.24 * plot.text, colour);
        }
    }
    runs.iter().any(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bluish(image: &Image, x: f32, y: f32) -> bool {
        let c = image.pixel(x as u32, y as u32).unwrap();
        c.b > 2.0 * c.r + 0.05 && c.b > 1.3 * c.g
    }

    fn chart(points: Vec<(f64, f64)>) -> LineChart {
        LineChart {
            title: "a title".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            series: vec![Series::line("", points)],
            size: (400, 300),
            ..LineChart::default()
        }
    }

    #[test]
    fn the_line_runs_where_the_data_say() {
        let chart = chart(vec![(0.0, 0.0), (10.0, 10.0)]);
        let image = chart.render();
        let x = Axis {
            scale: Scale::Linear,
            low: 0.0,
            high: 10.0,
        };
        let y = Axis {
            scale: Scale::Linear,
            low: 0.0,
            high: 10.5,
        };
        let labels = Labels {
            title: "",
            x: "",
            y: "",
        };
        let plot = Plot::new(&labels, x, y, &[], (400, 300));
        for v in [1.0, 3.3, 7.7, 9.0] {
            let (px, py) = (plot.x_pixel(v).unwrap(), plot.y_pixel(v).unwrap());
            assert!(bluish(&image, px, py), "no line at {v}");
            assert!(!bluish(&image, px, py - 25.0) && !bluish(&image, px, py + 25.0));
        }
    }

    #[test]
    fn a_value_that_is_not_a_number_breaks_the_line() {
        let gap = chart(vec![
            (0.0, 1.0),
            (4.0, 1.0),
            (5.0, f64::NAN),
            (6.0, 1.0),
            (10.0, 1.0),
        ])
        .render();
        let full = chart(vec![(0.0, 1.0), (10.0, 1.0)]).render();
        let blue = |image: &Image| {
            let count = |x: u32| {
                (0..300)
                    .filter(|&y| bluish(image, x as f32, y as f32))
                    .count()
            };
            (0..400).filter(|&x| count(x) > 0).count()
        };
        let (with_gap, without) = (blue(&gap) as f32, blue(&full) as f32);
        assert!(
            (with_gap / without - 0.8).abs() < 0.03,
            "{with_gap} of {without}"
        );
    }

    #[test]
    fn odd_data_give_a_chart_all_the_same() {
        let odd = [
            vec![],
            vec![(1.0, 1.0)],
            vec![(0.0, 5.0), (1.0, 5.0)],
            vec![(f64::NAN, f64::INFINITY), (f64::NEG_INFINITY, 1.0)],
            vec![(-1e308, -1e308), (1e308, 1e308)],
            vec![(1e-320, 1e-320), (2e-320, 3e-320)],
        ];
        for points in odd {
            for scale in [Scale::Linear, Scale::Log10] {
                for style in [SeriesStyle::Line, SeriesStyle::Markers, SeriesStyle::Both] {
                    let mut chart = chart(points.clone());
                    chart.x_scale = scale;
                    chart.y_scale = scale;
                    chart.series[0].style = style;
                    chart.render();
                    chart.size = (1, 1);
                    chart.render();
                }
            }
        }
        LineChart::default().render();
    }
}
