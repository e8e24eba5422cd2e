//! What a world watches while it moves: sections, wetted and coated obstacles.

use super::{
    CheckpointError, Coating, CoatingError, CoatingSettings, Decoder, Encoder, Section, Wetting,
    WettingError,
};
use crate::contact::Obstacle;
use crate::fluid::Fluid;
use crate::math::XyzVec;
use crate::slots::{Handle, Slots};
use crate::world::{Matter, World};

/// The observers of a world, and what they remember between sub-steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observers {
    sections: Slots<Section>,
    wettings: Slots<Wetting>,
    coatings: Slots<Coating>,
    /// Where the points of each liquid were before they moved.
    before: Vec<XyzVec>,
    /// How far the fastest point may have come since the wettings have looked.
    travelled: f32,
}

impl World {
    /// Adds a section that counts what passes through it.
    pub fn add_section(&mut self, section: Section) -> Handle<Section> {
        self.observers.sections.add(section)
    }

    /// A section and what it has counted.
    pub fn section(&self, section: Handle<Section>) -> Option<&Section> {
        self.observers.sections.get(section)
    }

    /// Takes a section away.
    pub fn remove_section(&mut self, section: Handle<Section>) -> Option<Section> {
        self.observers.sections.remove(section)
    }

    /// Watches how much of an obstacle is wet, in patches of `patch_size` metres;
    /// give the spacing of the liquid.
    ///
    /// ```
    /// use pliant::{Fill, FluidSettings, Material, Obstacle, Region, Vec3, World};
    /// let mut world = World::new();
    /// let floor = world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
    /// let water = world.add_fluid(FluidSettings::new(Material::WATER, 0.02))?;
    /// let block = Region::Box { min: Vec3::ZERO, max: Vec3::splat(0.2) };
    /// world.fill(water, &Fill::Region(block))?;
    /// let wetting = world.add_wetting(floor, 0.02)?;
    /// let area = world.wetting(wetting).unwrap().now();
    /// assert!((area - 0.2 * 0.2).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_wetting(
        &mut self,
        obstacle: Handle<Obstacle>,
        patch_size: f32,
    ) -> Result<Handle<Wetting>, WettingError> {
        let surface = self.obstacle(obstacle).ok_or(WettingError::NoObstacle)?;
        let wetting = Wetting::new(obstacle, surface, patch_size)?;
        let handle = self.observers.wettings.add(wetting);
        self.look_at_walls();
        Ok(handle)
    }

    /// The wetted area of an obstacle as of the last step.
    pub fn wetting(&self, wetting: Handle<Wetting>) -> Option<&Wetting> {
        self.observers.wettings.get(wetting)
    }

    /// Stops watching how much of an obstacle is wet.
    pub fn remove_wetting(&mut self, wetting: Handle<Wetting>) -> Option<Wetting> {
        self.observers.wettings.remove(wetting)
    }

    /// Lets every contact with a mesh leave a film on it.
    pub fn add_coating(
        &mut self,
        obstacle: Handle<Obstacle>,
        settings: CoatingSettings,
    ) -> Result<Handle<Coating>, CoatingError> {
        let surface = self.obstacle(obstacle).ok_or(CoatingError::NoObstacle)?;
        let coating = Coating::new(obstacle, surface, settings)?;
        Ok(self.observers.coatings.add(coating))
    }

    /// The film on an obstacle.
    pub fn coating(&self, coating: Handle<Coating>) -> Option<&Coating> {
        self.observers.coatings.get(coating)
    }

    /// The film on an obstacle, to put a stored one there.
    pub fn coating_mut(&mut self, coating: Handle<Coating>) -> Option<&mut Coating> {
        self.observers.coatings.get_mut(coating)
    }

    /// Before the first sub-step of a step of `dt` seconds.
    pub(crate) fn observe_start(&mut self, dt: f32) {
        let sections = self.observers.sections.iter_mut();
        sections.for_each(|(_, s)| s.begin_step(dt));
    }

    /// The step ends after `dt` seconds already.
    pub(crate) fn observe_length(&mut self, dt: f32) {
        let sections = self.observers.sections.iter_mut();
        sections.for_each(|(_, s)| s.end_step_after(dt));
    }

    /// Before the points move.
    pub(crate) fn observe_places(&mut self) {
        if self.observers.sections.iter().next().is_none() {
            return;
        }
        let before = &mut self.observers.before;
        before.resize_with(self.fluids.iter().count(), XyzVec::default);
        for (places, (_, fluid)) in before.iter_mut().zip(self.fluids.iter()) {
            let now = fluid.positions();
            for (to, from) in [
                (&mut places.x, now.x),
                (&mut places.y, now.y),
                (&mut places.z, now.z),
            ] {
                to.clear();
                to.extend_from_slice(from);
            }
        }
    }

    /// After the points have moved for `dt` seconds.
    pub(crate) fn observe_motion(&mut self, dt: f32) {
        for (_, section) in self.observers.sections.iter_mut() {
            for (places, (_, fluid)) in self.observers.before.iter().zip(self.fluids.iter()) {
                section.count(places.view(), &fluid.points(), fluid.particle_volume());
            }
        }
        self.paint_walls(dt);
        // A drop wets a disc wider than a spacing: looking once for every spacing
        // that the fastest has gone leaves no gaps in its trail.
        self.observers.travelled += self.max_speed * dt;
        let spacings = self.fluids.iter().map(|(_, f)| f.settings().spacing);
        if self.observers.travelled >= spacings.fold(f32::INFINITY, f32::min) {
            self.look_at_walls();
        }
    }

    /// Paints what has touched walls during the last sub-step.
    fn paint_walls(&mut self, dt: f32) {
        for (_, coating) in self.observers.coatings.iter_mut() {
            let obstacle = self.obstacles.get(coating.obstacle());
            let Some(mesh) = obstacle.and_then(Obstacle::triangles) else {
                continue;
            };
            let fluids = &self.fluids;
            coating.paint(mesh, &self.contacts, dt, |matter| {
                let fluid = fluids.iter().find(|(i, _)| *i == matter as usize);
                fluid.map_or(0.0, |(_, f)| f.settings().spacing.powi(2))
            });
        }
    }

    /// Finds again what is wet, as at the end of a step.
    pub(crate) fn look_at_walls(&mut self) {
        self.observers.travelled = 0.0;
        let fluids: Vec<&Fluid> = self.fluids.iter().map(|(_, f)| f).collect();
        for (_, wetting) in self.observers.wettings.iter_mut() {
            wetting.update(self.obstacles.get(wetting.obstacle()), &fluids);
        }
    }

    pub(crate) fn save_observers(&self, out: &mut Encoder) {
        let Observers {
            sections,
            wettings,
            coatings,
            ..
        } = &self.observers;
        sections.iter().for_each(|(_, s)| s.save(out));
        wettings.iter().for_each(|(_, w)| w.save(out));
        coatings.iter().for_each(|(_, c)| c.save(out));
    }

    /// Restores what [`World::save_observers`] wrote; the matter must be in place.
    pub(crate) fn load_observers(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        for (_, section) in self.observers.sections.iter_mut() {
            section.load(from)?;
        }
        for (_, wetting) in self.observers.wettings.iter_mut() {
            wetting.load(from)?;
        }
        for (_, coating) in self.observers.coatings.iter_mut() {
            coating.load(from)?;
        }
        self.look_at_walls();
        Ok(())
    }
}

impl Observers {
    /// What the observers are, without what they have seen: for fingerprints.
    pub fn design(&self) -> String {
        let mut text = String::new();
        for (i, section) in self.sections.iter() {
            text += &format!("section {i} {} ", section.design());
        }
        for (i, wetting) in self.wettings.iter() {
            text += &format!("wetting {i} {} ", wetting.design());
        }
        for (i, coating) in self.coatings.iter() {
            text += &format!("coating {i} {} ", coating.design());
        }
        text
    }
}
