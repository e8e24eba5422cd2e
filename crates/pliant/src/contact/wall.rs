//! The walls around a point, as planes: what fills the part of a smoothing kernel
//! that lies beyond a surface.

use std::sync::Arc;

use glam::Vec3;

use super::crease::Crease;
use super::sides::Sides;
use super::volume_map::MappedWall;
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::space::{Bvh, NearestCells, SurfacePoint, TriangleIndex};

/// A wall near a point, taken as a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wall {
    /// Distance from the point in metres, not negative.
    pub distance: f32,
    /// No place of it is nearer than this.
    pub at_least: f32,
    /// Unit vector from the wall to the point.
    pub normal: Vec3,
    /// How much of a mirror it is for pressure: 1 for a face, less where it begins to
    /// be one, 0 for a curved wall, whose images would not push each other equally
    /// and so keep a resting liquid moving.
    pub weight: f32,
    /// The same for viscosity, which only ever slows down.
    pub drag: f32,
    /// Velocity of the wall in m/s.
    pub velocity: Vec3,
    /// Triangle of the obstacle's mesh; 0 for planes.
    pub triangle: u32,
    /// Weights of the triangle's corners at the nearest place.
    pub barycentric: [f32; 3],
}

impl Wall {
    /// The tangent plane of a curved wall at rest, as seen from `p`.
    pub fn curved(p: Vec3, nearest: &SurfacePoint) -> Wall {
        Wall {
            distance: nearest.distance,
            at_least: nearest.distance,
            normal: (p - nearest.point).normalize_or_zero(),
            weight: 0.0,
            drag: 1.0,
            velocity: Vec3::ZERO,
            triangle: nearest.triangle,
            barycentric: nearest.barycentric,
        }
    }
}

impl Wall {
    /// The wall of a container at rest as its volume map has it; `slope` leads towards it.
    pub fn mapped(wall: &MappedWall, slope: Vec3) -> Wall {
        Wall {
            distance: wall.distance,
            at_least: wall.at_least,
            normal: -slope.normalize_or_zero(),
            weight: 0.0,
            drag: 1.0,
            velocity: Vec3::ZERO,
            triangle: wall.triangle,
            barycentric: [1.0 / 3.0; 3],
        }
    }
}

/// Most large triangles around one point that are looked at.
const MOST_FACETS: usize = 16;

/// Triangles are large if their edges are longer than this many times the reach.
const LARGE: f32 = 3.0;

/// A triangle near a point and its outward normal.
type Facet = (SurfacePoint, Vec3);

/// Finds the walls of a mesh within a fixed reach.
#[derive(Clone)]
pub(super) enum WallFinder {
    /// Small triangles: the nearest surface stands for all.
    Nearest(Arc<NearestCells>),
    /// Large triangles, as of a box: every plane counts, so that corners are right.
    Facets {
        tree: Arc<Bvh>,
        /// Outside of these there are no walls; empty if they would be too many to ask.
        boxes: Arc<[Aabb]>,
    },
}

/// Most boxes that are asked before an index.
const MOST_BOXES: usize = 16;

/// The boxes around the triangles, each once and grown by `reach`.
fn boxes_around(mesh: &TriMesh, reach: f32) -> Arc<[Aabb]> {
    let mut boxes: Vec<Aabb> = Vec::new();
    for t in 0..mesh.triangles.len() {
        // Rounding must not put a wall outside.
        let around = Aabb::of(mesh.corners(t)).grown(1.001 * reach);
        if !boxes.contains(&around) {
            boxes.push(around);
        }
        if boxes.len() > MOST_BOXES {
            return Arc::default();
        }
    }
    boxes.into()
}

impl WallFinder {
    /// For walls within `reach` of a point; `tree` is an index of the mesh, if there
    /// is one already.
    pub fn new(mesh: &Arc<TriMesh>, tree: Option<&Arc<Bvh>>, reach: f32) -> WallFinder {
        let tree = tree.cloned();
        let tree = tree.unwrap_or_else(|| Arc::new(Bvh::build(mesh.clone())));
        if mesh.mean_edge() > LARGE * reach {
            return WallFinder::Facets {
                tree,
                boxes: boxes_around(mesh, reach),
            };
        }
        WallFinder::Nearest(Arc::new(NearestCells::new(tree, reach)))
    }

