/* A GEMM of 16-bit operands by the 8-bit microkernel: v - z = 256 * (high - z_high) + (low - z_low), where low is the
 * unsigned low byte and high has the sign of the whole. The sum over K is that of the products of parts, each times a
 * power of 256: two exact 8-bit GEMMs where one operand has 16 bits, four where both have. */
#include <stdlib.h>
#include <string.h>

#include "core/float_control.h"
#include "core/gemm/gemm.h"

#define PARTS 2
/* Of a block of rows: the sums of each product, the parts of a. */
#define BLOCK_SUMS (64 * 1024)
#define BLOCK_BYTES (256 * 1024)
#define CHUNK 16 /* values of a loop that the compiler makes vectors of */

struct qrt_gemm_split {
    int a_parts, b_parts;
    int64_t *a_zero_point[PARTS], *b_zero_point[PARTS];
    qrt_gemm_args product[PARTS][PARTS]; /* of the rows of one block, raw */
};

static int parts_of(qrt_container container) {
    return container > QRT_U8 ? PARTS : 1;
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
    return args->kernels->gemm.splits && args->k_block == 0 && args->a <= QRT_U16 && args->b <= QRT_U16 &&
           args->a_max <= UINT16_MAX && args->b_max <= UINT16_MAX && args->bias != QRT_BIAS_F32 &&
           args->k <= INT32_MAX / (255 * 255);
}

/* ---- binding ---- */

static int64_t *part_of_zero_points(qrt_container whole, int part, const int64_t *zero_point, int64_t count) {
    int64_t *to = malloc((size_t)count * sizeof *to);
    for (int64_t i = 0; to && i < count; i++)
        to[i] = part_of(whole, part, zero_point[i]);
    return to;
}

/* Every second byte of `count` 16-bit values. */
static void copy_part(const uint16_t *restrict from, int part, int64_t count, uint8_t *restrict to) {
    int64_t i = 0;
    for (; i + CHUNK <= count; i += CHUNK)
        for (int c = 0; c < CHUNK; c++)
            to[i + c] = (uint8_t)(from[i + c] >> 8 * part);
    for (; i < count; i++)
        to[i] = (uint8_t)(from[i] >> 8 * part);
}

/* Bytes between rows of the parts of a: an odd number of cache lines, so that a column of them is in different sets. */
static int64_t row_bytes(const qrt_gemm_args *args) {
    return qrt_round_up(args->k, 2 * QRT_ALIGNMENT) + QRT_ALIGNMENT;
}

static qrt_status bind_product(const qrt_gemm_args *args, qrt_gemm_split *split, int i, int j, const char *b) {
    static const int32_t multiplier[1] = {1 << 30}, shift[1] = {30}, none_i32[1] = {0};
    static const int64_t none[1] = {0};
    qrt_gemm_args *product = &split->product[i][j];
    *product = *args;
    product->earlier = i ? &split->product[0][j] : NULL; /* the same panels */
    product->window = NULL;
    product->a = container_of(args->a, i);
    product->b = container_of(args->b, j);
    product->batch = 1;
    product->a_index = product->b_index = NULL;
    product->a_row_stride = row_bytes(args);
    product->a_zero_point = split->a_zero_point[i];
    product->b_zero_point = split->b_zero_point[j];
    if (split->b_parts > 1) {
        product->b_k_stride /= PARTS;
        product->b_n_stride /= PARTS;
        product->b_matrix_stride /= PARTS;
    }
    product->out_row_stride = qrt_round_up(args->n, 16) * (int64_t)sizeof(int32_t);
    product->requant = (qrt_requant){.rule = QRT_FIXED,
                                     .container = QRT_I32,
                                     .storage_min = INT32_MIN,
                                     .storage_max = INT32_MAX,
                                     .multiplier = multiplier,
                                     .shift = shift,
                                     .zero_point = none,
                                     .zero_point_i32 = none_i32,
                                     .shift_min = 30,
                                     .shift_max = 30};
    memset(product->requant_steps, 0, sizeof product->requant_steps);
    product->bias = QRT_BIAS_NONE;
    product->b_constant = b;
    return qrt_gemm_prepare(product);
}

void qrt_split_free(qrt_gemm_split *split) {
    if (!split)
        return;
    for (int i = 0; i < PARTS; i++) {
        for (int j = 0; j < PARTS; j++)
            qrt_gemm_release(&split->product[i][j]);
        free(split->a_zero_point[i]);
        free(split->b_zero_point[i]);
    }
    free(split);
}

