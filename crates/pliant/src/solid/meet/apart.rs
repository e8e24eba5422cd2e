//! The last word: surfaces that would pass through each other stop before.
//!
//! Contacts of the solve bring bodies to rest, but what they assume of a step need not
//! come true: elements fold, other bodies push, obstacles stop points. Here every point
//! goes only as far along its way as its surface stays apart from all others. As nothing
//! overlaps at the start of a step, nothing does at its end.
//!
//! What stops together has collided without a rebound. For the share of its way that a
//! point cannot go by itself it goes with all that it stops with, as one rigid piece: so
//! two bodies that fly on together are not held back in the air. Its velocity is mixed in
//! the same way, which keeps both momenta and cannot make energy. Velocities that stayed as
//! they were would: forces would go on to accelerate points that never move.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::super::rigid_motion::RigidMotion;
use super::broad::Broad;
use super::find::LEAST;
use super::pair::Pair;
use super::skin::View;
use super::swept::first_touch;

/// Most rounds of shortening ways; after the first half points stay where they were, and
/// after the last whole bodies do.
const ROUNDS: u32 = 40;
/// Pairs per task.
const CHUNK: usize = 256;
/// A pinned point is this many times as heavy as what it stops.
const PINNED: f64 = 1e6;

/// A point that does not go all of its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub body: usize,
    pub point: usize,
    /// Where it goes, and its velocity from then on.
    pub place: Vec3,
    pub velocity: Vec3A,
    /// It stops with a pinned point, which bears what that takes.
    pub pinned: bool,
}

