/* Dot products in float32.
 *
 *   vfmadd231ps ymm     8 multiply-adds, two uops a cycle on ports 0 and 1: 12 per step, 6 cycles
 *   vbroadcastss, load  6 of A and 2 of B per step: 4 cycles on two load ports
 *
 * 6 rows by two vectors are 12 sums in registers, more than the 8 that hide a latency of 4 cycles. Every sum is the
 * chain that qrt/products/float_matmul.h defines, so the bits are those of ref. Hazard: memory may end behind a row;
 * masked loads do not fault past their mask. */
#include "isa/avx2/floats.h"

#define TILE_ROWS 6
#define SHORT_ROWS 3

#include "isa/x86/float_matmul/tile.inl"
#include "isa/x86/float_matmul/short.inl"

/* Transposes four lanes of four rows. */
QRT_INLINE void pack_four(const float *const row[4], int64_t d, float *to, int64_t stride) {
    __m128 r0 = _mm_loadu_ps(row[0] + d), r1 = _mm_loadu_ps(row[1] + d);
    __m128 r2 = _mm_loadu_ps(row[2] + d), r3 = _mm_loadu_ps(row[3] + d);
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    _mm_store_ps(to, r0);
    _mm_store_ps(to + stride, r1);
    _mm_store_ps(to + 2 * stride, r2);
    _mm_store_ps(to + 3 * stride, r3);
}

void avx2_float_rows(const float *a, int64_t a_stride, int rows, int64_t k, float *target, int64_t stride) {
    for (int i = 0; i < rows; i += 4, target += 4) {
        const float *row[4];
        for (int r = 0; r < 4; r++)
            row[r] = a + (i + r < rows ? i + r : rows - 1) * a_stride;
        float *to = target;
        int64_t d = 0;
        for (; d + LANES <= k; d += LANES, to += MR)
            for (int lane = 0; lane < LANES; lane += 4)
                pack_four(row, d + lane, to + lane * stride, stride);
        for (int lane = 0; lane < LANES && d < k; lane++)
            for (int r = 0; r < 4; r++)
                to[lane * stride + r] = d + lane < k ? row[r][d + lane] : 0;
    }
}

void avx2_float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    for (int c = 0; c < NR; c += 2 * WIDTH)
        for (int i = 0; i < rows; i += TILE_ROWS)
            some_rows(a + i, b + c, steps, rows - i < TILE_ROWS ? rows - i : TILE_ROWS, sums + i * NR + c);
}