static qrt_status bind_products(const qrt_gemm_args *args, qrt_gemm_split *split, const char *b) {
    const int64_t count = args->b_matrices * args->n * args->k;
    for (int j = 0; j < split->b_parts; j++) {
        uint8_t *part = split->b_parts > 1 ? malloc((size_t)qrt_max(count, 1)) : NULL;
        qrt_status status = split->b_parts > 1 && !part ? QRT_NO_MEMORY : QRT_OK;
        if (part)
            copy_part((const uint16_t *)b, j, count, part);
        for (int i = 0; i < split->a_parts && status == QRT_OK; i++)
            status = bind_product(args, split, i, j, part ? (const char *)part : b);
        for (int i = 0; i < split->a_parts; i++)
            split->product[i][j].b_constant = b; /* packed: what matters is that there is one */
        free(part);
        if (status != QRT_OK)
            return status;
    }
    return QRT_OK;
}

qrt_status qrt_split_new(const qrt_gemm_args *args, const char *b, qrt_gemm_split **to) {
    const int64_t a_count = 1 + args->a_zero_point_steps[0] * qrt_max(args->a_matrices - 1, 0) +
                            args->a_zero_point_steps[1] * qrt_max(args->m - 1, 0);
    const int64_t b_count = 1 + args->b_zero_point_steps[0] * qrt_max(args->b_matrices - 1, 0) +
                            args->b_zero_point_steps[2] * qrt_max(args->n - 1, 0);
    qrt_gemm_split *split = *to = calloc(1, sizeof *split);
    if (!split)
        return QRT_NO_MEMORY;
    split->a_parts = parts_of(args->a);
    split->b_parts = parts_of(args->b);
    for (int i = 0; i < PARTS; i++) {
        split->a_zero_point[i] = part_of_zero_points(args->a, i, args->a_zero_point, a_count);
        split->b_zero_point[i] = part_of_zero_points(args->b, i, args->b_zero_point, b_count);
        if (!split->a_zero_point[i] || !split->b_zero_point[i])
            return QRT_NO_MEMORY;
    }
    return bind_products(args, split, b);
}

/* ---- running ---- */

typedef struct {
    qrt_gemm_call call;
    const qrt_gemm_split *split;
    int64_t rows, row_blocks; /* of a task */
    int threads;              /* within a task */
} job;

typedef struct {
    uint8_t *parts; /* [part][row] of a */
    int32_t *sums;  /* [part of a][part of b][row][column] */
    int32_t *narrow;
    int64_t *acc; /* of one row */
    char *patch;
} workspace;

static int64_t columns_of(const job *j) {
    return qrt_round_up(j->call.args->n, 16);
}

static size_t lay_out(const job *j, char *base, workspace *to) {
    const qrt_gemm_args *args = j->call.args;
    const int64_t columns = columns_of(j), products = j->split->a_parts * j->split->b_parts;
    const int64_t bytes[] = {
        j->split->a_parts * j->rows * row_bytes(args), products * j->rows * columns * (int64_t)sizeof(int32_t),
        columns * (int64_t)sizeof(int32_t), columns * (int64_t)sizeof(int64_t), args->k * qrt_container_size(args->a)};
    char *part[5];
    size_t used = 0;
    for (int i = 0; i < 5; i++) {
        part[i] = base + used;
        used += (size_t)qrt_round_up(bytes[i], QRT_ALIGNMENT);
    }
    *to = (workspace){(uint8_t *)part[0], (int32_t *)part[1], (int32_t *)part[2], (int64_t *)part[3], part[4]};
    return used;
}

static void split_rows(const job *j, const workspace *work, int64_t batch, int64_t row, int64_t rows) {
    const qrt_gemm_args *args = j->call.args;
    const int64_t stride = row_bytes(args);
    for (int64_t i = 0; i < rows; i++) {
        const void *values = qrt_a_row(&j->call, batch, row + i, work->patch);
        if (j->split->a_parts == 1)
            memcpy(work->parts + i * stride, values, (size_t)args->k);
        else
            for (int part = 0; part < PARTS; part++)
                copy_part(values, part, args->k, work->parts + (part * j->rows + i) * stride);
    }
}

static qrt_status run_products(const job *j, const workspace *work, int64_t batch, int64_t row, int64_t rows) {
    const qrt_gemm_args *args = j->call.args;
    const int64_t matrix = qrt_b_matrix(args, batch);
    const int64_t zero_point =
        qrt_a_matrix(args, batch) * args->a_zero_point_steps[0] + row * args->a_zero_point_steps[1];
    int32_t *sums = work->sums;
    for (int a = 0; a < j->split->a_parts; a++)
        for (int b = 0; b < j->split->b_parts; b++, sums += j->rows * columns_of(j)) {
            qrt_gemm_args product = j->split->product[a][b];
            product.m = rows;
            product.a_matrices = 1;
            product.a_zero_point += zero_point;
            product.b_index = &matrix;
            void *operands[] = {work->parts + a * j->rows * row_bytes(args), sums};
            const qrt_status status = qrt_gemm(&product, &(qrt_scratch){operands, j->threads});
            if (status != QRT_OK)
                return status;
        }
    return QRT_OK;
}

