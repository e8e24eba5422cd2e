//! Elements in groups that fit into a cache.
//!
//! Neighbouring tetrahedra and the edges among them form a patch, with a list of
//! the points they use. A thread copies the points of a patch, adds up all its
//! forces in a small array of its own, and writes that out; then every point sums
//! what the patches say of it. Nothing is written by two threads, and all sums
//! have a fixed order, so the bits do not depend on the number of threads.

use glam::Vec3;

use crate::mesh::TetMesh;

/// Tetrahedra per patch: about 350 points, whose state fills half of a 32 KB cache.
const TETS_PER_PATCH: usize = 1024;

/// The patches of a mesh. Elements are in patch order.
#[derive(Clone, Debug)]
pub(super) struct Patches {
    pub patches: Vec<Patch>,
    /// Points of all patches, one list after the other.
    pub points: Vec<u32>,
    /// Corners as positions in the patch's list of points.
    pub tets: Vec<[u16; 4]>,
    /// Ends as positions in the patch's list of points.
    pub edges: Vec<[u16; 2]>,
    /// The same edges, by points of the mesh.
    pub global_edges: Vec<[u32; 2]>,
    /// Where the copies of point i are in `points`:
    /// `copies[copy_start[i]..copy_start[i + 1]]`.
    pub copy_start: Vec<u32>,
    pub copies: Vec<u32>,
}

/// One patch, as ranges of the flat lists.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub points: std::ops::Range<usize>,
    pub tets: std::ops::Range<usize>,
    pub edges: std::ops::Range<usize>,
}

impl Patches {
    /// Puts the tetrahedra of `mesh` into patch order, and groups them.
    pub fn build(mesh: &mut TetMesh) -> Patches {
        sort_by_place(mesh);
        let edges = mesh.edges();
        let mut out = Patches {
            patches: Vec::new(),
            points: Vec::new(),
            tets: Vec::with_capacity(mesh.tets.len()),
            edges: Vec::with_capacity(edges.len()),
            global_edges: Vec::with_capacity(edges.len()),
            copy_start: Vec::new(),
            copies: Vec::new(),
        };
        // Edges are sorted: those of a point are a run.
        let run = |i: u32| edges.partition_point(|e| e[0] < i);
        let mut taken = vec![false; edges.len()];
        let mut local = vec![u16::MAX; mesh.points.len()];
        for chunk in mesh.tets.chunks(TETS_PER_PATCH) {
            let (first_point, first_tet) = (out.points.len(), out.tets.len());
            let first_edge = out.edges.len();
            for tet in chunk {
                out.tets.push(tet.map(|v| {
                    let slot = &mut local[v as usize];
                    if *slot == u16::MAX {
                        // At most four new points per tetrahedron: fits 16 bits.
                        *slot = (out.points.len() - first_point) as u16;
                        out.points.push(v);
                    }
                    *slot
                }));
            }
            // Every edge belongs to the first patch that has both ends in a tetrahedron.
            let mut own: Vec<usize> = Vec::new();
            for tet in chunk {
                for i in 0..4 {
                    for j in i + 1..4 {
                        let edge = [tet[i].min(tet[j]), tet[i].max(tet[j])];
                        let start = run(edge[0]);
                        let at = start + edges[start..].partition_point(|e| *e < edge);
                        if !taken[at] {
                            taken[at] = true;
                            own.push(at);
                        }
                    }
                }
            }
            own.sort_unstable();
            for at in own {
                out.edges.push(edges[at].map(|v| local[v as usize]));
                out.global_edges.push(edges[at]);
            }
            for &v in &out.points[first_point..] {
                local[v as usize] = u16::MAX;
            }
            out.patches.push(Patch {
                points: first_point..out.points.len(),
                tets: first_tet..out.tets.len(),
                edges: first_edge..out.edges.len(),
            });
        }
        out.find_copies(mesh.points.len());
        out
    }

    fn find_copies(&mut self, points: usize) {
        (self.copy_start, self.copies) = group_by(points, self.points.iter().copied());
    }
}

/// For every value below `count`: where it occurs among `values`, in order, as
/// starts and positions.
pub(super) fn group_by(
    count: usize,
    values: impl Iterator<Item = u32> + Clone,
) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0u32; count + 1];
    for v in values.clone() {
        start[v as usize + 1] += 1;
    }
    for i in 0..count {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut places = vec![0u32; start[count] as usize];
    for (place, v) in values.enumerate() {
        places[next[v as usize] as usize] = place as u32;
        next[v as usize] += 1;
    }
    (start, places)
}

/// Orders tetrahedra along a Z-order curve through their middles.
fn sort_by_place(mesh: &mut TetMesh) {
    let bounds = mesh.aabb();
    let scale = 1023.0 / bounds.size().max_element().max(f32::MIN_POSITIVE);
    let mut keyed: Vec<(u32, [u32; 4])> = (0..mesh.tets.len())
        .map(|t| {
            let middle = 0.25 * mesh.corners(t).into_iter().sum::<Vec3>();
            let at = (middle - bounds.min) * scale;
            (
                spread(at.x as u32) | spread(at.y as u32) << 1 | spread(at.z as u32) << 2,
                mesh.tets[t],
            )
        })
        .collect();
    keyed.sort_by_key(|k| k.0);
    for (tet, (_, sorted)) in mesh.tets.iter_mut().zip(keyed) {
        *tet = sorted;
    }
}

/// Puts two zeros between the lower ten bits.
fn spread(v: u32) -> u32 {
    let v = (v | v << 16) & 0x0300_00ff;
    let v = (v | v << 8) & 0x0300_f00f;
    let v = (v | v << 4) & 0x030c_30c3;
    (v | v << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;

    #[test]
    fn patches_hold_every_element_and_every_edge_once() {
        let mut mesh = TetBlock {
            cells: [9, 8, 7],
            ..TetBlock::default()
        }
        .build()
        .unwrap();
        let mut before = mesh.tets.clone();
        let edges = mesh.edges();
        let patches = Patches::build(&mut mesh);
        assert!(patches.patches.len() > 2);
        let mut found_tets = Vec::new();
        let mut found_edges = Vec::new();
        for p in &patches.patches {
            let points = &patches.points[p.points.clone()];
            for t in &patches.tets[p.tets.clone()] {
                found_tets.push(t.map(|v| points[v as usize]));
            }
            for e in &patches.edges[p.edges.clone()] {
                found_edges.push(e.map(|v| points[v as usize]));
            }
        }
        assert_eq!(found_tets, mesh.tets);
        assert_eq!(found_edges, patches.global_edges);
        found_tets.sort_unstable();
        before.sort_unstable();
        assert_eq!(found_tets, before);
        found_edges.sort_unstable();
        assert_eq!(found_edges, edges);
        for v in 0..mesh.points.len() {
            let range = patches.copy_start[v] as usize..patches.copy_start[v + 1] as usize;
            assert!(!range.is_empty());
            for &c in &patches.copies[range] {
                assert_eq!(patches.points[c as usize], v as u32);
            }
        }
    }
}
