//! The passes of a picture in their order.

use pliant::surface::{ScreenCamera, ScreenMeshSettings, screen_mesh};
use pliant_render::xray::coefficients;
use pliant_render::{Colour, View};

use super::items::{Draw, Item, MeshVertex, cloud_object, rgba, row, sorted_item};
use super::layouts::Object;
use super::targets::Targets;
use super::{Mark, Renderer, colour_range, object_group};
use crate::gpu::Gpu;
use crate::look::{Look, Mode};
use crate::snapshot::{Body, Cloud, Snapshot, Wall};

/// Walls and bodies of more triangles than this are curved: their normals are smooth.
const FEW_TRIANGLES: usize = 100;
/// Thickness in metres of the walls of guts and vessels in X-rays.
const SHELL: f32 = 0.003;
/// Balls that stand for a volume of liquid are larger than particles, so that they
/// overlap: their radius in spacings.
const THICK: f32 = 0.9;

/// Begins a pass over some colour targets.
pub(crate) fn begin<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    targets: &[(&wgpu::TextureView, wgpu::LoadOp<wgpu::Color>)],
    depth: Option<(&wgpu::TextureView, wgpu::LoadOp<f32>)>,
) -> wgpu::RenderPass<'e> {
    let colours: Vec<_> = targets
        .iter()
        .map(|(view, load)| {
            Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: *load,
                    store: wgpu::StoreOp::Store,
                },
            })
        })
        .collect();
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: &colours,
        depth_stencil_attachment: depth.map(|(view, load)| {
            wgpu::RenderPassDepthStencilAttachment {
                view,
                depth_ops: Some(wgpu::Operations {
                    load,
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }
        }),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    })
}

impl Renderer {
    /// All passes of a picture.
    pub(super) fn encode(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        snapshot: &Snapshot,
        look: &Look,
        view: &View,
        marks: &[Mark],
    ) {
        let discs = match look.mode {
            Mode::Surfels => self.uploads.discs(gpu, snapshot, look),
            _ => Vec::new(),
        };
        let Some(targets) = &self.targets else {
            return;
        };
        let artist = Artist {
            renderer: self,
            targets,
            gpu,
            snapshot,
            look,
            view,
            range: colour_range(snapshot, look),
        };
        if look.mode == Mode::Xray {
            artist.sums(encoder, true);
            let mut pass = begin(encoder, &[(&targets.colour_view, wgpu::LoadOp::Load)], None);
            artist.cover(&mut pass, &self.pipelines.film, &targets.behind_group);
            return;
        }
        let meshes = match look.mode {
            Mode::Surface | Mode::Wireframe => artist.liquids(),
            _ => Vec::new(),
        };
        if look.mode == Mode::Surface {
            artist.sums(encoder, false);
        }
        artist.shadows(encoder);
        artist.opaque(encoder);
        if look.mode == Mode::Surface {
            encoder.copy_texture_to_texture(
                targets.colour.as_image_copy(),
                targets.behind.as_image_copy(),
                targets.colour.size(),
            );
            let mut pass = artist.over(encoder);
            artist.draw(
                &mut pass,
                &self.pipelines.liquid,
                &meshes,
                &targets.behind_group,
            );
        }
        if look.mode == Mode::Surfels {
            artist.surfels(encoder, &discs);
        }
        artist.see_through(encoder, &meshes, marks);
    }
}

/// What every pass needs.
struct Artist<'a> {
    renderer: &'a Renderer,
    targets: &'a Targets,
    gpu: &'a Gpu,
    snapshot: &'a Snapshot,
    look: &'a Look,
    view: &'a View,
    range: (f32, f32),
}

