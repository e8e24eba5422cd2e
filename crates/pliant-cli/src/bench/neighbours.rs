//! Neighbour search: the two experiments of Mesit 2010, and the cost of the
//! engine's own grid.

use std::hint::black_box;
use std::time::Instant;

use glam::Vec3;
use pliant::math::{Xyz, XyzVec};
use pliant::space::{CellGrid, CellSize, ModuloHash, NeighbourSearch, all_searches};
use rayon::prelude::*;
use serde::Serialize;

use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

/// Edge of the box that holds the points of Mesit 2010, section 4.3. The box of
/// section 4.2 is not printed; the same is used.
const BOX_EDGE: f32 = 200.0;

/// Radius of the moving-points experiment; not printed in Mesit 2010.
const SEARCH_RADIUS: f32 = 10.0;

/// Distance at which two points collide; not printed in Mesit 2010. Below the
/// smallest cell, so that one cell around is enough.
const COLLISION_THRESHOLD: f32 = 2.0;

/// Point counts of Table 4-1.
const TABLE_4_1_POINTS: [usize; 4] = [1000, 3000, 5000, 7000];

/// One row of Table 4-1 of Mesit 2010, as printed.
struct PaperRow {
    cell_side: f32,
    cells: u32,
    /// Frames per second for each of [`TABLE_4_1_POINTS`].
    fps: [f64; 4],
}

const fn paper_row(cell_side: u32, cells: u32, fps: [u32; 4]) -> PaperRow {
    PaperRow {
        cell_side: cell_side as f32,
        cells,
        fps: [fps[0] as f64, fps[1] as f64, fps[2] as f64, fps[3] as f64],
    }
}

/// Table 4-1 of Mesit 2010: cell side, number of cells, frames per second for
/// 1,000, 3,000, 5,000 and 7,000 points.
#[rustfmt::skip]
const TABLE_4_1: [PaperRow; 26] = [
    paper_row(5, 64_000, [105, 84, 67, 56]),
    paper_row(6, 39_304, [161, 111, 86, 64]),
    paper_row(7, 24_389, [221, 136, 98, 73]),
    paper_row(8, 15_625, [268, 154, 108, 76]),
    paper_row(9, 12_167, [311, 156, 109, 78]),
    paper_row(10, 8_000, [355, 179, 115, 85]),
    paper_row(11, 6_859, [392, 180, 116, 83]),
    paper_row(12, 4_913, [428, 184, 114, 85]),
    paper_row(13, 4_096, [436, 181, 111, 82]),
    paper_row(14, 3_375, [458, 178, 109, 80]),
    paper_row(15, 2_744, [466, 177, 107, 74]),
    paper_row(16, 2_197, [476, 177, 104, 75]),
    paper_row(17, 1_728, [482, 175, 101, 70]),
    paper_row(18, 1_728, [472, 166, 100, 65]),
    paper_row(19, 1_331, [466, 164, 93, 57]),
    paper_row(20, 1_000, [471, 158, 89, 55]),
    paper_row(21, 1_000, [460, 149, 85, 54]),
    paper_row(22, 1_000, [459, 145, 81, 52]),
    paper_row(23, 729, [458, 138, 77, 50]),
    paper_row(24, 729, [450, 130, 70, 47]),
    paper_row(25, 512, [443, 124, 66, 44]),
    paper_row(26, 512, [422, 121, 58, 41]),
    paper_row(27, 512, [425, 115, 57, 39]),
    paper_row(28, 512, [420, 110, 55, 36]),
    paper_row(29, 343, [407, 105, 53, 34]),
    paper_row(30, 343, [401, 102, 53, 33]),
];

/// Points moving at random, indexed and searched anew each frame (Mesit 2010,
/// section 4.2, fig. 4-7).
#[derive(Clone, Debug, Serialize)]
pub struct MovingPointsRow {
    /// Number of points.
    pub points: usize,
    /// Name of the structure.
    pub method: &'static str,
    /// Median time to index all points and search around each, in milliseconds.
    pub ms_per_frame: f64,
    /// Frames per second.
    pub fps: f64,
    /// Frames per second printed in Mesit 2010.
    pub paper_fps: Option<f64>,
}

/// Collision search with one cell size (Mesit 2010, section 4.3, Table 4-1).
#[derive(Clone, Debug, Serialize)]
pub struct CellSizeRow {
    /// Number of points.
    pub points: usize,
    /// Side of a cell, in metres.
    pub cell_side: f32,
    /// True if the side follows from one point per cell instead of the table.
    pub one_point_per_cell: bool,
    /// Number of cells in the box, and of buckets in the table.
    pub cells: u32,
    /// Points per cell.
    pub density: f64,
    /// Median time to index all points and test each for collisions, in
    /// milliseconds.
    pub ms_per_frame: f64,
    /// Frames per second.
    pub fps: f64,
    /// Frames per second printed in Mesit 2010.
    pub paper_fps: Option<f64>,
}

