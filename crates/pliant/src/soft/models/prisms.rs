//! Coupled prisms (PriMo, Botsch et al. 2006; Mesit 2010, 3.43-3.48): every triangle is a
//! rigid prism, and the sides of neighbouring prisms should coincide.
//!
//! The energy of an edge is `w ∫ |f_ij - f_ji|² du dv` over the side that both prisms have
//! there. Prisms begin where their points would go by themselves, and find their places one
//! after the other by local shape matching (3.46): the rotation and the shift that bring
//! their sides best to those of their neighbours, and their corners to the points. Points
//! then follow the prisms.

use glam::{Mat3A, Quat, Vec3A};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Points, Start};

/// How stiff coupled prisms are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Prisms {
    /// Height of the prisms over the mean edge: the thicker, the more they resist bending.
    pub height: f32,
    /// Share of the way to the prisms' corners that points go per sub-step, 0 to 1.
    pub stiffness: f32,
    /// Damping in 1/s.
    pub damping: f32,
    /// How often all prisms are gone through per sub-step.
    pub iterations: u32,
}

impl Default for Prisms {
    fn default() -> Self {
        Prisms {
            height: 1.0,
            stiffness: 0.5,
            damping: 0.5,
            iterations: 8,
        }
    }
}

/// A prism: its corners about its middle, and where it is.
#[derive(Clone, Debug)]
struct Prism {
    ids: [u32; 3],
    corners: [Vec3A; 3],
    /// Normals of the corners times half the height.
    up: [Vec3A; 3],
    /// Neighbour across the edge from corner k to the next: prism, its corner that is our
    /// second, and the weight `|e|² / (A_i + A_j)`.
    across: [Option<(u32, u32, f32)>; 3],
    turn: Quat,
    center: Vec3A,
}

impl Prism {
    /// Goes to where its three points are.
    fn follow(&mut self, place: &[Vec3A]) {
        let [a, b, c] = self.ids.map(|v| place[v as usize]);
        self.center = (a + b + c) / 3.0;
        let now = frame([a, b, c]);
        self.turn = Quat::from_mat3a(&(now * frame(self.corners).transpose())).normalize();
    }

    /// A corner in space: on the surface, and what is up there.
    #[inline]
    fn corner(&self, k: usize) -> (Vec3A, Vec3A) {
        (
            self.center + self.turn * self.corners[k],
            self.turn * self.up[k],
        )
    }
}

/// All prisms of a surface.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Coupled {
    settings: Prisms,
    prisms: Vec<Prism>,
    goal: Vec<Vec3A>,
    count: Vec<f32>,
}

