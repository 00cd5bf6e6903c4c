/* Depthwise convolution, 512 bits wide, where each input channel serves several output channels. A lane has 16 output
 * channels, and is loaded from where its first input channel is. */
#pragma once

typedef struct {
    __m512i order;
    int offset[4];
    __mmask16 live[4];
} repeated_load;

static __attribute__((noinline)) void make_repeated(const qrt_depthwise_problem *problem,
                                                    const qrt_depthwise_block *block, repeated_load *to) {
    uint8_t order[64] = {0};
    const int64_t base = block->first / problem->multiplier;
    for (int lane = 0; lane < 4; lane++) {
        const int64_t first = (block->first + 16 * lane) / problem->multiplier;
        to->offset[lane] = (int)(first - base);
        to->live[lane] = 0;
        for (int e = 0; e < 16 && 16 * lane + e < block->channels; e++) {
            const int64_t from = (block->first + 16 * lane + e) / problem->multiplier - first;
            order[16 * lane + e] = (uint8_t)from;
            to->live[lane] |= (__mmask16)(1 << from);
        }
    }
    to->order = _mm512_loadu_si512(order);
}

static __m512i load_repeated(const repeated_load *how, const char *from) {
    __m128i lane[4];
    for (int i = 0; i < 4; i++)
        lane[i] = _mm_maskz_loadu_epi8(how->live[i], from + how->offset[i]);
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(lane[0]), lane[1], 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(lane[2]), lane[3], 1);
    const __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    return _mm512_shuffle_epi8(all, how->order);
}
