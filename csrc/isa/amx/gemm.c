/* The 8-bit microkernel: 32 rows x 32 columns of i32 in four tiles, 64 values of K per multiply-add.
 *
 *   tdpbusd      16 x 16 sums of 64 products, u8 x s8, without saturation: 16 cycles; four of them per step
 *   tileloadd    16 rows of 64 bytes, 8 cycles where each is one cache line: two of A per step
 *   tileloaddt1  the same past L1, where A stays: two of B per step
 *
 * Tiles 0 to 3 are the sums, 4 and 5 upper and lower rows of A, 6 and 7 left and right columns of B. Fewer rows are
 * configured as such, so that nothing past the last is read. All four mixes of signs could be multiplied as they are,
 * but rows of A are packed anyway, to begin at cache lines (a tile load takes 46 cycles where they do not): flipping
 * their top bits there leaves one loop. Exact: see pack_quads.h.
 *
 * Tiles are state of the thread, 8 KiB at every task switch: each call configures them and releases them. */
#include "../quads512.h"
#include "../tile_rows.h"
#include "amx.h"

#define MR 32
#define KU 64
#define TILE_ROWS 16

void qrt_init_amx(qrt_kernels *table);

static qrt_a_form a_form(const qrt_gemm_args *args) {
    return args->a_zero_point_steps[1] || !is_centred(args) ? QRT_A_PACKED_TERMS : QRT_A_PACKED;
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    pack_b_quads(container, source, k_stride, n_stride, columns, depth, KU, zero_point, panel, terms);
}

static void configure(int rows) {
    const uint8_t upper = rows < TILE_ROWS ? (uint8_t)rows : TILE_ROWS, lower = (uint8_t)(rows - upper);
    const uint16_t low_bytes = lower ? 64 : 0; /* a tile has neither rows nor bytes, or both */
    const amx_config config = {
        .palette = 1,
        .row_bytes = {64, 64, low_bytes, low_bytes, 64, low_bytes, 64, 64},
        .rows = {upper, upper, lower, lower, upper, lower, TILE_ROWS, TILE_ROWS},
    };
    LDTILECFG(&config);
}

/* sums[row][column], rows of NR, from row `row` on. `lower`, `right`: there are more than 16 rows, columns. */
INLINE void multiply(const qrt_gemm_panel *p, int64_t row, bool lower, bool right, int32_t *sums) {
    const int64_t stride = p->a_stride, b_stride = right ? 128 : 64;
    const char *a = (const char *)p->a + row * stride, *b = p->b;
    TILEZERO(0);
    if (right)
        TILEZERO(1);
    if (lower)
        TILEZERO(2);
    if (lower && right)
        TILEZERO(3);
    for (int64_t k = 0; k < p->depth; k += KU, a += KU, b += KU / 4 * b_stride) {
        TILELOADDT1(6, b, b_stride);
        TILELOADD(4, a, stride);
        TDPBUSD(0, 4, 6);
        if (right) {
            TILELOADDT1(7, b + 64, b_stride);
            TDPBUSD(1, 4, 7);
        }
        if (lower) {
            TILELOADD(5, a + TILE_ROWS * stride, stride);
            TDPBUSD(2, 5, 6);
        }
        if (lower && right)
            TDPBUSD(3, 5, 7);
    }
    int32_t *below = sums + TILE_ROWS * NR;
    TILESTORED(0, sums, NR * sizeof *sums);
    if (right)
        TILESTORED(1, sums + LANES, NR * sizeof *sums);
    if (lower)
        TILESTORED(2, below, NR * sizeof *sums);
    if (lower && right)
        TILESTORED(3, below + LANES, NR * sizeof *sums);
}

static void multiply_rows(const qrt_gemm_panel *p, int64_t row, int rows, int vectors, int32_t *sums) {
    if (rows > TILE_ROWS && vectors == 2)
        multiply(p, row, true, true, sums);
    else if (rows > TILE_ROWS)
        multiply(p, row, true, false, sums);
    else if (vectors == 2)
        multiply(p, row, false, true, sums);
    else
        multiply(p, row, false, false, sums);
}

/* Adds what the sums begin with, and stores, four rows at a time. */
INLINE void finish_rows(const qrt_gemm_panel *p, const finish_columns *c, int64_t row, int rows, int vectors,
                        const int32_t *sums) {
    __m512i bias[2], start[2];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) {
        bias[j] = p->bias ? _mm512_maskz_loadu_epi32(c->live[j], p->bias + j * LANES) : _mm512_setzero_si512();
        start[j] = start_of_columns(p, bias[j], j);
    }
    for (int i = 0; i < rows; i += 4) {
        const int group = rows - i < 4 ? rows - i : 4;
        __m512i totals[8];
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++)
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++) {
                const int at = r < group ? i + r : i;
                const __m512i from = p->a_terms ? start_of_row(p, bias[j], row + at, j) : start[j];
                totals[r * vectors + j] = _mm512_add_epi32(_mm512_load_si512(sums + at * NR + j * LANES), from);
            }
        finish_tile(p, c, row + i, totals, group, vectors);
    }
}

static void run_line(const qrt_gemm_panel *p) {
    const int vectors = p->columns > LANES ? 2 : 1;
    _Alignas(64) int32_t sums[MR * NR];
    finish_columns columns;
    load_finish(p, vectors, &columns);
    int configured = 0;
    for (int64_t row = 0; row < p->rows; row += MR) {
        const int rows = p->rows - row < MR ? (int)(p->rows - row) : MR;
        if (rows != configured)
            configure(rows);
        configured = rows;
        multiply_rows(p, row, rows, vectors, sums);
        if (vectors == 2)
            finish_rows(p, &columns, row, rows, 2, sums);
        else
            finish_rows(p, &columns, row, rows, 1, sums);
    }
    TILERELEASE();
}

static void run(const qrt_gemm_panel *p) {
    qrt_gemm_panel line = *p;
    for (int64_t i = 0; i < p->lines; i++, next_line(&line))
        run_line(&line);
}

void qrt_init_amx(qrt_kernels *table) {
    table->streams = true;
    table->gemm = (qrt_gemm_kernel){
        .mr = MR,
        .nr = NR,
        .ku = KU,
        .a_size = 1,
        .b_size = 1,
        .a_form = a_form,
        .pack_a = pack_a_quads,
        .pack_b = pack_b,
        .run = run,
        .splits = true,
    };
}
