//! Surface tension and wetting of incompressible liquids.
//!
//! Two forces act between particles near a free surface; both lie along the line
//! between the two and are equal and opposite, so momentum and angular momentum stay
//! what they are:
//!
//! - **Tension.** `g_i = Σ_j V ∇W_ij` points into the liquid at a surface and vanishes
//!   inside, up to some noise that is taken off. Where it differs between neighbours the surface is bent or the particles
//!   are beneath it, and `-κ ∇W_ij (∇W_ij · (g_i - g_j))` pulls them together: in the
//!   continuum that is the gradient of the Laplacian of the liquid's colour, which adds
//!   the pressure 2 γ H under a surface of mean curvature H (Korteweg's stress; as a
//!   difference of normals in Akinci et al. 2013).
//! - **Cohesion.** Particles whose surroundings are not full have a negative pressure
//!   `-λ (1 - fullness)`, which closes the outermost layer and holds drops together. It
//!   follows from an energy, and does nothing to a layer that is full.
//!
//! Inside the liquid both vanish, so the pressure of a drop is that of Laplace and
//! not, as with attraction between all particles, a hundred times that.
//!
//! Walls take part as images, which means a contact angle of 90°. For a smaller angle
//! θ they attract the particles with an energy of `γ cos θ` per wetted area (Young);
//! for a larger one their images are less than the liquid's own kind, as another
//! liquid would be, so that wetting them costs that energy.

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::images::{ChunkImages, Seen, WITH};
use super::incompressible::Incompressible;
use super::liquid::{Liquid, MOST_LIQUIDS};
use super::pairs::{ChunkPairs, sum_pairs};
use super::walls::{ChunkWalls, Mirror, Walls};
use crate::crew::Spread;
use crate::simd::{Lanes, dispatch};

/// κ per surface tension and spacing. The number is measured: with it a resting drop
/// has the pressure of Laplace (`pliant validate tension`).
const TENSION: f32 = 44.5;

/// `|g|` times spacing that disorder makes inside a liquid. It is no surface: pulling
/// at it would heat the liquid.
const NOISE: f32 = 0.05;

/// λ times spacing per surface tension. Enough to close the surface; more of it
/// weakens the tension.
const COHESION: f32 = 27.0;

/// Two liquids attract each other by this share of the geometric mean (Girifalco &
/// Good 1957: 0.55 for water and hydrocarbons).
const BETWEEN_LIQUIDS: f32 = 0.55;

/// What the tensions of several liquids make of each other.
#[derive(Clone, Debug)]
pub(crate) struct Tensions {
    tension: [f32; MOST_LIQUIDS],
    /// How much of a liquid's own kind each other one is.
    kinship: [[f32; MOST_LIQUIDS]; MOST_LIQUIDS],
    pub any: bool,
}

impl Tensions {
    pub fn of(liquids: &[Liquid]) -> Tensions {
        let mut tension = [0.0; MOST_LIQUIDS];
        for (t, l) in tension.iter_mut().zip(liquids) {
            *t = l.material.surface_tension;
        }
        let mut kinship = [[1.0; MOST_LIQUIDS]; MOST_LIQUIDS];
        for a in 0..MOST_LIQUIDS {
            for b in (0..MOST_LIQUIDS).filter(|b| *b != a) {
                // Both sides of the interface pull, each with the square of what the
                // other one lacks of its kind.
                let both = tension[a] + tension[b];
                let between = both - 2.0 * BETWEEN_LIQUIDS * (tension[a] * tension[b]).sqrt();
                if both > 0.0 {
                    kinship[a][b] = 1.0 - (between / both).sqrt();
                }
            }
        }
        Tensions {
            tension,
            kinship,
            any: tension.iter().any(|t| *t > 0.0),
        }
    }
}

/// How much of the cost of wetting a wall is its repulsion; the rest comes from its
/// image. Measured at 120°, as [`TENSION`].
const REPULSION: f32 = 0.47;

/// How much more than by Young's law walls must attract for a drop to wet them as it should.
/// Chosen at 60°, as [`TENSION`]; it holds at 45° and 75° as well.
const ATTRACTION: f32 = 1.2;

/// What a wall does to a liquid that touches it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wetting {
    /// Energy that the liquid gains per wetted area and tension.
    attraction: f32,
    /// How much of the liquid's own kind its image is.
    kinship: f32,
}

