//! What a liquid is at a place, interpolated from the particles around it.

use glam::Vec3;

use super::Fluid;
use crate::space::{CellGrid, NeighbourSearch};

/// Where the particles fill less than this share of space there is no liquid.
const LEAST_FILLING: f32 = 0.05;

/// What [`Fluid::sample`] finds at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Density in kg/m³.
    pub density: f32,
    /// Pressure in Pa.
    pub pressure: f32,
    /// Velocity in m/s.
    pub velocity: Vec3,
}

impl Fluid {
    /// Density, pressure and velocity interpolated at `p` (Grahn 2008, 3.1), or
    /// `None` where there is no liquid.
    ///
    /// The first sample after a motion indexes the particles where they are now;
    /// further ones look only at the particles around them.
    ///
    /// ```
    /// use pliant::{Fill, FluidSettings, Material, Region, Vec3, World};
    /// let mut world = World::new();
    /// let water = world.add_fluid(FluidSettings::new(Material::WATER, 0.02))?;
    /// let block = Region::Box { min: Vec3::ZERO, max: Vec3::splat(0.2) };
    /// world.fill(water, &Fill::Region(block))?;
    /// let fluid = world.fluid(water).unwrap();
    /// assert!(fluid.sample(Vec3::splat(0.1)).is_some());
    /// assert!(fluid.sample(Vec3::splat(0.3)).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample(&self, p: Vec3) -> Option<Sample> {
        let h = self.kernels.support_radius;
        let mut sum = 0.0;
        let mut sample = Sample {
            density: 0.0,
            pressure: 0.0,
            velocity: Vec3::ZERO,
        };
        for i in self.around(p) {
            let r_squared = (self.position.get(i) - p).length_squared();
            if r_squared < h * h {
                let volume = 1.0 / (self.inverse_mass[i] * self.density[i]);
                let w = self.kernels.poly6(r_squared) * volume;
                sum += w;
                sample.density += w * self.density[i];
                sample.pressure += w * self.pressure_of(i);
                sample.velocity += w * self.velocity.get(i);
            }
        }
        (sum > LEAST_FILLING).then(|| Sample {
            density: sample.density / sum,
            pressure: sample.pressure / sum,
            velocity: sample.velocity / sum,
        })
    }

    /// All particles within the support radius of `p`, and others, in an order
    /// that depends on nothing but their places.
    pub(crate) fn around(&self, p: Vec3) -> impl Iterator<Item = usize> + '_ {
        let index = self.index.get_or_init(|| {
            let mut index = CellGrid::new();
            index.build(self.positions(), self.kernels.support_radius);
            index
        });
        let rows = index.rows_around(p);
        (0..rows.as_slice().len()).flat_map(move |row| {
            let (start, end) = rows.as_slice()[row];
            let order = &index.order()[start as usize..end as usize];
            order.iter().map(|&i| i as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Obstacle;
    use crate::field::Region;
    use crate::fluid::{Fill, FluidSettings, Material, NewParticle};
    use crate::world::World;

    /// The same sums over all particles.
    fn brute(fluid: &Fluid, p: Vec3) -> Option<[f64; 5]> {
        let h = fluid.support_radius();
        let pressures: Vec<f32> = fluid.pressures().collect();
        let (mut sum, mut weighted) = (0.0, [0.0; 5]);
        for (i, &pressure) in pressures.iter().enumerate() {
            let r_squared = (fluid.positions().get(i) - p).length_squared();
            if r_squared < h * h {
                let density = fluid.densities()[i];
                let v = fluid.velocities().get(i);
                let w = f64::from(fluid.kernels.poly6(r_squared)) / f64::from(density);
                sum += w;
                for (s, q) in weighted.iter_mut().zip([density, pressure, v.x, v.y, v.z]) {
                    *s += w * f64::from(q);
                }
            }
        }
        (sum * f64::from(fluid.particle_mass()) > 0.05).then(|| weighted.map(|s| s / sum))
    }

    fn assert_equals_brute_force(fluid: &Fluid) -> usize {
        let mut wet = 0;
        for k in 0..2000 {
            let place = [0.0, 1.0, 2.0].map(|a| (k as f32 * 0.618_034 + a * 0.37 * k as f32) % 1.0);
            let p = Vec3::from(place) * Vec3::new(0.5, 0.35, 0.3) - 0.05;
            let (found, expected) = (fluid.sample(p), brute(fluid, p));
            assert_eq!(found.is_some(), expected.is_some(), "{p}");
            let (Some(s), Some(expected)) = (found, expected) else {
                continue;
            };
            wet += 1;
            let found = [
                s.density,
                s.pressure,
                s.velocity.x,
                s.velocity.y,
                s.velocity.z,
            ];
            for (f, e) in found.into_iter().zip(expected) {
                assert!((f64::from(f) - e).abs() < 1e-4 * e.abs() + 1e-4, "{f} {e}");
            }
        }
        wet
    }

    #[test]
    fn equals_brute_force_however_the_particles_have_moved() {
        let mut world = World::new();
        world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, 0.02))
            .unwrap();
        let block = Region::Box {
            min: Vec3::ZERO,
            max: Vec3::splat(0.2),
        };
        world.fill(water, &Fill::Region(block)).unwrap();
        assert!(assert_equals_brute_force(world.fluid(water).unwrap()) > 100);
        for _ in 0..5 {
            world.step(0.02).unwrap();
            assert!(assert_equals_brute_force(world.fluid(water).unwrap()) > 100);
        }
        // Particles that came after the last sort are seen too.
        let far = Vec3::new(0.35, 0.05, 0.05);
        assert!(world.fluid(water).unwrap().sample(far).is_none());
        let drop: Vec<NewParticle> = (0..27)
            .map(|i| NewParticle {
                position: far
                    + 0.02 * Vec3::new((i % 3) as f32, (i / 3 % 3) as f32, (i / 9) as f32)
                    - 0.02,
                velocity: Vec3::X,
            })
            .collect();
        world.add_particles(water, &drop);
        let sample = world.fluid(water).unwrap().sample(far).unwrap();
        assert!((sample.velocity - Vec3::X).length() < 1e-5);
        assert!(
            world
                .fluid(water)
                .unwrap()
                .sample(Vec3::splat(1e30))
                .is_none()
        );
    }
}
