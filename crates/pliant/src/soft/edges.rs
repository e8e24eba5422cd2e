//! Edges of soft bodies against the edges of others.
//!
//! Points against triangles are enough where one of two bodies has an inside: what edges let
//! pass is then found there and put out again. A sheet has none. Two sheets whose rims cross
//! would go through each other without any point ever meeting a triangle; so where one of two
//! bodies is a sheet, edges meet edges too. Which side they belong to is that of the start of
//! the sub-step.

use glam::Vec3A;

use super::collide::{Corners, Meeting, depth_behind};
use super::state::Soft;
use crate::math::Aabb;

/// Edges whose directions are nearer to each other than this, as the square of the sine of
/// the angle between them, have no direction between them; points meet there.
const PARALLEL: f32 = 1e-4;

/// An edge and the box around what may touch it.
#[derive(Clone, Copy)]
struct Candidate {
    min: Vec3A,
    max: Vec3A,
    ends: [u32; 2],
}

/// Adds what touches of the edges of two bodies, if one of them is a sheet.
pub(super) fn meet_edges(
    bodies: &[&mut Soft],
    boxes: &[Aabb],
    [a, b]: [u32; 2],
    found: &mut Vec<Meeting>,
) {
    let (own, other) = (&*bodies[a as usize], &*bodies[b as usize]);
    if own.has_inside() && other.has_inside() {
        return;
    }
    let beyond = depth_behind(own, other).max(depth_behind(other, own));
    let near = |soft: &Soft, place: u32| {
        let reached = boxes[place as usize].grown(beyond);
        candidates(soft, [reached.min.into(), reached.max.into()], 0.5 * beyond)
    };
    let (mut mine, theirs) = (near(own, b), near(other, a));
    mine.sort_unstable_by(|s, t| {
        let by_place = s.min.x.total_cmp(&t.min.x);
        by_place.then(s.ends.cmp(&t.ends))
    });
    let lengths = mine.iter().map(|c| c.max.x - c.min.x);
    let longest = lengths.fold(0.0, f32::max);
    for c in &theirs {
        let first = mine.partition_point(|m| m.min.x < c.min.x - longest);
        for m in mine[first..].iter().take_while(|m| m.min.x <= c.max.x) {
            if (m.min.cmple(c.max) & m.max.cmpge(c.min)).all() {
                found.extend(meet([(a, own, m.ends), (b, other, c.ends)], beyond));
            }
        }
    }
}

/// The edges of a body in a box, each with a box of its own that is larger by `margin`.
fn candidates(soft: &Soft, [low, high]: [Vec3A; 2], margin: f32) -> Vec<Candidate> {
    let around = |ends: &[u32; 2]| {
        let [p, q] = ends.map(|e| soft.position[e as usize]);
        let (min, max) = (p.min(q), p.max(q));
        (min.cmple(high) & max.cmpge(low)).all().then(|| Candidate {
            min: min - margin,
            max: max + margin,
            ends: *ends,
        })
    };
    soft.topology.edges.iter().filter_map(around).collect()
}

/// Tests two edges.
fn meet(
    [(a, own, mine), (b, other, theirs)]: [(u32, &Soft, [u32; 2]); 2],
    beyond: f32,
) -> Option<Meeting> {
    let at = |list: &[Vec3A], ends: [u32; 2]| ends.map(|e| list[e as usize]);
    let now = [at(&own.position, mine), at(&other.position, theirs)];
    // Elsewhere than between their ends points meet triangles.
    let [s, t] = nearest(now)?;
    let between = |[p, q]: [Vec3A; 2], x: f32| p + x * (q - p);
    let away = between(now[0], s) - between(now[1], t);
    let distance = away.length();
    if distance >= beyond {
        return None;
    }
    let before = [at(&own.previous, mine), at(&other.previous, theirs)];
    let [s0, t0] = nearest(before)?;
    let start = between(before[0], s0) - between(before[1], t0);
    // The straight way between the two lines, on the side of the start.
    let across = (now[0][1] - now[0][0]).cross(now[1][1] - now[1][0]);
    let across = across.normalize_or_zero();
    let normal = if across.dot(start) >= 0.0 {
        across
    } else {
        -across
    };
    let crossed = away.dot(normal) < 0.0;
    let apart = own.thickness + other.thickness;
    if distance >= apart && !crossed {
        return None;
    }
    let place = |body: u32, [p, q]: [u32; 2], x: f32| Corners {
        body,
        points: [p, q, q],
        weights: [1.0 - x, x, 0.0],
    };
    Some(Meeting {
        own: place(a, mine, s),
        other: place(b, theirs, t),
        normal: normal.into(),
        apart,
    })
}

