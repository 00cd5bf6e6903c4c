/* Depthwise convolution, two input rows per multiply-add.
 *
 *   vpmovzxbw            bytes to 16 bits
 *   vpunpck[lh]wd        two interleave two rows of 16 channels
 *   vpmaddwd, vpaddd     two taps of eight channels
 *   vpackssdw, vpacksswb narrow with saturation; vcvtps2dq rounds half even: the entry has set the control register
 *
 * Exact for the reasons given in avx512/depthwise.c. */
#include <immintrin.h>
#include <string.h>

#include "isa/rows.h"

#define OP(name) _mm256_##name
#define LANES 2
#define GROUP 2
#define VECTORS 2
#define SIGNED_BIAS 128
#define PIXELS_1 4
#define PIXELS_2 2

typedef __m256i vector;
typedef int16_t weight;

#include "isa/x86/depthwise/pack.inl"

/* ---- loading ---- */

typedef enum { WHOLE, SHUFFLED, COPIED } load_kind;

typedef struct {
    load_kind kind;
    int count, before; /* input channels of the block; how far before them SHUFFLED loads, to stay inside the pixel */
    __m128i order, flip;
    vector padding;
} loader;

QRT_INLINE loader make_loader(const qrt_depthwise_args *args, const qrt_depthwise_run *run) {
    const qrt_depthwise_block *block = run->block;
    const int64_t first = block->first / args->multiplier;
    const int64_t last = (block->first + block->channels - 1) / args->multiplier;
    loader how = {.count = (int)(last - first + 1)};
    how.kind = how.count == CHANNELS ? WHOLE : args->window.channels >= CHANNELS ? SHUFFLED : COPIED;
    if (how.kind == SHUFFLED)
        how.before = (int)(first < CHANNELS - how.count ? first : CHANNELS - how.count);
    uint8_t order[CHANNELS] = {0};
    for (int c = 0; how.kind != WHOLE && c < block->channels; c++)
        order[c] = (uint8_t)((block->first + c) / args->multiplier - first + how.before);
    how.order = _mm_loadu_si128((const __m128i *)order);
    how.flip = _mm_set1_epi8((char)(args->x == QRT_I8 ? SIGNED_BIAS : 0));
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
    (void)high; /* one segment */
    __m256i r[GROUP];
#pragma GCC unroll 2
    for (int i = 0; i < GROUP; i++)
        r[i] = _mm256_cvtepu8_epi16(_mm_xor_si128(load_row(how, kind, low[i]), how->flip));
    to[0] = _mm256_unpacklo_epi16(r[0], r[1]);
    to[1] = _mm256_unpackhi_epi16(r[0], r[1]);
}

/* Written out so that the sum stays in its register: see gemm.c. */
QRT_INLINE vector multiply_add(vector acc, vector columns, vector weights) {
    __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(_mm256_madd_epi16(columns, weights)));
    return acc;
}

/* ---- finishing ---- */

QRT_INLINE vector scale_f32(vector acc, const block_header *header, int v) {
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc), ((const __m256 *)header->scale)[v]));
}

/* floor(acc * M0 / 2^(N - 1)), as in avx512/depthwise512.h. */
QRT_INLINE vector scale_fixed(vector acc, const block_header *header, int v) {
    const vector even = _mm256_mul_epi32(acc, ((const vector *)header->multiplier)[v]);
    const vector odd = _mm256_mul_epi32(_mm256_srli_epi64(acc, 32), ((const vector *)header->odd_multiplier)[v]);
    const vector high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
    return _mm256_srav_epi32(high, ((const vector *)header->shift)[v]);
}

typedef struct {
    __m256i low, high;
    bool is_unsigned;
} byte_limits;

QRT_INLINE byte_limits make_limits(const qrt_requant *requant) {
    return (byte_limits){_mm256_set1_epi8((char)requant->storage_min), _mm256_set1_epi8((char)requant->storage_max),
                         requant->container == QRT_U8};
}

QRT_INLINE void store_pixel(const qrt_depthwise_run *run, __m128i bytes, char *target) {
    if (run->block->channels == CHANNELS)
        _mm_storeu_si128((__m128i *)target, bytes);
    else
        memcpy(target, &bytes, (size_t)run->block->channels);
}

/* Pixels in pairs: narrowing leaves eight channels of each in turn. */
QRT_INLINE void store_words(const qrt_depthwise_run *run, const load_kind kind, const byte_limits *limits,
                            const vector words[][1], char *target, int64_t pixel_stride, int64_t pixel,
                            const int pixels) {
    (void)kind;
#pragma GCC unroll 2
    for (int p = 0; p < pixels; p += 2, target += 2 * pixel_stride) {
        if (p > 0 && pixel + p >= run->pixels)
            break;
        __m256i bytes;
        if (limits->is_unsigned) {
            bytes = _mm256_packus_epi16(words[p][0], words[p + 1][0]);
            bytes = _mm256_min_epu8(_mm256_max_epu8(bytes, limits->low), limits->high);
        } else {
            bytes = _mm256_packs_epi16(words[p][0], words[p + 1][0]);
            bytes = _mm256_min_epi8(_mm256_max_epi8(bytes, limits->low), limits->high);
        }
        bytes = _mm256_permute4x64_epi64(bytes, 0xd8);
        store_pixel(run, _mm256_castsi256_si128(bytes), target);
        if (pixel + p + 1 < run->pixels)
            store_pixel(run, _mm256_extracti128_si256(bytes, 1), target + pixel_stride);
    }
}

#include "isa/x86/depthwise/tile.inl"

const qrt_depthwise_kernel avx2_depthwise = {
    .channels = CHANNELS,
    .segments = 1,
    .group = GROUP,
    .pixels = PIXELS_1,
    .header_bytes = sizeof(block_header),
    .group_bytes = VECTORS * sizeof(vector),
    .w_min = -255,
    .w_max = 255,
    .pack = pack_block,
    .add_bias = add_bias,
    .run = run_depthwise,
};
