//! Shape matching (Müller et al. 2005): points are drawn towards where the shape at
//! rest would be if it were turned, stretched or bent to fit them best. It has no
//! forces and cannot overshoot, so it is stable for any step, and it is not a material:
//! how stiff a body is depends on the size of its clusters.

use glam::{DMat3, Mat3A, Quat, Vec3, Vec3A};
use rayon::prelude::*;

use super::contact::Environment;
use super::corotational::rotation;
use super::explicit::Moving;
use super::patches::group_by;
use super::rigid_motion::RigidMotion;
use super::settings::{Fit, ShapeMatching};
use crate::crew::Spread;
use crate::mesh::TetMesh;

/// The time to which `stiffness` refers, in seconds.
const PERIOD: f32 = 0.01;
/// Added to the diagonal of the moments, as a share of the mass: clusters that are
/// flat or have few points still have an inverse.
const REGULAR: f64 = 1e-6;
/// Terms of a quadratic map: x, y, z, x², y², z², xy, yz, zx.
const TERMS: usize = 9;

type Moments = [[f64; TERMS]; TERMS];

/// What shape matching knows of a body.
#[derive(Clone, Debug)]
pub(super) struct MatchedBody {
    settings: ShapeMatching,
    pub clusters: Vec<Cluster>,
    /// Points of all clusters, one list after the other.
    points: Vec<u32>,
    /// Goal of every entry of `points`, as a displacement.
    goal: Vec<Vec3A>,
    /// Entries of point i: `copies[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    copies: Vec<u32>,
}

/// Points that keep a shape together.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    range: std::ops::Range<usize>,
    /// The last rotation: where the search for the next begins.
    pub rotation: Quat,
    center: Vec3A,
    /// Rest places from the centre, over `size`, so that all terms are near 1.
    rest: Vec<Vec3A>,
    size: f32,
    mass: Vec<f32>,
    /// Inverse of the moments Σ m q qᵀ of the terms that the fit has.
    inverse: Box<Moments>,
    /// A third of the trace of the linear moments.
    spread: f32,
}

impl MatchedBody {
    pub fn new(settings: ShapeMatching, mesh: &TetMesh, mass: &[f32]) -> MatchedBody {
        let mut points = Vec::new();
        let mut clusters = Vec::new();
        for list in groups(mesh, settings.cluster) {
            let range = points.len()..points.len() + list.len();
            clusters.push(Cluster::new(&settings, &list, range, mesh, mass));
            points.extend(list);
        }
        let (start, copies) = group_by(mesh.points.len(), points.iter().copied());
        MatchedBody {
            settings,
            clusters,
            goal: vec![Vec3A::ZERO; points.len()],
            points,
            start,
            copies,
        }
    }

    /// Moves all points by `h` seconds.
    pub fn step(&mut self, state: &mut Moving<'_>, h: f32, around: &Environment<'_>) {
        // Where points go by themselves.
        let before: Vec<Vec3A> = state.displacement.to_vec();
        for i in 0..before.len() {
            let w = state.inverse_mass[i];
            if w > 0.0 {
                let place = state.rest[i] + Vec3::from(state.displacement[i]);
                let outer = around.acceleration(place, state.velocity[i].into());
                state.velocity[i] += h * Vec3A::from(outer + w * state.load[i]);
            }
            state.displacement[i] += h * state.velocity[i];
        }
        let (points, settings) = (&self.points, &self.settings);
        let shared: &[Vec3A] = state.displacement;
        let mut goals: &mut [Vec3A] = &mut self.goal;
        let mut work = Vec::with_capacity(self.clusters.len());
        for cluster in &mut self.clusters {
            let (own, others) = std::mem::take(&mut goals).split_at_mut(cluster.rest.len());
            goals = others;
            work.push((cluster, own));
        }
        work.into_par_iter().spread(|(cluster, goal)| {
            let list = &points[cluster.range.clone()];
            cluster.fit(settings, list, state.rest, shared, goal);
        });
        let share = 1.0 - (1.0 - self.settings.stiffness).powf(h / PERIOD);
        let mut ways: Vec<Vec3A> = Vec::with_capacity(before.len());
        for (i, &u) in state.displacement.iter().enumerate() {
            let copies = &self.copies[self.start[i] as usize..self.start[i + 1] as usize];
            let sum = copies
                .iter()
                .fold(Vec3A::ZERO, |sum, &c| sum + self.goal[c as usize]);
            ways.push(share * (sum / copies.len().max(1) as f32 - u));
        }
        if self.clusters.len() > 1 && state.inverse_mass.iter().all(|&w| w > 0.0) {
            // Means of goals move the whole: a body cannot push itself.
            let place = |i: usize| state.rest[i] + Vec3::from(state.displacement[i]);
            let points = ways.iter().zip(state.inverse_mass).enumerate();
            let whole = RigidMotion::fit(
                points.map(|(i, (way, w))| (f64::from(w.recip()), place(i), Vec3::from(*way))),
            );
            for (i, way) in ways.iter_mut().enumerate() {
                *way -= Vec3A::from(whole.at(place(i)));
            }
        }
        for (i, (before, way)) in before.into_iter().zip(ways).enumerate() {
            if state.inverse_mass[i] > 0.0 {
                state.displacement[i] += way;
                state.velocity[i] = (state.displacement[i] - before) / h;
            }
        }
    }

