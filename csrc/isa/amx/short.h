/* Products of short K: up to three segments of at most 64 values. Their tiles of B stay in tile registers while the
 * rows pass by, 16 at a time.
 *
 *   tdpb?sd   one for each segment and 16 columns: 16 cycles, for four values of K as for 64
 *   vectors   requantize 16 rows meanwhile. This is the limit: beside tiles, vectors issue about one uop a cycle
 *
 * With one segment, two panels at once: tiles 4 to 7 are B, 3 is A, and 0, 1, 2, 1 are sums. Each tile of sums is
 * stored when it is needed again, two or four multiply-adds later; meanwhile the block before the last one is
 * requantized. Otherwise one panel: tiles 1 to 6 are B, left and right columns of each segment, 7 is A and 0 is sums.
 * The sums are exact: see pack_quads.inl. Hazard: the last 16 rows of an image row may overlap the ones before, and are
 * then computed twice. */
#pragma once

#include "step.h"

#define SHORT_SEGMENTS 3
#define RING 4 /* blocks of sums in memory */

/* A position that goes over image rows in blocks of 16 rows. The last block of an image row may overlap the one before.
 * Behind the last block the position stays where it is. */
typedef struct {
    int64_t row, image_rows;
    const char *a;
    char *target;
} row_cursor;

static inline const char *cursor_rows(const qrt_microkernel_call *call, const row_cursor *at) {
    return at->a + at->row * call->a_stride;
}

static inline char *cursor_target(const qrt_microkernel_call *call, const row_cursor *at) {
    return at->target + at->row * call->args->problem.out_row_stride;
}

static inline void advance_rows(const qrt_microkernel_call *call, row_cursor *at) {
    const int64_t last = call->rows - TILE_ROWS;
    if (at->row < last) {
        at->row = at->row + TILE_ROWS < last ? at->row + TILE_ROWS : last;
    } else if (at->image_rows > 1) {
        at->row = 0;
        at->image_rows--;
        at->a += call->a_image_row;
        at->target += call->target_image_row;
    }
}

static void configure_short(int64_t depth, bool paired) {
    const uint8_t quads = (uint8_t)(depth / 4);
    amx_config config = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        const bool is_a = t == (paired ? 3 : 7), is_b = paired ? t > 3 : t > 0 && t < 7;
        config.row_bytes[t] = is_a ? (uint16_t)depth : 64;
        config.rows[t] = is_b ? quads : TILE_ROWS;
    }
    LDTILECFG(&config);
}

/* Requantizes rows [first, first + 4) of 64 columns. */
QRT_INLINE void epilogue_of_wide_rows(const epilogue_columns *c, const int32_t *from, char *target, int64_t stride,
                                      int first, epilogue_kind kind) {
#pragma GCC unroll 4
    for (int i = first; i < first + 4; i++)
        epilogue_from_memory(c, from + i * WIDE, target + i * stride, stride, 4, kind, false);
}

/* Multiplies by columns n of a block, in tile `sum`, which still has columns `before` of the block `ago` blocks
 * earlier. */
#define WIDE_STEP(n, sum, b, before, ago)                                                                              \
    __asm__("" : "+r"(ring), "+r"(from));                                                                              \
    TILESTORED(sum, ring + (block - (ago)) % RING * (TILE_ROWS * WIDE) + (before) * LANES, WIDE * sizeof(int32_t));    \
    TILELOADD(sum, from + (n) * LANES, 0);                                                                             \
    TDP(sum, 3, b);                                                                                                    \
    if (target[0])                                                                                                     \
        epilogue_of_wide_rows(&columns, sums[(block - 2) % RING], target[0], stride, 4 * (n), kind);

/* Multiplies by two panels. */
QRT_INLINE void run_short_pair(const qrt_microkernel_call *call, int64_t blocks, epilogue_kind kind) {
    _Alignas(64) int32_t sums[RING][TILE_ROWS * WIDE], starts[WIDE];
    epilogue_columns columns;
    const int64_t stride = call->args->problem.out_row_stride, second = call->args->plan.shape.panel_bytes;
    load_columns(call, 4, &columns);
    load_starts(call, &columns, 4, starts);
    const char *b = call->b;
    TILELOADD(4, b, 128);
    TILELOADD(5, b + 64, 128);
    TILELOADD(6, b + second, 128);
    TILELOADD(7, b + second + 64, 128);
    row_cursor at = {0, call->image_rows, call->a, call->target};
    char *target[2] = {NULL, NULL};
    int32_t *ring = sums[0];
    const int32_t *from = starts;
    uint64_t block = RING;
    for (const uint64_t end = block + (uint64_t)blocks; block < end; block++) {
        TILELOADD(3, cursor_rows(call, &at), call->a_stride);
        WIDE_STEP(0, 0, 4, 0, 1)
        WIDE_STEP(1, 1, 5, 3, 1)
        WIDE_STEP(2, 2, 6, 2, 1)
        WIDE_STEP(3, 1, 7, 1, 0)
        target[0] = target[1];
        target[1] = cursor_target(call, &at);
        advance_rows(call, &at);
    }
    TILESTORED(0, sums[(block - 1) % RING], WIDE * sizeof(int32_t));
    TILESTORED(1, sums[(block - 1) % RING] + 3 * LANES, WIDE * sizeof(int32_t));
    TILESTORED(2, sums[(block - 1) % RING] + 2 * LANES, WIDE * sizeof(int32_t));
    for (int i = 0; i < 2; i++)
        for (int row = 0; target[i] && row < TILE_ROWS; row += 4)
            epilogue_of_wide_rows(&columns, sums[(block - 2 + i) % RING], target[i], stride, row, kind);
}

