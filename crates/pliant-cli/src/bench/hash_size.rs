//! The size of the hash table of Mesit 2010, which its author left to be studied, and its
//! count of operations (4.5) beside the time that they take.

use std::hint::black_box;

use pliant::math::XyzVec;
use pliant::mesh::EvenSphere;
use pliant::space::{CellSize, ModuloHash, NeighbourSearch};
use serde::Serialize;

use super::neighbours::median_ms;
use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

/// Core radius over the mean edge, as of the wine glasses.
const REACH: f32 = 2.2;
/// Buckets per axis; 13 to 17 are the author's advice for these bodies.
const SIZES: [u32; 8] = [3, 5, 9, 13, 15, 17, 25, 41];

#[derive(Serialize)]
struct Row {
    points: usize,
    hash_size: u32,
    buckets: u32,
    /// Points in a list that is looked through, on average.
    n_h: f64,
    /// Points within the core radius, on average.
    n_k: f64,
    /// 2 (C + n) + n n_k + 54 n n_h.
    million_operations: f64,
    ms_per_frame: f64,
    ns_per_operation: f64,
}

/// Prints the table.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Neighbour search: hash size",
        "Mesit 2010, 4.5: the points of a ball with a fluid skin in tables of HT^3 buckets, cells \
         of twice the core radius. A frame fills the table and searches around every point twice, \
         as a frame there does. Operations by its formula 2 (C + n) + n n_k + 54 n n_h, with n_h \
         and n_k as counted. One thread.",
    );
    let repeats = if args.quick { 3 } else { 21 };
    for points in [2_500, 4_000] {
        let ball = EvenSphere {
            points,
            ..EvenSphere::default()
        };
        let ball = ball.build().map_err(|e| CliError::Usage(e.to_string()))?;
        let radius = REACH * ball.mean_edge();
        let points: XyzVec = ball.vertices.iter().copied().collect();
        for size in SIZES {
            out.row(
                &[("bench", "neighbours"), ("case", "hash-size")],
                &row(&points, radius, size, repeats),
            );
        }
    }
    out.note(
        "The counted work falls until the table has a bucket for every cell around the ball; \
         clearing larger ones only costs.",
    );
    Ok(())
}

fn row(points: &XyzVec, radius: f32, size: u32, repeats: usize) -> Row {
    let mut hash = ModuloHash::with(CellSize::TwiceRadius, Some(size));
    let ms_per_frame = median_ms(repeats, || {
        let start = std::time::Instant::now();
        for _ in 0..2 {
            hash.build(points.view(), radius);
            black_box(found(&hash, points));
        }
        1e3 * start.elapsed().as_secs_f64()
    });
    let n = points.len() as f64;
    let tested: usize = points.view().iter().map(|p| hash.tested(p)).sum();
    let (n_h, n_k) = (tested as f64 / (27.0 * n), found(&hash, points) as f64 / n);
    let buckets = size.pow(3);
    let operations = 2.0 * (f64::from(buckets) + n) + n * n_k + 54.0 * n * n_h;
    Row {
        points: points.len(),
        hash_size: size,
        buckets,
        n_h,
        n_k,
        million_operations: 1e-6 * operations,
        ms_per_frame,
        ns_per_operation: 1e6 * ms_per_frame / operations,
    }
}

/// Neighbours of all points.
fn found(hash: &ModuloHash, points: &XyzVec) -> u64 {
    let mut found = 0;
    for center in points.view().iter() {
        hash.for_each_within(points.view(), center, &mut |_| found += 1);
    }
    found
}
