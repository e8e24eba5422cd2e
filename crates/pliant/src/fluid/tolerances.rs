//! When a solve for the pressure ends, and how it has ended.

/// How exactly a liquid keeps its volume, and how long it tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Mean compression allowed, as a share of the density, and as much room made by pressure
    /// that is not needed.
    pub density: f32,
    /// Mean compression per sub-step allowed in the velocities.
    pub divergence: f32,
    /// Most iterations of each solve.
    pub max_iterations: u32,
    /// Share of the compression there is that one sub-step takes out. With less than 1 a
    /// liquid at rest is calmer and needs fewer iterations, because what one solve leaves
    /// undone does not drive all of the liquid apart in the next; but it may be denser
    /// than `density` says for a while.
    pub correction: f32,
}

impl Default for Tolerances {
    fn default() -> Self {
        Tolerances {
            density: 5e-4,
            divergence: 1e-3,
            max_iterations: 100,
            correction: 1.0,
        }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solved {
    /// Iterations made.
    pub iterations: u32,
    /// Mean compression left, or room made for nothing if that is more.
    pub error: f32,
}
