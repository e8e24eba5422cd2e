//! Soft bodies against each other and against themselves.
//!
//! Mesit 2010 puts all points into one hash with one point per cell on average (dynamic
//! cell size, 4.5-4.8) and tests points against points (`points_only`). That lets faces slip
//! between points, so by default the points found only say where to look: every point in the
//! box of another body is tested against the triangles around the points near it, found in
//! the grid of liquids.
//!
//! Which side of a triangle a point belongs to is known from the start of the sub-step,
//! when nothing had passed through anything yet; so what has crossed in this sub-step is
//! put back. Contacts are found in parallel from one state and answered one after the
//! other in the order of points.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::settings::Touching;
use super::state::Soft;
use super::topology::area_normal;
use crate::contact::triangle::closest_point;
use crate::math::{Aabb, XyzVec};
use crate::space::{CellGrid, CellSize, ModuloHash, NeighbourSearch};

/// Points per task.
const CHUNK: usize = 256;

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    body: u32,
    point: u32,
}

/// Something that a point touches.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    point: Place,
    body: u32,
    /// What is touched: points with their weights; one point, or a triangle's corners.
    corners: [u32; 3],
    weights: [f32; 3],
    /// From what is touched to the point's own side.
    normal: Vec3,
    /// How much nearer they are than they may be.
    depth: f32,
}

/// Takes apart what overlaps, and stops it. Returns which bodies have moved by that; their
/// points are then on a new way that obstacles have not seen yet.
pub(crate) fn collide(bodies: &mut [&mut Soft], h: f32) -> Vec<bool> {
    let mut moved = vec![false; bodies.len()];
    let (places, points, radius) = near_others(bodies);
    if places.is_empty() {
        return moved;
    }
    let bodies_now: &[&mut Soft] = bodies;
    let literal = bodies.iter().any(|b| b.settings.contact.points_only);
    let (mut hash, mut grid);
    let search: &(dyn NeighbourSearch + Sync) = if literal {
        hash = ModuloHash::with(CellSize::OnePointPerCell, None);
        hash.build(points.view(), radius);
        &hash
    } else {
        grid = CellGrid::default();
        grid.build(points.view(), radius);
        &grid
    };
    // Number of the first triangle of each body among all.
    let mut triangles = 0;
    let first: Vec<usize> = bodies
        .iter()
        .map(|b| {
            let first = triangles;
            triangles += b.topology.triangles.len();
            first
        })
        .collect();
    // Every task needs a mark for each triangle: few tasks.
    let chunks = places.len().div_ceil(CHUNK);
    let parts: Vec<Vec<Meeting>> = places
        .par_chunks(CHUNK)
        .enumerate()
        .with_min_len(chunks.div_ceil(4 * rayon::current_num_threads()))
        .map_init(
            || (vec![0u32; triangles], Vec::new()),
            |(tested, near), (k, chunk)| {
                let mut found = Vec::new();
                for (i, &place) in chunk.iter().enumerate() {
                    let number = (k * CHUNK + i) as u32;
                    let own = &*bodies_now[place.body as usize];
                    near.clear();
                    let p = own.position[place.point as usize];
                    search.for_each_within(points.view(), p.into(), &mut |j| {
                        let other = places[j as usize].body;
                        if j != number && (other != place.body || own.settings.contact.own) {
                            near.push(j);
                        }
                    });
                    near.sort_unstable();
                    for &j in &*near {
                        let Place { body, point } = places[j as usize];
                        if literal {
                            found.extend(meet_point(bodies_now, place, body, point));
                            continue;
                        }
                        let topology = &bodies_now[body as usize].topology;
                        for &t in topology.corners_of(point as usize) {
                            let mark = &mut tested[first[body as usize] + t as usize];
                            if std::mem::replace(mark, number + 1) != number + 1 {
                                found.extend(meet_triangle(bodies_now, place, body, t));
                            }
                        }
                    }
                }
                found
            },
        )
        .collect();
    for meeting in parts.iter().flatten() {
        moved[meeting.point.body as usize] = true;
        moved[meeting.body as usize] = true;
    }
    for (body, _) in bodies.iter_mut().zip(&moved).filter(|(_, m)| **m) {
        body.previous.copy_from_slice(&body.position);
    }
    for meeting in parts.iter().flatten() {
        answer(bodies, meeting, h);
    }
    moved
}

