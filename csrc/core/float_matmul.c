/* Matrix products in float32, of float or quantized weights: packs, shares columns and rows among threads. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "float_control.h"

#define LANES QRT_FLOAT_LANES
#define ROWS QRT_FLOAT_ROWS
#define COLUMNS QRT_FLOAT_COLUMNS
#define WORD_COLUMNS QRT_WORD_COLUMNS
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
#define AXPY_PANELS 32 /* 4 KiB of a row of w, and the sums of a row, which stay in L2 */
/* From so many rows on quantized weights are written out as floats for all of them. */
#define DEQUANTIZE_ROWS 4

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

/* Steps in a word of packed weights. */
static int word_steps(const qrt_float_matmul_args *args) {
    return args->weights == QRT_WEIGHTS_BYTES ? 4 : 8;
}

static int64_t words_of(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(steps_of(args), word_steps(args)) * LANES * WORD_COLUMNS;
}

static int64_t word_panels(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(args->n, WORD_COLUMNS);
}

/* Signed weights become unsigned: what they gain is added to their zero points. */
static void pack_words(const qrt_float_matmul_args *args, const uint8_t *w, int64_t panel, uint32_t *words) {
    const int steps = word_steps(args), width = 32 / steps;
    const uint32_t flip = args->w == QRT_I8 ? 1u << (width - 1) : 0, mask = (1u << width) - 1;
    const int64_t column = panel * WORD_COLUMNS, columns = qrt_min(WORD_COLUMNS, args->n - column);
    memset(words, 0, (size_t)words_of(args) * sizeof *words);
    const uint8_t *from = w + column;
    for (int64_t step = 0, k = 0; k < args->k; step++) {
        uint32_t *to = words + step / steps * WORD_COLUMNS * LANES;
        const int shift = (int)(step % steps) * width;
        for (int lane = 0; lane < LANES && k < args->k; lane++, k++, from += args->n)
            for (int64_t j = 0; j < columns; j++)
                to[j * LANES + lane] |= ((from[j] ^ flip) & mask) << shift;
    }
}

static int64_t blocks_of(const qrt_float_matmul_args *args) {
    return qrt_max(1, qrt_ceil_div(args->k, args->k_block));
}

/* Of a panel. */
static int64_t parameter_count(const qrt_float_matmul_args *args) {
    return blocks_of(args) * WORD_COLUMNS * (args->zero_points_differ ? 2 : 1);
}

static bool zero_points_differ(const qrt_float_matmul_args *args) {
    for (int64_t i = 1; i < blocks_of(args) * args->n; i++)
        if (args->zero_point[i] != args->zero_point[0])
            return true;
    return false;
}

/* Missing columns keep a scale of 0. */
static void pack_parameters(const qrt_float_matmul_args *args, float moved, float *parameters) {
    const int64_t of_block = WORD_COLUMNS * (args->zero_points_differ ? 2 : 1);
    for (int64_t column = 0; column < args->n; column++)
        for (int64_t block = 0; block < blocks_of(args); block++) {
            float *of_panel = parameters + column / WORD_COLUMNS * parameter_count(args);
            float *to = of_panel + block * of_block + column % WORD_COLUMNS;
            to[0] = args->scale[block * args->n + column];
            if (args->zero_points_differ)
                to[WORD_COLUMNS] = args->zero_point[block * args->n + column] + moved;
        }
}

static qrt_status prepare_parameters(qrt_float_matmul_args *args) {
    const float moved = args->w == QRT_U8 ? 0 : args->weights == QRT_WEIGHTS_BYTES ? 128 : 8;
    args->zero_points_differ = zero_points_differ(args);
    args->common_zero_point = args->n ? args->zero_point[0] + moved : 0;
    const size_t bytes = (size_t)(word_panels(args) * parameter_count(args)) * sizeof(float);
    float *parameters = qrt_aligned_alloc(bytes);
    if (!parameters)
        return QRT_NO_MEMORY;
    memset(parameters, 0, bytes);
    pack_parameters(args, moved, parameters);
    args->parameters = parameters;
    return QRT_OK;
}

