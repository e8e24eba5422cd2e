//! Every key of a scene file, declared once.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coupling::Coupling;
use crate::field::{Action, Region};
use crate::fluid::{DensityKernel, PressureMethod, Thinning};

pub use super::obstacle_keys::{
    Coating, Index, Interpolation, Keyframe, Motion, Obstacle, Oscillation, Peristalsis, Shape,
};
pub use super::picture_keys::{
    BodyColouring, Camera, Colouring, MeshFormat, Output, Picture, Style, VolumeUnit, Xray,
};
pub use super::rigid_keys::{LiquidLaw, Rigid};
pub use super::soft_keys::{Copies, Soft, SoftBed, SoftPin, SoftShape};
pub use super::solid_keys::{CreatureSize, Load, Pin, Solid, SolidShape};

/// A scene.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Pliant scene")]
pub struct Description {
    /// One line that says what is seen.
    pub title: String,
    /// A few sentences: what it shows, where it comes from.
    #[serde(default)]
    pub description: String,
    /// Simulated time in seconds.
    pub duration: f64,
    /// Time between two frames in seconds: one step of the world, after which
    /// quantities are written.
    #[serde(default = "defaults::frame")]
    pub frame: f32,
    /// How steps are divided.
    #[serde(default)]
    pub step: Step,
    /// What pulls everything.
    #[serde(default)]
    pub gravity: Gravity,
    /// How bodies and liquids act on each other.
    #[serde(default)]
    pub coupling: Coupling,
    /// Liquids.
    #[serde(default)]
    pub fluid: Vec<Fluid>,
    /// Deformable bodies.
    #[serde(default)]
    pub solid: Vec<Solid>,
    /// Soft surface bodies.
    #[serde(default)]
    pub soft: Vec<Soft>,
    /// Rigid bodies.
    #[serde(default)]
    pub rigid: Vec<Rigid>,
    /// Blades that cut deformable bodies.
    #[serde(default)]
    pub stroke: Vec<crate::coupling::Stroke>,
    /// Surfaces.
    #[serde(default)]
    pub obstacle: Vec<Obstacle>,
    /// What else acts on matter.
    #[serde(default)]
    pub field: Vec<Field>,
    /// Places where liquid disappears.
    #[serde(default)]
    pub sink: Vec<Sink>,
    /// Quantities that are recorded.
    #[serde(default)]
    pub probe: Vec<Probe>,
    /// Where pictures are taken from; chosen to show everything if left out.
    #[serde(default)]
    pub camera: Camera,
    /// What pictures look like.
    #[serde(default)]
    pub picture: Picture,
    /// Which files are written besides pictures and particles.
    #[serde(default)]
    pub output: Output,
}

/// How steps are divided.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Courant number: the share of the spacing that a particle of an incompressible liquid may
    /// move in a sub-step, and of the support radius that sound may cross in a weakly
    /// compressible one, which becomes unstable above about 0.5.
    pub cfl: f32,
    /// Fixed length of a sub-step in seconds; chosen by stability if left out.
    pub fixed: Option<f32>,
    /// A frame that needs more sub-steps than this is refused.
    pub max_substeps: u32,
}

impl Default for Step {
    fn default() -> Self {
        let s = crate::world::StepSettings::default();
        Step {
            cfl: s.cfl,
            fixed: s.fixed,
            max_substeps: s.max_substeps,
        }
    }
}

/// What pulls everything.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gravity {
    /// Acceleration in m/s².
    #[schemars(with = "[f32; 3]")]
    pub acceleration: Vec3,
}

impl Default for Gravity {
    fn default() -> Self {
        Gravity {
            acceleration: Vec3::new(0.0, -9.81, 0.0),
        }
    }
}

