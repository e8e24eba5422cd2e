//! Forces of springs along edges, and forces that keep the volume of elements
//! (Lesmes 2013, chapter 3, after Teschner et al. 2004).
//!
//! Everything is computed from displacements: the difference of two rest places
//! plus that of two displacements. A body in free fall then feels no force from the
//! rounding of its growing coordinates (Lesmes 2013, section 4.3).
//!
//! `spring_lanes.rs` has the usual forces again, eight at a time; the loops here have
//! all variants.

use glam::Vec3A;
use rayon::prelude::*;

use super::patches::{Patch, Patches};
use super::settings::{Passes, Springs, VolumeForce};
use super::spring_lanes::{Blocks, Row, Terms};
use super::strain_limit::Held;
use crate::mesh::TetMesh;
use crate::simd::prefetch;

/// Lengths and volumes that differ by less than this share are equal (Knuth's
/// comparison, Lesmes 2013, section 4.3).
pub(super) const EQUAL: f32 = 1e-6;

/// Edges beyond this share of the strain limit are watched: while some are drawn
/// together, others near the limit must hold.
pub(super) const WATCHED: f32 = 0.97;

/// Edges of a tetrahedron, for the element-centric variant.
const TET_EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// What springs know of a body.
#[derive(Clone, Debug)]
pub(super) struct SpringBody {
    pub settings: Springs,
    pub patches: Patches,
    /// Rest places of the points of all patches.
    pub rest: Vec<Vec3A>,
    /// Per edge: rest length in m, stiffness in N/m.
    pub length: Vec<f32>,
    pub edge_stiffness: Vec<f32>,
    /// Per tetrahedron: rest volume in m³, factor of (3.8).
    pub volume: Vec<f32>,
    pub volume_stiffness: Vec<f32>,
    /// The same for the loops that take eight at a time.
    pub blocks: Blocks,
    /// Force on every copy of a point in N, and a zero.
    force: Vec<[f32; 4]>,
    /// Edges of each patch that were near or beyond the strain limit.
    stretched: Vec<Vec<u32>>,
    /// Room for the strain limit.
    pub held: Vec<Held>,
    /// Displacements one step ago, for Verlet.
    pub previous: Vec<Vec3A>,
    /// State at the middle of the step, for the midpoint method.
    pub middle: [Vec<Vec3A>; 2],
}

impl SpringBody {
    pub fn new(settings: Springs, mesh: &mut TetMesh) -> SpringBody {
        let patches = Patches::build(mesh);
        let place = |v: u32| mesh.points[v as usize];
        let length: Vec<f32> = patches
            .global_edges
            .iter()
            .map(|e| place(e[0]).distance(place(e[1])))
            .collect();
        let volume: Vec<f32> = (0..mesh.tets.len())
            .map(|t| mesh.volume_of(t) as f32)
            .collect();
        // The energies (3.4) and (3.5) are those of changes relative to the rest; the
        // factor 1/6 of the gradient of a volume is part of k_V in (3.8).
        let (kd, kv) = (settings.distance_stiffness, settings.volume_stiffness);
        let normalised = settings.normalised;
        let edge = |l: &f32| if normalised { kd / (l * l) } else { kd };
        let tet = |v: &f32| if normalised { kv / (6.0 * v * v) } else { kv };
        let mut body = SpringBody {
            rest: patches.points.iter().map(|&v| place(v).into()).collect(),
            edge_stiffness: length.iter().map(edge).collect(),
            volume_stiffness: volume.iter().map(tet).collect(),
            length,
            volume,
            blocks: Blocks::default(),
            force: vec![[0.0; 4]; patches.points.len()],
            stretched: vec![Vec::new(); patches.patches.len()],
            held: Vec::new(),
            previous: Vec::new(),
            middle: Default::default(),
            patches,
            settings,
        };
        body.blocks = Blocks::new(&body, mesh);
        body
    }

