//! What an obstacle looks like, and where its surface is, in its own frame.

use std::sync::Arc;

use glam::Vec3;

use super::peristalsis::WavingTube;
use super::skin::Skin;
use super::triangle::closest_point;
use super::volume_map::VolumeMap;
use super::wall::{Wall, WallFinder};
use super::{Filled, Touch};
use crate::mesh::TriMesh;
use crate::space::{Bvh, Crossing, HeightIndex, NearestCells, SurfacePoint, TriangleIndex};

/// Size of the cells for soft bodies in mean edges of the mesh.
const TOUCH_CELL: f32 = 0.5;

#[derive(Clone)]
pub(super) enum Shape {
    /// Everything below the plane `normal · x = offset` is solid.
    Plane { normal: Vec3, offset: f32 },
    /// Triangles, solid or thin.
    Surface(Surface),
    /// A tube of triangles along which a wave travels.
    Waving(Box<WavingTube>),
    /// The surface of a body.
    Skin(Box<Skin>),
}

#[derive(Clone)]
pub(super) struct Surface {
    pub mesh: Arc<TriMesh>,
    pub index: Arc<dyn TriangleIndex>,
    /// Largest radius that `index` answers.
    pub reach: f32,
    pub inside: Inside,
    /// Finds walls within the given reach; made when liquids need it.
    pub walls: Option<(WallFinder, f32)>,
    /// What is beyond the walls of a container, for kernels of each reach that liquids
    /// in it have.
    pub maps: Vec<Arc<VolumeMap>>,
    /// Finds the nearest place within `reach`; made when soft bodies need it.
    pub touched: Option<Arc<NearestCells>>,
}

/// What tells the inside of a surface from its outside.
#[derive(Clone)]
pub(super) enum Inside {
    /// An open surface has none.
    None,
    /// A closed mesh.
    Mesh(Arc<Bvh>),
    /// Under a landscape.
    Below(Arc<HeightIndex>),
}

impl Shape {
    /// The triangles at rest, if it has any.
    pub fn triangles(&self) -> Option<&Arc<TriMesh>> {
        match self {
            Shape::Plane { .. } => None,
            Shape::Surface(s) => Some(&s.mesh),
            Shape::Waving(tube) => Some(&tube.rest),
            Shape::Skin(skin) => Some(skin.tree.mesh()),
        }
    }

    /// The surface whose vertices move, if it is one.
    #[inline]
    pub fn skin(&self) -> Option<&Skin> {
        match self {
            Shape::Plane { .. } | Shape::Surface(_) => None,
            Shape::Waving(tube) => Some(&tube.skin),
            Shape::Skin(skin) => Some(skin),
        }
    }