impl Wetting {
    /// Of a wall with this contact angle, in radians.
    pub fn of(angle: f32) -> Wetting {
        let cos = angle.cos();
        Wetting {
            attraction: if cos < 0.0 {
                REPULSION * cos
            } else {
                ATTRACTION * cos
            },
            kinship: 1.0 - (-cos).max(0.0).sqrt(),
        }
    }
}

impl Default for Wetting {
    fn default() -> Self {
        Wetting {
            attraction: 0.0,
            kinship: 1.0,
        }
    }
}

/// The state of the surface that forces are made from; scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surface {
    /// κ g, in N/m.
    pull: Vec<Vec3A>,
    /// The negative pressure of cohesion, in Pa.
    suction: Vec<f32>,
}

impl Surface {
    pub fn bytes(&self) -> usize {
        16 * self.pull.capacity() + 4 * self.suction.capacity()
    }
}

/// One chunk of particles with all that they see.
#[derive(Clone, Copy)]
struct Chunk<'a> {
    first: usize,
    pairs: &'a ChunkPairs,
    images: &'a ChunkImages,
    x: &'a [Vec3A],
    liquid: &'a [u8],
    tensions: &'a Tensions,
    wetting: &'a [Wetting],
    /// Not all that they see is of one kind.
    mixed: bool,
}

impl Chunk<'_> {
    /// How much of its own kind a particle of liquid `a` sees in one of liquid `b`.
    #[inline(always)]
    fn kinship(&self, a: u8, b: u8) -> f32 {
        self.tensions.kinship[a as usize][b as usize]
    }

    /// How much of the liquid's kind is left in image `e` of those that a particle with
    /// these walls sees.
    #[inline(always)]
    fn image_kinship(&self, walls: &[Mirror], seen: Seen<'_>, e: usize) -> f32 {
        let mut kinship = 1.0;
        for (mirror, lift) in walls.iter().zip(&seen.lift[e]) {
            if *lift != 0.0 {
                kinship *= self.wetting[mirror.obstacle as usize].kinship;
            }
        }
        kinship
    }

    /// How much of the liquid's kind is left in what is beyond these walls as a volume.
    #[inline(always)]
    fn backing_kinship(&self, walls: &[Mirror]) -> f32 {
        match walls.iter().find(|m| m.backed) {
            Some(mirror) => self.wetting[mirror.obstacle as usize].kinship,
            None => 1.0,
        }
    }

    /// What image `e` of those that particle `k` sees does to it, per gradient of the
    /// image's kernel.
    #[inline(always)]
    fn image_force(
        &self,
        pull: &[Vec3A],
        suction: &[f32],
        (k, walls): (usize, &[Mirror]),
        (seen, e): (Seen<'_>, usize),
    ) -> f32 {
        let (i, j) = (self.first + k, seen.neighbour[e] as usize);
        let (a, b) = (self.liquid[i], self.liquid[j]);
        let both = self.kinship(a, b) * seen.own[e].dot(pull[i])
            + self.kinship(b, a) * seen.other[e].dot(pull[j]);
        self.image_kinship(walls, seen, e) * both + suction[i] + suction[j]
    }
}

