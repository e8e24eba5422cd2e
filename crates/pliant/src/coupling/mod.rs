//! How matter of different kinds meets: liquids push deformable and rigid bodies and
//! are pushed by them; rigid bodies bump into obstacles and each other.
//!
//! Start with `step.rs`: what happens to bodies in a sub-step, in order. For liquids
//! the surface of every body is one more obstacle, its skin; `bodies.rs` holds the
//! velocities of all bodies while liquids push them (`fluid/yielding.rs`), `contact.rs`
//! keeps rigid bodies apart, `blow.rs` lets particles and bodies collide, `blade.rs` cuts;
//! `exchange.rs` keeps the books of momentum.

mod blade;
mod blow;
mod bodies;
mod contact;
mod exchange;
mod liquid_contact;
mod step;

pub use blade::Stroke;
pub(crate) use blow::{Blow, collide};
pub(crate) use bodies::{Bodies, Grasp, RigidMotion};
pub use exchange::Exchange;
pub use liquid_contact::LiquidContact;
pub(crate) use step::Skins;
