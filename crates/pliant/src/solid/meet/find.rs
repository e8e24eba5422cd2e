//! Which points of bodies meet which triangles.
//!
//! Two passes over one hash table of skin points (Teschner et al. 2003; Grahn 2008,
//! chapter 5): triangles look for points near them or on their way through them, and
//! tetrahedra look for points inside them, which something has let slip. Each point
//! then meets every body, its own too, at one place.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::skin::{Skin, View};
use super::swept::crossing;
use crate::contact::triangle::{Feature, closest_point};
use crate::math::Aabb;
use crate::space::BoxHash;

/// Triangles or tetrahedra per task.
const CHUNK: usize = 512;
/// Places of one body that are nearer than this many edges at rest do not meet: what
/// keeps them apart is the material.
const APART: f32 = 2.0;
/// Points nearer than this many gaps may come to touch, whatever the guess says.
const NEAR: f32 = 1.5;
/// A point that has slipped in is led out at most this fast, in m/s.
const WAY_OUT: f32 = 0.5;

/// A point and the place of a triangle that it meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Which of the bodies the point belongs to, and its number there.
    pub body: u32,
    pub point: u32,
    /// Which of the bodies the triangle belongs to, its number and its corners there.
    pub other: u32,
    pub triangle: u32,
    pub corners: [u32; 3],
    /// Weights of the corners.
    pub weights: [f32; 3],
    /// From the triangle to the point.
    pub normal: Vec3A,
    /// Distance along the normal at the start of the step, in metres.
    pub gap: f32,
    /// The distance to keep, in metres.
    pub keep: f32,
}

/// What a body has found of a point.
#[derive(Clone, Copy, Debug)]
enum Found {
    Triangle(u32),
    Inside { tet: u32, weights: [f32; 4] },
}

#[derive(Clone, Copy, Debug)]
struct Near {
    /// Position in the list of all skin points.
    point: u32,
    other: u32,
    found: Found,
}

/// The hash table and lists that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Finder {
    hash: BoxHash,
    /// Body and number of every hashed point.
    points: Vec<(u32, u32)>,
    places: Vec<Vec3>,
}

