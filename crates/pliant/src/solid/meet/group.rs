//! The bodies that are solved together.

use glam::Vec3A;

use super::super::block_matrix::BlockMatrix;
use super::super::conjugate_gradient::{Budget, Freedom, Outcome, System};
use super::super::state::{Body, Solid};
use super::joint::Link;
use super::touch::Touch;

/// The bodies that are solved together, one after the other in one numbering.
pub(super) struct Group {
    /// First point of every body, also of those that are not part of it.
    first: Vec<usize>,
    /// Positions of the bodies in the list of all.
    pub bodies: Vec<usize>,
    /// First point of every part, and the part of every point.
    pub start: Vec<usize>,
    pub part: Vec<u32>,
    /// For explicit bodies: no stiffness, and how their points may move.
    loose: Vec<(BlockMatrix, Vec<Freedom>)>,
}

impl Group {
    pub fn new(solids: &[(usize, &mut Solid)], joined: &[bool]) -> Group {
        let mut group = Group {
            first: vec![0; solids.len()],
            bodies: Vec::new(),
            start: Vec::new(),
            part: Vec::new(),
            loose: Vec::new(),
        };
        for (k, (_, solid)) in solids.iter().enumerate().filter(|(k, _)| joined[*k]) {
            group.first[k] = group.part.len();
            group.start.push(group.part.len());
            group
                .part
                .extend(std::iter::repeat_n(group.bodies.len() as u32, solid.len()));
            group.bodies.push(k);
            group.loose.push(match &solid.body {
                Body::Elastic(_) => (BlockMatrix::empty(0), Vec::new()),
                Body::Springs(_) | Body::Matched(_) => {
                    let freedom = solid.inverse_mass.iter().map(|&w| Freedom::of(w));
                    (BlockMatrix::empty(solid.len()), freedom.collect())
                }
            });
        }
        group
    }

    pub fn link(&self, touch: &Touch, h: f32) -> Link {
        let first = &self.first;
        let points = touch.met.pair.map(|b, i| first[b as usize] as u32 + i);
        touch.link(points, h)
    }

    /// The part of a list over all points that belongs to a body.
    pub fn part_of<'a>(&self, list: &'a [Vec3A], body: usize, points: usize) -> &'a [Vec3A] {
        &list[self.first[body]..self.first[body] + points]
    }

    /// First guesses and right-hand sides of all bodies.
    pub fn gather(&self, solids: &[(usize, &mut Solid)]) -> (Vec<Vec3A>, Vec<Vec3A>) {
        let (mut change, mut right) = (Vec::new(), Vec::new());
        for &k in &self.bodies {
            match &solids[k].1.body {
                Body::Elastic(body) => {
                    change.extend_from_slice(&body.change);
                    right.extend_from_slice(&body.right);
                }
                Body::Springs(_) | Body::Matched(_) => {
                    change.resize(change.len() + solids[k].1.len(), Vec3A::ZERO);
                    right.resize(change.len(), Vec3A::ZERO);
                }
            }
        }
        (change, right)
    }

    pub fn velocities(&self, solids: &[(usize, &mut Solid)]) -> Vec<Vec3A> {
        let all = self.bodies.iter().flat_map(|&k| &solids[k].1.velocity);
        all.copied().collect()
    }

    pub fn systems<'a>(&'a self, solids: &'a [(usize, &mut Solid)], h: f32) -> Vec<System<'a>> {
        let parts = self.bodies.iter().zip(&self.loose);
        parts
            .map(|(&k, (stiffness, freedom))| match &solids[k].1.body {
                Body::Elastic(body) => body.system(h),
                Body::Springs(_) | Body::Matched(_) => System {
                    stiffness,
                    diagonal: &solids[k].1.mass,
                    scale: 0.0,
                    freedom,
                },
            })
            .collect()
    }

    /// The most iterations and the smallest tolerance of any body.
    pub fn budget(&self, solids: &[(usize, &mut Solid)]) -> Budget {
        let (mut iterations, mut tolerance, mut mass) = (60, 1e-4, 0.0);
        for &k in &self.bodies {
            mass += solids[k].1.mass_report.effective_mass;
            if let Body::Elastic(body) = &solids[k].1.body {
                iterations = iterations.max(body.settings.iterations);
                tolerance = f64::min(tolerance, body.settings.tolerance.into());
            }
        }
        Budget::of_step(iterations, tolerance, mass)
    }

    /// Gives every body what was found.
    pub fn scatter(
        &self,
        solids: &mut [(usize, &mut Solid)],
        change: &[Vec3A],
        right: &[Vec3A],
        outcome: Outcome,
        h: f32,
    ) {
        for &k in &self.bodies {
            let solid = &mut *solids[k].1;
            let range = self.first[k]..self.first[k] + solid.displacement.len();
            let (change, right) = (&change[range.clone()], &right[range]);
            match &mut solid.body {
                Body::Elastic(body) => {
                    body.change.copy_from_slice(change);
                    body.right.copy_from_slice(right);
                    body.outcome = outcome;
                }
                explicit @ (Body::Springs(_) | Body::Matched(_)) => {
                    for (i, &change) in change.iter().enumerate() {
                        if change != Vec3A::ZERO {
                            solid.velocity[i] += change;
                            solid.displacement[i] += h * change;
                            if let Body::Springs(body) = explicit {
                                body.moved(i, solid.displacement[i], solid.velocity[i], h);
                            }
                        }
                    }
                }
            }
        }
    }
}
