//! The keys of a deformable body in a scene file.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rigid_keys::LiquidLaw;
use crate::field::Region;
use crate::solid::{Elastic, Fracture, GrabSettings, Mass, MassSharing, SolidModel, SolidSettings};

/// A deformable body.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Solid {
    /// Name in files and messages.
    #[serde(default = "default_name")]
    pub name: String,
    /// What it looks like at rest.
    pub shape: SolidShape,
    /// How it resists deformation; finite elements if left out.
    #[serde(default = "default_model")]
    pub model: SolidModel,
    /// How heavy it is; 1000 kg/m³ if left out.
    #[serde(default)]
    pub mass: Mass,
    /// How its mass is shared among its points.
    #[serde(default)]
    pub mass_sharing: MassSharing,
    /// Points lighter than the inverse of this get that mass, in 1/kg.
    pub max_inverse_mass: Option<f32>,
    /// Sub-step in seconds; springs: the longest stable one if left out, finite
    /// elements: 5 ms.
    pub step: Option<f32>,
    /// Distance at which its points touch obstacles, in metres; 5 % of the mean edge
    /// if left out.
    pub thickness: Option<f32>,
    /// Coefficient of friction with other bodies; 0.5 if left out. Two bodies have the
    /// geometric mean of theirs; obstacles bring their own.
    #[serde(default = "default_friction")]
    pub friction: f32,
    /// Whether its parts touch each other; true if left out.
    #[serde(default = "default_self_contact")]
    pub self_contact: bool,
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
    /// How liquids meet it.
    #[serde(default)]
    pub liquid: LiquidLaw,
    /// When it breaks; never if left out. Finite elements only.
    pub fracture: Option<Fracture>,
    /// 0 (not drawn) to 1 (opaque).
    #[serde(default = "default_scale")]
    pub opacity: f32,
    /// Parts that are held or moved.
    #[serde(default)]
    pub pin: Vec<Pin>,
    /// Forces on parts.
    #[serde(default)]
    pub load: Vec<Load>,
    /// Parts on springs to a place that moves.
    #[serde(default)]
    pub grab: Vec<Grab>,
}

/// A part of a body on springs to a place that moves, as if a hand or a tool held it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grab {
    /// Points that start in here.
    pub region: Region,
    /// Stiffness of the spring in N/m; 500 if left out.
    #[serde(default = "default_grab_stiffness")]
    pub stiffness: f32,
    /// Damping in N s/m; 5 if left out.
    #[serde(default = "default_grab_damping")]
    pub damping: f32,
    /// Where it goes; it stays if left out.
    #[serde(default)]
    pub path: Vec<GrabKey>,
    /// When it lets go, in seconds; never if left out.
    pub release: Option<f64>,
}

/// A place of a grab at a time; it goes straight from one to the next.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrabKey {
    /// Time in seconds.
    pub time: f64,
    /// Shift in metres from where it took hold.
    #[schemars(with = "[f32; 3]")]
    pub shift: Vec3,
}

fn default_grab_stiffness() -> f32 {
    GrabSettings::default().stiffness
}

fn default_grab_damping() -> f32 {
    GrabSettings::default().damping
}

/// A part of a body that is held, or moved whatever pulls it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Points that start in here.
    pub region: Region,
    /// Their velocity in m/s.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub velocity: Vec3,
}

/// A force on a part of a body.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Points that start in here share it by mass.
    pub region: Region,
    /// The whole force in N.
    #[schemars(with = "[f32; 3]")]
    pub force: Vec3,
}

/// What a body looks like at rest. Lengths in metres.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SolidShape {
    /// A box of cells with six tetrahedra each; also a beam.
    Block {
        /// Smallest corner.
        #[schemars(with = "[f32; 3]")]
        min: Vec3,
        /// Largest corner.
        #[schemars(with = "[f32; 3]")]
        max: Vec3,
        /// Cells along each axis.
        cells: [u32; 3],
    },
    /// A ball.
    Ball {
        /// Centre.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Radius.
        radius: f32,
        /// About this number of tetrahedra.
        tets: u32,
    },
    /// A box open above: a pool.
    Basin {
        /// Smallest corner of the hollow.
        #[schemars(with = "[f32; 3]")]
        min: Vec3,
        /// Largest corner of the hollow.
        #[schemars(with = "[f32; 3]")]
        max: Vec3,
        /// Thickness of floor and walls.
        wall: f32,
        /// Cells along each side of the hollow.
        cells: [u32; 3],
    },
    /// A tube with a wall, open at both ends: a vessel.
    Tube {
        /// Points of the axis; a smooth curve leads through them.
        #[schemars(with = "Vec<[f32; 3]>")]
        path: Vec<Vec3>,
        /// Radius of the hollow.
        radius: f32,
        /// Thickness of the wall.
        wall: f32,
        /// Cells around.
        around: u32,
        /// Cells along.
        along: u32,
        /// Cells through the wall.
        #[serde(default = "one_layer")]
        layers: u32,
    },
    /// A hollow ball: a balloon.
    Shell {
        /// Centre.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Radius of the hollow.
        radius: f32,
        /// Thickness of the wall.
        wall: f32,
        /// How often the twenty triangles of an icosahedron are divided in four.
        subdivisions: u32,
        /// Cells through the wall.
        #[serde(default = "one_layer")]
        layers: u32,
    },
    /// A cube on the origin with the counts of a cube of Lesmes 2013.
    Cube {
        /// Side.
        size: f32,
        /// The small one of the integrator test.
        #[serde(default)]
        small: bool,
    },
    /// A creature on the origin, in the counts of a mesh of Lesmes 2013.
    Creature {
        /// Which one.
        like: CreatureSize,
        /// Height.
        height: f32,
    },
    /// A file of tetrahedra: Gmsh .msh, .vtk, TetGen .node and .ele, or .pts and .tet.
    Tets {
        /// Path, relative to the scene file.
        file: String,
    },
    /// A closed surface that is filled with tetrahedra: OBJ, STL, PLY or SMF.
    Surface {
        /// Path, relative to the scene file.
        file: String,
        /// About this number of tetrahedra.
        tets: u32,
    },
}

/// The counts that a creature has, within 5 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CreatureSize {
    /// 4742 points, 19507 tetrahedra.
    Bunny,
    /// 7133 points, 35081 tetrahedra.
    Bunny2,
    /// 25156 points, 102453 tetrahedra.
    Dragon,
    /// 33276 points, 145835 tetrahedra.
    Armadillo,
}

fn default_name() -> String {
    "solid".into()
}

fn default_model() -> SolidModel {
    SolidModel::Elastic(Elastic::default())
}

fn default_friction() -> f32 {
    SolidSettings::FRICTION
}

fn default_self_contact() -> bool {
    true
}

fn default_scale() -> f32 {
    1.0
}

fn one_layer() -> u32 {
    1
}
