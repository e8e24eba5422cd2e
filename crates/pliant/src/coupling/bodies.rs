//! How bodies move while liquids push them.
//!
//! In a sub-step the velocities of all bodies that liquid can push live here. Every
//! impulse that a liquid gives to a surface is taken up at once, by the three corners
//! of the triangle or by the rigid body, so that within a pressure solve the next
//! iteration already sees how the wall gives way. Without that a light body is thrown
//! about by the liquid that it moves along (the added mass).

use glam::{DVec3, Mat3A, Vec3, Vec3A};

use super::answer::Answer;
use crate::solid::Equations;

/// A place of a body's surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grasp {
    /// Number of the body.
    pub body: u32,
    /// Points of the body that are the corners of the triangle.
    pub corners: [u32; 3],
    /// Their weights.
    pub weights: [f32; 3],
    /// In the world, in metres.
    pub place: Vec3A,
}

/// The motion of one body.
#[derive(Clone, Debug)]
pub(crate) enum BodyMotion {
    /// Points with masses of their own.
    Points(Box<PointMotion>),
    /// All points as one.
    Rigid(RigidMotion),
}

/// The motion of a deformable body.
#[derive(Clone, Debug)]
pub(crate) struct PointMotion {
    /// The triangles of its surface.
    pub triangles: Vec<[u32; 3]>,
    /// In m/s.
    pub velocity: Vec<Vec3A>,
    /// In 1/kg; 0 for points that are held.
    pub inverse_mass: Vec<f32>,
    /// The stiffness, while it has its say; without, points answer by their masses.
    pub elastic: Option<Elastic>,
    /// What pins have borne of the pushes meanwhile, in N s.
    pub borne: DVec3,
}

/// A body of finite elements that is being pushed.
#[derive(Clone, Debug)]
pub(crate) struct Elastic {
    pub equations: Answer,
    /// Velocities before any push, in m/s.
    pub start: Vec<Vec3A>,
    /// What has been given since the last answer, in N s. Many small impulses are added up
    /// before they meet the sum of all, or that would lose their last digits.
    fresh: Vec<Vec3A>,
    /// Something has been given that has not been shared out yet.
    stale: bool,
    /// It is only added up, until the body moves.
    waiting: bool,
}

impl PointMotion {
    /// From now on pushes are answered by these equations.
    pub fn borrow(&mut self, equations: Option<Answer>) {
        self.elastic = equations.map(|equations| Elastic {
            equations,
            fresh: vec![Vec3A::ZERO; self.velocity.len()],
            start: self.velocity.clone(),
            stale: false,
            waiting: false,
        });
    }

    /// What has been given has been taken up: the velocities are those before any push.
    pub fn begin_again(&mut self) {
        if let Some(elastic) = &mut self.elastic {
            elastic.start.copy_from_slice(&self.velocity);
            (elastic.stale, elastic.waiting) = (false, false);
        }
    }

    /// Adds what has been given since the last answer to all that was given.
    pub fn take_in(&mut self) {
        if let Some(elastic) = &mut self.elastic {
            let given = elastic.equations.impulse_mut().iter_mut();
            for (all, fresh) in given.zip(&mut elastic.fresh) {
                *all += std::mem::take(fresh);
            }
        }
    }

    /// Ends the loan of a solid: the equations with the last word of their body.
    pub fn give_back(&mut self) -> Option<Equations> {
        self.take_in();
        let Answer::Solid(equations) = &mut self.elastic.as_mut()?.equations else {
            return None;
        };
        equations.conclude();
        self.follow();
        match self.elastic.take()?.equations {
            Answer::Solid(equations) => Some(*equations),
            Answer::Soft(_) => None,
        }
    }

    /// How far a point moves by a unit impulse if all others stay, in 1/kg.
    fn mobility(&self, n: usize) -> f32 {
        match &self.elastic {
            Some(elastic) => elastic.equations.mobility(n),
            None => self.inverse_mass[n],
        }
    }

    /// Takes over what the equations have found.
    fn follow(&mut self) {
        let Some(elastic) = &self.elastic else {
            return;
        };
        let moved = elastic.start.iter().zip(elastic.equations.change());
        for (velocity, (start, change)) in self.velocity.iter_mut().zip(moved) {
            *velocity = *start + *change;
        }
    }
}

/// The motion of a rigid body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RigidMotion {
    /// Of the centre of mass, in m/s.
    pub velocity: Vec3A,
    /// In rad/s.
    pub spin: Vec3A,
    pub center: Vec3A,
    pub inverse_mass: f32,
    /// In the world's frame.
    pub inverse_inertia: Mat3A,
}

/// All bodies that liquids can push.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    pub list: Vec<BodyMotion>,
    /// Number of the first one among the obstacles that liquids see.
    pub first: u32,
}

impl Bodies {
    /// The number of the body whose surface is obstacle `obstacle`, if it is one.
    #[inline]
    pub fn of(&self, obstacle: u32) -> Option<u32> {
        obstacle.checked_sub(self.first)
    }

