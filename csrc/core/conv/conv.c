/* Convolution on the pixels themselves. The patch of an output pixel is a few segments of contiguous values, and the
 * segments of the next pixel lie a constant distance further. So the microkernel reads the patches where they overlap:
 * in the input itself, or in a copy of some input rows, which has the padding around it and the form that the
 * microkernel wants. */
#include <stdlib.h>
#include <string.h>

#include "core/float_control.h"
#include "core/gemm/gemm.h"

/* A region with shorter rows is not worth its overlap with the next one: there, patches are gathered. */
#define LEAST_PIXELS 16

/* The number of input rows under `rows` output rows, and of input columns under `pixels` output pixels. */
static int64_t input_rows_under(const qrt_window *w, int64_t rows) {
    return (rows - 1) * w->strides[0] + (w->kernel[0] - 1) * w->dilations[0] + 1;
}

static int64_t columns_under(const qrt_window *w, int64_t pixels) {
    return (pixels - 1) * w->strides[1] + (w->kernel[1] - 1) * w->dilations[1] + 1;
}

static int64_t pixel_bytes(const qrt_gemm_args *args) {
    return args->problem.window->channels * args->plan.microkernel->a_size;
}

/* Bytes of a copied input row. There is room to align its first pixel, and to read whole steps past its last. Where the
 * microkernel joins image rows, a copied row is a whole number of strides long, and the padding at its end is also the
 * padding at the beginning of the next. */
static int64_t input_row_bytes(const qrt_gemm_args *args, int64_t pixels) {
    const qrt_window *w = args->problem.window;
    const int64_t columns = columns_under(w, pixels), pixel = pixel_bytes(args);
    if (args->plan.microkernel->joins_image_rows && pixels == w->out_width && pixel % QRT_ALIGNMENT == 0) {
        const int64_t right = columns - w->padding[1] - w->width, shared = qrt_max(0, qrt_min(w->padding[1], right));
        return qrt_round_up(columns - shared, w->strides[1]) * pixel;
    }
    const int64_t bytes = qrt_round_up(columns * pixel, QRT_ALIGNMENT) + 2 * QRT_ALIGNMENT;
    return bytes % 512 ? bytes : bytes + QRT_ALIGNMENT;
}

/* ---- binding ---- */

static bool pads(const qrt_window *w) {
    return w->padding[0] || w->padding[1] || input_rows_under(w, w->out_height) > w->height ||
           columns_under(w, w->out_width) > w->width;
}

/* Chooses the largest region that stays within QRT_A_BLOCK_BYTES; it has no rows where none does. */
static void choose_region(const qrt_gemm_args *args, qrt_conv_plan *conv) {
    const qrt_window *w = args->problem.window;
    const double pixel = (double)w->channels * args->plan.microkernel->a_size;
    conv->pixels = w->out_width;
    /* In floating point, because extents times channels may exceed 64 bits. */
    while (conv->pixels > 1 &&
           (double)input_rows_under(w, 1) * (double)columns_under(w, conv->pixels) * pixel > QRT_A_BLOCK_BYTES / 2)
        conv->pixels = qrt_ceil_div(conv->pixels, 2);
    if ((double)columns_under(w, conv->pixels) * pixel > QRT_A_BLOCK_BYTES)
        return;
    const int64_t input_rows = QRT_A_BLOCK_BYTES / input_row_bytes(args, conv->pixels) - input_rows_under(w, 1);
    conv->rows = input_rows < 0 ? 0 : qrt_min(input_rows / w->strides[0] + 1, w->out_height);
}

void qrt_conv_prepare(qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    qrt_gemm_plan *plan = &args->plan;
    const qrt_window *w = problem->window;
    if (!w || problem->m == 0 || !plan->microkernel->segmented || plan->a_form == QRT_A_COMPENSATED ||
        problem->k > plan->kc)
        return;
    const bool wide = w->groups == 1 && w->dilations[1] == 1; /* then a row of the window is one segment */
    const int64_t depth = w->channels / w->groups * (wide ? w->kernel[1] : 1);
    qrt_conv_plan conv = {.segments = w->kernel[0] * (wide ? 1 : w->kernel[1]),
                          .depth = qrt_round_up(depth, plan->microkernel->ku)};
    conv.filled = conv.depth != depth;
    if (conv.filled && !problem->b_constant)
        return;
    conv.in_place = plan->a_form == QRT_A_IN_PLACE && !conv.filled && !pads(w);
    choose_region(args, &conv);
    if (conv.rows >= 1 && conv.pixels >= qrt_min(LEAST_PIXELS, w->out_width))
        plan->conv = conv;
}

