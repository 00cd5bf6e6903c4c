/* Dot products in float32, for any vector width: tiles of lanes, and the tree that adds lanes.
 *
 * A vector holds columns. The including file gives the instructions and their ports, and defines
 *
 *   OP(name)                       the intrinsic of that name for `vector`, which has WIDTH floats
 *   TILE_ROWS                      rows by two vectors whose sums stay in registers
 *   multiply_add(sum, a, b)
 *   live(left)                     the mask of the first `left` floats; load_live, and store_live by it
 *   with_one_nan(value)            replaces NaNs by the one that numerics.md names: those of the processor are negative
 */
#pragma once

#if !defined OP || !defined WIDTH || !defined TILE_ROWS || !defined load_live || !defined store_live ||                \
    !defined with_one_nan
#error "float_matmul/tile.inl needs OP, WIDTH, TILE_ROWS, load_live, store_live and with_one_nan"
#endif

#include "isa/rows.h"

#define LANES QRT_FLOAT_LANES
#define MR QRT_FLOAT_MR
#define NR QRT_PRODUCT_NR

QRT_INLINE vector broadcast(const float *value) {
    return OP(set1_ps)(*value);
}

QRT_INLINE void tile_of(const int rows, const float *a, const float *b, int64_t steps, float *sums) {
    vector acc[TILE_ROWS][2];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
        acc[i][0] = acc[i][1] = OP(setzero_ps)();
    for (; steps > 0; steps--, a += MR, b += NR) {
        const vector b0 = OP(load_ps)(b), b1 = OP(load_ps)(b + WIDTH);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            const vector row = broadcast(a + i);
            acc[i][0] = multiply_add(acc[i][0], row, b0);
            acc[i][1] = multiply_add(acc[i][1], row, b1);
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
        OP(store_ps)(sums + i * NR, acc[i][0]);
        OP(store_ps)(sums + i * NR + WIDTH, acc[i][1]);
    }
}

/* Computes up to TILE_ROWS rows. */
QRT_INLINE void some_rows(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    switch (rows) {
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        tile_of(count, a, b, steps, sums);                                                                             \
        break;
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
#if TILE_ROWS > 6
        CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
#undef CASE
    }
}

void QRT_OF_ISA(float_axpy)(float a, const float *b, int64_t count, float *sums) {
    const vector row = OP(set1_ps)(a);
    for (; count >= WIDTH; count -= WIDTH, b += WIDTH, sums += WIDTH)
        OP(store_ps)(sums, multiply_add(OP(load_ps)(sums), row, OP(loadu_ps)(b)));
    if (count > 0)
        OP(store_ps)(sums, multiply_add(OP(load_ps)(sums), row, load_live(b, live(count))));
}

void QRT_OF_ISA(float_tree)(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias,
                            float *out, int64_t out_stride) {
    for (int64_t i = 0; i < rows; i++, lanes += NR, out += out_stride)
        for (int c = 0; c < columns; c += WIDTH) {
            const mask valid = live(columns - c);
            vector sum[LANES / 2];
#pragma GCC unroll 8
            for (int lane = 0; lane < LANES / 2; lane++)
                sum[lane] = OP(add_ps)(OP(load_ps)(lanes + lane * stride + c),
                                       OP(load_ps)(lanes + (lane + LANES / 2) * stride + c));
#pragma GCC unroll 3
            for (int half = LANES / 4; half; half /= 2)
#pragma GCC unroll 4
                for (int lane = 0; lane < half; lane++)
                    sum[lane] = OP(add_ps)(sum[lane], sum[lane + half]);
            if (bias)
                sum[0] = OP(add_ps)(sum[0], load_live(bias + c, valid));
            store_live(out + c, with_one_nan(sum[0]), valid);
        }
}
