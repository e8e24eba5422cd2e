use glam::Vec3;
use pliant::math::Aabb;
use pliant::mesh::TriMesh;

use super::*;
use crate::camera::Camera;
use crate::image::Image;

fn ball(radius: f32) -> TriMesh {
    pliant::mesh::IcoSphere {
        center: Vec3::ZERO,
        radius,
        cuts: 4,
    }
    .build()
    .unwrap()
}

fn render(scene: &RayScene<'_>, samples: u32) -> Image {
    let camera = Camera {
        eye: Vec3::new(0.0, 0.0, 4.0),
        target: Vec3::ZERO,
        up: Vec3::Y,
        vertical_fov_degrees: 40.0,
    };
    scene.render(&camera, 48, 48, &RaySettings { samples, depth: 8 })
}

fn mesh(mesh: &TriMesh, finish: Finish) -> RayMesh<'_> {
    RayMesh {
        mesh,
        normals: None,
        finish,
        coat: None,
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let ball = ball(1.0);
    let mut scene = RayScene::default();
    scene.meshes.push(mesh(&ball, Finish::liquid("water")));
    scene.ground = Some(Ground::at(-1.0));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| render(&scene, 4))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_body_of_the_index_of_air_is_not_there() {
    let ball = ball(1.0);
    let air = Finish::Clear {
        index: 1.0,
        left_after_metre: Vec3::ONE,
        rank: 1,
    };
    let mut scene = RayScene::default();
    let empty = render(&scene, 4).to_rgb8();
    scene.meshes.push(mesh(&ball, air));
    let through = render(&scene, 4).to_rgb8();
    let worst = empty
        .iter()
        .zip(&through)
        .map(|(a, b)| a.abs_diff(*b))
        .max();
    assert!(worst <= Some(2), "{worst:?}");
}

#[test]
fn glass_in_water_hides_the_water_in_it() {
    // A glass ball alone, and one with water inside it of lower rank: the same.
    let (outer, inner) = (ball(1.0), ball(0.7));
    let glass = Finish::Clear {
        index: 1.5,
        left_after_metre: Vec3::ONE,
        rank: 2,
    };
    let mut scene = RayScene::default();
    scene.meshes.push(mesh(&outer, glass));
    let alone = render(&scene, 1);
    scene.meshes.push(mesh(&inner, Finish::liquid("water")));
    let both = render(&scene, 1);
    let (alone, both) = (alone.to_rgb8(), both.to_rgb8());
    let differ = alone
        .iter()
        .zip(&both)
        .filter(|(a, b)| a.abs_diff(**b) > 6)
        .count();
    assert!(differ < alone.len() / 20, "{differ} of {}", alone.len());
}

#[test]
fn a_ball_throws_a_shadow_on_the_floor() {
    let ball = ball(0.5);
    let floor = Ground {
        grid: false,
        around: Some(Aabb {
            min: Vec3::splat(-3.0),
            max: Vec3::splat(3.0),
        }),
        ..Ground::at(-0.5)
    };
    let mut scene = RayScene {
        ground: Some(floor),
        ..RayScene::default()
    };
    let camera = Camera {
        eye: Vec3::new(0.0, 4.0, 0.1),
        target: Vec3::ZERO,
        up: Vec3::NEG_Z,
        vertical_fov_degrees: 50.0,
    };
    let settings = RaySettings {
        samples: 8,
        depth: 4,
    };
    let darkest = |scene: &RayScene<'_>| {
        let image = scene.render(&camera, 40, 40, &settings);
        image.to_rgb8().into_iter().min()
    };
    let bare = darkest(&scene);
    scene.meshes.push(mesh(
        &ball,
        Finish::Matt {
            colour: Colour::WHITE,
            gloss: 0.0,
        },
    ));
    let shaded = darkest(&scene);
    assert!(shaded < bare.map(|b| b - 30), "{shaded:?} {bare:?}");
}

#[test]
fn broken_meshes_and_odd_numbers_do_not_panic() {
    let broken = TriMesh {
        vertices: vec![Vec3::ZERO, Vec3::NAN, Vec3::X],
        triangles: vec![[0, 1, 2], [0, 0, 0], [0, 2, 9]],
    };
    let mut scene = RayScene::default();
    scene.meshes.push(mesh(&broken, Finish::glass()));
    assert_eq!(render(&scene, 0).width(), 48);
}
