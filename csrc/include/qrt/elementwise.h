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

/* Operands x, [table], out; each entry has its own member of the union. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;
    qrt_container container, out; /* of x, of the result */
    union {
        struct {                       /* requantize */
            const int64_t *zero_point; /* of x, indexed as requant's arrays are */
            qrt_requant requant;
        };
        struct { /* clamp */
            const int64_t *lower, *upper;
        };
        struct {               /* lookup, of QRT_I8 or QRT_U8, with a layout of one row */
            int width;         /* of the storage type, 1 to 8 bits */
            const void *table; /* NULL: an operand */
        };
    };
} qrt_unary_args;

qrt_status qrt_requantize(const void *args, qrt_scratch *scratch);
qrt_status qrt_clamp(const void *args, qrt_scratch *scratch);
qrt_status qrt_lookup(const void *args, qrt_scratch *scratch);

#endif
