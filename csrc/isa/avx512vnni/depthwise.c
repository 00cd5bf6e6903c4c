/* Depthwise convolution, four input rows per multiply-add.
 *
 *   vpunpck[lh]bw, wd  eight interleave four rows of 64 channels, on port 5: once per column and pair of output rows
 *   vpdpbusd           u8 x s8, four taps of 16 channels, without saturation: ports 0 and 5
 *
 * Exact. Inputs are made unsigned by flipping the top bit, which moves values and zero point by 128 alike; the zero
 * point's part of a sum does not depend on the data and is in the compensation. Sums wrap modulo 2^32 and end within 31
 * bits. Hazards: weights minus their zero points must fit s8, other weights are left to the parent; blocks of fewer
 * than 64 channels load and store under masks. */
#include <immintrin.h>
#include <string.h>

#include "isa/rows.h"

#define OP(name) _mm512_##name
#define HIGH(even, odd) _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB)
#define LANES 4
#define GROUP 4
#define VECTORS 4
#define CLAMPS false
#define PIXELS_1 4
#define PIXELS_2 2
#define THREE_KINDS(CASE) CASE(WHOLE, 1) CASE(PART, 1) CASE(HALVES, 2) CASE(HALF_PARTS, 2)

typedef __m512i vector;
typedef __m512 floats;
typedef int8_t weight;

#include "isa/x86/depthwise/pack.inl"
#include "isa/x86/depthwise/epilogue.inl"
#include "isa/x86/depthwise/repeated512.inl"

typedef enum { WHOLE, PART, HALVES, HALF_PARTS, REPEATED } load_kind;

typedef struct {
    load_kind kind;
    bool flips;
    uint64_t live;
    __m512i flip, padding;
    repeated_load repeated;
} loader;

QRT_INLINE __mmask64 live_channels(const qrt_depthwise_block *block) {
    return block->channels == CHANNELS ? ~(__mmask64)0 : ((__mmask64)1 << block->channels) - 1;
}

QRT_INLINE loader make_loader(const qrt_depthwise_problem *problem, const qrt_depthwise_run *run) {
    const qrt_depthwise_block *block = run->block;
    loader how;
    how.live = live_channels(block);
    how.flips = problem->x == QRT_I8;
    how.flip = _mm512_set1_epi8((char)(problem->x == QRT_I8 ? SIGNED_BIAS : 0));
    how.padding = _mm512_xor_si512(_mm512_set1_epi8(*run->padding), how.flip);
    if (problem->multiplier > 1) {
        how.kind = REPEATED;
        make_repeated(problem, block, &how.repeated);
    } else if (block->segments == 2) {
        how.kind = block->channels == 32 ? HALVES : HALF_PARTS;
    } else {
        how.kind = block->channels == 64 ? WHOLE : PART;
    }
    return how;
}

QRT_INLINE __m512i halves(__m256i low, __m256i high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

QRT_INLINE void interleave(const loader *how, const load_kind kind, const char *const low[GROUP],
                           const char *const high[GROUP], vector *to) {
    __m512i r[GROUP];
#define ROWS(LOAD)                                                                                                     \
    _Pragma("GCC unroll 4") for (int i = 0; i < GROUP; i++) r[i] = LOAD;                                               \
    break;
    switch (kind) {
    case WHOLE:
        ROWS(_mm512_loadu_si512(low[i]))
    case PART:
        ROWS(_mm512_maskz_loadu_epi8((__mmask64)how->live, low[i]))
    case HALVES:
        ROWS(halves(_mm256_loadu_si256((const __m256i *)low[i]), _mm256_loadu_si256((const __m256i *)high[i])))
    case HALF_PARTS:
        ROWS(halves(_mm256_maskz_loadu_epi8((__mmask32)how->live, low[i]),
                    _mm256_maskz_loadu_epi8((__mmask32)how->live, high[i])))
    default:
        ROWS(load_repeated(&how->repeated, low[i]))
    }
#undef ROWS
    if (how->flips) {
#pragma GCC unroll 4
        for (int i = 0; i < GROUP; i++)
            r[i] = _mm512_xor_si512(r[i], how->flip);
    }
    const __m512i low01 = _mm512_unpacklo_epi8(r[0], r[1]), low23 = _mm512_unpacklo_epi8(r[2], r[3]);
    const __m512i high01 = _mm512_unpackhi_epi8(r[0], r[1]), high23 = _mm512_unpackhi_epi8(r[2], r[3]);
    to[0] = _mm512_unpacklo_epi16(low01, low23);
    to[1] = _mm512_unpackhi_epi16(low01, low23);
    to[2] = _mm512_unpacklo_epi16(high01, high23);
    to[3] = _mm512_unpackhi_epi16(high01, high23);
}

/* Written in assembly so that the sum stays in its register: see avx512/gemm.c. */
QRT_INLINE vector multiply_add(vector acc, vector columns, vector weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(columns), "v"(weights));
    return acc;
}

/* The same with the weights in memory, which need no register. */
QRT_INLINE vector multiply_add_from(vector acc, vector columns, const vector *weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(columns), "m"(*weights));
    return acc;
}

QRT_INLINE void store_half(__m256i bytes, const bool whole, __mmask32 live, char *target) {
    if (whole)
        _mm256_storeu_si256((__m256i *)target, bytes);
    else
        _mm256_mask_storeu_epi8(target, live, bytes);
}

QRT_INLINE void store_words(const qrt_depthwise_run *run, const load_kind kind, const byte_limits *limits,
                            const vector words[][2], char *target, int64_t pixel_stride, int64_t pixel,
                            const int pixels) {
    const __mmask64 live = live_channels(run->block);
    const int64_t second = run->segment_elements;
#pragma GCC unroll 4
    for (int p = 0; p < pixels; p++, target += pixel_stride) {
        if (p > 0 && pixel + p >= run->pixels)
            break;
        const __m512i bytes = clamped_bytes(words[p][0], words[p][1], limits);
        if (kind == HALVES || kind == HALF_PARTS) {
            store_half(_mm512_castsi512_si256(bytes), kind == HALVES, (__mmask32)live, target);
            store_half(_mm512_extracti64x4_epi64(bytes, 1), kind == HALVES, (__mmask32)live, target + second);
        } else if (kind == WHOLE) {
            _mm512_storeu_si512(target, bytes);
        } else {
            _mm512_mask_storeu_epi8(target, live, bytes);
        }
    }
}

#include "isa/x86/depthwise/tile.inl"

extern const qrt_depthwise_microkernel avx512_depthwise;

const qrt_depthwise_microkernel avx512vnni_depthwise = {
    DESCRIPTION,
    .segments = 2,
    .wider = &avx512_depthwise,
};
