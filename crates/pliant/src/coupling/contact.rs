//! Rigid bodies against obstacles, deformable bodies and each other.
//!
//! Points of a rigid surface that come near another surface within the sub-step may
//! approach it just so fast that they touch. Impulses that see to that are found one
//! contact after the other, again and again (sequential impulses, Catto 2005), with
//! Coulomb friction and restitution.
//!
//! What a deformable body makes of an impulse, its equations say. Contacts one by one only
//! guess it, from the block of each point on the diagonal. So impulses are guessed, the
//! bodies answer, and as much of the guess is kept as brings all contacts nearest to what
//! they ask for: their sum is a convex function of the impulses, and this is the least of it
//! on the way to the guess. No contact can make energy so, however stiff or light a body is
//! and however long the sub-step.

use glam::{Vec3, Vec3A};

use super::bodies::{Bodies, BodyMotion, Grasp};
use crate::contact::{Contact, Obstacles};
use crate::rigid::RigidBody;

const ITERATIONS: usize = 20;
/// How often deformable bodies answer, and impulses are guessed again.
const ROUNDS: usize = 6;
/// A guess that changes impulses by less than this share is the last one.
const SETTLED: f32 = 1e-2;
/// Gap that contact keeps, as a share of the body's size.
const GAP: f32 = 2e-3;
/// Share of an overlap that is taken out in a sub-step.
const RECOVERY: f32 = 0.2;
/// Slower collisions do not bounce, in m/s.
const BOUNCE: f32 = 0.2;

/// A place where a rigid body may touch something.
struct Meeting {
    own: Grasp,
    /// The place of the other body, if it is not an obstacle, and how its corners give way,
    /// each by itself, in 1/kg.
    other: Option<(Grasp, [f32; 3])>,
    /// Velocity of the obstacle.
    wall: Vec3A,
    /// From the other to the rigid body.
    normal: Vec3A,
    friction: f32,
    /// The speed of parting that is asked for, in m/s.
    wanted: f32,
    /// 1 / (change of the speed of parting by an impulse), in kg.
    mass: f32,
    pressed: Pressed,
    contact: Contact,
}

/// The impulse of a contact in N s.
#[derive(Clone, Copy, Debug, Default)]
struct Pressed {
    normal: f32,
    across: Vec3A,
}

impl Pressed {
    fn along(&self, normal: Vec3A) -> Vec3A {
        self.normal * normal + self.across
    }

    /// A share of the way to another.
    fn towards(&self, other: Pressed, share: f32) -> Pressed {
        Pressed {
            normal: self.normal + share * (other.normal - self.normal),
            across: self.across.lerp(other.across, share),
        }
    }
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
    if rigids.is_empty() {
        return Vec::new();
    }
    bodies.respond();
    let mut meetings = Vec::new();
    for &(body, matter, rigid) in rigids {
        find(body, matter, rigid, bodies, obstacles, dt, &mut meetings);
    }
    for _ in 0..ROUNDS {
        if meetings.is_empty() || guess(&mut meetings, bodies) {
            break;
        }
    }
    let pushed = meetings.iter().filter(|m| m.pressed.normal > 0.0);
    pushed
        .map(|m| Contact {
            impulse: m.impulse().into(),
            ..m.contact
        })
        .collect()
}

