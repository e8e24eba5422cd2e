//! What walls do to a liquid: they are mirrors. Behind a wall the liquid goes on as
//! its own image, so that density, pressure, viscosity and surface tension of a
//! particle near it are as deep inside the liquid, and nothing but the wall's push
//! along its normal is left.
//!
//! The image of particle j seen from particle i is as far as j seen from the image
//! of i, so the loops of `sph.rs` need no further particles: they sum once more
//! around the image of i and mirror the result back. Forces of a plane wall follow
//! from an energy, as those between particles do. Curved walls mirror viscosity only,
//! in their tangent plane; their contact bears the pressure.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::CHUNK;
use crate::contact::{Obstacle, Wall};
use crate::crew::Spread;
use crate::math::{Aabb, Xyz};

/// Walls that one particle may have; the nearest count.
pub(super) const MOST_WALLS: usize = 3;

/// Two walls have a common image if the cosine between their normals is below this.
const CORNER: f32 = 0.7;

/// Particles for which walls that are far are sorted out at once: as many as a cell has.
const TOGETHER: usize = 8;

/// What rounding may make of a distance, with room to spare.
const ROUNDING: f32 = 1.01;

/// How far particles look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// For walls, in metres.
    pub walls: f32,
    /// Support radius of the kernel if it wants to know what is beyond walls.
    pub kernel: Option<f32>,
}

/// A wall near one particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mirror {
    pub wall: Wall,
    /// The obstacle's index.
    pub obstacle: u32,
    /// Liquid sticks to it.
    pub no_slip: bool,
    /// How much of a grip it has, if liquid sticks to it: that of a plane is 1.
    pub grip: f32,
    /// What is beyond it is known as a volume: it has no images for the pressure of an
    /// incompressible liquid.
    pub backed: bool,
    /// Acceleration of the particle by this wall along its normal, in m/s², as of
    /// the last force pass.
    pub push: f32,
    /// Acceleration along the wall, by the viscosity of liquid that sticks to it or by
    /// what is beyond walls nearby.
    pub drag: Vec3,
}

impl Mirror {
    /// True if the wall has pushed or slowed the particle.
    #[inline]
    pub fn acts(&self) -> bool {
        self.push != 0.0 || self.drag != Vec3::ZERO
    }
}

/// What is beyond the walls of a container around one particle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backing {
    /// Its share of the particle's surroundings.
    pub share: f32,
    /// How fast the walls' motion fills them, in 1/s.
    pub closing: f32,
    /// Gradient of the share by the particle's place, in 1/m.
    pub slope: Vec3A,
}

/// The walls of one chunk of particles.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkWalls {
    /// Walls of particle k are `mirrors[start[k]..start[k + 1]]`.
    start: Vec<u32>,
    mirrors: Vec<Mirror>,
    /// Of each particle; empty if nothing is beyond the walls of any.
    backing: Vec<Backing>,
    /// Liquid sticks to one of them at least.
    sticks: bool,
}

impl ChunkWalls {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The walls of particle `k` of the chunk, nearest first.
    #[inline]
    pub fn of(&self, k: usize) -> &[Mirror] {
        &self.mirrors[self.start[k] as usize..self.start[k + 1] as usize]
    }

    /// What is beyond the walls of particle `k` as a volume.
    #[inline]
    pub fn backing(&self, k: usize) -> Backing {
        self.backing.get(k).copied().unwrap_or_default()
    }

    /// The same, to note their push.
    #[inline]
    pub fn of_mut(&mut self, k: usize) -> &mut [Mirror] {
        &mut self.mirrors[self.start[k] as usize..self.start[k + 1] as usize]
    }

    /// Notes with the nearest wall that has a volume beyond it what that does to particle
    /// `k`, in m/s². In a crease it pushes along other walls, too.
    #[inline]
    pub fn push_backed(&mut self, k: usize, acceleration: Vec3A) {
        if let Some(mirror) = self.of_mut(k).iter_mut().find(|m| m.backed) {
            let acceleration = Vec3::from(acceleration);
            let push = acceleration.dot(mirror.wall.normal);
            mirror.push += push;
            mirror.drag += acceleration - push * mirror.wall.normal;
        }
    }

    /// Number of the first wall of particle `k` among those of the chunk.
    #[inline]
    pub fn first(&self, k: usize) -> usize {
        self.start[k] as usize
    }

    /// Sets the grips of all walls, in their order.
    pub fn set_grips(&mut self, grips: &[f32]) {
        for (mirror, &grip) in self.mirrors.iter_mut().zip(grips) {
            mirror.grip = grip;
        }
    }

