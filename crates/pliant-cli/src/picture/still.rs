//! Stills: liquid, bodies, glass and tissue by rays.

use glam::Vec3;
use pliant::scene::Built;
use pliant::scene::description::Shape;
use pliant_render::{Coat, Colour, Finish, Ground, Image, RayMesh, RayScene, RaySettings};

use super::Painter;
use super::body::bodies;
use crate::error::CliError;

impl Painter {
    pub(super) fn still(&self, built: &Built, caption: String) -> Result<Image, CliError> {
        let speeds = Painter::speeds(built);
        let mut scene = RayScene {
            ground: self.ground(built).or_else(|| self.table(built)),
            caption: Some(caption),
            ..RayScene::default()
        };
        let liquids = if self.picture.particles {
            scene.spheres.extend(self.spheres(built, &speeds));
            scene.legend = self.legend(built);
            Vec::new()
        } else {
            self.liquids(built)?
        };
        for (surface, material) in &liquids {
            scene.meshes.push(RayMesh {
                mesh: &surface.mesh,
                normals: Some(&surface.normals),
                finish: Finish::liquid(material),
                coat: None,
            });
        }
        let bodies: Vec<_> = bodies(built)
            .into_iter()
            .map(|(mesh, colour)| {
                let normals = super::is_smooth(&mesh).then(|| mesh.vertex_normals());
                (normals, mesh, colour)
            })
            .collect();
        for (normals, mesh, colour) in &bodies {
            scene.meshes.push(RayMesh {
                mesh,
                normals: normals.as_deref(),
                finish: Finish::Matt {
                    colour: *colour,
                    gloss: 0.3,
                },
                coat: None,
            });
        }
        let surfaces = super::surfaces(built);
        let normals: Vec<Option<Vec<Vec3>>> = surfaces
            .iter()
            .zip(&self.shapes)
            .map(|(mesh, shape)| {
                mesh.as_ref()
                    .filter(|_| is_round(shape))
                    .map(|m| m.vertex_normals())
            })
            .collect();
        let covers: Vec<Option<Vec<f32>>> = super::films(built)
            .into_iter()
            .map(|film| film.map(|(t, full)| t.iter().map(|t| t / full).collect()))
            .collect();
        for (i, (_, opacity)) in built.obstacles.iter().enumerate() {
            let Some(mesh) = &surfaces[i] else {
                continue;
            };
            if *opacity > 0.0 {
                scene.meshes.push(RayMesh {
                    mesh,
                    normals: normals[i].as_deref(),
                    finish: finish(&self.shapes[i], self.walls[i], *opacity),
                    coat: covers[i].as_deref().map(|cover| Coat {
                        cover,
                        colour: self.film_colour(),
                    }),
                });
            }
        }
        let (width, height) = self.size();
        let settings = RaySettings {
            samples: self.picture.samples,
            ..RaySettings::default()
        };
        Ok(scene.render(&self.camera, width, height, &settings))
    }

    /// The colour of what the first liquid leaves on walls.
    fn film_colour(&self) -> Colour {
        Colour::hex(match self.materials.first().map(String::as_str) {
            Some("barium") => 0xf0ece4,
            Some("blood") => 0x8c1414,
            Some("honey") => 0xc98a2b,
            Some("oil") => 0xd8cf9a,
            _ => 0xc9dbe8,
        })
    }

    /// A table under tanks and glasses, if there are any.
    fn table(&self, built: &Built) -> Option<Ground> {
        let bounds = built
            .world
            .obstacles()
            .zip(&self.shapes)
            .filter(|(_, shape)| is_vessel(shape))
            .filter_map(|(o, _)| o.bounds())
            .reduce(|a, b| a.union(&b))?;
        Some(Ground {
            around: Some(self.shown),
            // A little below: the bottom of a tank and the table are not one.
            ..Ground::at(bounds.min.y - 0.004 * bounds.size().length())
        })
    }
}

/// True for what stands on a table.
fn is_vessel(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Box { .. } | Shape::WineGlass { .. } | Shape::Tumbler { .. }
    )
}

/// True if the shape has no edges to be kept sharp.
fn is_round(shape: &Shape) -> bool {
    !matches!(shape, Shape::Plane { .. } | Shape::Box { .. })
}

/// What an obstacle is made of.
fn finish(shape: &Shape, colour: Colour, opacity: f32) -> Finish {
    let sheet = |opacity: f32, gloss: f32| Finish::Sheet {
        colour,
        opacity,
        gloss,
    };
    match shape {
        Shape::WineGlass { .. } | Shape::Tumbler { .. } => Finish::glass(),
        Shape::Colon { .. } | Shape::Tube { .. } if opacity < 0.99 => sheet(0.9 * opacity, 1.0),
        Shape::Box { .. } | Shape::Sphere { .. } if opacity < 0.99 => sheet(0.12 * opacity, 1.0),
        _ if opacity < 0.99
            && !matches!(shape, Shape::River { .. } | Shape::Heightfield { .. }) =>
        {
            sheet(opacity, 0.5)
        }
        _ => Finish::Matt { colour, gloss: 0.1 },
    }
}
