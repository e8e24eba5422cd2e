//! Eight f32 lanes for the hot loops, chosen at run time.
//!
//! A loop is written once, generic over [`Lanes`], and compiled three times: for AVX-512,
//! for AVX2 and for any machine. All do the same IEEE operations on the same lanes in
//! the same order and none fuses multiply and add, so the results are
//! bit-identical whatever the processor.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod vectors;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;

use std::ops::Range;

use glam::{Vec3, Vec3A};

use crate::math::Xyz;

/// Number of lanes.
pub(crate) const WIDTH: usize = 8;

/// How many numbers [`Lanes::pack_near`] may write beyond those that it packs.
pub(crate) const MOST_PACKED: usize = 16;

/// Four numbers of double precision, as they are gathered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Row(pub [f64; 4]);

/// Eight-lane arithmetic. Implementations are zero-sized tokens; holding one
/// proves that the instructions are there.
pub(crate) trait Lanes: Copy {
    /// Eight numbers.
    type F: Copy;
    /// Eight yes/no answers.
    type M: Copy;
    /// Eight vectors of four numbers.
    type Q: Copy;
    /// Sums of rows, in two parts.
    type Rows: Copy;

    fn splat(self, v: f32) -> Self::F;
    /// Loads `a[i..i + 8]`.
    ///
    /// # Safety
    /// `i + 8 <= a.len()`.
    unsafe fn load(self, a: &[f32], i: usize) -> Self::F;
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    fn sqrt(self, a: Self::F) -> Self::F;
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    fn less(self, a: Self::F, b: Self::F) -> Self::M;
    /// True in the first `n` lanes.
    fn first(self, n: usize) -> Self::M;
    fn and(self, a: Self::M, b: Self::M) -> Self::M;
    fn any(self, m: Self::M) -> bool;
    /// Bit `l` is the answer of lane `l`.
    fn bits(self, m: Self::M) -> u32;
    /// `a` where `m`, 0 elsewhere.
    fn keep(self, a: Self::F, m: Self::M) -> Self::F;
    /// `a` where `m`, `b` elsewhere.
    fn select(self, a: Self::F, b: Self::F, m: Self::M) -> Self::F;
    /// Sum of the lanes, always in the same order.
    fn sum(self, a: Self::F) -> f32;
    /// Stores to `a[i..i + 8]`.
    ///
    /// # Safety
    /// `i + 8 <= a.len()`.
    unsafe fn store(self, v: Self::F, a: &mut [f32], i: usize);
    /// Packs the lanes of `v` where `m`, and their indices counted from `first`, to
    /// the front of `values[i..]` and `indices[i..]`, and returns how many there are.
    /// What follows them, up to eight, is overwritten.
    ///
    /// # Safety
    /// `i + 8` is at most the length of both.
    unsafe fn pack(
        self,
        v: Self::F,
        m: Self::M,
        first: u32,
        values: &mut [f32],
        indices: &mut [u32],
        i: usize,
    ) -> usize;
    /// Packs the lanes of `v` where `m`, and their `numbers`, to the front of `values[i..]` and
    /// `indices[i..]`, and returns how many there are. What follows them, up to eight, is
    /// overwritten.
    ///
    /// # Safety
    /// `i + 8` is at most the length of both.
    unsafe fn pack_numbered(
        self,
        v: Self::F,
        m: Self::M,
        numbers: &[u32; WIDTH],
        values: &mut [f32],
        indices: &mut [u32],
        i: usize,
    ) -> usize;
    /// Appends those of the points `range` that are nearer to `place` than the square root of
    /// `reach`: squared distances and indices, from `values[i]` and `indices[i]` on. Returns
    /// where they end; what follows, up to [`MOST_PACKED`], is overwritten.
    ///
    /// # Safety
    /// The points are there, and seven more numbers behind each axis; `values` and `indices`
    /// have room for all points and for [`MOST_PACKED`] more from `i` on.
    #[inline(always)]
    unsafe fn pack_near(
        self,
        points: Xyz<'_>,
        range: Range<usize>,
        (place, reach): (Vec3, f32),
        (values, indices): (&mut [f32], &mut [u32]),
        mut i: usize,
    ) -> usize {
        let [x, y, z] = vectors::splat(self, place);
        let reach = self.splat(reach);
        for j in range.clone().step_by(WIDTH) {
            // SAFETY: the caller's promise.
            unsafe {
                let dx = self.sub(x, self.load(points.x, j));
                let dy = self.sub(y, self.load(points.y, j));
                let dz = self.sub(z, self.load(points.z, j));
                let across = self.add(self.mul(dx, dx), self.mul(dy, dy));
                let squared = self.add(across, self.mul(dz, dz));
                let mut near = self.less(squared, reach);
                if range.end - j < WIDTH {
                    near = self.and(near, self.first(range.end - j));
                }
                i += self.pack(squared, near, j as u32, values, indices, i);
            }
        }
        i
    }
    /// Column `k` has number `k` of every row.
    fn columns(self, rows: [Self::F; WIDTH]) -> [Self::F; WIDTH];
    /// `(x, y, z, 0)` of every lane.
    fn quads(self, v: [Self::F; 3]) -> Self::Q;
    /// Adds vector `l` to `a[rows[l]]`, one lane after the other.
    ///
    /// # Safety
    /// All rows are below the length of `a`.
    unsafe fn add_quads(self, q: Self::Q, a: &mut [[f32; 4]], rows: &[u16; WIDTH]);
    /// Subtracts vector `l` from `a[rows[l]]`, one lane after the other.
    ///
    /// # Safety
    /// All rows are below the length of `a`.
    unsafe fn sub_quads(self, q: Self::Q, a: &mut [[f32; 4]], rows: &[u16; WIDTH]);
    /// The four numbers of `a[rows[l]]` in lane `l`.
    ///
    /// # Safety
    /// All rows are below the length of `a`.
    unsafe fn gather(self, a: &[[f32; 4]], rows: &[u32; WIDTH]) -> [Self::F; 4];
    /// The vector `a[rows[l]]` in lane `l`.
    ///
    /// # Safety
    /// All rows are below the length of `a`.
    unsafe fn gather_vectors(self, a: &[Vec3A], rows: &[u32; WIDTH]) -> [Self::F; 3];
    /// Vector `l` in lane `l`.
    #[inline(always)]
    fn vectors(self, a: &[Vec3A; WIDTH]) -> [Self::F; 3] {
        // SAFETY: there are eight.
        unsafe { self.gather_vectors(a, &[0, 1, 2, 3, 4, 5, 6, 7]) }
    }
    /// The vector of every lane.
    fn to_vectors(self, v: [Self::F; 3]) -> [Vec3A; WIDTH];
    /// The sum of nothing.
    fn no_rows(self) -> Self::Rows;
    /// `Σ weights[m] a[rows[m]]`: of the even places and of the odd ones.
    ///
    /// # Safety
    /// All rows are below the length of `a`.
    unsafe fn weighted_rows(
        self,
        a: &[Row],
        rows: &[u32; WIDTH],
        weights: &[f32; WIDTH],
    ) -> Self::Rows;
    /// `sum + more`, or with `keep` false `0 + more`.
    fn go_on(self, sum: Self::Rows, keep: bool, more: Self::Rows) -> Self::Rows;
    /// The sum of both parts.
    fn total(self, sum: Self::Rows) -> Row;
    /// The eight numbers of `a`.
    #[inline(always)]
    fn numbers(self, a: &[f32; WIDTH]) -> Self::F {
        // SAFETY: there are eight.
        unsafe { self.load(a, 0) }
    }
    /// The number of every lane.
    #[inline(always)]
    fn to_array(self, v: Self::F) -> [f32; WIDTH] {
        let mut out = [0.0; WIDTH];
        // SAFETY: there are eight.
        unsafe { self.store(v, &mut out, 0) };
        out
    }
}

