//! The liquids that one set of particles may hold: oil over water, blood in saline.

use super::material::Material;
use super::settings::SettingsError;

/// Most liquids in one [`super::Fluid`].
pub const MOST_LIQUIDS: usize = 16;

/// One of the liquids of a [`super::Fluid`].
#[derive(Clone, Debug, PartialEq)]
pub struct Liquid {
    /// Name in reports and files.
    pub name: String,
    /// Density, viscosity and surface tension.
    pub material: Material,
    /// How fast dye or contrast medium spreads in it, in m²/s.
    pub diffusivity: f32,
}

impl Liquid {
    /// A liquid in which nothing diffuses.
    pub fn new(name: impl Into<String>, material: Material) -> Liquid {
        Liquid {
            name: name.into(),
            material,
            diffusivity: 0.0,
        }
    }

    /// Checks that it can exist.
    pub fn check(&self) -> Result<(), SettingsError> {
        if let Some((key, value)) = self.material.nonsense() {
            return Err(SettingsError {
                key,
                value: value.to_string(),
                right: "a finite number, not negative (density: above 0)",
            });
        }
        if !(self.diffusivity.is_finite() && self.diffusivity >= 0.0) {
            return Err(SettingsError {
                key: "diffusivity",
                value: self.diffusivity.to_string(),
                right: "0 or more, such as 1e-9 (m²/s)",
            });
        }
        Ok(())
    }
}

/// What new particles are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Content {
    /// Index of the liquid; 0 is the one that the fluid was made with.
    pub liquid: u8,
    /// Concentration of dye or contrast medium, 0 to 1.
    pub concentration: f32,
}
