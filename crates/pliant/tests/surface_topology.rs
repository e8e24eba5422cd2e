//! Surfaces of particles, judged by another library: parry3d builds half-edges of the
//! mesh and sums its volume.

use glam::Vec3;
use parry3d::shape::{Shape, TriMesh, TriMeshFlags, TriMeshTopology};
use pliant::math::XyzVec;
use pliant::surface::{Surface, SurfaceSettings, SurfaceTracker, surface_of};
use proptest::prelude::*;

/// The mesh as parry3d reads it. It refuses edges of more than two triangles and
/// neighbours that face different ways.
fn judged(surface: &Surface) -> Result<TriMesh, String> {
    let vertices = surface.mesh.vertices.iter().map(|v| v.to_array().into());
    TriMesh::with_flags(
        vertices.collect(),
        surface.mesh.triangles.clone(),
        TriMeshFlags::HALF_EDGE_TOPOLOGY,
    )
    .map_err(|e| e.to_string())
}

/// What is wrong with the mesh, if anything is: holes, or vertices where parts of the
/// surface only touch.
fn faults(surface: &Surface) -> Option<String> {
    let mesh = match judged(surface) {
        Ok(mesh) => mesh,
        Err(e) => return Some(e),
    };
    let Some(topology) = mesh.topology() else {
        return Some("no topology".into());
    };
    if topology.half_edges.len() != 3 * surface.mesh.triangles.len() {
        return Some("triangles are missing".into());
    }
    let open = topology.half_edges.iter().filter(|e| e.twin == u32::MAX);
    match open.count() {
        0 => loose_fans(topology),
        n => Some(format!("{n} edges of one triangle only")),
    }
}

/// Every vertex must have one closed fan of triangles.
fn loose_fans(topology: &TriMeshTopology) -> Option<String> {
    let edges = &topology.half_edges;
    let mut leaving = vec![0u32; topology.vertices.len()];
    let mut one = vec![u32::MAX; topology.vertices.len()];
    for (e, edge) in (0u32..).zip(edges) {
        leaving[edge.vertex as usize] += 1;
        one[edge.vertex as usize] = e;
    }
    for (v, &start) in one.iter().enumerate().filter(|(_, e)| **e != u32::MAX) {
        let mut edge = start;
        let mut count = 0;
        loop {
            // Across the edge and on to the next edge that leaves this vertex.
            edge = edges[edges[edge as usize].twin as usize].next;
            count += 1;
            if edge == start || count > leaving[v] {
                break;
            }
        }
        if count != leaving[v] {
            return Some(format!(
                "{} triangles at vertex {v}, {count} in a fan",
                leaving[v]
            ));
        }
    }
    None
}

/// Plain, fine, with flat kernels, and as pictures want them.
fn kinds(d: f32) -> [SurfaceSettings; 4] {
    let plain = SurfaceSettings::new(d);
    let fine = SurfaceSettings {
        cell: 0.25,
        ..plain.clone()
    };
    let flat = SurfaceSettings {
        anisotropic: true,
        ..plain.clone()
    };
    [plain, fine, flat, SurfaceSettings::smooth(d)]
}

/// Disturbed lattice points of spacing `d` inside any of the balls.
fn lump(balls: &[([f32; 3], f32)], d: f32) -> XyzVec {
    let n = (1.6 / d) as i32;
    let mut out = XyzVec::default();
    for z in -n..=n {
        for y in -n..=n {
            for x in -n..=n {
                let p = d * Vec3::new(x as f32, y as f32, z as f32);
                if balls.iter().any(|&(c, r)| p.distance(Vec3::from(c)) < r) {
                    let i = ((z * 733 + y) * 911 + x) as f32;
                    out.push(p + 0.1 * d * (i * Vec3::new(1.7, 2.3, 3.1)).map(f32::sin));
                }
            }
        }
    }
    out
}

#[test]
fn the_judge_finds_holes_and_turned_triangles() {
    let ball = lump(&[([0.0; 3], 0.5)], 0.1);
    let sound = surface_of(ball.view(), &SurfaceSettings::new(0.1)).unwrap();
    assert_eq!(faults(&sound), None);
    let mut holed = sound.clone();
    holed.mesh.triangles.pop();
    assert!(faults(&holed).is_some());
    let mut turned = sound;
    turned.mesh.triangles[7].swap(0, 1);
    assert!(faults(&turned).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_clouds_have_closed_manifold_surfaces_that_face_one_way(
        points in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 1..500),
        kind in 0usize..4,
        d in 0.05f32..0.4,
    ) {
        let cloud: XyzVec = points.into_iter().map(Vec3::from).collect();
        let surface = surface_of(cloud.view(), &kinds(d)[kind]).unwrap();
        prop_assert_eq!(faults(&surface), None);
    }

    #[test]
    fn a_tracked_cloud_keeps_a_closed_manifold_surface(
        points in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 20..300),
        pushes in prop::collection::vec(prop::array::uniform3(-0.3f32..0.3), 1..6),
    ) {
        let mut cloud: XyzVec = points.into_iter().map(Vec3::from).collect();
        let ids: Vec<u32> = (0..cloud.len() as u32).collect();
        let mut tracker = SurfaceTracker::new(SurfaceSettings::new(0.15)).unwrap();
        for push in pushes {
            for i in 0..cloud.len() / 10 {
                cloud.set(i, cloud.get(i) + Vec3::from(push));
            }
            let surface = tracker.update(cloud.view(), &ids).unwrap();
            prop_assert_eq!(faults(&surface), None);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn lumps_of_liquid_hold_the_volume_of_their_particles(
        balls in prop::collection::vec(
            (prop::array::uniform3(-0.7f32..0.7), 0.55f32..0.85), 1..4),
        keeps_volume: bool,
    ) {
        let d = 0.05;
        let cloud = lump(&balls, d);
        let settings = if keeps_volume {
            SurfaceSettings::smooth(d)
        } else {
            SurfaceSettings::new(d)
        };
        let surface = surface_of(cloud.view(), &settings).unwrap();
        prop_assert_eq!(faults(&surface), None);
        let volume = judged(&surface).unwrap().mass_properties(1.0).mass();
        let share = volume / (cloud.len() as f32 * d * d * d);
        prop_assert!((share - 1.0).abs() < 0.02, "{}: {}", settings.smoothing, share);
    }
}

#[test]
fn a_ball_of_particles_has_the_radius_of_the_ball() {
    let d = 0.05;
    let ball = lump(&[([0.0; 3], 0.8)], d);
    let volume = ball.len() as f32 * d * d * d;
    let radius = (volume * 0.75 / std::f32::consts::PI).cbrt();
    for settings in kinds(d) {
        let surface = surface_of(ball.view(), &settings).unwrap();
        assert_eq!(faults(&surface), None);
        let mass = judged(&surface).unwrap().mass_properties(1.0);
        // A ball of mass m and radius r turns with 2/5 m r².
        let inertia = mass.principal_inertia();
        for k in 0..3 {
            let seen = (2.5 * inertia[k] / mass.mass()).sqrt();
            assert!(
                (seen / radius - 1.0).abs() < 0.02,
                "{settings:?}: {seen} {radius}"
            );
        }
    }
}
