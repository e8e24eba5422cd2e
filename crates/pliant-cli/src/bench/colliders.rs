//! Spatial hash against BVH for particles near a wall (Grahn 2008, performance
//! chart), with more triangles, more particles and more structures.

use std::f32::consts::TAU;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;
use serde::Serialize;

use pliant::mesh::TriMesh;
use pliant::space::{Bvh, Sdf, SdfError, Split, TriangleHash, TriangleIndex};
use pliant_render::{LineChart, Scale, Series};

use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::output::OutputError;
use crate::report::Report;

/// Sides and rings of the tubes: 500 triangles (Grahn 2008's chart), 8,040 (its
/// colon scene) and 40,000 (its unreduced colon).
const TUBES: [(u32, u32); 3] = [(10, 24), (30, 133), (80, 249)];
const PARTICLES: [usize; 7] = [250, 500, 1000, 2000, 4000, 8000, 16000];
/// Length and mean radius of the tube, in metres.
const LENGTH: f32 = 0.35;
const RADIUS: f32 = 0.025;
/// A particle touches the wall at this distance, in metres.
const REACH: f32 = 0.0025;
/// How far a particle moves in a frame, in metres.
const STEP: f32 = 0.001;
/// Cell of the distance field, in metres.
const SDF_CELL: f32 = 0.0025;
const REPEATS: usize = 15;
/// Particles timed at a stretch. The median of each stretch keeps out the time
/// slices that other programs take from a long frame.
const CHUNK: usize = 250;

/// One structure with one mesh and one number of particles.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Structure.
    #[serde(skip)]
    pub name: &'static str,
    /// Triangles of the mesh.
    pub triangles: usize,
    /// Particles tested per frame.
    pub particles: usize,
    /// Time on one thread for a sphere query and a swept test of every particle,
    /// in microseconds: medians over several frames.
    pub us_per_frame: f64,
    /// Contacts found by the sphere queries of a frame.
    pub contacts: usize,
    /// Particles whose step crosses the wall.
    pub crossings: usize,
    /// Time to build the structure, in milliseconds, median.
    pub build_ms: f64,
    /// Heap memory, in bytes.
    pub bytes: usize,
}

/// Prints the chart's rows, and draws it.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Colliders: particles near a wall",
        "One thread; a sphere query and a swept test per particle. Grahn 2008 found the hash \
         slightly faster than the BVH at every size (500 triangles, about 2,200 particles at \
         20 frames per second on a Core2 at 1.8 GHz).",
    );
    let mut rows = Vec::new();
    run(args.quick, &mut |row: Row| {
        out.row(&[("bench", "colliders"), ("case", row.name)], &row);
        rows.push(row);
    })
    .map_err(|e| CliError::Usage(e.to_string()))?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|e| OutputError::io(folder, e))?;
        let mut sizes: Vec<usize> = rows.iter().map(|r| r.triangles).collect();
        sizes.dedup();
        for triangles in sizes {
            chart(&rows, triangles).save_png(folder.join(format!("colliders_{triangles}.png")))?;
        }
    }
    Ok(())
}

fn chart(rows: &[Row], triangles: usize) -> LineChart {
    let mut series: Vec<Series> = Vec::new();
    for row in rows.iter().filter(|r| r.triangles == triangles) {
        let point = (row.particles as f64, row.us_per_frame);
        match series.iter_mut().find(|s| s.name == row.name) {
            Some(s) => s.points.push(point),
            None => series.push(Series::line(row.name, vec![point])),
        }
    }
    LineChart {
        title: format!("Collision tests against {triangles} triangles"),
        x_label: "particles".into(),
        y_label: "time per frame [µs]".into(),
        series,
        x_scale: Scale::Log10,
        y_scale: Scale::Log10,
        ..LineChart::default()
    }
}

