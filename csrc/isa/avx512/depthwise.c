/* Depthwise convolution, two input rows per multiply-add.
 *
 *   vpmovzxbw            bytes to 16 bits, on port 5
 *   vpunpck[lh]wd        two interleave two rows of 32 channels, on port 5
 *   vpmaddwd, vpaddd     two taps of 16 channels; two uops on ports 0 and 5
 *
 * Exact. Inputs are made unsigned by flipping the top bit, which moves values and zero point by 128 alike; the zero
 * point's part of a sum is in the compensation. A pair of products, of at most 255 * 255 each, fits 32 bits, and
 * vpmaddwd does not saturate. Sums wrap modulo 2^32 and end within 31 bits. Hazard: blocks of fewer than 32 channels
 * load and store under masks. */
#include <immintrin.h>
#include <string.h>

#include "isa/rows.h"

#define OP(name) _mm512_##name
#define HIGH(even, odd) _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB)
#define LANES 4
#define GROUP 2
#define VECTORS 2
#define CLAMPS false
#define PIXELS_1 4
#define PIXELS_2 4
#define THREE_KINDS(CASE) CASE(WHOLE, 1) CASE(PART, 1)

typedef __m512i vector;
typedef __m512 floats;
typedef int16_t weight;

#include "isa/x86/depthwise/pack.inl"
#include "isa/x86/depthwise/epilogue.inl"
#include "isa/x86/depthwise/repeated512.inl"

typedef enum { WHOLE, PART, REPEATED } load_kind;

typedef struct {
    load_kind kind;
    bool flips;
    __mmask32 live;
    __m256i flip;
    __m512i padding;
    repeated_load repeated;
} loader;

QRT_INLINE loader make_loader(const qrt_depthwise_problem *problem, const qrt_depthwise_run *run) {
    const qrt_depthwise_block *block = run->block;
    loader how;
    how.kind = problem->multiplier > 1 ? REPEATED : block->channels == CHANNELS ? WHOLE : PART;
    how.live = (__mmask32)(((uint64_t)1 << block->channels) - 1);
    how.flips = problem->x == QRT_I8;
    how.flip = _mm256_set1_epi8((char)(problem->x == QRT_I8 ? SIGNED_BIAS : 0));
    how.padding = _mm512_cvtepu8_epi16(_mm256_xor_si256(_mm256_set1_epi8(*run->padding), how.flip));
    if (how.kind == REPEATED)
        make_repeated(problem, block, &how.repeated);
    return how;
}

QRT_INLINE void interleave(const loader *how, const load_kind kind, const char *const low[GROUP],
                           const char *const high[GROUP], vector *to) {
    (void)high; /* there is one segment */
    __m512i r[GROUP];
#pragma GCC unroll 2
    for (int i = 0; i < GROUP; i++) {
        const __m256i bytes = kind == WHOLE  ? _mm256_loadu_si256((const __m256i *)low[i])
                              : kind == PART ? _mm256_maskz_loadu_epi8(how->live, low[i])
                                             : _mm512_castsi512_si256(load_repeated(&how->repeated, low[i]));
        r[i] = _mm512_cvtepu8_epi16(how->flips ? _mm256_xor_si256(bytes, how->flip) : bytes);
    }
    to[0] = _mm512_unpacklo_epi16(r[0], r[1]);
    to[1] = _mm512_unpackhi_epi16(r[0], r[1]);
}

/* Written in assembly so that the sum stays in its register: see gemm.c. */
QRT_INLINE vector multiply_add(vector acc, vector columns, vector weights) {
    __asm__("vpaddd %1, %0, %0" : "+v"(acc) : "v"(_mm512_madd_epi16(columns, weights)));
    return acc;
}

QRT_INLINE vector multiply_add_from(vector acc, vector columns, const vector *weights) {
    return multiply_add(acc, columns, *weights);
}

QRT_INLINE void store_pixel(const qrt_depthwise_run *run, const load_kind kind, __m256i bytes, char *target) {
    if (kind == WHOLE)
        _mm256_storeu_si256((__m256i *)target, bytes);
    else
        _mm256_mask_storeu_epi8(target, (__mmask32)(((uint64_t)1 << run->block->channels) - 1), bytes);
}

/* Stores pixels in pairs, because narrowing leaves eight channels of each in turn. */
QRT_INLINE void store_words(const qrt_depthwise_run *run, const load_kind kind, const byte_limits *limits,
                            const vector words[][1], char *target, int64_t pixel_stride, int64_t pixel,
                            const int pixels) {
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
#pragma GCC unroll 2
    for (int p = 0; p < pixels; p += 2, target += 2 * pixel_stride) {
        if (p > 0 && pixel + p >= run->pixels)
            break;
        const __m512i both = clamped_bytes(words[p][0], words[p + 1 < pixels ? p + 1 : p][0], limits);
        const __m512i bytes = _mm512_permutexvar_epi64(order, both);
        store_pixel(run, kind, _mm512_castsi512_si256(bytes), target);
        if (p + 1 < pixels && pixel + p + 1 < run->pixels)
            store_pixel(run, kind, _mm512_extracti64x4_epi64(bytes, 1), target + pixel_stride);
    }
}

#include "isa/x86/depthwise/tile.inl"

const qrt_depthwise_microkernel avx512_depthwise = {
    DESCRIPTION,
    .segments = 1,
};