/* Those of 8 by 16 bits, either way, are two products, low and high; of 16 by 16 four, the middle two of one weight. */
static void add_products(const job *j, const int32_t *sums, int64_t *acc) {
    const int64_t count = j->call.args->n, product = j->rows * columns_of(j);
    if (j->split->a_parts + j->split->b_parts == PARTS + 1)
        for (int64_t i = 0; i < count; i++)
            acc[i] = sums[i] + sums[product + i] * (int64_t)256;
    else
        for (int64_t i = 0; i < count; i++)
            acc[i] = sums[i] + ((int64_t)sums[product + i] + sums[2 * product + i]) * 256 +
                     sums[3 * product + i] * (int64_t)65536;
}

/* Whether all fit 32 bits; if so they are written to `to`. */
static bool narrow_sums(const int64_t *acc, int64_t count, int32_t *to) {
    int64_t outside = 0;
    for (int64_t i = 0; i < count; i++) {
        to[i] = (int32_t)acc[i];
        outside |= acc[i] ^ to[i];
    }
    return outside == 0;
}

static qrt_status store_row(const job *j, const workspace *work, int64_t batch, int64_t row) {
    const qrt_gemm_args *args = j->call.args;
    const qrt_status status =
        args->bias == QRT_BIAS_NONE ? QRT_OK : qrt_add_bias(&j->call, batch, 0, args->n, work->acc);
    if (status != QRT_OK)
        return status;
    const int64_t parameter = qrt_parameter_of(args, batch, row, 0), step = args->requant_steps[2];
    void *target = qrt_output_at(&j->call, batch, row, 0);
    if (narrow_sums(work->acc, args->n, work->narrow))
        args->kernels->store(&args->requant, work->narrow, 0, 1, (int)args->n, target, 0, parameter, 0, step);
    else
        args->kernels->store_wide(&args->requant, work->acc, 0, 1, (int)args->n, target, 0, parameter, 0, step);
    return QRT_OK;
}

static qrt_status split_task(void *context, int64_t task) {
    const job *j = context;
    const qrt_gemm_args *args = j->call.args;
    const int64_t batch = task / j->row_blocks, row = task % j->row_blocks * j->rows;
    const int64_t rows = qrt_min(j->rows, args->m - row);
    static char base[1];
    workspace work;
    /* Not the task's: the products take that. b is packed, so that nothing else takes this one. */
    char *memory = qrt_workspace(QRT_WORKSPACE_CALL, lay_out(j, base, &work));
    if (!memory)
        return QRT_NO_MEMORY;
    lay_out(j, memory, &work);
    split_rows(j, &work, batch, row, rows);
    qrt_status status = run_products(j, &work, batch, row, rows);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t i = 0; i < rows && status == QRT_OK; i++) {
        add_products(j, work.sums + i * columns_of(j), work.acc);
        status = store_row(j, &work, batch, row + i);
    }
    qrt_float_leave(saved);
    return status;
}

static qrt_status run(const qrt_gemm_call *call, const qrt_gemm_split *split, int threads) {
    const qrt_gemm_args *args = call->args;
    const int64_t mr = args->kernels->gemm.mr;
    const int64_t rows = qrt_min(BLOCK_SUMS / args->n, BLOCK_BYTES / (split->a_parts * row_bytes(args)));
    job j = {.call = *call, .split = split};
    const int64_t wanted = qrt_ceil_div(2 * threads, args->batch);
    j.rows = qrt_max(1, rows / mr) * mr;
    if (threads > 1)
        j.rows = qrt_min(j.rows, qrt_round_up(qrt_ceil_div(args->m, wanted), mr));
    j.rows = qrt_min(j.rows, args->m);
    j.row_blocks = qrt_ceil_div(args->m, j.rows);
    const int64_t tasks = args->batch * j.row_blocks;
    j.threads = tasks < threads ? threads : 1;
    return qrt_parallel(tasks, split_task, &j, tasks < threads ? 1 : threads);
}

qrt_status qrt_split_run(const qrt_gemm_call *call, int threads) {
    if (call->args->split)
        return run(call, call->args->split, threads);
    qrt_gemm_split *split;
    qrt_status status = qrt_split_new(call->args, call->b, &split);
    if (status == QRT_OK)
        status = run(call, split, threads);
    qrt_split_free(split);
    return status;
}
