//! One iteration of the pressure equations, once the compression is known: by how much the
//! pressure of every particle changes.

use super::pace::Sums;
use crate::simd::{Lanes, WIDTH, dispatch};

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
}

/// What the iteration changes.
pub(super) struct Changed<'a> {
    pub pressure: &'a mut [f32],
    /// The last change of pressure, and the pressure before extrapolation.
    pub change: &'a mut [f32],
    pub settled: &'a mut [f32],
    /// Compression that the last iteration found.
    pub excess: &'a mut [f32],
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
    a.copy_from_slice(&l.to_array(v)[..a.len()]);
}
