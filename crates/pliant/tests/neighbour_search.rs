//! Every point structure finds exactly what a plain double loop finds.

use glam::Vec3;
use pliant::math::{Xyz, XyzVec};
use pliant::space::{CellGrid, CellSize, ModuloHash, NeighbourSearch, PrimeHash, all_searches};
use proptest::prelude::*;

/// All structures, with the modulo hash also in its other set-ups.
fn structures() -> Vec<Box<dyn NeighbourSearch>> {
    let mut all = all_searches();
    for (cells, buckets) in [
        (CellSize::TwiceRadius, Some(1)),
        (CellSize::TwiceRadius, Some(2)),
        (CellSize::OnePointPerCell, None),
        (CellSize::Sides(Vec3::new(0.05, 0.4, 3.0)), Some(7)),
    ] {
        all.push(Box::new(ModuloHash::with(cells, buckets)));
    }
    all
}

/// The definition of [`NeighbourSearch::for_each_within`].
fn double_loop(points: Xyz<'_>, center: Vec3, radius: f32) -> Vec<u32> {
    (0..points.len() as u32)
        .filter(|&i| (points.get(i as usize) - center).length_squared() <= radius * radius)
        .collect()
}

/// Checks `search` around every point and around `centers`. Sorted lists are
/// compared, so an index found twice is an error.
fn check(search: &mut dyn NeighbourSearch, points: &XyzVec, centers: &[Vec3], radius: f32) {
    let view = points.view();
    search.build(view, radius);
    for center in view.iter().chain(centers.iter().copied()) {
        let mut found = Vec::new();
        search.for_each_within(view, center, &mut |i| found.push(i));
        found.sort_unstable();
        assert_eq!(
            found,
            double_loop(view, center, radius),
            "{}: {} points, radius {radius}, center {center}",
            search.name(),
            points.len()
        );
    }
}

fn check_all(points: &XyzVec, centers: &[Vec3], radius: f32) {
    for mut search in structures() {
        check(search.as_mut(), points, centers, radius);
    }
}

/// Clouds of every awkward kind: spread out, far from the origin, flattened to a
/// plane or line, on a lattice (distances of exactly one radius, coincident
/// points), or in two clusters far apart.
fn cloud() -> impl Strategy<Value = XyzVec> {
    let unit = prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 0..120);
    let extent = prop::sample::select(vec![0.01f32, 1.0, 30.0, 1e3, 1e6]);
    let shift = prop::sample::select(vec![0.0f32, -7.3, 1e4, -1e6]);
    (unit, extent, shift, 0..6u8).prop_map(|(unit, extent, shift, kind)| {
        unit.into_iter()
            .enumerate()
            .map(|(i, [x, y, z])| {
                let v = match kind {
                    0 | 1 => Vec3::new(x, y, z) * extent,
                    2 => Vec3::new(x, 0.25, z) * extent,
                    3 => Vec3::new(0.5, y, 0.5) * extent,
                    4 => (Vec3::new(x, y, z) * 2.5).round() * 0.1,
                    _ => Vec3::new(x, y, z) * 0.2 + Vec3::splat((i % 2) as f32 * extent),
                };
                v + Vec3::splat(shift)
            })
            .collect()
    })
}

