//! Attenuation along rays.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::{XrayScene, XrayShell};
use crate::camera::View;
use crate::ray::{Primitives, RayBvh};

/// Rays per pixel through meshes, as offsets from the pixel's corner.
const SAMPLES: [Vec2; 4] = [
    Vec2::new(0.375, 0.125),
    Vec2::new(0.875, 0.375),
    Vec2::new(0.125, 0.625),
    Vec2::new(0.625, 0.875),
];

/// A ray that grazes a wall has at most this many wall thicknesses of it.
const GRAZING: f32 = 14.0;

/// The sum of attenuation times way for every pixel of the view, row by row.
pub(super) fn picture(scene: &XrayScene<'_>, view: &View, width: u32, height: u32) -> Vec<f32> {
    let tubes = Tubes::new(scene);
    let mut sums = vec![0.0; width as usize * height as usize];
    sums.par_chunks_mut(width as usize)
        .enumerate()
        .for_each_init(Vec::new, |crossings, (y, row)| {
            for (x, sum) in row.iter_mut().enumerate() {
                let corner = Vec2::new(x as f32, y as f32);
                let along = |at: Vec2| view.direction_to_world(view.ray(at)).normalize();
                let meshes: f32 = SAMPLES
                    .iter()
                    .map(|&offset| tubes.along(view.eye, along(corner + offset), crossings))
                    .sum();
                let volume = scene
                    .volume
                    .map_or(0.0, |v| v.integral(view.eye, along(corner + 0.5)));
                *sum = (volume + meshes / SAMPLES.len() as f32).max(0.0);
            }
        });
    sums
}

/// The meshes, ready for rays.
struct Tubes<'a> {
    scene: &'a XrayScene<'a>,
    bvh: RayBvh,
    /// Body or shell of each triangle, and the triangle in its mesh.
    owners: Vec<(Owner, u32)>,
}

#[derive(Clone, Copy)]
enum Owner {
    Body(u32),
    Shell(u32),
}

impl<'a> Tubes<'a> {
    fn new(scene: &'a XrayScene<'a>) -> Tubes<'a> {
        let mut primitives = Primitives::default();
        let mut owners = Vec::new();
        let bodies = scene.bodies.iter().enumerate();
        let bodies = bodies.map(|(k, b)| (b.mesh, Owner::Body(k as u32)));
        let shells = scene.shells.iter().enumerate();
        let shells = shells.map(|(k, s)| (s.mesh, Owner::Shell(k as u32)));
        for (mesh, owner) in bodies.chain(shells) {
            for (t, corners) in mesh.triangles.iter().enumerate() {
                let [Some(&a), Some(&b), Some(&c)] = corners.map(|v| mesh.vertices.get(v as usize))
                else {
                    continue;
                };
                primitives.triangles.push([a, b - a, c - a]);
                owners.push((owner, t as u32));
            }
        }
        Tubes {
            scene,
            bvh: RayBvh::new(primitives),
            owners,
        }
    }

    /// The sum along one ray. `crossings` is memory that is used again.
    fn along(&self, origin: Vec3, direction: Vec3, crossings: &mut Vec<Crossing>) -> f32 {
        crossings.clear();
        let mut sum = 0.0;
        self.bvh.all(origin, direction, f32::INFINITY, |hit| {
            let Some([_, ab, ac]) = self.bvh.triangle(hit.primitive) else {
                return;
            };
            let (owner, t) = self.owners[hit.primitive as usize];
            match owner {
                Owner::Body(body) => crossings.push(Crossing {
                    body,
                    t: hit.t,
                    leaving: ab.cross(*ac).dot(direction) > 0.0,
                }),
                Owner::Shell(k) => {
                    let shell = &self.scene.shells[k as usize];
                    let weights = [1.0 - hit.u - hit.v, hit.u, hit.v];
                    sum += wall(shell, t, weights, direction);
                }
            }
        });
        crossings.sort_unstable_by(|a, b| {
            a.body
                .cmp(&b.body)
                .then(a.t.total_cmp(&b.t))
                .then(a.leaving.cmp(&b.leaving))
        });
        // A ray through an edge may meet both triangles there: a body is entered
        // once and left once, whatever is found between.
        for part in crossings.chunk_by(|a, b| a.body == b.body) {
            let mut entered = None;
            let mut way = 0.0;
            for crossing in part {
                if !crossing.leaving {
                    entered.get_or_insert(crossing.t);
                } else if let Some(start) = entered.take() {
                    way += crossing.t - start;
                }
            }
            let body = &self.scene.bodies[part[0].body as usize];
            sum += way * (body.attenuation - body.displaced);
        }
        sum
    }
}

/// Where a ray crosses the surface of a body.
struct Crossing {
    body: u32,
    t: f32,
    leaving: bool,
}

/// What one crossing of a wall adds.
fn wall(shell: &XrayShell<'_>, t: u32, weights: [f32; 3], direction: Vec3) -> f32 {
    let corners = shell.mesh.triangles[t as usize];
    let mut normal = Vec3::ZERO;
    let mut layer = 0.0;
    for (v, w) in corners.into_iter().zip(weights) {
        normal += w * shell.normals.get(v as usize).copied().unwrap_or(Vec3::ZERO);
        let thickness = shell.coat.and_then(|(c, _)| c.get(v as usize).copied());
        layer += w * thickness.unwrap_or(0.0);
    }
    let cosine = normal.normalize_or_zero().dot(direction).abs();
    let longer = (1.0 / cosine.max(1e-3)).min(GRAZING);
    let coat = shell.coat.map_or(0.0, |(_, attenuation)| attenuation);
    longer * (shell.thickness * shell.attenuation + layer.max(0.0) * coat)
}
