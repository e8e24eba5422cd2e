use glam::Vec3;
use proptest::prelude::*;

use super::*;
use crate::math::XyzVec;

/// Lattice points of spacing `d` inside `keep`, each moved by up to `jitter` d.
fn lattice(n: i32, d: f32, jitter: f32, keep: impl Fn(Vec3) -> bool) -> XyzVec {
    let mut seed = 7u32;
    let mut noise = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / 8_388_608.0 - 1.0
    };
    let mut out = XyzVec::default();
    for z in -n..=n {
        for y in -n..=n {
            for x in -n..=n {
                let p = d * Vec3::new(x as f32, y as f32, z as f32);
                if keep(p) {
                    out.push(p + jitter * d * Vec3::new(noise(), noise(), noise()));
                }
            }
        }
    }
    out
}

fn kinds(d: f32) -> [SurfaceSettings; 4] {
    let plain = SurfaceSettings::new(d);
    [
        plain.clone(),
        SurfaceSettings {
            cell: 0.25,
            ..plain.clone()
        },
        SurfaceSettings {
            anisotropic: true,
            ..plain
        },
        SurfaceSettings::smooth(d),
    ]
}

#[test]
fn a_ball_of_particles_has_the_radius_and_volume_of_the_ball() {
    let d = 0.01;
    let radius = 0.1f32;
    let ball = lattice(12, d, 0.0, |p| p.length() < radius);
    let volume = ball.len() as f32 * d * d * d;
    let true_radius = (volume * 0.75 / std::f32::consts::PI).cbrt();
    for settings in kinds(d) {
        let surface = surface_of(ball.view(), &settings).unwrap();
        let report = surface.mesh.check();
        assert!(report.is_sound(), "{settings:?}: {:?}", report.problems());
        let error = surface.mesh.volume() / volume - 1.0;
        let bound = match (settings.keep_volume, settings.anisotropic) {
            (true, _) => 0.005,
            (_, true) => 0.05,
            _ => 0.02,
        };
        assert!(error.abs() < bound, "{settings:?}: volume off by {error}");
        let mean = surface
            .mesh
            .vertices
            .iter()
            .map(|v| v.length())
            .sum::<f32>()
            / surface.mesh.vertices.len() as f32;
        assert!(
            (mean / true_radius - 1.0).abs() < 0.02,
            "{settings:?}: {mean} for {true_radius}"
        );
        for (v, n) in surface.mesh.vertices.iter().zip(&surface.normals) {
            assert!(n.dot(v.normalize()) > 0.8, "{settings:?} normal {n} at {v}");
        }
    }
}

#[test]
fn flat_kernels_make_disturbed_water_flatter() {
    let d = 0.02;
    let slab = lattice(14, d, 0.2, |p| p.y.abs() < 3.1 * d);
    let roughness = |settings: &SurfaceSettings| {
        let surface = surface_of(slab.view(), settings).unwrap();
        let heights: Vec<f32> = surface
            .mesh
            .vertices
            .iter()
            .filter(|v| v.y > 0.0 && v.x.abs() < 9.0 * d && v.z.abs() < 9.0 * d)
            .map(|v| v.y)
            .collect();
        let mean = heights.iter().sum::<f32>() / heights.len() as f32;
        let square = heights.iter().map(|h| (h - mean).powi(2)).sum::<f32>();
        (square / heights.len() as f32).sqrt() / d
    };
    let [plain, _, flat, smooth] = kinds(d).map(|s| roughness(&s));
    assert!(flat < 0.75 * plain, "{flat} against {plain}");
    assert!(smooth < flat, "{smooth} against {flat}");
}

