/* Matrix products in float32, of float or quantized weights: packs panels, shares them among threads. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "float_control.h"

#define LANES QRT_FLOAT_LANES
#define COLUMNS QRT_FLOAT_COLUMNS
/* A block of rows by a chunk of K stays in L1, beside a panel's; a chunk's panels stay in a share of L2 while the
 * blocks of rows pass by. */
#define ROWS 12
#define CHUNK 512
#define PANELS_BYTES (512 * 1024)
/* Multiply-adds below which a fork costs more than it saves. */
#define SERIAL_WORK (1 << 17)
/* From so many rows on a panel is dequantized once for all of them. */
#define DEQUANTIZE_ROWS 4

static int64_t panels_of(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(args->n, COLUMNS);
}

static int64_t steps_of(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(args->k, LANES);
}

/* Steps in a word of packed weights. */
static int word_steps(const qrt_float_matmul_args *args) {
    return args->weights == QRT_WEIGHTS_BYTES ? 4 : 8;
}

static int64_t panel_bytes(const qrt_float_matmul_args *args) {
    const int64_t steps = steps_of(args), vector = COLUMNS * LANES * (int64_t)sizeof(float);
    return vector * (args->weights == QRT_WEIGHTS_F32 ? steps : qrt_ceil_div(steps, word_steps(args)));
}

static int64_t blocks_of(const qrt_float_matmul_args *args) {
    return qrt_max(1, qrt_ceil_div(args->k, args->k_block));
}

/* ---- packing ---- */

/* Calls put(step, lane, column of the panel, index in w) for every weight of the panel. */
#define EACH_WEIGHT(put)                                                                                               \
    for (int64_t step = 0; step * LANES < args->k; step++)                                                             \
        for (int64_t lane = 0; lane < qrt_min(LANES, args->k - step * LANES); lane++)                                  \
            for (int j = 0; j < columns; j++)                                                                          \
                put(step, lane, j, (step * LANES + lane) * args->n + column + j);

static void pack_floats(const qrt_float_matmul_args *args, const float *w, int64_t column, int columns, float *panel) {
#define PUT(step, lane, j, at) panel[((step) * COLUMNS + (j)) * LANES + (lane)] = w[at]
    EACH_WEIGHT(PUT)
#undef PUT
}

/* Signed weights become unsigned: what they gain is added to their zero points. */
static void pack_words(const qrt_float_matmul_args *args, const uint8_t *w, int64_t column, int columns,
                       uint32_t *panel) {
    const int steps = word_steps(args), width = 32 / steps;
    const uint32_t flip = args->w == QRT_I8 ? 1u << (width - 1) : 0, mask = (1u << width) - 1;
#define PUT(step, lane, j, at)                                                                                         \
    panel[((step) / steps * COLUMNS + (j)) * LANES + (lane)] |= ((w[at] ^ flip) & mask) << (step) % steps * width
    EACH_WEIGHT(PUT)
#undef PUT
}

static void pack_panel(const qrt_float_matmul_args *args, const void *w, int64_t panel, void *target) {
    const int64_t column = panel * COLUMNS;
    const int columns = (int)qrt_min(COLUMNS, args->n - column);
    memset(target, 0, (size_t)panel_bytes(args));
    if (args->weights == QRT_WEIGHTS_F32)
        pack_floats(args, w, column, columns, target);
    else
        pack_words(args, w, column, columns, target);
}

static int64_t parameter_count(const qrt_float_matmul_args *args) {
    return blocks_of(args) * COLUMNS * (args->zero_points_differ ? 2 : 1);
}

static bool zero_points_differ(const qrt_float_matmul_args *args) {
    for (int64_t i = 1; i < blocks_of(args) * args->n; i++)
        if (args->zero_point[i] != args->zero_point[0])
            return true;
    return false;
}

/* Missing columns keep a scale of 0; so do the values past k that a step has, but those are multiplied by zeros of a.
 */
