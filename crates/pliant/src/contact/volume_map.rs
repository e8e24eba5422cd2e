//! How much of a smoothing kernel lies beyond the wall of a closed container, for every
//! place in it (volume maps, Bender et al. 2019).
//!
//! The nearest place of a wall says little in a crease or a narrow fold: it jumps from
//! one side to the other, and a liquid that it holds never rests. The volume beyond the
//! wall is smooth wherever a liquid can be, whatever the wall looks like. It is known on a
//! lattice of nodes, half a particle spacing apart, and between them by quadratic
//! B-splines, whose slope is smooth, too. Blocks of nodes are made when a place in them is
//! first asked for, by whichever thread asks: they hold nothing but geometry.

use std::sync::{Arc, OnceLock};

use glam::{IVec3, UVec3, Vec3};

use crate::space::Bvh;

/// Nodes along each side of a block.
const SIDE: i32 = 8;
const NODES: usize = (SIDE * SIDE * SIDE) as usize;
/// Node distances in a kernel's reach.
const FINENESS: f32 = 4.0;
/// How many nodes away the kernel and its correction end.
const REACH: i32 = FINENESS as i32 + 1;
/// Block and surroundings, in nodes.
const WIDE: i32 = SIDE + 2 * REACH;
/// A map of more blocks would be larger than the liquid in it.
const MOST_BLOCKS: f32 = 2e6;
/// Splines blur by a quarter of a squared node distance, and cells that a wall cuts by a
/// twelfth; half of their sum, times the Laplacian, undoes both.
const SHARPEN: f32 = 0.5 * (1.0 / 4.0 + 1.0 / 12.0);

/// One number per node, or one for all.
enum Block {
    Same(f32),
    Each(Box<[f32; NODES]>),
}

impl Block {
    #[inline(always)]
    fn at(&self, node: usize) -> f32 {
        match self {
            Block::Same(value) => *value,
            Block::Each(values) => values[node],
        }
    }
}

/// The map of one container for kernels of one reach.
pub(crate) struct VolumeMap {
    tree: Arc<Bvh>,
    reach: f32,
    cell: f32,
    inverse_cell: f32,
    /// The first node.
    origin: Vec3,
    /// Number of blocks along each axis.
    count: IVec3,
    /// Share of each node's cell that is beyond the wall.
    beyond: Vec<OnceLock<Block>>,
    /// Share of a kernel around each node that is.
    filled: Vec<OnceLock<Block>>,
    /// Weights of the nodes around one, as a cube.
    stencil: Vec<(IVec3, f32)>,
}

/// What is beyond the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Filled {
    /// Share of the kernel.
    pub share: f32,
    /// Its slope in 1/m: towards the wall.
    pub slope: Vec3,
}

impl VolumeMap {
    /// The map of the closed mesh of `tree`, for cubic splines of support radius `reach`;
    /// `None` if the mesh is open, or so large that a map does not pay.
    pub fn new(tree: &Arc<Bvh>, reach: f32) -> Option<VolumeMap> {
        if !tree.is_closed() {
            return None;
        }
        let cell = reach / FINENESS;
        // Nothing is asked for farther out than particles may stray.
        let bounds = tree.mesh().aabb().grown(2.0 * reach);
        let count = (bounds.size() / (cell * SIDE as f32)).ceil().max(Vec3::ONE);
        if count.element_product() > MOST_BLOCKS {
            return None;
        }
        let blocks = count.element_product() as usize;
        let empty = || (0..blocks).map(|_| OnceLock::new()).collect();
        Some(VolumeMap {
            tree: tree.clone(),
            reach,
            cell,
            inverse_cell: cell.recip(),
            origin: bounds.min,
            count: count.as_ivec3(),
            beyond: empty(),
            filled: empty(),
            stencil: stencil(),
        })
    }

