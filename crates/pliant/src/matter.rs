//! The views of matter: all that contact, fields, observers, pictures and files know.

use glam::Vec3;

use crate::fluid::Fluid;
use crate::math::Xyz;
use crate::observe::Totals;

/// The points of any matter: what fields, contact, observers and pictures see.
#[derive(Clone, Copy, Debug)]
pub struct PointsView<'a> {
    /// Positions in metres.
    pub position: Xyz<'a>,
    /// Velocities in m/s.
    pub velocity: Xyz<'a>,
    /// 1 / mass in 1/kg; 0 for points that nothing moves.
    pub inverse_mass: PerPoint<'a>,
    /// Radius of contact in metres.
    pub radius: f32,
    /// Names of the points, kept when memory is re-ordered.
    pub id: &'a [u32],
}

/// A number that all points share, or one for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PerPoint<'a> {
    /// The same for every point.
    Same(f32),
    /// One per point.
    Each(&'a [f32]),
}

impl PerPoint<'_> {
    /// The number of point `i`.
    #[inline]
    pub fn get(&self, i: usize) -> f32 {
        match self {
            PerPoint::Same(v) => *v,
            PerPoint::Each(values) => values[i],
        }
    }
}

/// The surface of matter that has one: triangles over its points.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceView<'a> {
    /// The points that the triangles refer to.
    pub points: PointsView<'a>,
    /// Three point indices per triangle, counter-clockwise from outside.
    pub triangles: &'a [[u32; 3]],
}

/// What every kind of matter shows of itself.
pub trait Matter {
    /// Name in reports and files.
    fn name(&self) -> &str;
    /// Its points.
    fn points(&self) -> PointsView<'_>;
    /// Its surface, if it keeps one.
    fn surface(&self) -> Option<SurfaceView<'_>>;
    /// Further numbers per point, by name, for files and colours.
    fn scalars(&self) -> Vec<(&'static str, Vec<f32>)>;
    /// Its mass, energies and momentum.
    fn totals(&self, gravity: Vec3) -> Totals {
        Totals::of(&self.points(), gravity)
    }
    /// Heap memory held, in bytes.
    fn bytes(&self) -> usize;
}

impl Matter for Fluid {
    fn name(&self) -> &str {
        &self.settings().name
    }

    fn points(&self) -> PointsView<'_> {
        PointsView {
            position: self.positions(),
            velocity: self.velocities(),
            inverse_mass: PerPoint::Each(self.inverse_masses()),
            radius: self.particle_radius(),
            id: self.ids(),
        }
    }

    fn surface(&self) -> Option<SurfaceView<'_>> {
        None
    }

    fn scalars(&self) -> Vec<(&'static str, Vec<f32>)> {
        let mut scalars = vec![
            ("density", self.densities().to_vec()),
            ("pressure", self.pressures().collect()),
        ];
        if self.liquids().len() > 1 {
            let liquid = self.liquid_of().iter().map(|&l| f32::from(l));
            scalars.push(("liquid", liquid.collect()));
        }
        if self.concentrations().iter().any(|&c| c != 0.0) {
            scalars.push(("concentration", self.concentrations().to_vec()));
        }
        scalars
    }

    fn bytes(&self) -> usize {
        Fluid::bytes(self)
    }
}
