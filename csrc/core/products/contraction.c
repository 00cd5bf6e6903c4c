/* Contractions in float32 and int32: this file packs b and shares rows and panels among threads. The arithmetic is in
 * the rows contraction_tile and integer_tile. */
#include <stdlib.h>

#include "core/core.h"
#include "core/float_control.h"

#define A QRT_CONTRACTION_A
#define B QRT_CONTRACTION_B
#define INIT QRT_CONTRACTION_INIT
#define OUT QRT_CONTRACTION_OUT
#define MR QRT_CONTRACTION_MR
#define NR QRT_CONTRACTION_NR
/* Multiply-adds below which a fork costs more than it saves. */
#define SERIAL_WORK (1 << 17)
#define TASKS_PER_THREAD 4
/* Rows of a that a task takes stay in a share of L2 while all panels pass by: bytes, and tiles at most. */
#define BLOCK_BYTES (128 * 1024)
#define MOST_TILES 32

/* ---- loops ---- */

/* A position in some of the loops, and the offsets of all operands there. */
typedef struct {
    const qrt_contraction_problem *problem;
    int first, end; /* the loops */
    int64_t index[QRT_CONTRACTION_RANK];
    int64_t at[QRT_CONTRACTION_OPERANDS];
} position;

static void move(position *p, int loop, int64_t count) {
    for (int operand = 0; operand < QRT_CONTRACTION_OPERANDS; operand++)
        p->at[operand] += count * p->problem->stride[operand][loop];
}

/* The position of iteration `number`. */
static position position_at(const qrt_contraction_problem *problem, int first, int end, int64_t number) {
    position p = {.problem = problem, .first = first, .end = end};
    for (int loop = end - 1; loop >= first; loop--) {
        if (problem->extent[loop] == 0)
            continue;
        p.index[loop] = number % problem->extent[loop];
        number /= problem->extent[loop];
        move(&p, loop, p.index[loop]);
    }
    return p;
}

static void advance(position *p) {
    for (int loop = p->end - 1; loop >= p->first; loop--) {
        move(p, loop, 1);
        if (++p->index[loop] < p->problem->extent[loop])
            return;
        move(p, loop, -p->problem->extent[loop]);
        p->index[loop] = 0;
    }
}

static int64_t iterations(const qrt_contraction_problem *problem, int first, int end) {
    int64_t product = 1;
    for (int loop = first; loop < end; loop++)
        product *= problem->extent[loop];
    return product;
}

static int column_loop(const qrt_contraction_problem *problem) {
    return problem->batches + problem->rows + problem->depth;
}

/* ---- packing ---- */

static int64_t panel_count(const qrt_contraction_plan *plan) {
    return qrt_ceil_div(plan->columns, NR);
}

static int64_t panel_columns(const qrt_contraction_plan *plan, int64_t panel) {
    return qrt_min(NR, plan->columns - panel * NR);
}

/* The floats of b of one batch. All panels but the last are whole. */
static int64_t batch_floats(const qrt_contraction_plan *plan) {
    return plan->depth * qrt_round_up(plan->columns, QRT_CONTRACTION_ALIGN);
}

static void pack_panel(const qrt_contraction_args *args, const float *b, int64_t panel, float *to) {
    const qrt_contraction_plan *plan = &args->plan;
    const int64_t columns = panel_columns(plan, panel), width = qrt_round_up(columns, QRT_CONTRACTION_ALIGN);
    const int64_t stride = args->problem.stride[B][column_loop(&args->problem)];
    b += panel * NR * stride;
    for (int64_t step = 0; step < plan->depth; step++, to += width) {
        const float *from = b + plan->b_steps[step];
        if (stride == 1)
            memcpy(to, from, (size_t)columns * sizeof *to);
        else
            for (int64_t c = 0; c < columns; c++)
                to[c] = from[c * stride];
        memset(to + columns, 0, (size_t)(width - columns) * sizeof *to);
    }
}

