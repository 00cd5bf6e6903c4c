/* Matrix products in float32: this file packs operands and shares columns and rows among threads. The arithmetic is in
 * the rows float_tile, float_tree, float_axpy and float_short. */
#include "core/float_control.h"
#include "core/product.h"

#define LANES QRT_FLOAT_LANES
#define MR QRT_FLOAT_MR
/* Rows of A are packed in blocks of up to TILES tiles, which stay in a share of L2 while all panels pass by. */
#define TILES 4
#define BLOCK_BYTES (256 * 1024)
/* Bytes of w that a task packs. With few rows there is one block of them, which reads w once. With many rows each task
 * packs all rows of A again, so that larger tasks pay. */
#define FEW_ROWS (MR * TILES)
#define FEW_ROWS_BYTES (512 * 1024)
#define MANY_ROWS_BYTES (4 * 1024 * 1024)
/* Rows of w lie in pages of their own, which no hardware stream crosses: packing prefetches so many rows ahead. */
#define ROWS_AHEAD 8
#define AXPY_ROWS 4
#define AXPY_PANELS 32 /* 4 KiB of a row of w; the sums of a row for so many panels stay in L2 */
#define SHORT_K 192
#define SHORT_BLOCK 64 /* rows that are padded with zeros at a time, where K is not a multiple of the lanes */

/* ---- binding ---- */

/* Row k of w is step k / LANES of lane k % LANES. The inner loop goes over panels, so that w is read along its rows. */
static void pack_panels(const qrt_float_matmul_args *args, const float *w, int64_t first, int64_t end, float *panels) {
    const qrt_float_plan *plan = &args->plan;
    const int64_t n = args->problem.n;
    for (int64_t k = 0; k < plan->steps * LANES; k++) {
        float *to = panels + k % LANES * plan->lane_stride + k / LANES * NR;
        for (int64_t panel = first; panel < end; panel++, to += plan->panel_floats) {
            const int64_t columns = k < args->problem.k ? qrt_min(NR, n - panel * NR) : 0;
            const float *from = w + k * n + panel * NR;
            __builtin_prefetch(from + ROWS_AHEAD * n);
            __builtin_prefetch(from + ROWS_AHEAD * n + NR / 2);
            if (columns == NR) {
                memcpy(to, from, NR * sizeof *to);
            } else {
                memcpy(to, from, (size_t)columns * sizeof *to);
                memset(to + columns, 0, (size_t)(NR - columns) * sizeof *to);
            }
        }
    }
}

qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args) {
    const qrt_product *problem = &args->problem;
    const int64_t steps = qrt_ceil_div(problem->k, LANES), tile_bytes = MR * LANES * (int64_t)sizeof(float) * steps;
    qrt_float_plan *plan = &args->plan;
    plan->form = problem->k <= SHORT_K ? QRT_FLOAT_SHORT : QRT_FLOAT_TILES;
    if (!problem->w_constant && problem->m <= AXPY_ROWS)
        plan->form = QRT_FLOAT_AXPY;
    plan->steps = steps;
    plan->lane_stride = steps * NR + QRT_FLOAT_PAD;
    plan->panel_floats = plan->lane_stride * LANES;
    plan->tiles = qrt_max(1, qrt_min(TILES, BLOCK_BYTES / qrt_max(tile_bytes, 1)));
    if (!problem->w_constant || problem->n == 0) /* without columns, K may be too large to allocate anything for */
        return QRT_OK;
    const int64_t panels = qrt_product_panels(problem);
    const int64_t bytes = panels * plan->panel_floats * (int64_t)sizeof(float);
    plan->panels = qrt_take_stored(problem->stored, bytes);
    plan->stored = plan->panels;
    if (plan->stored)
        return QRT_OK;
    float *packed = qrt_aligned_alloc((size_t)bytes);
    if (!packed)
        return QRT_NO_MEMORY;
    memset(packed, 0, (size_t)bytes); /* what is saved has no bytes of other memory */
    pack_panels(args, problem->w_constant, 0, panels, packed);
    plan->panels = packed;
    return QRT_OK;
}

int qrt_float_matmul_packed(const void *pointer, qrt_packed_part *to) {
    const qrt_float_matmul_args *args = pointer;
    const qrt_float_plan *plan = &args->plan;
    if (!plan->panels)
        return 0;
    to[0] = (qrt_packed_part){plan->panels,
                              qrt_product_panels(&args->problem) * plan->panel_floats * (int64_t)sizeof(float)};
    return 1;
}

