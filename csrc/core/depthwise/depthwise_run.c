/* Depthwise convolution by a microkernel: blocks of channels, one or two output rows at a time, and runs of pixels
 * whose interleaved input stays in L1. Nothing is copied: addresses of padding stand in for input rows and columns
 * outside. */
#include "core/depthwise/depthwise.h"
#include "core/float_control.h"

#define INTERLEAVED_BYTES (12 * 1024) /* bytes of interleaved columns that stay in L1 */
#define PADDING_BYTES (256 * 1024)    /* bytes of the row of padding under a run */
#define MOST_BANDS 16                 /* bands of one call of the microkernel */
#define GRAIN (1 << 19)               /* multiply-adds of a task */

/* How the pixels of an output row are cut where a vector holds so many segments. */
typedef struct {
    int64_t segments, pixels, runs; /* pixels of a segment, runs of a row */
} cut;

typedef struct {
    const qrt_depthwise_call *call;
    const qrt_depthwise_problem *problem;
    const qrt_depthwise_packing *packing;
    bool by_tap;                  /* a column is a pair (pixel, tap): the windows overlap too little to share columns */
    int64_t pixel_step, tap_step; /* in columns */
    int64_t bands;                /* bands of an image, each of packing->rows output rows */
    int64_t full_blocks, full_units; /* blocks with one segment, and the units of work in them */
    cut full, last; /* how rows are cut in those blocks, and in the last block, which may have more segments */
    int64_t units, per_task;
} blockwise;

/* One run of pixels of one band of one block. The innermost index is the band, so that a task keeps a block's
 * weights. */
typedef struct {
    int64_t block, image, run, band;
} unit;

static int64_t columns_of(const blockwise *by, int64_t pixels) {
    return (pixels - 1) * by->pixel_step + (by->problem->window.kernel[1] - 1) * by->tap_step + 1;
}

/* The number of input columns inside the image under a run with all its segments. */
static int64_t reach_of(const blockwise *by, int64_t pixels) {
    const qrt_window *w = &by->problem->window;
    return qrt_min(w->width, (pixels - 1) * w->strides[1] + (w->kernel[1] - 1) * w->dilations[1] + 1);
}

static cut cut_row(const blockwise *by, int64_t segments) {
    const qrt_window *window = &by->problem->window;
    const qrt_depthwise_microkernel *microkernel = by->packing->microkernel;
    const int64_t column_bytes = by->packing->groups * microkernel->group_bytes;
    /* A run must be long against the columns that it shares with the next run: both interleave them. */
    const int64_t room = qrt_max(INTERLEAVED_BYTES / column_bytes, 2 * columns_of(by, 1));
    const int64_t fitting = PADDING_BYTES / (window->channels * window->strides[1] * segments);
    const int64_t most =
        qrt_max(microkernel->pixels, qrt_min(fitting, (room - columns_of(by, 1)) / by->pixel_step + 1));
    cut to = {.segments = segments, .runs = qrt_ceil_div(window->out_width, most * segments)};
    to.pixels = qrt_ceil_div(window->out_width, to.runs * segments);
    return to;
}

typedef enum { BAND, BLOCK, COLUMNS } progress;

/* Goes to the next unit without the divisions of unit_at, and returns what is new in it. */
static progress advance(const blockwise *by, unit *u) {
    if (++u->band < by->bands)
        return BAND;
    u->band = 0;
    const bool full = u->block < by->full_blocks;
    const int64_t runs = full ? by->full.runs : by->last.runs;
    if (++u->run < runs)
        return COLUMNS;
    u->run = 0;
    if (++u->image == by->problem->window.images) {
        u->image = 0;
        u->block++;
    }
    return runs > 1 || full != (u->block < by->full_blocks) ? COLUMNS : BLOCK;
}

static unit unit_at(const blockwise *by, int64_t index) {
    const int64_t images = by->problem->window.images;
    const bool last = index >= by->full_units;
    const int64_t runs = last ? by->last.runs : by->full.runs;
    unit u;
    index -= last ? by->full_units : 0;
    u.band = index % by->bands, index /= by->bands;
    u.run = index % runs, index /= runs;
    u.image = index % images;
    u.block = index / images + (last ? by->full_blocks : 0);
    return u;
}

static const cut *cut_of(const blockwise *by, const unit *at) {
    return at->block < by->full_blocks ? &by->full : &by->last;
}

