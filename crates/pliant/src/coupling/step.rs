//! What happens to bodies in a sub-step.
//!
//! ```text
//! begin      liquids see all skins where they are, with their velocities
//! divergence liquid and bodies together           (fluid/incompressible.rs)
//! predict    grip and attraction of the liquid, the pressure of the last sub-step,
//!            elasticity, gravity and contacts: where bodies would go
//! pressure   what pressure has changed, liquid and bodies together
//! arrive     bodies move; skins follow; liquids drift past them
//! end        bodies get what particles gave them on their way
//! ```
//!
//! Deformable bodies answer every iteration of the pressure solve by their own implicit
//! equations (`answer.rs`). In `predict` they have had the pressure of the last sub-step,
//! so that the solve has only its change to find.

use glam::{DVec3, Vec3A};

use super::answer::Answer;
use super::bodies::{Bodies, BodyMotion, PointMotion};
use super::contact::keep_apart;
use super::liquid_contact::LiquidContact;
use super::soft_step;
use crate::contact::{Contact, Obstacle, Obstacles};
use crate::mesh::TriMesh;
use crate::rigid::RigidBody;
use crate::slots::Slots;
use crate::soft::Soft;
use crate::solid::{Blade, Environment, Solid};
use crate::step_outcome::StepError;
use crate::world::World;

/// No particle starts nearer to a body than this share of the spacing.
const CLEARANCE: f32 = 0.45;

/// Whose surface a skin is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Owner {
    /// Index of the body, and how often its surface has changed.
    Solid(usize, u32),
    Rigid(usize),
    Soft(usize),
}

/// The surfaces of all bodies, as liquids see them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skins {
    pub(super) owners: Vec<Owner>,
    pub(super) list: Vec<Obstacle>,
    /// Number of the first one among the obstacles that liquids see.
    first: usize,
}

impl Skins {
    /// The skins with their numbers among the obstacles.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Obstacle)> {
        let first = self.first;
        self.list
            .iter()
            .enumerate()
            .map(move |(k, o)| (first + k, o))
    }

    /// The number among the obstacles of the first skin.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The number among the obstacles of a rigid body's skin.
    pub fn of_rigid(&self, index: usize) -> Option<usize> {
        self.place_of(|owner| *owner == Owner::Rigid(index))
    }

    /// The number among the obstacles of a deformable body's skin.
    pub fn of_solid(&self, index: usize) -> Option<usize> {
        self.place_of(|owner| matches!(owner, Owner::Solid(i, _) if *i == index))
    }

    /// The number among the obstacles of a soft body's skin.
    pub fn of_soft(&self, index: usize) -> Option<usize> {
        self.place_of(|owner| *owner == Owner::Soft(index))
    }

    fn place_of(&self, is: impl Fn(&Owner) -> bool) -> Option<usize> {
        Some(self.first + self.owners.iter().position(is)?)
    }

    fn rigids(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let owners = self.owners.iter().enumerate();
        owners.filter_map(|(k, owner)| match owner {
            Owner::Rigid(index) => Some((k, *index)),
            Owner::Solid(..) | Owner::Soft(_) => None,
        })
    }

    /// Makes the skins of bodies that are new or whose surface has changed; returns
    /// true if there are other bodies than before.
    fn refresh(
        &mut self,
        first: usize,
        solids: &Slots<Solid>,
        rigids: &Slots<RigidBody>,
        softs: &[(usize, &Soft)],
    ) -> bool {
        let wanted = solids
            .iter()
            .map(|(i, s)| Owner::Solid(i, s.surface_version()))
            .chain(rigids.iter().map(|(i, _)| Owner::Rigid(i)))
            .chain(softs.iter().map(|(i, _)| Owner::Soft(*i)));
        let wanted: Vec<Owner> = wanted.collect();
        self.first = first;
        if self.owners == wanted {
            return false;
        }
        // A crack opens where no liquid is: all particles stay where they belong.
        let same = |(a, b): (&Owner, &Owner)| match (a, b) {
            (Owner::Solid(i, _), Owner::Solid(j, _)) => i == j,
            (a, b) => a == b,
        };
        let others =
            self.owners.len() != wanted.len() || !self.owners.iter().zip(&wanted).all(same);
        self.owners = wanted;
        let skins = solids.iter().map(|(_, s)| skin_of_solid(s));
        self.list = skins
            .chain(rigids.iter().map(|(_, r)| skin_of_rigid(r)))
            .chain(softs.iter().map(|(_, s)| skin_of_soft(s)))
            .collect();
        others
    }
}

