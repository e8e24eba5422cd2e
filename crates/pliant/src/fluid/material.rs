//! What a liquid is made of, in SI units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::thinning::Thinning;

/// Physical constants of a liquid at body or room temperature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Rest density in kg/m³.
    pub density: f32,
    /// Dynamic viscosity in Pa·s; of a shear-thinning liquid that at rest.
    pub viscosity: f32,
    /// Surface tension against air in N/m; 0 switches it off.
    pub surface_tension: f32,
    /// How it thins when sheared (incompressible liquids only).
    #[serde(default)]
    pub thinning: Option<Thinning>,
}

impl Material {
    /// Water at 20 °C.
    pub const WATER: Material = Material {
        density: 998.0,
        viscosity: 1.0e-3,
        surface_tension: 0.0728,
        thinning: None,
    };

    /// Barium sulphate suspension, about 100 % weight per volume, as used for
    /// double-contrast enemas. How it thins differs from product to product; these
    /// numbers stand for a moderate one.
    pub const BARIUM: Material = Material {
        density: 1_750.0,
        viscosity: 0.8,
        surface_tension: 0.06,
        thinning: Some(Thinning {
            viscosity: 0.2,
            time: 0.1,
            exponent: 0.6,
        }),
    };

    /// Blood at 37 °C, haematocrit 45 %, with Carreau's law as fitted by Cho & Kensey
    /// 1991.
    pub const BLOOD: Material = Material {
        density: 1_060.0,
        viscosity: 0.056,
        surface_tension: 0.056,
        thinning: Some(Thinning {
            viscosity: 3.45e-3,
            time: 3.313,
            exponent: 0.3568,
        }),
    };

    /// Honey at 20 °C.
    pub const HONEY: Material = Material {
        density: 1_420.0,
        viscosity: 10.0,
        surface_tension: 0.06,
        thinning: None,
    };

    /// Pitch at room temperature, the stiffest of liquids that still pours.
    pub const PITCH: Material = Material {
        density: 1_100.0,
        viscosity: 1.0e3,
        surface_tension: 0.03,
        thinning: None,
    };

    /// Olive oil at 20 °C.
    pub const OIL: Material = Material {
        density: 911.0,
        viscosity: 0.084,
        surface_tension: 0.032,
        thinning: None,
    };

    /// The named materials.
    pub const NAMED: [(&'static str, Material); 6] = [
        ("water", Material::WATER),
        ("barium", Material::BARIUM),
        ("blood", Material::BLOOD),
        ("honey", Material::HONEY),
        ("oil", Material::OIL),
        ("pitch", Material::PITCH),
    ];

    /// The material called `name`.
    pub fn named(name: &str) -> Option<Material> {
        Material::NAMED
            .iter()
            .find(|(n, _)| *n == name)
            .map(|&(_, m)| m)
    }

    /// The first value that no liquid can have, as (name, value).
    pub fn nonsense(&self) -> Option<(&'static str, f32)> {
        let positive = |v: f32| v.is_finite() && v > 0.0;
        let not_negative = |v: f32| v.is_finite() && v >= 0.0;
        [
            ("density", self.density, positive(self.density)),
            ("viscosity", self.viscosity, not_negative(self.viscosity)),
            (
                "surface_tension",
                self.surface_tension,
                not_negative(self.surface_tension),
            ),
        ]
        .into_iter()
        .find(|&(_, _, fine)| !fine)
        .map(|(name, value, _)| (name, value))
        .or_else(|| self.thinning.and_then(|t| t.nonsense()))
    }

    /// The viscosity at high shear, in Pa·s: that of models without thinning.
    pub fn thinned(&self) -> f32 {
        self.thinning.map_or(self.viscosity, |t| t.viscosity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_materials_make_sense_and_nonsense_is_found() {
        for (name, material) in Material::NAMED {
            assert_eq!(material.nonsense(), None, "{name}");
            assert_eq!(Material::named(name), Some(material));
        }
        assert_eq!(Material::named("plutonium"), None);
        let bad = Material {
            viscosity: -1.0,
            ..Material::WATER
        };
        assert_eq!(bad.nonsense(), Some(("viscosity", -1.0)));
    }
}
