/* Copies, slices, and packing of bits. */
#pragma once

#include "qrt/base.h"

/* Operands source..., out. */
typedef struct {
    int rank;
    int itemsize; /* 1, 2, 4 or 8 */
    int64_t shape[QRT_MAX_RANK];
    int64_t source_strides[QRT_MAX_RANK], target_strides[QRT_MAX_RANK]; /* in elements */
    int64_t source_offset, target_offset;
    const void *constant; /* NULL: the part reads the next operand */
} qrt_copy_part;

typedef struct {
    int parts;
    const qrt_copy_part *part;
} qrt_copy_args;

qrt_status qrt_copy(const void *args, qrt_scratch *scratch);

/* Operands x, numbers..., out: the elements of a slice of x. Or the part, x, numbers..., out: x with the elements of a
 * slice replaced by the part. A number is one int64_t, which is added to the slice's offset along an axis. */
typedef struct {
    qrt_copy_part part; /* between the slice of x and a contiguous array, where the numbers are 0 */
    bool inserts;
    int64_t bytes;                 /* of x */
    int axes;                      /* with numbers */
    int64_t most[QRT_MAX_RANK];    /* the largest number */
    int64_t strides[QRT_MAX_RANK]; /* of x along these axes, in elements */
} qrt_slice_args;

qrt_status qrt_slice(const void *args, qrt_scratch *scratch);

/* Operands source, out. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_container container; /* QRT_I8 or QRT_U8 */
    int width;               /* 1, 2 or 4 */
    int64_t rows, columns;   /* a packed row is ceil(columns * width / 8) bytes, low element first */
} qrt_bits_args;

qrt_status qrt_pack_bits(const void *args, qrt_scratch *scratch);
qrt_status qrt_unpack_bits(const void *args, qrt_scratch *scratch);
