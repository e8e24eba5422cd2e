//! Measurements of single parts, printed as one JSON line per row.

pub mod colliders;
#[cfg(feature = "peers")]
mod parry;
