//! Flow through a bounded part of a plane: what crosses it is counted in every
//! sub-step, particle by particle.

use glam::{DVec3, Vec2, Vec3};
use thiserror::Error;

use super::chunks::in_chunks;
use super::{CheckpointError, Decoder, Encoder};
use crate::math::Xyz;
use crate::world::PointsView;

/// Corners may lie this far off their plane, as a share of the polygon's size.
const FLATNESS: f64 = 1e-3;

/// A polygon of less than this share of its size squared has no area.
const THINNEST: f64 = 1e-6;

/// Why a section cannot be.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SectionError {
    /// A radius that no disc has.
    #[error("the radius is {0} m, but must be a finite number above 0")]
    Radius(f32),
    /// No direction at all.
    #[error("the direction is {0}, but must be finite and not zero")]
    Direction(Vec3),
    /// A place that is none.
    #[error("{0} is no place: every number must be finite")]
    Place(Vec3),
    /// Too few corners for an area.
    #[error("a section needs at least 3 corners, but has {0}")]
    TooFewCorners(usize),
    /// Corners on a line.
    #[error("the corners enclose no area")]
    NoArea,
    /// Corners that no plane holds.
    #[error("corner {corner} lies {distance:.3} m off the plane of the corners")]
    NotFlat {
        /// The corner, from 1.
        corner: usize,
        /// Its distance from the plane in metres.
        distance: f64,
    },
}

/// An amount of liquid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// Number of particles.
    pub particles: u64,
    /// Volume in m³ at rest density.
    pub volume: f64,
    /// Mass in kg.
    pub mass: f64,
}

impl Amount {
    fn plus(self, other: Amount) -> Amount {
        Amount {
            particles: self.particles + other.particles,
            volume: self.volume + other.volume,
            mass: self.mass + other.mass,
        }
    }
}

/// What has crossed a section, either way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passage {
    /// Along the section's direction.
    pub forward: Amount,
    /// Against it.
    pub backward: Amount,
}

impl Passage {
    /// Forward minus backward, in m³.
    pub fn net_volume(&self) -> f64 {
        self.forward.volume - self.backward.volume
    }

    /// Forward minus backward, in kg.
    pub fn net_mass(&self) -> f64 {
        self.forward.mass - self.backward.mass
    }

    fn plus(self, other: Passage) -> Passage {
        Passage {
            forward: self.forward.plus(other.forward),
            backward: self.backward.plus(other.backward),
        }
    }
}

/// A disc or a polygon in space that counts the liquid passing through it.
///
/// Every particle's way in every sub-step is tested, so what passes is counted
/// exactly, at any speed. Particles that appear beyond it, out of a nozzle, have
/// not passed.
///
/// ```
/// use pliant::observe::Section;
/// use pliant::{Emitter, FluidSettings, Material, Vec3, World};
/// let mut world = World::new();
/// let water = world.add_fluid(FluidSettings::new(Material::WATER, 0.02))?;
/// let jet = Emitter::new(Vec3::ZERO, Vec3::X, 0.05, 2.0);
/// world.add_emitter(water, jet);
/// let section = Section::disc(Vec3::new(0.2, 0.0, 0.0), Vec3::X, 0.2)?;
/// let section = world.add_section(section);
/// for _ in 0..10 {
///     world.step(0.04)?;
/// }
/// let section = world.section(section).unwrap();
/// println!("{:.2} l/s", 1e3 * section.volume_flow());
/// assert!(section.passed().net_volume() > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    center: Vec3,
    /// Unit vector: liquid that moves along it counts as forward.
    direction: Vec3,
    outline: Outline,
    total: Passage,
    /// During the last step.
    step: Passage,
    /// Length of the last step in seconds.
    step_length: f32,
}

/// The part of the plane that belongs to a section.
#[derive(Clone, Debug, PartialEq)]
enum Outline {
    Disc {
        radius: f32,
    },
    Polygon {
        /// Two unit vectors in the plane.
        axes: [Vec3; 2],
        /// Seen from the centre, along the axes.
        corners: Vec<Vec2>,
    },
}

impl Section {
    /// A disc; liquid that passes along `direction` counts as forward.
    pub fn disc(center: Vec3, direction: Vec3, radius: f32) -> Result<Section, SectionError> {
        if !center.is_finite() {
            return Err(SectionError::Place(center));
        }
        if !(radius.is_finite() && radius > 0.0) {
            return Err(SectionError::Radius(radius));
        }
        let direction = direction
            .try_normalize()
            .ok_or(SectionError::Direction(direction))?;
        Ok(Section::new(center, direction, Outline::Disc { radius }))
    }

