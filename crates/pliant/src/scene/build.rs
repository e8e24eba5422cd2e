//! From a description to a world.

use std::borrow::Cow;
use std::sync::Arc;

use glam::Vec3;

use super::Scene;
use super::description as d;
use super::error::{Key, SceneError, nearest};
use super::shape;
use crate::contact::Obstacle;
use crate::field::Field;
use crate::fluid::{
    Content, Emitter, Fill, Fluid, FluidSettings, Material, NewParticle, PressureMethod,
    SettingsError, Sink, Tolerances, jitter, settle,
};
use crate::math::XyzVec;
use crate::mesh::TriMesh;
use crate::observe::{Coating, CoatingSettings, Probe};
use crate::rigid::RigidBody;
use crate::slots::Handle;
use crate::soft::Soft;
use crate::solid::Solid;
use crate::space::{CellGrid, NeighbourSearch};
use crate::world::{StepSettings, World};

/// A world made from a scene, and what the scene wants to know of it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The world, ready to step.
    pub world: World,
    /// The liquids, in the scene's order.
    pub fluids: Vec<Handle<Fluid>>,
    /// The deformable bodies, in the scene's order.
    pub solids: Vec<Handle<Solid>>,
    /// The soft bodies, in the scene's order.
    pub softs: Vec<Handle<Soft>>,
    /// The rigid bodies, in the scene's order.
    pub rigids: Vec<Handle<RigidBody>>,
    /// How opaque bodies are drawn, deformable ones first: 0 to 1.
    pub body_opacity: Vec<f32>,
    /// The obstacles with their opacity, in the scene's order.
    pub obstacles: Vec<(Handle<Obstacle>, f32)>,
    /// The films on obstacles, with the obstacle's number in the scene.
    pub coatings: Vec<(usize, Handle<Coating>)>,
    /// The probes, in the scene's order.
    pub probes: Vec<Probe>,
}

/// Particles nearer than this share of the spacing overlap. No place is farther
/// than √3/2 spacings from the nearest point of a cubic lattice: a fill cannot
/// hide between the particles of another.
const OVERLAP: f32 = 0.9;

impl Scene {
    /// Makes the world: reads and generates meshes, indexes them, fills liquids.
    pub fn build(&self) -> Result<Built, SceneError> {
        let s = &self.description;
        let mut world = World::new();
        world.gravity = s.gravity.acceleration;
        world.coupling = s.coupling;
        world.settings = StepSettings {
            cfl: s.step.cfl,
            fixed: s.step.fixed,
            max_substeps: s.step.max_substeps,
        };
        let spacings = s.fluid.iter().map(|f| f.spacing);
        let bodies = self.solids()?;
        let rigids = self.rigids()?;
        // Contact of bodies looks a little further than their thickness.
        let reaches = bodies.iter().map(|b| 2.2 * b.thickness());
        let softs = self.softs()?;
        let reaches = reaches.chain(softs.iter().map(|s| 2.0 * s.contact_reach()));
        let reaches = reaches.chain(rigids.iter().map(RigidBody::contact_reach));
        let largest_spacing = spacings.chain(reaches).fold(0.0, f32::max);
        let mut obstacles = Vec::new();
        let mut coatings = Vec::new();
        let mut meshes: Vec<(&str, Arc<TriMesh>)> = Vec::new();
        for (i, o) in s.obstacle.iter().enumerate() {
            let obstacle = self.obstacle(i, o, largest_spacing)?;
            // Where it is at the start, which keyframes may have elsewhere.
            match (obstacle.triangles(), obstacle.triangles_now()) {
                (Some(_), Some(Cow::Owned(mesh))) => meshes.push((&o.name, Arc::new(mesh))),
                (Some(mesh), _) => meshes.push((&o.name, mesh.clone())),
                (None, _) => {}
            }
            let handle = world.add_obstacle(obstacle);
            obstacles.push((handle, o.opacity));
            if let Some(c) = &o.coating {
                let settings = CoatingSettings {
                    film: c.film,
                    time: c.time,
                };
                let key = [Key::Name("obstacle"), Key::Item(i), Key::Name("coating")];
                let coating = world.add_coating(handle, settings);
                coatings.push((i, coating.map_err(|e| self.at(&key, e.to_string()))?));
            }
        }
        // Liquid may fill a soft body.
        for (b, body) in s
            .soft
            .iter()
            .filter(|b| b.copies.is_none())
            .filter_map(|b| {
                let body = softs.iter().find(|body| body.settings().name == b.name)?;
                body.is_closed().then_some((b, body))
            })
        {
            meshes.push((&b.name, Arc::new(body.shape())));
        }
        for f in &s.field {
            world.add_field(Field {
                region: f.region,
                action: f.action,
            });
        }
        for sink in &s.sink {
            world.add_sink(Sink {
                region: sink.region,
            });
        }
        let mut fluids = Vec::new();
        for (i, f) in s.fluid.iter().enumerate() {
            let first = fluids.first().copied();
            fluids.extend(self.fluid(i, f, first, &mut world, &meshes)?);
        }
        let solids: Vec<_> = bodies.into_iter().map(|b| world.solids.add(b)).collect();
        self.add_grabs(&mut world, &solids)?;
        let rigids = rigids.into_iter().map(|b| world.rigids.add(b)).collect();
        let softs: Vec<Handle<Soft>> = softs.into_iter().map(|s| world.softs.add(s)).collect();
        let opacities = s.solid.iter().map(|b| b.opacity);
        let opacities = opacities.chain(s.rigid.iter().map(|b| b.opacity));
        let of_softs = s.soft.iter().flat_map(|b| {
            let count = b.copies.map_or(1, |c| c.count.iter().product::<u32>());
            std::iter::repeat_n(b.opacity, count as usize)
        });
        let body_opacity = opacities.chain(of_softs).collect();
        for stroke in &s.stroke {
            world.add_stroke(*stroke);
        }
        world.clear_bodies();
        let handles: Vec<Handle<Obstacle>> = obstacles.iter().map(|(o, _)| *o).collect();
        let probes = self.probes(&mut world, &fluids, &solids, &softs, &handles)?;
        Ok(Built {
            fluids,
            solids,
            softs,
            rigids,
            body_opacity,
            obstacles,
            coatings,
            probes,
            world,
        })
    }

