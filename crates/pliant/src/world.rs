//! The world: owns all matter, obstacles and fields, and what is measured of them.
//! How it moves is in `step.rs`.

use glam::{DVec3, Vec3};

use crate::contact::{Contact, Obstacle};
use crate::coupling::{Coupling, Exchange, Skins, Stroke};
use crate::field::Field;
use crate::fluid::{
    Content, Emitter, Fill, FillError, Fluid, FluidSettings, Liquid, NewParticle, SettingsError,
    Sink,
};
use crate::leaks::sides;
use crate::math::Aabb;
pub use crate::matter::{Matter, PerPoint, PointsView, SurfaceView};
use crate::mesh::{TetMesh, TriMesh};
use crate::observe::{Observers, Timers, Totals};
use crate::rigid::{RigidBody, RigidError, RigidSettings};
use crate::slots::{Handle, Slots};
use crate::soft::{Soft, SoftError, SoftSettings};
use crate::solid::{
    BodyContact, Depth, Grab, GrabSettings, Meetings, Solid, SolidError, SolidSettings, deepest,
};

/// How a world divides its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSettings {
    /// Courant number: the share of the spacing that a particle of an incompressible liquid may
    /// move in a sub-step, and of the support radius that sound may cross in a weakly
    /// compressible one.
    pub cfl: f32,
    /// Use sub-steps of this length in seconds, whatever the matter allows.
    pub fixed: Option<f32>,
    /// A step that needs more sub-steps than this is refused.
    pub max_substeps: u32,
}

impl Default for StepSettings {
    fn default() -> Self {
        StepSettings {
            cfl: 0.4,
            fixed: None,
            max_substeps: 100_000,
        }
    }
}

/// A nozzle and the liquid it feeds.
#[derive(Clone, Debug)]
pub(crate) struct Nozzle {
    pub fluid: Handle<Fluid>,
    pub emitter: Emitter,
}

/// Everything that exists and moves together.
///
/// ```
/// use pliant::{Fill, FluidSettings, Material, Obstacle, Region, Vec3, World};
/// let mut world = World::new();
/// world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
/// let water = world.add_fluid(FluidSettings::new(Material::WATER, 0.02))?;
/// let block = Region::Box { min: Vec3::ZERO, max: Vec3::splat(0.2) };
/// world.fill(water, &Fill::Region(block))?;
/// for _ in 0..10 {
///     world.step(1.0 / 60.0)?;
/// }
/// println!("kinetic energy {:.3} J", world.totals().kinetic);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct World {
    /// Acceleration of everything, in m/s².
    pub gravity: Vec3,
    /// How steps are divided.
    pub settings: StepSettings,
    /// How bodies and liquids act on each other.
    pub coupling: Coupling,
    pub(crate) fluids: Slots<Fluid>,
    pub(crate) solids: Slots<Solid>,
    /// Contacts of deformable bodies with each other.
    pub(crate) meetings: Meetings,
    pub(crate) grabs: Slots<Grab>,
    pub(crate) softs: Slots<Soft>,
    pub(crate) rigids: Slots<RigidBody>,
    /// The surfaces of bodies, as liquids see them.
    pub(crate) skins: Skins,
    pub(crate) strokes: Slots<Stroke>,
    pub(crate) obstacles: Slots<Obstacle>,
    pub(crate) fields: Slots<Field>,
    pub(crate) nozzles: Slots<Nozzle>,
    pub(crate) sinks: Slots<Sink>,
    pub(crate) time: f64,
    pub(crate) steps: u64,
    pub(crate) substeps: u64,
    /// Length of the last sub-step: the leap-frog's velocities are half of it behind.
    pub(crate) previous_dt: f32,
    pub(crate) max_speed: f32,
    pub(crate) max_acceleration: f32,
    /// Of bodies and the liquid near them, in m/s; infinite if it is not known.
    pub(crate) closing_speed: f32,
    pub(crate) removed: u64,
    pub(crate) timers: Timers,
    pub(crate) contacts: Vec<Contact>,
    /// Impulse on every obstacle during the last step, in N·s.
    pub(crate) obstacle_impulse: Vec<DVec3>,
    /// The same at the end of every sub-step of the last step, with the time.
    pub(crate) impulse_log: Vec<(f64, Vec<Vec3>)>,
    pub(crate) exchange: Exchange,
    pub(crate) last_step: f32,
    /// Largest speed of any wall in the coming step, in m/s.
    pub(crate) wall_speed: f32,
    /// Obstacles have changed: where particles belong must be found again.
    pub(crate) sides_stale: bool,
    pub(crate) observers: Observers,
}

