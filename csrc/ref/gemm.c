/* The reference microkernel: both packs subtract the zero points and widen to 16 bits, so a sum is a plain product. */
#include <string.h>

#include "ref.h"

enum { NR = 4 };

static qrt_a_form a_form(const qrt_gemm_args *args) {
    (void)args;
    return QRT_A_PACKED;
}

static void pack_a(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *terms) {
    (void)terms;
    for (int i = 0; i < rows; i++)
        for (int64_t k = 0; k < depth; k++)
            ((int16_t *)((char *)target + i * target_stride))[k] =
                (int16_t)(ref_load(container, (const char *)source + i * source_stride, k) - zero_point[i]);
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    (void)terms;
    for (int64_t k = 0; k < depth; k++)
        for (int j = 0; j < columns; j++)
            ((int16_t *)panel)[k * NR + j] =
                (int16_t)(ref_load(container, source, k * k_stride + j * n_stride) - zero_point[j]);
}

static void run(const qrt_gemm_panel *p) {
    const qrt_gemm_args *args = p->args;
    for (int i = 0; i < p->rows; i++) {
        const int16_t *a = (const int16_t *)((const char *)p->a + i * p->a_stride), *b = p->b;
        int32_t sums[NR];
        for (int j = 0; j < p->columns; j++) {
            sums[j] = p->bias ? p->bias[j] : 0;
            for (int64_t k = 0; k < p->depth; k++)
                sums[j] += (int32_t)a[k] * b[k * NR + j];
        }
        if (p->sums)
            memcpy(p->sums + i * p->sums_stride, sums, (size_t)p->columns * sizeof *sums);
        else
            args->kernels->store(&args->requant, sums, NR, 1, p->columns, (char *)p->target + i * args->out_row_stride,
                                 0, p->parameter + i * args->requant_steps[1], 0, args->requant_steps[2]);
    }
}

const qrt_gemm_kernel ref_gemm = {.name = "ref",
                                  .mr = 4,
                                  .nr = NR,
                                  .ku = 1,
                                  .a_size = 2,
                                  .b_size = 2,
                                  .a_form = a_form,
                                  .pack_a = pack_a,
                                  .pack_b = pack_b,
                                  .run = run};

/* ---- any container: exact sums, 128 bits where 32-bit containers could pass 64 ---- */

static const void *b_at(const qrt_gemm_args *args, const void *b, int64_t matrix, int64_t k, int64_t j) {
    return (const char *)b + matrix * args->b_matrix_stride + k * args->b_k_stride + j * args->b_n_stride;
}

static int64_t b_zero_point(const qrt_gemm_args *args, int64_t matrix, int64_t block, int64_t j) {
    return args->b_zero_point[matrix * args->b_zero_point_steps[0] + block * args->b_zero_point_steps[1] +
                              j * args->b_zero_point_steps[2]];
}

/* Of column j over K values [first, end). Each product is below 2^68 and K below 2^48. */
static int128 sum_of_products(const qrt_gemm_args *args, const void *a, int64_t za, const void *b, int64_t matrix,
                              int64_t j, int64_t zb, int64_t first, int64_t end) {
    int128 sum = 0;
    for (int64_t k = first; k < end; k++)
        sum += (int128)(ref_load(args->a, a, k) - za) * (ref_load(args->b, b_at(args, b, matrix, k, j), 0) - zb);
    return sum;
}

qrt_status ref_wide_row(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b, int64_t matrix,
                        int64_t *acc) {
    for (int64_t j = 0; j < args->n; j++) {
        const int128 sum =
            sum_of_products(args, a, a_zero_point, b, matrix, j, b_zero_point(args, matrix, 0, j), 0, args->k);
        acc[j] = (int64_t)sum;
        if (acc[j] != sum)
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    return QRT_OK;
}

/* ---- sub-channel b ---- */

/* fixed: the sum of block sums times their multipliers, and the bias times its own, all with one shift. */
static qrt_status fixed_column(const qrt_gemm_args *args, const void *a, int64_t za, const void *b, int64_t matrix,
                               const void *bias, int64_t j, int128 *total) {
    *total = 0;
    for (int64_t block = 0; block * args->k_block < args->k; block++) {
        const int64_t first = block * args->k_block;
        const int64_t end = first + args->k_block < args->k ? first + args->k_block : args->k;
        const int128 sum = sum_of_products(args, a, za, b, matrix, j, b_zero_point(args, matrix, block, j), first, end);
        int128 product;
        if (__builtin_mul_overflow(sum, (int128)args->block_multiplier[block * args->n + j], &product) ||
            __builtin_add_overflow(*total, product, total))
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    if (args->bias != QRT_BIAS_NONE) {
        const int64_t value = args->bias == QRT_BIAS_I32 ? ((const int32_t *)bias)[j] : ((const int64_t *)bias)[j];
        if (__builtin_add_overflow(*total, (int128)value * args->bias_multiplier[j], total))
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    /* Leaves room for the rounding term. */
    const int128 limit = (int128)1 << 126;
    return *total < limit && *total > -limit ? QRT_OK : QRT_ACCUMULATOR_OVERFLOW;
}

/* float32: f32 adds of f32(block sum) * scale in ascending block order, the bias last. */
static qrt_status float32_column(const qrt_gemm_args *args, const void *a, int64_t za, const void *b, int64_t matrix,
                                 const void *bias, int64_t j, float *total) {
    *total = 0;
    for (int64_t block = 0; block * args->k_block < args->k; block++) {
        const int64_t first = block * args->k_block;
        const int64_t end = first + args->k_block < args->k ? first + args->k_block : args->k;
        const int128 sum = sum_of_products(args, a, za, b, matrix, j, b_zero_point(args, matrix, block, j), first, end);
        if (sum != (int64_t)sum)
            return QRT_ACCUMULATOR_OVERFLOW;
        const float term = (float)(int64_t)sum * args->block_scale[block * args->n + j];
        *total = *total + term;
    }
    if (args->bias == QRT_BIAS_F32)
        *total = *total + ((const float *)bias)[j];
    return QRT_OK;
}

qrt_status ref_block_row(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b, int64_t matrix,
                         const void *bias, void *target, int64_t parameter) {
    const qrt_requant *requant = &args->requant;
    for (int64_t j = 0; j < args->n; j++) {
        const int64_t p = parameter + j * args->requant_steps[2];
        int64_t value;
        if (requant->rule == QRT_FIXED) {
            int128 total;
            const qrt_status status = fixed_column(args, a, a_zero_point, b, matrix, bias, j, &total);
            if (status != QRT_OK)
                return status;
            value = ref_finish_fixed(requant, total, requant->shift[p], requant->zero_point[p]);
        } else {
            float total;
            const qrt_status status = float32_column(args, a, a_zero_point, b, matrix, bias, j, &total);
            if (status != QRT_OK)
                return status;
            value = ref_finish_float32(requant, total * requant->scale_f32[p], requant->zero_point[p]);
        }
        ref_store_value(requant->container, target, j, value);
    }
    return QRT_OK;
}
