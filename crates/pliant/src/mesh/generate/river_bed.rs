//! A landscape with the bed of a river, to let water run down.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};

use super::noise::{along, over, smooth, unit};
use super::{HeightGrid, Rules, ShapeError};
use crate::mesh::TriMesh;

/// A valley that slopes down along x, with a meandering channel, banks and
/// boulders. The water enters at x = 0, around [`RiverBed::channel_center`].
#[derive(Clone, Debug, PartialEq)]
pub struct RiverBed {
    /// Length along x, in metres. Default 4.
    pub length: f32,
    /// Width along z, from `-width / 2`, in metres. Default 2.
    pub width: f32,
    /// Distance between grid corners, in metres. Default 0.04.
    pub spacing: f32,
    /// Fall in metres per metre of x. Default 0.12.
    pub slope: f32,
    /// Width of the channel from bank to bank, in metres. Default 0.6.
    pub channel_width: f32,
    /// Depth of the channel below the banks, in metres. Default 0.25.
    pub channel_depth: f32,
    /// How far the channel swings to each side, in metres. Default 0.4.
    pub meander: f32,
    /// Length of one full swing, in metres. Default 2.2.
    pub meander_length: f32,
    /// Height of the hills beside the channel, in metres. Default 0.15.
    pub hills: f32,
    /// Height of the bumps of the ground, in metres. Default 0.015.
    pub roughness: f32,
    /// Number of boulders in the channel. Default 14.
    pub boulders: u32,
    /// Radius of the largest boulder, in metres; the smallest has half. Default 0.09.
    pub boulder_radius: f32,
    /// Which landscape. Default 0.
    pub seed: u64,
}

impl Default for RiverBed {
    fn default() -> Self {
        RiverBed {
            length: 4.0,
            width: 2.0,
            spacing: 0.04,
            slope: 0.12,
            channel_width: 0.6,
            channel_depth: 0.25,
            meander: 0.4,
            meander_length: 2.2,
            hills: 0.15,
            roughness: 0.015,
            boulders: 14,
            boulder_radius: 0.09,
            seed: 0,
        }
    }
}

impl RiverBed {
    /// The mesh of [`RiverBed::heights`], open and facing up.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        Ok(self.heights()?.to_mesh())
    }

    /// The landscape as a grid of heights; the lowest is at least 0 but for bumps.
    pub fn heights(&self) -> Result<HeightGrid, ShapeError> {
        self.check()?;
        let boulders = self.place_boulders();
        let corners = |size: f32| (size / self.spacing).round() as usize + 1;
        let origin = Vec3::new(0.0, 0.0, -0.5 * self.width);
        HeightGrid::from_fn(
            corners(self.length),
            corners(self.width),
            self.spacing,
            origin,
            |x, z| self.ground(x, z).max(boulder_top(&boulders, x, z)),
        )
    }

    /// The z of the middle of the channel at `x`, in metres.
    pub fn channel_center(&self, x: f32) -> f32 {
        let swing = x / self.meander_length;
        // Swings of unequal width and length look less like a sine.
        let late = 0.15 * along(self.seed, 1.3 * swing);
        let wide = 0.85 + 0.15 * along(self.seed ^ 1, 1.7 * swing);
        let phase = unit(self.seed, 0);
        self.meander * wide * (TAU * (swing + late + phase)).sin()
    }

    /// The ground without boulders.
    fn ground(&self, x: f32, z: f32) -> f32 {
        let fall = self.slope * (self.length - x);
        // How far the channel runs across at this place shortens the way to it.
        let e = 0.01 * self.meander_length;
        let lean = (self.channel_center(x + e) - self.channel_center(x - e)) / (2.0 * e);
        let off = (z - self.channel_center(x)).abs() / (1.0 + lean * lean).sqrt();
        let half = 0.5 * self.channel_width;
        // Flat in the middle, steep at the bank, level at the top, hills behind.
        let bank = self.channel_depth * smooth((off - 0.35 * half) / (0.65 * half));
        let behind = smooth((off - half) / (2.0 * half));
        let bumps = over(self.seed ^ 2, 2.0 * x, 2.0 * z) * 0.5 + 0.5;
        let hills = self.hills * behind * bumps;
        let grain =
            over(self.seed ^ 3, 9.0 * x, 9.0 * z) + 0.5 * over(self.seed ^ 4, 21.0 * x, 21.0 * z);
        fall + bank + hills + self.roughness * grain / 1.5
    }

    fn place_boulders(&self) -> Vec<Boulder> {
        (0..u64::from(self.boulders))
            .map(|i| {
                let random = |channel: u64| unit(self.seed ^ (5 + channel), i);
                // One per stretch of river, so that they never dam it.
                let x = self.length * (i as f32 + 0.2 + 0.6 * random(0)) / self.boulders as f32;
                let side = self.channel_width * 0.5 * (random(1) - 0.5);
                let radius = self.boulder_radius * (0.5 + 0.5 * random(2));
                let z = self.channel_center(x) + side;
                Boulder {
                    center: Vec3::new(x, self.ground(x, z) + 0.1 * radius, z),
                    radius,
                    stretch: 0.75 + 0.5 * random(3),
                }
            })
            .collect()
    }

    fn check(&self) -> Result<(), ShapeError> {
        let rules = Rules("river bed");
        for (name, value) in [
            ("spacing", self.spacing),
            ("channel_width", self.channel_width),
            ("meander_length", self.meander_length),
            ("boulder_radius", self.boulder_radius),
        ] {
            rules.positive(name, value)?;
        }
        // Beyond this the grid would not fit into memory.
        let most = self.spacing * (Rules::MOST - 1) as f32;
        rules.between("length", self.length, self.spacing, most)?;
        rules.between("width", self.width, self.spacing, most)?;
        for (name, value) in [
            ("slope", self.slope),
            ("channel_depth", self.channel_depth),
            ("meander", self.meander),
            ("hills", self.hills),
            ("roughness", self.roughness),
        ] {
            rules.between(name, value, 0.0, 1e3)?;
        }
        if self.boulders > Rules::MOST {
            return Err(rules.fault(
                "boulders",
                self.boulders,
                format!("at most {}", Rules::MOST),
            ));
        }
        Ok(())
    }
}

