//! Cholesky's factors of a block matrix within its envelope: a direct solver for bodies
//! that are thin or small.
//!
//! Points are numbered from one end of the body to the other (Cuthill & McKee 1969,
//! reversed as George 1971 has it), so that a row of the factor reaches back only to the
//! first point that it is joined with. Thin bodies have short rows. Conjugate gradients
//! with a block-diagonal preconditioner need as many iterations as the body has elements
//! along it, times its stiffness; here the cost does not depend on either.

use std::collections::VecDeque;

use glam::{Mat3A, Vec3A};

use super::block_matrix::BlockMatrix;
use super::conjugate_gradient::{Matrix, System};
use crate::observe::{CheckpointError, Decoder, Encoder};
use crate::simd::{Lanes, WIDTH, dispatch};

/// Most multiplications of one factoring.
const MOST_WORK: f64 = 1e9;
/// How much larger the diagonal is made if rounding spoils the factor: it is a
/// preconditioner and need not be exact.
const MORE: [f32; 4] = [0.0, 1e-5, 1e-4, 1e-3];
/// A factor serves for sub-steps with up to this many times its factor of the stiffness.
const NEAR: f32 = 1.5;

/// Where the numbers of a factor are.
#[derive(Clone, Debug)]
struct Layout {
    /// The point at every place.
    order: Vec<u32>,
    /// The place of every point.
    place: Vec<u32>,
    /// Place of the first point that a row reaches back to.
    first: Vec<u32>,
    /// Where the three rows of numbers of a place begin, and the end.
    start: Vec<usize>,
}

/// The factor of a matrix as it was at some step.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    layout: Layout,
    /// Lower triangle, three rows of numbers per place, `WIDTH` longer than needed.
    lower: Vec<f32>,
    /// 1 / numbers on its diagonal.
    inverse: Vec<f32>,
    /// The factor of the stiffness in the matrix; 0 if there is none yet.
    pub scale: f32,
}

impl Envelope {
    /// An empty factor for matrices of this shape, if that is worth it: not too large, and
    /// solved with sooner than by some `iterations` products with the matrix.
    pub fn new(matrix: &BlockMatrix, iterations: u32) -> Option<Envelope> {
        let layout = Layout::new(matrix);
        let reach = |k: usize| 3.0 * (k as f64 + 1.0 - f64::from(layout.first[k]));
        let n = layout.order.len();
        let work: f64 = (0..n).map(|k| 3.0 * reach(k) * reach(k)).sum();
        let (own, product) = (2 * layout.start[n], 9 * matrix.block.len());
        if work > MOST_WORK || own > iterations as usize * product {
            return None;
        }
        Some(Envelope {
            lower: vec![0.0; layout.start[n] + WIDTH],
            inverse: vec![0.0; 3 * n],
            layout,
            scale: 0.0,
        })
    }

    /// Factors the matrix of a system. Points that are held, or held to a plane, are held
    /// here too. A matrix that is not positive definite leaves no factor.
    pub fn factor(&mut self, system: &System<'_>) {
        self.scale = 0.0;
        for more in MORE {
            self.fill(system, 1.0 + more);
            let (layout, lower, inverse) = (&self.layout, &mut self.lower, &mut self.inverse);
            let mut done = true;
            let good = &mut done;
            dispatch!(eliminate(
                layout: &Layout, lower: &mut [f32], inverse: &mut [f32], good: &mut bool
            ));
            if done {
                self.scale = system.scale;
                return;
            }
        }
    }

    /// Writes the matrix of a system, with its diagonal that much larger.
    fn fill(&mut self, system: &System<'_>, larger: f32) {
        self.lower.fill(0.0);
        let held: Vec<Mat3A> = system.freedom.iter().map(|f| f.matrix()).collect();
        let Layout {
            order,
            place,
            first,
            start,
        } = &self.layout;
        for (k, &point) in order.iter().enumerate() {
            let (point, from) = (point as usize, first[k] as usize);
            let width = 3 * (k + 1 - from);
            let row = system.stiffness.row(point);
            let blocks = system.stiffness.block[row.clone()].iter();
            for (block, &other) in blocks.zip(&system.stiffness.column[row]) {
                let l = place[other as usize] as usize;
                if l > k {
                    continue;
                }
                let mut block = held[point] * (*block * system.scale) * held[other as usize];
                if l == k {
                    let whole = system.diagonal_block(point);
                    let mean = (whole.x_axis.x + whole.y_axis.y + whole.z_axis.z) / 3.0;
                    let free = held[point];
                    block += free * system.diagonal[point] + (Mat3A::IDENTITY - free) * mean;
                    block.x_axis.x *= larger;
                    block.y_axis.y *= larger;
                    block.z_axis.z *= larger;
                }
                for (a, numbers) in block.transpose().to_cols_array_2d().iter().enumerate() {
                    let at = start[k] + a * width + 3 * (l - from);
                    self.lower[at..at + 3].copy_from_slice(numbers);
                }
            }
        }
    }

