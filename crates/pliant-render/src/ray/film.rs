//! From rays to an image.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::noise::{Noise, spread};
use super::trace::{Ray, Tracer};
use super::{RayScene, RaySettings};
use crate::camera::{Camera, View};
use crate::colour::Colour;
use crate::image::Image;
use crate::overlay;

/// Pixels whose first samples differ by less than this, as they will be seen,
/// take no more.
const ALIKE: f32 = 0.02;

impl RayScene<'_> {
    /// Makes the still. It is the same to the last bit whatever the number of
    /// threads.
    pub fn render(
        &self,
        camera: &Camera,
        width: u32,
        height: u32,
        settings: &RaySettings,
    ) -> Image {
        let mut image = Image::new(width, height, Colour::WHITE);
        let (width, height) = (image.width(), image.height());
        let view = camera.view(width, height);
        let tracer = Tracer::new(self, &view, settings.depth);
        let samples = settings.samples.clamp(1, 4096);
        image
            .pixels_mut()
            .par_chunks_mut(width as usize)
            .enumerate()
            .for_each(|(y, row)| {
                for (x, pixel) in row.iter_mut().enumerate() {
                    *pixel = develop(&tracer, &view, x as u32, y as u32, samples);
                }
            });
        overlay::draw(&mut image, self.legend.as_ref(), self.caption.as_deref());
        image
    }
}

/// The colour of one pixel.
fn develop(tracer: &Tracer<'_>, view: &View, x: u32, y: u32, samples: u32) -> Vec3 {
    let mut shifts = Noise::new(x, y, u32::MAX);
    let shift = [shifts.next(), shifts.next()];
    let mut chance = false;
    let mut sample = |k: u32| {
        let mut noise = Noise::new(x, y, k);
        let [u, v] = spread(k, shift);
        let at = Vec2::new(x as f32 + u, y as f32 + v);
        let direction = view.direction_to_world(view.ray(at)).normalize();
        let light = tracer.light(Ray::new(view.eye, direction), &mut noise);
        chance |= !noise.is_untouched();
        (toned(light), chance)
    };
    let few = (samples / 4).max(4).min(samples);
    let (mut sum, mut low, mut high) = (Vec3::ZERO, Vec3::INFINITY, Vec3::NEG_INFINITY);
    let mut chancy = false;
    for k in 0..few {
        let (light, by_chance) = sample(k);
        chancy = by_chance;
        sum += light;
        low = low.min(light);
        high = high.max(light);
    }
    // Differences count as they will be seen, near the square root of light.
    let root = |v: Vec3| v.max(Vec3::ZERO).map(f32::sqrt);
    // Few samples of what is left to chance may be alike by chance.
    if !chancy && (root(high) - root(low)).max_element() < ALIKE {
        return sum / few as f32;
    }
    for k in few..samples {
        sum += sample(k).0;
    }
    sum / samples as f32
}

/// Light as film takes it: straight up to 0.7, then bending towards 1, so that
/// lamps do not burn holes.
fn toned(light: Vec3) -> Vec3 {
    const KNEE: f32 = 0.7;
    light.map(|l| {
        if l <= KNEE {
            l.max(0.0)
        } else {
            let over = (l - KNEE) / (1.0 - KNEE);
            KNEE + (1.0 - KNEE) * (1.0 - (-over).exp())
        }
    })
}
