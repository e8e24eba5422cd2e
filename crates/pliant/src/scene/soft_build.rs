//! From the description of a soft body to the body, or to many of it.

use glam::{EulerRot, Quat, Vec3};

use super::Scene;
use super::check::{Part, Rule, is_near, too_far};
use super::error::{Key, SceneError};
use super::obstacle_keys::Peristalsis;
use super::soft_keys::{self as d, Copies, SoftShape};
use crate::mesh::{
    Colon, Cup, EvenSphere, Head, IcoSphere, LungShape, TetBlock, TetMesh, TriMesh, Tube, chance,
    read_mesh,
};
use crate::soft::{Bed, Lung, Model, Soft, SoftError, SoftSettings, Wave, sheet};

/// Tetrahedra of a solid.
type Tets = Vec<[u32; 4]>;

/// Most bodies of one entry.
const MOST_COPIES: u32 = 100_000;

impl Scene {
    /// Checks what can be checked without building.
    pub(super) fn check_softs(&self) -> Result<(), SceneError> {
        let softs = &self.description.soft;
        for (i, s) in softs.iter().enumerate() {
            let here = &Part::new(self, &[Key::Name("soft"), Key::Item(i)]);
            here.name(&s.name, softs[..i].iter().map(|s| &s.name), "soft bodies")?;
            here.number("scale", s.scale, Rule::Positive)?;
            here.vector("rotate", s.rotate)?;
            here.place("translate", s.translate)?;
            here.vector("velocity", s.velocity)?;
            s.liquid.check(&here.key("liquid"))?;
            here.number("opacity", s.opacity, Rule::Between(0.0, 1.0))?;
            for (k, pin) in s.pin.iter().enumerate() {
                let here = &here.item("pin", k);
                here.region(&pin.region)?;
                here.vector("velocity", pin.velocity)?;
            }
            if let Some(bed) = &s.bed {
                let here = &here.key("bed");
                here.number("stiffness", bed.stiffness, Rule::Positive)?;
                here.number("damping", bed.damping, Rule::NotNegative)?;
                if let Some(p) = &bed.peristalsis {
                    super::motion::check_wave(p, &here.key("peristalsis"))?;
                }
            }
            if let Some(c) = &s.copies {
                let here = &here.key("copies");
                here.vector("spacing", c.spacing)?;
                here.number("jitter", c.jitter, Rule::NotNegative)?;
                here.number("speed", c.speed, Rule::NotNegative)?;
                let all = c.count.iter().try_fold(1u32, |n, &k| n.checked_mul(k));
                if !all.is_some_and(|n| (1..=MOST_COPIES).contains(&n)) {
                    let message = format!("`count` must make from 1 to {MOST_COPIES} bodies");
                    return Err(here.error("count", message));
                }
            }
            if s.patient.is_some() && s.volume.lung.is_none() {
                return Err(here
                    .error("patient", "only a lung has a patient's curve")
                    .with_help("add `lung = {}` to `volume`"));
            }
        }
        Ok(())
    }

    /// Makes all soft bodies, at their places and with their pins.
    pub(super) fn softs(&self) -> Result<Vec<Soft>, SceneError> {
        let mut bodies = Vec::new();
        for (i, s) in self.description.soft.iter().enumerate() {
            match &s.copies {
                None => bodies.push(self.soft(i, s, s.name.clone(), Vec3::ZERO, Vec3::ZERO)?),
                Some(copies) => {
                    for (k, (place, velocity)) in lattice(copies).into_iter().enumerate() {
                        let name = format!("{} {}", s.name, k + 1);
                        bodies.push(self.soft(i, s, name, place, velocity)?);
                    }
                }
            }
        }
        Ok(bodies)
    }

