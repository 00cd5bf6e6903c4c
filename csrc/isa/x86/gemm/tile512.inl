/* The tiles of a GEMM in 512-bit registers, for the ISAs that have AVX-512: up to MR rows x 32 columns of 32-bit sums
 * over the whole of K, from the first sum to the stored result.
 *
 * The including file gives the ports of its multiply-add and the proof. It defines KU, values of K of a step, and
 * multiply_add: four bytes of a row of A, broadcast, by those of 16 columns of B (four 8-bit values of K, or two 16-bit
 * ones). A step of a full tile takes
 *
 *   multiply_add      28
 *   vpbroadcastd m32  a step of A; load ports only: 14, and 2 loads and 2 prefetches of B: 9 cycles
 *
 * 28 sums, two vectors of B and a broadcast take 31 of 32 registers. Rows of A are read with their stride, in place or
 * packed. A panel of B is [step][column] with 32 columns, or with 16 where no more are valid.
 *
 * It also defines multiply_add_memory, which reads B in memory. Short K, of which two panels fit L1, takes 7 rows x 64
 * columns: half as many broadcasts, and a row of the result is one store. Multiply-adds read the second panel
 * themselves: 28 sums, two vectors of B and a broadcast, and 23 loads in 14 cycles on two ports. Hazard: gcc moves
 * sums, addresses and indices to memory where it may; the empty assembly statements below prevent it. */
#pragma once

#ifndef KU
#error "tile512.inl needs KU, and multiply_add and multiply_add_memory"
#endif

#include <string.h>

#include "isa/x86/gemm/epilogue512.inl"
#include "isa/x86/gemm/tile_rows.inl"

#define MR 14
#define PAIR_DEPTH (96 * KU)              /* in values of K: two panels, 24 KiB, stay in L1 */
#define SHORT_SEGMENT ((9 + KU - 1) / KU) /* in steps: three pixels of three channels, as in first layers */
#define AHEAD 1024                        /* bytes of B: where a panel exceeds L1 it comes from L2 in time */

QRT_INLINE __m512i multiply_add(__m512i sum, __m512i a, __m512i b);
QRT_INLINE __m512i multiply_add_memory(__m512i sum, __m512i a, const __m512i *b);

typedef struct {
    int vectors; /* 1 or 2; 4 for two panels */
    epilogue_columns epilogue;
} tile_columns;

static inline void load_columns(const qrt_microkernel_call *call, tile_columns *to) {
    to->vectors = call->columns > 2 * LANES ? 4 : call->columns > LANES ? 2 : 1;
    load_epilogue(call, to->vectors, &to->epilogue);
}

QRT_INLINE __m512i broadcast_step(const char *step) {
    int32_t bits;
    memcpy(&bits, step, sizeof bits);
    return _mm512_set1_epi32(bits);
}

/* One, three and five strides of A. Seven rows share a pointer, because an address may have an index times 1, 2 or
 * 4. */
typedef struct {
    int64_t one, three, five;
} row_strides;

QRT_INLINE const char *row_at(const char *const *a, row_strides stride, int i) {
    const char *seven = a[i / 7];
    switch (i % 7) {
    case 0:
        return seven;
    case 3:
        return seven + stride.three;
    case 5:
        return seven + stride.five;
    case 6:
        return seven + 2 * stride.three;
    default:
        return seven + i % 7 * stride.one;
    }
}

/* Adds the products of one step. */
QRT_INLINE void multiply_step(const char *const *a, row_strides stride, const char *b, int64_t second, int step,
                              __m512i sums[][4], int rows, int vectors) {
    __m512i vector[2];
#pragma GCC unroll 2
    for (int j = 0; j < vectors && j < 2; j++)
        vector[j] = _mm512_load_si512(b + j * 64);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        const __m512i value = broadcast_step(row_at(a, stride, i) + step * 4);
#pragma GCC unroll 2
        for (int j = 0; j < vectors && j < 2; j++)
            sums[i][j] = multiply_add(sums[i][j], value, vector[j]);
#pragma GCC unroll 2
        for (int j = 2; j < vectors; j++)
            sums[i][j] = multiply_add_memory(sums[i][j], value, (const __m512i *)(b + second + (j - 2) * 64));
    }
}

