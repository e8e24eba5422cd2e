//! One iteration of the pressure equations, once the compression is known: by how much the
//! pressure of every particle changes.

use glam::Vec3A;

use super::pace::Sums;
use super::pressure_sums::row_of_pressure;
use crate::simd::{Lanes, Row, WIDTH, dispatch};

/// What the correction of all particles depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correction {
    pub dt: f32,
    /// Share of the step that the diagonal asks for.
    pub relaxation: f32,
    /// How far to extrapolate, in changes (Nesterov 1983).
    pub ahead: f32,
    /// Particles less full than this are free to come closer.
    pub fullest_free: f32,
}

/// What is known of the particles of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// Rates of compression, in 1/s.
    pub rates: &'a [f32],
    /// Compression that is to go in any case.
    pub due: &'a [f32],
    pub fullness: &'a [f32],
    pub inverse_diagonal: &'a [f32],
    pub x: &'a [Vec3A],
}

/// What the iteration changes.
pub(super) struct Changed<'a> {
    pub pressure: &'a mut [f32],
    /// The last change of pressure, and the pressure before extrapolation.
    pub change: &'a mut [f32],
    pub settled: &'a mut [f32],
    /// Compression that the last iteration found.
    pub excess: &'a mut [f32],
    /// Rows of the change, for the neighbours.
    pub pushing: &'a mut [Row],
}

impl Correction {
    /// Corrects the pressures of a chunk and adds up how that goes.
    pub fn apply(self, known: Known<'_>, changed: Changed<'_>) -> Sums {
        #[inline(always)]
        fn run<L: Lanes>(
            l: L,
            correction: Correction,
            known: Known<'_>,
            changed: Changed<'_>,
            sums: &mut Sums,
        ) {
            *sums = correction.run(l, known, changed);
        }
        let (correction, mut total) = (self, Sums::default());
        let sums = &mut total;
        dispatch!(run(
            correction: Correction,
            known: Known<'_>,
            changed: Changed<'_>,
            sums: &mut Sums,
        ));
        total
    }

    #[inline(always)]
    pub(super) fn run<L: Lanes>(self, l: L, known: Known<'_>, changed: Changed<'_>) -> Sums {
        let Changed {
            pressure,
            change,
            settled,
            excess: last,
            pushing,
        } = changed;
        let (zero, dt) = (l.splat(0.0), l.splat(self.dt));
        let scale = l.splat(1.0 / (self.dt * self.dt));
        let (relaxation, ahead) = (l.splat(self.relaxation), l.splat(self.ahead));
        let free = l.splat(self.fullest_free);
        let (mut response, mut squares, mut left) = (zero, zero, zero);
        for k in (0..pressure.len()).step_by(WIDTH) {
            let some = k..pressure.len().min(k + WIDTH);
            let read = |a: &[f32]| read(l, &a[some.clone()]);
            let (rate, due) = (read(known.rates), read(known.due));
            let compressed = l.add(due, l.mul(dt, rate));
            let counts = l.less(free, read(known.fullness));
            let excess = l.select(compressed, l.splat(-1.0), counts);
            let full_step = l.mul(scale, read(known.inverse_diagonal));
            let moves = l.less(zero, full_step);
            let (own, before) = (read(change), read(pressure));
            let answer = l.mul(own, l.sub(read(last), excess));
            response = l.add(response, l.keep(answer, moves));
            squares = l.add(squares, l.keep(l.div(l.mul(own, own), full_step), moves));
            let step = l.mul(relaxation, full_step);
            let next = l.max(l.add(before, l.mul(step, excess)), zero);
            // Compression still there, or pressure not needed any more.
            let way = l.max(l.sub(next, before), l.sub(before, next));
            left = l.add(left, l.keep(l.div(way, step), l.less(zero, way)));
            let onwards = l.mul(ahead, l.sub(next, read(settled)));
            let beyond = l.max(l.add(next, onwards), zero);
            for (out, v) in [
                (&mut *last, excess),
                (&mut *settled, next),
                (&mut *change, l.sub(beyond, before)),
                (&mut *pressure, beyond),
            ] {
                write(l, v, &mut out[some.clone()]);
            }
        }
        for ((row, &x), &change) in pushing.iter_mut().zip(known.x).zip(&*change) {
            *row = row_of_pressure(x, change);
        }
        Sums {
            compression: f64::from(l.sum(left)),
            response: f64::from(l.sum(response)),
            change: f64::from(l.sum(squares)),
        }
    }
}

/// Up to eight numbers, and zeros.
#[inline(always)]
fn read<L: Lanes>(l: L, a: &[f32]) -> L::F {
    if let Ok(eight) = a.try_into() {
        return l.numbers(eight);
    }
    let mut eight = [0.0; WIDTH];
    eight[..a.len()].copy_from_slice(a);
    l.numbers(&eight)
}

