//! Textures that are made once: colour maps, and what water mirrors.

use glam::Vec3;
use pliant_render::{Colour, ColourMap};

/// Texels of a colour map.
const MAP_WIDTH: u32 = 256;
/// Texels along a side of the surroundings.
const SIDE: u32 = 64;

/// All colour maps, one per row.
pub(super) fn colour_maps(device: &wgpu::Device, queue: &wgpu::Queue) -> wgpu::TextureView {
    let mut texels = Vec::new();
    for map in ColourMap::ALL {
        for i in 0..MAP_WIDTH {
            let c = map.colour(i as f32 / (MAP_WIDTH - 1) as f32);
            texels.extend(encode(Vec3::new(c.r, c.g, c.b)));
        }
    }
    let rows = ColourMap::ALL.len() as u32;
    let texture = texture(device, queue, "colour maps", [MAP_WIDTH, rows, 1], &texels);
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// A bright studio: sky above, ground below, a soft lamp and a window.
pub(super) fn surroundings(device: &wgpu::Device, queue: &wgpu::Queue) -> wgpu::TextureView {
    let mut texels = Vec::new();
    for face in 0..6 {
        for k in 0..SIDE * SIDE {
            let place = |i: u32| 2.0 * (i as f32 + 0.5) / SIDE as f32 - 1.0;
            let (u, v) = (place(k % SIDE), place(k / SIDE));
            // Faces in the order of the graphics interfaces: +x -x +y -y +z -z.
            let direction = match face {
                0 => Vec3::new(1.0, -v, -u),
                1 => Vec3::new(-1.0, -v, u),
                2 => Vec3::new(u, 1.0, v),
                3 => Vec3::new(u, -1.0, -v),
                4 => Vec3::new(u, -v, 1.0),
                _ => Vec3::new(-u, -v, -1.0),
            };
            texels.extend(encode(studio(direction.normalize())));
        }
    }
    let texture = texture(device, queue, "surroundings", [SIDE, SIDE, 6], &texels);
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::Cube),
        ..wgpu::TextureViewDescriptor::default()
    })
}

/// Light from a direction.
fn studio(d: Vec3) -> Vec3 {
    let colour = |hex| {
        let c = Colour::hex(hex);
        Vec3::new(c.r, c.g, c.b)
    };
    let smooth = |low: f32, high: f32, x: f32| {
        let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let sky = colour(0xdfe8f2).lerp(colour(0x8fb0d8), smooth(0.0, 0.9, d.y));
    let ground = colour(0xb9b4ac).lerp(colour(0x6d6a66), smooth(0.0, 0.9, -d.y));
    let mut light = ground.lerp(sky, smooth(-0.08, 0.08, d.y));
    let lamp = Vec3::new(-0.4, 0.8, 0.45).normalize();
    light += 0.6 * smooth(0.86, 0.93, d.dot(lamp)) * Vec3::ONE;
    // A window with a bar gives curved surfaces something to mirror.
    let pane = d.z < -0.2 && d.y > 0.15 && d.y < 0.75 && d.x.abs() < 0.5 && d.x.abs() > 0.04;
    light += if pane { Vec3::splat(0.35) } else { Vec3::ZERO };
    light.min(Vec3::ONE)
}

/// Linear light as sRGB bytes.
fn encode(linear: Vec3) -> [u8; 4] {
    let byte = |l: f32| {
        let s = if l <= 0.003_130_8 {
            12.92 * l
        } else {
            1.055 * l.powf(1.0 / 2.4) - 0.055
        };
        (255.0 * s.clamp(0.0, 1.0)).round() as u8
    };
    [byte(linear.x), byte(linear.y), byte(linear.z), 255]
}

fn texture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    label: &str,
    [width, height, layers]: [u32; 3],
    texels: &[u8],
) -> wgpu::Texture {
    let size = wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: layers,
    };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * width),
        rows_per_image: Some(height),
    };
    queue.write_texture(texture.as_image_copy(), texels, layout, size);
    texture
}
