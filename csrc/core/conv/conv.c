/* Convolution on the pixels themselves. The patch of an output pixel is a few segments of contiguous values; those of
 * the next pixel of a row lie a constant distance further, so the microkernel reads both where they overlap: in the
 * input, or in a copy of some lines that has the padding around it and the form the microkernel wants. */
#include <stdlib.h>
#include <string.h>

#include "core/float_control.h"
#include "core/gemm/gemm.h"

/* A region shorter than this, because its lines are too long, is not worth its overlap with the next one. */
#define LEAST_PIXELS 16

/* The lines and columns of input under `rows` output rows of `pixels` pixels. */
static int64_t lines_under(const qrt_window *w, int64_t rows) {
    return (rows - 1) * w->strides[0] + (w->kernel[0] - 1) * w->dilations[0] + 1;
}

static int64_t columns_under(const qrt_window *w, int64_t pixels) {
    return (pixels - 1) * w->strides[1] + (w->kernel[1] - 1) * w->dilations[1] + 1;
}

/* Bytes of a copied line: there is room to align its first pixel, and for reads of whole steps past its last. A flat
 * line is whole strides of pixels, and shares the padding at its end with the next one's beginning. */
static int64_t line_bytes(const qrt_gemm_args *args, int64_t pixels) {
    const qrt_window *w = args->window;
    const int64_t columns = columns_under(w, pixels), pixel_bytes = w->channels * args->gemm->a_size;
    if (args->gemm->flat_lines && pixels == w->out_width && pixel_bytes % QRT_ALIGNMENT == 0) {
        const int64_t right = columns - w->padding[1] - w->width, shared = qrt_max(0, qrt_min(w->padding[1], right));
        return qrt_round_up(columns - shared, w->strides[1]) * pixel_bytes;
    }
    const int64_t values = columns * pixel_bytes;
    const int64_t bytes = qrt_round_up(values, QRT_ALIGNMENT) + 2 * QRT_ALIGNMENT;
    return bytes % 512 ? bytes : bytes + QRT_ALIGNMENT;
}

/* ---- binding ---- */

static bool pads(const qrt_window *w) {
    return w->padding[0] || w->padding[1] || lines_under(w, w->out_height) > w->height ||
           columns_under(w, w->out_width) > w->width;
}

/* The largest region that stays within QRT_A_BLOCK_BYTES; no rows where none does. */
static void choose_region(const qrt_gemm_args *args, qrt_conv_plan *plan) {
    const qrt_window *w = args->window;
    const double pixel_bytes = (double)w->channels * args->gemm->a_size;
    plan->pixels = w->out_width;
    /* In floating point: extents times channels may pass 64 bits. */
    while (plan->pixels > 1 &&
           (double)lines_under(w, 1) * (double)columns_under(w, plan->pixels) * pixel_bytes > QRT_A_BLOCK_BYTES / 2)
        plan->pixels = qrt_ceil_div(plan->pixels, 2);
    if ((double)columns_under(w, plan->pixels) * pixel_bytes > QRT_A_BLOCK_BYTES)
        return;
    const int64_t lines = QRT_A_BLOCK_BYTES / line_bytes(args, plan->pixels) - lines_under(w, 1);
    plan->rows = lines < 0 ? 0 : qrt_min(lines / w->strides[0] + 1, w->out_height);
}

void qrt_conv_prepare(qrt_gemm_args *args) {
    const qrt_window *w = args->window;
    const int ku = args->gemm->ku;
    args->conv = (qrt_conv_plan){0};
    if (!w || args->m == 0 || !args->gemm->segmented || args->a_form == QRT_A_PACKED_TERMS || args->k > args->span)
        return;
    const bool wide = w->groups == 1 && w->dilations[1] == 1; /* a kernel row is one segment */
    const int64_t depth = w->channels / w->groups * (wide ? w->kernel[1] : 1);
    qrt_conv_plan plan = {.segments = w->kernel[0] * (wide ? 1 : w->kernel[1]), .depth = qrt_round_up(depth, ku)};
    plan.filled = plan.depth != depth;
    if (plan.filled && !args->b_constant)
        return;
    plan.in_place = args->a_form == QRT_A_IN_PLACE && !plan.filled && !pads(w);
    choose_region(args, &plan);
    if (plan.rows >= 1 && plan.pixels >= qrt_min(LEAST_PIXELS, w->out_width))
        args->conv = plan;
}

