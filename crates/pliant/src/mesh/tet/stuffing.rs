//! Tetrahedra inside any closed surface: isosurface stuffing (Labelle & Shewchuk
//! 2007) on a uniform lattice.
//!
//! A body-centred cubic lattice fills space with equal, well-shaped tetrahedra.
//! Lattice points near the surface are warped onto it; elements that the surface
//! still cuts are replaced by the parts inside (`stuffing_stencil.rs`). It needs
//! nothing but the signed distance, so it takes any closed mesh however its
//! triangles look, and dihedral angles stay between about 10 and 165 degrees.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use super::TetMesh;
use super::stuffing_stencil::{Sign, parts};
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::space::Bvh;

/// A cut nearer to a lattice point than this share of the edge moves the point
/// (Labelle & Shewchuk 2007, table 1: safe values for a uniform lattice).
const WARP_LONG: f32 = 0.249_99;
const WARP_SHORT: f32 = 0.411_89;
/// Halvings and secants that place a cut.
const CUT_STEPS: usize = 6;
/// Most lattice points: 24 bytes each.
const MOST_POINTS: f64 = 6e7;
/// Rounds of choosing the lattice for a number of tetrahedra, and how near to it
/// is near enough.
const ROUNDS: usize = 8;
const NEAR_ENOUGH: f64 = 0.02;

/// Why there is no mesh.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StuffingError {
    /// The surface has no inside.
    #[error("tetrahedra need a closed surface that faces outwards: {0}; close the holes first")]
    Open(String),
    /// Too fine.
    #[error(
        "a lattice of {cell} m in a space of {extent} m would have {points:.1e} points, more than \
         6e7; ask for fewer tetrahedra"
    )]
    TooFine {
        /// Distance of lattice points in m.
        cell: f32,
        /// Longest side of the space in m.
        extent: f32,
        /// Number of lattice points.
        points: f64,
    },
    /// Nothing was inside.
    #[error("a lattice of {cell} m finds nothing inside the surface; ask for more tetrahedra")]
    Empty {
        /// Distance of lattice points in m.
        cell: f32,
    },
}

/// A mesh and the lattice it was made on.
#[derive(Clone, Debug, PartialEq)]
pub struct Stuffing {
    /// The tetrahedra.
    pub mesh: TetMesh,
    /// Side of the lattice's cubes in m.
    pub cell: f32,
}

/// Fills a closed surface with about `tets` tetrahedra.
pub fn tetrahedralise(surface: Arc<TriMesh>, tets: usize) -> Result<Stuffing, StuffingError> {
    let report = surface.check();
    if !report.is_closed() {
        return Err(StuffingError::Open(report.problems().join("; ")));
    }
    let bounds = surface.aabb();
    let volume = f64::from(surface.volume().abs());
    // A surface that faces inwards has its inside where distances are positive.
    let inwards = surface.volume() < 0.0;
    let tree = Bvh::build(surface);
    let depth = move |p: Vec3| {
        let d = tree.signed_distance(p).unwrap_or(f32::INFINITY);
        if inwards { d } else { -d }
    };
    by_count(&bounds, volume, tets, depth)
}

/// Fills the space where `depth` is positive with about `tets` tetrahedra; `volume`
/// is a first guess of its volume.
pub(super) fn by_count(
    bounds: &Aabb,
    volume: f64,
    tets: usize,
    depth: impl Fn(Vec3) -> f32 + Sync,
) -> Result<Stuffing, StuffingError> {
    let wanted = tets.max(1) as f64;
    // 12 tetrahedra per cube inside, and more where the surface cuts.
    let mut cell = (12.0 * volume / wanted).cbrt();
    let mut best: Option<(f64, Stuffing)> = None;
    for _ in 0..ROUNDS {
        let found = stuff(bounds, cell as f32, &depth);
        let count = match &found {
            Ok(mesh) => mesh.tets.len() as f64,
            Err(StuffingError::Empty { .. }) => wanted / 8.0,
            Err(e) => return Err(e.clone()),
        };
        let error = (count / wanted).ln().abs();
        if let Ok(mesh) = found
            && best.as_ref().is_none_or(|(e, _)| error < *e)
        {
            let cell = cell as f32;
            best = Some((error, Stuffing { mesh, cell }));
        }
        if error < NEAR_ENOUGH {
            break;
        }
        cell *= (count / wanted).cbrt();
    }
    let empty = StuffingError::Empty { cell: cell as f32 };
    best.map(|(_, stuffing)| stuffing).ok_or(empty)
}

