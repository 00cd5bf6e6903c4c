/* Rows of floats by quantized weights. Rows as digits are the parent's. */
#include <immintrin.h>

#include "isa/rows.h"

#define OP(name) _mm512_##name
#define LANES 16

typedef __m512i vector;
typedef __m512 floats;

QRT_INLINE vector load(const void *from) {
    return _mm512_load_si512(from);
}

QRT_INLINE __m256i load_half(const void *from) {
    return _mm256_load_si256(from);
}

QRT_INLINE vector bits_and(vector a, vector b) {
    return _mm512_and_si512(a, b);
}

#include "isa/x86/mixed_matmul/tile.inl"

void avx512_mixed_tile(const qrt_mixed_matmul_args *args, const void *digits, int rows, const uint8_t *panel,
                       float *sums) {
    mixed_tile(args, digits, rows, panel, sums);
}
