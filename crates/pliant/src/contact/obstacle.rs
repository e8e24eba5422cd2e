//! What matter bumps into: static surfaces.

use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

use glam::Vec3;

use super::Touch;
use super::wall::{Wall, WallFinder};
use crate::math::Aabb;
use crate::mesh::{HeightGrid, TriMesh};
use crate::space::{Bvh, Crossing, HeightIndex, SurfacePoint, TriangleIndex};

/// A static surface with its contact law.
#[derive(Clone)]
pub struct Obstacle {
    /// Name in reports and files.
    pub name: String,
    /// Share of the normal speed given back by a collision, 0 to 1.
    pub restitution: f32,
    /// Coulomb friction coefficient, 0 or more.
    pub friction: f32,
    /// Liquid sticks to it by its viscosity, as real liquids do, instead of slipping
    /// along.
    pub no_slip: bool,
    /// Angle at which a drop meets it, in radians: 0 is wetted, π repels.
    pub contact_angle: f32,
    shape: Shape,
}

#[derive(Clone)]
enum Shape {
    /// Everything below the plane `normal · x = offset` is solid.
    Plane { normal: Vec3, offset: f32 },
    /// Triangles, solid or thin.
    Surface(Surface),
}

#[derive(Clone)]
struct Surface {
    mesh: Arc<TriMesh>,
    index: Arc<dyn TriangleIndex>,
    /// Largest radius that `index` answers.
    reach: f32,
    inside: Inside,
    /// Finds walls within the given reach; made when liquids need it.
    walls: Option<(WallFinder, f32)>,
}

/// What tells the inside of a surface from its outside.
#[derive(Clone)]
enum Inside {
    /// An open surface has none.
    None,
    /// A closed mesh.
    Mesh(Arc<Bvh>),
    /// Under a landscape.
    Below(Arc<HeightIndex>),
}

impl Obstacle {
    /// The half-space below the plane through `point` with outward `normal`.
    pub fn plane(name: impl Into<String>, point: Vec3, normal: Vec3) -> Obstacle {
        let normal = normal.normalize_or(Vec3::Y);
        Obstacle {
            name: name.into(),
            restitution: 0.0,
            friction: 0.0,
            no_slip: false,
            contact_angle: FRAC_PI_2,
            shape: Shape::Plane {
                normal,
                offset: normal.dot(point),
            },
        }
    }

    /// A triangle mesh searched through `index`, which must have been built over
    /// the same mesh for spheres of up to `reach`.
    pub fn mesh(
        name: impl Into<String>,
        mesh: Arc<TriMesh>,
        index: Arc<dyn TriangleIndex>,
        reach: f32,
    ) -> Obstacle {
        let inside = if mesh.check().is_closed() {
            Inside::Mesh(Arc::new(Bvh::build(mesh.clone())))
        } else {
            Inside::None
        };
        Obstacle {
            name: name.into(),
            restitution: 0.0,
            friction: 0.0,
            no_slip: false,
            contact_angle: FRAC_PI_2,
            shape: Shape::Surface(Surface {
                mesh,
                index,
                reach,
                inside,
                walls: None,
            }),
        }
    }

    /// A landscape; everything below it is solid.
    pub fn heightfield(name: impl Into<String>, grid: HeightGrid) -> Obstacle {
        let mesh = Arc::new(grid.to_mesh());
        let index = Arc::new(HeightIndex::new(grid));
        Obstacle {
            name: name.into(),
            restitution: 0.0,
            friction: 0.0,
            no_slip: false,
            contact_angle: FRAC_PI_2,
            shape: Shape::Surface(Surface {
                mesh,
                index: index.clone(),
                reach: f32::INFINITY,
                inside: Inside::Below(index),
                walls: None,
            }),
        }
    }

    /// Sets restitution and friction.
    pub fn with_contact(mut self, restitution: f32, friction: f32) -> Obstacle {
        self.restitution = restitution;
        self.friction = friction;
        self
    }

    /// Lets liquid stick to it, or slip along.
    pub fn with_no_slip(mut self, no_slip: bool) -> Obstacle {
        self.no_slip = no_slip;
        self
    }

    /// Sets the angle in radians at which drops meet it.
    pub fn with_contact_angle(mut self, angle: f32) -> Obstacle {
        self.contact_angle = angle;
        self
    }

    /// The triangles, if it has any.
    pub fn triangles(&self) -> Option<&Arc<TriMesh>> {
        match &self.shape {
            Shape::Plane { .. } => None,
            Shape::Surface(s) => Some(&s.mesh),
        }
    }

    /// The plane as (normal, offset), if it is one.
    pub fn as_plane(&self) -> Option<(Vec3, f32)> {
        match self.shape {
            Shape::Plane { normal, offset } => Some((normal, offset)),
            Shape::Surface(_) => None,
        }
    }

