//! The surface nearest to a point, by cells that know which triangles can be it.

use std::sync::{Arc, OnceLock};

use glam::Vec3;

use super::packet::Packet;
use super::{Bvh, SurfacePoint, TriangleIndex};
use crate::math::Aabb;
use crate::simd::{Lanes, WIDTH, dispatch};

/// Cells along each side of a block.
const SIDE: u32 = 8;
/// Blocks are at most this many; cells grow until they are.
const MOST_BLOCKS: f32 = 262_144.0;
/// Cells of which triangles in more packets can be the nearest leave the search to the
/// tree.
const MOST_PACKETS: usize = 32;
/// Smallest and largest size of a cell, in reaches, and its size in mean edges of the
/// mesh between: small cells list few triangles, but are many to fill.
const CELL: [f32; 2] = [0.1, 0.25];
const CELL_PER_EDGE: f32 = 0.5;
/// Room for the rounding of distances.
const ROUNDING: f32 = 1.0 + 1e-5;
/// Triangles that packets find nearer than the nearest and this much are looked at
/// again, one by one: shares of the reach and of the numbers computed with.
const DOUBT: [f32; 2] = [1e-4, 2e-6];

/// Finds the point of a static mesh nearest to a place within a fixed reach: the
/// same answers as [`Bvh::closest`], to the bit, in a fraction of the time.
///
/// Space around the mesh is divided into small cells. The nearest triangle of any
/// place in a cell is no farther from the cell's centre than the nearest triangle of
/// the centre and the cell's diagonal together; each cell lists the packets of eight
/// that hold these triangles, nearest first, so that a query looks at a few of them
/// and knows when to stop.
/// Lists are made when a cell is first asked, by whichever thread asks: they hold
/// nothing but geometry, so answers do not depend on who came first.
///
/// ```
/// use std::sync::Arc;
/// use pliant::{Vec3, mesh::Cuboid, space::{Bvh, NearestCells}};
///
/// let mesh = Arc::new(Cuboid::new(Vec3::ZERO, Vec3::ONE).build()?);
/// let cells = NearestCells::new(Arc::new(Bvh::build(mesh)), 0.2);
/// let floor = cells.closest(Vec3::new(0.5, 0.1, 0.5), 0.2).unwrap();
/// assert!((floor.distance - 0.1).abs() < 1e-6);
/// # Ok::<(), pliant::mesh::ShapeError>(())
/// ```
pub struct NearestCells {
    tree: Arc<Bvh>,
    /// The tree's triangles, eight by eight, and the place of each there.
    packets: Vec<Packet>,
    place: Vec<u32>,
    longest_edge: f32,
    reach: f32,
    bounds: Aabb,
    cell: f32,
    inv_cell: f32,
    /// Number of blocks along each axis.
    size: [u32; 3],
    blocks: Vec<OnceLock<Box<Block>>>,
}

type Block = [OnceLock<Cell>; (SIDE * SIDE * SIDE) as usize];

/// What a cell knows.
enum Cell {
    /// No surface within reach of any place in it.
    Far,
    /// These can be nearest, by their distance from the cell's centre.
    Candidates(Box<[Candidate]>),
    /// Too many can be.
    Crowded,
}

/// A packet, and how near its nearest candidate is to the cell's centre.
#[derive(Clone, Copy)]
struct Candidate {
    distance: f32,
    packet: u32,
}

impl NearestCells {
    /// Cells around the mesh of `tree`, for queries of up to `reach`.
    pub fn new(tree: Arc<Bvh>, reach: f32) -> NearestCells {
        let fitting = CELL_PER_EDGE * tree.mesh().mean_edge();
        let cell = fitting.max(CELL[0] * reach).min(CELL[1] * reach);
        NearestCells::with_cell(tree, reach, cell)
    }

