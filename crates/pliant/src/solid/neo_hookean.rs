//! Stable neo-Hookean elasticity (Smith, de Goes & Kim 2018, eq. 14):
//! `Ψ = μ/2 (I_C - 3) + λ/2 (J - α)² - μ/2 ln(I_C + 1)`. Finite for any deformation,
//! so elements that are flat or inside out still push back.

use glam::{Mat3A, Vec3A};

use super::element::{cofactor, cross_matrix, norm_squared, outer};

/// Constants of the law in Pa.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeoHookean {
    lambda: f32,
    mu: f32,
    alpha: f32,
}

/// What the stiffness of one element needs besides F.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NeoHookeanTangent {
    /// Factor of the identity.
    even: f32,
    /// Factor of F ⊗ F.
    along: f32,
    /// Factor of the second derivative of J.
    twist: f32,
}

impl NeoHookean {
    /// The law that agrees with Hooke's for small strains (Smith et al. 2018,
    /// section 3.4).
    pub fn new(lambda: f32, mu: f32) -> NeoHookean {
        let (lambda, mu) = (lambda + 5.0 / 6.0 * mu, 4.0 / 3.0 * mu);
        NeoHookean {
            lambda,
            mu,
            alpha: 1.0 + 0.75 * mu / lambda,
        }
    }

    /// First Piola-Kirchhoff stress in Pa.
    #[inline]
    pub fn stress(&self, f: Mat3A) -> Mat3A {
        let even = self.mu * (1.0 - 1.0 / (norm_squared(f) + 1.0));
        f * even + cofactor(f) * (self.lambda * (f.determinant() - self.alpha))
    }

    /// Energy per volume in J/m³, 0 at rest.
    pub fn energy(&self, f: Mat3A) -> f64 {
        let [lambda, mu, alpha] = [self.lambda, self.mu, self.alpha].map(f64::from);
        let of = |i: f64, j: f64| {
            0.5 * mu * (i - 3.0) + 0.5 * lambda * (j - alpha).powi(2) - 0.5 * mu * (i + 1.0).ln()
        };
        let columns = [f.x_axis, f.y_axis, f.z_axis].map(|c| glam::Vec3::from(c).as_dvec3());
        let i: f64 = columns.iter().map(|c| c.length_squared()).sum();
        let j = columns[0].dot(columns[1].cross(columns[2]));
        of(i, j) - of(3.0, 1.0)
    }

    /// The second derivative of the energy. The term that can make it indefinite is
    /// limited to what the first one outweighs, so that the solver finds a descent.
    pub fn tangent(&self, f: Mat3A) -> NeoHookeanTangent {
        let g = 1.0 / (norm_squared(f) + 1.0);
        let even = self.mu * (1.0 - g);
        let most = even / largest_stretch(f).max(1e-6);
        let twist = self.lambda * (f.determinant() - self.alpha);
        NeoHookeanTangent {
            even,
            along: 2.0 * self.mu * g * g,
            twist: twist.clamp(-most, most),
        }
    }

    /// The stiffness between two corners per volume: `b` are the gradients of the
    /// shape functions, `f` the deformation gradient and `g` its cofactors.
    #[inline]
    pub fn block(
        &self,
        tangent: &NeoHookeanTangent,
        f: Mat3A,
        g: Mat3A,
        bi: Vec3A,
        bj: Vec3A,
    ) -> Mat3A {
        let even = Mat3A::from_diagonal(glam::Vec3::splat(tangent.even * bi.dot(bj)));
        outer(f * bi * tangent.along, f * bj) + outer(g * bi * self.lambda, g * bj) + even
            - cross_matrix(f * bi.cross(bj) * tangent.twist)
    }
}

/// The largest singular value: the root of the largest eigenvalue of Fᵀ F, in closed
/// form (Smith 1961).
fn largest_stretch(f: Mat3A) -> f32 {
    let c = f.transpose() * f;
    let mean = norm_squared(f) / 3.0;
    let d = c - Mat3A::from_diagonal(glam::Vec3::splat(mean));
    let spread = (norm_squared(d) / 6.0).sqrt();
    if spread <= 1e-7 * mean {
        return mean.sqrt();
    }
    let half = 0.5 * (d * (1.0 / spread)).determinant();
    let angle = half.clamp(-1.0, 1.0).acos() / 3.0;
    (mean + 2.0 * spread * angle.cos()).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn rest_has_no_stress_and_the_largest_stretch_is_found() {
        let law = NeoHookean::new(3e5, 1e5);
        assert!(norm_squared(law.stress(Mat3A::IDENTITY)).sqrt() < 0.1);
        assert!(law.energy(Mat3A::IDENTITY).abs() < 1e-6);
        let turn = Mat3A::from_quat(glam::Quat::from_scaled_axis(Vec3::new(1.0, 2.0, 0.5)));
        for stretch in [
            Vec3::new(1.0, 1.0, 1.0),
            Vec3::new(0.2, 3.0, -1.5),
            Vec3::ZERO,
        ] {
            let f = turn * Mat3A::from_diagonal(stretch) * turn.transpose();
            let largest = stretch.abs().max_element();
            assert!((largest_stretch(f) - largest).abs() < 1e-4 * largest.max(1.0));
        }
    }

    #[test]
    fn stress_is_the_gradient_of_the_energy_even_inside_out() {
        let law = NeoHookean::new(3e5, 1e5);
        for f in [
            Mat3A::from_cols(
                Vec3A::new(1.2, 0.1, 0.0),
                Vec3A::new(-0.2, 0.8, 0.3),
                Vec3A::new(0.1, 0.0, 1.1),
            ),
            Mat3A::from_diagonal(Vec3::new(1.0, -0.4, 0.7)),
        ] {
            let p = law.stress(f);
            for column in 0..3 {
                for row in 0..3 {
                    let mut nudge = [Vec3A::ZERO; 3];
                    nudge[column][row] = 1e-3;
                    let nudge = Mat3A::from_cols(nudge[0], nudge[1], nudge[2]);
                    let slope = (law.energy(f + nudge) - law.energy(f - nudge)) / 2e-3;
                    let ours = f64::from(p.col(column)[row]);
                    assert!((slope - ours).abs() < 2e-3 * 3e5, "{slope} {ours}");
                }
            }
        }
    }
}
