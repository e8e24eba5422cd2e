//! The parameters of a liquid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::liquid::Liquid;
use super::material::Material;
use super::tolerances::Tolerances;

/// The kernel that density is summed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DensityKernel {
    /// The kernel whose gradient gives the pressure force: forces then follow from
    /// an energy, and a liquid at rest stays at rest.
    #[default]
    Spiky,
    /// Poly6, as Grahn 2008 and Müller et al. 2003 have it: density and force do not
    /// fit together, which keeps a resting liquid simmering.
    Poly6,
}

/// How a liquid keeps its volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PressureMethod {
    /// Incompressible: divergence-free SPH (Bender & Koschier 2017). Long sub-steps.
    #[default]
    Dfsph,
    /// Pressure from density by a speed of sound, as in Grahn 2008. Short sub-steps.
    WeaklyCompressible,
}

/// Parameters of a liquid that stay the same while it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidSettings {
    /// Name in reports and files.
    pub name: String,
    /// Density, viscosity and surface tension.
    pub material: Material,
    /// How fast dye or contrast medium spreads in it, in m²/s.
    pub diffusivity: f32,
    /// Distance between neighbouring particles at rest, in metres.
    pub spacing: f32,
    /// Support radius of the kernels in units of `spacing`; 2 gives about 33 neighbours.
    pub support: f32,
    /// How the liquid keeps its volume.
    pub pressure: PressureMethod,
    /// How exactly it does so (DFSPH).
    pub tolerances: Tolerances,
    /// Speed of sound in m/s, the stiffness of a weakly compressible liquid: density
    /// varies by about (v / sound_speed)². `None` takes ten times the speed of a fall through the
    /// world's height.
    pub sound_speed: Option<f32>,
    /// The kernel that density is summed with (weakly compressible).
    pub density_kernel: DensityKernel,
    /// Extra viscosity that calms particle noise, as the α of Monaghan 1992: adds
    /// α ρ h u to the dynamic viscosity, u a tenth of the speed of sound (weakly
    /// compressible) or the speed of a fall through half the support radius h
    /// (DFSPH). 0 for none.
    pub numerical_viscosity: f32,
    /// How strongly whirls are kept alive (incompressible liquids), for the eye: 0 for not at
    /// all, 0.1 for lively water. Adds energy.
    pub vorticity: f32,
    /// Let pressure go below zero where the liquid is thinned out, as Grahn 2008
    /// (3.13) literally has it; particles then clump. Off by default.
    pub negative_pressure: bool,
    /// Emitters stop at this number of particles.
    pub max_particles: usize,
}

impl FluidSettings {
    /// The usual parameters for a liquid of `material` with particles `spacing` apart.
    pub fn new(material: Material, spacing: f32) -> FluidSettings {
        FluidSettings {
            name: "fluid".into(),
            material,
            diffusivity: 0.0,
            spacing,
            support: 2.0,
            pressure: PressureMethod::default(),
            tolerances: Tolerances::default(),
            sound_speed: None,
            density_kernel: DensityKernel::default(),
            numerical_viscosity: 0.05,
            vorticity: 0.0,
            negative_pressure: false,
            max_particles: 10_000_000,
        }
    }

    /// The same for the weakly compressible model of Grahn 2008.
    pub fn weakly_compressible(material: Material, spacing: f32) -> FluidSettings {
        FluidSettings {
            pressure: PressureMethod::WeaklyCompressible,
            ..FluidSettings::new(material, spacing)
        }
    }

    /// The liquid itself.
    pub fn liquid(&self) -> Liquid {
        Liquid {
            name: self.name.clone(),
            material: self.material,
            diffusivity: self.diffusivity,
        }
    }

    /// Checks that the liquid can exist.
    pub fn check(&self) -> Result<(), SettingsError> {
        let error = |key, value: f32, right| {
            Err(SettingsError {
                key,
                value: value.to_string(),
                right,
            })
        };
        self.liquid().check()?;
        if !(self.spacing.is_finite() && self.spacing > 0.0) {
            return error(
                "spacing",
                self.spacing,
                "a length above 0, such as 0.01 (metres)",
            );
        }
        if !(1.2..=4.0).contains(&self.support) {
            return error("support", self.support, "between 1.2 and 4 spacings");
        }
        if let Some(c) = self.sound_speed
            && !(c.is_finite() && c > 0.0)
        {
            return error("sound_speed", c, "a speed above 0, such as 20 (m/s)");
        }
        if !(self.numerical_viscosity.is_finite() && self.numerical_viscosity >= 0.0) {
            return error(
                "numerical_viscosity",
                self.numerical_viscosity,
                "0 or a small number such as 0.05",
            );
        }
        if !(0.0..=1.0).contains(&self.vorticity) {
            return error("vorticity", self.vorticity, "0 to 1, such as 0.1");
        }
        let Tolerances {
            density,
            divergence,
            max_iterations,
            correction,
        } = self.tolerances;
        for (key, value) in [("density_error", density), ("divergence_error", divergence)] {
            if !(value > 0.0 && value < 0.1) {
                return error(key, value, "a share above 0 and below 0.1, such as 0.0005");
            }
        }
        if !(correction > 0.0 && correction <= 1.0) {
            return error(
                "density_correction",
                correction,
                "a share above 0, at most 1",
            );
        }
        if max_iterations == 0 {
            return error("max_iterations", 0.0, "at least 1");
        }
        Ok(())
    }
}

/// A parameter that no liquid can have.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("`{key}` is {value}, but must be {right}")]
pub struct SettingsError {
    /// Name of the parameter.
    pub key: &'static str,
    /// What was given.
    pub value: String,
    /// What would be right.
    pub right: &'static str,
}