    /// What finds its surface: `plane`, or the name of the index over its triangles.
    pub fn index_name(&self) -> &'static str {
        match self {
            Shape::Plane { .. } => "plane",
            Shape::Surface(s) => s.index.name(),
            Shape::Waving(_) | Shape::Skin(_) => "bvh",
        }
    }

    /// True if it divides space into an inside and an outside.
    pub fn is_closed(&self) -> bool {
        match self {
            Shape::Plane { .. } => true,
            Shape::Surface(s) => !matches!(s.inside, Inside::None),
            Shape::Waving(tube) => tube.skin.tree.is_closed(),
            Shape::Skin(skin) => skin.tree.is_closed(),
        }
    }

    /// True if `p` is inside the solid or the closed mesh.
    pub fn contains(&self, p: Vec3) -> bool {
        match self {
            Shape::Plane { normal, offset } => normal.dot(p) < *offset,
            Shape::Surface(s) => match &s.inside {
                Inside::None => false,
                Inside::Mesh(bvh) => bvh.contains(p),
                Inside::Below(ground) => ground.is_below(p),
            },
            Shape::Waving(tube) => tube.skin.tree.contains(p),
            Shape::Skin(skin) => skin.tree.contains(p),
        }
    }

    /// Heap memory of its index, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Shape::Plane { .. } => 0,
            Shape::Surface(s) => {
                let inside = match &s.inside {
                    Inside::Mesh(bvh) => bvh.bytes(),
                    Inside::None | Inside::Below(_) => 0,
                };
                let walls = s.walls.as_ref().map_or(0, |(w, _)| w.bytes());
                let touched = s.touched.as_ref().map_or(0, |t| t.bytes());
                let maps: usize = s.maps.iter().map(|m| m.bytes()).sum();
                s.index.bytes() + inside + walls + touched + maps
            }
            Shape::Waving(tube) => tube.bytes(),
            Shape::Skin(skin) => skin.bytes(),
        }
    }

    /// Makes ready to find walls within `reach`.
    pub fn prepare_walls(&mut self, reach: f32) {
        if let Shape::Surface(s) = self
            && s.walls.as_ref().is_none_or(|(_, r)| *r < reach)
        {
            let tree = match &s.inside {
                Inside::Mesh(tree) => Some(tree),
                Inside::None | Inside::Below(_) => None,
            };
            s.walls = Some((WallFinder::new(&s.mesh, tree, reach), reach));
        }
    }

    /// Makes ready to tell what is beyond its walls, for kernels of reach `reach`: of
    /// closed meshes of small triangles. Large ones are better as planes.
    pub fn prepare_map(&mut self, reach: f32) {
        if let Shape::Surface(s) = self
            && let Inside::Mesh(tree) = &s.inside
            && let Some((WallFinder::Nearest(_), _)) = &s.walls
            && s.maps.iter().all(|m| m.reach() != reach)
        {
            s.maps.extend(VolumeMap::new(tree, reach).map(Arc::new));
        }
    }

    /// What is beyond the walls around `p`, which is inside, for a kernel of reach
    /// `reach`; `None` if walls are better taken as planes.
    pub fn beyond(&self, p: Vec3, reach: f32) -> Option<Filled> {
        let Shape::Surface(s) = self else {
            return None;
        };
        let map = s.maps.iter().find(|m| m.reach() == reach)?;
        Some(map.at(p))
    }

    /// Makes ready for many points that touch it. Where an index is exact, as far as it
    /// reaches, cells of nearest triangles answer in its place.
    pub fn prepare_touch(&mut self) {
        if let Shape::Surface(s) = self
            && s.touched.is_none()
            && s.reach.is_finite()
            && s.index.distance_error() == 0.0
        {
            let tree = match &s.inside {
                Inside::Mesh(tree) => tree.clone(),
                Inside::None | Inside::Below(_) => Arc::new(Bvh::build(s.mesh.clone())),
            };
            // Soft bodies come to new places all the time: cells as large as the triangles
            // allow have to be filled rarely.
            let cell = TOUCH_CELL * s.mesh.mean_edge();
            let cell = cell.clamp(0.1 * s.reach, s.reach);
            s.touched = Some(Arc::new(NearestCells::with_cell(tree, s.reach, cell)));
        }
    }

    /// Calls `visit` with every wall within `reach` of `p`, the nearest of all
    /// surfaces among them; needs
    /// [`Shape::prepare_walls`].
    pub fn for_each_wall(&self, p: Vec3, reach: f32, visit: &mut dyn FnMut(Wall)) {
        match self {
            Shape::Plane { normal, offset } => {
                let distance = normal.dot(p) - offset;
                if distance < reach {
                    visit(Wall {
                        distance: distance.max(0.0),
                        at_least: distance.max(0.0),
                        normal: *normal,
                        weight: 1.0,
                        drag: 1.0,
                        velocity: Vec3::ZERO,
                        triangle: 0,
                        barycentric: [1.0, 0.0, 0.0],
                    });
                }
            }
            Shape::Surface(s) => {
                if let Some((finder, _)) = &s.walls {
                    finder.for_each(p, reach, visit);
                }
            }
            Shape::Waving(tube) => tube.skin.for_each_wall(p, reach, visit),
            Shape::Skin(skin) => skin.for_each_wall(p, reach, visit),
        }
    }

    /// True if it is certain that no place within `radius` of `center` has a wall. Quick, and
    /// says nothing of finely divided surfaces.
    pub fn is_far(&self, center: Vec3, radius: f32) -> bool {
        match self {
            Shape::Plane { normal, offset } => normal.dot(center) - offset > radius,
            Shape::Surface(s) => s
                .walls
                .as_ref()
                .is_some_and(|(w, _)| w.is_far(center, radius)),
            Shape::Waving(tube) => tube.skin.tree.is_far(center, radius),
            Shape::Skin(skin) => skin.tree.is_far(center, radius),
        }
    }

    /// How far the distances of [`Shape::nearest`] may be from the truth.
    pub fn distance_error(&self) -> f32 {
        match self {
            Shape::Plane { .. } | Shape::Waving(_) | Shape::Skin(_) => 0.0,
            Shape::Surface(s) => s.index.distance_error(),
        }
    }

    /// Distance within which [`Shape::nearest`] finds the surface.
    pub fn reach(&self) -> f32 {
        match self {
            Shape::Plane { .. } | Shape::Waving(_) | Shape::Skin(_) => f32::INFINITY,
            Shape::Surface(s) => s.reach,
        }
    }

    /// The surface nearest to `p` if it is within `radius`. `origin` is a place on
    /// the free side, which decides the normal where `p` lies on the surface.
    pub fn nearest(&self, p: Vec3, radius: f32, origin: Vec3) -> Option<Touch> {
        match self {
            Shape::Plane { normal, offset } => {
                let distance = normal.dot(p) - offset;
                (distance < radius).then(|| Touch {
                    point: p - distance * *normal,
                    normal: *normal,
                    distance,
                    triangle: 0,
                    barycentric: [1.0, 0.0, 0.0],
                })
            }
            Shape::Surface(s) => {
                let best = s.closest(p, radius.min(s.reach));
                if best.is_none() && radius > s.reach {
                    // Too far for the index; a crossing on the way is near enough.
                    let crossing = s.index.first_crossing(origin, p)?;
                    return Some(Touch {
                        point: origin + crossing.fraction * (p - origin),
                        normal: crossing.normal,
                        distance: s.reach,
                        triangle: crossing.triangle,
                        barycentric: crossing.barycentric,
                    });
                }
                best.map(|b| touch(&b, normal_towards(&s.mesh, s.reach, &b, p, origin)))
            }
            Shape::Waving(tube) => nearest_of_skin(&tube.skin, p, radius, origin),
            Shape::Skin(skin) => nearest_of_skin(skin, p, radius, origin),
        }
    }

    /// No more than the distance of the surface from `p`, up to `radius`.
    pub fn clearance(&self, p: Vec3, radius: f32) -> f32 {
        let known = match self {
            Shape::Plane { normal, offset } => return (normal.dot(p) - offset).min(radius),
            Shape::Surface(s) => match &s.touched {
                Some(cells) => cells.closest(p, radius).map(|b| b.distance),
                None => {
                    return s
                        .closest(p, s.reach)
                        .map_or(s.reach, |b| b.distance)
                        .min(radius);
                }
            },
            Shape::Waving(tube) => tube.skin.closest(p, radius).map(|b| b.distance),
            Shape::Skin(skin) => skin.closest(p, radius).map(|b| b.distance),
        };
        known.unwrap_or(radius)
    }

    /// Where the way `from` -> `to` first enters it.
    pub fn crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing> {
        match self {
            Shape::Plane { normal, offset } => {
                let (d0, d1) = (normal.dot(from) - offset, normal.dot(to) - offset);
                (d1 < 0.0).then(|| Crossing {
                    triangle: 0,
                    barycentric: [1.0, 0.0, 0.0],
                    fraction: if d0 > d1 {
                        (d0 / (d0 - d1)).clamp(0.0, 1.0)
                    } else {
                        0.0
                    },
                    normal: *normal,
                })
            }
            Shape::Surface(s) => s.index.first_crossing(from, to),
            Shape::Waving(tube) => tube.skin.tree.first_crossing(from, to),
            Shape::Skin(skin) => skin.tree.first_crossing(from, to),
        }
    }

    /// The place of a triangle, or of the plane, nearest to `p`, with the weights of
    /// the triangle's corners.
    pub fn place_on(&self, triangle: u32, p: Vec3) -> (Vec3, [f32; 3]) {
        match self {
            Shape::Plane { normal, offset } => {
                (p - (normal.dot(p) - offset) * *normal, [1.0, 0.0, 0.0])
            }
            Shape::Surface(Surface { mesh, .. }) => place_on(mesh, triangle, p),
            Shape::Waving(tube) => place_on(tube.skin.tree.mesh(), triangle, p),
            Shape::Skin(skin) => place_on(skin.tree.mesh(), triangle, p),
        }
    }
}