/// A liquid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    /// Name in files and messages.
    #[serde(default = "defaults::fluid_name")]
    pub name: String,
    /// A named liquid: water, barium, blood, honey, oil or pitch.
    #[serde(default = "defaults::material")]
    pub material: String,
    /// Density in kg/m³, if not that of the material.
    pub density: Option<f32>,
    /// Dynamic viscosity in Pa·s, if not that of the material; without `thinning` the
    /// same at any shear.
    pub viscosity: Option<f32>,
    /// How it thins when sheared, if not as the material does.
    pub thinning: Option<Thinning>,
    /// Surface tension in N/m, if not that of the material; 0 for none.
    pub surface_tension: Option<f32>,
    /// How fast dye or contrast medium spreads in it, in m²/s.
    #[serde(default)]
    pub diffusivity: f32,
    /// Distance between particles in metres; the same for all liquids of a scene.
    pub spacing: f32,
    /// Support radius in spacings, 1.2 to 4; 2 gives about 33 neighbours.
    #[serde(default = "defaults::support")]
    pub support: f32,
    /// How it keeps its volume: dfsph (incompressible) or weakly-compressible, as in
    /// Grahn 2008.
    #[serde(default)]
    pub pressure: PressureMethod,
    /// Mean compression allowed (dfsph), as a share of the density, and as much room made by
    /// pressure that is not needed.
    #[serde(default = "defaults::density_error")]
    pub density_error: f32,
    /// Mean compression per sub-step allowed in the velocities (dfsph).
    #[serde(default = "defaults::divergence_error")]
    pub divergence_error: f32,
    /// Share of the compression there is that one sub-step takes out (dfsph). Less than 1
    /// is calmer and faster, but the liquid may be denser for a while.
    #[serde(default = "defaults::one")]
    pub density_correction: f32,
    /// Most iterations of each pressure solve (dfsph).
    #[serde(default = "defaults::max_iterations")]
    pub max_iterations: u32,
    /// Speed of sound in m/s (weakly-compressible); ten times the speed of a fall through the scene if
    /// left out. Density varies by about (speed / sound_speed)².
    pub sound_speed: Option<f32>,
    /// The kernel that density is summed with: spiky, or poly6 as in Grahn 2008.
    #[serde(default)]
    pub density_kernel: DensityKernel,
    /// Extra viscosity against particle noise (α of Monaghan 1992).
    #[serde(default = "defaults::numerical_viscosity")]
    pub numerical_viscosity: f32,
    /// Keeps whirls alive, for the eye: 0 for not at all, 0.1 for lively water (dfsph).
    #[serde(default)]
    pub vorticity: f32,
    /// Allow pressures below zero, as Grahn 2008 literally has it.
    #[serde(default)]
    pub negative_pressure: bool,
    /// Most particles: larger fills are refused, emitters stop there.
    #[serde(default = "defaults::max_particles")]
    pub max_particles: usize,
    /// Spaces full of liquid at the start.
    #[serde(default)]
    pub fill: Vec<Fill>,
    /// Nozzles.
    #[serde(default)]
    pub emitter: Vec<Emitter>,
}

/// A space full of liquid at the start: give `region`, or `mesh`, or both.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// A box or a sphere.
    #[serde(default)]
    pub region: Region,
    /// Name of a closed obstacle whose inside is filled, as far as it is in the region.
    pub mesh: Option<String>,
    /// Exactly this number of particles: those nearest to `near`.
    pub count: Option<usize>,
    /// See `count`; the lowest corner of the world if left out. In metres.
    #[schemars(with = "Option<[f32; 3]>")]
    pub near: Option<Vec3>,
    /// Velocity at the start in m/s.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub velocity: Vec3,
    /// Concentration of dye or contrast medium, 0 to 1.
    #[serde(default)]
    pub concentration: f32,
    /// Moves every particle out of the lattice by at most this share of the spacing along
    /// each axis, at random but always alike: 0.05 at most. A perfect lattice under load is
    /// a crystal, which gives way in jerks; 0.05 lets it settle at once.
    #[serde(default)]
    pub jitter: f32,
    /// Start pressed together by its own weight, as after a long rest on the lowest
    /// point of the fill; for weakly-compressible liquids, needs their `sound_speed`.
    #[serde(default)]
    pub settled: bool,
}

/// A round nozzle. Give `speed` or `rate`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emitter {
    /// Centre in metres.
    #[schemars(with = "[f32; 3]")]
    pub position: Vec3,
    /// Direction in which the liquid leaves.
    #[schemars(with = "[f32; 3]")]
    pub direction: Vec3,
    /// Radius in metres.
    pub radius: f32,
    /// Speed in m/s.
    pub speed: Option<f32>,
    /// Volume per time in m³/s.
    pub rate: Option<f32>,
    /// Opens at this time, in seconds.
    #[serde(default)]
    pub start: f64,
    /// Closes at this time, in seconds; never if left out.
    pub stop: Option<f64>,
    /// Most particles it may make.
    pub limit: Option<usize>,
    /// Concentration of dye or contrast medium, 0 to 1.
    #[serde(default)]
    pub concentration: f32,
}

