//! Which parts of surfaces are near enough that they could touch within the next steps.
//!
//! Hash tables of skin points and of the middles of edges (Teschner et al. 2003; Grahn
//! 2008, chapter 5): triangles look for points and edges for edges near them, and
//! tetrahedra look for points inside them, which something has let slip. The lists reach
//! farther than one step needs and are kept until something has moved too far for them.
//! They are in an order of their own, so that it does not matter when they were made.

use glam::Vec3;
use rayon::prelude::*;

use super::APART;
use super::pair::{Kind, Pair};
use super::skin::{Edge, View};
use crate::math::Aabb;
use crate::space::BoxHash;

/// Triangles, edges or tetrahedra per task.
const CHUNK: usize = 512;

/// Each point has room in the lists for its way, as often as `can_touch` of `broad.rs` counts
/// it, and for this many steps more of it, but between these shares of an edge.
pub(super) const WAYS: f32 = 3.0;
const STEPS: f32 = 5.0;
const LEAST_ROOM: f32 = 0.1;
const MOST_ROOM: f32 = 0.3;

/// Points with more room than this share of an edge are looked for one by one.
const FAST: f32 = 0.3;

/// What all parts need, listed as a share more of it, so that it may grow a little.
const SPARE: f32 = 1.25;

/// Lists are made again a little before they must be, for the sake of rounding.
const ROUNDING: f32 = 1.001;

/// A point that may be inside a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MaybeInside {
    pub body: u32,
    pub point: u32,
    pub other: u32,
    pub tet: u32,
}

/// What the lists are good for, and the hash tables that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    hash: BoxHash,
    /// Body and number of every hashed point or edge.
    items: Vec<(u32, u32)>,
    places: Vec<Vec3>,
    pub pairs: Vec<Pair>,
    pub inside: Vec<MaybeInside>,
    /// Where the points of each body were when the lists were made, and what it was made of.
    from: Vec<Vec<Vec3>>,
    counts: Vec<[usize; 3]>,
    /// For every body the bodies that were looked at.
    partners: Vec<Vec<usize>>,
    /// How far from a part of each body others are in the lists, besides the room that
    /// both have, in metres.
    listed: Vec<f32>,
    /// How far each point of each body may go on its way from where it was, in metres.
    room: Vec<Vec<f32>>,
    /// The most room of the points that are not fast.
    slow: f32,
}

impl Candidates {
    /// Forgets all lists.
    pub fn clear(&mut self) {
        self.from.clear();
        self.counts.clear();
        self.partners.clear();
        self.listed.clear();
        self.room.clear();
        self.pairs.clear();
        self.inside.clear();
    }

