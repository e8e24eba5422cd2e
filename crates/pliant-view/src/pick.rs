//! What is under the mouse.

use glam::Vec3;

use crate::snapshot::{Snapshot, Values};

/// A point of matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked {
    /// It belongs to a body, not to a cloud.
    pub body: bool,
    /// Which of them.
    pub index: usize,
    /// Its name.
    pub id: u32,
}

/// What there is to read of a picked point.
pub struct Reading<'a> {
    /// Name of the matter.
    pub matter: &'a str,
    /// In metres.
    pub place: Vec3,
    /// In m/s.
    pub velocity: Vec3,
    /// Names and values of its quantities.
    pub values: Vec<(&'static str, f32)>,
}

/// The nearest point of matter along a ray, and where the ray meets it.
pub fn pick(snapshot: &Snapshot, eye: Vec3, ray: Vec3) -> Option<(Picked, Vec3)> {
    let ray = ray.normalize_or(Vec3::NEG_Z);
    let mut best: Option<(f32, Picked)> = None;
    let mut offer = |way: f32, picked: Picked| {
        if best.is_none_or(|(b, _)| way < b) {
            best = Some((way, picked));
        }
    };
    for (index, cloud) in snapshot.clouds.iter().enumerate() {
        for (i, p) in cloud.positions.view().iter().enumerate() {
            let way = (p - eye).dot(ray);
            let off = (eye + way * ray).distance_squared(p);
            let inside = cloud.radius * cloud.radius - off;
            if way > 0.0 && inside >= 0.0 {
                let id = cloud.ids[i];
                let picked = Picked {
                    body: false,
                    index,
                    id,
                };
                offer(way - inside.sqrt(), picked);
            }
        }
    }
    for (index, body) in snapshot.bodies.iter().enumerate() {
        for t in &body.mesh.triangles {
            let corners = t.map(|v| body.mesh.positions[v as usize]);
            let Some(way) = meets(eye, ray, corners) else {
                continue;
            };
            let place = eye + way * ray;
            let nearest = t.iter().min_by(|a, b| {
                let distance = |v: u32| body.mesh.positions[v as usize].distance_squared(place);
                distance(**a).total_cmp(&distance(**b))
            });
            if let Some(&v) = nearest {
                let id = body.ids[v as usize];
                let picked = Picked {
                    body: true,
                    index,
                    id,
                };
                offer(way, picked);
            }
        }
    }
    best.map(|(way, picked)| (picked, eye + way * ray))
}

/// How far along a ray a triangle is (Möller & Trumbore 1997).
fn meets(eye: Vec3, ray: Vec3, [a, b, c]: [Vec3; 3]) -> Option<f32> {
    let (ab, ac) = (b - a, c - a);
    let p = ray.cross(ac);
    let area = ab.dot(p);
    let from = eye - a;
    let u = from.dot(p) / area;
    let q = from.cross(ab);
    let v = ray.dot(q) / area;
    let way = ac.dot(q) / area;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && way > 0.0).then_some(way)
}

/// Reads a point that was picked, if it is still there.
pub fn read<'a>(snapshot: &'a Snapshot, picked: &Picked) -> Option<Reading<'a>> {
    let values = |list: &[Values], i: usize| list.iter().map(|v| (v.name, v.values[i])).collect();
    if picked.body {
        let body = snapshot.bodies.get(picked.index)?;
        let i = body.ids.iter().position(|id| *id == picked.id)?;
        Some(Reading {
            matter: &body.name,
            place: body.mesh.positions[i],
            velocity: body.velocities[i],
            values: values(&body.values, i),
        })
    } else {
        let cloud = snapshot.clouds.get(picked.index)?;
        let i = cloud.ids.iter().position(|id| *id == picked.id)?;
        Some(Reading {
            matter: &cloud.name,
            place: cloud.positions.get(i),
            velocity: cloud.velocities.get(i),
            values: values(&cloud.values, i),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Stage;
    use pliant::scene::Scene;

    #[test]
    fn the_nearest_particle_is_picked_and_read() {
        let scene = Scene::open("dam-break", &[]).unwrap();
        let built = scene.build().unwrap();
        let mut stage = Stage::new(&scene, &built, 0);
        let snapshot = stage.take(&built.world);
        let cloud = &snapshot.clouds[0];
        let highest = cloud
            .positions
            .view()
            .iter()
            .map(|p| p.y)
            .fold(0.0, f32::max);
        let top = cloud
            .positions
            .view()
            .iter()
            .find(|p| p.y == highest)
            .unwrap();
        let eye = top + Vec3::Y;
        let (picked, place) = pick(&snapshot, eye, Vec3::NEG_Y).unwrap();
        assert!(
            (place - top - cloud.radius * Vec3::Y).length() < 1e-4,
            "{place} {top}"
        );
        let reading = read(&snapshot, &picked).unwrap();
        assert_eq!(reading.place, top);
        assert!(
            reading
                .values
                .iter()
                .any(|(n, v)| *n == "density" && *v > 500.0)
        );
        assert!(pick(&snapshot, eye, Vec3::Y).is_none());
    }

    #[test]
    fn a_body_is_picked_on_its_near_side() {
        let scene = Scene::open("jelly", &[]).unwrap();
        let built = scene.build().unwrap();
        let snapshot = Stage::new(&scene, &built, 0).take(&built.world);
        let mesh = &snapshot.bodies[0].mesh;
        let middle = mesh.positions.iter().sum::<Vec3>() / mesh.positions.len() as f32;
        let far = 10.0 * Vec3::X;
        let (picked, place) = pick(&snapshot, middle + far, -far).unwrap();
        assert!(picked.body && place.x > middle.x, "{place}");
    }
}
