/* Pools (all channels of one output pixel over the part of its window inside the input) and means (exact integer sums
 * over any axes), in portable C. */
#include "ref.h"

/* The rule dequantized of one channel: the average of floats, which are added in order. */
static int64_t dequantized_average(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                                   int64_t row_stride, int64_t column_stride, int64_t channel) {
    const qrt_requant *requant = &args->requant;
    const int64_t parameter = (rows * columns - 1) * args->count_step + channel * args->channel_step;
    const int64_t zero_point = args->zero_point[channel * args->zero_point_step];
    float sum = 0;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++)
            sum +=
                requant->scale_f32[parameter] *
                (float)(qrt_load(args->container, pixels, y * row_stride + x * column_stride + channel) - zero_point);
    const float average = sum / (float)requant->multiplier[parameter];
    return ref_epilogue_float32(requant, average / requant->divisor_f32[parameter] + requant->offset_f32[parameter], 0);
}

void ref_avg_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride, void *target) {
    const int64_t valid = rows * columns;
    for (int64_t channel = 0; channel < args->window.channels; channel++) {
        if (args->requant.rule == QRT_DEQUANTIZED) {
            ref_store_value(args->requant.container, target, channel,
                            dequantized_average(args, pixels, rows, columns, row_stride, column_stride, channel));
            continue;
        }
        const int64_t zero_point = args->zero_point[channel * args->zero_point_step];
        int64_t acc = 0;
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++)
                acc += qrt_load(args->container, pixels, y * row_stride + x * column_stride + channel) - zero_point;
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
                const int64_t value = qrt_load(args->container, pixels, y * row_stride + x * column_stride + channel);
                largest = value > largest ? value : largest;
            }
        ref_store_value(args->container, target, channel, largest);
    }
}

static int64_t reduced_sum(const qrt_mean_args *args, const void *x, int64_t first) {
    int64_t index[QRT_MAX_RANK] = {0}, at = first, sum = 0;
    for (int64_t i = 0; i < args->count; i++) {
        sum += qrt_load(args->container, x, at);
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
