//! Keeping the momentum of a body that the approximate integrators would change.

use glam::{DMat3, DVec3, Vec3A};

use super::integrate::Impulse;
use super::lanes::{add, cross, each_eight, eight_of, eight_vectors, put, scaled, splat, sub};
use super::parallel::sum;
use crate::simd::{Lanes, WIDTH, dispatch};

/// Groups of eight points whose moments are summed in single precision.
const FEW: usize = 4;
/// Numbers that are summed: mass, first moment, missing push, missing twist, and the
/// second moments xx, xy, xz, yy, yz, zz.
const SUMS: usize = 16;

impl Impulse<'_> {
    /// Takes out of `change` what moves and turns the body as a whole beyond the impulse
    /// and the torque of the forces. The approximate integrators divide by
    /// `m + h² k n`, which differs from point to point: without this, inner forces would
    /// drive a body, and gravity would pull it too slowly.
    pub fn keep_momentum(&self, change: &mut [Vec3A]) {
        let about = self.position[0];
        let groups = change.len().div_ceil(WIDTH);
        let before: &[Vec3A] = change;
        let Moments(sums) = sum(groups.div_ceil(FEW), |k| {
            let mut found = [0.0; SUMS];
            let few = Few {
                impulse: self,
                change: before,
                about,
                groups: (k * FEW, ((k + 1) * FEW).min(groups)),
            };
            let out = &mut found;
            dispatch!(moments(few: Few<'_>, out: &mut [f32; SUMS]));
            Moments(found.map(f64::from))
        });
        let at = |k: usize| DVec3::new(sums[k], sums[k + 1], sums[k + 2]);
        let (mass, first, push) = (sums[0], at(1), at(4));
        let center = first / mass;
        let drift = push / mass;
        let twist = at(7) - center.cross(push);
        let [xx, xy, xz, yy, yz, zz] = [10, 11, 12, 13, 14, 15].map(|k| sums[k]);
        let spread = DMat3::from_cols(
            DVec3::new(xx, xy, xz),
            DVec3::new(xy, yy, yz),
            DVec3::new(xz, yz, zz),
        ) - outer(center, center * mass);
        let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
        let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - spread;
        // A body on a line has no inertia about it.
        let spin = if inertia.determinant().abs() > 1e-12 * trace.powi(3) {
            inertia.inverse() * twist
        } else {
            DVec3::ZERO
        };
        let [drift, spin, center] = [drift, spin, center].map(|v| Vec3A::from(v.as_vec3()));
        let rigid = Rigid {
            drift,
            spin,
            pivot: about + center,
        };
        let position = self.position;
        each_eight(change, |g, change| {
            let places = eight_vectors(position, g);
            dispatch!(carry(rigid: Rigid, places: [Vec3A; WIDTH], change: &mut [Vec3A]));
        });
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Sums over a body.
struct Moments([f64; SUMS]);

impl Default for Moments {
    fn default() -> Self {
        Moments([0.0; SUMS])
    }
}

impl std::ops::Add for Moments {
    type Output = Moments;

    fn add(self, other: Moments) -> Moments {
        Moments(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

/// A few groups of points.
#[derive(Clone, Copy)]
struct Few<'a> {
    impulse: &'a Impulse<'a>,
    change: &'a [Vec3A],
    about: Vec3A,
    groups: (usize, usize),
}

#[inline(always)]
fn moments<L: Lanes>(l: L, few: Few<'_>, out: &mut [f32; SUMS]) {
    let known = few.impulse;
    let mut sums = [l.splat(0.0); SUMS];
    let about = splat(l, few.about);
    let n = few.change.len();
    for g in few.groups.0..few.groups.1 {
        let real = l.first(n - g * WIDTH);
        let mass = l.keep(l.numbers(&eight_of(&known.topology.mass, g)), real);
        let place = sub(l, l.vectors(&eight_vectors(known.position, g)), about);
        let force = l.vectors(&eight_vectors(known.force, g));
        let change = l.vectors(&eight_vectors(few.change, g));
        let push = sub(
            l,
            scaled(l, l.splat(known.h), force),
            scaled(l, mass, change),
        );
        let twist = cross(l, place, push);
        let [x, y, z] = place;
        let weighed = scaled(l, mass, place);
        let now = [
            mass,
            weighed[0],
            weighed[1],
            weighed[2],
            push[0],
            push[1],
            push[2],
            twist[0],
            twist[1],
            twist[2],
            l.mul(x, weighed[0]),
            l.mul(x, weighed[1]),
            l.mul(x, weighed[2]),
            l.mul(y, weighed[1]),
            l.mul(y, weighed[2]),
            l.mul(z, weighed[2]),
        ];
        for (sum, now) in sums.iter_mut().zip(now) {
            *sum = l.add(*sum, now);
        }
    }
    for (out, s) in out.iter_mut().zip(sums) {
        *out = l.sum(s);
    }
}

/// Motion of a body as a whole.
#[derive(Clone, Copy)]
struct Rigid {
    drift: Vec3A,
    spin: Vec3A,
    pivot: Vec3A,
}

#[inline(always)]
fn carry<L: Lanes>(l: L, rigid: Rigid, places: [Vec3A; WIDTH], change: &mut [Vec3A]) {
    let (drift, spin) = (splat(l, rigid.drift), splat(l, rigid.spin));
    let arm = sub(l, l.vectors(&places), splat(l, rigid.pivot));
    let now = l.vectors(&eight_vectors(change, 0));
    let moved = add(l, add(l, now, drift), cross(l, spin, arm));
    put(l, change, 0, moved);
}