impl Incompressible {
    /// Adds the accelerations by tension, cohesion and wetting, and notes with the walls
    /// what they do. `wetting` has an entry for every obstacle.
    pub fn attract(
        &mut self,
        tensions: &Tensions,
        liquid: &[u8],
        inverse_mass: &[f32],
        walls: &mut Walls,
        wetting: &[Wetting],
        acceleration: [&mut [f32]; 3],
    ) {
        let (x, spacing) = (&self.x[..], self.volume.cbrt());
        let n = x.len();
        let mut surface = std::mem::take(&mut self.surface);
        surface.pull.resize(n, Vec3A::ZERO);
        surface.suction.resize(n, 0.0);
        let mixed =
            liquid.iter().any(|l| *l != liquid[0]) || wetting.iter().any(|w| w.kinship < 1.0);
        let chunk = |c: usize| Chunk {
            first: c * CHUNK,
            pairs: &self.pairs.chunks[c],
            images: &self.images.chunks[c],
            x,
            liquid,
            tensions,
            wetting,
            mixed,
        };
        (
            surface.pull.par_chunks_mut(CHUNK),
            surface.suction.par_chunks_mut(CHUNK),
            self.fullness[..n].par_chunks(CHUNK),
            &walls.chunks,
        )
            .into_par_iter()
            .enumerate()
            .spread(|(c, (pull, suction, fullness, walls))| {
                find_surface(chunk(c), walls, spacing, fullness, (pull, suction));
            });
        let (pull, suction) = (&surface.pull[..], &surface.suction[..]);
        let adhesion = Adhesion::new(self.kernel.support_radius, spacing);
        let [ax, ay, az] = acceleration;
        (
            ax.par_chunks_mut(CHUNK),
            ay.par_chunks_mut(CHUNK),
            az.par_chunks_mut(CHUNK),
            &mut walls.chunks,
        )
            .into_par_iter()
            .enumerate()
            .spread(|(c, (ax, ay, az, walls))| {
                let mut sums = [Vec3A::ZERO; CHUNK];
                let sums = &mut sums[..ax.len()];
                let chunk = chunk(c);
                sum_forces(chunk, pull, suction, sums);
                for (k, sum) in sums.iter().enumerate() {
                    let i = c * CHUNK + k;
                    let specific = inverse_mass[i] * self.volume;
                    let mut a = -specific * *sum;
                    let seen = self.images.chunks[c].of(k);
                    for e in 0..seen.neighbour.len() {
                        let force = chunk.image_force(pull, suction, (k, walls.of(k)), (seen, e));
                        a -= specific * force * seen.own[e];
                        for (mirror, lift) in walls.of_mut(k).iter_mut().zip(&seen.lift[e]) {
                            mirror.push -= specific * force * lift;
                        }
                    }
                    // What is beyond a container's wall has the particle's own suction.
                    let sucked = specific * WITH * suction[i];
                    a -= sucked * seen.beyond;
                    walls.push_backed(k, -sucked * seen.beyond);
                    let tension = tensions.tension[liquid[i] as usize];
                    for mirror in walls.of_mut(k) {
                        let share = mirror.wall.drag * wetting[mirror.obstacle as usize].attraction;
                        let towards = tension * share * adhesion.at(mirror.wall.distance);
                        a -= inverse_mass[i] * towards * Vec3A::from(mirror.wall.normal);
                        mirror.push -= inverse_mass[i] * towards;
                    }
                    ax[k] += a.x;
                    ay[k] += a.y;
                    az[k] += a.z;
                }
            });
        self.surface = surface;
    }
}

/// Finds the surface's pull and suction on each particle of a chunk.
fn find_surface(
    chunk: Chunk<'_>,
    walls: &ChunkWalls,
    spacing: f32,
    fullness: &[f32],
    found: (&mut [Vec3A], &mut [f32]),
) {
    #[inline(always)]
    fn run<L: Lanes>(
        _: L,
        chunk: Chunk<'_>,
        walls: &ChunkWalls,
        spacing: f32,
        fullness: &[f32],
        (pull, suction): (&mut [Vec3A], &mut [f32]),
    ) {
        let Chunk { x, liquid, .. } = chunk;
        for k in 0..pull.len() {
            let i = chunk.first + k;
            let (here, kind) = (x[i], liquid[i]);
            let seen = chunk.images.of(k);
            let g = if chunk.mixed {
                let mut g = sum_pairs(chunk.pairs.of(k), |j, s| {
                    s * chunk.kinship(kind, liquid[j]) * (here - x[j])
                });
                for (e, &j) in seen.neighbour.iter().enumerate() {
                    let kinship = chunk.kinship(kind, liquid[j as usize]);
                    g += kinship * chunk.image_kinship(walls.of(k), seen, e) * seen.own[e];
                }
                g + chunk.backing_kinship(walls.of(k)) * seen.beyond
            } else {
                let near = sum_pairs(chunk.pairs.of(k), |j, s| s * (here - x[j]));
                near + seen.sum + (1.0 - WITH) * seen.beyond
            };
            let tension = chunk.tensions.tension[kind as usize];
            let beyond = (1.0 - NOISE / (spacing * g.length()).max(NOISE)).max(0.0);
            pull[k] = beyond * TENSION * tension * spacing * g;
            suction[k] = -COHESION * tension / spacing * (1.0 - fullness[k]).max(0.0);
        }
    }
    dispatch!(run(
        chunk: Chunk<'_>,
        walls: &ChunkWalls,
        spacing: f32,
        fullness: &[f32],
        found: (&mut [Vec3A], &mut [f32]),
    ));
}

