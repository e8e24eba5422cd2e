//! The three smoothing kernels of Müller et al. 2003 as used by Grahn 2008
//! (3.20)-(3.25) and Mesit 2010 (2.21)-(2.27), with the signs corrected.
//!
//! All take the distance `r` and the support radius `h` in metres and vanish for
//! `r >= h`. Values are in 1/m³, gradients in 1/m⁴, Laplacians in 1/m⁵.

use std::f32::consts::PI;

/// Constants of the kernels for one support radius, computed once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernels {
    /// Support radius h.
    pub support_radius: f32,
    /// 315 / (64 π h⁹).
    pub poly6: f32,
    /// 945 / (32 π h⁹), for gradient and Laplacian of poly6.
    pub poly6_gradient: f32,
    /// 45 / (π h⁶), shared by the spiky gradient and the viscosity Laplacian.
    pub spiky_gradient: f32,
}

impl Kernels {
    /// The constants for support radius `h`.
    pub fn new(h: f32) -> Kernels {
        let h3 = f64::from(h).powi(3);
        let pi = f64::from(PI);
        Kernels {
            support_radius: h,
            poly6: (315.0 / (64.0 * pi * h3 * h3 * h3)) as f32,
            poly6_gradient: (945.0 / (32.0 * pi * h3 * h3 * h3)) as f32,
            spiky_gradient: (45.0 / (pi * h3 * h3)) as f32,
        }
    }

    /// Poly6 value, by squared distance: `315/(64πh⁹) (h² - r²)³`.
    #[inline]
    pub fn poly6(&self, r_squared: f32) -> f32 {
        let d = (self.support_radius * self.support_radius - r_squared).max(0.0);
        self.poly6 * d * d * d
    }

    /// Poly6 gradient divided by the vector from j to i:
    /// `-945/(32πh⁹) (h² - r²)²`.
    #[inline]
    pub fn poly6_gradient_factor(&self, r_squared: f32) -> f32 {
        let d = (self.support_radius * self.support_radius - r_squared).max(0.0);
        -self.poly6_gradient * d * d
    }

    /// Poly6 Laplacian: `-945/(32πh⁹) (h² - r²)(3h² - 7r²)`.
    #[inline]
    pub fn poly6_laplacian(&self, r_squared: f32) -> f32 {
        let h_squared = self.support_radius * self.support_radius;
        let d = (h_squared - r_squared).max(0.0);
        -self.poly6_gradient * d * (3.0 * h_squared - 7.0 * r_squared)
    }

    /// Spiky value: `15/(πh⁶) (h - r)³`.
    #[inline]
    pub fn spiky(&self, r: f32) -> f32 {
        let d = (self.support_radius - r).max(0.0);
        self.spiky_gradient / 3.0 * d * d * d
    }

    /// Slope of the spiky kernel along r: `-45/(πh⁶) (h - r)²`.
    #[inline]
    pub fn spiky_slope(&self, r: f32) -> f32 {
        let d = (self.support_radius - r).max(0.0);
        -self.spiky_gradient * d * d
    }

    /// Integral of the poly6 kernel over a plane at distance `x`, in 1/m:
    /// `315/(256 h) (1 - x²/h²)⁴`.
    #[inline]
    pub fn poly6_on_plane(&self, x: f32) -> f32 {
        let q = x / self.support_radius;
        let d = (1.0 - q * q).max(0.0);
        315.0 / (256.0 * self.support_radius) * (d * d) * (d * d)
    }

    /// Integral of the spiky kernel over a plane at distance `x`, in 1/m:
    /// `30/h (u⁴/4 - u⁵/5)` with `u = 1 - x/h`.
    #[inline]
    pub fn spiky_on_plane(&self, x: f32) -> f32 {
        let u = (1.0 - x / self.support_radius).max(0.0);
        let u2 = u * u;
        30.0 / self.support_radius * u2 * u2 * (0.25 - 0.2 * u)
    }

    /// How [`Kernels::spiky_on_plane`] falls with the distance, in 1/m²: `2π x W(x)`.
    #[inline]
    pub fn spiky_on_plane_slope(&self, x: f32) -> f32 {
        2.0 * PI * x * self.spiky(x)
    }

    /// How [`Kernels::poly6_on_plane`] falls with the distance, in 1/m²: `2π x W(x)`.
    #[inline]
    pub fn poly6_on_plane_slope(&self, x: f32) -> f32 {
        2.0 * PI * x * self.poly6(x * x)
    }

    /// Viscosity kernel: `15/(2πh³) (-r³/(2h³) + r²/h² + h/(2r) - 1)`.
    #[inline]
    pub fn viscosity(&self, r: f32) -> f32 {
        let h = self.support_radius;
        if r >= h {
            return 0.0;
        }
        let q = r / h;
        7.5 / (PI * h * h * h) * (-0.5 * q * q * q + q * q + 0.5 / q - 1.0)
    }