/// Guesses impulses, lets bodies answer, and keeps as much of the guess as is good for all
/// contacts together. True if nothing is left to guess.
fn guess(meetings: &mut [Meeting], bodies: &mut Bodies) -> bool {
    let before: Vec<Pressed> = meetings.iter().map(|m| m.pressed).collect();
    let approach: Vec<Vec3A> = meetings.iter().map(|m| m.missing(bodies)).collect();
    for _ in 0..ITERATIONS {
        for meeting in &mut *meetings {
            meeting.solve(bodies);
        }
    }
    if !bodies.respond() {
        return true;
    }
    let changes = meetings.iter().zip(&before);
    let changes: Vec<Vec3A> = changes
        .map(|(m, b)| m.impulse() - b.along(m.normal))
        .collect();
    // The slope of the sum along the change, where it begins and where it ends.
    let (mut first, mut last) = (0.0, 0.0);
    for ((meeting, approach), change) in meetings.iter().zip(approach).zip(&changes) {
        first += f64::from(change.dot(approach));
        last += f64::from(change.dot(meeting.missing(bodies)));
    }
    if first < 0.0 && last > 0.0 {
        let share = (first / (first - last)) as f32;
        for ((meeting, before), change) in meetings.iter_mut().zip(&before).zip(&changes) {
            meeting.push(bodies, (share - 1.0) * *change);
            meeting.pressed = before.towards(meeting.pressed, share);
        }
        bodies.respond();
    }
    let all: f32 = meetings.iter().map(|m| m.impulse().length()).sum();
    changes.iter().map(|j| j.length()).sum::<f32>() <= SETTLED * all
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
            let other = partner.map(grasp).map(|o| (o, bodies.mobility(&o)));
            let own = Grasp {
                body,
                corners: [0; 3],
                weights: [0.0; 3],
                place: place.into(),
            };
            let normal = Vec3A::from(touch.normal);
            let yielding = bodies.softness(&own, normal)
                + other.map_or(0.0, |(o, _)| bodies.softness(&o, normal));
            let wall = Vec3A::from(wall);
            let there = other.map_or(wall, |(o, _)| bodies.velocity(&o));
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
                pressed: Pressed::default(),
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
    fn impulse(&self) -> Vec3A {
        self.pressed.along(self.normal)
    }

    fn slip(&self, bodies: &Bodies) -> Vec3A {
        let there = self.other.map_or(self.wall, |(o, _)| bodies.velocity(&o));
        bodies.velocity(&self.own) - there
    }

    /// How the velocity differs from what is asked for.
    fn missing(&self, bodies: &Bodies) -> Vec3A {
        self.slip(bodies) - self.wanted * self.normal
    }

    fn push(&self, bodies: &mut Bodies, impulse: Vec3A) {
        bodies.push(&self.own, impulse);
        if let Some((other, mobility)) = &self.other {
            bodies.push_guessing(other, mobility, -impulse);
        }
    }

    fn solve(&mut self, bodies: &mut Bodies) {
        let parting = self.normal.dot(self.slip(bodies));
        let Pressed { normal, across } = self.pressed;
        self.pressed.normal = (normal + self.mass * (self.wanted - parting)).max(0.0);
        let change = self.pressed.normal - normal;
        if change != 0.0 {
            self.push(bodies, change * self.normal);
        }
        if self.pressed.normal > 0.0 && self.friction > 0.0 {
            let slip = self.slip(bodies);
            let slip = slip - slip.dot(self.normal) * self.normal;
            // The mass along the normal stands for that across: it only sets the pace.
            let most = self.friction * self.pressed.normal;
            self.pressed.across = (across - self.mass * slip).clamp_length_max(most);
            self.push(bodies, self.pressed.across - across);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use crate::World;
    use crate::contact::Obstacle;
    use crate::mesh::{Cuboid, TetBlock};
    use crate::rigid::RigidSettings;
    use crate::solid::{Elastic, SolidModel, SolidSettings};

    /// A heavy box falls on stiff slabs, one of which is fixed and one of which lies on the
    /// floor: sub-steps of 5 ms are far longer than any of their waves.
    #[test]
    fn boxes_on_stiff_bodies_gain_no_energy() {
        for fixed in [true, false] {
            let mut world = World::new();
            let slab = TetBlock {
                min: Vec3::new(-0.3, -0.03, -0.3),
                max: Vec3::new(0.3, 0.0, 0.3),
                cells: [8, 1, 8],
            };
            let model = SolidModel::Elastic(Elastic {
                young: 2e6,
                ..Elastic::default()
            });
            let settings = SolidSettings::new("slab", model);
            let slab = world.add_solid(settings, slab.build().unwrap()).unwrap();
            let slab = world.solid_mut(slab).unwrap();
            if fixed {
                slab.pin_where(|p| p.y < -0.02);
            }
            let floor = Obstacle::plane("floor", -0.04 * Vec3::Y, Vec3::Y);
            world.add_obstacle(floor);
            let mut cube = Cuboid::new(Vec3::splat(-0.13), Vec3::splat(0.13))
                .build()
                .unwrap();
            for v in &mut cube.vertices {
                *v = Quat::from_rotation_z(0.2) * *v + Vec3::new(0.02, 0.35, 0.03);
            }
            world
                .add_rigid(RigidSettings::new("box", 900.0), cube)
                .unwrap();
            let energy = |world: &World| {
                let totals = world.totals();
                let elastic: f64 = world.solids().map(|s| s.energy().elastic).sum();
                totals.kinetic + totals.potential + elastic
            };
            let mut last = energy(&world);
            for step in 0..200 {
                world.step(0.005).unwrap();
                let now = energy(&world);
                // The slab has landed by then, and the box has not.
                assert!(
                    step < 20 || now < last + 0.05,
                    "fixed {fixed}, step {step}: {last} {now}"
                );
                last = now;
            }
            assert!(world.totals().kinetic < 0.1, "{:?}", world.totals());
        }
    }
}
