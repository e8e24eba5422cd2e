//! Contact of bodies with each other and with themselves.
//!
//! - `skin.rs`: a body as its contacts see it.
//! - `pair.rs`: two parts of surfaces that can touch; `broad.rs`: which there are, by boxes
//!   around them (`parts.rs`); `calm.rs`: what cannot touch itself.
//! - `find.rs`: where they meet in a step; `swept.rs`: on the way there.
//! - `stride.rs`: how long a step may be, so that they are found.
//! - `touch.rs`: one contact: what it asks for, and what it remembers.
//! - `group.rs`, `joint.rs`: the equations of all bodies that touch, as one.
//! - `apart.rs`: what contacts have missed stops before it passes through.
//! - `winding.rs`: what is inside of a surface; `depth.rs`: how deep bodies are in each
//!   other, measured independently.
//!
//! Points meet triangles and edges meet edges. A contact is a stiff spring across the gap
//! that two surfaces keep, and another one along them that holds as friction does. Both
//! are part of the implicit solve, together with the elasticity of all bodies that touch:
//! pushing points out afterwards would let the next solve sink in again, and a pile would
//! never rest. Where surfaces meet depends on how the solve moves them, so that they are
//! looked for again after it, and the solve is repeated. Springs and shape matching, which
//! are explicit, take part with their masses alone.

mod apart;
mod broad;
mod calm;
mod depth;
mod find;
mod group;
mod joint;
mod pair;
mod parts;
mod skin;
mod stride;
mod swept;
#[cfg(test)]
mod tests;
mod touch;
mod winding;

pub use depth::Depth;
pub(crate) use depth::deepest;

use glam::{Vec3, Vec3A};

use super::conjugate_gradient::{Outcome, Scratch, solve};
use super::contact::{Environment, Way, sweep};
use super::state::{Body, Solid};
use crate::observe::{CheckpointError, Decoder, Encoder};
use apart::Stop;
use broad::Broad;
use find::{Meeting, find};
use group::Group;
use joint::{Joint, Links};
use skin::{Skin, View};
use touch::{Held, Touch};

/// How often the solve is repeated because contacts open, close, move or begin to slide.
const ROUNDS: u32 = 6;
/// Places of one body that are nearer than this many edges at rest do not meet: what
/// keeps them apart is the material.
const APART: f32 = 2.0;
/// Parts nearer than this many gaps may come to touch.
const NEAR: f32 = 1.5;

/// A contact between two bodies, or between two parts of one, in the last sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyContact {
    /// Position of the body whose point it is among the bodies of its world.
    pub solid: u32,
    /// The point; where an edge touches, the nearer of its ends.
    pub point: u32,
    /// Position of the body whose surface it is.
    pub other: u32,
    /// Triangle of that surface, see [`Solid::surface`]; where an edge touches, one of the
    /// two beside it.
    pub triangle: u32,
    /// Weights of its corners.
    pub barycentric: [f32; 3],
    /// Unit vector from the surface to the point.
    pub normal: Vec3,
    /// Distance of the surfaces there at the end of the sub-step, in metres; negative if
    /// the point is inside.
    pub gap: f32,
    /// Impulse on the body of the point in N s; that of the surface has got the opposite.
    pub impulse: Vec3,
}

/// The contacts among the bodies of a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meetings {
    /// By the bodies' positions.
    skins: Vec<Option<Skin>>,
    broad: Broad,
    /// What contacts remember, by their keys.
    held: Vec<Held>,
    scratch: Scratch,
    contacts: Vec<BodyContact>,
    /// Where the points of all bodies were when the step began, with the bodies' numbers.
    starts: Vec<(usize, Vec<Vec3>)>,
}

impl Meetings {
    /// Contacts of the last sub-step.
    pub fn contacts(&self) -> &[BodyContact] {
        &self.contacts
    }

    /// Forgets a body.
    pub fn forget(&mut self, solid: usize) {
        if let Some(skin) = self.skins.get_mut(solid) {
            *skin = None;
        }
        let gone = solid as u32;
        self.held.retain(|h| h.key[0] != gone && h.key[2] != gone);
        self.contacts.retain(|c| c.solid != gone && c.other != gone);
    }

