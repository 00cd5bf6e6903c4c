/* The reference microkernel, in portable C: both packs subtract the zero points and widen to 16 bits, so that a sum is
 * a plain product. Behind it stand the rows for wide containers and sub-channel weights. */
#include <string.h>

#include "ref.h"

#pragma GCC diagnostic error "-Wswitch-enum" /* a rule without a case does not compile */

enum { NR = 4 };

static qrt_a_form a_form(const qrt_gemm_args *args) {
    (void)args;
    return QRT_A_PACKED;
}

static void pack_a(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *compensation) {
    (void)compensation;
    for (int i = 0; i < rows; i++)
        for (int64_t k = 0; k < depth; k++)
            ((int16_t *)((char *)target + i * target_stride))[k] =
                (int16_t)(qrt_load(container, (const char *)source + i * source_stride, k) - zero_point[i]);
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation) {
    (void)compensation;
    for (int64_t k = 0; k < depth; k++)
        for (int j = 0; j < columns; j++)
            ((int16_t *)panel)[k * NR + j] =
                (int16_t)(qrt_load(container, source, k * k_stride + j * n_stride) - zero_point[j]);
}

static void run(const qrt_microkernel_call *call) {
    const qrt_gemm_problem *problem = &call->args->problem;
    const int64_t *steps = problem->requant_steps;
    for (int i = 0; i < call->rows; i++) {
        const int16_t *a = (const int16_t *)((const char *)call->a + i * call->a_stride), *b = call->b;
        int32_t sums[NR];
        for (int j = 0; j < call->columns; j++) {
            sums[j] = call->bias ? call->bias[j] : 0;
            for (int64_t k = 0; k < call->depth; k++)
                sums[j] += (int32_t)a[k] * b[k * NR + j];
        }
        if (call->sums)
            memcpy(call->sums + i * call->sums_stride, sums, (size_t)call->columns * sizeof *sums);
        else
            call->args->kernels->store(&problem->requant, sums, NR, 1, call->columns,
                                       (char *)call->target + i * problem->out_row_stride, 0,
                                       call->parameter + i * steps[1], 0, steps[2]);
    }
}

const qrt_gemm_microkernel ref_gemm = {.name = "ref",
                                       .mr = 4,
                                       .nr = NR,
                                       .ku = 1,
                                       .a_size = 2,
                                       .b_size = 2,
                                       .a_form = a_form,
                                       .pack_a = pack_a,
                                       .pack_b = pack_b,
                                       .run = run};

/* ---- any container: exact sums in 128 bits, because those of 32-bit containers may exceed 64 ---- */

/* A row of a with its zero point, and a matrix of b. */
typedef struct {
    const qrt_gemm_problem *problem;
    const void *a, *b;
    int64_t a_zero_point, matrix;
} operands;

/* Sums column j over a block of K, which is block 0 without k_block. Each product is below 2^68 and K below 2^48, so
 * that no sum overflows. */
static int128 sum_of_products(const operands *of, int64_t block, int64_t j) {
    const qrt_gemm_problem *problem = of->problem;
    const int64_t depth = problem->k_block ? problem->k_block : problem->k, first = block * depth;
    const int64_t zero_point = qrt_b_zero_point(problem, of->matrix, block, j);
    const char *b = (const char *)of->b + of->matrix * problem->b_matrix_stride + j * problem->b_n_stride;
    int128 sum = 0;
    for (int64_t k = first; k < qrt_min(first + depth, problem->k); k++)
        sum += (int128)(qrt_load(problem->a, of->a, k) - of->a_zero_point) *
               (qrt_load(problem->b, b + k * problem->b_k_stride, 0) - zero_point);
    return sum;
}

qrt_status ref_wide_row(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b, int64_t matrix,
                        int64_t *acc) {
    const operands of = {&args->problem, a, b, a_zero_point, matrix};
    for (int64_t j = 0; j < args->problem.n; j++) {
        const int128 sum = sum_of_products(&of, 0, j);
        acc[j] = (int64_t)sum;
        if (acc[j] != sum)
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    return QRT_OK;
}

/* ---- sub-channel b ---- */

/* fixed: block sums times their multipliers and the bias times its own are added up, and all are shifted once. */
static qrt_status fixed_column(const operands *of, const void *bias, int64_t j, int128 *total) {
    const qrt_gemm_problem *problem = of->problem;
    *total = 0;
    for (int64_t block = 0; block * problem->k_block < problem->k; block++) {
        int128 product;
        if (__builtin_mul_overflow(sum_of_products(of, block, j),
                                   (int128)problem->block_multiplier[block * problem->n + j], &product) ||
            __builtin_add_overflow(*total, product, total))
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    if (problem->bias != QRT_BIAS_NONE) {
        const int64_t value = problem->bias == QRT_BIAS_I32 ? ((const int32_t *)bias)[j] : ((const int64_t *)bias)[j];
        if (__builtin_add_overflow(*total, (int128)value * problem->bias_multiplier[j], total))
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    /* This leaves room for the rounding term. */
    const int128 limit = (int128)1 << 126;
    return *total < limit && *total > -limit ? QRT_OK : QRT_ACCUMULATOR_OVERFLOW;
}

/* float32: f32(block sum) * scale is added in float32, in ascending order of blocks, and the bias last. */
static qrt_status float32_column(const operands *of, const void *bias, int64_t j, float *total) {
    const qrt_gemm_problem *problem = of->problem;
    *total = 0;
    for (int64_t block = 0; block * problem->k_block < problem->k; block++) {
        const int128 sum = sum_of_products(of, block, j);
        if (sum != (int64_t)sum)
            return QRT_ACCUMULATOR_OVERFLOW;
        const float scaled = (float)(int64_t)sum * problem->block_scale[block * problem->n + j];
        *total = *total + scaled;
    }
    if (problem->bias == QRT_BIAS_F32)
        *total = *total + ((const float *)bias)[j];
    return QRT_OK;
}

/* Sets the storage of column j, which has the parameter index p. */
static qrt_status block_value(const operands *of, const void *bias, int64_t j, int64_t p, int64_t *value) {
    const qrt_requant *requant = &of->problem->requant;
    qrt_status status = QRT_BAD_ARGUMENT;
    int128 fixed;
    float total;
    switch (requant->rule) {
    case QRT_FIXED:
        status = fixed_column(of, bias, j, &fixed);
        if (status == QRT_OK)
            *value = ref_epilogue_fixed(requant, fixed, requant->shift[p], requant->zero_point[p]);
        break;
    case QRT_FLOAT32:
        status = float32_column(of, bias, j, &total);
        if (status == QRT_OK)
            *value = ref_epilogue_float32(requant, total * requant->scale_f32[p], requant->zero_point[p]);
        break;
    case QRT_FIXED_DOUBLE:
    case QRT_HALF_UP_TWICE:
    case QRT_RAW_MEAN:
    case QRT_FLOAT64_AWAY:
    case QRT_INTEGER:
    case QRT_DEQUANTIZED:
        break; /* not of blocks */
    }
    return status;
}

qrt_status ref_block_row(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b, int64_t matrix,
                         const void *bias, void *target, int64_t parameter) {
    const qrt_requant *requant = &args->problem.requant;
    const operands of = {&args->problem, a, b, a_zero_point, matrix};
    for (int64_t j = 0; j < args->problem.n; j++) {
        const int64_t p = parameter + j * args->problem.requant_steps[2];
        int64_t value = 0;
        const qrt_status status = block_value(&of, bias, j, p, &value);
        if (status != QRT_OK)
            return status;
        ref_store_value(requant->container, target, j, value);
    }
    return QRT_OK;
}
