//! Screen-space meshes (Müller, Schirm & Duthaler 2007; Grahn 2008, section 6.3):
//! a surface of what a camera sees of particles, made anew for every picture.
//!
//! The seven steps, one function each:
//!
//! 1. particles to screen coordinates (`project`),
//! 2. depths of their spheres on a grid of nodes (`splat`),
//! 3. silhouettes: where a grid edge joins nodes of different depth, the place on
//!    the edge where the nearer surface ends (`silhouettes`),
//! 4. smoothing of depths by a separable binomial filter that does not reach over
//!    silhouettes (`filter`),
//! 5. vertices at nodes and at cuts, two where one surface passes before another
//!    (`Vertices`), and triangles by marching squares (`triangulate`),
//! 6. smoothing of the outline (`smooth_silhouettes`),
//! 7. back to the world, with normals ([`ScreenCamera::to_world`]).
//!
//! The mesh is open: it ends where the eye sees the liquid end.

use glam::Vec3;

use super::Surface;
use super::screen_grid::{Nodes, filter, project, silhouettes, splat};
use super::screen_join::{Vertices, smooth_silhouettes, triangulate};
use crate::math::Xyz;
use crate::mesh::TriMesh;

/// A pinhole camera as screen-space meshes need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenCamera {
    /// Where it stands, in metres.
    pub eye: Vec3,
    /// Unit vectors to the right, to the top and into the picture.
    pub right: Vec3,
    /// See `right`.
    pub up: Vec3,
    /// See `right`.
    pub forward: Vec3,
    /// Pixels per unit of x / z.
    pub focal: f32,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
}

impl ScreenCamera {
    /// A camera at `eye` that looks at `target`, y up.
    pub fn looking_at(eye: Vec3, target: Vec3, fov_degrees: f32, size: [u32; 2]) -> ScreenCamera {
        let forward = (target - eye).normalize_or(Vec3::NEG_Z);
        let right = forward
            .cross(Vec3::Y)
            .normalize_or(forward.any_orthonormal_vector());
        ScreenCamera {
            eye,
            right,
            up: right.cross(forward),
            forward,
            focal: 0.5 * size[1] as f32 / (0.5 * fov_degrees.clamp(0.1, 170.0)).to_radians().tan(),
            size,
        }
    }

    /// Pixel coordinates (right and down from the upper left corner) and depth.
    pub(super) fn to_screen(self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        let z = d.dot(self.forward);
        let scale = self.focal / z;
        Vec3::new(
            0.5 * self.size[0] as f32 + d.dot(self.right) * scale,
            0.5 * self.size[1] as f32 - d.dot(self.up) * scale,
            z,
        )
    }

    /// The world point at pixel coordinates and depth.
    pub fn to_world(self, screen: Vec3) -> Vec3 {
        let x = (screen.x - 0.5 * self.size[0] as f32) / self.focal;
        let y = (0.5 * self.size[1] as f32 - screen.y) / self.focal;
        self.eye + screen.z * (self.forward + x * self.right + y * self.up)
    }
}

/// How a screen-space mesh is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenMeshSettings {
    /// Radius of the spheres in metres; about a spacing, so that they overlap.
    pub radius: f32,
    /// Pixels between nodes of the grid.
    pub grid: f32,
    /// Depths that differ by more than this many radii belong to different surfaces.
    pub depth_step: f32,
    /// Half width of the depth filter in nodes; 0 for none.
    pub filter: u32,
    /// Rounds of smoothing of the outline.
    pub outline: u32,
}

impl ScreenMeshSettings {
    /// What looks right for particles at this distance from each other.
    pub fn new(spacing: f32) -> ScreenMeshSettings {
        ScreenMeshSettings {
            radius: 0.9 * spacing,
            grid: 4.0,
            depth_step: 2.5,
            filter: 3,
            outline: 2,
        }
    }
}

/// The surface that `camera` sees of particles. Positions that are not finite or
/// behind the camera are left out.
///
/// ```
/// use pliant::{Vec3, math::XyzVec};
/// use pliant::surface::{ScreenCamera, ScreenMeshSettings, screen_mesh};
///
/// let drop: XyzVec = [Vec3::ZERO].into_iter().collect();
/// let camera = ScreenCamera::looking_at(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, 40.0, [160, 120]);
/// let seen = screen_mesh(drop.view(), &camera, &ScreenMeshSettings::new(1.0));
/// assert!(seen.mesh.vertices.iter().all(|v| v.z > -0.2 && v.length() < 1.0));
/// ```
pub fn screen_mesh(
    positions: Xyz<'_>,
    camera: &ScreenCamera,
    settings: &ScreenMeshSettings,
) -> Surface {
    let sane = settings.radius.is_finite() && settings.radius > 0.0 && settings.grid >= 0.25;
    if !sane || camera.size.contains(&0) {
        return Surface::default();
    }
    let mut nodes = Nodes::new(camera, settings);
    let bands = project(positions, camera, settings, &nodes);
    splat(&bands, &mut nodes);
    let step = settings.depth_step * settings.radius;
    let cuts = silhouettes(&bands, &nodes, step);
    filter(&mut nodes, settings.filter, step);
    let vertices = Vertices::new(&nodes, &cuts, step);
    let triangles = triangulate(&nodes, &vertices, step);
    let mut points = vertices.points;
    smooth_silhouettes(&mut points, &vertices.outline, &triangles, settings.outline);
    let mesh = TriMesh {
        vertices: points.iter().map(|&p| camera.to_world(p)).collect(),
        triangles,
    };
    Surface {
        normals: mesh.vertex_normals(),
        mesh,
    }
}