/// All points that must not go to their ends, by body and point.
pub(super) fn stops(views: &[View<'_>], broad: &Broad) -> Vec<Stop> {
    let mut stopping = Stopping::new(views);
    for round in 0..ROUNDS + views.len() as u32 {
        let hits = stopping.hits(views, broad, round > 0);
        if hits.is_empty() {
            break;
        }
        stopping.shorten(views, broad, &hits, round);
    }
    stopping.stops(views)
}

/// What is known of who stops where; points of all bodies in one numbering.
struct Stopping {
    /// First point of every body.
    first: Vec<usize>,
    /// Share of its way that a point may go by itself.
    share: Vec<f32>,
    /// The way that it goes with its piece otherwise, in metres.
    common: Vec<Vec3>,
    /// Where it goes has changed in the last round.
    changed: Vec<bool>,
    /// A point that stops together with this one; the first of a piece has itself.
    with: Vec<u32>,
    /// All points of such pieces.
    touched: Vec<bool>,
}

impl Stopping {
    fn new(views: &[View<'_>]) -> Stopping {
        let mut first = vec![0];
        first.extend(views.iter().scan(0, |sum, v| {
            *sum += v.from.len();
            Some(*sum)
        }));
        let n = first[views.len()];
        Stopping {
            first,
            share: vec![1.0; n],
            common: vec![Vec3::ZERO; n],
            changed: vec![false; n],
            with: (0..n as u32).collect(),
            touched: vec![false; n],
        }
    }

    /// Where a point goes, as far as is known.
    fn place(&self, views: &[View<'_>], body: usize, point: usize) -> Vec3 {
        let (i, view) = (self.first[body] + point, &views[body]);
        let (share, common) = (self.share[i], self.common[i]);
        if share == 1.0 {
            view.to[point]
        } else {
            let own = view.to[point] - view.from[point];
            view.from[point] + common + share * (own - common)
        }
    }

    /// The pairs that would touch, and when; only those that have changed if so wanted.
    fn hits(&self, views: &[View<'_>], broad: &Broad, changed: bool) -> Vec<(usize, f32)> {
        let look = |(k, pair): (usize, &Pair)| {
            let moved = |b: u32, i: u32| self.changed[self.first[b as usize] + i as usize];
            if (changed && !pair.map(moved).contains(&true)) || broad.tangled(pair.bodies) {
                return None;
            }
            let [a, b] = pair.bodies.map(|b| &views[b as usize]);
            let keep = a.solid.thickness + b.solid.thickness;
            let from = pair.map(|b, i| views[b as usize].from[i as usize]);
            let to = pair.map(|b, i| self.place(views, b as usize, i as usize));
            let (time, _) = first_touch(pair, from, to, LEAST * keep)?;
            Some((k, time))
        };
        let pairs = broad.pairs.par_iter().enumerate();
        pairs.with_min_len(CHUNK).filter_map(look).collect()
    }

    /// Lets the points of these pairs go less far.
    fn shorten(&mut self, views: &[View<'_>], broad: &Broad, hits: &[(usize, f32)], round: u32) {
        let before = self.share.clone();
        for &(k, time) in hits {
            let pair = &broad.pairs[k];
            let time = if round < ROUNDS / 2 { time } else { 0.0 };
            let lead = self.first[pair.bodies[0] as usize] + pair.points[0] as usize;
            for (b, i) in pair.map(|b, i| (b as usize, i as usize)) {
                self.hold(views, b, i, time * before[self.first[b] + i]);
                self.join(self.first[b] + i, lead);
            }
            if round >= ROUNDS {
                for b in pair.bodies.map(|b| b as usize) {
                    for i in 0..views[b].from.len() {
                        self.hold(views, b, i, 0.0);
                        self.join(self.first[b] + i, lead);
                    }
                }
            }
        }
        let mut members = self.members(views);
        for piece in members.chunk_by_mut(|a, b| a.piece == b.piece) {
            let rigid = RigidMotion::fit(piece.iter().map(|m| (m.mass, m.from, m.way)));
            for m in piece {
                let i = self.first[m.body] + m.point;
                self.common[i] = rigid.at(m.from);
            }
        }
        self.changed.clone_from(&self.touched);
    }

    /// A point may go this share of its way at most. Pinned points go where they are driven.
    fn hold(&mut self, views: &[View<'_>], body: usize, point: usize, most: f32) {
        let i = self.first[body] + point;
        if most < self.share[i] && views[body].solid.inverse_mass[point] > 0.0 {
            self.share[i] = most;
        }
    }

    fn piece(&self, mut i: usize) -> usize {
        while self.with[i] as usize != i {
            i = self.with[i] as usize;
        }
        i
    }

    /// Two points are of one piece, whose first is the lower.
    fn join(&mut self, a: usize, b: usize) {
        let (first, second) = (self.piece(a), self.piece(b));
        for i in [a, b, first, second] {
            self.with[i] = first.min(second) as u32;
            self.touched[i] = true;
        }
    }

    /// All that stops, piece by piece.
    fn members(&self, views: &[View<'_>]) -> Vec<Member> {
        let mut members = Vec::new();
        for (body, view) in views.iter().enumerate() {
            let points = 0..view.from.len();
            for point in points.filter(|p| self.touched[self.first[body] + p]) {
                let i = self.first[body] + point;
                let pinned = view.solid.inverse_mass[point] == 0.0;
                let heavier = if pinned { PINNED } else { 1.0 };
                members.push(Member {
                    piece: self.piece(i),
                    body,
                    point,
                    pinned,
                    from: view.from[point],
                    way: view.to[point] - view.from[point],
                    mass: heavier * f64::from(view.solid.mass[point]),
                });
            }
        }
        members.sort_by_key(|m| m.piece);
        members
    }

    fn stops(&self, views: &[View<'_>]) -> Vec<Stop> {
        let mut members = self.members(views);
        let mut stops: Vec<Stop> = Vec::with_capacity(members.len());
        for piece in members.chunk_by_mut(|a, b| a.piece == b.piece) {
            let place = |m: &Member| self.place(views, m.body, m.point);
            let velocity = |m: &Member| views[m.body].solid.velocity[m.point];
            let lost = |m: &Member| {
                let share = self.share[self.first[m.body] + m.point];
                if m.pinned { 1.0 } else { 1.0 - share }
            };
            let rigid = RigidMotion::fit(piece.iter().map(|m| {
                let weight = f64::from(lost(m)) * m.mass;
                (weight, place(m), velocity(m).into())
            }));
            let pinned = piece.iter().any(|m| m.pinned);
            stops.extend(piece.iter().filter(|m| !m.pinned).map(|m| {
                let (place, velocity) = (place(m), velocity(m));
                Stop {
                    body: m.body,
                    point: m.point,
                    place,
                    pinned,
                    velocity: velocity + lost(m) * (Vec3A::from(rigid.at(place)) - velocity),
                }
            }));
        }
        stops.sort_by_key(|s| (s.body, s.point));
        stops
    }
}

/// A point of what stops together.
struct Member {
    piece: usize,
    body: usize,
    point: usize,
    pinned: bool,
    from: Vec3,
    way: Vec3,
    /// In kg.
    mass: f64,
}
