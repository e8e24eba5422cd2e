//! Walls that give way: the pressure of a liquid on the bodies around it, inside the
//! pressure solve.
//!
//! The pressure between a particle and its image in a wall pushes the wall with `-dt V
//! lift (p_i + p_j)` along its normal, and a wall that moves along its normal with s
//! fills the kernels of both at the rate `-lift s` each (`images.rs`; the two are
//! transposes of each other, so the liquid and the bodies together lose no momentum
//! and gain no energy). Every iteration gives the push of its change of pressure to
//! the bodies and reads back how fast the walls then move: the equations solved are
//! those of liquid and bodies at once.

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::images::{ChunkImages, Images, WITH};
use super::walls::{Mirror, Walls};
use crate::coupling::{Bodies, Grasp};
use crate::crew::Spread;

/// Two walls face each other if the cosine between their normals is below this.
const FACING: f32 = -0.5;

/// A wall of a particle that is part of a body.
#[derive(Clone, Copy, Debug)]
struct Hold {
    particle: u32,
    /// Number among the mirrors of the chunk.
    mirror: u32,
    normal: Vec3A,
    grasp: Grasp,
}

/// One wall of one image.
#[derive(Clone, Copy, Debug)]
struct Share {
    neighbour: u32,
    /// The wall as the particle sees it and as the neighbour does, among the mirrors
    /// of their chunks.
    own: u32,
    other: u32,
    /// Gradient of the image's kernel along the normals of both, in 1/m.
    own_lift: f32,
    other_lift: f32,
}

/// What one chunk of particles has to do with bodies.
#[derive(Clone, Debug, Default)]
struct Chunk {
    holds: Vec<Hold>,
    /// Particles with images in bodies, the end of their shares, and how fast all
    /// other walls close in on them.
    particles: Vec<(u32, u32, f32)>,
    shares: Vec<Share>,
    /// Particles between walls that are nearer to each other than two particles.
    squeezed: Vec<u32>,
    /// For every mirror of the chunk, speed of the wall along the normal in m/s and
    /// `lift (p_i + p_j)`.
    speed: Vec<f32>,
    push: Vec<f32>,
}

/// The part of the pressure equations that bodies have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Yielding {
    chunks: Vec<Chunk>,
    any: bool,
}

impl Yielding {
    /// Finds all places where the liquid can push a body, and how fast those walls
    /// close in on the kernels that cannot be pushed.
    pub fn find(
        &mut self,
        x: &[Vec3A],
        spacing: f32,
        images: &Images,
        walls: &Walls,
        bodies: &Bodies,
    ) {
        self.any = false;
        if bodies.list.is_empty() {
            self.chunks.clear();
            return;
        }
        self.chunks.resize_with(images.chunks.len(), Chunk::default);
        self.chunks.par_iter_mut().enumerate().spread(|(c, chunk)| {
            chunk.find(c, (x, spacing), &images.chunks[c], walls, bodies);
        });
        self.any = self.chunks.iter().any(|c| !c.holds.is_empty());
    }

