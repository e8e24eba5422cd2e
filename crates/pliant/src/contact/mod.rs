//! How matter meets surfaces: closest-point and swept tests, and the response.
//!
//! [`triangle`] has the tests between a point or a segment and one triangle that
//! every index in [`crate::space`] uses ([`triangle_reference`] the older forms
//! they are compared with), `obstacle.rs` the surfaces, `shape.rs` what they look
//! like, `motion.rs`, `peristalsis.rs` and `skin.rs` how they move, `resolve.rs` the way
//! of one ball past all of them, `way_out.rs` the way out of a body for what has got into it,
//! `wall.rs` the walls around a point, `sides.rs` their directions and `crease.rs` what they are
//! between two faces, `volume_map.rs` what is beyond the walls of a container.

mod crease;
mod motion;
mod obstacle;
mod peristalsis;
mod resolve;
mod shape;
mod sides;
mod skin;
pub mod triangle;
pub mod triangle_reference;
mod volume_map;
mod wall;
mod way_out;

pub use motion::{Key, KeyframeError, Keyframes, Motion, Path};
pub(crate) use motion::{Pose, Twist};
pub use obstacle::Obstacle;
pub use peristalsis::Peristalsis;
pub(crate) use peristalsis::Spokes;
pub(crate) use resolve::{Ball, Hit, Mover, Obstacles, Touch, friction, velocity_change};
pub(crate) use volume_map::Filled;
pub(crate) use wall::Wall;

use glam::Vec3;

/// A point of matter touching an obstacle in the last sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Index of the matter among the world's matter.
    pub matter: u32,
    /// The point's name, as in [`crate::fluid::Fluid::ids`].
    pub point_id: u32,
    /// Index of the obstacle.
    pub obstacle: u32,
    /// Triangle of the obstacle's mesh; 0 for planes.
    pub triangle: u32,
    /// Weights of the triangle's corners at the place of contact.
    pub barycentric: [f32; 3],
    /// Place of contact in metres.
    pub place: Vec3,
    /// Impulse on the point in N·s; the obstacle receives the opposite.
    pub impulse: Vec3,
}
