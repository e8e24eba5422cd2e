//! What can be seen of a world at one moment, apart from the world, which goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;
use pliant::math::{Aabb, XyzVec};
use pliant::observe::Coating;
use pliant::scene::description::{Colouring, Shape};
use pliant::scene::{Built, Scene};
use pliant::world::{Matter, PointsView};
use pliant::{Handle, Obstacle, World};
use pliant_render::xray::coefficients;
use pliant_render::{Camera, Colour, ColourMap};

/// Colours of deformable bodies, in turn.
const BODIES: [u32; 6] = [0xd9776a, 0x6aa5d9, 0xd9b45f, 0x7fb77e, 0xa98bc4, 0x8c9aa8];

/// Numbers of one kind, one per point.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// What they are: `speed`, or the name of a scalar.
    pub name: &'static str,
    /// One per point.
    pub values: Vec<f32>,
}

/// Particles of one liquid, or of other matter without a surface.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Name of the matter.
    pub name: String,
    /// What kind of liquid it is.
    pub material: Material,
    /// Places in metres.
    pub positions: XyzVec,
    /// In m/s.
    pub velocities: XyzVec,
    /// Names of the particles.
    pub ids: Vec<u32>,
    /// In metres; particles rest two radii from each other.
    pub radius: f32,
    /// What can be shown by colours.
    pub values: Vec<Values>,
}

/// The surface of a body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name of the matter.
    pub name: String,
    /// Its own colour.
    pub colour: Colour,
    /// Vertices of the surface.
    pub mesh: Mesh,
    /// Velocities of the vertices in m/s.
    pub velocities: Vec<Vec3>,
    /// Ids of the vertices.
    pub ids: Vec<u32>,
    /// What can be shown by colours, per vertex of the surface.
    pub values: Vec<Values>,
}

/// An obstacle.
#[derive(Clone, Debug)]
pub struct Wall {
    /// Its surface; the same allocation as long as it has not moved.
    pub mesh: Arc<Mesh>,
    /// Its colour.
    pub colour: Colour,
    /// 0 to 1.
    pub opacity: f32,
    /// It is a thick piece of glass, not a thin shell.
    pub massive: bool,
    /// Share of its final thickness that a film on each vertex has reached.
    pub film: Option<Vec<f32>>,
    /// Thickness of the film at its thickest, in metres.
    pub film_thickness: f32,
}

/// Triangles with a normal per vertex.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// In metres.
    pub positions: Vec<Vec3>,
    /// Unit vectors out of the body.
    pub normals: Vec<Vec3>,
    /// Counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl From<pliant::TriMesh> for Mesh {
    fn from(mesh: pliant::TriMesh) -> Mesh {
        Mesh {
            normals: mesh.vertex_normals(),
            positions: mesh.vertices,
            triangles: mesh.triangles,
        }
    }
}

/// How a liquid looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Colours of its particles.
    pub map: ColourMap,
    /// Colour that it scatters.
    pub colour: Colour,
    /// How fast it takes red, green and blue light away, in 1/m.
    pub absorption: Vec3,
    /// 0 clear to 1 opaque.
    pub turbidity: f32,
    /// Attenuation of X-rays in 1/m.
    pub attenuation: f32,
}

impl Material {
    /// The looks of a named liquid.
    pub fn named(name: &str) -> Material {
        let (colour, absorption, turbidity) = match name {
            "barium" => (0xf1ede2, [4.0, 4.0, 5.0], 0.92),
            "blood" => (0xa3121a, [30.0, 220.0, 220.0], 0.8),
            "honey" => (0xe39a1c, [4.0, 22.0, 120.0], 0.25),
            "oil" => (0xc9bc3e, [3.0, 6.0, 60.0], 0.15),
            "pitch" => (0x1b1714, [300.0, 320.0, 340.0], 0.95),
            _ => (0x4a9be0, [7.0, 2.2, 1.0], 0.1),
        };
        Material {
            map: ColourMap::from_name(name).unwrap_or_default(),
            colour: Colour::hex(colour),
            absorption: Vec3::from(absorption),
            turbidity,
            attenuation: coefficients::of_liquid(name),
        }
    }
}

/// What can be seen of a world at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Another number, another state.
    pub number: u64,
    /// In seconds.
    pub time: f64,
    /// Particles.
    pub clouds: Vec<Cloud>,
    /// Bodies.
    pub bodies: Vec<Body>,
    /// Obstacles.
    pub walls: Vec<Wall>,
    /// Height of a level floor.
    pub floor: Option<f32>,
    /// In m/s².
    pub gravity: Vec3,
    /// Box around everything at the start.
    pub bounds: Aabb,
}

