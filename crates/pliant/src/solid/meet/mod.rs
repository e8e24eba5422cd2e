//! Contact of bodies with each other and with themselves.
//!
//! - `skin.rs`: a body as its contacts see it.
//! - `find.rs`: which points meet which triangles; `swept.rs`: on the way there.
//! - `touch.rs`: one contact: what it asks for, and what it remembers.
//! - `joint.rs`: the equations of all bodies that touch, as one.
//! - `depth.rs`: how deep bodies are in each other, measured independently.
//!
//! A contact is a stiff spring across the gap that two surfaces keep, and another
//! one along them that holds as friction does. Both are part of the implicit solve,
//! together with the elasticity of all bodies that touch: pushing points out
//! afterwards would let the next solve sink in again, and a pile would never rest.
//! Springs and shape matching, which are explicit, take part with their masses alone.

mod depth;
mod find;
mod joint;
mod skin;
mod swept;
#[cfg(test)]
mod tests;
mod touch;

pub use depth::Depth;
pub(crate) use depth::deepest;

use glam::{Vec3, Vec3A};

use super::block_matrix::BlockMatrix;
use super::conjugate_gradient::{Budget, Freedom, Outcome, Scratch, System, solve};
use super::state::{Body, Solid};
use crate::observe::{CheckpointError, Decoder, Encoder};
use find::Finder;
use joint::{Joint, Link, Links};
use skin::{Skin, View};
use touch::{Held, Touch};

/// How often the solve is repeated because contacts open, close or begin to slide.
const ROUNDS: u32 = 4;

/// A contact between two bodies, or between two parts of one, in the last sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyContact {
    /// Position of the body whose point it is among the bodies of its world.
    pub solid: u32,
    /// The point.
    pub point: u32,
    /// Position of the body whose surface it is.
    pub other: u32,
    /// Triangle of that surface, see [`Solid::surface`].
    pub triangle: u32,
    /// Weights of its corners.
    pub barycentric: [f32; 3],
    /// Unit vector from the surface to the point.
    pub normal: Vec3,
    /// Distance of the point from the surface at the end of the sub-step, in metres;
    /// negative if it is inside.
    pub gap: f32,
    /// Impulse on the point in N s; the surface has got the opposite.
    pub impulse: Vec3,
}