/* Requantizes rows [first, first + 8) of 32 columns. */
QRT_INLINE void epilogue_of_half(const epilogue_columns *c, const int32_t *from, char *target, int64_t stride,
                                 int first, epilogue_kind kind, bool joined) {
#pragma GCC unroll 4
    for (int i = first; i < first + 8; i += 2)
        epilogue_from_memory(c, from + i * NR, target + i * stride, stride, 2, kind, joined);
}

/* Multiplies by one panel of `segments` segments. The order of segments is reversed for the right columns, so that the
 * rows of one segment serve both where the order turns. */
QRT_INLINE void run_short_panel(const qrt_microkernel_call *call, int64_t blocks, int segments, epilogue_kind kind,
                                bool joined) {
    _Alignas(64) int32_t sums[2][TILE_ROWS * NR], starts[NR];
    epilogue_columns columns;
    static const int64_t contiguous[1] = {0};
    const int64_t *at_segment = call->a_segments ? call->a_segments : contiguous;
    const int64_t stride = call->args->problem.out_row_stride, a_stride = call->a_stride, row = NR * sizeof(int32_t);
    load_columns(call, 2, &columns);
    load_starts(call, &columns, 2, starts);
    const char *b = call->b;
    const int64_t segment_bytes = short_depth(call) * NR;
    TILELOADD(1, b, 128);
    TILELOADD(2, b + 64, 128);
    if (segments > 1) {
        TILELOADD(3, b + segment_bytes, 128);
        TILELOADD(4, b + segment_bytes + 64, 128);
    }
    if (segments > 2) {
        TILELOADD(5, b + 2 * segment_bytes, 128);
        TILELOADD(6, b + 2 * segment_bytes + 64, 128);
    }
    row_cursor at = {0, call->image_rows, call->a, call->target};
    char *target = NULL;
    for (int64_t block = 0; block < blocks; block++) {
        const char *a = cursor_rows(call, &at);
        int32_t *to = sums[block % 2], *before = sums[1 - block % 2];
        TILELOADD(0, starts, 0);
        TILELOADD(7, a + at_segment[0], a_stride);
        TDP(0, 7, 1);
        if (segments > 1) {
            TILELOADD(7, a + at_segment[1], a_stride);
            TDP(0, 7, 3);
        }
        if (segments > 2) {
            TILELOADD(7, a + at_segment[2], a_stride);
            TDP(0, 7, 5);
        }
        if (target)
            epilogue_of_half(&columns, before, target, stride, 0, kind, joined);
        TILESTORED(0, to, row);
        TILELOADD(0, starts + LANES, 0);
        if (segments > 2) {
            TDP(0, 7, 6);
            TILELOADD(7, a + at_segment[1], a_stride);
        }
        if (segments > 1) {
            TDP(0, 7, 4);
            TILELOADD(7, a + at_segment[0], a_stride);
        }
        TDP(0, 7, 2);
        if (target)
            epilogue_of_half(&columns, before, target, stride, 8, kind, joined);
        TILESTORED(0, to + LANES, row);
        target = cursor_target(call, &at);
        advance_rows(call, &at);
    }
    epilogue_of_half(&columns, sums[1 - blocks % 2], target, stride, 0, kind, joined);
    epilogue_of_half(&columns, sums[1 - blocks % 2], target, stride, 8, kind, joined);
}

QRT_INLINE void run_short_panels(const qrt_microkernel_call *call, int64_t panels, int64_t blocks, epilogue_kind kind) {
    const int segments = call->a_segments ? (int)call->segments : 1;
    const int64_t depth = short_depth(call);
    int64_t i = 0;
    if (segments == 1 && panels > 1) {
        configure_short(depth, true);
        for (; i + 2 <= panels; i += 2) {
            qrt_microkernel_call pair = panel_at(call, i);
            pair.columns = WIDE;
            run_short_pair(&pair, blocks, kind);
        }
    }
    if (i < panels)
        configure_short(depth, false);
    for (; i < panels; i++) {
        const qrt_microkernel_call panel = panel_at(call, i);
        const bool joined = is_whole(kind) && call->args->problem.out_row_stride == NR;
        if (segments == 1)
            run_short_panel(&panel, blocks, 1, kind, false);
        else if (segments == 2)
            run_short_panel(&panel, blocks, 2, kind, false);
        else if (joined)
            run_short_panel(&panel, blocks, 3, kind, true);
        else
            run_short_panel(&panel, blocks, 3, kind, false);
    }
    TILERELEASE();
}

/* Multiplies by panels that have the same epilogue. */
static void run_short_by_kind(const qrt_microkernel_call *call, int64_t panels, epilogue_kind kind) {
    const int64_t blocks = call->image_rows * ((call->rows + TILE_ROWS - 1) / TILE_ROWS);
    BY_KIND(kind, run_short_panels, call, panels, blocks)
}
