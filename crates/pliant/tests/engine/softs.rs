//! Soft surface bodies in a world: determinism, checkpoints, the behaviours that Mesit
//! 2010 names of its scenes.

use crate::common::run;
use pliant::mesh::{EvenSphere, IcoSphere};
use pliant::observe::{Decoder, Encoder};
use pliant::scene::Scene;
use pliant::soft::{
    Bones, Breathing, Lung, Model, Prisms, SoftSettings, SurfaceMass, Underwater, sheet,
};
use pliant::{Obstacle, Soft, Vec3, World};

/// Balls with fluid skins that meet, a lung, and a cloth, over a floor.
fn world() -> World {
    let mut world = World::new();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    world.add_obstacle(floor.with_contact(0.0, 0.3));
    for (k, points) in [5000, 400].into_iter().enumerate() {
        let mut settings = SoftSettings::new(format!("ball {k}"));
        settings.controls.beta = 0.5;
        settings.volume.breathing = Some(Breathing {
            period: 0.05,
            amplitude: 0.5,
            seed: 3,
        });
        let ball = EvenSphere {
            center: Vec3::new(0.22 * k as f32, 0.12, 0.0),
            radius: 0.1,
            points,
        };
        let ball = world.add_soft(settings, ball.build().unwrap()).unwrap();
        let push = if k == 0 { 1.0 } else { -1.0 };
        let ball = world.soft_mut(ball).unwrap();
        ball.put(|p| p, |_| Vec3::new(push, 0.0, 0.0));
    }
    let mut settings = SoftSettings::new("lung");
    settings.mass = SurfaceMass::Area(4.0);
    settings.body.stiffness = 300.0;
    settings.volume.lung = Some(Lung::default());
    let shape = IcoSphere {
        center: Vec3::new(0.0, 0.12, 0.5),
        radius: 0.07,
        cuts: 2,
    };
    world.add_soft(settings, shape.build().unwrap()).unwrap();
    let mut settings = SoftSettings::new("cloth");
    settings.controls.gamma = 0.0;
    settings.contact.own = true;
    let cloth = sheet(Vec3::new(0.1, 0.25, 0.0), [0.3, 0.3], [15, 15]);
    world.add_soft(settings, cloth).unwrap();
    // Models, two of which remember more than places and velocities.
    let bones = Bones {
        chain: [-0.07, 0.0, 0.07].map(|x| Vec3::new(x, 0.3, 1.0)).to_vec(),
        mass: 0.2,
        stiffness: 2000.0,
        damping: 10.0,
        muscle: 1.0,
        held: true,
        swing: Vec::new(),
    };
    let models = [
        Model::Underwater(Underwater::default()),
        Model::Bones(bones),
        Model::Prisms(Prisms::default()),
    ];
    for (k, model) in models.into_iter().enumerate() {
        let mut settings = SoftSettings::new(format!("model {k}"));
        settings.model = model;
        let at = Vec3::new(0.0, 0.3, 0.5 + 0.5 * k as f32);
        let body = sheet(at, [0.2, 0.2], [6, 6]);
        world.add_soft(settings, body).unwrap();
    }
    world
}

#[test]
fn the_bits_of_soft_bodies_do_not_depend_on_threads() {
    let hash = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut world = world();
            run(&mut world, 0.12, 0.02);
            world.hash()
        })
    };
    assert_eq!(hash(1), hash(2));
}

#[test]
fn soft_bodies_continue_from_a_checkpoint_with_the_same_bits() {
    let mut straight = world();
    run(&mut straight, 0.06, 0.02);
    let mut file = Encoder::default();
    straight.save(&mut file);
    let file = file.finish();
    run(&mut straight, 0.06, 0.02);
    let mut resumed = world();
    let mut from = Decoder::open(&file).unwrap();
    resumed.load(&mut from).unwrap();
    from.finish().unwrap();
    run(&mut resumed, 0.06, 0.02);
    assert_eq!(straight.hash(), resumed.hash());
}

/// A scene after `seconds`.
fn after(scene: &str, seconds: f32) -> Soft {
    let mut built = Scene::open(scene, &[]).unwrap().build().unwrap();
    run(&mut built.world, seconds, 0.02);
    built.world.softs().next().unwrap().clone()
}

#[test]
fn bodies_in_the_wine_glass_behave_as_their_numbers_say() {
    let [a, b, c, d, e, f] =
        ["a", "b", "c", "d", "e", "f"].map(|n| after(&format!("wine-glass-{n}"), 1.2));
    assert_eq!(
        (a.len(), a.triangles().len(), a.edges().len()),
        (1_986, 3_968, 5_952)
    );
    let bumpiness = [&a, &b, &c].map(Soft::bumpiness);
    assert!(
        bumpiness[0] < bumpiness[1] && bumpiness[1] < bumpiness[2],
        "{bumpiness:?}"
    );
    let round = [&d, &e].map(Soft::sphericity);
    assert!(round.iter().all(|s| *s > 0.97), "{round:?}");
    let flat = f.volume() / f.rest_volume();
    assert!(flat < 0.5, "{flat}");
    assert!(a.volume() / a.rest_volume() > 0.9);
}

#[test]
fn faces_bloat_less_where_their_skin_holds_them() {
    let growth = |letter: &str| {
        let soft = after(&format!("face-{letter}"), 0.6);
        soft.volume() / soft.rest_volume() - 1.0
    };
    let [a, b, c, d, e, f] = ["a", "b", "c", "d", "e", "f"].map(growth);
    assert!(d < e && e < f, "{d} {e} {f}");
    assert!(d < a && e < b && f < c, "{a} {b} {c}, {d} {e} {f}");
}

#[test]
fn two_hundred_blobs_stay_whole_and_apart() {
    let mut built = Scene::open("space-blobs", &[]).unwrap().build().unwrap();
    let places = |world: &World| -> Vec<Vec3> {
        let mean = |s: &Soft| s.positions().iter().sum::<Vec3>() / s.len() as f32;
        world.softs().map(mean).collect()
    };
    for _ in 0..120 {
        built.world.step(1.0 / 60.0).unwrap();
    }
    assert_eq!(built.world.softs().count(), 200);
    for soft in built.world.softs() {
        let share = soft.volume() / soft.rest_volume();
        assert!((0.8..1.8).contains(&share), "{share}");
        assert!(soft.sphericity() > 0.9, "{}", soft.sphericity());
    }
    // Balls of 95 mm, swollen: none has another's middle in it.
    let all = places(&built.world);
    let nearest = all.iter().enumerate().flat_map(|(i, p)| {
        let others = all[i + 1..].iter();
        others.map(move |q| p.distance(*q))
    });
    let nearest = nearest.fold(f32::INFINITY, f32::min);
    assert!(nearest > 0.15, "{nearest}");
}

#[test]
fn a_push_is_an_impulse() {
    let mut world = World::new();
    let ball = IcoSphere::default().build().unwrap();
    let ball = world.add_soft(SoftSettings::new("ball"), ball).unwrap();
    world.gravity = Vec3::ZERO;
    let before = world.totals().momentum;
    let soft = world.soft_mut(ball).unwrap();
    soft.push(3, Vec3::new(0.0, 0.2, 0.1));
    soft.push(u32::MAX, Vec3::ONE);
    let pushed = world.totals().momentum - before;
    assert!((pushed.as_vec3() - Vec3::new(0.0, 0.2, 0.1)).length() < 1e-5);
    run(&mut world, 0.02, 0.02);
    let after = world.totals().momentum - before;
    assert!((after - pushed).length() < 1e-4, "{after}");
}
