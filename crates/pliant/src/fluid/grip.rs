//! The drag of walls that liquid sticks to, for the implicit viscosity.
//!
//! Behind a wall the liquid goes on as its own image, moving the other way so that it
//! rests at the wall. Seen from a particle, the velocity of that image grows with the
//! distance as in a uniform shear, so its viscous sum depends on the distance of the
//! wall alone and is integrated once; it adds to the diagonal of the equations and
//! costs their iterations nothing.

use super::cubic::{CubicSpline, for_lattice};

/// Samples between the wall and the support radius.
const SAMPLES: usize = 128;

/// Factor of the pair viscosity in three dimensions (Monaghan 2005): `2 (d + 2)`.
pub(super) const PAIR_VISCOSITY: f32 = 10.0;

/// Drag over kinematic viscosity and speed, in 1/m², at distances from 0 to h.
#[derive(Clone, Debug)]
pub(crate) struct Grip {
    /// Samples per metre.
    scale: f32,
    samples: Vec<f32>,
}

impl Grip {
    /// Integrates the drag. It is scaled so that a layer of a cubic lattice half a
    /// spacing from the wall, in uniform shear, is pulled by the wall as much as by
    /// the liquid on the other side.
    pub fn new(kernel: &CubicSpline, spacing: f32) -> Grip {
        let h = kernel.support_radius;
        let mut liquid = 0.0;
        for_lattice(h / spacing, |x, y, z| {
            if z > 0 {
                let r_squared = (x * x + y * y + z * z) as f32;
                let pull = -PAIR_VISCOSITY * kernel.volume_slope(spacing * spacing * r_squared);
                liquid += pull * spacing * (z * x * x) as f32 / r_squared;
            }
        });
        let scale = liquid / shear(kernel, 0.5 * spacing);
        let samples = (0..=SAMPLES).map(|k| {
            let d = k as f32 * h / SAMPLES as f32;
            scale * shear(kernel, d) / d.max(0.25 * spacing)
        });
        Grip {
            scale: SAMPLES as f32 / h,
            samples: samples.collect(),
        }
    }

    /// The drag at distance `d` from the wall; none beyond the support radius.
    #[inline]
    pub fn at(&self, d: f32) -> f32 {
        let place = (d * self.scale).max(0.0);
        let k = place as usize;
        if k >= SAMPLES {
            return 0.0;
        }
        self.samples[k] + (place - k as f32) * (self.samples[k + 1] - self.samples[k])
    }
}

/// Viscous sum over the space beyond a wall at distance `d` in uniform shear.
fn shear(kernel: &CubicSpline, d: f32) -> f32 {
    let h = kernel.support_radius;
    integrate(d, h, |z| {
        let edge = (h * h - z * z).max(0.0).sqrt();
        z * integrate(0.0, edge, |across| {
            let r_squared = across * across + z * z;
            // Half of the squared distance across lies along the shear.
            let along = 0.5 * across * across / r_squared.max(1e-12);
            -kernel.volume_slope(r_squared) * along * across
        })
    })
}

/// Midpoint rule, fine enough for piecewise polynomials.
fn integrate(from: f32, to: f32, f: impl Fn(f32) -> f32) -> f32 {
    const PARTS: usize = 48;
    if to <= from {
        return 0.0;
    }
    let step = (to - from) / PARTS as f32;
    let sum: f32 = (0..PARTS).map(|k| f(from + (k as f32 + 0.5) * step)).sum();
    step * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grip_fades_with_the_distance() {
        let spacing = 0.01;
        let kernel = CubicSpline::new(2.0 * spacing, spacing);
        let grip = Grip::new(&kernel, spacing);
        let mut last = f32::INFINITY;
        for k in 3..20 {
            let at = grip.at(0.1 * k as f32 * spacing);
            assert!(at < last && at > 0.0, "{k}");
            last = at;
        }
        assert_eq!(grip.at(2.0 * spacing), 0.0);
        // The order of magnitude of 1 / d² for a layer of thickness 2 d.
        let first = grip.at(0.5 * spacing) * spacing * spacing;
        assert!(first > 0.5 && first < 4.0, "{first}");
    }
}
