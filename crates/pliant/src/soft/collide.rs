//! Soft bodies against each other and against themselves.
//!
//! Bodies whose boxes overlap are found along x; then every point of one in the box of the
//! other meets the triangles of the other whose boxes hold it (`pairs.rs`); edges of sheets
//! meet the edges of others (`edges.rs`). A body that
//! touches itself looks for points near points in the grid of liquids and meets the triangles
//! around them. Mesit 2010 puts all points into one hash with one point per cell on average
//! (dynamic cell size, 4.5-4.8) and tests points against points (`points_only`), which lets
//! faces slip between points.
//!
//! Which side of a triangle a point belongs to is known from the start of the sub-step,
//! when nothing had passed through anything yet; so what has crossed in this sub-step is
//! put back. Contacts are found in parallel from one state and answered one after the
//! other, each as far as those before have left it to do.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::pairs::meet_pairs;
use super::state::Soft;
use super::topology::area_normal;
use crate::contact::triangle::closest_point;
use crate::math::XyzVec;
use crate::space::{CellGrid, CellSize, ModuloHash, NeighbourSearch};

/// Points per task.
const CHUNK: usize = 256;
/// Seconds in which bodies that overlap move apart by the distance that they should keep.
const LETTING_GO: f32 = 0.1;
/// A closed body with less than this share of its volume has no inside to speak of.
const EVERTED: f64 = 0.05;

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub body: u32,
    pub point: u32,
}

/// Two places of surfaces that touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// A place of one body: a point, or between the two ends of an edge.
    pub own: Corners,
    /// A place of the other: a point, or between those of an edge or a triangle.
    pub other: Corners,
    /// From the other's place to the own side.
    pub normal: Vec3,
    /// How far apart they should be along the normal.
    pub apart: f32,
}

/// A place between points of a body; those without weight do not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corners {
    pub body: u32,
    pub points: [u32; 3],
    pub weights: [f32; 3],
}

impl Corners {
    fn point(Place { body, point }: Place) -> Corners {
        Corners {
            body,
            points: [point; 3],
            weights: [1.0, 0.0, 0.0],
        }
    }

    fn each(self) -> impl Iterator<Item = (usize, f32)> {
        let points = self.points.into_iter().map(|p| p as usize);
        points.zip(self.weights).filter(|c| c.1 != 0.0)
    }
}

/// Takes apart what overlaps, and stops it. Returns which bodies have moved by that; their
/// points are then on a new way that obstacles have not seen yet.
pub(crate) fn collide(bodies: &mut [&mut Soft], h: f32) -> Vec<bool> {
    let mut moved = vec![false; bodies.len()];
    let mut meetings = Vec::new();
    if bodies.iter().any(|b| b.settings.contact.points_only) {
        meet_points(bodies, &mut meetings);
    } else {
        meet_pairs(bodies, &mut meetings);
        for k in 0..bodies.len() {
            if bodies[k].settings.contact.own {
                meet_itself(bodies, k as u32, &mut meetings);
            }
        }
    }
    for meeting in &meetings {
        moved[meeting.own.body as usize] = true;
        moved[meeting.other.body as usize] = true;
    }
    for (body, _) in bodies.iter_mut().zip(&moved).filter(|(_, m)| **m) {
        body.previous.copy_from_slice(&body.position);
    }
    for meeting in &meetings {
        answer(bodies, meeting, h);
    }
    moved
}

/// Points against points, found in one hash of all points.
fn meet_points(bodies: &[&mut Soft], meetings: &mut Vec<Meeting>) {
    let mut places = Vec::new();
    let mut points = XyzVec::default();
    let mut radius = 0.0f32;
    for (k, body) in bodies.iter().enumerate() {
        for (i, &p) in body.position.iter().enumerate() {
            let (body, point) = (k as u32, i as u32);
            places.push(Place { body, point });
            points.push(p.into());
        }
        radius = radius.max(2.0 * body.thickness);
    }
    let mut hash = ModuloHash::with(CellSize::OnePointPerCell, None);
    hash.build(points.view(), radius);
    let parts: Vec<Vec<Meeting>> = places
        .par_chunks(CHUNK)
        .map_init(Vec::new, |near, chunk| {
            let mut found = Vec::new();
            for &place in chunk {
                let own = &*bodies[place.body as usize];
                near.clear();
                let p = own.position[place.point as usize];
                hash.for_each_within(points.view(), p.into(), &mut |j| {
                    let other = places[j as usize];
                    if other.body != place.body || own.settings.contact.own {
                        near.push(j);
                    }
                });
                near.sort_unstable();
                for &j in &*near {
                    let Place { body, point } = places[j as usize];
                    found.extend(meet_point(bodies, place, body, point));
                }
            }
            found
        })
        .collect();
    meetings.extend(parts.into_iter().flatten());
}

