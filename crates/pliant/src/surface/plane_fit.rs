//! Which particles of a body lie at its surface, and their normals by fitting
//! planes (Dingle 2007, section 5.2).

use std::cmp::Ordering;

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::eigen::symmetric_eigen;
use crate::math::Xyz;
use crate::space::{CellGrid, NeighbourSearch};

/// What a particle is to the surface of its body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlaneFit {
    /// Deep inside: nothing of it is seen.
    Inside,
    /// Nothing is near it: draw a ball, or nothing.
    Alone,
    /// At the surface, with the unit vector out of the body.
    Surface(Vec3),
}

/// Side of a cell in spacings: a full body has particles in every cell.
const CELL: f32 = 1.5;
/// A line that leaves a cell within this share of its side from an edge also looks
/// at the cells beyond that edge.
const EDGE: f32 = 0.2;

/// Finds the surface particles of a body by empty cells beside them, and fits a
/// plane to the `neighbours` nearest of each (10 to 50; fewer than 10 gives visible
/// errors where the body is strongly curved). Positions that are not finite are
/// alone.
pub fn plane_fit(positions: Xyz<'_>, spacing: f32, neighbours: usize) -> Vec<PlaneFit> {
    if !(spacing.is_finite() && spacing > 0.0) {
        return vec![PlaneFit::Alone; positions.len()];
    }
    let cells = Cells::new(positions, CELL * spacing);
    // A surface particle sees half a ball of neighbours.
    let wanted = neighbours.clamp(3, 200);
    let radius = spacing * (2.0 * wanted as f32 / 4.19).cbrt().max(1.5);
    let mut grid = CellGrid::new();
    let finite: Vec<Vec3> = positions
        .iter()
        .map(|p| if p.is_finite() { p } else { Vec3::ZERO })
        .collect();
    let places: crate::math::XyzVec = finite.iter().copied().collect();
    grid.build(places.view(), radius);
    (0..positions.len())
        .into_par_iter()
        .with_min_len(64)
        .map(|i| {
            let p = positions.get(i);
            if !p.is_finite() {
                return PlaneFit::Alone;
            }
            let cell = cells.of(p);
            if around().all(|o| cells.is_full(cell + o)) {
                return PlaneFit::Inside;
            }
            if around()
                .filter(|o| *o != IVec3::ZERO)
                .all(|o| !cells.is_full(cell + o))
            {
                return PlaneFit::Alone;
            }
            let mut near: Vec<(f32, u32)> = Vec::new();
            grid.for_each_within(places.view(), p, &mut |k| {
                near.push((finite[k as usize].distance_squared(p), k));
            });
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(wanted + 1);
            let (mut normal, middle) = fit(near.iter().map(|&(_, k)| finite[k as usize]));
            if near.len() < 4 {
                // No plane through so few: away from them.
                match (p - middle).try_normalize() {
                    Some(away) => normal = away,
                    None => return PlaneFit::Alone,
                }
            }
            PlaneFit::Surface(cells.outward(p, normal, middle))
        })
        .collect()
}

/// The normal of the plane through the centroid that is nearest to the points, in
/// either direction, and the centroid.
fn fit(points: impl Iterator<Item = Vec3> + Clone) -> (Vec3, Vec3) {
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    points.clone().for_each(|p| {
        sum += p;
        count += 1.0;
    });
    let middle = sum / count;
    let mut c = [0.0f32; 6];
    points.for_each(|p| {
        let e = p - middle;
        let products = [
            e.x * e.x,
            e.y * e.y,
            e.z * e.z,
            e.x * e.y,
            e.x * e.z,
            e.y * e.z,
        ];
        c.iter_mut().zip(products).for_each(|(s, v)| *s += v);
    });
    let (values, axes) = symmetric_eigen(c);
    (axes.col(values.min_position()), middle)
}

fn around() -> impl Iterator<Item = IVec3> {
    (0..27).map(|k| IVec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1))
}

/// Cells that hold particles.
struct Cells {
    side: f32,
    full: Vec<[i32; 3]>,
}

impl Cells {
    fn new(positions: Xyz<'_>, side: f32) -> Cells {
        let mut cells = Cells {
            side,
            full: Vec::new(),
        };
        let finite = positions.iter().filter(|p| p.is_finite());
        cells.full = finite.map(|p| cells.of(p).to_array()).collect();
        cells.full.par_sort_unstable();
        cells.full.dedup();
        cells
    }

    fn of(&self, p: Vec3) -> IVec3 {
        (p / self.side).floor().as_ivec3()
    }

    fn is_full(&self, cell: IVec3) -> bool {
        self.full.binary_search(&cell.to_array()).is_ok()
    }

