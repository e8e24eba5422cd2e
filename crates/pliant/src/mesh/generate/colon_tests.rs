//! Tests of the colon, in a file of their own for their length.

use std::collections::HashMap;

use super::*;
use crate::mesh::parse_obj;

/// Pairs of triangles without a common vertex of which an edge of one passes
/// through the other.
fn self_intersections(mesh: &TriMesh) -> usize {
    let longest = (0..mesh.triangles.len())
        .flat_map(|t| {
            let [a, b, c] = mesh.corners(t);
            [a.distance(b), b.distance(c), c.distance(a)]
        })
        .fold(0.0, f32::max);
    let mut cells: HashMap<[i32; 3], Vec<usize>> = HashMap::new();
    let cell = |p: Vec3| (p / longest).floor().as_ivec3();
    for t in 0..mesh.triangles.len() {
        let corners = mesh.corners(t).map(cell);
        let low = corners[0].min(corners[1]).min(corners[2]);
        let high = corners[0].max(corners[1]).max(corners[2]);
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                for z in low.z..=high.z {
                    cells.entry([x, y, z]).or_default().push(t);
                }
            }
        }
    }
    let mut found = 0;
    for near in cells.values() {
        for &s in near {
            for &t in near.iter().filter(|&&t| t != s) {
                let shares = mesh.triangles[s]
                    .iter()
                    .any(|v| mesh.triangles[t].contains(v));
                if !shares && edges_cross(mesh.corners(s), mesh.corners(t)) {
                    found += 1;
                }
            }
        }
    }
    found
}

/// Whether an edge of `s` passes through triangle `t`.
fn edges_cross(s: [Vec3; 3], t: [Vec3; 3]) -> bool {
    let [a, b, c] = t.map(|v| v.as_dvec3());
    (0..3).any(|i| {
        let (p, q) = (s[i].as_dvec3(), s[(i + 1) % 3].as_dvec3());
        let side = |x: glam::DVec3, y: glam::DVec3, z: glam::DVec3, w: glam::DVec3| {
            (y - x).cross(z - x).dot(w - x)
        };
        if side(a, b, c, p) * side(a, b, c, q) >= 0.0 {
            return false;
        }
        let around = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
        around.iter().all(|&v| v > 0.0) || around.iter().all(|&v| v < 0.0)
    })
}

#[test]
fn the_intersection_test_finds_an_intersection() {
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv .2 .2 -1\nv .2 .2 1\nv .3 .3 1\nf 1 2 3\nf 4 5 6";
    assert!(self_intersections(&parse_obj(text).unwrap()) > 0);
}

#[test]
fn coarse_and_fine_have_exactly_their_triangles() {
    for (colon, triangles) in [(Colon::coarse(0), 8_040), (Colon::fine(0), 40_000)] {
        let report = colon.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!(report.triangles, triangles);
        assert_eq!(report.vertices, triangles / 2 + 2);
    }
}

#[test]
fn every_seed_is_sound_and_of_human_size() {
    for seed in 0..21 {
        let (mesh, path) = Colon::coarse(seed).build_with_path().unwrap();
        let report = mesh.check();
        assert!(report.is_sound(), "seed {seed}: {report}");
        assert_eq!(self_intersections(&mesh), 0, "seed {seed}");
        let size = report.aabb.size();
        assert!((0.27..0.34).contains(&size.x), "seed {seed}: {size}");
        assert!((0.31..0.39).contains(&size.y), "seed {seed}: {size}");
        let length: f32 = path.points.windows(2).map(|w| w[0].distance(w[1])).sum();
        assert!((0.9..1.6).contains(&length), "seed {seed}: {length}");
        // The radius of a round tube with the same volume.
        let radius = (report.volume / (PI * length)).sqrt();
        assert!((0.019..0.026).contains(&radius), "seed {seed}: {radius}");
    }
}

#[test]
fn any_seed_builds() {
    for i in 0..300u64 {
        let seed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mesh = Colon::coarse(seed).build();
        assert!(mesh.is_ok_and(|m| m.check().is_sound()), "seed {seed}");
    }
}

#[test]
fn the_fine_mesh_does_not_cross_itself() {
    for seed in [0, 7] {
        assert_eq!(self_intersections(&Colon::fine(seed).build().unwrap()), 0);
    }
}

