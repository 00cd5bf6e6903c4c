/* Depthwise convolution by a kernel: blocks of channels, rows or pairs of rows, runs of pixels whose interleaved input
 * stays in L1. Padding is told apart by the addresses of lines and columns; nothing is copied. */
#include <string.h>

#include "core/depthwise/depthwise.h"
#include "core/float_control.h"

#define INTERLEAVED_BYTES (12 * 1024) /* of columns in L1 */
#define PADDING_BYTES (256 * 1024)    /* of a row of padding under a run */
#define MOST_BANDS 16                 /* at a time */
#define GRAIN (1 << 19)               /* multiply-adds of a task */

/* How the pixels of an output row are cut where a vector holds so many segments. */
typedef struct {
    int64_t pixels, runs; /* per segment, per row */
} cut;

typedef struct {
    const qrt_depthwise_call *call;
    const qrt_depthwise_plan *plan;
    bool by_tap;                     /* columns are (pixel, tap): windows do not overlap enough to share them */
    int64_t pixel_step, tap_step;    /* columns */
    int64_t bands;                   /* of plan->rows output rows */
    int64_t full_blocks, full_units; /* blocks with one segment, and units of work in them */
    int last_segments;
    cut full, last; /* of those blocks, and of the last one where it has more segments */
    int64_t units, per_task;
} job;

/* One run of pixels of one band of one block. Bands are innermost, so that tasks keep a block's weights. */
typedef struct {
    int64_t block, image, run, band;
} unit;

static int64_t columns_of(const job *j, int64_t pixels) {
    return (pixels - 1) * j->pixel_step + (j->call->args->window.kernel[1] - 1) * j->tap_step + 1;
}

/* Input columns inside the image, from the first to the last of a run of all segments. */
static int64_t reach_of(const job *j, int64_t pixels) {
    const qrt_window *w = &j->call->args->window;
    return qrt_min(w->width, (pixels - 1) * w->strides[1] + (w->kernel[1] - 1) * w->dilations[1] + 1);
}

static cut cut_row(const job *j, int segments) {
    const qrt_window *window = &j->call->args->window;
    const qrt_depthwise_kernel *kernel = j->plan->kernel;
    const int64_t column_bytes = j->plan->groups * kernel->group_bytes;
    /* A run has to be long against the columns that the next one interleaves again. */
    const int64_t room = qrt_max(INTERLEAVED_BYTES / column_bytes, 2 * columns_of(j, 1));
    const int64_t fitting = PADDING_BYTES / (window->channels * window->strides[1] * segments);
    const int64_t most = qrt_max(kernel->pixels, qrt_min(fitting, (room - columns_of(j, 1)) / j->pixel_step + 1));
    cut to = {.runs = qrt_ceil_div(window->out_width, most * segments)};
    to.pixels = qrt_ceil_div(window->out_width, to.runs * segments);
    return to;
}

typedef enum { BAND, BLOCK, COLUMNS } progress;

/* The next unit, without the divisions of unit_at, and what is new in it. */
static progress advance(const job *j, unit *u) {
    if (++u->band < j->bands)
        return BAND;
    u->band = 0;
    const bool full = u->block < j->full_blocks;
    const int64_t runs = full ? j->full.runs : j->last.runs;
    if (++u->run < runs)
        return COLUMNS;
    u->run = 0;
    if (++u->image == j->call->args->window.images) {
        u->image = 0;
        u->block++;
    }
    return runs > 1 || full != (u->block < j->full_blocks) ? COLUMNS : BLOCK;
}

static unit unit_at(const job *j, int64_t index) {
    const int64_t images = j->call->args->window.images;
    const bool last = index >= j->full_units;
    const int64_t runs = last ? j->last.runs : j->full.runs;
    unit u;
    index -= last ? j->full_units : 0;
    u.band = index % j->bands, index /= j->bands;
    u.run = index % runs, index /= runs;
    u.image = index % images;
    u.block = index / images + (last ? j->full_blocks : 0);
    return u;
}

static const cut *cut_of(const job *j, const unit *at) {
    return at->block < j->full_blocks ? &j->full : &j->last;
}

