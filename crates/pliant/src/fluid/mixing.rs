//! What particles carry with them and share with their neighbours: shear, which
//! thins some liquids, and dye or contrast medium, which spreads.

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::incompressible::Incompressible;
use super::liquid::Liquid;
use super::strain::Whom;
use super::walls::Walls;
use crate::contact::Wall;
use crate::crew::Spread;

impl Incompressible {
    /// Writes the viscosity of every particle: that of its liquid, thinned by shear,
    /// and `extra`.
    pub fn find_viscosity(
        &mut self,
        liquids: &[Liquid],
        liquid: &[u8],
        extra: &[f32],
        walls: &Walls,
        viscosity: &mut [f32],
    ) {
        if liquids.iter().any(|l| l.material.thinning.is_some()) {
            self.find_strains(Whom::All);
        }
        let (x, v, strains) = (&self.x[..], &self.v[..], &self.strains[..]);
        let nearest = 0.1 * self.kernel.support_radius;
        (viscosity.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (viscosity, pairs))| {
                for (k, viscosity) in viscosity.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let kind = liquid[i] as usize;
                    let material = &liquids[kind].material;
                    let mut mu = material.viscosity;
                    if let Some(thinning) = material.thinning {
                        let mut shear = strains[i].shear_rate();
                        for m in walls.of(i).iter().filter(|m| m.no_slip) {
                            let at_wall = shear_at_wall(x, v, i, pairs.of(k), &m.wall, nearest);
                            shear = shear.max(m.wall.drag * at_wall);
                        }
                        mu = thinning.viscosity(mu, shear);
                    }
                    *viscosity = mu + extra[kind];
                }
            });
    }

    /// Spreads the concentration over `dt`: Fick's law with the Laplacian of Morris
    /// et al. 1997, what one particle loses the other gains.
    pub fn spread(
        &self,
        dt: f32,
        liquids: &[Liquid],
        liquid: &[u8],
        concentration: &mut [f32],
        before: &mut [f32],
    ) {
        before.copy_from_slice(concentration);
        let before = &*before;
        (concentration.par_chunks_mut(CHUNK), &self.pairs.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (concentration, pairs))| {
                for (k, concentration) in concentration.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let own = liquids[liquid[i] as usize].diffusivity;
                    let (near, slope) = pairs.of(k);
                    let mut flow = 0.0;
                    for (&j, &s) in near.iter().zip(slope) {
                        let j = j as usize;
                        let other = liquids[liquid[j] as usize].diffusivity;
                        // What does not diffuse in one of the two does not cross.
                        let mean = 2.0 * own * other / (own + other).max(f32::MIN_POSITIVE);
                        flow += mean * s * (before[i] - before[j]);
                    }
                    *concentration += 2.0 * dt * flow;
                }
            });
    }
}

/// The shear rate of particle `i` before a wall that it sticks to. The liquid on one side and
/// the wall on the other count by their shares of the kernel; no wall counts as nearer than
/// `nearest`.
fn shear_at_wall(
    x: &[Vec3A],
    v: &[Vec3A],
    i: usize,
    (near, slope): (&[u32], &[f32]),
    wall: &Wall,
    nearest: f32,
) -> f32 {
    let normal = Vec3A::from(wall.normal);
    let slip = v[i] - Vec3A::from(wall.velocity);
    let along = slip - slip.dot(normal) * normal;
    let speed = along.length();
    if speed <= 0.0 {
        return 0.0;
    }
    let direction = along / speed;
    let (mut share, mut shear) = (0.0, 0.0);
    for (&j, &s) in near.iter().zip(slope) {
        let j = j as usize;
        let height = (x[i] - x[j]).dot(normal);
        share -= s * height * height;
        shear -= s * height * (v[i] - v[j]).dot(direction);
    }
    let beyond = (1.0 - share).max(0.0);
    ((shear + beyond * speed / wall.distance.max(nearest)) / (share + beyond)).abs()
}
