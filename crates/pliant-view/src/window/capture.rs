//! Pictures and animations of what the window shows, without its panels.

use std::path::{Path, PathBuf};

use pliant_render::{GifWriter, Image};

use crate::error::ViewError;
use crate::gpu::Gpu;
use crate::offscreen::Studio;
use crate::overlay::Caption;
use crate::renderer::Shown;

/// Most pixels across an animation: larger ones are slow to write and to load.
const WIDEST: u32 = 720;
/// Time between pictures of an animation, in seconds.
const PAUSE: f64 = 1.0 / 15.0;

/// Writes pictures and animations.
#[derive(Default)]
pub(super) struct Capture {
    studio: Option<Studio>,
    animation: Option<Animation>,
}

struct Animation {
    path: PathBuf,
    writer: GifWriter,
    size: [u32; 2],
    /// Simulated time of the next picture.
    due: f64,
    count: u32,
}

impl Capture {
    /// True while an animation is being written.
    pub fn is_recording(&self) -> bool {
        self.animation.is_some()
    }

    /// Writes a picture and returns its name.
    pub fn picture(
        &mut self,
        gpu: &Gpu,
        folder: &Path,
        name: &str,
        shown: &Shown<'_>,
        caption: &Caption,
    ) -> Result<PathBuf, ViewError> {
        let path = free_name(folder, name, "png");
        let image = self.draw(gpu, shown, caption)?;
        image.save_png(&path)?;
        Ok(path)
    }

    /// Begins an animation.
    pub fn begin(
        &mut self,
        folder: &Path,
        name: &str,
        shown: &Shown<'_>,
    ) -> Result<PathBuf, ViewError> {
        let path = free_name(folder, name, "gif");
        let [width, height] = shown.size;
        let across = width.min(WIDEST);
        let size = [across, (height * across / width.max(1)).max(1)];
        self.animation = Some(Animation {
            writer: GifWriter::create(&path, (size[0], size[1]), PAUSE as f32)?,
            path: path.clone(),
            size,
            due: shown.snapshot.time,
            count: 0,
        });
        Ok(path)
    }

    /// Adds a picture to the animation when it is time for one.
    pub fn follow(
        &mut self,
        gpu: &Gpu,
        shown: &Shown<'_>,
        caption: &Caption,
    ) -> Result<(), ViewError> {
        let Some(animation) = &mut self.animation else {
            return Ok(());
        };
        let time = shown.snapshot.time;
        // A reset goes on from there.
        if time < animation.due - 2.0 * PAUSE {
            animation.due = time;
        }
        if time < animation.due {
            return Ok(());
        }
        animation.due = (animation.due + PAUSE).max(time);
        animation.count += 1;
        let size = animation.size;
        let image = self.draw(gpu, &Shown { size, ..*shown }, caption)?;
        if let Some(animation) = &mut self.animation {
            animation.writer.add(&image)?;
        }
        Ok(())
    }

    /// Ends the animation and returns its name and the number of its pictures.
    pub fn end(&mut self) -> Result<Option<(PathBuf, u32)>, ViewError> {
        let Some(animation) = self.animation.take() else {
            return Ok(None);
        };
        animation.writer.finish()?;
        Ok(Some((animation.path, animation.count)))
    }

    fn draw(
        &mut self,
        gpu: &Gpu,
        shown: &Shown<'_>,
        caption: &Caption,
    ) -> Result<Image, ViewError> {
        let studio = self.studio.get_or_insert_with(|| Studio::new(gpu));
        studio.picture(gpu, shown, caption)
    }
}

/// A name that no file in `folder` has.
fn free_name(folder: &Path, name: &str, extension: &str) -> PathBuf {
    let numbered = |k: u32| folder.join(format!("{name}_{k:03}.{extension}"));
    (1..1000)
        .map(numbered)
        .find(|p| !p.exists())
        .unwrap_or_else(|| numbered(1000))
}
