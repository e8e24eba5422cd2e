//! The seven models that Mesit 2010 (3.3) maps onto its own, each in place of plain springs.
//!
//! - `energies.rs`: distances, areas and volumes (Teschner et al. 2004).
//! - `woven.rs`: threads of cloth that is draped (Eberhardt et al. 1996).
//! - `conditions.rs`: cloth by condition functions, with drag (Bhat et al. 2003); how far a
//!   frame of it is from a filmed one is in `video.rs`.
//! - `underwater.rs`: cloth with a memory of its motion (Ozgen et al. 2010).
//! - `positions.rs`: constraints on positions (Müller et al. 2007).
//! - `bones.rs`: a skeleton under a soft layer (Galoppo et al. 2007).
//! - `prisms.rs`: coupled prisms (Botsch et al. 2006).
//!
//! Four of them give forces, after which points move by symplectic Euler; three move the
//! points themselves. α weighs what keeps the shape, β what water does, γ volumes, δ gravity.
//! Obstacles and other bodies are met as by every soft body.

mod bones;
mod conditions;
mod energies;
mod positions;
mod prisms;
#[cfg(test)]
mod tests;
mod underwater;
mod video;
mod woven;

use glam::{Vec3, Vec3A};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::bones::Skeleton;
use self::conditions::Fabric;
use self::energies::Shape;
use self::positions::Constraints;
use self::prisms::Coupled;
use self::underwater::Wet;
use self::woven::Threads;
use super::settings::{Controls, SoftError};
use super::topology::Topology;
pub(super) use energies::outer_points_only;

pub use bones::{Bones, Swing};
pub use conditions::Conditions;
pub use energies::Energies;
pub use positions::Positions;
pub use prisms::Prisms;
pub use underwater::{Underwater, half_derivative};
pub use video::{Camera as VideoCamera, Film, film_error};
pub use woven::Woven;

/// What keeps the shape of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Springs along the edges: the model of Mesit 2010.
    #[default]
    Springs,
    /// Distances, areas and volumes of a solid or a shell (Teschner et al. 2004).
    Energies(Energies),
    /// Threads of a sheet of cloth (Eberhardt et al. 1996).
    Woven(Woven),
    /// A cloth by condition functions, with drag (Bhat et al. 2003).
    Conditions(Conditions),
    /// A cloth under water, with a memory of its motion (Ozgen et al. 2010).
    Underwater(Underwater),
    /// Constraints on positions (Müller et al. 2007).
    Positions(Positions),
    /// A skeleton under a soft layer (Galoppo et al. 2007).
    Bones(Bones),
    /// Coupled prisms (Botsch et al. 2006).
    Prisms(Prisms),
}

impl Model {
    /// Refuses numbers that no body can have.
    pub(super) fn check(&self) -> Result<(), SoftError> {
        let numbers: Vec<(&'static str, f32)> = match self {
            Model::Springs => Vec::new(),
            Model::Energies(m) => vec![
                ("distance", m.distance),
                ("area", m.area),
                ("volume", m.volume),
                ("damping", m.damping),
            ],
            Model::Woven(m) => vec![
                ("tension", m.tension),
                ("shear", m.shear),
                ("bend", m.bend),
                ("damping", m.damping),
                ("air", m.air),
            ],
            Model::Conditions(m) => vec![
                ("stretch", m.stretch),
                ("shear", m.shear),
                ("bend", m.bend),
                ("damping", m.damping),
                ("normal_drag", m.normal_drag),
                ("tangent_drag", m.tangent_drag),
                ("drag_limit", m.drag_limit),
            ],
            Model::Underwater(m) => vec![
                ("half_damping", m.half_damping),
                ("history_drag", m.history_drag),
                ("viscous_drag", m.viscous_drag),
                ("water", m.water),
            ],
            Model::Positions(m) => vec![
                ("stretch", m.stretch),
                ("bend", m.bend),
                ("pressure", m.pressure),
                ("damping", m.damping),
            ],
            Model::Bones(m) => vec![
                ("stiffness", m.stiffness),
                ("damping", m.damping),
                ("muscle", m.muscle),
            ],
            Model::Prisms(m) => vec![("stiffness", m.stiffness), ("damping", m.damping)],
        };
        let wrong = numbers.iter().find(|(_, v)| !(*v >= 0.0 && v.is_finite()));
        match wrong {
            None => Ok(()),
            Some((key, value)) => Err(SoftError::Setting {
                key,
                value: value.to_string(),
                right: "a finite number, 0 or more",
            }),
        }
    }
}

/// The points of a body while a model moves them.
pub(super) struct Points<'a> {
    pub position: &'a mut [Vec3A],
    pub velocity: &'a mut [Vec3A],
    pub force: &'a mut [Vec3A],
    pub mass: &'a [f32],
    pub inverse_mass: &'a [f32],
    pub topology: &'a Topology,
    pub controls: Controls,
    /// Acceleration by gravity and fields, with δ.
    pub acceleration: &'a dyn Fn(Vec3A, Vec3A) -> Vec3A,
    /// Share of the velocity that the air leaves.
    pub kept: f32,
    /// Sub-step in seconds.
    pub h: f32,
    /// Seconds since the start.
    pub clock: f64,
}

