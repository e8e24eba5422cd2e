//! What each particle adds to the colour field.
//!
//! The field is `Σ_j V_j W(x - x_j)` with the poly6 kernel, so it is 1 deep inside
//! the liquid and one half at a flat surface, whatever the kernel's shape. A
//! particle with few neighbours weighs more, so that a lone drop keeps about its
//! volume instead of vanishing below the iso-value.

use glam::{Mat3, Vec3};
use rayon::prelude::*;

use super::SurfaceSettings;
use crate::math::{Xyz, XyzVec};
use crate::simd::{Lanes, dispatch};
use crate::space::{CellGrid, NeighbourSearch};

/// One particle's share of the field: `weight · max(0, 1 - dᵀ M d)³`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Blob {
    pub center: Vec3,
    pub weight: f32,
    /// M: xx, yy, zz, xy, xz, yz.
    pub shape: [f32; 6],
    /// Half the size of the box around the blob.
    pub reach: Vec3,
}

/// The blobs of all finite particles, in the order of the particles, and what
/// smoothing wants to know of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Blobs {
    pub blobs: Vec<Blob>,
    /// How full of neighbours each is: 1 deep inside, about 0.2 if alone.
    pub fullness: Vec<f32>,
}

/// poly6 at its centre times h³: 315 / (64 π).
pub(super) const POLY6: f32 = 1.566_681_5;

/// Boxes are a little larger than the blobs, so that rounding cannot give a node
/// outside the box a share.
const SLACK: f32 = 1.0005;

/// Radius of the neighbourhood that shapes an anisotropic kernel, in supports.
const SHAPE_REACH: f32 = 1.5;
/// Share by which centres move to the mean of their neighbours (Yu & Turk 2013,
/// λ; they use 0.9 to 1).
const CENTRE_SMOOTHING: f32 = 0.9;
/// Largest ratio between the axes of a kernel (Yu & Turk 2013, k_r).
const LARGEST_RATIO: f32 = 4.0;
/// Fewer neighbours than this get a round kernel (Yu & Turk 2013, N_ε).
const FEWEST_NEIGHBOURS: u32 = 20;

pub(super) fn blobs(positions: Xyz<'_>, settings: &SurfaceSettings) -> Blobs {
    let points = finite(positions);
    if points.is_empty() {
        return Blobs::default();
    }
    let near = Near::new(&points, settings);
    let fullness = near.fullness(settings);
    let blobs = if settings.anisotropic {
        near.shaped(settings, &fullness)
    } else {
        round(&points, settings, &fullness)
    };
    Blobs { blobs, fullness }
}

/// The round blobs of `points`, all of which are finite, where `fullness` still holds
/// for all that are not near one of the places `changed`. They are to the bit those of
/// [`blobs`].
pub(super) fn round_blobs_again(
    points: &XyzVec,
    settings: &SurfaceSettings,
    mut fullness: Vec<f32>,
    changed: &[Vec3],
) -> Blobs {
    if !changed.is_empty() && !points.is_empty() {
        Near::new(points, settings).renew_fullness(settings, changed, &mut fullness);
    }
    let blobs = round(points, settings, &fullness);
    Blobs { blobs, fullness }
}

/// Those of the positions that are finite.
pub(super) fn finite(positions: Xyz<'_>) -> XyzVec {
    positions.iter().filter(|p| p.is_finite()).collect()
}

/// Particles in cell order, for neighbour sums.
struct Near {
    grid: CellGrid,
    sorted: XyzVec,
    /// Sorted place of every particle.
    place: Vec<u32>,
    radius: f32,
}

impl Near {
    fn new(points: &XyzVec, settings: &SurfaceSettings) -> Near {
        let support = settings.support * settings.spacing;
        let radius = if settings.anisotropic {
            SHAPE_REACH * support
        } else {
            support
        };
        let mut grid = CellGrid::new();
        grid.build(points.view(), radius);
        let sorted: XyzVec = grid
            .order()
            .iter()
            .map(|&i| points.get(i as usize))
            .collect();
        let mut place = vec![0; points.len()];
        for (s, &i) in grid.order().iter().enumerate() {
            place[i as usize] = s as u32;
        }
        Near {
            grid,
            sorted,
            place,
            radius,
        }
    }

    /// Calls `visit` with the sorted place, the offset and the squared distance of
    /// all particles within the radius of `p`, in cell order.
    #[inline]
    fn for_each(&self, p: Vec3, mut visit: impl FnMut(usize, Vec3, f32)) {
        let r2 = self.radius * self.radius;
        for &(from, to) in self.grid.rows_around(p).as_slice() {
            for k in from as usize..to as usize {
                let d = self.sorted.get(k) - p;
                let d2 = d.length_squared();
                if d2 < r2 {
                    visit(k, d, d2);
                }
            }
        }
    }

