//! From a scene to an image: project, rasterise, light, compose.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::camera::{Camera, View};
use crate::colour::Colour;
use crate::image::Image;
use crate::occlusion::{Surfaces, openness};
use crate::overlay;
use crate::primitives::{Sphere, Triangle, corner_normals};
use crate::raster::{OFFSETS, Opaque, SAMPLES, Seen, TileSamples, rasterise};
use crate::scene::{Scene, SphereColours};
use crate::shade::{Floor, Lighting, Material};
use crate::shadow::ShadowMap;
use crate::tiles::{Bins, PixelRect, TileGrid};

/// Meshes at least this opaque are drawn solid.
const SOLID: f32 = 0.995;

impl Scene<'_> {
    /// Draws the scene. The picture is the same to the last bit whatever the
    /// number of threads.
    pub fn render(&self, camera: &Camera, width: u32, height: u32) -> Image {
        let mut image = Image::new(width, height, Colour::WHITE);
        let (width, height) = (image.width(), image.height());
        let frame = Frame::new(self, camera.view(width, height), width, height);
        let tiles = rasterise(&frame.opaque, &frame.view, frame.grid);
        let surfaces = frame.surfaces(&tiles);
        let open = openness(&surfaces, &frame.view, 5.0 * self.detail());
        let colours: Vec<Vec<Vec3>> = tiles
            .par_iter()
            .enumerate()
            .map(|(i, tile)| frame.compose(i, tile, &open))
            .collect();
        for (tile, colours) in tiles.iter().zip(&colours) {
            let row = (tile.rect.x1 - tile.rect.x0) as usize;
            for (y, line) in (tile.rect.y0..).zip(colours.chunks_exact(row)) {
                let start = y as usize * width as usize + tile.rect.x0 as usize;
                image.pixels_mut()[start..start + row].copy_from_slice(line);
            }
        }
        overlay::draw(&mut image, self.legend.as_ref(), self.caption.as_deref());
        image
    }
}

/// A see-through triangle's share of one pixel.
#[derive(Clone, Copy)]
struct Fragment {
    pixel: u32,
    /// The samples it covers, one bit each.
    mask: u8,
    depth: f32,
    light: Vec3,
    hidden: f32,
}

/// A scene prepared for one view.
struct Frame<'a> {
    scene: &'a Scene<'a>,
    view: View,
    grid: TileGrid,
    opaque: Opaque,
    glass: Vec<Triangle>,
    glass_rects: Vec<PixelRect>,
    glass_bins: Bins,
    lighting: Lighting,
    floor: Option<Floor>,
    detail: f32,
}

