//! A round tube along a path.

use glam::Vec3;

use super::curve::{Spline, frames, sample_at, tangents};
use super::skin::{End, angle, skin};
use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// A tube of constant radius along a line of points or the smooth curve through
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tube {
    /// Points of the axis in metres. Default a line of 1 m along x.
    pub path: Vec<Vec3>,
    /// Radius of the vertices, in metres. Default 0.1.
    pub radius: f32,
    /// Vertices per ring. Default 24.
    pub segments: u32,
    /// Rings on the smooth curve (a natural cubic spline) through the points, evenly
    /// spaced; `None` for straight pieces with a mitred ring at each point.
    /// Default `None`.
    pub smooth_rings: Option<u32>,
    /// Whether flat ends close the tube. Default true.
    pub capped: bool,
}

impl Default for Tube {
    fn default() -> Self {
        Tube {
            path: vec![Vec3::ZERO, Vec3::X],
            radius: 0.1,
            segments: 24,
            smooth_rings: None,
            capped: true,
        }
    }
}

impl Tube {
    /// A mesh that faces outwards, of `2 * segments * (rings - 1)` triangles without
    /// and `2 * segments * rings` with ends. Bends tighter than the radius, where the
    /// wall would cross itself, are refused.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("tube");
        rules.positive("radius", self.radius)?;
        rules.count("segments", self.segments, 3)?;
        rules.count("path", self.path.len() as u32, 2)?;
        for &p in &self.path {
            rules.finite("path", p)?;
        }
        if let Some(w) = self.path.windows(2).find(|w| w[0] == w[1]) {
            return Err(rules.fault("path", w[0], "without the same point twice in a row"));
        }
        let segments = self.segments as usize;
        let points = match self.smooth_rings {
            Some(n) => {
                rules.count("smooth_rings", n, 2)?;
                self.smooth_points(n as usize)
            }
            None => self.mitred_points(),
        };
        let axis = |ring: usize| {
            let ring = &points[ring * segments..][..segments];
            ring.iter().sum::<Vec3>() / segments as f32
        };
        let rings = points.len() / segments;
        let centers: Vec<Vec3> = (0..rings).map(axis).collect();
        for ring in 1..rings {
            let forwards = centers[ring] - centers[ring - 1];
            for j in 0..segments {
                let wall = points[ring * segments + j] - points[(ring - 1) * segments + j];
                let advance = wall.dot(forwards);
                // Not a number where the path turns straight back.
                if advance.is_nan() || advance <= 0.0 {
                    return Err(rules.fault(
                        "radius",
                        self.radius,
                        format!("below the bend radius of the path near {}", centers[ring]),
                    ));
                }
            }
        }
        let (start, end) = if self.capped {
            (End::Apex(centers[0]), End::Apex(centers[rings - 1]))
        } else {
            (End::Open, End::Open)
        };
        Ok(skin(points, segments, start, end))
    }

    fn smooth_points(&self, rings: usize) -> Vec<Vec3> {
        let samples = Spline::through(&self.path).samples(64);
        let length = samples[samples.len() - 1].arc;
        let centers: Vec<Vec3> = (0..rings)
            .map(|i| length * i as f64 / (rings - 1) as f64)
            .map(|arc| sample_at(&samples, arc).point.as_vec3())
            .collect();
        let segments = self.segments as usize;
        let mut points = Vec::with_capacity(rings * segments);
        for f in frames(&centers, &tangents(&centers)) {
            for j in 0..segments {
                let (sin, cos) = angle(j, segments).sin_cos();
                points.push(f.point + self.radius * (cos * f.normal + sin * f.binormal));
            }
        }
        points
    }

    /// Rings in the planes that halve the angles between the straight pieces.
    fn mitred_points(&self) -> Vec<Vec3> {
        let path = &self.path;
        let last = path.len() - 1;
        let directions: Vec<Vec3> = path.windows(2).map(|w| (w[1] - w[0]).normalize()).collect();
        // A frame per straight piece, carried over each corner.
        let mut piece_directions = vec![directions[0]];
        piece_directions.extend_from_slice(&directions);
        let piece_frames = frames(path, &piece_directions);
        let segments = self.segments as usize;
        let mut points = Vec::with_capacity(path.len() * segments);
        for (i, (&p, f)) in path.iter().zip(&piece_frames).enumerate() {
            let before = directions[i.saturating_sub(1)];
            let after = directions[i.min(last - 1)];
            let plane = before + after;
            for j in 0..segments {
                let (sin, cos) = angle(j, segments).sin_cos();
                let across = self.radius * (cos * f.normal + sin * f.binormal);
                // Along the piece until it meets the corner's plane.
                let along = -across.dot(plane) / before.dot(plane);
                points.push(p + across + along * before);
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::{PI, TAU};

    fn polygon_area(tube: &Tube) -> f32 {
        let n = tube.segments as f32;
        0.5 * n * (TAU / n).sin() * tube.radius.powi(2)
    }

    #[test]
    fn straight_tube_is_a_prism() {
        let tube = Tube::default();
        let report = tube.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!((report.vertices, report.triangles), (50, 96));
        assert!((report.volume - polygon_area(&tube)).abs() < 1e-6);
    }

    #[test]
    fn open_tube_has_two_rims() {
        let tube = Tube {
            capped: false,
            ..Tube::default()
        };
        let report = tube.build().unwrap().check();
        assert_eq!((report.border_edges, report.triangles), (48, 48));
        assert!(report.is_oriented() && report.degenerate_triangles == 0);
    }

    #[test]
    fn mitred_bends_keep_the_section() {
        let tube = Tube {
            path: vec![
                Vec3::ZERO,
                Vec3::X,
                Vec3::new(1.0, 1.0, 0.0),
                Vec3::new(1.0, 1.0, 2.0),
            ],
            ..Tube::default()
        };
        let report = tube.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        // Mitred pieces: section times length of the axis.
        assert!((report.volume - 4.0 * polygon_area(&tube)).abs() < 1e-5);
    }

    #[test]
    fn smooth_bend_follows_pappus() {
        let path = (0..=8).map(|i| {
            let a = PI * i as f32 / 8.0;
            Vec3::new(a.cos(), 0.0, a.sin())
        });
        let tube = Tube {
            path: path.collect(),
            smooth_rings: Some(200),
            ..Tube::default()
        };
        let report = tube.build().unwrap().check();
        assert!(report.is_sound(), "{report}");
        assert_eq!(report.triangles, 2 * 24 * 200);
        assert!((report.volume / (PI * polygon_area(&tube)) - 1.0).abs() < 0.005);
    }

    #[test]
    fn impossible_tubes() {
        let path = vec![Vec3::ZERO, Vec3::X, Vec3::new(0.9, 0.05, 0.0), -Vec3::X];
        for smooth_rings in [None, Some(100)] {
            let tube = Tube {
                path: path.clone(),
                radius: 0.3,
                smooth_rings,
                ..Tube::default()
            };
            let message = tube.build().unwrap_err().to_string();
            assert!(message.starts_with("tube: radius is 0.3, but must be below the bend radius"));
        }
        for path in [
            vec![Vec3::ZERO],
            vec![Vec3::ZERO, Vec3::ZERO],
            vec![Vec3::ZERO, Vec3::X, Vec3::ZERO],
            vec![Vec3::ZERO, Vec3::INFINITY],
        ] {
            let tube = Tube {
                path,
                ..Tube::default()
            };
            assert!(tube.build().is_err());
        }
    }
}
