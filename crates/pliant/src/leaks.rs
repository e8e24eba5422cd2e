//! On which side of closed surfaces particles belong, and which are on the wrong one.

use glam::Vec3;
use rayon::prelude::*;

use crate::contact::Obstacle;
use crate::coupling::Skins;
use crate::crew::Spread;
use crate::slots::Slots;
use crate::world::World;

impl World {
    /// Number of particles on the wrong side of a closed obstacle: 0 unless the
    /// engine has failed.
    pub fn leaked(&self) -> usize {
        if self.sides_stale {
            return 0;
        }
        self.fluids
            .iter()
            .map(|(_, fluid)| {
                let position = fluid.positions();
                fluid
                    .sides()
                    .par_iter()
                    .enumerate()
                    .with_min_len(256)
                    .filter(|&(i, &side)| {
                        sides(&self.obstacles, &self.skins, position.get(i)) != side
                    })
                    .count()
            })
            .sum()
    }

    /// Finds for every particle in which closed obstacles it belongs.
    pub(crate) fn refresh_sides(&mut self) {
        if !std::mem::take(&mut self.sides_stale) {
            return;
        }
        self.softs
            .iter_mut()
            .for_each(|(_, s)| s.forget_obstacles());
        let (obstacles, skins) = (&self.obstacles, &self.skins);
        for (_, fluid) in self.fluids.iter_mut() {
            let found: Vec<u32> = (0..fluid.len())
                .into_par_iter()
                .with_min_len(256)
                .spread_map(|i| sides(obstacles, skins, fluid.positions().get(i)));
            fluid.sides_mut().copy_from_slice(&found);
        }
    }
}

/// Bit b is set if `p` is inside closed obstacle b, and from bit 31 down for bodies. The
/// first 32 of both together count.
pub(crate) fn sides(obstacles: &Slots<Obstacle>, skins: &Skins, p: Vec3) -> u32 {
    let holds = |o: &Obstacle| o.is_closed() && o.contains(p);
    let fixed = obstacles.iter().filter(|&(i, o)| i < 32 && holds(o));
    let bits = fixed.fold(0, |bits, (i, _)| bits | 1 << i);
    let room = 32usize.saturating_sub(obstacles.iter().count());
    let bodies = skins.iter().enumerate().take(room);
    let within = bodies.filter(|(_, (_, o))| holds(o));
    within.fold(bits, |bits, (k, _)| bits | 1 << (31 - k))
}
