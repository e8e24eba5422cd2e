//! What springs do at the present places: found once per sub-step and spring, then
//! gathered by both ends and by every pass of the integrator.

use glam::{Mat3A, Vec3A, Vec4};

use super::parallel::fill;
use super::topology::Topology;

/// A spring as it is now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stretched {
    /// Force on its first end in N, without α.
    pub force: Vec3A,
    /// Its direction, as long as the root of the stiffness along it beyond that across;
    /// and, last, the stiffness across it: as far as it is stretched.
    pub grip: Vec4,
}

/// How springs pull.
#[derive(Clone, Copy)]
pub(super) struct Pulling {
    /// Seconds of damping.
    pub damping: f32,
    /// Damping acts along the spring only, so that turning is free.
    pub along_only: bool,
}

/// Finds what all springs do.
pub(super) fn stretch(
    out: &mut Vec<Stretched>,
    topology: &Topology,
    position: &[Vec3A],
    velocity: &[Vec3A],
    how: Pulling,
) {
    out.resize(topology.springs.len(), Stretched::default());
    fill(out, |k| {
        let spring = topology.springs[k];
        let [i, j] = spring.ends.map(|e| e as usize);
        let way = position[j] - position[i];
        let length = way.length();
        if length <= 0.0 {
            return Stretched::default();
        }
        let inverse = 1.0 / length;
        let way = way * inverse;
        let relative = velocity[j] - velocity[i];
        let pull = length - spring.rest;
        let force = if how.along_only {
            (spring.stiffness * (pull + how.damping * relative.dot(way))) * way
        } else {
            spring.stiffness * (pull * way + how.damping * relative)
        };
        let across = spring.stiffness * (1.0 - spring.rest * inverse).max(0.0);
        let grip = (spring.stiffness - across).sqrt() * way;
        Stretched {
            force,
            grip: grip.extend(across),
        }
    });
}

impl Topology {
    /// Force of all springs on point `i` in N, without α.
    #[inline]
    pub fn pull_on(&self, i: usize, springs: &[Stretched]) -> Vec3A {
        let mut sum = Vec3A::ZERO;
        for link in self.links_of(i) {
            let sign = if link.other as usize > i { 1.0 } else { -1.0 };
            sum += sign * springs[link.spring as usize].force;
        }
        sum
    }

    /// `own` times the unit matrix and `scale` times the stiffness of the springs of
    /// point `i`, along themselves and across.
    #[inline]
    pub fn block_of(&self, i: usize, springs: &[Stretched], own: f32, scale: f32) -> Mat3A {
        let mut across = 0.0;
        let [mut x, mut y, mut z] = [Vec3A::ZERO; 3];
        for link in self.links_of(i) {
            let grip = springs[link.spring as usize].grip;
            let g = Vec3A::from_vec4(grip);
            across += grip.w;
            x += g.x * g;
            y += g.y * g;
            z += g.z * g;
        }
        let own = own + scale * across;
        Mat3A::from_cols(
            scale * x + own * Vec3A::X,
            scale * y + own * Vec3A::Y,
            scale * z + own * Vec3A::Z,
        )
    }

    /// What the springs of point `i` hand on of their other ends' motion.
    #[inline]
    pub fn handed_on(&self, i: usize, springs: &[Stretched], motion: &[Vec3A]) -> Vec3A {
        let mut sum = Vec3A::ZERO;
        for link in self.links_of(i) {
            let grip = springs[link.spring as usize].grip;
            let g = Vec3A::from_vec4(grip);
            let theirs = motion[link.other as usize];
            sum += g.dot(theirs) * g + grip.w * theirs;
        }
        sum
    }
}
