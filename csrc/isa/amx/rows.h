/* Where rows of A are read, 32 at a time, and where the results of each go. The rows are those of image rows or of a
 * matrix, in place, or packed while others are multiplied. */
#pragma once

#include "panels.h"

#define A_STEP (KU * MR) /* bytes of a packed block: two tiles, one after the other */
#define MOST_BLOCKS 32

/* Blocks of 32 rows: where their upper and lower 16 rows are, and how far the results of each row are from the panel's
 * target. */
typedef struct {
    int count;
    int64_t stride, row; /* row: the first one, in a matrix */
    const char *a[MOST_BLOCKS][2];
    int64_t target[MOST_BLOCKS][MR];
} row_blocks;

static inline int64_t steps_of(const qrt_microkernel_call *call) {
    return call->a_segments ? call->segments * (call->depth / KU) : steps_of_depth(call->depth);
}

/* Sets how far steps [first, first + count) of K are from a row's start. */
static void place_steps(const qrt_microkernel_call *call, int64_t first, int count, int64_t *to) {
    const int64_t per_segment = call->depth / KU;
    for (int i = 0; i < count; i++)
        to[i] = call->workspace     ? (first + i) * A_STEP
                : !call->a_segments ? (first + i) * KU
                                    : call->a_segments[(first + i) / per_segment] + (first + i) % per_segment * KU;
}

/* ---- image rows ---- */

/* The rows of A of all image rows, as one sequence that is cut into tiles of 16. Where image rows are a whole number of
 * rows apart, `pitch`, the sequence runs on from one to the next. The sums between two image rows are no results: they
 * are stored where the first result of the next image row will be. The last tile ends with the last row, so that no
 * tile reads or writes past it; some rows are then computed twice. */
typedef struct {
    int64_t pitch, per_image_row, count;
} row_tiles;

static inline row_tiles cut_rows(const qrt_microkernel_call *call) {
    const int64_t pitch =
        call->image_rows > 1 && call->a_image_row % call->a_stride == 0 ? call->a_image_row / call->a_stride : 0;
    row_tiles to = {.per_image_row = (call->rows + TILE_ROWS - 1) / TILE_ROWS};
    to.count = call->image_rows * to.per_image_row;
    const int64_t rows = (call->image_rows - 1) * pitch + call->rows, flat = (rows + TILE_ROWS - 1) / TILE_ROWS;
    if (pitch && rows >= TILE_ROWS && (flat < to.count || call->rows < TILE_ROWS)) {
        to.pitch = pitch;
        to.count = flat;
    }
    return to;
}

/* The first row of a tile, where there are `rows` rows in all. */
static inline int64_t row_of_tile(int64_t tile, int64_t rows) {
    return (tile + 1) * TILE_ROWS > rows ? rows - TILE_ROWS : tile * TILE_ROWS;
}

static inline const char *place_tile(const qrt_microkernel_call *call, const row_tiles *tiles, int64_t tile,
                                     int64_t *target) {
    const int64_t stride = call->args->problem.out_row_stride;
    if (!tiles->pitch) {
        const int64_t image_row = tile / tiles->per_image_row,
                      row = row_of_tile(tile % tiles->per_image_row, call->rows);
        for (int i = 0; i < TILE_ROWS; i++)
            target[i] = image_row * call->target_image_row + (row + i) * stride;
        return (const char *)call->a + image_row * call->a_image_row + row * call->a_stride;
    }
    const int64_t row = row_of_tile(tile, (call->image_rows - 1) * tiles->pitch + call->rows);
    int64_t image_row = row / tiles->pitch, pixel = row % tiles->pitch;
    for (int i = 0; i < TILE_ROWS; i++) {
        target[i] = pixel < call->rows ? image_row * call->target_image_row + pixel * stride
                                       : (image_row + 1) * call->target_image_row;
        if (++pixel == tiles->pitch)
            pixel = 0, image_row++;
    }
    return (const char *)call->a + row * call->a_stride;
}

/* Places up to MOST_BLOCKS blocks from tile `first` on. A tile that is left over is used for both halves of its
 * block. */
static void place_blocks(const qrt_microkernel_call *call, const row_tiles *tiles, int64_t first, row_blocks *to) {
    to->count = 0;
    to->stride = call->a_stride;
    for (int64_t tile = first; tile < tiles->count && to->count < MOST_BLOCKS; tile += 2, to->count++)
        for (int half = 0; half < 2; half++) {
            const int64_t at = tile + half < tiles->count ? tile + half : tile;
            to->a[to->count][half] = place_tile(call, tiles, at, to->target[to->count] + half * TILE_ROWS);
        }
}

/* ---- rows of a matrix; packed ones are [step][upper and lower][16][64] of each block ---- */

/* The last block ends with the last row. */
static inline int64_t row_of_block(const qrt_microkernel_call *call, int64_t row) {
    return row + MR > call->rows ? call->rows - MR : row;
}

/* Places up to MOST_BLOCKS blocks from row `row` on: in place, or packed in the call's workspace. */
static void place_matrix(const qrt_microkernel_call *call, int64_t row, int64_t steps, row_blocks *to) {
    to->stride = call->workspace ? KU : call->a_stride;
    to->row = row;
    for (to->count = 0; row < call->rows && to->count < MOST_BLOCKS; row += MR, to->count++) {
        to->a[to->count][0] = call->workspace ? (char *)call->workspace + to->count * steps * A_STEP
                                              : (const char *)call->a + row_of_block(call, row) * call->a_stride;
        to->a[to->count][1] = to->a[to->count][0] + TILE_ROWS * to->stride;
        for (int i = 0; i < MR; i++)
            to->target[to->count][i] = (row_of_block(call, row) + i) * call->args->problem.out_row_stride;
    }
}

/* The rest of a block that is yet to be packed, four rows of a step at a time. */
typedef struct {
    int64_t left; /* counted in four rows of a step */
    const uint8_t *from;
    char *to;
    int64_t stride, whole; /* whole: steps left before the one that is not whole */
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

/* The packing of steps [first, first + count) of a block. */
static inline packing pack_block(const qrt_microkernel_call *call, const row_blocks *blocks, int block, int64_t first,
                                 int count) {
    const int64_t row = row_of_block(call, blocks->row + block * MR);
    return (packing){.left = MR / 4 * count,
                     .from = (const uint8_t *)call->a + row * call->a_stride + first * KU,
                     .to = (char *)blocks->a[block][0] + first * A_STEP,
                     .stride = call->a_stride,
                     .whole = call->depth / KU - first,
                     .part = (1ULL << call->depth % KU) - 1};
}

static inline void pack_rest(packing *k) {
    while (k->left)
        pack_four_rows(k);
}