    /// The particles between a body and another wall that have less room than they take up.
    pub fn squeezed(&self) -> impl Iterator<Item = usize> + '_ {
        let squeezed = self.chunks.iter().flat_map(|c| &c.squeezed);
        squeezed.map(|&i| i as usize)
    }

    /// The pressures change by `change`: bodies take up the push, and the walls' motion is
    /// read back.
    pub fn answer(
        &mut self,
        change: &[f32],
        (dt, volume): (f32, f32),
        inverse_density: &[f32],
        bodies: &mut Bodies,
    ) {
        if !self.any {
            return;
        }
        self.push(change, (dt, volume), inverse_density, bodies);
        self.feel(bodies);
    }

    /// Gives bodies the push of `pressure`.
    pub fn push(
        &mut self,
        pressure: &[f32],
        scale: (f32, f32),
        inverse_density: &[f32],
        bodies: &mut Bodies,
    ) {
        self.find_pushes(pressure);
        self.give_pushes(scale, inverse_density, bodies);
    }

    /// True if any particle can push a body.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Finds how `pressure` pushes walls.
    pub fn find_pushes(&mut self, pressure: &[f32]) {
        self.chunks.par_iter_mut().spread(|chunk| {
            chunk.push.fill(0.0);
            let mut first = 0;
            for &(i, end, _) in &chunk.particles {
                for share in &chunk.shares[first..end as usize] {
                    let both = pressure[i as usize] + pressure[share.neighbour as usize];
                    chunk.push[share.own as usize] += share.own_lift * both;
                }
                first = end as usize;
            }
        });
    }

    /// Gives bodies the pushes that were found.
    pub fn give_pushes(
        &self,
        (dt, volume): (f32, f32),
        inverse_density: &[f32],
        bodies: &mut Bodies,
    ) {
        // In order, so that sums are the same for any number of threads.
        for chunk in &self.chunks {
            for hold in &chunk.holds {
                // Liquid that moves as it is told has no reaction to give.
                if inverse_density[hold.particle as usize] > 0.0 {
                    let impulse = dt * volume * chunk.push[hold.mirror as usize];
                    bodies.push(&hold.grasp, impulse * hold.normal);
                }
            }
        }
        bodies.respond();
    }

    /// Takes into the diagonal of the pressure equations how the walls of each particle give
    /// way to its own pressure: a splinter that weighs less than a particle gives way first.
    /// Writes what there was to `before`.
    pub fn weigh(
        &self,
        volume: f32,
        bodies: &Bodies,
        inverse_diagonal: &mut [f32],
        before: &mut Vec<f32>,
    ) {
        before.clear();
        if !self.any {
            return;
        }
        before.extend_from_slice(inverse_diagonal);
        (inverse_diagonal.par_chunks_mut(CHUNK), &self.chunks)
            .into_par_iter()
            .enumerate()
            .spread(|(c, (diagonal, chunk))| {
                let mut holds = chunk.holds.iter().peekable();
                let mut first = 0;
                for &(i, end, _) in &chunk.particles {
                    let shares = &chunk.shares[first..end as usize];
                    first = end as usize;
                    let own = &mut diagonal[i as usize - c * CHUNK];
                    let mut weight = 1.0 / *own;
                    while let Some(hold) = holds.next_if(|h| h.particle == i) {
                        let shares = shares.iter().filter(|s| s.own == hold.mirror);
                        let lift = shares.map(|s| s.own_lift + s.other_lift).sum::<f32>();
                        let softness = bodies.softness(&hold.grasp, hold.normal);
                        weight += volume * softness * lift * lift;
                    }
                    if *own > 0.0 {
                        *own = 1.0 / weight;
                    }
                }
            });
    }

    /// Reads how fast the walls of all particles near bodies move.
    pub fn feel(&mut self, bodies: &Bodies) {
        self.chunks.par_iter_mut().spread(|chunk| {
            for hold in &chunk.holds {
                chunk.speed[hold.mirror as usize] = hold.normal.dot(bodies.velocity(&hold.grasp));
            }
        });
    }

    /// Writes how fast walls fill the kernels of those particles of chunk `c` that are near
    /// bodies.
    pub fn close(&self, c: usize, closing: &mut [f32]) {
        let Some(chunk) = self.chunks.get(c) else {
            return;
        };
        let mut first = 0;
        for &(i, end, others) in &chunk.particles {
            let mut sum = others;
            for share in &chunk.shares[first..end as usize] {
                let there = &self.chunks[share.neighbour as usize / CHUNK];
                sum -= share.own_lift * chunk.speed[share.own as usize]
                    + share.other_lift * there.speed[share.other as usize];
            }
            closing[i as usize - c * CHUNK] = sum;
            first = end as usize;
        }
    }

    /// Gives bodies what their walls do to the particles by other ways than pressure:
    /// `impulse` on a particle by one of its walls, in N s.
    pub fn pass_on(
        &self,
        walls: &Walls,
        bodies: &mut Bodies,
        impulse: impl Fn(usize, &Mirror) -> Vec3A,
    ) {
        for (chunk, walls) in self.chunks.iter().zip(&walls.chunks) {
            for hold in &chunk.holds {
                let mirror = walls.mirror(hold.mirror as usize);
                let given = impulse(hold.particle as usize, mirror);
                if given != Vec3A::ZERO {
                    bodies.push(&hold.grasp, -given);
                }
            }
        }
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let chunks = self.chunks.iter();
        chunks
            .map(|c| {
                size_of_val(&c.holds[..]) + size_of_val(&c.shares[..]) + 8 * c.speed.capacity()
            })
            .sum()
    }
}

impl Chunk {
    fn find(
        &mut self,
        c: usize,
        (x, spacing): (&[Vec3A], f32),
        images: &ChunkImages,
        walls: &Walls,
        bodies: &Bodies,
    ) {
        self.holds.clear();
        self.particles.clear();
        self.shares.clear();
        self.squeezed.clear();
        let own = &walls.chunks[c];
        for k in 0..own.len() {
            let i = c * CHUNK + k;
            let before = self.holds.len();
            for (l, mirror) in own.of(k).iter().enumerate() {
                let Some(body) = bodies.of(mirror.obstacle) else {
                    continue;
                };
                let wall = &mirror.wall;
                let normal = Vec3A::from(wall.normal);
                let place = x[i] - wall.distance * normal;
                self.holds.push(Hold {
                    particle: i as u32,
                    mirror: (own.first(k) + l) as u32,
                    normal,
                    grasp: bodies.grasp(body, wall.triangle, wall.barycentric, place),
                });
            }
            if self.holds.len() == before {
                continue;
            }
            if is_squeezed(own.of(k), spacing) {
                self.squeezed.push(i as u32);
            }
            let mut others = WITH * own.backing(k).closing;
            let seen = images.of(k);
            for ((&j, &slope), matched) in seen.neighbour.iter().zip(seen.slope).zip(seen.matched) {
                let there = &walls.chunks[j as usize / CHUNK];
                for (mine, theirs) in matched.iter() {
                    let a = &own.of(k)[mine];
                    let b = &there.of(j as usize % CHUNK)[theirs];
                    let own_lift = 2.0 * slope * b.wall.distance;
                    let other_lift = 2.0 * slope * a.wall.distance;
                    if bodies.of(a.obstacle).is_some() {
                        self.shares.push(Share {
                            neighbour: j,
                            own: (own.first(k) + mine) as u32,
                            other: (there.first(j as usize % CHUNK) + theirs) as u32,
                            own_lift,
                            other_lift,
                        });
                    } else {
                        others -= own_lift * a.wall.normal.dot(a.wall.velocity)
                            + other_lift * b.wall.normal.dot(b.wall.velocity);
                    }
                }
            }
            self.particles
                .push((i as u32, self.shares.len() as u32, others));
        }
        let mirrors = own.mirrors();
        self.speed.clear();
        self.speed.resize(mirrors, 0.0);
        self.push.clear();
        self.push.resize(mirrors, 0.0);
    }
}

/// True if two walls that face each other leave less than one spacing between them.
fn is_squeezed(mirrors: &[Mirror], spacing: f32) -> bool {
    let mut walls = mirrors.iter().map(|m| &m.wall).enumerate();
    walls.any(|(k, a)| {
        let facing = |b: &Mirror| {
            a.normal.dot(b.wall.normal) < FACING && a.distance + b.wall.distance < spacing
        };
        mirrors[..k].iter().any(facing)
    })
}
