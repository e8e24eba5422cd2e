//! Whole pictures, looked at pixel by pixel.

use pliant::Vec3;
use pliant::math::XyzVec;
use pliant::mesh::TriMesh;
use pliant_render::{
    Camera, Colour, ColourMap, Ground, Image, Legend, MeshSurface, Scene, SphereColours, Spheres,
};

const RED: Colour = Colour::linear(0.8, 0.02, 0.02);
const BLUE: Colour = Colour::linear(0.02, 0.02, 0.8);
const GREEN: Colour = Colour::linear(0.02, 0.8, 0.02);

fn ahead() -> Camera {
    Camera {
        eye: Vec3::new(0.0, 0.0, 5.0),
        target: Vec3::ZERO,
        up: Vec3::Y,
        vertical_fov_degrees: 30.0,
    }
}

fn balls(positions: &XyzVec, radius: f32, colour: Colour) -> Spheres<'_> {
    Spheres {
        positions: positions.view(),
        radius,
        colours: SphereColours::One(colour),
    }
}

/// A square across the view at depth coordinate `z`.
fn pane(z: f32, half: f32) -> TriMesh {
    TriMesh {
        vertices: [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| Vec3::new(x * half, y * half, z))
            .to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

fn glass(mesh: &TriMesh, colour: Colour, opacity: f32) -> MeshSurface<'_> {
    MeshSurface {
        mesh,
        colour,
        shades: None,
        opacity,
        smooth: false,
    }
}

fn middle(image: &Image) -> Colour {
    image.pixel(image.width() / 2, image.height() / 2).unwrap()
}

/// The ratio of one channel to the sum of the others.
fn is_mostly(c: Colour, channel: usize) -> bool {
    let rgb = [c.r, c.g, c.b];
    rgb[channel] > 1.5 * (rgb.iter().sum::<f32>() - rgb[channel])
}

fn at(points: &[[f32; 3]]) -> XyzVec {
    points.iter().map(|&p| Vec3::from_array(p)).collect()
}

#[test]
fn a_sphere_covers_the_disc_it_should() {
    let p = at(&[[0.0, 0.0, 0.0]]);
    let scene = Scene {
        spheres: vec![balls(&p, 0.5, RED)],
        background: [Colour::WHITE; 2],
        ..Scene::default()
    };
    let image = scene.render(&ahead(), 200, 200);
    assert!(is_mostly(middle(&image), 0));
    // The outline's half angle has the sine radius / distance.
    let focal = 100.0 / 15f32.to_radians().tan();
    let expected = focal * (0.5f32 / 5.0).asin().tan();
    let row: Vec<bool> = (0..200)
        .map(|x| image.pixel(x, 100).unwrap().g < 0.5)
        .collect();
    let width = row.iter().filter(|dark| **dark).count() as f32;
    assert!(
        (width - 2.0 * expected).abs() < 1.5,
        "{width} for {}",
        2.0 * expected
    );
    assert_eq!(image.pixel(2, 2), Some(Colour::WHITE));
}

#[test]
fn the_nearer_sphere_is_seen_whatever_the_order() {
    let (near, far) = (at(&[[0.0, 0.0, 1.0]]), at(&[[0.0, 0.0, -1.0]]));
    for swap in [false, true] {
        let mut spheres = vec![balls(&near, 0.5, RED), balls(&far, 0.5, BLUE)];
        if swap {
            spheres.swap(0, 1);
        }
        let scene = Scene {
            spheres,
            ..Scene::default()
        };
        assert!(is_mostly(middle(&scene.render(&ahead(), 64, 64)), 0));
    }
}

#[test]
fn spheres_and_solid_meshes_hide_each_other_by_depth() {
    let p = at(&[[0.0, 0.0, 0.0]]);
    for (z, channel) in [(-1.0, 0), (1.0, 2)] {
        let wall = pane(z, 2.0);
        let scene = Scene {
            spheres: vec![balls(&p, 0.3, RED)],
            meshes: vec![glass(&wall, BLUE, 1.0)],
            ..Scene::default()
        };
        assert!(
            is_mostly(middle(&scene.render(&ahead(), 64, 64)), channel),
            "wall at {z}"
        );
    }
}

#[test]
fn see_through_walls_lie_behind_and_before_particles() {
    let p = at(&[[0.0, 0.0, 0.0]]);
    let (back, front) = (pane(-1.0, 2.0), pane(1.0, 2.0));
    let render = |walls: Vec<MeshSurface<'_>>| {
        let scene = Scene {
            spheres: vec![balls(&p, 0.3, RED)],
            meshes: walls,
            background: [Colour::WHITE; 2],
            ..Scene::default()
        };
        scene.render(&ahead(), 64, 64)
    };
    let bare = render(vec![]);
    let behind = render(vec![glass(&back, GREEN, 0.4)]);
    let before = render(vec![glass(&front, GREEN, 0.4)]);
    // A wall behind the sphere leaves its pixels alone and tints the others.
    assert_eq!(middle(&behind), middle(&bare));
    assert!(behind.pixel(5, 5).unwrap().r < 0.8);
    assert!(middle(&before).g > middle(&bare).g + 0.05);
    assert!(middle(&before).r < middle(&bare).r);
}