    /// The same with cells of `cell` metres, or larger if these would be too many.
    pub fn with_cell(tree: Arc<Bvh>, reach: f32, cell: f32) -> NearestCells {
        let mesh = tree.mesh();
        let triangles = tree.in_order();
        let packets = triangles.chunks(WIDTH).map(Packet::new).collect();
        let mut place = vec![0; triangles.len()];
        for (k, t) in triangles.iter().enumerate() {
            place[t.id as usize] = k as u32;
        }
        let edges = triangles.iter().flat_map(|t| {
            let [a, b, c] = t.corners;
            [a.distance(b), b.distance(c), c.distance(a)]
        });
        let longest_edge = edges.fold(0.0, f32::max);
        let around = mesh.aabb();
        let farthest = around.min.abs().max(around.max.abs()).max_element();
        let bounds = if triangles.is_empty() {
            Aabb {
                min: Vec3::ZERO,
                max: Vec3::ZERO,
            }
        } else {
            around.grown(reach * ROUNDING + 1e-6 * farthest)
        };
        let blocks_for = |cell: f32| (bounds.size() / (cell * SIDE as f32)).floor() + Vec3::ONE;
        let mut cell = cell.max(f32::MIN_POSITIVE);
        while blocks_for(cell).element_product() > MOST_BLOCKS {
            cell *= 1.25;
        }
        let size = blocks_for(cell).to_array().map(|n| (n as u32).max(1));
        let count = size.iter().product::<u32>() as usize;
        NearestCells {
            tree,
            packets,
            place,
            longest_edge,
            reach,
            bounds,
            cell,
            inv_cell: cell.recip(),
            size,
            blocks: (0..count).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Largest distance that it answers without asking the tree, in metres.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// The point of the mesh nearest to `p`, if it is within `max_distance`. Of
    /// equally near triangles the one with the lowest number is taken.
    pub fn closest(&self, p: Vec3, max_distance: f32) -> Option<SurfacePoint> {
        if max_distance > self.reach {
            return self.search(p, max_distance);
        }
        if !self.bounds.contains(p) {
            return None;
        }
        let last = |axis: usize| SIDE * self.size[axis] - 1;
        let at = ((p - self.bounds.min) * self.inv_cell).to_array();
        let [i, j, k] = [0, 1, 2].map(|a| (at[a] as u32).min(last(a)));
        let [bi, bj, bk] = [i, j, k].map(|c| c / SIDE);
        let block = (bk * self.size[1] + bj) * self.size[0] + bi;
        let block = self.blocks[block as usize]
            .get_or_init(|| Box::new([const { OnceLock::new() }; (SIDE * SIDE * SIDE) as usize]));
        let corner = Vec3::new(i as f32, j as f32, k as f32);
        let center = self.bounds.min + (corner + 0.5) * self.cell;
        let [ci, cj, ck] = [i, j, k].map(|c| c % SIDE);
        let slot = (ck * SIDE + cj) * SIDE + ci;
        match block[slot as usize].get_or_init(|| self.fill(center)) {
            Cell::Far => None,
            Cell::Crowded => self.search(p, max_distance),
            Cell::Candidates(list) => self.nearest_of(list, p, max_distance, center),
        }
    }

    #[cold]
    fn search(&self, p: Vec3, max_distance: f32) -> Option<SurfacePoint> {
        self.tree.closest(p, max_distance).map(|(found, _)| found)
    }

    fn nearest_of(
        &self,
        list: &[Candidate],
        p: Vec3,
        max_distance: f32,
        center: Vec3,
    ) -> Option<SurfacePoint> {
        let off_center = p.distance(center);
        let doubt = DOUBT[0] * self.reach
            + DOUBT[1] * (p.abs().max_element() + self.longest_edge + self.reach);
        let search = Search {
            packets: &self.packets,
            list,
            p,
            off_center,
            doubt,
        };
        let mut found = Found {
            nearest: max_distance,
            ..Found::default()
        };
        search.run(&mut found);
        if found.count > found.near.len() {
            return self.search(p, max_distance);
        }
        // Exactly, for those that come into question.
        let mut best: Option<SurfacePoint> = None;
        let mut best_d2 = max_distance * max_distance;
        for &k in &found.near[..found.count] {
            let t = &self.tree.in_order()[k as usize];
            let (found, _, d2) = t.closest(p);
            let nearer = match best {
                None => d2 <= best_d2,
                Some(b) => d2 < best_d2 || (d2 == best_d2 && t.id < b.triangle),
            };
            if nearer {
                best_d2 = d2;
                best = Some(found);
            }
        }
        best
    }

    /// Looks up what a cell must know.
    #[cold]
    fn fill(&self, center: Vec3) -> Cell {
        let diagonal = self.cell * 3f32.sqrt() * ROUNDING;
        // Places on the border may belong to either cell, by rounding.
        let diagonal = diagonal + 1e-6 * center.abs().max_element();
        let farthest = ROUNDING * (self.reach + 0.5 * diagonal);
        let Some((nearest, _)) = self.tree.closest(center, farthest) else {
            return Cell::Far;
        };
        let mut list: Vec<Candidate> = Vec::new();
        let reach = ROUNDING * (nearest.distance + diagonal);
        self.tree.for_each_within(center, reach, &mut |found| {
            let packet = self.place[found.triangle as usize] / WIDTH as u32;
            match list.iter_mut().find(|c| c.packet == packet) {
                Some(known) => known.distance = known.distance.min(found.distance),
                None => list.push(Candidate {
                    distance: found.distance,
                    packet,
                }),
            }
        });
        if list.len() > MOST_PACKETS {
            return Cell::Crowded;
        }
        list.sort_unstable_by(|a, b| {
            let by_distance = a.distance.total_cmp(&b.distance);
            by_distance.then(a.packet.cmp(&b.packet))
        });
        Cell::Candidates(list.into_boxed_slice())
    }

    /// Heap memory held besides the tree, in bytes.
    pub fn bytes(&self) -> usize {
        let lists = |block: &Block| -> usize {
            let cells = block.iter().filter_map(OnceLock::get);
            let lists = cells.map(|c| match c {
                Cell::Candidates(list) => size_of_val(&**list),
                Cell::Far | Cell::Crowded => 0,
            });
            size_of::<Block>() + lists.sum::<usize>()
        };
        let blocks = self.blocks.iter().filter_map(OnceLock::get);
        size_of_val(&*self.blocks)
            + size_of_val(&*self.packets)
            + size_of_val(&*self.place)
            + blocks.map(|b| lists(b)).sum::<usize>()
    }
}

/// A walk through the packets of a cell.
#[derive(Clone, Copy)]
struct Search<'a> {
    packets: &'a [Packet],
    list: &'a [Candidate],
    p: Vec3,
    off_center: f32,
    doubt: f32,
}

/// What it finds.
#[derive(Default)]
struct Found {
    nearest: f32,
    /// Triangles no farther than the nearest, within the doubt; their number, even if
    /// there was no room for all.
    near: [u32; 16],
    count: usize,
}

impl Search<'_> {
    /// Looks at packets until the rest is too far away.
    fn run(self, found: &mut Found) {
        #[inline(always)]
        fn walk<L: Lanes>(l: L, search: Search<'_>, found: &mut Found) {
            let Search {
                packets,
                list,
                p,
                off_center,
                doubt,
            } = search;
            // Packets that came into question when they were looked at, and how far away
            // their triangles are.
            let mut seen = 0;
            let mut packet = [0; MOST_PACKETS];
            let mut lanes = [[0.0; WIDTH]; MOST_PACKETS];
            let square = |d: f32| (d + doubt) * (d + doubt);
            for candidate in list {
                if candidate.distance > ROUNDING * (found.nearest + doubt + off_center) {
                    break;
                }
                let d2 = packets[candidate.packet as usize].distances_squared(l, p);
                if l.any(l.less(d2, l.splat(square(found.nearest)))) {
                    // SAFETY: there are eight lanes.
                    unsafe { l.store(d2, &mut lanes[seen], 0) };
                    let least = lanes[seen].iter().fold(f32::INFINITY, |a, &b| a.min(b));
                    found.nearest = found.nearest.min(least.sqrt());
                    packet[seen] = candidate.packet;
                    seen += 1;
                }
            }
            let limit = square(found.nearest);
            for (packet, lanes) in packet.iter().zip(&lanes).take(seen) {
                for (lane, _) in lanes.iter().enumerate().filter(|(_, d2)| **d2 <= limit) {
                    if let Some(place) = found.near.get_mut(found.count) {
                        *place = packet * WIDTH as u32 + lane as u32;
                    }
                    found.count += 1;
                }
            }
        }
        let search = self;
        dispatch!(walk(search: Search<'_>, found: &mut Found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Colon, TriMesh};
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    fn soup() -> impl Strategy<Value = TriMesh> {
        prop::collection::vec((point(), point(), point()), 1..40).prop_map(|list| {
            let corners = |(a, b, c): (Vec3, Vec3, Vec3)| [a, a + 0.5 * b, a + 0.5 * c];
            let vertices: Vec<Vec3> = list.into_iter().flat_map(corners).collect();
            let triangles = (0..vertices.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
            TriMesh {
                triangles: triangles.collect(),
                vertices,
            }
        })
    }

    proptest! {
        /// To the bit, for any triangles, also where many cross.
        #[test]
        fn the_answers_are_those_of_the_tree(
            mesh in soup(),
            places in prop::collection::vec(point(), 60),
            reach in 0.02f32..0.8,
            cell in 0.02f32..0.4,
        ) {
            let tree = Arc::new(Bvh::build(Arc::new(mesh)));
            let cells = NearestCells::with_cell(tree.clone(), reach, cell);
            for p in places {
                for radius in [reach, 0.5 * reach, 2.0 * reach] {
                    let p = 1.6 * p;
                    let expected = tree.closest(p, radius).map(|(found, _)| found);
                    prop_assert_eq!(cells.closest(p, radius), expected);
                }
            }
        }
    }

    #[test]
    fn corners_and_edges_of_a_colon_are_tied_alike() {
        let mesh = Arc::new(Colon::coarse(3).build().unwrap());
        let tree = Arc::new(Bvh::build(mesh.clone()));
        let cells = NearestCells::new(tree.clone(), 0.009);
        // On the surface, at its corners and above them, many triangles are equally near.
        for (t, ids) in mesh.triangles.iter().enumerate() {
            let up = 0.004 * mesh.area_normal(t).normalize_or_zero();
            let corner = mesh.vertices[ids[0] as usize];
            let middle = mesh.corners(t).into_iter().sum::<Vec3>() / 3.0;
            for p in [corner, corner + up, corner - up, middle, middle - up] {
                let expected = tree.closest(p, 0.009).map(|(found, _)| found);
                assert_eq!(cells.closest(p, 0.009), expected, "{p}");
            }
        }
        assert!(cells.bytes() > 0);
    }

    #[test]
    fn an_empty_mesh_is_nowhere() {
        let tree = Arc::new(Bvh::build(Arc::new(TriMesh::default())));
        let cells = NearestCells::new(tree, 0.1);
        assert_eq!(cells.closest(Vec3::ZERO, 0.1), None);
        assert_eq!(cells.closest(Vec3::ONE, 9.0), None);
    }
}
