//! Rigid bodies against obstacles, deformable bodies and each other.
//!
//! Points of a rigid surface that come near another surface within the sub-step may
//! approach it just so fast that they touch. Impulses that see to that are found one
//! contact after the other, again and again (sequential impulses, Catto 2005), with
//! Coulomb friction and restitution.

use glam::{Vec3, Vec3A};

use super::bodies::{Bodies, BodyMotion, Grasp};
use crate::contact::{Contact, Obstacles};
use crate::rigid::RigidBody;

const ITERATIONS: usize = 20;
/// Gap that contact keeps, as a share of the body's size.
const GAP: f32 = 2e-3;
/// Share of an overlap that is taken out in a sub-step.
const RECOVERY: f32 = 0.2;
/// Slower collisions do not bounce, in m/s.
const BOUNCE: f32 = 0.2;

/// A place where a rigid body may touch something.
struct Meeting {
    own: Grasp,
    /// The place of the other body, if it is not an obstacle.
    other: Option<Grasp>,
    /// Velocity of the obstacle.
    wall: Vec3A,
    /// From the other to the rigid body.
    normal: Vec3A,
    friction: f32,
    /// The speed of parting that is asked for, in m/s.
    wanted: f32,
    /// 1 / (change of the speed of parting by an impulse), in kg.
    mass: f32,
    pressing: f32,
    rubbing: Vec3A,
    contact: Contact,
}

/// Stops rigid bodies from moving into anything in the next `dt` seconds; returns the
/// contacts with obstacles. `rigids` are numbers among `bodies`, numbers of matter, and
/// the bodies themselves.
pub(super) fn keep_apart(
    rigids: &[(u32, u32, &RigidBody)],
    bodies: &mut Bodies,
    obstacles: &Obstacles<'_>,
    dt: f32,
) -> Vec<Contact> {
    let mut meetings = Vec::new();
    for &(body, matter, rigid) in rigids {
        find(body, matter, rigid, bodies, obstacles, dt, &mut meetings);
    }
    for _ in 0..ITERATIONS {
        for meeting in &mut meetings {
            meeting.solve(bodies);
        }
    }
    let pushed = meetings.iter().filter(|m| m.pressing > 0.0);
    pushed
        .map(|m| Contact {
            impulse: (m.pressing * m.normal + m.rubbing).into(),
            ..m.contact
        })
        .collect()
}

fn find(
    body: u32,
    matter: u32,
    rigid: &RigidBody,
    bodies: &Bodies,
    obstacles: &Obstacles<'_>,
    dt: f32,
    meetings: &mut Vec<Meeting>,
) {
    let BodyMotion::Rigid(motion) = bodies.list[body as usize] else {
        return;
    };
    let pose = rigid.pose();
    let gap = GAP * rigid.mesh.aabb().size().max_element();
    for (k, &sample) in rigid.samples.iter().enumerate() {
        let place = pose.place(sample);
        let reach = 2.0 * gap + 2.0 * dt * motion.at(place.into()).length();
        obstacles.for_each_touch(place, reach, |index, touch, wall| {
            let partner = bodies.of(index as u32);
            if partner == Some(body) {
                return;
            }
            let point = Vec3A::from(touch.point);
            let grasp = |b| bodies.grasp(b, touch.triangle, touch.barycentric, point);
            let other = partner.map(grasp);
            let own = Grasp {
                body,
                corners: [0; 3],
                weights: [0.0; 3],
                place: place.into(),
            };
            let normal = Vec3A::from(touch.normal);
            let yielding =
                bodies.softness(&own, normal) + other.map_or(0.0, |o| bodies.softness(&o, normal));
            let wall = Vec3A::from(wall);
            let there = other.map_or(wall, |o| bodies.velocity(&o));
            let parting = normal.dot(bodies.velocity(&own) - there);
            let room = touch.distance - gap;
            let bounce = rigid
                .settings()
                .restitution
                .max(obstacles.restitution_of(index as u32));
            // However short the sub-step, what overlaps parts slowly: a speed that grows as
            // sub-steps shrink makes them shrink further.
            let mut wanted = if room > 0.0 {
                -room / dt
            } else {
                (-RECOVERY * room / dt).min(BOUNCE)
            };
            if parting < -BOUNCE && parting < wanted {
                wanted = wanted.max(-bounce * parting);
            }
            let rough = obstacles.friction_of(index as u32);
            meetings.push(Meeting {
                own,
                other,
                wall,
                normal,
                friction: rigid.settings().friction.max(rough),
                wanted,
                mass: 1.0 / yielding,
                pressing: 0.0,
                rubbing: Vec3A::ZERO,
                contact: Contact {
                    matter,
                    point_id: k as u32,
                    obstacle: index as u32,
                    triangle: touch.triangle,
                    barycentric: touch.barycentric,
                    place: touch.point,
                    impulse: Vec3::ZERO,
                },
            });
        });
    }
}

impl Meeting {
    fn slip(&self, bodies: &Bodies) -> Vec3A {
        let there = self.other.map_or(self.wall, |o| bodies.velocity(&o));
        bodies.velocity(&self.own) - there
    }

    fn push(&self, bodies: &mut Bodies, impulse: Vec3A) {
        bodies.push(&self.own, impulse);
        if let Some(other) = &self.other {
            bodies.push(other, -impulse);
        }
    }

    fn solve(&mut self, bodies: &mut Bodies) {
        let parting = self.normal.dot(self.slip(bodies));
        let pressing = (self.pressing + self.mass * (self.wanted - parting)).max(0.0);
        let change = pressing - self.pressing;
        self.pressing = pressing;
        if change != 0.0 {
            self.push(bodies, change * self.normal);
        }
        if self.pressing > 0.0 && self.friction > 0.0 {
            let slip = self.slip(bodies);
            let across = slip - slip.dot(self.normal) * self.normal;
            // The mass along the normal stands for that across: it only sets the pace.
            let rubbing =
                (self.rubbing - self.mass * across).clamp_length_max(self.friction * self.pressing);
            let change = rubbing - self.rubbing;
            self.rubbing = rubbing;
            self.push(bodies, change);
        }
    }
}
