//! Points of a soft body against obstacles.
//!
//! Every point moves past obstacles as a ball does (`contact/resolve.rs`), so nothing
//! tunnels. Most points are far from everything: each remembers a distance within which
//! there was no surface, less what it has moved since, and is looked at again only when
//! that is used up.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use crate::contact::{Ball, Contact, Hit, Mover, Obstacle, Obstacles};
use crate::field::Field;

/// Points per task.
const CHUNK: usize = 512;
/// How far points look that find nothing near, in distances at which contacts are found.
const FAR: f32 = 8.0;
/// Room for the rounding of far distances.
const ROUNDING: f32 = 1e-4;

/// What a soft body meets: gravity, fields and obstacles.
pub struct Surroundings<'a> {
    gravity: Vec3,
    fields: Vec<Field>,
    obstacles: Option<Obstacles<'a>>,
}

impl<'a> Surroundings<'a> {
    /// Surroundings of its own, outside of any world.
    pub fn new(
        gravity: Vec3,
        fields: &[Field],
        obstacles: impl IntoIterator<Item = &'a Obstacle>,
    ) -> Surroundings<'a> {
        Surroundings::numbered(gravity, fields, obstacles.into_iter().enumerate())
    }

    /// With the obstacles' numbers in a world.
    pub(crate) fn numbered(
        gravity: Vec3,
        fields: &[Field],
        obstacles: impl Iterator<Item = (usize, &'a Obstacle)>,
    ) -> Surroundings<'a> {
        let mut obstacles = obstacles.peekable();
        Surroundings {
            gravity,
            fields: fields.to_vec(),
            obstacles: obstacles.peek().is_some().then(|| obstacles.collect()),
        }
    }

    /// Acceleration of a point by gravity and fields, in m/s².
    #[inline]
    pub fn acceleration(&self, place: Vec3, velocity: Vec3) -> Vec3 {
        let fields = self.fields.iter();
        fields.fold(self.gravity, |sum, f| sum + f.acceleration(place, velocity))
    }
}

/// The points that move, where they were and where they want to be.
pub(super) struct Moving<'a> {
    pub matter: u32,
    pub from: &'a [Vec3A],
    pub position: &'a mut [Vec3A],
    pub velocity: &'a mut [Vec3A],
    pub mass: &'a [f32],
    pub inverse_mass: &'a [f32],
    /// Distance of each point to the nearest surface, at least.
    pub room: &'a mut [f32],
    pub thickness: f32,
}

impl Moving<'_> {
    /// Moves all points past all obstacles; returns the contacts in the order of points.
    pub fn pass(self, around: &Surroundings<'_>) -> Vec<Contact> {
        let Some(obstacles) = &around.obstacles else {
            return Vec::new();
        };
        let n = self.position.len();
        if n <= CHUNK {
            return self.pass_some(0, obstacles);
        }
        let (matter, thickness) = (self.matter, self.thickness);
        let (from, mass, inverse_mass) = (self.from, self.mass, self.inverse_mass);
        let parts: Vec<Vec<Contact>> = (
            self.position.par_chunks_mut(CHUNK),
            self.velocity.par_chunks_mut(CHUNK),
            self.room.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .map(|(chunk, (position, velocity, room))| {
                let first = chunk * CHUNK;
                let range = first..first + position.len();
                let part = Moving {
                    matter,
                    from: &from[range.clone()],
                    position,
                    velocity,
                    mass: &mass[range.clone()],
                    inverse_mass: &inverse_mass[range],
                    room,
                    thickness,
                };
                part.pass_some(first as u32, obstacles)
            })
            .collect();
        parts.into_iter().flatten().collect()
    }

    /// The same for points whose numbers begin with `first`.
    fn pass_some(self, first: u32, obstacles: &Obstacles<'_>) -> Vec<Contact> {
        let look = obstacles.least_reach().min(20.0 * self.thickness);
        let mut contacts = Vec::new();
        let mut mover = Mover::new(obstacles);
        for i in 0..self.position.len() {
            if self.inverse_mass[i] == 0.0 {
                continue;
            }
            let ball = Ball {
                from: self.from[i].into(),
                to: self.position[i].into(),
                velocity: self.velocity[i].into(),
                radius: self.thickness,
            };
            let room = self.room[i];
            if let Some(left) = obstacles.room_left(&ball, room) {
                self.room[i] = left;
                continue;
            }
            // What touched something in the last sub-step most likely does again.
            if room > 0.0
                && let Some(near) = mover.clear_way(&ball, look)
            {
                self.room[i] = if near < look {
                    near
                } else {
                    (1.0 - ROUNDING) * mover.far_clearance(ball.to, FAR * look)
                };
                continue;
            }
            let before = contacts.len();
            let (place, speed) = mover.resolve(ball, &mut |hit: Hit| {
                contacts.push(Contact {
                    matter: self.matter,
                    point_id: first + i as u32,
                    obstacle: hit.obstacle as u32,
                    triangle: hit.touch.triangle,
                    barycentric: hit.touch.barycentric,
                    place: hit.touch.point,
                    impulse: self.mass[i] * hit.velocity_change,
                });
            });
            self.position[i] = place.into();
            self.velocity[i] = speed.into();
            self.room[i] = if contacts.len() == before {
                mover.clearance(place, look)
            } else {
                0.0
            };
        }
        contacts
    }
}
