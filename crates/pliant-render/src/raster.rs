//! Which opaque surface each sample of the picture sees, and how deep it lies.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::camera::View;
use crate::primitives::{Sphere, Triangle};
use crate::tiles::{Bins, PixelRect, TileGrid};

/// Samples per pixel.
pub(crate) const SAMPLES: usize = 4;

/// Where in a pixel the samples lie: a rotated 2x2 grid, so that nearly upright
/// and nearly level edges get four shades too.
pub(crate) const OFFSETS: [Vec2; SAMPLES] = [
    Vec2::new(0.375, 0.125),
    Vec2::new(0.875, 0.375),
    Vec2::new(0.125, 0.625),
    Vec2::new(0.625, 0.875),
];

/// What a sample sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Background,
    Ground,
    Sphere(u32),
    Triangle(u32),
}

/// The opaque part of a scene, in view space.
pub(crate) struct Opaque {
    /// Nearest first, so that hidden ones are rejected early.
    pub spheres: Vec<Sphere>,
    pub sphere_bins: Bins,
    pub triangles: Vec<Triangle>,
    pub triangle_rects: Vec<PixelRect>,
    pub triangle_bins: Bins,
    pub sphere_rects: Vec<PixelRect>,
    /// The ground's upward normal and its offset: `normal · p = offset`.
    pub ground: Option<(Vec3, f32)>,
}

/// The samples of one tile, row by row.
pub(crate) struct TileSamples {
    pub rect: PixelRect,
    pub depth: Vec<[f32; SAMPLES]>,
    pub seen: Vec<[Seen; SAMPLES]>,
}

/// Draws every tile; the result does not depend on the number of threads.
pub(crate) fn rasterise(opaque: &Opaque, view: &View, grid: TileGrid) -> Vec<TileSamples> {
    (0..grid.len())
        .into_par_iter()
        .map(|tile| rasterise_tile(opaque, view, tile, grid.rect(tile)))
        .collect()
}

fn rasterise_tile(opaque: &Opaque, view: &View, tile: usize, rect: PixelRect) -> TileSamples {
    let mut samples = TileSamples {
        rect,
        depth: vec![[f32::INFINITY; SAMPLES]; rect.area()],
        seen: vec![[Seen::Background; SAMPLES]; rect.area()],
    };
    if let Some((normal, offset)) = opaque.ground {
        samples.draw(view, rect, Seen::Ground, f32::NEG_INFINITY, |_, ray| {
            let slope = normal.dot(ray);
            // Seen from above only.
            (slope < 0.0).then(|| offset / slope)
        });
    }
    for &i in opaque.sphere_bins.of(tile) {
        let sphere = &opaque.spheres[i as usize];
        let part = rect.intersection(&opaque.sphere_rects[i as usize]);
        let nearest = sphere.centre.z - sphere.radius;
        samples.draw(view, part, Seen::Sphere(i), nearest, |_, ray| {
            sphere.hit(ray)
        });
    }
    for &i in opaque.triangle_bins.of(tile) {
        let triangle = &opaque.triangles[i as usize];
        let part = rect.intersection(&opaque.triangle_rects[i as usize]);
        samples.draw(view, part, Seen::Triangle(i), f32::NEG_INFINITY, |p, _| {
            triangle.hit(p)
        });
    }
    samples
}

impl TileSamples {
    /// True if the tile shows more than floor and background.
    pub fn is_busy(&self) -> bool {
        let bare = |s: &Seen| matches!(s, Seen::Background | Seen::Ground);
        !self.seen.iter().flatten().all(bare)
    }

    /// Keeps the nearest of what is there and what `hit` finds. `nearest` is a
    /// depth no hit can be in front of.
    #[inline]
    fn draw(
        &mut self,
        view: &View,
        part: PixelRect,
        what: Seen,
        nearest: f32,
        hit: impl Fn(Vec2, Vec3) -> Option<f32>,
    ) {
        for (x, y) in part.pixels() {
            let i = self.rect.index(x, y);
            let depth = &mut self.depth[i];
            if depth.iter().all(|&d| d <= nearest) {
                continue;
            }
            for s in 0..SAMPLES {
                let pixel = Vec2::new(x as f32, y as f32) + OFFSETS[s];
                if let Some(t) = hit(pixel, view.ray(pixel))
                    && t > 0.0
                    && t < depth[s]
                {
                    depth[s] = t;
                    self.seen[i][s] = what;
                }
            }
        }
    }
}

impl Opaque {
    /// The unit normal, turned to the camera, of a surface at a view-space point
    /// seen through a pixel coordinate.
    pub fn normal(&self, seen: Seen, pixel: Vec2, point: Vec3) -> Vec3 {
        let n = match seen {
            Seen::Background => Vec3::NEG_Z,
            Seen::Ground => self.ground.map_or(Vec3::Y, |(n, _)| n),
            Seen::Sphere(i) => {
                let sphere = &self.spheres[i as usize];
                (point - sphere.centre).normalize_or(Vec3::NEG_Z)
            }
            Seen::Triangle(i) => self.triangles[i as usize].surface(pixel).1,
        };
        if n.dot(point) > 0.0 { -n } else { n }
    }
}
