//! X-ray pictures (fluoroscopy).
//!
//! Along every ray from the tube the attenuation of everything it crosses is
//! summed, `A = Σ μ_i s_i` (Beer-Lambert), through bodies given by closed meshes,
//! thin walls with what coats them, and a density volume as CT gives it. Then a
//! film answers to `exp(-A)`: its response curve, its blur, the noise of the
//! photons that arrive.
//!
//! - `attenuation.rs`: the sum along rays;
//! - `film.rs`: from attenuation to an image;
//! - `volume.rs`, `nrrd.rs`: density volumes and their files;
//! - `phantom.rs`: a made-up abdomen, so that an enema has a patient around it.

mod attenuation;
mod film;
mod nrrd;
mod phantom;
mod volume;

#[cfg(test)]
mod tests;

use glam::Vec3;
use pliant::mesh::TriMesh;

pub use film::Film;
pub use nrrd::VolumeError;
pub use volume::Volume;

/// Attenuation coefficients in 1/m near 60 keV (Hubbell & Seltzer 1995).
pub mod coefficients {
    /// Water and soft tissue.
    pub const WATER: f32 = 20.6;
    /// Trabecular bone with marrow.
    pub const BONE: f32 = 42.0;
    /// Barium sulphate suspension, about 100 % weight per volume.
    pub const BARIUM: f32 = 420.0;
    /// Blood.
    pub const BLOOD: f32 = 21.8;
    /// Window glass.
    pub const GLASS: f32 = 62.0;

    /// The coefficient of a liquid by the name of its material; that of water if
    /// the name is not known.
    pub fn of_liquid(material: &str) -> f32 {
        match material {
            "barium" => BARIUM,
            "blood" => BLOOD,
            "honey" => 27.0,
            "oil" => 18.0,
            _ => WATER,
        }
    }
}

/// A body with a closed mesh.
#[derive(Clone, Copy, Debug)]
pub struct XrayBody<'a> {
    /// Its surface.
    pub mesh: &'a TriMesh,
    /// Attenuation in 1/m.
    pub attenuation: f32,
    /// Attenuation in 1/m of what would be there without it: the tissue that a gut
    /// full of air pushes aside, the air that liquid in it pushes aside.
    pub displaced: f32,
}

/// A wall given by its middle surface.
#[derive(Clone, Copy, Debug)]
pub struct XrayShell<'a> {
    /// Its surface.
    pub mesh: &'a TriMesh,
    /// Unit normals at the vertices.
    pub normals: &'a [Vec3],
    /// Its thickness in metres.
    pub thickness: f32,
    /// Attenuation in 1/m.
    pub attenuation: f32,
    /// Thickness in metres of a layer on it, per vertex, and the layer's
    /// attenuation in 1/m.
    pub coat: Option<(&'a [f32], f32)>,
}

/// Everything that the rays cross.
#[derive(Clone, Debug, Default)]
pub struct XrayScene<'a> {
    /// Bodies.
    pub bodies: Vec<XrayBody<'a>>,
    /// Walls.
    pub shells: Vec<XrayShell<'a>>,
    /// A density volume with values in 1/m, such as [`Volume::abdomen`].
    pub volume: Option<&'a Volume>,
    /// How the picture is developed.
    pub film: Film,
    /// The line at the lower left.
    pub caption: Option<String>,
}
