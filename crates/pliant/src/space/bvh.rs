//! A hierarchy of axis-aligned boxes over triangles (Grahn 2008, section 4.2).

use std::sync::{Arc, OnceLock};

use glam::Vec3;
use rayon::prelude::*;

use super::bvh_build::{Node, STACK, Split, build};
use super::gathered::{Gathered, Segment};
use super::leaf_packet::{LeafPacket, Nearest};
use super::{Crossing, MeshNormals, SurfacePoint, TriangleIndex};
use crate::contact::triangle::Feature;
use crate::crew::Spread;
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::simd::{Lanes, dispatch};

/// A bounding volume hierarchy. It answers queries of any radius, finds the
/// closest point of the whole mesh and, for closed meshes, tells inside from outside.
///
/// ```
/// use std::sync::Arc;
/// use pliant::{Vec3, mesh::TriMesh, space::{Bvh, TriangleIndex}};
///
/// let tetrahedron = TriMesh {
///     vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
///     triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
/// };
/// let bvh = Bvh::build(Arc::new(tetrahedron));
/// assert!(bvh.contains(Vec3::splat(0.1)));
/// let crossing = bvh.first_crossing(Vec3::splat(0.1), Vec3::new(0.1, 0.1, -0.3)).unwrap();
/// assert_eq!(crossing.triangle, 0);
/// assert!((crossing.fraction - 0.25).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct Bvh {
    mesh: Arc<TriMesh>,
    nodes: Vec<Node>,
    /// In the order of the leaves.
    triangles: Vec<Gathered>,
    /// The same, one for every leaf.
    packets: Vec<LeafPacket>,
    /// Made when first asked for; `None` if the mesh is open.
    normals: OnceLock<Option<MeshNormals>>,
}

/// Boxes are left out only if they are farther than the triangles in them could
/// be computed to be.
const BOX_SLACK: f32 = 1.0 + 1e-5;

impl Node {
    #[inline]
    fn distance_squared(&self, p: Vec3) -> f32 {
        // At most one of the two differences is positive on each axis.
        let outside = (self.min - p).max(p - self.max).max(Vec3::ZERO);
        outside.length_squared()
    }
}

/// A segment prepared for the slab test of boxes.
struct Ray {
    /// The start, moved by the padding of the boxes against it and along it.
    low_origin: Vec3,
    high_origin: Vec3,
    inv: Vec3,
}

impl Ray {
    fn new(from: Vec3, to: Vec3, root: &Node) -> Ray {
        let size = |v: Vec3| v.abs().max_element();
        let scale = size(from)
            .max(size(to))
            .max(size(root.min))
            .max(size(root.max));
        // Several times the rounding of the slab test.
        let pad = Vec3::splat(2e-6 * scale);
        // A direction of zero would make 0 * infinity of a box that touches.
        let steer = |d: f32| {
            if d.abs() > 1e-30 {
                d
            } else {
                1e-30f32.copysign(d)
            }
        };
        let d = to - from;
        Ray {
            low_origin: from + pad,
            high_origin: from - pad,
            inv: Vec3::new(steer(d.x), steer(d.y), steer(d.z)).recip(),
        }
    }

    /// The fraction where the segment enters the box; infinite if it does not.
    #[inline]
    fn enter(&self, node: &Node, limit: f32) -> f32 {
        let t0 = (node.min - self.low_origin) * self.inv;
        let t1 = (node.max - self.high_origin) * self.inv;
        let enter = t0.min(t1).max_element().max(0.0);
        let leave = t0.max(t1).min_element().min(limit);
        if enter <= leave { enter } else { f32::INFINITY }
    }
}

impl Bvh {
    /// Builds the hierarchy of `mesh` with the surface area heuristic.
    pub fn build(mesh: Arc<TriMesh>) -> Bvh {
        Bvh::build_with(mesh, Split::default())
    }

    /// Builds the hierarchy of `mesh`, dividing by `split`.
    pub fn build_with(mesh: Arc<TriMesh>, split: Split) -> Bvh {
        let gathered: Vec<Gathered> = (0..mesh.triangles.len() as u32)
            .map(|t| Gathered::of(&mesh, t))
            .collect();
        let (nodes, triangles) = build(&gathered, split);
        let leaves = nodes.iter().filter(|n| n.is_leaf());
        let packets = leaves.map(|n| LeafPacket::new(&triangles[n.triangles()]));
        Bvh {
            mesh,
            packets: packets.collect(),
            nodes,
            triangles,
            normals: OnceLock::new(),
        }
    }