/// The points of body `k` against its own triangles.
fn meet_itself(bodies: &[&mut Soft], k: u32, meetings: &mut Vec<Meeting>) {
    let own = &*bodies[k as usize];
    let points: XyzVec = own.position.iter().map(|p| (*p).into()).collect();
    // No place of a triangle is farther from its nearest corner than 0.58 of its edge;
    // stretched edges are longer.
    let radius = own.thickness * 2.0 + 0.9 * own.mean_edge();
    let mut grid = CellGrid::default();
    grid.build(points.view(), radius);
    let chunks = points.len().div_ceil(CHUNK);
    let parts: Vec<Vec<Meeting>> = (0..chunks)
        .into_par_iter()
        // Every task needs a mark for each triangle: few tasks.
        .with_min_len(chunks.div_ceil(4 * rayon::current_num_threads()))
        .map_init(
            || (vec![0u32; own.topology.triangles.len()], Vec::new()),
            |(tested, near), chunk| {
                let mut found = Vec::new();
                for i in chunk * CHUNK..((chunk + 1) * CHUNK).min(points.len()) {
                    near.clear();
                    grid.for_each_within(points.view(), points.get(i), &mut |j| near.push(j));
                    near.sort_unstable();
                    let point = i as u32;
                    for &j in near.iter().filter(|j| **j != point) {
                        for &t in own.topology.corners_of(j as usize) {
                            let mark = &mut tested[t as usize];
                            if std::mem::replace(mark, point + 1) != point + 1 {
                                let place = Place { body: k, point };
                                found.extend(meet_triangle(bodies, place, k, t));
                            }
                        }
                    }
                }
                found
            },
        )
        .collect();
    meetings.extend(parts.into_iter().flatten());
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
    let thickness = own.thickness + other.thickness;
    (distance < thickness && distance > 0.0).then(|| Meeting {
        own: Corners::point(place),
        other: Corners::point(Place { body, point }),
        normal: (apart / distance).into(),
        apart: thickness,
    })
}

/// How far behind a triangle of `other` a point that has crossed it is looked for.
pub(super) fn depth_behind(own: &Soft, other: &Soft) -> f32 {
    2.0 * (own.thickness + other.thickness) + 0.5 * other.mean_edge()
}

/// Tests a point against a triangle.
pub(super) fn meet_triangle(
    bodies: &[&mut Soft],
    place: Place,
    body: u32,
    triangle: u32,
) -> Option<Meeting> {
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
    let beyond = depth_behind(own, other);
    let most = if height > 0.0 && !same && other.has_inside() {
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
    let outside = height >= 0.0 || (!same && other.has_inside());
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
    let normal = if behind {
        normal
    } else {
        away.normalize_or(normal)
    };
    Some(Meeting {
        own: Corners::point(place),
        other: Corners {
            body,
            points: corners,
            weights: near.barycentric,
        },
        normal: normal.into(),
        apart: thickness,
    })
}

fn joined(body: &Soft, i: u32, j: u32) -> bool {
    let links = body.topology.links_of(i as usize);
    links.binary_search_by_key(&j, |l| l.other).is_ok()
}

impl Soft {
    /// True if nothing belongs behind its triangles: not that of a sheet, nor of a body that
    /// a blow has turned inside out, whose triangles face the wrong way.
    pub(super) fn has_inside(&self) -> bool {
        self.is_closed() && self.enclosed > EVERTED * self.rest_volume
    }
}

/// Separates along the normal, shared by mass, takes away the approach, and rubs.
fn answer(bodies: &mut [&mut Soft], m: &Meeting, h: f32) {
    let friction = {
        let (a, b) = (&bodies[m.own.body as usize], &bodies[m.other.body as usize]);
        (a.settings.contact.friction * b.settings.contact.friction).sqrt()
    };
    let normal = Vec3A::from(m.normal);
    let (mut inverse, mut velocity, mut away) = (0.0, Vec3A::ZERO, Vec3A::ZERO);
    for (corners, side) in [(m.own, 1.0), (m.other, -1.0)] {
        let body = &bodies[corners.body as usize];
        for (c, w) in corners.each() {
            inverse += w * w * body.inverse_mass[c];
            velocity += (side * w) * body.velocity[c];
            away += (side * w) * body.position[c];
        }
    }
    // As far as the answers before have left it to do.
    let depth = m.apart - away.dot(normal);
    if inverse <= 0.0 || depth <= 0.0 {
        return;
    }
    let approach = velocity.dot(normal);
    let stop = (-approach).max(0.0);
    // Half the way out, but no farther than it has come in this sub-step, and slowly what was
    // left over before: springs that are pulled along would gain energy from nowhere.
    let most = stop * h + m.apart * (h / LETTING_GO);
    let step = (0.5 * depth).min(most) / inverse;
    let across = velocity - approach * normal;
    let speed = across.length();
    // Pressing is what stopped it and what holds it apart.
    let pressing = stop + 0.5 * depth / h * 0.1;
    let rub = if speed > 0.0 {
        -across * (friction * pressing / speed).min(1.0)
    } else {
        Vec3A::ZERO
    };
    let impulse = (stop * normal + rub) / inverse;
    let way = step * normal;
    for (corners, side) in [(m.own, 1.0), (m.other, -1.0)] {
        let body = &mut bodies[corners.body as usize];
        for (c, w) in corners.each() {
            let w = side * w * body.inverse_mass[c];
            body.position[c] += w * way;
            body.velocity[c] += w * impulse;
        }
    }
}
