/* Runs of the narrow and of the wide path: blocks of rows and columns, shared among threads. */
#include "core/gemm/gemm.h"

#include "core/float_control.h"

#define SMALL_WORKSPACE 8192 /* bytes, on the stack */

/* The tasks of a call share this. A task is a block of rows by a block of columns. */
typedef struct {
    qrt_gemm_call call;
    int64_t row_block, row_blocks;
    int64_t column_block, column_blocks;
    /* Where b is packed in the call: which columns of which matrix are in the caller's workspace. */
    int64_t batch, column, columns;
    qrt_packed packed;
    bool backwards;
} tasks;

/* Where b exceeds L2, calls go through its panels forwards and backwards by turns: a call begins where the one before
 * ended, with what L2 still holds. The results do not depend on it. */
static bool takes_turn(const qrt_gemm_plan *plan) {
    return plan->turns && __atomic_fetch_add(plan->turns, 1, __ATOMIC_RELAXED) & 1;
}

static qrt_status run_block(const tasks *t, qrt_gemm_block *block) {
    const qrt_gemm_args *args = t->call.args;
    _Alignas(QRT_ALIGNMENT) char small[SMALL_WORKSPACE];
    const int64_t bytes = qrt_block_workspace(args, block->rows);
    char *workspace = bytes <= SMALL_WORKSPACE ? small : qrt_workspace(QRT_WORKSPACE_TASK, (size_t)bytes);
    if (!workspace)
        return QRT_NO_MEMORY;
    if (args->problem.b_constant)
        block->packed = qrt_packed_matrix(&args->plan, qrt_b_matrix(&args->problem, block->batch));
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = qrt_gemm_block_run(&t->call, block, workspace);
    qrt_float_leave(saved);
    return status;
}

/* Runs one block. Tasks are ordered as [batch][column block][row block]: the column blocks of a thread are neighbours,
 * and their part of b stays in its L2. */
static qrt_status block_task(void *context, int64_t task) {
    const tasks *t = context;
    const int64_t columns = task / t->row_blocks;
    qrt_gemm_block block = {
        .batch = t->batch + columns / t->column_blocks,
        .row = task % t->row_blocks * t->row_block,
        .column = t->column + columns % t->column_blocks * t->column_block,
        .packed = t->packed,
        .packed_column = t->column,
        .backwards = t->backwards,
    };
    block.rows = qrt_min(t->row_block, t->call.args->problem.m - block.row);
    block.columns = qrt_min(t->column_block, t->column + t->columns - block.column);
    return run_block(t, &block);
}

/* Cuts a call into at least two tasks per thread, so that others help a thread that falls behind. A microkernel that
 * takes all panels at once gets one task per thread, because it packs rows, loads parameters and prefetches once a
 * task. */
static void share(tasks *t, int64_t batches, int threads) {
    const qrt_gemm_plan *plan = &t->call.args->plan;
    const int64_t m = t->call.args->problem.m;
    const int nr = plan->microkernel->nr;
    const int each = plan->microkernel->all_panels ? 1 : 2;
    const int64_t panels = qrt_ceil_div(t->columns, nr), count = qrt_ceil_div(each * threads, batches);
    if (plan->shape.matrix_bytes <= QRT_SHARED_B_BYTES && m >= count * plan->microkernel->mr) {
        t->row_block = qrt_min(t->row_block, qrt_ceil_div(m, count));
    } else {
        const int64_t parts = panels >= 4 * count ? count : qrt_min(panels, threads);
        t->column_block = qrt_ceil_div(panels, parts) * nr;
    }
}

static qrt_status run_blocks(tasks *t, int64_t batches, int threads) {
    const qrt_gemm_args *args = t->call.args;
    if (args->plan.conv.segments && t->call.bias_fits) {
        const qrt_gemm_block b = {.batch = t->batch,
                                  .column = t->column,
                                  .columns = t->columns,
                                  .packed = t->packed,
                                  .packed_column = t->column};
        return qrt_conv_run(&t->call, &b, batches, threads);
    }
    t->row_block = args->plan.mc;
    t->column_block = t->columns;
    t->backwards = takes_turn(&args->plan);
    if (threads > 1)
        share(t, batches, threads);
    t->row_blocks = qrt_parts(args->problem.m, t->row_block);
    t->column_blocks = qrt_parts(t->columns, t->column_block);
    const int64_t count = batches * t->row_blocks * t->column_blocks;
    if (count > 1)
        return qrt_parallel(count, block_task, t, threads);
    qrt_gemm_block block = {t->batch, 0, args->problem.m, t->column, t->columns, t->packed, t->column, t->backwards};
    return run_block(t, &block);
}

