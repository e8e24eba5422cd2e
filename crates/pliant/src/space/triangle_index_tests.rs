//! The indices against testing every triangle, and against each other.

use std::sync::Arc;

use glam::Vec3;

use super::gathered::{Gathered, Segment};
use super::test_meshes::{Random, cube, icosphere, l_shape, torus};
use super::{Bvh, Crossing, Sdf, SdfError, Split, SurfacePoint, TriangleHash, TriangleIndex};
use crate::mesh::TriMesh;

/// A triangle whose distance is this close to the radius, as a part of it, may
/// be found by one index and not by another.
const TIE: f32 = 1e-4;

struct BruteForce(Vec<Gathered>);

impl BruteForce {
    fn new(mesh: &TriMesh) -> BruteForce {
        let count = mesh.triangles.len() as u32;
        BruteForce((0..count).map(|t| Gathered::of(mesh, t)).collect())
    }

    fn distances(&self, p: Vec3) -> Vec<f32> {
        self.0.iter().map(|t| t.closest(p).0.distance).collect()
    }

    fn first_crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing> {
        let mut best = None;
        for t in &self.0 {
            t.cross(&Segment::new(from, to), &mut best);
        }
        best
    }
}

fn meshes() -> Vec<(&'static str, Arc<TriMesh>)> {
    let mut far = icosphere(2);
    far.vertices
        .iter_mut()
        .for_each(|v| *v += Vec3::new(30.0, -20.0, 10.0));
    vec![
        ("cube", Arc::new(cube())),
        ("l", Arc::new(l_shape())),
        ("sphere", Arc::new(icosphere(3))),
        ("far sphere", Arc::new(far)),
        ("torus", Arc::new(torus(40, 20, 1.0, 0.4, 0.08))),
    ]
}

fn exact_indices(mesh: &Arc<TriMesh>, reach: f32) -> Vec<Box<dyn TriangleIndex>> {
    vec![
        Box::new(TriangleHash::build(mesh.clone(), reach)),
        Box::new(Bvh::build(mesh.clone())),
        Box::new(Bvh::build_with(mesh.clone(), Split::LongestSide)),
    ]
}

fn collect(index: &dyn TriangleIndex, p: Vec3, radius: f32) -> Vec<SurfacePoint> {
    let mut found = Vec::new();
    index.for_each_within(p, radius, &mut |s| found.push(s));
    found
}

#[test]
fn sphere_queries_equal_brute_force() {
    for (name, mesh) in meshes() {
        let brute = BruteForce::new(&mesh);
        for reach in [0.02, 0.1, 0.5] {
            for index in exact_indices(&mesh, reach) {
                let mut random = Random::new(1);
                let mut total = 0;
                for _ in 0..400 {
                    let p = random.in_box(mesh.aabb().grown(0.3));
                    let radius = reach * (0.25 + 0.75 * random.unit());
                    let found = collect(&*index, p, radius);
                    let mut seen = vec![false; mesh.triangles.len()];
                    for s in &found {
                        assert!(!seen[s.triangle as usize], "visited twice");
                        seen[s.triangle as usize] = true;
                        assert!(s.distance <= radius * (1.0 + TIE));
                        assert!((s.point.distance(p) - s.distance).abs() < 1e-5);
                        let corners = mesh.corners(s.triangle as usize);
                        let b = s.barycentric;
                        let q = corners[0] * b[0] + corners[1] * b[1] + corners[2] * b[2];
                        assert!(q.distance(s.point) < 2e-5, "{name}");
                    }
                    for (t, d) in brute.distances(p).into_iter().enumerate() {
                        if (d - radius).abs() > TIE * radius {
                            assert_eq!(seen[t], d < radius, "{name} {} triangle {t}", index.name());
                        }
                    }
                    total += found.len();
                }
                assert!(total > 0, "{name} {reach}: nothing was tested");
            }
        }
    }
}

