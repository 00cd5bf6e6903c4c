/* Rows of resized images of bytes, eight channels at a time.
 *
 *   vpmovsxbd, vpmovzxbd  bytes to integers; port 5, four for each vector of results
 *   vpmulld               two uops on ports 0 and 1; three for each vector
 *
 * Exact: resize.inl. Hazard: memory may end behind the last channel, so fewer than eight are copied. */
#include "vectors.h"

QRT_INLINE __m128i load_live_bytes(const void *source, live_lanes live) {
    int64_t bytes = 0;
    if (live == ALL)
        return load_bytes(source, live);
    memcpy(&bytes, source, (size_t)live);
    return _mm_cvtsi64_si128(bytes);
}

QRT_INLINE integers extend(__m128i bytes, bool is_signed) {
    return is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
}

#include "isa/x86/select/resize.inl"
