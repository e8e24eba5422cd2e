//! Liquids as smoothed particles (Grahn 2008, chapter 3).
//!
//! Start with [`Fluid`] in `state.rs`: the arrays of one liquid and how particles
//! come and go. `sph.rs` holds the two hot loops (density, then forces),
//! `kernels.rs` their smoothing kernels, `walls.rs` what walls add to them, `limits.rs` the largest stable step.
//! `fill.rs` and `emitter.rs` make particles; `material.rs` names real liquids.

mod emitter;
mod fill;
mod kernels;
mod limits;
mod material;
mod sph;
mod state;
mod walls;

pub use emitter::{Emitter, Sink};
pub use fill::{Fill, FillError, settle};
pub use kernels::Kernels;
pub use limits::{StepBound, StepLimit};
pub use material::Material;
pub(crate) use emitter::Throat;
pub use state::{DensityKernel, Fluid, FluidSettings, NewParticle, Sample, SettingsError};
pub(crate) use state::Motion;
