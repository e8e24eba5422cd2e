//! The room around the scene: a backdrop, a wide lamp, a window and a soft sky.

use glam::Vec3;

use crate::camera::View;
use crate::colour::Colour;

/// Light of the wide lamp on a surface that faces it.
const KEY: Vec3 = Vec3::new(0.86, 0.84, 0.80);
const SKY: Vec3 = Vec3::new(0.40, 0.43, 0.48);
const EARTH: Vec3 = Vec3::new(0.24, 0.23, 0.22);
/// Brightness of the lamp's mirror image.
const LAMP: f32 = 9.0;
/// Cosine of half the opening angle of the lamp.
const LAMP_EDGE: f32 = 0.955;

/// Lamps and backdrop, seen from one camera.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sky {
    /// Unit vector to the lamp.
    pub key: Vec3,
    /// Unit vectors across the lamp.
    across: [Vec3; 2],
    window: Vec3,
    up: Vec3,
    top: Vec3,
    bottom: Vec3,
}

impl Sky {
    /// Studio light over the camera's left shoulder, as the quick pictures have it.
    pub fn over(view: &View, background: [Colour; 2]) -> Sky {
        let key = (0.95 * Vec3::Y - 0.6 * view.right - 0.35 * view.forward).normalize_or(Vec3::Y);
        let (u, v) = key.any_orthonormal_pair();
        Sky {
            key,
            across: [u, v],
            window: (0.35 * Vec3::Y + 0.9 * view.right - 0.2 * view.forward).normalize_or(Vec3::X),
            up: view.up,
            top: background[0].to_vec(),
            bottom: background[1].to_vec(),
        }
    }

    /// The lamp's light and a direction to a place on it, by two numbers from 0 to 1.
    pub fn lamp(&self, [a, b]: [f32; 2]) -> (Vec3, Vec3) {
        let radius = 0.16 * a.sqrt();
        let (sin, cos) = (std::f32::consts::TAU * b).sin_cos();
        let to = self.key + radius * (cos * self.across[0] + sin * self.across[1]);
        (KEY, to.normalize())
    }

    /// Light that an open surface gets from all around, the lamp apart.
    pub fn ambient(&self, normal: Vec3) -> Vec3 {
        EARTH.lerp(SKY, 0.5 + 0.5 * normal.y)
    }

    /// What a ray sees that leaves the scene: the backdrop by its height in the
    /// picture's frame.
    pub fn backdrop(&self, direction: Vec3) -> Vec3 {
        let height = (0.5 + 1.4 * direction.dot(self.up)).clamp(0.0, 1.0);
        self.bottom.lerp(self.top, height)
    }

    /// What a mirror sees: backdrop below, a soft sky above, lamp and window.
    pub fn mirrored(&self, direction: Vec3) -> Vec3 {
        let rise = direction.y;
        let sky = Vec3::new(0.62, 0.70, 0.80).lerp(Vec3::new(0.30, 0.40, 0.55), rise.max(0.0));
        let floor = Vec3::new(0.42, 0.41, 0.40);
        let t = (0.5 + 6.0 * rise).clamp(0.0, 1.0);
        let mut light = floor.lerp(sky, t);
        let lamp = direction.dot(self.key);
        light += LAMP * KEY * smooth(LAMP_EDGE, LAMP_EDGE + 0.01, lamp);
        // A window with a cross bar.
        let (u, v) = (
            direction.dot(self.window.cross(Vec3::Y).normalize_or(Vec3::Z)),
            direction.y - self.window.y,
        );
        if direction.dot(self.window) > 0.0 {
            let edge = |x: f32, half: f32| smooth(half, half - 0.02, x.abs());
            let bars = smooth(0.008, 0.014, u.abs()) * smooth(0.008, 0.014, v.abs());
            light += Vec3::new(1.5, 1.6, 1.75) * (edge(u, 0.22) * edge(v, 0.26) * bars);
        }
        light
    }
}

/// 0 before `from`, 1 after `to`, smooth between; `to` may be the smaller one.
pub(super) fn smooth(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