#[test]
fn the_path_is_inside() {
    for seed in 0..5 {
        let (mesh, path) = Colon::coarse(seed).build_with_path().unwrap();
        assert_eq!(path.points.len(), 203);
        for (i, &p) in path.points.iter().enumerate().skip(1).take(201) {
            // Corners, middles of edges and of triangles stand for the wall.
            let nearest = (0..mesh.triangles.len())
                .flat_map(|t| {
                    let [a, b, c] = mesh.corners(t);
                    [a, 0.5 * (a + b), 0.5 * (b + c), (a + b + c) / 3.0]
                })
                .map(|q| q.distance(p))
                .fold(f32::INFINITY, f32::min);
            assert!(
                path.radii[i] > 0.0 && nearest >= path.radii[i],
                "seed {seed} ring {i}"
            );
            // The solid angle of the whole wall, 4π inside (van Oosterom & Strackee 1983).
            if i % 40 == 1 {
                let solid_angle: f64 = (0..mesh.triangles.len())
                    .map(|t| {
                        let [a, b, c] = mesh.corners(t).map(|v| (v - p).as_dvec3().normalize());
                        let over = a.dot(b.cross(c));
                        2.0 * over.atan2(1.0 + a.dot(b) + b.dot(c) + c.dot(a))
                    })
                    .sum();
                assert!((solid_angle / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-3);
            }
        }
        let runs = path.points.windows(2).zip(&path.tangents);
        assert!(runs.clone().all(|(w, t)| (w[1] - w[0]).dot(*t) > 0.0));
    }
}

#[test]
fn the_wall_has_sacs_and_bands() {
    let colon = Colon {
        variation: 0.0,
        ..Colon::fine(3)
    };
    let (mesh, path) = colon.build_with_path().unwrap();
    // Along the middle of a row, the transverse colon's wall swells and shrinks.
    let radius =
        |ring: usize, j: usize| mesh.vertices[50 * ring + j].distance(path.points[ring + 1]);
    let row: Vec<f32> = (220..300).map(|ring| radius(ring, 8)).collect();
    let swells = (2..78).filter(|&i| row[i] > row[i - 2] && row[i] >= row[i + 2]);
    assert!(swells.count() >= 4);
    let (low, high) = row
        .iter()
        .fold((1.0f32, 0.0f32), |(l, h), &r| (l.min(r), h.max(r)));
    assert!(high / low > 1.35, "{low} to {high}");
    // Around, every taenia is nearer to the axis than one of the rows beside it.
    for ring in 220..300 {
        let rows = radius(ring, 8).max(radius(ring, 42));
        assert!(radius(ring, 0) < 1.02 * rows, "ring {ring}");
    }
}

#[test]
fn same_seed_same_colon() {
    assert_eq!(
        Colon::coarse(5).build().unwrap(),
        Colon::coarse(5).build().unwrap()
    );
    assert_ne!(
        Colon::coarse(5).build().unwrap(),
        Colon::coarse(6).build().unwrap()
    );
    let plain = |seed| Colon {
        variation: 0.0,
        ..Colon::coarse(seed)
    };
    assert_eq!(
        plain(1).path().unwrap().points,
        plain(2).path().unwrap().points
    );
}

#[test]
fn impossible_colons() {
    let control = |x: f32, y: f32| ColonControl {
        point: Vec3::new(x, y, 0.0),
        radius: 0.03,
        fold_depth: 0.1,
    };
    let message = |controls: Vec<ColonControl>| {
        let colon = Colon {
            controls,
            ..Colon::default()
        };
        colon.build().unwrap_err().to_string()
    };
    let hairpin = vec![control(0.0, 0.0), control(0.3, 0.01), control(0.0, 0.02)];
    assert!(message(hairpin).contains("bent less tightly"));
    let crossing = vec![
        control(0.0, 0.0),
        control(0.5, 0.0),
        control(0.5, 0.3),
        control(0.2, 0.3),
        control(0.2, -0.3),
    ];
    assert!(message(crossing).contains("not to lead the tube through itself"));
    assert!(message(vec![control(0.0, 0.0), control(0.05, 0.0)]).contains("two diameters"));
    assert!(message(vec![control(0.0, 0.0)]).contains("controls is 1"));
    assert!(message(vec![control(0.0, 0.0), control(0.0, 0.0)]).contains("different"));
    assert!(message(vec![control(0.0, f32::NAN), control(0.0, 0.0)]).contains("finite"));
}
