//! What can be measured of a body as a whole: energies, volume, internal forces.

use glam::Vec3;

use super::settings::SolidModel;
use super::state::{Body, Solid};

/// Energies of a body in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolidEnergy {
    /// Of motion.
    pub kinetic: f64,
    /// Of stretched edges (springs).
    pub distance: f64,
    /// Of changed volumes (springs).
    pub volume: f64,
    /// Of strain (finite elements).
    pub elastic: f64,
}

impl SolidEnergy {
    /// All of them.
    pub fn total(&self) -> f64 {
        self.kinetic + self.distance + self.volume + self.elastic
    }
}

impl Solid {
    /// Kinetic and elastic energies.
    pub fn energy(&self) -> SolidEnergy {
        let pairs = self.mass.iter().zip(&self.velocity).zip(&self.inverse_mass);
        let kinetic = pairs
            .filter(|(_, w)| **w > 0.0)
            .map(|((&m, v), _)| 0.5 * f64::from(m) * Vec3::from(*v).as_dvec3().length_squared())
            .sum();
        let mut energy = SolidEnergy {
            kinetic,
            ..SolidEnergy::default()
        };
        match &self.body {
            Body::Springs(body) => {
                [energy.distance, energy.volume] = body.energies(&self.mesh, &self.displacement);
            }
            Body::Elastic(body) => {
                energy.elastic = body.energy(&self.mesh.tets, &self.displacement)
            }
            Body::Matched(_) => {}
        }
        energy
    }

    /// Present volume in m³; inverted elements count against it.
    pub fn volume(&self) -> f64 {
        self.shape().volume()
    }

    /// Number of elements that are inside out.
    pub fn inverted(&self) -> usize {
        self.volume_ratios().iter().filter(|v| **v < 0.0).count()
    }

    /// Present over rest volume of every element.
    pub fn volume_ratios(&self) -> Vec<f32> {
        let shape = self.shape();
        (0..shape.tets.len())
            .map(|t| (shape.volume_of(t) / self.mesh.volume_of(t)) as f32)
            .collect()
    }

    /// Mean over the elements around each point.
    pub(super) fn to_points(&self, per_element: &[f32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.len()];
        let mut count = vec![0.0f32; self.len()];
        for (tet, &value) in self.mesh.tets.iter().zip(per_element) {
            for &v in tet {
                sum[v as usize] += value;
                count[v as usize] += 1.0;
            }
        }
        sum.iter().zip(count).map(|(s, n)| s / n.max(1.0)).collect()
    }

    /// Internal forces on all points at the present state in N, without gravity; shape
    /// matching has none.
    pub fn internal_forces(&mut self) -> Vec<Vec3> {
        match &mut self.body {
            Body::Springs(body) => {
                body.compute(&self.displacement, &self.velocity);
                (0..self.displacement.len())
                    .map(|i| body.force_on(i).into())
                    .collect()
            }
            Body::Elastic(body) => {
                body.compute_forces(&self.mesh.tets, &self.displacement);
                body.force.iter().map(|f| (*f).into()).collect()
            }
            Body::Matched(_) => vec![Vec3::ZERO; self.displacement.len()],
        }
    }

    /// Inverse masses before and after truncation in 1/kg, for histograms.
    pub fn inverse_mass_histogram_values(&self) -> [Vec<f64>; 2] {
        let mut free = self.settings.clone();
        free.max_inverse_mass = None;
        let exact = super::mass::inverse_masses(&self.mesh, &free).0;
        let truncated = self.mass.iter().map(|m| 1.0 / f64::from(*m)).collect();
        [exact.into_iter().map(f64::from).collect(), truncated]
    }

    /// True if it is made of springs.
    pub fn is_springs(&self) -> bool {
        matches!(self.settings.model, SolidModel::Springs(_))
    }
}
