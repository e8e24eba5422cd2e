//! Which parts of surfaces are near enough that they could touch within the next steps.
//!
//! Around points, triangles, edges and tetrahedra are boxes that hold the room in which they
//! may move. Where the boxes overlap, points can touch triangles and edges can touch edges, and
//! points may be inside of tetrahedra, if something has let them slip. The lists reach farther
//! than one step needs and are kept until something has moved too far for them: if that are a
//! few points, only what has to do with those is looked for again. The order of the lists means
//! nothing.

use glam::Vec3;

use super::APART;
use super::pair::{Kind, Pair};
use super::skin::View;
use crate::math::Aabb;
use crate::space::BoxSweep;

/// Each point has room in the lists for its way, as often as `can_touch` of `broad.rs` counts
/// it, and for this many steps more of it, but between these shares of an edge.
pub(super) const WAYS: f32 = 3.0;
const STEPS: f32 = 5.0;
const LEAST_ROOM: f32 = 0.1;
const MOST_ROOM: f32 = 0.3;

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

/// The lists, and the boxes of which they were made.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    pub pairs: Vec<Pair>,
    pub inside: Vec<MaybeInside>,
    reach: Reach,
    points: Boxes,
    triangles: Boxes,
    edges: Boxes,
    tets: Boxes,
}

impl Candidates {
    /// Forgets all lists.
    pub fn clear(&mut self) {
        self.reach = Reach::default();
        self.pairs.clear();
        self.inside.clear();
    }

