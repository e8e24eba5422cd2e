//! Cloth under water (Ozgen et al. 2010; Mesit 2010, 3.23-3.28): springs whose damping and
//! drag follow the half derivative of places, which remembers all motion before; buoyancy.

use std::f64::consts::PI;

use glam::Vec3A;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Points;

/// What water does to a cloth. Its springs are those of `body`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Underwater {
    /// k_d: damping of a spring by the difference of the half derivatives of its ends, as a
    /// share of its stiffness, in √s.
    pub half_damping: f32,
    /// k_hd: drag by the half derivative of each point's place, per mass, in s^-3/2.
    pub history_drag: f32,
    /// k_vd: drag by the velocity, per mass, in 1/s.
    pub viscous_drag: f32,
    /// Density of the water over that of the cloth: above 1 it rises.
    pub water: f32,
    /// Sub-steps that are remembered.
    pub memory: u32,
}

impl Default for Underwater {
    fn default() -> Self {
        Underwater {
            half_damping: 0.02,
            history_drag: 2.0,
            viscous_drag: 1.0,
            water: 0.8,
            memory: 400,
        }
    }
}

/// Velocities of the last sub-steps.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Wet {
    settings: Underwater,
    /// One after the other, the oldest first.
    past: Vec<Vec3A>,
    /// Half derivatives of all places.
    half: Vec<Vec3A>,
}

impl Wet {
    pub fn new(settings: Underwater) -> Wet {
        Wet {
            settings,
            past: Vec::new(),
            half: Vec::new(),
        }
    }

    /// Adds all forces but gravity; returns the share of it that is left in water.
    pub fn add_forces(&mut self, points: &mut Points<'_>) -> f32 {
        let s = self.settings;
        let n = points.position.len();
        if self.past.len() >= n * s.memory.max(2) as usize {
            self.past.drain(..n);
        }
        self.past.extend_from_slice(points.velocity);
        self.find_half(n, points.h);
        let (alpha, beta) = (points.controls.alpha, points.controls.beta);
        for spring in &points.topology.springs {
            let [i, j] = spring.ends.map(|e| e as usize);
            let way = points.position[j] - points.position[i];
            let length = way.length().max(1e-20);
            let way = way / length;
            let slowed = s.half_damping * (self.half[j] - self.half[i]).dot(way);
            let pull = alpha * spring.stiffness * (length - spring.rest + slowed);
            points.force[i] += pull * way;
            points.force[j] -= pull * way;
        }
        for i in 0..n {
            let velocity = points.velocity[i];
            let along = velocity.normalize_or_zero();
            let history = s.history_drag * self.half[i].dot(along);
            let drag = history * along + s.viscous_drag * velocity;
            points.force[i] -= (beta * points.mass[i]) * drag;
        }
        1.0 - beta * s.water
    }

    /// (3.26) for all points: a sum over what is remembered, whose weights depend on nothing
    /// but how long ago it was.
    fn find_half(&mut self, n: usize, h: f32) {
        let steps = self.past.len() / n;
        self.half.clear();
        self.half.resize(n, Vec3A::ZERO);
        for (k, velocity) in self.past.chunks_exact(n).enumerate() {
            let weight = weight(steps - 1 - k, k == 0, f64::from(h)) as f32;
            for (half, v) in self.half.iter_mut().zip(velocity) {
                *half += weight * *v;
            }
        }
    }

    pub fn numbers(&self) -> Vec<f32> {
        self.past.iter().flat_map(|v| v.to_array()).collect()
    }

    pub fn restore(&mut self, numbers: &[f32]) -> bool {
        let places = numbers.chunks_exact(3);
        self.past = places.map(|v| Vec3A::new(v[0], v[1], v[2])).collect();
        numbers.len().is_multiple_of(3)
    }
}

/// Weight of the velocity `age` steps of `h` seconds ago in the half derivative (3.26):
/// Simpson's rule over whole steps; the last step, where the kernel `1 / √t` is infinite, in
/// two parts.
fn weight(age: usize, oldest: bool, h: f64) -> f64 {
    let root = |steps: f64| 1.0 / (steps * h).sqrt();
    let scale = h / (6.0 * PI.sqrt());
    let k = age as f64;
    let mut sum = 0.0;
    // As the end of a step, and as the start of the next one, unless that is the last.
    if age >= 1 && !oldest {
        sum += scale * (2.0 * root(k + 0.5) + root(k));
    }
    if age >= 2 {
        sum += scale * (root(k) + 2.0 * root(k - 0.5));
    }
    let last = 0.15 * h / PI.sqrt();
    if age == 1 {
        sum += last * (root(1.0) + 2.0 * root(0.55));
    }
    if age == 0 && !oldest {
        sum += last * (2.0 * root(0.55) + root(0.1));
        let end = 0.05 * h / PI.sqrt();
        sum += end * (8.0 * 2f64.sqrt() / 3.0 * root(0.05) - 4.0 / 3.0 * root(0.1));
    }
    sum
}

/// Half derivative of a place at the end of a motion that began at rest at the origin, from
/// its velocities every `h` seconds (Mesit 2010, 3.26).
///
/// ```
/// // Of x = t it is 2 √(t / π).
/// let velocities = vec![1.0; 101];
/// let half = pliant::soft::half_derivative(&velocities, 0.01);
/// assert!((half / (2.0 / std::f64::consts::PI.sqrt()) - 1.0).abs() < 0.01);
/// ```
pub fn half_derivative(velocities: &[f64], h: f64) -> f64 {
    let n = velocities.len();
    let terms = velocities.iter().enumerate();
    terms.map(|(i, v)| weight(n - 1 - i, i == 0, h) * v).sum()
}
