//! Areas stacked on each other, such as the time of each stage of a step.

use std::path::Path;

use crate::colour::Colour;
use crate::error::PictureError;
use crate::image::Image;
use crate::plot::{Axis, Labels, Plot, Scale, series_colour};

/// A chart of layers that add up.
#[derive(Clone, Debug, PartialEq)]
pub struct StackedChart {
    /// Above the chart.
    pub title: String,
    /// Under the chart, with the unit.
    pub x_label: String,
    /// Beside the chart, with the unit.
    pub y_label: String,
    /// The places of the values, in ascending order.
    pub x: Vec<f64>,
    /// The layers from the bottom up: a name and a value for each `x`. Missing,
    /// negative or non-finite values count as 0.
    pub layers: Vec<(String, Vec<f64>)>,
    /// Width and height in pixels.
    pub size: (u32, u32),
}

impl Default for StackedChart {
    fn default() -> Self {
        StackedChart {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            x: Vec::new(),
            layers: Vec::new(),
            size: (960, 540),
        }
    }
}

impl StackedChart {
    /// Draws the chart.
    pub fn render(&self) -> Image {
        // Columns with a place on the axis, in order; a step back is left out.
        let mut columns: Vec<usize> = Vec::new();
        for (i, &x) in self.x.iter().enumerate() {
            if x.is_finite() && columns.last().is_none_or(|&last| x >= self.x[last]) {
                columns.push(i);
            }
        }
        let mut sums = vec![vec![0.0; columns.len()]];
        for (k, (_, values)) in self.layers.iter().enumerate() {
            let value = |i: usize| {
                values
                    .get(i)
                    .copied()
                    .filter(|v| v.is_finite())
                    .unwrap_or(0.0)
                    .max(0.0)
            };
            let next = columns
                .iter()
                .zip(&sums[k])
                .map(|(&i, below)| below + value(i))
                .collect();
            sums.push(next);
        }
        let x = Axis::around(columns.iter().map(|&i| self.x[i]), Scale::Linear);
        let top = sums
            .iter()
            .flatten()
            .copied()
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        let y = Axis {
            scale: Scale::Linear,
            low: 0.0,
            high: if top > 0.0 {
                (1.05 * top).min(f64::MAX)
            } else {
                1.0
            },
        };
        // Names from the top down, as the layers lie.
        let names: Vec<(&str, Colour)> = self
            .layers
            .iter()
            .enumerate()
            .rev()
            .map(|(k, (name, _))| (name.as_str(), layer_colour(k)))
            .collect();
        let labels = Labels {
            title: &self.title,
            x: &self.x_label,
            y: &self.y_label,
        };
        let mut plot = Plot::new(&labels, x, y, &names, self.size);
        if columns.is_empty() || self.layers.is_empty() {
            plot.note_empty();
            return plot.image;
        }
        let across: Vec<f32> = columns
            .iter()
            .map(|&i| plot.x_pixel(self.x[i]).unwrap_or(plot.min.x))
            .collect();
        let heights = |sum: &[f64]| -> Vec<f32> {
            sum.iter()
                .map(|&v| plot.y_pixel(v).unwrap_or(plot.min.y))
                .collect()
        };
        let lines: Vec<Vec<f32>> = sums.iter().map(|sum| heights(sum)).collect();
        for k in 0..self.layers.len() {
            let colour = layer_colour(k);
            plot.image
                .fill_between(&across, &lines[k + 1], &lines[k], colour);
        }
        plot.image
    }

    /// Draws the chart into a PNG file.
    pub fn save_png(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        self.render().save_png(path)
    }
}

/// Large areas are paler than lines.
fn layer_colour(k: usize) -> Colour {
    series_colour(k).mix(Colour::WHITE, 0.12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_heights_in_proportion() {
        let chart = StackedChart {
            x: vec![0.0, 1.0, 2.0],
            layers: vec![("a".into(), vec![1.0; 3]), ("b".into(), vec![3.0; 3])],
            size: (400, 300),
            ..StackedChart::default()
        };
        let image = chart.render();
        let (mut blue, mut red) = (0, 0);
        for y in 0..300 {
            let c = image.pixel(200, y).unwrap();
            blue += (c.b > 2.0 * c.r && c.b > 0.1) as i32;
            red += (c.r > 2.0 * c.b && c.r > 0.1) as i32;
        }
        assert!(blue > 30);
        assert!((red - 3 * blue).abs() <= 4, "{red} against {blue}");
    }

    #[test]
    fn odd_data_give_a_chart_all_the_same() {
        let odd: [(Vec<f64>, Vec<f64>); 5] = [
            (vec![], vec![]),
            (vec![1.0], vec![2.0]),
            (vec![0.0, f64::NAN, 1.0], vec![f64::NAN, 1.0]),
            (vec![2.0, 1.0, 3.0], vec![-1.0, -2.0, -3.0]),
            (vec![0.0, 1.0], vec![f64::MAX, f64::MAX]),
        ];
        for (x, values) in odd {
            StackedChart {
                x,
                layers: vec![("a".into(), values.clone()), ("b".into(), values)],
                ..StackedChart::default()
            }
            .render();
        }
        StackedChart::default().render();
    }
}