impl Snapshot {
    /// Names of all quantities that colours can show.
    pub fn fields(&self) -> Vec<&'static str> {
        let clouds = self.clouds.iter().flat_map(|c| &c.values);
        let mut names: Vec<&'static str> = clouds
            .chain(self.bodies.iter().flat_map(|b| &b.values))
            .map(|v| v.name)
            .collect();
        names.sort_unstable_by_key(|n| (*n != "speed", *n));
        names.dedup();
        names
    }

    /// Least and largest finite value of a quantity.
    pub fn range_of(&self, field: &str) -> Option<(f32, f32)> {
        let clouds = self.clouds.iter().flat_map(|c| &c.values);
        let all = clouds.chain(self.bodies.iter().flat_map(|b| &b.values));
        let values = all.filter(|v| v.name == field).flat_map(|v| &v.values);
        values
            .filter(|v| v.is_finite())
            .fold(None, |range, &v| match range {
                None => Some((v, v)),
                Some((low, high)) => Some((v.min(low), v.max(high))),
            })
    }

    /// Number of points of bodies shown.
    pub fn body_points(&self) -> usize {
        self.bodies.iter().map(|b| b.ids.len()).sum()
    }

    /// Number of points of all matter shown.
    pub fn points(&self) -> usize {
        let clouds = self.clouds.iter().map(|c| c.positions.len());
        clouds.sum::<usize>() + self.body_points()
    }
}

/// What stays the same from snapshot to snapshot of a scene.
pub struct Stage {
    materials: Vec<Material>,
    walls: Vec<WallLook>,
    /// The obstacles with their opacity, and the films on them (see [`Built`]).
    obstacles: Vec<(Handle<Obstacle>, f32)>,
    coatings: Vec<(usize, Handle<Coating>)>,
    /// Box around everything at the start.
    pub bounds: Aabb,
    /// Speed in m/s at the end of the colour scale.
    pub speed_range: f32,
    /// One colour scale for all liquids.
    pub by_speed: bool,
    /// Meshes of obstacles that have not moved.
    still: BTreeMap<usize, Arc<Mesh>>,
    number: u64,
}

struct WallLook {
    colour: Colour,
    massive: bool,
}

impl Stage {
    /// The looks of a scene. Snapshots are numbered from `number` on.
    pub fn new(scene: &Scene, built: &Built, number: u64) -> Stage {
        let description = &scene.description;
        let mut bounds = built.world.bounds();
        for emitter in description.fluid.iter().flat_map(|f| &f.emitter) {
            bounds = bounds.union(&Aabb {
                min: emitter.position - emitter.radius,
                max: emitter.position + emitter.radius,
            });
        }
        if bounds.size().min_element() < 0.0 {
            bounds = Aabb {
                min: Vec3::splat(-1.0),
                max: Vec3::ONE,
            };
        }
        // Half the speed of a free fall through the scene.
        let fall = (2.0 * built.world.gravity.length() * bounds.size().y.max(0.0)).sqrt();
        let wall = |shape: &Shape| WallLook {
            colour: Colour::hex(match shape {
                Shape::Colon { .. } | Shape::Tube { .. } => 0xd98d82,
                Shape::River { .. } | Shape::Heightfield { .. } => 0xa39a7c,
                Shape::Mesh { .. } => 0xc4bfb6,
                _ => 0xa8bac8,
            }),
            massive: matches!(shape, Shape::WineGlass { .. } | Shape::Tumbler { .. }),
        };
        Stage {
            materials: description
                .fluid
                .iter()
                .map(|f| Material::named(&f.material))
                .collect(),
            walls: description
                .obstacle
                .iter()
                .map(|o| wall(&o.shape))
                .collect(),
            obstacles: built.obstacles.clone(),
            coatings: built.coatings.clone(),
            bounds,
            speed_range: description
                .camera
                .speed_range
                .unwrap_or((0.5 * fall).max(0.01)),
            by_speed: description.camera.colour == Colouring::Speed,
            still: BTreeMap::new(),
            number,
        }
    }

    /// The number of the last snapshot.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The camera that the scene asks for, for a picture of this shape.
    pub fn camera(&self, scene: &Scene, aspect: f32) -> Camera {
        scene_camera(scene, self.bounds, aspect)
    }

    /// Takes a snapshot.
    pub fn take(&mut self, world: &World) -> Snapshot {
        self.number += 1;
        let mut clouds = Vec::new();
        let mut bodies = Vec::new();
        for matter in world.matter() {
            if matter.surface().is_some() {
                let colour = Colour::hex(BODIES[bodies.len() % BODIES.len()]);
                bodies.extend(body(matter, colour));
            } else {
                self.split(matter, &mut clouds);
            }
        }
        let planes = world.obstacles().filter_map(|o| o.as_plane());
        Snapshot {
            number: self.number,
            time: world.time(),
            clouds,
            bodies,
            walls: self.walls(world),
            floor: planes.filter(|(n, _)| n.y > 0.99).map(|(_, h)| h).last(),
            gravity: world.gravity,
            bounds: self.bounds,
        }
    }

