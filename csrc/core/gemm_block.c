/* A block of rows by a range of columns: packs a, runs tiles, loads the bias, stores. */
#include <string.h>

#include "gemm.h"

#define MAX_TILE (QRT_MAX_MR * QRT_MAX_NR)

const void *qrt_a_row(const qrt_gemm_call *call, int64_t batch, int64_t row, void *patch) {
    const qrt_gemm_args *args = call->args;
    if (!args->window)
        return call->a + qrt_a_matrix(args, batch) * args->a_matrix_stride + row * args->a_row_stride;
    qrt_gather_patch(args->window, args->a, call->a, row, batch, args->a_zero_point[0], patch);
    return patch;
}

static int64_t parameter_of(const qrt_gemm_args *args, int64_t batch, int64_t row, int64_t column) {
    return batch * args->requant_steps[0] + row * args->requant_steps[1] + column * args->requant_steps[2];
}

static void *output_at(const qrt_gemm_call *call, int64_t batch, int64_t row, int64_t column) {
    const qrt_gemm_args *args = call->args;
    return call->out + batch * args->out_matrix_stride + row * args->out_row_stride +
           column * qrt_container_size(args->requant.container);
}

static int64_t bias_at(const qrt_gemm_call *call, int64_t batch, int64_t column) {
    return qrt_bias_value(call->args->bias, call->bias, batch * call->args->bias_batch_step + column);
}

/* ---- packing a ---- */

/* One panel of up to mr rows over K values [first, first + depth); `patches` holds mr gathered rows of convolutions. */
static void pack_a_panel(const qrt_gemm_call *call, int64_t batch, int64_t row, int rows, int64_t first, int64_t depth,
                         char *patches, void *panel, int32_t *terms) {
    const qrt_gemm_args *args = call->args;
    const qrt_gemm_kernel *kernel = &args->kernels->gemm;
    int32_t zero_point[QRT_MAX_MR] = {0};
    for (int i = 0; i < rows; i++)
        zero_point[i] = (int32_t)qrt_a_zero_point(args, batch, row + i);
    int64_t stride = args->a_row_stride;
    const char *source = qrt_a_row(call, batch, row, patches);
    if (args->window) {
        stride = args->k;
        for (int i = 1; i < rows; i++)
            qrt_a_row(call, batch, row + i, patches + i * stride);
    }
    kernel->pack_a(args->a, source + first, stride, rows, depth, zero_point, panel, terms);
}

/* ---- the workspace of a block ---- */

typedef struct {
    int64_t panel_bytes;
    char *panels, *patches;
    int32_t *terms, *tiles;
} layout;

static int64_t lay_out(const qrt_gemm_args *args, int64_t rows, char *base, layout *to) {
    const qrt_gemm_kernel *kernel = &args->kernels->gemm;
    const int64_t panels = qrt_ceil_div(rows, kernel->mr);
    const int64_t tile_bytes = qrt_round_up(kernel->mr * kernel->nr * (int64_t)sizeof(int32_t), QRT_ALIGNMENT);
    to->panel_bytes = qrt_panel_bytes(kernel->mr, qrt_min(args->span, args->k), kernel->ku, kernel->a_size);
    int64_t used = 0;
    to->panels = base + used;
    used += panels * to->panel_bytes;
    to->tiles = (int32_t *)(base + used);
    used += panels * tile_bytes;
    to->terms = (int32_t *)(base + used);
    used += qrt_round_up(panels * 2 * kernel->mr * (int64_t)sizeof(int32_t), QRT_ALIGNMENT);
    to->patches = base + used;
    used += args->window ? kernel->mr * args->k : 0;
    return used;
}

int64_t qrt_block_rows(const qrt_gemm_args *args, int threads) {
    const qrt_gemm_kernel *kernel = &args->kernels->gemm;
    const int64_t panel = qrt_panel_bytes(kernel->mr, qrt_min(args->span, args->k), kernel->ku, kernel->a_size);
    int64_t rows = qrt_max(1, QRT_A_BLOCK_BYTES / qrt_max(panel, 1)) * kernel->mr;
    if (threads > 1)
        rows = qrt_min(rows, qrt_round_up(qrt_ceil_div(args->m, 2 * threads), kernel->mr));
    return qrt_max(qrt_min(rows, args->m), 1);
}

