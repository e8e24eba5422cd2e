//! The keys of pictures and files in a scene file.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where pictures are taken from.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Camera {
    /// Place of the eye in metres.
    #[schemars(with = "Option<[f32; 3]>")]
    pub eye: Option<Vec3>,
    /// Place looked at in metres.
    #[schemars(with = "Option<[f32; 3]>")]
    pub target: Option<Vec3>,
    /// Vertical opening angle in degrees.
    pub fov: Option<f32>,
    /// Direction from which the whole scene is shown, if there is no `eye`.
    #[schemars(with = "Option<[f32; 3]>")]
    pub direction: Option<Vec3>,
    /// Speed in m/s at the end of the colour scale; half that of a fall through the
    /// scene if left out.
    pub speed_range: Option<f32>,
    /// The colours of speed.
    pub colour: Colouring,
}

/// The colours of speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Colouring {
    /// Liquid at rest has the colour of its material: blue water, white barium, red
    /// blood, amber honey. The faster, the further from it.
    #[default]
    Material,
    /// The same scale for every liquid, from dark violet to yellow.
    Speed,
}

/// What pictures look like.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Picture {
    /// Quick particles, a ray-traced still, or an X-ray.
    pub style: Style,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Rays per pixel of a still.
    pub samples: u32,
    /// Draw every so many frames; stills take seconds each.
    pub every: u32,
    /// Also write the pictures as one animation, `animation.gif`.
    pub animation: bool,
    /// Draw particles in stills, instead of the liquid's surface.
    pub particles: bool,
    /// What the colours of soft bodies show in quick pictures.
    pub bodies: BodyColouring,
    /// How X-ray pictures are made.
    pub xray: Xray,
}

impl Default for Picture {
    fn default() -> Self {
        Picture {
            style: Style::Quick,
            size: [960, 720],
            samples: 16,
            every: 1,
            animation: false,
            particles: false,
            bodies: BodyColouring::default(),
            xray: Xray::default(),
        }
    }
}

/// What the colours of soft bodies show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyColouring {
    /// Nothing: each has a colour of its own.
    #[default]
    Plain,
    /// The angle between the normal of each point and that of its neighbours: waves and
    /// bumps (the gradient map of Mesit 2010).
    Bumpiness,
    /// Lengths of edges over those at the start.
    Stretch,
}

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Particles coloured by speed: quick enough for every frame.
    #[default]
    Quick,
    /// Liquid surface, glass and tissue by rays: seconds per picture.
    Ray,
    /// Fluoroscopy: attenuation through liquid, walls and patient.
    Xray,
}

/// How X-ray pictures are made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Xray {
    /// Stand a made-up abdomen around the scene; if left out, around colons only.
    pub patient: Option<bool>,
    /// A CT volume around the scene: a NRRD file, relative to the scene file.
    pub volume: Option<String>,
    /// What the values of the volume are.
    pub volume_unit: VolumeUnit,
    /// Metres per unit of length in the volume's file: 0.001 for millimetres.
    pub volume_scale: f32,
    /// Shift of the volume in metres.
    #[schemars(with = "[f32; 3]")]
    pub volume_translate: Vec3,
    /// Thickness of thin walls in metres.
    pub wall: f32,
    /// Attenuation that gives middle grey; chosen from the picture if left out.
    pub level: Option<f32>,
    /// Slope of the film's response at middle grey.
    pub contrast: f32,
    /// Relative noise of the photons at middle grey.
    pub noise: f32,
    /// Dense matter is dark, as on a screen, instead of white, as on film.
    pub inverted: bool,
}

impl Default for Xray {
    fn default() -> Self {
        Xray {
            patient: None,
            volume: None,
            volume_unit: VolumeUnit::Hounsfield,
            volume_scale: 0.001,
            volume_translate: Vec3::ZERO,
            wall: 0.003,
            level: None,
            contrast: 0.95,
            noise: 0.025,
            inverted: false,
        }
    }
}

/// What the values of a CT volume are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeUnit {
    /// Hounsfield units: -1000 is air, 0 is water.
    #[default]
    Hounsfield,
    /// Attenuation in 1/m.
    Attenuation,
}

/// Which files are written besides pictures and particles.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Write the liquid's surface of every frame as a mesh: `ply`, `obj`, `stl` or
    /// `vtu`.
    pub surface: Option<MeshFormat>,
    /// Side of the surface's cubes in particle spacings.
    pub surface_cell: f32,
}

impl Default for Output {
    fn default() -> Self {
        Output {
            surface: None,
            surface_cell: 0.5,
        }
    }
}

/// Formats of mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeshFormat {
    /// Stanford PLY, binary.
    Ply,
    /// Wavefront OBJ, text.
    Obj,
    /// Stereolithography, binary.
    Stl,
    /// VTK unstructured grid, for ParaView.
    Vtu,
}
