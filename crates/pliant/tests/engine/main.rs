//! The engine as a whole, through its public interface.
//!
//! - `fluid_laws.rs`: what a liquid left to itself must keep.
//! - `contact_laws.rs`: weight, friction, restitution.
//! - `containment.rs`: nothing leaks.
//! - `coupling.rs`: liquids with deformable and rigid bodies.
//! - `determinism.rs`: the same bits on any number of threads, from copies and checkpoints.
//! - `gauss.rs`: Gauss boundary particles.
//! - `motion.rs`: obstacles that move.
//! - `observers.rs`: flows, forces and wetted areas that are measured.
//! - `soft_liquids.rs`: liquids with soft surface bodies.
//! - `softs.rs`: soft surface bodies in a world.
//! - `solids.rs`: deformable bodies in a world.
//! - `world.rs`: emitters, sinks, fields, handles, refused steps, memory.

mod common;
mod contact_laws;
mod containment;
mod coupling;
mod determinism;
mod fluid_laws;
mod gauss;
mod motion;
mod observers;
mod soft_liquids;
mod softs;
mod solids;
mod world;
