//! The collapse of a column of an ideal liquid, without friction, by boundary elements:
//! what a dam break has to come to as particles get smaller.
//!
//! The flow has a potential φ. Floor and rear wall are planes of symmetry, so that only the
//! free surface, from the front on the floor to the crest at the rear wall, has unknowns:
//! there φ is known and its slope across the surface is solved for (Green's third identity,
//! linear elements, integrals in closed form). Points of the surface move with the liquid
//! and φ follows Bernoulli's law (Longuet-Higgins & Cokelet 1976), by Runge and Kutta's
//! method; after every step they are spread regularly again and smoothed by the five-point
//! formula of the same source.
//!
//! Lengths are in widths of the column, times in `sqrt(a / 2g)`, so that gravity is 1/2.

use std::f64::consts::PI;

/// Gravity in these units.
const GRAVITY: f64 = 0.5;
const STEP: f64 = 0.02;
/// Points at the front are as much closer than in the mean as this is above 0.
const CROWDING: f64 = 0.6;

/// A point of the free surface: x, y and the potential.
type Point = [f64; 3];

/// The free surface, from front to crest.
pub(super) struct IdealColumn {
    points: Vec<Point>,
    /// Mean distance between points.
    spacing: f64,
}

impl IdealColumn {
    /// A column of width 1 and height 2 at rest, with `across` points to its width, at most
    /// 32: more would need shorter steps. With 24 the front is 0.3 % from its limit.
    pub fn new(across: usize) -> IdealColumn {
        let side = |k: usize| k as f64 / across as f64;
        let front = (0..2 * across).map(|k| [1.0, side(k), 0.0]);
        let top = (0..=across).map(|k| [1.0 - side(k), 2.0, 0.0]);
        IdealColumn {
            points: front.chain(top).collect(),
            spacing: side(1),
        }
    }

    /// The front at times from 0 until `end`, as (T, Z).
    pub fn front(mut self, end: f64) -> Vec<(f64, f64)> {
        let mut front = vec![(0.0, 1.0)];
        for k in 1..=(end / STEP).ceil() as usize {
            self.advance();
            front.push((k as f64 * STEP, self.points[0][0]));
        }
        front
    }

    fn advance(&mut self) {
        let start = self.points.clone();
        let ahead = |rates: &[Point], time: f64| -> Vec<Point> {
            let moved = start.iter().zip(rates);
            moved
                .map(|(p, r)| std::array::from_fn(|c| p[c] + time * r[c]))
                .collect()
        };
        let first = rates(&start);
        let second = rates(&ahead(&first, 0.5 * STEP));
        let third = rates(&ahead(&second, 0.5 * STEP));
        let last = rates(&ahead(&third, STEP));
        let sum =
            |k: usize, c: usize| first[k][c] + 2.0 * (second[k][c] + third[k][c]) + last[k][c];
        for (k, p) in self.points.iter_mut().enumerate() {
            for (c, value) in p.iter_mut().enumerate() {
                *value += STEP / 6.0 * sum(k, c);
            }
        }
        self.spread();
        self.smooth();
    }

