//! Liquid that touches a wall fills up to it.
//!
//! Particles keep half a spacing from walls, and the surface around them is bumpy
//! there. What a person sees through the wall of a glass is the wall's own shape.

use glam::Vec3;
use rayon::prelude::*;

use super::Surface;
use crate::contact::Obstacle;
use crate::space::Bvh;

/// Up to this share of the reach vertices go all the way to the wall.
const SURE: f32 = 0.7;

/// Walls that a surface can be attached to.
#[derive(Default)]
pub struct Walls {
    planes: Vec<(Vec3, f32)>,
    meshes: Vec<Bvh>,
}

impl Walls {
    /// The walls of these obstacles.
    pub fn of<'a>(obstacles: impl IntoIterator<Item = &'a Obstacle>) -> Walls {
        let mut walls = Walls::default();
        for obstacle in obstacles {
            walls.planes.extend(obstacle.as_plane());
            let mesh = obstacle.triangles();
            walls.meshes.extend(mesh.map(|m| Bvh::build(m.clone())));
        }
        walls
    }

    /// The nearest place of a wall within `reach`, and the wall's normal there.
    fn nearest(&self, p: Vec3, reach: f32) -> Option<(Vec3, Vec3)> {
        let mut best: Option<(f32, Vec3, Vec3)> = None;
        let mut consider = |distance: f32, place: Vec3, normal: Vec3| {
            if distance <= reach && best.is_none_or(|(d, ..)| distance < d) {
                best = Some((distance, place, normal));
            }
        };
        for &(normal, offset) in &self.planes {
            let above = normal.dot(p) - offset;
            consider(above.abs(), p - above * normal, normal);
        }
        for tree in &self.meshes {
            if let Some((found, _)) = tree.closest(p, reach) {
                let normal = tree.mesh().area_normal(found.triangle as usize);
                consider(found.distance, found.point, normal.normalize_or_zero());
            }
        }
        best.map(|(_, place, normal)| (place, normal))
    }
}

impl Surface {
    /// Moves what lies within `reach` of a wall, and faces it, to `beyond` behind the
    /// wall's surface. The triangles stay as they are joined.
    pub fn attach(&mut self, walls: &Walls, reach: f32, beyond: f32) {
        let moved: Vec<Vec3> = self
            .mesh
            .vertices
            .par_iter()
            .zip(&self.normals)
            .with_min_len(256)
            .map(|(&v, &n)| {
                let Some((place, wall)) = walls.nearest(v, reach) else {
                    return v;
                };
                let towards = wall * wall.dot(n).signum();
                let facing = ((towards.dot(n) - 0.1) / 0.3).clamp(0.0, 1.0);
                let near = place.distance(v) / reach;
                let share = facing * ((1.0 - near) / (1.0 - SURE)).clamp(0.0, 1.0);
                v.lerp(place + beyond * towards, share)
            })
            .collect();
        self.mesh.vertices = moved;
        self.normals = self.mesh.vertex_normals();
    }
}
