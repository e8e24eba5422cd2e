//! Wall time per stage of the step.

use std::time::{Duration, Instant};

/// A stage of the step, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Stage {
    /// Emitters and sinks.
    Emit,
    /// Sorting and neighbour index.
    Neighbours,
    /// Walls around the points.
    Walls,
    /// Density, and pressure where it follows from density.
    Density,
    /// Compression taken out of the velocities of incompressible liquids.
    Divergence,
    /// Internal forces.
    Forces,
    /// Gravity and other fields.
    Fields,
    /// Velocities and the choice of the sub-step.
    Integrate,
    /// Viscosity solved implicitly.
    Viscosity,
    /// Pressure of incompressible liquids.
    Pressure,
    /// Motion along the way to the new place, and what it hits.
    Contacts,
    /// Deformable bodies: forces, motion and what they hit.
    Solids,
    /// Soft bodies: forces, motion and what they hit.
    Softs,
    /// What is measured on the way.
    Observe,
}

/// All stages, for tables and charts.
pub const STAGES: [(Stage, &str); 14] = [
    (Stage::Emit, "emit"),
    (Stage::Neighbours, "neighbours"),
    (Stage::Walls, "walls"),
    (Stage::Density, "density"),
    (Stage::Divergence, "divergence"),
    (Stage::Forces, "forces"),
    (Stage::Fields, "fields"),
    (Stage::Integrate, "integrate"),
    (Stage::Viscosity, "viscosity"),
    (Stage::Pressure, "pressure"),
    (Stage::Contacts, "contacts"),
    (Stage::Solids, "solids"),
    (Stage::Softs, "softs"),
    (Stage::Observe, "observe"),
];

/// Accumulated wall time per stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timers {
    spent: [Duration; STAGES.len()],
}

impl Timers {
    /// Runs `work` and adds its time to `stage`.
    #[inline]
    pub fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.spent[stage as usize] += start.elapsed();
        result
    }

    /// Time spent in `stage`.
    pub fn spent(&self, stage: Stage) -> Duration {
        self.spent[stage as usize]
    }

    /// Time spent in all stages.
    pub fn total(&self) -> Duration {
        self.spent.iter().sum()
    }

    /// Time spent since an earlier copy was taken.
    pub fn since(&self, earlier: &Timers) -> Timers {
        let mut spent = self.spent;
        for (s, e) in spent.iter_mut().zip(earlier.spent) {
            *s = s.saturating_sub(e);
        }
        Timers { spent }
    }
}