    fn obstacle(&self, i: usize, o: &d::Obstacle, spacing: f32) -> Result<Obstacle, SceneError> {
        let key = |k| [Key::Name("obstacle"), Key::Item(i), Key::Name(k)];
        let describe = |problem: String| format!("obstacle `{}`: {problem}", o.name);
        // Contact asks for one particle radius; what moves further is swept.
        let reach = 0.5 * spacing;
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
        first: Option<Handle<Fluid>>,
        world: &mut World,
        meshes: &[(&str, Arc<TriMesh>)],
    ) -> Result<Option<Handle<Fluid>>, SceneError> {
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
        if let Some(viscosity) = f.viscosity {
            material.viscosity = viscosity;
            material.thinning = None;
        }
        material.thinning = f.thinning.or(material.thinning);
        material.surface_tension = f.surface_tension.unwrap_or(material.surface_tension);
        let settings = FluidSettings {
            name: f.name.clone(),
            material,
            diffusivity: f.diffusivity,
            spacing: f.spacing,
            support: f.support,
            pressure: f.pressure,
            tolerances: Tolerances {
                density: f.density_error,
                divergence: f.divergence_error,
                max_iterations: f.max_iterations,
                correction: f.density_correction,
            },
            sound_speed: f.sound_speed,
            density_kernel: f.density_kernel,
            numerical_viscosity: f.numerical_viscosity,
            vorticity: f.vorticity,
            negative_pressure: f.negative_pressure,
            max_particles: f.max_particles,
        };
        let refused = |e: SettingsError| self.at(&key(e.key), format!("fluid `{}`: {e}", f.name));
        // All liquids of a scene are one set of particles.
        let (handle, liquid) = match first {
            None => (world.add_fluid(settings).map_err(refused)?, 0),
            Some(first) => {
                let added = world.add_liquid(first, settings.liquid());
                (first, added.unwrap_or(Ok(0)).map_err(refused)?)
            }
        };
        if f.fill.is_empty() && f.emitter.is_empty() {
            return Err(self
                .at(&here, format!("fluid `{}` has no particles", f.name))
                .with_help("add a [[fluid.fill]] or a [[fluid.emitter]]"));
        }
        let others = world.fluid(handle).map_or(0, Fluid::len);
        let mut ends = Vec::new();
        for (k, fill) in f.fill.iter().enumerate() {
            let path = [here[0], here[1], Key::Name("fill"), Key::Item(k)];
            let before = ends.last().copied().unwrap_or(others);
            let particles = self.fill(&path, fill, f, before, world, meshes)?;
            let content = Content {
                liquid,
                concentration: fill.concentration,
            };
            world.add_content(handle, &particles, content);
            ends.push(before + particles.len());
        }
        self.no_overlap(&here, handle, others, &ends, world)?;
        for (k, e) in f.emitter.iter().enumerate() {
            let path = [here[0], here[1], Key::Name("emitter"), Key::Item(k)];
            let mut emitter = self.emitter(&path, e, f.spacing)?;
            emitter.content = Content {
                liquid,
                concentration: e.concentration,
            };
            world.add_emitter(handle, emitter);
        }
        Ok(first.is_none().then_some(handle))
    }

