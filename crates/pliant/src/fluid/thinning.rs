//! Liquids that flow more easily the faster they are sheared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Carreau's law: `μ = μ_inf + (μ_0 - μ_inf) (1 + (λ γ)²)^((n - 1) / 2)`, with μ_0 the
/// viscosity of the material at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thinning {
    /// Viscosity at high shear, μ_inf, in Pa·s.
    pub viscosity: f32,
    /// Relaxation time λ in seconds: thinning sets in at a shear rate of 1/λ.
    pub time: f32,
    /// Exponent n: 1 for none, 0 for the strongest thinning.
    pub exponent: f32,
}

impl Thinning {
    /// The viscosity in Pa·s at `shear` (1/s), of a liquid that has `at_rest` Pa·s.
    #[inline]
    pub fn viscosity(&self, at_rest: f32, shear: f32) -> f32 {
        let reach = self.time * shear;
        let factor = (1.0 + reach * reach).powf(0.5 * (self.exponent - 1.0));
        self.viscosity + (at_rest - self.viscosity) * factor
    }

    /// The first value that makes no sense, as (name, value).
    pub(crate) fn nonsense(&self) -> Option<(&'static str, f32)> {
        let fine = |v: f32| v.is_finite() && v >= 0.0;
        [
            ("thinning.viscosity", self.viscosity, fine(self.viscosity)),
            ("thinning.time", self.time, fine(self.time)),
            (
                "thinning.exponent",
                self.exponent,
                (0.0..=1.0).contains(&self.exponent),
            ),
        ]
        .into_iter()
        .find(|&(_, _, fine)| !fine)
        .map(|(name, value, _)| (name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carreau_runs_from_rest_to_high_shear() {
        // Blood, Cho & Kensey 1991.
        let blood = Thinning {
            viscosity: 3.45e-3,
            time: 3.313,
            exponent: 0.3568,
        };
        assert_eq!(blood.viscosity(0.056, 0.0), 0.056);
        assert!((blood.viscosity(0.056, 1e4) - 3.45e-3).abs() < 2e-4);
        let mut last = f32::INFINITY;
        for shear in [0.1, 1.0, 10.0, 100.0] {
            let mu = blood.viscosity(0.056, shear);
            assert!(mu < last && mu > 3.45e-3);
            last = mu;
        }
        // (1 + 3.313²)^(-0.3216) = 0.4494
        assert!((blood.viscosity(0.056, 1.0) - 0.02707).abs() < 1e-4);
    }
}