    /// Laplacian of the viscosity kernel: `45/(πh⁶) (h - r)`.
    #[inline]
    pub fn viscosity_laplacian(&self, r: f32) -> f32 {
        self.spiky_gradient * (self.support_radius - r).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ f(r) 4πr² dr over the ball, midpoint rule in f64.
    fn ball_integral(h: f32, f: impl Fn(f32) -> f32) -> f64 {
        let n = 20_000;
        let dr = f64::from(h) / f64::from(n);
        (0..n)
            .map(|i| {
                let r = (f64::from(i) + 0.5) * dr;
                f64::from(f(r as f32)) * 4.0 * std::f64::consts::PI * r * r * dr
            })
            .sum()
    }

    #[test]
    fn kernels_integrate_to_one() {
        for h in [0.01f32, 0.5, 3.0] {
            let k = Kernels::new(h);
            for integral in [
                ball_integral(h, |r| k.poly6(r * r)),
                ball_integral(h, |r| k.spiky(r)),
                ball_integral(h, |r| k.viscosity(r)),
            ] {
                assert!((integral - 1.0).abs() < 1e-4, "h {h}: {integral}");
            }
        }
    }

    #[test]
    fn derivatives_match_finite_differences() {
        let h = 0.7f32;
        let k = Kernels::new(h);
        let e = 1e-3f32;
        // In spherical symmetry the Laplacian is f'' + 2 f' / r.
        let laplacian = |f: &dyn Fn(f32) -> f32, r: f32| {
            (f(r + e) - 2.0 * f(r) + f(r - e)) / (e * e) + (f(r + e) - f(r - e)) / (e * r)
        };
        for r in [0.1f32, 0.2, 0.35, 0.5, 0.6] {
            let slope = (k.spiky(r + e) - k.spiky(r - e)) / (2.0 * e);
            assert!((slope / k.spiky_slope(r) - 1.0).abs() < 1e-2);
            let slope = (k.poly6((r + e).powi(2)) - k.poly6((r - e).powi(2))) / (2.0 * e);
            assert!((slope / (k.poly6_gradient_factor(r * r) * r) - 1.0).abs() < 1e-2);
            let l = laplacian(&|r| k.viscosity(r), r);
            assert!((l - k.viscosity_laplacian(r)).abs() < 0.05 * k.viscosity_laplacian(0.1));
            let l = laplacian(&|r| k.poly6(r * r), r);
            assert!((l - k.poly6_laplacian(r * r)).abs() < 0.02 * k.poly6_laplacian(0.0).abs());
        }
    }

    #[test]
    fn plane_integrals_match_quadrature() {
        let h = 0.3f32;
        let k = Kernels::new(h);
        // In rings of radius s around the foot of the perpendicular.
        let plane = |f: &dyn Fn(f32) -> f32, x: f64| -> f64 {
            let n = 20_000;
            let ds = f64::from(h) / f64::from(n);
            (0..n)
                .map(|i| {
                    let s = (f64::from(i) + 0.5) * ds;
                    let r = (x * x + s * s).sqrt();
                    f64::from(f(r as f32)) * 2.0 * std::f64::consts::PI * s * ds
                })
                .sum()
        };
        for q in [0.05f32, 0.1, 0.25, 0.5, 0.8, 0.99, 1.2] {
            let x = q * h;
            let value = plane(&|r| k.poly6(r * r), f64::from(x));
            let expected = f64::from(k.poly6_on_plane(x));
            assert!((value - expected).abs() < 1e-3 / f64::from(h), "{q}");
            let value = plane(&|r| k.spiky(r), f64::from(x));
            let expected = f64::from(k.spiky_on_plane(x));
            assert!((value - expected).abs() < 1e-3 / f64::from(h), "{q}");
            let e = 1e-3 * h;
            let falls = (k.spiky_on_plane(x - e) - k.spiky_on_plane(x + e)) / (2.0 * e);
            assert!((falls - k.spiky_on_plane_slope(x)).abs() < 1e-2 / (h * h), "{q}");
            let falls = (k.poly6_on_plane(x - e) - k.poly6_on_plane(x + e)) / (2.0 * e);
            assert!((falls - k.poly6_on_plane_slope(x)).abs() < 1e-2 / (h * h), "{q}");
        }
    }

    #[test]
    fn nothing_beyond_the_support() {
        let k = Kernels::new(0.1);
        for r in [0.1f32, 0.100_01, 1.0] {
            assert_eq!(k.poly6(r * r + 1e-9), 0.0);
            assert_eq!(k.spiky(r), 0.0);
            assert_eq!(k.spiky_slope(r), 0.0);
            assert_eq!(k.viscosity(r), 0.0);
            assert_eq!(k.viscosity_laplacian(r), 0.0);
        }
    }
}
