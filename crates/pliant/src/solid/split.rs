//! Opening a body along faces between its tetrahedra.
//!
//! A face that is open joins its two tetrahedra no longer. Around every point the
//! tetrahedra that are still joined by faces stay together; each further group gets a
//! copy of the point, at the same place and with the same velocity. Mass goes with the
//! volume of the tetrahedra, so mass, momentum and shape are what they were. A face
//! whose corners hang together elsewhere stays shut until they come loose: the tip of
//! a crack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use glam::{Vec3, Vec3A};

use super::assembly::ElasticBody;
use super::settings::{SolidModel, SolidSettings};
use super::state::{Body, Solid};
use crate::mesh::TetMesh;

/// Two tetrahedra with a common face, smaller number first.
pub(super) type Joint = (u32, u32);

/// The faces of a body that are open, and what is needed to find more.
#[derive(Clone, Debug, Default)]
pub(super) struct Cracks {
    pub open: BTreeSet<Joint>,
    /// All joints of the mesh as it is now; `None` if it is not known.
    joints: Option<Arc<[Joint]>>,
}

/// Pairs of tetrahedra with a common face, in order.
fn joints(mesh: &TetMesh) -> Vec<Joint> {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * mesh.tets.len());
    for (t, tet) in mesh.tets.iter().enumerate() {
        for k in 0..4 {
            let mut face = [tet[(k + 1) % 4], tet[(k + 2) % 4], tet[(k + 3) % 4]];
            face.sort_unstable();
            faces.push((face, t as u32));
        }
    }
    faces.sort_unstable();
    let same = faces.chunk_by(|a, b| a.0 == b.0);
    let mut joints: Vec<Joint> = same
        .filter(|pair| pair.len() == 2)
        .map(|pair| (pair[0].1, pair[1].1))
        .collect();
    joints.sort_unstable();
    joints
}

impl Solid {
    /// Pairs of tetrahedra with a common face, in order. They are the same until the body opens.
    pub(super) fn joints(&mut self) -> Arc<[Joint]> {
        let known = self.cracks.joints.take();
        let joints = known.unwrap_or_else(|| joints(&self.mesh).into());
        self.cracks.joints = Some(joints.clone());
        joints
    }

    /// Opens faces; returns the number of points that have been copied.
    pub(super) fn open_joints(&mut self, joints_to_open: impl IntoIterator<Item = Joint>) -> usize {
        let joints = self.joints();
        let Body::Elastic(body) = &mut self.body else {
            return 0;
        };
        let before = self.cracks.open.len();
        self.cracks.open.extend(joints_to_open);
        if self.cracks.open.len() == before {
            return 0;
        }
        let copies = separate(&mut self.mesh, &self.cracks.open, &joints);
        if copies.is_empty() {
            return 0;
        }
        self.cracks.joints = None;
        let states = std::mem::take(&mut body.state);
        let change = std::mem::take(&mut body.change);
        **body = ElasticBody::new(body.settings.clone(), &self.mesh);
        body.state = states;
        body.change = change;
        for &original in &copies {
            let k = original as usize;
            body.change.push(body.change[k]);
            self.displacement.push(self.displacement[k]);
            self.velocity.push(self.velocity[k]);
            self.load.push(Vec3::ZERO);
            self.ids.push(self.ids.len() as u32);
            // A pin holds both sides.
            self.inverse_mass.push(self.inverse_mass[k]);
            self.mass.push(0.0);
        }
        self.share_mass(&copies);
        self.renew_surface();
        copies.len()
    }

    /// Divides the masses of points that have been copied by the volumes around them.
    fn share_mass(&mut self, copies: &[u32]) {
        let first = self.mass.len() - copies.len();
        // Copies of copies share what the first one has.
        let mut family: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (k, &original) in copies.iter().enumerate() {
            family.entry(original).or_default().push((first + k) as u32);
        }
        let mut volume = vec![0.0f64; self.mass.len()];
        for (t, tet) in self.mesh.tets.iter().enumerate() {
            let own = self.mesh.volume_of(t);
            tet.iter().for_each(|&v| volume[v as usize] += own);
        }
        for (original, copies) in family {
            let all = std::iter::once(original).chain(copies);
            let all: Vec<usize> = all.map(|v| v as usize).collect();
            let whole: f64 = all.iter().map(|&v| volume[v]).sum();
            let mass = f64::from(self.mass[original as usize]);
            for &v in &all {
                self.mass[v] = (mass * volume[v] / whole) as f32;
                if self.inverse_mass[v] > 0.0 {
                    self.inverse_mass[v] = 1.0 / self.mass[v];
                }
            }
        }
    }