void *qrt_conv_filled_weights(const qrt_gemm_args *args) {
    const qrt_conv_plan *plan = &args->conv;
    const int64_t columns = args->batch * args->n, depth = args->k / plan->segments;
    char *filled = malloc((size_t)qrt_max(1, columns * plan->segments * plan->depth)); /* of 0 bytes it may be NULL */
    for (int64_t j = 0; filled && j < columns; j++) {
        const char *from = (const char *)args->b_constant + j * args->k;
        char *to = filled + j * plan->segments * plan->depth;
        memset(to, (int)args->b_zero_point[j * args->b_zero_point_steps[2]], (size_t)(plan->segments * plan->depth));
        for (int64_t segment = 0; segment < plan->segments; segment++)
            memcpy(to + segment * plan->depth, from + segment * depth, (size_t)depth);
    }
    return filled;
}

/* ---- a region ---- */

typedef struct {
    const qrt_gemm_call *call;
    qrt_packed packed;
    int64_t packed_column, column, columns; /* of b */
    int64_t batch, batches;
    int64_t rows, row_parts, pixel_parts, regions, column_block, column_parts;
    int64_t line_stride;
} job;

/* A region of an image, and where it is read. */
typedef struct {
    int64_t image, row, rows, pixel, pixels;
    const char *first; /* the first value under its first pixel */
} region;

/* What a packed zero point is made of: microkernels take it off, or keep it as a byte. */
static int packed_padding(const qrt_gemm_args *args) {
    _Alignas(QRT_ALIGNMENT) char packed[QRT_ALIGNMENT];
    const int32_t zero_point = (int32_t)args->a_zero_point[0];
    const char value = (char)zero_point;
    args->gemm->pack_a(args->a, &value, 1, 1, 1, &zero_point, packed, QRT_ALIGNMENT, NULL);
    return packed[0];
}

static const char *copy_region(const job *j, const region *at, char *workspace) {
    const qrt_gemm_args *args = j->call->args;
    const qrt_window *w = args->window;
    const int64_t pixel_bytes = w->channels * args->gemm->a_size;
    const int64_t top = at->row * w->strides[0] - w->padding[0], left = at->pixel * w->strides[1] - w->padding[1];
    const int64_t columns = columns_under(w, at->pixels);
    const int64_t before = qrt_min(qrt_max(0, -left), columns);
    const int64_t inside = qrt_max(0, qrt_min(columns, w->width - left) - before);
    const int32_t zero_point = (int32_t)args->a_zero_point[0];
    const int padding = packed_padding(args);
    /* Packed rows begin aligned: the padding stands before that. */
    const int64_t shift = qrt_round_up(before * pixel_bytes, QRT_ALIGNMENT) - before * pixel_bytes;
    char *to = workspace + shift;
    for (int64_t i = 0; i < lines_under(w, at->rows); i++, to += j->line_stride) {
        const int64_t y = top + i;
        if (y < 0 || y >= w->height) {
            memset(to, padding, (size_t)(columns * pixel_bytes));
            continue;
        }
        const char *from = j->call->a + ((at->image * w->height + y) * w->width + left + before) * w->channels;
        args->gemm->pack_a(args->a, from, 0, 1, inside * w->channels, &zero_point, to + before * pixel_bytes, 0, NULL);
        memset(to, padding, (size_t)(before * pixel_bytes));
        memset(to + (before + inside) * pixel_bytes, padding, (size_t)((columns - before - inside) * pixel_bytes));
    }
    return workspace + shift;
}

static const char *region_in_place(const job *j, const region *at) {
    const qrt_window *w = j->call->args->window;
    const int64_t line = at->image * w->height + at->row * w->strides[0];
    return j->call->a + (line * w->width + at->pixel * w->strides[1]) * w->channels;
}

static void place_segments(const job *j, int64_t *segments) {
    const qrt_gemm_args *args = j->call->args;
    const qrt_window *w = args->window;
    const int64_t columns = args->conv.segments / w->kernel[0];
    for (int64_t i = 0; i < args->conv.segments; i++)
        segments[i] = i / columns * w->dilations[0] * j->line_stride +
                      i % columns * w->dilations[1] * w->channels * args->gemm->a_size;
}

/* Panels outside: each stays in L1, or L2, while the rows of the region pass by. */
static void run_region(const job *j, const region *at, int64_t batch, int64_t column, int64_t columns,
                       const int64_t *segments) {
    const qrt_gemm_args *args = j->call->args;
    const qrt_window *w = args->window;
    const int size = args->gemm->a_size;
    qrt_gemm_block block = {.batch = batch,
                            .row = (at->image * w->out_height + at->row) * w->out_width + at->pixel,
                            .rows = at->pixels,
                            .column = column,
                            .columns = columns,
                            .packed = j->packed,
                            .packed_column = j->packed_column};
    if (args->b_constant) {
        const int64_t matrix = qrt_b_matrix(args, batch);
        block.packed.panels = (char *)args->packed.panels + matrix * args->shape.matrix_bytes;
        block.packed.terms = args->packed.terms + matrix * args->shape.matrix_terms;
    }
    const qrt_gemm_rows a = {.rows = at->first + batch * (w->channels / w->groups) * size,
                             .stride = w->strides[1] * w->channels * size,
                             .segments = segments,
                             .lines = at->rows,
                             .a_line = w->strides[0] * j->line_stride,
                             .target_line = w->out_width * args->out_row_stride};
    qrt_gemm_run_rows(j->call, &block, &a);
}