    /// A number for every particle, in the particles' order; computed in cell
    /// order, where neighbours share memory.
    fn per_particle<T: Send + Sync + Copy>(&self, f: impl Fn(Vec3) -> T + Sync) -> Vec<T> {
        let sorted: Vec<T> = (0..self.sorted.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|k| f(self.sorted.get(k)))
            .collect();
        self.place.iter().map(|&k| sorted[k as usize]).collect()
    }

    /// The field of round kernels of equal weight, at every particle.
    fn fullness(&self, settings: &SurfaceSettings) -> Vec<f32> {
        let all: Vec<u32> = (0..self.sorted.len() as u32).collect();
        let sorted = self.fullness_of(&all, settings);
        self.place.iter().map(|&k| sorted[k as usize]).collect()
    }

    /// The same at the particles in cells around the places `changed` only.
    fn renew_fullness(&self, settings: &SurfaceSettings, changed: &[Vec3], fullness: &mut [f32]) {
        let mut stale = vec![false; self.sorted.len()];
        for &p in changed {
            for &(from, to) in self.grid.rows_around(p).as_slice() {
                stale[from as usize..to as usize].fill(true);
            }
        }
        let stale: Vec<u32> = (0..stale.len() as u32)
            .filter(|&k| stale[k as usize])
            .collect();
        let order = self.grid.order();
        for (&k, sum) in stale.iter().zip(self.fullness_of(&stale, settings)) {
            fullness[order[k as usize] as usize] = sum;
        }
    }

    /// Fullness at these places of the cell order.
    fn fullness_of(&self, places: &[u32], settings: &SurfaceSettings) -> Vec<f32> {
        const CHUNK: usize = 256;
        let inverse = 1.0 / (settings.support * settings.spacing).powi(2);
        let scale = POLY6 / settings.support.powi(3);
        let mut fullness = vec![0.0; places.len()];
        fullness
            .par_chunks_mut(CHUNK)
            .zip(places.par_chunks(CHUNK))
            .for_each(|(sums, places)| {
                let near = self;
                dispatch!(sum_kernels(
                    near: &Near,
                    places: &[u32],
                    inverse: f32,
                    sums: &mut [f32],
                ));
                sums.iter_mut().for_each(|s| *s *= scale);
            });
        fullness
    }

    /// Kernels stretched along the surface (Yu & Turk 2013, section 4).
    fn shaped(&self, settings: &SurfaceSettings, fullness: &[f32]) -> Vec<Blob> {
        let support = settings.support * settings.spacing;
        let least = lone_fullness(settings);
        let means = self.per_particle(|p| self.mean_offset(p));
        let sorted_means: Vec<Vec3> = self
            .grid
            .order()
            .iter()
            .map(|&i| means[i as usize])
            .collect();
        let shapes = self.per_particle(|p| self.shape_at(p, &sorted_means));
        fullness
            .par_iter()
            .zip(&shapes)
            .map(|(&fullness, &(center, axes, lengths))| {
                let weight = (POLY6 / settings.support.powi(3)) * boost(fullness, least, settings);
                // M = R diag(1 / (h σ)²) Rᵀ; the σ multiply to 1, which keeps the
                // blob's integral.
                let inverse = (support * lengths).powf(-2.0);
                let m = axes * Mat3::from_diagonal(inverse) * axes.transpose();
                let squares =
                    axes * Mat3::from_diagonal((support * lengths).powf(2.0)) * axes.transpose();
                let reach = Vec3::new(squares.x_axis.x, squares.y_axis.y, squares.z_axis.z);
                Blob {
                    center,
                    weight,
                    shape: [
                        m.x_axis.x, m.y_axis.y, m.z_axis.z, m.x_axis.y, m.x_axis.z, m.y_axis.z,
                    ],
                    reach: SLACK * reach.map(f32::sqrt),
                }
            })
            .collect()
    }

    /// Where the weighted mean of the neighbourhood lies, seen from `p`.
    fn mean_offset(&self, p: Vec3) -> Vec3 {
        let (mut total, mut mean) = (0.0, Vec3::ZERO);
        self.for_each(p, |_, d, d2| {
            let w = self.closeness(d2);
            total += w;
            mean += w * d;
        });
        mean / total.max(f32::MIN_POSITIVE)
    }

