/* Copies, and packing of bits: operands source..., out. */
#pragma once

#include "qrt/base.h"

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

typedef struct {
    const qrt_kernels *kernels;
    qrt_container container; /* QRT_I8 or QRT_U8 */
    int width;               /* 1, 2 or 4 */
    int64_t rows, columns;   /* a packed row is ceil(columns * width / 8) bytes, low element first */
} qrt_bits_args;

qrt_status qrt_pack_bits(const void *args, qrt_scratch *scratch);
qrt_status qrt_unpack_bits(const void *args, qrt_scratch *scratch);
