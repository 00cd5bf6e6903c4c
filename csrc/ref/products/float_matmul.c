/* Dot products in float32 in portable C: sixteen chains of fused multiply-adds, and a tree that adds them.
 * qrt/products/float_matmul.h gives the order, which every ISA keeps. */
#include <math.h>
#include <string.h>

#include "ref/ref.h"

#define LANES QRT_FLOAT_LANES
#define MR QRT_FLOAT_MR
#define NR QRT_PRODUCT_NR

static float tree(const float *lanes) {
    float sum[LANES];
    memcpy(sum, lanes, sizeof sum);
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++)
            sum[l] = sum[l] + sum[l + half];
    return sum[0];
}

/* NaNs become the one NaN that numerics.md names: processors make different ones. */
static float result_of(float sum) {
    return isnan(sum) ? NAN : sum;
}

void ref_float_rows(const float *a, int64_t a_stride, int rows, int64_t k, float *target, int64_t stride) {
    const int64_t padded = (k + LANES - 1) / LANES * LANES;
    for (int i = 0; i < rows; i++)
        for (int64_t d = 0; d < padded; d++)
            target[d % LANES * stride + d / LANES * MR + i] = d < k ? a[i * a_stride + d] : 0;
}

void ref_float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < NR; j++) {
            float sum = 0;
            for (int64_t step = 0; step < steps; step++)
                sum = fmaf(a[step * MR + i], b[step * NR + j], sum);
            sums[i * NR + j] = sum;
        }
}

void ref_float_axpy(float a, const float *b, int64_t count, float *sums) {
    for (int64_t i = 0; i < count; i++)
        sums[i] = fmaf(a, b[i], sums[i]);
}

void ref_float_tree(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias, float *out,
                    int64_t out_stride) {
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float lane[LANES];
            for (int l = 0; l < LANES; l++)
                lane[l] = lanes[l * stride + i * NR + j];
            out[i * out_stride + j] = result_of(bias ? tree(lane) + bias[j] : tree(lane));
        }
}

void ref_float_short(const qrt_float_panel *p) {
    for (int64_t i = 0; i < p->rows; i++)
        for (int j = 0; j < p->columns; j++) {
            float lane[LANES] = {0};
            for (int l = 0; l < LANES; l++)
                for (int64_t step = 0; step < p->steps; step++)
                    lane[l] =
                        fmaf(p->a[i * p->a_stride + step * LANES + l], p->b[l * p->b_stride + step * NR + j], lane[l]);
            p->out[i * p->out_stride + j] = result_of(p->bias ? tree(lane) + p->bias[j] : tree(lane));
        }
}