static qrt_status pack_constant(qrt_contraction_args *args) {
    const qrt_contraction_problem *problem = &args->problem;
    qrt_contraction_plan *plan = &args->plan;
    const int64_t bytes = plan->batches * batch_floats(plan) * (int64_t)sizeof(float);
    plan->panels = qrt_take_stored(problem->stored, bytes);
    plan->stored = plan->panels;
    if (plan->stored)
        return QRT_OK;
    float *packed = qrt_aligned_alloc((size_t)bytes);
    if (!packed)
        return QRT_NO_MEMORY;
    position batch = position_at(problem, 0, problem->batches, 0);
    for (int64_t i = 0; i < plan->batches; i++, advance(&batch))
        for (int64_t panel = 0; panel < panel_count(plan); panel++)
            pack_panel(args, problem->b_constant + problem->offset[B] + batch.at[B], panel,
                       packed + i * batch_floats(plan) + panel * NR * plan->depth);
    plan->panels = packed;
    return QRT_OK;
}

/* ---- binding ---- */

static int64_t *steps_of(const qrt_contraction_problem *problem, int operand, int64_t depth) {
    const int first = problem->batches + problem->rows;
    int64_t *steps = malloc((size_t)(depth + 1) * sizeof *steps);
    position p = position_at(problem, first, first + problem->depth, 0);
    for (int64_t i = 0; steps && i < depth; i++, advance(&p))
        steps[i] = p.at[operand];
    return steps;
}

qrt_status qrt_contraction_prepare(qrt_contraction_args *args) {
    const qrt_contraction_problem *problem = &args->problem;
    qrt_contraction_plan *plan = &args->plan;
    const int rows = problem->batches, depth = rows + problem->rows, column = column_loop(problem);
    plan->batches = iterations(problem, 0, rows);
    plan->rows = iterations(problem, rows, depth);
    plan->depth = iterations(problem, depth, column);
    plan->columns = problem->extent[column];
    if (plan->batches == 0 || plan->rows == 0 || plan->columns == 0)
        return QRT_OK; /* the other extents may be too large to allocate anything for */
    plan->a_steps = steps_of(problem, A, plan->depth);
    plan->b_steps = steps_of(problem, B, plan->depth);
    if (!plan->a_steps || !plan->b_steps)
        return QRT_NO_MEMORY;
    return problem->b_constant ? pack_constant(args) : QRT_OK;
}

int qrt_contraction_packed(const void *pointer, qrt_packed_part *to) {
    const qrt_contraction_args *args = pointer;
    const qrt_contraction_plan *plan = &args->plan;
    if (!plan->panels)
        return 0;
    to[0] = (qrt_packed_part){plan->panels, plan->batches * batch_floats(plan) * (int64_t)sizeof(float)};
    return 1;
}

void qrt_contraction_release(void *pointer) {
    qrt_contraction_args *args = pointer;
    free((void *)args->plan.a_steps);
    free((void *)args->plan.b_steps);
    if (!args->plan.stored)
        qrt_aligned_free((void *)args->plan.panels);
    args->plan.panels = NULL;
}

/* ---- running ---- */

typedef struct {
    const qrt_contraction_args *args;
    const float *a, *b, *init; /* with the offsets of the problem; b is NULL where it is packed */
    float *out;
    int64_t blocks, rows_of_block; /* blocks of rows */
    int64_t groups, group_panels;  /* groups of panels */
} contraction_call;

static void run_rows(const contraction_call *call, const position *batch, int64_t row, int64_t end, int64_t panel,
                     const float *b) {
    const qrt_contraction_problem *problem = &call->args->problem;
    const qrt_contraction_plan *plan = &call->args->plan;
    const qrt_kernels *kernels = call->args->kernels;
    const int column = column_loop(problem);
    const int64_t first = panel * NR, columns = panel_columns(plan, panel);
    const int64_t a_column = problem->stride[A][column], init_column = problem->stride[INIT][column];
    qrt_contraction_tile tile = {
        .columns = (int)columns,
        .width = (int)qrt_round_up(columns, QRT_CONTRACTION_ALIGN),
        .fused = problem->fused,
        .a_has_columns = a_column == 1,
        .init_has_columns = init_column == 1,
        .depth = plan->depth,
        .a_steps = plan->a_steps,
        .b = b,
    };
    const float *a = call->a + batch->at[A] + first * a_column;
    const float *init = call->init + batch->at[INIT] + first * init_column;
    float *out = call->out + batch->at[OUT] + first;
    position p = position_at(problem, problem->batches, problem->batches + problem->rows, row);
    for (; row < end; row += tile.rows) {
        tile.rows = (int)qrt_min(MR, end - row);
        for (int i = 0; i < tile.rows; i++, advance(&p)) {
            tile.a[i] = a + p.at[A];
            tile.init[i] = init + p.at[INIT];
            tile.out[i] = out + p.at[OUT];
        }
        (problem->integers ? kernels->integer_tile : kernels->contraction_tile)(&tile);
    }
}