    /// Calls `visit` with every wall within `reach` of `p`.
    pub fn for_each(&self, p: Vec3, reach: f32, visit: &mut dyn FnMut(Wall)) {
        match self {
            WallFinder::Nearest(cells) => {
                if let Some(nearest) = cells.closest(p, reach) {
                    visit(Wall::curved(p, &nearest));
                }
            }
            WallFinder::Facets { tree, boxes } => {
                if boxes.is_empty() || boxes.iter().any(|b| b.contains(p)) {
                    facets(tree, p, reach, visit);
                }
            }
        }
    }

    /// True if it is certain that there is no wall within `radius` of `center`.
    pub fn is_far(&self, center: Vec3, radius: f32) -> bool {
        match self {
            WallFinder::Nearest(_) => false,
            // The boxes have the reach already.
            WallFinder::Facets { boxes, .. } => {
                let far = |b: &Aabb| b.distance_squared(center) > radius * radius;
                !boxes.is_empty() && boxes.iter().all(far)
            }
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            WallFinder::Nearest(cells) => cells.bytes(),
            WallFinder::Facets { tree, .. } => tree.bytes(),
        }
    }
}

/// The distinct planes around `p`, nearest first. The nearest tells on which side
/// of the surface `p` is; a plane seen from the other side is the back of an outer
/// edge, not a wall, and one not seen squarely is a wall only in part.
fn facets(tree: &Bvh, p: Vec3, reach: f32, visit: &mut dyn FnMut(Wall)) {
    let mut found: [Option<Facet>; MOST_FACETS] = [None; MOST_FACETS];
    tree.for_each_within(p, reach, &mut |surface| {
        let normal = tree.mesh().area_normal(surface.triangle as usize);
        insert(&mut found, (surface, normal.normalize_or_zero()));
    });
    let Some((first, outwards)) = found[0] else {
        return;
    };
    let side = outwards.dot(p - first.point).signum();
    for (k, (surface, outwards)) in found.iter().flatten().enumerate() {
        // Another triangle of a plane that has counted already.
        let mut nearer = found[..k].iter().flatten();
        if nearer.any(|(_, n)| n.dot(*outwards) > 0.95) {
            continue;
        }
        let normal = side * *outwards;
        let away = (p - surface.point).normalize_or(normal);
        // Full up to 26 degrees off, nothing beyond 60.
        let weight = ((away.dot(normal) - 0.5) / 0.4).clamp(0.0, 1.0);
        // The nearest surface is always told, even where it is no wall.
        if weight > 0.0 || k == 0 {
            visit(Wall {
                distance: surface.distance,
                at_least: surface.distance,
                normal: away,
                weight,
                drag: weight,
                velocity: Vec3::ZERO,
                triangle: surface.triangle,
                barycentric: surface.barycentric,
            });
        }
    }
}

/// Calls `visit` with the walls of a surface within `reach` of `p`. The nearest place
/// always is one, so that a convex surface acts by its distance alone, which is smooth; close to
/// a shallow inner edge it goes over to the next face (`crease.rs`).
/// Further places are walls, too, if they lie in quite another direction and are seen
/// squarely: the other faces of an inner edge. Of a `closed` surface they must be seen from
/// the same side as the nearest: beyond an outer edge, the rear of the next face is no wall.
pub(super) fn walls_of_surface(
    (tree, closed): (&Bvh, bool),
    p: Vec3,
    reach: f32,
    mut visit: impl FnMut(&SurfacePoint, Wall),
) {
    let (mut sides, mut crease) = (Sides::default(), Crease::new(reach));
    tree.for_each_within(p, reach, &mut |found| {
        crease.note(&found);
        sides.see(p, found);
    });
    let sides = sides.sort();
    let facing = |at: &SurfacePoint, away: Vec3| {
        let normal = tree.mesh().area_normal(at.triangle as usize);
        normal.normalize_or_zero().dot(away)
    };
    let front = match sides.first() {
        Some(nearest) if closed => facing(&nearest.found, nearest.away).signum(),
        _ => 0.0,
    };
    let seen = |at: &SurfacePoint, away: Vec3| {
        let facing = facing(at, away);
        if closed { front * facing } else { facing.abs() }
    };
    for (k, side) in sides.iter().enumerate() {
        let mut wall = Wall::curved(p, &side.found);
        if k == 0 {
            crease.soften(&mut wall, p, seen);
        } else {
            let seen = seen(&side.found, side.away);
            let squarely = ((seen - 0.8) / 0.15).clamp(0.0, 1.0);
            let nearer = sides.iter().take(k);
            let nearer = nearer.map(|other| side.away.dot(other.away));
            let apart = ((0.5 - nearer.fold(-1.0, f32::max)) / 0.25).clamp(0.0, 1.0);
            wall.drag = squarely * apart;
        }
        if wall.drag > 0.0 {
            visit(&side.found, wall);
        }
    }
}

