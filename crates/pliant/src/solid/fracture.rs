//! Fracture: where a body is pulled harder than it can bear, it opens across the pull.
//!
//! The stress at a point is the mean of its tetrahedra. If its largest principal value
//! is above the strength, the faces around the point are opened that separate the
//! tetrahedra on one side of the plane across the pull from those on the other, after
//! O'Brien & Hodgins 1999 with the crack snapped to faces (Müller et al. 2004, section
//! 4). Opening must set free at least as much elastic energy as the new faces cost.

use glam::{Mat3A, Vec3, Vec3A};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::element::{norm_squared, trace};
use super::settings::{SolidError, not_negative, positive};
use super::split::Joint;
use super::state::{Body, Solid};
use crate::surface::symmetric_eigen;

/// When a body breaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fracture {
    /// Largest principal stress that it bears, in Pa.
    pub strength: f32,
    /// Energy that opening costs, in J per m² of crack.
    #[serde(default)]
    pub toughness: f32,
    /// A direction of the body at rest in which it bears `grain_strength` times as
    /// much.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub grain: Vec3,
    /// See `grain`.
    #[serde(default = "same")]
    pub grain_strength: f32,
    /// Opens no more than this number of points in a sub-step.
    #[serde(default = "few")]
    pub most_per_step: u32,
}

fn same() -> f32 {
    1.0
}

fn few() -> u32 {
    8
}

impl Fracture {
    /// Breaks above `strength` in Pa, whatever it costs.
    pub fn new(strength: f32) -> Fracture {
        Fracture {
            strength,
            toughness: 0.0,
            grain: Vec3::ZERO,
            grain_strength: same(),
            most_per_step: few(),
        }
    }

    pub(super) fn check(&self) -> Result<(), SolidError> {
        positive("strength", self.strength)?;
        positive("grain_strength", self.grain_strength)?;
        not_negative("toughness", self.toughness)
    }

    /// What it bears along a direction of the body at rest, in Pa.
    fn strength_along(&self, direction: Vec3) -> f32 {
        let along = self.grain.normalize_or_zero().dot(direction).powi(2);
        self.strength * (1.0 + (self.grain_strength - 1.0) * along)
    }
}

/// A point that bears too much.
struct Overload {
    point: u32,
    /// How much too much: stress over strength.
    ratio: f32,
    /// Direction of the pull, where the body is now.
    pull: Vec3A,
}

impl Solid {
    /// Opens the body where it bears more than it can. Returns how many points have
    /// been copied.
    pub(crate) fn fracture(&mut self) -> usize {
        let Some(fracture) = self.settings.fracture else {
            return 0;
        };
        let overloads = self.overloads(&fracture);
        if overloads.is_empty() {
            return 0;
        }
        let joints = self.joints();
        let mut busy = vec![false; self.len()];
        let mut open: Vec<Joint> = Vec::new();
        let mut opened = 0;
        for overload in overloads {
            if opened >= fracture.most_per_step {
                break;
            }
            // One step relieves all that is around a crack; look again in the next.
            if busy[overload.point as usize] {
                continue;
            }
            let found = self.across(&overload, &joints);
            if found.is_empty() || self.costs_too_much(&fracture, overload.point, &found) {
                continue;
            }
            for tet in self
                .mesh
                .tets
                .iter()
                .filter(|t| t.contains(&overload.point))
            {
                tet.iter().for_each(|&v| busy[v as usize] = true);
            }
            open.extend(found);
            opened += 1;
        }
        self.open_joints(open)
    }

