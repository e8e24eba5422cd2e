//! The textures that a picture is drawn in.

use super::layouts::Layouts;

/// Light as the eye will see it; linear, stored as sRGB.
pub(super) const COLOUR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Sums over everything a ray meets.
pub(super) const SUM: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Depths.
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The textures of one picture size.
pub(super) struct Targets {
    pub size: [u32; 2],
    pub colour: wgpu::Texture,
    pub colour_view: wgpu::TextureView,
    /// A copy of what is drawn so far, for what is seen through a liquid.
    pub behind: wgpu::Texture,
    pub depth: wgpu::TextureView,
    pub sums: [wgpu::TextureView; 2],
    /// For passes that read nothing drawn before: no target may be bound in its own pass.
    pub idle_group: wgpu::BindGroup,
    /// The picture.
    pub show_group: wgpu::BindGroup,
    /// What is behind a liquid, and the ways through it.
    pub behind_group: wgpu::BindGroup,
    /// The two sums of surfels.
    pub sums_group: wgpu::BindGroup,
}

impl Targets {
    pub fn new(device: &wgpu::Device, layouts: &Layouts, size: [u32; 2]) -> Targets {
        let make = |label, format, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d {
                    width: size[0],
                    height: size[1],
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let view = |t: &wgpu::Texture| t.create_view(&wgpu::TextureViewDescriptor::default());
        let (drawn, read) = (
            wgpu::TextureUsages::RENDER_ATTACHMENT,
            wgpu::TextureUsages::TEXTURE_BINDING,
        );
        let colour = make(
            "colour",
            COLOUR,
            drawn | read | wgpu::TextureUsages::COPY_SRC,
        );
        let behind = make("behind", COLOUR, read | wgpu::TextureUsages::COPY_DST);
        let sums = ["first sums", "second sums"].map(|label| view(&make(label, SUM, drawn | read)));
        let group = |label, first: &wgpu::TextureView, second: &wgpu::TextureView| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(label),
                layout: &layouts.drawn,
                entries: &[
                    wgpu::BindGroupEntry {
                        binding: 0,
                        resource: wgpu::BindingResource::TextureView(first),
                    },
                    wgpu::BindGroupEntry {
                        binding: 1,
                        resource: wgpu::BindingResource::TextureView(second),
                    },
                ],
            })
        };
        let colour_view = view(&colour);
        let behind_view = view(&behind);
        Targets {
            size,
            idle_group: group("idle", &behind_view, &behind_view),
            show_group: group("show", &colour_view, &behind_view),
            behind_group: group("behind", &behind_view, &sums[0]),
            sums_group: group("sums", &sums[0], &sums[1]),
            depth: view(&make("depth", DEPTH, drawn)),
            colour,
            colour_view,
            behind,
            sums,
        }
    }
}
