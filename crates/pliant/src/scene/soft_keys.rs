//! The keys of a soft surface body in a scene file.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::obstacle_keys::Peristalsis;
use super::rigid_keys::LiquidLaw;
use crate::field::Region;
use crate::soft::{
    Change, Controls, Fluidity, Model, Scaling, SoftIntegrator, Springs, SurfaceMass, Touching,
    Volume,
};

/// A soft surface body: springs, a fluid skin and gas inside (Mesit 2010).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Soft {
    /// Name in files and messages.
    #[serde(default = "default_name")]
    pub name: String,
    /// What it looks like at the start.
    pub shape: SoftShape,
    /// α, β, γ, δ: how much body, fluidity, volume and gravity count.
    #[serde(default)]
    pub controls: Controls,
    /// Other controls from given times on.
    #[serde(default)]
    pub change: Vec<Change>,
    /// What the numbers below mean.
    #[serde(default)]
    pub scaling: Scaling,
    /// How heavy it is; 1 kg/m² if left out.
    #[serde(default)]
    pub mass: SurfaceMass,
    /// What keeps its shape: springs, or one of the models that Mesit 2010 maps onto its own.
    #[serde(default)]
    pub model: Model,
    /// The springs that keep its shape.
    #[serde(default)]
    pub body: Springs,
    /// What makes its surface flow.
    #[serde(default)]
    pub fluidity: Fluidity,
    /// What fills it.
    #[serde(default)]
    pub volume: Volume,
    /// Measured pressure-volume curve of a lung: a CSV file of pressure in cmH2O, volume
    /// while breathing in and volume while breathing out in litres.
    pub patient: Option<String>,
    /// How motion follows from forces.
    #[serde(default)]
    pub integrator: SoftIntegrator,
    /// Sub-step in seconds.
    #[serde(default = "default_step")]
    pub step: f32,
    /// Air drag in 1/s.
    #[serde(default)]
    pub drag: f32,
    /// How it touches.
    #[serde(default)]
    pub contact: Touching,
    /// How liquids meet it.
    #[serde(default)]
    pub liquid: LiquidLaw,
    /// What holds it in its place, besides its own springs.
    pub bed: Option<SoftBed>,
    /// 0 (not drawn) to 1 (opaque).
    #[serde(default = "default_scale")]
    pub opacity: f32,
    /// Magnification of the shape.
    #[serde(default = "default_scale")]
    pub scale: f32,
    /// Turn about x, then y, then z, in degrees.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub rotate: Vec3,
    /// Shift in metres, after turning.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub translate: Vec3,
    /// Velocity at the start in m/s.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub velocity: Vec3,
    /// Many of it on a lattice.
    pub copies: Option<Copies>,
    /// Parts that are held or moved.
    #[serde(default)]
    pub pin: Vec<SoftPin>,
}

/// A part of a soft body that is held, or moved whatever pulls it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftPin {
    /// Points that start in here.
    pub region: Region,
    /// Their velocity in m/s.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub velocity: Vec3,
}

/// An elastic bed, as the tissue around an organ.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftBed {
    /// Pressure per way that the wall gives, in Pa/m.
    pub stiffness: f32,
    /// Time in seconds over which motion in it is damped.
    #[serde(default)]
    pub damping: f32,
    /// Rings of muscle that draw a `colon` or a `tube` together.
    pub peristalsis: Option<Peristalsis>,
}

/// Many bodies on a lattice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// How many along each axis.
    pub count: [u32; 3],
    /// From one to the next, in metres.
    #[schemars(with = "[f32; 3]")]
    pub spacing: Vec3,
    /// Largest shift by chance in metres along each axis.
    #[serde(default)]
    pub jitter: f32,
    /// Largest velocity by chance in m/s along each axis.
    #[serde(default)]
    pub speed: f32,
    /// Another seed, other chances.
    #[serde(default)]
    pub seed: u64,
}

/// What a soft body looks like at the start. Lengths in metres.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SoftShape {
    /// A sphere of evenly spread points; any closed surface of 1,986 points has the 3,968
    /// faces and 5,952 springs of Mesit 2010, 5.1.1.
    Sphere {
        /// Centre.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Radius.
        radius: f32,
        /// Number of points.
        #[serde(default = "default_points")]
        points: u32,
    },
    /// A sphere of nearly equal triangles; 2 cuts have the 162 points of Mesit 2010, 5.2.
    Ball {
        /// Centre.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Radius.
        radius: f32,
        /// How often an icosahedron is cut.
        cuts: u32,
    },
    /// A flat sheet, level at the start.
    Sheet {
        /// Centre.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Width along x and length along z.
        size: [f32; 2],
        /// Squares along each side.
        cells: [u32; 2],
    },
    /// A solid bar of tetrahedra along x, one cell thick, for the model `energies`.
    Bar {
        /// Centre.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Sides.
        #[schemars(with = "[f32; 3]")]
        size: Vec3,
        /// Cells along x.
        cells: u32,
    },
    /// A closed tube around a smooth line.
    Tube {
        /// Points of the line.
        #[schemars(with = "Vec<[f32; 3]>")]
        path: Vec<Vec3>,
        /// Radius.
        radius: f32,
        /// Points around it.
        #[serde(default = "default_segments")]
        segments: u32,
        /// Rings along it.
        #[serde(default = "default_rings")]
        rings: u32,
    },
    /// A closed colon with haustra, from the rectum to the caecum.
    Colon {
        /// Points around it.
        #[serde(default = "default_segments")]
        segments: u32,
        /// Rings along it.
        #[serde(default = "default_colon_rings")]
        rings: u32,
        /// Another seed, another patient.
        #[serde(default)]
        seed: u64,
    },
    /// An upright cup without thickness, open at the top.
    Cup {
        /// Middle of the bottom.
        #[schemars(with = "[f32; 3]")]
        base: Vec3,
        /// Radius.
        radius: f32,
        /// Height.
        height: f32,
        /// Radius of the bend between bottom and wall.
        rounding: f32,
        /// Points around the wall, a multiple of six.
        #[serde(default = "default_around")]
        segments: u32,
    },
    /// A head with a face that looks along z, its middle at the origin; 4,721 points as
    /// in Mesit 2010, 5.1.2.
    Head {
        /// Height.
        height: f32,
        /// Number of points.
        #[serde(default = "default_head")]
        points: u32,
    },
    /// A lung beside the y axis.
    Lung {
        /// The patient's left one, at positive x.
        #[serde(default)]
        left: bool,
        /// Volume of the pair's mean, in litres.
        litres: f32,
        /// Number of points.
        #[serde(default = "default_lung")]
        points: u32,
    },
    /// A surface from a file: OBJ, STL, PLY or SMF.
    Surface {
        /// Path, relative to the scene file.
        file: String,
    },
}

fn default_name() -> String {
    "soft".into()
}

fn default_step() -> f32 {
    0.002
}

fn default_scale() -> f32 {
    1.0
}

fn default_points() -> u32 {
    1986
}

fn default_segments() -> u32 {
    16
}

fn default_colon_rings() -> u32 {
    160
}

fn default_around() -> u32 {
    48
}

fn default_rings() -> u32 {
    40
}

fn default_head() -> u32 {
    4721
}

fn default_lung() -> u32 {
    1500
}
