/* Products of up to 16 rows: two panels at once, so that 64 columns of sums fill four tiles.
 *
 *   tdpb?sd      four per step of 64 values of K, 16 cycles each
 *   tileloaddt1  four KiB of B per step, each one multiply-add ahead of its use and past L1: reading B is the limit
 *   vectors      the 64 columns before are requantized in the meantime, one row at a time (epilogue512.inl)
 *
 * Tiles 0 to 3 are sums, 4 is A, 5 to 7 are tiles of B by turns. The sums are exact: see pack_quads.inl. Hazard: memory
 * may end behind the last row, so tiles have as many rows as A has. */
#pragma once

#include "step.h"

static void configure_few(int rows) {
    const uint8_t r = (uint8_t)rows;
    const amx_config config = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {r, r, r, r, r, TILE_ROWS, TILE_ROWS, TILE_ROWS},
    };
    LDTILECFG(&config);
}

/* Rows of 64 columns whose sums are in memory and wait to be requantized. */
typedef struct {
    const int32_t *sums;
    char *target;
    int left;
    const epilogue_columns *columns;
} pending_rows;

QRT_INLINE void epilogue_of_wide_row(pending_rows *pending, int64_t stride, epilogue_kind kind) {
    epilogue_from_memory(pending->columns, pending->sums, pending->target, stride, 4, kind, false);
    pending->sums += WIDE;
    pending->target += stride;
    pending->left--;
}

/* Multiplies by two panels, the second of which lies `second` bytes behind the first. In each step but the first,
 * `row_count` rows of the columns before are requantized. */
QRT_INLINE void multiply_wide(const qrt_microkernel_call *call, int64_t steps, int64_t second, const int32_t *starts,
                              pending_rows *pending, int64_t row_count, epilogue_kind kind) {
    const char *b = call->b, *const last = b + (steps - 1) * B_STEP;
    const int64_t stride = call->a_stride, out_stride = call->args->problem.out_row_stride;
    TILELOADDT1(5, b, 64);
    TILELOADDT1(6, b + B_TILE, 64);
    TILELOADD(0, starts, 0);
    TILELOADD(1, starts + LANES, 0);
    TILELOADD(2, starts + 2 * LANES, 0);
    TILELOADD(3, starts + 3 * LANES, 0);
    for (int64_t k = 0; k < steps; k++, b += B_STEP) {
        const char *next = b < last ? b + B_STEP : b;
        TILELOADD(4, (const char *)call->a + k * KU, stride);
        TILELOADDT1(7, b + second, 64);
        TDP(0, 4, 5);
        TILELOADDT1(5, b + second + B_TILE, 64);
        TDP(1, 4, 6);
        TILELOADDT1(6, next + B_TILE, 64);
        TDP(2, 4, 7);
        TDP(3, 4, 5);
        TILELOADDT1(5, next, 64);
        for (int64_t i = 0; k > 0 && i < row_count && pending->left > 0; i++)
            epilogue_of_wide_row(pending, out_stride, kind);
    }
    while (pending->left > 0)
        epilogue_of_wide_row(pending, out_stride, kind);
}

/* Multiplies by `pairs` pairs of panels that have the same epilogue. */
QRT_INLINE void run_few(const qrt_microkernel_call *call, int64_t pairs, epilogue_kind kind) {
    _Alignas(64) int32_t sums[2][TILE_ROWS * WIDE], starts[WIDE];
    epilogue_columns columns[2];
    pending_rows pending = {0};
    const int64_t steps = steps_of_depth(call->depth);
    const int64_t row_count = steps > 1 ? (call->rows + steps - 2) / (steps - 1) : 0;
    configure_few(call->rows);
    for (int64_t i = 0; i < pairs; i++) {
        qrt_microkernel_call pair = panel_at(call, 2 * i);
        pair.columns = WIDE;
        load_columns(&pair, 4, &columns[i % 2]);
        load_starts(&pair, &columns[i % 2], 4, starts);
        multiply_wide(&pair, steps, call->args->plan.shape.panel_bytes, starts, &pending, row_count, kind);
        int32_t *to = sums[i % 2];
        TILESTORED(0, to, WIDE * sizeof *to);
        TILESTORED(1, to + LANES, WIDE * sizeof *to);
        TILESTORED(2, to + 2 * LANES, WIDE * sizeof *to);
        TILESTORED(3, to + 3 * LANES, WIDE * sizeof *to);
        pending = (pending_rows){to, pair.target, call->rows, &columns[i % 2]};
    }
    while (pending.left > 0)
        epilogue_of_wide_row(&pending, call->args->problem.out_row_stride, kind);
    TILERELEASE();
}

static void run_few_rows(const qrt_microkernel_call *call, int64_t pairs, epilogue_kind kind) {
    BY_KIND(kind, run_few, call, pairs)
}