static int64_t first_pixel(const job *j, const unit *at) {
    const cut *cut = cut_of(j, at);
    return at->run * cut->pixels * (cut == &j->full ? 1 : j->last_segments);
}

typedef struct {
    char *padding, *row_of_padding, *interleaved;
    int64_t *offsets; /* of the columns of a run, from `column` of the input on */
    int64_t column;
    int64_t start; /* of that column in a line, at the channel that the block's first reads */
    bool padded;   /* the row of padding serves these columns */
    const char **lines;
} workspace;

/* ---- where a run's columns and lines are ---- */

static void place_columns(const job *j, const unit *at, const qrt_depthwise_run *run, workspace *work) {
    const qrt_window *w = &j->call->args->window;
    const int64_t left = first_pixel(j, at) * w->strides[1] - w->padding[1];
    int64_t *offset = work->offsets;
    work->column = qrt_min(qrt_max(left, 0), w->width);
    work->padded = false;
    for (int segment = 0; segment < run->block->segments; segment++) {
        const int64_t first = left + segment * run->segment_elements / j->call->args->out_channels * w->strides[1];
        for (int64_t c = 0; c < run->columns; c++, offset++) {
            const int64_t x =
                j->by_tap ? first + c / w->kernel[1] * w->strides[1] + c % w->kernel[1] * w->dilations[1] : first + c;
            *offset = x >= 0 && x < w->width ? (x - work->column) * w->channels : -1;
        }
    }
}

/* Zero points where a column reads them, and nowhere else: the row may be long. */
static void fill_row_of_padding(workspace *work, int64_t columns) {
    for (int64_t c = 0; c < columns; c++)
        if (work->offsets[c] >= 0)
            memset(work->row_of_padding + work->offsets[c] - QRT_DEPTHWISE_PADDING, *work->padding,
                   3 * QRT_DEPTHWISE_PADDING);
    work->padded = true;
}

static void place_lines(const job *j, const unit *at, const qrt_depthwise_run *run, workspace *work) {
    const qrt_window *w = &j->call->args->window;
    const qrt_depthwise_block *block = run->block;
    const int64_t used = (block->rows - 1) * w->strides[0] + w->kernel[0];
    const int64_t line = w->width * w->channels, slots = block->groups * j->plan->kernel->group;
    const char *image = j->call->x + at->image * w->height * line + work->start, **to = work->lines;
    for (int64_t band = at->band; band < at->band + run->bands; band++) {
        int64_t y = band * block->rows * w->strides[0] - w->padding[0];
        for (int64_t slot = 0; slot < slots; slot++) {
            const bool inside = y >= 0 && y < w->height;
            if (!inside && !work->padded)
                fill_row_of_padding(work, run->columns * block->segments);
            *to++ = inside ? image + y * line : work->row_of_padding;
            /* What the weights of no row reach may be anything. */
            y += slot + 1 < used ? w->dilations[0] : 0;
        }
    }
}

/* ---- tasks ---- */

static int64_t lay_out(const job *j, char *base, workspace *to) {
    const int64_t slots = j->plan->groups * j->plan->kernel->group;
    const int64_t pixels = qrt_max(j->full.pixels, j->last.pixels);
    const int64_t columns = columns_of(j, qrt_round_up(pixels, j->plan->kernel->pixels));
    int64_t used = 0;
    to->padding = base;
    used += 2 * QRT_DEPTHWISE_PADDING;
    to->row_of_padding = base + used + QRT_DEPTHWISE_PADDING;
    const int64_t reach = qrt_max(reach_of(j, j->full.pixels), reach_of(j, j->last.pixels * j->last_segments));
    used += qrt_round_up(reach * j->call->args->window.channels, 64) + 3 * QRT_DEPTHWISE_PADDING;
    to->interleaved = base + used;
    used += columns * j->plan->groups * j->plan->kernel->group_bytes;
    to->offsets = (int64_t *)(base + used);
    used += columns * 2 * (int64_t)sizeof(int64_t);
    to->lines = (const char **)(base + used);
    return used + MOST_BANDS * slots * (int64_t)sizeof(char *);
}