static qrt_status run_task(void *context, int64_t number) {
    const contraction_call *call = context;
    const qrt_contraction_problem *problem = &call->args->problem;
    const qrt_contraction_plan *plan = &call->args->plan;
    const int64_t group = number % call->groups, block = number / call->groups % call->blocks;
    const int64_t row = block * call->rows_of_block, end = qrt_min(row + call->rows_of_block, plan->rows);
    const int64_t panel = group * call->group_panels,
                  end_panel = qrt_min(panel + call->group_panels, panel_count(plan));
    const int64_t batch_number = number / call->groups / call->blocks;
    const position batch = position_at(problem, 0, problem->batches, batch_number);
    float *packed = NULL;
    if (call->b && !(packed = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(plan->depth * NR) * sizeof *packed)))
        return QRT_NO_MEMORY;
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t i = panel; i < end_panel; i++) {
        if (packed)
            pack_panel(call->args, call->b + batch.at[B], i, packed);
        const float *b = packed ? packed : plan->panels + batch_number * batch_floats(plan) + i * NR * plan->depth;
        run_rows(call, &batch, row, end, i, b);
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

/* Rows are shared where b is packed already; where each task packs its panel, panels are, and rows only if there are
 * too few of them. */
static void cut(contraction_call *call, int threads) {
    const qrt_contraction_plan *plan = &call->args->plan;
    const int64_t panels = panel_count(plan), tiles = qrt_ceil_div(plan->rows, MR);
    const int64_t wanted = qrt_ceil_div(threads > 1 ? TASKS_PER_THREAD * threads : 1, plan->batches);
    const int64_t tile_bytes = MR * (int64_t)sizeof(float) * qrt_max(plan->depth, 1);
    int64_t block = tiles;
    if (!call->b) {
        block = qrt_max(1, qrt_min(MOST_TILES, BLOCK_BYTES / tile_bytes));
        block = qrt_max(1, qrt_min(block, tiles / wanted));
    }
    call->blocks = qrt_ceil_div(tiles, block);
    call->groups = call->b ? panels : qrt_min(panels, qrt_ceil_div(wanted, call->blocks));
    call->group_panels = qrt_ceil_div(panels, call->groups);
    call->groups = qrt_ceil_div(panels, call->group_panels);
    if (call->b && plan->batches * panels < threads) {
        block = qrt_ceil_div(tiles, qrt_min(tiles, threads));
        call->blocks = qrt_ceil_div(tiles, block);
    }
    call->rows_of_block = block * MR;
}

qrt_status qrt_contraction(const void *pointer, qrt_scratch *scratch) {
    const qrt_contraction_args *args = pointer;
    const qrt_contraction_problem *problem = &args->problem;
    const qrt_contraction_plan *plan = &args->plan;
    if (plan->batches == 0 || plan->rows == 0 || plan->columns == 0)
        return QRT_OK;
    void *const *operand = scratch->operands;
    contraction_call call = {.args = args, .a = (const float *)*operand++ + problem->offset[A]};
    if (!plan->panels)
        call.b = (const float *)*operand++ + problem->offset[B];
    call.init = (problem->init_constant ? problem->init_constant : (const float *)*operand++) + problem->offset[INIT];
    call.out = (float *)*operand + problem->offset[OUT];
    const double work = (double)plan->batches * (double)plan->rows * (double)plan->columns * (double)plan->depth;
    const int threads = work < SERIAL_WORK ? 1 : scratch->threads;
    cut(&call, threads);
    return qrt_parallel(plan->batches * call.blocks * call.groups, run_task, &call, threads);
}
