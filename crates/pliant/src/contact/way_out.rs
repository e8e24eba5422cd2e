//! The way out of a body for what has got into it.

use glam::Vec3;

use super::resolve::{ITERATIONS, LEAST_GAP, Obstacles};

/// To the faces and to the corners of a cube, as long as one another.
const DIRECTIONS: [Vec3; 14] = {
    const C: f32 = 0.577_350_26;
    [
        Vec3::Y,
        Vec3::X,
        Vec3::NEG_X,
        Vec3::Z,
        Vec3::NEG_Z,
        Vec3::NEG_Y,
        Vec3::new(C, C, C),
        Vec3::new(-C, C, C),
        Vec3::new(C, C, -C),
        Vec3::new(-C, C, -C),
        Vec3::new(C, -C, C),
        Vec3::new(-C, -C, C),
        Vec3::new(C, -C, -C),
        Vec3::new(-C, -C, -C),
    ]
};

impl Obstacles<'_> {
    /// Where a ball at `place` that has got into a body's surface, no deeper than `depth`, is
    /// outside of it again and has crossed nothing else; `None` if it is not inside, or finds no
    /// such place. Where one piece of the body ends another may begin: it goes on from one to the
    /// next, ever farther. Pieces that send it back and forth are left in any direction that is
    /// open.
    pub fn way_out(&self, index: u32, place: Vec3, radius: f32, depth: f32) -> Option<Vec3> {
        let body = self.get(index)?;
        let inside = |p: Vec3| body.nearest_exit(p, f32::INFINITY);
        let free = |out: &Vec3| {
            let mut others = self.list.iter().filter(|(i, _)| *i != index as usize);
            others.all(|(_, o)| o.crossing(o.end_frame(place), *out).is_none())
        };
        let (mut out, mut exit) = (place, body.nearest_exit(place, depth)?);
        let mut gap = LEAST_GAP * radius;
        for _ in 0..ITERATIONS {
            out = exit + gap * (exit - out).normalize_or_zero();
            let Some(next) = inside(out) else {
                return Some(out).filter(free);
            };
            exit = next;
            gap = radius.min(2.0 * gap);
        }
        let near = [0.5, 1.0, 2.0].map(|far| DIRECTIONS.map(|d| place + far * radius * d));
        let mut open = near.into_iter().flatten().filter(|&p| inside(p).is_none());
        open.find(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Obstacle;
    use crate::mesh::Cuboid;

    /// A ball in a splinter gets out of it, and of the next if it ends there, but not through
    /// a wall.
    #[test]
    fn a_ball_in_a_body_finds_the_nearest_way_out() {
        let block = |low: Vec3, high: Vec3| Cuboid::new(low, high).build().unwrap();
        let mut mesh = block(Vec3::ZERO, Vec3::ONE);
        let second = block(Vec3::new(0.2, 1.005, 0.2), Vec3::new(0.8, 1.02, 0.8));
        let first = mesh.vertices.len() as u32;
        mesh.vertices.extend(second.vertices);
        let triangles = second.triangles.into_iter();
        mesh.triangles
            .extend(triangles.map(|t| t.map(|i| first + i)));
        let body = Obstacle::skin("body", mesh);
        let wall = Obstacle::plane("wall", 0.05 * Vec3::NEG_X, Vec3::X);
        let all: Obstacles = [(3, &body), (5, &wall)].into_iter().collect();
        let out = all.way_out(3, Vec3::new(0.95, 0.5, 0.5), 0.1, 1.0).unwrap();
        assert!((out - Vec3::new(1.01, 0.5, 0.5)).length() < 1e-5, "{out}");
        let out = all
            .way_out(3, Vec3::new(0.5, 0.95, 0.5), 0.14, 1.0)
            .unwrap();
        assert!(out.y > 1.02, "{out}");
        assert_eq!(all.way_out(3, Vec3::new(0.02, 0.5, 0.5), 1.0, 1.0), None);
        assert_eq!(all.way_out(3, Vec3::new(1.05, 0.5, 0.5), 0.1, 1.0), None);
        // Deeper than was asked for.
        assert_eq!(all.way_out(3, Vec3::new(0.95, 0.5, 0.5), 0.1, 0.04), None);
    }
}
