//! The drag of walls that liquid sticks to, for the implicit viscosity.
//!
//! Behind a wall the liquid goes on as its own image, moving the other way so that it
//! rests at the wall. Seen from a particle, the velocity of that image grows with the
//! distance as in a uniform shear, so its viscous sum depends on the distance of the
//! wall alone and is integrated once; it adds to the diagonal of the equations and
//! costs their iterations nothing.

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::corner::SAME_WALL;
use super::cubic::for_lattice;
use super::friction::Friction;
use super::incompressible::Incompressible;
use super::pairs::{ChunkPairs, apart};
use super::walls::{ChunkWalls, Mirror, Walls};
use crate::crew::Spread;
use crate::simd::vectors::{Three, dot, pick, scale, splat, sub};
use crate::simd::{Lanes, WIDTH, dispatch};

/// No wall is so curved that its grip is less than the first or more than the second of
/// these times that of a plane: at an edge curvature means nothing.
const BENT: [f32; 2] = [0.5, 2.0];

/// Samples between the wall and the support radius.
const SAMPLES: usize = 128;

/// Drag over kinematic viscosity and speed, in 1/m², at distances from 0 to h.
#[derive(Clone, Debug)]
pub(crate) struct Grip {
    /// Samples per metre.
    scale: f32,
    samples: Vec<f32>,
}

impl Grip {
    /// Sums the drag of the layers of the image. It is scaled so that a layer of a
    /// cubic lattice half a spacing from the wall, in uniform shear, is pulled by the
    /// wall as much as by the liquid on the other side.
    pub fn new(friction: &Friction, spacing: f32) -> Grip {
        let h = friction.support_radius;
        let mut liquid = 0.0;
        for_lattice(h / spacing, |x, y, z| {
            if z > 0 {
                let r_squared = spacing * spacing * (x * x + y * y + z * z) as f32;
                liquid += friction.weight(r_squared) * spacing.powi(3) * (z * x * x) as f32;
            }
        });
        let scale = liquid / shear(friction, 0.5 * spacing, spacing);
        let samples = (0..=SAMPLES).map(|k| {
            let d = k as f32 * h / SAMPLES as f32;
            scale * shear(friction, d, spacing) / d.max(0.25 * spacing)
        });
        Grip {
            scale: SAMPLES as f32 / h,
            samples: samples.collect(),
        }
    }

    /// The drag at distance `d` from the wall; none beyond the support radius.
    #[inline]
    pub fn at(&self, d: f32) -> f32 {
        let place = (d * self.scale).max(0.0);
        let k = place as usize;
        if k >= SAMPLES {
            return 0.0;
        }
        self.samples[k] + (place - k as f32) * (self.samples[k + 1] - self.samples[k])
    }
}

impl Incompressible {
    /// Lets curved walls grip by their area. Seen from a particle at distance d, the wall is
    /// larger than its layer of liquid where it is concave and smaller where it is convex, by
    /// `1 - d ∇·n` with the normals n that particles see: in a tube of radius R that is
    /// `R / (R - d)`.
    pub(super) fn bend_grips(&mut self, walls: &mut Walls) {
        if !walls.chunks.iter().any(ChunkWalls::sticks) {
            return;
        }
        let mut fronts = std::mem::take(&mut self.viscosity.fronts);
        fronts.find(walls, self.x.len());
        let around = Around {
            x: &self.x,
            walls,
            fronts: &fronts,
        };
        let grips: Vec<Vec<f32>> = self
            .pairs
            .chunks
            .par_iter()
            .enumerate()
            .spread_map(|(c, pairs)| around.grips(c, pairs));
        (&mut walls.chunks, grips)
            .into_par_iter()
            .spread(|(walls, grips)| walls.set_grips(&grips));
        self.viscosity.fronts = fronts;
    }
}