void *qrt_conv_filled_weights(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    const qrt_conv_plan *conv = &args->plan.conv;
    const int64_t columns = problem->batch * problem->n, depth = problem->k / conv->segments;
    char *filled = malloc((size_t)qrt_max(1, columns * conv->segments * conv->depth)); /* malloc(0) may return NULL */
    for (int64_t j = 0; filled && j < columns; j++) {
        const char *from = (const char *)problem->b_constant + j * problem->k;
        char *to = filled + j * conv->segments * conv->depth;
        memset(to, (int)qrt_b_zero_point(problem, 0, 0, j), (size_t)(conv->segments * conv->depth));
        for (int64_t segment = 0; segment < conv->segments; segment++)
            memcpy(to + segment * conv->depth, from + segment * depth, (size_t)depth);
    }
    return filled;
}

/* ---- a region ---- */

/* The tasks of a call share this. A task is a region by a block of columns. */
typedef struct {
    const qrt_gemm_call *call;
    const qrt_gemm_args *args;
    const qrt_window *window;
    qrt_packed packed;
    int64_t packed_column, column, columns; /* columns of b */
    int64_t batch, batches;
    int64_t rows, row_parts, pixel_parts, regions, column_block, column_parts;
    int64_t input_row_stride;
} tasks;

/* A region of an image, and where its input is read. */
typedef struct {
    int64_t image, row, rows, pixel, pixels;
    const char *first; /* the first value under the first pixel */
} region;

/* The byte that pack_a makes of a zero point: some microkernels subtract it, others keep it. */
static int packed_padding(const qrt_gemm_args *args) {
    _Alignas(QRT_ALIGNMENT) char packed[QRT_ALIGNMENT];
    const int32_t zero_point = (int32_t)args->problem.a_zero_point[0];
    const char value = (char)zero_point;
    args->plan.microkernel->pack_a(args->problem.a, &value, 1, 1, 1, &zero_point, packed, QRT_ALIGNMENT, NULL);
    return packed[0];
}

static const char *copy_region(const tasks *t, const region *at, char *workspace) {
    const qrt_gemm_args *args = t->args;
    const qrt_window *w = t->window;
    const int64_t pixel = pixel_bytes(args);
    const int64_t top = at->row * w->strides[0] - w->padding[0], left = at->pixel * w->strides[1] - w->padding[1];
    const int64_t columns = columns_under(w, at->pixels);
    const int64_t before = qrt_min(qrt_max(0, -left), columns);
    const int64_t inside = qrt_max(0, qrt_min(columns, w->width - left) - before);
    const int32_t zero_point = (int32_t)args->problem.a_zero_point[0];
    const int padding = packed_padding(args);
    /* pack_a stores to aligned addresses, so that the padding stands before one. */
    const int64_t shift = qrt_round_up(before * pixel, QRT_ALIGNMENT) - before * pixel;
    char *to = workspace + shift;
    for (int64_t i = 0; i < input_rows_under(w, at->rows); i++, to += t->input_row_stride) {
        const int64_t y = top + i;
        if (y < 0 || y >= w->height) {
            memset(to, padding, (size_t)(columns * pixel));
            continue;
        }
        const char *from = t->call->a + ((at->image * w->height + y) * w->width + left + before) * w->channels;
        args->plan.microkernel->pack_a(args->problem.a, from, 0, 1, inside * w->channels, &zero_point,
                                       to + before * pixel, 0, NULL);
        memset(to, padding, (size_t)(before * pixel));
        memset(to + (before + inside) * pixel, padding, (size_t)((columns - before - inside) * pixel));
    }
    return workspace + shift;
}

static const char *region_in_place(const tasks *t, const region *at) {
    const qrt_window *w = t->window;
    const int64_t input_row = at->image * w->height + at->row * w->strides[0];
    return t->call->a + (input_row * w->width + at->pixel * w->strides[1]) * w->channels;
}

static void place_segments(const tasks *t, int64_t *segments) {
    const qrt_window *w = t->window;
    const int64_t count = t->args->plan.conv.segments, columns = count / w->kernel[0];
    for (int64_t i = 0; i < count; i++)
        segments[i] =
            i / columns * w->dilations[0] * t->input_row_stride + i % columns * w->dilations[1] * pixel_bytes(t->args);
}

/* The outer loop of the microkernel goes over panels: each stays in L1 or L2 while the rows of the region pass by. */
static void run_region(const tasks *t, const region *at, int64_t batch, int64_t column, int64_t columns,
                       const int64_t *segments) {
    const qrt_gemm_problem *problem = &t->args->problem;
    const qrt_window *w = t->window;
    const int64_t pixel = pixel_bytes(t->args);
    qrt_gemm_block block = {.batch = batch,
                            .row = (at->image * w->out_height + at->row) * w->out_width + at->pixel,
                            .rows = at->pixels,
                            .column = column,
                            .columns = columns,
                            .packed = t->packed,
                            .packed_column = t->packed_column};
    if (problem->b_constant)
        block.packed = qrt_packed_matrix(&t->args->plan, qrt_b_matrix(problem, batch));
    const qrt_gemm_rows a = {.rows = at->first + batch * (pixel / w->groups),
                             .stride = w->strides[1] * pixel,
                             .segments = segments,
                             .image_rows = at->rows,
                             .a_image_row = w->strides[0] * t->input_row_stride,
                             .target_image_row = w->out_width * problem->out_row_stride};
    qrt_gemm_run_rows(t->call, &block, &a);
}

