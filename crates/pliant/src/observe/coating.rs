//! What liquid leaves on walls: a film that every contact paints and that stays
//! (Grahn 2008, section 7.4, in metres of film instead of texture colours).

use super::{CheckpointError, Decoder, Encoder};
use crate::contact::{Contact, Obstacle};
use crate::mesh::TriMesh;
use crate::slots::Handle;

/// How a wall takes on a film.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoatingSettings {
    /// Thickness in metres that a film comes to.
    pub film: f32,
    /// Seconds of contact after which about two thirds of that are there.
    pub time: f32,
}

impl Default for CoatingSettings {
    /// Barium suspension on mucosa: about a third of a millimetre, at once.
    fn default() -> Self {
        CoatingSettings {
            film: 3e-4,
            time: 0.02,
        }
    }
}

/// Why an obstacle cannot be coated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoatingError {
    /// The obstacle is gone.
    #[error("the obstacle does not exist any more")]
    NoObstacle,
    /// A plane has no vertices to carry the film.
    #[error("a plane cannot be coated; use a box or a mesh")]
    Plane,
    /// A number that cannot be.
    #[error("a film of {film} m within {time} s cannot be; both must be above 0")]
    Settings {
        /// Thickness in metres.
        film: f32,
        /// Time in seconds.
        time: f32,
    },
}

/// The film on one obstacle; see [`World::add_coating`](crate::World::add_coating).
/// Liquid is not used up by it: a film is thin against a particle.
#[derive(Clone, Debug)]
pub struct Coating {
    obstacle: Handle<Obstacle>,
    settings: CoatingSettings,
    /// Thickness in metres, per vertex.
    thickness: Vec<f32>,
    /// A third of the triangles around, per vertex, in m².
    area: Vec<f32>,
}

impl Coating {
    pub(super) fn new(
        handle: Handle<Obstacle>,
        obstacle: &Obstacle,
        settings: CoatingSettings,
    ) -> Result<Coating, CoatingError> {
        let CoatingSettings { film, time } = settings;
        let mesh = obstacle.triangles().ok_or(CoatingError::Plane)?;
        if !(film.is_finite() && film > 0.0 && time.is_finite() && time > 0.0) {
            return Err(CoatingError::Settings { film, time });
        }
        Ok(Coating {
            obstacle: handle,
            settings,
            thickness: vec![0.0; mesh.vertices.len()],
            area: vertex_areas(mesh),
        })
    }

    /// The obstacle it lies on.
    pub fn obstacle(&self) -> Handle<Obstacle> {
        self.obstacle
    }

    /// How the wall takes on a film.
    pub fn settings(&self) -> CoatingSettings {
        self.settings
    }

    /// Thickness of the film in metres, for each vertex of the obstacle's mesh.
    pub fn thickness(&self) -> &[f32] {
        &self.thickness
    }

    /// Volume of the whole film in m³.
    pub fn volume(&self) -> f64 {
        self.sum(|thickness| thickness)
    }

    /// Area in m² on which the film has at least half its final thickness.
    pub fn area(&self) -> f64 {
        let half = 0.5 * self.settings.film;
        self.sum(|thickness| f32::from(u8::from(thickness >= half)))
    }

    fn sum(&self, f: impl Fn(f32) -> f32) -> f64 {
        let parts = self.thickness.iter().zip(&self.area);
        parts.map(|(&t, &a)| f64::from(f(t)) * f64::from(a)).sum()
    }

    /// Puts a stored film on the obstacle. False if the number of vertices differs.
    pub fn restore(&mut self, thickness: &[f32]) -> bool {
        let fits = thickness.len() == self.thickness.len();
        if fits {
            self.thickness.copy_from_slice(thickness);
        }
        fits
    }

    /// Paints what touched `mesh` during `dt` seconds. `footprint` is the area in m²
    /// that a point of some matter touches.
    pub(super) fn paint(
        &mut self,
        mesh: &TriMesh,
        contacts: &[Contact],
        dt: f32,
        footprint: impl Fn(u32) -> f32,
    ) {
        for contact in contacts {
            if contact.obstacle as usize != self.obstacle.index() {
                continue;
            }
            let Some(corners) = mesh.triangles.get(contact.triangle as usize) else {
                continue;
            };
            let touched = footprint(contact.matter) * dt / self.settings.time;
            for (&v, w) in corners.iter().zip(contact.barycentric) {
                let v = v as usize;
                let share = touched * w.max(0.0) / self.area[v].max(f32::MIN_POSITIVE);
                let missing = self.settings.film - self.thickness[v];
                self.thickness[v] += missing * -(-share).exp_m1();
            }
        }
    }

