//! The keys of an obstacle in a scene file: what it looks like, how it moves, what stays
//! on it.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::description::defaults;

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