QRT_INLINE void epilogue_in_registers(const epilogue_columns *c, char *target, int64_t stride, __m512i sums[][4],
                                      int vectors, epilogue_kind kind, bool joined) {
    /* Otherwise gcc keeps the address of every row in memory and adds to it after each tile. */
    __asm__("" : "+r"(target));
    if (vectors == 4) {
#pragma GCC unroll 16
        for (int i = 0; i < MR / 2; i++, target += stride)
            epilogue_of_four(c, target, stride, sums[i], 1, 4, kind, false);
        return;
    }
#pragma GCC unroll 16
    for (int i = 0; i < MR; i += 2, target += 2 * stride) {
        const __m512i group[4] = {sums[i][0], sums[i][1], sums[i + 1][0], sums[i + 1][1]};
        epilogue_of_four(c, target, stride, group, 2, 2, kind, joined);
    }
}

QRT_INLINE void epilogue_of_whole(const epilogue_columns *c, char *target, int64_t stride, __m512i sums[][4],
                                  int vectors, epilogue_kind kind) {
    if (vectors == 2 && stride == 2 * LANES)
        epilogue_in_registers(c, target, 2 * LANES, sums, vectors, kind, true);
    else
        epilogue_in_registers(c, target, stride, sums, vectors, kind, false);
}

/* Full tiles end in registers. Others are few and end through memory, which takes less code. */
QRT_INLINE void epilogue(const qrt_microkernel_call *call, const epilogue_columns *c, int64_t row, char *target,
                         int64_t stride, __m512i sums[][4], int rows, int vectors) {
    const epilogue_kind kind = rows * vectors == MR * 2 ? c->kind : EPILOGUE_SUMS;
    if (kind == EPILOGUE_FLOAT32_U8) {
        epilogue_of_whole(c, target, stride, sums, vectors, EPILOGUE_FLOAT32_U8);
        return;
    }
    if (kind == EPILOGUE_FLOAT32_I8) {
        epilogue_of_whole(c, target, stride, sums, vectors, EPILOGUE_FLOAT32_I8);
        return;
    }
    if (kind == EPILOGUE_FLOAT32) {
        epilogue_in_registers(c, target, stride, sums, vectors, EPILOGUE_FLOAT32, false);
        return;
    }
    if (kind == EPILOGUE_FIXED) {
        epilogue_in_registers(c, target, stride, sums, vectors, EPILOGUE_FIXED, false);
        return;
    }
    __m512i tile[(MR * 2 + 3) / 4 * 4];
#pragma GCC unroll 4
    for (int n = rows * vectors; n % 4; n++)
        tile[n] = _mm512_setzero_si512();
    QRT_EACH_SUM(rows, vectors)
        tile[i * vectors + j] = sums[i][j];
    epilogue_of_tile(call, c, row, tile, rows, vectors);
}

/* Sums begin with start[vectors], or by row with start[rows][vectors]. */
QRT_INLINE void start_sums(const __m512i *start, bool by_row, __m512i sums[][4], int rows, int vectors) {
    if (by_row) {
        QRT_EACH_SUM(rows, vectors)
            sums[i][j] = start[i * vectors + j];
        return;
    }
    QRT_EACH_SUM(rows, vectors)
        sums[i][j] = start[j];
}

/* The operands that the tiles of a panel share. */
typedef struct {
    int64_t stride; /* bytes between rows of A */
    const int64_t *segment, *segments_end;
    int64_t steps; /* steps of a segment */
    const char *b;
    int64_t second; /* bytes from the first panel to the second */
} tile_operands;

