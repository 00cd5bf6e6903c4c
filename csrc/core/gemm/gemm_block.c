/* A block of rows by a range of columns: packs A, finds the bias, calls the microkernel for each panel. */
#include "core/gemm/gemm.h"

#define MAX_TILE (QRT_MAX_MR * QRT_MAX_NR)

const void *qrt_a_row(const qrt_gemm_call *call, int64_t batch, int64_t row, void *patch) {
    const qrt_gemm_problem *problem = &call->args->problem;
    if (!problem->window)
        return call->a + qrt_a_matrix(problem, batch) * problem->a_matrix_stride + row * problem->a_row_stride;
    qrt_gather_patch(problem->window, problem->a, call->a, row, batch, problem->a_zero_point[0], patch);
    return patch;
}

static int64_t bias_at(const qrt_gemm_call *call, int64_t batch, int64_t column) {
    const qrt_gemm_problem *problem = &call->args->problem;
    return qrt_bias_value(problem->bias, call->bias, batch * problem->bias_batch_step + column);
}

/* ---- rows of a ---- */

static bool in_place(const qrt_gemm_args *args) {
    return args->plan.a_form == QRT_A_IN_PLACE && !args->problem.window;
}

static bool by_microkernel(const qrt_gemm_args *args) {
    return args->plan.a_form == QRT_A_BY_MICROKERNEL && !args->problem.window;
}

/* The workspace of a block: packed rows, then their compensation, then mr gathered patches. */
typedef struct {
    int64_t compensation, patches, bytes;
} layout;

static layout lay_out(const qrt_gemm_args *args, int64_t rows) {
    const qrt_gemm_microkernel *kernel = args->plan.microkernel;
    layout to = {0};
    const int64_t own = by_microkernel(args) ? kernel->workspace(args, rows) : 0;
    if (by_microkernel(args) || args->plan.a_form == QRT_A_IN_PLACE_BUT_LAST)
        rows = qrt_min(rows, kernel->mr); /* rows of a slice of K, or the last of a matrix */
    if (!in_place(args))
        to.compensation = rows * args->plan.a_stride;
    to.patches = to.compensation + qrt_round_up(rows * 2 * (int64_t)sizeof(int32_t), QRT_ALIGNMENT);
    to.bytes = qrt_max(own, to.patches + (args->problem.window ? kernel->mr * args->problem.k : 0));
    return to;
}

int64_t qrt_block_workspace(const qrt_gemm_args *args, int64_t rows) {
    return lay_out(args, rows).bytes;
}

/* Packs up to mr rows over the K values [first, first + depth), to row i of `to`. */
static void pack_group(const qrt_gemm_call *call, int64_t batch, int64_t row, int rows, int64_t first, int64_t depth,
                       char *patches, int64_t i, const qrt_gemm_rows *to) {
    const qrt_gemm_problem *problem = &call->args->problem;
    int32_t zero_point[QRT_MAX_MR];
    for (int r = 0; r < rows; r++)
        zero_point[r] = (int32_t)qrt_a_zero_point(problem, batch, row + r);
    int64_t stride = problem->a_row_stride;
    const char *source = qrt_a_row(call, batch, row, patches);
    if (problem->window) {
        stride = problem->k;
        for (int r = 1; r < rows; r++)
            qrt_a_row(call, batch, row + r, patches + r * stride);
    }
    call->args->plan.microkernel->pack_a(problem->a, source + first, stride, rows, depth, zero_point,
                                         (char *)to->rows + i * to->stride, to->stride,
                                         to->compensation ? to->compensation + 2 * i : NULL);
}

static qrt_gemm_rows rows_in_place(const qrt_gemm_call *call, const qrt_gemm_block *block, int64_t first) {
    return (qrt_gemm_rows){.rows = (const char *)qrt_a_row(call, block->batch, block->row, NULL) + first,
                           .stride = call->args->problem.a_row_stride};
}