static void pack_parameters(const qrt_float_matmul_args *args, float moved, float *parameters) {
    const int64_t of_block = COLUMNS * (args->zero_points_differ ? 2 : 1);
    for (int64_t column = 0; column < args->n; column++)
        for (int64_t block = 0; block < blocks_of(args); block++) {
            float *to = parameters + column / COLUMNS * parameter_count(args) + block * of_block + column % COLUMNS;
            to[0] = args->scale[block * args->n + column];
            if (args->zero_points_differ)
                to[COLUMNS] = args->zero_point[block * args->n + column] + moved;
        }
}

static qrt_status prepare_parameters(qrt_float_matmul_args *args) {
    const float moved = args->w == QRT_U8 ? 0 : args->weights == QRT_WEIGHTS_BYTES ? 128 : 8;
    args->zero_points_differ = zero_points_differ(args);
    args->common_zero_point = args->n ? args->zero_point[0] + moved : 0;
    const size_t bytes = (size_t)(panels_of(args) * parameter_count(args)) * sizeof(float);
    float *parameters = qrt_aligned_alloc(bytes);
    if (!parameters)
        return QRT_NO_MEMORY;
    memset(parameters, 0, bytes);
    pack_parameters(args, moved, parameters);
    args->parameters = parameters;
    return QRT_OK;
}

qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args) {
    const int64_t panels = panels_of(args), bytes = panel_bytes(args);
    args->panels = args->parameters = NULL;
    if (args->weights != QRT_WEIGHTS_F32 && prepare_parameters(args) != QRT_OK)
        return QRT_NO_MEMORY;
    if (!args->w_constant)
        return QRT_OK;
    char *packed = qrt_aligned_alloc((size_t)(panels * bytes) + QRT_PARAMETER_PADDING);
    if (!packed)
        return QRT_NO_MEMORY;
    memset(packed + panels * bytes, 0, QRT_PARAMETER_PADDING);
    for (int64_t panel = 0; panel < panels; panel++)
        pack_panel(args, args->w_constant, panel, packed + panel * bytes);
    args->panels = packed;
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
    int64_t panels; /* of a task */
} job;

/* What a task works in: its panels as floats or as they are packed per call, and the sums of a block of rows. */
typedef struct {
    char *packed;
    float *floats, *lanes, *sums;
    int64_t panel_bytes, panel_floats;
} workspace;

static bool dequantizes(const qrt_float_matmul_args *args) {
    return args->weights != QRT_WEIGHTS_F32 && args->m >= DEQUANTIZE_ROWS;
}

/* Panels whose lanes wait for the next chunk of K; a single chunk's are added up at once. */
static int64_t waiting(const job *j) {
    return j->args->k > CHUNK ? j->panels : 1;
}

static size_t lay_out(const job *j, char *base, workspace *to) {
    const qrt_float_matmul_args *args = j->args;
    to->panel_bytes = qrt_round_up(panel_bytes(args), QRT_ALIGNMENT);
    to->panel_floats = steps_of(args) * COLUMNS * LANES;
    size_t used = 0;
    to->packed = base;
    used += args->panels ? 0 : (size_t)(j->panels * to->panel_bytes);
    to->floats = (float *)(base + used);
    used += dequantizes(args) ? (size_t)(j->panels * to->panel_floats) * sizeof(float) : 0;
    to->lanes = (float *)(base + used);
    used += (size_t)(waiting(j) * ROWS * COLUMNS * LANES) * sizeof(float);
    to->sums = (float *)(base + used);
    return used + ROWS * COLUMNS * sizeof(float);
}

/* Panel `panel` in its packed form. */
static const void *packed_panel(const job *j, const workspace *work, int64_t first, int64_t panel) {
    if (j->args->panels)
        return (const char *)j->args->panels + panel * panel_bytes(j->args);
    return work->packed + (panel - first) * work->panel_bytes;
}

