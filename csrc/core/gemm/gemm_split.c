/* A GEMM of 16-bit operands by the 8-bit microkernel. v - z = 256 * (high - z_high) + (low - z_low), where low is the
 * unsigned low byte and high is the rest, with the sign of the whole. So the sum over K is made of sums of products of
 * parts, each times a power of 256: two exact 8-bit GEMMs where one operand has 16 bits, four where both have. */
#include <stdlib.h>
#include <string.h>

#include "core/float_control.h"
#include "core/gemm/gemm.h"

/* The most sums of each product, and the most bytes of parts of a, in a block of rows. */
#define BLOCK_SUMS (64 * 1024)
#define BLOCK_BYTES (256 * 1024)
#define CHUNK 16 /* values of an inner loop that the compiler turns into vectors */

static int parts_of(qrt_container container) {
    return container > QRT_U8 ? QRT_SPLIT_PARTS : 1;
}

static qrt_container container_of(qrt_container whole, int part) {
    if (parts_of(whole) == 1)
        return whole;
    return part == 0 || whole == QRT_U16 ? QRT_U8 : QRT_I8;
}

static int64_t part_of(qrt_container whole, int part, int64_t value) {
    return parts_of(whole) == 1 ? value : part == 0 ? value & 255 : value >> 8;
}

bool qrt_gemm_splits(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    return args->kernels->gemm->splits && problem->k_block == 0 && problem->a <= QRT_U16 && problem->b <= QRT_U16 &&
           args->plan.a_max <= (parts_of(problem->a) > 1 ? UINT16_MAX : UINT8_MAX) &&
           args->plan.b_max <= (parts_of(problem->b) > 1 ? UINT16_MAX : UINT8_MAX) && problem->bias != QRT_BIAS_F32 &&
           problem->k <= INT32_MAX / (255 * 255);
}

/* ---- binding ---- */

static int64_t *part_of_zero_points(qrt_container whole, int part, const int64_t *zero_point, int64_t count) {
    int64_t *to = malloc((size_t)count * sizeof *to);
    for (int64_t i = 0; to && i < count; i++)
        to[i] = part_of(whole, part, zero_point[i]);
    return to;
}

/* Copies the low or the high bytes of `count` 16-bit values. */
static void copy_part(const uint16_t *restrict from, int part, int64_t count, uint8_t *restrict to) {
    int64_t i = 0;
    for (; i + CHUNK <= count; i += CHUNK)
        for (int c = 0; c < CHUNK; c++)
            to[i + c] = (uint8_t)(from[i + c] >> 8 * part);
    for (; i < count; i++)
        to[i] = (uint8_t)(from[i] >> 8 * part);
}

/* Bytes between rows of the parts of a: an odd number of cache lines, so that one column of many rows is in different
 * sets of L1. */
static int64_t row_bytes(const qrt_gemm_problem *problem) {
    return qrt_round_up(problem->k, 2 * QRT_ALIGNMENT) + QRT_ALIGNMENT;
}

static int64_t padded_columns(const qrt_gemm_problem *problem) {
    return qrt_round_up(problem->n, 16);
}

