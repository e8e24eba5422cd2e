//! A body as its contacts with other bodies see it.

use std::sync::Arc;

use glam::Vec3;

use super::super::state::{Body, Solid};
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::space::Bvh;

/// What does not change while a body moves.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    /// Counts of what it was made of: a body that breaks gets a new one.
    counts: [usize; 3],
    /// The surface at rest, to find the way out of the body.
    pub rest: Bvh,
    /// Mean length of the edges of its surface in metres.
    pub edge: f32,
    /// How stiff the body is at each of its points, in N/m.
    pub stiffness: Vec<f32>,
}

impl Skin {
    pub fn fits(&self, solid: &Solid) -> bool {
        self.counts == counts(solid)
    }

    pub fn new(solid: &Solid) -> Skin {
        let mesh = TriMesh {
            vertices: solid.mesh.points.clone(),
            triangles: solid.surface.clone(),
        };
        let edges = mesh.triangles.iter().flat_map(|&[a, b, c]| {
            [(a, b), (b, c), (c, a)]
                .map(|(i, j)| mesh.vertices[i as usize].distance(mesh.vertices[j as usize]))
        });
        let edge = edges.sum::<f32>() / (3 * mesh.triangles.len()).max(1) as f32;
        let mut stiffness = vec![0.0; solid.len()];
        match &solid.body {
            Body::Springs(body) => {
                for (ends, k) in body.patches.global_edges.iter().zip(&body.edge_stiffness) {
                    for &i in ends {
                        // A spring resists in one of three directions.
                        stiffness[i as usize] += k / 3.0;
                    }
                }
            }
            // The weight of contacts comes from the masses.
            Body::Matched(_) => {}
            Body::Elastic(body) => {
                let (lambda, mu) = body.settings.lame();
                for (t, tet) in solid.mesh.tets.iter().enumerate() {
                    let gradients = body.elements.gradients(t);
                    for (&i, b) in tet.iter().zip(gradients) {
                        // A third of the trace of V ((λ + μ) b ⊗ b + μ b·b 1).
                        stiffness[i as usize] +=
                            body.elements.volume[t] * b.length_squared() * (lambda + 4.0 * mu)
                                / 3.0;
                    }
                }
            }
        }
        Skin {
            counts: counts(solid),
            edge,
            stiffness,
            rest: Bvh::build(Arc::new(mesh)),
        }
    }
}

fn counts(solid: &Solid) -> [usize; 3] {
    [
        solid.mesh.points.len(),
        solid.mesh.tets.len(),
        solid.surface.len(),
    ]
}

/// A body at the start of a step, and where it is about to go.
pub(super) struct View<'a> {
    pub solid: &'a Solid,
    pub skin: &'a Skin,
    /// Places at the start of the step.
    pub from: Vec<Vec3>,
    /// Velocities before the solve, in m/s.
    pub guess: Vec<Vec3>,
    /// Around the places of the skin.
    pub bounds: Aabb,
    /// Mean of the guesses, and how far one of the skin is from it, in m/s.
    pub velocity: Vec3,
    pub deviation: f32,
}

impl<'a> View<'a> {
    pub fn new(solid: &'a Solid, skin: &'a Skin, h: f32) -> View<'a> {
        let points = 0..solid.len();
        let place = |i: usize| solid.mesh.points[i] + Vec3::from(solid.displacement[i]);
        let velocity = |i: usize| Vec3::from(solid.velocity[i]);
        let (from, guess): (Vec<Vec3>, Vec<Vec3>) = match &solid.body {
            // They have moved already.
            Body::Springs(_) | Body::Matched(_) => points
                .map(|i| (place(i) - h * velocity(i), velocity(i)))
                .unzip(),
            Body::Elastic(_) => points.map(|i| (place(i), velocity(i))).unzip(),
        };
        let skin_points = || solid.skin.iter().map(|&i| i as usize);
        let mean = skin_points().map(|i| guess[i]).sum::<Vec3>() / solid.skin.len().max(1) as f32;
        View {
            bounds: Aabb::of(skin_points().map(|i| from[i])),
            deviation: skin_points()
                .map(|i| guess[i].distance(mean))
                .fold(0.0, f32::max),
            velocity: mean,
            solid,
            skin,
            from,
            guess,
        }
    }
}
