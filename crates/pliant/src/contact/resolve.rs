//! Moving one ball from where it was to where it wants to be, past all obstacles.
//!
//! The centre of a ball never crosses a surface: the straight way from its last
//! place (which was free) to its new one is tested, however long it is. Where the
//! ball overlaps a surface it is pushed out, deepest overlap first, again and
//! again, so that the two walls of a corner do not play it back and forth between
//! steps.
//!
//! Obstacles may move: the way of a ball is tested as each of them sees it, from
//! where the ball was before the obstacle moved to where it is after.

use glam::Vec3;

use super::obstacle::Obstacle;

/// How often a ball is pushed out of overlaps in one sub-step.
pub(super) const ITERATIONS: usize = 8;

/// Share of its radius that a ball keeps from every surface.
pub(super) const LEAST_GAP: f32 = 0.1;

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
    pub(super) list: Vec<(usize, &'a Obstacle)>,
    /// How wrong the distance to a surface may be.
    slack: f32,
    /// None of them moves.
    at_rest: bool,
    /// Normals and offsets, if all are planes at rest.
    planes: Option<Vec<(Vec3, f32)>>,
}

impl<'a> FromIterator<(usize, &'a Obstacle)> for Obstacles<'a> {
    fn from_iter<I: IntoIterator<Item = (usize, &'a Obstacle)>>(obstacles: I) -> Self {
        let list: Vec<_> = obstacles.into_iter().collect();
        let slack = list.iter().map(|(_, o)| o.distance_error());
        Obstacles {
            slack: slack.fold(0.0, f32::max),
            at_rest: list.iter().all(|(_, o)| !o.is_moving()),
            planes: list
                .iter()
                .map(|(_, o)| o.as_plane().filter(|_| !o.is_moving()))
                .collect(),
            list,
        }
    }
}

impl Obstacles<'_> {
    /// True if it is certain that a ball which arrives at `place` has touched nothing on
    /// its way. Quick, and says nothing where there are other obstacles than planes.
    #[inline]
    pub fn surely_free(&self, place: Vec3, radius: f32) -> bool {
        let far = |(normal, offset): &(Vec3, f32)| normal.dot(place) - offset >= radius;
        self.planes
            .as_ref()
            .is_some_and(|planes| planes.iter().all(far))
    }

    /// What is left of the room around a ball once it has gone its way, if the way is so
    /// short that it cannot touch anything. `room` is no more than the distance of the
    /// nearest wall from where it starts.
    #[inline]
    pub fn room_left(&self, ball: &Ball, room: f32) -> Option<f32> {
        let way = self.longest_way(ball);
        (way < room - self.slack - ball.radius).then_some(room - way)
    }

    /// True if a ball cannot touch anything on its way, given the distance of the
    /// nearest wall from where it starts.
    #[inline]
    pub fn out_of_reach(&self, ball: &Ball, nearest_wall: f32) -> bool {
        let room = nearest_wall - self.slack - ball.radius;
        let mut moving = self.list.iter().filter(|(_, o)| o.is_moving());
        // What counts is the way that each obstacle sees.
        (ball.to - ball.from).length() < room
            && moving.all(|(_, o)| o.way(ball.from, ball.to) < room)
    }

    /// The way of a ball as the obstacle sees it that sees the longest.
    #[inline]
    pub fn longest_way(&self, ball: &Ball) -> f32 {
        if self.at_rest {
            return (ball.to - ball.from).length();
        }
        let ways = self.list.iter().map(|(_, o)| o.way(ball.from, ball.to));
        ways.fold(0.0, f32::max)
    }

    /// The distance within which every obstacle finds its surface.
    pub fn least_reach(&self) -> f32 {
        let reaches = self.list.iter().map(|(_, o)| o.reach());
        reaches.fold(f32::INFINITY, f32::min)
    }

    /// The nearest surface within `radius` of a ball that was at `place` at the start
    /// of the sub-step and goes along with it, as it stands at the end; with its
    /// obstacle and its velocity.
    pub fn touched(&self, place: Vec3, radius: f32) -> Option<(usize, Touch, Vec3)> {
        let touches = self.list.iter().filter_map(|&(index, obstacle)| {
            let touch = obstacle.touched(place, radius)?;
            Some((index, obstacle, touch))
        });
        let nearest = touches.min_by(|a, b| a.2.distance.total_cmp(&b.2.distance));
        nearest.map(|(index, obstacle, touch)| (index, touch, obstacle.velocity_of(&touch)))
    }

    /// Calls `visit` with the nearest place of every obstacle within `radius` of a point
    /// that goes along with it, and the velocity there.
    pub fn for_each_touch(
        &self,
        place: Vec3,
        radius: f32,
        mut visit: impl FnMut(usize, Touch, Vec3),
    ) {
        for &(index, obstacle) in &self.list {
            if let Some(touch) = obstacle.touched(place, radius) {
                visit(index, touch, obstacle.velocity_of(&touch));
            }
        }
    }

    /// Share of the speed that a collision with an obstacle gives back.
    pub fn restitution_of(&self, index: u32) -> f32 {
        self.get(index).map_or(0.0, |o| o.restitution)
    }

    pub(super) fn get(&self, index: u32) -> Option<&Obstacle> {
        let found = self.list.iter().find(|(i, _)| *i == index as usize);
        found.map(|(_, o)| *o)
    }

    /// Coulomb coefficient of an obstacle.
    pub fn friction_of(&self, index: u32) -> f32 {
        self.get(index).map_or(0.0, |o| o.friction)
    }

    /// The place of a triangle nearest to `p`, with its corners' weights.
    pub fn place_on(&self, index: u32, triangle: u32, p: Vec3, normal: Vec3) -> (Vec3, [f32; 3]) {
        match self.get(index) {
            Some(obstacle) => obstacle.place_on(triangle, p),
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
    /// The ball is wedged, and goes where the obstacle goes.
    pub wedged: bool,
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

/// Moves balls, one after the other.
pub(crate) struct Mover<'a> {
    obstacles: &'a Obstacles<'a>,
    /// Where the ball starts in the own frame of every obstacle.
    origins: Vec<Vec3>,
}

/// An obstacle that a ball meets.
struct Met<'a> {
    index: usize,
    obstacle: &'a Obstacle,
    touch: Touch,
}

