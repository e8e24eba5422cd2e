//! What liquids and rigid bodies need of a body that they push.

use glam::{DVec3, Vec3, Vec3A};

use super::block_matrix::BlockMatrix;
use super::conjugate_gradient::{Budget, Freedom, Matrix, Scratch, System, solve, solve_factored};
use super::contact::Environment;
use super::envelope::Envelope;
use super::implicit::FEW;
use super::keep_momentum::{keep_momentum, reaction};
use super::state::{Body, Solid};
use crate::contact::Contact;

/// What is left of an impulse that has not been shared out, at most.
const TOLERANCE: f64 = 1e-3;
/// The same for the last word, where factors make it cheap: what is left over then is
/// momentum that nobody has given.
pub(super) const LAST: f64 = 1e-6;
/// Most iterations for one change of the impulses; the next goes on where this one ends.
const ITERATIONS: u32 = 40;

/// How a body of finite elements gives way to impulses within a step: by its masses and
/// its stiffness, `(m (1 + h α) + (h² + h β) K) Δv = J`. Given the velocities of
/// the implicit step without J, these are what that step would have found with J.
#[derive(Clone, Debug)]
pub(crate) struct Equations {
    stiffness: BlockMatrix,
    diagonal: Vec<f32>,
    freedom: Vec<Freedom>,
    scratch: Scratch,
    factor: Option<Envelope>,
    /// The factors have become too different.
    worn: bool,
    /// The factor of K.
    scale: f32,
    /// All that has been given so far, in N s.
    pub impulse: Vec<Vec3A>,
    /// What has come of it, in m/s.
    pub change: Vec<Vec3A>,
}

impl Equations {
    /// Finds the change of velocity that belongs to the impulses; they will go on changing.
    pub fn respond(&mut self) {
        self.solve(TOLERANCE);
    }

    /// Finds the change of velocity that belongs to all impulses there were.
    pub fn conclude(&mut self) {
        if self.factor.as_ref().is_some_and(|f| f.scale > 0.0) {
            self.solve(LAST);
        }
        self.keep_momentum();
    }

    /// How far point `i` moves by a unit impulse if all others stay, in 1/kg.
    pub fn mobility(&self, i: usize) -> f32 {
        self.system().mobility(i)
    }

    fn system(&self) -> System<'_> {
        System {
            stiffness: &self.stiffness,
            diagonal: &self.diagonal,
            scale: self.scale,
            freedom: &self.freedom,
        }
    }

    fn keep_momentum(&mut self) {
        let mut change = std::mem::take(&mut self.change);
        keep_momentum(&self.system(), &self.impulse, &[], &mut change);
        self.change = change;
    }

    fn solve(&mut self, tolerance: f64) {
        let system = System {
            stiffness: &self.stiffness,
            diagonal: &self.diagonal,
            scale: self.scale,
            freedom: &self.freedom,
        };
        let mass = self.diagonal.iter().map(|&d| f64::from(d)).sum();
        let budget = Budget::of_step(ITERATIONS, tolerance, mass);
        let (given, change, scratch) = (&self.impulse, &mut self.change, &mut self.scratch);
        match &self.factor {
            Some(factor) if factor.scale > 0.0 => {
                let outcome = solve_factored(&system, factor, given, change, budget, scratch);
                self.worn |= outcome.iterations > FEW;
            }
            _ => {
                solve(&system, given, change, budget, scratch);
            }
        }
        if self.freedom.iter().all(|f| *f == Freedom::Free) {
            self.keep_momentum();
        }
    }
}

impl Solid {
    /// Velocities of all points in m/s.
    pub(crate) fn velocity_list(&self) -> &[Vec3A] {
        &self.velocity
    }

    /// 1 / mass of all points in 1/kg; 0 for pinned ones.
    pub(crate) fn inverse_masses(&self) -> &[f32] {
        &self.inverse_mass
    }

    /// How often the triangles of the surface have changed.
    pub(crate) fn surface_version(&self) -> u32 {
        self.surface_version
    }

    /// Largest speed of any point in m/s.
    pub(crate) fn top_speed(&self) -> f32 {
        let squared = self.velocity.iter().map(|v| v.length_squared());
        squared.fold(0.0, f32::max).sqrt()
    }

    /// Lends the equations of the step of `h` seconds that has just been solved, for bodies
    /// of finite elements; [`Solid::take_back`] must follow.
    pub(crate) fn lend_equations(&mut self, h: f32) -> Option<Equations> {
        let n = self.velocity.len();
        let Body::Elastic(body) = &mut self.body else {
            return None;
        };
        body.renew_factor(h);
        Some(Equations {
            factor: body.factor.take(),
            worn: body.worn,
            stiffness: std::mem::replace(&mut body.stiffness, BlockMatrix::empty(0)),
            diagonal: std::mem::take(&mut body.diagonal),
            freedom: std::mem::take(&mut body.freedom),
            scratch: std::mem::take(&mut body.scratch),
            scale: h * (h + body.settings.stiffness_damping),
            impulse: vec![Vec3A::ZERO; n],
            change: vec![Vec3A::ZERO; n],
        })
    }