    pub fn bytes(&self) -> usize {
        let own = |c: &Cluster| 8 * TERMS * TERMS + 20 * c.rest.len();
        24 * self.points.len() + 4 * self.start.len() + self.clusters.iter().map(own).sum::<usize>()
    }
}

impl Cluster {
    fn new(
        settings: &ShapeMatching,
        list: &[u32],
        range: std::ops::Range<usize>,
        mesh: &TetMesh,
        mass: &[f32],
    ) -> Cluster {
        let mass: Vec<f32> = list.iter().map(|&i| mass[i as usize]).collect();
        let total: f32 = mass.iter().sum();
        let places = list.iter().map(|&i| Vec3A::from(mesh.points[i as usize]));
        let center = places
            .clone()
            .zip(&mass)
            .fold(Vec3A::ZERO, |sum, (p, m)| sum + *m * p)
            / total;
        let size = places
            .clone()
            .map(|p| p.distance(center))
            .fold(f32::MIN_POSITIVE, f32::max);
        let rest: Vec<Vec3A> = places.map(|p| (p - center) / size).collect();
        let terms = settings.fit.terms();
        let mut moments = Box::new([[0.0; TERMS]; TERMS]);
        for (q, m) in rest.iter().zip(&mass) {
            let q = powers(*q).map(f64::from);
            for (row, a) in moments.iter_mut().zip(q).take(terms) {
                for (value, b) in row.iter_mut().zip(q).take(terms) {
                    *value += f64::from(*m) * a * b;
                }
            }
        }
        let spread = (moments[0][0] + moments[1][1] + moments[2][2]) / 3.0;
        for (a, row) in moments.iter_mut().enumerate().take(terms) {
            row[a] += REGULAR * f64::from(total);
        }
        Cluster {
            range,
            rotation: Quat::IDENTITY,
            center,
            rest,
            size,
            mass,
            inverse: inverse(moments, terms),
            spread: spread as f32,
        }
    }

