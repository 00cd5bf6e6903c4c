/* A block of rows by a range of columns: packs a, finds the bias, runs panels. */
#include "core/gemm/gemm.h"

#define MAX_TILE (QRT_MAX_MR * QRT_MAX_NR)

const void *qrt_a_row(const qrt_gemm_call *call, int64_t batch, int64_t row, void *patch) {
    const qrt_gemm_args *args = call->args;
    if (!args->window)
        return call->a + qrt_a_matrix(args, batch) * args->a_matrix_stride + row * args->a_row_stride;
    qrt_gather_patch(args->window, args->a, call->a, row, batch, args->a_zero_point[0], patch);
    return patch;
}

static int64_t bias_at(const qrt_gemm_call *call, int64_t batch, int64_t column) {
    return qrt_bias_value(call->args->bias, call->bias, batch * call->args->bias_batch_step + column);
}

/* ---- rows of a ---- */

static bool in_place(const qrt_gemm_args *args) {
    return args->a_form == QRT_A_IN_PLACE && !args->window;
}

static bool by_kernel(const qrt_gemm_args *args) {
    return args->a_form == QRT_A_BY_KERNEL && !args->window;
}

/* The workspace of a block: packed rows, their terms, mr gathered patches. */
typedef struct {
    int64_t terms, patches, bytes;
} layout;

static layout lay_out(const qrt_gemm_args *args, int64_t rows) {
    layout to = {0};
    const int64_t own = by_kernel(args) ? args->gemm->workspace(args, rows) : 0;
    if (by_kernel(args))
        rows = qrt_min(rows, args->gemm->mr); /* of a span */
    if (args->a_form == QRT_A_IN_PLACE_BUT_LAST)
        rows = qrt_min(rows, args->gemm->mr);
    if (!in_place(args))
        to.terms = rows * args->a_stride;
    to.patches = to.terms + qrt_round_up(rows * 2 * (int64_t)sizeof(int32_t), QRT_ALIGNMENT);
    to.bytes = qrt_max(own, to.patches + (args->window ? args->gemm->mr * args->k : 0));
    return to;
}

int64_t qrt_block_workspace(const qrt_gemm_args *args, int64_t rows) {
    return lay_out(args, rows).bytes;
}

/* Up to mr rows over K values [first, first + depth), to row i of `to`. */
static void pack_group(const qrt_gemm_call *call, int64_t batch, int64_t row, int rows, int64_t first, int64_t depth,
                       char *patches, int64_t i, const qrt_gemm_rows *to) {
    const qrt_gemm_args *args = call->args;
    int32_t zero_point[QRT_MAX_MR];
    for (int r = 0; r < rows; r++)
        zero_point[r] = (int32_t)qrt_a_zero_point(args, batch, row + r);
    int64_t stride = args->a_row_stride;
    const char *source = qrt_a_row(call, batch, row, patches);
    if (args->window) {
        stride = args->k;
        for (int r = 1; r < rows; r++)
            qrt_a_row(call, batch, row + r, patches + r * stride);
    }
    args->gemm->pack_a(args->a, source + first, stride, rows, depth, zero_point, (char *)to->rows + i * to->stride,
                       to->stride, to->terms ? to->terms + 2 * i : NULL);
}

static qrt_gemm_rows rows_in_place(const qrt_gemm_call *call, const qrt_gemm_block *block, int64_t first) {
    return (qrt_gemm_rows){.rows = (const char *)qrt_a_row(call, block->batch, block->row, NULL) + first,
                           .stride = call->args->a_row_stride};
}

static qrt_gemm_rows pack_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, int64_t first, int64_t depth,
                               char *workspace) {
    const qrt_gemm_args *args = call->args;
    if (in_place(args))
        return rows_in_place(call, block, first);
    const layout at = lay_out(args, block->rows);
    const qrt_gemm_rows to = {.rows = workspace,
                              .stride = args->a_stride,
                              .terms = args->a_form == QRT_A_PACKED_TERMS ? (int32_t *)(workspace + at.terms) : NULL};
    const int mr = args->gemm->mr;
    for (int64_t i = 0; i < block->rows; i += mr)
        pack_group(call, block->batch, block->row + i, (int)qrt_min(mr, block->rows - i), first, depth,
                   workspace + at.patches, i, &to);
    return to;
}

/* ---- one span of K: a sum with its bias fits 32 bits ---- */

