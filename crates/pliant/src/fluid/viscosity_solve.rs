//! Conjugate gradients for velocities: those that viscosity leaves (`viscosity.rs`), and those
//! in which pressure holds particles in their places (`restoring.rs`).

use glam::{DMat3, DVec3, Vec3A};
use rayon::prelude::*;

use super::held::double;
use super::incompressible::Incompressible;
use super::pairs::{Blocks, ChunkPairs, apart};
use super::strain::Symmetric;
use super::tolerances::Solved;
use super::viscosity::ViscositySolver;
use super::{CHUNK, LEAST};
use crate::crew::Spread;
use crate::simd::vectors::{add, dot, scale, splat, sum};
use crate::simd::{Lanes, dispatch};

/// When a solve ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Residual allowed, as a share of the velocities.
    pub tolerance: f64,
    /// The same as a share of what there was to do. In a slow steady flow a sub-step changes
    /// little, and what each one leaves undone would add up to a part of the flow: a liquid that
    /// thins with shear was 1.6 % too fast, however fine its particles.
    pub share: f64,
    /// Most iterations.
    pub iterations: u32,
}

impl Incompressible {
    /// The viscous part of the equations, applied to a set of vectors, into `image`;
    /// returns the sum of `vector · image`.
    fn apply(&mut self, what: Image<'_>) -> f64 {
        let ViscositySolver {
            grip,
            drive,
            direction,
            image,
            bracing,
            deep,
            restoring,
            ..
        } = &mut self.viscosity;
        let (bracing, deep) = if *restoring {
            (&bracing[..], &deep[..])
        } else {
            (&[][..], &[][..])
        };
        let x = &self.x[..];
        let (vectors, inverse_density, drive) = match what {
            Image::OfVelocity => (&self.v[..], None, Some(&drive[..])),
            Image::OfDirection(inverse_density) => (&direction[..], Some(inverse_density), None),
        };
        let sums: Vec<f64> = (image.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread_map(|(c, (image, pairs))| {
                let part = Part {
                    first: c * CHUNK,
                    pairs,
                    x,
                    vectors,
                    grip,
                    drive,
                    bracing,
                    deep,
                    inverse_density,
                };
                let mut sum = 0.0;
                part.apply(image, &mut sum);
                sum
            });
        sums.iter().sum()
    }

    /// Solves `(ρ + dt L) v = ρ v*`, preconditioned by `inverse_diagonal`.
    pub(super) fn conjugate_gradients(
        &mut self,
        inverse_density: &[f32],
        budget: Budget,
    ) -> Solved {
        let n = self.v.len();
        self.viscosity.residual.resize(n, Vec3A::ZERO);
        self.viscosity.direction.resize(n, Vec3A::ZERO);
        // The first guess is v*, so its residual is the viscous part alone.
        self.apply(Image::OfVelocity);
        let ViscositySolver {
            inverse_diagonal,
            residual,
            direction,
            image,
            ..
        } = &mut self.viscosity;
        let size = ordered_sum(self.v.len(), |i| {
            let inverse = inverse_density[i];
            if inverse > 0.0 {
                f64::from(self.v[i].length_squared() / (inverse * inverse))
            } else {
                0.0
            }
        });
        (
            &mut residual[..],
            &mut direction[..],
            &image[..],
            &inverse_diagonal[..],
        )
            .into_par_iter()
            .with_min_len(LEAST)
            .spread(|(r, d, image, inv)| {
                // Held particles have no equation.
                *r = if *inv > 0.0 { -*image } else { Vec3A::ZERO };
                *d = *inv * *r;
            });
        let [first, mut slope] = self.remains();
        let enough = (budget.tolerance.powi(2) * size).min(budget.share.powi(2) * first);
        let mut solved = Solved::default();
        while solved.iterations < budget.iterations && slope > 0.0 {
            let curvature = self.apply(Image::OfDirection(inverse_density));
            if curvature <= 0.0 {
                break;
            }
            let step = (slope / curvature) as f32;
            let [left, next] = self.follow(step);
            let s = &mut self.viscosity;
            s.books.follow(step, &s.direction, &s.image);
            solved.iterations += 1;
            solved.error = (left / size.max(f64::MIN_POSITIVE)).sqrt() as f32;
            if left <= enough {
                break;
            }
            let keep = (next / slope) as f32;
            slope = next;
            let s = &mut self.viscosity;
            s.books.turn(keep);
            (
                &mut s.direction[..],
                &s.residual[..],
                &s.inverse_diagonal[..],
            )
                .into_par_iter()
                .with_min_len(LEAST)
                .spread(|(d, r, inv)| *d = *inv * *r + keep * *d);
        }
        solved
    }

    /// What the iterations left over must not move the liquid as a whole: forces between
    /// particles add up to nothing, so mass, grip and what nozzles hold decide.
    pub(super) fn keep_momentum(&mut self, inverse_density: &[f32]) {
        let s = &self.viscosity;
        let free = |i: &usize| s.inverse_diagonal[*i] > 0.0 && inverse_density[*i] > 0.0;
        let (mut left, mut weight) = (DVec3::ZERO, 0.0);
        for i in (0..self.v.len()).filter(free) {
            left += double(s.residual[i]);
            weight += f64::from(1.0 / inverse_density[i] + s.grip[i]);
        }
        if weight > 0.0 {
            let whole = DMat3::from_diagonal(DVec3::splat(weight));
            let whole = whole + self.brake_of_held(inverse_density);
            let shift = (whole.inverse() * left).as_vec3a();
            for i in (0..self.v.len()).filter(free) {
                self.v[i] += shift;
            }
        }
    }

    /// Goes `step` times the direction, and returns what [`Self::remains`] does.
    fn follow(&mut self, step: f32) -> [f64; 2] {
        let s = &mut self.viscosity;
        let parts: Vec<[f64; 2]> = (
            self.v.par_chunks_mut(CHUNK),
            s.residual.par_chunks_mut(CHUNK),
            s.direction.par_chunks(CHUNK),
            s.image.par_chunks(CHUNK),
            s.inverse_diagonal.par_chunks(CHUNK),
        )
            .into_par_iter()
            .with_min_len(4)
            .spread_map(|(v, residual, direction, image, inverse_diagonal)| {
                for (k, r) in residual.iter_mut().enumerate() {
                    v[k] += step * direction[k];
                    // Held particles have no equation.
                    if inverse_diagonal[k] > 0.0 {
                        *r -= step * image[k];
                    }
                }
                squares(residual, inverse_diagonal)
            });
        add_up(&parts)
    }

    /// The square of the residual, and residual times preconditioned residual.
    fn remains(&self) -> [f64; 2] {
        let s = &self.viscosity;
        let parts: Vec<[f64; 2]> = (
            s.residual.par_chunks(CHUNK),
            s.inverse_diagonal.par_chunks(CHUNK),
        )
            .into_par_iter()
            .with_min_len(4)
            .spread_map(|(residual, inverse_diagonal)| squares(residual, inverse_diagonal));
        add_up(&parts)
    }
}

/// The same sums for one chunk; added up in order they are the same for any number of
/// threads.
fn squares(residual: &[Vec3A], inverse_diagonal: &[f32]) -> [f64; 2] {
    let (mut plain, mut weighted) = (0.0, 0.0);
    for (r, inverse) in residual.iter().zip(inverse_diagonal) {
        let square = r.length_squared();
        plain += f64::from(square);
        weighted += f64::from(inverse * square);
    }
    [plain, weighted]
}

fn add_up(parts: &[[f64; 2]]) -> [f64; 2] {
    parts.iter().fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
}

/// One chunk of particles with all that the viscous operator needs.
#[derive(Clone, Copy)]
struct Part<'a> {
    first: usize,
    pairs: &'a ChunkPairs,
    x: &'a [Vec3A],
    vectors: &'a [Vec3A],
    grip: &'a [f32],
    drive: Option<&'a [Vec3A]>,
    bracing: &'a [Symmetric],
    deep: &'a [bool],
    inverse_density: Option<&'a [f32]>,
}