    /// Finds the shape that fits the points best, and writes where it has them.
    fn fit(
        &mut self,
        settings: &ShapeMatching,
        list: &[u32],
        rest: &[Vec3],
        displacement: &[Vec3A],
        goal: &mut [Vec3A],
    ) {
        let place = |i: u32| Vec3A::from(rest[i as usize]) + displacement[i as usize];
        let total: f32 = self.mass.iter().sum();
        let center = list
            .iter()
            .zip(&self.mass)
            .fold(Vec3A::ZERO, |sum, (&i, m)| {
                sum + *m * (place(i) - self.center)
            })
            / total
            + self.center;
        let terms = settings.fit.terms();
        // Σ m p qᵀ, column by column.
        let mut moments = [Vec3A::ZERO; TERMS];
        for ((&i, m), q) in list.iter().zip(&self.mass).zip(&self.rest) {
            let p = *m * (place(i) - center);
            for (moment, q) in moments[..terms].iter_mut().zip(powers(*q)) {
                *moment += p * q;
            }
        }
        let linear = Mat3A::from_cols(moments[0], moments[1], moments[2]);
        let scale = 1.0 / (self.size * self.spread).max(f32::MIN_POSITIVE);
        self.rotation = rotation(linear * scale, self.rotation);
        let turn = Mat3A::from_quat(self.rotation) * self.size;
        let beta = settings.yielding;
        // The best map of the terms, mixed with the rotation.
        let mut map = [Vec3A::ZERO; TERMS];
        if settings.fit != Fit::Rigid {
            for (a, column) in map[..terms].iter_mut().enumerate() {
                for (b, moment) in moments[..terms].iter().enumerate() {
                    *column += *moment * self.inverse[b][a] as f32;
                }
            }
            if settings.fit == Fit::Linear {
                keep_volume(&mut map, self.size);
            }
            map.iter_mut().for_each(|column| *column *= beta);
        }
        let stiff = if settings.fit == Fit::Rigid {
            1.0
        } else {
            1.0 - beta
        };
        for (column, turned) in map.iter_mut().zip([turn.x_axis, turn.y_axis, turn.z_axis]) {
            *column += stiff * turned;
        }
        for ((goal, &i), q) in goal.iter_mut().zip(list).zip(&self.rest) {
            let shape = map[..terms]
                .iter()
                .zip(powers(*q))
                .fold(Vec3A::ZERO, |sum, (column, q)| sum + *column * q);
            *goal = shape + (center - Vec3A::from(rest[i as usize]));
        }
    }
}

/// Moves a linear map towards the nearest one that keeps volumes: along the gradient of its
/// determinant, which gives most where the map has lost most. The way is bounded as the map
/// becomes flat, a line or inside out; growing without bound there, or scaling what is wide
/// together with what is flat, would make energy out of nothing.
fn keep_volume(map: &mut [Vec3A; TERMS], size: f32) {
    let [a, b, c] = [map[0], map[1], map[2]].map(|column| column / size);
    let gradient = [b.cross(c), c.cross(a), a.cross(b)];
    let steepness: f32 = gradient.iter().map(|g| g.length_squared()).sum();
    let way = (1.0 - a.dot(gradient[0])) / steepness.max(1.0);
    for (column, gradient) in map.iter_mut().zip(gradient) {
        *column += way * size * gradient;
    }
}

fn powers(q: Vec3A) -> [f32; TERMS] {
    let [x, y, z] = q.to_array();
    [x, y, z, x * x, y * y, z * z, x * y, y * z, z * x]
}

/// Overlapping boxes of points: every point is in up to eight. One box if no size is
/// given.
fn groups(mesh: &TetMesh, cluster: Option<f32>) -> Vec<Vec<u32>> {
    let all = || 0..mesh.points.len() as u32;
    let Some(side) = cluster else {
        return vec![all().collect()];
    };
    let low = mesh.aabb().min;
    let mut keyed: Vec<([i32; 3], u32)> = Vec::new();
    for i in all() {
        // Boxes are two sides wide and one apart.
        let cell = ((mesh.points[i as usize] - low) / side).floor().as_ivec3();
        for k in 0..8 {
            let shift = glam::IVec3::new(k & 1, k >> 1 & 1, k >> 2);
            keyed.push(((cell - shift).to_array(), i));
        }
    }
    keyed.sort_unstable();
    keyed
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| group.iter().map(|(_, i)| *i).collect())
        .collect()
}

