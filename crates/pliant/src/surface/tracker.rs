//! A surface that follows particles from frame to frame.

use glam::Vec3;

use super::blob::{self, Blob, Blobs};
use super::kept_blocks::{Change, KeptBlocks};
use super::{Surface, SurfaceError, SurfaceSettings, blocks, smooth};
use crate::math::{Xyz, XyzVec};

/// Particles that moved less than this share of a spacing since they were last
/// drawn stay where they were drawn.
const STILL: f32 = 0.02;

/// If a larger share of the blobs changes, all is done anew.
const MOST_CHANGES: f32 = 0.3;

/// Not in the last frame.
const NEW: u32 = u32::MAX;

/// Draws the surface of moving particles. It keeps the field of every block of the grid,
/// and sums anew only the nodes that are near what has moved. The result is that of
/// [`super::surface_of`] for particles at most a fiftieth of a spacing from the given
/// ones, in the order of their names.
///
/// Flat kernels, smoothing and the correction of the volume look at all particles or at
/// the whole mesh and are made anew each time.
#[derive(Debug)]
pub struct SurfaceTracker {
    settings: SurfaceSettings,
    /// Names, drawn places and blobs of the last frame, by name.
    ids: Vec<u32>,
    drawn: XyzVec,
    blobs: Blobs,
    kept: KeptBlocks,
}

/// The particles of a frame, by name.
struct Frame {
    ids: Vec<u32>,
    drawn: XyzVec,
    /// Their numbers in the last frame, or [`NEW`].
    before: Vec<u32>,
    /// Where particles have come from and gone to.
    changed: Vec<Vec3>,
}

impl SurfaceTracker {
    /// A tracker that has seen nothing.
    pub fn new(settings: SurfaceSettings) -> Result<SurfaceTracker, SurfaceError> {
        settings.check()?;
        Ok(SurfaceTracker {
            settings,
            ids: Vec::new(),
            drawn: XyzVec::default(),
            blobs: Blobs::default(),
            kept: KeptBlocks::default(),
        })
    }

    /// The surface of the particles as they are now. `ids` name them from frame to
    /// frame, in any order; each is given once. Those that are not finite are left out.
    pub fn update(&mut self, positions: Xyz<'_>, ids: &[u32]) -> Result<Surface, SurfaceError> {
        let frame = self.frame(positions, ids);
        let blobs = self.blobs_of(&frame);
        blocks::check_reach(&blobs.blobs, &self.settings)?;
        let changes = changes(&self.blobs.blobs, &blobs.blobs, &frame.before);
        if changes.len() as f32 > MOST_CHANGES * blobs.blobs.len() as f32 {
            self.kept = KeptBlocks::new(&blobs.blobs, &self.settings);
        } else {
            let same_numbers = self.ids == frame.ids;
            let numbers = (!same_numbers).then(|| inverse(&frame.before, self.ids.len()));
            self.kept
                .change(&changes, numbers.as_deref(), &self.settings);
        }
        self.ids = frame.ids;
        self.drawn = frame.drawn;
        self.blobs = blobs;
        let surface = self.kept.surface(&self.blobs.blobs, &self.settings)?;
        Ok(smooth::finish(surface, &self.blobs, &self.settings))
    }

    /// Finds the particles of the last frame again, and where all are drawn now.
    fn frame(&self, positions: Xyz<'_>, ids: &[u32]) -> Frame {
        let mut order: Vec<u32> = (0..positions.len().min(ids.len()) as u32)
            .filter(|&i| positions.get(i as usize).is_finite())
            .collect();
        order.sort_unstable_by_key(|&i| (ids[i as usize], i));
        let limit = (STILL * self.settings.spacing).powi(2);
        let mut frame = Frame {
            ids: Vec::with_capacity(order.len()),
            drawn: XyzVec::default(),
            before: Vec::with_capacity(order.len()),
            changed: Vec::new(),
        };
        let mut old = 0;
        for &i in &order {
            let (id, now) = (ids[i as usize], positions.get(i as usize));
            while old < self.ids.len() && self.ids[old] < id {
                frame.changed.push(self.drawn.get(old));
                old += 1;
            }
            let known = self.ids.get(old) == Some(&id);
            let place = match known.then(|| self.drawn.get(old)) {
                Some(p) if p.distance_squared(now) < limit => p,
                Some(p) => {
                    frame.changed.extend([p, now]);
                    now
                }
                None => {
                    frame.changed.push(now);
                    now
                }
            };
            frame.ids.push(id);
            frame.drawn.push(place);
            frame.before.push(if known { old as u32 } else { NEW });
            old += usize::from(known);
        }
        frame
            .changed
            .extend((old..self.ids.len()).map(|o| self.drawn.get(o)));
        frame
    }

    fn blobs_of(&self, frame: &Frame) -> Blobs {
        if self.settings.anisotropic || self.ids.is_empty() {
            return blob::blobs(frame.drawn.view(), &self.settings);
        }
        let fullness = frame
            .before
            .iter()
            .map(|&b| self.blobs.fullness.get(b as usize).copied().unwrap_or(0.0))
            .collect();
        blob::round_blobs_again(&frame.drawn, &self.settings, fullness, &frame.changed)
    }
}

/// The blobs that are not what they were. `before` are their numbers in the last frame.
fn changes<'a>(old: &'a [Blob], new: &'a [Blob], before: &[u32]) -> Vec<Change<'a>> {
    let mut changes = Vec::new();
    let mut next = 0;
    let numbered = |blobs: &'a [Blob], i: u32| Some((i, &blobs[i as usize]));
    let gone = |i: u32| Change {
        before: numbered(old, i),
        after: None,
    };
    for (i, (blob, &b)) in new.iter().zip(before).enumerate() {
        let after = Some((i as u32, blob));
        if b == NEW {
            changes.push(Change {
                before: None,
                after,
            });
            continue;
        }
        changes.extend((next..b).map(gone));
        next = b + 1;
        let before = numbered(old, b);
        if old[b as usize] != *blob {
            changes.push(Change { before, after });
        }
    }
    changes.extend((next..old.len() as u32).map(gone));
    changes
}

/// New numbers of `count` old ones; those that are gone have none.
fn inverse(before: &[u32], count: usize) -> Vec<u32> {
    let mut numbers = vec![NEW; count];
    for (i, &b) in before.iter().enumerate() {
        if b != NEW {
            numbers[b as usize] = i as u32;
        }
    }
    numbers
}
