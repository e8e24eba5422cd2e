//! Liquids as smoothed particles (Grahn 2008, chapter 3).
//!
//! Start with [`Fluid`] in `state.rs`: the arrays of one liquid and how particles
//! come and go. `sph.rs` holds the two hot loops (density, then forces),
//! `kernels.rs` their smoothing kernels, `limits.rs` the largest stable step.
//! `fill.rs` and `emitter.rs` make particles; `material.rs` names real liquids.

mod emitter;
mod fill;
mod kernels;
mod limits;
mod material;
mod sph;
mod state;

pub use emitter::{Emitter, Sink};
pub use fill::{Fill, FillError};
pub use kernels::Kernels;
pub use limits::{StepBound, StepLimit};
pub use material::Material;
pub use state::{Fluid, FluidSettings, NewParticle, Sample, SettingsError};
pub(crate) use emitter::Throat;
pub(crate) use state::Motion;
