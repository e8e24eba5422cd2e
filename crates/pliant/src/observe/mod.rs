//! What is measured and kept: energies, flows, wetted areas, time per stage,
//! checkpoints.
//!
//! Start with [`Probe`]: a named set of numbers to record. `section.rs` counts what
//! flows through a part of a plane, `wetting.rs` what liquid touches, `coating.rs`
//! what it leaves there, `extent.rs`
//! says where liquid is; `observers.rs` calls them while the world moves.
//!
//! Observers read matter through its views only (see [`crate::world::Matter`]),
//! so they hold for every kind of matter.

mod checkpoint;
mod chunks;
mod coating;
mod extent;
mod hash;
mod observers;
mod occupancy;
mod probe;
mod section;
mod solid_probe;
mod timers;
mod totals;
mod wetting;

pub use checkpoint::{CheckpointError, Decoder, Encoder, FORMAT_VERSION};
pub use coating::{Coating, CoatingError, CoatingSettings};
pub use extent::{Extent, front};
pub use hash::StateHash;
pub(crate) use observers::Observers;
pub use probe::{Probe, Quantity, Watch};
pub use section::{Amount, Passage, Section, SectionError};
pub use timers::{STAGES, Stage, Timers};
pub use totals::Totals;
pub use wetting::{Wetting, WettingError};