    /// True if liquid sticks to any of them.
    pub fn sticks(&self) -> bool {
        self.sticks
    }

    /// True if none of its particles is near a wall.
    pub fn is_open(&self) -> bool {
        self.mirrors.is_empty() && self.backing.is_empty()
    }

    /// Number of walls of all its particles.
    pub fn mirrors(&self) -> usize {
        self.mirrors.len()
    }

    /// Wall number `m` of the chunk.
    pub fn mirror(&self, m: usize) -> &Mirror {
        &self.mirrors[m]
    }

    /// Finds the walls within `reach` of some of the positions. Particles next to each other in
    /// the list are so in space, and most of them are far from most walls: these are sorted out
    /// for several particles at once.
    pub fn find(
        &mut self,
        position: Xyz<'_>,
        particles: std::ops::Range<usize>,
        side: &[u32],
        reach: Reach,
        obstacles: &[(usize, &Obstacle)],
    ) {
        self.backing.clear();
        self.start.clear();
        self.mirrors.clear();
        self.start.push(0);
        self.sticks = false;
        let farthest = ROUNDING * reach.kernel.unwrap_or(0.0).max(reach.walls);
        let mut near = Vec::with_capacity(obstacles.len());
        for first in particles.clone().step_by(TOGETHER) {
            let some = first..particles.end.min(first + TOGETHER);
            let around = Aabb::of(some.clone().map(|i| position.get(i)));
            let within = 0.5 * around.size().length() + farthest;
            near.clear();
            let is_near = |o: &Obstacle| !o.is_far(around.center(), within);
            near.extend(obstacles.iter().copied().filter(|(_, o)| is_near(o)));
            if near.is_empty() {
                let none = self.mirrors.len() as u32;
                self.start.extend(some.map(|_| none));
                continue;
            }
            for i in some {
                let before = self.mirrors.len();
                self.find_of(position.get(i), side[i], reach, &near);
                let found = &mut self.mirrors[before..];
                found.sort_by(|a, b| a.wall.distance.total_cmp(&b.wall.distance));
                self.mirrors.truncate(before + MOST_WALLS);
                self.sticks |= self.mirrors[before..].iter().any(|m| m.no_slip);
                self.start.push(self.mirrors.len() as u32);
            }
        }
        if !self.backing.is_empty() {
            self.backing.resize(particles.len(), Backing::default());
        }
    }

    /// Finds the walls of the next particle, which is at `p` and on these sides of closed ones.
    fn find_of(&mut self, p: Vec3, side: u32, reach: Reach, obstacles: &[(usize, &Obstacle)]) {
        let k = self.start.len() - 1;
        for &(index, obstacle) in obstacles {
            let inside = index < 32 && side >> index & 1 == 1;
            let kernel = reach.kernel.filter(|_| inside);
            let beyond = kernel.and_then(|h| obstacle.beyond(p, h));
            let mut note = |wall: Wall| {
                self.mirrors.push(Mirror {
                    wall,
                    obstacle: index as u32,
                    no_slip: obstacle.no_slip,
                    grip: wall.drag,
                    backed: beyond.is_some(),
                    push: 0.0,
                    drag: Vec3::ZERO,
                });
            };
            let Some((filled, velocity)) = beyond else {
                obstacle.for_each_wall(p, reach.walls, &mut note);
                continue;
            };
            obstacle.mapped_wall(p, &filled, reach.walls).map(note);
            if filled.share > 0.0 {
                self.backing.resize(k + 1, Backing::default());
                let backing = &mut self.backing[k];
                backing.share += filled.share;
                backing.closing -= filled.slope.dot(velocity);
                backing.slope += Vec3A::from(filled.slope);
            }
        }
    }
}

/// The walls of all particles, chunk by chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walls {
    pub chunks: Vec<ChunkWalls>,
}

impl Walls {
    /// The walls of particle `i`, nearest first.
    #[inline]
    pub fn of(&self, i: usize) -> &[Mirror] {
        self.chunks[i / CHUNK].of(i % CHUNK)
    }

