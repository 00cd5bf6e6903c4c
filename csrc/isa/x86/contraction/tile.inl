/* A tile of a contraction in float32 or int32, for any vector width. A vector holds columns, so that each lane is the
 * chain of one element of the result, in the order that qrt/products/contraction.h defines.
 *
 * The including file says which instructions and ports it counts on, and defines, besides what floats.h has,
 * TILE_VECTORS, the vectors of columns whose sums of QRT_CONTRACTION_MR rows stay in registers: 2 or 4. Where it
 * defines integer_step(sum, a, b) on integers in the lanes of vectors, it also makes a row of whole_tile. Hazards:
 * memory may end behind the columns of a, init and the result, which are masked; b is padded. */
#pragma once

#if !defined OP || !defined WIDTH || !defined TILE_VECTORS || !defined load_live || !defined store_live
#error "contraction/tile.inl needs OP, WIDTH, TILE_VECTORS, load_live and store_live"
#endif

#include "isa/rows.h"

#define MR QRT_CONTRACTION_MR

/* The columns of a tile that are computed at once. */
typedef struct {
    const qrt_contraction_tile *tile;
    int row, column;
    mask valid[TILE_VECTORS];
} part;

#ifdef integer_step
#define IS_FUSED(tile) false
#define step_of(fused, sum, a, b) ((void)(fused), integer_step(sum, a, b))
#define finished(sum) (sum)
#else
#define IS_FUSED(tile) ((tile)->fused)
#define finished with_one_nan
QRT_INLINE vector step_of(const bool fused, vector sum, vector a, vector b) {
    return fused ? multiply_add(sum, a, b) : OP(add_ps)(sum, OP(mul_ps)(a, b));
}
#endif

QRT_INLINE void load_init(const part *p, const int rows, const int vectors, vector sum[MR][TILE_VECTORS]) {
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        const float *init = p->tile->init[p->row + i];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sum[i][v] =
                p->tile->init_has_columns ? load_live(init + p->column + v * WIDTH, p->valid[v]) : OP(set1_ps)(*init);
    }
}

QRT_INLINE void store_sums(const part *p, const int rows, const int vectors, vector sum[MR][TILE_VECTORS]) {
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            store_live(p->tile->out[p->row + i] + p->column + v * WIDTH,
                       p->tile->depth ? finished(sum[i][v]) : sum[i][v], p->valid[v]);
}

/* One value of a for all columns. */
QRT_INLINE void by_values(const part *p, const int rows, const int vectors, const bool fused) {
    const qrt_contraction_tile *tile = p->tile;
    const float *a[MR], *b = tile->b + p->column;
    const int64_t width = tile->width, *step = tile->a_steps, *end = step + tile->depth;
    vector sum[MR][TILE_VECTORS];
    for (int i = 0; i < rows; i++)
        a[i] = tile->a[p->row + i];
    load_init(p, rows, vectors, sum);
    for (; step < end; step++, b += width) {
        vector column[TILE_VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            column[v] = OP(load_ps)(b + v * WIDTH);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            const vector value = OP(set1_ps)(a[i][*step]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                sum[i][v] = step_of(fused, sum[i][v], value, column[v]);
        }
    }
    store_sums(p, rows, vectors, sum);
}

/* A value of a for each column. Only the last panel has columns that are not valid. */
QRT_INLINE void by_columns(const part *p, const int rows, const int vectors, const bool fused) {
    const qrt_contraction_tile *tile = p->tile;
    const float *a[MR], *b = tile->b + p->column;
    const int64_t width = tile->width, *step = tile->a_steps, *end = step + tile->depth;
    vector sum[MR][TILE_VECTORS];
    for (int i = 0; i < rows; i++)
        a[i] = tile->a[p->row + i] + p->column;
    load_init(p, rows, vectors, sum);
    for (; step < end; step++, b += width) {
        vector column[TILE_VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            column[v] = OP(load_ps)(b + v * WIDTH);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                sum[i][v] = step_of(fused, sum[i][v], load_live(a[i] + *step + v * WIDTH, p->valid[v]), column[v]);
    }
    store_sums(p, rows, vectors, sum);
}

QRT_INLINE void some_columns(const part *p, const int rows, const int vectors) {
    if (p->tile->a_has_columns) {
        if (IS_FUSED(p->tile))
            by_columns(p, rows, vectors, true);
        else
            by_columns(p, rows, vectors, false);
    } else if (IS_FUSED(p->tile)) {
        by_values(p, rows, vectors, true);
    } else {
        by_values(p, rows, vectors, false);
    }
}

/* The compiler makes one function for each number of rows. */
QRT_INLINE void some_rows(const qrt_contraction_tile *tile, int row, const int rows) {
    part p = {.tile = tile, .row = row};
    const int vectors = tile->width / WIDTH;
    for (int v = 0; v < vectors; v += TILE_VECTORS) {
        p.column = v * WIDTH;
        for (int i = 0; i < TILE_VECTORS; i++)
            p.valid[i] = live(tile->columns - p.column - i * WIDTH);
        switch (vectors - v < TILE_VECTORS ? vectors - v : TILE_VECTORS) {
#if TILE_VECTORS > 2
        case 1:
            some_columns(&p, rows, 1);
            break;
        case 2:
            some_columns(&p, rows, 2);
            break;
        case 3:
            some_columns(&p, rows, 3);
            break;
#endif
        default:
            some_columns(&p, rows, TILE_VECTORS);
        }
    }
}

static __attribute__((noinline)) void six_rows(const qrt_contraction_tile *tile, int row) {
    some_rows(tile, row, 6);
}

static __attribute__((noinline)) void three_rows(const qrt_contraction_tile *tile, int row) {
    some_rows(tile, row, 3);
}

static __attribute__((noinline)) void one_row(const qrt_contraction_tile *tile, int row) {
    some_rows(tile, row, 1);
}

QRT_INLINE void whole_tile(const qrt_contraction_tile *tile) {
    int row = 0;
    for (; tile->rows - row >= 6; row += 6)
        six_rows(tile, row);
    for (; tile->rows - row >= 3; row += 3)
        three_rows(tile, row);
    for (; row < tile->rows; row++)
        one_row(tile, row);
}

#ifndef integer_step
void QRT_OF_ISA(contraction_tile)(const qrt_contraction_tile *tile) {
    whole_tile(tile);
}
#endif
