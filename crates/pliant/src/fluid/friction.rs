//! How strongly two particles rub against each other.
//!
//! The viscous force between particles acts along the line between them, so the
//! viscosity that a liquid shows is a sum of fourth powers over the neighbours. The
//! slope of the cubic spline falls off so fast that it sees little more than the six
//! nearest of them: a lattice is a third too thin in shear. The weight here reaches
//! further, and a lattice, rows that slide past each other, and the bundles of strings
//! that flowing particles line up in all have nearly the same viscosity.

use super::cubic::for_lattice;

/// Below this share of the support radius the weight stays what it is.
pub(super) const NEAREST: f32 = 0.2;

/// Weight of pairs: `μ Σ_j weight (v_ij · x_ij) x_ij` is the viscous force per volume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Friction {
    pub support_radius: f32,
    /// In 1/m⁴.
    pub(super) scale: f32,
}

impl Friction {
    /// Weights for particles `spacing` apart, such that a lattice of them has, in the
    /// mean over directions, the viscosity it should: `Σ weight r⁴ = 30`.
    pub fn new(support_radius: f32, spacing: f32) -> Friction {
        let mut friction = Friction {
            support_radius,
            scale: 1.0,
        };
        let mut sum = 0.0f64;
        for_lattice(support_radius / spacing, |x, y, z| {
            let r_squared = spacing * spacing * (x * x + y * y + z * z) as f32;
            sum += f64::from(friction.weight(r_squared)) * f64::from(r_squared).powi(2);
        });
        friction.scale = (30.0 / sum) as f32;
        friction
    }

    /// The weight of a pair, in 1/m⁴.
    #[inline(always)]
    pub fn weight(&self, r_squared: f32) -> f32 {
        let q = (r_squared.sqrt() / self.support_radius).max(NEAREST);
        self.scale * (1.0 - q).max(0.0).sqrt() / (q * q * q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Σ w x² y² / 2` over points with x anywhere between -0.5 and 0.5 from a place
    /// of a row: the viscosity in shear, times that of the liquid.
    fn sliding(friction: &Friction, rows: &[(f32, f32)]) -> f32 {
        const PLACES: u32 = 40;
        let mut sum = 0.0;
        for k in 0..PLACES {
            let offset = (k as f32 + 0.5) / PLACES as f32;
            for &(y, z) in rows {
                for x in -3..3 {
                    let x = x as f32 + offset;
                    let weight = friction.weight(x * x + y * y + z * z);
                    sum += 0.5 * weight * x * x * y * y;
                }
            }
        }
        sum / PLACES as f32
    }

    /// Rows of a lattice, side by side.
    fn rows(place: impl Fn(i32, i32) -> (f32, f32)) -> Vec<(f32, f32)> {
        let cells = (-3..=3).flat_map(|j| (-3..=3).map(move |k| (j, k)));
        cells
            .filter(|c| *c != (0, 0))
            .map(|(j, k)| place(j, k))
            .collect()
    }

    #[test]
    fn viscosity_hardly_depends_on_how_particles_are_arranged() {
        let friction = Friction::new(2.0, 1.0);
        let (mut shear, mut stretch) = (0.0, 0.0);
        for_lattice(2.0, |x, y, z| {
            let weight = friction.weight((x * x + y * y + z * z) as f32);
            shear += 0.5 * weight * (x * x * y * y) as f32;
            stretch += 0.5 * weight * x.pow(4) as f32 / 3.0;
        });
        let squares = rows(|j, k| (j as f32, k as f32));
        // Hexagons of the same area.
        let side = (2.0 / 3f32.sqrt()).sqrt();
        let hexagons = rows(|j, k| {
            let shift = 0.5 * (j & 1) as f32;
            (j as f32 / side, (k as f32 + shift) * side)
        });
        for (name, viscosity) in [
            ("lattice in shear", shear),
            ("lattice in stretching", stretch),
            ("sliding layers", sliding(&friction, &squares)),
            ("strings", sliding(&friction, &hexagons)),
        ] {
            assert!((viscosity - 1.0).abs() < 0.12, "{name}: {viscosity}");
        }
    }
}