/// Fills the part of `bounds` where `depth`, the distance to the surface, is
/// positive, on a lattice of cubes of side `cell`.
pub fn stuff(
    bounds: &Aabb,
    cell: f32,
    depth: impl Fn(Vec3) -> f32 + Sync,
) -> Result<TetMesh, StuffingError> {
    let lattice = Lattice::around(bounds, cell)?;
    let values: Vec<f32> = (0..lattice.len())
        .into_par_iter()
        .with_min_len(256)
        .map(|i| depth(lattice.place(i)))
        .collect();
    let mut field = Field {
        places: (0..lattice.len()).map(|i| lattice.place(i)).collect(),
        values,
        depth,
    };
    field.warp(&lattice);
    let mut out = Output::new(&field);
    lattice.for_each_tet(|corners, long| out.add(corners, long));
    let mut mesh = out.mesh;
    if mesh.tets.is_empty() {
        return Err(StuffingError::Empty { cell });
    }
    mesh.orient();
    Ok(mesh)
}

/// A body-centred cubic lattice: the corners of cubes, then their centres.
struct Lattice {
    origin: Vec3,
    cell: f32,
    /// Number of cubes.
    cubes: [usize; 3],
}

impl Lattice {
    fn around(bounds: &Aabb, cell: f32) -> Result<Lattice, StuffingError> {
        // One cube outside on every side, so that whole tetrahedra cover the space;
        // off by a fraction, so that no plane of a box lies on lattice points.
        let margin = 1.37;
        let size = bounds.size();
        let cubes = size.to_array().map(|s| f64::from(s / cell).ceil() + 3.0);
        let points = 2.0 * cubes.iter().product::<f64>();
        if points.is_nan() || points > MOST_POINTS {
            return Err(StuffingError::TooFine {
                cell,
                extent: size.max_element(),
                points,
            });
        }
        Ok(Lattice {
            origin: bounds.min - margin * cell,
            cell,
            cubes: cubes.map(|c| c as usize),
        })
    }

    fn corners(&self) -> usize {
        self.cubes.iter().map(|c| c + 1).product()
    }

    fn len(&self) -> usize {
        self.corners() + self.cubes.iter().product::<usize>()
    }

    fn corner(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * (self.cubes[1] + 1) + j) * (self.cubes[0] + 1) + i
    }

    fn center(&self, [i, j, k]: [usize; 3]) -> usize {
        self.corners() + (k * self.cubes[1] + j) * self.cubes[0] + i
    }

    /// Whether it is a centre, and its cube or corner numbers.
    fn decode(&self, index: usize) -> (bool, [usize; 3]) {
        let is_center = index >= self.corners();
        let (rest, more) = if is_center {
            (index - self.corners(), 0)
        } else {
            (index, 1)
        };
        let (nx, ny) = (self.cubes[0] + more, self.cubes[1] + more);
        (is_center, [rest % nx, rest / nx % ny, rest / (nx * ny)])
    }

    fn place(&self, index: usize) -> Vec3 {
        let (is_center, at) = self.decode(index);
        let shift = if is_center { 0.5 } else { 0.0 };
        let at = Vec3::from_array(at.map(|v| v as f32 + shift));
        self.origin + self.cell * at
    }

    /// The neighbours of a point: those over long edges first, six at most, then
    /// those over short ones, eight at most.
    fn for_each_neighbour(&self, index: usize, mut visit: impl FnMut(usize, bool)) {
        let (is_center, at) = self.decode(index);
        let (own, other) = if is_center { (0, 1) } else { (1, 0) };
        for axis in 0..3 {
            for up in [false, true] {
                let mut next = at;
                if up {
                    next[axis] += 1;
                } else if at[axis] == 0 {
                    continue;
                } else {
                    next[axis] -= 1;
                }
                if next[axis] < self.cubes[axis] + own {
                    let n = if is_center {
                        self.center(next)
                    } else {
                        self.corner(next)
                    };
                    visit(n, true);
                }
            }
        }
        for octant in 0..8 {
            let step = [octant & 1, octant >> 1 & 1, octant >> 2];
            // A centre's corners begin at its own number, a corner's centres one below.
            let shifted: [Option<usize>; 3] =
                std::array::from_fn(|a| (at[a] + step[a] + own).checked_sub(2 * own));
            let [Some(i), Some(j), Some(k)] = shifted else {
                continue;
            };
            let next = [i, j, k];
            if (0..3).all(|a| next[a] < self.cubes[a] + other) {
                let n = if is_center {
                    self.corner(next)
                } else {
                    self.center(next)
                };
                visit(n, false);
            }
        }
    }

    /// Visits every tetrahedron: two neighbouring centres and an edge of the square
    /// between them. Corners 0 and 1 share a long edge, and so do 2 and 3.
    fn for_each_tet(&self, mut visit: impl FnMut([usize; 4], &dyn Fn(usize, usize) -> bool)) {
        let long = |a: usize, b: usize| a / 2 == b / 2;
        let [nx, ny, nz] = self.cubes;
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let at = [i, j, k];
                    for axis in 0..3 {
                        if at[axis] + 1 == self.cubes[axis] {
                            continue;
                        }
                        let mut next = at;
                        next[axis] += 1;
                        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                        let square = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[du, dv]| {
                            let mut corner = next;
                            corner[u] += du;
                            corner[v] += dv;
                            self.corner(corner)
                        });
                        let (a, b) = (self.center(at), self.center(next));
                        for e in 0..4 {
                            visit([a, b, square[e], square[(e + 1) % 4]], &long);
                        }
                    }
                }
            }
        }
    }
}

