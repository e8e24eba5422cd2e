//! What a person would ask of each of the seven models.

use glam::{Quat, Vec3, Vec3A};

use super::super::settings::{SoftSettings, SurfaceMass};
use super::super::{Soft, Surroundings, sheet};
use super::*;
use crate::contact::Obstacle;
use crate::mesh::{EvenSphere, TetBlock, Tube};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

fn settings(model: Model) -> SoftSettings {
    let mut settings = SoftSettings::new("body");
    settings.mass = SurfaceMass::Area(0.15);
    settings.model = model;
    settings
}

/// A square cloth of half a metre, level.
fn cloth(model: Model, cells: u32) -> Soft {
    let mesh = sheet(Vec3::ZERO, [0.5, 0.5], [cells, cells]);
    Soft::new(settings(model), mesh).unwrap()
}

fn woven(cells: u32) -> Woven {
    Woven {
        cells: [cells; 2],
        ..Woven::default()
    }
}

fn bar() -> Soft {
    let block = TetBlock {
        min: Vec3::new(-0.2, -0.025, -0.025),
        max: Vec3::new(0.2, 0.025, 0.025),
        cells: [8, 1, 1],
    };
    let mut settings = settings(Model::Energies(Energies::default()));
    settings.mass = SurfaceMass::Total(0.2);
    settings.drag = 3.0;
    Soft::solid(settings, block.build().unwrap()).unwrap()
}

fn run(soft: &mut Soft, seconds: f32, h: f32, around: &Surroundings<'_>) {
    for _ in 0..(seconds / h).round() as usize {
        soft.advance(h, around);
    }
}

fn nowhere() -> Surroundings<'static> {
    Surroundings::new(Vec3::ZERO, &[], [])
}

fn falling() -> Surroundings<'static> {
    Surroundings::new(GRAVITY, &[], [])
}

/// Largest stretch of an edge, as a share of its length at the start.
fn longest(soft: &Soft) -> f32 {
    let stretch = |[i, j]: &[u32; 2]| {
        let [i, j] = [*i as usize, *j as usize];
        let now = soft.position[i].distance(soft.position[j]);
        now / soft.start[i].distance(soft.start[j]) - 1.0
    };
    soft.edges().iter().map(stretch).fold(0.0, f32::max)
}

fn farthest(soft: &Soft) -> f32 {
    let ways = soft.position.iter().zip(&soft.start);
    ways.map(|(a, b)| Vec3::from(*a).distance(*b))
        .fold(0.0, f32::max)
}

/// Largest difference between the forces at rest and the slopes of the energy, over the
/// largest force.
fn off_slope(soft: &mut Soft, energy: impl Fn(&ModelState, &[Vec3A]) -> f64) -> f64 {
    soft.put(
        |p| {
            p + 0.01
                * Vec3::new(
                    (13.0 * p.z).sin(),
                    (17.0 * p.x).cos(),
                    (11.0 * p.y + p.x).sin(),
                )
        },
        |_| Vec3::ZERO,
    );
    let mut place = soft.position.clone();
    let mut velocity = soft.velocity.clone();
    let mut force = vec![Vec3A::ZERO; place.len()];
    let model = soft.model.clone().unwrap();
    let mut points = Points {
        position: &mut place,
        velocity: &mut velocity,
        force: &mut force,
        mass: &soft.topology.mass,
        inverse_mass: &soft.inverse_mass,
        topology: &soft.topology,
        controls: soft.controls(),
        acceleration: &|_, _| Vec3A::ZERO,
        kept: 1.0,
        h: 1e-3,
        clock: 0.0,
    };
    match &model {
        ModelState::Energies(m) => m.add_forces(&mut points),
        ModelState::Woven(m) => m.add_forces(&mut points),
        ModelState::Conditions(m) => m.add_forces(&mut points),
        _ => unreachable!("only these have an energy"),
    }
    let largest = force.iter().map(|f| f.length()).fold(0.0, f32::max);
    // Short beside the lengths on which the cubic tension of threads changes.
    let step = 1e-4;
    let mut worst = 0.0f64;
    for i in (0..place.len()).step_by(place.len() / 12) {
        for axis in 0..3 {
            let at = place[i];
            let mut energies = [0.0; 2];
            for (side, e) in [step, -step].into_iter().zip(&mut energies) {
                place[i][axis] = at[axis] + side;
                *e = energy(&model, &place);
            }
            place[i] = at;
            let slope = (energies[0] - energies[1]) / f64::from(2.0 * step);
            worst = worst.max((f64::from(force[i][axis]) + slope).abs());
        }
    }
    worst / f64::from(largest)
}