static qrt_gemm_rows pack_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, int64_t first, int64_t depth,
                               char *workspace) {
    const qrt_gemm_plan *plan = &call->args->plan;
    if (in_place(call->args))
        return rows_in_place(call, block, first);
    const layout at = lay_out(call->args, block->rows);
    qrt_gemm_rows to = {.rows = workspace, .stride = plan->a_stride};
    if (plan->a_form == QRT_A_COMPENSATED)
        to.compensation = (int32_t *)(workspace + at.compensation);
    const int mr = plan->microkernel->mr;
    for (int64_t i = 0; i < block->rows; i += mr)
        pack_group(call, block->batch, block->row + i, (int)qrt_min(mr, block->rows - i), first, depth,
                   workspace + at.patches, i, &to);
    return to;
}

/* ---- one slice of K: a sum with its bias fits 32 bits ---- */

/* Rows of a by the first panel of a block, over a slice of K. */
static qrt_microkernel_call first_panel(const qrt_gemm_call *call, const qrt_gemm_block *block, const qrt_gemm_rows *a,
                                        int64_t slice) {
    const qrt_gemm_args *args = call->args;
    const qrt_gemm_microkernel *kernel = args->plan.microkernel;
    const qrt_packed_shape *shape = &args->plan.shape;
    const int64_t before = block->column - block->packed_column;
    const int64_t panel = before == 0 ? 0 : before / kernel->nr, panels = slice * shape->panels;
    const int64_t depth = qrt_slice_depth(args, slice);
    const int64_t bytes =
        shape->slices == 1 ? shape->panel_bytes : qrt_panel_bytes(kernel->nr, depth, kernel->ku, kernel->b_size);
    const char *b = (const char *)block->packed.panels + panels * shape->panel_bytes + panel * bytes;
    return (qrt_microkernel_call){
        .args = args,
        .rows = (int)block->rows,
        .columns = (int)qrt_min(kernel->nr, block->columns),
        .image_rows = 1,
        .depth = depth,
        .a = a->rows,
        .a_stride = a->stride,
        .a_compensation = a->compensation,
        .workspace = a->workspace,
        .a_zero_point = (int32_t)qrt_a_zero_point(&args->problem, block->batch, block->row),
        .b = b,
        .next = b,
        .b_compensation = block->packed.compensation + (panels + panel) * 2 * kernel->nr,
    };
}

/* Prefetches `count` values from values[first] on. */
static void prefetch(const int32_t *values, int64_t first, int64_t count) {
    for (int64_t i = 0; values && i < count; i += QRT_ALIGNMENT / (int64_t)sizeof *values)
        __builtin_prefetch(values + first + i);
}

/* Prefetches the bias, compensation and parameters of `count` columns, `ahead` columns further on. They are a few cache
 * lines in several arrays: no hardware prefetcher foresees them, and a panel with few rows would wait for their
 * latency. */
static void prefetch_panel(const qrt_microkernel_call *to, int64_t ahead, int64_t count) {
    const qrt_requant *requant = &to->args->problem.requant;
    const int64_t step = to->args->problem.requant_steps[2], next = to->parameter + ahead * step;
    prefetch(to->b_compensation, 2 * ahead, 2 * count);
    prefetch(to->bias, ahead, count);
    if (!step || to->sums)
        return;
    prefetch((const int32_t *)requant->scale_f32, next, count);
    prefetch(requant->multiplier, next, count);
    prefetch(requant->shift, next, count);
    prefetch(requant->zero_point_i32, next, count);
}

/* The most panels that a call of the microkernel takes. A 64-bit bias is narrowed for one panel at a time. */
static int64_t panels_at_once(const qrt_gemm_args *args, const qrt_gemm_block *block) {
    const qrt_gemm_microkernel *kernel = args->plan.microkernel;
    if (kernel->all_panels)
        return args->problem.bias == QRT_BIAS_I64 ? 1 : INT64_MAX;
    return kernel->pairs && !block->backwards && args->problem.k <= kernel->pair_depth ? 2 : 1;
}

/* The number of panels that the next call takes. Two are taken only where the second one is whole. */
static int64_t panels_taken(const qrt_gemm_microkernel *kernel, int64_t at_once, int64_t columns) {
    if (kernel->all_panels)
        return qrt_min(at_once, qrt_parts(columns, kernel->nr));
    return columns >= at_once * kernel->nr ? at_once : 1;
}

