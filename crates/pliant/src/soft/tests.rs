//! Laws of soft bodies, and the behaviours that Mesit 2010 names.

use glam::{DVec3, Vec3, Vec3A};

use super::*;
use crate::contact::Obstacle;
use crate::math::XyzVec;
use crate::mesh::{EvenSphere, IcoSphere, LungShape, TriMesh};

const H: f32 = 0.002;

fn ball(points: u32) -> TriMesh {
    EvenSphere {
        center: Vec3::new(0.0, 1.0, 0.0),
        radius: 0.1,
        points,
    }
    .build()
    .unwrap()
}

fn settings() -> SoftSettings {
    let mut s = SoftSettings::new("test");
    s.mass = SurfaceMass::Area(0.5);
    s.body.stiffness = 20.0;
    s.volume.pressure = 50.0;
    s
}

fn nowhere() -> Surroundings<'static> {
    Surroundings::new(Vec3::ZERO, &[], [])
}

fn momentum(soft: &Soft) -> (DVec3, DVec3) {
    let mut sums = (DVec3::ZERO, DVec3::ZERO);
    for (i, &m) in soft.topology.mass.iter().enumerate() {
        let p = f64::from(m) * Vec3::from(soft.velocity[i]).as_dvec3();
        sums.0 += p;
        sums.1 += Vec3::from(soft.position[i]).as_dvec3().cross(p);
    }
    sums
}

/// A body that is out of shape, moves and turns.
fn disturbed(s: SoftSettings) -> Soft {
    let mut soft = Soft::new(s, ball(500)).unwrap();
    soft.put(
        |p| p + 0.01 * Vec3::new((40.0 * p.y).sin(), (50.0 * p.x).cos(), (30.0 * p.x).sin()),
        |p| Vec3::new(1.0, 0.5, 0.0) + Vec3::new(1.0, 2.0, 3.0).cross(p),
    );
    soft
}

#[test]
fn the_counts_are_those_of_mesit() {
    let soft = Soft::new(settings(), ball(1986)).unwrap();
    let counts = (soft.len(), soft.triangles().len(), soft.edges().len());
    assert_eq!(counts, (1_986, 3_968, 5_952));
    let blob = IcoSphere {
        cuts: 2,
        ..IcoSphere::default()
    };
    let blob = Soft::new(settings(), blob.build().unwrap()).unwrap();
    assert_eq!((blob.len(), blob.edges().len()), (162, 480));
}

#[test]
fn inner_forces_sum_to_nothing() {
    let mut s = settings();
    s.controls.beta = 1.0;
    s.fluidity.viscosity = 0.01;
    let mut soft = disturbed(s);
    soft.advance(H, &nowhere());
    let forces = soft.inner_forces(H);
    let (mut sum, mut torque, mut size) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for (f, p) in forces.iter().zip(&soft.position) {
        sum += f.as_dvec3();
        torque += Vec3::from(*p).as_dvec3().cross(f.as_dvec3());
        size += f.as_dvec3().length();
    }
    assert!(sum.length() < 1e-5 * size, "{sum} of {size}");
    assert!(torque.length() < 1e-5 * size, "{torque} of {size}");
    let (force, torque) = soft.gas_force();
    let pressed = f64::from(soft.pressure().abs()) * soft.area();
    assert!(pressed > 0.1);
    assert!(force.length() < 1e-5 * pressed, "{force}");
    assert!(torque.length() < 1e-5 * pressed, "{torque}");
}

#[test]
fn the_printed_difference_of_pressures_drives_the_body() {
    let net = |printed: bool| {
        let mut s = settings();
        s.controls.beta = 1.0;
        s.fluidity.printed_difference = printed;
        let mut soft = disturbed(s);
        soft.advance(H, &nowhere());
        let forces = soft.inner_forces(H);
        let size: f32 = forces.iter().map(|f| f.length()).sum();
        forces.iter().sum::<Vec3>().length() / size
    };
    assert!(net(true) > 1e-3 && net(false) < 1e-5);
}