fn radius() -> impl Strategy<Value = f32> {
    prop::sample::select(vec![0.0f32, 0.02, 0.1, 0.2, 1.0, 37.0, 1e4, 1e8])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn all_structures_agree_with_the_double_loop(
        points in cloud(),
        radius in radius(),
        centers in prop::collection::vec(prop::array::uniform3(-2.0f32..2.0), 1..8),
    ) {
        let mut places: Vec<Vec3> = centers.into_iter().map(Vec3::from).collect();
        // Places beside the points, about one radius off.
        let beside: Vec<Vec3> = points.view().iter().take(8)
            .zip(places.clone().into_iter().cycle())
            .map(|(p, v)| p + v * radius)
            .collect();
        places.extend(beside);
        check_all(&points, &places, radius);
    }

    #[test]
    fn a_rebuilt_structure_forgets_the_last_points(
        first in cloud(), second in cloud(), a in radius(), b in radius(),
    ) {
        for mut search in structures() {
            check(search.as_mut(), &first, &[Vec3::ZERO], a);
            check(search.as_mut(), &second, &[Vec3::ZERO], b);
            check(search.as_mut(), &XyzVec::default(), &[Vec3::ZERO], a);
            check(search.as_mut(), &first, &[Vec3::ZERO], a);
        }
    }

    #[test]
    fn prime_hash_finds_each_pair_once(points in cloud(), radius in radius()) {
        let view = points.view();
        let mut hash = PrimeHash::new();
        hash.build(view, radius);
        let mut found = Vec::new();
        hash.for_each_pair(view, &mut |i, j| found.push((i, j)));
        found.sort_unstable();
        let mut expected = Vec::new();
        for i in 0..points.len() as u32 {
            let near = double_loop(view, view.get(i as usize), radius);
            expected.extend(near.into_iter().filter(|&j| j > i).map(|j| (i, j)));
        }
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn one_radius_apart_is_within() {
    // Rounding makes these exactly one radius apart although their quotients
    // by the radius are two whole numbers apart.
    let points: XyzVec = [Vec3::X * 1.0f32.next_down(), Vec3::X * 2.0]
        .into_iter()
        .collect();
    assert_eq!(double_loop(points.view(), points.get(0), 1.0), [0, 1]);
    check_all(&points, &[], 1.0);

    // A lattice of spacing 0.1 at an offset, searched with multiples of 0.1.
    let lattice: XyzVec = (0..1000)
        .map(|i| Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32) * 0.1 - 57.3)
        .collect();
    for radius in [0.1, 0.2, 0.3] {
        check_all(&lattice, &[], radius);
    }
}

#[test]
fn few_points() {
    for n in 0..3 {
        let points: XyzVec = (0..n).map(|i| Vec3::new(-0.3, 0.1, i as f32)).collect();
        let centers = [Vec3::ZERO, Vec3::splat(1e9), Vec3::new(-0.3, 0.1, 0.5)];
        for radius in [0.0, 0.6, 1.0, 1e20] {
            check_all(&points, &centers, radius);
        }
    }
}

#[test]
fn structures_before_their_first_build_are_empty() {
    let none = XyzVec::default();
    for search in structures() {
        search.for_each_within(none.view(), Vec3::ONE, &mut |i| {
            panic!("{} found {i}", search.name())
        });
    }
}

#[test]
fn points_that_are_not_numbers_are_near_nothing() {
    let mut points: XyzVec = (0..200)
        .map(|i| Vec3::new((i as f32).sin(), (i as f32 * 1.9).cos(), 0.01 * i as f32))
        .collect();
    points.set(7, Vec3::NAN);
    points.set(20, Vec3::new(f32::INFINITY, 0.0, 0.0));
    points.set(21, Vec3::new(0.0, f32::NEG_INFINITY, f32::NAN));
    points.set(150, Vec3::splat(f32::MAX));
    points.set(151, Vec3::splat(f32::MIN));
    let centers = [Vec3::NAN, Vec3::INFINITY, Vec3::splat(f32::MIN)];
    for radius in [0.3, 5.0, f32::NAN] {
        check_all(&points, &centers, radius);
    }
}

#[test]
fn a_large_cloud_is_found_whole() {
    // Large enough for several chunks in the parallel build.
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let points: XyzVec = (0..60_000)
        .map(|_| Vec3::new(random(), random() * 2.0 - 5.0, random() * 0.5))
        .collect();
    let view = points.view();
    let radius = 0.03;
    for mut search in structures() {
        search.build(view, radius);
        for i in (0..points.len()).step_by(997) {
            let center = view.get(i) + Vec3::splat(0.01);
            let mut found = Vec::new();
            search.for_each_within(view, center, &mut |j| found.push(j));
            found.sort_unstable();
            assert_eq!(
                found,
                double_loop(view, center, radius),
                "{}",
                search.name()
            );
        }
    }
}

#[test]
fn cell_grid_sorts_alike_on_one_and_two_threads() {
    let points: XyzVec = (0..100_000)
        .map(|i| {
            let t = i as f32;
            Vec3::new((t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()) * 3.0
        })
        .collect();
    // Few cells, and more cells than points.
    for radius in [0.5, 0.15, 0.01] {
        let order = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a thread pool");
            let mut grid = CellGrid::new();
            pool.install(|| grid.build(points.view(), radius));
            let ranges: Vec<_> = grid.cell_ranges().collect();
            (grid.order().to_vec(), ranges)
        };
        assert_eq!(order(1), order(2));
    }
}

#[test]
fn rows_of_a_sorted_cloud_hold_every_neighbour() {
    // The use in fluids: arrays permuted into the order of the grid.
    let points: XyzVec = (0..4000)
        .map(|i| {
            let t = i as f32;
            Vec3::new((t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()) * 2.0
        })
        .collect();
    let radius = 0.25;
    let mut grid = CellGrid::new();
    grid.build(points.view(), radius);
    let sorted: XyzVec = grid
        .order()
        .iter()
        .map(|&i| points.get(i as usize))
        .collect();
    for center in points.view().iter() {
        let mut found: Vec<u32> = grid
            .rows_around(center)
            .as_slice()
            .iter()
            .flat_map(|&(start, end)| start..end)
            .collect();
        assert!(found.len() < 1000, "rows are local: {}", found.len());
        found.sort_unstable();
        assert!(found.windows(2).all(|w| w[0] < w[1]), "rows overlap");
        for i in double_loop(sorted.view(), center, radius) {
            assert!(found.binary_search(&i).is_ok());
        }
    }
}