static int64_t panels_of(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(args->n, COLUMNS);
}

/* Kernels read up to QRT_PARAMETER_PADDING bytes behind words. */
qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args) {
    args->panels = args->parameters = NULL;
    const bool floats = args->weights == QRT_WEIGHTS_F32;
    if (!floats && prepare_parameters(args) != QRT_OK)
        return QRT_NO_MEMORY;
    if (!args->w_constant)
        return QRT_OK;
    const int64_t count = floats ? panels_of(args) * panel_floats(args) : word_panels(args) * words_of(args);
    uint32_t *panels = qrt_aligned_alloc((size_t)count * sizeof *panels + QRT_PARAMETER_PADDING);
    if (!panels)
        return QRT_NO_MEMORY;
    memset(panels + count, 0, QRT_PARAMETER_PADDING);
    if (floats)
        pack_floats(args, args->w_constant, 0, panels_of(args), (float *)panels);
    for (int64_t panel = 0; !floats && panel < word_panels(args); panel++)
        pack_words(args, args->w_constant, panel, panels + panel * words_of(args));
    args->panels = panels;
    return QRT_OK;
}

void qrt_float_matmul_release(void *pointer) {
    qrt_float_matmul_args *args = pointer;
    qrt_aligned_free((void *)args->panels);
    qrt_aligned_free((void *)args->parameters);
    args->panels = args->parameters = NULL;
}

/* ---- running ---- */

typedef struct {
    const qrt_float_matmul_args *args;
    const float *a;
    const void *w;
    const float *bias;
    float *out;
    int64_t panels, groups; /* of a task; tasks along n */
    int64_t rows;           /* of a task */
    int64_t tiles;          /* of a block of rows */
} job;

typedef struct {
    int64_t first, end; /* panels */
    uint32_t *words;    /* packed per call */
    float *floats;      /* w as the tiles read it, packed per call or dequantized */
    float *a, *lanes;
} workspace;

static bool is_quantized(const job *j) {
    return j->args->weights != QRT_WEIGHTS_F32;
}

static bool dequantizes(const job *j) {
    return is_quantized(j) && j->args->m >= DEQUANTIZE_ROWS;
}

/* Reads w as it is. */
static bool reads_rows(const job *j) {
    return !is_quantized(j) && !j->args->panels && j->args->m <= AXPY_ROWS;
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
    const bool rows = reads_rows(j), tiles = !rows && (!is_quantized(j) || dequantizes(j)), packs = !args->panels;
    const int64_t floats = dequantizes(j) || (tiles && packs) ? j->panels * panel_floats(args) : 0;
    const int64_t words = is_quantized(j) && packs ? j->panels * (COLUMNS / WORD_COLUMNS) * words_of(args) : 0;
    const int64_t lanes = rows    ? args->m * axpy_stride(j) * LANES
                          : tiles ? (j->tiles * ROWS * COLUMNS + QRT_FLOAT_PAD) * LANES
                                  : WORD_COLUMNS;
    const int64_t counts[] = {words, floats, tiles ? block_stride(j, j->tiles) * LANES : 0, lanes};
    char *part[4];
    size_t used = 0;
    for (int i = 0; i < 4; i++) {
        part[i] = base + used;
        used += (size_t)qrt_round_up(counts[i] * (int64_t)sizeof(float), QRT_ALIGNMENT);
    }
    to->words = (uint32_t *)part[0];
    to->floats = (float *)part[1];
    to->a = (float *)part[2];
    to->lanes = (float *)part[3];
    return used;
}

/* Words of a panel of WORD_COLUMNS columns. */
static const uint32_t *words_at(const job *j, const workspace *work, int64_t panel) {
    if (j->args->panels)
        return (const uint32_t *)j->args->panels + panel * words_of(j->args);
    return work->words + (panel - work->first * (COLUMNS / WORD_COLUMNS)) * words_of(j->args);
}

static const float *parameters_at(const job *j, int64_t panel) {
    return j->args->parameters + panel * parameter_count(j->args);
}

