//! Which parts of surfaces are near enough to touch in a step.
//!
//! Hash tables of skin points and of the middles of edges (Teschner et al. 2003; Grahn
//! 2008, chapter 5): triangles look for points and edges for edges that are near them or
//! on their way. Tetrahedra look for points inside them, which something has let slip.

use glam::Vec3;
use rayon::prelude::*;

use super::find::{LEAST, faces};
use super::pair::{Kind, Pair};
use super::skin::{Edge, View};
use super::winding::winding;
use super::{APART, NEAR};
use crate::math::Aabb;
use crate::space::BoxHash;

/// Triangles, edges or tetrahedra per task.
const CHUNK: usize = 512;

/// A point inside a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    pub body: u32,
    pub point: u32,
    pub other: u32,
    /// A tetrahedron that holds it, and the weights of its corners.
    pub tet: u32,
    pub weights: [f32; 4],
}

/// What can touch, and the hash tables that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Broad {
    hash: BoxHash,
    /// Body and number of every hashed point or edge.
    items: Vec<(u32, u32)>,
    places: Vec<Vec3>,
    /// All pairs that can touch.
    pub pairs: Vec<Pair>,
    /// Points that are inside of a body, by body, point and other body.
    pub inside: Vec<Inside>,
    /// How far a place at the end of the step may be from where it was thought to be, in
    /// metres.
    slack: f32,
    /// Where the ends were thought to be, by body.
    ends: Vec<Vec<Vec3>>,
    /// For every body the bodies that can reach it.
    pub partners: Vec<Vec<usize>>,
}

