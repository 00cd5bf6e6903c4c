/* lookup in tables of bytes, 32 elements at a time; wider entries one by one.
 *
 *   vpshufb          16 entries by the low four bits of an index; ports 1 and 5
 *   vpsubsb, vpxor   the indices of the next entries, and the sum of what was found; ports 0, 1 and 5
 *
 * A vector takes 16 of the first and 30 of the others, on three ports: 16 cycles; storage of up to 4 bits 2 uops.
 * chain.inl has the proof. Nothing but whole vectors is loaded and stored; the last elements are looked up one by one.
 */
#include "isa/rows.h"
#include "vectors.h"

QRT_INLINE __m256i broadcast_part(const char *entries) {
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)entries));
}

#include "isa/x86/lookup/chain.inl"
