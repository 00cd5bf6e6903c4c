/* Binding a depthwise convolution: finds out whether 32-bit sums are exact, chooses the microkernel, packs its
 * blocks. */
#include "core/depthwise/depthwise.h"

/* Where the columns of even the shortest run take more bytes than this, pixels are computed one by one. */
#define MOST_INTERLEAVED (512 * 1024)

static bool weights_within(const qrt_depthwise_problem *problem, const void *w,
                           const qrt_depthwise_microkernel *microkernel) {
    /* Without channels, the kernel may have more taps than a loop can count. */
    const int64_t taps = problem->out_channels ? problem->window.kernel[0] * problem->window.kernel[1] : 0;
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t j = 0; j < problem->out_channels; j++) {
            const int64_t at = tap * problem->w_tap_step + j * problem->w_channel_step;
            const int64_t value = (problem->w == QRT_I8 ? ((const int8_t *)w)[at] : ((const uint8_t *)w)[at]) -
                                  problem->w_zero_point[j * problem->w_zero_point_step];
            if (value < microkernel->w_min || value > microkernel->w_max)
                return false;
        }
    return true;
}

static int64_t least_columns(const qrt_window *window, int pixels) {
    return qrt_min(pixels * window->kernel[1],
                   (pixels - 1) * window->strides[1] + (window->kernel[1] - 1) * window->dilations[1] + 1);
}

qrt_depthwise_packing qrt_depthwise_choose(const qrt_depthwise_args *args, const void *w) {
    const qrt_window *window = &args->problem.window;
    const qrt_depthwise_microkernel *microkernel = args->kernels->depthwise;
    while (microkernel && !weights_within(&args->problem, w, microkernel))
        microkernel = microkernel->wider;
    qrt_depthwise_packing packing = {.microkernel = microkernel, .rows = 1};
    if (!microkernel)
        return packing;
    packing.groups = qrt_ceil_div(window->kernel[0], microkernel->group);
    /* The groups of input rows under one output row may also hold the rows that the next output row needs. */
    if (window->dilations[0] == 1 && window->strides[0] + window->kernel[0] <= packing.groups * microkernel->group)
        packing.rows = 2;
    if (least_columns(window, microkernel->pixels) * packing.groups * microkernel->group_bytes > MOST_INTERLEAVED)
        packing.microkernel = NULL;
    packing.blocks = qrt_ceil_div(args->problem.out_channels, microkernel->channels);
    packing.block_bytes =
        microkernel->header_bytes + window->kernel[1] * packing.groups * packing.rows * microkernel->group_bytes;
    return packing;
}

qrt_depthwise_block qrt_depthwise_block_at(const qrt_depthwise_problem *problem, const qrt_depthwise_packing *packing,
                                           int64_t block) {
    const qrt_depthwise_microkernel *microkernel = packing->microkernel;
    qrt_depthwise_block at = {.first = block * microkernel->channels, .segments = 1, .rows = packing->rows};
    at.channels = (int)qrt_min(microkernel->channels, problem->out_channels - at.first);
    if (problem->multiplier == 1 && at.channels * 2 <= microkernel->channels)
        at.segments = microkernel->segments;
    at.groups = packing->groups;
    at.packed = (const char *)packing->packed + block * packing->block_bytes;
    at.start = packing->start ? packing->start + block * microkernel->channels : at.packed;
    return at;
}

void qrt_depthwise_pack(const qrt_depthwise_problem *problem, const void *w, const qrt_depthwise_packing *packing) {
    memset(packing->packed, 0, (size_t)(packing->blocks * packing->block_bytes));
    for (int64_t i = 0; i < packing->blocks; i++) {
        const qrt_depthwise_block block = qrt_depthwise_block_at(problem, packing, i);
        packing->microkernel->pack(problem, w, &block, (void *)block.packed);
    }
}

void qrt_depthwise_add_bias(const qrt_depthwise_problem *problem, const void *bias,
                            const qrt_depthwise_packing *packing) {
    for (int64_t i = 0; i < packing->blocks; i++) {
        qrt_depthwise_block block = qrt_depthwise_block_at(problem, packing, i);
        block.start = block.packed;
        packing->microkernel->add_bias(problem, bias, &block, packing->start + i * packing->microkernel->channels);
    }
}

qrt_status qrt_depthwise_prepare(qrt_depthwise_args *args) {
    const qrt_depthwise_problem *problem = &args->problem;
    const int64_t w_count = problem->w_zero_point_step ? problem->out_channels : 1;
    const int64_t x_max = qrt_largest_difference(problem->x, problem->x_zero_point, 1);
    const int64_t w_max = qrt_largest_difference(problem->w, problem->w_zero_point, w_count);
    const int64_t taps = problem->window.kernel[0] * problem->window.kernel[1];
    args->plan.bias_limit = -1;
    if (problem->x <= QRT_U8 && problem->w <= QRT_U8 && x_max <= 255 && w_max <= 255 && taps <= INT32_MAX / (255 * 255))
        args->plan.bias_limit = INT32_MAX - taps * x_max * w_max;
    if (!problem->w_constant || args->plan.bias_limit < 0)
        return QRT_OK;
    qrt_depthwise_packing packing = qrt_depthwise_choose(args, problem->w_constant);
    if (!packing.microkernel)
        return QRT_OK;
    const int64_t bytes = packing.blocks * packing.block_bytes;
    const int64_t all = bytes + qrt_depthwise_start_bytes(&packing);
    packing.packed = qrt_take_stored(problem->stored, all);
    packing.stored = packing.packed;
    if (!packing.stored)
        packing.packed = qrt_aligned_alloc((size_t)all);
    if (!packing.packed)
        return QRT_NO_MEMORY;
    if (!packing.stored) {
        memset((char *)packing.packed + bytes, 0, (size_t)(all - bytes));
        qrt_depthwise_pack(problem, problem->w_constant, &packing);
    }
    if (problem->bias_constant) {
        packing.start = (int32_t *)((char *)packing.packed + bytes);
        if (!packing.stored)
            qrt_depthwise_add_bias(problem, problem->bias_constant, &packing);
    }
    args->plan.packing = packing;
    return QRT_OK;
}

int qrt_depthwise_packed(const void *pointer, qrt_packed_part *to) {
    const qrt_depthwise_packing *packing = &((const qrt_depthwise_args *)pointer)->plan.packing;
    if (!packing->packed)
        return 0;
    to[0] =
        (qrt_packed_part){packing->packed, packing->blocks * packing->block_bytes + qrt_depthwise_start_bytes(packing)};
    return 1;
}

void qrt_depthwise_release(void *pointer) {
    qrt_depthwise_args *args = pointer;
    if (!args->plan.packing.stored)
        qrt_aligned_free(args->plan.packing.packed);
    args->plan.packing = (qrt_depthwise_packing){0};
}
