//! Every key of a scene file, declared once.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::field::{Action, Region};
use crate::fluid::{DensityKernel, PressureMethod, Thinning};

pub use super::rigid_keys::{LiquidLaw, Rigid};
pub use super::soft_keys::{Copies, Soft, SoftPin, SoftShape};
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
    /// Courant number: the share of the support radius that sound may cross in a
    /// sub-step. Above about 0.5 liquids become unstable.
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
    /// Mean compression allowed (dfsph), as a share of the density.
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

/// A surface, at rest or moving as prescribed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Name in files and messages.
    pub name: String,
    /// What it looks like.
    pub shape: Shape,
    /// How its triangles are found.
    #[serde(default)]
    pub index: Index,
    /// Cell size of the distance field in metres (index `sdf` only).
    pub sdf_cell: Option<f32>,
    /// Share of the normal speed given back by a collision, 0 to 1.
    #[serde(default)]
    pub restitution: f32,
    /// Coulomb friction coefficient.
    #[serde(default)]
    pub friction: f32,
    /// Liquid sticks to it by its viscosity, as real liquids do, instead of slipping
    /// along.
    #[serde(default)]
    pub no_slip: bool,
    /// Angle in degrees at which a drop meets it: 0 is wetted, 180 repels.
    #[serde(default = "defaults::contact_angle")]
    pub contact_angle: f32,
    /// Magnification of the shape.
    #[serde(default = "defaults::one")]
    pub scale: f32,
    /// Turn about x, then y, then z, in degrees.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub rotate: Vec3,
    /// Shift in metres, after turning.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub translate: Vec3,
    /// 0 (not drawn) to 1 (opaque).
    #[serde(default = "defaults::opacity")]
    pub opacity: f32,
    /// How it moves, whatever bumps into it; at rest if left out.
    pub motion: Option<Motion>,
    /// Liquid leaves a film on it (meshes only).
    pub coating: Option<Coating>,
}

/// A prescribed motion. What is given adds up; all turning is about one axis. The
/// obstacle begins at its own place, and stands still before `start` and after `stop`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// Begins at this time, in seconds.
    #[serde(default)]
    pub start: f64,
    /// Ends at this time, in seconds; never if left out.
    pub stop: Option<f64>,
    /// The axis of all turning.
    #[serde(default = "defaults::up")]
    #[schemars(with = "[f32; 3]")]
    pub axis: Vec3,
    /// A point of the axis in metres; the middle of the shape if left out.
    #[schemars(with = "Option<[f32; 3]>")]
    pub pivot: Option<Vec3>,
    /// Constant velocity in m/s.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub velocity: Vec3,
    /// Constant turning in degrees per second, counter-clockwise seen against the axis.
    #[serde(default)]
    pub spin: f32,
    /// To and fro.
    pub oscillation: Option<Oscillation>,
    /// From place to place.
    #[serde(default)]
    pub keyframes: Vec<Keyframe>,
    /// How it goes from one keyframe to the next.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// A wave of contraction along a tube or a colon.
    pub peristalsis: Option<Peristalsis>,
}

/// A motion to and fro: `sin(360° frequency t + phase) - sin(phase)` times the
/// amplitudes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oscillation {
    /// In metres.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub amplitude: Vec3,
    /// Amplitude of turning about the axis, in degrees.
    #[serde(default)]
    pub angle: f32,
    /// In Hz.
    pub frequency: f32,
    /// In degrees; 90 or -90 makes it begin at rest.
    #[serde(default)]
    pub phase: f32,
}

/// A place and when to be there.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// In seconds since the motion's start.
    pub time: f64,
    /// From the obstacle's own place, in metres.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub translation: Vec3,
    /// Turn about the axis, in degrees.
    #[serde(default)]
    pub angle: f32,
}

/// How an obstacle goes from one keyframe to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Coming to rest at each.
    #[default]
    Smooth,
    /// At constant speed.
    Linear,
}

