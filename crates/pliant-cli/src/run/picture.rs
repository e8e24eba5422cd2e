//! One picture of a world: particles coloured by speed, walls see-through.

use glam::Vec3;
use pliant::scene::{Built, Scene};
use pliant_render::{
    Camera, Colour, ColourMap, Ground, Image, Legend, MeshSurface, Scene as Picture, SphereColours,
    Spheres,
};

/// Size of the pictures in pixels.
const SIZE: (u32, u32) = (960, 720);

/// What stays the same from picture to picture.
#[derive(Debug)]
pub struct Painter {
    title: String,
    camera: Camera,
    /// Speed in m/s at the end of the colour scale.
    range: f32,
}

impl Painter {
    /// Chooses the camera and the colour scale.
    pub fn new(scene: &Scene, built: &Built) -> Painter {
        let bounds = built.world.bounds();
        let bounds = if bounds.size().min_element() >= 0.0 {
            bounds
        } else {
            pliant::math::Aabb {
                min: Vec3::splat(-1.0),
                max: Vec3::ONE,
            }
        };
        let c = &scene.description.camera;
        let direction = c.direction.unwrap_or(Vec3::new(-0.35, -0.35, -1.0));
        let mut camera = Camera::framing_in(bounds, direction, SIZE.0 as f32 / SIZE.1 as f32);
        if let Some(eye) = c.eye {
            camera.eye = eye;
            camera.target = c.target.unwrap_or(bounds.center());
        }
        if let Some(fov) = c.fov {
            camera.vertical_fov_degrees = fov;
        }
        // Half the speed of a free fall through the scene.
        let fall = (2.0 * built.world.gravity.length() * bounds.size().y.max(0.0)).sqrt();
        Painter {
            title: scene.description.title.clone(),
            camera,
            range: c.speed_range.unwrap_or((0.5 * fall).max(0.01)),
        }
    }

    /// Draws the world as it is.
    pub fn draw(&self, built: &Built) -> Image {
        let map = ColourMap::Meadow;
        let speeds: Vec<Vec<f32>> = built
            .world
            .matter()
            .map(|m| m.points().velocity.iter().map(Vec3::length).collect())
            .collect();
        let mut picture = Picture::default();
        for (matter, speeds) in built.world.matter().zip(&speeds) {
            let points = matter.points();
            picture.spheres.push(Spheres {
                positions: points.position,
                radius: points.radius,
                colours: SphereColours::ByValue {
                    values: speeds,
                    map,
                    range: (0.0, self.range),
                },
            });
        }
        for (handle, opacity) in &built.obstacles {
            let Some(obstacle) = built.world.obstacle(*handle) else {
                continue;
            };
            match (obstacle.triangles(), obstacle.as_plane()) {
                (Some(mesh), _) if *opacity > 0.0 => picture.meshes.push(MeshSurface {
                    mesh,
                    colour: Colour::hex(0xd98d82),
                    opacity: *opacity,
                    smooth: mesh.triangles.len() > 100,
                }),
                (_, Some((normal, offset))) if normal.y > 0.99 => {
                    picture.ground = Some(Ground::at(offset));
                }
                _ => {}
            }
        }
        picture.legend = Some(Legend {
            title: "speed [m/s]".into(),
            map,
            range: (0.0, self.range),
        });
        picture.caption = Some(format!("{}   t = {:.2} s", self.title, built.world.time()));
        picture.render(&self.camera, SIZE.0, SIZE.1)
    }
}
