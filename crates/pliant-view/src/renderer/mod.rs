//! The live renderer: snapshots to pictures, the same off screen and in a window.
//!
//! [`Renderer::draw`] draws into textures of its own, [`Renderer::show`] puts the result
//! on a window or on a picture. `items.rs` makes buffers of a snapshot, `passes.rs` draws
//! them in their order, `pipelines.rs` says how, `targets.rs` into what; `layouts.rs` and
//! `textures.rs` are what shaders read. The shaders are in `src/shaders`.

mod items;
mod layouts;
mod passes;
mod pipelines;
mod targets;
mod textures;

use glam::Vec3;
use pliant_render::{Camera, Colour, ColourMap, Legend};

use crate::error::ViewError;
use crate::gpu::Gpu;
use crate::look::{Look, Mode};
use crate::snapshot::Snapshot;
use items::Uploads;
use layouts::{Frame, FrameSettings, Layouts, Object};
use pipelines::Pipelines;
use targets::Targets;

pub(crate) use passes::begin as begin_pass;

/// A ball of air that marks a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its middle in metres.
    pub centre: Vec3,
    /// In metres.
    pub radius: f32,
    /// Its colour.
    pub colour: Colour,
}

/// What a picture shows.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The state.
    pub snapshot: &'a Snapshot,
    /// How it is shown.
    pub look: &'a Look,
    /// From where.
    pub camera: &'a Camera,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

/// Draws snapshots.
pub struct Renderer {
    layouts: Layouts,
    pipelines: Pipelines,
    frame: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    /// For what has no looks of its own.
    plain: wgpu::BindGroup,
    targets: Option<Targets>,
    uploads: Uploads,
}

impl Renderer {
    /// Compiles all shaders. Pictures will be shown on targets of `format`, which takes
    /// sRGB numbers as they are (no `Srgb` format).
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Renderer {
        let device = &gpu.device;
        let layouts = Layouts::new(device);
        let pipelines = Pipelines::new(device, &layouts, format);
        let frame = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("frame"),
            size: size_of::<Frame>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        let maps = textures::colour_maps(device, &gpu.queue);
        let surroundings = textures::surroundings(device, &gpu.queue);
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let frame_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("frame"),
            layout: &layouts.frame,
            entries: &[
                entry(0, frame.as_entire_binding()),
                entry(1, wgpu::BindingResource::TextureView(&maps)),
                entry(2, wgpu::BindingResource::TextureView(&surroundings)),
                entry(3, wgpu::BindingResource::Sampler(&sampler)),
            ],
        });
        let plain = object_group(gpu, &layouts, &Object::default());
        Renderer {
            layouts,
            pipelines,
            frame,
            frame_group,
            plain,
            targets: None,
            uploads: Uploads::default(),
        }
    }

    /// Draws a snapshot into textures of its own.
    pub fn draw(&mut self, gpu: &Gpu, shown: &Shown<'_>, marks: &[Mark]) -> Result<(), ViewError> {
        let Shown {
            snapshot,
            look,
            camera,
            size,
        } = *shown;
        let most = gpu.device.limits().max_texture_dimension_2d;
        let finer = look.samples.clamp(1, 4);
        let fine = size.map(|s| s.saturating_mul(finer));
        if size.contains(&0) || fine.iter().any(|s| *s > most) {
            let [width, height] = fine;
            return Err(ViewError::TooLarge {
                width,
                height,
                most,
            });
        }
        if self.targets.as_ref().is_none_or(|t| t.size != fine) {
            self.targets = Some(Targets::new(&gpu.device, &self.layouts, fine));
        }
        self.uploads.update(gpu, snapshot, look);
        let bounds = snapshot.bounds;
        let radius = (0.5 * bounds.size().length()).max(1e-6);
        let view = camera.view(fine[0], fine[1]);
        let settings = FrameSettings {
            size: fine,
            centre: bounds.center(),
            radius,
            floor: snapshot.floor.unwrap_or(0.0),
            square: floor_square(snapshot),
            exposure: look.exposure,
            inverted: look.inverted,
            dark: look.mode.is_dark(),
        };
        let frame = Frame::new(&view, &settings);
        gpu.queue
            .write_buffer(&self.frame, 0, bytemuck::bytes_of(&frame));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.encode(gpu, &mut encoder, snapshot, look, &view, marks);
        gpu.queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Puts what was drawn last on `target`, at `place` (left, top, width, height in
    /// pixels) and clears the rest to `around`.
    pub fn show(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        place: [f32; 4],
        around: wgpu::Color,
    ) {
        let mut pass = passes::begin(encoder, &[(target, wgpu::LoadOp::Clear(around))], None);
        if let Some(targets) = &self.targets {
            let [left, top, width, height] = place;
            pass.set_viewport(left, top, width, height, 0.0, 1.0);
            pass.set_pipeline(&self.pipelines.show);
            pass.set_bind_group(0, &self.frame_group, &[]);
            pass.set_bind_group(1, &self.plain, &[]);
            pass.set_bind_group(2, &targets.show_group, &[]);
            pass.draw(0..3, 0..1);
        }
    }
}

/// The numbers of an object where shaders find them.
fn object_group(gpu: &Gpu, layouts: &Layouts, object: &Object) -> wgpu::BindGroup {
    let buffer = items::buffer(gpu, bytemuck::bytes_of(object), wgpu::BufferUsages::UNIFORM);
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("object"),
        layout: &layouts.object,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: buffer.as_entire_binding(),
        }],
    })
}

/// Side of a square of the floor: 1, 2 or 5 times a power of ten metres, about a fifth
/// of the scene's size.
pub fn floor_square(snapshot: &Snapshot) -> f32 {
    let wanted = (0.1 * snapshot.bounds.size().length()).max(1e-6);
    let power = 10f32.powf(wanted.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let fits = steps.into_iter().find(|s| s * power >= 0.999 * wanted);
    fits.unwrap_or(10.0) * power
}

/// The ends of the colour scale.
pub fn colour_range(snapshot: &Snapshot, look: &Look) -> (f32, f32) {
    let name = look.field.as_deref().unwrap_or("speed");
    look.range
        .or_else(|| snapshot.range_of(name))
        .unwrap_or((0.0, 1.0))
}

/// The bar that explains the colours, if there is anything to explain.
pub fn legend(snapshot: &Snapshot, look: &Look) -> Option<Legend> {
    if matches!(look.mode, Mode::Xray | Mode::Surface) {
        return None;
    }
    let cloud = snapshot.clouds.first();
    let (name, map) = match &look.field {
        Some(name) => (name.as_str(), ColourMap::default()),
        None => ("speed", cloud?.material.map),
    };
    let unit = match name {
        "speed" => " [m/s]",
        "pressure" | "von_mises" => " [Pa]",
        "density" => " [kg/m³]",
        "displacement" => " [m]",
        _ => "",
    };
    Some(Legend {
        title: format!("{}{unit}", name.replace('_', " ")),
        map,
        range: colour_range(snapshot, look),
    })
}
