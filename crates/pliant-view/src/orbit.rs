//! A camera that goes around a place.

use glam::{Vec2, Vec3};
use pliant_render::{Camera, View};

/// Highest angle above or below the horizon, in radians: straight up has no right side.
const STEEPEST: f32 = 1.55;

/// A camera that looks at a place from around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// What is in the middle of the picture, in metres.
    pub target: Vec3,
    /// Angle about the vertical in radians.
    pub turn: f32,
    /// Angle above the horizon in radians.
    pub height: f32,
    /// From the target, in metres.
    pub distance: f32,
    /// Vertical opening angle in degrees.
    pub fov: f32,
}

impl From<Camera> for Orbit {
    fn from(camera: Camera) -> Orbit {
        let back = camera.eye - camera.target;
        let distance = back.length().max(1e-6);
        Orbit {
            target: camera.target,
            turn: back.x.atan2(back.z),
            height: (back.y / distance)
                .clamp(-1.0, 1.0)
                .asin()
                .clamp(-STEEPEST, STEEPEST),
            distance,
            fov: camera.vertical_fov_degrees,
        }
    }
}

impl Orbit {
    /// The camera as the renderer takes it.
    pub fn camera(&self) -> Camera {
        let (sin, cos) = self.height.sin_cos();
        let back = Vec3::new(cos * self.turn.sin(), sin, cos * self.turn.cos());
        Camera {
            eye: self.target + self.distance * back,
            target: self.target,
            up: Vec3::Y,
            vertical_fov_degrees: self.fov,
        }
    }

    /// Goes around the target; `drag` in shares of the picture's height.
    pub fn orbit(&mut self, drag: Vec2) {
        self.turn -= 3.0 * drag.x;
        self.height = (self.height + 3.0 * drag.y).clamp(-STEEPEST, STEEPEST);
    }

    /// Moves the target so that it follows the drag, in pixels.
    pub fn pan(&mut self, view: &View, drag: Vec2) {
        let scale = self.distance / view.focal;
        self.target += scale * (drag.y * view.up - drag.x * view.right);
    }

    /// Comes nearer by a factor.
    pub fn zoom(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            self.distance = (self.distance / factor).clamp(1e-4, 1e5);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_camera_survives_the_way_there_and_back() {
        let camera = Camera {
            eye: Vec3::new(1.0, 2.0, -3.0),
            target: Vec3::new(0.5, 0.0, 0.25),
            up: Vec3::Y,
            vertical_fov_degrees: 35.0,
        };
        let back = Orbit::from(camera).camera();
        assert!(back.eye.distance(camera.eye) < 1e-5, "{back:?}");
        assert_eq!(back.target, camera.target);
    }

    #[test]
    fn going_around_keeps_the_distance_and_never_tips_over() {
        let mut orbit = Orbit {
            target: Vec3::ONE,
            turn: 0.0,
            height: 0.3,
            distance: 2.0,
            fov: 35.0,
        };
        for _ in 0..50 {
            orbit.orbit(Vec2::new(0.1, 0.2));
            let camera = orbit.camera();
            assert!((camera.eye.distance(Vec3::ONE) - 2.0).abs() < 1e-4);
            assert!(camera.view(100, 100).up.y > 0.0);
        }
        let view = orbit.camera().view(200, 100);
        let (before, _) = view.project(Vec3::ONE).unwrap();
        orbit.pan(&view, Vec2::new(10.0, 5.0));
        let (after, _) = orbit.camera().view(200, 100).project(Vec3::ONE).unwrap();
        assert!(
            (after - before - Vec2::new(10.0, 5.0)).length() < 0.1,
            "{after}"
        );
    }
}
