//! Where the picture is taken from.

use glam::{DVec3, Vec2, Vec3};
use pliant::math::Aabb;

/// A pinhole camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the camera stands, in metres.
    pub eye: Vec3,
    /// The point in the middle of the picture, in metres.
    pub target: Vec3,
    /// The direction that points up in the picture.
    pub up: Vec3,
    /// Angle between the lowest and the highest ray, in degrees.
    pub vertical_fov_degrees: f32,
}

impl Camera {
    /// A camera that looks along `direction` and has the whole of `aabb` in a
    /// picture of any shape no narrower than it is high, with a small margin.
    pub fn framing(aabb: Aabb, direction: Vec3) -> Camera {
        Camera::framing_in(aabb, direction, 1.0)
    }

    /// Like [`Camera::framing`] for a picture whose width is `aspect` times its
    /// height.
    pub fn framing_in(aabb: Aabb, direction: Vec3, aspect: f32) -> Camera {
        let (min, max) = if aabb.min.is_finite() && aabb.max.is_finite() {
            (aabb.min.min(aabb.max), aabb.max.max(aabb.min))
        } else {
            (Vec3::splat(-0.5), Vec3::splat(0.5))
        };
        let smallest = 1e-6 * (1.0 + max.abs().max(min.abs()).max_element());
        let half = (0.5 * (max - min)).max(Vec3::splat(smallest));
        let target = 0.5 * (min + max);
        let forward = direction.normalize_or(Vec3::NEG_Z);
        let mut camera = Camera {
            eye: target - forward,
            target,
            up: Vec3::Y,
            vertical_fov_degrees: 35.0,
        };
        let basis = camera.basis();
        let tan_y = (0.5 * camera.vertical_fov_degrees).to_radians().tan() / 1.08;
        let tan_x = tan_y * aspect.max(1e-3);
        // Every corner c asks for |x| <= tan · (distance + z), z along the view.
        let distance = (0..8)
            .map(|corner| {
                let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
                let c = half * Vec3::new(sign(0), sign(1), sign(2));
                let (x, y, z) = (c.dot(basis.right), c.dot(basis.up), c.dot(basis.forward));
                (x.abs() / tan_x).max(y.abs() / tan_y) - z
            })
            .fold(0.0, f32::max);
        camera.eye = target - forward * distance;
        camera
    }

    fn basis(&self) -> Basis {
        let forward = (self.target - self.eye).normalize_or(Vec3::NEG_Z);
        let helper = forward.any_orthonormal_vector();
        let right = forward.cross(self.up).normalize_or(helper);
        Basis {
            right,
            up: right.cross(forward),
            forward,
        }
    }

    /// The camera with a film of `width` by `height` pixels.
    pub fn view(&self, width: u32, height: u32) -> View {
        let fov = if self.vertical_fov_degrees.is_finite() {
            self.vertical_fov_degrees.clamp(0.1, 170.0)
        } else {
            35.0
        };
        let basis = self.basis();
        View {
            eye: self.eye,
            right: basis.right,
            up: basis.up,
            forward: basis.forward,
            focal: 0.5 * height as f32 / (0.5 * fov).to_radians().tan(),
            centre: 0.5 * Vec2::new(width as f32, height as f32),
        }
    }
}

struct Basis {
    right: Vec3,
    up: Vec3,
    forward: Vec3,
}

/// A camera with a film: maps between space and pixels.
///
/// Pixel coordinates run right and down from the upper left corner of the
/// picture; the middle of the first pixel is (0.5, 0.5). View space has x to the
/// right, y up and z forward, so z is the depth.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Where the camera stands.
    pub eye: Vec3,
    /// Unit vector to the right of the picture.
    pub right: Vec3,
    /// Unit vector to the top of the picture.
    pub up: Vec3,
    /// Unit vector into the picture.
    pub forward: Vec3,
    /// Pixels per unit of x / z.
    pub focal: f32,
    /// The pixel coordinates of the optical axis.
    pub centre: Vec2,
}

impl View {
    /// A world point in view space.
    #[inline]
    pub fn to_view(&self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        Vec3::new(d.dot(self.right), d.dot(self.up), d.dot(self.forward))
    }

    /// A view-space direction in world space.
    #[inline]
    pub fn direction_to_world(&self, v: Vec3) -> Vec3 {
        self.right * v.x + self.up * v.y + self.forward * v.z
    }

