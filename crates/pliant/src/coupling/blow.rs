//! Collisions of particles with bodies that may be lighter than they are.
//!
//! Particles find the surfaces in their way side by side, as if no surface gave way.
//! Here they collide once more, one after the other, with bodies that do: a splinter that
//! weighs less than a particle is pushed along by it, and does not bounce off with several
//! times its speed. Each collision keeps momentum and takes energy, so all of them do.

use glam::Vec3;

use super::bodies::{Bodies, Grasp};
use crate::contact::{Contact, Obstacles, velocity_change};

/// What a particle has done to a body on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blow {
    /// Index of the particle.
    pub particle: usize,
    /// Index of the contact that reports it.
    pub contact: usize,
    pub grasp: Grasp,
    /// What the particle got, in N s.
    pub impulse: Vec3,
    /// From the body to the particle, if they collided; else the impulse is what it is.
    pub normal: Option<Vec3>,
}

/// Lets particles and bodies collide in the order of `blows`, those of a particle one
/// after the other. `velocity` holds what particles have after collisions with bodies
/// that do not give way.
pub(crate) fn collide(
    blows: &[Blow],
    bodies: &mut Bodies,
    obstacles: &Obstacles<'_>,
    inverse_mass: &[f32],
    contacts: &mut [Contact],
    velocity: [&mut [f32]; 3],
) {
    let [vx, vy, vz] = velocity;
    for group in blows.chunk_by(|a, b| a.particle == b.particle) {
        let i = group[0].particle;
        let light = inverse_mass[i];
        let mut v = Vec3::new(vx[i], vy[i], vz[i]);
        let collisions = group.iter().filter(|b| b.normal.is_some());
        v -= light * collisions.map(|b| b.impulse).sum::<Vec3>();
        for blow in group {
            let Some(normal) = blow.normal else {
                bodies.push(&blow.grasp, (-blow.impulse).into());
                continue;
            };
            let contact = &mut contacts[blow.contact];
            let relative = v - Vec3::from(bodies.velocity(&blow.grasp));
            let change = velocity_change(
                relative,
                normal,
                obstacles.restitution_of(contact.obstacle),
                obstacles.friction_of(contact.obstacle),
            );
            let softness = bodies.softness(&blow.grasp, normal.into());
            let impulse = change / (light + softness);
            v += light * impulse;
            bodies.push(&blow.grasp, (-impulse).into());
            contact.impulse = impulse;
        }
        [vx[i], vy[i], vz[i]] = v.to_array();
    }
}
