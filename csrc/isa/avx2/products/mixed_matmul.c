/* Rows of floats by quantized weights, and rows as digits. The products, their instructions, ports and proof are those
 * of mixed_matmul/tile.inl. Rows become digits once for all panels:
 *
 *   vpand, vpcmpgtd, vpmaxsd  find the largest finite magnitude; ports 0 and 1, vpand on 0, 1 and 5
 *   vmulps, vcvtps2dq         integers in units of the piece, half even because the entry has set the control register
 *   vpaddd, vpxor, vpshufb    cut an integer into signed digits, which carry into each other
 *
 * Hazard: memory may end behind a row; masked loads do not fault past their mask. */
#include <immintrin.h>

#define OP(name) _mm256_##name
#define SI(name) _mm256_##name##_si256
#define HALF(name) _mm_##name##_si128
#define LANES 8

typedef __m256i vector;
typedef __m256 floats;

#include "isa/x86/mixed_matmul/tile.inl"

/* ---- rows ---- */

/* The next values of a row, 0 past `left`; masked loads do not fault there. */
static inline __m256 load_row(const float *row, int64_t left) {
    const int n = left > 8 ? 8 : (int)left;
    return _mm256_maskload_ps(row, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
}

static inline __m256i magnitudes(__m256 x) {
    return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF));
}

static inline __m256i finite_of(__m256 x) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(0x7F800000), magnitudes(x));
}

/* Returns the bits of the largest finite magnitude, and clears *finite where there are other values. */
static uint32_t largest_finite(const float *a, int64_t length, bool *finite) {
    __m256i largest = _mm256_setzero_si256();
    for (int64_t i = 0; i < length; i += 8) {
        const __m256 x = load_row(a + i, length - i);
        const __m256i usual = finite_of(x);
        *finite &= _mm256_movemask_epi8(usual) == -1;
        largest = _mm256_max_epi32(largest, _mm256_and_si256(usual, magnitudes(x)));
    }
    const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    const __m128i two = _mm_max_epi32(four, _mm_unpackhi_epi64(four, four));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 1)));
}

/* Turns four integers into four words. Nibbles: an empty word, then one word for each digit, the most significant digit
 * first. Bytes: the lower 16 bits of the even and of the odd values, then the higher ones. */
QRT_INLINE __m256i split(const bool nibbles, __m256i integers) {
    const __m256i carries = _mm256_set1_epi32(nibbles ? 0x8080 : 0x8000);
    const __m128i planes = nibbles ? _mm_setr_epi8(-1, -1, -1, -1, 2, 6, 10, 14, 1, 5, 9, 13, 0, 4, 8, 12)
                                   : _mm_setr_epi8(0, 1, 8, 9, 4, 5, 12, 13, 2, 3, 10, 11, 6, 7, 14, 15);
    return _mm256_shuffle_epi8(_mm256_xor_si256(_mm256_add_epi32(integers, carries), carries),
                               _mm256_broadcastsi128_si256(planes));
}

/* Writes the words of a piece to `to`. Returns the sums of their digits, behind an arbitrary word; of bytes, that of
 * the higher 16 bits, an arbitrary word, and that of the lower ones. */
QRT_INLINE __m128i split_piece(const bool nibbles, const float *a, int64_t length, float inverse, __m128i *to) {
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sums = _mm256_setzero_si256();
    for (int64_t i = 0; i < length; i += 8, to += 2) {
        const __m256 x = load_row(a + i, length - i);
        const __m256 usual = _mm256_and_ps(x, _mm256_castsi256_ps(finite_of(x)));
        const __m256i words = split(nibbles, _mm256_cvtps_epi32(_mm256_mul_ps(usual, _mm256_set1_ps(inverse))));
        const __m256i pairs = nibbles ? _mm256_maddubs_epi16(_mm256_set1_epi8(1), words) : words;
        _mm256_storeu_si256((__m256i *)to, words);
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
    }
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return nibbles ? four : _mm_shuffle_epi32(_mm_hadd_epi32(four, four), _MM_SHUFFLE(0, 0, 1, 0));
}

/* Writes for each piece its unit, and what the sums of its digits begin with; where zero points differ, the sums of
 * digits that zero points are multiplied by. The words follow. */
QRT_INLINE bool row_of(const bool nibbles, const qrt_mixed_matmul_args *args, const float *a, __m128i *to) {
    const __m128i times = _mm_set1_epi32(args->plan.zero_points_differ ? -1 : -args->plan.common_zero_point);
    bool finite = true;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int exponent = qrt_unit_exponent(largest_finite(a + piece.k, piece.length, &finite));
        const float inverse = qrt_float_of(qrt_inverse_unit_bits(exponent));
        const __m128i sums = split_piece(nibbles, a + piece.k, piece.length, inverse, to + 1);
        const __m128i unit = _mm_cvtsi32_si128((int)qrt_unit_bits(exponent));
        _mm_store_si128(to, _mm_blend_epi16(_mm_mullo_epi32(sums, times), unit, 3));
        to += 1 + qrt_piece_vectors(nibbles, piece.length) * (nibbles ? 2 : 1);
    }
    return finite;
}

bool avx2_mixed_row(const qrt_mixed_matmul_args *args, const float *a, void *digits) {
    return args->problem.nibbles ? row_of(true, args, a, digits) : row_of(false, args, a, digits);
}
