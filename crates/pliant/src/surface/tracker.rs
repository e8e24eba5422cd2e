//! A surface that follows particles from frame to frame.

use super::blocks;
use super::extract::{self, Block};
use super::{Surface, SurfaceError, SurfaceSettings, blob, smooth};
use crate::math::{Xyz, XyzVec};

/// Particles that moved less than this share of a spacing since they were last
/// drawn stay where they were drawn.
const STILL: f32 = 0.02;

/// Draws the surface of moving particles and keeps every block of the grid in
/// which nothing has moved. The result is that of [`super::surface_of`] for
/// particles at most a fiftieth of a spacing from the given ones.
///
/// Smoothing and the correction of the volume look at the whole mesh and are made
/// anew each time.
#[derive(Debug)]
pub struct SurfaceTracker {
    settings: SurfaceSettings,
    /// Names and drawn places of the last frame, by name.
    ids: Vec<u32>,
    drawn: XyzVec,
    blocks: Vec<Block>,
}

impl SurfaceTracker {
    /// A tracker that has seen nothing.
    pub fn new(settings: SurfaceSettings) -> Result<SurfaceTracker, SurfaceError> {
        settings.check()?;
        Ok(SurfaceTracker {
            settings,
            ids: Vec::new(),
            drawn: XyzVec::default(),
            blocks: Vec::new(),
        })
    }

    /// The surface of the particles as they are now. `ids` name them from frame to
    /// frame, in any order; each is given once.
    pub fn update(&mut self, positions: Xyz<'_>, ids: &[u32]) -> Result<Surface, SurfaceError> {
        let mut order: Vec<u32> = (0..positions.len().min(ids.len()) as u32).collect();
        order.sort_unstable_by_key(|&i| (ids[i as usize], i));
        let limit = (STILL * self.settings.spacing).powi(2);
        let mut drawn = XyzVec::default();
        let mut old = 0;
        for &i in &order {
            let (id, now) = (ids[i as usize], positions.get(i as usize));
            while old < self.ids.len() && self.ids[old] < id {
                old += 1;
            }
            let before = (self.ids.get(old) == Some(&id)).then(|| self.drawn.get(old));
            drawn.push(match before {
                Some(p) if p.distance_squared(now) < limit => p,
                _ => now,
            });
        }
        let blobs = blob::blobs(drawn.view(), &self.settings);
        let blocks = blocks::assign(&blobs.blobs, &self.settings)?;
        let known = std::mem::take(&mut self.blocks);
        let (surface, found) = extract::extract(&blobs.blobs, blocks, &self.settings, known)?;
        self.blocks = found;
        self.ids = order.iter().map(|&i| ids[i as usize]).collect();
        self.drawn = drawn;
        Ok(smooth::finish(surface, &blobs, &self.settings))
    }
}