/* What the bands of a run share. */
static void begin_run(const job *j, const unit *at, bool moved, workspace *work, qrt_depthwise_block *block,
                      qrt_depthwise_run *run) {
    const qrt_depthwise_args *args = j->call->args;
    *block = qrt_depthwise_block_at(args, j->plan, at->block);
    const int64_t all = qrt_min(cut_of(j, at)->pixels * block->segments, args->window.out_width - first_pixel(j, at));
    const int64_t pixels = qrt_ceil_div(all, block->segments);
    *run = (qrt_depthwise_run){
        .block = block,
        .lines = work->lines,
        .offsets = work->offsets,
        .columns = columns_of(j, pixels),
        .pixel_step = j->pixel_step,
        .tap_step = j->tap_step,
        .pixels = pixels,
        .row_elements = args->window.out_width * args->out_channels,
        .segment_elements = (all - pixels) * args->out_channels,
        .padding = work->padding + QRT_DEPTHWISE_PADDING,
        .interleaved = work->interleaved,
    };
    if (moved)
        place_columns(j, at, run, work);
    work->start = work->column * args->window.channels + block->first / args->multiplier;
}

static void run_bands(const job *j, const unit *at, workspace *work, qrt_depthwise_run *run) {
    const qrt_depthwise_args *args = j->call->args;
    const qrt_window *w = &args->window;
    const qrt_depthwise_block *block = run->block;
    const int64_t y = at->band * block->rows, last = y + (run->bands - 1) * block->rows;
    const int64_t pixel = (at->image * w->out_height + y) * w->out_width + first_pixel(j, at);
    const int64_t element = pixel * args->out_channels + block->first;
    place_lines(j, at, run, work);
    run->last_rows = (int)qrt_min(block->rows, w->out_height - last);
    run->target = j->call->out + element * qrt_container_size(args->requant.container);
    j->plan->kernel->run(args, run);
}

static qrt_status run_task(void *context, int64_t task) {
    const job *j = context;
    static char base[1];
    workspace work;
    char *memory = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)lay_out(j, base, &work));
    if (!memory)
        return QRT_NO_MEMORY;
    lay_out(j, memory, &work);
    memset(work.padding, (int)j->call->args->x_zero_point[0], 2 * QRT_DEPTHWISE_PADDING);
    const int64_t first = task * j->per_task, end = qrt_min(first + j->per_task, j->units);
    const qrt_float_state saved = qrt_float_enter();
    unit at = unit_at(j, first);
    progress new = COLUMNS;
    qrt_depthwise_block block;
    qrt_depthwise_run run;
    for (int64_t index = first; index < end; index += run.bands, new = advance(j, &at)) {
        if (new != BAND)
            begin_run(j, &at, new == COLUMNS, &work, &block, &run);
        run.bands = qrt_min(MOST_BANDS, qrt_min(end - index, j->bands - at.band));
        run_bands(j, &at, &work, &run);
        at.band += run.bands - 1;
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_depthwise_run_plan(const qrt_depthwise_call *call, const qrt_depthwise_plan *plan, int threads) {
    const qrt_window *w = &call->args->window;
    job j = {.call = call, .plan = plan, .pixel_step = w->strides[1], .tap_step = w->dilations[1]};
    const int64_t pixels = plan->kernel->pixels;
    if (w->images * w->out_height * w->out_width * call->args->out_channels == 0)
        return QRT_OK;
    if (columns_of(&j, pixels) > pixels * w->kernel[1]) {
        j.by_tap = true;
        j.pixel_step = w->kernel[1];
        j.tap_step = 1;
    }
    j.last_segments = qrt_depthwise_block_at(call->args, plan, plan->blocks - 1).segments;
    j.bands = qrt_ceil_div(w->out_height, plan->rows);
    j.full_blocks = plan->blocks - (j.last_segments > 1);
    j.full = cut_row(&j, 1);
    j.last = cut_row(&j, j.last_segments);
    j.full_units = j.full_blocks * w->images * j.full.runs * j.bands;
    j.units = j.full_units + (plan->blocks - j.full_blocks) * w->images * j.last.runs * j.bands;
    const int64_t work = j.full.pixels * plan->rows * plan->kernel->channels * w->kernel[0] * w->kernel[1];
    j.per_task = qrt_max(1, GRAIN / work);
    return qrt_parallel(qrt_ceil_div(j.units, j.per_task), run_task, &j, threads);
}