static const float *floats_at(const job *j, const workspace *work, int64_t panel) {
    if (j->args->panels && !is_quantized(j))
        return (const float *)j->args->panels + panel * panel_floats(j->args);
    return work->floats + (panel - work->first) * panel_floats(j->args);
}

/* Few rows of quantized weights: they are read once, and dequantized on the way. */
static void run_rows(const job *j, const workspace *work, int64_t row, int64_t end) {
    const qrt_float_matmul_args *args = j->args;
    const int64_t per_panel = COLUMNS / WORD_COLUMNS, last = qrt_min(work->end * per_panel, word_panels(args));
    for (int64_t panel = work->first * per_panel; panel < last; panel++)
        for (int64_t i = row; i < end; i++) {
            const int64_t column = panel * WORD_COLUMNS, columns = qrt_min(WORD_COLUMNS, args->n - column);
            float *sums = work->lanes;
            args->kernels->quantized_panel(args, j->a + i * args->k, words_at(j, work, panel), parameters_at(j, panel),
                                           sums);
            for (int64_t c = 0; c < columns; c++)
                j->out[i * args->n + column + c] = j->bias ? sums[c] + j->bias[column + c] : sums[c];
        }
}

static void run_panel(const job *j, const workspace *work, int64_t row, int64_t rows, int64_t panel) {
    const qrt_float_matmul_args *args = j->args;
    const int64_t steps = steps_of(args), tiles = qrt_ceil_div(rows, ROWS), column = panel * COLUMNS;
    const int64_t a_stride = block_stride(j, tiles), b_stride = qrt_float_lane_stride(args->k);
    const int64_t sums_stride = tiles * ROWS * COLUMNS + QRT_FLOAT_PAD;
    const float *b = floats_at(j, work, panel);
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

/* A few rows by w as it is: sums of all lanes, [row][lane][column], stay in L2 while w passes by. */
static void run_axpy(const job *j, const workspace *work) {
    static const float zeros[AXPY_PANELS * COLUMNS];
    const qrt_float_matmul_args *args = j->args;
    const int64_t stride = axpy_stride(j), first = work->first * COLUMNS;
    const int64_t columns = qrt_min(work->end * COLUMNS, args->n) - first;
    memset(work->lanes, 0, (size_t)(args->m * LANES * stride) * sizeof(float));
    for (int64_t k = 0; k < steps_of(args) * LANES; k++) {
        const bool inside = k < args->k; /* zeros times zero may turn -0 into +0 */
        const float *from = inside ? (const float *)j->w + k * args->n + first : zeros;
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

/* What of w the task needs and nobody packed. */
static void pack_task(const job *j, const workspace *work) {
    const qrt_float_matmul_args *args = j->args;
    if (!is_quantized(j)) {
        if (!args->panels)
            pack_floats(args, j->w, work->first, work->end, work->floats);
        return;
    }
    const int64_t per_panel = COLUMNS / WORD_COLUMNS, last = qrt_min(work->end * per_panel, word_panels(args));
    if (dequantizes(j) && last % per_panel) /* columns that w lacks */
        memset((float *)floats_at(j, work, work->end - 1), 0, (size_t)panel_floats(args) * sizeof(float));
    for (int64_t panel = work->first * per_panel; panel < last; panel++) {
        if (!args->panels)
            pack_words(args, j->w, panel, work->words + (panel - work->first * per_panel) * words_of(args));
        if (dequantizes(j))
            args->kernels->dequantize_panel(args, words_at(j, work, panel), parameters_at(j, panel),
                                            (float *)floats_at(j, work, panel / per_panel) +
                                                panel % per_panel * WORD_COLUMNS);
    }
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
        pack_task(j, &work);
        if (is_quantized(j) && !dequantizes(j))
            run_rows(j, &work, row, end);
        else
            run_tiles(j, &work, row, end);
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
    const bool resident = args->panels && !dequantizes(j);
    j->panels = resident ? panels : qrt_max(1, bytes / qrt_max(panel_floats(args) * (int64_t)sizeof(float), 1));
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
