//! Work over many points in parts whose results come back in order, so that sums
//! do not depend on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::crew::Spread;

/// Points per part.
const CHUNK: usize = 4096;

/// `part` of every range of up to [`CHUNK`] of the numbers `0..n`, in order.
pub(super) fn in_chunks<T: Send>(n: usize, part: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .spread_map(|k| part(k * CHUNK..((k + 1) * CHUNK).min(n)))
}
