//! What a liquid does in a sub-step, stage by stage; `step.rs` calls them in order.

use glam::{DVec3, Vec3, Vec3A};
use rayon::prelude::*;

use super::LEAST;
use super::incompressible::Goal;
use super::sph;
use super::state::{Fluid, head};
use super::tension::Wetting;
use super::walls::{Mirror, Reach};
use crate::contact::Obstacle;
use crate::coupling::Bodies;
use crate::crew::Spread;
use crate::space::CellGrid;

impl Fluid {
    /// How far a particle looks for walls. In the weakly compressible model none comes
    /// nearer to a wall than half a spacing, so none further away than this sees an
    /// image; an incompressible liquid also feels the wall's grip and attraction, which
    /// vanish at the support radius.
    pub(crate) fn wall_reach(&self) -> f32 {
        if self.is_incompressible() {
            return 0.95 * self.kernels.support_radius;
        }
        self.kernels.support_radius - 0.5 * self.settings.spacing
    }

    /// No wall is nearer than this, in metres, to a particle for which none was found. Maps
    /// are splines over nodes a quarter of the kernel apart, and no distance changes faster
    /// than the way.
    pub(crate) fn free_distance(&self) -> f32 {
        self.wall_reach() - 0.25 * self.kernels.support_radius
    }

    /// Reach of the kernel that wants to know what is beyond the walls of containers.
    pub(crate) fn map_reach(&self) -> Option<f32> {
        self.is_incompressible()
            .then_some(self.kernels.support_radius)
    }

    /// Finds the walls around every particle. Needs [`Fluid::sort`].
    pub(crate) fn find_walls(&mut self, obstacles: &[(usize, &Obstacle)]) {
        let reach = Reach {
            walls: self.wall_reach(),
            kernel: self.map_reach(),
        };
        let position = head(&self.position, self.count);
        self.walls
            .find(position, &self.side[..self.count], reach, obstacles);
    }

    /// Computes density and pressure of every particle. Needs [`Fluid::find_walls`].
    /// Particles for which `held` is true move as they do, whatever pushes them.
    pub(crate) fn compute_density(&mut self, held: impl Fn(Vec3) -> bool + Sync, bodies: &Bodies) {
        let Some(solver) = &mut self.solver else {
            sph::density(self);
            return;
        };
        let n = self.count;
        let volume = self.settings.spacing.powi(3);
        let position = head(&self.position, n);
        self.inverse_density[..n]
            .par_iter_mut()
            .with_min_len(LEAST)
            .enumerate()
            .spread(|(i, inverse)| {
                *inverse = if held(position.get(i)) {
                    0.0
                } else {
                    self.inverse_mass[i] * volume
                };
            });
        solver.prepare(
            &self.grid,
            self.position.view(),
            n,
            &self.walls,
            &self.inverse_density[..n],
            bodies,
        );
        (
            &mut self.density[..n],
            &mut self.velocity.x[..n],
            &self.inverse_mass[..n],
            &solver.fullness[..n],
        )
            .into_par_iter()
            .with_min_len(LEAST)
            .spread(|(density, velocity, inverse_mass, fullness)| {
                *density = 1.0 / (inverse_mass * volume) * fullness;
                // A particle that does not even see itself is nowhere.
                if *fullness <= 0.0 {
                    *velocity = f32::NAN;
                }
            });
    }

    /// Slows an incompressible liquid down by its viscosity and spreads what it
    /// carries.
    pub(crate) fn solve_viscosity(&mut self, dt: f32) {
        let n = self.count;
        let extra: Vec<f32> = self
            .liquids
            .iter()
            .map(|l| self.numerical_viscosity(&l.material))
            .collect();
        let Some(solver) = &mut self.solver else {
            return;
        };
        solver.load_velocities(head(&self.velocity, n));
        if self.settings.vorticity > 0.0 {
            solver.confine_vorticity(dt, self.settings.vorticity);
        }
        self.viscosity.resize(n, 0.0);
        solver.find_viscosity(
            &self.liquids,
            &self.liquid,
            &extra,
            &self.walls,
            &mut self.viscosity,
        );
        let solved = solver.diffuse(
            dt,
            &self.viscosity,
            &self.inverse_density[..n],
            &self.pressure[..n],
            &mut self.walls,
        );
        self.viscous_iterations = solved.iterations;
        solver.store_velocities(&mut self.velocity);
        if self.liquids.iter().any(|l| l.diffusivity > 0.0) {
            solver.spread(
                dt,
                &self.liquids,
                &self.liquid,
                &mut self.concentration[..n],
                &mut self.scratch[..n],
            );
        }
    }

