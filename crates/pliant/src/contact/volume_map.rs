//! How much of a smoothing kernel lies beyond the wall of a closed container, and how far
//! away the wall is, for every place in it (volume maps, Bender et al. 2019).
//!
//! The nearest place of a wall says little in a crease or a narrow fold: it jumps from
//! one side to the other, and a liquid that it holds never rests. The volume beyond the
//! wall is smooth wherever a liquid can be, whatever the wall looks like. It is known on a
//! lattice of nodes, half a particle spacing apart, and between them by quadratic
//! B-splines, whose slope is smooth, too. Blocks of nodes are made when a place in them is
//! first asked for, by whichever thread asks: they hold nothing but geometry.

use std::sync::{Arc, OnceLock};

use glam::{IVec3, UVec3, Vec3};

use super::triangle::closest_point;
use crate::space::Bvh;

/// Nodes along each side of a block.
const SIDE: i32 = 8;
/// Nodes along each side of an eighth of it.
const PART: i32 = SIDE / 2;
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

/// What is known of the nodes of a block.
enum Block {
    /// No wall is within reach of any: how much of their cells, and of kernels around them,
    /// is beyond it.
    Same(f32),
    Each(Box<[Node; NODES]>),
}

#[derive(Clone, Copy, Default)]
struct Node {
    /// Share of a kernel around it that is beyond the wall.
    filled: f32,
    /// Distance from the wall in metres, negative beyond it.
    distance: f32,
    /// The nearest triangle.
    triangle: u32,
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
    /// With the distances alone.
    walls: Vec<OnceLock<Block>>,
    /// With all.
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
    /// The wall, if it is within reach.
    pub wall: Option<MappedWall>,
}