/* Rows of a by the first panel of b of a block, over the values of K of `span`. */
static qrt_gemm_panel first_panel(const qrt_gemm_call *call, const qrt_gemm_block *block, const qrt_gemm_rows *a,
                                  int64_t span) {
    const qrt_gemm_args *args = call->args;
    const qrt_gemm_kernel *kernel = args->gemm;
    const int64_t before = block->column - block->packed_column;
    const int64_t panel = before == 0 ? 0 : before / kernel->nr, panels = span * args->shape.panels;
    const int64_t depth = qrt_span_depth(args, span);
    const int64_t bytes = args->shape.spans == 1 ? args->shape.span_bytes
                                                 : qrt_panel_bytes(kernel->nr, depth, kernel->ku, kernel->b_size);
    const char *b = (const char *)block->packed.panels + panels * args->shape.span_bytes + panel * bytes;
    return (qrt_gemm_panel){
        .args = args,
        .rows = (int)block->rows,
        .columns = (int)qrt_min(kernel->nr, block->columns),
        .lines = 1,
        .depth = depth,
        .a = a->rows,
        .a_stride = a->stride,
        .a_terms = a->terms,
        .workspace = a->workspace,
        .a_zero_point = (int32_t)qrt_a_zero_point(args, block->batch, block->row),
        .b = b,
        .next = b,
        .b_terms = block->packed.terms + (panels + panel) * 2 * kernel->nr,
    };
}

/* `count` values from values[first] on. */
static void prefetch(const int32_t *values, int64_t first, int64_t count) {
    for (int64_t i = 0; values && i < count; i += QRT_ALIGNMENT / (int64_t)sizeof *values)
        __builtin_prefetch(values + first + i);
}

/* What the `count` columns `ahead` columns on add and are scaled by: a few lines here and there, which no prefetcher
 * foresees and whose latency a panel of few rows would wait for. */
static void prefetch_panel(const qrt_gemm_panel *panel, int64_t ahead, int64_t count) {
    const qrt_requant *requant = &panel->args->requant;
    const int64_t step = panel->args->requant_steps[2], next = panel->parameter + ahead * step;
    prefetch(panel->b_terms, 2 * ahead, 2 * count);
    prefetch(panel->bias, ahead, count);
    if (!step || panel->sums)
        return;
    prefetch((const int32_t *)requant->scale_f32, next, count);
    prefetch(requant->multiplier, next, count);
    prefetch(requant->shift, next, count);
    prefetch(requant->zero_point_i32, next, count);
}

/* The most panels that a call of the kernel takes. Of a bias in 64 bits only one panel's values are narrowed at a time.
 */
static int64_t panels_at_once(const qrt_gemm_args *args, const qrt_gemm_block *block) {
    const qrt_gemm_kernel *kernel = args->gemm;
    if (kernel->all_panels)
        return args->bias == QRT_BIAS_I64 ? 1 : INT64_MAX;
    return kernel->pairs && !block->backwards && args->k <= kernel->pair_depth ? 2 : 1;
}

/* As many of those that are left; but not two where the second is not whole. */
static int64_t panels_taken(const qrt_gemm_args *args, int64_t at_once, int64_t columns) {
    const int nr = args->gemm->nr;
    if (args->gemm->all_panels)
        return qrt_min(at_once, qrt_parts(columns, nr));
    return columns >= at_once * nr ? at_once : 1;
}

void qrt_gemm_run_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, const qrt_gemm_rows *a) {
    const qrt_gemm_args *args = call->args;
    const int nr = args->gemm->nr;
    qrt_gemm_panel panel = first_panel(call, block, a, 0);
    if (a->segments) {
        panel.a_segments = a->segments;
        panel.segments = args->conv.segments;
        panel.lines = a->lines;
        panel.a_line = a->a_line;
        panel.target_line = a->target_line;
        panel.depth = args->conv.depth;
    }
    const int size = qrt_container_size(args->requant.container);
    char *target = qrt_output_at(call, block->batch, block->row, block->column);
    const int32_t *bias = (const int32_t *)call->bias + block->batch * args->bias_batch_step + block->column;
    panel.parameter = qrt_parameter_of(args, block->batch, block->row, block->column);
    panel.sums_stride = args->out_row_stride / (int64_t)sizeof(int32_t);
    const qrt_gemm_panel first = panel;
    const int64_t panels = qrt_parts(block->columns, nr);
    const char *const end = (const char *)block->packed.panels + args->shape.panels * args->shape.span_bytes;
    const int64_t at_once = panels_at_once(args, block);
    for (int64_t i = 0, taken; i < panels; i += taken) {
        taken = panels_taken(args, at_once, block->columns - i * nr);
        const int64_t at = block->backwards ? panels - taken - i : i, j = at * nr;
        int32_t values[QRT_MAX_NR];
        panel.columns = (int)qrt_min(taken * nr, block->columns - j);
        panel.b = (const char *)first.b + at * args->shape.span_bytes;
        /* After the last the first: fetching what is not mapped costs a walk through the page tables each time. */
        const char *next = (const char *)panel.b + taken * args->shape.span_bytes;
        panel.next = next < end ? next : block->packed.panels;
        panel.b_terms = first.b_terms + 2 * j;
        panel.parameter = first.parameter + j * args->requant_steps[2];
        if (args->bias == QRT_BIAS_I32)
            panel.bias = bias + j;
        else if (args->bias == QRT_BIAS_I64) {
            for (int c = 0; c < panel.columns; c++)
                values[c] = (int32_t)bias_at(call, block->batch, block->column + j + c);
            panel.bias = values;
        }
        panel.target = target + j * size;
        panel.sums = args->raw ? panel.target : NULL;
        if (i + taken < panels)
            prefetch_panel(&panel, block->backwards ? -nr : taken * nr, taken * nr);
        args->gemm->run(&panel);
    }
}