/// The contacts among the bodies of a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meetings {
    /// By the bodies' positions.
    skins: Vec<Option<Skin>>,
    finder: Finder,
    /// What contacts remember, by their keys.
    held: Vec<Held>,
    scratch: Scratch,
    contacts: Vec<BodyContact>,
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

    /// Solves the equations of all bodies, which have begun a step of `h` seconds:
    /// those that touch together, the others alone.
    pub fn solve(&mut self, solids: &mut [(usize, &mut Solid)], h: f32) {
        self.contacts.clear();
        let touches = self.find(solids, h);
        let mut joined = vec![false; solids.len()];
        for t in &touches {
            joined[t.met.body as usize] = true;
            joined[t.met.other as usize] = true;
        }
        for ((_, solid), joined) in solids.iter_mut().zip(&joined) {
            if let Body::Elastic(body) = &mut solid.body
                && !joined
            {
                body.solve_alone(h);
            }
        }
        let numbers: Vec<u32> = solids.iter().map(|(n, _)| *n as u32).collect();
        self.held.clear();
        if touches.is_empty() {
            return;
        }
        for touch in self.solve_together(solids, &joined, touches, h) {
            let met = &touch.met;
            let key = touch.key(&numbers);
            self.held.push(touch.remember(&numbers, h));
            self.contacts.push(BodyContact {
                solid: key[0],
                point: met.point,
                other: key[2],
                triangle: met.triangle,
                barycentric: met.weights,
                normal: met.normal.into(),
                gap: met.gap + h * met.normal.dot(touch.velocity),
                impulse: touch.impulse.into(),
            });
        }
    }

    fn find(&mut self, solids: &[(usize, &mut Solid)], h: f32) -> Vec<Touch> {
        if solids.len() < 2 && solids.iter().all(|(_, s)| !s.settings.self_contact) {
            return Vec::new();
        }
        for (number, solid) in solids {
            if self.skins.len() <= *number {
                self.skins.resize(number + 1, None);
            }
            let skin = &mut self.skins[*number];
            if !skin.as_ref().is_some_and(|s| s.fits(solid)) {
                *skin = Some(Skin::new(solid));
            }
        }
        let skins = &self.skins;
        let views: Vec<View<'_>> = solids
            .iter()
            .filter_map(|(number, solid)| Some(View::new(solid, skins[*number].as_ref()?, h)))
            .collect();
        let numbers: Vec<u32> = solids.iter().map(|(n, _)| *n as u32).collect();
        let held = &self.held;
        self.finder
            .find(&views, h)
            .into_iter()
            .filter_map(|met| Touch::new(met, &views, &numbers, held, h))
            .collect()
    }

    /// Solves bodies that touch, and returns the contacts that hold.
    fn solve_together(
        &mut self,
        solids: &mut [(usize, &mut Solid)],
        joined: &[bool],
        mut touches: Vec<Touch>,
        h: f32,
    ) -> Vec<Touch> {
        let group = Group::new(solids, joined);
        let (mut change, mut right) = group.gather(solids);
        let velocity = group.velocities(solids);
        let free = right.clone();
        let budget = group.budget(solids);
        let mut outcome = Outcome::default();
        for round in 0..ROUNDS {
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
            let found = solve(&joint, &right, &mut change, budget, &mut self.scratch);
            outcome.iterations += found.iterations;
            outcome.residual = found.residual;
            let mut changed = false;
            for touch in &mut touches {
                let link = group.link(touch, h);
                let now = link.relative(&velocity) + link.relative(&change);
                changed |= touch.update(&link, now, h);
            }
            if !changed || round + 1 == ROUNDS {
                // What the contacts gave is from outside for each body by itself.
                right.copy_from_slice(&free);
                for link in &links.list {
                    let now = link.relative(&velocity) + link.relative(&change);
                    link.spread(link.impulse(now), &mut right);
                }
                break;
            }
        }
        group.scatter(solids, &change, &right, outcome, h);
        touches.retain(|t| t.active);
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
        for _ in 0..from.count(40)? {
            let key = [from.u32()?, from.u32()?, from.u32()?];
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

/// The bodies that are solved together, one after the other in one numbering.
struct Group {
    /// First point of every body, also of those that are not part of it.
    first: Vec<usize>,
    /// Positions of the bodies in the list of all.
    bodies: Vec<usize>,
    /// First point of every part, and the part of every point.
    start: Vec<usize>,
    part: Vec<u32>,
    /// For explicit bodies: no stiffness, and how their points may move.
    loose: Vec<(BlockMatrix, Vec<Freedom>)>,
}

impl Group {
    fn new(solids: &[(usize, &mut Solid)], joined: &[bool]) -> Group {
        let mut group = Group {
            first: vec![0; solids.len()],
            bodies: Vec::new(),
            start: Vec::new(),
            part: Vec::new(),
            loose: Vec::new(),
        };
        for (k, (_, solid)) in solids.iter().enumerate().filter(|(k, _)| joined[*k]) {
            group.first[k] = group.part.len();
            group.start.push(group.part.len());
            group
                .part
                .extend(std::iter::repeat_n(group.bodies.len() as u32, solid.len()));
            group.bodies.push(k);
            group.loose.push(match &solid.body {
                Body::Elastic(_) => (BlockMatrix::empty(0), Vec::new()),
                Body::Springs(_) | Body::Matched(_) => {
                    let freedom = solid.inverse_mass.iter().map(|&w| Freedom::of(w));
                    (BlockMatrix::empty(solid.len()), freedom.collect())
                }
            });
        }
        group
    }

    fn link(&self, touch: &Touch, h: f32) -> Link {
        let met = &touch.met;
        let (own, other) = (
            self.first[met.body as usize],
            self.first[met.other as usize],
        );
        let [a, b, c] = met.corners.map(|i| other as u32 + i);
        touch.link([own as u32 + met.point, a, b, c], h)
    }

    /// First guesses and right-hand sides of all bodies.
    fn gather(&self, solids: &[(usize, &mut Solid)]) -> (Vec<Vec3A>, Vec<Vec3A>) {
        let (mut change, mut right) = (Vec::new(), Vec::new());
        for &k in &self.bodies {
            match &solids[k].1.body {
                Body::Elastic(body) => {
                    change.extend_from_slice(&body.change);
                    right.extend_from_slice(&body.right);
                }
                Body::Springs(_) | Body::Matched(_) => {
                    change.resize(change.len() + solids[k].1.len(), Vec3A::ZERO);
                    right.resize(change.len(), Vec3A::ZERO);
                }
            }
        }
        (change, right)
    }

    fn velocities(&self, solids: &[(usize, &mut Solid)]) -> Vec<Vec3A> {
        let all = self.bodies.iter().flat_map(|&k| &solids[k].1.velocity);
        all.copied().collect()
    }

    fn systems<'a>(&'a self, solids: &'a [(usize, &mut Solid)], h: f32) -> Vec<System<'a>> {
        let parts = self.bodies.iter().zip(&self.loose);
        parts
            .map(|(&k, (stiffness, freedom))| match &solids[k].1.body {
                Body::Elastic(body) => body.system(h),
                Body::Springs(_) | Body::Matched(_) => System {
                    stiffness,
                    diagonal: &solids[k].1.mass,
                    scale: 0.0,
                    freedom,
                },
            })
            .collect()
    }

    /// The most iterations and the smallest tolerance of any body.
    fn budget(&self, solids: &[(usize, &mut Solid)]) -> Budget {
        let (mut iterations, mut tolerance, mut mass) = (60, 1e-4, 0.0);
        for &k in &self.bodies {
            mass += solids[k].1.mass_report.effective_mass;
            if let Body::Elastic(body) = &solids[k].1.body {
                iterations = iterations.max(body.settings.iterations);
                tolerance = f64::min(tolerance, body.settings.tolerance.into());
            }
        }
        Budget::of_step(iterations, tolerance, mass)
    }

    /// Gives every body what was found.
    fn scatter(
        &self,
        solids: &mut [(usize, &mut Solid)],
        change: &[Vec3A],
        right: &[Vec3A],
        outcome: Outcome,
        h: f32,
    ) {
        for &k in &self.bodies {
            let solid = &mut *solids[k].1;
            let range = self.first[k]..self.first[k] + solid.displacement.len();
            let (change, right) = (&change[range.clone()], &right[range]);
            match &mut solid.body {
                Body::Elastic(body) => {
                    body.change.copy_from_slice(change);
                    body.right.copy_from_slice(right);
                    body.outcome = outcome;
                }
                explicit @ (Body::Springs(_) | Body::Matched(_)) => {
                    for (i, &change) in change.iter().enumerate() {
                        if change != Vec3A::ZERO {
                            solid.velocity[i] += change;
                            solid.displacement[i] += h * change;
                            if let Body::Springs(body) = explicit {
                                body.moved(i, solid.displacement[i], solid.velocity[i], h);
                            }
                        }
                    }
                }
            }
        }
    }
}
