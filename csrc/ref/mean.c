/* Means: exact integer sums over any axes. */
#include "ref.h"

static int64_t reduced_sum(const qrt_mean_args *args, const void *x, int64_t first) {
    int64_t index[QRT_MAX_RANK] = {0}, at = first, sum = 0;
    for (int64_t i = 0; i < args->count; i++) {
        sum += ref_load(args->container, x, at);
        for (int d = args->reduced_rank - 1; d >= 0; d--) {
            at += args->reduced_strides[d];
            if (++index[d] < args->reduced_shape[d])
                break;
            at -= args->reduced_shape[d] * args->reduced_strides[d];
            index[d] = 0;
        }
    }
    return sum;
}

void ref_mean_row(const qrt_mean_args *args, const void *x, int64_t x_stride, void *target, int64_t count,
                  int64_t parameter, int64_t step) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = parameter + i * step;
        const int64_t acc = reduced_sum(args, x, i * x_stride) - args->count * args->zero_point[p];
        ref_store_value(args->requant.container, target, i, ref_requantize(&args->requant, acc, p));
    }
}