    fn soft(
        &self,
        i: usize,
        s: &d::Soft,
        name: String,
        shift: Vec3,
        speed: Vec3,
    ) -> Result<Soft, SceneError> {
        let here = [Key::Name("soft"), Key::Item(i)];
        let fault = |k: &'static str, message: String| {
            let key = [here[0], here[1], Key::Name(k)];
            self.at(&key, format!("soft body `{name}`: {message}"))
        };
        let (mut mesh, tets) = self.soft_shape(&s.shape).map_err(|e| fault("shape", e))?;
        let [x, y, z] = s.rotate.to_array().map(f32::to_radians);
        let turn = Quat::from_euler(EulerRot::ZYX, z, y, x);
        mesh.transform(s.scale, turn, s.translate + shift);
        if !mesh.vertices.iter().all(|&p| is_near(p)) {
            return Err(fault("shape", too_far()));
        }
        let mut volume = s.volume.clone();
        if let Some(breathing) = &mut volume.breathing {
            // Copies do not breathe together.
            let place = shift.to_array().map(|c| u64::from(c.to_bits()));
            let own = place.iter().fold(0, |sum: u64, c| sum.rotate_left(21) ^ c);
            breathing.seed = breathing.seed.wrapping_add(own);
        }
        if let (Some(lung), Some(file)) = (&mut volume.lung, &s.patient) {
            let path = self.folder.join(file);
            let curve = std::fs::read_to_string(&path)
                .map_err(|e| e.to_string())
                .and_then(|text| Lung::read_curve(&text).map_err(|e| e.to_string()));
            lung.patient =
                Some(curve.map_err(|e| fault("patient", format!("{}: {e}", path.display())))?);
        }
        let place = |p: Vec3| turn * (s.scale * p) + s.translate + shift;
        let bed = s.bed.as_ref().map(|b| bed(b, &s.shape, place)).transpose();
        let bed = bed.map_err(|e| fault("bed", e))?;
        let mut model = s.model.clone();
        match (&mut model, &s.shape) {
            (Model::Woven(woven), SoftShape::Sheet { cells, .. }) => woven.cells = *cells,
            (Model::Woven(_), _) => {
                return Err(fault("model", "only a sheet is woven".into()));
            }
            (Model::Bones(bones), _) => {
                bones.chain = bones.chain.iter().map(|p| place(*p)).collect();
            }
            _ => {}
        }
        let settings = SoftSettings {
            name: name.clone(),
            controls: s.controls,
            changes: s.change.clone(),
            scaling: s.scaling,
            mass: s.mass,
            model,
            body: s.body,
            fluidity: s.fluidity,
            volume,
            integrator: s.integrator,
            step: s.step,
            drag: s.drag,
            contact: s.contact,
            liquid: s.liquid.law(),
            bed,
        };
        let made = match tets {
            None => Soft::new(settings, mesh),
            Some(tets) => {
                let points = mesh.vertices;
                Soft::solid(settings, TetMesh { points, tets })
            }
        };
        let mut soft = made.map_err(|e| {
            let place = match &e {
                SoftError::Mesh(_) => "shape",
                SoftError::Lung(_) => "volume",
                SoftError::Setting { key, .. } => section_of(key),
            };
            fault(place, e.to_string())
        })?;
        soft.put(|p| p, |_| s.velocity + speed);
        for (k, pin) in s.pin.iter().enumerate() {
            if soft.drive_where(|p| pin.region.contains(p), pin.velocity) == 0 {
                let path = [here[0], here[1], Key::Name("pin"), Key::Item(k)];
                let message = format!("soft body `{name}` has no points in this region");
                let help =
                    "regions are those of the scene, after `scale`, `rotate` and `translate`";
                return Err(self.at(&path, message).with_help(help));
            }
        }
        Ok(soft)
    }

    /// A shape, and the tetrahedra inside if it is a solid.
    fn soft_shape(&self, shape: &SoftShape) -> Result<(TriMesh, Option<Tets>), String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        if let SoftShape::Bar {
            center,
            size,
            cells,
        } = *shape
        {
            let block = TetBlock {
                min: center - 0.5 * size,
                max: center + 0.5 * size,
                cells: [cells, 1, 1],
            };
            let mesh = block.build().map_err(|e| text(&e))?;
            let skin = TriMesh {
                triangles: mesh.surface(),
                vertices: mesh.points,
            };
            return Ok((skin, Some(mesh.tets)));
        }
        Ok((self.soft_surface(shape)?, None))
    }

    fn soft_surface(&self, shape: &SoftShape) -> Result<TriMesh, String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        match *shape {
            SoftShape::Sphere {
                center,
                radius,
                points,
            } => EvenSphere {
                center,
                radius,
                points,
            }
            .build()
            .map_err(|e| text(&e)),
            SoftShape::Ball {
                center,
                radius,
                cuts,
            } => IcoSphere {
                center,
                radius,
                cuts,
            }
            .build()
            .map_err(|e| text(&e)),
            SoftShape::Sheet {
                center,
                size,
                cells,
            } => {
                let sound = size.iter().all(|s| *s > 0.0 && s.is_finite());
                let few = cells.iter().all(|c| (1..=1000).contains(c));
                if sound && few {
                    Ok(sheet(center, size, cells))
                } else {
                    Err("a sheet needs a positive `size` and from 1 to 1000 `cells`".into())
                }
            }
            SoftShape::Bar { .. } => Err("a bar is a solid".into()),
            SoftShape::Tube {
                ref path,
                radius,
                segments,
                rings,
            } => Tube {
                path: path.clone(),
                radius,
                segments,
                smooth_rings: Some(rings),
                capped: true,
            }
            .build()
            .map_err(|e| text(&e)),
            SoftShape::Colon {
                segments,
                rings,
                seed,
            } => colon(segments, rings, seed).build().map_err(|e| text(&e)),
            SoftShape::Cup {
                base,
                radius,
                height,
                rounding,
                segments,
            } => Cup {
                base,
                radius,
                height,
                rounding,
                segments,
            }
            .build()
            .map_err(|e| text(&e)),
            SoftShape::Head { height, points } => {
                Head { height, points }.build().map_err(|e| text(&e))
            }
            SoftShape::Lung {
                left,
                litres,
                points,
            } => LungShape {
                left,
                volume: 1e-3 * litres,
                points,
            }
            .build()
            .map_err(|e| text(&e)),
            SoftShape::Surface { ref file } => {
                let path = self.folder.join(file);
                read_mesh(&path).map_err(|e| text(&e))
            }
        }
    }
}

