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

use super::sides::{Side, Sides};
use super::triangle::closest_point;
use super::wall::{Wall, walls_of_surface};
use crate::crew::Spread;
use crate::mesh::TriMesh;
use crate::space::{Bvh, SurfacePoint, TriangleIndex};

/// Nothing is nearer to a wall than this, in metres: weights by distances must stay finite.
const TOUCHING: f32 = 1e-12;

/// A wall that overtakes what is carried along leaves it this share of the distance that it had.
const LEFT: f32 = 0.1;

/// How often the walls around a place are asked whether they have overtaken it.
const ROUNDS: usize = 4;

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
            .spread(|(i, (travel, velocity))| {
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
    /// between them, however these move. Of several walls that move differently one can still
    /// overtake what goes with all of them: it is pushed on by that one. Places farther than
    /// `reach` stay: no wall gets there.
    pub fn carried(&self, place: Vec3, reach: f32) -> Vec3 {
        if self.most_travel == 0.0 {
            return place;
        }
        let mut sides = Sides::default();
        let mesh = self.tree.mesh();
        let farthest = reach + self.most_travel;
        self.tree.for_each_within(place, farthest, &mut |found| {
            let corners = mesh.triangles[found.triangle as usize];
            // Most move much less than the fastest, and were not that near.
            let travels = corners.map(|v| self.travel[v as usize].length_squared());
            let travel = travels[0].max(travels[1]).max(travels[2]);
            let beyond = found.distance - reach;
            if beyond > 0.0 && beyond * beyond > travel {
                return;
            }
            let before = corners.map(|v| mesh.vertices[v as usize] - self.travel[v as usize]);
            let nearest = closest_point(place, before);
            let found = SurfacePoint {
                triangle: found.triangle,
                barycentric: nearest.barycentric,
                point: nearest.point,
                distance: place.distance(nearest.point),
            };
            sides.see(place, found);
        });
        let travel = |at: &SurfacePoint| self.mean(&self.travel, at.triangle, at.barycentric);
        let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
        for Side { found, .. } in sides.all() {
            let weight = found.distance.max(TOUCHING).recip();
            sum += weight * travel(found);
            weights += weight;
        }
        if weights == 0.0 {
            return place;
        }
        let mut carried = place + sum / weights;
        for _ in 0..ROUNDS {
            let before = carried;
            for Side { found, away } in sides.all() {
                let room = away.dot(carried - (found.point + travel(found)));
                carried += (LEFT * found.distance - room).max(0.0) * *away;
            }
            if carried == before {
                break;
            }
        }
        carried
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

    #[test]
    fn what_touches_an_edge_goes_with_it() {
        let fan = |k: u32| [0, 1 + k, 1 + (k + 1) % 7];
        let rim = |k: u32| Vec3::new((0.9 * k as f32).cos(), 0.0, (0.9 * k as f32).sin());
        let mesh = TriMesh {
            vertices: std::iter::once(Vec3::ZERO).chain((0..7).map(rim)).collect(),
            triangles: (0..7).map(fan).collect(),
        };
        let mut skin = Skin::new(Arc::new(mesh), true);
        skin.set_travel(1.0, |_| 0.1 * Vec3::X);
        // The vertices are where they have arrived.
        let carried = skin.carried(-0.1 * Vec3::X, 0.5);
        assert!(carried.length() < 1e-6, "{carried}");
    }

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

    /// Four walls around a ball stay, one comes at it from above, farther than what is left
    /// of the way with all of them.
    #[test]
    fn what_one_of_many_walls_overtakes_stays_on_its_side() {
        let block = |low: Vec3, high: Vec3| crate::mesh::Cuboid::new(low, high).build().unwrap();
        let plate = block(Vec3::new(-0.5, 0.1, -0.5), Vec3::new(0.5, 0.3, 0.5));
        let sides = [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z].map(|d| {
            let (near, far) = (0.1 * d, 0.3 * d);
            let width = 0.5 * (Vec3::ONE - d.abs());
            let (low, high) = (near.min(far) - width, near.max(far) + width);
            block(low.with_y(-1.0), high.with_y(0.0))
        });
        let moving = plate.vertices.len();
        let mut mesh = plate;
        for side in sides {
            let first = mesh.vertices.len() as u32;
            mesh.vertices.extend(side.vertices);
            let triangles = side.triangles.into_iter();
            mesh.triangles
                .extend(triangles.map(|t| t.map(|i| first + i)));
        }
        let mut skin = Skin::new(Arc::new(mesh.clone()), true);
        let way = |i: usize| {
            if i < moving {
                -0.15 * Vec3::Y
            } else {
                Vec3::ZERO
            }
        };
        skin.set_travel(1.0, way);
        let places = mesh.vertices.iter().enumerate();
        skin.refit(places.map(|(i, &p)| p + way(i)).collect());
        let carried = skin.carried(-0.01 * Vec3::Y, 0.4);
        assert!(!skin.tree.contains(carried), "{carried}");
        assert!(carried.y > -0.1, "{carried}");
    }
}