#[test]
fn forces_are_the_slopes_of_energies() {
    let of_energies = |m: &ModelState, p: &[Vec3A]| match m {
        ModelState::Energies(m) => m.energy(p),
        ModelState::Woven(m) => m.energy(p),
        ModelState::Conditions(m) => m.energy(p),
        _ => unreachable!("only these have an energy"),
    };
    let energies = Model::Energies(Energies::default());
    let conditions = Model::Conditions(Conditions::default());
    let bodies = [
        ("solid", bar()),
        ("shell", cloth(energies, 6)),
        ("woven", cloth(Model::Woven(woven(6)), 6)),
        ("conditions", cloth(conditions, 6)),
    ];
    for (name, mut body) in bodies {
        let off = off_slope(&mut body, of_energies);
        assert!(off < 0.02, "{name}: {off}");
    }
}

#[test]
fn a_squeezed_solid_comes_back_and_keeps_its_volume_when_it_hangs() {
    let mut squeezed = bar();
    squeezed.put(|p| p * Vec3::new(0.8, 1.1, 1.1), |_| Vec3::ZERO);
    run(&mut squeezed, 2.0, 5e-4, &nowhere());
    assert!(farthest(&squeezed) < 0.004, "{} m", farthest(&squeezed));
    let mut hanging = bar();
    assert_eq!(hanging.pin_where(|p| p.x < -0.199), 4);
    run(&mut hanging, 2.0, 5e-4, &falling());
    let volume = hanging.volume() / hanging.rest_volume();
    assert!((volume - 1.0).abs() < 0.01, "{volume}");
    let lowest = hanging.bounds().min.y;
    assert!(lowest < -0.03, "it sags: {lowest}");
}

#[test]
fn a_shell_keeps_its_bends() {
    let mut s = settings(Model::Energies(Energies {
        distance: 0.02,
        area: 0.01,
        volume: 0.02,
        damping: 0.002,
    }));
    s.drag = 3.0;
    let mut shell = Soft::new(s, sheet(Vec3::ZERO, [0.5, 0.5], [10, 10])).unwrap();
    shell.put(|p| p + 0.3 * p.x * p.x * Vec3::Y, |_| Vec3::ZERO);
    run(&mut shell, 3.0, 5e-4, &nowhere());
    let height = shell.bounds().size().y;
    assert!(height < 0.002, "it is flat again: {height}");
}

/// A sheet that hangs by its upper edge: springs along edges let its area grow, forces of
/// triangles do not.
#[test]
fn triangles_that_keep_their_area_keep_that_of_a_hanging_sheet() {
    let hang = |area: f32| {
        let mut s = settings(Model::Energies(Energies {
            distance: 0.02,
            area,
            volume: 0.0,
            damping: 0.002,
        }));
        s.drag = 3.0;
        let mut sheet = Soft::new(s, sheet(Vec3::ZERO, [0.5, 0.5], [8, 8])).unwrap();
        let upright = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        sheet.put(|p| upright * p, |_| Vec3::ZERO);
        let start = sheet.area();
        assert_eq!(sheet.pin_where(|p| p.z < -0.249), 9);
        run(&mut sheet, 3.0, 5e-4, &falling());
        sheet.area() / start - 1.0
    };
    let (without, with) = (hang(0.0), hang(0.1));
    assert!(without > 0.04, "{without}");
    assert!(with.abs() < 0.1 * without, "{with} {without}");
}

#[test]
fn a_woven_cloth_falls_at_the_speed_that_air_allows() {
    let mut soft = cloth(Model::Woven(woven(10)), 10);
    run(&mut soft, 2.0, 5e-4, &falling());
    let speed = -soft.velocity.iter().map(|v| v.y).sum::<f32>() / soft.len() as f32;
    let wanted = (2.0 * 0.15 * 9.81 / 1.2f32).sqrt();
    assert!((speed / wanted - 1.0).abs() < 0.01, "{speed} {wanted}");
}

#[test]
fn a_hanging_woven_cloth_stretches_by_less_than_two_percent() {
    let mut soft = cloth(Model::Woven(woven(16)), 16);
    soft.put(|p| Vec3::new(p.x, p.z - 0.25, 0.0), |_| Vec3::ZERO);
    assert_eq!(soft.pin_where(|p| p.z > 0.249), 17);
    soft.settings.drag = 2.0;
    run(&mut soft, 1.5, 2e-4, &falling());
    let threads: Vec<f32> = (0..16 * 17)
        .map(|i| soft.position[i].distance(soft.position[i + 17]) / (0.5 / 16.0) - 1.0)
        .collect();
    let most = threads.iter().fold(0.0f32, |a, &b| a.max(b));
    assert!((0.001..0.02).contains(&most), "{most}");
}

