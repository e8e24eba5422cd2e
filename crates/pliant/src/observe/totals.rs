//! Sums over all points: mass, energies, momentum.

use glam::{DVec3, Vec3};

use super::chunks::in_chunks;
use crate::world::PointsView;

/// Conserved quantities of a set of points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Mass in kg.
    pub mass: f64,
    /// Kinetic energy in J.
    pub kinetic: f64,
    /// Potential energy in the uniform gravity, in J, zero at the origin.
    pub potential: f64,
    /// Linear momentum in kg m/s.
    pub momentum: DVec3,
    /// Angular momentum about the origin in kg m²/s.
    pub angular_momentum: DVec3,
    /// Mass times position, in kg m.
    pub moment: DVec3,
    /// Largest speed in m/s.
    pub max_speed: f32,
}

impl Totals {
    /// Sums over the points of one matter.
    pub fn of(points: &PointsView<'_>, gravity: Vec3) -> Totals {
        let parts = in_chunks(points.position.len(), |range| {
            let mut sum = Totals::default();
            for i in range {
                sum.include(points, i, gravity);
            }
            sum
        });
        parts.iter().fold(Totals::default(), |a, b| a.plus(b))
    }

    fn include(&mut self, points: &PointsView<'_>, i: usize, gravity: Vec3) {
        let inverse_mass = points.inverse_mass.get(i);
        if inverse_mass <= 0.0 {
            return;
        }
        let mass = 1.0 / f64::from(inverse_mass);
        let x = points.position.get(i).as_dvec3();
        let v = points.velocity.get(i);
        let p = mass * v.as_dvec3();
        self.mass += mass;
        self.kinetic += 0.5 * p.dot(v.as_dvec3());
        self.potential -= mass * gravity.as_dvec3().dot(x);
        self.momentum += p;
        self.angular_momentum += x.cross(p);
        self.moment += mass * x;
        self.max_speed = self.max_speed.max(v.length());
    }

    /// The sum of both.
    pub fn plus(&self, other: &Totals) -> Totals {
        Totals {
            mass: self.mass + other.mass,
            kinetic: self.kinetic + other.kinetic,
            potential: self.potential + other.potential,
            momentum: self.momentum + other.momentum,
            angular_momentum: self.angular_momentum + other.angular_momentum,
            moment: self.moment + other.moment,
            max_speed: self.max_speed.max(other.max_speed),
        }
    }

    /// Centre of mass in metres.
    pub fn center_of_mass(&self) -> DVec3 {
        if self.mass > 0.0 {
            self.moment / self.mass
        } else {
            DVec3::ZERO
        }
    }
}