/// The index over the triangles is built over the shape at rest, so that it is the same
/// after a restart.
fn skin_of_solid(solid: &Solid) -> Obstacle {
    let mesh = TriMesh {
        vertices: solid.rest().points.clone(),
        triangles: solid.surface().to_vec(),
    };
    let settings = solid.settings();
    let mut skin = Obstacle::skin(settings.name.clone(), mesh);
    skin.arrive(solid.positions().iter().collect(), 0.0);
    with_law(skin, &settings.liquid)
}

fn skin_of_soft(soft: &Soft) -> Obstacle {
    let mesh = TriMesh {
        vertices: soft.start().to_vec(),
        triangles: soft.triangles().to_vec(),
    };
    let settings = soft.settings();
    let mut skin = Obstacle::skin(settings.name.clone(), mesh);
    skin.arrive(soft.positions().iter().collect(), 0.0);
    with_law(skin, &settings.liquid)
}

fn skin_of_rigid(rigid: &RigidBody) -> Obstacle {
    let settings = rigid.settings();
    let skin = Obstacle::rigid(settings.name.clone(), rigid.mesh.clone(), rigid.pose());
    with_law(skin, &settings.liquid)
}

fn with_law(skin: Obstacle, law: &LiquidContact) -> Obstacle {
    skin.with_contact(0.0, law.friction)
        .with_no_slip(law.no_slip)
        .with_contact_angle(law.contact_angle)
}

impl World {
    /// Makes the skins of bodies that have none yet.
    pub(crate) fn refresh_skins(&mut self) {
        let first = self.obstacles.iter().map(|(i, _)| i + 1).max().unwrap_or(0);
        let met = self.softs_meet_liquids();
        let softs: Vec<_> = self.softs.iter().filter(|_| met).collect();
        let changed = self
            .skins
            .refresh(first, &self.solids, &self.rigids, &softs);
        self.sides_stale |= changed;
    }

    /// Takes away the particles that are where bodies are, to begin with; returns how
    /// many. A soft body without gas may hold liquid.
    pub fn clear_bodies(&mut self) -> usize {
        self.refresh_skins();
        let hollow = |owner: &Owner| match owner {
            Owner::Soft(i) => !self.softs.by_index(*i).is_some_and(Soft::holds_gas),
            Owner::Solid(..) | Owner::Rigid(_) => false,
        };
        let hollow: Vec<bool> = self.skins.owners.iter().map(hollow).collect();
        let skins = &self.skins;
        let mut removed = 0;
        for (_, fluid) in self.fluids.iter_mut() {
            let room = CLEARANCE * fluid.settings().spacing;
            removed += fluid.remove_where(|p| {
                let mut skins = skins.list.iter().zip(&hollow);
                skins
                    .any(|(skin, &hollow)| skin.is_within(p, room) || (!hollow && skin.contains(p)))
            });
        }
        removed
    }

    /// Everything that liquids bump into, with its number.
    pub(crate) fn walls(&self) -> Vec<(usize, &Obstacle)> {
        self.obstacles.iter().chain(self.skins.iter()).collect()
    }

    /// Begins a sub-step of `dt` seconds: the motion of all bodies, ready to be pushed.
    pub(crate) fn begin_bodies(&mut self, dt: f32) -> Bodies {
        let Skins {
            owners,
            list,
            first,
        } = &mut self.skins;
        let mut bodies = Bodies {
            list: Vec::new(),
            first: *first as u32,
        };
        for (owner, skin) in owners.iter().zip(list) {
            match *owner {
                Owner::Solid(index, _) => {
                    bodies.list.extend(self.solids.by_index(index).map(|solid| {
                        skin.set_velocities(solid.velocities().iter());
                        BodyMotion::Points(Box::new(PointMotion {
                            triangles: solid.surface().to_vec(),
                            velocity: solid.velocity_list().to_vec(),
                            inverse_mass: solid.inverse_masses().to_vec(),
                            elastic: None,
                            borne: DVec3::ZERO,
                        }))
                    }));
                }
                Owner::Rigid(index) => {
                    bodies.list.extend(self.rigids.by_index(index).map(|rigid| {
                        skin.carry(rigid.pose(), rigid.twist());
                        BodyMotion::Rigid(rigid.motion())
                    }));
                }
                Owner::Soft(index) => {
                    let soft = self.softs.by_index_mut(index);
                    let motion = soft.map(|soft| soft_step::begin(soft, skin, dt));
                    bodies.list.extend(motion);
                }
            }
        }
        bodies
    }