impl Default for World {
    fn default() -> Self {
        World::new()
    }
}

impl World {
    /// An empty world on Earth: 9.81 m/s² down the y axis.
    pub fn new() -> World {
        World {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            settings: StepSettings::default(),
            coupling: Coupling::default(),
            fluids: Slots::default(),
            solids: Slots::default(),
            meetings: Meetings::default(),
            grabs: Slots::default(),
            softs: Slots::default(),
            rigids: Slots::default(),
            skins: Skins::default(),
            strokes: Slots::default(),
            obstacles: Slots::default(),
            fields: Slots::default(),
            nozzles: Slots::default(),
            sinks: Slots::default(),
            time: 0.0,
            steps: 0,
            substeps: 0,
            previous_dt: 0.0,
            max_speed: 0.0,
            max_acceleration: 0.0,
            closing_speed: f32::INFINITY,
            removed: 0,
            timers: Timers::default(),
            contacts: Vec::new(),
            obstacle_impulse: Vec::new(),
            impulse_log: Vec::new(),
            exchange: Exchange::default(),
            last_step: 0.0,
            wall_speed: 0.0,
            sides_stale: false,
            observers: Observers::default(),
        }
    }

    /// Adds an empty liquid; give it particles with [`World::fill`] or
    /// [`World::add_emitter`].
    pub fn add_fluid(&mut self, settings: FluidSettings) -> Result<Handle<Fluid>, SettingsError> {
        Ok(self.fluids.add(Fluid::new(settings)?))
    }

    /// Adds another liquid to an incompressible one: they share neighbours and
    /// pressure but do not mix. Returns its index for [`Content`]; `None` for a stale
    /// handle.
    pub fn add_liquid(
        &mut self,
        fluid: Handle<Fluid>,
        liquid: Liquid,
    ) -> Option<Result<u8, SettingsError>> {
        Some(self.fluids.get_mut(fluid)?.add_liquid(liquid))
    }

    /// Fills a space with liquid at rest. Returns the number of particles.
    pub fn fill(&mut self, fluid: Handle<Fluid>, fill: &Fill) -> Result<usize, FillError> {
        let Some(spacing) = self.fluids.get(fluid).map(|f| f.settings().spacing) else {
            return Ok(0);
        };
        let points = fill.points(spacing)?;
        let particles: Vec<NewParticle> = points
            .into_iter()
            .map(|position| NewParticle {
                position,
                velocity: Vec3::ZERO,
            })
            .collect();
        Ok(self.add_particles(fluid, &particles))
    }

    /// Adds single particles of the first liquid. Returns how many; 0 for a stale
    /// handle.
    pub fn add_particles(&mut self, fluid: Handle<Fluid>, particles: &[NewParticle]) -> usize {
        self.add_content(fluid, particles, Content::default())
    }

    /// Adds single particles of any liquid, with dye or without. Returns how many; 0
    /// for a stale handle or an unknown liquid.
    pub fn add_content(
        &mut self,
        fluid: Handle<Fluid>,
        particles: &[NewParticle],
        content: Content,
    ) -> usize {
        let (obstacles, skins) = (&self.obstacles, &self.skins);
        match self.fluids.get_mut(fluid) {
            Some(fluid) if usize::from(content.liquid) < fluid.liquids().len() => {
                fluid.add(particles, content, |p| sides(obstacles, skins, p));
                let fastest = particles.iter().map(|p| p.velocity.length());
                self.max_speed = fastest.fold(self.max_speed, f32::max);
                particles.len()
            }
            _ => 0,
        }
    }

