//! The books of momentum: where that of liquids and bodies has come from and gone to.

use glam::DVec3;

use crate::fluid::Throat;
use crate::observe::Totals;
use crate::world::{Matter, World};

/// What has happened to the momentum of all liquids, deformable and rigid bodies in the
/// last step, if there are bodies. What they have given to each other does not appear: it
/// must cancel. All in N s.
///
/// ```
/// let mut world = pliant::World::new();
/// world.step(0.01).unwrap();
/// assert_eq!(world.exchange().unaccounted(), glam::DVec3::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exchange {
    /// Momentum before the step, without points that are pinned.
    pub before: DVec3,
    /// Momentum after it.
    pub after: DVec3,
    /// From gravity, fields and loads.
    pub outside: DVec3,
    /// From obstacles, at rest or moving.
    pub walls: DVec3,
    /// From what holds pinned points of bodies.
    pub pins: DVec3,
    /// Brought by nozzles and not taken away by sinks.
    pub inflow: DVec3,
    /// From nozzles to the liquid in them, which they move as they like: what it takes to
    /// hold it against everything that pushes it.
    pub nozzles: DVec3,
    /// Sum of mass times speed after the step, and of the sizes of all impulses above.
    pub size: f64,
}

impl Exchange {
    /// What no entry explains: nothing but rounding, unless a grab, springs or shape
    /// matching hold a body.
    pub fn unaccounted(&self) -> DVec3 {
        let given = self.outside + self.walls + self.pins + self.inflow + self.nozzles;
        self.after - self.before - given
    }

    /// The same as a share of all that has moved and pushed.
    pub fn error(&self) -> f64 {
        if self.size > 0.0 {
            self.unaccounted().length() / self.size
        } else {
            0.0
        }
    }
}

impl World {
    /// The books of the last step.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Opens the books of a step. Without bodies there are none.
    pub(crate) fn open_books(&mut self) {
        self.exchange = Exchange::default();
        if !self.has_bodies() {
            return;
        }
        self.exchange = Exchange {
            before: self.coupled_momentum(),
            ..Exchange::default()
        };
    }

    /// Closes the books of a step: all impulses on obstacles are known.
    pub(crate) fn close_books(&mut self) {
        if !self.has_bodies() {
            return;
        }
        let after = self.coupled_momentum();
        let size = self.coupled(|sum: f64, mass, v| sum + mass * v.length());
        let impulses = self.obstacles.iter().map(|(i, _)| self.obstacle_impulse[i]);
        let books = &mut self.exchange;
        books.after = after;
        books.walls -= impulses.sum::<DVec3>();
        let given = [
            books.outside,
            books.walls,
            books.pins,
            books.inflow,
            books.nozzles,
        ];
        books.size = size + given.iter().map(|j| j.length()).sum::<f64>();
    }

    /// Books what gravity and fields give in a kick of `kick` seconds to liquids that no
    /// nozzle holds, what nozzles do to others in place of it, and what rigid bodies get in
    /// `dt` seconds.
    pub(crate) fn book_outside(&mut self, kick: f32, dt: f32) {
        if !self.has_bodies() {
            return;
        }
        let fields: Vec<_> = self.fields.iter().map(|(_, f)| *f).collect();
        let pull = |place, v| {
            let outer = fields.iter().map(|f| f.acceleration(place, v));
            (self.gravity + outer.sum::<glam::Vec3>()).as_dvec3()
        };
        let open = self.open_throats();
        let (mut given, mut held) = (DVec3::ZERO, DVec3::ZERO);
        for (index, fluid) in self.fluids.iter() {
            let points = fluid.points();
            for i in 0..points.position.len() {
                let (place, v) = (points.position.get(i), points.velocity.get(i));
                let mass = 1.0 / f64::from(points.inverse_mass.get(i));
                let throat = |(k, t): &&(usize, Throat)| *k == index && t.holds(place);
                if let Some((_, throat)) = open.iter().find(throat) {
                    let pulled = f64::from(kick) * fluid.force_acceleration(i).as_dvec3();
                    held += mass * (throat.velocity.as_dvec3() - v.as_dvec3() - pulled);
                    continue;
                }
                given += f64::from(kick) * mass * pull(place, v);
            }
        }
        for (_, rigid) in self.rigids.iter() {
            let motion = rigid.motion();
            if motion.inverse_mass > 0.0 {
                let mass = 1.0 / f64::from(motion.inverse_mass);
                let (place, v) = (motion.center.into(), motion.velocity.into());
                given += f64::from(dt) * mass * pull(place, v);
            }
        }
        self.exchange.outside += given;
        self.exchange.nozzles += held;
    }

    /// Books what bodies of finite elements have got from outside and from their pins, and
    /// liquids from the nozzles that hold them.
    pub(crate) fn book_held(&mut self) {
        if !self.has_bodies() {
            return;
        }
        for (_, fluid) in self.fluids.iter_mut() {
            self.exchange.nozzles += fluid.take_held();
        }
        for (_, solid) in self.solids.iter_mut() {
            let (outside, pins) = solid.take_given();
            self.exchange.outside += outside;
            self.exchange.pins += pins;
        }
    }

    /// True if nozzles or sinks change what there is.
    pub(crate) fn has_flow(&self) -> bool {
        self.nozzles.iter().next().is_some() || self.sinks.iter().next().is_some()
    }

    pub(crate) fn has_bodies(&self) -> bool {
        self.solids.iter().next().is_some() || self.rigids.iter().next().is_some()
    }