    /// Points that bear too much, worst first.
    fn overloads(&self, fracture: &Fracture) -> Vec<Overload> {
        let Body::Elastic(body) = &self.body else {
            return Vec::new();
        };
        // Volume-weighted Cauchy stress.
        let mut sum = vec![(Mat3A::ZERO, 0.0f32, Mat3A::ZERO); self.len()];
        for (t, tet) in self.mesh.tets.iter().enumerate() {
            let u = tet.map(|v| self.displacement[v as usize]);
            let f = Mat3A::IDENTITY + body.elements.displacement_gradient(t, u);
            let j = f.determinant().abs().max(1e-3);
            let stress = body.state[t].stress * f.transpose() * (1.0 / j);
            let volume = body.elements.volume[t];
            for &v in tet {
                let at = &mut sum[v as usize];
                at.0 += stress * volume;
                at.1 += volume;
                at.2 += f * volume;
            }
        }
        let least = fracture.strength * fracture.grain_strength.min(1.0);
        let mut found = Vec::new();
        for (i, (stress, volume, f)) in sum.into_iter().enumerate() {
            if volume <= 0.0 || trace(stress) <= -3.0 * fracture.strength * volume {
                continue;
            }
            let mean = stress * (0.5 / volume);
            let mean = mean + mean.transpose();
            // No principal value is above the norm.
            if norm_squared(mean) < least * least {
                continue;
            }
            let (value, pull) = principal(mean);
            // As the body at rest has it.
            let rest = (f.transpose() * pull).normalize_or_zero();
            let ratio = value / fracture.strength_along(rest.into());
            if ratio > 1.0 {
                found.push(Overload {
                    point: i as u32,
                    ratio,
                    pull,
                });
            }
        }
        found.sort_by(|a, b| b.ratio.total_cmp(&a.ratio).then(a.point.cmp(&b.point)));
        found
    }

    /// The faces around a point between the tetrahedra on both sides of the plane across
    /// the pull.
    fn across(&self, overload: &Overload, joints: &[Joint]) -> Vec<Joint> {
        let here = self.place(overload.point);
        let beyond = |t: u32| {
            let tet = self.mesh.tets[t as usize];
            let sum = tet.into_iter().map(|v| self.place(v)).sum::<Vec3A>();
            overload.pull.dot(0.25 * sum - here) > 0.0
        };
        let at_point = |t: u32| self.mesh.tets[t as usize].contains(&overload.point);
        let around = joints.iter().filter(|(a, b)| at_point(*a) && at_point(*b));
        around
            .filter(|(a, b)| beyond(*a) != beyond(*b))
            .copied()
            .collect()
    }

    /// True if the elastic energy around a point does not pay for the new faces.
    fn costs_too_much(&self, fracture: &Fracture, point: u32, open: &[Joint]) -> bool {
        if fracture.toughness <= 0.0 {
            return false;
        }
        let Body::Elastic(body) = &self.body else {
            return true;
        };
        let around = self.mesh.tets.iter().enumerate();
        let around = around.filter(|(_, tet)| tet.contains(&point));
        let energy: f32 = around
            .map(|(t, _)| body.energy_of(t, &self.mesh.tets, &self.displacement) as f32)
            .sum();
        let area: f32 = open.iter().map(|j| self.face_area(*j)).sum();
        energy < fracture.toughness * area
    }

    fn face_area(&self, (a, b): Joint) -> f32 {
        let other = self.mesh.tets[b as usize];
        let shared = self.mesh.tets[a as usize];
        let mut shared = shared.into_iter().filter(|v| other.contains(v));
        match [shared.next(), shared.next(), shared.next()] {
            [Some(i), Some(j), Some(k)] => {
                let [p, q, r] = [i, j, k].map(|v| self.place(v));
                0.5 * (q - p).cross(r - p).length()
            }
            _ => 0.0,
        }
    }

    pub(super) fn place(&self, v: u32) -> Vec3A {
        Vec3A::from(self.mesh.points[v as usize]) + self.displacement[v as usize]
    }
}

/// The largest principal value of a symmetric matrix and its direction.
fn principal(m: Mat3A) -> (f32, Vec3A) {
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    let (values, axes) = symmetric_eigen([x.x, y.y, z.z, x.y, x.z, y.z]);
    let largest = values.max_position();
    (values[largest], axes.col(largest).into())
}

#[cfg(test)]
#[path = "fracture_tests.rs"]
mod tests;
