//! What a place sees of a surface: of each direction the nearest.

use glam::Vec3;

use crate::space::SurfacePoint;

/// Directions that one place may see.
const MOST: usize = 6;

/// Two places of a surface lie in one direction if the cosine between the ways to them is
/// above this.
const SAME_DIRECTION: f32 = 0.7;

/// Cosines farther from that than this need not be known exactly.
const UNSURE: f32 = 1e-3;

/// The nearest place in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub found: SurfacePoint,
    /// Unit vector from it.
    pub away: Vec3,
}

const NONE: Side = Side {
    found: SurfacePoint {
        triangle: 0,
        barycentric: [0.0; 3],
        point: Vec3::ZERO,
        distance: 0.0,
    },
    away: Vec3::ZERO,
};

/// All directions that have something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides {
    list: [Side; MOST],
    count: usize,
}

impl Default for Sides {
    fn default() -> Self {
        Sides {
            list: [NONE; MOST],
            count: 0,
        }
    }
}

impl Sides {
    /// Sees a place of the surface from `p`.
    #[inline]
    pub fn see(&mut self, p: Vec3, found: SurfacePoint) {
        let way = p - found.point;
        for k in 0..self.count {
            let kept = &self.list[k];
            let along = kept.away.dot(way);
            if along < (SAME_DIRECTION - UNSURE) * found.distance {
                continue;
            }
            // Most places lie in a direction that has a nearer one: these need no root.
            let is_nearer =
                (found.distance, found.triangle) < (kept.found.distance, kept.found.triangle);
            if !is_nearer && along > (SAME_DIRECTION + UNSURE) * found.distance {
                return;
            }
            let away = way.normalize_or_zero();
            if kept.away.dot(away) > SAME_DIRECTION {
                if is_nearer {
                    self.list[k] = Side { found, away };
                }
                return;
            }
        }
        let away = way.normalize_or_zero();
        if self.count < MOST {
            self.list[self.count] = Side { found, away };
            self.count += 1;
            return;
        }
        // Close to a surface there are more directions than this along it: the nearest stay,
        // so that the nearest of all is never missed.
        let mut farthest = 0;
        for k in 1..MOST {
            if self.list[k].found.distance >= self.list[farthest].found.distance {
                farthest = k;
            }
        }
        if found.distance < self.list[farthest].found.distance {
            self.list[farthest] = Side { found, away };
        }
    }

    /// All of them, nearest first.
    pub fn sort(&mut self) -> &[Side] {
        let list = &mut self.list[..self.count];
        for k in 1..list.len() {
            let mut place = k;
            while place > 0 && list[place].found.distance < list[place - 1].found.distance {
                list.swap(place, place - 1);
                place -= 1;
            }
        }
        list
    }

    /// All of them.
    pub fn all(&self) -> &[Side] {
        &self.list[..self.count]
    }
}
