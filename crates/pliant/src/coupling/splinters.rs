//! Particles that have got into a body that has torn are led out of it again.
//!
//! The way of a particle past a body starts from where the walls around it have carried it
//! (`contact/skin.rs`). Between splinters that tumble over each other that is a guess, and a
//! few particles in many thousand steps end inside one. Bodies that are whole hold by their
//! walls; they are not asked, because one that is folded or inside out has no inside to be
//! led out of.

use glam::Vec3;
use rayon::prelude::*;

use super::step::Owner;
use crate::contact::Obstacles;
use crate::crew::Spread;
use crate::fluid::{CHUNK, Motion};
use crate::world::World;

impl World {
    /// Puts particles that are inside torn bodies, but do not belong there, outside of them.
    pub(crate) fn lead_out_of_splinters(&mut self) {
        let owners = self.skins.owners.iter().enumerate();
        let torn = owners.filter(|(_, o)| matches!(o, Owner::Solid(_, version) if *version > 0));
        let torn: Vec<(usize, u32)> = torn
            .map(|(k, _)| (k, (self.skins.first() + k) as u32))
            .collect();
        if torn.is_empty() {
            return;
        }
        let obstacles: Obstacles<'_> = self.obstacles.iter().chain(self.skins.iter()).collect();
        for (_, fluid) in self.fluids.iter_mut() {
            let (depth, radius) = (0.5 * fluid.settings().spacing, fluid.contact_radius());
            let Motion {
                position: [x, y, z],
                side,
                ..
            } = fluid.motion_mut();
            (
                x.par_chunks_mut(CHUNK),
                y.par_chunks_mut(CHUNK),
                z.par_chunks_mut(CHUNK),
                side.par_chunks(CHUNK),
            )
                .into_par_iter()
                .spread(|(x, y, z, side)| {
                    for i in 0..x.len() {
                        for &(k, number) in &torn {
                            let belongs = k < 32 && side[i] >> (31 - k) & 1 == 1;
                            let place = Vec3::new(x[i], y[i], z[i]);
                            // What has just got in is not deep in it.
                            if !belongs
                                && let Some(out) = obstacles.way_out(number, place, radius, depth)
                            {
                                [x[i], y[i], z[i]] = out.to_array();
                            }
                        }
                    }
                });
        }
    }
}