/// The nearest wall of every particle: most have one or none, and need to look no further.
#[derive(Clone, Debug, Default)]
pub(super) struct Fronts {
    normal: Vec<Vec3A>,
    /// Number of the obstacle; [`MORE`] is added if the particle has further walls.
    tag: Vec<u32>,
}

const MORE: u32 = 1 << 31;
const NONE: u32 = MORE - 1;

impl Fronts {
    fn find(&mut self, walls: &Walls, n: usize) {
        self.normal.resize(n, Vec3A::ZERO);
        self.tag.resize(n, NONE);
        (
            self.normal.par_chunks_mut(CHUNK),
            self.tag.par_chunks_mut(CHUNK),
            &walls.chunks,
        )
            .into_par_iter()
            .spread(|(normals, tags, walls)| {
                for (k, (normal, tag)) in normals.iter_mut().zip(tags).enumerate() {
                    let walls = walls.of(k);
                    (*normal, *tag) = walls.first().map_or((Vec3A::ZERO, NONE), |first| {
                        let more = if walls.len() > 1 { MORE } else { 0 };
                        (first.wall.normal.into(), first.obstacle | more)
                    });
                }
            });
    }

    pub fn bytes(&self) -> usize {
        16 * self.normal.capacity() + 4 * self.tag.capacity()
    }
}

/// All particles and the walls that they see.
#[derive(Clone, Copy)]
struct Around<'a> {
    x: &'a [Vec3A],
    walls: &'a Walls,
    fronts: &'a Fronts,
}

impl Around<'_> {
    /// The grips of all walls of chunk `c`, in their order.
    fn grips(self, c: usize, pairs: &ChunkPairs) -> Vec<f32> {
        #[inline(always)]
        fn run<L: Lanes>(
            l: L,
            around: Around<'_>,
            c: usize,
            pairs: &ChunkPairs,
            grips: &mut Vec<f32>,
        ) {
            let own = &around.walls.chunks[c];
            for k in 0..own.len() {
                for mirror in own.of(k) {
                    let bent = if mirror.no_slip {
                        around.bend(l, c * CHUNK + k, mirror, pairs)
                    } else {
                        1.0
                    };
                    grips.push(mirror.wall.drag * bent);
                }
            }
        }
        let walls = &self.walls.chunks[c];
        let (around, mut found) = (self, Vec::with_capacity(walls.mirrors()));
        if !walls.sticks() {
            found.extend((0..walls.mirrors()).map(|m| walls.mirror(m).wall.drag));
            return found;
        }
        let grips = &mut found;
        dispatch!(run(
            around: Around<'_>,
            c: usize,
            pairs: &ChunkPairs,
            grips: &mut Vec<f32>,
        ));
        found
    }

    /// The area of a wall over that of the layer in which particle `i` is.
    #[inline(always)]
    fn bend<L: Lanes>(&self, l: L, i: usize, mirror: &Mirror, pairs: &ChunkPairs) -> f32 {
        let normal = Vec3A::from(mirror.wall.normal);
        let (here, upwards) = (splat(l, self.x[i]), splat(l, normal));
        let zero = l.splat(0.0);
        let (mut turned, mut size) = (zero, zero);
        for (near, weight) in pairs.friction_blocks_of(i % CHUNK) {
            // SAFETY: neighbours are numbers of particles.
            let mut there = unsafe { l.gather_vectors(&self.fronts.normal, near) };
            let (mut of_it, mut more) = ([0.0; WIDTH], 0);
            for (k, tag) in pick(&self.fronts.tag, near).into_iter().enumerate() {
                of_it[k] = f32::from(u8::from(tag & !MORE == mirror.obstacle));
                more |= (tag >> 31) << k;
            }
            let of_it = l.less(zero, l.numbers(&of_it));
            let alike = l.less(l.splat(SAME_WALL), dot(l, upwards, there));
            let mut same = l.and(of_it, alike);
            let open = more & !l.bits(same);
            if open != 0 {
                (there, same) = self.look_on(l, mirror, near, open, (there, same));
            }
            let weight = l.keep(l.numbers(weight), same);
            let d = apart(l, here, self.x, near);
            let up = dot(l, d, upwards);
            let along = sub(l, d, scale(l, upwards, up));
            turned = l.add(turned, l.mul(weight, l.sub(up, dot(l, d, there))));
            size = l.add(size, l.mul(weight, dot(l, along, along)));
        }
        // The places lie on a surface: half of their squared distances are along each of its
        // two directions.
        let (turned, size) = (l.sum(turned), l.sum(size));
        let spread = if size > 0.0 { 2.0 * turned / size } else { 0.0 };
        (1.0 - mirror.wall.distance * spread).clamp(BENT[0], BENT[1])
    }

    /// Looks at the further walls of those of eight neighbours that `open` has, bit by bit.
    #[inline(always)]
    fn look_on<L: Lanes>(
        &self,
        l: L,
        mirror: &Mirror,
        near: &[u32; WIDTH],
        mut open: u32,
        (there, same): (Three<L::F>, L::M),
    ) -> (Three<L::F>, L::M) {
        let of_it = |m: &&Mirror| {
            let alike = mirror.wall.normal.dot(m.wall.normal);
            m.obstacle == mirror.obstacle && alike > SAME_WALL
        };
        let mut normals = l.to_vectors(there);
        let mut found = l.to_array(l.keep(l.splat(1.0), same));
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            open &= open - 1;
            let mut walls = self.walls.of(near[lane] as usize).iter();
            if let Some(wall) = walls.find(of_it) {
                (normals[lane], found[lane]) = (wall.wall.normal.into(), 1.0);
            }
        }
        (l.vectors(&normals), l.less(l.splat(0.0), l.numbers(&found)))
    }
}

