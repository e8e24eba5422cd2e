//! From attenuation to an image.

use glam::Vec3;
use rayon::prelude::*;

use super::{XrayScene, attenuation};
use crate::camera::Camera;
use crate::colour::{Colour, srgb_to_linear};
use crate::image::Image;
use crate::overlay;
use crate::ray::Noise;

/// How an X-ray picture is developed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Film {
    /// Attenuation that gives middle grey; a little above the median of the
    /// picture if left out.
    pub level: Option<f32>,
    /// Slope of the response at middle grey, per unit of attenuation.
    pub contrast: f32,
    /// Relative noise of the photons at middle grey; 0 for none.
    pub noise: f32,
    /// Another number, another noise: the number of the frame.
    pub seed: u32,
    /// Blur of screen and tube, as the deviation in pixels.
    pub blur: f32,
    /// Scattered light, as a share of the light at middle grey; it veils what is
    /// dense.
    pub scatter: f32,
    /// Dense matter is dark, as on a fluoroscope's screen, instead of white, as on
    /// film.
    pub inverted: bool,
    /// Leaves the picture's edges unexposed, as a collimator does.
    pub collimated: bool,
}

impl Default for Film {
    fn default() -> Self {
        Film {
            level: None,
            contrast: 0.95,
            noise: 0.025,
            seed: 0,
            blur: 0.8,
            scatter: 0.04,
            inverted: false,
            collimated: true,
        }
    }
}

impl XrayScene<'_> {
    /// The sum of attenuation times way for each pixel, row by row from the top:
    /// the numbers behind the picture.
    pub fn attenuation(&self, camera: &Camera, width: u32, height: u32) -> Vec<f32> {
        attenuation::picture(self, &camera.view(width, height), width, height)
    }

    /// Makes the picture. It is the same to the last bit whatever the number of
    /// threads.
    pub fn render(&self, camera: &Camera, width: u32, height: u32) -> Image {
        let mut image = Image::new(width, height, Colour::BLACK);
        let (width, height) = (image.width(), image.height());
        let sums = self.attenuation(camera, width, height);
        let film = &self.film;
        let level = film.level.unwrap_or_else(|| middle(&sums));
        let arrived: Vec<f32> = sums.iter().map(|a| (-a).exp()).collect();
        let mut arrived = blurred(&arrived, width as usize, film.blur);
        let veil = film.scatter.max(0.0) * (-level).exp();
        let grain = grain(width, height, film);
        arrived.iter_mut().for_each(|i| *i += veil);
        image
            .pixels_mut()
            .par_chunks_mut(width as usize)
            .enumerate()
            .for_each(|(y, row)| {
                for (x, pixel) in row.iter_mut().enumerate() {
                    let k = y * width as usize + x;
                    let a = -arrived[k].max(1e-30).ln();
                    // Photons count as their square root: σ(ln I) = 1 / √N.
                    let a = a + grain[k] * (0.5 * (a - level)).clamp(-3.0, 2.5).exp();
                    // The film's curve (Hurter & Driffield 1890) as a logistic one.
                    let white = 1.0 / (1.0 + (-4.0 * film.contrast * 0.5 * (a - level)).exp());
                    let shade = if film.inverted { 1.0 - white } else { white };
                    let shade = 0.015 + 0.97 * shade;
                    let exposed = collimator(film, x as u32, y as u32, width, height);
                    *pixel = Vec3::splat(srgb_to_linear(shade * exposed));
                }
            });
        overlay::draw(&mut image, None, self.caption.as_deref());
        image
    }
}

/// A little above the median of what is in the way of the rays.
fn middle(sums: &[f32]) -> f32 {
    let mut seen: Vec<f32> = sums.iter().copied().filter(|&a| a > 0.02).collect();
    if seen.is_empty() {
        return 1.0;
    }
    let half = seen.len() / 2;
    let (_, median, _) = seen.select_nth_unstable_by(half, f32::total_cmp);
    *median + 0.35
}

/// Noise per pixel at middle grey, a little coarser than the pixels.
fn grain(width: u32, height: u32, film: &Film) -> Vec<f32> {
    if film.noise <= 0.0 {
        return vec![0.0; width as usize * height as usize];
    }
    let raw: Vec<f32> = (0..width * height)
        .into_par_iter()
        .map(|k| Noise::new(k % width, k / width, film.seed).normal())
        .collect();
    // Blurring by 0.6 pixels leaves about half of the deviation.
    let mut soft = blurred(&raw, width as usize, 0.6);
    soft.iter_mut().for_each(|v| *v *= 2.0 * film.noise);
    soft
}

/// Gaussian blur, first along rows, then along columns.
fn blurred(values: &[f32], width: usize, deviation: f32) -> Vec<f32> {
    if !(deviation > 0.05 && deviation.is_finite()) {
        return values.to_vec();
    }
    let reach = (3.0 * deviation).ceil().min(64.0) as isize;
    let weights: Vec<f32> = (-reach..=reach)
        .map(|k| (-0.5 * (k as f32 / deviation).powi(2)).exp())
        .collect();
    let total: f32 = weights.iter().sum();
    let height = values.len() / width;
    let pass = |from: &[f32], dx: isize, dy: isize| -> Vec<f32> {
        (0..from.len())
            .into_par_iter()
            .with_min_len(4096)
            .map(|k| {
                let (x, y) = ((k % width) as isize, (k / width) as isize);
                let mut sum = 0.0;
                for (w, o) in weights.iter().zip(-reach..=reach) {
                    let x = (x + o * dx).clamp(0, width as isize - 1) as usize;
                    let y = (y + o * dy).clamp(0, height as isize - 1) as usize;
                    sum += w * from[y * width + x];
                }
                sum / total
            })
            .collect()
    };
    pass(&pass(values, 1, 0), 0, 1)
}

/// 1 in the exposed part of the picture, 0 outside, soft between.
fn collimator(film: &Film, x: u32, y: u32, width: u32, height: u32) -> f32 {
    if !film.collimated {
        return 1.0;
    }
    let margin = 0.02 * width.min(height) as f32;
    let corner = 2.0 * margin;
    let away = |v: u32, n: u32| {
        let v = v as f32 + 0.5;
        (margin + corner - v.min(n as f32 - v)).max(0.0)
    };
    let outside = away(x, width).hypot(away(y, height)) - corner;
    (0.5 - 0.7 * outside).clamp(0.0, 1.0)
}