impl Surface {
    /// The point nearest to `p` within `radius`.
    fn closest(&self, p: Vec3, radius: f32) -> Option<SurfacePoint> {
        if let Some((WallFinder::Nearest(cells), _)) = &self.walls
            && radius <= cells.reach()
            && self.index.distance_error() == 0.0
        {
            return cells.closest(p, radius);
        }
        if let Some(cells) = &self.touched {
            return cells.closest(p, radius);
        }
        let mut best: Option<SurfacePoint> = None;
        self.index.for_each_within(p, radius, &mut |found| {
            if best.is_none_or(|b| found.distance < b.distance) {
                best = Some(found);
            }
        });
        best
    }
}

fn nearest_of_skin(skin: &Skin, p: Vec3, radius: f32, origin: Vec3) -> Option<Touch> {
    let b = skin.closest(p, radius)?;
    let normal = normal_towards(skin.tree.mesh(), radius, &b, p, origin);
    Some(touch(&b, normal))
}

fn touch(at: &SurfacePoint, normal: Vec3) -> Touch {
    Touch {
        point: at.point,
        normal,
        distance: at.distance,
        triangle: at.triangle,
        barycentric: at.barycentric,
    }
}

fn place_on(mesh: &TriMesh, triangle: u32, p: Vec3) -> (Vec3, [f32; 3]) {
    let near = closest_point(p, mesh.corners(triangle as usize));
    (near.point, near.barycentric)
}

/// Unit vector from the surface to `p`, or to the side of `origin` if `p` is too
/// near to tell.
fn normal_towards(mesh: &TriMesh, reach: f32, at: &SurfacePoint, p: Vec3, origin: Vec3) -> Vec3 {
    let size = p.abs().max_element();
    if at.distance > 1e-5 * size.max(reach.min(1.0)) {
        return (p - at.point) / at.distance;
    }
    let normal = mesh.area_normal(at.triangle as usize);
    let normal = normal.normalize_or(Vec3::Y);
    if normal.dot(origin - at.point) < 0.0 {
        -normal
    } else {
        normal
    }
}
