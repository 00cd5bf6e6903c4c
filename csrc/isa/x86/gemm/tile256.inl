/* The tiles of a GEMM in 256-bit registers, for the ISAs from AVX2 on: up to 6 rows x 16 columns of 32-bit sums over
 * the whole of K. Then they go through memory to the table's row `store`.
 *
 * The including file gives the instructions, their ports and the proof. It defines KU, values of K of a step, and
 * multiply_add: four bytes of a row of A, broadcast, by those of 8 columns of B (four 8-bit values of K, or two 16-bit
 * ones). 12 sums, two vectors of B, a broadcast and a product take all 16 registers. Rows of A are read with their
 * stride, in place or packed. A panel of B is [step][column] with 16 columns, or with 8 where no more are valid. */
#pragma once

#ifndef KU
#error "tile256.inl needs KU, and multiply_add"
#endif

#include <immintrin.h>
#include <string.h>

#include "qrt/qrt.h"
#include "isa/x86/gemm/tile_rows.inl"

#define MR 6
#define NR 16
#define LANES 8
#define AHEAD 1024 /* bytes of B: where a panel exceeds L1 it comes from L2 in time */

QRT_INLINE __m256i multiply_add(__m256i sum, __m256i a, __m256i b);

static inline int tile_vectors(int columns) {
    return columns > LANES ? 2 : 1;
}

/* Loads the bias as vectors, with 0 past its end. */
static inline void load_bias(const qrt_microkernel_call *call, __m256i *bias) {
    int32_t values[NR] = {0};
    if (call->bias)
        memcpy(values, call->bias, (size_t)call->columns * sizeof *values);
    bias[0] = _mm256_loadu_si256((const __m256i *)values);
    bias[1] = _mm256_loadu_si256((const __m256i *)values + 1);
}

/* The epilogue of a tile, whose rows have NR sums: stores them as they are, or by the table's row `store`. */
static inline void epilogue(const qrt_microkernel_call *call, int64_t row, const int32_t *sums, int rows) {
    const qrt_gemm_problem *problem = &call->args->problem;
    if (call->sums) {
        for (int i = 0; i < rows; i++)
            memcpy(call->sums + (row + i) * call->sums_stride, sums + i * NR, (size_t)call->columns * sizeof *sums);
        return;
    }
    const int size = qrt_container_size(problem->requant.container);
    const int64_t stride = problem->out_row_stride, step = problem->requant_steps[1];
    call->args->kernels->store(&problem->requant, sums, NR, rows, call->columns, (char *)call->target + row * stride,
                               stride / size, call->parameter + row * step, step, problem->requant_steps[2]);
}

QRT_INLINE __m256i broadcast_step(const char *step) {
    int32_t bits;
    memcpy(&bits, step, sizeof bits);
    return _mm256_set1_epi32(bits);
}

/* Adds the products of one step. Three rows share a pointer: the others are one and two strides further. */
QRT_INLINE void multiply_step(const char *const *a, int64_t stride, const char *b, int step, __m256i sums[][2],
                              int rows, int vectors) {
    __m256i vector[2];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++)
        vector[j] = _mm256_load_si256((const __m256i *)b + j);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        const __m256i value = broadcast_step(a[i / 3] + i % 3 * stride + step * 4);
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sums[i][j] = multiply_add(sums[i][j], value, vector[j]);
    }
}

QRT_INLINE void run_tile_of(const qrt_microkernel_call *call, int64_t row, int rows, int vectors, const __m256i *start,
                            bool by_row) {
    const int64_t stride = call->a_stride, each = by_row ? vectors : 0;
    const char *a[(MR + 2) / 3];
    __m256i sums[MR][2];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++, start += each)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sums[i][j] = start[j];
    const char *b = call->b;
    for (int64_t segment = 0, segments = call->a_segments ? call->segments : 1; segment < segments; segment++) {
        const char *first = (const char *)call->a + row * stride + (call->a_segments ? call->a_segments[segment] : 0);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i += 3)
            a[i / 3] = first + i * stride;
        int64_t steps = (call->depth + KU - 1) / KU;
        for (; steps >= 4; steps -= 4) {
#pragma GCC unroll 4
            for (int step = 0; step < 4; step++, b += vectors * 32) {
                _mm_prefetch(b + AHEAD, _MM_HINT_T0);
                multiply_step(a, stride, b, step, sums, rows, vectors);
            }
#pragma GCC unroll 8
            for (int i = 0; i < rows; i += 3)
                a[i / 3] += 4 * 4;
        }
        for (; steps > 0; steps--, b += vectors * 32) {
            multiply_step(a, stride, b, 0, sums, rows, vectors);
#pragma GCC unroll 8
            for (int i = 0; i < rows; i += 3)
                a[i / 3] += 4;
        }
    }
    _Alignas(32) int32_t tile[MR * NR];
    QRT_EACH_SUM(rows, vectors)
        _mm256_store_si256((__m256i *)(tile + i * NR) + j, sums[i][j]);
    epilogue(call, row, tile, rows);
}

typedef void (*tile_fn)(const qrt_microkernel_call *call, int64_t row, const __m256i *start, bool by_row);

#define ROWS(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6)
#define TILE(rows, vectors)                                                                                            \
    static void tile_##rows##x##vectors(const qrt_microkernel_call *call, int64_t row, const __m256i *start,           \
                                        bool by_row) {                                                                 \
        run_tile_of(call, row, rows, vectors, start, by_row);                                                          \
    }
#define TILES(rows) TILE(rows, 1) TILE(rows, 2)
#define ENTRY(rows) {tile_##rows##x1, tile_##rows##x2},
ROWS(TILES)
static const tile_fn tiles[MR][2] = {ROWS(ENTRY)};
#undef TILE
#undef TILES
#undef ENTRY
#undef ROWS

/* Computes rows [row, row + rows). Their sums begin with start[vector], or by row with start[row][vector]. */
static inline void run_tile(const qrt_microkernel_call *call, int64_t row, int rows, const __m256i *start,
                            bool by_row) {
    tiles[rows - 1][tile_vectors(call->columns) - 1](call, row, start, by_row);
}