    /// A flat polygon, convex or not. Forward is towards the side from which the
    /// corners are seen to run counter-clockwise.
    pub fn polygon(corners: &[Vec3]) -> Result<Section, SectionError> {
        if let Some(&bad) = corners.iter().find(|c| !c.is_finite()) {
            return Err(SectionError::Place(bad));
        }
        if corners.len() < 3 {
            return Err(SectionError::TooFewCorners(corners.len()));
        }
        let places: Vec<DVec3> = corners.iter().map(|c| c.as_dvec3()).collect();
        let center = places.iter().sum::<DVec3>() / places.len() as f64;
        let next = places.iter().cycle().skip(1);
        // Twice the area, along the normal, whatever the shape (Newell's method).
        let normal: DVec3 = places
            .iter()
            .zip(next)
            .map(|(a, b)| (a - center).cross(b - center))
            .sum();
        let size = places
            .iter()
            .map(|c| (c - center).length())
            .fold(0.0, f64::max);
        if normal.length() <= THINNEST * size * size {
            return Err(SectionError::NoArea);
        }
        let normal = normal.normalize();
        for (k, c) in places.iter().enumerate() {
            let distance = (c - center).dot(normal).abs();
            if distance > FLATNESS * size {
                return Err(SectionError::NotFlat {
                    corner: k + 1,
                    distance,
                });
            }
        }
        let (u, v) = normal.any_orthonormal_pair();
        let flat = |c: &DVec3| Vec2::new((c - center).dot(u) as f32, (c - center).dot(v) as f32);
        let outline = Outline::Polygon {
            axes: [u.as_vec3(), v.as_vec3()],
            corners: places.iter().map(flat).collect(),
        };
        Ok(Section::new(center.as_vec3(), normal.as_vec3(), outline))
    }

    fn new(center: Vec3, direction: Vec3, outline: Outline) -> Section {
        Section {
            center,
            direction,
            outline,
            total: Passage::default(),
            step: Passage::default(),
            step_length: 0.0,
        }
    }

    /// The same section with forward on the side that `direction` points to.
    pub fn facing(mut self, direction: Vec3) -> Section {
        if self.direction.dot(direction) < 0.0 {
            self.direction = -self.direction;
        }
        self
    }

    /// Unit vector along which liquid counts as forward.
    pub fn direction(&self) -> Vec3 {
        self.direction
    }

    /// What has passed since it was added.
    pub fn passed(&self) -> Passage {
        self.total
    }

    /// What has passed during the last step.
    pub fn passed_in_step(&self) -> Passage {
        self.step
    }

    /// Mean net flow during the last step, in m³/s.
    pub fn volume_flow(&self) -> f64 {
        self.per_second(self.step.net_volume())
    }

    /// Mean net flow during the last step, in kg/s.
    pub fn mass_flow(&self) -> f64 {
        self.per_second(self.step.net_mass())
    }

    fn per_second(&self, amount: f64) -> f64 {
        if self.step_length > 0.0 {
            amount / f64::from(self.step_length)
        } else {
            0.0
        }
    }

    /// Starts to count a step of `dt` seconds.
    pub(super) fn begin_step(&mut self, dt: f32) {
        self.step = Passage::default();
        self.step_length = dt;
    }

    /// The step is only `dt` seconds long.
    pub(super) fn end_step_after(&mut self, dt: f32) {
        self.step_length = dt;
    }

    /// Counts the points that have crossed on their way from `before`; each stands
    /// for `volume` m³.
    pub(super) fn count(&mut self, before: Xyz<'_>, points: &PointsView<'_>, volume: f32) {
        let parts = in_chunks(points.position.len(), |range| {
            let mut sum = Passage::default();
            for i in range {
                let side = match self.crossed(before.get(i), points.position.get(i)) {
                    Some(true) => &mut sum.forward,
                    Some(false) => &mut sum.backward,
                    None => continue,
                };
                let inverse_mass = f64::from(points.inverse_mass.get(i));
                *side = side.plus(Amount {
                    particles: 1,
                    volume: volume.into(),
                    mass: if inverse_mass > 0.0 {
                        1.0 / inverse_mass
                    } else {
                        0.0
                    },
                });
            }
            sum
        });
        let now = parts.into_iter().fold(Passage::default(), Passage::plus);
        self.step = self.step.plus(now);
        self.total = self.total.plus(now);
    }

    /// Whether the way goes through it, and forward. A place on the plane belongs
    /// to the side ahead: a particle that ends there has passed, and does not pass
    /// again when it goes on.
    #[inline]
    fn crossed(&self, from: Vec3, to: Vec3) -> Option<bool> {
        let height = |p: Vec3| self.direction.dot(p - self.center);
        let (start, end) = (height(from), height(to));
        if (start < 0.0) == (end < 0.0) {
            return None;
        }
        let place = from + start / (start - end) * (to - from);
        self.covers(place - self.center).then_some(start < 0.0)
    }

