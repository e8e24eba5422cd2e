//! How much of an obstacle's surface liquid touches, now and ever.
//!
//! The surface is divided into patches of about one spacing: cells of a plane,
//! parts of a mesh's triangles. A patch is wet if a particle is in front of (or
//! behind) its middle, near enough to be of the layer that lies on the wall.

use glam::{DVec2, DVec3, Vec2, Vec3};
use rayon::prelude::*;
use thiserror::Error;

use super::occupancy::Occupancy;
use super::{CheckpointError, Decoder, Encoder};
use crate::contact::Obstacle;
use crate::crew::Spread;
use crate::fluid::Fluid;
use crate::mesh::TriMesh;
use crate::slots::Handle;

/// A particle nearer than this many spacings touches a wall: the first layer rests
/// at half a spacing, the second lies at one and a half.
const NEAR: f32 = 0.95;

/// A particle wets the patches whose middle is within this many spacings of its
/// own place on the wall. A square lattice leaves no hole wider than √½ spacings.
const ACROSS: f32 = 0.71;

/// Longest edge of a patch of a mesh in patch sizes: two such right triangles are
/// about a cell of a plane.
const LONGEST_EDGE: f64 = 1.5;

/// No mesh is divided into more patches than this; they are made larger instead.
const MOST_PATCHES: u64 = 1 << 20;

/// A particle wets no more cells of a plane than this to each side, however small
/// the cells.
const MOST_CELLS: f64 = 8.0;

/// Why an obstacle's wetting cannot be watched.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WettingError {
    /// The obstacle is gone.
    #[error("the obstacle does not exist any more")]
    NoObstacle,
    /// Patches of no size.
    #[error("patches of {0} m cannot be; give the spacing of the liquid")]
    PatchSize(f32),
}

/// The wetted area of one obstacle; see [`World::add_wetting`](crate::World::add_wetting).
#[derive(Clone, Debug)]
pub struct Wetting {
    obstacle: Handle<Obstacle>,
    patch_size: f32,
    patches: Patches,
    now: f64,
}

#[derive(Clone, Debug)]
enum Patches {
    Plane(Cells),
    Mesh(Parts),
}

/// Square cells of a plane.
#[derive(Clone, Debug)]
struct Cells {
    side: f64,
    /// Cells ever wet, sorted.
    ever: Vec<[i64; 2]>,
}

/// Triangles of a mesh, divided.
#[derive(Clone, Debug)]
struct Parts {
    triangle: Vec<u32>,
    /// The middle of the part, as shares of the triangle's first and last edge.
    middle: Vec<Vec2>,
    /// In m².
    area: Vec<f32>,
    ever: Vec<bool>,
    /// Place and normal of each, if the obstacle never moves.
    still: Vec<(Vec3, Vec3)>,
}

impl Wetting {
    /// Watches `obstacle` in patches of `patch_size` metres.
    pub(super) fn new(
        handle: Handle<Obstacle>,
        obstacle: &Obstacle,
        patch_size: f32,
    ) -> Result<Wetting, WettingError> {
        if !(patch_size.is_finite() && patch_size > 0.0) {
            return Err(WettingError::PatchSize(patch_size));
        }
        let patches = match (obstacle.as_plane(), obstacle.triangles()) {
            (Some(_), _) => Patches::Plane(Cells {
                side: patch_size.into(),
                ever: Vec::new(),
            }),
            (None, Some(mesh)) => {
                let mut parts = Parts::of(mesh, patch_size);
                if !obstacle.is_moving() {
                    let all = 0..parts.triangle.len();
                    parts.still = all.map(|k| parts.place(mesh, k)).collect();
                }
                Patches::Mesh(parts)
            }
            (None, None) => return Err(WettingError::NoObstacle),
        };
        Ok(Wetting {
            obstacle: handle,
            patch_size,
            patches,
            now: 0.0,
        })
    }

    /// The obstacle it watches.
    pub fn obstacle(&self) -> Handle<Obstacle> {
        self.obstacle
    }

    /// Area that liquid touches now, in m².
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Area that liquid has ever touched, in m².
    pub fn ever(&self) -> f64 {
        match &self.patches {
            Patches::Plane(cells) => cells.ever.len() as f64 * cells.side * cells.side,
            Patches::Mesh(parts) => {
                let wet = parts.area.iter().zip(&parts.ever).filter(|(_, e)| **e);
                wet.map(|(a, _)| f64::from(*a)).sum()
            }
        }
    }

