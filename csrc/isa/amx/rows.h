/* Where rows of A are read, 32 at a time, and where the results of each go: lines of a convolution, rows of a matrix
 * where they are, or packed meanwhile. */
#ifndef QRT_ISA_AMX_ROWS_H
#define QRT_ISA_AMX_ROWS_H

#include "panels.h"

#define A_STEP (KU * MR) /* bytes of a packed block: two tiles, one after the other */
#define MOST_BLOCKS 32

/* Blocks of 32 rows: upper and lower 16, and where the results of each row go, from the panel's target. */
typedef struct {
    int count;
    int64_t stride, row; /* of the first, in a matrix */
    const char *a[MOST_BLOCKS][2];
    int64_t target[MOST_BLOCKS][MR];
} row_blocks;

static inline int64_t steps_of(const qrt_gemm_panel *p) {
    return p->a_segments ? p->segments * (p->depth / KU) : steps_of_depth(p->depth);
}

/* Steps [first, first + count) of K: how far they are from a row's start. */
static void place_steps(const qrt_gemm_panel *p, int64_t first, int count, int64_t *to) {
    const int64_t per_segment = p->depth / KU;
    for (int i = 0; i < count; i++)
        to[i] = p->workspace     ? (first + i) * A_STEP
                : !p->a_segments ? (first + i) * KU
                                 : p->a_segments[(first + i) / per_segment] + (first + i) % per_segment * KU;
}

/* ---- lines ---- */

/* The rows of all lines, as one sequence: 16 of them at a time. Where lines are a whole number of rows apart, `pitch`,
 * it runs on from line to line; the sums between are nobody's, and go where the next line's first will. The last 16
 * end with the last row, so that none is read or written past it; some are computed twice. */
typedef struct {
    int64_t pitch, per_line, count;
} row_tiles;

static inline row_tiles cut_rows(const qrt_gemm_panel *p) {
    const int64_t pitch = p->lines > 1 && p->a_line % p->a_stride == 0 ? p->a_line / p->a_stride : 0;
    row_tiles to = {.per_line = (p->rows + TILE_ROWS - 1) / TILE_ROWS};
    to.count = p->lines * to.per_line;
    const int64_t rows = (p->lines - 1) * pitch + p->rows, flat = (rows + TILE_ROWS - 1) / TILE_ROWS;
    if (pitch && rows >= TILE_ROWS && (flat < to.count || p->rows < TILE_ROWS)) {
        to.pitch = pitch;
        to.count = flat;
    }
    return to;
}

/* The first row of a tile of `rows` rows in all. */
static inline int64_t row_of_tile(int64_t tile, int64_t rows) {
    return (tile + 1) * TILE_ROWS > rows ? rows - TILE_ROWS : tile * TILE_ROWS;
}

static inline const char *place_tile(const qrt_gemm_panel *p, const row_tiles *tiles, int64_t tile, int64_t *target) {
    const int64_t stride = p->args->out_row_stride;
    if (!tiles->pitch) {
        const int64_t line = tile / tiles->per_line, row = row_of_tile(tile % tiles->per_line, p->rows);
        for (int i = 0; i < TILE_ROWS; i++)
            target[i] = line * p->target_line + (row + i) * stride;
        return (const char *)p->a + line * p->a_line + row * p->a_stride;
    }
    const int64_t row = row_of_tile(tile, (p->lines - 1) * tiles->pitch + p->rows);
    int64_t line = row / tiles->pitch, pixel = row % tiles->pitch;
    for (int i = 0; i < TILE_ROWS; i++) {
        target[i] = pixel < p->rows ? line * p->target_line + pixel * stride : (line + 1) * p->target_line;
        if (++pixel == tiles->pitch)
            pixel = 0, line++;
    }
    return (const char *)p->a + row * p->a_stride;
}

/* Up to MOST_BLOCKS blocks from tile `first` on; of one tile left over twice the same. */
static void place_blocks(const qrt_gemm_panel *p, const row_tiles *tiles, int64_t first, row_blocks *to) {
    to->count = 0;
    to->stride = p->a_stride;
    for (int64_t tile = first; tile < tiles->count && to->count < MOST_BLOCKS; tile += 2, to->count++)
        for (int half = 0; half < 2; half++) {
            const int64_t at = tile + half < tiles->count ? tile + half : tile;
            to->a[to->count][half] = place_tile(p, tiles, at, to->target[to->count] + half * TILE_ROWS);
        }
}

/* ---- rows of a matrix; packed ones are [step][upper and lower][16][64] of each block ---- */

/* The last block ends with the last row. */
static inline int64_t row_of_block(const qrt_gemm_panel *p, int64_t row) {
    return row + MR > p->rows ? p->rows - MR : row;
}

/* Up to MOST_BLOCKS blocks from row `row` on: where they are, or packed in the call's workspace. */
static void place_matrix(const qrt_gemm_panel *p, int64_t row, int64_t steps, row_blocks *to) {
    to->stride = p->workspace ? KU : p->a_stride;
    to->row = row;
    for (to->count = 0; row < p->rows && to->count < MOST_BLOCKS; row += MR, to->count++) {
        to->a[to->count][0] = p->workspace ? (char *)p->workspace + to->count * steps * A_STEP
                                           : (const char *)p->a + row_of_block(p, row) * p->a_stride;
        to->a[to->count][1] = to->a[to->count][0] + TILE_ROWS * to->stride;
        for (int i = 0; i < MR; i++)
            to->target[to->count][i] = (row_of_block(p, row) + i) * p->args->out_row_stride;
    }
}

/* What is left to pack of a block, four rows of a step at a time. */
typedef struct {
    int64_t left; /* times four rows */
    const uint8_t *from;
    char *to;
    int64_t stride, whole; /* steps until one is a part */
    __mmask64 part;
} packing;

QRT_INLINE void pack_four_rows(packing *k) {
    const __mmask64 live = k->whole > 0 ? ~0ULL : k->part;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        _mm512_store_si512(k->to + i * KU, _mm512_maskz_loadu_epi8(live, k->from + i * k->stride));
    k->from += 4 * k->stride;
    k->to += 4 * KU;
    if (--k->left % (MR / 4) == 0) {
        k->from += KU - MR * k->stride;
        k->whole--;
    }
}

/* Steps [first, first + count) of a block. */
static inline packing pack_block(const qrt_gemm_panel *p, const row_blocks *blocks, int block, int64_t first,
                                 int count) {
    const int64_t row = row_of_block(p, blocks->row + block * MR);
    return (packing){.left = MR / 4 * count,
                     .from = (const uint8_t *)p->a + row * p->a_stride + first * KU,
                     .to = (char *)blocks->a[block][0] + first * A_STEP,
                     .stride = p->a_stride,
                     .whole = p->depth / KU - first,
                     .part = (1ULL << p->depth % KU) - 1};
}

static inline void pack_rest(packing *k) {
    while (k->left)
        pack_four_rows(k);
}

#endif