impl<'a> Mover<'a> {
    /// Moves balls past `obstacles`.
    pub fn new(obstacles: &'a Obstacles<'a>) -> Mover<'a> {
        Mover {
            origins: Vec::with_capacity(obstacles.list.len()),
            obstacles,
        }
    }

    /// Moves `ball`, returns its new place and velocity, and reports what it hit.
    pub fn resolve(&mut self, ball: Ball, report: &mut impl FnMut(Hit)) -> (Vec3, Vec3) {
        let Ball {
            from,
            to,
            mut velocity,
            radius,
        } = ball;
        let slack = self.obstacles.slack;
        self.origins.clear();
        let list = self.obstacles.list.iter();
        self.origins
            .extend(list.map(|(_, o)| o.origin(from, 2.0 * radius)));

        // An overlap of less than this share of the radius is contact, not overlap.
        let overlap = radius * (1.0 - 1e-4);
        let mut place = to;
        for _ in 0..ITERATIONS {
            let way = self.longest_way(place);
            let Some(near) = self.nearest(place, way.max(overlap) + slack) else {
                return (place, velocity);
            };
            // A way shorter than the distance to the nearest surface crosses none.
            if near.touch.distance <= way + slack
                && let Some(met) = self.first_crossing(place)
            {
                respond(&met, &mut velocity, report);
                // What is left of the way goes along the surface.
                let Touch { point, normal, .. } = met.touch;
                let rest = place - point;
                place = point + radius * normal + (rest - rest.dot(normal) * normal);
                continue;
            }
            if near.touch.distance >= overlap {
                return (place, velocity);
            }
            respond(&near, &mut velocity, report);
            place += (radius - near.touch.distance) * near.touch.normal;
        }
        // So near to a surface that numbers may not tell the sides apart is as good
        // as beyond it.
        let clear = self.nearest(place, LEAST_GAP * radius).is_none();
        if clear && self.first_crossing(place).is_none() {
            return (place, velocity);
        }
        self.squeeze(from, velocity, radius, report)
    }

    /// The distance from where a ball wants to be to the nearest surface, if it touches
    /// nothing on its way there; `look` if none is that near.
    pub fn clear_way(&mut self, ball: &Ball, look: f32) -> Option<f32> {
        self.origins.clear();
        let list = self.obstacles.list.iter();
        let radius = ball.radius;
        self.origins
            .extend(list.map(|(_, o)| o.origin(ball.from, 2.0 * radius)));
        let near = self.clearance(ball.to, look);
        (near > self.longest_way(ball.to).max(radius) + self.obstacles.slack).then_some(near)
    }

    /// No more than the distance from `place` to the nearest surface, up to `radius`,
    /// which may be farther than contacts are found.
    pub fn far_clearance(&self, place: Vec3, radius: f32) -> f32 {
        let list = self.obstacles.list.iter();
        list.fold(radius, |least, (_, o)| o.clearance(place, least))
    }

    /// Distance from `place`, where the last ball has come to, to the nearest surface;
    /// `radius` if none is that near.
    pub fn clearance(&self, place: Vec3, radius: f32) -> f32 {
        let near = self.nearest(place, radius);
        near.map_or(radius, |m| m.touch.distance)
    }

    /// Wedged: the ball stops where there is room for its centre. Without moving
    /// walls that is where it was. The wall that stops it is told how much that takes.
    fn squeeze(
        &self,
        from: Vec3,
        before: Vec3,
        radius: f32,
        report: &mut impl FnMut(Hit),
    ) -> (Vec3, Vec3) {
        let mut place = from;
        let mut velocity = Vec3::ZERO;
        let mut last = None;
        for k in 0..4 * ITERATIONS {
            let Some(met) = self.first_crossing(place) else {
                break;
            };
            velocity = met.obstacle.velocity_of(&met.touch);
            // Ever closer to the wall that has gone over it: there may be another.
            let distance = radius * 0.5f32.powi(k as i32 / 2);
            place = met.touch.point + distance * met.touch.normal;
            last = Some(met);
        }
        if let Some(met) = last.or_else(|| self.nearest(place, 2.0 * radius)) {
            report(Hit {
                obstacle: met.index,
                touch: met.touch,
                velocity_change: velocity - before,
                wedged: true,
            });
        }
        (place, velocity)
    }

    /// Length of the way to `place` for the obstacle that sees the longest.
    fn longest_way(&self, place: Vec3) -> f32 {
        let list = self.obstacles.list.iter().zip(&self.origins);
        let squared = list.map(|((_, o), origin)| (o.end_frame(place) - origin).length_squared());
        squared.fold(0.0, f32::max).sqrt()
    }

    /// What the way to `place` meets first.
    fn first_crossing(&self, place: Vec3) -> Option<Met<'a>> {
        let mut first: Option<(f32, Met<'_>)> = None;
        for (&(index, obstacle), &origin) in self.obstacles.list.iter().zip(&self.origins) {
            if let Some((crossing, point)) = obstacle.crossing(origin, place)
                && first.as_ref().is_none_or(|f| crossing.fraction < f.0)
            {
                let touch = Touch {
                    point,
                    normal: crossing.normal,
                    distance: 0.0,
                    triangle: crossing.triangle,
                    barycentric: crossing.barycentric,
                };
                let met = Met {
                    index,
                    obstacle,
                    touch,
                };
                first = Some((crossing.fraction, met));
            }
        }
        first.map(|(_, met)| met)
    }

    /// The surface nearest to `place` of all obstacles, if it is within `radius`.
    fn nearest(&self, place: Vec3, radius: f32) -> Option<Met<'a>> {
        let mut best: Option<Met<'_>> = None;
        for (&(index, obstacle), &origin) in self.obstacles.list.iter().zip(&self.origins) {
            if let Some(touch) = obstacle.nearest(place, radius, origin)
                && best
                    .as_ref()
                    .is_none_or(|b| touch.distance < b.touch.distance)
            {
                best = Some(Met {
                    index,
                    obstacle,
                    touch,
                });
            }
        }
        best
    }
}

