/* lookup in tables of bytes, 64 elements at a time; wider entries one by one.
 *
 *   vpshufb          16 entries by the low four bits of an index; port 5
 *   vpsubsb          the indices of the next entries; port 0
 *   vpxorq           the sum of what was found; ports 0 and 5
 *
 * A vector takes 16 of the first, 14 of the second and 16 of the third: 23 cycles; storage of up to 4 bits 2 uops.
 * chain.inl has the proof. Nothing but whole vectors is loaded and stored; the last elements are looked up one by one.
 */
#include "isa/rows.h"
#include "vectors.h"

QRT_INLINE __m512i broadcast_part(const char *entries) {
    return _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)entries));
}

#include "isa/x86/lookup/chain.inl"
