//! How matter of different kinds meets: liquids push deformable and rigid bodies and
//! are pushed by them; rigid bodies bump into obstacles and each other.
//!
//! Start with `step.rs`: what happens to bodies in a sub-step, in order. For liquids
//! the surface of every body is one more obstacle, its skin; `bodies.rs` holds the
//! velocities of all bodies while liquids push them (`fluid/yielding.rs`), `answer.rs`
//! how they give way, `soft_step.rs` has what is different for soft bodies; `contact.rs`
//! keeps rigid bodies apart, `blow.rs` lets particles and bodies collide, `blade.rs` cuts,
//! `splinters.rs` leads particles out of what has torn, `closing.rs` finds what bodies ask of
//! the next sub-step.
//! `gauss.rs` is another way: boundary particles on the surfaces (Müller et al. 2004).
//! `exchange.rs` keeps the books of momentum.

mod answer;
mod blade;
mod blow;
mod bodies;
mod closing;
mod contact;
mod exchange;
mod gauss;
mod liquid_contact;
mod soft_step;
mod splinters;
mod step;

pub use blade::Stroke;
pub(crate) use blow::{Blow, Way, collide};
pub(crate) use bodies::{Bodies, Grasp, RigidMotion};
pub use exchange::Exchange;
pub use gauss::{Coupling, Gauss, Reaction};
pub use liquid_contact::LiquidContact;
pub(crate) use step::Skins;
