//! Conjugate gradients for `(diagonal + scale K) x = b`, where some points move along a
//! plane only or not at all (Baraff & Witkin 1998, section 5.3). Preconditioned by the
//! blocks on the diagonal, or by the factors of an earlier matrix (`envelope.rs`).

use glam::{Mat3A, Vec3A};

use super::block_matrix::{BlockMatrix, ROWS, run};
use super::element::outer;
use super::envelope::Envelope;

/// How a point may move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Freedom {
    #[default]
    Free,
    /// Across this unit normal only.
    Plane(Vec3A),
    Fixed,
}

impl Freedom {
    /// That of a point of this inverse mass: 0 is pinned.
    pub fn of(inverse_mass: f32) -> Freedom {
        if inverse_mass == 0.0 {
            Freedom::Fixed
        } else {
            Freedom::Free
        }
    }

    /// The filter as a matrix.
    pub fn matrix(self) -> Mat3A {
        match self {
            Freedom::Free => Mat3A::IDENTITY,
            Freedom::Plane(n) => Mat3A::IDENTITY - outer(n, n),
            Freedom::Fixed => Mat3A::ZERO,
        }
    }

    #[inline]
    pub fn filter(self, v: Vec3A) -> Vec3A {
        match self {
            Freedom::Free => v,
            Freedom::Plane(n) => v - v.dot(n) * n,
            Freedom::Fixed => Vec3A::ZERO,
        }
    }
}

/// A symmetric matrix of 3 x 3 blocks that the solver can multiply row by row.
pub(crate) trait Matrix: Sync {
    /// What joins rows besides their blocks, at `x`: computed once per product and
    /// handed to every row.
    fn links(&self, _x: &[Vec3A], _out: &mut Vec<Vec3A>) {}

    /// Row `i` of the product with `x`.
    fn row_times(&self, i: usize, x: &[Vec3A], links: &[Vec3A]) -> Vec3A;

    /// The block on the diagonal of row `i`.
    fn diagonal_block(&self, i: usize) -> Mat3A;

    /// How point `i` may move.
    fn freedom(&self, i: usize) -> Freedom;

    /// The mean over all directions of what point `i` moves by a unit impulse if all others
    /// stay; 0 if it is fixed.
    fn mobility(&self, i: usize) -> f32 {
        if self.freedom(i) == Freedom::Fixed {
            return 0.0;
        }
        let block = self.diagonal_block(i);
        3.0 / (block.x_axis.x + block.y_axis.y + block.z_axis.z)
    }
}

/// The matrix `diagonal + scale K`.
pub(super) struct System<'a> {
    pub stiffness: &'a BlockMatrix,
    pub diagonal: &'a [f32],
    pub scale: f32,
    pub freedom: &'a [Freedom],
}

/// Vectors that the solver keeps between calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    links: Vec<Vec3A>,
    residual: Vec<Vec3A>,
    direction: Vec<Vec3A>,
    image: Vec<Vec3A>,
    /// Preconditioned residual, and room for its numbers, of solves by factors.
    guess: Vec<Vec3A>,
    numbers: Vec<f32>,
    inverse: Vec<Mat3A>,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub iterations: u32,
    /// Residual over right-hand side, in the norm of the preconditioner.
    pub residual: f64,
}

impl Matrix for System<'_> {
    #[inline]
    fn row_times(&self, i: usize, x: &[Vec3A], _links: &[Vec3A]) -> Vec3A {
        self.diagonal[i] * x[i] + self.scale * self.stiffness.row_times(i, x)
    }

    fn diagonal_block(&self, i: usize) -> Mat3A {
        self.stiffness.diagonal(i) * self.scale
            + Mat3A::from_diagonal(glam::Vec3::splat(self.diagonal[i]))
    }

    #[inline]
    fn freedom(&self, i: usize) -> Freedom {
        self.freedom[i]
    }
}