    /// Takes compression out of the velocities, or keeps the density where the
    /// sub-step ends. Needs [`Fluid::compute_density`]. Bodies give way; for the
    /// density they have had [`Fluid::push_bodies`].
    pub(crate) fn solve_pressure(&mut self, goal: Goal, dt: f32, bodies: &mut Bodies) {
        let Some(solver) = &mut self.solver else {
            return;
        };
        let n = self.count;
        solver.load_velocities(head(&self.velocity, n));
        let pressure = match goal {
            Goal::Density => &mut self.pressure[..n],
            Goal::Divergence => &mut self.impulse[..n],
        };
        self.solved[goal as usize] = solver.solve(
            goal,
            dt,
            &self.inverse_density[..n],
            pressure,
            &self.settings.tolerances,
            bodies,
        );
        // Velocities that were free of divergence are what they were.
        if goal == Goal::Divergence && self.solved[goal as usize].iterations == 0 {
            return;
        }
        solver.book_pressure(dt, pressure, &self.walls);
        if goal == Goal::Density {
            let inverse_density = &self.inverse_density[..n];
            self.viscosity.resize(n, 0.0);
            let held = (&self.pressure[..n], &self.viscosity[..]);
            solver.restore(dt, held, inverse_density, &mut self.walls, bodies);
        }
        solver.store_velocities(&mut self.velocity);
        if goal == Goal::Density {
            let (impulse, pressure) = (&self.impulse, &self.pressure);
            let both = |i: usize| impulse[i] + pressure[i];
            solver.note_pushes(&mut self.walls, both, &self.inverse_density);
        }
    }

    /// Takes the impulses that nozzles have given to liquid that they hold, in N s, and
    /// that are not booked yet.
    pub(crate) fn take_held(&mut self) -> DVec3 {
        let solver = self.solver.as_mut();
        solver.map_or(DVec3::ZERO, |s| s.held.take())
    }

    /// Acceleration of particle `i` by the forces of [`Fluid::compute_forces`], in m/s².
    pub(crate) fn force_acceleration(&self, i: usize) -> Vec3 {
        self.acceleration.get(i)
    }

    /// Gives bodies what pressure is expected to do to them in this sub-step: the same
    /// as in the last. The pressure solve then only has to give the difference, and a
    /// stiff body at rest under a resting liquid stays so.
    pub(crate) fn push_bodies(&mut self, dt: f32, bodies: &mut Bodies) {
        let n = self.count;
        if let Some(solver) = &mut self.solver {
            let pressure = &self.pressure[..n];
            solver.push_bodies(dt, &self.inverse_density[..n], pressure, bodies);
        }
    }

    /// Gives bodies the reaction to their attraction of an incompressible liquid, which
    /// acts for `time` seconds. Needs [`Fluid::compute_forces`].
    pub(crate) fn attract_bodies(&self, time: f32, bodies: &mut Bodies) {
        self.pass_on(bodies, |mirror| time * mirror.push * mirror.wall.normal);
    }

    /// Gives bodies the reaction to their grip on an incompressible liquid. Needs
    /// [`Fluid::solve_viscosity`].
    pub(crate) fn drag_bodies(&self, dt: f32, bodies: &mut Bodies) {
        self.pass_on(bodies, |mirror| dt * mirror.drag);
    }

    fn pass_on(&self, bodies: &mut Bodies, change: impl Fn(&Mirror) -> Vec3) {
        if let Some(solver) = &self.solver {
            let mass = |i: usize| 1.0 / self.inverse_mass[i];
            solver.yielding.pass_on(&self.walls, bodies, |i, mirror| {
                Vec3A::from(mass(i) * change(mirror))
            });
        }
    }

    /// Where particles are by cells, since [`Fluid::sort`].
    pub(crate) fn grid(&self) -> &CellGrid {
        &self.grid
    }

    /// Adds forces in N on single particles to the accelerations.
    pub(crate) fn accelerate(&mut self, forces: &[(u32, Vec3A)]) {
        for &(particle, force) in forces {
            let i = particle as usize;
            let more = self.inverse_mass[i] * Vec3::from(force);
            self.acceleration.set(i, self.acceleration.get(i) + more);
        }
    }

    /// Computes the accelerations by pressure, viscosity and surface tension.
    /// Needs [`Fluid::compute_density`].
    pub(crate) fn compute_forces(&mut self, obstacles: &[(usize, &Obstacle)]) {
        let Some(solver) = &mut self.solver else {
            sph::forces(self);
            return;
        };
        let n = self.count;
        let acceleration = [
            &mut self.acceleration.x[..n],
            &mut self.acceleration.y[..n],
            &mut self.acceleration.z[..n],
        ];
        let [ax, ay, az] = acceleration;
        for a in [&mut *ax, &mut *ay, &mut *az] {
            a.fill(0.0);
        }
        if self.tensions.any {
            let last = obstacles.iter().map(|(i, _)| i + 1).max().unwrap_or(0);
            let mut wetting = vec![Wetting::default(); last];
            for (i, obstacle) in obstacles {
                wetting[*i] = Wetting::of(obstacle.contact_angle);
            }
            solver.attract(
                &self.tensions,
                &self.liquid,
                &self.inverse_mass[..n],
                &mut self.walls,
                &wetting,
                [ax, ay, az],
            );
        }
    }
}