QRT_INLINE tile_operands find_operands(const qrt_microkernel_call *call) {
    static const int64_t contiguous[1] = {0};
    const int64_t *segment = call->a_segments ? call->a_segments : contiguous;
    return (tile_operands){.stride = call->a_stride,
                           .segment = segment,
                           .segments_end = segment + (call->a_segments ? call->segments : 1),
                           .steps = (call->depth + KU - 1) / KU,
                           .b = call->b,
                           .second = call->args->plan.shape.panel_bytes};
}

/* Multiplies `count` steps and advances the pointers. */
QRT_INLINE void multiply_steps(const tile_operands *from, row_strides stride, const char **a, const char **b, int count,
                               __m512i sums[][MR][4], int phases, int rows, int vectors) {
    const int b_step = vectors < 2 ? 64 : 128;
#pragma GCC unroll 8
    for (int step = 0; step < count; step++) {
        if (count == 4 && vectors <= 2) {
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                _mm_prefetch(*b + step * b_step + AHEAD + j * 64, _MM_HINT_T0);
        }
        multiply_step(a, stride, *b + step * b_step, from->second, step, sums[step % phases], rows, vectors);
    }
    *b += count * b_step;
    a[0] += count * 4;
    if (rows > 7)
        a[1] += count * 4;
}

/* Multiplies the rows from `first` on, over the whole of K. Where `steps` is not 0, the code is for segments of so many
 * steps alone: without inner loops and prefetches, the loop over segments keeps all that it needs in registers. */
QRT_INLINE void multiply_rows(const tile_operands *from, const char *first, const char *next, __m512i sums[][MR][4],
                              int phases, int rows, int vectors, int steps) {
    const char *b = from->b;
    row_strides stride = {from->stride, 3 * from->stride, 5 * from->stride};
    /* Otherwise gcc gives each row and step an index of its own, in memory. */
    __asm__("" : "+r"(stride.one), "+r"(stride.three), "+r"(stride.five));
    for (const int64_t *segment = from->segment; segment < from->segments_end; segment++) {
        const char *a[2] = {first + *segment, first + *segment + 7 * from->stride};
        if (steps) {
            multiply_steps(from, stride, a, &b, steps, sums, 1, rows, vectors);
            continue;
        }
        int64_t left = from->steps;
        for (; left >= 4; left -= 4, next += vectors < 2 ? 64 : 128) {
            if (rows > 4 && vectors <= 2) {
                _mm_prefetch(next, _MM_HINT_T1);
                _mm_prefetch(next + 64, _MM_HINT_T1);
            }
            multiply_steps(from, stride, a, &b, 4, sums, phases, rows, vectors);
        }
        for (; left > 0; left--)
            multiply_steps(from, stride, a, &b, 1, sums, 1, rows, vectors);
    }
}

/* Computes tiles of `rows` rows from `row` to `end`, whose sums begin with `start`. Few rows have too few sums to hide
 * the latency of multiply_add, so they keep a set of sums for each phase of the loop. */
QRT_INLINE void run_tiles_of(const qrt_microkernel_call *call, const tile_columns *c, int64_t row, int64_t end,
                             int rows, int vectors, int steps, const __m512i *start, bool by_row) {
    const int phases = rows * vectors >= 8 ? 1 : rows * vectors >= 4 ? 2 : 4;
    const tile_operands from = find_operands(call);
    const int64_t a_step = rows * from.stride, out_stride = call->args->problem.out_row_stride;
    const int64_t quarter_bytes = (from.segments_end - from.segment) * from.steps * (vectors < 2 ? 16 : 32);
    const char *a = (const char *)call->a + row * from.stride;
    char *target = (char *)call->target + row * out_stride;
    unsigned quarter = ((unsigned)row + MR - 1) / MR;
    for (; row < end; row += rows, a += a_step, target += rows * out_stride, quarter++) {
        __m512i sums[4][MR][4];
        start_sums(start, by_row, sums[0], rows, vectors);
#pragma GCC unroll 4
        for (int phase = 1; phase < phases; phase++)
            QRT_EACH_SUM(rows, vectors)
                sums[phase][i][j] = _mm512_setzero_si512();
        /* Each tile prefetches a quarter of the next panel, so that it is in L2 when its turn comes. */
        multiply_rows(&from, a, (const char *)call->next + quarter % 4 * quarter_bytes, sums, phases, rows, vectors,
                      steps);
#pragma GCC unroll 4
        for (int phase = 1; phase < phases; phase++)
            QRT_EACH_SUM(rows, vectors)
                sums[0][i][j] = _mm512_add_epi32(sums[0][i][j], sums[phase][i][j]);
        epilogue(call, &c->epilogue, row, target, out_stride, sums[0], rows, vectors);
    }
}

