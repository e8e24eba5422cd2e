use glam::Vec3;
use pliant::math::Aabb;

use super::*;
use crate::camera::Camera;

fn camera() -> Camera {
    Camera {
        eye: Vec3::new(0.0, 0.0, 10.0),
        target: Vec3::ZERO,
        up: Vec3::Y,
        vertical_fov_degrees: 20.0,
    }
}

fn middle(scene: &XrayScene<'_>) -> f32 {
    let sums = scene.attenuation(&camera(), 33, 33);
    sums[16 * 33 + 16]
}

#[test]
fn a_ball_attenuates_by_its_diameter_and_counts_what_it_pushes_aside() {
    let ball = ball(5);
    let body = |attenuation, displaced| XrayBody {
        mesh: &ball,
        attenuation,
        displaced,
    };
    let alone = XrayScene {
        bodies: vec![body(3.0, 0.0)],
        ..XrayScene::default()
    };
    assert!((middle(&alone) - 3.0).abs() < 0.02, "{}", middle(&alone));
    let gas = XrayScene {
        bodies: vec![body(5.0, 0.0), body(0.0, 2.0)],
        ..XrayScene::default()
    };
    assert!((middle(&gas) - 3.0).abs() < 0.02, "{}", middle(&gas));
}

#[test]
fn a_volume_and_a_coated_wall_add_up() {
    let size = [11, 11, 11];
    let volume = Volume {
        size,
        origin: Vec3::splat(-0.5),
        spacing: Vec3::splat(0.1),
        values: vec![2.0; 1331],
    };
    let cube = pliant::mesh::Cuboid::new(Vec3::splat(-0.25), Vec3::splat(0.25))
        .build()
        .unwrap();
    let normals = cube.vertex_normals();
    let layer = vec![0.002; cube.vertices.len()];
    let mut scene = XrayScene {
        volume: Some(&volume),
        ..XrayScene::default()
    };
    assert!((middle(&scene) - 2.0).abs() < 1e-3);
    scene.shells.push(XrayShell {
        mesh: &cube,
        normals: &normals,
        thickness: 0.01,
        attenuation: 20.0,
        coat: Some((&layer, 400.0)),
    });
    // Two walls; rounded normals of a cube slant a little towards its corners.
    let added = middle(&scene) - 2.0;
    assert!(
        added > 2.0 * 1.0 - 1e-3 && added < 2.0 * 1.0 * 1.8,
        "{added}"
    );
}

#[test]
fn nrrd_files_come_back_and_damaged_ones_are_explained() {
    let dir = std::env::temp_dir().join(format!("pliant-nrrd-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("a.nrrd");
    let volume = Volume {
        size: [2, 3, 2],
        origin: Vec3::new(0.5, -1.0, 2.0),
        spacing: Vec3::new(0.5, 1.0, 2.0),
        values: (0..12).map(|v| v as f32 * 1.5).collect(),
    };
    volume.write_nrrd(&path).unwrap();
    assert_eq!(Volume::read_nrrd(&path, 1.0).unwrap(), volume);
    let scaled = Volume::read_nrrd(&path, 0.001).unwrap();
    assert_eq!(scaled.spacing.z, 0.002);
    assert!((volume.sample(Vec3::new(0.75, -0.5, 3.0)) - 8.25 - 1.5 * 0.5).abs() < 4.0);

    std::fs::write(dir.join("b.nhdr"), "NRRD0001\ntype: short\ndimension: 3\nsizes: 2 1 1\nspacings: 1 1 1\nendian: big\nencoding: raw\ndata file: b.raw\n").unwrap();
    std::fs::write(dir.join("b.raw"), [0u8, 7, 255, 255]).unwrap();
    let b = Volume::read_nrrd(&dir.join("b.nhdr"), 1.0).unwrap();
    assert_eq!(b.values, [7.0, -1.0]);

    let bad: [(&str, &str); 6] = [
        ("hello\n", "not a NRRD"),
        ("NRRD0004\ntype: quaternion\n", "line 2: type"),
        ("NRRD0004\ntype: float\nsizes: 2 2\n", "line 3: sizes"),
        ("NRRD0004\nencoding: gzip\n", "encoding"),
        (
            "NRRD0004\ntype: float\nsizes: 2 2 2\n\nabc",
            "3 bytes where 32",
        ),
        ("NRRD0004\ntype: float\n\n", "no `sizes`"),
    ];
    for (text, message) in bad {
        std::fs::write(&path, text).unwrap();
        let error = Volume::read_nrrd(&path, 1.0).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn denser_is_whiter_and_the_same_for_any_number_of_threads() {
    let ball = ball(3);
    let volume = Volume::abdomen(Aabb {
        min: Vec3::splat(-0.2),
        max: Vec3::splat(0.2),
    });
    let scene = XrayScene {
        bodies: vec![XrayBody {
            mesh: &ball,
            attenuation: 9.0,
            displaced: 0.0,
        }],
        volume: Some(&volume),
        film: Film {
            level: Some(5.0),
            collimated: false,
            ..Film::default()
        },
        ..XrayScene::default()
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| scene.render(&camera(), 40, 40))
    };
    let image = with(1);
    assert_eq!(image, with(3));
    let light = |x, y| image.pixel(x, y).unwrap().g;
    assert!(
        light(20, 20) > 4.0 * light(1, 1),
        "{} {}",
        light(20, 20),
        light(1, 1)
    );
}

fn ball(subdivisions: u32) -> TriMesh {
    let shape = pliant::mesh::IcoSphere {
        center: Vec3::ZERO,
        radius: 0.5,
        cuts: subdivisions,
    };
    shape.build().unwrap()
}
