//! The largest sub-step a liquid allows, and which law sets it.

use serde::Serialize;

use super::liquid::Liquid;
use super::settings::PressureMethod;
use super::state::Fluid;
use super::viscosity::EXPLICIT;

/// The law that limits the sub-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepLimit {
    /// The step asked for was short enough.
    Frame,
    /// A particle may move only part of the spacing.
    Speed,
    /// A sound wave may cross only part of the support radius.
    SoundSpeed,
    /// Momentum diffuses through part of the support radius.
    Viscosity,
    /// Dye diffuses through part of the support radius.
    Diffusion,
    /// A capillary wave crosses part of the support radius.
    SurfaceTension,
    /// The largest acceleration may move a particle only part of the support radius.
    Acceleration,
    /// A moving wall may cross only part of the distance between particles.
    MovingWall,
    /// The sub-step of a deformable body.
    Solid,
    /// Deformable bodies that meet may move against each other only part of an element.
    Meeting,
    /// The scene fixes the sub-step.
    Fixed,
}

impl std::fmt::Display for StepLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StepLimit::Frame => "the frame",
            StepLimit::Speed => "speed",
            StepLimit::SoundSpeed => "the speed of sound",
            StepLimit::Viscosity => "viscosity",
            StepLimit::Diffusion => "diffusion",
            StepLimit::SurfaceTension => "surface tension",
            StepLimit::Acceleration => "acceleration",
            StepLimit::MovingWall => "the speed of a moving wall",
            StepLimit::Solid => "the sub-step of a body",
            StepLimit::Meeting => "the speed of bodies that meet",
            StepLimit::Fixed => "the scene's fixed sub-step",
        })
    }
}

/// A bound on the sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBound {
    /// Largest sub-step in seconds.
    pub dt: f32,
    /// What sets it.
    pub limit: StepLimit,
}

/// The share of the distance between particles that a wall may cross in a sub-step.
const WALL_TRAVEL: f32 = 0.2;

/// Share of `sqrt(ρ V / σ)` that a sub-step may last.
const SURFACE_SWING: f32 = 0.15;

/// Share of `sqrt(h / g)` that a sub-step of an incompressible liquid may last. Thin ones
/// keep more of the noise that particles make where they slide past each other under
/// pressure, the more the longer the sub-step; thick ones do not.
const THIN_SWING: f32 = 0.15;
const THICK_SWING: f32 = 0.24;

impl Fluid {
    /// The largest sub-step in which walls of up to `speed` do not move through a
    /// layer of particles.
    pub fn wall_bound(&self, speed: f32) -> StepBound {
        StepBound {
            dt: WALL_TRAVEL * self.settings().spacing / speed,
            limit: StepLimit::MovingWall,
        }
    }

    /// Share of `sqrt(h / g)` that a sub-step may last: long if the viscosity of all liquids
    /// is strong enough to be solved for. What counts is that at rest: the noise that it must
    /// calm hardly shears.
    fn swing(&self) -> f32 {
        let h = self.support_radius();
        let long = THICK_SWING * (h / 9.81).sqrt();
        let thick = |l: &Liquid| {
            let kinematic = l.material.viscosity / l.material.density;
            kinematic * long > EXPLICIT * h * h
        };
        if self.liquids().iter().all(thick) {
            THICK_SWING
        } else {
            THIN_SWING
        }
    }

    /// The largest stable sub-step for particles no faster than `speed` and
    /// accelerated no more than `acceleration`, at Courant number `cfl`.
    ///
    /// Sound: Monaghan 1992. Viscosity: the discrete Laplacian of (3.15) has no
    /// eigenvalue above 30 ν / h² (twice the kernel's integral 15 / h²), and an
    /// explicit step decays without ringing up to its inverse. Tension: Brackbill
    /// et al. 1992 with the support radius as the wave length, and for incompressible
    /// liquids the swing of one particle in the surface (found by trial: `tension.rs`).
    /// Those have no sound, and their viscosity is implicit where it must be: particles
    /// may move a share of the spacing, and fall a small part of the support radius
    /// from rest.
    pub fn step_bound(&self, cfl: f32, speed: f32, acceleration: f32) -> StepBound {
        let h = self.support_radius();
        let material = &self.settings().material;
        let rho = material.density;
        let viscosity = rho * h * h / (30.0 * self.effective_viscosity());
        // The lightest and most tense of several liquids.
        let tension = self.liquids().iter().map(|l| {
            let m = &l.material;
            (m.density * self.particle_volume() / m.surface_tension).sqrt()
        });
        let tension = tension.fold(f32::INFINITY, f32::min);
        let ratio = h / self.settings().spacing;
        let wave = tension * (ratio.powi(3) / (4.0 * std::f32::consts::PI)).sqrt();
        let diffusion = self.liquids().iter().map(|l| l.diffusivity);
        let diffusion = h * h / (30.0 * diffusion.fold(0.0, f32::max));
        let bounds = match self.settings().pressure {
            PressureMethod::WeaklyCompressible => [
                (
                    cfl * h / (self.sound_speed() + speed),
                    StepLimit::SoundSpeed,
                ),
                (viscosity, StepLimit::Viscosity),
                (wave, StepLimit::SurfaceTension),
                (0.5 * (h / acceleration).sqrt(), StepLimit::Acceleration),
            ],
            PressureMethod::Dfsph => [
                (cfl * self.settings().spacing / speed, StepLimit::Speed),
                (diffusion, StepLimit::Diffusion),
                (SURFACE_SWING * tension, StepLimit::SurfaceTension),
                (
                    self.swing() * (h / acceleration).sqrt(),
                    StepLimit::Acceleration,
                ),
            ],
        };
        let mut best = StepBound {
            dt: f32::INFINITY,
            limit: StepLimit::Frame,
        };
        for (dt, limit) in bounds {
            if dt < best.dt {
                best = StepBound { dt, limit };
            }
        }
        best
    }
}
