/* The entry of transposed convolutions. Each pixel of the result is computed by itself: its sums begin with the bias,
 * and the taps that reach it lie in a grid, a stride apart. */
#include "core/core.h"
#include "core/float_control.h"

/* Multiply-adds of a task. */
#define GRAIN 65536

typedef struct {
    const qrt_transpose_conv_args *args;
    const char *x, *w;
    const void *bias;
    char *out;
    int64_t pixels; /* pixels of a task */
} transpose_conv_call;

/* The taps along one axis that reach a position: `count` of them from tap `tap` and input `at` on, each a stride
 * further in the window and one less in the input. */
typedef struct {
    int64_t tap, at, count;
} tap_range;

static tap_range taps_reaching(int64_t position, int64_t kernel, int64_t stride, int64_t size) {
    const int64_t last = qrt_min(position / stride, size - 1), tap = position - last * stride;
    const int64_t count = tap < kernel ? qrt_min((kernel - 1 - tap) / stride, last) + 1 : 0;
    return (tap_range){tap, last, count};
}

static qrt_status sum_pixel(const transpose_conv_call *call, int64_t pixel, int64_t *acc) {
    const qrt_transpose_conv_args *args = call->args;
    const int64_t column = pixel % args->out_width, rest = pixel / args->out_width;
    const int64_t row = rest % args->out_height, image = rest / args->out_height;
    const tap_range rows = taps_reaching(row + args->padding[0], args->kernel[0], args->strides[0], args->height);
    const tap_range columns = taps_reaching(column + args->padding[1], args->kernel[1], args->strides[1], args->width);
    if (rows.count <= 0 || columns.count <= 0)
        return QRT_OK;
    const int64_t from = (image * args->height + rows.at) * args->width + columns.at;
    const int64_t tap = rows.tap * args->kernel[1] + columns.tap;
    return args->kernels->transpose_conv_pixel(args, call->x + from * args->channels * qrt_container_size(args->x),
                                               call->w + tap * args->channels * qrt_container_size(args->w), rows.count,
                                               columns.count, acc);
}

static qrt_status run_pixel(const transpose_conv_call *call, int64_t pixel, int64_t *acc) {
    const qrt_transpose_conv_args *args = call->args;
    const int64_t channels = args->out_channels;
    for (int64_t c = 0; c < channels; c++)
        acc[c] = qrt_bias_value(args->bias, call->bias, c);
    const qrt_status status = sum_pixel(call, pixel, acc);
    if (status == QRT_OK)
        args->kernels->store_wide(&args->requant, acc, channels, 1, (int)channels,
                                  call->out + pixel * channels * qrt_container_size(args->requant.container), channels,
                                  0, 0, args->requant_step);
    return status;
}

static qrt_status run_task(void *context, int64_t task) {
    const transpose_conv_call *call = context;
    const qrt_transpose_conv_args *args = call->args;
    /* The row store_wide may read sums up to the next multiple of 16. */
    int64_t *acc = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)qrt_round_up(args->out_channels, 16) * sizeof *acc);
    if (!acc)
        return QRT_NO_MEMORY;
    const int64_t end = qrt_min((task + 1) * call->pixels, args->images * args->out_height * args->out_width);
    const qrt_float_state saved = qrt_float_enter();
    qrt_status status = QRT_OK;
    for (int64_t pixel = task * call->pixels; pixel < end && status == QRT_OK; pixel++)
        status = run_pixel(call, pixel, acc);
    qrt_float_leave(saved);
    return status;
}

qrt_status qrt_transpose_conv2d(const void *pointer, qrt_scratch *scratch) {
    const qrt_transpose_conv_args *args = pointer;
    if (args->out_channels == 0)
        return QRT_OK;
    void *const *operand = scratch->operands;
    transpose_conv_call call = {.args = args, .x = *operand++};
    call.w = args->w_constant ? args->w_constant : *operand++;
    if (args->bias != QRT_BIAS_NONE)
        call.bias = args->bias_constant ? args->bias_constant : *operand++;
    call.out = *operand;
    const int64_t taps =
        qrt_ceil_div(args->kernel[0], args->strides[0]) * qrt_ceil_div(args->kernel[1], args->strides[1]);
    call.pixels = qrt_max(1, GRAIN / qrt_max(1, taps * qrt_max(1, args->channels) * args->out_channels));
    return qrt_parallel(qrt_ceil_div(args->images * args->out_height * args->out_width, call.pixels), run_task, &call,
                        scratch->threads);
}
