//! A colon: a tube of sacs along a spline with a radius per control point, the
//! procedural colon that Grahn 2008 wished for, a new one for each seed.
//!
//! Three bands of muscle (taeniae) run along the tube and hold it short, so that
//! the wall between them bulges into sacs (haustra), with folds between the sacs of
//! a row. The rows are set off against each other.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::Vec3;

use super::colon_anatomy::{ColonControl, course, vary};
use super::curve::{CurveSample, Frame, Spline, frames, sample_at};
use super::noise::{along, signed, smooth, unit};
use super::skin::{End, angle, skin};
use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// Rows of sacs between the three taeniae.
const ROWS: usize = 3;

/// How near the wall comes to the middle of a bend, as a part of the bend radius.
const CLOSEST: f32 = 0.85;

/// A closed colon with haustra, from the rectum to the caecum.
///
/// ```
/// use pliant::mesh::Colon;
///
/// let (mesh, path) = Colon::coarse(7).build_with_path()?;
/// assert_eq!(mesh.triangles.len(), 8_040);
/// assert!(mesh.check().faces_outwards());
/// let rectum = path.points[10];
/// # Ok::<(), pliant::mesh::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Colon {
    /// The axis before variation, from the rectum to the caecum. The tube ends at the
    /// first and last points with round caps. Default the course of a typical colon,
    /// about 0.30 m wide and 0.35 m tall.
    pub controls: Vec<ColonControl>,
    /// Vertices per ring. Default 20.
    pub segments: u32,
    /// Rings of vertices. Default 201. The mesh has exactly `2 * segments * rings`
    /// triangles.
    pub rings: u32,
    /// Length of a sac along the axis, in radii. Default 1.45.
    pub haustrum_length: f32,
    /// Which person's colon. Default 0.
    pub seed: u64,
    /// How much persons differ, from 0 (all have `controls`) to 1. Default 1.
    pub variation: f32,
}

/// The axis of a colon, one entry per ring and one for the tip at each end, from
/// the rectum to the caecum.
#[derive(Clone, Debug, PartialEq)]
pub struct ColonPath {
    /// Points of the axis, inside the colon (the tips on its wall), in metres.
    pub points: Vec<Vec3>,
    /// Radius of a ball about the point that stays inside the wall, in metres; 0 at
    /// the tips.
    pub radii: Vec<f32>,
    /// Unit directions of the axis, towards the caecum.
    pub tangents: Vec<Vec3>,
}

impl Default for Colon {
    fn default() -> Self {
        Colon {
            controls: course(),
            segments: 20,
            rings: 201,
            haustrum_length: 1.45,
            seed: 0,
            variation: 1.0,
        }
    }
}

/// A ring's place on the axis.
struct Station {
    frame: Frame,
    /// Length of the axis up to here, in metres.
    arc: f32,
    /// Towards the middle of the axis's bend, its length 1 / bend radius.
    bend: Vec3,
    /// Mean radius of the tube here, in metres.
    radius: f32,
    /// Depth of the folds, as a fraction of the radius.
    fold_depth: f32,
    /// Number of sacs up to here.
    sacs: f32,
    /// 1 on the tube, falling to 0 at the tips like a circle.
    cap: f32,
}

impl Colon {
    /// The colon of 8,040 triangles, as in Grahn 2008: 201 rings of 20.
    pub fn coarse(seed: u64) -> Colon {
        Colon {
            seed,
            ..Colon::default()
        }
    }

    /// The colon of 40,000 triangles, the size of Grahn's original mesh: 400 rings
    /// of 50.
    pub fn fine(seed: u64) -> Colon {
        Colon {
            segments: 50,
            rings: 400,
            seed,
            ..Colon::default()
        }
    }