/// Five frames of a cloth that swings down from two corners.
fn filmed(normal_drag: f32, h: f32) -> Vec<Film> {
    let mut soft = cloth(
        Model::Conditions(Conditions {
            normal_drag,
            ..Conditions::default()
        }),
        10,
    );
    soft.pin_where(|p| p.z > 0.249 && p.x.abs() > 0.249);
    let camera = VideoCamera {
        center: Vec3::new(0.0, -0.2, 0.0),
        forward: Vec3::new(-0.3, -0.3, -1.0),
        up: Vec3::Y,
        size: 1.0,
        pixels: 48,
    };
    let mut film = Vec::new();
    for _ in 0..5 {
        run(&mut soft, 0.12, h, &falling());
        film.push(Film::of(&soft.shape(), &camera));
    }
    film
}

#[test]
fn the_error_of_a_film_finds_the_drag_of_the_cloth() {
    // The real one is filmed at another time step, so that no candidate is the same.
    let real = filmed(1.0, 2e-4);
    assert!(real[0].covered() > 0.05);
    assert_eq!(film_error(&real, &real), 0.0);
    let candidates = [0.25, 0.5, 1.0, 2.0, 4.0];
    let errors = candidates.map(|k| film_error(&real, &filmed(k, 5e-4)));
    let least = errors.iter().fold(f64::INFINITY, |a, &b| a.min(b));
    assert_eq!(errors[2], least, "{errors:?}");
    assert!(
        errors[2] < 0.5 * errors[1] && errors[2] < 0.5 * errors[3],
        "{errors:?}"
    );
}

#[test]
fn the_half_derivative_is_the_analytic_one() {
    use std::f64::consts::PI;
    let h = 0.01;
    let of = |n: usize, v: fn(f64) -> f64| {
        let velocities: Vec<f64> = (0..=n).map(|i| v(i as f64 * h)).collect();
        half_derivative(&velocities, h)
    };
    // x = t: 2 √(t / π); x = t²: 8/3 t^(3/2) / √π; x = sin t after long: sin(t + π/4).
    let right = [
        (of(100, |_| 1.0), 2.0 / PI.sqrt()),
        (of(200, |t| 2.0 * t), 8.0 / 3.0 * 2f64.powf(1.5) / PI.sqrt()),
    ];
    for (found, wanted) in right {
        assert!((found / wanted - 1.0).abs() < 0.005, "{found} {wanted}");
    }
    let wave = of(6000, f64::cos);
    assert!((wave - (60.0 + PI / 4.0).sin()).abs() < 0.01, "{wave}");
}

#[test]
fn a_cloth_under_water_sinks_slowly_floats_or_rises() {
    let speed = |water: f32, history_drag: f32| {
        let model = Underwater {
            water,
            history_drag,
            viscous_drag: 2.0,
            ..Underwater::default()
        };
        let mut soft = cloth(Model::Underwater(model), 6);
        soft.settings.controls.beta = 1.0;
        run(&mut soft, 1.0, 1e-3, &falling());
        soft.velocity.iter().map(|v| v.y).sum::<f32>() / soft.len() as f32
    };
    assert!(speed(1.0, 2.0).abs() < 1e-5);
    assert!(speed(1.2, 2.0) > 0.05);
    // Without memory: v = g (1 - ρ_w / ρ_c) / k (1 - exp(-k t)).
    let wanted = -9.81 * 0.2 / 2.0 * (1.0 - (-2.0f32).exp());
    let (plain, slowed) = (speed(0.8, 0.0), speed(0.8, 2.0));
    assert!((plain / wanted - 1.0).abs() < 0.01, "{plain} {wanted}");
    assert!(slowed < -0.05 && slowed > 0.8 * plain, "{slowed} {plain}");
}

#[test]
fn a_balloon_of_positions_keeps_its_volume_within_one_percent() {
    let ball = EvenSphere {
        center: 0.15 * Vec3::Y,
        radius: 0.1,
        points: 500,
    };
    let mut soft = Soft::new(
        settings(Model::Positions(Positions::default())),
        ball.build().unwrap(),
    )
    .unwrap();
    let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
    let around = Surroundings::new(GRAVITY, &[], [&floor]);
    let (mut worst, mut lowest) = (0.0f64, f32::INFINITY);
    for _ in 0..500 {
        soft.advance(0.002, &around);
        worst = worst.max((soft.volume() / soft.rest_volume() - 1.0).abs());
        lowest = lowest.min(soft.bounds().size().y);
    }
    assert!(worst < 0.01, "{worst}");
    assert!(longest(&soft) < 0.05, "{}", longest(&soft));
    assert!(lowest < 0.198, "it is pressed: {lowest}");
}

