/* Pooling (NHWC), mean, softmax and its logarithm: operands x, out. */
#pragma once

#include "qrt/requantize.h"
#include "qrt/window.h"

/* The order in which QRT_DEQUANTIZED adds the floats of a window: a row after the other; each column, then their sums;
 * or in four lanes of a window that holds the whole image. */
typedef enum { QRT_ROWS, QRT_COLUMNS, QRT_LANES } qrt_sum_order;

typedef struct {
    const qrt_kernels *kernels;
    qrt_window window; /* with one group */
    qrt_container container;
    const int64_t *zero_point; /* avg: the input's, with the index channel * zero_point_step */
    int64_t zero_point_step;
    qrt_requant requant; /* avg: with the index (count - 1) * count_step + channel * channel_step */
    int64_t count_step, channel_step;
    qrt_sum_order order; /* avg */
} qrt_pool_args;

qrt_status qrt_avg_pool2d(const void *args, qrt_scratch *scratch);
qrt_status qrt_max_pool2d(const void *args, qrt_scratch *scratch);

typedef struct {
    const qrt_kernels *kernels;
    qrt_container container;         /* that of x */
    qrt_layout layout;               /* its shape is that of the result; it gives the parameter index */
    int64_t x_strides[QRT_MAX_RANK]; /* strides of x along the axes of the result, in elements */
    int reduced_rank;
    int64_t reduced_shape[QRT_MAX_RANK], reduced_strides[QRT_MAX_RANK];
    int64_t count;             /* elements of reduced_shape */
    const int64_t *zero_point; /* zero points of x, with the indices of requant's arrays */
    qrt_requant requant;
} qrt_mean_args;

qrt_status qrt_mean(const void *args, qrt_scratch *scratch);

typedef enum {
    QRT_SOFTMAX_INT32,
    QRT_SOFTMAX_FLOAT32,
    QRT_SOFTMAX_GEMMLOWP,
    QRT_SOFTMAX_INT16,
    QRT_SOFTMAX_SHIFTED,
    QRT_LOG_SOFTMAX_FLOAT32,
    QRT_LOG_SOFTMAX_GEMMLOWP,
} qrt_softmax_rule;

typedef struct {
    const qrt_kernels *kernels;
    qrt_softmax_rule rule;
    int64_t outer, size, inner; /* x is [outer][size][inner], and sums run along size */
    qrt_container container;    /* QRT_I8 or QRT_U8; QRT_I16 for QRT_SOFTMAX_INT16 */
    /* Exponentials of 256 differences from the largest value: within 2^30, floats (within 1 unless they are shifted),
     * or 32-bit numbers without integer bits. */
    const int32_t *table;
    const float *table_f32;
    const int32_t *scaled; /* QRT_LOG_SOFTMAX_GEMMLOWP: 256 negative differences, 26 fractional bits */
    const int16_t *exponential, *reciprocal; /* QRT_SOFTMAX_INT16: interpolated tables of 513 entries */
    int32_t multiplier, shift;               /* to the units of `exponential`, or of differences */
    int64_t radius;                          /* QRT_LOG_SOFTMAX_GEMMLOWP: the largest difference that counts */
    qrt_container out;
    int64_t storage_min, storage_max, zero_point; /* those of the result */
    double scale;
    float input_scale;
} qrt_softmax_args;

qrt_status qrt_softmax(const void *args, qrt_scratch *scratch);
