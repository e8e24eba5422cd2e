//! Threads of a woven cloth (Eberhardt et al. 1996; Mesit 2010, 3.8-3.13).
//!
//! Every point of a sheet is a crossing of two threads. Threads resist being stretched, the
//! angles between them being sheared, and their bends. The measured curves and the hysteresis
//! of the source are not here: energies are those of its equations.

use std::f32::consts::{FRAC_PI_2, PI};

use glam::Vec3A;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Points, Start};

/// Density of air in kg/m³.
const AIR: f32 = 1.2;

/// How a cloth of threads resists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Woven {
    /// C_t: a thread stretched by the share e holds `3/2 C_t e²`, one that is pressed
    /// `5/2 C_t e⁴`, in N per thread.
    pub tension: f32,
    /// C_s: energy per squared angle by which threads are off the right angle, in J per
    /// corner of a cell.
    pub shear: f32,
    /// C_b: energy per squared angle of a bend, in J per crossing and thread.
    pub bend: f32,
    /// Damping of threads along themselves, in N s/m.
    pub damping: f32,
    /// c_w: drag coefficient of `½ ρ c_w A v²`.
    pub air: f32,
    /// Cells along both sides of the sheet.
    #[serde(skip)]
    pub cells: [u32; 2],
}

impl Default for Woven {
    fn default() -> Self {
        Woven {
            tension: 400.0,
            shear: 1e-5,
            bend: 2e-6,
            damping: 0.01,
            air: 1.0,
            cells: [0; 2],
        }
    }
}

/// The threads of a sheet.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Threads {
    settings: Woven,
    /// Pieces between two crossings, with their length at rest.
    pieces: Vec<([u32; 2], f32)>,
    /// Crossing, and its neighbours along one thread and along the other.
    corners: Vec<[u32; 3]>,
    /// Crossing, and its neighbours before and after it along a thread.
    bends: Vec<[u32; 3]>,
    /// Area of each point in m².
    area: Vec<f32>,
}

impl Threads {
    pub fn new(settings: Woven, start: &Start<'_>) -> Result<Threads, String> {
        let [nx, nz] = settings.cells;
        let number = |i: u32, k: u32| k * (nx + 1) + i;
        if (nx + 1) as usize * (nz + 1) as usize != start.place.len() || nx == 0 {
            return Err("threads need a sheet".into());
        }
        let (mut pieces, mut corners, mut bends) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..=nz {
            for i in 0..=nx {
                let own = number(i, k);
                let neighbours = [
                    (i > 0).then(|| own - 1),
                    (k > 0).then(|| own - (nx + 1)),
                    (i < nx).then(|| own + 1),
                    (k < nz).then(|| own + nx + 1),
                ];
                for other in neighbours[2..].iter().flatten() {
                    let length = start.place[own as usize].distance(start.place[*other as usize]);
                    pieces.push(([own, *other], length));
                }
                for n in 0..4 {
                    if let (Some(a), Some(b)) = (neighbours[n], neighbours[(n + 1) % 4]) {
                        corners.push([own, a, b]);
                    }
                }
                for n in 0..2 {
                    if let (Some(a), Some(b)) = (neighbours[n], neighbours[n + 2]) {
                        bends.push([own, a, b]);
                    }
                }
            }
        }
        let mut area = vec![0.0; start.place.len()];
        for triangle in &start.topology.triangles {
            let [a, b, c] = triangle.map(|v| start.place[v as usize]);
            for v in triangle {
                area[*v as usize] += (b - a).cross(c - a).length() / 6.0;
            }
        }
        Ok(Threads {
            settings,
            pieces,
            corners,
            bends,
            area,
        })
    }

    pub fn add_forces(&self, points: &mut Points<'_>) {
        let s = self.settings;
        let alpha = points.controls.alpha;
        for &([i, j], rest) in &self.pieces {
            let [a, b] = [i, j].map(|v| points.position[v as usize]);
            let way = b - a;
            let length = way.length().max(1e-20);
            let way = way / length;
            let relative = points.velocity[j as usize] - points.velocity[i as usize];
            let pull = s.tension * tension((length - rest) / rest) + s.damping * relative.dot(way);
            points.force[i as usize] += (alpha * pull) * way;
            points.force[j as usize] -= (alpha * pull) * way;
        }
        for (lists, rest, stiffness) in [
            (&self.corners, FRAC_PI_2, s.shear),
            (&self.bends, PI, s.bend),
        ] {
            for ids in lists {
                let [p, a, b] = ids.map(|v| points.position[v as usize]);
                let forces = angle_forces(p, a, b, rest);
                for (id, force) in ids.iter().zip(forces) {
                    points.force[*id as usize] += (alpha * stiffness) * force;
                }
            }
        }
        for (i, area) in self.area.iter().enumerate() {
            let v = points.velocity[i];
            points.force[i] -= (0.5 * AIR * s.air * area * v.length()) * v;
        }
    }

    /// All energy in J.
    #[cfg(test)]
    pub fn energy(&self, place: &[Vec3A]) -> f64 {
        let s = self.settings;
        let at = |v: u32| place[v as usize];
        let mut sum = 0.0;
        for &([i, j], rest) in &self.pieces {
            let e = f64::from((at(i).distance(at(j)) - rest) / rest);
            let size = if e >= 0.0 { e.powi(3) } else { e.abs().powi(5) };
            sum += 0.5 * f64::from(s.tension * rest) * size;
        }
        for (lists, rest, stiffness) in [
            (&self.corners, FRAC_PI_2, s.shear),
            (&self.bends, PI, s.bend),
        ] {
            for ids in lists {
                let [p, a, b] = ids.map(at);
                let (u, v) = (a - p, b - p);
                let off = u.cross(v).length().atan2(u.dot(v)) - rest;
                sum += 0.5 * f64::from(stiffness) * f64::from(off) * f64::from(off);
            }
        }
        sum
    }
}

/// Derivative of `½ e³` for a stretched thread, of `½ |e|⁵` for a pressed one (3.10, with
/// the strain in place of the length, so that a finer sheet behaves alike).
#[inline]
fn tension(strain: f32) -> f32 {
    if strain >= 0.0 {
        1.5 * strain * strain
    } else {
        -2.5 * strain * strain * strain * strain
    }
}

/// Forces on p, a and b of the energy `½ (φ - rest)²`, φ the angle at p between a and b.
#[inline]
fn angle_forces(p: Vec3A, a: Vec3A, b: Vec3A, rest: f32) -> [Vec3A; 3] {
    let (u, v) = (a - p, b - p);
    let (lu, lv) = (u.length().max(1e-20), v.length().max(1e-20));
    let (u, v) = (u / lu, v / lv);
    let (sine, cosine) = (u.cross(v).length(), u.dot(v));
    let off = sine.atan2(cosine) - rest;
    // Of a straight thread the angle and its sine vanish together.
    let size = if sine > 1e-4 {
        off / sine
    } else if cosine < 0.0 && rest > 3.0 {
        -1.0
    } else {
        0.0
    };
    let on_a = (-size / lu) * (cosine * u - v);
    let on_b = (-size / lv) * (cosine * v - u);
    [-(on_a + on_b), on_a, on_b]
}