impl Broad {
    /// Finds what can touch in this step.
    pub fn find(&mut self, views: &[View<'_>]) {
        self.pairs.clear();
        self.inside.clear();
        self.ends.clear();
        let fastest = |v: &View<'_>| v.way.length() + v.deviation;
        let speeds = views.iter().map(fastest);
        let thickness = views.iter().map(|v| v.solid.thickness).fold(0.0, f32::max);
        self.slack = thickness + 0.25 * speeds.fold(0.0, f32::max);
        self.partners = partners(views, self.slack);
        self.ends.extend(views.iter().map(|v| v.to.clone()));
        if self.partners.iter().all(Vec::is_empty) {
            return;
        }
        let with_points = |view: &View<'_>| -> Vec<(u32, Vec3)> {
            let skin = view.solid.skin.iter();
            skin.map(|&i| (i, view.from[i as usize])).collect()
        };
        self.fill(views, with_points);
        let mut inside: Vec<Inside> = Vec::new();
        for other in 0..views.len() {
            if !self.partners[other].is_empty() {
                self.look_for_points(views, other, &mut inside);
            }
        }
        self.keep_inside(inside, views);
        let with_edges = |view: &View<'_>| -> Vec<(u32, Vec3)> {
            let middle =
                |e: &Edge| 0.5 * (view.from[e.ends[0] as usize] + view.from[e.ends[1] as usize]);
            let edges = view.skin.edges.iter().enumerate();
            edges.map(|(k, e)| (k as u32, middle(e))).collect()
        };
        self.fill(views, with_edges);
        let boxes: Vec<Vec<Aabb>> = views
            .iter()
            .map(|view| {
                let edges = view.skin.edges.par_iter().with_min_len(CHUNK);
                edges.map(|edge| view.swept(&edge.ends)).collect()
            })
            .collect();
        for body in 0..views.len() {
            if !self.partners[body].is_empty() {
                self.look_for_edges(views, body, &boxes);
            }
        }
        let slack = self.slack;
        self.pairs = std::mem::take(&mut self.pairs)
            .into_par_iter()
            .with_min_len(CHUNK)
            .filter(|pair| can_touch(pair, views, slack))
            .collect();
    }

    /// True if places at the end of the step are about where they were thought to be.
    pub fn holds(&self, views: &[View<'_>]) -> bool {
        views.iter().zip(&self.ends).all(|(view, ends)| {
            let mut skin = view.solid.skin.iter().map(|&i| i as usize);
            skin.all(|i| view.to[i].distance_squared(ends[i]) <= self.slack * self.slack)
        })
    }

    /// True if points of one of the two bodies are inside of the other.
    pub fn tangled(&self, bodies: [u32; 2]) -> bool {
        let both = |i: &Inside| [i.body, i.other] == bodies || [i.other, i.body] == bodies;
        !self.inside.is_empty() && self.inside.iter().any(both)
    }

    fn fill(&mut self, views: &[View<'_>], list: impl Fn(&View<'_>) -> Vec<(u32, Vec3)>) {
        self.items.clear();
        self.places.clear();
        let mut side = 0.0f32;
        for (body, view) in views.iter().enumerate() {
            if !self.partners.iter().flatten().any(|&p| p == body) {
                continue;
            }
            side = side.max(view.skin.edge);
            for (item, place) in list(view) {
                self.items.push((body as u32, item));
                self.places.push(place);
            }
        }
        self.hash.build(&self.places, side);
    }

    /// How far from a part of a body its partners' parts can be and still touch it.
    fn reach(&self, views: &[View<'_>], body: usize) -> f32 {
        let (view, partners) = (&views[body], &self.partners[body]);
        let way = |&p: &usize| views[p].deviation + views[p].way.distance(view.way);
        let thickness = |&p: &usize| views[p].solid.thickness;
        NEAR * (view.solid.thickness + partners.iter().map(thickness).fold(0.0, f32::max))
            + partners.iter().map(way).fold(0.0, f32::max)
            + 2.0 * self.slack
    }

    /// What the triangles and tetrahedra of one body find.
    fn look_for_points(&mut self, views: &[View<'_>], other: usize, inside: &mut Vec<Inside>) {
        let (view, partners) = (&views[other], &self.partners[other]);
        let reach = self.reach(views, other);
        let wanted = wanted(views, other, partners, reach);
        let welcome = |q: u32| partners.contains(&(self.items[q as usize].0 as usize));
        let triangles = |(chunk, list): (usize, &[[u32; 3]])| {
            let mut pairs = Vec::new();
            for (k, &[a, b, c]) in list.iter().enumerate() {
                let bounds = view.swept(&[a, b, c]);
                if !wanted(&bounds) {
                    continue;
                }
                let bounds = bounds.grown(reach);
                self.hash.for_each_in(&bounds, |q| {
                    let (body, point) = self.items[q as usize];
                    let own = body as usize == other && [a, b, c].contains(&point);
                    if !own && welcome(q) && bounds.contains(self.places[q as usize]) {
                        pairs.push(Pair {
                            bodies: [body, other as u32],
                            kind: Kind::Face {
                                point,
                                triangle: (chunk * CHUNK + k) as u32,
                            },
                            points: [point, a, b, c],
                        });
                    }
                });
            }
            pairs
        };
        let tets = |(chunk, list): (usize, &[[u32; 4]])| {
            let mut found = Vec::new();
            for (k, tet) in list.iter().enumerate() {
                let corners = tet.map(|i| view.from[i as usize]);
                let bounds = Aabb::of(corners);
                if !wanted(&bounds) {
                    continue;
                }
                self.hash.for_each_in(&bounds, |q| {
                    let place = self.places[q as usize];
                    let (body, point) = self.items[q as usize];
                    let own = body as usize == other && tet.contains(&point);
                    if own || !welcome(q) || !bounds.contains(place) {
                        return;
                    }
                    if let Some(weights) = weights_inside(place, corners) {
                        let inside = Inside {
                            body,
                            point,
                            other: other as u32,
                            tet: (chunk * CHUNK + k) as u32,
                            weights,
                        };
                        if body as usize != other || !same_part_inside(view, &inside) {
                            found.push(inside);
                        }
                    }
                });
            }
            found
        };
        let surface = view.solid.surface.par_chunks(CHUNK).enumerate();
        let inner = view.solid.mesh.tets.par_chunks(CHUNK).enumerate();
        let pairs: Vec<Vec<Pair>> = surface.map(triangles).collect();
        let found: Vec<Vec<Inside>> = inner.map(tets).collect();
        self.pairs.extend(pairs.into_iter().flatten());
        inside.extend(found.into_iter().flatten());
    }

    /// Keeps points that are inside by the surface too. Tetrahedra that are inside out fold
    /// a body back over what is outside of it, and those that are flat cannot tell.
    fn keep_inside(&mut self, mut found: Vec<Inside>, views: &[View<'_>]) {
        let key = |i: &Inside| [i.body, i.point, i.other];
        found.sort_by_key(key);
        found.dedup_by_key(|i| key(i));
        found.retain(|i| {
            let place = views[i.body as usize].from[i.point as usize];
            // A point is on its own surface, which goes half around it.
            let least = if i.body == i.other { 1.0 } else { 0.5 };
            let other = &views[i.other as usize];
            winding(place, &other.solid.surface, |i| other.from[i as usize]) > least
        });
        self.inside = found;
    }

    /// What the edges of one body find among those of later bodies, or of its own. `boxes`
    /// hold the ways of all edges.
    fn look_for_edges(&mut self, views: &[View<'_>], body: usize, boxes: &[Vec<Aabb>]) {
        let (view, partners) = (&views[body], &self.partners[body]);
        let reach = self.reach(views, body);
        let wanted = wanted(views, body, partners, reach);
        let longest = partners.iter().map(|&p| views[p].longest_edge());
        let half = 0.5 * longest.fold(0.0, f32::max);
        let edges = |(chunk, list): (usize, &[Edge])| {
            let mut pairs = Vec::new();
            for (k, edge) in list.iter().enumerate() {
                let own = (chunk * CHUNK + k) as u32;
                let bounds = boxes[body][own as usize];
                if !wanted(&bounds) {
                    continue;
                }
                // Each box is in the frame of its body; how these part is in the reach.
                let around = bounds.grown(reach);
                let bounds = bounds.grown(reach + half);
                self.hash.for_each_in(&bounds, |q| {
                    let (partner, other) = self.items[q as usize];
                    let at = partner as usize;
                    let later = at > body || (at == body && other > own);
                    if !later
                        || !partners.contains(&at)
                        || !bounds.contains(self.places[q as usize])
                    {
                        return;
                    }
                    if !boxes[at][other as usize].overlaps(&around) {
                        return;
                    }
                    let ends = views[at].skin.edges[other as usize].ends;
                    if at == body && ends.iter().any(|i| edge.ends.contains(i)) {
                        return;
                    }
                    pairs.push(Pair {
                        bodies: [body as u32, partner],
                        kind: Kind::Edges { own, other },
                        points: [edge.ends[0], edge.ends[1], ends[0], ends[1]],
                    });
                });
            }
            pairs
        };
        let chunks = view.skin.edges.par_chunks(CHUNK).enumerate();
        let pairs: Vec<Vec<Pair>> = chunks.map(edges).collect();
        self.pairs.extend(pairs.into_iter().flatten());
    }
}

/// Which boxes of a body its partners can reach.
fn wanted(
    views: &[View<'_>],
    body: usize,
    partners: &[usize],
    reach: f32,
) -> impl Fn(&Aabb) -> bool + Sync + use<> {
    let with_itself = partners.contains(&body);
    let others: Vec<Aabb> = partners
        .iter()
        .filter(|&&p| p != body)
        .map(|&p| views[p].bounds.grown(reach))
        .collect();
    move |b: &Aabb| with_itself || others.iter().any(|o| o.overlaps(b))
}

/// For every body the bodies whose points can reach it.
fn partners(views: &[View<'_>], slack: f32) -> Vec<Vec<usize>> {
    let close = |a: usize, b: usize| {
        let (va, vb) = (&views[a], &views[b]);
        if a == b {
            return va.solid.settings.self_contact;
        }
        let way = va.way.distance(vb.way) + va.deviation + vb.deviation;
        let reach = NEAR * (va.solid.thickness + vb.solid.thickness) + way + 2.0 * slack;
        va.bounds.grown(reach).overlaps(&vb.bounds)
    };
    let all = 0..views.len();
    all.clone()
        .map(|a| all.clone().filter(|&b| close(a, b)).collect())
        .collect()
}

/// True if the parts can come near enough to each other, wherever they end within the
/// slack.
fn can_touch(pair: &Pair, views: &[View<'_>], slack: f32) -> bool {
    let from = pair.map(|b, i| views[b as usize].from[i as usize]);
    let to = pair.map(|b, i| views[b as usize].to[i as usize]);
    let mean = 0.25 * (0..4).map(|k| to[k] - from[k]).sum::<Vec3>();
    let mut way = [0.0f32; 2];
    for k in 0..4 {
        let side = pair.side(k);
        way[side] = way[side].max((to[k] - from[k]).distance(mean));
    }
    let [a, b] = pair.bodies.map(|b| &views[b as usize]);
    let near = NEAR * (a.solid.thickness + b.solid.thickness);
    let nearest = pair.nearest(from);
    if nearest.away.length() > near + way[0] + way[1] + 2.0 * slack {
        return false;
    }
    if pair.bodies[0] != pair.bodies[1] {
        return true;
    }
    // Where a body is folded through itself its parts must be free to part again.
    let distance = nearest.away.length();
    let folded = distance < LEAST * 2.0 * a.solid.thickness
        || faces(pair, views, nearest.away / distance, |view| view.from).is_none();
    !folded && !same_part(pair, a, nearest.weights)
}

/// At rest the two places of its own body are too near each other to be met: what keeps
/// them apart is the material.
fn same_part(pair: &Pair, view: &View<'_>, weights: [f32; 4]) -> bool {
    let rest = pair.map(|_, i| view.solid.mesh.points[i as usize]);
    let away: Vec3 = (0..4).map(|k| weights[k] * rest[k]).sum();
    away.length() < APART * view.skin.edge
}

fn same_part_inside(view: &View<'_>, inside: &Inside) -> bool {
    let rest = |i: u32| view.solid.mesh.points[i as usize];
    let place = inside.rest_place(view);
    place.distance(rest(inside.point)) < APART * view.skin.edge
}

impl Inside {
    /// Where in the body at rest it is.
    pub fn rest_place(&self, other: &View<'_>) -> Vec3 {
        let tet = other.solid.mesh.tets[self.tet as usize];
        (0..4)
            .map(|k| self.weights[k] * other.solid.mesh.points[tet[k] as usize])
            .sum()
    }
}

/// Weights of the corners if `p` is inside a tetrahedron that is not inside out.
fn weights_inside(p: Vec3, [a, b, c, d]: [Vec3; 4]) -> Option<[f32; 4]> {
    let (ab, ac, ad, ap) = (b - a, c - a, d - a, p - a);
    let volume = ab.dot(ac.cross(ad));
    if volume <= 0.0 {
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
