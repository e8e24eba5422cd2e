//! Which bodies a ray is in, and what a border between two of them does.

use glam::Vec3;

/// A clear body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub index: f32,
    /// Extinction per metre and channel.
    pub absorption: Vec3,
    pub rank: u8,
}

/// Bodies around the tip of a ray; more than four deep are not told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Inside {
    bodies: [Option<u16>; 4],
}

impl Inside {
    pub fn with(mut self, body: u16) -> Inside {
        if !self.bodies.contains(&Some(body))
            && let Some(free) = self.bodies.iter_mut().find(|b| b.is_none())
        {
            *free = Some(body);
        }
        self
    }

    pub fn without(mut self, body: u16) -> Inside {
        self.bodies
            .iter_mut()
            .filter(|b| **b == Some(body))
            .for_each(|b| *b = None);
        self
    }

    /// The body that fills the place (Schmidt & Budge 2002): the one with the
    /// highest rank; air if there is none.
    pub fn top(&self, bodies: &[Body]) -> Option<u16> {
        self.bodies
            .iter()
            .flatten()
            .copied()
            .max_by_key(|&b| (bodies[b as usize].rank, u16::MAX - b))
    }
}

/// What a border does to a ray that meets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    /// Share that is thrown back.
    pub reflected: f32,
    /// Direction of the rest; `None` if all is thrown back.
    pub through: Option<Vec3>,
}

/// Fresnel's equations for unpolarised light and Snell's law. `normal` points
/// against `direction`; both are unit vectors.
pub(super) fn border(direction: Vec3, normal: Vec3, before: f32, after: f32) -> Border {
    let eta = before / after;
    let cos_i = (-direction.dot(normal)).clamp(0.0, 1.0);
    let sin_t2 = eta * eta * (1.0 - cos_i * cos_i);
    if sin_t2 >= 1.0 {
        return Border {
            reflected: 1.0,
            through: None,
        };
    }
    let cos_t = (1.0 - sin_t2).sqrt();
    let s = (before * cos_i - after * cos_t) / (before * cos_i + after * cos_t);
    let p = (before * cos_t - after * cos_i) / (before * cos_t + after * cos_i);
    Border {
        reflected: 0.5 * (s * s + p * p),
        through: Some((direction * eta + normal * (eta * cos_i - cos_t)).normalize()),
    }
}

/// Fresnel's equations by Schlick's approximation (1994).
pub(super) fn schlick(head_on: f32, cosine: f32) -> f32 {
    head_on + (1.0 - head_on) * (1.0 - cosine.clamp(0.0, 1.0)).powi(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_bends_as_snell_says_and_water_mirrors_two_percent() {
        let down = Vec3::NEG_Y;
        let straight = border(down, Vec3::Y, 1.0, 1.333);
        assert!((straight.reflected - 0.0204).abs() < 1e-3);
        assert!((straight.through.unwrap() - down).length() < 1e-6);
        let slant = Vec3::new(0.6, -0.8, 0.0);
        let through = border(slant, Vec3::Y, 1.0, 1.5).through.unwrap();
        assert!((through.x - 0.4).abs() < 1e-6);
        assert!(border(slant, Vec3::Y, 1.5, 0.8).through.is_none());
        // Brewster's angle: the reflection is half of the s part only.
        let angle = 1.5f32.atan();
        let b = border(Vec3::new(angle.sin(), -angle.cos(), 0.0), Vec3::Y, 1.0, 1.5);
        assert!((b.reflected - 0.0740).abs() < 1e-3, "{}", b.reflected);
    }

    #[test]
    fn the_highest_rank_fills_the_place() {
        let body = |rank| Body {
            index: 1.3,
            absorption: Vec3::ZERO,
            rank,
        };
        let bodies = [body(1), body(2)];
        let both = Inside::default().with(0).with(1).with(1);
        assert_eq!(both.top(&bodies), Some(1));
        assert_eq!(both.without(1).top(&bodies), Some(0));
        assert_eq!(both.without(1).without(0).top(&bodies), None);
    }
}
