//! Corotational linear elasticity (Müller & Gross 2004): Hooke's law for the strain
//! `Rᵀ F - I`, where R is the rotation nearest to the deformation gradient F.

use glam::{Mat3A, Quat, Vec3A};

use super::element::{norm_squared, outer, trace};
use super::settings::Plasticity;

/// Most rounds of the search for the rotation; two or three are usual.
const ROUNDS: usize = 40;
/// An angle below this is none.
const STILL: f32 = 1e-6;
/// Below this angle the tangent of its half is as good as the half.
const SMALL: f32 = 0.1;

/// Lamé's constants in Pa.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corotational {
    pub lambda: f32,
    pub mu: f32,
}

/// The rotation R nearest to `f`, never a reflection, so that inverted elements turn
/// back. Starts from a guess as Müller et al. 2016 do, but takes Newton steps for
/// the maximum of tr(Rᵀ F) where its curvature allows.
pub(super) fn rotation(f: Mat3A, guess: Quat) -> Quat {
    let mut q = guess;
    for _ in 0..ROUNDS {
        let r = Mat3A::from_quat(q);
        let turn = r.x_axis.cross(f.x_axis) + r.y_axis.cross(f.y_axis) + r.z_axis.cross(f.z_axis);
        let sum = r.x_axis.dot(f.x_axis) + r.y_axis.dot(f.y_axis) + r.z_axis.dot(f.z_axis);
        // Near the maximum the step is about turn / (2/3 tr): too small to matter.
        if turn.length() <= STILL * sum {
            break;
        }
        let m = f * r.transpose();
        // The curvature tr(M) I - sym(M).
        let h = Mat3A::from_diagonal(glam::Vec3::splat(sum)) - (m + m.transpose()) * 0.5;
        let minor = h.x_axis.x * h.y_axis.y - h.x_axis.y * h.x_axis.y;
        let scale = norm_squared(h).sqrt();
        let determinant = h.determinant();
        let curved = h.x_axis.x > 0.0
            && minor > 0.0
            && determinant > 1e-4 * scale * scale * scale
            && scale > 0.0;
        let step = if curved {
            h.inverse() * turn
        } else {
            turn / (sum.abs() + 1e-9)
        };
        let angle = step.length();
        if angle.is_nan() || angle <= STILL {
            break;
        }
        // More than a radian at once would overshoot.
        let step = step * (1.0 / angle).min(1.0);
        let turn = if angle < SMALL {
            let half = 0.5 * step;
            Quat::from_xyzw(half.x, half.y, half.z, 1.0)
        } else {
            Quat::from_scaled_axis(step.into())
        };
        q = (turn * q).normalize();
    }
    q
}

impl Corotational {
    /// First Piola-Kirchhoff stress in Pa for the elastic strain in the turned frame.
    #[inline]
    pub fn stress(&self, r: Mat3A, strain: Mat3A) -> Mat3A {
        let spread = Mat3A::from_diagonal(glam::Vec3::splat(self.lambda * trace(strain)));
        r * (strain * (2.0 * self.mu) + spread)
    }

    /// Energy per volume in J/m³.
    pub fn energy(&self, strain: Mat3A) -> f32 {
        let t = trace(strain);
        self.mu * norm_squared(strain) + 0.5 * self.lambda * t * t
    }

    /// The stiffness between two corners per volume, with the rotation held: `c` are
    /// the turned gradients of the shape functions.
    #[inline]
    pub fn block(&self, ci: Vec3A, cj: Vec3A) -> Mat3A {
        let even = Mat3A::from_diagonal(glam::Vec3::splat(self.mu * ci.dot(cj)));
        outer(ci * self.lambda, cj) + outer(cj * self.mu, ci) + even
    }
}

/// The symmetric strain `Rᵀ F - I`, from the displacement gradient `F - I`. The
/// symmetric part of `R - I` is `2 (v ⊗ v - v² I)` with the vector part v of the
/// rotation: nothing is lost by subtracting numbers near 1.
#[inline]
pub(super) fn strain(q: Quat, r: Mat3A, gradient: Mat3A) -> Mat3A {
    let s = r.transpose() * gradient;
    let v = Vec3A::from(q.xyz());
    let turned = outer(v, v) - Mat3A::from_diagonal(glam::Vec3::splat(v.length_squared()));
    (s + s.transpose()) * 0.5 + turned * 2.0
}

impl Plasticity {
    /// Lets part of the elastic strain become plastic (Müller & Gross 2004, 3.3).
    pub(super) fn flow(&self, plastic: &mut Mat3A, strain: Mat3A, dt: f32) {
        let elastic = strain - *plastic;
        if norm_squared(elastic) > self.yield_strain * self.yield_strain {
            *plastic += elastic * (self.creep * dt).min(1.0);
        }
        let size = norm_squared(*plastic).sqrt();
        if size > self.limit {
            *plastic *= self.limit / size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn the_rotation_of_a_turned_stretch_is_found_from_any_guess() {
        for (i, guess) in [
            Quat::IDENTITY,
            Quat::from_rotation_x(2.0),
            Quat::from_rotation_z(-3.0),
        ]
        .into_iter()
        .enumerate()
        {
            let truth = Quat::from_scaled_axis(Vec3::new(0.3, -1.2, 0.7 + i as f32));
            let stretch = Mat3A::from_cols(
                Vec3A::new(1.3, 0.1, 0.0),
                Vec3A::new(0.1, 0.7, 0.05),
                Vec3A::new(0.0, 0.05, 1.0),
            );
            let found = rotation(Mat3A::from_quat(truth) * stretch, guess);
            assert!(found.dot(truth).abs() > 1.0 - 1e-5, "{found} {truth}");
        }
    }

    #[test]
    fn a_mirrored_element_still_has_a_rotation() {
        let f = Mat3A::from_diagonal(Vec3::new(1.0, 0.8, -0.3));
        let r = Mat3A::from_quat(rotation(f, Quat::from_rotation_y(0.4)));
        assert!((r.determinant() - 1.0).abs() < 1e-5);
        // The smallest stretch takes the sign.
        assert!(norm_squared(r - Mat3A::IDENTITY) < 1e-6, "{r}");
    }

    #[test]
    fn a_flattened_element_does_not_fail() {
        for f in [Mat3A::ZERO, Mat3A::from_diagonal(Vec3::new(1.0, 0.0, 0.0))] {
            assert!(rotation(f, Quat::IDENTITY).is_finite());
        }
    }

    #[test]
    fn plastic_strain_stops_at_its_limit() {
        let law = Plasticity {
            yield_strain: 0.01,
            creep: 10.0,
            limit: 0.05,
        };
        let strain = Mat3A::from_diagonal(Vec3::new(0.2, 0.0, 0.0));
        let mut plastic = Mat3A::ZERO;
        for _ in 0..1000 {
            law.flow(&mut plastic, strain, 0.01);
        }
        assert!((norm_squared(plastic).sqrt() - 0.05).abs() < 1e-6);
        let small = Mat3A::from_diagonal(Vec3::new(0.005, 0.0, 0.0));
        let mut plastic = Mat3A::ZERO;
        law.flow(&mut plastic, small, 0.01);
        assert_eq!(plastic, Mat3A::ZERO);
    }
}
