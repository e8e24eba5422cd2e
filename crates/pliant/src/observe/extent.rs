//! Where matter is: its centre of mass, the box around it, its front, and how
//! much of it is in a part of space.

use glam::{DVec3, Vec3};

use super::Totals;
use super::chunks::in_chunks;
use crate::contact::Obstacle;
use crate::field::Region;
use crate::fluid::Fluid;
use crate::math::Aabb;
use crate::slots::Handle;
use crate::world::{PointsView, World};

/// Where some matter is.
///
/// ```
/// use pliant::observe::Extent;
/// use pliant::world::Matter;
/// use pliant::{Fill, FluidSettings, Material, Region, Vec3, World};
/// let mut world = World::new();
/// let water = world.add_fluid(FluidSettings::new(Material::WATER, 0.02))?;
/// let block = Region::Box { min: Vec3::ZERO, max: Vec3::splat(0.2) };
/// world.fill(water, &Fill::Region(block))?;
/// let extent = Extent::of(&world.fluid(water).unwrap().points()).unwrap();
/// assert!((extent.center.as_vec3() - Vec3::splat(0.1)).length() < 1e-4);
/// assert!((extent.bounds.max - Vec3::splat(0.2)).length() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Centre of mass in metres.
    pub center: DVec3,
    /// The box around the points and their radius, in metres.
    pub bounds: Aabb,
}

impl Extent {
    /// The extent of these points; `None` if there are none.
    pub fn of(points: &PointsView<'_>) -> Option<Extent> {
        if points.position.is_empty() {
            return None;
        }
        let boxes = in_chunks(points.position.len(), |range| {
            Aabb::of(range.map(|i| points.position.get(i)))
        });
        let bounds = boxes.iter().fold(Aabb::EMPTY, |a, b| a.union(b));
        Some(Extent {
            center: Totals::of(points, Vec3::ZERO).center_of_mass(),
            bounds: bounds.grown(points.radius),
        })
    }
}

/// How far the points and their radius reach along `axis`, measured from the
/// origin in metres; `None` if there are no points or no axis.
pub fn front(points: &PointsView<'_>, axis: Vec3) -> Option<f32> {
    let axis = axis.try_normalize()?;
    let parts = in_chunks(points.position.len(), |range| {
        let along = range.map(|i| axis.dot(points.position.get(i)));
        along.fold(f32::NEG_INFINITY, f32::max)
    });
    let farthest = parts.into_iter().reduce(f32::max)?;
    Some(farthest + points.radius)
}

impl World {
    /// Volume of liquid in a part of space, in m³: particles times the volume that
    /// each stands for.
    pub fn volume_in(&self, region: &Region) -> f64 {
        self.volume_where(|p| region.contains(p))
    }

    /// Volume of liquid inside a closed obstacle, in m³; `None` if the obstacle is
    /// gone or has no inside.
    pub fn volume_inside(&self, obstacle: Handle<Obstacle>) -> Option<f64> {
        let obstacle = self.obstacle(obstacle).filter(|o| o.is_closed())?;
        let near = obstacle.bounds();
        Some(self.volume_where(|p| near.is_none_or(|b| b.contains(p)) && obstacle.contains(p)))
    }

    fn volume_where(&self, inside: impl Fn(Vec3) -> bool + Sync) -> f64 {
        let volume_of = |fluid: &Fluid| {
            let position = fluid.positions();
            let counts = in_chunks(position.len(), |range| {
                range.filter(|&i| inside(position.get(i))).count()
            });
            counts.iter().sum::<usize>() as f64 * f64::from(fluid.particle_volume())
        };
        self.fluids().map(volume_of).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::mesh::IcoSphere;
    use crate::space::Bvh;
    use crate::world::Matter;
    use crate::{Fill, FluidSettings, Material};

    #[test]
    fn the_extent_of_a_block_is_that_of_its_fill() {
        let mut world = World::new();
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, 0.05))
            .unwrap();
        let points = |world: &World, check: &dyn Fn(&PointsView<'_>)| {
            check(&world.fluid(water).unwrap().points());
        };
        points(&world, &|p| {
            assert_eq!(Extent::of(p), None);
            assert_eq!(front(p, Vec3::X), None);
        });
        let (min, max) = (Vec3::new(-1.0, 0.0, 0.5), Vec3::new(0.5, 2.0, 1.0));
        world
            .fill(water, &Fill::Region(Region::Box { min, max }))
            .unwrap();
        points(&world, &|p| {
            let extent = Extent::of(p).unwrap();
            let middle = 0.5 * (min + max);
            assert!((extent.center.as_vec3() - middle).length() < 1e-4);
            assert!((extent.bounds.min - min).length() < 1e-4);
            assert!((extent.bounds.max - max).length() < 1e-4);
            assert!((front(p, 2.0 * Vec3::Y).unwrap() - 2.0).abs() < 1e-4);
            assert!((front(p, -Vec3::X).unwrap() - 1.0).abs() < 1e-4);
            assert_eq!(front(p, Vec3::ZERO), None);
        });
    }

    #[test]
    fn volumes_are_counted_by_particle() {
        let mut world = World::new();
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, 0.05))
            .unwrap();
        let ball = IcoSphere {
            radius: 0.5,
            ..IcoSphere::default()
        };
        let ball = Arc::new(ball.build().unwrap());
        let index = Arc::new(Bvh::build(ball.clone()));
        let volume = f64::from(ball.volume());
        let obstacle = world.add_obstacle(Obstacle::mesh("ball", ball, index, 0.1));
        let block = |half: f32| Region::Box {
            min: Vec3::splat(-half),
            max: Vec3::splat(half),
        };
        world.fill(water, &Fill::Region(block(1.0))).unwrap();
        assert!((world.volume_in(&Region::Everywhere) - 8.0).abs() < 1e-5);
        assert!((world.volume_in(&block(0.5)) - 1.0).abs() < 1e-6);
        // A lattice counts a ball of ten spacings to about a percent.
        let inside = world.volume_inside(obstacle).unwrap();
        assert!((inside / volume - 1.0).abs() < 0.03, "{inside} {volume}");
        world.remove_obstacle(obstacle);
        assert_eq!(world.volume_inside(obstacle), None);
    }
}
