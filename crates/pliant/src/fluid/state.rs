//! The arrays of one liquid.

use std::sync::OnceLock;

use glam::Vec3;
use rayon::prelude::*;

use super::incompressible::Incompressible;
use super::kernels::Kernels;
use super::liquid::{Content, Liquid, MOST_LIQUIDS};
use super::material::Material;
use super::settings::{FluidSettings, PressureMethod, SettingsError};
use super::tension::Tensions;
use super::tolerances::Solved;
use super::walls::Walls;
use crate::crew::Spread;
use crate::math::{Xyz, XyzVec};
use crate::observe::{CheckpointError, Decoder, Encoder};
use crate::simd::WIDTH;
use crate::space::{CellGrid, NeighbourSearch};

/// A particle to be added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewParticle {
    /// Position in metres.
    pub position: Vec3,
    /// Velocity in m/s.
    pub velocity: Vec3,
}

/// Particles of equal volume in flat arrays, kept sorted by cell: one liquid, or
/// several that do not mix.
///
/// Arrays that the hot loops read are longer than the particle count by one
/// vector width, so that a load at the last particle stays in bounds.
#[derive(Clone, Debug)]
pub struct Fluid {
    pub(super) settings: FluidSettings,
    pub(super) liquids: Vec<Liquid>,
    pub(super) tensions: Tensions,
    pub(super) kernels: Kernels,
    sound_speed: f32,
    pub(super) count: usize,
    pub(super) position: XyzVec,
    /// Velocities at half steps (leap-frog).
    pub(super) velocity: XyzVec,
    pub(super) acceleration: XyzVec,
    pub(super) density: Vec<f32>,
    pub(super) inverse_density: Vec<f32>,
    /// p / ρ², the particle's share of the symmetric pressure force.
    pub(super) pressure_term: Vec<f32>,
    pub(super) walls: Walls,
    /// Of an incompressible liquid: pressures that keep its density and take out its
    /// divergence, in Pa; the next sub-step starts from them.
    pub(super) pressure: Vec<f32>,
    pub(super) impulse: Vec<f32>,
    /// Dynamic viscosity in Pa·s.
    pub(super) viscosity: Vec<f32>,
    pub(super) solver: Option<Box<Incompressible>>,
    /// Speed that numerical viscosity is measured by.
    pub(super) noise_speed: f32,
    pub(super) solved: [Solved; 2],
    pub(super) viscous_iterations: u32,
    /// How long forces acted in the last sub-step, in its lengths: what they do,
    /// pressure must undo.
    kick: f32,
    /// Index of each particle's liquid, and 1 / mass.
    pub(super) liquid: Vec<u8>,
    pub(super) inverse_mass: Vec<f32>,
    /// Dye or contrast medium, 0 to 1.
    pub(super) concentration: Vec<f32>,
    id: Vec<u32>,
    /// Bit b is set if the particle was made inside closed obstacle b.
    pub(super) side: Vec<u32>,
    next_id: u32,
    pub(super) grid: CellGrid,
    /// Finds particles where they are now; made when someone asks, and forgotten
    /// when they move.
    pub(super) index: OnceLock<CellGrid>,
    pub(super) scratch: Vec<f32>,
    scratch_u32: Vec<u32>,
    scratch_u8: Vec<u8>,
}

