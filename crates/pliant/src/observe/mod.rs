//! What is measured and kept: energies, leaks, time per stage, checkpoints.
//!
//! Observers read matter through its views only (see [`crate::world::Matter`]),
//! so they hold for every kind of matter.

mod checkpoint;
mod hash;
mod timers;
mod totals;

pub use checkpoint::{CheckpointError, Decoder, Encoder, FORMAT_VERSION};
pub use hash::StateHash;
pub use timers::{STAGES, Stage, Timers};
pub use totals::Totals;
