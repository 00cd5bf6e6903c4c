/* Gathering, extremes, the k largest, and resized images. */
#pragma once

#include "qrt/base.h"

/* Elements that are compared as the numbers they are: storage, integers and floats alike. */
typedef enum {
    QRT_NUMBER_I8,
    QRT_NUMBER_U8,
    QRT_NUMBER_I16,
    QRT_NUMBER_U16,
    QRT_NUMBER_I32,
    QRT_NUMBER_U32,
    QRT_NUMBER_I64,
    QRT_NUMBER_F32,
    QRT_NUMBER_F64,
} qrt_number;

/* Operands x, [indices], out. x is [batches][outer][sizes...][inner], the indices are [batches][count][columns], and
 * out is [batches][outer][count][inner]. */
typedef struct {
    int64_t batches, outer, count, inner_bytes;
    int columns;
    int64_t sizes[QRT_MAX_RANK]; /* of the axes that an index names, one for each of its columns */
    bool wide;                   /* indices of 64 bits instead of 32 */
    const void *indices;         /* NULL: they are an operand */
} qrt_gather_args;

qrt_status qrt_gather(const void *args, qrt_scratch *scratch);

/* Operands x, out. The result is the greatest or least element along the reduced axes, or the number of the first that
 * is. A NaN counts as beyond all others. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_number number;
    bool least;
    int index_bytes; /* 0: the result is the element; 4 or 8: its number */
    int rank;
    int64_t shape[QRT_MAX_RANK], strides[QRT_MAX_RANK]; /* the axes that are kept; strides in elements of x */
    int reduced_rank;
    int64_t reduced_shape[QRT_MAX_RANK], reduced_strides[QRT_MAX_RANK];
    int64_t total; /* elements of `shape` */
    int64_t count; /* elements of `reduced_shape` */
} qrt_extremum_args;

qrt_status qrt_extremum(const void *args, qrt_scratch *scratch);

/* Operands x, values, indices: the k largest of each row in descending order, the first of equals first. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_number number;
    int64_t rows, size, k; /* size fits the 32 bits of an index */
} qrt_top_k_args;

qrt_status qrt_top_k(const void *args, qrt_scratch *scratch);

/* How four neighbours become one value: integer weights of 11 bits, a sum rounded half up; of 10 bits, half away from
 * zero; products of float32 weights, added in order; two lines of float32 and one between them. */
typedef enum { QRT_FIXED11, QRT_FIXED10_AWAY, QRT_PRODUCTS_F32, QRT_LINES_F32 } qrt_resize_rule;

/* Along one axis: for each position of the result the two positions of x, and the weight of the second. */
typedef struct {
    const int64_t *low, *high;
    const int64_t *weight;
    const float *weight_f32;
} qrt_resize_axis;

/* Operands x, out, both NHWC. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_number number;
    qrt_resize_rule rule;
    int64_t images, height, width, channels, out_height, out_width;
    qrt_resize_axis rows, columns;
} qrt_resize_args;

qrt_status qrt_resize_bilinear(const void *args, qrt_scratch *scratch);
