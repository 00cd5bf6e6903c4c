/* Matrix products in float32: packs, shares columns and rows among threads. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/float_control.h"

#define LANES QRT_FLOAT_LANES
#define ROWS QRT_FLOAT_ROWS
#define COLUMNS QRT_FLOAT_COLUMNS
/* Rows of a are packed in blocks of up to so many tiles, within a share of L2: a block goes past all panels. */
#define TILES 4
#define BLOCK_BYTES (256 * 1024)
/* What a task packs of w: a block of rows reads it once, many blocks pay for packing many rows of a again. */
#define FEW_ROWS (ROWS * TILES)
#define FEW_ROWS_BYTES (512 * 1024)
#define MANY_ROWS_BYTES (4 * 1024 * 1024)
/* Rows of w, in pages of their own, that packing asks for early. */
#define ROWS_AHEAD 8
/* Multiply-adds below which a fork costs more than it saves. */
#define SERIAL_WORK (1 << 17)
#define TASKS_PER_THREAD 2
/* Up to so many rows read w as it is, unless it was packed once: packing it takes longer. */
#define AXPY_ROWS 4
/* Up to so long a K a panel stays in L1, and sums of lanes need not leave registers. */
#define SHORT_K 192
#define SHORT_BLOCK 64 /* rows continued by zeros at a time, where K is no multiple of the lanes */
#define AXPY_PANELS 32 /* 4 KiB of a row of w, and the sums of a row, which stay in L2 */

static int64_t steps_of(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(args->k, LANES);
}

/* ---- packing ---- */

/* Floats of a panel. */
static int64_t panel_floats(const qrt_float_matmul_args *args) {
    return qrt_float_lane_stride(args->k) * LANES;
}

/* Row k of w is the step k / LANES of lane k % LANES. Panels are inside: w is read along its rows. */
static void pack_floats(const qrt_float_matmul_args *args, const float *w, int64_t first, int64_t end, float *panels) {
    const int64_t floats = panel_floats(args), lane_stride = qrt_float_lane_stride(args->k);
    for (int64_t k = 0; k < steps_of(args) * LANES; k++) {
        float *to = panels + k % LANES * lane_stride + k / LANES * COLUMNS;
        for (int64_t panel = first; panel < end; panel++, to += floats) {
            const int64_t columns = k < args->k ? qrt_min(COLUMNS, args->n - panel * COLUMNS) : 0;
            const float *from = w + k * args->n + panel * COLUMNS;
            __builtin_prefetch(from + ROWS_AHEAD * args->n);
            __builtin_prefetch(from + ROWS_AHEAD * args->n + COLUMNS / 2);
            if (columns == COLUMNS) {
                memcpy(to, from, COLUMNS * sizeof *to);
            } else {
                memcpy(to, from, (size_t)columns * sizeof *to);
                memset(to + columns, 0, (size_t)(COLUMNS - columns) * sizeof *to);
            }
        }
    }
}

static int64_t panels_of(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(args->n, COLUMNS);
}

qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args) {
    args->panels = NULL;
    if (!args->w_constant || args->n == 0) /* there may be K without end */
        return QRT_OK;
    float *panels = qrt_aligned_alloc((size_t)(panels_of(args) * panel_floats(args)) * sizeof *panels);
    if (!panels)
        return QRT_NO_MEMORY;
    pack_floats(args, args->w_constant, 0, panels_of(args), panels);
    args->panels = panels;
    return QRT_OK;
}

void qrt_float_matmul_release(void *pointer) {
    qrt_float_matmul_args *args = pointer;
    qrt_aligned_free((void *)args->panels);
    args->panels = NULL;
}

/* ---- running ---- */

typedef struct {
    const qrt_float_matmul_args *args;
    const float *a;
    const float *w;
    const float *bias;
    float *out;
    int64_t panels, groups; /* of a task; tasks along n */
    int64_t rows;           /* of a task */
    int64_t tiles;          /* of a block of rows */
} job;

typedef struct {
    int64_t first, end; /* panels */
    float *w;           /* packed per call */
    float *a, *lanes;
} workspace;

/* Reads w as it is. */
static bool reads_rows(const job *j) {
    return !j->args->panels && j->args->m <= AXPY_ROWS;
}

static bool is_short(const job *j) {
    return !reads_rows(j) && j->args->k <= SHORT_K;
}

/* Floats of a block of `tiles` tiles of a from lane to lane. */
static int64_t block_stride(const job *j, int64_t tiles) {
    return tiles * steps_of(j->args) * ROWS + QRT_FLOAT_PAD;
}