    /// Takes note of the bodies that there are, and returns the longest step, of at most
    /// `dt` seconds, in which they can meet.
    pub fn bound<'a>(&mut self, solids: impl Iterator<Item = (usize, &'a Solid)>, dt: f32) -> f32 {
        let solids: Vec<_> = solids.collect();
        if solids.len() < 2 {
            return dt;
        }
        self.dress(solids.iter().copied());
        let with_skin = |(n, s): (usize, &'a Solid)| Some((s, self.skins[n].as_ref()?));
        stride::bound(solids.into_iter().filter_map(with_skin), dt)
    }

    /// Solves the equations of all bodies, which have begun a step of `h` seconds:
    /// those that touch together, the others alone.
    pub fn solve(&mut self, solids: &mut [(usize, &mut Solid)], h: f32) {
        self.contacts.clear();
        self.starts.clear();
        let mut joined = vec![false; solids.len()];
        if solids.len() > 1 || solids.iter().any(|(_, s)| s.settings.self_contact) {
            self.dress(solids.iter().map(|(n, s)| (*n, &**s)));
            let starts = solids
                .iter()
                .map(|(n, s)| (*n, s.positions().iter().collect()));
            self.starts.extend(starts);
            let views = views(&self.skins, &self.starts, solids, h);
            self.broad.find(&views);
            for pair in &self.broad.pairs {
                pair.bodies.iter().for_each(|&b| joined[b as usize] = true);
            }
        }
        for ((_, solid), joined) in solids.iter_mut().zip(&joined) {
            if let Body::Elastic(body) = &mut solid.body
                && !joined
            {
                body.solve_alone(h);
            }
        }
        if !joined.contains(&true) {
            self.held.clear();
            return;
        }
        let touches = self.solve_together(solids, &joined, h);
        let numbers: Vec<u32> = solids.iter().map(|(n, _)| *n as u32).collect();
        self.held.clear();
        for touch in touches {
            self.held.push(touch.remember(&numbers, h));
            let other = &self.skins[numbers[touch.met.pair.bodies[1] as usize] as usize];
            self.contacts
                .extend(other.as_ref().map(|skin| touch.report(&numbers, skin, h)));
        }
    }

    /// After a step of `h` seconds: where surfaces would have passed through each other, the
    /// points stop before, unless an obstacle pushes them on.
    pub fn hold_apart(
        &mut self,
        solids: &mut [(usize, &mut Solid)],
        h: f32,
        around: &Environment<'_>,
    ) {
        let starts = std::mem::take(&mut self.starts);
        let same = |((a, from), (b, solid)): (&(usize, Vec<Vec3>), &(usize, &mut Solid))| {
            a == b && from.len() == solid.len()
        };
        if starts.len() != solids.len() || !starts.iter().zip(&*solids).all(same) {
            return;
        }
        let stops = {
            let views: Vec<View<'_>> = starts
                .iter()
                .zip(&*solids)
                .filter_map(|((number, from), (_, solid))| {
                    Some(View::arrived(solid, self.skins[*number].as_ref()?, from))
                })
                .collect();
            if !self.broad.holds(&views) {
                self.broad.find(&views);
            }
            apart::stops(&views, &self.broad)
        };
        for stops in stops.chunk_by(|a, b| a.body == b.body) {
            let body = stops[0].body;
            let solid = &mut *solids[body].1;
            let way = |stop: &Stop| Way {
                point: stop.point as u32,
                from: starts[body].1[stop.point],
                to: stop.place,
                velocity: stop.velocity.into(),
                mass: solid.mass[stop.point],
            };
            let ways: Vec<Way> = stops.iter().map(way).collect();
            for stop in stops {
                if stop.pinned {
                    let lost = Vec3::from(stop.velocity - solid.velocity[stop.point]);
                    solid.bear(f64::from(solid.mass[stop.point]) * lost.as_dvec3());
                }
                solid.stop_at(stop.point, stop.place, stop.velocity, h);
            }
            // Obstacles that move do not wait.
            let way = |k: usize| Some(ways[k]);
            let stopped = sweep(ways.len(), way, solid.thickness, 0, around, &mut Vec::new());
            for stopped in stopped {
                let point = stopped.point as usize;
                solid.stop_at(point, stopped.place, solid.velocity[point], h);
            }
        }
    }

    /// Makes the skins of all bodies that have none, or another surface than before.
    fn dress<'a>(&mut self, solids: impl Iterator<Item = (usize, &'a Solid)>) {
        for (number, solid) in solids {
            if self.skins.len() <= number {
                self.skins.resize(number + 1, None);
            }
            let skin = &mut self.skins[number];
            if !skin.as_ref().is_some_and(|s| s.fits(solid)) {
                *skin = Some(Skin::new(solid));
            }
        }
    }

    /// Solves bodies that touch, and returns the contacts that hold.
    fn solve_together(
        &mut self,
        solids: &mut [(usize, &mut Solid)],
        joined: &[bool],
        h: f32,
    ) -> Vec<Touch> {
        let group = Group::new(solids, joined);
        let (mut change, mut right) = group.gather(solids);
        let velocity = group.velocities(solids);
        let free = right.clone();
        let budget = group.budget(solids);
        let numbers: Vec<u32> = solids.iter().map(|(n, _)| *n as u32).collect();
        let mut outcome = Outcome::default();
        let mut touches: Vec<Touch> = Vec::new();
        {
            let mut views = views(&self.skins, &self.starts, solids, h);
            let mut settled = false;
            for round in 0..ROUNDS {
                let (met, moved) = {
                    let found = find(&views, &self.broad, h);
                    merge(touches, found, h, |met| {
                        (joined[met.pair.bodies[0] as usize] && joined[met.pair.bodies[1] as usize])
                            .then(|| Touch::new(met, &views, &numbers, &self.held, h))?
                    })
                };
                touches = met;
                if settled && !moved {
                    break;
                }
                let active = touches.iter().filter(|t| t.active);
                let list = active.map(|t| group.link(t, h)).collect();
                let links = Links::new(list, change.len());
                right.copy_from_slice(&free);
                for link in &links.list {
                    link.spread(link.impulse(link.relative(&velocity)), &mut right);
                }
                let joint = Joint {
                    parts: group.systems(solids, h),
                    start: &group.start,
                    part: &group.part,
                    links: &links,
                };
                let solved = solve(&joint, &right, &mut change, budget, &mut self.scratch);
                outcome.iterations += solved.iterations;
                outcome.residual = solved.residual;
                // What the contacts gave is from outside for each body by itself.
                right.copy_from_slice(&free);
                for link in &links.list {
                    let now = link.relative(&velocity) + link.relative(&change);
                    link.spread(link.impulse(now), &mut right);
                }
                settled = true;
                for touch in &mut touches {
                    let link = group.link(touch, h);
                    let now = link.relative(&velocity) + link.relative(&change);
                    settled &= !touch.update(&link, now, h);
                }
                if round + 1 == ROUNDS {
                    break;
                }
                for &k in &group.bodies {
                    let own = group.part_of(&change, k, views[k].from.len());
                    views[k].follow(own, h);
                }
                if !self.broad.holds(&views) {
                    self.broad.find(&views);
                }
            }
        }
        group.scatter(solids, &change, &right, outcome, h);
        touches.retain(|t| t.pushed());
        touches
    }

    /// Writes what contacts remember.
    pub fn save(&self, out: &mut Encoder) {
        out.u64(self.held.len() as u64);
        for held in &self.held {
            held.key.iter().for_each(|&k| out.u32(k));
            out.f32s(&held.slip.to_array());
            out.f32(held.pressing);
            out.f32s(&held.way.to_array());
        }
    }

    /// Restores what [`Meetings::save`] wrote.
    pub fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        self.held.clear();
        self.contacts.clear();
        self.starts.clear();
        for _ in 0..from.count(44)? {
            let key = [from.u32()?, from.u32()?, from.u32()?, from.u32()?];
            let (mut slip, mut way) = ([0.0; 3], [0.0; 3]);
            from.f32s(&mut slip)?;
            let pressing = from.f32()?;
            from.f32s(&mut way)?;
            self.held.push(Held {
                key,
                slip: Vec3A::from_array(slip),
                pressing,
                way: Vec3A::from_array(way),
            });
        }
        Ok(())
    }
}