    /// The view-space ray through a pixel coordinate, scaled so that its z is 1:
    /// `depth * ray` is the point at `depth`.
    #[inline]
    pub fn ray(&self, pixel: Vec2) -> Vec3 {
        Vec3::new(
            (pixel.x - self.centre.x) / self.focal,
            (self.centre.y - pixel.y) / self.focal,
            1.0,
        )
    }

    /// The pixel coordinates and the depth of a world point; `None` behind the
    /// camera.
    pub fn project(&self, p: Vec3) -> Option<(Vec2, f32)> {
        let v = self.to_view(p);
        (v.z > 0.0).then(|| (self.project_view(v), v.z))
    }

    #[inline]
    pub(crate) fn project_view(&self, v: Vec3) -> Vec2 {
        let scale = self.focal / v.z;
        Vec2::new(self.centre.x + v.x * scale, self.centre.y - v.y * scale)
    }

    /// The linear function `[a, b, c]` of pixel coordinates with
    /// `a x + b y + c = n · ray(x, y)`.
    #[inline]
    pub(crate) fn plane_over_pixels(&self, n: DVec3) -> [f64; 3] {
        let (f, centre) = (self.focal as f64, self.centre.as_dvec2());
        let (a, b) = (n.x / f, -n.y / f);
        [a, b, n.z - a * centre.x - b * centre.y]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_in_the_middle() {
        let camera = Camera {
            eye: Vec3::new(1.0, 2.0, 3.0),
            target: Vec3::new(0.0, 0.5, 0.0),
            up: Vec3::Y,
            vertical_fov_degrees: 40.0,
        };
        let view = camera.view(640, 480);
        let (pixel, depth) = view.project(camera.target).unwrap();
        assert!((pixel - Vec2::new(320.0, 240.0)).length() < 1e-3);
        assert!((depth - camera.eye.distance(camera.target)).abs() < 1e-5);
        let above = view.project(camera.target + Vec3::Y * 0.1).unwrap().0;
        assert!(above.y < pixel.y && (above.x - pixel.x).abs() < 1e-3);
        assert!(
            view.project(camera.eye + (camera.eye - camera.target))
                .is_none()
        );
    }

    #[test]
    fn rays_and_projection_are_inverse() {
        let camera = Camera::framing(
            Aabb {
                min: Vec3::ZERO,
                max: Vec3::ONE,
            },
            Vec3::new(-1.0, -0.5, 0.3),
        );
        let view = camera.view(300, 200);
        for pixel in [Vec2::new(0.5, 0.5), Vec2::new(211.0, 37.25)] {
            let world = view.eye + view.direction_to_world(view.ray(pixel) * 2.5);
            let (back, depth) = view.project(world).unwrap();
            assert!((back - pixel).length() < 1e-2);
            assert!((depth - 2.5).abs() < 1e-5);
        }
    }

    #[test]
    fn framing_has_every_corner_in_the_picture_and_fills_it() {
        for direction in [Vec3::NEG_Z, Vec3::new(1.0, -1.0, 2.0), Vec3::NEG_Y] {
            let aabb = Aabb {
                min: Vec3::new(-2.0, 0.0, 1.0),
                max: Vec3::new(3.0, 1.0, 2.0),
            };
            let view = Camera::framing_in(aabb, direction, 1.5).view(600, 400);
            let mut reach = 0.0f32;
            for corner in 0..8 {
                let pick =
                    |bit: u32, lo: f32, hi: f32| if corner >> bit & 1 == 0 { lo } else { hi };
                let p = Vec3::new(
                    pick(0, aabb.min.x, aabb.max.x),
                    pick(1, aabb.min.y, aabb.max.y),
                    pick(2, aabb.min.z, aabb.max.z),
                );
                let (pixel, _) = view.project(p).unwrap();
                let offset = ((pixel - view.centre) / view.centre).abs();
                reach = reach.max(offset.max_element());
            }
            assert!(reach < 1.0 && reach > 0.9, "reach {reach}");
        }
    }

    #[test]
    fn degenerate_boxes_still_give_a_usable_camera() {
        for aabb in [
            Aabb::EMPTY,
            Aabb {
                min: Vec3::ONE,
                max: Vec3::ONE,
            },
        ] {
            let camera = Camera::framing(aabb, Vec3::ZERO);
            assert!(camera.eye.is_finite() && camera.eye != camera.target);
        }
    }
}
