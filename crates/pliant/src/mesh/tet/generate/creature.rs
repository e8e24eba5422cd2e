//! A body with a head, ears, limbs and a tail, of irregular elements: it stands in
//! for the scanned animals of Lesmes 2013, which cannot be shipped.

use glam::Vec3;

use crate::math::Aabb;
use crate::mesh::generate::Rules;
use crate::mesh::generate::noise::{signed, unit};
use crate::mesh::tet::stuffing::stuff;
use crate::mesh::tet::tet_mesh::signed_volume;
use crate::mesh::{ShapeError, TetMesh};

/// A creature that stands on the origin and looks along +z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Creature {
    /// Height in metres.
    pub height: f32,
    /// Thickness of torso and limbs; 1 is plump, 0.5 is lean.
    pub girth: f32,
    /// Size of the elements in metres.
    pub cell: f32,
    /// Share of the inner points that are moved nearly as far as their elements
    /// allow, which leaves flat ones, 0 to 1; no two of them share an element.
    pub irregularity: f32,
    /// Another seed, other flat elements.
    pub seed: u64,
}

/// A creature with the counts of a mesh of Lesmes 2013, table 5.1, within 5 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreaturePreset {
    /// 4742 points, 19507 tetrahedra, 27452 edges.
    Bunny,
    /// 7133 points, 35081 tetrahedra, 45417 edges.
    Bunny2,
    /// 25156 points, 102453 tetrahedra, 143704 edges.
    Dragon,
    /// 33276 points, 145835 tetrahedra, 197798 edges.
    Armadillo,
}

