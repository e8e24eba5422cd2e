//! X-ray pictures of a scene.

use glam::Vec3;
use pliant::math::Aabb;
use pliant::scene::description::{Shape, VolumeUnit, Xray};
use pliant::scene::{Built, Scene};
use pliant_render::Image;
use pliant_render::xray::{Film, Volume, XrayBody, XrayScene, XrayShell, coefficients};

use super::Painter;
use crate::error::CliError;

/// What stays the same from X-ray to X-ray.
pub(super) struct Fluoroscope {
    settings: Xray,
    volume: Option<Volume>,
}

impl Fluoroscope {
    /// Reads or makes what stands around the scene.
    pub fn new(scene: &Scene, bounds: Aabb) -> Result<Fluoroscope, CliError> {
        let settings = scene.description.picture.xray.clone();
        let bowels = scene
            .description
            .obstacle
            .iter()
            .any(|o| matches!(o.shape, Shape::Colon { .. }));
        let volume = match &settings.volume {
            Some(file) => {
                let (_, _, folder, _) = scene.origin();
                let volume = Volume::read_nrrd(&folder.join(file), settings.volume_scale)
                    .map_err(|e| scene.complaint("picture.xray.volume", e.to_string()))?;
                let mut volume = match settings.volume_unit {
                    VolumeUnit::Attenuation => volume,
                    VolumeUnit::Hounsfield => {
                        volume.map(|hu| (coefficients::WATER * (1.0 + 0.001 * hu)).max(0.0))
                    }
                };
                volume.origin += settings.volume_translate;
                Some(volume)
            }
            None => settings
                .patient
                .unwrap_or(bowels)
                .then(|| Volume::abdomen(bounds)),
        };
        Ok(Fluoroscope { settings, volume })
    }
}

impl Painter {
    pub(super) fn xray(
        &self,
        fluoroscope: &Fluoroscope,
        built: &Built,
        caption: String,
        frame: u64,
    ) -> Result<Image, CliError> {
        let settings = &fluoroscope.settings;
        let liquids = self.liquids(built)?;
        let surfaces = super::surfaces(built);
        let normals: Vec<Vec<Vec3>> = surfaces
            .iter()
            .map(|mesh| mesh.as_ref().map_or(Vec::new(), |m| m.vertex_normals()))
            .collect();
        let mut scene = XrayScene {
            volume: fluoroscope.volume.as_ref(),
            film: Film {
                level: settings.level,
                contrast: settings.contrast,
                noise: settings.noise,
                inverted: settings.inverted,
                seed: frame as u32,
                ..Film::default()
            },
            caption: Some(caption),
            ..XrayScene::default()
        };
        for (surface, material) in &liquids {
            scene.bodies.push(XrayBody {
                mesh: &surface.mesh,
                attenuation: coefficients::of_liquid(material),
                displaced: 0.0,
            });
        }
        let bodies = super::body::bodies(built);
        scene.bodies.extend(bodies.iter().map(|(mesh, _)| XrayBody {
            mesh,
            attenuation: coefficients::WATER,
            displaced: 0.0,
        }));
        let films = super::films(built);
        let first = self.materials.first().map_or("", String::as_str);
        for (i, obstacle) in built.world.obstacles().enumerate() {
            let Some(mesh) = &surfaces[i] else {
                continue;
            };
            match self.shapes[i] {
                Shape::WineGlass { .. } | Shape::Tumbler { .. } => scene.bodies.push(XrayBody {
                    mesh,
                    attenuation: coefficients::GLASS,
                    displaced: 0.0,
                }),
                Shape::Plane { .. } | Shape::River { .. } | Shape::Heightfield { .. } => {}
                _ => {
                    if fluoroscope.volume.is_some() && obstacle.is_closed() {
                        // What is hollow pushes the patient's tissue aside.
                        scene.bodies.push(XrayBody {
                            mesh,
                            attenuation: 0.0,
                            displaced: 0.9 * coefficients::WATER,
                        });
                    }
                    scene.shells.push(XrayShell {
                        mesh,
                        normals: &normals[i],
                        thickness: settings.wall,
                        attenuation: coefficients::WATER,
                        coat: films[i].map(|(t, _)| (t, coefficients::of_liquid(first))),
                    });
                }
            }
        }
        let (width, height) = self.size();
        Ok(scene.render(&self.camera, width, height))
    }
}
