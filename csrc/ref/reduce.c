/* Pools (all channels of one output pixel over the part of its window inside the input) and means (exact integer sums
 * over any axes), in portable C. */
#include "ref.h"

#pragma GCC diagnostic error "-Wswitch-enum" /* an order without a case does not compile */

/* One channel of the elements of a window, as floats. */
typedef struct {
    const qrt_pool_args *args;
    const void *pixels;
    int64_t row_stride, column_stride, channel, zero_point;
    float scale;
} floats;

static float float_at(const floats *f, int64_t y, int64_t x) {
    const int64_t at = y * f->row_stride + x * f->column_stride + f->channel;
    return f->scale * (float)(qrt_load(f->args->container, f->pixels, at) - f->zero_point);
}

static float sum_of_rows(const floats *f, int64_t rows, int64_t columns) {
    float sum = 0;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++)
            sum += float_at(f, y, x);
    return sum;
}

static float sum_of_columns(const floats *f, int64_t rows, int64_t columns) {
    float sum = 0;
    for (int64_t x = 0; x < columns; x++) {
        float column = 0;
        for (int64_t y = 0; y < rows; y++)
            column += float_at(f, y, x);
        sum += column;
    }
    return sum;
}

static float sum_of_lanes(const floats *f, int64_t rows, int64_t columns) {
    const int64_t count = rows * columns, whole = count / 4 * 4;
    float lanes[4] = {0};
    for (int64_t i = 0; i < whole; i++)
        lanes[i % 4] += float_at(f, i / columns, i % columns);
    float sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    for (int64_t i = whole; i < count; i++)
        sum += float_at(f, i / columns, i % columns);
    return sum;
}

static float sum_in_order(const floats *f, qrt_sum_order order, int64_t rows, int64_t columns) {
    switch (order) {
    case QRT_ROWS:
        return sum_of_rows(f, rows, columns);
    case QRT_COLUMNS:
        return sum_of_columns(f, rows, columns);
    case QRT_LANES:
        return sum_of_lanes(f, rows, columns);
    }
    __builtin_trap();
}

/* The rules dequantized of one channel: the average of floats, which are added in an order. */
static int64_t dequantized_average(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                                   int64_t row_stride, int64_t column_stride, int64_t channel) {
    const qrt_requant *requant = &args->requant;
    const int64_t parameter = (rows * columns - 1) * args->count_step + channel * args->channel_step;
    const int64_t zero_point = args->zero_point[channel * args->zero_point_step];
    const floats f = {args, pixels, row_stride, column_stride, channel, zero_point, requant->scale_f32[parameter]};
    const float average = sum_in_order(&f, args->order, rows, columns) / (float)requant->multiplier[parameter];
    return ref_epilogue_float32(requant, average / requant->divisor_f32[parameter] + requant->offset_f32[parameter],
                                requant->zero_point[parameter]);
}

static void avg_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                           int64_t row_stride, int64_t column_stride, int64_t first, void *target) {
    const int64_t valid = rows * columns;
    for (int64_t channel = 0; channel < args->window.channels; channel++) {
        if (args->requant.rule == QRT_DEQUANTIZED) {
            ref_store_value(args->requant.container, target, first + channel,
                            dequantized_average(args, pixels, rows, columns, row_stride, column_stride, channel));
            continue;
        }
        const int64_t zero_point = args->zero_point[channel * args->zero_point_step];
        int64_t acc = 0;
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++)
                acc += qrt_load(args->container, pixels, y * row_stride + x * column_stride + channel) - zero_point;
        ref_store_value(
            args->requant.container, target, first + channel,
            ref_requantize(&args->requant, acc, (valid - 1) * args->count_step + channel * args->channel_step));
    }
}

void ref_avg_pool_run(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns, int64_t row_stride,
                      int64_t column_stride, int64_t count, int64_t step, void *target) {
    const int size = qrt_container_size(args->container);
    for (int64_t i = 0; i < count; i++)
        avg_pool_pixel(args, (const char *)pixels + i * step * size, rows, columns, row_stride, column_stride,
                       i * args->window.channels, target);
}

static void max_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                           int64_t row_stride, int64_t column_stride, int64_t first, void *target) {
    for (int64_t channel = 0; channel < args->window.channels; channel++) {
        int64_t largest = INT64_MIN;
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++) {
                const int64_t value = qrt_load(args->container, pixels, y * row_stride + x * column_stride + channel);
                largest = value > largest ? value : largest;
            }
        ref_store_value(args->container, target, first + channel, largest);
    }
}

void ref_max_pool_run(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns, int64_t row_stride,
                      int64_t column_stride, int64_t count, int64_t step, void *target) {
    const int size = qrt_container_size(args->container);
    for (int64_t i = 0; i < count; i++)
        max_pool_pixel(args, (const char *)pixels + i * step * size, rows, columns, row_stride, column_stride,
                       i * args->window.channels, target);
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
