/* Pooling (NHWC), mean and softmax: operands x, out. */
#ifndef QRT_REDUCE_H
#define QRT_REDUCE_H

#include "qrt/requantize.h"
#include "qrt/window.h"

typedef struct {
    const qrt_kernels *kernels;
    qrt_window window; /* groups 1 */
    qrt_container container;
    const int64_t *zero_point; /* avg: of the input, index channel * zero_point_step */
    int64_t zero_point_step;
    qrt_requant requant; /* avg: index (count - 1) * count_step + channel * channel_step */
    int64_t count_step, channel_step;
} qrt_pool_args;

qrt_status qrt_avg_pool2d(const void *args, qrt_scratch *scratch);
qrt_status qrt_max_pool2d(const void *args, qrt_scratch *scratch);

typedef struct {
    const qrt_kernels *kernels;
    qrt_container container;         /* of x */
    qrt_layout layout;               /* shape of the result, and its parameter index */
    int64_t x_strides[QRT_MAX_RANK]; /* of x along the result's axes, elements */
    int reduced_rank;
    int64_t reduced_shape[QRT_MAX_RANK], reduced_strides[QRT_MAX_RANK];
    int64_t count;             /* elements of reduced_shape */
    const int64_t *zero_point; /* of x, indexed as requant's arrays are */
    qrt_requant requant;
} qrt_mean_args;

qrt_status qrt_mean(const void *args, qrt_scratch *scratch);

typedef struct {
    const qrt_kernels *kernels;
    int64_t outer, size, inner; /* x is [outer][size][inner]; sums run along size */
    qrt_container container;    /* QRT_I8 or QRT_U8 */
    const int32_t *table;       /* of 256 differences from the largest value, each within 2^30 */
    qrt_container out;
    int64_t storage_min, storage_max, zero_point; /* of the result */
    double scale;
} qrt_softmax_args;

qrt_status qrt_softmax(const void *args, qrt_scratch *scratch);

#endif
