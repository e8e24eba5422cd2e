//! One iteration of the pressure equations, particle by particle: how compressed they are and
//! what the last step has done about it; then, when that is known of all, the next step.

use glam::Vec3A;

use super::pace::{Pace, Sums};
use super::pressure_sums::row_of_pressure;
use crate::simd::{Lanes, Row, WIDTH, dispatch};

/// What is left to do is measured by a step of this share of what the diagonal asks for:
/// pressure that is not needed any more counts by the compression that it stands for.
const YARDSTICK: f32 = 0.45;

/// What is asked of all particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub dt: f32,
    /// Particles less full than this are free to come closer.
    pub fullest_free: f32,
    /// The last step; none before the first.
    pub last: Option<Pace>,
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
    pub pressure: &'a [f32],
    pub direction: &'a [f32],
}

/// What the question finds out: compression, and how much of it a step along the direction
/// takes away.
pub(super) struct Answered<'a> {
    pub excess: &'a mut [f32],
    pub answer: &'a mut [f32],
}

/// A step of all particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub dt: f32,
    pub pace: Pace,
}

/// What a step of a chunk depends on.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    pub excess: &'a [f32],
    pub answer: &'a [f32],
    pub inverse_diagonal: &'a [f32],
    pub x: &'a [Vec3A],
}

/// What it changes.
pub(super) struct Changed<'a> {
    pub pressure: &'a mut [f32],
    pub direction: &'a mut [f32],
    /// By how much the pressures change.
    pub change: &'a mut [f32],
    /// Rows of the change, for the neighbours.
    pub pushing: &'a mut [Row],
}

impl Question {
    /// Asks a chunk, and adds up what [`Pace`] needs.
    pub fn ask(self, known: Known<'_>, found: Answered<'_>) -> Sums {
        #[inline(always)]
        fn run<L: Lanes>(
            l: L,
            question: Question,
            known: Known<'_>,
            found: Answered<'_>,
            sums: &mut Sums,
        ) {
            *sums = question.run(l, known, found);
        }
        let (question, mut total) = (self, Sums::default());
        let sums = &mut total;
        dispatch!(run(
            question: Question,
            known: Known<'_>,
            found: Answered<'_>,
            sums: &mut Sums,
        ));
        total
    }

    #[inline(always)]
    fn run<L: Lanes>(self, l: L, known: Known<'_>, found: Answered<'_>) -> Sums {
        let (zero, dt) = (l.splat(0.0), l.splat(self.dt));
        let scale = l.splat(1.0 / (self.dt * self.dt));
        let free = l.splat(self.fullest_free);
        // Before the first step there is no answer.
        let made = l.splat(self.last.map_or(0.0, |p| 1.0 / p.at_once));
        let made_good = l.splat(self.last.map_or(0.0, |p| p.made_good));
        let [mut left, mut surplus] = [zero; 2];
        let [mut along, mut stiffness, mut mixed, mut answered] = [zero; 4];
        for k in (0..known.rates.len()).step_by(WIDTH) {
            let some = k..known.rates.len().min(k + WIDTH);
            let read = |a: &[f32]| read(l, &a[some.clone()]);
            let compressed = l.add(read(known.due), l.mul(dt, read(known.rates)));
            let counts = l.less(free, read(known.fullness));
            let excess = l.select(compressed, l.splat(-1.0), counts);
            let full_step = l.mul(scale, read(known.inverse_diagonal));
            let moves = l.less(zero, full_step);
            let (pressure, direction) = (read(known.pressure), read(known.direction));
            let gone = l.sub(read(found.excess), excess);
            let answer = l.sub(gone, l.mul(made_good, read(found.answer)));
            let answer = l.mul(made, answer);
            along = l.add(along, l.mul(direction, excess));
            stiffness = l.add(stiffness, l.mul(direction, answer));
            let takes_part = l.and(moves, l.less(zero, l.max(pressure, excess)));
            let weighed = l.keep(l.mul(full_step, answer), takes_part);
            mixed = l.add(mixed, l.mul(weighed, excess));
            answered = l.add(answered, l.mul(weighed, answer));
            // Compression still there, or pressure not needed any more.
            let step = l.mul(l.splat(YARDSTICK), full_step);
            let next = l.max(l.add(pressure, l.mul(step, excess)), zero);
            let way = l.sub(next, pressure);
            left = l.add(left, l.keep(l.div(way, step), l.less(zero, way)));
            surplus = l.sub(surplus, l.keep(l.div(way, step), l.less(way, zero)));
            write(l, excess, &mut found.excess[some.clone()]);
            write(l, answer, &mut found.answer[some]);
        }
        let sum = |v: L::F| f64::from(l.sum(v));
        Sums {
            compression: sum(left),
            surplus: sum(surplus),
            along: sum(along),
            stiffness: sum(stiffness),
            mixed: sum(mixed),
            answered: sum(answered),
        }
    }
}

