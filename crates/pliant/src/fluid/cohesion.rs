//! Surface tension and wetting of incompressible liquids: particles attract each
//! other, and walls attract particles.
//!
//! The force between two particles lies along the line between them and is equal and
//! opposite, so momentum and angular momentum stay what they are (as in Becker &
//! Teschner 2007, Akinci et al. 2013). Its strength follows from the surface tension:
//! cutting a liquid costs the energy of all bonds that cross the cut, which is twice
//! the tension times the area. A wall that attracts with the share
//! `s = (1 + cos θ) / 2` of that strength is wetted with contact angle θ
//! (Young-Dupré).

use glam::Vec3A;
use rayon::prelude::*;

use super::CHUNK;
use super::cubic::for_lattice;
use super::incompressible::Incompressible;
use super::liquid::{Liquid, MOST_LIQUIDS};
use super::walls::Walls;

/// Two liquids attract each other by this share of the geometric mean (Girifalco &
/// Good 1957: 0.55 for water and hydrocarbons).
const BETWEEN_LIQUIDS: f32 = 0.55;

/// Samples of the attraction of a wall.
const SAMPLES: usize = 64;

/// The attraction between particles, for one support radius and spacing.
#[derive(Clone, Debug)]
pub(crate) struct Cohesion {
    h: f32,
    /// Force in N between two particles per surface tension (N/m) and shape.
    strength: f32,
    /// Force in N towards a wall, per tension, at distances from 0 to h.
    wall: Vec<f32>,
}

impl Cohesion {
    pub fn new(h: f32, spacing: f32) -> Cohesion {
        // Energy of the bonds across a cut through the lattice, per area: offsets
        // with z layers between them cross it z times.
        let mut bonds = 0.0;
        for_lattice(h / spacing, |x, y, z| {
            if z > 0 {
                let r = spacing * ((x * x + y * y + z * z) as f32).sqrt();
                bonds += z as f32 * bond(r / h) * h;
            }
        });
        let strength = 2.0 * spacing * spacing / bonds;
        let per_volume = spacing.powi(3).recip();
        let step = h / SAMPLES as f32;
        // 2π n ∫ z φ(z) dz from the wall outwards.
        let mut wall = vec![0.0; SAMPLES + 1];
        for k in (0..SAMPLES).rev() {
            let z = (k as f32 + 0.5) * step;
            let ring = 2.0 * std::f32::consts::PI * per_volume * z * bond(z / h) * h * step;
            wall[k] = wall[k + 1] + strength * ring;
        }
        Cohesion { h, strength, wall }
    }

    /// Force on a particle towards a wall at distance `d` that attracts as strongly as
    /// the liquid itself, per surface tension.
    fn wall(&self, d: f32) -> f32 {
        let place = (d / self.h * SAMPLES as f32).max(0.0);
        let k = place as usize;
        if k >= SAMPLES {
            return 0.0;
        }
        self.wall[k] + (place - k as f32) * (self.wall[k + 1] - self.wall[k])
    }
}

/// Shape of the attraction at q = r / h: none at contact, most in the middle, none at
/// the support radius.
#[inline(always)]
fn pull(q: f32) -> f32 {
    let p = (q * (1.0 - q)).max(0.0);
    16.0 * p * p
}

/// Its integral from q to 1: the energy of a bond, per h.
fn bond(q: f32) -> f32 {
    let q = q.clamp(0.0, 1.0);
    let antiderivative = |q: f32| 16.0 * q * q * q * (1.0 / 3.0 - q / 2.0 + q * q / 5.0);
    antiderivative(1.0) - antiderivative(q)
}

/// Tension with which each liquid attracts each other one.
#[derive(Clone, Debug)]
pub(crate) struct Tensions {
    table: [[f32; MOST_LIQUIDS]; MOST_LIQUIDS],
    pub any: bool,
}

