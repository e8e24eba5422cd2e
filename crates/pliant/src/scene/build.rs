//! From a description to a world.

use std::sync::Arc;

use glam::Vec3;

use super::Scene;
use super::description as d;
use super::error::{Key, SceneError, nearest};
use super::shape;
use crate::contact::Obstacle;
use crate::field::{Field, Region};
use crate::fluid::{Emitter, Fill, Fluid, FluidSettings, Material, NewParticle, Sink};
use crate::math::XyzVec;
use crate::mesh::TriMesh;
use crate::slots::Handle;
use crate::space::{CellGrid, NeighbourSearch};
use crate::world::{StepSettings, World};

/// A world made from a scene, and what the scene wants to know of it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The world, ready to step.
    pub world: World,
    /// The liquids, in the scene's order.
    pub fluids: Vec<Handle<Fluid>>,
    /// The obstacles with their opacity, in the scene's order.
    pub obstacles: Vec<(Handle<Obstacle>, f32)>,
    /// The probes, in the scene's order.
    pub probes: Vec<Probe>,
}

/// A place where quantities are recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Name of its columns.
    pub name: String,
    /// Where, in metres.
    pub position: Vec3,
}

/// Particles nearer than this share of the spacing overlap.
const OVERLAP: f32 = 0.5;

impl Scene {
    /// Checks what can be checked without building.
    pub(super) fn check(&self) -> Result<(), SceneError> {
        let s = &self.description;
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let name = Key::Name;
        if !positive(s.duration) {
            return Err(self.at(
                &[name("duration")],
                format!("`duration` is {} s, but must be a positive time", s.duration),
            ));
        }
        if !positive(s.frame.into()) {
            return Err(self.at(
                &[name("frame")],
                format!("`frame` is {} s, but must be a positive time", s.frame),
            ));
        }
        if !positive(s.step.cfl.into()) || s.step.cfl > 1.0 {
            return Err(self.at(
                &[name("step"), name("cfl")],
                format!("`cfl` is {}, but must be above 0 and at most 1", s.step.cfl),
            ));
        }
        if let Some(fixed) = s.step.fixed
            && !positive(fixed.into())
        {
            return Err(self.at(
                &[name("step"), name("fixed")],
                format!("`fixed` is {fixed} s, but must be a positive time"),
            ));
        }
        if !s.gravity.acceleration.is_finite() {
            return Err(self.at(
                &[name("gravity"), name("acceleration")],
                "`acceleration` must be three finite numbers",
            ));
        }
        if s.fluid.is_empty() {
            return Err(self.at(&[], "the scene has no matter").with_help(
                "add a [[fluid]] with `spacing` and a [[fluid.fill]] or a [[fluid.emitter]]",
            ));
        }
        if let Some(second) = s.fluid.get(1) {
            return Err(self
                .at(
                    &[name("fluid"), Key::Item(1)],
                    format!(
                        "`{}` is a second liquid, but a scene can hold only one",
                        second.name
                    ),
                )
                .with_help("give one [[fluid]] several fills and emitters instead"));
        }
        for (i, obstacle) in s.obstacle.iter().enumerate() {
            if s.obstacle[..i].iter().any(|o| o.name == obstacle.name) {
                return Err(self.at(
                    &[name("obstacle"), Key::Item(i), name("name")],
                    format!("there are two obstacles called `{}`", obstacle.name),
                ));
            }
        }
        Ok(())
    }

    /// Makes the world: reads and generates meshes, indexes them, fills liquids.
    pub fn build(&self) -> Result<Built, SceneError> {
        let s = &self.description;
        let mut world = World::new();
        world.gravity = s.gravity.acceleration;
        world.settings = StepSettings {
            cfl: s.step.cfl,
            fixed: s.step.fixed,
            max_substeps: s.step.max_substeps,
        };
        let largest_spacing = s.fluid.iter().map(|f| f.spacing).fold(0.0, f32::max);
        let mut obstacles = Vec::new();
        let mut meshes: Vec<(&str, Arc<TriMesh>)> = Vec::new();
        for (i, o) in s.obstacle.iter().enumerate() {
            let obstacle = self.obstacle(i, o, largest_spacing)?;
            if let Some(mesh) = obstacle.triangles() {
                meshes.push((&o.name, mesh.clone()));
            }
            obstacles.push((world.add_obstacle(obstacle), o.opacity));
        }
        for (i, f) in s.field.iter().enumerate() {
            self.region(&[Key::Name("field"), Key::Item(i)], &f.region)?;
            world.add_field(Field {
                region: f.region,
                action: f.action,
            });
        }
        for (i, sink) in s.sink.iter().enumerate() {
            self.region(&[Key::Name("sink"), Key::Item(i)], &sink.region)?;
            world.add_sink(Sink {
                region: sink.region,
            });
        }
        let mut fluids = Vec::new();
        for (i, f) in s.fluid.iter().enumerate() {
            fluids.push(self.fluid(i, f, &mut world, &meshes)?);
        }
        let probes = s.probe.iter().map(|p| Probe {
            name: p.name.clone(),
            position: p.position,
        });
        Ok(Built {
            fluids,
            obstacles,
            probes: probes.collect(),
            world,
        })
    }

