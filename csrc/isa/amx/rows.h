/* Where a block of 32 rows of A is read, and where the results of each row go. */
#ifndef QRT_ISA_AMX_ROWS_H
#define QRT_ISA_AMX_ROWS_H

#include "../quads512.h"
#include "amx.h"

#define TILE_ROWS 16
#define MR (2 * TILE_ROWS)
#define KU 64
#define B_TILE (KU * LANES) /* bytes */
#define B_STEP (KU * NR)    /* of a panel: two tiles, one after the other */
#define A_STEP (KU * MR)    /* of a packed block: likewise */
#define MOST_BLOCKS 32
#define MOST_PANELS 16
#define MOST_STEPS 320 /* of a chunk of K */

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

/* ---- panels of B ---- */

static inline qrt_gemm_panel panel_at(const qrt_gemm_panel *p, int64_t i) {
    const qrt_container container = p->args->requant.container;
    qrt_gemm_panel to = *p;
    const int64_t j = i * NR;
    to.b = (const char *)p->b + i * p->args->shape.span_bytes;
    to.b_terms += 2 * j;
    to.bias = p->bias ? p->bias + j : NULL;
    to.parameter += j * p->args->requant_steps[2];
    to.target = (char *)p->target + j * (container <= QRT_U8 ? 1 : container <= QRT_U16 ? 2 : 4);
    to.sums = p->sums ? p->sums + j : NULL;
    to.columns = (int)(p->columns - j < NR ? p->columns - j : NR);
    return to;
}

/* Once, not where it is used: it is long, and a panel's time is its steps'. */
static __attribute__((noinline)) void load_columns(const qrt_gemm_panel *p, int vectors, finish_columns *to) {
    if (vectors == 4)
        load_finish(p, 4, to);
    else
        load_finish(p, 2, to);
}

/* What a panel's sums begin with. */
INLINE void load_starts(const qrt_gemm_panel *p, const finish_columns *c, int vectors, int32_t *to) {
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++) {
        const __m512i bias =
            p->bias ? _mm512_maskz_loadu_epi32(c->live[j], p->bias + j * LANES) : _mm512_setzero_si512();
        _mm512_store_si512(to + j * LANES, start_of_columns(p, bias, j));
    }
}

/* ---- blocks of A ---- */

/* Blocks of 32 rows: upper and lower 16, and where the results of each row go, from the panel's target. */
typedef struct {
    int count;
    int64_t stride, row; /* of the first, in a matrix */
    const char *a[MOST_BLOCKS][2];
    int64_t target[MOST_BLOCKS][MR];
} row_blocks;

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

static inline const char *place_tile(const qrt_gemm_panel *p, const row_tiles *tiles, int64_t tile, int64_t *target) {
    const int64_t stride = p->args->out_row_stride;
    if (!tiles->pitch) {
        const int64_t line = tile / tiles->per_line, wanted = tile % tiles->per_line * TILE_ROWS;
        const int64_t row = wanted + TILE_ROWS > p->rows ? p->rows - TILE_ROWS : wanted;
        for (int i = 0; i < TILE_ROWS; i++)
            target[i] = line * p->target_line + (row + i) * stride;
        return (const char *)p->a + line * p->a_line + row * p->a_stride;
    }
    const int64_t total = (p->lines - 1) * tiles->pitch + p->rows, wanted = tile * TILE_ROWS;
    const int64_t row = wanted + TILE_ROWS > total ? total - TILE_ROWS : wanted;
    int64_t line = row / tiles->pitch, pixel = row % tiles->pitch;
    for (int i = 0; i < TILE_ROWS; i++) {
        target[i] = pixel < p->rows ? line * p->target_line + pixel * stride : (line + 1) * p->target_line;
        if (++pixel == tiles->pitch)
            pixel = 0, line++;
    }
    return (const char *)p->a + row * p->a_stride;
}

/* Up to `most` blocks from tile `first` on. */
static void place_blocks(const qrt_gemm_panel *p, const row_tiles *tiles, int64_t first, int most, row_blocks *to) {
    to->count = 0;
    to->stride = p->a_stride;
    for (int64_t tile = first; tile < tiles->count && to->count < most; tile += 2, to->count++)
        for (int half = 0; half < 2; half++) {
            const int64_t at = tile + half < tiles->count ? tile + half : tile;
            to->a[to->count][half] = place_tile(p, tiles, at, to->target[to->count] + half * TILE_ROWS);
        }
}

/* Steps [first, first + count) of K: how far they are from a row's start. */
static void place_steps(const qrt_gemm_panel *p, int64_t first, int count, int64_t *to) {
    const int64_t per_segment = p->depth / KU;
    for (int i = 0; i < count; i++)
        to[i] = p->workspace     ? (first + i) * A_STEP
                : !p->a_segments ? (first + i) * KU
                                 : p->a_segments[(first + i) / per_segment] + (first + i) % per_segment * KU;
}

/* ---- rows packed meanwhile: [step][upper and lower][16][64] of each block ---- */

/* Lines of A to be packed, four rows of a step at a time. */
typedef struct {
    int64_t left; /* times four lines */
    const uint8_t *from;
    char *to;
    int64_t stride, whole; /* steps until one is a part */
    __mmask64 part;
    __m512i flips;
} packing;

INLINE void pack_four_lines(packing *k) {
    const __mmask64 live = k->whole > 0 ? ~0ULL : k->part;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        _mm512_store_si512(k->to + i * KU,
                           _mm512_xor_si512(_mm512_maskz_loadu_epi8(live, k->from + i * k->stride), k->flips));
    k->from += 4 * k->stride;
    k->to += 4 * KU;
    if (--k->left % 8 == 0) {
        k->from += KU - MR * k->stride;
        k->whole--;
    }
}

static inline int64_t steps_of(const qrt_gemm_panel *p) {
    return p->a_segments ? p->segments * (p->depth / KU) : (p->depth + KU - 1) / KU;
}

/* The last block ends with the last row. */
static inline int64_t row_of_block(const qrt_gemm_panel *p, int64_t row) {
    return row + MR > p->rows ? p->rows - MR : row;
}

/* Steps [first, first + count) of a block. */
static inline packing pack_block(const qrt_gemm_panel *p, const row_blocks *blocks, int block, int64_t first,
                                 int count) {
    const int64_t row = row_of_block(p, blocks->row + block * MR);
    return (packing){.left = 8 * count,
                     .from = (const uint8_t *)p->a + row * p->a_stride + first * KU,
                     .to = (char *)blocks->a[block][0] + first * A_STEP,
                     .stride = p->a_stride,
                     .whole = p->depth / KU - first,
                     .part = (1ULL << p->depth % KU) - 1,
                     .flips = _mm512_set1_epi8((char)flip_of_a(p->args->a))};
}

static inline void pack_rest(packing *k) {
    while (k->left)
        pack_four_lines(k);
}

/* Up to MOST_BLOCKS blocks of a matrix from row `row` on: where they are, or packed in its workspace. */
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

#endif