impl Artist<'_> {
    /// A pass over what is drawn so far.
    fn over<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let targets = self.targets;
        begin(
            encoder,
            &[(&targets.colour_view, wgpu::LoadOp::Load)],
            Some((&targets.depth, wgpu::LoadOp::Load)),
        )
    }

    /// Draws items with one pipeline.
    fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        pipeline: &wgpu::RenderPipeline,
        draws: &[Draw],
        drawn: &wgpu::BindGroup,
    ) {
        if draws.is_empty() {
            return;
        }
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &self.renderer.frame_group, &[]);
        pass.set_bind_group(2, drawn, &[]);
        for draw in draws {
            let object = object_group(self.gpu, &self.renderer.layouts, &draw.object);
            pass.set_bind_group(1, &object, &[]);
            pass.set_vertex_buffer(0, draw.item.vertices.slice(..));
            match &draw.item.indices {
                Some((indices, count)) => {
                    pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
                    pass.draw_indexed(0..*count, 0, 0..1);
                }
                None => pass.draw(0..6, 0..draw.item.instances),
            }
        }
    }

    /// Draws something that covers the whole picture, or a quad.
    fn cover(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        pipeline: &wgpu::RenderPipeline,
        drawn: &wgpu::BindGroup,
    ) {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &self.renderer.frame_group, &[]);
        pass.set_bind_group(1, &self.renderer.plain, &[]);
        pass.set_bind_group(2, drawn, &[]);
        pass.draw(0..3, 0..1);
    }

    /// What the floor is shaded by.
    fn shadows(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.snapshot.floor.is_none() {
            return;
        }
        let (targets, pipelines) = (self.targets, &self.renderer.pipelines);
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let mut pass = begin(encoder, &[(&targets.sums[1], clear)], None);
        if self.look.mode == Mode::Wireframe {
            return;
        }
        let none = &targets.idle_group;
        self.draw(&mut pass, &pipelines.ball_shadow, &self.balls(), none);
        self.draw(&mut pass, &pipelines.mesh_shadow, &self.bodies(), none);
        let walls = self.walls(|_| true);
        self.draw(&mut pass, &pipelines.mesh_shadow, &walls, none);
    }

    /// Background, floor, and everything that hides what is behind it.
    fn opaque(&self, encoder: &mut wgpu::CommandEncoder) {
        let (targets, pipelines) = (self.targets, &self.renderer.pipelines);
        let mut pass = begin(
            encoder,
            &[(
                &targets.colour_view,
                wgpu::LoadOp::Clear(wgpu::Color::WHITE),
            )],
            Some((&targets.depth, wgpu::LoadOp::Clear(1.0))),
        );
        let none = &targets.idle_group;
        self.cover(&mut pass, &pipelines.background, none);
        if self.snapshot.floor.is_some() {
            pass.set_pipeline(&pipelines.floor);
            pass.set_bind_group(2, &targets.sums_group, &[]);
            pass.draw(0..6, 0..1);
        }
        if self.look.mode == Mode::Particles {
            self.draw(&mut pass, &pipelines.ball, &self.balls(), none);
        }
        if self.look.mode != Mode::Wireframe {
            self.draw(&mut pass, &pipelines.solid, &self.bodies(), none);
            let walls = self.walls(|w| w.opacity * self.look.wall_opacity >= 0.999);
            self.draw(&mut pass, &pipelines.solid, &walls, none);
        }
    }

    /// Walls, lines, smoke and marks: the picture shows through them.
    fn see_through(&self, encoder: &mut wgpu::CommandEncoder, meshes: &[Draw], marks: &[Mark]) {
        let (targets, pipelines) = (self.targets, &self.renderer.pipelines);
        let none = &targets.idle_group;
        let mut pass = self.over(encoder);
        if self.look.mode == Mode::Wireframe {
            self.draw(&mut pass, &pipelines.line, &self.wires(), none);
            self.draw(&mut pass, &pipelines.line, meshes, none);
        } else {
            let walls = self.walls(|w| w.opacity * self.look.wall_opacity < 0.999);
            self.draw(&mut pass, &pipelines.walls[0], &walls, none);
            if self.look.mode == Mode::Gas {
                self.draw(&mut pass, &pipelines.puff, &self.puffs(), none);
            }
            self.draw(&mut pass, &pipelines.walls[1], &walls, none);
        }
        let balls = marks.iter().map(|mark| Draw {
            item: Item::squares(
                self.gpu,
                bytemuck::cast_slice(&mark.centre.extend(0.0).to_array()),
                1,
            ),
            object: Object {
                colour: rgba(mark.colour, 1.0),
                numbers: [mark.radius, 0.0, 1.0, -1.0],
                ..Object::default()
            },
        });
        let balls: Vec<Draw> = balls.collect();
        self.draw(&mut pass, &pipelines.ghost, &balls, none);
    }

    /// Sums over everything that rays pass: ways through liquids, and with `all` what
    /// bodies and walls take from X-rays.
    fn sums(&self, encoder: &mut wgpu::CommandEncoder, all: bool) {
        let (targets, pipelines) = (self.targets, &self.renderer.pipelines);
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let mut pass = begin(encoder, &[(&targets.sums[0], clear)], None);
        let none = &targets.idle_group;
        self.draw(&mut pass, &pipelines.thickness, &self.thick(), none);
        if all {
            self.draw(&mut pass, &pipelines.attenuation, &self.massive(), none);
            self.draw(&mut pass, &pipelines.shell, &self.shells(), none);
        }
    }

    /// Surfels: visibility, attributes, light.
    fn surfels(&self, encoder: &mut wgpu::CommandEncoder, discs: &[Item]) {
        let (targets, pipelines) = (self.targets, &self.renderer.pipelines);
        let clouds = self.snapshot.clouds.iter();
        let draws: Vec<Draw> = clouds
            .zip(discs)
            .map(|(cloud, item)| {
                let mut object = cloud_object(cloud, self.look, self.range);
                // How far apart in depth discs of one surface may be.
                object.numbers[0] = 1.2 * cloud.radius;
                Draw {
                    item: item.clone(),
                    object,
                }
            })
            .collect();
        {
            let depth = Some((&targets.depth, wgpu::LoadOp::Load));
            let mut pass = begin(encoder, &[], depth);
            self.draw(
                &mut pass,
                &pipelines.surfel_visibility,
                &draws,
                &targets.idle_group,
            );
        }
        {
            let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
            let sums = [(&targets.sums[0], clear), (&targets.sums[1], clear)];
            let depth = Some((&targets.depth, wgpu::LoadOp::Load));
            let mut pass = begin(encoder, &sums, depth);
            self.draw(
                &mut pass,
                &pipelines.surfel_blend,
                &draws,
                &targets.idle_group,
            );
        }
        let target = [(&targets.colour_view, wgpu::LoadOp::Load)];
        let mut pass = begin(encoder, &target, None);
        self.cover(&mut pass, &pipelines.surfel_light, &targets.sums_group);
    }

    fn clouds(&self) -> impl Iterator<Item = (&Cloud, &Item)> {
        self.snapshot
            .clouds
            .iter()
            .zip(&self.renderer.uploads.clouds)
    }

    fn balls(&self) -> Vec<Draw> {
        self.clouds()
            .map(|(cloud, item)| Draw {
                item: item.clone(),
                object: cloud_object(cloud, self.look, self.range),
            })
            .collect()
    }

    fn puffs(&self) -> Vec<Draw> {
        let (eye, forward) = (self.view.eye, self.view.forward);
        self.clouds()
            .map(|(cloud, _)| {
                let mut object = cloud_object(cloud, self.look, self.range);
                object.numbers[0] = 3.0 * cloud.radius;
                object.colour[3] = 0.22;
                Draw {
                    item: sorted_item(self.gpu, cloud, self.look, eye, forward),
                    object,
                }
            })
            .collect()
    }

    fn thick(&self) -> Vec<Draw> {
        self.clouds()
            .map(|(cloud, item)| {
                let spacing = 2.0 * cloud.radius;
                let radius = THICK * spacing;
                let ball = 4.0 / 3.0 * std::f32::consts::PI * radius.powi(3);
                Draw {
                    item: item.clone(),
                    object: Object {
                        numbers: [radius, 0.0, 1.0, -1.0],
                        more: [0.0, spacing.powi(3) / ball, cloud.material.attenuation, 0.0],
                        ..Object::default()
                    },
                }
            })
            .collect()
    }

    fn body_object(&self, body: &Body) -> Object {
        let shown = |name: &String| body.values.iter().any(|v| v.name == name);
        let map = match &self.look.field {
            Some(name) if shown(name) => row(Default::default()),
            _ => -1.0,
        };
        let few = body.mesh.triangles.len() <= FEW_TRIANGLES;
        Object {
            colour: rgba(body.colour, 1.0),
            numbers: [0.0, self.range.0, self.range.1, map],
            more: [
                f32::from(u8::from(self.look.facets || few)),
                0.0,
                coefficients::WATER,
                0.0,
            ],
            ..Object::default()
        }
    }

    fn bodies(&self) -> Vec<Draw> {
        let items = &self.renderer.uploads.bodies;
        let bodies = self.snapshot.bodies.iter().zip(items);
        bodies
            .map(|(body, item)| Draw {
                item: item.clone(),
                object: self.body_object(body),
            })
            .collect()
    }

    fn wall_object(&self, wall: &Wall) -> Object {
        let few = wall.mesh.triangles.len() <= FEW_TRIANGLES;
        let film = rgba(Colour::hex(0xfbf7ec), 0.0);
        Object {
            colour: rgba(
                wall.colour,
                (wall.opacity * self.look.wall_opacity).clamp(0.0, 1.0),
            ),
            numbers: [0.0, 0.0, 1.0, -1.0],
            more: [
                f32::from(u8::from(few)),
                f32::from(u8::from(self.look.films)),
                0.0,
                0.0,
            ],
            light: film,
        }
    }

    fn walls(&self, chosen: impl Fn(&Wall) -> bool) -> Vec<Draw> {
        if !self.look.walls {
            return Vec::new();
        }
        let walls = self
            .snapshot
            .walls
            .iter()
            .zip(self.renderer.uploads.walls());
        walls
            .filter(|(wall, _)| wall.opacity > 0.0 && chosen(wall))
            .map(|(wall, item)| Draw {
                item: item.clone(),
                object: self.wall_object(wall),
            })
            .collect()
    }

    /// The edges of bodies and walls.
    fn wires(&self) -> Vec<Draw> {
        let mut wires = self.walls(|_| true);
        for wire in &mut wires {
            wire.object.colour[3] = 0.35;
        }
        wires.extend(self.bodies());
        wires
    }

    /// What X-rays pass that is full: bodies and thick glass.
    fn massive(&self) -> Vec<Draw> {
        let mut draws = self.bodies();
        let glass = self.walls(|w| w.massive).into_iter();
        draws.extend(glass.map(|mut draw| {
            draw.object.more[2] = coefficients::GLASS;
            draw
        }));
        draws
    }

    /// What X-rays pass that is thin: walls of guts and vessels, with films.
    fn shells(&self) -> Vec<Draw> {
        let liquid = self.snapshot.clouds.first();
        let film = liquid.map_or(coefficients::BARIUM, |c| c.material.attenuation);
        let walls = self
            .snapshot
            .walls
            .iter()
            .zip(self.renderer.uploads.walls());
        let thin = walls.filter(|(wall, _)| {
            self.look.walls && wall.opacity > 0.0 && wall.opacity < 0.999 && !wall.massive
        });
        thin.map(|(wall, item)| {
            let mut object = self.wall_object(wall);
            object.more[1] *= wall.film_thickness * film;
            object.more[2] = coefficients::WATER;
            object.light[3] = SHELL;
            Draw {
                item: item.clone(),
                object,
            }
        })
        .collect()
    }

    /// The surfaces of liquids as this camera sees them.
    fn liquids(&self) -> Vec<Draw> {
        let samples = self.look.samples.clamp(1, 4);
        let view = self.view;
        let fine = self.targets.size;
        let camera = ScreenCamera {
            eye: view.eye,
            right: view.right,
            up: view.up,
            forward: view.forward,
            focal: view.focal / samples as f32,
            size: fine.map(|s| s / samples),
        };
        let edges = self.look.mode == Mode::Wireframe;
        let mut draws = Vec::new();
        for cloud in &self.snapshot.clouds {
            let settings = ScreenMeshSettings {
                grid: if edges { 6.0 } else { 3.0 },
                filter: 4,
                ..ScreenMeshSettings::new(2.0 * cloud.radius)
            };
            let seen = screen_mesh(cloud.positions.view(), &camera, &settings);
            if seen.mesh.triangles.is_empty() {
                continue;
            }
            let vertices: Vec<MeshVertex> = seen
                .mesh
                .vertices
                .iter()
                .zip(&seen.normals)
                .map(|(place, normal)| MeshVertex {
                    place: place.to_array(),
                    normal: normal.to_array(),
                    value: 0.0,
                })
                .collect();
            let material = &cloud.material;
            draws.push(Draw {
                item: Item::mesh(self.gpu, &vertices, &seen.mesh.triangles, edges),
                object: Object {
                    colour: rgba(material.colour, 1.0),
                    numbers: [2.0 * cloud.radius, 0.0, 1.0, -1.0],
                    more: [0.0, 0.0, 0.0, material.turbidity],
                    light: material.absorption.extend(0.0).to_array(),
                },
            });
        }
        draws
    }
}
