//! The lanes of processors that have AVX-512.
//!
//! Eight lanes are a register of 256 bits here, too, so that all sums are those of the other
//! machines; what is new are masks, packing by one instruction, and registers of twice the
//! width for rows of double precision.

use super::avx2::Avx2;
use super::{Lanes, MOST_PACKED, Row, WIDTH};
use crate::math::Xyz;
use glam::{Vec3, Vec3A};
use std::arch::x86_64::*;
use std::ops::Range;

/// 256-bit registers with masks, and 512-bit ones. Made only by [`Avx512::detect`].
#[derive(Clone, Copy)]
pub(crate) struct Avx512(Avx2);

impl Avx512 {
    /// The token, if the processor has all that [`dispatch!`](super::dispatch) compiles for.
    pub(crate) fn detect() -> Option<Avx512> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        has.then(Avx2::detect).flatten().map(Avx512)
    }
}

// SAFETY of every block below: an `Avx512` exists only where `detect` found the
// instructions. What masks have no part in is done as `Avx2` does it.
impl Lanes for Avx512 {
    type F = __m256;
    type M = __mmask8;
    type Q = [__m256; 4];
    /// The rows of even and of odd places.
    type Rows = __m512d;

    #[inline(always)]
    fn splat(self, v: f32) -> __m256 {
        self.0.splat(v)
    }
    #[inline(always)]
    unsafe fn load(self, a: &[f32], i: usize) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { self.0.load(a, i) }
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        self.0.add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        self.0.sub(a, b)
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        self.0.mul(a, b)
    }
    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        self.0.div(a, b)
    }
    #[inline(always)]
    fn sqrt(self, a: __m256) -> __m256 {
        self.0.sqrt(a)
    }
    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        self.0.max(a, b)
    }
    #[inline(always)]
    fn min(self, a: __m256, b: __m256) -> __m256 {
        self.0.min(a, b)
    }
    #[inline(always)]
    fn less(self, a: __m256, b: __m256) -> __mmask8 {
        unsafe { _mm256_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
    }
    #[inline(always)]
    fn first(self, n: usize) -> __mmask8 {
        ((1u32 << n.min(WIDTH)) - 1) as __mmask8
    }
    #[inline(always)]
    fn and(self, a: __mmask8, b: __mmask8) -> __mmask8 {
        a & b
    }
    #[inline(always)]
    fn any(self, m: __mmask8) -> bool {
        m != 0
    }
    #[inline(always)]
    fn bits(self, m: __mmask8) -> u32 {
        u32::from(m)
    }
    #[inline(always)]
    fn keep(self, a: __m256, m: __mmask8) -> __m256 {
        unsafe { _mm256_maskz_mov_ps(m, a) }
    }
    #[inline(always)]
    fn select(self, a: __m256, b: __m256, m: __mmask8) -> __m256 {
        unsafe { _mm256_mask_blend_ps(m, b, a) }
    }
    #[inline(always)]
    fn sum(self, a: __m256) -> f32 {
        self.0.sum(a)
    }
    #[inline(always)]
    unsafe fn store(self, v: __m256, a: &mut [f32], i: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.0.store(v, a, i) }
    }
    #[inline(always)]
    unsafe fn pack(
        self,
        v: __m256,
        m: __mmask8,
        first: u32,
        values: &mut [f32],
        indices: &mut [u32],
        i: usize,
    ) -> usize {
        debug_assert!(i + WIDTH <= values.len() && i + WIDTH <= indices.len());
        // SAFETY: in range by the caller's promise. Packed in a register and stored whole:
        // packing into memory takes some processors far longer.
        unsafe {
            let packed = _mm256_maskz_compress_ps(m, v);
            _mm256_storeu_ps(values.as_mut_ptr().add(i), packed);
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let index = _mm256_add_epi32(_mm256_set1_epi32(first as i32), lanes);
            let index = _mm256_maskz_compress_epi32(m, index);
            _mm256_storeu_si256(indices.as_mut_ptr().add(i).cast(), index);
            m.count_ones() as usize
        }
    }
    #[inline(always)]
    unsafe fn pack_numbered(
        self,
        v: __m256,
        m: __mmask8,
        numbers: &[u32; WIDTH],
        values: &mut [f32],
        indices: &mut [u32],
        i: usize,
    ) -> usize {
        debug_assert!(i + WIDTH <= values.len() && i + WIDTH <= indices.len());
        // SAFETY: in range by the caller's promise.
        unsafe {
            let packed = _mm256_maskz_compress_ps(m, v);
            _mm256_storeu_ps(values.as_mut_ptr().add(i), packed);
            let index = _mm256_loadu_si256(numbers.as_ptr().cast());
            let index = _mm256_maskz_compress_epi32(m, index);
            _mm256_storeu_si256(indices.as_mut_ptr().add(i).cast(), index);
            m.count_ones() as usize
        }
    }
    #[inline(always)]
    unsafe fn pack_near(
        self,
        points: Xyz<'_>,
        range: Range<usize>,
        (place, reach): (Vec3, f32),
        (values, indices): (&mut [f32], &mut [u32]),
        mut i: usize,
    ) -> usize {
        debug_assert!(range.end <= points.len());
        debug_assert!(i + range.len() + MOST_PACKED <= values.len().min(indices.len()));
        // SAFETY: in range by the caller's promise; what a mask leaves out is not read.
        unsafe {
            let x = _mm512_set1_ps(place.x);
            let y = _mm512_set1_ps(place.y);
            let z = _mm512_set1_ps(place.z);
            let reach = _mm512_set1_ps(reach);
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            for j in range.clone().step_by(MOST_PACKED) {
                let there = ((1u32 << (range.end - j).min(MOST_PACKED)) - 1) as __mmask16;
                let read = |a: &[f32]| _mm512_maskz_loadu_ps(there, a.as_ptr().add(j));
                let dx = _mm512_sub_ps(x, read(points.x));
                let dy = _mm512_sub_ps(y, read(points.y));
                let dz = _mm512_sub_ps(z, read(points.z));
                let across = _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy));
                let squared = _mm512_add_ps(across, _mm512_mul_ps(dz, dz));
                let near = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(there, squared, reach);
                let index = _mm512_add_epi32(_mm512_set1_epi32(j as i32), lanes);
                let squared = _mm512_maskz_compress_ps(near, squared);
                let index = _mm512_maskz_compress_epi32(near, index);
                _mm512_storeu_ps(values.as_mut_ptr().add(i), squared);
                _mm512_storeu_si512(indices.as_mut_ptr().add(i).cast(), index);
                i += near.count_ones() as usize;
            }
        }
        i
    }
    #[inline(always)]
    fn columns(self, rows: [__m256; WIDTH]) -> [__m256; WIDTH] {
        self.0.columns(rows)
    }
    #[inline(always)]
    fn quads(self, v: [__m256; 3]) -> [__m256; 4] {
        self.0.quads(v)
    }
    #[inline(always)]
    unsafe fn add_quads(self, q: [__m256; 4], a: &mut [[f32; 4]], rows: &[u16; WIDTH]) {
        // SAFETY: the caller's promise.
        unsafe { self.0.add_quads(q, a, rows) }
    }
    #[inline(always)]
    unsafe fn sub_quads(self, q: [__m256; 4], a: &mut [[f32; 4]], rows: &[u16; WIDTH]) {
        // SAFETY: the caller's promise.
        unsafe { self.0.sub_quads(q, a, rows) }
    }
    #[inline(always)]
    unsafe fn gather(self, a: &[[f32; 4]], rows: &[u32; WIDTH]) -> [__m256; 4] {
        // SAFETY: the caller's promise.
        unsafe { self.0.gather(a, rows) }
    }
    #[inline(always)]
    unsafe fn gather_vectors(self, a: &[Vec3A], rows: &[u32; WIDTH]) -> [__m256; 3] {
        // SAFETY: the caller's promise.
        unsafe { self.0.gather_vectors(a, rows) }
    }
    #[inline(always)]
    fn to_vectors(self, v: [__m256; 3]) -> [Vec3A; WIDTH] {
        self.0.to_vectors(v)
    }
    #[inline(always)]
    fn no_rows(self) -> __m512d {
        unsafe { _mm512_setzero_pd() }
    }
    #[inline(always)]
    unsafe fn weighted_rows(
        self,
        a: &[Row],
        rows: &[u32; WIDTH],
        weights: &[f32; WIDTH],
    ) -> __m512d {
        debug_assert!(rows.iter().all(|&r| (r as usize) < a.len()));
        // SAFETY: in range by the caller's promise.
        unsafe {
            let a = a.as_ptr().cast::<f64>();
            let weights = _mm512_cvtps_pd(_mm256_loadu_ps(weights.as_ptr()));
            let two = |m: usize| {
                let even = _mm256_load_pd(a.add(4 * rows[2 * m] as usize));
                let odd = _mm256_load_pd(a.add(4 * rows[2 * m + 1] as usize));
                let both = _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(even), odd);
                let (e, o) = (2 * m as i64, 2 * m as i64 + 1);
                let lanes = _mm512_setr_epi64(e, e, e, e, o, o, o, o);
                _mm512_mul_pd(_mm512_permutexvar_pd(lanes, weights), both)
            };
            _mm512_add_pd(_mm512_add_pd(two(0), two(1)), _mm512_add_pd(two(2), two(3)))
        }
    }
    #[inline(always)]
    fn go_on(self, sum: __m512d, keep: bool, more: __m512d) -> __m512d {
        let mask = 0u8.wrapping_sub(u8::from(keep));
        unsafe { _mm512_add_pd(_mm512_maskz_mov_pd(mask, sum), more) }
    }
    #[inline(always)]
    fn total(self, sum: __m512d) -> Row {
        let mut out = Row::default();
        // SAFETY: a row holds four numbers and is aligned.
        unsafe {
            let odd = _mm512_extractf64x4_pd::<1>(sum);
            let both = _mm256_add_pd(_mm512_castpd512_pd256(sum), odd);
            _mm256_store_pd(out.0.as_mut_ptr(), both);
        }
        out
    }
}