    /// True if the factor serves for equations with this factor of the stiffness.
    pub fn serves(&self, scale: f32) -> bool {
        self.scale > scale / NEAR && self.scale < scale * NEAR
    }

    /// Writes the factor: it is older than the state, and a restart must have the same one.
    pub fn save(&self, out: &mut Encoder) {
        out.f32(self.scale);
        if self.scale > 0.0 {
            out.f32s(&self.lower);
            out.f32s(&self.inverse);
        }
    }

    /// Restores what [`Envelope::save`] wrote.
    pub fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        self.scale = from.f32()?;
        if self.scale > 0.0 {
            from.f32s(&mut self.lower)?;
            from.f32s(&mut self.inverse)?;
        }
        Ok(())
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        4 * self.lower.capacity() + 32 * self.layout.order.len()
    }

    /// Solves the factored equations for `b`; `numbers` is room to work in.
    pub fn solve(&self, b: &[Vec3A], x: &mut [Vec3A], numbers: &mut Vec<f32>) {
        numbers.clear();
        for &point in &self.layout.order {
            numbers.extend(b[point as usize].to_array());
        }
        numbers.resize(3 * b.len() + WIDTH, 0.0);
        let y: &mut [f32] = numbers;
        let (layout, lower, inverse) = (&self.layout, &self.lower[..], &self.inverse[..]);
        dispatch!(substitute(layout: &Layout, lower: &[f32], inverse: &[f32], y: &mut [f32]));
        for (k, &point) in self.layout.order.iter().enumerate() {
            x[point as usize] = Vec3A::from_slice(&numbers[3 * k..]);
        }
    }
}

impl Layout {
    fn new(matrix: &BlockMatrix) -> Layout {
        let order = number(matrix);
        let n = order.len();
        let mut place = vec![0; n];
        for (k, &point) in order.iter().enumerate() {
            place[point as usize] = k as u32;
        }
        let reach = |&point: &u32| {
            let columns = &matrix.column[matrix.row(point as usize)];
            columns.iter().map(|&c| place[c as usize]).min()
        };
        let first: Vec<u32> = order.iter().filter_map(reach).collect();
        let mut start = vec![0];
        let mut end = 0;
        for (k, &from) in first.iter().enumerate() {
            end += 9 * (k + 1 - from as usize);
            start.push(end);
        }
        Layout {
            order,
            place,
            first,
            start,
        }
    }

    /// Where the first of three rows begins, and the distance to the next.
    #[inline]
    fn row(&self, k: usize) -> (usize, usize) {
        let width = 3 * (k + 1 - self.first[k] as usize);
        (self.start[k], width)
    }
}

/// The points in an order in which neighbours are near each other.
fn number(matrix: &BlockMatrix) -> Vec<u32> {
    let n = matrix.start.len() - 1;
    let mut order = Vec::with_capacity(n);
    let mut reached = vec![false; n];
    for seed in 0..n as u32 {
        if reached[seed as usize] {
            continue;
        }
        // The last point of a walk is at an end of the body; the next walk starts there.
        let mut from = seed;
        for _ in 0..3 {
            let mut seen = reached.clone();
            from = *walk(matrix, from, &mut seen).last().unwrap_or(&from);
        }
        order.extend(walk(matrix, from, &mut reached));
    }
    order.reverse();
    order
}

/// All points from `from` on, the nearest first; among equals those with few neighbours.
fn walk(matrix: &BlockMatrix, from: u32, reached: &mut [bool]) -> Vec<u32> {
    let joined = |i: &u32| (matrix.row(*i as usize).len(), *i);
    let mut queue = VecDeque::from([from]);
    let mut order = Vec::new();
    reached[from as usize] = true;
    while let Some(i) = queue.pop_front() {
        order.push(i);
        let columns = matrix.column[matrix.row(i as usize)].iter().copied();
        let mut next: Vec<u32> = columns.filter(|&c| !reached[c as usize]).collect();
        next.sort_unstable_by_key(joined);
        for c in next {
            reached[c as usize] = true;
            queue.push_back(c);
        }
    }
    order
}