    /// What the loops that take eight at a time need; none for the variants that they
    /// do not have.
    fn terms(&self) -> Option<Terms> {
        let s = &self.settings;
        let volume_damping = match (s.passes, s.volume_force) {
            (Passes::ElementCentric, _) => return None,
            (Passes::EdgeCentric, _) => None,
            (Passes::Hybrid, VolumeForce::Gradient) => Some(0.0),
            (Passes::Hybrid, VolumeForce::GradientDamped) => Some(s.volume_damping),
            (Passes::Hybrid, VolumeForce::UnitDamped) => return None,
        };
        Some(Terms {
            distance_damping: s.distance_damping,
            volume_damping,
            strain_limit: s.strain_limit,
        })
    }

    /// Computes the forces of all patches at these displacements and velocities;
    /// read them with [`SpringBody::force_on`].
    pub fn compute(&mut self, displacement: &[Vec3A], velocity: &[Vec3A]) {
        self.compute_with(self.terms(), displacement, velocity);
    }

    /// Eight at a time with `terms`, one at a time without.
    fn compute_with(&mut self, terms: Option<Terms>, displacement: &[Vec3A], velocity: &[Vec3A]) {
        let mut all_force = std::mem::take(&mut self.force);
        let mut all_stretched = std::mem::take(&mut self.stretched);
        let mut force = &mut all_force[..];
        let patches = self.patches.patches.iter().zip(&mut all_stretched);
        let work: Vec<_> = patches
            .map(|(patch, stretched)| {
                let (own, rest) = std::mem::take(&mut force).split_at_mut(patch.points.len());
                force = rest;
                (patch, own, stretched)
            })
            .collect();
        let body = &*self;
        work.into_par_iter().enumerate().for_each_init(
            || (Vec::new(), Vec::new()),
            |(rows, points), (number, (patch, force, stretched))| {
                force.fill([0.0; 4]);
                stretched.clear();
                if let Some(terms) = terms {
                    let numbers = body.patches.points[patch.points.clone()].iter();
                    rows.clear();
                    rows.extend(numbers.map(|&v| {
                        let v = v as usize;
                        Row::new(displacement[v], velocity[v])
                    }));
                    body.patch_forces(number, terms, rows, force, stretched);
                } else {
                    let kernel = body.kernel();
                    kernel.load(patch, displacement, velocity, points);
                    kernel.patch(patch, points, force, stretched);
                }
            },
        );
        (self.force, self.stretched) = (all_force, all_stretched);
    }