#[test]
fn every_integrator_conserves_momentum() {
    use SoftIntegrator as I;
    for how in [
        I::Symplectic,
        I::Kang,
        I::Implicit,
        I::Trapezoid,
        I::Diagonal,
    ] {
        let mut s = settings();
        s.integrator = how;
        s.body.stiffness = 5.0;
        s.controls.beta = 0.5;
        let mut soft = disturbed(s);
        let (p, l) = momentum(&soft);
        let h = if how == I::Symplectic { 2e-4 } else { H };
        (0..200).for_each(|_| drop(soft.advance(h, &nowhere())));
        let (q, m) = momentum(&soft);
        assert!(
            (q - p).length() < 1e-3 * p.length(),
            "{how:?}: {p} became {q}"
        );
        assert!(
            (m - l).length() < 1e-2 * l.length(),
            "{how:?}: {l} became {m}"
        );
    }
}

#[test]
fn a_body_falls_as_fast_as_a_stone() {
    for how in [SoftIntegrator::Kang, SoftIntegrator::Implicit] {
        let mut s = settings();
        s.integrator = how;
        let mut soft = Soft::new(s, ball(500)).unwrap();
        let around = Surroundings::new(Vec3::new(0.0, -9.81, 0.0), &[], []);
        (0..100).for_each(|_| drop(soft.advance(H, &around)));
        let (p, _) = momentum(&soft);
        let mass: f64 = soft.topology.mass.iter().map(|m| f64::from(*m)).sum();
        assert!(
            (p.y / mass + 9.81 * 0.2).abs() < 2e-3,
            "{how:?} {}",
            p.y / mass
        );
    }
}

#[test]
fn held_volume_stays_within_one_percent() {
    let mut s = settings();
    s.volume.hold = Some(1.0);
    s.controls.gamma = 0.0;
    let mut soft = Soft::new(s, ball(500)).unwrap();
    let floor = Obstacle::plane("floor", 0.85 * Vec3::Y, Vec3::Y);
    let around = Surroundings::new(Vec3::new(0.0, -9.81, 0.0), &[], [&floor]);
    let mut worst = 0.0f64;
    for _ in 0..500 {
        soft.advance(H, &around);
        worst = worst.max((soft.volume() / soft.rest_volume() - 1.0).abs());
    }
    assert!(worst < 0.01, "{worst}");
    assert!(soft.bounds().min.y > 0.849);
}

#[test]
fn a_finer_mesh_moves_in_the_same_way() {
    // Inflated by the same gas, both meshes of one ball grow alike.
    let grown = |points: u32| {
        let mut s = settings();
        s.volume.pressure = 100.0;
        s.drag = 5.0;
        let mut soft = Soft::new(s, ball(points)).unwrap();
        (0..1000).for_each(|_| drop(soft.advance(H, &nowhere())));
        soft.volume() / soft.rest_volume()
    };
    let (coarse, fine) = (grown(300), grown(1200));
    assert!(
        coarse > 1.2 && (fine / coarse - 1.0).abs() < 0.05,
        "{coarse} {fine}"
    );
}

#[test]
fn an_inflated_ball_obeys_the_law_of_laplace() {
    // p = 2 T / r, and for a lattice of springs (Poisson's ratio 1/3) T = E t ε / (1 - ν).
    let mut s = settings();
    s.body.stiffness = 50.0;
    s.volume.pressure = 50.0;
    s.drag = 5.0;
    let mut soft = Soft::new(s, ball(1986)).unwrap();
    (0..1500).for_each(|_| drop(soft.advance(H, &nowhere())));
    let grown = (soft.volume() / soft.rest_volume()).cbrt();
    let tension = 50.0 * (grown - 1.0) / (1.0 - 1.0 / 3.0);
    let balanced = 2.0 * tension / (0.1 * grown);
    let pressure = f64::from(soft.pressure());
    assert!(
        (balanced / pressure - 1.0).abs() < 0.1,
        "{balanced} Pa, {pressure} Pa"
    );
}