impl Fluid {
    /// An empty liquid.
    pub fn new(settings: FluidSettings) -> Result<Fluid, SettingsError> {
        settings.check()?;
        let kernels = Kernels::new(settings.support * settings.spacing);
        let solver = (settings.pressure == PressureMethod::Dfsph).then(|| {
            Box::new(Incompressible::new(
                kernels.support_radius,
                settings.spacing,
            ))
        });
        let liquids = vec![settings.liquid()];
        Ok(Fluid {
            kernels,
            tensions: Tensions::of(&liquids),
            liquids,
            liquid: Vec::new(),
            inverse_mass: Vec::new(),
            concentration: Vec::new(),
            pressure: Vec::new(),
            impulse: Vec::new(),
            viscosity: Vec::new(),
            solver,
            noise_speed: 0.0,
            solved: [Solved::default(); 2],
            viscous_iterations: 0,
            kick: 1.0,
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
            scratch_u8: Vec::new(),
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

    /// Adds another liquid of an incompressible fluid; returns its index for
    /// [`super::Content`].
    pub fn add_liquid(&mut self, liquid: Liquid) -> Result<u8, SettingsError> {
        liquid.check()?;
        let refuse = |right| {
            Err(SettingsError {
                key: "liquids",
                value: (self.liquids.len() + 1).to_string(),
                right,
            })
        };
        if !self.is_incompressible() {
            return refuse("1 for a weakly compressible fluid: choose `dfsph`");
        }
        if self.liquids.len() >= MOST_LIQUIDS {
            return refuse("at most 16");
        }
        self.liquids.push(liquid);
        self.tensions = Tensions::of(&self.liquids);
        Ok((self.liquids.len() - 1) as u8)
    }

    /// Its liquids; the first is that of the settings.
    pub fn liquids(&self) -> &[Liquid] {
        &self.liquids
    }

    /// Index of each particle's liquid.
    pub fn liquid_of(&self) -> &[u8] {
        &self.liquid[..self.count]
    }

    /// Concentration of dye or contrast medium of each particle, 0 to 1.
    pub fn concentrations(&self) -> &[f32] {
        &self.concentration[..self.count]
    }

    /// 1 / mass of each particle, in 1/kg.
    pub fn inverse_masses(&self) -> &[f32] {
        &self.inverse_mass[..self.count]
    }

    /// Volume that each particle stands for, in m³: spacing³.
    pub fn particle_volume(&self) -> f32 {
        self.settings.spacing.powi(3)
    }

    /// Mass in kg of a particle of the first liquid: its density times the volume.
    pub fn particle_mass(&self) -> f32 {
        self.settings.material.density * self.particle_volume()
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

    /// True if it is solved as incompressible.
    pub fn is_incompressible(&self) -> bool {
        self.solver.is_some()
    }

    /// How the two pressure solves of the last sub-step ended: divergence, density.
    pub fn solved(&self) -> [Solved; 2] {
        self.solved
    }

    /// Iterations of the last viscosity solve: 1 where it was explicit.
    pub fn viscous_iterations(&self) -> u32 {
        self.viscous_iterations
    }

    /// Radius with which a particle touches walls: the pressure of an incompressible
    /// liquid keeps it at half a spacing, and contact only guards against worse.
    pub(crate) fn contact_radius(&self) -> f32 {
        let spacing = self.settings.spacing;
        if self.is_incompressible() {
            0.25 * spacing
        } else {
            0.5 * spacing
        }
    }

    pub(crate) fn choose_noise_speed(&mut self, gravity: f32) {
        self.noise_speed = match self.settings.pressure {
            PressureMethod::Dfsph => (gravity * self.support_radius()).sqrt(),
            PressureMethod::WeaklyCompressible => self.sound_speed / 10.0,
        };
    }

    pub(crate) fn choose_sound_speed(&mut self, c: f32) {
        if self.sound_speed <= 0.0 {
            self.sound_speed = c;
        }
    }

    /// The viscosity of the first liquid, physical and numerical, in Pa·s; of a
    /// shear-thinning one that at high shear.
    pub fn effective_viscosity(&self) -> f32 {
        let material = &self.settings.material;
        material.thinned() + self.numerical_viscosity(material)
    }

    /// What particle noise is calmed with, in Pa·s.
    pub(super) fn numerical_viscosity(&self, material: &Material) -> f32 {
        let alpha = self.settings.numerical_viscosity;
        alpha * material.density * self.support_radius() * self.noise_speed
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
        (0..self.count).map(|i| self.pressure_of(i))
    }

    /// Forces act `kick` times as long as the coming sub-step, so pressure will have to
    /// be that much higher than it is in the mean.
    pub(crate) fn expect_kick(&mut self, kick: f32) {
        let change = kick / self.kick;
        self.kick = kick;
        if change != 1.0 {
            self.pressure.iter_mut().for_each(|p| *p *= change);
        }
    }

    pub(super) fn pressure_of(&self, i: usize) -> f32 {
        match &self.solver {
            // What it pushes with through the liquid: the trace of its stress. A new
            // particle has none yet.
            Some(solver) => {
                let share = solver.share.get(i).copied().unwrap_or(1.0);
                (self.pressure[i] + self.impulse[i]) * share / self.kick
            }
            None => self.pressure_term[i] * self.density[i] * self.density[i],
        }
    }

    /// How far the density of particle `i` is from its rest density, in percent.
    pub(crate) fn crowding(&self, i: usize) -> f32 {
        match (self.density.get(i), self.inverse_mass.get(i)) {
            (Some(density), Some(inverse)) => {
                100.0 * (density * inverse * self.particle_volume() - 1.0)
            }
            _ => f32::NAN,
        }
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
            inverse_mass: &self.inverse_mass[..n],
            side: &self.side[..n],
            walls: &self.walls,
        }
    }

    /// Adds particles; `side` says in which closed obstacles each one lies.
    pub(crate) fn add(
        &mut self,
        particles: &[NewParticle],
        content: Content,
        side: impl Fn(Vec3) -> u32,
    ) {
        let first = self.count;
        let density = match self.liquids.get(content.liquid as usize) {
            Some(liquid) => liquid.material.density,
            None => return,
        };
        self.resize(first + particles.len());
        for (i, p) in particles.iter().enumerate() {
            self.position.set(first + i, p.position);
            self.velocity.set(first + i, p.velocity);
            self.density[first + i] = density;
            self.inverse_density[first + i] = 1.0 / density;
            self.liquid[first + i] = content.liquid;
            self.inverse_mass[first + i] = 1.0 / (density * self.particle_volume());
            self.concentration[first + i] = content.concentration;
            // What lies beyond the last particle is not always zero.
            self.pressure[first + i] = 0.0;
            self.impulse[first + i] = 0.0;
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
                    &mut self.pressure,
                    &mut self.impulse,
                    &mut self.inverse_mass,
                    &mut self.concentration,
                ] {
                    a[kept] = a[i];
                }
                self.liquid[kept] = self.liquid[i];
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
            &mut self.pressure,
            &mut self.impulse,
            &mut self.inverse_mass,
            &mut self.concentration,
            &mut self.scratch,
        ] {
            a.resize(padded, 0.0);
        }
        self.id.resize(count, 0);
        self.side.resize(count, 0);
        self.scratch_u32.resize(count, 0);
        self.liquid.resize(count, 0);
        self.scratch_u8.resize(count, 0);
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
            &mut self.pressure,
            &mut self.impulse,
            &mut self.inverse_mass,
            &mut self.concentration,
        ] {
            gather(&mut self.scratch[..n], array, order);
            std::mem::swap(&mut self.scratch, array);
        }
        for array in [&mut self.id, &mut self.side] {
            gather(&mut self.scratch_u32, array, order);
            std::mem::swap(&mut self.scratch_u32, array);
        }
        gather(&mut self.scratch_u8, &self.liquid, order);
        std::mem::swap(&mut self.scratch_u8, &mut self.liquid);
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
            + self.pressure.capacity()
            + self.impulse.capacity()
            + self.inverse_mass.capacity()
            + self.concentration.capacity()
            + self.viscosity.capacity()
            + self.scratch.capacity();
        let words = self.id.capacity() + self.side.capacity() + self.scratch_u32.capacity();
        let solver = self.solver.as_ref().map_or(0, |s| s.bytes());
        let liquids = self.liquid.capacity() + self.scratch_u8.capacity();
        let grids = self.grid.bytes() + self.index.get().map_or(0, CellGrid::bytes);
        4 * (floats + words) + liquids + grids + self.walls.bytes() + solver
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
        out.f32s(&self.pressure[..n]);
        out.f32s(&self.impulse[..n]);
        out.f32(self.kick);
        out.f32s(&self.inverse_mass[..n]);
        out.f32s(&self.concentration[..n]);
        let liquids: Vec<u32> = self.liquid.iter().map(|&l| u32::from(l)).collect();
        out.u32s(&liquids);
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
        from.f32s(&mut self.pressure[..n])?;
        from.f32s(&mut self.impulse[..n])?;
        self.kick = from.f32()?;
        from.f32s(&mut self.inverse_mass[..n])?;
        from.f32s(&mut self.concentration[..n])?;
        let mut liquids = vec![0; n];
        from.u32s(&mut liquids)?;
        for (to, &from) in self.liquid.iter_mut().zip(&liquids) {
            if from as usize >= self.liquids.len() {
                return Err(CheckpointError::Mismatch(format!(
                    "it has a particle of liquid {from}, but the fluid has {}",
                    self.liquids.len()
                )));
            }
            *to = from as u8;
        }
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
    pub inverse_mass: &'a [f32],
    pub side: &'a [u32],
    pub walls: &'a Walls,
}

pub(super) fn head(v: &XyzVec, n: usize) -> Xyz<'_> {
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
        .spread(|(t, &o)| *t = from[o as usize]);
}
