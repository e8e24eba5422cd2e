//! What breathes: lungs, and the ribs around them. x is the patient's left, z the front;
//! the spine stands on the y axis behind them.

use std::f32::consts::PI;

use glam::Vec3;

use super::skin::{End, angle, skin};
use super::{EvenSphere, Rules, ShapeError};
use crate::mesh::TriMesh;

/// One lung: narrow at the top, hollow where the diaphragm is, flat towards the heart.
#[derive(Clone, Debug, PartialEq)]
pub struct LungShape {
    /// The patient's left one, at positive x; it is a tenth smaller than the right.
    pub left: bool,
    /// Volume in m³. Default 1.5 litres.
    pub volume: f32,
    /// Number of vertices. Default 1500.
    pub points: u32,
}

impl Default for LungShape {
    fn default() -> Self {
        LungShape {
            left: false,
            volume: 1.5e-3,
            points: 1500,
        }
    }
}

impl LungShape {
    /// A closed mesh that faces outwards and encloses the volume.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        Rules("lung").positive("volume", self.volume)?;
        let ball = EvenSphere {
            center: Vec3::ZERO,
            radius: 1.0,
            points: self.points,
        };
        let mut mesh = ball.build()?;
        for v in &mut mesh.vertices {
            let p = *v;
            let up = 0.5 * (p.y + 1.0);
            let taper = 1.0 - 0.5 * up * up;
            let across = p.x * p.x + p.z * p.z;
            // The dome of the diaphragm lifts the base.
            let hollow = 0.55 * (1.0 - up).powi(2) * (1.0 - across).max(0.0);
            let medial = if p.x < 0.0 { 0.62 } else { 1.0 };
            *v = Vec3::new(
                0.062 * medial * taper * p.x,
                0.135 * (p.y + hollow),
                0.082 * taper * p.z,
            );
        }
        let share = if self.left { 0.95 } else { 1.05 };
        let scale = (share * self.volume / mesh.volume()).cbrt();
        let side = if self.left { 1.0 } else { -1.0 };
        for v in &mut mesh.vertices {
            *v = Vec3::new(side * (scale * v.x + 0.068), scale * v.y, scale * v.z);
        }
        if !self.left {
            mesh.flip();
        }
        Ok(mesh)
    }
}

/// The ribs of one side: tubes from the spine around to the breastbone.
#[derive(Clone, Debug, PartialEq)]
pub struct Ribs {
    /// Those of the patient's left, at positive x.
    pub left: bool,
    /// How many. Default 8.
    pub count: u32,
    /// Radius of a rib, in metres. Default 5 mm.
    pub radius: f32,
}

impl Default for Ribs {
    fn default() -> Self {
        Ribs {
            left: false,
            count: 8,
            radius: 0.005,
        }
    }
}

impl Ribs {
    /// Closed tubes that face outwards.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("ribs");
        rules.count("count", self.count, 1)?;
        rules.below("radius", self.radius, "the gap of 1.5 cm", 0.015)?;
        let side = if self.left { 1.0 } else { -1.0 };
        let mut mesh = TriMesh::default();
        for k in 0..self.count {
            let t = (k as f32 + 0.5) / self.count as f32;
            // Wide below, narrow above; each falls towards the front.
            let (width, depth) = (0.159 - 0.06 * t * t, 0.119 - 0.035 * t * t);
            let height = -0.13 + 0.26 * t;
            let at = |a: f32| {
                let (sin, cos) = a.sin_cos();
                Vec3::new(
                    side * width * sin,
                    height - 0.03 * (1.0 - cos) * 0.5,
                    -depth * cos,
                )
            };
            mesh.append(&tube(at, self.radius));
        }
        if mesh.volume() < 0.0 {
            mesh.flip();
        }
        Ok(mesh)
    }
}

/// A tube around the way from angle 0.15 to 0.92 π.
fn tube(at: impl Fn(f32) -> Vec3, radius: f32) -> TriMesh {
    const RINGS: usize = 24;
    const AROUND: usize = 8;
    let turn = |k: usize| 0.15 + (0.92 * PI - 0.15) * k as f32 / (RINGS - 1) as f32;
    let mut points = Vec::with_capacity(RINGS * AROUND);
    for k in 0..RINGS {
        let a = turn(k);
        let along = (at(a + 0.01) - at(a - 0.01)).normalize_or(Vec3::Z);
        let out = along.cross(Vec3::Y).normalize_or(Vec3::X);
        let up = out.cross(along);
        for j in 0..AROUND {
            let (sin, cos) = angle(j, AROUND).sin_cos();
            points.push(at(a) + radius * (cos * out + sin * up));
        }
    }
    let (first, last) = (at(turn(0)), at(turn(RINGS - 1)));
    skin(points, AROUND, End::Apex(first), End::Apex(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lungs_have_their_volume_and_fit_between_the_ribs() {
        for left in [false, true] {
            let lung = LungShape {
                left,
                ..LungShape::default()
            };
            let mesh = lung.build().unwrap();
            let report = mesh.check();
            assert!(report.is_sound(), "{report}");
            let wanted = 1.5e-3 * if left { 0.95 } else { 1.05 };
            assert!((report.volume - wanted).abs() < 1e-3 * wanted, "{report}");
            let ribs = Ribs {
                left,
                ..Ribs::default()
            };
            let ribs = ribs.build().unwrap();
            let report = ribs.check();
            assert!(report.is_closed() && report.faces_outwards(), "{report}");
            let near = |p: Vec3| {
                let distances = ribs.vertices.iter().map(|r| r.distance(p));
                distances.fold(f32::INFINITY, f32::min)
            };
            let gap = mesh
                .vertices
                .iter()
                .map(|&p| near(p))
                .fold(f32::INFINITY, f32::min);
            assert!(gap > 0.002, "{gap}");
        }
    }
}
