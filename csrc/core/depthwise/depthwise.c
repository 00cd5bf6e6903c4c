/* The depthwise entry. Pixels that no microkernel computes are computed here one by one: the sums of all out channels
 * of a pixel begin with the bias. Taps in the padding hold the zero point and add nothing, so they are left out. */
#include "core/depthwise/depthwise.h"
#include "core/float_control.h"

/* Multiply-adds of a task. */
#define GRAIN 65536

typedef struct {
    const qrt_depthwise_call *call;
    int64_t pixels; /* pixels of a task */
} pixelwise;

/* The taps along one axis that lie inside the input. */
typedef struct {
    int64_t first, count;
} tap_range;

static tap_range taps_inside(int64_t start, int64_t kernel, int64_t dilation, int64_t size) {
    const int64_t first = start < 0 ? qrt_ceil_div(-start, dilation) : 0;
    const int64_t end = qrt_min(kernel, qrt_ceil_div(size - start, dilation));
    return (tap_range){first, end - first};
}

static qrt_status sum_pixel(const qrt_depthwise_call *call, int64_t pixel, int64_t *acc) {
    const qrt_depthwise_args *args = call->args;
    const qrt_depthwise_problem *problem = &args->problem;
    const qrt_window *w = &problem->window;
    const int64_t image = pixel / (w->out_height * w->out_width), rest = pixel % (w->out_height * w->out_width);
    const int64_t top = rest / w->out_width * w->strides[0] - w->padding[0];
    const int64_t left = rest % w->out_width * w->strides[1] - w->padding[1];
    const tap_range rows = taps_inside(top, w->kernel[0], w->dilations[0], w->height);
    const tap_range columns = taps_inside(left, w->kernel[1], w->dilations[1], w->width);
    if (rows.count <= 0 || columns.count <= 0)
        return QRT_OK;
    const int64_t row = image * w->height + top + rows.first * w->dilations[0];
    const int64_t first = row * w->width + left + columns.first * w->dilations[1];
    const char *x = call->x + first * w->channels * qrt_container_size(problem->x);
    const int64_t tap = rows.first * w->kernel[1] + columns.first;
    const char *weights = call->w + tap * problem->w_tap_step * qrt_container_size(problem->w);
    return args->kernels->depthwise_pixel(args, x, weights, rows.count, columns.count, acc);
}

static qrt_status run_pixel(const qrt_depthwise_call *call, int64_t pixel, int64_t *acc) {
    const qrt_depthwise_problem *problem = &call->args->problem;
    const int64_t channels = problem->out_channels;
    const qrt_requant *requant = &problem->requant;
    for (int64_t c = 0; c < channels; c++)
        acc[c] = qrt_bias_value(problem->bias, call->bias, c);
    const qrt_status status = sum_pixel(call, pixel, acc);
    if (status == QRT_OK)
        call->args->kernels->store_wide(requant, acc, channels, 1, (int)channels,
                                        call->out + pixel * channels * qrt_container_size(requant->container), channels,
                                        0, 0, problem->requant_step);
    return status;
}

static qrt_status run_task(void *context, int64_t task) {
    const pixelwise *by = context;
    const qrt_depthwise_problem *problem = &by->call->args->problem;
    const qrt_window *w = &problem->window;
    /* The row store_wide may read sums up to the next multiple of 16. */
    int64_t *acc = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)qrt_round_up(problem->out_channels, 16) * sizeof *acc);
    if (!acc)
        return QRT_NO_MEMORY;
    const int64_t end = qrt_min((task + 1) * by->pixels, w->images * w->out_height * w->out_width);
    const qrt_float_state saved = qrt_float_enter();
    qrt_status status = QRT_OK;
    for (int64_t pixel = task * by->pixels; pixel < end && status == QRT_OK; pixel++)
        status = run_pixel(by->call, pixel, acc);
    qrt_float_leave(saved);
    return status;
}

static qrt_status run_pixels(const qrt_depthwise_call *call) {
    const qrt_depthwise_problem *problem = &call->args->problem;
    const qrt_window *w = &problem->window;
    const int64_t work = qrt_max(1, w->kernel[0] * w->kernel[1] * problem->out_channels);
    pixelwise by = {call, qrt_max(1, GRAIN / work)};
    return qrt_parallel(qrt_ceil_div(w->images * w->out_height * w->out_width, by.pixels), run_task, &by,
                        call->threads);
}

/* Packs weights that are an operand, for this call alone. A bias that is an operand is added to the compensation. */
static qrt_status run_packed(qrt_depthwise_call *call) {
    const qrt_depthwise_problem *problem = &call->args->problem;
    qrt_depthwise_packing *packing = &call->packing;
    const bool packs = !packing->microkernel;
    if (packs)
        *packing = qrt_depthwise_choose(call->args, call->w);
    if (!packing->microkernel)
        return run_pixels(call);
    const bool adds = problem->bias != QRT_BIAS_NONE && !packing->start;
    if (packs || adds) {
        const int64_t start_bytes = qrt_depthwise_start_bytes(packing);
        const int64_t bytes = start_bytes + packs * packing->blocks * packing->block_bytes;
        char *workspace = qrt_workspace(QRT_WORKSPACE_CALL, (size_t)bytes);
        if (!workspace)
            return QRT_NO_MEMORY;
        if (packs) {
            packing->packed = workspace + start_bytes;
            qrt_depthwise_pack(problem, call->w, packing);
        }
        if (adds) {
            packing->start = (int32_t *)workspace;
            qrt_depthwise_add_bias(problem, call->bias, packing);
        }
    }
    return qrt_depthwise_run_blocks(call);
}

qrt_status qrt_depthwise_conv2d(const void *pointer, qrt_scratch *scratch) {
    const qrt_depthwise_args *args = pointer;
    const qrt_depthwise_problem *problem = &args->problem;
    if (problem->out_channels == 0) /* there may be more pixels without channels than a loop can count */
        return QRT_OK;
    void *const *operand = scratch->operands;
    qrt_depthwise_call call = {.args = args, .x = *operand++, .threads = scratch->threads};
    call.packing = args->plan.packing;
    call.w = problem->w_constant ? problem->w_constant : *operand++;
    if (problem->bias != QRT_BIAS_NONE)
        call.bias = problem->bias_constant ? problem->bias_constant : *operand++;
    call.out = *operand;
    if (!qrt_bias_within(problem->bias, call.bias, problem->out_channels, args->plan.bias_limit))
        return run_pixels(&call);
    return run_packed(&call);
}