static qrt_status bind_product(const qrt_gemm_args *args, qrt_gemm_split *split, int i, int j, const char *b) {
    static const int32_t multiplier[1] = {1 << 30}, shift[1] = {30}, none_i32[1] = {0};
    static const int64_t none[1] = {0};
    qrt_gemm_problem problem = args->problem;
    if (i)
        problem.earlier = &split->product[0][j]; /* both parts of a use the same panels */
    problem.part = split->b_parts > 1 ? j + 1 : 0;
    problem.window = NULL;
    problem.a = container_of(args->problem.a, i);
    problem.b = container_of(args->problem.b, j);
    problem.batch = 1;
    problem.a_index = problem.b_index = NULL;
    problem.a_row_stride = row_bytes(&args->problem);
    problem.a_zero_point = split->a_zero_point[i];
    problem.b_zero_point = split->b_zero_point[j];
    if (split->b_parts > 1) {
        problem.b_k_stride /= QRT_SPLIT_PARTS;
        problem.b_n_stride /= QRT_SPLIT_PARTS;
        problem.b_matrix_stride /= QRT_SPLIT_PARTS;
    }
    problem.out_row_stride = padded_columns(&args->problem) * (int64_t)sizeof(int32_t);
    problem.requant = (qrt_requant){.rule = QRT_FIXED,
                                    .container = QRT_I32,
                                    .storage_min = INT32_MIN,
                                    .storage_max = INT32_MAX,
                                    .multiplier = multiplier,
                                    .shift = shift,
                                    .zero_point = none,
                                    .zero_point_i32 = none_i32,
                                    .shift_min = 30,
                                    .shift_max = 30};
    memset(problem.requant_steps, 0, sizeof problem.requant_steps);
    problem.bias = QRT_BIAS_NONE;
    problem.b_constant = b;
    qrt_gemm_args *product = &split->product[i][j];
    *product = (qrt_gemm_args){.kernels = args->kernels, .problem = problem};
    qrt_gemm_begin(product);
    const qrt_status status = qrt_narrow_prepare(product);
    product->problem.stored = NULL;
    return status;
}

int qrt_split_packed(const qrt_gemm_split *split, qrt_packed_part *to) {
    int count = 0;
    for (int j = 0; j < split->b_parts; j++)
        for (int i = 0; i < split->a_parts; i++)
            if (i == 0 || !qrt_pack_alike(&split->product[0][j], &split->product[i][j]))
                count += qrt_narrow_packed(&split->product[i][j], to + count);
    return count;
}

void qrt_split_free(qrt_gemm_split *split) {
    if (!split)
        return;
    for (int i = 0; i < QRT_SPLIT_PARTS; i++) {
        for (int j = 0; j < QRT_SPLIT_PARTS; j++)
            qrt_narrow_release(&split->product[i][j]);
        free(split->a_zero_point[i]);
        free(split->b_zero_point[i]);
    }
    free(split);
}

static qrt_status bind_products(const qrt_gemm_args *args, qrt_gemm_split *split, const char *b) {
    const int64_t count = args->problem.b_matrices * args->problem.n * args->problem.k;
    for (int j = 0; j < split->b_parts; j++) {
        uint8_t *part = split->b_parts > 1 ? malloc((size_t)qrt_max(count, 1)) : NULL;
        qrt_status status = split->b_parts > 1 && !part ? QRT_NO_MEMORY : QRT_OK;
        if (part)
            copy_part((const uint16_t *)b, j, count, part);
        for (int i = 0; i < split->a_parts && status == QRT_OK; i++)
            status = bind_product(args, split, i, j, part ? (const char *)part : b);
        for (int i = 0; i < split->a_parts; i++)
            split->product[i][j].problem.b_constant = b; /* packed by now: says only that b is a constant */
        free(part);
        if (status != QRT_OK)
            return status;
    }
    return QRT_OK;
}

qrt_status qrt_split_new(const qrt_gemm_args *args, const char *b, qrt_gemm_split **to) {
    const qrt_gemm_problem *problem = &args->problem;
    qrt_gemm_split *split = *to = calloc(1, sizeof *split);
    if (!split)
        return QRT_NO_MEMORY;
    split->a_parts = parts_of(problem->a);
    split->b_parts = parts_of(problem->b);
    for (int i = 0; i < QRT_SPLIT_PARTS; i++) {
        split->a_zero_point[i] = part_of_zero_points(problem->a, i, problem->a_zero_point, qrt_a_zero_points(problem));
        split->b_zero_point[i] = part_of_zero_points(problem->b, i, problem->b_zero_point, qrt_b_zero_points(problem));
        if (!split->a_zero_point[i] || !split->b_zero_point[i])
            return QRT_NO_MEMORY;
    }
    return bind_products(args, split, b);
}

