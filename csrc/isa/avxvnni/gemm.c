/* The 8-bit microkernel: the tiles of tile256.inl with four values of K per multiply-add.
 *
 *   vpdpbusd ymm      u8 x s8, four products added to an i32 without saturation: ports 0 and 1, 12 per four values of
 *                     K, 6 cycles
 *   vpbroadcastd m32  four values of A; load ports only: 6, and 2 loads of B: 4 cycles with two ports
 *
 * Exact: pack_quads.inl has the proof. Hazard: rows whose K is no multiple of 4 are packed, because steps are read
 * whole. */
#include "isa/x86/gemm/pack_quads.inl"
#include "avxvnni.h"
#include "isa/rows.h"

#define KU 4

QRT_INLINE __m256i multiply_add(__m256i acc, __m256i a, __m256i b) {
    return qrt_vpdpbusd(acc, a, b);
}

#include "isa/x86/gemm/tile256.inl"

static qrt_a_form a_form(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    if (compensates_rows(problem))
        return QRT_A_COMPENSATED;
    return flip_of_a(problem->a) || problem->k % KU ? QRT_A_PACKED : QRT_A_IN_PLACE;
}

static void pack_a(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *compensation) {
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
        if (compensation) {
            const int32_t zero = zero_point[i] + flip;
            compensation[2 * i] = (int32_t)(_mm_cvtsi128_si64(sum) + _mm_extract_epi64(sum, 1) - depth * zero);
            compensation[2 * i + 1] = zero;
        }
    }
}

/* For contiguous columns. Four rows of 16 columns interleave into 16 quads, or into 8 where the panel ends. */
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
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation) {
    const int64_t padded = (depth + KU - 1) / KU * KU;
    const int vectors = tile_vectors(columns);
    const uint8_t flip = flip_of_b(container);
    if (n_stride == 1)
        pack_b_rows(source, k_stride, columns, vectors * LANES, depth, padded, flip, panel);
    else
        pack_b_strided(source, k_stride, n_stride, columns, vectors * LANES, depth, padded, flip, panel);
    zero_point_compensation(container, columns, zero_point, NR, compensation);
    for (int j = 0; j < vectors; j++) {
        __m256i sum = _mm256_setzero_si256();
        for (int64_t q = 0; q < padded / KU; q++)
            sum = qrt_vpdpbusd(sum, _mm256_set1_epi8(1), _mm256_load_si256((const __m256i *)panel + q * vectors + j));
        _mm256_storeu_si256((__m256i *)(compensation + NR + j * LANES), sum);
    }
}

/* Returns `sum` - by * a vector of compensation. */
static inline __m256i subtract_multiple(__m256i sum, const int32_t *values, int32_t by) {
    const __m256i loaded = _mm256_loadu_si256((const __m256i *)values);
    return _mm256_sub_epi32(sum, _mm256_mullo_epi32(loaded, _mm256_set1_epi32(by)));
}

static void run_image_row(const qrt_microkernel_call *call) {
    const int vectors = tile_vectors(call->columns);
    const int32_t *zero_points = call->b_compensation, *column_sums = zero_points + NR;
    const int32_t a_zero_point = call->a_zero_point + flip_of_a(call->args->problem.a);
    __m256i bias[2], start[MR * 2];
    load_bias(call, bias);
    for (int j = 0; j < vectors; j++)
        start[j] = subtract_multiple(bias[j], column_sums + j * LANES, a_zero_point);
    for (int row = 0, rows; row < call->rows; row += rows) {
        rows = next_tile(call->rows - row, MR);
        for (int i = 0; call->a_compensation && i < rows; i++)
            for (int j = 0; j < vectors; j++) {
                const int32_t *of_row = call->a_compensation + 2 * (row + i);
                const __m256i rest = subtract_multiple(bias[j], zero_points + j * LANES, of_row[0]);
                start[i * vectors + j] = subtract_multiple(rest, column_sums + j * LANES, of_row[1]);
            }
        run_tile(call, row, rows, start, call->a_compensation != NULL);
    }
}

static void run(const qrt_microkernel_call *call) {
    qrt_microkernel_call image_row = *call;
    for (int64_t i = 0; i < call->image_rows; i++, next_image_row(&image_row))
        run_image_row(&image_row);
}

const qrt_gemm_microkernel avxvnni_gemm = MICROKERNEL("avxvnni", 1);
