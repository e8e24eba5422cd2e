//! Eight f32 lanes for the hot loops, chosen at run time.
//!
//! A loop is written once, generic over [`Lanes`], and compiled twice: for AVX2
//! and for any machine. Both do the same IEEE operations on the same lanes in
//! the same order and neither fuses multiply and add, so the results are
//! bit-identical whatever the processor.

use glam::Vec3A;

/// Number of lanes.
pub(crate) const WIDTH: usize = 8;

/// Eight-lane arithmetic. Implementations are zero-sized tokens; holding one
/// proves that the instructions are there.
pub(crate) trait Lanes: Copy {
    /// Eight numbers.
    type F: Copy;
    /// Eight yes/no answers.
    type M: Copy;
    /// Eight vectors of four numbers.
    type Q: Copy;

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
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Lanes, WIDTH};
    use glam::Vec3A;
    use std::arch::x86_64::*;

    /// 256-bit registers. Made only by [`Avx2::detect`].
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(());

    impl Avx2 {
        /// The token, if the processor has AVX2.
        pub(crate) fn detect() -> Option<Avx2> {
            is_x86_feature_detected!("avx2").then_some(Avx2(()))
        }
    }

    /// `FIRST[8 - n..16 - n]` has its first `n` lanes set.
    static FIRST: [i32; 2 * WIDTH] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

    // SAFETY of every block below: an `Avx2` exists only where `detect` found the
    // instructions.
    impl Lanes for Avx2 {
        type F = __m256;
        type M = __m256;
        /// Lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7.
        type Q = [__m256; 4];

        #[inline(always)]
        fn splat(self, v: f32) -> __m256 {
            unsafe { _mm256_set1_ps(v) }
        }
        #[inline(always)]
        unsafe fn load(self, a: &[f32], i: usize) -> __m256 {
            debug_assert!(i + WIDTH <= a.len());
            // SAFETY: in range by the caller's promise.
            unsafe { _mm256_loadu_ps(a.as_ptr().add(i)) }
        }
        #[inline(always)]
        fn add(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_add_ps(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_sub_ps(a, b) }
        }
        #[inline(always)]
        fn mul(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_mul_ps(a, b) }
        }
        #[inline(always)]
        fn div(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_div_ps(a, b) }
        }
        #[inline(always)]
        fn sqrt(self, a: __m256) -> __m256 {
            unsafe { _mm256_sqrt_ps(a) }
        }
        #[inline(always)]
        fn max(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_max_ps(a, b) }
        }
        #[inline(always)]
        fn min(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_min_ps(a, b) }
        }
        #[inline(always)]
        fn select(self, a: __m256, b: __m256, m: __m256) -> __m256 {
            unsafe { _mm256_blendv_ps(b, a, m) }
        }
        #[inline(always)]
        fn less(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(a, b) }
        }
        #[inline(always)]
        fn first(self, n: usize) -> __m256 {
            let n = n.min(WIDTH);
            // SAFETY: `8 - n..16 - n` lies within the table for n in 0..=8.
            unsafe { _mm256_loadu_ps(FIRST.as_ptr().add(WIDTH - n).cast()) }
        }
        #[inline(always)]
        fn and(self, a: __m256, b: __m256) -> __m256 {
            unsafe { _mm256_and_ps(a, b) }
        }
        #[inline(always)]
        fn any(self, m: __m256) -> bool {
            unsafe { _mm256_movemask_ps(m) != 0 }
        }
        #[inline(always)]
        fn keep(self, a: __m256, m: __m256) -> __m256 {
            unsafe { _mm256_and_ps(a, m) }
        }
        #[inline(always)]
        fn sum(self, a: __m256) -> f32 {
            unsafe {
                let b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
                let c = _mm_add_ps(b, _mm_movehl_ps(b, b));
                _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps::<1>(c, c)))
            }
        }
        #[inline(always)]
        unsafe fn store(self, v: __m256, a: &mut [f32], i: usize) {
            debug_assert!(i + WIDTH <= a.len());
            // SAFETY: in range by the caller's promise.
            unsafe { _mm256_storeu_ps(a.as_mut_ptr().add(i), v) }
        }
        #[inline(always)]
        unsafe fn pack(
            self,
            v: __m256,
            m: __m256,
            first: u32,
            values: &mut [f32],
            indices: &mut [u32],
            i: usize,
        ) -> usize {
            debug_assert!(i + WIDTH <= values.len() && i + WIDTH <= indices.len());
            // SAFETY: in range by the caller's promise; the table has a row for every mask.
            unsafe {
                let bits = _mm256_movemask_ps(m) as usize;
                let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKED[bits] as i64));
                let packed = _mm256_permutevar8x32_ps(v, lanes);
                _mm256_storeu_ps(values.as_mut_ptr().add(i), packed);
                let index = _mm256_add_epi32(_mm256_set1_epi32(first as i32), lanes);
                _mm256_storeu_si256(indices.as_mut_ptr().add(i).cast(), index);
                bits.count_ones() as usize
            }
        }
        #[inline(always)]
        fn columns(self, r: [__m256; WIDTH]) -> [__m256; WIDTH] {
            unsafe {
                let a = four_columns(r[0], r[1], r[2], r[3]);
                let b = four_columns(r[4], r[5], r[6], r[7]);
                [
                    _mm256_permute2f128_ps::<0x20>(a[0], b[0]),
                    _mm256_permute2f128_ps::<0x20>(a[1], b[1]),
                    _mm256_permute2f128_ps::<0x20>(a[2], b[2]),
                    _mm256_permute2f128_ps::<0x20>(a[3], b[3]),
                    _mm256_permute2f128_ps::<0x31>(a[0], b[0]),
                    _mm256_permute2f128_ps::<0x31>(a[1], b[1]),
                    _mm256_permute2f128_ps::<0x31>(a[2], b[2]),
                    _mm256_permute2f128_ps::<0x31>(a[3], b[3]),
                ]
            }
        }
        #[inline(always)]
        fn quads(self, [x, y, z]: [__m256; 3]) -> [__m256; 4] {
            unsafe {
                let zero = _mm256_setzero_ps();
                let (low, high) = (_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
                let (low_z, high_z) = (_mm256_unpacklo_ps(z, zero), _mm256_unpackhi_ps(z, zero));
                [
                    _mm256_shuffle_ps::<0x44>(low, low_z),
                    _mm256_shuffle_ps::<0xee>(low, low_z),
                    _mm256_shuffle_ps::<0x44>(high, high_z),
                    _mm256_shuffle_ps::<0xee>(high, high_z),
                ]
            }
        }
        #[inline(always)]
        unsafe fn add_quads(self, q: [__m256; 4], a: &mut [[f32; 4]], rows: &[u16; WIDTH]) {
            for (l, &row) in rows.iter().enumerate() {
                debug_assert!(usize::from(row) < a.len());
                // SAFETY: in range by the caller's promise.
                unsafe {
                    let at = a.as_mut_ptr().add(usize::from(row)).cast::<f32>();
                    _mm_storeu_ps(at, _mm_add_ps(_mm_loadu_ps(at), half(q, l)));
                }
            }
        }
        #[inline(always)]
        unsafe fn sub_quads(self, q: [__m256; 4], a: &mut [[f32; 4]], rows: &[u16; WIDTH]) {
            for (l, &row) in rows.iter().enumerate() {
                debug_assert!(usize::from(row) < a.len());
                // SAFETY: in range by the caller's promise.
                unsafe {
                    let at = a.as_mut_ptr().add(usize::from(row)).cast::<f32>();
                    _mm_storeu_ps(at, _mm_sub_ps(_mm_loadu_ps(at), half(q, l)));
                }
            }
        }
        #[inline(always)]
        unsafe fn gather(self, a: &[[f32; 4]], rows: &[u32; WIDTH]) -> [__m256; 4] {
            debug_assert!(rows.iter().all(|&r| (r as usize) < a.len()));
            // SAFETY: in range by the caller's promise.
            unsafe { four_of_each(a.as_ptr().cast(), rows) }
        }
        #[inline(always)]
        unsafe fn gather_vectors(self, a: &[Vec3A], rows: &[u32; WIDTH]) -> [__m256; 3] {
            const { assert!(size_of::<Vec3A>() == 16) };
            debug_assert!(rows.iter().all(|&r| (r as usize) < a.len()));
            // SAFETY: in range by the caller's promise; a vector is a register of four
            // numbers, of which the last means nothing.
            let [x, y, z, _] = unsafe { four_of_each(a.as_ptr().cast(), rows) };
            [x, y, z]
        }
        #[inline(always)]
        fn to_vectors(self, v: [__m256; 3]) -> [Vec3A; WIDTH] {
            let q = self.quads(v);
            let mut out = [Vec3A::ZERO; WIDTH];
            for (l, out) in out.iter_mut().enumerate() {
                *out = unsafe { half(q, l) }.into();
            }
            out
        }
    }

    /// Number `k` of the four from `a + 4 rows[l]` on, in lane `l` of register `k`.
    ///
    /// # Safety
    /// The processor has AVX2, and all of these may be read.
    #[inline(always)]
    unsafe fn four_of_each(a: *const f32, rows: &[u32; WIDTH]) -> [__m256; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut both = [_mm256_setzero_ps(); 4];
            for (l, both) in both.iter_mut().enumerate() {
                let low = _mm_loadu_ps(a.add(4 * rows[l] as usize));
                let high = _mm_loadu_ps(a.add(4 * rows[l + 4] as usize));
                *both = _mm256_set_m128(high, low);
            }
            four_columns(both[0], both[1], both[2], both[3])
        }
    }

    /// Columns 0 and 4, 1 and 5, 2 and 6, 3 and 7 of four rows.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn four_columns(a: __m256, b: __m256, c: __m256, d: __m256) -> [__m256; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            [
                _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
                _mm256_shuffle_ps::<0xee>(ab_low, cd_low),
                _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
                _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
            ]
        }
    }

    /// The vector of lane `l`.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn half(q: [__m256; 4], l: usize) -> __m128 {
        // SAFETY: the caller's promise.
        unsafe {
            if l < 4 {
                _mm256_castps256_ps128(q[l])
            } else {
                _mm256_extractf128_ps::<1>(q[l - 4])
            }
        }
    }

    /// For every mask of eight lanes the numbers of its lanes, one per byte, first
    /// lanes first.
    static PACKED: [u64; 256] = {
        let mut table = [0; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut lane, mut n) = (0, 0);
            while lane < WIDTH {
                if mask >> lane & 1 == 1 {
                    table[mask] |= (lane as u64) << (8 * n);
                    n += 1;
                }
                lane += 1;
            }
            mask += 1;
        }
        table
    };
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