/* ---- running ---- */

/* The tasks of a call share this. A task is a block of rows. */
typedef struct {
    qrt_gemm_call call;
    const qrt_gemm_problem *problem;
    const qrt_gemm_split *split;
    int64_t rows, row_blocks; /* rows of a task, and the number of such blocks */
    int threads;              /* threads that each product of a task uses */
} tasks;

typedef struct {
    uint8_t *parts; /* parts of a, [part][row] */
    int32_t *sums;  /* products, [part of a][part of b][row][column] */
    int32_t *narrow;
    int64_t *acc; /* sums of one row */
    char *patch;
} workspace;

static size_t lay_out(const tasks *t, char *base, workspace *to) {
    const int64_t columns = padded_columns(t->problem), products = t->split->a_parts * t->split->b_parts;
    const int64_t bytes[] = {t->split->a_parts * t->rows * row_bytes(t->problem),
                             products * t->rows * columns * (int64_t)sizeof(int32_t),
                             columns * (int64_t)sizeof(int32_t), columns * (int64_t)sizeof(int64_t),
                             t->problem->k * qrt_container_size(t->problem->a)};
    char *part[5];
    size_t used = 0;
    for (int i = 0; i < 5; i++) {
        part[i] = base + used;
        used += (size_t)qrt_round_up(bytes[i], QRT_ALIGNMENT);
    }
    *to = (workspace){(uint8_t *)part[0], (int32_t *)part[1], (int32_t *)part[2], (int64_t *)part[3], part[4]};
    return used;
}

static void split_rows(const tasks *t, const workspace *work, int64_t batch, int64_t row, int64_t rows) {
    const int64_t stride = row_bytes(t->problem), k = t->problem->k;
    for (int64_t i = 0; i < rows; i++) {
        const void *values = qrt_a_row(&t->call, batch, row + i, work->patch);
        if (t->split->a_parts == 1)
            memcpy(work->parts + i * stride, values, (size_t)k);
        else
            for (int part = 0; part < QRT_SPLIT_PARTS; part++)
                copy_part(values, part, k, work->parts + (part * t->rows + i) * stride);
    }
}

static qrt_status run_products(const tasks *t, const workspace *work, int64_t batch, int64_t row, int64_t rows) {
    const int64_t matrix = qrt_b_matrix(t->problem, batch);
    const int64_t zero_point = qrt_a_zero_point_index(t->problem, batch, row);
    int32_t *sums = work->sums;
    for (int a = 0; a < t->split->a_parts; a++)
        for (int b = 0; b < t->split->b_parts; b++, sums += t->rows * padded_columns(t->problem)) {
            qrt_gemm_args product = t->split->product[a][b];
            product.problem.m = rows;
            product.problem.a_matrices = 1;
            product.problem.a_zero_point += zero_point;
            product.problem.b_index = &matrix;
            product.plan.turns = NULL; /* another product has been in L2 since the last call */
            const qrt_gemm_call call = {.args = &product,
                                        .a = (const char *)work->parts + a * t->rows * row_bytes(t->problem),
                                        .b = product.problem.b_constant,
                                        .out = (char *)sums};
            const qrt_status status = qrt_narrow_run(&call, qrt_gemm_threads(&product.problem, t->threads));
            if (status != QRT_OK)
                return status;
        }
    return QRT_OK;
}

/* Adds the products up by their weights. Where one operand has 16 bits there are two, low and high. Where both have,
 * there are four, and the middle two have the same weight. */
static void add_products(const tasks *t, const int32_t *sums, int64_t *acc) {
    const int64_t count = t->problem->n, product = t->rows * padded_columns(t->problem);
    if (t->split->a_parts + t->split->b_parts == QRT_SPLIT_PARTS + 1)
        for (int64_t i = 0; i < count; i++)
            acc[i] = sums[i] + sums[product + i] * (int64_t)256;
    else
        for (int64_t i = 0; i < count; i++)
            acc[i] = sums[i] + ((int64_t)sums[product + i] + sums[2 * product + i]) * 256 +
                     sums[3 * product + i] * (int64_t)65536;
}