typedef void (*tiles_fn)(const qrt_microkernel_call *call, const tile_columns *c, int64_t row, int64_t end,
                         const __m512i *start, bool by_row);

#define ROWS(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14)
#define WIDE_ROWS(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
/* Sanitizers take minutes over unrolled tiles. Tests instead put pages that fault around the operands. */
#define UNSANITIZED __attribute__((no_sanitize("address", "undefined")))
#define TILE(rows, vectors)                                                                                            \
    UNSANITIZED static void tiles_##rows##x##vectors(const qrt_microkernel_call *call, const tile_columns *c,          \
                                                     int64_t row, int64_t end, const __m512i *start, bool by_row) {    \
        run_tiles_of(call, c, row, end, rows, vectors, 0, start, by_row);                                              \
    }
#define TILES(rows) TILE(rows, 1) TILE(rows, 2)
#define WIDE_TILE(rows) TILE(rows, 4)
#define ENTRY(rows) {tiles_##rows##x1, tiles_##rows##x2},
#define WIDE_ENTRY(rows) tiles_##rows##x4,
ROWS(TILES)
WIDE_ROWS(WIDE_TILE)
static const tiles_fn tiles[MR][2] = {ROWS(ENTRY)};
static const tiles_fn wide_tiles[MR / 2] = {WIDE_ROWS(WIDE_ENTRY)};
#undef TILE
#undef TILES
#undef WIDE_TILE
#undef ENTRY
#undef WIDE_ENTRY
#undef ROWS
#undef WIDE_ROWS

UNSANITIZED static void tiles_of_short_segments(const qrt_microkernel_call *call, const tile_columns *c, int64_t row,
                                                int64_t end, const __m512i *start, bool by_row) {
    (void)by_row;
    run_tiles_of(call, c, row, end, MR, 2, SHORT_SEGMENT, start, false);
}

static inline int next_rows(const qrt_microkernel_call *call, const tile_columns *c, int row) {
    return next_tile(call->rows - row, c->vectors == 4 ? MR / 2 : MR);
}

/* Computes tiles of `rows` rows from `row` to `end`. */
static inline void run_tiles(const qrt_microkernel_call *call, const tile_columns *c, int row, int end, int rows,
                             const __m512i *start, bool by_row) {
    const bool short_segments = call->a_segments && call->depth == SHORT_SEGMENT * KU && !by_row;
    const tiles_fn run = c->vectors == 4                                   ? wide_tiles[rows - 1]
                         : rows == MR && c->vectors == 2 && short_segments ? tiles_of_short_segments
                                                                           : tiles[rows - 1][c->vectors - 1];
    run(call, c, row, end, start, by_row);
}

/* Computes all rows, whose sums begin alike. */
static inline void run_rows(const qrt_microkernel_call *call, const tile_columns *c, const __m512i *start) {
    for (int row = 0, end; row < call->rows; row = end) {
        const int rows = next_rows(call, c, row);
        end = row + rows * same_tiles(call->rows - row, c->vectors == 4 ? MR / 2 : MR);
        run_tiles(call, c, row, end, rows, start, false);
    }
}
