//! Pictures in motion: GIF by ourselves, MP4 if `ffmpeg` is there.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::PictureError;
use crate::image::Image;

/// Writes a GIF that repeats for ever, one picture at a time. The file is whole
/// when [`GifWriter::finish`] returns, and does not exist before.
pub struct GifWriter {
    path: PathBuf,
    temporary: PathBuf,
    encoder: gif::Encoder<BufWriter<File>>,
    size: (u32, u32),
    /// Hundredths of a second per picture.
    delay: u16,
}

impl GifWriter {
    /// Begins a file for pictures of this size, shown for `seconds` each.
    pub fn create(
        path: impl Into<PathBuf>,
        size: (u32, u32),
        seconds: f32,
    ) -> Result<GifWriter, PictureError> {
        let path = path.into();
        let mut temporary = path.clone().into_os_string();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let (Ok(width), Ok(height)) = (u16::try_from(size.0), u16::try_from(size.1)) else {
            return Err(problem(
                &path,
                "a GIF is at most 65,535 pixels wide and high",
            ));
        };
        let file = File::create(&temporary).map_err(|e| PictureError::io(&path, e))?;
        let out = BufWriter::new(file);
        let mut encoder =
            gif::Encoder::new(out, width, height, &[]).map_err(|e| problem(&path, e))?;
        encoder
            .set_repeat(gif::Repeat::Infinite)
            .map_err(|e| problem(&path, e))?;
        Ok(GifWriter {
            path,
            temporary,
            encoder,
            size,
            // Viewers slow down what is shown for less than 0.02 s.
            delay: (100.0 * seconds).round().clamp(2.0, 65_535.0) as u16,
        })
    }

    /// Adds a picture.
    pub fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        if (image.width(), image.height()) != self.size {
            return Err(problem(&self.path, "all pictures must have the same size"));
        }
        let (width, height) = (self.size.0 as u16, self.size.1 as u16);
        let mut frame = gif::Frame::from_rgb_speed(width, height, &image.to_rgb8(), 8);
        frame.delay = self.delay;
        self.encoder
            .write_frame(&frame)
            .map_err(|e| problem(&self.path, e))
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> Result<(), PictureError> {
        let mut out = self
            .encoder
            .into_inner()
            .map_err(|e| problem(&self.path, e))?;
        out.flush()
            .and_then(|()| std::fs::rename(&self.temporary, &self.path))
            .map_err(|e| PictureError::io(&self.path, e))
    }
}

/// Makes an MP4 of numbered pictures with the program `ffmpeg`. `pattern` is a
/// path such as `frames/frame_%05d.png`, `first` its first number.
pub fn write_mp4(
    path: &Path,
    pattern: &Path,
    first: u64,
    pictures_per_second: f32,
) -> Result<(), PictureError> {
    let output = Command::new("ffmpeg")
        .args(["-y", "-loglevel", "error", "-framerate"])
        .arg(pictures_per_second.to_string())
        .arg("-start_number")
        .arg(first.to_string())
        .arg("-i")
        .arg(pattern)
        .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"])
        .args(["-pix_fmt", "yuv420p"])
        .arg(path)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => Err(problem(path, String::from_utf8_lossy(&done.stderr).trim())),
        Err(e) => Err(problem(
            path,
            format!("the program ffmpeg is needed for MP4 and could not be started: {e}"),
        )),
    }
}

fn problem(path: &Path, what: impl std::fmt::Display) -> PictureError {
    PictureError::Animation {
        path: path.to_path_buf(),
        problem: what.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::Colour;

    #[test]
    fn a_gif_has_its_pictures_and_appears_only_when_whole() {
        let dir = std::env::temp_dir().join(format!("pliant-gif-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("a.gif");
        let mut gif = GifWriter::create(&path, (8, 6), 0.1).unwrap();
        for grey in [0x000000, 0xff8040, 0xffffff] {
            gif.add(&Image::new(8, 6, Colour::hex(grey))).unwrap();
        }
        assert!(gif.add(&Image::new(4, 4, Colour::BLACK)).is_err());
        assert!(!path.exists());
        gif.finish().unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut reader = options.read_info(File::open(&path).unwrap()).unwrap();
        let mut seen = Vec::new();
        while let Some(frame) = reader.read_next_frame().unwrap() {
            assert_eq!((frame.width, frame.height, frame.delay), (8, 6, 10));
            seen.push(frame.buffer[1]);
        }
        assert_eq!(seen.len(), 3);
        assert!(
            seen[0] < 8 && seen[1].abs_diff(0x80) < 8 && seen[2] > 247,
            "{seen:?}"
        );
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
