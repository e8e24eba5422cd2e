//! Random numbers for the tests of liquids.

use glam::Vec3;

/// Repeatable random numbers.
pub struct Random(pub u64);

impl Random {
    /// Uniform in -1..1.
    pub fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Uniform in the cube from -1 to 1.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}
