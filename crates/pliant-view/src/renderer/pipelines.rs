//! All pipelines: which shader, what is blended, what hides what.

use super::layouts::Layouts;
use super::targets::{COLOUR, DEPTH, SUM};

/// Vertices of a mesh: place, normal, value.
pub(super) const MESH_STRIDE: u64 = 28;
/// A particle: place, value.
pub(super) const BALL_STRIDE: u64 = 16;
/// A surfel: place, radius, normal, value.
pub(super) const DISC_STRIDE: u64 = 32;

/// Every way of drawing.
pub(super) struct Pipelines {
    pub background: wgpu::RenderPipeline,
    pub floor: wgpu::RenderPipeline,
    pub ball: wgpu::RenderPipeline,
    pub ghost: wgpu::RenderPipeline,
    pub thickness: wgpu::RenderPipeline,
    pub puff: wgpu::RenderPipeline,
    pub ball_shadow: wgpu::RenderPipeline,
    pub mesh_shadow: wgpu::RenderPipeline,
    pub solid: wgpu::RenderPipeline,
    /// Inner and outer sides of see-through walls.
    pub walls: [wgpu::RenderPipeline; 2],
    pub line: wgpu::RenderPipeline,
    pub attenuation: wgpu::RenderPipeline,
    pub shell: wgpu::RenderPipeline,
    pub liquid: wgpu::RenderPipeline,
    pub surfel_visibility: wgpu::RenderPipeline,
    pub surfel_blend: wgpu::RenderPipeline,
    pub surfel_light: wgpu::RenderPipeline,
    pub film: wgpu::RenderPipeline,
    pub show: wgpu::RenderPipeline,
}

/// What differs between pipelines.
struct Recipe<'a> {
    label: &'a str,
    module: &'a wgpu::ShaderModule,
    vertex: &'a str,
    fragment: &'a str,
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    targets: &'a [Option<wgpu::ColorTargetState>],
    /// How depths are compared, and whether they are kept; `None` without depths.
    depth: Option<(wgpu::CompareFunction, bool)>,
    cull: Option<wgpu::Face>,
    topology: wgpu::PrimitiveTopology,
}