/// The inverse of the first `terms` rows and columns, by elimination with pivots.
fn inverse(mut a: Box<Moments>, terms: usize) -> Box<Moments> {
    if terms == 3 {
        let m =
            DMat3::from_cols_array_2d(&std::array::from_fn(|c| std::array::from_fn(|r| a[r][c])))
                .inverse();
        let mut out = Box::new([[0.0; TERMS]; TERMS]);
        for (r, row) in out.iter_mut().take(3).enumerate() {
            for (c, value) in row.iter_mut().take(3).enumerate() {
                *value = m.col(c)[r];
            }
        }
        return out;
    }
    let mut out = Box::new([[0.0; TERMS]; TERMS]);
    for (k, row) in out.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    for k in 0..terms {
        let pivot = (k..terms)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .unwrap_or(k);
        a.swap(k, pivot);
        out.swap(k, pivot);
        let scale = 1.0 / a[k][k];
        for c in 0..terms {
            a[k][c] *= scale;
            out[k][c] *= scale;
        }
        for r in (0..terms).filter(|&r| r != k) {
            let factor = a[r][k];
            for c in 0..terms {
                a[r][c] -= factor * a[k][c];
                out[r][c] -= factor * out[k][c];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetBlock;
    use crate::observe::Totals;
    use crate::solid::{Solid, SolidModel, SolidSettings};
    use crate::world::Matter;

    fn body(fit: Fit, cluster: Option<f32>) -> Solid {
        let mesh = TetBlock {
            min: Vec3::new(0.0, 0.0, 0.0),
            max: Vec3::new(0.4, 0.1, 0.1),
            cells: [8, 2, 2],
        };
        let model = SolidModel::Matching(ShapeMatching {
            fit,
            cluster,
            ..ShapeMatching::default()
        });
        Solid::new(SolidSettings::new("body", model), mesh.build().unwrap()).unwrap()
    }

    fn all() -> [(Fit, Option<f32>); 4] {
        [
            (Fit::Rigid, None),
            (Fit::Linear, None),
            (Fit::Quadratic, None),
            (Fit::Linear, Some(0.1)),
        ]
    }

    fn distance_from_rest(body: &Solid) -> f32 {
        // Up to a motion of the whole: compare distances to the first point.
        let (rest, now) = (&body.rest().points, body.positions());
        (1..rest.len())
            .map(|i| (rest[i].distance(rest[0]) - now.get(i).distance(now.get(0))).abs())
            .fold(0.0, |a, b| if b.is_nan() { f32::NAN } else { b.max(a) })
    }

    #[test]
    fn a_body_at_rest_stays_and_a_flat_or_turned_one_returns() {
        let around = Environment::new(Vec3::ZERO, &[], []);
        for (fit, cluster) in all() {
            let mut still = body(fit, cluster);
            (0..20).for_each(|_| drop(still.advance(0.005, &around)));
            assert!(distance_from_rest(&still) < 1e-5, "{fit:?}");
            let mut flat = body(fit, cluster);
            let turn = Quat::from_scaled_axis(Vec3::new(1.0, 0.4, -2.0));
            flat.put(|p| turn * Vec3::new(p.x, 0.02 * p.y, p.z), |_| Vec3::ZERO);
            (0..2000).for_each(|_| drop(flat.advance(0.005, &around)));
            let left = distance_from_rest(&flat);
            assert!(left < 0.01, "{fit:?} {cluster:?}: {left}");
        }
    }

    #[test]
    fn momentum_is_kept_while_it_vibrates() {
        let around = Environment::new(Vec3::ZERO, &[], []);
        for (fit, cluster) in all() {
            let mut body = body(fit, cluster);
            let spin = Vec3::new(1.0, 2.0, -1.0);
            body.put(|p| 1.1 * p, |p| Vec3::X + spin.cross(p));
            let before = Totals::of(&body.points(), Vec3::ZERO).momentum;
            (0..100).for_each(|_| drop(body.advance(0.005, &around)));
            let after = Totals::of(&body.points(), Vec3::ZERO).momentum;
            let lost = (after - before).length() / before.length();
            assert!(lost < 1e-3, "{fit:?} {cluster:?}: {lost}");
        }
    }

    /// What the fit can describe is not pulled back at once when it yields fully.
    #[test]
    fn a_yielding_fit_follows_what_it_can_describe() {
        let around = Environment::new(Vec3::ZERO, &[], []);
        let kept = |fit: Fit| {
            let mut body = body(fit, None);
            if let super::super::state::Body::Matched(own) = &mut body.body {
                own.settings.yielding = 1.0;
            }
            // Bent to an arc: a quadratic of x.
            body.put(|p| p + Vec3::new(0.0, p.x * p.x, 0.0), |_| Vec3::ZERO);
            let before = distance_from_rest(&body);
            (0..5).for_each(|_| drop(body.advance(0.005, &around)));
            distance_from_rest(&body) / before
        };
        assert!(kept(Fit::Quadratic) > 0.95, "{}", kept(Fit::Quadratic));
        assert!(kept(Fit::Rigid) < 0.6, "{}", kept(Fit::Rigid));
    }
}