    /// Puts points at regular distances along the surface, by cubics through four of them.
    fn spread(&mut self) {
        let old = std::mem::take(&mut self.points);
        let mut along = vec![0.0];
        for w in old.windows(2) {
            let way = (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1]);
            along.push(along[along.len() - 1] + way);
        }
        let last = old.len() - 1;
        let length = along[last];
        let place = |k: isize| match k {
            k if k < 0 => -along[k.unsigned_abs()],
            k if k as usize > last => 2.0 * length - along[2 * last - k as usize],
            k => along[k as usize],
        };
        let count = (length / self.spacing).round() as usize;
        let mut piece = 0;
        for new in 0..=count {
            let s = length * crowded(new as f64 / count as f64);
            while piece + 2 < old.len() && along[piece + 1] < s {
                piece += 1;
            }
            let near: [isize; 4] = std::array::from_fn(|k| piece as isize + k as isize - 1);
            let mut point = [0.0; 3];
            for j in near {
                let others = near.iter().filter(|k| **k != j);
                let weight: f64 = others
                    .map(|k| (s - place(*k)) / (place(j) - place(*k)))
                    .product();
                let there = mirrored(&old, j);
                for (value, there) in point.iter_mut().zip(there) {
                    *value += weight * there;
                }
            }
            self.points.push(point);
        }
        self.close();
    }

    /// Takes out what changes its sign from point to point.
    fn smooth(&mut self) {
        const WEIGHTS: [f64; 5] = [-1.0, 4.0, 10.0, 4.0, -1.0];
        let old = self.points.clone();
        for (k, point) in self.points.iter_mut().enumerate() {
            *point = [0.0; 3];
            for (offset, weight) in (-2..).zip(WEIGHTS) {
                let there = mirrored(&old, k as isize + offset);
                for (value, there) in point.iter_mut().zip(there) {
                    *value += weight / 16.0 * there;
                }
            }
        }
        self.close();
    }

    /// The front is on the floor, the crest at the rear wall.
    fn close(&mut self) {
        let last = self.points.len() - 1;
        self.points[0][1] = 0.0;
        self.points[last][0] = 0.0;
    }
}

/// A share of the surface for every share of the points: they are closest at the front, and
/// their distance changes smoothly across both ends.
fn crowded(share: f64) -> f64 {
    share - CROWDING / PI * (PI * share).sin()
}

/// Point `k` of the surface, which goes on as its own image beyond its ends.
fn mirrored(points: &[Point], k: isize) -> Point {
    let last = points.len() - 1;
    if k < 0 {
        let [x, y, potential] = points[k.unsigned_abs()];
        return [x, -y, potential];
    }
    let k = k as usize;
    if k > last {
        let [x, y, potential] = points[2 * last - k];
        return [-x, y, potential];
    }
    points[k]
}

/// How fast points move, and their potentials change.
fn rates(points: &[Point]) -> Vec<Point> {
    let slopes = slopes_across(points);
    let last = points.len() - 1;
    let rate = |(k, across): (usize, f64)| {
        let at = |offset: isize| mirrored(points, k as isize + offset);
        let [far, near, next, beyond] = [at(-2), at(-1), at(1), at(2)];
        let derivative = |c: usize| (8.0 * (next[c] - near[c]) - (beyond[c] - far[c])) / 12.0;
        let [dx, dy, dp] = [derivative(0), derivative(1), derivative(2)];
        let size = dx.hypot(dy);
        let (tx, ty, along) = (dx / size, dy / size, dp / size);
        let u = if k == last {
            0.0
        } else {
            along * tx + across * ty
        };
        let v = if k == 0 {
            0.0
        } else {
            along * ty - across * tx
        };
        [u, v, 0.5 * (u * u + v * v) - GRAVITY * points[k][1]]
    };
    slopes.into_iter().enumerate().map(rate).collect()
}

/// The slope of the potential across the surface, outwards, at every point.
fn slopes_across(points: &[Point]) -> Vec<f64> {
    let n = points.len();
    // Σ_j slope_j G_ij = Σ_j (φ_j - φ_i) H_ij: a uniform potential has no slope.
    let mut equations: Vec<Vec<f64>> = Vec::with_capacity(n);
    for here in points {
        let mut row = vec![0.0; n + 1];
        for (j, w) in points.windows(2).enumerate() {
            for [sx, sy] in [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]] {
                let ends = [w[0], w[1]].map(|p| [sx * p[0] - here[0], sy * p[1] - here[1]]);
                let (single, mut double) = element(ends);
                if sx * sy < 0.0 {
                    // An image has its other side outwards.
                    double = double.map(|d| -d);
                }
                for k in 0..2 {
                    row[j + k] += single[k];
                    row[n] += double[k] * (w[k][2] - here[2]);
                }
            }
        }
        equations.push(row);
    }
    solve(equations)
}

