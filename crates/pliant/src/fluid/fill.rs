//! Filling a space with liquid at rest: particles on a cubic lattice.

use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use crate::field::Region;
use crate::math::Aabb;
use crate::mesh::TriMesh;
use crate::space::Bvh;

/// No fill is allowed to make more particles than this.
const MOST: f64 = 1e8;

/// A space to be filled.
#[derive(Clone, Debug)]
pub enum Fill {
    /// A box or a ball.
    Region(Region),
    /// The inside of a closed mesh, as far as it lies in the region.
    Mesh {
        /// The closed mesh.
        mesh: Arc<TriMesh>,
        /// Part of it to fill.
        within: Region,
    },
}

/// A space that cannot be filled.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FillError {
    /// No lattice point fits.
    #[error(
        "the space holds no particle at a spacing of {spacing} m; \
         make the space larger or the spacing smaller"
    )]
    Empty {
        /// Particle spacing in metres.
        spacing: f32,
    },
    /// Far too many lattice points.
    #[error(
        "the space would hold about {count:.1e} particles at a spacing of {spacing} m; \
         make the spacing larger"
    )]
    TooMany {
        /// Estimated number.
        count: f64,
        /// Particle spacing in metres.
        spacing: f32,
    },
    /// The space has no border.
    #[error("a fill needs a box, a ball or a closed mesh")]
    Unbounded,
    /// The mesh has holes.
    #[error("a mesh to be filled must be closed: {0}")]
    Open(String),
    /// Fewer particles than asked for.
    #[error("{wanted} particles were asked for, but the space holds only {found}")]
    TooFew {
        /// Number asked for.
        wanted: usize,
        /// Number that fits.
        found: usize,
    },
}

impl Fill {
    /// Its volume in m³, at most: that of a mesh whatever its region. Infinite if
    /// it has no border.
    pub fn volume(&self) -> f64 {
        let of = |region: &Region| match region {
            Region::Everywhere => f64::INFINITY,
            Region::Box { min, max } => (*max - *min).max(Vec3::ZERO).as_dvec3().element_product(),
            Region::Sphere { radius, .. } => {
                4.0 / 3.0 * std::f64::consts::PI * f64::from(*radius).powi(3)
            }
            Region::Cylinder { from, to, radius } => {
                std::f64::consts::PI * f64::from(radius * radius * from.distance(*to))
            }
        };
        match self {
            Fill::Region(region) => of(region),
            Fill::Mesh { mesh, within } => of(within).min(f64::from(mesh.volume().abs())),
        }
    }

    /// Lattice points inside the space, `spacing` apart, at least half a spacing
    /// from its border.
    pub fn points(&self, spacing: f32) -> Result<Vec<Vec3>, FillError> {
        let (bounds, inside): (Aabb, Inside) = match self {
            Fill::Region(region) => {
                let bounds = region.bounds().ok_or(FillError::Unbounded)?;
                let region = region.shrunk(0.499 * spacing);
                (bounds, Inside::Region(region))
            }
            Fill::Mesh { mesh, within } => {
                let report = mesh.check();
                if !report.is_closed() {
                    return Err(FillError::Open(report.to_string()));
                }
                let mut bounds = mesh.aabb();
                if let Some(b) = within.bounds() {
                    bounds.min = bounds.min.max(b.min);
                    bounds.max = bounds.max.min(b.max);
                }
                let bvh = Bvh::build(mesh.clone());
                (bounds, Inside::Mesh(bvh, *within))
            }
        };
        let size = bounds.size().max(Vec3::ZERO);
        let cells = size / spacing + Vec3::splat(1e-3);
        let estimate = cells
            .to_array()
            .iter()
            .map(|&c| f64::from(c.max(1.0)))
            .product::<f64>();
        if estimate > MOST {
            return Err(FillError::TooMany {
                count: estimate,
                spacing,
            });
        }
        let count = cells.floor().as_uvec3();
        // Centre the lattice, so that what does not fit is shared by both sides.
        let origin = bounds.min + 0.5 * (size - spacing * (count.as_vec3() - Vec3::ONE));
        // Rows in parallel, put together in order.
        let points: Vec<Vec3> = (0..count.y * count.z)
            .into_par_iter()
            .flat_map_iter(|row| {
                let (iy, iz) = (row / count.z, row % count.z);
                let first = origin + spacing * Vec3::new(0.0, iy as f32, iz as f32);
                inside.row(first, spacing, count.x)
            })
            .collect();
        if points.is_empty() {
            return Err(FillError::Empty { spacing });
        }
        Ok(points)
    }

    /// Exactly `count` of [`Fill::points`]: those nearest to `near`.
    pub fn nearest(&self, spacing: f32, count: usize, near: Vec3) -> Result<Vec<Vec3>, FillError> {
        let mut points = self.points(spacing)?;
        if points.len() < count {
            return Err(FillError::TooFew {
                wanted: count,
                found: points.len(),
            });
        }
        points.sort_by(|a, b| {
            let (da, db) = ((*a - near).length_squared(), (*b - near).length_squared());
            da.total_cmp(&db)
        });
        points.truncate(count);
        Ok(points)
    }
}

/// What tells which lattice points are kept.
enum Inside {
    Region(Region),
    Mesh(Bvh, Region),
}