    /// The particles that have walls, in order.
    pub fn particles(&self) -> impl Iterator<Item = usize> + '_ {
        let chunks = self.chunks.iter().enumerate();
        chunks
            .filter(|(_, chunk)| chunk.mirrors() > 0)
            .flat_map(|(c, chunk)| {
                let walled = (0..chunk.len()).filter(|&k| !chunk.of(k).is_empty());
                walled.map(move |k| c * CHUNK + k)
            })
    }

    /// Finds the walls within `reach` of every position.
    /// `side` says in which closed obstacles each one is.
    pub fn find(
        &mut self,
        position: Xyz<'_>,
        side: &[u32],
        reach: Reach,
        obstacles: &[(usize, &Obstacle)],
    ) {
        let n = position.len();
        self.chunks
            .resize_with(n.div_ceil(CHUNK), ChunkWalls::default);
        self.chunks.par_iter_mut().enumerate().spread(|(c, chunk)| {
            let particles = c * CHUNK..((c + 1) * CHUNK).min(n);
            chunk.find(position, particles, side, reach, obstacles);
        });
    }

    /// Heap memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.chunks
            .iter()
            .map(|c| {
                4 * c.start.capacity()
                    + size_of::<Mirror>() * c.mirrors.capacity()
                    + size_of::<Backing>() * c.backing.capacity()
            })
            .sum()
    }
}

/// An image of one particle in one wall, or in a corner of several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image {
    /// Which walls it is mirrored at.
    walls: [usize; MOST_WALLS],
    count: usize,
    /// Where it is.
    pub place: Vec3,
    /// How much it counts for density, pressure and tension.
    pub weight: f32,
    /// How much it counts for viscosity.
    pub drag: f32,
}

impl Image {
    /// Mirrors a vector at the image's walls.
    #[inline]
    pub fn reflect(&self, mirrors: &[Mirror], v: Vec3) -> Vec3 {
        let mut v = v;
        for &w in &self.walls[..self.count] {
            let n = mirrors[w].wall.normal;
            v -= 2.0 * v.dot(n) * n;
        }
        v
    }

    /// The same for velocities. As the wall sees it, the image of liquid that slips
    /// along moves like a reflection; where it sticks, the image moves the other way,
    /// so that the liquid rests at the wall.
    #[inline]
    pub fn reflect_velocity(&self, mirrors: &[Mirror], v: Vec3) -> Vec3 {
        let walls = self.walls[..self.count].iter().map(|&w| &mirrors[w]);
        let mut mirrored = v;
        for m in walls {
            if m.no_slip {
                return 2.0 * m.wall.velocity - v;
            }
            let n = m.wall.normal;
            mirrored -= 2.0 * (mirrored - m.wall.velocity).dot(n) * n;
        }
        mirrored
    }

    /// The same for viscous forces, which do not know how the wall moves.
    #[inline]
    pub fn reflect_drag(&self, mirrors: &[Mirror], f: Vec3) -> Vec3 {
        if self.walls[..self.count].iter().any(|&w| mirrors[w].no_slip) {
            -f
        } else {
            self.reflect(mirrors, f)
        }
    }

    /// Notes the push of this image, `acceleration` in m/s², with its walls.
    #[inline]
    pub fn note(&self, mirrors: &mut [Mirror], acceleration: Vec3) {
        for &w in &self.walls[..self.count] {
            mirrors[w].push += acceleration.dot(mirrors[w].wall.normal);
        }
    }
}

/// The images of one particle: in each wall, in each edge of two, in the corner of
/// three. An array and not a visitor, because a closure would leave the vector
/// instructions of the loops behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Images {
    list: [Image; 7],
    count: usize,
}

impl Images {
    /// The images of a particle at `place`.
    #[inline]
    pub fn of(place: Vec3, mirrors: &[Mirror]) -> Images {
        let behind = |p: Vec3, m: &Mirror| p - 2.0 * m.wall.distance * m.wall.normal;
        let meet = |a: &Mirror, b: &Mirror| a.wall.normal.dot(b.wall.normal).abs() < CORNER;
        let mut images = Images {
            list: [Image {
                walls: [0; MOST_WALLS],
                count: 0,
                place,
                weight: 1.0,
                drag: 1.0,
            }; 7],
            count: 0,
        };
        for (a, ma) in mirrors.iter().enumerate() {
            images.push([a, 0, 0], 1, behind(place, ma), mirrors);
            for (b, mb) in mirrors.iter().enumerate().skip(a + 1) {
                if !meet(ma, mb) {
                    continue;
                }
                let edge = behind(behind(place, ma), mb);
                images.push([a, b, 0], 2, edge, mirrors);
                for (c, mc) in mirrors.iter().enumerate().skip(b + 1) {
                    if meet(ma, mc) && meet(mb, mc) {
                        images.push([a, b, c], 3, behind(edge, mc), mirrors);
                    }
                }
            }
        }
        images
    }

    fn push(&mut self, walls: [usize; MOST_WALLS], count: usize, place: Vec3, mirrors: &[Mirror]) {
        let (mut weight, mut drag) = (1.0, 1.0);
        for &w in &walls[..count] {
            weight *= mirrors[w].wall.weight;
            drag *= mirrors[w].wall.drag;
        }
        self.list[self.count] = Image {
            walls,
            count,
            place,
            weight,
            drag,
        };
        self.count += 1;
    }

