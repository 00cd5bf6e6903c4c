/* The 8-bit microkernel: up to 14 rows x 32 columns of i32 in registers over the whole of K, four values of K at a
 * time.
 *
 *   vpdpbusd          u8 x s8, four products added to an i32 without saturation (vpdpbusds would saturate): ports 0 and
 *                     5, 28 per four values of K, 14 cycles
 *   vpbroadcastd m32  four values of A; load ports only: 14, and 2 loads and 2 prefetches of B: 9 cycles
 *
 * 28 sums, two vectors of B and a broadcast fill 31 of 32 registers; all is 46 uops, 11.5 cycles of issue.
 *
 * A must be u8 and B s8; flipping the top bit moves the values and their zero points by 128 alike:
 *     sum (a - za)(b - zb) = sum a*b - za * sum b - zb * (sum a - depth * za)
 * Sums begin with the other terms, modulo 2^32. vpdpbusd wraps modulo 2^32 too, and the exact sum fits 31 bits (qrt.h),
 * so the final value is exact. Filled-up values of K are 0 in the panel of B.
 *
 * Unsigned rows of A against signed B without a zero point need neither a flip nor a sum: they are read in place.
 * Panels of B: [quad][column][4], of 32 columns, or 16 where no more are valid. */
#include <immintrin.h>
#include <string.h>

#include "avx512vnni.h"

#define KU 4
#define NR 32
#define LANES 16
#define PACK_AHEAD 32 /* rows of B */

/* ---- packing ---- */

/* What moves B to signed; A's is the opposite. */
static inline uint8_t flip_of_b(qrt_container b) {
    return b == QRT_U8 ? 0x80 : 0;
}

static inline uint8_t flip_of_a(qrt_container a) {
    return a == QRT_I8 ? 0x80 : 0;
}

static bool is_centred(const qrt_gemm_args *args) {
    const int64_t matrices = args->b_zero_point_steps[0] ? args->b_matrices : 1;
    const int64_t columns = args->b_zero_point_steps[2] ? args->n : 1;
    for (int64_t matrix = 0; matrix < matrices; matrix++)
        for (int64_t j = 0; j < columns; j++)
            if (args->b_zero_point[matrix * args->b_zero_point_steps[0] + j * args->b_zero_point_steps[2]] !=
                flip_of_b(args->b))
                return false;
    return true;
}

static qrt_a_form a_form(const qrt_gemm_args *args) {
    if (args->a_zero_point_steps[1] || !is_centred(args))
        return QRT_A_PACKED_TERMS;
    /* Rows a multiple of 2 KiB apart fall into two sets of L1, which hold eight lines each. */
    const bool collide = args->m > 8 && args->a_row_stride % 2048 == 0;
    return flip_of_a(args->a) || args->k % KU || collide ? QRT_A_PACKED : QRT_A_IN_PLACE;
}

/* terms: sum a - depth * za, then za. */
static void pack_a(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *terms) {
    const uint8_t flip = flip_of_a(container);
    const __m512i flips = _mm512_set1_epi8((char)flip), ones = _mm512_set1_epi8(1);
    for (int i = 0; i < rows; i++) {
        const uint8_t *from = (const uint8_t *)source + i * source_stride;
        uint8_t *to = (uint8_t *)target + i * target_stride;
        __m512i sum = _mm512_setzero_si512();
        int64_t k = 0;
        for (; k + 64 <= depth; k += 64) {
            const __m512i bytes = _mm512_xor_si512(_mm512_loadu_si512(from + k), flips);
            _mm512_store_si512(to + k, bytes);
            sum = _mm512_dpbusd_epi32(sum, bytes, ones);
        }
        if (k < depth) {
            const __mmask64 live = ~0ULL >> (64 - (depth - k));
            const __m512i bytes =
                _mm512_maskz_mov_epi8(live, _mm512_xor_si512(_mm512_maskz_loadu_epi8(live, from + k), flips));
            _mm512_store_si512(to + k, bytes);
            sum = _mm512_dpbusd_epi32(sum, bytes, ones);
        }
        if (terms) {
            const int32_t zero = zero_point[i] + flip;
            terms[2 * i] = (int32_t)((int64_t)_mm512_reduce_add_epi32(sum) - depth * zero);
            terms[2 * i + 1] = zero;
        }
    }
}

