//! The tissue inside a lung keeps its shape.
//!
//! A foam resists shear as well as growth. The surface is compared with the shape at the
//! start, moved, turned and scaled as a whole to fit best; every point is drawn to its place
//! there. Force and torque of that are zero, and breaths that only scale the lung are free.

use glam::{DMat3, DVec3, Vec3, Vec3A};

use super::lung::CM_H2O;
use super::state::Soft;

/// Iterations for the rotation; each squares the error.
const ITERATIONS: usize = 8;

/// The shape at the start where it fits the present one best.
struct Fit {
    /// Centre of mass at the start, and now.
    from: DVec3,
    to: DVec3,
    /// Rotation and scale.
    turn: DMat3,
}

impl Fit {
    fn of(start: &[Vec3], now: &[Vec3A], mass: &[f32]) -> Fit {
        let wide = |p: &Vec3A| Vec3::from(*p).as_dvec3();
        let (mut from, mut to, mut all) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for ((a, b), &m) in start.iter().zip(now).zip(mass) {
            let m = f64::from(m);
            from += m * a.as_dvec3();
            to += m * wide(b);
            all += m;
        }
        (from, to) = (from / all, to / all);
        let (mut spread, mut squares) = (DMat3::ZERO, 0.0);
        for ((a, b), &m) in start.iter().zip(now).zip(mass) {
            let (m, q) = (f64::from(m), a.as_dvec3() - from);
            let p = m * (wide(b) - to);
            spread += DMat3::from_cols(q.x * p, q.y * p, q.z * p);
            squares += m * q.length_squared();
        }
        let turn = rotation(spread);
        // The scale with the least squares: the sum of p · R q over that of q².
        let along = (0..3).map(|k| turn.col(k).dot(spread.col(k))).sum::<f64>();
        Fit {
            from,
            to,
            turn: turn * (along / squares),
        }
    }

    fn place(&self, start: Vec3) -> Vec3A {
        let place = self.to + self.turn * (start.as_dvec3() - self.from);
        place.as_vec3().into()
    }
}

/// The rotation nearest to a matrix that is not flat (Higham 1986).
fn rotation(matrix: DMat3) -> DMat3 {
    let mut r = matrix * (1.0 / matrix.determinant().abs().cbrt().max(f64::MIN_POSITIVE));
    for _ in 0..ITERATIONS {
        r = 0.5 * (r + r.inverse().transpose());
    }
    if r.is_finite() { r } else { DMat3::IDENTITY }
}

impl Soft {
    /// Draws the points of a lung to their places in the shape of the start: adds to the
    /// changes of their velocities in a sub-step of `h` seconds.
    pub(super) fn keep_shape(&mut self, h: f32) {
        let Some(lung) = &self.settings.volume.lung else {
            return;
        };
        let alpha = self.settings.controls.alpha;
        let strength = alpha * lung.condition.stiffness() / lung.balanced_at;
        // The modulus over the size is what a patch feels per area and displacement.
        let size = 0.5 * (self.rest_volume as f32).cbrt();
        let per_area = strength * CM_H2O * lung.shear / size;
        let mass: f32 = self.topology.mass.iter().sum();
        let rate = per_area * self.rest_area / mass;
        // However stiff, a sub-step does not overshoot.
        let share = h * rate / (1.0 + h * h * rate);
        let fit = Fit::of(&self.start, &self.position, &self.topology.mass);
        for (i, change) in self.change.iter_mut().enumerate() {
            if self.inverse_mass[i] > 0.0 {
                *change += share * (fit.place(self.start[i]) - self.position[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    #[test]
    fn a_shape_that_moved_turned_and_grew_is_found_again() {
        let start: Vec<Vec3> = (0..40)
            .map(|k| {
                let a = k as f32;
                Vec3::new(a.sin(), 1.7 * (2.3 * a).cos(), 0.6 * (1.1 * a).sin() + 0.2)
            })
            .collect();
        let turn = DMat3::from_quat(DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.2));
        let moved = |p: &Vec3| {
            let p = 1.3 * (turn * p.as_dvec3()) + DVec3::new(1.0, -2.0, 0.5);
            Vec3A::from(p.as_vec3())
        };
        let now: Vec<Vec3A> = start.iter().map(moved).collect();
        let mass: Vec<f32> = (0..40).map(|k| 1.0 + 0.1 * k as f32).collect();
        let fit = Fit::of(&start, &now, &mass);
        for (a, b) in start.iter().zip(&now) {
            assert!(fit.place(*a).distance(*b) < 1e-5);
        }
        // Pulled out of shape: no force and no torque in all.
        let bent: Vec<Vec3A> = now
            .iter()
            .map(|p| *p + 0.2 * Vec3A::new(p.y * p.y, 0.0, p.x))
            .collect();
        let fit = Fit::of(&start, &bent, &mass);
        let (mut force, mut torque) = (Vec3A::ZERO, Vec3A::ZERO);
        for ((a, b), &m) in start.iter().zip(&bent).zip(&mass) {
            let pull = m * (fit.place(*a) - *b);
            force += pull;
            torque += b.cross(pull);
        }
        assert!(
            force.length() < 1e-3 && torque.length() < 1e-3,
            "{force} {torque}"
        );
    }
}