    /// Momentum of everything in the books.
    pub(crate) fn coupled_momentum(&self) -> DVec3 {
        let rigids = self.rigids.iter().map(|(_, r)| r.totals(self.gravity));
        let rigids = rigids.map(|t: Totals| t.momentum).sum::<DVec3>();
        self.coupled_points(DVec3::ZERO, |sum, mass, v| sum + mass * v) + rigids
    }

    fn coupled(&self, add: impl Fn(f64, f64, DVec3) -> f64) -> f64 {
        let rigids = self.rigids.iter().map(|(_, r)| r.totals(self.gravity));
        self.coupled_points(0.0, add) + rigids.map(|t| t.momentum.length()).sum::<f64>()
    }

    /// A sum over mass and velocity of all points of liquids and deformable bodies.
    fn coupled_points<T>(&self, start: T, add: impl Fn(T, f64, DVec3) -> T) -> T {
        let fluids = self.fluids.iter().map(|(_, f)| f.points());
        let solids = self.solids.iter().map(|(_, s)| s.points());
        let mut sum = start;
        for points in fluids.chain(solids) {
            for i in 0..points.position.len() {
                let inverse = points.inverse_mass.get(i);
                if inverse > 0.0 {
                    let v = points.velocity.get(i).as_dvec3();
                    sum = add(sum, 1.0 / f64::from(inverse), v);
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};

    use crate::mesh::TetBlock;
    use crate::scene::Scene;
    use crate::solid::{Elastic, Mass, SolidModel, SolidSettings};
    use crate::{Fill, FluidSettings, Material, Region, World};

    /// A block of jelly inside a block of water that flies towards it, without gravity.
    #[test]
    fn liquid_and_body_give_each_other_the_same() {
        let mut world = World::new();
        world.gravity = Vec3::ZERO;
        let water = Material {
            surface_tension: 0.0,
            ..Material::WATER
        };
        let water = world.add_fluid(FluidSettings::new(water, 0.02)).unwrap();
        let region = Region::Box {
            min: Vec3::splat(-0.1),
            max: Vec3::splat(0.1),
        };
        world.fill(water, &Fill::Region(region)).unwrap();
        let block = TetBlock {
            min: Vec3::splat(-0.04),
            max: Vec3::splat(0.04),
            cells: [2, 2, 2],
        };
        let model = SolidModel::Elastic(Elastic::default());
        let settings = SolidSettings {
            mass: Mass::Density(400.0),
            ..SolidSettings::new("jelly", model)
        };
        let jelly = world.add_solid(settings, block.build().unwrap()).unwrap();
        world.clear_bodies();
        let jelly = world.solid_mut(jelly).unwrap();
        jelly.put(|p| p, |_| Vec3::new(0.5, 0.2, 0.0));
        for _ in 0..20 {
            world.step(0.01).unwrap();
            let books = world.exchange();
            assert_eq!([books.outside, books.walls, books.pins], [DVec3::ZERO; 3]);
            assert!(books.error() < 2e-6, "{books:?}");
        }
        // The water has come along.
        let fluid = world.fluids().next().unwrap();
        assert!(crate::world::Matter::totals(fluid, Vec3::ZERO).momentum.x > 0.01);
    }

    /// Müller et al. 2004: no "cooking" in concave corners. Water in a soft pool that
    /// nobody pulls comes to rest, and its books are kept.
    #[test]
    fn water_comes_to_rest_in_concave_corners() {
        let scene = Scene::open("pool", &["solid.0.load=[]".into()]).unwrap();
        let mut world = scene.build().unwrap().world;
        let mut energies = Vec::new();
        for _ in 0..4 {
            let mut sum = 0.0;
            for _ in 0..25 {
                world.step(0.02).unwrap();
                sum += world.totals().kinetic / 25.0;
                assert!(world.exchange().error() < 1e-5, "{:?}", world.exchange());
            }
            energies.push(sum);
        }
        assert_eq!(world.leaked(), 0);
        assert!(energies.windows(2).all(|e| e[1] < e[0]), "{energies:?}");
        let speed = (2.0 * energies[3] / world.totals().mass).sqrt();
        assert!(
            speed < 0.03 * (9.81f64 * 0.165).sqrt(),
            "{speed} {energies:?}"
        );
    }

    fn vessel(set: &str) -> World {
        let scene = Scene::open("vessel", &[set.to_string()]).unwrap();
        scene.build().unwrap().world
    }

    /// Blood at rest begins to fall in a vessel that it sticks to: most of it is far from the
    /// walls and has nothing to lose in the first iteration of the viscous solve.
    #[test]
    fn a_liquid_that_begins_to_move_gives_its_walls_what_it_loses() {
        let mut world = vessel("gravity.acceleration=[0, -9.81, 0]");
        for _ in 0..2 {
            world.step(1.0 / 300.0).unwrap();
            assert!(world.exchange().error() < 3e-6, "{:?}", world.exchange());
        }
    }

    /// Forces within a stiff wall are so large that the rounding of their sum is a thousandth
    /// of all that moves.
    #[test]
    fn a_stiff_wall_gives_itself_no_momentum() {
        let mut world = vessel("solid.0.model.elastic.young=3e6");
        for _ in 0..15 {
            world.step(0.02).unwrap();
            assert!(world.exchange().error() < 1e-6, "{:?}", world.exchange());
        }
    }
}
