//! What a step tells: what it did, or why it could not be made and what to change.

use glam::Vec3;
use thiserror::Error;

use crate::fluid::{Fluid, StepLimit};
use crate::solid::Stiffest;
use crate::world::StepSettings;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Seconds made: those asked for, or less if the step was ended early.
    pub length: f32,
    /// Number of sub-steps.
    pub substeps: u32,
    /// Shortest sub-step in seconds.
    pub smallest_dt: f32,
    /// What set it.
    pub limit: StepLimit,
    /// Largest speed of any point in m/s.
    pub max_speed: f32,
    /// Particles made.
    pub emitted: usize,
    /// Particles taken away.
    pub removed: usize,
    /// Iterations of the pressure solves of incompressible liquids, all sub-steps and
    /// both solves together.
    pub iterations: u32,
    /// Largest mean compression that a pressure solve left, as a share of the density, or mean
    /// room that it made for nothing if that is more.
    pub density_error: f32,
}

/// Why a step could not be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StepError {
    /// The step is not a positive time.
    #[error("a step of {dt} s cannot be made; it must be a positive time")]
    BadStep {
        /// The step asked for.
        dt: f32,
    },
    /// A setting by which no step can be divided.
    #[error("`step.{key}` is {value}, but must be {right}")]
    BadSetting {
        /// Name of the setting.
        key: &'static str,
        /// Its value.
        value: f32,
        /// What would be right.
        right: &'static str,
    },
    /// A fixed sub-step beyond what is stable.
    #[error(
        "fluid `{fluid}`: a fixed sub-step of {fixed:.3e} s is too large: {limit} allows at most \
         {allowed:.3e} s; shorten `step.fixed`, leave it out, or {remedy}"
    )]
    FixedTooLarge {
        /// Name of the liquid.
        fluid: String,
        /// The sub-step of the settings.
        fixed: f32,
        /// What would be stable.
        allowed: f32,
        /// The law that sets it.
        limit: StepLimit,
        /// Another way out.
        remedy: &'static str,
    },
    /// The step would take for ever.
    #[error(
        "step {step}: {needed} sub-steps of {dt:.3e} s would be needed (limited by {limit}); \
         at most {most} are allowed: {remedy}"
    )]
    TooManySubsteps {
        /// Number of the step.
        step: u64,
        /// Sub-steps needed.
        needed: u64,
        /// Sub-steps allowed.
        most: u32,
        /// Length of one.
        dt: f32,
        /// What sets it.
        limit: StepLimit,
        /// What to change.
        remedy: &'static str,
    },
    /// A body of springs would take a step beyond what is stable.
    #[error(
        "solid `{solid}`: a sub-step of {step:.3e} s is too large: {stiffest} allow at most \
         {allowed:.3e} s (point {point} vibrates most); shorten the step, or leave `step` out, \
         lower stiffness or damping, or set `max_inverse_mass`"
    )]
    SolidTooFast {
        /// Name of the body.
        solid: String,
        /// The sub-step asked for.
        step: f32,
        /// What would be stable.
        allowed: f32,
        /// What limits it.
        stiffest: Stiffest,
        /// The point that vibrates most.
        point: u32,
    },
    /// A body has run away.
    #[error(
        "step {step}, {time:.4} s: solid `{solid}` has blown up: point {point} moves at \
         {speed:.3e} m/s; the sub-step was {dt:.3e} s; shorten it, raise damping, or look for \
         overlaps at the start"
    )]
    SolidDiverged {
        /// Number of the step.
        step: u64,
        /// Simulated time.
        time: f64,
        /// Name of the body.
        solid: String,
        /// The point.
        point: u32,
        /// Its speed, perhaps not a number.
        speed: f32,
        /// Length of the sub-step.
        dt: f32,
    },
    /// A soft body has run away.
    #[error(
        "step {step}, {time:.4} s: soft body `{soft}` has blown up: point {point} moves at \
         {speed:.3e} m/s; the sub-step was {dt:.3e} s; shorten its `step`, lower `pressure`, \
         `beta` or `gamma`, or choose the integrator `kang` or `implicit`"
    )]
    SoftDiverged {
        /// Number of the step.
        step: u64,
        /// Simulated time.
        time: f64,
        /// Name of the body.
        soft: String,
        /// The point.
        point: u32,
        /// Its speed, perhaps not a number.
        speed: f32,
        /// Length of the sub-step.
        dt: f32,
    },
    /// Numbers have run away.
    #[error(
        "step {step}, {time:.4} s: fluid `{fluid}` has blown up: particle {particle} moves at \
         {speed:.3e} m/s, its density is {crowding:.0} % off; the sub-step was {dt:.3e} s, \
         limited by {limit}; lower `step.cfl`, raise `numerical_viscosity`, or look for \
         overlapping particles at the start"
    )]
    Diverged {
        /// Number of the step.
        step: u64,
        /// Simulated time.
        time: f64,
        /// Name of the liquid.
        fluid: String,
        /// Name of the particle.
        particle: u32,
        /// Its speed, perhaps not a number.
        speed: f32,
        /// How far its density is from the rest density, in percent.
        crowding: f32,
        /// Length of the sub-step.
        dt: f32,
        /// What set it.
        limit: StepLimit,
    },
}

impl StepSettings {
    pub(crate) fn check(&self) -> Result<(), StepError> {
        let positive = |v: f32| v.is_finite() && v > 0.0;
        if !positive(self.cfl) {
            return Err(StepError::BadSetting {
                key: "cfl",
                value: self.cfl,
                right: "above 0 and at most 1",
            });
        }
        match self.fixed {
            Some(fixed) if !positive(fixed) => Err(StepError::BadSetting {
                key: "fixed",
                value: fixed,
                right: "a positive time, or left out",
            }),
            _ => Ok(()),
        }
    }
}

/// What to change where a law makes too many sub-steps.
pub(crate) fn remedy(limit: StepLimit) -> &'static str {
    match limit {
        StepLimit::Speed => "raise `spacing`, or look for a jet or a fall too fast for it",
        StepLimit::SoundSpeed => "lower `sound_speed` or raise `spacing`",
        StepLimit::Viscosity => "lower `viscosity` or `numerical_viscosity`, or raise `spacing`",
        StepLimit::Diffusion => "lower `diffusivity` or raise `spacing`",
        StepLimit::SurfaceTension => "lower `surface_tension` or raise `spacing`",
        StepLimit::Acceleration => "look for overlapping particles or a strong field",
        StepLimit::MovingWall => "slow the motion of obstacles or raise `spacing`",
        StepLimit::Meeting => "slow the bodies down or use coarser meshes",
        StepLimit::Solid => "lengthen the `step` of the body, lower its stiffness or use `elastic`",
        StepLimit::Frame | StepLimit::Fixed => "raise `step.max_substeps`",
    }
}

/// Says which particle has run away.
#[cold]
pub(crate) fn diverged(
    fluid: &Fluid,
    step: u64,
    time: f64,
    dt: f32,
    limit: StepLimit,
) -> StepError {
    let speeds = fluid.velocities().iter().map(Vec3::length);
    let (worst, speed) = speeds
        .enumerate()
        .max_by(|a, b| {
            let key = |v: f32| if v.is_nan() { f32::INFINITY } else { v };
            key(a.1).total_cmp(&key(b.1))
        })
        .unwrap_or((0, f32::NAN));
    StepError::Diverged {
        step,
        time,
        fluid: fluid.settings().name.clone(),
        particle: fluid.ids().get(worst).copied().unwrap_or(0),
        speed,
        crowding: fluid.crowding(worst),
        dt,
        limit,
    }
}