    fn fill(
        &self,
        path: &[Key<'_>],
        fill: &d::Fill,
        fluid: &d::Fluid,
        before: usize,
        world: &World,
        meshes: &[(&str, Arc<TriMesh>)],
    ) -> Result<Vec<NewParticle>, SceneError> {
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
        let spacing = fluid.spacing;
        let too_many = |count: f64| {
            let message = format!(
                "the space would hold about {count:.1e} particles at a spacing of {spacing} m, \
                 but `max_particles` is {}",
                fluid.max_particles
            );
            self.at(path, message)
                .with_help("make `spacing` larger or the space smaller, or raise `max_particles`")
        };
        // Before any memory is taken. What lies on the border is not counted on.
        let most = fluid.max_particles as f64 - before as f64;
        let estimate = space.volume() / f64::from(spacing).powi(3);
        if estimate.is_finite() && estimate > 2.0 * most + 1e3 {
            return Err(too_many(estimate));
        }
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
        let mut points = points.map_err(|e| self.at(path, e.to_string()))?;
        if points.len() as f64 > most {
            return Err(too_many((before + points.len()) as f64));
        }
        jitter(&mut points, fill.jitter * spacing);
        // An incompressible liquid is as dense below as above.
        if fill.settled && fluid.pressure == PressureMethod::WeaklyCompressible {
            let Some(sound_speed) = fluid.sound_speed else {
                return Err(self
                    .at(path, "a settled fill needs the fluid's `sound_speed`")
                    .with_help("set `sound_speed` to ten times the largest speed you expect"));
            };
            settle(&mut points, spacing, world.gravity, sound_speed);
        }
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
        let speed = match (e.speed, e.rate) {
            (Some(speed), _) => speed,
            (None, rate) => Emitter::speed_for_rate(rate.unwrap_or(0.0), e.radius, spacing),
        };
        if !(speed > 0.0 && speed.is_finite()) {
            let mut path = path.to_vec();
            path.push(Key::Name("rate"));
            return Err(self.at(
                &path,
                format!("this rate through this radius is a speed of {speed} m/s"),
            ));
        }
        let mut emitter = Emitter::new(e.position, e.direction, e.radius, speed);
        emitter.start = e.start;
        emitter.stop = e.stop.unwrap_or(f64::INFINITY);
        emitter.limit = e.limit.unwrap_or(usize::MAX);
        Ok(emitter)
    }

    /// Overlapping particles would be thrown apart by the first step. The first
    /// `others` are those of other liquids; fill `k` has made the particles up to
    /// `ends[k]`.
    fn no_overlap(
        &self,
        path: &[Key<'_>; 2],
        fluid: Handle<Fluid>,
        others: usize,
        ends: &[usize],
        world: &World,
    ) -> Result<(), SceneError> {
        let Some(fluid) = world.fluid(fluid) else {
            return Ok(());
        };
        let radius = OVERLAP * fluid.settings().spacing;
        let mut grid = CellGrid::default();
        let points: XyzVec = fluid.positions().iter().collect();
        grid.build(points.view(), radius);
        let mut first = None;
        for i in 0..points.len() {
            let p = points.get(i);
            grid.for_each_within(points.view(), p, &mut |j| {
                if (j as usize) > i && first.is_none_or(|(_, k)| j < k) {
                    first = Some((i as u32, j));
                }
            });
            if first.is_some() {
                break;
            }
        }
        let Some((i, j)) = first else {
            return Ok(());
        };
        let fill_of = |particle: u32| ends.partition_point(|&end| end <= particle as usize);
        let (a, b) = (fill_of(i), fill_of(j));
        let p = points.get(i as usize);
        if (i as usize) < others {
            let place = format!("({}, {}, {})", p.x, p.y, p.z);
            let path = [path[0], path[1], Key::Name("fill"), Key::Item(b)];
            return Err(self
                .at(
                    &path,
                    format!("particles of this fill overlap another liquid at {place}"),
                )
                .with_help("move the fills apart by at least one spacing"));
        }
        let place = format!("({}, {}, {})", p.x, p.y, p.z);
        let path = [path[0], path[1], Key::Name("fill"), Key::Item(b)];
        Err(if a == b {
            self.at(
                &path,
                format!(
                    "particles of this fill overlap at {place}: so far from the origin, \
                     numbers cannot tell them apart"
                ),
            )
            .with_help("move the scene to the origin, or make `spacing` larger")
        } else {
            self.at(
                &path,
                format!(
                    "fluid `{}`: particles of fill {} and fill {} overlap at {place}",
                    fluid.settings().name,
                    a + 1,
                    b + 1
                ),
            )
            .with_help("move the fills apart by at least one spacing")
        })
    }
}