impl CreaturePreset {
    /// All of them with their names.
    pub const ALL: [(&'static str, CreaturePreset); 4] = [
        ("bunny", CreaturePreset::Bunny),
        ("bunny2", CreaturePreset::Bunny2),
        ("dragon", CreaturePreset::Dragon),
        ("armadillo", CreaturePreset::Armadillo),
    ];

    /// Its parameters, for a body of `height` metres.
    pub fn creature(self, height: f32) -> Creature {
        let (girth, cell, irregularity) = match self {
            CreaturePreset::Bunny => (0.65, 0.0249, 0.02),
            CreaturePreset::Bunny2 => (1.6, 0.0376, 0.02),
            CreaturePreset::Dragon => (0.25, 0.0072, 0.3),
            CreaturePreset::Armadillo => (0.4, 0.0089, 0.2),
        };
        Creature {
            height,
            girth,
            cell: cell * height,
            irregularity,
            seed: 0,
        }
    }
}

/// A limb: a cone with round ends.
struct Limb {
    from: Vec3,
    to: Vec3,
    radii: [f32; 2],
}

impl Limb {
    /// Distance to the surface, positive inside (to first order where it tapers).
    fn depth(&self, p: Vec3, girth: f32) -> f32 {
        let along = self.to - self.from;
        let t = ((p - self.from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        let radius = self.radii[0] + t * (self.radii[1] - self.radii[0]);
        girth * radius - p.distance(self.from + t * along)
    }
}

/// Body parts of a creature of height 1; those off the middle are there twice.
const LIMBS: [Limb; 9] = {
    const fn limb(from: [f32; 3], to: [f32; 3], radii: [f32; 2]) -> Limb {
        Limb {
            from: Vec3::from_array(from),
            to: Vec3::from_array(to),
            radii,
        }
    }
    [
        // Torso, neck and head, snout.
        limb([0.0, 0.36, 0.0], [0.0, 0.56, 0.02], [0.17, 0.14]),
        limb([0.0, 0.62, 0.02], [0.0, 0.76, 0.05], [0.09, 0.12]),
        limb([0.0, 0.75, 0.10], [0.0, 0.72, 0.20], [0.07, 0.04]),
        // Ear, upper arm, lower arm, leg, foot, tail.
        limb([0.06, 0.84, 0.03], [0.12, 0.97, -0.02], [0.04, 0.03]),
        limb([0.12, 0.57, 0.02], [0.28, 0.52, 0.04], [0.06, 0.045]),
        limb([0.28, 0.52, 0.04], [0.32, 0.40, 0.16], [0.042, 0.032]),
        limb([0.09, 0.30, 0.0], [0.14, 0.08, 0.02], [0.085, 0.06]),
        limb([0.14, 0.05, 0.02], [0.16, 0.045, 0.15], [0.05, 0.042]),
        limb([0.0, 0.28, -0.12], [0.0, 0.16, -0.40], [0.07, 0.028]),
    ]
};

/// How softly body parts join, as a share of the height.
const BLEND: f32 = 0.03;

impl Creature {
    /// Makes the mesh.
    pub fn build(&self) -> Result<TetMesh, ShapeError> {
        let rules = Rules("creature");
        rules.positive("height", self.height)?;
        rules.between("girth", self.girth, 0.2, 2.0)?;
        rules.below(
            "cell",
            self.cell,
            "a tenth of the height",
            0.1 * self.height,
        )?;
        rules.between("irregularity", self.irregularity, 0.0, 1.0)?;
        let bounds = Aabb {
            min: Vec3::new(-0.5, -0.1, -0.55),
            max: Vec3::new(0.5, 1.1, 0.35),
        };
        let cell = self.cell / self.height;
        let mut mesh = stuff(&bounds, cell, |p| self.depth(p))
            .map_err(|e| rules.fault("cell", self.cell, format!("possible: {e}")))?;
        self.roughen(&mut mesh);
        let lowest = mesh.aabb().min.y;
        Ok(mesh.map_points(|p| self.height * (p - lowest * Vec3::Y)))
    }

    /// Smooth union of all limbs, polynomial in the overlap of each with the rest.
    fn depth(&self, p: Vec3) -> f32 {
        let mirrored = Vec3::new(p.x.abs(), p.y, p.z);
        LIMBS.iter().fold(f32::NEG_INFINITY, |rest, limb| {
            let own = limb.depth(mirrored, self.girth);
            let overlap = (BLEND - (own - rest).abs()).max(0.0);
            own.max(rest) + overlap * overlap / (4.0 * BLEND)
        })
    }

    /// Moves some inner points until an element around them is nearly flat.
    fn roughen(&self, mesh: &mut TetMesh) {
        let mut inner = vec![true; mesh.points.len()];
        for &v in mesh.surface().iter().flatten() {
            inner[v as usize] = false;
        }
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.points.len()];
        for (t, tet) in mesh.tets.iter().enumerate() {
            for &v in tet {
                around[v as usize].push(t as u32);
            }
        }
        // An element is made flat once only: twice would leave nothing of it.
        let mut flat = vec![false; mesh.tets.len()];
        for v in 0..mesh.points.len() {
            let key = 4 * v as u64;
            let chosen = inner[v] && unit(self.seed, key) < self.irregularity;
            if !chosen || around[v].iter().any(|&t| flat[t as usize]) {
                continue;
            }
            around[v].iter().for_each(|&t| flat[t as usize] = true);
            let random = |i| signed(self.seed, key + i);
            let way = Vec3::new(random(1), random(2), random(3)).normalize_or(Vec3::X);
            // The volume of an element is linear in the place of one corner.
            let start = mesh.points[v];
            let mut room = f64::INFINITY;
            for &t in &around[v] {
                let before = mesh.volume_of(t as usize);
                let moved = mesh.tets[t as usize].map(|c| {
                    let p = mesh.points[c as usize];
                    if c as usize == v { p + way } else { p }
                });
                let slope = signed_volume(moved) - before;
                if slope < 0.0 {
                    room = room.min(before / -slope);
                }
            }
            mesh.points[v] = start + 0.97 * (room as f32).min(1.0) * way;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creatures_have_the_counts_of_the_source_and_bad_elements() {
        let table = [
            [4742, 19507, 27452],
            [7133, 35081, 45417],
            [25156, 102_453, 143_704],
            [33276, 145_835, 197_798],
        ];
        for ((name, preset), counts) in CreaturePreset::ALL.into_iter().zip(table) {
            let mesh = preset.creature(1.0).build().unwrap();
            mesh.validate().unwrap();
            assert!(mesh.surface_mesh().check().is_closed());
            let ours = [mesh.points.len(), mesh.tets.len(), mesh.edges().len()];
            for (ours, theirs) in ours.into_iter().zip(counts) {
                let off = ours as f64 / f64::from(theirs) - 1.0;
                assert!(off.abs() < 0.05, "{name}: {ours} of {theirs}");
            }
            let q = mesh.quality(10);
            assert!(
                q.radius_ratio.min < 0.1 && q.radius_ratio.mean > 0.5,
                "{name}"
            );
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let base = CreaturePreset::Bunny.creature(1.0);
        for wrong in [
            Creature {
                height: 0.0,
                ..base
            },
            Creature { girth: 9.0, ..base },
            Creature { cell: 0.5, ..base },
            Creature { cell: 1e-6, ..base },
        ] {
            assert!(wrong.build().is_err(), "{wrong:?}");
        }
    }
}
