//! Rigid bodies: boxes, balls, cups, anything with a closed surface.
//!
//! `state.rs` is a body and its motion, `mass.rs` its mass and inertia. What it bumps
//! into is solved in `coupling/contact.rs`, and how liquids push it in the pressure
//! solve (`coupling/bodies.rs`).

mod mass;
mod state;

pub use mass::MassProperties;
pub use state::{RigidBody, RigidError, RigidSettings};
