//! Which parts of surfaces are near enough that they could touch within the next steps.
//!
//! Hash tables of skin points and of the middles of edges (Teschner et al. 2003; Grahn
//! 2008, chapter 5): triangles look for points and edges for edges near them, and
//! tetrahedra look for points inside them, which something has let slip. The lists reach
//! farther than one step needs and are kept until something has moved too far for them:
//! if that are a few points, only what has to do with those is looked for again.
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

/// What all parts need, listed as a share more of it, so that it may grow a little. Lists
/// that reach farther than this share of what is needed are too long.
const SPARE: f32 = 1.25;
const TOO_FAR: f32 = 2.0;

/// If no more than this share of all points have moved too far, the rest of the lists stays.
const FEW: f32 = 0.1;

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
    /// Points that have been looked for again since are where they would have been then.
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
        match self.find_strays(views, partners, needed) {
            Some(strays) if strays.count == 0 => {}
            Some(strays) => self.list_strays(views, &strays),
            None => self.list_all(views, partners, needed),
        }
    }

    fn list_all(&mut self, views: &[View<'_>], partners: &[Vec<usize>], needed: &[f32]) {
        self.clear();
        self.from.extend(views.iter().map(|v| v.from.to_vec()));
        self.counts.extend(views.iter().map(|v| v.skin.counts));
        self.partners.extend_from_slice(partners);
        self.listed.extend(needed.iter().map(|n| SPARE * n));
        self.slow = 0.0;
        for view in views {
            let room = (0..view.from.len()).map(|i| room(view, i));
            self.room.push(room.collect());
            self.slow = self.slow.max(FAST * view.skin.edge);
        }
        self.look_at_points(views, None);
        self.look_at_edges(views, None);
        self.pairs.par_sort_unstable_by_key(order);
        self.pairs.dedup();
        self.inside.par_sort_unstable();
        self.inside.dedup();
    }

    /// Lists again what some points have to do with.
    fn list_strays(&mut self, views: &[View<'_>], strays: &Strays) {
        for (b, view) in views.iter().enumerate() {
            for i in (0..view.from.len()).filter(|&i| strays.is[b][i]) {
                self.from[b][i] = view.from[i] - strays.shift[b];
                self.room[b][i] = room(view, i);
            }
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        let mut inside = std::mem::take(&mut self.inside);
        pairs.retain(|pair| {
            let [own, other] = pair.parts();
            let [a, b] = pair.bodies;
            !strays.any(a as usize, own) && !strays.any(b as usize, other)
        });
        inside.retain(|i| {
            let tet = &views[i.other as usize].solid.mesh.tets[i.tet as usize];
            !strays.any(i.body as usize, &[i.point]) && !strays.any(i.other as usize, tet)
        });
        self.look_at_points(views, Some(strays));
        self.look_at_edges(views, Some(strays));
        self.pairs.sort_unstable_by_key(order);
        self.inside.sort_unstable();
        // Two runs that are in order, one after the other: stable sorting merges them.
        pairs.append(&mut self.pairs);
        pairs.sort_by_key(order);
        pairs.dedup();
        inside.append(&mut self.inside);
        inside.sort();
        inside.dedup();
        (self.pairs, self.inside) = (pairs, inside);
    }

    /// The points that have moved too far for the lists; `None` if all must be listed again.
    fn find_strays(
        &self,
        views: &[View<'_>],
        partners: &[Vec<usize>],
        needed: &[f32],
    ) -> Option<Strays> {
        let counts = views.iter().map(|v| v.skin.counts);
        if !counts.eq(self.counts.iter().copied()) {
            return None;
        }
        let mut strays = Strays::default();
        for (b, view) in views.iter().enumerate() {
            let before = &self.from[b];
            let moved = |i: usize| view.from[i] - before[i];
            let n = before.len();
            let shift = (0..n).map(moved).sum::<Vec3>() / n.max(1) as f32;
            let strayed = |i: usize| {
                let gone = moved(i).distance(shift) + WAYS * view.own_way(i);
                ROUNDING * gone > self.room[b][i]
            };
            let is: Vec<bool> = (0..n).map(strayed).collect();
            let count = is.iter().filter(|s| **s).count();
            if count as f32 > FEW * n as f32 {
                return None;
            }
            strays.count += count;
            strays.is.push(is);
            strays.shift.push(shift);
        }
        let covered = (0..views.len()).all(|b| {
            partners[b].iter().all(|p| {
                let apart = strays.shift[b].distance(strays.shift[*p]);
                let reach = ROUNDING * (needed[b] + apart);
                let listed = self.listed[b];
                self.partners[b].contains(p) && reach <= listed && listed <= TOO_FAR * reach
            })
        });
        covered.then_some(strays)
    }

    /// The most room of some points of a body.
    fn room_of(&self, body: usize, points: &[u32]) -> f32 {
        let room = points.iter().map(|&i| self.room[body][i as usize]);
        room.fold(0.0, f32::max)
    }

    fn fill(&mut self, views: &[View<'_>], list: impl Fn(&View<'_>, &[Vec3]) -> Vec<(u32, Vec3)>) {
        self.items.clear();
        self.places.clear();
        let mut side = 0.0f32;
        for (body, view) in views.iter().enumerate() {
            if !self.partners.iter().flatten().any(|&p| p == body) {
                continue;
            }
            side = side.max(view.skin.edge);
            for (item, place) in list(view, &self.from[body]) {
                self.items.push((body as u32, item));
                self.places.push(place);
            }
        }
        self.hash.build(&self.places, side);
    }

    /// What triangles and tetrahedra find; of what has to do with strays, if those are given.
    fn look_at_points(&mut self, views: &[View<'_>], strays: Option<&Strays>) {
        self.fill(views, |view, from| {
            let skin = view.solid.skin.iter();
            skin.map(|&i| (i, from[i as usize])).collect()
        });
        for other in 0..views.len() {
            if self.partners[other].is_empty() {
                continue;
            }
            let (pairs, inside) = self.points_near(views, other, strays);
            self.pairs.extend(pairs);
            self.inside.extend(inside);
        }
    }

    fn points_near(
        &self,
        views: &[View<'_>],
        other: usize,
        strays: Option<&Strays>,
    ) -> (Vec<Pair>, Vec<MaybeInside>) {
        let (view, partners) = (&views[other], &self.partners[other]);
        let (reach, from) = (self.listed[other], &self.from[other]);
        let among = |is: &dyn Fn(usize, u32) -> bool| -> Vec<u32> {
            let items = self.items.iter().zip(0u32..);
            let mine = items.filter(|((body, _), _)| partners.contains(&(*body as usize)));
            mine.filter_map(|(&(body, point), q)| is(body as usize, point).then_some(q))
                .collect()
        };
        let fast = among(&|body, point| self.room_of(body, &[point]) > self.slow);
        let astray = among(&|body, point| strays.is_some_and(|s| s.any(body, &[point])));
        // Calls `visit` with the points near a box of parts that have this much room: with all
        // of them if `all`, or else with the strays.
        let near = |bounds: &Aabb, room: f32, all: bool, visit: &mut dyn FnMut(u32, u32, u32)| {
            let mut meet = |q: u32, around: &Aabb| {
                let (body, point) = self.items[q as usize];
                if partners.contains(&(body as usize)) && around.contains(self.places[q as usize]) {
                    visit(q, body, point);
                }
            };
            if all {
                let around = bounds.grown(reach + room + self.slow);
                self.hash.for_each_in(&around, |q| meet(q, &around));
            }
            for &q in if all { &fast } else { &astray } {
                let (body, point) = self.items[q as usize];
                let own = self.room_of(body as usize, &[point]);
                meet(q, &bounds.grown(reach + room + own));
            }
        };
        let all_around = |part: &[u32]| strays.is_none_or(|s| s.any(other, part));
        let triangles = |(chunk, list): (usize, &[[u32; 3]])| {
            let mut pairs = Vec::new();
            for (k, corners) in list.iter().enumerate() {
                let bounds = Aabb::of(corners.map(|i| from[i as usize]));
                let room = self.room_of(other, corners);
                near(&bounds, room, all_around(corners), &mut |_, body, point| {
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
                    if self.is_candidate(&pair, views, apart) {
                        pairs.push(pair);
                    }
                });
            }
            pairs
        };
        let tets = |(chunk, list): (usize, &[[u32; 4]])| {
            let mut found = Vec::new();
            for (k, tet) in list.iter().enumerate() {
                let bounds = Aabb::of(tet.map(|i| from[i as usize]));
                let room = self.room_of(other, tet);
                near(&bounds, room, all_around(tet), &mut |q, body, point| {
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

    /// What edges find among those of later bodies, or of their own; of what has to do with
    /// strays, if those are given.
    fn look_at_edges(&mut self, views: &[View<'_>], strays: Option<&Strays>) {
        self.fill(views, |view, from| {
            let middle = |e: &Edge| 0.5 * (from[e.ends[0] as usize] + from[e.ends[1] as usize]);
            let edges = view.skin.edges.iter().enumerate();
            edges.map(|(k, e)| (k as u32, middle(e))).collect()
        });
        let ways: Vec<Vec<EdgeWay>> = (0..views.len())
            .map(|body| {
                let (view, from) = (&views[body], &self.from[body]);
                let edges = view.skin.edges.par_iter().with_min_len(CHUNK);
                let way = |edge: &Edge| {
                    let room = self.room_of(body, &edge.ends);
                    EdgeWay {
                        bounds: Aabb::of(edge.ends.map(|i| from[i as usize])).grown(room),
                        room,
                    }
                };
                edges.map(way).collect()
            })
            .collect();
        for body in 0..views.len() {
            if !self.partners[body].is_empty() {
                let pairs = self.edges_near(views, body, &ways, strays);
                self.pairs.extend(pairs);
            }
        }
    }

    /// Slow edges look for slow ones that come later, fast ones for all slow ones and for fast
    /// ones that come later. Those of strays look for all, and no others do.
    fn edges_near(
        &self,
        views: &[View<'_>],
        body: usize,
        ways: &[Vec<EdgeWay>],
        strays: Option<&Strays>,
    ) -> Vec<Pair> {
        let (view, partners) = (&views[body], &self.partners[body]);
        let reach = self.listed[body];
        let longest = partners
            .iter()
            .map(|&p| longest_edge(&views[p], &self.from[p]));
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
                if strays.is_some_and(|s| !s.any(body, &edge.ends)) {
                    continue;
                }
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
                    if self.is_candidate(&pair, views, reach + room + there.room) {
                        pairs.push(pair);
                    }
                };
                self.hash.for_each_in(&around.grown(self.slow + half), |q| {
                    if way_of(self.items[q as usize]).room <= self.slow {
                        meet(q, is_fast || strays.is_some());
                    }
                });
                if is_fast || strays.is_some() {
                    fast.iter().for_each(|&q| meet(q, strays.is_some()));
                }
            }
            pairs
        };
        let chunks = view.skin.edges.par_chunks(CHUNK).enumerate();
        let pairs: Vec<Vec<Pair>> = chunks.map(edges).collect();
        pairs.concat()
    }

    /// True if the parts are near enough and can ever meet.
    fn is_candidate(&self, pair: &Pair, views: &[View<'_>], reach: f32) -> bool {
        let [a, b] = pair.bodies;
        let [own, other] = pair.parts();
        if a == b && one_part(&views[a as usize], own, other) {
            return false;
        }
        let from = pair.map(|b, i| self.from[b as usize][i as usize]);
        pair.nearest(from).away.length_squared() <= reach * reach
    }
}

/// Points that have moved too far for the lists.
#[derive(Clone, Debug, Default)]
struct Strays {
    /// By body and point.
    is: Vec<Vec<bool>>,
    count: usize,
    /// How far all points of each body have moved in the mean since the lists were made, in
    /// metres.
    shift: Vec<Vec3>,
}

impl Strays {
    /// True if one of some points of a body is among them.
    fn any(&self, body: usize, points: &[u32]) -> bool {
        points.iter().any(|&i| self.is[body][i as usize])
    }
}

/// Length of the longest edge of a skin with its points at these places, in metres.
fn longest_edge(view: &View<'_>, places: &[Vec3]) -> f32 {
    let length = |e: &Edge| {
        let [a, b] = e.ends.map(|i| places[i as usize]);
        a.distance_squared(b)
    };
    let lengths = view.skin.edges.iter().map(length);
    lengths.fold(0.0, f32::max).sqrt()
}

/// How far a point may go on its way from where it was, in metres.
fn room(view: &View<'_>, point: usize) -> f32 {
    let (least, most) = (LEAST_ROOM * view.skin.edge, MOST_ROOM * view.skin.edge);
    let way = view.own_way(point);
    WAYS * way + (STEPS * way).clamp(least, most)
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