static const float *parameters_of(const qrt_float_matmul_args *args, int64_t panel) {
    return args->parameters + panel * parameter_count(args);
}

static void store(const job *j, int64_t row, int64_t rows, int64_t panel, const float *sums) {
    const int64_t n = j->args->n, column = panel * COLUMNS;
    const int columns = (int)qrt_min(COLUMNS, n - column);
    for (int64_t i = 0; i < rows; i++)
        for (int c = 0; c < columns; c++) {
            const float sum = sums[i * COLUMNS + c];
            j->out[(row + i) * n + column + c] = j->bias ? sum + j->bias[column + c] : sum;
        }
}

/* Few rows: each panel is read once, and dequantized on the way. */
static void run_rows(const job *j, const workspace *work, int64_t first, int64_t end) {
    const qrt_float_matmul_args *args = j->args;
    for (int64_t panel = first; panel < end; panel++) {
        const void *packed = packed_panel(j, work, first, panel);
        for (int64_t row = 0; row < args->m; row++) {
            args->kernels->quantized_panel(args, j->a + row * args->k, packed, parameters_of(args, panel), work->sums);
            store(j, row, 1, panel, work->sums);
        }
    }
}

static void run_block(const job *j, const workspace *work, int64_t row, int64_t first, int64_t end) {
    const qrt_float_matmul_args *args = j->args;
    const int64_t rows = qrt_min(ROWS, args->m - row);
    for (int64_t k = 0; k == 0 || k < args->k; k += CHUNK) {
        const bool last = k + CHUNK >= args->k;
        for (int64_t panel = first; panel < end; panel++) {
            const float *floats = dequantizes(args) ? work->floats + (panel - first) * work->panel_floats
                                                    : packed_panel(j, work, first, panel);
            float *lanes = work->lanes + (waiting(j) == 1 ? 0 : panel - first) * ROWS * COLUMNS * LANES;
            args->kernels->float_panel(j->a + row * args->k + k, args->k, rows, floats + k * COLUMNS,
                                       qrt_min(CHUNK, args->k - k), lanes, k == 0, last, work->sums);
            if (last)
                store(j, row, rows, panel, work->sums);
        }
    }
}

static qrt_status task(void *context, int64_t number) {
    const job *j = context;
    const qrt_float_matmul_args *args = j->args;
    const int64_t first = number * j->panels, end = qrt_min(first + j->panels, qrt_ceil_div(args->n, COLUMNS));
    workspace work;
    static char base[1];
    char *memory = qrt_workspace(QRT_WORKSPACE_TASK, lay_out(j, base, &work));
    if (!memory)
        return QRT_NO_MEMORY;
    lay_out(j, memory, &work);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t panel = first; panel < end && !args->panels; panel++)
        pack_panel(args, j->w, panel, work.packed + (panel - first) * work.panel_bytes);
    if (args->weights != QRT_WEIGHTS_F32 && !dequantizes(args)) {
        run_rows(j, &work, first, end);
    } else {
        for (int64_t panel = first; panel < end && dequantizes(args); panel++)
            args->kernels->dequantize_panel(args, packed_panel(j, &work, first, panel), parameters_of(args, panel),
                                            work.floats + (panel - first) * work.panel_floats);
        for (int64_t row = 0; row < args->m; row += ROWS)
            run_block(j, &work, row, first, end);
    }
    qrt_float_leave(saved);
    return QRT_OK;
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
    const int64_t panels = qrt_ceil_div(args->n, COLUMNS);
    const int64_t bytes = steps_of(args) * COLUMNS * LANES * (int64_t)sizeof(float);
    j.panels = qrt_max(1, PANELS_BYTES / qrt_max(bytes, 1));
    if (threads > 1)
        j.panels = qrt_min(j.panels, qrt_ceil_div(panels, 2 * threads));
    j.panels = qrt_min(j.panels, panels);
    return qrt_parallel(qrt_ceil_div(panels, j.panels), task, &j, threads);
}
