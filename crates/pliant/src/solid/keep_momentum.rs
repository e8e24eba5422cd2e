//! What a solver has left over must not move a body as a whole.
//!
//! A solve ends before its equations are met, and what is left of them is an impulse that
//! nobody has given. Of all equations of a piece of a body only the sum matters here: it is
//! met exactly by a shift `s` that all points of the piece make as far as they are free
//! (P projects on what constraints leave),
//!
//! ```text
//! 1ᵀ P (m + k K) P 1 s = 1ᵀ P (J - (m + k K) Δv)
//! ```
//!
//! the best that a common motion can do for the energy of the error, too. K adds up to
//! zero over all points, so only rows and columns of constrained points are needed: with
//! nothing to hold a piece its mass alone decides.

use glam::{DMat3, DVec3, Mat3A, Vec3, Vec3A};

use super::conjugate_gradient::{Freedom, System};

/// Share of the weight in all directions that every direction has at least.
const SLACK: f64 = 1e-6;
/// A splinter on the ground weighs 10⁴ times as much across it as along: what the slack
/// leaves, the next shift takes.
const ROUNDS: u32 = 3;

/// The sums of one piece.
#[derive(Clone, Copy)]
struct Sums {
    weight: DMat3,
    left: DVec3,
    /// Some of its points are not free.
    held: bool,
}

impl Sums {
    /// Of no points; the default of a matrix would be a kilogram.
    const NONE: Sums = Sums {
        weight: DMat3::ZERO,
        left: DVec3::ZERO,
        held: false,
    };
}

/// Shifts every piece of a body, whose `change` should meet the equations of `system` with
/// `impulse`, so that their sum is met. `spare` is what the impulses on each piece hold of
/// rounded forces within it, which must not move it either; nothing if it is empty.
pub(super) fn keep_momentum(
    system: &System<'_>,
    impulse: &[Vec3A],
    spare: &[DVec3],
    change: &mut [Vec3A],
) {
    let stiffness = system.stiffness;
    let free = |i: usize| system.freedom[i] == Freedom::Free;
    for round in 0..ROUNDS {
        let sums = sum_up(system, (impulse, spare), change, |i| system.freedom[i]);
        shift(system, &sums, change, |i| system.freedom[i]);
        if round == 0 && (0..change.len()).all(free) {
            return;
        }
    }
    // Where stiffness is large, the last digit of a velocity is too much. Points that it
    // does not join to a constraint have no weight but their mass.
    let inner = |i: usize| {
        let mut near = stiffness.column[stiffness.row(i)].iter();
        if near.all(|&j| free(j as usize)) {
            Freedom::Free
        } else {
            Freedom::Fixed
        }
    };
    let inner: Vec<Freedom> = (0..change.len()).map(inner).collect();
    let mut sums = sum_up(system, (impulse, spare), change, |i| system.freedom[i]);
    for sum in &mut sums {
        sum.weight = DMat3::ZERO;
    }
    for (i, _) in inner
        .iter()
        .enumerate()
        .filter(|(_, f)| **f == Freedom::Free)
    {
        let mass = DVec3::splat(system.diagonal[i].into());
        sums[stiffness.piece(i)].weight += DMat3::from_diagonal(mass);
    }
    shift(system, &sums, change, |i| inner[i]);
}

/// What a common motion of each piece weighs, and what the sum of its equations lacks.
fn sum_up(
    system: &System<'_>,
    (impulse, spare): (&[Vec3A], &[DVec3]),
    change: &[Vec3A],
    freedom: impl Fn(usize) -> Freedom,
) -> Vec<Sums> {
    let stiffness = system.stiffness;
    let taken = |f: Freedom| Mat3A::IDENTITY - f.matrix();
    let mut sums = vec![Sums::NONE; stiffness.pieces().max(1)];
    for (sum, spare) in sums.iter_mut().zip(spare) {
        sum.left -= *spare;
    }
    for i in 0..change.len() {
        let (own, mass) = (freedom(i), system.diagonal[i]);
        let sum = &mut sums[stiffness.piece(i)];
        let lacks = double(impulse[i]) - f64::from(mass) * double(change[i]);
        sum.left += lacks - taken_from(own, lacks);
        sum.weight += f64::from(mass) * doubles(own.matrix());
        if own == Freedom::Free {
            continue;
        }
        sum.held = true;
        let pulled = f64::from(system.scale) * stiffness.row_times_exactly(i, change);
        sum.left += taken_from(own, pulled);
        for k in stiffness.row(i) {
            let other = freedom(stiffness.column[k] as usize);
            if other != Freedom::Free {
                let block = taken(own) * stiffness.block[k] * taken(other);
                sum.weight += f64::from(system.scale) * doubles(block);
            }
        }
    }
    sums
}

