/* Binding a depthwise convolution: whether 32-bit sums are exact, which kernel, and the packing of its blocks. */
#include <string.h>

#include "core/depthwise/depthwise.h"

/* Interleaved columns of the least run of pixels: beyond this pixels are computed one by one. */
#define MOST_INTERLEAVED (512 * 1024)

static bool weights_within(const qrt_depthwise_args *args, const void *w, const qrt_depthwise_kernel *kernel) {
    /* Without channels there may be taps without end. */
    const int64_t taps = args->out_channels ? args->window.kernel[0] * args->window.kernel[1] : 0;
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t j = 0; j < args->out_channels; j++) {
            const int64_t at = tap * args->w_tap_step + j * args->w_channel_step;
            const int64_t value = (args->w == QRT_I8 ? ((const int8_t *)w)[at] : ((const uint8_t *)w)[at]) -
                                  args->w_zero_point[j * args->w_zero_point_step];
            if (value < kernel->w_min || value > kernel->w_max)
                return false;
        }
    return true;
}

static int64_t least_columns(const qrt_window *window, int pixels) {
    return qrt_min(pixels * window->kernel[1],
                   (pixels - 1) * window->strides[1] + (window->kernel[1] - 1) * window->dilations[1] + 1);
}

qrt_depthwise_plan qrt_depthwise_planned(const qrt_depthwise_args *args, const void *w) {
    const qrt_window *window = &args->window;
    const qrt_depthwise_kernel *kernel = args->kernels->depthwise;
    while (kernel && !weights_within(args, w, kernel))
        kernel = kernel->wider;
    qrt_depthwise_plan plan = {.kernel = kernel, .rows = 1};
    if (!kernel)
        return plan;
    plan.groups = qrt_ceil_div(window->kernel[0], kernel->group);
    /* The groups of one output row may hold what the next needs. */
    if (window->dilations[0] == 1 && window->strides[0] + window->kernel[0] <= plan.groups * kernel->group)
        plan.rows = 2;
    if (least_columns(window, kernel->pixels) * plan.groups * kernel->group_bytes > MOST_INTERLEAVED)
        plan.kernel = NULL;
    plan.blocks = qrt_ceil_div(args->out_channels, kernel->channels);
    plan.block_bytes = kernel->header_bytes + window->kernel[1] * plan.groups * plan.rows * kernel->group_bytes;
    return plan;
}

qrt_depthwise_block qrt_depthwise_block_at(const qrt_depthwise_args *args, const qrt_depthwise_plan *plan,
                                           int64_t block) {
    const qrt_depthwise_kernel *kernel = plan->kernel;
    qrt_depthwise_block at = {.first = block * kernel->channels, .segments = 1, .rows = plan->rows};
    at.channels = (int)qrt_min(kernel->channels, args->out_channels - at.first);
    if (args->multiplier == 1 && at.channels * 2 <= kernel->channels)
        at.segments = kernel->segments;
    at.groups = plan->groups;
    at.packed = (const char *)plan->packed + block * plan->block_bytes;
    at.start = plan->start ? plan->start + block * kernel->channels : at.packed;
    return at;
}

void qrt_depthwise_pack(const qrt_depthwise_args *args, const void *w, const qrt_depthwise_plan *plan) {
    memset(plan->packed, 0, (size_t)(plan->blocks * plan->block_bytes));
    for (int64_t i = 0; i < plan->blocks; i++) {
        const qrt_depthwise_block block = qrt_depthwise_block_at(args, plan, i);
        plan->kernel->pack(args, w, &block, (char *)plan->packed + i * plan->block_bytes);
    }
}

void qrt_depthwise_add_bias(const qrt_depthwise_args *args, const void *bias, const qrt_depthwise_plan *plan) {
    qrt_depthwise_plan packed = *plan;
    packed.start = NULL;
    for (int64_t i = 0; i < plan->blocks; i++) {
        const qrt_depthwise_block block = qrt_depthwise_block_at(args, &packed, i);
        plan->kernel->add_bias(args, bias, &block, plan->start + i * plan->kernel->channels);
    }
}

qrt_status qrt_depthwise_prepare(qrt_depthwise_args *args) {
    const int64_t w_count = args->w_zero_point_step ? args->out_channels : 1;
    const int64_t x_max = qrt_largest_difference(args->x, args->x_zero_point, 1);
    const int64_t w_max = qrt_largest_difference(args->w, args->w_zero_point, w_count);
    const int64_t taps = args->window.kernel[0] * args->window.kernel[1];
    args->bias_limit = -1;
    if (args->x <= QRT_U8 && args->w <= QRT_U8 && x_max <= 255 && w_max <= 255 && taps <= INT32_MAX / (255 * 255))
        args->bias_limit = INT32_MAX - taps * x_max * w_max;
    if (!args->w_constant || args->bias_limit < 0)
        return QRT_OK;
    qrt_depthwise_plan plan = qrt_depthwise_planned(args, args->w_constant);
    if (!plan.kernel)
        return QRT_OK;
    const int64_t start_bytes = plan.blocks * plan.kernel->channels * (int64_t)sizeof(int32_t);
    plan.packed = qrt_aligned_alloc((size_t)(plan.blocks * plan.block_bytes + start_bytes));
    if (!plan.packed)
        return QRT_NO_MEMORY;
    qrt_depthwise_pack(args, args->w_constant, &plan);
    if (args->bias_constant) {
        plan.start = (int32_t *)((char *)plan.packed + plan.blocks * plan.block_bytes);
        qrt_depthwise_add_bias(args, args->bias_constant, &plan);
    }
    args->plan = plan;
    return QRT_OK;
}

void qrt_depthwise_release(void *pointer) {
    qrt_depthwise_args *args = pointer;
    qrt_aligned_free(args->plan.packed);
    args->plan = (qrt_depthwise_plan){0};
}
