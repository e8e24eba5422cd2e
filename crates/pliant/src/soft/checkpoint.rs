//! What changes while a soft body moves, to and from a checkpoint; and a fingerprint of
//! what does not.

use glam::{Vec3, Vec3A};

use super::settings::{Controls, SoftSettings};
use super::state::Soft;
use crate::observe::{CheckpointError, Decoder, Encoder, StateHash};

impl Soft {
    /// Writes everything that changes.
    pub(crate) fn save(&self, out: &mut Encoder) {
        let c = self.settings.controls;
        out.f32s(&[c.alpha, c.beta, c.gamma, c.delta]);
        out.u32(self.changed as u32);
        out.f64(self.clock);
        out.f32(self.pressure);
        for list in [&self.position, &self.velocity, &self.change] {
            for v in list {
                out.f32s(&v.to_array());
            }
        }
        out.f32s(&self.inverse_mass);
        if let Some(model) = &self.model {
            let numbers = model.numbers();
            out.u64(numbers.len() as u64);
            out.f32s(&numbers);
        }
        if let Some(b) = &self.breath {
            out.f64(b.clock);
            out.f32(b.target);
            out.f32s(&b.from);
            out.f32s(&b.ends);
            out.u32(b.phase.0);
            out.u32(u32::from(b.phase.1));
        }
    }

    /// Restores what [`Soft::save`] wrote.
    pub(crate) fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        let mut c = [0.0; 4];
        from.f32s(&mut c)?;
        let [alpha, beta, gamma, delta] = c;
        self.settings.controls = Controls {
            alpha,
            beta,
            gamma,
            delta,
        };
        self.changed = (from.u32()? as usize).min(self.settings.changes.len());
        self.clock = from.f64()?;
        self.pressure = from.f32()?;
        for list in [&mut self.position, &mut self.velocity, &mut self.change] {
            for v in list {
                let mut p = [0.0; 3];
                from.f32s(&mut p)?;
                *v = Vec3A::from(Vec3::from_array(p));
            }
        }
        from.f32s(&mut self.inverse_mass)?;
        if let Some(model) = &mut self.model {
            let count = from.count(4)?;
            let mut numbers = vec![0.0; count];
            from.f32s(&mut numbers)?;
            if !model.restore(&numbers) {
                return Err(CheckpointError::Damaged("a model has other numbers"));
            }
        }
        if let Some(b) = &mut self.breath {
            b.clock = from.f64()?;
            b.target = from.f32()?;
            from.f32s(&mut b.from)?;
            from.f32s(&mut b.ends)?;
            b.phase = (from.u32()?, from.u32()? != 0);
        }
        self.pinned = self.inverse_mass.contains(&0.0);
        self.previous.copy_from_slice(&self.position);
        self.forget_obstacles();
        self.refresh_views();
        Ok(())
    }

    /// Adds everything that does not change while it moves.
    pub(crate) fn fingerprint(&self, hash: &mut StateHash) {
        // Controls may be changed while it runs.
        let fixed = SoftSettings {
            controls: Controls::default(),
            ..self.settings.clone()
        };
        // Debug prints numbers so that different ones differ.
        hash.text(&format!("{fixed:?}"));
        for p in &self.start {
            hash.f32s(&p.to_array());
        }
        for t in &self.topology.triangles {
            t.iter().for_each(|&v| hash.word(v));
        }
    }
}