/* Sets where the rows, the results and the parameters of a block are, for its first panel. */
static void place_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, const qrt_gemm_rows *a,
                       qrt_microkernel_call *to) {
    const qrt_gemm_problem *problem = &call->args->problem;
    const qrt_conv_plan *conv = &call->args->plan.conv;
    if (a->segments) {
        to->a_segments = a->segments;
        to->segments = conv->segments;
        to->image_rows = a->image_rows;
        to->a_image_row = a->a_image_row;
        to->target_image_row = a->target_image_row;
        to->depth = conv->depth;
    }
    to->target = qrt_output_at(call, block->batch, block->row, block->column);
    to->parameter = qrt_parameter_of(problem, block->batch, block->row, block->column);
    to->sums_stride = problem->out_row_stride / (int64_t)sizeof(int32_t);
    if (problem->bias == QRT_BIAS_I32)
        to->bias = (const int32_t *)call->bias + block->batch * problem->bias_batch_step + block->column;
}

void qrt_gemm_run_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, const qrt_gemm_rows *a) {
    const qrt_gemm_problem *problem = &call->args->problem;
    const qrt_gemm_plan *plan = &call->args->plan;
    const int nr = plan->microkernel->nr;
    const int64_t panel_bytes = plan->shape.panel_bytes;
    const int size = qrt_container_size(problem->requant.container);
    qrt_microkernel_call to = first_panel(call, block, a, 0);
    place_rows(call, block, a, &to);
    const qrt_microkernel_call all = to;
    const int64_t panels = qrt_parts(block->columns, nr), at_once = panels_at_once(call->args, block);
    const char *const end = (const char *)block->packed.panels + plan->shape.panels * panel_bytes;
    for (int64_t i = 0, taken; i < panels; i += taken) {
        taken = panels_taken(plan->microkernel, at_once, block->columns - i * nr);
        const int64_t at = block->backwards ? panels - taken - i : i, j = at * nr;
        int32_t values[QRT_MAX_NR];
        to.columns = (int)qrt_min(taken * nr, block->columns - j);
        to.b = (const char *)all.b + at * panel_bytes;
        /* The first panel comes after the last: to prefetch an address that is not mapped costs a walk through the page
         * tables. */
        const char *next = (const char *)to.b + taken * panel_bytes;
        to.next = next < end ? next : block->packed.panels;
        to.b_compensation = all.b_compensation + 2 * j;
        to.parameter = all.parameter + j * problem->requant_steps[2];
        if (all.bias)
            to.bias = all.bias + j;
        if (problem->bias == QRT_BIAS_I64) {
            for (int c = 0; c < to.columns; c++)
                values[c] = (int32_t)bias_at(call, block->batch, block->column + j + c);
            to.bias = values;
        }
        to.target = (char *)all.target + j * size;
        to.sums = plan->raw ? to.target : NULL;
        if (i + taken < panels)
            prefetch_panel(&to, block->backwards ? -nr : taken * nr, taken * nr);
        plan->microkernel->run(&to);
    }
}

/* ---- long K or a large bias: the sums of the slices are added in 64 bits ---- */

qrt_status qrt_add_bias(const qrt_gemm_call *call, int64_t batch, int64_t column, int64_t columns, int64_t *acc) {
    for (int64_t j = 0; j < columns; j++)
        if (__builtin_add_overflow(acc[j], bias_at(call, batch, column + j), &acc[j]))
            return QRT_ACCUMULATOR_OVERFLOW;
    return QRT_OK;
}