    /// Takes all particles out of a liquid, to show a stored state in their place.
    pub fn remove_particles(&mut self, fluid: Handle<Fluid>) {
        if let Some(fluid) = self.fluids.get_mut(fluid) {
            fluid.remove_where(|_| true);
        }
    }

    /// Adds a deformable body at rest in the shape of `mesh`.
    pub fn add_solid(
        &mut self,
        settings: SolidSettings,
        mesh: TetMesh,
    ) -> Result<Handle<Solid>, SolidError> {
        Ok(self.solids.add(Solid::new(settings, mesh)?))
    }

    /// Takes a body away.
    pub fn remove_solid(&mut self, solid: Handle<Solid>) -> Option<Solid> {
        let removed = self.solids.remove(solid);
        if removed.is_some() {
            self.meetings.forget(solid.index());
            self.grabs.retain(|g| g.solid() != solid);
        }
        removed
    }

    /// Takes hold of the points of a body whose present places are chosen, on springs
    /// that pull them along when the grab is dragged; `None` if there are no such points
    /// or the handle is stale.
    pub fn grab(
        &mut self,
        solid: Handle<Solid>,
        chosen: impl Fn(Vec3) -> bool,
        settings: GrabSettings,
    ) -> Option<Handle<Grab>> {
        let body = self.solids.get(solid)?;
        let grab = Grab::new(solid, body, chosen, settings)?;
        Some(self.grabs.add(grab))
    }

    /// Moves a grab to `shift` metres from where it took hold; false for a stale handle.
    pub fn drag(&mut self, grab: Handle<Grab>, shift: Vec3) -> bool {
        let found = self.grabs.get_mut(grab);
        found.map(|g| g.shift = shift).is_some()
    }

    /// A grab: where it is, and how hard it pulls.
    pub fn grabbed(&self, grab: Handle<Grab>) -> Option<&Grab> {
        self.grabs.get(grab)
    }

    /// All grabs.
    pub fn grabs(&self) -> impl Iterator<Item = &Grab> {
        self.grabs.iter().map(|(_, g)| g)
    }

    /// Lets go.
    pub fn release(&mut self, grab: Handle<Grab>) -> Option<Grab> {
        self.grabs.remove(grab)
    }

    /// Contacts of deformable bodies with each other and themselves in the last
    /// sub-step.
    pub fn body_contacts(&self) -> &[BodyContact] {
        self.meetings.contacts()
    }

    /// The deepest place of a deformable body inside another one; `None` if there is
    /// none.
    pub fn deepest_overlap(&self) -> Option<Depth> {
        deepest(&self.solids.iter().collect::<Vec<_>>())
    }

    /// A deformable body.
    pub fn solid(&self, handle: Handle<Solid>) -> Option<&Solid> {
        self.solids.get(handle)
    }

    /// A deformable body, to pin, load or put elsewhere.
    pub fn solid_mut(&mut self, handle: Handle<Solid>) -> Option<&mut Solid> {
        self.solids.get_mut(handle)
    }

    /// All deformable bodies.
    pub fn solids(&self) -> impl Iterator<Item = &Solid> {
        self.solids.iter().map(|(_, s)| s)
    }

    /// Adds a soft surface body at rest in the shape of `mesh`.
    pub fn add_soft(
        &mut self,
        settings: SoftSettings,
        mesh: TriMesh,
    ) -> Result<Handle<Soft>, SoftError> {
        Ok(self.softs.add(Soft::new(settings, mesh)?))
    }

    /// Takes a soft body away.
    pub fn remove_soft(&mut self, soft: Handle<Soft>) -> Option<Soft> {
        self.softs.remove(soft)
    }

    /// A soft body.
    pub fn soft(&self, handle: Handle<Soft>) -> Option<&Soft> {
        self.softs.get(handle)
    }

    /// A soft body, to pin, put elsewhere or give other controls.
    pub fn soft_mut(&mut self, handle: Handle<Soft>) -> Option<&mut Soft> {
        self.softs.get_mut(handle)
    }