/// Depths at lattice points, which may have been moved.
struct Field<F> {
    places: Vec<Vec3>,
    values: Vec<f32>,
    depth: F,
}

impl<F: Fn(Vec3) -> f32> Field<F> {
    /// Where the surface cuts the edge from `a` to `b`, as a share of it.
    fn cut(&self, a: usize, b: usize) -> f32 {
        let (pa, pb) = (self.places[a], self.places[b]);
        let (mut low, mut high) = (0.0f32, 1.0f32);
        let (mut at_low, mut at_high) = (self.values[a], self.values[b]);
        let mut t = at_low / (at_low - at_high);
        for step in 0..CUT_STEPS {
            let value = (self.depth)(pa.lerp(pb, t));
            if value == 0.0 || !value.is_finite() {
                break;
            }
            if (value > 0.0) == (at_low > 0.0) {
                (low, at_low) = (t, value);
            } else {
                (high, at_high) = (t, value);
            }
            // A secant is fast, a halving now and then keeps it from creeping.
            t = if step % 3 == 1 {
                0.5 * (low + high)
            } else {
                low + (high - low) * at_low / (at_low - at_high)
            };
        }
        t.clamp(0.0, 1.0)
    }

    /// Moves lattice points that the surface cuts too close to onto the nearest cut.
    fn warp(&mut self, lattice: &Lattice) {
        for v in 0..lattice.len() {
            let value = self.values[v];
            // No neighbour is farther than a cell.
            if value.abs() > 1.01 * lattice.cell || value == 0.0 {
                continue;
            }
            let mut nearest: Option<(f32, Vec3)> = None;
            lattice.for_each_neighbour(v, |n, long| {
                if self.values[n] * value >= 0.0 {
                    return;
                }
                let t = self.cut(v, n);
                if t >= if long { WARP_LONG } else { WARP_SHORT } {
                    return;
                }
                let place = self.places[v].lerp(self.places[n], t);
                let distance = place.distance(self.places[v]);
                if nearest.is_none_or(|(d, _)| distance < d) {
                    nearest = Some((distance, place));
                }
            });
            if let Some((_, place)) = nearest {
                self.places[v] = place;
                self.values[v] = 0.0;
            }
        }
    }
}

/// The mesh on its way.
struct Output<'a, F> {
    field: &'a Field<F>,
    mesh: TetMesh,
    /// New numbers of lattice points.
    number: Vec<u32>,
    /// Numbers of cuts by the ends of their edges, the inner one first.
    cuts: HashMap<(u32, u32), u32>,
}

impl<'a, F: Fn(Vec3) -> f32> Output<'a, F> {
    fn new(field: &'a Field<F>) -> Self {
        Output {
            field,
            mesh: TetMesh::default(),
            number: vec![u32::MAX; field.places.len()],
            cuts: HashMap::new(),
        }
    }