/* Multiplies up to mr rows by one panel. */
static qrt_status run_long_tile(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    const qrt_gemm_args *args = call->args;
    const qrt_gemm_problem *problem = &args->problem;
    const int nr = args->plan.microkernel->nr, columns = (int)block->columns;
    int64_t acc[MAX_TILE] = {0};
    for (int64_t slice = 0; slice < args->plan.shape.slices; slice++) {
        int32_t sums[MAX_TILE];
        const int64_t first = slice * args->plan.kc, depth = qrt_slice_depth(args, slice);
        const qrt_gemm_rows a = pack_rows(call, block, first, depth, workspace);
        qrt_microkernel_call to = first_panel(call, block, &a, slice);
        to.sums = sums;
        to.sums_stride = nr;
        args->plan.microkernel->run(&to);
        for (int i = 0; i < to.rows; i++)
            for (int j = 0; j < columns; j++)
                acc[i * nr + j] += sums[i * nr + j];
    }
    for (int i = 0; i < block->rows; i++) {
        const qrt_status status = qrt_add_bias(call, block->batch, block->column, columns, acc + i * nr);
        if (status != QRT_OK)
            return status;
    }
    args->kernels->store_wide(&problem->requant, acc, nr, (int)block->rows, columns,
                              qrt_output_at(call, block->batch, block->row, block->column),
                              problem->out_row_stride / qrt_container_size(problem->requant.container),
                              qrt_parameter_of(problem, block->batch, block->row, block->column),
                              problem->requant_steps[1], problem->requant_steps[2]);
    return QRT_OK;
}

static void run_packed_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    qrt_gemm_rows a;
    if (by_microkernel(call->args)) {
        a = rows_in_place(call, block, 0);
        a.workspace = workspace;
    } else {
        a = pack_rows(call, block, 0, call->args->problem.k, workspace);
    }
    qrt_gemm_run_rows(call, block, &a);
}

/* Uses rows where they are, although the microkernel reads whole steps past their ends: other rows of the matrix stand
 * there. The last rows of the matrix have none behind them, so the rows that whole tiles leave, at least one, are
 * packed. */
static void run_rows_but_last(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace) {
    const int64_t mr = call->args->plan.microkernel->mr;
    const bool last = block->row + block->rows == call->args->problem.m;
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
    const qrt_gemm_plan *plan = &call->args->plan;
    if (call->bias_fits) {
        if (plan->a_form == QRT_A_IN_PLACE_BUT_LAST)
            run_rows_but_last(call, block, workspace);
        else
            run_packed_rows(call, block, workspace);
        return QRT_OK;
    }
    const int mr = plan->microkernel->mr, nr = plan->microkernel->nr;
    qrt_gemm_block part = *block;
    for (part.row = block->row; part.row < block->row + block->rows; part.row += mr) {
        part.rows = qrt_min(mr, block->row + block->rows - part.row);
        for (part.column = block->column; part.column < block->column + block->columns; part.column += nr) {
            part.columns = qrt_min(nr, block->column + block->columns - part.column);
            const qrt_status status = run_long_tile(call, &part, workspace);
            if (status != QRT_OK)
                return status;
        }
    }
    return QRT_OK;
}

/* ---- wide containers and sub-channel b: one row at a time, by ref ---- */

int64_t qrt_wide_workspace(const qrt_gemm_problem *problem) {
    const int64_t patch = problem->window ? problem->k * qrt_container_size(problem->a) : 0;
    return problem->n * (int64_t)sizeof(int64_t) + patch;
}

qrt_status qrt_wide_row_run(const qrt_gemm_call *call, int64_t batch, int64_t row, char *workspace) {
    const qrt_kernels *kernels = call->args->kernels;
    const qrt_gemm_problem *problem = &call->args->problem;
    const int64_t n = problem->n;
    int64_t *acc = (int64_t *)workspace;
    const void *a = qrt_a_row(call, batch, row, acc + n);
    const int64_t matrix = qrt_b_matrix(problem, batch), zero_point = qrt_a_zero_point(problem, batch, row);
    const int64_t parameter = qrt_parameter_of(problem, batch, row, 0);
    void *target = qrt_output_at(call, batch, row, 0);
    if (problem->k_block)
        return kernels->block_row(call->args, a, zero_point, call->b, matrix, call->bias, target, parameter);
    qrt_status status = kernels->wide_row(call->args, a, zero_point, call->b, matrix, acc);
    if (status == QRT_OK)
        status = qrt_add_bias(call, batch, 0, n, acc);
    if (status == QRT_OK)
        kernels->store_wide(&problem->requant, acc, n, 1, (int)n, target, n, parameter, problem->requant_steps[1],
                            problem->requant_steps[2]);
    return status;
}
