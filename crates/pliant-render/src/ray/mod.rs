//! Stills: a ray tracer on the processor.
//!
//! [`RayScene`] holds meshes, particles and a floor; [`RayScene::render`] follows
//! light from the camera through water and glass (Fresnel reflection, Snell's
//! refraction, absorption on the way), sends rays to a wide lamp for soft shadows
//! and into the room for dark crevices.
//!
//! - `bvh.rs`: which surface a ray meets first;
//! - `sky.rs`: the room around the scene: backdrop, lamps, their mirror images;
//! - `media.rs`: which liquid or glass a ray is in, and what a border does to it;
//! - `trace.rs`: the light that comes along a ray;
//! - `film.rs`: from rays to an image;
//! - `noise.rs`: numbers that look random and depend on the pixel only.
//!
//! Pictures have the same bits for any number of threads.

mod bvh;
mod film;
mod media;
mod noise;
mod sky;
mod trace;

#[cfg(test)]
mod tests;

use glam::Vec3;
use pliant::math::Aabb;
use pliant::mesh::TriMesh;

pub(crate) use bvh::{Primitives, RayBvh};
pub(crate) use noise::Noise;

use crate::colour::Colour;
use crate::scene::{Ground, Legend, Spheres};

/// What a surface is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finish {
    /// Opaque, with a coat that shines from 0 (chalk) to 1 (wet paint).
    Matt {
        /// Its colour.
        colour: Colour,
        /// How much it shines.
        gloss: f32,
    },
    /// A body that light goes through: water, glass, honey. Its mesh is closed.
    Clear {
        /// Refractive index.
        index: f32,
        /// Share of light per channel that is left after a metre.
        left_after_metre: Vec3,
        /// Where bodies overlap, the one with the highest rank is there. Let liquid
        /// reach a little into its glass and give the glass the higher rank: then
        /// no film of air shows between them.
        rank: u8,
    },
    /// A wall too thin to bend light: film, tissue, the pane of a tank.
    Sheet {
        /// Its colour.
        colour: Colour,
        /// Share of light it holds back where seen face on; more along its outline.
        opacity: f32,
        /// How much it shines.
        gloss: f32,
    },
}

impl Finish {
    /// A liquid by the name of its material; water if the name is not known.
    pub fn liquid(material: &str) -> Finish {
        let clear = |index: f32, r: f32, g: f32, b: f32| Finish::Clear {
            index,
            left_after_metre: Vec3::new(r, g, b),
            rank: 1,
        };
        match material {
            "barium" => Finish::Matt {
                colour: Colour::hex(0xf4f1ea),
                gloss: 0.6,
            },
            "blood" => Finish::Matt {
                colour: Colour::hex(0x8c1414),
                gloss: 1.0,
            },
            "honey" => clear(1.49, 0.02, 1e-8, 1e-26),
            "oil" => clear(1.47, 0.2, 0.1, 1e-6),
            // Clean water is almost colourless; a little more blue than real, or a
            // tank of it would look empty.
            _ => clear(1.333, 0.18, 0.55, 0.75),
        }
    }

    /// Window glass.
    pub fn glass() -> Finish {
        Finish::Clear {
            index: 1.5,
            left_after_metre: Vec3::new(0.02, 0.12, 0.08),
            rank: 2,
        }
    }
}

/// A layer over a surface, such as what contrast fluid leaves on a wall.
#[derive(Clone, Copy, Debug)]
pub struct Coat<'a> {
    /// Share of the surface that is covered at each vertex, 0 to 1.
    pub cover: &'a [f32],
    /// Its colour.
    pub colour: Colour,
}

/// A triangle mesh with a finish.
#[derive(Clone, Copy, Debug)]
pub struct RayMesh<'a> {
    /// The mesh.
    pub mesh: &'a TriMesh,
    /// Unit normals at the vertices; flat triangles if left out.
    pub normals: Option<&'a [Vec3]>,
    /// What it is made of.
    pub finish: Finish,
    /// What lies on it.
    pub coat: Option<Coat<'a>>,
}

/// How carefully a still is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaySettings {
    /// Rays per pixel where there is detail; smooth places take a quarter.
    pub samples: u32,
    /// Most borders on the way of a ray.
    pub depth: u32,
}

impl Default for RaySettings {
    fn default() -> Self {
        RaySettings {
            samples: 16,
            depth: 12,
        }
    }
}

/// Everything in a still.
#[derive(Clone, Debug)]
pub struct RayScene<'a> {
    /// Surfaces.
    pub meshes: Vec<RayMesh<'a>>,
    /// Particles.
    pub spheres: Vec<Spheres<'a>>,
    /// The floor, if there is one.
    pub ground: Option<Ground>,
    /// Backdrop at the top and at the bottom of the picture.
    pub background: [Colour; 2],
    /// The colour bar, if there is one.
    pub legend: Option<Legend>,
    /// The line at the lower left.
    pub caption: Option<String>,
}

impl Default for RayScene<'_> {
    fn default() -> Self {
        RayScene {
            meshes: Vec::new(),
            spheres: Vec::new(),
            ground: None,
            background: [Colour::hex(0xb4c2d0), Colour::hex(0xf1f3f5)],
            legend: None,
            caption: None,
        }
    }
}

impl RayScene<'_> {
    /// The box around all particles and meshes, without the floor.
    pub fn aabb(&self) -> Aabb {
        let meshes = self
            .meshes
            .iter()
            .flat_map(|m| m.mesh.vertices.iter().copied());
        let mut all = Aabb::of(meshes.filter(|p| p.is_finite()));
        for s in &self.spheres {
            for p in s.positions.iter().filter(|p| p.is_finite()) {
                all.include(p - s.radius);
                all.include(p + s.radius);
            }
        }
        all
    }
}