/// All points that are in the box around another body, or of a body that touches itself;
/// and how far they must look.
fn near_others(bodies: &[&mut Soft]) -> (Vec<Place>, XyzVec, f32) {
    let boxes: Vec<Aabb> = bodies
        .par_iter()
        .map(|b| b.bounds().grown(b.thickness + 0.5 * b.mean_edge()))
        .collect();
    // Boxes that overlap, found along x.
    let mut order: Vec<u32> = (0..bodies.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let start = |k: u32| boxes[k as usize].min.x;
        start(a).total_cmp(&start(b))
    });
    let mut others: Vec<Vec<u32>> = vec![Vec::new(); bodies.len()];
    for (i, &a) in order.iter().enumerate() {
        let own = boxes[a as usize];
        let until = |b: &&u32| boxes[**b as usize].min.x <= own.max.x;
        for &b in order[i + 1..].iter().take_while(until) {
            if boxes[b as usize].overlaps(&own) {
                others[a as usize].push(b);
                others[b as usize].push(a);
            }
        }
    }
    let mut places = Vec::new();
    let mut points = XyzVec::default();
    let mut radius = 0.0f32;
    for (k, body) in bodies.iter().enumerate() {
        let own = body.settings.contact.own;
        if others[k].is_empty() && !own {
            continue;
        }
        let inside = |p: Vec3| others[k].iter().any(|&b| boxes[b as usize].contains(p));
        for (i, &p) in body.position.iter().enumerate() {
            if own || inside(p.into()) {
                let (body, point) = (k as u32, i as u32);
                places.push(Place { body, point });
                points.push(p.into());
            }
        }
        radius = radius.max(reach(body));
    }
    (places, points, radius)
}

/// How far from a point the points of the triangles that it can touch may be.
fn reach(body: &Soft) -> f32 {
    let Touching { points_only, .. } = body.settings.contact;
    if points_only {
        2.0 * body.thickness
    } else {
        // No place of a triangle is farther from its nearest corner than 0.58 of its edge;
        // stretched edges are longer.
        body.thickness * 2.0 + 0.9 * body.mean_edge()
    }
}

/// Tests a point against another.
fn meet_point(bodies: &[&mut Soft], place: Place, body: u32, point: u32) -> Option<Meeting> {
    let (own, other) = (&*bodies[place.body as usize], &*bodies[body as usize]);
    // Each pair once; neighbours in the surface are always near.
    let later = (body, point) > (place.body, place.point);
    if !later || (place.body == body && joined(own, place.point, point)) {
        return None;
    }
    let apart = own.position[place.point as usize] - other.position[point as usize];
    let distance = apart.length();
    let depth = own.thickness + other.thickness - distance;
    (depth > 0.0 && distance > 0.0).then(|| Meeting {
        point: place,
        body,
        corners: [point; 3],
        weights: [1.0, 0.0, 0.0],
        normal: (apart / distance).into(),
        depth,
    })
}