    /// Looks again at the obstacle, if it is still there, and at all `fluids`.
    pub(super) fn update(&mut self, obstacle: Option<&Obstacle>, fluids: &[&Fluid]) {
        let plane = obstacle.and_then(Obstacle::as_plane);
        let mesh = obstacle.and_then(Obstacle::triangles_now);
        self.now = match (&mut self.patches, plane, mesh) {
            (Patches::Plane(cells), Some((normal, offset)), _) => {
                cells.update(normal, offset, fluids)
            }
            (Patches::Mesh(parts), None, Some(mesh)) => parts.update(&mesh, fluids),
            _ => 0.0,
        };
    }

    /// What it is, without what it has seen: for fingerprints.
    pub(super) fn design(&self) -> String {
        format!("{} in {:?}", self.obstacle.index(), self.patch_size)
    }

    pub(super) fn save(&self, out: &mut Encoder) {
        match &self.patches {
            Patches::Plane(cells) => {
                out.u64(cells.ever.len() as u64);
                let coordinates = cells.ever.iter().flatten();
                coordinates.for_each(|&c| out.u64(c.cast_unsigned()));
            }
            Patches::Mesh(parts) => {
                for bits in parts.ever.chunks(32) {
                    let set = bits.iter().enumerate().filter(|(_, wet)| **wet);
                    out.u32(set.fold(0, |word, (bit, _)| word | 1 << bit));
                }
            }
        }
    }