    /// Moves bodies by all that acts on them but the change of pressure.
    pub(crate) fn predict_bodies(&mut self, bodies: &mut Bodies, dt: f32) -> Result<(), StepError> {
        self.return_velocities(bodies, dt);
        self.advance_solids(dt)?;
        self.predict_softs(bodies, dt);
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        for (k, owner) in self.skins.owners.iter().enumerate() {
            match (owner, &mut bodies.list[k]) {
                (Owner::Solid(index, _), BodyMotion::Points(points)) => {
                    if let Some(solid) = self.solids.by_index(*index) {
                        points.velocity.copy_from_slice(solid.velocity_list());
                    }
                }
                (Owner::Rigid(_), BodyMotion::Rigid(rigid)) => {
                    let (place, v) = (rigid.center.into(), rigid.velocity.into());
                    let outer = fields.iter().map(|f| f.acceleration(place, v));
                    let acceleration = self.gravity + outer.sum::<glam::Vec3>();
                    rigid.velocity += dt * Vec3A::from(acceleration);
                }
                _ => {}
            }
        }
        for (owner, motion) in self.skins.owners.iter().zip(&mut bodies.list) {
            if let (Owner::Solid(index, _), BodyMotion::Points(points)) = (owner, motion) {
                let solid = self.solids.by_index_mut(*index);
                let equations = solid.and_then(|s| s.lend_equations(dt));
                points.borrow(equations.map(|e| Answer::Solid(Box::new(e))));
            }
        }
        self.keep_rigids_apart(bodies, dt);
        Ok(())
    }

    fn keep_rigids_apart(&mut self, bodies: &mut Bodies, dt: f32) {
        let matter = self.fluids.iter().count() + self.solids.iter().count();
        let all: Obstacles<'_> = self.walls().into_iter().collect();
        let rigids: Vec<(u32, u32, &RigidBody)> = self
            .skins
            .rigids()
            .filter_map(|(k, index)| {
                let rigid = self.rigids.by_index(index)?;
                Some((k as u32, (matter + index) as u32, rigid))
            })
            .collect();
        let contacts = keep_apart(&rigids, bodies, &all, dt);
        self.note_contacts(contacts);
    }

    /// Adds contacts and gives obstacles their impulses.
    pub(crate) fn note_contacts(&mut self, contacts: Vec<Contact>) {
        for contact in &contacts {
            self.obstacle_impulse[contact.obstacle as usize] -= contact.impulse.as_dvec3();
        }
        self.contacts.extend(contacts);
    }

    /// Moves all bodies to where the sub-step ends. Fails if one runs away.
    pub(crate) fn arrive_bodies(&mut self, bodies: &mut Bodies, dt: f32) -> Result<(), StepError> {
        self.keep_rigids_apart(bodies, dt);
        for (owner, motion) in self.skins.owners.iter().zip(&mut bodies.list) {
            if let (Owner::Solid(index, _), BodyMotion::Points(points)) = (owner, motion)
                && let Some(solid) = self.solids.by_index_mut(*index)
                && let Some(equations) = points.give_back()
            {
                for (obstacle, impulse) in solid.take_back(equations) {
                    self.obstacle_impulse[obstacle as usize] -= impulse;
                }
            }
        }
        // Soft bodies still answer by their equations.
        bodies.respond();
        self.finish_solids(bodies, dt);
        for (k, owner) in self.skins.owners.iter().enumerate() {
            let skin = &mut self.skins.list[k];
            match (owner, &mut bodies.list[k]) {
                (Owner::Solid(index, _), BodyMotion::Points(points)) => {
                    let Some(solid) = self.solids.by_index(*index) else {
                        continue;
                    };
                    skin.arrive(solid.positions().iter().collect(), dt);
                    points.velocity.copy_from_slice(solid.velocity_list());
                }
                (Owner::Rigid(index), BodyMotion::Rigid(motion)) => {
                    let Some(rigid) = self.rigids.by_index_mut(*index) else {
                        continue;
                    };
                    rigid.set_velocities(motion);
                    // How it moves on the way: what it has gained by turning comes after.
                    let mut twist = rigid.twist();
                    rigid.advance(dt);
                    twist.center = 0.5 * (twist.center + rigid.center());
                    skin.carry(rigid.pose(), twist);
                    *motion = rigid.motion();
                }
                _ => {}
            }
        }
        self.finish_softs(bodies, dt)
    }

