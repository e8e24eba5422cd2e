//! Named quantities to record while a world runs, each with its unit.

use glam::{DVec3, Vec3};

use super::extent::{Extent, front};
use super::solid_probe::{self, SOLID};
use super::{Section, Wetting};
use crate::contact::Obstacle;
use crate::field::Region;
use crate::fluid::Fluid;
use crate::slots::Handle;
use crate::soft::Soft;
use crate::solid::Solid;
use crate::world::{Matter, World};

/// Something to measure, under a name.
///
/// ```
/// use pliant::observe::{Probe, Watch};
/// use pliant::{Fill, FluidSettings, Material, Region, Vec3, World};
/// let mut world = World::new();
/// let water = world.add_fluid(FluidSettings::new(Material::WATER, 0.02))?;
/// let block = Region::Box { min: Vec3::ZERO, max: Vec3::splat(0.2) };
/// world.fill(water, &Fill::Region(block))?;
/// let watch = Watch::Fluid { fluid: water, axis: Some(Vec3::X) };
/// let probe = Probe { name: "water".into(), watch };
/// world.step(0.01)?;
/// for (quantity, value) in probe.quantities().iter().zip(probe.read(&world)) {
///     println!("{} = {value} {}", quantity.column, quantity.unit);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Name of its quantities in tables.
    pub name: String,
    /// What it measures.
    pub watch: Watch,
}

/// What a probe measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Watch {
    /// Density, pressure and velocity at a place; zeros where there is no liquid.
    Point(Vec3),
    /// Flow through a section, and what has passed.
    Section(Handle<Section>),
    /// Force on an obstacle (mean over the last step) and its wetted area.
    Obstacle {
        /// The obstacle.
        obstacle: Handle<Obstacle>,
        /// Its wetting.
        wetting: Handle<Wetting>,
    },
    /// Volume, centre of mass and extent of a liquid, and its front along an axis
    /// if there is one. A liquid without particles is nowhere: its places are NaN.
    Fluid {
        /// The liquid.
        fluid: Handle<Fluid>,
        /// Direction in which the front is looked for.
        axis: Option<Vec3>,
    },
    /// Volume of liquid in a part of space.
    Region(Region),
    /// Volume of liquid inside a closed obstacle.
    Inside(Handle<Obstacle>),
    /// Volume, place, energies, stress and forces of a deformable body.
    Solid(Handle<Solid>),
    /// Volume, shape, energies and pressure of a soft body, and of a lung its named
    /// volumes.
    Soft {
        /// The body.
        soft: Handle<Soft>,
        /// True if it is a lung.
        lung: bool,
    },
}

/// One number of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name and unit in a table: `flow_m3_per_s`.
    pub column: &'static str,
    /// Kind of quantity: numbers of one kind can share an axis.
    pub kind: &'static str,
    /// Which of its kind: `x`; empty if a probe has only one.
    pub part: &'static str,
    /// Unit of the kind.
    pub unit: &'static str,
}

pub(super) const fn quantity(
    column: &'static str,
    kind: &'static str,
    part: &'static str,
    unit: &'static str,
) -> Quantity {
    Quantity {
        column,
        kind,
        part,
        unit,
    }
}

const POINT: [Quantity; 5] = [
    quantity("density_kg_per_m3", "density", "", "kg/m³"),
    quantity("pressure_pa", "pressure", "", "Pa"),
    quantity("velocity_x_m_per_s", "velocity", "x", "m/s"),
    quantity("velocity_y_m_per_s", "velocity", "y", "m/s"),
    quantity("velocity_z_m_per_s", "velocity", "z", "m/s"),
];

const SECTION: [Quantity; 4] = [
    quantity("flow_m3_per_s", "flow", "", "m³/s"),
    quantity("mass_flow_kg_per_s", "mass flow", "", "kg/s"),
    quantity("passed_m3", "volume passed", "", "m³"),
    quantity("passed_kg", "mass passed", "", "kg"),
];