    /// Moves the vertices, as many as there are, and fits the boxes to them. The tree
    /// stays as it was built: right for any motion, fast as long as triangles that
    /// were neighbours stay so.
    pub fn refit(&mut self, vertices: Vec<Vec3>) {
        if vertices.len() != self.mesh.vertices.len() {
            return;
        }
        let mesh = Arc::make_mut(&mut self.mesh);
        mesh.vertices = vertices;
        self.triangles
            .par_iter_mut()
            .with_min_len(1024)
            .spread(|t| *t = Gathered::of(mesh, t.id));
        self.normals = OnceLock::new();
        // Children come after their parents.
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            let bounds = if node.is_leaf() {
                self.packets[node.leaf()] = LeafPacket::new(self.leaf(&node));
                Aabb::of(self.leaf(&node).iter().flat_map(|t| t.corners))
            } else if node.has_children() {
                let [a, b] = [node.first, node.first + 1].map(|c| self.nodes[c as usize]);
                Aabb {
                    min: a.min.min(b.min),
                    max: a.max.max(b.max),
                }
            } else {
                continue;
            };
            (self.nodes[i].min, self.nodes[i].max) = (bounds.min, bounds.max);
        }
    }

    /// True if all of the mesh is farther from `p` than `distance`, seen by its bounds.
    pub(crate) fn is_far(&self, p: Vec3, distance: f32) -> bool {
        self.nodes[0].distance_squared(p) > distance * distance
    }

    /// The mesh that is indexed.
    pub fn mesh(&self) -> &Arc<TriMesh> {
        &self.mesh
    }

    /// All triangles, neighbours mostly next to each other.
    pub(super) fn in_order(&self) -> &[Gathered] {
        &self.triangles
    }

    #[inline]
    fn leaf(&self, node: &Node) -> &[Gathered] {
        &self.triangles[node.triangles()]
    }

    /// The point of the mesh nearest to `p`, if it is within `max_distance`
    /// (which may be infinite), and what it lies on. Of equally near triangles
    /// the one with the lowest number is taken.
    pub fn closest(&self, p: Vec3, max_distance: f32) -> Option<(SurfacePoint, Feature)> {
        let mut nearest = None;
        self.find_closest(p, max_distance, &mut nearest);
        let (found, feature, _) = self.triangles[nearest?].closest(p);
        Some((found, feature))
    }

    /// The place, in the order of the leaves, of the triangle nearest to `p`.
    fn find_closest(&self, p: Vec3, max_distance: f32, nearest: &mut Option<usize>) {
        let tree = self;
        dispatch!(find_closest(
            tree: &Bvh,
            p: Vec3,
            max_distance: f32,
            nearest: &mut Option<usize>,
        ));
    }

    fn normals(&self) -> Option<&MeshNormals> {
        let made = self.normals.get_or_init(|| {
            let normals = MeshNormals::of(&self.mesh);
            normals.is_closed().then_some(normals)
        });
        made.as_ref()
    }

    /// True if the mesh has an inside.
    pub fn is_closed(&self) -> bool {
        self.normals().is_some()
    }

    /// Distance to the mesh, negative inside; `None` if the mesh is open or empty.
    pub fn signed_distance(&self, p: Vec3) -> Option<f32> {
        let (distance, _) = self.signed_nearest(p, f32::INFINITY)?;
        Some(distance)
    }

    /// The same with the place that is nearest; `None` also if it is farther than
    /// `max_distance`.
    pub(crate) fn signed_nearest(&self, p: Vec3, max_distance: f32) -> Option<(f32, SurfacePoint)> {
        let normals = self.normals()?;
        let (nearest, feature) = self.closest(p, max_distance)?;
        let signed = nearest.distance * normals.sign(p, &nearest, feature);
        Some((signed, nearest))
    }

    /// True if `p` is inside the mesh; never for an open mesh, which has no inside.
    pub fn contains(&self, p: Vec3) -> bool {
        self.signed_distance(p).is_some_and(|d| d < 0.0)
    }
}

