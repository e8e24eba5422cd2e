use glam::Vec3;

use super::{ScreenCamera, ScreenMeshSettings, Surface, screen_mesh};
use crate::math::XyzVec;

fn camera() -> ScreenCamera {
    ScreenCamera::looking_at(Vec3::new(0.0, 0.0, 3.0), Vec3::ZERO, 40.0, [320, 240])
}

fn settings(radius: f32) -> ScreenMeshSettings {
    ScreenMeshSettings {
        radius,
        filter: 0,
        outline: 0,
        ..ScreenMeshSettings::new(radius)
    }
}

/// Area of the mesh on the screen, in pixels.
fn screen_area(surface: &Surface, camera: &ScreenCamera) -> f32 {
    let flat: Vec<Vec3> = surface
        .mesh
        .vertices
        .iter()
        .map(|&v| camera.to_screen(v))
        .collect();
    surface
        .mesh
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| flat[v as usize]);
            // y points down: what the eye sees counter-clockwise is negative.
            -0.5 * ((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y))
        })
        .sum()
}

#[test]
fn a_sphere_is_seen_as_a_disc_that_faces_the_eye() {
    let one: XyzVec = [Vec3::ZERO].into_iter().collect();
    let camera = camera();
    let seen = screen_mesh(one.view(), &camera, &settings(0.5));
    let pixels = 0.5 * camera.focal / 3.0;
    let disc = std::f32::consts::PI * pixels * pixels;
    let area = screen_area(&seen, &camera);
    assert!((area / disc - 1.0).abs() < 0.02, "{area} {disc}");
    let front = seen
        .mesh
        .vertices
        .iter()
        .map(|v| v.z)
        .fold(f32::MIN, f32::max);
    assert!((front - 0.5).abs() < 0.01, "{front}");
    let report = seen.mesh.check();
    assert!(report.is_oriented() && report.non_manifold_edges == 0);
    let toward = seen.normals.iter().filter(|n| n.z > 0.0).count();
    assert!(toward > seen.normals.len() * 9 / 10);
}

#[test]
fn one_surface_before_another_has_a_silhouette_and_both_keep_their_depth() {
    let two: XyzVec = [Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.9, 0.0, -1.5)]
        .into_iter()
        .collect();
    let camera = camera();
    let seen = screen_mesh(two.view(), &camera, &settings(0.3));
    let near = seen.mesh.vertices.iter().filter(|v| v.z > 0.5).count();
    let far = seen.mesh.vertices.iter().filter(|v| v.z < -1.0).count();
    assert_eq!(near + far, seen.mesh.vertices.len());
    assert!(near > 50 && far > 10, "{near} {far}");
    // No triangle bridges them.
    for t in &seen.mesh.triangles {
        let z = t.map(|v| seen.mesh.vertices[v as usize].z);
        assert!(z.iter().all(|&z| z > 0.5) || z.iter().all(|&z| z < 0.5));
    }
}

#[test]
fn the_filter_flattens_and_leaves_silhouettes_alone() {
    let d = 0.05;
    let sheet: XyzVec = (0..400)
        .map(|i| d * Vec3::new((i % 20) as f32 - 9.5, (i / 20) as f32 - 9.5, 0.0))
        .collect();
    let camera = camera();
    let roughness = |filter: u32| {
        let seen = screen_mesh(
            sheet.view(),
            &camera,
            &ScreenMeshSettings {
                filter,
                ..settings(0.05)
            },
        );
        let inner = seen
            .mesh
            .vertices
            .iter()
            .filter(|v| v.x.abs() < 0.3 && v.y.abs() < 0.3);
        let z: Vec<f32> = inner.map(|v| v.z).collect();
        let mean = z.iter().sum::<f32>() / z.len() as f32;
        z.iter().map(|z| (z - mean).powi(2)).sum::<f32>() / z.len() as f32
    };
    assert!(roughness(4) < 0.3 * roughness(0));
}

#[test]
fn odd_input_gives_an_empty_or_finite_mesh_and_threads_do_not_matter() {
    let odd: XyzVec = [
        Vec3::NAN,
        Vec3::splat(1e30),
        Vec3::new(0.0, 0.0, 9.0),
        Vec3::ZERO,
    ]
    .into_iter()
    .collect();
    let camera = camera();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| screen_mesh(odd.view(), &camera, &ScreenMeshSettings::new(0.2)))
    };
    let seen = with(1);
    assert!(seen.mesh.vertices.iter().all(|v| v.is_finite()));
    assert_eq!(seen, with(3));
    let none = screen_mesh(odd.view(), &camera, &ScreenMeshSettings::new(f32::NAN));
    assert!(none.mesh.triangles.is_empty());
}
