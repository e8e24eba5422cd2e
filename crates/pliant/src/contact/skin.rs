//! A surface whose vertices move: that of a deformable body, or of a tube along which
//! a wave runs.
//!
//! Liquids see the triangles as they are at the start of a sub-step, with their
//! velocities. When it is known where the vertices go, they are moved and the tree
//! over the triangles is refitted. A ball is swept from where it would be had it gone
//! with the surface around it.

use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::triangle::closest_point;
use super::wall::{Wall, walls_of_surface};
use crate::mesh::TriMesh;
use crate::space::{Bvh, SurfacePoint, TriangleIndex};

/// Two places of a skin lie in one direction if the cosine between the ways to them is above
/// this.
const SAME_DIRECTION: f32 = 0.7;

/// A wall: the direction to the place from it, its distance and its travel.
type Side = Option<(Vec3, f32, Vec3)>;

/// What is around a place: of each direction the nearest wall.
#[derive(Default)]
struct Around {
    sides: [Side; 6],
}

impl Around {
    /// Sees a wall that is `away` before it moves by `travel`.
    fn see(&mut self, away: Vec3, travel: Vec3) {
        let distance = away.length();
        let seen = (away.normalize_or_zero(), distance, travel);
        let far = |side: &Side| side.map_or(f32::INFINITY, |s| s.1);
        let same = |side: &Side| side.is_some_and(|s| s.0.dot(seen.0) > SAME_DIRECTION);
        let side = match self.sides.iter().position(same) {
            Some(k) => Some(&mut self.sides[k]),
            None => self
                .sides
                .iter_mut()
                .max_by(|a, b| far(a).total_cmp(&far(b))),
        };
        if let Some(side) = side.filter(|side| distance < far(side)) {
            *side = Some(seen);
        }
    }

    /// The mean way of the walls, each by the inverse of its distance.
    fn travel(&self) -> Vec3 {
        let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
        for (_, distance, travel) in self.sides.iter().flatten() {
            let weight = distance.max(f32::MIN_POSITIVE).recip();
            sum += weight * *travel;
            weights += weight;
        }
        if weights > 0.0 {
            sum / weights
        } else {
            Vec3::ZERO
        }
    }
}

/// Triangles over moving vertices.
#[derive(Clone)]
pub(super) struct Skin {
    /// The tree over the triangles as they are now.
    pub tree: Arc<Bvh>,
    /// The way of every vertex in the sub-step, in metres.
    travel: Vec<Vec3>,
    most_travel: f32,
    /// Of every vertex, in m/s.
    velocity: Vec<Vec3>,
    /// A concave corner has as many walls as faces that meet there.
    corners: bool,
    /// It has an inside.
    closed: bool,
}

impl Skin {
    /// A surface at rest. `corners`: where faces meet at an inner edge each is a wall
    /// of its own; without, the nearest place stands for all.
    pub fn new(mesh: Arc<TriMesh>, corners: bool) -> Skin {
        let count = mesh.vertices.len();
        let tree = Bvh::build(mesh);
        Skin {
            closed: tree.is_closed(),
            tree: Arc::new(tree),
            travel: vec![Vec3::ZERO; count],
            most_travel: 0.0,
            velocity: vec![Vec3::ZERO; count],
            corners,
        }
    }

    /// Tells how the vertices move, in m/s, before it is known where to.
    pub fn set_velocities(&mut self, velocity: impl Iterator<Item = Vec3>) {
        self.travel.fill(Vec3::ZERO);
        self.most_travel = 0.0;
        for (to, from) in self.velocity.iter_mut().zip(velocity) {
            *to = from;
        }
    }

    /// Tells the way of every vertex in a sub-step of `dt` seconds, in metres.
    pub fn set_travel(&mut self, dt: f32, way: impl Fn(usize) -> Vec3 + Sync) {
        let rate = if dt > 0.0 { dt.recip() } else { 0.0 };
        (&mut self.travel, &mut self.velocity)
            .into_par_iter()
            .with_min_len(512)
            .enumerate()
            .for_each(|(i, (travel, velocity))| {
                *travel = way(i);
                *velocity = rate * *travel;
            });
        let farthest = self.travel.iter().map(|t| t.length_squared());
        self.most_travel = farthest.fold(0.0, f32::max).sqrt();
    }

