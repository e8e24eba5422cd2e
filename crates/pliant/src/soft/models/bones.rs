//! A skeleton under a soft layer (Galoppo et al. 2007; Mesit 2010, 3.39-3.42).
//!
//! Bones are rigid and joined end to end. Every point of the surface has a place in the
//! skin, `x = Σ w_i T_i T_0i⁻¹ u` (3.39), to which a soft layer draws it; what draws a point
//! pushes the bones back, so that momentum is kept and bones feel what the skin touches.
//! Joints are kept on velocities, `J Δv = -(J v + α g)` (3.41), one after the other.

use glam::{Mat3A, Quat, Vec3, Vec3A};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Points, Start};

/// How often joints are gone through per sub-step.
const ROUNDS: usize = 20;
/// Share of a joint's gap that is closed per sub-step (α of 3.41).
const CLOSING: f32 = 0.2;

/// A chain of bones and the layer around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bones {
    /// Joints from end to end, in metres, before the body is turned and moved; between each
    /// two is a bone.
    #[schemars(with = "Vec<[f32; 3]>")]
    pub chain: Vec<Vec3>,
    /// Mass of all bones in kg.
    #[serde(default = "default_mass")]
    pub mass: f32,
    /// How strongly the layer draws the surface to its place, per mass, in 1/s².
    #[serde(default = "default_stiffness")]
    pub stiffness: f32,
    /// Damping of the layer in 1/s.
    #[serde(default = "default_damping")]
    pub damping: f32,
    /// Torque per angle with which joints keep their pose, in N m.
    #[serde(default = "default_muscle")]
    pub muscle: f32,
    /// The first bone stays where it is.
    #[serde(default)]
    pub held: bool,
    /// Joints that move.
    #[serde(default)]
    pub swing: Vec<Swing>,
}

/// A joint whose pose swings to and fro.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Swing {
    /// Number of the joint: 0 is between the first two bones.
    pub joint: u32,
    /// Axis of the turn.
    #[schemars(with = "[f32; 3]")]
    pub axis: Vec3,
    /// Largest angle in degrees.
    pub angle: f32,
    /// In Hz.
    pub frequency: f32,
}

fn default_mass() -> f32 {
    1.0
}
fn default_stiffness() -> f32 {
    2000.0
}
fn default_damping() -> f32 {
    10.0
}
fn default_muscle() -> f32 {
    5.0
}

/// One bone.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bone {
    center: Vec3A,
    turn: Quat,
    velocity: Vec3A,
    spin: Vec3A,
    inverse_mass: f32,
    /// About its middle: that of a rod across itself, taken about every axis.
    inverse_inertia: f32,
    /// From its middle to its end at the start.
    half: Vec3A,
}

impl Bone {
    fn push(&mut self, arm: Vec3A, impulse: Vec3A) {
        self.velocity += self.inverse_mass * impulse;
        self.spin += self.inverse_inertia * arm.cross(impulse);
    }

    /// How the velocity at `arm` answers to an impulse there.
    fn answer(&self, arm: Vec3A) -> Mat3A {
        let [x, y, z] = [Vec3A::X, Vec3A::Y, Vec3A::Z].map(|axis| {
            self.inverse_mass * axis + self.inverse_inertia * arm.cross(axis).cross(arm)
        });
        Mat3A::from_cols(x, y, z)
    }
}

/// Where a point of the surface is in the two bones that carry it.
#[derive(Clone, Copy, Debug)]
struct Carried {
    bones: [u32; 2],
    weights: [f32; 2],
    /// From the middle of each bone, in its own frame.
    places: [Vec3A; 2],
}

/// A skeleton in motion.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Skeleton {
    settings: Bones,
    bones: Vec<Bone>,
    skin: Vec<Carried>,
}