    /// The reach of the kernels it is for.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// What is beyond the wall for a kernel at `p`.
    pub fn at(&self, p: Vec3) -> Filled {
        let place = (p - self.origin) * self.inverse_cell;
        let middle = place.round();
        let weights = |u: f32| {
            [
                0.5 * (0.5 - u) * (0.5 - u),
                0.75 - u * u,
                0.5 * (0.5 + u) * (0.5 + u),
            ]
        };
        let slopes = |u: f32| [u - 0.5, -2.0 * u, u + 0.5];
        let u = place - middle;
        let [wx, wy, wz] = u.to_array().map(weights);
        let [sx, sy, sz] = u.to_array().map(slopes);
        let first = middle.as_ivec3() - IVec3::ONE;
        let corner = self.block(first);
        let within = first & IVec3::splat(SIDE - 1);
        // Most places need one block only.
        let whole = corner.filter(|_| within.max_element() + 2 < SIDE);
        if let Some(block) = whole
            && let Block::Same(share) = self.filled(block)
        {
            return Filled {
                share: *share,
                slope: Vec3::ZERO,
            };
        }
        let mut filled = Filled::default();
        for z in 0..3 {
            for y in 0..3 {
                let (mut value, mut along) = (0.0, 0.0);
                for x in 0..3 {
                    let node = first + IVec3::new(x as i32, y as i32, z as i32);
                    let share = match whole.or_else(|| self.block(node)) {
                        Some(block) => self.filled(block).at(index(node)),
                        None => 1.0,
                    };
                    value += wx[x] * share;
                    along += sx[x] * share;
                }
                filled.share += wz[z] * wy[y] * value;
                filled.slope += Vec3::new(
                    wz[z] * wy[y] * along,
                    wz[z] * sy[y] * value,
                    sz[z] * wy[y] * value,
                );
            }
        }
        filled.slope *= self.inverse_cell;
        filled
    }

    /// The block of a node; `None` outside the map.
    #[inline(always)]
    fn block(&self, node: IVec3) -> Option<usize> {
        let at: IVec3 = node >> 3i32;
        let inside = at.cmpge(IVec3::ZERO).all() && at.cmplt(self.count).all();
        inside.then(|| (at.x + self.count.x * (at.y + self.count.y * at.z)) as usize)
    }

    /// The first node of a block.
    fn first(&self, block: usize) -> IVec3 {
        let count = self.count.as_uvec3();
        let block = block as u32;
        let at = UVec3::new(
            block % count.x,
            block / count.x % count.y,
            block / (count.x * count.y),
        );
        SIDE * at.as_ivec3()
    }

    fn place(&self, node: IVec3) -> Vec3 {
        self.origin + self.cell * node.as_vec3()
    }

    fn beyond(&self, block: usize) -> &Block {
        self.beyond[block].get_or_init(|| {
            let first = self.first(block);
            let signed = |p: Vec3| self.tree.signed_distance(p).unwrap_or(f32::INFINITY);
            let half = 0.5 * (SIDE - 1) as f32;
            let center = signed(self.place(first) + self.cell * half);
            if center.abs() > self.cell * (1.0 + half * 3f32.sqrt()) {
                return Block::Same(if center > 0.0 { 1.0 } else { 0.0 });
            }
            let mut shares = Box::new([0.0; NODES]);
            for_cube(SIDE, |k, offset| {
                let distance = signed(self.place(first + offset));
                shares[k] = (0.5 + distance * self.inverse_cell).clamp(0.0, 1.0);
            });
            Block::Each(shares)
        })
    }

    fn filled(&self, block: usize) -> &Block {
        self.filled[block].get_or_init(|| {
            let first = self.first(block);
            let around: Vec<Option<&Block>> = {
                let mut around = Vec::with_capacity(27);
                for_cube(3, |_, offset| {
                    let node = first + SIDE * (offset - IVec3::ONE);
                    around.push(self.block(node).map(|b| self.beyond(b)));
                });
                around
            };
            let same = |b: &Option<&Block>| match b {
                None => Some(1.0),
                Some(Block::Same(share)) => Some(*share),
                Some(Block::Each(_)) => None,
            };
            if let Some(share) = same(&around[0])
                && around.iter().all(|b| same(b) == Some(share))
            {
                return Block::Same(share);
            }
            // The block and its surroundings as one cube.
            let mut shares = vec![0.0; (WIDE * WIDE * WIDE) as usize];
            for_cube(WIDE, |k, offset| {
                let node = offset - REACH;
                let at = (node + SIDE) / SIDE;
                let block = around[(at.x + 3 * (at.y + 3 * at.z)) as usize];
                shares[k] = block.map_or(1.0, |b| b.at(index(node)));
            });
            let step = |offset: IVec3| (offset.x + WIDE * (offset.y + WIDE * offset.z)) as isize;
            let steps: Vec<(isize, f32)> =
                self.stencil.iter().map(|(o, w)| (step(*o), *w)).collect();
            let mut filled = Box::new([0.0; NODES]);
            for_cube(SIDE, |k, offset| {
                let here = step(offset + REACH);
                let sum = steps.iter().map(|(s, w)| w * shares[(here + s) as usize]);
                filled[k] = sum.sum();
            });
            Block::Each(filled)
        })
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let blocks = self.beyond.iter().chain(&self.filled);
        let made = blocks
            .filter(|b| matches!(b.get(), Some(Block::Each(_))))
            .count();
        2 * size_of::<OnceLock<Block>>() * self.filled.len() + 4 * NODES * made
    }
}

/// Place of a node in its block.
#[inline(always)]
fn index(node: IVec3) -> usize {
    let within = node & IVec3::splat(SIDE - 1);
    (within.x + SIDE * (within.y + SIDE * within.z)) as usize
}

