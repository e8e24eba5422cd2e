//! What matter bumps into: surfaces, at rest or with a prescribed motion.
//!
//! A rigid obstacle keeps its triangles and their index where they were made.
//! Questions are taken to its own frame and the answers back, so nothing is ever
//! rebuilt. Within a sub-step it goes from one pose to another, and a ball is swept
//! from where it was in the frame of the first to where it is in that of the second:
//! on which side of the surface it is cannot change unnoticed, however fast either
//! moves.

use std::borrow::Cow;
use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

use glam::Vec3;

use super::motion::{Motion, Pose, Twist};
use super::peristalsis::{Peristalsis, WavingTube};
use super::shape::{Inside, Shape, Surface};
use super::skin::Skin;
use super::wall::Wall;
use super::{Filled, Touch};
use crate::math::Aabb;
use crate::mesh::{HeightGrid, TriMesh};
use crate::observe::StateHash;
use crate::space::{Bvh, Crossing, HeightIndex, TriangleIndex};

/// A surface with its contact law, and its motion if it has one.
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
    moving: Option<Box<Moving>>,
}

/// A motion, and where in it the obstacle is.
#[derive(Clone)]
struct Moving {
    /// None for a body that moves by itself.
    motion: Option<Motion>,
    /// At the start of the sub-step.
    start: Pose,
    /// At its end; the same as `start` between sub-steps.
    end: Pose,
    /// Between the two.
    twist: Twist,
}

impl Obstacle {
    fn new(name: impl Into<String>, shape: Shape) -> Obstacle {
        Obstacle {
            name: name.into(),
            restitution: 0.0,
            friction: 0.0,
            no_slip: false,
            contact_angle: FRAC_PI_2,
            shape,
            moving: None,
        }
    }

    /// The half-space below the plane through `point` with outward `normal`.
    pub fn plane(name: impl Into<String>, point: Vec3, normal: Vec3) -> Obstacle {
        let normal = normal.normalize_or(Vec3::Y);
        let offset = normal.dot(point);
        Obstacle::new(name, Shape::Plane { normal, offset })
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
        let surface = Surface {
            mesh,
            index,
            reach,
            inside,
            walls: None,
            maps: Vec::new(),
            touched: None,
        };
        Obstacle::new(name, Shape::Surface(surface))
    }

    /// A landscape; everything below it is solid.
    pub fn heightfield(name: impl Into<String>, grid: HeightGrid) -> Obstacle {
        let mesh = Arc::new(grid.to_mesh());
        let index = Arc::new(HeightIndex::new(grid));
        let surface = Surface {
            mesh,
            index: index.clone(),
            reach: f32::INFINITY,
            inside: Inside::Below(index),
            walls: None,
            maps: Vec::new(),
            touched: None,
        };
        Obstacle::new(name, Shape::Surface(surface))
    }

    /// The surface of a deformable body, which the body moves.
    pub(crate) fn skin(name: impl Into<String>, mesh: TriMesh) -> Obstacle {
        let skin = Skin::new(Arc::new(mesh), true);
        Obstacle::new(name, Shape::Skin(Box::new(skin)))
    }

