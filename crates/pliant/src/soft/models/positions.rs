//! Position based dynamics (Müller et al. 2007; Mesit 2010, 3.29-3.38): constraints on
//! stretch, bends and the enclosed volume move the points one after the other, and
//! velocities follow from where they have come to.

use glam::Vec3A;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Points, Start, hinges};

/// How strictly constraints are kept, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Positions {
    /// Lengths of edges.
    pub stretch: f32,
    /// Angles between triangles.
    pub bend: f32,
    /// k_pressure: the volume to be kept over that at the start; needs γ above 0 and a
    /// closed surface.
    pub pressure: f32,
    /// Share of the speed along edges that is lost per second.
    pub damping: f32,
    /// How often all constraints are gone through per sub-step.
    pub iterations: u32,
}

impl Default for Positions {
    fn default() -> Self {
        Positions {
            stretch: 1.0,
            bend: 0.1,
            pressure: 1.0,
            damping: 1.0,
            iterations: 10,
        }
    }
}

/// Constraints of a body.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Constraints {
    settings: Positions,
    edges: Vec<([u32; 2], f32)>,
    /// Edge and both tips, with the angle between the normals at the start.
    bends: Vec<([u32; 4], f32)>,
    /// Six times the volume at the start; `None` for an open surface.
    volume: Option<f64>,
    /// Where the points were.
    before: Vec<Vec3A>,
    gradient: Vec<Vec3A>,
}

impl Constraints {
    pub fn new(settings: Positions, start: &Start<'_>) -> Constraints {
        let place: Vec<Vec3A> = start.place.iter().map(|&p| p.into()).collect();
        let edges = start.topology.edges.iter().map(|&e| {
            let [a, b] = e.map(|v| place[v as usize]);
            (e, a.distance(b))
        });
        let bends = hinges(&start.topology.triangles).into_iter();
        let bends = bends.map(|ids| (ids, bend_angle(ids.map(|v| place[v as usize]))));
        Constraints {
            settings,
            edges: edges.collect(),
            bends: bends.collect(),
            volume: (start.topology.open_edges == 0)
                .then(|| six_volumes(&place, &start.topology.triangles)),
            before: Vec::new(),
            gradient: Vec::new(),
        }
    }

    pub fn advance(&mut self, points: &mut Points<'_>) {
        let (s, h) = (self.settings, points.h);
        self.before.clear();
        self.before.extend_from_slice(points.position);
        points.kick(1.0);
        let strict = points.controls.alpha.min(1.0);
        // So that stiffness does not depend on how often constraints are gone through.
        let rounds = s.iterations.max(1);
        let each = |k: f32| 1.0 - (1.0 - (strict * k).min(1.0)).powf(1.0 / rounds as f32);
        let (stretch, bend) = (each(s.stretch), each(s.bend));
        for _ in 0..rounds {
            for &(ids, rest) in &self.edges {
                keep_length(points, ids, rest, stretch);
            }
            if bend > 0.0 {
                for &(ids, rest) in &self.bends {
                    keep_bend(points, ids, rest, bend);
                }
            }
            self.keep_volume(points);
        }
        for i in 0..points.position.len() {
            if points.inverse_mass[i] > 0.0 {
                points.velocity[i] = (points.position[i] - self.before[i]) / h;
            }
        }
        let lost = (s.damping * h).min(0.5);
        for &([i, j], _) in &self.edges {
            slow(points, i as usize, j as usize, lost);
        }
    }

    /// `C = Σ (p_1 × p_2) · p_3 - k V_0` (3.37); the gradient is that of six times the volume.
    fn keep_volume(&mut self, points: &mut Points<'_>) {
        let Some(rest) = self.volume.filter(|_| points.controls.gamma > 0.0) else {
            return;
        };
        let triangles = &points.topology.triangles;
        let about = points.position[0];
        self.gradient.clear();
        self.gradient.resize(points.position.len(), Vec3A::ZERO);
        for &[a, b, c] in triangles {
            let [p, q, r] = [a, b, c].map(|v| points.position[v as usize] - about);
            self.gradient[a as usize] += q.cross(r);
            self.gradient[b as usize] += r.cross(p);
            self.gradient[c as usize] += p.cross(q);
        }
        let weights = points.inverse_mass.iter().zip(&self.gradient);
        let squares: f64 = weights
            .map(|(w, g)| f64::from(w * g.length_squared()))
            .sum();
        if squares <= 0.0 {
            return;
        }
        let off =
            six_volumes(points.position, triangles) - f64::from(self.settings.pressure) * rest;
        let step = -(off / squares) as f32 * points.controls.gamma.min(1.0);
        for (i, g) in self.gradient.iter().enumerate() {
            points.position[i] += (step * points.inverse_mass[i]) * *g;
        }
    }
}

