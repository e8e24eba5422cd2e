//! How a liquid meets the surface of a body.

use std::f32::consts::FRAC_PI_2;

/// What a body's surface is to a liquid, as of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiquidContact {
    /// Coulomb friction coefficient, 0 or more.
    pub friction: f32,
    /// Liquid sticks to it by its viscosity instead of slipping along.
    pub no_slip: bool,
    /// Angle at which a drop meets it, in radians: 0 is wetted, π repels.
    pub contact_angle: f32,
}

impl Default for LiquidContact {
    fn default() -> Self {
        LiquidContact {
            friction: 0.0,
            no_slip: false,
            contact_angle: FRAC_PI_2,
        }
    }
}
