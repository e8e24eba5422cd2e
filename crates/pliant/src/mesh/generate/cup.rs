//! A cup without thickness: the open surface of a soft one.

use std::f32::consts::{FRAC_PI_2, TAU};

use glam::Vec3;

use super::{Rules, ShapeError};
use crate::mesh::TriMesh;

/// An upright cup with a rounded bottom, open at the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cup {
    /// Middle of the bottom, in metres. Default the origin.
    pub base: Vec3,
    /// Radius in metres. Default 0.04.
    pub radius: f32,
    /// Height in metres. Default 0.1.
    pub height: f32,
    /// Radius in metres of the bend between bottom and wall. Default 0.02.
    pub rounding: f32,
    /// Points around the wall; the next multiple of six is taken. Default 48.
    pub segments: u32,
}

impl Default for Cup {
    fn default() -> Self {
        Cup {
            base: Vec3::ZERO,
            radius: 0.04,
            height: 0.1,
            rounding: 0.02,
            segments: 48,
        }
    }
}

impl Cup {
    /// A mesh of nearly equal triangles that faces outwards: the bottom in rings of 6, 12,
    /// 18 ... points, so that none is a sliver.
    pub fn build(&self) -> Result<TriMesh, ShapeError> {
        let rules = Rules("cup");
        rules.finite("base", self.base)?;
        rules.positive("radius", self.radius)?;
        rules.positive("height", self.height)?;
        rules.positive("rounding", self.rounding)?;
        rules.count("segments", self.segments, 12)?;
        if self.rounding > self.radius.min(self.height) {
            let rule = "at most the radius and the height";
            return Err(rules.fault("rounding", self.rounding, rule));
        }
        let inner = self.segments.div_ceil(6) as usize;
        let around = 6 * inner;
        let bottom = self.radius - self.rounding + FRAC_PI_2 * self.rounding;
        let wall = self.height - self.rounding;
        let edge = TAU * self.radius / around as f32;
        let rows = (wall / edge).round().max(1.0) as usize;
        let mut mesh = TriMesh {
            vertices: vec![self.base],
            triangles: Vec::new(),
        };
        let mut rings = vec![(0, 1)];
        for k in 1..=inner + rows {
            let (count, way) = if k <= inner {
                (6 * k, bottom * k as f32 / inner as f32)
            } else {
                (around, bottom + wall * (k - inner) as f32 / rows as f32)
            };
            rings.push((mesh.vertices.len(), count));
            let (radius, height) = self.profile(way);
            for j in 0..count {
                let (sin, cos) = (TAU * j as f32 / count as f32).sin_cos();
                let at = Vec3::new(radius * cos, height, radius * sin);
                mesh.vertices.push(self.base + at);
            }
        }
        for (k, pair) in rings.windows(2).enumerate() {
            if pair[0].1 < pair[1].1 {
                widen(&mut mesh, pair[0], pair[1]);
            } else {
                band(&mut mesh, pair[0], pair[1], k);
            }
        }
        Ok(mesh)
    }

    /// Radius and height of a place by its way along the profile from the middle.
    fn profile(&self, way: f32) -> (f32, f32) {
        let flat = self.radius - self.rounding;
        let bend = FRAC_PI_2 * self.rounding;
        if way <= flat {
            (way, 0.0)
        } else if way < flat + bend {
            let (sin, cos) = ((way - flat) / self.rounding).sin_cos();
            (flat + self.rounding * sin, self.rounding * (1.0 - cos))
        } else {
            (self.radius, self.rounding + way - flat - bend)
        }
    }
}

/// Triangles from a ring of 6 k points (one for k = 0) to the next of 6 more.
fn widen(mesh: &mut TriMesh, inner: (usize, usize), outer: (usize, usize)) {
    let k = outer.1 / 6;
    let (a, b) = (
        |j: usize| (inner.0 + j % inner.1) as u32,
        |j: usize| (outer.0 + j % outer.1) as u32,
    );
    for sector in 0..6 {
        for j in 0..k {
            let (own, out) = (sector * (k - 1) + j, sector * k + j);
            mesh.triangles.push([a(own), b(out), b(out + 1)]);
            if j + 1 < k {
                mesh.triangles.push([a(own), b(out + 1), a(own + 1)]);
            }
        }
    }
}

/// Triangles between two rings of as many points, diagonals in turn.
fn band(mesh: &mut TriMesh, lower: (usize, usize), upper: (usize, usize), row: usize) {
    let n = lower.1;
    for j in 0..n {
        let [a, b] = [j, (j + 1) % n].map(|j| (lower.0 + j) as u32);
        let [d, c] = [j, (j + 1) % n].map(|j| (upper.0 + j) as u32);
        mesh.triangles.extend(if (j + row).is_multiple_of(2) {
            [[a, c, b], [a, d, c]]
        } else {
            [[a, d, b], [b, d, c]]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cup_is_open_at_its_rim_only_and_faces_outwards() {
        let cup = Cup::default();
        let mesh = cup.build().unwrap();
        let report = mesh.check();
        assert_eq!(report.border_edges, 48);
        assert_eq!(report.degenerate_triangles, 0);
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let center = corners
                .map(|v| mesh.vertices[v as usize])
                .iter()
                .sum::<Vec3>()
                / 3.0;
            let inside = Vec3::new(0.0, 0.05, 0.0);
            let normal = mesh.area_normal(t);
            assert!(normal.dot(center - inside) > 0.0, "{t} {center} {normal}");
        }
        let top = mesh.vertices.iter().map(|v| v.y).fold(0.0, f32::max);
        assert!((top - cup.height).abs() < 1e-6);
        // Bottom, bend and wall by their areas (Pappus).
        let (r, c) = (cup.radius, cup.rounding);
        let flat = r - c;
        let bend = TAU * (FRAC_PI_2 * c) * (flat + c * std::f32::consts::FRAC_2_PI);
        let wanted = 0.5 * TAU * flat * flat + bend + TAU * r * (cup.height - c);
        let area: f32 = (0..mesh.triangles.len())
            .map(|t| 0.5 * mesh.area_normal(t).length())
            .sum();
        assert!((area / wanted - 1.0).abs() < 0.01, "{area} {wanted}");
        let tight = Cup {
            rounding: 0.05,
            ..cup
        };
        assert!(tight.build().is_err());
    }
}
