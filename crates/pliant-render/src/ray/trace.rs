//! The light that comes along a ray.

use glam::Vec3;
use pliant::mesh::TriMesh;

use super::bvh::{Primitives, RayBvh, RayHit};
use super::media::{Body, Inside, border, schlick};
use super::noise::Noise;
use super::sky::{Sky, smooth};
use super::{Finish, RayMesh, RayScene};
use crate::camera::View;
use crate::scene::SphereColours;
use crate::shade::Floor;

/// Branches that add less than this to the picture are not followed.
const FAINT: f32 = 0.004;

/// Shadows begin this many nudges above a surface, so that the small folds of a
/// liquid's surface do not shade themselves.
const SHADOW_GAP: f32 = 60.0;

/// A scene prepared for rays.
pub(super) struct Tracer<'a> {
    scene: &'a RayScene<'a>,
    pub sky: Sky,
    bvh: RayBvh,
    /// Mesh of each triangle, and the triangle in it.
    owners: Vec<(u16, u32)>,
    sphere_colours: Vec<Vec3>,
    bodies: Vec<Body>,
    /// Number of each mesh's body.
    body_of: Vec<Option<u16>>,
    floor: Option<Floor>,
    /// Shortest way of a ray, against meeting the surface it leaves.
    pub nudge: f32,
    /// How far a crevice looks for what darkens it.
    reach: f32,
    depth: u32,
}

/// What a ray carries.
#[derive(Clone, Copy)]
pub(super) struct Ray {
    pub origin: Vec3,
    pub direction: Vec3,
    inside: Inside,
    /// Share of what is found that reaches the picture.
    weight: f32,
    depth: u32,
    /// Has been thrown back by a surface, and sees lamps.
    mirrored: bool,
}

impl Ray {
    pub fn new(origin: Vec3, direction: Vec3) -> Ray {
        Ray {
            origin,
            direction,
            inside: Inside::default(),
            weight: 1.0,
            depth: 0,
            mirrored: false,
        }
    }

    fn onwards(self, origin: Vec3, direction: Vec3, share: f32) -> Ray {
        Ray {
            origin,
            direction,
            weight: self.weight * share,
            depth: self.depth + 1,
            ..self
        }
    }
}

/// A place on a surface.
struct Place {
    at: Vec3,
    /// Unit vectors on the ray's side: of the triangle, and rounded over it.
    flat: Vec3,
    normal: Vec3,
    /// The ray meets the outer side.
    front: bool,
}

