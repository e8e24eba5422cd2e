//! Soft surface bodies: one general model from cloth to balloon to lung (Mesit 2010).
//!
//! - `settings.rs`: [`SoftSettings`]: what a body is made of, and the four numbers
//!   α, β, γ, δ that weigh its forces; start here.
//! - `state.rs`: [`Soft`]: the arrays of a body; `topology.rs` its edges and springs.
//! - `advance.rs`: one sub-step; `rows.rs` what springs do, eight points at a time
//!   (`around.rs`, `lanes.rs`); `gas.rs` what fills them; `integrate.rs` the integrators;
//!   `moments.rs` what keeps momentum; `fluidity.rs` the SPH of the skin; `parallel.rs`
//!   loops and sums whose bits do not depend on threads.
//! - `lung.rs`: how a lung breathes; `tissue.rs` what is in it.
//! - `contact.rs`: points against obstacles; `collide.rs`, `pairs.rs`, `edges.rs`: bodies
//!   against each other; `stride.rs`: how long a sub-step may be, so that they are found.
//! - `models/`: the seven models that Mesit 2010 maps onto its own.
//! - `measure.rs`: volume, sphericity, bumpiness, energies; `checkpoint.rs`.

mod advance;
mod around;
mod bed;
mod checkpoint;
mod collide;
mod contact;
mod coupled;
mod edges;
#[cfg(test)]
mod fast_tests;
mod fluidity;
mod gas;
mod integrate;
mod lanes;
mod lung;
mod measure;
mod models;
mod moments;
mod pairs;
mod parallel;
mod rows;
mod settings;
mod state;
mod stride;
#[cfg(test)]
mod tests;
mod tissue;
mod topology;

pub use bed::{Bed, Wave};
pub(crate) use collide::collide;
pub use contact::Surroundings;
pub(crate) use coupled::SoftEquations;
pub use lung::{CM_H2O, Condition, Lung, LungError, LungVolumes};
pub use measure::SoftEnergy;
pub use models::{
    Bones, Conditions, Energies, Film, Model, Positions, Prisms, Swing, Underwater, VideoCamera,
    Woven, film_error, half_derivative,
};
pub use settings::{
    Breathing, Change, Controls, Damping, Fluidity, Scaling, SoftError, SoftIntegrator,
    SoftSettings, Springs, SurfaceMass, Touching, Volume, VolumeMeasure,
};
pub use state::Soft;
pub(crate) use stride::bound as bound_stride;
pub use topology::sheet;
