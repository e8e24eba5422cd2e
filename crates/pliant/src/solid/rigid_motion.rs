//! The motion of a set of points as if it were one rigid piece.

use glam::{DMat3, DVec3, Vec3};

/// Velocities, or ways, of the points of a rigid piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigidMotion {
    center: DVec3,
    mean: DVec3,
    turn: DVec3,
}

impl RigidMotion {
    /// The motion that fits those of points best, given as (weight, place, motion): it has
    /// their momentum and angular momentum, and no more energy than they have.
    pub fn fit(points: impl Iterator<Item = (f64, Vec3, Vec3)> + Clone) -> RigidMotion {
        let points = points.map(|(w, x, v)| (w, x.as_dvec3(), v.as_dvec3()));
        let total: f64 = points.clone().map(|(w, ..)| w).sum();
        let share = 1.0 / total.max(f64::MIN_POSITIVE);
        let center = share * points.clone().map(|(w, x, _)| w * x).sum::<DVec3>();
        let mean = share * points.clone().map(|(w, _, v)| w * v).sum::<DVec3>();
        let (mut spin, mut inertia, mut size) = (DVec3::ZERO, DMat3::ZERO, 0.0);
        for (w, x, v) in points {
            let r = x - center;
            spin += w * r.cross(v - mean);
            let across = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
            inertia += w * (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - across);
            size += w * r.length_squared();
        }
        // Two points alone do not turn about the line between them.
        inertia += DMat3::from_diagonal(DVec3::splat(1e-9 * size));
        let turn = inertia.inverse() * spin;
        RigidMotion {
            center,
            mean,
            turn: if turn.is_finite() { turn } else { DVec3::ZERO },
        }
    }

    /// The motion of the piece at a place.
    pub fn at(&self, place: Vec3) -> Vec3 {
        let r = place.as_dvec3() - self.center;
        (self.mean + self.turn.cross(r)).as_vec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rigid_motion_is_found_and_a_stretch_is_none() {
        let places = [
            Vec3::X,
            Vec3::Y,
            Vec3::Z,
            Vec3::ONE,
            Vec3::new(-1.0, 2.0, 0.5),
        ];
        let (shift, turn) = (Vec3::new(1.0, -2.0, 0.3), Vec3::new(0.4, 2.0, -1.0));
        let rigid = places.map(|p| (1.0 + f64::from(p.x).abs(), p, shift + turn.cross(p)));
        let found = RigidMotion::fit(rigid.into_iter());
        for (_, p, v) in rigid {
            assert!((found.at(p) - v).length() < 1e-5);
        }
        let line = [-1.0, 1.0].map(|x| (1.0, x * Vec3::X, x * Vec3::X));
        let found = RigidMotion::fit(line.into_iter());
        assert!(found.at(Vec3::ONE).length() < 1e-6);
        let nothing = RigidMotion::fit(std::iter::empty());
        assert_eq!(nothing.at(Vec3::ONE), Vec3::ZERO);
    }
}