    /// A closed mesh of exactly `2 * segments * rings` triangles that faces outwards.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        Ok(self.build_with_path()?.0)
    }

    /// The mesh and its axis.
    pub fn build_with_path(&self) -> Result<(TriMesh, ColonPath), ShapeError> {
        let stations = self.stations()?;
        let segments = self.segments as usize;
        let last = stations.len() - 1;
        let rings = &stations[1..last];
        let mut points = Vec::with_capacity(rings.len() * segments);
        for station in rings {
            for j in 0..segments {
                let theta = angle(j, segments);
                let r = station.cap * self.wall(station, theta);
                let (sin, cos) = theta.sin_cos();
                let f = &station.frame;
                points.push(f.point + r * (cos * f.normal + sin * f.binormal));
            }
        }
        let path = ColonPath {
            points: stations.iter().map(|s| s.frame.point).collect(),
            radii: free_radii(&stations, &points),
            tangents: stations.iter().map(|s| s.frame.tangent).collect(),
        };
        let mesh = skin(
            points,
            segments,
            End::Apex(stations[0].frame.point),
            End::Apex(stations[last].frame.point),
        );
        Ok((mesh, path))
    }

    /// The axis alone.
    pub fn path(&self) -> Result<ColonPath, ShapeError> {
        Ok(self.build_with_path()?.1)
    }

    /// Distance of the wall from the axis at angle `theta`, in metres.
    fn wall(&self, station: &Station, theta: f32) -> f32 {
        let row = (theta / TAU * ROWS as f32) as usize % ROWS;
        let key = self.seed ^ ((row as u64 + 1) << 32);
        // 0 on a taenia, 1 over most of the row between two.
        let across = 1.0 - (0.5 * ROWS as f32 * theta).cos().abs().powi(3);
        // Rows are set off by a third of a sac, and each a little irregular.
        let wander = 0.16 * along(key, station.sacs / 1.7);
        let phase = station.sacs + row as f32 / ROWS as f32 + wander;
        // 0 on a fold, 1 over most of the sac between two.
        let sac = 1.0 - (PI * phase).cos().abs().powi(5);
        let size = 0.8 + 0.4 * unit(key, phase.floor() as i64 as u64);
        let bulge = across * sac * size;
        let uneven = 0.03 * along(key ^ 0xff, station.arc / (2.0 * station.radius));
        let free =
            station.radius * (1.0 + station.fold_depth * (2.0 * bulge - 0.8) + uneven * across);
        // On the inside of a bend the wall is squeezed, the more the nearer it comes
        // to the bend's middle, where it would cross itself.
        let (sin, cos) = theta.sin_cos();
        let inwards = cos * station.frame.normal + sin * station.frame.binormal;
        let crowding = free * station.bend.dot(inwards).max(0.0) / CLOSEST;
        free / (1.0 + crowding.powi(4)).sqrt().sqrt()
    }

    /// The largest distance of the wall from the axis, in metres.
    fn reach(station: &Station) -> f32 {
        station.cap * station.radius * (1.03 + 1.6 * station.fold_depth)
    }

    /// The rings' places, with a tip before the first and after the last.
    fn stations(&self) -> Result<Vec<Station>, ShapeError> {
        let rules = Rules("colon");
        self.check(&rules)?;
        let controls = vary(&self.controls, self.seed, self.variation);
        let axis: Vec<Vec3> = controls.iter().map(|c| c.point).collect();
        let samples = Spline::through(&axis).samples(64);
        let at = |arc: f32| sample_at(&samples, f64::from(arc));
        let length = samples[samples.len() - 1].arc as f32;
        let ends = [controls[0].radius, controls[controls.len() - 1].radius];
        if length < 2.0 * (ends[0] + ends[1]) {
            return Err(rules.fault(
                "controls",
                format!("{length} m long"),
                "longer than two diameters",
            ));
        }

        // Rings are even along the wall: over the quarter circle of one cap, the tube,
        // and the quarter circle of the other.
        let around = ends.map(|r| FRAC_PI_2 * r);
        let wall = around[0] + (length - ends[0] - ends[1]) + around[1];
        let count = self.rings as usize + 2;
        let places: Vec<(f32, f32)> = (0..count)
            .map(|i| {
                let along_wall = wall * i as f32 / (count - 1) as f32;
                let from_end = wall - along_wall;
                if along_wall < around[0] {
                    let (sin, cos) = (along_wall / ends[0]).sin_cos();
                    (ends[0] * (1.0 - cos), sin)
                } else if from_end < around[1] {
                    let (sin, cos) = (from_end / ends[1]).sin_cos();
                    (length - ends[1] * (1.0 - cos), sin)
                } else {
                    (along_wall - around[0] + ends[0], 1.0)
                }
            })
            .collect();

        let points: Vec<Vec3> = places.iter().map(|p| at(p.0).point.as_vec3()).collect();
        // Tangents from the curve itself: near the tips rings are too close for
        // differences between them.
        let step = 0.002 * length;
        let directions: Vec<Vec3> = places
            .iter()
            .map(|p| (at(p.0 + step).point - at(p.0 - step).point).as_vec3())
            .map(|d| d.normalize_or(Vec3::Y))
            .collect();
        let sacs = self.sacs(&controls, &samples);
        let bend = |i: usize| {
            let (before, after) = (i.saturating_sub(1), (i + 1).min(count - 1));
            (directions[after] - directions[before]) / (places[after].0 - places[before].0)
        };
        let stations: Vec<Station> = places
            .iter()
            .zip(frames(&points, &directions))
            .enumerate()
            .map(|(i, (&(arc, cap), frame))| {
                let (radius, fold_depth) = between(&controls, at(arc).position as f32);
                Station {
                    frame,
                    arc,
                    bend: bend(i),
                    radius,
                    fold_depth,
                    sacs: interpolate(&sacs, arc),
                    cap,
                }
            })
            .collect();
        self.check_room(&rules, &stations)?;
        Ok(stations)
    }

    /// The number of sacs up to each of some lengths: sacs are as long as the tube is
    /// wide, times [`Colon::haustrum_length`].
    fn sacs(&self, controls: &[ColonControl], samples: &[CurveSample]) -> Vec<(f32, f32)> {
        let mut count = signed(self.seed, u64::MAX).abs();
        let mut arc = 0.0;
        let mut out = Vec::with_capacity(samples.len());
        for s in samples {
            let (radius, _) = between(controls, s.position as f32);
            count += (s.arc as f32 - arc) / (self.haustrum_length * radius);
            arc = s.arc as f32;
            out.push((arc, count));
        }
        out
    }

    fn check(&self, rules: &Rules) -> Result<(), ShapeError> {
        rules.count("segments", self.segments, 3)?;
        rules.count("rings", self.rings, 8)?;
        rules.between("haustrum_length", self.haustrum_length, 0.2, 100.0)?;
        rules.between("variation", self.variation, 0.0, 1.0)?;
        rules.count("controls", self.controls.len() as u32, 2)?;
        for c in &self.controls {
            rules.finite("control point", c.point)?;
            rules.positive("control radius", c.radius)?;
            rules.between("control fold_depth", c.fold_depth, 0.0, 0.6)?;
        }
        match self.controls.windows(2).find(|w| w[0].point == w[1].point) {
            None => Ok(()),
            Some(w) => Err(rules.fault(
                "control point",
                w[0].point,
                "different from the one before it",
            )),
        }
    }

    /// Refuses an axis that bends more tightly than the tube is wide, or leads the
    /// tube through itself.
    fn check_room(&self, rules: &Rules, stations: &[Station]) -> Result<(), ShapeError> {
        for s in stations {
            let bend_radius = s.bend.length().recip();
            if bend_radius <= s.cap * s.radius {
                return Err(rules.fault(
                    "control points",
                    format!("bent to a radius of {bend_radius} m near {}", s.frame.point),
                    format!("bent less tightly than the tube's radius, {} m", s.radius),
                ));
            }
        }
        for (i, a) in stations.iter().enumerate() {
            for b in &stations[i + 1..] {
                let room = Self::reach(a) + Self::reach(b);
                // Up to a half turn about the tightest bend, the tube is its own
                // neighbour.
                let far = b.arc - a.arc > FRAC_PI_2 * room;
                if far && a.frame.point.distance(b.frame.point) < room {
                    return Err(rules.fault(
                        "control points",
                        format!(
                            "close to each other at {} and {}",
                            a.frame.point, b.frame.point
                        ),
                        format!("{room} m apart, not to lead the tube through itself"),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The distance of each station from the nearest corner of the wall, and a tenth
/// less, because the wall is flat between its corners.
fn free_radii(stations: &[Station], wall: &[Vec3]) -> Vec<f32> {
    let last = stations.len() - 1;
    let segments = wall.len() / (last - 1);
    let radius = |s: &Station| {
        let nearby = |other: &Station| (other.arc - s.arc).abs() < 1.5 * s.radius;
        let tips = [&stations[0], &stations[last]].map(|tip| tip.frame.point);
        let rings = stations[1..last].iter().zip(wall.chunks_exact(segments));
        let corners = rings.filter(|r| nearby(r.0)).flat_map(|r| r.1);
        let distances = corners.chain(&tips).map(|c| c.distance(s.frame.point));
        0.9 * distances.fold(f32::INFINITY, f32::min)
    };
    stations.iter().map(radius).collect()
}

/// Radius and fold depth at a control point plus a fraction; never beyond the
/// values of the two.
fn between(controls: &[ColonControl], position: f32) -> (f32, f32) {
    let i = (position as usize).min(controls.len() - 2);
    let t = smooth(position - i as f32);
    let (a, b) = (controls[i], controls[i + 1]);
    (
        a.radius + t * (b.radius - a.radius),
        a.fold_depth + t * (b.fold_depth - a.fold_depth),
    )
}

/// The value at `x` of a table sorted by its first column.
fn interpolate(table: &[(f32, f32)], x: f32) -> f32 {
    let after = table.partition_point(|e| e.0 < x).clamp(1, table.len() - 1);
    let ((x0, y0), (x1, y1)) = (table[after - 1], table[after]);
    y0 + ((x - x0) / (x1 - x0)).clamp(0.0, 1.0) * (y1 - y0)
}

#[cfg(test)]
#[path = "colon_tests.rs"]
mod tests;
