/* A step of 64 values of K: 32 rows x 32 columns of sums in four tiles. While they are multiplied, the block before is
 * requantized, two rows at a time.
 *
 *   tdpb?sd   four per step, each 16 x 16 sums of 64 products in 16 cycles
 *   tileload  two of A and two of B per step, each 16 rows of 64 bytes: 8 cycles where a row is one cache line, and
 *             46 where it is two
 *   vectors   18 to 30 uops for two rows, between the tile instructions (epilogue512.inl)
 *
 * Tiles 0 to 3 are the sums, 4 and 5 the upper and lower rows of A, 6 and 7 the left and right columns of B. One
 * operand stays in L1 while the other streams by from L2; tileloaddt1 keeps B out of L1. The sums are exact: see
 * pack_quads.inl.
 *
 * Hazards. A store straight after the last multiply-add of a tile would wait 52 cycles for it. So the sums of a block
 * are stored in the first step of the next block, each tile when it is needed again, and they are read two steps later.
 * Uops between tile instructions take room in the window in which the processor looks ahead, so steps are written out
 * without branches. */
#pragma once

#include "rows.h"

/* Configures tiles for up to 32 rows. They have no rows past the last, so that nothing past it is read. */
static void configure(int rows) {
    const uint8_t upper = rows < TILE_ROWS ? (uint8_t)rows : TILE_ROWS, lower = (uint8_t)(rows - upper);
    const uint16_t low_bytes = lower ? 64 : 0; /* a tile must have both rows and bytes, or neither */
    const amx_config config = {
        .palette = 1,
        .row_bytes = {64, 64, low_bytes, low_bytes, 64, low_bytes, 64, 64},
        .rows = {upper, upper, lower, lower, upper, lower, TILE_ROWS, TILE_ROWS},
    };
    LDTILECFG(&config);
}

/* A block whose sums are in memory, and the rows that are yet to be requantized. */
typedef struct {
    const __m512i *sums;
    char *target;
    const int64_t *row, *end;
    const epilogue_columns *columns;
} pending_block;

/* Requantizes sums in memory: as many vectors as a group of rows has. */
QRT_INLINE void epilogue_from_memory(const epilogue_columns *c, const void *from, char *target, int64_t stride,
                                     int vectors, epilogue_kind kind, bool joined) {
    const __m512i *row = from;
    const __m512i sums[4] = {_mm512_load_si512(row), _mm512_load_si512(row + 1), _mm512_load_si512(row + 2),
                             _mm512_load_si512(row + 3)};
    epilogue_of_four(c, target, stride, sums, 4 / vectors, vectors, kind, joined);
}

QRT_INLINE void epilogue_of_two_rows(pending_block *pending, epilogue_kind kind) {
    epilogue_from_memory(pending->columns, pending->sums, pending->target + pending->row[0],
                         pending->row[1] - pending->row[0], 2, kind, false);
    pending->sums += 4;
    pending->row += 2;
}

QRT_INLINE void epilogue_of_rest(pending_block *pending, epilogue_kind kind) {
    while (pending->row < pending->end)
        epilogue_of_two_rows(pending, kind);
}

/* Other work of a step: cache lines of B to fetch into L2, rows of A to pack. */
typedef struct {
    const char *fetch;
    int cache_lines; /* in each step */
    packing pack;
} chores;

QRT_INLINE void do_chores(chores *c) {
    for (int i = 0; i < c->cache_lines; i++, c->fetch += 64)
        _mm_prefetch(c->fetch, _MM_HINT_T1);
    if (c->pack.left)
        pack_four_rows(&c->pack);
}

typedef struct {
    const char *upper, *lower, *b;
    int64_t a_stride;
    const int64_t *step;
    chores *chores; /* NULL: none */
} operands;

#define LOAD_B(t, from)                                                                                                \
    if (streams)                                                                                                       \
        TILELOADDT1(t, from, 64);                                                                                      \
    else                                                                                                               \
        TILELOADD(t, from, 64);

/* With `streams`, B passes by rows of A; else rows of A pass by a panel of B. Meanwhile 2 * `row_pairs` rows of the
 * block before are requantized. */
