/* The GEMM entry: shares blocks of rows and columns among threads. Bound by qrt_gemm_prepare. */
#include "core/gemm/gemm.h"

#include "core/float_control.h"

/* Below this many multiply-adds a fork costs more than it saves. */
#define SERIAL_WORK (1 << 19)
/* A matrix of b up to this size stays in a core's L2: threads share it, else each takes columns of its own. */
#define SHARED_B_BYTES (512 * 1024)
#define SMALL_WORKSPACE 8192 /* on the stack */
/* Up to so many rows the time of a call is that of reading b. */
#define FEW_ROWS 4

bool qrt_bias_fits(const qrt_gemm_args *args, const void *bias);

typedef struct {
    qrt_gemm_call call;
    int64_t row_block, row_blocks;
    int64_t column_block, column_blocks;
    /* b packed per call: the columns in the caller's workspace */
    int64_t batch, column, columns;
    qrt_packed packed;
    bool backwards;
} job;

/* Calls visit a matrix that leaves L2 forwards and backwards by turns: they begin where the last one ended, with what
 * L2 still has. What is computed does not depend on it. */
static bool takes_turns(const qrt_gemm_args *args) {
    if (args->m > FEW_ROWS || !args->b_constant || args->shape.matrix_bytes <= SHARED_B_BYTES)
        return false;
    return __atomic_fetch_add(&((qrt_gemm_args *)args)->calls, 1, __ATOMIC_RELAXED) & 1;
}

static qrt_status run_block(const job *j, qrt_gemm_block *block) {
    const qrt_gemm_args *args = j->call.args;
    _Alignas(QRT_ALIGNMENT) char small[SMALL_WORKSPACE];
    const int64_t bytes = qrt_block_workspace(args, block->rows);
    char *workspace = bytes <= SMALL_WORKSPACE ? small : qrt_workspace(QRT_WORKSPACE_TASK, (size_t)bytes);
    if (!workspace)
        return QRT_NO_MEMORY;
    if (args->b_constant) {
        const int64_t matrix = qrt_b_matrix(args, block->batch);
        block->packed.panels = (char *)args->packed.panels + matrix * args->shape.matrix_bytes;
        block->packed.terms = args->packed.terms + matrix * args->shape.matrix_terms;
    }
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = qrt_gemm_block_run(&j->call, block, workspace);
    qrt_float_leave(saved);
    return status;
}

/* Work in tasks of one block each: [batch][column block][row block]. The columns of a thread are one range, whose part
 * of b stays in its L2. */
static qrt_status block_task(void *context, int64_t task) {
    const job *j = context;
    const int64_t columns = task / j->row_blocks;
    qrt_gemm_block block = {
        .batch = j->batch + columns / j->column_blocks,
        .row = task % j->row_blocks * j->row_block,
        .column = j->column + columns % j->column_blocks * j->column_block,
        .packed = j->packed,
        .packed_column = j->column,
        .backwards = j->backwards,
    };
    block.rows = qrt_min(j->row_block, j->call.args->m - block.row);
    block.columns = qrt_min(j->column_block, j->column + j->columns - block.column);
    return run_block(j, &block);
}

/* Two tasks per thread at least, so that one that falls behind is helped; one where the kernel takes all panels at
 * once, and packs rows, loads parameters and fetches ahead once for each task. */
static void share(job *j, int64_t batches, int threads) {
    const qrt_gemm_args *args = j->call.args;
    const int nr = args->gemm->nr;
    const int each = args->gemm->all_panels ? 1 : 2;
    const int64_t panels = qrt_ceil_div(j->columns, nr), tasks = qrt_ceil_div(each * threads, batches);
    if (args->shape.matrix_bytes <= SHARED_B_BYTES && args->m >= tasks * args->gemm->mr) {
        j->row_block = qrt_min(j->row_block, qrt_ceil_div(args->m, tasks));
    } else {
        const int64_t parts = panels >= 4 * tasks ? tasks : qrt_min(panels, threads);
        j->column_block = qrt_ceil_div(panels, parts) * nr;
    }
}