const OBSTACLE: [Quantity; 5] = [
    quantity("force_x_n", "force", "x", "N"),
    quantity("force_y_n", "force", "y", "N"),
    quantity("force_z_n", "force", "z", "N"),
    quantity("wetted_m2", "wetted area", "now", "m²"),
    quantity("ever_wetted_m2", "wetted area", "ever", "m²"),
];

const VOLUME: [Quantity; 1] = [quantity("volume_m3", "volume", "", "m³")];

/// The last one only with an axis.
const FLUID: [Quantity; 11] = [
    VOLUME[0],
    quantity("center_x_m", "centre of mass", "x", "m"),
    quantity("center_y_m", "centre of mass", "y", "m"),
    quantity("center_z_m", "centre of mass", "z", "m"),
    quantity("min_x_m", "extent", "smallest x", "m"),
    quantity("min_y_m", "extent", "smallest y", "m"),
    quantity("min_z_m", "extent", "smallest z", "m"),
    quantity("max_x_m", "extent", "largest x", "m"),
    quantity("max_y_m", "extent", "largest y", "m"),
    quantity("max_z_m", "extent", "largest z", "m"),
    quantity("front_m", "front", "", "m"),
];

/// The last nine only of a lung.
const SOFT: [Quantity; 16] = [
    VOLUME[0],
    quantity("area_m2", "area", "", "m²"),
    quantity("sphericity", "sphericity", "", "1"),
    quantity("bumpiness_deg", "bumpiness", "", "degrees"),
    quantity("kinetic_j", "energy", "kinetic", "J"),
    quantity("elastic_j", "energy", "elastic", "J"),
    quantity("gas_pressure_pa", "gas pressure", "", "Pa"),
    quantity("target_l", "lung volume", "target", "l"),
    quantity("tidal_l", "lung volume", "V_T", "l"),
    quantity("frc_l", "lung volume", "FRC", "l"),
    quantity("tlc_l", "lung volume", "TLC", "l"),
    quantity("rv_l", "lung volume", "RV", "l"),
    quantity("vc_l", "lung volume", "VC", "l"),
    quantity("irv_l", "lung volume", "IRV", "l"),
    quantity("erv_l", "lung volume", "ERV", "l"),
    quantity("ic_l", "lung volume", "IC", "l"),
];

impl Probe {
    /// The numbers that [`Probe::read`] gives, in its order.
    pub fn quantities(&self) -> &'static [Quantity] {
        match self.watch {
            Watch::Point(_) => &POINT,
            Watch::Section(_) => &SECTION,
            Watch::Obstacle { .. } => &OBSTACLE,
            Watch::Fluid { axis: Some(_), .. } => &FLUID,
            Watch::Fluid { axis: None, .. } => &FLUID[..FLUID.len() - 1],
            Watch::Region(_) | Watch::Inside(_) => &VOLUME,
            Watch::Solid(_) => &SOLID,
            Watch::Soft { lung: true, .. } => &SOFT,
            Watch::Soft { lung: false, .. } => &SOFT[..7],
        }
    }

    /// Measures; NaN for what does not exist (any more).
    pub fn read(&self, world: &World) -> Vec<f64> {
        let found = match self.watch {
            Watch::Point(place) => Some(point(world, place)),
            Watch::Section(section) => world.section(section).map(|s| {
                let passed = s.passed();
                vec![
                    s.volume_flow(),
                    s.mass_flow(),
                    passed.net_volume(),
                    passed.net_mass(),
                ]
            }),
            Watch::Obstacle { obstacle, wetting } => world.wetting(wetting).map(|wetting| {
                let mut values = world.force_on(obstacle).as_dvec3().to_array().to_vec();
                values.extend([wetting.now(), wetting.ever()]);
                values
            }),
            Watch::Fluid { fluid, axis } => world.fluid(fluid).map(|f| body(f, axis)),
            Watch::Region(region) => Some(vec![world.volume_in(&region)]),
            Watch::Inside(obstacle) => world.volume_inside(obstacle).map(|v| vec![v]),
            Watch::Solid(solid) => solid_probe::read(world, solid),
            Watch::Soft { soft, .. } => world.soft(soft).map(soft_body),
        };
        found.unwrap_or_else(|| vec![f64::NAN; self.quantities().len()])
    }
}

