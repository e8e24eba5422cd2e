//! Points of a body against obstacles.
//!
//! Every point moves past obstacles as a ball does (`contact/resolve.rs`), so nothing
//! tunnels. For finite elements that would not be enough: a floor that
//! yields inside the implicit solve lets the body sink. Points that already touch
//! are therefore constraints of the solve: they slide along the surface or stick to
//! it, and the impulse that the solve needs for that decides what they do next.
//! Where the obstacle moves they go along with it.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::conjugate_gradient::Freedom;
use crate::contact::{Ball, Contact, Hit, Mover, Obstacle, Obstacles, Touch};
use crate::crew::Spread;
use crate::field::Field;

/// Points per task.
const CHUNK: usize = 1024;
/// A point within this many thicknesses of an obstacle touches it.
const TOUCHING: f32 = 1.05;
/// Slower than this a sliding point sticks, in m/s.
const SLOW: f32 = 1e-4;

/// What a body meets: gravity, fields and obstacles.
pub struct Environment<'a> {
    gravity: Vec3,
    fields: Vec<Field>,
    obstacles: Obstacles<'a>,
    empty: bool,
}

impl<'a> Environment<'a> {
    /// An environment of its own, outside of any world.
    pub fn new(
        gravity: Vec3,
        fields: &[Field],
        obstacles: impl IntoIterator<Item = &'a Obstacle>,
    ) -> Environment<'a> {
        Environment::numbered(gravity, fields, obstacles.into_iter().enumerate())
    }

    /// With the obstacles' numbers in a world.
    pub(crate) fn numbered(
        gravity: Vec3,
        fields: &[Field],
        obstacles: impl Iterator<Item = (usize, &'a Obstacle)>,
    ) -> Environment<'a> {
        let mut obstacles = obstacles.peekable();
        Environment {
            gravity,
            fields: fields.to_vec(),
            empty: obstacles.peek().is_none(),
            obstacles: obstacles.collect(),
        }
    }

    /// Acceleration of a point by gravity and fields, in m/s².
    #[inline]
    pub fn acceleration(&self, place: Vec3, velocity: Vec3) -> Vec3 {
        let start = self.gravity;
        self.fields.iter().fold(start, |sum, field| {
            sum + field.acceleration(place, velocity)
        })
    }

    /// True if it is certain that a point which arrives at `place` has touched nothing.
    #[inline]
    pub(super) fn surely_free(&self, place: Vec3, thickness: f32) -> bool {
        self.obstacles.surely_free(place, thickness)
    }

    /// True if there is nothing to touch.
    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }
}

/// A point that touches an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touching {
    pub obstacle: u32,
    /// From the obstacle to the free side.
    pub normal: Vec3A,
    /// Velocity of the obstacle there, in m/s; found anew in every step.
    pub wall: Vec3A,
    pub grip: Grip,
    /// Impulse along the normal in the last step, in N s.
    pub pressing: f32,
}

/// What a touching point does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grip {
    Stick,
    /// Moves along the obstacle in this direction.
    Slide(Vec3A),
    /// The obstacle would have had to pull: free for a step, so that it can part.
    Parting,
}

impl Touching {
    /// How the solve may move the point.
    pub fn freedom(&self) -> Freedom {
        match self.grip {
            Grip::Stick => Freedom::Fixed,
            Grip::Slide(_) => Freedom::Plane(self.normal),
            Grip::Parting => Freedom::Free,
        }
    }

    /// The change of velocity that the constraint asks for.
    pub fn stop(&self, velocity: Vec3A) -> Vec3A {
        match self.grip {
            Grip::Stick => self.wall - velocity,
            Grip::Slide(_) => (self.wall - velocity).dot(self.normal) * self.normal,
            Grip::Parting => Vec3A::ZERO,
        }
    }

    /// Impulse of friction on a sliding point, by its last pressing.
    pub fn rubbing(&self, friction: f32) -> Vec3A {
        match self.grip {
            Grip::Stick | Grip::Parting => Vec3A::ZERO,
            Grip::Slide(way) => -friction * self.pressing * way,
        }
    }

