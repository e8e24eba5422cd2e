//! A body as its contacts with other bodies see it.

use std::sync::Arc;

use glam::{Vec3, Vec3A};

use super::super::state::{Body, Solid};
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::space::Bvh;

/// What does not change while a body moves.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    /// Counts of what it was made of: a body that breaks gets a new one.
    pub counts: [usize; 3],
    /// The surface at rest, to find the way out of the body.
    pub rest: Bvh,
    /// Mean length of the edges of its surface in metres.
    pub edge: f32,
    /// The edges of its surface.
    pub edges: Vec<Edge>,
    /// How stiff the body is at each of its points, in N/m.
    pub stiffness: Vec<f32>,
    /// To which piece of the body each of its points belongs, and how many there are.
    pub piece: Vec<u32>,
    pub pieces: usize,
    /// What the piece of each of its points weighs, in kg.
    pub weight: Vec<f32>,
}

/// An edge of a surface: its ends, and the third corners of the triangles on its left and
/// on its right, seen along it from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub ends: [u32; 2],
    pub wings: [u32; 2],
    /// The triangle on its left.
    pub triangle: u32,
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
        let (piece, pieces) = pieces(solid);
        Skin {
            counts: counts(solid),
            edge,
            edges: edges_of(&solid.surface),
            stiffness,
            weight: weights(solid, &piece, pieces),
            piece,
            pieces,
            rest: Bvh::build(Arc::new(mesh)),
        }
    }
}

/// The piece of every point, and how many there are.
fn pieces(solid: &Solid) -> (Vec<u32>, usize) {
    match &solid.body {
        Body::Elastic(body) => {
            let of = |i: usize| body.stiffness.piece(i) as u32;
            let count = body.stiffness.pieces().max(1);
            ((0..solid.len()).map(of).collect(), count)
        }
        Body::Springs(_) | Body::Matched(_) => (vec![0; solid.len()], 1),
    }
}

fn weights(solid: &Solid, piece: &[u32], pieces: usize) -> Vec<f32> {
    let mut sums = vec![0.0; pieces];
    for (&p, mass) in piece.iter().zip(&solid.mass) {
        sums[p as usize] += mass;
    }
    piece.iter().map(|&p| sums[p as usize]).collect()
}

/// Every edge once, in the order of the triangles on its left; those of one triangle alone,
/// which closed surfaces have not, are left out.
fn edges_of(triangles: &[[u32; 3]]) -> Vec<Edge> {
    let mut sides: Vec<([u32; 2], u32, u32)> = Vec::with_capacity(3 * triangles.len());
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        sides.extend([([a, b], c), ([b, c], a), ([c, a], b)].map(|(e, w)| (e, w, t as u32)));
    }
    let mut sorted = sides.clone();
    sorted.sort_unstable();
    let find = |ends: [u32; 2]| {
        let at = sorted.binary_search_by_key(&ends, |s| s.0).ok()?;
        Some(sorted[at].1)
    };
    let once = sides.into_iter().filter(|([a, b], ..)| a < b);
    once.filter_map(|([a, b], left, triangle)| {
        Some(Edge {
            ends: [a, b],
            wings: [left, find([b, a])?],
            triangle,
        })
    })
    .collect()
}

fn counts(solid: &Solid) -> [usize; 3] {
    [
        solid.mesh.points.len(),
        solid.mesh.tets.len(),
        solid.surface.len(),
    ]
}

/// A body on its way through a step, as far as is known.
pub(super) struct View<'a> {
    pub solid: &'a Solid,
    pub skin: &'a Skin,
    /// Places at the start of the step.
    pub from: &'a [Vec3],
    /// Places at its end.
    pub to: Vec<Vec3>,
    /// Velocities at its end, in m/s.
    pub velocity: Vec<Vec3A>,
    /// Around the places of the skin at the start.
    pub bounds: Aabb,
    /// Mean way of the skin, and how far one of its points is from it, in metres.
    pub way: Vec3,
    pub deviation: f32,
}

impl<'a> View<'a> {
    /// `from` is where its points were when the step began, `change` how the solve changes
    /// their velocities.
    pub fn new(
        solid: &'a Solid,
        skin: &'a Skin,
        from: &'a [Vec3],
        change: &[Vec3A],
        h: f32,
    ) -> View<'a> {
        let mut view = View {
            solid,
            skin,
            from,
            to: vec![Vec3::ZERO; solid.len()],
            velocity: vec![Vec3A::ZERO; solid.len()],
            bounds: Aabb::of(solid.skin.iter().map(|&i| from[i as usize])),
            way: Vec3::ZERO,
            deviation: 0.0,
        };
        view.follow(change, h);
        view
    }

    /// A body that has arrived.
    pub fn arrived(solid: &'a Solid, skin: &'a Skin, from: &'a [Vec3]) -> View<'a> {
        let mut view = View::new(solid, skin, from, &[], 0.0);
        for (i, to) in view.to.iter_mut().enumerate() {
            *to = solid.mesh.points[i] + Vec3::from(solid.displacement[i]);
        }
        view.measure_way();
        view
    }

    /// Takes note that the solve changes velocities otherwise.
    pub fn follow(&mut self, change: &[Vec3A], h: f32) {
        let solid = self.solid;
        for i in 0..solid.len() {
            let change = change.get(i).copied().unwrap_or(Vec3A::ZERO);
            self.velocity[i] = solid.velocity[i] + change;
            let way = match solid.body {
                // They have moved already.
                Body::Springs(_) | Body::Matched(_) => change,
                Body::Elastic(_) => self.velocity[i],
            };
            self.to[i] = solid.mesh.points[i] + Vec3::from(solid.displacement[i] + h * way);
        }
        self.measure_way();
    }

    /// How far a point goes besides the way of all, in metres.
    pub fn own_way(&self, point: usize) -> f32 {
        (self.to[point] - self.from[point]).distance(self.way)
    }

    fn measure_way(&mut self) {
        let skin = &self.solid.skin;
        let way = |i: u32| self.to[i as usize] - self.from[i as usize];
        self.way = skin.iter().map(|&i| way(i)).sum::<Vec3>() / skin.len().max(1) as f32;
        let away = skin.iter().map(|&i| way(i).distance(self.way));
        self.deviation = away.fold(0.0, f32::max);
    }
}