/// The engine's grid on a block of liquid with about 33 neighbours per point.
#[derive(Clone, Debug, Serialize)]
pub struct CellGridRow {
    /// Number of points.
    pub points: usize,
    /// Threads at work.
    pub threads: usize,
    /// Mean number of points found around a point, itself included.
    pub found_per_point: f64,
    /// Build from points in random order, in nanoseconds per point.
    pub ns_per_point_build_shuffled: f64,
    /// Build from points that moved a little since they were last sorted, as in a
    /// running fluid, in nanoseconds per point.
    pub ns_per_point_build: f64,
    /// Search around every point through the rows of the grid, with the points
    /// permuted into its order as in a fluid, in nanoseconds per point.
    pub ns_per_point_query: f64,
    /// The same through the common trait, point by point.
    pub ns_per_point_query_trait: f64,
    /// Through the common trait with points in random order: what it costs not
    /// to permute them.
    pub ns_per_point_query_shuffled: f64,
    /// Heap memory of the grid per point.
    pub bytes_per_point: f64,
}

/// Prints both experiments, the size of the table and the engine's grid.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    let first = |case| [("bench", "neighbours"), ("case", case)];
    out.table(
        "Neighbour search: points moving at random",
        "Mesit 2010, section 4.2: index all points and search around each, every frame. One \
         thread except for the cell grid. The paper's laptop had a Core-2 Duo at 2.0 GHz; its \
         box and radius are not printed, ours are 200 m and 10 m.",
    );
    for row in moving_points(args.quick) {
        out.row(&first("moving-points"), &row);
    }
    out.table(
        "Neighbour search: cell size",
        "Mesit 2010, Table 4-1: collision search with 26 cell sizes, beside the paper's frame \
         rates. The threshold is not printed, ours is 2 m.",
    );
    for row in cell_sizes(args.quick) {
        out.row(&first("cell-size"), &row);
    }
    out.note(
        "Mesit 2010 found the best rate at about one point per cell. Here smaller cells are better \
         still: the table is flat, so that clearing it costs little.",
    );
    super::hash_size::bench(args, out)?;
    out.table(
        "Neighbour search: the engine's cell grid",
        "A block of liquid with about 33 neighbours per point.",
    );
    for row in cell_grid(args.quick) {
        out.row(&first("cell-grid"), &row);
    }
    Ok(())
}

/// All structures with 500 to 6,000 points moving at random.
fn moving_points(quick: bool) -> Vec<MovingPointsRow> {
    let counts: &[usize] = if quick {
        &[500, 6000]
    } else {
        &[500, 1000, 1500, 2000, 3000, 4000, 5000, 6000]
    };
    let frames = if quick { 5 } else { 21 };
    let mut rows = Vec::new();
    for &n in counts {
        for mut search in all_searches() {
            let mut random = Random::new(n as u64);
            let mut points = random.points_in_box(n);
            let ms_per_frame = median_ms(frames, || {
                random.move_points(&mut points);
                let timer = Instant::now();
                black_box(search_all(search.as_mut(), points.view(), SEARCH_RADIUS));
                timer.elapsed().as_secs_f64() * 1e3
            });
            rows.push(MovingPointsRow {
                points: n,
                method: search.name(),
                ms_per_frame,
                fps: 1e3 / ms_per_frame,
                paper_fps: paper_fps(search.name(), n),
            });
        }
    }
    rows
}

