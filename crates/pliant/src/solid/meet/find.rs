//! Where surfaces meet in a step, of all that could.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::NEAR;
use super::broad::{Broad, Inside};
use super::pair::{Kind, Nearest, Pair};
use super::skin::{Skin, View};
use super::swept::first_touch;

/// Two parts of surfaces that come nearer than this share of the distance that they keep
/// have touched.
pub(super) const LEAST: f32 = 0.1;
/// A point that has slipped in is led out at most this fast, in m/s.
const WAY_OUT: f32 = 0.5;
/// How far beyond the sides of an edge another one may be and still meet it: flat
/// surfaces have edges too, and bend.
const LEANING: f32 = 0.2;
/// An edge at which the surface turns by 1 - cos of its angle of this much is sharp.
const SHARP: f32 = 0.02;
/// Edges that cross in this last share of one of them are less of a contact.
const END: f32 = 0.15;
/// Pairs per task.
const CHUNK: usize = 256;

/// A place at which two parts of surfaces meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub pair: Pair,
    /// Weights of the four points, see [`Nearest::weights`].
    pub weights: [f32; 4],
    /// From the second part to the first.
    pub normal: Vec3A,
    /// Distance along the normal at the end of the step, as far as is known, in metres.
    pub end: f32,
    /// The same without the way that the last velocities make, in metres.
    pub gap: f32,
    /// The distance to keep, in metres.
    pub keep: f32,
    /// How much of a contact it is, from 0 to 1.
    pub share: f32,
}

/// A meeting, and when it would be missed: at a time from 0 to 1, or only nearly.
struct Found {
    meeting: Meeting,
    time: Option<f32>,
    distance: f32,
}

impl Meeting {
    /// What names it: body, point, other body; or body, edge, other body, its edge.
    pub fn key(&self) -> [u32; 4] {
        let [a, b] = self.pair.bodies;
        match self.pair.kind {
            Kind::Face { point, .. } => [a, point, b, u32::MAX],
            Kind::Edges { own, other } => [a, own, b, other],
        }
    }