    /// Finds the surface again after the tetrahedra have been joined differently.
    pub(super) fn renew_surface(&mut self) {
        self.surface = self.mesh.surface();
        self.surface_version += 1;
        self.skin = self.surface.iter().flatten().copied().collect();
        self.skin.sort_unstable();
        self.skin.dedup();
        let n = self.mesh.points.len();
        self.resize_views(n);
        self.refresh_views();
    }

    /// Takes over a mesh that has been opened, with these masses.
    pub(super) fn restore_mesh(&mut self, points: Vec<Vec3>, tets: Vec<[u32; 4]>) {
        let n = points.len();
        self.mesh = TetMesh { points, tets };
        self.cracks.joints = None;
        if let Body::Elastic(body) = &mut self.body {
            **body = ElasticBody::new(body.settings.clone(), &self.mesh);
        }
        self.displacement.resize(n, Vec3A::ZERO);
        self.velocity.resize(n, Vec3A::ZERO);
        self.load.resize(n, Vec3::ZERO);
        self.mass.resize(n, 0.0);
        self.inverse_mass.resize(n, 0.0);
        self.ids = (0..n as u32).collect();
    }
}

/// True if bodies of these settings can be opened.
pub(super) fn can_open(settings: &SolidSettings) -> bool {
    matches!(settings.model, SolidModel::Elastic(_))
}

/// Gives every group of tetrahedra around a point that is not joined to the first one a
/// copy of it. Returns for every copy, in order, the point it is one of.
fn separate(mesh: &mut TetMesh, open: &BTreeSet<Joint>, joints: &[Joint]) -> Vec<u32> {
    // Tetrahedra around every point, and joints that still hold around it.
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.points.len()];
    let mut held: Vec<Vec<Joint>> = vec![Vec::new(); mesh.points.len()];
    let mut touched: BTreeSet<u32> = BTreeSet::new();
    for &(a, b) in open {
        touched.extend(mesh.tets[a as usize].iter().chain(&mesh.tets[b as usize]));
    }
    for (t, tet) in mesh.tets.iter().enumerate() {
        tet.iter().for_each(|&v| around[v as usize].push(t as u32));
    }
    for &joint in joints {
        if open.contains(&joint) {
            continue;
        }
        let other = mesh.tets[joint.1 as usize];
        for v in mesh.tets[joint.0 as usize] {
            if other.contains(&v) {
                held[v as usize].push(joint);
            }
        }
    }
    let mut copies = Vec::new();
    for &v in &touched {
        let groups = groups(&around[v as usize], &held[v as usize]);
        for group in groups.iter().skip(1) {
            let copy = mesh.points.len() as u32;
            mesh.points.push(mesh.points[v as usize]);
            copies.push(v);
            for &t in group {
                for corner in &mut mesh.tets[t as usize] {
                    if *corner == v {
                        *corner = copy;
                    }
                }
            }
        }
    }
    copies
}

/// Members that joints hold together, the group with the smallest member first.
fn groups(members: &[u32], joints: &[Joint]) -> Vec<Vec<u32>> {
    let place = |t: u32| members.binary_search(&t).unwrap_or(0);
    let mut leader: Vec<usize> = (0..members.len()).collect();
    fn find(leader: &mut [usize], mut k: usize) -> usize {
        while leader[k] != k {
            leader[k] = leader[leader[k]];
            k = leader[k];
        }
        k
    }
    for &(a, b) in joints {
        let (a, b) = (find(&mut leader, place(a)), find(&mut leader, place(b)));
        leader[a.max(b)] = a.min(b);
    }
    let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (k, &member) in members.iter().enumerate() {
        groups.entry(find(&mut leader, k)).or_default().push(member);
    }
    groups.into_values().collect()
}
