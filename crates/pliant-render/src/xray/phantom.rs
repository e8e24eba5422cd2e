//! A made-up abdomen: soft tissue, a spine with discs, pelvic wings, lower ribs.

use glam::{Vec2, Vec3};
use pliant::math::Aabb;
use rayon::prelude::*;

use super::coefficients::{BONE, WATER};
use super::volume::Volume;

/// Distance between nodes in metres.
const GRID: f32 = 0.0025;

impl Volume {
    /// Attenuation in 1/m of a standing patient whose bowels fill `bowels`: y up,
    /// the back towards -z. It is anatomy to look at, not to measure.
    pub fn abdomen(bowels: Aabb) -> Volume {
        let size = bowels.size().max(Vec3::splat(0.05));
        let body = Body {
            centre: bowels.center() - Vec3::Z * 0.1 * size.y,
            half: Vec3::new(0.9 * size.x.max(0.8 * size.y), 0.85 * size.y, 0.34 * size.y),
            unit: size.y / 0.42,
        };
        let nodes = (2.0 * body.half / GRID)
            .ceil()
            .clamp(Vec3::splat(2.0), Vec3::splat(400.0));
        let count = nodes.to_array().map(|n| n as usize + 1);
        let origin = body.centre - body.half;
        let spacing = 2.0 * body.half / nodes;
        let plane = count[0] * count[1];
        let mut values = vec![0.0; plane * count[2]];
        values
            .par_chunks_mut(plane)
            .enumerate()
            .for_each(|(z, slice)| {
                for (k, value) in slice.iter_mut().enumerate() {
                    let node = Vec3::new((k % count[0]) as f32, (k / count[0]) as f32, z as f32);
                    *value = body.attenuation(origin + node * spacing - body.centre);
                }
            });
        Volume {
            size: count,
            origin,
            spacing,
            values,
        }
    }
}

struct Body {
    centre: Vec3,
    half: Vec3,
    /// One metre of a patient whose bowels are 0.42 m tall.
    unit: f32,
}

impl Body {
    /// Attenuation at a place relative to the middle of the body.
    fn attenuation(&self, p: Vec3) -> f32 {
        let waist = 1.0 - 0.06 * (6.0 * p.y / self.half.y).cos().max(0.0);
        let across = Vec2::new(p.x / (self.half.x * waist), p.z / self.half.z);
        // Rounder than a box, squarer than an ellipse.
        let inside = 1.0 - (across.x.abs().powf(2.6) + across.y.abs().powf(2.6)).powf(1.0 / 2.6);
        if inside <= 0.0 {
            return 0.0;
        }
        // Skin is smooth; organs are a little uneven.
        let q = p / self.unit;
        let uneven = (31.0 * q.x + 3.0 * (23.0 * q.y).sin()).sin()
            * (27.0 * q.y + 2.0 * (19.0 * q.z).sin()).sin();
        let tissue = WATER * (0.9 + 0.035 * uneven) * (40.0 * inside).min(1.0);
        // Fat under the skin weighs less.
        let tissue = if inside < 0.09 { 0.88 * tissue } else { tissue };
        let bone = self.spine(q).max(self.pelvis(q)).max(self.ribs(q));
        tissue + (BONE - WATER) * bone
    }

    /// Share of bone, 0 to 1.2, in a column of vertebrae. `q` is in metres of the
    /// standard patient, as in the others.
    fn spine(&self, q: Vec3) -> f32 {
        const STEP: f32 = 0.037;
        let back = -0.062 - 0.012 * (4.5 * q.y).cos();
        let level = q.y / STEP;
        let y = (level - level.round()) * STEP;
        let waist = 1.0 - 0.10 * (1.0 - (y / 0.014).powi(2)).max(0.0);
        let body = Vec2::new(q.x / (0.0235 * waist), (q.z - back) / (0.017 * waist)).length();
        let end = y.abs() / 0.0142;
        if body < 1.0 && end < 1.0 {
            // A dense rim around a sponge.
            return if body > 0.86 || end > 0.84 { 1.25 } else { 0.5 };
        }
        // Arch and processes behind the body.
        let arch = Vec3::new(
            q.x / 0.019,
            (y - 0.002) / 0.010,
            (q.z - back + 0.024) / 0.011,
        );
        let side = Vec3::new(
            q.x / 0.043,
            (y - 0.003) / 0.0048,
            (q.z - back + 0.020) / 0.006,
        );
        let spinous = Vec3::new(
            q.x / 0.0042,
            (y + 0.006) / 0.011,
            (q.z - back + 0.043) / 0.017,
        );
        let hollow = Vec2::new(q.x / 0.010, (q.z - back + 0.021) / 0.008).length() < 1.0;
        let part = |v: Vec3, share: f32| {
            if v.length() < 1.0 && !hollow {
                share
            } else {
                0.0
            }
        };
        part(arch, 0.6).max(part(side, 0.7)).max(part(spinous, 0.9))
    }

    /// The wings of the pelvis and the sacrum.
    fn pelvis(&self, q: Vec3) -> f32 {
        let x = q.x.abs();
        // A bowl, open at the top and in front; its shell is the bone.
        let bowl = Vec3::new(x / 0.142, (q.y + 0.155) / 0.115, (q.z + 0.005) / 0.095);
        let radius = bowl.length();
        let crest = -0.125 + 0.05 * (1.0 - ((x - 0.10) / 0.06).powi(2));
        let wing = (0.93..1.0).contains(&radius) && q.y < crest && q.z < 0.055 - 0.3 * (x - 0.06);
        let rim = wing && crest - q.y < 0.007;
        let sacrum = Vec3::new(q.x / 0.045, (q.y + 0.185) / 0.05, (q.z + 0.07) / 0.016).length();
        if rim {
            1.3
        } else if wing && x > 0.035 {
            0.75
        } else if sacrum < 1.0 && q.y < -0.14 {
            0.55
        } else {
            0.0
        }
    }

    /// The lowest ribs: slanting hoops.
    fn ribs(&self, q: Vec3) -> f32 {
        let x = q.x.abs();
        let hoop = Vec2::new(x / 0.148, q.z / 0.100);
        if !(0.93..1.01).contains(&hoop.length()) || q.z > 0.06 {
            return 0.0;
        }
        // From the spine downwards to the side.
        let y = q.y + 0.55 * (q.z + 0.095);
        let level = (y - 0.125) / 0.034;
        let near = (level - level.round()).abs() * 0.034;
        if level > -0.4 && near < 0.0062 {
            if near > 0.0045 { 1.2 } else { 0.7 }
        } else {
            0.0
        }
    }
}
