//! How much of the sky each visible point sees, from the depths around it.

use glam::Vec3;
use rayon::prelude::*;

use crate::camera::View;
use crate::tiles::{TILE, TileGrid};

/// Neighbours looked at per pixel.
const TAPS: usize = 12;
/// Largest reach on the screen, in pixels.
const MAX_REACH: f32 = 48.0;
/// Side of the pattern of turned tap sets, and of the smoothing window.
const PATTERN: usize = 4;

/// Depth and view-space normal of the nearest surface in each pixel.
pub(crate) struct Surfaces {
    pub width: usize,
    pub height: usize,
    /// Infinite where there is nothing.
    pub depth: Vec<f32>,
    pub normal: Vec<Vec3>,
    /// For each tile whether it shows more than floor and background.
    pub busy: Vec<bool>,
}

impl Surfaces {
    fn grid(&self) -> TileGrid {
        TileGrid {
            width: self.width as u32,
            height: self.height as u32,
        }
    }

    /// For each tile whether something other than the floor is within reach. A
    /// bare floor is open, and need not be looked at.
    fn near_busy(&self) -> Vec<bool> {
        let grid = self.grid();
        let reach = (MAX_REACH / TILE as f32).ceil() as usize;
        let columns = grid.columns() as usize;
        let rows = grid.len() / columns;
        (0..grid.len())
            .map(|tile| {
                let (x, y) = (tile % columns, tile / columns);
                let span = |a: usize, end: usize| a.saturating_sub(reach)..(a + reach + 1).min(end);
                span(y, rows).any(|row| span(x, columns).any(|c| self.busy[row * columns + c]))
            })
            .collect()
    }
}

/// For each pixel 1 where the surface is open and less where its surroundings
/// within `radius` metres cover it: scalable ambient obscurance (McGuire et al.
/// 2012), smoothed over the pattern of taps.
pub(crate) fn openness(surfaces: &Surfaces, view: &View, radius: f32) -> Vec<f32> {
    let taps = tap_sets();
    let near_busy = surfaces.near_busy();
    let columns = surfaces.grid().columns() as usize;
    let mut raw = vec![1.0; surfaces.depth.len()];
    raw.par_chunks_mut(surfaces.width.max(1))
        .enumerate()
        .for_each(|(y, row)| {
            for (x, out) in row.iter_mut().enumerate() {
                if !near_busy[y / TILE as usize * columns + x / TILE as usize] {
                    continue;
                }
                let set = &taps[(y % PATTERN) * PATTERN + x % PATTERN];
                *out = openness_at(surfaces, view, radius, x, y, set);
            }
        });
    smoothed(surfaces, &raw, radius, &near_busy)
}

/// Points of a spiral in the unit disc, turned differently for each pixel of the
/// pattern. The turns are shuffled so that neighbours differ strongly.
fn tap_sets() -> Vec<[(f32, f32); TAPS]> {
    const GOLDEN_ANGLE: f32 = 2.399_963;
    (0..PATTERN * PATTERN)
        .map(|k| {
            let turn = std::f32::consts::TAU * ((k * 7) % 16) as f32 / 16.0;
            std::array::from_fn(|i| {
                let r = (i as f32 + 0.5) / TAPS as f32;
                let angle = turn + GOLDEN_ANGLE * i as f32;
                (r * angle.cos(), r * angle.sin())
            })
        })
        .collect()
}

fn openness_at(
    surfaces: &Surfaces,
    view: &View,
    radius: f32,
    x: usize,
    y: usize,
    taps: &[(f32, f32); TAPS],
) -> f32 {
    let i = y * surfaces.width + x;
    let depth = surfaces.depth[i];
    let reach = (radius * view.focal / depth).min(MAX_REACH);
    if !depth.is_finite() || reach < 1.0 {
        return 1.0;
    }
    let centre = |x: usize, y: usize| glam::Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
    let point = view.ray(centre(x, y)) * depth;
    let normal = surfaces.normal[i];
    let radius2 = radius * radius;
    let bias = 0.02 * radius;
    let mut sum = 0.0;
    for &(dx, dy) in taps {
        let (qx, qy) = (x as f32 + dx * reach, y as f32 + dy * reach);
        if qx < 0.0 || qy < 0.0 {
            continue;
        }
        let (qx, qy) = (qx as usize, qy as usize);
        if qx >= surfaces.width || qy >= surfaces.height {
            continue;
        }
        let q = surfaces.depth[qy * surfaces.width + qx];
        if !q.is_finite() {
            continue;
        }
        let v = view.ray(centre(qx, qy)) * q - point;
        let vv = v.length_squared();
        let fall_off = (1.0 - vv / radius2).max(0.0);
        let height = (v.dot(normal) - bias).max(0.0);
        sum += fall_off * fall_off * fall_off * height / (vv + 1e-3 * radius2);
    }
    // The published weight 5 σ / (r^6 n) with the r^6 taken into the fall-off and
    // σ proportional to r, which leaves no unit.
    let strength = 5.0 * radius / TAPS as f32;
    (1.0 - strength * sum).max(0.0)
}

/// Mean over the pattern's window, among pixels of about the same depth.
fn smoothed(surfaces: &Surfaces, raw: &[f32], radius: f32, near_busy: &[bool]) -> Vec<f32> {
    let columns = surfaces.grid().columns() as usize;
    let (width, height) = (surfaces.width, surfaces.height);
    let mut out = vec![1.0; raw.len()];
    out.par_chunks_mut(width.max(1))
        .enumerate()
        .for_each(|(y, row)| {
            for (x, out) in row.iter_mut().enumerate() {
                let depth = surfaces.depth[y * width + x];
                let tile = y / TILE as usize * columns + x / TILE as usize;
                if !depth.is_finite() || !near_busy[tile] {
                    continue;
                }
                let (mut sum, mut count) = (0.0, 0.0);
                let half = PATTERN / 2;
                for qy in y.saturating_sub(half)..(y + half).min(height) {
                    for qx in x.saturating_sub(half)..(x + half).min(width) {
                        let i = qy * width + qx;
                        if (surfaces.depth[i] - depth).abs() < 0.4 * radius {
                            sum += raw[i];
                            count += 1.0;
                        }
                    }
                }
                *out = if count > 0.0 {
                    sum / count
                } else {
                    raw[y * width + x]
                };
            }
        });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Camera;

    #[test]
    fn a_flat_wall_is_open_and_a_trench_is_not() {
        let view = Camera {
            eye: Vec3::ZERO,
            target: Vec3::NEG_Z,
            up: Vec3::Y,
            vertical_fov_degrees: 60.0,
        }
        .view(64, 64);
        let mut surfaces = Surfaces {
            width: 64,
            height: 64,
            depth: vec![2.0; 64 * 64],
            normal: vec![Vec3::NEG_Z; 64 * 64],
            busy: vec![true; 4],
        };
        let flat = openness(&surfaces, &view, 0.2);
        assert!(flat.iter().all(|&o| o > 0.99));
        for y in 0..64 {
            for x in 30..34 {
                surfaces.depth[y * 64 + x] = 2.1;
            }
        }
        let trench = openness(&surfaces, &view, 0.2);
        assert!(trench[32 * 64 + 32] < 0.8);
        assert!(trench[32 * 64 + 8] > 0.99);
    }
}
