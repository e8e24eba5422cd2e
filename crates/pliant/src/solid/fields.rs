//! Strain and stress of every element, for display and files.

use glam::{Mat3A, Vec3};

use super::element::{Elements, norm_squared, trace};
use super::state::{Body, Solid};

/// A symmetric tensor: xx, yy, zz, xy, yz, zx.
pub type Symmetric = [f32; 6];

impl Solid {
    /// Deformation gradient of every element.
    fn deformations(&self) -> Vec<Mat3A> {
        let own;
        let elements = match &self.body {
            Body::Elastic(body) => &body.elements,
            Body::Springs(_) | Body::Matched(_) => {
                own = Elements::new(&self.mesh);
                &own
            }
        };
        let of = |(t, tet): (usize, &[u32; 4])| {
            let u = tet.map(|v| self.displacement[v as usize]);
            Mat3A::IDENTITY + elements.displacement_gradient(t, u)
        };
        self.mesh.tets.iter().enumerate().map(of).collect()
    }

    /// Green's strain `(Fᵀ F - 1) / 2` of every element; the same however the body is
    /// turned.
    pub fn strains(&self) -> Vec<Symmetric> {
        let of = |f: Mat3A| symmetric((f.transpose() * f - Mat3A::IDENTITY) * 0.5);
        self.deformations().into_iter().map(of).collect()
    }

    /// Cauchy stress of every element in Pa, as of the last step; only finite elements have it.
    pub fn stresses(&self) -> Option<Vec<Symmetric>> {
        let cauchy = self.cauchy_stresses()?;
        Some(cauchy.into_iter().map(symmetric).collect())
    }

    /// Cauchy stress `P Fᵀ / J`; a flat element has no definite one.
    fn cauchy_stresses(&self) -> Option<Vec<Mat3A>> {
        let Body::Elastic(body) = &self.body else {
            return None;
        };
        let of = |(f, state): (Mat3A, &super::assembly::ElementState)| {
            let j = f.determinant().abs().max(1e-3);
            state.stress * f.transpose() * (1.0 / j)
        };
        let both = self.deformations().into_iter().zip(&body.state);
        Some(both.map(of).collect())
    }

    /// Von Mises stress of every element in Pa; only finite elements have it.
    pub fn von_mises(&self) -> Option<Vec<f32>> {
        let of = |stress: Mat3A| (1.5 * norm_squared(deviator(stress))).sqrt();
        Some(self.cauchy_stresses()?.into_iter().map(of).collect())
    }

    /// Numbers per element by name, for files and colours: present over rest volume,
    /// equivalent strain (von Mises), and for finite elements pressure and von Mises
    /// stress in Pa.
    pub fn element_fields(&self) -> Vec<(&'static str, Vec<f32>)> {
        let strain = |f: Mat3A| {
            let green = (f.transpose() * f - Mat3A::IDENTITY) * 0.5;
            (2.0 / 3.0 * norm_squared(deviator(green))).sqrt()
        };
        let strains = self.deformations().into_iter().map(strain).collect();
        let mut fields = vec![("volume_ratio", self.volume_ratios()), ("strain", strains)];
        if let (Some(cauchy), Some(stress)) = (self.cauchy_stresses(), self.von_mises()) {
            let pressure = cauchy.into_iter().map(|c| -trace(c) / 3.0).collect();
            fields.push(("pressure", pressure));
            fields.push(("von_mises", stress));
        }
        fields
    }

    /// Force of obstacles and pins on the points whose place at rest is chosen, mean
    /// over the last sub-step, in N; only finite elements know it.
    pub fn reaction_where(&self, chosen: impl Fn(Vec3) -> bool) -> Vec3 {
        let Body::Elastic(body) = &self.body else {
            return Vec3::ZERO;
        };
        if self.last_step <= 0.0 {
            return Vec3::ZERO;
        }
        let points = self.mesh.points.iter().zip(&body.reaction);
        let sum = points
            .filter(|(p, _)| chosen(**p))
            .fold(glam::Vec3A::ZERO, |sum, (_, r)| sum + *r);
        Vec3::from(sum) / self.last_step
    }