/// Keeps the nearest triangles, sorted by distance.
fn insert(found: &mut [Option<Facet>; MOST_FACETS], facet: Facet) {
    let mut next = facet;
    for slot in found.iter_mut() {
        match slot {
            None => {
                *slot = Some(next);
                return;
            }
            Some(kept) if next.0.distance < kept.0.distance => std::mem::swap(kept, &mut next),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Cuboid, IcoSphere};

    fn walls(p: Vec3, reach: f32) -> Vec<Wall> {
        let mesh = Arc::new(Cuboid::new(Vec3::ZERO, Vec3::ONE).build().unwrap());
        let finder = WallFinder::new(&mesh, None, reach);
        let mut walls = Vec::new();
        finder.for_each(p, reach, &mut |w| walls.push(w));
        walls
    }

    #[test]
    fn a_corner_has_three_walls_an_edge_two_a_face_one() {
        assert_eq!(walls(Vec3::splat(0.5), 0.2).len(), 0);
        assert_eq!(walls(Vec3::new(0.5, 0.05, 0.4), 0.2).len(), 1);
        assert_eq!(walls(Vec3::new(0.5, 0.05, 0.1), 0.2).len(), 2);
        let corner = walls(Vec3::new(0.1, 0.05, 0.12), 0.2);
        assert_eq!(corner.len(), 3);
        assert!((corner[0].normal - Vec3::Y).length() < 1e-5);
        for w in corner {
            assert!((w.weight - 1.0).abs() < 1e-5 && w.distance < 0.121);
        }
    }

    #[test]
    fn the_nearest_place_of_a_fine_surface_is_always_a_wall() {
        let ball = IcoSphere {
            center: Vec3::ZERO,
            radius: 1.0,
            cuts: 3,
        };
        let tree = Bvh::build(Arc::new(ball.build().unwrap()));
        for k in 0..500 {
            let angle = k as f32;
            let ring = (0.37 * angle).sin();
            let way = (1.0 - ring * ring).sqrt() * Vec3::new(angle.cos(), 0.0, angle.sin());
            let p = (0.985 + 0.005 * (k % 3) as f32) * (way + ring * Vec3::Y);
            let mut nearest = f32::INFINITY;
            walls_of_surface((&tree, true), p, 0.8, |_, w| {
                nearest = nearest.min(w.at_least)
            });
            let (right, _) = tree.closest(p, 1.0).unwrap();
            assert_eq!(nearest, right.distance, "{p}");
        }
    }

    #[test]
    fn beyond_an_outer_edge_only_the_near_face_is_a_wall() {
        let above = walls(Vec3::new(0.05, 1.03, 0.5), 0.2);
        assert_eq!(above.len(), 1);
        assert!((above[0].normal - Vec3::Y).length() < 1e-5);
    }

    /// Beside a box, the face below is behind its own edge. It lies in quite another direction
    /// and its normal is along the way to it, but that is seen from behind.
    #[test]
    fn the_rear_of_a_face_is_no_wall() {
        let cube = Cuboid::new(Vec3::ZERO, Vec3::ONE).build().unwrap();
        let tree = Bvh::build(Arc::new(cube));
        let count = |p: Vec3| {
            let mut walls = 0;
            walls_of_surface((&tree, true), p, 0.2, |_, _| walls += 1);
            walls
        };
        assert_eq!(count(Vec3::new(1.03, 0.15, 0.5)), 1);
        // From within both are walls.
        assert_eq!(count(Vec3::new(0.97, 0.15, 0.5)), 2);
    }
}