static qrt_status run_blocks(job *j, int64_t batches, int threads) {
    const qrt_gemm_args *args = j->call.args;
    if (args->conv.segments && j->call.bias_fits) {
        const qrt_gemm_block b = {.batch = j->batch,
                                  .column = j->column,
                                  .columns = j->columns,
                                  .packed = j->packed,
                                  .packed_column = j->column};
        return qrt_conv_run(&j->call, &b, batches, threads);
    }
    j->row_block = args->block_rows;
    j->column_block = j->columns;
    j->backwards = takes_turns(args);
    if (threads > 1)
        share(j, batches, threads);
    j->row_blocks = qrt_parts(args->m, j->row_block);
    j->column_blocks = qrt_parts(j->columns, j->column_block);
    const int64_t tasks = batches * j->row_blocks * j->column_blocks;
    if (tasks > 1)
        return qrt_parallel(tasks, block_task, j, threads);
    qrt_gemm_block block = {j->batch, 0, args->m, j->column, j->columns, j->packed, j->column, j->backwards};
    return run_block(j, &block);
}

static qrt_status pack_task(void *context, int64_t task) {
    const job *j = context;
    qrt_pack_b_panel(j->call.args, j->call.b, qrt_b_matrix(j->call.args, j->batch), j->column, j->columns, task,
                     j->packed);
    return QRT_OK;
}

/* b is an operand: its columns are packed a block at a time, by all threads, then used by all. */
static qrt_status run_packing(job *j, int threads) {
    const qrt_gemm_args *args = j->call.args;
    const int64_t block = args->packed_columns;
    const qrt_packed_shape shape = args->shape;
    const size_t bytes = (size_t)shape.matrix_bytes + (size_t)shape.matrix_terms * sizeof(int32_t);
    j->packed.panels = qrt_workspace(QRT_WORKSPACE_CALL, bytes);
    if (!j->packed.panels)
        return QRT_NO_MEMORY;
    j->packed.terms = (int32_t *)((char *)j->packed.panels + shape.matrix_bytes);
    int64_t packed_matrix = -1;
    for (j->batch = 0; j->batch < args->batch; j->batch++)
        for (j->column = 0; j->column < args->n; j->column += block) {
            j->columns = qrt_min(block, args->n - j->column);
            const int64_t matrix = qrt_b_matrix(args, j->batch);
            qrt_status status = QRT_OK;
            if (matrix != packed_matrix || block < args->n)
                status = qrt_parallel(qrt_ceil_div(j->columns, args->gemm->nr), pack_task, j, threads);
            packed_matrix = matrix;
            if (status == QRT_OK)
                status = run_blocks(j, 1, threads);
            if (status != QRT_OK)
                return status;
        }
    return QRT_OK;
}

static qrt_status wide_task(void *context, int64_t task) {
    const job *j = context;
    const qrt_gemm_args *args = j->call.args;
    char *workspace = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)qrt_wide_workspace(args));
    if (!workspace)
        return QRT_NO_MEMORY;
    const qrt_float_state saved = qrt_float_enter();
    qrt_status status = QRT_OK;
    const int64_t end = qrt_min((task + 1) * j->row_block, args->batch * args->m);
    for (int64_t row = task * j->row_block; row < end && status == QRT_OK; row++)
        status = qrt_wide_row_run(&j->call, row / args->m, row % args->m, workspace);
    qrt_float_leave(saved);
    return status;
}

qrt_status qrt_gemm(const void *pointer, qrt_scratch *scratch) {
    const qrt_gemm_args *args = pointer;
    if (args->batch == 0 || args->m == 0 || args->n == 0)
        return QRT_OK;
    void *const *operand = scratch->operands;
    job j = {.call = {.args = args}, .columns = args->n};
    j.call.a = *operand++;
    j.call.b = args->b_constant ? args->b_constant : *operand++;
    if (args->bias != QRT_BIAS_NONE)
        j.call.bias = args->bias_constant ? args->bias_constant : *operand++;
    j.call.out = *operand;
    const double work = (double)args->batch * (double)args->m * (double)args->n * (double)args->k;
    const int threads = work < SERIAL_WORK ? 1 : scratch->threads;
    if (args->narrow)
        j.call.bias_fits =
            args->bias != QRT_BIAS_NONE && args->bias_constant ? args->bias_fits : qrt_bias_fits(args, j.call.bias);
    if (args->splits)
        return qrt_split_run(&j.call, threads);
    /* Panels with filled segments are for conv.c alone. */
    if (!args->narrow || (args->conv.filled && !j.call.bias_fits)) {
        j.row_block = qrt_max(1, qrt_min(SERIAL_WORK / qrt_max(1, args->n * args->k), args->m));
        return qrt_parallel(qrt_ceil_div(args->batch * args->m, j.row_block), wide_task, &j, threads);
    }
    return args->b_constant ? run_blocks(&j, args->batch, threads) : run_packing(&j, threads);
}
