//! How the two kinds of deformable bodies give way to liquids.

use glam::Vec3A;

use crate::soft::SoftEquations;
use crate::solid::Equations;

/// The equations by which a body answers within a sub-step.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Of finite elements.
    Solid(Box<Equations>),
    /// Of a surface of springs.
    Soft(Box<SoftEquations>),
}

impl Answer {
    /// All that has been given to each point so far, in N s.
    pub fn impulse_mut(&mut self) -> &mut [Vec3A] {
        match self {
            Answer::Solid(equations) => &mut equations.impulse,
            Answer::Soft(equations) => &mut equations.impulse,
        }
    }

    /// What has come of it, in m/s.
    pub fn change(&self) -> &[Vec3A] {
        match self {
            Answer::Solid(equations) => &equations.change,
            Answer::Soft(equations) => &equations.change,
        }
    }

    /// How far point `i` moves by a unit impulse if all others stay, in 1/kg.
    pub fn mobility(&self, i: usize) -> f32 {
        match self {
            Answer::Solid(equations) => equations.mobility(i),
            Answer::Soft(equations) => equations.mobility(i),
        }
    }

    /// Finds the change that belongs to the impulses.
    pub fn respond(&mut self) {
        match self {
            Answer::Solid(equations) => equations.respond(),
            Answer::Soft(equations) => equations.respond(),
        }
    }
}