/// The first lanes of `v`.
#[inline(always)]
fn write<L: Lanes>(l: L, v: L::F, a: &mut [f32]) {
    let eight = l.to_array(v);
    if let Some(a) = a.as_mut_array::<WIDTH>() {
        *a = eight;
    } else {
        a.copy_from_slice(&eight[..a.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::test_random::Random;
    use crate::simd::Portable;

    const CORRECTION: Correction = Correction {
        dt: 2e-3,
        relaxation: 0.45,
        ahead: 0.6,
        fullest_free: 0.9,
    };

    /// Rates, dues, fullnesses, diagonals, pressures, changes, settled pressures, excesses.
    fn numbers(n: usize) -> [Vec<f32>; 8] {
        let mut random = Random(5);
        let mut some = |from: f32, to: f32| -> Vec<f32> {
            let numbers = (0..n).map(|_| from + (to - from) * 0.5 * (1.0 + random.next()));
            numbers.collect()
        };
        let mut diagonals = some(1e-3, 2e-3);
        diagonals[2] = 0.0;
        [
            some(-3.0, 3.0),
            some(-0.1, 0.1),
            some(0.8, 1.1),
            diagonals,
            some(0.0, 9.0),
            some(-2.0, 2.0),
            some(0.0, 9.0),
            some(-0.1, 0.1),
        ]
    }

    /// All that a correction changes, and its sums.
    fn corrected<L: Lanes>(l: L, n: usize) -> (Vec<f32>, Vec<Row>, [f64; 3]) {
        let [
            rates,
            due,
            fullness,
            inverse_diagonal,
            mut p,
            mut c,
            mut s,
            mut e,
        ] = numbers(n);
        let x = vec![Vec3A::new(1.0, 2.0, -3.0); n];
        let mut pushing = vec![Row::default(); n];
        let known = Known {
            rates: &rates,
            due: &due,
            fullness: &fullness,
            inverse_diagonal: &inverse_diagonal,
            x: &x,
        };
        let changed = Changed {
            pressure: &mut p,
            change: &mut c,
            settled: &mut s,
            excess: &mut e,
            pushing: &mut pushing,
        };
        let sums = CORRECTION.run(l, known, changed);
        let sums = [sums.compression, sums.response, sums.change];
        ([p, c, s, e].concat(), pushing, sums)
    }

    /// One particle after the other.
    fn plain(n: usize) -> (Vec<f32>, [f64; 3]) {
        let [
            rates,
            due,
            fullness,
            inverse_diagonal,
            mut p,
            mut c,
            mut s,
            mut e,
        ] = numbers(n);
        let Correction { dt, .. } = CORRECTION;
        let mut sums = [0.0; 3];
        for k in 0..n {
            let excess = if fullness[k] > CORRECTION.fullest_free {
                due[k] + dt * rates[k]
            } else {
                -1.0
            };
            let full_step = 1.0 / (dt * dt) * inverse_diagonal[k];
            if full_step > 0.0 {
                sums[1] += f64::from(c[k] * (e[k] - excess));
                sums[2] += f64::from(c[k] * c[k] / full_step);
            }
            e[k] = excess;
            let step = CORRECTION.relaxation * full_step;
            let next = (p[k] + step * excess).max(0.0);
            if next != p[k] {
                sums[0] += f64::from((next - p[k]).abs() / step);
            }
            let beyond = (next + CORRECTION.ahead * (next - s[k])).max(0.0);
            s[k] = next;
            c[k] = beyond - p[k];
            p[k] = beyond;
        }
        ([p, c, s, e].concat(), sums)
    }

    #[test]
    fn eight_at_a_time_are_corrected_as_one_is_on_all_processors() {
        for n in [3, 16, 29] {
            let (values, rows, sums) = corrected(Portable, n);
            let (right, right_sums) = plain(n);
            assert_eq!(values, right);
            for (sum, right) in sums.iter().zip(right_sums) {
                assert!(
                    (sum - right).abs() < 1e-5 * right.abs() + 1e-6,
                    "{sum} {right}"
                );
            }
            for (row, change) in rows.iter().zip(&values[n..]) {
                let c = f64::from(*change);
                assert_eq!(*row, Row([c, 2.0 * c, -3.0 * c, c]));
            }
            #[cfg(target_arch = "x86_64")]
            {
                let portable = (values, rows, sums);
                if let Some(avx2) = crate::simd::Avx2::detect() {
                    assert!(corrected(avx2, n) == portable);
                }
                if let Some(avx512) = crate::simd::Avx512::detect() {
                    assert!(corrected(avx512, n) == portable);
                }
            }
        }
    }
}
