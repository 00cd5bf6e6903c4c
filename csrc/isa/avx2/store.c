/* Requantizes and stores tiles of 32-bit sums, eight columns at a time.
 *
 *   vpmuldq                    32 x 32 -> 64 bit signed products of the even lanes; the odd ones are shifted down first
 *   vpsrlvq                    logical 64-bit shift by a count per lane; AVX2 has no arithmetic one
 *   vcvtdq2ps, vmulps          the two roundings of float32
 *   vcvtps2dq                  rounds half even, because the entry has set the control register
 *   vpshufb, vpunpckl[dq,qdq]  narrow values that are within the container already
 *
 * fixed takes 16 uops for eight columns and float32 9, on ports 0, 1 and 5; three of them are the shuffles that narrow.
 * store.inl has the proof and the hazards. */
#include "isa/rows.h"
#include "vectors.h"

#define LOGICAL_SHIFTS true

QRT_INLINE __m256i shift_right(__m256i v, __m256i count) {
    return _mm256_srlv_epi64(v, count);
}

QRT_INLINE __m256i interleave(__m256i even, __m256i odd) {
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

QRT_INLINE bool all_within(__m256i values, int low, int high, live_lanes live) {
    const __m256i outside = _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), values),
                                            _mm256_cmpgt_epi32(values, _mm256_set1_epi32(high)));
    return (_mm256_movemask_ps(_mm256_castsi256_ps(outside)) & ((1 << live) - 1)) == 0;
}

#include "isa/x86/store/store.inl"
