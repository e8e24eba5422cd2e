//! Prescribed rigid motion: where an obstacle is, as a function of time alone.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3, Quat, Vec3};
use thiserror::Error;

/// A rigid motion of an obstacle. All its paths add up: translations, and angles
/// about one axis. Before `start` and after `stop` it stands still.
///
/// ```
/// use pliant::contact::{Motion, Path};
/// use pliant::{Obstacle, Vec3};
///
/// let pumping = Motion::new(Path::Oscillation {
///     amplitude: 0.05 * Vec3::X,
///     angle: 0.0,
///     frequency: 1.0,
///     phase: 0.0,
/// });
/// let piston = Obstacle::plane("piston", Vec3::ZERO, Vec3::X).with_motion(pumping);
/// assert!(piston.is_moving());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Begins at this time, in seconds.
    pub start: f64,
    /// Ends at this time, in seconds.
    pub stop: f64,
    /// The axis of all turning; need not be a unit vector.
    pub axis: Vec3,
    /// A point of the axis before any motion, in metres; it moves with the obstacle.
    pub pivot: Vec3,
    /// What moves it, counted from `start`.
    pub paths: Vec<Path>,
}

/// A way to move; every way begins at the obstacle's own place.
#[derive(Clone, Debug, PartialEq)]
pub enum Path {
    /// Always the same speed.
    Constant {
        /// In m/s.
        velocity: Vec3,
        /// In rad/s about the axis.
        spin: f32,
    },
    /// To and fro: `sin(2π frequency t + phase) - sin(phase)` times the amplitudes.
    Oscillation {
        /// In metres.
        amplitude: Vec3,
        /// Amplitude of turning, in radians.
        angle: f32,
        /// In Hz.
        frequency: f32,
        /// In radians; a quarter turn makes it begin at rest.
        phase: f32,
    },
    /// From place to place.
    Keyframes(Keyframes),
}

/// Places at given times. It stands at the first before and at the last after.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframes {
    keys: Vec<Key>,
    smooth: bool,
}

/// A place and when to be there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// In seconds since the motion's start.
    pub time: f64,
    /// From the obstacle's own place, in metres.
    pub translation: Vec3,
    /// In radians about the axis.
    pub angle: f32,
}

/// Why keyframes make no motion.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum KeyframeError {
    /// There are none.
    #[error("a motion needs at least one keyframe")]
    Empty,
    /// Not one after the other.
    #[error("the keyframe at {after} s comes after the one at {before} s, but must be later")]
    NotInOrder {
        /// Time of the earlier key in the list.
        before: f64,
        /// Time of the next.
        after: f64,
    },
}

impl Keyframes {
    /// Moves through `keys`, whose times must rise: at constant speed from one to the
    /// next, or, if `smooth`, coming to rest at each.
    pub fn new(keys: Vec<Key>, smooth: bool) -> Result<Keyframes, KeyframeError> {
        if keys.is_empty() {
            return Err(KeyframeError::Empty);
        }
        let rises = |w: &&[Key]| w[0].time < w[1].time;
        match keys.windows(2).find(|w| !rises(w)) {
            Some(w) => Err(KeyframeError::NotInOrder {
                before: w[0].time,
                after: w[1].time,
            }),
            None => Ok(Keyframes { keys, smooth }),
        }
    }

    fn at(&self, t: f64) -> (DVec3, f64) {
        let place = |k: &Key| (k.translation.as_dvec3(), f64::from(k.angle));
        let after = self.keys.partition_point(|k| k.time <= t);
        let (Some(b), Some(a)) = (
            self.keys.get(after),
            after.checked_sub(1).and_then(|i| self.keys.get(i)),
        ) else {
            let end = if after == 0 {
                self.keys.first()
            } else {
                self.keys.last()
            };
            return end.map_or((DVec3::ZERO, 0.0), place);
        };
        let mut s = (t - a.time) / (b.time - a.time);
        if self.smooth {
            s = s * s * (3.0 - 2.0 * s);
        }
        let ((pa, aa), (pb, ab)) = (place(a), place(b));
        (pa.lerp(pb, s), aa + s * (ab - aa))
    }