/// Calls a function that is generic over [`Lanes`] with the best token of this
/// machine: `dispatch!(name(args...))` calls `name(lanes, args...)` compiled for it.
macro_rules! dispatch {
    ($f:ident ( $($arg:ident : $ty:ty),* $(,)? )) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            fn with_avx2(lanes: $crate::simd::Avx2, $($arg: $ty),*) {
                $f(lanes, $($arg),*)
            }
            if let Some(lanes) = $crate::simd::Avx2::detect() {
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
mod tests {
    use super::*;

    fn exercise<L: Lanes>(l: L, a: &[f32], b: &[f32]) -> Vec<u32> {
        // SAFETY: both inputs hold at least eight numbers.
        let (x, y) = unsafe { (l.load(a, 0), l.load(b, 0)) };
        let mask = l.and(l.less(x, y), l.first(5));
        let values = [
            l.add(x, y),
            l.sub(x, y),
            l.mul(x, y),
            l.div(x, y),
            l.sqrt(l.mul(x, x)),
            l.max(x, y),
            l.min(x, y),
            l.select(x, y, mask),
            l.keep(x, mask),
            l.splat(a[3]),
        ];
        let mut bits: Vec<u32> = values.iter().map(|&v| l.sum(v).to_bits()).collect();
        bits.push(u32::from(l.any(mask)));
        let (mut packed, mut index) = ([0.0; 16], [0; 16]);
        // SAFETY: both hold sixteen.
        let n = unsafe { l.pack(x, mask, 40, &mut packed, &mut index, 3) };
        bits.push(n as u32);
        bits.extend(packed[3..3 + n].iter().map(|v| v.to_bits()));
        bits.extend(&index[3..3 + n]);
        // SAFETY: sixteen again.
        unsafe { l.store(y, &mut packed, 8) };
        bits.extend(packed[8..].iter().map(|v| v.to_bits()));
        let columns = l.columns([x, y, values[0], values[1], values[2], x, y, values[6]]);
        for column in columns {
            // SAFETY: sixteen again.
            unsafe { l.store(column, &mut packed, 0) };
            bits.extend(packed[..8].iter().map(|v| v.to_bits()));
        }
        let mut sums = [[0.5; 4]; 6];
        let quads = l.quads([x, y, values[1]]);
        // SAFETY: all rows are below six.
        unsafe { l.add_quads(quads, &mut sums, &[0, 1, 1, 5, 4, 2, 0, 5]) };
        unsafe { l.sub_quads(quads, &mut sums, &[3, 3, 3, 2, 1, 0, 1, 2]) };
        bits.extend(sums.as_flattened().iter().map(|v| v.to_bits()));
        let rows = [5, 0, 3, 3, 1, 2, 4, 0];
        // SAFETY: all rows are below six.
        let gathered = unsafe { l.gather(&sums, &rows) };
        for v in gathered {
            bits.extend(l.to_array(v).map(f32::to_bits));
        }
        let vectors = l.to_vectors([x, l.numbers(&l.to_array(y)), values[0]]);
        // SAFETY: all rows are below eight.
        let turned = unsafe { l.gather_vectors(&vectors, &[7, 6, 5, 4, 3, 2, 1, 0]) };
        for v in turned.into_iter().chain(l.vectors(&vectors)) {
            bits.extend(l.to_array(v).map(f32::to_bits));
        }
        bits
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn avx2_and_portable_agree_to_the_bit() {
        let Some(avx2) = Avx2::detect() else { return };
        let mut seed = 1u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 1e6 - 8.0
        };
        for _ in 0..1000 {
            let a: Vec<f32> = (0..8).map(|_| next()).collect();
            let b: Vec<f32> = (0..8).map(|_| next()).collect();
            assert_eq!(exercise(avx2, &a, &b), exercise(Portable, &a, &b));
        }
    }

    #[test]
    fn first_sets_that_many_lanes() {
        for n in 0..=8 {
            let kept = Portable.keep(Portable.splat(1.0), Portable.first(n));
            assert_eq!(Portable.sum(kept), n as f32);
        }
    }
}