/* Floats of a task's columns from lane to lane. */
static int64_t axpy_stride(const job *j) {
    return j->panels * COLUMNS + QRT_FLOAT_PAD;
}

/* Divides `base` up; the bytes it takes. */
static size_t lay_out(const job *j, char *base, workspace *to) {
    const qrt_float_matmul_args *args = j->args;
    const bool rows = reads_rows(j), is_tiled = !rows && !is_short(j);
    const int64_t lanes = rows ? args->m * axpy_stride(j) : j->tiles * ROWS * COLUMNS + QRT_FLOAT_PAD;
    const int64_t a = is_tiled ? block_stride(j, j->tiles) : SHORT_BLOCK * steps_of(args);
    const int64_t counts[] = {rows || args->panels ? 0 : j->panels * panel_floats(args), rows ? 0 : a * LANES,
                              is_short(j) ? 0 : lanes * LANES};
    char *part[3];
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        part[i] = base + used;
        used += (size_t)qrt_round_up(counts[i] * (int64_t)sizeof(float), QRT_ALIGNMENT);
    }
    to->w = (float *)part[0];
    to->a = (float *)part[1];
    to->lanes = (float *)part[2];
    return used;
}

static const float *panel_at(const job *j, const workspace *work, int64_t panel) {
    if (j->args->panels)
        return j->args->panels + panel * panel_floats(j->args);
    return work->w + (panel - work->first) * panel_floats(j->args);
}

static void run_panel(const job *j, const workspace *work, int64_t row, int64_t rows, int64_t panel) {
    const qrt_float_matmul_args *args = j->args;
    const int64_t steps = steps_of(args), tiles = qrt_ceil_div(rows, ROWS), column = panel * COLUMNS;
    const int64_t a_stride = block_stride(j, tiles), b_stride = qrt_float_lane_stride(args->k);
    const int64_t sums_stride = tiles * ROWS * COLUMNS + QRT_FLOAT_PAD;
    const float *b = panel_at(j, work, panel);
    for (int64_t lane = 0; lane < LANES; lane++)
        for (int64_t tile = 0; tile < tiles; tile++)
            args->kernels->float_tile(work->a + lane * a_stride + tile * steps * ROWS, b + lane * b_stride, steps,
                                      (int)qrt_min(ROWS, rows - tile * ROWS),
                                      work->lanes + lane * sums_stride + tile * ROWS * COLUMNS);
    args->kernels->float_tree(work->lanes, sums_stride, rows, (int)qrt_min(COLUMNS, args->n - column),
                              j->bias ? j->bias + column : NULL, j->out + row * args->n + column, args->n);
}

/* Blocks of rows, as [lane][tile][step][row], by all panels of the task. */
static void run_tiles(const job *j, const workspace *work, int64_t row, int64_t end) {
    const qrt_float_matmul_args *args = j->args;
    for (; row < end; row += j->tiles * ROWS) {
        const int64_t rows = qrt_min(j->tiles * ROWS, end - row), stride = block_stride(j, qrt_ceil_div(rows, ROWS));
        for (int64_t i = 0; i < rows; i += ROWS)
            args->kernels->float_rows(j->a + (row + i) * args->k, args->k, (int)qrt_min(ROWS, rows - i), args->k,
                                      work->a + i * steps_of(args), stride);
        for (int64_t panel = work->first; panel < work->end; panel++)
            run_panel(j, work, row, rows, panel);
    }
}

/* `rows` rows of K values, continued by zeros. */
static void fill_rows(const qrt_float_matmul_args *args, const float *a, int64_t rows, float *to) {
    const int64_t padded = steps_of(args) * LANES;
    for (int64_t i = 0; i < rows; i++, to += padded) {
        memcpy(to, a + i * args->k, (size_t)args->k * sizeof *to);
        memset(to + args->k, 0, (size_t)(padded - args->k) * sizeof *to);
    }
}

static void run_short(const job *j, const workspace *work, int64_t row, int64_t end) {
    const qrt_float_matmul_args *args = j->args;
    const bool whole = args->k % LANES == 0;
    qrt_float_panel p = {.a_stride = steps_of(args) * LANES,
                         .steps = steps_of(args),
                         .b_stride = qrt_float_lane_stride(args->k),
                         .out_stride = args->n};
    for (; row < end; row += p.rows) {
        p.rows = whole ? end - row : qrt_min(SHORT_BLOCK, end - row);
        p.a = j->a + row * args->k;
        if (!whole) {
            fill_rows(args, p.a, p.rows, work->a);
            p.a = work->a;
        }
        for (int64_t panel = work->first, column = panel * COLUMNS; panel < work->end; panel++, column += COLUMNS) {
            p.b = panel_at(j, work, panel);
            p.columns = (int)qrt_min(COLUMNS, args->n - column);
            p.bias = j->bias ? j->bias + column : NULL;
            p.out = j->out + row * args->n + column;
            args->kernels->float_short(&p);
        }
    }
}