void qrt_float_matmul_share(void *pointer, const void *panels) {
    qrt_float_matmul_args *args = pointer;
    qrt_float_matmul_release(args);
    args->plan.panels = panels;
    args->plan.stored = true;
}

void qrt_float_matmul_release(void *pointer) {
    qrt_float_matmul_args *args = pointer;
    if (!args->plan.stored)
        qrt_aligned_free((void *)args->plan.panels);
    args->plan.panels = NULL;
}

/* ---- running ---- */

typedef struct {
    const qrt_float_matmul_args *args;
    qrt_product_call product;
} float_call;

typedef struct {
    qrt_product_task at;
    float *w; /* packed in this call */
    float *a, *lanes;
} workspace;

/* The number of floats from lane to lane in a packed block of `tiles` tiles of A. */
static int64_t block_stride(const qrt_float_plan *plan, int64_t tiles) {
    return tiles * plan->steps * MR + QRT_FLOAT_PAD;
}

/* The number of floats from lane to lane in a task's sums. */
static int64_t axpy_stride(const float_call *call) {
    return call->product.panels * NR + QRT_FLOAT_PAD;
}

/* Divides the workspace of a task. Every part begins at a cache line. Returns false without memory. */
static bool lay_out(const float_call *call, workspace *to) {
    const qrt_float_plan *plan = &call->args->plan;
    const bool axpy = plan->form == QRT_FLOAT_AXPY, tiles = plan->form == QRT_FLOAT_TILES;
    const int64_t w = plan->panels || axpy ? 0 : call->product.panels * plan->panel_floats;
    const int64_t a = LANES * (axpy ? 0 : tiles ? block_stride(plan, plan->tiles) : SHORT_BLOCK * plan->steps);
    const int64_t lanes = LANES * (axpy    ? call->args->problem.m * axpy_stride(call)
                                   : tiles ? plan->tiles * MR * NR + QRT_FLOAT_PAD
                                           : 0);
    to->w = qrt_workspace(QRT_WORKSPACE_TASK, (size_t)(w + a + lanes) * sizeof *to->w);
    if (!to->w)
        return false;
    to->a = to->w + w;
    to->lanes = to->a + a;
    return true;
}

static const float *panel_at(const qrt_float_plan *plan, const workspace *work, int64_t panel) {
    return plan->panels ? plan->panels + panel * plan->panel_floats
                        : work->w + (panel - work->at.panel) * plan->panel_floats;
}

static void run_panel(const float_call *call, const workspace *work, int64_t row, int64_t rows, int64_t panel) {
    const qrt_float_matmul_args *args = call->args;
    const int64_t n = args->problem.n, tiles = qrt_ceil_div(rows, MR), column = panel * NR;
    const int64_t a_stride = block_stride(&args->plan, tiles), sums_stride = tiles * MR * NR + QRT_FLOAT_PAD;
    const float *b = panel_at(&args->plan, work, panel), *bias = call->product.bias;
    for (int64_t lane = 0; lane < LANES; lane++)
        for (int64_t tile = 0; tile < tiles; tile++)
            args->kernels->float_tile(work->a + lane * a_stride + tile * args->plan.steps * MR,
                                      b + lane * args->plan.lane_stride, args->plan.steps,
                                      (int)qrt_min(MR, rows - tile * MR),
                                      work->lanes + lane * sums_stride + tile * MR * NR);
    args->kernels->float_tree(work->lanes, sums_stride, rows, (int)qrt_min(NR, n - column), bias ? bias + column : NULL,
                              call->product.out + row * n + column, n);
}

/* Multiplies blocks of rows of A, packed as [lane][tile][step][row], by all panels of the task. */
static void run_tiles(const float_call *call, const workspace *work) {
    const qrt_float_plan *plan = &call->args->plan;
    const int64_t k = call->args->problem.k, end = work->at.end_row;
    for (int64_t row = work->at.row; row < end; row += plan->tiles * MR) {
        const int64_t rows = qrt_min(plan->tiles * MR, end - row);
        const int64_t stride = block_stride(plan, qrt_ceil_div(rows, MR));
        for (int64_t i = 0; i < rows; i += MR)
            call->args->kernels->float_rows(call->product.a + (row + i) * k, k, (int)qrt_min(MR, rows - i), k,
                                            work->a + i * plan->steps, stride);
        for (int64_t panel = work->at.panel; panel < work->at.end_panel; panel++)
            run_panel(call, work, row, rows, panel);
    }
}

