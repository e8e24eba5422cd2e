//! Surfels: small discs on the surface of the colour field, found by Newton steps
//! and split until they are small enough (Grahn 2008, section 6.4).

use glam::Vec3;
use rayon::prelude::*;

use super::blob::{POLY6, finite};
use super::{SurfaceError, SurfaceSettings};
use crate::math::Xyz;
use crate::space::{CellGrid, NeighbourSearch};

/// A disc on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surfel {
    /// Its middle in metres.
    pub position: Vec3,
    /// Unit vector out of the liquid.
    pub normal: Vec3,
    /// In metres.
    pub radius: f32,
}

/// A particle is at the surface if the colour field falls by more than this per
/// spacing (`|n_i| > l` of Grahn 2008).
const SURFACE_SLOPE: f32 = 0.12;
/// Newton steps before a surfel is given up.
const MOST_STEPS: u32 = 12;
/// How near to the iso-value a surfel comes.
const NEAR: f32 = 1e-3;
/// A surfel that has to go farther than this many spacings belongs elsewhere.
const FARTHEST: f32 = 1.5;

/// Surfels all over the surface of particles, none larger than `largest` metres.
/// Uses the spacing, the support and the iso-value of `settings`.
///
/// Every surface particle starts one; a Newton step `x - f ∇f / |∇f|²` takes it to
/// `f = c(x) - iso = 0`; those that do not arrive are dropped; those that are too
/// large are split into four.
pub fn surfels(
    positions: Xyz<'_>,
    settings: &SurfaceSettings,
    largest: f32,
) -> Result<Vec<Surfel>, SurfaceError> {
    settings.check()?;
    let smallest = 0.01 * settings.spacing;
    if largest.is_nan() || largest < smallest {
        return Err(SurfaceError::Setting {
            name: "largest",
            value: largest,
            least: smallest,
            most: f32::INFINITY,
        });
    }
    let points = finite(positions);
    let field = ColourField::new(points.view(), settings);
    let start = 0.75 * settings.spacing;
    let mut found: Vec<Surfel> = (0..points.len())
        .into_par_iter()
        .with_min_len(64)
        .filter_map(|i| {
            let p = points.get(i);
            let (_, slope) = field.at(p);
            if slope.length() * settings.spacing < SURFACE_SLOPE {
                return None;
            }
            let outward = -slope.normalize_or_zero();
            field.project(p + 0.5 * settings.spacing * outward, start)
        })
        .collect();
    while found.first().is_some_and(|s| s.radius > largest) {
        found = found
            .par_iter()
            .with_min_len(64)
            .flat_map_iter(|surfel| {
                let (u, v) = surfel.normal.any_orthonormal_pair();
                let half = 0.5 * surfel.radius;
                let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
                let field = &field;
                corners.into_iter().filter_map(move |(a, b)| {
                    let offset = std::f32::consts::FRAC_1_SQRT_2 * half * (a * u + b * v);
                    // Quarters overlap a little, so that no gap opens.
                    field.project(surfel.position + offset, 0.6 * surfel.radius)
                })
            })
            .collect();
    }
    Ok(found)
}

/// The colour field with round kernels of equal weight, at any place.
struct ColourField {
    grid: CellGrid,
    sorted: Vec<Vec3>,
    support: f32,
    weight: f32,
    iso: f32,
    spacing: f32,
}

impl ColourField {
    fn new(points: Xyz<'_>, settings: &SurfaceSettings) -> ColourField {
        let support = settings.support * settings.spacing;
        let mut grid = CellGrid::new();
        grid.build(points, support);
        let order = grid.order().iter();
        let sorted = order.map(|&i| points.get(i as usize)).collect();
        ColourField {
            grid,
            sorted,
            support,
            weight: POLY6 / settings.support.powi(3),
            iso: settings.iso,
            spacing: settings.spacing,
        }
    }

    /// Value and gradient.
    fn at(&self, p: Vec3) -> (f32, Vec3) {
        let inverse = 1.0 / (self.support * self.support);
        let (mut value, mut slope) = (0.0, Vec3::ZERO);
        for &(from, to) in self.grid.rows_around(p).as_slice() {
            for &q in &self.sorted[from as usize..to as usize] {
                let d = p - q;
                let t = 1.0 - inverse * d.length_squared();
                if t > 0.0 {
                    value += t * t * t;
                    slope -= 6.0 * inverse * t * t * d;
                }
            }
        }
        (self.weight * value, self.weight * slope)
    }

    /// A surfel where the Newton steps from `start` arrive.
    fn project(&self, start: Vec3, radius: f32) -> Option<Surfel> {
        let mut x = start;
        for _ in 0..MOST_STEPS {
            let (value, slope) = self.at(x);
            let steepness = slope.length_squared();
            let off = value - self.iso;
            if off.abs() < NEAR {
                let normal = (-slope).try_normalize()?;
                return Some(Surfel {
                    position: x,
                    normal,
                    radius,
                });
            }
            if steepness < 1e-6 / (self.spacing * self.spacing) {
                return None;
            }
            // Half a spacing at most: beyond, the field is not what it was here.
            let step = (-off / steepness * slope).clamp_length_max(0.5 * self.spacing);
            x += step;
            if x.distance(start) > FARTHEST * self.spacing {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    fn ball(d: f32, radius: f32) -> XyzVec {
        let n = (radius / d).ceil() as i32;
        let mut out = XyzVec::default();
        for z in -n..=n {
            for y in -n..=n {
                for x in -n..=n {
                    let p = d * Vec3::new(x as f32, y as f32, z as f32);
                    if p.length() <= radius {
                        out.push(p);
                    }
                }
            }
        }
        out
    }

    #[test]
    fn surfels_lie_on_the_ball_and_cover_it() {
        let (d, radius) = (0.01, 0.08);
        let settings = SurfaceSettings::new(d);
        let ball = ball(d, radius);
        let volume = ball.len() as f32 * d * d * d;
        let true_radius = (0.75 * volume / std::f32::consts::PI).cbrt();
        let found = surfels(ball.view(), &settings, 0.4 * d).unwrap();
        assert!(found.len() > 2000);
        for s in &found {
            let error = s.position.length() / true_radius - 1.0;
            assert!(error.abs() < 0.08, "{error}");
            assert!(s.normal.dot(s.position.normalize()) > 0.75);
            assert!(s.radius <= 0.4 * d);
        }
        let mean = found.iter().map(|s| s.position.length()).sum::<f32>() / found.len() as f32;
        assert!((mean / true_radius - 1.0).abs() < 0.02, "{mean}");
        // Every direction from the middle meets a surfel.
        for k in 0..200 {
            let y = 1.0 - 2.0 * (k as f32 + 0.5) / 200.0;
            let (sin, cos) = (2.399_963 * k as f32).sin_cos();
            let direction = (1.0 - y * y).sqrt() * Vec3::new(cos, 0.0, sin) + y * Vec3::Y;
            let met = found.iter().any(|s| {
                let t = s.position.dot(s.normal) / direction.dot(s.normal);
                t > 0.0 && (t * direction).distance(s.position) <= s.radius
            });
            assert!(met, "nothing towards {direction}");
        }
    }

    #[test]
    fn nothing_and_nonsense_are_answered() {
        let settings = SurfaceSettings::new(0.1);
        let none = surfels(XyzVec::default().view(), &settings, 0.1).unwrap();
        assert!(none.is_empty());
        assert!(surfels(XyzVec::default().view(), &settings, f32::NAN).is_err());
        assert!(surfels(XyzVec::default().view(), &settings, 0.0).is_err());
    }
}
