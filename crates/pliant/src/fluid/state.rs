//! The arrays of one liquid.

use std::sync::OnceLock;

use glam::Vec3;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::kernels::Kernels;
use super::material::Material;
use super::sph;
use super::walls::Walls;
use crate::contact::Obstacle;
use crate::math::{Xyz, XyzVec};
use crate::observe::{CheckpointError, Decoder, Encoder};
use crate::simd::WIDTH;
use crate::space::{CellGrid, NeighbourSearch};

/// The kernel that density is summed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DensityKernel {
    /// The kernel whose gradient gives the pressure force: forces then follow from
    /// an energy, and a liquid at rest stays at rest.
    #[default]
    Spiky,
    /// Poly6, as Grahn 2008 and Müller et al. 2003 have it: density and force do not
    /// fit together, which keeps a resting liquid simmering.
    Poly6,
}

/// Parameters of a liquid that stay the same while it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidSettings {
    /// Name in reports and files.
    pub name: String,
    /// Density, viscosity and surface tension.
    pub material: Material,
    /// Distance between neighbouring particles at rest, in metres.
    pub spacing: f32,
    /// Support radius of the kernels in units of `spacing`; 2 gives about 33 neighbours.
    pub support: f32,
    /// Speed of sound in m/s, the liquid's stiffness: density varies by about
    /// (v / sound_speed)². `None` takes ten times the speed of a fall through the
    /// world's height.
    pub sound_speed: Option<f32>,
    /// The kernel that density is summed with.
    pub density_kernel: DensityKernel,
    /// Extra viscosity that calms particle noise, as the α of Monaghan 1992:
    /// adds α ρ h c / 10 to the dynamic viscosity. 0 for none.
    pub numerical_viscosity: f32,
    /// Let pressure go below zero where the liquid is thinned out, as Grahn 2008
    /// (3.13) literally has it; particles then clump. Off by default.
    pub negative_pressure: bool,
    /// Emitters stop at this number of particles.
    pub max_particles: usize,
}

impl FluidSettings {
    /// The usual parameters for a liquid of `material` with particles `spacing` apart.
    pub fn new(material: Material, spacing: f32) -> FluidSettings {
        FluidSettings {
            name: "fluid".into(),
            material,
            spacing,
            support: 2.0,
            sound_speed: None,
            density_kernel: DensityKernel::default(),
            numerical_viscosity: 0.05,
            negative_pressure: false,
            max_particles: 10_000_000,
        }
    }

    /// Checks that the liquid can exist.
    pub fn check(&self) -> Result<(), SettingsError> {
        let error = |key, value: f32, right| {
            Err(SettingsError {
                key,
                value: value.to_string(),
                right,
            })
        };
        if let Some((key, value)) = self.material.nonsense() {
            return error(
                key,
                value,
                "a finite number, not negative (density: above 0)",
            );
        }
        if !(self.spacing.is_finite() && self.spacing > 0.0) {
            return error(
                "spacing",
                self.spacing,
                "a length above 0, such as 0.01 (metres)",
            );
        }
        if !(1.2..=4.0).contains(&self.support) {
            return error("support", self.support, "between 1.2 and 4 spacings");
        }
        if let Some(c) = self.sound_speed
            && !(c.is_finite() && c > 0.0)
        {
            return error("sound_speed", c, "a speed above 0, such as 20 (m/s)");
        }
        if !(self.numerical_viscosity.is_finite() && self.numerical_viscosity >= 0.0) {
            return error(
                "numerical_viscosity",
                self.numerical_viscosity,
                "0 or a small number such as 0.05",
            );
        }
        Ok(())
    }
}

/// A parameter that no liquid can have.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("`{key}` is {value}, but must be {right}")]
pub struct SettingsError {
    /// Name of the parameter.
    pub key: &'static str,
    /// What was given.
    pub value: String,
    /// What would be right.
    pub right: &'static str,
}