    /// All soft bodies.
    pub fn softs(&self) -> impl Iterator<Item = &Soft> {
        self.softs.iter().map(|(_, s)| s)
    }

    /// Adds a rigid body at rest in the shape of `mesh`, a closed surface.
    pub fn add_rigid(
        &mut self,
        settings: RigidSettings,
        mesh: TriMesh,
    ) -> Result<Handle<RigidBody>, RigidError> {
        Ok(self.rigids.add(RigidBody::new(settings, mesh)?))
    }

    /// Takes a rigid body away.
    pub fn remove_rigid(&mut self, rigid: Handle<RigidBody>) -> Option<RigidBody> {
        self.rigids.remove(rigid)
    }

    /// A rigid body.
    pub fn rigid(&self, handle: Handle<RigidBody>) -> Option<&RigidBody> {
        self.rigids.get(handle)
    }

    /// A rigid body, to set in motion.
    pub fn rigid_mut(&mut self, handle: Handle<RigidBody>) -> Option<&mut RigidBody> {
        self.rigids.get_mut(handle)
    }

    /// All rigid bodies.
    pub fn rigids(&self) -> impl Iterator<Item = &RigidBody> {
        self.rigids.iter().map(|(_, r)| r)
    }

    /// Adds a blade that is drawn at a set time.
    pub fn add_stroke(&mut self, stroke: Stroke) -> Handle<Stroke> {
        self.strokes.add(stroke)
    }

    /// Takes a blade away.
    pub fn remove_stroke(&mut self, stroke: Handle<Stroke>) -> Option<Stroke> {
        self.strokes.remove(stroke)
    }

    /// Adds a surface to bump into.
    pub fn add_obstacle(&mut self, mut obstacle: Obstacle) -> Handle<Obstacle> {
        self.sides_stale = true;
        obstacle.move_to(self.time);
        self.obstacles.add(obstacle)
    }

    /// Takes an obstacle away; liquid it held is free to go.
    pub fn remove_obstacle(&mut self, obstacle: Handle<Obstacle>) -> Option<Obstacle> {
        self.sides_stale = true;
        self.obstacles.remove(obstacle)
    }

    /// Takes a liquid away.
    pub fn remove_fluid(&mut self, fluid: Handle<Fluid>) -> Option<Fluid> {
        self.fluids.remove(fluid)
    }

    /// Adds something that accelerates matter.
    pub fn add_field(&mut self, field: Field) -> Handle<Field> {
        self.fields.add(field)
    }

    /// Takes a field away.
    pub fn remove_field(&mut self, field: Handle<Field>) -> Option<Field> {
        self.fields.remove(field)
    }

    /// Adds a nozzle that feeds `fluid`.
    pub fn add_emitter(&mut self, fluid: Handle<Fluid>, emitter: Emitter) {
        self.nozzles.add(Nozzle { fluid, emitter });
    }

    /// Adds a place where liquid disappears.
    pub fn add_sink(&mut self, sink: Sink) -> Handle<Sink> {
        self.sinks.add(sink)
    }

    /// A liquid.
    pub fn fluid(&self, handle: Handle<Fluid>) -> Option<&Fluid> {
        self.fluids.get(handle)
    }

    /// All liquids.
    pub fn fluids(&self) -> impl Iterator<Item = &Fluid> {
        self.fluids.iter().map(|(_, f)| f)
    }

    /// An obstacle.
    pub fn obstacle(&self, handle: Handle<Obstacle>) -> Option<&Obstacle> {
        self.obstacles.get(handle)
    }

    /// All obstacles.
    pub fn obstacles(&self) -> impl Iterator<Item = &Obstacle> {
        self.obstacles.iter().map(|(_, o)| o)
    }

    /// All matter, whatever its kind.
    pub fn matter(&self) -> impl Iterator<Item = &dyn Matter> {
        let fluids = self.fluids.iter().map(|(_, f)| f as &dyn Matter);
        let solids = self.solids.iter().map(|(_, s)| s as &dyn Matter);
        let rigids = self.rigids.iter().map(|(_, r)| r as &dyn Matter);
        let softs = self.softs.iter().map(|(_, s)| s as &dyn Matter);
        fluids.chain(solids).chain(rigids).chain(softs)
    }

