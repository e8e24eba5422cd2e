//! The cubic spline kernel (Monaghan 1992), which the incompressible solver uses.

use std::f32::consts::PI;

use crate::simd::Lanes;

/// The cubic spline of support radius `h`, scaled so that sums over a cubic lattice
/// of particles give exactly 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CubicSpline {
    /// Support radius in metres.
    pub support_radius: f32,
    /// Particle volume × 8 / (π h³): `V W(0)`.
    pub value: f32,
    /// `value / h²`, the factor of the slope.
    pub slope: f32,
}

impl CubicSpline {
    /// The kernel for particles `spacing` apart.
    pub fn new(support_radius: f32, spacing: f32) -> CubicSpline {
        let h = support_radius;
        let unit = 8.0 / (PI * h * h * h);
        let mut kernel = CubicSpline {
            support_radius,
            value: unit,
            slope: unit / (h * h),
        };
        let mut sum = 0.0f64;
        for_lattice(h / spacing, |x, y, z| {
            let r_squared = spacing * spacing * (x * x + y * y + z * z) as f32;
            sum += f64::from(kernel.volume_value(r_squared));
        });
        let volume = (1.0 / sum) as f32;
        kernel.value *= volume;
        kernel.slope *= volume;
        kernel
    }

    /// `V W(r)`, a particle's share of the space at distance r; no unit.
    #[inline]
    pub fn volume_value(&self, r_squared: f32) -> f32 {
        let q = r_squared.sqrt() / self.support_radius;
        let (outer, inner) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
        self.value * (2.0 * outer * outer * outer - 8.0 * inner * inner * inner)
    }

    /// `V W''(r)` in 1/m², where it is positive: how fast the slope falls off.
    pub fn volume_stiffness(&self, r_squared: f32) -> f32 {
        let q = r_squared.sqrt() / self.support_radius;
        let (outer, inner) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
        self.slope * (12.0 * outer - 48.0 * inner).max(0.0)
    }

    /// The same at eight distances.
    #[inline(always)]
    pub fn volume_stiffnesses<L: Lanes>(&self, l: L, r_squared: L::F) -> L::F {
        let zero = l.splat(0.0);
        let q = l.div(l.sqrt(r_squared), l.splat(self.support_radius));
        let outer = l.max(l.sub(l.splat(1.0), q), zero);
        let inner = l.max(l.sub(l.splat(0.5), q), zero);
        let steep = l.sub(l.mul(l.splat(12.0), outer), l.mul(l.splat(48.0), inner));
        l.mul(l.splat(self.slope), l.max(steep, zero))
    }

    /// [`CubicSpline::volume_value`], and `V W'(r) / r` in 1/m²: times the vector from j
    /// to i, the gradient. Negative.
    #[cfg(test)]
    pub fn volume_value_and_slope(&self, r_squared: f32) -> (f32, f32) {
        let q = (r_squared.sqrt() / self.support_radius).max(1e-6);
        let (outer, inner) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
        let (outer2, inner2) = (outer * outer, inner * inner);
        (
            self.value * (2.0 * outer2 * outer - 8.0 * inner2 * inner),
            self.slope * (24.0 * inner2 - 6.0 * outer2) / q,
        )
    }

    /// `V W(r)`, and `V W'(r) / r` in 1/m², at eight distances: the latter times the vector
    /// from j to i is the gradient. Negative.
    #[inline(always)]
    pub fn volume_values_and_slopes<L: Lanes>(&self, l: L, r_squared: L::F) -> (L::F, L::F) {
        let zero = l.splat(0.0);
        let q = l.div(l.sqrt(r_squared), l.splat(self.support_radius));
        let q = l.max(q, l.splat(1e-6));
        let outer = l.max(l.sub(l.splat(1.0), q), zero);
        let inner = l.max(l.sub(l.splat(0.5), q), zero);
        let (outer2, inner2) = (l.mul(outer, outer), l.mul(inner, inner));
        let far = l.mul(l.mul(l.splat(2.0), outer2), outer);
        let near = l.mul(l.mul(l.splat(8.0), inner2), inner);
        let steep = l.sub(l.mul(l.splat(24.0), inner2), l.mul(l.splat(6.0), outer2));
        (
            l.mul(l.splat(self.value), l.sub(far, near)),
            l.div(l.mul(l.splat(self.slope), steep), q),
        )
    }
}

/// Visits the points of a cubic lattice within `reach` of the origin, and a few more.
pub(crate) fn for_lattice(reach: f32, mut visit: impl FnMut(i32, i32, i32)) {
    let n = reach.ceil() as i32;
    for x in -n..=n {
        for y in -n..=n {
            for z in -n..=n {
                visit(x, y, z);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    #[test]
    fn eight_stiffnesses_are_those_of_single_distances() {
        let kernel = CubicSpline::new(0.04, 0.02);
        let distances = [0.0, 0.003, 0.0099, 0.0101, 0.02, 0.033, 0.0399, 0.05];
        let squared = distances.map(|r: f32| r * r);
        let l = Portable;
        let eight = l.to_array(kernel.volume_stiffnesses(l, l.numbers(&squared)));
        assert_eq!(eight, squared.map(|r| kernel.volume_stiffness(r)));
        assert!(eight[1] == 0.0 && eight[4] > 0.0 && eight[7] == 0.0);
    }

    #[test]
    fn eight_values_and_slopes_are_those_of_single_distances() {
        let kernel = CubicSpline::new(0.04, 0.02);
        // A wall behind a particle shortens distances, even below zero.
        let squared = [0.0f32, 9e-6, 1e-4, 4e-4, 1e-3, 1.5e-3, 2e-3, -1e-5];
        let l = Portable;
        let (values, slopes) = kernel.volume_values_and_slopes(l, l.numbers(&squared));
        let single = squared.map(|r| kernel.volume_value_and_slope(r));
        assert_eq!(l.to_array(values), single.map(|s| s.0));
        assert_eq!(l.to_array(slopes), single.map(|s| s.1));
    }

    #[test]
    fn lattice_sums_are_exact_and_the_slope_is_the_derivative() {
        let kernel = CubicSpline::new(0.04, 0.02);
        let mut sum = 0.0;
        for_lattice(2.0, |x, y, z| {
            sum += kernel.volume_value(4e-4 * (x * x + y * y + z * z) as f32);
        });
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        for r in [0.003f32, 0.011, 0.021, 0.033, 0.0399] {
            let e = 1e-5;
            let difference =
                kernel.volume_value((r + e).powi(2)) - kernel.volume_value((r - e).powi(2));
            let slope = r * kernel.volume_value_and_slope(r * r).1;
            assert!(
                (difference / (2.0 * e) - slope).abs() < 0.02 * slope.abs() + 1e-3,
                "{r}"
            );
        }
        assert_eq!(kernel.volume_value(0.0016), 0.0);
    }
}
