//! From the description of a body to the body.

use std::sync::Arc;

use glam::{EulerRot, Quat};

use super::Scene;
use super::check::{is_near, too_far};
use super::error::{Key, SceneError};
use super::solid_keys::{self as d, CreatureSize, SolidShape};
use crate::mesh::{
    CreaturePreset, IcoSphere, ShapeError, TetBall, TetBasin, TetBlock, TetMesh, TetShell, TriMesh,
    Tube, cube_of_lesmes, read_mesh, read_tet_mesh, tetrahedralise,
};
use crate::slots::Handle;
use crate::solid::{GrabSettings, Solid, SolidError, SolidSettings};
use crate::world::World;

/// Most cells around, along or through a wall.
const MOST_CELLS: u32 = 1000;

fn too_many() -> String {
    format!("it would have too many cells; take at most {MOST_CELLS} each, 6 subdivisions")
}

fn shell(
    surface: Result<TriMesh, ShapeError>,
    thickness: f32,
    layers: u32,
) -> Result<TetMesh, String> {
    let shell = surface.and_then(|surface| {
        let shell = TetShell {
            surface,
            thickness,
            layers,
        };
        shell.build()
    });
    shell.map_err(|e| e.to_string())
}

impl Scene {
    /// Makes all bodies, at their places and with their pins and loads.
    pub(super) fn solids(&self) -> Result<Vec<Solid>, SceneError> {
        let solids = self.description.solid.iter().enumerate();
        solids.map(|(i, s)| self.solid(i, s)).collect()
    }