impl Finder {
    /// All meetings that this step of `h` seconds can bring, by body, point, other body.
    pub fn find(&mut self, views: &[View<'_>], h: f32) -> Vec<Meeting> {
        let partners = partners(views, h);
        if partners.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        self.points.clear();
        self.places.clear();
        let mut side = 0.0f32;
        for (body, view) in views.iter().enumerate() {
            if !partners.iter().flatten().any(|&p| p == body) {
                continue;
            }
            side = side.max(view.skin.edge);
            for &i in &view.solid.skin {
                self.points.push((body as u32, i));
                self.places.push(view.from[i as usize]);
            }
        }
        self.hash.build(&self.places, side);
        let mut near: Vec<Near> = Vec::new();
        for (other, partners) in partners.iter().enumerate() {
            if !partners.is_empty() {
                self.look_around(views, other, partners, h, &mut near);
            }
        }
        near.sort_by_key(|n| (n.point, n.other));
        near.chunk_by(|a, b| (a.point, a.other) == (b.point, b.other))
            .collect::<Vec<_>>()
            .into_par_iter()
            .with_min_len(64)
            .filter_map(|near| {
                let (body, point) = self.points[near[0].point as usize];
                choose(views, [body, near[0].other], point, near, h)
            })
            .collect()
    }

    /// What the triangles and tetrahedra of one body find, in order.
    fn look_around(
        &self,
        views: &[View<'_>],
        other: usize,
        partners: &[usize],
        h: f32,
        near: &mut Vec<Near>,
    ) {
        let view = &views[other];
        let with_itself = partners.contains(&other);
        // In the frame that moves with the body.
        let way = |i: u32| h * (view.guess[i as usize] - view.velocity);
        let speeds = partners
            .iter()
            .map(|&p| views[p].deviation + views[p].velocity.distance(view.velocity));
        let thickest = partners
            .iter()
            .map(|&p| views[p].solid.thickness)
            .fold(0.0, f32::max);
        let reach = NEAR * (view.solid.thickness + thickest) + h * speeds.fold(0.0, f32::max);
        let others: Vec<Aabb> = partners
            .iter()
            .filter(|&&p| p != other)
            .map(|&p| views[p].bounds.grown(reach))
            .collect();
        let wanted = |b: &Aabb| with_itself || others.iter().any(|o| o.overlaps(b));
        let welcome = |q: u32| partners.contains(&(self.points[q as usize].0 as usize));
        let triangles = |(chunk, list): (usize, &[[u32; 3]])| {
            let mut near = Vec::new();
            for (k, triangle) in list.iter().enumerate() {
                let corners = triangle.map(|i| view.from[i as usize]);
                let ends = triangle.map(|i| view.from[i as usize] + way(i));
                let bounds = Aabb::of(corners.into_iter().chain(ends));
                if !wanted(&bounds) {
                    continue;
                }
                let bounds = bounds.grown(reach);
                self.hash.for_each_in(&bounds, |q| {
                    if welcome(q) && bounds.contains(self.places[q as usize]) {
                        near.push(Near {
                            point: q,
                            other: other as u32,
                            found: Found::Triangle((chunk * CHUNK + k) as u32),
                        });
                    }
                });
            }
            near
        };
        let tets = |(chunk, list): (usize, &[[u32; 4]])| {
            let mut near = Vec::new();
            for (k, tet) in list.iter().enumerate() {
                let corners = tet.map(|i| view.from[i as usize]);
                let bounds = Aabb::of(corners);
                if !wanted(&bounds) {
                    continue;
                }
                self.hash.for_each_in(&bounds, |q| {
                    let place = self.places[q as usize];
                    if !welcome(q) || !bounds.contains(place) {
                        return;
                    }
                    let own = self.points[q as usize].0 as usize == other;
                    if own && tet.contains(&self.points[q as usize].1) {
                        return;
                    }
                    if let Some(weights) = inside(place, corners) {
                        near.push(Near {
                            point: q,
                            other: other as u32,
                            found: Found::Inside {
                                tet: (chunk * CHUNK + k) as u32,
                                weights,
                            },
                        });
                    }
                });
            }
            near
        };
        let surface = view.solid.surface.par_chunks(CHUNK).enumerate();
        let inner = view.solid.mesh.tets.par_chunks(CHUNK).enumerate();
        let mut parts: Vec<Vec<Near>> = surface.map(triangles).collect();
        parts.extend(inner.map(tets).collect::<Vec<_>>());
        near.extend(parts.into_iter().flatten());
    }
}

/// For every body the bodies whose points can reach it in `h` seconds.
fn partners(views: &[View<'_>], h: f32) -> Vec<Vec<usize>> {
    let close = |a: usize, b: usize| {
        let (va, vb) = (&views[a], &views[b]);
        if a == b {
            return va.solid.settings.self_contact;
        }
        let speed = va.velocity.distance(vb.velocity) + va.deviation + vb.deviation;
        let reach = NEAR * (va.solid.thickness + vb.solid.thickness) + h * speed;
        va.bounds.grown(reach).overlaps(&vb.bounds)
    };
    let all = 0..views.len();
    all.clone()
        .map(|a| all.clone().filter(|&b| close(a, b)).collect())
        .collect()
}

/// Weights of the corners if `p` is inside a tetrahedron, which may be inside out.
fn inside(p: Vec3, [a, b, c, d]: [Vec3; 4]) -> Option<[f32; 4]> {
    let (ab, ac, ad, ap) = (b - a, c - a, d - a, p - a);
    let volume = ab.dot(ac.cross(ad));
    if volume == 0.0 {
        return None;
    }
    let weights = [
        ap.dot(ac.cross(ad)) / volume,
        ab.dot(ap.cross(ad)) / volume,
        ab.dot(ac.cross(ap)) / volume,
    ];
    let first = 1.0 - weights.iter().sum::<f32>();
    (first >= 0.0 && weights.iter().all(|w| *w >= 0.0))
        .then_some([first, weights[0], weights[1], weights[2]])
}

/// The one place at which a point meets a body, of all that were found.
fn choose(
    views: &[View<'_>],
    [body, other]: [u32; 2],
    point: u32,
    near: &[Near],
    h: f32,
) -> Option<Meeting> {
    let (view, face) = (&views[body as usize], &views[other as usize]);
    let rest = |i: u32| face.solid.mesh.points[i as usize];
    let start = view.from[point as usize];
    let end = start + h * view.guess[point as usize];
    let keep = view.solid.thickness + face.solid.thickness;
    let own_rest = view.solid.mesh.points[point as usize];
    // At rest a place of its own body is too near to be met.
    let same_part =
        |place: Vec3| body == other && place.distance(own_rest) < APART * face.skin.edge;
    let meeting = |triangle: u32, weights: [f32; 3], normal: Vec3| {
        let corners = face.solid.surface[triangle as usize];
        let places = corners.map(|i| face.from[i as usize]);
        let place = weighted(places, weights);
        Meeting {
            body,
            point,
            other,
            triangle,
            corners,
            weights,
            normal: normal.into(),
            gap: normal.dot(start - place),
            keep,
        }
    };
    for n in near {
        if let Found::Inside { tet, weights } = n.found {
            let tet = face.solid.mesh.tets[tet as usize];
            let place: Vec3 = (0..4).map(|k| weights[k] * rest(tet[k])).sum();
            if same_part(place) {
                continue;
            }
            return way_out(face.skin, place).map(|(triangle, weights)| {
                let corners = face.solid.surface[triangle as usize];
                let normal = face_normal(corners.map(|i| face.from[i as usize]));
                let mut found = meeting(triangle, weights, normal);
                // Deep points are not thrown out, they are led out.
                found.gap = found.gap.min(0.0).max(keep - h * WAY_OUT);
                found
            });
        }
    }
    let mut first: Option<(f64, Meeting)> = None;
    let mut nearest: Option<(f32, Meeting)> = None;
    for n in near {
        let Found::Triangle(triangle) = n.found else {
            continue;
        };
        let corners = face.solid.surface[triangle as usize];
        if body == other && corners.contains(&point) {
            continue;
        }
        let places = corners.map(|i| face.from[i as usize]);
        let ends = corners.map(|i| face.from[i as usize] + h * face.guess[i as usize]);
        let closest = closest_point(start, places);
        if same_part(weighted(corners.map(rest), closest.barycentric)) {
            continue;
        }
        if let Some(hit) = crossing([start, end], [places, ends])
            && first.as_ref().is_none_or(|(t, _)| hit.time < *t)
        {
            first = Some((hit.time, meeting(triangle, hit.weights, hit.normal)));
        }
        // Where it would be at the end counts: what it passes by on its way does not push.
        // Behind a face it has come around an edge; then where it comes from counts.
        let mut at = closest_point(end, ends);
        let mut away = end - at.point;
        let behind = at.feature == Feature::Face && away.dot(face_normal(ends)) <= 0.0;
        if behind || away.length() > NEAR * keep {
            at = closest;
            away = start - at.point;
        }
        let distance = away.length();
        if distance < NEAR * keep && nearest.as_ref().is_none_or(|(d, _)| distance < *d) {
            let normal = if distance > 1e-3 * keep {
                away / distance
            } else {
                face_normal(places)
            };
            nearest = Some((distance, meeting(triangle, at.barycentric, normal)));
        }
    }
    first.map(|(_, hit)| hit).or(nearest.map(|(_, met)| met))
}

/// The place of the surface nearest to a place inside, both at rest: there the body is
/// neither folded nor flat.
fn way_out(skin: &Skin, rest: Vec3) -> Option<(u32, [f32; 3])> {
    let (found, _) = skin.rest.closest(rest, f32::INFINITY)?;
    Some((found.triangle, found.barycentric))
}

fn weighted(places: [Vec3; 3], weights: [f32; 3]) -> Vec3 {
    places[0] * weights[0] + places[1] * weights[1] + places[2] * weights[2]
}

fn face_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a).normalize_or(Vec3::Y)
}