    /// Matter without a surface, one cloud for each liquid in it.
    fn split(&self, matter: &dyn Matter, clouds: &mut Vec<Cloud>) {
        let points = matter.points();
        let values = values_of(matter, &points);
        let liquid = values.iter().find(|v| v.name == "liquid");
        let kinds = liquid.map_or(1, |v| {
            1 + v.values.iter().fold(0.0f32, |a, &b| a.max(b)) as usize
        });
        for kind in 0..kinds {
            let is_own = |i: &usize| liquid.is_none_or(|v| v.values[*i] as usize == kind);
            let own: Vec<usize> = (0..points.position.len()).filter(is_own).collect();
            let material = self.materials.get(kind).copied();
            let mut material = material.unwrap_or_else(|| Material::named(""));
            if self.by_speed {
                material.map = ColourMap::default();
            }
            clouds.push(Cloud {
                name: matter.name().into(),
                material,
                positions: own.iter().map(|&i| points.position.get(i)).collect(),
                velocities: own.iter().map(|&i| points.velocity.get(i)).collect(),
                ids: own.iter().map(|&i| points.id[i]).collect(),
                radius: points.radius,
                values: values
                    .iter()
                    .map(|v| Values {
                        name: v.name,
                        values: own.iter().map(|&i| v.values[i]).collect(),
                    })
                    .collect(),
            });
        }
    }

    fn walls(&mut self, world: &World) -> Vec<Wall> {
        let mut walls = Vec::new();
        for (i, ((handle, opacity), look)) in self.obstacles.iter().zip(&self.walls).enumerate() {
            let Some(obstacle) = world.obstacle(*handle) else {
                continue;
            };
            let mesh = match self.still.get(&i) {
                Some(mesh) if !obstacle.is_moving() => mesh.clone(),
                _ => {
                    let Some(triangles) = obstacle.triangles_now() else {
                        continue;
                    };
                    let mesh = Arc::new(Mesh::from(triangles.into_owned()));
                    self.still.insert(i, mesh.clone());
                    mesh
                }
            };
            let coating = self.coatings.iter().find(|(k, _)| *k == i);
            let coating = coating.and_then(|(_, handle)| world.coating(*handle));
            let full = coating.map_or(0.0, |c| c.settings().film);
            walls.push(Wall {
                mesh,
                colour: look.colour,
                opacity: *opacity,
                massive: look.massive,
                film: coating.map(|c| {
                    let share = |t: &f32| if full > 0.0 { t / full } else { 0.0 };
                    c.thickness().iter().map(share).collect()
                }),
                film_thickness: full,
            });
        }
        walls
    }
}

/// The camera that a scene asks for, for a picture of this shape.
pub fn scene_camera(scene: &Scene, bounds: Aabb, aspect: f32) -> Camera {
    let c = &scene.description.camera;
    let direction = c.direction.unwrap_or(Vec3::new(-0.35, -0.35, -1.0));
    let mut camera = Camera::framing_in(bounds, direction, aspect);
    if let Some(eye) = c.eye {
        camera.eye = eye;
        camera.target = c.target.unwrap_or(bounds.center());
    }
    if let Some(fov) = c.fov {
        camera.vertical_fov_degrees = fov;
    }
    camera
}

/// Speeds and scalars of all points of some matter.
fn values_of(matter: &dyn Matter, points: &PointsView<'_>) -> Vec<Values> {
    let speeds = points.velocity.iter().map(Vec3::length).collect();
    let mut values = vec![Values {
        name: "speed",
        values: speeds,
    }];
    let scalars = matter.scalars().into_iter();
    values.extend(scalars.map(|(name, values)| Values { name, values }));
    values
}

/// The surface of matter, with the points that it uses.
fn body(matter: &dyn Matter, colour: Colour) -> Option<Body> {
    let surface = matter.surface()?;
    let points = surface.points;
    let mut number = vec![u32::MAX; points.position.len()];
    let mut own = Vec::new();
    let mut mesh = pliant::TriMesh::default();
    for triangle in surface.triangles {
        mesh.triangles.push(triangle.map(|v| {
            let slot = &mut number[v as usize];
            if *slot == u32::MAX {
                *slot = own.len() as u32;
                own.push(v as usize);
            }
            *slot
        }));
    }
    mesh.vertices = own.iter().map(|&i| points.position.get(i)).collect();
    let values = values_of(matter, &points);
    Some(Body {
        name: matter.name().into(),
        colour,
        mesh: mesh.into(),
        velocities: own.iter().map(|&i| points.velocity.get(i)).collect(),
        ids: own.iter().map(|&i| points.id[i]).collect(),
        values: values
            .into_iter()
            .map(|v| Values {
                name: v.name,
                values: own.iter().map(|&i| v.values[i]).collect(),
            })
            .collect(),
    })
}