static inline __m128i load_part(const uint8_t *source, int64_t left) {
    const __mmask16 live = (__mmask16)(left >= 16 ? 0xffff : (1 << left) - 1);
    return _mm_maskz_loadu_epi8(live, source);
}

/* Flips the top bit of the valid bytes only. */
static inline __m128i flip_part(__m128i bytes, int64_t left, uint8_t flip) {
    const __mmask16 live = (__mmask16)(left >= 16 ? 0xffff : (1 << left) - 1);
    return _mm_xor_si128(bytes, _mm_maskz_set1_epi8(live, (char)flip));
}

/* Sums of `vectors` vectors of columns: multiply-add with ones, in four chains to hide its latency. */
static void column_sums(const int8_t *panel, int64_t quads, int vectors, int32_t *sums) {
    const __m512i ones = _mm512_set1_epi8(1);
    for (int j = 0; j < vectors; j++) {
        __m512i sum[4] = {0};
        int64_t q = 0;
        for (; q + 4 <= quads; q += 4)
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                sum[i] = _mm512_dpbusd_epi32(sum[i], ones, _mm512_load_si512(panel + ((q + i) * vectors + j) * 64));
        for (; q < quads; q++)
            sum[0] = _mm512_dpbusd_epi32(sum[0], ones, _mm512_load_si512(panel + (q * vectors + j) * 64));
        const __m512i total = _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3]));
        _mm512_storeu_si512(sums + j * LANES, total);
    }
}

/* Up to four rows of the live columns, as quads: a row to a 128-bit lane, four columns of each row to a lane, then
 * bytes within lanes. */
static inline __attribute__((always_inline)) __m512i interleave_rows(const uint8_t *source, int64_t stride, int rows,
                                                                     __mmask16 live) {
    __m512i lanes = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(live, source));
    if (rows > 1)
        lanes = _mm512_inserti32x4(lanes, _mm_maskz_loadu_epi8(live, source + stride), 1);
    if (rows > 2)
        lanes = _mm512_inserti32x4(lanes, _mm_maskz_loadu_epi8(live, source + 2 * stride), 2);
    if (rows > 3)
        lanes = _mm512_inserti32x4(lanes, _mm_maskz_loadu_epi8(live, source + 3 * stride), 3);
    const __m512i columns = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(columns, lanes), bytes);
}

/* Columns contiguous. A step of K is a step of a row, which no prefetcher follows. */
static void pack_b_rows(const uint8_t *source, int64_t k_stride, int columns, int64_t depth, uint8_t flip,
                        int8_t *panel) {
    const int vectors = columns > LANES ? 2 : 1, tail = (int)(depth % KU);
    const int left = columns - (vectors - 1) * LANES;
    const __mmask16 live[2] = {vectors > 1 || left == LANES ? 0xffff : (__mmask16)((1 << left) - 1),
                               (__mmask16)(left == LANES ? 0xffff : (1 << left) - 1)};
    const int flip_quad = flip * 0x01010101;
    const __m512i flips[2] = {_mm512_maskz_set1_epi32(live[0], flip_quad), _mm512_maskz_set1_epi32(live[1], flip_quad)};
    for (int64_t k = depth - tail; k > 0; k -= KU, source += KU * k_stride) {
#pragma GCC unroll 4
        for (int r = 0; r < KU; r++)
            _mm_prefetch((const char *)source + (PACK_AHEAD + r) * k_stride, _MM_HINT_T0);
        for (int j = 0; j < vectors; j++, panel += 64)
            _mm512_store_si512(panel,
                               _mm512_xor_si512(interleave_rows(source + j * LANES, k_stride, KU, live[j]), flips[j]));
    }
    for (int j = 0; j < vectors && tail; j++, panel += 64) {
        const __m512i valid = _mm512_set1_epi32((int)(0xffffffffu >> 8 * (KU - tail)));
        _mm512_store_si512(panel, _mm512_xor_si512(interleave_rows(source + j * LANES, k_stride, tail, live[j]),
                                                   _mm512_and_si512(flips[j], valid)));
    }
}