impl System<'_> {
    /// The whole product without any filter.
    pub fn times(&self, x: &[Vec3A], out: &mut Vec<Vec3A>) {
        self.stiffness.times(x, out);
        for ((out, x), d) in out.iter_mut().zip(x).zip(self.diagonal) {
            *out = *d * *x + self.scale * *out;
        }
    }
}

/// Steps end their solve when what is left would change velocities by this much, in m/s.
const NOTHING: f64 = 1e-7;

/// When a solve ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Most iterations.
    pub iterations: u32,
    /// Residual over right-hand side.
    pub tolerance: f64,
    /// A residual that is as good as none, squared in the norm of the preconditioner: a
    /// body at rest has next to nothing on the right-hand side to compare with.
    pub floor: f64,
}

impl Budget {
    /// That of a step of bodies of this mass in kg.
    pub fn of_step(iterations: u32, tolerance: f64, mass: f64) -> Budget {
        Budget {
            iterations,
            tolerance,
            floor: mass * NOTHING * NOTHING,
        }
    }
}

/// Improves `x`, whose constrained parts stay as they are, until the budget is met.
pub(crate) fn solve(
    matrix: &impl Matrix,
    b: &[Vec3A],
    x: &mut [Vec3A],
    budget: Budget,
    scratch: &mut Scratch,
) -> Outcome {
    let n = x.len();
    let Scratch {
        residual: r,
        direction: p,
        image: q,
        inverse,
        links: joined,
        ..
    } = scratch;
    for list in [&mut *r, p, q] {
        list.resize(n, Vec3A::ZERO);
    }
    inverse.resize(n, Mat3A::IDENTITY);
    matrix.links(x, joined);
    let links: &[Vec3A] = joined;
    // Preconditioner, residual and the size of the right-hand side in one pass.
    let tasks = tasks3(inverse, r, p);
    let size = run(tasks, |(first, inverse, r, p)| {
        let mut size = 0.0;
        for k in 0..r.len() {
            let i = first + k;
            inverse[k] = matrix.diagonal_block(i).inverse();
            let freedom = matrix.freedom(i);
            let given = freedom.filter(b[i]);
            size += f64::from(given.dot(freedom.filter(inverse[k] * given)));
            r[k] = freedom.filter(b[i] - matrix.row_times(i, x, links));
            p[k] = freedom.filter(inverse[k] * r[k]);
        }
        size
    });
    let pairs = r.chunks(ROWS).zip(p.chunks(ROWS)).collect();
    let mut rz = run(pairs, |(r, p)| dot(r, p));
    let goal = (budget.tolerance * budget.tolerance * size).max(budget.floor);
    let mut outcome = Outcome::default();
    while outcome.iterations < budget.iterations && rz > goal && rz > 0.0 {
        let shared: &[Vec3A] = p;
        matrix.links(shared, joined);
        let links: &[Vec3A] = joined;
        let tasks = q.chunks_mut(ROWS).enumerate().collect();
        let curvature = run(tasks, |(k, q)| {
            let mut sum = 0.0;
            for (i, q) in q.iter_mut().enumerate() {
                let i = k * ROWS + i;
                *q = matrix.freedom(i).filter(matrix.row_times(i, shared, links));
                sum += f64::from(q.dot(shared[i]));
            }
            sum
        });
        // Not positive only if the stiffness is indefinite: what is found so far
        // is still a descent.
        if curvature.is_nan() || curvature <= 0.0 {
            if outcome.iterations == 0 {
                x.iter_mut().zip(&*p).for_each(|(x, p)| *x += *p);
            }
            break;
        }
        let step = (rz / curvature) as f32;
        let inverse: &[Mat3A] = inverse;
        let tasks = x
            .chunks_mut(ROWS)
            .zip(r.chunks_mut(ROWS))
            .zip(q.chunks_mut(ROWS))
            .enumerate()
            .collect();
        // The image is done with: it takes the preconditioned residual.
        let next = run(tasks, |(chunk, ((x, r), q))| {
            let mut sum = 0.0;
            for k in 0..x.len() {
                let i = chunk * ROWS + k;
                x[k] += step * shared[i];
                r[k] -= step * q[k];
                q[k] = matrix.freedom(i).filter(inverse[i] * r[k]);
                sum += f64::from(r[k].dot(q[k]));
            }
            sum
        });
        let keep = (next / rz) as f32;
        run(
            p.chunks_mut(ROWS).zip(q.chunks(ROWS)).collect(),
            |(p, q)| {
                for (p, q) in p.iter_mut().zip(q) {
                    *p = *q + keep * *p;
                }
                0.0
            },
        );
        rz = next;
        outcome.iterations += 1;
    }
    outcome.residual = if size > 0.0 {
        (rz.max(0.0) / size).sqrt()
    } else {
        0.0
    };
    outcome
}

