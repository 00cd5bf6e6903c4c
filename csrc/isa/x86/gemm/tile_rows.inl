/* What the x86 microkernels share: their description, and how the rows of a block are cut into tiles: whole ones, which
 * are requantized in their registers, as long as more than one is left; the last two share what is left. 15 rows are 8
 * and 7, not 14 and 1: few rows hide no latency. */
#ifndef QRT_ISA_TILE_ROWS_H
#define QRT_ISA_TILE_ROWS_H

#if !defined KU
#error "gemm/tile_rows.inl needs KU"
#endif

#include "qrt/qrt.h"

/* A microkernel with a_form, pack_a, pack_b and run, of values of so many bytes. */
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

/* For each sum of a tile, row i and vector j: loops that are gone when registers are given out. */
#define QRT_EACH_SUM(rows, vectors)                                                                                    \
    _Pragma("GCC unroll 16") for (int i = 0; i < (rows); i++)                                                          \
        _Pragma("GCC unroll 4") for (int j = 0; j < (vectors); j++)

/* From one line of a call to the next. */
static inline void next_line(qrt_microkernel_call *call) {
    call->a = (const char *)call->a + call->a_line;
    call->target = (char *)call->target + call->target_line;
    if (call->sums)
        call->sums = (int32_t *)call->target;
}

static inline int next_tile(int left, int most) {
    return left <= most ? left : left >= 2 * most ? most : (left + 1) / 2;
}

/* How many tiles of that height follow each other. */
static inline int same_tiles(int left, int most) {
    if (left < 2 * most)
        return left > most && left % 2 == 0 ? 2 : 1;
    return left % most ? left / most - 1 : left / most;
}

#endif