/// What the constraint of point `i` has given to it, in N s: what its equation lacks in the
/// directions in which it cannot move. Points that are squeezed against each other are pushed
/// by hundreds of times what is left in the sum, so it is not rounded on the way.
pub(super) fn reaction(
    system: &System<'_>,
    i: usize,
    impulse: &[Vec3A],
    change: &[Vec3A],
) -> DVec3 {
    let pulled = f64::from(system.scale) * system.stiffness.row_times_exactly(i, change);
    let pushed = f64::from(system.diagonal[i]) * double(change[i]) - double(impulse[i]);
    taken_from(system.freedom[i], pushed + pulled)
}

/// The part of a vector along which a point cannot move.
fn taken_from(freedom: Freedom, v: DVec3) -> DVec3 {
    match freedom {
        Freedom::Free => DVec3::ZERO,
        Freedom::Plane(n) => v.dot(double(n)) * double(n),
        Freedom::Fixed => v,
    }
}

/// Gives every piece the motion by which the sum of its equations is met.
fn shift(
    system: &System<'_>,
    sums: &[Sums],
    change: &mut [Vec3A],
    freedom: impl Fn(usize) -> Freedom,
) {
    let shifts = sums.iter().map(|sum| {
        // A piece that can move along a plane only, or not at all, has nothing left across
        // it, and nowhere to go.
        let size: f64 = (0..3).map(|k| sum.weight.col(k)[k]).sum();
        let size = if sum.held { size } else { 0.0 };
        let more = DMat3::from_diagonal(DVec3::splat(SLACK * size));
        let shift = (sum.weight + more).inverse() * sum.left;
        if shift.is_finite() {
            shift.as_vec3a()
        } else {
            Vec3A::ZERO
        }
    });
    let shifts: Vec<Vec3A> = shifts.collect();
    for (i, change) in change.iter_mut().enumerate() {
        *change += freedom(i).filter(shifts[system.stiffness.piece(i)]);
    }
}

fn double(v: Vec3A) -> DVec3 {
    Vec3::from(v).as_dvec3()
}

fn doubles(m: Mat3A) -> DMat3 {
    DMat3::from_cols(double(m.x_axis), double(m.y_axis), double(m.z_axis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;
    use crate::solid::block_matrix::BlockMatrix;

    /// A chain of springs between the points of a block, some of them pinned and one on a
    /// plane: any guess is shifted so that what constraints have given makes up the sum.
    #[test]
    fn the_sum_of_all_equations_is_met() {
        let block = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::ONE,
            cells: [2, 2, 2],
        };
        let mesh = block.build().unwrap();
        let n = mesh.points.len();
        let mut stiffness = BlockMatrix::new(&mesh);
        for i in 0..n {
            let row = stiffness.row(i);
            let springs = row.len() as f32 - 1.0;
            for k in row.clone() {
                let own = if k == row.start { springs } else { -1.0 };
                stiffness.block[k] = own * Mat3A::IDENTITY;
            }
        }
        let mut freedom = vec![Freedom::Free; n];
        (freedom[0], freedom[5]) = (Freedom::Fixed, Freedom::Plane(Vec3A::Y));
        let diagonal: Vec<f32> = (0..n).map(|i| 1.0 + 0.1 * i as f32).collect();
        let system = System {
            stiffness: &stiffness,
            diagonal: &diagonal,
            scale: 3.0,
            freedom: &freedom,
        };
        let wave = |i: usize| Vec3A::new((i as f32).sin(), (2.0 * i as f32).cos(), 0.5);
        let impulse: Vec<Vec3A> = (0..n).map(wave).collect();
        let mut change: Vec<Vec3A> = (0..n)
            .map(|i| freedom[i].filter(0.1 * wave(3 * i)))
            .collect();
        keep_momentum(&system, &impulse, &[], &mut change);
        let mut image = Vec::new();
        system.times(&change, &mut image);
        let left: DVec3 = (0..n)
            .map(|i| double(freedom[i].filter(image[i] - impulse[i])))
            .sum();
        assert!(left.length() < 1e-4, "{left}");
        assert!(change[0] == Vec3A::ZERO && change[5].y == 0.0);
    }

    /// A free splinter of a few grams takes up all that it is given.
    #[test]
    fn light_pieces_are_met_as_exactly_as_heavy_ones() {
        let block = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::ONE,
            cells: [1, 1, 1],
        };
        let mesh = block.build().unwrap();
        let n = mesh.points.len();
        let stiffness = BlockMatrix::new(&mesh);
        let (freedom, diagonal) = (vec![Freedom::Free; n], vec![1e-3; n]);
        let system = System {
            stiffness: &stiffness,
            diagonal: &diagonal,
            scale: 1.0,
            freedom: &freedom,
        };
        let impulse = vec![Vec3A::new(1e-3, 2e-3, 0.0); n];
        let mut change = vec![Vec3A::ZERO; n];
        keep_momentum(&system, &impulse, &[], &mut change);
        for change in change {
            assert!(
                (change - Vec3A::new(1.0, 2.0, 0.0)).length() < 1e-5,
                "{change}"
            );
        }
    }
}