impl Skeleton {
    pub fn new(settings: &Bones, start: &Start<'_>) -> Result<Skeleton, String> {
        let chain = &settings.chain;
        let lengths: Vec<f32> = chain.windows(2).map(|j| j[0].distance(j[1])).collect();
        if lengths.is_empty() || lengths.iter().any(|l| l.is_nan() || *l <= 0.0) {
            return Err("a skeleton needs two joints or more that are not in one place".into());
        }
        let joints = lengths.len() - 1;
        let sound = |s: &Swing| {
            (s.joint as usize) < joints && s.axis.length() > 0.0 && s.frequency.is_finite()
        };
        if !settings.swing.iter().all(sound) || settings.mass.is_nan() || settings.mass <= 0.0 {
            return Err(format!(
                "a swing needs a joint below {joints} and an axis, bones need a mass"
            ));
        }
        let whole: f32 = lengths.iter().sum();
        let bones: Vec<Bone> = chain
            .windows(2)
            .zip(&lengths)
            .map(|(ends, length)| {
                let mass = settings.mass * length / whole;
                Bone {
                    center: (0.5 * (ends[0] + ends[1])).into(),
                    turn: Quat::IDENTITY,
                    velocity: Vec3A::ZERO,
                    spin: Vec3A::ZERO,
                    inverse_mass: 1.0 / mass,
                    inverse_inertia: 12.0 / (mass * length * length),
                    half: (0.5 * (ends[1] - ends[0])).into(),
                }
            })
            .collect();
        let carried = |p: &Vec3| carried(Vec3A::from(*p), &bones);
        Ok(Skeleton {
            settings: settings.clone(),
            skin: start.place.iter().map(carried).collect(),
            bones: hold_first(bones, settings.held),
        })
    }

    pub fn advance(&mut self, points: &mut Points<'_>) {
        let h = points.h;
        for bone in self.bones.iter_mut().filter(|b| b.inverse_mass > 0.0) {
            let pulled = (points.acceleration)(bone.center, bone.velocity);
            bone.velocity = points.kept * (bone.velocity + h * pulled);
            bone.spin *= points.kept;
        }
        self.pose(h, points.clock);
        points.kick(1.0);
        self.draw_skin(points);
        for _ in 0..ROUNDS {
            self.join(h);
        }
        for bone in &mut self.bones {
            bone.center += h * bone.velocity;
            let angle = h * Vec3::from(bone.spin);
            bone.turn = (Quat::from_scaled_axis(angle) * bone.turn).normalize();
        }
    }

    /// Draws every point to its place in the skin, and the bones to the point. Points have
    /// already moved: what changes their velocity now moves them along.
    fn draw_skin(&mut self, points: &mut Points<'_>) {
        let h = points.h;
        let (stiffness, damping) = (
            points.controls.alpha * self.settings.stiffness,
            self.settings.damping,
        );
        for (i, at) in self.skin.iter().enumerate() {
            if points.inverse_mass[i] == 0.0 {
                continue;
            }
            let (place, velocity) = skin_place(&self.bones, at);
            // The force at the end of the sub-step, so that it may be stiff.
            let apart = place + h * velocity - points.position[i];
            let faster = velocity - points.velocity[i];
            let soft = h * (stiffness * apart + damping * faster);
            let change = soft / (1.0 + h * damping + h * h * stiffness);
            points.velocity[i] += change;
            points.position[i] += h * change;
            let impulse = points.mass[i] * change;
            for k in 0..2 {
                let bone = &mut self.bones[at.bones[k] as usize];
                let arm = bone.turn * at.places[k];
                bone.push(arm, -at.weights[k] * impulse);
            }
        }
    }

    /// Turns bones towards the pose of their joints.
    fn pose(&mut self, h: f32, clock: f64) {
        let muscle = self.settings.muscle;
        for joint in 0..self.bones.len() - 1 {
            let swings = self.settings.swing.iter();
            let wanted =
                swings
                    .filter(|s| s.joint as usize == joint)
                    .fold(Quat::IDENTITY, |turn, s| {
                        let phase = std::f64::consts::TAU * f64::from(s.frequency) * clock;
                        let angle = s.angle.to_radians() * phase.sin() as f32;
                        turn * Quat::from_axis_angle(s.axis.normalize(), angle)
                    });
            let [a, b] = [self.bones[joint], self.bones[joint + 1]];
            let off = b.turn * (a.turn * wanted).inverse();
            let off = if off.w < 0.0 { -off } else { off };
            let angle = Vec3A::from(off.to_scaled_axis());
            let resist = a.inverse_inertia + b.inverse_inertia;
            if resist <= 0.0 {
                continue;
            }
            // A spring with critical damping, at the end of the sub-step.
            let damping = 2.0 * (muscle / resist).sqrt();
            let faster = b.spin - a.spin;
            let soft = h * (damping + h * muscle);
            let impulse = (h * muscle * angle + soft * faster) / (1.0 + resist * soft);
            self.bones[joint].spin += a.inverse_inertia * impulse;
            self.bones[joint + 1].spin -= b.inverse_inertia * impulse;
        }
    }