    fn add(&mut self, corners: [usize; 4], long: &dyn Fn(usize, usize) -> bool) {
        let signs = corners.map(|v| Sign::of(self.field.values[v]));
        if !signs.contains(&Sign::In) {
            return;
        }
        for part in parts(signs, long, corners).iter() {
            let tet = part.map(|[a, b]| {
                if a == b {
                    self.lattice_point(corners[a])
                } else {
                    self.cut_point(corners[a], corners[b])
                }
            });
            self.mesh.tets.push(tet);
        }
    }

    fn lattice_point(&mut self, v: usize) -> u32 {
        let slot = &mut self.number[v];
        if *slot == u32::MAX {
            *slot = self.mesh.points.len() as u32;
            self.mesh.points.push(self.field.places[v]);
        }
        *slot
    }

    fn cut_point(&mut self, inside: usize, outside: usize) -> u32 {
        let key = (inside as u32, outside as u32);
        if let Some(&number) = self.cuts.get(&key) {
            return number;
        }
        let number = self.mesh.points.len() as u32;
        let t = self.field.cut(inside, outside);
        let (a, b) = (self.field.places[inside], self.field.places[outside]);
        self.mesh.points.push(a.lerp(b, t));
        self.cuts.insert(key, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Colon, Cuboid, IcoSphere, WineGlass};

    fn check(mesh: &TetMesh, volume: f64, tolerance: f64) {
        mesh.validate().unwrap();
        let surface = mesh.surface_mesh();
        assert!(
            surface.check().is_closed(),
            "{:?}",
            surface.check().problems()
        );
        let q = mesh.quality(4);
        assert!(
            q.dihedral.min > 8.0 && q.dihedral.max < 168.0,
            "{:?}",
            q.dihedral
        );
        let error = (mesh.volume() - volume).abs() / volume;
        assert!(error < tolerance, "volume {} of {volume}", mesh.volume());
    }

    #[test]
    fn a_ball_of_any_resolution_is_sound() {
        let bounds = Aabb {
            min: Vec3::splat(-1.0),
            max: Vec3::splat(1.0),
        };
        let volume = 4.0 / 3.0 * std::f64::consts::PI;
        let mut last = f64::INFINITY;
        for cell in [0.5, 0.31, 0.17, 0.1] {
            let mesh = stuff(&bounds, cell, |p| 1.0 - p.length()).unwrap();
            check(&mesh, volume, 0.12);
            let error = (mesh.volume() - volume).abs();
            assert!(error < last, "finer is better");
            last = error;
        }
    }

    #[test]
    fn the_number_of_tetrahedra_is_met() {
        let sphere = IcoSphere {
            cuts: 4,
            ..IcoSphere::default()
        };
        for wanted in [500, 5_000, 20_000] {
            let sphere = Arc::new(sphere.build().unwrap());
            let volume = f64::from(sphere.volume());
            let found = tetrahedralise(sphere, wanted).unwrap();
            let off = found.mesh.tets.len() as f64 / wanted as f64;
            assert!(
                (off - 1.0).abs() < 0.05,
                "{} of {wanted}",
                found.mesh.tets.len()
            );
            check(&found.mesh, volume, 0.08);
        }
    }

    #[test]
    fn folded_and_thin_surfaces_are_sound() {
        let colon = Arc::new(Colon::default().build().unwrap());
        let volume = f64::from(colon.volume());
        check(&tetrahedralise(colon, 40_000).unwrap().mesh, volume, 0.1);
        let glass = Arc::new(WineGlass::default().build().unwrap());
        let found = tetrahedralise(glass, 60_000).unwrap();
        assert!(found.mesh.validate().is_ok());
    }

    #[test]
    fn a_box_turned_inside_out_is_filled_all_the_same_and_an_open_one_is_refused() {
        let mut cube = Cuboid::default().build().unwrap();
        let volume = f64::from(cube.volume());
        cube.flip();
        let found = tetrahedralise(Arc::new(cube.clone()), 5_000).unwrap();
        check(&found.mesh, volume, 0.03);
        cube.triangles.pop();
        let error = tetrahedralise(Arc::new(cube), 100).unwrap_err().to_string();
        assert!(
            error.starts_with("tetrahedra need a closed surface"),
            "{error}"
        );
    }
}
