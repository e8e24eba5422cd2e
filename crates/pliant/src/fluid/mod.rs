//! Liquids as smoothed particles (Grahn 2008, chapter 3).
//!
//! Start with [`Fluid`] in `state.rs`: the arrays of one liquid and how particles
//! come and go. `sph.rs` holds the two hot loops (density, then forces),
//! `kernels.rs` their smoothing kernels, `walls.rs` what walls add to them, `limits.rs` the largest stable step.
//! `fill.rs` and `emitter.rs` make particles; `material.rs` names real liquids;
//! `sample.rs` tells what the liquid is at a place.

mod emitter;
mod fill;
mod kernels;
mod limits;
mod material;
mod sample;
mod sph;
mod state;
mod walls;

/// Particles per parallel task: enough to hide the cost of a task, few enough to
/// balance two cores at a thousand particles.
pub(crate) const CHUNK: usize = 256;

pub(crate) use emitter::Throat;
pub use emitter::{Emitter, Sink};
pub use fill::{Fill, FillError, settle};
pub use kernels::Kernels;
pub use limits::{StepBound, StepLimit};
pub use material::Material;
pub use sample::Sample;
pub(crate) use state::Motion;
pub use state::{DensityKernel, Fluid, FluidSettings, NewParticle, SettingsError};
