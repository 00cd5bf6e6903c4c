/* The entry of transposed convolutions. The taps that reach a pixel of the result lie in a grid, a stride apart. Those
 * of pixels that are a stride apart are the same: such pixels are a phase, which is a convolution of x by these taps.
 * Its result is computed as a whole, and then copied to its pixels. Without phases each pixel is computed by itself:
 * its sums begin with the bias. */
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

/* ---- phases ---- */

/* Bytes of a task of copying. */
#define COPY_GRAIN 65536

typedef struct {
    const qrt_transpose_conv_args *args;
    const qrt_transpose_conv_phase *phase;
    const char *from;
    char *out;
    int64_t pixel, rows; /* bytes of a pixel, rows of a task */
} copy_call;

static qrt_status copy_task(void *context, int64_t task) {
    const copy_call *call = context;
    const qrt_transpose_conv_args *args = call->args;
    const qrt_transpose_conv_phase *phase = call->phase;
    const int64_t end = qrt_min((task + 1) * call->rows, args->images * phase->rows);
    for (int64_t i = task * call->rows; i < end; i++) {
        const int64_t image = i / phase->rows, row = i % phase->rows;
        const char *from = call->from + (image * phase->conv_rows + row) * phase->conv_columns * call->pixel;
        char *to = call->out + ((image * args->out_height + phase->row + row * args->strides[0]) * args->out_width +
                                phase->column) *
                                   call->pixel;
        for (int64_t column = 0; column < phase->columns; column++)
            memcpy(to + column * args->strides[1] * call->pixel, from + column * call->pixel, (size_t)call->pixel);
    }
    return QRT_OK;
}

/* Whether a phase is the result itself. */
static bool is_whole(const qrt_transpose_conv_args *args, const qrt_transpose_conv_phase *phase) {
    return args->phase_count == 1 && phase->conv_rows == args->out_height && phase->conv_columns == args->out_width;
}

static qrt_status run_phases(const qrt_transpose_conv_args *args, qrt_scratch *scratch) {
    const int inputs = 1 + (args->bias != QRT_BIAS_NONE && !args->bias_constant);
    const int64_t pixel = args->out_channels * qrt_container_size(args->requant.container);
    void *operands[3] = {scratch->operands[0], scratch->operands[1]};
    qrt_scratch inner = {operands, scratch->threads};
    for (int i = 0; i < args->phase_count; i++) {
        const qrt_transpose_conv_phase *phase = args->phases + i;
        const int64_t bytes = args->images * phase->conv_rows * phase->conv_columns * pixel;
        const bool whole = is_whole(args, phase);
        operands[inputs] = whole ? scratch->operands[inputs] : qrt_workspace(QRT_WORKSPACE_CALLER, (size_t)bytes);
        if (!operands[inputs])
            return QRT_NO_MEMORY;
        const qrt_status status = qrt_gemm(phase->conv, &inner);
        if (status != QRT_OK)
            return status;
        if (whole)
            continue;
        copy_call call = {args,
                          phase,
                          operands[inputs],
                          scratch->operands[inputs],
                          pixel,
                          qrt_max(1, COPY_GRAIN / qrt_max(1, phase->columns * pixel))};
        qrt_parallel(qrt_ceil_div(args->images * phase->rows, call.rows), copy_task, &call, scratch->threads);
    }
    return QRT_OK;
}

qrt_status qrt_transpose_conv2d(const void *pointer, qrt_scratch *scratch) {
    const qrt_transpose_conv_args *args = pointer;
    if (args->out_channels == 0)
        return QRT_OK;
    if (args->phases)
        return run_phases(args, scratch);
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