/* ---- sharing ---- */

/* The parts are of nearly equal size. With few of them, a short one at the end would leave its thread idle. */
static int64_t row_start(const tasks *t, int64_t row_part) {
    return row_part * t->window->out_height / t->row_parts;
}

/* There is room to align the first input row, for the part of the last one that exceeds the stride, and for a step that
 * is read past its end. */
static int64_t copy_bytes_of(const tasks *t) {
    const int64_t columns = columns_under(t->window, t->args->plan.conv.pixels);
    const int64_t beyond = columns * pixel_bytes(t->args) - t->input_row_stride;
    return input_rows_under(t->window, t->rows) * t->input_row_stride + qrt_max(0, beyond) + 2 * QRT_ALIGNMENT;
}

static qrt_status region_task(void *context, int64_t task) {
    const tasks *t = context;
    const qrt_conv_plan *conv = &t->args->plan.conv;
    const int64_t segment_bytes = qrt_round_up(conv->segments * (int64_t)sizeof(int64_t), QRT_ALIGNMENT);
    const int64_t copy_bytes = conv->in_place ? 0 : copy_bytes_of(t);
    char *workspace = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(segment_bytes + copy_bytes));
    if (!workspace)
        return QRT_NO_MEMORY;
    const int64_t part = task % t->regions, column = t->column + task / t->regions * t->column_block;
    const int64_t row_part = part / t->pixel_parts % t->row_parts;
    region at = {.image = part / (t->row_parts * t->pixel_parts),
                 .row = row_start(t, row_part),
                 .pixel = part % t->pixel_parts * conv->pixels};
    at.rows = row_start(t, row_part + 1) - at.row;
    at.pixels = qrt_min(conv->pixels, t->window->out_width - at.pixel);
    const qrt_float_state saved = qrt_float_enter();
    place_segments(t, (int64_t *)workspace);
    at.first = conv->in_place ? region_in_place(t, &at) : copy_region(t, &at, workspace + segment_bytes);
    for (int64_t batch = t->batch; batch < t->batch + t->batches; batch++)
        run_region(t, &at, batch, column, qrt_min(t->column_block, t->column + t->columns - column),
                   (const int64_t *)workspace);
    qrt_float_leave(saved);
    return QRT_OK;
}

/* Cuts a call into at least two tasks per thread, so that others help a thread that falls behind. Where b is larger
 * than the input, columns of b are cut first, so that each thread keeps its own part of b in its cache; else rows
 * are. */
static void share(tasks *t, int threads) {
    const qrt_gemm_problem *problem = &t->args->problem;
    const qrt_window *w = t->window;
    const int nr = t->args->plan.microkernel->nr;
    const int64_t panels = qrt_ceil_div(t->columns, nr), images = w->images * t->pixel_parts;
    const int64_t wanted = threads > 1 ? 2 * threads : 1;
    const bool by_columns =
        (double)problem->n * (double)problem->k > (double)w->height * (double)w->width * (double)w->channels;
    const int64_t first = by_columns ? qrt_min(panels, wanted) : 1;
    t->rows = qrt_min(t->rows, qrt_ceil_div(w->out_height, qrt_ceil_div(wanted, images * first)));
    t->row_parts = qrt_ceil_div(w->out_height, t->rows);
    t->rows = qrt_ceil_div(w->out_height, t->row_parts);
    const int64_t columns = qrt_max(first, qrt_min(panels, qrt_ceil_div(wanted, t->row_parts * images)));
    t->column_block = qrt_ceil_div(panels, columns) * nr;
    t->column_parts = qrt_ceil_div(t->columns, t->column_block);
    t->regions = images * t->row_parts;
}

qrt_status qrt_conv_run(const qrt_gemm_call *call, const qrt_gemm_block *b, int64_t batches, int threads) {
    const qrt_conv_plan *conv = &call->args->plan.conv;
    const qrt_window *w = call->args->problem.window;
    tasks t = {.call = call,
               .args = call->args,
               .window = w,
               .packed = b->packed,
               .packed_column = b->packed_column,
               .column = b->column,
               .columns = b->columns,
               .batch = b->batch,
               .batches = batches,
               .rows = conv->rows};
    t.input_row_stride = conv->in_place ? w->width * w->channels : input_row_bytes(call->args, conv->pixels);
    t.pixel_parts = qrt_ceil_div(w->out_width, conv->pixels);
    share(&t, threads);
    return qrt_parallel(t.regions * t.column_parts, region_task, &t, threads);
}
