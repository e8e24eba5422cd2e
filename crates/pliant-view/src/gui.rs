//! Draws what egui makes, on a window or on a picture.

use crate::gpu::Gpu;
use crate::renderer::begin_pass;

/// egui's painter on our device.
pub(crate) struct Gui {
    pub context: egui::Context,
    painter: egui_wgpu::Renderer,
}

impl Gui {
    /// For targets of this format.
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Gui {
        let options = egui_wgpu::RendererOptions::default();
        Gui {
            context: egui::Context::default(),
            painter: egui_wgpu::Renderer::new(&gpu.device, format, options),
        }
    }

    /// Draws over what `target` shows already. Returns what egui itself wants done.
    pub fn paint(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        size: [u32; 2],
        output: egui::FullOutput,
    ) -> egui::PlatformOutput {
        for (id, deltas) in &output.textures_delta.set {
            for delta in deltas {
                self.painter
                    .update_texture(&gpu.device, &gpu.queue, *id, delta);
            }
        }
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: size,
            pixels_per_point: output.pixels_per_point,
        };
        let jobs = self
            .context
            .tessellate(output.shapes, output.pixels_per_point);
        let before = self
            .painter
            .update_buffers(&gpu.device, &gpu.queue, encoder, &jobs, &screen);
        gpu.queue.submit(before);
        {
            let pass = begin_pass(encoder, &[(target, wgpu::LoadOp::Load)], None);
            self.painter
                .render(&mut pass.forget_lifetime(), &jobs, &screen);
        }
        for id in &output.textures_delta.free {
            self.painter.free_texture(id);
        }
        output.platform_output
    }
}