    pub(super) fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        match &mut self.patches {
            Patches::Plane(cells) => {
                let count = from.count(16)?;
                cells.ever.clear();
                for _ in 0..count {
                    let cell = [from.u64()?.cast_signed(), from.u64()?.cast_signed()];
                    cells.ever.push(cell);
                }
            }
            Patches::Mesh(parts) => {
                for bits in parts.ever.chunks_mut(32) {
                    let word = from.u32()?;
                    for (bit, wet) in bits.iter_mut().enumerate() {
                        *wet = word >> bit & 1 == 1;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Cells {
    /// Adds what is wet now, and returns its area.
    fn update(&mut self, normal: Vec3, offset: f32, fluids: &[&Fluid]) -> f64 {
        let (u, v) = normal.any_orthonormal_pair();
        let mut wet: Vec<[i64; 2]> = Vec::new();
        for fluid in fluids {
            let spacing = fluid.settings().spacing;
            let position = fluid.positions();
            let touching = (0..fluid.len()).into_par_iter().with_min_len(1024);
            wet.par_extend(touching.flat_map_iter(|i| {
                let p = position.get(i);
                let touches = normal.dot(p) - offset < NEAR * spacing;
                let place = DVec2::new(p.dot(u).into(), p.dot(v).into()) / self.side;
                let across = (f64::from(ACROSS * spacing) / self.side).min(MOST_CELLS);
                touches
                    .then(|| cells_around(place, across))
                    .into_iter()
                    .flatten()
            }));
        }
        wet.par_sort_unstable();
        wet.dedup();
        let now = wet.len() as f64 * self.side * self.side;
        wet.retain(|cell| self.ever.binary_search(cell).is_err());
        if !wet.is_empty() {
            self.ever.append(&mut wet);
            self.ever.par_sort_unstable();
        }
        now
    }
}

/// Unit cells whose middle is within `across` of `place`, and the one that holds it.
fn cells_around(place: DVec2, across: f64) -> impl Iterator<Item = [i64; 2]> {
    let first = (place - across).floor();
    let last = (place + across).floor();
    let home = place.floor();
    let columns = first.x as i64..=last.x as i64;
    columns
        .flat_map(move |x| (first.y as i64..=last.y as i64).map(move |y| [x, y]))
        .filter(move |[x, y]| {
            let corner = DVec2::new(*x as f64, *y as f64);
            corner == home || (corner + 0.5 - place).length_squared() <= across * across
        })
}

impl Parts {
    fn of(mesh: &TriMesh, size: f32) -> Parts {
        let longest: Vec<f64> = (0..mesh.triangles.len())
            .map(|t| {
                let [a, b, c] = mesh.corners(t).map(Vec3::as_dvec3);
                [a - b, b - c, c - a]
                    .map(DVec3::length)
                    .into_iter()
                    .fold(0.0, f64::max)
            })
            .collect();
        let divisions =
            |edge: f64, size: f64| (edge / (LONGEST_EDGE * size)).ceil().clamp(1.0, 1e6);
        let mut size = f64::from(size);
        let patches = |size| {
            longest
                .iter()
                .map(|&e| divisions(e, size).powi(2))
                .sum::<f64>()
        };
        // Every triangle is at least one patch.
        let most = MOST_PATCHES.max(2 * mesh.triangles.len() as u64) as f64;
        while patches(size) > most {
            size *= 2.0;
        }
        let mut parts = Parts {
            triangle: Vec::new(),
            middle: Vec::new(),
            area: Vec::new(),
            ever: Vec::new(),
            still: Vec::new(),
        };
        for (t, &edge) in longest.iter().enumerate() {
            let n = divisions(edge, size) as u32;
            let area = 0.5 * mesh.area_normal(t).length() / (f64::from(n) * f64::from(n)) as f32;
            for middle in middles(n) {
                parts.triangle.push(t as u32);
                parts.middle.push(middle);
                parts.area.push(area);
            }
        }
        parts.ever = vec![false; parts.middle.len()];
        parts
    }

    /// Middle and normal of a part of this mesh.
    fn place(&self, mesh: &TriMesh, k: usize) -> (Vec3, Vec3) {
        let triangle = self.triangle[k] as usize;
        let [a, b, c] = mesh.corners(triangle);
        let share = self.middle[k];
        let middle = a + share.x * (b - a) + share.y * (c - a);
        (middle, mesh.area_normal(triangle).normalize_or_zero())
    }

    /// Adds what is wet now, and returns its area.
    fn update(&mut self, mesh: &TriMesh, fluids: &[&Fluid]) -> f64 {
        let bodies: Vec<_> = fluids
            .iter()
            .filter_map(|f| {
                let spacing = f.settings().spacing;
                let reach = NEAR.hypot(ACROSS) * spacing;
                Some((spacing, Occupancy::of(f.positions(), reach)?))
            })
            .collect();
        let wet: Vec<bool> = (0..self.triangle.len())
            .into_par_iter()
            .with_min_len(1024)
            .spread_map(|k| {
                let still = self.still.get(k).copied();
                let (middle, normal) = still.unwrap_or_else(|| self.place(mesh, k));
                bodies.iter().any(|(spacing, points)| {
                    points.any(middle, |p| touches(p, *spacing, middle, normal))
                })
            });
        let mut now = 0.0;
        for ((wet, ever), area) in wet.iter().zip(&mut self.ever).zip(&self.area) {
            *ever |= wet;
            now += if *wet { f64::from(*area) } else { 0.0 };
        }
        now
    }
}

/// Whether a particle at `p` lies on the patch.
fn touches(p: Vec3, spacing: f32, middle: Vec3, normal: Vec3) -> bool {
    let d = p - middle;
    let height = d.dot(normal);
    let across = (d - height * normal).length_squared();
    height.abs() < NEAR * spacing && across <= (ACROSS * spacing).powi(2)
}

/// The middles of the n² equal triangles that make up a triangle, as shares of its
/// first and last edge.
fn middles(n: u32) -> impl Iterator<Item = Vec2> {
    let at =
        move |i: u32, j: u32, third: f32| Vec2::new(i as f32 + third, j as f32 + third) / n as f32;
    (0..n).flat_map(move |j| {
        let upright = (0..n - j).map(move |i| at(i, j, 1.0 / 3.0));
        let turned = (0..(n - j).saturating_sub(1)).map(move |i| at(i, j, 2.0 / 3.0));
        upright.chain(turned)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::mesh::Cuboid;
    use crate::space::Bvh;
    use crate::{Fill, FluidSettings, Material, Region, World};

    fn world_with(obstacle: Obstacle, min: Vec3, max: Vec3) -> (World, Handle<Wetting>) {
        let mut world = World::new();
        let obstacle = world.add_obstacle(obstacle);
        let water = world
            .add_fluid(FluidSettings::new(Material::WATER, 0.05))
            .unwrap();
        world
            .fill(water, &Fill::Region(Region::Box { min, max }))
            .unwrap();
        let wetting = world.add_wetting(obstacle, 0.05).unwrap();
        (world, wetting)
    }

    #[test]
    fn a_box_of_liquid_wets_its_footprint_on_a_plane() {
        for normal in [Vec3::X, Vec3::Y, Vec3::Z] {
            let plane = Obstacle::plane("floor", Vec3::ZERO, normal);
            let (world, wetting) = world_with(plane, Vec3::ZERO, Vec3::new(0.5, 0.3, 0.8));
            let area = world.wetting(wetting).unwrap().now();
            let footprint = (Vec3::new(0.3 * 0.8, 0.5 * 0.8, 0.5 * 0.3)).dot(normal);
            assert!((area - f64::from(footprint)).abs() < 1e-6, "{area}");
            assert_eq!(world.wetting(wetting).unwrap().ever(), area);
        }
        let away = Obstacle::plane("floor", Vec3::new(0.0, -0.06, 0.0), Vec3::Y);
        let (world, wetting) = world_with(away, Vec3::ZERO, Vec3::ONE);
        assert_eq!(world.wetting(wetting).unwrap().now(), 0.0);
    }

    #[test]
    fn patches_of_a_mesh_are_finer_than_its_triangles() {
        let tank = Cuboid::new(Vec3::ZERO, Vec3::new(2.0, 1.0, 0.5));
        let mesh = Arc::new(tank.build().unwrap());
        let index = Arc::new(Bvh::build(mesh.clone()));
        let obstacle = Obstacle::mesh("tank", mesh, index, 0.1);
        // A quarter of the floor, and the walls up to 0.4 m.
        let (world, wetting) = world_with(obstacle, Vec3::ZERO, Vec3::new(0.5, 0.4, 0.5));
        let area = world.wetting(wetting).unwrap().now();
        let expected = 0.5 * 0.5 + 0.4 * (0.5 + 0.5 + 0.5);
        // At most one patch wide of doubt along the water line.
        let line = 0.05 * (3.0 * 0.5 + 2.0 * 0.4);
        assert!((area - expected).abs() < line, "{area} {expected}");
    }

    #[test]
    fn parts_make_up_their_triangles() {
        let mesh = TriMesh {
            vertices: vec![Vec3::ZERO, 3.0 * Vec3::X, Vec3::Y, 1e4 * Vec3::ONE],
            triangles: vec![[0, 1, 2], [0, 1, 1], [1, 2, 3]],
        };
        let parts = Parts::of(&mesh, 0.1);
        assert!(parts.middle.len() as u64 <= MOST_PATCHES);
        let area = |p: &Parts| p.area.iter().map(|a| f64::from(*a)).sum::<f64>();
        let whole: f64 = (0..3)
            .map(|t| 0.5 * f64::from(mesh.area_normal(t).length()))
            .sum();
        assert!((area(&parts) / whole - 1.0).abs() < 1e-4);
        let one = TriMesh {
            triangles: vec![[0, 1, 2]],
            ..mesh
        };
        let parts = Parts::of(&one, 0.1);
        assert!(parts.middle.len() > 400);
        let sum: Vec2 = parts.middle.iter().sum();
        let center = sum / parts.middle.len() as f32;
        assert!((center - 1.0 / 3.0).length() < 1e-4);
        assert!(
            parts
                .middle
                .iter()
                .all(|m| m.x > 0.0 && m.y > 0.0 && m.x + m.y < 1.0)
        );
    }

    #[test]
    fn what_was_wet_stays_counted() {
        let floor = Obstacle::plane("floor", Vec3::ZERO, Vec3::Y);
        let (mut world, wetting) = world_with(floor, Vec3::ZERO, Vec3::new(0.2, 0.4, 0.2));
        let start = world.wetting(wetting).unwrap().now();
        let mut ever = start;
        for _ in 0..30 {
            world.step(0.02).unwrap();
            let wet = world.wetting(wetting).unwrap();
            assert!(wet.ever() >= wet.now() && wet.ever() >= ever);
            ever = wet.ever();
        }
        assert!(ever > 2.0 * start, "the column has not spread: {ever}");
        let obstacle = world.wetting(wetting).unwrap().obstacle();
        world.remove_obstacle(obstacle);
        world.step(0.02).unwrap();
        assert_eq!(world.wetting(wetting).unwrap().now(), 0.0);
        assert_eq!(
            world.add_wetting(obstacle, 0.05),
            Err(WettingError::NoObstacle)
        );
        let floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
        assert!(matches!(
            world.add_wetting(floor, f32::NAN),
            Err(WettingError::PatchSize(_))
        ));
    }
}