    /// Mean force of obstacles and pins on the body in the last sub-step, in N;
    /// only finite elements know it.
    pub fn reaction(&self) -> Vec3 {
        self.reaction_where(|_| true)
    }
}

fn deviator(m: Mat3A) -> Mat3A {
    m - Mat3A::from_diagonal(Vec3::splat(trace(m) / 3.0))
}

fn symmetric(m: Mat3A) -> Symmetric {
    let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis];
    [
        x.x,
        y.y,
        z.z,
        0.5 * (x.y + y.x),
        0.5 * (y.z + z.y),
        0.5 * (z.x + x.z),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;
    use crate::solid::{Elastic, Environment, SolidModel, SolidSettings, Springs};
    use glam::Quat;

    fn body(model: SolidModel) -> Solid {
        let mesh = TetBlock {
            min: Vec3::ZERO,
            max: Vec3::new(0.3, 0.1, 0.1),
            cells: [3, 1, 1],
        };
        Solid::new(SolidSettings::new("bar", model), mesh.build().unwrap()).unwrap()
    }

    #[test]
    fn a_stretched_and_turned_bar_has_the_strain_of_its_stretch() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.3, 1.0, -2.0));
        for model in [
            SolidModel::Elastic(Elastic::default()),
            SolidModel::Springs(Springs::default()),
        ] {
            let mut body = body(model);
            body.put(|p| turn * (p * Vec3::new(1.2, 1.0, 1.0)), |_| Vec3::ZERO);
            for strain in body.strains() {
                let exact = [0.5 * (1.2f32 * 1.2 - 1.0), 0.0, 0.0, 0.0, 0.0, 0.0];
                for (found, exact) in strain.into_iter().zip(exact) {
                    assert!((found - exact).abs() < 1e-5, "{strain:?}");
                }
            }
            for (name, values) in body.element_fields() {
                assert_eq!(values.len(), body.rest().tets.len(), "{name}");
            }
        }
    }

    /// A bar that hangs from its end bears all its weight there, and none at the other.
    #[test]
    fn reaction_and_stress_of_a_hanging_bar() {
        let mut bar = body(SolidModel::Elastic(Elastic {
            young: 1e6,
            poisson: 0.0,
            mass_damping: 20.0,
            tolerance: 1e-6,
            ..Elastic::default()
        }));
        bar.pin_where(|p| p.x < 0.01);
        let gravity = Vec3::new(9.81, 0.0, 0.0);
        let around = Environment::new(gravity, &[], []);
        (0..400).for_each(|_| drop(bar.advance(0.005, &around)));
        let weight = 9.81 * 3.0;
        let held = bar.reaction_where(|p| p.x < 0.01);
        // The pinned points hold their own weight without it reaching the solver.
        assert!(held.x < -0.8 * weight && held.x > -1.01 * weight, "{held}");
        assert!(bar.reaction_where(|p| p.x > 0.01).length() < 1e-3 * weight);
        let stresses = bar.stresses().unwrap();
        let mean = |low: f32, high: f32| {
            let rest = bar.rest();
            let inside: Vec<f32> = (0..rest.tets.len())
                .filter(|&t| {
                    let x = rest.corners(t).iter().map(|p| p.x).sum::<f32>() / 4.0;
                    x > low && x < high
                })
                .map(|t| stresses[t][0])
                .collect();
            inside.iter().sum::<f32>() / inside.len() as f32
        };
        // The middle cell bears the outer half of the bar: weight / 2 over 0.01 m².
        let exact = 0.5 * weight / 0.01;
        assert!(
            (mean(0.1, 0.2) / exact - 1.0).abs() < 0.05,
            "{}",
            mean(0.1, 0.2)
        );
    }
}