#[test]
fn a_lone_particle_is_a_drop_of_its_volume() {
    let d = 0.01;
    let drops: XyzVec = [Vec3::ZERO, Vec3::X].into_iter().collect();
    for settings in kinds(d) {
        let surface = surface_of(drops.view(), &settings).unwrap();
        assert!(surface.mesh.check().is_sound());
        let share = surface.mesh.volume() / (2.0 * d * d * d);
        assert!((0.6..1.3).contains(&share), "{settings:?}: {share}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let cloud = lattice(9, 0.1, 0.4, |p| p.length() < 0.9);
    for settings in kinds(0.1) {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| surface_of(cloud.view(), &settings).unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}

#[test]
fn a_tracker_gives_what_a_new_start_gives() {
    let d = 0.1;
    let mut points = lattice(8, d, 0.1, |p| p.length() < 0.8);
    let settings = SurfaceSettings::new(d);
    let mut tracker = SurfaceTracker::new(settings.clone()).unwrap();
    let ids: Vec<u32> = (0..points.len() as u32).collect();
    tracker.update(points.view(), &ids).unwrap();
    // One corner moves far, the rest not at all; one particle leaves.
    for i in 0..40 {
        points.set(i, points.get(i) - 0.5 * Vec3::Z);
    }
    let (kept, ids): (XyzVec, Vec<u32>) = (
        points.view().iter().skip(1).collect(),
        ids.into_iter().skip(1).collect(),
    );
    let tracked = tracker.update(kept.view(), &ids).unwrap();
    assert_eq!(tracked, surface_of(kept.view(), &settings).unwrap());
    // The order in memory does not matter.
    let backwards: XyzVec = (0..kept.len()).rev().map(|i| kept.get(i)).collect();
    let names: Vec<u32> = ids.iter().rev().copied().collect();
    assert_eq!(tracker.update(backwards.view(), &names).unwrap(), tracked);
}

#[test]
fn a_tracker_of_shifting_particles_gives_what_a_new_start_gives() {
    let d = 0.1;
    let start = lattice(7, d, 0.2, |p| p.length() < 0.7);
    for settings in kinds(d) {
        let mut points: Vec<(u32, Vec3)> = (0u32..).zip(start.view().iter()).collect();
        let mut tracker = SurfaceTracker::new(settings.clone()).unwrap();
        for frame in 0..8u32 {
            // A few move, some of them to new blocks; a few leave and others come.
            let moving = points.iter_mut().filter(|(id, _)| id % 37 == frame % 3);
            for (id, p) in moving {
                *p += 0.3 * d * Vec3::new(1.0 + (*id % 3) as f32, frame as f32, -1.0);
            }
            points.retain(|(id, _)| id % 101 != frame);
            let first = 10_000 * (frame % 5 + 1) + frame;
            let place = |k: u32| Vec3::new(0.9 + d * k as f32, 0.4 * frame as f32, 0.0);
            points.extend((0..6).map(|k| (first + k, place(k))));
            points.sort_by_key(|(id, _)| *id);
            let places: XyzVec = points.iter().map(|(_, p)| *p).collect();
            let ids: Vec<u32> = points.iter().map(|(id, _)| *id).collect();
            let tracked = tracker.update(places.view(), &ids).unwrap();
            let anew = surface_of(places.view(), &settings).unwrap();
            assert!(tracked == anew, "{settings:?}: frame {frame} differs");
        }
        let nothing = tracker.update(XyzVec::default().view(), &[]).unwrap();
        assert!(nothing.mesh.triangles.is_empty());
    }
}

#[test]
fn nothing_and_nonsense_are_answered() {
    let none = surface_of(XyzVec::default().view(), &SurfaceSettings::new(0.1)).unwrap();
    assert!(none.mesh.triangles.is_empty());
    let odd: XyzVec = [Vec3::NAN, Vec3::INFINITY].into_iter().collect();
    assert!(
        surface_of(odd.view(), &SurfaceSettings::smooth(0.1))
            .unwrap()
            .mesh
            .triangles
            .is_empty()
    );
    let far: XyzVec = [Vec3::splat(1e9)].into_iter().collect();
    let error = surface_of(far.view(), &SurfaceSettings::new(0.1)).unwrap_err();
    assert!(error.to_string().contains("too far"), "{error}");
    for (d, cell) in [(f32::NAN, 0.5), (-1.0, 0.5), (0.1, 0.0), (0.1, f32::NAN)] {
        let settings = SurfaceSettings {
            cell,
            ..SurfaceSettings::new(d)
        };
        assert!(surface_of(odd.view(), &settings).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Closed, manifold and outward on any cloud.
    #[test]
    fn random_clouds_have_closed_surfaces(
        points in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 1..400),
        kind in 0usize..4,
        d in 0.05f32..0.4,
    ) {
        let cloud: XyzVec = points.into_iter().map(Vec3::from).collect();
        let surface = surface_of(cloud.view(), &kinds(d)[kind]).unwrap();
        let report = surface.mesh.check();
        prop_assert!(report.is_closed() && report.is_oriented(), "{:?}", report.problems());
        prop_assert!(report.volume > 0.0);
    }
}
