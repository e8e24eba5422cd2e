//! What can be measured of a soft body.

use std::f64::consts::PI;

use glam::{Vec3, Vec3A};

use super::settings::Scaling;
use super::state::Soft;

/// Energies of a soft body in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftEnergy {
    /// Of motion.
    pub kinetic: f64,
    /// Of stretched springs, with α.
    pub elastic: f64,
}

impl Soft {
    /// Enclosed volume in m³; of an open surface that of the cone to its first point.
    pub fn volume(&self) -> f64 {
        let about = self.position[0];
        let wide = |v: u32| Vec3::from(self.position[v as usize] - about).as_dvec3();
        let six = |t: &[u32; 3]| wide(t[0]).dot(wide(t[1]).cross(wide(t[2])));
        self.topology.triangles.iter().map(six).sum::<f64>() / 6.0
    }

    /// Area in m².
    pub fn area(&self) -> f64 {
        let at = |v: u32| self.position[v as usize];
        let triangles = self.topology.triangles.iter();
        triangles
            .map(|&[a, b, c]| 0.5 * f64::from((at(b) - at(a)).cross(at(c) - at(a)).length()))
            .sum()
    }

    /// Area of the ball of the same volume over its own: 1 for a ball, less for all else.
    pub fn sphericity(&self) -> f64 {
        let volume = self.volume().max(0.0);
        PI.cbrt() * (6.0 * volume).powf(2.0 / 3.0) / self.area().max(1e-30)
    }

    /// Unit normals of the points.
    pub fn normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3A::ZERO; self.len()];
        for &[a, b, c] in &self.topology.triangles {
            let [p, q, r] = [a, b, c].map(|v| self.position[v as usize]);
            let n = (q - p).cross(r - p);
            for v in [a, b, c] {
                normals[v as usize] += n;
            }
        }
        let unit = |n: Vec3A| Vec3::from(n).normalize_or_zero();
        normals.into_iter().map(unit).collect()
    }

    /// Angle in degrees between the normal of each point and the mean normal of those
    /// around it: nothing on a smooth surface, however curved (the gradient map of Mesit
    /// 2010, 6.4.3).
    pub fn bumpiness_of_points(&self) -> Vec<f32> {
        let normals = self.normals();
        (0..self.len())
            .map(|i| {
                let links = self.topology.links_of(i).iter();
                let mean = links.fold(Vec3::ZERO, |sum, l| sum + normals[l.other as usize]);
                let (n, mean) = (normals[i], mean.normalize_or_zero());
                n.cross(mean).length().atan2(n.dot(mean)).to_degrees()
            })
            .collect()
    }

    /// Root mean square of [`Soft::bumpiness_of_points`] in degrees.
    pub fn bumpiness(&self) -> f64 {
        let squares = self.bumpiness_of_points().into_iter();
        let sum: f64 = squares.map(|b| f64::from(b) * f64::from(b)).sum();
        (sum / self.len() as f64).sqrt()
    }

    /// Mean length of the edges around each point over that at the start.
    pub fn stretches(&self) -> Vec<f32> {
        (0..self.len())
            .map(|i| {
                let links = self.topology.links_of(i);
                let of = |l: &super::topology::Link| {
                    let j = l.other as usize;
                    let now = self.position[i].distance(self.position[j]);
                    now / self.start[i].distance(self.start[j])
                };
                links.iter().map(of).sum::<f32>() / links.len().max(1) as f32
            })
            .collect()
    }

    /// Kinetic and elastic energy.
    pub fn energy(&self) -> SoftEnergy {
        let mut energy = SoftEnergy::default();
        for i in 0..self.len() {
            if self.inverse_mass[i] > 0.0 {
                let v = Vec3::from(self.velocity[i]).as_dvec3();
                energy.kinetic += 0.5 * f64::from(self.topology.mass[i]) * v.length_squared();
            }
        }
        for spring in &self.topology.springs {
            let [i, j] = spring.ends.map(|e| self.position[e as usize]);
            let pull = f64::from(i.distance(j) - spring.rest);
            energy.elastic += 0.5 * f64::from(spring.stiffness) * pull * pull;
        }
        energy.elastic *= f64::from(self.settings.controls.alpha);
        energy
    }

    /// Inner forces on all points at the present state in N, for a sub-step of `h`
    /// seconds: all but gravity.
    pub fn inner_forces(&mut self, h: f32) -> Vec<Vec3> {
        self.find_forces(self.damping(h), h);
        self.force.iter().map(|&f| f.into()).collect()
    }

    /// True if its numbers are those of Mesit 2010 per point and spring.
    pub fn is_literal(&self) -> bool {
        self.settings.scaling == Scaling::Literal
    }
}
