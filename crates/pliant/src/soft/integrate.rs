//! From forces to changes of velocity (Mesit 2010, 2.31-2.34 and 3.62-3.74).

use glam::Vec3A;

use super::parallel::{fill, sum};
use super::rows::{Rows, Tension};
use super::settings::SoftIntegrator;
use super::topology::Topology;

/// Most iterations of conjugate gradients.
const ITERATIONS: usize = 60;
/// The solver ends when the residual is this share of the right-hand side.
const TOLERANCE: f64 = 1e-4;

/// What a change of velocity follows from.
pub(super) struct Impulse<'a> {
    pub topology: &'a Topology,
    pub position: &'a [Vec3A],
    pub velocity: &'a [Vec3A],
    pub inverse_mass: &'a [f32],
    /// Sum of the stiffness of the springs of each point, without α.
    pub stiffness: &'a [f32],
    pub alpha: f32,
    /// Springs are stiff along their direction, and across it only as far as they are
    /// stretched; otherwise all ways alike, as in Mesit 2010.
    pub directed: bool,
    pub rows: &'a Rows,
    /// In N.
    pub force: &'a [Vec3A],
    pub h: f32,
}

/// Vectors that are kept from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    estimate: Vec<Vec3A>,
    residual: Vec<Vec3A>,
    direction: Vec<Vec3A>,
    image: Vec<Vec3A>,
}

impl Impulse<'_> {
    fn mass(&self, i: usize) -> f32 {
        self.topology.mass[i]
    }

    /// `m + h² k n`.
    #[inline]
    fn diagonal(&self, i: usize, scale: f32) -> f32 {
        self.mass(i) + scale * self.stiffness[i]
    }

    /// Writes the change of velocity of every point; `change` still holds the last one.
    pub fn solve(
        &self,
        how: SoftIntegrator,
        tension: &Tension,
        change: &mut [Vec3A],
        scratch: &mut Scratch,
    ) {
        let h = self.h;
        let implicit = h * h * self.alpha;
        let free = |i: usize, v: Vec3A| {
            if self.inverse_mass[i] > 0.0 {
                v
            } else {
                Vec3A::ZERO
            }
        };
        match how {
            SoftIntegrator::Symplectic => {
                fill(change, |i| (h * self.inverse_mass[i]) * self.force[i]);
            }
            SoftIntegrator::Diagonal => {
                fill(change, |i| {
                    free(i, h / self.diagonal(i, implicit) * self.force[i])
                });
            }
            SoftIntegrator::Kang if self.directed => self.kang_directed(tension, change, scratch),
            SoftIntegrator::Kang => {
                let estimate = &mut scratch.estimate;
                estimate.resize(change.len(), Vec3A::ZERO);
                fill(estimate, |i| {
                    free(i, h / self.diagonal(i, implicit) * self.force[i])
                });
                fill(change, |i| {
                    let mut sum = Vec3A::ZERO;
                    for (j, stiffness) in self.topology.stiff_links_of(i) {
                        sum += stiffness * estimate[j];
                    }
                    let all = h * self.force[i] + implicit * sum;
                    free(i, all / self.diagonal(i, implicit))
                });
            }
            SoftIntegrator::Simplified | SoftIntegrator::SimplifiedMinus => {
                let sign = if how == SoftIntegrator::Simplified {
                    1.0
                } else {
                    -1.0
                };
                let before: &[Vec3A] = change;
                let estimate = &mut scratch.estimate;
                estimate.resize(before.len(), Vec3A::ZERO);
                fill(estimate, |i| {
                    let size = self.force[i].length();
                    if size == 0.0 {
                        return Vec3A::ZERO;
                    }
                    let fed_back = sign * implicit * self.stiffness[i] * before[i].length();
                    let all = (h * size + fed_back) / (size * self.diagonal(i, implicit));
                    free(i, all * self.force[i])
                });
                change.copy_from_slice(estimate);
            }
            SoftIntegrator::Implicit => self.conjugate_gradients(1.0, change, scratch),
            SoftIntegrator::Trapezoid => self.conjugate_gradients(0.5, change, scratch),
        }
    }

    /// Inverts what every point resists with in the directed form of (3.70). Called once
    /// per sub-step, before [`Impulse::solve`].
    pub fn prepare(&self, how: SoftIntegrator, tension: &mut Tension) {
        if how == SoftIntegrator::Kang && self.directed {
            let implicit = self.h * self.h * self.alpha;
            let mass = &self.topology.mass;
            self.rows.invert(mass, self.inverse_mass, implicit, tension);
        }
    }

    /// (3.70) with the springs' own directions. With the same stiffness all ways, as
    /// printed, a skin of short springs hardly yields to the gas behind it, while gravity
    /// pulls it in full: bodies sag in where their mesh is finest.
    fn kang_directed(&self, tension: &Tension, change: &mut [Vec3A], scratch: &mut Scratch) {
        let h = self.h;
        let steps = [h, h * h * self.alpha];
        let estimate = &mut scratch.estimate;
        estimate.resize(change.len(), Vec3A::ZERO);
        self.rows.yielding(tension, self.force, h, estimate);
        self.rows
            .handed_on(tension, self.force, estimate, steps, change);
    }

    /// `H x` at point `i`: what the springs would add for displacements x.
    #[inline]
    fn pull(&self, i: usize, x: &[Vec3A]) -> Vec3A {
        let mut sum = -self.stiffness[i] * x[i];
        for (j, stiffness) in self.topology.stiff_links_of(i) {
            sum += stiffness * x[j];
        }
        self.alpha * sum
    }

    /// Solves `(M - (θ h)² H) Δv = h (F + θ h H v)`; θ = 1 is (3.68), 1/2 the trapezoid.
    fn conjugate_gradients(&self, theta: f32, x: &mut [Vec3A], scratch: &mut Scratch) {
        let (n, h) = (x.len(), self.h);
        let scale = theta * theta * h * h;
        let Scratch {
            estimate: z,
            residual: r,
            direction: p,
            image: q,
        } = scratch;
        for list in [&mut *z, r, p, q] {
            list.resize(n, Vec3A::ZERO);
        }
        let free = |i: usize| f32::from(u8::from(self.inverse_mass[i] > 0.0));
        let row = |i: usize, x: &[Vec3A]| self.mass(i) * x[i] - scale * self.pull(i, x);
        let inverse = |i: usize| free(i) / self.diagonal(i, scale * self.alpha);
        let given = |i: usize| h * (self.force[i] + theta * h * self.pull(i, self.velocity));
        fill(x, |_| Vec3A::ZERO);
        fill(r, |i| free(i) * given(i));
        fill(p, |i| inverse(i) * r[i]);
        let mut rz = sum(n, |i| f64::from(r[i].dot(p[i])));
        let goal = TOLERANCE * TOLERANCE * rz;
        for _ in 0..ITERATIONS {
            if rz <= goal || rz == 0.0 {
                break;
            }
            fill(q, |i| free(i) * row(i, p));
            let curvature = sum(n, |i| f64::from(p[i].dot(q[i])));
            let step = (rz / curvature) as f32;
            let last: &[Vec3A] = x;
            fill(z, |i| last[i] + step * p[i]);
            x.copy_from_slice(z);
            let last: &[Vec3A] = r;
            fill(z, |i| last[i] - step * q[i]);
            r.copy_from_slice(z);
            let next = sum(n, |i| f64::from(inverse(i) * r[i].length_squared()));
            let keep = (next / rz) as f32;
            let last: &[Vec3A] = p;
            fill(z, |i| inverse(i) * r[i] + keep * last[i]);
            p.copy_from_slice(z);
            rz = next;
        }
    }
}