    pub(super) fn design(&self) -> String {
        format!("{} {:?}", self.obstacle.index(), self.settings)
    }

    pub(super) fn save(&self, out: &mut Encoder) {
        self.thickness.iter().for_each(|&t| out.f32(t));
    }

    pub(super) fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        for t in &mut self.thickness {
            *t = from.f32()?;
        }
        Ok(())
    }
}

fn vertex_areas(mesh: &TriMesh) -> Vec<f32> {
    let mut area = vec![0.0; mesh.vertices.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let third = mesh.area_normal(t).length() / 6.0;
        corners.iter().for_each(|&v| area[v as usize] += third);
    }
    area
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::Vec3;

    use super::*;
    use crate::mesh::Cuboid;
    use crate::space::Bvh;
    use crate::{Fill, FluidSettings, Material, Region, World};

    fn tank() -> (World, Handle<Coating>, f32) {
        let d = 0.02;
        let (min, max) = (Vec3::ZERO, Vec3::new(0.2, 0.3, 0.2));
        let walls = Cuboid {
            cells: [10, 15, 10],
            ..Cuboid::new(min, max)
        };
        let mut world = World::new();
        let mesh = Arc::new(walls.build().unwrap());
        let index = Arc::new(Bvh::build(mesh.clone()));
        let tank = world.add_obstacle(Obstacle::mesh("tank", mesh, index, f32::INFINITY));
        let coating = world.add_coating(tank, CoatingSettings::default()).unwrap();
        let settings = FluidSettings::new(Material::WATER, d);
        let water = world.add_fluid(settings).unwrap();
        let block = Region::Box {
            min,
            max: Vec3::new(0.2, 0.1, 0.2),
        };
        world.fill(water, &Fill::Region(block)).unwrap();
        (world, coating, d)
    }

    #[test]
    fn the_wetted_part_of_a_tank_is_coated_and_the_rest_is_not() {
        let (mut world, coating, _) = tank();
        assert_eq!(world.coating(coating).unwrap().volume(), 0.0);
        for _ in 0..10 {
            world.step(0.02).unwrap();
        }
        let coat = world.coating(coating).unwrap();
        let mesh = world
            .obstacle(coat.obstacle())
            .unwrap()
            .triangles()
            .unwrap();
        let film = coat.settings().film;
        let bottom = |v: &Vec3| v.y < 1e-6;
        let high = |v: &Vec3| v.y > 0.2;
        let mean = |keep: &dyn Fn(&Vec3) -> bool| {
            let kept = mesh
                .vertices
                .iter()
                .zip(coat.thickness())
                .filter(|(v, _)| keep(v));
            let (sum, n) = kept.fold((0.0, 0.0), |(s, n), (_, t)| (s + t, n + 1.0));
            sum / n / film
        };
        assert!(mean(&bottom) > 0.8, "{}", mean(&bottom));
        assert!(mean(&high) < 0.05, "{}", mean(&high));
        assert!(coat.thickness().iter().all(|&t| (0.0..=film).contains(&t)));
        let wet = 0.2 * 0.2 + 4.0 * 0.2 * 0.1;
        assert!((coat.area() / wet - 1.0).abs() < 0.4, "{}", coat.area());
        assert!(coat.volume() > 0.4 * wet * f64::from(film));
    }

    #[test]
    fn a_checkpoint_keeps_the_film() {
        let (mut world, coating, _) = tank();
        world.step(0.04).unwrap();
        let mut out = Encoder::default();
        world.save(&mut out);
        let bytes = out.finish();
        let (mut other, _, _) = tank();
        let mut from = Decoder::open(&bytes).unwrap();
        other.load(&mut from).unwrap();
        world.step(0.02).unwrap();
        other.step(0.02).unwrap();
        let film = |w: &World| w.coating(coating).unwrap().thickness().to_vec();
        assert_eq!(film(&world), film(&other));
        assert!(film(&world).iter().any(|&t| t > 0.0));
    }

    #[test]
    fn nonsense_is_refused() {
        let mut world = World::new();
        let floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
        let refused = world.add_coating(floor, CoatingSettings::default());
        assert_eq!(refused.unwrap_err(), CoatingError::Plane);
        let (mut world, coating, _) = tank();
        let tank = world.coating(coating).unwrap().obstacle();
        let settings = CoatingSettings {
            film: f32::NAN,
            time: 1.0,
        };
        assert!(world.add_coating(tank, settings).is_err());
    }
}
