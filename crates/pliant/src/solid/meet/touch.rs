//! One contact between bodies: what it asks of the solve, and what it remembers.

use glam::{Mat3A, Vec3A};

use super::super::element::outer;
use super::BodyContact;
use super::find::Meeting;
use super::joint::Link;
use super::pair::Kind;
use super::skin::{Skin, View};

/// A contact is this many times as stiff as the softer body is there.
const STIFFER: f32 = 10.0;
/// But no stiffer than brings this many times the weight of the lighter piece to rest in one
/// step: a splinter between two others would be shot away.
const LOADED: f32 = 20.0;
/// And at least so stiff that it takes most of the approach out in one step.
const HEAVY: f32 = 5.0;
/// The springs of contacts that were there in the last step are damped: they give way within
/// this many steps, so that what has landed does not swing on them. New ones are not: what
/// slides along would be thrown up by all that it comes across.
const DAMPING: f32 = 4.0;
/// What overlaps parts no faster than this by itself, in m/s: a splinter that a crack or a
/// crush has left inside another one is not shot out of it.
const RECOVERY: f32 = 0.5;
/// Changes of a gap by less than this share of it do not matter.
const NOTICED: f32 = 2e-3;
/// Forces across a gap that differ by less than this share rub alike.
const UNSURE: f32 = 0.1;
/// New contacts that move along the surface faster than this slide, in m/s.
const FAST: f32 = 0.02;
/// Slower than this nothing slides, in m/s.
const SLOW: f32 = 1e-4;

/// What a contact remembers from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// See [`Meeting::key`], with the bodies' numbers in the world.
    pub key: [u32; 4],
    /// How far the spring along the surface is stretched, in metres.
    pub slip: Vec3A,
    /// Force along the normal in N.
    pub pressing: f32,
    /// The direction in which it slides; zero if it sticks.
    pub way: Vec3A,
}

/// A contact in the present step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub met: Meeting,
    /// In N/m, across the gap and along the surface.
    stiffness: f32,
    /// Steps within which the springs give way.
    damping: f32,
    friction: f32,
    slip: Vec3A,
    /// The direction in which it slides; zero if it sticks.
    way: Vec3A,
    /// Force along the normal in N, as last found.
    pressing: f32,
    /// It pushes, as far as is known.
    pub active: bool,
    /// Impulse on the point in N s, and how it moves against the triangle at the end.
    pub impulse: Vec3A,
    pub velocity: Vec3A,
}