/* Copies `rows` rows of K values and pads each with zeros. */
static void fill_rows(const qrt_float_matmul_args *args, const float *a, int64_t rows, float *to) {
    const int64_t k = args->problem.k, padded = args->plan.steps * LANES;
    for (int64_t i = 0; i < rows; i++, to += padded) {
        memcpy(to, a + i * k, (size_t)k * sizeof *to);
        memset(to + k, 0, (size_t)(padded - k) * sizeof *to);
    }
}

static void run_short(const float_call *call, const workspace *work) {
    const qrt_float_matmul_args *args = call->args;
    const int64_t n = args->problem.n, end = work->at.end_row;
    const float *bias = call->product.bias;
    const bool whole = args->problem.k % LANES == 0;
    qrt_float_panel p = {.a_stride = args->plan.steps * LANES,
                         .steps = args->plan.steps,
                         .b_stride = args->plan.lane_stride,
                         .out_stride = n};
    for (int64_t row = work->at.row; row < end; row += p.rows) {
        p.rows = whole ? end - row : qrt_min(SHORT_BLOCK, end - row);
        p.a = call->product.a + row * args->problem.k;
        if (!whole) {
            fill_rows(args, p.a, p.rows, work->a);
            p.a = work->a;
        }
        for (int64_t panel = work->at.panel, column = panel * NR; panel < work->at.end_panel; panel++, column += NR) {
            p.b = panel_at(&args->plan, work, panel);
            p.columns = (int)qrt_min(NR, n - column);
            p.bias = bias ? bias + column : NULL;
            p.out = call->product.out + row * n + column;
            args->kernels->float_short(&p);
        }
    }
}

/* Multiplies a few rows by w where it lies. The sums of all lanes, [row][lane][column], stay in L2 while w passes
 * by. */
static void run_axpy(const float_call *call, const workspace *work) {
    static const float zeros[AXPY_PANELS * NR];
    const qrt_float_matmul_args *args = call->args;
    const qrt_product *problem = &args->problem;
    const float *a = call->product.a, *w = call->product.w, *bias = call->product.bias;
    const int64_t stride = axpy_stride(call), first = work->at.panel * NR, n = problem->n;
    const int64_t columns = qrt_min(work->at.end_panel * NR, n) - first;
    memset(work->lanes, 0, (size_t)(problem->m * LANES * stride) * sizeof(float));
    for (int64_t k = 0; k < args->plan.steps * LANES; k++) {
        const bool inside = k < problem->k; /* past K zeros are multiplied too: their products may turn -0 into +0 */
        const float *from = inside ? w + k * n + first : zeros;
        for (int64_t row = 0; row < problem->m; row++)
            args->kernels->float_axpy(inside ? a[row * problem->k + k] : 0, from, columns,
                                      work->lanes + (row * LANES + k % LANES) * stride);
    }
    for (int64_t row = 0; row < problem->m; row++)
        for (int64_t c = 0; c < columns; c += NR)
            args->kernels->float_tree(work->lanes + row * LANES * stride + c, stride, 1, (int)qrt_min(NR, columns - c),
                                      bias ? bias + first + c : NULL, call->product.out + row * n + first + c, n);
}

static qrt_status run_task(void *context, int64_t number) {
    static void (*const forms[])(const float_call *, const workspace *) = {
        [QRT_FLOAT_AXPY] = run_axpy, [QRT_FLOAT_SHORT] = run_short, [QRT_FLOAT_TILES] = run_tiles};
    const float_call *call = context;
    const qrt_float_plan *plan = &call->args->plan;
    workspace work = {.at = qrt_product_task_at(&call->args->problem, &call->product, number)};
    if (!lay_out(call, &work))
        return QRT_NO_MEMORY;
    const qrt_float_state saved = qrt_float_enter();
    if (!plan->panels && plan->form != QRT_FLOAT_AXPY)
        pack_panels(call->args, call->product.w, work.at.panel, work.at.end_panel, work.w);
    forms[plan->form](call, &work);
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_float_matmul(const void *pointer, qrt_scratch *scratch) {
    const qrt_float_matmul_args *args = pointer;
    const qrt_product *problem = &args->problem;
    const qrt_float_plan *plan = &args->plan;
    if (problem->m == 0 || problem->n == 0)
        return QRT_OK;
    float_call call = {args, qrt_product_operands(problem, plan->panels, scratch)};
    const int64_t bytes = problem->m <= FEW_ROWS ? FEW_ROWS_BYTES : MANY_ROWS_BYTES;
    const int64_t most =
        plan->form == QRT_FLOAT_AXPY ? AXPY_PANELS : bytes / (plan->panel_floats * (int64_t)sizeof(float));
    return qrt_product_run(problem, &call.product, plan->tiles * MR, most, run_task, &call);
}