int64_t qrt_block_workspace(const qrt_gemm_args *args, int64_t rows) {
    static char base[1];
    layout sizes;
    return lay_out(args, rows, base, &sizes);
}

/* ---- one span of K: the sum of a tile with its bias fits 32 bits ---- */

typedef struct {
    const qrt_gemm_call *call;
    const qrt_gemm_block *block;
    layout work;
    qrt_b_shape shape;
} state;

static void run_column_panel(const state *s, int64_t column) {
    const qrt_gemm_call *call = s->call;
    const qrt_gemm_args *args = call->args;
    const qrt_gemm_kernel *kernel = &args->kernels->gemm;
    const qrt_gemm_block *block = s->block;
    const int columns = (int)qrt_min(kernel->nr, block->column + block->columns - column);
    const int64_t panel = (column - block->packed_column) / kernel->nr;
    const char *b = (const char *)block->packed.panels + panel * s->shape.span_bytes;
    const int32_t *b_terms = block->packed.terms + panel * 2 * kernel->nr;
    int32_t bias[QRT_MAX_NR] = {0};
    for (int j = 0; j < columns; j++)
        bias[j] = (int32_t)bias_at(call, block->batch, column + j);

    /* A chunk of the B panel stays in L1 while the A panels of the block pass by. */
    const int64_t steps = qrt_ceil_div(args->k, kernel->ku);
    const int64_t b_step = (int64_t)kernel->nr * kernel->ku * kernel->b_size;
    const int64_t a_step = (int64_t)kernel->mr * kernel->ku * kernel->a_size;
    const int64_t chunks = qrt_max(1, qrt_ceil_div(steps * b_step, QRT_B_CHUNK_BYTES));
    const int64_t chunk = qrt_ceil_div(steps, chunks);
    const int64_t tile_size = qrt_round_up(kernel->mr * kernel->nr * 4, QRT_ALIGNMENT) / 4;
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t first = c * chunk, count = qrt_max(0, qrt_min(chunk, steps - first));
        for (int64_t i = 0; i * kernel->mr < block->rows; i++) {
            const int64_t row = block->row + i * kernel->mr;
            int32_t *tile = s->work.tiles + (chunks == 1 ? 0 : i * tile_size);
            if (c == 0)
                kernel->start(bias, s->work.terms + i * 2 * kernel->mr, b_terms, args->k, tile);
            kernel->tile(s->work.panels + i * s->work.panel_bytes + first * a_step, b + first * b_step, count, tile);
            if (c == chunks - 1)
                args->kernels->store(
                    &args->requant, tile, kernel->nr, (int)qrt_min(kernel->mr, block->row + block->rows - row), columns,
                    output_at(call, block->batch, row, column),
                    args->out_row_stride / qrt_container_size(args->requant.container),
                    parameter_of(args, block->batch, row, column), args->requant_steps[1], args->requant_steps[2]);
        }
    }
}

static void run_narrow(const state *s) {
    const qrt_gemm_args *args = s->call->args;
    const qrt_gemm_kernel *kernel = &args->kernels->gemm;
    const qrt_gemm_block *block = s->block;
    for (int64_t i = 0; i * kernel->mr < block->rows; i++) {
        const int64_t row = block->row + i * kernel->mr;
        const int rows = (int)qrt_min(kernel->mr, block->row + block->rows - row);
        pack_a_panel(s->call, block->batch, row, rows, 0, args->k, s->work.patches,
                     s->work.panels + i * s->work.panel_bytes, s->work.terms + i * 2 * kernel->mr);
    }
    for (int64_t column = block->column; column < block->column + block->columns; column += kernel->nr)
        run_column_panel(s, column);
}

/* ---- long K or a large bias: the tiles of the spans are summed in 64 bits ---- */

static qrt_status add_bias(const qrt_gemm_call *call, int64_t batch, int64_t column, int64_t columns, int64_t *acc) {
    for (int64_t j = 0; j < columns; j++)
        if (__builtin_add_overflow(acc[j], bias_at(call, batch, column + j), &acc[j]))
            return QRT_ACCUMULATOR_OVERFLOW;
    return QRT_OK;
}