#[test]
fn the_literal_simplified_step_gains_energy_and_kang_does_not() {
    let energy = |how: SoftIntegrator| {
        let mut s = settings();
        s.scaling = Scaling::Literal;
        s.integrator = how;
        s.controls.gamma = 0.0;
        s.body.damping = Damping::Steps(0.0);
        s.body.stiffness = 20.0;
        let mut soft = Soft::new(s, ball(300)).unwrap();
        soft.put(|p| p * (1.0 + 0.02 * (60.0 * p.x).sin()), |_| Vec3::ZERO);
        let start = soft.energy();
        let start = start.kinetic + start.elastic;
        for _ in 0..300 {
            soft.advance(H, &nowhere());
            let now = soft.energy();
            let total = now.kinetic + now.elastic;
            if total.is_nan() || total >= 1e6 * start {
                return f64::INFINITY;
            }
        }
        let end = soft.energy();
        (end.kinetic + end.elastic) / start
    };
    assert!(energy(SoftIntegrator::Simplified) > 10.0);
    assert!(energy(SoftIntegrator::Kang) < 1.0);
    assert!(energy(SoftIntegrator::Implicit) < 1.0);
}

#[test]
fn both_searches_give_the_same_bits() {
    let run = |hash_size| {
        let mut s = settings();
        s.controls.beta = 1.0;
        s.fluidity.hash_size = hash_size;
        let mut soft = disturbed(s);
        (0..50).for_each(|_| drop(soft.advance(H, &nowhere())));
        soft.position
    };
    assert_eq!(run(None), run(Some(13)));
}

#[test]
fn soft_bodies_do_not_pass_through_each_other() {
    let body = |x: f32, speed: f32| {
        let shape = IcoSphere {
            center: Vec3::new(x, 0.0, 0.0),
            radius: 0.1,
            cuts: 2,
        };
        let mut soft = Soft::new(settings(), shape.build().unwrap()).unwrap();
        soft.put(|p| p, |_| Vec3::new(speed, 0.0, 0.0));
        soft
    };
    let (mut a, mut b) = (body(-0.13, 0.5), body(0.13, -0.5));
    let before = momentum(&a).0 + momentum(&b).0;
    let mut deepest = 0.0f32;
    for _ in 0..400 {
        a.advance(H, &nowhere());
        b.advance(H, &nowhere());
        collide(&mut [&mut a, &mut b], H);
        deepest = deepest.max(a.bounds().max.x - b.bounds().min.x);
    }
    let after = momentum(&a).0 + momentum(&b).0;
    assert!((after - before).length() < 1e-4, "{before} {after}");
    assert!(
        momentum(&a).0.x < 0.0 && momentum(&b).0.x > 0.0,
        "they bounce"
    );
    assert!(deepest < 0.04, "{deepest}");
}

#[test]
fn a_sheet_does_not_pass_through_itself_or_a_ball() {
    // A thin sheet falls on a soft ball that is held: no point of it comes inside.
    let mut held = Soft::new(settings(), ball(500)).unwrap();
    held.pin_where(|_| true);
    let mut s = settings();
    s.controls.gamma = 0.0;
    s.contact.own = true;
    let cloth = sheet(Vec3::new(0.0, 1.15, 0.0), [0.3, 0.3], [20, 20]);
    let mut cloth = Soft::new(s, cloth).unwrap();
    let around = Surroundings::new(Vec3::new(0.0, -9.81, 0.0), &[], []);
    for _ in 0..300 {
        held.advance(H, &around);
        cloth.advance(H, &around);
        collide(&mut [&mut held, &mut cloth], H);
    }
    let inside = cloth
        .position
        .iter()
        .filter(|p| Vec3::from(**p).distance(Vec3::Y) < 0.098);
    assert_eq!(inside.count(), 0);
    assert!(cloth.bounds().max.y > 1.05, "it hangs on the ball");
}

