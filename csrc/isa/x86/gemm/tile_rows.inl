/* What the x86 microkernels share: their description, and the cutting of a block's rows into tiles. Tiles are whole, so
 * that they are requantized in registers, as long as more than one whole tile is left; then two tiles share the rest.
 * So 15 rows are 8 and 7, not 14 and 1, because few rows hide no latency. */
#pragma once

#if !defined KU
#error "gemm/tile_rows.inl needs KU"
#endif

#include "qrt/qrt.h"

/* Describes a microkernel with a_form, pack_a, pack_b and run; its packed values have so many bytes. */
#define MICROKERNEL(isa, bytes, ...)                                                                                   \
    {.name = isa,                                                                                                      \
     .mr = MR,                                                                                                         \
     .nr = NR,                                                                                                         \
     .ku = KU,                                                                                                         \
     .a_size = bytes,                                                                                                  \
     .b_size = bytes,                                                                                                  \
     .a_form = a_form,                                                                                                 \
     .pack_a = pack_a,                                                                                                 \
     .pack_b = pack_b,                                                                                                 \
     .run = run,                                                                                                       \
     .segmented = true,                                                                                                \
     .splits = true,                                                                                                   \
     __VA_ARGS__}

/* For each sum of a tile, row i and vector j. These loops are unrolled before registers are allocated. */
#define QRT_EACH_SUM(rows, vectors)                                                                                    \
    _Pragma("GCC unroll 16") for (int i = 0; i < (rows); i++)                                                          \
        _Pragma("GCC unroll 4") for (int j = 0; j < (vectors); j++)

/* Goes from one image row of a call to the next. */
static inline void next_image_row(qrt_microkernel_call *call) {
    call->a = (const char *)call->a + call->a_image_row;
    call->target = (char *)call->target + call->target_image_row;
    if (call->sums)
        call->sums = (int32_t *)call->target;
}

static inline int next_tile(int left, int most) {
    return left <= most ? left : left >= 2 * most ? most : (left + 1) / 2;
}

/* The number of tiles of that height that follow each other. */
static inline int same_tiles(int left, int most) {
    if (left < 2 * most)
        return left > most && left % 2 == 0 ? 2 : 1;
    return left % most ? left / most - 1 : left / most;
}