/// All bodies at the start of their step, as they would go on.
fn views<'a>(
    skins: &'a [Option<Skin>],
    starts: &'a [(usize, Vec<Vec3>)],
    solids: &'a [(usize, &mut Solid)],
    h: f32,
) -> Vec<View<'a>> {
    let all = solids.iter().zip(starts);
    all.filter_map(|((number, solid), (_, from))| {
        let change: &[Vec3A] = match &solid.body {
            Body::Elastic(body) => &body.change,
            Body::Springs(_) | Body::Matched(_) => &[],
        };
        Some(View::new(solid, skins[*number].as_ref()?, from, change, h))
    })
    .collect()
}

/// Brings what is known of contacts together with what was found, both in the order of
/// keys. Also tells whether that changes what the next solve will find.
fn merge(
    known: Vec<Touch>,
    found: Vec<Meeting>,
    h: f32,
    make: impl Fn(Meeting) -> Option<Touch>,
) -> (Vec<Touch>, bool) {
    let mut all = Vec::with_capacity(known.len().max(found.len()));
    let mut moved = false;
    let mut known = known.into_iter().peekable();
    for met in found {
        let key = met.key();
        // What is found no longer stays a contact until it opens.
        while let Some(touch) = known.next_if(|t| t.met.key() < key) {
            all.push(touch);
        }
        if let Some(mut touch) = known.next_if(|t| t.met.key() == key) {
            moved |= touch.meet(met, h);
            all.push(touch);
        } else if let Some(touch) = make(met) {
            moved |= touch.presses();
            all.push(touch);
        }
    }
    all.extend(known);
    (all, moved)
}
