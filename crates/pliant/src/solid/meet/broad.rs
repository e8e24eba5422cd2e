//! Which parts of surfaces are near enough to touch in a step.
//!
//! Of the parts that `candidates.rs` lists, those that are near each other or on their
//! way to meet, and the points that are inside of tetrahedra.

use glam::Vec3;
use rayon::prelude::*;

use super::candidates::{Candidates, MaybeInside, WAYS};
use super::find::{LEAST, faces};
use super::pair::Pair;
use super::skin::View;
use super::winding::winding;
use super::{APART, NEAR};

/// The end of a point may be this share of its way from where it was thought to be, and its
/// thickness, before what can touch is looked for again.
const SLACK: f32 = 0.25;

/// Pairs per task.
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

/// What can touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Broad {
    candidates: Candidates,
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
    /// Forgets what was near.
    pub fn forget(&mut self) {
        self.candidates.clear();
    }

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
        let needed: Vec<f32> = (0..views.len())
            .map(|b| self.reach(views, &moving, b))
            .collect();
        self.candidates.renew(views, &self.partners, &needed);
        let inside = self.find_inside(views);
        self.keep_inside(inside, views);
        let partners = &self.partners;
        let can = |pair: &&Pair| {
            let [a, b] = pair.bodies;
            partners[b as usize].contains(&(a as usize))
                && boxes_can_touch(pair, views, &moving)
                && can_touch(pair, views, &moving)
        };
        let all = self.candidates.pairs.par_iter().with_min_len(CHUNK);
        self.pairs = all.filter(can).copied().collect();
        self.pairs.sort_unstable_by_key(Pair::order);
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

    /// How far from a part of a body its partners' parts can be for [`can_touch`], if their
    /// points go no other way than their bodies.
    fn reach(&self, views: &[View<'_>], moving: &[Moving], body: usize) -> f32 {
        let view = &views[body];
        let reach = |&p: &usize| {
            let other = &views[p];
            NEAR * (view.solid.thickness + other.solid.thickness)
                + 2.0 * view.way.distance(other.way)
                + moving[body].slack(0.0)
                + moving[p].slack(0.0)
        };
        self.partners[body].iter().map(reach).fold(0.0, f32::max)
    }

    /// The points that are in tetrahedra of bodies that they can reach.
    fn find_inside(&self, views: &[View<'_>]) -> Vec<Inside> {
        let held = |maybe: &MaybeInside| {
            let other = &views[maybe.other as usize];
            if !self.partners[maybe.other as usize].contains(&(maybe.body as usize)) {
                return None;
            }
            let tet = other.solid.mesh.tets[maybe.tet as usize];
            let place = views[maybe.body as usize].from[maybe.point as usize];
            let inside = Inside {
                body: maybe.body,
                point: maybe.point,
                other: maybe.other,
                tet: maybe.tet,
                weights: weights_inside(place, tet.map(|i| other.from[i as usize]))?,
            };
            let itself = maybe.body == maybe.other;
            (!itself || !same_part_inside(other, &inside)).then_some(inside)
        };
        let all = self.candidates.inside.par_iter().with_min_len(CHUNK);
        all.filter_map(held).collect()
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
struct Moving {
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

    /// The longest own way of some points.
    fn own_way(&self, points: &[u32]) -> f32 {
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

/// False if the boxes around the parts tell that [`can_touch`] is false.
fn boxes_can_touch(pair: &Pair, views: &[View<'_>], moving: &[Moving]) -> bool {
    let (mut low, mut high) = ([Vec3::INFINITY; 2], [Vec3::NEG_INFINITY; 2]);
    for (k, &point) in pair.points.iter().enumerate() {
        let side = pair.side(k);
        let (body, point) = (pair.bodies[side] as usize, point as usize);
        let place = views[body].from[point];
        low[side] = low[side].min(place);
        high[side] = high[side].max(place);
    }
    let [a, b] = pair.bodies.map(|b| &views[b as usize]);
    let (way, slack) = own_ways(pair, moving);
    // The way of each counts once, and at most as much again in the mean of both.
    let reach = NEAR * (a.solid.thickness + b.solid.thickness)
        + WAYS * way
        + 2.0 * a.way.distance(b.way)
        + slack;
    let gap = (low[0] - high[1]).max(low[1] - high[0]).max(Vec3::ZERO);
    gap.length_squared() <= 1.001 * reach * reach
}

/// The own ways of the two parts together, and their slack.
fn own_ways(pair: &Pair, moving: &[Moving]) -> (f32, f32) {
    let [a, b] = pair.bodies.map(|b| &moving[b as usize]);
    let [own, other] = pair.parts();
    let (own, other) = (a.own_way(own), b.own_way(other));
    (own + other, a.slack(own) + b.slack(other))
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
    let (_, slack) = own_ways(pair, moving);
    if nearest.away.length() > near + way[0] + way[1] + slack {
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