/// Table 4-1: four point counts, 26 cell sizes, and the cell size of one point
/// per cell that the table led its author to.
fn cell_sizes(quick: bool) -> Vec<CellSizeRow> {
    let frames = if quick { 3 } else { 21 };
    let mut rows = Vec::new();
    for (column, n) in TABLE_4_1_POINTS.into_iter().enumerate() {
        let measure = |cell_size: CellSize, per_axis: u32| {
            let mut random = Random::new(n as u64);
            let mut points = random.points_in_box(n);
            let mut hash = ModuloHash::with(cell_size, Some(per_axis));
            median_ms(frames, || {
                random.move_points(&mut points);
                let timer = Instant::now();
                black_box(search_all(&mut hash, points.view(), COLLISION_THRESHOLD));
                timer.elapsed().as_secs_f64() * 1e3
            })
        };
        let row =
            |cell_side: f32, cells: u32, ms_per_frame: f64, paper_fps: Option<f64>| CellSizeRow {
                points: n,
                cell_side,
                one_point_per_cell: paper_fps.is_none(),
                cells,
                density: n as f64 / f64::from(cells),
                ms_per_frame,
                fps: 1e3 / ms_per_frame,
                paper_fps,
            };
        for paper in &TABLE_4_1 {
            let side = paper.cell_side;
            let ms = measure(CellSize::Sides(Vec3::splat(side)), cells_per_axis(side));
            rows.push(row(side, paper.cells, ms, Some(paper.fps[column])));
        }
        let side = BOX_EDGE / (n as f32).cbrt();
        let per_axis = cells_per_axis(side);
        let ms = measure(CellSize::OnePointPerCell, per_axis);
        rows.push(row(side, per_axis.pow(3), ms, None));
    }
    rows
}

/// The engine's grid at 10⁴, 10⁵ and 10⁶ points on the present thread pool.
fn cell_grid(quick: bool) -> Vec<CellGridRow> {
    let counts: &[usize] = if quick {
        &[10_000, 100_000]
    } else {
        &[10_000, 100_000, 1_000_000]
    };
    let repeats = if quick { 5 } else { 11 };
    counts.iter().map(|&n| cell_grid_row(n, repeats)).collect()
}

fn cell_grid_row(n: usize, repeats: usize) -> CellGridRow {
    // Twice the spacing: a ball of 4/3 π 2³ = 33 points.
    let spacing = 0.01;
    let radius = 2.0 * spacing;
    let mut random = Random::new(n as u64);
    let points = random.block(n, spacing);
    let ns_per_point = |ms: f64| ms * 1e6 / n as f64;

    let mut grid = CellGrid::new();
    grid.build(points.view(), radius);
    let build_shuffled = median_ms(repeats, || {
        let timer = Instant::now();
        grid.build(points.view(), radius);
        timer.elapsed().as_secs_f64() * 1e3
    });
    let query_shuffled = median_ms(repeats, || {
        let timer = Instant::now();
        black_box(count_by_trait(&grid, points.view()));
        timer.elapsed().as_secs_f64() * 1e3
    });

    // As a fluid does: permute by the grid's order, move a little, build again.
    let mut sorted = permuted(&points, grid.order());
    for i in 0..n {
        let p = sorted.get(i) + random.direction() * (0.1 * spacing);
        sorted.set(i, p);
    }
    let build = median_ms(repeats, || {
        let timer = Instant::now();
        grid.build(sorted.view(), radius);
        timer.elapsed().as_secs_f64() * 1e3
    });
    let sorted = permuted(&sorted, grid.order());
    grid.build(sorted.view(), radius);
    let mut found = 0;
    let query = median_ms(repeats, || {
        let timer = Instant::now();
        found = count_in_rows(&grid, sorted.view(), radius);
        timer.elapsed().as_secs_f64() * 1e3
    });
    let query_trait = median_ms(repeats, || {
        let timer = Instant::now();
        black_box(count_by_trait(&grid, sorted.view()));
        timer.elapsed().as_secs_f64() * 1e3
    });
    CellGridRow {
        points: n,
        threads: rayon::current_num_threads(),
        found_per_point: found as f64 / n as f64,
        ns_per_point_build_shuffled: ns_per_point(build_shuffled),
        ns_per_point_build: ns_per_point(build),
        ns_per_point_query: ns_per_point(query),
        ns_per_point_query_trait: ns_per_point(query_trait),
        ns_per_point_query_shuffled: ns_per_point(query_shuffled),
        bytes_per_point: grid.bytes() as f64 / n as f64,
    }
}

/// The points in another order.
fn permuted(points: &XyzVec, order: &[u32]) -> XyzVec {
    order.iter().map(|&i| points.get(i as usize)).collect()
}

/// Counts the neighbours of all points through the common trait.
fn count_by_trait(grid: &CellGrid, points: Xyz<'_>) -> u64 {
    (0..points.len())
        .into_par_iter()
        .with_min_len(1024)
        .map(|i| {
            let mut found = 0;
            grid.for_each_within(points, points.get(i), &mut |_| found += 1);
            found
        })
        .sum()
}

