//! What happens to soft surface bodies among liquids in a sub-step, in the order of
//! `step.rs`. Without liquids they move by themselves, after everything else.

use glam::DVec3;
use rayon::prelude::*;

use super::answer::Answer;
use super::bodies::{Bodies, BodyMotion, PointMotion};
use super::step::Owner;
use crate::contact::{Contact, Obstacle};
use crate::soft::{Soft, Surroundings, collide};
use crate::step::RUNAWAY;
use crate::step_outcome::StepError;
use crate::world::World;

/// The motion of a soft body at the start of a sub-step of `dt` seconds.
pub(super) fn begin(soft: &mut Soft, skin: &mut Obstacle, dt: f32) -> BodyMotion {
    skin.set_velocities(soft.velocities().iter());
    let mut points = PointMotion {
        triangles: soft.triangles().to_vec(),
        velocity: soft.velocity_list().to_vec(),
        inverse_mass: soft.inverse_masses().to_vec(),
        elastic: None,
        borne: DVec3::ZERO,
    };
    let equations = soft.equations(dt);
    points.borrow(equations.map(|e| Answer::Soft(Box::new(e))));
    BodyMotion::Points(Box::new(points))
}

impl World {
    /// True if soft bodies move with the liquids.
    pub(crate) fn softs_meet_liquids(&self) -> bool {
        self.softs.iter().next().is_some() && self.fluids.iter().next().is_some()
    }

    /// The number that contacts have for the first soft body.
    pub(crate) fn first_soft(&self) -> u32 {
        let others = self.fluids.iter().count() + self.solids.iter().count();
        (others + self.rigids.iter().count()) as u32
    }

    /// Moves soft bodies by all that acts on them but the change of pressure.
    pub(super) fn predict_softs(&mut self, bodies: &mut Bodies, dt: f32) {
        if !self.softs_meet_liquids() {
            return;
        }
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        let around = Surroundings::numbered(self.gravity, &fields, self.obstacles.iter());
        let first = self.first_soft();
        let (softs, contacts) = (&mut self.softs, &mut self.contacts);
        let from = contacts.len();
        for (owner, motion) in self.skins.owners.iter().zip(&mut bodies.list) {
            let (Owner::Soft(index), BodyMotion::Points(points)) = (owner, motion) else {
                continue;
            };
            let Some(soft) = softs.by_index_mut(*index) else {
                continue;
            };
            let matter = first + *index as u32;
            points.take_in();
            match points.elastic.as_mut().map(|e| &mut e.equations) {
                Some(Answer::Soft(equations)) => {
                    contacts.extend(soft.predict(matter, dt, equations, &around));
                }
                _ => {
                    soft.set_velocities(&points.velocity);
                    contacts.extend(soft.advance_as(matter, dt, &around));
                }
            }
            points.velocity.copy_from_slice(soft.velocity_list());
            points.begin_again();
        }
        self.push_obstacles(from);
    }

    /// Lets soft bodies move on with the velocities that the pressure has left them, past
    /// obstacles and each other. Fails if one runs away.
    pub(super) fn finish_softs(&mut self, bodies: &mut Bodies, dt: f32) -> Result<(), StepError> {
        if !self.softs_meet_liquids() {
            return Ok(());
        }
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        let around = Surroundings::numbered(self.gravity, &fields, self.obstacles.iter());
        let first = self.first_soft();
        let from = self.contacts.len();
        let mut matter = first;
        for (owner, motion) in self.skins.owners.iter().zip(&bodies.list) {
            if let (Owner::Soft(index), BodyMotion::Points(points)) = (owner, motion)
                && let Some(soft) = self.softs.by_index_mut(*index)
            {
                let contacts = soft.finish(matter, dt, &points.velocity, &around);
                self.contacts.extend(contacts);
                matter += 1;
                if let Some((point, speed)) = soft.runaway(RUNAWAY, dt) {
                    return Err(StepError::SoftDiverged {
                        step: self.steps,
                        time: self.time,
                        soft: soft.settings().name.clone(),
                        point,
                        speed,
                        dt,
                    });
                }
            }
        }
        let mut all: Vec<_> = self.softs.iter_mut().map(|(_, soft)| soft).collect();
        let moved = collide(&mut all, dt);
        let again: Vec<Vec<Contact>> = (&mut all, moved)
            .into_par_iter()
            .enumerate()
            .filter(|(_, (_, moved))| *moved)
            .map(|(k, (soft, _))| soft.pass_obstacles(first + k as u32, &around))
            .collect();
        self.contacts.extend(again.into_iter().flatten());
        self.push_obstacles(from);
        for (k, owner) in self.skins.owners.iter().enumerate() {
            if let (Owner::Soft(index), BodyMotion::Points(points)) = (owner, &mut bodies.list[k])
                && let Some(soft) = self.softs.by_index(*index)
            {
                self.skins.list[k].arrive(soft.positions().iter().collect(), dt);
                points.velocity.copy_from_slice(soft.velocity_list());
                points.elastic = None;
            }
        }
        Ok(())
    }
}