/// Visits the points of a cube, x first.
fn for_cube(side: i32, mut visit: impl FnMut(usize, IVec3)) {
    let mut k = 0;
    for z in 0..side {
        for y in 0..side {
            for x in 0..side {
                visit(k, IVec3::new(x, y, z));
                k += 1;
            }
        }
    }
}

/// The cubic spline over the nodes around one, sharpened; its sum is 1.
fn stencil() -> Vec<(IVec3, f32)> {
    let kernel = |offset: IVec3| {
        let q = offset.as_vec3().length() / FINENESS;
        let (outer, inner) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
        2.0 * outer.powi(3) - 8.0 * inner.powi(3)
    };
    let mut stencil = Vec::new();
    for_cube(2 * REACH + 1, |_, offset| {
        let offset = offset - REACH;
        let sides = [IVec3::X, IVec3::Y, IVec3::Z];
        let around = sides.map(|s| kernel(offset + s) + kernel(offset - s));
        let own = kernel(offset);
        let weight = own - SHARPEN * (around.iter().sum::<f32>() - 6.0 * own);
        if weight != 0.0 {
            stencil.push((offset, weight));
        }
    });
    let sum: f32 = stencil.iter().map(|(_, w)| w).sum();
    stencil.iter_mut().for_each(|(_, w)| *w /= sum);
    stencil
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3Swizzles;

    use crate::mesh::{Cuboid, IcoSphere};

    /// The share of a cubic spline of reach 1 beyond a plane at distance `d`.
    fn beyond_plane(d: f32) -> f32 {
        let (parts, mut sum) = (400, 0.0);
        for k in 0..parts {
            // The part of the kernel in a slice, 2 pi ∫ W r dr.
            let z = d + (1.0 - d) * (k as f32 + 0.5) / parts as f32;
            for l in 0..parts {
                let r = z + (1.0 - z) * (l as f32 + 0.5) / parts as f32;
                let (outer, inner) = ((1.0 - r).max(0.0), (0.5 - r).max(0.0));
                let w = 8.0 / std::f32::consts::PI * (2.0 * outer.powi(3) - 8.0 * inner.powi(3));
                let slice = (1.0 - d) / parts as f32 * (1.0 - z) / parts as f32;
                sum += 2.0 * std::f32::consts::PI * w * r * slice;
            }
        }
        sum
    }

    #[test]
    fn faces_edges_and_corners_of_a_box_have_their_share() {
        let mesh = Cuboid::new(Vec3::ZERO, Vec3::splat(5.0)).build().unwrap();
        let map = VolumeMap::new(&Arc::new(Bvh::build(Arc::new(mesh))), 1.0).unwrap();
        // A particle at the wall is an eighth of the reach from it or more.
        for d in [0.125, 0.2, 0.25, 0.37, 0.5, 0.8] {
            let wall = beyond_plane(d);
            let face = map.at(Vec3::new(d, 2.3, 2.6));
            assert!(
                (face.share - wall).abs() < 0.015,
                "{d}: {} {wall}",
                face.share
            );
            assert!(face.slope.x < 0.0 && face.slope.yz().length() < 1e-4);
        }
        let edge = map.at(Vec3::new(0.3, 0.3, 2.5)).share;
        let wall = beyond_plane(0.3);
        assert!(edge > 1.5 * wall && edge < 2.0 * wall, "{edge} {wall}");
        assert_eq!(map.at(Vec3::splat(2.5)), Filled::default());
        assert!((map.at(Vec3::splat(-2.0)).share - 1.0).abs() < 1e-5);
        assert!((map.at(Vec3::splat(-1e6)).share - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_slope_is_that_of_the_share_everywhere() {
        let mesh = IcoSphere {
            center: Vec3::ZERO,
            radius: 2.0,
            ..IcoSphere::default()
        };
        let mesh = Arc::new(mesh.build().unwrap());
        let map = VolumeMap::new(&Arc::new(Bvh::build(mesh)), 1.0).unwrap();
        let step = 1e-2;
        for k in 0..200 {
            let t = k as f32;
            let p = Vec3::new((1.3 * t).sin(), (2.1 * t).cos(), (0.7 * t).sin());
            let p = (1.0 + 0.9 * (0.37 * t).fract()) * p.normalize_or(Vec3::X);
            let slope = map.at(p).slope;
            let by =
                |d: Vec3| (map.at(p + step * d).share - map.at(p - step * d).share) / (2.0 * step);
            let found = Vec3::new(by(Vec3::X), by(Vec3::Y), by(Vec3::Z));
            assert!((slope - found).length() < 0.01, "{p}: {slope} {found}");
        }
    }
}