    /// What the point does next, after a step with this impulse and velocity.
    pub fn next(mut self, impulse: Vec3A, velocity: Vec3A, friction: f32) -> Touching {
        self.pressing = impulse.dot(self.normal);
        if self.pressing < 0.0 {
            self.grip = Grip::Parting;
            return self;
        }
        let across = |v: Vec3A| v - v.dot(self.normal) * self.normal;
        match self.grip {
            Grip::Parting => {}
            Grip::Stick => {
                let held = across(impulse);
                if held.length() > friction * self.pressing {
                    self.grip = Grip::Slide(-held.normalize_or_zero());
                }
            }
            Grip::Slide(way) => {
                let moving = across(velocity - self.wall);
                self.grip = if friction > 0.0 && (moving.dot(way) <= 0.0 || moving.length() < SLOW)
                {
                    Grip::Stick
                } else {
                    Grip::Slide(moving.normalize_or_zero())
                };
            }
        }
        self
    }
}

impl Environment<'_> {
    pub(super) fn friction_of(&self, obstacle: u32) -> f32 {
        self.obstacles.friction_of(obstacle)
    }

    /// The obstacle that a point of a body touches, if it does not part from it.
    pub(super) fn touch(
        &self,
        place: Vec3,
        velocity: Vec3A,
        thickness: f32,
        before: Option<Touching>,
    ) -> Option<(Touching, Touch)> {
        if before.is_some_and(|t| t.grip == Grip::Parting) {
            return None;
        }
        let (obstacle, touch, wall) = self.obstacles.touched(place, TOUCHING * thickness)?;
        let (normal, wall) = (Vec3A::from(touch.normal), Vec3A::from(wall));
        if let Some(before) = before
            && before.obstacle == obstacle as u32
            && before.normal.dot(normal) > 0.99
        {
            let touching = Touching {
                normal,
                wall,
                ..before
            };
            return Some((touching, touch));
        }
        let relative = velocity - wall;
        let approach = relative.dot(normal);
        let across = relative - approach * normal;
        let grip = if across.length() < SLOW && self.friction_of(obstacle as u32) > 0.0 {
            Grip::Stick
        } else {
            Grip::Slide(across.normalize_or_zero())
        };
        let touching = Touching {
            obstacle: obstacle as u32,
            normal,
            wall,
            grip,
            pressing: 0.0,
        };
        (approach <= 0.0).then_some((touching, touch))
    }
}

/// A point on its way.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub point: u32,
    pub from: Vec3,
    pub to: Vec3,
    pub velocity: Vec3,
    pub mass: f32,
}

/// Where a point has come instead of where it wanted to go.
pub(super) struct Stopped {
    pub point: u32,
    pub place: Vec3,
    pub velocity: Vec3,
}

/// Moves points past all obstacles; returns those that did not reach their place, and
/// adds the contacts, both in the order of the `count` ways, some of which may be none.
pub(super) fn sweep(
    count: usize,
    way: impl Fn(usize) -> Option<Way> + Sync,
    thickness: f32,
    matter: u32,
    around: &Environment<'_>,
    contacts: &mut Vec<Contact>,
) -> Vec<Stopped> {
    let parts: Vec<(Vec<Stopped>, Vec<Contact>)> = (0..count.div_ceil(CHUNK))
        .into_par_iter()
        .spread_map(|chunk| {
            let (mut stopped, mut contacts) = (Vec::new(), Vec::new());
            let mut mover = Mover::new(&around.obstacles);
            let numbers = CHUNK * chunk..count.min(CHUNK * (chunk + 1));
            for way in numbers.filter_map(&way) {
                let ball = Ball {
                    from: way.from,
                    to: way.to,
                    velocity: way.velocity,
                    radius: thickness,
                };
                let (place, velocity) = mover.resolve(ball, &mut |hit: Hit| {
                    contacts.push(Contact {
                        matter,
                        point_id: way.point,
                        obstacle: hit.obstacle as u32,
                        triangle: hit.touch.triangle,
                        barycentric: hit.touch.barycentric,
                        place: hit.touch.point,
                        impulse: way.mass * hit.velocity_change,
                    });
                });
                if place != way.to || velocity != way.velocity {
                    stopped.push(Stopped {
                        point: way.point,
                        place,
                        velocity,
                    });
                }
            }
            (stopped, contacts)
        });
    let mut all = Vec::new();
    for (stopped, own) in parts {
        all.extend(stopped);
        contacts.extend(own);
    }
    all
}
