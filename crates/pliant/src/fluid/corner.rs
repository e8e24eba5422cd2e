//! Which walls two particles both stand before, and what these do to the image of one that
//! the other sees.

use glam::Vec3A;

use super::walls::{MOST_WALLS, Mirror};

/// Cosine between the normals that two particles see, below which they do not stand
/// before the same wall.
pub(super) const SAME_WALL: f32 = 0.5;

/// The nearest wall of a particle, in the order of the particles: most have one wall
/// or none, and need to look no further.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nearest {
    normal: Vec3A,
    pub distance: f32,
    /// Velocity of the wall along the normal.
    speed: f32,
    /// Square root of how much of a wall it is.
    weight: f32,
    obstacle: u32,
    /// How many walls the particle has, and which of them it is.
    pub walls: u16,
    number: u16,
}

impl Nearest {
    pub fn of(walls: &[Mirror]) -> Nearest {
        let mut mirrors = walls.iter().enumerate().filter(|(_, m)| !m.backed);
        let Some((number, m)) = mirrors.next() else {
            return Nearest::default();
        };
        Nearest {
            normal: m.wall.normal.into(),
            distance: m.wall.distance,
            speed: m.wall.normal.dot(m.wall.velocity),
            weight: m.wall.drag.sqrt(),
            obstacle: m.obstacle,
            walls: 1 + mirrors.count() as u16,
            number: number as u16,
        }
    }

    /// True if `other` stands before the same wall.
    #[inline(always)]
    pub fn is_wall_of(&self, other: &Nearest) -> bool {
        self.obstacle == other.obstacle && self.normal.dot(other.normal) > SAME_WALL
    }
}

/// What one or several walls do to the image of one particle seen from another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    /// The walls.
    pub matched: Matched,
    /// `4 Σ d_i d_j`.
    pub lengthening: f32,
    /// `2 Σ d_j n_i` and `2 Σ d_i n_j`.
    pub own: Vec3A,
    pub other: Vec3A,
    /// `-2 Σ (d_j n_i · u_i + d_i n_j · u_j)`, u the velocity of the wall.
    pub closing: f32,
    /// `2 d_j`, for each of the particle's own walls.
    pub lift: [f32; MOST_WALLS],
    pub weight: f32,
}

impl Corner {
    /// Of particles that have one wall each.
    #[inline(always)]
    pub fn of_one(here: &Nearest, there: &Nearest) -> Corner {
        let mut lift = [0.0; MOST_WALLS];
        lift[here.number as usize] = 2.0 * there.distance;
        Corner {
            lengthening: 4.0 * here.distance * there.distance,
            own: 2.0 * there.distance * here.normal,
            other: 2.0 * here.distance * there.normal,
            closing: -2.0 * (there.distance * here.speed + here.distance * there.speed),
            lift,
            weight: here.weight * there.weight,
            matched: Matched::default().with(here.number as usize, there.number as usize),
        }
    }
}

/// The walls that an image is mirrored at: for each of the particle's own walls, the number
/// of the same one among those of the neighbour, and one more, in two bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Matched(u8);

const _: () = assert!(MOST_WALLS <= 3);

impl Matched {
    #[inline(always)]
    fn with(self, own: usize, other: usize) -> Matched {
        Matched(self.0 | ((other + 1) << (2 * own)) as u8)
    }

    /// Numbers of the walls among those of the particle and of the neighbour.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = (usize, usize)> + use<> {
        (0..MOST_WALLS).filter_map(move |own| {
            let other = usize::from(self.0 >> (2 * own) & 3);
            Some((own, other.checked_sub(1)?))
        })
    }
}

/// The one of `walls` that is most likely the same wall as `mirror`, if any is.
#[inline(always)]
fn best_match(mirror: &Mirror, walls: &[Mirror]) -> Option<usize> {
    let (mut best, mut found) = (SAME_WALL, None);
    if mirror.backed {
        return None;
    }
    for (k, wall) in walls.iter().enumerate() {
        let alike = wall.wall.normal.dot(mirror.wall.normal);
        if alike > best && wall.obstacle == mirror.obstacle && !wall.backed {
            (best, found) = (alike, Some(k));
        }
    }
    found
}

/// The walls that two particles both stand before: each one's view of it.
pub(super) struct Shared<'a> {
    own: &'a [Mirror],
    other: &'a [Mirror],
    /// Index among the own walls and among the other's.
    pairs: [(usize, usize); MOST_WALLS],
    count: usize,
}

impl<'a> Shared<'a> {
    #[inline(always)]
    pub fn of(own: &'a [Mirror], other: &'a [Mirror]) -> Shared<'a> {
        let mut shared = Shared {
            own,
            other,
            pairs: [(0, 0); MOST_WALLS],
            count: 0,
        };
        // Each must be the other's best match: of two faces that one particle sees, its
        // neighbour may see one, and both must find the same images.
        for (k, a) in own.iter().enumerate() {
            if let Some(l) = best_match(a, other)
                && best_match(&other[l], own) == Some(k)
            {
                shared.pairs[shared.count] = (k, l);
                shared.count += 1;
            }
        }
        shared
    }

    /// Every wall, every edge of two and the corner of three that lengthen the squared
    /// distance by less than `room`.
    #[inline(always)]
    pub fn for_each_corner(&self, room: f32, mut visit: impl FnMut(&Corner)) {
        for set in 1usize..1 << self.count {
            let chosen = (0..self.count).filter(|k| set >> k & 1 == 1);
            let walls = chosen.map(|k| self.pairs[k]);
            let distances = walls
                .clone()
                .map(|(k, l)| 4.0 * self.own[k].wall.distance * self.other[l].wall.distance);
            let lengthening: f32 = distances.sum();
            if lengthening >= room {
                continue;
            }
            let mut corner = Corner {
                lengthening,
                weight: 1.0,
                ..Corner::default()
            };
            for (k, l) in walls {
                let (a, b) = (&self.own[k].wall, &self.other[l].wall);
                corner.own += 2.0 * b.distance * Vec3A::from(a.normal);
                corner.other += 2.0 * a.distance * Vec3A::from(b.normal);
                corner.closing -= 2.0
                    * (b.distance * a.normal.dot(a.velocity)
                        + a.distance * b.normal.dot(b.velocity));
                corner.lift[k] = 2.0 * b.distance;
                corner.matched = corner.matched.with(k, l);
                corner.weight *= (a.drag * b.drag).sqrt();
            }
            visit(&corner);
        }
    }
}