impl Inside {
    /// The points of a row along x that are kept.
    fn row(&self, first: Vec3, spacing: f32, count: u32) -> Vec<Vec3> {
        let along = |k: u32| first + spacing * Vec3::X * k as f32;
        match self {
            Inside::Region(region) => (0..count)
                .map(along)
                .filter(|p| region.contains(*p))
                .collect(),
            Inside::Mesh(bvh, within) => {
                let mut kept = Vec::new();
                let mut k = 0;
                while k < count {
                    let Some(d) = bvh.signed_distance(along(k)) else {
                        break;
                    };
                    // The wall is no nearer than `d` less the way from here, so the
                    // next points need no search.
                    let sure = ((d.abs() - 0.5 * spacing) / spacing).floor().max(0.0) as u32;
                    let end = (k + 1 + sure).min(count);
                    if d <= -0.5 * spacing {
                        kept.extend((k..end).map(along).filter(|p| within.contains(*p)));
                    }
                    k = end;
                }
                kept
            }
        }
    }
}

/// Moves points by up to `reach` metres along each axis, at random but always alike.
pub fn jitter(points: &mut [Vec3], reach: f32) {
    if reach <= 0.0 {
        return;
    }
    // Knuth's linear congruential generator; its upper bits, in -1..1.
    let mut state = 0u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    for p in points {
        *p += reach * Vec3::new(random(), random(), random());
    }
}

/// Presses a body of liquid together as its own weight does, so that it starts in
/// equilibrium instead of ringing: at depth z its density is 1 + g z / c² times that
/// at rest. The body stands on its lowest point.
pub fn settle(points: &mut [Vec3], spacing: f32, gravity: Vec3, sound_speed: f32) {
    let g = gravity.length();
    let Some(up) = (-gravity).try_normalize() else {
        return;
    };
    let heights = points.iter().map(|p| up.dot(*p));
    let bottom = heights.clone().fold(f32::INFINITY, f32::min) - 0.5 * spacing;
    let top = heights.fold(f32::NEG_INFINITY, f32::max) + 0.5 * spacing;
    let depth = top - bottom;
    for p in points {
        let y = up.dot(*p) - bottom;
        let sunk = g / (sound_speed * sound_speed) * (depth * y - 0.5 * y * y);
        *p -= sunk * up;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_holds_its_volume() {
        let fill = Fill::Region(Region::Box {
            min: Vec3::new(-0.5, 0.0, 0.25),
            max: Vec3::new(0.5, 0.2, 0.75),
        });
        let points = fill.points(0.05).unwrap();
        assert_eq!(points.len(), 20 * 4 * 10);
        assert!((fill.volume() - 1.0 * 0.2 * 0.5).abs() < 1e-6);
        for p in &points {
            assert!(p.x.abs() < 0.476 && p.y > 0.024 && p.z > 0.274);
        }
    }

    #[test]
    fn a_ball_holds_its_volume() {
        let fill = Fill::Region(Region::Sphere {
            center: Vec3::ONE,
            radius: 1.0,
        });
        let points = fill.points(0.05).unwrap();
        let volume = points.len() as f32 * 0.05f32.powi(3);
        let inner = 4.0 / 3.0 * std::f32::consts::PI * 0.975f32.powi(3);
        assert!((volume / inner - 1.0).abs() < 0.02, "{volume} {inner}");
    }

    #[test]
    fn a_settled_column_has_the_density_of_its_depth() {
        let (spacing, c) = (0.01, 20.0);
        let mut points: Vec<Vec3> = (0..100)
            .map(|i| Vec3::new(0.0, (i as f32 + 0.5) * spacing, 0.0))
            .collect();
        settle(&mut points, spacing, Vec3::new(0.0, -9.81, 0.0), c);
        for i in [5, 50, 95] {
            let gap = points[i + 1].y - points[i].y;
            let z = 1.0 - points[i].y;
            let expected = 1.0 + 9.81 * z / (c * c);
            assert!((spacing / gap - expected).abs() < 1e-3, "{i}");
        }
    }

    #[test]
    fn jitter_stays_near_and_has_no_preferred_direction() {
        let mut points = vec![Vec3::ONE; 3000];
        jitter(&mut points, 0.01);
        let shifts = points.iter().map(|p| *p - Vec3::ONE);
        assert!(shifts.clone().all(|d| d.abs().max_element() <= 0.010_001));
        let mean = shifts.clone().sum::<Vec3>() / points.len() as f32;
        // Four standard deviations of the mean of a uniform distribution.
        assert!(mean.abs().max_element() < 4.0 * 0.01 / (3.0 * 3000f32).sqrt());
        let furthest = shifts.fold(Vec3::ZERO, |a, d| a.max(d.abs()));
        assert!(furthest.min_element() > 0.0099);
        let mut still = vec![Vec3::ONE; 2];
        jitter(&mut still, 0.0);
        assert_eq!(still, [Vec3::ONE; 2]);
    }

    #[test]
    fn impossible_fills_are_explained() {
        let small = Fill::Region(Region::Sphere {
            center: Vec3::ZERO,
            radius: 0.01,
        });
        assert!(matches!(small.points(0.1), Err(FillError::Empty { .. })));
        let huge = Fill::Region(Region::Box {
            min: Vec3::splat(-1e5),
            max: Vec3::splat(1e5),
        });
        assert!(matches!(huge.points(0.01), Err(FillError::TooMany { .. })));
        let all = Fill::Region(Region::Everywhere);
        assert_eq!(all.points(0.1), Err(FillError::Unbounded));
        assert_eq!(all.volume(), f64::INFINITY);
    }
}