    fn kernel(&self) -> Kernel<'_> {
        Kernel {
            settings: &self.settings,
            patches: &self.patches,
            rest: &self.rest,
            length: &self.length,
            edge_stiffness: &self.edge_stiffness,
            volume: &self.volume,
            volume_stiffness: &self.volume_stiffness,
        }
    }

    /// Sum of the forces on point `i` in N.
    #[inline]
    pub fn force_on(&self, i: usize) -> Vec3A {
        let range = self.patches.copy_start[i] as usize..self.patches.copy_start[i + 1] as usize;
        let copies = &self.patches.copies[range];
        copies
            .iter()
            .fold(Vec3A::ZERO, |sum, &c| sum + vector(self.force[c as usize]))
    }

    /// Fetches the force on point `i`, if there is one, for a loop that comes to it soon.
    #[inline]
    pub fn fetch_force(&self, i: usize) {
        let Some(&[start, end]) = self
            .patches
            .copy_start
            .get(i..i + 2)
            .and_then(|s| s.first_chunk())
        else {
            return;
        };
        for &copy in &self.patches.copies[start as usize..end as usize] {
            prefetch(&self.force, copy as usize);
        }
    }

    /// Edges near or beyond the strain limit when forces were last computed, in a fixed
    /// order.
    pub fn stretched(&self) -> impl Iterator<Item = usize> {
        self.stretched.iter().flatten().map(|&e| e as usize)
    }

    /// Energies of distances and of volumes in J, (3.4) and (3.5) with the factors
    /// of the forces.
    pub fn energies(&self, mesh: &TetMesh, displacement: &[Vec3A]) -> [f64; 2] {
        let rest = |v: u32| Vec3A::from(mesh.points[v as usize]);
        let across = |a: u32, b: u32| {
            (rest(a) - rest(b)) + (displacement[a as usize] - displacement[b as usize])
        };
        let edges = self.patches.global_edges.iter().enumerate();
        let distance = edges.map(|(i, &[a, b])| {
            let change = f64::from(across(a, b).length() - self.length[i]);
            0.5 * f64::from(self.edge_stiffness[i]) * change * change
        });
        let volume = mesh.tets.iter().enumerate().map(|(i, &[a, b, c, d])| {
            let now = across(b, a).dot(across(c, a).cross(across(d, a))) / 6.0;
            let change = f64::from(now - self.volume[i]);
            3.0 * f64::from(self.volume_stiffness[i]) * change * change
        });
        let volume: f64 = volume.sum();
        match self.settings.passes {
            Passes::EdgeCentric => [distance.sum(), 0.0],
            _ => [distance.sum(), volume],
        }
    }

    pub fn bytes(&self) -> usize {
        let p = &self.patches;
        16 * (self.rest.len() + self.force.len() + 2 * self.middle[0].len() + self.previous.len())
            + 8 * (self.length.len() + self.volume.len())
            + 4 * (p.points.len() + p.copy_start.len() + p.copies.len())
            + 8 * p.tets.len()
            + 12 * p.edges.len()
            + self.blocks.bytes()
    }
}

/// A point of a patch, as the loops read it.
#[derive(Clone, Copy)]
struct Point {
    rest: Vec3A,
    displacement: Vec3A,
    velocity: Vec3A,
}

/// What the loops over a patch read.
struct Kernel<'a> {
    settings: &'a Springs,
    patches: &'a Patches,
    rest: &'a [Vec3A],
    length: &'a [f32],
    edge_stiffness: &'a [f32],
    volume: &'a [f32],
    volume_stiffness: &'a [f32],
}

/// The vector of a force with a zero behind.
#[inline(always)]
fn vector(force: [f32; 4]) -> Vec3A {
    Vec3A::from_vec4(force.into())
}

#[inline(always)]
fn add(force: &mut [[f32; 4]], i: usize, f: Vec3A) {
    force[i] = (vector(force[i]) + f).extend(0.0).to_array();
}

/// The vector from `b` to `a`.
#[inline(always)]
fn across(a: &Point, b: &Point) -> Vec3A {
    (a.rest - b.rest) + (a.displacement - b.displacement)
}

/// `now - rest`, or 0 where they are equal but for rounding.
#[inline(always)]
fn change(now: f32, rest: f32) -> f32 {
    let change = now - rest;
    if change.abs() <= EQUAL * now.abs().max(rest.abs()) {
        0.0
    } else {
        change
    }
}

