//! Pictures of the live renderer, measured. Skipped with a message where there is no
//! graphics adapter.

use std::f32::consts::PI;
use std::sync::Arc;

use glam::Vec3;
use pliant::math::{Aabb, XyzVec};
use pliant_render::xray::coefficients;
use pliant_render::{Camera, Colour, Image};
use pliant_view::{
    Body, Caption, Cloud, Look, Material, Mesh, Mode, Offscreen, Shown, Snapshot, Values,
    ViewError, Wall,
};

const SIZE: [u32; 2] = [200, 160];

fn offscreen() -> Option<Offscreen> {
    match Offscreen::new() {
        Ok(offscreen) => Some(offscreen),
        Err(ViewError::NoAdapter(why)) => {
            eprintln!("skipped: no graphics adapter ({why})");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

fn camera() -> Camera {
    Camera {
        eye: Vec3::new(0.0, 0.0, 6.0),
        target: Vec3::ZERO,
        up: Vec3::Y,
        vertical_fov_degrees: 35.0,
    }
}

fn nothing() -> Snapshot {
    Snapshot {
        number: 1,
        time: 0.0,
        clouds: Vec::new(),
        bodies: Vec::new(),
        walls: Vec::new(),
        floor: None,
        gravity: Vec3::ZERO,
        bounds: Aabb {
            min: Vec3::splat(-1.0),
            max: Vec3::ONE,
        },
    }
}

/// One particle in the middle.
fn ball(radius: f32) -> Snapshot {
    let cloud = Cloud {
        name: "ball".into(),
        material: Material::named("blood"),
        positions: [Vec3::ZERO].into_iter().collect(),
        velocities: [Vec3::ZERO].into_iter().collect::<XyzVec>(),
        ids: vec![0],
        radius,
        values: vec![Values {
            name: "speed",
            values: vec![0.0],
        }],
    };
    Snapshot {
        clouds: vec![cloud],
        ..nothing()
    }
}

fn sphere_mesh() -> Mesh {
    let sphere = pliant::mesh::IcoSphere {
        radius: 1.0,
        cuts: 4,
        ..Default::default()
    };
    sphere.build().unwrap().into()
}

fn ask(
    offscreen: &mut Offscreen,
    snapshot: &Snapshot,
    look: &Look,
    size: [u32; 2],
) -> Result<Image, ViewError> {
    let shown = Shown {
        snapshot,
        look,
        camera: &camera(),
        size,
    };
    offscreen.picture(&shown, &Caption::default())
}

fn picture(offscreen: &mut Offscreen, snapshot: &Snapshot, look: &Look) -> Image {
    ask(offscreen, snapshot, look, SIZE).unwrap()
}

fn look(mode: Mode) -> Look {
    Look {
        mode,
        samples: 1,
        ..Look::default()
    }
}

fn differs(a: Option<Colour>, b: Option<Colour>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return true;
    };
    (a.r - b.r)
        .abs()
        .max((a.g - b.g).abs())
        .max((a.b - b.b).abs())
        > 0.02
}

/// Pixels in which two pictures differ.
fn count(a: &Image, b: &Image) -> usize {
    let [width, height] = SIZE;
    let all = (0..width * height).map(|k| (k % width, k / width));
    all.filter(|&(x, y)| differs(a.pixel(x, y), b.pixel(x, y)))
        .count()
}

#[test]
fn a_ball_covers_its_outline() {
    let Some(mut offscreen) = offscreen() else {
        return;
    };
    let look = look(Mode::Particles);
    let empty = picture(&mut offscreen, &nothing(), &look);
    for radius in [0.2f32, 0.7, 1.2] {
        let drawn = picture(
            &mut offscreen,
            &Snapshot {
                number: (100.0 * radius) as u64,
                ..ball(radius)
            },
            &look,
        );
        // The outline of a ball is that of the cone that touches it.
        let view = camera().view(SIZE[0], SIZE[1]);
        let pixels = view.focal * radius / (36.0 - radius * radius).sqrt();
        let expected = PI * pixels * pixels;
        let covered = count(&drawn, &empty) as f32;
        // A pixel around the rim, either way.
        let rim = 2.0 * PI * pixels;
        assert!((covered - expected).abs() < rim, "{covered} of {expected}");
    }
}

#[test]
fn x_rays_show_the_way_through_a_body() {
    let Some(mut offscreen) = offscreen() else {
        return;
    };
    let body = Body {
        name: "ball".into(),
        colour: Colour::WHITE,
        velocities: Vec::new(),
        ids: Vec::new(),
        values: Vec::new(),
        mesh: sphere_mesh(),
    };
    let snapshot = Snapshot {
        bodies: vec![body],
        ..nothing()
    };
    let level = |image: &Image, x: u32| {
        let c = image.pixel(x, SIZE[1] / 2).unwrap();
        // Undo the film: grey^1.9 is light, and grey = 1 - exp(-attenuation).
        -(1.0 - c.g.powf(1.0 / 1.9)).max(1e-6).ln()
    };
    // Thin enough that nothing is black or white.
    let dim = Look {
        exposure: 0.15,
        ..look(Mode::Xray)
    };
    let empty = picture(&mut offscreen, &nothing(), &dim);
    let drawn = picture(
        &mut offscreen,
        &Snapshot {
            number: 2,
            ..snapshot
        },
        &dim,
    );
    let view = camera().view(SIZE[0], SIZE[1]);
    for x in [100, 110, 120] {
        // Mean over a few rows would hide mistakes: grain is below 0.02 in grey.
        let added = level(&drawn, x) - level(&empty, x);
        let slope = (x as f32 + 0.5 - 100.0) / view.focal;
        // Distance of the ray from the middle, and its chord.
        let off = 6.0 * slope / (1.0 + slope * slope).sqrt();
        let way = 2.0 * (1.0 - off * off).sqrt();
        let expected = 0.35 * dim.exposure * coefficients::WATER * way;
        assert!(
            (added - expected).abs() < 0.08 * expected,
            "at {x}: {added} instead of {expected}"
        );
    }
}

#[test]
fn every_mode_is_another_picture_and_the_same_one_again() {
    let Some(mut offscreen) = offscreen() else {
        return;
    };
    let positions: XyzVec = (0..1000)
        .map(|i| Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32) * 0.2 - 0.9)
        .collect();
    let count_of = positions.len();
    let wall = Wall {
        mesh: Arc::new(sphere_mesh()),
        colour: Colour::hex(0xd98d82),
        opacity: 0.3,
        massive: false,
        film: Some(vec![0.5; sphere_mesh().positions.len()]),
        film_thickness: 0.001,
    };
    let snapshot = Snapshot {
        clouds: vec![Cloud {
            name: "block".into(),
            material: Material::named("water"),
            velocities: positions.clone(),
            ids: (0..count_of as u32).collect(),
            radius: 0.1,
            values: vec![Values {
                name: "speed",
                values: (0..count_of).map(|i| i as f32).collect(),
            }],
            positions,
        }],
        walls: vec![wall],
        floor: Some(-1.1),
        ..nothing()
    };
    let mut pictures = Vec::new();
    for mode in Mode::ALL {
        let first = picture(&mut offscreen, &snapshot, &look(mode));
        let second = picture(&mut offscreen, &snapshot, &look(mode));
        assert!(first == second, "{} changes by itself", mode.name());
        pictures.push((mode.name(), first));
    }
    for (i, (name, a)) in pictures.iter().enumerate() {
        for (other, b) in &pictures[..i] {
            let pixels = count(a, b);
            assert!(pixels > 1000, "{name} looks like {other}: {pixels}");
        }
    }
    // Films on walls show.
    let plain = Look {
        films: false,
        ..look(Mode::Particles)
    };
    let bare = picture(&mut offscreen, &snapshot, &plain);
    assert!(count(&bare, &pictures[0].1) > 1000);
}

#[test]
fn a_lost_device_and_impossible_sizes_are_errors() {
    let Some(mut offscreen) = offscreen() else {
        return;
    };
    let (ball, look) = (ball(0.5), look(Mode::Particles));
    for size in [[0, 10], [10, 0], [1_000_000, 10]] {
        let refused = ask(&mut offscreen, &ball, &look, size);
        let expected = matches!(refused, Err(ViewError::TooLarge { .. }));
        assert!(expected, "{size:?}");
    }
    assert!(ask(&mut offscreen, &ball, &look, [16, 16]).is_ok());
    offscreen.gpu().device.destroy();
    let after = ask(&mut offscreen, &ball, &look, [16, 16]);
    assert!(matches!(after, Err(ViewError::Lost(_))), "{after:?}");
}
