//! What a place sees of a surface: of each direction the nearest.

use glam::Vec3;

use crate::space::SurfacePoint;

/// Directions that one place may see.
const MOST: usize = 6;

/// Two places of a surface lie in one direction if the cosine between the ways to them is
/// above this.
const SAME_DIRECTION: f32 = 0.7;

/// The nearest place in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub found: SurfacePoint,
    /// Unit vector from it.
    pub away: Vec3,
}

/// All directions that have something.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sides {
    list: [Option<Side>; MOST],
}

fn distance(side: &Option<Side>) -> f32 {
    side.map_or(f32::INFINITY, |s| s.found.distance)
}

impl Sides {
    /// Sees a place of the surface from `p`.
    #[inline]
    pub fn see(&mut self, p: Vec3, found: SurfacePoint) {
        let away = (p - found.point).normalize_or_zero();
        let seen = Some(Side { found, away });
        for side in &mut self.list {
            match side {
                None => {
                    *side = seen;
                    return;
                }
                Some(kept) if kept.away.dot(away) > SAME_DIRECTION => {
                    let key = |s: &SurfacePoint| (s.distance, s.triangle);
                    if key(&found) < key(&kept.found) {
                        *side = seen;
                    }
                    return;
                }
                Some(_) => {}
            }
        }
        // Close to a surface there are more directions than this along it: the nearest stay,
        // so that the nearest of all is never missed.
        let farthest = |a: &&mut Option<Side>, b: &&mut Option<Side>| {
            let [a, b] = [a, b].map(|s| distance(s));
            a.total_cmp(&b)
        };
        let last = self.list.iter_mut().max_by(farthest);
        if let Some(last) = last.filter(|last| found.distance < distance(last)) {
            *last = seen;
        }
    }

    /// All of them, nearest first.
    pub fn sort(mut self) -> Sides {
        self.list
            .sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Side> {
        self.list.iter().flatten()
    }
}
