/* The tiles of a GEMM in 256-bit registers, for the ISAs from AVX2 on: up to 6 rows x 16 columns of i32, over the whole
 * of K; then through memory to the table's store.
 *
 * The including file defines KU and multiply_add(sum, a, b), the products of one group: four bytes of a row of A,
 * broadcast, by those of 8 columns of B (four 8-bit values of K, or two 16-bit ones). 12 sums, two vectors of B, a
 * broadcast and a product fill all 16 registers. Rows of A are read with their stride, in place or packed. A panel of B
 * is [group][column], of 16 columns, or of 8 where no more are valid. */
#ifndef QRT_ISA_TILE256_H
#define QRT_ISA_TILE256_H

#include <immintrin.h>
#include <string.h>

#include "qrt/qrt.h"
#include "isa/x86/gemm/tile_rows.inl"

#define MR 6
#define NR 16
#define LANES 8
#define AHEAD 1024 /* bytes of B: where a panel does not fit L1 it comes from L2 in time */

static inline int tile_vectors(int columns) {
    return columns > LANES ? 2 : 1;
}

/* The bias as vectors, 0 past its end. */
static inline void load_bias(const qrt_gemm_panel *p, __m256i *bias) {
    int32_t values[NR] = {0};
    if (p->bias)
        memcpy(values, p->bias, (size_t)p->columns * sizeof *values);
    bias[0] = _mm256_loadu_si256((const __m256i *)values);
    bias[1] = _mm256_loadu_si256((const __m256i *)values + 1);
}

/* A finished tile, rows of 16: the sums themselves, or the table's store. */
static inline void store_tile(const qrt_gemm_panel *p, int64_t row, const int32_t *sums, int rows) {
    const qrt_gemm_args *args = p->args;
    const qrt_requant *requant = &args->requant;
    if (p->sums) {
        for (int i = 0; i < rows; i++)
            memcpy(p->sums + (row + i) * p->sums_stride, sums + i * NR, (size_t)p->columns * sizeof *sums);
        return;
    }
    const int size = requant->container <= QRT_U8 ? 1 : requant->container <= QRT_U16 ? 2 : 4;
    args->kernels->store(requant, sums, NR, rows, p->columns, (char *)p->target + row * args->out_row_stride,
                         args->out_row_stride / size, p->parameter + row * args->requant_steps[1],
                         args->requant_steps[1], args->requant_steps[2]);
}

QRT_INLINE __m256i broadcast_group(const char *group) {
    int32_t bits;
    memcpy(&bits, group, sizeof bits);
    return _mm256_set1_epi32(bits);
}

/* The products of one group. Rows are three to a pointer: the others are at one and two strides. */
QRT_INLINE void multiply_group(const char *const *a, int64_t stride, const char *b, int group, __m256i sums[][2],
                               int rows, int vectors) {
    __m256i vector[2];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++)
        vector[j] = _mm256_load_si256((const __m256i *)b + j);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        const __m256i value = broadcast_group(a[i / 3] + i % 3 * stride + group * 4);
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sums[i][j] = multiply_add(sums[i][j], value, vector[j]);
    }
}

QRT_INLINE void run_tile_of(const qrt_gemm_panel *p, int64_t row, int rows, int vectors, const __m256i *start,
                            bool by_row) {
    const int64_t stride = p->a_stride, step = by_row ? vectors : 0;
    const char *a[(MR + 2) / 3];
    __m256i sums[MR][2];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++, start += step)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sums[i][j] = start[j];
    const char *b = p->b;
    for (int64_t segment = 0, segments = p->a_segments ? p->segments : 1; segment < segments; segment++) {
        const char *first = (const char *)p->a + row * stride + (p->a_segments ? p->a_segments[segment] : 0);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i += 3)
            a[i / 3] = first + i * stride;
        int64_t groups = (p->depth + KU - 1) / KU;
        for (; groups >= 4; groups -= 4) {
#pragma GCC unroll 4
            for (int group = 0; group < 4; group++, b += vectors * 32) {
                _mm_prefetch(b + AHEAD, _MM_HINT_T0);
                multiply_group(a, stride, b, group, sums, rows, vectors);
            }
#pragma GCC unroll 8
            for (int i = 0; i < rows; i += 3)
                a[i / 3] += 4 * 4;
        }
        for (; groups > 0; groups--, b += vectors * 32) {
            multiply_group(a, stride, b, 0, sums, rows, vectors);
#pragma GCC unroll 8
            for (int i = 0; i < rows; i += 3)
                a[i / 3] += 4;
        }
    }
    _Alignas(32) int32_t tile[MR * NR];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            _mm256_store_si256((__m256i *)(tile + i * NR) + j, sums[i][j]);
    store_tile(p, row, tile, rows);
}

typedef void (*tile_fn)(const qrt_gemm_panel *p, int64_t row, const __m256i *start, bool by_row);

#define ROWS(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6)
#define TILE(rows, vectors)                                                                                            \
    static void tile_##rows##x##vectors(const qrt_gemm_panel *p, int64_t row, const __m256i *start, bool by_row) {     \
        run_tile_of(p, row, rows, vectors, start, by_row);                                                             \
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
static inline void run_tile(const qrt_gemm_panel *p, int64_t row, int rows, const __m256i *start, bool by_row) {
    tiles[rows - 1][tile_vectors(p->columns) - 1](p, row, start, by_row);
}

#endif