/// A = L Lᵀ in place, row by row, three numbers at a time.
#[inline(always)]
fn eliminate<L: Lanes>(
    l: L,
    layout: &Layout,
    lower: &mut [f32],
    inverse: &mut [f32],
    good: &mut bool,
) {
    for i in 0..layout.order.len() {
        let (row, width) = layout.row(i);
        let from = layout.first[i] as usize;
        for j in from..=i {
            let (other, other_width) = layout.row(j);
            let other_from = layout.first[j] as usize;
            let begin = from.max(other_from);
            let count = 3 * (j - begin);
            let own = row + 3 * (begin - from);
            let own = [own, own + width, own + 2 * width];
            let others = other + 3 * (begin - other_from);
            let others = [others, others + other_width, others + 2 * other_width];
            let sums = products(l, lower, own, others, count);
            for a in 0..3 {
                // Of the diagonal block only the lower half.
                for b in 0..if i == j { a + 1 } else { 3 } {
                    let at = own[a] + count + b;
                    let mut value = lower[at] - sums[a][b];
                    for c in 0..b {
                        value -= lower[own[a] + count + c] * lower[others[b] + count + c];
                    }
                    if i == j && a == b {
                        // Rounding alone must not decide.
                        *good &= value > 1e-6 * lower[at];
                        value = value.max(f32::MIN_POSITIVE).sqrt();
                        inverse[3 * i + a] = 1.0 / value;
                    } else {
                        value *= inverse[3 * j + b];
                    }
                    lower[at] = value;
                }
            }
        }
    }
}

/// The products of three rows of `count` numbers with three others.
#[inline(always)]
fn products<L: Lanes>(
    l: L,
    values: &[f32],
    own: [usize; 3],
    others: [usize; 3],
    count: usize,
) -> [[f32; 3]; 3] {
    let zero = l.splat(0.0);
    let mut sums = [[zero; 3]; 3];
    let mut k = 0;
    while k < count {
        let inside = l.first((count - k).min(WIDTH));
        let mut rows = [zero; 3];
        let mut columns = [zero; 3];
        for a in 0..3 {
            // SAFETY: all rows end before the last `WIDTH` numbers.
            unsafe {
                rows[a] = l.load(values, own[a] + k);
                columns[a] = l.load(values, others[a] + k);
            }
        }
        if count - k < WIDTH {
            for a in 0..3 {
                rows[a] = l.keep(rows[a], inside);
                columns[a] = l.keep(columns[a], inside);
            }
        }
        for a in 0..3 {
            for b in 0..3 {
                sums[a][b] = l.add(sums[a][b], l.mul(rows[a], columns[b]));
            }
        }
        k += WIDTH;
    }
    let mut out = [[0.0; 3]; 3];
    for a in 0..3 {
        for b in 0..3 {
            out[a][b] = l.sum(sums[a][b]);
        }
    }
    out
}