/// A particle to be added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewParticle {
    /// Position in metres.
    pub position: Vec3,
    /// Velocity in m/s.
    pub velocity: Vec3,
}

/// One liquid: particles of equal mass in flat arrays, kept sorted by cell.
///
/// Arrays that the hot loops read are longer than the particle count by one
/// vector width, so that a load at the last particle stays in bounds.
#[derive(Clone, Debug)]
pub struct Fluid {
    settings: FluidSettings,
    pub(super) kernels: Kernels,
    sound_speed: f32,
    count: usize,
    pub(super) position: XyzVec,
    /// Velocities at half steps (leap-frog).
    pub(super) velocity: XyzVec,
    pub(super) acceleration: XyzVec,
    pub(super) density: Vec<f32>,
    pub(super) inverse_density: Vec<f32>,
    /// p / ρ², the particle's share of the symmetric pressure force.
    pub(super) pressure_term: Vec<f32>,
    pub(super) walls: Walls,
    id: Vec<u32>,
    /// Bit b is set if the particle was made inside closed obstacle b.
    side: Vec<u32>,
    next_id: u32,
    pub(super) grid: CellGrid,
    /// Finds particles where they are now; made when someone asks, and forgotten
    /// when they move.
    pub(super) index: OnceLock<CellGrid>,
    scratch: Vec<f32>,
    scratch_u32: Vec<u32>,
}

impl Fluid {
    /// An empty liquid.
    pub fn new(settings: FluidSettings) -> Result<Fluid, SettingsError> {
        settings.check()?;
        let kernels = Kernels::new(settings.support * settings.spacing);
        Ok(Fluid {
            kernels,
            sound_speed: settings.sound_speed.unwrap_or(0.0),
            settings,
            count: 0,
            position: XyzVec::default(),
            velocity: XyzVec::default(),
            acceleration: XyzVec::default(),
            density: Vec::new(),
            inverse_density: Vec::new(),
            pressure_term: Vec::new(),
            walls: Walls::default(),
            id: Vec::new(),
            side: Vec::new(),
            next_id: 0,
            grid: CellGrid::default(),
            index: OnceLock::new(),
            scratch: Vec::new(),
            scratch_u32: Vec::new(),
        })
    }

    /// The parameters it was made with.
    pub fn settings(&self) -> &FluidSettings {
        &self.settings
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are no particles.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Mass of every particle in kg: the liquid's density times spacing³.
    pub fn particle_mass(&self) -> f32 {
        self.settings.material.density * self.settings.spacing.powi(3)
    }

    /// Radius with which a particle touches walls: half the spacing.
    pub fn particle_radius(&self) -> f32 {
        0.5 * self.settings.spacing
    }

    /// Support radius of the kernels in metres.
    pub fn support_radius(&self) -> f32 {
        self.kernels.support_radius
    }

    /// Speed of sound in m/s; 0 until it is chosen at the first step.
    pub fn sound_speed(&self) -> f32 {
        self.sound_speed
    }

    pub(crate) fn choose_sound_speed(&mut self, c: f32) {
        if self.sound_speed <= 0.0 {
            self.sound_speed = c;
        }
    }

    /// The viscosity used, physical and numerical, in Pa·s.
    pub fn effective_viscosity(&self) -> f32 {
        let s = &self.settings;
        s.material.viscosity
            + s.numerical_viscosity * s.material.density * self.support_radius() * self.sound_speed
                / 10.0
    }

    /// Particle positions in metres, in memory order.
    pub fn positions(&self) -> Xyz<'_> {
        head(&self.position, self.count)
    }

