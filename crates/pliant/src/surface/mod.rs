//! Surfaces of liquids and of other particles.
//!
//! Start with [`surface_of`]: particles to a closed triangle mesh. The way there,
//! one file per stage:
//!
//! - `blob.rs`: what every particle adds to the colour field: its weight, and with
//!   anisotropic kernels its shape;
//! - `blocks.rs`: which blocks of the sparse grid a particle touches;
//! - `field.rs`: the field at the nodes of one block (the hot loop);
//! - `cube_table.rs`, `extract.rs`: marching cubes, block by block;
//! - `tracker.rs`: [`SurfaceTracker`] follows particles from frame to frame;
//!   `kept_blocks.rs`: the fields it keeps, and which nodes of them must be summed anew;
//! - `smooth.rs`: smoothing that leaves drops and corners alone, and volume;
//! - `attach.rs`: [`Surface::attach`] lets liquid fill up to walls.
//!
//! Other ways to show particles: `screen_mesh.rs`, a mesh of what a camera sees;
//! `surfels.rs`, discs on the surface; `plane_fit.rs`, surface particles and their
//! normals.
//!
//! The same particles give the same bits for any number of threads.

mod attach;
mod blob;
mod blocks;
mod cube_table;
mod eigen;
mod extract;
mod field;
mod kept_blocks;
mod plane_fit;
mod screen_grid;
mod screen_join;
mod screen_mesh;
#[cfg(test)]
mod screen_mesh_tests;
mod smooth;
mod surfels;
mod tracker;

#[cfg(test)]
mod tests;

use glam::Vec3;

pub use attach::Walls;
pub(crate) use eigen::symmetric_eigen;
pub use plane_fit::{PlaneFit, plane_fit};
pub use screen_mesh::{ScreenCamera, ScreenMeshSettings, screen_mesh};
pub use surfels::{Surfel, surfels};
pub use tracker::SurfaceTracker;

use crate::math::Xyz;
use crate::mesh::TriMesh;

/// How a surface is drawn around particles.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceSettings {
    /// Distance between particles at rest, in metres.
    pub spacing: f32,
    /// Support radius of the colour field in spacings.
    pub support: f32,
    /// Side of a cube of the grid in spacings.
    pub cell: f32,
    /// The surface is where the colour field has this value. At one half a flat
    /// surface is half a spacing outside the outermost particles.
    pub iso: f32,
    /// Kernels that lie flat along the surface (Yu & Turk 2013): flat water without
    /// the marks of single particles.
    pub anisotropic: bool,
    /// Rounds of smoothing of the finished mesh.
    pub smoothing: u32,
    /// Move the finished surface in or out, by less than a quarter of a spacing, so
    /// that it holds the volume of the particles.
    pub keep_volume: bool,
}

impl SurfaceSettings {
    /// Plain marching cubes with cubes of half a spacing.
    pub fn new(spacing: f32) -> SurfaceSettings {
        SurfaceSettings {
            spacing,
            support: 2.0,
            cell: 0.5,
            iso: 0.5,
            anisotropic: false,
            smoothing: 0,
            keep_volume: false,
        }
    }

    /// What a picture wants: flat kernels, some smoothing, true volume.
    pub fn smooth(spacing: f32) -> SurfaceSettings {
        SurfaceSettings {
            anisotropic: true,
            smoothing: 6,
            keep_volume: true,
            ..SurfaceSettings::new(spacing)
        }
    }

    /// Fails on numbers that no surface can be drawn with.
    pub fn check(&self) -> Result<(), SurfaceError> {
        let rules: [(&'static str, f32, f32, f32); 4] = [
            ("spacing", self.spacing, f32::MIN_POSITIVE, f32::MAX),
            ("support", self.support, 1.0, 8.0),
            ("cell", self.cell, 0.05, 4.0),
            ("iso", self.iso, 0.01, 0.99),
        ];
        for (name, value, least, most) in rules {
            if !(value >= least && value <= most) {
                return Err(SurfaceError::Setting {
                    name,
                    value,
                    least,
                    most,
                });
            }
        }
        Ok(())
    }
}

/// Why no surface could be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// A setting is out of range.
    #[error("surface: {name} is {value}; it must be from {least} to {most}")]
    Setting {
        /// Which.
        name: &'static str,
        /// What it is.
        value: f32,
        /// Least allowed.
        least: f32,
        /// Most allowed.
        most: f32,
    },
    /// A particle is too far away for the grid.
    #[error(
        "surface: a particle at {place} is too far from the origin for cubes of {cell} m; \
         use larger cubes or leave it out"
    )]
    TooFar {
        /// Where it is.
        place: Vec3,
        /// Side of a cube in metres.
        cell: f32,
    },
    /// More triangles than a mesh can name.
    #[error("surface: the mesh would have more than {most} vertices; use larger cubes")]
    TooLarge {
        /// Most vertices.
        most: u32,
    },
}

/// A surface: a closed mesh and the normal at each of its vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Triangles, counter-clockwise seen from outside.
    pub mesh: TriMesh,
    /// Unit vectors that point out of the liquid, one per vertex.
    pub normals: Vec<Vec3>,
}

/// The surface of `positions`. Particles that are not finite are left out.
///
/// ```
/// use pliant::{Vec3, math::XyzVec, surface::{SurfaceSettings, surface_of}};
///
/// let cube: XyzVec = (0..512)
///     .map(|i| 0.1 * Vec3::new((i % 8) as f32, (i / 8 % 8) as f32, (i / 64) as f32))
///     .collect();
/// let surface = surface_of(cube.view(), &SurfaceSettings::new(0.1))?;
/// assert!(surface.mesh.check().faces_outwards());
/// // Its edges are rounded.
/// let filled = surface.mesh.volume() / 0.512;
/// assert!(filled > 0.94 && filled < 1.0, "{filled}");
/// # Ok::<(), pliant::surface::SurfaceError>(())
/// ```
pub fn surface_of(positions: Xyz<'_>, settings: &SurfaceSettings) -> Result<Surface, SurfaceError> {
    settings.check()?;
    let blobs = blob::blobs(positions, settings);
    blocks::check_reach(&blobs.blobs, settings)?;
    let blocks = blocks::assign(&blobs.blobs, settings);
    let surface = extract::extract(&blobs.blobs, &blocks, settings)?;
    Ok(smooth::finish(surface, &blobs, settings))
}