    /// Simulated time in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps and sub-steps made.
    pub fn steps(&self) -> (u64, u64) {
        (self.steps, self.substeps)
    }

    /// Wall time per stage since the world was made.
    pub fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Contacts of the last sub-step.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Mean force on an obstacle during the last step, in N; zero for a stale handle.
    pub fn force_on(&self, obstacle: Handle<Obstacle>) -> Vec3 {
        let alive = self.obstacle(obstacle).is_some();
        self.mean_force(Some(obstacle.index()).filter(|_| alive))
    }

    /// The force on an obstacle in every sub-step of the last step, with the time at its
    /// end: what a tool feels. Nothing for a stale handle.
    pub fn forces_on(&self, obstacle: Handle<Obstacle>) -> Vec<(f64, Vec3)> {
        let alive = self.obstacle(obstacle).is_some();
        let mut before = (self.time - f64::from(self.last_step), Vec3::ZERO);
        let log = self.impulse_log.iter().filter(|_| alive);
        log.filter_map(|(time, impulse)| {
            let impulse = *impulse.get(obstacle.index())?;
            let force = (impulse - before.1) / (time - before.0) as f32;
            before = (*time, impulse);
            Some((*time, force))
        })
        .collect()
    }

    /// Mean force of the liquids on a deformable body during the last step, in N;
    /// zero for a stale handle.
    pub fn force_on_solid(&self, solid: Handle<Solid>) -> Vec3 {
        let alive = self.solid(solid).is_some();
        self.mean_force(self.skins.of_solid(solid.index()).filter(|_| alive))
    }

    /// Mean force of the liquids on a rigid body during the last step, in N; zero for a
    /// stale handle.
    pub fn force_on_rigid(&self, rigid: Handle<RigidBody>) -> Vec3 {
        let alive = self.rigid(rigid).is_some();
        self.mean_force(self.skins.of_rigid(rigid.index()).filter(|_| alive))
    }

    /// Mean force of the liquids on a soft body during the last step, in N; zero for a
    /// stale handle.
    pub fn force_on_soft(&self, soft: Handle<Soft>) -> Vec3 {
        let alive = self.soft(soft).is_some();
        self.mean_force(self.skins.of_soft(soft.index()).filter(|_| alive))
    }

    fn mean_force(&self, wall: Option<usize>) -> Vec3 {
        match wall.and_then(|w| self.obstacle_impulse.get(w)) {
            Some(impulse) if self.last_step > 0.0 => impulse.as_vec3() / self.last_step,
            _ => Vec3::ZERO,
        }
    }

    /// Particles taken away by sinks so far.
    pub fn removed(&self) -> u64 {
        self.removed
    }

    /// Number of points of all matter.
    pub fn point_count(&self) -> usize {
        self.matter().map(|m| m.points().position.len()).sum()
    }

    /// Mass, energies and momentum of all matter.
    pub fn totals(&self) -> Totals {
        self.matter()
            .map(|m| m.totals(self.gravity))
            .fold(Totals::default(), |a, b| a.plus(&b))
    }

    /// The box around all points of matter and all bounded obstacles.
    pub fn bounds(&self) -> Aabb {
        let mut bounds = Aabb::EMPTY;
        for m in self.matter() {
            bounds = bounds.union(&Aabb::of(m.points().position.iter()));
        }
        for o in self.obstacles() {
            if let Some(b) = o.bounds() {
                bounds = bounds.union(&b);
            }
        }
        bounds
    }

    /// Largest speed of any moving obstacle from now on, in m/s.
    pub(crate) fn fastest_wall(&self) -> f32 {
        if !self.obstacles().any(Obstacle::is_moving) {
            return 0.0;
        }
        let bounds = self.bounds();
        let speeds = self.obstacles().map(|o| o.top_speed(self.time, &bounds));
        speeds.fold(0.0, f32::max)
    }
}