#[test]
fn first_crossing_equals_brute_force() {
    for (name, mesh) in meshes() {
        let brute = BruteForce::new(&mesh);
        for index in exact_indices(&mesh, 0.05) {
            let mut random = Random::new(2);
            let mut hits = 0;
            for i in 0..1500 {
                let from = random.in_box(mesh.aabb().grown(0.3));
                let length = [1e-6, 0.01, 0.3, 3.0, 1000.0][i % 5];
                // Every third along an axis, where boxes and cells are touched exactly.
                let direction = match i % 3 {
                    0 => Vec3::AXES[i % 9 / 3],
                    _ => random.direction(),
                };
                let to = from + direction * length;
                let expected = brute.first_crossing(from, to);
                let found = index.first_crossing(from, to);
                assert_eq!(found, expected, "{name} {} {from} {to}", index.name());
                hits += usize::from(found.is_some());
            }
            assert!(hits > 200, "{name}: {hits}");
        }
    }
}

#[test]
fn crossing_normals_face_the_start() {
    for (_, mesh) in meshes() {
        for index in exact_indices(&mesh, 0.05) {
            let mut random = Random::new(3);
            for _ in 0..300 {
                let from = random.in_box(mesh.aabb().grown(0.3));
                let to = from + random.direction();
                if let Some(hit) = index.first_crossing(from, to) {
                    assert!(hit.normal.dot(to - from) <= 1e-6);
                    assert!((hit.normal.length() - 1.0).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn nothing_leaves_a_closed_mesh() {
    for (name, mesh) in meshes() {
        let bvh = Bvh::build(mesh.clone());
        let sdf = Sdf::build(mesh.clone(), 0.05, 0.1).unwrap();
        let hash = TriangleHash::build(mesh.clone(), 0.1);
        let indices: [&dyn TriangleIndex; 3] = [&hash, &bvh, &sdf];
        let mut random = Random::new(4);
        let mut tested = 0;
        for i in 0..6000 {
            let from = random.in_box(mesh.aabb());
            if !bvh.contains(from) {
                continue;
            }
            // At random, through a vertex, and through the middle of an edge.
            let t = random.bits() as usize % mesh.triangles.len();
            let [a, b, _] = mesh.corners(t);
            let (direction, least) = match i % 3 {
                0 => (random.direction(), 0.0),
                1 => (a - from, 1.2),
                _ => (0.5 * (a + b) - from, 1.2),
            };
            let to = from + direction * [least + 0.2, 10.0, 1000.0][i % 7 % 3];
            if bvh.contains(to) {
                continue;
            }
            tested += 1;
            for index in indices {
                // Within its stated error the field may call an end the other side.
                let near = |p| bvh.closest(p, sdf.error_bound()).is_some();
                if index.name() == "sdf" && (near(from) || near(to)) {
                    continue;
                }
                let hit = index.first_crossing(from, to);
                assert!(hit.is_some(), "{name} {} {from} {to}", index.name());
            }
        }
        assert!(tested > 800, "{name}: {tested}");
    }
}

#[test]
fn sdf_crossings_lie_on_the_surface() {
    for (name, mesh) in meshes() {
        let bvh = Bvh::build(mesh.clone());
        let sdf = Sdf::build(mesh.clone(), 0.05, 0.1).unwrap();
        let mut random = Random::new(9);
        let mut hits = 0;
        for i in 0..600 {
            let from = random.in_box(mesh.aabb().grown(0.3));
            let to = from + random.direction() * [0.1, 1.0, 20.0][i % 3];
            let Some(hit) = sdf.first_crossing(from, to) else {
                continue;
            };
            hits += 1;
            let at = from.lerp(to, hit.fraction);
            assert!(
                bvh.closest(at, sdf.error_bound() + 1e-4).is_some(),
                "{name} {at}"
            );
            // The side it names is the one it starts from.
            let back = sdf.distance(at + hit.normal * 1e-3) < 0.0;
            let start = sdf.is_inside(from);
            let at_start = sdf.distance(from).abs() < 1e-3;
            assert!(at_start || back == start, "{name} {at}");
        }
        assert!(hits > 100, "{name}: {hits}");
    }
}

#[test]
fn large_triangles_do_not_fill_the_memory() {
    let mut mesh = cube();
    mesh.vertices.iter_mut().for_each(|v| *v *= 50.0);
    let mesh = Arc::new(mesh);
    let hash = TriangleHash::build(mesh.clone(), 0.01);
    assert!(hash.bytes() < 64 << 20, "{}", hash.bytes());
    assert_eq!(collect(&hash, Vec3::new(50.005, 1.0, 2.0), 0.01).len(), 1);
    assert!(collect(&hash, Vec3::new(50.02, 1.0, 2.0), 0.01).is_empty());
    let hit = hash.first_crossing(Vec3::ZERO, Vec3::new(60.0, 1.0, 2.0));
    assert!((hit.unwrap().fraction - 50.0 / 60.0).abs() < 1e-5);
}

#[test]
fn degenerate_segments_and_places_do_not_panic() {
    let mesh = Arc::new(icosphere(2));
    let mut indices = exact_indices(&mesh, 0.1);
    indices.push(Box::new(Sdf::build(mesh.clone(), 0.1, 0.1).unwrap()));
    let strange = [
        Vec3::ZERO,
        Vec3::X,
        Vec3::splat(1e30),
        Vec3::splat(f32::INFINITY),
        Vec3::NAN,
        Vec3::splat(-1e-40),
    ];
    for index in &indices {
        for p in strange {
            for q in strange {
                index.first_crossing(p, q);
            }
            collect(&**index, p, 0.1);
        }
        assert!(index.first_crossing(Vec3::ZERO, Vec3::ZERO).is_none());
    }
    let empty = Arc::new(TriMesh::default());
    for index in exact_indices(&empty, 0.1) {
        assert!(collect(&*index, Vec3::ZERO, 0.1).is_empty());
        assert!(index.first_crossing(Vec3::ZERO, Vec3::ONE).is_none());
    }
}

#[test]
fn closest_and_sign_of_the_bvh_equal_brute_force() {
    for (name, mesh) in meshes() {
        let brute = BruteForce::new(&mesh);
        let bvh = Bvh::build(mesh.clone());
        let mut random = Random::new(5);
        for _ in 0..500 {
            let p = random.in_box(mesh.aabb().grown(2.0));
            let truth = brute.distances(p).into_iter().fold(f32::INFINITY, f32::min);
            let (found, _) = bvh.closest(p, f32::INFINITY).unwrap();
            assert_eq!(found.distance, truth, "{name}");
            assert!(bvh.closest(p, truth * 0.99).is_none());
            assert_eq!(bvh.signed_distance(p).unwrap().abs(), truth);
            if !mesh.aabb().contains(p) {
                assert!(!bvh.contains(p), "{name}");
            }
        }
    }
    let mut open = cube();
    open.triangles.pop();
    let open = Bvh::build(Arc::new(open));
    assert_eq!(open.signed_distance(Vec3::ZERO), None);
    assert!(!open.contains(Vec3::ZERO));
}

#[test]
fn sdf_distances_are_within_the_interpolation_error() {
    for (name, mesh) in meshes() {
        let bvh = Bvh::build(mesh.clone());
        let (cell, reach) = (0.05, 0.1);
        let sdf = Sdf::build(mesh.clone(), cell, reach).unwrap();
        let mut random = Random::new(6);
        let (mut near, mut wrong) = (0, 0);
        for _ in 0..4000 {
            let p = random.in_box(mesh.aabb().grown(0.4));
            let truth = bvh.signed_distance(p).unwrap();
            let d = sdf.distance(p);
            if truth.abs() > sdf.error_bound() {
                assert_eq!(d < 0.0, truth < 0.0, "{name} {p}: {d} {truth}");
            }
            if truth.abs() > reach {
                // A lower bound, up to the interpolation error.
                assert!(d.abs() <= truth.abs() + sdf.error_bound());
                continue;
            }
            assert!((d - truth).abs() <= sdf.error_bound(), "{name} {d} {truth}");
            near += 1;
            let found = collect(&sdf, p, reach);
            let exact = found
                .first()
                .is_some_and(|s| (s.distance - truth.abs()).abs() < 1e-5);
            wrong += usize::from(!exact);
        }
        // The named triangle is the exact nearest one in at least 99 of 100 places.
        assert!(
            near > 300 && wrong * 100 <= near,
            "{name}: {wrong} of {near}"
        );
    }
}

#[test]
fn sdf_of_a_sphere_is_accurate_and_its_normals_point_out() {
    let mesh = Arc::new(icosphere(4));
    let depth = |t| 1.0 - mesh.corners(t).iter().sum::<Vec3>().length() / 3.0;
    let facets = (0..mesh.triangles.len()).map(depth).fold(0.0, f32::max);
    let (cell, reach) = (0.05, 0.1);
    let sdf = Sdf::build(mesh.clone(), cell, reach).unwrap();
    let mut random = Random::new(8);
    for _ in 0..1000 {
        let r = 0.95 + 0.1 * random.unit();
        let p = random.direction() * r;
        // Interpolation errs by cell²/8 times the two curvatures, about 1 each.
        let tolerance = facets + cell * cell / 3.0;
        assert!((sdf.distance(p) - (r - 1.0)).abs() < tolerance);
        assert!(sdf.normal(p).unwrap().dot(p.normalize()) > 0.98);
    }
    assert!(sdf.is_inside(Vec3::ZERO) && sdf.distance(Vec3::ZERO) < -reach);
    assert!(!sdf.is_inside(Vec3::splat(50.0)));
    assert_eq!(sdf.normal(Vec3::ZERO), None);
}

#[test]
fn sdf_refuses_what_it_cannot_sample() {
    let mut open = cube();
    open.triangles.pop();
    let error = Sdf::build(Arc::new(open), 0.1, 0.1).err().unwrap();
    assert_eq!(error, SdfError::Open { edges: 3 });
    assert!(error.to_string().contains("closed"));
    let build = |cell, reach| Sdf::build(Arc::new(cube()), cell, reach).err();
    assert!(matches!(build(0.0, 0.1), Some(SdfError::Size { .. })));
    assert!(matches!(build(0.1, f32::NAN), Some(SdfError::Size { .. })));
    assert!(matches!(build(1e-4, 0.1), Some(SdfError::TooFine { .. })));
    let empty = Sdf::build(Arc::new(TriMesh::default()), 0.1, 0.1).err();
    assert_eq!(empty, Some(SdfError::Empty));
}

/// Ways along the diagonals of the cells, of about the reach: the corners of a cell
/// grown by the reach are out of its reach.
#[test]
fn diagonal_ways_cross_a_sphere() {
    let sphere = crate::mesh::IcoSphere {
        radius: 0.1,
        ..Default::default()
    };
    let mesh = Arc::new(sphere.build().unwrap());
    let hash = TriangleHash::build(mesh.clone(), 0.01);
    for k in 0..2000u32 {
        let jitter =
            |bits: u32| ((k.wrapping_mul(2_654_435_761) >> bits & 0xff) as f32 - 128.0) / 2560.0;
        let towards = Vec3::new(1.0 + jitter(0), -1.0 + jitter(8), 1.0 + jitter(16)).normalize();
        let from = (0.084 + 1e-6 * k as f32) * towards;
        assert!(
            hash.first_crossing(from, from + 0.017 * towards).is_some(),
            "{k}"
        );
    }
}
