//! From a snapshot to buffers that can be drawn.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use pliant::surface::{SurfaceSettings, Surfel, surfels};
use pliant_render::{Colour, ColourMap};

use super::layouts::Object;
use crate::gpu::Gpu;
use crate::look::{Look, Mode};
use crate::snapshot::{Cloud, Mesh, Snapshot, Values, Wall};

/// A vertex of a mesh.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct MeshVertex {
    pub place: [f32; 3],
    pub normal: [f32; 3],
    pub value: f32,
}

/// Something in buffers.
#[derive(Clone)]
pub(super) struct Item {
    pub vertices: wgpu::Buffer,
    /// Triangles or lines, and how many indices.
    pub indices: Option<(wgpu::Buffer, u32)>,
    pub instances: u32,
}

impl Item {
    /// Things of which each is drawn as a square.
    pub fn squares(gpu: &Gpu, bytes: &[u8], count: usize) -> Item {
        Item {
            vertices: buffer(gpu, bytes, wgpu::BufferUsages::VERTEX),
            indices: None,
            instances: count as u32,
        }
    }

    /// Triangles, or their edges.
    pub fn mesh(gpu: &Gpu, vertices: &[MeshVertex], triangles: &[[u32; 3]], edges: bool) -> Item {
        let lines: Vec<[u32; 2]>;
        let indices: &[u32] = if edges {
            lines = edges_of(triangles);
            bytemuck::cast_slice(&lines)
        } else {
            bytemuck::cast_slice(triangles)
        };
        Item {
            vertices: buffer(
                gpu,
                bytemuck::cast_slice(vertices),
                wgpu::BufferUsages::VERTEX,
            ),
            indices: Some((
                buffer(
                    gpu,
                    bytemuck::cast_slice(indices),
                    wgpu::BufferUsages::INDEX,
                ),
                indices.len() as u32,
            )),
            instances: 1,
        }
    }
}

/// A buffer with these bytes. It is filled through the queue: a device that is lost then
/// reports an error, where a mapped buffer would panic.
pub(super) fn buffer(gpu: &Gpu, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    // Buffers must not be empty.
    let bytes = if bytes.is_empty() { &[0; 64] } else { bytes };
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len() as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&buffer, 0, bytes);
    buffer
}

/// Every edge once.
fn edges_of(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(sides)
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Something to draw, and how it looks.
pub(super) struct Draw {
    pub item: Item,
    pub object: Object,
}

/// What of a snapshot is in buffers already.
#[derive(Default)]
pub(super) struct Uploads {
    key: Option<(u64, Option<String>, bool)>,
    pub clouds: Vec<Item>,
    pub bodies: Vec<Item>,
    walls: Vec<(Arc<Mesh>, u64, bool, Item)>,
    discs: Option<(u64, Option<String>, Vec<Item>)>,
}

impl Uploads {
    /// Brings clouds and bodies up to date.
    pub fn update(&mut self, gpu: &Gpu, snapshot: &Snapshot, look: &Look) {
        let edges = look.mode == Mode::Wireframe;
        let key = Some((snapshot.number, look.field.clone(), edges));
        if self.key != key {
            let clouds = snapshot.clouds.iter();
            self.clouds = clouds.map(|c| cloud_item(gpu, c, look)).collect();
            self.bodies = snapshot
                .bodies
                .iter()
                .map(|b| {
                    let values = find(&b.values, look.field.as_deref());
                    let value = |i: usize| values.map_or(0.0, |v| v[i]);
                    let vertices = vertices(&b.mesh, value);
                    Item::mesh(gpu, &vertices, &b.mesh.triangles, edges)
                })
                .collect();
            self.key = key;
        }
        let before = std::mem::take(&mut self.walls);
        for wall in &snapshot.walls {
            let version = wall.film.as_ref().map_or(0, |_| snapshot.number);
            let kept = before
                .iter()
                .find(|(m, v, e, _)| Arc::ptr_eq(m, &wall.mesh) && *v == version && *e == edges);
            let item = kept.map_or_else(|| wall_item(gpu, wall, edges), |(.., item)| item.clone());
            self.walls.push((wall.mesh.clone(), version, edges, item));
        }
    }

    /// The walls, in the snapshot's order.
    pub fn walls(&self) -> impl Iterator<Item = &Item> {
        self.walls.iter().map(|(.., item)| item)
    }

    /// Surfels of all clouds.
    pub fn discs(&mut self, gpu: &Gpu, snapshot: &Snapshot, look: &Look) -> Vec<Item> {
        match &self.discs {
            Some((number, field, items)) if *number == snapshot.number && *field == look.field => {
                items.clone()
            }
            _ => {
                let clouds = snapshot.clouds.iter();
                let items: Vec<Item> = clouds.map(|c| disc_item(gpu, c, look)).collect();
                self.discs = Some((snapshot.number, look.field.clone(), items.clone()));
                items
            }
        }
    }
}

/// The values that colours show; speeds unless another quantity is asked for.
fn find<'a>(values: &'a [Values], field: Option<&str>) -> Option<&'a [f32]> {
    let name = field.unwrap_or("speed");
    let found = values.iter().find(|v| v.name == name);
    found.map(|v| v.values.as_slice())
}

