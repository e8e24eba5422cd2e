//! What a probe reads of a deformable body.

use glam::{DVec3, Vec3};

use super::extent::Extent;
use super::probe::{Quantity, quantity};
use crate::slots::Handle;
use crate::solid::Solid;
use crate::world::{Matter, World};

pub(super) const SOLID: [Quantity; 15] = [
    quantity("volume_m3", "volume", "", "m³"),
    quantity("center_x_m", "centre of mass", "x", "m"),
    quantity("center_y_m", "centre of mass", "y", "m"),
    quantity("center_z_m", "centre of mass", "z", "m"),
    quantity("kinetic_j", "energy", "kinetic", "J"),
    quantity("elastic_j", "energy", "elastic", "J"),
    quantity("inverted", "inverted elements", "", "1"),
    quantity("largest_displacement_m", "displacement", "largest", "m"),
    quantity("largest_von_mises_pa", "stress", "von Mises", "Pa"),
    quantity("reaction_x_n", "reaction", "x", "N"),
    quantity("reaction_y_n", "reaction", "y", "N"),
    quantity("reaction_z_n", "reaction", "z", "N"),
    quantity("grab_x_n", "force of grabs", "x", "N"),
    quantity("grab_y_n", "force of grabs", "y", "N"),
    quantity("grab_z_n", "force of grabs", "z", "N"),
];

/// The numbers of [`SOLID`]; stress and reaction are 0 where the model has none.
pub(super) fn read(world: &World, handle: Handle<Solid>) -> Option<Vec<f64>> {
    let solid = world.solid(handle)?;
    let center = Extent::of(&solid.points()).map_or(DVec3::NAN, |e| e.center);
    let energy = solid.energy();
    let largest = |values: &mut dyn Iterator<Item = f32>| f64::from(values.fold(0.0, f32::max));
    let moved = largest(&mut (0..solid.len()).map(|i| solid.displacement(i).length()));
    let stress = solid.von_mises().unwrap_or_default();
    let pulled: Vec3 = world
        .grabs()
        .filter(|g| g.solid() == handle)
        .map(|g| g.force())
        .sum();
    let mut values = vec![solid.volume()];
    values.extend(center.to_array());
    values.extend([
        energy.kinetic,
        energy.total() - energy.kinetic,
        solid.inverted() as f64,
        moved,
        largest(&mut stress.into_iter()),
    ]);
    values.extend(solid.reaction().as_dvec3().to_array());
    values.extend(pulled.as_dvec3().to_array());
    Some(values)
}