    /// Largest speed and spin at any time.
    fn fastest(&self) -> (f64, f64) {
        let steepest = if self.smooth { 1.5 } else { 1.0 };
        self.keys.windows(2).fold((0.0, 0.0), |(v, w), k| {
            let rate = steepest / (k[1].time - k[0].time);
            let way = f64::from((k[1].translation - k[0].translation).length());
            let turn = f64::from((k[1].angle - k[0].angle).abs());
            (f64::max(v, rate * way), f64::max(w, rate * turn))
        })
    }
}

impl Path {
    /// Translation in metres and angle in radians after `t` seconds.
    fn at(&self, t: f64) -> (DVec3, f64) {
        match self {
            Path::Constant { velocity, spin } => (t * velocity.as_dvec3(), t * f64::from(*spin)),
            Path::Oscillation {
                amplitude,
                angle,
                frequency,
                phase,
            } => {
                let phase = f64::from(*phase);
                let s = (TAU * f64::from(*frequency) * t + phase).sin() - phase.sin();
                (s * amplitude.as_dvec3(), s * f64::from(*angle))
            }
            Path::Keyframes(keys) => keys.at(t),
        }
    }

    /// Largest speed in m/s and spin in rad/s at any time.
    fn fastest(&self) -> (f64, f64) {
        match self {
            Path::Constant { velocity, spin } => (velocity.length().into(), spin.abs().into()),
            Path::Oscillation {
                amplitude,
                angle,
                frequency,
                ..
            } => {
                let rate = TAU * f64::from(frequency.abs());
                (
                    rate * f64::from(amplitude.length()),
                    rate * f64::from(angle.abs()),
                )
            }
            Path::Keyframes(keys) => keys.fastest(),
        }
    }
}

impl Motion {
    /// Moves along `path` from now on; turning is about the y axis.
    pub fn new(path: Path) -> Motion {
        Motion {
            start: 0.0,
            stop: f64::INFINITY,
            axis: Vec3::Y,
            pivot: Vec3::ZERO,
            paths: vec![path],
        }
    }

    /// Turns about the axis through `pivot`.
    pub fn about(mut self, pivot: Vec3, axis: Vec3) -> Motion {
        self.pivot = pivot;
        self.axis = axis;
        self
    }

    /// Moves from `start` to `stop` only.
    pub fn between(mut self, start: f64, stop: f64) -> Motion {
        self.start = start;
        self.stop = stop;
        self
    }

    /// Translation in metres and angle in radians at `time`.
    fn at(&self, time: f64) -> (DVec3, f64) {
        let t = time.min(self.stop).max(self.start) - self.start;
        let sum = |(place, turn): (DVec3, f64), path: &Path| {
            let (p, a) = path.at(t);
            (place + p, turn + a)
        };
        self.paths.iter().fold((DVec3::ZERO, 0.0), sum)
    }

    fn unit_axis(&self) -> DVec3 {
        self.axis.as_dvec3().normalize_or(DVec3::Y)
    }

    /// Where it is at `time`.
    pub(super) fn pose(&self, time: f64) -> Pose {
        let (translation, angle) = self.at(time);
        let rotation = DQuat::from_axis_angle(self.unit_axis(), angle % TAU);
        let pivot = self.pivot.as_dvec3();
        Pose {
            rotation: rotation.as_quat(),
            shift: (pivot + translation - rotation * pivot).as_vec3(),
        }
    }

    /// How it moves between two times, on the mean. From the motion itself: the
    /// difference of two poses would be noise.
    pub(super) fn twist(&self, from: f64, to: f64) -> Twist {
        let dt = to - from;
        if dt <= 0.0 {
            return Twist::default();
        }
        let ((p0, a0), (p1, a1)) = (self.at(from), self.at(to));
        Twist {
            velocity: ((p1 - p0) / dt).as_vec3(),
            spin: (self.unit_axis() * ((a1 - a0) / dt)).as_vec3(),
            center: (self.pivot.as_dvec3() + 0.5 * (p0 + p1)).as_vec3(),
        }
    }

    /// No point of the obstacle within `radius` of the pivot is faster than this from
    /// `time` on, in m/s.
    pub(super) fn top_speed(&self, time: f64, radius: f32) -> f32 {
        if time >= self.stop {
            return 0.0;
        }
        let fastest = self.paths.iter().map(Path::fastest);
        let (v, w) = fastest.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let turning = if w > 0.0 { w * f64::from(radius) } else { 0.0 };
        (v + turning) as f32
    }
}