    /// All of them.
    #[inline]
    pub fn as_slice(&self) -> &[Image] {
        &self.list[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupling::Bodies;
    use crate::field::Region;
    use crate::fluid::test_random::Random;
    use crate::fluid::{Content, Fill, Fluid, FluidSettings, Material, NewParticle};
    use crate::math::XyzVec;
    use crate::mesh::Cuboid;
    use crate::space::Bvh;
    use std::sync::Arc;

    /// What is sorted out for several particles at once has no walls.
    #[test]
    fn walls_are_those_that_each_particle_finds() {
        let reach = 0.1;
        let cube = Cuboid::new(Vec3::ZERO, Vec3::ONE).build().unwrap();
        let body = Cuboid::new(Vec3::splat(0.4), Vec3::splat(0.6))
            .build()
            .unwrap();
        let tree = Arc::new(Bvh::build(Arc::new(cube.clone())));
        let mut walls = [
            Obstacle::mesh("tank", Arc::new(cube), tree, reach),
            Obstacle::skin("body", body),
            Obstacle::plane("slope", Vec3::ZERO, Vec3::new(0.1, 1.0, 0.0)),
        ];
        walls.iter_mut().for_each(|w| w.prepare_walls(reach));
        let obstacles: Vec<(usize, &Obstacle)> = walls.iter().enumerate().collect();
        let mut random = Random(5);
        let corner = Vec3::splat(0.5);
        let mut places: Vec<Vec3> = (0..CHUNK).map(|_| corner + 0.6 * random.vector()).collect();
        // One after the other along a curve, as if sorted; a few far apart.
        places.sort_by(|a, b| a.x.total_cmp(&b.x));
        let position: XyzVec = places.iter().copied().collect();
        let reach = Reach {
            walls: reach,
            kernel: None,
        };
        let (side, mut chunk) = (vec![0; CHUNK], ChunkWalls::default());
        chunk.find(position.view(), 0..CHUNK, &side, reach, &obstacles);
        let mut some = 0;
        for (i, &place) in places.iter().enumerate() {
            let mut distances = Vec::new();
            for (_, o) in &obstacles {
                o.for_each_wall(place, reach.walls, &mut |w| distances.push(w.distance));
            }
            distances.sort_by(f32::total_cmp);
            distances.truncate(MOST_WALLS);
            let found: Vec<f32> = chunk.of(i).iter().map(|m| m.wall.distance).collect();
            assert_eq!(found, distances, "{place}");
            some += found.len();
        }
        assert!(some > CHUNK / 4 && some < 2 * CHUNK, "{some}");
    }

    /// A lattice filling a box of planes has the rest density everywhere below its
    /// surface, corners included, and no force but at the surface.
    #[test]
    fn a_lattice_in_a_corner_does_not_notice_the_walls() {
        let spacing = 0.1;
        let mut settings = FluidSettings::weakly_compressible(
            Material {
                surface_tension: 0.0,
                ..Material::WATER
            },
            spacing,
        );
        settings.sound_speed = Some(10.0);
        let mut fluid = Fluid::new(settings).unwrap();
        let region = Region::Box {
            min: Vec3::ZERO,
            max: Vec3::ONE,
        };
        let particles: Vec<NewParticle> = Fill::Region(region)
            .points(spacing)
            .unwrap()
            .into_iter()
            .map(|position| NewParticle {
                position,
                velocity: Vec3::ZERO,
            })
            .collect();
        fluid.add(&particles, Content::default(), |_| 0);
        let walls = [
            Obstacle::plane("floor", Vec3::ZERO, Vec3::Y),
            Obstacle::plane("left", Vec3::ZERO, Vec3::X),
            Obstacle::plane("right", Vec3::ONE, Vec3::NEG_X),
            Obstacle::plane("back", Vec3::ZERO, Vec3::Z),
            Obstacle::plane("front", Vec3::ONE, Vec3::NEG_Z),
        ];
        let obstacles: Vec<(usize, &Obstacle)> = walls.iter().enumerate().collect();
        fluid.sort();
        fluid.find_walls(&obstacles);
        fluid.compute_density(|_| false, &Bodies::default());
        fluid.compute_forces(&[]);
        for i in 0..fluid.len() {
            let p = fluid.positions().get(i);
            if p.y > 1.0 - fluid.support_radius() {
                continue;
            }
            let density = fluid.densities()[i] / fluid.settings().material.density;
            assert!((density - 1.0).abs() < 1e-4, "{p}: {density}");
            assert!(fluid.acceleration.get(i).length() < 0.05, "{p}");
        }
    }
}