/// Plain Rust on arrays: runs everywhere.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

#[inline(always)]
fn lanewise(a: [f32; WIDTH], b: [f32; WIDTH], operation: impl Fn(f32, f32) -> f32) -> [f32; WIDTH] {
    let mut out = [0.0; WIDTH];
    for l in 0..WIDTH {
        out[l] = operation(a[l], b[l]);
    }
    out
}

impl Lanes for Portable {
    type F = [f32; WIDTH];
    type M = [bool; WIDTH];
    type Q = [[f32; 4]; WIDTH];
    type Rows = [[f64; 4]; 2];

    #[inline(always)]
    fn splat(self, v: f32) -> Self::F {
        [v; WIDTH]
    }
    #[inline(always)]
    unsafe fn load(self, a: &[f32], i: usize) -> Self::F {
        let mut out = [0.0; WIDTH];
        out.copy_from_slice(&a[i..i + WIDTH]);
        out
    }
    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        lanewise(a, b, |x, y| x + y)
    }
    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        lanewise(a, b, |x, y| x - y)
    }
    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        lanewise(a, b, |x, y| x * y)
    }
    #[inline(always)]
    fn div(self, a: Self::F, b: Self::F) -> Self::F {
        lanewise(a, b, |x, y| x / y)
    }
    #[inline(always)]
    fn sqrt(self, a: Self::F) -> Self::F {
        a.map(f32::sqrt)
    }
    #[inline(always)]
    fn max(self, a: Self::F, b: Self::F) -> Self::F {
        // The second operand wins ties and NaN, as the vector instruction has it.
        lanewise(a, b, |x, y| if x > y { x } else { y })
    }
    #[inline(always)]
    fn min(self, a: Self::F, b: Self::F) -> Self::F {
        lanewise(a, b, |x, y| if x < y { x } else { y })
    }
    #[inline(always)]
    fn select(self, a: Self::F, b: Self::F, m: Self::M) -> Self::F {
        let mut out = b;
        for l in 0..WIDTH {
            if m[l] {
                out[l] = a[l];
            }
        }
        out
    }
    #[inline(always)]
    fn less(self, a: Self::F, b: Self::F) -> Self::M {
        let mut out = [false; WIDTH];
        for l in 0..WIDTH {
            out[l] = a[l] < b[l];
        }
        out
    }
    #[inline(always)]
    fn first(self, n: usize) -> Self::M {
        let mut out = [false; WIDTH];
        for (l, o) in out.iter_mut().enumerate() {
            *o = l < n;
        }
        out
    }
    #[inline(always)]
    fn and(self, a: Self::M, b: Self::M) -> Self::M {
        let mut out = [false; WIDTH];
        for l in 0..WIDTH {
            out[l] = a[l] & b[l];
        }
        out
    }
    #[inline(always)]
    fn any(self, m: Self::M) -> bool {
        m.iter().any(|&b| b)
    }
    #[inline(always)]
    fn bits(self, m: Self::M) -> u32 {
        let lanes = m.iter().enumerate();
        lanes.fold(0, |bits, (l, &b)| bits | u32::from(b) << l)
    }
    #[inline(always)]
    fn keep(self, a: Self::F, m: Self::M) -> Self::F {
        let mut out = [0.0; WIDTH];
        for l in 0..WIDTH {
            out[l] = if m[l] { a[l] } else { 0.0 };
        }
        out
    }
    #[inline(always)]
    fn sum(self, a: Self::F) -> f32 {
        let [b0, b1, b2, b3] = [a[0] + a[4], a[1] + a[5], a[2] + a[6], a[3] + a[7]];
        (b0 + b2) + (b1 + b3)
    }
    #[inline(always)]
    unsafe fn store(self, v: Self::F, a: &mut [f32], i: usize) {
        a[i..i + WIDTH].copy_from_slice(&v);
    }
    #[inline(always)]
    unsafe fn pack(
        self,
        v: Self::F,
        m: Self::M,
        first: u32,
        values: &mut [f32],
        indices: &mut [u32],
        i: usize,
    ) -> usize {
        let mut n = 0;
        for l in (0..WIDTH).filter(|&l| m[l]) {
            values[i + n] = v[l];
            indices[i + n] = first + l as u32;
            n += 1;
        }
        n
    }
    #[inline(always)]
    unsafe fn pack_numbered(
        self,
        v: Self::F,
        m: Self::M,
        numbers: &[u32; WIDTH],
        values: &mut [f32],
        indices: &mut [u32],
        i: usize,
    ) -> usize {
        let mut n = 0;
        for l in (0..WIDTH).filter(|&l| m[l]) {
            values[i + n] = v[l];
            indices[i + n] = numbers[l];
            n += 1;
        }
        n
    }
    #[inline(always)]
    fn columns(self, rows: [Self::F; WIDTH]) -> [Self::F; WIDTH] {
        let mut out = [[0.0; WIDTH]; WIDTH];
        for (r, row) in rows.iter().enumerate() {
            for (c, &v) in row.iter().enumerate() {
                out[c][r] = v;
            }
        }
        out
    }
    #[inline(always)]
    fn quads(self, [x, y, z]: [Self::F; 3]) -> Self::Q {
        let mut out = [[0.0; 4]; WIDTH];
        for l in 0..WIDTH {
            out[l] = [x[l], y[l], z[l], 0.0];
        }
        out
    }
    #[inline(always)]
    unsafe fn add_quads(self, q: Self::Q, a: &mut [[f32; 4]], rows: &[u16; WIDTH]) {
        for (q, &row) in q.iter().zip(rows) {
            for (a, v) in a[usize::from(row)].iter_mut().zip(q) {
                *a += v;
            }
        }
    }
    #[inline(always)]
    unsafe fn sub_quads(self, q: Self::Q, a: &mut [[f32; 4]], rows: &[u16; WIDTH]) {
        for (q, &row) in q.iter().zip(rows) {
            for (a, v) in a[usize::from(row)].iter_mut().zip(q) {
                *a -= v;
            }
        }
    }
    #[inline(always)]
    unsafe fn gather(self, a: &[[f32; 4]], rows: &[u32; WIDTH]) -> [Self::F; 4] {
        let mut out = [[0.0; WIDTH]; 4];
        for (l, &row) in rows.iter().enumerate() {
            for (out, v) in out.iter_mut().zip(a[row as usize]) {
                out[l] = v;
            }
        }
        out
    }
    #[inline(always)]
    unsafe fn gather_vectors(self, a: &[Vec3A], rows: &[u32; WIDTH]) -> [Self::F; 3] {
        let mut out = [[0.0; WIDTH]; 3];
        for (l, &row) in rows.iter().enumerate() {
            for (out, v) in out.iter_mut().zip(a[row as usize].to_array()) {
                out[l] = v;
            }
        }
        out
    }
    #[inline(always)]
    fn to_vectors(self, [x, y, z]: [Self::F; 3]) -> [Vec3A; WIDTH] {
        let mut out = [Vec3A::ZERO; WIDTH];
        for l in 0..WIDTH {
            out[l] = Vec3A::new(x[l], y[l], z[l]);
        }
        out
    }
    #[inline(always)]
    fn no_rows(self) -> [[f64; 4]; 2] {
        [[0.0; 4]; 2]
    }
    #[inline(always)]
    unsafe fn weighted_rows(
        self,
        a: &[Row],
        rows: &[u32; WIDTH],
        weights: &[f32; WIDTH],
    ) -> [[f64; 4]; 2] {
        let one = |m: usize| a[rows[m] as usize].0.map(|v| f64::from(weights[m]) * v);
        let four = |m: usize| {
            let [a, b, c, d] = [one(m), one(m + 2), one(m + 4), one(m + 6)];
            std::array::from_fn(|k| (a[k] + b[k]) + (c[k] + d[k]))
        };
        [four(0), four(1)]
    }
    #[inline(always)]
    fn go_on(self, sum: [[f64; 4]; 2], keep: bool, more: [[f64; 4]; 2]) -> [[f64; 4]; 2] {
        let sum = if keep { sum } else { self.no_rows() };
        std::array::from_fn(|part| std::array::from_fn(|k| sum[part][k] + more[part][k]))
    }
    #[inline(always)]
    fn total(self, [even, odd]: [[f64; 4]; 2]) -> Row {
        Row(std::array::from_fn(|k| even[k] + odd[k]))
    }
}