impl Touch {
    /// `None` if nothing of it can move.
    pub fn new(
        met: Meeting,
        views: &[View<'_>],
        numbers: &[u32],
        held: &[Held],
        h: f32,
    ) -> Option<Touch> {
        let [own, other] = met.pair.bodies.map(|b| &views[b as usize]);
        let (mut soft, mut light, mut weight) = ([0.0; 2], 0.0, f32::INFINITY);
        for (k, &i) in met.pair.points.iter().enumerate() {
            let side = met.pair.side(k);
            let (view, i, w) = ([own, other][side], i as usize, met.weights[k]);
            soft[side] += w.abs() * view.skin.stiffness[i];
            light += w * w * view.solid.inverse_mass[i];
            weight = weight.min(view.skin.weight[i]);
        }
        if light <= 0.0 {
            return None;
        }
        let stiff = (STIFFER * soft[0].min(soft[1])).min(LOADED * weight / (h * h));
        let velocity = met.relative(views);
        let approach = velocity.dot(met.normal);
        let frictions = own.solid.settings.friction * other.solid.settings.friction;
        let mut touch = Touch {
            stiffness: met.share * stiff.max(HEAVY / (light * h * h)),
            damping: 0.0,
            friction: frictions.sqrt(),
            slip: Vec3A::ZERO,
            way: Vec3A::ZERO,
            pressing: 0.0,
            active: met.end < met.keep,
            impulse: Vec3A::ZERO,
            velocity,
            met,
        };
        let along = velocity - approach * met.normal;
        if along.length() > FAST {
            // What arrives sliding would be torn about by a spring that holds it; how hard
            // it presses is known after this step.
            touch.way = along.normalize();
        }
        let key = touch.key(numbers);
        if let Ok(at) = held.binary_search_by_key(&key, |h| h.key) {
            let before = held[at];
            touch.slip = before.slip - before.slip.dot(met.normal) * met.normal;
            touch.way = before.way - before.way.dot(met.normal) * met.normal;
            touch.pressing = before.pressing;
            touch.active = true;
            touch.damping = DAMPING;
        }
        Some(touch)
    }

    /// What names it in the world.
    fn key(&self, numbers: &[u32]) -> [u32; 4] {
        let [a, i, b, k] = self.met.key();
        [numbers[a as usize], i, numbers[b as usize], k]
    }

    /// Takes note of where the surfaces meet as they move now; true if that is another
    /// place than the solve has assumed.
    pub fn meet(&mut self, met: Meeting, h: f32) -> bool {
        let thought = self.met.gap + h * self.met.normal.dot(self.velocity);
        let noticed = (met.end - thought).abs() > NOTICED * met.keep
            && (self.active || met.end < (1.0 - NOTICED) * met.keep);
        self.stiffness *= met.share / self.met.share;
        let n = met.normal;
        self.slip -= self.slip.dot(n) * n;
        self.way -= self.way.dot(n) * n;
        self.met = met;
        noticed
    }

    /// True if the surfaces are going to be nearer than they should, by more than nothing.
    pub fn presses(&self) -> bool {
        self.met.end < (1.0 - NOTICED) * self.met.keep
    }

    /// True if it has given an impulse in the last solve.
    pub fn pushed(&self) -> bool {
        self.impulse != Vec3A::ZERO
    }

    /// The contact as the solver sees it. Across the gap and, while it sticks, along the
    /// surface it is a spring that ends the step with the force of its end (implicit
    /// Euler). While it slides the friction `μ f` of the last force found acts.
    pub fn link(&self, points: [u32; 4], h: f32) -> Link {
        let n = self.met.normal;
        let across = outer(n, n);
        let along = Mat3A::IDENTITY - across;
        let k = self.stiffness;
        let push = h * k * (self.met.keep - self.met.gap).min(h * RECOVERY) * n;
        let hold = h * h * k * (1.0 + self.damping);
        let (grip, given) = if self.way == Vec3A::ZERO {
            (hold, push - h * k * self.slip)
        } else {
            (0.0, push - h * self.friction * self.pressing * self.way)
        };
        Link {
            points,
            weights: self.met.weights,
            matrix: across * hold + along * grip,
            given,
        }
    }

    /// Takes note of how the point moves at the end of the step; true if the contact is
    /// then another one than the solve assumed.
    pub fn update(&mut self, link: &Link, velocity: Vec3A, h: f32) -> bool {
        self.velocity = velocity;
        let n = self.met.normal;
        let little = NOTICED * self.met.keep;
        if !self.active {
            self.impulse = Vec3A::ZERO;
            let end = self.met.gap + h * velocity.dot(n);
            self.active = end < self.met.keep;
            return end < self.met.keep - little;
        }
        self.impulse = link.impulse(velocity);
        let pressing = self.impulse.dot(n);
        if pressing <= 0.0 {
            self.active = false;
            self.impulse = Vec3A::ZERO;
            return pressing < -h * self.stiffness * little;
        }
        let before = std::mem::replace(&mut self.pressing, pressing / h);
        if self.way != Vec3A::ZERO {
            // What slides is rubbed by the force that the solve has assumed.
            let other = (self.pressing - before).abs() > UNSURE * self.pressing;
            return other && self.friction * pressing > h * self.stiffness * little;
        }
        let held = self.impulse - pressing * n;
        let slips = held.length() > self.friction * pressing;
        if slips {
            self.way = -held.normalize_or_zero();
        }
        slips
    }

    /// What it is for those who look at contacts; `other` is the skin of the second body.
    pub fn report(&self, numbers: &[u32], other: &Skin, h: f32) -> BodyContact {
        let (met, key) = (&self.met, self.key(numbers));
        let (point, triangle) = match met.pair.kind {
            Kind::Face { point, triangle } => (point, triangle),
            Kind::Edges { other: edge, .. } => {
                let nearer = usize::from(met.weights[1] > met.weights[0]);
                (met.pair.points[nearer], other.edges[edge as usize].triangle)
            }
        };
        let corners = other.rest.mesh().triangles[triangle as usize];
        let barycentric = corners.map(|i| {
            let weights = met.pair.points.iter().zip(met.weights).enumerate();
            let of = weights.filter(|(k, (p, _))| met.pair.side(*k) == 1 && **p == i);
            of.map(|(_, (_, w))| -w).sum()
        });
        BodyContact {
            solid: key[0],
            point,
            other: key[2],
            triangle,
            barycentric,
            normal: met.normal.into(),
            gap: met.gap + h * met.normal.dot(self.velocity),
            impulse: self.impulse.into(),
        }
    }

    /// What it remembers for the next step.
    pub fn remember(&self, numbers: &[u32], h: f32) -> Held {
        let n = self.met.normal;
        let along = self.velocity - self.velocity.dot(n) * n;
        // Beyond this the spring along the surface would pull harder than friction.
        let most = self.friction * self.pressing / self.stiffness;
        let (slip, way) = if self.way == Vec3A::ZERO {
            ((self.slip + h * along).clamp_length_max(most), Vec3A::ZERO)
        } else if along.dot(self.way) > SLOW {
            (Vec3A::ZERO, along.normalize_or_zero())
        } else {
            // It comes to rest under the friction that has stopped it.
            (most * self.way, Vec3A::ZERO)
        };
        Held {
            key: self.key(numbers),
            slip,
            pressing: self.pressing,
            way,
        }
    }
}