impl Kernel<'_> {
    fn load(
        &self,
        patch: &Patch,
        displacement: &[Vec3A],
        velocity: &[Vec3A],
        points: &mut Vec<Point>,
    ) {
        points.clear();
        let rest = &self.rest[patch.points.clone()];
        let numbers = &self.patches.points[patch.points.clone()];
        points.extend(numbers.iter().zip(rest).map(|(&v, &rest)| Point {
            rest,
            displacement: displacement[v as usize],
            velocity: velocity[v as usize],
        }));
    }

    fn patch(
        &self,
        patch: &Patch,
        points: &[Point],
        force: &mut [[f32; 4]],
        stretched: &mut Vec<u32>,
    ) {
        let passes = self.settings.passes;
        if passes == Passes::ElementCentric {
            self.element_springs(patch, points, force);
        } else {
            self.edge_springs(patch, points, force, stretched);
        }
        if passes == Passes::EdgeCentric {
            return;
        }
        match self.settings.volume_force {
            VolumeForce::Gradient => self.volumes::<false>(patch, points, force),
            VolumeForce::GradientDamped => self.volumes::<true>(patch, points, force),
            VolumeForce::UnitDamped => self.unit_volumes(patch, points, force),
        }
    }

    /// The damped spring (3.10): the force on `a`; that on `b` is the opposite. Also
    /// the length.
    #[inline(always)]
    fn spring(&self, a: &Point, b: &Point, rest: f32, stiffness: f32) -> (Vec3A, f32) {
        let d = across(a, b);
        let length = d.length();
        let along = d / length.max(f32::MIN_POSITIVE);
        let rate = along.dot(a.velocity - b.velocity);
        let pull = stiffness * change(length, rest) + self.settings.distance_damping * rate;
        (-pull * along, length)
    }

    fn edge_springs(
        &self,
        patch: &Patch,
        points: &[Point],
        force: &mut [[f32; 4]],
        stretched: &mut Vec<u32>,
    ) {
        let limit = self.settings.strain_limit;
        let watched = limit.map_or(f32::INFINITY, |limit| WATCHED * limit);
        let first = patch.edges.start;
        let edges = self.patches.edges[patch.edges.clone()].iter();
        let lengths = self.length[patch.edges.clone()].iter();
        let stiffness = self.edge_stiffness[patch.edges.clone()].iter();
        for (e, ((edge, &rest), &stiffness)) in edges.zip(lengths).zip(stiffness).enumerate() {
            let [i, j] = edge.map(usize::from);
            let (f, length) = self.spring(&points[i], &points[j], rest, stiffness);
            add(force, i, f);
            add(force, j, -f);
            if length > watched * rest {
                stretched.push((first + e) as u32);
            }
        }
    }

    fn element_springs(&self, patch: &Patch, points: &[Point], force: &mut [[f32; 4]]) {
        let k = self.settings.distance_stiffness;
        for tet in &self.patches.tets[patch.tets.clone()] {
            for [a, b] in TET_EDGES {
                let (i, j) = (usize::from(tet[a]), usize::from(tet[b]));
                let rest = points[i].rest.distance(points[j].rest);
                let stiffness = if self.settings.normalised {
                    k / (rest * rest)
                } else {
                    k
                };
                let (f, _) = self.spring(&points[i], &points[j], rest, stiffness);
                add(force, i, f);
                add(force, j, -f);
            }
        }
    }

    /// (3.8), with the damping of (3.9): the rate of the volume is
    /// `-1/6 Σ n_j · v_j` with the directions n of (3.8).
    fn volumes<const DAMPED: bool>(&self, patch: &Patch, points: &[Point], force: &mut [[f32; 4]]) {
        let damping = self.settings.volume_damping;
        let tets = self.patches.tets[patch.tets.clone()].iter();
        let volumes = self.volume[patch.tets.clone()].iter();
        let stiffness = self.volume_stiffness[patch.tets.clone()].iter();
        for ((tet, &rest), &stiffness) in tets.zip(volumes).zip(stiffness) {
            let corners = tet.map(usize::from);
            let p = corners.map(|i| points[i]);
            let (directions, volume) = volume_directions(&p);
            let mut push = stiffness * change(volume, rest);
            if DAMPED {
                let [_, nj, nk, nl] = directions;
                // The directions sum to zero, so only relative velocities count.
                let flux = nj.dot(p[1].velocity - p[0].velocity)
                    + nk.dot(p[2].velocity - p[0].velocity)
                    + nl.dot(p[3].velocity - p[0].velocity);
                push -= damping * flux / 6.0;
            }
            for (i, n) in corners.into_iter().zip(directions) {
                add(force, i, push * n);
            }
        }
    }

    /// (3.11) as printed.
    fn unit_volumes(&self, patch: &Patch, points: &[Point], force: &mut [[f32; 4]]) {
        let damping = self.settings.volume_damping;
        for t in patch.tets.clone() {
            let corners = self.patches.tets[t].map(usize::from);
            let p = corners.map(|i| points[i]);
            let (directions, volume) = volume_directions(&p);
            let push = self.volume_stiffness[t] * change(volume, self.volume[t]);
            let sum = p[0].velocity + p[1].velocity + p[2].velocity + p[3].velocity;
            for (c, i) in corners.into_iter().enumerate() {
                let n = directions[c].normalize_or_zero();
                // Three times its own velocity minus the other three.
                let rate = (4.0 * p[c].velocity - sum).dot(n);
                add(force, i, (push - damping * rate) * n);
            }
        }
    }
}

