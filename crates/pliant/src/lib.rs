//! Pliant: one real-time engine for matter that flows, bends, tears and breaks.
//!
//! Start with [`World`]: add matter and obstacles, call [`World::step`], read
//! the views. Units are SI, y points up, numbers are f32. The same input gives
//! the same bits whatever the number of threads.

pub mod contact;
pub mod coupling;
mod crew;
mod drift;
pub mod field;
pub mod fluid;
mod leaks;
pub mod math;
mod matter;
pub mod mesh;
pub mod observe;
pub mod rigid;
pub mod scene;
mod simd;
mod slots;
pub mod soft;
pub mod solid;
pub mod space;
mod step;
mod step_outcome;
pub mod surface;
pub mod world;
mod world_state;

pub use contact::{Contact, Obstacle};
pub use coupling::{Coupling, Exchange, Gauss, LiquidContact, Reaction, Stroke};
pub use field::{Action, Field, Region};
pub use fluid::{Content, Emitter, Fill, Fluid, FluidSettings, Liquid, Material, Sink};
pub use glam::{Quat, Vec3};
pub use mesh::TriMesh;
pub use rigid::{RigidBody, RigidSettings};
pub use slots::Handle;
pub use soft::{Soft, SoftSettings};
pub use solid::{Solid, SolidSettings};
pub use step_outcome::{StepError, StepReport};
pub use world::{StepSettings, World};
