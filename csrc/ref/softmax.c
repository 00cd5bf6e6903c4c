/* Softmax of 8-bit storage: exponentials from a table, an exact sum, one division in float64. */
#include "ref.h"

void ref_softmax_line(const qrt_softmax_args *args, const void *x, void *target) {
    int64_t largest = INT64_MIN, sum = 0;
    for (int64_t i = 0; i < args->size; i++) {
        const int64_t value = ref_load(args->container, x, i * args->inner);
        largest = value > largest ? value : largest;
    }
    for (int64_t i = 0; i < args->size; i++)
        sum += args->table[largest - ref_load(args->container, x, i * args->inner)];
    /* Positive: the largest value's own entry is. Infinite where the scale is huge: then all ratios are 0. */
    const double divisor = (double)sum * args->scale;
    const double low = (double)(args->storage_min - args->zero_point);
    const double high = (double)(args->storage_max - args->zero_point);
    for (int64_t i = 0; i < args->size; i++) {
        const double v = rint(args->table[largest - ref_load(args->container, x, i * args->inner)] / divisor);
        ref_store_value(args->out, target, i * args->inner,
                        (int64_t)(v < low    ? low
                                  : v > high ? high
                                             : v) +
                            args->zero_point);
    }
}