/// Something that acts on matter inside a region.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Where it acts; everywhere if left out.
    #[serde(default)]
    pub region: Region,
    /// What it does.
    pub action: Action,
}

/// A place where liquid disappears.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// Where.
    pub region: Region,
}

/// A quantity that is recorded in every frame. Which keys it takes depends on
/// `kind`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Name of the columns in `probes.csv`.
    pub name: String,
    /// What is recorded.
    #[serde(default)]
    pub kind: ProbeKind,
    /// Of a point: where, in metres.
    #[schemars(with = "Option<[f32; 3]>")]
    pub position: Option<Vec3>,
    /// Of a section that is a disc: its centre in metres.
    #[schemars(with = "Option<[f32; 3]>")]
    pub center: Option<Vec3>,
    /// Of a section that is a disc: its radius in metres.
    pub radius: Option<f32>,
    /// Of a section: the direction across it that counts as forward. A polygon may
    /// leave it out: forward is then the side from which its corners are seen to
    /// run counter-clockwise.
    #[schemars(with = "Option<[f32; 3]>")]
    pub direction: Option<Vec3>,
    /// Of a section that is a flat polygon: its corners in order, in metres.
    #[schemars(with = "Option<Vec<[f32; 3]>>")]
    pub corners: Option<Vec<Vec3>>,
    /// Of an obstacle: its name. Of a volume: the closed obstacle whose inside is
    /// measured.
    pub obstacle: Option<String>,
    /// Of a fluid: its name; not needed if there is only one.
    pub fluid: Option<String>,
    /// Of a solid: its name; not needed if there is only one.
    pub solid: Option<String>,
    /// Of a soft body: its name, with its number if it has copies; not needed if there
    /// is only one.
    pub soft: Option<String>,
    /// Of a fluid: the direction along which its front is measured, from the origin.
    #[schemars(with = "Option<[f32; 3]>")]
    pub axis: Option<Vec3>,
    /// Of a volume: the part of space that is measured.
    pub region: Option<Region>,
}

/// What a probe records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// Density, pressure and velocity at `position`; zeros where there is no liquid.
    #[default]
    Point,
    /// Flow per second through a disc (`center`, `direction`, `radius`) or a flat
    /// polygon (`corners`), and what has passed.
    Section,
    /// Mean force on `obstacle` during the frame, and the area of it that is wet
    /// and that has ever been.
    Obstacle,
    /// Volume, centre of mass and extent of `fluid`, and its front along `axis`.
    Fluid,
    /// Volume of liquid in `region`, or inside the closed `obstacle`.
    Volume,
    /// Volume, place, energies, stress, reaction and grab forces of `solid`.
    Solid,
    /// Volume, area, sphericity, bumpiness, energies and pressure of the body `soft`, and
    /// the named volumes of a lung.
    Soft,
}

pub(super) mod defaults {
    pub fn frame() -> f32 {
        0.04
    }
    pub fn fluid_name() -> String {
        "fluid".into()
    }
    pub fn material() -> String {
        "water".into()
    }
    pub fn support() -> f32 {
        2.0
    }
    pub fn density_error() -> f32 {
        crate::fluid::Tolerances::default().density
    }
    pub fn divergence_error() -> f32 {
        crate::fluid::Tolerances::default().divergence
    }
    pub fn max_iterations() -> u32 {
        crate::fluid::Tolerances::default().max_iterations
    }
    pub fn numerical_viscosity() -> f32 {
        0.05
    }
    pub fn max_particles() -> usize {
        10_000_000
    }
    pub fn one() -> f32 {
        1.0
    }
    pub fn contact_angle() -> f32 {
        90.0
    }
    pub fn opacity() -> f32 {
        0.25
    }
    pub fn cells() -> [u32; 3] {
        [1; 3]
    }
    pub fn up() -> glam::Vec3 {
        glam::Vec3::Y
    }
    pub fn sharpness() -> f32 {
        2.0
    }
    pub fn segments() -> u32 {
        48
    }
    pub fn yes() -> bool {
        true
    }
    pub fn colon_triangles() -> u32 {
        8040
    }
}
