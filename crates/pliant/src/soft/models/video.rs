//! How far the film of a simulated cloth is from that of a real one (Bhat et al. 2003; Mesit
//! 2010, 3.18-3.22): by the directions of folds and by the silhouette, frame by frame.
//!
//! Films are made from a distance, along an axis, under light from beside the camera. The
//! direction of a fold at a pixel is that across which the brightness changes most.

use std::f32::consts::PI;

use glam::Vec3;

use crate::mesh::TriMesh;

/// Weight of the silhouette beside the folds.
const SILHOUETTE: f64 = 0.1;
/// Brightness per pixel above which there is a fold (τ).
const FOLD: f32 = 0.02;

/// From where a cloth is filmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Middle of the picture in metres.
    pub center: Vec3,
    /// Where it looks.
    pub forward: Vec3,
    /// What is up.
    pub up: Vec3,
    /// Width and height of the picture in metres.
    pub size: f32,
    /// Pixels along both sides.
    pub pixels: u32,
}

/// One frame: what every pixel shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    pixels: usize,
    /// Brightness of the cloth, `None` beside it.
    light: Vec<Option<f32>>,
}

impl Film {
    /// Films a surface.
    pub fn of(cloth: &TriMesh, camera: &Camera) -> Film {
        let n = camera.pixels.max(2) as usize;
        let forward = camera.forward.normalize_or(Vec3::NEG_Z);
        let right = forward.cross(camera.up).normalize_or(Vec3::X);
        let up = right.cross(forward);
        let lamp = (right + up - forward).normalize();
        let scale = n as f32 / camera.size.max(1e-6);
        let seen = |p: Vec3| {
            let p = p - camera.center;
            let across = |axis: Vec3| scale * p.dot(axis) + 0.5 * n as f32;
            Vec3::new(across(right), across(up), p.dot(forward))
        };
        let normals = vertex_normals(cloth);
        let mut film = Film {
            pixels: n,
            light: vec![None; n * n],
        };
        let mut depth = vec![f32::INFINITY; n * n];
        for triangle in &cloth.triangles {
            let corners = triangle.map(|v| seen(cloth.vertices[v as usize]));
            // Both sides of a cloth are lit alike.
            let lights = triangle.map(|v| normals[v as usize].dot(lamp).abs());
            film.draw(corners, lights, &mut depth);
        }
        film
    }

    fn draw(&mut self, [a, b, c]: [Vec3; 3], lights: [f32; 3], depth: &mut [f32]) {
        let area = (b - a).truncate().perp_dot((c - a).truncate());
        if area == 0.0 {
            return;
        }
        let most = self.pixels as f32 - 1.0;
        let range = |low: f32, high: f32| {
            let first = low.floor().clamp(0.0, most) as usize;
            first..=high.ceil().clamp(0.0, most) as usize
        };
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        for j in range(low.y, high.y) {
            for i in range(low.x, high.x) {
                let p = glam::Vec2::new(i as f32 + 0.5, j as f32 + 0.5);
                let share = |q: Vec3, r: Vec3| (q.truncate() - p).perp_dot(r.truncate() - p) / area;
                let weights = [share(b, c), share(c, a), share(a, b)];
                if weights.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let mix = |v: [f32; 3]| weights[0] * v[0] + weights[1] * v[1] + weights[2] * v[2];
                let (k, z) = (j * self.pixels + i, mix([a.z, b.z, c.z]));
                if z < depth[k] {
                    depth[k] = z;
                    self.light[k] = Some(mix(lights));
                }
            }
        }
    }

    /// Direction across which the brightness changes most at a pixel, as an angle, and by how
    /// much per pixel; `None` at the rim.
    fn fold(&self, i: usize, j: usize) -> Option<(f32, f32)> {
        let n = self.pixels;
        if i == 0 || j == 0 || i + 1 == n || j + 1 == n {
            return None;
        }
        let at = |i: usize, j: usize| self.light[j * n + i];
        let x = 0.5 * (at(i + 1, j)? - at(i - 1, j)?);
        let y = 0.5 * (at(i, j + 1)? - at(i, j - 1)?);
        Some((y.atan2(x), x.hypot(y)))
    }

    /// Share of the picture that the cloth covers.
    pub fn covered(&self) -> f64 {
        self.light.iter().flatten().count() as f64 / self.light.len() as f64
    }
}

/// Error of a film against a real one: `Σ_k E_fold + 0.1 E_silh` over all frames, both per
/// pixel (3.19-3.22). Folds count where the real film has them and both show cloth.
pub fn film_error(real: &[Film], simulated: &[Film]) -> f64 {
    let frame = |(r, s): (&Film, &Film)| {
        let n = r.pixels;
        let (mut folds, mut silhouette) = (0.0, 0.0);
        for k in 0..n * n {
            let (i, j) = (k % n, k / n);
            silhouette += f64::from(u8::from(r.light[k].is_some() != s.light[k].is_some()));
            if let (Some((a, size)), Some((b, _))) = (r.fold(i, j), s.fold(i, j))
                && size >= FOLD
            {
                // A fold has no sense of direction: angles are the same after half a turn.
                let off = (a - b).rem_euclid(PI);
                let off = f64::from(off.min(PI - off));
                folds += off * off;
            }
        }
        (folds + SILHOUETTE * silhouette) / (n * n) as f64
    };
    real.iter().zip(simulated).map(frame).sum()
}

fn vertex_normals(mesh: &TriMesh) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; mesh.vertices.len()];
    for (t, ids) in mesh.triangles.iter().enumerate() {
        let normal = mesh.area_normal(t);
        ids.iter().for_each(|&v| normals[v as usize] += normal);
    }
    normals.iter().map(|n| n.normalize_or_zero()).collect()
}
