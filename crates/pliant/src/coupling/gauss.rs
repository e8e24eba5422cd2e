//! Gauss boundary particles (Müller et al. 2004): the faithful way in which surfaces and
//! liquids act on each other.
//!
//! Forces come from an integral over the surface, not from the distance to it, which has
//! kinks where particles in concave corners "cook". Every triangle is integrated by the
//! seven-point rule: its boundary particles push and slow the liquid around them, their
//! reaction goes to the corners, and they are forgotten. The engine's own way is the
//! pressure solve (`step.rs`).

use glam::{Vec3, Vec3A};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bodies::{Bodies, Grasp};
use crate::fluid::Fluid;
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::space::CellGrid;
use crate::world::World;

/// How bodies and liquids act on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coupling {
    /// Surfaces are walls of the liquid's pressure solve.
    #[default]
    Pressure,
    /// Boundary particles on the surfaces (Müller et al. 2004).
    Gauss(Gauss),
}

/// Gauss boundary particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gauss {
    /// Interaction radius h over the spacing of the liquid; at most its support radius.
    pub reach: f32,
    /// Preferred distance r0 over the spacing: nearer is repelled, farther attracted.
    pub distance: f32,
    /// k of the traction (15), its value on the surface, in Pa; a tenth of ρ c² if left out.
    pub strength: Option<f32>,
    /// Triangles are divided until the gaps between boundary particles are below this
    /// share of the interaction radius.
    pub threshold: f32,
    /// Friction by which the liquid does not slip, over that of its own viscosity.
    pub friction: f32,
    /// How much of a force goes to the corners and to the liquid.
    pub reaction: Reaction,
}

impl Default for Gauss {
    fn default() -> Self {
        Gauss {
            reach: 2.0,
            distance: 1.0,
            strength: None,
            threshold: 0.5,
            friction: 1.0,
            reaction: Reaction::Exact,
        }
    }
}

impl Gauss {
    /// The first number that cannot be: its name and what would be right.
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        let positive = |v: f32| v > 0.0 && v.is_finite();
        if !positive(self.reach) {
            Some(("reach", "above 0"))
        } else if !(positive(self.distance) && self.distance < self.reach) {
            Some(("distance", "above 0 and below `reach`"))
        } else if !self.strength.is_none_or(positive) {
            Some(("strength", "above 0"))
        } else if !(self.threshold >= 0.02 && self.threshold.is_finite()) {
            Some(("threshold", "0.02 or more"))
        } else if !(self.friction >= 0.0 && self.friction.is_finite()) {
            Some(("friction", "0 or more"))
        } else {
            None
        }
    }
}

/// What the corners of a triangle get for the force of one boundary particle whose weights
/// are w. Both keep momentum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// `w_k f`, and the liquid f.
    #[default]
    Exact,
    /// Both `2 / (1 + Σ w²)` times as much (20, 21, after Bridson et al. 2002).
    Bridson,
}

impl Reaction {
    fn factor(self, weights: [f32; 3]) -> f32 {
        match self {
            Reaction::Exact => 1.0,
            Reaction::Bridson => 2.0 / (1.0 + weights.iter().map(|w| w * w).sum::<f32>()),
        }
    }
}

/// The seven-point rule (12, 13): weights of the corners, and of the point.
const RULE: [([f32; 3], f32); 7] = {
    const THIRD: f32 = 1.0 / 3.0;
    const A: f32 = 0.059_715_87;
    const B: f32 = 0.470_142_06;
    const C: f32 = 0.797_427;
    const D: f32 = 0.101_286_51;
    // (155 ± √15) / 1200
    const NEAR_EDGES: f32 = 0.132_394_15;
    const NEAR_CORNERS: f32 = 0.125_939_18;
    [
        ([THIRD; 3], 9.0 / 40.0),
        ([A, B, B], NEAR_EDGES),
        ([B, A, B], NEAR_EDGES),
        ([B, B, A], NEAR_EDGES),
        ([C, D, D], NEAR_CORNERS),
        ([D, C, D], NEAR_CORNERS),
        ([D, D, C], NEAR_CORNERS),
    ]
};

/// Largest gap between the points of the rule, over the longest edge.
const GAP: f32 = 0.41;
/// Most parts along an edge.
const MOST_PARTS: f32 = 64.0;
/// Triangles per task.
const TASK: usize = 64;

