//! One picture of a world: particles coloured by speed, walls see-through.

use glam::Vec3;
use pliant::TriMesh;
use pliant::math::Aabb;
use pliant::scene::description::{Colouring, Shape};
use pliant::scene::{Built, Scene};
use pliant::world::{Matter, SurfaceView};
use pliant_render::{
    Camera, Colour, ColourMap, Ground, Image, Legend, MeshSurface, Scene as Picture, SphereColours,
    Spheres,
};

/// Colours of deformable bodies, in turn.
const BODIES: [u32; 6] = [0xd9776a, 0x6aa5d9, 0xd9b45f, 0x7fb77e, 0xa98bc4, 0x8c9aa8];

/// Size of the pictures in pixels.
const SIZE: (u32, u32) = (960, 720);

/// What stays the same from picture to picture.
#[derive(Debug)]
pub struct Painter {
    title: String,
    camera: Camera,
    map: ColourMap,
    /// Speed in m/s at the end of the colour scale.
    range: f32,
    /// What the camera shows, for the floor.
    shown: Aabb,
    /// Colours of the obstacles, in the scene's order.
    walls: Vec<Colour>,
}

impl Painter {
    /// Chooses the camera and the colours.
    pub fn new(scene: &Scene, built: &Built) -> Painter {
        let description = &scene.description;
        let bounds = interesting(scene, built);
        let c = &description.camera;
        let direction = c.direction.unwrap_or(Vec3::new(-0.35, -0.35, -1.0));
        let mut camera = Camera::framing_in(bounds, direction, SIZE.0 as f32 / SIZE.1 as f32);
        if let Some(eye) = c.eye {
            camera.eye = eye;
            camera.target = c.target.unwrap_or(bounds.center());
        }
        if let Some(fov) = c.fov {
            camera.vertical_fov_degrees = fov;
        }
        let half = (camera.target - camera.eye).length()
            * (0.5 * camera.vertical_fov_degrees).to_radians().tan();
        // Half the speed of a free fall through the scene.
        let fall = (2.0 * built.world.gravity.length() * bounds.size().y.max(0.0)).sqrt();
        let material = description.fluid.first().map_or("", |f| &f.material);
        Painter {
            title: description.title.clone(),
            camera,
            map: match c.colour {
                Colouring::Material => ColourMap::from_name(material).unwrap_or_default(),
                Colouring::Speed => ColourMap::Meadow,
            },
            range: c.speed_range.unwrap_or((0.5 * fall).max(0.01)),
            shown: Aabb {
                min: camera.target - half,
                max: camera.target + half,
            },
            walls: description
                .obstacle
                .iter()
                .map(|o| wall(&o.shape))
                .collect(),
        }
    }

    /// Draws the world as it is.
    pub fn draw(&self, built: &Built) -> Image {
        let speeds: Vec<Vec<f32>> = built
            .world
            .matter()
            .filter(|m| m.surface().is_none())
            .map(|m| m.points().velocity.iter().map(Vec3::length).collect())
            .collect();
        let mut picture = Picture::default();
        let skins: Vec<TriMesh> = built
            .world
            .matter()
            .filter_map(|m| Some(surface_mesh(&m.surface()?)))
            .collect();
        for (mesh, colour) in skins.iter().zip(BODIES.into_iter().cycle()) {
            picture.meshes.push(MeshSurface {
                mesh,
                colour: Colour::hex(colour),
                opacity: 1.0,
                smooth: true,
            });
        }
        let points = |m: &&dyn Matter| m.surface().is_none();
        for (matter, speeds) in built.world.matter().filter(points).zip(&speeds) {
            let points = matter.points();
            picture.spheres.push(Spheres {
                positions: points.position,
                radius: points.radius,
                colours: SphereColours::ByValue {
                    values: speeds,
                    map: self.map,
                    range: (0.0, self.range),
                },
            });
        }
        for ((handle, opacity), colour) in built.obstacles.iter().zip(&self.walls) {
            let Some(obstacle) = built.world.obstacle(*handle) else {
                continue;
            };
            match (obstacle.triangles(), obstacle.as_plane()) {
                (Some(mesh), _) if *opacity > 0.0 => picture.meshes.push(MeshSurface {
                    mesh,
                    colour: *colour,
                    opacity: *opacity,
                    smooth: mesh.triangles.len() > 100,
                }),
                (_, Some((normal, offset))) if normal.y > 0.99 => {
                    picture.ground = Some(Ground {
                        around: Some(self.shown),
                        ..Ground::at(offset)
                    });
                }
                _ => {}
            }
        }
        if !picture.spheres.is_empty() {
            picture.legend = Some(Legend {
                title: "speed [m/s]".into(),
                map: self.map,
                range: (0.0, self.range),
            });
        }
        picture.caption = Some(format!("{}   t = {:.2} s", self.title, built.world.time()));
        picture.render(&self.camera, SIZE.0, SIZE.1)
    }
}

/// The surface of matter as a mesh of its own.
pub fn surface_mesh(surface: &SurfaceView<'_>) -> TriMesh {
    let mut number = vec![u32::MAX; surface.points.position.len()];
    let mut mesh = TriMesh::default();
    for triangle in surface.triangles {
        mesh.triangles.push(triangle.map(|v| {
            let slot = &mut number[v as usize];
            if *slot == u32::MAX {
                *slot = mesh.vertices.len() as u32;
                mesh.vertices.push(surface.points.position.get(v as usize));
            }
            *slot
        }));
    }
    mesh
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

/// Flesh, earth, glass or plaster.
fn wall(shape: &Shape) -> Colour {
    Colour::hex(match shape {
        Shape::Colon { .. } | Shape::Tube { .. } => 0xd98d82,
        Shape::River { .. } | Shape::Heightfield { .. } => 0xa39a7c,
        Shape::Mesh { .. } => 0xc4bfb6,
        Shape::Plane { .. }
        | Shape::Box { .. }
        | Shape::Sphere { .. }
        | Shape::WineGlass { .. }
        | Shape::Tumbler { .. } => 0xa8bac8,
    })
}
