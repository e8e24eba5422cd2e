//! The keys of a rigid body in a scene file, and of how liquids meet a body.

use glam::{EulerRot, Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scene;
use super::check::{Part, Rule, is_near, too_far};
use super::description::{Shape, defaults};
use super::error::{Key, SceneError};
use super::shape;
use crate::coupling::LiquidContact;
use crate::rigid::{RigidBody, RigidError, RigidSettings};

/// A rigid body: it floats, sinks, falls and bumps into things.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rigid {
    /// Name in files and messages.
    #[serde(default = "default_name")]
    pub name: String,
    /// What it looks like: any closed mesh, no plane or landscape.
    pub shape: Shape,
    /// In kg/m³, everywhere inside the surface.
    #[serde(default = "default_density")]
    pub density: f32,
    /// Share of the speed given back by a collision with obstacles, 0 to 1.
    #[serde(default)]
    pub restitution: f32,
    /// Coulomb friction coefficient with obstacles and other bodies.
    #[serde(default = "default_friction")]
    pub friction: f32,
    /// How liquids meet it.
    #[serde(default)]
    pub liquid: LiquidLaw,
    /// 0 (not drawn) to 1 (opaque).
    #[serde(default = "defaults::one")]
    pub opacity: f32,
    /// Magnification of the shape.
    #[serde(default = "defaults::one")]
    pub scale: f32,
    /// Turn about x, then y, then z, in degrees.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub rotate: Vec3,
    /// Shift in metres, after turning.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub translate: Vec3,
    /// Velocity at the start in m/s.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub velocity: Vec3,
    /// Spin at the start in rad/s.
    #[serde(default)]
    #[schemars(with = "[f32; 3]")]
    pub spin: Vec3,
}

/// How liquids meet the surface of a body.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LiquidLaw {
    /// Coulomb friction coefficient.
    pub friction: f32,
    /// Liquid sticks to it by its viscosity instead of slipping along.
    pub no_slip: bool,
    /// Angle in degrees at which a drop meets it: 0 is wetted, 180 repels.
    pub contact_angle: f32,
}

impl Default for LiquidLaw {
    fn default() -> Self {
        let law = LiquidContact::default();
        LiquidLaw {
            friction: law.friction,
            no_slip: law.no_slip,
            contact_angle: law.contact_angle.to_degrees(),
        }
    }
}

impl LiquidLaw {
    pub(super) fn law(&self) -> LiquidContact {
        LiquidContact {
            friction: self.friction,
            no_slip: self.no_slip,
            contact_angle: self.contact_angle.to_radians(),
        }
    }

    pub(super) fn check(&self, here: &Part<'_>) -> Result<(), SceneError> {
        here.number("friction", self.friction, Rule::NotNegative)?;
        here.number(
            "contact_angle",
            self.contact_angle,
            Rule::Between(0.0, 180.0),
        )
    }
}

fn default_name() -> String {
    "rigid".into()
}

fn default_density() -> f32 {
    500.0
}

fn default_friction() -> f32 {
    0.3
}

impl Scene {
    pub(super) fn check_rigids(&self) -> Result<(), SceneError> {
        let rigids = &self.description.rigid;
        for (i, r) in rigids.iter().enumerate() {
            let here = &Part::new(self, &[Key::Name("rigid"), Key::Item(i)]);
            here.name(&r.name, rigids[..i].iter().map(|r| &r.name), "rigid bodies")?;
            here.number("density", r.density, Rule::Positive)?;
            here.number("restitution", r.restitution, Rule::Between(0.0, 1.0))?;
            here.number("friction", r.friction, Rule::NotNegative)?;
            here.number("scale", r.scale, Rule::Positive)?;
            here.vector("rotate", r.rotate)?;
            here.place("translate", r.translate)?;
            here.vector("velocity", r.velocity)?;
            here.vector("spin", r.spin)?;
            r.liquid.check(&here.key("liquid"))?;
            here.number("opacity", r.opacity, Rule::Between(0.0, 1.0))?;
        }
        for (i, stroke) in self.description.stroke.iter().enumerate() {
            let here = &Part::new(self, &[Key::Name("stroke"), Key::Item(i)]);
            for end in stroke.from {
                here.place("from", end)?;
            }
            for end in stroke.to {
                here.place("to", end)?;
            }
            here.number("start", stroke.start, Rule::NotNegative)?;
            here.number("stop", stroke.stop - stroke.start, Rule::Positive)
                .map_err(|_| here.error("stop", "a stroke must stop after its `start`"))?;
        }
        Ok(())
    }

    /// Makes all rigid bodies.
    pub(super) fn rigids(&self) -> Result<Vec<RigidBody>, SceneError> {
        let rigids = self.description.rigid.iter().enumerate();
        rigids.map(|(i, r)| self.rigid(i, r)).collect()
    }

    fn rigid(&self, i: usize, r: &Rigid) -> Result<RigidBody, SceneError> {
        let fault = |key: &'static str, message: String| {
            let path = [Key::Name("rigid"), Key::Item(i), Key::Name(key)];
            self.at(&path, format!("rigid body `{}`: {message}", r.name))
        };
        let mut mesh = shape::triangles(&r.shape, &self.folder, None)
            .map_err(|e| fault("shape", e.message))?;
        let [x, y, z] = r.rotate.to_array().map(f32::to_radians);
        mesh.transform(
            r.scale,
            Quat::from_euler(EulerRot::ZYX, z, y, x),
            r.translate,
        );
        if !mesh.vertices.iter().all(|&v| is_near(v)) {
            return Err(fault("shape", too_far()));
        }
        let settings = RigidSettings {
            name: r.name.clone(),
            density: r.density,
            restitution: r.restitution,
            friction: r.friction,
            liquid: r.liquid.law(),
        };
        let mut body = RigidBody::new(settings, mesh).map_err(|e| match &e {
            RigidError::Open(_) => fault("shape", e.to_string()),
            RigidError::Setting { key, .. } => fault(key, e.to_string()),
        })?;
        body.set_motion(r.velocity, r.spin);
        Ok(body)
    }
}
