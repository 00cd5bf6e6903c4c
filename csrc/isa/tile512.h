/* The tiles of a GEMM in 512-bit registers, for the ISAs that have AVX-512: up to MR rows x 32 columns of i32, over the
 * whole of K, from the first sum to the stored result.
 *
 * The including file defines multiply_add(sum, a, b), the products of one group: four bytes of a row of A, broadcast,
 * by those of 16 columns of B (four 8-bit values of K, or two 16-bit ones). Per group of a full tile:
 *
 *   multiply_add      28
 *   vpbroadcastd m32  a group of A; load ports only: 14, and 2 loads and 2 prefetches of B: 9 cycles
 *
 * 28 sums, two vectors of B and a broadcast take 31 of 32 registers. Rows of A are read with their stride, in place or
 * packed. A panel of B is [group][column], of 32 columns, or of 16 where no more are valid. */
#ifndef QRT_ISA_TILE512_H
#define QRT_ISA_TILE512_H

#include <string.h>

#include "finish512.h"
#include "tile_rows.h"

#define MR 14
#define AHEAD 1024 /* bytes of B: where a panel does not fit L1 it comes from L2 in time */

typedef struct {
    int vectors; /* 1 or 2 */
    finish_columns finish;
} tile_columns;

static inline void load_columns(const qrt_gemm_panel *p, tile_columns *to) {
    to->vectors = p->columns > LANES ? 2 : 1;
    load_finish(p, to->vectors, &to->finish);
}

static inline __m512i load_bias(const qrt_gemm_panel *p, const tile_columns *c, int j) {
    return p->bias ? _mm512_maskz_loadu_epi32(c->finish.live[j], p->bias + j * LANES) : _mm512_setzero_si512();
}

INLINE __m512i broadcast_group(const char *group) {
    int32_t bits;
    memcpy(&bits, group, sizeof bits);
    return _mm512_set1_epi32(bits);
}

/* The products of one group. Rows are three to a pointer: the others are at one and two strides. */
INLINE void multiply_group(const char *const *a, int64_t stride, const char *b, int group, __m512i sums[][2], int rows,
                           int vectors) {
    __m512i vector[2];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++)
        vector[j] = _mm512_load_si512(b + j * 64);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        const __m512i value = broadcast_group(a[i / 3] + i % 3 * stride + group * 4);
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sums[i][j] = multiply_add(sums[i][j], value, vector[j]);
    }
}

/* Full tiles end in registers; others, which are few, through memory, and so in less code. */
INLINE void finish(const qrt_gemm_panel *p, const finish_columns *c, int64_t row, __m512i sums[][2], int rows,
                   int vectors) {
    if (rows == MR && vectors == 2 && c->kind == FINISH_FLOAT32) {
#pragma GCC unroll 16
        for (int i = 0; i < MR; i += 2)
            finish_group(p, c, row + i, sums[i], 2, 2, false);
        return;
    }
    if (rows == MR && vectors == 2 && c->kind == FINISH_FIXED) {
#pragma GCC unroll 16
        for (int i = 0; i < MR; i += 2)
            finish_group(p, c, row + i, sums[i], 2, 2, true);
        return;
    }
    __m512i tile[(MR * 2 + 3) / 4 * 4];
#pragma GCC unroll 4
    for (int n = rows * vectors; n % 4; n++)
        tile[n] = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            tile[i * vectors + j] = sums[i][j];
    finish_tile(p, c, row, tile, rows, vectors);
}

/* Few rows have too few sums to hide the latency of multiply_add: they keep a set per phase of the loop. */
INLINE void run_tile_of(const qrt_gemm_panel *p, const tile_columns *c, int64_t row, int rows, int vectors,
                        const __m512i *start, bool by_row) {
    const int phases = rows * vectors >= 8 ? 1 : rows * vectors >= 4 ? 2 : 4;
    const int64_t stride = p->a_stride;
    const char *a[(MR + 2) / 3];
    __m512i sums[4][MR][2];
    const int64_t step = by_row ? vectors : 0;
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++, start += step)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) {
            sums[0][i][j] = start[j];
#pragma GCC unroll 4
            for (int phase = 1; phase < phases; phase++)
                sums[phase][i][j] = _mm512_setzero_si512();
        }
    const char *b = p->b;
    const int64_t segments = p->a_segments ? p->segments : 1, whole = (p->depth + KU - 1) / KU;
    /* A quarter of the panel that follows, so that it is in L2 when its turn comes. Past the last one this fetches
     * nothing of use and faults nowhere. */
    const char *next = b + segments * whole * (4 + (row + MR - 1) / MR % 4) * (vectors * 64 / 4);
    for (int64_t segment = 0; segment < segments; segment++) {
        const char *first = (const char *)p->a + row * stride + (p->a_segments ? p->a_segments[segment] : 0);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i += 3)
            a[i / 3] = first + i * stride;
        int64_t groups = whole;
        for (; groups >= 4; groups -= 4, next += vectors * 64) {
            if (rows > 4) {
                _mm_prefetch(next, _MM_HINT_T1);
                _mm_prefetch(next + 64, _MM_HINT_T1);
            }
#pragma GCC unroll 4
            for (int group = 0; group < 4; group++, b += vectors * 64) {
#pragma GCC unroll 2
                for (int j = 0; j < vectors; j++)
                    _mm_prefetch(b + AHEAD + j * 64, _MM_HINT_T0);
                multiply_group(a, stride, b, group, sums[group % phases], rows, vectors);
            }
#pragma GCC unroll 8
            for (int i = 0; i < rows; i += 3)
                a[i / 3] += 4 * 4;
        }
        for (; groups > 0; groups--, b += vectors * 64) {
            multiply_group(a, stride, b, 0, sums[0], rows, vectors);
#pragma GCC unroll 8
            for (int i = 0; i < rows; i += 3)
                a[i / 3] += 4;
        }
    }
#pragma GCC unroll 4
    for (int phase = 1; phase < phases; phase++)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                sums[0][i][j] = _mm512_add_epi32(sums[0][i][j], sums[phase][i][j]);
    finish(p, &c->finish, row, sums[0], rows, vectors);
}

typedef void (*tile_fn)(const qrt_gemm_panel *p, const tile_columns *c, int64_t row, const __m512i *start, bool by_row);

#define ROWS(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14)
/* Sanitizers take minutes over unrolled tiles; tests set pages that fault around what they read and write. */
#define TILE(rows, vectors)                                                                                            \
    __attribute__((no_sanitize_address, no_sanitize_undefined)) static void tile_##rows##x##vectors(                   \
        const qrt_gemm_panel *p, const tile_columns *c, int64_t row, const __m512i *start, bool by_row) {              \
        run_tile_of(p, c, row, rows, vectors, start, by_row);                                                          \
    }
#define TILES(rows) TILE(rows, 1) TILE(rows, 2)
#define ENTRY(rows) {tile_##rows##x1, tile_##rows##x2},
ROWS(TILES)
static const tile_fn tiles[MR][2] = {ROWS(ENTRY)};
#undef TILE
#undef TILES
#undef ENTRY
#undef ROWS

/* Rows [row, row + rows); their sums begin with start[vector], or by row with start[row][vector]. */
static inline void run_tile(const qrt_gemm_panel *p, const tile_columns *c, int64_t row, int rows, const __m512i *start,
                            bool by_row) {
    tiles[rows - 1][c->vectors - 1](p, c, row, start, by_row);
}

#endif