static int64_t first_pixel(const blockwise *by, const unit *at) {
    return at->run * cut_of(by, at)->pixels * cut_of(by, at)->segments;
}

typedef struct {
    char *padding, *row_of_padding, *interleaved;
    int64_t *offsets; /* where the columns of a run are, counted from input column `column` */
    int64_t column;
    int64_t start; /* where that column is in an input row, at the channel that the block's first channel reads */
    bool padded;   /* the row of padding holds zero points for these columns */
    const char **inputs;
} workspace;

/* ---- where a run's columns and input rows are ---- */

static void place_columns(const blockwise *by, const unit *at, const qrt_depthwise_run *run, workspace *work) {
    const qrt_window *w = &by->problem->window;
    const int64_t left = first_pixel(by, at) * w->strides[1] - w->padding[1];
    int64_t *offset = work->offsets;
    work->column = qrt_min(qrt_max(left, 0), w->width);
    work->padded = false;
    for (int segment = 0; segment < run->block->segments; segment++) {
        const int64_t first = left + segment * run->segment_elements / by->problem->out_channels * w->strides[1];
        for (int64_t c = 0; c < run->columns; c++, offset++) {
            const int64_t x =
                by->by_tap ? first + c / w->kernel[1] * w->strides[1] + c % w->kernel[1] * w->dilations[1] : first + c;
            *offset = x >= 0 && x < w->width ? (x - work->column) * w->channels : -1;
        }
    }
}

/* Writes zero points only where a column reads them, because the row may be long. */
static void fill_row_of_padding(workspace *work, int64_t columns) {
    for (int64_t c = 0; c < columns; c++)
        if (work->offsets[c] >= 0)
            memset(work->row_of_padding + work->offsets[c] - QRT_DEPTHWISE_PADDING, *work->padding,
                   3 * QRT_DEPTHWISE_PADDING);
    work->padded = true;
}

static void place_inputs(const blockwise *by, const unit *at, const qrt_depthwise_run *run, workspace *work) {
    const qrt_window *w = &by->problem->window;
    const qrt_depthwise_block *block = run->block;
    const int64_t used = (block->rows - 1) * w->strides[0] + w->kernel[0];
    const int64_t row = w->width * w->channels, slots = block->groups * by->packing->microkernel->group;
    const char *image = by->call->x + at->image * w->height * row + work->start, **to = work->inputs;
    for (int64_t band = at->band; band < at->band + run->bands; band++) {
        int64_t y = band * block->rows * w->strides[0] - w->padding[0];
        for (int64_t slot = 0; slot < slots; slot++) {
            const bool inside = y >= 0 && y < w->height;
            if (!inside && !work->padded)
                fill_row_of_padding(work, run->columns * block->segments);
            *to++ = inside ? image + y * row : work->row_of_padding;
            /* Past the rows of the window the weights are 0: any row will do, so the last one is given again. */
            y += slot + 1 < used ? w->dilations[0] : 0;
        }
    }
}

/* ---- tasks ---- */

/* Divides the workspace of a task. Returns false without memory. */
static bool lay_out(const blockwise *by, workspace *to) {
    const qrt_depthwise_packing *packing = by->packing;
    const int64_t pixels = qrt_round_up(qrt_max(by->full.pixels, by->last.pixels), packing->microkernel->pixels);
    const int64_t columns = columns_of(by, pixels), slots = packing->groups * packing->microkernel->group;
    const int64_t reach = qrt_max(reach_of(by, by->full.pixels), reach_of(by, by->last.pixels * by->last.segments));
    const int64_t row = qrt_round_up(reach * by->problem->window.channels, 64) + 3 * QRT_DEPTHWISE_PADDING;
    const int64_t interleaved = columns * packing->groups * packing->microkernel->group_bytes;
    const int64_t offsets = columns * 2 * (int64_t)sizeof(int64_t),
                  inputs = MOST_BANDS * slots * (int64_t)sizeof(char *);
    char *memory =
        qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(2 * QRT_DEPTHWISE_PADDING + row + interleaved + offsets + inputs));
    if (!memory)
        return false;
    to->padding = memset(memory, (int)by->problem->x_zero_point[0], 2 * QRT_DEPTHWISE_PADDING);
    to->row_of_padding = memory + 3 * QRT_DEPTHWISE_PADDING;
    to->interleaved = memory + 2 * QRT_DEPTHWISE_PADDING + row;
    to->offsets = (int64_t *)(to->interleaved + interleaved);
    to->inputs = (const char **)((char *)to->offsets + offsets);
    return true;
}