impl Step {
    /// Changes the pressures of a chunk.
    pub fn take(self, measured: Measured<'_>, changed: Changed<'_>) {
        #[inline(always)]
        fn run<L: Lanes>(l: L, step: Step, measured: Measured<'_>, changed: Changed<'_>) {
            step.run(l, measured, changed);
        }
        let step = self;
        dispatch!(run(step: Step, measured: Measured<'_>, changed: Changed<'_>));
    }

    #[inline(always)]
    fn run<L: Lanes>(self, l: L, measured: Measured<'_>, changed: Changed<'_>) {
        let zero = l.splat(0.0);
        let scale = l.splat(1.0 / (self.dt * self.dt));
        let (made_good, kept) = (l.splat(self.pace.made_good), l.splat(self.pace.kept));
        let (at_once, inverse) = (self.pace.at_once, 1.0 / self.pace.at_once);
        let (at_once, inverse) = (l.splat(at_once), l.splat(inverse));
        let Changed {
            pressure,
            direction,
            change,
            pushing,
        } = changed;
        for k in (0..pressure.len()).step_by(WIDTH) {
            let some = k..pressure.len().min(k + WIDTH);
            let read = |a: &[f32]| read(l, &a[some.clone()]);
            let (before, last) = (read(pressure), read(direction));
            let excess = read(measured.excess);
            let full_step = l.mul(scale, read(measured.inverse_diagonal));
            let moves = l.less(zero, full_step);
            let takes_part = l.and(moves, l.less(zero, l.max(before, excess)));
            // What will be left when the last step has been made good.
            let left = l.sub(excess, l.mul(made_good, read(measured.answer)));
            let next = l.add(l.mul(full_step, left), l.mul(kept, last));
            let next = l.keep(next, takes_part);
            let settled = l.max(l.add(before, l.mul(made_good, last)), zero);
            let after = l.max(l.add(settled, l.mul(at_once, next)), zero);
            // What has been cut off there is not part of the direction: its answer is that of
            // what has been done.
            let next = l.mul(inverse, l.sub(after, settled));
            for (out, v) in [
                (&mut *direction, next),
                (&mut *change, l.sub(after, before)),
                (&mut *pressure, after),
            ] {
                write(l, v, &mut out[some.clone()]);
            }
        }
        for ((row, &x), &change) in pushing.iter_mut().zip(measured.x).zip(&*change) {
            *row = row_of_pressure(x, change);
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

    const LAST: Pace = Pace {
        made_good: 0.3,
        kept: 0.6,
        at_once: 0.7,
    };
    const QUESTION: Question = Question {
        dt: 2e-3,
        fullest_free: 0.9,
        last: Some(LAST),
    };
    const STEP: Step = Step {
        dt: 2e-3,
        pace: Pace {
            made_good: -0.1,
            kept: 0.4,
            at_once: 0.5,
        },
    };

    /// What an iteration reads and writes.
    struct Particles {
        rates: Vec<f32>,
        due: Vec<f32>,
        fullness: Vec<f32>,
        inverse_diagonal: Vec<f32>,
        pressure: Vec<f32>,
        direction: Vec<f32>,
        excess: Vec<f32>,
        answer: Vec<f32>,
    }

    fn particles(n: usize) -> Particles {
        let mut random = Random(5);
        let mut some = |from: f32, to: f32| -> Vec<f32> {
            let numbers = (0..n).map(|_| from + (to - from) * 0.5 * (1.0 + random.next()));
            numbers.collect()
        };
        let mut inverse_diagonal = some(1e-3, 2e-3);
        inverse_diagonal[2] = 0.0;
        Particles {
            rates: some(-3.0, 3.0),
            due: some(-0.1, 0.1),
            fullness: some(0.8, 1.1),
            inverse_diagonal,
            pressure: some(-9.0, 9.0).iter().map(|p| p.max(0.0)).collect(),
            direction: some(-2.0, 2.0),
            excess: some(-0.1, 0.1),
            answer: some(-0.1, 0.1),
        }
    }

    /// An iteration, eight particles at a time: all that it changes, and its sums.
    fn in_lanes<L: Lanes>(l: L, n: usize) -> (Vec<f32>, Vec<Row>, [f64; 6]) {
        let mut p = particles(n);
        let known = Known {
            rates: &p.rates,
            due: &p.due,
            fullness: &p.fullness,
            inverse_diagonal: &p.inverse_diagonal,
            pressure: &p.pressure,
            direction: &p.direction,
        };
        let found = Answered {
            excess: &mut p.excess,
            answer: &mut p.answer,
        };
        let sums = QUESTION.run(l, known, found);
        let x = vec![Vec3A::new(1.0, 2.0, -3.0); n];
        let (mut change, mut pushing) = (vec![0.0; n], vec![Row::default(); n]);
        let measured = Measured {
            excess: &p.excess,
            answer: &p.answer,
            inverse_diagonal: &p.inverse_diagonal,
            x: &x,
        };
        let changed = Changed {
            pressure: &mut p.pressure,
            direction: &mut p.direction,
            change: &mut change,
            pushing: &mut pushing,
        };
        STEP.run(l, measured, changed);
        let sums = [
            sums.compression,
            sums.surplus,
            sums.along,
            sums.stiffness,
            sums.mixed,
            sums.answered,
        ];
        let changed = [change, p.excess, p.answer, p.pressure, p.direction];
        (changed.concat(), pushing, sums)
    }

    /// The same, one particle after the other.
    fn plain(n: usize) -> (Vec<f32>, [f64; 6]) {
        let mut p = particles(n);
        let mut change = vec![0.0; n];
        let mut sums = [0.0; 6];
        let (scale, pace) = (1.0 / (STEP.dt * STEP.dt), STEP.pace);
        for (k, change) in change.iter_mut().enumerate() {
            let excess = if p.fullness[k] > QUESTION.fullest_free {
                p.due[k] + QUESTION.dt * p.rates[k]
            } else {
                -1.0
            };
            let gone = p.excess[k] - excess;
            let answer = 1.0 / LAST.at_once * (gone - LAST.made_good * p.answer[k]);
            (p.excess[k], p.answer[k]) = (excess, answer);
            let full_step = scale * p.inverse_diagonal[k];
            let takes_part = full_step > 0.0 && p.pressure[k].max(excess) > 0.0;
            let weighed = if takes_part { full_step * answer } else { 0.0 };
            let next = (p.pressure[k] + YARDSTICK * full_step * excess).max(0.0);
            if next != p.pressure[k] {
                let left = f64::from((next - p.pressure[k]) / (YARDSTICK * full_step));
                sums[usize::from(left < 0.0)] += left.abs();
            }
            sums[2] += f64::from(p.direction[k] * excess);
            sums[3] += f64::from(p.direction[k] * answer);
            sums[4] += f64::from(weighed * excess);
            sums[5] += f64::from(weighed * answer);

            let (before, last) = (p.pressure[k], p.direction[k]);
            let next = if takes_part {
                full_step * (excess - pace.made_good * answer) + pace.kept * last
            } else {
                0.0
            };
            let settled = (before + pace.made_good * last).max(0.0);
            p.pressure[k] = (settled + pace.at_once * next).max(0.0);
            p.direction[k] = 1.0 / pace.at_once * (p.pressure[k] - settled);
            *change = p.pressure[k] - before;
        }
        let changed = [change, p.excess, p.answer, p.pressure, p.direction];
        (changed.concat(), sums)
    }

    #[test]
    fn eight_at_a_time_are_corrected_as_one_is_on_all_processors() {
        for n in [3, 16, 29] {
            let (values, rows, sums) = in_lanes(Portable, n);
            let (right, right_sums) = plain(n);
            assert_eq!(values, right);
            for (sum, right) in sums.iter().zip(right_sums) {
                assert!(
                    (sum - right).abs() < 1e-5 * right.abs() + 1e-5,
                    "{sum} {right}"
                );
            }
            for (row, change) in rows.iter().zip(&values) {
                let c = f64::from(*change);
                assert_eq!(*row, Row([c, 2.0 * c, -3.0 * c, c]));
            }
            #[cfg(target_arch = "x86_64")]
            {
                let portable = (values, rows, sums);
                if let Some(avx2) = crate::simd::Avx2::detect() {
                    assert!(in_lanes(avx2, n) == portable);
                }
                if let Some(avx512) = crate::simd::Avx512::detect() {
                    assert!(in_lanes(avx512, n) == portable);
                }
            }
        }
    }

    /// Four springs in a row, the last of which must not pull, and one particle that a light
    /// wall throws back a hundred times as hard as the diagonal knows.
    #[test]
    fn the_pressures_that_are_needed_are_found() {
        let (n, dt) = (5, 1.0_f32);
        let matrix = |p: &[f32]| -> Vec<f32> {
            let at = |k: usize| if k < 4 { p[k] } else { 0.0 };
            let row = |k: usize| 2.0 * p[k] - at(k.wrapping_sub(1)) - at(k + 1);
            let mut out: Vec<f32> = (0..4).map(row).collect();
            out.push(200.0 * p[4]);
            out
        };
        let right = [0.3, -0.2, 0.5, -2.0, 7.0];
        let inverse_diagonal = [0.5; 5];
        let (mut pressure, mut direction) = (vec![0.0; n], vec![0.0; n]);
        let (mut excess, mut answer) = (vec![0.0; n], vec![0.0; n]);
        let (mut change, mut pushing) = (vec![0.0; n], vec![Row::default(); n]);
        let (mut last, mut iterations) = (None, 0);
        loop {
            let pushed = matrix(&pressure);
            let rates: Vec<f32> = right.iter().zip(&pushed).map(|(r, p)| r - p).collect();
            let question = Question {
                dt,
                fullest_free: 0.0,
                last,
            };
            let known = Known {
                rates: &rates,
                due: &[0.0; 5],
                fullness: &[1.0; 5],
                inverse_diagonal: &inverse_diagonal,
                pressure: &pressure,
                direction: &direction,
            };
            let found = Answered {
                excess: &mut excess,
                answer: &mut answer,
            };
            let sums = question.ask(known, found);
            if sums.left() < 1e-3 {
                break;
            }
            let pace = last.map_or(Pace::START, |last| Pace::after(last, &sums));
            let measured = Measured {
                excess: &excess,
                answer: &answer,
                inverse_diagonal: &inverse_diagonal,
                x: &[Vec3A::ZERO; 5],
            };
            let changed = Changed {
                pressure: &mut pressure,
                direction: &mut direction,
                change: &mut change,
                pushing: &mut pushing,
            };
            Step { dt, pace }.take(measured, changed);
            last = Some(pace);
            iterations += 1;
            assert!(iterations < 20, "{pressure:?}");
        }
        for (k, r) in matrix(&pressure).iter().enumerate() {
            let left = right[k] - r;
            assert!(pressure[k] >= 0.0);
            let done = if pressure[k] > 0.0 { left.abs() } else { left };
            assert!(done < 2e-3, "{k}: {left} left at {}", pressure[k]);
        }
        assert_eq!(pressure[3], 0.0);
        assert!((pressure[4] - 0.035).abs() < 1e-4);
    }
}
