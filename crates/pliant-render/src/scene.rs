//! What a picture shows.

use glam::Vec3;
use pliant::math::{Aabb, Xyz};
use pliant::mesh::TriMesh;

use crate::colour::Colour;
use crate::colour_map::ColourMap;

/// How particles get their colours.
#[derive(Clone, Copy, Debug)]
pub enum SphereColours<'a> {
    /// All the same.
    One(Colour),
    /// By a value per particle.
    ByValue {
        /// One value per particle.
        values: &'a [f32],
        /// The scale of colours.
        map: ColourMap,
        /// The values of the lowest and the highest colour.
        range: (f32, f32),
    },
}

/// Particles drawn as spheres. Those with a position that is not finite are
/// left out.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    /// Centres in metres.
    pub positions: Xyz<'a>,
    /// Radius in metres.
    pub radius: f32,
    /// Their colours.
    pub colours: SphereColours<'a>,
}

/// A triangle mesh drawn as a solid or a see-through surface.
#[derive(Clone, Copy, Debug)]
pub struct MeshSurface<'a> {
    /// The mesh.
    pub mesh: &'a TriMesh,
    /// Its colour.
    pub colour: Colour,
    /// Colours of the vertices in its place, if it is solid.
    pub shades: Option<&'a [Colour]>,
    /// 1 is solid; less lets things behind shine through, most where the surface
    /// faces the camera and least along its outline, like glass.
    pub opacity: f32,
    /// Rounds the shading over the triangles.
    pub smooth: bool,
}

/// A level floor that fades into the background.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    /// Its y coordinate in metres.
    pub height: f32,
    /// Its colour.
    pub colour: Colour,
    /// Draws a grid of lines at round distances.
    pub grid: bool,
    /// What it reaches around; everything in the picture if left out. A fixed box
    /// keeps the floor the same from picture to picture.
    pub around: Option<Aabb>,
}

impl Ground {
    /// A light grey floor with a grid.
    pub fn at(height: f32) -> Ground {
        Ground {
            height,
            colour: Colour::hex(0xe9ebee),
            grid: true,
            around: None,
        }
    }
}

/// The bar that explains a colour scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// What is shown, with its unit, such as `speed [m/s]`.
    pub title: String,
    /// The scale of colours.
    pub map: ColourMap,
    /// The values of the lowest and the highest colour.
    pub range: (f32, f32),
}

/// Everything in a picture.
///
/// ```
/// use pliant_render::{Camera, Colour, Scene, SphereColours, Spheres};
/// use pliant::{Vec3, math::XyzVec};
///
/// let positions: XyzVec = [Vec3::ZERO, Vec3::X].into_iter().collect();
/// let mut scene = Scene::default();
/// scene.spheres.push(Spheres {
///     positions: positions.view(),
///     radius: 0.5,
///     colours: SphereColours::One(Colour::hex(0x3377cc)),
/// });
/// let camera = Camera::framing(scene.aabb(), Vec3::new(-0.5, -0.4, -1.0));
/// let image = scene.render(&camera, 64, 48);
/// assert_eq!((image.width(), image.height()), (64, 48));
/// ```
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// Particles.
    pub spheres: Vec<Spheres<'a>>,
    /// Surfaces.
    pub meshes: Vec<MeshSurface<'a>>,
    /// The floor, if there is one.
    pub ground: Option<Ground>,
    /// Background colour at the top and at the bottom of the picture.
    pub background: [Colour; 2],
    /// The colour bar, if there is one.
    pub legend: Option<Legend>,
    /// The line at the lower left, such as the time and the scene's name.
    pub caption: Option<String>,
}

impl Default for Scene<'_> {
    fn default() -> Self {
        Scene {
            spheres: Vec::new(),
            meshes: Vec::new(),
            ground: None,
            background: [Colour::hex(0xc9d3df), Colour::hex(0xf6f7f9)],
            legend: None,
            caption: None,
        }
    }
}

impl Scene<'_> {
    /// The box around all particles and meshes, without the ground.
    pub fn aabb(&self) -> Aabb {
        let mut all = Aabb::EMPTY;
        for s in &self.spheres {
            let points = s.positions.iter().filter(|p| p.is_finite());
            let inner = Aabb::of(points);
            if inner.min.x <= inner.max.x {
                all = all.union(&inner.grown(s.radius.max(0.0)));
            }
        }
        for m in &self.meshes {
            let points = m.mesh.vertices.iter().copied().filter(|p| p.is_finite());
            all = all.union(&Aabb::of(points));
        }
        all
    }

    /// A length by which shading tells near from far: a few particles, or a part
    /// of the scene if it has none.
    pub(crate) fn detail(&self) -> f32 {
        let radius = self.spheres.iter().map(|s| s.radius).fold(0.0, f32::max);
        let size = self.aabb().size().max(Vec3::ZERO).length();
        if radius > 0.0
            && radius.is_finite()
            && !self.spheres.iter().all(|s| s.positions.is_empty())
        {
            radius
        } else if size.is_finite() && size > 0.0 {
            0.01 * size
        } else {
            1.0
        }
    }
}
