/* Element by element. */
#ifndef QRT_ELEMENTWISE_H
#define QRT_ELEMENTWISE_H

#include "qrt/requantize.h"

/* Operands a, b, out. */
typedef enum { QRT_ADD, QRT_SUB, QRT_MUL } qrt_binary_kind;

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout; /* shape of the result, and its parameter index */
    qrt_binary_kind kind;
    qrt_container a, b;
    int64_t a_strides[QRT_MAX_RANK], b_strides[QRT_MAX_RANK]; /* elements; 0 broadcasts */
    const int64_t *a_zero_point, *b_zero_point;               /* indexed as requant's arrays are */
    const int64_t *a_multiplier, *b_multiplier;               /* add, sub: 20 fractional bits */
    qrt_requant requant;                                      /* add, sub: container, bounds and zero point only */
} qrt_binary_args;

qrt_status qrt_binary(const void *args, qrt_scratch *scratch);

/* Clamp: operands q, out. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;
    qrt_container container;
    const int64_t *lower, *upper;
} qrt_clamp_args;

qrt_status qrt_clamp(const void *args, qrt_scratch *scratch);

/* Lookup: operands x, [table], out. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;          /* one row */
    qrt_container container;    /* QRT_I8 or QRT_U8 */
    int width;                  /* of the storage type, 1 to 8 bits */
    qrt_container out;          /* of the table and the result */
    const void *table_constant; /* NULL: table is an operand */
} qrt_lookup_args;

qrt_status qrt_lookup(const void *args, qrt_scratch *scratch);

#endif