    /// Sees to it that all parts of `partners` are listed that are nearer to each other than
    /// `needed`, given for each body, and [`WAYS`] times their points' ways.
    pub fn renew(&mut self, views: &[View<'_>], partners: &[Vec<usize>], needed: &[f32]) {
        if self.cover(views, partners, needed) {
            return;
        }
        self.clear();
        self.from.extend(views.iter().map(|v| v.from.to_vec()));
        self.counts.extend(views.iter().map(|v| v.skin.counts));
        self.partners.extend_from_slice(partners);
        self.listed.extend(needed.iter().map(|n| SPARE * n));
        self.slow = 0.0;
        for view in views {
            let (least, most) = (LEAST_ROOM * view.skin.edge, MOST_ROOM * view.skin.edge);
            let room = |i| {
                let way = view.own_way(i);
                WAYS * way + (STEPS * way).clamp(least, most)
            };
            self.room.push((0..view.from.len()).map(room).collect());
            self.slow = self.slow.max(FAST * view.skin.edge);
        }
        self.look_at_points(views);
        self.look_at_edges(views);
        self.pairs.par_sort_unstable_by_key(order);
        self.pairs.dedup();
        self.inside.par_sort_unstable();
        self.inside.dedup();
    }

    /// True if the lists still hold everything that is needed.
    fn cover(&self, views: &[View<'_>], partners: &[Vec<usize>], needed: &[f32]) -> bool {
        let counts = views.iter().map(|v| v.skin.counts);
        if !counts.eq(self.counts.iter().copied()) {
            return false;
        }
        let mut shift = Vec::with_capacity(views.len());
        for (b, view) in views.iter().enumerate() {
            let before = &self.from[b];
            let moved = |i: usize| view.from[i] - before[i];
            let n = before.len();
            let all = (0..n).map(moved).sum::<Vec3>() / n.max(1) as f32;
            let fits = |i: usize| {
                let gone = moved(i).distance(all) + WAYS * view.own_way(i);
                ROUNDING * gone <= self.room[b][i]
            };
            if !(0..n).all(fits) {
                return false;
            }
            shift.push(all);
        }
        (0..views.len()).all(|b| {
            partners[b].iter().all(|p| {
                let reach = ROUNDING * (needed[b] + shift[b].distance(shift[*p]));
                self.partners[b].contains(p) && reach <= self.listed[b]
            })
        })
    }

    /// The most room of some points of a body.
    fn room_of(&self, body: usize, points: &[u32]) -> f32 {
        let room = points.iter().map(|&i| self.room[body][i as usize]);
        room.fold(0.0, f32::max)
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

    /// What triangles and tetrahedra find.
    fn look_at_points(&mut self, views: &[View<'_>]) {
        self.fill(views, |view| {
            let skin = view.solid.skin.iter();
            skin.map(|&i| (i, view.from[i as usize])).collect()
        });
        for other in 0..views.len() {
            if self.partners[other].is_empty() {
                continue;
            }
            let (pairs, inside) = self.points_near(views, other);
            self.pairs.extend(pairs);
            self.inside.extend(inside);
        }
    }

    fn points_near(&self, views: &[View<'_>], other: usize) -> (Vec<Pair>, Vec<MaybeInside>) {
        let (view, partners) = (&views[other], &self.partners[other]);
        let reach = self.listed[other];
        let fast: Vec<u32> = (0..self.items.len() as u32)
            .filter(|&q| {
                let (body, point) = self.items[q as usize];
                partners.contains(&(body as usize))
                    && self.room_of(body as usize, &[point]) > self.slow
            })
            .collect();
        // Calls `visit` with the points near a box of parts that have this much room.
        let near = |bounds: &Aabb, room: f32, visit: &mut dyn FnMut(u32, u32, u32)| {
            let mut meet = |q: u32, around: &Aabb| {
                let (body, point) = self.items[q as usize];
                if partners.contains(&(body as usize)) && around.contains(self.places[q as usize]) {
                    visit(q, body, point);
                }
            };
            let around = bounds.grown(reach + room + self.slow);
            self.hash.for_each_in(&around, |q| meet(q, &around));
            for &q in &fast {
                let (body, point) = self.items[q as usize];
                let own = self.room_of(body as usize, &[point]);
                meet(q, &bounds.grown(reach + room + own));
            }
        };
        let triangles = |(chunk, list): (usize, &[[u32; 3]])| {
            let mut pairs = Vec::new();
            for (k, corners) in list.iter().enumerate() {
                let bounds = Aabb::of(corners.map(|i| view.from[i as usize]));
                let room = self.room_of(other, corners);
                near(&bounds, room, &mut |_, body, point| {
                    if body as usize == other && corners.contains(&point) {
                        return;
                    }
                    let [a, b, c] = *corners;
                    let pair = Pair {
                        bodies: [body, other as u32],
                        kind: Kind::Face {
                            point,
                            triangle: (chunk * CHUNK + k) as u32,
                        },
                        points: [point, a, b, c],
                    };
                    let apart = reach + room + self.room_of(body as usize, &[point]);
                    if is_candidate(&pair, views, apart) {
                        pairs.push(pair);
                    }
                });
            }
            pairs
        };
        let tets = |(chunk, list): (usize, &[[u32; 4]])| {
            let mut found = Vec::new();
            for (k, tet) in list.iter().enumerate() {
                let bounds = Aabb::of(tet.map(|i| view.from[i as usize]));
                let room = self.room_of(other, tet);
                near(&bounds, room, &mut |q, body, point| {
                    let itself = body as usize == other;
                    if itself && (tet.contains(&point) || one_part(view, &[point], tet)) {
                        return;
                    }
                    let apart = reach + room + self.room_of(body as usize, &[point]);
                    if bounds.grown(apart).contains(self.places[q as usize]) {
                        found.push(MaybeInside {
                            body,
                            point,
                            other: other as u32,
                            tet: (chunk * CHUNK + k) as u32,
                        });
                    }
                });
            }
            found
        };
        let surface = view.solid.surface.par_chunks(CHUNK).enumerate();
        let inner = view.solid.mesh.tets.par_chunks(CHUNK).enumerate();
        let pairs: Vec<Vec<Pair>> = surface.map(triangles).collect();
        let found: Vec<Vec<MaybeInside>> = inner.map(tets).collect();
        (pairs.concat(), found.concat())
    }

    /// What edges find among those of later bodies, or of their own.
    fn look_at_edges(&mut self, views: &[View<'_>]) {
        self.fill(views, |view| {
            let middle =
                |e: &Edge| 0.5 * (view.from[e.ends[0] as usize] + view.from[e.ends[1] as usize]);
            let edges = view.skin.edges.iter().enumerate();
            edges.map(|(k, e)| (k as u32, middle(e))).collect()
        });
        let ways: Vec<Vec<EdgeWay>> = (0..views.len())
            .map(|body| {
                let view = &views[body];
                let edges = view.skin.edges.par_iter().with_min_len(CHUNK);
                let way = |edge: &Edge| {
                    let room = self.room_of(body, &edge.ends);
                    EdgeWay {
                        bounds: Aabb::of(edge.ends.map(|i| view.from[i as usize])).grown(room),
                        room,
                    }
                };
                edges.map(way).collect()
            })
            .collect();
        for body in 0..views.len() {
            if !self.partners[body].is_empty() {
                let pairs = self.edges_near(views, body, &ways);
                self.pairs.extend(pairs);
            }
        }
    }

    /// Slow edges look for slow ones that come later, fast ones for all slow ones and for fast
    /// ones that come later.
    fn edges_near(&self, views: &[View<'_>], body: usize, ways: &[Vec<EdgeWay>]) -> Vec<Pair> {
        let (view, partners) = (&views[body], &self.partners[body]);
        let reach = self.listed[body];
        let longest = partners.iter().map(|&p| views[p].longest_edge());
        let half = 0.5 * longest.fold(0.0, f32::max);
        let way_of = |(body, edge): (u32, u32)| &ways[body as usize][edge as usize];
        let fast: Vec<u32> = (0..self.items.len() as u32)
            .filter(|&q| {
                let item = self.items[q as usize];
                partners.contains(&(item.0 as usize)) && way_of(item).room > self.slow
            })
            .collect();
        let edges = |(chunk, list): (usize, &[Edge])| {
            let mut pairs = Vec::new();
            for (k, edge) in list.iter().enumerate() {
                let own = (chunk * CHUNK + k) as u32;
                let EdgeWay { bounds, room } = ways[body][own as usize];
                let around = bounds.grown(reach);
                let is_fast = room > self.slow;
                let mut meet = |q: u32, all: bool| {
                    let (partner, other) = self.items[q as usize];
                    let at = partner as usize;
                    let later = (at, other) > (body, own);
                    let there = way_of((partner, other));
                    if !(later || all) || !there.bounds.overlaps(&around) || !partners.contains(&at)
                    {
                        return;
                    }
                    let ends = views[at].skin.edges[other as usize].ends;
                    if at == body && ends.iter().any(|i| edge.ends.contains(i)) {
                        return;
                    }
                    let [[a, b], [c, d]] = [edge.ends, ends];
                    let pair = if later {
                        Pair {
                            bodies: [body as u32, partner],
                            kind: Kind::Edges { own, other },
                            points: [a, b, c, d],
                        }
                    } else {
                        Pair {
                            bodies: [partner, body as u32],
                            kind: Kind::Edges {
                                own: other,
                                other: own,
                            },
                            points: [c, d, a, b],
                        }
                    };
                    if is_candidate(&pair, views, reach + room + there.room) {
                        pairs.push(pair);
                    }
                };
                self.hash.for_each_in(&around.grown(self.slow + half), |q| {
                    if way_of(self.items[q as usize]).room <= self.slow {
                        meet(q, is_fast);
                    }
                });
                if is_fast {
                    fast.iter().for_each(|&q| meet(q, false));
                }
            }
            pairs
        };
        let chunks = view.skin.edges.par_chunks(CHUNK).enumerate();
        let pairs: Vec<Vec<Pair>> = chunks.map(edges).collect();
        pairs.concat()
    }
}

/// Where an edge may be while lists are kept.
#[derive(Clone, Copy, Debug)]
struct EdgeWay {
    bounds: Aabb,
    /// The most room of its ends, in metres.
    room: f32,
}

/// What pairs are sorted by.
fn order(pair: &Pair) -> [u32; 5] {
    let [a, b] = pair.bodies;
    match pair.kind {
        Kind::Face { point, triangle } => [a, b, 0, triangle, point],
        Kind::Edges { own, other } => [a, b, 1, own, other],
    }
}

/// True if the parts are near enough and can ever meet.
fn is_candidate(pair: &Pair, views: &[View<'_>], reach: f32) -> bool {
    let [a, b] = pair.bodies;
    let first = if pair.side(1) == 0 { 2 } else { 1 };
    let (own, other) = pair.points.split_at(first);
    if a == b && one_part(&views[a as usize], own, other) {
        return false;
    }
    let from = pair.map(|b, i| views[b as usize].from[i as usize]);
    pair.nearest(from).away.length_squared() <= reach * reach
}

/// At rest all places of the two parts of a body are too near each other to be met: what
/// keeps them apart is the material.
fn one_part(view: &View<'_>, own: &[u32], other: &[u32]) -> bool {
    let rest = |i: u32| view.solid.mesh.points[i as usize];
    let apart = APART * view.skin.edge;
    own.iter().all(|&i| {
        let mut other = other.iter();
        other.all(|&k| rest(i).distance_squared(rest(k)) < apart * apart)
    })
}
