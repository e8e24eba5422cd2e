//! The live view of pliant worlds: a renderer on the graphics card, off screen or in a
//! window.
//!
//! - [`Stage`] takes a [`Snapshot`] of a world: all that can be seen of it, so that the
//!   world can go on in another thread.
//! - [`Renderer`] draws snapshots as a [`Look`] says; [`Offscreen`] makes pictures of them.
//! - [`show`] opens the viewer: the scene runs in a thread of its own ([`Simulation`]),
//!   the window shows its snapshots and sends it commands.
//! - [`parameters()`] finds everything that a scene declares, for sliders.
//!
//! It runs on Vulkan, Metal and DirectX 12, in software where there is no card. Problems
//! of the graphics device are errors, never panics.

mod error;
mod gpu;
mod gui;
mod look;
mod offscreen;
mod orbit;
mod overlay;
mod parameters;
mod pick;
mod renderer;
mod simulation;
mod snapshot;
mod touch;
mod window;

pub use error::ViewError;
pub use gpu::Gpu;
pub use look::{Look, Mode};
pub use offscreen::Offscreen;
pub use orbit::Orbit;
pub use overlay::Caption;
pub use parameters::{Parameter, Setting, parameters};
pub use pick::{Picked, Reading, pick, read};
pub use renderer::{Mark, Renderer, Shown, colour_range, floor_square, legend};
pub use simulation::{Command, Published, Sample, Setup, Simulation, StateFiles};
pub use snapshot::{Body, Cloud, Material, Mesh, Snapshot, Stage, Values, Wall};
pub use touch::{Deed, Touch};
pub use window::{ViewerSettings, show};
