//! The step, phase by phase, in the order in which everything happens.
//!
//! ```text
//! emit and remove
//! sub-steps: neighbours -> walls -> density -> forces -> fields -> integrate -> bodies
//!            -> pressure -> contacts -> soft bodies
//! ```
//!
//! What observers watch is noted before and after the contacts, where matter moves.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::contact::Contact;
use crate::crew::{Spread, with_crew};
use crate::fluid::{Goal, LEAST, Motion, NewParticle, StepBound, StepLimit, Throat};
use crate::leaks::sides;
use crate::observe::Stage;
use crate::soft::{Surroundings, bound_stride, collide};
use crate::solid::Environment;
use crate::step_outcome::{StepError, StepReport, diverged, remedy};
use crate::world::World;

/// No body of this engine moves that fast in m/s: it has run away.
pub(crate) const RUNAWAY: f32 = 1e5;
/// The motion of bodies is part of the pressure solve, not only of its setting: they may come
/// as much nearer to particles in a sub-step than obstacles go as this is below 1.
const FORESEEN: f32 = 0.4;
/// The same for their motion through empty space: beyond this they would not be seen before
/// they are in the liquid.
const UNSEEN: f32 = 0.2;

impl World {
    /// Moves everything by `dt` seconds, in as many sub-steps as stability asks for.
    pub fn step(&mut self, dt: f32) -> Result<StepReport, StepError> {
        self.step_while(dt, |_| true)
    }

