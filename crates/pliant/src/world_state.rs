//! The state of a world: its hash, checkpoints, and worlds that go on from others.

use glam::Vec3;

use crate::coupling::{Coupling, Skins};
use crate::fluid::{DensityKernel, Emitter};
use crate::observe::{CheckpointError, Decoder, Encoder, StateHash};
use crate::world::World;

impl World {
    /// A fingerprint of the state of all matter, independent of memory order.
    pub fn hash(&self) -> StateHash {
        let mut hash = StateHash::default();
        for m in self.matter() {
            let points = m.points();
            let mut order: Vec<u32> = (0..points.id.len() as u32).collect();
            order.sort_unstable_by_key(|&i| points.id[i as usize]);
            for &i in &order {
                let (p, v) = (
                    points.position.get(i as usize),
                    points.velocity.get(i as usize),
                );
                hash.word(points.id[i as usize]);
                hash.f32s(&p.to_array());
                hash.f32s(&v.to_array());
            }
        }
        hash
    }

    /// Writes everything that changes while the world runs. What is fixed
    /// (obstacles, settings) is not written: restore into a world that was built
    /// in the same way.
    pub fn save(&self, out: &mut Encoder) {
        out.u64(self.fingerprint());
        out.f64(self.time);
        out.u64(self.steps);
        out.u64(self.substeps);
        out.f32(self.previous_dt);
        out.f32(self.max_speed);
        out.f32(self.max_acceleration);
        out.f32(self.closing_speed);
        out.u64(self.removed);
        out.u32(u32::from(self.sides_stale));
        for (_, nozzle) in self.nozzles.iter() {
            out.u64(nozzle.emitter.made as u64);
            out.u64(nozzle.emitter.discs);
        }
        for (_, fluid) in self.fluids.iter() {
            fluid.save(out);
        }
        for (_, solid) in self.solids.iter() {
            solid.save(out);
        }
        self.meetings.save(out);
        for (_, grab) in self.grabs.iter() {
            out.f32s(&grab.shift.to_array());
        }
        self.softs.iter().for_each(|(_, s)| s.save(out));
        for (_, rigid) in self.rigids.iter() {
            rigid.save(out);
        }
        self.save_observers(out);
    }

    /// Restores what [`World::save`] wrote; from then on the world continues with
    /// the same bits as the one that was saved.
    pub fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        if from.u64()? != self.fingerprint() {
            return Err(CheckpointError::Mismatch(
                "it was made with other liquids, bodies, obstacles, fields or meshes".into(),
            ));
        }
        self.load_state(from)
    }

    /// Takes over the state of `other`, a world that was built in the same way but for
    /// some parameters, such as viscosities or forces, and goes on from there. A world of
    /// other matter, or of the same matter in other numbers, is refused, after which this
    /// one is not to be used.
    pub fn continue_from(&mut self, other: &World) -> Result<(), CheckpointError> {
        let mut out = Encoder::default();
        other.save(&mut out);
        let state = out.finish();
        let mut from = Decoder::open(&state)?;
        from.u64()?;
        self.load_state(&mut from)?;
        for ((_, nozzle), (_, before)) in self.nozzles.iter_mut().zip(other.nozzles.iter()) {
            let spacing = self.fluids.get(nozzle.fluid).map(|f| f.settings().spacing);
            if let Some(spacing) = spacing
                && nozzle.emitter.speed != before.emitter.speed
            {
                nozzle.emitter.resume(self.time, spacing);
            }
        }
        from.finish()
    }

    fn load_state(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        self.time = from.f64()?;
        self.steps = from.u64()?;
        self.substeps = from.u64()?;
        self.previous_dt = from.f32()?;
        self.max_speed = from.f32()?;
        self.max_acceleration = from.f32()?;
        self.closing_speed = from.f32()?;
        self.removed = from.u64()?;
        self.sides_stale = from.u32()? != 0;
        for (_, nozzle) in self.nozzles.iter_mut() {
            nozzle.emitter.made = from.u64()? as usize;
            nozzle.emitter.discs = from.u64()?;
        }
        for (_, fluid) in self.fluids.iter_mut() {
            fluid.load(from)?;
        }
        for (_, solid) in self.solids.iter_mut() {
            solid.load(from)?;
        }
        self.meetings.load(from)?;
        for (_, grab) in self.grabs.iter_mut() {
            let mut shift = [0.0; 3];
            from.f32s(&mut shift)?;
            grab.shift = Vec3::from_array(shift);
        }
        for (_, soft) in self.softs.iter_mut() {
            soft.load(from)?;
        }
        for (_, rigid) in self.rigids.iter_mut() {
            rigid.load(from)?;
        }
        // They are made again where the bodies are now; where particles belong is known.
        let stale = self.sides_stale;
        self.skins = Skins::default();
        self.refresh_skins();
        self.sides_stale = stale;
        let time = self.time;
        self.obstacles.iter_mut().for_each(|(_, o)| o.move_to(time));
        self.load_observers(from)
    }

    /// A number that differs between worlds built differently.
    fn fingerprint(&self) -> u64 {
        let mut hash = StateHash::default();
        hash.f32s(&self.gravity.to_array());
        hash.f32s(&[self.settings.cfl, self.settings.fixed.unwrap_or(0.0)]);
        if self.coupling != Coupling::Pressure {
            hash.text(&format!("{:?}", self.coupling));
        }
        for (i, fluid) in self.fluids.iter() {
            let s = fluid.settings();
            hash.word(i as u32);
            hash.f32s(&[
                s.material.density,
                s.material.viscosity,
                s.material.surface_tension,
                s.spacing,
                s.support,
                s.sound_speed.unwrap_or(0.0),
                s.numerical_viscosity,
                s.vorticity,
                f32::from(u8::from(s.negative_pressure)),
                f32::from(u8::from(s.density_kernel == DensityKernel::Poly6)),
            ]);
            hash.text(&format!("{:?} {:?}", s.pressure, s.tolerances));
            hash.text(&format!("{:?}", fluid.liquids()));
            hash.text(&s.max_particles.to_string());
        }
        for (i, solid) in self.solids.iter() {
            hash.word(i as u32);
            solid.fingerprint(&mut hash);
        }
        for (i, grab) in self.grabs.iter() {
            let held: Vec<u32> = grab.points().collect();
            hash.text(&format!("grab {i} {:?} {held:?}", grab.settings()));
        }
        for (i, soft) in self.softs.iter() {
            hash.word(i as u32);
            soft.fingerprint(&mut hash);
        }
        for (i, rigid) in self.rigids.iter() {
            hash.word(i as u32);
            rigid.fingerprint(&mut hash);
        }
        for (i, obstacle) in self.obstacles.iter() {
            hash.word(i as u32);
            obstacle.fingerprint(&mut hash);
        }
        // Debug prints numbers so that different ones differ.
        for (i, field) in self.fields.iter() {
            hash.text(&format!("field {i} {field:?}"));
        }
        for (i, nozzle) in self.nozzles.iter() {
            let fixed = Emitter {
                made: 0,
                discs: 0,
                ..nozzle.emitter.clone()
            };
            hash.text(&format!("nozzle {i} of {} {fixed:?}", nozzle.fluid.index()));
        }
        for (i, stroke) in self.strokes.iter() {
            hash.text(&format!("stroke {i} {stroke:?}"));
        }
        for (i, sink) in self.sinks.iter() {
            hash.text(&format!("sink {i} {sink:?}"));
        }
        hash.text(&self.observers.design());
        hash.value()
    }
}
