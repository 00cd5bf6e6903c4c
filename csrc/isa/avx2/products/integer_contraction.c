/* Contractions in int32, whose sums and products wrap: the tile of contraction.c, with integers in the lanes.
 *
 *   vpmulld ymm   8 products: one uop a cycle or two on AMD, two uops on ports 0 and 1 of Intel, 10 cycles of latency
 *   vpaddd ymm    8 sums
 *
 * Floats carry the integers: broadcasts, loads and masked stores move bits and compute nothing. */
#include "isa/avx2/floats.h"

static inline vector integer_step(vector sum, vector a, vector b) {
    const __m256i product = _mm256_mullo_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), product));
}

#define integer_step integer_step
#define TILE_VECTORS 2
#include "isa/x86/contraction/tile.inl"

void avx2_integer_tile(const qrt_contraction_tile *tile) {
    whole_tile(tile);
}