/// Viscous sum over the image of a liquid in uniform shear, behind a wall at distance
/// `d`. Its particles lie in layers, the first half a spacing behind the wall.
fn shear(friction: &Friction, d: f32, spacing: f32) -> f32 {
    let h = friction.support_radius;
    let layers = (h / spacing).ceil() as usize;
    let depths = (0..layers).map(|k| d + (k as f32 + 0.5) * spacing);
    let layer = |z: f32| {
        let edge = (h * h - z * z).max(0.0).sqrt();
        // Half of the squared distance across lies along the shear.
        z * integrate(edge, |across| {
            0.5 * friction.weight(across * across + z * z) * across.powi(3)
        })
    };
    depths.map(layer).sum()
}

/// From 0, by the midpoint rule.
fn integrate(to: f32, f: impl Fn(f32) -> f32) -> f32 {
    const PARTS: usize = 48;
    let step = to / PARTS as f32;
    let sum: f32 = (0..PARTS).map(|k| f((k as f32 + 0.5) * step)).sum();
    step * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Obstacle;
    use crate::coupling::Bodies;
    use crate::field::Region;
    use crate::fluid::{Content, Fill, Fluid, FluidSettings, Material, NewParticle};
    use crate::mesh::IcoSphere;
    use crate::simd::Portable;
    use crate::space::Bvh;
    use glam::Vec3;
    use std::sync::Arc;

    /// In plain numbers.
    fn bend_of(around: &Around<'_>, i: usize, mirror: &Mirror, pairs: &ChunkPairs) -> f32 {
        let normal = Vec3A::from(mirror.wall.normal);
        let (near, weight) = pairs.friction_of(i % CHUNK);
        let (mut turned, mut size) = (0.0, 0.0);
        for (&j, w) in near.iter().zip(weight) {
            let mut walls = around.walls.of(j as usize).iter();
            let same = |m: &&Mirror| {
                let alike = normal.dot(m.wall.normal.into());
                m.obstacle == mirror.obstacle && alike > SAME_WALL
            };
            if let Some(there) = walls.find(same) {
                let d = around.x[i] - around.x[j as usize];
                let along = d - d.dot(normal) * normal;
                turned += w * d.dot(normal - Vec3A::from(there.wall.normal));
                size += w * along.length_squared();
            }
        }
        let spread = if size > 0.0 { 2.0 * turned / size } else { 0.0 };
        (1.0 - mirror.wall.distance * spread).clamp(BENT[0], BENT[1])
    }

    /// In a tube that ends at a plate, where many particles have two walls.
    #[test]
    fn eight_neighbours_bend_a_wall_as_single_ones_do() {
        let (spacing, radius) = (0.01, 0.05);
        let settings = FluidSettings::new(Material::HONEY, spacing);
        let mut fluid = Fluid::new(settings).unwrap();
        let tube = Region::Cylinder {
            from: Vec3::ZERO,
            to: 0.2 * Vec3::X,
            radius,
        };
        let places = Fill::Region(tube).points(spacing).unwrap();
        let particles: Vec<NewParticle> = places
            .into_iter()
            .map(|position| NewParticle {
                position,
                velocity: Vec3::ZERO,
            })
            .collect();
        fluid.add(&particles, Content::default(), |_| 0);
        let ball = IcoSphere {
            center: 0.1 * Vec3::X,
            radius: 0.06,
            cuts: 3,
        };
        let mesh = Arc::new(ball.build().unwrap());
        let tree = Arc::new(Bvh::build(mesh.clone()));
        let mut walls = [
            Obstacle::mesh("ball", mesh, tree, spacing).with_no_slip(true),
            Obstacle::plane("plate", Vec3::ZERO, Vec3::X).with_no_slip(true),
            Obstacle::plane("floor", -0.04 * Vec3::Y, Vec3::Y).with_no_slip(true),
        ];
        fluid.sort();
        walls
            .iter_mut()
            .for_each(|w| w.prepare_walls(fluid.wall_reach()));
        let obstacles: Vec<(usize, &Obstacle)> = walls.iter().enumerate().collect();
        fluid.find_walls(&obstacles);
        fluid.compute_density(|_| false, &Bodies::default());
        let (solver, walls) = (fluid.solver.as_ref().unwrap(), &fluid.walls);
        let mut fronts = Fronts::default();
        fronts.find(walls, solver.x.len());
        let around = Around {
            x: &solver.x,
            walls,
            fronts: &fronts,
        };
        let (mut bent, mut several) = (0, 0);
        for i in 0..solver.x.len() {
            let pairs = &solver.pairs.chunks[i / CHUNK];
            let all = walls.of(i);
            several += usize::from(all.len() > 1);
            for mirror in all {
                let right = bend_of(&around, i, mirror, pairs);
                let eight = around.bend(Portable, i, mirror, pairs);
                assert!((eight - right).abs() < 1e-3, "{eight} {right}");
                bent += usize::from((right - 1.0).abs() > 1e-3);
                #[cfg(target_arch = "x86_64")]
                {
                    if let Some(l) = crate::simd::Avx2::detect() {
                        assert_eq!(around.bend(l, i, mirror, pairs), eight);
                    }
                    if let Some(l) = crate::simd::Avx512::detect() {
                        assert_eq!(around.bend(l, i, mirror, pairs), eight);
                    }
                }
            }
        }
        assert!(bent > 100 && several > 100, "{bent} {several}");
    }

    #[test]
    fn grip_fades_with_the_distance() {
        let spacing = 0.01;
        let grip = Grip::new(&Friction::new(2.0 * spacing, spacing), spacing);
        let mut last = f32::INFINITY;
        for k in 3..20 {
            let at = grip.at(0.1 * k as f32 * spacing);
            // No particle is nearer to the wall than half a spacing, on either side.
            assert!(at < last || k > 15 && at == 0.0, "{k}: {at}");
            last = at;
        }
        assert_eq!(grip.at(2.0 * spacing), 0.0);
        // The stress at the wall, speed / d, slows a layer of thickness 2 d.
        let first = grip.at(0.5 * spacing) * spacing * spacing;
        assert!((first - 2.0).abs() < 0.2, "{first}");
    }
}
