//! Grabs: points of a body on springs to a place that a user, a tool or a script moves,
//! with the force that this takes.

use glam::{Vec3, Vec3A};

use super::state::{Body, Solid};
use crate::slots::Handle;

/// How a grab holds.
#[derive(Clone, Debug, PartialEq)]
pub struct GrabSettings {
    /// Stiffness of the spring in N/m, shared by the points that are held.
    pub stiffness: f32,
    /// Damping in N s/m, shared likewise.
    pub damping: f32,
    /// Places of the grab at times in seconds, as a shift in metres from where it took
    /// hold; straight lines in between. Empty: it goes where [`crate::World::drag`] puts
    /// it.
    pub path: Vec<(f64, Vec3)>,
    /// When it lets go, in seconds.
    pub release: Option<f64>,
}

impl Default for GrabSettings {
    fn default() -> Self {
        GrabSettings {
            stiffness: 500.0,
            damping: 5.0,
            path: Vec::new(),
            release: None,
        }
    }
}

/// A hold on some points of a body.
#[derive(Clone, Debug)]
pub struct Grab {
    settings: GrabSettings,
    solid: Handle<Solid>,
    /// The points, and where they were when they were grabbed.
    points: Vec<(u32, Vec3)>,
    /// Where the grab is, from where it took hold.
    pub(crate) shift: Vec3,
    /// Mean force on the body in the last sub-step, in N.
    pub(crate) force: Vec3,
}

impl Grab {
    pub(crate) fn new(
        solid: Handle<Solid>,
        body: &Solid,
        chosen: impl Fn(Vec3) -> bool,
        settings: GrabSettings,
    ) -> Option<Grab> {
        let places = body.positions();
        let points: Vec<(u32, Vec3)> = (0..body.len())
            .map(|i| (i as u32, places.get(i)))
            .filter(|(_, p)| chosen(*p))
            .collect();
        (!points.is_empty()).then_some(Grab {
            settings,
            solid,
            points,
            shift: Vec3::ZERO,
            force: Vec3::ZERO,
        })
    }

    /// The body it holds.
    pub fn solid(&self) -> Handle<Solid> {
        self.solid
    }

    /// The points it holds.
    pub fn points(&self) -> impl Iterator<Item = u32> + '_ {
        self.points.iter().map(|(i, _)| *i)
    }

    /// Where it is, from where it took hold, in metres.
    pub fn shift(&self) -> Vec3 {
        self.shift
    }

    /// The force with which it pulls the body, mean over the last sub-step, in N.
    pub fn force(&self) -> Vec3 {
        self.force
    }

    /// How it holds.
    pub fn settings(&self) -> &GrabSettings {
        &self.settings
    }

    /// True if it has let go by this time.
    fn is_over(&self, time: f64) -> bool {
        self.settings.release.is_some_and(|t| time >= t)
    }

    fn shares(&self) -> (f32, f32) {
        let share = 1.0 / self.points.len() as f32;
        (
            share * self.settings.stiffness,
            share * self.settings.damping,
        )
    }

    /// Pulls a body that has begun a sub-step of `h` seconds ending at `time`. The spring
    /// ends the sub-step with the force of its end (implicit Euler), so that no stiffness
    /// is too much: its part of the equations is on their diagonal.
    pub(crate) fn pull(&mut self, body: &mut Solid, h: f32, time: f64) {
        if !self.settings.path.is_empty() {
            self.shift = along(&self.settings.path, time);
        }
        if self.is_over(time) {
            return;
        }
        let (k, d) = self.shares();
        for &(i, start) in &self.points {
            let i = i as usize;
            if i >= body.len() || body.inverse_mass[i] == 0.0 {
                continue;
            }
            let place = body.mesh.points[i] + Vec3::from(body.displacement[i]);
            let velocity = body.velocity[i];
            let stretch = Vec3A::from(start + self.shift - place);
            match &mut body.body {
                Body::Elastic(elastic) => {
                    elastic.diagonal[i] += h * (h * k + d);
                    elastic.right[i] += h * (k * stretch - (h * k + d) * velocity);
                }
                explicit @ (Body::Springs(_) | Body::Matched(_)) => {
                    // The point has moved already: only the change is missing.
                    let m = body.mass[i];
                    let change = h * (k * stretch - d * velocity) / (m + h * (h * k + d));
                    body.velocity[i] += change;
                    body.displacement[i] += h * change;
                    if let Body::Springs(springs) = explicit {
                        springs.moved(i, body.displacement[i], body.velocity[i], h);
                    }
                }
            }
        }
    }

    /// Reads the force when the sub-step has ended.
    pub(crate) fn read(&mut self, body: &Solid, time: f64) {
        self.force = Vec3::ZERO;
        if self.is_over(time) {
            return;
        }
        let (k, d) = self.shares();
        for &(i, start) in &self.points {
            let i = i as usize;
            if i < body.len() && body.inverse_mass[i] > 0.0 {
                let stretch = start + self.shift - body.positions().get(i);
                self.force += k * stretch - d * body.velocities().get(i);
            }
        }
    }
}

