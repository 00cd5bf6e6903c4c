/* Pooling: all channels of one output pixel over the valid part of its window. */
#include "ref.h"

void ref_avg_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride, void *target) {
    const int64_t valid = rows * columns;
    for (int64_t channel = 0; channel < args->window.channels; channel++) {
        const int64_t zero_point = args->zero_point[channel * args->zero_point_step];
        int64_t acc = 0;
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++)
                acc += ref_load(args->container, pixels, y * row_stride + x * column_stride + channel) - zero_point;
        ref_store_value(
            args->requant.container, target, channel,
            ref_requantize(&args->requant, acc, (valid - 1) * args->count_step + channel * args->channel_step));
    }
}

void ref_max_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride, void *target) {
    for (int64_t channel = 0; channel < args->window.channels; channel++) {
        int64_t largest = INT64_MIN;
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++) {
                const int64_t value = ref_load(args->container, pixels, y * row_stride + x * column_stride + channel);
                largest = value > largest ? value : largest;
            }
        ref_store_value(args->container, target, channel, largest);
    }
}