/// Calls `visit` with the weights of the corners and the share of the area of every
/// boundary particle of a triangle that is divided into `parts` along each edge. Offsets
/// are the same in all parts; every other one is upside down.
fn for_each_particle(parts: u32, mut visit: impl FnMut([f32; 3], f32)) {
    let size = 1.0 / parts as f32;
    let mut place = |u: f32, v: f32, weight: f32| {
        visit(
            [1.0 - size * (u + v), size * u, size * v],
            size * size * weight,
        );
    };
    for i in 0..parts {
        for j in 0..parts - i {
            let (u, v) = (i as f32, j as f32);
            for (at, weight) in RULE {
                place(u + at[1], v + at[2], weight);
            }
            if i + j + 1 < parts {
                for (at, weight) in RULE {
                    place(u + 1.0 - at[1], v + 1.0 - at[2], weight);
                }
            }
        }
    }
}

/// The forces between one boundary particle and one particle of a liquid.
#[derive(Clone, Copy, Debug)]
struct Law {
    /// h and r0 in metres.
    reach: f32,
    distance: f32,
    /// `k / (h² r0 (2h - r0))`.
    scale: f32,
    /// Force per area, speed and what is left of the reach, in Pa s/m².
    drag: f32,
    threshold: f32,
    reaction: Reaction,
}

impl Law {
    fn new(settings: &Gauss, fluid: &Fluid, dt: f32) -> Law {
        let liquid = fluid.settings();
        let spacing = liquid.spacing;
        let reach = (settings.reach * spacing).min(fluid.support_radius());
        let distance = (settings.distance * spacing).min(0.99 * reach);
        let density = liquid.material.density;
        let usual = 0.1 * density * fluid.sound_speed().powi(2);
        let strength = settings.strength.unwrap_or(usual);
        // (19) with the boundary as a layer of the preferred distance: ∇²W = 45/(πh⁶) (h - r).
        // A plane of it slows a particle at the rate 15 ν r0 / h³ at most; what is left of a
        // speed after a step must not change its sign.
        let viscosity = settings.friction * fluid.effective_viscosity();
        let rate = 15.0 * viscosity / density * distance / reach.powi(3);
        let slope = 45.0 / (std::f32::consts::PI * reach.powi(6));
        let layer = fluid.particle_volume() * distance;
        Law {
            reach,
            distance,
            scale: strength / (reach * reach * distance * (2.0 * reach - distance)),
            drag: viscosity / (1.0 + dt * rate) * layer * slope,
            threshold: settings.threshold,
            reaction: settings.reaction,
        }
    }

    /// (15): above 0 pushes away, in Pa.
    fn traction(&self, r: f32) -> f32 {
        let left = (self.reach - r).max(0.0);
        let squared = left * left;
        let rest = self.reach - self.distance;
        self.scale * squared * (squared - rest * rest)
    }

    /// Force on the particle per area of the surface, in Pa: (15) along the way from the
    /// boundary to it, and (19) along `sliding`, the velocity of the boundary less its own.
    fn force(&self, way: Vec3A, sliding: Vec3A) -> Vec3A {
        let r = way.length();
        if r >= self.reach {
            return Vec3A::ZERO;
        }
        let push = self.traction(r) * way.normalize_or_zero();
        push + (self.drag * (self.reach - r)) * sliding
    }

    /// Into how many parts an edge of this length is divided.
    fn parts(&self, longest: f32) -> u32 {
        let parts = (GAP * longest / (self.threshold * self.reach)).ceil();
        parts.clamp(1.0, MOST_PARTS) as u32
    }
}

/// A triangle of a body.
struct Triangle {
    place: [Vec3A; 3],
    velocity: [Vec3A; 3],
}

/// The liquid as a triangle sees it.
struct Near<'a> {
    law: Law,
    grid: &'a CellGrid,
    fluid: &'a Fluid,
}

/// What a task finds.
#[derive(Default)]
struct Forces {
    /// Particles and what they get, in N.
    on_liquid: Vec<(u32, Vec3A)>,
    /// Triangles and what their corners get, in N.
    on_body: Vec<(u32, [Vec3A; 3])>,
}