/// `Σ ∇W (∇W · (κ g_i - κ g_j) + q_i + q_j)` over the neighbours of each
/// particle of a chunk.
fn sum_forces(chunk: Chunk<'_>, pull: &[Vec3A], suction: &[f32], sums: &mut [Vec3A]) {
    #[inline(always)]
    fn run<L: Lanes>(_: L, chunk: Chunk<'_>, pull: &[Vec3A], suction: &[f32], sums: &mut [Vec3A]) {
        let x = chunk.x;
        let (pull, suction) = (&pull[..x.len()], &suction[..x.len()]);
        for (k, sum) in sums.iter_mut().enumerate() {
            let i = chunk.first + k;
            let (here, g, q) = (x[i], pull[i], suction[i]);
            *sum = if chunk.mixed {
                sum_pairs(chunk.pairs.of(k), |j, s| {
                    let slope = s * (here - x[j]);
                    let (a, b) = (chunk.liquid[i], chunk.liquid[j]);
                    let differ = chunk.kinship(a, b) * g - chunk.kinship(b, a) * pull[j];
                    (slope.dot(differ) + q + suction[j]) * slope
                })
            } else {
                sum_pairs(chunk.pairs.of(k), |j, s| {
                    let slope = s * (here - x[j]);
                    (slope.dot(g - pull[j]) + q + suction[j]) * slope
                })
            };
        }
    }
    dispatch!(run(chunk: Chunk<'_>, pull: &[Vec3A], suction: &[f32], sums: &mut [Vec3A]));
}

/// The attraction of a wall: none at contact, most at a quarter of the reach, none at
/// the end of it.
#[derive(Clone, Copy, Debug)]
struct Adhesion {
    inverse_reach: f32,
    strength: f32,
}

impl Adhesion {
    /// Two layers of particles, the first half a spacing from the wall, have an energy
    /// of 1 per area.
    fn new(reach: f32, spacing: f32) -> Adhesion {
        let layer = |d: f32| reach * bond(d / reach);
        let energy = layer(0.5 * spacing) + layer(1.5 * spacing);
        Adhesion {
            inverse_reach: 1.0 / reach,
            strength: spacing * spacing / energy,
        }
    }

    /// Force in N on a particle at distance `d`, per tension.
    #[inline(always)]
    fn at(&self, d: f32) -> f32 {
        self.strength * hold(d * self.inverse_reach)
    }
}

/// Shape of the attraction.
#[inline(always)]
fn hold(q: f32) -> f32 {
    let q = q.clamp(0.0, 1.0);
    q * (1.0 - q).powi(3)
}

/// Its integral from q to 1.
fn bond(q: f32) -> f32 {
    let rest = (1.0 - q).clamp(0.0, 1.0);
    rest.powi(4) * (0.25 - rest / 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bonds_are_the_integral_of_the_hold() {
        let parts = 2000;
        for from in [0.0f32, 0.3, 0.8] {
            let step = (1.0 - from) / parts as f32;
            let sum: f32 = (0..parts)
                .map(|k| step * hold(from + (k as f32 + 0.5) * step))
                .sum();
            assert!((sum - bond(from)).abs() < 1e-5, "{from}: {sum}");
        }
    }

    #[test]
    fn a_right_angle_needs_neither_attraction_nor_repulsion() {
        let [wet, square, dry] = [0.0f32, 90.0, 180.0].map(|a| Wetting::of(a.to_radians()));
        assert!(wet.attraction == ATTRACTION && wet.kinship == 1.0);
        assert!(square.attraction.abs() < 1e-6 && square.kinship > 0.999);
        assert!(dry.attraction < 0.0 && dry.kinship < 1e-3);
    }

    /// The energy of the two layers of particles next to a wall, per area.
    #[test]
    fn wetting_gains_the_tension_per_area() {
        let spacing = 0.01;
        let adhesion = Adhesion::new(0.02, spacing);
        let work = |from: f32| {
            let step = (0.02 - from) / 1000.0;
            (0..1000)
                .map(|k| step * adhesion.at(from + (k as f32 + 0.5) * step))
                .sum::<f32>()
        };
        let energy = (work(0.5 * spacing) + work(1.5 * spacing)) / (spacing * spacing);
        assert!((energy - 1.0).abs() < 1e-3, "{energy}");
    }
}