/// Runs the whole benchmark, giving each row to `report` as soon as it is known.
fn run(quick: bool, report: &mut dyn FnMut(Row)) -> Result<(), SdfError> {
    for (sides, rings) in TUBES.into_iter().take(if quick { 1 } else { TUBES.len() }) {
        let mesh = Arc::new(wavy_tube(sides, rings));
        let particles = near_the_wall(&mesh, sides, PARTICLES[PARTICLES.len() - 1]);

        let (hash, ms) = timed(|| TriangleHash::build(mesh.clone(), REACH));
        frames("hash", &mesh, &hash, ms, &particles, report);
        let (bvh, ms) = timed(|| Bvh::build(mesh.clone()));
        frames("bvh", &mesh, &bvh, ms, &particles, report);
        let (bvh, ms) = timed(|| Bvh::build_with(mesh.clone(), Split::LongestSide));
        frames("bvh longest side", &mesh, &bvh, ms, &particles, report);
        let (sdf, ms) = timed(|| Sdf::build(mesh.clone(), SDF_CELL, REACH));
        frames("sdf", &mesh, &sdf?, ms, &particles, report);
        #[cfg(feature = "peers")]
        peers(&mesh, &particles, report);
    }
    Ok(())
}

/// A particle's place and where it will be.
#[derive(Clone, Copy)]
struct Particle {
    from: Vec3,
    to: Vec3,
}

fn frames(
    name: &'static str,
    mesh: &TriMesh,
    index: &dyn TriangleIndex,
    build_ms: f64,
    particles: &[Particle],
    report: &mut dyn FnMut(Row),
) {
    let shape = Shape {
        name,
        triangles: mesh.triangles.len(),
        build_ms,
        bytes: index.bytes(),
    };
    let test = |p: &Particle| {
        let mut contacts = 0;
        index.for_each_within(p.from, REACH, &mut |s| {
            black_box(s);
            contacts += 1;
        });
        (contacts, index.first_crossing(p.from, p.to).is_some())
    };
    measure(&shape, particles, test, report);
}

#[cfg(feature = "peers")]
fn peers(mesh: &TriMesh, particles: &[Particle], report: &mut dyn FnMut(Row)) {
    use super::parry;
    let (Some(built), build_ms) = timed(|| parry::build(mesh)) else {
        return;
    };
    let shape = |name| Shape {
        name,
        triangles: mesh.triangles.len(),
        build_ms,
        bytes: parry::bytes(&built),
    };
    let crosses = |p: &Particle| parry::crossing(&built, p.from, p.to).is_some();
    let all = |p: &Particle| {
        let mut contacts = 0;
        parry::all_within(&built, p.from, REACH, &mut |d| {
            black_box(d);
            contacts += 1;
        });
        (contacts, crosses(p))
    };
    measure(&shape("parry all"), particles, all, report);
    let nearest = |p: &Particle| {
        let found = black_box(parry::nearest(&built, p.from, REACH));
        (usize::from(found.is_some()), crosses(p))
    };
    measure(&shape("parry nearest"), particles, nearest, report);
}

/// What a row says of the structure itself.
struct Shape {
    name: &'static str,
    triangles: usize,
    build_ms: f64,
    bytes: usize,
}

