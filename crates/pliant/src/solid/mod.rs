//! Deformable solids made of tetrahedra.
//!
//! - `settings.rs`: [`SolidSettings`]: what a body is made of; start here.
//! - `state.rs`: [`Solid`]: the arrays of a body and what can be read of it.
//! - `mass.rs`: how the mass of a body is shared among its points.
//! - Springs (Lesmes 2013, after Teschner et al. 2004): `springs.rs` has the forces,
//!   `patches.rs` the layout that lets threads sum them in a fixed order,
//!   `explicit.rs` the four integrators, `strain_limit.rs` the limit of stretching,
//!   `stable_step.rs` the longest stable step and what limits it.
//! - Finite elements: `element.rs` has shapes and strains, `corotational.rs` and
//!   `neo_hookean.rs` the two materials, `assembly.rs` forces and stiffness,
//!   `block_matrix.rs` and `conjugate_gradient.rs` the linear solver, `implicit.rs`
//!   the time step, `settle.rs` the shape at rest under load.
//! - `contact.rs`: points against obstacles, for both; `coupled.rs` against liquids.
//! - `fracture.rs` and `cut.rs`: where a body opens; `split.rs`: how.
//! - `measure.rs`: energies, volumes, stresses, reaction forces; `checkpoint.rs`.

mod assembly;
mod block_matrix;
mod checkpoint;
mod conjugate_gradient;
mod contact;
mod corotational;
mod coupled;
mod cut;
mod element;
mod explicit;
mod fracture;
mod implicit;
mod mass;
mod measure;
mod neo_hookean;
mod patches;
mod settings;
mod settle;
mod split;
mod springs;
mod stable_step;
mod state;
mod strain_limit;
#[cfg(test)]
mod tests;

pub use contact::Environment;
pub use cut::Blade;
pub use fracture::Fracture;
pub use mass::MassReport;
pub use measure::SolidEnergy;
pub use settings::{
    Elastic, ElasticLaw, Integrator, Mass, MassSharing, Passes, Plasticity, SolidError, SolidModel,
    SolidSettings, Springs, VolumeForce,
};
pub use settle::{SettleError, SettleReport, SettleSettings};
pub use stable_step::{StableStep, Stiffest};
pub use state::Solid;
