/* Products that the pipelines do not take: rows with compensation of their own, plain sums, results of 16 and 32 bits,
 * rests of few rows or columns.
 *
 *   tdpb?sd    per step of 64 values of K four for 32 rows, or two for 16; 16 cycles each
 *   tileload   two of A and two of B per step
 *
 * Sums are stored to memory, then the values that they begin with are added, and the epilogue (epilogue512.inl) takes
 * four rows at a time. Nothing overlaps: these calls are few. The sums are exact: see pack_quads.inl. */
#pragma once

#include "isa/x86/gemm/tile_rows.inl"
#include "step.h"

/* Computes sums[row][column], in rows of NR, for up to 32 rows from row `row` on by a panel. `lower`: there are more
 * than 16 rows. */
QRT_INLINE void multiply_tiles(const qrt_microkernel_call *call, int64_t row, bool lower, int32_t *sums) {
    const int64_t stride = call->a_stride, segments = call->a_segments ? call->segments : 1;
    const char *b = call->b;
    TILEZERO(0);
    TILEZERO(1);
    if (lower) {
        TILEZERO(2);
        TILEZERO(3);
    }
    for (int64_t segment = 0; segment < segments; segment++) {
        const char *a = (const char *)call->a + row * stride + (call->a_segments ? call->a_segments[segment] : 0);
        for (int64_t k = 0; k < call->depth; k += KU, a += KU, b += B_STEP) {
            TILELOADD(6, b, 64);
            TILELOADD(4, a, stride);
            TDP(0, 4, 6);
            TILELOADD(7, b + B_TILE, 64);
            TDP(1, 4, 7);
            if (lower) {
                TILELOADD(5, a + TILE_ROWS * stride, stride);
                TDP(2, 5, 6);
                TDP(3, 5, 7);
            }
        }
    }
    for (int tile = 0; tile < (lower ? 4 : 2); tile++)
        store_sums(tile, sums);
}

static void multiply_long(const qrt_microkernel_call *call, int64_t row, int rows, int32_t *sums) {
    configure(rows);
    if (rows > TILE_ROWS)
        multiply_tiles(call, row, true, sums);
    else
        multiply_tiles(call, row, false, sums);
}

/* Computes the same for up to 16 rows by a panel for short K, which has 16 or 32 columns. A segment of more than 64
 * values, which gathered patches can have, is cut into equal pieces. */
static void multiply_short(const qrt_microkernel_call *call, int64_t row, int rows, int32_t *sums) {
    const int64_t depth = short_depth(call), segments = call->a_segments ? call->segments : 1;
    const int vectors = call->columns > LANES ? 2 : 1;
    int64_t piece = KU;
    while (depth % piece)
        piece -= SHORT_KU;
    const amx_config config = {
        .palette = 1,
        .row_bytes = {64, (uint16_t)piece, 64},
        .rows = {(uint8_t)rows, (uint8_t)rows, (uint8_t)(piece / SHORT_KU)},
    };
    LDTILECFG(&config);
    for (int j = 0; j < vectors; j++) {
        const char *b = (const char *)call->b + j * 64;
        TILEZERO(0);
        for (int64_t segment = 0; segment < segments; segment++) {
            const char *a =
                (const char *)call->a + row * call->a_stride + (call->a_segments ? call->a_segments[segment] : 0);
            for (int64_t k = 0; k < depth; k += piece, b += piece * vectors * LANES) {
                TILELOADD(1, a + k, call->a_stride);
                TILELOADD(2, b, vectors * 64);
                TDP(0, 1, 2);
            }
        }
        TILESTORED(0, sums + j * LANES, NR * sizeof *sums);
    }
}

/* Adds the values that sums begin with, and stores the results, four rows at a time. */
static void epilogue_of_rows(const qrt_microkernel_call *call, const epilogue_columns *c, int64_t row, int rows,
                             const int32_t *sums) {
    const __m512i bias[2] = {load_bias(call, c, 0), load_bias(call, c, 1)};
    const __m512i start[2] = {start_of_columns(call, bias[0], 0), start_of_columns(call, bias[1], 1)};
    for (int i = 0; i < rows; i += 4) {
        const int group = rows - i < 4 ? rows - i : 4;
        __m512i totals[8];
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++)
#pragma GCC unroll 2
            for (int j = 0; j < 2; j++) {
                const int at = r < group ? i + r : i;
                const __m512i from = call->a_compensation ? start_of_row(call, bias[j], row + at, j) : start[j];
                totals[r * 2 + j] = _mm512_add_epi32(_mm512_load_si512(sums + at * NR + j * LANES), from);
            }
        epilogue_of_tile(call, c, row + i, totals, group, 2);
    }
}

/* Multiplies by one panel: one image row after the other, `most` rows at a time. */
QRT_INLINE void run_plainly(const qrt_microkernel_call *call, int most,
                            void (*multiply)(const qrt_microkernel_call *, int64_t, int, int32_t *)) {
    _Alignas(64) int32_t sums[MR * NR] = {
        0}; /* a panel of 16 columns leaves half of it unset, which is added to and never stored */
    epilogue_columns columns;
    load_columns(call, 2, &columns);
    qrt_microkernel_call image_row = *call;
    for (int64_t i = 0; i < call->image_rows; i++, next_image_row(&image_row))
        for (int row = 0; row < call->rows; row += most) {
            const int rows = call->rows - row < most ? call->rows - row : most;
            multiply(&image_row, row, rows, sums);
            epilogue_of_rows(&image_row, &columns, row, rows, sums);
        }
    TILERELEASE();
}

/* Multiplies by the panels from `first` on. */
static void run_long_plainly(const qrt_microkernel_call *call, int64_t first) {
    for (int64_t i = first; i < panels_of(call); i++) {
        const qrt_microkernel_call panel = panel_at(call, i);
        run_plainly(&panel, MR, multiply_long);
    }
}

static void run_short_plainly(const qrt_microkernel_call *call, int64_t first) {
    for (int64_t i = first; i < panels_of(call); i++) {
        const qrt_microkernel_call panel = panel_at(call, i);
        run_plainly(&panel, TILE_ROWS, multiply_short);
    }
}