    /// Smoothed centre, principal axes and relative lengths of the axes. `means`
    /// are the mean offsets of all particles, in cell order.
    fn shape_at(&self, p: Vec3, means: &[Vec3]) -> (Vec3, Mat3, Vec3) {
        let round = (p, Mat3::IDENTITY, Vec3::ONE);
        let mean = self.mean_offset(p);
        let mut count = 0;
        let (mut total, mut common, mut near) = (0.0, Vec3::ZERO, 0.0);
        let mut c = [0.0f32; 6];
        self.for_each(p, |k, d, d2| {
            let w = self.closeness(d2);
            count += 1;
            total += w;
            let alike = w * w;
            near += alike;
            common += alike * means[k];
            let e = d - mean;
            let products = [
                e.x * e.x,
                e.y * e.y,
                e.z * e.z,
                e.x * e.y,
                e.x * e.z,
                e.y * e.z,
            ];
            for (sum, product) in c.iter_mut().zip(products) {
                *sum += w * product;
            }
        });
        if total <= 0.0 || count < FEWEST_NEIGHBOURS {
            return round;
        }
        let (values, axes) = super::eigen::symmetric_eigen(c.map(|v| v / total));
        let largest = values.max_element();
        if largest.is_nan() || largest <= 0.0 {
            return round;
        }
        let bounded = values.max(Vec3::splat(largest / LARGEST_RATIO));
        // The covariance is a squared length, but Yu & Turk stretch by it as it
        // is, which exaggerates flatness; volume is kept by the product.
        let lengths = bounded / (bounded.x * bounded.y * bounded.z).cbrt();
        // Near a surface all means point inwards, and following them would shrink
        // the liquid: only what a particle does not share with those around it is
        // noise.
        let noise = mean - common / near.max(f32::MIN_POSITIVE);
        (p + CENTRE_SMOOTHING * noise, axes, lengths)
    }

    /// The weight `1 - (r / r_i)³` of Yu & Turk 2013, eq. (11).
    #[inline]
    fn closeness(&self, d2: f32) -> f32 {
        let q = d2.sqrt() / self.radius;
        1.0 - q * q * q
    }
}

/// Adding and taking away this number rounds kernels to multiples of 2⁻¹³.
const ROUNDER: f32 = 1536.0;

/// Sums `max(0, 1 - r²/h²)³` over the neighbours of the particles at `places`. Kernels
/// are multiples of 2⁻¹³, so that the sum is exact: it does not depend on the order of
/// the neighbours, and a part of the particles gives what all of them give.
/// Plain arrays of eight: the compiler makes lanes of them.
#[inline(always)]
fn sum_kernels<L: Lanes>(_lanes: L, near: &Near, places: &[u32], inverse: f32, sums: &mut [f32]) {
    let Xyz { x, y, z } = near.sorted.view();
    for (&place, sum) in places.iter().zip(sums) {
        let p = near.sorted.get(place as usize);
        let mut lanes = [0.0f32; 8];
        let mut rest = 0.0;
        for &(from, to) in near.grid.rows_around(p).as_slice() {
            let run = from as usize..to as usize;
            let (xs, ys, zs) = (&x[run.clone()], &y[run.clone()], &z[run]);
            let kernel = |x: f32, y: f32, z: f32| {
                let (dx, dy, dz) = (x - p.x, y - p.y, z - p.z);
                let t = 1.0 - inverse * (dx * dx + dy * dy + dz * dz);
                let t = if t > 0.0 { t } else { 0.0 };
                (t * t * t + ROUNDER) - ROUNDER
            };
            let (xs, x_rest) = xs.as_chunks::<8>();
            let (ys, y_rest) = ys.as_chunks::<8>();
            let (zs, z_rest) = zs.as_chunks::<8>();
            for ((x, y), z) in xs.iter().zip(ys).zip(zs) {
                for l in 0..8 {
                    lanes[l] += kernel(x[l], y[l], z[l]);
                }
            }
            for ((&x, &y), &z) in x_rest.iter().zip(y_rest).zip(z_rest) {
                rest += kernel(x, y, z);
            }
        }
        *sum = rest + lanes.iter().sum::<f32>();
    }
}

fn round(points: &XyzVec, settings: &SurfaceSettings, fullness: &[f32]) -> Vec<Blob> {
    let h = settings.support * settings.spacing;
    let least = lone_fullness(settings);
    let m = 1.0 / (h * h);
    (0..points.len())
        .into_par_iter()
        .with_min_len(4096)
        .map(|i| Blob {
            center: points.get(i),
            weight: POLY6 / settings.support.powi(3) * boost(fullness[i], least, settings),
            shape: [m, m, m, 0.0, 0.0, 0.0],
            reach: Vec3::splat(SLACK * h),
        })
        .collect()
}

/// The fullness of a particle without neighbours.
fn lone_fullness(settings: &SurfaceSettings) -> f32 {
    POLY6 / settings.support.powi(3)
}

/// How much more a particle with few neighbours weighs. A lone one gets a ball of
/// its own volume; from half-full on, which corners of a body are, nothing is
/// added. Steps of 1/32 keep weights equal while neighbours shift a little.
fn boost(fullness: f32, least: f32, settings: &SurfaceSettings) -> f32 {
    const FULL: f32 = 0.5;
    // The ball of volume spacing³ has a radius of 0.62 spacings; a little more makes
    // up for the corners that cubes of about that size cut off.
    let q = 0.67 / settings.support;
    let alone = settings.iso / (least * (1.0 - q * q).max(0.05).powi(3));
    let t = ((FULL - fullness) / (FULL - least).max(1e-3)).clamp(0.0, 1.0);
    let extra = (alone - 1.0).max(0.0) * t;
    1.0 + (32.0 * extra).round() / 32.0
}