/// Particles in the order in which they are stored.
fn cloud_item(gpu: &Gpu, cloud: &Cloud, look: &Look) -> Item {
    let order: Vec<usize> = (0..cloud.positions.len()).collect();
    balls(gpu, cloud, look, &order)
}

/// Particles from the farthest to the nearest.
pub(super) fn sorted_item(gpu: &Gpu, cloud: &Cloud, look: &Look, eye: Vec3, forward: Vec3) -> Item {
    let depth = |i: usize| (cloud.positions.get(i) - eye).dot(forward);
    let mut order: Vec<(f32, usize)> = (0..cloud.positions.len()).map(|i| (depth(i), i)).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let order: Vec<usize> = order.into_iter().map(|(_, i)| i).collect();
    balls(gpu, cloud, look, &order)
}

fn balls(gpu: &Gpu, cloud: &Cloud, look: &Look, order: &[usize]) -> Item {
    let values = find(&cloud.values, look.field.as_deref());
    let points: Vec<[f32; 4]> = order
        .iter()
        .map(|&i| {
            let value = values.map_or(0.0, |v| v[i]);
            cloud.positions.get(i).extend(value).to_array()
        })
        .collect();
    Item::squares(gpu, bytemuck::cast_slice(&points), points.len())
}

fn disc_item(gpu: &Gpu, cloud: &Cloud, look: &Look) -> Item {
    let spacing = 2.0 * cloud.radius;
    let settings = SurfaceSettings::new(spacing);
    // Clouds that no surface can be drawn around have no surfels.
    let found: Vec<Surfel> =
        surfels(cloud.positions.view(), &settings, 0.5 * spacing).unwrap_or_default();
    let values = find(&cloud.values, look.field.as_deref());
    let nearest = Nearest::new(cloud);
    let discs: Vec<[[f32; 4]; 2]> = found
        .iter()
        .map(|s| {
            let value = values.map_or(0.0, |v| nearest.of(s.position).map_or(0.0, |i| v[i]));
            // Discs that just touch would leave gaps between them.
            [
                s.position.extend(1.5 * s.radius).to_array(),
                s.normal.extend(value).to_array(),
            ]
        })
        .collect();
    Item::squares(gpu, bytemuck::cast_slice(&discs), discs.len())
}

/// Finds the particle nearest to a place, in the cell of that place and around it.
struct Nearest<'a> {
    cloud: &'a Cloud,
    cells: std::collections::HashMap<[i32; 3], Vec<u32>>,
    side: f32,
}

impl<'a> Nearest<'a> {
    fn new(cloud: &'a Cloud) -> Nearest<'a> {
        let side = 2.0 * cloud.radius;
        let mut cells = std::collections::HashMap::<[i32; 3], Vec<u32>>::new();
        for (i, p) in cloud.positions.view().iter().enumerate() {
            cells.entry(cell(p, side)).or_default().push(i as u32);
        }
        Nearest { cloud, cells, side }
    }

    fn of(&self, place: Vec3) -> Option<usize> {
        let [x, y, z] = cell(place, self.side);
        let around = (0..27).map(|k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
        let near = around.filter_map(|c| self.cells.get(&c)).flatten();
        let distance = |i: u32| (self.cloud.positions.get(i as usize) - place).length_squared();
        near.min_by(|&&a, &&b| distance(a).total_cmp(&distance(b)))
            .map(|&i| i as usize)
    }
}

fn cell(p: Vec3, side: f32) -> [i32; 3] {
    (p / side).floor().as_ivec3().to_array()
}

/// Vertices of a mesh with a value each.
pub(super) fn vertices(mesh: &Mesh, value: impl Fn(usize) -> f32) -> Vec<MeshVertex> {
    let points = mesh.positions.iter().zip(&mesh.normals).enumerate();
    points
        .map(|(i, (place, normal))| MeshVertex {
            place: place.to_array(),
            normal: normal.to_array(),
            value: value(i),
        })
        .collect()
}

fn wall_item(gpu: &Gpu, wall: &Wall, edges: bool) -> Item {
    let film = |i: usize| wall.film.as_ref().map_or(0.0, |f| f[i]);
    let vertices = vertices(&wall.mesh, film);
    Item::mesh(gpu, &vertices, &wall.mesh.triangles, edges)
}

/// The row of a colour map in their texture.
pub(super) fn row(map: ColourMap) -> f32 {
    let place = ColourMap::ALL.iter().position(|m| *m == map);
    place.map_or(-1.0, |p| p as f32)
}

/// Red, green, blue and opacity.
pub(super) fn rgba(colour: Colour, opacity: f32) -> [f32; 4] {
    [colour.r, colour.g, colour.b, opacity]
}

/// How particles of a cloud look.
pub(super) fn cloud_object(cloud: &Cloud, look: &Look, range: (f32, f32)) -> Object {
    let map = match look.field {
        None => cloud.material.map,
        Some(_) => ColourMap::default(),
    };
    Object {
        colour: rgba(cloud.material.colour, 1.0),
        numbers: [cloud.radius, range.0, range.1, row(map)],
        ..Object::default()
    }
}