/// Tests a point against a triangle.
fn meet_triangle(bodies: &[&mut Soft], place: Place, body: u32, triangle: u32) -> Option<Meeting> {
    let (own, other) = (&*bodies[place.body as usize], &*bodies[body as usize]);
    let same = place.body == body;
    let corners = other.topology.triangles[triangle as usize];
    let beside = |&c: &u32| c == place.point || joined(own, place.point, c);
    if same && corners.iter().any(beside) {
        return None;
    }
    let thickness = own.thickness + other.thickness;
    let p = own.position[place.point as usize];
    let now = corners.map(|c| other.position[c as usize]);
    let upright = area_normal(now[0], now[1], now[2]);
    // So far from its plane, on either side, it touches in no way.
    let height = (p - now[0]).dot(upright);
    let beyond = 2.0 * thickness + 0.5 * other.mean_edge();
    let most = if height > 0.0 && !same && other.is_closed() {
        thickness
    } else {
        beyond
    };
    if height * height > most * most * upright.length_squared() {
        return None;
    }
    let near = closest_point(p.into(), now.map(Vec3::from));
    let before = corners.map(|c| other.previous[c as usize]);
    let normal_before = area_normal(before[0], before[1], before[2]);
    let start = own.previous[place.point as usize];
    // A point of another closed body belongs outside; one's own may be on either side.
    let height = (start - before[0]).dot(normal_before);
    let outside = if same {
        height >= 0.0
    } else {
        height >= 0.0 || other.is_closed()
    };
    let side = if outside { 1.0 } else { -1.0 };
    let normal = upright.normalize_or_zero() * side;
    let away = p - Vec3A::from(near.point);
    let distance = away.length();
    let crossed = away.dot(normal) < 0.0;
    // Beyond its own side only if it is straight behind the triangle, not past its rim.
    let behind = crossed && distance <= 1.05 * away.dot(normal).abs() + 1e-6 * thickness;
    if !(distance < thickness && !crossed || behind && distance < beyond) {
        return None;
    }
    let (normal, depth) = if behind {
        (normal, thickness + distance)
    } else {
        (away.normalize_or(normal), thickness - distance)
    };
    Some(Meeting {
        point: place,
        body,
        corners,
        weights: near.barycentric,
        normal: normal.into(),
        depth,
    })
}

fn joined(body: &Soft, i: u32, j: u32) -> bool {
    let links = body.topology.links_of(i as usize);
    links.binary_search_by_key(&j, |l| l.other).is_ok()
}

/// Separates along the normal, shared by mass, takes away the approach, and rubs.
fn answer(bodies: &mut [&mut Soft], m: &Meeting, h: f32) {
    let i = m.point.point as usize;
    let friction = {
        let (a, b) = (&bodies[m.point.body as usize], &bodies[m.body as usize]);
        (a.settings.contact.friction * b.settings.contact.friction).sqrt()
    };
    let normal = Vec3A::from(m.normal);
    let corners = || m.corners.into_iter().zip(m.weights).filter(|c| c.1 != 0.0);
    let (own, other) = (&bodies[m.point.body as usize], &bodies[m.body as usize]);
    let mut inverse = own.inverse_mass[i];
    let mut velocity = own.velocity[i];
    for (c, w) in corners() {
        let c = c as usize;
        inverse += w * w * other.inverse_mass[c];
        velocity -= w * other.velocity[c];
    }
    if inverse <= 0.0 {
        return;
    }
    // Never faster apart than half the gap per sub-step, so that nothing is thrown.
    let step = 0.5 * m.depth / inverse;
    let approach = velocity.dot(normal);
    let stop = (-approach).max(0.0);
    let across = velocity - approach * normal;
    let speed = across.length();
    // Pressing is what stopped it and what holds it apart.
    let pressing = stop + 0.5 * m.depth / h * 0.1;
    let rub = if speed > 0.0 {
        -across * (friction * pressing / speed).min(1.0)
    } else {
        Vec3A::ZERO
    };
    let impulse = (stop * normal + rub) / inverse;
    let way = step * normal;
    let push = |soft: &mut Soft, k: usize, share: f32| {
        let w = share * soft.inverse_mass[k];
        soft.position[k] += w * way;
        soft.velocity[k] += w * impulse;
    };
    push(bodies[m.point.body as usize], i, 1.0);
    for (c, w) in corners() {
        push(bodies[m.body as usize], c as usize, -w);
    }
}
