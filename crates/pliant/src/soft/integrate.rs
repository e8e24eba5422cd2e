//! From forces to changes of velocity (Mesit 2010, 2.31-2.34 and 3.62-3.74).

use glam::{DMat3, DVec3, Mat3A, Vec3A};

use super::parallel::{fill, sum};
use super::settings::SoftIntegrator;
use super::topology::{Link, Topology};

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
                    for link in self.topology.links_of(i) {
                        sum += link.stiffness * estimate[link.other as usize];
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

    /// (3.70) with the springs' own directions. With the same stiffness all ways, as
    /// printed, a skin of short springs hardly yields to the gas behind it, while gravity
    /// pulls it in full: bodies sag in where their mesh is finest.
    fn kang_directed(&self, change: &mut [Vec3A], scratch: &mut Scratch) {
        let h = self.h;
        let implicit = h * h * self.alpha;
        let (inverse, estimate) = (&mut scratch.inverse, &mut scratch.estimate);
        inverse.resize(change.len(), Mat3A::ZERO);
        estimate.resize(change.len(), Vec3A::ZERO);
        // Direction of a spring, stiffness along it beyond that across, and that across.
        let spring = |i: usize, link: &Link| {
            let way = self.position[link.other as usize] - self.position[i];
            let length = way.length().max(1e-20);
            let across = link.stiffness * (1.0 - link.rest / length).max(0.0);
            (way / length, link.stiffness - across, across)
        };
        fill(inverse, |i| {
            if self.inverse_mass[i] == 0.0 {
                return Mat3A::ZERO;
            }
            let mut all = 0.0;
            let mut columns = [Vec3A::ZERO; 3];
            for link in self.topology.links_of(i) {
                let (n, along, across) = spring(i, link);
                all += across;
                let stiff = along * n;
                columns[0] += n.x * stiff;
                columns[1] += n.y * stiff;
                columns[2] += n.z * stiff;
            }
            let own = self.mass(i) + implicit * all;
            let [x, y, z] = columns.map(|c| implicit * c);
            let x = x + own * Vec3A::X;
            Mat3A::from_cols(x, y + own * Vec3A::Y, z + own * Vec3A::Z).inverse()
        });
        fill(estimate, |i| h * (inverse[i] * self.force[i]));
        fill(change, |i| {
            let mut sum = Vec3A::ZERO;
            for link in self.topology.links_of(i) {
                let (n, along, across) = spring(i, link);
                let theirs = estimate[link.other as usize];
                sum += (along * n.dot(theirs)) * n + across * theirs;
            }
            inverse[i] * (h * self.force[i] + implicit * sum)
        });
    }

    /// `H x` at point `i`: what the springs would add for displacements x.
    #[inline]
    fn pull(&self, i: usize, x: &[Vec3A]) -> Vec3A {
        let mut sum = -self.stiffness[i] * x[i];
        for link in self.topology.links_of(i) {
            sum += link.stiffness * x[link.other as usize];
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
        let wide = |v: Vec3A| glam::Vec3::from(v).as_dvec3();
        let before: &[Vec3A] = change;
        let missing = sum(n, |i| {
            let (m, r) = (f64::from(self.mass(i)), wide(self.position[i] - about));
            let push = f64::from(self.h) * wide(self.force[i]) - m * wide(before[i]);
            Moments {
                mass: m,
                first: m * r,
                push,
                twist: r.cross(push),
                // Σ m r rᵀ.
                second: [m * r.x * r, m * r.y * r, m * r.z * r],
            }
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

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
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
