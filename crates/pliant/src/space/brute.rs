//! Every point against every point: the baseline of Mesit 2010, section 4.2.

use glam::Vec3;

use super::NeighbourSearch;
use super::cells::{finite_bounds, is_within};
use crate::math::{Aabb, Xyz};

/// One bounding box around all points; a query whose ball reaches the box tests
/// every point. O(n) per query.
#[derive(Clone, Debug)]
pub struct AabbBrute {
    bounds: Aabb,
    radius_squared: f32,
}

impl AabbBrute {
    /// An index without points.
    pub fn new() -> Self {
        Self {
            bounds: Aabb::EMPTY,
            radius_squared: 0.0,
        }
    }
}

impl Default for AabbBrute {
    fn default() -> Self {
        Self::new()
    }
}

impl NeighbourSearch for AabbBrute {
    fn name(&self) -> &'static str {
        "aabb"
    }

    fn build(&mut self, points: Xyz<'_>, radius: f32) {
        self.bounds = finite_bounds(points);
        self.radius_squared = radius * radius;
    }

    fn for_each_within(&self, points: Xyz<'_>, center: Vec3, visit: &mut dyn FnMut(u32)) {
        // Rounding is monotone, so the box is never computed to be farther than
        // a point inside it: nothing is lost at the border.
        if self.bounds.distance_squared(center) > self.radius_squared {
            return;
        }
        for i in 0..points.len() as u32 {
            if is_within(points, i, center, self.radius_squared) {
                visit(i);
            }
        }
    }

    fn bytes(&self) -> usize {
        0
    }
}
