/* A tile of a contraction in portable C: every element is a chain in the order of the depth loops. */
#include <math.h>
#include <string.h>

#include "ref/ref.h"

void ref_contraction_tile(const qrt_contraction_tile *tile) {
    for (int i = 0; i < tile->rows; i++)
        for (int c = 0; c < tile->columns; c++) {
            const float *a = tile->a[i] + (tile->a_has_columns ? c : 0);
            float sum = tile->init[i][tile->init_has_columns ? c : 0];
            for (int64_t step = 0; step < tile->depth; step++) {
                const float x = a[tile->a_steps[step]], y = tile->b[step * tile->width + c];
                sum = tile->fused ? fmaf(x, y, sum) : sum + x * y;
            }
            /* NaNs become the one that numerics.md names: processors make different ones. Without a step there is no
             * operation that could make one. */
            tile->out[i][c] = isnan(sum) && tile->depth ? NAN : sum;
        }
}

static uint32_t bits_at(const float *element) {
    uint32_t bits;
    memcpy(&bits, element, sizeof bits);
    return bits;
}

void ref_integer_tile(const qrt_contraction_tile *tile) {
    for (int i = 0; i < tile->rows; i++)
        for (int c = 0; c < tile->columns; c++) {
            const float *a = tile->a[i] + (tile->a_has_columns ? c : 0);
            uint32_t sum = bits_at(tile->init[i] + (tile->init_has_columns ? c : 0));
            for (int64_t step = 0; step < tile->depth; step++)
                sum += bits_at(a + tile->a_steps[step]) * bits_at(tile->b + step * tile->width + c);
            memcpy(tile->out[i] + c, &sum, sizeof sum);
        }
}
