/* requantize of 8 and 16-bit storage: q - zp as 32-bit accumulators in L1, which the table's store finishes. An ISA
 * with a better store has a better requantize.
 *
 *   vpmovsxbd, vpmovzxbd, vpmovsxwd, vpmovzxwd   widen
 *
 * With |zp| <= 2^30 no difference leaves 32 bits; the rest is the parent's. */
#include <immintrin.h>

#include "avx2.h"

#define CHUNK 256 /* accumulators, and 16 more that a store may read */
#define MOST_ZERO_POINT (1 << 30)

static qrt_requantize_row parent;

static inline __m256i load_storage(qrt_container container, const char *source, int64_t i) {
    switch (container) {
    case QRT_I8:
        return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(source + i)));
    case QRT_U8:
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(source + i)));
    case QRT_I16:
        return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(source + 2 * i)));
    default:
        return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(source + 2 * i)));
    }
}

static inline int32_t load_one(qrt_container container, const void *source, int64_t i) {
    switch (container) {
    case QRT_I8:
        return ((const int8_t *)source)[i];
    case QRT_U8:
        return ((const uint8_t *)source)[i];
    case QRT_I16:
        return ((const int16_t *)source)[i];
    default:
        return ((const uint16_t *)source)[i];
    }
}

/* acc[i] = q[i] - zp[i * step]; false where one could leave 32 bits. */
static bool subtract(qrt_container container, const void *source, const int64_t *zero_point, int64_t count,
                     int64_t step, int32_t *acc) {
    for (int64_t i = 0; i < (step ? count : 1); i++)
        if (zero_point[i] > MOST_ZERO_POINT || zero_point[i] < -MOST_ZERO_POINT)
            return false;
    int64_t i = 0;
    if (step == 0)
        for (const __m256i zero = _mm256_set1_epi32((int)zero_point[0]); i + 8 <= count; i += 8)
            _mm256_storeu_si256((__m256i *)(acc + i), _mm256_sub_epi32(load_storage(container, source, i), zero));
    for (; i < count; i++)
        acc[i] = load_one(container, source, i) - (int32_t)zero_point[i * step];
    return true;
}

static void requantize_row(const qrt_requantize_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t step) {
    const qrt_requant *requant = &args->requant;
    const int source_size = args->container <= QRT_U8 ? 1 : 2;
    const int target_size = requant->container <= QRT_U8 ? 1 : requant->container <= QRT_U16 ? 2 : 4;
    if (args->container > QRT_U16) {
        parent(args, source, target, count, parameter, step);
        return;
    }
    _Alignas(64) int32_t acc[CHUNK + 16] = {0};
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t size = count - i < CHUNK ? count - i : CHUNK, index = parameter + i * step;
        const char *from = (const char *)source + i * source_size;
        char *to = (char *)target + i * target_size;
        if (subtract(args->container, from, args->zero_point + index, size, step, acc))
            args->kernels->store(requant, acc, 0, 1, (int)size, to, 0, index, 0, step);
        else
            parent(args, from, to, size, index, step);
    }
}

void qrt_avx2_install_requantize(qrt_kernels *table) {
    parent = table->requantize_row;
    table->requantize_row = requantize_row;
}