    /// Sees to it that all parts of `partners` are listed that are nearer to each other than
    /// `needed`, given for each body, and [`WAYS`] times their points' ways.
    pub fn renew(&mut self, views: &[View<'_>], partners: &[Vec<usize>], needed: &[f32]) {
        match self.reach.find_strays(views, partners, needed) {
            Some(strays) if strays.count == 0 => {}
            Some(strays) => self.list_strays(views, &strays),
            None => self.list_all(views, partners, needed),
        }
    }

    fn list_all(&mut self, views: &[View<'_>], partners: &[Vec<usize>], needed: &[f32]) {
        self.reach = Reach {
            from: views.iter().map(|v| v.from.to_vec()).collect(),
            counts: views.iter().map(|v| v.skin.counts).collect(),
            partners: partners.to_vec(),
            listed: needed.iter().map(|n| SPARE * n).collect(),
            room: views.iter().map(all_room).collect(),
        };
        let reach = &self.reach;
        let axis = widest(&reach.from);
        self.points.build(Part::Point, views, reach, axis);
        self.triangles.build(Part::Triangle, views, reach, axis);
        self.edges.build(Part::Edge, views, reach, axis);
        self.tets.build(Part::Tet, views, reach, axis);
        let (points, edges) = (&self.points, &self.edges);
        let (triangles, tets) = (&self.triangles, &self.tets);
        self.pairs = points.sweep.pairs_with(&triangles.sweep, |p, t| {
            reach.face(views, points.item(p), triangles.item(t))
        });
        self.pairs.extend(
            edges
                .sweep
                .pairs(|a, b| reach.edges(views, edges.item(a), edges.item(b))),
        );
        self.inside = points.sweep.pairs_with(&tets.sweep, |p, t| {
            reach.maybe_inside(views, points.item(p), tets.item(t))
        });
    }

    /// Lists again what some points have to do with.
    fn list_strays(&mut self, views: &[View<'_>], strays: &Strays) {
        for (b, view) in views.iter().enumerate() {
            for i in (0..view.from.len()).filter(|&i| strays.is[b][i]) {
                self.reach.from[b][i] = view.from[i] - strays.shift[b];
                self.reach.room[b][i] = room(view, i);
            }
        }
        self.pairs.retain(|pair| {
            let [own, other] = pair.parts();
            let [a, b] = pair.bodies;
            !strays.any(a, own) && !strays.any(b, other)
        });
        self.inside.retain(|i| {
            let tet = &views[i.other as usize].solid.mesh.tets[i.tet as usize];
            !strays.any(i.body, &[i.point]) && !strays.any(i.other, tet)
        });
        let reach = &self.reach;
        let [points, triangles, edges, tets] = [
            &mut self.points,
            &mut self.triangles,
            &mut self.edges,
            &mut self.tets,
        ]
        .map(|boxes| boxes.follow(views, reach, strays));
        let among = |astray: &[u32], item: u32| astray.binary_search(&item).is_ok();
        let mut found = Vec::new();
        let (pairs, inside) = (&mut self.pairs, &mut self.inside);
        for &p in &points {
            let (own, bounds) = (self.points.item(p), self.points.at(p));
            self.triangles
                .sweep
                .for_each_over(&bounds, &mut found, |t| {
                    pairs.extend(reach.face(views, own, self.triangles.item(t)));
                });
            self.tets.sweep.for_each_over(&bounds, &mut found, |t| {
                inside.extend(reach.maybe_inside(views, own, self.tets.item(t)));
            });
        }
        // What strays meet strays has been found above.
        for &t in &triangles {
            let (own, bounds) = (self.triangles.item(t), self.triangles.at(t));
            self.points.sweep.for_each_over(&bounds, &mut found, |p| {
                if !among(&points, p) {
                    pairs.extend(reach.face(views, self.points.item(p), own));
                }
            });
        }
        for &t in &tets {
            let (own, bounds) = (self.tets.item(t), self.tets.at(t));
            self.points.sweep.for_each_over(&bounds, &mut found, |p| {
                if !among(&points, p) {
                    inside.extend(reach.maybe_inside(views, self.points.item(p), own));
                }
            });
        }
        for &e in &edges {
            let (own, bounds) = (self.edges.item(e), self.edges.at(e));
            self.edges.sweep.for_each_over(&bounds, &mut found, |k| {
                if k > e || !among(&edges, k) {
                    pairs.extend(reach.edges(views, own, self.edges.item(k)));
                }
            });
        }
    }
}

/// What the lists are good for.
#[derive(Clone, Debug, Default)]
struct Reach {
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
}

impl Reach {
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

    /// How far a part goes, and half of what others may be from it, in metres: two parts are
    /// listed if they are nearer than both theirs together.
    fn margin(&self, body: u32, points: &[u32]) -> f32 {
        let room = points.iter().map(|&i| self.room[body as usize][i as usize]);
        room.fold(0.0, f32::max) + 0.5 * self.listed[body as usize]
    }

    /// The box in which a part may be while the lists are kept.
    fn bounds(&self, body: u32, points: &[u32]) -> Aabb {
        let places = points.iter().map(|&i| self.from[body as usize][i as usize]);
        Aabb::of(places).grown(self.margin(body, points))
    }

    /// A point of the skin and a triangle, given by their bodies and numbers.
    fn face(&self, views: &[View<'_>], point: (u32, u32), triangle: (u32, u32)) -> Option<Pair> {
        let point = (point.0, views[point.0 as usize].solid.skin[point.1 as usize]);
        let [a, b, c] = views[triangle.0 as usize].solid.surface[triangle.1 as usize];
        let pair = Pair {
            bodies: [point.0, triangle.0],
            kind: Kind::Face {
                point: point.1,
                triangle: triangle.1,
            },
            points: [point.1, a, b, c],
        };
        self.is_candidate(&pair, views).then_some(pair)
    }

    /// Two edges of the skin, given by their bodies and numbers.
    fn edges(&self, views: &[View<'_>], one: (u32, u32), two: (u32, u32)) -> Option<Pair> {
        let [own, other] = if one < two { [one, two] } else { [two, one] };
        let ends = |(body, edge): (u32, u32)| views[body as usize].skin.edges[edge as usize].ends;
        let [[a, b], [c, d]] = [ends(own), ends(other)];
        let pair = Pair {
            bodies: [own.0, other.0],
            kind: Kind::Edges {
                own: own.1,
                other: other.1,
            },
            points: [a, b, c, d],
        };
        self.is_candidate(&pair, views).then_some(pair)
    }

    /// True if the parts are near enough and can ever meet.
    fn is_candidate(&self, pair: &Pair, views: &[View<'_>]) -> bool {
        let [a, b] = pair.bodies;
        let [own, other] = pair.parts();
        if !self.meet(a, b) || a == b && one_part(&views[a as usize], own, other) {
            return false;
        }
        let from = pair.map(|b, i| self.from[b as usize][i as usize]);
        let reach = self.margin(a, own) + self.margin(b, other);
        pair.nearest(from).away.length_squared() <= reach * reach
    }

    /// A point of the skin and a tetrahedron, given by their bodies and numbers.
    fn maybe_inside(
        &self,
        views: &[View<'_>],
        (body, point): (u32, u32),
        (other, tet): (u32, u32),
    ) -> Option<MaybeInside> {
        let point = views[body as usize].solid.skin[point as usize];
        let view = &views[other as usize];
        let corners = &view.solid.mesh.tets[tet as usize];
        let never = !self.meet(body, other) || body == other && one_part(view, &[point], corners);
        (!never).then_some(MaybeInside {
            body,
            point,
            other,
            tet,
        })
    }

    /// True if two bodies were looked at for each other.
    fn meet(&self, a: u32, b: u32) -> bool {
        self.partners[a as usize].contains(&(b as usize))
    }
}

/// What bodies consist of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Of the skin.
    #[default]
    Point,
    Triangle,
    Edge,
    Tet,
}

impl Part {
    fn count(self, view: &View<'_>) -> usize {
        match self {
            Part::Point => view.solid.skin.len(),
            Part::Triangle => view.solid.surface.len(),
            Part::Edge => view.skin.edges.len(),
            Part::Tet => view.solid.mesh.tets.len(),
        }
    }

    /// The points of part `number`.
    fn points<'a>(self, view: &View<'a>, number: u32) -> &'a [u32] {
        let number = number as usize;
        match self {
            Part::Point => std::slice::from_ref(&view.solid.skin[number]),
            Part::Triangle => &view.solid.surface[number],
            Part::Edge => &view.skin.edges[number].ends,
            Part::Tet => &view.solid.mesh.tets[number],
        }
    }
}

/// The boxes around all parts of one kind.
#[derive(Clone, Debug, Default)]
struct Boxes {
    part: Part,
    /// Body and number of every part.
    items: Vec<(u32, u32)>,
    /// Where the box of every part is in the sweep.
    places: Vec<u32>,
    sweep: BoxSweep,
}

impl Boxes {
    fn build(&mut self, part: Part, views: &[View<'_>], reach: &Reach, axis: usize) {
        self.part = part;
        self.items.clear();
        let mut bounds = Vec::new();
        for (body, view) in (0u32..).zip(views) {
            if reach.partners[body as usize].is_empty() {
                continue;
            }
            for number in 0..part.count(view) as u32 {
                self.items.push((body, number));
                bounds.push(reach.bounds(body, part.points(view, number)));
            }
        }
        self.sweep.build(&bounds, axis);
        self.places.resize(self.items.len(), 0);
        for (place, &item) in (0u32..).zip(self.sweep.items()) {
            self.places[item as usize] = place;
        }
    }

    /// Moves the boxes of parts that have strays among their points, and returns those parts.
    fn follow(&mut self, views: &[View<'_>], reach: &Reach, strays: &Strays) -> Vec<u32> {
        let mut astray = Vec::new();
        for (k, &(body, number)) in (0u32..).zip(&self.items) {
            let points = self.part.points(&views[body as usize], number);
            if strays.any(body, points) {
                let place = self.places[k as usize] as usize;
                self.sweep.change(place, &reach.bounds(body, points));
                astray.push(k);
            }
        }
        astray
    }

    fn item(&self, k: u32) -> (u32, u32) {
        self.items[k as usize]
    }

    /// The box of a part.
    fn at(&self, k: u32) -> Aabb {
        self.sweep.at(self.places[k as usize] as usize)
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
    fn any(&self, body: u32, points: &[u32]) -> bool {
        let is = &self.is[body as usize];
        points.iter().any(|&i| is[i as usize])
    }
}

/// The axis along which points are spread the most.
fn widest(from: &[Vec<Vec3>]) -> usize {
    let all = || from.iter().flatten();
    let n = all().count().max(1) as f32;
    let mean = all().sum::<Vec3>() / n;
    let spread: Vec3 = all().map(|p| (p - mean) * (p - mean)).sum();
    spread.max_position()
}

fn all_room(view: &View<'_>) -> Vec<f32> {
    (0..view.from.len()).map(|i| room(view, i)).collect()
}

/// How far a point may go on its way from where it was, in metres.
fn room(view: &View<'_>, point: usize) -> f32 {
    let (least, most) = (LEAST_ROOM * view.skin.edge, MOST_ROOM * view.skin.edge);
    let way = view.own_way(point);
    WAYS * way + (STEPS * way).clamp(least, most)
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