/* A few rows by w as it is: sums of all lanes, [row][lane][column], stay in L2 while w passes by. */
static void run_axpy(const job *j, const workspace *work) {
    static const float zeros[AXPY_PANELS * COLUMNS];
    const qrt_float_matmul_args *args = j->args;
    const int64_t stride = axpy_stride(j), first = work->first * COLUMNS;
    const int64_t columns = qrt_min(work->end * COLUMNS, args->n) - first;
    memset(work->lanes, 0, (size_t)(args->m * LANES * stride) * sizeof(float));
    for (int64_t k = 0; k < steps_of(args) * LANES; k++) {
        const bool inside = k < args->k; /* zeros times zero may turn -0 into +0 */
        const float *from = inside ? j->w + k * args->n + first : zeros;
        for (int64_t row = 0; row < args->m; row++)
            args->kernels->float_axpy(inside ? j->a[row * args->k + k] : 0, from, columns,
                                      work->lanes + (row * LANES + k % LANES) * stride);
    }
    for (int64_t row = 0; row < args->m; row++)
        for (int64_t c = 0; c < columns; c += COLUMNS)
            args->kernels->float_tree(work->lanes + row * LANES * stride + c, stride, 1,
                                      (int)qrt_min(COLUMNS, columns - c), j->bias ? j->bias + first + c : NULL,
                                      j->out + row * args->n + first + c, args->n);
}

static qrt_status task(void *context, int64_t number) {
    const job *j = context;
    const int64_t first = number % j->groups * j->panels, row = number / j->groups * j->rows;
    workspace work = {.first = first, .end = qrt_min(first + j->panels, panels_of(j->args))};
    static char base[1];
    char *memory = qrt_workspace(QRT_WORKSPACE_TASK, lay_out(j, base, &work));
    if (!memory)
        return QRT_NO_MEMORY;
    lay_out(j, memory, &work);
    const qrt_float_state saved = qrt_float_enter();
    const int64_t end = qrt_min(row + j->rows, j->args->m);
    if (reads_rows(j)) {
        run_axpy(j, &work);
    } else {
        if (!j->args->panels)
            pack_floats(j->args, j->w, work.first, work.end, work.w);
        (is_short(j) ? run_short : run_tiles)(j, &work, row, end);
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

/* Sizes of tasks. Where columns alone give too few, rows are shared as well. */
static int64_t share(job *j, int threads) {
    const qrt_float_matmul_args *args = j->args;
    const int64_t tile_bytes = ROWS * LANES * (int64_t)sizeof(float) * steps_of(args), panels = panels_of(args);
    j->tiles = qrt_max(1, qrt_min(TILES, BLOCK_BYTES / qrt_max(tile_bytes, 1)));
    const int64_t wanted = threads > 1 ? TASKS_PER_THREAD * threads : 1;
    const int64_t bytes = args->m <= FEW_ROWS ? FEW_ROWS_BYTES : MANY_ROWS_BYTES;
    j->panels = args->panels ? panels : qrt_max(1, bytes / qrt_max(panel_floats(args) * (int64_t)sizeof(float), 1));
    if (reads_rows(j))
        j->panels = AXPY_PANELS;
    j->panels = qrt_min(j->panels, qrt_ceil_div(panels, wanted));
    j->groups = qrt_ceil_div(panels, j->panels);
    const int64_t blocks = qrt_ceil_div(args->m, j->tiles * ROWS);
    const int64_t parts = qrt_min(blocks, qrt_ceil_div(wanted, j->groups));
    j->rows = qrt_ceil_div(blocks, parts) * j->tiles * ROWS;
    return j->groups * qrt_ceil_div(args->m, j->rows);
}

qrt_status qrt_float_matmul(const void *pointer, qrt_scratch *scratch) {
    const qrt_float_matmul_args *args = pointer;
    if (args->m == 0 || args->n == 0)
        return QRT_OK;
    void *const *operand = scratch->operands;
    job j = {.args = args, .a = *operand++};
    j.w = args->panels ? NULL : *operand++;
    if (args->bias)
        j.bias = args->bias_constant ? args->bias_constant : *operand++;
    j.out = *operand;
    const bool small = (double)args->m * (double)args->n * (double)args->k < SERIAL_WORK;
    const int threads = small ? 1 : scratch->threads;
    const int64_t tasks = share(&j, threads);
    return qrt_parallel(tasks, task, &j, threads);
}