    fn solid(&self, i: usize, s: &d::Solid) -> Result<Solid, SceneError> {
        let here = [Key::Name("solid"), Key::Item(i)];
        let key = |k| [here[0], here[1], Key::Name(k)];
        let fault = |k: &'static str, message: String| {
            self.at(&key(k), format!("solid `{}`: {message}", s.name))
        };
        let mesh = self.tets(&s.shape).map_err(|e| fault("shape", e))?;
        let [x, y, z] = s.rotate.to_array().map(f32::to_radians);
        let turn = Quat::from_euler(EulerRot::ZYX, z, y, x);
        let mesh = mesh.map_points(|p| turn * (s.scale * p) + s.translate);
        if !mesh.points.iter().all(|&p| is_near(p)) {
            return Err(fault("shape", too_far()));
        }
        let settings = SolidSettings {
            name: s.name.clone(),
            model: s.model.clone(),
            mass: s.mass,
            mass_sharing: s.mass_sharing,
            max_inverse_mass: s.max_inverse_mass,
            step: s.step,
            thickness: s.thickness,
            friction: s.friction,
            self_contact: s.self_contact,
            liquid: s.liquid.law(),
            fracture: s.fracture,
        };
        let mut solid = Solid::new(settings, mesh).map_err(|e| {
            let place = match &e {
                SolidError::Mesh(_) => "shape",
                SolidError::Setting { key, .. } => match *key {
                    "mass" | "max_inverse_mass" | "step" | "thickness" | "friction" => key,
                    "fracture" | "strength" | "grain_strength" | "toughness" => "fracture",
                    _ => "model",
                },
            };
            fault(place, e.to_string())
        })?;
        solid.put(|p| p, |_| s.velocity);
        for (k, pin) in s.pin.iter().enumerate() {
            if solid.drive_where(|p| pin.region.contains(p), pin.velocity) == 0 {
                let path = [here[0], here[1], Key::Name("pin"), Key::Item(k)];
                return Err(self.nothing_there(&path, &s.name));
            }
        }
        for (k, load) in s.load.iter().enumerate() {
            if solid.load_where(|p| load.region.contains(p), load.force) == 0 {
                let path = [here[0], here[1], Key::Name("load"), Key::Item(k)];
                return Err(self.nothing_there(&path, &s.name));
            }
        }
        Ok(solid)
    }

    /// Takes hold of the parts that the scene grabs.
    pub(super) fn add_grabs(
        &self,
        world: &mut World,
        solids: &[Handle<Solid>],
    ) -> Result<(), SceneError> {
        for (i, (s, &solid)) in self.description.solid.iter().zip(solids).enumerate() {
            for (k, grab) in s.grab.iter().enumerate() {
                let path = [
                    Key::Name("solid"),
                    Key::Item(i),
                    Key::Name("grab"),
                    Key::Item(k),
                ];
                if let Some(fault) = fault_of(grab) {
                    return Err(self.at(&path, format!("solid `{}`: {fault}", s.name)));
                }
                let settings = GrabSettings {
                    stiffness: grab.stiffness,
                    damping: grab.damping,
                    path: grab.path.iter().map(|k| (k.time, k.shift)).collect(),
                    release: grab.release,
                };
                let held = world.grab(solid, |p| grab.region.contains(p), settings);
                if held.is_none() {
                    return Err(self.nothing_there(&path, &s.name));
                }
            }
        }
        Ok(())
    }

    fn nothing_there(&self, path: &[Key<'_>], name: &str) -> SceneError {
        self.at(path, format!("solid `{name}` has no points in this region"))
            .with_help("regions are those of the scene, after `scale`, `rotate` and `translate`")
    }

    fn tets(&self, shape: &SolidShape) -> Result<TetMesh, String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        match shape {
            SolidShape::Block { min, max, cells } => TetBlock {
                min: *min,
                max: *max,
                cells: *cells,
            }
            .build()
            .map_err(|e| text(&e)),
            SolidShape::Ball {
                center,
                radius,
                tets,
            } => TetBall {
                center: *center,
                radius: *radius,
                tets: *tets,
            }
            .build()
            .map_err(|e| text(&e)),
            SolidShape::Basin {
                min,
                max,
                wall,
                cells,
            } => TetBasin {
                min: *min,
                max: *max,
                wall: *wall,
                cells: *cells,
            }
            .build()
            .map_err(|e| text(&e)),
            SolidShape::Tube {
                path,
                radius,
                wall,
                around,
                along,
                layers,
            } => {
                if (*around).max(*along).max(*layers) > MOST_CELLS {
                    return Err(too_many());
                }
                let tube = Tube {
                    path: path.clone(),
                    radius: *radius,
                    segments: *around,
                    smooth_rings: Some(along + 1),
                    capped: false,
                };
                shell(tube.build(), *wall, *layers)
            }
            SolidShape::Shell {
                center,
                radius,
                wall,
                subdivisions,
                layers,
            } => {
                if *subdivisions > 6 || *layers > MOST_CELLS {
                    return Err(too_many());
                }
                let ball = IcoSphere {
                    center: *center,
                    radius: *radius,
                    cuts: *subdivisions,
                };
                shell(ball.build(), *wall, *layers)
            }
            SolidShape::Cube { size, small } => {
                if *size > 0.0 && size.is_finite() {
                    Ok(cube_of_lesmes(*size, *small))
                } else {
                    Err(format!("`size` is {size}, but must be above 0"))
                }
            }
            SolidShape::Creature { like, height } => {
                let preset = match like {
                    CreatureSize::Bunny => CreaturePreset::Bunny,
                    CreatureSize::Bunny2 => CreaturePreset::Bunny2,
                    CreatureSize::Dragon => CreaturePreset::Dragon,
                    CreatureSize::Armadillo => CreaturePreset::Armadillo,
                };
                preset.creature(*height).build().map_err(|e| text(&e))
            }
            SolidShape::Tets { file } => {
                read_tet_mesh(self.folder.join(file)).map_err(|e| text(&e))
            }
            SolidShape::Surface { file, tets } => {
                let path = self.folder.join(file);
                let surface = read_mesh(&path).map_err(|e| text(&e))?;
                tetrahedralise(Arc::new(surface), *tets as usize)
                    .map(|found| found.mesh)
                    .map_err(|e| format!("{}: {e}", path.display()))
            }
        }
    }
}

/// What is wrong with the numbers of a grab.
fn fault_of(grab: &d::Grab) -> Option<String> {
    let (k, damping) = (grab.stiffness, grab.damping);
    if !(k > 0.0 && k.is_finite()) {
        return Some(format!("`stiffness` is {k}, but must be above 0"));
    }
    if !(damping >= 0.0 && damping.is_finite()) {
        return Some(format!("`damping` is {damping}, but must be 0 or more"));
    }
    if !grab
        .path
        .iter()
        .all(|k| k.time.is_finite() && is_near(k.shift))
    {
        return Some("`path` leads too far".into());
    }
    if !grab.path.is_sorted_by(|a, b| a.time < b.time) {
        return Some("the times of `path` must ascend".into());
    }
    None
}
