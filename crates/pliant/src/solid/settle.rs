//! The shape of finite elements at rest under gravity and loads: Newton's method
//! with a line search on the energy.

use glam::{Vec3, Vec3A};
use thiserror::Error;

use super::conjugate_gradient::{Budget, Freedom, System, solve, solve_factored};
use super::state::{Body, Solid};

/// How exact a shape at rest must be, and what it may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleSettings {
    /// Error left in the energy norm, as a share. Forces are no measure: the rounding
    /// of small displacements makes stiff but harmless noise in them.
    pub tolerance: f64,
    /// Most rounds of Newton's method.
    pub rounds: u32,
    /// Most iterations of the linear solver per round.
    pub iterations: u32,
}

impl Default for SettleSettings {
    fn default() -> Self {
        SettleSettings {
            tolerance: 1e-3,
            rounds: 100,
            iterations: 3000,
        }
    }
}

/// How a search for the shape at rest went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleReport {
    /// Rounds of Newton's method.
    pub rounds: u32,
    /// Iterations of the linear solver in all rounds.
    pub iterations: u32,
    /// Error left in the energy norm, as a share.
    pub residual: f64,
}

/// Why no shape at rest was found.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SettleError {
    /// Springs have no stiffness matrix.
    #[error(
        "a body of springs cannot be settled; let it come to rest with damping, or use finite elements"
    )]
    Springs,
    /// Nothing holds the body.
    #[error("nothing holds the body; pin at least three points of it")]
    Loose,
    /// It did not come to rest.
    #[error(
        "after {rounds} rounds an error of {residual:.1e} is left; raise `rounds` or \
         `iterations`, or let the loads grow in steps"
    )]
    Unsettled {
        /// Rounds made.
        rounds: u32,
        /// Error left in the energy norm, as a share.
        residual: f64,
    },
}

impl Solid {
    /// Finds the shape in which the body rests under `gravity` (m/s²) and its loads,
    /// held by its pinned points, and leaves it there.
    pub fn settle(
        &mut self,
        gravity: Vec3,
        settings: &SettleSettings,
    ) -> Result<SettleReport, SettleError> {
        let Body::Elastic(body) = &mut self.body else {
            return Err(SettleError::Springs);
        };
        let n = self.displacement.len();
        if self.inverse_mass.iter().filter(|w| **w == 0.0).count() < 3 {
            return Err(SettleError::Loose);
        }
        let load: Vec<Vec3A> = (0..n)
            .map(|i| (self.load[i] + self.mass[i] * gravity).into())
            .collect();
        let freedom: Vec<Freedom> = self.inverse_mass.iter().map(|&w| Freedom::of(w)).collect();
        let nothing = vec![0.0; n];
        let mut report = SettleReport {
            rounds: 0,
            iterations: 0,
            residual: f64::INFINITY,
        };
        let tets = &self.mesh.tets;
        let mut trial = self.displacement.clone();
        while report.rounds < settings.rounds && report.residual > settings.tolerance {
            body.assemble(tets, &self.displacement, 0.0);
            let b: Vec<Vec3A> = body.force.iter().zip(&load).map(|(f, l)| *f + *l).collect();
            let system = System {
                stiffness: &body.stiffness,
                diagonal: &nothing,
                scale: 1.0,
                freedom: &freedom,
            };
            let mut step = vec![Vec3A::ZERO; n];
            let mut scratch = std::mem::take(&mut body.scratch);
            let budget = Budget {
                iterations: settings.iterations,
                tolerance: 1e-3,
                floor: 0.0,
            };
            if let Some(factor) = &mut body.factor {
                factor.factor(&system);
            }
            let outcome = match &mut body.factor {
                Some(factor) if factor.scale > 0.0 => {
                    solve_factored(&system, factor, &b, &mut step, budget, &mut scratch)
                }
                _ => solve(&system, &b, &mut step, budget, &mut scratch),
            };
            body.scratch = scratch;
            report.iterations += outcome.iterations;
            report.rounds += 1;
            // The energy falls along the step; far from rest the whole step may be too
            // long. The loads' share is taken from the step, not from two large sums.
            let before = body.energy(tets, &self.displacement);
            let work: f64 = load
                .iter()
                .zip(&step)
                .map(|(l, s)| f64::from(l.dot(*s)))
                .sum();
            let slope: f64 = b.iter().zip(&step).map(|(b, s)| f64::from(b.dot(*s))).sum();
            // b · K⁻¹ b is twice the energy that this round can still gain.
            let spent: f64 = load
                .iter()
                .zip(&self.displacement)
                .map(|(l, u)| f64::from(l.dot(*u)))
                .sum();
            let scale = (before + spent.abs()).max(slope).max(f64::MIN_POSITIVE);
            report.residual = (slope.max(0.0) / scale).sqrt();
            let mut share = 1.0f32;
            for _ in 0..12 {
                for i in 0..n {
                    trial[i] = self.displacement[i] + share * step[i];
                }
                let change = body.energy(tets, &trial) - before - f64::from(share) * work;
                if change <= -1e-4 * f64::from(share) * slope + 1e-6 * before.abs() {
                    break;
                }
                share *= 0.5;
            }
            std::mem::swap(&mut self.displacement, &mut trial);
        }
        // No step has these equations.
        body.worn = true;
        self.velocity.fill(Vec3A::ZERO);
        self.refresh_views();
        if report.residual <= settings.tolerance {
            Ok(report)
        } else {
            Err(SettleError::Unsettled {
                rounds: report.rounds,
                residual: report.residual,
            })
        }
    }
}
