//! Nozzles that make liquid while the world runs, and sinks that take it away.

use glam::Vec3;

use super::liquid::Content;
use super::state::NewParticle;
use crate::field::Region;

/// A round nozzle: discs of lattice points leave it one spacing apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter {
    /// Centre of the nozzle in metres.
    pub position: Vec3,
    /// Unit vector in which the liquid leaves.
    pub direction: Vec3,
    /// Radius of the nozzle in metres.
    pub radius: f32,
    /// Speed of the liquid in m/s.
    pub speed: f32,
    /// Time at which it opens, in seconds.
    pub start: f64,
    /// Time at which it closes, in seconds.
    pub stop: f64,
    /// Most particles it may make.
    pub limit: usize,
    /// What leaves it.
    pub content: Content,
    /// Particles made so far.
    pub(crate) made: usize,
    /// Discs due so far, made or left out for want of room.
    pub(crate) discs: u64,
}

impl Emitter {
    /// A nozzle that is open for ever.
    pub fn new(position: Vec3, direction: Vec3, radius: f32, speed: f32) -> Emitter {
        Emitter {
            position,
            direction: direction.normalize_or(Vec3::NEG_Y),
            radius,
            speed,
            start: 0.0,
            stop: f64::INFINITY,
            limit: usize::MAX,
            content: Content::default(),
            made: 0,
            discs: 0,
        }
    }

    /// The speed at which a nozzle of `radius` delivers `rate` m³/s of particles
    /// `spacing` apart. Counts the particles of a disc: on a narrow nozzle they
    /// cover much less than its area.
    pub fn speed_for_rate(rate: f32, radius: f32, spacing: f32) -> f32 {
        let particles = disc_points(Vec3::Y, radius, spacing).len();
        rate / (particles as f32 * spacing * spacing)
    }

    /// Goes on at `time` as if its speed had always been the present one.
    pub(crate) fn resume(&mut self, time: f64, spacing: f32) {
        let way = (time.min(self.stop) - self.start).max(0.0) * f64::from(self.speed);
        self.discs = (way / f64::from(spacing)).ceil() as u64;
    }

    /// Appends to `out` the particles that leave the nozzle up to `time`.
    pub(crate) fn emit(
        &mut self,
        time: f64,
        spacing: f32,
        room: usize,
        out: &mut Vec<NewParticle>,
    ) {
        let open = time.min(self.stop) - self.start;
        if open < 0.0 || self.speed <= 0.0 {
            return;
        }
        let disc = disc_points(self.direction, self.radius, spacing);
        let before = out.len();
        // Disc k leaves when the column has moved k spacings since opening.
        while self.discs as f64 * f64::from(spacing) <= open * f64::from(self.speed) {
            let made_now = out.len() - before;
            if self.made + made_now + disc.len() > self.limit {
                break;
            }
            if made_now + disc.len() > room {
                // Left out: made later it would appear far from the nozzle.
                self.discs += 1;
                continue;
            }
            let travelled =
                time - self.start - self.discs as f64 * f64::from(spacing) / f64::from(self.speed);
            // A late call (a long step) must not pile discs on top of each other.
            let offset = self.direction * (travelled.max(0.0) as f32 * self.speed);
            out.extend(disc.iter().map(|&d| NewParticle {
                position: self.position + d + offset,
                velocity: self.direction * self.speed,
            }));
            self.discs += 1;
        }
        self.made += out.len() - before;
    }

    /// The inside of the nozzle at `time`, or `None` while it is closed. It is one
    /// support radius long, so that what has left does not feel a new disc come.
    pub(crate) fn throat(&self, time: f64, spacing: f32, support_radius: f32) -> Option<Throat> {
        let disc = disc_points(self.direction, self.radius, spacing).len();
        let open = (self.start..=self.stop).contains(&time)
            && self.speed > 0.0
            && self.limit.saturating_sub(self.made) >= disc;
        open.then_some(Throat {
            position: self.position,
            direction: self.direction,
            radius: self.radius,
            start: -0.5 * spacing,
            end: support_radius,
            velocity: self.speed * self.direction,
        })
    }
}

/// The inside of an open nozzle: liquid in it moves with the nozzle's speed,
/// whatever pushes it. A disc that could give way before the next one has closed
/// up behind it would be thrown back harder with every disc.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throat {
    position: Vec3,
    direction: Vec3,
    radius: f32,
    start: f32,
    end: f32,
    pub velocity: Vec3,
}

impl Throat {
    /// True if a particle at `p` has not left the nozzle yet.
    #[inline]
    pub fn holds(&self, p: Vec3) -> bool {
        let away = p - self.position;
        let along = away.dot(self.direction);
        let across_squared = away.length_squared() - along * along;
        (self.start..self.end).contains(&along) && across_squared <= self.radius * self.radius
    }
}

/// Square-lattice points of a disc around the origin, normal to `direction`.
fn disc_points(direction: Vec3, radius: f32, spacing: f32) -> Vec<Vec3> {
    let (u, v) = direction.any_orthonormal_pair();
    let n = (radius / spacing).floor() as i32;
    let inner = (radius - 0.499 * spacing).max(0.0);
    let mut points = Vec::new();
    for i in -n..=n {
        for j in -n..=n {
            let (a, b) = (i as f32 * spacing, j as f32 * spacing);
            if a * a + b * b <= inner * inner {
                points.push(a * u + b * v);
            }
        }
    }
    points
}

/// A place where liquid disappears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sink {
    /// Particles inside are removed.
    pub region: Region,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivers_its_rate_between_start_and_stop() {
        let (radius, speed, spacing) = (0.1, 2.0, 0.01);
        let mut emitter = Emitter::new(Vec3::ZERO, Vec3::X, radius, speed);
        emitter.start = 0.5;
        emitter.stop = 1.5;
        let mut out = Vec::new();
        for k in 0..2000 {
            emitter.emit(f64::from(k) * 1e-3, spacing, usize::MAX, &mut out);
        }
        let volume = out.len() as f32 * spacing.powi(3);
        let expected = std::f32::consts::PI * (radius - 0.5 * spacing).powi(2) * speed * 1.0;
        assert!(
            (volume / expected - 1.0).abs() < 0.05,
            "{volume} {expected}"
        );
    }

    #[test]
    fn the_same_particles_however_often_it_is_asked() {
        let run = |steps: u32| {
            let mut emitter = Emitter::new(Vec3::ZERO, Vec3::Y, 0.05, 1.0);
            let mut out = Vec::new();
            for k in 0..=steps {
                emitter.emit(f64::from(k) / f64::from(steps), 0.01, usize::MAX, &mut out);
            }
            out.len()
        };
        assert_eq!(run(1), run(1000));
        let mut limited = Emitter::new(Vec3::ZERO, Vec3::Y, 0.05, 1.0);
        limited.limit = 100;
        let mut out = Vec::new();
        limited.emit(10.0, 0.01, usize::MAX, &mut out);
        assert!(out.len() <= 100 && !out.is_empty());
    }
}
