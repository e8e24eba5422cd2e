//! Cloth by condition functions, with drag (Bhat et al. 2003; Mesit 2010, 3.14-3.17). The
//! conditions are those of Baraff & Witkin 1998: every triangle keeps the length of both
//! directions of the cloth and the right angle between them.

use glam::Vec3A;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::energies::stretch;
use super::{Points, Start, hinges};

/// How a filmed cloth behaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// Stiffness along both directions of the cloth, in N/m.
    pub stretch: f32,
    /// Stiffness against shear, in N/m.
    pub shear: f32,
    /// Energy of a hinge between two triangles per squared change of the distance of its
    /// tips, relative to that at the start, in J.
    pub bend: f32,
    /// Damping of every condition along itself, in seconds.
    pub damping: f32,
    /// k_N: drag of air that meets the cloth squarely, in N s²/m⁴.
    pub normal_drag: f32,
    /// k_T: drag of air along the cloth, in N s/m³.
    pub tangent_drag: f32,
    /// k_f: how early the drag stops to grow, in s²/m².
    pub drag_limit: f32,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions {
            stretch: 50.0,
            shear: 10.0,
            bend: 1e-4,
            damping: 0.002,
            normal_drag: 1.0,
            tangent_drag: 0.05,
            drag_limit: 0.1,
        }
    }
}

/// A triangle and how its two directions follow from its corners.
#[derive(Clone, Debug)]
struct Patch {
    ids: [u32; 3],
    /// Weights of the corners in `w_u` and `w_v`.
    u: [f32; 3],
    v: [f32; 3],
    /// Root of its area, so that energies are per area.
    scale: f32,
}

/// A cloth at the start.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Fabric {
    settings: Conditions,
    patches: Vec<Patch>,
    hinges: Vec<([u32; 2], f32)>,
}

impl Fabric {
    pub fn new(settings: Conditions, start: &Start<'_>) -> Fabric {
        let at = |v: u32| Vec3A::from(start.place[v as usize]);
        let patch = |&ids: &[u32; 3]| {
            let [a, b, c] = ids.map(at);
            let normal = (b - a).cross(c - a);
            let area = 0.5 * normal.length();
            let normal = normal.normalize_or(Vec3A::Y);
            // One direction of the cloth is x, or z where it stands across.
            let across = Vec3A::X - normal.x * normal;
            let along = if across.length_squared() > 0.01 {
                across
            } else {
                Vec3A::Z - normal.z * normal
            };
            let x = along.normalize_or(Vec3A::Z);
            let y = normal.cross(x);
            let [(u1, v1), (u2, v2)] = [b - a, c - a].map(|e| (e.dot(x), e.dot(y)));
            let d = u1 * v2 - u2 * v1;
            Patch {
                ids,
                u: [(v1 - v2) / d, v2 / d, -v1 / d],
                v: [(u2 - u1) / d, -u2 / d, u1 / d],
                scale: area.sqrt(),
            }
        };
        let tips = hinges(&start.topology.triangles).into_iter();
        Fabric {
            settings,
            patches: start.topology.triangles.iter().map(patch).collect(),
            hinges: tips
                .map(|[_, _, a, b]| ([a, b], at(a).distance(at(b))))
                .collect(),
        }
    }

    pub fn add_forces(&self, points: &mut Points<'_>) {
        let s = self.settings;
        let alpha = points.controls.alpha;
        for patch in &self.patches {
            let place = patch.ids.map(|v| points.position[v as usize]);
            let [along, across, sheared] = patch.conditions(place);
            let k = alpha * s.stretch;
            points.constrain(patch.ids, along.0, along.1, k, s.damping);
            points.constrain(patch.ids, across.0, across.1, k, s.damping);
            let k = alpha * s.shear;
            points.constrain(patch.ids, sheared.0, sheared.1, k, s.damping);
            self.drag(points, patch.ids, place);
        }
        for &(tips, rest) in &self.hinges {
            let (value, gradient) = stretch(tips.map(|v| points.position[v as usize]), rest);
            points.constrain(tips, value, gradient, alpha * s.bend, s.damping);
        }
    }

    /// `F = -a (k_N |v_N|² / (1 + k_f |v_N|²) v_N / |v_N| + k_T v_T)` (3.17).
    fn drag(&self, points: &mut Points<'_>, ids: [u32; 3], [a, b, c]: [Vec3A; 3]) {
        let s = self.settings;
        let normal = (b - a).cross(c - a);
        let area = 0.5 * normal.length();
        let normal = normal.normalize_or_zero();
        let velocities = ids.map(|v| points.velocity[v as usize]);
        let velocity = (velocities[0] + velocities[1] + velocities[2]) / 3.0;
        let squarely = velocity.dot(normal);
        let along = velocity - squarely * normal;
        let limited = s.normal_drag * squarely.abs() / (1.0 + s.drag_limit * squarely * squarely);
        let force = -area * (limited * squarely * normal + s.tangent_drag * along);
        for id in ids {
            points.force[id as usize] += force / 3.0;
        }
    }

    /// All energy in J.
    #[cfg(test)]
    pub fn energy(&self, place: &[Vec3A]) -> f64 {
        let s = self.settings;
        let half = |k: f32, c: f32| 0.5 * f64::from(k) * f64::from(c) * f64::from(c);
        let mut sum = 0.0;
        for patch in &self.patches {
            let [a, b, c] = patch.conditions(patch.ids.map(|v| place[v as usize]));
            sum += half(s.stretch, a.0) + half(s.stretch, b.0) + half(s.shear, c.0);
        }
        for (tips, rest) in &self.hinges {
            sum += half(s.bend, stretch(tips.map(|v| place[v as usize]), *rest).0);
        }
        sum
    }
}

type Condition = (f32, [Vec3A; 3]);

impl Patch {
    /// Stretch along both directions, and shear, with how they change.
    #[inline]
    fn conditions(&self, place: [Vec3A; 3]) -> [Condition; 3] {
        let mix = |w: [f32; 3]| w[0] * place[0] + w[1] * place[1] + w[2] * place[2];
        let (wu, wv) = (mix(self.u), mix(self.v));
        let s = self.scale;
        let stretched = |w: Vec3A, weights: [f32; 3]| {
            let length = w.length().max(1e-20);
            let along = (s / length) * w;
            (s * (length - 1.0), weights.map(|k| k * along))
        };
        let mut sheared = [Vec3A::ZERO; 3];
        for (k, gradient) in sheared.iter_mut().enumerate() {
            *gradient = s * (self.u[k] * wv + self.v[k] * wu);
        }
        [
            stretched(wu, self.u),
            stretched(wv, self.v),
            (s * wu.dot(wv), sheared),
        ]
    }
}