impl<'a> Tracer<'a> {
    pub fn new(scene: &'a RayScene<'a>, view: &View, depth: u32) -> Tracer<'a> {
        let mut primitives = Primitives::default();
        let (mut owners, mut bodies, mut body_of) = (Vec::new(), Vec::new(), Vec::new());
        for (m, surface) in scene.meshes.iter().enumerate().take(usize::from(u16::MAX)) {
            add_mesh(surface.mesh, m as u16, &mut primitives, &mut owners);
            body_of.push(match surface.finish {
                Finish::Clear {
                    index,
                    left_after_metre,
                    rank,
                } => {
                    bodies.push(Body {
                        index,
                        absorption: -left_after_metre
                            .clamp(Vec3::splat(1e-37), Vec3::ONE)
                            .map(f32::ln),
                        rank,
                    });
                    Some(bodies.len() as u16 - 1)
                }
                _ => None,
            });
        }
        let mut sphere_colours = Vec::new();
        for group in &scene.spheres {
            for (i, p) in group.positions.iter().enumerate() {
                primitives.spheres.push((p, group.radius));
                let colour = match group.colours {
                    SphereColours::One(colour) => colour,
                    SphereColours::ByValue { values, map, range } => {
                        map.colour_in(values.get(i).copied().unwrap_or(f32::NAN), range)
                    }
                };
                sphere_colours.push(colour.to_vec());
            }
        }
        let aabb = scene.aabb();
        let size = aabb.size().max(Vec3::ZERO).length();
        let size = if size.is_finite() && size > 0.0 {
            size
        } else {
            1.0
        };
        let far = aabb.center().distance(view.eye);
        Tracer {
            sky: Sky::over(view, scene.background),
            bvh: RayBvh::new(primitives),
            owners,
            sphere_colours,
            bodies,
            body_of,
            floor: scene
                .ground
                .filter(|g| g.height.is_finite() && view.eye.y > g.height)
                .map(|g| Floor::new(g, &g.around.unwrap_or(aabb))),
            nudge: 1e-5 * size.max(if far.is_finite() { 0.1 * far } else { 0.0 }),
            reach: 0.12 * size,
            scene,
            depth,
        }
    }

    /// The light that comes back along the ray.
    pub fn light(&self, ray: Ray, noise: &mut Noise) -> Vec3 {
        let hit = self
            .bvh
            .first(ray.origin, ray.direction, self.nudge, f32::INFINITY);
        let way = hit.map_or(f32::INFINITY, |h| h.t);
        let light = match (self.meet_floor(&ray, way), hit) {
            (Some((floor, at, t)), _) => {
                self.shade_floor(&ray, floor, at, noise) * self.left(&ray, t)
            }
            (None, Some(hit)) => self.shade(&ray, hit, noise) * self.left(&ray, hit.t),
            (None, None) => self.outside(&ray),
        };
        // A rare ray that finds a lamp by many borders would be a white speck.
        light.min(Vec3::splat(if ray.depth < 2 { 12.0 } else { 1.2 }))
    }

    fn outside(&self, ray: &Ray) -> Vec3 {
        if ray.mirrored {
            self.sky.mirrored(ray.direction)
        } else {
            self.sky.backdrop(ray.direction)
        }
    }

    /// Share of light that is left after a way through what the ray is in.
    fn left(&self, ray: &Ray, way: f32) -> Vec3 {
        match ray.inside.top(&self.bodies) {
            Some(body) => (-self.bodies[body as usize].absorption * way).exp(),
            None => Vec3::ONE,
        }
    }

    fn meet_floor(&self, ray: &Ray, before: f32) -> Option<(&Floor, Vec3, f32)> {
        let floor = self.floor.as_ref()?;
        let t = (floor.ground.height - ray.origin.y) / ray.direction.y;
        (ray.direction.y < 0.0 && t > self.nudge && t < before)
            .then(|| (floor, ray.origin + t * ray.direction, t))
    }

    fn shade_floor(&self, ray: &Ray, floor: &Floor, at: Vec3, noise: &mut Noise) -> Vec3 {
        // A fixed footprint: many samples per pixel smooth the lines.
        let foot = 0.004 * floor.spacing;
        let (colour, share) = floor.colour(at, glam::Vec2::splat(foot));
        let behind = self.outside(ray);
        if share <= 0.0 {
            return behind;
        }
        let (lamp, to) = self.sky.lamp([noise.next(), noise.next()]);
        let lit = self.lamp_light(at, Vec3::Y, to, noise);
        let open = self.openness(at, Vec3::Y, noise);
        // Fully lit floor shows its own colour and melts into the backdrop.
        let light = 0.45 * open + (lamp * lit).map(|l| 0.55 * l / 0.84);
        behind.lerp(colour * light, share)
    }

    fn shade(&self, ray: &Ray, hit: RayHit, noise: &mut Noise) -> Vec3 {
        let Some(place) = self.place(ray, hit) else {
            return Vec3::ZERO;
        };
        if hit.primitive as usize >= self.bvh.triangle_count() {
            let i = hit.primitive as usize - self.bvh.triangle_count();
            return self.matt(ray, &place, self.sphere_colours[i], 0.25, noise);
        }
        let (m, t) = self.owners[hit.primitive as usize];
        let surface = &self.scene.meshes[m as usize];
        let cover = cover_at(surface, t, hit);
        let coat = surface.coat.map_or(Vec3::ONE, |c| c.colour.to_vec());
        match surface.finish {
            Finish::Matt { colour, gloss } => {
                self.matt(ray, &place, colour.to_vec().lerp(coat, cover), gloss, noise)
            }
            Finish::Clear { .. } => self.clear(ray, &place, self.body_of[m as usize], noise),
            Finish::Sheet {
                colour,
                opacity,
                gloss,
            } => {
                let opacity = opacity + (0.62 - opacity).max(0.0) * cover;
                let colour = colour.to_vec().lerp(coat, cover);
                self.sheet(ray, &place, colour, opacity, gloss, noise)
            }
        }
    }

    fn place(&self, ray: &Ray, hit: RayHit) -> Option<Place> {
        let at = ray.origin + hit.t * ray.direction;
        let (flat, normal) = match self.bvh.triangle(hit.primitive) {
            Some([_, ab, ac]) => {
                let flat = ab.cross(*ac).normalize_or_zero();
                let (m, t) = self.owners[hit.primitive as usize];
                let surface = &self.scene.meshes[m as usize];
                let normal = surface.normals.and_then(|normals| {
                    let corners = surface.mesh.triangles[t as usize];
                    let [a, b, c] = corners.map(|v| normals.get(v as usize));
                    let mixed = (1.0 - hit.u - hit.v) * *a? + hit.u * *b? + hit.v * *c?;
                    mixed.try_normalize()
                });
                (flat, normal.unwrap_or(flat))
            }
            None => {
                let (centre, _) = self.bvh.sphere(hit.primitive);
                let n = (at - centre).normalize_or_zero();
                (n, n)
            }
        };
        if flat == Vec3::ZERO {
            return None;
        }
        let front = flat.dot(ray.direction) < 0.0;
        let side = if front { 1.0 } else { -1.0 };
        let flat = side * flat;
        let mut normal = side * normal;
        // A rounded normal that looks away from the ray would see through the
        // surface: turn it until it just does not.
        let facing = -normal.dot(ray.direction);
        if facing < 0.02 {
            normal = (normal + (0.02 - facing) * -ray.direction).normalize_or(flat);
        }
        Some(Place {
            at,
            flat,
            normal,
            front,
        })
    }

    /// Opaque: Lambert under lamp and sky, and a shining coat.
    fn matt(&self, ray: &Ray, place: &Place, colour: Vec3, gloss: f32, noise: &mut Noise) -> Vec3 {
        let mut light = colour * self.diffuse(place, noise);
        let mirror = schlick(0.04, -ray.direction.dot(place.normal)) * gloss;
        if mirror * ray.weight > FAINT && ray.depth < self.depth.min(3) {
            let reflected = self.reflection(ray, place, mirror);
            light = light * (1.0 - mirror) + mirror * self.light(reflected, noise);
        }
        light
    }

    fn diffuse(&self, place: &Place, noise: &mut Noise) -> Vec3 {
        let (lamp, to) = self.sky.lamp([noise.next(), noise.next()]);
        let cosine = place.normal.dot(to).max(0.0);
        let lit = if cosine > 0.0 {
            self.lamp_light(place.at, place.flat, to, noise)
        } else {
            Vec3::ZERO
        };
        let open = self.openness(place.at, place.normal, noise);
        lamp * lit * cosine + self.sky.ambient(place.normal) * open
    }

    /// A body's border: part is thrown back, the rest goes through.
    fn clear(&self, ray: &Ray, place: &Place, body: Option<u16>, noise: &mut Noise) -> Vec3 {
        let Some(body) = body else {
            return Vec3::ZERO;
        };
        if ray.depth >= self.depth {
            return 0.7 * self.sky.backdrop(ray.direction);
        }
        let beyond = if place.front {
            ray.inside.with(body)
        } else {
            ray.inside.without(body)
        };
        let (before, after) = (ray.inside.top(&self.bodies), beyond.top(&self.bodies));
        if before == after {
            // Hidden in a body of higher rank: nothing is there.
            let mut on = ray.onwards(place.at, ray.direction, 1.0);
            on.inside = beyond;
            return self.light(on, noise);
        }
        let index = |b: Option<u16>| b.map_or(1.0, |b| self.bodies[b as usize].index);
        let split = border(ray.direction, place.normal, index(before), index(after));
        let reflected = self.reflection(ray, place, split.reflected);
        let Some(through) = split.through else {
            return self.light(reflected, noise);
        };
        let mut refracted = ray.onwards(place.at, through, 1.0 - split.reflected);
        refracted.inside = beyond;
        // The first borders give both ways; later ones one of them by chance.
        if ray.depth < 2 {
            let mut light = Vec3::ZERO;
            if reflected.weight > FAINT {
                light += split.reflected * self.light(reflected, noise);
            }
            if refracted.weight > FAINT {
                light += (1.0 - split.reflected) * self.light(refracted, noise);
            }
            light
        } else if noise.next() < split.reflected {
            self.light(reflected, noise)
        } else {
            self.light(refracted, noise)
        }
    }

    fn reflection(&self, ray: &Ray, place: &Place, share: f32) -> Ray {
        let mut direction = ray.direction.reflect(place.normal);
        // A rounded normal may throw the ray into the surface.
        let below = direction.dot(place.flat);
        if below < 0.01 {
            direction = (direction + (0.01 - below) * place.flat).normalize();
        }
        let mut reflected = ray.onwards(place.at, direction, share);
        reflected.mirrored = true;
        reflected
    }

    /// A thin wall: it adds its own light, holds some back, and shines.
    fn sheet(
        &self,
        ray: &Ray,
        place: &Place,
        colour: Vec3,
        opacity: f32,
        gloss: f32,
        noise: &mut Noise,
    ) -> Vec3 {
        let hidden = sheet_share(ray.direction, place.normal, opacity);
        let mut light = Vec3::ZERO;
        if hidden > 0.0 {
            // Tissue and film glow with light from behind, too.
            let through = 0.25 * self.sky.ambient(-place.normal);
            light += hidden * colour * (self.diffuse(place, noise) + through);
        }
        let mut rest = 1.0 - hidden;
        let mirror = gloss * schlick(0.04, -ray.direction.dot(place.normal));
        if mirror * ray.weight > FAINT && ray.depth < self.depth.min(3) {
            light += mirror * self.light(self.reflection(ray, place, mirror), noise);
            rest *= 1.0 - mirror;
        }
        if rest * ray.weight > FAINT && ray.depth < 4 * self.depth {
            light += rest * self.light(ray.onwards(place.at, ray.direction, rest), noise);
        }
        light
    }

    /// Share of the lamp's light, per channel, that reaches a place.
    fn lamp_light(&self, at: Vec3, flat: Vec3, to: Vec3, noise: &mut Noise) -> Vec3 {
        self.passage(
            at + SHADOW_GAP * self.nudge * flat,
            to,
            f32::INFINITY,
            noise,
        )
    }

    /// How open the surroundings of a place are to the room.
    fn openness(&self, at: Vec3, normal: Vec3, noise: &mut Noise) -> Vec3 {
        let (u, v) = normal.any_orthonormal_pair();
        let (r, angle) = (noise.next().sqrt(), std::f32::consts::TAU * noise.next());
        let (sin, cos) = angle.sin_cos();
        let up = (1.0 - r * r).max(0.0).sqrt();
        let to = r * (cos * u + sin * v) + up * normal;
        let seen = self.passage(at + SHADOW_GAP * self.nudge * normal, to, self.reach, noise);
        // What hides the room also throws some light on.
        Vec3::splat(0.25) + 0.75 * seen
    }

    /// Share of light that gets through everything within `reach` along a ray.
    /// Clear bodies are crossed straight on.
    fn passage(&self, origin: Vec3, direction: Vec3, reach: f32, noise: &mut Noise) -> Vec3 {
        let mut share = Vec3::ONE;
        let mut from = self.nudge;
        let mut entered: Option<(u16, f32)> = None;
        for _ in 0..32 {
            let Some(hit) = self.bvh.first(origin, direction, from, reach) else {
                break;
            };
            from = hit.t * (1.0 + 1e-6) + self.nudge;
            let Some(&(m, t)) = self.owners.get(hit.primitive as usize) else {
                return Vec3::ZERO;
            };
            let surface = &self.scene.meshes[m as usize];
            let Some([_, ab, ac]) = self.bvh.triangle(hit.primitive) else {
                return Vec3::ZERO;
            };
            let flat = ab.cross(*ac).normalize_or_zero();
            let facing = flat.dot(direction);
            match surface.finish {
                Finish::Matt { .. } => return Vec3::ZERO,
                Finish::Clear { .. } => {
                    let Some(body) = self.body_of[m as usize] else {
                        continue;
                    };
                    // Light that slants through a border is bent away: bodies throw a
                    // shadow with a bright middle.
                    share *= 0.35 + 0.65 * smooth(0.0, 0.8, facing.abs());
                    if facing < 0.0 {
                        entered = Some((body, hit.t));
                    } else {
                        let start = entered.take().map_or(0.0, |(_, start)| start);
                        let absorption = self.bodies[body as usize].absorption;
                        share *= (-absorption * (hit.t - start)).exp();
                    }
                }
                Finish::Sheet {
                    colour, opacity, ..
                } => {
                    let opacity = opacity + (0.62 - opacity).max(0.0) * cover_at(surface, t, hit);
                    let hidden = sheet_share(direction, flat, opacity);
                    // Film and tissue scatter light on rather than stop it.
                    share *= Vec3::ONE.lerp(0.45 + 0.5 * colour.to_vec(), hidden);
                }
            }
            // Faint light is worth following only sometimes.
            let most = share.max_element();
            if most < 0.1 {
                if noise.next() > 10.0 * most {
                    return Vec3::ZERO;
                }
                share *= 0.1 / most;
            }
        }
        share
    }
}