/* ---- long K or a large bias: the sums of the spans are added in 64 bits ---- */

qrt_status qrt_add_bias(const qrt_gemm_call *call, int64_t batch, int64_t column, int64_t columns, int64_t *acc) {
    for (int64_t j = 0; j < columns; j++)
        if (__builtin_add_overflow(acc[j], bias_at(call, batch, column + j), &acc[j]))
            return QRT_ACCUMULATOR_OVERFLOW;
    return QRT_OK;
}

/* Up to mr rows by one panel. */
static qrt_status run_long_tile(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    const qrt_gemm_args *args = call->args;
    const int nr = args->gemm->nr;
    const int columns = (int)block->columns;
    int64_t acc[MAX_TILE] = {0};
    for (int64_t span = 0; span < args->shape.spans; span++) {
        int32_t sums[MAX_TILE];
        const qrt_gemm_rows a = pack_rows(call, block, span * args->span, qrt_span_depth(args, span), workspace);
        qrt_gemm_panel panel = first_panel(call, block, &a, span);
        panel.sums = sums;
        panel.sums_stride = nr;
        args->gemm->run(&panel);
        for (int i = 0; i < panel.rows; i++)
            for (int j = 0; j < columns; j++)
                acc[i * nr + j] += sums[i * nr + j];
    }
    for (int i = 0; i < block->rows; i++) {
        const qrt_status status = qrt_add_bias(call, block->batch, block->column, columns, acc + i * nr);
        if (status != QRT_OK)
            return status;
    }
    args->kernels->store_wide(&args->requant, acc, nr, (int)block->rows, columns,
                              qrt_output_at(call, block->batch, block->row, block->column),
                              args->out_row_stride / qrt_container_size(args->requant.container),
                              qrt_parameter_of(args, block->batch, block->row, block->column), args->requant_steps[1],
                              args->requant_steps[2]);
    return QRT_OK;
}

static void run_packed_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    qrt_gemm_rows a;
    if (by_kernel(call->args)) {
        a = rows_in_place(call, block, 0);
        a.workspace = workspace;
    } else {
        a = pack_rows(call, block, 0, call->args->k, workspace);
    }
    qrt_gemm_run_rows(call, block, &a);
}

/* Rows that have rows of their matrix behind them where they are: whole steps may be read of those. Of the last block
 * what whole tiles leave, at least one row, is packed. */
static void run_rows_but_last(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    const int64_t mr = call->args->gemm->mr;
    const bool last = block->row + block->rows == call->args->m;
    qrt_gemm_block part = *block;
    part.rows = last ? (block->rows - 1) / mr * mr : block->rows;
    if (part.rows) {
        const qrt_gemm_rows a = rows_in_place(call, &part, 0);
        qrt_gemm_run_rows(call, &part, &a);
    }
    part.row += part.rows;
    part.rows = block->rows - part.rows;
    if (part.rows)
        run_packed_rows(call, &part, workspace);
}

qrt_status qrt_gemm_block_run(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    const qrt_gemm_kernel *kernel = call->args->gemm;
    if (call->bias_fits) {
        if (call->args->a_form == QRT_A_IN_PLACE_BUT_LAST)
            run_rows_but_last(call, block, workspace);
        else
            run_packed_rows(call, block, workspace);
        return QRT_OK;
    }
    qrt_gemm_block part = *block;
    for (part.row = block->row; part.row < block->row + block->rows; part.row += kernel->mr) {
        part.rows = qrt_min(kernel->mr, block->row + block->rows - part.row);
        for (part.column = block->column; part.column < block->column + block->columns; part.column += kernel->nr) {
            part.columns = qrt_min(kernel->nr, block->column + block->columns - part.column);
            const qrt_status status = run_long_tile(call, &part, workspace);
            if (status != QRT_OK)
                return status;
        }
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
    const int64_t parameter = qrt_parameter_of(args, batch, row, 0);
    void *target = qrt_output_at(call, batch, row, 0);
    if (args->k_block)
        return args->kernels->block_row(args, a, zero_point, call->b, matrix, call->bias, target, parameter);
    qrt_status status = args->kernels->wide_row(args, a, zero_point, call->b, matrix, acc);
    if (status == QRT_OK)
        status = qrt_add_bias(call, batch, 0, args->n, acc);
    if (status == QRT_OK)
        args->kernels->store_wide(&args->requant, acc, args->n, 1, (int)args->n, target, args->n, parameter,
                                  args->requant_steps[1], args->requant_steps[2]);
    return status;
}
