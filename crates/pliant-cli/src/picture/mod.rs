//! Pictures of a scene: quick particles, ray-traced stills, X-rays.
//!
//! [`Painter`] chooses camera and style once and then draws any state of the
//! world; `quick.rs`, `still.rs` and `fluoroscopy.rs` are the styles, `liquid.rs`
//! makes the surfaces that the last two show, `body.rs` those of deformable bodies.

mod body;
mod fluoroscopy;
mod liquid;
mod quick;
mod still;

use std::borrow::Cow;

use glam::Vec3;
use pliant::TriMesh;
use pliant::math::Aabb;
use pliant::scene::description::{Picture, Shape, Style};
use pliant::scene::{Built, Scene};
use pliant::surface::Walls;
use pliant_render::{Camera, Colour, Image};

use crate::error::CliError;
use fluoroscopy::Fluoroscope;

pub use body::surface_mesh;
pub use liquid::surfaces_of_fluid;

/// What stays the same from picture to picture.
pub struct Painter {
    title: String,
    camera: Camera,
    picture: Picture,
    /// What the camera shows, for the floor.
    shown: Aabb,
    quick: quick::Colours,
    /// Colours of the obstacles, in the scene's order.
    walls: Vec<Colour>,
    shapes: Vec<Shape>,
    /// Materials of the liquids, in the scene's order.
    materials: Vec<String>,
    /// What liquid can cling to; only made for stills and X-rays.
    clinging: Walls,
    fluoroscope: Option<Fluoroscope>,
}

impl Painter {
    /// Chooses the camera and the colours, and reads the volume of an X-ray.
    pub fn new(scene: &Scene, built: &Built) -> Result<Painter, CliError> {
        let description = &scene.description;
        let picture = description.picture.clone();
        let bounds = interesting(scene, built);
        let c = &description.camera;
        let direction = c.direction.unwrap_or(Vec3::new(-0.35, -0.35, -1.0));
        let [width, height] = picture.size;
        let mut camera = Camera::framing_in(bounds, direction, width as f32 / height as f32);
        if let Some(eye) = c.eye {
            camera.eye = eye;
            camera.target = c.target.unwrap_or(bounds.center());
        }
        if let Some(fov) = c.fov {
            camera.vertical_fov_degrees = fov;
        }
        let half = (camera.target - camera.eye).length()
            * (0.5 * camera.vertical_fov_degrees).to_radians().tan();
        let quick = quick::Colours::new(scene, built, &bounds);
        let fluoroscope = match picture.style {
            Style::Xray => Some(Fluoroscope::new(scene, bounds)?),
            Style::Quick | Style::Ray => None,
        };
        Ok(Painter {
            title: description.title.clone(),
            camera,
            shown: Aabb {
                min: camera.target - half,
                max: camera.target + half,
            },
            quick,
            walls: description
                .obstacle
                .iter()
                .map(|o| wall(&o.shape))
                .collect(),
            shapes: description
                .obstacle
                .iter()
                .map(|o| o.shape.clone())
                .collect(),
            materials: description
                .fluid
                .iter()
                .map(|f| f.material.clone())
                .collect(),
            clinging: match picture.style {
                Style::Quick => Walls::default(),
                Style::Ray | Style::Xray => Walls::of(built.world.obstacles()),
            },
            fluoroscope,
            picture,
        })
    }

    /// Draws the world as it is. `time` is for the caption, `frame` for the grain
    /// of X-rays.
    pub fn draw(&self, built: &Built, time: f64, frame: u64) -> Result<Image, CliError> {
        let caption = format!("{}   t = {time:.2} s", self.title);
        match (self.picture.style, &self.fluoroscope) {
            (Style::Ray, _) => self.still(built, caption),
            (Style::Xray, Some(fluoroscope)) => self.xray(fluoroscope, built, caption, frame),
            _ => Ok(self.quick_picture(built, caption)),
        }
    }

    fn size(&self) -> (u32, u32) {
        (self.picture.size[0], self.picture.size[1])
    }
}

/// The box around what is there at the start and where more will appear.
fn interesting(scene: &Scene, built: &Built) -> Aabb {
    let mut bounds = built.world.bounds();
    for emitter in scene.description.fluid.iter().flat_map(|f| &f.emitter) {
        bounds = bounds.union(&Aabb {
            min: emitter.position - emitter.radius,
            max: emitter.position + emitter.radius,
        });
    }
    if bounds.size().min_element() >= 0.0 {
        bounds
    } else {
        Aabb {
            min: Vec3::splat(-1.0),
            max: Vec3::ONE,
        }
    }
}

/// A mesh of more triangles than this is meant to be round; of fewer, to have edges.
const FEW_TRIANGLES: usize = 100;

/// True if a mesh is shaded smoothly.
fn is_smooth(mesh: &TriMesh) -> bool {
    mesh.triangles.len() > FEW_TRIANGLES
}

/// The triangles of all obstacles as they stand now, in the scene's order.
fn surfaces(built: &Built) -> Vec<Option<Cow<'_, TriMesh>>> {
    let obstacles = built.obstacles.iter();
    obstacles
        .map(|(handle, _)| built.world.obstacle(*handle)?.triangles_now())
        .collect()
}

/// The film on each obstacle that has one: thickness per vertex, and its final
/// thickness.
fn films(built: &Built) -> Vec<Option<(&[f32], f32)>> {
    let mut films = vec![None; built.obstacles.len()];
    for (i, handle) in &built.coatings {
        let coating = built.world.coating(*handle);
        films[*i] = coating.map(|c| (c.thickness(), c.settings().film));
    }
    films
}

/// Flesh, earth, glass or plaster.
fn wall(shape: &Shape) -> Colour {
    Colour::hex(match shape {
        Shape::Colon { .. } | Shape::Tube { .. } => 0xd98d82,
        Shape::River { .. } | Shape::Heightfield { .. } => 0xa39a7c,
        Shape::Mesh { .. } => 0xc4bfb6,
        Shape::Ribs { .. } => 0xe6dcc4,
        Shape::Plane { .. }
        | Shape::Box { .. }
        | Shape::Sphere { .. }
        | Shape::WineGlass { .. }
        | Shape::Tumbler { .. } => 0xa8bac8,
    })
}