/// Integrals of `ln r` and of its derivative across the element, each times the two shape
/// functions of the element between `ends`, as seen from the origin.
fn element([[ax, ay], [bx, by]]: [[f64; 2]; 2]) -> ([f64; 2], [f64; 2]) {
    let length = (bx - ax).hypot(by - ay);
    let (tx, ty) = ((bx - ax) / length, (by - ay) / length);
    // Along the element, and its distance on the outer side.
    let (from, off) = (ax * tx + ay * ty, ax * ty - ay * tx);
    let to = from + length;
    let log = |u: f64| 0.5 * (u * u + off * off).max(1e-300).ln();
    let (log_from, log_to) = (log(from), log(to));
    let angle = if off.abs() < 1e-12 {
        0.0
    } else {
        (to / off).atan() - (from / off).atan()
    };
    let square = |u: f64| u * u + off * off;
    let plain = to * log_to - from * log_from - length + off * angle;
    let moment =
        0.5 * (square(to) * log_to - square(from) * log_from) - 0.25 * (to * to - from * from);
    let single = (moment - from * plain) / length;
    let double = (off * (log_to - log_from) - from * angle) / length;
    ([plain - single, single], [angle - double, double])
}

/// Solves linear equations, each with its right side at its end, by elimination.
fn solve(mut equations: Vec<Vec<f64>>) -> Vec<f64> {
    let n = equations.len();
    for k in 0..n {
        let largest = (k..n).max_by(|a, b| {
            let [a, b] = [a, b].map(|r| equations[*r][k].abs());
            a.total_cmp(&b)
        });
        equations.swap(k, largest.unwrap_or(k));
        let (done, rest) = equations.split_at_mut(k + 1);
        let pivot = &done[k][k..];
        for row in rest {
            let factor = row[k] / pivot[0];
            for (value, p) in row[k..].iter_mut().zip(pivot) {
                *value -= factor * p;
            }
        }
    }
    let mut answer = vec![0.0; n];
    for k in (0..n).rev() {
        let row = &equations[k];
        let known: f64 = (k + 1..n).map(|j| row[j] * answer[j]).sum();
        answer[k] = (row[n] - known) / row[k];
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area, and kinetic plus potential energy.
    fn kept(column: &IdealColumn) -> [f64; 2] {
        let slopes = slopes_across(&column.points);
        let mut sums = [0.0; 2];
        for (k, w) in column.points.windows(2).enumerate() {
            let [a, b] = [w[0], w[1]];
            let (width, length) = (a[0] - b[0], (a[0] - b[0]).hypot(a[1] - b[1]));
            sums[0] += 0.5 * width * (a[1] + b[1]);
            let squares = (a[1] * a[1] + a[1] * b[1] + b[1] * b[1]) / 3.0;
            sums[1] += 0.5 * GRAVITY * width * squares;
            sums[1] += 0.25 * length * (a[2] * slopes[k] + b[2] * slopes[k + 1]);
        }
        sums
    }

    #[test]
    fn area_and_energy_are_kept() {
        let mut column = IdealColumn::new(24);
        let [area, energy] = kept(&column);
        for _ in 0..100 {
            column.advance();
        }
        let [area_then, energy_then] = kept(&column);
        assert!((area_then / area - 1.0).abs() < 0.005, "{area_then}");
        assert!((energy_then / energy - 1.0).abs() < 0.005, "{energy_then}");
    }

    #[test]
    fn twice_the_points_make_no_difference() {
        let [coarse, fine] = [12, 24].map(|across| IdealColumn::new(across).front(2.0));
        let [coarse, fine] = [coarse, fine].map(|front| front[front.len() - 1].1);
        assert!((coarse / fine - 1.0).abs() < 0.01, "{coarse} {fine}");
    }
}