static qrt_status run_long_tile(const state *s, int64_t row, int64_t column) {
    static const int32_t no_bias[QRT_MAX_NR];
    const qrt_gemm_call *call = s->call;
    const qrt_gemm_args *args = call->args;
    const qrt_gemm_kernel *kernel = &args->kernels->gemm;
    const qrt_gemm_block *block = s->block;
    const int rows = (int)qrt_min(kernel->mr, block->row + block->rows - row);
    const int columns = (int)qrt_min(kernel->nr, block->column + block->columns - column);
    const int64_t panel = (column - block->packed_column) / kernel->nr;
    int64_t acc[MAX_TILE] = {0};
    for (int64_t span = 0; span < s->shape.spans; span++) {
        const int64_t depth = qrt_span_depth(args, span);
        const int64_t b_bytes = qrt_panel_bytes(kernel->nr, depth, kernel->ku, kernel->b_size);
        const char *b = (const char *)block->packed.panels + span * s->shape.panels * s->shape.span_bytes;
        pack_a_panel(call, block->batch, row, rows, span * args->span, depth, s->work.patches, s->work.panels,
                     s->work.terms);
        kernel->start(no_bias, s->work.terms, block->packed.terms + (span * s->shape.panels + panel) * 2 * kernel->nr,
                      depth, s->work.tiles);
        kernel->tile(s->work.panels, b + panel * b_bytes, qrt_ceil_div(depth, kernel->ku), s->work.tiles);
        for (int i = 0; i < kernel->mr * kernel->nr; i++)
            acc[i] += s->work.tiles[i];
    }
    for (int i = 0; i < rows; i++) {
        const qrt_status status = add_bias(call, block->batch, column, columns, acc + i * kernel->nr);
        if (status != QRT_OK)
            return status;
    }
    args->kernels->store_wide(
        &args->requant, acc, kernel->nr, rows, columns, output_at(call, block->batch, row, column),
        args->out_row_stride / qrt_container_size(args->requant.container),
        parameter_of(args, block->batch, row, column), args->requant_steps[1], args->requant_steps[2]);
    return QRT_OK;
}

qrt_status qrt_gemm_block_run(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    const qrt_gemm_kernel *kernel = &call->args->kernels->gemm;
    state s = {.call = call, .block = block, .shape = qrt_packed_b_shape(call->args, block->packed_columns)};
    lay_out(call->args, block->rows, workspace, &s.work);
    if (call->bias_fits) {
        run_narrow(&s);
        return QRT_OK;
    }
    for (int64_t row = block->row; row < block->row + block->rows; row += kernel->mr)
        for (int64_t column = block->column; column < block->column + block->columns; column += kernel->nr) {
            const qrt_status status = run_long_tile(&s, row, column);
            if (status != QRT_OK)
                return status;
        }
    return QRT_OK;
}

/* ---- wide containers and sub-channel b: ref, a row at a time ---- */

int64_t qrt_wide_workspace(const qrt_gemm_args *args) {
    const int64_t patch = args->window ? args->k * qrt_container_size(args->a) : 0;
    return args->n * (int64_t)sizeof(int64_t) + patch;
}

qrt_status qrt_wide_row_run(const qrt_gemm_call *call, int64_t batch, int64_t row, char *workspace) {
    const qrt_gemm_args *args = call->args;
    int64_t *acc = (int64_t *)workspace;
    const void *a = qrt_a_row(call, batch, row, acc + args->n);
    const int64_t matrix = qrt_b_matrix(args, batch), zero_point = qrt_a_zero_point(args, batch, row);
    const int64_t parameter = parameter_of(args, batch, row, 0);
    void *target = output_at(call, batch, row, 0);
    if (args->k_block)
        return args->kernels->block_row(args, a, zero_point, call->b, matrix, call->bias, target, parameter);
    qrt_status status = args->kernels->wide_row(args, a, zero_point, call->b, matrix, acc);
    if (status == QRT_OK)
        status = add_bias(call, batch, 0, args->n, acc);
    if (status == QRT_OK)
        args->kernels->store_wide(&args->requant, acc, args->n, 1, (int)args->n, target, args->n, parameter,
                                  args->requant_steps[1], args->requant_steps[2]);
    return status;
}