/// Rings of contraction that travel along the axis of a tube. They grow within one
/// period, and leave the ends of the tube alone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Peristalsis {
    /// How far the tube closes: 0 not at all, at most 0.95.
    pub amplitude: f32,
    /// Distance between two rings along the axis, in metres.
    pub wave_length: f32,
    /// In m/s along the axis; below 0 towards its beginning (of a colon, the rectum).
    pub speed: f32,
    /// 1 for a sine, up to 100; the larger, the narrower the rings.
    #[serde(default = "defaults::sharpness")]
    pub sharpness: f32,
}

/// How a wall takes on a film of liquid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Coating {
    /// Thickness in metres that the film comes to.
    pub film: f32,
    /// Seconds of contact after which about two thirds of that are there.
    pub time: f32,
}

impl Default for Coating {
    fn default() -> Self {
        let settings = crate::observe::CoatingSettings::default();
        Coating {
            film: settings.film,
            time: settings.time,
        }
    }
}

/// How the triangles of an obstacle are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// Spatial hash with grown boxes: the fastest for static meshes.
    #[default]
    Hash,
    /// Tree of boxes: the smallest.
    Bvh,
    /// Signed distance field: for closed meshes; sees only the nearest surface.
    Sdf,
}

/// What an obstacle looks like. Lengths in metres.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// Everything below a plane is solid.
    Plane {
        /// A point of the plane.
        #[schemars(with = "[f32; 3]")]
        point: Vec3,
        /// Direction of the free side.
        #[schemars(with = "[f32; 3]")]
        normal: Vec3,
    },
    /// The walls of a box; liquid may be inside or outside.
    Box {
        /// Smallest corner.
        #[schemars(with = "[f32; 3]")]
        min: Vec3,
        /// Largest corner.
        #[schemars(with = "[f32; 3]")]
        max: Vec3,
        /// Squares along each edge. A box within a liquid is best divided as finely
        /// as the particles are.
        #[serde(default = "defaults::cells")]
        cells: [u32; 3],
    },
    /// A sphere of triangles.
    Sphere {
        /// Centre.
        #[schemars(with = "[f32; 3]")]
        center: Vec3,
        /// Radius.
        radius: f32,
        /// Segments around the equator.
        #[serde(default = "defaults::segments")]
        segments: u32,
    },
    /// A closed straight tube.
    Tube {
        /// One end.
        #[schemars(with = "[f32; 3]")]
        from: Vec3,
        /// Other end.
        #[schemars(with = "[f32; 3]")]
        to: Vec3,
        /// Radius.
        radius: f32,
        /// Segments around.
        #[serde(default = "defaults::segments")]
        segments: u32,
        /// Close the ends.
        #[serde(default = "defaults::yes")]
        capped: bool,
    },
    /// A human colon, closed at both ends, about 0.3 m wide.
    Colon {
        /// Number of triangles: 8040 or 40000.
        #[serde(default = "defaults::colon_triangles")]
        triangles: u32,
        /// Another seed, another patient.
        #[serde(default)]
        seed: u64,
    },
    /// A sloping landscape with a meandering channel, as a heightfield.
    River {
        /// Another seed, another landscape.
        #[serde(default)]
        seed: u64,
    },
    /// Heights over a square grid; everything below is solid.
    Heightfield {
        /// Corner with the smallest x and z.
        #[schemars(with = "[f32; 3]")]
        origin: Vec3,
        /// Distance between heights.
        spacing: f32,
        /// Rows of heights along x, one row per step along z.
        heights: Vec<Vec<f32>>,
    },
    /// A wine glass with a wall, 0.2 m tall.
    WineGlass {
        /// Segments around.
        #[serde(default = "defaults::segments")]
        segments: u32,
    },
    /// The ribs of one side of a chest, around the lungs of `[[soft]]`.
    Ribs {
        /// The patient's left ones, at positive x.
        #[serde(default)]
        left: bool,
    },
    /// A plain drinking glass with a wall.
    Tumbler {
        /// Segments around.
        #[serde(default = "defaults::segments")]
        segments: u32,
    },
    /// A mesh file: OBJ, STL, PLY or SMF.
    Mesh {
        /// Path, relative to the scene file.
        file: String,
        /// The mesh must be closed.
        #[serde(default)]
        closed: bool,
    },
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
            xray: Xray::default(),
        }
    }
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