impl Points<'_> {
    /// Adds the force of a constraint `C` of energy `½ k C²`, damped along itself (Teschner
    /// et al. 2004): `F_i = -(k C + k_d Σ ∂C/∂p_j · v_j) ∂C/∂p_i`.
    #[inline]
    fn constrain<const N: usize>(
        &mut self,
        ids: [u32; N],
        value: f32,
        gradient: [Vec3A; N],
        stiffness: f32,
        damping: f32,
    ) {
        let mut rate = 0.0;
        for (id, g) in ids.iter().zip(&gradient) {
            rate += g.dot(self.velocity[*id as usize]);
        }
        let size = -stiffness * (value + damping * rate);
        for (id, g) in ids.iter().zip(&gradient) {
            self.force[*id as usize] += size * *g;
        }
    }

    /// Moves all points by their forces (symplectic Euler); `weight` scales gravity.
    fn kick(&mut self, weight: f32) {
        let h = self.h;
        for i in 0..self.position.len() {
            if self.inverse_mass[i] > 0.0 {
                let pulled = (self.acceleration)(self.position[i], self.velocity[i]);
                let pushed = self.inverse_mass[i] * self.force[i] + weight * pulled;
                self.velocity[i] = self.kept * (self.velocity[i] + h * pushed);
            }
            self.position[i] += h * self.velocity[i];
        }
    }
}

/// What a model remembers of a body.
#[derive(Clone, Debug)]
pub(super) enum ModelState {
    Energies(Shape),
    Woven(Threads),
    Conditions(Fabric),
    Underwater(Wet),
    Positions(Constraints),
    Bones(Box<Skeleton>),
    Prisms(Coupled),
}

/// A body before it moves.
pub(super) struct Start<'a> {
    pub place: &'a [Vec3],
    pub topology: &'a Topology,
    /// Tetrahedra inside, if it is a solid.
    pub tets: &'a [[u32; 4]],
}

impl ModelState {
    /// Makes a model ready; `None` for plain springs.
    pub fn new(model: &Model, start: &Start<'_>) -> Result<Option<ModelState>, SoftError> {
        let fault = |message: String| SoftError::Mesh(message);
        Ok(Some(match model {
            Model::Springs => return Ok(None),
            Model::Energies(m) => ModelState::Energies(Shape::new(*m, start)),
            Model::Woven(m) => ModelState::Woven(Threads::new(*m, start).map_err(fault)?),
            Model::Conditions(m) => ModelState::Conditions(Fabric::new(*m, start)),
            Model::Underwater(m) => ModelState::Underwater(Wet::new(*m)),
            Model::Positions(m) => ModelState::Positions(Constraints::new(*m, start)),
            Model::Bones(m) => ModelState::Bones(Box::new(Skeleton::new(m, start).map_err(fault)?)),
            Model::Prisms(m) => ModelState::Prisms(Coupled::new(*m, start)),
        }))
    }

    /// Moves the points by one sub-step.
    pub fn advance(&mut self, points: &mut Points<'_>) {
        points.force.fill(Vec3A::ZERO);
        match self {
            ModelState::Energies(m) => m.add_forces(points),
            ModelState::Woven(m) => m.add_forces(points),
            ModelState::Conditions(m) => m.add_forces(points),
            ModelState::Underwater(m) => {
                let weight = m.add_forces(points);
                return points.kick(weight);
            }
            ModelState::Positions(m) => return m.advance(points),
            ModelState::Bones(m) => return m.advance(points),
            ModelState::Prisms(m) => return m.advance(points),
        }
        points.kick(1.0);
    }

    /// What changes while it moves, beyond places and velocities.
    pub fn numbers(&self) -> Vec<f32> {
        match self {
            ModelState::Underwater(m) => m.numbers(),
            ModelState::Bones(m) => m.numbers(),
            _ => Vec::new(),
        }
    }

    /// Restores what [`ModelState::numbers`] gave; false if these are not such numbers.
    pub fn restore(&mut self, numbers: &[f32]) -> bool {
        match self {
            ModelState::Underwater(m) => m.restore(numbers),
            ModelState::Bones(m) => m.restore(numbers),
            _ => numbers.is_empty(),
        }
    }

    /// Its skeleton, if it has one.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        match self {
            ModelState::Bones(m) => Some(m),
            _ => None,
        }
    }
}

/// The points across every edge that has two triangles: the edge, then both tips.
fn hinges(triangles: &[[u32; 3]]) -> Vec<[u32; 4]> {
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        for (i, j, tip) in [(a, b, c), (b, c, a), (c, a, b)] {
            sides.push(([i.min(j), i.max(j)], tip));
        }
    }
    sides.sort_unstable();
    let pairs = sides.windows(2).filter(|w| w[0].0 == w[1].0);
    pairs
        .map(|w| [w[0].0[0], w[0].0[1], w[0].1, w[1].1])
        .collect()
}
