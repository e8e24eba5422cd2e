//! Light and materials.

use glam::{Vec2, Vec3};

use crate::camera::View;
use crate::scene::Ground;
use crate::shadow::ShadowMap;

/// The lamps, in view space, and what hides the main one.
pub(crate) struct Lighting {
    /// Unit vector to the main lamp, world space.
    pub key_world: Vec3,
    key: Vec3,
    fill: Vec3,
    sky: Vec3,
    /// Shadows of solid things.
    pub shadows: Option<ShadowMap>,
    /// Shadows of see-through meshes, which dim the floor a little.
    pub glass_shadows: Option<ShadowMap>,
}

/// How a surface answers to light.
#[derive(Clone, Copy)]
pub(crate) struct Material {
    pub colour: Vec3,
    pub gloss: f32,
}

const KEY: Vec3 = Vec3::new(0.66, 0.645, 0.61);
const FILL: Vec3 = Vec3::new(0.10, 0.11, 0.13);
const SKY: Vec3 = Vec3::new(0.40, 0.42, 0.45);
const EARTH: Vec3 = Vec3::new(0.20, 0.19, 0.18);

impl Lighting {
    /// Studio light over the camera's left shoulder.
    pub fn over(view: &View) -> Lighting {
        let key_world =
            (0.95 * Vec3::Y - 0.55 * view.right - 0.55 * view.forward).normalize_or(Vec3::Y);
        let turned = |w: Vec3| Vec3::new(w.dot(view.right), w.dot(view.up), w.dot(view.forward));
        Lighting {
            key_world,
            key: turned(key_world),
            fill: turned(
                (0.2 * Vec3::Y + 0.8 * view.right - 0.4 * view.forward).normalize_or(Vec3::Y),
            ),
            sky: turned(Vec3::Y),
            shadows: None,
            glass_shadows: None,
        }
    }

    /// How much of the main lamp reaches a view-space point.
    pub fn key_light(&self, view: &View, point: Vec3, softness: f32) -> f32 {
        light_through(&self.shadows, view, point, softness)
    }

    /// How much of the main lamp reaches a point of the floor.
    pub fn floor_light(&self, view: &View, point: Vec3, softness: f32) -> f32 {
        let glass = light_through(&self.glass_shadows, view, point, softness);
        self.key_light(view, point, softness) * (0.65 + 0.35 * glass)
    }

    /// Light from a matt surface: Lambert under two lamps and a sky.
    pub fn diffuse(&self, normal: Vec3, key_light: f32, openness: f32) -> Vec3 {
        let sky = EARTH.lerp(SKY, 0.5 + 0.5 * normal.dot(self.sky));
        let key = KEY * (normal.dot(self.key).max(0.0) * key_light);
        let fill = FILL * normal.dot(self.fill).max(0.0);
        // The lamps dim a little in crevices too, or bright heaps look flat.
        sky * openness + (key + fill) * (0.45 + 0.55 * openness)
    }

    /// The highlight of the main lamp (Blinn 1977).
    pub fn highlight(&self, point: Vec3, normal: Vec3, sharpness: i32) -> f32 {
        let half = (self.key - point.normalize_or_zero()).normalize_or_zero();
        normal.dot(half).max(0.0).powi(sharpness)
    }

    /// The light that an opaque surface sends to the camera.
    pub fn opaque(
        &self,
        material: Material,
        point: Vec3,
        normal: Vec3,
        key_light: f32,
        openness: f32,
    ) -> Vec3 {
        let shine = material.gloss * self.highlight(point, normal, 48) * key_light * openness;
        material.colour * self.diffuse(normal, key_light, openness) + Vec3::splat(shine)
    }

    /// The light that a see-through wall adds, and the share of the light behind
    /// it that the wall holds back.
    pub fn glass(&self, colour: Vec3, opacity: f32, point: Vec3, normal: Vec3) -> (Vec3, f32) {
        let facing = normal.dot(point.normalize_or_zero()).abs().min(1.0);
        // Squared sine of the angle between the line of sight and the normal.
        let grazing = 1.0 - facing * facing;
        let rim = grazing * grazing * grazing;
        let hidden = opacity + (0.85 - opacity).max(0.0) * (0.22 * grazing + 0.66 * rim);
        // Thick glass along the outline is darker than its face.
        let tint = colour * (1.0 - 0.5 * rim);
        let shine = 0.35 * self.highlight(point, normal, 40);
        let body = tint * self.diffuse(normal, 1.0, 1.0) * hidden;
        (body + Vec3::splat(shine), (hidden + shine).min(1.0))
    }
}

fn light_through(map: &Option<ShadowMap>, view: &View, point: Vec3, softness: f32) -> f32 {
    map.as_ref().map_or(1.0, |map| {
        map.light_at(view.eye + view.direction_to_world(point), softness)
    })
}

/// The floor: its colour at a place, with grid lines and a fading edge.
pub(crate) struct Floor {
    pub ground: Ground,
    /// World-space middle of the scene.
    pub centre: Vec3,
    /// Distance from the middle at which the floor has faded away.
    pub reach: f32,
    /// Distance between grid lines.
    pub spacing: f32,
}

impl Floor {
    pub fn new(ground: Ground, aabb: &pliant::math::Aabb) -> Floor {
        let size = aabb.size();
        let wide = Vec2::new(size.x, size.z).length();
        let wide = if wide.is_finite() && wide > 0.0 {
            wide
        } else {
            1.0
        };
        let tall = if size.y.is_finite() {
            size.y.max(0.0)
        } else {
            0.0
        };
        let centre = aabb.center();
        Floor {
            ground,
            centre: if centre.is_finite() {
                centre
            } else {
                Vec3::ZERO
            },
            reach: 1.6 * (wide + 0.5 * tall),
            spacing: crate::ticks::nice_step(wide as f64 / 8.0) as f32,
        }
    }

    /// The floor's colour at a world point and its share against the background.
    /// `footprint` is the size of a pixel on the floor, along x and z.
    pub fn colour(&self, p: Vec3, footprint: Vec2) -> (Vec3, f32) {
        let away = Vec2::new(p.x - self.centre.x, p.z - self.centre.z).length() / self.reach;
        let fade = (1.0 - away).clamp(0.0, 1.0);
        let share = fade * fade * (3.0 - 2.0 * fade);
        let mut colour = self.ground.colour.to_vec();
        if self.ground.grid {
            let width = 0.012 * self.spacing;
            let line = |a: f32, foot: f32| {
                let off = (a / self.spacing - (a / self.spacing).round()).abs() * self.spacing;
                let wide = width.max(foot);
                // A line thinner than a pixel keeps its total darkness.
                (1.0 - (off - 0.5 * wide) / foot.max(1e-12)).clamp(0.0, 1.0)
                    * (width / wide).max(0.25)
            };
            let ink = line(p.x, footprint.x).max(line(p.z, footprint.y));
            let crowded = (footprint.max_element() * 6.0 / self.spacing).clamp(0.0, 1.0);
            colour *= 1.0 - 0.28 * ink * (1.0 - crowded);
        }
        (colour, share)
    }
}