    /// The surface of a rigid body that is now at `pose`.
    pub(crate) fn rigid(name: impl Into<String>, mesh: Arc<TriMesh>, pose: Pose) -> Obstacle {
        let skin = Skin::new(mesh, true);
        let mut obstacle = Obstacle::new(name, Shape::Skin(Box::new(skin)));
        obstacle.moving = Some(Box::new(Moving {
            motion: None,
            start: pose,
            end: pose,
            twist: Twist::default(),
        }));
        obstacle
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

    /// Lets it move as prescribed, whatever bumps into it.
    pub fn with_motion(mut self, motion: Motion) -> Obstacle {
        let pose = motion.pose(0.0);
        self.moving = Some(Box::new(Moving {
            motion: Some(motion),
            start: pose,
            end: pose,
            twist: Twist::default(),
        }));
        self
    }

    /// Lets a wave run along `axis`, a line of points inside its tube of triangles,
    /// which must be fine enough to follow it. Planes and landscapes have no axis and
    /// stay as they are.
    pub fn with_peristalsis(mut self, wave: Peristalsis, axis: &[Vec3]) -> Obstacle {
        if let Shape::Surface(Surface { mesh, .. }) = &self.shape {
            let tube = WavingTube::new(mesh.clone(), axis, wave);
            self.shape = Shape::Waving(Box::new(tube));
        }
        self
    }

    /// True if it has a motion, even if that has not begun or is over.
    pub fn is_moving(&self) -> bool {
        self.moving.is_some() || self.shape.skin().is_some()
    }

    /// The triangles before any motion, if it has any.
    pub fn triangles(&self) -> Option<&Arc<TriMesh>> {
        self.shape.triangles()
    }

    /// The triangles where they are now, if it has any.
    pub fn triangles_now(&self) -> Option<Cow<'_, TriMesh>> {
        let mesh = match &self.shape {
            Shape::Waving(tube) => tube.skin.tree.mesh(),
            Shape::Plane { .. } | Shape::Surface(_) | Shape::Skin(_) => self.triangles()?,
        };
        Some(match &self.moving {
            None => Cow::Borrowed(&**mesh),
            Some(m) => Cow::Owned(TriMesh {
                vertices: mesh.vertices.iter().map(|&v| m.end.place(v)).collect(),
                triangles: mesh.triangles.clone(),
            }),
        })
    }

    /// The plane where it is now as (normal, offset), if it is one.
    pub fn as_plane(&self) -> Option<(Vec3, f32)> {
        let Shape::Plane { normal, offset } = self.shape else {
            return None;
        };
        Some(match &self.moving {
            None => (normal, offset),
            Some(m) => {
                let turned = m.end.direction(normal);
                (turned, turned.dot(m.end.place(offset * normal)))
            }
        })
    }

