//! Loops over the points of a body: in parallel where there are enough of them. Every
//! number is written by one thread and sums are made in parts of fixed length, so the
//! bits depend on nothing but the input.

use std::ops::Add;

use rayon::prelude::*;

/// Fewer points than this are not worth a second thread.
pub(super) const WORTH: usize = 4096;
/// Points per part of a sum.
const PART: usize = 1024;

/// Sets every item to `of(its number)`.
pub(super) fn fill<T: Send>(out: &mut [T], of: impl Fn(usize) -> T + Sync) {
    if out.len() < WORTH {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = of(i));
    } else {
        let items = out.par_iter_mut().with_min_len(PART).enumerate();
        items.for_each(|(i, o)| *o = of(i));
    }
}

/// Sum of `of(0) ... of(n - 1)`, part by part.
pub(super) fn sum<T>(n: usize, of: impl Fn(usize) -> T + Sync) -> T
where
    T: Add<Output = T> + Default + Send,
{
    let part = |k: usize| {
        let range = k * PART..((k + 1) * PART).min(n);
        range.fold(T::default(), |sum, i| sum + of(i))
    };
    let parts = n.div_ceil(PART);
    if n < WORTH {
        (0..parts).map(part).fold(T::default(), Add::add)
    } else {
        let parts: Vec<T> = (0..parts).into_par_iter().map(part).collect();
        parts.into_iter().fold(T::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sums_do_not_depend_on_threads() {
        let n = 10_000;
        let of = |i: usize| (i as f64).sin();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| super::sum(n, of))
        };
        assert_eq!(run(1), run(2));
        let plain: f64 = (0..n).map(of).sum();
        assert!((run(2) - plain).abs() < 1e-9);
    }
}
