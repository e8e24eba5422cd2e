//! From the description of a motion to an obstacle that moves.

use glam::Vec3;

use super::check::{Part, Rule};
use super::description::{self as d, Shape};
use super::error::SceneError;
use crate::contact::{Key, KeyframeError, Keyframes, Motion, Obstacle, Path, Peristalsis};
use crate::mesh::{Colon, ShapeError};

/// A tube has at least this many rings per wave length, so that it can follow a wave.
const RINGS_PER_WAVE: f32 = 16.0;

/// Says what is wrong with a motion's numbers.
pub(super) fn check(here: &Part<'_>, m: &d::Motion) -> Result<(), SceneError> {
    here.number("start", m.start, Rule::Finite)?;
    here.after_start("stop", m.start, m.stop)?;
    here.direction("axis", m.axis)?;
    if let Some(pivot) = m.pivot {
        here.place("pivot", pivot)?;
    }
    here.place("velocity", m.velocity)?;
    here.number("spin", m.spin, Rule::Finite)?;
    if let Some(o) = &m.oscillation {
        let here = &here.key("oscillation");
        here.place("amplitude", o.amplitude)?;
        here.number("angle", o.angle, Rule::Finite)?;
        here.number("frequency", o.frequency, Rule::Positive)?;
        here.number("phase", o.phase, Rule::Finite)?;
        if o.amplitude == Vec3::ZERO && o.angle == 0.0 {
            return Err(here.error(
                "amplitude",
                "give `amplitude` (metres) or `angle` (degrees), or both",
            ));
        }
    }
    for (i, k) in m.keyframes.iter().enumerate() {
        let here = &here.item("keyframes", i);
        here.number("time", k.time, Rule::NotNegative)?;
        here.place("translation", k.translation)?;
        here.number("angle", k.angle, Rule::Finite)?;
    }
    if let Err(e @ KeyframeError::NotInOrder { .. }) = keyframes(m) {
        return Err(here.error("keyframes", e.to_string()));
    }
    if let Some(p) = &m.peristalsis {
        check_wave(p, &here.key("peristalsis"))?;
    }
    let moves = paths(m).is_ok_and(|p| !p.is_empty()) || m.peristalsis.is_some();
    if moves {
        return Ok(());
    }
    let help = "give `velocity`, `spin`, `oscillation`, `keyframes` or `peristalsis`";
    Err(here.here("the motion moves nothing").with_help(help))
}

/// Checks the numbers of a wave.
pub(super) fn check_wave(p: &d::Peristalsis, here: &Part<'_>) -> Result<(), SceneError> {
    here.number("amplitude", p.amplitude, Rule::Between(0.0, 0.95))?;
    here.number("wave_length", p.wave_length, Rule::Positive)?;
    here.number("speed", p.speed, Rule::Finite)?;
    here.number("sharpness", p.sharpness, Rule::Between(1.0, 100.0))
}

/// Rings that a straight tube needs for its wave.
pub(super) fn rings(o: &d::Obstacle) -> Option<u32> {
    let wave = o.motion.as_ref()?.peristalsis.as_ref()?;
    let Shape::Tube { from, to, .. } = &o.shape else {
        return None;
    };
    let rings = RINGS_PER_WAVE * from.distance(*to) * o.scale / wave.wave_length;
    Some((rings.ceil() as u32).clamp(8, 1000))
}

/// The axis of a shape that has one, before it is scaled, turned and shifted.
fn axis(shape: &Shape) -> Option<Result<Vec<Vec3>, ShapeError>> {
    let colon = match *shape {
        Shape::Tube { from, to, .. } => return Some(Ok(vec![from, to])),
        Shape::Colon { triangles, seed } if triangles > 8040 => Colon::fine(seed),
        Shape::Colon { seed, .. } => Colon::coarse(seed),
        _ => return None,
    };
    Some(colon.path().map(|path| path.points))
}

/// Lets `obstacle` move as described; `place` puts points of its shape where it is.
/// The message says what cannot be.
pub(super) fn apply(
    o: &d::Obstacle,
    mut obstacle: Obstacle,
    place: impl Fn(Vec3) -> Vec3,
) -> Result<Obstacle, String> {
    let Some(m) = &o.motion else {
        return Ok(obstacle);
    };
    let stop = m.stop.unwrap_or(f64::INFINITY);
    // Where turning is about if nothing is said: the middle of the shape.
    let middle = match (obstacle.bounds(), &o.shape) {
        (_, Shape::Plane { point, .. }) => place(*point),
        (Some(bounds), _) => bounds.center(),
        (None, _) => Vec3::ZERO,
    };
    if let Some(p) = &m.peristalsis {
        let axis = axis(&o.shape)
            .ok_or("`peristalsis` needs a tube with an axis: a `colon` or a `tube`")?
            .map_err(|e| e.to_string())?;
        let axis: Vec<Vec3> = axis.into_iter().map(place).collect();
        let wave = Peristalsis {
            amplitude: p.amplitude,
            wave_length: p.wave_length,
            speed: p.speed,
            sharpness: p.sharpness,
            start: m.start,
            stop,
        };
        obstacle = obstacle.with_peristalsis(wave, &axis);
    }
    let paths = paths(m).map_err(|e| e.to_string())?;
    if paths.is_empty() {
        return Ok(obstacle);
    }
    Ok(obstacle.with_motion(Motion {
        start: m.start,
        stop,
        axis: m.axis,
        pivot: m.pivot.unwrap_or(middle),
        paths,
    }))
}