    /// Puts the vertices elsewhere.
    pub fn refit(&mut self, vertices: Vec<Vec3>) {
        Arc::make_mut(&mut self.tree).refit(vertices);
    }

    /// Where a place would be at the end of the sub-step, had it gone with the walls around
    /// it: with each the more the nearer it was, so that what is between two walls stays
    /// between them, however these move. Places farther than `reach` stay: no wall gets there.
    pub fn carried(&self, place: Vec3, reach: f32) -> Vec3 {
        if self.most_travel == 0.0 {
            return place;
        }
        let mut around = Around::default();
        let mesh = self.tree.mesh();
        let reach = reach + self.most_travel;
        self.tree.for_each_within(place, reach, &mut |found| {
            let corners = mesh.triangles[found.triangle as usize];
            let before = corners.map(|v| mesh.vertices[v as usize] - self.travel[v as usize]);
            let nearest = closest_point(place, before);
            let travel = self.mean(&self.travel, found.triangle, nearest.barycentric);
            around.see(place - nearest.point, travel);
        });
        place + around.travel()
    }

    /// No vertex moves farther in this sub-step, in metres.
    pub fn most_travel(&self) -> f32 {
        self.most_travel
    }

    fn mean(&self, of: &[Vec3], triangle: u32, weights: [f32; 3]) -> Vec3 {
        let corners = self.tree.mesh().triangles[triangle as usize];
        let [a, b, c] = corners.map(|v| of[v as usize]);
        weights[0] * a + weights[1] * b + weights[2] * c
    }

    /// Velocity of a place of the surface, in m/s.
    pub fn velocity(&self, triangle: u32, weights: [f32; 3]) -> Vec3 {
        self.mean(&self.velocity, triangle, weights)
    }

    /// The point nearest to `p` within `radius`.
    pub fn closest(&self, p: Vec3, radius: f32) -> Option<SurfacePoint> {
        self.tree.closest(p, radius).map(|(found, _)| found)
    }

    /// Calls `visit` with the walls within `reach` of `p`.
    pub fn for_each_wall(&self, p: Vec3, reach: f32, visit: &mut dyn FnMut(Wall)) {
        let moving = |at: &SurfacePoint, wall: Wall| Wall {
            velocity: self.velocity(at.triangle, at.barycentric),
            ..wall
        };
        if self.corners {
            let surface = (&*self.tree, self.closed);
            walls_of_surface(surface, p, reach, |at, wall| visit(moving(at, wall)));
        } else if let Some(nearest) = self.closest(p, reach) {
            visit(moving(&nearest, Wall::curved(p, &nearest)));
        }
    }

    pub fn bytes(&self) -> usize {
        self.tree.bytes() + size_of_val(&*self.travel) + size_of_val(&*self.velocity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two walls close on a ball to two fifths of what was between them.
    #[test]
    fn what_is_between_two_walls_stays_between_them() {
        let square = |y: f32| {
            [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, z)| Vec3::new(x, y, z))
        };
        let mesh = TriMesh {
            vertices: [square(0.3), square(0.7)].concat(),
            triangles: vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]],
        };
        let mut skin = Skin::new(Arc::new(mesh), true);
        let travel = |i: usize| if i < 4 { 0.3 * Vec3::Y } else { -0.3 * Vec3::Y };
        skin.set_travel(1.0, travel);
        for before in [0.05f32, 0.4, 0.5, 0.9] {
            let after = skin.carried(before * Vec3::Y, 1.0);
            let wanted = 0.3 + 0.4 * before;
            assert!(
                (after - wanted * Vec3::Y).length() < 1e-5,
                "{before}: {after}"
            );
        }
    }
}