impl Part<'_> {
    /// Applies the operator, and adds up `vector · image`.
    fn apply(self, image: &mut [Vec3A], sum: &mut f64) {
        #[inline(always)]
        fn run<L: Lanes>(l: L, part: Part<'_>, image: &mut [Vec3A], sum: &mut f64) {
            for (k, image) in image.iter_mut().enumerate() {
                let i = part.first + k;
                let own = part.vectors[i];
                let mut force = if part.deep.get(i) == Some(&false) {
                    Vec3A::ZERO
                } else {
                    friction(l, part.x, part.vectors, i, part.pairs.friction_blocks_of(k))
                };
                force += part.grip[i] * own;
                if let Some(bracing) = part.bracing.get(i) {
                    force += bracing.times(own);
                }
                if let Some(drive) = part.drive {
                    force -= drive[i];
                }
                if let Some(inverse_density) = part.inverse_density
                    && inverse_density[i] > 0.0
                {
                    force += own / inverse_density[i];
                }
                *image = force;
                *sum += f64::from(own.dot(force));
            }
        }
        let part = self;
        dispatch!(run(part: Part<'_>, image: &mut [Vec3A], sum: &mut f64));
    }
}

/// What the viscous operator acts on, and whether with the mass.
enum Image<'a> {
    OfVelocity,
    OfDirection(&'a [f32]),
}

/// `Σ_j weight (x_ij · v_ij) x_ij`.
#[inline(always)]
fn friction<L: Lanes>(l: L, x: &[Vec3A], v: &[Vec3A], i: usize, pairs: Blocks<'_>) -> Vec3A {
    let (here, own) = (splat(l, x[i]), splat(l, v[i]));
    let mut force = [l.splat(0.0); 3];
    for (near, weight) in pairs {
        let d = apart(l, here, x, near);
        let along = dot(l, d, apart(l, own, v, near));
        force = add(l, force, scale(l, d, l.mul(l.numbers(weight), along)));
    }
    sum(l, force)
}

/// A sum over all particles that is the same for any number of threads.
fn ordered_sum(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let parts: Vec<f64> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .with_min_len(4)
        .spread_map(|c| (c * CHUNK..((c + 1) * CHUNK).min(n)).map(&term).sum());
    parts.iter().sum()
}
