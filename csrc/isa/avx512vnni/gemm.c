/* The 8-bit microkernel: up to 14 rows x 32 columns of 32-bit sums in registers over the whole of K, four values of K
 * at a time.
 *
 *   vpdpbusd          u8 x s8, four products added to an i32 without saturation (vpdpbusds would saturate): ports 0 and
 *                     5, 28 per four values of K, 14 cycles
 *   vpbroadcastd m32  four values of A; load ports only: 14, and 2 loads and 2 prefetches of B: 9 cycles
 *
 * 28 sums, two vectors of B and a broadcast take 31 of 32 registers. Together these are 46 uops, which take 11.5 cycles
 * to issue.
 *
 * Exact: pack_quads.inl has the proof. Unsigned rows of A by signed B without a zero point need neither a flip nor a
 * sum, and are read in place. A panel of B has 32 columns, or 16 where no more are valid. Hazard: rows that collide in
 * L1 are packed, see a_form. */
#include "isa/x86/gemm/quads512.inl"
#include "isa/rows.h"

#define KU 4

/* Written in assembly so that the sum stays in its register: see avx512/gemm.c. */
QRT_INLINE __m512i multiply_add(__m512i acc, __m512i a, __m512i b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}

QRT_INLINE __m512i multiply_add_memory(__m512i acc, __m512i a, const __m512i *b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "m"(*b));
    return acc;
}

#include "isa/x86/gemm/tile512.inl"
#include "column.h"

/* Whether one more call per panel, for the last rows, takes less time than packing all rows would. */
static bool few_panels(const qrt_gemm_problem *problem) {
    return !problem->window && problem->a_row_stride >= KU && 2 * problem->n < problem->m * (problem->k / 64 + 1);
}

static qrt_a_form a_form(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    if (compensates_rows(problem))
        return QRT_A_COMPENSATED;
    /* Rows a multiple of 2 KiB apart, or nearly so, fall into two sets of L1, which hold eight cache lines each. */
    const bool collide = problem->m > 8 && (problem->a_row_stride + KU) % 2048 <= 2 * KU;
    if (flip_of_a(problem->a) || collide)
        return QRT_A_PACKED;
    return problem->k % KU == 0 ? QRT_A_IN_PLACE : few_panels(problem) ? QRT_A_IN_PLACE_BUT_LAST : QRT_A_PACKED;
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation) {
    if (columns == 1)
        pack_column(container, source, k_stride, depth, zero_point, panel, compensation);
    else
        pack_b_quads(container, source, k_stride, n_stride, columns, depth, KU, zero_point, panel, compensation);
}

/* Here each row has values of its own that its sums begin with. */
static void run_compensated_rows(const qrt_microkernel_call *call, const tile_columns *c, const __m512i *bias) {
    __m512i start[MR * 2];
    for (int row = 0, rows; row < call->rows; row += rows) {
        rows = next_rows(call, c, row);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < c->vectors; j++)
                start[i * c->vectors + j] = start_of_row(call, bias[j], row + i, j);
        run_tiles(call, c, row, row + rows, rows, start, true);
    }
}

static void run(const qrt_microkernel_call *call) {
    qrt_microkernel_call image_row = *call;
    if (call->columns == 1) {
        for (int64_t i = 0; i < call->image_rows; i++, next_image_row(&image_row))
            run_column(&image_row);
        return;
    }
    tile_columns c;
    load_columns(call, &c);
    __m512i bias[4], start[4];
    for (int j = 0; j < c.vectors; j++) {
        bias[j] = load_bias(call, &c.epilogue, j);
        start[j] = start_of_columns(call, bias[j], j);
    }
    if (call->a_compensation) {
        run_compensated_rows(call, &c, bias);
        return;
    }
    for (int64_t i = 0; i < call->image_rows; i++, next_image_row(&image_row))
        run_rows(&image_row, &c, start);
}

const qrt_gemm_microkernel avx512vnni_gemm = MICROKERNEL("avx512vnni", 1, .pairs = true, .pair_depth = PAIR_DEPTH);
