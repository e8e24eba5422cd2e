//! Liquids as smoothed particles.
//!
//! Start with [`Fluid`] in `state.rs`: the arrays and how particles come and go;
//! `stages.rs` is what a liquid does in a sub-step.
//!
//! - Incompressible liquids: `incompressible.rs` finds the pressure, at the pace of
//!   `pace.rs`, with the sums of `pressure_sums.rs` over the lists of `pairs.rs` and the
//!   mirrored walls of `images.rs`; `restoring.rs` lets it act on where particles will
//!   be, and `bracing.rs` books what walls do in that; `held.rs` books what nozzles do;
//!   `viscosity.rs` with `viscosity_solve.rs` (conjugate gradients), `grip.rs`
//!   (walls), `winding.rs` (what is not the flow's), `thinning.rs` and `mixing.rs`; `tension.rs` is surface tension and
//!   wetting; `cubic.rs` their kernel; `yielding.rs` how bodies give way.
//! - Weakly compressible liquids (Grahn 2008): `sph.rs` holds the two hot loops,
//!   `kernels.rs` their kernels, `walls.rs` what walls add to them.
//! - `settings.rs`, `material.rs` and `liquid.rs` say what a liquid is, `limits.rs` how
//!   long a sub-step may be, `fill.rs` and `emitter.rs` make particles,
//!   `sample.rs` tells what the liquid is at a place.

mod bracing;
mod corner;
mod correction;
mod cubic;
mod emitter;
mod fill;
mod friction;
mod grip;
mod held;
mod image_search;
mod images;
mod incompressible;
mod kernels;
mod limits;
mod liquid;
mod material;
mod mixing;
mod pace;
mod pairs;
mod partition;
mod pressure_sums;
mod restoring;
mod sample;
mod settings;
mod sph;
mod stages;
mod state;
mod strain;
mod tension;
#[cfg(test)]
mod test_random;
mod thinning;
mod tolerances;
mod viscosity;
mod viscosity_solve;
mod vorticity;
mod walls;
mod winding;
mod yielding;

/// Particles per parallel task: enough to hide the cost of a task, few enough to
/// balance two cores at a thousand particles.
pub(crate) const CHUNK: usize = 256;

/// Fewer particles than this are not worth another thread where each is a few operations.
pub(crate) const LEAST: usize = 1024;

pub(crate) use emitter::Throat;
pub use emitter::{Emitter, Sink};
pub use fill::{Fill, FillError, jitter, settle};
pub(crate) use incompressible::Goal;
pub use kernels::Kernels;
pub use limits::{StepBound, StepLimit};
pub use liquid::{Content, Liquid, MOST_LIQUIDS};
pub use material::Material;
pub use sample::Sample;
pub use settings::{DensityKernel, FluidSettings, PressureMethod, SettingsError};
pub(crate) use state::Motion;
pub use state::{Fluid, NewParticle};
pub use thinning::Thinning;
pub use tolerances::{Solved, Tolerances};
