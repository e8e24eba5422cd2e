//! Which points of soft bodies may touch which triangles of others.

use glam::Vec3A;
use rayon::prelude::*;

use super::collide::{Meeting, Place, depth_behind, meet_triangle};
use super::edges::meet_edges;
use super::state::Soft;
use super::topology::area_normal;
use crate::math::Aabb;

/// How far aside of a triangle a point may be that is behind it, over the way to it:
/// sqrt(1.05² - 1).
const ASIDE: f32 = 0.33;

/// A triangle that points may touch, and the box around the points that may touch it.
#[derive(Clone, Copy)]
struct Candidate {
    min: Vec3A,
    max: Vec3A,
    triangle: u32,
}

/// Lists that tasks use again and again.
#[derive(Default)]
struct Lists {
    points: Vec<u32>,
    candidates: Vec<Candidate>,
}

/// Finds what touches between any two bodies, in the order of pairs and points.
pub(super) fn meet_pairs(bodies: &[&mut Soft], meetings: &mut Vec<Meeting>) {
    if bodies.len() < 2 {
        return;
    }
    let boxes: Vec<Aabb> = bodies
        .par_iter()
        .map(|b| b.bounds().grown(margins(b)[0]))
        .collect();
    let parts: Vec<Vec<Meeting>> = overlapping(&boxes)
        .par_iter()
        .map_init(Lists::default, |lists, &[a, b]| {
            let mut found = Vec::new();
            meet_pair(bodies, &boxes, [a, b], lists, &mut found);
            meet_pair(bodies, &boxes, [b, a], lists, &mut found);
            meet_edges(bodies, &boxes, [a, b], &mut found);
            found
        })
        .collect();
    meetings.extend(parts.into_iter().flatten());
}

/// How far from the box around a body others touch it, in metres, and in addition in their
/// own thicknesses. What has crossed a closed body is in its box; what has crossed a sheet
/// may be beyond.
fn margins(body: &Soft) -> [f32; 2] {
    if body.is_closed() {
        [body.thickness, 1.0]
    } else {
        [2.0 * body.thickness + 0.5 * body.mean_edge(), 2.0]
    }
}

/// Pairs of boxes that overlap, found along x.
fn overlapping(boxes: &[Aabb]) -> Vec<[u32; 2]> {
    let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let start = |k: u32| boxes[k as usize].min.x;
        start(a).total_cmp(&start(b))
    });
    let mut pairs = Vec::new();
    for (i, &a) in order.iter().enumerate() {
        let own = boxes[a as usize];
        let until = |b: &&u32| boxes[**b as usize].min.x <= own.max.x;
        for &b in order[i + 1..].iter().take_while(until) {
            if boxes[b as usize].overlaps(&own) {
                pairs.push([a, b]);
            }
        }
    }
    pairs
}

/// The points of body `a` against the triangles of body `b`.
fn meet_pair(
    bodies: &[&mut Soft],
    boxes: &[Aabb],
    [a, b]: [u32; 2],
    lists: &mut Lists,
    found: &mut Vec<Meeting>,
) {
    let (own, other) = (&*bodies[a as usize], &*bodies[b as usize]);
    let reached = boxes[b as usize].grown(margins(other)[1] * own.thickness);
    let [min, max] = [reached.min, reached.max].map(Vec3A::from);
    let Lists { points, candidates } = lists;
    points.clear();
    let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    for (i, &p) in own.position.iter().enumerate() {
        if (p.cmpge(min) & p.cmple(max)).all() {
            points.push(i as u32);
            (low, high) = (low.min(p), high.max(p));
        }
    }
    if points.is_empty() {
        return;
    }
    let behind = depth_behind(own, other);
    // A point that has crossed a triangle is nearly straight behind it (`meet_triangle`).
    let margin = Vec3A::splat((own.thickness + other.thickness).max(ASIDE * behind));
    let reach = Vec3A::splat(behind) + margin;
    let (near, far) = (low - reach, high + reach);
    let closed = other.has_inside();
    candidates.clear();
    for (t, corners) in other.topology.triangles.iter().enumerate() {
        let [p, q, r] = corners.map(|c| other.position[c as usize]);
        let (min, max) = (p.min(q).min(r), p.max(q).max(r));
        if !(min.cmple(far) & max.cmpge(near)).all() {
            continue;
        }
        let back = -behind * area_normal(p, q, r).normalize_or_zero();
        let (mut min, mut max) = (min.min(min + back), max.max(max + back));
        if !closed {
            (min, max) = (min.min(min - back), max.max(max - back));
        }
        let (min, max) = (min - margin, max + margin);
        if (min.cmple(high) & max.cmpge(low)).all() {
            candidates.push(Candidate {
                min,
                max,
                triangle: t as u32,
            });
        }
    }
    // Along the longest side only those are looked at that can hold the point.
    let size = high - low;
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    candidates.sort_unstable_by(|s, t| {
        let by_place = s.min[axis].total_cmp(&t.min[axis]);
        by_place.then(s.triangle.cmp(&t.triangle))
    });
    let lengths = candidates.iter().map(|c| c.max[axis] - c.min[axis]);
    let longest = lengths.fold(0.0, f32::max);
    for &point in &*points {
        let p = own.position[point as usize];
        let first = candidates.partition_point(|c| c.min[axis] < p[axis] - longest);
        let near = candidates[first..].iter();
        for c in near.take_while(|c| c.min[axis] <= p[axis]) {
            if (c.min.cmple(p) & c.max.cmpge(p)).all() {
                let place = Place { body: a, point };
                found.extend(meet_triangle(bodies, place, b, c.triangle));
            }
        }
    }
}