/// The collision of a ball with what it meets, in the frame of the wall.
fn respond(met: &Met<'_>, velocity: &mut Vec3, report: &mut impl FnMut(Hit)) {
    let relative = *velocity - met.obstacle.velocity_of(&met.touch);
    let change = velocity_change(
        relative,
        met.touch.normal,
        met.obstacle.restitution,
        met.obstacle.friction,
    );
    if change != Vec3::ZERO {
        *velocity += change;
        report(Hit {
            obstacle: met.index,
            touch: met.touch,
            velocity_change: change,
            wedged: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::contact::{Motion, Path};
    use crate::mesh::Cuboid;
    use crate::space::Bvh;

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
            (place, velocity) = Mover::new(&obstacles).resolve(ball, &mut |_| {});
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
            let obstacles = [(0, &floor)].into_iter().collect();
            let (place, velocity) = Mover::new(&obstacles).resolve(ball, &mut |_| hits += 1);
            assert!(place.y >= 0.0999 && velocity.y >= 0.0 && hits == 1);
        }
    }

    /// A ball that rests while `obstacle` moves for one sub-step of a second.
    fn overtaken(mut obstacle: Obstacle, at: Vec3) -> (Obstacle, Vec3, Vec3) {
        obstacle.begin_substep(0.0, 1.0);
        let ball = Ball {
            from: at,
            to: at,
            velocity: Vec3::ZERO,
            radius: 0.1,
        };
        let obstacles: Obstacles = [(0, &obstacle)].into_iter().collect();
        assert!(!obstacles.out_of_reach(&ball, 0.5));
        let (place, velocity) = Mover::new(&obstacles).resolve(ball, &mut |_| {});
        obstacle.end_substep();
        (obstacle, place, velocity)
    }

    #[test]
    fn a_fast_piston_takes_a_resting_ball_along() {
        for speed in [2.0, 1e2, 1e4] {
            let velocity = speed * Vec3::X;
            let motion = Motion::new(Path::Constant {
                velocity,
                spin: 0.0,
            });
            let plane = Obstacle::plane("piston", Vec3::ZERO, Vec3::X);
            let (piston, place, got) = overtaken(plane.with_motion(motion.clone()), 0.5 * Vec3::X);
            assert!(!piston.contains(place) && place.x >= speed, "{place}");
            assert!((got - velocity).length() < 1e-3 * speed, "{got}");
            // A plate as thin as a tenth of the ball goes no more over it than a plane.
            let plate = Cuboid::new(Vec3::new(-0.01, -1.0, -1.0), Vec3::new(0.0, 1.0, 1.0));
            let mesh = Arc::new(plate.build().unwrap());
            let index = Arc::new(Bvh::build(mesh.clone()));
            let thin = Obstacle::mesh("plate", mesh, index, 0.1).with_motion(motion);
            let (_, place, got) = overtaken(thin, 0.5 * Vec3::X);
            assert!(
                place.x >= 1.001 * speed || place.x >= speed + 0.09,
                "{place}"
            );
            assert!((got - velocity).length() < 1e-3 * speed, "{got}");
        }
    }

    #[test]
    fn a_turning_paddle_takes_a_resting_ball_along() {
        let paddle = Cuboid::new(Vec3::new(0.0, -1.0, -0.01), Vec3::new(2.0, 1.0, 0.01));
        let mesh = Arc::new(paddle.build().unwrap());
        let index = Arc::new(Bvh::build(mesh.clone()));
        // From +x towards +z and on to -x, over a ball in between.
        let motion = Motion::new(Path::Constant {
            velocity: Vec3::ZERO,
            spin: -2.5,
        });
        let paddle = Obstacle::mesh("paddle", mesh, index, 0.1).with_motion(motion);
        let (_, place, velocity) = overtaken(paddle, Vec3::Z);
        // Ahead of the paddle, which has turned by 143 degrees.
        let angle = place.z.atan2(place.x);
        assert!(!(0.0..=2.5).contains(&angle), "{place}");
        assert!(velocity.length() > 0.5, "{velocity}");
    }
}