/// The wall as the map has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MappedWall {
    /// Distance in metres, not negative, smooth where the nearest place jumps.
    pub distance: f32,
    /// No place of the wall is nearer than this.
    pub at_least: f32,
    /// A triangle that is nearest, or next to it.
    pub triangle: u32,
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
            walls: empty(),
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
        let mut nodes = [[Node::default(); 3]; 9];
        match whole.map(|block| self.filled(block)) {
            Some(Block::Same(share)) => {
                return Filled {
                    share: *share,
                    ..Filled::default()
                };
            }
            Some(Block::Each(values)) => {
                let from = index(first);
                for (r, row) in nodes.iter_mut().enumerate() {
                    let at = from + (SIDE as usize) * (r % 3 + SIDE as usize * (r / 3));
                    row.copy_from_slice(&values[at..at + 3]);
                }
            }
            None => {
                for (r, row) in nodes.iter_mut().enumerate() {
                    for (x, node) in row.iter_mut().enumerate() {
                        *node = self.node(first + IVec3::new(x as i32, r as i32 % 3, r as i32 / 3));
                    }
                }
            }
        }
        let (mut filled, mut distance) = (Filled::default(), 0.0);
        for (r, row) in nodes.iter().enumerate() {
            let (y, z) = (r % 3, r / 3);
            let [a, b, c] = row.map(|n| n.filled);
            let value = wx[0] * a + wx[1] * b + wx[2] * c;
            let along = sx[0] * a + sx[1] * b + sx[2] * c;
            let [a, b, c] = row.map(|n| n.distance);
            let far = wx[0] * a + wx[1] * b + wx[2] * c;
            let weight = wz[z] * wy[y];
            filled.share += weight * value;
            distance += weight * far;
            filled.slope += Vec3::new(weight * along, wz[z] * sy[y] * value, sz[z] * wy[y] * value);
        }
        filled.slope *= self.inverse_cell;
        let nearest = nodes[4][1];
        if distance < self.reach {
            filled.wall = Some(MappedWall {
                distance: distance.max(0.0),
                at_least: (nearest.distance.abs() - self.cell * u.length()).max(0.0),
                triangle: nearest.triangle,
            });
        }
        filled
    }

    /// A node of any block, or of none.
    fn node(&self, node: IVec3) -> Node {
        let far = |share: f32| Node {
            filled: share,
            distance: if share < 0.5 { self.far() } else { -self.far() },
            triangle: 0,
        };
        match self.block(node).map(|block| self.filled(block)) {
            None => far(1.0),
            Some(Block::Same(share)) => far(*share),
            Some(Block::Each(nodes)) => nodes[index(node)],
        }
    }

    /// What counts as the distance of nodes that are out of reach of the wall.
    fn far(&self) -> f32 {
        2.0 * self.reach
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

    fn walls(&self, block: usize) -> &Block {
        self.walls[block].get_or_init(|| {
            let first = self.first(block);
            let half = 0.5 * (SIDE - 1) as f32;
            let center = self.place(first) + self.cell * half;
            let Some((distance, central)) = self.tree.signed_nearest(center, f32::INFINITY) else {
                return Block::Same(1.0);
            };
            if distance.abs() > self.needed() + self.cell * half * 3f32.sqrt() {
                return Block::Same(if distance > 0.0 { 1.0 } else { 0.0 });
            }
            let mut nodes = Box::new([Node::default(); NODES]);
            for_cube(2, |_, part| {
                self.measure(first, PART * part, central.triangle, &mut nodes);
            });
            Block::Each(nodes)
        })
    }

    /// Finds the distances of the nodes of an eighth of a block that starts at `from`.
    fn measure(&self, first: IVec3, from: IVec3, mut last: u32, nodes: &mut [Node; NODES]) {
        let mesh = self.tree.mesh();
        // The nearest triangle of the place before is hardly ever much farther than the
        // nearest of this one.
        let mut nearest = |p: Vec3| {
            let known = closest_point(p, mesh.corners(last as usize));
            let most = 1.001 * known.point.distance(p) + 1e-6 * p.abs().max_element();
            let (distance, found) = self.tree.signed_nearest(p, most)?;
            last = found.triangle;
            Some(Node {
                filled: 0.0,
                distance: -distance,
                triangle: found.triangle,
            })
        };
        let half = 0.5 * (PART - 1) as f32;
        let center = self.place(first + from) + self.cell * half;
        let around = 1.001 * self.cell * half * 3f32.sqrt();
        let middle = nearest(center).filter(|n| n.distance.abs() > self.needed() + around);
        for_cube(PART, |_, offset| {
            let node = from + offset;
            let known = match middle {
                // Too far away to be asked for: at least that far.
                Some(middle) => Some(Node {
                    distance: middle.distance - around * middle.distance.signum(),
                    ..middle
                }),
                None => nearest(self.place(first + node)),
            };
            nodes[index(node)] = known.unwrap_or_default();
        });
    }

    /// Splines of places within reach ask nodes up to two cells farther.
    fn needed(&self) -> f32 {
        self.reach + 2.0 * self.cell
    }

    fn filled(&self, block: usize) -> &Block {
        self.filled[block].get_or_init(|| {
            let own = match self.walls(block) {
                Block::Same(share) => return Block::Same(*share),
                Block::Each(nodes) => nodes,
            };
            let first = self.first(block);
            let around: Vec<Option<&Block>> = {
                let mut around = Vec::with_capacity(27);
                for_cube(3, |_, offset| {
                    let node = first + SIDE * (offset - IVec3::ONE);
                    around.push(self.block(node).map(|b| self.walls(b)));
                });
                around
            };
            // The shares of the cells of the block and its surroundings as one cube.
            let mut shares = vec![0.0; (WIDE * WIDE * WIDE) as usize];
            for_cube(WIDE, |k, offset| {
                let node = offset - REACH;
                let at = (node + SIDE) / SIDE;
                shares[k] = match around[(at.x + 3 * (at.y + 3 * at.z)) as usize] {
                    None => 1.0,
                    Some(Block::Same(share)) => *share,
                    Some(Block::Each(nodes)) => {
                        let distance = nodes[index(node)].distance;
                        (0.5 - distance * self.inverse_cell).clamp(0.0, 1.0)
                    }
                };
            });
            let step = |offset: IVec3| (offset.x + WIDE * (offset.y + WIDE * offset.z)) as isize;
            let steps: Vec<(isize, f32)> =
                self.stencil.iter().map(|(o, w)| (step(*o), *w)).collect();
            let mut nodes = own.clone();
            for_cube(SIDE, |k, offset| {
                // Out of reach of the wall.
                if nodes[k].distance.abs() > (REACH as f32 + 1.0) * self.cell {
                    nodes[k].filled = if nodes[k].distance > 0.0 { 0.0 } else { 1.0 };
                    return;
                }
                let here = step(offset + REACH);
                let sum = steps.iter().map(|(s, w)| w * shares[(here + s) as usize]);
                nodes[k].filled = sum.sum();
            });
            Block::Each(nodes)
        })
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let blocks = self.walls.iter().chain(&self.filled);
        let made = blocks
            .filter(|b| matches!(b.get(), Some(Block::Each(_))))
            .count();
        2 * size_of::<OnceLock<Block>>() * self.filled.len() + size_of::<Node>() * NODES * made
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

    /// In a ball, whose wall is curved: the distance is nearly right, the bound is none too
    /// large, and where no wall is told there is none.
    #[test]
    fn the_wall_is_where_the_mesh_is() {
        let sphere = IcoSphere {
            center: Vec3::new(0.3, -0.2, 0.1),
            radius: 3.0,
            cuts: 4,
        };
        let tree = Arc::new(Bvh::build(Arc::new(sphere.build().unwrap())));
        let map = VolumeMap::new(&tree, 1.0).unwrap();
        let mut found = 0;
        for k in 0..2000 {
            let t = k as f32;
            let way = Vec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t + 1.0).sin());
            let p = sphere.center + (2.95 - 0.002 * t).max(0.0) * way.normalize();
            let exact = -tree.signed_distance(p).unwrap();
            match map.at(p).wall {
                Some(wall) => {
                    found += 1;
                    assert!(
                        (wall.distance - exact).abs() < 0.02,
                        "{p}: {wall:?} {exact}"
                    );
                    assert!(wall.at_least <= exact + 1e-5, "{p}: {wall:?} {exact}");
                    assert!(exact - wall.at_least < 0.5, "{p}: {wall:?} {exact}");
                    assert!((wall.triangle as usize) < tree.mesh().triangles.len());
                }
                None => assert!(exact > 0.95, "{p}: {exact}"),
            }
        }
        assert!(found > 400, "{found}");
    }
}
