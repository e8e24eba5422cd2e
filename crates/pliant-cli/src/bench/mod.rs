//! Measurements of speed and memory.

pub mod colliders;
pub mod neighbours;
#[cfg(feature = "peers")]
pub mod parry;
