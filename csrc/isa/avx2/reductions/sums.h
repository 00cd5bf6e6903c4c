/* Sums of 8 and 16-bit storage in 32 bits, for pools and means.
 *
 *   vpmovsxbd, ...  widen 8 values, on port 5; vpaddd adds them to a chunk of sums in L1
 *
 * Exact: sums of up to 2^14 values, each minus a zero point of at most 2^16 in magnitude, stay below 2^31. */
#pragma once

#include "isa/avx2/widen.h"

#define MOST_VALUES (1 << 14)

QRT_INLINE void accumulate_of(qrt_container container, const char *source, int64_t count, int32_t *acc) {
    const int size = qrt_container_size(container);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i *const at = (__m256i *)(acc + i);
        _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), widen_eight(container, source + i * size)));
    }
    for (; i < count; i++)
        acc[i] += (int32_t)qrt_load(container, source, i);
}

/* acc[i] += source[i] */
static void accumulate(qrt_container container, const char *source, int64_t count, int32_t *acc) {
    BY_CONTAINER(accumulate_of, container, source, count, acc);
}