    /// What finds its surface: `plane`, or the name of the index over its triangles.
    pub fn index_name(&self) -> &'static str {
        self.shape.index_name()
    }

    /// The box around it where it is now, if it is bounded.
    pub fn bounds(&self) -> Option<Aabb> {
        self.triangles_now().map(|m| m.aabb())
    }

    /// True if it divides space into an inside and an outside.
    pub fn is_closed(&self) -> bool {
        self.shape.is_closed()
    }

    /// True if `p` is inside the solid or the closed mesh.
    pub fn contains(&self, p: Vec3) -> bool {
        self.shape.contains(self.start_frame(p))
    }

    /// The place of a body's surface that is nearest to `p` if `p` is inside the body, no deeper
    /// than `depth`.
    pub(super) fn nearest_exit(&self, p: Vec3, depth: f32) -> Option<Vec3> {
        let tree = &self.shape.skin()?.tree;
        let (distance, nearest) = tree.signed_nearest(self.end_frame(p), depth)?;
        (distance < 0.0).then_some(nearest.point)
    }

    /// True if its surface is within `distance` of `p`, as of the start of the sub-step.
    pub(crate) fn is_within(&self, p: Vec3, distance: f32) -> bool {
        let p = self.start_frame(p);
        self.shape.nearest(p, distance, p).is_some()
    }

    /// Velocity in m/s of the wall at `place`, as of the last sub-step; 0 at rest.
    pub fn velocity_at(&self, place: Vec3) -> Vec3 {
        let at = |skin: &Skin| {
            let found = skin.closest(self.start_frame(place), f32::INFINITY)?;
            Some(skin.velocity(found.triangle, found.barycentric))
        };
        let wave = self.shape.skin().and_then(at).unwrap_or(Vec3::ZERO);
        self.with_own_motion(place, wave)
    }

    /// The velocity of the wall at the end of the sub-step where it is touched.
    pub(super) fn velocity_of(&self, touch: &Touch) -> Vec3 {
        let at = |skin: &Skin| skin.velocity(touch.triangle, touch.barycentric);
        let wave = self.shape.skin().map_or(Vec3::ZERO, at);
        self.with_own_motion(touch.point, wave)
    }

    fn with_own_motion(&self, place: Vec3, in_its_frame: Vec3) -> Vec3 {
        match &self.moving {
            None => in_its_frame,
            Some(m) => m.twist.at(place) + m.end.direction(in_its_frame),
        }
    }

    /// Heap memory of its index, in bytes.
    pub fn bytes(&self) -> usize {
        self.shape.bytes()
    }

    /// Adds what tells it from other obstacles to a fingerprint; not where it is now.
    pub(crate) fn fingerprint(&self, hash: &mut StateHash) {
        hash.f32s(&[self.restitution, self.friction, self.contact_angle]);
        hash.word(u32::from(self.no_slip));
        hash.text(self.index_name());
        if let Shape::Plane { normal, offset } = self.shape {
            hash.f32s(&[normal.x, normal.y, normal.z, offset]);
        }
        if let Some(mesh) = self.triangles() {
            for v in &mesh.vertices {
                hash.f32s(&v.to_array());
            }
            for t in &mesh.triangles {
                t.iter().for_each(|&v| hash.word(v));
            }
        }
        if let Some(motion) = self.moving.as_ref().and_then(|m| m.motion.as_ref()) {
            // Debug prints numbers so that different ones differ.
            hash.text(&format!("{motion:?}"));
        }
        if let Shape::Waving(tube) = &self.shape {
            hash.text(&format!("{:?}", tube.wave()));
        }
    }

    /// Puts it where its motion has it at `time`.
    pub(crate) fn move_to(&mut self, time: f64) {
        if let Some(m) = &mut self.moving
            && let Some(motion) = &m.motion
        {
            m.start = motion.pose(time);
            m.end = m.start;
        }
        if let Shape::Waving(tube) = &mut self.shape {
            tube.move_to(time);
        }
    }

    /// Begins a sub-step: from now until [`Obstacle::end_substep`] it is on its way
    /// from its place at `start` to that at `end`, in seconds.
    pub(crate) fn begin_substep(&mut self, start: f64, end: f64) {
        if let Some(m) = &mut self.moving
            && let Some(motion) = &m.motion
        {
            m.start = motion.pose(start);
            m.end = motion.pose(end);
            m.twist = motion.twist(start, end);
        }
        if let Shape::Waving(tube) = &mut self.shape {
            tube.begin_substep(start, end);
        }
    }

    /// Gives its triangles the shape that they have at the end of the sub-step, once
    /// liquids have seen that at its start.
    pub(crate) fn advance(&mut self) {
        if let Shape::Waving(tube) = &mut self.shape {
            tube.advance();
        }
    }

    /// Tells liquids how the vertices of a body's surface move now, in m/s.
    pub(crate) fn set_velocities(&mut self, velocity: impl Iterator<Item = Vec3>) {
        if let Shape::Skin(skin) = &mut self.shape {
            skin.set_velocities(velocity);
        }
    }

    /// The vertices of a body's surface have come to these places in `dt` seconds.
    pub(crate) fn arrive(&mut self, vertices: Vec<Vec3>, dt: f32) {
        if let Shape::Skin(skin) = &mut self.shape {
            let before = skin.tree.mesh().clone();
            skin.set_travel(dt, |i| vertices[i] - before.vertices[i]);
            skin.refit(vertices);
        }
    }

    /// Tells how a rigid body moves, and where it is at the end of the sub-step.
    pub(crate) fn carry(&mut self, end: Pose, twist: Twist) {
        if let Some(m) = &mut self.moving {
            m.end = end;
            m.twist = twist;
        }
    }

    /// Ends a sub-step: it has arrived.
    pub(crate) fn end_substep(&mut self) {
        if let Some(m) = &mut self.moving {
            m.start = m.end;
        }
    }

    /// No part of it that is near `matter` is faster than this from `time` on, in m/s.
    pub(crate) fn top_speed(&self, time: f64, matter: &Aabb) -> f32 {
        let wave = match &self.shape {
            Shape::Waving(tube) => tube.top_speed(time),
            Shape::Plane { .. } | Shape::Surface(_) | Shape::Skin(_) => 0.0,
        };
        let Some(motion) = self.moving.as_ref().and_then(|m| m.motion.as_ref()) else {
            return wave;
        };
        let far = |b: Aabb| {
            let p = motion.pivot;
            let corner = (b.min - p).abs().max((b.max - p).abs());
            if corner.is_finite() {
                corner.length()
            } else {
                0.0
            }
        };
        let own = self.triangles().map(|mesh| far(mesh.aabb()));
        // A plane is as large as what it can touch.
        let size = own.unwrap_or_else(|| far(*matter));
        wave + motion.top_speed(time, size)
    }

    /// Makes ready to find walls within `reach`.
    pub(crate) fn prepare_walls(&mut self, reach: f32) {
        self.shape.prepare_walls(reach);
    }

    /// Makes ready for [`Obstacle::beyond`]; after [`Obstacle::prepare_walls`].
    pub(crate) fn prepare_map(&mut self, reach: f32) {
        self.shape.prepare_map(reach);
    }

    /// What is beyond the walls around `p`, which is inside, for a kernel of reach
    /// `reach`, and the velocity of the walls; `None` if they are better taken as planes.
    pub(crate) fn beyond(&self, p: Vec3, reach: f32) -> Option<(Filled, Vec3)> {
        let found = self.shape.beyond(self.start_frame(p), reach)?;
        Some(match &self.moving {
            None => (found, Vec3::ZERO),
            Some(m) => {
                let slope = m.start.direction(found.slope);
                (Filled { slope, ..found }, m.twist.at(p))
            }
        })
    }

    /// The wall near `p` within `reach`, by what [`Obstacle::beyond`] has found there.
    pub(crate) fn mapped_wall(&self, p: Vec3, filled: &Filled, reach: f32) -> Option<Wall> {
        let mut wall = Wall::mapped(filled.wall.as_ref()?, filled.slope);
        if let Some(m) = &self.moving {
            wall.velocity = m.twist.at(p - wall.distance * wall.normal);
        }
        (wall.distance < reach).then_some(wall)
    }

    /// Makes ready for many points that touch it.
    pub(crate) fn prepare_touch(&mut self) {
        self.shape.prepare_touch();
    }

    /// Calls `visit` with every wall within `reach` of `p`, the nearest of all
    /// surfaces among them, as of the start of the sub-step; needs
    /// [`Obstacle::prepare_walls`].
    pub(crate) fn for_each_wall(&self, p: Vec3, reach: f32, visit: &mut dyn FnMut(Wall)) {
        let Some(m) = &self.moving else {
            return self.shape.for_each_wall(p, reach, visit);
        };
        self.shape
            .for_each_wall(m.start.body(p), reach, &mut |wall| {
                let normal = m.start.direction(wall.normal);
                visit(Wall {
                    normal,
                    velocity: m.twist.at(p - wall.distance * normal)
                        + m.start.direction(wall.velocity),
                    ..wall
                });
            });
    }

    /// True if it is certain that no place within `radius` of `center` has a wall, as of the
    /// start of the sub-step. Quick, and says nothing of finely divided surfaces.
    pub(crate) fn is_far(&self, center: Vec3, radius: f32) -> bool {
        self.shape.is_far(self.start_frame(center), radius)
    }

    /// The place of a triangle nearest to `p`, with its corners' weights, as of the
    /// start of the sub-step.
    pub(super) fn place_on(&self, triangle: u32, p: Vec3) -> (Vec3, [f32; 3]) {
        let (point, weights) = self.shape.place_on(triangle, self.start_frame(p));
        (
            self.moving.as_ref().map_or(point, |m| m.start.place(point)),
            weights,
        )
    }

    /// How far the distances of [`Obstacle::nearest`] may be from the truth.
    pub(super) fn distance_error(&self) -> f32 {
        self.shape.distance_error()
    }

    /// Distance within which it finds its surface.
    pub(super) fn reach(&self) -> f32 {
        self.shape.reach()
    }

    /// A place at the start of the sub-step in the obstacle's own frame.
    #[inline]
    pub(super) fn start_frame(&self, place: Vec3) -> Vec3 {
        self.moving.as_ref().map_or(place, |m| m.start.body(place))
    }

    /// Where a ball that was at `place` at the start of the sub-step is for the
    /// obstacle in its own frame at the end, before it moves by itself.
    #[inline]
    pub(super) fn origin(&self, place: Vec3, radius: f32) -> Vec3 {
        let place = self.start_frame(place);
        self.shape
            .skin()
            .map_or(place, |skin| skin.carried(place, radius))
    }

    /// No less than the way of a ball as the obstacle sees it.
    #[inline]
    pub(super) fn way(&self, from: Vec3, to: Vec3) -> f32 {
        let way = (self.end_frame(to) - self.start_frame(from)).length();
        way + self.shape.skin().map_or(0.0, Skin::most_travel)
    }

    /// A place at the end of the sub-step in the obstacle's own frame.
    #[inline]
    pub(super) fn end_frame(&self, place: Vec3) -> Vec3 {
        self.moving.as_ref().map_or(place, |m| m.end.body(place))
    }

    /// The surface nearest to `p` at the end of the sub-step, if it is within
    /// `radius`. `origin`, in the obstacle's own frame, is on the free side, which
    /// decides the normal where `p` lies on the surface.
    pub(super) fn nearest(&self, p: Vec3, radius: f32, origin: Vec3) -> Option<Touch> {
        let touch = self.shape.nearest(self.end_frame(p), radius, origin)?;
        Some(self.at_end(touch))
    }

    /// No more than the distance of its surface from `p` at the end of the sub-step, up to
    /// `radius`, however large that is.
    pub(super) fn clearance(&self, p: Vec3, radius: f32) -> f32 {
        self.shape.clearance(self.end_frame(p), radius)
    }

    /// The surface within `radius` of a ball that was at `place` at the start of the
    /// sub-step and goes along with the obstacle, as it stands at the end.
    pub(super) fn touched(&self, place: Vec3, radius: f32) -> Option<Touch> {
        let carried = self.origin(place, 2.0 * radius);
        let touch = self.shape.nearest(carried, radius, carried)?;
        Some(self.at_end(touch))
    }

    /// What is known in the obstacle's own frame, at the end of the sub-step.
    fn at_end(&self, touch: Touch) -> Touch {
        match &self.moving {
            None => touch,
            Some(m) => Touch {
                point: m.end.place(touch.point),
                normal: m.end.direction(touch.normal),
                ..touch
            },
        }
    }

    /// Where the way first enters it that leads from `origin`, in the obstacle's own
    /// frame, to `to` at the end of the sub-step, and that place.
    pub(super) fn crossing(&self, origin: Vec3, to: Vec3) -> Option<(Crossing, Vec3)> {
        let end = self.end_frame(to);
        let crossing = self.shape.crossing(origin, end)?;
        let place = origin + crossing.fraction * (end - origin);
        Some(match &self.moving {
            None => (crossing, place),
            Some(m) => {
                let normal = m.end.direction(crossing.normal);
                (Crossing { normal, ..crossing }, m.end.place(place))
            }
        })
    }
}

impl std::fmt::Debug for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape = match &self.shape {
            Shape::Plane { normal, offset } => format!("plane {normal} at {offset}"),
            Shape::Surface(s) => {
                format!("{} triangles in {}", s.mesh.triangles.len(), s.index.name())
            }
            Shape::Waving(tube) => {
                format!("{} triangles, {:?}", tube.rest.triangles.len(), tube.wave())
            }
            Shape::Skin(skin) => format!("skin of {} triangles", skin.tree.mesh().triangles.len()),
        };
        f.debug_struct("Obstacle")
            .field("name", &self.name)
            .field("shape", &shape)
            .field(
                "motion",
                &self.moving.as_ref().and_then(|m| m.motion.as_ref()),
            )
            .finish_non_exhaustive()
    }
}