    /// True if a place on the plane, seen from the centre, is within the outline.
    fn covers(&self, place: Vec3) -> bool {
        match &self.outline {
            Outline::Disc { radius } => place.length_squared() <= radius * radius,
            Outline::Polygon { axes, corners } => {
                let p = Vec2::new(place.dot(axes[0]), place.dot(axes[1]));
                // Inside if a ray along the first axis leaves it once, or three times...
                let next = corners.iter().cycle().skip(1);
                let leaves = |(a, b): &(&Vec2, &Vec2)| {
                    (a.y <= p.y) != (b.y <= p.y)
                        && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)
                };
                corners.iter().zip(next).filter(leaves).count() % 2 == 1
            }
        }
    }

    /// What it is, without what it has counted: for fingerprints.
    pub(super) fn design(&self) -> String {
        // Debug prints numbers so that different ones differ.
        format!("{:?} {:?} {:?}", self.center, self.direction, self.outline)
    }

    pub(super) fn save(&self, out: &mut Encoder) {
        out.f32(self.step_length);
        for passage in [&self.total, &self.step] {
            for amount in [&passage.forward, &passage.backward] {
                out.u64(amount.particles);
                out.f64(amount.volume);
                out.f64(amount.mass);
            }
        }
    }

    pub(super) fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        self.step_length = from.f32()?;
        for passage in [&mut self.total, &mut self.step] {
            for amount in [&mut passage.forward, &mut passage.backward] {
                *amount = Amount {
                    particles: from.u64()?,
                    volume: from.f64()?,
                    mass: from.f64()?,
                };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [Vec3; 4] = [
        Vec3::new(1.0, -1.0, -1.0),
        Vec3::new(1.0, 1.0, -1.0),
        Vec3::new(1.0, 1.0, 1.0),
        Vec3::new(1.0, -1.0, 1.0),
    ];

    #[test]
    fn only_ways_through_the_outline_count() {
        let disc = Section::disc(Vec3::X, 3.0 * Vec3::X, 1.0).unwrap();
        let square = Section::polygon(&SQUARE).unwrap();
        assert!((square.direction() - Vec3::X).length() < 1e-6);
        let way = |y: f32, z: f32| (Vec3::new(0.0, y, z), Vec3::new(3.0, y, z));
        for (section, corner) in [(&disc, None), (&square, Some(true))] {
            for (y, z) in [(0.0, 0.0), (0.7, -0.7), (-0.99, 0.0)] {
                let (from, to) = way(y, z);
                assert_eq!(section.crossed(from, to), Some(true));
                assert_eq!(section.crossed(to, from), Some(false));
                assert_eq!(section.crossed(from, 0.3 * to), None);
            }
            let (from, to) = way(0.9, 0.9);
            assert_eq!(section.crossed(from, to), corner);
            let (from, to) = way(1.01, 0.0);
            assert_eq!(section.crossed(from, to), None);
            // In two steps with a stop on the plane it passes once.
            let stop = Vec3::X;
            assert_eq!(section.crossed(Vec3::ZERO, stop), Some(true));
            assert_eq!(section.crossed(stop, 2.0 * Vec3::X), None);
        }
        assert_eq!(square.facing(-Vec3::X).direction(), -Vec3::X);
    }

    #[test]
    fn a_polygon_may_have_a_notch() {
        let mut corners = SQUARE.to_vec();
        corners.push(Vec3::X);
        let notched = Section::polygon(&corners).unwrap();
        let passes = |y: f32, z: f32| {
            let p = Vec3::new(0.0, y, z);
            notched.crossed(p, p + 2.0 * Vec3::X).is_some()
        };
        assert!(passes(0.5, 0.0) && passes(-0.5, 0.6) && passes(-0.5, -0.6));
        assert!(!passes(-0.5, 0.0));
    }

    #[test]
    fn sections_that_cannot_be_are_refused() {
        let disc = |c, d, r| Section::disc(c, d, r).unwrap_err();
        assert_eq!(disc(Vec3::ZERO, Vec3::X, 0.0), SectionError::Radius(0.0));
        assert!(matches!(
            disc(Vec3::ZERO, Vec3::ZERO, 1.0),
            SectionError::Direction(_)
        ));
        assert!(matches!(
            disc(Vec3::NAN, Vec3::X, 1.0),
            SectionError::Place(_)
        ));
        let polygon = |c: &[Vec3]| Section::polygon(c).unwrap_err();
        assert_eq!(polygon(&SQUARE[..2]), SectionError::TooFewCorners(2));
        let line = [Vec3::ZERO, Vec3::ONE, 2.0 * Vec3::ONE];
        assert_eq!(polygon(&line), SectionError::NoArea);
        assert_eq!(polygon(&[Vec3::Y; 3]), SectionError::NoArea);
        let mut bent = SQUARE;
        bent[2].x = 1.5;
        assert!(matches!(polygon(&bent), SectionError::NotFlat { .. }));
    }
}