    fn at(&self, path: &[Key<'_>], message: impl Into<String>) -> SceneError {
        self.source.at(path, message)
    }

    fn region(&self, path: &[Key<'_>], region: &Region) -> Result<(), SceneError> {
        let mut path = path.to_vec();
        path.push(Key::Name("region"));
        match region.nonsense() {
            Some(problem) => Err(self.at(&path, problem)),
            None => Ok(()),
        }
    }

    fn obstacle(&self, i: usize, o: &d::Obstacle, spacing: f32) -> Result<Obstacle, SceneError> {
        let key = |k| [Key::Name("obstacle"), Key::Item(i), Key::Name(k)];
        let describe = |problem: String| format!("obstacle `{}`: {problem}", o.name);
        for (k, value, fine) in [
            (
                "restitution",
                o.restitution,
                (0.0..=1.0).contains(&o.restitution),
            ),
            (
                "friction",
                o.friction,
                o.friction >= 0.0 && o.friction.is_finite(),
            ),
            ("scale", o.scale, o.scale > 0.0 && o.scale.is_finite()),
            ("opacity", o.opacity, (0.0..=1.0).contains(&o.opacity)),
        ] {
            if !fine {
                let right = match k {
                    "friction" => "0 or more",
                    "scale" => "above 0",
                    _ => "between 0 and 1",
                };
                return Err(self.at(
                    &key(k),
                    describe(format!("`{k}` is {value}, but must be {right}")),
                ));
            }
        }
        // Contact asks for one particle radius; what moves further is swept.
        let reach = spacing;
        shape::obstacle(o, &self.folder, reach).map_err(|e| {
            let error = self.at(&key(e.key), describe(e.message));
            match e.help {
                Some(help) => error.with_help(help),
                None => error,
            }
        })
    }

    fn fluid(
        &self,
        i: usize,
        f: &d::Fluid,
        world: &mut World,
        meshes: &[(&str, Arc<TriMesh>)],
    ) -> Result<Handle<Fluid>, SceneError> {
        let here = [Key::Name("fluid"), Key::Item(i)];
        let key = |k| [here[0], here[1], Key::Name(k)];
        let Some(mut material) = Material::named(&f.material) else {
            let known: Vec<&str> = Material::NAMED.iter().map(|(n, _)| *n).collect();
            let near = nearest(&f.material, known.iter().copied())
                .map_or(String::new(), |n| format!("did you mean `{n}`? "));
            return Err(self
                .at(
                    &key("material"),
                    format!("there is no material `{}`", f.material),
                )
                .with_help(format!("{near}known: {}", known.join(", "))));
        };
        material.density = f.density.unwrap_or(material.density);
        material.viscosity = f.viscosity.unwrap_or(material.viscosity);
        material.surface_tension = f.surface_tension.unwrap_or(material.surface_tension);
        let settings = FluidSettings {
            name: f.name.clone(),
            material,
            spacing: f.spacing,
            support: f.support,
            sound_speed: f.sound_speed,
            numerical_viscosity: f.numerical_viscosity,
            negative_pressure: f.negative_pressure,
            max_particles: f.max_particles,
        };
        let handle = world
            .add_fluid(settings)
            .map_err(|e| self.at(&key(e.key), format!("fluid `{}`: {e}", f.name)))?;
        if f.fill.is_empty() && f.emitter.is_empty() {
            return Err(self
                .at(&here, format!("fluid `{}` has no particles", f.name))
                .with_help("add a [[fluid.fill]] or a [[fluid.emitter]]"));
        }
        for (k, fill) in f.fill.iter().enumerate() {
            let path = [here[0], here[1], Key::Name("fill"), Key::Item(k)];
            let particles = self.fill(&path, fill, f.spacing, world, meshes)?;
            world.add_particles(handle, &particles);
        }
        self.no_overlap(&key("fill"), handle, world)?;
        for (k, e) in f.emitter.iter().enumerate() {
            let path = [here[0], here[1], Key::Name("emitter"), Key::Item(k)];
            world.add_emitter(handle, self.emitter(&path, e, f.spacing)?);
        }
        Ok(handle)
    }

    fn fill(
        &self,
        path: &[Key<'_>],
        fill: &d::Fill,
        spacing: f32,
        world: &World,
        meshes: &[(&str, Arc<TriMesh>)],
    ) -> Result<Vec<NewParticle>, SceneError> {
        self.region(path, &fill.region)?;
        let space = match &fill.mesh {
            None => Fill::Region(fill.region),
            Some(wanted) => {
                let Some((_, mesh)) = meshes.iter().find(|(name, _)| name == wanted) else {
                    let known: Vec<&str> = meshes.iter().map(|(name, _)| *name).collect();
                    return Err(self
                        .at(
                            path,
                            format!("there is no obstacle with triangles called `{wanted}`"),
                        )
                        .with_help(format!("known: {}", known.join(", "))));
                };
                Fill::Mesh {
                    mesh: mesh.clone(),
                    within: fill.region,
                }
            }
        };
        let points = match fill.count {
            Some(count) => {
                let lowest = world.bounds().min;
                let near = fill.near.unwrap_or(if lowest.is_finite() {
                    lowest
                } else {
                    Vec3::ZERO
                });
                space.nearest(spacing, count, near)
            }
            None => space.points(spacing),
        };
        let points = points.map_err(|e| self.at(path, e.to_string()))?;
        Ok(points
            .into_iter()
            .map(|position| NewParticle {
                position,
                velocity: fill.velocity,
            })
            .collect())
    }

    fn emitter(
        &self,
        path: &[Key<'_>],
        e: &d::Emitter,
        spacing: f32,
    ) -> Result<Emitter, SceneError> {
        let wrong = |k, message: String| {
            let mut path = path.to_vec();
            path.push(Key::Name(k));
            Err(self.at(&path, message))
        };
        if !(e.radius > 0.0 && e.radius.is_finite()) {
            return wrong("radius", format!("`radius` is {}, but must be above 0", e.radius));
        }
        if e.direction.try_normalize().is_none() {
            return wrong("direction", "`direction` must not be zero".into());
        }
        let speed = match (e.speed, e.rate) {
            (Some(speed), None) => speed,
            (None, Some(rate)) => Emitter::speed_for_rate(rate, e.radius, spacing),
            _ => {
                return wrong("speed", "give either `speed` (m/s) or `rate` (m³/s)".into());
            }
        };
        if !(speed > 0.0 && speed.is_finite()) {
            return wrong("speed", format!("the speed is {speed} m/s, but must be above 0"));
        }
        let mut emitter = Emitter::new(e.position, e.direction, e.radius, speed);
        emitter.start = e.start;
        emitter.stop = e.stop.unwrap_or(f64::INFINITY);
        emitter.limit = e.limit.unwrap_or(usize::MAX);
        Ok(emitter)
    }

    /// Overlapping particles would be thrown apart by the first step.
    fn no_overlap(
        &self,
        path: &[Key<'_>],
        fluid: Handle<Fluid>,
        world: &World,
    ) -> Result<(), SceneError> {
        let Some(fluid) = world.fluid(fluid) else {
            return Ok(());
        };
        let radius = OVERLAP * fluid.settings().spacing;
        let mut grid = CellGrid::default();
        let points: XyzVec = fluid.positions().iter().collect();
        grid.build(points.view(), radius);
        let mut overlapping = 0;
        let mut first = None;
        for i in 0..points.len() {
            let p = points.get(i);
            grid.for_each_within(points.view(), p, &mut |j| {
                if (j as usize) > i {
                    overlapping += 1;
                    first.get_or_insert(p);
                }
            });
        }
        match first {
            None => Ok(()),
            Some(p) => Err(self
                .at(
                    path,
                    format!(
                        "fluid `{}`: {overlapping} pairs of particles overlap at the start, \
                         the first at ({}, {}, {})",
                        fluid.settings().name,
                        p.x,
                        p.y,
                        p.z
                    ),
                )
                .with_help("move the fills apart by at least one spacing")),
        }
    }
}