QRT_INLINE void multiply_step(operands *o, pending_block *pending, int row_pairs, epilogue_kind kind, bool streams) {
    const int64_t k = *o->step++;
    LOAD_B(6, o->b)
    TILELOADD(4, o->upper + k, o->a_stride);
    TDP(0, 4, 6);
#pragma GCC unroll 4
    for (int i = 0; i < row_pairs; i += 4)
        epilogue_of_two_rows(pending, kind);
    LOAD_B(7, o->b + B_TILE)
    TDP(1, 4, 7);
#pragma GCC unroll 4
    for (int i = 2; i < row_pairs; i += 4)
        epilogue_of_two_rows(pending, kind);
    TILELOADD(5, o->lower + k, o->a_stride);
    TDP(2, 5, 6);
#pragma GCC unroll 4
    for (int i = 1; i < row_pairs; i += 4)
        epilogue_of_two_rows(pending, kind);
    TDP(3, 5, 7);
#pragma GCC unroll 4
    for (int i = 3; i < row_pairs; i += 4)
        epilogue_of_two_rows(pending, kind);
    if (streams && __builtin_expect(o->chores != NULL, 0))
        do_chores(o->chores);
    o->b += B_STEP;
}

QRT_INLINE void store_sums(int tile, int32_t *to) {
    if (tile == 0)
        TILESTORED(0, to, NR * sizeof *to);
    else if (tile == 1)
        TILESTORED(1, to + LANES, NR * sizeof *to);
    else if (tile == 2)
        TILESTORED(2, to + TILE_ROWS * NR, NR * sizeof *to);
    else
        TILESTORED(3, to + TILE_ROWS * NR + LANES, NR * sizeof *to);
}

/* The first step of a block. It stores the sums of the block before, and begins with the sums at `from`, whose rows are
 * `stride` bytes apart; the lower rows are `lower` values further. */
QRT_INLINE void first_step(operands *o, int32_t *before, const int32_t *from, int64_t stride, int64_t lower,
                           bool streams) {
    const int64_t k = *o->step++;
    LOAD_B(6, o->b)
    TILELOADD(4, o->upper + k, o->a_stride);
    if (before)
        store_sums(0, before);
    TILELOADD(0, from, stride);
    TDP(0, 4, 6);
    LOAD_B(7, o->b + B_TILE)
    if (before)
        store_sums(1, before);
    TILELOADD(1, from + LANES, stride);
    TDP(1, 4, 7);
    TILELOADD(5, o->lower + k, o->a_stride);
    if (before)
        store_sums(2, before);
    TILELOADD(2, from + lower, stride);
    TDP(2, 5, 6);
    if (before)
        store_sums(3, before);
    TILELOADD(3, from + lower + LANES, stride);
    TDP(3, 5, 7);
    o->b += B_STEP;
}

QRT_INLINE void multiply_steps(operands *o, pending_block *pending, int count, int row_pairs, epilogue_kind kind,
                               bool streams) {
    for (; count > 0; count--)
        multiply_step(o, pending, row_pairs, kind, streams);
}

/* Requantizes 2 * `row_pairs` rows in each of `busy` steps, after `idle` steps. */
QRT_INLINE void multiply_with_epilogue(operands *o, pending_block *pending, int count, int idle, int busy,
                                       int row_pairs, epilogue_kind kind, bool streams) {
    multiply_steps(o, pending, idle, 0, kind, streams);
    multiply_steps(o, pending, busy, row_pairs, kind, streams);
    multiply_steps(o, pending, count - idle - busy, 0, kind, streams);
}

/* All steps but the first. The block before is requantized in as few uops per step as the number of steps allows. */
QRT_INLINE void multiply_rest(operands *o, pending_block *pending, int count, epilogue_kind kind, bool streams) {
    if (pending->row == pending->end)
        multiply_steps(o, pending, count, 0, kind, streams);
    else if (count >= 17)
        multiply_with_epilogue(o, pending, count, 1, 16, 1, kind, streams);
    else if (count >= 9)
        multiply_with_epilogue(o, pending, count, 1, 8, 2, kind, streams);
    else if (count >= 6)
        multiply_with_epilogue(o, pending, count, 1, 5, 3, kind, streams);
    else if (count >= 4)
        multiply_with_epilogue(o, pending, count, 0, 4, 4, kind, streams);
    else
        multiply_with_epilogue(o, pending, count, 0, count < 2 ? count : 2, 8, kind, streams);
}