/// A flattened ball, half sunk into the ground.
struct Boulder {
    center: Vec3,
    radius: f32,
    /// Length along x over width along z.
    stretch: f32,
}

/// The top of the highest boulder at `x`, `z`.
fn boulder_top(boulders: &[Boulder], x: f32, z: f32) -> f32 {
    boulders
        .iter()
        .filter_map(|b| {
            let off = Vec2::new((x - b.center.x) / b.stretch, (z - b.center.z) * b.stretch);
            let inside = 1.0 - off.length_squared() / (b.radius * b.radius);
            (inside > 0.0).then(|| b.center.y + 0.7 * b.radius * inside.sqrt())
        })
        .fold(f32::NEG_INFINITY, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_falls_and_the_banks_hold() {
        for seed in 0..8 {
            let bed = RiverBed {
                seed,
                boulders: 0,
                ..RiverBed::default()
            };
            let grid = bed.heights().unwrap();
            let floor = |x: f32| grid.height(x, bed.channel_center(x));
            for i in 0..36 {
                let x = 0.1 * i as f32;
                let fall = floor(x) - floor(x + 0.4);
                assert!(
                    (fall - 0.4 * bed.slope).abs() <= 2.5 * bed.roughness,
                    "{fall} at {x}"
                );
                for side in [-1.0, 1.0] {
                    let z = bed.channel_center(x) + side * 0.9 * bed.channel_width;
                    if z.abs() < 0.5 * bed.width {
                        assert!(grid.height(x, z) > floor(x) + 0.5 * bed.channel_depth);
                    }
                }
            }
        }
    }

    #[test]
    fn mesh_is_whole_and_seeds_differ() {
        let bed = RiverBed::default();
        let report = bed.build().unwrap().check();
        assert_eq!(report.triangles, 2 * 100 * 50);
        assert_eq!(report.border_edges, 2 * (100 + 50));
        assert_eq!(report.degenerate_triangles + report.non_finite_vertices, 0);
        assert!(report.is_oriented());
        assert_eq!(bed.heights().unwrap(), bed.heights().unwrap());
        let other = RiverBed {
            seed: 1,
            ..bed.clone()
        };
        assert_ne!(bed.heights().unwrap(), other.heights().unwrap());
    }

    #[test]
    fn boulders_stand_out() {
        let bed = RiverBed::default();
        let bare = RiverBed {
            boulders: 0,
            ..bed.clone()
        };
        let [with, without] = [bed.heights().unwrap(), bare.heights().unwrap()];
        let rises = with
            .heights
            .iter()
            .zip(&without.heights)
            .map(|(a, b)| a - b);
        let highest = rises.clone().fold(0.0, f32::max);
        assert!(rises.clone().all(|r| r >= 0.0));
        assert!(highest > 0.3 * bed.boulder_radius && highest < 1.5 * bed.boulder_radius);
    }

    #[test]
    fn impossible_beds() {
        let tiny = RiverBed {
            spacing: 1e-6,
            ..RiverBed::default()
        };
        assert!(tiny.build().is_err());
        let nan = RiverBed {
            slope: f32::NAN,
            ..RiverBed::default()
        };
        assert!(nan.build().is_err());
    }
}
