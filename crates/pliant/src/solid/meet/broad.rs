//! Which parts of surfaces are near enough to touch in a step.
//!
//! Where the boxes around their ways overlap, points can touch triangles and edges can touch
//! edges, if they are near each other or on their way to meet; and points may be inside of
//! tetrahedra, if something has let them slip. All of it is looked for anew in every step: that
//! costs less than lists that last for several, which have to reach as far as splinters fly.
//! What is hardly bent does not meet its own piece (`calm.rs`): such parts of the largest piece
//! look only for all others, so that a body that is whole has nothing to look for.

use glam::Vec3;

use super::calm::Calm;
use super::find::{LEAST, faces};
use super::pair::{Kind, Pair};
use super::parts::{AllParts, widest};
use super::skin::View;
use super::winding::winding;
use super::{APART, NEAR};

/// The end of a point may be this share of its way from where it was thought to be, and its
/// thickness, before what can touch is looked for again.
const SLACK: f32 = 0.25;

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

/// What can touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Broad {
    /// The parts of the largest piece that cannot meet each other, and all others.
    largest: AllParts,
    others: AllParts,
    calm: Calm,
    /// All pairs that can touch.
    pub pairs: Vec<Pair>,
    /// Points that are inside of a body, by body, point and other body.
    pub inside: Vec<Inside>,
    /// Where the points of each body were thought to end, and how far from there they may, in
    /// metres.
    ends: Vec<Vec<(Vec3, f32)>>,
    /// For every body the bodies that can reach it.
    pub partners: Vec<Vec<usize>>,
}