#[test]
fn what_faces_inwards_is_refused() {
    let mut mesh = ball(162);
    mesh.flip();
    let error = Soft::new(settings(), mesh).unwrap_err();
    assert!(error.to_string().contains("faces inwards"), "{error}");
}

#[test]
fn controls_change_while_it_runs_and_bad_ones_are_refused() {
    let mut s = settings();
    let other = Controls {
        gamma: 4.0,
        ..Controls::default()
    };
    s.changes = vec![Change {
        time: 0.1,
        controls: other,
    }];
    let mut soft = Soft::new(s, ball(300)).unwrap();
    (0..40).for_each(|_| drop(soft.advance(H, &nowhere())));
    assert_eq!(soft.controls(), Controls::default());
    let before = soft.volume();
    (0..100).for_each(|_| drop(soft.advance(H, &nowhere())));
    assert_eq!(soft.controls(), other);
    assert!(soft.volume() > 1.05 * before);
    let wrong = Controls {
        alpha: 0.0,
        ..other
    };
    assert!(soft.set_controls(wrong).is_err());
    let mut s = settings();
    s.fluidity.reach = 0.0;
    let said = Soft::new(s, ball(300)).unwrap_err().to_string();
    assert!(said.contains("`reach` is 0"), "{said}");
    assert!(Soft::new(settings(), TriMesh::default()).is_err());
}

/// Volume over that at rest at the end of the last of `cycles` breaths, and the largest.
fn breathe(alpha: f32, gamma: f32, condition: Condition) -> (f64, f64) {
    let mut s = SoftSettings::new("lung");
    s.controls = Controls {
        alpha,
        beta: 0.0,
        gamma,
        delta: 0.0,
    };
    s.mass = SurfaceMass::Area(4.0);
    s.body.stiffness = 20.0;
    s.drag = 1.0;
    s.volume.lung = Some(Lung {
        inhale: 0.8,
        exhale: 1.2,
        tidal: 0.5,
        balanced_at: 3.0,
        condition,
        ..Lung::default()
    });
    let shape = EvenSphere {
        center: Vec3::ZERO,
        radius: 0.071,
        points: 300,
    };
    let mut soft = Soft::new(s, shape.build().unwrap()).unwrap();
    let (mut top, steps) = (0.0f64, 3 * 1000);
    for _ in 0..steps {
        soft.advance(H, &nowhere());
        top = top.max(soft.volume());
    }
    (soft.volume() / soft.rest_volume(), top / soft.rest_volume())
}

#[test]
fn a_lung_returns_if_its_recoil_is_right() {
    let (end, top) = breathe(3.0, 1.0, Condition::Healthy);
    assert!((end - 1.0).abs() < 0.02, "{end}");
    assert!((top - 1.333).abs() < 0.03, "{top}");
    assert!(breathe(0.25, 1.0, Condition::Healthy).0 > 1.1);
    let strong = breathe(4.0, 1.0, Condition::Healthy).0;
    assert!(strong < 1.0, "{strong}");
    let (b, c) = (
        breathe(3.0, 1.5, Condition::Healthy).0,
        breathe(3.0, 2.0, Condition::Healthy).0,
    );
    assert!(b > 1.02 && c > b, "{b} {c}");
}

/// A bag that is not round takes in more by becoming rounder, without any spring getting
/// longer: only tissue brings it back.
#[test]
fn a_lung_that_is_not_round_returns_to_its_volume_and_shape() {
    let mut s = SoftSettings::new("lung");
    s.controls.alpha = 3.0;
    s.mass = SurfaceMass::Area(4.0);
    s.body.stiffness = 40.0;
    s.drag = 1.0;
    let lung = Lung {
        balanced_at: 3.0,
        ..Lung::default()
    };
    let steps = (2.0 * lung.period() / H).round() as u32;
    s.volume.lung = Some(lung);
    let shape = LungShape {
        points: 300,
        ..LungShape::default()
    };
    let mut soft = Soft::new(s, shape.build().unwrap()).unwrap();
    let (before, mut top) = (soft.sphericity(), 0.0f64);
    for _ in 0..steps {
        soft.advance(H, &nowhere());
        top = top.max(soft.volume() / soft.rest_volume());
    }
    assert!((top - (1.0 + 0.25 / 1.575)).abs() < 0.02, "{top}");
    let end = soft.volume() / soft.rest_volume();
    assert!((end - 1.0).abs() < 0.02, "{end}");
    let after = soft.sphericity();
    assert!((after - before).abs() < 0.01, "{before} {after}");
}