    /// A place of triangle `triangle` of a body.
    pub fn grasp(&self, body: u32, triangle: u32, weights: [f32; 3], place: Vec3A) -> Grasp {
        let corners = match &self.list[body as usize] {
            BodyMotion::Points(points) => points.triangles[triangle as usize],
            BodyMotion::Rigid(_) => [0; 3],
        };
        Grasp {
            body,
            corners,
            weights,
            place,
        }
    }

    /// Velocity of a place in m/s.
    #[inline]
    pub fn velocity(&self, at: &Grasp) -> Vec3A {
        match &self.list[at.body as usize] {
            BodyMotion::Points(points) => {
                let [a, b, c] = at.corners.map(|n| points.velocity[n as usize]);
                at.weights[0] * a + at.weights[1] * b + at.weights[2] * c
            }
            BodyMotion::Rigid(rigid) => rigid.at(at.place),
        }
    }

    /// Gives an impulse in N s to a place. What a body of finite elements makes of it is
    /// known after [`Bodies::respond`].
    #[inline]
    pub fn push(&mut self, at: &Grasp, impulse: Vec3A) {
        match &mut self.list[at.body as usize] {
            BodyMotion::Points(points) => {
                let corners = at.corners.into_iter().zip(at.weights);
                if let Some(elastic) = &mut points.elastic {
                    for (n, weight) in corners {
                        elastic.fresh[n as usize] += weight * impulse;
                    }
                    elastic.stale = true;
                    return;
                }
                for (n, weight) in corners {
                    let n = n as usize;
                    points.velocity[n] += (points.inverse_mass[n] * weight) * impulse;
                    if points.inverse_mass[n] == 0.0 {
                        points.borne -= Vec3::from(weight * impulse).as_dvec3();
                    }
                }
            }
            BodyMotion::Rigid(rigid) => rigid.push(at.place, impulse),
        }
    }
}

impl Bodies {
    /// From now on bodies only add up what they are given, until they move.
    pub fn wait(&mut self) {
        for body in &mut self.list {
            if let BodyMotion::Points(points) = body
                && let Some(elastic) = &mut points.elastic
            {
                elastic.waiting = true;
            }
        }
    }

    /// Gives an impulse in N s to a place. Until bodies respond, each of the corners moves by
    /// itself, as far as its `mobility` says.
    pub fn push_guessing(&mut self, at: &Grasp, mobility: &[f32; 3], impulse: Vec3A) {
        self.push(at, impulse);
        if let BodyMotion::Points(points) = &mut self.list[at.body as usize]
            && points.elastic.is_some()
        {
            let corners = at.corners.iter().zip(at.weights).zip(mobility);
            for ((&n, weight), mobility) in corners {
                points.velocity[n as usize] += (mobility * weight) * impulse;
            }
        }
    }

    /// How far each corner of a place moves by a unit impulse if all other points stay, in
    /// 1/kg.
    pub fn mobility(&self, at: &Grasp) -> [f32; 3] {
        match &self.list[at.body as usize] {
            BodyMotion::Points(points) => at.corners.map(|n| points.mobility(n as usize)),
            BodyMotion::Rigid(_) => [0.0; 3],
        }
    }

    /// Lets deformable bodies give way to all that they have been given; true if one has.
    pub fn respond(&mut self) -> bool {
        let mut responded = false;
        for body in &mut self.list {
            let BodyMotion::Points(points) = body else {
                continue;
            };
            points.take_in();
            let Some(elastic) = &mut points.elastic else {
                continue;
            };
            if elastic.waiting || !std::mem::take(&mut elastic.stale) {
                continue;
            }
            elastic.equations.respond();
            points.follow();
            responded = true;
        }
        responded
    }

    /// Change of velocity along `direction` at a place by a unit impulse along it, in
    /// 1/kg.
    pub fn softness(&self, at: &Grasp, direction: Vec3A) -> f32 {
        match &self.list[at.body as usize] {
            BodyMotion::Points(points) => {
                let corners = at.corners.into_iter().zip(at.weights);
                corners
                    .map(|(n, w)| w * w * points.mobility(n as usize))
                    .sum()
            }
            BodyMotion::Rigid(rigid) => {
                let arm = (at.place - rigid.center).cross(direction);
                rigid.inverse_mass + arm.dot(rigid.inverse_inertia * arm)
            }
        }
    }
}

impl RigidMotion {
    /// Velocity of the point at `place`.
    #[inline]
    pub fn at(&self, place: Vec3A) -> Vec3A {
        self.velocity + self.spin.cross(place - self.center)
    }

    /// Gives an impulse in N s to the point at `place`.
    #[inline]
    pub fn push(&mut self, place: Vec3A, impulse: Vec3A) {
        self.velocity += self.inverse_mass * impulse;
        self.spin += self.inverse_inertia * (place - self.center).cross(impulse);
    }
}