    /// Turns a normal outwards by the cells that the line along it leads to.
    fn outward(&self, p: Vec3, normal: Vec3, middle: Vec3) -> Vec3 {
        let cell = self.of(p);
        let faces = [IVec3::X, IVec3::Y, IVec3::Z].map(|a| [a, -a]);
        let beside = faces.as_flattened().to_vec();
        let full: Vec<IVec3> = beside
            .into_iter()
            .filter(|&f| self.is_full(cell + f))
            .collect();
        let ahead = self.openness(p, cell, normal);
        let behind = self.openness(p, cell, -normal);
        // A thin tip: away from the one cell that it hangs on.
        if ahead > 0.0 && behind > 0.0 && full.len() == 1 {
            return -full[0].as_vec3();
        }
        // Whichever way leads out sooner; near an edge the cells beside it decide, and
        // last where the neighbours are.
        let out = |direction: Vec3| self.way_out(p, direction);
        let order = out(-normal)
            .cmp(&out(normal))
            .then(ahead.total_cmp(&behind))
            .then(normal.dot(p - middle).total_cmp(&0.0));
        if order == Ordering::Less {
            -normal
        } else {
            normal
        }
    }

    /// Quarter cells from `p` to the first empty cell along a direction, up to four
    /// cells.
    fn way_out(&self, p: Vec3, direction: Vec3) -> u32 {
        let step = 0.25 * self.side * direction;
        let first = (1..=16).find(|&k| !self.is_full(self.of(p + k as f32 * step)));
        first.unwrap_or(u32::MAX)
    }

    /// Share of empty cells where the line from `p` leaves its own: one cell behind a
    /// face; near an edge or a corner all cells there are asked.
    fn openness(&self, p: Vec3, cell: IVec3, direction: Vec3) -> f32 {
        let low = cell.as_vec3() * self.side;
        let wall = Vec3::select(direction.cmpge(Vec3::ZERO), low + self.side, low);
        let ways = ((wall - p) / direction).map(|t| if t.is_nan() { f32::INFINITY } else { t });
        let axis = ways.min_position();
        let exit = (p + ways[axis] * direction - low) / self.side;
        let mut steps = [[0, 0]; 3];
        for k in 0..3 {
            let sign = if direction[k] >= 0.0 { 1 } else { -1 };
            steps[k] = if k == axis {
                [sign, sign]
            } else if exit[k] < EDGE {
                [0, -1]
            } else if exit[k] > 1.0 - EDGE {
                [0, 1]
            } else {
                [0, 0]
            };
        }
        let empty = (0..8usize).filter(|bits| {
            let pick = |k: usize| steps[k][bits >> k & 1];
            !self.is_full(cell + IVec3::new(pick(0), pick(1), pick(2)))
        });
        empty.count() as f32 / 8.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::XyzVec;

    fn lattice(n: i32, d: f32, keep: impl Fn(Vec3) -> bool) -> XyzVec {
        let mut out = XyzVec::default();
        for z in -n..=n {
            for y in -n..=n {
                for x in -n..=n {
                    let p = d * Vec3::new(x as f32, y as f32, z as f32);
                    if keep(p) {
                        out.push(p);
                    }
                }
            }
        }
        out
    }

    #[test]
    fn normals_of_a_ball_point_outwards_and_its_middle_is_inside() {
        let d = 0.1;
        let ball = lattice(12, d, |p| p.length() < 1.15);
        let fits = plane_fit(ball.view(), d, 30);
        let mut angles = Vec::new();
        for (p, fit) in ball.view().iter().zip(&fits) {
            match fit {
                PlaneFit::Inside => assert!(p.length() < 1.12, "{p}"),
                PlaneFit::Surface(n) if p.length() > 1.02 => {
                    assert!(n.dot(p) > 0.0, "{n} at {p}");
                    angles.push(n.dot(p.normalize()).clamp(-1.0, 1.0).acos().to_degrees());
                }
                PlaneFit::Surface(_) => {}
                PlaneFit::Alone => panic!("{p} is not alone"),
            }
        }
        assert!(fits.iter().filter(|f| **f == PlaneFit::Inside).count() > 500);
        let mean = angles.iter().sum::<f32>() / angles.len() as f32;
        assert!(
            angles.len() > 500 && mean < 15.0,
            "{mean}° over {}",
            angles.len()
        );
    }

    #[test]
    fn lone_particles_and_tips_follow_their_rules() {
        let d = 0.1;
        let mut body = lattice(3, d, |_| true);
        let lone = body.len();
        body.push(Vec3::splat(5.0));
        body.push(Vec3::NAN);
        let fits = plane_fit(body.view(), d, 20);
        assert_eq!(fits[lone..], [PlaneFit::Alone, PlaneFit::Alone]);
        // A row of particles: both sides are open, the end hangs on one cell.
        let row: XyzVec = (0..12).map(|k| d * k as f32 * Vec3::X).collect();
        let fits = plane_fit(row.view(), d, 10);
        assert_eq!(fits[0], PlaneFit::Surface(Vec3::NEG_X));
        assert!(
            plane_fit(row.view(), f32::NAN, 10)
                .iter()
                .all(|f| *f == PlaneFit::Alone)
        );
    }
}
