//! Draws what egui makes, on a window or on a picture.

use crate::gpu::Gpu;
use crate::renderer::begin_pass;

/// egui's painter on our device.
pub(crate) struct Gui {
    pub context: egui::Context,
    painter: egui_wgpu::Renderer,
    /// Not needed any more after the next painting.
    unused: Vec<egui::TextureId>,
}

impl Gui {
    /// For targets of this format.
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Gui {
        let options = egui_wgpu::RendererOptions::default();
        Gui {
            context: egui::Context::default(),
            painter: egui_wgpu::Renderer::new(&gpu.device, format, options),
            unused: Vec::new(),
        }
    }

    /// Takes over new pictures of letters and signs. Must happen for every output, even
    /// if it is not painted: egui does not send them again.
    pub fn take_textures(&mut self, gpu: &Gpu, output: &mut egui::FullOutput) {
        let delta = &mut output.textures_delta;
        for (id, deltas) in &delta.set {
            for delta in deltas {
                self.painter
                    .update_texture(&gpu.device, &gpu.queue, *id, delta);
            }
        }
        self.unused.extend(delta.free.iter().copied());
        delta.clear();
    }

    /// Draws over what `target` shows already. Returns what egui itself wants done.
    pub fn paint(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        size: [u32; 2],
        mut output: egui::FullOutput,
    ) -> egui::PlatformOutput {
        self.take_textures(gpu, &mut output);
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
        for id in self.unused.drain(..) {
            self.painter.free_texture(&id);
        }
        output.platform_output
    }
}