impl Broad {
    /// Finds what can touch in this step.
    pub fn find(&mut self, views: &[View<'_>]) {
        self.pairs.clear();
        self.inside.clear();
        self.ends.clear();
        let moving: Vec<Moving> = views.iter().map(Moving::new).collect();
        self.partners = partners(views, &moving);
        self.ends
            .extend(views.iter().zip(&moving).map(|(view, moving)| {
                let ends = view.to.iter().enumerate();
                ends.map(|(i, &to)| (to, moving.slack(moving.own_way[i])))
                    .collect()
            }));
        if self.partners.iter().all(Vec::is_empty) {
            return;
        }
        let reach = |body: usize, i: usize| {
            let way = moving[body].own_way[i];
            way + moving[body].reach(&views[body], way)
        };
        self.calm = Calm::find(views, reach);
        let (calm, partners) = (&self.calm, &self.partners);
        let largest = calm.largest_piece(views);
        let is_largest = |body: usize, points: &[u32]| {
            let piece = |i: u32| (body, views[body].skin.piece[i as usize]);
            largest == Some(piece(points[0])) && calm.are(body, points)
        };
        let axis = widest(views);
        let asked =
            |body: usize, points: &[u32]| !partners[body].is_empty() && !is_largest(body, points);
        self.others.build(views, &moving, axis, asked);
        if self.others.points.is_empty() {
            return;
        }
        self.largest.build(views, &moving, axis, is_largest);
        let all = [
            (&self.others, &self.others),
            (&self.others, &self.largest),
            (&self.largest, &self.others),
        ];
        let (mut pairs, mut inside) = (Vec::new(), Vec::new());
        let can = |pair: Pair| self.can_meet(&pair, views, &moving).then_some(pair);
        for (own, other) in all {
            let (points, triangles) = (&own.points, &other.triangles);
            pairs.extend(points.sweep.pairs_with(&triangles.sweep, |p, t| {
                can(face(views, points.item(p), triangles.item(t)))
            }));
            let tets = &other.tets;
            inside.extend(points.sweep.pairs_with(&tets.sweep, |p, t| {
                self.find_inside(views, points.item(p), tets.item(t))
            }));
        }
        let (own, other) = (&self.others.edges, &self.largest.edges);
        let edges = |(a, b): ((u32, u32), (u32, u32))| can(edge_pair(views, a.min(b), a.max(b)));
        pairs.extend(own.sweep.pairs(|a, b| edges((own.item(a), own.item(b)))));
        let with_largest = |a, b| edges((own.item(a), other.item(b)));
        pairs.extend(own.sweep.pairs_with(&other.sweep, with_largest));
        pairs.sort_unstable_by_key(Pair::order);
        self.pairs = pairs;
        self.keep_inside(inside, views);
    }

    /// True if two parts of a body can never touch, or not in this step.
    fn never_meet(&self, view: &View<'_>, body: u32, own: &[u32], other: &[u32]) -> bool {
        let piece = |points: &[u32]| view.skin.piece[points[0] as usize];
        let calm = |points: &[u32]| self.calm.are(body as usize, points);
        piece(own) == piece(other) && calm(own) && calm(other) || one_part(view, own, other)
    }

    /// True if bodies can reach each other and two parts of them can touch.
    fn can_meet(&self, pair: &Pair, views: &[View<'_>], moving: &[Moving]) -> bool {
        let [a, b] = pair.bodies;
        let [own, other] = pair.parts();
        if !self.partners[b as usize].contains(&(a as usize)) {
            return false;
        }
        if a == b && self.never_meet(&views[a as usize], a, own, other) {
            return false;
        }
        can_touch(pair, views, moving)
    }

    /// True if places at the end of the step are about where they were thought to be.
    pub fn holds(&self, views: &[View<'_>]) -> bool {
        views.iter().zip(&self.ends).all(|(view, ends)| {
            let mut skin = view.solid.skin.iter().map(|&i| i as usize);
            skin.all(|i| view.to[i].distance_squared(ends[i].0) <= ends[i].1 * ends[i].1)
        })
    }

    /// True if points of one of the two bodies are inside of the other.
    pub fn tangled(&self, bodies: [u32; 2]) -> bool {
        let both = |i: &Inside| [i.body, i.other] == bodies || [i.other, i.body] == bodies;
        !self.inside.is_empty() && self.inside.iter().any(both)
    }

    /// A point that is in a tetrahedron of a body that it can reach.
    fn find_inside(
        &self,
        views: &[View<'_>],
        (body, point): (u32, u32),
        (other, tet): (u32, u32),
    ) -> Option<Inside> {
        let point = views[body as usize].solid.skin[point as usize];
        let view = &views[other as usize];
        let corners = view.solid.mesh.tets[tet as usize];
        if !self.partners[other as usize].contains(&(body as usize))
            || body == other && self.never_meet(view, body, &[point], &corners)
        {
            return None;
        }
        let place = views[body as usize].from[point as usize];
        let inside = Inside {
            body,
            point,
            other,
            tet,
            weights: weights_inside(place, corners.map(|i| view.from[i as usize]))?,
        };
        (body != other || !same_part_inside(view, &inside)).then_some(inside)
    }

    /// Keeps points that are inside by the surface too. Tetrahedra that are inside out fold
    /// a body back over what is outside of it, and those that are flat cannot tell.
    fn keep_inside(&mut self, mut found: Vec<Inside>, views: &[View<'_>]) {
        let key = |i: &Inside| [i.body, i.point, i.other];
        found.sort_unstable_by_key(|i| (key(i), i.tet));
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
}

/// How the points of a body move.
pub(super) struct Moving {
    /// How far they go besides the way of all, in metres.
    own_way: Vec<f32>,
    /// How far the end of a point that goes the way of all may be from where it was thought to
    /// be, in metres.
    least_slack: f32,
}

impl Moving {
    fn new(view: &View<'_>) -> Moving {
        Moving {
            own_way: (0..view.from.len()).map(|i| view.own_way(i)).collect(),
            least_slack: view.solid.thickness + SLACK * view.way.length(),
        }
    }

    /// How far the end of a point may be from where it was thought to be, in metres.
    fn slack(&self, own_way: f32) -> f32 {
        self.least_slack + SLACK * own_way
    }

    /// How far a part that goes this far may be from one that it touches, but for its way;
    /// that of the other comes to it. In metres.
    pub fn reach(&self, view: &View<'_>, own_way: f32) -> f32 {
        NEAR * view.solid.thickness + self.slack(own_way)
    }

    /// The longest own way of some points.
    pub fn own_way(&self, points: &[u32]) -> f32 {
        let ways = points.iter().map(|&i| self.own_way[i as usize]);
        ways.fold(0.0, f32::max)
    }
}

/// For every body the bodies whose points can reach it.
fn partners(views: &[View<'_>], moving: &[Moving]) -> Vec<Vec<usize>> {
    let close = |a: usize, b: usize| {
        let (va, vb) = (&views[a], &views[b]);
        if a == b {
            return va.solid.settings.self_contact;
        }
        let way = va.way.distance(vb.way) + va.deviation + vb.deviation;
        let slack = moving[a].slack(va.deviation) + moving[b].slack(vb.deviation);
        let reach = NEAR * (va.solid.thickness + vb.solid.thickness) + way + slack;
        va.bounds.grown(reach).overlaps(&vb.bounds)
    };
    let all = 0..views.len();
    all.clone()
        .map(|a| all.clone().filter(|&b| close(a, b)).collect())
        .collect()
}

/// A point of the skin and a triangle, given by their bodies and numbers.
fn face(views: &[View<'_>], point: (u32, u32), triangle: (u32, u32)) -> Pair {
    let number = views[point.0 as usize].solid.skin[point.1 as usize];
    let [a, b, c] = views[triangle.0 as usize].solid.surface[triangle.1 as usize];
    Pair {
        bodies: [point.0, triangle.0],
        kind: Kind::Face {
            point: number,
            triangle: triangle.1,
        },
        points: [number, a, b, c],
    }
}

/// Two edges of the skin, given by their bodies and numbers.
fn edge_pair(views: &[View<'_>], own: (u32, u32), other: (u32, u32)) -> Pair {
    let ends = |(body, edge): (u32, u32)| views[body as usize].skin.edges[edge as usize].ends;
    let [[a, b], [c, d]] = [ends(own), ends(other)];
    Pair {
        bodies: [own.0, other.0],
        kind: Kind::Edges {
            own: own.1,
            other: other.1,
        },
        points: [a, b, c, d],
    }
}

/// True if the parts can come near enough to each other, wherever they end within the
/// slack.
fn can_touch(pair: &Pair, views: &[View<'_>], moving: &[Moving]) -> bool {
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
    let slack = [0, 1].map(|k| {
        let moving = &moving[pair.bodies[k] as usize];
        moving.slack(moving.own_way(pair.parts()[k]))
    });
    if nearest.away.length() > near + way[0] + way[1] + slack[0] + slack[1] {
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

/// At rest all places of the two parts of a body are too near each other to be met: what
/// keeps them apart is the material. Parts that have a point in common cannot meet either.
fn one_part(view: &View<'_>, own: &[u32], other: &[u32]) -> bool {
    let rest = |i: u32| view.solid.mesh.points[i as usize];
    let apart = APART * view.skin.edge;
    let near = |i: u32, k: u32| rest(i).distance_squared(rest(k)) < apart * apart;
    own.iter().any(|i| other.contains(i)) || own.iter().all(|&i| other.iter().all(|&k| near(i, k)))
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