fn worm(held: bool, swing: Vec<Swing>) -> Soft {
    let path = vec![Vec3::ZERO, 0.2 * Vec3::X, 0.4 * Vec3::X];
    let tube = Tube {
        path,
        radius: 0.05,
        segments: 12,
        smooth_rings: Some(20),
        capped: true,
    };
    let chain = [0.02, 0.14, 0.26, 0.38].map(|x| x * Vec3::X).to_vec();
    let model = Bones {
        chain,
        mass: 0.5,
        stiffness: 2000.0,
        damping: 10.0,
        muscle: 2.0,
        held,
        swing,
    };
    let mut s = settings(Model::Bones(model));
    s.mass = SurfaceMass::Area(2.0);
    Soft::new(s, tube.build().unwrap()).unwrap()
}

#[test]
fn bones_stay_joined_and_carry_the_skin() {
    // At rest the skin is where it was; a held worm hangs and waves, its joints closed.
    let mut still = worm(false, Vec::new());
    run(&mut still, 0.5, 0.002, &nowhere());
    assert!(farthest(&still) < 1e-5, "{}", farthest(&still));
    let wave = Swing {
        joint: 1,
        axis: Vec3::Z,
        angle: 40.0,
        frequency: 1.0,
    };
    let mut waving = worm(true, vec![wave]);
    let (mut gap, mut moved) = (0.0f32, 0.0f32);
    for _ in 0..1000 {
        waving.advance(0.002, &falling());
        gap = gap.max(waving.joint_gap());
        moved = moved.max(farthest(&waving));
    }
    assert!(gap < 0.0012, "1 % of a bone: {gap}");
    assert!(moved > 0.05, "{moved}");
    let tip = waving.joints()[3];
    let nearest = waving.positions().iter().map(|p| p.distance(tip));
    assert!(nearest.fold(f32::INFINITY, f32::min) < 0.08);
}

#[test]
fn skin_and_bones_keep_their_momentum() {
    let mut soft = worm(false, Vec::new());
    soft.put(|p| p, |p| Vec3::new(0.3, p.x, 0.1));
    let all = |soft: &Soft| {
        let points = soft.velocity.iter().zip(&soft.topology.mass);
        let skin = points.fold(Vec3A::ZERO, |sum, (v, m)| sum + *m * *v);
        skin + soft.model.as_ref().unwrap().skeleton().unwrap().momentum()
    };
    let before = all(&soft);
    run(&mut soft, 1.0, 0.002, &nowhere());
    let after = all(&soft);
    assert!(
        after.distance(before) < 1e-3 * before.length(),
        "{before} {after}"
    );
}

#[test]
fn prisms_do_not_resist_rigid_motion_and_return_to_rest() {
    let mut turned = cloth(Model::Prisms(Prisms::default()), 6);
    let turn = Quat::from_rotation_z(0.7) * Quat::from_rotation_x(0.4);
    turned.put(|p| turn * p + Vec3::Y, |_| Vec3::ZERO);
    run(&mut turned, 0.5, 0.005, &nowhere());
    assert!(longest(&turned) < 1e-3, "{}", longest(&turned));
    let Some(ModelState::Prisms(coupled)) = &turned.model else {
        unreachable!("it is made of prisms");
    };
    assert!(coupled.energy() < 1e-7, "{}", coupled.energy());

    let mut bent = cloth(Model::Prisms(Prisms::default()), 8);
    bent.put(|p| p + p.x * p.x * Vec3::Y, |_| Vec3::ZERO);
    let bent_height = bent.bounds().size().y;
    bent.settings.drag = 2.0;
    run(&mut bent, 4.0, 0.005, &nowhere());
    let normal = bent.normals()[40];
    let heights = bent.position.iter().map(|p| Vec3::from(*p).dot(normal));
    let (low, high) = heights.fold((f32::MAX, f32::MIN), |(a, b), h| (a.min(h), b.max(h)));
    assert!(bent_height > 0.06 && high - low < 0.005, "{}", high - low);
}

#[test]
fn numbers_and_shapes_that_do_not_fit_are_refused() {
    let wrong = Model::Positions(Positions {
        stretch: -1.0,
        ..Positions::default()
    });
    let said = settings(wrong).check().unwrap_err().to_string();
    assert!(said.contains("`stretch` is -1"), "{said}");
    let mesh = sheet(Vec3::ZERO, [0.5, 0.5], [4, 4]);
    assert!(Soft::new(settings(Model::Woven(woven(5))), mesh).is_err());
    let thick = TetBlock::default().build().unwrap();
    let energies = settings(Model::Energies(Energies::default()));
    assert!(Soft::solid(energies, thick).is_err());
}