#[test]
fn walls_are_laid_from_far_to_near_whatever_their_order() {
    let (far, near) = (pane(-1.0, 3.0), pane(1.0, 3.0));
    let render = |first: MeshSurface<'_>, second: MeshSurface<'_>| {
        let scene = Scene {
            meshes: vec![first, second],
            ..Scene::default()
        };
        scene.render(&ahead(), 32, 32)
    };
    let (red, blue) = (glass(&far, RED, 0.7), glass(&near, BLUE, 0.7));
    let image = render(red, blue);
    assert_eq!(image, render(blue, red));
    assert!(middle(&image).b > 1.5 * middle(&image).r);
}

#[test]
fn particles_without_a_finite_position_are_left_out() {
    let clean = at(&[[0.0, 0.0, 0.0]]);
    let dirty = at(&[
        [f32::NAN, 0.0, 0.0],
        [0.0, f32::INFINITY, 0.0],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, f32::NEG_INFINITY],
    ]);
    let render = |p: &XyzVec| {
        let scene = Scene {
            spheres: vec![balls(p, 0.5, RED)],
            ground: Some(Ground::at(-1.0)),
            ..Scene::default()
        };
        assert!(scene.aabb().size().is_finite());
        scene.render(&ahead(), 80, 60)
    };
    assert_eq!(render(&clean), render(&dirty));
}

#[test]
fn odd_scenes_do_not_panic() {
    let p = at(&[[0.0, 0.0, 5.0], [0.0, 0.0, 4.9], [1e30, 0.0, 0.0]]);
    let mesh = TriMesh {
        vertices: vec![Vec3::NAN, Vec3::ZERO, Vec3::X, Vec3::new(0.0, 1.0, 9.0)],
        triangles: vec![[0, 1, 2], [1, 1, 1], [1, 2, 99], [1, 2, 3]],
    };
    for radius in [0.0, -1.0, f32::NAN, 1e-30, 1e30] {
        for opacity in [0.5, 1.0, f32::NAN] {
            let scene = Scene {
                spheres: vec![balls(&p, radius, RED)],
                meshes: vec![glass(&mesh, BLUE, opacity)],
                ground: Some(Ground::at(f32::NAN)),
                legend: Some(Legend {
                    title: String::new(),
                    map: ColourMap::Water,
                    range: (f32::NAN, f32::INFINITY),
                }),
                ..Scene::default()
            };
            scene.render(&ahead(), 40, 30);
            scene.render(&Camera::framing(scene.aabb(), Vec3::NAN), 1, 1);
        }
    }
    Scene::default().render(&ahead(), 0, 0);
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let p: XyzVec = (0..600)
        .map(|i| {
            let a = i as f32 * 0.37;
            Vec3::new(a.sin(), (1.7 * a).cos(), (2.3 * a).sin())
        })
        .collect();
    let values: Vec<f32> = (0..600).map(|i| i as f32).collect();
    let (back, front) = (pane(-1.2, 1.0), pane(1.2, 1.0));
    let scene = Scene {
        spheres: vec![Spheres {
            positions: p.view(),
            radius: 0.08,
            colours: SphereColours::ByValue {
                values: &values,
                map: ColourMap::Meadow,
                range: (0.0, 600.0),
            },
        }],
        meshes: vec![glass(&back, GREEN, 0.3), glass(&front, BLUE, 0.2)],
        ground: Some(Ground::at(-1.2)),
        caption: Some("t = 1 s".into()),
        ..Scene::default()
    };
    let camera = Camera::framing_in(scene.aabb(), Vec3::new(-1.0, -0.7, -2.0), 1.5);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| scene.render(&camera, 300, 200))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
    assert_eq!(one.to_rgb8(), with(3).to_rgb8());
}
