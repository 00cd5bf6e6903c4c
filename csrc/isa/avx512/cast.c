/* Casts computed in f32: f16, bf16 and f32 to and from containers of 8 and 16 bits, and dcast from 32 bits too. They
 * take 64 elements at a time, then 16 under a mask.
 *
 *   vcmpps (ordered)        finds NaNs; the masked vrangeps turns them into 0 at no cost, or lets them pass
 *   vrangeps (min-absolute) clamps |x| and keeps its sign; the default rule first tries without both and then checks
 *   vmulps, vfnmadd, vfmadd the correctly rounded quotient in 3 operations on ports 0 and 5; vdivps zmm issues once in
 *                           10 cycles
 *   vcvtps2dq {rn-sae}      rounds half even whatever the control register says; vcvttps2dq truncates
 *   vpackssdw, vpack[su]swb narrow with saturation, which is the clamp to the container; they work within 128-bit
 *                           lanes, which one vpermd or vpermq undoes; these shuffles are on port 5
 *   vcvtps2ph, vcvtph2ps    one rounding to f16, two uops. bf16 is rounded by integers: a NaN that came from bf16 or
 *                           from the processor has no low bits that could carry
 *   prefetchw               owns the cache lines of a long result before they are stored to
 *   vmovntdq                stores past the caches, where the table says that this is faster
 *
 * 64 elements of the default rule take 27 uops on ports 0 and 5, dcast of as many 16. Exact: the bounds and the proof
 * are in guard.inl; calls outside of the bounds go to the parent's row. */
#include "isa/rows.h"
#include "isa/x86/cast/walk.inl"
#include "vectors.h"

#define STREAMS true
#define MIN_ABSOLUTE 2 /* an operand of vrangeps: the smaller magnitude, with the sign of the first */

QRT_INLINE __m512 clamp_magnitude(__m512 v, __m512 bound) {
    return _mm512_range_ps(v, bound, MIN_ABSOLUTE);
}

QRT_INLINE __m512 clamp_input(__m512 x, __m512 bound, bool keep) {
    const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
    return keep ? _mm512_mask_range_ps(x, number, x, bound, MIN_ABSOLUTE)
                : _mm512_maskz_range_ps(number, x, bound, MIN_ABSOLUTE);
}

typedef __mmask16 numbers;

QRT_INLINE numbers numbers_of(__m512 v) {
    return _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
}

QRT_INLINE __m512i where(numbers number, __m512i q, __m512i otherwise) {
    return _mm512_mask_mov_epi32(otherwise, number, q);
}

QRT_INLINE __m512i where_or_zero(numbers number, __m512i q) {
    return _mm512_maskz_mov_epi32(number, q);
}

QRT_INLINE bool has_word(__m512i words, __m512i word) {
    return _mm512_cmpeq_epi16_mask(words, word) != 0;
}

QRT_INLINE __m512i order_bytes(__m512i bytes) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, bytes);
}

QRT_INLINE __m512i order_words(__m512i words) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), words);
}

QRT_INLINE __m512 unsigned_to_floats(__m512i q) {
    return _mm512_cvtepu32_ps(q);
}

#include "isa/x86/cast/lanes.inl"
#include "isa/x86/cast/rows.inl"
#include "isa/x86/cast/variants.inl"