    /// The same, but between sub-steps `go_on` sees the world, and ends the step where it is by
    /// being false: a world that is slower than real time can so be shown while it moves, and
    /// what a user does takes effect at once. A step that is not ended early is that of
    /// [`World::step`] to the bit.
    ///
    /// ```
    /// # use pliant::World;
    /// let mut world = World::new();
    /// world.step_while(1.0 / 60.0, |world| world.time() < 0.01)?;
    /// # Ok::<(), pliant::StepError>(())
    /// ```
    pub fn step_while(
        &mut self,
        dt: f32,
        mut go_on: impl FnMut(&World) -> bool + Send,
    ) -> Result<StepReport, StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::BadStep { dt });
        }
        self.settings.check()?;
        with_crew(|| self.advance(dt, &mut go_on))
    }

    fn advance(
        &mut self,
        dt: f32,
        go_on: &mut dyn FnMut(&World) -> bool,
    ) -> Result<StepReport, StepError> {
        self.prepare();
        self.obstacle_impulse.clear();
        self.impulse_log.clear();
        let walls = self.walls().iter().map(|(i, _)| i + 1).max().unwrap_or(0);
        self.obstacle_impulse.resize(walls, DVec3::ZERO);
        self.last_step = dt;
        self.open_books();
        self.observe_start(dt);
        let start = self.time;
        let mut report = StepReport {
            length: dt,
            substeps: 0,
            smallest_dt: dt,
            limit: StepLimit::Frame,
            max_speed: 0.0,
            emitted: 0,
            removed: 0,
            iterations: 0,
            density_error: 0.0,
        };
        let mut left = dt;
        while left > 0.0 {
            let bound = self.bound()?;
            let parts = (f64::from(left) / f64::from(bound.dt)).ceil().max(1.0);
            if parts + f64::from(report.substeps) > f64::from(self.settings.max_substeps) {
                return Err(StepError::TooManySubsteps {
                    step: self.steps,
                    needed: parts as u64,
                    most: self.settings.max_substeps,
                    dt: bound.dt,
                    limit: bound.limit,
                    remedy: remedy(bound.limit),
                });
            }
            let sub_dt = if parts == 1.0 {
                left
            } else {
                (f64::from(left) / parts) as f32
            };
            // Sub-steps are rounded; frames are not.
            let end = if parts == 1.0 {
                start + f64::from(dt)
            } else {
                self.time + f64::from(sub_dt)
            };
            for (_, obstacle) in self.obstacles.iter_mut() {
                obstacle.begin_substep(self.time, end);
            }
            self.substep(sub_dt, bound.limit, &mut report)?;
            left = if parts == 1.0 { 0.0 } else { left - sub_dt };
            report.substeps += 1;
            if sub_dt < report.smallest_dt {
                report.smallest_dt = sub_dt;
                report.limit = bound.limit;
            }
            report.max_speed = report.max_speed.max(self.max_speed);
            self.time = end;
            let impulses = self.obstacle_impulse.iter().map(|j| j.as_vec3());
            self.impulse_log.push((end, impulses.collect()));
            if left > 0.0 && !go_on(self) {
                report.length = (end - start) as f32;
                self.shorten_step(report.length);
                break;
            }
        }
        let mut timers = self.timers;
        timers.time(Stage::Observe, || {
            self.look_at_walls();
            self.close_books();
        });
        self.timers = timers;
        self.steps += 1;
        Ok(report)
    }

    /// The step ends early: what is measured per second of it must know.
    fn shorten_step(&mut self, length: f32) {
        self.last_step = length;
        self.observe_length(length);
    }

    /// What must be known before the first sub-step.
    fn prepare(&mut self) {
        self.refresh_skins();
        self.refresh_sides();
        let reaches = self.fluids.iter().map(|(_, f)| f.wall_reach());
        let largest = reaches.fold(0.0, f32::max);
        let has_softs = self.softs.iter().next().is_some();
        for (_, obstacle) in self.obstacles.iter_mut() {
            obstacle.prepare_walls(largest);
            for (_, fluid) in self.fluids.iter() {
                if let Some(reach) = fluid.map_reach() {
                    obstacle.prepare_map(reach);
                }
            }
            if has_softs {
                obstacle.prepare_touch();
            }
        }
        self.wall_speed = self.fastest_wall();
        let gravity = self.gravity.length();
        if self.fluids.iter().all(|(_, f)| f.sound_speed() > 0.0) {
            let fluids = self.fluids.iter_mut();
            fluids.for_each(|(_, f)| f.choose_noise_speed(gravity));
            return;
        }
        let bounds = self.bounds();
        let height =
            bounds.size().max(Vec3::ZERO).dot(self.gravity.abs()) / self.gravity.length().max(1e-9);
        let fall = (2.0 * self.gravity.length() * height).sqrt();
        let jets = self.nozzles.iter().map(|(_, n)| n.emitter.speed);
        let speed = fall.max(self.max_speed).max(self.wall_speed);
        let fastest = jets.fold(speed, f32::max);
        for (_, fluid) in self.fluids.iter_mut() {
            fluid.choose_sound_speed((10.0 * fastest).max(1.0));
            fluid.choose_noise_speed(gravity);
        }
    }

    /// The sub-step that the matter allows now.
    fn bound(&mut self) -> Result<StepBound, StepError> {
        let acceleration = self.max_acceleration.max(self.gravity.length());
        let mut bound = StepBound {
            dt: f32::INFINITY,
            limit: StepLimit::Frame,
        };
        for (_, fluid) in self.fluids.iter().filter(|(_, f)| !f.is_empty()) {
            let mut b = fluid.step_bound(self.settings.cfl, self.max_speed, acceleration);
            let fastest = self.fastest_body();
            let bodies = (FORESEEN * self.closing_speed.min(fastest)).max(UNSEEN * fastest);
            let walls = fluid.wall_bound(self.wall_speed.max(bodies));
            if walls.dt < b.dt {
                b = walls;
            }
            if let Some(fixed) = self.settings.fixed {
                // What holds at rest decides: speed and acceleration may exceed it shortly.
                let mut rest = fluid.step_bound(1.0, 0.0, self.gravity.length());
                let gravity = self.gravity.length();
                let mut allowed = fluid.step_bound(self.settings.cfl, 0.0, gravity).dt;
                if walls.dt < rest.dt {
                    rest = walls;
                    allowed = allowed.min(walls.dt);
                }
                if fixed > rest.dt {
                    return Err(StepError::FixedTooLarge {
                        fluid: fluid.settings().name.clone(),
                        fixed,
                        allowed,
                        limit: rest.limit,
                        remedy: remedy(rest.limit),
                    });
                }
            }
            if b.dt < bound.dt {
                bound = b;
            }
        }
        for (_, solid) in self.solids.iter() {
            let own = solid.step_length();
            let taken = self.settings.fixed.unwrap_or(own.min(bound.dt));
            if let Some(stable) = solid.stable_step()
                && taken > stable.seconds
            {
                return Err(StepError::SolidTooFast {
                    solid: solid.settings().name.clone(),
                    step: taken,
                    allowed: stable.seconds,
                    stiffest: stable.stiffest,
                    point: stable.point,
                });
            }
            if own < bound.dt {
                bound = StepBound {
                    dt: own,
                    limit: StepLimit::Solid,
                };
            }
        }
        let meeting = self.meetings.bound(self.solids.iter(), bound.dt);
        if meeting < bound.dt {
            bound = StepBound {
                dt: meeting,
                limit: StepLimit::Meeting,
            };
        }
        for (_, soft) in self.softs.iter() {
            let own = soft.settings().step;
            if own < bound.dt {
                bound = StepBound {
                    dt: own,
                    limit: StepLimit::Solid,
                };
            }
        }
        let walls = self.obstacles.iter().next().is_some();
        let stride = bound_stride(self.softs(), walls, bound.dt);
        if stride < bound.dt {
            bound = StepBound {
                dt: stride,
                limit: StepLimit::Meeting,
            };
        }
        Ok(match self.settings.fixed {
            Some(dt) => StepBound {
                dt,
                limit: StepLimit::Fixed,
            },
            None => bound,
        })
    }

    fn substep(
        &mut self,
        dt: f32,
        limit: StepLimit,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let mut timers = self.timers;
        timers.time(Stage::Emit, || {
            let booked = self.has_bodies() && self.has_flow();
            let before = booked.then(|| self.coupled_momentum());
            self.emit_and_remove(report);
            if let Some(before) = before {
                self.exchange.inflow += self.coupled_momentum() - before;
            }
        });
        timers.time(Stage::Neighbours, || {
            self.fluids.iter_mut().for_each(|(_, f)| f.sort());
        });
        let mut bodies = self.begin_bodies(dt);
        timers.time(Stage::Walls, || {
            let boundary = self.acts_by_boundary();
            let skins = self.skins.iter().filter(|_| !boundary);
            let walls: Vec<_> = self.obstacles.iter().chain(skins).collect();
            let fluids = self.fluids.iter_mut();
            fluids.for_each(|(_, f)| f.find_walls(&walls));
        });
        timers.time(Stage::Density, || {
            let open = self.open_throats();
            for (index, fluid) in self.fluids.iter_mut() {
                let throats = throats_of(&open, index);
                fluid.compute_density(|p| throats.iter().any(|t| t.holds(p)), &bodies);
            }
        });
        timers.time(Stage::Divergence, || {
            self.fluids
                .iter_mut()
                .for_each(|(_, f)| f.solve_pressure(Goal::Divergence, dt, &mut bodies));
        });
        timers.time(Stage::Forces, || {
            let walls: Vec<_> = self.obstacles.iter().chain(self.skins.iter()).collect();
            let kick = 0.5 * (self.previous_dt + dt);
            for (_, fluid) in self.fluids.iter_mut() {
                fluid.compute_forces(&walls);
                fluid.attract_bodies(kick, &mut bodies);
            }
            self.act_by_boundary(kick, &mut bodies);
        });
        timers.time(Stage::Fields, || {
            self.book_outside(0.5 * (self.previous_dt + dt), dt);
            self.apply_fields();
        });
        let outcome = timers.time(Stage::Integrate, || self.kick(dt, limit));
        timers.time(Stage::Viscosity, || {
            for (_, fluid) in self.fluids.iter_mut() {
                fluid.solve_viscosity(dt);
                fluid.drag_bodies(dt, &mut bodies);
            }
        });
        self.contacts.clear();
        let solids = timers.time(Stage::Solids, || {
            bodies.wait();
            let fluids = self.fluids.iter_mut();
            fluids.for_each(|(_, f)| f.push_bodies(dt, &mut bodies));
            self.obstacles.iter_mut().for_each(|(_, o)| o.advance());
            self.predict_bodies(&mut bodies, dt)
        });
        timers.time(Stage::Pressure, || {
            self.fluids
                .iter_mut()
                .for_each(|(_, f)| f.solve_pressure(Goal::Density, dt, &mut bodies));
        });
        for (_, fluid) in self.fluids.iter() {
            let [divergence, density] = fluid.solved();
            report.iterations += divergence.iterations + density.iterations;
            report.density_error = report.density_error.max(density.error);
        }
        timers.time(Stage::Observe, || self.observe_places());
        let arrived = timers.time(Stage::Solids, || self.arrive_bodies(&mut bodies, dt));
        timers.time(Stage::Contacts, || {
            self.drift(dt, &mut bodies);
            self.lead_out_of_splinters();
            self.end_bodies(&bodies, dt);
        });
        let softs = timers.time(Stage::Softs, || self.advance_softs(dt));
        self.obstacles.iter_mut().for_each(|(_, o)| o.end_substep());
        timers.time(Stage::Observe, || {
            self.book_held();
            self.observe_motion(dt);
        });
        self.timers = timers;
        self.previous_dt = dt;
        self.substeps += 1;
        outcome.and(solids).and(arrived).and(softs)
    }

    /// Emitters make particles and sinks take them away.
    fn emit_and_remove(&mut self, report: &mut StepReport) {
        let mut fresh: Vec<NewParticle> = Vec::new();
        for (_, nozzle) in self.nozzles.iter_mut() {
            let Some(fluid) = self.fluids.get_mut(nozzle.fluid) else {
                continue;
            };
            let settings = fluid.settings();
            let room = settings.max_particles.saturating_sub(fluid.len());
            fresh.clear();
            nozzle
                .emitter
                .emit(self.time, settings.spacing, room, &mut fresh);
            if !fresh.is_empty() {
                fluid.add(&fresh, nozzle.emitter.content, |p| {
                    sides(&self.obstacles, &self.skins, p)
                });
                report.emitted += fresh.len();
            }
        }
        for (_, sink) in self.sinks.iter() {
            for (_, fluid) in self.fluids.iter_mut() {
                let removed = fluid.remove_where(|p| sink.region.contains(p));
                report.removed += removed;
                self.removed += removed as u64;
            }
        }
    }

    /// The nozzles that are open, with the index of the liquid in each.
    pub(crate) fn open_throats(&self) -> Vec<(usize, Throat)> {
        self.nozzles
            .iter()
            .filter_map(|(_, n)| {
                let fluid = self.fluids.get(n.fluid)?;
                let (spacing, support) = (fluid.settings().spacing, fluid.support_radius());
                let throat = n.emitter.throat(self.time, spacing, support)?;
                Some((n.fluid.index(), throat))
            })
            .collect()
    }

    /// Adds gravity and all fields to the accelerations; liquid that has not left
    /// its nozzle yet moves with that.
    fn apply_fields(&mut self) {
        let gravity = self.gravity;
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        let open = self.open_throats();
        for (index, fluid) in self.fluids.iter_mut() {
            let throats = throats_of(&open, index);
            let Motion {
                position: [x, y, z],
                velocity: [vx, vy, vz],
                acceleration: [ax, ay, az],
                ..
            } = fluid.motion_mut();
            (ax, ay, az, x, y, z, vx, vy, vz)
                .into_par_iter()
                .with_min_len(LEAST)
                .spread(|(ax, ay, az, x, y, z, vx, vy, vz)| {
                    let mut a = gravity;
                    for field in &fields {
                        a += field.acceleration(Vec3::new(*x, *y, *z), Vec3::new(*vx, *vy, *vz));
                    }
                    *ax += a.x;
                    *ay += a.y;
                    *az += a.z;
                    if let Some(t) = throats.iter().find(|t| t.holds(Vec3::new(*x, *y, *z))) {
                        [*vx, *vy, *vz] = t.velocity.to_array();
                        [*ax, *ay, *az] = [0.0; 3];
                    }
                });
        }
    }

    /// Leap-frog (Grahn 2008, 7.1): velocities go from the middle of the last
    /// sub-step to the middle of this one. Fails if a particle runs away.
    fn kick(&mut self, dt: f32, limit: StepLimit) -> Result<(), StepError> {
        let kick = 0.5 * (self.previous_dt + dt);
        self.max_speed = 0.0;
        self.max_acceleration = 0.0;
        for (_, fluid) in self.fluids.iter_mut() {
            fluid.expect_kick(kick / dt);
            let sound_speed = fluid.sound_speed();
            let Motion {
                velocity: [vx, vy, vz],
                acceleration: [ax, ay, az],
                ..
            } = fluid.motion_mut();
            // Largest squared speed and acceleration; a NaN makes them infinite.
            let (v2, a2) = (vx, vy, vz, ax, ay, az)
                .into_par_iter()
                .with_min_len(4096)
                .map(|(vx, vy, vz, ax, ay, az)| {
                    *vx += kick * *ax;
                    *vy += kick * *ay;
                    *vz += kick * *az;
                    let v2 = *vx * *vx + *vy * *vy + *vz * *vz;
                    let a2 = *ax * *ax + *ay * *ay + *az * *az;
                    (
                        if v2.is_nan() { f32::INFINITY } else { v2 },
                        if a2.is_nan() { f32::INFINITY } else { a2 },
                    )
                })
                .reduce(|| (0.0, 0.0), |a, b| (a.0.max(b.0), a.1.max(b.1)));
            // A NaN has become infinite above.
            if v2.sqrt() >= 100.0 * sound_speed && !fluid.is_empty() {
                return Err(diverged(fluid, self.steps, self.time, dt, limit));
            }
            self.max_speed = self.max_speed.max(v2.sqrt());
            // What an incompressible liquid feels of its own cohesion, its pressure
            // takes away again.
            if !fluid.is_incompressible() {
                self.max_acceleration = self.max_acceleration.max(a2.sqrt());
            }
        }
        Ok(())
    }

    /// Finds the velocities of every deformable body and where they lead. Fails if one
    /// runs away.
    pub(crate) fn advance_solids(&mut self, dt: f32) -> Result<(), StepError> {
        let first = self.contacts.len();
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        let around = Environment::numbered(self.gravity, &fields, self.obstacles.iter());
        let fluids = self.fluids.iter().count();
        let mut solids: Vec<_> = self.solids.iter_mut().collect();
        for (_, solid) in &mut solids {
            solid.begin(dt, &around);
        }
        let end = self.time + f64::from(dt);
        for (_, grab) in self.grabs.iter_mut() {
            if let Some((_, solid)) = solids.iter_mut().find(|(i, _)| *i == grab.solid().index()) {
                grab.pull(solid, dt, end);
            }
        }
        self.meetings.solve(&mut solids, dt);
        for (index, solid) in solids {
            let contacts = solid.end((fluids + index) as u32, dt, &around);
            self.contacts.extend(contacts);
            if let Some((point, speed)) = solid.runaway(RUNAWAY) {
                return Err(StepError::SolidDiverged {
                    step: self.steps,
                    time: self.time,
                    solid: solid.settings().name.clone(),
                    point,
                    speed,
                    dt,
                });
            }
        }
        for (_, grab) in self.grabs.iter_mut() {
            if let Some(solid) = self.solids.get(grab.solid()) {
                grab.read(solid, end);
            }
        }
        self.push_obstacles(first);
        Ok(())
    }

    /// Moves every soft body in a world without liquids, then lets them touch each other.
    /// Fails if one runs away.
    fn advance_softs(&mut self, dt: f32) -> Result<(), StepError> {
        if self.softs.iter().next().is_none() || self.softs_meet_liquids() {
            return Ok(());
        }
        let first = self.contacts.len();
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        let around = Surroundings::numbered(self.gravity, &fields, self.obstacles.iter());
        let others = self.first_soft();
        let mut bodies: Vec<_> = self.softs.iter_mut().map(|(_, s)| s).collect();
        let advanced: Vec<_> = bodies.par_iter_mut().enumerate().spread_map(|(k, soft)| {
            let contacts = soft.advance_as(others + k as u32, dt, &around);
            (contacts, soft.runaway(RUNAWAY, dt))
        });
        // Before they meet: what is torn about meets everything.
        for (soft, (contacts, wrong)) in bodies.iter().zip(advanced) {
            self.contacts.extend(contacts);
            if let Some((point, speed)) = wrong {
                return Err(StepError::SoftDiverged {
                    step: self.steps,
                    time: self.time,
                    soft: soft.settings().name.clone(),
                    point,
                    speed,
                    dt,
                });
            }
        }
        let moved = collide(&mut bodies, dt);
        let again: Vec<Vec<Contact>> = (&mut bodies, moved)
            .into_par_iter()
            .enumerate()
            .filter(|(_, (_, moved))| *moved)
            .map(|(k, (soft, _))| soft.pass_obstacles(others + k as u32, &around))
            .collect();
        self.contacts.extend(again.into_iter().flatten());
        self.push_obstacles(first);
        Ok(())
    }

    /// Gives obstacles the impulses of the contacts from number `first` on.
    pub(crate) fn push_obstacles(&mut self, first: usize) {
        for contact in &self.contacts[first..] {
            self.obstacle_impulse[contact.obstacle as usize] -= contact.impulse.as_dvec3();
        }
    }
}

/// The open nozzles of one liquid.
fn throats_of(open: &[(usize, Throat)], fluid: usize) -> Vec<Throat> {
    let own = open.iter().filter(|(i, _)| *i == fluid);
    own.map(|&(_, t)| t).collect()
}
