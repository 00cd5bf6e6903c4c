/* Windows over NHWC images: gathers patches for convolutions, walks the pixels of pooling. */
#include <string.h>

#include "core/core.h"
#include "core/float_control.h"

/* ---- patches ---- */

static void fill_values(qrt_container container, void *target, int64_t count, int64_t value) {
    if (qrt_container_size(container) == 1) {
        memset(target, (int)value, (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (qrt_container_size(container) == 2)
            ((uint16_t *)target)[i] = (uint16_t)value;
        else
            ((uint32_t *)target)[i] = (uint32_t)value;
    }
}

void qrt_gather_patch(const qrt_window *w, qrt_container container, const void *input, int64_t row, int64_t group,
                      int64_t fill, void *patch) {
    const int64_t size = qrt_container_size(container);
    const int64_t channels = w->channels / w->groups;
    const int64_t image = row / (w->out_height * w->out_width), pixel = row % (w->out_height * w->out_width);
    const int64_t top = pixel / w->out_width * w->strides[0] - w->padding[0];
    const int64_t left = pixel % w->out_width * w->strides[1] - w->padding[1];
    const int64_t row_bytes = w->kernel[1] * channels * size;
    const bool whole = w->groups == 1 && w->dilations[1] == 1 && left >= 0 && left + w->kernel[1] <= w->width;
    char *target = patch;
    for (int64_t ky = 0; ky < w->kernel[0]; ky++, target += row_bytes) {
        const int64_t y = top + ky * w->dilations[0];
        if (y < 0 || y >= w->height) {
            fill_values(container, target, w->kernel[1] * channels, fill);
            continue;
        }
        const char *input_row =
            (const char *)input + ((image * w->height + y) * w->width * w->channels + group * channels) * size;
        if (whole) {
            memcpy(target, input_row + left * channels * size, (size_t)row_bytes);
            continue;
        }
        for (int64_t kx = 0; kx < w->kernel[1]; kx++) {
            const int64_t x = left + kx * w->dilations[1];
            char *tap = target + kx * channels * size;
            if (x < 0 || x >= w->width)
                fill_values(container, tap, channels, fill);
            else
                memcpy(tap, input_row + x * w->channels * size, (size_t)(channels * size));
        }
    }
}

/* ---- pooling ---- */

/* Elements that a task reads. */
#define GRAIN 32768

/* The tasks of a call share this. A task is a range of output pixels. */
typedef struct {
    const qrt_pool_args *args;
    qrt_max_pool_run_fn run;
    const char *input;
    char *output;
    int in_size, out_size;
    int64_t per_task;
} tasks;

/* The number of positions, up to `most`, whose windows end within `size` from position `at` on; 1 where its own does
 * not lie inside. */
static int64_t run_length(int64_t at, int64_t kernel, int64_t stride, int64_t size, int64_t most) {
    return at < 0 || at + kernel > size ? 1 : qrt_min(most, (size - kernel - at) / stride + 1);
}

/* Computes pixels of one output row, which begin in column `first`. */
static void pool_row(const tasks *t, int64_t row, int64_t first, int64_t count) {
    const qrt_window *w = &t->args->window;
    const int64_t image = row / w->out_height, top = row % w->out_height * w->strides[0] - w->padding[0];
    const int64_t y = qrt_max(top, 0), rows = qrt_min(top + w->kernel[0], w->height) - y;
    const char *input = t->input + (image * w->height + y) * w->width * w->channels * t->in_size;
    char *output = t->output + (row * w->out_width + first) * w->channels * t->out_size;
    for (int64_t i = 0, length; i < count; i += length) {
        const int64_t left = (first + i) * w->strides[1] - w->padding[1], x = qrt_max(left, 0);
        length = run_length(left, w->kernel[1], w->strides[1], w->width, count - i);
        t->run(t->args, input + x * w->channels * t->in_size, rows, qrt_min(left + w->kernel[1], w->width) - x,
               w->width * w->channels, w->channels, length, w->strides[1] * w->channels,
               output + i * w->channels * t->out_size);
    }
}

static qrt_status pool_task(void *context, int64_t task) {
    const tasks *t = context;
    const qrt_window *w = &t->args->window;
    const int64_t end = qrt_min((task + 1) * t->per_task, w->images * w->out_height * w->out_width);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t pixel = task * t->per_task, count; pixel < end; pixel += count) {
        const int64_t column = pixel % w->out_width;
        count = qrt_min(w->out_width - column, end - pixel);
        pool_row(t, pixel / w->out_width, column, count);
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

static qrt_status pool(const qrt_pool_args *args, qrt_max_pool_run_fn run, int out_size, qrt_scratch *scratch) {
    const qrt_window *w = &args->window;
    if (w->channels == 0) /* there may be more pixels without elements than a loop can count */
        return QRT_OK;
    tasks t = {args, run, scratch->operands[0], scratch->operands[1], qrt_container_size(args->container), out_size, 0};
    t.per_task = qrt_max(1, GRAIN / qrt_max(1, w->kernel[0] * w->kernel[1] * w->channels));
    const int64_t pixels = w->images * w->out_height * w->out_width;
    return qrt_parallel(qrt_ceil_div(pixels, t.per_task), pool_task, &t, scratch->threads);
}

qrt_status qrt_avg_pool2d(const void *pointer, qrt_scratch *scratch) {
    const qrt_pool_args *args = pointer;
    return pool(args, args->kernels->avg_pool_run, qrt_container_size(args->requant.container), scratch);
}

qrt_status qrt_max_pool2d(const void *pointer, qrt_scratch *scratch) {
    const qrt_pool_args *args = pointer;
    return pool(args, args->kernels->max_pool_run, qrt_container_size(args->container), scratch);
}