    /// Keeps the ends of neighbouring bones together.
    fn join(&mut self, h: f32) {
        for joint in 0..self.bones.len() - 1 {
            let [a, b] = [self.bones[joint], self.bones[joint + 1]];
            let [ra, rb] = [a.turn * a.half, -(b.turn * b.half)];
            let apart = (b.center + rb) - (a.center + ra);
            let faster = b.velocity + b.spin.cross(rb) - a.velocity - a.spin.cross(ra);
            let wanted = faster + (CLOSING / h) * apart;
            let answer = a.answer(ra) + b.answer(rb);
            let impulse = answer.inverse() * wanted;
            self.bones[joint].push(ra, impulse);
            self.bones[joint + 1].push(rb, -impulse);
        }
    }

    /// Largest gap of a joint in metres.
    pub fn largest_gap(&self) -> f32 {
        let gap = |pair: &[Bone]| {
            let [a, b] = [pair[0], pair[1]];
            (a.center + a.turn * a.half).distance(b.center - b.turn * b.half)
        };
        self.bones.windows(2).map(gap).fold(0.0, f32::max)
    }

    /// Joints from end to end.
    pub fn joints(&self) -> Vec<Vec3> {
        let first = self.bones[0];
        let begin = first.center - first.turn * first.half;
        let ends = self.bones.iter().map(|b| b.center + b.turn * b.half);
        std::iter::once(begin).chain(ends).map(Vec3::from).collect()
    }

    /// Momentum of the bones in kg m/s.
    #[cfg(test)]
    pub fn momentum(&self) -> Vec3A {
        let free = self.bones.iter().filter(|b| b.inverse_mass > 0.0);
        free.fold(Vec3A::ZERO, |p, b| p + b.velocity / b.inverse_mass)
    }

    pub fn numbers(&self) -> Vec<f32> {
        let of = |b: &Bone| {
            let turn = b.turn.to_array();
            let vectors = [b.center, b.velocity, b.spin].map(|v| v.to_array());
            turn.into_iter().chain(vectors.into_iter().flatten())
        };
        self.bones.iter().flat_map(of).collect()
    }

    pub fn restore(&mut self, numbers: &[f32]) -> bool {
        for (bone, n) in self.bones.iter_mut().zip(numbers.chunks_exact(13)) {
            let vector = |k: usize| Vec3A::new(n[k], n[k + 1], n[k + 2]);
            bone.turn = Quat::from_array([n[0], n[1], n[2], n[3]]);
            [bone.center, bone.velocity, bone.spin] = [4, 7, 10].map(vector);
        }
        numbers.len() == 13 * self.bones.len()
    }
}

fn hold_first(mut bones: Vec<Bone>, held: bool) -> Vec<Bone> {
    if held {
        bones[0].inverse_mass = 0.0;
        bones[0].inverse_inertia = 0.0;
    }
    bones
}

/// Where the skin has a point, and how fast that moves (3.39).
fn skin_place(bones: &[Bone], at: &Carried) -> (Vec3A, Vec3A) {
    let (mut place, mut velocity) = (Vec3A::ZERO, Vec3A::ZERO);
    for k in 0..2 {
        let bone = &bones[at.bones[k] as usize];
        let arm = bone.turn * at.places[k];
        place += at.weights[k] * (bone.center + arm);
        velocity += at.weights[k] * (bone.velocity + bone.spin.cross(arm));
    }
    (place, velocity)
}

/// The two nearest bones carry a point, the nearer one more.
fn carried(p: Vec3A, bones: &[Bone]) -> Carried {
    let distance = |b: &Bone| {
        let along = (p - b.center).dot(b.half) / b.half.length_squared();
        p.distance(b.center + along.clamp(-1.0, 1.0) * b.half)
    };
    let mut near: Vec<(f32, u32)> = bones
        .iter()
        .enumerate()
        .map(|(k, b)| (distance(b).max(1e-6), k as u32))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let first = near[0];
    let second = near.get(1).copied().unwrap_or((f32::INFINITY, first.1));
    let [a, b] = [first.0, second.0].map(|d| d.powi(-4));
    Carried {
        bones: [first.1, second.1],
        weights: [a / (a + b), b / (a + b)],
        places: [first.1, second.1].map(|k| p - bones[k as usize].center),
    }
}