fn point(world: &World, place: Vec3) -> Vec<f64> {
    let Some(sample) = world.fluids().find_map(|f| f.sample(place)) else {
        return vec![0.0; POINT.len()];
    };
    let mut values = vec![sample.density.into(), sample.pressure.into()];
    values.extend(sample.velocity.as_dvec3().to_array());
    values
}

fn soft_body(soft: &Soft) -> Vec<f64> {
    let energy = soft.energy();
    let mut values = vec![
        soft.volume(),
        soft.area(),
        soft.sphericity(),
        soft.bumpiness(),
        energy.kinetic,
        energy.elastic,
        soft.pressure().into(),
    ];
    if let Some(v) = soft.lung_volumes() {
        values.extend([
            v.target,
            v.tidal,
            v.functional_residual,
            v.total,
            v.residual,
            v.vital,
            v.inspiratory_reserve,
            v.expiratory_reserve,
            v.inspiratory,
        ]);
    }
    values
}

fn body(fluid: &Fluid, axis: Option<Vec3>) -> Vec<f64> {
    let points = fluid.points();
    let mut values = vec![fluid.len() as f64 * f64::from(fluid.particle_volume())];
    let places = Extent::of(&points).map_or([DVec3::NAN; 3], |e| {
        [e.center, e.bounds.min.as_dvec3(), e.bounds.max.as_dvec3()]
    });
    values.extend(places.iter().flat_map(|p| p.to_array()));
    values.extend(axis.map(|axis| front(&points, axis).map_or(f64::NAN, f64::from)));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;
    use crate::solid::{Elastic, SolidModel};
    use crate::{Fill, FluidSettings, Material};

    #[test]
    fn every_probe_reads_as_many_numbers_as_it_names() {
        let mut world = World::new();
        let floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, 0.05))
            .unwrap();
        let block = Region::Box {
            min: Vec3::ZERO,
            max: Vec3::splat(0.3),
        };
        world.fill(water, &Fill::Region(block)).unwrap();
        let section = Section::disc(Vec3::splat(0.15), Vec3::Y, 0.1).unwrap();
        let section = world.add_section(section);
        let wetting = world.add_wetting(floor, 0.05).unwrap();
        let soft = crate::SolidSettings::new("body", SolidModel::Elastic(Elastic::default()));
        let mesh = TetBlock::default().build().unwrap();
        let body = world.add_solid(soft, mesh.map_points(|p| p + 5.0 * Vec3::Y));
        let body = body.unwrap();
        let watches = [
            Watch::Point(Vec3::splat(0.15)),
            Watch::Section(section),
            Watch::Obstacle {
                obstacle: floor,
                wetting,
            },
            Watch::Fluid {
                fluid: water,
                axis: None,
            },
            Watch::Fluid {
                fluid: water,
                axis: Some(Vec3::X),
            },
            Watch::Region(block),
            Watch::Inside(floor),
            Watch::Solid(body),
        ];
        world.step(0.02).unwrap();
        for watch in watches {
            let name = "probe".into();
            let probe = Probe { name, watch };
            let values = probe.read(&world);
            assert_eq!(values.len(), probe.quantities().len());
            assert!(values.iter().all(|v| v.is_finite()), "{watch:?} {values:?}");
        }
        // What is gone is not a number.
        world.remove_section(section);
        let gone = Probe {
            name: "gone".into(),
            watch: Watch::Section(section),
        };
        assert!(gone.read(&world).iter().all(|v| v.is_nan()));
    }
}