/* Sets what the bands of a run share. */
static void begin_run(const blockwise *by, const unit *at, bool moved, workspace *work, qrt_depthwise_block *block,
                      qrt_depthwise_run *run) {
    const qrt_depthwise_problem *problem = by->problem;
    *block = qrt_depthwise_block_at(problem, by->packing, at->block);
    const int64_t all =
        qrt_min(cut_of(by, at)->pixels * block->segments, problem->window.out_width - first_pixel(by, at));
    const int64_t pixels = qrt_ceil_div(all, block->segments);
    *run = (qrt_depthwise_run){
        .block = block,
        .inputs = work->inputs,
        .offsets = work->offsets,
        .columns = columns_of(by, pixels),
        .pixel_step = by->pixel_step,
        .tap_step = by->tap_step,
        .pixels = pixels,
        .row_elements = problem->window.out_width * problem->out_channels,
        .segment_elements = (all - pixels) * problem->out_channels,
        .padding = work->padding + QRT_DEPTHWISE_PADDING,
        .interleaved = work->interleaved,
    };
    if (moved)
        place_columns(by, at, run, work);
    work->start = work->column * problem->window.channels + block->first / problem->multiplier;
}

static void run_bands(const blockwise *by, const unit *at, workspace *work, qrt_depthwise_run *run) {
    const qrt_window *w = &by->problem->window;
    const qrt_depthwise_block *block = run->block;
    const int64_t y = at->band * block->rows, last = y + (run->bands - 1) * block->rows;
    const int64_t pixel = (at->image * w->out_height + y) * w->out_width + first_pixel(by, at);
    const int64_t element = pixel * by->problem->out_channels + block->first;
    place_inputs(by, at, run, work);
    run->last_rows = (int)qrt_min(block->rows, w->out_height - last);
    run->target = by->call->out + element * qrt_container_size(by->problem->requant.container);
    by->packing->microkernel->run(by->call->args, run);
}

static qrt_status run_task(void *context, int64_t task) {
    const blockwise *by = context;
    workspace work = {.column = 0};
    if (!lay_out(by, &work))
        return QRT_NO_MEMORY;
    const int64_t first = task * by->per_task, end = qrt_min(first + by->per_task, by->units);
    const qrt_float_state saved = qrt_float_enter();
    unit at = unit_at(by, first);
    progress new = COLUMNS;
    qrt_depthwise_block block;
    qrt_depthwise_run run;
    for (int64_t index = first; index < end; index += run.bands, new = advance(by, &at)) {
        if (new != BAND)
            begin_run(by, &at, new == COLUMNS, &work, &block, &run);
        run.bands = qrt_min(MOST_BANDS, qrt_min(end - index, by->bands - at.band));
        run_bands(by, &at, &work, &run);
        at.band += run.bands - 1;
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_depthwise_run_blocks(const qrt_depthwise_call *call) {
    const qrt_depthwise_problem *problem = &call->args->problem;
    const qrt_depthwise_packing *packing = &call->packing;
    const qrt_window *w = &problem->window;
    blockwise by = {call, problem, packing, .pixel_step = w->strides[1], .tap_step = w->dilations[1]};
    const int64_t pixels = packing->microkernel->pixels, images = w->images;
    if (images * w->out_height * w->out_width * problem->out_channels == 0)
        return QRT_OK;
    if (columns_of(&by, pixels) > pixels * w->kernel[1]) {
        by.by_tap = true;
        by.pixel_step = w->kernel[1];
        by.tap_step = 1;
    }
    by.bands = qrt_ceil_div(w->out_height, packing->rows);
    by.full = cut_row(&by, 1);
    by.last = cut_row(&by, qrt_depthwise_block_at(problem, packing, packing->blocks - 1).segments);
    by.full_blocks = packing->blocks - (by.last.segments > 1);
    by.full_units = by.full_blocks * images * by.full.runs * by.bands;
    by.units = by.full_units + (packing->blocks - by.full_blocks) * images * by.last.runs * by.bands;
    const int64_t block_sums = by.full.pixels * packing->rows * packing->microkernel->channels;
    by.per_task = qrt_max(1, GRAIN / (block_sums * w->kernel[0] * w->kernel[1]));
    return qrt_parallel(qrt_ceil_div(by.units, by.per_task), run_task, &by, call->threads);
}