/* K contiguous: four columns of 16 values are a 4x4 transpose of quads. */
static void pack_b_columns(const uint8_t *source, int64_t n_stride, int columns, int width, int64_t depth, uint8_t flip,
                           int8_t *panel) {
    for (int64_t k = 0; k < depth; k += 16) {
        const int quads = depth - k < 16 ? (int)(depth - k + KU - 1) / KU : 4;
        for (int j = 0; j < width; j += 4) {
            __m128i c[4];
            for (int i = 0; i < 4; i++)
                c[i] = j + i < columns
                           ? flip_part(load_part(source + (j + i) * n_stride + k, depth - k), depth - k, flip)
                           : _mm_setzero_si128();
            const __m128i low01 = _mm_unpacklo_epi32(c[0], c[1]), low23 = _mm_unpacklo_epi32(c[2], c[3]);
            const __m128i high01 = _mm_unpackhi_epi32(c[0], c[1]), high23 = _mm_unpackhi_epi32(c[2], c[3]);
            const __m128i quad[4] = {_mm_unpacklo_epi64(low01, low23), _mm_unpackhi_epi64(low01, low23),
                                     _mm_unpacklo_epi64(high01, high23), _mm_unpackhi_epi64(high01, high23)};
            for (int q = 0; q < quads; q++)
                _mm_store_si128((__m128i *)(panel + (k + q * KU) * width + j * KU), quad[q]);
        }
    }
}

/* terms: zb per column, then sum b. */
static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    const uint8_t flip = flip_of_b(container);
    const int width = columns <= LANES ? LANES : NR;
    const int64_t quads = (depth + KU - 1) / KU;
    if (n_stride == 1) {
        pack_b_rows(source, k_stride, columns, depth, flip, panel);
    } else if (k_stride == 1) {
        pack_b_columns(source, n_stride, columns, width, depth, flip, panel);
    } else {
        uint8_t *to = panel;
        memset(to, 0, (size_t)(quads * KU * width));
        for (int64_t k = 0; k < depth; k++)
            for (int j = 0; j < columns; j++)
                to[(k / KU * width + j) * KU + k % KU] = ((const uint8_t *)source)[k * k_stride + j * n_stride] ^ flip;
    }
    for (int j = 0; j < NR; j++)
        terms[j] = j < columns ? zero_point[j] - flip : 0;
    column_sums(panel, quads, width / LANES, terms + NR);
}

/* ---- tiles ---- */

/* Written out so that the sum stays in its register: see avx512/gemm.c. */
static inline __attribute__((always_inline)) __m512i multiply_add(__m512i acc, __m512i a, __m512i b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}

#include "../tile512.h"

/* What sums begin with where no row has terms. */
static void load_start(const qrt_gemm_panel *p, const tile_columns *c, __m512i *start) {
    const __m512i a_zero = _mm512_set1_epi32(p->a_zero_point + flip_of_a(p->args->a));
    for (int j = 0; j < c->vectors; j++)
        start[j] = _mm512_sub_epi32(load_bias(p, c, j),
                                    _mm512_mullo_epi32(_mm512_loadu_si512(p->b_terms + NR + j * LANES), a_zero));
}

/* With the terms of the rows: bias - za * sum b - zb * (sum a - depth * za). */
static void load_row_starts(const qrt_gemm_panel *p, const tile_columns *c, int64_t row, int rows, __m512i *start) {
    for (int j = 0; j < c->vectors; j++) {
        const __m512i bias = load_bias(p, c, j);
        const __m512i zero = _mm512_loadu_si512(p->b_terms + j * LANES);
        const __m512i sum = _mm512_loadu_si512(p->b_terms + NR + j * LANES);
        for (int i = 0; i < rows; i++) {
            const int32_t *terms = p->a_terms + 2 * (row + i);
            const __m512i products = _mm512_add_epi32(_mm512_mullo_epi32(zero, _mm512_set1_epi32(terms[0])),
                                                      _mm512_mullo_epi32(sum, _mm512_set1_epi32(terms[1])));
            start[i * c->vectors + j] = _mm512_sub_epi32(bias, products);
        }
    }
}

static void run(const qrt_gemm_panel *p) {
    tile_columns c;
    load_columns(p, &c);
    __m512i start[MR * 2];
    if (!p->a_terms)
        load_start(p, &c, start);
    int row = 0;
    for (int groups = tile_groups(p); groups > 0; groups--) {
        const int rows = (p->rows - row + groups - 1) / groups;
        if (p->a_terms)
            load_row_starts(p, &c, row, rows, start);
        run_tile(p, &c, row, rows, start, p->a_terms != NULL);
        row += rows;
    }
}

void qrt_avx512vnni_install_gemm(qrt_kernels *table) {
    table->gemm = (qrt_gemm_kernel){
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
    };
}