/// `Σ (p_1 × p_2) · p_3` about the first point.
fn six_volumes(place: &[Vec3A], triangles: &[[u32; 3]]) -> f64 {
    let about = place[0];
    let of = |t: &[u32; 3]| {
        let [p, q, r] = t.map(|v| place[v as usize] - about);
        f64::from(p.cross(q).dot(r))
    };
    triangles.iter().map(of).sum()
}

/// `Δp_1 = -w_1 / (w_1 + w_2) (|p_1 - p_2| - d) n`, and the other way for the other (3.33).
#[inline]
fn keep_length(points: &mut Points<'_>, ids: [u32; 2], rest: f32, share: f32) {
    let [i, j] = ids.map(|v| v as usize);
    let (wi, wj) = (points.inverse_mass[i], points.inverse_mass[j]);
    let way = points.position[i] - points.position[j];
    let length = way.length();
    if wi + wj <= 0.0 || length <= 0.0 {
        return;
    }
    let step = (share * (length - rest) / (length * (wi + wj))) * way;
    points.position[i] -= wi * step;
    points.position[j] += wj * step;
}

/// Angle between the normals of two triangles at an edge (3.35).
fn bend_angle([p, q, r, s]: [Vec3A; 4]) -> f32 {
    let n1 = (q - p).cross(r - p).normalize_or_zero();
    let n2 = (q - p).cross(s - p).normalize_or_zero();
    n1.dot(n2).clamp(-1.0, 1.0).acos()
}

/// `C = acos(n_1 · n_2) - φ_0` with the gradients of Müller et al. 2007, appendix A.
fn keep_bend(points: &mut Points<'_>, ids: [u32; 4], rest: f32, share: f32) {
    let at = ids.map(|v| points.position[v as usize]);
    let [p2, p3, p4] = [at[1] - at[0], at[2] - at[0], at[3] - at[0]];
    let (c3, c4) = (p2.cross(p3), p2.cross(p4));
    let (l3, l4) = (c3.length(), c4.length());
    if l3 <= 1e-20 || l4 <= 1e-20 {
        return;
    }
    let (n1, n2) = (c3 / l3, c4 / l4);
    let d = n1.dot(n2).clamp(-1.0, 1.0);
    let root = (1.0 - d * d).sqrt();
    let off = d.acos() - rest;
    if root < 1e-4 || off == 0.0 {
        return;
    }
    let q3 = (p2.cross(n2) + n1.cross(p2) * d) / l3;
    let q4 = (p2.cross(n1) + n2.cross(p2) * d) / l4;
    let q2 = -(p3.cross(n2) + n1.cross(p3) * d) / l3 - (p4.cross(n1) + n2.cross(p4) * d) / l4;
    let moves = [-(q2 + q3 + q4), q2, q3, q4];
    let weights = ids.map(|v| points.inverse_mass[v as usize]);
    let mut squares = 0.0;
    for (w, q) in weights.iter().zip(&moves) {
        squares += w * q.length_squared();
    }
    if squares <= 1e-20 {
        return;
    }
    let step = -share * root * off / squares;
    for (k, id) in ids.iter().enumerate() {
        points.position[*id as usize] += (step * weights[k]) * moves[k];
    }
}

/// Takes away a share of the speed of two points along the line between them.
#[inline]
fn slow(points: &mut Points<'_>, i: usize, j: usize, share: f32) {
    let (wi, wj) = (points.inverse_mass[i], points.inverse_mass[j]);
    let way = (points.position[j] - points.position[i]).normalize_or_zero();
    let relative = (points.velocity[j] - points.velocity[i]).dot(way);
    if wi + wj <= 0.0 {
        return;
    }
    let push = (share * relative / (wi + wj)) * way;
    points.velocity[i] += wi * push;
    points.velocity[j] -= wj * push;
}