/// Counts the neighbours of all points, cell by cell, on arrays in the order of
/// the grid.
fn count_in_rows(grid: &CellGrid, sorted: Xyz<'_>, radius: f32) -> u64 {
    (0..grid.cell_count())
        .into_par_iter()
        .with_min_len(256)
        .map(|cell| {
            let members = grid.cell_range(cell);
            if members.is_empty() {
                return 0;
            }
            let rows = grid.rows_around_cell(cell);
            let mut found = 0u64;
            for i in members {
                let center = sorted.get(i);
                for &(start, end) in rows.as_slice() {
                    let row = start as usize..end as usize;
                    let (x, y, z) = (
                        &sorted.x[row.clone()],
                        &sorted.y[row.clone()],
                        &sorted.z[row],
                    );
                    let mut in_row = 0u32;
                    for ((x, y), z) in x.iter().zip(y).zip(z) {
                        let d = Vec3::new(*x, *y, *z) - center;
                        in_row += u32::from(d.length_squared() <= radius * radius);
                    }
                    found += u64::from(in_row);
                }
            }
            found
        })
        .sum()
}

/// Builds, searches around every point, and returns how many were found. One
/// thread, as in Mesit 2010.
fn search_all(search: &mut dyn NeighbourSearch, points: Xyz<'_>, radius: f32) -> u64 {
    search.build(points, radius);
    let mut found = 0;
    for center in points.iter() {
        search.for_each_within(points, center, &mut |_| found += 1);
    }
    found
}

/// What Mesit 2010, section 4.2, prints in words; its curves are pictures.
fn paper_fps(method: &str, points: usize) -> Option<f64> {
    match (method, points) {
        ("aabb", 500) => Some(200.0),
        ("aabb", 1000) => Some(40.0),
        ("aabb", 6000) => Some(5.0),
        ("octree", 6000) => Some(25.0),
        ("hash modulo", 6000) => Some(40.0),
        _ => None,
    }
}

/// Cells along one edge of the box, as counted in Table 4-1.
fn cells_per_axis(cell_side: f32) -> u32 {
    (BOX_EDGE / cell_side).ceil() as u32
}

/// Median of `repeats` results of `measure`, after one that is thrown away.
pub(super) fn median_ms(repeats: usize, mut measure: impl FnMut() -> f64) -> f64 {
    measure();
    let mut times: Vec<f64> = (0..repeats).map(|_| measure()).collect();
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A small repeatable source of random numbers (SplitMix64, Steele et al. 2014).
struct Random {
    state: u64,
}

impl Random {
    fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Uniform in the cube from -1 to 1.
    fn direction(&mut self) -> Vec3 {
        2.0 * Vec3::new(self.unit(), self.unit(), self.unit()) - Vec3::ONE
    }

    fn points_in_box(&mut self, n: usize) -> XyzVec {
        (0..n)
            .map(|_| BOX_EDGE * Vec3::new(self.unit(), self.unit(), self.unit()))
            .collect()
    }

    /// A random step of up to one metre on each axis, kept inside the box.
    fn move_points(&mut self, points: &mut XyzVec) {
        for i in 0..points.len() {
            let p = points.get(i) + self.direction();
            points.set(i, p.clamp(Vec3::ZERO, Vec3::splat(BOX_EDGE)));
        }
    }

    /// A cube of liquid: a lattice, jittered, in random order.
    fn block(&mut self, n: usize, spacing: f32) -> XyzVec {
        let edge = (n as f64).cbrt().ceil() as usize;
        let mut places: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            places.swap(i, (self.next() % (i as u64 + 1)) as usize);
        }
        places
            .into_iter()
            .map(|place| {
                let [i, j, k] = [place % edge, place / edge % edge, place / (edge * edge)];
                let corner = Vec3::new(i as f32, j as f32, k as f32);
                spacing * (corner + 0.4 * self.direction())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_4_1_counts_its_cells() {
        for row in &TABLE_4_1 {
            assert_eq!(cells_per_axis(row.cell_side).pow(3), row.cells);
        }
    }

    #[test]
    fn rows_and_trait_find_the_same() {
        let mut random = Random::new(3);
        let points = random.block(2000, 0.01);
        let mut grid = CellGrid::new();
        let found = search_all(&mut grid, points.view(), 0.02);
        assert_eq!(count_by_trait(&grid, points.view()), found);
        let sorted = permuted(&points, grid.order());
        assert_eq!(count_in_rows(&grid, sorted.view(), 0.02), found);
        assert!((20_000..70_000).contains(&found), "{found}");
    }

    #[test]
    fn every_structure_does_the_same_work() {
        let points = Random::new(5).points_in_box(800);
        let found: Vec<u64> = all_searches()
            .into_iter()
            .map(|mut search| search_all(search.as_mut(), points.view(), SEARCH_RADIUS))
            .collect();
        assert!(found[0] > 800);
        assert!(found.iter().all(|&f| f == found[0]), "{found:?}");
    }
}