static qrt_status pack_task(void *context, int64_t panel) {
    const tasks *t = context;
    const qrt_gemm_args *args = t->call.args;
    qrt_pack_b_panel(args, t->call.b, qrt_b_matrix(&args->problem, t->batch), t->column, t->columns, panel, t->packed);
    return QRT_OK;
}

/* b is an operand: all threads pack NC of its columns, then all threads use them. */
static qrt_status run_packing(tasks *t, int threads) {
    const qrt_gemm_problem *problem = &t->call.args->problem;
    const qrt_gemm_plan *plan = &t->call.args->plan;
    const size_t panel_bytes = (size_t)plan->shape.matrix_bytes;
    t->packed.panels =
        qrt_workspace(QRT_WORKSPACE_CALL, panel_bytes + (size_t)plan->shape.matrix_compensation * sizeof(int32_t));
    if (!t->packed.panels)
        return QRT_NO_MEMORY;
    t->packed.compensation = (int32_t *)((char *)t->packed.panels + panel_bytes);
    int64_t packed_matrix = -1;
    for (t->batch = 0; t->batch < problem->batch; t->batch++)
        for (t->column = 0; t->column < problem->n; t->column += plan->nc) {
            t->columns = qrt_min(plan->nc, problem->n - t->column);
            const int64_t matrix = qrt_b_matrix(problem, t->batch);
            qrt_status status = QRT_OK;
            if (matrix != packed_matrix || plan->nc < problem->n)
                status = qrt_parallel(qrt_ceil_div(t->columns, plan->microkernel->nr), pack_task, t, threads);
            packed_matrix = matrix;
            if (status == QRT_OK)
                status = run_blocks(t, 1, threads);
            if (status != QRT_OK)
                return status;
        }
    return QRT_OK;
}

static qrt_status wide_task(void *context, int64_t task) {
    const tasks *t = context;
    const qrt_gemm_problem *problem = &t->call.args->problem;
    char *workspace = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)qrt_wide_workspace(problem));
    if (!workspace)
        return QRT_NO_MEMORY;
    const qrt_float_state saved = qrt_float_enter();
    qrt_status status = QRT_OK;
    const int64_t end = qrt_min((task + 1) * t->row_block, problem->batch * problem->m);
    for (int64_t row = task * t->row_block; row < end && status == QRT_OK; row++)
        status = qrt_wide_row_run(&t->call, row / problem->m, row % problem->m, workspace);
    qrt_float_leave(saved);
    return status;
}

static qrt_status run_wide(tasks *t, int threads) {
    const qrt_gemm_problem *problem = &t->call.args->problem;
    t->row_block = qrt_max(1, qrt_min(QRT_SERIAL_WORK / qrt_max(1, problem->n * problem->k), problem->m));
    return qrt_parallel(qrt_ceil_div(problem->batch * problem->m, t->row_block), wide_task, t, threads);
}

qrt_status qrt_wide_run(const qrt_gemm_call *call, int threads) {
    return run_wide(&(tasks){.call = *call}, threads);
}

qrt_status qrt_narrow_run(const qrt_gemm_call *call, int threads) {
    const qrt_gemm_args *args = call->args;
    const qrt_gemm_problem *problem = &args->problem;
    const qrt_gemm_plan *plan = &args->plan;
    tasks t = {.call = *call, .columns = problem->n};
    t.call.bias_fits =
        problem->bias != QRT_BIAS_NONE && problem->bias_constant ? plan->bias_fits : qrt_bias_fits(args, call->bias);
    /* Only conv.c can use panels whose segments are filled up. */
    if (plan->conv.filled && !t.call.bias_fits)
        return run_wide(&t, threads);
    return problem->b_constant ? run_blocks(&t, problem->batch, threads) : run_packing(&t, threads);
}
