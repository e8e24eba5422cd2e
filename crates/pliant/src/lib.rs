//! Pliant: one real-time engine for matter that flows, bends, tears and breaks.

pub mod contact;
pub mod math;
pub mod mesh;
pub mod space;

pub use glam::Quat;
pub use glam::Vec3;