fn measure(
    shape: &Shape,
    particles: &[Particle],
    test: impl Fn(&Particle) -> (usize, bool),
    report: &mut dyn FnMut(Row),
) {
    for count in PARTICLES {
        // Spread over the whole tube, whatever their number.
        let chosen: Vec<Particle> = particles
            .iter()
            .step_by(particles.len() / count)
            .copied()
            .collect();
        let (mut contacts, mut crossings) = (0, 0);
        let mut times = vec![Vec::with_capacity(REPEATS); chosen.len().div_ceil(CHUNK)];
        for _ in 0..REPEATS {
            (contacts, crossings) = (0, 0);
            for (chunk, times) in chosen.chunks(CHUNK).zip(&mut times) {
                let start = Instant::now();
                for p in chunk {
                    let (touching, crossing) = test(p);
                    contacts += touching;
                    crossings += usize::from(crossing);
                }
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        report(Row {
            name: shape.name,
            triangles: shape.triangles,
            particles: count,
            us_per_frame: times.iter_mut().map(|t| median(t)).sum(),
            contacts,
            crossings,
            build_ms: shape.build_ms,
            bytes: shape.bytes,
        });
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Builds three times; the last result and the median time in milliseconds.
fn timed<T>(build: impl Fn() -> T) -> (T, f64) {
    let run = || {
        let start = Instant::now();
        let built = build();
        (built, start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times = [run().1, run().1, 0.0];
    let (built, last) = run();
    times[2] = last;
    (built, median(&mut times))
}

/// The wall's middle and radius at `s` (0 to 1) along the tube: a bent tube with
/// folds, as a colon has.
fn wall(s: f32) -> (Vec3, f32) {
    let bend = Vec3::new(0.0, 0.02 * (TAU * s).sin(), 0.01 * (2.0 * TAU * s).cos());
    let folds = 1.0 + 0.15 * (10.0 * TAU * s).sin();
    (Vec3::X * (LENGTH * s) + bend, RADIUS * folds)
}

fn on_wall(s: f32, turn: f32, depth: f32) -> Vec3 {
    let (middle, radius) = wall(s);
    middle + Vec3::new(0.0, turn.cos(), turn.sin()) * (radius - depth)
}

/// A closed tube of `2 * sides * rings` triangles and two fans of `sides`.
fn wavy_tube(sides: u32, rings: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for ring in 0..=rings {
        for side in 0..sides {
            let turn = TAU * side as f32 / sides as f32;
            let s = ring as f32 / rings as f32;
            mesh.vertices.push(on_wall(s, turn, 0.0));
        }
    }
    let start = mesh.vertices.len() as u32;
    mesh.vertices.extend([wall(0.0).0, wall(1.0).0]);
    for side in 0..sides {
        let next = (side + 1) % sides;
        for ring in 0..rings {
            let (a, b) = (ring * sides + side, ring * sides + next);
            let (c, d) = (b + sides, a + sides);
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
        let last = rings * sides;
        mesh.triangles.push([start, next, side]);
        mesh.triangles.push([start + 1, last + side, last + next]);
    }
    mesh
}

/// Particles within two radii of the wall, each with a step in a random direction,
/// in the order of a fluid that is sorted by cell.
fn near_the_wall(mesh: &Arc<TriMesh>, sides: u32, count: usize) -> Vec<Particle> {
    let inside = Bvh::build(mesh.clone());
    let mut state = 1u64;
    let mut unit = || {
        // Knuth's linear congruential generator.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    // Facets lie this much within the round wall.
    let sagitta = RADIUS * (1.0 - (0.5 * TAU / sides as f32).cos());
    let mut particles = Vec::with_capacity(count);
    while particles.len() < count {
        let from = on_wall(
            0.02 + 0.96 * unit(),
            TAU * unit(),
            sagitta + 2.0 * REACH * unit(),
        );
        let way = Vec3::new(unit(), unit(), unit()) - Vec3::splat(0.5);
        if inside.contains(from) {
            let to = from + way.normalize_or_zero() * STEP;
            particles.push(Particle { from, to });
        }
    }
    let cell = |p: &Particle| {
        let c = (p.from / (2.0 * REACH)).floor();
        [c.x as i32, c.y as i32, c.z as i32]
    };
    particles.sort_by_key(cell);
    particles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tubes_have_the_triangles_they_claim_and_face_outwards() {
        let counts = TUBES.map(|(s, r)| wavy_tube(s, r).triangles.len());
        assert_eq!(counts, [500, 8040, 40000]);
        let tube = wavy_tube(30, 133);
        assert!(tube.volume() > 0.0);
        assert!(Bvh::build(Arc::new(tube)).contains(wall(0.5).0));
    }
}
