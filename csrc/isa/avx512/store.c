/* Requantizes and stores tiles of 32-bit sums, sixteen columns at a time.
 *
 *   vpmuldq                 32 x 32 -> 64 bit signed products of the even lanes; the odd ones are shifted down first
 *   vpsravq                 arithmetic 64-bit shift by a count per lane; on port 0
 *   vcvtdq2ps, vmulps       the two roundings of float32
 *   vcvtps2dq {rn-sae}      rounds half even whatever the control register says
 *   vpmovdb, vpmovdw        truncate, because the values are within the container already; two uops on port 5
 *
 * fixed takes 13 uops for sixteen columns and float32 8, on ports 0 and 5. store.inl has the proof and the hazards. */
#include <string.h>

#include "isa/rows.h"
#include "vectors.h"

#define LOGICAL_SHIFTS false

QRT_INLINE __m512i shift_right(__m512i v, __m512i count) {
    return _mm512_srav_epi64(v, count);
}

QRT_INLINE __m512i interleave(__m512i even, __m512i odd) {
    return _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA);
}

QRT_INLINE bool all_within(__m512i values, int low, int high, live_lanes live) {
    const __m512i above = _mm512_sub_epi32(values, _mm512_set1_epi32(low));
    return _mm512_mask_cmpgt_epu32_mask(live, above, _mm512_set1_epi32(high - low)) == 0;
}

#include "isa/x86/store/store.inl"