impl TriangleIndex for Bvh {
    fn name(&self) -> &'static str {
        "bvh"
    }

    fn for_each_within(&self, center: Vec3, radius: f32, visit: &mut dyn FnMut(SurfacePoint)) {
        let tree = self;
        dispatch!(walk(
            tree: &Bvh,
            center: Vec3,
            radius: f32,
            visit: &mut dyn FnMut(SurfacePoint),
        ));
    }

    fn first_crossing(&self, from: Vec3, to: Vec3) -> Option<Crossing> {
        let segment = Segment::new(from, to);
        let ray = Ray::new(from, to, &self.nodes[0]);
        let mut best: Option<Crossing> = None;
        let mut stack = [(0.0f32, 0u32); STACK];
        let mut len = 1;
        while len > 0 {
            len -= 1;
            let (enter, index) = stack[len];
            let limit = best.map_or(1.0, |b| b.fraction);
            if enter > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                for t in self.leaf(node) {
                    t.cross(&segment, &mut best);
                }
            } else if node.has_children() {
                let mut a = (
                    ray.enter(&self.nodes[node.first as usize], limit),
                    node.first,
                );
                let next = node.first + 1;
                let mut b = (ray.enter(&self.nodes[next as usize], limit), next);
                if a.0 > b.0 {
                    (a, b) = (b, a);
                }
                for child in [b, a] {
                    if child.0 <= limit {
                        stack[len] = child;
                        len += 1;
                    }
                }
            }
        }
        best
    }

    fn bytes(&self) -> usize {
        let normals = self.normals.get().and_then(Option::as_ref);
        size_of_val(&*self.nodes)
            + size_of_val(&*self.triangles)
            + size_of_val(&*self.packets)
            + normals.map_or(0, MeshNormals::bytes)
    }
}

/// Visits the nearest places of all triangles within `radius` of `center`.
#[inline(always)]
fn walk<L: Lanes>(
    l: L,
    tree: &Bvh,
    center: Vec3,
    radius: f32,
    visit: &mut dyn FnMut(SurfacePoint),
) {
    let r2 = radius * radius;
    let limit = r2 * BOX_SLACK;
    let mut found = Nearest::default();
    let mut stack = [0u32; STACK];
    let mut len = 0;
    let mut node = &tree.nodes[0];
    loop {
        if node.is_leaf() {
            let triangles = tree.leaf(node);
            tree.packets[node.leaf()].within(l, triangles, center, r2, &mut found);
            for lane in found.lanes() {
                visit(found.place(lane, triangles[lane].id));
            }
        } else if node.has_children() {
            let left = &tree.nodes[node.first as usize];
            let right = &tree.nodes[node.first as usize + 1];
            let near_right = right.distance_squared(center) <= limit;
            if left.distance_squared(center) <= limit {
                if near_right {
                    stack[len] = node.first + 1;
                    len += 1;
                }
                node = left;
                continue;
            }
            if near_right {
                node = right;
                continue;
            }
        }
        if len == 0 {
            return;
        }
        len -= 1;
        node = &tree.nodes[stack[len] as usize];
    }
}

/// Finds the triangle nearest to `p` within `max_distance`; of equally near ones the one with
/// the lowest number.
#[inline(always)]
fn find_closest<L: Lanes>(
    l: L,
    tree: &Bvh,
    p: Vec3,
    max_distance: f32,
    nearest: &mut Option<usize>,
) {
    let mut best_d2 = max_distance * max_distance;
    let mut found = Nearest::default();
    let mut stack = [(0.0f32, 0u32); STACK];
    let mut len = 1;
    while len > 0 {
        len -= 1;
        let (d2, index) = stack[len];
        if d2 > best_d2 * BOX_SLACK {
            continue;
        }
        let node = &tree.nodes[index as usize];
        if node.is_leaf() {
            let triangles = tree.leaf(node);
            tree.packets[node.leaf()].within(l, triangles, p, best_d2, &mut found);
            for lane in found.lanes() {
                let d2 = found.squared(lane);
                let lower = |k: usize| triangles[lane].id < tree.triangles[k].id;
                if d2 < best_d2 || (d2 == best_d2 && nearest.is_none_or(lower)) {
                    best_d2 = d2;
                    *nearest = Some(node.first as usize + lane);
                }
            }
        } else if node.has_children() {
            let near = &tree.nodes[node.first as usize];
            let far = &tree.nodes[node.first as usize + 1];
            let mut a = (near.distance_squared(p), node.first);
            let mut b = (far.distance_squared(p), node.first + 1);
            if a.0 > b.0 {
                (a, b) = (b, a);
            }
            stack[len] = b;
            stack[len + 1] = a;
            len += 2;
        }
    }
}
