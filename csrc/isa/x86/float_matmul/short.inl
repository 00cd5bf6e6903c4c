/* Products in float32 of short K: the sixteen lanes of a tile are computed one after another and added as they end, so
 * that no sum of a lane is stored.
 *
 *   vfmadd231ps   two lanes at a time, as independent chains: with AVX-512 16 per step of four rows, 8 cycles
 *   loads         4 of B and 8 broadcasts of A per step: 6 cycles on two ports; a step has 31 uops in all
 *
 * The order of additions is that of qrt/products/float_matmul.h, so that the bits are those of ref. tile.inl comes
 * first. The including file defines, besides the macros of that, SHORT_ROWS, at most 4, and `flags` with unordered(a,
 * b), either and holds, which find out whether with_one_nan is needed. Hazard: memory may end behind the columns, which
 * are masked. */
#pragma once

#if !defined OP || !defined WIDTH || !defined load_live || !defined store_live || !defined with_one_nan ||             \
    !defined SHORT_ROWS || !defined unordered || !defined either || !defined holds
#error "float_matmul/short.inl needs tile.inl, SHORT_ROWS, unordered, either and holds"
#endif

/* sum = lane l + lane l + 8 */
QRT_INLINE void pair_of_lanes(const int rows, const qrt_float_panel *p, const float *a, const float *b,
                              vector sum[SHORT_ROWS][2]) {
    const int64_t half = p->b_stride * (LANES / 2);
    vector other[SHORT_ROWS][2];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = other[i][0] = other[i][1] = OP(setzero_ps)();
    for (int64_t step = 0; step < p->steps; step++, a += LANES, b += NR) {
        const vector b0 = OP(load_ps)(b), b1 = OP(load_ps)(b + WIDTH);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            const vector row = broadcast(a + i * p->a_stride);
            sum[i][0] = multiply_add(sum[i][0], row, b0);
            sum[i][1] = multiply_add(sum[i][1], row, b1);
        }
        const vector c0 = OP(load_ps)(b + half), c1 = OP(load_ps)(b + half + WIDTH);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            const vector row = broadcast(a + i * p->a_stride + LANES / 2);
            other[i][0] = multiply_add(other[i][0], row, c0);
            other[i][1] = multiply_add(other[i][1], row, c1);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        sum[i][0] = OP(add_ps)(sum[i][0], other[i][0]);
        sum[i][1] = OP(add_ps)(sum[i][1], other[i][1]);
    }
}

/* part = lanes l, l + 4, l + 8 and l + 12 */
QRT_INLINE void four_lanes(const int rows, const qrt_float_panel *p, const float *a, const float *b,
                           vector part[SHORT_ROWS][2]) {
    vector sum[SHORT_ROWS][2], other[SHORT_ROWS][2];
    pair_of_lanes(rows, p, a, b, sum);
    pair_of_lanes(rows, p, a + LANES / 4, b + LANES / 4 * p->b_stride, other);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        part[i][0] = OP(add_ps)(sum[i][0], other[i][0]);
        part[i][1] = OP(add_ps)(sum[i][1], other[i][1]);
    }
}

/* Adding -0 changes no sum. */
QRT_INLINE vector bias_of(const qrt_float_panel *p, int64_t column, mask valid) {
    static const float none = -0.0F;
    return p->bias ? load_live(p->bias + column, valid) : broadcast(&none);
}

QRT_INLINE void short_tile(const int rows, const qrt_float_panel *p, const float *a, int64_t column, float *out) {
    const mask valid[2] = {live(p->columns - column), live(p->columns - column - WIDTH)};
    const vector bias[2] = {bias_of(p, column, valid[0]), bias_of(p, column + WIDTH, valid[1])};
    vector part[4][SHORT_ROWS][2];
    for (int lane = 0; lane < 4; lane++)
        four_lanes(rows, p, a + lane, p->b + lane * p->b_stride + column, part[lane]);
    vector sum[SHORT_ROWS][2];
    flags nans = unordered(bias[0], bias[1]);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            sum[i][v] = OP(add_ps)(
                OP(add_ps)(OP(add_ps)(part[0][i][v], part[2][i][v]), OP(add_ps)(part[1][i][v], part[3][i][v])),
                bias[v]);
        nans = either(nans, unordered(sum[i][0], sum[i][1]));
    }
    if (__builtin_expect(holds(nans), false))
        for (int i = 0; i < rows; i++)
            for (int v = 0; v < 2; v++)
                sum[i][v] = with_one_nan(sum[i][v]);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            store_live(out + i * p->out_stride + column + v * WIDTH, sum[i][v], valid[v]);
}

static void some_short_rows(const int rows, const qrt_float_panel *p, const float *a, int64_t column, float *out) {
    switch (rows) {
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        short_tile(count, p, a, column, out);                                                                          \
        break;
        CASE(1)
        CASE(2)
        CASE(3)
#if SHORT_ROWS > 3
        CASE(4)
#endif
#undef CASE
    }
}

void QRT_OF_ISA(float_short)(const qrt_float_panel *p) {
    for (int64_t row = 0; row < p->rows; row += SHORT_ROWS) {
        const int rows = (int)(p->rows - row < SHORT_ROWS ? p->rows - row : SHORT_ROWS);
        for (int64_t column = 0; column < p->columns; column += 2 * WIDTH)
            some_short_rows(rows, p, p->a + row * p->a_stride, column, p->out + row * p->out_stride);
    }
}