    /// Takes back what it has lent. Returns what the obstacles that it touches have given
    /// to it because of the impulses, in N s.
    pub(crate) fn take_back(&mut self, equations: Equations) -> Vec<(u32, DVec3)> {
        let mut touched = Vec::new();
        if let Body::Elastic(body) = &mut self.body {
            let mut touching = self.touching.iter().peekable();
            for (i, freedom) in equations.freedom.iter().enumerate() {
                let touch = touching.next_if(|(point, _)| *point as usize == i);
                if *freedom == Freedom::Free {
                    continue;
                }
                let system = equations.system();
                let held = reaction(&system, i, &equations.impulse, &equations.change);
                match touch {
                    Some((_, touch)) => touched.push((touch.obstacle, held)),
                    None => self.given.1 += held,
                }
            }
            body.stiffness = equations.stiffness;
            body.diagonal = equations.diagonal;
            body.freedom = equations.freedom;
            body.scratch = equations.scratch;
            body.factor = equations.factor;
            body.worn = equations.worn;
        }
        touched
    }

    /// Takes the impulses from outside and from pins that have not been booked yet.
    pub(crate) fn take_given(&mut self) -> (DVec3, DVec3) {
        std::mem::take(&mut self.given)
    }

    /// Books an impulse that a pin has borne.
    pub(crate) fn bear(&mut self, impulse: DVec3) {
        self.given.1 += impulse;
    }

    /// Something has pushed the points: these are their velocities now.
    pub(crate) fn set_velocities(&mut self, velocity: &[Vec3A], h: f32) {
        for (i, &velocity) in velocity.iter().enumerate() {
            if self.velocity[i] != velocity {
                self.velocity[i] = velocity;
                if let Body::Springs(body) = &mut self.body {
                    body.moved(i, self.displacement[i], velocity, h);
                }
            }
        }
        self.refresh_views();
    }

    /// Something is in the way of a point: it ends its step of `h` seconds here, with this
    /// velocity.
    pub(super) fn stop_at(&mut self, i: usize, place: Vec3, velocity: Vec3A, h: f32) {
        self.displacement[i] = (place - self.mesh.points[i]).into();
        self.velocity[i] = velocity;
        if let Body::Springs(body) = &mut self.body {
            body.moved(i, self.displacement[i], self.velocity[i], h);
        }
        self.refresh_view(i);
    }

    /// The second half of a step of `h` seconds: the points, which the first half has
    /// sent on their way, go with `velocity` instead, and past all obstacles.
    pub(crate) fn finish_as(
        &mut self,
        matter: u32,
        h: f32,
        velocity: Option<&[Vec3A]>,
        around: &Environment<'_>,
    ) -> Vec<Contact> {
        for (i, &velocity) in velocity.unwrap_or_default().iter().enumerate() {
            let change = velocity - self.velocity[i];
            if change != Vec3A::ZERO {
                self.displacement[i] += h * change;
                self.velocity[i] = velocity;
                if let Body::Springs(body) = &mut self.body {
                    body.moved(i, self.displacement[i], velocity, h);
                }
            }
        }
        let mut contacts = Vec::new();
        if !around.is_empty() {
            self.pass_obstacles(matter, h, around, &mut contacts);
        }
        self.last_step = h;
        self.refresh_views();
        contacts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;
    use crate::solid::{Elastic, SolidModel, SolidSettings};

    /// Impulses after the implicit step are answered as if that had known of them.
    #[test]
    fn a_late_impulse_is_as_good_as_an_early_one() {
        let mesh = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::new(0.4, 0.1, 0.1),
            cells: [8, 2, 2],
        };
        let model = SolidModel::Elastic(Elastic {
            young: 1e6,
            stiffness_damping: 1e-3,
            iterations: 1000,
            tolerance: 1e-6,
            ..Elastic::default()
        });
        let around = Environment::new(-9.81 * Vec3::Y, &[], []);
        let h = 0.005;
        for pinned in [false, true] {
            let build = || {
                let settings = SolidSettings::new("beam", model.clone());
                let mut solid = Solid::new(settings, mesh.build().unwrap()).unwrap();
                solid.pin_where(|p| pinned && p.x < 1e-3);
                solid
            };
            let push = |p: Vec3| Vec3A::new(0.0, if p.x > 0.39 { -0.02 } else { 0.0 }, 0.001);
            let pushes = |solid: &Solid| -> Vec<Vec3A> {
                let pushed = solid.mesh.points.iter().zip(&solid.inverse_mass);
                let free = |w: f32| if w > 0.0 { 1.0 } else { 0.0 };
                pushed.map(|(&p, &w)| free(w) * push(p)).collect()
            };
            let mut early = build();
            let given = pushes(&early);
            let velocities = given.iter().zip(&early.inverse_mass);
            let velocities: Vec<Vec3A> = velocities.map(|(j, w)| *w * *j).collect();
            early.set_velocities(&velocities, h);
            early.solve_as(0, h, &around);
            let mut late = build();
            late.solve_as(0, h, &around);
            let mut equations = late.lend_equations(h).unwrap();
            equations.impulse = given;
            // It goes on where it has ended.
            (0..20).for_each(|_| equations.respond());
            let top = early.top_speed();
            assert!(top > 0.01);
            for (i, early) in early.velocity.iter().enumerate() {
                let late = late.velocity[i] + equations.change[i];
                assert!((late - *early).length() < 2e-3 * top, "{late} {early}");
            }
            late.take_back(equations);
        }
    }
}
