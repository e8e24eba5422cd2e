//! Moving one ball from where it was to where it wants to be, past all obstacles.
//!
//! The centre of a ball never crosses a surface: the straight way from its last
//! place (which was free) to its new one is tested, however long it is. Where the
//! ball overlaps a surface it is pushed out, deepest overlap first, again and
//! again, so that the two walls of a corner do not play it back and forth between
//! steps.

use glam::Vec3;

use super::obstacle::Obstacle;
use super::triangle::closest_point;

/// How often a ball is pushed out of overlaps in one sub-step.
const ITERATIONS: usize = 8;

/// A place where a ball touches a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touch {
    pub point: Vec3,
    /// Unit vector from the surface to the free side.
    pub normal: Vec3,
    pub distance: f32,
    pub triangle: u32,
    pub barycentric: [f32; 3],
}

/// All obstacles, ready for many balls.
pub(crate) struct Obstacles<'a> {
    list: Vec<(usize, &'a Obstacle)>,
    /// How wrong the distance to a surface may be.
    slack: f32,
}

impl<'a> FromIterator<(usize, &'a Obstacle)> for Obstacles<'a> {
    fn from_iter<I: IntoIterator<Item = (usize, &'a Obstacle)>>(obstacles: I) -> Self {
        let list: Vec<_> = obstacles.into_iter().collect();
        let slack = list.iter().map(|(_, o)| o.distance_error());
        Obstacles {
            slack: slack.fold(0.0, f32::max),
            list,
        }
    }
}

impl Obstacles<'_> {
    /// True if a ball cannot touch anything on its way, given the distance of the
    /// nearest wall from where it starts.
    #[inline]
    pub fn out_of_reach(&self, ball: &Ball, nearest_wall: f32) -> bool {
        let way = (ball.to - ball.from).length();
        nearest_wall - self.slack > ball.radius + way
    }

    /// The surface nearest to `place` of all obstacles, if it is within `radius`;
    /// `origin` is a place on the free side.
    pub fn nearest(&self, place: Vec3, radius: f32, origin: Vec3) -> Option<(usize, Touch)> {
        nearest(self, place, radius, origin).map(|(index, _, touch)| (index, touch))
    }

    fn get(&self, index: u32) -> Option<&Obstacle> {
        let found = self.list.iter().find(|(i, _)| *i == index as usize);
        found.map(|(_, o)| *o)
    }

    /// Coulomb coefficient of an obstacle.
    pub fn friction_of(&self, index: u32) -> f32 {
        self.get(index).map_or(0.0, |o| o.friction)
    }

    /// The place of a triangle nearest to `p`, with its corners' weights.
    pub fn place_on(&self, index: u32, triangle: u32, p: Vec3, normal: Vec3) -> (Vec3, [f32; 3]) {
        let obstacle = self.get(index);
        if let Some((plane, offset)) = obstacle.and_then(Obstacle::as_plane) {
            return (p - (plane.dot(p) - offset) * plane, [1.0, 0.0, 0.0]);
        }
        match obstacle.and_then(Obstacle::triangles) {
            Some(mesh) => {
                let near = closest_point(p, mesh.corners(triangle as usize));
                (near.point, near.barycentric)
            }
            None => (p - normal, [1.0, 0.0, 0.0]),
        }
    }
}

/// A ball on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub from: Vec3,
    pub to: Vec3,
    pub velocity: Vec3,
    pub radius: f32,
}

/// A collision: which obstacle, where, and the change of velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub obstacle: usize,
    pub touch: Touch,
    pub velocity_change: Vec3,
}

/// Change of velocity by a collision (Grahn 2008, 7.3-7.6): restitution ε along
/// the normal, Coulomb friction μ across it, nothing if the ball moves away.
/// `J/m = -v_n (1 + ε) + v_t (max(0, 1 - μ |v_n| / |v_t|) - 1)`.
pub(crate) fn velocity_change(
    velocity: Vec3,
    normal: Vec3,
    restitution: f32,
    friction: f32,
) -> Vec3 {
    let approach = velocity.dot(normal);
    if approach >= 0.0 {
        return Vec3::ZERO;
    }
    let along = approach * normal;
    let across = velocity - along;
    let speed = across.length();
    let kept = if speed > 0.0 {
        (1.0 + friction * approach / speed).max(0.0)
    } else {
        0.0
    };
    -(1.0 + restitution) * along + (kept - 1.0) * across
}

/// Change of velocity by Coulomb friction under a normal impulse per mass of
/// `pressing` (m/s): against the motion along the surface, never beyond stopping it.
pub(crate) fn friction(velocity: Vec3, normal: Vec3, pressing: f32, coefficient: f32) -> Vec3 {
    let across = velocity - velocity.dot(normal) * normal;
    let speed = across.length();
    if speed <= 0.0 {
        return Vec3::ZERO;
    }
    -across * (coefficient * pressing / speed).min(1.0)
}

