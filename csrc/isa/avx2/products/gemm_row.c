/* The 8-bit microkernel for a single row: its time is that of reading B, so B stays in bytes, which are widened in
 * registers. A step is a pair of K by 32 columns.
 *
 *   vpmovsxbw ymm, m128  16 bytes of B: 4, on port 5 (Intel), 4 cycles; on two ports of AMD, 2 cycles
 *   vpmaddwd, vpaddd     4 each
 *
 * Exact: B has no zero point, or that in the middle of unsigned bytes, so that value - zero point fits a byte. With
 * |a - zero point| <= 255 the two products of a pair sum up to at most 2 * 255 * 128 < 2^31, and vpmaddwd does not
 * saturate. A whole sum fits 31 bits (qrt/products/gemm.h). A panel is [pair][column][2] with 16 columns. Hazard:
 * memory may end behind the columns of the bias and the result. */
#include <immintrin.h>
#include <string.h>

#include "isa/avx2/products/gemm.h"
#include "isa/rows.h"

#define KU 2
#define MR 1
#define NR 16
#define LANES 8
#define PANELS 2  /* at once */
#define AHEAD 512 /* bytes of B */

#include "isa/x86/gemm/pack_i16.inl"

#define CHUNK 64 /* values of K that are packed at once */

static void pack_bytes(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                       int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation) {
    const int width = columns > LANES ? NR : LANES;
    int8_t *to = panel;
    memset(to, 0, (size_t)(qrt_round_up(depth, KU) * NR));
    for (int64_t k = 0; k < depth; k += CHUNK, to += CHUNK * NR) {
        _Alignas(32) int16_t wide[CHUNK * NR];
        const int64_t here = qrt_min(CHUNK, depth - k);
        pack_b(container, (const char *)source + k * k_stride, k_stride, n_stride, columns, here, zero_point, wide,
               compensation);
        for (int64_t pair = 0; pair < qrt_ceil_div(here, KU); pair++)
            for (int i = 0; i < width * KU; i++)
                to[pair * NR * KU + i] = (int8_t)wide[pair * width * KU + i];
    }
}

static bool supports(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    if (problem->a > QRT_U8 || problem->b > QRT_U8 || problem->window || problem->k_block || !problem->b_constant)
        return false;
    for (int64_t matrix = 0; matrix < problem->b_matrices; matrix++)
        for (int64_t j = 0; j < problem->n; j++)
            if (qrt_b_zero_point(problem, matrix, 0, j) != (problem->b == QRT_I8 ? 0 : 128))
                return false;
    return true;
}

static bool suits(const qrt_gemm_args *args) {
    return args->problem.m == 1;
}

QRT_INLINE __m256i multiply_add(__m256i sum, __m256i a, const char *b) {
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_load_si128((const __m128i *)b));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, wide));
}

/* Adds the products of so many panels, `bytes` apart, to their sums. */
QRT_INLINE void multiply(const char *a, const char *b, int64_t bytes, int64_t pairs, const int panels, int32_t *sums) {
    __m256i sum[PANELS][2];
    for (int i = 0; i < panels * 2; i++)
        sum[i / 2][i % 2] = _mm256_load_si256((const __m256i *)sums + i);
#pragma GCC unroll 4
    for (int64_t pair = 0; pair < pairs; pair++, a += 2 * sizeof(int16_t), b += NR * KU) {
        int32_t two;
        memcpy(&two, a, sizeof two);
        const __m256i value = _mm256_set1_epi32(two);
#pragma GCC unroll 2
        for (int i = 0; i < panels; i++) {
            _mm_prefetch(b + i * bytes + AHEAD, _MM_HINT_T0);
            sum[i][0] = multiply_add(sum[i][0], value, b + i * bytes);
            sum[i][1] = multiply_add(sum[i][1], value, b + i * bytes + NR);
        }
    }
    for (int i = 0; i < panels * 2; i++)
        _mm256_store_si256((__m256i *)sums + i, sum[i / 2][i % 2]);
}

/* Computes `columns` columns of a row, from `first` on. */
static void run_panels(const qrt_microkernel_call *call, int64_t row, int first, int columns) {
    const qrt_gemm_problem *problem = &call->args->problem;
    const int64_t pairs = qrt_ceil_div(call->depth, KU), bytes = qrt_round_up(pairs * KU * NR, 64);
    const char *a = (const char *)call->a + row * call->a_stride, *b = (const char *)call->b + first / NR * bytes;
    _Alignas(32) int32_t sums[PANELS * NR] = {0};
    if (call->bias)
        memcpy(sums, call->bias + first, (size_t)columns * sizeof *sums);
    if (columns > NR)
        multiply(a, b, bytes, pairs, 2, sums);
    else
        multiply(a, b, bytes, pairs, 1, sums);
    if (call->sums) {
        memcpy(call->sums + row * call->sums_stride + first, sums, (size_t)columns * sizeof *sums);
        return;
    }
    const int64_t *step = problem->requant_steps, size = qrt_container_size(problem->requant.container);
    call->args->kernels->store(
        &problem->requant, sums, NR, 1, columns, (char *)call->target + row * problem->out_row_stride + first * size,
        problem->out_row_stride / size, call->parameter + row * step[1] + first * step[2], step[1], step[2]);
}

static void run(const qrt_microkernel_call *call) {
    for (int64_t row = 0; row < call->rows; row++)
        for (int first = 0; first < call->columns; first += PANELS * NR)
            run_panels(call, row, first, (int)qrt_min(PANELS * NR, call->columns - first));
}

const qrt_gemm_microkernel avx2_gemm = {.name = "avx2-row",
                                        .mr = MR,
                                        .nr = NR,
                                        .ku = KU,
                                        .a_size = sizeof(int16_t),
                                        .b_size = 1,
                                        .a_form = a_form,
                                        .pack_a = pack_a,
                                        .pack_b = pack_bytes,
                                        .run = run,
                                        .all_panels = true,
                                        .supports = supports,
                                        .suits = suits,
                                        .fallback = &qrt_avx2_tiles};
