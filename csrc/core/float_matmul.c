/* Matrix products in float32, of float or quantized weights: packs panels, shares them among threads. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "float_control.h"

#define LANES QRT_FLOAT_LANES
#define COLUMNS QRT_FLOAT_COLUMNS
#define NIBBLE_STEPS 8 /* of a word */
/* Bytes of a that stay in L2 while the panels pass by; multiply-adds below which a fork costs more than it saves. */
#define A_BLOCK_BYTES (256 * 1024)
#define SERIAL_WORK (1 << 17)
/* From so many rows on a panel is dequantized once for all of them. */
#define DEQUANTIZE_ROWS 4

static int64_t steps_of(const qrt_float_matmul_args *args) {
    return qrt_ceil_div(args->k, LANES);
}

static int64_t panel_bytes(const qrt_float_matmul_args *args) {
    const int64_t steps = steps_of(args), vector = COLUMNS * LANES;
    if (args->weights == QRT_WEIGHTS_NIBBLES)
        return qrt_ceil_div(steps, NIBBLE_STEPS) * vector * (int64_t)sizeof(uint32_t);
    return steps * vector * (args->weights == QRT_WEIGHTS_F32 ? (int64_t)sizeof(float) : 1);
}

static int64_t blocks_of(const qrt_float_matmul_args *args) {
    return qrt_max(1, qrt_ceil_div(args->k, args->k_block));
}

/* ---- packing ---- */

static void pack_floats(const qrt_float_matmul_args *args, const float *w, int64_t column, int columns, float *panel) {
    for (int64_t k = 0; k < args->k; k++)
        for (int j = 0; j < columns; j++)
            panel[(k / LANES * COLUMNS + j) * LANES + k % LANES] = w[k * args->n + column + j];
}

/* Bytes become signed: what the zero point loses is taken from the parameters. */
static void pack_bytes(const qrt_float_matmul_args *args, const uint8_t *w, int64_t column, int columns,
                       uint8_t *panel) {
    const uint8_t flip = args->w == QRT_U8 ? 0x80 : 0;
    for (int64_t k = 0; k < args->k; k++)
        for (int j = 0; j < columns; j++)
            panel[(k / LANES * COLUMNS + j) * LANES + k % LANES] = w[k * args->n + column + j] ^ flip;
}

static void pack_nibbles(const qrt_float_matmul_args *args, const uint8_t *w, int64_t column, int columns,
                         uint32_t *panel) {
    const uint8_t flip = args->w == QRT_I8 ? 8 : 0;
    for (int64_t k = 0; k < args->k; k++)
        for (int j = 0; j < columns; j++) {
            const uint32_t nibble = (w[k * args->n + column + j] ^ flip) & 15;
            const int64_t step = k / LANES;
            panel[(step / NIBBLE_STEPS * COLUMNS + j) * LANES + k % LANES] |= nibble << step % NIBBLE_STEPS * 4;
        }
}

static void pack_panel(const qrt_float_matmul_args *args, const void *w, int64_t panel, void *target) {
    const int64_t column = panel * COLUMNS;
    const int columns = (int)qrt_min(COLUMNS, args->n - column);
    memset(target, 0, (size_t)panel_bytes(args));
    if (args->weights == QRT_WEIGHTS_F32)
        pack_floats(args, w, column, columns, target);
    else if (args->weights == QRT_WEIGHTS_BYTES)
        pack_bytes(args, w, column, columns, target);
    else
        pack_nibbles(args, w, column, columns, target);
}

/* Missing columns keep a scale of 0; so do the values past k that a step has, but those are multiplied by zeros of a.
 */
static void pack_parameters(const qrt_float_matmul_args *args, float *parameters) {
    const bool is_signed = args->w == QRT_I8;
    const float moved = args->weights == QRT_WEIGHTS_BYTES ? (is_signed ? 0 : -128) : (is_signed ? 8 : 0);
    const int64_t blocks = blocks_of(args);
    for (int64_t column = 0; column < args->n; column++)
        for (int64_t block = 0; block < blocks; block++) {
            float *to = parameters + (column / COLUMNS * blocks + block) * 2 * COLUMNS + column % COLUMNS;
            to[0] = args->scale[block * args->n + column];
            to[COLUMNS] = args->zero_point[block * args->n + column] + moved;
        }
}

qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args) {
    const int64_t panels = qrt_ceil_div(args->n, COLUMNS);
    args->panels = args->parameters = NULL;
    if (args->weights != QRT_WEIGHTS_F32) {
        const size_t count = (size_t)(panels * blocks_of(args) * 2 * COLUMNS);
        float *parameters = qrt_aligned_alloc(count * sizeof(float));
        if (!parameters)
            return QRT_NO_MEMORY;
        memset(parameters, 0, count * sizeof(float));
        pack_parameters(args, parameters);
        args->parameters = parameters;
    }
    if (!args->w_constant)
        return QRT_OK;
    const int64_t bytes = panel_bytes(args);
    char *packed = qrt_aligned_alloc((size_t)(panels * bytes));
    if (!packed)
        return QRT_NO_MEMORY;
    for (int64_t panel = 0; panel < panels; panel++)
        pack_panel(args, args->w_constant, panel, packed + panel * bytes);
    args->panels = packed;
    return QRT_OK;
}

void qrt_float_matmul_release(qrt_float_matmul_args *args) {
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
    int64_t row_block, row_blocks;
    int64_t panel_block, panel_blocks;
} job;

static void store(const job *j, int64_t row, int64_t rows, int64_t panel, const float *sums) {
    const int64_t n = j->args->n, column = panel * COLUMNS;
    const int columns = (int)qrt_min(COLUMNS, n - column);
    for (int64_t i = 0; i < rows; i++)
        for (int c = 0; c < columns; c++) {
            const float sum = sums[i * COLUMNS + c];
            j->out[(row + i) * n + column + c] = j->bias ? sum + j->bias[column + c] : sum;
        }
}

static void run_panel(const job *j, int64_t row, int64_t rows, int64_t panel, char *packed, float *floats,
                      float *sums) {
    const qrt_float_matmul_args *args = j->args;
    const void *weights = packed;
    if (args->panels)
        weights = (const char *)args->panels + panel * panel_bytes(args);
    else
        pack_panel(args, j->w, panel, packed);
    const float *a = j->a + row * args->k;
    const float *parameters = args->parameters ? args->parameters + panel * blocks_of(args) * 2 * COLUMNS : NULL;
    if (args->weights == QRT_WEIGHTS_F32) {
        args->kernels->float_panel(a, args->k, rows, weights, args->k, sums);
    } else if (rows < DEQUANTIZE_ROWS) {
        for (int64_t i = 0; i < rows; i++)
            args->kernels->quantized_panel(args, a + i * args->k, weights, parameters, sums + i * COLUMNS);
    } else {
        args->kernels->dequantize_panel(args, weights, parameters, floats);
        args->kernels->float_panel(a, args->k, rows, floats, args->k, sums);
    }
    store(j, row, rows, panel, sums);
}

static qrt_status task(void *context, int64_t number) {
    const job *j = context;
    const qrt_float_matmul_args *args = j->args;
    const int64_t row = number % j->row_blocks * j->row_block, rows = qrt_min(j->row_block, args->m - row);
    const int64_t first = number / j->row_blocks * j->panel_block;
    const int64_t end = qrt_min(first + j->panel_block, qrt_ceil_div(args->n, COLUMNS));
    const int64_t packed = qrt_round_up(panel_bytes(args), QRT_ALIGNMENT);
    const int64_t floats = steps_of(args) * COLUMNS * LANES * (int64_t)sizeof(float);
    char *workspace =
        qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(packed + floats + j->row_block * COLUMNS * (int64_t)sizeof(float)));
    if (!workspace)
        return QRT_NO_MEMORY;
    float *dequantized = (float *)(workspace + packed);
    float *sums = (float *)(workspace + packed + floats);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t panel = first; panel < end; panel++)
        run_panel(j, row, rows, panel, workspace, dequantized, sums);
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
    const int threads = (double)args->m * (double)args->n * (double)args->k < SERIAL_WORK ? 1 : scratch->threads;
    const int64_t row_bytes = qrt_max(1, args->k * (int64_t)sizeof(float));
    j.row_block = qrt_min(args->m, qrt_max(6, A_BLOCK_BYTES / row_bytes / 6 * 6));
    j.row_blocks = qrt_ceil_div(args->m, j.row_block);
    const int64_t panels = qrt_ceil_div(args->n, COLUMNS);
    j.panel_block = threads == 1 ? panels : qrt_max(1, qrt_ceil_div(panels, 4 * threads));
    j.panel_blocks = qrt_ceil_div(panels, j.panel_block);
    return qrt_parallel(j.row_blocks * j.panel_blocks, task, &j, threads);
}
