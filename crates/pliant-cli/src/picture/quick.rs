//! The quick picture: particles coloured by speed, bodies, walls see-through.

use glam::Vec3;
use pliant::math::Aabb;
use pliant::scene::description::{BodyColouring, Colouring};
use pliant::scene::{Built, Scene};
use pliant::world::Matter;
use pliant_render::{
    Colour, ColourMap, Ground, Image, Legend, MeshSurface, Scene as Picture, SphereColours, Spheres,
};

use super::Painter;
use super::body::{bodies, values_of_bodies};

/// The colours of particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Colours {
    pub map: ColourMap,
    /// Speed in m/s at the end of the colour scale.
    pub range: f32,
}

impl Colours {
    pub fn new(scene: &Scene, built: &Built, bounds: &Aabb) -> Colours {
        let description = &scene.description;
        let c = &description.camera;
        // Half the speed of a free fall through the scene.
        let fall = (2.0 * built.world.gravity.length() * bounds.size().y.max(0.0)).sqrt();
        let material = description.fluid.first().map_or("", |f| &f.material);
        Colours {
            map: match c.colour {
                Colouring::Material => ColourMap::from_name(material).unwrap_or_default(),
                Colouring::Speed => ColourMap::Meadow,
            },
            range: c.speed_range.unwrap_or((0.5 * fall).max(0.01)),
        }
    }
}

/// How a quantity of bodies is shown.
struct Shown {
    scalar: &'static str,
    title: &'static str,
    map: ColourMap,
    range: (f32, f32),
}

fn shown(colouring: BodyColouring) -> Option<Shown> {
    match colouring {
        BodyColouring::Plain => None,
        BodyColouring::Bumpiness => Some(Shown {
            scalar: "bumpiness",
            title: "bumpiness [degrees]",
            map: ColourMap::Meadow,
            range: (0.0, 30.0),
        }),
        BodyColouring::Stretch => Some(Shown {
            scalar: "stretch",
            title: "edges / at the start",
            map: ColourMap::CoolWarm,
            range: (0.7, 1.3),
        }),
    }
}

/// Matter that is shown as particles: that without a surface.
fn particles(built: &Built) -> impl Iterator<Item = &dyn Matter> {
    built.world.matter().filter(|m| m.surface().is_none())
}

impl Painter {
    /// Speeds of the particles of all matter without a surface.
    pub(super) fn speeds(built: &Built) -> Vec<Vec<f32>> {
        particles(built)
            .map(|m| m.points().velocity.iter().map(Vec3::length).collect())
            .collect()
    }

    /// The particles of all matter without a surface, coloured by their speeds.
    pub(super) fn spheres<'a>(
        &self,
        built: &'a Built,
        speeds: &'a [Vec<f32>],
    ) -> impl Iterator<Item = Spheres<'a>> {
        let Colours { map, range } = self.quick;
        particles(built).zip(speeds).map(move |(matter, speeds)| {
            let points = matter.points();
            Spheres {
                positions: points.position,
                radius: points.radius,
                colours: SphereColours::ByValue {
                    values: speeds,
                    map,
                    range: (0.0, range),
                },
            }
        })
    }

    /// The colours of the points of every body, if they show a quantity.
    fn shades(&self, built: &Built) -> Vec<Option<Vec<Colour>>> {
        let Some(shown) = shown(self.picture.bodies) else {
            return built.world.matter().map(|_| None).collect();
        };
        let colour = |value: f32| shown.map.colour_in(value, shown.range);
        let colours = |values: Vec<f32>| values.into_iter().map(colour).collect();
        let values = values_of_bodies(built, shown.scalar);
        values.into_iter().map(|v| v.map(colours)).collect()
    }

    /// The bar that explains the colours of particles, if there can be any, or of bodies.
    pub(super) fn legend(&self, built: &Built) -> Option<Legend> {
        if let Some(shown) = shown(self.picture.bodies) {
            return Some(Legend {
                title: shown.title.into(),
                map: shown.map,
                range: shown.range,
            });
        }
        particles(built).next().map(|_| Legend {
            title: "speed [m/s]".into(),
            map: self.quick.map,
            range: (0.0, self.quick.range),
        })
    }

    /// A level floor, if the scene has one.
    pub(super) fn ground(&self, built: &Built) -> Option<Ground> {
        let planes = built.world.obstacles().filter_map(|o| o.as_plane());
        let levels = planes.filter(|(normal, _)| normal.y > 0.99);
        levels.last().map(|(_, offset)| Ground {
            around: Some(self.shown),
            ..Ground::at(offset)
        })
    }

    pub(super) fn quick_picture(&self, built: &Built, caption: String) -> Image {
        let speeds = Painter::speeds(built);
        let mut picture = Picture {
            ground: self.ground(built),
            legend: self.legend(built),
            caption: Some(caption),
            ..Picture::default()
        };
        picture.spheres.extend(self.spheres(built, &speeds));
        let bodies = bodies(built);
        let shades = self.shades(built);
        // Bodies that were added later are opaque.
        let opacities = built.body_opacity.iter().chain(std::iter::repeat(&1.0));
        let seen = bodies.iter().zip(&shades).zip(opacities);
        for (((mesh, colour), shades), opacity) in seen.filter(|(_, o)| **o > 0.0) {
            picture.meshes.push(MeshSurface {
                mesh,
                colour: *colour,
                shades: shades.as_deref(),
                opacity: *opacity,
                smooth: true,
            });
        }
        let surfaces = super::surfaces(built);
        let walls = built.obstacles.iter().zip(&self.walls).zip(&surfaces);
        for (((_, opacity), colour), surface) in walls {
            if let Some(mesh) = surface
                && *opacity > 0.0
            {
                picture.meshes.push(MeshSurface {
                    mesh,
                    colour: *colour,
                    shades: None,
                    opacity: *opacity,
                    smooth: super::is_smooth(mesh),
                });
            }
        }
        let (width, height) = self.size();
        picture.render(&self.camera, width, height)
    }
}
