/* Casts computed in f32: f16, bf16 and f32 to and from containers of 8 and 16 bits, and dcast from 32 bits too. They
 * take 32 elements at a time, then 8, and the last few go through a buffer.
 *
 *   vcmpps (ordered), vandps  turn NaNs into 0
 *   vminps, vmaxps            clamp; where one operand is a NaN the result is the second one
 *   vmulps, vfnmadd, vfmadd   the correctly rounded quotient in 3 operations on ports 0 and 1; vdivps ymm issues once
 *                             in 5 cycles
 *   vcvtps2dq                 rounds half even, because the entry has set the control register; vcvttps2dq truncates
 *   vpackssdw, vpack[su]swb   narrow with saturation, which is the clamp to the container; they work within 128-bit
 *                             lanes, which one vpermd or vpermq undoes; these shuffles are on port 5
 *   vcvtps2ph, vcvtph2ps      one rounding to f16, two uops. bf16 is rounded by integers: a NaN that came from bf16 or
 *                             from the processor has no low bits that could carry
 *   prefetchw                 owns the cache lines of a long result before they are stored to
 *
 * Eight elements of the default rule take 5 uops on ports 0 and 1 (9 with the clamp), and their part of the narrowing.
 * Exact: the bounds and the proof are in guard.inl; calls outside of the bounds go to the parent's row. */
#include "isa/rows.h"
#include "isa/x86/cast/walk.inl"
#include "isa/avx2/vectors.h"

#define STREAMS false

/* NaNs pass, because they are the second operand. */
QRT_INLINE __m256 clamp_magnitude(__m256 v, __m256 bound) {
    const __m256 negative = _mm256_xor_ps(bound, _mm256_set1_ps(-0.0f));
    return _mm256_max_ps(negative, _mm256_min_ps(bound, v));
}

QRT_INLINE __m256 clamp_input(__m256 x, __m256 bound, bool keep) {
    return clamp_magnitude(keep ? x : _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q)), bound);
}

typedef __m256i numbers;

QRT_INLINE numbers numbers_of(__m256 v) {
    return _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_ORD_Q));
}

QRT_INLINE __m256i where(numbers number, __m256i q, __m256i otherwise) {
    return _mm256_blendv_epi8(otherwise, q, number);
}

QRT_INLINE __m256i where_or_zero(numbers number, __m256i q) {
    return _mm256_and_si256(q, number);
}

QRT_INLINE bool has_word(__m256i words, __m256i word) {
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(words, word)) != 0;
}

QRT_INLINE __m256i order_bytes(__m256i bytes) {
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

QRT_INLINE __m256i order_words(__m256i words) {
    return _mm256_permute4x64_epi64(words, 0xd8);
}

/* Both halves are exact, and so is 2^16 times one of them: only their sum is rounded. */
QRT_INLINE __m256 unsigned_to_floats(__m256i q) {
    const __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(q, 16));
    const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(q, _mm256_set1_epi32(0xffff)));
    return _mm256_fmadd_ps(high, _mm256_set1_ps(0x1p16f), low);
}

#include "isa/x86/cast/lanes.inl"
#include "isa/x86/cast/rows.inl"
#include "isa/x86/cast/variants.inl"