impl Near<'_> {
    /// The particles within reach of the box around the triangle, in order.
    fn candidates(&self, triangle: &Triangle, found: &mut Vec<u32>) {
        found.clear();
        let own = Aabb::of(triangle.place.iter().map(|p| Vec3::from(*p)));
        let near = own.grown(self.law.reach);
        // Rows hold a cell and its neighbours: every third cell of the box will do.
        let stride = 2.9 * self.fluid.support_radius();
        let steps = own.size().to_array().map(|s| (s / stride).ceil() as u32);
        let positions = self.fluid.positions();
        for step in 0..(steps[0] + 1) * (steps[1] + 1) * (steps[2] + 1) {
            let (i, rest) = (step % (steps[0] + 1), step / (steps[0] + 1));
            let (j, k) = (rest % (steps[1] + 1), rest / (steps[1] + 1));
            let way = stride * Vec3::new(i as f32, j as f32, k as f32);
            let center = (own.min + way).min(own.max);
            for &(start, end) in self.grid.rows_around(center).as_slice() {
                found.extend((start..end).filter(|&p| near.contains(positions.get(p as usize))));
            }
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Adds the forces between the triangle and the liquid around it.
    fn act(&self, number: u32, triangle: &Triangle, found: &mut Vec<u32>, out: &mut Forces) {
        self.candidates(triangle, found);
        if found.is_empty() {
            return;
        }
        let [a, b, c] = triangle.place;
        let area = 0.5 * (b - a).cross(c - a).length();
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        let first = out.on_liquid.len();
        out.on_liquid
            .extend(found.iter().map(|&p| (p, Vec3A::ZERO)));
        let mut corners = [Vec3A::ZERO; 3];
        let (position, velocity) = (self.fluid.positions(), self.fluid.velocities());
        for_each_particle(self.law.parts(longest), |weights, share| {
            let mean =
                |of: &[Vec3A; 3]| weights[0] * of[0] + weights[1] * of[1] + weights[2] * of[2];
            let (place, speed) = (mean(&triangle.place), mean(&triangle.velocity));
            let whole = area * share * self.law.reaction.factor(weights);
            for (p, force) in &mut out.on_liquid[first..] {
                let i = *p as usize;
                let way = Vec3A::from(position.get(i)) - place;
                let given = whole * self.law.force(way, speed - Vec3A::from(velocity.get(i)));
                *force += given;
                for (corner, weight) in corners.iter_mut().zip(weights) {
                    *corner -= weight * given;
                }
            }
        });
        out.on_body.push((number, corners));
    }
}

impl World {
    /// True if surfaces of bodies are no walls to liquids but boundary particles.
    pub(crate) fn acts_by_boundary(&self) -> bool {
        matches!(self.coupling, Coupling::Gauss(_))
    }

    /// Lets surfaces and liquids act on each other by boundary particles for `time`
    /// seconds: liquids are accelerated, bodies get their impulses. Needs
    /// [`Fluid::compute_forces`].
    pub(crate) fn act_by_boundary(&mut self, time: f32, bodies: &mut Bodies) {
        let Coupling::Gauss(settings) = self.coupling else {
            return;
        };
        let skins: Vec<_> = self.skins.iter().collect();
        for (_, fluid) in self.fluids.iter_mut().filter(|(_, f)| !f.is_empty()) {
            for &(wall, skin) in &skins {
                let (Some(mesh), Some(body)) = (skin.triangles_now(), bodies.of(wall as u32))
                else {
                    continue;
                };
                let near = Near {
                    law: Law::new(&settings, fluid, time),
                    grid: fluid.grid(),
                    fluid: &*fluid,
                };
                let forces = forces(&near, &mesh, body, bodies);
                for part in &forces {
                    for (triangle, corners) in &part.on_body {
                        for (k, &force) in corners.iter().enumerate() {
                            let at = corner(&mesh, body, *triangle, k, bodies);
                            bodies.push(&at, time * force);
                            self.obstacle_impulse[wall] += Vec3::from(time * force).as_dvec3();
                        }
                    }
                }
                for part in forces {
                    fluid.accelerate(&part.on_liquid);
                }
            }
        }
        bodies.respond();
    }
}

/// A corner of a triangle.
fn corner(mesh: &TriMesh, body: u32, triangle: u32, k: usize, bodies: &Bodies) -> Grasp {
    let mut weights = [0.0; 3];
    weights[k] = 1.0;
    let vertex = mesh.triangles[triangle as usize][k];
    let place = mesh.vertices[vertex as usize].into();
    bodies.grasp(body, triangle, weights, place)
}

/// Finds the forces of all triangles of a body, part by part in their order.
fn forces(near: &Near<'_>, mesh: &TriMesh, body: u32, bodies: &Bodies) -> Vec<Forces> {
    mesh.triangles
        .par_chunks(TASK)
        .enumerate()
        .map_init(Vec::new, |found, (task, triangles)| {
            let mut out = Forces::default();
            for (k, corners) in triangles.iter().enumerate() {
                let number = (task * TASK + k) as u32;
                let at = |k: usize| corner(mesh, body, number, k, bodies);
                let triangle = Triangle {
                    place: corners.map(|v| mesh.vertices[v as usize].into()),
                    velocity: [0, 1, 2].map(|k| bodies.velocity(&at(k))),
                };
                near.act(number, &triangle, found, &mut out);
            }
            out
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(reach: f32, distance: f32) -> Law {
        let strength = 100.0;
        Law {
            reach,
            distance,
            scale: strength / (reach * reach * distance * (2.0 * reach - distance)),
            drag: 0.0,
            threshold: 0.5,
            reaction: Reaction::Exact,
        }
    }

    /// (12), (13): exact for polynomials of the fifth degree, whatever the division.
    #[test]
    fn the_rule_integrates_polynomials() {
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        for parts in [1, 2, 5] {
            for (a, b) in [(0, 0), (1, 0), (2, 1), (0, 4), (3, 2), (5, 0)] {
                let mut sum = 0.0;
                for_each_particle(parts, |w, share| {
                    let term = w[1].powi(a as i32) * w[2].powi(b as i32) * share;
                    sum += f64::from(term);
                });
                // Mean of u^a v^b over the triangle.
                let exact = 2.0 * factorial(a) * factorial(b) / factorial(a + b + 2);
                assert!((sum - exact).abs() < 2e-6, "{parts} {a} {b}: {sum} {exact}");
            }
        }
    }

    /// Triangles are divided until the gaps are as small as asked for.
    #[test]
    fn large_triangles_are_divided() {
        let law = law(0.02, 0.01);
        let corners = [Vec3A::ZERO, Vec3A::X, Vec3A::new(0.5, 0.866, 0.0)];
        for size in [0.005f32, 0.03, 0.1] {
            let mut places = Vec::new();
            for_each_particle(law.parts(size), |w, _| {
                let at = w[0] * corners[0] + w[1] * corners[1] + w[2] * corners[2];
                places.push(size * at);
            });
            for (i, p) in places.iter().enumerate() {
                let others = places.iter().enumerate().filter(|(j, _)| *j != i);
                let nearest = others
                    .map(|(_, q)| q.distance(*p))
                    .fold(f32::INFINITY, f32::min);
                assert!(nearest <= 0.5 * law.reach, "{size}: {nearest}");
            }
        }
        assert_eq!((law.parts(0.005), law.parts(0.1)), (1, 5));
    }

    /// (15): k on the surface, nothing at the preferred distance, value and slope vanish at
    /// the end of the reach; repels below and attracts above.
    #[test]
    fn the_traction_repels_and_attracts() {
        let law = law(0.02, 0.008);
        assert!((law.traction(0.0) - 100.0).abs() < 1e-3);
        assert!(law.traction(0.008).abs() < 1e-4);
        assert_eq!(law.traction(0.02), 0.0);
        assert!((law.traction(0.02) - law.traction(0.0199)).abs() / 1e-4 < 50.0);
        assert!(law.traction(0.004) > 0.0 && law.traction(0.014) < 0.0);
    }

    /// Over a large plane the sum is the integral `2π d ∫ τ dr`, wherever the particle is.
    #[test]
    fn a_plane_pushes_evenly() {
        let law = law(0.02, 0.01);
        let edge = 0.01f32;
        for (d, x, y) in [
            (0.006f32, 0.0f32, 0.0f32),
            (0.006, 0.0031, 0.0047),
            (0.012, 0.002, 0.004),
        ] {
            let p = Vec3A::new(x, y, d);
            let mut sum = Vec3A::ZERO;
            for i in -6..6 {
                for j in -6..6 {
                    let at = |i: i32, j: i32| edge * Vec3A::new(i as f32, j as f32, 0.0);
                    for corners in [
                        [at(i, j), at(i + 1, j), at(i + 1, j + 1)],
                        [at(i, j), at(i + 1, j + 1), at(i, j + 1)],
                    ] {
                        let parts = law.parts(edge * 2.0f32.sqrt());
                        for_each_particle(parts, |w, share| {
                            let at = w[0] * corners[0] + w[1] * corners[1] + w[2] * corners[2];
                            let area = 0.5 * edge * edge * share;
                            sum += area * law.force(p - at, Vec3A::ZERO);
                        });
                    }
                }
            }
            // ∫ (u⁴ - a² u²) du with u = h - r.
            let (u, a) = (law.reach - d, law.reach - law.distance);
            let integral = law.scale * (u.powi(5) / 5.0 - a * a * u.powi(3) / 3.0);
            let wanted = std::f32::consts::TAU * d * integral;
            assert!(
                (sum.z - wanted).abs() < 0.03 * wanted.abs(),
                "{d}: {sum} {wanted}"
            );
            assert!(sum.x.hypot(sum.y) < 0.03 * wanted.abs(), "{d}: {sum}");
        }
    }

    /// (20), (21): 1 at a corner, 4/3 in the middle of an edge, 3/2 in the middle.
    #[test]
    fn bridson_amplifies() {
        let third = 1.0 / 3.0;
        for (weights, factor) in [
            ([1.0, 0.0, 0.0], 1.0),
            ([0.5, 0.5, 0.0], 4.0 / 3.0),
            ([third; 3], 1.5),
        ] {
            assert!((Reaction::Bridson.factor(weights) - factor).abs() < 1e-6);
            assert_eq!(Reaction::Exact.factor(weights), 1.0);
        }
    }
}