/// Improves `x` as [`solve`] does, with the factor of a similar matrix for preconditioner.
/// The residual is measured by the error's energy.
pub(super) fn solve_factored(
    system: &System<'_>,
    factor: &Envelope,
    b: &[Vec3A],
    x: &mut [Vec3A],
    budget: Budget,
    scratch: &mut Scratch,
) -> Outcome {
    let n = x.len();
    let Scratch {
        residual: r,
        direction: p,
        image: q,
        guess: z,
        numbers,
        ..
    } = scratch;
    for list in [&mut *r, p, z] {
        list.resize(n, Vec3A::ZERO);
    }
    let freedom = system.freedom;
    let mut precondition = |r: &[Vec3A], z: &mut [Vec3A]| -> f64 {
        factor.solve(r, z, numbers);
        z.iter_mut()
            .zip(freedom)
            .for_each(|(z, f)| *z = f.filter(*z));
        dot(r, z)
    };
    system.times(x, q);
    for i in 0..n {
        r[i] = freedom[i].filter(b[i] - q[i]);
    }
    let mut rz = precondition(r, z);
    p.copy_from_slice(z);
    let mut outcome = Outcome::default();
    // b · A⁻¹ b, as far as it is known.
    let size = |x: &[Vec3A], rz: f64| {
        let given = b.iter().zip(freedom).zip(x);
        let work: f64 = given
            .map(|((b, f), x)| f64::from(f.filter(*b).dot(*x)))
            .sum();
        work.max(0.0) + rz
    };
    loop {
        let whole = size(x, rz);
        outcome.residual = if whole > 0.0 {
            (rz.max(0.0) / whole).sqrt()
        } else {
            0.0
        };
        let goal = (budget.tolerance * budget.tolerance * whole).max(budget.floor);
        if rz.is_nan() || rz <= goal || outcome.iterations >= budget.iterations {
            return outcome;
        }
        system.times(p, q);
        let mut curvature = 0.0;
        for i in 0..n {
            q[i] = freedom[i].filter(q[i]);
            curvature += f64::from(q[i].dot(p[i]));
        }
        if curvature.is_nan() || curvature <= 0.0 {
            return outcome;
        }
        let step = (rz / curvature) as f32;
        for i in 0..n {
            x[i] += step * p[i];
            r[i] -= step * q[i];
        }
        let next = precondition(r, z);
        let keep = (next / rz) as f32;
        for i in 0..n {
            p[i] = z[i] + keep * p[i];
        }
        rz = next;
        outcome.iterations += 1;
    }
}

type Task3<'a> = (usize, &'a mut [Mat3A], &'a mut [Vec3A], &'a mut [Vec3A]);

fn tasks3<'a>(a: &'a mut [Mat3A], b: &'a mut [Vec3A], c: &'a mut [Vec3A]) -> Vec<Task3<'a>> {
    a.chunks_mut(ROWS)
        .zip(b.chunks_mut(ROWS))
        .zip(c.chunks_mut(ROWS))
        .enumerate()
        .map(|(k, ((a, b), c))| (k * ROWS, a, b, c))
        .collect()
}

fn dot(a: &[Vec3A], b: &[Vec3A]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a.dot(*b))).sum()
}