/* ---- sharing ---- */

/* Parts of nearly equal size: with few of them, a short one at the end would leave its thread idle. */
static int64_t row_start(const job *j, int64_t row_part) {
    return row_part * j->call->args->window->out_height / j->row_parts;
}

/* Room to align the first line, for what the last one has beyond the stride, and for a step read past its end. */
static int64_t copy_bytes_of(const job *j) {
    const qrt_gemm_args *args = j->call->args;
    const int64_t columns = columns_under(args->window, args->conv.pixels);
    const int64_t beyond = columns * args->window->channels * args->gemm->a_size - j->line_stride;
    return lines_under(args->window, j->rows) * j->line_stride + qrt_max(0, beyond) + 2 * QRT_ALIGNMENT;
}

static qrt_status region_task(void *context, int64_t task) {
    const job *j = context;
    const qrt_gemm_args *args = j->call->args;
    const qrt_window *w = args->window;
    const int64_t segment_bytes = qrt_round_up(args->conv.segments * (int64_t)sizeof(int64_t), QRT_ALIGNMENT);
    const int64_t copy_bytes = args->conv.in_place ? 0 : copy_bytes_of(j);
    char *workspace = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(segment_bytes + copy_bytes));
    if (!workspace)
        return QRT_NO_MEMORY;
    const int64_t part = task % j->regions, column = j->column + task / j->regions * j->column_block;
    const int64_t row_part = part / j->pixel_parts % j->row_parts;
    region at = {.image = part / (j->row_parts * j->pixel_parts),
                 .row = row_start(j, row_part),
                 .pixel = part % j->pixel_parts * args->conv.pixels};
    at.rows = row_start(j, row_part + 1) - at.row;
    at.pixels = qrt_min(args->conv.pixels, w->out_width - at.pixel);
    const qrt_float_state saved = qrt_float_enter();
    place_segments(j, (int64_t *)workspace);
    at.first = args->conv.in_place ? region_in_place(j, &at) : copy_region(j, &at, workspace + segment_bytes);
    for (int64_t batch = j->batch; batch < j->batch + j->batches; batch++)
        run_region(j, &at, batch, column, qrt_min(j->column_block, j->column + j->columns - column),
                   (const int64_t *)workspace);
    qrt_float_leave(saved);
    return QRT_OK;
}

/* Two tasks per thread at least, so that one that falls behind is helped: columns of b first where b is larger than a,
 * so that each thread keeps its own part in its cache; else rows. */
static void share(job *j, const qrt_window *w, int threads) {
    const qrt_gemm_args *args = j->call->args;
    const int nr = args->gemm->nr;
    const int64_t panels = qrt_ceil_div(j->columns, nr), images = w->images * j->pixel_parts;
    const int64_t wanted = threads > 1 ? 2 * threads : 1;
    const bool by_columns =
        (double)args->n * (double)args->k > (double)w->height * (double)w->width * (double)w->channels;
    const int64_t first = by_columns ? qrt_min(panels, wanted) : 1;
    j->rows = qrt_min(j->rows, qrt_ceil_div(w->out_height, qrt_ceil_div(wanted, images * first)));
    j->row_parts = qrt_ceil_div(w->out_height, j->rows);
    j->rows = qrt_ceil_div(w->out_height, j->row_parts);
    const int64_t columns = qrt_max(first, qrt_min(panels, qrt_ceil_div(wanted, j->row_parts * images)));
    j->column_block = qrt_ceil_div(panels, columns) * nr;
    j->column_parts = qrt_ceil_div(j->columns, j->column_block);
    j->regions = images * j->row_parts;
}

qrt_status qrt_conv_run(const qrt_gemm_call *call, const qrt_gemm_block *b, int64_t batches, int threads) {
    const qrt_gemm_args *args = call->args;
    const qrt_window *w = args->window;
    job j = {.call = call,
             .packed = b->packed,
             .packed_column = b->packed_column,
             .column = b->column,
             .columns = b->columns,
             .batch = b->batch,
             .batches = batches,
             .rows = args->conv.rows};
    j.line_stride = args->conv.in_place ? w->width * w->channels : line_bytes(args, args->conv.pixels);
    j.pixel_parts = qrt_ceil_div(w->out_width, args->conv.pixels);
    share(&j, w, threads);
    return qrt_parallel(j.regions * j.column_parts, region_task, &j, threads);
}
