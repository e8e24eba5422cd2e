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
        let (matter, thickness) = (self.matter, self.thickness);
        let (from, mass, inverse_mass) = (self.from, self.mass, self.inverse_mass);
        let look = obstacles.least_reach().min(20.0 * thickness);
        let parts: Vec<Vec<Contact>> = (
            self.position.par_chunks_mut(CHUNK),
            self.velocity.par_chunks_mut(CHUNK),
            self.room.par_chunks_mut(CHUNK),
        )
            .into_par_iter()
            .enumerate()
            .map(|(chunk, (position, velocity, room))| {
                let mut contacts = Vec::new();
                let mut mover = Mover::new(obstacles);
                for k in 0..position.len() {
                    let i = chunk * CHUNK + k;
                    if inverse_mass[i] == 0.0 {
                        continue;
                    }
                    let ball = Ball {
                        from: from[i].into(),
                        to: position[k].into(),
                        velocity: velocity[k].into(),
                        radius: thickness,
                    };
                    if obstacles.out_of_reach(&ball, room[k]) {
                        room[k] -= obstacles.longest_way(&ball);
                        continue;
                    }
                    let before = contacts.len();
                    let (place, speed) = mover.resolve(ball, &mut |hit: Hit| {
                        contacts.push(Contact {
                            matter,
                            point_id: i as u32,
                            obstacle: hit.obstacle as u32,
                            triangle: hit.touch.triangle,
                            barycentric: hit.touch.barycentric,
                            place: hit.touch.point,
                            impulse: mass[i] * hit.velocity_change,
                        });
                    });
                    position[k] = place.into();
                    velocity[k] = speed.into();
                    room[k] = if contacts.len() == before {
                        mover.clearance(place, look)
                    } else {
                        0.0
                    };
                }
                contacts
            })
            .collect();
        parts.into_iter().flatten().collect()
    }
}
