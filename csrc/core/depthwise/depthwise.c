/* The depthwise entry. What no kernel computes goes pixel by pixel, each a row of out channels summed from its bias:
 * taps in the padding hold the zero point and add nothing, so they are left out. */
#include "core/depthwise/depthwise.h"
#include "core/float_control.h"

/* Multiply-adds per task. */
#define GRAIN 65536

typedef struct {
    qrt_depthwise_call call;
    bool narrow;
    int64_t per_task;
} job;

/* The taps along one axis that lie inside the input. */
typedef struct {
    int64_t first, count;
} span;

static span taps_inside(int64_t start, int64_t kernel, int64_t dilation, int64_t size) {
    const int64_t first = start < 0 ? qrt_ceil_div(-start, dilation) : 0;
    const int64_t end = qrt_min(kernel, qrt_ceil_div(size - start, dilation));
    return (span){first, end - first};
}

static qrt_status sum_pixel(const job *j, int64_t pixel, void *acc) {
    const qrt_depthwise_args *args = j->call.args;
    const qrt_window *w = &args->window;
    const int64_t image = pixel / (w->out_height * w->out_width), rest = pixel % (w->out_height * w->out_width);
    const int64_t top = rest / w->out_width * w->strides[0] - w->padding[0];
    const int64_t left = rest % w->out_width * w->strides[1] - w->padding[1];
    const span rows = taps_inside(top, w->kernel[0], w->dilations[0], w->height);
    const span columns = taps_inside(left, w->kernel[1], w->dilations[1], w->width);
    if (rows.count <= 0 || columns.count <= 0)
        return QRT_OK;
    const int64_t line = image * w->height + top + rows.first * w->dilations[0];
    const int64_t first = line * w->width + left + columns.first * w->dilations[1];
    const char *x = j->call.x + first * w->channels * qrt_container_size(args->x);
    const int64_t tap = rows.first * w->kernel[1] + columns.first;
    const char *weights = j->call.w + tap * args->w_tap_step * qrt_container_size(args->w);
    if (!j->narrow)
        return args->kernels->depthwise_wide_pixel(args, x, weights, rows.count, columns.count, acc);
    args->kernels->depthwise_pixel(args, x, weights, rows.count, columns.count, acc);
    return QRT_OK;
}

static qrt_status run_pixel(const job *j, int64_t pixel, void *acc) {
    const qrt_depthwise_args *args = j->call.args;
    const int64_t channels = args->out_channels;
    for (int64_t c = 0; c < channels; c++) {
        const int64_t bias = qrt_bias_value(args->bias, j->call.bias, c);
        if (j->narrow)
            ((int32_t *)acc)[c] = (int32_t)bias;
        else
            ((int64_t *)acc)[c] = bias;
    }
    const qrt_status status = sum_pixel(j, pixel, acc);
    char *target = j->call.out + pixel * channels * qrt_container_size(args->requant.container);
    if (status != QRT_OK)
        return status;
    if (j->narrow)
        args->kernels->store(&args->requant, acc, channels, 1, (int)channels, target, channels, 0, 0,
                             args->requant_step);
    else
        args->kernels->store_wide(&args->requant, acc, channels, 1, (int)channels, target, channels, 0, 0,
                                  args->requant_step);
    return QRT_OK;
}

static qrt_status depthwise_task(void *context, int64_t task) {
    const job *j = context;
    const qrt_window *w = &j->call.args->window;
    /* A store may read sums up to the next multiple of 16. */
    void *acc =
        qrt_workspace(QRT_WORKSPACE_TASK, (size_t)qrt_round_up(j->call.args->out_channels, 16) * sizeof(int64_t));
    if (!acc)
        return QRT_NO_MEMORY;
    const int64_t end = qrt_min((task + 1) * j->per_task, w->images * w->out_height * w->out_width);
    const qrt_float_state saved = qrt_float_enter();
    qrt_status status = QRT_OK;
    for (int64_t pixel = task * j->per_task; pixel < end && status == QRT_OK; pixel++)
        status = run_pixel(j, pixel, acc);
    qrt_float_leave(saved);
    return status;
}

static qrt_status run_pixels(const qrt_depthwise_call *call, bool narrow, int threads) {
    const qrt_window *w = &call->args->window;
    job j = {.call = *call, .narrow = narrow};
    j.per_task = qrt_max(1, GRAIN / qrt_max(1, w->kernel[0] * w->kernel[1] * call->args->out_channels));
    return qrt_parallel(qrt_ceil_div(w->images * w->out_height * w->out_width, j.per_task), depthwise_task, &j,
                        threads);
}

/* What is not a constant is packed for this call: the weights, and the bias, which joins what sums begin with. */
static qrt_status run_plan(const qrt_depthwise_call *call, qrt_depthwise_plan plan, int threads) {
    const qrt_depthwise_args *args = call->args;
    const bool packing = !plan.kernel;
    if (packing)
        plan = qrt_depthwise_planned(args, call->w);
    if (!plan.kernel)
        return run_pixels(call, true, threads);
    const int64_t start_bytes = plan.blocks * plan.kernel->channels * (int64_t)sizeof(int32_t);
    char *workspace = NULL;
    const bool adding = args->bias != QRT_BIAS_NONE && !plan.start;
    if (packing || adding) {
        workspace = qrt_workspace(QRT_WORKSPACE_CALL, (size_t)(start_bytes + packing * plan.blocks * plan.block_bytes));
        if (!workspace)
            return QRT_NO_MEMORY;
    }
    if (packing) {
        plan.packed = workspace + start_bytes;
        qrt_depthwise_pack(args, call->w, &plan);
    }
    if (adding) {
        plan.start = (int32_t *)workspace;
        qrt_depthwise_add_bias(args, call->bias, &plan);
    }
    return qrt_depthwise_run_plan(call, &plan, threads);
}

qrt_status qrt_depthwise_conv2d(const void *pointer, qrt_scratch *scratch) {
    const qrt_depthwise_args *args = pointer;
    if (args->out_channels == 0) /* of which there may be pixels without end */
        return QRT_OK;
    void *const *operand = scratch->operands;
    qrt_depthwise_call call = {.args = args, .x = *operand++};
    call.w = args->w_constant ? args->w_constant : *operand++;
    if (args->bias != QRT_BIAS_NONE)
        call.bias = args->bias_constant ? args->bias_constant : *operand++;
    call.out = *operand;
    if (!qrt_bias_within(args->bias, call.bias, args->out_channels, args->bias_limit))
        return run_pixels(&call, false, scratch->threads);
    return run_plan(&call, args->plan, scratch->threads);
}