/// The place at `time` on a path of straight lines; its ends go on for ever.
fn along(path: &[(f64, Vec3)], time: f64) -> Vec3 {
    let next = path.partition_point(|(t, _)| *t <= time);
    match (next.checked_sub(1).map(|k| path[k]), path.get(next)) {
        (Some((t0, a)), Some(&(t1, b))) => a.lerp(b, ((time - t0) / (t1 - t0)) as f32),
        (Some((_, only)), None) | (None, Some(&(_, only))) => only,
        (None, None) => Vec3::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::mesh::TetBlock;
    use crate::solid::{Elastic, SolidModel, SolidSettings, Springs};

    fn world(model: SolidModel) -> (World, Handle<Solid>) {
        let mut world = World::new();
        let mesh = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::splat(0.1),
            cells: [2, 2, 2],
        };
        let body = world.add_solid(SolidSettings::new("body", model), mesh.build().unwrap());
        (world, body.unwrap())
    }

    fn models() -> [SolidModel; 2] {
        [
            SolidModel::Elastic(Elastic {
                mass_damping: 3.0,
                ..Elastic::default()
            }),
            SolidModel::Springs(Springs {
                distance_stiffness: 500.0,
                distance_damping: 1.0,
                volume_stiffness: 1e10,
                ..Springs::default()
            }),
        ]
    }

    /// 1 kg hangs on a grab: it reads 9.81 N, and the spring is as long as that asks for.
    #[test]
    fn a_grab_reads_the_weight_that_it_holds() {
        for model in models() {
            let (mut world, body) = world(model);
            let settings = GrabSettings {
                stiffness: 400.0,
                damping: 20.0,
                ..GrabSettings::default()
            };
            let grab = world.grab(body, |p| p.y > 0.099, settings).unwrap();
            for _ in 0..300 {
                world.step(0.02).unwrap();
            }
            let force = world.grabbed(grab).unwrap().force();
            assert!((force.y / 9.81 - 1.0).abs() < 0.02, "{force}");
            assert!(force.x.abs() + force.z.abs() < 0.05, "{force}");
            let top = world.solid(body).unwrap().positions();
            let held: Vec<u32> = world.grabbed(grab).unwrap().points().collect();
            let y: f32 = held.iter().map(|&i| top.get(i as usize).y).sum::<f32>();
            let sunk = 0.1 - y / held.len() as f32;
            assert!((sunk / (9.81 / 400.0) - 1.0).abs() < 0.05, "{sunk}");
        }
    }

    #[test]
    fn a_dragged_body_follows_and_a_released_one_falls() {
        for model in models() {
            let (mut world, body) = world(model);
            world.gravity = Vec3::ZERO;
            let grab = world
                .grab(body, |p| p.x < 0.01, GrabSettings::default())
                .unwrap();
            for k in 1..=200 {
                let part = (k as f32 / 100.0).min(1.0);
                assert!(world.drag(grab, part * Vec3::new(0.0, 0.3, 0.1)));
                world.step(0.01).unwrap();
            }
            let points = world.solid(body).unwrap().positions();
            let middle = points.iter().sum::<Vec3>() / points.len() as f32;
            let moved = middle - Vec3::splat(0.05);
            assert!(moved.distance(Vec3::new(0.0, 0.3, 0.1)) < 0.05, "{moved}");
            assert!(world.release(grab).is_some());
            assert!(world.release(grab).is_none());
            assert!(!world.drag(grab, Vec3::ZERO));
        }
    }

    #[test]
    fn a_path_is_followed_in_straight_lines() {
        let path = [(1.0, Vec3::ZERO), (2.0, Vec3::X), (4.0, Vec3::X + Vec3::Y)];
        assert_eq!(along(&path, 0.0), Vec3::ZERO);
        assert_eq!(along(&path, 1.5), 0.5 * Vec3::X);
        assert_eq!(along(&path, 3.0), Vec3::X + 0.5 * Vec3::Y);
        assert_eq!(along(&path, 9.0), Vec3::X + Vec3::Y);
        assert_eq!(along(&[], 9.0), Vec3::ZERO);
    }
}
