//! A sparse symmetric matrix of 3 x 3 blocks, a row of blocks per point.

use glam::{DVec3, Mat3A, Vec3, Vec3A};
use rayon::prelude::*;

use crate::crew::Spread;
use crate::mesh::TetMesh;

/// Rows per task. Sums over rows are made per task and then in order.
pub(super) const ROWS: usize = 512;
/// Up to this many tasks one thread is faster than waking others.
const ALONE: usize = 3;

/// Blocks by rows; the first of a row is on the diagonal.
#[derive(Clone, Debug)]
pub(super) struct BlockMatrix {
    pub start: Vec<u32>,
    pub column: Vec<u32>,
    pub block: Vec<Mat3A>,
    /// The piece of the body that every point belongs to, and how many there are.
    piece: Vec<u32>,
    pieces: usize,
}

impl BlockMatrix {
    /// A zero matrix with a block wherever an edge of the mesh is.
    pub fn new(mesh: &TetMesh) -> BlockMatrix {
        let n = mesh.points.len();
        let edges = mesh.edges();
        let mut start = vec![0u32; n + 1];
        for &v in edges.iter().flatten() {
            start[v as usize + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i] + 1;
        }
        let mut column = vec![0; start[n] as usize];
        let mut next: Vec<u32> = start[..n].iter().map(|s| s + 1).collect();
        for i in 0..n {
            column[start[i] as usize] = i as u32;
        }
        for [a, b] in edges {
            for (row, col) in [(a, b), (b, a)] {
                column[next[row as usize] as usize] = col;
                next[row as usize] += 1;
            }
        }
        let (piece, pieces) = pieces(&start, &column);
        BlockMatrix {
            block: vec![Mat3A::ZERO; column.len()],
            start,
            column,
            piece,
            pieces,
        }
    }

    /// How many pieces no edge joins.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The piece of point `i`.
    #[inline]
    pub fn piece(&self, i: usize) -> usize {
        self.piece.get(i).map_or(0, |&p| p as usize)
    }

    /// A matrix of `n` rows without any block: that of a body whose forces are explicit.
    pub fn empty(n: usize) -> BlockMatrix {
        BlockMatrix {
            start: vec![0; n + 1],
            column: Vec::new(),
            block: Vec::new(),
            piece: Vec::new(),
            pieces: 1,
        }
    }

    /// The block on the diagonal of row `i`; zero if the row has none.
    #[inline]
    pub fn diagonal(&self, i: usize) -> Mat3A {
        let row = self.row(i);
        self.block[row].first().copied().unwrap_or(Mat3A::ZERO)
    }

    /// Blocks of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }

    /// Where column `j` is in row `i`, counted from the row's start.
    pub fn slot(&self, i: usize, j: u32) -> Option<u16> {
        let columns = &self.column[self.row(i)];
        columns.iter().position(|&c| c == j).map(|s| s as u16)
    }

    /// Row `i` times `x`, without rounding on the way.
    pub fn row_times_exactly(&self, i: usize, x: &[Vec3A]) -> DVec3 {
        let double = |v: Vec3A| Vec3::from(v).as_dvec3();
        let mut sum = DVec3::ZERO;
        for k in self.row(i) {
            let (block, x) = (&self.block[k], double(x[self.column[k] as usize]));
            sum += double(block.x_axis) * x.x;
            sum += double(block.y_axis) * x.y;
            sum += double(block.z_axis) * x.z;
        }
        sum
    }

    /// Row `i` times `x`.
    #[inline]
    pub fn row_times(&self, i: usize, x: &[Vec3A]) -> Vec3A {
        let range = self.row(i);
        let (blocks, columns) = (&self.block[range.clone()], &self.column[range]);
        blocks
            .iter()
            .zip(columns)
            .fold(Vec3A::ZERO, |sum, (b, &c)| sum + *b * x[c as usize])
    }

    /// The product with `x`.
    pub fn times(&self, x: &[Vec3A], out: &mut Vec<Vec3A>) {
        out.resize(x.len(), Vec3A::ZERO);
        run(out.chunks_mut(ROWS).enumerate().collect(), |(k, out)| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = self.row_times(k * ROWS + i, x);
            }
            0.0
        });
    }

    /// Where rows start, and the blocks split into those of `ROWS` rows each, with the
    /// first row's number.
    pub fn tasks_mut(&mut self) -> (&[u32], Vec<(usize, &mut [Mat3A])>) {
        let mut rest: &mut [Mat3A] = &mut self.block;
        let start: &[u32] = &self.start;
        let n = start.len() - 1;
        let tasks = (0..n)
            .step_by(ROWS)
            .map(|first| {
                let last = (first + ROWS).min(n);
                let count = (start[last] - start[first]) as usize;
                let (own, others) = std::mem::take(&mut rest).split_at_mut(count);
                rest = others;
                (first, own)
            })
            .collect();
        (start, tasks)
    }
}

/// Runs all tasks, on all threads if there are enough, and adds their results in
/// order.
pub(super) fn run<T: Send>(tasks: Vec<T>, work: impl Fn(T) -> f64 + Sync + Send) -> f64 {
    if tasks.len() <= ALONE {
        return tasks.into_iter().map(work).sum();
    }
    let parts: Vec<f64> = tasks.into_par_iter().spread_map(work);
    parts.iter().sum()
}

/// Numbers the pieces that rows with common blocks make, in the order of their first points.
fn pieces(start: &[u32], column: &[u32]) -> (Vec<u32>, usize) {
    const NONE: u32 = u32::MAX;
    let n = start.len() - 1;
    let (mut piece, mut count) = (vec![NONE; n], 0);
    let mut open = Vec::new();
    for first in 0..n {
        if piece[first] != NONE {
            continue;
        }
        piece[first] = count;
        open.push(first);
        while let Some(i) = open.pop() {
            for &j in &column[start[i] as usize..start[i + 1] as usize] {
                if piece[j as usize] == NONE {
                    piece[j as usize] = count;
                    open.push(j as usize);
                }
            }
        }
        count += 1;
    }
    (piece, count as usize)
}