/// L Lᵀ x = y in place.
#[inline(always)]
fn substitute<L: Lanes>(l: L, layout: &Layout, lower: &[f32], inverse: &[f32], y: &mut [f32]) {
    let zero = l.splat(0.0);
    let n = layout.order.len();
    for i in 0..n {
        let (row, width) = layout.row(i);
        let (begin, count) = (3 * layout.first[i] as usize, width - 3);
        let mut sums = [zero; 3];
        let mut k = 0;
        while k < count {
            let inside = l.first((count - k).min(WIDTH));
            // SAFETY: rows of `lower`, and `y`, are followed by `WIDTH` numbers.
            unsafe {
                let there = l.load(y, begin + k);
                for (a, sum) in sums.iter_mut().enumerate() {
                    let term = l.mul(l.load(lower, row + a * width + k), there);
                    *sum = l.add(*sum, l.keep(term, inside));
                }
            }
            k += WIDTH;
        }
        for (a, sum) in sums.into_iter().enumerate() {
            let mut value = y[3 * i + a] - l.sum(sum);
            for b in 0..a {
                value -= lower[row + a * width + count + b] * y[3 * i + b];
            }
            y[3 * i + a] = value * inverse[3 * i + a];
        }
    }
    for i in (0..n).rev() {
        let (row, width) = layout.row(i);
        let (begin, count) = (3 * layout.first[i] as usize, width - 3);
        for a in (0..3).rev() {
            let mut value = y[3 * i + a];
            for b in a + 1..3 {
                value -= lower[row + b * width + count + a] * y[3 * i + b];
            }
            y[3 * i + a] = value * inverse[3 * i + a];
        }
        let own = [
            l.splat(y[3 * i]),
            l.splat(y[3 * i + 1]),
            l.splat(y[3 * i + 2]),
        ];
        let mut k = 0;
        while k < count {
            let inside = l.first((count - k).min(WIDTH));
            // SAFETY: as above.
            unsafe {
                let mut there = l.load(y, begin + k);
                for (a, own) in own.iter().enumerate() {
                    let term = l.mul(l.load(lower, row + a * width + k), *own);
                    there = l.sub(there, l.keep(term, inside));
                }
                l.store(there, y, begin + k);
            }
            k += WIDTH;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::conjugate_gradient::Freedom;
    use super::*;
    use crate::mesh::TetBlock;
    use crate::solid::assembly::ElasticBody;
    use crate::solid::{Elastic, Environment, Solid, SolidModel, SolidSettings};

    /// Products with the matrix give back what was solved for, with held points and ones
    /// that slide along a plane.
    #[test]
    fn what_is_solved_is_solved() {
        let mesh = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::new(0.6, 0.1, 0.1),
            cells: [12, 2, 3],
        };
        let mesh = mesh.build().unwrap();
        let n = mesh.points.len();
        let mut body = ElasticBody::new(Elastic::default(), &mesh);
        let bent: Vec<Vec3A> = mesh
            .points
            .iter()
            .map(|p| Vec3A::new(0.1 * p.y, 0.2 * p.x * p.x, 0.05 * p.x))
            .collect();
        body.assemble(&mesh.tets, &bent, 0.0);
        let freedom: Vec<Freedom> = mesh
            .points
            .iter()
            .map(|p| match p.x {
                x if x < 1e-3 => Freedom::Fixed,
                x if x > 0.59 => Freedom::Plane(Vec3A::new(0.6, 0.8, 0.0)),
                _ => Freedom::Free,
            })
            .collect();
        let diagonal = vec![1e-3; n];
        let system = System {
            stiffness: &body.stiffness,
            diagonal: &diagonal,
            scale: 1e-5,
            freedom: &freedom,
        };
        let mut factor = Envelope::new(&body.stiffness, 100).unwrap();
        factor.factor(&system);
        let right: Vec<Vec3A> = (0..n)
            .map(|i| freedom[i].filter(Vec3A::new(1.0, (i % 7) as f32, -0.3)))
            .collect();
        let (mut x, mut image) = (vec![Vec3A::ZERO; n], Vec::new());
        factor.solve(&right, &mut x, &mut Vec::new());
        system.times(&x, &mut image);
        for i in 0..n {
            let left = freedom[i].filter(image[i]) - right[i];
            assert!(left.length() < 1e-3, "{i}: {left}");
            assert!((freedom[i].filter(x[i]) - x[i]).length() <= 1e-4 * x[i].length());
        }
    }

    /// A long thin beam falls to rest in few iterations, and a restart has the same bits.
    #[test]
    fn thin_bodies_need_few_iterations() {
        let mesh = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::new(1.0, 0.02, 0.02),
            cells: [50, 2, 2],
        };
        let model = SolidModel::Elastic(Elastic {
            young: 1e8,
            tolerance: 1e-6,
            ..Elastic::default()
        });
        let build = || {
            let settings = SolidSettings::new("beam", model.clone());
            let mut solid = Solid::new(settings, mesh.build().unwrap()).unwrap();
            solid.pin_where(|p| p.x < 1e-3);
            solid
        };
        let around = Environment::new(-9.81 * Vec3::Y, &[], []);
        let mut solid = build();
        let mut copy = None;
        for k in 0..60 {
            if k == 30 {
                let mut out = Encoder::default();
                solid.save(&mut out);
                let bytes = out.finish();
                let mut from = Decoder::open(&bytes).unwrap();
                let mut restarted = build();
                restarted.load(&mut from).unwrap();
                copy = Some(restarted);
            }
            solid.advance(0.005, &around);
            let (iterations, residual) = solid.solver().unwrap();
            assert!(
                iterations <= 12 && residual < 1e-5,
                "{iterations} {residual}"
            );
            if let Some(copy) = &mut copy {
                copy.advance(0.005, &around);
                assert_eq!(copy.displacement(7), solid.displacement(7));
            }
        }
        // The tip has gone down.
        assert!(
            solid
                .rest()
                .points
                .iter()
                .enumerate()
                .any(|(i, _)| solid.displacement(i).y < -1e-3)
        );
    }
}