impl<'a> Frame<'a> {
    fn new(scene: &'a Scene<'a>, view: View, width: u32, height: u32) -> Frame<'a> {
        let grid = TileGrid { width, height };
        let mut lighting = Lighting::over(&view);
        let (spheres, sphere_rects) = project_spheres(scene, &view, grid);
        let (triangles, triangle_rects) = project_meshes(scene, &view, grid, true);
        let (glass, glass_rects) = project_meshes(scene, &view, grid, false);
        lighting.shadows = cast_shadows(scene, lighting.key_world, true);
        lighting.glass_shadows = cast_shadows(scene, lighting.key_world, false);
        let ground = scene
            .ground
            .filter(|g| g.height.is_finite() && view.eye.y > g.height);
        Frame {
            view,
            grid,
            opaque: Opaque {
                sphere_bins: grid.bin(&sphere_rects),
                spheres,
                sphere_rects,
                triangle_bins: grid.bin(&triangle_rects),
                triangles,
                triangle_rects,
                ground: ground.map(|g| {
                    let up = Vec3::new(view.right.y, view.up.y, view.forward.y);
                    (up, g.height - view.eye.y)
                }),
            },
            glass_bins: grid.bin(&glass_rects),
            glass,
            glass_rects,
            lighting,
            floor: ground.map(|g| Floor::new(g, &g.around.unwrap_or_else(|| scene.aabb()))),
            detail: scene.detail(),
            scene,
        }
    }

    /// The nearest surface of each pixel, for ambient occlusion.
    fn surfaces(&self, tiles: &[TileSamples]) -> Surfaces {
        let (width, height) = (self.grid.width as usize, self.grid.height as usize);
        let mut surfaces = Surfaces {
            width,
            height,
            depth: vec![f32::INFINITY; width * height],
            normal: vec![Vec3::NEG_Z; width * height],
            busy: tiles.iter().map(TileSamples::is_busy).collect(),
        };
        let parts: Vec<Vec<(f32, Vec3)>> = tiles
            .par_iter()
            .map(|tile| {
                tile.rect
                    .pixels()
                    .map(|(x, y)| {
                        let i = tile.rect.index(x, y);
                        let nearest = (1..SAMPLES).fold(0, |best, s| {
                            if tile.depth[i][s] < tile.depth[i][best] {
                                s
                            } else {
                                best
                            }
                        });
                        let depth = tile.depth[i][nearest];
                        if !depth.is_finite() {
                            return (depth, Vec3::NEG_Z);
                        }
                        let at = Vec2::new(x as f32, y as f32) + OFFSETS[nearest];
                        let point = self.view.ray(at) * depth;
                        (depth, self.opaque.normal(tile.seen[i][nearest], at, point))
                    })
                    .collect()
            })
            .collect();
        for (tile, part) in tiles.iter().zip(&parts) {
            for ((x, y), &(depth, normal)) in tile.rect.pixels().zip(part) {
                let i = y as usize * width + x as usize;
                surfaces.depth[i] = depth;
                surfaces.normal[i] = normal;
            }
        }
        surfaces
    }

    /// The final colours of a tile's pixels.
    fn compose(&self, tile_index: usize, tile: &TileSamples, open: &[f32]) -> Vec<Vec3> {
        let fragments = self.fragments(tile_index, tile);
        let mut rest = &fragments[..];
        tile.rect
            .pixels()
            .map(|(x, y)| {
                let i = tile.rect.index(x, y);
                let (here, later) =
                    rest.split_at(rest.iter().take_while(|f| f.pixel as usize == i).count());
                rest = later;
                let open = open[y as usize * self.grid.width as usize + x as usize];
                let mut samples = self.shade_pixel(tile, i, x, y, open);
                for f in here {
                    for (s, light) in samples.iter_mut().enumerate() {
                        if f.mask >> s & 1 == 1 && f.depth < tile.depth[i][s] {
                            *light = *light * (1.0 - f.hidden) + f.light;
                        }
                    }
                }
                samples.iter().sum::<Vec3>() / SAMPLES as f32
            })
            .collect()
    }

    /// The light of each sample's opaque surface. Samples that see the same
    /// thing share one evaluation.
    fn shade_pixel(
        &self,
        tile: &TileSamples,
        i: usize,
        x: u32,
        y: u32,
        open: f32,
    ) -> [Vec3; SAMPLES] {
        let (seen, depth) = (&tile.seen[i], &tile.depth[i]);
        let mut light = [Vec3::ZERO; SAMPLES];
        for s in 0..SAMPLES {
            if let Some(earlier) = (0..s).find(|&e| seen[e] == seen[s]) {
                light[s] = light[earlier];
                continue;
            }
            let (mut at, mut d, mut count) = (Vec2::ZERO, 0.0, 0.0);
            for k in s..SAMPLES {
                if seen[k] == seen[s] {
                    at += OFFSETS[k];
                    d += depth[k];
                    count += 1.0;
                }
            }
            let at = Vec2::new(x as f32, y as f32) + at / count;
            light[s] = self.shade(seen[s], at, d / count, open);
        }
        light
    }

    fn shade(&self, seen: Seen, at: Vec2, depth: f32, open: f32) -> Vec3 {
        let background = || {
            let [top, bottom] = self.scene.background;
            top.mix(bottom, at.y / self.grid.height as f32).to_vec()
        };
        let material = match seen {
            Seen::Background => return background(),
            Seen::Ground => return self.shade_ground(at, depth, open, background()),
            Seen::Sphere(i) => Material {
                colour: self.opaque.spheres[i as usize].colour,
                gloss: 0.22,
            },
            Seen::Triangle(i) => {
                let triangle = &self.opaque.triangles[i as usize];
                let surface = &self.scene.meshes[triangle.mesh as usize];
                let own = surface.colour.to_vec();
                let colour = surface.shades.map_or(own, |shades| {
                    let shade = |v: u32| shades.get(v as usize).map_or(own, |c| c.to_vec());
                    let corners = surface.mesh.triangles[triangle.number as usize];
                    triangle.mixed(at, corners.map(shade))
                });
                Material {
                    colour,
                    gloss: 0.12,
                }
            }
        };
        let point = self.view.ray(at) * depth;
        let normal = self.opaque.normal(seen, at, point);
        let key = self
            .lighting
            .key_light(&self.view, point, 1.2 * self.detail);
        self.lighting.opaque(material, point, normal, key, open)
    }

    fn shade_ground(&self, at: Vec2, depth: f32, open: f32, background: Vec3) -> Vec3 {
        let Some(floor) = &self.floor else {
            return background;
        };
        let ray = self.view.ray(at);
        let on_floor =
            |ray: Vec3, depth: f32| self.view.eye + self.view.direction_to_world(ray * depth);
        let here = on_floor(ray, depth);
        // The floor is a plane: neighbouring pixels meet it where their rays
        // cross the same height.
        let (normal, offset) = self.opaque.ground.unwrap_or((Vec3::Y, 0.0));
        let beside = |step: Vec2| {
            let ray = self.view.ray(at + step);
            (on_floor(ray, offset / normal.dot(ray).min(-1e-9)) - here).abs()
        };
        let foot = beside(Vec2::X).max(beside(Vec2::Y));
        let (colour, share) = floor.colour(here, Vec2::new(foot.x, foot.z));
        if share <= 0.0 {
            return background;
        }
        let key = self
            .lighting
            .floor_light(&self.view, ray * depth, 3.0 * self.detail);
        // Fully lit floor shows its own colour, so that it melts into the
        // background; only shadow and crevices darken it.
        let light = (0.62 + 0.38 * key) * (0.4 + 0.6 * open);
        background.lerp(colour * light, share)
    }

    /// The see-through fragments of a tile: by pixel, and within a pixel from
    /// far to near.
    fn fragments(&self, tile_index: usize, tile: &TileSamples) -> Vec<Fragment> {
        let mut fragments = Vec::new();
        for &t in self.glass_bins.of(tile_index) {
            let triangle = &self.glass[t as usize];
            let surface = &self.scene.meshes[triangle.mesh as usize];
            for (x, y) in tile
                .rect
                .intersection(&self.glass_rects[t as usize])
                .pixels()
            {
                let corner = Vec2::new(x as f32, y as f32);
                if !triangle.may_cover(corner + 0.5) {
                    continue;
                }
                let (mut mask, mut at) = (0u8, Vec2::ZERO);
                for (s, offset) in OFFSETS.iter().enumerate() {
                    if triangle.hit(corner + offset).is_some_and(|d| d > 0.0) {
                        mask |= 1 << s;
                        at += offset;
                    }
                }
                if mask == 0 {
                    continue;
                }
                let at = corner + at / mask.count_ones() as f32;
                let (depth, normal) = triangle.surface(at);
                let i = tile.rect.index(x, y);
                if tile.depth[i].iter().all(|&d| d <= depth) {
                    continue;
                }
                let point = self.view.ray(at) * depth;
                let normal = if normal.dot(point) > 0.0 {
                    -normal
                } else {
                    normal
                };
                let opacity = surface.opacity.clamp(0.0, 1.0);
                let (light, hidden) =
                    self.lighting
                        .glass(surface.colour.to_vec(), opacity, point, normal);
                fragments.push(Fragment {
                    pixel: i as u32,
                    mask,
                    depth,
                    light,
                    hidden,
                });
            }
        }
        // A stable sort: triangles at equal depth keep their order in the mesh.
        fragments.sort_by(|a, b| a.pixel.cmp(&b.pixel).then(b.depth.total_cmp(&a.depth)));
        fragments
    }
}