impl Pipelines {
    /// Compiles everything; the last step draws to `output`.
    pub fn new(device: &wgpu::Device, layouts: &Layouts, output: wgpu::TextureFormat) -> Pipelines {
        let module = |label, text: &str| {
            let text = format!("{}{text}", include_str!("../shaders/common.wgsl"));
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            })
        };
        let sphere = module("sphere", include_str!("../shaders/sphere.wgsl"));
        let mesh = module("mesh", include_str!("../shaders/mesh.wgsl"));
        let liquid = module("liquid", include_str!("../shaders/liquid.wgsl"));
        let surfel = module("surfel", include_str!("../shaders/surfel.wgsl"));
        let screen = module("screen", include_str!("../shaders/screen.wgsl"));

        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("all"),
            bind_group_layouts: &[
                Some(&layouts.frame),
                Some(&layouts.object),
                Some(&layouts.drawn),
            ],
            immediate_size: 0,
        });
        let make = |r: Recipe<'_>| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(r.label),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: r.module,
                    entry_point: Some(r.vertex),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: r.buffers,
                },
                primitive: wgpu::PrimitiveState {
                    topology: r.topology,
                    cull_mode: r.cull,
                    ..wgpu::PrimitiveState::default()
                },
                depth_stencil: r.depth.map(|(compare, write)| wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(write),
                    depth_compare: Some(compare),
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: r.module,
                    entry_point: Some(r.fragment),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: r.targets,
                }),
                multiview_mask: None,
                cache: None,
            })
        };

        let target = |format, blend| {
            Some(wgpu::ColorTargetState {
                format,
                blend,
                write_mask: wgpu::ColorWrites::ALL,
            })
        };
        let opaque = [target(COLOUR, None)];
        let mixed = [target(COLOUR, Some(wgpu::BlendState::ALPHA_BLENDING))];
        let add = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::One,
            dst_factor: wgpu::BlendFactor::One,
            operation: wgpu::BlendOperation::Add,
        };
        let adding = Some(wgpu::BlendState {
            color: add,
            alpha: add,
        });
        let sum = [target(SUM, adding)];
        let larger = wgpu::BlendComponent {
            operation: wgpu::BlendOperation::Max,
            ..add
        };
        let most = [target(
            SUM,
            Some(wgpu::BlendState {
                color: larger,
                alpha: larger,
            }),
        )];
        let two_sums = [target(SUM, adding), target(SUM, adding)];
        let out = [target(output, None)];

        let mesh_attributes =
            wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32];
        let mesh_buffer = [Some(wgpu::VertexBufferLayout {
            array_stride: MESH_STRIDE,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &mesh_attributes,
        })];
        let ball_attributes = wgpu::vertex_attr_array![0 => Float32x4];
        let ball_buffer = [Some(wgpu::VertexBufferLayout {
            array_stride: BALL_STRIDE,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &ball_attributes,
        })];
        let disc_attributes = wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4];
        let disc_buffer = [Some(wgpu::VertexBufferLayout {
            array_stride: DISC_STRIDE,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &disc_attributes,
        })];

        let (always, less, near) = (
            wgpu::CompareFunction::Always,
            wgpu::CompareFunction::Less,
            wgpu::CompareFunction::LessEqual,
        );
        let triangles = wgpu::PrimitiveTopology::TriangleList;
        let of_ball = |label, fragment, targets, depth| Recipe {
            label,
            module: &sphere,
            vertex: "ball",
            fragment,
            buffers: &ball_buffer,
            targets,
            depth,
            cull: None,
            topology: triangles,
        };
        let of_mesh = |label, fragment, targets, depth, cull| Recipe {
            label,
            module: &mesh,
            vertex: "point",
            fragment,
            buffers: &mesh_buffer,
            targets,
            depth,
            cull,
            topology: triangles,
        };
        let of_screen = |label, fragment, targets, depth| Recipe {
            label,
            module: &screen,
            vertex: "everywhere",
            fragment,
            buffers: &[],
            targets,
            depth,
            cull: None,
            topology: triangles,
        };
        let of_surfel = |label, vertex, fragment, targets, depth| Recipe {
            label,
            module: &surfel,
            vertex,
            fragment,
            buffers: &disc_buffer,
            targets,
            depth,
            cull: None,
            topology: triangles,
        };
        let wall = |cull| {
            make(of_mesh(
                "wall",
                "wall",
                &mixed,
                Some((less, false)),
                Some(cull),
            ))
        };
        Pipelines {
            background: make(of_screen(
                "background",
                "background",
                &opaque,
                Some((always, false)),
            )),
            floor: make(Recipe {
                vertex: "ground",
                ..of_screen("floor", "floor_grid", &mixed, Some((less, true)))
            }),
            ball: make(of_ball("ball", "shaded", &opaque, Some((less, true)))),
            ghost: make(of_ball("ghost", "ghost", &mixed, Some((always, false)))),
            thickness: make(of_ball("thickness", "thickness", &sum, None)),
            puff: make(of_ball("puff", "puff", &mixed, Some((less, false)))),
            ball_shadow: make(Recipe {
                vertex: "shadow",
                ..of_ball("ball shadow", "shade", &most, None)
            }),
            mesh_shadow: make(Recipe {
                vertex: "shadow",
                ..of_mesh("mesh shadow", "shade", &most, None, None)
            }),
            solid: make(of_mesh("solid", "solid", &opaque, Some((less, true)), None)),
            walls: [wall(wgpu::Face::Front), wall(wgpu::Face::Back)],
            line: make(Recipe {
                topology: wgpu::PrimitiveTopology::LineList,
                ..of_mesh("line", "line", &mixed, Some((less, false)), None)
            }),
            attenuation: make(of_mesh("attenuation", "attenuation", &sum, None, None)),
            shell: make(of_mesh("shell", "shell", &sum, None, None)),
            liquid: make(Recipe {
                module: &liquid,
                ..of_mesh("liquid", "surface", &opaque, Some((less, true)), None)
            }),
            surfel_visibility: make(of_surfel(
                "surfel visibility",
                "visibility",
                "mark",
                &[],
                Some((less, true)),
            )),
            surfel_blend: make(of_surfel(
                "surfel attributes",
                "detail",
                "blend",
                &two_sums,
                Some((near, false)),
            )),
            surfel_light: make(Recipe {
                buffers: &[],
                ..of_surfel("surfel light", "everywhere", "light", &mixed, None)
            }),
            film: make(of_screen("film", "film", &opaque, None)),
            show: make(of_screen("show", "show", &out, None)),
        }
    }
}