    /// What finds its surface: `plane`, or the name of the index over its triangles.
    pub fn index_name(&self) -> &'static str {
        match &self.shape {
            Shape::Plane { .. } => "plane",
            Shape::Surface(s) => s.index.name(),
        }
    }

    /// The box around it, if it is bounded.
    pub fn bounds(&self) -> Option<Aabb> {
        self.triangles().map(|m| m.aabb())
    }

    /// True if it divides space into an inside and an outside.
    pub fn is_closed(&self) -> bool {
        match &self.shape {
            Shape::Plane { .. } => true,
            Shape::Surface(s) => !matches!(s.inside, Inside::None),
        }
    }

    /// True if `p` is inside the solid or the closed mesh.
    pub fn contains(&self, p: Vec3) -> bool {
        match &self.shape {
            Shape::Plane { normal, offset } => normal.dot(p) < *offset,
            Shape::Surface(s) => match &s.inside {
                Inside::None => false,
                Inside::Mesh(bvh) => bvh.contains(p),
                Inside::Below(ground) => ground.is_below(p),
            },
        }
    }

    /// Heap memory of its index, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.shape {
            Shape::Plane { .. } => 0,
            Shape::Surface(s) => {
                let inside = match &s.inside {
                    Inside::Mesh(bvh) => bvh.bytes(),
                    Inside::None | Inside::Below(_) => 0,
                };
                let walls = s.walls.as_ref().map_or(0, |(w, _)| w.bytes());
                // The tree of a closed mesh may serve both.
                s.index.bytes() + inside.max(walls)
            }
        }
    }

    /// Makes ready to find walls within `reach`.
    pub(crate) fn prepare_walls(&mut self, reach: f32) {
        if let Shape::Surface(s) = &mut self.shape
            && s.walls.as_ref().is_none_or(|(_, r)| *r < reach)
        {
            let tree = match &s.inside {
                Inside::Mesh(tree) => Some(tree),
                Inside::None | Inside::Below(_) => None,
            };
            s.walls = Some((WallFinder::new(&s.mesh, tree, reach), reach));
        }
    }

    /// Calls `visit` with every wall within `reach` of `p`, the nearest of all
    /// surfaces among them; needs
    /// [`Obstacle::prepare_walls`].
    pub(crate) fn for_each_wall(&self, p: Vec3, reach: f32, visit: &mut dyn FnMut(Wall)) {
        match &self.shape {
            Shape::Plane { normal, offset } => {
                let distance = normal.dot(p) - offset;
                if distance < reach {
                    visit(Wall {
                        distance: distance.max(0.0),
                        normal: *normal,
                        weight: 1.0,
                        drag: 1.0,
                        triangle: 0,
                    });
                }
            }
            Shape::Surface(s) => {
                if let Some((finder, _)) = &s.walls {
                    finder.for_each(p, reach, visit);
                }
            }
        }
    }

    /// How far the distances of [`Obstacle::nearest`] may be from the truth.
    pub(super) fn distance_error(&self) -> f32 {
        match &self.shape {
            Shape::Plane { .. } => 0.0,
            Shape::Surface(s) => s.index.distance_error(),
        }
    }

    /// The surface nearest to `p` if it is within `radius`. `origin` is a place on
    /// the free side, which decides the normal where `p` lies on the surface.
    pub(super) fn nearest(&self, p: Vec3, radius: f32, origin: Vec3) -> Option<Touch> {
        match &self.shape {
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
                let mut best: Option<SurfacePoint> = None;
                s.index
                    .for_each_within(p, radius.min(s.reach), &mut |found| {
                        if best.is_none_or(|b| found.distance < b.distance) {
                            best = Some(found);
                        }
                    });
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
                best.map(|b| Touch {
                    point: b.point,
                    normal: s.normal_towards(&b, p, origin),
                    distance: b.distance,
                    triangle: b.triangle,
                    barycentric: b.barycentric,
                })
            }
        }
    }

    /// Where the way `from` -> `to` first enters it.
    pub(super) fn crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing> {
        match &self.shape {
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
        }
    }
}

impl Surface {
    /// Unit vector from the surface to `p`, or to the side of `origin` if `p` is
    /// too near to tell.
    fn normal_towards(&self, at: &SurfacePoint, p: Vec3, origin: Vec3) -> Vec3 {
        let size = p.abs().max_element();
        if at.distance > 1e-5 * size.max(self.reach.min(1.0)) {
            return (p - at.point) / at.distance;
        }
        let normal = self.mesh.area_normal(at.triangle as usize);
        let normal = normal.normalize_or(Vec3::Y);
        if normal.dot(origin - at.point) < 0.0 {
            -normal
        } else {
            normal
        }
    }
}

impl std::fmt::Debug for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape = match &self.shape {
            Shape::Plane { normal, offset } => format!("plane {normal} at {offset}"),
            Shape::Surface(s) => {
                format!("{} triangles in {}", s.mesh.triangles.len(), s.index.name())
            }
        };
        f.debug_struct("Obstacle")
            .field("name", &self.name)
            .field("shape", &shape)
            .finish_non_exhaustive()
    }
}