/// The directions of (3.8), minus six times the gradient of the volume, and the
/// signed volume.
#[inline(always)]
fn volume_directions(p: &[Point; 4]) -> ([Vec3A; 4], f32) {
    let e1 = across(&p[1], &p[0]);
    let e2 = across(&p[2], &p[0]);
    let e3 = across(&p[3], &p[0]);
    let (nj, nk, nl) = (e3.cross(e2), e1.cross(e3), e2.cross(e1));
    // (e2 - e1) x (e3 - e1) is minus the sum of the others.
    ([-(nj + nk + nl), nj, nk, nl], -e1.dot(nj) / 6.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;

    #[test]
    fn eight_at_a_time_are_as_one_at_a_time() {
        let variants = [
            (Passes::Hybrid, VolumeForce::Gradient),
            (Passes::Hybrid, VolumeForce::GradientDamped),
            (Passes::EdgeCentric, VolumeForce::GradientDamped),
        ];
        for (passes, volume_force) in variants {
            let mut mesh = TetBlock {
                cells: [9, 8, 7],
                ..TetBlock::default()
            }
            .build()
            .unwrap();
            let settings = Springs {
                distance_damping: 0.5,
                volume_stiffness: 3e6,
                volume_damping: 100.0,
                volume_force,
                passes,
                ..Springs::default()
            };
            let mut body = SpringBody::new(settings, &mut mesh);
            let n = mesh.points.len();
            let random = |seed: u32, size: f32| -> Vec<Vec3A> {
                let one = |i: usize, k: u32| {
                    let i = (i as u32 * 6 + 3 * seed + k).wrapping_mul(2_654_435_761);
                    size * ((i >> 8) as f32 / (1u32 << 23) as f32 - 1.0)
                };
                (0..n)
                    .map(|i| Vec3A::new(one(i, 0), one(i, 1), one(i, 2)))
                    .collect()
            };
            let edge = body.length[0];
            let (u, v) = (random(0, 0.2 * edge), random(1, 1.0));
            let all = |body: &SpringBody| -> (Vec<Vec3A>, Vec<usize>) {
                let mut stretched: Vec<usize> = body.stretched().collect();
                stretched.sort_unstable();
                ((0..n).map(|i| body.force_on(i)).collect(), stretched)
            };
            body.compute(&u, &v);
            let eight = all(&body);
            body.compute_with(None, &u, &v);
            let one = all(&body);
            assert!(one.1.len() > 100);
            assert_eq!(eight.1, one.1);
            let most = one.0.iter().map(|f| f.length()).fold(0.0, f32::max);
            for (a, b) in eight.0.iter().zip(&one.0) {
                assert!((*a - *b).length() < 1e-5 * most, "{a} {b}");
            }
            // A body that only falls feels nothing, however far it has fallen.
            body.compute(&vec![Vec3A::new(3.0, -1e4, 7.0); n], &vec![Vec3A::ONE; n]);
            assert!((0..n).all(|i| body.force_on(i) == Vec3A::ZERO));
        }
    }
}