    /// Particle velocities in m/s (half a sub-step behind the positions).
    pub fn velocities(&self) -> Xyz<'_> {
        head(&self.velocity, self.count)
    }

    /// Densities in kg/m³ as of the last sub-step.
    pub fn densities(&self) -> &[f32] {
        &self.density[..self.count]
    }

    /// Pressures in Pa as of the last sub-step.
    pub fn pressures(&self) -> impl Iterator<Item = f32> + '_ {
        (0..self.count).map(|i| self.pressure_term[i] * self.density[i] * self.density[i])
    }

    /// Names of the particles: given once, kept however memory is re-ordered.
    pub fn ids(&self) -> &[u32] {
        &self.id[..self.count]
    }

    pub(crate) fn sides(&self) -> &[u32] {
        &self.side[..self.count]
    }

    pub(crate) fn sides_mut(&mut self) -> &mut [u32] {
        &mut self.side[..self.count]
    }

    /// The arrays that integration and contact change.
    pub(crate) fn motion_mut(&mut self) -> Motion<'_> {
        self.index.take();
        let n = self.count;
        Motion {
            position: [
                &mut self.position.x[..n],
                &mut self.position.y[..n],
                &mut self.position.z[..n],
            ],
            velocity: [
                &mut self.velocity.x[..n],
                &mut self.velocity.y[..n],
                &mut self.velocity.z[..n],
            ],
            acceleration: [
                &mut self.acceleration.x[..n],
                &mut self.acceleration.y[..n],
                &mut self.acceleration.z[..n],
            ],
            id: &self.id[..n],
            walls: &self.walls,
        }
    }

    /// Adds particles; `side` says in which closed obstacles each one lies.
    pub(crate) fn add(&mut self, particles: &[NewParticle], side: impl Fn(Vec3) -> u32) {
        let first = self.count;
        self.resize(first + particles.len());
        for (i, p) in particles.iter().enumerate() {
            self.position.set(first + i, p.position);
            self.velocity.set(first + i, p.velocity);
            self.density[first + i] = self.settings.material.density;
            self.inverse_density[first + i] = 1.0 / self.settings.material.density;
            self.id[first + i] = self.next_id;
            self.side[first + i] = side(p.position);
            self.next_id = self.next_id.wrapping_add(1);
        }
    }

    /// Removes the particles for which `gone` is true, keeping the order of the others.
    pub(crate) fn remove_where(&mut self, gone: impl Fn(Vec3) -> bool) -> usize {
        let mut kept = 0;
        for i in 0..self.count {
            if gone(self.position.get(i)) {
                continue;
            }
            if kept != i {
                for v in [
                    &mut self.position,
                    &mut self.velocity,
                    &mut self.acceleration,
                ] {
                    let moved = v.get(i);
                    v.set(kept, moved);
                }
                for a in [
                    &mut self.density,
                    &mut self.inverse_density,
                    &mut self.pressure_term,
                ] {
                    a[kept] = a[i];
                }
                self.id[kept] = self.id[i];
                self.side[kept] = self.side[i];
            }
            kept += 1;
        }
        let removed = self.count - kept;
        if removed > 0 {
            self.resize(kept);
        }
        removed
    }

    fn resize(&mut self, count: usize) {
        self.index.take();
        self.count = count;
        let padded = count + WIDTH;
        for v in [
            &mut self.position,
            &mut self.velocity,
            &mut self.acceleration,
        ] {
            v.resize(padded);
        }
        for a in [
            &mut self.density,
            &mut self.inverse_density,
            &mut self.pressure_term,
            &mut self.scratch,
        ] {
            a.resize(padded, 0.0);
        }
        self.id.resize(count, 0);
        self.side.resize(count, 0);
        self.scratch_u32.resize(count, 0);
    }

    /// Sorts the particles by cell and indexes them.
    pub(crate) fn sort(&mut self) {
        self.index.take();
        let n = self.count;
        self.grid
            .build(head(&self.position, n), self.kernels.support_radius);
        let order = self.grid.order();
        for array in [
            &mut self.position.x,
            &mut self.position.y,
            &mut self.position.z,
            &mut self.velocity.x,
            &mut self.velocity.y,
            &mut self.velocity.z,
        ] {
            gather(&mut self.scratch[..n], array, order);
            std::mem::swap(&mut self.scratch, array);
        }
        for array in [&mut self.id, &mut self.side] {
            gather(&mut self.scratch_u32, array, order);
            std::mem::swap(&mut self.scratch_u32, array);
        }
    }

    /// How far a particle looks for walls: none comes nearer to a wall than half a
    /// spacing, so none further away than this sees an image.
    pub(crate) fn wall_reach(&self) -> f32 {
        self.kernels.support_radius - 0.5 * self.settings.spacing
    }

    /// Finds the walls around every particle. Needs [`Fluid::sort`].
    pub(crate) fn find_walls(&mut self, obstacles: &[(usize, &Obstacle)]) {
        let reach = self.wall_reach();
        let position = head(&self.position, self.count);
        self.walls.find(position, reach, obstacles);
    }

    /// Computes density and pressure of every particle. Needs [`Fluid::find_walls`].
    pub(crate) fn compute_density(&mut self) {
        sph::density(self);
    }

    /// Computes the accelerations by pressure, viscosity and surface tension.
    /// Needs [`Fluid::compute_density`].
    pub(crate) fn compute_forces(&mut self) {
        sph::forces(self);
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let vectors = [&self.position, &self.velocity, &self.acceleration];
        let floats: usize = vectors
            .iter()
            .map(|v| v.x.capacity() + v.y.capacity() + v.z.capacity())
            .sum::<usize>()
            + self.density.capacity()
            + self.inverse_density.capacity()
            + self.pressure_term.capacity()
            + self.scratch.capacity();
        let words = self.id.capacity() + self.side.capacity() + self.scratch_u32.capacity();
        let index = self.index.get().map_or(0, CellGrid::bytes);
        4 * (floats + words) + self.grid.bytes() + index + self.walls.bytes()
    }

    /// Writes everything that changes while it runs.
    pub(crate) fn save(&self, out: &mut Encoder) {
        let n = self.count;
        out.u64(n as u64);
        out.u32(self.next_id);
        out.f32(self.sound_speed);
        for v in [&self.position, &self.velocity, &self.acceleration] {
            out.f32s(&v.x[..n]);
            out.f32s(&v.y[..n]);
            out.f32s(&v.z[..n]);
        }
        out.f32s(&self.density[..n]);
        out.f32s(&self.inverse_density[..n]);
        out.f32s(&self.pressure_term[..n]);
        out.u32s(&self.id[..n]);
        out.u32s(&self.side[..n]);
    }

    /// Reads what [`Fluid::save`] wrote.
    pub(crate) fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        let n = from.count(4)?;
        self.next_id = from.u32()?;
        self.sound_speed = from.f32()?;
        self.resize(n);
        for v in [
            &mut self.position,
            &mut self.velocity,
            &mut self.acceleration,
        ] {
            from.f32s(&mut v.x[..n])?;
            from.f32s(&mut v.y[..n])?;
            from.f32s(&mut v.z[..n])?;
        }
        from.f32s(&mut self.density[..n])?;
        from.f32s(&mut self.inverse_density[..n])?;
        from.f32s(&mut self.pressure_term[..n])?;
        from.u32s(&mut self.id[..n])?;
        from.u32s(&mut self.side[..n])?;
        Ok(())
    }
}

/// Mutable arrays of a set of points, as integration and contact see them.
pub(crate) struct Motion<'a> {
    pub position: [&'a mut [f32]; 3],
    pub velocity: [&'a mut [f32]; 3],
    pub acceleration: [&'a mut [f32]; 3],
    pub id: &'a [u32],
    pub walls: &'a Walls,
}

fn head(v: &XyzVec, n: usize) -> Xyz<'_> {
    Xyz {
        x: &v.x[..n],
        y: &v.y[..n],
        z: &v.z[..n],
    }
}

fn gather<T: Copy + Send + Sync>(to: &mut [T], from: &[T], order: &[u32]) {
    to.par_iter_mut()
        .with_min_len(8192)
        .zip(order)
        .for_each(|(t, &o)| *t = from[o as usize]);
}