/// All visible spheres in view space, nearest first, with their pixels.
fn project_spheres(
    scene: &Scene<'_>,
    view: &View,
    grid: TileGrid,
) -> (Vec<Sphere>, Vec<PixelRect>) {
    let mut found: Vec<(Sphere, PixelRect)> = Vec::new();
    for group in &scene.spheres {
        let colour = |i: usize| match group.colours {
            SphereColours::One(colour) => colour,
            SphereColours::ByValue { values, map, range } => {
                map.colour_in(values.get(i).copied().unwrap_or(f32::NAN), range)
            }
        };
        let part: Vec<_> = (0..group.positions.len())
            .into_par_iter()
            .filter_map(|i| {
                let mut sphere = Sphere {
                    centre: view.to_view(group.positions.get(i)),
                    radius: group.radius,
                    colour: Vec3::ZERO,
                };
                let rect = sphere.bounds(view, grid.width, grid.height);
                (!rect.is_empty()).then(|| {
                    sphere.colour = colour(i).to_vec();
                    (sphere, rect)
                })
            })
            .collect();
        found.extend(part);
    }
    found.sort_by(|a, b| a.0.centre.z.total_cmp(&b.0.centre.z));
    found.into_iter().unzip()
}

/// The solid or the see-through triangles in view space, with their pixels.
fn project_meshes(
    scene: &Scene<'_>,
    view: &View,
    grid: TileGrid,
    solid: bool,
) -> (Vec<Triangle>, Vec<PixelRect>) {
    let mut found = (Vec::new(), Vec::new());
    for (m, surface) in scene.meshes.iter().enumerate() {
        if (surface.opacity >= SOLID) != solid {
            continue;
        }
        let mesh = surface.mesh;
        let vertices: Vec<Vec3> = mesh.vertices.iter().map(|&v| view.to_view(v)).collect();
        let normals = corner_normals(mesh, view, surface.smooth);
        for (number, (t, n)) in mesh.triangles.iter().zip(normals).enumerate() {
            let [Some(&a), Some(&b), Some(&c)] = t.map(|v| vertices.get(v as usize)) else {
                continue;
            };
            let rect = Triangle::bounds([a, b, c], view, grid.width, grid.height);
            if rect.is_empty() {
                continue;
            }
            if let Some(triangle) = Triangle::new(view, [a, b, c], n, [m as u32, number as u32]) {
                found.0.push(triangle);
                found.1.push(rect);
            }
        }
    }
    found
}

/// The shadows of everything solid, or of the see-through meshes.
fn cast_shadows(scene: &Scene<'_>, light: Vec3, solid: bool) -> Option<ShadowMap> {
    let spheres: Vec<(Vec3, f32)> = scene
        .spheres
        .iter()
        .filter(|group| solid && group.radius.is_finite() && group.radius > 0.0)
        .flat_map(|group| group.positions.iter().map(|p| (p, group.radius)))
        .filter(|(p, _)| p.is_finite())
        .collect();
    let triangles: Vec<[Vec3; 3]> = scene
        .meshes
        .iter()
        .filter(|surface| (surface.opacity >= SOLID) == solid)
        .flat_map(|surface| {
            let corner = |v: u32| surface.mesh.vertices.get(v as usize).copied();
            surface.mesh.triangles.iter().filter_map(move |t| {
                let [Some(a), Some(b), Some(c)] = t.map(corner) else {
                    return None;
                };
                (a.is_finite() && b.is_finite() && c.is_finite()).then_some([a, b, c])
            })
        })
        .collect();
    ShadowMap::new(light, &spheres, &triangles)
}
