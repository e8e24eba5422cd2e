//! A picture in memory and its PNG file.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;
use rayon::prelude::*;

use crate::colour::{Colour, linear_to_srgb};
use crate::error::PictureError;

/// Largest width or height: a picture beyond it is clamped to it.
const MAX_SIDE: u32 = 16_384;

/// A picture: linear light inside, 8-bit sRGB when saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<Vec3>,
}

impl Image {
    /// A picture of one colour. Sides are at least 1 and at most 16,384 pixels.
    pub fn new(width: u32, height: u32, colour: Colour) -> Image {
        let (width, height) = (width.clamp(1, MAX_SIDE), height.clamp(1, MAX_SIDE));
        Image {
            width,
            height,
            pixels: vec![colour.to_vec(); width as usize * height as usize],
        }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The colour at column `x`, row `y` from the top; `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<Colour> {
        (x < self.width && y < self.height)
            .then(|| self.pixels[y as usize * self.width as usize + x as usize].into())
    }

    /// Overwrites a pixel; outside the picture nothing happens.
    pub fn set_pixel(&mut self, x: u32, y: u32, colour: Colour) {
        if x < self.width && y < self.height {
            self.pixels[y as usize * self.width as usize + x as usize] = colour.to_vec();
        }
    }

    pub(crate) fn pixels_mut(&mut self) -> &mut [Vec3] {
        &mut self.pixels
    }

    /// Covers part of a pixel with ink. The mix is done near sRGB encoding
    /// (square root of light), because thin dark strokes fade in linear light.
    pub(crate) fn blend(&mut self, x: u32, y: u32, colour: Vec3, coverage: f32) {
        let i = y as usize * self.width as usize + x as usize;
        let root = |v: Vec3| v.max(Vec3::ZERO).map(f32::sqrt);
        let mixed = root(self.pixels[i]).lerp(root(colour), coverage);
        self.pixels[i] = mixed * mixed;
    }

    /// The picture as rows of 8-bit sRGB triples, top row first.
    pub fn to_rgb8(&self) -> Vec<u8> {
        let table = EncodeTable::new();
        let mut bytes = vec![0; self.pixels.len() * 3];
        let row = self.width as usize;
        bytes
            .par_chunks_mut(3 * row)
            .zip(self.pixels.par_chunks(row))
            .for_each(|(out, pixels)| {
                for (o, p) in out.chunks_exact_mut(3).zip(pixels) {
                    o.copy_from_slice(&[p.x, p.y, p.z].map(|c| table.encode(c)));
                }
            });
        bytes
    }

    /// Writes the picture as a PNG file. The bytes go to a temporary file in the
    /// same folder that is renamed at the end, so `path` is never half-written.
    pub fn save_png(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        let path = path.as_ref();
        let temporary = temporary_name(path);
        let written = self
            .write_png(path, &temporary)
            .and_then(|()| fs::rename(&temporary, path).map_err(|e| PictureError::io(path, e)));
        if written.is_err() {
            // The first error is the one worth reporting.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn write_png(&self, path: &Path, temporary: &Path) -> Result<(), PictureError> {
        let io = |e| PictureError::io(path, e);
        let encoding = |e| match e {
            png::EncodingError::IoError(e) => PictureError::io(path, e),
            source => PictureError::Encode {
                path: path.to_path_buf(),
                source,
            },
        };
        let file = fs::File::create(temporary).map_err(io)?;
        let mut out = BufWriter::new(file);
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header().map_err(encoding)?;
        writer.write_image_data(&self.to_rgb8()).map_err(encoding)?;
        writer.finish().map_err(encoding)?;
        out.flush().map_err(io)
    }
}

/// The name under which a file is written before it is whole.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

/// The sRGB curve, tabulated finely enough that every output byte is right to
/// within rounding.
struct EncodeTable(Vec<u8>);

impl EncodeTable {
    const STEPS: usize = 1 << 14;

    fn new() -> Self {
        let entry = |i| (linear_to_srgb(i as f32 / Self::STEPS as f32) * 255.0).round() as u8;
        EncodeTable((0..=Self::STEPS).map(entry).collect())
    }

    fn encode(&self, linear: f32) -> u8 {
        // A float cast saturates and maps NaN to 0.
        self.0[(linear.clamp(0.0, 1.0) * Self::STEPS as f32 + 0.5) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("pliant-image-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn a_saved_picture_reads_back_and_leaves_no_temporary() {
        let dir = folder("round-trip");
        let path = dir.join("a.png");
        let mut image = Image::new(3, 2, Colour::WHITE);
        image.set_pixel(2, 1, Colour::hex(0x336699));
        image.save_png(&path).unwrap();

        let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; 18];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(bytes[..3], [255; 3]);
        assert_eq!(bytes[15..], [0x33, 0x66, 0x99]);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn an_impossible_path_is_named_in_the_error() {
        let path = Path::new("/nowhere/at/all.png");
        let error = Image::new(1, 1, Colour::BLACK).save_png(path).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all.png"));
    }

    #[test]
    fn odd_values_encode_without_panic() {
        let mut image = Image::new(2, 1, Colour::linear(f32::NAN, -1.0, 9.0));
        image.set_pixel(9, 9, Colour::WHITE);
        assert_eq!(image.to_rgb8(), [0, 0, 255, 0, 0, 255]);
        assert_eq!(image.pixel(2, 0), None);
    }
}
