/* Depthwise convolution, two input rows per multiply-add.
 *
 *   vpmovzxbw            bytes to 16 bits, on port 5
 *   vpunpck[lh]wd        two interleave two rows of 16 channels, on port 5 (and 1 from Ice Lake on)
 *   vpmaddwd, vpaddd     two taps of eight channels: ports 0 and 1, and 0, 1 and 5
 *   vpackssdw, vpacksswb narrow with saturation; vcvtps2dq rounds half even: the entry has set the control register
 *
 * A column is interleaved once and then serves every tap. Exact: the proof is in avx512/depthwise.c. Hazard: a block
 * with fewer than 16 channels must not be read past the pixel, see `loader`. */
#include <immintrin.h>
#include <string.h>

#include "isa/rows.h"

#define OP(name) _mm256_##name
#define HIGH(even, odd) _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa)
#define LANES 2
#define GROUP 2
#define VECTORS 2
#define CLAMPS true
#define PIXELS_1 4
#define PIXELS_2 2

typedef __m256i vector;
typedef __m256 floats;
typedef int16_t weight;

#include "isa/x86/depthwise/pack.inl"
#include "isa/x86/depthwise/epilogue.inl"

/* ---- loading ---- */

typedef enum { WHOLE, SHUFFLED, COPIED } load_kind;

typedef struct {
    load_kind kind;
    int count, before; /* input channels of the block. before: how much earlier SHUFFLED loads, to stay inside */
    __m128i order, flip;
    vector padding;
} loader;

QRT_INLINE loader make_loader(const qrt_depthwise_problem *problem, const qrt_depthwise_run *run) {
    const qrt_depthwise_block *block = run->block;
    const int64_t first = block->first / problem->multiplier;
    const int64_t last = (block->first + block->channels - 1) / problem->multiplier;
    loader how = {.count = (int)(last - first + 1)};
    how.kind = how.count == CHANNELS ? WHOLE : problem->window.channels >= CHANNELS ? SHUFFLED : COPIED;
    if (how.kind == SHUFFLED)
        how.before = (int)(first < CHANNELS - how.count ? first : CHANNELS - how.count);
    uint8_t order[CHANNELS] = {0};
    for (int c = 0; how.kind != WHOLE && c < block->channels; c++)
        order[c] = (uint8_t)((block->first + c) / problem->multiplier - first + how.before);
    how.order = _mm_loadu_si128((const __m128i *)order);
    how.flip = _mm_set1_epi8((char)(problem->x == QRT_I8 ? SIGNED_BIAS : 0));
    how.padding = _mm256_cvtepu8_epi16(_mm_xor_si128(_mm_set1_epi8(*run->padding), how.flip));
    return how;
}

QRT_INLINE __m128i load_row(const loader *how, const load_kind kind, const char *from) {
    if (kind == WHOLE)
        return _mm_loadu_si128((const __m128i *)from);
    if (kind == SHUFFLED)
        return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(from - how->before)), how->order);
    char bytes[CHANNELS];
    memcpy(bytes, from, (size_t)how->count);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)bytes), how->order);
}

QRT_INLINE void interleave(const loader *how, const load_kind kind, const char *const low[GROUP],
                           const char *const high[GROUP], vector *to) {
    (void)high; /* there is one segment */
    __m256i r[GROUP];
#pragma GCC unroll 2
    for (int i = 0; i < GROUP; i++)
        r[i] = _mm256_cvtepu8_epi16(_mm_xor_si128(load_row(how, kind, low[i]), how->flip));
    to[0] = _mm256_unpacklo_epi16(r[0], r[1]);
    to[1] = _mm256_unpackhi_epi16(r[0], r[1]);
}

/* Written in assembly so that the sum stays in its register: see avx512/gemm.c. */
QRT_INLINE vector multiply_add(vector acc, vector columns, vector weights) {
    __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(_mm256_madd_epi16(columns, weights)));
    return acc;
}

/* ---- storing ---- */

QRT_INLINE void store_pixel(const qrt_depthwise_run *run, __m128i bytes, char *target) {
    if (run->block->channels == CHANNELS)
        _mm_storeu_si128((__m128i *)target, bytes);
    else
        memcpy(target, &bytes, (size_t)run->block->channels);
}

/* Stores pixels in pairs, because narrowing leaves eight channels of each in turn. */
QRT_INLINE void store_words(const qrt_depthwise_run *run, const load_kind kind, const byte_limits *limits,
                            const vector words[][1], char *target, int64_t pixel_stride, int64_t pixel,
                            const int pixels) {
    (void)kind;
#pragma GCC unroll 2
    for (int p = 0; p < pixels; p += 2, target += 2 * pixel_stride) {
        if (p > 0 && pixel + p >= run->pixels)
            break;
        const __m256i both = clamped_bytes(words[p][0], words[p + 1][0], limits);
        const __m256i bytes = _mm256_permute4x64_epi64(both, 0xd8);
        store_pixel(run, _mm256_castsi256_si128(bytes), target);
        if (pixel + p + 1 < run->pixels)
            store_pixel(run, _mm256_extracti128_si256(bytes, 1), target + pixel_stride);
    }
}

#include "isa/x86/depthwise/tile.inl"

const qrt_depthwise_microkernel avx2_depthwise = {
    DESCRIPTION,
    .segments = 1,
};
