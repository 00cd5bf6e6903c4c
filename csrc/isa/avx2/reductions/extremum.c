/* The extreme byte of a line and its number, sixteen bytes at a time: the least of the bytes after those bits are
 * flipped that make it the least unsigned one.
 *
 *   vpminub           the least of each place; ports 0 and 1
 *   vphminposuw       the least of eight words; port 0
 *   vpcmpeqb, vpmovmskb  the first byte that is the least
 *
 * Exact: the order of bytes is kept or turned as a whole. The last vector may overlap the one before, which neither
 * changes the least byte nor, because vectors are searched in order, the first one. */
#include <immintrin.h>

#include "isa/rows.h"

#define PIECE 16

static inline __m128i load_flipped(const uint8_t *x, int64_t i, int64_t count, __m128i flip) {
    const int64_t at = i + PIECE <= count ? i : count - PIECE;
    return _mm_xor_si128(_mm_loadu_si128((const __m128i *)(x + at)), flip);
}

static inline uint8_t least_byte(const uint8_t *x, int64_t count, __m128i flip) {
    __m128i least = load_flipped(x, 0, count, flip);
    for (int64_t i = PIECE; i < count; i += PIECE)
        least = _mm_min_epu8(least, load_flipped(x, i, count, flip));
    const __m128i words = _mm_min_epu8(least, _mm_srli_epi16(least, 8)); /* the high byte is 0 */
    return (uint8_t)_mm_cvtsi128_si32(_mm_minpos_epu16(words));
}

static inline int64_t first_of(const uint8_t *x, int64_t count, __m128i flip, uint8_t wanted) {
    for (int64_t i = 0;; i += PIECE) {
        const __m128i equal = _mm_cmpeq_epi8(load_flipped(x, i, count, flip), _mm_set1_epi8((char)wanted));
        const unsigned found = (unsigned)_mm_movemask_epi8(equal);
        if (found)
            return (i + PIECE <= count ? i : count - PIECE) + __builtin_ctz(found);
    }
}

void avx2_extremum(const qrt_extremum_args *args, const void *x, void *target) {
    const bool bytes = args->number == QRT_NUMBER_I8 || args->number == QRT_NUMBER_U8;
    if (!bytes || args->reduced_rank != 1 || args->reduced_strides[0] != 1 || args->count < PIECE) {
        avx2_parent.extremum(args, x, target);
        return;
    }
    const uint8_t sign = args->number == QRT_NUMBER_I8 ? 0x80 : 0, flip = args->least ? sign : (uint8_t)~sign;
    const __m128i flips = _mm_set1_epi8((char)flip);
    const uint8_t best = least_byte(x, args->count, flips);
    if (args->index_bytes == 0) {
        *(uint8_t *)target = best ^ flip;
        return;
    }
    const int64_t first = first_of(x, args->count, flips, best);
    if (args->index_bytes == 4)
        *(int32_t *)target = (int32_t)first;
    else
        *(int64_t *)target = first;
}