/// A bed; `place` puts points of the shape where it is. The message says what cannot be.
fn bed(b: &d::SoftBed, shape: &SoftShape, place: impl Fn(Vec3) -> Vec3) -> Result<Bed, String> {
    let wave = |p: &Peristalsis| -> Result<Wave, String> {
        let axis = match shape {
            SoftShape::Tube { path, .. } => path.clone(),
            SoftShape::Colon {
                segments,
                rings,
                seed,
            } => {
                let colon = colon(*segments, *rings, *seed);
                colon.path().map_err(|e| e.to_string())?.points
            }
            _ => {
                let message = "`peristalsis` needs a tube with an axis: a `colon` or a `tube`";
                return Err(message.into());
            }
        };
        Ok(Wave {
            axis: axis.into_iter().map(&place).collect(),
            peristalsis: crate::contact::Peristalsis {
                amplitude: p.amplitude,
                wave_length: p.wave_length,
                speed: p.speed,
                sharpness: p.sharpness,
                start: 0.0,
                stop: f64::INFINITY,
            },
        })
    };
    Ok(Bed {
        stiffness: b.stiffness,
        damping: b.damping,
        wave: b.peristalsis.as_ref().map(wave).transpose()?,
    })
}

fn colon(segments: u32, rings: u32, seed: u64) -> Colon {
    Colon {
        segments,
        rings,
        seed,
        ..Colon::default()
    }
}

/// The part of the description that has a setting of this name.
fn section_of(key: &str) -> &'static str {
    match key {
        "alpha" | "beta" | "gamma" | "delta" => "controls",
        "time" => "change",
        "mass" => "mass",
        "step" => "step",
        "drag" => "drag",
        "thickness" | "friction" => "contact",
        "pressure" | "outside" | "molecules" | "hold" | "period" | "amplitude" => "volume",
        "reach" | "viscosity" => "fluidity",
        "distance" | "area" | "tension" | "shear" | "air" | "stretch" | "normal_drag"
        | "tangent_drag" | "drag_limit" | "half_damping" | "history_drag" | "viscous_drag"
        | "water" | "muscle" => "model",
        _ => "body",
    }
}

/// Where the copies are and how they move.
fn lattice(c: &Copies) -> Vec<(Vec3, Vec3)> {
    let [nx, ny, nz] = c.count;
    let mut draws = 0u64;
    let mut draw = |size: f32| {
        let mut next = || {
            draws += 1;
            size * chance(c.seed, draws)
        };
        Vec3::new(next(), next(), next())
    };
    let mut places = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let at = c.spacing * Vec3::new(i as f32, j as f32, k as f32);
                places.push((at + draw(c.jitter), draw(c.speed)));
            }
        }
    }
    places
}
