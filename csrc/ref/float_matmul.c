/* Dot products in float32: sixteen chains of fused multiply-adds and a tree. */
#include <math.h>
#include <string.h>

#include "ref.h"

#define LANES QRT_FLOAT_LANES
#define COLUMNS QRT_FLOAT_COLUMNS

static float dequantized(const qrt_float_matmul_args *args, const uint32_t *panel, const float *parameters, int64_t k,
                         int column) {
    const int64_t step = k / LANES, block = k / args->k_block;
    const int width = args->weights == QRT_WEIGHTS_BYTES ? 8 : 4, steps = 32 / width;
    const uint32_t word = panel[(step / steps * COLUMNS + column) * LANES + k % LANES];
    const uint32_t q = word >> step % steps * width & ((1u << width) - 1);
    const float *p = parameters + block * COLUMNS * (args->zero_points_differ ? 2 : 1) + column;
    const float centred = (float)q - (args->zero_points_differ ? p[COLUMNS] : args->common_zero_point);
    return centred * *p;
}

static float tree(const float *lanes) {
    float sum[LANES];
    memcpy(sum, lanes, sizeof sum);
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++)
            sum[l] = sum[l] + sum[l + half];
    return sum[0];
}

void ref_float_panel(const float *a, int64_t a_stride, int64_t rows, const float *panel, int64_t k, float *lanes,
                     bool first, bool last, float *sums) {
    const int64_t padded = (k + LANES - 1) / LANES * LANES;
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < COLUMNS; j++, lanes += LANES) {
            if (first)
                memset(lanes, 0, LANES * sizeof *lanes);
            for (int64_t d = 0; d < padded; d++) {
                const float value = d < k ? a[i * a_stride + d] : 0;
                const float weight = panel[(d / LANES * COLUMNS + j) * LANES + d % LANES];
                lanes[d % LANES] = fmaf(value, weight, lanes[d % LANES]);
            }
            if (last)
                sums[i * COLUMNS + j] = tree(lanes);
        }
}

void ref_dequantize_panel(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                          float *target) {
    const int64_t padded = (args->k + LANES - 1) / LANES * LANES;
    for (int64_t k = 0; k < padded; k++)
        for (int j = 0; j < COLUMNS; j++)
            target[(k / LANES * COLUMNS + j) * LANES + k % LANES] =
                k < args->k ? dequantized(args, panel, parameters, k, j) : 0;
}

void ref_quantized_panel(const qrt_float_matmul_args *args, const float *a, const void *panel, const float *parameters,
                         float *sums) {
    const int64_t padded = (args->k + LANES - 1) / LANES * LANES;
    for (int j = 0; j < COLUMNS; j++) {
        float lane[LANES] = {0};
        for (int64_t k = 0; k < padded; k++) {
            const bool inside = k < args->k;
            const float weight = inside ? dequantized(args, panel, parameters, k, j) : 0;
            lane[k % LANES] = fmaf(inside ? a[k] : 0, weight, lane[k % LANES]);
        }
        sums[j] = tree(lane);
    }
}
