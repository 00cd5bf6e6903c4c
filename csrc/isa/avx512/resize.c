/* Rows of resized images of bytes, sixteen channels at a time.
 *
 *   vpmovsxbd, vpmovzxbd  bytes to integers; port 5, four for each vector of results
 *   vpmulld               two uops on port 0; three for each vector
 *
 * Exact: resize.inl. Hazard: memory may end behind the last channel, so loads and stores of fewer are masked. */
#include "vectors.h"

QRT_INLINE __m128i load_live_bytes(const void *source, live_lanes live) {
    return load_bytes(source, live);
}

QRT_INLINE integers extend(__m128i bytes, bool is_signed) {
    return is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
}

#include "isa/x86/select/resize.inl"