/* Writes the sums as 32 bits. Returns whether all of them fit. */
static bool narrow_sums(const int64_t *acc, int64_t count, int32_t *to) {
    int64_t outside = 0;
    for (int64_t i = 0; i < count; i++) {
        to[i] = (int32_t)acc[i];
        outside |= acc[i] ^ to[i];
    }
    return outside == 0;
}

static qrt_status store_row(const tasks *t, const workspace *work, int64_t batch, int64_t row) {
    const qrt_gemm_problem *problem = t->problem;
    const qrt_kernels *kernels = t->call.args->kernels;
    const int n = (int)problem->n;
    const qrt_status status = problem->bias == QRT_BIAS_NONE ? QRT_OK : qrt_add_bias(&t->call, batch, 0, n, work->acc);
    if (status != QRT_OK)
        return status;
    const int64_t parameter = qrt_parameter_of(problem, batch, row, 0), step = problem->requant_steps[2];
    void *target = qrt_output_at(&t->call, batch, row, 0);
    if (narrow_sums(work->acc, n, work->narrow))
        kernels->store(&problem->requant, work->narrow, 0, 1, n, target, 0, parameter, 0, step);
    else
        kernels->store_wide(&problem->requant, work->acc, 0, 1, n, target, 0, parameter, 0, step);
    return QRT_OK;
}

static qrt_status split_task(void *context, int64_t task) {
    const tasks *t = context;
    const int64_t batch = task / t->row_blocks, row = task % t->row_blocks * t->rows;
    const int64_t rows = qrt_min(t->rows, t->problem->m - row);
    static char base[1];
    workspace work;
    /* The products use the task's slot, so this one is the call's. Nothing else uses that, because b is packed
     * already. */
    char *memory = qrt_workspace(QRT_WORKSPACE_CALL, lay_out(t, base, &work));
    if (!memory)
        return QRT_NO_MEMORY;
    lay_out(t, memory, &work);
    split_rows(t, &work, batch, row, rows);
    qrt_status status = run_products(t, &work, batch, row, rows);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t i = 0; i < rows && status == QRT_OK; i++) {
        add_products(t, work.sums + i * padded_columns(t->problem), work.acc);
        status = store_row(t, &work, batch, row + i);
    }
    qrt_float_leave(saved);
    return status;
}

static qrt_status run(const qrt_gemm_call *call, const qrt_gemm_split *split, int threads) {
    const qrt_gemm_problem *problem = &call->args->problem;
    const int64_t mr = call->args->kernels->gemm->mr;
    const int64_t rows = qrt_min(BLOCK_SUMS / problem->n, BLOCK_BYTES / (split->a_parts * row_bytes(problem)));
    tasks t = {.call = *call, .problem = problem, .split = split};
    const int64_t wanted = qrt_ceil_div(2 * threads, problem->batch);
    t.rows = qrt_max(1, rows / mr) * mr;
    if (threads > 1)
        t.rows = qrt_min(t.rows, qrt_round_up(qrt_ceil_div(problem->m, wanted), mr));
    t.rows = qrt_min(t.rows, problem->m);
    t.row_blocks = qrt_ceil_div(problem->m, t.rows);
    const int64_t count = problem->batch * t.row_blocks;
    t.threads = count < threads ? threads : 1;
    return qrt_parallel(count, split_task, &t, count < threads ? 1 : threads);
}

qrt_status qrt_split_run(const qrt_gemm_call *call, int threads) {
    if (call->args->plan.split)
        return run(call, call->args->plan.split, threads);
    qrt_gemm_split *split;
    qrt_status status = qrt_split_new(call->args, call->b, &split);
    if (status == QRT_OK)
        status = run(call, split, threads);
    qrt_split_free(split);
    return status;
}