fn keyframes(m: &d::Motion) -> Result<Keyframes, KeyframeError> {
    let key = |k: &d::Keyframe| Key {
        time: k.time,
        translation: k.translation,
        angle: k.angle.to_radians(),
    };
    let smooth = m.interpolation == d::Interpolation::Smooth;
    Keyframes::new(m.keyframes.iter().map(key).collect(), smooth)
}

fn paths(m: &d::Motion) -> Result<Vec<Path>, KeyframeError> {
    let mut paths = Vec::new();
    if m.velocity != Vec3::ZERO || m.spin != 0.0 {
        paths.push(Path::Constant {
            velocity: m.velocity,
            spin: m.spin.to_radians(),
        });
    }
    if let Some(o) = &m.oscillation {
        paths.push(Path::Oscillation {
            amplitude: o.amplitude,
            angle: o.angle.to_radians(),
            frequency: o.frequency,
            phase: o.phase.to_radians(),
        });
    }
    if !m.keyframes.is_empty() {
        paths.push(Path::Keyframes(keyframes(m)?));
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::super::Scene;
    use glam::Vec3;

    /// The scene of a box of water with this motion of the box, line 9 and on.
    fn scene(shape: &str, motion: &str) -> Result<super::super::Built, String> {
        let text = format!(
            "title = \"t\"\nduration = 1\n[[fluid]]\nspacing = 0.05\n\
             fill = [{{ region = {{ sphere = {{ center = [0, 0, 0], radius = 0.2 }} }} }}]\n\
             [[obstacle]]\nname = \"it\"\nshape = {shape}\n[obstacle.motion]\n{motion}\n"
        );
        let scene = Scene::parse("t", "t.toml", &text, std::path::Path::new("."), &[]);
        let built = scene.and_then(|s| s.build());
        built.map_err(|e| e.to_string())
    }

    const BOX: &str = "{ box = { min = [-1, -1, -1], max = [1, 1, 1] } }";

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        for (shape, motion, parts) in [
            (
                BOX,
                "start = 1",
                &["t.toml:9", "moves nothing", "`velocity`"][..],
            ),
            (
                BOX,
                "start = 2\nstop = 1\nspin = 1",
                &["t.toml:11", "must be after `start`"],
            ),
            (
                BOX,
                "spin = 1\naxis = [0, 0, 0]",
                &["t.toml:11", "`axis`", "not zero"],
            ),
            (
                BOX,
                "oscillation = { amplitude = [1, 0, 0], frequency = 0 }",
                &["t.toml:10", "`frequency` is 0", "above 0"],
            ),
            (
                BOX,
                "oscillation = { frequency = 1 }",
                &["give `amplitude`"],
            ),
            (
                BOX,
                "keyframes = [{ time = 1 }, { time = 0.5 }]",
                &["t.toml:10", "must be later"],
            ),
            (BOX, "spinn = 1", &["t.toml:10", "did you mean `spin`"]),
            (
                BOX,
                "peristalsis = { amplitude = 0.5, wave_length = 1, speed = 1 }",
                &["t.toml", "a `colon` or a `tube`"],
            ),
            (
                "{ colon = {} }",
                "peristalsis = { amplitude = 1.5, wave_length = 1, speed = 1 }",
                &["t.toml:10", "`amplitude` is 1.5", "between 0 and 0.95"],
            ),
        ] {
            let message = match scene(shape, motion) {
                Err(message) => message,
                Ok(_) => panic!("{motion} was taken"),
            };
            for part in parts {
                assert!(message.contains(part), "{motion}: {message}");
            }
        }
    }

    /// Degrees become radians, and turning is about the middle of the shape.
    #[test]
    fn a_quarter_turn_is_ninety_degrees() {
        let shape = "{ box = { min = [-1, -1, -1], max = [5, 1, 1] } }";
        let mut built = scene(shape, "axis = [0, 0, 1]\nspin = 90").unwrap();
        for _ in 0..10 {
            built.world.step(0.1).unwrap();
        }
        let bounds = built.world.obstacles().next().and_then(|o| o.bounds());
        let bounds = bounds.unwrap();
        assert!((bounds.min - Vec3::new(1.0, -3.0, -1.0)).length() < 1e-4);
        assert!((bounds.max - Vec3::new(3.0, 3.0, 1.0)).length() < 1e-4);
    }

    /// A straight tube gets rings enough to follow its wave.
    #[test]
    fn a_tube_can_wave() {
        let shape = "{ tube = { from = [-1, 0, 0], to = [1, 0, 0], radius = 0.3 } }";
        let wave = "peristalsis = { amplitude = 0.2, wave_length = 0.5, speed = 2 }";
        let mut built = scene(shape, wave).unwrap();
        let volume = |world: &crate::World| {
            let now = world.obstacles().next().and_then(|o| o.triangles_now());
            now.map_or(0.0, |m| m.volume())
        };
        let before = volume(&built.world);
        built.world.step(0.3).unwrap();
        assert!(volume(&built.world) < 0.95 * before);
        assert_eq!(built.world.leaked(), 0);
    }
}