impl Tensions {
    pub fn of(liquids: &[Liquid]) -> Tensions {
        let mut table = [[0.0; MOST_LIQUIDS]; MOST_LIQUIDS];
        for (a, la) in liquids.iter().enumerate() {
            for (b, lb) in liquids.iter().enumerate() {
                let (ta, tb) = (la.material.surface_tension, lb.material.surface_tension);
                table[a][b] = if a == b {
                    ta
                } else {
                    BETWEEN_LIQUIDS * (ta * tb).sqrt()
                };
            }
        }
        Tensions {
            table,
            any: liquids.iter().any(|l| l.material.surface_tension > 0.0),
        }
    }
}

impl Incompressible {
    /// Adds the accelerations by cohesion and adhesion, and notes the latter with the
    /// walls. `wetting` is the contact
    /// angle's share s of every obstacle.
    pub fn attract(
        &self,
        tensions: &Tensions,
        liquid: &[u8],
        inverse_mass: &[f32],
        walls: &mut Walls,
        wetting: &[f32],
        acceleration: [&mut [f32]; 3],
    ) {
        let (x, cohesion) = (&self.x[..], &self.cohesion);
        let inverse_h = 1.0 / cohesion.h;
        let [ax, ay, az] = acceleration;
        (
            ax.par_chunks_mut(CHUNK),
            ay.par_chunks_mut(CHUNK),
            az.par_chunks_mut(CHUNK),
            &self.pairs.chunks,
            &mut walls.chunks,
        )
            .into_par_iter()
            .enumerate()
            .for_each(|(c, (ax, ay, az, pairs, walls))| {
                for k in 0..ax.len() {
                    let i = c * CHUNK + k;
                    let here = x[i];
                    let tension = &tensions.table[liquid[i] as usize];
                    let mut force = Vec3A::ZERO;
                    for &j in pairs.of(k).0 {
                        let j = j as usize;
                        let d = here - x[j];
                        let r = d.length().max(1e-12);
                        force -= (tension[liquid[j] as usize] * pull(r * inverse_h) / r) * d;
                    }
                    force *= cohesion.strength;
                    let own = tension[liquid[i] as usize];
                    for mirror in walls.of_mut(k) {
                        let share = mirror.wall.drag * wetting[mirror.obstacle as usize];
                        let towards = own * share * cohesion.wall(mirror.wall.distance);
                        force -= towards * Vec3A::from(mirror.wall.normal);
                        mirror.push -= inverse_mass[i] * towards;
                    }
                    let a = inverse_mass[i] * force;
                    ax[k] += a.x;
                    ay[k] += a.y;
                    az[k] += a.z;
                }
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bonds_are_the_integral_of_the_pull() {
        let parts = 2000;
        for from in [0.0f32, 0.3, 0.8] {
            let step = (1.0 - from) / parts as f32;
            let sum: f32 = (0..parts)
                .map(|k| step * pull(from + (k as f32 + 0.5) * step))
                .sum();
            assert!((sum - bond(from)).abs() < 1e-4, "{from}: {sum}");
        }
    }

    /// The work to pull two half lattices apart is twice the tension.
    #[test]
    fn cutting_costs_twice_the_tension() {
        let (h, spacing) = (0.02f32, 0.01f32);
        let cohesion = Cohesion::new(h, spacing);
        // Force per area across a plane between layers opened by `gap`.
        let stress = |gap: f32| {
            let mut sum = 0.0;
            for_lattice(h / spacing, |x, y, z| {
                if z > 0 {
                    let (dx, dy) = (spacing * x as f32, spacing * y as f32);
                    let dz = spacing * z as f32 + gap;
                    let r = (dx * dx + dy * dy + dz * dz).sqrt();
                    sum += z as f32 * cohesion.strength * pull((r / h).min(1.0)) * dz / r;
                }
            });
            sum / (spacing * spacing)
        };
        let step = h / 1000.0;
        let work: f32 = (0..1000)
            .map(|k| step * stress((k as f32 + 0.5) * step))
            .sum();
        assert!((work / 2.0 - 1.0).abs() < 0.01, "{work}");
        assert!(cohesion.wall(0.0) > cohesion.wall(spacing));
        assert_eq!(cohesion.wall(h), 0.0);
    }
}