#[test]
fn sick_lungs_show_it() {
    let (_, healthy) = breathe(3.0, 1.0, Condition::Healthy);
    let (_, stiff) = breathe(3.0, 1.0, Condition::Fibrosis);
    let (floppy, _) = breathe(3.0, 1.0, Condition::Emphysema);
    let (trapped, blocked) = breathe(3.0, 1.0, Condition::Obstruction);
    assert!(stiff < healthy - 0.05, "{stiff} {healthy}");
    assert!(floppy > 1.05, "{floppy}");
    // What goes in by effort does not come out by recoil: little air moves.
    let moved = blocked - trapped;
    assert!(
        moved < 0.5 * (healthy - 1.0) && trapped > 1.05,
        "{blocked} {trapped}"
    );
}

/// The force of springs on every point, one spring after the other.
fn plain_spring_forces(soft: &Soft, damping: f32) -> Vec<Vec3A> {
    let mut force = vec![Vec3A::ZERO; soft.len()];
    for spring in &soft.topology.springs {
        let [i, j] = spring.ends.map(|e| e as usize);
        let way = soft.position[j] - soft.position[i];
        let length = way.length();
        let along = way / length;
        let faster = (soft.velocity[j] - soft.velocity[i]).dot(along);
        let pull = spring.stiffness * (length - spring.rest + damping * faster) * along;
        force[i] += pull;
        force[j] -= pull;
    }
    force
}

#[test]
fn gathered_springs_are_the_plain_ones() {
    let mut s = settings();
    s.body.bend = 0.5;
    s.body.damping = Damping::Seconds(0.01);
    s.controls.gamma = 0.0;
    let mut soft = disturbed(s);
    let gathered = soft.inner_forces(H);
    let plain = plain_spring_forces(&soft, 0.01);
    let largest = plain.iter().map(|f| f.length()).fold(0.0, f32::max);
    for (a, b) in gathered.iter().zip(&plain) {
        assert!(a.distance((*b).into()) < 1e-5 * largest, "{a} {b}");
    }
}

#[test]
fn a_stored_body_is_put_where_it_was_or_not_at_all() {
    let moved = disturbed(settings());
    let mut fresh = Soft::new(settings(), ball(500)).unwrap();
    assert!(fresh.put_points(moved.positions(), moved.velocities()));
    assert_eq!(fresh.bounds(), moved.bounds());
    let few = XyzVec::default();
    let before = fresh.bounds();
    assert!(!fresh.put_points(few.view(), few.view()));
    assert_eq!(fresh.bounds(), before);
}

#[test]
fn a_body_that_blows_up_is_told() {
    let mut s = settings();
    s.step = 0.05;
    s.integrator = SoftIntegrator::Symplectic;
    let mut world = crate::World::new();
    let body = world.add_soft(s, ball(500)).unwrap();
    let shake = |p: Vec3| p + 0.01 * Vec3::new((40.0 * p.y).sin(), (50.0 * p.x).cos(), 0.0);
    world.soft_mut(body).unwrap().put(shake, |_| Vec3::ZERO);
    let ended = (0..200).find_map(|_| world.step(0.05).err()).unwrap();
    let text = ended.to_string();
    assert!(text.contains("`test` has blown up: point"), "{text}");
    // Long before its numbers are no numbers.
    let places = world.soft(body).unwrap().positions();
    assert!(places.iter().all(|p| p.is_finite()), "{text}");
}
