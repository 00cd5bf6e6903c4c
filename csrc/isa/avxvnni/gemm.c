/* The 8-bit microkernel: the tiles of tile256.h with four values of K per multiply-add.
 *
 *   vpdpbusd ymm      u8 x s8, four products added to an i32 without saturation: ports 0 and 1, 12 per four values of
 *                     K, 6 cycles
 *   vpbroadcastd m32  four values of A; load ports only: 6, and 2 loads of B: 4 cycles with two ports
 *
 * Exact: see pack_quads.h. */
#include "isa/x86/gemm/pack_quads.inl"
#include "avxvnni.h"
#include "isa/rows.h"

#define KU 4

static inline __attribute__((always_inline)) __m256i multiply_add(__m256i acc, __m256i a, __m256i b) {
    return qrt_vpdpbusd(acc, a, b);
}

#include "isa/x86/gemm/tile256.inl"

static qrt_a_form a_form(const qrt_gemm_args *args) {
    if (args->a_zero_point_steps[1] || !is_centred(args))
        return QRT_A_PACKED_TERMS;
    return flip_of_a(args->a) || args->k % KU ? QRT_A_PACKED : QRT_A_IN_PLACE;
}

static void pack_a(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *terms) {
    const uint8_t flip = flip_of_a(container);
    for (int i = 0; i < rows; i++) {
        const uint8_t *from = (const uint8_t *)source + i * source_stride;
        uint8_t *to = (uint8_t *)target + i * target_stride;
        __m128i sum = _mm_setzero_si128();
        for (int64_t k = 0; k < depth; k += PIECE) {
            const __m128i bytes = load_flipped(from + k, depth - k, flip);
            _mm_store_si128((__m128i *)(to + k), bytes);
            sum = _mm_add_epi64(sum, _mm_sad_epu8(bytes, _mm_setzero_si128()));
        }
        if (terms) {
            const int32_t zero = zero_point[i] + flip;
            terms[2 * i] = (int32_t)(_mm_cvtsi128_si64(sum) + _mm_extract_epi64(sum, 1) - depth * zero);
            terms[2 * i + 1] = zero;
        }
    }
}

/* Columns contiguous: four rows of 16 columns interleave into 16 quads, or into 8 where the panel ends. */
static void pack_b_rows(const uint8_t *source, int64_t k_stride, int columns, int width, int64_t depth, int64_t padded,
                        uint8_t flip, int8_t *panel) {
    for (int64_t k = 0; k < padded; k += 4) {
        for (int j = 0; j < width; j += PIECE) {
            __m128i row[4];
            for (int r = 0; r < 4; r++) {
                const int64_t left = k + r < depth && j < columns ? columns - j : 0;
                row[r] = load_flipped(source + (k + r) * k_stride + j, left, flip);
            }
            const __m128i low01 = _mm_unpacklo_epi8(row[0], row[1]), low23 = _mm_unpacklo_epi8(row[2], row[3]);
            const __m128i high01 = _mm_unpackhi_epi8(row[0], row[1]), high23 = _mm_unpackhi_epi8(row[2], row[3]);
            __m128i *to = (__m128i *)(panel + k * width + j * 4);
            _mm_store_si128(to, _mm_unpacklo_epi16(low01, low23));
            _mm_store_si128(to + 1, _mm_unpackhi_epi16(low01, low23));
            if (j + PIECE > width)
                continue;
            _mm_store_si128(to + 2, _mm_unpacklo_epi16(high01, high23));
            _mm_store_si128(to + 3, _mm_unpackhi_epi16(high01, high23));
        }
    }
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    const int64_t padded = (depth + KU - 1) / KU * KU;
    const int vectors = tile_vectors(columns);
    const uint8_t flip = flip_of_b(container);
    if (n_stride == 1)
        pack_b_rows(source, k_stride, columns, vectors * LANES, depth, padded, flip, panel);
    else
        pack_b_strided(source, k_stride, n_stride, columns, vectors * LANES, depth, padded, flip, panel);
    zero_point_terms(container, columns, zero_point, NR, terms);
    for (int j = 0; j < vectors; j++) {
        __m256i sum = _mm256_setzero_si256();
        for (int64_t q = 0; q < padded / KU; q++)
            sum = qrt_vpdpbusd(sum, _mm256_set1_epi8(1), _mm256_load_si256((const __m256i *)panel + q * vectors + j));
        _mm256_storeu_si256((__m256i *)(terms + NR + j * LANES), sum);
    }
}

static inline __m256i multiply(const int32_t *values, int32_t by) {
    return _mm256_mullo_epi32(_mm256_loadu_si256((const __m256i *)values), _mm256_set1_epi32(by));
}

static void run_line(const qrt_gemm_panel *p) {
    const int vectors = tile_vectors(p->columns);
    __m256i bias[2], start[MR * 2];
    load_bias(p, bias);
    for (int j = 0; j < vectors; j++)
        start[j] =
            _mm256_sub_epi32(bias[j], multiply(p->b_terms + NR + j * LANES, p->a_zero_point + flip_of_a(p->args->a)));
    for (int row = 0, rows; row < p->rows; row += rows) {
        rows = next_tile(p->rows - row, MR);
        for (int i = 0; p->a_terms && i < rows; i++)
            for (int j = 0; j < vectors; j++) {
                const int32_t *terms = p->a_terms + 2 * (row + i);
                start[i * vectors + j] =
                    _mm256_sub_epi32(bias[j], _mm256_add_epi32(multiply(p->b_terms + j * LANES, terms[0]),
                                                               multiply(p->b_terms + NR + j * LANES, terms[1])));
            }
        run_tile(p, row, rows, start, p->a_terms != NULL);
    }
}

static void run(const qrt_gemm_panel *p) {
    qrt_gemm_panel line = *p;
    for (int64_t i = 0; i < p->lines; i++, next_line(&line))
        run_line(&line);
}

const qrt_gemm_kernel avxvnni_gemm = {
    .name = "avxvnni",
    .mr = MR,
    .nr = NR,
    .ku = KU,
    .a_size = 1,
    .b_size = 1,
    .a_form = a_form,
    .pack_a = pack_a,
    .pack_b = pack_b,
    .run = run,
    .segmented = true,
    .splits = true,
};