/// Moves `ball`, returns its new place and velocity, and reports what it hit.
pub(crate) fn resolve(
    obstacles: &Obstacles<'_>,
    ball: Ball,
    report: &mut impl FnMut(Hit),
) -> (Vec3, Vec3) {
    let Ball {
        from,
        to,
        mut velocity,
        radius,
    } = ball;
    let mut respond = |index: usize, obstacle: &Obstacle, touch: Touch, velocity: &mut Vec3| {
        let change = velocity_change(
            *velocity,
            touch.normal,
            obstacle.restitution,
            obstacle.friction,
        );
        if change != Vec3::ZERO {
            *velocity += change;
            report(Hit {
                obstacle: index,
                touch,
                velocity_change: change,
            });
        }
    };

    // An overlap of less than this share of the radius is contact, not overlap.
    let overlap = radius * (1.0 - 1e-4);
    let mut place = to;
    for _ in 0..ITERATIONS {
        let way = (place - from).length();
        let reach = way.max(overlap) + obstacles.slack;
        let Some((index, obstacle, touch)) = nearest(obstacles, place, reach, from) else {
            return (place, velocity);
        };
        // A way shorter than the distance to the nearest surface crosses none.
        if touch.distance <= way + obstacles.slack
            && let Some((index, obstacle, crossing)) = first_crossing(obstacles, from, place)
        {
            let point = from + crossing.fraction * (place - from);
            let touch = Touch {
                point,
                normal: crossing.normal,
                distance: 0.0,
                triangle: crossing.triangle,
                barycentric: crossing.barycentric,
            };
            respond(index, obstacle, touch, &mut velocity);
            // What is left of the way goes along the surface.
            let rest = place - point;
            let slide = rest - rest.dot(crossing.normal) * crossing.normal;
            place = point + radius * crossing.normal + slide;
            continue;
        }
        if touch.distance >= overlap {
            return (place, velocity);
        }
        respond(index, obstacle, touch, &mut velocity);
        place += (radius - touch.distance) * touch.normal;
    }
    if first_crossing(obstacles, from, place).is_some() {
        // Wedged: stay where there was room.
        return (from, Vec3::ZERO);
    }
    (place, velocity)
}

fn first_crossing<'a>(
    obstacles: &Obstacles<'a>,
    from: Vec3,
    to: Vec3,
) -> Option<(usize, &'a Obstacle, crate::space::Crossing)> {
    let mut first: Option<(usize, &Obstacle, crate::space::Crossing)> = None;
    for &(index, obstacle) in &obstacles.list {
        if let Some(c) = obstacle.crossing(from, to)
            && first.as_ref().is_none_or(|f| c.fraction < f.2.fraction)
        {
            first = Some((index, obstacle, c));
        }
    }
    first
}

/// The surface nearest to `place` of all obstacles, if it is within `radius`.
fn nearest<'a>(
    obstacles: &Obstacles<'a>,
    place: Vec3,
    radius: f32,
    origin: Vec3,
) -> Option<(usize, &'a Obstacle, Touch)> {
    let mut best: Option<(usize, &Obstacle, Touch)> = None;
    for &(index, obstacle) in &obstacles.list {
        if let Some(touch) = obstacle.nearest(place, radius, origin)
            && best.as_ref().is_none_or(|b| touch.distance < b.2.distance)
        {
            best = Some((index, obstacle, touch));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_follows_restitution_and_coulomb() {
        let v = Vec3::new(3.0, -4.0, 0.0);
        let bounce = v + velocity_change(v, Vec3::Y, 0.5, 0.0);
        assert!((bounce - Vec3::new(3.0, 2.0, 0.0)).length() < 1e-6);
        let rub = v + velocity_change(v, Vec3::Y, 0.0, 0.25);
        assert!((rub - Vec3::new(2.0, 0.0, 0.0)).length() < 1e-6);
        let stick = v + velocity_change(v, Vec3::Y, 0.0, 2.0);
        assert!(stick.length() < 1e-6);
        assert_eq!(velocity_change(-v, Vec3::Y, 0.5, 0.5), Vec3::ZERO);
    }

    #[test]
    fn a_corner_of_two_planes_holds_a_ball_still() {
        let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
        let wall = Obstacle::plane("wall", Vec3::ZERO, Vec3::new(1.0, 0.3, 0.0));
        let obstacles: Obstacles = [(0, &floor), (1, &wall)].into_iter().collect();
        let mut place = Vec3::new(0.5, 0.5, 0.0);
        let mut velocity = Vec3::ZERO;
        let mut energy = f32::INFINITY;
        for step in 0..3000 {
            velocity += 1e-3 * Vec3::new(-5.0, -9.81, 0.0);
            let ball = Ball {
                from: place,
                to: place + 1e-3 * velocity,
                velocity,
                radius: 0.1,
            };
            (place, velocity) = resolve(&obstacles, ball, &mut |_| {});
            if step % 500 == 499 && step > 1000 {
                let now = velocity.length_squared();
                assert!(now <= energy + 1e-9, "the corner heats the ball");
                energy = now;
            }
        }
        assert!(
            place.y > 0.099 && velocity.length() < 0.02,
            "{place} {velocity}"
        );
    }

    #[test]
    fn no_speed_tunnels_through_a_plane() {
        let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
        for speed in [1.0, 1e3, 1e6] {
            let ball = Ball {
                from: Vec3::Y,
                to: Vec3::Y - speed * Vec3::Y,
                velocity: -speed * Vec3::Y,
                radius: 0.1,
            };
            let mut hits = 0;
            let (place, velocity) =
                resolve(&[(0, &floor)].into_iter().collect(), ball, &mut |_| {
                    hits += 1
                });
            assert!(place.y >= 0.0999 && velocity.y >= 0.0 && hits == 1);
        }
    }
}