impl Coupled {
    pub fn new(settings: Prisms, start: &Start<'_>) -> Coupled {
        let place: Vec<Vec3A> = start.place.iter().map(|&p| p.into()).collect();
        let triangles = &start.topology.triangles;
        let at = |t: &[u32; 3]| t.map(|v| place[v as usize]);
        let normal = |t: &[u32; 3]| {
            let [a, b, c] = at(t);
            (b - a).cross(c - a)
        };
        let mut normals = vec![Vec3A::ZERO; place.len()];
        for t in triangles {
            t.iter().for_each(|&v| normals[v as usize] += normal(t));
        }
        let half = 0.5 * settings.height * start.topology.mean_edge;
        let mut sides: Vec<([u32; 2], u32, u32)> = Vec::new();
        for (t, ids) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (i, j) = (ids[k], ids[(k + 1) % 3]);
                sides.push(([i.min(j), i.max(j)], t as u32, k as u32));
            }
        }
        sides.sort_unstable();
        let mut across = vec![[None; 3]; triangles.len()];
        for pair in sides.windows(2).filter(|w| w[0].0 == w[1].0) {
            let [(edge, t, k), (_, u, l)] = [pair[0], pair[1]];
            let length = place[edge[0] as usize].distance_squared(place[edge[1] as usize]);
            let areas = [t, u].map(|t| 0.5 * normal(&triangles[t as usize]).length());
            let weight = length / (areas[0] + areas[1]);
            let side = |t: u32, k: u32, from: u32| {
                let second = triangles[from as usize].iter();
                let wanted = triangles[t as usize][(k as usize + 1) % 3];
                second.clone().position(|v| *v == wanted).unwrap_or(0) as u32
            };
            across[t as usize][k as usize] = Some((u, side(t, k, u), weight));
            across[u as usize][l as usize] = Some((t, side(u, l, t), weight));
        }
        let prisms = triangles.iter().zip(across).map(|(ids, across)| {
            let [a, b, c] = at(ids);
            let center = (a + b + c) / 3.0;
            Prism {
                ids: *ids,
                corners: [a, b, c].map(|p| p - center),
                up: ids.map(|v| half * normals[v as usize].normalize_or_zero()),
                across,
                turn: Quat::IDENTITY,
                center,
            }
        });
        Coupled {
            settings,
            prisms: prisms.collect(),
            goal: Vec::new(),
            count: Vec::new(),
        }
    }

    pub fn advance(&mut self, points: &mut Points<'_>) {
        let (s, h) = (self.settings, points.h);
        points.kick(1.0);
        for prism in &mut self.prisms {
            prism.follow(points.position);
        }
        for _ in 0..s.iterations.max(1) {
            for k in 0..self.prisms.len() {
                self.fit(k, points);
            }
        }
        self.goal.clear();
        self.goal.resize(points.position.len(), Vec3A::ZERO);
        self.count.clear();
        self.count.resize(points.position.len(), 0.0);
        for prism in &self.prisms {
            for k in 0..3 {
                self.goal[prism.ids[k] as usize] += prism.corner(k).0;
                self.count[prism.ids[k] as usize] += 1.0;
            }
        }
        let share = (points.controls.alpha * s.stiffness).min(1.0);
        let kept = 1.0 / (1.0 + h * s.damping);
        for i in 0..points.position.len() {
            if points.inverse_mass[i] > 0.0 {
                let way = share * (self.goal[i] / self.count[i] - points.position[i]);
                points.position[i] += way;
                points.velocity[i] = kept * (points.velocity[i] + way / h);
            }
        }
    }

    /// The place of a prism that fits its neighbours' sides and its points best.
    fn fit(&mut self, k: usize, points: &Points<'_>) {
        let prism = &self.prisms[k];
        let mut sums = Fit::default();
        for c in 0..3 {
            let id = prism.ids[c] as usize;
            // Points that are held draw the prisms that they belong to.
            let weight = if points.inverse_mass[id] > 0.0 {
                1.0
            } else {
                20.0
            };
            sums.add(weight, prism.corners[c], points.position[id]);
        }
        for (side, across) in prism.across.iter().enumerate() {
            let Some((other, second, weight)) = *across else {
                continue;
            };
            let other = &self.prisms[other as usize];
            let own = [side, (side + 1) % 3];
            // On the neighbour the edge goes the other way.
            let theirs = [(second as usize + 1) % 3, second as usize];
            for n in 0..2 {
                let (foot, up) = other.corner(theirs[n]);
                let (own_foot, own_up) = (prism.corners[own[n]], prism.up[own[n]]);
                // The integral over a bilinear side: a corner counts 1/9 with itself, 1/18
                // with those beside it and 1/36 with that across.
                for sign in [1.0, -1.0] {
                    let target = foot + sign * up;
                    let own_at = own_foot + sign * own_up;
                    sums.add(weight / 9.0, own_at, target);
                    let beside = prism.corners[own[n]] - sign * own_up;
                    sums.add(weight / 18.0, beside, target);
                    let along = prism.corners[own[1 - n]] + sign * prism.up[own[1 - n]];
                    sums.add(weight / 18.0, along, target);
                    let far = prism.corners[own[1 - n]] - sign * prism.up[own[1 - n]];
                    sums.add(weight / 36.0, far, target);
                }
            }
        }
        let (turn, center) = sums.solve(prism.turn);
        let prism = &mut self.prisms[k];
        (prism.turn, prism.center) = (turn, center);
    }

    /// Energy of all edges: how far the sides of neighbouring prisms are apart (3.44).
    #[cfg(test)]
    pub fn energy(&self) -> f64 {
        let mut sum = 0.0;
        for prism in &self.prisms {
            for (side, across) in prism.across.iter().enumerate() {
                let Some((other, second, weight)) = *across else {
                    continue;
                };
                let other = &self.prisms[other as usize];
                let own = [side, (side + 1) % 3];
                let theirs = [(second as usize + 1) % 3, second as usize];
                let mut off = [Vec3A::ZERO; 4];
                for n in 0..2 {
                    let (a, up) = prism.corner(own[n]);
                    let (b, their_up) = other.corner(theirs[n]);
                    off[2 * n] = (a + up) - (b + their_up);
                    off[2 * n + 1] = (a - up) - (b - their_up);
                }
                for (i, a) in off.iter().enumerate() {
                    for (j, b) in off.iter().enumerate() {
                        let near = [1.0 / 9.0, 1.0 / 18.0, 1.0 / 18.0, 1.0 / 36.0][i ^ j];
                        sum += 0.5 * f64::from(weight * near * a.dot(*b));
                    }
                }
            }
        }
        sum
    }
}

/// Sums of a rigid fit of own places to targets.
#[derive(Default)]
struct Fit {
    weight: f32,
    own: Vec3A,
    target: Vec3A,
    /// Σ w target ownᵀ.
    mixed: [Vec3A; 3],
}

impl Fit {
    #[inline]
    fn add(&mut self, weight: f32, own: Vec3A, target: Vec3A) {
        self.weight += weight;
        self.own += weight * own;
        self.target += weight * target;
        self.mixed[0] += (weight * own.x) * target;
        self.mixed[1] += (weight * own.y) * target;
        self.mixed[2] += (weight * own.z) * target;
    }

    /// Rotation and shift, the former from a first guess (Müller et al. 2016).
    fn solve(self, guess: Quat) -> (Quat, Vec3A) {
        let (own, target) = (self.own / self.weight, self.target / self.weight);
        let [x, y, z] = self.mixed;
        let apart = Mat3A::from_cols(
            x - (self.weight * own.x) * target,
            y - (self.weight * own.y) * target,
            z - (self.weight * own.z) * target,
        );
        let turn = rotation_of(apart, guess);
        (turn, target - turn * own)
    }
}

/// Along the first edge of a triangle, across it, and upright.
fn frame([a, b, c]: [Vec3A; 3]) -> Mat3A {
    let along = (b - a).normalize_or(Vec3A::X);
    let upright = (b - a).cross(c - a).normalize_or(Vec3A::Y);
    Mat3A::from_cols(along, upright.cross(along), upright)
}

/// The rotation nearest to a matrix.
fn rotation_of(m: Mat3A, guess: Quat) -> Quat {
    let mut turn = guess;
    for _ in 0..10 {
        let r = Mat3A::from_quat(turn);
        let twist = r.x_axis.cross(m.x_axis) + r.y_axis.cross(m.y_axis) + r.z_axis.cross(m.z_axis);
        let size = r.x_axis.dot(m.x_axis) + r.y_axis.dot(m.y_axis) + r.z_axis.dot(m.z_axis);
        let step = twist / (size.abs() + 1e-20);
        if step.length_squared() < 1e-14 {
            break;
        }
        turn = (Quat::from_scaled_axis(step.into()) * turn).normalize();
    }
    turn
}
