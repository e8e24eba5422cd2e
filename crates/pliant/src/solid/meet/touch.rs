//! One contact between bodies: what it asks of the solve, and what it remembers.

use glam::{Mat3A, Vec3A};

use super::super::element::outer;
use super::find::Meeting;
use super::joint::Link;
use super::skin::View;

/// A contact is this many times as stiff as the softer body is there.
const STIFFER: f32 = 10.0;
/// And at least so stiff that it takes most of the approach out in one step.
const HEAVY: f32 = 5.0;
/// New contacts that move along the surface faster than this slide, in m/s.
const FAST: f32 = 0.02;
/// Slower than this nothing slides, in m/s.
const SLOW: f32 = 1e-4;

/// What a contact remembers from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Body, point, other body.
    pub key: [u32; 3],
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
        let (own, other) = (&views[met.body as usize], &views[met.other as usize]);
        let corners = met.corners.map(|i| i as usize);
        let point = met.point as usize;
        let (mut soft, mut light) = (0.0, own.solid.inverse_mass[point]);
        let mut velocity = own.guess[point];
        for (i, w) in corners.into_iter().zip(met.weights) {
            soft += w * other.skin.stiffness[i];
            light += w * w * other.solid.inverse_mass[i];
            velocity -= w * other.guess[i];
        }
        if light <= 0.0 {
            return None;
        }
        let softer = own.skin.stiffness[point].min(soft);
        let velocity = Vec3A::from(velocity);
        let approach = velocity.dot(met.normal);
        let frictions = own.solid.settings.friction * other.solid.settings.friction;
        let mut touch = Touch {
            stiffness: (STIFFER * softer).max(HEAVY / (light * h * h)),
            friction: frictions.sqrt(),
            slip: Vec3A::ZERO,
            way: Vec3A::ZERO,
            pressing: 0.0,
            active: met.gap + h * approach < met.keep,
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
        }
        Some(touch)
    }

    /// Body, point and other body by their numbers in the world.
    pub fn key(&self, numbers: &[u32]) -> [u32; 3] {
        [
            numbers[self.met.body as usize],
            self.met.point,
            numbers[self.met.other as usize],
        ]
    }

    /// The contact as the solver sees it. Across the gap and, while it sticks, along the
    /// surface it is a spring that ends the step with the force of its end (implicit
    /// Euler). While it slides the friction `μ f` of the last force found acts.
    pub fn link(&self, points: [u32; 4], h: f32) -> Link {
        let n = self.met.normal;
        let across = outer(n, n);
        let along = Mat3A::IDENTITY - across;
        let k = self.stiffness;
        let push = h * k * (self.met.keep - self.met.gap) * n;
        let (grip, given) = if self.way == Vec3A::ZERO {
            (h * h * k, push - h * k * self.slip)
        } else {
            (0.0, push - h * self.friction * self.pressing * self.way)
        };
        let [a, b, c] = self.met.weights;
        Link {
            points,
            weights: [1.0, -a, -b, -c],
            matrix: across * (h * h * k) + along * grip,
            given,
        }
    }

    /// Takes note of how the point moves at the end of the step; true if the contact is
    /// then another one than the solve assumed.
    pub fn update(&mut self, link: &Link, velocity: Vec3A, h: f32) -> bool {
        self.velocity = velocity;
        let n = self.met.normal;
        if !self.active {
            self.active = self.met.gap + h * velocity.dot(n) < self.met.keep;
            return self.active;
        }
        self.impulse = link.impulse(velocity);
        let pressing = self.impulse.dot(n);
        if pressing <= 0.0 {
            self.active = false;
            self.impulse = Vec3A::ZERO;
            return true;
        }
        self.pressing = pressing / h;
        let held = self.impulse - pressing * n;
        let slips = held.length() > self.friction * pressing;
        if self.way == Vec3A::ZERO && slips {
            self.way = -held.normalize_or_zero();
            return true;
        }
        false
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
            (Vec3A::ZERO, Vec3A::ZERO)
        };
        Held {
            key: self.key(numbers),
            slip,
            pressing: self.pressing,
            way,
        }
    }
}
