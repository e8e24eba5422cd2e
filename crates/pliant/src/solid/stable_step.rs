//! The longest stable step of springs, and what limits it.

use glam::Vec3A;

use super::settings::{Passes, VolumeForce};
use super::springs::SpringBody;
use crate::mesh::TetMesh;

/// Rounds of the power iteration. It approaches the largest frequency from below.
const ROUNDS: usize = 30;

/// The longest step for which small vibrations of a body do not grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableStep {
    /// In seconds, for a symplectic step (Euler-Cromer or Verlet).
    pub seconds: f32,
    /// Largest frequency in rad/s.
    pub frequency: f32,
    /// What limits it most.
    pub stiffest: Stiffest,
    /// The point that vibrates most at that frequency.
    pub point: u32,
}

/// What limits the step most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stiffest {
    /// Springs along edges.
    Distance,
    /// Forces that keep volumes.
    Volume,
    /// Damping of either.
    Damping,
}

impl std::fmt::Display for Stiffest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stiffest::Distance => "springs along edges",
            Stiffest::Volume => "volume forces",
            Stiffest::Damping => "damping",
        })
    }
}

impl StableStep {
    pub(super) fn of(body: &SpringBody, mesh: &TetMesh, inverse_mass: &[f32]) -> StableStep {
        let linear = Linear {
            body,
            mesh,
            inverse_mass,
        };
        let (stiff, mode) = linear.largest(&|p, out| {
            linear.distance(p, None, out);
            linear.volume(p, false, out);
        });
        let (damping, _) = linear.largest(&|p, out| {
            linear.distance(p, Some(body.settings.distance_damping), out);
            linear.volume(p, true, out);
        });
        // A symplectic step with explicit damping is stable while
        // h² ω² + 2 h c <= 4 for each mode; the largest of both bound all modes.
        let seconds = if stiff > 0.0 {
            (-damping + (damping * damping + 4.0 * stiff).sqrt()) / stiff
        } else {
            2.0 / damping.max(f64::MIN_POSITIVE)
        };
        let share = |apply: &dyn Fn(&[Vec3A], &mut [Vec3A])| {
            let mut out = vec![Vec3A::ZERO; mode.len()];
            apply(&mode, &mut out);
            mode.iter()
                .zip(&out)
                .map(|(a, b)| f64::from(a.dot(*b)))
                .sum::<f64>()
        };
        let distance = share(&|p, out| linear.distance(p, None, out));
        let volume = share(&|p, out| linear.volume(p, false, out));
        let point = (0..mode.len())
            .max_by(|&a, &b| {
                mode[a]
                    .length_squared()
                    .total_cmp(&mode[b].length_squared())
            })
            .unwrap_or(0);
        StableStep {
            seconds: seconds as f32,
            frequency: stiff.sqrt() as f32,
            stiffest: if damping * damping > stiff {
                Stiffest::Damping
            } else if distance >= volume {
                Stiffest::Distance
            } else {
                Stiffest::Volume
            },
            point: point as u32,
        }
    }
}

/// Forces of small displacements from rest.
struct Linear<'a> {
    body: &'a SpringBody,
    mesh: &'a TetMesh,
    inverse_mass: &'a [f32],
}

type Apply<'a> = &'a dyn Fn(&[Vec3A], &mut [Vec3A]);

impl Linear<'_> {
    /// Largest eigenvalue of M⁻¹ K and its vector.
    fn largest(&self, apply: Apply<'_>) -> (f64, Vec<Vec3A>) {
        // Neighbours move against each other, more or less: the stiffest mode does too.
        let start = |i: usize| {
            let k = (i as u32).wrapping_mul(2_654_435_761);
            let part = |shift: u32| (k >> shift & 0xff) as f32 / 127.5 - 1.0;
            Vec3A::new(part(0), part(8), part(16))
        };
        let mut p: Vec<Vec3A> = (0..self.mesh.points.len()).map(start).collect();
        let mut out = vec![Vec3A::ZERO; p.len()];
        let mut value = 0.0;
        for _ in 0..ROUNDS {
            let norm: f64 = p.iter().map(|v| f64::from(v.length_squared())).sum();
            let scale = (1.0 / norm.sqrt()) as f32;
            p.iter_mut().for_each(|v| *v *= scale);
            out.fill(Vec3A::ZERO);
            apply(&p, &mut out);
            for (out, w) in out.iter_mut().zip(self.inverse_mass) {
                *out *= *w;
            }
            let square: f64 = out.iter().map(|v| f64::from(v.length_squared())).sum();
            value = square.sqrt();
            if value == 0.0 || !value.is_finite() {
                break;
            }
            std::mem::swap(&mut p, &mut out);
        }
        (value, p)
    }

    fn distance(&self, p: &[Vec3A], damping: Option<f32>, out: &mut [Vec3A]) {
        let points = &self.mesh.points;
        let edges = self.body.patches.global_edges.iter().enumerate();
        // Shared edges count once per element around them: about five.
        let times = match self.body.settings.passes {
            Passes::ElementCentric => 5.0,
            _ => 1.0,
        };
        for (e, &[i, j]) in edges {
            let (i, j) = (i as usize, j as usize);
            let along = Vec3A::from(points[i] - points[j]) / self.body.length[e];
            let k = times * damping.unwrap_or(self.body.edge_stiffness[e]);
            let f = k * along.dot(p[i] - p[j]) * along;
            out[i] += f;
            out[j] -= f;
        }
    }

    fn volume(&self, p: &[Vec3A], damping: bool, out: &mut [Vec3A]) {
        let settings = &self.body.settings;
        let (unit, none) = match settings.volume_force {
            VolumeForce::Gradient => (false, damping),
            VolumeForce::GradientDamped => (false, false),
            VolumeForce::UnitDamped => (true, false),
        };
        if none || settings.passes == Passes::EdgeCentric {
            return;
        }
        for (t, tet) in self.mesh.tets.iter().enumerate() {
            let corners = tet.map(|v| v as usize);
            let [a, b, c, d] = self.mesh.corners(t).map(Vec3A::from);
            let (e1, e2, e3) = (b - a, c - a, d - a);
            let (nj, nk, nl) = (e3.cross(e2), e1.cross(e3), e2.cross(e1));
            let n = [-(nj + nk + nl), nj, nk, nl];
            let stiffness = if damping {
                settings.volume_damping
            } else {
                self.body.volume_stiffness[t]
            };
            let flux: f32 = (0..4).map(|c| n[c].dot(p[corners[c]])).sum();
            let sum: Vec3A = corners.iter().map(|&i| p[i]).sum();
            for (c, &i) in corners.iter().enumerate() {
                let direction = n[c].normalize_or_zero();
                out[i] += match (unit, damping) {
                    (false, _) => stiffness / 6.0 * flux * n[c],
                    (true, false) => stiffness / 6.0 * flux * direction,
                    (true, true) => stiffness * (4.0 * p[i] - sum).dot(direction) * direction,
                };
            }
        }
    }
}