/// Share of light that a sheet holds back: more along its outline, where the way
/// through it is longer.
fn sheet_share(direction: Vec3, normal: Vec3, opacity: f32) -> f32 {
    let facing = direction.dot(normal).abs().clamp(0.06, 1.0);
    1.0 - (1.0 - opacity.clamp(0.0, 0.999)).powf(1.0 / facing)
}

/// Share of a mesh's coat at a place.
fn cover_at(surface: &RayMesh<'_>, triangle: u32, hit: RayHit) -> f32 {
    let Some(coat) = surface.coat else {
        return 0.0;
    };
    let corner = |k: usize| {
        let v = surface.mesh.triangles[triangle as usize][k];
        coat.cover.get(v as usize).copied().unwrap_or(0.0)
    };
    let mixed = (1.0 - hit.u - hit.v) * corner(0) + hit.u * corner(1) + hit.v * corner(2);
    mixed.clamp(0.0, 1.0)
}

/// Adds the triangles of a mesh; those with a vertex that does not exist are left
/// out.
fn add_mesh(
    mesh: &TriMesh,
    number: u16,
    primitives: &mut Primitives,
    owners: &mut Vec<(u16, u32)>,
) {
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let [Some(&a), Some(&b), Some(&c)] = corners.map(|v| mesh.vertices.get(v as usize)) else {
            continue;
        };
        primitives.triangles.push([a, b - a, c - a]);
        owners.push((number, t as u32));
    }
}
