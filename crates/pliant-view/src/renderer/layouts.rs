//! The numbers that shaders read, and where they find them.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};
use pliant_render::View;

/// `Frame` of `common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Frame {
    view_proj: [f32; 16],
    right: [f32; 4],
    up: [f32; 4],
    forward: [f32; 4],
    eye: [f32; 4],
    light: [f32; 4],
    screen: [f32; 4],
    centre: [f32; 4],
    more: [f32; 4],
}

/// What of a frame does not follow from the camera.
pub(super) struct FrameSettings {
    /// Pixels.
    pub size: [u32; 2],
    /// Middle of the scene, and half its diagonal.
    pub centre: Vec3,
    pub radius: f32,
    /// Height of the floor and side of its squares.
    pub floor: f32,
    pub square: f32,
    pub exposure: f32,
    pub inverted: bool,
    /// The ground is dark.
    pub dark: bool,
}

impl Frame {
    pub fn new(view: &View, settings: &FrameSettings) -> Frame {
        let [width, height] = settings.size.map(|s| s as f32);
        // View space has x right, y up and z towards the eye, as wgpu's clip space.
        let rotation = Mat4::from_cols(
            view.right.extend(0.0),
            view.up.extend(0.0),
            (-view.forward).extend(0.0),
            Vec4::W,
        );
        let to_view = rotation.transpose() * Mat4::from_translation(-view.eye);
        let distance = (settings.centre - view.eye).length();
        let reach = 8.0 * settings.radius;
        let near = (0.01 * distance).max(distance - 4.0 * reach).max(1e-5);
        let projection = perspective(
            [2.0 * view.focal / width, 2.0 * view.focal / height],
            [near, distance + reach],
        );
        // A lamp above the left shoulder of who looks.
        let light = (0.55 * Vec3::Y - 0.35 * view.right + 0.25 * view.up - 0.45 * view.forward)
            .normalize_or(Vec3::Y);
        Frame {
            view_proj: (projection * to_view).to_cols_array(),
            right: view.right.extend(0.0).to_array(),
            up: view.up.extend(0.0).to_array(),
            forward: view.forward.extend(0.0).to_array(),
            eye: view.eye.extend(0.0).to_array(),
            light: light.extend(0.0).to_array(),
            screen: [width, height, view.focal, settings.radius],
            centre: settings.centre.extend(settings.floor).to_array(),
            more: [
                settings.exposure,
                f32::from(u8::from(settings.inverted)),
                settings.square,
                f32::from(u8::from(settings.dark)),
            ],
        }
    }
}

/// From view space to clip space, depths from 0 to 1.
fn perspective(scale: [f32; 2], [near, far]: [f32; 2]) -> Mat4 {
    let depth = far / (near - far);
    Mat4::from_cols(
        Vec4::new(scale[0], 0.0, 0.0, 0.0),
        Vec4::new(0.0, scale[1], 0.0, 0.0),
        Vec4::new(0.0, 0.0, depth, -1.0),
        Vec4::new(0.0, 0.0, near * depth, 0.0),
    )
}

/// `Object` of `common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(super) struct Object {
    pub colour: [f32; 4],
    pub numbers: [f32; 4],
    pub more: [f32; 4],
    pub light: [f32; 4],
}

/// The three groups that shaders bind: frame, object, and textures drawn before.
pub(super) struct Layouts {
    pub frame: wgpu::BindGroupLayout,
    pub object: wgpu::BindGroupLayout,
    pub drawn: wgpu::BindGroupLayout,
}

impl Layouts {
    pub fn new(device: &wgpu::Device) -> Layouts {
        let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: both,
            ty,
            count: None,
        };
        let uniform = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let texture = |view_dimension| wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension,
            multisampled: false,
        };
        let flat = texture(wgpu::TextureViewDimension::D2);
        let cube = texture(wgpu::TextureViewDimension::Cube);
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries,
            })
        };
        Layouts {
            frame: layout(
                "frame",
                &[
                    entry(0, uniform),
                    entry(1, flat),
                    entry(2, cube),
                    entry(3, sampler),
                ],
            ),
            object: layout("object", &[entry(0, uniform)]),
            drawn: layout("drawn", &[entry(0, flat), entry(1, flat)]),
        }
    }
}
