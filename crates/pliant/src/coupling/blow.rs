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
    pub way: Way,
}

/// How a particle and a body have met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    /// Before the particle moved: the impulse is what it is.
    Pushed,
    /// With this unit vector from the body to the particle.
    Collided(Vec3),
    /// The particle has no way out, and goes on with the body.
    Wedged,
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
        let collisions = group.iter().filter(|b| b.way != Way::Pushed);
        v -= light * collisions.map(|b| b.impulse).sum::<Vec3>();
        for blow in group {
            let contact = &mut contacts[blow.contact];
            let relative = v - Vec3::from(bodies.velocity(&blow.grasp));
            let (change, normal) = match blow.way {
                Way::Pushed => {
                    bodies.push(&blow.grasp, (-blow.impulse).into());
                    continue;
                }
                Way::Collided(normal) => {
                    let bounce = obstacles.restitution_of(contact.obstacle);
                    let friction = obstacles.friction_of(contact.obstacle);
                    let change = velocity_change(relative, normal, bounce, friction);
                    (change, normal)
                }
                Way::Wedged => (-relative, relative.normalize_or_zero()),
            };
            let softness = bodies.softness(&blow.grasp, normal.into());
            let impulse = change / (light + softness);
            v += light * impulse;
            bodies.push(&blow.grasp, (-impulse).into());
            contact.impulse = impulse;
        }
        [vx[i], vy[i], vz[i]] = v.to_array();
    }
}

#[cfg(test)]
mod tests {
    use glam::{Mat3A, Vec3A};

    use super::super::bodies::{BodyMotion, PointMotion, RigidMotion};
    use super::*;

    /// A particle between a body and a wall that does not give way: its speed along both does
    /// not stay, or pressure would make it ever larger.
    #[test]
    fn a_wedged_particle_goes_with_the_body() {
        let nothing: Obstacles<'_> = std::iter::empty().collect();
        let rigid = RigidMotion {
            velocity: Vec3A::new(0.0, -0.5, 0.0),
            spin: Vec3A::ZERO,
            center: Vec3A::ZERO,
            inverse_mass: 0.1,
            inverse_inertia: Mat3A::ZERO,
        };
        let mut bodies = Bodies {
            list: vec![BodyMotion::Rigid(rigid)],
            first: 0,
        };
        let (mass, before) = (0.02, Vec3::new(8.0, -1.0, 0.0));
        let mut contacts = [CONTACT];
        let blows = [Blow {
            particle: 0,
            contact: 0,
            grasp: bodies.grasp(0, 0, [0.0; 3], Vec3A::ZERO),
            impulse: mass * -before,
            way: Way::Wedged,
        }];
        let (mut vx, mut vy, mut vz) = ([0.0], [0.0], [0.0]);
        let v = [&mut vx[..], &mut vy[..], &mut vz[..]];
        let light = [1.0 / mass];
        collide(&blows, &mut bodies, &nothing, &light, &mut contacts, v);
        let after = Vec3::from(bodies.velocity(&blows[0].grasp));
        assert!((after - Vec3::new(vx[0], vy[0], vz[0])).length() < 1e-5);
        let momentum = 10.0 * after + mass * after;
        let wanted = 10.0 * Vec3::new(0.0, -0.5, 0.0) + mass * before;
        assert!((momentum - wanted).length() < 1e-5, "{momentum} {wanted}");
    }

    const CONTACT: Contact = Contact {
        matter: 0,
        point_id: 0,
        obstacle: 0,
        triangle: 0,
        barycentric: [0.0; 3],
        place: Vec3::ZERO,
        impulse: Vec3::ZERO,
    };

    /// Two particles of 20 g hit a triangle of 3 g at once.
    #[test]
    fn light_bodies_are_pushed_along_and_no_energy_is_gained() {
        let nothing: Obstacles<'_> = std::iter::empty().collect();
        let mut bodies = Bodies {
            list: vec![BodyMotion::Points(Box::new(PointMotion {
                triangles: vec![[0, 1, 2]],
                velocity: vec![Vec3A::ZERO; 3],
                inverse_mass: vec![1000.0; 3],
                elastic: None,
                borne: glam::DVec3::ZERO,
            }))],
            first: 0,
        };
        let mut contacts = [CONTACT; 2];
        let (mass, speed) = (0.02, 2.0f32);
        let blow = |particle: usize, weights: [f32; 3], bodies: &Bodies| Blow {
            particle,
            contact: particle,
            grasp: bodies.grasp(0, 0, weights, Vec3A::ZERO),
            impulse: mass * speed * Vec3::Y,
            way: Way::Collided(Vec3::Y),
        };
        let third = 1.0 / 3.0;
        let blows = [
            blow(0, [third; 3], &bodies),
            blow(1, [0.8, 0.1, 0.1], &bodies),
        ];
        // A wall that does not give way has stopped both.
        let (mut vx, mut vy, mut vz) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        collide(
            &blows,
            &mut bodies,
            &nothing,
            &[1.0 / mass; 2],
            &mut contacts,
            [&mut vx, &mut vy, &mut vz],
        );
        let BodyMotion::Points(points) = &bodies.list[0] else {
            panic!("a body of points");
        };
        let own = points.velocity.iter();
        let momentum: f32 = own.clone().map(|v| 1e-3 * v.y).sum::<f32>() + mass * (vy[0] + vy[1]);
        assert!((momentum + 2.0 * mass * speed).abs() < 1e-6, "{momentum}");
        let energy: f32 = own.map(|v| 0.5e-3 * v.length_squared()).sum();
        let energy = energy + 0.5 * mass * (vy[0] * vy[0] + vy[1] * vy[1]);
        let before = mass * speed * speed;
        assert!(energy <= before, "{energy} {before}");
        // Hardly slowed down by so little, and no faster than they came.
        assert!(vy.iter().all(|v| (-2.0..-1.0).contains(v)), "{vy:?}");
        for (contact, v) in contacts.iter().zip(vy) {
            assert!((contact.impulse.y - mass * (v + speed)).abs() < 1e-6);
        }
    }
}