/// Where a rigid body is: `place = rotation * body + shift`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    pub rotation: Quat,
    pub shift: Vec3,
}

impl Pose {
    /// From the body's frame to the world's.
    #[inline]
    pub fn place(&self, body: Vec3) -> Vec3 {
        self.rotation * body + self.shift
    }

    /// From the world's frame to the body's.
    #[inline]
    pub fn body(&self, place: Vec3) -> Vec3 {
        self.rotation.conjugate() * (place - self.shift)
    }

    /// A direction of the body as the world sees it.
    #[inline]
    pub fn direction(&self, body: Vec3) -> Vec3 {
        self.rotation * body
    }
}

/// A velocity for every point of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Twist {
    pub velocity: Vec3,
    pub spin: Vec3,
    pub center: Vec3,
}

impl Twist {
    /// Velocity of the body's point at `place`, in m/s.
    #[inline]
    pub fn at(&self, place: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(place - self.center)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_paths() -> Vec<Path> {
        let key = |time, x, angle| Key {
            time,
            translation: Vec3::new(x, 0.1 * x, 0.0),
            angle,
        };
        let keys = vec![key(0.1, 0.0, 0.0), key(0.6, 0.4, 1.0), key(0.9, 0.1, -0.5)];
        vec![
            Path::Constant {
                velocity: Vec3::new(0.3, -0.2, 0.1),
                spin: 2.0,
            },
            Path::Oscillation {
                amplitude: Vec3::new(0.0, 0.1, 0.2),
                angle: 0.7,
                frequency: 1.5,
                phase: 0.4,
            },
            Path::Keyframes(Keyframes::new(keys.clone(), true).unwrap()),
            Path::Keyframes(Keyframes::new(keys, false).unwrap()),
        ]
    }

    /// The velocity told is that of the way made, to within what the acceleration
    /// changes in the time between (tolerance 1e-3 m/s).
    #[test]
    fn poses_move_with_the_velocity_told() {
        let body = Vec3::new(0.3, -0.2, 0.5);
        for path in all_paths() {
            let motion = Motion::new(path.clone()).about(Vec3::X, Vec3::new(1.0, 2.0, 0.5));
            for k in 0..40 {
                // Not where linear keyframes have a corner.
                let t = 0.0525 + 0.025 * f64::from(k);
                let (t0, t1) = (t - 1e-3, t + 1e-3);
                let (a, b) = (motion.pose(t0).place(body), motion.pose(t1).place(body));
                let told = motion.twist(t0, t1).at(motion.pose(t).place(body));
                let made = (b - a) / (t1 - t0) as f32;
                assert!((told - made).length() < 1e-3, "{path:?} {t}: {told} {made}");
                let radius = motion.pivot.distance(body);
                assert!(told.length() <= 1.0001 * motion.top_speed(t, radius));
            }
        }
    }

    #[test]
    fn motion_begins_at_its_own_place_and_holds_outside_its_time() {
        let body = Vec3::new(0.3, -0.2, 0.5);
        for path in all_paths() {
            let motion = Motion::new(path).between(1.0, 1.5);
            assert!((motion.pose(0.0).place(body) - body).length() < 1e-6);
            assert!((motion.pose(1.0).place(body) - body).length() < 1e-6);
            assert_eq!(motion.pose(1.5), motion.pose(9.0));
            assert_eq!(motion.twist(0.2, 0.3).at(body), Vec3::ZERO);
            assert_eq!(motion.top_speed(2.0, 1.0), 0.0);
        }
    }

    #[test]
    fn frames_are_inverse_to_each_other() {
        let motion = Motion::new(Path::Constant {
            velocity: Vec3::ONE,
            spin: 3.0,
        });
        for k in 0..100 {
            let pose = motion.pose(0.37 * f64::from(k));
            let p = Vec3::new(0.1, 0.2, 0.3);
            assert!((pose.place(pose.body(p)) - p).length() < 1e-5);
            assert!((pose.direction(Vec3::X).length() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn keyframes_out_of_order_are_refused() {
        let key = |time| Key {
            time,
            translation: Vec3::ZERO,
            angle: 0.0,
        };
        assert_eq!(Keyframes::new(vec![], true), Err(KeyframeError::Empty));
        let error = Keyframes::new(vec![key(0.0), key(1.0), key(1.0)], false);
        assert!(matches!(error, Err(KeyframeError::NotInOrder { .. })));
    }
}
