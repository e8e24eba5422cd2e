//! The lanes of processors that have AVX2.

use super::{Lanes, Row, WIDTH};
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
    /// The rows of even and of odd places.
    type Rows = [__m256d; 2];

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
    fn bits(self, m: __m256) -> u32 {
        unsafe { _mm256_movemask_ps(m) as u32 }
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
    unsafe fn pack_numbered(
        self,
        v: __m256,
        m: __m256,
        numbers: &[u32; WIDTH],
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
            let index = _mm256_loadu_si256(numbers.as_ptr().cast());
            let index = _mm256_permutevar8x32_epi32(index, lanes);
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
    #[inline(always)]
    fn no_rows(self) -> [__m256d; 2] {
        unsafe { [_mm256_setzero_pd(); 2] }
    }
    #[inline(always)]
    unsafe fn weighted_rows(
        self,
        a: &[Row],
        rows: &[u32; WIDTH],
        weights: &[f32; WIDTH],
    ) -> [__m256d; 2] {
        debug_assert!(rows.iter().all(|&r| (r as usize) < a.len()));
        // SAFETY: in range by the caller's promise.
        unsafe {
            let a = a.as_ptr().cast::<f64>();
            let first = _mm256_cvtps_pd(_mm_loadu_ps(weights.as_ptr()));
            let last = _mm256_cvtps_pd(_mm_loadu_ps(weights.as_ptr().add(4)));
            let one = |weight, m: usize| {
                _mm256_mul_pd(weight, _mm256_load_pd(a.add(4 * rows[m] as usize)))
            };
            let even = _mm256_add_pd(
                _mm256_add_pd(
                    one(_mm256_permute4x64_pd::<0x00>(first), 0),
                    one(_mm256_permute4x64_pd::<0xaa>(first), 2),
                ),
                _mm256_add_pd(
                    one(_mm256_permute4x64_pd::<0x00>(last), 4),
                    one(_mm256_permute4x64_pd::<0xaa>(last), 6),
                ),
            );
            let odd = _mm256_add_pd(
                _mm256_add_pd(
                    one(_mm256_permute4x64_pd::<0x55>(first), 1),
                    one(_mm256_permute4x64_pd::<0xff>(first), 3),
                ),
                _mm256_add_pd(
                    one(_mm256_permute4x64_pd::<0x55>(last), 5),
                    one(_mm256_permute4x64_pd::<0xff>(last), 7),
                ),
            );
            [even, odd]
        }
    }
    #[inline(always)]
    fn go_on(self, sum: [__m256d; 2], keep: bool, more: [__m256d; 2]) -> [__m256d; 2] {
        unsafe {
            let mask = _mm256_castsi256_pd(_mm256_set1_epi64x(-i64::from(keep)));
            [
                _mm256_add_pd(_mm256_and_pd(sum[0], mask), more[0]),
                _mm256_add_pd(_mm256_and_pd(sum[1], mask), more[1]),
            ]
        }
    }
    #[inline(always)]
    fn total(self, [even, odd]: [__m256d; 2]) -> Row {
        let mut out = Row::default();
        // SAFETY: a row holds four numbers and is aligned.
        unsafe { _mm256_store_pd(out.0.as_mut_ptr(), _mm256_add_pd(even, odd)) };
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