    /// How the first part moves against the second.
    pub fn relative(&self, views: &[View<'_>]) -> Vec3A {
        let velocity = self.pair.map(|b, i| views[b as usize].velocity[i as usize]);
        (0..4).map(|k| self.weights[k] * velocity[k]).sum()
    }
}

/// All meetings in a step of `h` seconds as the views have it, in the order of their keys:
/// each point meets each body at one place, and edges meet all edges.
pub(super) fn find(views: &[View<'_>], broad: &Broad, h: f32) -> Vec<Meeting> {
    let mut found: Vec<Found> = broad
        .pairs
        .par_iter()
        .with_min_len(CHUNK)
        .filter_map(|pair| look(pair, views, broad, h))
        .collect();
    // Stable, so that what is equal stays in the order of the pairs.
    found.sort_by_key(|f| f.meeting.key());
    let mut meetings: Vec<Meeting> = found
        .chunk_by(|a, b| a.meeting.key() == b.meeting.key())
        .map(|all| first(all).meeting)
        .collect();
    if !broad.inside.is_empty() {
        let out = broad.inside.iter();
        meetings.extend(out.filter_map(|inside| lead_out(inside, views, h)));
        meetings.sort_by_key(Meeting::key);
    }
    meetings
}

/// The first that would be missed, or else the nearest.
fn first(all: &[Found]) -> &Found {
    let rank = |f: &Found| (f.time.unwrap_or(2.0), f.distance);
    all.iter().fold(&all[0], |best, f| {
        let ((t, d), (best_t, best_d)) = (rank(f), rank(best));
        if t < best_t || (t == best_t && d < best_d) {
            f
        } else {
            best
        }
    })
}

fn look(pair: &Pair, views: &[View<'_>], broad: &Broad, h: f32) -> Option<Found> {
    let [a, b] = pair.bodies.map(|b| &views[b as usize]);
    let keep = a.solid.thickness + b.solid.thickness;
    if broad.tangled(pair.bodies) {
        match pair.kind {
            // Which side of each other they belong on is not known.
            Kind::Edges { .. } => return None,
            Kind::Face { point, .. } => {
                let is = |i: &Inside| [i.body, i.other] == pair.bodies && i.point == point;
                if broad.inside.iter().any(is) {
                    return None;
                }
            }
        }
    }
    let from = pair.map(|b, i| views[b as usize].from[i as usize]);
    let to = pair.map(|b, i| views[b as usize].to[i as usize]);
    let (nearest, time) = match first_touch(pair, from, to, LEAST * keep) {
        Some((time, nearest)) => (nearest, Some(time)),
        None => (pair.nearest(to), None),
    };
    let distance = nearest.away.length();
    if time.is_none() && distance >= NEAR * keep {
        return None;
    }
    let normal = nearest.away / distance;
    if !normal.is_finite() || nearest.share == 0.0 {
        return None;
    }
    let mut nearest = nearest;
    if time.is_none() {
        nearest.share *= faces(pair, views, normal, |view| &view.to[..])? * between(&nearest, pair);
        if nearest.share == 0.0 {
            return None;
        }
    }
    let meeting = meeting(pair, &nearest, normal, keep, views, h);
    Some(Found {
        meeting,
        time,
        distance,
    })
}

fn meeting(
    pair: &Pair,
    nearest: &Nearest,
    normal: Vec3,
    keep: f32,
    views: &[View<'_>],
    h: f32,
) -> Meeting {
    let to = pair.map(|b, i| views[b as usize].to[i as usize]);
    let away: Vec3 = (0..4).map(|k| nearest.weights[k] * (to[k] - to[0])).sum();
    let end = normal.dot(away);
    let mut meeting = Meeting {
        pair: *pair,
        weights: nearest.weights,
        normal: normal.into(),
        end,
        gap: end,
        keep,
        share: nearest.share,
    };
    meeting.gap -= h * meeting.normal.dot(meeting.relative(views));
    meeting
}

/// How much of a contact two edges are by where they cross: towards the end of one of them
/// less and less, because there its end meets the other surface as a point. What slides
/// along would otherwise be pushed by every edge that it comes across.
fn between(nearest: &Nearest, pair: &Pair) -> f32 {
    match pair.kind {
        Kind::Face { .. } => 1.0,
        Kind::Edges { .. } => {
            let least = nearest.weights.iter().fold(1.0, |m: f32, w| m.min(w.abs()));
            (least / END).min(1.0)
        }
    }
}

/// How much of a contact two parts are by how they look at each other, with the points of
/// their bodies at these places; `None` if they do not. Points must be in front of faces.
/// Edges must be the nearest of their surfaces, seen from the other one; the flatter the
/// surface at an edge, the less there is for it to hold that points do not.
pub(super) fn faces<'a>(
    pair: &Pair,
    views: &'a [View<'a>],
    normal: Vec3,
    places: impl Fn(&'a View<'a>) -> &'a [Vec3],
) -> Option<f32> {
    let [a, b] = pair.bodies.map(|b| &views[b as usize]);
    let at = |view: &'a View<'a>, i: u32| places(view)[i as usize];
    match pair.kind {
        Kind::Face { triangle, .. } => {
            let [p, q, r] = b.solid.surface[triangle as usize].map(|i| at(b, i));
            ((q - p).cross(r - p).dot(normal) >= 0.0).then_some(1.0)
        }
        Kind::Edges { own, other } => {
            let looks = |view: &'a View<'a>, edge: u32, way: Vec3| {
                let edge = view.skin.edges[edge as usize];
                let [p, q] = edge.ends.map(|i| at(view, i));
                let along = (q - p).normalize_or_zero();
                let mut outward = [Vec3::ZERO; 2];
                let wings = edge.wings.into_iter().zip([1.0, -1.0]);
                for ((wing, turn), outward) in wings.zip(&mut outward) {
                    // Into the triangle, across the edge.
                    let side = at(view, wing) - p;
                    let side = (side - side.dot(along) * along).normalize_or_zero();
                    if side.dot(way) > LEANING {
                        return None;
                    }
                    *outward = turn * along.cross(side);
                }
                let [left, right] = outward;
                let sharp = ((1.0 - left.dot(right)) / SHARP).min(1.0);
                ((left + right).dot(way) > 0.0).then_some(sharp)
            };
            Some(looks(a, own, -normal)? * looks(b, other, normal)?)
        }
    }
}

/// The way out of a body for a point inside it: to the place of the surface that is nearest
/// at rest, where the body is neither folded nor flat.
fn lead_out(inside: &Inside, views: &[View<'_>], h: f32) -> Option<Meeting> {
    let (view, face) = (&views[inside.body as usize], &views[inside.other as usize]);
    let (triangle, [u, v, w]) = way_out(face.skin, inside.rest_place(face))?;
    let [a, b, c] = face.solid.surface[triangle as usize];
    let [p, q, r] = [a, b, c].map(|i| face.from[i as usize]);
    let pair = Pair {
        bodies: [inside.body, inside.other],
        kind: Kind::Face {
            point: inside.point,
            triangle,
        },
        points: [inside.point, a, b, c],
    };
    let nearest = Nearest {
        weights: [1.0, -u, -v, -w],
        away: Vec3::ZERO,
        share: 1.0,
    };
    let keep = view.solid.thickness + face.solid.thickness;
    let normal = (q - p).cross(r - p).normalize_or(Vec3::Y);
    let mut found = meeting(&pair, &nearest, normal, keep, views, h);
    // Deep points are not thrown out, they are led out.
    let deep = found.gap;
    found.gap = deep.min(0.0).max(keep - h * WAY_OUT);
    found.end += found.gap - deep;
    Some(found)
}

fn way_out(skin: &Skin, rest: Vec3) -> Option<(u32, [f32; 3])> {
    let (found, _) = skin.rest.closest(rest, f32::INFINITY)?;
    Some((found.triangle, found.barycentric))
}