/// Fetches `a[i]` into the cache, if there is one, for a loop that comes to it soon.
#[inline(always)]
pub(crate) fn prefetch<T>(a: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(first) = a.get(i) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let at = std::ptr::from_ref(first).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(64) {
            // SAFETY: these instructions are in every such processor, and no address is
            // wrong for them.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(64 * line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (a, i);
}

/// Fetches the `line`-th 64 bytes of `a` into the cache, as [`prefetch`] does.
#[inline(always)]
pub(crate) fn prefetch_line<T>(a: &[T], line: usize) {
    prefetch(a, line * 64 / size_of::<T>());
}

/// Calls a function that is generic over [`Lanes`] with the best token of this
/// machine: `dispatch!(name(args...))` calls `name(lanes, args...)` compiled for it.
macro_rules! dispatch {
    ($f:ident ( $($arg:ident : $ty:ty),* $(,)? )) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,bmi2,popcnt")]
            fn with_avx512(lanes: $crate::simd::Avx512, $($arg: $ty),*) {
                $f(lanes, $($arg),*)
            }
            #[target_feature(enable = "avx2")]
            fn with_avx2(lanes: $crate::simd::Avx2, $($arg: $ty),*) {
                $f(lanes, $($arg),*)
            }
            if let Some(lanes) = $crate::simd::Avx512::detect() {
                // SAFETY: `detect` has found all of it.
                unsafe { with_avx512(lanes, $($arg),*) }
            } else if let Some(lanes) = $crate::simd::Avx2::detect() {
                // SAFETY: `detect` has found AVX2.
                unsafe { with_avx2(lanes, $($arg),*) }
            } else {
                $f($crate::simd::Portable, $($arg),*)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        $f($crate::simd::Portable, $($arg),*)
    }};
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests;
