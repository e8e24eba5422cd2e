//! What changes while a body moves, to and from a checkpoint; and a fingerprint of
//! what does not.

use glam::{Mat3A, Quat, Vec3, Vec3A};

use super::contact::{Grip, Touching};
use super::state::{Body, Solid};
use crate::observe::{CheckpointError, Decoder, Encoder, StateHash};

impl Solid {
    /// Writes everything that changes.
    pub(crate) fn save(&self, out: &mut Encoder) {
        self.save_cracks(out);
        out.f32(self.last_step);
        vectors(out, &self.displacement);
        vectors(out, &self.velocity);
        out.f32s(&self.inverse_mass);
        for load in &self.load {
            out.f32s(&load.to_array());
        }
        out.u64(self.touching.len() as u64);
        for (point, touching) in &self.touching {
            out.u32(*point);
            out.u32(touching.obstacle);
            let (kind, way) = match touching.grip {
                Grip::Stick => (0, Vec3A::ZERO),
                Grip::Slide(way) => (1, way),
                Grip::Parting => (2, Vec3A::ZERO),
            };
            out.u32(kind);
            vectors(out, &[touching.normal, way]);
            out.f32(touching.pressing);
        }
        match &self.body {
            Body::Springs(body) => {
                out.u64(body.previous.len() as u64);
                vectors(out, &body.previous);
            }
            Body::Matched(body) => {
                for cluster in &body.clusters {
                    out.f32s(&cluster.rotation.to_array());
                }
            }
            Body::Elastic(body) => {
                vectors(out, &body.change);
                for state in &body.state {
                    out.f32s(&state.rotation.to_array());
                    out.f32s(&state.plastic.to_cols_array());
                }
                out.u32(u32::from(body.worn));
                if let Some(factor) = &body.factor {
                    factor.save(out);
                }
            }
        }
    }

    /// Restores what [`Solid::save`] wrote.
    pub(crate) fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        self.load_cracks(from)?;
        self.last_step = from.f32()?;
        read_vectors(from, &mut self.displacement)?;
        read_vectors(from, &mut self.velocity)?;
        from.f32s(&mut self.inverse_mass)?;
        for load in &mut self.load {
            *load = read_vector(from)?;
        }
        self.touching.clear();
        for _ in 0..from.count(40)? {
            let point = from.u32()?;
            let obstacle = from.u32()?;
            let kind = from.u32()?;
            let normal = read_vector(from)?.into();
            let way = read_vector(from)?.into();
            let touching = Touching {
                obstacle,
                normal,
                wall: Vec3A::ZERO,
                grip: match kind {
                    0 => Grip::Stick,
                    1 => Grip::Slide(way),
                    _ => Grip::Parting,
                },
                pressing: from.f32()?,
            };
            if point as usize >= self.displacement.len() {
                return Err(CheckpointError::Damaged("a touching point does not exist"));
            }
            self.touching.push((point, touching));
        }
        match &mut self.body {
            Body::Springs(body) => {
                let n = from.count(12)?;
                if n != 0 && n != self.displacement.len() {
                    return Err(CheckpointError::Damaged("a body has other points"));
                }
                body.previous.resize(n, Vec3A::ZERO);
                read_vectors(from, &mut body.previous)?;
            }
            Body::Matched(body) => {
                for cluster in &mut body.clusters {
                    let mut q = [0.0; 4];
                    from.f32s(&mut q)?;
                    cluster.rotation = Quat::from_array(q);
                }
            }
            Body::Elastic(body) => {
                read_vectors(from, &mut body.change)?;
                for state in &mut body.state {
                    let mut q = [0.0; 4];
                    from.f32s(&mut q)?;
                    state.rotation = Quat::from_array(q);
                    let mut m = [0.0; 9];
                    from.f32s(&mut m)?;
                    state.plastic = Mat3A::from_cols_array(&m);
                }
                body.worn = from.u32()? > 0;
                if let Some(factor) = &mut body.factor {
                    factor.load(from)?;
                }
            }
        }
        self.refresh_views();
        Ok(())
    }

    /// Adds everything that does not change while it moves.
    pub(crate) fn fingerprint(&self, hash: &mut StateHash) {
        hash.word(self.design as u32);
        hash.word((self.design >> 32) as u32);
    }

    /// A number that differs between bodies made differently.
    pub(super) fn design(&self) -> u64 {
        let mut hash = StateHash::default();
        // Debug prints numbers so that different ones differ.
        hash.text(&format!("{:?}", self.settings));
        for p in &self.mesh.points {
            hash.f32s(&p.to_array());
        }
        for t in &self.mesh.tets {
            t.iter().for_each(|&v| hash.word(v));
        }
        hash.value()
    }

    /// Writes which faces are open, and how the tetrahedra are joined if they are joined
    /// differently than they were made.
    fn save_cracks(&self, out: &mut Encoder) {
        out.u64(self.cracks.open.len() as u64);
        for &(a, b) in &self.cracks.open {
            out.u32s(&[a, b]);
        }
        out.u32(self.surface_version);
        if self.surface_version > 0 {
            out.u64(self.mesh.points.len() as u64);
            for p in &self.mesh.points {
                out.f32s(&p.to_array());
            }
            self.mesh.tets.iter().for_each(|tet| out.u32s(tet));
            out.f32s(&self.mass);
        }
    }

    fn load_cracks(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        let damaged = Err(CheckpointError::Damaged(
            "a crack is where there is no body",
        ));
        self.cracks.open.clear();
        for _ in 0..from.count(8)? {
            let mut joint = [0; 2];
            from.u32s(&mut joint)?;
            if joint.iter().any(|&t| t as usize >= self.mesh.tets.len()) {
                return damaged;
            }
            self.cracks.open.insert((joint[0], joint[1]));
        }
        let version = from.u32()?;
        if version > 0 {
            let mut points = vec![Vec3::ZERO; from.count(12)?];
            for p in &mut points {
                *p = read_vector(from)?;
            }
            let mut tets = self.mesh.tets.clone();
            for tet in &mut tets {
                from.u32s(tet)?;
                if tet.iter().any(|&v| v as usize >= points.len()) {
                    return damaged;
                }
            }
            self.restore_mesh(points, tets);
            from.f32s(&mut self.mass)?;
            self.renew_surface();
        }
        self.surface_version = version;
        Ok(())
    }
}

fn vectors(out: &mut Encoder, list: &[Vec3A]) {
    for v in list {
        out.f32s(&v.to_array());
    }
}

fn read_vector(from: &mut Decoder<'_>) -> Result<Vec3, CheckpointError> {
    let mut v = [0.0; 3];
    from.f32s(&mut v)?;
    Ok(Vec3::from_array(v))
}

fn read_vectors(from: &mut Decoder<'_>, list: &mut [Vec3A]) -> Result<(), CheckpointError> {
    for v in list {
        *v = read_vector(from)?.into();
    }
    Ok(())
}
