//! Densities on a regular grid, as computed tomography gives them.

use glam::Vec3;
use pliant::math::Aabb;

/// Values at the nodes of a regular grid, x fastest, and linear between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// Number of nodes along x, y and z; at least 1 each.
    pub size: [usize; 3],
    /// Place of the first node in metres.
    pub origin: Vec3,
    /// Distance between nodes in metres.
    pub spacing: Vec3,
    /// One value per node.
    pub values: Vec<f32>,
}

impl Volume {
    /// The box around all nodes.
    pub fn aabb(&self) -> Aabb {
        let last = Vec3::from_array(self.size.map(|n| n.saturating_sub(1) as f32));
        Aabb {
            min: self.origin,
            max: self.origin + last * self.spacing,
        }
    }

    /// Every value changed by `f`; for turning Hounsfield units into attenuation.
    pub fn map(mut self, f: impl Fn(f32) -> f32) -> Volume {
        self.values.iter_mut().for_each(|v| *v = f(*v));
        self
    }

    /// The value at a place; 0 outside.
    pub fn sample(&self, p: Vec3) -> f32 {
        let q = (p - self.origin) / self.spacing;
        let last = Vec3::from_array(self.size.map(|n| n as f32 - 1.0));
        if !(q.cmpge(Vec3::ZERO).all() && q.cmple(last).all()) {
            return 0.0;
        }
        let cell = q.floor().min(last - 1.0).max(Vec3::ZERO);
        let f = q - cell;
        let [nx, ny, _] = self.size;
        let [x, y, z] = cell.to_array().map(|v| v as usize);
        let step = |axis: usize, stride: usize| if self.size[axis] > 1 { stride } else { 0 };
        let (dx, dy, dz) = (step(0, 1), step(1, nx), step(2, nx * ny));
        let base = (z * ny + y) * nx + x;
        let at = |k: usize| self.values.get(base + k).copied().unwrap_or(0.0);
        let lerp = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let edge = |k: usize| lerp(at(k), at(k + dx), f.x);
        let face = |k: usize| lerp(edge(k), edge(k + dy), f.y);
        lerp(face(0), face(dz), f.z)
    }

    /// The integral of the values along a ray, by steps of half the distance
    /// between nodes. `direction` is a unit vector.
    pub fn integral(&self, origin: Vec3, direction: Vec3) -> f32 {
        let aabb = self.aabb();
        let (a, b) = (
            (aabb.min - origin) / direction,
            (aabb.max - origin) / direction,
        );
        let enter = a.min(b).max_element().max(0.0);
        let leave = a.max(b).min_element();
        if !(enter < leave && leave.is_finite()) {
            return 0.0;
        }
        let steps = ((leave - enter) / (0.5 * self.spacing.min_element()))
            .ceil()
            .clamp(1.0, 1e5);
        let step = (leave - enter) / steps;
        let sum: f32 = (0..steps as usize)
            .map(|k| self.sample(origin + direction * (enter + (k as f32 + 0.5) * step)))
            .sum();
        sum * step
    }
}
