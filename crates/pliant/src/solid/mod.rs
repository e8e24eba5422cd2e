//! Deformable solids made of tetrahedra.
//!
//! - `settings.rs`: [`SolidSettings`]: what a body is made of; start here.
//! - `state.rs`: [`Solid`]: the arrays of a body and what can be read of it.
//! - `mass.rs`: how the mass of a body is shared among its points.
//! - Springs (Lesmes 2013, after Teschner et al. 2004): `springs.rs` has the forces,
//!   `spring_lanes.rs` the usual ones eight at a time, `patches.rs` the layout that lets threads sum them in a fixed order,
//!   `explicit.rs` the four integrators, `strain_limit.rs` the limit of stretching,
//!   `stable_step.rs` the longest stable step and what limits it.
//! - Finite elements: `element.rs` has shapes and strains, `corotational.rs` and
//!   `neo_hookean.rs` the two materials, `assembly.rs` forces and stiffness,
//!   `block_matrix.rs`, `conjugate_gradient.rs` and `envelope.rs` the linear solver, `implicit.rs`
//!   the time step, `settle.rs` the shape at rest under load.
//! - `shape_matching.rs`: rigid, linear and quadratic, in clusters or as a whole.
//! - `contact.rs`: points against obstacles, for both; `meet/`: bodies against each
//!   other and themselves; `coupled.rs`: against liquids.
//! - `grab.rs`: points on springs to a place that a user moves, with a force read-out.
//! - `fracture.rs` and `cut.rs`: where a body opens; `split.rs`: how.
//! - `measure.rs`: energies and volumes; `fields.rs`: strain, stress, reaction forces;
//!   `checkpoint.rs`.

mod assembly;
mod block_matrix;
mod checkpoint;
mod conjugate_gradient;
mod contact;
mod corotational;
mod coupled;
mod cut;
mod element;
mod envelope;
mod explicit;
mod fields;
mod fracture;
mod grab;
mod implicit;
mod keep_momentum;
mod mass;
mod measure;
mod meet;
mod neo_hookean;
mod patches;
mod rigid_motion;
mod settings;
mod settle;
mod shape_matching;
mod split;
mod spring_lanes;
mod springs;
mod stable_step;
mod state;
mod strain_limit;
#[cfg(test)]
mod tests;

pub(crate) use conjugate_gradient::{
    Budget, Freedom, Matrix, Scratch, solve as conjugate_gradients,
};
pub use contact::Environment;
pub(crate) use coupled::Equations;
pub use cut::Blade;
pub use fields::Symmetric;
pub use fracture::Fracture;
pub use grab::{Grab, GrabSettings};
pub use mass::MassReport;
pub use measure::SolidEnergy;
pub use meet::{BodyContact, Depth};
pub(crate) use meet::{Meetings, deepest};
pub use settings::{
    Elastic, ElasticLaw, Fit, Integrator, Mass, MassSharing, Passes, Plasticity, ShapeMatching,
    SolidError, SolidModel, SolidSettings, Springs, VolumeForce,
};
pub use settle::{SettleError, SettleReport, SettleSettings};
pub use stable_step::{StableStep, Stiffest};
pub use state::Solid;