    /// Lets deformable bodies move on with the velocities that the pressure has left
    /// them.
    fn finish_solids(&mut self, bodies: &Bodies, dt: f32) {
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        let around = Environment::numbered(self.gravity, &fields, self.obstacles.iter());
        let fluids = self.fluids.iter().count();
        let mut contacts = Vec::new();
        for (index, solid) in self.solids.iter_mut() {
            let skin = self.skins.of_solid(index);
            let velocity = match skin.map(|k| &bodies.list[k - self.skins.first]) {
                Some(BodyMotion::Points(points)) => Some(&points.velocity[..]),
                _ => None,
            };
            contacts.extend(solid.finish_as((fluids + index) as u32, dt, velocity, &around));
        }
        let mut solids: Vec<_> = self.solids.iter_mut().collect();
        self.meetings.hold_apart(&mut solids, dt, &around);
        self.note_contacts(contacts);
    }

    /// Ends a sub-step: bodies have got the impulses of particles that hit them.
    pub(crate) fn end_bodies(&mut self, bodies: &Bodies, dt: f32) {
        self.closing_speed = self.find_closing_speed(bodies);
        self.return_velocities(bodies, dt);
        for (owner, motion) in self.skins.owners.iter().zip(&bodies.list) {
            if let (Owner::Solid(index, _), BodyMotion::Points(points)) = (owner, motion)
                && let Some(solid) = self.solids.by_index_mut(*index)
            {
                solid.bear(points.borne);
            }
        }
        self.skins.list.iter_mut().for_each(Obstacle::end_substep);
        self.break_bodies(dt);
    }

    /// Opens bodies where they bear too much and where blades go; liquids see it from
    /// the next sub-step on.
    fn break_bodies(&mut self, dt: f32) {
        let (from, to) = (self.time, self.time + f64::from(dt));
        let strokes: Vec<Blade> = self
            .strokes
            .iter()
            .filter_map(|(_, stroke)| stroke.between(from, to))
            .collect();
        let mut opened = 0;
        for (_, solid) in self.solids.iter_mut() {
            opened += solid.fracture();
            opened += strokes.iter().map(|blade| solid.cut(blade)).sum::<usize>();
        }
        if opened > 0 {
            self.refresh_skins();
        }
    }

    fn return_velocities(&mut self, bodies: &Bodies, dt: f32) {
        for (owner, motion) in self.skins.owners.iter().zip(&bodies.list) {
            match (owner, motion) {
                (Owner::Solid(index, _), BodyMotion::Points(points)) => {
                    if let Some(solid) = self.solids.by_index_mut(*index) {
                        solid.set_velocities(&points.velocity, dt);
                    }
                }
                (Owner::Rigid(index), BodyMotion::Rigid(motion)) => {
                    if let Some(rigid) = self.rigids.by_index_mut(*index) {
                        rigid.set_velocities(motion);
                    }
                }
                // While it answers by its equations, these have what it was given.
                (Owner::Soft(index), BodyMotion::Points(points)) if points.elastic.is_none() => {
                    if let Some(soft) = self.softs.by_index_mut(*index) {
                        soft.set_velocities(&points.velocity);
                    }
                }
                _ => {}
            }
        }
    }

    /// Largest speed of any body's surface, in m/s.
    pub(crate) fn fastest_body(&self) -> f32 {
        let solids = self.solids.iter().map(|(_, s)| s.top_speed());
        let rigids = self.rigids.iter().map(|(_, r)| r.top_speed());
        let softs = self.softs.iter().map(|(_, s)| s.top_speed());
        solids.chain(rigids).chain(softs).fold(0.0, f32::max)
    }
}
