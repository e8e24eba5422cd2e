//! Pictures without a window.

use glam::Vec3;
use pliant_render::{Colour, Image};

use crate::error::ViewError;
use crate::gpu::Gpu;
use crate::gui::Gui;
use crate::overlay::Caption;
use crate::renderer::{Renderer, Shown};

/// Takes sRGB numbers as they are.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Makes pictures with the live renderer, off screen.
pub struct Offscreen {
    gpu: Gpu,
    studio: Studio,
}

/// What makes pictures on a device that others use, too.
pub(crate) struct Studio {
    renderer: Renderer,
    gui: Gui,
}

impl Offscreen {
    /// Opens a device without a window.
    pub fn new() -> Result<Offscreen, ViewError> {
        let gpu = Gpu::headless()?;
        let made = Offscreen {
            studio: Studio::new(&gpu),
            gpu,
        };
        made.gpu.check()?;
        Ok(made)
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Makes a picture.
    pub fn picture(&mut self, shown: &Shown<'_>, caption: &Caption) -> Result<Image, ViewError> {
        self.studio.picture(&self.gpu, shown, caption)
    }
}

impl Studio {
    pub fn new(gpu: &Gpu) -> Studio {
        Studio {
            renderer: Renderer::new(gpu, FORMAT),
            gui: Gui::new(gpu, FORMAT),
        }
    }

    /// Makes a picture.
    pub fn picture(
        &mut self,
        gpu: &Gpu,
        shown: &Shown<'_>,
        caption: &Caption,
    ) -> Result<Image, ViewError> {
        self.renderer.draw(gpu, shown, &[])?;
        let [width, height] = shown.size;
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let target = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let whole = [0.0, 0.0, width as f32, height as f32];
        self.renderer
            .show(&mut encoder, &target, whole, wgpu::Color::BLACK);
        let area =
            egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width as f32, height as f32));
        let input = egui::RawInput {
            screen_rect: Some(area),
            ..egui::RawInput::default()
        };
        let output = self
            .gui
            .context
            .run_ui(input, |ui| caption.paint(ui.painter(), area));
        self.gui
            .paint(gpu, &mut encoder, &target, shown.size, output);
        let picture = read_back(gpu, encoder, &texture)?;
        gpu.check()?;
        Ok(picture)
    }
}

/// Submits `encoder` and reads what it has drawn.
pub(crate) fn read_back(
    gpu: &Gpu,
    mut encoder: wgpu::CommandEncoder,
    texture: &wgpu::Texture,
) -> Result<Image, ViewError> {
    let (width, height) = (texture.width(), texture.height());
    let row = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture"),
        size: u64::from(row) * u64::from(height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: None,
            },
        },
        texture.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    let (done, arrived) = std::sync::mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        // Nobody waits any more if the device has failed.
        let _ = done.send(result);
    });
    let lost = |e: String| ViewError::Lost(e);
    gpu.device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(|e| lost(e.to_string()))?;
    match arrived.recv() {
        Ok(Ok(())) => {}
        Ok(Err(e)) => return Err(lost(e.to_string())),
        Err(_) => return Err(lost("a picture could not be read back".into())),
    }
    let bytes = buffer
        .get_mapped_range(..)
        .map_err(|e| lost(e.to_string()))?;
    let swapped = matches!(
        texture.format(),
        wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Bgra8UnormSrgb
    );
    let linear: Vec<f32> = (0..256u32).map(|b| Colour::hex(b << 16).r).collect();
    let mut image = Image::new(width, height, Colour::BLACK);
    for (y, line) in bytes.chunks_exact(row as usize).enumerate() {
        for (x, texel) in line.chunks_exact(4).take(width as usize).enumerate() {
            let mut c = Vec3::from_array([0, 1, 2].map(|k: usize| linear[texel[k] as usize]));
            if swapped {
                c = Vec3::new(c.z, c.y, c.x);
            }
            image.set_pixel(x as u32, y as u32, Colour::linear(c.x, c.y, c.z));
        }
    }
    Ok(image)
}
