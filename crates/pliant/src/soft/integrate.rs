//! From forces to changes of velocity (Mesit 2010, 2.31-2.34 and 3.62-3.74).

use glam::{DMat3, DVec3, Mat3A, Vec3A};

use super::parallel::{fill, sum};
use super::settings::SoftIntegrator;
use super::springs::Stretched;
use super::topology::Topology;

/// Most iterations of conjugate gradients.
const ITERATIONS: usize = 60;
/// The solver ends when the residual is this share of the right-hand side.
const TOLERANCE: f64 = 1e-4;
/// Points whose moments are summed in single precision.
const FEW: usize = 32;

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
    pub springs: &'a [Stretched],
    /// In N.
    pub force: &'a [Vec3A],
    pub h: f32,
}

/// Vectors that are kept from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    estimate: Vec<Vec3A>,
    inverse: Vec<Mat3A>,
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
    pub fn solve(&self, how: SoftIntegrator, change: &mut [Vec3A], scratch: &mut Scratch) {
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
            SoftIntegrator::Kang if self.directed => self.kang_directed(change, scratch),
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
    pub fn prepare(&self, how: SoftIntegrator, scratch: &mut Scratch) {
        if !(how == SoftIntegrator::Kang && self.directed) {
            return;
        }
        let implicit = self.h * self.h * self.alpha;
        scratch.inverse.resize(self.position.len(), Mat3A::ZERO);
        fill(&mut scratch.inverse, |i| {
            if self.inverse_mass[i] == 0.0 {
                return Mat3A::ZERO;
            }
            let block = self
                .topology
                .block_of(i, self.springs, self.mass(i), implicit);
            inverse_of_symmetric(block)
        });
    }

    /// (3.70) with the springs' own directions. With the same stiffness all ways, as
    /// printed, a skin of short springs hardly yields to the gas behind it, while gravity
    /// pulls it in full: bodies sag in where their mesh is finest.
    fn kang_directed(&self, change: &mut [Vec3A], scratch: &mut Scratch) {
        let h = self.h;
        let implicit = h * h * self.alpha;
        let (inverse, estimate) = (&scratch.inverse, &mut scratch.estimate);
        estimate.resize(change.len(), Vec3A::ZERO);
        fill(estimate, |i| h * (inverse[i] * self.force[i]));
        fill(change, |i| {
            let sum = self.topology.handed_on(i, self.springs, estimate);
            inverse[i] * (h * self.force[i] + implicit * sum)
        });
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
            inverse: _,
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

    /// Takes out of `change` what moves and turns the body as a whole beyond the impulse
    /// and the torque of the forces. The approximate integrators divide by
    /// `m + h² k n`, which differs from point to point: without this, inner forces would
    /// drive a body, and gravity would pull it too slowly.
    pub fn keep_momentum(&self, change: &mut [Vec3A]) {
        let n = change.len();
        let about = self.position[0];
        let before: &[Vec3A] = change;
        // Few points at a time in single precision, their sums in double.
        let missing = sum(n.div_ceil(FEW), |k| {
            let mut few = FewMoments::default();
            for (i, change) in before.iter().enumerate().skip(k * FEW).take(FEW) {
                few.add(
                    self.mass(i),
                    self.position[i] - about,
                    self.h * self.force[i],
                    *change,
                );
            }
            few.wide()
        });
        let center = missing.first / missing.mass;
        let drift = missing.push / missing.mass;
        let twist = missing.twist - center.cross(missing.push);
        let [x, y, z] = missing.second;
        let spread = DMat3::from_cols(x, y, z) - outer(center, center * missing.mass);
        let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
        let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - spread;
        // A body on a line has no inertia about it.
        let spin = if inertia.determinant().abs() > 1e-12 * trace.powi(3) {
            inertia.inverse() * twist
        } else {
            DVec3::ZERO
        };
        let [drift, spin, center] = [drift, spin, center].map(|v| Vec3A::from(v.as_vec3()));
        let pivot = about + center;
        for (v, p) in change.iter_mut().zip(self.position) {
            *v += drift + spin.cross(*p - pivot);
        }
    }
}

/// The inverse of a symmetric matrix with positive eigenvalues.
#[inline]
fn inverse_of_symmetric(m: Mat3A) -> Mat3A {
    let x = m.y_axis.cross(m.z_axis);
    let y = m.z_axis.cross(m.x_axis);
    let z = m.x_axis.cross(m.y_axis);
    // The inverse is symmetric too, so rows are columns.
    let scale = 1.0 / x.dot(m.x_axis);
    Mat3A::from_cols(scale * x, scale * y, scale * z)
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Sums over a few points.
#[derive(Clone, Copy, Default)]
struct FewMoments {
    mass: f32,
    first: Vec3A,
    push: Vec3A,
    twist: Vec3A,
    second: [Vec3A; 3],
}

impl FewMoments {
    #[inline]
    fn add(&mut self, mass: f32, place: Vec3A, impulse: Vec3A, change: Vec3A) {
        let weighed = mass * place;
        let push = impulse - mass * change;
        self.mass += mass;
        self.first += weighed;
        self.push += push;
        self.twist += place.cross(push);
        // Σ m r rᵀ.
        self.second[0] += place.x * weighed;
        self.second[1] += place.y * weighed;
        self.second[2] += place.z * weighed;
    }

    fn wide(self) -> Moments {
        let wide = |v: Vec3A| glam::Vec3::from(v).as_dvec3();
        Moments {
            mass: f64::from(self.mass),
            first: wide(self.first),
            push: wide(self.push),
            twist: wide(self.twist),
            second: self.second.map(wide),
        }
    }
}

/// Sums over a body.
#[derive(Clone, Copy, Default)]
struct Moments {
    mass: f64,
    first: DVec3,
    push: DVec3,
    twist: DVec3,
    second: [DVec3; 3],
}

impl std::ops::Add for Moments {
    type Output = Moments;

    fn add(self, other: Moments) -> Moments {
        Moments {
            mass: self.mass + other.mass,
            first: self.first + other.first,
            push: self.push + other.push,
            twist: self.twist + other.twist,
            second: [0, 1, 2].map(|k| self.second[k] + other.second[k]),
        }
    }
}