/// Where two lines are nearest to each other, as shares of their edges, if that is between
/// the ends of both.
fn nearest([[p, p1], [q, q1]]: [[Vec3A; 2]; 2]) -> Option<[f32; 2]> {
    let (u, v, w) = (p1 - p, q1 - q, p - q);
    let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
    let (uw, vw) = (u.dot(w), v.dot(w));
    let both = uu * vv - uv * uv;
    if both <= PARALLEL * uu * vv {
        return None;
    }
    let s = (uv * vw - vv * uw) / both;
    let t = (uu * vw - uv * uw) / both;
    let within = |x: f32| x > 0.0 && x < 1.0;
    (within(s) && within(t)).then_some([s, t])
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::collide::collide;
    use super::super::{SoftSettings, Surroundings, sheet};
    use super::*;

    /// Two upright sheets, one below the other and turned by a right angle, whose rims cross
    /// in the middle of edges.
    fn crossed() -> [Soft; 2] {
        let make = |name: &str| {
            let mut s = SoftSettings::new(name);
            s.controls.gamma = 0.0;
            Soft::new(s, sheet(Vec3::ZERO, [0.2, 0.2], [5, 5])).unwrap()
        };
        let [mut low, mut high] = [make("low"), make("high")];
        low.put(|p| Vec3::new(p.x, p.z - 0.1, 0.0), |_| Vec3::ZERO);
        low.pin_where(|_| true);
        high.put(
            |p| Vec3::new(0.0, p.z + 0.13, p.x),
            |_| Vec3::new(0.0, -1.0, 0.0),
        );
        [low, high]
    }

    #[test]
    fn rims_that_cross_stop_each_other() {
        let [mut low, mut high] = crossed();
        let around = Surroundings::new(Vec3::ZERO, &[], []);
        let mut least = f32::INFINITY;
        for _ in 0..100 {
            low.advance(0.002, &around);
            high.advance(0.002, &around);
            collide(&mut [&mut low, &mut high], 0.002);
            let rim = high.position.iter().map(|p| p.y);
            least = least.min(rim.fold(f32::INFINITY, f32::min));
        }
        // The corners of the rim may hang over the lower sheet, but its middle stays above.
        let middle = high.position.iter().filter(|p| p.z.abs() < 0.03);
        let lowest = middle.map(|p| p.y).fold(f32::INFINITY, f32::min);
        assert!(
            lowest > -0.005,
            "the middle of the rim is at {lowest}, the rest at {least}"
        );
    }

    #[test]
    fn lines_are_nearest_between_their_ends_or_not_at_all() {
        let edge = |a: [f32; 3], b: [f32; 3]| [Vec3A::from(a), Vec3A::from(b)];
        let along = edge([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
        let above = edge([0.5, 1.0, -1.0], [0.5, 1.0, 3.0]);
        assert_eq!(nearest([along, above]), Some([0.75, 0.25]));
        let aside = edge([1.5, 1.0, -1.0], [1.5, 1.0, 1.0]);
        assert_eq!(nearest([along, aside]), None);
        assert_eq!(nearest([along, along]), None);
    }
}
